# SPDX-License-Identifier: GPL-2.0
"""The drawings of a report, each a function of runs that returns a figure of matplotlib's.

They are small, so that two lie beside each other on a screen, and one fills a phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from io import BytesIO
from typing import Any

import matplotlib
from matplotlib import ticker
from matplotlib.figure import Figure

from ..bench import samples
from ..bench.metrics import METRICS
from ..workload.record import QUANTILES
from . import figures, theme

matplotlib.use("svg")
SIZE = (4.8, 3.0)
HEAT_COLUMNS = 60
PARTS = ("seek", "rotation", "transfer", "overhead", "flush", "queued", "die", "channel", "map", "fault")
Runs = list[dict[str, Any]]


def style(colours: Sequence[str]) -> dict[str, Any]:
    ink, faint = colours[0], colours[1]
    return {
        "svg.fonttype": "none", "svg.hashsalt": "david", "font.size": 10, "font.family": "sans-serif",
        "text.color": ink, "axes.labelcolor": ink, "axes.edgecolor": faint, "xtick.color": ink,
        "ytick.color": ink, "grid.color": faint, "axes.grid": True, "axes.axisbelow": True,
        "grid.linewidth": 0.5,
        "axes.facecolor": "none", "figure.facecolor": "none", "savefig.facecolor": "none",
        "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "legend.fontsize": 9,
        "axes.titlesize": 10, "axes.prop_cycle": matplotlib.cycler(color=list(colours[2:])),
        "axes.titlelocation": "left", "lines.linewidth": 1.4, "figure.constrained_layout.use": True,
    }


def column(one: dict[str, Any], name: str) -> list[float]:
    at = one["result"]["columns"].index(name)
    return [row[at] for row in one["result"]["samples"]]


def _since(one: dict[str, Any], name: str) -> list[float]:
    return samples.since(one["result"]["columns"], one["result"]["samples"], name)


def _rates(values: list[float], times: list[float]) -> list[float]:
    """Growth a second between samples."""
    pairs = zip(values, values[1:], times, times[1:], strict=False)
    return [(after - before) / max(end - start, 1) * 1e9 for before, after, start, end in pairs]


def _seconds(one: dict[str, Any]) -> list[float]:
    return [ns / 1e9 for ns in column(one, "t_ns")]


def _ends(one: dict[str, Any]) -> list[float]:
    return [ns / 1e9 for ns in _since(one, "t_ns")]


def axes_of(xlabel: str, ylabel: str) -> tuple[Figure, Any]:
    figure = Figure(figsize=SIZE)
    axes = figure.add_subplot()
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    return figure, axes


class PlainFormatter(ticker.LogFormatter):
    """Of a logarithmic axis: 0.5, 20, where its parent says 5e-01."""

    def _num_to_string(self, x: float, vmin: float, vmax: float) -> str:
        return f"{x:g}"


def plain(axis: Any) -> None:
    """A logarithmic axis in plain numbers, not powers of ten."""
    axis.set_major_formatter(PlainFormatter())
    axis.set_minor_formatter(PlainFormatter(minor_thresholds=(1.5, 0.5)))


def legend(axes: Any, count: int, columns: int = 3) -> None:
    if count > 1:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=min(count, columns), borderaxespad=0)


def firsts(runs: Runs) -> Runs:
    """The run of each variant that has its first seed."""
    found: dict[str, dict[str, Any]] = {}
    for one in runs:
        found.setdefault(one["run"]["variant"], one)
    return list(found.values())


def comparison(runs: Runs, metric: str) -> Figure:
    """Each variant's mean with its interval, and each seed's value."""
    [variants] = figures.table(runs, metric).values()
    known = METRICS[metric]
    figure, axes = axes_of(known.label + figures.label(runs, runs[0]["run"]["workload"]["name"], metric), "")
    for at, (name, values) in enumerate(variants.items()):
        found = figures.estimate(list(values.values()))
        colour = f"C{at % theme.SERIES}"
        axes.plot(list(values.values()), [at] * len(values), "|", color=colour, markersize=12, alpha=0.6)
        if found.ends:
            axes.plot(found.ends, [at, at], color=colour, linewidth=3)
        axes.plot([found.mean], [at], "o", color=colour, markersize=7, label=name)
    axes.set_yticks(range(len(variants)), list(variants))
    axes.set_ylim(len(variants) - 0.5, -0.5)
    axes.set_xlim(0, 1.05 * axes.dataLim.x1 or 1)
    return figure


def throughput(runs: Runs) -> Figure:
    figure, axes = axes_of("seconds", "MB/s, read and written")
    for one in firsts(runs):
        moved = [a + b for a, b in zip(_since(one, "read_bytes"), _since(one, "written_bytes"), strict=True)]
        rates = [rate / 1e6 for rate in _rates(moved, _since(one, "t_ns"))]
        axes.plot(_ends(one)[1:], rates, drawstyle="steps-pre", label=one["run"]["variant"])
    axes.set_ylim(bottom=0)
    legend(axes, len(axes.lines))
    return figure


def latency(runs: Runs) -> Figure:
    figure, axes = axes_of("seconds", "mean response of requests, ms")
    for one in firsts(runs):
        count, total = _since(one, "modelled"), _since(one, "modelled_ns")
        pairs = zip(_ends(one)[1:], count, count[1:], total, total[1:], strict=False)
        points = [(at, (t2 - t1) / (n2 - n1) / 1e6) for at, n1, n2, t1, t2 in pairs if n2 > n1]
        axes.plot([at for at, _ in points], [ms for _, ms in points], label=one["run"]["variant"])
    axes.set_yscale("log")
    plain(axes.yaxis)
    legend(axes, len(axes.lines))
    return figure


def has_distribution(runs: Runs) -> bool:
    """Not of fio's writes with syncs: only the mean is known of them."""
    kind = figures.longest_kind(runs)
    return len([ns for ns in runs[0]["result"]["latency"][kind]["quantiles_ns"] if ns is not None]) > 1


