# SPDX-License-Identifier: GPL-2.0
"""Requests of one size to files or to the raw disk: sequential, random, reads, writes, both, with fsync or
not."""

from __future__ import annotations

import itertools
import mmap
import os
import random
from typing import Any

from . import fileops, spread
from .record import Record
from .several import WorkFailed, seeded, together
from .steady import Warming, course

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


class Place:
    """Where the requests of one process go to: the raw disk, a file, or several as if they were one.

    Of files each process has its own. On the raw disk SHARES processes have an equal part each; with 1 all
    go over all of it. Sequential ones need parts: they would all go over the same blocks, one just behind the
    other, and the drive's cache would serve all but the first.
    """

    def __init__(self, top: str, params: dict[str, Any], number: int, shares: int = 1) -> None:
        self.block = params["block"]
        flags = os.O_RDWR | (os.O_DIRECT if params["direct"] else 0)
        files = params.get("files", 1)
        if _is_device(top):
            names = [top]
        else:
            names = spread.paths(top, files, number) if files > 1 else [f"{top}/file-{number}"]
        self.fds = [os.open(name, flags) for name in names]
        raw = _is_device(top)
        end = os.lseek(self.fds[0], 0, os.SEEK_END) if raw else params["size"] // files
        parts = shares if raw else 1
        self.each = end // self.block // parts
        if not self.each:
            none = f"processes: the disk has no block of {self.block} bytes for each of {parts}"
            raise WorkFailed(none if raw else f"size: {_no_room(files, self.block)}")
        self.first = number * self.each if parts > 1 else 0

    def blocks(self) -> int:
        return self.each * len(self.fds)

    def find(self, block: int) -> tuple[int, int]:
        """The file of that block, and the offset in it."""
        file, at = divmod(block, self.each)
        return self.fds[file], (self.first + at) * self.block

    def close(self) -> None:
        for fd in self.fds:
            os.close(fd)


def prepare(top: str, params: dict[str, Any], seed: int) -> None:
    del seed
    if _is_device(top):
        return
    files = params.get("files", 1)
    if files > 1:
        spread.make(top, files, params["size"] // files, params["processes"])
        return
    for number in range(params["processes"]):
        fileops.fill(top, {f"file-{number}": params["size"]})


def mistake(params: dict[str, Any], raw: bool) -> tuple[str, str] | None:
    """The parameter, and what is wrong with it."""
    files, block = params.get("files", 1), params["block"]
    if files > spread.MOST:
        return "files", f"files = {files}: at most {spread.MOST}"
    # The raw disk has a size of its own.
    if not raw and params["size"] // files < block:
        return "size", _no_room(files, block)
    return None


def _no_room(files: int, block: int) -> str:
    whose = "the file has" if files == 1 else f"the {files} files have"
    return f"{whose} no room for a block of {block} bytes"


def _requests(kind: str, top: str, params: dict[str, Any], number: int, rng: random.Random,
              record: Record, warming: Warming | None) -> None:
    sequential, share = SHAPES[kind]
    share = params["reads"] if share is None else share
    block, sync = params["block"], params.get("sync", 0)
    at_random = not (sequential or params["direct"])
    buffer = mmap.mmap(-1, block)
    buffer.write(seeded(number, "block").randbytes(block))
    place = Place(top, params, number, params["processes"] if sequential else 1)
    span, turn = place.blocks(), itertools.count()

    def step(record: Record) -> None:
        at = next(turn)
        fd, offset = place.find((at if sequential else rng.randrange(span)) % span)
        reads = rng.randrange(100) < share
        with record.timed("read" if reads else "write"):
            done = os.preadv(fd, [buffer], offset) if reads else os.pwrite(fd, buffer, offset)
            if sync and not reads and at % sync == sync - 1:
                os.fdatasync(fd)
        if reads:
            record.read += done
            # A stream's next request finds the rest of the page in memory: it was read for that.
            record.rest += -done % fileops.PAGE if at_random else 0
        else:
            record.written += done

    try:
        course(number, step, -(-params["operations"] // params["processes"]), record, warming)
        # With a rate that has settled, what the caches hold was there before.
        if share < 100 and not warming:
            with record.timed("fsync"):
                for fd in place.fds:
                    os.fsync(fd)
            record.ends.pop()
    finally:
        place.close()


def run(kind: str, top: str, params: dict[str, Any], seed: int, warming: Warming | None = None) -> Record:
    def body(number: int, rng: random.Random, record: Record) -> None:
        _requests(kind, top, params, number, rng, record, warming)

    return together(body, params["processes"], seed, warming)
