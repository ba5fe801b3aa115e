# SPDX-License-Identifier: GPL-2.0
"""Power cuts of file systems on zones: a recorded life, and the store as it was left at places of it."""

from __future__ import annotations

import os
import random
from contextlib import ExitStack

from davidlib.filesystems import made_alike
from helpers import writelog
from helpers.cutlives import Files
from helpers.filesystems import UUID, whole_check
from helpers.guest import SCRATCH, Failed, device_stats, loop_disk, mapped, mounted, run, say
from helpers.units import MIB
from helpers.zoned import Shape, line, null_zoned

# f2fs has its tables in conventional zones.
SHAPES = {
    "btrfs": Shape(zones=96, size=16, capacity=12, max_active=12),
    "f2fs": Shape(zones=128, size=8, conventional=16),
}
BACKING = 96 * MIB


def squashed(name: str) -> int:
    """Bytes, at once or later."""
    figures = device_stats(name)
    blocks = figures["written"]["squashed"] + figures["unclassified"]["data"]  # type: ignore[index]
    return blocks * figures["block_size"]  # type: ignore[no-any-return, operator]


def make(fs: str, disk: str) -> None:
    run(*made_alike(fs, UUID, zoned=True), disk)


def cut_life(fs: str, syncs: int, cuts: int, seed: int, mode: str = "auto") -> int:
    """What a power cut leaves of the store mounts, has what was synced, and is clean, with all checksums of
    btrfs. Returns how many cuts there were.
    """
    rng, shape = random.Random(seed), SHAPES[fs]
    base = SCRATCH / "zonedbase"
    with ExitStack() as stack:
        null = stack.enter_context(null_zoned("zones", shape))
        log = stack.enter_context(writelog.log_disk(512 * MIB))
        table = (f"classify={mode}",)
        with (
            loop_disk(BACKING) as dev,
            writelog.recorded("recorded", dev, log) as backing,
            mapped("zf", line(shape, backing, null, *table)) as disk,
        ):
            make(fs, disk)
            with mounted(disk, fs) as top:
                os.sync()
                writelog.mark("recorded", "mounted")
                files = Files(top, "recorded", seed)
                for number in range(syncs):
                    files.step(number)
            dropped = squashed("zf")
        if not dropped:
            raise Failed("nothing was squashed, so nothing could be lost")
        found = list(writelog.entries(log))
        places = writelog.places(found, writelog.first_mark(found), cuts, rng)
        stack.callback(base.unlink)
        with open(base, "w+b") as image:
            image.truncate(BACKING)
            for number, cut in enumerate(writelog.cuts(image, found, places), 1):

                def prepare(path: str, cut: writelog.Cut = cut) -> None:
                    writelog.copy_left_at(str(base), path, found, cut, rng)

                try:
                    with (
                        loop_disk(BACKING, prepare=prepare) as dev,
                        mapped("zf", line(shape, dev, null, *table)) as disk,
                    ):
                        with mounted(disk, fs) as top:
                            said = files.wrong(top, cut.marked)
                        run(*whole_check(fs), disk)
                except Failed as error:
                    said = str(error)
                if said:
                    where = f"behind entry {cut.place} of {len(found)}, after sync {cut.marked}"
                    raise Failed(f"cut {where}: {said}")
                if number % 50 == 0:
                    say(f"zonedfs: {number} of {len(places)} cuts")
        say(f"zonedfs: {fs}, {mode}: {len(places)} cuts in {syncs} syncs, {dropped >> 10} KiB squashed")
        return len(places)