def distribution(runs: Runs) -> Figure:
    """Of the kind of operation that took most of the time of all runs: the answer's p99 is of the same."""
    kind = figures.longest_kind(runs)
    figure, axes = axes_of(f"time of an operation '{kind}', ms", "share of them")
    for one in firsts(runs):
        if found := one["result"]["latency"].get(kind):
            known = [(max(ns, 1) / 1e6, share / 1000)
                     for ns, share in zip(found["quantiles_ns"], QUANTILES, strict=True) if ns is not None]
            axes.plot([ms for ms, _ in known], [share for _, share in known], label=one["run"]["variant"])
    axes.set_xscale("log")
    plain(axes.xaxis)
    axes.set_ylim(0, 1)
    legend(axes, len(axes.lines))
    return figure


def _bound(bucket: int) -> str:
    us = 1 << bucket
    return f"{us} us" if us < 1000 else f"{us / 1000:.3g} ms" if us < 10**6 else f"{us / 1e6:.3g} s"


def heat_map(one: dict[str, Any]) -> Figure:
    """How many requests took how long, when. Buckets are powers of two, as the kernel counts."""
    span = _seconds(one)[-1]
    counts, buckets = samples.heat(column(one, "t_ns"), one["result"]["histograms"], HEAT_COLUMNS)
    figure, axes = axes_of("seconds", "response of requests, below")
    axes.grid(False)
    cells = [[count or float("nan") for count in row] for row in counts]
    image = axes.imshow(cells, aspect="auto", origin="lower", cmap="viridis", interpolation="none",
                        norm=matplotlib.colors.LogNorm(vmin=1), extent=(0, span, -0.5, len(buckets) - 0.5))
    step = max(1, len(buckets) // 7)
    axes.set_yticks(range(0, len(buckets), step), [_bound(bucket) for bucket in buckets[::step]])
    plain(figure.colorbar(image, label="requests").ax.yaxis)
    axes.set_title(one["run"]["variant"])
    return figure


def _shares(one: dict[str, Any]) -> dict[str, float]:
    """Of a run's time: what its disk, or each of its members, was busy with."""
    result, members = one["result"], one["run"].get("array", {}).get("members", 1)
    return samples.part_shares(result["columns"], result["samples"][-1], members)


def where_time_went(runs: Runs) -> Figure:
    """Shares of the run's time; the rest is a drive without a command."""
    figure, axes = axes_of("share of the run's time, %", "")
    ones = firsts(runs)
    names = [one["run"]["variant"] for one in ones]
    left = [0.0] * len(ones)
    found = [_shares(one) for one in ones]
    for at, part in enumerate(PARTS):
        shares = [100 * parts[part] for parts in found]
        if not any(shares):
            continue
        axes.barh(range(len(ones)), shares, left=left, label=part, color=f"C{at}", height=0.6)
        left = [a + b for a, b in zip(left, shares, strict=True)]
    axes.set_yticks(range(len(ones)), names)
    axes.set_ylim(len(ones) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0, columnspacing=1)
    return figure


def store_and_memory(runs: Runs) -> Figure:
    figure, axes = axes_of("seconds", "store (full), memory (dashed), MiB")
    for at, one in enumerate(firsts(runs)):
        colour = f"C{at % theme.SERIES}"
        for name, line in (("store_bytes", "-"), ("memory_bytes", "--")):
            values = [size / (1 << 20) for size in column(one, name)]
            label = one["run"]["variant"] if line == "-" else None
            axes.plot(_seconds(one), values, line, color=colour, label=label)
    axes.set_ylim(bottom=0)
    legend(axes, len(axes.lines) // 2)
    return figure


def drawings(runs: Runs, metric: str) -> dict[str, tuple[str, Any]]:
    """Of one workload: name -> heading and a function without arguments that draws."""
    found = {
        "comparison": ("Variants", lambda: comparison(runs, metric)),
        "throughput": ("Throughput over time", lambda: throughput(runs)),
        "latency": ("Latency over time", lambda: latency(runs)),
        "time": ("Where the drive's time went", lambda: where_time_went(runs)),
        "store": ("Store and memory over time", lambda: store_and_memory(runs)),
    }
    if has_distribution(runs):
        found["distribution"] = ("Distribution of latency", lambda: distribution(runs))
    asked = [one for one in firsts(runs) if sum(one["result"]["histograms"][-1])]
    for number, one in enumerate(asked):
        found[f"heat-{number}"] = ("Latency over time, all requests", partial(heat_map, one))
    return found


def rendered(draw: Any, colours: Sequence[str], kind: str, paper: str = "none") -> bytes:
    """The bytes of an SVG or a PNG; the same each time. `paper` is the colour behind an SVG."""
    with matplotlib.rc_context(style(colours)):
        out = BytesIO()
        svg = {"metadata": {"Date": None}, "facecolor": paper}
        draw().savefig(out, format=kind, **(svg if kind == "svg" else {"dpi": 160, "facecolor": "white"}))
    return out.getvalue()
