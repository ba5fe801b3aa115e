# SPDX-License-Identifier: GPL-2.0
"""What was asked, compared within all else: file systems within each drive, array and size.

The factor that was asked about is the first of a run's: the question's `compare`, or the file system, if the
question has several, or else its first dimension.
All other dimensions make groups; variants of one group differ in the asked factor alone.

An interaction is where the ratio of two of its values is another one for two values of another factor:
two-way, of logarithms, with seeds as blocks, averaged over what is left: over that which both have, so that
only like is beside like. It is told only where its interval excludes 1. There are many pairs of values, so
intervals are wider than that of one would be (Bonferroni): 95 % is for all pairs of a workload together.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .. import student
from ..bench.dimensions import variant
from ..bench.metrics import METRICS
from . import figures

Runs = list[dict[str, Any]]
Words = dict[str, str]  # dimension -> value
LEVEL = 0.95
DIGITS = 9  # of a logarithm
MOST_SAID = 3  # interactions of a workload


def factors_of(one: dict[str, Any]) -> Words:
    found: Words = one["run"]["factors"]
    return found


def asked(runs: Runs) -> str:
    """The factor that the question is about; "" if nothing differs."""
    return next((name for one in runs for name in factors_of(one)), "")


@dataclass(frozen=True)
class Group:
    """Runs of one workload that differ in the asked factor and the seed alone."""

    workload: str
    others: Words
    runs: Runs

    @property
    def heading(self) -> str:
        where = variant(self.others)
        return f"{self.workload}, {where}" if where else self.workload


def groups(runs: Runs) -> list[Group]:
    """In the order of the question."""
    found: dict[tuple[str, tuple[tuple[str, str], ...]], Runs] = {}
    factor = asked(runs)
    for one in runs:
        others = tuple((name, word) for name, word in factors_of(one).items() if name != factor)
        found.setdefault((one["run"]["workload"]["name"], others), []).append(one)
    return [Group(workload, dict(others), mine) for (workload, others), mine in found.items()]


def levels(group: Group, runs: Runs, metric: str) -> figures.Values:
    """Of a group, by the values of the asked factor. RUNS are all, as percentiles of different kinds of
    operation in each group could not be compared."""
    factor = asked(runs)
    kind = figures.percentile_kind(figures.of_workload(runs, group.workload), metric)
    return figures.by_seed(group.runs, metric, kind, lambda one: level_of(one, factor))


def facets(runs: Runs) -> list[tuple[str, Runs]]:
    """What is drawn together: each group, its variants called by the asked factor alone."""
    factor, found = asked(runs), []
    for group in groups(runs):
        named = [one | {"run": one["run"] | {"variant": level_of(one, factor)}} for one in group.runs]
        found.append((group.heading, named))
    return found


def level_of(one: dict[str, Any], factor: str) -> str:
    """What a run is called within its group."""
    return factors_of(one).get(factor) or str(one["run"]["variant"])


@dataclass(frozen=True)
class Interaction:
    """First over second of the asked factor: so many times the ratio at `here` as at `there`."""

    workload: str
    factor: str
    first: str
    second: str
    other: str
    here: str
    there: str
    times: float
    low: float
    high: float
    count: int  # of seeds
    pairs: int  # of which this is one: the interval is of all of them together
    sides: tuple[figures.Estimate, figures.Estimate]  # first over second, here and there
    over: tuple[str, ...]  # the dimensions over which these are averages

    @property
    def shown(self) -> bool:
        return self.low > 1 or self.high < 1

    @property
    def strength(self) -> float:
        return min(abs(math.log(self.low)), abs(math.log(self.high)))


Rest = tuple[tuple[str, str], ...]  # of a run's factors
Cell = dict[Rest, dict[int, float]]  # seed -> value


def _cells(runs: Runs, metric: str, factor: str, other: str) -> dict[tuple[str, str], Cell]:
    """By the values of both."""
    kind = figures.percentile_kind(runs, metric)
    found: dict[tuple[str, str], Cell] = {}
    for one in runs:
        words = factors_of(one)
        if factor in words and other in words:
            rest = tuple((name, word) for name, word in words.items() if name not in (factor, other))
            value = figures.value(one["result"], metric, kind)
            cell = found.setdefault((words[factor], words[other]), {})
            cell.setdefault(rest, {})[one["run"]["seed"]] = value
    return found


def _ratios(one: Cell, two: Cell) -> Cell:
    """Logarithms, for all of the rest that both have."""
    return {rest: {seed: math.log(value / two[rest][seed]) for seed, value in seeds.items()
                   if seed in two[rest] and value > 0 and two[rest][seed] > 0}
            for rest, seeds in one.items() if rest in two}


def _alike(*sides: Cell) -> tuple[list[dict[int, float]], tuple[str, ...]]:
    """Of each side the mean by seed, over what all have of the rest, and over which dimensions that is. A
    dimension that one side does not have at all, such as an SSD's precondition, makes nothing unlike."""
    shared = set.intersection(*({name for name, _ in rest} for side in sides for rest in side))

    def common(rest: Rest) -> Rest:
        return tuple((name, word) for name, word in rest if name in shared)

    everywhere = set.intersection(*({common(rest) for rest in side} for side in sides))
    kept = [{rest: seeds for rest, seeds in side.items() if common(rest) in everywhere} for side in sides]
    words: dict[str, set[str]] = {}
    for name, word in (pair for side in kept for rest in side for pair in rest):
        words.setdefault(name, set()).add(word)
    means = [{seed: statistics.fmean(seeds[seed] for seeds in side.values())
              for seed in set.intersection(*(set(seeds) for seeds in side.values()))} if side else {}
             for side in kept]
    return means, tuple(name for name, found in words.items() if len(found) > 1)


