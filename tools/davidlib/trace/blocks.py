# SPDX-License-Identifier: GPL-2.0
"""A block trace as requests to one disk, for who serves or replays them as such."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import gcd
from pathlib import Path
from typing import NamedTuple

from ..losses import percent
from ..sizes import format_time
from ..util import UserError, reason_of, say
from . import formats, importing
from . import recognise as recognition
from .account import Account, Clock, Taken
from .from_requests import SECTOR, Sink, Transfer, each

READ, WRITE, FLUSH, DISCARD = range(4)
FUA, SYNC, PREFLUSH = 1, 2, 8  # as david-sim has them
COARSE = 0.1  # of the mean response time
SHARED = 0.1  # of the requests
BACK = 10**9  # ns: lines that are less out of order come of several processors, or of the order of ends
CLOCKS = {"tencent": 10**9}  # ns: of formats that have no finer times
WHOLE_SECTORS = "requests taken as the whole sectors that they touch"
EVENT = re.compile(r" (dev|id|op|sector|sectors|flags|arrival|completion)=([\d:]+)")


class Block(NamedTuple):
    """A request. Times are ns, mostly from the first request on. An end that is not known is the start."""

    start: int
    end: int
    op: int
    sector: int
    sectors: int
    flags: int


@dataclass
class Blocks(Sink):
    """A Sink that keeps what it is told."""

    account: Account = field(default_factory=Account)
    timed: bool = True
    absolute: bool = False  # times are a disk's own, and not counted from the first request
    devices: list[str] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)
    _kept: array[int] = field(default_factory=lambda: array("Q"))

    def untimed(self) -> None:
        self.timed = False

    def open(self, tid: int, name: str, time: int) -> None:
        self.account.has_none("opens and closes")

    def close(self, tid: int, name: str, time: int) -> None:
        self.account.has_none("opens and closes")

    def _keep(self, name: str, start: int, end: int, op: int, place: int, size: int, flags: int) -> None:
        number = self._numbers.setdefault(name, len(self.devices))
        if number == len(self.devices):
            self.devices.append(name)
        first, behind = place // SECTOR, -(-(place + size) // SECTOR)
        self._kept.extend((start, max(start, end), number, op, first, behind - first, flags))

    def transfer(self, moved: Transfer) -> None:
        _, file, write, offset, size, start, end, flags = moved
        if not size:
            self.account.leave_out("requests of no bytes")
            return
        if (offset | size) % SECTOR:
            self.account.guess(WHOLE_SECTORS)
        bits = 0 if "A" in flags else SYNC
        bits |= FUA if "U" in flags else 0
        bits |= PREFLUSH if "F" in flags else 0
        self._keep(file, start, end, WRITE if write else READ, offset, size, bits)

    def sync(self, tid: int, file: str, time: int, data: bool = False, end: int = 0) -> None:
        self._keep(file, time, end, FLUSH, 0, 0, SYNC)

    def discard(self, tid: int, file: str, offset: int, size: int, time: int, end: int = 0) -> None:
        self._keep(file, time, end, DISCARD, offset, size, 0)

    def __len__(self) -> int:
        return len(self._kept) // 7

    def left_out(self) -> dict[str, int]:
        """How many requests, as losses are named. Which device's they are no line says: all may be one's."""
        count = sum(kind.count for kind in self.account.left_out.values())
        return {"left out" if len(self.devices) < 2 else "left out, of whichever device": count}

    def by_device(self) -> Counter[str]:
        return Counter(self.devices[number] for number in self._kept[2::7])

    def back(self, device: str) -> tuple[int, int]:
        """How many requests stand behind one that came more than BACK later, and by how much at most, ns."""
        latest, count, most = 0, 0, 0
        for start, number in zip(self._kept[0::7], self._kept[2::7], strict=True):
            if number == self._numbers[device]:
                latest = max(latest, start)
                count, most = count + (latest - start > BACK), max(most, latest - start)
        return count, most

    def of(self, device: str) -> list[Block]:
        """In the order of time."""
        kept, wanted = self._kept, self._numbers[device]
        found = [
            Block(kept[at], kept[at + 1], *kept[at + 3 : at + 7])
            for at in range(0, len(kept), 7)
            if kept[at + 2] == wanted
        ]
        found.sort(key=lambda block: block.start)
        first = 0 if self.absolute else found[0].start
        return [block._replace(start=block.start - first, end=block.end - first) for block in found]


def recording(to: Blocks, lines: Iterable[str]) -> Iterator[None]:
    """What `david record` wrote: its trim is a discard."""
    queued: dict[str, dict[str, str]] = {}
    to_zones: set[str] = set()
    to.absolute = True

    def take(line: str) -> None:
        fields = dict(EVENT.findall(line))
        if line.startswith("david_queue:") and int(fields["op"]) > DISCARD:
            to_zones.add(fields["id"])
            to.account.has_none("commands to zones")
        elif line.startswith("david_complete:") and fields["id"] in to_zones:
            to.account.has_none("commands to zones")
        elif line.startswith("david_queue:"):
            queued[fields["id"]] = fields
        elif line.startswith("david_complete:"):
            keep(queued.pop(fields["id"]), int(fields["completion"]))
        else:
            to.account.has_none("headers" if line.startswith("#") else "other events")

    def keep(fields: dict[str, str], end: int) -> None:
        sector, sectors, op = int(fields["sector"]), int(fields["sectors"]), int(fields["op"])
        flags = int(fields["flags"]) & (FUA | SYNC)
        to._keep(fields["dev"], int(fields["arrival"]), end, op, sector * SECTOR, sectors * SECTOR, flags)

    yield from each(to, lines, take)
    for fields in queued.values():
        keep(fields, 0)


Teller = Callable[[Blocks, Iterable[str]], Iterator[None]]
READERS: dict[str, Teller] = {**formats.BLOCKS, "recording": recording}


def _told(name: str, account: Account, lines: Iterable[str]) -> int:
    """How many requests a format makes of a text."""
    to = Blocks(account)
    for _ in READERS[name](to, account.each(lines)):
        pass
    return len(to)


def _attempts() -> dict[str, recognition.Attempt]:
    return {name: partial(_told, name) for name in READERS}


def recognise(path: Path) -> str:
    """The format of a block trace."""
    with importing.lines_of(path) as lines:
        first = list(islice(lines, recognition.LINES))
    return recognition.format_of(path, first, _attempts(), "block trace: ")


def load(path: Path, kind: str | None) -> tuple[str, Blocks]:
    """All requests, and the name of the format."""
    try:
        kind = kind or recognise(path)
        blocks = Blocks()
        with importing.lines_of(path) as lines:
            said = blocks.account.each(lines)
            for _ in READERS[kind](blocks, said):
                pass
    except importing.UNREADABLE as error:
        raise UserError(f"{path}: cannot be read: {reason_of(error)}") from None
    if not len(blocks):
        account = "; ".join(blocks.account.as_text(str(path), Taken(0), "requests"))
        raise UserError(f"{account}: no request of {kind} in it")
    clock = formats.clock_of(kind, ()) if kind in formats.BLOCKS else Clock.NONE
    recognition.need_whole(str(path), kind, blocks.account, len(blocks), _attempts(), clock)
    return kind, blocks


def choose(path: Path, blocks: Blocks, device: str | None) -> str:
    """The one device that is asked for, or that there is. Says so if its times go back."""
    name = _chosen(path, blocks, device)
    count, most = blocks.back(name)
    if count:
        say(f"{path}: {count} requests stand behind ones that came up to {format_time(most)} later: they are "
            "served in the order of their times; a clock that was set back makes wrong ones")
    return name


def _chosen(path: Path, blocks: Blocks, device: str | None) -> str:
    counted = blocks.by_device()
    if device is None and len(counted) == 1:
        return blocks.devices[0]
    said = ", ".join(f"{name} ({count} requests)" for name, count in counted.most_common(10))
    said += f", and {len(counted) - 10} more" if len(counted) > 10 else ""
    if device is None:
        raise UserError(f"{path}: requests of several devices; choose one with --device: {said}")
    if device not in counted:
        raise UserError(f"{path}: no requests of {device}; there are {said}")
    return device


@dataclass(frozen=True)
class Grain:
    """What a trace's clock can tell apart."""

    ns: int  # all times of requests are multiples of it; 0: all requests have one time
    shared: float  # of the requests, those with the time of another one

    def bursts(self, mean_ns: float) -> str:
        """Why the times are not to be believed of requests that take so long; nothing: they are."""
        if self.shared < SHARED or 0 < self.ns <= COARSE * mean_ns:
            return ""
        if not self.ns:
            return "all requests have one time, so the trace does not say when they came: not to be believed"
        return (f"the trace has times in steps of {format_time(self.ns)}, and {percent(self.shared)} of the "
                "requests have one with others: its clock, and not the load, made them come at once: not to "
                "be believed")


def grain(requests: list[Block], kind: str) -> Grain:
    counted = Counter(block.start for block in requests)
    first = min(counted)
    shared = sum(count for count in counted.values() if count > 1)
    ns = gcd(*(start - first for start in counted)) or CLOCKS.get(kind, 0)
    return Grain(ns, shared / len(requests))


def depths(requests: list[Block]) -> list[int] | None:
    """How many were under way when each came, with it. None: the trace does not say when they ended."""
    timed = sum(block.end > block.start for block in requests if block.op != DISCARD)
    asked = sum(block.op != DISCARD for block in requests)
    if timed < 0.99 * asked:
        return None
    ends = sorted(block.end for block in requests if block.op != DISCARD)
    found, begun, ended = [], 0, 0
    for block in requests:
        while ended < len(ends) and ends[ended] <= block.start and ended < begun:
            ended += 1
        begun += block.op != DISCARD
        found.append(max(1, begun - ended))
    return found
