# SPDX-License-Identifier: GPL-2.0
"""`david choose` beside brute force: david-sim asked for each candidate, one after the other. No lab."""

from __future__ import annotations

import csv
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from davidlib import build
from davidlib.drive import candidates, worth
from davidlib.drive.asking import Asking
from davidlib.util import TREE
from helpers import figuretable
from helpers.units import FULL

PROFILES = Path(__file__).parent / "profiles"
PLAIN, QUICK, FLASH, ZONED = (
    str(PROFILES / f"{name}.profile") for name in ("plain", "quick", "flash", "zoned")
)
MOST = 5
# As docs/REFERENCE.md has it, and not as the code: the level, its members, and how many of them have data.
ROOM = {
    "none": {1: 1},
    "0": {2: 2, 3: 3, 4: 4, 5: 5},
    "1": {2: 1, 3: 1, 4: 1},
    "10": {2: 1, 4: 2},
    "5": {3: 2, 4: 3, 5: 4},
    "6": {4: 2, 5: 3},
}
DEPTHS = (1, 4, 16, 64)


def david(*words: str) -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, TREE / "tools/david", *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def chosen(*words: str) -> tuple[int, dict[str, Any]]:
    status, said, error = david("choose", "--json", "--most", str(MOST), *words)
    assert status in (0, 2, 3), error
    found = json.loads(said)
    assert found["status"] == status
    return status, found


def answers(found: dict[str, Any]) -> dict[tuple[str, str], int]:
    """Of each drive and level that fits, the members."""
    return {
        (one["profile"], one["level"]): one["tried"][-1]["members"]
        for one in found["choices"]
        if one["verdict"] == "fits"
    }


def words_of(level: str, members: int, failed: int) -> list[str]:
    gone = {0: "", 1: " failed=0", 2: " failed=0+1"}[failed]
    return [] if level == "none" else ["--array", f"{level} members={members}{gone}"]


@cache
def simulated(profile: str, level: str, members: int, failed: int, job: str) -> tuple[float, float, int]:
    """Requests a second, the 99th percentile in us, and how many doubts."""
    program = build.ensure("david-sim")
    flash = (
        ["--option", "precondition_fill=0.95", "--option", "precondition=random"]
        if profile == FLASH
        else []
    )
    done = subprocess.run(
        [
            program,
            "bench",
            "--json",
            "--profile",
            profile,
            *flash,
            *words_of(level, members, failed),
            "--job",
            job,
        ],
        capture_output=True,
        text=True,
    )
    found = json.loads(done.stdout)["jobs"][0]
    return found["all"]["per_s"], found["p99_us"], len(found["doubts"])


@cache
def sectors(profile: str) -> int:
    done = subprocess.run(
        [build.ensure("david-sim"), "profile", "show", profile], capture_output=True, text=True, check=True
    )
    [line] = [line for line in done.stdout.splitlines() if line.startswith("capacity ")]
    assert line.strip().endswith("sectors")
    return int(line.split("=")[1].strip().removesuffix("sectors"))


def holds(profile: str, level: str, members: int) -> int:
    """Bytes of the array. david-sim is asked for the same elsewhere here, and the lab's mdadm by
    cases/arrays.py."""
    return 512 * candidates.sectors_of(level, members, sectors(profile))


@pytest.mark.parametrize("words", ["0 members=3", "1 members=2", "4 members=3", "5 members=4 chunk=64K",
                                   "6 members=5", "10 members=4", "10 members=3 layout=f2"])
