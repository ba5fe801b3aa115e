# SPDX-License-Identifier: GPL-2.0
"""A file system's life on a disk with zones, beside the same on a null_blk device with the same zones that
stores everything: the tree, a clean checker, what is squashed of data.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass

from helpers.guest import Failed, device_stats, loop_disk, mounted, say
from helpers.manifest import manifest
from helpers.trees import equal
from helpers.units import FULL, MIB
from helpers.workload import SCALES, Workload
from helpers.zonecuts import SHAPES, check, make, squashed
from helpers.zoned import null_zoned, zoned_disk

SEED = 40
STREAM = 256 * MIB if FULL else 64 * MIB
# Of the stream at least so much: issue 40's number.
SQUASHED = 0.99
# Nobody's pages are looked at with implicit, and its classifier does not know these file systems on zones.
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
    check(fs, disk)
    with mounted(disk, fs) as top:
        lived.tree, lived.contents = manifest(top), manifest(top, content=True)
    check(fs, disk)
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
