# SPDX-License-Identifier: GPL-2.0
"""What replays are worth: their means beside the original's, and how sure they are.

An original is one capture, with the times that its calls took. Each result file of `david replay` has those
of its own capture. The report has six headings, those of measuring: measurand, procedure, sources of
uncertainty, characterization, mitigation, uncertainty.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from ..trace import disks, figures
from ..util import UserError
from . import metrology
from .metrology import Sample, Source

ALL = "all calls"
Run = dict[str, Any]


@dataclass
class Row:
    """One kind of call; times in ns."""

    kind: str
    calls: int
    original: Sample
    replay: Sample
    quantiles: tuple[float, float]  # median and 99th percentile of replayed calls
    budget: list[Source]
    correction: float  # that the original's mean has had

    @property
    def bias(self) -> float:
        return self.replay.mean - self.original.mean

    @property
    def relative(self) -> float:
        return self.bias / self.original.mean if self.original.mean else math.inf

    @property
    def combined(self) -> metrology.Combined:
        return metrology.combine(self.budget)

    def share(self, value: float) -> float:
        """In % of the original's mean."""
        return 100 * value / self.original.mean if self.original.mean else math.inf

    @property
    def of_replay(self) -> float:
        return metrology.of_replay(self.share(self.bias), self.share(self.replay.error))


@dataclass
class Seen:
    """What a disk was asked for while the original ran, or a replay."""

    name: str
    counts: dict[str, int]
    elapsed: float  # ns

    @staticmethod
    def of_trace(path: Path, name: str | None) -> Seen:
        connection = figures.open_trace(path)
        found = disks.load(connection)
        (elapsed,) = connection.execute("SELECT max(start + duration) - min(start) FROM event").fetchone()
        connection.close()
        if not found:
            raise UserError(f"{path}: nobody has counted what its disks were asked for")
        if name and name not in found:
            raise UserError(f"{path}: {name} was asked for nothing; the disks are {', '.join(sorted(found))}")
        name = name or max(found, key=lambda one: found[one]["reads"] + found[one]["writes"])
        return Seen(name, found[name], elapsed or 0)

    def figures(self) -> dict[str, float]:
        """By row of the report; what was not asked for has no size and takes no time."""
        c, found = self.counts, dict[str, float]()
        for kind in ("read", "write"):
            n, sectors = c[f"{kind}s"], c[f"{kind}_sectors"]
            found |= {
                f"{kind}s": n,
                f"{kind}s merged": c[f"{kind}_merges"],
                f"KiB {'read' if kind == 'read' else 'written'}": sectors / 2,
                f"KiB a {kind}": sectors / 2 / n if n else 0.0,
                f"ms a {kind}": c[f"{kind}_ms"] / n if n else 0.0,
            }
        found["under way, on average"] = c["weighted_ms"] * 1e6 / self.elapsed if self.elapsed else 0.0
        found["busy, %"] = 100 * c["busy_ms"] * 1e6 / self.elapsed if self.elapsed else 0.0
        return found


@dataclass
class Comparison:
    rows: list[Row]
    elapsed: Row
    runs: list[Run]
    originals: int
    procedure: dict[str, Any]
    sensitivity: float | None
    warnings: list[str] = field(default_factory=list)
    traces: list[Seen] = field(default_factory=list)

    @property
    def seen(self) -> tuple[dict[str, float], dict[str, float]]:
        """By the original's disk and by the replay's, means; nothing, where nobody has counted."""
        replays = [Seen("", run["disk"], run["elapsed"]) for run in self.runs if "disk" in run]
        return _means(self.traces), _means(replays)

    @property
    def rates(self) -> list[tuple[float, float]]:
        """Calls a second, mean error of their issue in ns; of each interval with calls, by rate."""
        return sorted(
            (calls * 1e9 / run["rate-interval"], error / calls)
            for run in self.runs
            for calls, error in run.get("rates", [])
            if calls
        )


def _means(seen: list[Seen]) -> dict[str, float]:
    found = [one.figures() for one in seen]
    return {name: metrology.sample([one[name] for one in found]).mean for name in found[0]} if found else {}


def _parsed(path: Path) -> Any:
    try:
        text = path.read_text()
        if not text.strip():
            raise UserError(f"{path} is empty; `david replay -o` writes what is compared")
        return json.loads(text)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is no text, and not what `david replay -o` writes") from None
    except json.JSONDecodeError as error:
        said = f"{path}, line {error.lineno}: not JSON as `david replay -o` writes it, or cut short"
        raise UserError(said) from None


