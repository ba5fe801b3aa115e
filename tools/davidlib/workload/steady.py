# SPDX-License-Identifier: GPL-2.0
"""When has a rate settled? The rule is david-sim's (tools/sim/job.c), which is that of fio's steadystate.

Rates of ten windows are level if they have no trend of LEVEL percent or more. A trend is a straight line that
is steeper, or a step that is higher, than what level rates scatter by; or nearly all windows are in the order
of their rates, as those of a curve are. A window is a tenth of the operations
that are to be counted, or as many as the drive's cache takes, if these are more. And the caches must have had
the time to be full, by what came to the drive: until then a cache that takes everything has a level rate,
too. A shingled disk must have
written home most of what came in these windows.

Warming makes processes wait for that. All of them do operations that are not counted; the first one judges.
When it has, each stops behind its operation. The parent, which then looks at the disk, lets them go on.
"""

from __future__ import annotations

import itertools
import math
import mmap
import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..sizes import SECTOR
from .record import Record

WINDOWS = 10
LEVEL = 10.0  # percent
STUDENT = 5.041  # of the slope of level rates, 99.9 % are less steep; 8 degrees of freedom
HIGHEST = 7.06  # of the step of level rates that fits best, 99.9 % are less high (400,000 drawn at random)
ORDERED = 35  # Kendall's S: of all orders of ten windows 99.9 % have one nearer to 0
FILLINGS = 4  # of the cache
# An instant, and how many operations were done then.
Point = tuple[int, int]


@dataclass(frozen=True)
class Home:
    """Sectors and requests that were written to a disk so far; and of a shingled one the sectors that are not
    at home now, and the runs in which they lie."""

    written: int = 0
    writes: int = 0
    sectors: int = 0
    runs: int = 0


def home_of(stats: dict[str, Any]) -> Home:
    """Of `david stats --json`."""
    pending = stats["pending"]
    return Home(stats["sectors"]["write"], stats["modelled"]["write"], pending["sectors"], pending["runs"])


def stayed(before: Home, now: Home) -> float:
    """Of what was written in between, the share that a shingled disk did not write home: of the bytes, or of
    the requests, if that is more. A stream beside small writes has nearly all bytes."""
    sectors = (now.sectors - before.sectors) / max(now.written - before.written, 1)
    runs = (now.runs - before.runs) / max(now.writes - before.writes, 1)
    return min(max(sectors, runs, 0.0), 1.0)


def _change(begin: float, end: float) -> float:
    return 100 * (end / begin - 1)


def _line(rates: list[float]) -> tuple[float, float]:
    """The change from the first window to the last, in percent of where the line begins; what is off the
    line, squared. No change: the line is no steeper than what level rates scatter by. Of what falls too fast
    for a line the change is that of the windows."""
    middle, mean = (WINDOWS - 1) / 2, sum(rates) / WINDOWS
    spread = sum((at - middle) ** 2 for at in range(WINDOWS))
    slope = sum((at - middle) * (rate - mean) for at, rate in enumerate(rates)) / spread
    off = sum((rate - mean - slope * (at - middle)) ** 2 for at, rate in enumerate(rates))
    if abs(slope) < STUDENT * math.sqrt(off / (WINDOWS - 2) / spread):
        return 0.0, off
    if abs(slope) * middle >= mean:
        return _change(rates[0], rates[-1]), off
    return _change(mean - slope * middle, mean + slope * middle), off


def _step(rates: list[float]) -> tuple[float, float]:
    """The same of the step between two windows that fits best, in percent of the rate before it."""
    best, off = 0.0, math.inf
    for at in range(1, WINDOWS):
        means = sum(rates[:at]) / at, sum(rates[at:]) / (WINDOWS - at)
        left = sum((rate - means[place >= at]) ** 2 for place, rate in enumerate(rates))
        if left < off:
            scatter = math.sqrt(left / (WINDOWS - 2) * (1 / at + 1 / (WINDOWS - at)))
            high = abs(means[1] - means[0]) >= HIGHEST * scatter
            best, off = _change(*means) if high else 0.0, left
    return best, off


def _curve(rates: list[float]) -> float:
    """The change from the first window to the last, if nearly all are in the order of their rates; else 0."""
    pairs = itertools.combinations(rates, 2)
    ordered = abs(sum((later > rate) - (later < rate) for rate, later in pairs)) >= ORDERED
    return _change(rates[0], rates[-1]) if ordered else 0.0


def trend(points: list[Point]) -> float:
    """In percent of the rate before, of a line or a step, whichever is nearer to the rates, or else of a
    curve; 0: none, or not enough windows."""
    if len(points) <= WINDOWS:
        return 0.0
    pairs = zip(points, points[1:], strict=False)
    rates = [(more - count) / max(end - begin, 1) for (begin, count), (end, more) in pairs]
    if not all(rates):
        return 0.0
    line, step = _line(rates), _step(rates)
    return (step[0] if step[1] < line[1] else line[0]) or _curve(rates)


