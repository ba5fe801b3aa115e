# SPDX-License-Identifier: GPL-2.0
"""Import of traces whose lines are reads and writes: fio's iolog, blkparse, MSR's csv, DXT, JSON calls.

Each request becomes a pread64 or pwrite64. A file that is used without having been opened is opened
first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator

from . import tracefile
from .tracefile import TraceFile

SECTOR = 512
SECOND = 1_000_000_000
MOST = (1 << 62) - 1
BEGIN = SECOND  # a trace file has no time 0, and these texts often begin there
SINCE_1601 = 11_644_473_600 * SECOND  # to 1970
Calls = list[tuple[int, str, str, str]]

_BLKPARSE = re.compile(
    r"\s*(\d+),(\d+)\s+\d+\s+\d+\s+(\d+)\.(\d{9})\s+(\d+)\s+([A-Z]{1,2}|m)\s+([A-Z]+)\s+(?:(\d+) \+ (\d+)\s)?"
)


def _number(text: str) -> int:
    value = int(text)
    if not 0 <= value <= MOST:
        raise ValueError(text)
    return value


def _fraction(text: str, unit: int) -> int:
    """A decimal number, in nanoseconds."""
    whole, _, part = text.partition(".")
    return _number(whole) * unit + _number((part + "0" * 9)[:9]) * unit // SECOND


class Requests:
    """Calls of tasks on files that are known by name."""

    def __init__(self, trace: TraceFile, calls: Calls) -> None:
        self.trace = trace
        self._nr = {name: nr for nr, name, _, _ in calls}
        self._fds: dict[tuple[int, str], int] = {}
        self._next = 3

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

    def transfer(
        self, tid: int, file: str, write: bool, offset: int, size: int, start: int, end: int
    ) -> None:
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

    def each(self, lines: Iterable[str], take: Callable[[str], object]) -> Iterator[None]:
        """Take every line; one that makes no sense is counted."""
        for line in lines:
            try:
                take(line.strip())
            except (ValueError, IndexError, KeyError, TypeError):
                self.trace.misunderstood()
            yield


class Iolog:
    """fio's iolog: version 1 (rw, offset, length), 2 (with waits in us), 3 (with times in us)."""

    def __init__(self, requests: Requests) -> None:
        self.to = requests
        self.version = 1
        self.now = 1000

    def take(self, line: str) -> None:
        if not line:
            self.to.trace.account.has_none("blank lines")
            return
        if found := re.fullmatch(r"fio version ([23]) iolog", line):
            self.version = int(found[1])
            self.to.trace.account.has_none("headers")
        elif self.version == 1:
            write, offset, size = (_number(word) for word in re.split(r"[,\s]+", line))
            self.now += 1000
            if write not in (0, 1):
                raise ValueError(line)
            self.to.transfer(1, "iolog", bool(write), offset, size, self.now, self.now)
        else:
            words = line.split()
            if self.version == 3:
                self.now = _number(words.pop(0)) * 1000
            else:
                self.now += 1000
            self._action(*words)

    def _action(self, file: str, action: str, *numbers: str) -> None:
        match action, [_number(word) for word in numbers]:
            case "add", []:
                self.to.trace.account.has_none("names")
            case "open", []:
                self.to.open(1, file, self.now)
            case "close", []:
                self.to.close(1, file, self.now)
            case "wait", [micros, *_]:
                self.to.trace.account.has_none("waits")
                self.now += micros * 1000
            case (("read" | "write"), [offset, size]):
                self.to.transfer(1, file, action == "write", offset, size, self.now, self.now)
            case (("sync" | "datasync"), _):
                self.to.sync(1, file, self.now, action == "datasync")
            case "trim", [offset, size]:
                self.to.discard(1, file, offset, size, self.now)
            case _:
                raise ValueError(action)


def iolog(trace: TraceFile, calls: Calls, lines: Iterable[str]) -> Iterator[None]:
    requests = Requests(trace, calls)
    return requests.each(lines, Iolog(requests).take)