def load(paths: list[Path]) -> list[dict[str, Any]]:
    results = []
    for path in paths:
        result = _parsed(path)
        if isinstance(result, dict) and result.get("kind") == "block-replay":
            raise UserError(f"{path} is of a block trace's replay: compare takes those of `david compile`'s")
        if not isinstance(result, dict) or result.get("kind") != "replay" or not result.get("runs"):
            raise UserError(f"{path} is not what `david replay -o` writes")
        results.append(result)
    return results


def _mean(run: Run, kind: str, which: str) -> float | None:
    calls = run["calls"]
    if kind != ALL:
        return calls[kind][which]["mean"] if kind in calls else None
    n = sum(one[which]["n"] for one in calls.values())
    return sum(one[which]["n"] * one[which]["mean"] for one in calls.values()) / n if n else None


def _values(runs: list[Run], pick: Callable[[Run], float | None]) -> list[float]:
    return [value for run in runs if (value := pick(run)) is not None]


def _captures(results: list[dict[str, Any]]) -> list[Run]:
    """A run of each capture: they all have the original's times."""
    return list({run["workload"]: run for result in results for run in result["runs"]}.values())


def _programs(results: list[dict[str, Any]]) -> list[str]:
    """What was recorded; older results do not say it."""
    said = (run.get("program") for result in results for run in result["runs"])
    return list(dict.fromkeys(program for program in said if program))


def _clock(results: list[dict[str, Any]]) -> float:
    return max((result["environment"].get("clock-ns") or 0 for result in results), default=0)


def _row(
    kind: str,
    originals: list[float],
    replays: list[float],
    clock: float,
    cost: float,
    calls: int,
    quantiles: tuple[float, float],
) -> Row:
    original, replay = metrology.sample([value - cost for value in originals]), metrology.sample(replays)
    budget = [
        Source("repeatability of the replay", replay.error, replay.freedom),
        Source("repeatability of the original", original.error, original.freedom),
        Source("resolution of the clock, both", clock * math.sqrt(2) / math.sqrt(12)),
    ]
    return Row(kind, calls, original, replay, quantiles, budget, -cost)


def _rows(
    results: list[dict[str, Any]], plain: list[Run], cost: float, warnings: list[str]
) -> Iterator[Row]:
    captures, clock = _captures(results), _clock(results)
    kinds = sorted({kind for run in plain for kind in run["calls"]})
    for kind in [ALL, *kinds]:
        originals = _values(captures, partial(_mean, kind=kind, which="original"))
        replays = _values(plain, partial(_mean, kind=kind, which="replay"))
        if not originals or not replays:
            continue
        mean = metrology.sample(originals).mean
        off = cost if mean > cost else 0
        if off != cost:
            took = f"took {mean / 1000:.3f} us"
            if kind == ALL:
                raise UserError(f"--capture-cost is {cost / 1000:.3f} us, and the original's calls {took}")
            warnings.append(f"{kind} {took} in the original, no more than --capture-cost: not taken off")
        spreads = [run["calls"][kind]["replay"] for run in plain if kind in run["calls"]]
        calls = spreads[0]["n"] if spreads else plain[0]["made"]
        middle, high = (
            sum(one[name] for one in spreads) / len(spreads) if spreads else math.nan
            for name in ("p50", "p99")
        )
        yield _row(kind, originals, replays, clock, off, calls, (middle, high))


def _sensitivity(results: list[dict[str, Any]]) -> float | None:
    """By how much a call takes longer for each ns that it was delayed on purpose."""
    points = [
        (float(result["options"].get("add-delay") or 0), value)
        for result in results
        for run in result["runs"]
        if (value := _mean(run, ALL, "replay")) is not None
    ]
    return metrology.slope(points)


