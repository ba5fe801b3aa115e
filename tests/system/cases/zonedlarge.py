# SPDX-License-Identifier: GPL-2.0
"""Drives with zones as large as they are sold, on 256 MiB: mkfs, 10,000 files, the checker, another mount;
what is squashed of data in a row, and how much memory the module has. Each case takes minutes. Those of xfs
are in zonedxfs.
"""

from __future__ import annotations

import os
import random

from cases import case
from helpers import zonefs
from helpers.guest import Failed, mounted, say
from helpers.largezones import DISK, FILES, FLASH, MEMORY, TB, Watch, drive, lives


@case
def btrfs_on_a_disk_of_20_tb_with_sectors_of_512_bytes() -> None:
    with drive("zl", DISK, 20 * TB) as disk:
        lives("btrfs", "btrfs, 20 TB of the HC620's zones", disk)


@case
def btrfs_on_a_flash_drive_of_4_tb() -> None:
    with drive("zl", FLASH, 4 * TB) as disk:
        lives("btrfs", "btrfs, 4 TB of the ZN540's zones", disk)


@case
def f2fs_on_a_disk_of_14_8_tb() -> None:
    """f2fs has 16 TiB at most."""
    with drive("zl", DISK, 14_800 * TB // 1000) as disk:
        lives("f2fs", "f2fs, 14.8 TB of the HC620's zones", disk)


@case
def zonefs_on_a_disk_of_20_tb_has_a_file_of_each_zone() -> None:
    """Nothing of it is squashed: whose content that is, nobody says."""
    with drive("zl", DISK, 20 * TB) as disk:
        watch = Watch("zl")
        zonefs.make(disk)
        rng = random.Random(42)
        numbers = rng.sample(range(70_000), FILES)
        with mounted(disk, "zonefs") as top:
            for number in numbers:
                zonefs.fill(top, number, number.to_bytes(8, "little") * 512)
            watch.done("files")
        with mounted(disk, "zonefs") as top:
            sizes = sum(entry.stat().st_size > 0 for entry in os.scandir(f"{top}/seq"))
            if sizes != FILES:
                raise Failed(f"{sizes} files of zones have something, and {FILES} were written to")
            for number in numbers:
                with open(f"{top}/seq/{number}", "rb") as file:
                    if file.read() != number.to_bytes(8, "little") * 512:
                        raise Failed(f"the file of zone {number} has not what was written")
        watch.done("again")
        say(f"zonedlarge: zonefs, 20 TB of the HC620's zones: {FILES} files, {', '.join(watch.took)}; "
            f"memory {watch.memory} bytes")
        if watch.memory > MEMORY:
            raise Failed(f"the module had {watch.memory} bytes of memory")
