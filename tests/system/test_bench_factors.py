# SPDX-License-Identifier: GPL-2.0
"""david report: the answer by factor, derived a second way: from the page's runs.csv alone. No lab."""

from __future__ import annotations

import csv
import functools
import io
import itertools
import json
import math
import random
import re
import statistics
import sys
import types
from collections.abc import Callable

import pytest

from davidlib.bench import arraywords, runs, spec
from davidlib.report import answer, crossings, factors, figures
from test_bench import parse, result_of

DRIVES = ("hitachi-hds721010kla330", "seagate-exos-x20-20tb")
QUESTION = f"""seeds = [1, 2, 3, 4]
[disk]
profile = {json.dumps(DRIVES)}
[[filesystem]]
type = ["ext4", "xfs", "btrfs"]
[[workload]]
kind = "random-read"
block = ["4K", "64K"]
[[workload]]
kind = "varmail"
"""
# Student's, of both sides, three degrees of freedom: 95 %, and 95 % for 9, 6 and 3 pairs together (tables).
T3 = {1: 3.182446, 3: 4.856656, 6: 6.231544, 9: 7.179871}
NUMBER = r"([\d.,e-]+)"


@functools.cache
def expanded(question: str) -> list[runs.Run]:
    return runs.expand(parse(question))


@functools.cache
def result() -> dict:
    return json.loads(result_of(1, 1.0))


def made(rate: Callable[[dict[str, str], int], float], question: str = QUESTION) -> list[dict]:
    """All runs, with such rates by their factors and seed, as Results.load() has them."""
    loaded = []
    for run in expanded(question):
        told, base = dict(run.described), result()
        found = rate(told["factors"], told["seed"])
        figures = base["result"] | {"operations_per_s": found, "seconds": 2 / found}
        loaded.append(base | {"id": run.id, "drive": "", "run": told, "result": figures})
    return loaded


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[dict]], str]:
    """runs.csv, without Altair."""
    for name in ("charts", "plots"):
        monkeypatch.setitem(sys.modules, f"davidlib.report.{name}", types.ModuleType(name))
    from davidlib.report import export

    return export.table


def noise(seed: int, spread: float = 0.02) -> Callable[[], float]:
    rng = random.Random(seed)
    return lambda: math.exp(rng.gauss(0, spread))


def rows_of(text: str) -> list[dict]:
    found = list(csv.DictReader(io.StringIO(text)))
    for row in found:
        row["factors"], row["rate"] = json.loads(row["factors"]), float(row["operations_per_s"])
    return found


def interval(logs: list[float], pairs: int = 1) -> tuple[float, float, float]:
    assert len(logs) == 4
    mean, half = statistics.mean(logs), T3[pairs] * statistics.stdev(logs) / 2
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def close(text: str, value: float) -> bool:
    """To three digits that count."""
    return float(text.replace(",", "")) == pytest.approx(value, rel=0.0051)


def logs_of(rows: list[dict], workload: str, one: dict[str, str], other: dict[str, str]) -> list[float]:
    """Of the ratio, seed by seed."""
    def of(words: dict[str, str]) -> dict[str, float]:
        return {row["seed"]: row["rate"] for row in rows
                if row["workload"] == workload and row["factors"] == words}

    ones, others = of(one), of(other)
    return [math.log(ones[seed] / others[seed]) for seed in sorted(ones)]


def derive(rows: list[dict]) -> dict[tuple[str, str], list[tuple[str, str, tuple[float, float, float]]]]:
    """By workload and all but the file system: the best one, each other one, the ratio with its interval."""
    found = {}
    for workload in dict.fromkeys(row["workload"] for row in rows):
        mine = [row for row in rows if row["workload"] == workload]
        names = list(dict.fromkeys(row["factors"]["file system"] for row in mine))
        for text in dict.fromkeys(json.dumps({k: v for k, v in row["factors"].items() if k != "file system"})
                                  for row in mine):
            rest = json.loads(text)
            means = {name: statistics.mean(row["rate"] for row in mine
                                           if row["factors"] == {"file system": name, **rest})
                     for name in names}
            best, *others = sorted(names, key=lambda name: -means[name])
            found[workload, text] = [
                (best, other, interval(logs_of(mine, workload, {"file system": best, **rest},
                                               {"file system": other, **rest}))) for other in others]
    return found


