# SPDX-License-Identifier: GPL-2.0
"""Import of traces whose lines are reads and writes: fio's iolog, JSON calls.

Each request becomes a pread64 or pwrite64. A file that is used without having been opened is opened
first. Readers of block traces tell them to a Sink, which may make something else of them.
"""

from __future__ import annotations

import heapq
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from . import tracefile
from .account import NOT_UNDERSTOOD, Account
from .tracefile import TraceFile

SECTOR = 512
SECOND = 1_000_000_000
MOST = (1 << 62) - 1
BEGIN = SECOND  # a trace file has no time 0, and these texts often begin there
MOST_CALLS = 1 << 40  # of one text
Calls = list[tuple[int, str, str, str]]

def number(text: str) -> int:
    value = int(text)
    if not 0 <= value <= MOST:
        raise ValueError(text)
    return value


def fraction(text: str, unit: int) -> int:
    """A decimal number, in nanoseconds."""
    whole, _, part = text.partition(".")
    return number(whole) * unit + number((part + "0" * 9)[:9]) * unit // SECOND


class Transfer(NamedTuple):
    tid: int
    file: str
    write: bool
    offset: int  # bytes
    size: int
    start: int  # ns
    end: int  # the start, where it is not known
    flags: str = ""  # letters: F it is flushed before, U the write is durable (FUA), A nobody waits


class Sink(ABC):
    """Who is told of requests. Times are ns, places and sizes bytes.

    A request whose end is not known ends when it begins.
    """

    account: Account

    @abstractmethod
    def untimed(self) -> None:
        """The times are made up: the text has none."""

    @abstractmethod
    def open(self, tid: int, name: str, time: int) -> int: ...

    @abstractmethod
    def close(self, tid: int, name: str, time: int) -> None: ...

    @abstractmethod
    def transfer(self, moved: Transfer) -> None: ...

    @abstractmethod
    def sync(self, tid: int, file: str, time: int, data: bool = False, end: int = 0) -> None: ...

    @abstractmethod
    def discard(self, tid: int, file: str, offset: int, size: int, time: int, end: int = 0) -> None: ...


Reader = Callable[[Sink, Iterable[str]], Iterator[None]]


def each(to: Sink, lines: Iterable[str], take: Callable[[str], object]) -> Iterator[None]:
    """Take every line; one that makes no sense is counted."""
    for line in lines:
        try:
            take(line.strip())
        except (ValueError, IndexError, KeyError, TypeError):
            to.account.leave_out(NOT_UNDERSTOOD)
        yield


class Requests(Sink):
    """Calls of tasks on files that are known by name: a Sink."""

    def __init__(self, trace: TraceFile, calls: Calls) -> None:
        self.trace = trace
        self.account = trace.account
        self._nr = {name: nr for nr, name, _, _ in calls}
        self._fds: dict[tuple[int, str], int] = {}
        self._next = 3

    def untimed(self) -> None:
        """A call is a microsecond after the one before."""

    def open(self, tid: int, name: str, time: int) -> int:
        fd = self._fds.get((tid, name))
        if fd is None:
            fd = self._next
            self._next += 1
            self._fds[tid, name] = fd
            self.call(
                tid,
                "open",
                time,
                time,
                fd,
                (0, 2, 0),
                [(tracefile.PATH, name.encode(errors="surrogateescape"))],
            )
        return fd

    def close(self, tid: int, name: str, time: int) -> None:
        fd = self._fds.pop((tid, name), None)
        if fd is not None:
            self.call(tid, "close", time, time, 0, (fd,))

    def call(
        self,
        tid: int,
        name: str,
        start: int,
        end: int,
        result: int,
        args: tuple[int, ...],
        blobs: list[tracefile.Blob] | tuple[()] = (),
    ) -> None:
        times = start + BEGIN, max(start, end) + BEGIN
        self.trace.call(tid, self._nr[name], *times, result, args, 0, blobs)

    def transfer(self, moved: Transfer) -> None:
        tid, file, write, offset, size, start, end, _ = moved
        if offset + size > MOST:
            raise ValueError(offset)
        fd = self.open(tid, file, start)
        self.call(tid, "pwrite64" if write else "pread64", start, end, size, (fd, 0, size, offset))

    def sync(self, tid: int, file: str, time: int, data: bool = False, end: int = 0) -> None:
        fd = self.open(tid, file, time)
        self.call(tid, "fdatasync" if data else "fsync", time, max(time, end), 0, (fd,))

    def discard(self, tid: int, file: str, offset: int, size: int, time: int, end: int = 0) -> None:
        """A hole is punched; the size stays."""
        fd = self.open(tid, file, time)
        self.call(tid, "fallocate", time, max(time, end), 0, (fd, 3, offset, size))


