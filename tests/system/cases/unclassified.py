# SPDX-License-Identifier: GPL-2.0
"""Classification without a journal to decide: blocks wait until an inode tells what they are."""

from __future__ import annotations

import os
import random

from cases import case
from helpers.guest import fake_disk, mounted, ram_disk, run
from helpers.manifest import difference, manifest
from helpers.units import MIB
from helpers.waiting import SIZE, counts


@case
def the_bound_holds_for_a_large_file() -> None:
    options = ("--classify", "implicit", "-o", "unclassified=2")
    noise = random.Random(60).randbytes(MIB)
    with ram_disk(192 * MIB) as dev, fake_disk("waits", SIZE, dev, *options) as disk:
        run("mke2fs", "-q", "-t", "ext2", disk)
        with mounted(disk, "ext2") as top:
            with open(f"{top}/large", "wb") as file:
                for i in range(64):
                    file.write(noise[i:] + noise[:i])
            run("sync", "-f", top)
            before = manifest(top, content=False)
        figures = counts("unclassified")
        assert 0 < figures["most"] <= 2 * MIB // 4096, figures
        assert figures["spilled"] > 0, figures
        run("e2fsck", "-fn", disk)
        with mounted(disk, "ext2") as top:
            wrong = difference(before, manifest(top, content=False))
            assert not wrong, wrong[:20]
            assert os.path.getsize(f"{top}/large") == 64 * MIB
