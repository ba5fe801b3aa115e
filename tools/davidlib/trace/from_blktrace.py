# SPDX-License-Identifier: GPL-2.0
"""Traces of the kernel's blktrace: blkparse's default lines, and the files of blktrace itself.

A file of blktrace is turned into blkparse's lines, so that one reader is for both.
"""

from __future__ import annotations

import heapq
import re
import struct
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from .account import Misread
from .from_requests import SECOND, SECTOR, Sink, Transfer, each, number

_LINE = re.compile(
    r"\s*(\d+),(\d+)\s+\d+\s+\d+\s+(\d+)\.(\d{9})\s+(\d+)\s+"
    r"([A-Z]{1,2}|m)\s+([A-Z]+)\s+(?:(\d+)(?: \+ (\d+))?(?:\s+|$))?"
)
# Behind the lines: a summary of each CPU, by -s of each process before it.
_SUMMARY = re.compile(r"(?:CPU ?\d+|Total|Events) \(|\S.* \(\d+\)$")
_OWN = re.compile(r"Input file \S.* added$")
UNKNOWN = "requests that are no read, write, flush or discard"
HALF = "ends of requests whose beginning is not in it"


@dataclass
class Begun:
    """A request that is under way."""

    time: int
    pid: int
    said: str  # its letters: R, W, D, F, S, ...
    first: int = 0  # sector
    end: int = 0
    next: int = 0  # of the sectors that are not completed; other parts may be completed before
    left: int = 0  # so many are not
    flushed: int | None = None  # when the drive's part of a flush, or a write's data, were done

    @property
    def kind(self) -> str:
        return kind_of(self.said)

    def flags(self) -> str:
        write = self.said.find("W")
        flags = "F" if self.said.startswith("F") else ""
        flags += "U" if "F" in self.said[write + 1 :] and write >= 0 else ""
        return flags + ("A" if self.kind == "W" and not set("SF") & set(self.said) else "")


def _bytes(requests: Iterable[Begun]) -> int:
    return sum(begun.end - begun.first for begun in requests) * SECTOR


def kind_of(said: str) -> str:
    """R, W, D (discard), or nothing of these."""
    if "D" in said:
        return "D"
    if "R" in said:
        return "R"
    return "W" if "W" in said and "Z" not in said else ""


class Queued:
    """What was queued on a disk and waits for its end, which may come in parts, or merged with others."""

    def __init__(self) -> None:
        self._at: dict[int, deque[Begun]] = {}  # by the next sector

    def add(self, begun: Begun) -> None:
        self._at.setdefault(begun.next, deque()).append(begun)

    def __iter__(self) -> Iterator[Begun]:
        return chain.from_iterable(self._at.values())

    def flushing(self) -> bool:
        """Does a write wait that asks for flushes?"""
        return any(set("FU") & set(begun.flags()) for waiting in self._at.values() for begun in waiting)

    def _take(self, sector: int, kind: str) -> Begun | None:
        """The oldest that has this sector."""
        places = [self._at.get(sector, deque()), *self._at.values()]
        for waiting in places:
            for begun in waiting:
                if begun.kind == kind and begun.next <= sector < begun.end:
                    waiting.remove(begun)
                    if not waiting:
                        del self._at[begun.next]
                    return begun
        return None

    def complete(self, sector: int, end: int, kind: str) -> tuple[list[Begun], bool]:
        """The requests that are done with these sectors; and was anything known of them?"""
        done: list[Begun] = []
        known = False
        while sector < end and (begun := self._take(sector, kind)):
            known = True
            part = min(end, begun.end) - sector
            begun.left -= part
            if begun.next == sector:
                begun.next += part
            if begun.left > 0 and begun.next < begun.end:
                self.add(begun)
            else:
                done.append(begun)
            sector += part
        return done, known