def test_file_systems_are_compared_within_each_drive_and_size(table: Callable) -> None:
    shake, speed = noise(1, 0.1), {"ext4": 100.0, "xfs": 104, "btrfs": 60}
    loaded = made(lambda words, seed: speed[words["file system"]] * (1 + seed / 5) * shake())
    said = answer.sentences(loaded, "operations")
    derived = derive(rows_of(table(loaded)))
    # Two drives and two sizes of one workload, two drives of the other.
    assert len(said) == len(derived) == 6
    for (workload, text), pairs in derived.items():
        rest = json.loads(text)
        heading = f"{workload}, {rest['drive']}" + (f", block {rest['block']}" if "block" in rest else "")
        parts = said[heading].removeprefix(f"{heading}: ").removesuffix(".").split("; ")
        assert len(parts) == len(pairs) == 2
        for part, (best, other, (times, low, high)) in zip(parts, pairs, strict=True):
            if low <= 1 <= high:
                match = re.fullmatch(f"no difference between {best} and {other} in the operations a second "
                                     f"can be told from these 4 seeds: {NUMBER} times, 95 % interval "
                                     f"{NUMBER} to {NUMBER}",
                                     part)
            else:
                match = re.fullmatch(f"{best} has {NUMBER} times the operations a second of {other} "
                                     rf"\(95 % interval {NUMBER} to {NUMBER}, 4 seeds\)", part)
            assert match and all(map(close, match.groups(), (times, low, high))), (part, times, low, high)


def pairs_of(rows: list[dict], workload: str) -> dict[tuple, tuple[float, float, float]]:
    """Interactions of the file systems with all else, that exclude 1."""
    mine = [row for row in rows if row["workload"] == workload]
    values: dict[str, list[str]] = {}
    for row in mine:
        for name, word in row["factors"].items():
            values.setdefault(name, [])
            values[name] += [word] if word not in values[name] else []
    systems, tried = values.pop("file system"), {}
    for other in values:
        rest = [dict(zip(values, words, strict=True)) for words in itertools.product(*values.values())]
        for (one, two), (here, there) in itertools.product(itertools.combinations(systems, 2),
                                                           itertools.combinations(values[other], 2)):
            found = []
            for place in (here, there):
                each = [logs_of(mine, workload, {"file system": one, **words}, {"file system": two, **words})
                        for words in rest if words[other] == place]
                found.append([statistics.mean(seed) for seed in zip(*each, strict=True)])
            tried[one, two, other, here, there] = [a - b for a, b in zip(*found, strict=True)]
    told = {key: interval(logs, len(tried)) for key, logs in tried.items()}
    return {key: (times, low, high) for key, (times, low, high) in told.items() if low > 1 or high < 1}


def test_an_interaction_is_told_where_its_interval_excludes_1(table: Callable) -> None:
    """xfs wins on one drive, ext4 on the other; btrfs loses on both, by more with small blocks."""
    shake = noise(2)

    def rate(words: dict[str, str], seed: int) -> float:
        base = {"ext4": 100.0, "xfs": 130 if words["drive"] == DRIVES[1] else 80, "btrfs": 50}
        small = 0.6 if words["file system"] == "btrfs" and words.get("block") == "4K" else 1.0
        return base[words["file system"]] * small * (1 + seed / 5) * shake()

    loaded = made(rate)
    rows, found = rows_of(table(loaded)), factors.interactions(loaded, "operations")
    for workload in ("random-read", "varmail"):
        derived = pairs_of(rows, workload)
        mine = {(one.first, one.second, one.other, one.here, one.there): (one.times, one.low, one.high)
                for one in found if one.workload == workload}
        assert mine.keys() == derived.keys() and len(mine) >= 2
        for key, told in mine.items():
            assert told == pytest.approx(derived[key], rel=1e-5), key
    said = answer.depends(loaded, "operations")
    turned = [text for text in said if "varmail" in text and "is better with" in text]
    assert len(turned) == 1 and turned[0].startswith(
        f"varmail: the operations a second of ext4 and xfs depend on the drive: ext4 is better with "
        f"{DRIVES[0]}, xfs with {DRIVES[1]}: ext4 has 1.2"), said
    times, low, high = pairs_of(rows, "varmail")["ext4", "xfs", "drive", *DRIVES]
    match = re.search(rf"{NUMBER} times as much \(interval {NUMBER} to {NUMBER}, 95 % for all 3 pairs "
                      r"together, 4 seeds\)", turned[0])
    assert match and all(map(close, match.groups(), (times, low, high))), (turned, times, low, high)
    # Of seconds, fewer are better: the same wins.
    assert any("ext4 is better with " + DRIVES[0] in text for text in answer.depends(loaded, "seconds"))


