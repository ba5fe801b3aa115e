# SPDX-License-Identifier: GPL-2.0
"""Where curves cross: of two values of what was asked, which one is better up to which value of a parameter
that is swept, and which one from where on.

A parameter is swept if it has three values or more, all of them numbers. At each of them the two are compared
seed by seed, all else equal. One is better there only if the interval of the ratio excludes 1; intervals are
of all ratios of a workload together (Bonferroni). Between the last value that speaks for the one and the
first that speaks for the other the curves cross.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..bench.dimensions import EVIDENT, KERNEL
from ..bench.metrics import METRICS
from ..sizes import parse_size
from . import factors, figures
from .factors import LEVEL, Runs, Words

LEAST = 3  # values of a curve
# Their values may look like numbers, and are names.
NAMED = {*EVIDENT, KERNEL} - {"size"}


@dataclass(frozen=True)
class Crossing:
    """`better` has, in the order of the parameter's values, those for which one of the two is told better."""

    workload: str
    others: Words
    parameter: str
    names: tuple[str, str]
    better: list[tuple[str, str]]  # the parameter's value, and who is better there
    seeds: int  # at least
    ratios: int  # of which these are some

    @property
    def turns(self) -> int:
        return sum(one != two for (_, one), (_, two) in itertools.pairwise(self.better))


def number(word: str) -> float | None:
    """Of a parameter's value, such as 16, 0.5, 64K and 200 GB; None if it is none."""
    plain = word.replace(" ", "").removesuffix("B")
    try:
        return float(plain)
    except ValueError:
        pass
    try:
        return float(parse_size(plain))
    except ValueError:
        return None


def swept(runs: Runs) -> list[str]:
    """The dimensions that have LEAST values or more, all of them numbers."""
    values: dict[str, dict[str, float | None]] = {}
    for one in runs:
        for name, word in factors.factors_of(one).items():
            values.setdefault(name, {})[word] = number(word)
    others = {factors.asked(runs), *NAMED}
    return [name for name, found in values.items()
            if len(found) >= LEAST and None not in found.values() and name not in others]


def drawn(runs: Runs) -> list[str]:
    """Those of which there are curves: also what was asked, if that is one."""
    asked = factors.asked(runs)
    values = {factors.level_of(one, asked) for one in runs} if asked and asked not in NAMED else set()
    alone = len(values) >= LEAST and all(number(word) is not None for word in values)
    return [*swept(runs), *([asked] if alone else [])]


Curve = dict[str, figures.Values]  # by the parameter's value: asked value -> seed -> figure


def curves(runs: Runs, parameter: str, metric: str) -> Iterator[tuple[Words, Curve]]:
    """One for each combination of all else."""
    kind, factor = figures.percentile_kind(runs, metric), factors.asked(runs)
    found: dict[tuple[tuple[str, str], ...], dict[str, Runs]] = {}
    for one in runs:
        words = factors.factors_of(one)
        if parameter in words:
            rest = tuple((name, word) for name, word in words.items() if name not in (factor, parameter))
            found.setdefault(rest, {}).setdefault(words[parameter], []).append(one)

    def values(there: Runs) -> figures.Values:
        return figures.by_seed(there, metric, kind, lambda one: factors.level_of(one, factor))

    for rest, places in found.items():
        ordered = sorted(places, key=lambda word: number(word) or 0)
        yield dict(rest), {word: values(places[word]) for word in ordered}


def _logs(one: dict[int, float], two: dict[int, float]) -> list[float]:
    """Of the ratio, seed by seed; with less than two of them nothing is told."""
    seeds = [seed for seed in one if seed in two and one[seed] > 0 and two[seed] > 0]
    return [math.log(one[seed] / two[seed]) for seed in seeds]


def _pairs(curve: Curve) -> Iterator[tuple[tuple[str, str], dict[str, list[float]]]]:
    """Two of what was asked, and their ratios at each value at which they have seeds in common."""
    names = dict.fromkeys(name for values in curve.values() for name in values)
    for first, second in itertools.combinations(names, 2):
        there = {place: _logs(values[first], values[second]) for place, values in curve.items()
                 if first in values and second in values}
        told = {place: logs for place, logs in there.items() if len(logs) > 1}
        if len(told) >= LEAST:
            yield (first, second), told


def _of_workload(runs: Runs, metric: str, workload: str) -> list[Crossing]:
    tried = [(others, parameter, names, ratios) for parameter in swept(runs)
             for others, curve in curves(runs, parameter, metric) for names, ratios in _pairs(curve)]
    count = sum(len(ratios) for _, _, _, ratios in tried)
    level = 1 - (1 - LEVEL) / max(count, 1)
    found = []
    for others, parameter, names, ratios in tried:
        winners = {place: factors.winner(factors.estimate(logs, level), *names, metric)
                   for place, logs in ratios.items()}
        better = [(place, who) for place, who in winners.items() if who]
        seeds = min(map(len, ratios.values()))
        found.append(Crossing(workload, others, parameter, names, better, seeds, count))
    return found


def crossings(runs: Runs, metric: str) -> list[Crossing]:
    """Of each workload the pairs of which each is better somewhere."""
    found: list[Crossing] = []
    for workload in dict.fromkeys(one["run"]["workload"]["name"] for one in runs):
        mine = figures.of_workload(runs, workload)
        if factors.asked(mine) == factors.asked(runs):
            found += [one for one in _of_workload(mine, metric, workload) if one.turns]
    return found


def _stretches(found: Crossing) -> Iterator[tuple[str, str, str]]:
    """Who is better from which value to which."""
    for who, there in itertools.groupby(found.better, key=lambda one: one[1]):
        places = [place for place, _ in there]
        yield who, places[0], places[-1]


def sentence(found: Crossing, metric: str) -> str:
    heading = factors.Group(found.workload, found.others, []).heading
    stretches = list(_stretches(found))
    said = []
    for at, (who, first, last) in enumerate(stretches):
        if not at:
            said.append(f"{who} up to {found.parameter} {last}")
        elif at == len(stretches) - 1:
            said.append(f"{who} from {first} on")
        else:
            said.append(f"{who} {f'from {first} to {last}' if first != last else f'with {first}'}")
    together = f"intervals of 95 % for all {found.ratios} ratios together"
    return (f"{heading}: the {METRICS[metric].name} of {found.names[0]} and {found.names[1]} cross: better "
            f"is {', '.join(said)} ({together}, {found.seeds} seeds).")


def sentences(runs: list[dict[str, Any]], metric: str) -> list[str]:
    return [sentence(one, metric) for one in crossings(runs, metric)]
