# SPDX-License-Identifier: GPL-2.0
"""One run, in its lab: a disk is made, filled at full speed, then measured in time, and removed.

    python3 -m davidlib.bench.testbed RUN.json RESULT.json

Each phase begins at a round time of the machine's clock. So nothing that went before, such as the start of
Python, moves what is measured: the drive's rotation, the kernel's own intervals.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from .. import filesystems
from ..disk import baseline, check, dm, lateness, setting
from ..disk.parameters import DiskParameters
from ..disk.stats import failed_by_drive
from ..drive import presets
from ..image import aging, recipe
from ..lab.memory import parse_memory
from ..sizes import SECTOR
from ..util import UserError
from ..workload import blocks, called, fiojob, steady, trees
from ..workload.kinds import KINDS, files_of
from ..workload.record import summary, too_short
from ..workload.several import WorkFailed
from . import arraywords, doubts, journal, places, target
from .samples import COLUMNS, Row, Sampler, row
from .target import ArraySaid, Target

NAME = target.NAME
DISK = target.SINGLE.path
# A lab's /tmp is its own.
SCRATCH_WORD = "DAVID_BENCH_SCRATCH"
SCRATCH = os.environ.get(SCRATCH_WORD, "/tmp")
MOUNT = f"{SCRATCH}/bench"
BACKING = f"{SCRATCH}/backing"
PROFILE = f"{SCRATCH}/drive.profile"
BESIDE = 256 << 20  # bytes: what a run has in memory beside the backing
# Off the kernel's ticks, which come every 10 ms.
ROUND_S, OFF_NS = 10, 3_141_592
# Inode tables, 78 GB on 20 TB, are not written beside what is measured. Block bitmaps, 600 MB of memory on
# 20 TB, are not made in advance: a lab that has to reclaim memory makes requests wait for it, and each page
# more or less in use changes for how long.
EXT4_OPTIONS = ("noinit_itable", "no_prefetch_block_bitmaps")
# mkfs of ext2, 3 and 4 takes its own defaults where this file is not there, and not this machine's.
NO_CONFIG = "/nonexistent/mke2fs.conf"
# What Debian's mke2fs.conf says of ext4, too.
EXTENDED = ",lazy_itable_init=1"
PR_SET_TIMERSLACK = 29
TIMER_ABSTIME = 1

class RunFailed(Exception):
    """The run cannot be finished; the text says at what."""


ERRORS = (RunFailed, WorkFailed, UserError, OSError)


def virtual() -> bool:
    return os.environ.get("DAVID_LAB_VIRTUAL_TIME") == "1"


def align() -> None:
    """Wait for the next round time, where waiting takes no real time."""
    if not virtual():
        return
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
    due = (int(time.monotonic()) // ROUND_S + 1) * ROUND_S
    until = (ctypes.c_long * 2)(due, OFF_NS)
    while libc.clock_nanosleep(time.CLOCK_MONOTONIC, TIMER_ABSTIME, until, None):
        pass
    # What a workload starts has Linux's own slack again. fio sleeps for ever if sleeping takes 1 us.
    libc.prctl(PR_SET_TIMERSLACK, 0, 0, 0, 0)


def fix_dirty_limits(run: dict[str, Any]) -> None:
    """How much may wait in memory to be written: Linux's shares, of all of the lab's memory. Of itself Linux
    takes what is free just now, so that each page in use would change when writing begins.
    """
    if virtual():
        memory = parse_memory(run["memory"]) << 20
        for name, share in (("dirty_background_bytes", 10), ("dirty_bytes", 20)):
            Path(f"/proc/sys/vm/{name}").write_text(str(memory * share // 100))


def call(*words: str) -> str:
    called.note(words[0])
    env = dm.environment() | {"MKE2FS_CONFIG": NO_CONFIG}
    done = subprocess.run(words, env=env, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip())[-600:]
        raise RunFailed(f"{' '.join(words)}: exit status {done.returncode}: {said}")
    return done.stdout


def classify_of(run: dict[str, Any]) -> str:
    """On the raw disk nobody can tell data. Requests of the built-in workloads are nothing else, and what
    warms up for long would fill any store. An array's superblocks have to be kept."""
    is_data = run["file_system"]["type"] == "none" and run["workload"]["kind"] in blocks.SHAPES
    is_data = is_data and not run.get("array")
    return "data" if is_data and run["classify"] == "auto" else run["classify"]


