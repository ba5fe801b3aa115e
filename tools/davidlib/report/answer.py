# SPDX-License-Identifier: GPL-2.0
"""The answer in sentences, with its interval; and whether the times behind it are to be believed."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from ..bench import doubts
from ..bench.metrics import METRICS
from ..bench.results import reached
from . import crossings, factors, figures
from .figures import Estimate
from .forms import Table

NO_INTERVAL = "one run each, so there is no interval: repeats = 3 or more gives one"


NO_RANDOMNESS = "the workload has no randomness"
NOT_SHOWN = "the seeds make no difference to this figure"
MOST_DIGITS = 15
ADVICE = re.compile(r" \([^()]*\)$")  # at the end of a doubt's text


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


def _between(found: Estimate, ends: str) -> str:
    return f" (95 % interval {ends}, {found.count} seeds)" if ends else ""


def ratio_interval(found: Estimate) -> str:
    """Of a ratio: an end that is not 1 is never told as 1, as it is what decides."""
    return " to ".join(apart(end, 1)[0] for end in found.ends) if found.ends else ""


@dataclass(frozen=True)
class Said:
    """One workload's variants, and how its metric is called."""

    variants: dict[str, dict[int, float]]
    metric: str
    kind: str = ""  # of operation, whose percentile it is
    still: frozenset[str] = frozenset()  # variants whose runs are the same with each seed

    @property
    def name(self) -> str:
        return METRICS[self.metric].name + self.kind

    def why_same(self, *names: str) -> str:
        """All seeds came to the same figure of each of these variants."""
        return NO_RANDOMNESS if self.still.issuperset(names) else NOT_SHOWN


def _alone(name: str, about: Said) -> str:
    found, known = figures.estimate(list(about.variants[name].values())), METRICS[about.metric]
    unit = about.name if known.unit == "1/s" else f"{known.unit}, {about.name}"
    between = _between(found, interval(found))
    if found.same:
        between = f", the same with all {found.count} seeds: {about.why_same(name)}"
    return f"{name}: {digits(found.mean)} {unit}{between}"


def _same_ratio(found: Estimate, about: Said, *names: str) -> str:
    """What stands behind a ratio that is the same with each seed."""
    if not found.same:
        return ""
    still = all(figures.estimate(list(about.variants[name].values())).same for name in names)
    return f" with all {found.count} seeds{f': {about.why_same(*names)}' if still else ''}"


def _against(best: str, other: str, about: Said) -> str:
    found = figures.ratio(about.variants[best], about.variants[other])
    if found is None:
        return f"{best} and {other} have no seed in common"
    same = _same_ratio(found, about, best, other)
    if found.mean == 1 and not found.ends:
        return f"{best} and {other} have the same {about.name}{same}"
    if found.ends and found.ends[0] <= 1 <= found.ends[1]:
        return (f"no difference between {best} and {other} in the {about.name} can be told from these "
                f"{found.count} seeds: {digits(found.mean)} times, 95 % interval {ratio_interval(found)}")
    times = apart(found.mean, 1)[0]
    between = f", the same{same}" if same else _between(found, ratio_interval(found))
    return f"{best} has {times} times the {about.name} of {other}{between}"


def sentence(about: Said) -> str:
    """What one workload's runs came to, the best variant first."""
    best, *others = figures.ranking(about.variants, about.metric)
    if others:
        return "; ".join(_against(best, other, about) for other in others)
    return _alone(best, about)


def sentences(runs: list[dict[str, Any]], metric: str) -> dict[str, str]:
    """One for each workload, and each group within which variants are compared."""
    found = {}
    factor = factors.asked(runs)
    for group in factors.groups(runs):
        levels = factors.levels(group, runs, metric)
        still = figures.without_randomness(group.runs)
        same = frozenset(factors.level_of(one, factor) for one in group.runs
                         if (group.workload, one["run"]["variant"]) in still)
        about = Said(levels, metric, figures.label(runs, group.workload, metric), same)
        found[group.heading] = f"{group.heading}: {sentence(about)}."
    return found


