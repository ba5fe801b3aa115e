# SPDX-License-Identifier: GPL-2.0
"""Reading and writing a disk past the page cache, and the block layer's range operations."""

from __future__ import annotations

import fcntl
import mmap
import os
import random
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from helpers.guest import Failed

SECTOR = 512
BLOCK = 4096
BLKDISCARD = 0x1277
BLKZEROOUT = 0x127F
BLKFLSBUF = 0x1261
DIRECT = os.O_RDWR | os.O_DIRECT | os.O_CLOEXEC


@contextmanager
def opened(path: str, flags: int = DIRECT) -> Iterator[int]:
    fd = os.open(path, flags)
    try:
        yield fd
    finally:
        os.close(fd)


class Buffer:
    """Page-aligned anonymous memory for O_DIRECT, private or shared (that is: of a tmpfs inode)."""

    def __init__(self, size: int, shared: bool = False) -> None:
        kind = mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE
        self.map = mmap.mmap(-1, size, flags=kind | mmap.MAP_ANONYMOUS)
        self.view = memoryview(self.map)


BUFFER = Buffer(4 << 20)


def write(fd: int, data: bytes | memoryview, offset: int) -> None:
    """A direct write of a copy of `data`."""
    size = len(data)
    BUFFER.view[:size] = data
    done = os.pwrite(fd, BUFFER.view[:size], offset)
    if done != size:
        raise Failed(f"short write: {done} of {size} bytes at {offset}")


def read(fd: int, size: int, offset: int) -> bytes:
    done = os.preadv(fd, [BUFFER.view[:size]], offset)
    if done != size:
        raise Failed(f"short read: {done} of {size} bytes at {offset}")
    return bytes(BUFFER.view[:size])


def discard(fd: int, offset: int, size: int) -> None:
    fcntl.ioctl(fd, BLKDISCARD, struct.pack("QQ", offset, size))


def zero_out(fd: int, offset: int, size: int) -> None:
    fcntl.ioctl(fd, BLKZEROOUT, struct.pack("QQ", offset, size))


def drop_caches(fd: int) -> None:
    fcntl.ioctl(fd, BLKFLSBUF)


def patterned(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


def first_difference(expected: bytes | memoryview, found: bytes | memoryview) -> int:
    """Offset of the first byte that differs, -1 if there is none."""
    if expected == found:
        return -1
    low, high = 0, min(len(expected), len(found))
    while low < high:
        middle = (low + high) // 2
        if expected[low : middle + 1] == found[low : middle + 1]:
            low = middle + 1
        else:
            high = middle
    return low


def must_read(fd: int, expected: bytes | memoryview, offset: int, what: str = "") -> None:
    """Read in pieces as large as the buffer and compare."""
    for start in range(0, len(expected), len(BUFFER.view)):
        piece = expected[start : start + len(BUFFER.view)]
        found = read(fd, len(piece), offset + start)
        at = first_difference(piece, found)
        if at >= 0:
            raise Failed(
                f"{what or 'content'} differs at byte {offset + start + at}: "
                f"expected {bytes(piece[at : at + 8]).hex()}, read {found[at : at + 8].hex()}"
            )
