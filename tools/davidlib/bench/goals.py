# SPDX-License-Identifier: GPL-2.0
"""Thresholds of a question: fail-if = "p99 > 20ms". A sweep that misses one ends with the status for that."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from ..workload.kinds import KINDS
from .metrics import METRICS
from .tables import Table
from .works import Workload

COMPARED: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
WORDS = re.compile(r"(?:(?P<workload>.*\S)\s*:\s*)?(?P<metric>[a-z0-9]+)\s*(?P<compared>[<>]=?)\s*"
                   r"(?P<value>\d+(?:\.\d+)?)\s*(?P<unit>[A-Za-z/]*)")
TIMES = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
# What a unit is in that of the metric. "" is none.
UNITS = {
    "operations": {"": 1.0, "/s": 1.0},
    "megabytes": {"": 1.0, "MB/s": 1.0},
    "seconds": {unit: factor / 1e3 for unit, factor in TIMES.items()},
    "mean": TIMES,
    "p99": TIMES,
}


@dataclass(frozen=True)
class Goal:
    """What must not be so: of a workload, or, if that is "", of all of them."""

    text: str
    workload: str
    metric: str
    compared: str
    value: float  # in the metric's unit

    def missed(self, value: float) -> bool:
        return COMPARED[self.compared](value, self.value)


def parse(text: str) -> Goal:
    """ValueError says what is wrong."""
    match = WORDS.fullmatch(text.strip())
    if not match:
        raise ValueError('want a metric, a comparison and a value, such as "p99 > 20ms" or '
                         '"mail: operations < 500"')
    metric, unit = match["metric"], match["unit"]
    if metric not in METRICS:
        raise ValueError(f"{metric} is none of {', '.join(METRICS)}")
    if unit not in UNITS[metric]:
        known = ", ".join(filter(None, UNITS[metric]))
        raise ValueError(f"'{unit}' is no unit of {metric}; write {known}" if unit else
                         f"the value has no unit; write one of {known}")
    value = float(match["value"]) * UNITS[metric][unit]
    return Goal(text, match["workload"] or "", metric, match["compared"], value)


def _unknown(goal: Goal, workloads: list[Workload], seed: int) -> str:
    """Why it cannot be told; "" if it can."""
    mine = [one for one in workloads if goal.workload in ("", one.name)]
    if not mine:
        known = ", ".join(dict.fromkeys(one.name for one in workloads))
        return f"there is no workload '{goal.workload}'; there are {known}"
    for one in mine:
        tell = KINDS[one.kind].unknown
        if tell and (why := tell(one.of_seed(seed)).get(goal.metric)):
            return f"{goal.metric} is not known of workload '{one.name}': {why}"
    return ""


def read(top: Table) -> list[Goal]:
    """As they are written; check() says of which nothing is known."""
    found = []
    for text in top.several("fail-if", str, []):
        try:
            found.append(parse(text))
        except ValueError as error:
            raise top.wrong("fail-if", f"fail-if = {text!r}: {error}") from None
    return found


def check(top: Table, goals: list[Goal], workloads: list[Workload], seed: int) -> None:
    for goal in goals:
        if why := _unknown(goal, workloads, seed):
            raise top.wrong("fail-if", f"fail-if = {goal.text!r}: {why}")