def table(runs: list[dict[str, Any]], metric: str) -> Table:
    """The answer's numbers: head and rows, one for each workload and variant."""
    known, still = METRICS[metric], figures.without_randomness(runs)
    rows = []
    within = {(group.workload, one["run"]["variant"]): group.others
              for group in factors.groups(runs) for one in group.runs}
    for workload, variants in figures.table(runs, metric).items():
        for name, values in variants.items():
            found = figures.estimate(list(values.values()))
            mine = {other: seeds for other, seeds in variants.items()
                    if within[workload, other] == within[workload, name]}
            against = figures.ratio(values, variants[figures.ranking(mine, metric)[0]])
            why = "no randomness" if (workload, name) in still else "all the same"
            between = f"none: {why}" if found.same else interval(found) or "-"
            what = workload + figures.label(runs, workload, metric)
            rows.append([what, name, digits(found.mean), between, str(found.count),
                         digits(against.mean) if against else "-"])
    head = ["workload", "variant", known.label, "95 % interval", "seeds", "of its group's best"]
    unfit = _unfit(runs)
    if unfit:  # the table is taken elsewhere, without the sentences around it
        head.append("not to be believed")
        known_rows = figures.table(runs, metric).items()
        keys = [(workload, name) for workload, variants in known_rows for name in variants]
        for key, row in zip(keys, rows, strict=True):
            row.append(unfit.get(key, "-"))
    return head, rows