class Blkparse:
    """blkparse's default lines.

    A call is from a request's issue (D) to its completion (C). A device without a queue, as those of dm
    and md, issues none: there it is from where it was queued (Q). With `queued` it always is, as the
    disk's user sees it.
    """

    def __init__(self, to: Sink, queued: bool) -> None:
        self.to = to
        self.by_queue = queued
        self.issued: dict[tuple[str, int, int], Begun] = {}
        self.queued: dict[str, Queued] = defaultdict(Queued)
        self.flushes: dict[str, deque[Begun]] = defaultdict(deque)  # queued ones, without data
        self.flushing: dict[str, Begun] = {}  # the drive's command
        self.settling: dict[str, dict[int, Begun]] = defaultdict(dict)  # by sector
        self.summary = False

    def take(self, line: str) -> None:
        found = _LINE.match(line)
        if not found:
            if _OWN.match(line):
                self.to.account.has_none("lines of blkparse's own")
                return
            self.summary = self.summary or bool(_SUMMARY.match(line))
            if line and not self.summary or re.match(r"\d+,\d+\s", line):
                raise ValueError(line)
            self.to.account.has_none("lines of the summary")
            return
        action = found[6]
        if action not in ("Q", "D", "C"):
            self.to.account.has_none("messages" if action == "m" else "other events")
            return
        if not found[9] and line[found.end() : found.end() + 1] not in ("[", "("):
            raise Misread("its sectors are not as blkparse has them: 8 + 16")
        time = number(found[3], SECOND) + int(found[4])
        begun = Begun(time, number(found[5]) & 0x7FFFFFFF, found[7])
        disk = f"/dev/block/{found[1]}:{found[2]}"
        if action != "C":
            self.to.account.has_none("beginnings of requests")
        if found[9] and int(found[9]):
            begun.first, begun.left = number(found[8]), number(found[9])
            begun.next, begun.end = begun.first, begun.first + begun.left
            self._request(action, disk, begun)
        elif action == "C" and "W" in found[7]:
            self._whole(disk, int(found[8] or 0), begun)
        elif "F" in found[7]:
            self._flush(action, disk, begun)
        elif action == "C":
            self.to.account.leave_out(UNKNOWN)

    def _whole(self, disk: str, sector: int, event: Begun) -> None:
        """The end, without bytes, of a write whose data and flushes have had theirs; or of a flush alone."""
        write = self.settling[disk].pop(sector, None)
        if write:
            self._done(disk, write, event.time)
        elif self.flushes[disk]:
            self._synced(disk, self.flushes[disk].popleft(), event.time)
        elif disk in self.flushing and "W" in self.flushing[disk].said:
            self._synced(disk, self.flushing.pop(disk), event.time)  # of a trace of issues alone
        else:
            self.to.account.has_none("other events")

    def _flush(self, action: str, disk: str, event: Begun) -> None:
        """One without data, or the drive's part of it or of a write: that has no W."""
        if action == "Q":
            self.flushes[disk].append(event)
        elif action == "D":
            self.flushing[disk] = event
        elif self.flushes[disk]:
            for waiting in self.flushes[disk]:
                waiting.flushed = waiting.flushed or event.time
        elif self.by_queue and self.queued[disk].flushing() or self.settling[disk]:
            self.to.account.has_none("other events")
        elif disk in self.flushing:
            self._synced(disk, self.flushing.pop(disk), event.time)
        else:
            self.to.account.leave_out(HALF)

    def _synced(self, disk: str, begun: Begun, end: int) -> None:
        self.flushing.pop(disk, None)
        self.to.sync(begun.pid or 1, disk, begun.time, end=end)

    def _request(self, action: str, disk: str, event: Begun) -> None:
        key = disk, event.first, event.end
        if action == "D":
            self.issued[key] = event
        elif action == "Q":
            self.queued[disk].add(event)
        else:
            self._end(disk, key, event)

    def _end(self, disk: str, key: tuple[str, int, int], event: Begun) -> None:
        issued = self.issued.pop(key, None)
        done, known = self.queued[disk].complete(event.first, event.end, event.kind)
        if issued and (not known or not self.by_queue):
            done = [issued]
        elif not known:
            self.to.account.leave_out(HALF, 1, _bytes([event]))
        for begun in done:
            if not begun.kind:
                self.to.account.leave_out(UNKNOWN, 1, _bytes([begun]), event.time - begun.time)
            elif self.by_queue and set("FU") & set(begun.flags()):
                self._settle(disk, begun, event.time)
            else:
                self._done(disk, begun, event.time)

    def _settle(self, disk: str, begun: Begun, end: int) -> None:
        """The data of a write with flushes are done. A flush may follow, and the end of it all."""
        earlier = self.settling[disk].pop(begun.first, None)
        if earlier:
            self._done(disk, earlier, earlier.flushed or 0)
        begun.flushed = end
        self.settling[disk][begun.first] = begun

    def _done(self, disk: str, begun: Begun, end: int) -> None:
        place, size, pid = begun.first * SECTOR, (begun.end - begun.first) * SECTOR, begun.pid or 1
        if begun.kind == "D":
            self.to.discard(pid, disk, place, size, begun.time, end)
        else:
            write = begun.kind == "W"
            self.to.transfer(Transfer(pid, disk, write, place, size, begun.time, end, begun.flags()))

    def end(self) -> None:
        for disk, waiting in self.flushes.items():
            for begun in [begun for begun in waiting if begun.flushed]:
                waiting.remove(begun)
                self._synced(disk, begun, begun.flushed or 0)
        for disk, writes in self.settling.items():
            for begun in writes.values():
                self._done(disk, begun, begun.flushed or 0)
        never: dict[str, list[Begun]] = defaultdict(list)
        for (disk, _, _), begun in self.issued.items():
            never[disk].append(begun)
        for disk, queued in self.queued.items():
            # One that was issued was queued before.
            never[disk] = max(never[disk], list(queued), key=len)
        rest = [begun for waiting in (*never.values(), *self.flushes.values()) for begun in waiting]
        self.to.account.leave_out("requests that were issued and never ended", len(rest), _bytes(rest))


