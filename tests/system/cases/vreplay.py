# SPDX-License-Identifier: GPL-2.0
"""david replay under the virtual clock: repeats from one state of the disk, and a start that is cold."""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import random
import shutil
import sqlite3
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cases import case
from davidlib.disk import mounts
from davidlib.replay import cli
from davidlib.trace import tracefile
from helpers.guest import SCRATCH, TREE, Failed, device_stats, mounted, ram_disk, run, say
from helpers.ordercases import EXCL, RW, STEP, Trace, at
from helpers.timed import READ, WRITE, Recording, profile, recording, timed_disk
from helpers.units import MIB

OLD = MIB  # bytes of a file that was there before


@contextmanager
def compiled(trace: Trace) -> Iterator[Path]:
    SCRATCH.mkdir(parents=True, exist_ok=True)
    database, out = SCRATCH / "r.db", SCRATCH / "r.wl"
    trace.finish(database)
    run(str(TREE / "build/david-compile"), str(database), str(out))
    try:
        yield out
    finally:
        database.unlink()
        out.unlink()


def workload() -> Trace:
    """Of one thread: a directory and a file in it are made, the file is written, an old one is read."""
    trace = Trace()
    trace.name(at(1, 1, 2), "mkdir", 0, "n", ino=8, mode=0o040755)
    trace.open(at(1, 2, 3), 3, "n/f", EXCL | RW, ino=9)
    trace.io(at(1, 3, 4), "pwrite64", 3, 100000)
    trace.call(at(1, 4, 5), "fsync", 0, 3)
    trace.open(at(1, 5, 6), 4, "old", ino=7, size=OLD)
    trace.io(at(1, 6, 30), "read", 4, OLD)
    trace.io(at(1, 31, 60), "pread64", 4, OLD)
    return trace


def hurried() -> Trace:
    """Four threads look at a name, each 0 to 6 or 117 steps of the clock after its last: they are due
    together, and they sleep.
    """
    trace, draw, calls = Trace(), random.Random(3), []
    for tid in range(2, 6):
        trace.thread(tid)
        time = 1.0
        for _ in range(200):
            calls.append(at(tid, time, time + 1e-7))
            time += 1e-7 + draw.randrange(draw.choice((1500, 30000))) / STEP
    for call in sorted(calls, key=lambda call: call[2]):
        trace.name(call, "access", 0, "old", ino=7)  # one that fails takes a microsecond, in this lab
    return trace


KINDS = {  # of file systems: what they are made with, and mounted with
    "ext4": (("-E", "lazy_itable_init=0,lazy_journal_init=0"), "no_prefetch_block_bitmaps,noatime"),
    "xfs": ((), "noatime"),
}


@contextmanager
def disk(kind: str = "ext4") -> Iterator[Path]:
    words, options = KINDS[kind]
    with ram_disk(64 * MIB) as dev, timed_disk("vr", 320 * MIB, dev, profile("plain")) as name:
        file_system = "ext4" if kind == AS_PEOPLE_DO else kind
        run(f"mkfs.{file_system}", "-q", *words, name)
        with mounted(name, file_system, options) as top:
            yield Path(top)


def replay(out: Path, *options: str) -> list[dict[str, Any]]:
    parser, answer = argparse.ArgumentParser(prog="david"), SCRATCH / "r.json"
    cli.add_parsers(parser.add_subparsers())
    args = parser.parse_args(["replay", str(out), *options, "-o", str(answer)])
    if args.func(args):
        raise Failed(f"david replay {options} failed")
    runs = json.loads(answer.read_text())["runs"]
    answer.unlink()
    return runs


@case
def repeats_from_a_snapshot_begin_with_the_same_disk() -> None:
    """Nothing of the run before is there, and the times differ by no more than the platter's angle."""
    with compiled(workload()) as out, disk() as top:
        runs = replay(out, str(top), "-n", "3", "--snapshot", "--cold")
        if not (top / "w/n/f").exists():
            raise Failed(f"what the last run made is not there: {list(top.rglob('*'))}")
    wrong = [run["differences"] for run in runs if run["same"] != run["compared"]]
    times = [run["elapsed"] for run in runs]
    # 9 ms a revolution, and a handful of them.
    if wrong or max(times) - min(times) > 9 * 8_333_333 // 2:
        raise Failed(f"{wrong}, {times}")


AS_PEOPLE_DO = "as people do"  # nothing is turned off
KINDS[AS_PEOPLE_DO] = (("-E", "lazy_itable_init=1,lazy_journal_init=1"), "init_itable=1")


