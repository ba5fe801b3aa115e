# SPDX-License-Identifier: GPL-2.0
"""A mirror, or a copy, of a real disk onto the fake one while the file system on it is at work; then the fake
disk alone. What was written before is copied in any order, and is in nobody's log any more.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from helpers.guest import loop_disk, mounted, run
from helpers.layouts import ARRAY, at_work, slowly, synced
from helpers.units import MIB
from helpers.victim import (
    MODES,
    fake,
    in_modes,
    look,
    make,
    many_directories,
    populate,
    sync,
    told,
    tree,
    wait_until,
)

# Bitmaps and inode tables all over the disk, most of them behind a small log.
SPREAD = ("-O", "^flex_bg", "-g", "8192", "-J", "size=4,location=3000", "-E", "lazy_itable_init=0")


@contextmanager
def array(*words: str) -> Iterator[str]:
    run("mdadm", "--create", ARRAY, "--run", "--metadata=1.2", *words)
    try:
        yield ARRAY
    finally:
        run("mdadm", "--stop", ARRAY)


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