def test_the_sectors_of_an_array_are_those_that_its_members_have(words: str) -> None:
    """david-sim's sum beside its list of pieces, with what mdadm keeps for itself, of drives of 300 MiB."""
    line = [build.ensure("david-sim"), "layout", "--array", f"{words} metadata=1.2", "--size", str(300 << 11)]
    total = int(subprocess.run([*line, "--total"], capture_output=True, text=True, check=True).stdout)
    pieces = subprocess.run(line, capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    first = {(sector, int(count)) for holds, sector, _, _, count in (piece.split(",") for piece in pieces)
             if holds == "data"}
    assert total == sum(count for _, count in first)
    level, members = words.split()[0], int(words.split()[1].partition("=")[2])
    if level in candidates.LEVELS and len(words.split()) == 2:
        assert total == candidates.sectors_of(level, members, 300 << 11)


@pytest.mark.parametrize("sectors", [1, 2])
def test_a_drive_that_is_too_small_for_an_array_is_told(sectors: int) -> None:
    line = [build.ensure("david-sim"), "layout", "--total", "--array", "5 members=3", "--size", str(sectors)]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 1 and not done.stdout
    assert re.search("too small|smaller than a chunk", done.stderr)


def brute(profile: str, level: str, iops: float, p99_ms: float, capacity: int, job: str) -> int | None:
    """The least members that do; None: there are none."""
    for members in ROOM[level]:
        if holds(profile, level, members) < capacity:
            continue
        for depth in DEPTHS:
            rate, late, doubts = simulated(profile, level, members, 0, job.format(depth=depth))
            if rate >= iops and late <= 1e3 * p99_ms and not doubts:
                return members
    return None


READS = "random size=4096 depth={depth} count=4000 warm=400"


SELDOM = pytest.mark.seldom
DEMANDS = [(250, 60, 100), *([(9, 12, 1), (60, 25, 10), (420, 100, 1), (250, 18, 100)] if FULL else [])]
BOTH = pytest.param((PLAIN, QUICK), marks=SELDOM, id="plain and quick")


@pytest.mark.parametrize(("iops", "p99_ms", "gib"), DEMANDS)
@pytest.mark.parametrize("profiles", [pytest.param((PLAIN,), id="plain"), BOTH])
def test_reads_are_what_brute_force_finds(
    profiles: tuple[str, ...], iops: int, p99_ms: int, gib: int
) -> None:
    """Each drive, each level: the same members, or none; rates and times as david-sim says."""
    words = ["--iops", str(iops), "--p99", f"{p99_ms}ms", "--capacity", f"{gib}G", "--read-share", "100"]
    status, found = chosen(*words, *(word for one in profiles for word in ("--profile", one)))
    right = {
        (Path(profile).stem, level): members
        for profile in profiles
        for level in ROOM
        if (members := brute(profile, level, iops, p99_ms, gib << 30, READS))
    }
    assert answers(found) == right and status == (0 if right else 3)
    rows = figuretable.rows("choose")
    paths = [path for path, value in figuretable.leaves(found) if value not in ([], {})]
    assert not [path for path in paths if not any(row.has(path) for row in rows)]
    for choice in found["choices"]:
        profile = {Path(one).stem: one for one in profiles}[choice["profile"]]
        for tried in (*choice["tried"], *choice["degraded"]):
            level, members = choice["level"], tried["members"]
            assert tried["capacity"] == holds(profile, level, members)
            best, met = 0.0, None
            for point in tried["points"]:
                rate, late, doubts = simulated(
                    profile, level, members, tried["failed"], READS.format(depth=point["depth"])
                )
                assert (point["per_s"], point["p99_us"], len(point["doubts"])) == (rate, late, doubts)
                if late <= 1e3 * p99_ms and not doubts:
                    best = max(best, rate)
                    met = met or (point["depth"], rate, late) if rate >= iops else met
            assert tried["times"] == pytest.approx(best / iops)
            assert tried["fits"] == bool(met)
            assert (tried["depth"], tried["per_s"], tried["p99_us"]) == (met or (None, None, None))
        spares = {"1": 2, "10": 1, "5": 1, "6": 2}.get(choice["level"], 0)
        wanted = min(spares, choice["tried"][-1]["members"] - 1) if choice["verdict"] == "fits" else 0
        assert [one["failed"] for one in choice["degraded"]] == list(range(1, wanted + 1))
        # Each number of members of each level was tried, or is counted.
        assert len(choice["tried"]) + sum(choice["untried"].values()) == len(ROOM[choice["level"]])


def test_what_reads_alone_answer_is_not_left_untried() -> None:
    """250 requests a second on 'plain' need an array, and one drive of a memory's speed does not."""
    assert brute(PLAIN, "none", 250, 60, 1, READS) is None and brute(PLAIN, "0", 250, 60, 1, READS)


@pytest.mark.parametrize(
    ("profile", "iops", "level"),
    [
        pytest.param(QUICK, 100, "none", id="quick"),
        pytest.param(QUICK, 100, "10", id="quick, 10", marks=SELDOM),
        pytest.param(FLASH, 6000, "none", id="flash", marks=SELDOM),
        pytest.param(FLASH, 6000, "10", id="flash, 10", marks=SELDOM),
    ],
)
def test_mixes_are_what_steady_jobs_come_to(profile: str, iops: int, level: str) -> None:
    """Caches are full when it counts: david-sim's `steady`, which finds that out by itself, is near. 'quick'
    has a cache, and 'flash' a buffer and collects."""
    used = ["--option", "precondition_fill=0.95"] if profile == FLASH else []
    words = ["--iops", str(iops), "--p99", "2s", "--capacity", "100M", "--profile", profile, *used]
    _, found = chosen(*words, "--level", level)
    [choice] = found["choices"]
    assert choice["tried"], choice
    for point in choice["tried"][-1]["points"]:
        assert not point["doubts"]
        job = f"writes=30 random size=4096 depth={point['depth']} count=4000 steady"
        members = choice["tried"][-1]["members"]
        rate, _, doubts = simulated(profile, level, members, 0, job)
        assert not doubts and point["per_s"] == pytest.approx(rate, rel=0.07)


@SELDOM
def test_a_weaker_demand_never_loses_an_answer() -> None:
    dice, found = random.Random(7), {}
    demands = [(180, 30, 1), (90, 80, 1), (90, 80, 70)]
    if FULL:
        demands += [
            (dice.choice((40, 90, 180, 300)), dice.choice((15, 30, 80)), dice.choice((1, 70, 130)))
            for _ in range(30)
        ]
    for iops, p99, gib in sorted(set(demands)):
        _, said = chosen(
            "--iops",
            str(iops),
            "--p99",
            f"{p99}ms",
            "--capacity",
            f"{gib}G",
            "--read-share",
            "100",
            "--profile",
            PLAIN,
            *(["--profile", QUICK] if FULL else []),
        )
        found[iops, p99, gib] = answers(said)
    pairs = 0
    for strong, weak in itertools.permutations(found, 2):
        if weak[0] <= strong[0] and weak[1] >= strong[1] and weak[2] <= strong[2]:
            pairs += bool(found[strong])
            for key, members in found[strong].items():
                assert found[weak].get(key, MOST + 1) <= members, (strong, weak, key)
    assert pairs > (20 if FULL else 0)


def test_an_array_has_the_room_that_david_sim_gives_it(tmp_path: Path) -> None:
    requests = tmp_path / "requests"
    requests.write_text("0,0,0,8,0,1\n")
    for level, numbers in ROOM.items():
        assert candidates.members_of(level, MOST) == list(numbers)
        for members in numbers:
            for profile in (PLAIN, FLASH) if FULL else (PLAIN,):
                done = subprocess.run(
                    [
                        build.ensure("david-sim"),
                        "blocks",
                        "--profile",
                        profile,
                        "--requests",
                        requests,
                        "--closed",
                        *words_of(level, members, 0),
                    ],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                assert 512 * json.loads(done.stdout)["sectors"] == holds(profile, level, members)


@SELDOM
def test_a_demand_that_must_hold_with_a_member_failed_needs_one_to_spare() -> None:
    words = [
        "--iops",
        "150",
        "--p99",
        "80ms",
        "--capacity",
        "1G",
        "--read-share",
        "100",
        "--profile",
        PLAIN,
    ]
    _, plain = chosen(*words)
    _, spared = chosen(*words, "--degraded")
    assert {"none", "0"}.isdisjoint(level for _, level in answers(spared)) and answers(spared)
    for key, members in answers(spared).items():
        assert members >= answers(plain)[key]
        rates = [simulated(PLAIN, key[1], members, 1, READS.format(depth=depth)) for depth in DEPTHS]
        assert any(rate >= 150 and late <= 80e3 for rate, late, _ in rates)
    assert sum(answers(spared)[key] > answers(plain)[key] for key in answers(spared)) > 0


def test_a_trace_is_served_as_by_david_sim(tmp_path: Path) -> None:
    """At its own times, each drive and array by itself: p99 and load are those of `david sim`."""
    dice, trace, time = random.Random(3), tmp_path / "day.csv", 0
    lines = []
    for _ in range(1200):
        time += dice.randrange(14_000_000)
        lines.append(
            f"{time // 100 + 128166372 * 10**9},host,0,Read,{dice.randrange(1 << 22) * 4096},4096,1000\n"
        )
    trace.write_text("".join(lines))
    status, found = chosen(
        "--trace",
        str(trace),
        "--format",
        "msr",
        "--p99",
        "40ms",
        "--profile",
        PLAIN,
        "--level",
        "none",
        "--level",
        "0",
        "--capacity",
        "20G",
    )
    asked = found["asked"]["capacity"]
    assert asked == 20 << 30 and status in (0, 3)
    compared = 0
    for choice in found["choices"]:
        for tried in choice["tried"]:
            array = words_of(choice["level"], tried["members"], 0)
            code, said, error = david(
                "sim",
                str(trace),
                "--format",
                "msr",
                "--profile",
                PLAIN,
                *array,
                "--loop",
                "open",
                "--bound",
                "40ms",
                "--json",
            )
            served = json.loads(said)["served"][-1]
            [point] = tried["points"]
            assert point["p99_us"] == served["runs"][0]["all"]["p99_us"], error
            assert point["times"] == tried["times"] == served["load"]["speed"]
            assert tried["fits"] == (point["p99_us"] <= 40e3)
            compared += 1
    assert compared >= 2


@SELDOM
def test_what_choose_did_not_print_has_no_page(tmp_path: Path) -> None:
    """Nothing, another program's, and a part of it: no traceback, and no page."""
    words = ["--iops", "20", "--p99", "1s", "--capacity", "1G", "--profile", PLAIN, "--level", "none"]
    _, found = chosen(*words)
    # What choose doubted, its page doubts.
    (tmp_path / "doubted.json").write_text(json.dumps(found | {"status": 2}))
    status, said, _ = david("report", str(tmp_path / "doubted.json"))
    assert status == 2 and "Not to be believed" in said
    assert "Not to be believed" in (tmp_path / "doubted.html").read_text()
    del found["choices"][0]["tried"][0]["capacity"]
    texts = {
        "asked no drive": json.dumps(found | {"choices": []}),
        "not all": json.dumps(found),
        "neither": json.dumps(found)[:-9],
        "neither a": json.dumps({"asked": {}, "choices": []}),
    }
    for what, text in texts.items():
        (tmp_path / "choice.json").write_text(text)
        status, said, error = david("report", str(tmp_path / "choice.json"))
        assert status == 1 and not said and what in error and "Traceback" not in error, error
    assert not (tmp_path / "choice.html").exists()


@pytest.mark.parametrize("step", [1, 10**9])
def test_bursts_of_a_coarse_clock_choose_no_drive(step: int, tmp_path: Path) -> None:
    """A trace with whole seconds asks for all requests of a second at once."""
    dice, trace = random.Random(1), tmp_path / "day.csv"
    lines = (
        f"{128166372 * 10**9 + n * 10_000_037 // step * step // 100},h,0,Read,"
        f"{dice.randrange(1 << 18) * 4096},4096,500\n"
        for n in range(400)
    )
    trace.write_text("".join(lines))
    words = ("--trace", str(trace), "--format", "msr", "--p99", "10s", "--profile", PLAIN, "--level", "none")
    status, found = chosen(*words, "--capacity", "20G")
    [choice] = found["choices"]
    doubts = [text for tried in choice["tried"] for point in tried["points"] for text in point["doubts"]]
    assert bool(doubts) is (step > 1) and status == (2 if step > 1 else 0), (status, choice)


@pytest.mark.parametrize(("count", "status"), [(1, 2), (99, 2), (100, 0)])
def test_a_trace_of_few_requests_is_no_load(count: int, status: int, tmp_path: Path) -> None:
    """p99 of one request was the bound that it is held to, and a drive fitted."""
    dice, trace = random.Random(1), tmp_path / "day.csv"
    lines = (f"{128166372 * 10**7 + n * 999_983},h,0,Read,{dice.randrange(1 << 18) * 4096},4096,500\n"
             for n in range(count))
    trace.write_text("".join(lines))
    words = ("--format", "msr", "--profile", PLAIN)
    came, found = chosen("--trace", str(trace), "--p99", "1s", "--level", "none", "--capacity", "20G", *words)
    assert (came, found["choices"][0]["verdict"] == "fits") == (status, not status), found
    came, _, error = david("sim", str(trace), "--bound", "1s", *words)
    assert (came, f"the trace has {count} reads and writes" in error) == (status, bool(status)), error
    # Without a load there is no verdict on one.
    came, _, error = david("sim", str(trace), "--loop", "closed", *words)
    assert came == 0 and "reads and writes" not in error, error


def test_grades_and_the_error_are_those_of_the_profile() -> None:
    _, found = chosen(
        "--iops",
        "20",
        "--p99",
        "300ms",
        "--capacity",
        "1T",
        "--read-share",
        "100",
        "--level",
        "none",
        "--profile",
        "toshiba-p300-3tb",
        "--profile",
        "generic-500gb-7200",
        "--profile",
        "toshiba-mg08-16tb",
    )
    sure = set()
    for choice in found["choices"]:
        value = worth.of_profile(choice["profile"])
        rate, tail = value.of("depth"), value.of("tail")
        assert (choice["grade"], choice["factor"]) == (rate.grade, rate.factor)
        assert (choice["tail_grade"], choice["tail_factor"]) == (tail.grade, tail.factor)
        assert choice["doubt"] == value.doubt
        if choice["verdict"] != "fits":
            assert choice["sure"] is None
            continue
        known = rate.factor and tail.factor
        points = choice["tried"][-1]["points"]
        good = known and any(
            one["per_s"] / rate.factor >= 20 and one["p99_us"] * tail.factor <= 300e3 for one in points
        )
        assert choice["sure"] == ("unknown" if not known else "yes" if good else "no")
        sure.add(choice["sure"])
    assert sure


def test_statuses_and_what_is_said(tmp_path: Path) -> None:
    small = ("--capacity", "1G", "--profile", PLAIN, "--read-share", "100", "--level", "none")
    status, said, _ = david(
        "choose", "--iops", "20", "--p99", "50ms", *small, "--csv", str(tmp_path / "a.csv")
    )
    assert status == 0 and "plain *" in said, "nobody vouches for a drive that is in no table"
    rows = list(csv.DictReader((tmp_path / "a.csv").open()))
    assert {row["profile"] for row in rows} == {"plain"} and rows[0]["fits"] == "1"
    status, said, _ = david("choose", "--iops", "20k", "--p99", "50ms", *small)
    assert status == 3 and "nothing that was tried fits" in said and "times what is asked" in said


def msr(path: Path, op: str) -> tuple[str, ...]:
    """Words for a trace of 9 requests at the disk's front."""
    lines = (f"{128166372 * 10**9 // 100 + n * 10**6},h,0,{op},{n * 4096},4096,500\n" for n in range(9))
    path.write_text("".join(lines))
    return (str(path), "--format", "msr", "--profile", ZONED)


ONCE = "choose", "--p99", "1s", "--capacity", "1M", "--iops", "5", "--profile", ZONED, "--level"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((*ONCE, "none"), "written in order"),
        (("sim", "WRITES"), "written in order"),
        (("bench", "QUESTION", "--list"), "written in order"),
        pytest.param((*ONCE, "1", "--read-share", "100"), "in no array", marks=SELDOM),
        pytest.param(
            ("choose", "--p99", "1s", "--level", "none", "--trace", "WRITES"),
            "written in order",
            marks=SELDOM,
        ),
        pytest.param(("sim", "READS", "--array", "1 members=2"), "in no array", marks=SELDOM),
    ],
)
def test_drives_with_zones_are_refused_in_words(words: tuple[str, ...], why: str, tmp_path: Path) -> None:
    """Nobody knows where a trace's write may go, md takes no zones, and david bench makes none."""
    question = tmp_path / "question.toml"
    question.write_text((TREE / "examples/array.toml").read_text().replace("toshiba-p300-3tb", ZONED))
    there = {
        "QUESTION": (str(question),),
        "READS": msr(tmp_path / "reads.csv", "Read"),
        "WRITES": msr(tmp_path / "writes.csv", "Write"),
    }
    status, said, error = david(*(part for word in words for part in there.get(word, (word,))))
    assert status == 1 and why in error.splitlines()[-1] and "Traceback" not in error, error
    assert "fits" not in said.replace("nothing that was tried fits", ""), said


