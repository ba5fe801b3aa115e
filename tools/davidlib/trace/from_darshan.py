# SPDX-License-Identifier: GPL-2.0
"""Import of darshan-dxt-parser's text: a file's lines follow its name; times are seconds.

A request of MPI-IO becomes requests of POSIX, and DXT has both, often of other ranks and other sizes. So of
each file the lines of one module are taken: the one that moved more bytes, or POSIX's. Lines are in the
order of files, and calls are wanted in that of times: so all are kept until the end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .account import DOUBLED
from .from_requests import MOST, SECOND, Calls, Requests, Transfer, fraction, number
from .tracefile import TraceFile

SHARED = 1 << 30  # the task that has what no rank is said of
_FILE = re.compile(r"# DXT, file_id: \d+, file_name: (.*)")
TWICE = "requests of a module that another module's are there for"
NOWHERE = "requests of MPI-IO without an offset"
BACKWARD = "requests that end before they begin: taken as of no time"
NO_RANK = "requests of rank -1, which stands for several: taken as one more task's"


@dataclass(frozen=True)
class _Request:
    start: int
    end: int
    tid: int
    write: bool
    offset: int | None
    size: int
    line: tuple[int, str]


class Darshan:
    def __init__(self, requests: Requests) -> None:
        self.to = requests
        self.account = requests.trace.account
        self.file = ""
        self.kept: dict[str, dict[str, list[_Request]]] = {}  # by file and module
        self._lines: set[tuple[str, str]] = set()  # with their files: each has a number of its own there

    def take(self, line: str, nr: int) -> None:
        if found := _FILE.match(line):
            self.file = found[1]
        if not line or line.startswith("#"):
            self.account.has_none("headers" if line else "blank lines")
            return
        module, rank, kind, _, offset, length, start, end, *_ = line.split()
        if not module.startswith("X_") or not self.file or kind not in ("read", "write"):
            raise ValueError(line)
        place = None if offset in ("N/A", "-1") else number(offset)
        size, task = number(length), SHARED if rank == "-1" else number(rank) + 1
        if (place or 0) + size > MOST or task > SHARED:
            raise ValueError(line)
        began, ended = fraction(start, SECOND), fraction(end, SECOND)
        if (self.file, line) in self._lines:
            self.account.is_backward(DOUBLED)
        self._lines.add((self.file, line))
        request = _Request(began, ended, task, kind == "write", place, size, (nr, line))
        self.kept.setdefault(self.file, {}).setdefault(module, []).append(request)

    def end(self) -> Iterator[None]:
        taken = []
        for file, modules in self.kept.items():
            moved = Counter({module: sum(one.size for one in all) for module, all in modules.items()})
            most = max(moved.values())
            chosen = max((module for module in modules if moved[module] == most), key="X_POSIX".__eq__)
            for module, all in modules.items():
                if module == chosen:
                    taken += [(request.start, request.end, file, request) for request in all]
                else:
                    self.account.go_back_to(*all[0].line)
                    self.account.has_none(TWICE, len(all))
        for _, _, file, request in sorted(taken, key=lambda one: one[:2]):
            self._write(file, request)
            yield

    def _write(self, file: str, request: _Request) -> None:
        self.account.go_back_to(*request.line)
        if request.offset is None:
            self.account.leave_out(NOWHERE, 1, request.size, max(request.end - request.start, 0))
            return
        if request.end < request.start:
            self.account.guess(BACKWARD)
        if request.tid == SHARED:
            self.account.guess(NO_RANK)
        self.to.transfer(
            Transfer(
                request.tid,
                file,
                request.write,
                request.offset,
                request.size,
                request.start,
                request.end,
            )
        )


def darshan(trace: TraceFile, calls: Calls, lines: Iterable[str]) -> Iterator[None]:
    reader = Darshan(Requests(trace, calls))
    for nr, line in enumerate(lines, 1):
        try:
            reader.take(line.strip(), nr)
        except (ValueError, IndexError):
            trace.misunderstood()
        yield
    yield from reader.end()
