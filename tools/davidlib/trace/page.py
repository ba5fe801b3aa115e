# SPDX-License-Identifier: GPL-2.0
"""A report as text, as CSV files, and as one HTML page with drawings that opens without a network."""

from __future__ import annotations

import csv
import html
import math
import re
from pathlib import Path

from .figures import Cell, Table

WIDTH, HEIGHT, EDGE = 640, 240, 60
ROWS = 40  # of a figure over time, as text; the files have all
COLORS = ["#2563eb", "#dc2626"]

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #1f2937; background: #fff }
table { border-collapse: collapse; margin: 0.5rem 0 } td, th { padding: 0.1rem 0.8rem; text-align: right }
td:first-child, th:first-child { text-align: left } tr { border-bottom: 1px solid #8884 }
h2 { margin-top: 2.5rem } p { margin: 0.3rem 0 } details { margin: 0.3rem 0 }
@media (prefers-color-scheme: dark) {
  body { color: #e5e7eb; background: #111827 } svg text { fill: #e5e7eb } }
"""


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


def write_csv(table: Table, directory: Path) -> None:
    with (directory / file_name(table)).open(
        "w", newline="", encoding="utf-8", errors="surrogateescape"
    ) as file:
        writer = csv.writer(file)
        writer.writerow(table.columns)
        writer.writerows(table.rows)


def _points(table: Table) -> tuple[list[list[float]], list[float]]:
    """The numbers of a curve, column by column; a row with a text is a remark."""
    assert table.curve
    across, columns, logarithmic = table.curve
    rows = [row for row in table.rows if isinstance(row[across], int | float)]
    x = [float(row[across] or 0) for row in rows]
    if logarithmic:
        x = [math.log10(value) if value > 0 else 0.0 for value in x]
    return [[float(row[column] or 0) for row in rows] for column in columns], x


def drawing(table: Table) -> str:
    assert table.curve
    curves, x = _points(table)
    if len(x) < 2:
        return ""
    across, columns, logarithmic = table.curve
    low, high, top = min(x), max(x), max(max(curve) for curve in curves) or 1.0
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" font-size="11">']
    bottom, right = HEIGHT - 30, WIDTH - 20
    parts.append(f'<path d="M{EDGE} 10V{bottom}H{right}" fill="none" stroke="#888"/>')
    for share in (0.0, 0.5, 1.0):
        y = bottom - share * (bottom - 10)
        parts.append(f'<text x="{EDGE - 6}" y="{y + 4:.1f}" text-anchor="end">{share * top:.4g}</text>')
        value = low + share * (high - low)
        text = f"{10**value:.3g}" if logarithmic else f"{value:.4g}"
        place = EDGE + share * (right - EDGE)
        parts.append(f'<text x="{place:.1f}" y="{bottom + 14}" text-anchor="middle">{text}</text>')
    for number, (curve, column) in enumerate(zip(curves, columns, strict=True)):
        across_all = [EDGE + (at - low) / ((high - low) or 1) * (right - EDGE) for at in x]
        down = [bottom - value / top * (bottom - 10) for value in curve]
        path = " ".join(f"{at:.1f},{y:.1f}" for at, y in zip(across_all, down, strict=True))
        color = COLORS[number % len(COLORS)]
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.5"/>')
        parts.append(
            f'<text x="{EDGE + 10 + 140 * number}" y="20" style="fill:{color}">'
            f"{html.escape(table.columns[column])}</text>"
        )
    parts.append(
        f'<text x="{right}" y="{HEIGHT - 4}" text-anchor="end">{html.escape(table.columns[across])}</text>'
    )
    return "".join(parts) + "</svg>"


def _html_table(table: Table) -> str:
    def row(cells: list[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(row([said(cell) for cell in line], "td") for line in table.rows)
    whole = f"<table>{row(table.columns, 'th')}{body}</table>"
    return f"<details><summary>the numbers</summary>{whole}</details>" if table.curve else whole


def as_html(tables: list[Table], title: str) -> str:
    parts = [
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>',
        f"<style>{STYLE}</style></head><body><h1>{html.escape(title)}</h1>",
    ]
    for table in tables:
        parts.append(f"<h2>{html.escape(table.title)}</h2>")
        if table.curve:
            parts.append(drawing(table))
        parts += [f"<p>{html.escape(note)}</p>" for note in table.notes]
        parts.append(_html_table(table))
    return "".join(parts) + "</body></html>\n"
