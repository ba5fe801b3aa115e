# SPDX-License-Identifier: GPL-2.0
"""Curves of a measurement as SVG, by the library that draws pages."""

from __future__ import annotations

from pathlib import Path

from davidlib.bench import prepare

Points = list[tuple[float, float]]


def write(heading: str, across: str, up: str, series: dict[str, Points], out: Path) -> None:
    """ACROSS and UP have their units. The calling program is begun again, where the library is."""
    prepare.become()
    from davidlib.report import charts

    rows = [{"series": name, "x": x, "y": y} for name, points in series.items() for x, y in points]
    x, y = (charts.Axis(title, False, *charts.ends([row[field] for row in rows]))
            for title, field in ((across, "x"), (up, "y")))
    names = list(series)
    drawing = charts.Drawing(
        heading, f"{up} over {across}: {', '.join(names)}.",
        charts.lines(names, x, y, max(map(len, series.values()))),
        {"series": "of", "x": across, "y": up}, rows, names)
    out.write_bytes(drawing.rendered("svg"))
