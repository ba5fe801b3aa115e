# SPDX-License-Identifier: GPL-2.0
"""A block trace, replayed on a device or a file with direct I/O, at its times or at its depth.

fio's own replay (read_iolog) is not used: while it waits for a request's time it looks at no request that
has ended, so its response times reach to the next request (fio 3.33); it has one depth for all; it knows no
FUA, and no flush in front of a write. Here a request has a thread while it is under way. How late each is
sent is measured.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import mmap
import os
import queue
import stat
import struct
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..losses import Losses, status
from ..quantile import at_rank
from ..sizes import SECTOR
from ..trace import blocks
from ..trace.account import Taken
from ..trace.blocks import DISCARD, FLUSH, FUA, PREFLUSH, READ, WRITE, Block
from ..util import NOT_BELIEVABLE, UserError, say

THREADS = 256  # of the open loop, if the trace does not say how many requests were under way
SPARE = 4  # else so many times as many as there were
BLKDISCARD = 0x1277
PUNCH_HOLE = 3  # FALLOC_FL_PUNCH_HOLE and FALLOC_FL_KEEP_SIZE
PR_SET_TIMERSLACK = 29
LATE = 16  # by more than its own time divided by that
RANKS = {"p50_us": 500, "p99_us": 990, "p999_us": 999}


@dataclass
class Way:
    timing: str  # open or closed
    depth: int | None
    write: bool
    device: str | None
    format: str | None


class Target:
    """A block device that nobody else uses, or a file."""

    def __init__(self, path: Path, write: bool) -> None:
        try:
            self.block = stat.S_ISBLK(path.stat().st_mode)
            flags = os.O_DIRECT | os.O_CLOEXEC | (os.O_EXCL if self.block else 0)
            self.fd = os.open(path, flags | (os.O_RDWR if write else os.O_RDONLY))
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}") from None
        self.size = os.lseek(self.fd, 0, os.SEEK_END)
        self._libc = ctypes.CDLL(None, use_errno=True)

    def close(self) -> None:
        os.close(self.fd)

    def _discard(self, offset: int, size: int) -> None:
        if self.block:
            fcntl.ioctl(self.fd, BLKDISCARD, struct.pack("QQ", offset, size))
        elif self._libc.fallocate(self.fd, PUNCH_HOLE, ctypes.c_long(offset), ctypes.c_long(size)):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def ask(self, block: Block, reads: memoryview, writes: memoryview) -> None:
        offset, size = block.sector * SECTOR, block.sectors * SECTOR
        if block.op == FLUSH or block.flags & PREFLUSH:
            os.fdatasync(self.fd)
        if block.op == READ:
            done = os.preadv(self.fd, [reads[:size]], offset)
        elif block.op == WRITE:
            done = os.pwritev(self.fd, [writes[:size]], offset, os.RWF_DSYNC if block.flags & FUA else 0)
        else:
            if block.op == DISCARD:
                self._discard(offset, size)
            return
        if done != size:
            raise OSError(0, f"{done} bytes of {size}")


@dataclass
class Run:
    """Requests that are sent by threads. Times are ns of the monotonic clock."""

    target: Target
    requests: list[Block]
    depths: list[int] | None  # closed: of each request. None: open
    sent: list[tuple[int, int, int, int]] = field(default_factory=list)  # number, planned, sent, done
    failed: str = ""

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._ready: queue.SimpleQueue[tuple[int, int] | None] = queue.SimpleQueue()
        self._next = 0
        self._under_way = 0
        # A discard may be of the whole target, and has no data.
        sectors = max(block.sectors for block in self.requests if block.op != DISCARD)
        self._room = max(sectors * SECTOR, mmap.PAGESIZE)
        # What all writes write: no drive makes it shorter.
        self._data = mmap.mmap(-1, self._room)
        some = os.urandom(min(self._room, mmap.PAGESIZE * 256))
        for at in range(0, self._room, len(some)):
            self._data[at : at + len(some)] = some[: self._room - at]

    def _admit(self, now: int) -> None:
        """Closed: what may come now. The lock is held."""
        assert self.depths is not None
        while self._next < len(self.requests) and self._under_way < self.depths[self._next]:
            self._ready.put((self._next, now))
            self._next += 1
            self._under_way += 1

    def _work(self) -> None:
        with mmap.mmap(-1, self._room) as pages, memoryview(pages) as reads, memoryview(self._data) as writes:
            while (item := self._ready.get()) is not None:
                number, planned = item
                began = time.monotonic_ns()
                try:
                    self.target.ask(self.requests[number], reads, writes)
                except OSError as error:
                    self.failed = self.failed or f"{self.requests[number]}: {error.strerror}"
                done = time.monotonic_ns()
                with self._lock:
                    self.sent.append((number, planned, began, done))
                    self._under_way -= 1
                    if self.depths and not self.failed:
                        self._admit(done)

    def _send_at_their_times(self) -> None:
        first = time.monotonic_ns() + 1_000_000 - self.requests[0].start
        for number, block in enumerate(self.requests):
            due = first + block.start
            while (left := due - time.monotonic_ns()) > 0:
                time.sleep(left / 1e9)
            if self.failed:
                return
            self._ready.put((number, due))

    def run(self, threads: int) -> None:
        # Sleeps end when they are to, not some 50 us later with others.
        ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
        workers = [threading.Thread(target=self._work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        if self.depths is None:
            self._send_at_their_times()
        else:
            with self._lock:
                self._admit(time.monotonic_ns())
            while not self.failed and len(self.sent) < len(self.requests):
                time.sleep(0.01)
        for _ in workers:
            self._ready.put(None)
        for worker in workers:
            worker.join()


def figures(run: Run) -> dict[str, Any]:
    """A response time is from when the request was to come: that it was sent late is in it."""
    asked = [row for row in run.sent if run.requests[row[0]].op in (READ, WRITE)]
    times = sorted(done - planned for _, planned, _, done in asked)
    seconds = (max(row[3] for row in run.sent) - min(row[1] for row in run.sent)) / 1e9
    size = sum(run.requests[number].sectors for number, *_ in asked) * SECTOR
    found = {"seconds": seconds, "per_s": len(asked) / seconds, "mb_s": size / 1e6 / seconds}
    found |= {name: at_rank(times, rank) / 1e3 for name, rank in RANKS.items()}
    late = [began - planned for _, planned, began, _ in run.sent]
    over = sum((began - planned) * LATE > done - began for _, planned, began, done in run.sent)
    return found | {"late_mean_us": sum(late) / len(late) / 1e3, "late_max_us": max(late) / 1e3, "late": over}


def _chosen(path: Path, every: list[Block], target: Target, write: bool) -> list[Block]:
    """Those that lie on the target."""
    kept = [block for block in every if (block.sector + block.sectors) * SECTOR <= target.size]
    if not any(block.op in (READ, WRITE) for block in kept):
        raise UserError(f"{path}: no read and no write lies on the target's {target.size} bytes")
    changing = sum(block.op in (WRITE, DISCARD) for block in kept)
    if changing and not write:
        raise UserError(f"{path}: {changing} writes and discards change the target; --write allows them")
    return kept


def _depths(path: Path, requests: list[Block], timed: bool, way: Way) -> tuple[list[int] | None, int]:
    """Of each request in a closed loop; and how many threads there are."""
    depths = blocks.depths(requests) if timed else None
    if way.timing == "open":
        if not timed:
            raise UserError(f"{path}: it has no times: replay it with --timing closed")
        return None, SPARE * max(depths) if depths else THREADS
    if way.depth:
        depths = [way.depth] * len(requests)
    if depths is None:
        raise UserError(f"{path}: it does not say how long requests took, so at which depth: give --depth N")
    return depths, max(depths)


def replay(path: Path, place: Path, way: Way, out: str | None) -> int:
    kind, found = blocks.load(path, way.format)
    name = blocks.choose(path, found, way.device)
    every = found.of(name)
    target = Target(place, way.write)
    try:
        requests = _chosen(path, every, target, way.write)
        depths, threads = _depths(path, requests, found.timed, way)
        run = Run(target, requests, depths)
        run.run(threads)
    finally:
        target.close()
    if run.failed:
        raise UserError(f"{place}: {run.failed}")
    result: dict[str, Any] = {"kind": "block-replay", "format": kind, "device": name, "timing": way.timing}
    for action, op in (("reads", READ), ("writes", WRITE), ("flushes", FLUSH), ("discards", DISCARD)):
        result[action] = sum(block.op == op for block in requests)
    result |= figures(run)
    times = ", ".join(f"{name.removesuffix('_us')} {result[name] / 1e3:.3f} ms" for name in RANKS)
    asked = f"{result['reads']} reads, {result['writes']} writes"
    say(f"{asked}, {way.timing}: {result['per_s']:.1f} a second, {times}")
    if out:
        Path(out).write_text(json.dumps(result, indent=1) + "\n")
    for line in found.account.as_text(str(path), Taken(len(found)), "requests")[1:]:
        say(line)
    missing = found.left_out()
    whole = len(every) + sum(missing.values())
    missing["beyond the end"] = len(every) - len(requests)
    worst = status(str(path), Losses(missing, whole), unit="requests")
    times_ns = [done - planned for _, planned, _, done in run.sent]
    bursts = blocks.grain(requests, kind).bursts(sum(times_ns) / len(times_ns)) if found.timed else ""
    if bursts and not (way.timing == "closed" and way.depth):
        say(f"{path}: {bursts} (--timing closed --depth N)")
        worst = NOT_BELIEVABLE
    late = Losses({f"by up to {result['late_max_us']:.0f} us": result["late"]}, len(requests))
    said = "were sent late by more than a sixteenth of their time"
    return max(worst, status("replay", late, said, "requests"))
