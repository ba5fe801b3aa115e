# SPDX-License-Identifier: GPL-2.0
"""Copies of squashed data are squashed: a mirror's new leg takes no more room than the old one."""

from __future__ import annotations

import os
from contextlib import ExitStack

from helpers.guest import david, device_stats, mounted, run
from helpers.layouts import slowly, synced
from helpers.manifest import manifest
from helpers.planted import must_fail, planted
from helpers.stacks import STREAM, Stack, checked_by_md, look_at, stream
from helpers.units import GIB, KIB
from helpers.victim import make, many_directories, populate, sync, wait_until

from cases import case


def stored(disk: str) -> int:
    return int(str(device_stats(disk)["store_used"]))


def a_leg_is_replaced(fs: str) -> None:
    with ExitStack() as exits:
        stack = Stack(exits)
        first, second, third = stack.disk(GIB), stack.disk(GIB), stack.disk(GIB)
        array = stack.md(7, "--level=1 --bitmap=none --assume-clean", first, second)
        david("stack")  # from the first page on
        make(fs, array)
        with mounted(array, fs) as top:
            populate(top, "old", 60)
            stream(f"{top}/stream")
            stream(f"{top}/direct", os.O_DIRECT)
            many_directories(top, "t", 100)
            sync(top)
            tree = manifest(top, content=False)
        checked_by_md(array)
        slowly(10**7)  # at full speed
        run("mdadm", array, "--fail", second, "--remove", second)
        run("mdadm", array, "--add", third)
        wait_until(synced, "both legs in sync", 200)
        checked_by_md(array)
        old, new = stored("victim"), stored("third")
        assert new <= 1.1 * old, f"the new leg stores {new} blocks, the old one {old}"
        squashed = device_stats("third")["evidence"]["made_up"]  # type: ignore[index]
        assert squashed > 2 * STREAM // (4 * KIB) * 0.99, f"{squashed} blocks were known as copies"
        run("mdadm", array, "--fail", first, "--remove", first)
        look_at(fs, array, tree)
        if fs == "btrfs":
            run("btrfs", "check", "--check-data-csum", array)


@case(seldom=True)
def a_new_leg_of_a_mirror_with_ext4_drops_what_the_old_one_dropped() -> None:
    a_leg_is_replaced("ext4")


@case(seldom=True)
def a_new_leg_of_a_mirror_with_btrfs_has_the_checksums_of_the_old_one() -> None:
    a_leg_is_replaced("btrfs")


@case(planted=True)
def planted_copies_without_checksums_are_found() -> None:
    with planted("copy"), must_fail():
        a_leg_is_replaced("btrfs")
