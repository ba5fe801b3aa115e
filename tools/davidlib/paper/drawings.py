# SPDX-License-Identifier: GPL-2.0
"""The plots of the paper's evaluation, each a function of the results that returns a figure."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from ..report import theme
from ..report.plots import axes_of, legend, plain
from . import measured, published
from .measured import Runs

GB = 2**30


def table_2(runs: Runs) -> Figure:
    """What is stored of what is in use, on a logarithmic axis: savings of 99.8 and 99.9 % differ by half."""
    rows = [name for name, row in published.TABLE_2.items() if row.savings is not None]
    figure, axes = axes_of("stored, % of what is in use", "")
    theirs = [100 - (published.TABLE_2[name].savings or 0) for name in rows]
    axes.plot(theirs, range(len(rows)), "x", color="C1", markersize=9, label="paper, ext3")
    for number, (fs, tables) in enumerate(measured.table_2(runs).items()):
        stored = [max(100 - measured.savings_of(tables, name), 1e-4) for name in rows]
        at = [place + 0.12 * (number - 1) for place in range(len(rows))]
        colour = f"C{(0, 2, 3, 4)[number]}"
        axes.plot(stored, at, "o", color=colour, markersize=6 if fs == "ext3" else 4, label=fs)
    axes.set_xscale("log")
    plain(axes.xaxis)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    legend(axes, len(axes.lines))
    return figure


def table_3(runs: Runs) -> Figure:
    figure, axes = axes_of("disks", "requests a second")
    for number, (what, rates) in enumerate(measured.table_3(runs).items()):
        colour = f"C{number}"
        axes.plot(list(rates), list(rates.values()), "o-", color=colour, label=what)
        label = "measured by the paper" if number == 3 else None
        axes.plot((1, 2, 3), published.TABLE_3[what][0], "x", color=colour, markersize=10, label=label)
    axes.set_xticks((1, 2, 3))
    axes.set_ylim(bottom=0)
    legend(axes, 5, columns=2)
    return figure


def figure_1(runs: Runs) -> Figure:
    figure, axes = axes_of("mu, sigma of file sizes", "metadata, % of the image")
    points = measured.figure_1(runs)
    axes.axhspan(*published.FIGURE_1_PERCENT, color="C1", alpha=0.2, label="paper: roughly 1 to 10 %")
    for at, (_, _, shares) in enumerate(points):
        label = None if at else "ext2, a dot for each seed"
        axes.plot([at] * len(shares), shares, "o", color="C0", label=label)
    axes.set_yscale("log")
    plain(axes.yaxis)
    axes.set_xticks(range(len(points)), [f"{mu}\n{sigma}" for mu, sigma, _ in points])
    legend(axes, 2)
    return figure


def figure_4(runs: Runs) -> Figure:
    figure, axes = axes_of("seconds", "waiting unclassified, MB")
    for one in measured.of(runs, "figure4"):
        rows = one["result"]["rows"]
        axes.plot([row["s"] for row in rows], [row["waiting"] / 1e6 for row in rows], label="ext3")
    axes.axhline(published.FIGURE_4_MB, color="C1", linestyle="--", label="paper, at most, with snooping")
    axes.set_ylim(-5, 1.1 * published.FIGURE_4_MB)
    legend(axes, 2)
    return figure


def distribution(found: dict[str, Any]) -> Figure:
    """Figures 6 and 7: the two curves lie on each other where the model is right."""
    figure, axes = axes_of("response of a request, ms", "share of them")
    for name, line in (("measured", "-"), ("modelled", "--")):
        times = [max(ns, 1000) / 1e6 for ns in found[name]]
        axes.plot(times, [at / (len(times) - 1) for at in range(len(times))], line, label=name)
    axes.set_xscale("log")
    plain(axes.xaxis)
    axes.set_ylim(0, 1)
    legend(axes, 2)
    return figure


def figure_8(runs: Runs) -> Figure:
    figure, axes = axes_of("image, GB", "storage, GB")
    sizes: list[float] = []
    for number, (fs, rows) in enumerate(measured.figure_8(runs).items()):
        sizes = [row["bytes"] / GB for row in rows]
        stored = [row["store_used"] / GB for row in rows]
        axes.plot(sizes, stored, "o-", color=f"C{number * 2}", label=f"stored, {fs}")
    ends = [10, max(800, *sizes)]
    axes.plot(ends, ends, "--", color="C6", label="without david")
    axes.plot([published.FIGURE_8_GB], [published.FIGURE_8_BACKING_GB], "x", color="C1", markersize=10,
              label="paper's backing device")
    for scale in (axes.set_xscale, axes.set_yscale):
        scale("log")
    plain(axes.xaxis)
    plain(axes.yaxis)
    legend(axes, 4, columns=2)
    return figure


def _over_time(runs: Runs, label: str, curves: dict[str, str], limit: float, name: str) -> Figure:
    figure, axes = axes_of("seconds", label)
    for one in measured.of(runs, "figure9"):
        points = measured.figure_9(one["result"]["rows"])["points"]
        for curve, what in curves.items():
            axes.plot([each["s"] for each in points], [each[curve] for each in points], label=what)
    axes.axhline(limit, color=f"C{theme.SERIES - 1}", linestyle="--", label=name)
    axes.set_ylim(bottom=0)
    legend(axes, 3, columns=2)
    return figure


def figure_9_memory(runs: Runs) -> Figure:
    return _over_time(runs, "memory, MB", {"memory": "all of it", "model_memory": "the model"},
                      published.FIGURE_9_MB, "paper, on average")


def figure_9_cpu(runs: Runs) -> Figure:
    return _over_time(runs, "CPU, %", {"machine": "the machine", "cpu": "david", "model_cpu": "the model"},
                      published.FIGURE_9_CPU, "paper, on average")
