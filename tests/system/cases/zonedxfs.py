# SPDX-License-Identifier: GPL-2.0
"""xfs on disks with zones, which needs the newest kernel and mkfs.xfs 6.14: `make zones-xfs`. It has its data
in sequential zones, all else in conventional ones.
"""

from __future__ import annotations

from cases import case
from helpers.largezones import FLASH, TB, drive
from helpers.largezones import lives as large_lives
from helpers.planted import all_found
from helpers.units import FULL
from helpers.zonecuts import cut_life
from helpers.zonelives import lives


@case
def xfs_on_zones_lives_in_each_mode_and_its_data_is_squashed() -> None:
    lives("xfs", "auto", "explicit", "implicit", "keep")


@case
def xfs_on_zones_has_what_was_synced_after_a_power_cut() -> None:
    for mode in ("auto", "explicit"):
        cut_life("xfs", 60 if FULL else 20, 400 if FULL else 50, 40, mode)


@case
def xfs_on_a_flash_drive_of_4_tb_that_has_conventional_zones() -> None:
    """The ZN540 has none, and zones with a capacity below their size. xfs of Linux 7.3 mounts no zones with
    both, on null_blk neither; and without the former it needs a second device for all but data.
    """
    with drive("zl", FLASH, 4 * TB, "conventional_zones=9", "zone_capacity=2GiB") as disk:
        large_lives("xfs", "xfs, 4 TB of the ZN540's zones, all to their end, 1 % conventional", disk)


def short_life() -> None:
    lives("xfs", "auto")


def kept_life() -> None:
    lives("xfs", "keep")


def cut_short_life() -> None:
    cut_life("xfs", 20, 60, 41)


@case(planted=True, complaints="XFS")
def metadata_taken_for_data_a_wrong_append_and_an_early_flush_are_found_by_xfs() -> None:
    """xfs has no checksums of data: the contents of its files tell of a wrong append."""
    all_found(("buffers", short_life), ("zone_append", kept_life), ("late", cut_short_life))
