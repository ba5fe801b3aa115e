# SPDX-License-Identifier: GPL-2.0
"""The drawings of a report, each a function of runs that returns a charts.Drawing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import altair as alt

from ..bench import costs, places, samples
from ..bench.arraywords import FAILED
from ..bench.metrics import METRICS
from ..pages import theme
from ..sizes import SECTOR
from ..workload.record import QUANTILES
from . import charts, crossings, factors, figures
from .charts import Axis, Drawing
from .filenames import file_words

HEAT_COLUMNS = 60
PARTS = ("seek", "rotation", "transfer", "overhead", "flush", "queued", "die", "channel", "map", "fault")
FAR = 100  # times that the greatest figure on an axis may be the least
APART = 10  # times that the greatest figure of a group may be another's on one axis
Runs = list[dict[str, Any]]


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


def firsts(runs: Runs) -> Runs:
    """The run of each variant that has its first seed."""
    found: dict[str, dict[str, Any]] = {}
    for one in runs:
        found.setdefault(one["run"]["variant"], one)
    return list(found.values())


def _names(runs: Runs) -> list[str]:
    return [one["run"]["variant"] for one in firsts(runs)]


def _count(names: list[str]) -> str:
    return f"{len(names)} variants: {', '.join(names)}" if len(names) > 1 else f"Of {names[0]}"


def _rows(axis: Axis, heading: str, names: list[str], all_names: list[str], with_ends: bool) -> Any:
    """A row for each variant of a group. Marks are of all names of the drawing."""
    title, down, y = axis.title, charts.ROW // 4, charts.row_axis(names)
    data = charts.base().transform_filter(alt.datum.group == heading)
    means, seeds = data.transform_filter("isValid(datum.mean)"), data.transform_filter("isValid(datum.seed)")
    tint = charts.colour(all_names, told=False)
    hover = [
        alt.Tooltip("name:N", title="variant"),
        alt.Tooltip("mean:Q", title=title, format=",.4~r"),
        alt.Tooltip("low:Q", title="95 % interval from", format=",.4~r"),
        alt.Tooltip("high:Q", title="to", format=",.4~r"),
        alt.Tooltip("count:Q", title="seeds"),
    ]
    one = [
        alt.Tooltip("name:N", title="variant"),
        alt.Tooltip("seed:Q"),
        alt.Tooltip("value:Q", title=title, format=",.4~r"),
    ]

    def across(field: str) -> alt.X:
        return alt.X(f"{field}:Q", axis=axis.across(), scale=axis.scale())

    bars = means.mark_rule(strokeWidth=3, yOffset=down, y2Offset=down).encode(
        x=across("low"), x2="high:Q", y=y, color=tint, tooltip=hover
    )
    return alt.layer(
        *([bars] if with_ends else []),
        seeds.mark_tick(thickness=1.5, size=14, yOffset=down, opacity=0.7).encode(
            x=across("value"), y=y, color=tint, tooltip=one
        ),
        means.mark_point(filled=True, size=90, yOffset=down, opacity=1).encode(
            x=across("mean"), y=y, color=tint, tooltip=hover, shape=charts.shape(all_names, told=False)
        ),
        charts.named_rows(names, means),
    ).properties(height=charts.ROW * len(names))


def _of_values(title: str, values: list[float]) -> Axis:
    """From nothing on, unless one would not see the least of them."""
    log = 0 < FAR * min(values) < max(values)
    low, high = charts.ends(values, log)
    return Axis(title, log, low if log else 0, high)


def comparison(runs: Runs, metric: str) -> Drawing:
    """Of a workload: each variant's mean with its interval, and each seed's value, within its group."""
    kind, title = figures.percentile_kind(runs, metric), _named(runs, metric)
    rows: list[dict[str, Any]] = []
    groups: dict[str, list[str]] = {}
    for heading, mine in factors.facets(runs):
        values = figures.by_seed(mine, metric, kind)
        groups[heading] = list(values)
        for name, seeds in values.items():
            found = figures.estimate(list(seeds.values()))
            where = {"group": heading, "name": name, "series": name}
            low, high = found.ends or (None, None)
            rows.append({**where, "mean": found.mean, "low": low, "high": high, "count": found.count})
            rows += [{**where, "seed": seed, "value": value} for seed, value in seeds.items()]
    names = list(dict.fromkeys(name for mine in groups.values() for name in mine))

    marked = {heading: [row[key] for row in rows for key in ("value", "low", "high")
                        if row["group"] == heading and row.get(key) is not None] for heading in groups}
    every = [value for values in marked.values() for value in values]
    tops = [max(values) for values in marked.values()]
    apart = max(tops) > APART * min(tops)
    with_ends = {row["group"] for row in rows if row.get("low") is not None}
    parts = {
        heading: _rows(_of_values(title, marked[heading] if apart else every), heading, mine, names,
                       heading in with_ends)
        for heading, mine in groups.items()
    }
    return Drawing(
        "Variants"
        if len(groups) == 1
        else f"Variants within each group{', each on an axis of its own' * apart}",
        f"A row for each variant: a mark at its mean, a bar over its interval of 95 %, a tick for each seed; "
        f"{title}. {_count(names)}.",
        charts.facets(parts),
        {
            "group": "group",
            "name": "variant",
            "series": "called",
            "mean": f"mean: {title}",
            "low": "95 % interval from",
            "high": "to",
            "count": "seeds",
            "seed": "seed",
            "value": title,
        },
        rows,
        wide=True,
    )


WIDE = 8  # times the least value of a parameter: from then on its axis is logarithmic


def _named(runs: Runs, metric: str) -> str:
    """The metric of one workload, with its unit."""
    known = METRICS[metric]
    label = known.label + figures.label(runs, runs[0]["run"]["workload"]["name"], metric)
    return label if known.unit in label else f"{label}, {known.unit}"


def _parameter(name: str, words: list[str]) -> Axis:
    """Its values as numbers, those with a unit in bytes."""
    values = [crossings.number(word) or 0 for word in words]
    plain = all(word.replace(".", "", 1).isdecimal() for word in words)
    log = min(values) > 0 and max(values) >= WIDE * min(values)
    edge = 1.1 if log else 0.05 * (max(values) - min(values))
    ends = (min(values) / edge, max(values) * edge) if log else (min(values) - edge, max(values) + edge)
    return Axis(f"{name}, {'1' if plain else 'B'}", log, *ends, tuple(zip(values, words, strict=True)))


def _curve(title: str, parameter: str, where: str, curve: crossings.Curve) -> Drawing:
    """Means over a parameter that is swept, each with its interval."""
    rows: list[dict[str, Any]] = []
    for word, values in curve.items():
        for name, seeds in values.items():
            found = figures.estimate(list(seeds.values()))
            low, high = found.ends or (None, None)
            rows.append({"series": name or "mean", "x": crossings.number(word), "y": found.mean, "low": low,
                         "high": high, "count": found.count, "value": word})
    names = list(dict.fromkeys(row["series"] for row in rows))
    x = _parameter(parameter, list(curve))
    top = charts.ends([row[key] for row in rows for key in ("y", "high") if row[key] is not None])[1]
    y = Axis(title, low=0, high=top)
    lines = charts.lines(names, x, y, len(curve))
    bars = charts.base().transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2, opacity=0.6).encode(
        x=alt.X("x:Q", scale=x.scale(), axis=x.across()), y=alt.Y("low:Q", scale=y.scale(), axis=y.up()),
        y2="high:Q", color=charts.colour(names, told=False))
    return Drawing(
        f"Over {parameter}" + (f": {where}" if where else ""),
        f"A line for each of {', '.join(names)} over {parameter}, bars are intervals of 95 % over seeds; "
        f"{title}.",
        # Without intervals the bars' axis would have no ends, which Vega warns of.
        alt.layer(lines, bars) if any(row["low"] is not None for row in rows) else lines,
        {"series": "of", "value": parameter, "x": x.title, "y": f"mean: {title}",
         "low": "95 % interval from", "high": "to", "count": "seeds"},
        rows,
        names,
        near=("x", "y"),
    )


def _of_asked(runs: Runs, parameter: str, metric: str) -> crossings.Curve:
    """Of a parameter that is what was asked: a line for each of what else differs."""
    whole: crossings.Curve = {}
    for others, curve in crossings.curves(runs, parameter, metric):
        for word, values in curve.items():
            whole.setdefault(word, {})[", ".join(others.values())] = values[word]
    return {word: whole[word] for word in sorted(whole, key=lambda word: crossings.number(word) or 0)}


def curves(runs: Runs, metric: str) -> list[Drawing]:
    """Of a workload: for each parameter that is swept one of each combination of what else differs."""
    title, asked, found = _named(runs, metric), factors.asked(runs), []
    for parameter in crossings.drawn(runs):
        if parameter == asked:
            found.append(_curve(title, parameter, "", _of_asked(runs, parameter, metric)))
        else:
            found += [_curve(title, parameter, ", ".join(others.values()), curve)
                      for others, curve in crossings.curves(runs, parameter, metric)]
    return found


def _over_time(
    runs: Runs, heading: str, label: str, points: Any, step: bool = False, log: bool = False
) -> Drawing:
    """POINTS of a run are pairs of a second and a value."""
    names, rows, longest = _names(runs), [], 1
    for one in firsts(runs):
        found = list(points(one))
        longest = max(longest, len(found))
        rows += [
            {"series": one["run"]["variant"], "x": charts.figure(at), "y": charts.figure(value)}
            for at, value in found
        ]
    span = max([row["x"] for row in rows], default=1.0)
    low, high = charts.ends([row["y"] for row in rows], log)
    x, y = Axis("time, s", low=0, high=span), Axis(label, log, low, high)
    return Drawing(
        heading,
        f"Lines over {span:.3g} s; {label}. {_count(names)}; of each the first seed.",
        charts.lines(names, x, y, longest, step, zoom=True),
        {"series": "variant", "x": x.title, "y": label},
        rows,
        names,
        near=("x", "y"),
    )


def _moved(one: dict[str, Any]) -> Iterator[tuple[float, float]]:
    moved = [a + b for a, b in zip(_since(one, "read_bytes"), _since(one, "written_bytes"), strict=True)]
    rates = _rates(moved, _since(one, "t_ns"))
    # From 0 on: a step reaches back to where it began.
    yield from zip(_ends(one), [rate / 1e6 for rate in [*rates[:1], *rates]], strict=False)


def throughput(runs: Runs) -> Drawing:
    return _over_time(runs, "Throughput over time", "read and written, MB/s", _moved, step=True)


def _responses(one: dict[str, Any]) -> Iterator[tuple[float, float]]:
    count, total = _since(one, "modelled"), _since(one, "modelled_ns")
    for at, (n1, n2), (t1, t2) in zip(_ends(one)[1:], pairwise(count), pairwise(total), strict=True):
        if n2 > n1:
            yield at, max((t2 - t1) / (n2 - n1), 1) / 1e6


def latency(runs: Runs) -> Drawing:
    return _over_time(runs, "Latency over time", "mean response of requests, ms", _responses, log=True)


def has_distribution(runs: Runs) -> bool:
    """Not of fio's writes with syncs: only the mean is known of them."""
    kind = figures.longest_kind(runs)
    return len([ns for ns in runs[0]["result"]["latency"][kind]["quantiles_ns"] if ns is not None]) > 1


