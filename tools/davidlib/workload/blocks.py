# SPDX-License-Identifier: GPL-2.0
"""Requests of one size to a file or to the raw disk: sequential, random, reads, writes, both, with fsync or
not."""

from __future__ import annotations

import mmap
import os
import random
from typing import Any

from . import fileops
from .record import Record
from .several import seeded, together

# Of each kind: is it sequential, and the share of reads in percent (None: the parameter "reads").
SHAPES: dict[str, tuple[bool, int | None]] = {
    "sequential-read": (True, 100),
    "sequential-write": (True, 0),
    "random-read": (False, 100),
    "random-write": (False, 0),
    "mixed": (False, None),
    "database": (False, None),
}


def _is_device(top: str) -> bool:
    return top.startswith("/dev/")


def _target(top: str, number: int) -> str:
    return top if _is_device(top) else f"{top}/file-{number}"


def prepare(top: str, params: dict[str, Any], seed: int) -> None:
    del seed
    if _is_device(top):
        return
    for number in range(params["processes"]):
        fileops.fill(top, {f"file-{number}": params["size"]})


def _span(top: str, params: dict[str, Any], fd: int) -> int:
    """Requests of the block size that fit where requests go to."""
    end = os.lseek(fd, 0, os.SEEK_END) if _is_device(top) else params["size"]
    return end // params["block"]


def _requests(kind: str, top: str, params: dict[str, Any], number: int, rng: random.Random,
              record: Record) -> None:
    sequential, share = SHAPES[kind]
    share = params["reads"] if share is None else share
    block, sync = params["block"], params.get("sync", 0)
    flags = os.O_RDWR | (os.O_DIRECT if params["direct"] else 0)
    fd = os.open(_target(top, number), flags)
    buffer = mmap.mmap(-1, block)
    buffer.write(seeded(number, "block").randbytes(block))
    span = _span(top, params, fd)
    try:
        for at in range(-(-params["operations"] // params["processes"])):
            place = (at if sequential else rng.randrange(span)) % span * block
            reads = rng.randrange(100) < share
            with record.timed("read" if reads else "write"):
                done = os.preadv(fd, [buffer], place) if reads else os.pwrite(fd, buffer, place)
                if sync and not reads and at % sync == sync - 1:
                    os.fdatasync(fd)
            if reads:
                record.read += done
            else:
                record.written += done
        with record.timed("fsync"):
            os.fsync(fd)
    finally:
        os.close(fd)


def run(kind: str, top: str, params: dict[str, Any], seed: int) -> Record:
    def body(number: int, rng: random.Random, record: Record) -> None:
        _requests(kind, top, params, number, rng, record)

    return together(body, params["processes"], seed)
