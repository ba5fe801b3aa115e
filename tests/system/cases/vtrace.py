# SPDX-License-Identifier: GPL-2.0
"""david trace under the virtual clock: it sees what strace sees, costs nothing, and says what is true."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cases import case
from davidlib.trace import importing, program
from helpers import causes, traced
from helpers.guest import SCRATCH, TREE, Failed, mounted, ram_disk, run, say
from helpers.timed import timed_disk
from helpers.units import FULL, GIB, MIB

TRACER = str(TREE / "build/david-trace")
HELPERS = TREE / "tests/system/helpers"
DTR = SCRATCH / "t.dtr"
LOOK = 1  # ns that a look at the virtual clock takes, if there are not thousands without a wait


@contextmanager
def built(name: str) -> Iterator[str]:
    """A program of helpers, beside which there is nothing."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    binary = SCRATCH / name
    run("cc", "-O1", "-pthread", "-o", str(binary), str(HELPERS / f"{name}.c"))
    try:
        yield str(binary)
    finally:
        binary.unlink()


# Planted bugs: a tracer that cannot look at the clock without moving it, and one whose clock stands.
PLANTED = {
    "loud": "int timer_create(int clock, void *event, void *timer) { return -1; }",
    "standing": """
        #include <time.h>
        int timer_gettime(timer_t timer, struct itimerspec *left)
        {
            *left = (struct itimerspec){ .it_value = { 1000000000, 0 } };
            return 0;
        }""",
}


@contextmanager
def planted(name: str) -> Iterator[None]:
    """In programs that are started meanwhile."""
    library = SCRATCH / f"{name}.so"
    SCRATCH.mkdir(parents=True, exist_ok=True)
    source = library.with_suffix(".c")
    source.write_text(PLANTED[name])
    run("cc", "-shared", "-fPIC", "-o", str(library), str(source))
    os.environ["LD_PRELOAD"] = str(library)
    try:
        yield
    finally:
        del os.environ["LD_PRELOAD"]
        library.unlink()
        source.unlink()


def record(*command: str) -> str:
    return run(TRACER, "record", "--share-disk", "--out", str(DTR), "--", *command)


@contextmanager
def finished() -> Iterator[Path]:
    database = DTR.with_suffix(".db")
    try:
        program.finish(DTR, database)
        yield database
    finally:
        DTR.unlink(missing_ok=True)
        database.unlink(missing_ok=True)


@case
def own_capture_and_strace_see_the_same_calls_results_and_order() -> None:
    work, log, theirs = SCRATCH / "work", SCRATCH / "log", SCRATCH / "strace.db"
    with built("tracee") as tracee:
        work.mkdir()
        record(tracee, str(work))
        shutil.rmtree(work)
        work.mkdir()
        run("strace", "-f", "-ttt", "-T", "-v", "-o", str(log), tracee, str(work))
        unparsed = importing.import_trace("strace", log, theirs)
        with finished() as ours:
            calls = [len(thread) for thread in traced.by_task(traced.sqlite3.connect(ours))]
            wrong = traced.difference(ours, theirs)
    shutil.rmtree(work)
    log.unlink()
    theirs.unlink()
    if wrong or unparsed or len(calls) != 4 or sum(calls) < 100:
        raise Failed(f"{wrong}, {unparsed} lines not understood, calls of threads: {calls}")


def drop_caches() -> None:
    os.sync()
    Path("/proc/sys/vm/drop_caches").write_text("3")


@contextmanager
def disk_of_2009(directory: str = "") -> Iterator[str]:
    """A file system on a disk with the times of a real one."""
    with (
        ram_disk(96 * MIB) as dev,
        timed_disk("vt", 64 * GIB, dev, "hitachi-hds721010kla330") as disk,
    ):
        run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", disk)
        with mounted(disk, "ext4", "no_prefetch_block_bitmaps,noatime") as top:
            yield top


def time_of_reads(count: int) -> int:
    """What the trace says the last ones took."""
    with finished() as database:
        rows = traced.sqlite3.connect(database).execute(
            "SELECT duration FROM event WHERE nr = 17 ORDER BY id DESC LIMIT ?", (count,)
        )
        return sum(duration for (duration,) in rows)


@case
def random_reads_take_as_long_when_they_are_traced() -> None:
    """At most 5 millionths more; and their trace says so, too, to two looks at the clock a read."""
    with disk_of_2009() as top, built("tracework") as work:
        file = f"{top}/f"
        run("dd", "if=/dev/zero", f"of={file}", "bs=1M", "count=256", "conv=fsync")
        times, said = [], []
        for way in (run, record, run, record):
            drop_caches()
            times.append(int(way(work, "reads", file, "200")))
            said += [time_of_reads(200)] if way is record else []
        with planted("standing"):
            drop_caches()
            stands = int(record(work, "reads", file, "20")) - time_of_reads(20)
    say(f"vtrace: random reads untraced {times[::2]}, traced {times[1::2]}, by their traces {said} ns")
    more = 1e6 * (sum(times[1::2]) / sum(times[::2]) - 1)
    wrong = [abs(time - by_trace) for time, by_trace in zip(times[1::2], said, strict=True)]
    if times[0] < 10**9 or abs(more) > 5 or max(wrong) > 200 * 2 * LOOK:
        raise Failed(f"{more:.2f} ppm: {times}; by the trace {said}")
    if stands <= 20 * 2 * LOOK:
        raise Failed(f"a clock that stands was not found: {stands} ns")