def distribution(runs: Runs) -> Drawing:
    """Of the kind of operation that took most of the time of all runs: the answer's p99 is of the same."""
    kind, names, rows = figures.longest_kind(runs), _names(runs), []
    for one in firsts(runs):
        if found := one["result"]["latency"].get(kind):
            rows += [
                {"series": one["run"]["variant"], "x": charts.figure(max(ns, 1) / 1e6), "y": share / 10}
                for ns, share in zip(found["quantiles_ns"], QUANTILES, strict=True)
                if ns is not None
            ]
    low, high = charts.ends([row["x"] for row in rows], log=True)
    x, y = (
        Axis(f"time of an operation '{kind}', ms", True, low, high),
        Axis("share of them, %", low=0, high=100),
    )
    return Drawing(
        "Distribution of latency",
        f"Lines from 0 to 100 %; {x.title}. {_count(names)}; of each the first seed.",
        charts.lines(names, x, y, len(QUANTILES)),
        {"series": "variant", "x": x.title, "y": y.title},
        rows,
        names,
        near=("x", "y"),
    )


def heat_map(one: dict[str, Any]) -> Drawing:
    """How many requests took how long, when. Buckets are powers of two of microseconds, as in the kernel."""
    span = _seconds(one)[-1]
    counts, buckets = samples.heat(column(one, "t_ns"), one["result"]["histograms"], HEAT_COLUMNS)
    wide, rows = span / HEAT_COLUMNS, []
    for bucket, cells in zip(buckets, counts, strict=True):
        rows += [
            {
                "x": charts.figure(at * wide),
                "x2": charts.figure((at + 1) * wide),
                "y": 2.0 ** (bucket - 1) / 1000,
                "y2": 2.0**bucket / 1000,
                "count": count,
            }
            for at, count in enumerate(cells)
            if count
        ]
    x, y = Axis("time, s", low=0, high=span), Axis("response of requests, ms", True)
    low, high = 2.0 ** (buckets[0] - 1) / 1000, 2.0 ** buckets[-1] / 1000
    most = max([row["count"] for row in rows], default=1)
    chart = (
        alt.Chart(charts.DATA, height=charts.HEIGHT)
        .mark_rect(aria=False)
        .encode(
            x=alt.X("x:Q", axis=x.across(), scale=x.scale()),
            x2="x2:Q",
            y=alt.Y("y:Q", axis=y.up(), scale=alt.Scale(type="log", nice=False, domain=[low, high])),
            y2="y2:Q",
            color=alt.Color(
                "count:Q",
                scale=alt.Scale(type="log", scheme="viridis", nice=False, domain=[1, max(most, 2)]),
                legend=alt.Legend(
                    title="requests",
                    orient="bottom",
                    format="~r",
                    tickCount=3,
                    gradientLength=alt.ExprRef("min(width, 240)"),
                ),
            ),
            tooltip=[
                alt.Tooltip("x:Q", title="from, s", format=".4~r"),
                alt.Tooltip("x2:Q", title="to, s", format=".4~r"),
                alt.Tooltip("y:Q", title="took from, ms", format=".4~r"),
                alt.Tooltip("y2:Q", title="to, ms", format=".4~r"),
                alt.Tooltip("count:Q", title="requests"),
            ],
        )
    )
    return Drawing(
        f"Latency over time, all requests: {one['run']['variant']}",
        f"Cells of time and response, coloured by how many requests there were; {span:.3g} s, {low:.3g} to "
        f"{high:.3g} ms.",
        chart,
        {"x": "from, s", "x2": "to, s", "y": "took from, ms", "y2": "to, ms", "count": "requests"},
        rows,
    )


