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
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from . import tracefile
from .account import NOT_UNDERSTOOD, Account, Misread
from .tracefile import TraceFile

SECTOR = 512
SECOND = 1_000_000_000
MOST = (1 << 62) - 1
BEGIN = SECOND  # a trace file has no time 0, and these texts often begin there
MOST_CALLS = 1 << 40  # of one text
Calls = list[tuple[int, str, str, str]]

DECIMAL = re.compile(r"(?=\.?\d)\d{0,40}(?:\.\d{0,40})?(?:[eE][+-]?\d{1,2})?", re.ASCII)


def number(text: str, unit: int = 1) -> int:
    if not re.fullmatch(r"\d{1,40}", text, re.ASCII):
        raise Misread(f"{text!r} is no whole number")
    value = int(text) * unit
    if value > MOST:
        raise Misread(f"{text} is too large")
    return value


def fraction(text: str, unit: int) -> int:
    """A decimal number of so many nanoseconds each, as 12.5, .5 or 1.25e1; in whole ones."""
    if not DECIMAL.fullmatch(text):
        raise Misread(f"{text!r} is no number")
    value = int(Decimal(text) * unit)
    if value > MOST:
        raise Misread(f"{text} is too large")
    return value


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
    def open(self, tid: int, name: str, time: int) -> None: ...

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
        except Misread as error:
            to.account.leave_out(NOT_UNDERSTOOD, why=str(error))
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

    def open(self, tid: int, name: str, time: int) -> None:
        if (tid, name) in self._fds:
            self.account.has_none("opens of files that are open")
        else:
            self._open(tid, name, time)

    def _open(self, tid: int, name: str, time: int) -> int:
        fd = self._next
        self._next += 1
        self._fds[tid, name] = fd
        path = [(tracefile.PATH, name.encode(errors="surrogateescape"))]
        self.call(tid, "open", time, time, fd, (0, 2, 0), path)
        return fd

    def close(self, tid: int, name: str, time: int) -> None:
        fd = self._fds.pop((tid, name), None)
        if fd is None:
            self.account.has_none("closes of files that are not open")
        else:
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

    def _opened(self, tid: int, file: str, time: int) -> int:
        """Its descriptor. Where no line has opened it, that is made up."""
        fd = self._fds.get((tid, file))
        if fd is None:
            fd = self._open(tid, file, time)
            self.account.made_up += 1
        return fd

    def transfer(self, moved: Transfer) -> None:
        tid, file, write, offset, size, start, end, _ = moved
        if offset + size > MOST:
            raise Misread(f"{offset + size} is too large")
        fd = self._opened(tid, file, start)
        self.call(tid, "pwrite64" if write else "pread64", start, end, size, (fd, 0, size, offset))

    def sync(self, tid: int, file: str, time: int, data: bool = False, end: int = 0) -> None:
        fd = self._opened(tid, file, time)
        self.call(tid, "fdatasync" if data else "fsync", time, max(time, end), 0, (fd,))

    def discard(self, tid: int, file: str, offset: int, size: int, time: int, end: int = 0) -> None:
        """A hole is punched; the size stays."""
        fd = self._opened(tid, file, time)
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

    def open(self, tid: int, name: str, time: int) -> None:
        self.to.open(tid, name, time)

    def close(self, tid: int, name: str, time: int) -> None:
        self.to.close(tid, name, time)

    def transfer(self, moved: Transfer) -> None:
        if moved.offset + moved.size > MOST:
            raise Misread(f"{moved.offset + moved.size} is too large")
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
        self.taken = False  # a line that is no header
        self.now = 0
        self.opened: dict[str, tuple[int, str]] = {}  # with its last line

    def take(self, line: str) -> None:
        if not line:
            self.to.account.has_none("blank lines")
            return
        if found := re.fullmatch(r"fio version (\d+) iolog", line):
            self._begin(int(found[1]))
        elif self.version == 1:
            write, offset, size = re.split(r"[,\s]+", line)
            if write not in ("0", "1"):
                raise ValueError(line)
            self.now += 1000
            self.to.untimed()
            moved = Transfer(1, "iolog", write == "1", number(offset), number(size), self.now, self.now)
            self._transfer(moved)
            self.taken = True
        else:
            self._line(line)
            self.taken = True

    def _begin(self, version: int) -> None:
        """fio appends to a log that is there, and the jobs of numjobs have one: each has a header."""
        if version not in (2, 3):
            raise Misread(f"version {version} of fio's iolog: 1 to 3 are known")
        self.to.account.has_none("headers")
        if self.taken:
            self.to.account.is_joined("another iolog of fio begins, of another job or run, as it appends")
        self.version = version
        if self.version < 3:
            self.to.untimed()

    def _line(self, line: str) -> None:
        """A file's name may have blanks: fio writes them as they are."""
        before = self.now
        if self.version == 3:
            time, _, line = line.partition(" ")
            self.now = number(time, 1000)
            if self.now < before:
                self.to.account.is_backward("lines of an earlier time than the line in front of them")
        else:
            self.now += 1000
        words = line.rsplit(None, 1)
        if words[-1] in ("add", "open", "close"):
            self._action(*words)
        else:
            self._action(*line.rsplit(None, 3))

    def _transfer(self, moved: Transfer) -> None:
        if moved.size:
            self.to.transfer(moved)
        else:
            self.to.account.leave_out("requests of no bytes")

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
                self._transfer(Transfer(1, file, action == "write", offset, size, self.now, self.now))
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
            self.to.transfer(Transfer(tid, file, write, number(str(args[3])), size, start, end))
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