@dataclass
class Judge:
    """Is asked after each operation, with the sums of all processes."""

    cache: int  # bytes that the drive's takes of writes
    window: int
    home: Callable[[], Home]
    shingled: bool = False  # is asked at each window's end what is not at home
    points: list[Point] = field(default_factory=list)
    homes: list[Home] = field(default_factory=list)  # at these points
    due: tuple[int, int] = (0, 0)  # operations, bytes: the window's end

    def __post_init__(self) -> None:
        self.due = (self.window, self.cache)
        self.first = self.home()

    def _filled(self, written: int) -> bool:
        """Could the drive's cache be full? What programs write may stay in the machine's memory, so a drive
        is asked, if nothing else is missing: that takes time."""
        if not written:
            return True
        if written < FILLINGS * self.cache:
            return False
        home = self.homes[-1] if self.shingled else self.home()
        return SECTOR * (home.written - self.first.written) >= max(FILLINGS * self.cache, 1)

    def is_level(self, now: int, operations: int, moved: int, written: int) -> bool:
        if operations < self.due[0] or moved < self.due[1]:
            return False
        self.points = [*self.points[-WINDOWS:], (now, operations)]
        if self.shingled:
            self.homes = [*self.homes[-WINDOWS:], self.home()]
        self.due = (operations + self.window, moved + self.cache)
        if len(self.points) <= WINDOWS or abs(trend(self.points)) >= LEVEL or not self._filled(written):
            return False
        return not self.homes or 100 * stayed(self.homes[0], self.homes[-1]) < LEVEL

    def rate(self) -> float:
        """Operations a second of the last windows."""
        if len(self.points) < 2:
            return 0.0
        (begin, count), (end, more) = self.points[0], self.points[-1]
        return (more - count) * 1e9 / max(end - begin, 1)


# What a process has done: operations, bytes, bytes written. And what the first one says.
SLOTS = 4
STOPS, SETTLED, DONE, RATE = range(4)  # of the first one's verdict; the rate in thousandths


class Warming:
    """Of a run with `steady`: MOST operations at most before those that count. BEGIN is called in between."""

    def __init__(self, processes: int, count: int, most: int, cache: int, home: Callable[[], Home],
                 begin: Callable[[], None], shingled: bool = False) -> None:
        self.processes, self.most, self.begin = processes, most, begin
        self.shared = memoryview(mmap.mmap(-1, 8 * SLOTS * (1 + processes))).cast("Q")
        self.judge = Judge(cache, max(count // WINDOWS, 1), home, shingled)
        self.ready, self.go = os.pipe(), os.pipe()

    def _sums(self) -> list[int]:
        return [sum(self.shared[SLOTS + slot :: SLOTS]) for slot in range(SLOTS)]

    def _note(self, number: int, done: Record) -> None:
        said = (done.operations(), done.read + done.written, done.written)
        for slot, more in enumerate(said):
            self.shared[SLOTS * (1 + number) + slot] += more

    def _judge(self) -> None:
        operations, moved, written, _ = self._sums()
        level = self.judge.is_level(time.monotonic_ns(), operations, moved, written)
        if level or operations >= self.most:
            self.shared[SETTLED], self.shared[DONE] = int(level), operations
            self.shared[RATE] = round(1000 * self.judge.rate())
            self.shared[STOPS] = 1

    def warm(self, number: int, step: Callable[[Record], None]) -> None:
        """Of one process: do operations until it is enough, and then wait for the others."""
        while not self.shared[STOPS]:
            done = Record()
            step(done)
            self._note(number, done)
            if number == 0:
                self._judge()
        os.write(self.ready[1], b".")
        os.read(self.go[0], 1)

    def release(self, answers: list[int]) -> None:
        """Of the parent: wait for all, and let them go on. ANSWERS are read from a process that has ended:
        then somebody failed, and who waits for the answers will see."""
        waiting = 0
        while waiting < self.processes:
            there, _, _ = select.select([self.ready[0], *answers], [], [])
            if self.ready[0] not in there:
                return
            waiting += len(os.read(self.ready[0], self.processes))
        self.begin()
        os.write(self.go[1], b"." * self.processes)

    def close(self) -> None:
        for fd in (*self.ready, *self.go):
            os.close(fd)

    def outcome(self) -> dict[str, Any]:
        """What stands in a result: operations that were not counted, was the rate level then, and what it was
        a second."""
        return {"warmed": self.shared[DONE], "level": bool(self.shared[SETTLED]),
                "before": self.shared[RATE] / 1000}


def course(number: int, step: Callable[[Record], None], share: int, record: Record,
           warming: Warming | None) -> None:
    """A process's operations: those that settle the rate, then those that are counted."""
    if warming:
        warming.warm(number, step)
    while record.operations() < share:
        step(record)
