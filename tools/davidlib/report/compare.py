# SPDX-License-Identifier: GPL-2.0
"""`david report OLD NEW`: what has changed from one result to another, seed by seed, and what got worse.

A change is a regression if its interval, of 95 %, lies on the worse side of 1 and beyond the tolerance, or if
all seeds, two at least, have the same change there. One seed has no interval, so its change has no verdict.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

from ..bench import parts
from ..bench.metrics import METRICS
from ..util import UserError
from . import answer, figures
from .figures import Estimate

Runs = list[dict[str, Any]]
BETTER, WORSE, SAME, OPEN = "better", "WORSE", "the same", "no difference that these seeds show"
ALONE = "one seed: no interval, and no verdict"


@dataclass(frozen=True)
class Change:
    workload: str
    variant: str
    metric: str  # as a page calls it
    old: float
    new: float
    times: Estimate  # the new of the old
    verdict: str

    def __str__(self) -> str:
        old, new = answer.apart(self.old, self.new)
        between = answer.interval(self.times)
        more = f" (95 % interval {between}, {self.times.count} seeds)" if between else ""
        return (f"{self.workload}, {self.variant}: {self.metric} {old} -> {new}, "
                f"{answer.apart(self.times.mean, 1)[0]} times{more}: {self.verdict}")


def _verdict(found: Estimate, more_is_better: bool, tolerance: float) -> str:
    if found.low is None or found.high is None:
        return SAME if found.mean == 1 else ALONE
    if found.low == found.high == 1:
        return SAME
    # More seconds are worse as fewer operations are.
    low, high = (found.low, found.high) if more_is_better else (1 / found.high, 1 / found.low)
    if high < 1 - tolerance:
        return WORSE
    return BETTER if low > 1 + tolerance else OPEN


def changes(old: Runs, new: Runs, metric: str, tolerance: float = 0.0) -> list[Change]:
    """Of each workload and variant that both have, by the seeds that both have."""
    found = []
    names = dict.fromkeys(one["run"]["workload"]["name"] for one in new)
    for workload in names:
        pair = [figures.of_workload(runs, workload) for runs in (old, new)]
        if not all(pair):
            continue
        both = [*pair[0], *pair[1]]
        # Of one kind of operation, or like is not compared with like.
        kind = figures.percentile_kind(both, metric)
        label = METRICS[metric].label + figures.label(both, workload, metric)
        before, after = (figures.by_seed(runs, metric, kind) for runs in pair)
        for variant in (name for name in after if name in before):
            seeds = sorted(before[variant].keys() & after[variant].keys())
            times = figures.ratio(after[variant], before[variant])
            if times:
                was, now = (statistics.fmean(values[variant][seed] for seed in seeds)
                            for values in (before, after))
                verdict = _verdict(times, METRICS[metric].more_is_better, tolerance)
                found.append(Change(workload, variant, label, was, now, times, verdict))
    if not found:
        raise UserError("the two results have no workload, variant and seed in common")
    return found


def _by_name(runs: Runs) -> dict[tuple[str, str, int], dict[str, Any]]:
    """Runs by workload, variant and seed."""
    return {(one["run"]["workload"]["name"], one["run"]["variant"], one["run"]["seed"]): one for one in runs}


def alone(old: Runs, new: Runs) -> list[str]:
    """Runs that only one of the two has."""
    said = []
    before, after = _by_name(old).keys(), _by_name(new).keys()
    for which, gone in (("old", before - after), ("new", after - before)):
        if gone:
            workload, variant, seed = min(gone)
            said.append(f"{len(gone)} runs are in the {which} result alone, such as {workload}, {variant}, "
                        f"seed {seed}")
    return said


def between(old: Runs, new: Runs) -> list[str]:
    """What is another one: model, drive, programs, of the first run that both have."""
    there = _by_name(old)
    for name, one in _by_name(new).items():
        if before := there.get(name):
            if before["id"] == one["id"]:
                return ["nothing that decides a figure is another one"]
            return parts.difference(before["run"], one["run"])
    return []
