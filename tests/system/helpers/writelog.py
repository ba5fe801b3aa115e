# SPDX-License-Identifier: GPL-2.0
"""What dm-log-writes has recorded, and the disks that a power cut could have left of it."""

from __future__ import annotations

import fcntl
import os
import random
import stat
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from helpers.guest import Failed, copy_sparse, loop_disk, mapped, run

FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8
SECTOR, PAGE = 512, 4096
MAGIC = 0x6A736677736872
BLKFLSBUF = 0x1261


@dataclass
class Entry:
    sector: int
    sectors: int
    flags: int
    data: bytes  # of a mark: its text


@contextmanager
def recorded(name: str, device: str, log: str) -> Iterator[str]:
    """A device that passes everything on to `device` and records it in `log`."""
    sectors = int(run("blockdev", "--getsz", device))
    with mapped(name, f"0 {sectors} log-writes {device} {log}") as path:
        yield path


def mark(name: str, text: str) -> None:
    run("dmsetup", "message", name, "0", "mark", text)


def count(log: str | Path) -> int:
    with open(log, "rb") as file:
        # The log was written past the page cache, which may still have what udev read before.
        if stat.S_ISBLK(os.fstat(file.fileno()).st_mode):
            fcntl.ioctl(file, BLKFLSBUF, 0)
        magic, version, number, size = struct.unpack("<QQQL", file.read(28))
    if magic != MAGIC or version != 1 or size != SECTOR:
        raise Failed(f"{log} is no log of dm-log-writes")
    return number


def entries(log: str | Path) -> Iterator[Entry]:
    """One after the other: a log of a file system's life has gigabytes."""
    at, following = SECTOR, count(log)
    with open(log, "rb") as file:
        for _ in range(following):
            file.seek(at)
            sector, sectors, flags, length = struct.unpack("<QQQQ", file.read(32))
            at += SECTOR
            if flags & MARK:
                yield Entry(sector, 0, flags, file.read(length))
                continue
            data = b""
            if not flags & DISCARD:
                file.seek(at)
                data = file.read(sectors * SECTOR)
                at += len(data)
            yield Entry(sector, sectors, flags, data)


def apply(fd: int, entry: Entry) -> None:
    if entry.flags & MARK or not entry.sectors:
        return
    os.pwrite(fd, entry.data or bytes(entry.sectors * SECTOR), entry.sector * SECTOR)


@dataclass
class Cut:
    place: int  # the entry behind which it comes
    done: int  # entries before it
    solid: int  # of these, so many a flush has made durable
    marked: int  # the last number that was marked, -1 if that was no number


def cuts(base: BinaryIO, found: list[Entry], places: Iterable[int]) -> Iterator[Cut]:
    """Of each of these places, in order: `base`, which is empty at first, then holds what is durable."""
    done, solid, marked = 0, 0, -1
    for place in places:
        for entry in found[done : place + 1]:
            if entry.flags & MARK:
                marked = int(entry.data) if entry.data.isdigit() else -1
        done = place + 1
        # A flush says so of what came before itself.
        last = max((i for i in range(solid, done) if found[i].flags & FLUSH), default=solid)
        for entry in found[solid:last]:
            apply(base.fileno(), entry)
        solid = last
        yield Cut(place, done, solid, marked)


def torn(fd: int, entry: Entry, rng: random.Random) -> None:
    """A write that was under way: some of its pages."""
    for start in range(0, len(entry.data), PAGE):
        if rng.random() < 0.5:
            os.pwrite(fd, entry.data[start : start + PAGE], entry.sector * SECTOR + start)


def left_by_a_cut(fd: int, tail: list[Entry], rng: random.Random) -> None:
    """Of what no flush has made durable any part may be there, of a write, too; FUA is durable by itself."""
    for entry in tail:
        share = 0 if entry.flags & FUA else rng.random()
        if share < 0.4:
            apply(fd, entry)
        elif share < 0.6:
            torn(fd, entry, rng)


def left_at(fd: int, found: list[Entry], cut: Cut, rng: random.Random) -> None:
    """What this cut may leave, what is durable being there. The next write may be on its way."""
    following = found[cut.done] if cut.done < len(found) else None
    if not following or following.flags & MARK or not following.data or rng.random() < 0.5:
        left_by_a_cut(fd, found[cut.solid : cut.done], rng)
        return
    if following.flags & FLUSH:
        # It has flushed what was before.
        for entry in found[cut.solid : cut.done]:
            apply(fd, entry)
    else:
        left_by_a_cut(fd, found[cut.solid : cut.done], rng)
    torn(fd, following, rng)


def copy_left_at(base: str, to: str, found: list[Entry], cut: Cut, rng: random.Random) -> None:
    """BASE is what cuts() has made; TO is as large, and has nothing in it."""
    copy_sparse(base, to)
    with open(to, "r+b") as copy:
        left_at(copy.fileno(), found, cut, rng)


def first_mark(found: list[Entry]) -> int:
    return next(i for i, entry in enumerate(found) if entry.flags & MARK)


def places(found: list[Entry], first: int, cuts: int, rng: random.Random) -> list[int]:
    """Entries behind which to cut: most where the most is at stake, just before a flush."""
    every = range(first, len(found))
    before = [i for i in every if i + 1 < len(found) and found[i + 1].flags & FLUSH]
    chosen = set(rng.sample(before, min(cuts - cuts // 5, len(before))))
    return sorted(chosen | set(rng.sample(every, min(cuts - len(chosen), len(every)))))


@contextmanager
def log_disk(size: int) -> Iterator[str]:
    with loop_disk(size) as device:
        yield device
