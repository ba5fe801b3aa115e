# SPDX-License-Identifier: GPL-2.0
"""Colours of drawings: in a file they are those of light paper, in the page they follow light and dark.

matplotlib knows fixed colours only. So for the page it draws with marks, colours that mean "ink" or "the
third series", and each mark becomes a variable of CSS.
"""

from __future__ import annotations

import re

# Series after Okabe and Ito, which colour-blind people tell apart; for dark they are lighter.
NAMES = ("ink", "faint", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8")
LIGHT = ("#1b1f24", "#c9ced6", "#0067a5", "#c14a00", "#00805a", "#a3478a", "#8a6500", "#2f8fc4", "#5b5b5b",
         "#7a3e9d", "#23307a")
DARK = ("#e6e9ee", "#444b55", "#6cb8ee", "#ff9a5c", "#4fd1a1", "#e59acb", "#e6c04d", "#9fd3f2", "#b5b5b5",
        "#c79be3", "#8f9cf0")
MARKS = tuple(f"#0a0b{number:02x}" for number in range(0x10, 0x10 + len(NAMES)))
SERIES = len(NAMES) - 2


def for_page(svg: str) -> str:
    """An SVG of matplotlib's as part of a page."""
    svg = svg[svg.index("<svg") :]
    for mark, name in zip(MARKS, NAMES, strict=True):
        svg = svg.replace(mark, f"var(--{name})")
    # One page has many drawings: only what a drawing refers to keeps its id, and that is by content.
    svg = re.sub(r' id="(?![mp][0-9a-f]{8,}")[^"]*"', "", svg)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    return re.sub(r'<svg ([^>]*?)width="[^"]*"', r"<svg \1", re.sub(r' height="[\d.]+pt"', "", svg, count=1))


def css() -> str:
    def variables(colours: tuple[str, ...]) -> str:
        return "".join(f"--{name}:{colour};" for name, colour in zip(NAMES, colours, strict=True))

    return (f":root{{{variables(LIGHT)}--paper:#ffffff;--card:#f6f7f9;--good:#00694a;--bad:#b3261e}}"
            f"@media (prefers-color-scheme:dark){{:root{{{variables(DARK)}"
            "--paper:#14171b;--card:#1d2126;--good:#4fd1a1;--bad:#ff8a80}}")