def test_only_like_is_beside_like_where_runs_are_missing() -> None:
    """xfs wins on small blocks alone, on every drive, and the second drive has no runs with large ones: the
    average of both blocks stood beside that of the small ones, and told of a drive that made a difference."""
    def rate(words: dict[str, str], seed: int) -> float:
        wins = words["file system"] == "xfs" and words.get("block") == "4K"
        return (300.0 if wins else 100.0) * (1 + seed / 5) * math.exp(seed / 1000)

    loaded = [one for one in made(rate) if one["run"]["workload"]["name"] == "random-read"]
    of = factors.factors_of
    assert not [one for one in factors.interactions(loaded, "operations") if one.other == "drive"]
    left = [one for one in loaded if of(one)["drive"] == DRIVES[0] or of(one)["block"] == "4K"]
    assert 0 < len(left) < len(loaded)
    assert not [one for one in factors.interactions(left, "operations") if one.other == "drive"]
    # What both have of it is still told of, and without an average nothing says that it is one.
    for one in left:
        one["result"]["operations_per_s"] *= 2 if of(one) == {
            "file system": "ext4", "drive": DRIVES[1], "block": "4K"} else 1
    [found] = [one for one in factors.interactions(left, "operations")
               if (one.first, one.second, one.other) == ("ext4", "xfs", "drive")]
    assert found.sides[0].mean == pytest.approx(1 / 3) and found.sides[1].mean == pytest.approx(2 / 3)
    assert found.over == () and "on average" not in answer._interaction(found, "operations")
    # No drive has what the other has.
    none = [one for one in left if of(one)["drive"] == DRIVES[1] or of(one)["block"] != "4K"]
    assert not [one for one in factors.interactions(none, "operations") if one.other == "drive"]


def test_an_interval_that_excludes_1_does_not_read_as_if_it_had_it() -> None:
    """The page of 54 runs told of "interval 1 to 1.82"."""
    found = figures.Estimate(1.35, 1.0004, 1.82, 3)
    assert answer.ratio_interval(found) == "1.0004 to 1.82"
    assert answer.ratio_interval(figures.Estimate(0.9, 0.7, 0.99996, 3)) == "0.7 to 0.99996"
    assert answer.ratio_interval(figures.Estimate(1.0, 0.5, 2.0, 3)) == "0.5 to 2"
    told = answer._interaction(factors.Interaction(
        "mail", "file system", "xfs", "btrfs", "disk", "SSD", "RAID-6", 1.35, 1.0004, 1.82, 3, 12,
        (found, found), ()), "operations")
    assert "(interval 1.0004 to 1.82, 95 % for all 12 pairs together, 3 seeds)" in told


def test_no_interaction_is_told_where_there_is_none() -> None:
    shake = noise(3)
    loaded = made(lambda words, seed: (2 if words["file system"] == "xfs" else 1)
                  * (3 if words["drive"] == DRIVES[0] else 1) * seed * shake())
    assert answer.depends(loaded, "operations") == []
    # Nor where rates are products to the last digit, nor of one seed.
    exact = made(lambda words, seed: (0.1 if words["file system"] == "xfs" else 0.7)
                 * (0.3 if words["drive"] == DRIVES[0] else 1.1) * seed)
    assert answer.depends(exact, "operations") == []
    alone = made(lambda words, seed: 1 + len(words["file system"]) * len(words["drive"]),
                 QUESTION.replace("[1, 2, 3, 4]", "[1]"))
    assert answer.depends(alone, "operations") == []


def test_without_randomness_an_interaction_has_no_interval() -> None:
    def rate(words: dict[str, str], seed: int) -> float:
        return 2.0 if (words["file system"], words["drive"]) == ("xfs", DRIVES[1]) else 1.0

    loaded = made(rate)
    said = answer.depends(loaded, "operations")
    assert any("2 times as much (the same with all 4 seeds)." in text for text in said), said


def test_what_is_asked_is_the_file_system_or_else_the_first_dimension() -> None:
    one = QUESTION.replace('["ext4", "xfs", "btrfs"]', '"ext4"')
    loaded = made(lambda words, seed: 1.0 * seed, one)
    assert factors.asked(loaded) == "drive"
    assert list(answer.sentences(loaded, "operations")) == \
        ["random-read, block 4K", "random-read, block 64K", "varmail"]
    single = [run for run in loaded if run["run"]["profile"] == DRIVES[0]
              and run["run"]["workload"]["kind"] == "varmail"]
    for run in single:
        run["run"]["factors"] = {}
    assert factors.asked(single) == "" and [group.heading for group in factors.groups(single)] == ["varmail"]