GIB, MIB = 1 << 30, 1 << 20
LINE = 3  # px that a place is high, at least


def place_map(one: dict[str, Any]) -> Drawing:
    """Which kinds of requests went where, when: a line for each cell of place and time."""
    result, found = one["result"], places.whole(one["result"]) or {"cells": []}
    rows: list[dict[str, Any]] = []
    for kind, at, where, count in found["cells"]:
        step, place = found["step_ns"] / 1e9, found["place_bytes"] / GIB
        # A place has more digits than a drawing needs: they tell a cell of a large disk from the next.
        low, high = (float(f"{number * place:.9g}") for number in (where, where + 1))
        rows.append({"series": places.KINDS[kind], "x": charts.figure(at * step),
                     "x2": charts.figure((at + 1) * step), "y": low, "y2": high, "count": count})
    names = [kind for kind in places.KINDS if any(row["series"] == kind for row in rows)]
    span = max([row["x2"] for row in rows], default=result["seconds"])
    low, high = min([row["y"] for row in rows], default=0.0), max([row["y2"] for row in rows], default=1.0)
    edge = 0.02 * (high - low)  # a line has a height
    low, high = low - edge, high + edge
    most = max([row["count"] for row in rows], default=1)
    x, y = Axis("time, s", low=0, high=span), Axis("place on the disk, GiB", low=low, high=high)
    across = alt.Scale(nice=False, domain=[alt.ExprRef("from"), alt.ExprRef("to")])
    thick = max(LINE, charts.HEIGHT * found["place_bytes"] / GIB / (high - low)) if rows else LINE
    chart = (
        charts.base(height=charts.HEIGHT)
        .transform_calculate(middle="(datum.y + datum.y2) / 2")
        .mark_rule(clip=True, strokeWidth=thick)
        .encode(
            x=alt.X("x:Q", scale=across, axis=x.across()),
            x2="x2:Q",
            y=alt.Y("middle:Q", scale=alt.Scale(nice=False, zero=False, domain=[low, high]), axis=y.up()),
            color=charts.colour(names, "bar"),
            opacity=alt.Opacity("count:Q", legend=None, scale=alt.Scale(
                type="log", nice=False, domain=[1, max(most, 2)], range=[0.55, 1])),
            tooltip=[
                alt.Tooltip("series:N", title="kind"),
                alt.Tooltip("x:Q", title="from, s", format=".4~r"),
                alt.Tooltip("x2:Q", title="to, s", format=".4~r"),
                alt.Tooltip("y:Q", title="place from, GiB", format=".6~r"),
                alt.Tooltip("y2:Q", title="to, GiB", format=".6~r"),
                alt.Tooltip("count:Q", title="requests"),
            ],
        )
        .add_params(alt.selection_interval(name="brush", encodings=["x"]))
    )
    return Drawing(
        f"Places on {'the first member' if one['run'].get('array') else 'the disk'} over time: "
        f"{one['run']['variant']}",
        f"Lines at the place of requests, coloured by their kind: {', '.join(names)}; {span:.3g} s, "
        f"{low:.4g} to {high:.4g} GiB.",
        chart.add_params(charts.hidden(), alt.param(name="from", value=0), alt.param(name="to", value=span)),
        {"series": "kind", "x": "from, s", "x2": "to, s", "y": "place from, GiB", "y2": "place to, GiB",
         "count": "requests"},
        rows,
        names,
        mark="bar",
    )


