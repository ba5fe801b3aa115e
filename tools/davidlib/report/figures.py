# SPDX-License-Identifier: GPL-2.0
"""The numbers of a report: one metric of each run, means with intervals, ratios of variants.

An interval is Student's, of 95 %, over seeds: it says what the workload's randomness does, and nothing of
how far the model is from the drive. No figure is below nothing, and no interval is. Variants are compared
seed by seed, as the same seed makes the same calls.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .. import student
from ..bench.metrics import METRICS
from ..util import UserError
from ..workload.record import QUANTILES


HUNDRED = 100  # operations: of fewer the 99th percentile is the longest


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


def _student(values: list[float]) -> Estimate:
    mean = statistics.fmean(values)
    if len(values) < 2:
        return Estimate(mean, None, None, len(values))
    half = student.factor(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return Estimate(mean, mean - half, mean + half, len(values))


def estimate(values: list[float]) -> Estimate:
    """Of figures that cannot be below nothing."""
    found = _student(values)
    return found if found.low is None else replace(found, low=max(found.low, 0.0))


def longest_kind(runs: list[dict[str, Any]]) -> str:
    """The kind of operation that took most of the time of these runs: of those that all of them have so
    often that they have a percentile, and whose times are known, if there is one; else of those that are
    there most often. Only like is compared with like."""
    found = [one["result"]["latency"] for one in runs]
    shared = [kind for kind in found[0] if all(kind in latency for latency in found)]
    if not shared:
        raise UserError("metric = 'p99': these runs have no kind of operation in common; say another one")
    most = max(least(runs, kind) for kind in shared)
    often = [kind for kind in shared if least(runs, kind) >= min(HUNDRED, most)]
    return max(often, key=lambda kind: sum(
        latency[kind]["count"] * (latency[kind]["mean_ns"] or 0) for latency in found))


def percentile_kind(runs: list[dict[str, Any]], metric: str) -> str:
    """Whose percentile the metric is of these runs; nothing: it is none."""
    return longest_kind(runs) if metric == "p99" else ""


def least(runs: list[dict[str, Any]], kind: str) -> int:
    """How many operations of that kind the run has that has the fewest."""
    return min(one["result"]["latency"][kind]["count"] for one in runs)


def of_workload(runs: list[dict[str, Any]], workload: str) -> list[dict[str, Any]]:
    return [one for one in runs if one["run"]["workload"]["name"] == workload]


def label(runs: list[dict[str, Any]], workload: str, metric: str) -> str:
    """What the metric's name leaves open: of which kind of operation."""
    if metric != "p99":
        return ""
    mine = of_workload(runs, workload)
    kind = longest_kind(mine)
    few = least(mine, kind)
    return f" '{kind}'" + (f" (of {few} only)" if few < HUNDRED else "")


def value(result: dict[str, Any], metric: str, kind: str = "") -> float:
    """That metric of one run; KIND is whose percentile."""
    latency = result["latency"]
    if metric in ("mean", "p99") and any(kind["mean_ns"] is None for kind in latency.values()):
        raise UserError(f"metric = '{metric}': the times of its operations are not known; say another one")
    if metric == "mean":
        count = sum(kind["count"] for kind in latency.values())
        return sum(kind["count"] * kind["mean_ns"] for kind in latency.values()) / count / 1e6
    if metric == "p99":
        ns = latency[kind]["quantiles_ns"][QUANTILES.index(990)]
        if ns is None:
            raise UserError("metric = 'p99': only the mean of its operations is known; say another one")
        return ns / 1e6
    if metric == "megabytes" and not result["read_bytes"] + result["written_bytes"]:
        raise UserError("metric = 'megabytes': these runs count no bytes; say another one")
    key = {"operations": "operations_per_s", "megabytes": "megabytes_per_s", "seconds": "seconds"}[metric]
    return result[key]


def variant_of(one: dict[str, Any]) -> str:
    return str(one["run"]["variant"])


Values = dict[str, dict[int, float]]  # name -> seed -> value


def by_seed(runs: list[dict[str, Any]], metric: str, kind: str,
            name: Callable[[dict[str, Any]], str] = variant_of) -> Values:
    """In the order of the runs; NAME is what a run is called, KIND whose percentile."""
    found: Values = {}
    for one in runs:
        found.setdefault(name(one), {})[one["run"]["seed"]] = value(one["result"], metric, kind)
    return found


Table = dict[str, Values]  # by workload and variant


def table(runs: list[dict[str, Any]], metric: str) -> Table:
    """In the order of the spec."""
    found: Table = {}
    for workload in dict.fromkeys(one["run"]["workload"]["name"] for one in runs):
        mine = of_workload(runs, workload)
        found[workload] = by_seed(mine, metric, percentile_kind(mine, metric))
    return found


# What a run's randomness would show in, beside its figure.
SEEN = ("latency", "samples", "reach")


def without_randomness(runs: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """Workloads and variants whose runs are the same in all that is known of them, whatever the seed."""
    found: dict[tuple[str, str], set[str]] = {}
    for one in runs:
        seen = json.dumps([one["result"][name] for name in SEEN], sort_keys=True)
        found.setdefault((one["run"]["workload"]["name"], one["run"]["variant"]), set()).add(seen)
    return {key for key, seen in found.items() if len(seen) == 1}


def ratio(one: dict[int, float], other: dict[int, float]) -> Estimate | None:
    """How many times the one is the other, by the seeds that both have; None without any."""
    seeds = sorted(one.keys() & other.keys())
    if not seeds or any(values[seed] <= 0 for values in (one, other) for seed in seeds):
        return None
    logs = _student([math.log(one[seed] / other[seed]) for seed in seeds])
    ends = [None if end is None else math.exp(end) for end in (logs.low, logs.high)]
    return Estimate(math.exp(logs.mean), ends[0], ends[1], logs.count)


def difference(one: dict[int, float], other: dict[int, float]) -> Estimate | None:
    """How much more the one is than the other, by the seeds that both have; None without any."""
    seeds = sorted(one.keys() & other.keys())
    return _student([one[seed] - other[seed] for seed in seeds]) if seeds else None


def ranking(variants: dict[str, dict[int, float]], metric: str) -> list[str]:
    """Variants, the best first."""
    best_first = METRICS[metric].more_is_better
    return sorted(variants, key=lambda name: statistics.fmean(variants[name].values()), reverse=best_first)
