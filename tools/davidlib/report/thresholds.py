# SPDX-License-Identifier: GPL-2.0
"""Which thresholds of a question its runs miss: by the mean over seeds of each variant."""

from __future__ import annotations

from typing import Any

from ..bench.goals import Goal
from ..bench.metrics import METRICS
from . import answer, figures


MET = "No threshold is missed"


def _said(goal: Goal, workload: str, variant: str, found: figures.Estimate) -> str:
    unit, between = METRICS[goal.metric].unit, answer.interval(found)
    more = f", 95 % interval {between}, {found.count} seeds" if between else ""
    return f"{goal.text}: {workload}, {variant}: {answer.digits(found.mean)} {unit}{more}"


def missed(runs: list[dict[str, Any]], goals: list[Goal]) -> list[str]:
    """A line for each threshold and variant that misses it."""
    lines = []
    for goal in goals:
        mine = [one for one in runs if goal.workload in ("", one["run"]["workload"]["name"])]
        for workload, variants in figures.table(mine, goal.metric).items():
            for variant, values in variants.items():
                found = figures.estimate(list(values.values()))
                if goal.missed(found.mean):
                    lines.append(_said(goal, workload, variant, found))
    return lines


def said(lines: list[str], goals: list[Goal], believable: bool) -> list[str]:
    """Of lines of missed(); none where there are no thresholds. Of runs that are not to be believed none is
    met and none is missed, and those that are missing may be better or worse."""
    if not goals:
        return []
    texts = "; ".join(goal.text for goal in goals)
    if not believable:
        return [f"No threshold is met or missed, as runs are missing or not to be believed: {texts}."]
    return [f"MISSED: {line}" for line in lines] or [f"{MET}: {texts}."]