def jumps(runs: Runs) -> Drawing:
    """How far requests are from where the one before ended: the share that is nearer than that."""
    rows: list[dict[str, Any]] = []
    told = [one for one in firsts(runs) if sum((places.whole(one["result"]) or {"jumps": []})["jumps"])]
    longest = 1
    for one in told:
        found = one["result"]["places"]["jumps"]
        longest, below = max(longest, len(found)), 0
        for bits, count in enumerate(found):
            below += count
            rows.append({"series": one["run"]["variant"], "x": charts.figure((1 << bits) * SECTOR / MIB),
                         "y": charts.figure(100 * below / sum(found))})
    names = _names(told)
    low, high = charts.ends([row["x"] for row in rows], log=True)
    x, y = Axis("nearer to the request before than, MiB", True, low, high), Axis(
        "share of requests, %", low=0, high=100)
    return Drawing(
        "From one request to the next",
        f"Lines from 0 to 100 %; {x.title}. {_count(names) if names else ''}; of each the first seed.",
        charts.lines(names, x, y, longest),
        {"series": "variant", "x": x.title, "y": y.title},
        rows,
        names,
        near=("x", "y"),
    )


def _shares(one: dict[str, Any]) -> dict[str, float]:
    """Of a run's time: what its disk, or each of its members, was busy with."""
    result, members = one["result"], one["run"].get("array", {}).get("members", 1)
    members -= len(one["run"].get("array_state", {}).get(FAILED, ()))  # They have no figures.
    return samples.part_shares(result["columns"], result["samples"][-1], members)


