# SPDX-License-Identifier: GPL-2.0
"""Where on the disk requests went while a run was measured: how many of each kind, at which place, when; how
far each is from the one before; what went to the journal.

The kernel's trace point of a request that enters the modelled host's queue tells. Requests are counted in
that order: neither the host's scheduler nor the drive has reordered them yet. To tell takes time, so that it
is done under virtual time only, where it takes none. Of an array, places are those of its first member, and
jumps those of all members, each on its own.

Counts are kept in cells of place and time. Where there are more cells than CELLS, or the time goes beyond
COLUMNS of them, neighbours are put together: what is kept has a bound, and no request is left out.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..disk import dm, record
from ..disk.record import TRACING
from ..sizes import SECTOR

KINDS = ("read", "write", "journal")
OPS = {"0": "read", "1": "write"}  # others move nothing
COLUMNS, CELLS = 60, 1500
PLACES = 1 << 18  # of the whole disk, at first
STEP_NS = 1 << 20  # of time, at first
INSTANCE = "david-bench"
BUFFER_KIB = 8192
CHUNK = 1 << 20
EVENT = re.compile(r" david_queue: dev=(\d+:\d+) id=\d+ arrival=(\d+) op=([01]) sector=(\d+) sectors=(\d+) ")
Range = tuple[int, int]  # sectors, from and up to


class Counts:
    """Of the requests that take() is told of."""

    def __init__(self, sectors: int, journal: Sequence[Range] | None, start_ns: int, first: str) -> None:
        """Of a disk of SECTORS; FIRST is the device whose places are kept. Without a JOURNAL it is not known
        what goes there."""
        self.journal, self.start, self.first = journal, start_ns, first
        self.place, self.step = max(1, -(-sectors // PLACES)), STEP_NS
        self.cells: Counter[tuple[str, int, int]] = Counter()
        self.ends: dict[str, int] = {}
        self.jumps: Counter[int] = Counter()  # by bits of their length in sectors; 0 is none
        self.jumped = self.journal_requests = self.journal_sectors = self.requests = self.lost = 0

    def _kind(self, op: str, sector: int, sectors: int) -> str:
        kind = OPS[op]
        if kind == "write" and any(begin <= sector and sector + sectors <= end
                                   for begin, end in self.journal or ()):
            return "journal"
        return kind

    def take(self, device: str, arrival: int, op: str, sector: int, sectors: int) -> None:
        self.requests += 1
        kind = self._kind(op, sector, sectors)
        if kind == "journal":
            self.journal_requests += 1
            self.journal_sectors += sectors
        if device in self.ends:
            length = abs(sector - self.ends[device])
            self.jumps[length.bit_length()] += 1
            self.jumped += length
        self.ends[device] = sector + sectors
        if device == self.first:
            self._cell(kind, max(0, arrival - self.start), sector)

    def _cell(self, kind: str, at: int, sector: int) -> None:
        while at // self.step >= COLUMNS:
            self.step *= 2
            self._coarser(2, 1)
        self.cells[kind, at // self.step, sector // self.place] += 1
        while len(self.cells) > CELLS:
            self.place *= 2
            self._coarser(1, 2)

    def _coarser(self, time: int, place: int) -> None:
        cells: Counter[tuple[str, int, int]] = Counter()
        for (kind, at, where), count in self.cells.items():
            cells[kind, at // time, where // place] += count
        self.cells = cells

    def found(self) -> dict[str, Any]:
        cells = [[KINDS.index(kind), at, where, count] for (kind, at, where), count in self.cells.items()]
        known = self.journal is not None
        return {
            "requests": self.requests,
            "lost": self.lost,
            "step_ns": self.step,
            "place_bytes": self.place * SECTOR,
            "cells": sorted(cells),
            "jumps": [self.jumps[bits] for bits in range(max(self.jumps, default=-1) + 1)],
            "jumped_bytes": self.jumped * SECTOR,
            "journal_requests": self.journal_requests if known else None,
            "journal_bytes": self.journal_sectors * SECTOR if known else None,
        }


class Recorder:
    """The kernel tells of DISKS, by device-mapper's names, from begin() to end(); drain() takes what it has
    told. It may be called in a child of the process that made this."""

    def __init__(self, disks: Sequence[str], journal: Sequence[Range] | None) -> None:
        """DeviceError: this kernel does not tell."""
        self.disks = [dm.minor(name) for name in disks]
        self.journal = journal
        self.sectors = dm.size_of(f"/dev/mapper/{disks[0]}") // SECTOR
        self.rest = ""
        record.mount()
        self.top = TRACING / "instances" / INSTANCE
        remove()
        self.top.mkdir()
        # What no longer fits is lost, and counted.
        (self.top / "options/overwrite").write_text("0")
        (self.top / "buffer_size_kb").write_text(str(BUFFER_KIB))
        (self.top / "tracing_on").write_text("0")
        (self.top / "events/david/david_queue/enable").write_text("1")
        self.pipe: int | None = os.open(self.top / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK)

    def begin(self, start_ns: int) -> None:
        self.counts = Counts(self.sectors, self.journal, start_ns, self.disks[0])
        (self.top / "tracing_on").write_text("1")

    def drain(self) -> None:
        assert self.pipe is not None, "it is closed"
        while True:
            try:
                text = os.read(self.pipe, CHUNK).decode()
            except BlockingIOError:
                return
            if not text:
                return
            text, _, self.rest = (self.rest + text).rpartition("\n")
            for device, arrival, op, sector, sectors in EVENT.findall(text):
                if device in self.disks:
                    self.counts.take(device, int(arrival), op, int(sector), int(sectors))

    def end(self) -> None:
        """No more is told; what was told is still there."""
        (self.top / "tracing_on").write_text("0")

    def found(self) -> dict[str, Any]:
        self.drain()
        for path in self.top.glob("per_cpu/cpu*/stats"):
            [dropped] = re.findall(r"^dropped events: (\d+)$", path.read_text(), re.MULTILINE)
            self.counts.lost += int(dropped)
        return self.counts.found()

    def close(self) -> None:
        """Once, however often it is called."""
        if self.pipe is not None:
            os.close(self.pipe)
            self.pipe = None
            remove()


def remove() -> None:
    """What a run left that failed, too."""
    with contextlib.suppress(OSError):
        (TRACING / "instances" / INSTANCE).rmdir()


def whole(result: dict[str, Any]) -> dict[str, Any] | None:
    """What was found in a run, if none of the reads and writes that the disk has counted is missing there."""
    found = result.get("places")
    asked = result["stats"].get("requests", {})
    if not found or found["lost"] or found["requests"] != asked["read"] + asked["write"]:
        return None
    return dict(found)
