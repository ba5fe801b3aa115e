# SPDX-License-Identifier: GPL-2.0
"""Pools: made, with disks in them that are written to at random, and checked."""

from __future__ import annotations

import errno
import os
import random
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from helpers import raw, writelog
from helpers.guest import SCRATCH, Failed, david, dm, loop_disk, read_along, remove, run, say
from helpers.raw import BLOCK
from helpers.storetool import says
from helpers.units import TIB

COPY = 3 * BLOCK  # of a pool's directory
DIRECTORY = 2 * COPY

# Told a device as a cut leaves it, what was done until then, and the cut's number: what is wrong there.
Look = Callable[[str, list[writelog.Entry], int], str]


def made(path: str, *options: str) -> None:
    status, text = says("pool", "create", *options, path, "farm")
    if status:
        raise Failed(f"pool create: {text}")


def made_sharing(path: str) -> None:
    made(path, "--share")


@contextmanager
def pool_device(size: int, share: bool = False) -> Iterator[str]:
    """A device with an empty pool on it."""
    with loop_disk(size, prepare=made_sharing if share else made) as device:
        yield device


@contextmanager
def pool_disk(name: str, device: str, *options: str, size: int = TIB) -> Iterator[str]:
    david("create", name, "--size", str(size), "--pool", device, "--classify", "keep", *options)
    try:
        yield f"/dev/mapper/{name}"
    finally:
        if dm.exists(name):
            remove(name)


def must_be_good(device: str) -> int:
    """Returns the blocks that sharing saves."""
    status, text = says("pool", "check", device)
    if status:
        raise Failed(f"pool check: {text}")
    return int(text.split()[0]) if "saved" in text else 0


class Writer:
    """Random blocks of one disk, and what they must hold."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.first = (1 + seed) << 20  # of new blocks
        self.rng = random.Random(f"{name} {seed}")
        self.held: dict[int, bytes] = {}

    def step(self, fd: int) -> None:
        place = self.rng.randrange(4000) * BLOCK
        if self.rng.random() < 0.2:
            raw.discard(fd, place, BLOCK)
            self.held[place] = bytes(BLOCK)
        else:
            data = self.name.encode().ljust(16) + self.rng.randbytes(BLOCK - 16)
            raw.write(fd, data, place)
            self.held[place] = data

    def fill(self, fd: int, most: int) -> int:
        """New blocks until ENOSPC, `most` at most; how many were taken."""
        for number in range(most):
            place = (self.first + len(self.held)) * BLOCK
            data = self.name.encode().ljust(16) + self.rng.randbytes(BLOCK - 16)
            try:
                raw.write(fd, data, place)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                return number
            self.held[place] = data
        return most

    def check(self, fd: int) -> None:
        for place, data in self.held.items():
            if raw.read(fd, BLOCK, place) != data:
                raise Failed(f"{self.name}: the block at {place} is not what was written")


@contextmanager
def opened_all(device: str, names: list[str], *options: str) -> Iterator[dict[str, int]]:
    """The disks of the pool of these names, opened for direct I/O."""
    with ExitStack() as stack:
        fds = {}
        for name in names:
            disk = stack.enter_context(pool_disk(name, device, *options))
            fds[name] = stack.enter_context(raw.opened(disk))
        yield fds


def sync_all(fds: dict[str, int]) -> None:
    for fd in fds.values():
        os.fsync(fd)


def copies_of(path: str) -> list[bytes]:
    """Those of the directory, the newest one first. What the path's page cache has may be old."""
    with raw.opened(path) as fd:
        copies = [raw.read(fd, COPY, 0), raw.read(fd, COPY, COPY)]
    return sorted(copies, key=lambda copy: struct.unpack_from("<Q", copy, 40), reverse=True)


def place_of(path: str, copy: bytes) -> int:
    with raw.opened(path) as fd:
        return 0 if raw.read(fd, COPY, 0) == copy else COPY


def fails_at(device: str, size: int, first: int, length: int) -> str:
    """A table that is `device`, but for these bytes."""
    parts = [(0, first, True), (first, length, False), (first + length, size - first - length, True)]
    rows = [
        f"{at >> 9} {count >> 9} " + (f"linear {device} {at >> 9}" if good else "error")
        for at, count, good in parts
        if count
    ]
    return "\n".join(rows)


def reload(name: str, table: str) -> None:
    run("dmsetup", "suspend", "--nolockfs", name)
    run("dmsetup", "load", name, "--table", table)
    run("dmsetup", "resume", name)


def cut_at(
    size: int,
    found: list[writelog.Entry],
    places: list[int],
    rng: random.Random,
    look: Look,
    tear: Callable[[str, writelog.Entry], None] = lambda path, entry: None,
    which: str = "",
) -> None:
    """What the pool's checker or `look` says of a cut is a failure, `which` before it. `tear` is told the
    file as the cut leaves it, and what was about to be done.
    """
    base = SCRATCH / "base"
    with ExitStack() as stack:
        stack.callback(base.unlink)
        image = stack.enter_context(open(base, "w+b"))
        image.truncate(size)
        for number, cut in enumerate(writelog.cuts(image, found, places)):

            def prepare(path: str, cut: writelog.Cut = cut) -> None:
                writelog.copy_left_at(str(base), path, found, cut, rng)
                if cut.done < len(found):
                    tear(path, found[cut.done])

            with loop_disk(size, prepare=prepare) as dev:
                try:
                    status, said = says("pool", "check", dev)
                    said = said if status else look(dev, found[: cut.done], number)
                except (Failed, OSError) as error:
                    said = str(error)
            if said:
                raise Failed(f"{which}cut behind entry {cut.place} of {len(found)}: {said}")
            read_along()
            if number % 100 == 99:
                say(f"poolbox: {number + 1} of {len(places)} cuts")
