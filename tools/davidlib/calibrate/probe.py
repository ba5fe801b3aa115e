# SPDX-License-Identifier: GPL-2.0
"""A disk that is asked by requests and answers by times, and how it is asked."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

READ, WRITE, FLUSH = 0, 1, 2
FUA = 1
MS = 10**6
SECOND = 10**9
# Requests that no host cuts in two.
LARGEST = 256


@dataclass(frozen=True)
class Request:
    op: int
    sector: int
    sectors: int
    flags: int = 0


@dataclass(frozen=True)
class Answer:
    """Times of the disk's clock, ns."""

    start: int
    end: int

    @property
    def time(self) -> int:
        return self.end - self.start


class TimedDisk(Protocol):
    sectors: int
    logical: int  # bytes
    physical: int

    def many(self, requests: Iterable[Request], at: int = 0) -> list[Answer]:
        """One after another, the first not before AT."""

    def deep(self, requests: list[Request], depth: int) -> list[Answer]:
        """So many outstanding."""


class Prober:
    """Asks a disk, and knows what its cache may still hold."""

    def __init__(self, disk: TimedDisk, seed: int = 1) -> None:
        self.disk = disk
        self.unit = disk.logical // 512
        self.random = random.Random(seed)
        self.asked = 0
        self.last = 0  # end of the last request
        self.segments = 0
        self.hit_limit = 0  # ns; what takes longer came from the media

    def many(self, requests: list[Request], at: int = 0) -> list[Answer]:
        answers = self.disk.many(requests, at)
        self.asked += len(answers)
        self.last = answers[-1].end
        return answers

    def read(self, sector: int, sectors: int = 0, at: int = 0) -> Answer:
        return self.many([Request(READ, sector, sectors or self.unit)], at)[0]

    def read_run(self, sector: int, sectors: int) -> None:
        """In order, by requests of 128 KiB."""
        end = sector + sectors
        self.many([Request(READ, at, min(LARGEST, end - at)) for at in range(sector, end, LARGEST)])

    def idle(self, ns: int) -> int:
        """A time to issue the next request at."""
        return self.last + ns

    def place(self, room: int = 0) -> int:
        """Somewhere, with so many sectors behind it."""
        return self.random.randrange((self.disk.sectors - room - self.unit) // self.unit) * self.unit

    def wander(self, count: int = 1) -> None:
        """Reads all over the disk: read-ahead ends, and the cache gets something else."""
        if count:
            self.many([Request(READ, self.place(), self.unit) for _ in range(count)])

    def is_hit(self, answer: Answer) -> bool:
        return answer.time <= self.hit_limit

    def miss(self, sector: int) -> Answer:
        """A read of SECTOR from the media; the arm goes elsewhere at once, so that little is read ahead."""
        for _ in range(8):
            answer = self.read(sector)
            if not self.is_hit(answer):
                self.wander()
                return answer
            self.wander(self.segments + 1)
        return answer


def first_true(low: int, high: int, test: Callable[[int], bool]) -> int:
    """The least number in (LOW, HIGH] for which TEST holds; it holds for HIGH, and not for LOW."""
    while high - low > 1:
        middle = (low + high) // 2
        if test(middle):
            high = middle
        else:
            low = middle
    return high
