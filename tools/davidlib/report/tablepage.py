# SPDX-License-Identifier: GPL-2.0
"""The page of tables that other commands than `david bench` print, with a drawing of each that asks for one:
of `david trace report`, `compare`, `calibrate` and `profile bench`. pages/writing.py has told what is on it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..pages import tables
from ..pages.document import escape
from ..pages.tables import Cell, Curve, Marks, Table
from ..util import UserError
from . import charts
from .charts import Axis, Drawing
from .page import document, drawn

MOST = 2000  # points of a line
FEWEST = 2


def _number(cell: Cell) -> float | None:
    return float(cell) if isinstance(cell, int | float) and math.isfinite(cell) else None


def _ends(values: Iterable[float], log: bool) -> tuple[float, float]:
    low, high = charts.ends(values, log)
    return low, high if high > low else low + 1


def _curve(table: Table, told: Curve) -> Drawing | None:
    """Nothing of fewer than two points: that is no line."""
    rows: list[dict[str, Any]] = []
    longest, skipped = 0, ""
    for column in told.up:
        points = [(across, up) for row in table.rows
                  if (across := _number(row[told.across])) is not None and (across > 0 or not told.log)
                  and (up := _number(row[column])) is not None]
        step = -(-len(points) // MOST) or 1
        if step > 1:
            skipped = f" Every {step}th of {len(points)} points is drawn."
        longest = max(longest, len(points[::step]))
        rows += [{"series": table.columns[column], "x": across, "y": up} for across, up in points[::step]]
    if longest < FEWEST:
        return None
    names = list(dict.fromkeys(row["series"] for row in rows))
    x = Axis(told.x, told.log, *_ends([row["x"] for row in rows], told.log))
    y = Axis(told.y, False, *_ends([row["y"] for row in rows], False))
    return Drawing(
        table.title, f"A line for each of {', '.join(names)} over: {told.x}; {told.y}.{skipped}",
        charts.lines(names, x, y, longest), {"series": "of", "x": x.title, "y": y.title}, rows, names,
        wide=True, near=("x", "y"))


def _marks(table: Table, told: Marks) -> Drawing | None:
    values: dict[str, dict[str, float]] = {}
    seen: Counter[str] = Counter()
    for row in table.rows:
        name = tables.said(row[0])
        seen[name] += 1
        # Two rows of one name are two.
        name += f" ({seen[name]})" if seen[name] > 1 else ""
        for column in told.columns:
            if (value := _number(row[column])) is not None:
                values.setdefault(table.columns[column], {})[name] = value
    return replace(charts.points(told.x, values), heading=table.title) if values else None


def drawing(table: Table) -> Drawing | None:
    return (_curve(table, table.curve) if table.curve else _marks(table, table.marks) if table.marks
            else None)


def make(path: Path, found: dict[str, Any]) -> str:
    """The page of what was told. UserError: PATH has not all of that."""
    try:
        every = [tables.of_dict(one) for one in found["tables"]]
        if not every:
            raise ValueError("none")
        parts: list[str] = []
        drawings: list[Drawing] = []
        for table in every:
            mine = drawing(table)
            parts.append(tables.as_html(table, drawn([mine], len(drawings), len(drawings)) if mine else ""))
            drawings += [mine] if mine else []
        return document(escape(str(found["page"])), "".join(parts), drawings)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise UserError(f"{path}: no page's tables ({error!r}): another version, or another program, wrote "
                        "it") from None