def estimate(values: list[float], level: float) -> figures.Estimate:
    """Of a ratio, of its logarithms: LEVEL is the interval's, such as 0.95."""
    # What seeds that are alike differ by is of the arithmetic.
    logs = [round(value, DIGITS) for value in values]
    mean, half = statistics.fmean(logs), 0.0
    if len(set(logs)) > 1:
        half = student.factor(len(logs) - 1, level) * statistics.stdev(logs) / math.sqrt(len(logs))
    return figures.Estimate(math.exp(mean), math.exp(mean - half), math.exp(mean + half), len(logs))


def _pairs(cells: dict[tuple[str, str], Cell]) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Two values of the one, two of the other, of which all four cells are there."""
    ones, others = (list(dict.fromkeys(key[at] for key in cells)) for at in (0, 1))
    for pair in itertools.combinations(ones, 2):
        for places in itertools.combinations(others, 2):
            if all((level, place) in cells for level in pair for place in places):
                yield pair, places


def _of_workload(runs: Runs, metric: str, workload: str) -> list[Interaction]:
    factor = asked(runs)
    others = dict.fromkeys(name for one in runs for name in factors_of(one) if name != factor)
    tried = []
    for other in others:
        cells = _cells(runs, metric, factor, other)
        for (first, second), (here, there) in _pairs(cells):
            ratios = [_ratios(cells[first, place], cells[second, place]) for place in (here, there)]
            if not all(ratios):
                continue
            sides, over = _alike(*ratios)
            seeds = sorted(sides[0].keys() & sides[1].keys())
            if len(seeds) > 1:
                tried.append((other, first, second, here, there, sides, seeds, over))
    # As many as could be said by chance.
    level = 1 - (1 - LEVEL) / max(len(tried), 1)
    found = []
    for other, first, second, here, there, sides, seeds, over in tried:
        times = estimate([sides[0][seed] - sides[1][seed] for seed in seeds], level)
        each = tuple(estimate([side[seed] for seed in seeds], level) for side in sides)
        assert times.low is not None and times.high is not None
        found.append(Interaction(workload, factor, first, second, other, here, there, times.mean, times.low,
                                 times.high, len(seeds), len(tried), (each[0], each[1]), over))
    return found


def interactions(runs: Runs, metric: str) -> list[Interaction]:
    """Those whose interval excludes 1, of each workload the clearest first."""
    found = []
    for workload in dict.fromkeys(one["run"]["workload"]["name"] for one in runs):
        mine = figures.of_workload(runs, workload)
        if asked(mine) == asked(runs):
            shown = [one for one in _of_workload(mine, metric, workload) if one.shown]
            found += sorted(shown, key=lambda one: -one.strength)
    return found


def winner(found: figures.Estimate, first: str, second: str, metric: str) -> str:
    """Which of two is better; "" if the interval has 1 in it."""
    assert found.low is not None and found.high is not None
    if found.low <= 1 <= found.high:
        return ""
    return first if (found.low > 1) is METRICS[metric].more_is_better else second