def fail(run: dict[str, Any], disk: Target) -> None:
    """From now on the drive fails as it is to: what was filled before met nothing."""
    if faults := run.get("faults"):
        sectors = dm.size_of(f"/dev/mapper/{disk.faulty(faults.get('member'))}") // SECTOR
        text = faults["text"] or presets.text_of(faults["preset"], sectors, run["seed"])
        setting.message(disk.faulty(faults.get("member")), "fault", "add", text)


def make_room(size: int) -> None:
    """A lab's tmpfs takes half of the memory and no more: with a larger backing the store failed when that
    was full, with errors of I/O."""
    there = os.statvfs(SCRATCH)
    if os.path.ismount(SCRATCH) and there.f_blocks * there.f_frsize < size + BESIDE:
        call("mount", "-o", f"remount,size={size + BESIDE}", SCRATCH)


def make_disk(run: dict[str, Any]) -> Target:
    make_room(run["backing"])
    with open(BACKING, "wb") as file:
        file.truncate(run["backing"])
    # Of stock kernels it is a module.
    dm.run("modprobe", "loop")
    backing = call("losetup", "--find", "--show", BACKING).strip()
    profile = run["profile"]
    if run["profile_text"]:
        # It may have been changed meanwhile where it was read.
        Path(PROFILE).write_text(run["profile_text"])
        profile = PROFILE
    faults = run.get("faults", {})
    age = [f"age={faults['age']}"] if faults.get("age") else []
    disk = DiskParameters(
        NAME, backing, size=run["size"] or 0, profile=profile, profile_options=run["profile_options"],
        mode="speedup", classify=classify_of(run), options=[*run["options"], *age], format=True)
    return target.make(disk, run.get("array"), run["seed"], run.get("array_state"))


def mkfs_words(system: dict[str, Any], seed: int, disk: str = DISK, zoned: bool = False) -> list[str]:
    """With a fixed uuid: ext's order of names, and so a run's times, depend on it."""
    fixed = str(uuid.UUID(int=(seed << 64) + 0xDA71D, version=4))
    words = [word + EXTENDED if word.startswith("hash_seed=") and system["type"] == "ext4" else word
             for word in filesystems.made_alike(system["type"], fixed, zoned)]
    return [*words, *system["mkfs"], disk]


def mount(system: dict[str, Any], disk: str = DISK) -> None:
    os.makedirs(MOUNT, exist_ok=True)
    words = list(EXT4_OPTIONS) if system["type"] == "ext4" else []
    words += [system["mount"]] if system["mount"] else []
    options = ["-o", ",".join(words)] if words else []
    call("mount", "-t", system["type"], *options, disk, MOUNT)


def make_file_system(run: dict[str, Any], disk: str = DISK) -> str:
    """Where the workload goes to."""
    if run["file_system"]["type"] == "none":
        return disk
    call(*mkfs_words(run["file_system"], run["seed"], disk, "zoned" in run))
    mount(run["file_system"], disk)
    return MOUNT


def age(run: dict[str, Any]) -> dict[str, Any] | None:
    """What came of the aging, if the question wants the file system aged."""
    told = run.get("age")
    return aging.age(MOUNT, recipe.Recipe(size=0, **told), run["seed"]) if told else None


def fill(run: dict[str, Any], top: str, disk: str) -> journal.Ranges | None:
    """What the workload begins with, on the disk and out of every cache. Where the file system has its
    journal, if that is known: on an array it is not."""
    found = None
    work = run["workload"]
    if prepare := KINDS[work["kind"]].prepare:
        prepare(top, work["params"], run["seed"])
    if top == MOUNT:
        call("umount", MOUNT)
        if not run.get("array"):
            found = journal.ranges(run["file_system"]["type"], disk)
        align()
        mount(run["file_system"], disk)
    Path("/proc/sys/vm/drop_caches").write_text("3")
    return found


def figures() -> dict[str, Any]:
    return target.SINGLE.figures()