@SELDOM
def test_reads_of_drives_with_zones_are_served() -> None:
    status, said, error = david(*ONCE, "none", "--read-share", "100", "--json")
    assert status == 0 and json.loads(said)["choices"][0]["verdict"] == "fits", (said, error)


@pytest.mark.parametrize("words", [("rebuild",), ("bench", "--job", "random")])
def test_no_array_has_drives_with_zones(words: tuple[str, ...]) -> None:
    line = [build.ensure("david-sim"), *words, "--profile", ZONED, "--array", "5 members=3 failed=0"]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 1 and "in no array" in done.stderr, done.stderr


@SELDOM
def test_what_cannot_be_asked_is_said_in_a_line() -> None:
    small = ("--capacity", "1G", "--profile", PLAIN, "--read-share", "100", "--level", "none")
    for words, why in (
        (("--p99", "5ms", "--capacity", "1G"), "one of --iops"),
        (("--p99", "5ms", "--iops", "5"), "--capacity"),
        (("--p99", "5", "--iops", "5", "--capacity", "1G"), "not a time"),
        (("--p99", "5ms", "--iops", "-5", "--capacity", "1G"), "no rate"),
        (("--p99", "5ms", "--iops", "5", "--capacity", "1G", "--read-share", "101"), "no share"),
        (("--p99", "5ms", "--iops", "5", "--capacity", "1G", "--profile", "hitachi"), "did you mean"),
        (("--p99", "5ms", "--iops", "5", *small, "--block", "1000"), "multiple of 512"),
        (("--p99", "5ms", "--iops", "5", *small, "--option", "nothing=1"), "no drive could be asked"),
    ):
        status, _, error = david("choose", *words)
        lines = error.splitlines()
        # What is to be done is said first.
        assert status == 1 and why in lines[-1] and "Traceback" not in error, error
        assert len(lines) == 1 + ("no drive could" in why), error


