# SPDX-License-Identifier: GPL-2.0
"""A table in the forms that other programs take: CSV, Markdown, LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

Table = tuple[list[str], list[list[str]]]
# What LaTeX takes for something else.
LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
         **{letter: f"\\{letter}" for letter in "&%$#_{}"}}


def as_csv(table: tuple[Iterable[Any], Iterable[Iterable[Any]]]) -> str:
    """Of any values: None is nothing."""
    head, rows = table
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([head, *rows])
    return out.getvalue()


def as_markdown(table: Table) -> str:
    def line(cells: list[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"

    head, rows = table
    return "".join(map(line, [head, ["---"] * len(head), *rows]))


def _latex_line(cells: list[str]) -> str:
    return " & ".join("".join(LATEX.get(letter, letter) for letter in cell) for cell in cells) + " \\\\\n"


def as_latex(table: Table) -> str:
    """A tabular, of the package booktabs."""
    head, rows = table
    lines = [r"% \usepackage{booktabs}", rf"\begin{{tabular}}{{{'l' * len(head)}}}", r"\toprule"]
    body = "".join(map(_latex_line, rows))
    return "\n".join(lines) + f"\n{_latex_line(head)}\\midrule\n{body}\\bottomrule\n\\end{{tabular}}\n"


FORMS = {"csv": as_csv, "md": as_markdown, "tex": as_latex}
