# SPDX-License-Identifier: GPL-2.0
"""Colours of drawings and pages. In a page they are variables of CSS, which follow light, dark and paper.
In a file they are those of light paper.
"""

from __future__ import annotations

import re
from typing import Any

# Series after Okabe and Ito, which colour-blind people tell apart; for dark they are lighter.
NAMES = ("ink", "faint", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "card")
LIGHT = ("#1b1f24", "#c9ced6", "#0067a5", "#c14a00", "#00805a", "#a3478a", "#8a6500", "#2f8fc4", "#5b5b5b",
         "#7a3e9d", "#23307a", "#f6f7f9")
DARK = ("#e6e9ee", "#444b55", "#6cb8ee", "#ff9a5c", "#4fd1a1", "#e59acb", "#e6c04d", "#9fd3f2", "#b5b5b5",
        "#c79be3", "#8f9cf0", "#1d2126")
SERIES = [f"var(--{name})" for name in NAMES if re.fullmatch(r"s\d", name)]
INK, FAINT, CARD = "var(--ink)", "var(--faint)", "var(--card)"
# Beside colours: no two of 252 series have the same of all three.
DASHES = [[1, 0], [7, 3], [2, 2], [9, 3, 2, 3]]
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right"]
FONT = "system-ui, 'Liberation Sans', Arial, sans-serif"
SMALL = 12  # letters of drawings, px

CONFIG: dict[str, Any] = {
    "background": "transparent", "font": FONT, "padding": 5,
    "view": {"stroke": None},
    "axis": {"labelColor": INK, "titleColor": INK, "gridColor": FAINT, "domainColor": FAINT,
             "tickColor": FAINT, "labelFontSize": SMALL, "titleFontSize": SMALL, "titleFontWeight": "normal",
             "gridWidth": 0.5, "labelOverlap": "greedy", "labelSeparation": 6, "labelBound": False},
    "axisX": {"labelFlush": True},
    "legend": {"labelColor": INK, "titleColor": INK, "labelFontSize": SMALL, "titleFontSize": SMALL,
               "titleFontWeight": "normal", "labelLimit": 0, "titleLimit": 0, "symbolLimit": 0},
    "title": {"color": INK, "subtitleColor": INK, "fontSize": 14, "anchor": "start", "limit": 0},
    "header": {"labelColor": INK, "labelFontSize": SMALL, "labelFontWeight": "bold", "labelLimit": 0},
    "text": {"fill": INK, "fontSize": SMALL},
}


def for_file(text: str) -> str:
    """A description with the colours of light paper in place of variables."""
    for name, colour in zip(NAMES, LIGHT, strict=True):
        text = text.replace(f"var(--{name})", colour)
    return text


def css() -> str:
    def variables(colours: tuple[str, ...]) -> str:
        return "".join(f"--{name}:{colour};" for name, colour in zip(NAMES, colours, strict=True))

    light = f":root{{{variables(LIGHT)}--paper:#ffffff;--good:#00694a;--bad:#b3261e}}"
    return (f"{light}@media screen and (prefers-color-scheme:dark){{:root{{{variables(DARK)}"
            "--paper:#14171b;--good:#4fd1a1;--bad:#ff8a80}}")
