# SPDX-License-Identifier: GPL-2.0
"""A file system is made smaller while it is mounted, and something else is made in what was cut off, at once:
through the page cache, which writes it in any order and at any time.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from helpers.guest import attached, mounted, run
from helpers.units import GIB, MIB
from helpers.victim import MODES, fake, in_modes, look, make, many_directories, populate, sync, told, tree

SIZE = 4 * GIB
CUT = 600 * MIB  # within xfs's last group


def shrink(fs: str, top: str) -> None:
    if fs == "xfs":
        run("xfs_growfs", "-D", str((SIZE - CUT) >> 12), top)
    else:
        run("btrfs", "filesystem", "resize", f"-{CUT}", top)


def in_what_was_cut_off(mode: str, fs: str, other: str, *words: str, looped: bool = False) -> None:
    """With `looped` the first one is written through the page cache as well."""
    with fake(mode, SIZE, 1536 * MIB) as (disk, _), ExitStack() as stack:
        device = stack.enter_context(attached(disk)) if looped else disk
        make(fs, device)
        with mounted(device, fs) as top:
            populate(top, "old")
            sync(top)
            shrink(fs, top)
            with attached(disk, SIZE - CUT) as tail:
                make(other, tail, *words)
                for number in range(3):
                    populate(top, f"meanwhile{number}", 60)
                    Path(f"{top}/noise{number}").write_bytes(bytes(range(1, 256)) * 32768)
                    sync(top)
                with mounted(tail, other) as below:
                    populate(below, "other", 200)
                    many_directories(below, "t")
                    populate(top, "more")
                    sync(top)
                    expected, shorter = tree(below), tree(top)
                look(other, tail, expected, f"{other} in what was cut off from {fs}")
        told(mode)
        look(fs, device, shorter, f"the {fs} that is shorter")


@in_modes(*MODES)
def an_xfs_in_what_was_cut_off_from_an_xfs_is_whole(mode: str) -> None:
    in_what_was_cut_off(mode, "xfs", "xfs", "-K")


@in_modes("implicit")
def an_ext4_in_what_was_cut_off_from_an_xfs_is_whole(mode: str) -> None:
    in_what_was_cut_off(mode, "xfs", "ext4", "-E", "nodiscard")


@in_modes("implicit")
def an_xfs_in_what_was_cut_off_from_an_xfs_behind_a_cache_is_whole(mode: str) -> None:
    in_what_was_cut_off(mode, "xfs", "xfs", "-K", looped=True)


@in_modes("keep", "implicit")
def an_xfs_in_what_was_cut_off_from_a_btrfs_is_whole(mode: str) -> None:
    in_what_was_cut_off(mode, "btrfs", "xfs", "-K")


@in_modes("implicit")
def an_xfs_in_what_was_cut_off_from_a_btrfs_behind_a_cache_is_whole(mode: str) -> None:
    in_what_was_cut_off(mode, "btrfs", "xfs", "-K", looped=True)


@in_modes("implicit")
def an_xfs_in_what_was_cut_off_from_an_ext4_is_whole(mode: str) -> None:
    """That has to be unmounted for it."""
    with fake(mode, SIZE, 1536 * MIB) as (disk, _):
        make("ext4", disk)
        with mounted(disk, "ext4") as top:
            populate(top, "old")
        run("e2fsck", "-fy", disk)
        run("resize2fs", disk, f"{(SIZE - CUT) >> 10}K")
        with mounted(disk, "ext4") as top, attached(disk, SIZE - CUT) as tail:
            make("xfs", tail, "-K")
            populate(top, "more")
            with mounted(tail, "xfs") as below:
                populate(below, "other", 200)
                sync(top)
                expected, shorter = tree(below), tree(top)
            look("xfs", tail, expected)
        told(mode)
        look("ext4", disk, shorter)
