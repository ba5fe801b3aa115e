# SPDX-License-Identifier: GPL-2.0
"""The answer in sentences, with its interval; and whether the times behind it are to be believed."""

from __future__ import annotations

import math
from typing import Any

from ..bench import doubts
from ..bench.metrics import METRICS
from ..bench.results import reached
from . import figures
from .figures import Estimate, Table

NO_INTERVAL = "one run each, so there is no interval: repeats = 3 or more gives one"


NO_RANDOMNESS = "the workload has no randomness"
MOST_DIGITS = 15


def digits(number: float, count: int = 3) -> str:
    """Three that count: 1.23, 12.3, 123, 12,300."""
    if number == 0:
        return "0"
    rounded = float(f"{number:.{count}g}")
    if abs(rounded) < 100:
        return f"{rounded:.{count}g}"
    return f"{rounded:,.{max(count - 1 - int(math.log10(abs(rounded))), 0)}f}"


def apart(number: float, other: float) -> tuple[str, str]:
    """Both with three digits, or with as many as tell them apart."""
    for count in range(3, MOST_DIGITS):
        one, two = digits(number, count), digits(other, count)
        if one != two:
            break
    return one, two


def interval(found: Estimate) -> str:
    """Nothing where there was one run, or where all seeds came to the same."""
    return " to ".join(apart(*found.ends)) if found.ends else ""


def _between(found: Estimate) -> str:
    return f" (95 % interval {interval(found)}, {found.count} seeds)" if found.ends else ""


def _alone(name: str, values: dict[int, float], metric: str) -> str:
    found, known = figures.estimate(list(values.values())), METRICS[metric]
    unit = known.name if known.unit == "1/s" else f"{known.unit}, {known.name}"
    between = f", the same with all {found.count} seeds: {NO_RANDOMNESS}" if found.same else _between(found)
    return f"{name}: {digits(found.mean)} {unit}{between}"


def _same_ratio(found: Estimate, both: list[dict[int, float]]) -> str:
    """What stands behind a ratio that is the same with each seed."""
    if not found.same:
        return ""
    still = all(figures.estimate(list(values.values())).same for values in both)
    return f" with all {found.count} seeds{f': {NO_RANDOMNESS}' if still else ''}"


def _against(best: str, other: str, variants: dict[str, dict[int, float]], metric: str) -> str:
    found = figures.ratio(variants[best], variants[other])
    unit = METRICS[metric]
    if found is None:
        return f"{best} and {other} have no seed in common"
    same = _same_ratio(found, [variants[best], variants[other]])
    if found.mean == 1 and not found.ends:
        return f"{best} and {other} have the same {unit.name}{same}"
    if found.ends and found.ends[0] <= 1 <= found.ends[1]:
        return (f"no difference between {best} and {other} can be told from these {found.count} seeds: "
                f"{digits(found.mean)} times, 95 % interval {interval(found)}")
    times = apart(found.mean, 1)[0]
    between = f", the same{same}" if same else _between(found)
    return f"{best} has {times} times the {unit.name} of {other}{between}"


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


def _in_doubt(runs: list[dict[str, Any]], kind: str) -> str:
    """Whose figures have that doubt, and what it says of the first run of each; nothing: of none."""
    texts: dict[str, str] = {}
    having = 0
    for one in runs:
        mine = [doubt["text"] for doubt in one["result"]["doubts"] if doubt["kind"] == kind]
        having += bool(mine)
        if mine:
            texts.setdefault(one["run"]["variant"], "; ".join(mine))
    if not having:
        return ""
    return f"{kind}, {having} of {len(runs)} runs: {'; '.join(map(': '.join, texts.items()))}"


def doubted(runs: list[dict[str, Any]], workload: str) -> list[str]:
    """One line for each kind of doubt about the runs of that workload."""
    mine = [one for one in runs if one["run"]["workload"]["name"] == workload]
    return [said for kind in doubts.KINDS if (said := _in_doubt(mine, kind))]


def with_doubts(runs: list[dict[str, Any]], table: Table, metric: str) -> list[str]:
    """The answer's sentences. Each carries its doubts, so that nobody has the figure without them."""
    found = []
    for workload, sentence in zip(table, sentences(table, metric), strict=True):
        said = doubted(runs, workload)
        found.append(f"{sentence} In doubt: {'. '.join(said)}." if said else sentence)
    return found


def _percent(shares: list[float]) -> str:
    low, high = f"{100 * min(shares):.3g}", f"{100 * max(shares):.3g}"
    return f"{low} %" if low == high else f"{low} to {high} %"


def reach(runs: list[dict[str, Any]]) -> list[str]:
    """Of each workload and variant: the shares of the disk that were touched and stroked."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for one in runs:
        key = (one["run"]["workload"]["name"], one["run"]["variant"])
        found.setdefault(key, []).append(reached(one["result"]))
    return [f"{workload}, {variant}: touched {_percent([touched for touched, _ in shares])} of the disk, "
            f"stroked {_percent([stroked for _, stroked in shares])}"
            for (workload, variant), shares in found.items()]


def verdict(runs: list[dict[str, Any]]) -> tuple[bool, str]:
    """Of all runs: are the times to be believed, and was anything else wrong?"""
    wrong = [(one["id"], text) for one in runs for text in one["result"]["wrong"]]
    if not wrong:
        count = "The one run is" if len(runs) == 1 else f"All {len(runs)} runs are"
        return True, f"{count} valid: requests came when modelled, none failed."
    name, text = wrong[0]
    return False, f"{len({name for name, _ in wrong})} of {len(runs)} runs are not valid. {name}: {text}"
