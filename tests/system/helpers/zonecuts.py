# SPDX-License-Identifier: GPL-2.0
"""Power cuts of file systems on zones, on a fake disk without zones, and on a plain device: a recorded life,
and what is stored as it was left at places of it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from davidlib.filesystems import made_alike
from helpers import writelog
from helpers.cutlives import Files
from helpers.filesystems import UUID, whole_check
from helpers.guest import SCRATCH, Failed, device_stats, loop_disk, mapped, mounted, run, say
from helpers.newer import NEWER, newer
from helpers.units import MIB
from helpers.zoned import Shape, line, null_zoned

# f2fs has its tables in conventional zones; xfs has its log, too, and needs 300 MB of them.
SHAPES = {
    "btrfs": Shape(zones=96, size=16, capacity=12, max_active=12),
    "f2fs": Shape(zones=128, size=8, conventional=16),
    "xfs": Shape(zones=96, size=16, conventional=32),
}
BACKING = 96 * MIB
SIZE = 512 * MIB  # of a disk without zones
# Where the file system is: a fake disk with zones; one without; a plain device, the control.
PLACES = ("zones", "disk", "plain")
# Who promises of a file's fsync() only what holds behind the next one.
TWICE = ("f2fs",)


def squashed(name: str) -> int:
    """Bytes, at once or later."""
    figures = device_stats(name)
    blocks = figures["written"]["squashed"] + figures["unclassified"]["data"]  # type: ignore[index]
    return blocks * figures["block_size"]  # type: ignore[no-any-return, operator]


def make(fs: str, disk: str, on: str = "zones") -> None:
    if fs in NEWER:
        newer(*NEWER[fs].mkfs, disk)
        return
    words = list(made_alike(fs, UUID, zoned=on == "zones"))
    if fs == "f2fs" and on == "plain":
        # What is discarded would be recorded as so many zeros.
        words += ["-t", "0"]
    run(*words, disk)


def check(fs: str, disk: str) -> None:
    """Nothing is wrong with it, nor with its data where there are checksums."""
    if fs in NEWER:
        newer(*NEWER[fs].check, disk)
    else:
        run(*whole_check(fs), disk)


class Bench:
    """Where a life is, and where its store is mounted again."""

    def __init__(self, stack: ExitStack, fs: str, on: str, mode: str) -> None:
        self.on, self.mode, self.shape = on, mode, SHAPES[fs]
        self.size = SIZE if on == "plain" else BACKING
        self.zones = stack.enter_context(null_zoned("zones", self.shape)) if on == "zones" else ""

    @contextmanager
    def disk(self, backing: str) -> Iterator[str]:
        if self.on == "plain":
            yield backing
            return
        table = f"0 {SIZE >> 9} david {backing} 1 classify={self.mode}"
        if self.on == "zones":
            table = line(self.shape, backing, self.zones, f"classify={self.mode}")
        with mapped("zf", table) as disk:
            yield disk


def places(found: list[writelog.Entry], cuts: int, rng: random.Random) -> list[int]:
    """A quarter of them just behind a mark, as then what is durable has just been said."""
    first = writelog.first_mark(found)
    marks = [at for at in range(first, len(found)) if found[at].flags & writelog.MARK]
    behind = set(rng.sample(marks, min(cuts // 4, len(marks))))
    return sorted(behind | set(writelog.places(found, first, cuts - len(behind), rng)))


def cut_life(fs: str, syncs: int, cuts: int, seed: int, mode: str = "auto", on: str = "zones",
             twice: bool | None = None) -> int:
    """What a power cut leaves of the store mounts, has what was synced, and is clean, with all checksums of
    btrfs. Returns how many cuts there were.
    """
    rng = random.Random(seed)
    base = SCRATCH / "zonedbase"
    with ExitStack() as stack:
        bench = Bench(stack, fs, on, mode)
        log = stack.enter_context(writelog.log_disk(512 * MIB))
        dropped = 0
        with (
            loop_disk(bench.size) as dev,
            writelog.recorded("recorded", dev, log) as backing,
            bench.disk(backing) as disk,
        ):
            make(fs, disk, on)
            with mounted(disk, fs) as top:
                os.sync()
                writelog.mark("recorded", "mounted")
                files = Files(top, "recorded", seed, twice=fs in TWICE if twice is None else twice)
                for number in range(syncs):
                    files.step(number)
            if on != "plain":
                dropped = squashed("zf")
                if not dropped:
                    raise Failed("nothing was squashed, so nothing could be lost")
        found = list(writelog.entries(log))
        chosen = places(found, cuts, rng)
        stack.callback(base.unlink)
        with open(base, "w+b") as image:
            image.truncate(bench.size)
            for number, cut in enumerate(writelog.cuts(image, found, chosen), 1):

                def prepare(path: str, cut: writelog.Cut = cut) -> None:
                    writelog.copy_left_at(str(base), path, found, cut, rng)

                try:
                    with loop_disk(bench.size, prepare=prepare) as dev, bench.disk(dev) as disk:
                        with mounted(disk, fs) as top:
                            said = files.wrong(top, cut.marked)
                        check(fs, disk)
                except (Failed, OSError) as error:
                    said = str(error)
                if said:
                    where = f"behind entry {cut.place} of {len(found)}, after sync {cut.marked}"
                    raise Failed(f"cut {where}: {said}")
                if number % 50 == 0:
                    say(f"zonecuts: {number} of {len(chosen)} cuts")
        say(f"zonecuts: {fs}, {on}, {mode}: {len(chosen)} cuts in {syncs} syncs, "
            f"{dropped >> 10} KiB squashed")
        return len(chosen)