class Blkparse:
    """blkparse's default lines. A request is from its issue (D) to its completion (C).

    A device without a queue, as those of dm and md, issues none: there it is from where it was queued (Q).
    """

    def __init__(self, requests: Requests) -> None:
        self.to = requests
        self.issued: dict[tuple[str, int, int], tuple[int, int]] = {}
        self.queued: dict[tuple[str, int, int], tuple[int, int]] = {}
        self.flushing: dict[str, tuple[int, int]] = {}
        self.summary = False

    def take(self, line: str) -> None:
        found = _BLKPARSE.match(line)
        if not found:
            # Behind the lines there is a summary of each CPU.
            self.summary = self.summary or bool(re.match(r"(CPU ?\d+|Total|Events) \(", line))
            if line and not self.summary or re.match(r"\d+,\d+\s", line):
                raise ValueError(line)
            self.to.trace.account.has_none("lines of the summary")
            return
        action = found[6]
        if action not in ("Q", "D", "C"):
            self.to.trace.account.has_none("messages" if action == "m" else "other events")
            return
        time = _number(found[3]) * SECOND + int(found[4])
        pid = _number(found[5]) & 0x7FFFFFFF
        disk = f"/dev/block/{found[1]}:{found[2]}"
        if found[8]:
            self._request(action, found[7], (disk, _number(found[8]), _number(found[9])), time, pid)
        elif "F" in found[7]:
            self._flush(action, disk, time, pid)
        elif action == "C":
            raise ValueError(line)

    def _flush(self, action: str, disk: str, time: int, pid: int) -> None:
        """One without data."""
        if action != "C":
            self.to.trace.account.has_none("beginnings of requests")
            self.flushing[disk] = time, pid
            return
        start, pid = self.flushing.pop(disk, (time, 1))
        self.to.sync(pid or 1, disk, start, end=time)

    def _request(self, action: str, kind: str, key: tuple[str, int, int], time: int, pid: int) -> None:
        if action != "C":
            self.to.trace.account.has_none("beginnings of requests")
            (self.issued if action == "D" else self.queued)[key] = time, pid
            return
        queued, issued = self.queued.pop(key, None), self.issued.pop(key, None)
        start, pid = issued or queued or (time, 0)
        disk, sector, sectors = key
        if "D" in kind:
            self.to.discard(pid or 1, disk, sector * SECTOR, sectors * SECTOR, start, time)
        elif "R" in kind or "W" in kind and "Z" not in kind:
            self.to.transfer(pid or 1, disk, "W" in kind, sector * SECTOR, sectors * SECTOR, start, time)
        else:
            self.to.trace.account.leave_out("requests that are no read, write, flush or discard")

    def end(self) -> None:
        self.to.trace.account.leave_out("requests that were issued and never ended", len(self.issued))


def blkparse(trace: TraceFile, calls: Calls, lines: Iterable[str]) -> Iterator[None]:
    requests = Requests(trace, calls)
    reader = Blkparse(requests)
    yield from requests.each(lines, reader.take)
    reader.end()


def msr(trace: TraceFile, calls: Calls, lines: Iterable[str]) -> Iterator[None]:
    """Timestamp,Host,Disk,Type,Offset,Size,ResponseTime: times are 100 ns, the first since 1601.

    Copies have times from their own beginning.
    """
    requests = Requests(trace, calls)

    def take(line: str) -> None:
        if not line or line.lower().startswith("timestamp"):
            trace.account.has_none("headers" if line else "blank lines")
            return
        time, host, disk, kind, offset, size, took = (word.strip() for word in line.split(","))
        start = _number(time) * 100
        if start >= SINCE_1601:
            start -= SINCE_1601
        if kind.lower() not in ("read", "write"):
            raise ValueError(kind)
        requests.transfer(
            1,
            f"/{host}/{_number(disk)}",
            kind.lower() == "write",
            _number(offset),
            _number(size),
            start,
            start + _number(took) * 100,
        )

    return requests.each(lines, take)


class Darshan:
    """darshan-dxt-parser's text: a file's lines follow its name; times are seconds."""

    def __init__(self, requests: Requests) -> None:
        self.to = requests
        self.file = ""

    def take(self, line: str) -> None:
        if found := re.match(r"# DXT, file_id: \d+, file_name: (.*)", line):
            self.file = found[1]
        if not line or line.startswith("#"):
            self.to.trace.account.has_none("headers" if line else "blank lines")
            return
        module, rank, kind, _, offset, size, start, end, *_ = line.split()
        if not module.startswith("X_") or not self.file or kind not in ("read", "write"):
            raise ValueError(line)
        self.to.transfer(
            _number(rank) + 1,
            self.file,
            kind == "write",
            _number(offset),
            _number(size),
            _fraction(start, SECOND),
            _fraction(end, SECOND),
        )


def darshan(trace: TraceFile, calls: Calls, lines: Iterable[str]) -> Iterator[None]:
    requests = Requests(trace, calls)
    return requests.each(lines, Darshan(requests).take)


class Json:
    """Calls as JSON, one a line: as the replay-metrology study kept its workloads; times are us."""

    def __init__(self, requests: Requests) -> None:
        self.to = requests

    def take(self, line: str) -> None:
        if not line or line.isdigit():  # how many there are
            self.to.trace.account.has_none("headers" if line else "blank lines")
            return
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
            self.to.transfer(tid, file, name == "pwrite", _number(args[3]), max(result, 0), start, end)
        elif name == "fsync":
            self.to.sync(tid, file, start)
        else:
            raise ValueError(name)


def json_calls(trace: TraceFile, calls: Calls, lines: Iterable[str]) -> Iterator[None]:
    requests = Requests(trace, calls)
    return requests.each(lines, Json(requests).take)