def as_recorded(*command: str) -> str:
    """What it prints while it is traced, with the calls that tasks wait for each other with."""
    said = run(TRACER, "record", "--sync", "--share-disk", "--out", str(DTR), "--", *command)
    DTR.unlink()
    return said


@case
def threads_that_may_go_on_at_the_same_instant_do_so_as_untraced() -> None:
    """Those that wait for one block, and those that wait for one time: in 10 captures of each."""
    with disk_of_2009() as top, built("atonce") as atonce:
        file = f"{top}/f"
        run("dd", "if=/dev/zero", f"of={file}", "bs=4096", "count=1", "conv=fsync")
        for what in ("block", "time"):
            orders = []
            for way in [run] + [as_recorded] * 10:
                drop_caches()
                orders.append(way(atonce, what, file, "6").strip())
            if sorted(orders[0]) != list("012345") or set(orders) != {orders[0]}:
                raise Failed(f"{what}: untraced {orders[0]}, traced {orders[1:]}")


# The built-in workload, as `david bench` runs it.
# Now and then it sleeps, so that its looks at the clock are not taken for a loop that waits for the clock.
# Python's start is taken for one, so it is not in the time that the program leaves beside its directory.
POSTMARK = """
import ctypes, os, sys, time
ctypes.CDLL(None).prctl(29, 1, 0, 0, 0)  # sleeps are as long as they are asked for
from davidlib.workload import kinds
kind = kinds.KINDS["postmark"]
params = kind.params | {"files": 40, "operations": 60}
time.sleep(1e-3)
start = time.monotonic_ns()
for seed in range(30):
    top = f"{sys.argv[1]}/{seed}"
    os.mkdir(top)
    kind.prepare(top, params, seed)
    time.sleep(1e-3)
    kind.run("postmark", top, params, seed)
    time.sleep(1e-3)
took = time.monotonic_ns() - start
with open(f"{sys.argv[1]}.ns", "w") as file:
    file.write(str(took))
"""


def mail(*words: str) -> tuple[int, int, int]:
    """A command in an empty directory in memory: time untraced and traced, calls."""
    times = []
    with built("tracework") as work:
        for way in (run, record):
            top = SCRATCH / "mail"
            top.mkdir()
            way(work, "run", *words, str(top))
            times.append(int(Path(f"{top}.ns").read_text()))
            shutil.rmtree(top)
    with finished() as database:
        (calls,) = traced.sqlite3.connect(database).execute("SELECT count(*) FROM event").fetchone()
    return times[0], times[1], calls


@case(seldom=True)
def a_call_that_never_waits_takes_as_long_when_it_is_traced() -> None:
    """Mail in memory. A tracer that moves the clock with each of its two looks a call is found."""
    words = ["env", f"PYTHONPATH={TREE / 'tools'}", "/usr/bin/python3", "-S", "-c", POSTMARK]
    untraced, traced_one, calls = mail(*words)
    more = (traced_one - untraced) / calls
    say(f"vtrace: postmark in memory {untraced} ns, traced {traced_one}, {calls} calls: {more:.1f} ns a call")
    with planted("loud"):
        untraced, traced_one, calls = mail(*words)
    moved = (traced_one - untraced) / calls
    say(f"vtrace: where looks move the clock {moved:.1f} ns a call")
    if calls < 5000 or abs(more) > LOOK / 10 or moved < LOOK:
        raise Failed(f"{more} ns a call, {calls} calls; where looks move the clock {moved} ns")


@case(full=True)
def postmark_takes_as_long_when_it_is_traced() -> None:
    """Debian's, on a disk. At most 25 % more is asked for."""
    words = "set location %s\nset number 500\nset transactions 2000\nset subdirectories 5\nrun\nquit\n"
    with disk_of_2009() as top, built("tracework") as work:
        times = []
        for number, way in enumerate((run, record)):
            where = f"{top}/{number}"
            os.mkdir(where)
            shell = f"printf '{words % where}' | postmark"
            os.sync()
            times.append(int(way(work, "run", "sh", "-c", shell)))
        with finished() as database:
            (calls,) = traced.sqlite3.connect(database).execute("SELECT count(*) FROM event").fetchone()
    more = 100 * (times[1] / times[0] - 1)
    say(f"vtrace: PostMark {times[0]} ns, traced {times[1]}, {calls} calls: {more:+.3f} %")
    if calls < 10000 or abs(more) > 25:
        raise Failed(f"{times}: {more:+.1f} %")


@case(seldom=True)
def who_waits_for_whom_is_found_by_delays() -> None:
    """By pipes, condition variables and memory that is watched; which waits a program has is drawn."""
    with built("waiters") as waiters:
        for seed in range(1, 11 if FULL else 4):
            edges = causes.drawn(seed, 4, ("pipe", "cond", "spin"))
            if found := causes.check(waiters, SCRATCH, 4, edges, 1_000_000):
                raise Failed(f"{edges}: {found}")


@case
def a_tracer_that_holds_another_thread_or_none_is_found_out() -> None:
    edges = [("pipe", 1, 2), ("spin", 2, 3)]
    with built("waiters") as waiters:
        for name, hold in causes.PLANTED.items():
            if not causes.check(waiters, SCRATCH, 3, edges, 1_000_000, hold):
                raise Failed(f"{name}: nothing was wrong")