@case
def a_cold_replay_on_a_file_system_as_people_mount_it_repeats() -> None:
    """What ext4 does by itself after a mount is turned off meanwhile; its tables are written afterwards."""
    with compiled(workload()) as out, disk(AS_PEOPLE_DO) as top:
        before = mounts.above(str(top))
        runs = replay(out, str(top), "-n", "4", "--snapshot", "--cold")
        after = mounts.above(str(top))
    # The kernel has no option that turns the reading in advance on again, and david says so.
    left = after.options.replace(",no_prefetch_block_bitmaps", "") if after else ""
    if not before or before.options != left:
        raise Failed(f"mounted with other options afterwards: {before}, {after}")
    times = [run["elapsed"] for run in runs]
    asked = [[run["disk"]["reads"], run["disk"]["writes"]] for run in runs]
    say(f"vreplay: ext4 with mkfs's and mount's defaults, cold: {times} ns, reads and writes {asked}")
    if max(times) - min(times) > min(times) // 1000 or any(one != asked[0] for one in asked):
        raise Failed(f"they do not repeat to 0.1 %: {times} ns, reads and writes {asked}")


@case
def calls_are_made_when_they_are_planned() -> None:
    """At the nearest step of the clock, which has 256 ns; with several threads at most a step later, if
    --fifo has them go on in order: a look at the clock within another's call moves it for all. Calls that
    are held are found: what is measured is no constant.
    """
    late = []
    for work in (workload, hurried):
        with compiled(work()) as out, disk() as top:
            for options in (("--cold", "--fifo"), ("--shuffle", "3")):
                late += [run["issue-error"] for run in replay(out, str(top), *options)]
                for made in top.iterdir():
                    if made.name != "lost+found":
                        shutil.rmtree(made)
    most = [one["max"] for one in late]
    if most[0] > 128 or most[2] > 256 or late[2]["p99"] > 137 or min(most[1], most[3]) < 1000:
        raise Failed(f"so late, ns: {late}")
    say(f"vreplay: calls are made so late, ns: {late[0]}, {late[2]}")


