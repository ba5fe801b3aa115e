# SPDX-License-Identifier: GPL-2.0
"""The plots of the paper's evaluation: functions of the results. What they return has no heading yet.

Ours stands as lines or rows. What the paper says stands beside it in the same drawing, as series of its own.
"""

from __future__ import annotations

from typing import Any

from ..report import charts
from ..report.charts import Axis, Drawing
from . import measured, published
from .measured import Runs

GB = 2**30
Point = tuple[float, float]
Curves = dict[str, list[Point]]


def curves(x: str, y: str, found: Curves, log: str = "") -> Drawing:
    """A line for each name. LOG has the letters of the axes that are logarithmic."""
    rows: list[dict[str, Any]] = [
        {"series": name, "x": charts.figure(at), "y": charts.figure(value)}
        for name, points in found.items()
        for at, value in points
    ]
    across, up = (charts.ends([row[axis] for row in rows], axis in log) for axis in "xy")
    names = list(found)
    longest = max(map(len, found.values()), default=1)
    chart = charts.lines(names, Axis(x, "x" in log, *across), Axis(y, "y" in log, *up), longest)
    return Drawing(
        "",
        f"Lines: {', '.join(names)}; {x}; {y}.",
        chart,
        {"series": "what", "x": x, "y": y},
        rows,
        names,
        near=("x", "y"),
    )


def table_2(runs: Runs) -> Drawing:
    """What is stored of what is in use, on a logarithmic axis: savings of 99.8 and 99.9 % differ by half."""
    found = {
        "paper, ext3": {
            name: 100 - row.savings for name, row in published.TABLE_2.items() if row.savings is not None
        }
    }
    for fs, tables in measured.table_2(runs).items():
        found[fs] = {
            name: max(100 - measured.savings_of(tables, name), 1e-4) for name in found["paper, ext3"]
        }
    return charts.points("stored of what is in use, %", found, log=True)


def table_3(runs: Runs) -> Drawing:
    found: Curves = {}
    for what, rates in measured.table_3(runs).items():
        found[what] = list(rates.items())
        found[f"{what}, measured by the paper"] = list(
            zip((1, 2, 3), published.TABLE_3[what][0], strict=True)
        )
    return curves("disks, 1", "requests a second, 1/s", found)


def figure_1(runs: Runs) -> Drawing:
    low, high = published.FIGURE_1_PERCENT
    found: dict[str, dict[str, float]] = {"paper: roughly from": {}, "paper: roughly to": {}}
    for mu, sigma, shares in measured.figure_1(runs):
        name = f"mu {mu}, sigma {sigma}"
        found["paper: roughly from"][name], found["paper: roughly to"][name] = low, high
        for number, share in enumerate(shares, 1):
            found.setdefault(f"ext2, seed {number}", {})[name] = share
    return charts.points("metadata of the image, %", found, log=True)


def figure_4(runs: Runs) -> Drawing:
    found: Curves = {}
    for one in measured.of(runs, "figure4"):
        found["ext3"] = [(row["s"], row["waiting"] / 1e6) for row in one["result"]["rows"]]
    last = max([at for points in found.values() for at, _ in points], default=1.0)
    found["paper, at most, with snooping"] = [(0, published.FIGURE_4_MB), (last, published.FIGURE_4_MB)]
    return curves("time, s", "waiting unclassified, MB", found)


def distribution(result: dict[str, Any]) -> Drawing:
    """Figures 6 and 7: the two curves lie on each other where the model is right."""
    found: Curves = {}
    for name in ("measured", "modelled"):
        times = [max(ns, 1000) / 1e6 for ns in result[name]]
        found[name] = [(ms, 100 * at / max(len(times) - 1, 1)) for at, ms in enumerate(times)]
    return curves("response of a request, ms", "share of them, %", found, log="x")


def figure_8(runs: Runs) -> Drawing:
    found: Curves = {}
    for fs, rows in measured.figure_8(runs).items():
        found[f"stored, {fs}"] = [(row["bytes"] / GB, row["store_used"] / GB) for row in rows]
    most = max([800.0, *(at for points in found.values() for at, _ in points)])
    found["without david"] = [(10, 10), (most, most)]
    found["paper's backing device"] = [(published.FIGURE_8_GB, published.FIGURE_8_BACKING_GB)]
    return curves("image, GB", "storage, GB", found, log="xy")


def _over_time(runs: Runs, label: str, what: dict[str, str], limit: float, name: str) -> Drawing:
    found: Curves = {}
    for one in measured.of(runs, "figure9"):
        points = measured.figure_9(one["result"]["rows"])["points"]
        for curve, called in what.items():
            found[called] = [(each["s"], each[curve]) for each in points]
    last = max([at for points in found.values() for at, _ in points], default=1.0)
    found[name] = [(0, limit), (last, limit)]
    return curves("time, s", label, found)


def figure_9_memory(runs: Runs) -> Drawing:
    return _over_time(
        runs,
        "memory, MB",
        {"memory": "all of it", "model_memory": "the model"},
        published.FIGURE_9_MB,
        "paper, on average",
    )


def figure_9_cpu(runs: Runs) -> Drawing:
    return _over_time(
        runs,
        "CPU, %",
        {"machine": "the machine", "cpu": "david", "model_cpu": "the model"},
        published.FIGURE_9_CPU,
        "paper, on average",
    )
