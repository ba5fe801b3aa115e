# SPDX-License-Identifier: GPL-2.0
"""A mirror, or a copy, of a real disk onto the fake one while the file system on it is at work; then the fake
disk alone. What was written before is copied in any order, and is in nobody's log any more.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from units import MIB
from victim import MODES, fake, in_modes, look, make, many_directories, populate, sync, told, tree, wait_until

from guest import loop_disk, mounted, run

ARRAY = "/dev/md7"
SPEED = Path("/proc/sys/dev/raid")
# Bitmaps and inode tables all over the disk, most of them behind a small log.
SPREAD = ("-O", "^flex_bg", "-g", "8192", "-J", "size=4,location=3000", "-E", "lazy_itable_init=0")


@contextmanager
def at_work(top: str) -> Iterator[None]:
    """Somebody makes directories all the time."""
    child = os.fork()
    if not child:
        try:
            number = 0
            while True:
                number += 1
                where = f"{top}/w{number % 50}/d{number}"
                os.makedirs(where)
                Path(f"{where}/f").write_text(f"{number}\n")
                if number % 10 == 0:
                    sync(top)
        finally:
            os._exit(0)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@contextmanager
def array(*words: str) -> Iterator[str]:
    run("mdadm", "--create", ARRAY, "--run", "--metadata=1.2", *words)
    try:
        yield ARRAY
    finally:
        run("mdadm", "--stop", ARRAY)


def synced() -> bool:
    said = Path("/proc/mdstat").read_text()
    return "_" not in said.rpartition("[")[2] and "recovery" not in said and "resync" not in said


def slowly(speed: int = 20000) -> None:
    for name in ("speed_limit_max", "speed_limit_min"):
        (SPEED / name).write_text(f"{speed}\n")


def resynced(mode: str, fs: str, *features: str, raid: str = "--level=1 --bitmap=none") -> None:
    size = 512 * MIB
    with loop_disk(size) as real, fake(mode, size) as (disk, _):
        with array(*raid.split(), "--raid-devices=2", real, "missing") as md:
            make(fs, md, *features)
            with mounted(md, fs) as top:
                many_directories(top, "old", 300)
                populate(top, "files", 100)
            slowly()
            with mounted(md, fs) as top:
                with at_work(top):
                    time.sleep(1)
                    run("mdadm", md, "--add", disk)
                    wait_until(synced, "both legs in sync", 200)
                sync(top)
                expected = tree(top)
        told(mode)
        run("mdadm", "--assemble", "--run", ARRAY, disk)
        try:
            look(fs, ARRAY, expected, f"{fs} from the fake leg alone")
        finally:
            run("mdadm", "--stop", ARRAY)


@in_modes(*MODES)
def a_mirror_resynced_under_a_busy_ext4_is_whole(mode: str) -> None:
    resynced(mode, "ext4", *SPREAD)


@in_modes("implicit", "auto")
def a_mirror_resynced_under_a_busy_ext3_is_whole(mode: str) -> None:
    resynced(mode, "ext3", *SPREAD)


@in_modes("implicit", "auto")
def a_mirror_resynced_under_a_busy_xfs_is_whole(mode: str) -> None:
    resynced(mode, "xfs")


@in_modes("implicit", "auto")
def a_mirror_resynced_under_a_busy_btrfs_is_whole(mode: str) -> None:
    resynced(mode, "btrfs")


@in_modes("implicit")
def a_raid10_resynced_under_a_busy_ext4_is_whole(mode: str) -> None:
    resynced(mode, "ext4", *SPREAD, raid="--level=10 --layout=f2 --bitmap=none")