def blkparse(to: Sink, lines: Iterable[str], queued: bool = False) -> Iterator[None]:
    reader = Blkparse(to, queued)
    yield from each(to, lines, reader.take)
    reader.end()


# The kernel's struct blk_io_trace, and its numbers.
_EVENT = "IIQQIIIIIHH"
_SIZE = struct.calcsize("<" + _EVENT)
_MAGIC = 0x65617400
_WRITE, _FLUSH, _SYNC = 1 << 1, 1 << 2, 1 << 3
_NOTIFY, _AHEAD, _META, _DISCARD, _FUA = 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 15
_MESSAGE = 2
_CGROUP = 1 << 8
_ACTIONS = (
    *("?", "Q", "M", "F", "G", "S", "R", "D", "C"),
    *("P", "U", "UT", "I", "X", "B", "A", "?", "?"),
)
_PARTS = re.compile(r"(.*\.blktrace\.)\d+")


def _order(head: bytes) -> str | None:
    """Of the bytes of its numbers: < or >; None: it is not blktrace's."""
    for order in "<>":
        if len(head) >= 4 and struct.unpack(order + "I", head[:4])[0] & ~0xFF == _MAGIC:
            return order
    return None


def is_binary(path: Path) -> bool:
    with path.open("rb") as file:
        return _order(file.read(4)) is not None


def _letters(category: int, size: int) -> str:
    """As blkparse has them."""
    does = "D" if category & _DISCARD else "W" if category & _WRITE else "R" if size else "N"
    behind = ((_FUA, "F"), (_AHEAD, "A"), (_SYNC, "S"), (_META, "M"))
    flush = "F" if category & _FLUSH else ""
    return flush + does + "".join(letter for bit, letter in behind if category & bit)


def _events(file: BinaryIO) -> Iterator[tuple[int, str]]:
    """Time and line of each event. A piece that is no whole event is a line that nobody understands."""
    while head := file.read(_SIZE):
        order = _order(head)
        if order is None or len(head) < _SIZE:
            yield 0, f"{len(head)} bytes that are no event of blktrace: {head[:16].hex()}"
            return
        numbers = struct.unpack(order + _EVENT, head)
        _, sequence, time, sector, size, action, pid, device, cpu, _, more = numbers
        said = file.read(more)
        category, what = action >> 16, action & 0xFFFF & ~_CGROUP
        line = f"{device >> 20},{device & 0xFFFFF} {cpu} {sequence} "
        line += f"{time // SECOND}.{time % SECOND:09} {pid} "
        if category & _NOTIFY:
            if what == _MESSAGE:
                yield time, line + "m N " + said[8 * bool(action & _CGROUP) :].decode(errors="replace")
            continue
        name = _ACTIONS[what] if what < len(_ACTIONS) else "?"
        where = f"{sector} + {size // SECTOR} " if size else f"{sector} " if name == "C" else ""
        # blkparse's "?" is no letter: whoever reads the line counts it as not understood.
        yield time, line + f"{name} {_letters(category, size)} {where}[{pid}]"


def binary_lines(path: Path) -> Iterator[str]:
    """The lines of a file of blktrace, and of the other processors' beside it, in the order of time."""
    found = _PARTS.fullmatch(path.name)
    parts = [path]
    if found:
        parts = sorted(part for part in path.parent.iterdir()
                       if _PARTS.fullmatch(part.name) and part.name.startswith(found[1]))
    files = [part.open("rb") for part in parts]
    try:
        for _, line in heapq.merge(*map(_events, files), key=lambda event: event[0]):
            yield line + "\n"
    finally:
        for file in files:
            file.close()