def _bars(heading: str, x: Axis, names: list[str], parts: list[str], rows: list[dict[str, Any]]) -> Drawing:
    """A bar for each variant, of parts."""
    down = charts.ROW // 4
    tooltip = [
        alt.Tooltip("name:N", title="variant"),
        alt.Tooltip("series:N", title="busy with"),
        alt.Tooltip("y:Q", title=x.title, format=".3~r"),
    ]
    bars = charts.base().transform_calculate(part=f"indexof({parts!r}, datum.series)")
    bars = bars.mark_bar(size=14, yOffset=down, clip=True, stroke=theme.CARD, strokeWidth=1).encode(
        x=alt.X("y:Q", stack="zero", axis=x.across(), scale=x.scale()),
        y=charts.row_axis(names),
        color=charts.colour(parts, "bar"),
        order=alt.Order("part:O"),
        tooltip=tooltip,
    )
    chart = alt.layer(bars, charts.named_rows(names, alt.Chart(charts.DATA)))
    said = f"A bar for each variant, of parts of its time: {', '.join(parts)}; {x.title}."
    return Drawing(
        heading, f"{said} {_count(names)}; of each the first seed.",
        charts.facets({"": chart.properties(height=charts.ROW * len(names))}),
        {"name": "variant", "series": "busy with", "y": x.title}, rows, parts, mark="bar")


