# SPDX-License-Identifier: GPL-2.0
"""david compile and david replay: every call as in the original, whatever the timing. No lab, no rights."""

from __future__ import annotations

import errno
import itertools
import json
import os
import random
import re
import resource
import shutil
import sqlite3
import stat
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from davidlib import build
from davidlib.bench import runs, spec, testbed
from davidlib.trace import importing, tracefile
from davidlib.workload.kinds import KINDS
from davidlib.workload.several import WorkFailed
from helpers import compiledfile, ordercases
from helpers.ordercases import EXCL, RW, STEP, Trace, at
from test_trace import EVERY_DAY, PROGRAMS, finished, record, tree_of_disk

TREE = Path(__file__).resolve().parents[2]
DAVID = TREE / "tools/david"
FULL = os.environ.get("DAVID_SCALE") == "full"
SEEDS = 100 if FULL else 4

COMPILE, REPLAY = TREE / "build/david-compile", TREE / "build/david-replay"


@pytest.fixture(scope="module", autouse=True)
def programs() -> None:
    build.ensure("david-compile")
    build.ensure("david-replay")


def call(*words: str | Path | int, status: int = 0, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [str(word) for word in words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **more)
    assert done.returncode == status, f"{command}: {done.returncode}, {done.stderr}"
    return done


def make(trace: Path, order: str = "root", *options: str | Path | int) -> Path:
    out = trace.with_suffix(f".{order}.wl")
    call(COMPILE, "--order", order, *options, trace, out)
    return out


def once(workload: Path, top: Path, *options: str | Path | int, program: Path = REPLAY, **more: Any) -> Any:
    """One replay in a new directory, which stays."""
    shutil.rmtree(top, ignore_errors=True)
    top.mkdir()
    call(REPLAY, "prepare", "--holes", workload, top)
    words = [program, "run", "--share-disk", *options, workload, top]
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=300, **more
    )
    assert done.returncode in (0, 2), done.stderr
    return json.loads(done.stdout)


def differs(workload: Path, top: Path, seeds: int) -> int:
    """In how many of so many shuffles a call has another result than in the original."""
    runs = [once(workload, top, "--timing", "afap", "--shuffle", seed) for seed in range(1, seeds + 1)]
    return sum(run["same"] != run["compared"] for run in runs)


