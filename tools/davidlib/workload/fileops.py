# SPDX-License-Identifier: GPL-2.0
"""What workloads do to a file, each with what it took in a record."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

from .record import Record

MIB = 1 << 20
PAGE = 4096
# Any content will do that is not constant: what is written is dropped.
POOL = memoryview(random.Random(1).randbytes(2 * MIB))


def pieces(size: int) -> Iterator[memoryview]:
    """Views of the pool that add up to SIZE."""
    while size > 0:
        part = min(size, MIB)
        yield POOL[size % 4096 : size % 4096 + part]
        size -= part


def write_all(fd: int, size: int) -> None:
    for piece in pieces(size):
        while piece:
            piece = piece[os.write(fd, piece) :]


def _put(record: Record, what: str, path: str, flags: int, size: int, sync: bool) -> None:
    with record.timed(what):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | flags, 0o644)
        try:
            write_all(fd, size)
            if sync:
                os.fsync(fd)
        finally:
            os.close(fd)
    record.written += size


def create(record: Record, path: str, size: int, sync: bool = False) -> None:
    _put(record, "create", path, os.O_TRUNC, size, sync)


def append(record: Record, path: str, size: int, sync: bool = False) -> None:
    _put(record, "append", path, os.O_APPEND, size, sync)


def read_whole(record: Record, path: str) -> None:
    with record.timed("read"):
        fd = os.open(path, os.O_RDONLY)
        try:
            size = 0
            while got := len(os.read(fd, MIB)):
                size += got
            record.read += size
            record.rest += -size % PAGE
        finally:
            os.close(fd)


def stat(record: Record, path: str) -> None:
    with record.timed("stat"):
        os.stat(path)


def delete(record: Record, path: str) -> None:
    with record.timed("delete"):
        os.unlink(path)


def fill(top: str, names: dict[str, int]) -> None:
    """Files with their directories, for a workload to begin with; nothing is recorded."""
    scratch = Record()
    for name, size in names.items():
        path = f"{top}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        create(scratch, path, size)
