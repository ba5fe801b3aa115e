# SPDX-License-Identifier: GPL-2.0
"""A table as text, as CSV, and as a part of a page; and what of it is to be drawn."""

from __future__ import annotations

import base64
import csv
import io
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .document import escape, table_of

ROWS = 40  # of a figure over time, as text; the files have all
Cell = str | int | float | None


@dataclass(frozen=True)
class Curve:
    """Lines of the columns UP over the column ACROSS. A row without a number there is a remark."""

    across: int
    up: tuple[int, ...]
    x: str  # what is across, with its unit
    y: str
    log: bool = False  # across


@dataclass(frozen=True)
class Marks:
    """A row for each row of the table, named by its first column, with a mark for each of these columns."""

    columns: tuple[int, ...]
    x: str  # what they are, with its unit


@dataclass
class Table:
    title: str
    columns: list[str]
    rows: list[list[Cell]]
    notes: list[str] = field(default_factory=list)
    curve: Curve | None = None
    marks: Marks | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def of_dict(found: dict[str, Any]) -> Table:
    """The table of which JSON has as_dict()."""
    curve, marks = found["curve"], found["marks"]
    told = {"curve": Curve(**curve | {"up": tuple(curve["up"])}) if curve else None,
            "marks": Marks(**marks | {"columns": tuple(marks["columns"])}) if marks else None}
    return Table(**found | told)


def said(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return str(cell).encode("utf-8", "backslashreplace").decode()


def as_text(table: Table) -> str:
    rows = table.rows
    skipped = ""
    if table.curve and len(rows) > ROWS:
        step = -(-len(rows) // ROWS)
        skipped = f"(every {step}th of {len(rows)} rows)\n"
        rows = rows[::step]
    cells = [table.columns, *([said(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(table.columns))]
    lines = [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
        ).rstrip()
        for row in cells
    ]
    return "\n".join([table.title, "=" * len(table.title), *lines, *table.notes]) + "\n" + skipped


def file_name(table: Table) -> str:
    """The same for every trace: without the interval."""
    title = table.title.lower().partition(" in intervals of ")[0]
    return re.sub(r"[^a-z0-9]+", "-", title).strip("-") + ".csv"


def as_csv(table: Table) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue().encode("utf-8", "surrogateescape")


def write_csv(table: Table, directory: Path) -> None:
    (directory / file_name(table)).write_bytes(as_csv(table))


def as_html(table: Table, drawn: str = "") -> str:
    """Its part of a page: heading, what is drawn of it, notes, and the numbers, of which there is a file."""
    parts = [f"<h2>{escape(table.title)}</h2>{drawn}", *(f"<p>{escape(note)}</p>" for note in table.notes)]
    if table.rows:
        numbers = table_of(table.columns, [[said(cell) for cell in row] for row in table.rows])
        long = drawn and len(table.rows) > ROWS
        parts.append(f"<details><summary>the numbers</summary>{numbers}</details>" if long else numbers)
        data = base64.b64encode(as_csv(table)).decode()
        name = file_name(table)
        parts.append(f'<p><a download="{name}" href="data:text/csv;base64,{data}">{name}</a></p>')
    return "".join(parts)
