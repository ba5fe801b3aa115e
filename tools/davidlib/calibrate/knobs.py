# SPDX-License-Identifier: GPL-2.0
"""Which values of a profile a job of fio determines, and how they are changed: one job tells one factor."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from .fiojobs import FioJob
from .fiomodel import Model, solve
from .result import Draft

Change = Callable[[Draft, float, str], Draft]
Fit = Callable[[Model, Draft, list[FioJob]], Draft]
Choose = Callable[[list[FioJob]], list[FioJob]]
NEAR = 0.03  # of the rate: no further value is tried
HALF = 0.5  # of what a rate is off: a value that brings less of it is not what holds the rate back


LOW, HIGH = 0.02, 50.0  # of a factor


def by_factor(model: Model, draft: Draft, job: FioJob, change: Change, low: float = LOW,
              high: float = HIGH) -> tuple[Draft, float]:
    """The draft that comes nearest to the job's rate, and how far off it is, as a share."""
    found = solve(lambda factor: model.rate(change(draft, factor, ""), job), job.rate, low, high)
    return change(draft, found.factor, job.said), abs(found.off)


def first_that_does(model: Model, draft: Draft, job: FioJob, changes: tuple[Change, ...], low: float = LOW,
                    high: float = HIGH) -> Draft:
    """The next change only where those before come not near; a change that hardly helps is left out."""
    before = abs(math.log(model.rate(draft, job) / job.rate))
    for change in changes:
        changed, off = by_factor(model, draft, job, change, low, high)
        if off < NEAR or off < HALF * before:
            draft, before = changed, off
        if off < NEAR:
            break
    return draft


@dataclass(frozen=True)
class Knob:
    words: str  # of the profile
    needs: str  # the job that determines them
    choose: Choose
    changes: tuple[Change, ...] = ()  # by a factor; the next one only where those before come not near
    low: float = LOW
    high: float = HIGH
    whole: Fit | None = None  # what no factor tells

    def fit(self, model: Model, draft: Draft, jobs: list[FioJob]) -> Draft:
        """By the jobs that were chosen."""
        if self.whole:
            return self.whole(model, draft, jobs)
        return first_that_does(model, draft, jobs[0], self.changes, self.low, self.high)


def one_of(jobs: list[FioJob], fits: Callable[[FioJob], bool],
           best: Callable[[FioJob], float | tuple[float, ...]]) -> list[FioJob]:
    """The job with the least figure of those that fit; or none."""
    return sorted((job for job in jobs if fits(job)), key=best)[:1]


def small(job: FioJob) -> tuple[float, ...]:
    """For one_of(): the job of least depth, and of these the one of the smallest blocks."""
    return job.depth, job.sectors


PICOSECONDS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def picoseconds(time: str) -> int:
    time = time.replace(" ", "")
    number = time.rstrip(LETTERS)
    unit = time[len(number):]
    return round(float(number) * PICOSECONDS[unit]) if unit else 0


def nanoseconds(time: str) -> int:
    return picoseconds(time) // 1000
