# SPDX-License-Identifier: GPL-2.0
"""File systems on disks with zones: the tree of the same life on a null_blk device with the same zones that
stores everything, a clean checker, what is squashed of data, and power cuts.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path

from cases import case
from helpers.filesystems import whole_check
from helpers.guest import Failed, device_stats, loop_disk, mounted, run, say
from helpers.manifest import manifest
from helpers.planted import all_found, must_fail, planted
from helpers.trees import equal
from helpers.units import FULL, MIB
from helpers.workload import SCALES, Workload
from helpers.zonecuts import PLACES, SHAPES, cut_life, make, squashed
from helpers.zoned import null_zoned, zoned_disk

SEED = 40
STREAM = 256 * MIB if FULL else 64 * MIB
# Of the stream at least so much: issue 40's number.
SQUASHED = 0.99
# Nobody's pages are looked at with implicit, and its classifier does not know btrfs and f2fs on zones.
KEPT = ("keep", "implicit")


@dataclass
class Lived:
    tree: list[str]
    contents: list[str]  # the same, with what files have
    streamed: int = 0  # of data in a row
    squashed: int = 0  # of these


def stream(path: str) -> None:
    rng = random.Random(SEED)
    with open(path, "wb") as file:
        for _ in range(STREAM // MIB):
            file.write(rng.randbytes(MIB))
        file.flush()
        os.fsync(file.fileno())


def life(fs: str, disk: str) -> Lived:
    """mkfs, all that a file system can be asked for, a stream; the checker, mounted again, the checker."""
    make(fs, disk)
    name = os.path.basename(disk)
    fake = disk.startswith("/dev/mapper/")
    with mounted(disk, fs) as top:
        work = Workload(top, SEED, SCALES["tiny"])
        work.run()
        lived = Lived([], [])
        os.sync()
        before = squashed(name) if fake else 0
        stream(f"{top}/stream")
        os.sync()
        lived.streamed = STREAM
        lived.squashed = squashed(name) - before if fake else 0
    run(*whole_check(fs), disk)
    with mounted(disk, fs) as top:
        lived.tree, lived.contents = manifest(top), manifest(top, content=True)
    run(*whole_check(fs), disk)
    return lived


def check_figures(fs: str, mode: str, lived: Lived) -> None:
    figures = device_stats("zf")
    if figures["errors"] or figures["nospc"]:
        raise Failed(f"{fs}, {mode}: requests failed: {figures}")
    share = lived.squashed / lived.streamed
    say(f"zonedfs: {fs}, {mode}: of a stream of {lived.streamed >> 20} MiB {100 * share:.2f} % squashed; "
        f"store {figures['store_used']} blocks")
    if mode in KEPT:
        if lived.squashed:
            raise Failed(f"{fs}, {mode}: {lived.squashed} bytes were squashed")
    elif share < SQUASHED:
        raise Failed(f"{fs}, {mode}: only {100 * share:.2f} % of the stream were squashed")


def lives(fs: str, *modes: str) -> None:
    shape = SHAPES[fs]
    with null_zoned("reference", shape, stores=True) as null:
        reference = life(fs, null)
    for mode in modes:
        with loop_disk(1536 * MIB) as backing, zoned_disk("zf", shape, backing, f"classify={mode}") as disk:
            lived = life(fs, disk)
            check_figures(fs, mode, lived)
        equal(f"{fs}, {mode}", reference.tree, lived.tree)
        if mode in KEPT:
            equal(f"{fs}, {mode}, contents", reference.contents, lived.contents)


@case(seldom=True)
def btrfs_on_zones_lives_as_on_a_device_that_stores_all_and_its_data_is_squashed() -> None:
    lives("btrfs", "auto")


@case(seldom=True)
def btrfs_on_zones_lives_in_each_mode() -> None:
    lives("btrfs", "explicit", "implicit", "keep")


@case(seldom=True)
def f2fs_on_zones_lives_in_each_mode_and_its_data_is_squashed() -> None:
    lives("f2fs", "auto", "explicit", "implicit", "keep")


@case(seldom=True)
def btrfs_on_zones_has_what_was_synced_after_a_power_cut() -> None:
    cut_life("btrfs", 60 if FULL else 12, 400 if FULL else 12, 40)


@case(seldom=True)
def f2fs_has_what_was_synced_after_a_power_cut() -> None:
    """On zones, on a disk without them, and on a device that is no fake disk, which is the control."""
    for on in PLACES:
        cut_life("f2fs", 60 if FULL else 12, 400 if FULL else 12, 40, on=on)


@case(seldom=True)
def f2fs_does_not_promise_the_first_sync_before_the_next_on_a_plain_device_either() -> None:
    """If this fails, Linux has mended it, and helpers.zonecuts.TWICE can go."""
    with must_fail():
        cut_life("f2fs", 2, 40, 42, on="plain", twice=False)


@case(planted=True)
def a_flush_that_does_not_wait_is_found_by_btrfs_on_zones() -> None:
    with planted("late"), must_fail():
        cut_life("btrfs", 20, 60, 41)


@case(planted=True)
def a_flush_that_does_not_wait_is_found_by_f2fs() -> None:
    for on in ("zones", "disk"):
        with planted("late"), must_fail():
            cut_life("f2fs", 20, 60, 41, on=on)


@case(planted=True)
def a_checksum_of_another_block_is_found_by_btrfs_on_zones() -> None:
    with planted("unit"), must_fail():
        lives("btrfs", "auto")


@case(planted=True)
def f2fs_s_own_inodes_taken_for_data_are_found_on_zones() -> None:
    with planted("nodes"), must_fail():
        lives("f2fs", "auto")


def few_files() -> None:
    """All data of btrfs on zones is appended. Its checksums know where each block should be."""
    shape = SHAPES["btrfs"]
    with loop_disk(256 * MIB) as backing, zoned_disk("zf", shape, backing, "classify=keep") as disk:
        make("btrfs", disk)
        with mounted(disk, "btrfs") as top:
            for number in range(8):
                Path(top, f"file{number}").write_bytes(random.Random(number).randbytes(100_000))
        if not device_stats("zf")["zones"]["append"]:
            raise Failed("nothing was appended")
        run(*whole_check("btrfs"), disk)


@case(planted=True, complaints="BTRFS")
def an_append_that_is_told_another_sector_is_found_by_btrfs() -> None:
    few_files()
    all_found(("zone_append", few_files))