def test_the_question_says_which_dimension_the_answer_is_about(table: Callable) -> None:
    """The ratio of the two drives, within each file system and size, from runs.csv alone."""
    draw = noise(5)
    loaded = made(lambda words, seed: len(words["drive"]) * seed * draw(), 'compare = "drive"\n' + QUESTION)
    assert factors.asked(loaded) == "drive"
    rows, said = rows_of(table(loaded)), answer.sentences(loaded, "operations")
    assert {next(iter(row["factors"])) for row in rows} == {"drive"}
    for system, block in itertools.product(("ext4", "xfs", "btrfs"), ("4K", "64K")):
        rest = {"file system": system, "block": block}
        derived = interval(logs_of(rows, "random-read", {"drive": DRIVES[0], **rest},
                                   {"drive": DRIVES[1], **rest}))
        text = said[f"random-read, {system}, block {block}"]
        found = re.search(rf"{DRIVES[0]} has {NUMBER} times .* {DRIVES[1]} \(95 % interval {NUMBER} to "
                          rf"{NUMBER}, 4 seeds", text)
        assert found, text
        for word, value in zip(found.groups(), derived, strict=True):
            assert close(word, value), text


def test_another_comparison_is_another_answer_of_the_same_runs() -> None:
    ids = [{run.id for run in expanded(text)} for text in (QUESTION, 'compare = "drive"\n' + QUESTION)]
    assert ids[0] == ids[1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('compare = "drvie"\n' + QUESTION, "a.toml:1: compare = 'drvie': .*; did you mean drive"),
        # Of one workload alone
        ('compare = "block"\n' + QUESTION, "a.toml:1: compare = 'block': no dimension of all runs; there"),
        ('compare = "mkfs"\n[disk]\nprofile = "samsung-pm883"\n[[workload]]\nkind = "du"\n',
         "a.toml:1: compare = 'mkfs': .*; all runs differ in their seed alone"),
    ],
)
def test_what_is_no_dimension_of_all_runs_cannot_be_compared(text: str, says: str) -> None:
    with pytest.raises(spec.SpecError, match=says):
        runs.expand(parse(text))


SWEPT = f"""seeds = [1, 2, 3, 4]
[disk]
profile = {json.dumps(DRIVES)}
[[filesystem]]
type = ["ext4", "xfs"]
[[workload]]
kind = "random-read"
block = ["64K", "4K", "16K", "8K"]
"""
TIMES = {"4K": 1.3, "8K": 1.2, "16K": 1.0, "64K": 0.8}  # ext4's over xfs's


def test_curves_cross_where_the_intervals_say_so(table: Callable) -> None:
    """On the second drive only: on the first one ext4 is better throughout. Derived from runs.csv alone."""
    draw = noise(7, 0.01)

    def rate(words: dict[str, str], seed: int) -> float:
        times = TIMES[words["block"]] if words["drive"] == DRIVES[1] else 1.5
        return 100 * seed * draw() * (times if words["file system"] == "ext4" else 1)

    loaded = made(rate, SWEPT)
    rows = rows_of(table(loaded))
    # Eight ratios: for each drive and block one.
    wins = {}
    for drive, block in itertools.product(DRIVES, TIMES):
        logs = logs_of(rows, "random-read", *({"file system": system, "drive": drive, "block": block}
                                              for system in ("ext4", "xfs")))
        half = 6.8952 * statistics.stdev(logs) / 2  # Student's, 3 degrees of freedom, 95 % for 8 together
        mean = statistics.mean(logs)
        wins[drive, block] = "" if abs(mean) <= half else "ext4" if mean > 0 else "xfs"
    assert [wins[DRIVES[1], block] for block in TIMES] == ["ext4", "ext4", "", "xfs"]
    [said] = crossings.sentences(loaded, "operations")
    assert said == (
        f"random-read, {DRIVES[1]}: the operations a second of ext4 and xfs cross: better is ext4 up to "
        "block 8K, xfs from 64K on (intervals of 95 % for all 8 ratios together, 4 seeds).")
    # Fewer seconds are better.
    [said] = crossings.sentences(loaded, "seconds")
    assert "better is ext4 up to block 8K, xfs from 64K on" in said


def test_curves_do_not_cross_by_chance_and_names_are_no_curves() -> None:
    draw = noise(1, 0.05)
    for _ in range(20):
        assert crossings.sentences(made(lambda words, seed: 100 * draw(), SWEPT), "operations") == []
    loaded = made(lambda words, seed: 100.0 * seed, SWEPT)
    assert crossings.swept(loaded) == ["block"]
    for one in loaded:
        words = one["run"]["factors"]
        words["kernel"] = {"4K": "6.1", "8K": "6.6", "16K": "6.12", "64K": "7.3"}[words.pop("block")]
    assert crossings.swept(loaded) == []


