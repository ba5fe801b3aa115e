# SPDX-License-Identifier: GPL-2.0
"""Why one variant is faster than another: what an operation of each sends to the disk, and what the drive's
time goes to.

Of two variants the page tells the largest difference of each kind: of what an operation sends that whose
ratio is furthest from 1, of the drive's time that which differs by most. A difference counts if its interval
over seeds, of 95 %, does not have 0 in it; with one seed, if there is one at all. What is rare (`least`) is
not told.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any

from ..bench import costs
from . import answer, factors, figures

Runs = list[dict[str, Any]]
MOST = 3  # variants that the best one is held to
MS, KIB = 1e6, 1024


@dataclass(frozen=True)
class Cost:
    column: str  # of costs.COLUMNS
    label: str  # of a table, with its unit
    said: str  # {} is the figure
    divisor: float = 1
    least: float = 0.1  # of either variant: less is told of nobody


SENT = (
    Cost("requests_per_op", "requests", "{} reads and writes of the disk"),
    Cost("flushes_per_op", "flushes", "{} flushes"),
    Cost("disk_read_bytes_per_op", "read, KiB", "{} KiB read", KIB),
    Cost("disk_written_bytes_per_op", "written, KiB", "{} KiB written", KIB),
)
CALLED = {"seek": "of seeks", "rotation": "of rotation", "transfer": "of transfer", "overhead": "of overhead",
          "flush": "of emptying caches", "queued": "in the drive's queue", "die": "of flash",
          "channel": "of the channel to flash", "map": "of the drive's map", "fault": "of faults"}
TIMES = (
    *(Cost(f"{part}_ns_per_op", f"{part}, ms", f"{{}} ms {CALLED[part]}", MS, 0) for part in costs.PARTS),
    Cost("queue_wait_ns_per_op", "host's queue, ms", "{} ms of waiting for the host's queue", MS, 0),
)


def values(runs: Runs, cost: Cost) -> figures.Values:
    """By variant and seed, in the unit that is told; without runs of which it is not known."""
    found: figures.Values = {}
    for one in runs:
        value = costs.of(one["result"])[cost.column]
        if value is not None:
            found.setdefault(one["run"]["variant"], {})[one["run"]["seed"]] = value / cost.divisor
    return found


def known(runs: Runs) -> bool:
    """Not of runs that have no figures of the disk."""
    return any(values(runs, cost) for cost in SENT)


def _mean(seeds: dict[int, float]) -> float:
    return statistics.fmean(seeds.values())


def _differs(one: dict[int, float], other: dict[int, float]) -> bool:
    """Is there a difference that is not of the seeds' randomness?"""
    found = figures.difference(one, other)
    if found is None:
        return False
    if found.low is None or found.high is None:
        return found.mean != 0
    return found.low > 0 or found.high < 0


def _largest(kinds: tuple[Cost, ...], runs: Runs, one: str, other: str) -> tuple[Cost, float, float] | None:
    """That differs by the largest factor; of times, by most ms."""
    found = []
    for cost in kinds:
        of = values(runs, cost)
        if one in of and other in of and _differs(of[one], of[other]):
            first, second = _mean(of[one]), _mean(of[other])
            if max(first, second) >= cost.least:
                ratio = math.inf if 0 in (first, second) else abs(math.log(first / second))
                found.append((abs(first - second) if kinds is TIMES else ratio, cost, first, second))
    return max(found, key=lambda each: each[0])[1:] if found else None


def _said(one: str, other: str, found: list[tuple[Cost, float, float]]) -> str:
    parts = []
    for cost, first, second in found:
        told = answer.apart(first, second)
        parts.append(f"{cost.said.format(told[0])} an operation with {one}, {told[1]} with {other}")
    return "; ".join(parts)


def sentences(runs: Runs, metric: str) -> list[str]:
    """Of each group: its best variant beside the others, the best of them first."""
    said = []
    for heading, mine in factors.facets(runs):
        workload = figures.of_workload(runs, mine[0]["run"]["workload"]["name"])
        by_metric = figures.by_seed(mine, metric, figures.percentile_kind(workload, metric))
        first, *others = figures.ranking(by_metric, metric)
        for other in others[:MOST]:
            found = [each for kinds in (SENT, TIMES) if (each := _largest(kinds, mine, first, other))]
            alike = f"{first} and {other} differ in nothing that is known of them"
            text = _said(first, other, found) or alike
            said.append(f"{heading}: {text}.")
        if len(others) > MOST:
            said.append(f"{heading}: {len(others) - MOST} more variants are in the table.")
    return said


def head(runs: Runs) -> list[str]:
    return ["workload", "variant", *(cost.label for cost in shown(runs)), "metadata, %", "moved, %"]


def shown(runs: Runs) -> list[Cost]:
    """All that are sent, and times of which there are any."""
    return [*SENT, *(cost for cost in TIMES if any(_mean(seeds) for seeds in values(runs, cost).values()))]


def _share(runs: Runs, column: str) -> str:
    found = [value for one in runs if (value := costs.of(one["result"])[column]) is not None]
    return answer.digits(100 * statistics.fmean(found)) if found else "-"


def rows(runs: Runs) -> list[list[str]]:
    """Of each workload and variant: means over its seeds."""
    found: dict[tuple[str, str], Runs] = {}
    for one in runs:
        found.setdefault((one["run"]["workload"]["name"], one["run"]["variant"]), []).append(one)
    lines, told = [], shown(runs)
    for (workload, name), mine in found.items():
        cells = []
        for cost in told:
            of = values(mine, cost)
            cells.append(answer.digits(_mean(of[name])) if name in of else "-")
        lines.append([workload, name, *cells, *(_share(mine, column) for column in costs.SHARES)])
    return lines
