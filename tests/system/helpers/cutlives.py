# SPDX-License-Identifier: GPL-2.0
"""Lives that a power cut ends: what each block, or each file, may hold after a cut at any moment. Marks in
the recording say what was durable: a number, with the name of the life before it where there are several.
"""

from __future__ import annotations

import os
import random
import struct
from collections import defaultdict
from collections.abc import Callable

from helpers import raw, writelog
from helpers.raw import BLOCK
from helpers.units import GIB

BASE = GIB
BLOCKS = 400


def version(number: int) -> bytes:
    """What the write of that number leaves in a block."""
    return struct.pack("<Q", number) * 3 + random.Random(number).randbytes(BLOCK - 24)


class Life:
    """Random writes to a disk, with what each block has held, and since when that is durable."""

    def __init__(self, disk: str, recorder: str, seed: int, name: str = "") -> None:
        self.rng = random.Random(seed)
        self.recorder, self.name = recorder, name
        self.direct = os.open(disk, raw.DIRECT)
        self.durable = os.open(disk, raw.DIRECT | os.O_DSYNC)
        self.number = 0
        # By block: (flushes before, version); 0 is zeros, a negative one a constant.
        self.held: dict[int, list[tuple[int, int]]] = defaultdict(lambda: [(-1, 0)])
        self.flushes = 0
        self.stored: set[int] = set()
        self.most = 120  # of them, about
        self.version = version

    def put(self, block: int, number: int) -> None:
        self.held[block].append((self.flushes, number))
        if number > 0:
            self.stored.add(block)
        else:
            self.stored.discard(block)

    def flushed(self) -> None:
        writelog.mark(self.recorder, f"{self.name}{self.flushes}")
        self.flushes += 1

    def write(self, fd: int) -> None:
        # Apart from the others: dm-log-writes puts FUA before what was written, but not flushed, before it.
        first, end = (BLOCKS - 60, BLOCKS - 5) if fd == self.durable else (0, BLOCKS - 70)
        block, count = self.rng.randrange(first, end), self.rng.choice((1, 1, 1, 2, 5))
        data = []
        for each in range(block, block + count):
            self.number += 1
            data.append(self.version(self.number))
            self.put(each, self.number)
        raw.write(fd, b"".join(data), BASE + block * BLOCK)

    def step(self) -> None:
        what = self.rng.random()
        block, count = self.rng.randrange(BLOCKS - 70), self.rng.randrange(1, 9)
        if what < 0.45 and len(self.stored) < self.most:
            self.write(self.direct)
        elif what < 0.5 and len(self.stored) < self.most:
            self.write(self.durable)
            self.flushed()
        elif what < 0.8:
            for each in range(block, block + count):
                self.put(each, 0)
            raw.discard(self.direct, BASE + block * BLOCK, count * BLOCK)
        else:
            for each in range(block, block + count):
                self.put(each, -1 - count)
            raw.write(self.direct, bytes([1 + count]) * BLOCK * count, BASE + block * BLOCK)

    def run(self, flushes: int, last: bool = True) -> None:
        while self.flushes < flushes:
            for _ in range(self.rng.choice((0, 1, 3, 10))):
                self.step()
            os.fsync(self.direct)
            self.flushed()
        if last:
            self.close()

    def close(self) -> None:
        """Of no effect the second time."""
        for fd in {self.durable, self.direct} - {-1}:
            os.close(fd)
        self.durable = self.direct = -1

    def wrong(self, disk: str, flushed: int) -> str:
        """What is not as it may be after the flush of that number (-1: none) and before the next."""
        with raw.opened(disk) as fd:
            found = raw.read(fd, BLOCKS * BLOCK, BASE)
        for block in range(BLOCKS):
            held = self.held[block]
            # The last version before the flush, and any between it and the end of the next.
            base = max(i for i, (when, _) in enumerate(held) if when <= flushed)
            may = {number for when, number in held[base:] if when <= flushed + 1}
            data = found[block * BLOCK : (block + 1) * BLOCK]
            if not any(data == content(number, self.version) for number in may):
                seen = struct.unpack("<QQQ", data[:24])
                return f"block {block} after flush {flushed} holds {seen}, and may hold {sorted(may)}"
        return ""


def content(number: int, version: Callable[[int], bytes] = version) -> bytes:
    return version(number) if number > 0 else bytes([-number if number else 0]) * BLOCK


class Files:
    """Files made, synced, renamed and removed; those that are synced stay.

    TWICE: behind each file another one is synced before the first is held to be durable. f2fs needs that.
    It numbers the nodes that fsync() writes, from 0 on after each mount and checkpoint, and waits for none if
    its last has number 0 (f2fs_wait_on_node_pages_writeback(), fs/f2fs/node.c of Linux 6.12): its flush may
    go before that node. The next fsync() waits for both nodes, and flushes. If a checkpoint came between
    them, that has made the first one durable.
    """

    def __init__(self, top: str, recorder: str, seed: int, name: str = "", twice: bool = False) -> None:
        self.top, self.recorder, self.name = top, recorder, name
        self.twice = twice
        self.rng = random.Random(seed)
        self.synced: list[tuple[str, int]] = []
        self.loose: list[str] = []

    def make(self, name: str) -> int:
        size = self.rng.choice((0, 100, 5000, 70000, 300000))
        with open(f"{self.top}/{name}", "wb") as file:
            file.write(self.rng.randbytes(size))
            if name.startswith("keep"):
                file.flush()
                os.fsync(file.fileno())
        return size

    def step(self, number: int) -> None:
        for each in range(self.rng.randrange(6)):
            name = f"loose-{number}-{each}"
            self.make(name)
            self.loose.append(name)
        while len(self.loose) > 12:
            os.unlink(f"{self.top}/{self.loose.pop(self.rng.randrange(len(self.loose)))}")
        if number % 5 == 0:
            os.mkdir(f"{self.top}/directory-{number}")
        name = f"keep-{number}"
        size = self.make(name)
        self.synced.append((name, size))
        if self.twice:
            with open(f"{self.top}/behind", "wb") as file:
                file.write(name.encode())
                file.flush()
                os.fsync(file.fileno())
        writelog.mark(self.recorder, f"{self.name}{number}")

    def wrong(self, top: str, synced: int) -> str:
        for name, size in self.synced[: synced + 1]:
            if not os.path.exists(f"{top}/{name}"):
                return f"{name} is not there"
            found = os.path.getsize(f"{top}/{name}")
            if found != size:
                return f"{name} has {found} bytes instead of {size}"
        return ""


def numbers(text: str) -> range:
    """The seeds of "17", or of "17-19": for argparse."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def marked(found: list[writelog.Entry], name: str) -> int:
    """The last number that the life of that name has marked; -1: none."""
    texts = [entry.data.decode() for entry in found if entry.flags & writelog.MARK]
    told = [text.removeprefix(name) for text in texts if text.startswith(name)]
    return max((int(text) for text in told if text.isdigit()), default=-1)
