# SPDX-License-Identifier: GPL-2.0
"""david trace under the virtual clock: it sees what strace sees, and what it costs is known exactly."""

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
from helpers.units import GIB, MIB

TRACER = str(TREE / "build/david-trace")
HELPERS = TREE / "tests/system/helpers"
RAW = SCRATCH / "t.dtr"


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


def record(*command: str) -> str:
    return run(TRACER, "record", "--share-disk", "--out", str(RAW), "--", *command)


@contextmanager
def finished() -> Iterator[Path]:
    database = RAW.with_suffix(".db")
    try:
        program.finish(RAW, database)
        yield database
    finally:
        RAW.unlink(missing_ok=True)
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


@case
def random_reads_take_as_long_when_they_are_traced() -> None:
    """At most 5 millionths more; the file's blocks are not in memory."""
    with disk_of_2009() as top, built("tracework") as work:
        file = f"{top}/f"
        run("dd", "if=/dev/zero", f"of={file}", "bs=1M", "count=256", "conv=fsync")
        times = []
        for way in (run, record, run, record):
            drop_caches()
            times.append(int(way(work, "reads", file, "200")))
        RAW.unlink()
    say(f"vtrace: random reads untraced {times[::2]}, traced {times[1::2]} ns")
    more = 1e6 * (sum(times[1::2]) / sum(times[::2]) - 1)
    if times[0] < 10**9 or abs(more) > 5:
        raise Failed(f"{more:.2f} ppm: {times}")


# The built-in workload, as `david bench` runs it.
POSTMARK = """
import sys
sys.path.insert(0, sys.argv[1])
from davidlib.workload import kinds
kind = kinds.KINDS["postmark"]
params = kind.params | {"files": 500, "operations": 2000}
kind.prepare(sys.argv[2], params, 1)
kind.run("postmark", sys.argv[2], params, 1)
"""


@case
def a_call_that_never_waits_costs_two_looks_at_the_clock() -> None:
    """Mail in memory. A look moves the virtual clock by 256 ns; nothing else of the tracer moves it."""
    times = []
    words = ["/usr/bin/python3", "-S", "-c", POSTMARK, str(TREE / "tools")]
    with built("tracework") as work:
        for way in (run, record):
            top = SCRATCH / "mail"
            top.mkdir()
            times.append(int(way(work, "run", *words, str(top))))
            shutil.rmtree(top)
    with finished() as database:
        (calls,) = traced.sqlite3.connect(database).execute("SELECT count(*) FROM event").fetchone()
    untraced, more = times[0], times[1] - times[0]
    say(f"vtrace: postmark in memory {untraced} ns, {calls} calls traced {more} ns more")
    if calls < 5000 or not 500 < more / calls <= 512:
        raise Failed(f"{times}, {calls} calls: {more / calls} ns a call")


@case
def who_waits_for_whom_is_found_by_delays() -> None:
    """By pipes, condition variables and memory that is watched; which waits a program has is drawn."""
    with built("waiters") as waiters:
        for seed in range(1, 11):
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