class Ordered(Sink):
    """Hands requests on in the order in which they begin.

    A trace's time begins with its first record, and block traces have their lines in another order: by the
    requests' ends, or by nothing.
    """

    WINDOW = 10_000  # requests

    def __init__(self, to: Sink) -> None:
        self.to = to
        self.account = to.account
        self._waiting: list[tuple[int, int, Callable[[], None]]] = []
        self._counted = 0
        self._now = 0

    def _keep(self, start: int, hand_on: Callable[[], None]) -> None:
        self._counted += 1
        heapq.heappush(self._waiting, (start, self._counted, hand_on))
        if len(self._waiting) > self.WINDOW:
            self._hand_on()

    def _hand_on(self) -> None:
        start, _, hand_on = heapq.heappop(self._waiting)
        if start < self._now:
            self.account.guess(f"requests that begin before one that stands {self.WINDOW} in front of them")
        self._now = max(self._now, start)
        hand_on()

    def end(self) -> None:
        while self._waiting:
            self._hand_on()

    def untimed(self) -> None:
        self.to.untimed()

    def open(self, tid: int, name: str, time: int) -> int:
        return self.to.open(tid, name, time)

    def close(self, tid: int, name: str, time: int) -> None:
        self.to.close(tid, name, time)

    def transfer(self, moved: Transfer) -> None:
        if moved.offset + moved.size > MOST:
            raise ValueError(moved.offset)
        if not moved.size:
            self.account.leave_out("requests of no bytes")
            return
        self._keep(moved.start, partial(self.to.transfer, moved))

    def sync(self, tid: int, file: str, time: int, data: bool = False, end: int = 0) -> None:
        self._keep(time, partial(self.to.sync, tid, file, time, data, end))

    def discard(self, tid: int, file: str, offset: int, size: int, time: int, end: int = 0) -> None:
        self._keep(time, partial(self.to.discard, tid, file, offset, size, time, end))


class Iolog:
    """fio's iolog: version 1 (rw, offset, length), 2 (with waits in us), 3 (with times in us)."""

    def __init__(self, to: Sink) -> None:
        self.to = to
        self.version = 1
        self.now = 1000
        self.opened: dict[str, tuple[int, str]] = {}  # with its last line

    def take(self, line: str) -> None:
        if not line:
            self.to.account.has_none("blank lines")
            return
        if found := re.fullmatch(r"fio version ([23]) iolog", line):
            self.version = int(found[1])
            if self.version < 3:
                self.to.untimed()
            self.to.account.has_none("headers")
        elif self.version == 1:
            write, offset, size = (number(word) for word in re.split(r"[,\s]+", line))
            self.now += 1000
            if write not in (0, 1):
                raise ValueError(line)
            self.to.untimed()
            self.to.transfer(Transfer(1, "iolog", bool(write), offset, size, self.now, self.now))
        else:
            words = line.split()
            if self.version == 3:
                self.now = number(words.pop(0)) * 1000
            else:
                self.now += 1000
            self._action(*words)

    def _action(self, file: str, action: str, *numbers: str) -> None:
        match action, [number(word) for word in numbers]:
            case "add", []:
                self.to.account.has_none("names")
            case "open", []:
                self.to.open(1, file, self.now)
                self.opened[file] = self.to.account.place()
            case "close", []:
                self.to.close(1, file, self.now)
                self.opened.pop(file, None)
            case "wait", [micros, *_]:
                self.to.account.has_none("waits")
                self.now += micros * 1000
            case (("read" | "write"), [offset, size]):
                self.to.transfer(Transfer(1, file, action == "write", offset, size, self.now, self.now))
            case (("sync" | "datasync"), _):
                self.to.sync(1, file, self.now, action == "datasync")
            case "trim", [offset, size]:
                self.to.discard(1, file, offset, size, self.now)
            case _:
                raise ValueError(action)

    def end(self) -> None:
        for place in self.opened.values():
            self.to.account.is_half("files that are never closed", *place)


def iolog(to: Sink, lines: Iterable[str]) -> Iterator[None]:
    reader = Iolog(to)
    yield from each(to, lines, reader.take)
    reader.end()


class Json:
    """Calls as JSON, one a line: as the replay-metrology study kept its workloads; times are us."""

    def __init__(self, requests: Requests) -> None:
        self.to = requests
        self.counted = 0  # calls, by the first line
        self.taken = 0

    def take(self, line: str) -> None:
        if not line or line.isdigit():  # how many there are
            self.counted = min(int(line or self.counted), MOST_CALLS)
            self.to.account.has_none("headers" if line else "blank lines")
            return
        self.taken += 1
        said = json.loads(line)
        name, args, result = said["call"], said["args"], int(said["rvalue"])
        start = int(said["stamp"]["begin"]) * 1000
        end = start + int(said["stamp"]["elapsed"]) * 1000
        tid, file = int(said["caller"]["pid"]), args[0]
        if not isinstance(file, str):
            raise ValueError(file)
        if name == "open":
            self.to.open(tid, file, start)
        elif name == "close":
            self.to.close(tid, file, start)
        elif name in ("pread", "pwrite"):
            write, size = name == "pwrite", max(result, 0)
            self.to.transfer(Transfer(tid, file, write, number(args[3]), size, start, end))
        elif name == "fsync":
            self.to.sync(tid, file, start)
        else:
            raise ValueError(name)


def json_calls(trace: TraceFile, calls: Calls, lines: Iterable[str]) -> Iterator[None]:
    requests = Requests(trace, calls)
    reader = Json(requests)
    yield from each(requests, lines, reader.take)
    missing = max(reader.counted - reader.taken, 0)
    trace.account.leave_out("calls that the first line counts and that are not there", missing)