class Span:
    """What is measured of a run: from begin() to end(). Time goes on the drive's clock from the making on."""

    def __init__(self, disk: Target, recorder: places.Recorder | None) -> None:
        self.disk, self.recorder = disk, recorder
        self.sampler: Sampler | None = None
        disk.set_mode("timing-accurate")
        self.limits = disk.limits()
        self.first = disk.figures()

    def begin(self) -> None:
        # Its reach is of what went before.
        self.warm = baseline.difference(self.disk.figures(), self.first)
        self.disk.message("reach", "restart")
        self.before = self.disk.figures()
        self.array = self.disk.of_array()
        self.sampler = Sampler(self.disk.figures, self.before, self.recorder)
        if self.recorder:
            self.recorder.begin(time.monotonic_ns())
        self.sampler.__enter__()
        self.start = time.monotonic_ns()

    def end(self) -> None:
        self.ns = time.monotonic_ns() - self.start
        # Not later: what the drive does meanwhile is no part of it.
        if self.recorder:
            self.recorder.end()
        now = self.disk.figures()
        self.array_then = self.disk.of_array()
        assert self.sampler, "it has begun"
        self.sampler.__exit__()
        self.part = baseline.difference(now, self.before)
        self.timed = baseline.difference(now, self.first)
        self.rows = [*self.sampler.rows, row(self.part, self.ns)]
        self.places = self.sampler.places

    def close(self) -> None:
        """Nobody samples or records any more, whatever became of the workload."""
        if self.sampler:
            self.sampler.__exit__()
        if self.recorder:
            self.recorder.close()

    def home(self) -> steady.Home:
        """What came to the disk, and what a shingled one has not written home. To ask takes time."""
        return steady.home_of(self.disk.figures())

    def left(self, top: str) -> int:
        """How long it takes until all is on the media; ns."""
        start = time.monotonic_ns()
        for path in dict.fromkeys((top, self.disk.path)):
            fd = os.open(path, os.O_RDONLY)
            try:
                if path != self.disk.path and ctypes.CDLL(None).syncfs(fd):
                    raise RunFailed(f"{path}: what it has in memory cannot be written")
                os.fsync(fd)
            finally:
                os.close(fd)
        return time.monotonic_ns() - start


def recorder(disk: Target, found: journal.Ranges | None) -> places.Recorder | None:
    """Where waiting takes no real time, and the kernel tells of requests."""
    try:
        return places.Recorder(disk.disks, found) if virtual() else None
    except UserError:
        return None


def measure(run: dict[str, Any], top: str, disk: Target, found: journal.Ranges | None) -> dict[str, Any]:
    """The workload in the drive's time, and all that is known of it. FOUND is where a journal lies."""
    recording = recorder(disk, found)
    align()
    span = Span(disk, recording)
    try:
        return measured(run, top, span)
    finally:
        span.close()


def measured(run: dict[str, Any], top: str, span: Span) -> dict[str, Any]:
    work, disk = run["workload"], span.disk
    kind, params = KINDS[work["kind"]], work["params"]
    disk.rebuild()
    fail(run, disk)
    is_random = bool(kind.random and kind.random(params))
    warming = None
    if params.get("steady"):
        warming = steady.Warming(params["processes"], params["operations"], params["settle"],
                                 span.limits.cache, span.home, span.begin, bool(span.limits.media_cache))
        record = kind.run(work["kind"], top, params, run["seed"], warming)
        warming.close()
    else:
        span.begin()
        record = kind.run(work["kind"], top, params, run["seed"])
    span.end()
    # A program that says how long it was at its operations has a start and an end besides.
    ns, left = record.own_ns or span.ns, span.left(top)
    span.close()  # not before: that waits, so the drive would write meanwhile
    homes = (steady.home_of(span.before), span.home())
    seen = doubts.Seen(
        record, ns, left, span.part, span.timed, homes, span.limits, is_random, kind.rated,
        0 if record.own_ns else span.start, warming.outcome() if warming else None,
        span.warm if warming else None, "faults" in run, params.get("steady"), bool(disk.rebuilt),
        is_mended(run, span.array_then))
    result = outcome(seen, span.rows) | {"places": span.places}
    return with_array(result, run, span)


def is_mended(run: dict[str, Any], then: ArraySaid | None) -> bool:
    """Did md give what members failed to give, by the others? More of them may be missing than it bears."""
    return then is not None and 0 < bears(run) >= then.degraded


def bears(run: dict[str, Any]) -> int:
    return arraywords.Array(**run["array"]).bears()


def with_array(result: dict[str, Any], run: dict[str, Any], span: Span) -> dict[str, Any]:
    """The result, with what the array was: was that what was asked for?"""
    before, then = span.array, span.array_then
    if not before or not then:
        return result
    result["array"] = {"degraded": then.degraded, "action": then.action,
                       "rebuilt_bytes": then.rebuilt - before.rebuilt}
    result["wrong"] += array_wrong(run, then)
    return result


def array_wrong(run: dict[str, Any], then: ArraySaid) -> list[str]:
    """Members may go by faults that were asked for, and for no other reason."""
    state = run.get("array_state", {})
    asked = sum(map(len, state.values()))
    found = []
    if arraywords.REBUILDING in state and then.action != "recover":
        found.append("array: the rebuild ended before the last operation, so the figures are of a healthy "
                     "array, too (fewer operations, or a larger disk)")
    elif then.degraded < asked or (then.degraded > asked and "faults" not in run):
        found.append(f"array: {then.degraded} members are missing, and by the question {asked}")
    return found