def test_every_call_is_as_in_the_original_and_without_order_it_is_not(tmp_path: Path) -> None:
    assert len(ordercases.CASES) >= 30
    bad, fails = {}, 0
    for name, trace in ordercases.traces(tmp_path):
        if wrong := differs(make(trace, "root"), tmp_path / "target", SEEDS):
            bad[name] = wrong
        fails += differs(make(trace, "none"), tmp_path / "target", max(SEEDS // 10, 4)) > 0
    assert not bad
    assert fails >= len(ordercases.CASES) / 2


SELDOM = [pytest.param(order, marks=pytest.mark.seldom) for order in ("temporal", "single")]


@pytest.mark.parametrize("order", ["minimal", *SELDOM])
def test_other_orders_keep_the_results_too(order: str, tmp_path: Path) -> None:
    for name, trace in ordercases.traces(tmp_path):
        # By entry, its last close is the first.
        if (name, order) != ("another_reads_and_closes_while_the_last_closes", "temporal"):
            assert not differs(make(trace, order), tmp_path / "target", max(SEEDS // 10, 2)), name


def edges(trace: Path, order: str) -> set[tuple[int, int]]:
    """Which call waits for which, as `--dot` has it."""
    dot = trace.with_suffix(".dot")
    make(trace, order, "--dot", dot)
    return {(int(one), int(other)) for one, other in re.findall(r"e(\d+) -> e(\d+)", dot.read_text())}


def test_who_joins_a_thread_waits_for_all_that_it_did(tmp_path: Path) -> None:
    """No call says so; and a wake may return after the wait. Each would be a time of the thread's own."""
    trace = Trace()
    ordercases.joined(trace)
    trace.finish(tmp_path / "t.db")
    assert (1, 2) in edges(tmp_path / "t.db", "causal")
    late = Trace()
    ordercases.woken_by_a_call_that_returns_later(late)
    late.finish(tmp_path / "l.db")
    assert (1, 2) in edges(tmp_path / "l.db", "causal")
    warns = "record with --sync"
    assert warns not in call(COMPILE, tmp_path / "t.db", tmp_path / "t.wl").stderr
    without = Trace()
    ordercases.create_open(without)
    without.finish(tmp_path / "w.db")
    assert warns in call(COMPILE, tmp_path / "w.db", tmp_path / "w.wl").stderr


def test_who_has_waited_for_a_process_comes_after_its_end(tmp_path: Path) -> None:
    """Whoever it has named, by a number, by a descriptor, or not at all: the end stands in front of it."""
    cases = ("waited_for_by_waitid_before_its_end_was_seen", "waited_for_by_waitid_that_names_nobody")
    for name, waits in zip(cases, ({2}, {2, 5}), strict=True):
        trace = Trace()
        getattr(ordercases, name)(trace)
        trace.finish(tmp_path / f"{name}.db")
        assert {(event, event) for event in waits} <= edges(tmp_path / f"{name}.db", "causal")


WAIT, WAKE = 137, 129  # FUTEX_WAIT_BITSET, FUTEX_WAKE; of one process


def waits(trace: Trace, ended: bool) -> None:
    """The disk takes 0.28 s. A thread's waits of 0.1 s time out twice, then it makes a directory."""
    trace.thread(2)
    for i in range(2):
        trace.call(at(2, 1 + 1000 * i, 1000 + 1000 * i), "futex", -110, 4096, WAIT, 0)
    trace.name(at(2, 2001, 2002), "mkdir", 0, "n", ino=8, mode=ordercases.DIR)
    trace.name(at(1, 1, 2800), "access", -2, "x")
    if ended:
        trace.call(at(1, 2801, 2802), "futex", 1, 4096, WAKE, 1)
        trace.call(at(2, 2003, 2802.5), "futex", 0, 4096, WAIT, 0)
    trace.name(at(1, 2803, 2804), "access", -2, "x")


def test_a_wait_that_timed_out_is_ended_by_who_would_have_ended_it(tmp_path: Path) -> None:
    """On a disk that takes no time the thread is woken before its first wait times out."""
    trace = Trace()
    waits(trace, ended=True)
    trace.finish(tmp_path / "t.db")
    workload = make(tmp_path / "t.db")
    threads = compiledfile.load(workload)
    waker = next(number for number, one in enumerate(threads[0], 1) if one["event"] == 5)
    timed = [one["args"] for one in threads[1] if one["op"] == "WAIT"]
    assert timed == [[0, waker]] * 2
    runs = (once(workload, tmp_path / "target", "--log", tmp_path / "log") for _ in range(5))
    assert any(run["elapsed"] < 50_000_000 and run["same"] == run["compared"] == 3 for run in runs)


def test_a_wait_that_timed_out_and_that_nobody_ends_lasts_as_long(tmp_path: Path) -> None:
    trace = Trace()
    waits(trace, ended=False)
    trace.finish(tmp_path / "t.db")
    run = once(make(tmp_path / "t.db"), tmp_path / "target")
    assert 199_000_000 <= run["elapsed"] and run["same"] == run["compared"] == 3


def test_a_wait_under_way_at_the_end_takes_no_time(tmp_path: Path) -> None:
    """The process ended meanwhile: how long that took is not the wait's."""
    trace = Trace()
    trace.thread(2)
    trace.name(at(1, 1, 10), "access", -2, "x")
    trace.name(at(1, 2999, 3000), "access", -2, "x")
    trace.call(at(2, 1, 3000), "futex", 0, 4096, WAIT, 0, flags=tracefile.NO_EXIT)
    trace.finish(tmp_path / "t.db")
    waiting = compiledfile.load(make(tmp_path / "t.db"))[1]
    assert sum(one["gap"] for one in waiting) < 10 * ordercases.STEP


def test_calls_that_overlapped_stay_parallel(tmp_path: Path) -> None:
    trace = Trace()
    one, other = ordercases.overlapping(trace)
    trace.finish(tmp_path / "t.db")
    for order in ("root", "temporal", "minimal"):
        found = edges(tmp_path / "t.db", order)
        assert found and (one, other) not in found and (other, one) not in found
    # Each takes a tenth of a second, and they do so at the same time. Other work may keep a thread away.
    workload = make(tmp_path / "t.db")
    options = ("--timing", "afap", "--add-delay", 100_000_000, "--log", tmp_path / "log")
    assert any(once(workload, tmp_path / "target", *options)["overlap"] > 0.05 for _ in range(5))


def test_who_waits_is_woken_by_the_call_it_waits_for(tmp_path: Path) -> None:
    """Not by each of the calls before it, to look and to sleep again: that made a replay twice as slow."""
    trace, calls = Trace(), 20_000
    trace.thread(2)
    for i in range(calls):
        trace.name(at(1, 1 + i, 1.5 + i), "access", -2, "x")
    trace.name(at(1, 1 + calls, 1.5 + calls), "mkdir", 0, "n", ino=8, mode=ordercases.DIR)
    trace.name(at(2, 2 + calls, 3 + calls), "rmdir", 0, "n", ino=8, mode=ordercases.DIR)
    trace.finish(tmp_path / "t.db")
    workload = make(tmp_path / "t.db")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
    run = once(workload, tmp_path / "target", "--timing", "afap")
    assert run["same"] == run["compared"] == calls + 2
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw - before < calls / 40


def test_at_full_speed_nobody_waits_for_what_is_done_and_time_with_none_is_said(tmp_path: Path) -> None:
    """Two threads take turns. The log says how long each call came after the one that it had waited for, and
    so how long none was under way.
    """
    trace, turns = Trace(), 200
    trace.thread(2)
    for i in range(turns):
        trace.name(at(1, 4 * i, 4 * i + 1), "mkdir", 0, "n", ino=8 + i, mode=ordercases.DIR)
        trace.name(at(2, 4 * i + 2, 4 * i + 3), "rmdir", 0, "n", ino=8 + i, mode=ordercases.DIR)
    trace.finish(tmp_path / "t.db")
    run = once(make(tmp_path / "t.db"), tmp_path / "target", "--timing", "afap", "--log", tmp_path / "log")
    assert run["same"] == run["compared"] == 2 * turns
    log = sorted(entry[1:3] for entry in struct.iter_unpack("<QQQq", (tmp_path / "log").read_bytes()))
    assert len(log) == 2 * turns
    idle = [begin - end for (_, end), (begin, _) in itertools.pairwise(log)]
    assert min(idle) >= 0  # one after the other
    assert sorted(idle)[turns] < 5_000_000
    assert 0 < run["idle-times"] <= 2 * turns
    assert run["idle-times"] < run["idle"] <= sum(idle)


def reads_and_writes(seed: int, trace: Trace) -> list[tuple[int, float, float, int, str]]:
    """A random trace of calls about two files by three threads: (thread, start, end, file, call)."""
    rng = random.Random(seed)
    made, now = [], {2: 3.0, 3: 3.0, 4: 3.0}
    for tid in now:
        trace.thread(tid)
    for fd in (3, 4):
        trace.open(at(2, fd - 3, fd - 2.5), fd, f"old{fd}", RW, ino=fd + 10, size=4096)
    for _ in range(rng.randrange(6, 25)):
        tid = rng.choice([2, 3, 4])
        start = now[tid] + rng.choice([0, 0.5, 1, 3])
        now[tid] = end = start + rng.choice([0.25, 1, 4])
        made.append((tid, start, end, rng.choice([3, 4]), rng.choice(["pread64", "pwrite64", "fstat"])))
    made.sort(key=lambda one: one[2])
    for tid, start, end, fd, name in made:
        trace.io(at(tid, start, end), name, fd, 10, result=0 if name == "fstat" else None)
    return made


def matters(order: str, *names: str) -> bool:
    """Do two calls about one file keep their order? Two reads of its contents never need to."""
    if order == "temporal":
        return True
    return set(names) != {"pread64"} if order == "root" else "pwrite64" in names


def closure(pairs: set[tuple[int, int]], nodes: list[int]) -> set[tuple[int, int]]:
    after: dict[int, set[int]] = {node: set() for node in nodes}
    for node in reversed(nodes):  # calls are numbered in the order in which they returned
        for one, other in pairs:
            if one == node:
                after[node] |= {other} | after[other]
    return {(one, other) for one in nodes for other in after[one]}


@pytest.mark.parametrize("order", ["root", "temporal", "minimal"])
def test_no_edge_is_missing_and_none_is_too_many(order: str, tmp_path: Path) -> None:
    """Beside a second model, in Python: the same calls are ordered, and each edge is needed for that."""
    for seed in range(1000 if FULL else 20):
        trace, database = Trace(), tmp_path / f"{seed}.db"
        calls = dict(enumerate(reads_and_writes(seed, trace), 3))
        trace.finish(database)
        nodes = list(calls)
        threads = {
            (one, other)
            for one in nodes
            for other in nodes
            if one < other and calls[one][0] == calls[other][0]
        }
        needed = {
            (one, other)
            for one in nodes
            for other in nodes
            if calls[one][2] <= calls[other][1]
            and calls[one][0] != calls[other][0]
            and (order == "temporal" or calls[one][3] == calls[other][3])
            and matters(order, calls[one][4], calls[other][4])
        }
        kept = {pair for pair in edges(database, order) if set(pair) <= set(nodes)}
        wanted = closure(threads | needed, nodes)
        assert closure(threads | kept, nodes) == wanted, seed
        for edge in kept:
            assert closure(threads | kept - {edge}, nodes) != wanted, (seed, edge)
        database.unlink()


def test_explain_names_rule_and_resource(tmp_path: Path) -> None:
    trace = Trace()
    ordercases.create_open(trace)
    trace.finish(tmp_path / "t.db")
    said = call(COMPILE, "--explain", 2, tmp_path / "t.db", tmp_path / "t.wl").stdout
    assert "call 2 waits for call 1: " in said and re.search(r"file_seq|path_stage", said)


def test_the_initial_tree_has_what_failed_calls_and_late_links_say(tmp_path: Path) -> None:
    """Who was not found is in a directory; what is none is a file. A link is read after names behind it."""
    trace = Trace()
    trace.name(at(1, 1, 2), "readlink", -22, "/a")
    trace.name(at(1, 3, 4), "stat", -2, "/a/x")
    trace.name(at(1, 5, 6), "stat", -2, "/b/x")
    trace.name(at(1, 7, 8), "mkdir", -17, "/b")
    trace.name(at(1, 9, 10), "stat", -20, "/c/x")
    trace.open(at(1, 11, 12), -20, "/d", ordercases.DIRECTORY)
    trace.name(at(1, 13, 14), "stat", 0, "/l/m/n", ino=9, size=300)
    trace.open(at(1, 15, 16), 3, "/l/new", EXCL, ino=10)
    says = [(tracefile.TARGET, b"u/far")]
    trace.call(at(1, 17, 18), "readlink", 5, 0, 0, 99, paths=("/l",), blobs=says)
    trace.name(at(1, 19, 20), "stat", 0, "/u/far/m/n", ino=9, size=300)
    trace.name(at(1, 21, 22), "stat", 0, "/l/new", ino=10)
    trace.finish(tmp_path / "t.db")
    workload, top = make(tmp_path / "t.db"), tmp_path / "target"
    run = once(workload, top)
    assert (run["same"], run["compared"]) == (11, 11), run["differences"]
    assert (top / "a").is_dir() and (top / "b").is_dir()
    assert (top / "c").is_file() and (top / "d").is_file()
    assert os.readlink(top / "l") == "u/far" and (top / "u/far/m/n").stat().st_size == 300
    assert sorted(path.name for path in (top / "u/far").iterdir()) == ["m", "new"]


def test_what_somebody_else_has_made_or_removed_is_so_in_the_replay_from_then_on(tmp_path: Path) -> None:
    """A name was not there, and then is, by no call of the trace. What is below it was not there, either."""
    trace = Trace()
    trace.name(at(1, 1, 2), "stat", -2, "/d/f")
    trace.open(at(1, 3, 4), 3, "/d/f", RW, ino=9, size=500)
    trace.io(at(1, 5, 6), "read", 3, 1000, result=500)
    trace.name(at(1, 7, 8), "stat", -2, "/e")
    trace.name(at(1, 9, 10), "stat", 0, "/e/g", ino=12)
    trace.name(at(1, 11, 12), "unlink", 0, "/d/f", ino=9)
    trace.open(at(1, 13, 14), 4, "/d/f", EXCL | RW, ino=20)
    trace.name(at(1, 15, 16), "stat", -2, "/d/f")
    trace.call(at(1, 17, 18), "mkdir", 0, 0, 0o755, paths=("/d/f",), ino=21, mode=ordercases.DIR)
    trace.finish(tmp_path / "t.db")
    said = call(COMPILE, "--stats", tmp_path / "t.db", tmp_path / "t.wl")
    assert "by-others 4\n" in said.stdout and "4 names were made or removed by somebody" in said.stderr
    run = once(tmp_path / "t.wl", tmp_path / "target")
    assert (run["same"], run["compared"]) == (9, 9), run["differences"]
    assert (tmp_path / "target/d/f").is_dir() and (tmp_path / "target/e/g").is_file()


def test_a_link_that_was_only_looked_at_is_one_and_is_not_made_by_others(tmp_path: Path) -> None:
    """What it leads to was not there: that is not said of the link. Nobody knows what it says."""
    trace = Trace()
    for start in (1, 5):
        trace.name(at(1, start, start + 1), "lstat", 0, "/l", ino=30, mode=ordercases.LINK, size=7)
        trace.name(at(1, start + 2, start + 3), "stat", -2, "/l")
    trace.finish(tmp_path / "t.db")
    assert "by-others 0\n" in call(COMPILE, "--stats", tmp_path / "t.db", tmp_path / "t.wl").stdout
    run = once(tmp_path / "t.wl", tmp_path / "target")
    assert (run["same"], run["compared"]) == (4, 4), run["differences"]
    assert len(os.readlink(tmp_path / "target/l")) == 7


def test_a_call_that_a_signal_came_before_is_not_made(tmp_path: Path) -> None:
    """The kernel has it made again, which the trace has as another call; or the program does so."""
    trace = Trace()
    trace.open(at(1, 1, 2), 3, "f", EXCL | RW, ino=9)
    trace.io(at(1, 3, 4), "write", 3, 100)
    trace.open(at(1, 5, 6), 4, "g", EXCL | RW, ino=10)
    for time, result in ((7, -512), (9, -4), (11, 100)):
        offsets = struct.pack("<QQ", 0, (1 << 64) - 1)
        blobs = [(tracefile.OFFSETS, offsets)]
        trace.call(at(1, time, time + 1), "copy_file_range", result, 3, 1, 4, 0, 100, 0, blobs=blobs)
    trace.io(at(1, 13, 14), "write", 4, 7, result=-11)
    trace.finish(tmp_path / "t.db")
    run = once(make(tmp_path / "t.db"), tmp_path / "target")
    assert (run["same"], run["compared"]) == (4, 4), run["differences"]
    assert (tmp_path / "target/w/g").stat().st_size == 100


def test_of_a_long_list_of_what_was_there_the_first_and_the_last_call_are_compared(tmp_path: Path) -> None:
    """Of one that the trace has made all of them are: it has the names that it had."""
    for there, wanted in ((True, (4, 4)), (False, (5, 6))):
        trace = Trace()
        if not there:
            trace.name(at(1, 0.2, 0.5), "mkdir", 0, "/d", ino=9, mode=ordercases.DIR)
        trace.open(at(1, 1, 2), 3, "/d", ordercases.DIRECTORY, ino=9, mode=ordercases.DIR)
        for time, result in enumerate((32736, 3240, 0), 3):
            trace.call(at(1, time, time + 0.5), "getdents64", result, 3, 0, 32768)
        trace.call(at(1, 7, 8), "close", 0, 3)
        database = tmp_path / f"{there}.db"
        trace.finish(database)
        run = once(make(database), tmp_path / "target")
        assert (run["same"], run["compared"]) == wanted, (there, run["differences"])


def test_who_reads_an_eventfd_waits_for_who_adds_to_it(tmp_path: Path) -> None:
    """Not for one that found the counter full, nor a read that found nothing."""
    trace = Trace()
    trace.call(at(1, 0.2, 0.5), "eventfd2", 5, 0, 0)
    trace.thread(2)
    trace.io(at(1, 1, 2), "read", 5, 8, result=-11)
    trace.io(at(2, 3, 4), "write", 5, 8)
    trace.io(at(2, 4.2, 4.5), "write", 5, 8, result=-11)
    trace.io(at(1, 3.5, 5), "read", 5, 8)
    trace.finish(tmp_path / "t.db")
    assert {pair for pair in edges(tmp_path / "t.db", "causal") if pair[0] > 1} == {(3, 5)}


def test_a_file_without_a_name_that_was_inherited_is_there(tmp_path: Path) -> None:
    """As large as it was, where it stood; no name of it is left."""
    work = tmp_path / "work"
    work.mkdir()
    with (work / "gone").open("w+b", buffering=0) as gone:
        gone.write(bytes(500))
        gone.seek(300)
        (work / "gone").unlink()
        words = ["trace", "record", "-o", tmp_path / "t.db", "--share-disk", "--"]
        shell = "cd {0}; head -c 50 <&{1} >part; cat <&{1} >rest; echo x >&{1}"
        shell = shell.format(work, gone.fileno())
        call(DAVID, *words, "bash", "-c", shell, pass_fds=[gone.fileno()])
    run = once(make(tmp_path / "t.db"), tmp_path / "target")
    assert run["same"] == run["compared"] > 100, run["differences"]
    again = tmp_path / "target" / work.relative_to("/")
    assert {path.name: path.stat().st_size for path in again.iterdir()} == {
        path.name: path.stat().st_size for path in work.iterdir()
    }


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A replayer that leaves out the waits of one record."""
    out = tmp_path_factory.mktemp("planted") / "planted"
    sources = sorted((TREE / "tools/replay").glob("*.c"))
    sources += sorted((TREE / "tools/calls").glob("workload*.c"))
    sources += sorted((TREE / "tools/common").glob("*.c"))
    flags = ["-O1", "-std=gnu11", "-D_GNU_SOURCE", "-DREPLAY_PLANT", "-pthread"]
    call("cc", *flags, "-o", out, *sources)
    return out


def test_a_replayer_that_forgets_one_wait_is_caught(planted: Path, tmp_path: Path) -> None:
    """By the log, in whatever case the wait is; the right one never is."""
    caught = total = 0
    for name, trace in ordercases.traces(tmp_path):
        last = max((other for _, other in edges(trace, "root")), default=0)
        if not last:
            continue
        total += 1
        workload, options = make(trace), ("--timing", "afap", "--log", tmp_path / "log")
        for seed in range(1, 9):
            shuffled = (*options, "--shuffle", seed)
            assert not once(workload, tmp_path / "target", *shuffled)["order-violations"], name
            env = dict(os.environ, REPLAY_PLANT=str(last))
            found = once(workload, tmp_path / "target", *shuffled, program=planted, env=env)
            if found["order-violations"]:
                assert found["first-violation"] == last
                call(REPLAY, "judge", workload, tmp_path / "log", status=2)
                caught += 1
                break
    assert total >= 25 and caught >= total * 0.8


def families(trace: Trace) -> list[dict[int, set[str]]]:
    """Processes 1, 20, 30, and 40, which begins when 20 is gone; 20 and 40 have two threads."""
    made: dict[int, set[str]] = {}
    trace.open(at(1, 0.2, 0.4), 3, "inherited", EXCL | RW, ino=99)
    plan = [(20, 1, 0), (21, 20, ordercases.THREAD), (30, 1, 0), (40, 1, 0), (41, 40, ordercases.THREAD)]
    for n, (tid, parent, flags) in enumerate(plan):
        start = 20.0 if tid >= 40 else 1.0 + n
        if tid == 40:
            for gone in (21, 20):
                trace.exit(gone, 18)
        trace.thread(tid, flags=flags, parent=parent, when=start)
        made[tid] = {f"d{tid}-{i}" for i in range(3)}
        for i, name in enumerate(sorted(made[tid])):
            times = start + 1 + 0.1 * i
            trace.name(at(tid, times, times + 0.05), "mkdir", 0, name, ino=tid * 10 + i, mode=ordercases.DIR)
        trace.io(at(tid, start + 2, start + 2.1), "pwrite64", 3, 100, 100 * n)
    return [made[20] | made[21] | made[40] | made[41], made[30]]


def made_by(replayer: Path, workload: Path, tmp_path: Path, **more: Any) -> tuple[set[frozenset[str]], Any]:
    """The names that each process of a replay has made, as a trace of the replay tells it."""
    dtr, database, top = tmp_path / "again.dtr", tmp_path / "again.db", tmp_path / "target"
    for path in (dtr, database):
        path.unlink(missing_ok=True)
    shutil.rmtree(top, ignore_errors=True)
    top.mkdir()
    call(REPLAY, "prepare", "--holes", workload, top)
    words = [replayer, "run", "--processes", "--share-disk", "--log", tmp_path / "log", workload, top]
    said = call(build.ensure("david-trace"), "record", "--share-disk", "--out", dtr, "--", *words, **more)
    call(build.ensure("david-trace"), "finish", dtr, database)
    rows = sqlite3.connect(database).execute(
        "SELECT process, path FROM call WHERE name = 'mkdirat' AND result = 0 AND path GLOB 'd*'"
    )
    found: dict[int, set[str]] = {}
    for process, name in rows:
        found.setdefault(process, set()).add(name)
    return {frozenset(names) for names in found.values()}, json.loads(said.stdout)


def test_the_original_s_processes_are_processes(planted: Path, tmp_path: Path) -> None:
    """A descriptor that they inherited is theirs; 40 takes the process of 20. A planted bug is found."""
    trace = Trace()
    wanted = {frozenset(names) for names in families(trace)}
    trace.finish(tmp_path / "t.db")
    workload = make(tmp_path / "t.db")
    found, run = made_by(REPLAY, workload, tmp_path)
    assert found == wanted
    assert run["same"] == run["compared"] == run["made"] == 1 + 5 * 4 and not run["order-violations"]
    assert run["calls"]["MKDIR"]["replay"]["n"] == 15 and run["bytes-written"] == 500
    assert (tmp_path / "target/w/inherited").stat().st_size == 500
    env = dict(os.environ, REPLAY_PLANT_PROCESS="1")
    assert made_by(planted, workload, tmp_path, env=env)[0] != wanted
    # By threads alone it is the same otherwise.
    threads = once(workload, tmp_path / "target")
    assert all(threads[key] == run[key] for key in ("same", "made", "bytes-written"))


def test_processes_keep_the_order_too(tmp_path: Path) -> None:
    for name, trace in ordercases.traces(tmp_path):
        for seed in range(1, max(SEEDS // 10, 2) + 1):
            options = ("--timing", "afap", "--shuffle", seed, "--processes", "--log", tmp_path / "log")
            run = once(make(trace), tmp_path / "target", *options)
            assert run["same"] == run["compared"] and not run["order-violations"], (name, seed)


def test_a_killed_process_ends_the_replay(tmp_path: Path) -> None:
    trace = Trace()
    families(trace)
    trace.thread(50, flags=0, when=30)
    trace.call(at(50, 600_000, 600_001), "access", -2, 0, 0, paths=("x",))
    trace.finish(tmp_path / "t.db")
    workload, top = make(tmp_path / "t.db"), tmp_path / "target"
    top.mkdir()
    call(REPLAY, "prepare", workload, top)
    words = [str(word) for word in (REPLAY, "run", "--processes", "--share-disk", workload, top)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
        while len(pids := children.read_text().split()) < 2:
            assert running.poll() is None
        os.kill(int(pids[-1]), 9)
        assert "was killed" in running.communicate(timeout=60)[1]
    assert running.returncode == 1


def test_threads_that_did_not_live_together_share_one(tmp_path: Path) -> None:
    trace = Trace()
    for i in range(200):
        if i >= 3:  # the one three before is gone
            trace.exit(10 + i - 3, 10 * i - 2)
        trace.thread(10 + i, flags=0, when=10 * i)
        trace.call(at(10 + i, 10 * i + 1, 10 * i + 5), "access", -2, 0, 0, paths=("x",))
    trace.finish(tmp_path / "t.db")
    printed = call(COMPILE, "--stats", tmp_path / "t.db", tmp_path / "t.wl").stdout
    said = dict(line.split() for line in printed.splitlines())
    assert int(said["op.ACCESS"]) == 200 and int(said["threads"]) == 1 + 3


def test_a_part_is_prepared_for_and_the_rest_is_left_out(tmp_path: Path) -> None:
    trace = Trace()
    trace.open(at(1, 1, 2), 3, "f", EXCL | RW, ino=9)
    trace.io(at(1, 2, 3), "write", 3, 100)
    trace.call(at(1, 3, 4), "lseek", 0, 3, 0, 0)
    trace.io(at(1, 4, 5), "read", 3, 60)
    trace.io(at(1, 10, 11), "read", 3, 100, result=40)
    trace.name(at(1, 20, 21), "unlink", 0, "f", ino=9)
    trace.finish(tmp_path / "t.db")
    step = ordercases.STEP
    # Times are from the first record on, which is a step into the trace.
    workload = make(tmp_path / "t.db", "root", "--from", 9 * step, "--to", 19 * step)
    run = once(workload, tmp_path / "target")
    assert (run["made"], run["same"], run["compared"]) == (1, 5 - 1, 5 - 1)
    assert (tmp_path / "target/w/f").stat().st_size == 100
    assert run["elapsed"] < 60_000_000_000


def test_what_the_original_had_no_right_to_do_is_not_tried(tmp_path: Path) -> None:
    trace = Trace()
    trace.open(at(1, 1, 2), -13, "f", EXCL | RW)
    trace.name(at(1, 2, 3), "mkdir", -1, "n", mode=ordercases.DIR)
    trace.name(at(1, 3, 4), "stat", -2, "g")
    trace.finish(tmp_path / "t.db")
    said = call(COMPILE, "--stats", tmp_path / "t.db", tmp_path / "t.wl").stdout
    assert "without-rights 2\n" in said
    run = once(tmp_path / "t.wl", tmp_path / "target")
    assert run["same"] == run["made"] == 1 and not list((tmp_path / "target").rglob("[fn]"))


REFUSING = "EROFS ENOSPC EDQUOT EFBIG EMFILE ENFILE ENOMEM EIO EXDEV EBUSY ETXTBSY EMLINK EOPNOTSUPP".split()


@pytest.mark.parametrize("name", REFUSING)
def test_what_the_original_s_surroundings_refused_is_not_tried(name: str, tmp_path: Path) -> None:
    error = -getattr(errno, name)
    trace = Trace()
    trace.open(at(1, 1, 2), 3, "f", EXCL | RW, ino=9)
    trace.io(at(1, 2, 3), "write", 3, 100)
    trace.call(at(1, 3, 4), "fallocate", error, 3, 0, 0, 5000)
    trace.name(at(1, 4, 5), "mkdir", error, "n", mode=ordercases.DIR)
    trace.name(at(1, 5, 6), "rename", error, "f", "n")
    trace.name(at(1, 6, 7), "unlink", error, "f")
    trace.name(at(1, 7, 8), "mkdir", -errno.ENOENT, "g/h", mode=ordercases.DIR)
    trace.finish(tmp_path / "t.db")
    said = call(COMPILE, "--stats", tmp_path / "t.db", tmp_path / "t.wl").stdout
    assert "without-rights 4\n" in said
    run = once(tmp_path / "t.wl", tmp_path / "target")
    assert run["same"] == run["made"] == 3
    found = {path.name: path.stat().st_size for path in (tmp_path / "target").rglob("[fgn]")}
    assert found == {"f": 100}


def test_what_was_not_executed_was_there_and_so_was_the_directory_of_a_name_too_long(tmp_path: Path) -> None:
    trace = Trace()
    trace.name(at(1, 1, 2), "execve", -errno.E2BIG, "long", ino=8)
    trace.name(at(1, 2, 3), "execve", -errno.ENOEXEC, "text", ino=9)
    trace.name(at(1, 3, 4), "stat", -errno.ENAMETOOLONG, f"a/b/{'x' * 300}")
    trace.name(at(1, 4, 5), "stat", -errno.ENAMETOOLONG, f"c/{'x' * 256}/../b")
    trace.finish(tmp_path / "t.db")
    run = once(make(tmp_path / "t.db"), tmp_path / "target")
    assert (run["made"], run["same"], run["compared"]) == (4, 2, 2), run["differences"]
    assert {path.name for path in (tmp_path / "target/w").rglob("*") if path.is_dir()} == {"a", "b", "c"}


def test_a_read_that_is_under_way_at_the_end_waits_for_nobody(tmp_path: Path) -> None:
    trace = Trace()
    trace.call(at(1, 1, 2), "pipe", 0, 0, blobs=ordercases.ends(3, 4))
    trace.thread(2)
    trace.io(at(1, 8, 9), "write", 4, 21)
    trace.io(at(2, 3, 10), "read", 3, 21)
    trace.finish(tmp_path / "t.db")
    for to, made in ((5 * STEP, 1), (20 * STEP, 3)):
        said = call(COMPILE, "--stats", "--to", to, tmp_path / "t.db", tmp_path / "t.wl").stdout
        assert "starved 0\n" in said
        run = once(tmp_path / "t.wl", tmp_path / "target", "--timing", "afap")
        assert (run["stalls"], run["made"], run["same"]) == (0, made, made)


def test_a_name_that_is_not_opened_takes_no_end_of_a_pipe(tmp_path: Path) -> None:
    """Its second end is where the first file was; a failed open has no place, and nothing is lost by it."""
    trace = Trace()
    trace.open(at(1, 1, 2), 3, "f", EXCL | RW)
    trace.open(at(1, 2, 3), 4, "g", EXCL | RW, ino=20)
    trace.call(at(1, 3, 4), "close", 0, 3)
    trace.call(at(1, 4, 5), "close", 0, 4)
    trace.call(at(1, 5, 6), "pipe", 0, 0, blobs=ordercases.ends(3, 4))
    trace.open(at(1, 6, 7), -2, "none", 0)
    trace.io(at(1, 7, 8), "write", 4, 21)
    trace.io(at(1, 8, 9), "read", 3, 21)
    trace.finish(tmp_path / "t.db")
    said = call(COMPILE, "--stats", tmp_path / "t.db", tmp_path / "t.wl").stdout
    assert "starved 0\n" in said


def test_a_read_of_a_pipe_that_nobody_writes_to_is_named_at_once(tmp_path: Path) -> None:
    """By the compiler; the replay does not stand still for it, and says what was waited for."""
    trace = Trace()
    trace.call(at(1, 1, 2), "pipe", 0, 0, blobs=ordercases.ends(3, 4))
    trace.thread(2)
    trace.io(at(2, 3, 4), "read", 3, 21)
    trace.name(at(1, 5, 6), "stat", 0, "f", ino=9)
    trace.finish(tmp_path / "t.db")
    said = call(DAVID, "compile", tmp_path / "t.db", "-o", tmp_path / "t.wl", status=2).stderr
    assert "1 reads of pipes wait for what nobody writes; the first is record 2, of 21 bytes" in said
    run = once(tmp_path / "t.wl", tmp_path / "target", "--timing", "afap")
    assert run["stalls"] == 1 and run["stalled"][0]["record"] == 2
    assert [one["got"] for one in run["differences"]] == [-110]
    shutil.rmtree(tmp_path / "target")
    (tmp_path / "target").mkdir()
    said = call(DAVID, "replay", "--share-disk", tmp_path / "t.wl", tmp_path / "target", status=2).stderr
    assert "record 2: DRAIN waits for what nobody writes to a pipe, or its end" in said


def test_who_keeps_a_token_does_not_read_before_who_passes_it_on(tmp_path: Path) -> None:
    """Several read one pipe. Who was last in the original ends with what it has read; were it first, the
    others would wait for ever.
    """
    trace = Trace()
    trace.call(at(1, 1, 2), "pipe", 0, 0, blobs=ordercases.ends(3, 4))
    for thread in (2, 3, 4):
        trace.thread(thread)
    trace.io(at(1, 5, 6), "write", 4, 8)
    for turn, thread in enumerate((2, 3, 2, 3)):
        trace.io(at(thread, 7, 8 + 2 * turn), "read", 3, 8)
        trace.io(at(thread, 8 + 2 * turn, 9 + 2 * turn), "write", 4, 8)
    trace.io(at(4, 7, 20), "read", 3, 8)
    trace.finish(tmp_path / "t.db")
    workload = make(tmp_path / "t.db")
    for seed in range(6):
        run = once(workload, tmp_path / "target", "--timing", "afap", "--shuffle", seed)
        assert (run["stalls"], run["same"]) == (0, 11), (seed, run["stalled"])


def test_what_is_read_of_a_fifo_comes_after_who_opens_it_to_write(tmp_path: Path) -> None:
    """A reader that does not wait for the other side is there first; before that the read is an end."""
    trace = Trace()
    fifo = ordercases.FIFO
    trace.call(at(1, 1, 2), "mknod", 0, 0, fifo, 0, paths=("q",), ino=20, mode=fifo)
    trace.thread(2, flags=0)
    trace.open(at(2, 3, 4), 3, "q", os.O_NONBLOCK, ino=20, mode=fifo)
    for n in range(1000):  # the writer has something else to do first
        trace.name(at(1, 4 + n / 1000, 4 + (n + 0.5) / 1000), "stat", -2, f"none-{n}")
    trace.open(at(1, 5, 6), 3, "q", os.O_WRONLY, ino=20, mode=fifo)
    trace.io(at(1, 7, 8), "write", 3, 8)
    trace.io(at(2, 6.5, 9), "read", 3, 8)
    trace.finish(tmp_path / "t.db")
    run = once(make(tmp_path / "t.db"), tmp_path / "target", "--timing", "afap")
    assert run["same"] == run["made"] == 1005, run["differences"]


def test_a_descriptor_that_is_not_followed_is_no_file_without_a_disk(tmp_path: Path) -> None:
    trace = Trace()
    trace.open(at(1, 1, 2), 0xFFFF, "f", EXCL | RW, ino=9)
    trace.io(at(1, 2, 3), "write", 0xFFFF, 100)
    trace.open(at(1, 3, 4), 0x10000, "g", EXCL | RW, ino=20)
    trace.io(at(1, 4, 5), "write", 0x10000, 100)
    trace.call(at(1, 5, 6), "fsync", 0, 0x10000)
    trace.call(at(1, 6, 7), "close", 0, 0x10000)
    trace.finish(tmp_path / "t.db")
    workload = make(tmp_path / "t.db")
    assert compiledfile.trace_calls(workload)[1]["not-replayed"] == 3
    assert once(workload, tmp_path / "target")["made"] == 3


def test_names_on_mounts_of_the_program_s_own_are_counted(tmp_path: Path) -> None:
    """Nobody knows what they lead to: the tree has none of them, and others' names stay what they are."""
    trace = Trace()
    trace.thread(2, flags=0)
    trace.call(at(2, 1, 2), "setns", 0, 3, 0x20000)  # CLONE_NEWNS
    trace.name(at(2, 2, 3), "unlink", 0, "/f", ino=8)
    trace.open(at(2, 3, 4), 3, "/g", EXCL | RW, ino=20)
    trace.io(at(2, 4, 5), "write", 3, 10)
    trace.call(at(2, 5, 6), "close", 0, 3)
    trace.call(at(1, 1, 7), "mount", 0, 0, 0, 0, 0, 0, paths=("none", "m"))
    trace.name(at(1, 8, 9), "stat", 0, "m/h", ino=21)
    trace.name(at(1, 10, 11), "stat", 0, "/f", ino=8)
    trace.finish(tmp_path / "t.db")
    workload = make(tmp_path / "t.db")
    calls, without = compiledfile.trace_calls(workload)
    assert (calls, without) == (8, {"elsewhere": 6, "without-a-disk": 1})
    run = once(workload, tmp_path / "target", "--timing", "afap")
    assert run["same"] == run["compared"] == 1
    assert [path.name for path in (tmp_path / "target").rglob("*") if not path.is_dir()] == ["f"]
    said = call(DAVID, "compile", tmp_path / "t.db", "-o", tmp_path / "u.wl", status=2).stderr
    assert "6 elsewhere" in said


def test_a_file_that_was_found_through_a_link_first_is_there_once(tmp_path: Path) -> None:
    """And again by the link, after that was read: neither name is a hard link to the other."""
    trace = Trace()
    for i, name in enumerate(("link", "file")):
        trace.name(at(1, 2 * i + 1, 2 * i + 2), "stat", 0, name, ino=7, size=50)
    target = [(tracefile.TARGET, b"file")]
    said = {"paths": ("link",), "ino": 8, "mode": ordercases.LINK, "blobs": target}
    trace.call(at(1, 6, 7), "readlink", 4, 0, 0, 100, **said)
    trace.open(at(1, 8, 9), 3, "link", ino=7, size=50)
    trace.name(at(1, 10, 11), "stat", 0, "socket", ino=9, mode=stat.S_IFSOCK | 0o777)
    trace.finish(tmp_path / "t.db")
    run = once(make(tmp_path / "t.db"), tmp_path / "target")
    assert run["same"] == 5
    assert os.readlink(tmp_path / "target/w/link") == "file"
    assert (tmp_path / "target/w/file").stat().st_size == 50


def test_a_call_that_takes_long_does_not_hold_up_the_compiler(tmp_path: Path) -> None:
    """What may have to be waited for grows meanwhile: each call looked at all of it."""
    trace, calls = Trace(), 40000
    trace.thread(2, flags=0)
    trace.open(at(2, 0, 1), 3, "f", EXCL | RW, ino=9)
    for i in range(calls):
        trace.io(at(2, i + 2, i + 2.5), "pwrite64", 3, 10)
    trace.exit(2, calls + 3)
    trace.call(at(1, 1, calls + 4), "wait4", 2, -1, 0, 0, 0)
    trace.finish(tmp_path / "t.db")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    make(tmp_path / "t.db")
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 4


# Hostile files.

HEADER = struct.Struct("<IIQIIQQQQQQQQ32sQQQ9QQ")


def number(value: int) -> bytes:
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def fold(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1


def operations() -> list[str]:
    return re.findall(r"^OP\((\w+),", (TREE / "tools/calls/workload-ops.h").read_text(), re.MULTILINE)


def hashed(data: bytes) -> int:
    value, whole = 0xCBF29CE484222325, len(data) // 8 * 8
    for (word,) in struct.iter_unpack("<Q", data[:whole]):
        value = (value ^ word) * 0x100000001B3 & (1 << 64) - 1
        value ^= value >> 29
    for byte in data[whole:]:
        value = (value ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return value


def stream_of(commands: list[tuple[str, list[int]]], deps: Any) -> bytes:
    names, stream = operations(), b""
    for name, args in commands:
        stream += bytes([names.index(name), 0])
        stream += number(fold(1)) + number(0) * 3 + number(0) + number(len(deps))
        stream += b"".join(number(thread) + number(count) for thread, count in deps)
        stream += b"".join(number(arg) for arg in args)
    return stream


def hand_made(
    out: Path,
    commands: list[tuple[str, list[int]]],
    texts: list[str] | tuple[()] = (),
    tree: list[tuple[int, int, int, int]] | tuple[()] = (),
    deps: list[tuple[int, int]] | tuple[()] = (),
    slots: int = 4,
    layout: list[tuple[int, int, int, int]] | tuple[()] = (),
    process: int = 0,
    more: list[tuple[tuple[str, list[int]], list[tuple[int, int]]]] | tuple[()] = (),
    calls: tuple[int, ...] = (1, 0, 0, 0, 0, 0, 0, 0, 0),
) -> Path:
    """A compiled trace, written by hand; texts begin at 1, each with a 0.

    Of one thread; @more: others, each with a command, and what that waits for.
    """
    streams = [stream_of(commands, deps), *(stream_of([one], waits) for one, waits in more)]
    stream = b"".join(streams)
    entries = b"".join(number(value) for entry in tree for value in entry)
    pieces = b"".join(number(value) for piece in layout for value in piece)
    text = b"\0" + b"".join(text.encode() + b"\0" for text in texts)
    at_commands = at = HEADER.size + 32 * len(streams)
    thread = b""
    for count, one in zip([len(commands), *[1] * len(more)], streams, strict=True):
        thread += struct.pack("<QQIIII", at, len(one), count, 0, process, 0)
        at += len(one)
    at_tree = at_commands + len(stream)
    fields = [
        len(streams),
        slots,
        len(commands) + len(more),
        1,
        len(tree),
        at_tree,
        len(entries),
        at_tree + len(entries),
        len(text),
    ]
    lies = len(layout), at_tree + len(entries) + len(text), len(pieces)
    rest = thread + stream + entries + text + pieces
    tail = HEADER.pack(0, 0, 0, *fields, HEADER.size, b"none", *lies, *calls, 0)[16:] + rest
    out.write_bytes(struct.pack("<IIQ", 0x4B4C5744, 9, hashed(tail)) + tail)
    return out


def test_a_hand_made_file_is_one(tmp_path: Path) -> None:
    out = hand_made(tmp_path / "t.wl", [("MKDIR", [1, 0o755])], ["d"])
    run = once(out, tmp_path / "target")
    assert run["same"] == 1 and (tmp_path / "target/d").is_dir()


HUGE = 1 << 63
BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "a read of 2^63": ({"commands": [("READ", [0, HUGE])]}, f"record 1: {HUGE} bytes at once"),
    "a write of 2^40": ({"commands": [("PWRITE", [0, 1 << 40, 0])]}, "record 1: 1099511627776 bytes"),
    "a descriptor that never was": ({"commands": [("FSYNC", [77])]}, "record 1: descriptor 77 of 4"),
    "a text that is not there": ({"commands": [("UNLINK", [500])]}, "record 1: a text that is not there"),
    "it waits for itself": (
        {"commands": [("SYNC", [])], "deps": [(0, 1)]},
        "record 1: waits for what never",
    ),
    "three wait for each other": (
        {
            "commands": [("SYNC", [])],
            "deps": [(1, 1)],
            "more": [(("SYNC", []), [(2, 1)]), (("SYNC", []), [(0, 1)])],
        },
        "record 1: waits for what waits for it: for record 1, that for record 1",
    ),
    "it waits for no thread": ({"commands": [("SYNC", [])], "deps": [(9, 1)]}, "record 1: waits for what"),
    "a file of 2^63": (
        {"commands": [], "texts": ["f"], "tree": [(0o100644, HUGE, 1, 0)]},
        f"entry 0 of the tree has {HUGE} bytes",
    ),
    "a device": (
        {"commands": [], "texts": ["f"], "tree": [(0o20666, 0, 1, 0)]},
        "entry 0 of the tree has m",
    ),
    "a mapping of 2^63": (
        {"commands": [("MAP", [0, HUGE, 0, 0, 1])]},
        "record 1: a mapping, or pages of one",
    ),
    "a mapping from within a page": (
        {"commands": [("MAP", [0, 4096, 7, 0, 1])]},
        "record 1: a mapping, or pages of one",
    ),
    "a touch from within a page": (
        {"commands": [("TOUCH", [0, 7, 4096, 0])]},
        "record 1: a mapping, or pages of one",
    ),
    "a touch of 2^40": (
        {"commands": [("TOUCH", [0, 0, 1 << 40, 0])]},
        "record 1: 1099511627776 bytes at once",
    ),
    "a thread of no process": ({"commands": [], "process": 1}, "thread 0 is outside of the file"),
    "a piece of no file": (
        {"commands": [], "texts": ["f"], "tree": [(0o100644, 9, 1, 0)], "layout": [(0, 1, 0, 9)]},
        "piece 0 of the layout",
    ),
    "a piece behind its file": (
        {"commands": [], "texts": ["f"], "tree": [(0o100644, 9, 1, 0)], "layout": [(0, 0, 0, 4097)]},
        "piece 0 of the layout",
    ),
    "a piece of a directory": (
        {"commands": [], "texts": ["f"], "tree": [(0o40755, 9, 1, 0)], "layout": [(0, 0, 0, 9)]},
        "piece 0 of the layout",
    ),
    "more calls left out than there were": (
        {"commands": [("SYNC", [])], "calls": (5, 2, 0, 0, 0, 0, 0, 0, 4)},
        "it leaves out more calls than the trace had",
    ),
    "calls left out that add up to less than one": (
        {"commands": [("SYNC", [])], "calls": (5, HUGE, HUGE, 0, 0, 0, 0, 0, 0)},
        "it leaves out more calls than the trace had",
    ),
    "a gap of 2^63": (
        {"commands": [], "texts": ["f"], "tree": [(0o100644, 9, 1, 0)], "layout": [(HUGE, 0, 0, 9)]},
        "piece 0 of the layout",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_file_is_refused_with_its_record(what: str, tmp_path: Path) -> None:
    parts, said = BROKEN[what]
    out = hand_made(tmp_path / "t.wl", **parts)
    target = tmp_path / "target"
    target.mkdir()
    for words in (["check", out], ["prepare", out, target], ["run", "--share-disk", out, target]):
        assert said in call(REPLAY, *words, status=1).stderr
    assert not list(target.iterdir())


STRANGE = """\
1 1.0 openat(AT_FDCWD, "/d/f", O_RDWR) = 3 <0.000010>
1 1.1 pread64(3, "x"..., 100, 0) = 100 <0.000010>
1 1.2 openat(AT_FDCWD, "/proc/self/maps", O_RDONLY) = 4 <0.000010>
1 1.3 getxattr("/d/f", "user.x", 0x1, 9) = 1 <0.000010>
1 1.4 unlink("/d/g") = -1 EACCES (Permission denied) <0.000010>
1 1.5 nosuchcall(1, 2) = 0 <0.000010>
1 1.6 flock(3, LOCK_EX) = 0 <0.000010>
a line of something else
1 2.0 pread64(3, "x"..., 100, 0) = 100 <0.000010>
1 3.0 pread64(3, "x"..., 50, 0) = 50 <0.000010>
1 3.1 exit_group(0) = ?
"""
WITHOUT = {
    "only-in-order": 2,
    "without-a-disk": 1,
    "not-replayed": 1,
    "without-rights": 1,
    "unknown": 1,
    "missing": 1,
}


@pytest.mark.parametrize(
    ("options", "without"),
    [
        ((), WITHOUT),
        # What is before --from is not read; what is left out on purpose is not missing.
        (("--from", "500000000"), WITHOUT | {"left-out": 1}),
        (("--to", "1500000000"), WITHOUT | {"only-in-order": 1, "left-out": 2}),
        (("--path", "/e/*"), {"only-in-order": 2, "unknown": 1, "missing": 1, "left-out": 7}),
    ],
)
def test_each_call_of_the_trace_is_in_the_workload_or_has_its_reason(
    options: tuple[str, ...], without: dict[str, int], tmp_path: Path
) -> None:
    (tmp_path / "log").write_text(STRANGE)
    importing.import_lines("strace", tmp_path / "log", tmp_path / "t.db")
    out = make(tmp_path / "t.db", "root", *options)
    calls, said = compiledfile.trace_calls(out)
    made = [c for c in compiledfile.load(out)[0] if c["op"] not in ("NONE", "WAIT") and not c["flags"] & 1]
    assert (calls, said) == (11, without)
    assert len(made) == calls - sum(said.values())
    run = once(out, tmp_path / "target", "--timing", "afap")
    assert (run["trace-calls"], run["not-in-workload"]) == (calls, said)
    assert run["trace-same"] == run["same"] == run["compared"]


def test_the_commands_say_how_much_of_the_trace_they_are_about(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(STRANGE)
    importing.import_lines("strace", tmp_path / "log", tmp_path / "t.db")
    (tmp_path / "target").mkdir()
    said = "7 of the trace's 11 calls, 64 %, are not in the workload: 2 only-in-order, 1 without-a-disk"
    done = call(DAVID, "compile", tmp_path / "t.db", "-o", tmp_path / "t.wl", status=2)
    assert said in done.stderr
    words = ["--share-disk", "--timing", "afap", tmp_path / "t.wl", tmp_path / "target"]
    done = call(DAVID, "replay", *words, status=2)
    assert "36 % of 11 calls are missing" in done.stderr
    assert "7 of the trace's 11 calls, 64 %, are not in the workload" in done.stderr
    assert "run 1: 100.000 % of 4 calls as in the original, 36.364 % of the trace's 11;" in done.stderr


def test_what_the_replay_has_too_little_of_is_named(tmp_path: Path) -> None:
    trace = Trace()
    for i in range(40):
        trace.open(at(1, i, i + 0.5), 3 + i, f"f{i}", EXCL | RW, ino=9 + i)
    trace.finish(tmp_path / "t.db")
    workload = make(tmp_path / "t.db")
    (tmp_path / "target").mkdir()
    words = [DAVID, "replay", "--share-disk", "--timing", "afap", workload, tmp_path / "target"]
    said = call("bash", "-c", 'ulimit -n 25; exec "$@"', "bash", *words, status=2).stderr
    assert re.search(r"run 1: \d+ calls failed with EMFILE: .* up to 40 descriptors, the limit is 25 ", said)


def test_files_are_laid_out_by_their_places(tmp_path: Path) -> None:
    """Of two disks, each by itself; what is far away, behind a file's end or has no place is left out."""
    trace, lies = Trace(), {}
    for n, (name, pieces) in enumerate(
        {
            "a": [(7, 0, 900_000, 8192)],
            "b": [(7, 4096, 100_000, 4096), (7, 0, 500_000, 4096), (7, 8192, 504_096, 99 << 30)],
            "c": [(8, 0, 100_000, 4096)],
            "d": [(7, 0, 1 << 40, 4096)],
            "e": [],
            "made": [(7, 0, 300_000, 4096)],
        }.items()
    ):
        extents = b"".join(struct.pack("<4Q", *piece) for piece in pieces)
        blobs = [(tracefile.LAYOUT, extents)] if pieces else []
        flags = EXCL | RW if name == "made" else RW
        attr = {"ino": 20 + n, "size": 0 if name == "made" else 8192, "blobs": blobs}
        args = (3 + n, ordercases.HERE, 0, flags, 0o644)
        trace.call(at(1, 2 * n, 2 * n + 1), "openat", *args, paths=(name,), **attr)
    trace.finish(tmp_path / "t.db")
    workload = make(tmp_path / "t.db")
    names, lies = compiledfile.layout(workload)
    assert [(gap, names[entry], *rest) for gap, entry, *rest in lies] == [
        (0, "w/b", 4096, 4096),
        (500_000 - 104_096, "w/b", 0, 4096),
        (900_000 - 504_096, "w/a", 0, 8192),
        (0, "w/d", 0, 4096),
        (0, "w/c", 0, 4096),
    ]
    once(workload, tmp_path / "target")
    shutil.rmtree(tmp_path / "target")
    (tmp_path / "target").mkdir()
    call(REPLAY, "prepare", workload, tmp_path / "target")
    made = sorted(path.name for path in (tmp_path / "target").rglob("*") if path.is_file())
    assert made == ["a", "b", "c", "d", "e"]
    assert all((tmp_path / "target/w" / name).read_bytes() == b"\x5a" * 8192 for name in made)


def test_a_file_in_pieces_is_whole(tmp_path: Path) -> None:
    """Each piece is written at its turn; what is in no piece is written, too."""
    tree = [(0o100444, 9000, 1, 0), (0o100644, 9000, 3, 0)]
    lies = [(0, 0, 4096, 8192), (0, 1, 4096, 4096), (0, 0, 0, 4096)]
    out = hand_made(tmp_path / "t.wl", [("SYNC", [])], ["f", "g"], tree, layout=lies)
    (tmp_path / "target").mkdir()
    call(REPLAY, "prepare", out, tmp_path / "target")
    for name, mode in (("f", 0o444), ("g", 0o644)):
        path = tmp_path / "target" / name
        assert path.read_bytes() == b"\x5a" * 9000 and path.stat().st_mode & 0o777 == mode


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    whole = hand_made(tmp_path / "t.wl", [("MKDIR", [1, 0o755])], ["d"]).read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        (tmp_path / "t.wl").write_bytes(damaged)
        call(REPLAY, "check", tmp_path / "t.wl", status=1)
    for length in range(0, len(whole), 7):
        (tmp_path / "t.wl").write_bytes(whole[:length])
        call(REPLAY, "check", tmp_path / "t.wl", status=1)


def outside(top: Path) -> Iterator[tuple[str, int, int]]:
    for path in sorted(top.rglob("*")):
        st = path.lstat()
        yield str(path), st.st_mode, st.st_size


def test_no_path_leads_out_of_the_target(tmp_path: Path) -> None:
    """By "..", by symbolic links of the tree and of the trace, by names of links; as the root itself."""
    keep, target = tmp_path / "keep", tmp_path / "target"
    keep.mkdir()
    (keep / "secret").write_text("x" * 10)
    (keep / "empty").mkdir()
    ways = [f"../keep/{name}" for name in ("secret", "empty")]
    ways += [
        f"/../../../../../..{keep}/secret",
        f"{keep}/secret",
        "out/secret",
        "out",
        "out/../keep/secret",
    ]
    ways += ["late/secret", "late/", "out/.", "..", "/", ".", "up/keep/secret"]
    texts = [str(keep), "out", "late", "../..", "up", *ways]
    place, starts = 1, []
    for text in texts:
        starts.append(place)
        place += len(text) + 1
    commands: list[tuple[str, list[int]]] = [("SYMLINK", [starts[0], starts[2]])]
    for way in starts[5:]:
        commands += [("UNLINK", [way]), ("RMDIR", [way]), ("TRUNCATE", [way, 0]), ("CHMOD", [way, 0])]
        commands += [("OPEN", [way, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666, 0]), ("WRITE", [0, 100])]
        commands += [
            ("RENAME", [way, starts[1], 0]),
            ("RENAME", [starts[1], way, 0]),
            ("LINK", [way, starts[4]]),
        ]
        commands += [("MKNOD", [way, 0o60666]), ("CHOWN", [way, fold(7), fold(7), 0]), ("UTIMES", [way, 0])]
        commands += [("MKDIR", [way, 0o777]), ("SYMLINK", [starts[3], way]), ("CLOSE", [0, 0])]
    tree = [(0o120777, 0, starts[1], starts[0]), (0o120777, 0, starts[4], starts[3])]
    out = hand_made(tmp_path / "t.wl", commands, texts, tree)
    before = list(outside(keep))
    once(out, target, "--timing", "afap")
    assert list(outside(keep)) == before
    assert not [path for path in target.rglob("*") if path.is_block_device() or path.is_char_device()]


def test_no_name_leads_out_of_a_directory_that_stays_open(tmp_path: Path) -> None:
    """The replayer keeps what it is asked for twice, and asks for names in it in one step."""
    keep, target = tmp_path / "keep", tmp_path / "target"
    keep.mkdir()
    (keep / "secret").write_text("x" * 10)
    links = {"in/out": "../../keep/secret", "in/up": "../../keep", "in/new": "../../keep/new"}
    ways = [*links, "in/up/secret", "in/../../keep/secret", "in/up/made"]
    texts = ["in", "in/x", "keep", *ways, *links.values()]
    starts = {text: 1 + sum(len(one) + 1 for one in texts[:i]) for i, text in enumerate(texts)}
    tree = [(0o40755, 0, starts[name], 0) for name in ("in", "keep")]
    tree += [(0o120777, 0, starts[name], starts[to]) for name, to in links.items()]
    look = [("STAT", [starts["in/x"], 0])] * 3
    commands: list[tuple[str, list[int]]] = []
    for way in (starts[text] for text in ways):
        commands += [*look, ("TRUNCATE", [way, 0]), ("UTIMES", [way, 0])]
        commands += [*look, ("OPEN", [way, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666, 0])]
        commands += [("WRITE", [0, 100]), ("CLOSE", [0, 0])]
        commands += [*look, ("MKNOD", [way, 0o100666]), ("MKDIR", [way, 0o777])]
        commands += [*look, ("CHMOD", [way, 0]), *look, ("CHOWN", [way, fold(7), fold(7), 0])]
    before = [(path, path.lstat()) for path in (keep, keep / "secret")]
    once(hand_made(tmp_path / "t.wl", commands, texts, tree), target, "--timing", "afap")
    # In this order: to list a directory is to read it, and a second later that changes its time.
    assert [(path, path.lstat()) for path, _ in before] == before and os.listdir(keep) == ["secret"]
    # In the target the same links lead to where the original's root would have been.
    assert {"secret", "new", "made"} <= {path.name for path in (target / "keep").iterdir()}


def test_who_may_go_where_is_looked_at_again(tmp_path: Path) -> None:
    """A directory that stays open is no way into what is below it, once its permissions are other ones."""
    texts = ["d", "d/e", "d/e/f"]
    d, e, f = 1, 3, 7
    commands = [("MKDIR", [d, 0o755]), ("MKDIR", [e, 0o755]), ("OPEN", [f, os.O_RDWR | os.O_CREAT, 0o644, 0])]
    commands += [("STAT", [f, 0])] * 3 + [("CHMOD", [d, 0]), ("STAT", [f, 0])]
    workload, target = hand_made(tmp_path / "t.wl", commands, texts), tmp_path / "target"
    target.mkdir()
    # A root goes everywhere, unless it is a poorer one.
    poor = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    done = call(*poor, REPLAY, "run", "--share-disk", "--timing", "afap", workload, target)
    (target / "d").chmod(0o755)
    run = json.loads(done.stdout)
    found = [(one["record"], one["call"], one["got"]) for one in run["differences"]]
    assert found == [(len(commands), "STAT", -13)]


def test_what_differs_is_counted_or_stops(tmp_path: Path) -> None:
    out = hand_made(tmp_path / "t.wl", [("UNLINK", [1]), ("MKDIR", [1, 0o755])], ["d"])
    run = once(out, tmp_path / "target")
    assert (run["same"], run["unexpected-failure"], run["stopped"]) == (1, 1, False)
    assert run["differences"][0] == {"record": 1, "call": "UNLINK", "expected": 0, "got": -2}
    run = once(out, tmp_path / "target", "--on-mismatch", "stop")
    assert run["stopped"] and run["compared"] == 1
    assert once(out, tmp_path / "target", "--on-mismatch", "ignore")["compared"] == 0


def test_only_reads_that_asked_the_disk_are_done_again(tmp_path: Path) -> None:
    """How long a read took tells, unless it is known to have asked none; the descriptor moves on by those
    that are left out, too.
    """
    trace = Trace()
    trace.open(at(1, 0, 1), 3, "old", RW, ino=7, size=9000)
    trace.io(at(1, 2, 2.1), "read", 3, 4096)
    trace.io(at(1, 3, 9), "read", 3, 4096)
    trace.io(at(1, 10, 10.2), "pread64", 3, 4096)
    trace.io(at(1, 11, 19), "read", 3, 4096, result=9000 - 2 * 4096)
    trace.call(at(1, 20, 28), "pread64", 4096, 3, 0, 4096, 0, flags=tracefile.NO_DISK)
    trace.finish(tmp_path / "t.db")
    made = {}
    for reads in ("current", "original", "none"):
        run = once(make(tmp_path / "t.db"), tmp_path / "target", "--timing", "afap", "--reads", reads)
        assert run["same"] == run["compared"], run["differences"]
        made[reads] = (run["made"], run["bytes-read"])
    assert made == {"current": (6, 9000 + 2 * 4096), "original": (3, 9000 - 4096), "none": (1, 0)}
    workload = make(tmp_path / "t.db", "root", "--cached", 0)
    run = once(workload, tmp_path / "target", "--timing", "afap", "--reads", "original")
    assert run["made"] == 5


def commands_of(workload: Path, *ops: str) -> list[dict[str, Any]]:
    return [command for thread in compiledfile.load(workload) for command in thread if command["op"] in ops]


PAGE = 4096


def test_a_touch_of_what_is_not_there_is_counted_and_kills_nobody(tmp_path: Path) -> None:
    """Behind the file's end, outside of the mapping, of none, and to write where nobody may."""
    commands = [
        ("OPEN", [1, RW, 0, 0]),
        ("MAP", [0, 4 * PAGE, 0, 3, 1]),
        ("TOUCH", [1, 0, PAGE, 1]),
        ("TOUCH", [1, 2 * PAGE, PAGE, 0]),
        ("TOUCH", [1, 4 * PAGE, PAGE, 0]),
        ("TOUCH", [2, 0, PAGE, 0]),
        ("MAP", [0, 4 * PAGE, 0, 1, 2]),
        ("TOUCH", [2, 0, PAGE, 1]),
        ("ADVISE", [1, 0, PAGE, 9]),  # MADV_REMOVE would punch a hole
        ("MAP", [0, 4 * PAGE, 0, 1, 2]),
        ("TOUCH", [1, PAGE, 2 * PAGE, 1]),
        ("UNMAP", [1]),
        ("UNMAP", [1]),
    ]
    out = hand_made(tmp_path / "t.wl", commands, ["f"], [(0o100644, 2 * PAGE, 1, 0)])
    for processes in ((), ("--processes",)):
        run = once(out, tmp_path / "target", "--log", tmp_path / "log", *processes)
        log = [entry[3] for entry in struct.iter_unpack("<QQQq", (tmp_path / "log").read_bytes())]
        assert log == [0, 0, PAGE, -14, -22, -9, 0, -13, -22, -16, PAGE, 0, -9]
        assert run["made"] == len(commands) and not run["stopped"]
    assert [(tmp_path / "target/f").read_bytes()[at] for at in (0, PAGE)] == [1, 1]


def mapped(trace: Trace) -> None:
    """Pages of a file of 100: 10 are read, 10 written, in a mapping that is gone in the end."""
    trace.open(at(1, 0, 1), 3, "/w/f", RW, ino=7, size=100 * PAGE)
    trace.map(at(1, 1, 2), 3, 100)
    trace.call(at(1, 2, 2.5), "close", 0, 3)


def by_fault(tmp_path: Path) -> Path:
    trace = Trace()
    mapped(trace)
    for page in range(10):
        trace.touch(at(1, 10 + 20 * page, 20 + 20 * page), 7, page, size=100 * PAGE)
        trace.touch(at(1, 25 + 20 * page, 25 + 20 * page), 7, 50 + page, write=1)
    trace.finish(tmp_path / "fault.db")
    return tmp_path / "fault.db"


def by_look(tmp_path: Path) -> Path:
    trace = Trace()
    mapped(trace)
    trace.pages(1, 300, 7, [(0, 4), (6, 4)], written=0, size=100 * PAGE)
    trace.pages(1, 300, 7, [(50, 10)], written=1, size=100 * PAGE)
    trace.call(at(1, 300, 310), "msync", 0, 1 << 40, 100 * PAGE, 4)
    trace.pages(1, 400, 7, [(0, 14)], written=0, size=100 * PAGE)
    trace.pages(1, 400, 7, [(50, 2)], written=1, size=100 * PAGE)
    trace.call(at(1, 400, 401), "munmap", 0, 1 << 40, 100 * PAGE)
    trace.finish(tmp_path / "look.db")
    return tmp_path / "look.db"


def test_touches_come_at_their_times_and_a_wait_for_the_disk_is_no_gap(tmp_path: Path) -> None:
    workload = make(by_fault(tmp_path))
    touches = commands_of(workload, "TOUCH")
    assert [command["args"][1:] for command in touches] == [
        args for page in range(10) for args in ([PAGE * page, PAGE, 0], [PAGE * (50 + page), PAGE, 1])
    ]
    assert [command["duration"] // STEP for command in touches] == [10, 0] * 10
    # What the first one waited for is the other disk's.
    assert {command["gap"] // STEP for command in touches[1:]} == {5}
    run = once(workload, tmp_path / "target")
    assert run["same"] == run["compared"] == run["made"] == 23 and run["bytes-touched"] == 20 * PAGE
    assert 100 * STEP < run["elapsed"] and run["calls"]["TOUCH"]["original"]["max"] == 10 * STEP


def test_touches_that_were_only_found_come_in_front_of_the_call_and_add_no_time(tmp_path: Path) -> None:
    """Those that a look has found before are none, unless they were written again."""
    workload = make(by_look(tmp_path))
    order = commands_of(workload, "TOUCH", "MSYNC", "NONE")
    touched = [(command["op"], *(number // PAGE for number in command["args"][1:3])) for command in order]
    assert touched == [
        *(("TOUCH", 0, 4), ("TOUCH", 6, 4), ("TOUCH", 50, 10), ("MSYNC", 0, 100)),
        *(("TOUCH", 4, 2), ("TOUCH", 10, 4), ("TOUCH", 50, 2), ("NONE",)),
    ]
    gaps = [command["gap"] / STEP for command in order]
    assert gaps == [0, 0, 0, 297.5, 0, 0, 0, 91]
    assert {command["flags"] for command in order if command["op"] == "TOUCH"} == {8}
    run = once(workload, tmp_path / "target", "--add-delay", 2_000_000, "--log", tmp_path / "log")
    assert run["same"] == run["compared"] == run["made"]
    assert run["bytes-touched"] == 26 * PAGE and "TOUCH" not in run["calls"]
    # However long the touches take, a call is due as long after the last call as in the original.
    log = list(struct.iter_unpack("<QQQq", (tmp_path / "log").read_bytes()))
    ops = [command["op"] for command in compiledfile.load(workload)[0]]
    for one, other, gap in (("CLOSE", "MSYNC", 297.5), ("MSYNC", "NONE", 91)):
        assert log[ops.index(other)][0] == log[ops.index(one)][2] + gap * STEP


def test_whether_they_were_written_is_guessed_where_nobody_says(tmp_path: Path) -> None:
    """Without root's rights: what msync names was written; what is found otherwise was read."""
    for call_made, written in (("msync", 1), ("munmap", 0)):
        trace = Trace()
        mapped(trace)
        trace.pages(1, 5, 7, [(3, 2)], size=100 * PAGE)
        trace.call(at(1, 5, 6), call_made, 0, 1 << 40, 100 * PAGE, 4)
        trace.finish(tmp_path / f"{call_made}.db")
        (touch,) = commands_of(make(tmp_path / f"{call_made}.db"), "TOUCH")
        assert touch["args"][3] == written


@pytest.mark.parametrize("source", [by_fault, by_look])
def test_options_are_about_touches_too(source: Any, tmp_path: Path) -> None:
    trace = source(tmp_path)
    last = 400 if source is by_look else 300
    for options, kinds in {
        ("--from", STEP + last * STEP): {1},  # what was read before is not done
        ("--to", 3 * STEP): set(),
        ("--path", "/w/g"): set(),
        ("--path", "/w/?"): {0, 1},
        ("--pid", 1): {0, 1},
        ("--pid", 2): set(),
        ("--root", "/w"): {0, 1},
    }.items():
        workload = make(trace, "root", *options)
        assert {command["args"][3] for command in commands_of(workload, "TOUCH")} == kinds, options
        run = once(workload, tmp_path / "target")
        assert run["same"] == run["compared"], options
    made = {}
    for reads in ("current", "original", "none"):
        run = once(make(trace), tmp_path / "target", "--timing", "afap", "--reads", reads)
        assert run["same"] == run["compared"], run["differences"]
        made[reads] = run["bytes-touched"] // PAGE
    counts = (26, 26, 12) if source is by_look else (20, 20, 10)
    assert made == dict(zip(("current", "original", "none"), counts, strict=True))
    cached = make(trace, "root", "--cached", 20 * STEP)
    run = once(cached, tmp_path / "target", "--reads", "original")
    assert run["bytes-touched"] // PAGE == (26 if source is by_look else 10)
    said = call(COMPILE, "--stats", trace, tmp_path / "s.wl").stdout
    counted = dict(line.split() for line in said.splitlines())
    assert (counted["touched-pages"], counted["mappings"]) == ("26" if source is by_look else "20", "0")


def test_a_mapping_that_no_call_made_is_there_for_its_touches(tmp_path: Path) -> None:
    """Of a program, and of a child's that it inherits; not of a file that has no name any more."""
    trace = Trace()
    mapped(trace)
    trace.open(at(1, 3, 4), 4, "/w/gone", RW, ino=8, size=PAGE)
    trace.name(at(1, 5, 6), "unlink", 0, "/w/gone", ino=8)
    trace.thread(2, flags=0, when=7)
    trace.pages(2, 10, 7, [(3, 2)], written=0, size=100 * PAGE)
    trace.pages(2, 10, 11, [(0, 5)], path="/bin/prog", written=0, shared=0, writable=0, size=6 * PAGE)
    trace.pages(2, 10, 8, [(0, 1)], path="/w/gone (deleted)", written=0, size=PAGE)
    trace.call(at(2, 10, 11), "msync", -12, 0, 0, 4)
    trace.finish(tmp_path / "t.db")
    said = call(COMPILE, "--stats", tmp_path / "t.db", tmp_path / "t.wl").stdout
    counted = dict(line.split() for line in said.splitlines())
    assert (counted["touched-pages"], counted["untouched-pages"]) == ("7", "1")
    for processes in ((), ("--processes",)):
        run = once(tmp_path / "t.wl", tmp_path / "target", *processes)
        assert run["same"] == run["compared"] and run["bytes-touched"] == 7 * PAGE
    assert (tmp_path / "target/bin/prog").stat().st_size == 6 * PAGE


def test_a_mapping_lives_until_its_last_part_is_gone(tmp_path: Path) -> None:
    """Parts are unmapped, moved, mapped over; what a part grows by has a mapping of its own."""
    trace, base = Trace(), 1 << 40
    trace.open(at(1, 0, 1), 3, "/w/f", RW, ino=7, size=100 * PAGE)
    trace.map(at(1, 1, 2), 3, 10)
    trace.call(at(1, 2, 3), "munmap", 0, base + 2 * PAGE, 2 * PAGE)
    trace.touch(at(1, 4, 4), 7, 9)
    trace.call(at(1, 5, 6), "mremap", base * 2, base + 4 * PAGE, 6 * PAGE, 12 * PAGE, 1)
    trace.touch(at(1, 7, 7), 7, 4)
    trace.touch(at(1, 8, 8), 7, 12)
    trace.call(at(1, 9, 10), "munmap", 0, base, 10 * PAGE)
    trace.map(at(1, 10, 11), 3, 12, address=base * 2, offset=50)
    trace.touch(at(1, 12, 12), 7, 50)
    trace.touch(at(1, 13, 13), 7, 4)
    trace.finish(tmp_path / "t.db")
    workload = make(tmp_path / "t.db")
    found = [command["op"] for command in commands_of(workload, "MAP", "TOUCH", "UNMAP")]
    assert found == ["MAP", "TOUCH", "TOUCH", "MAP", "TOUCH", "MAP", "UNMAP", "TOUCH", "TOUCH"]
    run = once(workload, tmp_path / "target")
    assert run["same"] == run["compared"] and run["bytes-touched"] == 5 * PAGE


def test_a_touch_waits_for_the_write_before_it(tmp_path: Path) -> None:
    trace = Trace()
    ordercases.written_by_a_mapping_read_by_a_call(trace)
    trace.finish(tmp_path / "t.db")
    wrote, read = compiledfile.load(make(tmp_path / "t.db"))[1:3]
    write = 1 + [command["op"] for command in wrote].index("TOUCH")
    after = next(command for command in read if command["op"] == "PREAD")
    assert any(count == write for _, count in after["deps"])
    said = call(COMPILE, "--explain", 4, tmp_path / "t.db", tmp_path / "t.wl").stdout
    assert "call 4 waits for call 3: file_seq, file " in said


def test_a_replayer_that_forgets_touches_is_caught(planted: Path, tmp_path: Path) -> None:
    workload = make(by_fault(tmp_path))
    env = dict(os.environ, REPLAY_PLANT_TOUCH="1")
    run = once(workload, tmp_path / "target", program=planted, env=env)
    assert run["bytes-touched"] == 0 and run["same"] < run["compared"]


def test_time_goes_by_as_in_the_original(tmp_path: Path) -> None:
    trace = Trace()
    trace.name(at(1, 0, 1), "mkdir", 0, "n", ino=8, mode=ordercases.DIR)
    trace.name(at(1, 2001, 2002), "rmdir", 0, "n", ino=8, mode=ordercases.DIR)
    trace.finish(tmp_path / "t.db")
    workload = make(tmp_path / "t.db")
    least = {"closed": 200, "open": 200, "afap": 0}  # ms
    for timing, ms in least.items():
        assert once(workload, tmp_path / "target", "--timing", timing)["elapsed"] >= ms * 1_000_000
    assert once(workload, tmp_path / "target", "--scale", 2)["elapsed"] >= 400_000_000
    # At once is sooner; other work may be in the way, but not each time.
    assert any(once(workload, tmp_path / "target", "--timing", "afap")["elapsed"] < 2e8 for _ in range(5))


def test_as_in_artc_a_thread_waits_its_time_out_before_it_waits_for_others(tmp_path: Path) -> None:
    """Its time begins with its own last call; with closed, with the end of the last that it comes after."""
    trace = Trace()
    ordercases.two(trace)
    trace.name(at(2, 0, 1000), "mkdir", 0, "n", ino=8, mode=ordercases.DIR)
    trace.name(at(3, 3000, 3001), "rmdir", 0, "n", ino=8, mode=ordercases.DIR)
    trace.finish(tmp_path / "t.db")
    workload, after = make(tmp_path / "t.db"), {}
    threads = compiledfile.load(workload)
    ops = [command["op"] for thread in threads for command in thread]
    slow = 300_000_000  # mkdir takes so much longer: more than the 200 ms between it and rmdir
    for timing in ("closed", "artc"):
        options = ("--timing", timing, "--add-delay", slow, "--log", tmp_path / "log")
        run = once(workload, tmp_path / "target", *options)
        assert run["same"] == run["compared"] and run["order-violations"] == 0
        log = dict(zip(ops, struct.iter_unpack("<QQQq", (tmp_path / "log").read_bytes()), strict=True))
        after[timing] = log["RMDIR"][1] - log["MKDIR"][2]
    assert after["closed"] >= 200_000_000 and after["artc"] < 150_000_000, after


# Real programs.


def tree_without_links(top: Path) -> dict[str, tuple[Any, ...]]:
    """By name: type, size, target. How many links a file has beyond the trace's names nobody knows."""
    return {
        str(Path(path).relative_to(top)): (kind, size, target)
        for path, (kind, size, _, target) in tree_of_disk(top).items()
    }


@pytest.mark.parametrize("name", [name for name in PROGRAMS if FULL or name in EVERY_DAY])
def test_a_real_program_is_replayed(name: str, tmp_path: Path) -> None:
    """At least 99.9 % of its calls as in the original, and the tree is the same."""
    work = tmp_path / "work"
    work.mkdir()
    for path in [tmp_path, tmp_path.parent, tmp_path.parent.parent]:
        path.chmod(path.stat().st_mode | 0o011)
    command = f"cd {work}; {PROGRAMS[name].format(tree=TREE, work=work)}"
    record(tmp_path / "t.db", "--", "sh", "-c", command)
    run = once(make(tmp_path / "t.db"), tmp_path / "target", "--timing", "afap", "--log", tmp_path / "log")
    assert run["compared"] > 1000 and run["same"] >= 0.999 * run["compared"], run["differences"]
    assert run["order-violations"] == 0
    again = tmp_path / "target" / work.relative_to("/")
    assert tree_without_links(again) == tree_without_links(work)
    assert finished(tmp_path / "t.db")


# Whose order and whose ends are pipes'.
PIPES = """
yes | head -5 >five; cat < <(echo hi) >hi; seq 1 20000 | tee >(gzip >z.gz) >all; sleep 0.2
python3 -c "
import subprocess, socket, threading
for i in range(3): subprocess.run(['true'])
a, b = socket.socketpair(); c, d = socket.socketpair()
def child():
    while b.recv(4096): pass
    b.sendall(b'done'); b.close(); c.close()
t = threading.Thread(target=child); t.start()
a.sendall(b'z' * 100000); a.shutdown(socket.SHUT_WR); open('r', 'wb').write(a.recv(100)); a.close()
d.recv(1); t.join()
"
"""


def test_pipes_end_as_in_the_original(tmp_path: Path) -> None:
    """The replayer is not killed by a pipe that nobody reads, and it waits for no end that cannot come."""
    work = tmp_path / "work"
    work.mkdir()
    record(tmp_path / "t.db", "--", "bash", "-c", f"cd {work}; {PIPES}")
    workload = make(tmp_path / "t.db")
    for timing in ("afap", "closed", "afap", "afap"):
        run = once(workload, tmp_path / "target", "--timing", timing)
        assert run["compared"] > 500 and run["same"] == run["compared"], run["differences"]
    again = tmp_path / "target" / work.relative_to("/")
    assert tree_without_links(again) == tree_without_links(work)


# What is outside comes in by a name only: through it, over it, from it.
WITH_OUTSIDE = """
cd {top}; mkdir in/d out; echo 1 >in/d/a; echo 2 >out/b; cat in/old in/d/a out/b
ln -s {top}/in/d in/way; ln -s d/a in/short; cat in/way/a in/short
cp out/b in/b; cd in/way; echo 3 >c; mv c ../e; cat {top}/out/../in/e; mv ../e {top}/out/e
cd ../../out; ln ../in/d/a ../in/second; rm e
"""


def test_what_is_below_a_directory_is_replayed_as_if_that_was_the_root(tmp_path: Path) -> None:
    """The tree is the original's, nothing of what was outside is there, and the files are as deep."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/old").write_text("old\n")
    record(tmp_path / "t.db", "--", "sh", "-ec", WITH_OUTSIDE.format(top=tmp_path))
    (tmp_path / "in/e").write_text("3\n")  # moving it out is left out
    options = ("--stats", "--root")
    said = call(COMPILE, *options, tmp_path / "in", tmp_path / "t.db", tmp_path / "t.wl").stdout
    assert int(dict(line.split() for line in said.splitlines())["left-out"]) > 10
    run = once(tmp_path / "t.wl", tmp_path / "target", "--timing", "afap")
    assert run["compared"] and run["same"] == run["compared"], run["differences"]
    assert os.readlink(tmp_path / "target/way") == "/d"
    for top in (tmp_path / "target", tmp_path / "in"):
        (top / "way").unlink()
    assert tree_without_links(tmp_path / "target") == tree_without_links(tmp_path / "in")
    # Another directory's name begins alike: it is not below.
    call(COMPILE, "--root", tmp_path / "i", tmp_path / "t.db", tmp_path / "t.wl")
    once(tmp_path / "t.wl", tmp_path / "target", "--timing", "afap")
    assert not list((tmp_path / "target").iterdir())
    said = call(DAVID, "compile", tmp_path / "t.db", "-o", tmp_path / "t.wl", "--root", "in", status=1)
    assert "takes a path from the root on" in said.stderr


def test_what_was_submitted_to_io_uring_is_replayed_beside_its_thread(tmp_path: Path) -> None:
    """Each is a call of a thread of its own, after what its submitter had done; or after a link."""
    work, program, trace = tmp_path / "work", tmp_path / "uringwork", tmp_path / "t.db"
    work.mkdir()
    call("cc", "-O1", "-o", program, TREE / "tests/system/helpers/uringwork.c")
    if subprocess.run([program, work], check=False).returncode == 77:
        pytest.skip("no io_uring here, or not all of these operations")
    shutil.rmtree(work)
    work.mkdir()
    record(trace, "--", program, work)
    workload = make(trace)
    for seed in range(1, 9):
        run = once(workload, tmp_path / "target", "--timing", "afap", "--shuffle", seed)
        assert run["same"] == run["compared"] > 30, run["differences"]
        again = tmp_path / "target" / work.relative_to("/")
        assert tree_without_links(again) == tree_without_links(work)

    def chained(workload: Path) -> int:
        """Of the four writes that were submitted at once, how many wait for another one."""
        threads = compiledfile.load(workload)
        places = {t for t, one in enumerate(threads) for c in one if c["op"] in ("PWRITE", "WRITE")}
        writes = [c for one in threads for c in one if c["op"] in ("PWRITE", "WRITE")]
        assert len(places) == len(writes) == 4
        return sum(any(thread in places for thread, _ in write["deps"]) for write in writes)

    assert chained(workload) == 3  # by IOSQE_IO_LINK
    with sqlite3.connect(trace) as database:
        database.execute("UPDATE uring SET flags = flags & ~4")
    assert chained(make(trace)) == 0


def test_what_was_submitted_to_aio_is_replayed_beside_its_thread(tmp_path: Path) -> None:
    """Who waited for completions waits for them; what was never seen to end is left out, and missed."""
    work, program, trace = tmp_path / "work", tmp_path / "aiowork", tmp_path / "t.db"
    work.mkdir()
    call("cc", "-O1", "-o", program, TREE / "tests/system/helpers/aiowork.c")
    if subprocess.run([program, work], check=False).returncode == 77:
        pytest.skip("no AIO here")
    shutil.rmtree(work)
    work.mkdir()
    record(trace, "--", program, work)
    workload = make(trace)
    again = tmp_path / "target" / work.relative_to("/")
    for seed in range(1, 9):
        run = once(workload, tmp_path / "target", "--timing", "afap", "--shuffle", seed)
        assert run["same"] == run["compared"] > 15, run["differences"]
        assert tree_without_links(again) == tree_without_links(work)
        assert run["bytes-written"] == 1000 + 5 * 4096
    threads = compiledfile.load(workload)
    submitted = {t for t, one in enumerate(threads) for c in one if c["op"] in ("PWRITE", "FSYNC")}
    waited = {t for one in threads for c in one if c["op"] == "NONE" for t, _ in c["deps"]}
    assert len(submitted) >= 4 and submitted <= waited
    with sqlite3.connect(trace) as database:
        database.execute("UPDATE uring SET seen = NULL WHERE result = 12288")
    once(make(trace), tmp_path / "target")
    assert tree_without_links(again) == tree_without_links(work)  # its end was written by another
    with sqlite3.connect(trace) as database:
        database.execute("UPDATE uring SET seen = NULL")
    once(make(trace), tmp_path / "target")
    assert tree_without_links(again) != tree_without_links(work)


def test_calls_about_a_context_of_aio_keep_their_order(tmp_path: Path) -> None:
    trace = Trace()
    for tid in (2, 3, 4):
        trace.thread(tid)
        trace.name(at(tid, tid, tid + 0.5), "access", -2, f"x{tid}")
    for n, context in enumerate((0x7000, 0x9000)):
        blobs = [(tracefile.CONTEXT, struct.pack("<Q", context))]
        trace.call(at(4, 5 + n, 5.5 + n), "io_setup", 0, 8, 64, blobs=blobs)
    trace.call(at(2, 7, 7.5), "io_submit", 0, 0x7000, 0, 0)
    trace.call(at(3, 8, 9), "io_getevents", 0, 0x7000, 0, 1, 0, 0)
    trace.call(at(3, 10, 11), "io_submit", 0, 0x9000, 0, 0)
    trace.call(at(2, 12, 13), "io_destroy", 0, 0x7000)
    trace.finish(tmp_path / "t.db")
    assert edges(tmp_path / "t.db", "aio_stage") - edges(tmp_path / "t.db", "none") == {
        *((4, 6), (4, 7), (5, 8)),  # each context's io_setup
        (7, 9),  # io_destroy after all uses
    }
    assert (6, 7) in edges(tmp_path / "t.db", "aio_seq")
    assert (6, 8) not in edges(tmp_path / "t.db", "aio_seq")


def test_a_bench_replays_a_compiled_trace_and_knows_it_by_its_content(tmp_path: Path) -> None:
    trace = Trace()
    trace.open(at(1, 0, 1), 3, "old", RW, ino=7, size=5000)
    trace.io(at(1, 1, 2), "pread64", 3, 4096)
    trace.io(at(1, 2, 3), "pwrite64", 3, 100)
    trace.finish(tmp_path / "t.db")
    workload, top = make(tmp_path / "t.db"), tmp_path / "top"
    text = '[disk]\nprofile = "hitachi-hds721010kla330"\n[[workload]]\nkind = "replay"\n'
    text += f'trace = "{workload.name}"\ntiming = "afap"\n'

    def described() -> dict[str, Any]:
        return runs.expand(spec.parse(text, "a.toml", tmp_path))[0].described

    before = described()
    work, kind = before["workload"], KINDS["replay"]
    top.mkdir()
    kind.prepare(str(top), work["params"], 1)
    assert (top / "w/old").read_bytes() == b"Z" * 5000
    done = kind.run("replay", str(top), work["params"], 1)
    assert (done.operations(), done.read, done.written) == (3, 4096, 100)
    # It runs on copies of the files; an own result tells of another content.
    assert testbed.with_copies(described(), Path("/x"))["workload"]["params"]["trace"] == "/x/trace"
    make(tmp_path / "t.db", "none").rename(workload)
    assert described()["parts"]["files"] != before["parts"]["files"]
    # What is not there any more is another workload.
    (top / "w/old").unlink()
    with pytest.raises(WorkFailed, match="of 3 calls are as in the original"):
        kind.run("replay", str(top), work["params"], 1)


def test_the_commands_of_david(tmp_path: Path) -> None:
    record(tmp_path / "t.db", "--", "sh", "-c", f"cd {tmp_path}; echo x >f; cat f; rm f")
    said = call(
        DAVID, "compile", tmp_path / "t.db", "-o", tmp_path / "t.wl", "--stats", "--to", "10s"
    ).stdout
    assert int(dict(line.split() for line in said.splitlines())["op.WRITE"]) >= 1
    target = tmp_path / "target"
    target.mkdir()
    options = ["--share-disk", "--timing", "afap", "-n", "2", "-o", tmp_path / "r.json"]
    done = call(DAVID, "replay", tmp_path / "t.wl", target, *options)
    assert "run 2: 100.000 % of" in done.stderr
    result = json.loads((tmp_path / "r.json").read_text())
    columns = [row[1] for row in finished(tmp_path / "t.db").execute("PRAGMA table_info(disk)")]
    assert columns[:2] == ["name", "reads"]  # a container may have no disk that the kernel counts
    assert len(result["runs"]) == 2 and result["environment"]["kernel"] == os.uname().release
    assert "is not empty" in call(DAVID, "replay", tmp_path / "t.wl", target, status=1).stderr
    shutil.rmtree(target)
    target.mkdir()
    said = call(DAVID, "replay", tmp_path / "t.wl", target, status=1).stderr
    assert "on the disk that it is replayed on" in said
    shutil.rmtree(target)
    target.mkdir()
    said = call(DAVID, "replay", tmp_path / "t.wl", target, "--snapshot", status=1).stderr
    assert "which is no fake disk" in said
