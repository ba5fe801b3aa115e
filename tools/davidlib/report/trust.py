# SPDX-License-Identifier: GPL-2.0
"""How far a figure may be from the real drive's: the grade of its kind of job, and the interval of that.

The interval over seeds is about the workload. This one is about the model: by how much it was off on the
other drives of the class (davidlib/drive/worth.py). A ratio of two drives has the errors of both. One of two
variants on one drive has the same error twice, and how much of it cancels nobody has measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..bench.metrics import METRICS
from . import answer, factors, figures

Runs = list[dict[str, Any]]
LEAST = 0.1  # of the requests: fewer reads, or writes, make no mix
DEEP = 2  # requests under way on average: with more it is a job of depth
WORDS = {"drive": "measured on this drive", "class": "measured on its class", "assumed": "assumed"}
NOBODY = "nobody vouches for its profile"
CANCELS = ("A ratio of two variants on one drive has that drive's error in both: how much of it cancels is "
           "not known.")


def kind_of(one: dict[str, Any], metric: str) -> str:
    """Of a run, by what its disk was asked; "" if it was asked nothing."""
    if metric == "p99":
        return "tail"
    stats = one["result"]["stats"]
    counts = stats.get("modelled", {})
    reads, writes = counts.get("read", 0), counts.get("write", 0)
    if not reads + writes:
        return ""
    if min(reads, writes) >= LEAST * (reads + writes):
        return "mix"
    under_way = sum(stats.get("modelled_ns", {}).values()) / (1e9 * one["result"]["seconds"])
    return "depth" if under_way > DEEP else "reads" if reads > writes else "writes"


@dataclass(frozen=True)
class Trust:
    """What stands behind the figure of one workload and variant."""

    workload: str
    variant: str
    profile: str
    kind: str
    drive_class: str
    grade: str
    others: int
    factor: float | None
    doubt: str

    @property
    def told(self) -> str:
        """Grade and error, without the figure."""
        if not self.grade:
            return f"of {self.profile or 'no drive'} nothing is known"
        said = f"a job of the kind '{self.kind}', on {self.profile}: {WORDS[self.grade]}"
        if self.factor is None:
            drives = f"{self.others} other drive{'s were' if self.others != 1 else ' was'} measured"
            told = f"{drives} of the class" if self.others else "no other drive tells it of the class"
            said += f"; the error is unknown, as {told} '{self.drive_class}'"
        else:
            said += (f"; by {self.others} other drives of the class '{self.drive_class}' a figure may be "
                     f"{self.factor:.3g} times too large or too small")
        return said + (f"; {NOBODY}" if self.doubt else "")


def of_runs(runs: Runs, metric: str) -> list[Trust]:
    """Of each workload and variant that has a drive, by its first run."""
    found: dict[tuple[str, str], Trust] = {}
    for one in runs:
        workload, variant = one["run"]["workload"]["name"], figures.variant_of(one)
        kind, known = kind_of(one, metric), one.get("worth") or {}
        if (workload, variant) in found or not kind or not one["run"].get("profile"):
            continue
        grade = known.get("kinds", {}).get(kind, {})
        found[workload, variant] = Trust(
            workload, variant, one["run"]["profile"], kind, known.get("class", ""), grade.get("grade", ""),
            grade.get("others", 0), grade.get("factor"), known.get("doubt", ""))
    return list(found.values())


def _figures(mine: list[Trust], runs: Runs, metric: str) -> str:
    """The figures with their intervals; "" where those are unknown."""
    values = figures.table(runs, metric)
    said = []
    for one in mine:
        mean = figures.estimate(list(values[one.workload][one.variant].values())).mean
        if one.factor:
            low, high = answer.apart(mean / one.factor, mean * one.factor)
            said.append(f"{one.variant}: {answer.digits(mean)} {METRICS[metric].unit}, {low} to {high}")
    return "; ".join(said)


def _ratios(group: factors.Group, runs: Runs, metric: str, found: dict[tuple[str, str], Trust]) -> list[str]:
    """Of a group's best and its others on other drives."""
    values = factors.levels(group, runs, metric)
    factor = factors.asked(runs)
    behind = {factors.level_of(one, factor): found.get((group.workload, figures.variant_of(one)))
              for one in group.runs}
    best, *others = figures.ranking(values, metric)
    said = []
    for other in others:
        one, two, ratio = behind[best], behind[other], figures.ratio(values[best], values[other])
        if not one or not two or not ratio or one.profile == two.profile:
            continue
        if not one.factor or not two.factor:
            said.append(f"{group.heading}: {best} over {other}: the error of {one.profile} or "
                        f"{two.profile} is unknown, and so is the ratio's.")
            continue
        off = math.exp(math.hypot(math.log(one.factor), math.log(two.factor)))
        low, high = answer.apart(ratio.mean / off, ratio.mean * off)
        verdict = "" if low == high or not ratio.mean / off <= 1 <= ratio.mean * off else \
            ": which one is better is not told"
        times = f"{answer.digits(ratio.mean)} times, {low} to {high} by the errors of both"
        said.append(f"{group.heading}: {best} over {other}, of real drives: {times}{verdict}.")
    return said


def grades(runs: Runs, metric: str) -> list[str]:
    """Of each workload, what stands behind its figures, without them."""
    return list(dict.fromkeys(f"{one.workload}: {one.told}" for one in of_runs(runs, metric)))


def sentences(runs: Runs, metric: str) -> list[str]:
    """What stands beside the answer."""
    found = of_runs(runs, metric)
    told: dict[tuple[str, str], list[Trust]] = {}
    for one in found:
        told.setdefault((one.workload, one.told), []).append(one)
    said = []
    for (workload, words), mine in told.items():
        interval = _figures(mine, runs, metric)
        real = f" Of a real drive, with 95 %: {interval}." if interval else ""
        said.append(f"{workload}: {words}.{real}")
    by_name = {(one.workload, one.variant): one for one in found}
    for group in factors.groups(runs):
        said += _ratios(group, runs, metric, by_name)
    shared = {(one.workload, one.profile) for one in found}
    return said + ([CANCELS] if len(shared) < len(found) else [])
