# SPDX-License-Identifier: GPL-2.0
"""Why one variant is faster than another: what an operation of each sends to the disk, and to a journal on
it, how far requests are from each other, and what the drive's time goes to.

Of two variants the page tells the largest difference of each kind: of what an operation sends, and of how
requests lie, that whose ratio is furthest from 1, of the drive's time that which differs by most. A
difference counts if its interval over seeds, of 95 %, does not have 0 in it; with one seed, if there is one
at all. What is rare (`least`) is not told.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any

from ..bench import costs, places
from . import answer, factors, figures

Runs = list[dict[str, Any]]
MOST = 3  # variants that the best one is held to
MS, KIB, MIB = 1e6, 1 << 10, 1 << 20


@dataclass(frozen=True)
class Cost:
    column: str  # of costs.COLUMNS
    label: str  # of a table, with its unit
    said: str  # {} is the figure
    divisor: float = 1
    least: float = 0.1  # of either variant: less is told of nobody
    per: str = "an operation "


SENT = (
    Cost("requests_per_op", "requests", "{} reads and writes of the disk"),
    Cost("flushes_per_op", "flushes", "{} flushes"),
    Cost("disk_read_bytes_per_op", "read, KiB", "{} KiB read", KIB),
    Cost("disk_written_bytes_per_op", "written, KiB", "{} KiB written", KIB),
    Cost("journal_requests_per_op", "to the journal", "{} writes to the journal"),
    Cost("journal_bytes_per_op", "to the journal, KiB", "{} KiB to the journal", KIB),
)
JUMPS = (
    Cost("going_on_share", "going on, %", "a request begins where the last one ended in {} % of cases", 0.01,
         1, ""),
    Cost("jump_bytes", "jump, MiB", "jumps of {} MiB from one request to the next", MIB, 0.1, ""),
)
CALLED = {"seek": "of seeks", "rotation": "of rotation", "transfer": "of transfer", "overhead": "of overhead",
          "flush": "of emptying caches", "queued": "in the drive's queue", "die": "of flash",
          "channel": "of the channel to flash", "map": "of the drive's map", "fault": "of faults"}
TIMES = (
    *(Cost(f"{part}_ns_per_op", f"{part}, ms", f"{{}} ms {CALLED[part]}", MS, 0) for part in costs.PARTS),
    Cost("queue_wait_ns_per_op", "host's queue, ms", "{} ms of waiting for the host's queue", MS, 0),
)


KINDS = (SENT, JUMPS, TIMES)


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
        parts.append(f"{cost.said.format(told[0])} {cost.per}with {one}, {told[1]} with {other}")
    return "; ".join(parts)


def sentences(runs: Runs, metric: str) -> list[str]:
    """Of each group: its best variant beside the others, the best of them first."""
    said = []
    for heading, mine in factors.facets(runs):
        workload = figures.of_workload(runs, mine[0]["run"]["workload"]["name"])
        by_metric = figures.by_seed(mine, metric, figures.percentile_kind(workload, metric))
        first, *others = figures.ranking(by_metric, metric)
        for other in others[:MOST]:
            found = [each for kinds in KINDS if (each := _largest(kinds, mine, first, other))]
            alike = f"{first} and {other} differ in nothing that is known of them"
            text = _said(first, other, found) or alike
            said.append(f"{heading}: {text}.")
        if len(others) > MOST:
            said.append(f"{heading}: {len(others) - MOST} more variants are in the table.")
    return said


NAMES = ("workload", "variant")


def head(runs: Runs) -> list[str]:
    labels = ((cost.label for cost in shown(kinds, runs)) for kinds in ((*SENT, *JUMPS), TIMES))
    sent, times = map(list, labels)
    return [*NAMES, *sent, "metadata, %", "moved, %", *times]


def shown(kinds: tuple[Cost, ...], runs: Runs) -> list[Cost]:
    """What an operation sends, and else what there is any of."""
    return [cost for cost in kinds if cost in SENT[: len(costs.COUNTS)]
            or any(_mean(seeds) for seeds in values(runs, cost).values())]


def tables(runs: Runs) -> list[tuple[list[str], list[list[str]]]]:
    """The same in two, with the drive's time apart: a page is not that wide."""
    whole, lines = head(runs), rows(runs)
    end = len(whole) - len(shown(TIMES, runs))
    return [(whole[:end], [line[:end] for line in lines]),
            ([*NAMES, *whole[end:]], [[*line[:len(NAMES)], *line[end:]] for line in lines])]


def untold(runs: Runs) -> str:
    """Of which runs it is not known where requests went; "" if it is of all."""
    lack = sum(not places.whole(one["result"]) for one in runs)
    return (f"Of {lack} of {len(runs)} runs it is not known where on the disk requests went: that is "
            "recorded under virtual time, where no request may be missing." if lack else "")


def _share(runs: Runs, column: str) -> str:
    found = [value for one in runs if (value := costs.of(one["result"])[column]) is not None]
    return answer.digits(100 * statistics.fmean(found)) if found else "-"


def _cells(told: list[Cost], runs: Runs, name: str) -> list[str]:
    found = (values(runs, cost).get(name) for cost in told)
    return [answer.digits(_mean(seeds)) if seeds else "-" for seeds in found]


def rows(runs: Runs) -> list[list[str]]:
    """Of each workload and variant: means over its seeds."""
    found: dict[tuple[str, str], Runs] = {}
    for one in runs:
        found.setdefault((one["run"]["workload"]["name"], one["run"]["variant"]), []).append(one)
    sent, times = shown((*SENT, *JUMPS), runs), shown(TIMES, runs)
    lines = []
    for (workload, name), mine in found.items():
        lines.append([workload, name, *_cells(sent, mine, name),
                      *(_share(mine, column) for column in costs.SHARES), *_cells(times, mine, name)])
    return lines