def dateless(figures: dict[str, Any]) -> dict[str, Any]:
    """Of a disk's figures what a second run has, too: when the disk was made is no figure of a run."""
    return {name: value for name, value in figures.items() if name != "created"}


def outcome(seen: doubts.Seen, rows: list[Row]) -> dict[str, Any]:
    record, ns, part = seen.record, seen.ns, seen.part
    verdict, found = lateness.verdict(part), check.findings(part)
    wrong = [f"{finding.what}: {finding.text}" for finding in found if not finding.good]
    if not sum(part["modelled"].values()):
        wrong.append("nothing was measured: no read or write came to the disk while operations counted")
    if short := too_short(record):
        wrong.append(f"too short: {short}")
    seconds = ns / 1e9
    return {
        "seconds": seconds,
        "operations": record.operations(),
        "operations_per_s": record.operations() / seconds,
        "megabytes_per_s": (record.read + record.written) / 1e6 / seconds,
        "read_bytes": record.read,
        "written_bytes": record.written,
        "latency": summary(record),
        "times": {"good": verdict.good, "text": verdict.text},
        "wrong": wrong,
        "doubts": doubts.found(seen),
        "reach": doubts.reach_of(part),
        "left_ns": seen.left_ns,
        "steady": seen.warming,
        "stats": dateless(part),
        "columns": COLUMNS,
        "samples": [line[:-1] for line in rows],
        "histograms": [line[-1] for line in rows],
    }


def loops_of(path: str) -> list[str]:
    """The loop devices on a file, also where its name was taken away meanwhile: losetup --associated finds
    none then."""
    path = os.path.realpath(path)
    found = json.loads(call("losetup", "--json", "--output", "NAME,BACK-FILE") or "{}")
    return [loop["name"] for loop in found.get("loopdevices", [])
            if loop["back-file"] in (path, f"{path} (deleted)")]


def clean_up() -> None:
    """Take away what is there: all of it, or what a failed phase left."""
    if os.path.ismount(MOUNT):
        call("umount", MOUNT)
    target.remove()
    places.remove()
    for loop in loops_of(BACKING):
        call("losetup", "--detach", loop)
    for path in (BACKING, PROFILE):
        Path(path).unlink(missing_ok=True)
    fiojob.clean_up()
    shutil.rmtree(trees.SCRATCH, ignore_errors=True)


def said_of_disk(disk: Target | None) -> str:
    """What is wrong with the disk of a run that failed: what a program saw of it was an error of I/O."""
    if not disk:
        return ""
    try:
        now = disk.figures()
    except UserError:
        return ""
    said = [f"{finding.what}: {finding.text}" for finding in check.findings(now)
            if not finding.good and finding.what != "times"]
    if failed := failed_by_drive(now):
        said.append(f"{failed} requests failed by the drive's faults")
    return f"; of the disk: {', '.join(said)}" if said else ""


def phases(run: dict[str, Any]) -> dict[str, Any]:
    # What is not ours is not removed.
    if target.there():
        raise RunFailed(f"a disk {NAME} is there: another bench runs, or one was killed: david remove {NAME}")
    disk = None
    try:
        fix_dirty_limits(run)
        align()
        disk = make_disk(run)
        align()
        top = make_file_system(run, disk.path)
        aged = age(run)
        found = fill(run, top, disk.path)
        return measure(run, top, disk, found) | ({"aged": aged} if aged else {})
    except ERRORS as error:
        raise RunFailed(f"{error}{said_of_disk(disk)}") from None
    finally:
        clean_up()


def with_copies(run: dict[str, Any], directory: Path) -> dict[str, Any]:
    """The run with its workload's files where labrun.py has put them: beside the description."""
    work = run["workload"]
    found = {key: str(directory / key) for key in files_of(run)}
    return run | {"workload": work | {"params": work["params"] | found}}


def _end(number: int, _: object) -> None:
    """By way of the clean-up, which no second signal ends: `timeout` sends two."""
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def answer(run: dict[str, Any], result: dict[str, Any]) -> str:
    """What a run leaves: what it was told, its figures, and with which programs it came to them."""
    found = {"run": run, "result": result, "versions": called.versions()}
    return json.dumps(found, sort_keys=True)


def main() -> int:
    signal.signal(signal.SIGTERM, _end)
    os.chdir("/")  # from where davidlib is
    description, place = map(Path, sys.argv[1:3])
    run = json.loads(description.read_text())
    try:
        result = phases(with_copies(run, description.parent))
    except ERRORS as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    place.write_text(answer(run, result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