@case
def a_cold_start_reads_from_the_disk() -> None:
    """Once; what the original read from its disk twice is read twice, if that is asked for."""
    with compiled(workload()) as out, disk() as top:
        read, told = [], []
        for options in ((), ("--cold",), ("--cold", "--reads", "original")):
            before = device_stats("vr")["sectors"]["read"]
            told += [run["disk"]["read_sectors"] // (OLD // 512) for run in replay(out, str(top), *options)]
            read.append((device_stats("vr")["sectors"]["read"] - before) // (OLD // 512))
            for made in top.iterdir():
                if made.name != "lost+found":
                    shutil.rmtree(made)
    if read != [0, 1, 2] or told != read:
        raise Failed(f"how often the file was read, warm, cold and as in the original: {read}, told {told}")


FIEMAP, EXTENTS = 0xC020660B, 64
SIZE, GAPS = 65 * 4096, (0, 1, 3, 0, 7)  # of each file; in front of each, in sizes


def extents(path: Path) -> list[tuple[int, int, int]]:
    """(place, offset in the file, length), in bytes."""
    room = bytearray(struct.pack("=QQIIII", 0, (1 << 64) - 1, 0, 0, EXTENTS, 0) + bytes(56 * EXTENTS))
    with open(path, "rb") as file:
        fcntl.ioctl(file, FIEMAP, room)
    count = struct.unpack_from("=I", room, 20)[0]
    found = [struct.unpack_from("=QQQ", room, 32 + 56 * i) for i in range(count)]
    return [(place, offset, length) for offset, place, length in found]


def make_aged(top: Path) -> list[Path]:
    """Files with gaps between them, and none of them where its name would have it."""
    files = [top / f"f{(7 * i + 3) % 5}" for i in range(len(GAPS))]
    gaps = []
    for path, gap in zip(files, GAPS, strict=True):
        if gap:
            gaps.append(top / f"gap{gap}")
            with open(gaps[-1], "wb") as file:
                os.posix_fallocate(file.fileno(), 0, gap * SIZE)
        with open(path, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, SIZE)
            file.write(bytes(SIZE))
            os.fsync(file.fileno())
    for path in gaps:
        path.unlink()
    os.sync()
    return files


def lies(files: list[Path]) -> list[tuple[str, int, int, int]]:
    """Name, place from the first one's on, offset, length: in the order of places."""
    pieces = sorted((*piece, path.name) for path in files for piece in extents(path))
    return [(name, place - pieces[0][0], offset, length) for place, offset, length, name in pieces]


def prepared(trace: Path, files: list[Path], kind: str = "ext4") -> list[tuple[str, int, int, int]]:
    """Where they lie on a disk that the compiled trace has made them on."""
    out = SCRATCH / "l.wl"
    out.unlink(missing_ok=True)
    run(str(TREE / "build/david-compile"), "--path", f"{files[0].parent}/*", str(trace), str(out))
    with disk(kind) as top:
        run(str(TREE / "build/david-replay"), "prepare", str(out), str(top))
        os.sync()
        left = [path.name for path in top.iterdir() if path.name not in ("lost+found", files[0].parts[1])]
        if left:
            raise Failed(f"beside the tree there is {left}")
        return lies([top / path.relative_to("/") for path in files])


def alike(one: list[tuple[str, int, int, int]], other: list[tuple[str, int, int, int]]) -> bool:
    names = [[piece[0] for piece in lying] for lying in (one, other)]
    return names[0] == names[1] and 0.5 < one[-1][1] / other[-1][1] < 2


@case
def files_lie_as_the_original_s_lay() -> None:
    """To the byte from the first one on; without what --layout recorded they do not. xfs decides
    itself, but keeps them in order and apart.
    """
    dtr, trace = SCRATCH / "l.dtr", SCRATCH / "l.db"
    SCRATCH.mkdir(parents=True, exist_ok=True)
    with disk() as top:
        files = make_aged(top)
        words = [str(path) for path in sorted(files)]
        tracer = str(TREE / "build/david-trace")
        run(tracer, "record", "--layout", "--share-disk", "--out", str(dtr), "--", "cksum", *words)
        run(tracer, "finish", str(dtr), str(trace))
        wanted = lies(files)
    found, elsewhere = prepared(trace, files), prepared(trace, files, "xfs")
    database = sqlite3.connect(trace)
    database.execute("DELETE FROM extra WHERE kind = ?", (tracefile.LAYOUT,))
    database.commit()
    database.close()
    without = prepared(trace, files)
    for path in (dtr, trace):
        path.unlink()
    if found != wanted or not alike(elsewhere, wanted) or alike(without, wanted):
        raise Failed(f"they lay {wanted}; with their layout {found}, on xfs {elsewhere}; without {without}")


THREADS, TURNS = 4, 3


def writers(top: str, *words: str) -> list[str]:
    """Whose writes the disk was asked for by a command, in that order, without the file system's own."""
    with recording() as result:
        run(*words)
    files = [(path.name, *piece) for path in sorted(Path(top).rglob("file*")) for piece in extents(path)]
    places = [event["sector"] * 512 for event in result[0].events("queue") if event["op"] == WRITE]
    return [name for at in places for name, place, _, length in files if place <= at < place + length]


def in_order(micro: Path, options: tuple[str, ...]) -> list[tuple[list[str], list[str], list[str]]]:
    """Four threads open and write: by themselves, traced, and replayed; each time cold."""
    dtr, trace, out = (SCRATCH / f"o.{end}" for end in ("dtr", "db", "wl"))
    first = ("chrt", "--fifo", "1") if options else ()
    tracer, replayer = str(TREE / "build/david-trace"), str(TREE / "build/david-replay")
    mkfs, mount = KINDS["ext4"]
    found = []
    with ram_disk(64 * MIB) as dev, timed_disk("vo", 320 * MIB, dev, profile("plain")) as name:
        for turn in range(TURNS):
            run("mkfs.ext4", "-q", *mkfs, name)
            with mounted(name, "ext4", mount) as top:
                words = (str(micro), "sw", top, str(THREADS), "12")
                run(str(micro), "make", top, str(THREADS), str(MIB))
            one = []
            for begin in (first, (tracer, "record", "--sync", "--layout", *options, "--out", str(dtr), "--")):
                with mounted(name, "ext4", mount) as top:
                    time.sleep(0.0037 * turn)  # the platter is elsewhere each time
                    one.append(writers(top, *begin, *words))
            run(tracer, "finish", str(dtr), str(trace))
            run(str(TREE / "build/david-compile"), "--root", top, str(trace), str(out))
            run("mkfs.ext4", "-q", *mkfs, name)
            with mounted(name, "ext4", mount) as top:
                run(replayer, "prepare", str(out), top)
            with mounted(name, "ext4", mount) as top:
                one.append(writers(top, replayer, "run", *options, str(out), top))
            found.append(tuple(one))
            for path in (dtr, trace, out):
                path.unlink()
    return found


@case
def threads_that_are_woken_together_go_on_in_that_order() -> None:
    """All wait for one block of inodes. Traced and replayed they go on as by themselves with --fifo, and
    not without.
    """
    SCRATCH.mkdir(parents=True, exist_ok=True)
    micro = SCRATCH / "replay-micro"
    sources = [str(TREE / path) for path in ("tests/bench/replay-micro.c", "tools/common/clock.c")]
    run("cc", "-O1", "-std=gnu11", "-D_GNU_SOURCE", "-static", "-pthread", "-o", str(micro), *sources)
    with_it, without = in_order(micro, ("--fifo",)), in_order(micro, ())
    wrong = [one for one in with_it if not one[0] or one[1] != one[0] or one[2] != one[0]]
    if wrong or all(one[1] == one[0] for one in without):
        raise Failed(f"by itself, traced, replayed: {wrong or with_it}; without --fifo: {without}")


MAPPED = {"r": 64 * MIB, "t": 16 * MIB, "w": 16 * MIB}  # files of mapwork.c, bytes
Asked = set[tuple[str, str, int]]


def asked(record: Recording, files: list[Path]) -> Asked:
    """Read or written, a file's name, its page: all that the disk was asked for of them."""
    page = {}  # by sector
    for path in files:
        for place, offset, length in extents(path):
            page |= {(place + at) // 512: (path.name, (offset + at) // 4096) for at in range(0, length, 512)}
    found: Asked = set()
    for event in record.events("queue"):
        if event["op"] not in (READ, WRITE):
            continue
        for sector in range(event["sector"], event["sector"] + event["sectors"]):
            if sector in page:
                found.add(("read" if event["op"] == READ else "write", *page[sector]))
    return found


def make_mapped(top: Path) -> None:
    for name, size in MAPPED.items():
        with open(top / name, "wb") as file:
            for _ in range(size // MIB):
                file.write(b"x" * MIB)


def ask_for(top: Path, *command: str) -> Asked:
    """What a program in the drive's time asks a cold disk for."""
    os.sync()
    Path("/proc/sys/vm/drop_caches").write_text("3")
    with recording(100000) as result:
        run(*command)
        os.sync()
    return asked(result[0], [top / name for name in MAPPED])


def again(trace: Path, original: Path) -> tuple[Asked, dict[str, int]]:
    """What a replay asks for, and what the compiler counts."""
    out = SCRATCH / "m.wl"
    out.unlink(missing_ok=True)
    said = run(str(TREE / "build/david-compile"), "--root", str(original), "--stats", str(trace), str(out))
    with disk() as top:
        run(str(TREE / "build/david-replay"), "prepare", str(out), str(top))
        found = ask_for(top, str(TREE / "build/david-replay"), "run", str(out), str(top))
    lines = [line.split() for line in said.splitlines()]
    return found, {words[0]: int(words[1]) for words in lines if len(words) == 2 and words[1].isdigit()}


@case
def a_program_that_only_uses_mapped_files_asks_for_the_same_pages_again() -> None:
    """Each page of each file that the disk was read or written for; of one file only 200 anywhere. The time
    of a touch is not known, its pages are. A replay that forgets the touches is found.
    """
    dtr, trace, work = SCRATCH / "m.dtr", SCRATCH / "m.db", SCRATCH / "mapwork"
    SCRATCH.mkdir(parents=True, exist_ok=True)
    run("cc", "-O1", "-pthread", "-o", str(work), str(TREE / "tests/system/helpers/mapwork.c"))
    tracer = str(TREE / "build/david-trace")
    with disk() as top:
        make_mapped(top)
        original = ask_for(top, tracer, "record", "--pages", "--out", str(dtr), "--", str(work), str(top))
        run(tracer, "finish", str(dtr), str(trace))
    replayed, counted = again(trace, top)
    database = sqlite3.connect(trace)
    (touches,) = database.execute("SELECT sum(length) / 4096 FROM page JOIN text t ON t.id = name"
                                  " WHERE t.text GLOB '*/t'").fetchone()  # fmt: skip
    database.execute("DELETE FROM page")
    database.commit()
    database.close()
    forgotten, _ = again(trace, top)
    for path in (dtr, trace, work):
        path.unlink()
    pages = {name: size // 4096 for name, size in MAPPED.items()}
    counts = {(what, name): sum(one[:2] == (what, name) for one in original)
              for what in ("read", "write") for name in pages}  # fmt: skip
    wanted = {("read", "r"): pages["r"], ("read", "t"): 200, ("read", "w"): pages["w"],
              ("write", "w"): pages["w"], ("write", "r"): 0, ("write", "t"): 0}  # fmt: skip
    say(f"vreplay: mapped pages asked for {counts}, touches of t {touches}, {counted}")
    if counts != wanted or touches != 200:
        raise Failed(f"the original asked for {counts}, {touches} touches")
    if replayed != original:
        raise Failed(f"missing {sorted(original - replayed)[:9]}, too many {sorted(replayed - original)[:9]}")
    least = pages["r"] + pages["w"] + 200
    if counted["op.MSYNC"] != 1 or counted["op.ADVISE"] != 1 or counted["touched-pages"] < least:
        raise Failed(f"compiled: {counted}")
    if forgotten == original or not any(one[1] == "r" for one in original - forgotten):
        raise Failed("a replay without touches was not found")
