# SPDX-License-Identifier: GPL-2.0
"""Logical volumes on the fake disk: in pieces, beside each other, thin, striped, with snapshots; by the
tables that lvm2 makes, and by lvm2 itself.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from time import sleep

from cases import case
from helpers.filesystems import TOOLS
from helpers.guest import device_stats, loop_disk, mounted, run
from helpers.layouts import PACKED, live_scattered
from helpers.planted import must_fail, planted
from helpers.units import GIB, MIB
from helpers.victim import (
    MODES,
    Mapper,
    fake,
    in_modes,
    linear,
    look,
    make,
    many_directories,
    populate,
    sync,
    told,
    tree,
)

START = MIB


@case
def data_is_dropped_on_a_volume_that_mkfs_has_cleared() -> None:
    """The discard alone proves where the volume lies, whatever else mkfs clears behind it."""
    for fs in ("ext4", "xfs", "btrfs"):
        with fake("implicit", 5 * GIB) as (disk, _), ExitStack() as stack:
            volume = Mapper(stack).create("a", linear(2 * GIB, disk, START))
            make(fs, volume)
            with mounted(volume, fs) as top:
                Path(f"{top}/noise").write_bytes(os.urandom(64 * MIB))
                sync(top)
                written = device_stats("victim")["written"]
            assert written["squashed"] > 32 * MIB // 4096, f"{fs}: {written}"  # type: ignore[index]


def in_two_pieces(mode: str, first: str, second: str) -> None:
    """Volume a is extended behind volume b, both mounted, as lvextend does it."""
    with fake(mode, 20 * GIB) as (disk, _), ExitStack() as stack:
        mapper = Mapper(stack)
        a = mapper.create("a", linear(2 * GIB, disk, START))
        b = mapper.create("b", linear(GIB, disk, START + 2 * GIB)) if second else ""
        make(first, a)
        if second:
            make(second, b)
        with ExitStack() as mounts:
            top = mounts.enter_context(mounted(a, first))
            populate(top, "old")
            if second:
                other = mounts.enter_context(mounted(b, second))
                populate(other, "old")
            run("sync")
            pieces = [linear(2 * GIB, disk, START), linear(2 * GIB, disk, START + 3 * GIB, 2 * GIB)]
            run("dmsetup", "suspend", "a")
            run("dmsetup", "load", "a", "--table", "\n".join(pieces))
            run("dmsetup", "resume", "a")
            TOOLS[first].grow(a, top)
            populate(top, "more", 200)
            sync(top)
            many_directories(top, "top", 200)
            sync(top)
            if second:
                populate(other, "more", 200)
                sync(other)
                other_tree = tree(other)
            expected = tree(top)
        told(mode)
        look(first, a, expected, f"the extended volume ({first})")
        if second:
            look(second, b, other_tree, f"the neighbour ({second})")


@in_modes(*MODES)
def an_ext4_volume_in_two_pieces_loses_nothing(mode: str) -> None:
    in_two_pieces(mode, "ext4", "")


@in_modes(*MODES)
def an_ext4_volume_extended_behind_an_xfs_spares_both(mode: str) -> None:
    in_two_pieces(mode, "ext4", "xfs")


@in_modes(*MODES)
def an_ext4_volume_extended_behind_another_spares_both(mode: str) -> None:
    in_two_pieces(mode, "ext4", "ext4")


@in_modes(*MODES)
def an_xfs_volume_extended_behind_an_ext4_spares_both(mode: str) -> None:
    in_two_pieces(mode, "xfs", "ext4")


@in_modes(*MODES)
def an_xfs_volume_extended_behind_an_f2fs_spares_both(mode: str) -> None:
    in_two_pieces(mode, "xfs", "f2fs")


@in_modes(*MODES)
def a_btrfs_volume_extended_behind_an_ext4_spares_both(mode: str) -> None:
    in_two_pieces(mode, "btrfs", "ext4")


@case(planted=True)
def two_pieces_find_who_believes_in_one() -> None:
    with planted("placed"), must_fail():
        in_two_pieces("implicit", "ext4", "ext4")


CHUNK = 64 << 10


def thin(mode: str, fs: str, *features: str) -> None:
    """Its log comes first, and is found where the volume would have it; all else lies elsewhere."""
    with fake(mode, 8 * GIB) as (disk, _), loop_disk(8 * MIB) as meta, ExitStack() as stack:
        mapper = Mapper(stack)
        pool = mapper.create("pool", f"0 {4 * GIB >> 9} thin-pool {meta} {disk} {CHUNK >> 9} 0")
        # A chunk of another volume between, so that nothing stays in one piece.
        run("dmsetup", "message", "pool", "0", "create_thin", "0")
        run("dmsetup", "message", "pool", "0", "create_thin", "1")
        volume = mapper.create("thin", f"0 {2 * GIB >> 9} thin {pool} 0")
        other = mapper.create("thin-other", f"0 {2 * GIB >> 9} thin {pool} 1")
        make(fs, volume, *features)
        make("xfs", other)
        with mounted(other, "xfs") as aside:
            populate(aside, "old", 60)
            live_scattered(mode, fs, volume, *features)
            populate(aside, "more", 60)
            expected = tree(aside)
        look("xfs", other, expected, "the other thin volume")


@in_modes(*MODES)
def a_thin_ext4_beside_another_loses_nothing(mode: str) -> None:
    thin(mode, "ext4", *PACKED)


@in_modes("implicit")
def a_thin_xfs_beside_another_loses_nothing(mode: str) -> None:
    thin(mode, "xfs")


@in_modes("implicit")
def a_thin_btrfs_beside_an_xfs_loses_nothing(mode: str) -> None:
    thin(mode, "btrfs")


@in_modes(*MODES)
def an_ext4_striped_over_two_disks_loses_nothing(mode: str) -> None:
    """The log is in the first stripe: where the volume would have it."""
    with fake(mode, 4 * GIB) as (disk, _), fake(mode, 4 * GIB, name="second") as (second, _):
        with ExitStack() as stack:
            chunk = 64 * MIB
            table = f"0 {6 * GIB >> 9} striped 2 {chunk >> 9} {disk} 0 {second} 0"
            live_scattered(mode, "ext4", Mapper(stack).create("striped", table), *PACKED)


@in_modes("implicit")
def an_xfs_striped_over_two_disks_loses_nothing(mode: str) -> None:
    with fake(mode, 4 * GIB) as (disk, _), fake(mode, 4 * GIB, name="second") as (second, _):
        with ExitStack() as stack:
            table = f"0 {6 * GIB >> 9} striped 2 128 {disk} 0 {second} 0"
            live_scattered(mode, "xfs", Mapper(stack).create("striped", table))


@in_modes("implicit")
def a_btrfs_striped_over_two_disks_loses_nothing(mode: str) -> None:
    with fake(mode, 4 * GIB) as (disk, _), fake(mode, 4 * GIB, name="second") as (second, _):
        with ExitStack() as stack:
            table = f"0 {6 * GIB >> 9} striped 2 128 {disk} 0 {second} 0"
            live_scattered(mode, "btrfs", Mapper(stack).create("striped", table))


def with_snapshot(mode: str, fs: str, merge: bool, mounted_while_merging: bool = False) -> None:
    """lvcreate -s of a mounted volume, work, and lvconvert --merge; the snapshot's store is on the same
    disk.
    """
    size = 2 * GIB
    with fake(mode, 8 * GIB) as (disk, backing), ExitStack() as stack:
        mapper = Mapper(stack)
        real = mapper.create("real", linear(size, disk, START))
        cow = mapper.create("cow", linear(GIB, disk, START + size))
        origin = mapper.create("origin", f"0 {size >> 9} linear {real} 0")
        make(fs, origin)
        with mounted(origin, fs) as top:
            populate(top, "old", 150)
            many_directories(top, "t", 150)
        with mounted(origin, fs) as top:
            sync(top)
            before = tree(top)
            run("dd", "if=/dev/zero", f"of={cow}", "bs=4k", "count=4", "conv=fsync")
            run("dmsetup", "suspend", "origin")
            snapshot = mapper.create("snapshot", f"0 {size >> 9} snapshot {real} {cow} P 8")
            run("dmsetup", "load", "origin", "--table", f"0 {size >> 9} snapshot-origin {real}")
            run("dmsetup", "resume", "origin")
            for i in range(150):
                upgrade(f"{top}/t{i}", i)
            run("sh", "-c", f"rm -r {top}/old/d1 {top}/old/d2")
            sync(top)
            after = tree(top)
        told(mode)
        look(fs, origin, after, "the origin", "nouuid" if fs == "xfs" else "")
        if not merge:
            if fs != "btrfs":  # two of one uuid
                with mounted(snapshot, fs, "nouuid" if fs == "xfs" else ""):
                    pass
                look(fs, snapshot, before, "the snapshot", "nouuid" if fs == "xfs" else "")
            return
        run("dmsetup", "remove", "snapshot")
        run("dmsetup", "suspend", "origin")
        run("dmsetup", "load", "origin", "--table", f"0 {size >> 9} snapshot-merge {real} {cow} P 8")
        run("dmsetup", "resume", "origin")
        with ExitStack() as mounts:
            if mounted_while_merging:
                top = mounts.enter_context(mounted(origin, fs))
                many_directories(top, "late", 50)
            for _ in range(300):
                words = run("dmsetup", "status", "origin").split()
                if words[3].split("/")[0] == words[4]:
                    break
                sleep(0.2)
            if mounted_while_merging:
                many_directories(top, "later", 50)
                before = tree(top)
        run("dmsetup", "suspend", "origin")
        run("dmsetup", "load", "origin", "--table", f"0 {size >> 9} linear {real} 0")
        run("dmsetup", "resume", "origin")
        with mounted(origin, fs):  # its log may still have something to tell
            pass
        look(fs, origin, before, "merged back")


def upgrade(where: str, i: int) -> None:
    """An upgrade that goes wrong."""
    os.mkdir(f"{where}/upgrade")
    for k in range(4):
        Path(f"{where}/sub/g{k}").write_text(f"{i}\n")
    os.unlink(f"{where}/sub/file")


@in_modes(*MODES)
def a_snapshot_of_a_busy_ext4_and_its_origin_are_whole(mode: str) -> None:
    with_snapshot(mode, "ext4", merge=False)


@in_modes("implicit", "auto")
def a_snapshot_of_a_busy_xfs_and_its_origin_are_whole(mode: str) -> None:
    with_snapshot(mode, "xfs", merge=False)


@in_modes("keep", "implicit")
def an_ext4_rolled_back_by_a_merge_is_whole(mode: str) -> None:
    with_snapshot(mode, "ext4", merge=True)


@in_modes("keep", "implicit", "auto")
def an_ext4_used_while_it_is_merged_back_is_whole(mode: str) -> None:
    with_snapshot(mode, "ext4", merge=True, mounted_while_merging=True)


@in_modes("keep", "implicit")
def an_xfs_rolled_back_by_a_merge_is_whole(mode: str) -> None:
    with_snapshot(mode, "xfs", merge=True)