def _unfit(runs: list[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """By workload and variant: how many of their runs are not to be believed, and why."""
    counted: dict[tuple[str, str], int] = {}
    found: dict[tuple[str, str], dict[str, int]] = {}
    for one in runs:
        key = (one["run"]["workload"]["name"], one["run"]["variant"])
        counted[key] = counted.get(key, 0) + 1
        kinds = [doubt["kind"] for doubt in one["result"]["doubts"] if doubt["kind"] in doubts.REFUTING]
        for why in ["not valid"] if one["result"]["wrong"] else kinds:
            reasons = found.setdefault(key, {})
            reasons[why] = reasons.get(why, 0) + 1
    return {key: ", ".join(f"{why}: {count} of {counted[key]}" for why, count in reasons.items())
            for key, reasons in found.items()}


def lonely(runs: list[dict[str, Any]], metric: str) -> str:
    """That no variant of any workload has two seeds; "" if one has."""
    variants = [seeds for found in figures.table(runs, metric).values() for seeds in found.values()]
    return "" if any(len(seeds) > 1 for seeds in variants) else f"There was {NO_INTERVAL}."


def _interaction(found: factors.Interaction, metric: str) -> str:
    here, there = (factors.winner(side, found.first, found.second, metric) for side in found.sides)
    one, two = apart(*(side.mean for side in found.sides))
    turned = ""
    if here and there and here != there:
        turned = f"{here} is better with {found.here}, {there} with {found.there}: "
    between = "the same with all "
    if found.low < found.high:
        whole = f"95 % for all {found.pairs} pairs together" if found.pairs > 1 else "95 %"
        between = f"interval {apart(found.low, 1)[0]} to {apart(found.high, 1)[0]}, {whole}, "
    over = f", on average over {' and '.join(f'the {name}' for name in found.over)}" if found.over else ""
    return (f"{found.workload}: the {METRICS[metric].name} of {found.first} and {found.second} depend on the "
            f"{found.other}{over}: {turned}{found.first} has {one} times that of {found.second} with "
            f"{found.here}, and {two} times with {found.there}, {apart(found.times, 1)[0]} times as much "
            f"({between}{found.count} seeds).")


def depends(runs: list[dict[str, Any]], metric: str) -> list[str]:
    """What the comparison depends on: interactions, the clearest of each workload."""
    found = factors.interactions(runs, metric)
    said = []
    for workload in dict.fromkeys(one.workload for one in found):
        mine = [one for one in found if one.workload == workload]
        said += [_interaction(one, metric) for one in mine[: factors.MOST_SAID]]
        if len(mine) > factors.MOST_SAID:
            said.append(f"{workload}: {len(mine) - factors.MOST_SAID} more of such pairs.")
    return said


def across(runs: list[dict[str, Any]], metric: str) -> list[str]:
    """What groups tell beside one another: interactions, and where curves cross."""
    return depends(runs, metric) + crossings.sentences(runs, metric)


def _in_doubt(runs: list[dict[str, Any]], kind: str) -> str:
    """Whose figures have that doubt, and what it says of the first run of each; nothing: of none. What to do
    about it is said once, if that is the same for all."""
    factor, texts, advice = factors.asked(runs), {}, {}
    having = 0
    for one in runs:
        mine = [doubt["text"] for doubt in one["result"]["doubts"] if doubt["kind"] == kind]
        having += bool(mine)
        name = factors.level_of(one, factor)
        if mine and name not in texts:
            texts[name] = "; ".join(mine)
            advice[name] = ADVICE.findall(texts[name])
    if not having:
        return ""
    first, *others = advice.values()
    once = ""
    if others and len(first) == 1 and all(other == first for other in others):
        once, texts = first[0], {name: text.removesuffix(first[0]) for name, text in texts.items()}
    return f"{kind}, {having} of {len(runs)} runs: {'; '.join(map(': '.join, texts.items()))}{once}"


def doubted(runs: list[dict[str, Any]], heading: str) -> list[str]:
    """One line for each kind of doubt about the runs of that heading of sentences()."""
    mine = [one for group in factors.groups(runs) if group.heading == heading for one in group.runs]
    return [said for kind in doubts.KINDS if (said := _in_doubt(mine, kind))]


def with_doubts(runs: list[dict[str, Any]], metric: str) -> list[tuple[str, list[str]]]:
    """The answer's sentences. Each carries its doubts, so that nobody has the figure without them."""
    found = [(text, doubted(runs, heading)) for heading, text in sentences(runs, metric).items()]
    return [*found, *((text, []) for text in across(runs, metric))]


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


def missing(runs: list[dict[str, Any]], asked: list[dict[str, Any]]) -> str:
    """Which runs of the question are not there; "" if all are."""
    there = {one["id"] for one in runs}
    gone = [words for words in asked if words["id"] not in there]
    if not gone:
        return ""
    counts = Counter(f"{words['workload']}, {words['variant']}" for words in gone)
    named = "; ".join(f"{count} of {name}" for name, count in counts.items())
    return (f"{len(gone)} of the question's {len(asked)} runs are missing: {named}. "
            "The same command of 'david bench' makes them.")


def _failed(runs: list[dict[str, Any]]) -> str:
    """How many requests the faults failed that the question gave its drives: such a run is what was asked."""
    counts = [doubts.failed_by_drive(one["result"]["stats"]) for one in runs]
    if not any(counts):
        return "none failed"
    having, of = sum(map(bool, counts)), sum(doubts.requests_of(one["result"]["stats"]) for one in runs)
    return f"and {sum(counts)} of {of} failed, in {having} of the runs, as the drive's faults made them"


def verdict(runs: list[dict[str, Any]]) -> tuple[bool, str]:
    """Of all runs: are the times to be believed, were they what was asked for, was anything else wrong?"""
    wrong = [(one["id"], text) for one in runs for text in one["result"]["wrong"]]
    refuted = [(one["id"], f"{doubt['kind']}: {doubt['text']}") for one in runs
               for doubt in one["result"]["doubts"] if doubt["kind"] in doubts.REFUTING]
    if not wrong and refuted:
        number, (name, text) = len({name for name, _ in refuted}), refuted[0]
        return False, (f"{number} of {len(runs)} runs measured something else than was asked for. "
                       f"{name}: {text}")
    if not wrong:
        count = "The one run is" if len(runs) == 1 else f"All {len(runs)} runs are"
        return True, f"{count} valid: requests came when modelled, {_failed(runs)}."
    name, text = wrong[0]
    whose = dict.fromkeys(f"{one['run']['workload']['name']}, {one['run']['variant']}" for one in runs
                          if one["result"]["wrong"])
    return False, (f"{len({name for name, _ in wrong})} of {len(runs)} runs are not valid: "
                   f"{'; '.join(whose)}. {name}: {text}")
