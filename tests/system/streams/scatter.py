# SPDX-License-Identifier: GPL-2.0
"""An xfs whose free space is in single blocks, so that large directory blocks lie in pieces."""

from __future__ import annotations

import os
import re
from contextlib import suppress

from helpers.guest import Failed, run
from helpers.randomops import KEEP_SIZE, PUNCH_HOLE, checked, libc

EXTENT = re.compile(r"^\s*\d+: \[\d+\.\.\d+\]: (\d+)\.\.(\d+)", re.MULTILINE)


def no_reserve(top: str) -> None:
    """Until the next mount or thaw: what is kept back is whole."""
    run("xfs_io", "-x", "-c", "resblks 0", top)


def scatter(top: str, holes: int) -> None:
    """Take all free space, and give back so many single blocks. Nothing is written."""
    block = os.statvfs(top).f_bsize
    no_reserve(top)
    with open(f"{top}/scatter", "wb") as file:
        at, length = 0, 1 << 30
        while length >= block:
            if not libc.fallocate(file.fileno(), 0, at, length):
                at += length
            else:
                length //= 2
        if at < 2 * holes * block:
            raise Failed(f"only {at} bytes could be taken")
        for i in range(holes):
            checked(libc.fallocate(file.fileno(), PUNCH_HOLE | KEEP_SIZE, 2 * i * block, block))
    run("sync", "-f", top)


def make_directories(top: str, count: int) -> None:
    """To be filled. Before space is scattered: inodes need some that is whole."""
    os.mknod(f"{top}/one")
    for directory in range(count):
        os.mkdir(f"{top}/directory-{directory}")


def name_of(number: int) -> str:
    return f"{number:x}-" + "name" * (10 + number % 40)


def fill(top: str, count: int, first: int, names: int) -> None:
    """So many names from number `first` on in each directory, and a third of the earlier ones taken out."""
    no_reserve(top)
    for directory in range(count):
        path = f"{top}/directory-{directory}"
        for number in range(first, first + names):
            os.link(f"{top}/one", f"{path}/{name_of(number)}")
            if number % 3 == 0:
                with suppress(FileNotFoundError):
                    os.unlink(f"{path}/{name_of(number // 2)}")


def in_pieces(directory: str, bytes_each: int) -> int:
    """Places that are shorter than a directory block."""
    runs = EXTENT.findall(run("xfs_bmap", directory))
    return sum(int(last) - int(first) + 1 < bytes_each // 512 for first, last in runs)
