# SPDX-License-Identifier: GPL-2.0
"""A disk in a lab on which programs are traced and traces are replayed, each time from the same state."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
TREE = Path(__file__).resolve().parents[2]
from davidlib.bench import testbed  # noqa: E402
from davidlib.disk import setting  # noqa: E402
from davidlib.replay import target  # noqa: E402
from davidlib.replay.snapshot import Snapshot, mount_of  # noqa: E402

MIB = 1 << 20
BUILD = TREE / "build"
SCRATCH = Path("/tmp/replaying")
TOP = Path(testbed.MOUNT)
PLACE = TOP / "here"
HITACHI = "hitachi-hds721010kla330"
# A program by itself, in the order of `record --fifo` and `replay --fifo`: as its threads are woken.
OWN = ("chrt", "--fifo", "1")


def call(*words: object, **more: Any) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)
    if done.returncode:
        raise SystemExit(f"{words}: exit status {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def begin() -> None:
    shutil.rmtree(SCRATCH, ignore_errors=True)
    SCRATCH.mkdir()


def build_program(name: str) -> Path:
    """A program of tests/bench/, on no modelled disk. It has a clock that does not move the virtual one."""
    out = SCRATCH / name
    flags = ("-O1", "-std=gnu11", "-D_GNU_SOURCE", "-static", "-pthread")
    call("cc", *flags, "-o", out, TREE / f"tests/bench/{name}.c", TREE / "tools/common/clock.c")
    return out


class Disk:
    """One modelled disk with a file system, in the drive's time only where it is asked for."""

    def __init__(
        self, profile: str = HITACHI, system: str = "ext4", keep: bool = False, options: tuple[str, ...] = ()
    ) -> None:
        mount = "no_prefetch_block_bitmaps" if system == "ext4" else ""
        self.run = {
            "backing": 512 * MIB, "profile": profile, "profile_text": "", "size": None,
            "classify": "keep" if keep else "auto", "profile_options": list(options),
            "options": [], "seed": 1,
            "file_system": {"type": system, "name": system, "mkfs": [], "mount": mount},
        }  # fmt: skip

    def __enter__(self) -> Disk:
        testbed.make_disk(self.run)
        return self

    def __exit__(self, *_: object) -> None:
        testbed.clean_up()

    @staticmethod
    def at_full_speed() -> None:
        setting.change(testbed.NAME, [("mode", "speedup")])

    def new(self) -> None:
        """A new file system, at full speed."""
        self.at_full_speed()
        if os.path.ismount(testbed.MOUNT):
            testbed.call("umount", testbed.MOUNT)
        # mkfs.btrfs refuses a UUID that a disk has, if only this one.
        testbed.call("wipefs", "--all", "--quiet", testbed.DISK)
        testbed.make_file_system(self.run)

    def place(self) -> Path:
        """Where a program is to work, in a new file system."""
        self.new()
        PLACE.mkdir()
        return PLACE

    def snapshot(self, name: str) -> Snapshot:
        os.sync()
        return Snapshot(mount_of(TOP), SCRATCH / name)

    @staticmethod
    def in_time(state: Snapshot, number: int) -> None:
        """From that state: cold, idle, and with the platter somewhere else for each number."""
        state.restore()
        target.make_cold(TOP)
        time.sleep(0.0037 * (number * 7 % 11))
        setting.change(testbed.NAME, [("mode", "timing-accurate")])


def record(name: str, *command: object, **more: Any) -> tuple[Path, str]:
    """A trace, and what the program has printed."""
    dtr, trace = SCRATCH / f"{name}.dtr", SCRATCH / f"{name}.db"
    options = ("--sync", "--layout", "--fifo", "--share-disk")  # who waits for whom, and where files lie, too
    said = call(BUILD / "david-trace", "record", "--out", dtr, *options, "--", *command, **more)
    call(BUILD / "david-trace", "finish", dtr, trace)
    dtr.unlink()
    return trace, said


def elapsed_of(trace: Path) -> int:
    """From the first call to the last, ns."""
    said = call(BUILD / "david-compile", "--order", "single", "--stats", trace, SCRATCH / "elapsed.wl")
    return int(dict(line.split() for line in said.splitlines())["elapsed-ns"])


def compiled(trace: Path, order: str, *options: object) -> Path:
    """Without what was not on the disk, as the program itself and its libraries."""
    workload = trace.with_suffix(f".{order}.wl")
    call(BUILD / "david-compile", "--order", order, "--root", TOP, *options, trace, workload)
    return workload


def prepared(disk: Disk, workload: Path) -> Snapshot:
    disk.new()
    call(BUILD / "david-replay", "prepare", workload, TOP)
    return disk.snapshot("replay.store")


def replay(workload: Path, *options: object) -> dict[str, Any]:
    words = ["run", "--fifo", "--log", SCRATCH / "log", *options, workload, TOP]
    return json.loads(call(BUILD / "david-replay", *words))
