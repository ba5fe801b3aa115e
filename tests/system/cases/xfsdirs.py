# SPDX-License-Identifier: GPL-2.0
"""xfs with directory blocks larger than its blocks, which lie in pieces where free space is scattered.

xfs itself (6.12) cannot recover directory blocks in pieces: on dm-linear, too, a mount finds them corrupt
when their changes are in the log only. So these are home before the disk is taken away here; cuts at any
other moment are selfid_hunt.py's.

DAVID_SCALE=full does more of everything.
"""

from __future__ import annotations

import os
import random

from cases import case
from helpers.crashes import CRASH, Kind, counts, crash, crashing, disk_of, mount_of
from helpers.guest import Failed, run, say
from helpers.manifest import manifest
from helpers.trees import equal
from helpers.units import FULL, MIB
from streams.scatter import fill, in_pieces, make_directories, name_of, no_reserve, scatter

DIRECTORIES = 6 if FULL else 2
DATA = 64 if FULL else 2  # MiB
HOLES = 8000 if FULL else 1000


def kind_of(size: int) -> Kind:
    # These keep space back for themselves, which is whole.
    without = "reflink=0,rmapbt=0,finobt=0"
    words = ("mkfs.xfs", "-q", "-f", "-K", "-m", without, "-n", f"size={size}")
    return Kind("xfs", words, "", ("xfs_repair", "-n"))


def write_data(top: str, megabytes: int) -> float:
    """How much of it is squashed."""
    before = counts("written")["squashed"]
    noise = random.Random(7).randbytes(MIB)
    with open(f"{top}/data", "r+b") as file:
        file.seek(0, os.SEEK_END)
        for _ in range(megabytes):
            file.write(noise)
    run("sync", "-f", top)
    return (counts("written")["squashed"] - before) / (megabytes * MIB // 4096)


def look(top: str, size: int) -> None:
    found = sum(in_pieces(f"{top}/directory-{i}", size) for i in range(DIRECTORIES))
    say(f"xfsdirs: blocks of {size} bytes: {found} pieces")
    if found < 6:
        raise Failed(f"only {found} pieces of directory blocks")


def live_with_blocks_of(size: int) -> None:
    for classify in ("implicit", "auto", "explicit")[: 3 if FULL else 1]:
        live(classify, size)


def live(classify: str, size: int) -> None:
    kind = kind_of(size)
    # What is left whole is used first.
    names = 1500 if FULL else 550 if size == 8192 else 320
    with disk_of(classify, 600 * MIB) as disk:
        run(*kind.mkfs, disk)
        with mount_of(disk, kind) as top:
            make_directories(top, DIRECTORIES)
            os.mknod(f"{top}/data")
            share = write_data(top, DATA)
            scatter(top, HOLES)
            fill(top, DIRECTORIES, 0, names)
            run("sync", "-f", top)
            look(top, size)
            before = manifest(top, content=False)
        say(f"xfsdirs: {classify}: {share:.4f} of the data squashed")
        if share < 0.99:
            raise Failed(f"{share:.4f} of the data was squashed: {counts('evidence')}")
        run(*kind.check, disk)
        with crashing(disk) as name:
            point = f"/tmp/david-tests/crash-dirs-{size}"
            os.makedirs(point, exist_ok=True)
            run("mount", "-t", "xfs", name, point)
            try:
                equal("mounted again", before, manifest(point, content=False))
                fill(point, DIRECTORIES, names, names)
                run("xfs_freeze", "-f", point)
                run("xfs_freeze", "-u", point)
                no_reserve(point)
                os.chmod(f"{point}/directory-1/{name_of(names + 1)}", 0o640)
                write_data(point, 2)
                before = manifest(point, content=False)
            finally:
                crash(kind, disk, point)
        with mount_of(disk, kind) as top:
            equal("after the crash", before, manifest(top, content=False))
            fill(top, DIRECTORIES, 2 * names, names)
            look(top, size)
            before = manifest(top, content=False)
        run(*kind.check, disk)
        with mount_of(disk, kind) as top:
            equal("mounted again", before, manifest(top, content=False))


@case(complaints=CRASH)
def directory_blocks_of_8_KiB_in_pieces_are_kept() -> None:
    live_with_blocks_of(8192)


@case(complaints=CRASH, seldom=True)
def directory_blocks_of_64_KiB_in_pieces_are_kept() -> None:
    live_with_blocks_of(65536)