def where_time_went(runs: Runs) -> Drawing:
    """Shares of the run's time; the rest is a drive without a command."""
    found = {one["run"]["variant"]: _shares(one) for one in firsts(runs)}
    parts = [part for part in PARTS if any(shares[part] for shares in found.values())]
    rows = [{"name": name, "series": part, "y": charts.figure(100 * shares[part])}
            for name, shares in found.items() for part in parts]
    axis = Axis("share of the run's time, %", low=0, high=100)
    return _bars("Where the drive's time went", axis, list(found), parts, rows)


def cost(runs: Runs) -> Drawing:
    """What an operation of each takes of the drive's time; all parts of commands that went on at once."""
    found = {one["run"]["variant"]: costs.of(one["result"]) for one in firsts(runs)}
    times = {part: {name: (each[f"{part}_ns_per_op"] or 0) / 1e6 for name, each in found.items()}
             for part in PARTS}
    parts = [part for part in PARTS if any(times[part].values())]
    rows = [{"name": name, "series": part, "y": charts.figure(times[part][name])}
            for name in found for part in parts]
    most = max((sum(times[part][name] for part in parts) for name in found), default=1.0)
    return _bars("What an operation costs the drive", Axis("of the drive's time, an operation, ms", low=0,
                                                           high=charts.ends([most])[1]),
                 list(found), parts, rows)


def _mib(name: str, one: dict[str, Any]) -> Iterator[tuple[float, float]]:
    return zip(_seconds(one), [size / (1 << 20) for size in column(one, name)], strict=True)


def store(runs: Runs) -> Drawing:
    return _over_time(runs, "Store over time", "in use of the store, MiB", partial(_mib, "store_bytes"))


def memory(runs: Runs) -> Drawing:
    return _over_time(runs, "Memory over time", "memory of the module, MiB", partial(_mib, "memory_bytes"))


def of_group(runs: Runs) -> dict[str, Drawing]:
    """Of runs that differ in what was asked alone: name -> drawing."""
    found = {
        "throughput": throughput(runs),
        "latency": latency(runs),
        "time": where_time_went(runs),
        "cost": cost(runs),
        "store": store(runs),
        "memory": memory(runs),
    }
    if has_distribution(runs):
        found["distribution"] = distribution(runs)
    found["jumps"] = jumps(runs)
    called = list(zip(firsts(runs), file_words(_names(runs)), strict=True))
    found |= {f"places-{name}": place_map(one) for one, name in called}
    found |= {f"heat-{name}": heat_map(one) for one, name in called if sum(one["result"]["histograms"][-1])}
    return {name: drawing for name, drawing in found.items() if drawing.rows}
