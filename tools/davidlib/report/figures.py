# SPDX-License-Identifier: GPL-2.0
"""The numbers of a report: one metric of each run, means with intervals, ratios of variants.

An interval is Student's, of 95 %, over seeds: it says what the workload's randomness does, and nothing of
how far the model is from the drive. Variants are compared seed by seed, as the same seed makes the same
calls.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any

from .. import student
from ..bench.metrics import METRICS
from ..util import UserError
from ..workload.record import QUANTILES


@dataclass(frozen=True)
class Estimate:
    """A mean, and the interval that it lies in; without one (None) there was a single run."""

    mean: float
    low: float | None
    high: float | None
    count: int

    @property
    def same(self) -> bool:
        """All seeds have this figure: there is nothing random that an interval could be about."""
        return self.low is not None and self.low == self.high

    @property
    def ends(self) -> tuple[float, float] | None:
        """The interval's, if there is one that has a width."""
        return None if self.low is None or self.high is None or self.same else (self.low, self.high)


def estimate(values: list[float]) -> Estimate:
    mean = statistics.fmean(values)
    if len(values) < 2:
        return Estimate(mean, None, None, len(values))
    half = student.factor(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return Estimate(mean, mean - half, mean + half, len(values))


def longest_kind(latency: dict[str, Any]) -> str:
    """The kind of operation that took most of the time; of those whose time is known, if there is one."""
    return max(latency, key=lambda kind: latency[kind]["count"] * (latency[kind]["mean_ns"] or 0))


def value(result: dict[str, Any], metric: str) -> float:
    """That metric of one run."""
    latency = result["latency"]
    if metric in ("mean", "p99") and any(kind["mean_ns"] is None for kind in latency.values()):
        raise UserError(f"metric = '{metric}': the times of its operations are not known; say another one")
    if metric == "mean":
        count = sum(kind["count"] for kind in latency.values())
        return sum(kind["count"] * kind["mean_ns"] for kind in latency.values()) / count / 1e6
    if metric == "p99":
        ns = latency[longest_kind(latency)]["quantiles_ns"][QUANTILES.index(990)]
        if ns is None:
            raise UserError("metric = 'p99': only the mean of its operations is known; say another one")
        return ns / 1e6
    key = {"operations": "operations_per_s", "megabytes": "megabytes_per_s", "seconds": "seconds"}[metric]
    return result[key]


Table = dict[str, dict[str, dict[int, float]]]


def table(runs: list[dict[str, Any]], metric: str) -> Table:
    """workload -> variant -> seed -> value, in the order of the spec."""
    found: Table = {}
    for one in runs:
        run = one["run"]
        variants = found.setdefault(run["workload"]["name"], {})
        variants.setdefault(run["variant"], {})[run["seed"]] = value(one["result"], metric)
    return found


def ratio(one: dict[int, float], other: dict[int, float]) -> Estimate | None:
    """How many times the one is the other, by the seeds that both have; None without any."""
    seeds = sorted(one.keys() & other.keys())
    if not seeds or any(values[seed] <= 0 for values in (one, other) for seed in seeds):
        return None
    logs = estimate([math.log(one[seed] / other[seed]) for seed in seeds])
    ends = [None if end is None else math.exp(end) for end in (logs.low, logs.high)]
    return Estimate(math.exp(logs.mean), ends[0], ends[1], logs.count)


def ranking(variants: dict[str, dict[int, float]], metric: str) -> list[str]:
    """Variants, the best first."""
    best_first = METRICS[metric].more_is_better
    return sorted(variants, key=lambda name: statistics.fmean(variants[name].values()), reverse=best_first)