def test_what_is_drawn_together_is_a_group_by_short_names() -> None:
    loaded = made(lambda words, seed: 1.0 * seed)
    facets = dict(factors.facets(loaded))
    assert list(facets) == list(answer.sentences(loaded, "operations"))
    names = [{one["run"]["variant"] for one in mine} for mine in facets.values()]
    assert names == [{"ext4", "xfs", "btrfs"}] * 6
    assert sum(map(len, facets.values())) == len(loaded)


def test_doubts_are_of_the_group_that_has_them() -> None:
    loaded = made(lambda words, seed: 1.0 * seed)
    for one in loaded:
        if one["run"]["profile"] == DRIVES[1] and one["run"]["workload"]["kind"] == "varmail":
            one["result"]["doubts"] = [{"kind": "cached_writes", "share": 1.0, "text": "a cache took the "
                                                                                       "writes"}]
    [(text, [doubt])] = [one for one in answer.with_doubts(loaded, "operations") if one[1]]
    assert text.startswith(f"varmail, {DRIVES[1]}: ")
    assert doubt.startswith("cached_writes, 12 of 12 runs: ext4: a cache took the writes; xfs: ")


STATES = ("healthy", "failed=3", "failed=3+7", "rebuilding=5")
STATED = f"""seeds = [1, 2, 3, 4]
[disk]
profile = "hitachi-hds721010kla330"
array = "6 members=12"
array-state = {json.dumps(STATES)}
[[filesystem]]
type = "ext4"
[[workload]]
kind = "random-read"
"""
# By what the lab is told: a member less costs a fifth, a rebuild more.
RATES = {(): 100.0, ("failed", 1): 80, ("failed", 2): 60, ("rebuilding", 1): 45}


def stated() -> list[dict]:
    """Runs of arrays whose state is the one that the lab was told, whatever the question says."""
    draw = noise(11)
    loaded = made(lambda words, seed: 1.0, STATED)
    for one in loaded:
        told = one["run"].get("array_state", {})
        state = next(((word, len(members)) for word, members in told.items()), ())
        rate = RATES[state] * (1 + one["run"]["seed"] / 5) * draw()
        one["result"] |= {"operations_per_s": rate, "seconds": 2 / rate, "array": {
            "degraded": sum(map(len, told.values())), "action": "recover" if "rebuilding" in told else "idle",
            "rebuilt_bytes": 1 << 20 if "rebuilding" in told else 0}}
    return loaded


def wrong_of_states(rows: list[dict], said: dict[str, str]) -> list[str]:
    """From runs.csv alone: was each state there, and does the sentence have each beside the healthy array?"""
    found = []
    for row in rows:
        kind, _, members = row["factors"]["array-state"].partition("=")
        missing = len(members.split("+")) if members else 0
        if int(row["degraded"]) != missing or (float(row["rebuilt_bytes"]) > 0) != (kind == "rebuilding"):
            found.append(f"{row['factors']}: {row['degraded']} missing, {row['rebuilt_bytes']} rebuilt")
    [text] = said.values()
    for state in STATES[1:]:
        times, low, high = interval(logs_of(rows, "random-read", {"array-state": STATES[0]},
                                            {"array-state": state}))
        match = re.search(rf"healthy has {NUMBER} times the operations a second of {re.escape(state)} "
                          rf"\(95 % interval {NUMBER} to {NUMBER}, 4 seeds\)(?:;|\.)", text)
        if not match or not all(map(close, match.groups(), (times, low, high))):
            found.append(f"{state}: {times:.3f} times, {low:.3f} to {high:.3f}, is not in: {text}")
    return found


def test_an_array_that_failed_is_told_beside_the_healthy_one(
    table: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: a state that the lab is not told, a member that is forgotten, one state for another."""
    loaded = stated()
    said = answer.sentences(loaded, "operations")
    assert list(said) == ["random-read"] and not wrong_of_states(rows_of(table(loaded)), said)
    for told in (lambda self: {}, lambda self: {self.kind: list(self.members[:1])},
                 lambda self: {"failed": list(self.members)}):
        expanded.cache_clear()
        monkeypatch.setattr(arraywords.State, "told", told)
        loaded = stated()
        assert wrong_of_states(rows_of(table(loaded)), answer.sentences(loaded, "operations"))
    expanded.cache_clear()
