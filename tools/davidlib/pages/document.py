# SPDX-License-Identifier: GPL-2.0
"""A page: one HTML file, which opens without a network, in light and dark, on a phone and on a wall."""

from __future__ import annotations

import html
import re
from pathlib import Path

from . import theme

STYLE = Path(__file__).with_name("document.css").read_text()
# Letters of a cell that stays in a line, and of one that has several.
SHORT, LONG = 14, 40
FEW, WORD = 14, 12  # columns, letters
# Of a page without scripts.
NO_SCRIPT = ("default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
             "form-action 'none'")


# Words of letters that are written from the right, and the sign that ends what they turn around.
_RIGHT = r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+"
FROM_RIGHT = re.compile(f"{_RIGHT}(?: +{_RIGHT})*")
FROM_LEFT = "\u200e"


def escape(text: str) -> str:
    """Of HTML. Behind a word from the right a browser would put the next figure on its other side."""
    return FROM_RIGHT.sub(lambda word: word[0] + FROM_LEFT, html.escape(text))


def _width(cell: str) -> str:
    return "long" if len(cell) > LONG else "short" if len(cell) <= SHORT else ""


def table_of(head: list[str], rows: list[list[str]]) -> str:
    def line(cells: list[str], tag: str) -> str:
        # A head of short words keeps them whole, where there are not too many.
        longest = max((len(word) for name in head for word in name.split()), default=0)
        whole = tag == "th" and len(head) <= FEW and longest <= WORD
        # On a narrow screen a row stands as lines, each with its head.
        heads = [f' data-head="{escape(name)}"' if tag == "td" else "" for name in head]
        parts = (f'<{tag} class="{_width(cell)}{" word" * whole}"{name}>{escape(cell)}</{tag}>'
                 for name, cell in zip(heads, cells, strict=True))
        return f"<tr>{''.join(parts)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f'<div class="wide"><table><thead>{line(head, "th")}</thead><tbody>{body}</tbody></table></div>'


def document(title: str, body: str, policy: str = NO_SCRIPT, end: str = "") -> str:
    """A whole page of its title, what stands below it, what it may do, and what stands at its end."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{title}</title>'
        f"<style>{theme.css()}{STYLE}</style></head><body><main><h1>{title}</h1>{body}</main>{end}"
        "</body></html>\n"
    )