def _procedure(results: list[dict[str, Any]], warnings: list[str]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for result in results:
        facts = {**result["environment"], "cold": result["cold"]}
        facts["fifo"] = result["options"].get("fifo", False)
        facts |= {name: result["runs"][0][name] for name in ("order", "timing", "scale", "threads")}
        for name, value in facts.items():
            if name in merged and merged[name] != value and name != "clock-ns":
                warnings.append(f"{name} is {merged[name]} in one, {value} in another")
            merged.setdefault(name, value)
    return merged


def compare(
    results: list[dict[str, Any]], cost: float = 0, traces: Sequence[Seen] = (), mixed: bool = False
) -> Comparison:
    """@cost: ns that each call of the original took longer because it was traced.

    @mixed: captures may be of different programs.
    """
    warnings: list[str] = []
    programs = _programs(results)
    if len(programs) > 1:
        told = "captures of different programs: " + "; ".join(programs)
        if not mixed:
            raise UserError(f"{told}. --mixed compares them all the same")
        warnings.append(told)
    plain = [run for result in results if not result["options"].get("add-delay") for run in result["runs"]]
    if not plain:
        raise UserError("all runs have delays put in on purpose: there is none to compare")
    rows = list(_rows(results, plain, cost, warnings))
    if not rows:
        raise UserError("no call was made: there is nothing to compare")
    captures = _captures(results)
    elapsed = _row(
        "elapsed",
        [run["original-elapsed"] for run in captures],
        [run["elapsed"] for run in plain],
        _clock(results),
        0,
        plain[0]["made"],
        (math.nan, math.nan),
    )
    if len(plain) < 2:
        warnings.append("one run: its precision is not known")
    elif not rows[0].replay.error:
        warnings.append(f"all {len(plain)} runs took the same: nothing varies from run to run")
    if len(captures) < 2:
        warnings.append("one capture: the original's own spread is not known")
    if missing := sum(plain[0].get("not-in-workload", {}).values()):
        warnings.append(f"{missing} of the trace's {plain[0]['trace-calls']} calls are not in the workload")
    if not cost:
        warnings.append("what the capture itself cost is not taken off; --capture-cost does")
    procedure = _procedure(results, warnings)
    sensitivity = _sensitivity(results)
    return Comparison(rows, elapsed, plain, len(captures), procedure, sensitivity, warnings, list(traces))


def _plain(value: float) -> str:
    """Two digits that count, and no exponent."""
    return f"{Decimal(f'{value:.2g}'):f}"


def verdict(comparison: Comparison) -> str:
    runs, row = comparison.runs, comparison.rows[0]
    compared, same = (sum(run[name] for run in runs) for name in ("compared", "same"))
    parts = [f"calls {100 * same / compared:.3f} %" if compared else "calls not compared"]
    judged = [run for run in runs if "order-violations" in run]
    if judged:
        made = sum(run["made"] for run in judged)
        wrong = sum(run["order-violations"] for run in judged)
        parts.append(f"order {100 * (1 - wrong / made) if made else 100:.3f} %")
        before = sum(run["original-overlap"] for run in judged)
        overlap = sum(run["overlap"] for run in judged)
        parts.append(
            f"overlap {100 * overlap / before:.0f} %" if before else "overlap: the original has none"
        )
    expanded = row.share(row.combined.expanded)
    if len(runs) < 2:
        told = "± not known, from one run"
    elif not expanded:
        told = f"in each of {len(runs)} runs: nothing varies"
    else:
        told = f"± {_plain(expanded)} % (k = {row.combined.coverage:.2f})"
    parts.append(f"time {100 * row.relative:+.2f} % {told}")
    return "fidelity: " + ", ".join(parts)


def as_json(comparison: Comparison) -> dict[str, Any]:
    rows = {}
    for row in [*comparison.rows, comparison.elapsed]:
        combined = row.combined
        below, above = metrology.around_bias(row.bias, combined.expanded)
        rows[row.kind] = {
            "calls": row.calls,
            "original-ns": row.original.mean,
            "replay-ns": row.replay.mean,
            "bias-ns": row.bias,
            "precision-ns": row.replay.error,
            "u-percent": row.of_replay,
            "gum": {"u-ns": combined.uncertainty, "freedom": combined.freedom, "k": combined.coverage},
            "uncorrected-ns": [below, above],
        }
    return {
        "kind": "comparison",
        "verdict": verdict(comparison),
        "procedure": comparison.procedure,
        "sensitivity": comparison.sensitivity,
        "warnings": comparison.warnings,
        "disk": dict(zip(("original", "replay"), comparison.seen, strict=True)),
        "rank-correlation-of-issue-error-and-rate": metrology.rank_correlation(comparison.rates),
        "rows": rows,
    }