@SELDOM
def test_a_map_that_nobody_has_written_to_is_not_believed() -> None:
    """It answers at once."""
    status, said, _ = david(
        "choose",
        "--iops",
        "20",
        "--p99",
        "50ms",
        "--capacity",
        "100M",
        "--profile",
        FLASH,
        "--level",
        "none",
        "--option",
        "precondition=fresh",
    )
    assert status == 2 and "never been written" in said


@SELDOM
def test_every_figure_has_its_row() -> None:
    words = ["--capacity", "100G", "--read-share", "100", "--profile", PLAIN]
    demands = (("500", "90ms"), ("200", "90ms"), ("60", "2ms"))
    found = [chosen("--iops", iops, "--p99", p99, *words)[1] for iops, p99 in demands]
    rows = figuretable.rows("choose")
    paths = [path for one in found for path, value in figuretable.leaves(one) if value not in ([], {})]
    assert not [path for path in paths if not any(row.has(path) for row in rows)]
    lists = {
        "asked.traces",
        *(row.pattern for row in rows if row.pattern.endswith(".doubts")),
    }  # empty here
    degraded = {row.pattern for row in rows if ".degraded." in row.pattern}
    assert {row.pattern for row in rows if not any(row.has(path) for path in paths)} <= lists | degraded


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_who_ends_it_gets_a_line(number: int, status: int, tmp_path: Path) -> None:
    """An array of 12 SSDs takes minutes, where nothing is kept: nothing of it goes on."""
    words = ["--iops", "20k", "--p99", "1s", "--capacity", "1G", "--level", "none", "--level", "5"]
    line = [sys.executable, str(TREE / "tools/david"), "choose", *words, "--profile", "intel-540s-1tb"]
    begun = subprocess.Popen(
        line,
        text=True,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)},
    )
    assert begun.stderr
    first = begun.stderr.readline()
    time.sleep(0.5)
    begun.send_signal(number)
    said, rest = begun.communicate(timeout=60)
    assert begun.returncode == status and not said, rest
    most = re.fullmatch(r"david: choose: 2 drives in levels, at most (\d+) jobs of david-sim, .*\n", first)
    # Of both two jobs, single reads and 4 depths; 4 of a drive, of arrays of 3 to 12, and of one failed.
    assert most and int(most[1]) == 2 * 7 + 4 * (1 + 10 + 1), first
    last = "drives in levels are done; the answers are kept, and the same command goes on"
    assert re.fullmatch(rf"david: choose: stopped; [01] of 2 {last}\n", rest), rest


def test_no_drive_is_asked_more_often_than_was_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How often david-sim ran, where nothing is kept, beside the most that was said before."""
    monkeypatch.setattr(candidates, "CACHE", tmp_path)
    drive = candidates.Drive(QUICK, [], Asking())
    demand = candidates.Demand(10**9, 10**12, 1 << 30, 100)  # each depth; and no array is thought to do it
    most = candidates.most_jobs(drive, "none", 1, demand)
    assert candidates.choose(drive, "none", 1, demand).verdict == candidates.MISSES
    # told and a single read; a disk's 4 depths may each be done again.
    assert drive.room == drive.sectors and drive.asking.done.total() == 2 + len(DEPTHS)
    assert most == 3 + 8 + 8
