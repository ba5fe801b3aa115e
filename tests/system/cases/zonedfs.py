# SPDX-License-Identifier: GPL-2.0
"""File systems on disks with zones: the tree of the same life on a null_blk device with the same zones that
stores everything, a clean checker, what is squashed of data, and power cuts.
"""

from __future__ import annotations

import random
from pathlib import Path

from cases import case
from helpers.guest import Failed, device_stats, loop_disk, mounted
from helpers.planted import all_found, must_fail, planted
from helpers.units import FULL, MIB
from helpers.zonecuts import PLACES, SHAPES, check, cut_life, make
from helpers.zoned import zoned_disk
from helpers.zonelives import lives


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
        check("btrfs", disk)


@case(planted=True, complaints="BTRFS")
def an_append_that_is_told_another_sector_is_found_by_btrfs() -> None:
    few_files()
    all_found(("zone_append", few_files))
