# SPDX-License-Identifier: GPL-2.0
"""The answer in sentences, with its interval; and whether the times behind it are to be believed."""

from __future__ import annotations

from typing import Any

from . import figures
from .figures import Estimate, Table

NO_INTERVAL = "one run each, so there is no interval: repeats = 3 or more gives one"


def digits(number: float) -> str:
    """Three that count: 1.23, 12.3, 123, 12,300."""
    if number == 0:
        return "0"
    rounded = float(f"{number:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 100 else f"{rounded:.3g}"


def interval(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return ""
    return f"{digits(found.low)} to {digits(found.high)}"


def _alone(name: str, values: dict[int, float], metric: str) -> str:
    found, known = figures.estimate(list(values.values())), figures.METRICS[metric]
    unit = known.name if known.unit == "1/s" else f"{known.unit}, {known.name}"
    between = f" (95 % interval {interval(found)}, {found.count} seeds)" if found.low is not None else ""
    return f"{name}: {digits(found.mean)} {unit}{between}"


def _against(best: str, other: str, variants: dict[str, dict[int, float]], metric: str) -> str:
    found = figures.ratio(variants[best], variants[other])
    unit = figures.METRICS[metric]
    if found is None:
        return f"{best} and {other} have no seed in common"
    if found.low is not None and found.high is not None and found.low <= 1 <= found.high:
        return (f"no difference between {best} and {other} can be told from these {found.count} seeds: "
                f"{digits(found.mean)} times, 95 % interval {interval(found)}")
    between = f" (95 % interval {interval(found)}, {found.count} seeds)" if found.low is not None else ""
    return f"{best} has {digits(found.mean)} times the {unit.name} of {other}{between}"


def sentences(table: Table, metric: str) -> list[str]:
    """One or more for each workload."""
    found = []
    for workload, variants in table.items():
        best, *others = figures.ranking(variants, metric)
        if others:
            said = "; ".join(_against(best, other, variants, metric) for other in others)
        else:
            said = _alone(best, variants[best], metric)
        found.append(f"{workload}: {said}.")
    return found


def verdict(runs: list[dict[str, Any]]) -> tuple[bool, str]:
    """Of all runs: are the times to be believed, and was anything else wrong?"""
    wrong = [(one["id"], text) for one in runs for text in one["result"]["wrong"]]
    if not wrong:
        count = "The one run is" if len(runs) == 1 else f"All {len(runs)} runs are"
        return True, f"{count} valid: requests came when modelled, none failed."
    name, text = wrong[0]
    return False, f"{len({name for name, _ in wrong})} of {len(runs)} runs are not valid. {name}: {text}"
