# SPDX-License-Identifier: GPL-2.0
"""A table in the forms that other programs take: CSV, Markdown, LaTeX."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

Table = tuple[list[str], list[list[str]]]
# What LaTeX takes for something else: of the encoding OT1, too, which it has by itself.
LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
         "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\char34{}",
         # Two of these are another sign.
         **{letter: f"{letter}{{}}" for letter in "-'`,?!"},
         **{letter: f"\\{letter}" for letter in "&%$#_{}"}}
# Signs that pdflatex has in formulas only.
FORMULAS = {"≥": "geq", "≤": "leq", "≠": "neq", "≈": "approx", "∞": "infty", "→": "rightarrow",
            "←": "leftarrow", "↔": "leftrightarrow", "Δ": "Delta", "Ω": "Omega", "α": "alpha", "β": "beta",
            "δ": "delta", "λ": "lambda", "π": "pi", "σ": "sigma", "∈": "in", "√": "surd", "−": "-"}
# Others that it has by itself are those of Latin-1 and Latin Extended-A but these, and some more.
FIRST, LAST, LACKING = "\u00a1", "\u017e", "«»ÐÞðþĄąĐđĘęĦħĮįĸĿŀŉŊŋŦŧŲų\u00ad"
MORE = "–—‘’“”…•€™†‡‰"
FIGURE = r"[-+]?[0-9][0-9,]*(\.[0-9]+)?(e[-+]?[0-9]+)?"
NUMBER, NUMBERS = re.compile(f"{FIGURE}|-|"), re.compile(f"{FIGURE}( to {FIGURE})?")


def as_csv(table: tuple[Iterable[Any], Iterable[Iterable[Any]]]) -> str:
    """Of any values: None is nothing."""
    head, rows = table
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([head, *rows])
    return out.getvalue()


def _plain(cell: str) -> str:
    """Numbers as programs read them: without commas between thousands."""
    return cell.replace(",", "") if NUMBERS.fullmatch(cell) else cell


def told_as_csv(table: Table) -> str:
    """Of a table that is for people."""
    head, rows = table
    return as_csv((head, ([_plain(cell) for cell in row] for row in rows)))


def as_markdown(table: Table) -> str:
    def line(cells: list[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"

    head, rows = table
    return "".join(map(line, [head, ["---"] * len(head), *rows]))


def _latex(cell: str) -> str:
    return "".join(rf"\ensuremath{{{'-' if name == '-' else chr(92) + name}}}"
                   if (name := FORMULAS.get(letter)) else LATEX.get(letter, letter)
                   for letter in unicodedata.normalize("NFC", cell))


def _latex_line(cells: list[str]) -> str:
    return " & ".join(map(_latex, cells)) + " \\\\\n"


def _is_known(letter: str) -> bool:
    latin = FIRST <= letter <= LAST and letter not in LACKING
    return letter.isascii() or latin or letter in MORE or letter in FORMULAS


def not_in_latex(table: Table) -> str:
    """The letters of a table that pdflatex does not know by itself."""
    head, rows = table
    letters = unicodedata.normalize("NFC", "".join(map("".join, [head, *rows])))
    return "".join(dict.fromkeys(letter for letter in letters if not _is_known(letter)))


def as_latex(table: Table) -> str:
    """A tabular, of the package booktabs, no wider than a line."""
    head, rows = table
    foreign = not_in_latex(table)
    columns = "".join("r" if all(NUMBER.fullmatch(cell) for cell in cells) else "l"
                      for cells in zip(*rows, strict=True)) or "l" * len(head)
    lines = [
        r"% \usepackage{booktabs,graphicx}",
        *([f"% pdflatex does not know {foreign}: use lualatex and a font that does"] if foreign else []),
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    body = "".join(map(_latex_line, rows))
    end = "\\bottomrule\n\\end{tabular}}\n"
    return "\n".join(lines) + f"\n{_latex_line(head)}\\midrule\n{body}{end}"


FORMS = {"csv": told_as_csv, "md": as_markdown, "tex": as_latex}
