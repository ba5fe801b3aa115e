# SPDX-License-Identifier: GPL-2.0
"""A disk's figures as they grow while something runs on it, read by a process of its own.

A sample is a row of counters since the start, COLUMNS, and the histogram of modelled response times. Where
there would be more than MOST, every second one is dropped, and from then on half as many are taken.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from typing import Any

from ..disk import baseline, stats
from .places import Recorder

COLUMNS = (
    *("t_ns", "reads", "writes", "flushes", "read_bytes", "written_bytes", "modelled", "modelled_ns"),
    *("busy_ns", "overhead_ns", "seek_ns", "rotation_ns", "transfer_ns", "hits"),
    *("store_bytes", "memory_bytes", "late_ns", "flush_ns", "queued_ns"),
    *("die_ns", "channel_ns", "map_ns", "fault_ns"),
)
MOST = 240
FIRST_NS = 50_000_000
Row = list[Any]
Read = Callable[[], dict[str, Any]]


def row(figures: dict[str, Any], t_ns: int) -> Row:
    parts, requests = figures["parts"], figures["requests"]
    return [
        t_ns,
        *(requests[kind] for kind in ("read", "write", "flush")),
        *(figures["sectors"][kind] * 512 for kind in ("read", "write")),
        sum(figures["modelled"][kind] for kind in ("read", "write")),
        sum(figures["modelled_ns"][kind] for kind in ("read", "write")),
        figures["busy_ns"],
        *(parts[name] for name in ("overhead", "seek", "rotation", "transfer")),
        figures["hits"],
        figures["store_used"] * figures["block_size"],
        sum(figures["mem"].values()),
        figures["late_ns"],
        *(parts[name] for name in ("flush", "queued", "die", "channel", "map", "fault")),
        figures["modelled_times"],
    ]


def part_shares(columns: list[str], last: Row, disks: int = 1) -> dict[str, float]:
    """Of the time until that sample: what the drive was busy with. Of several disks: of each, on average."""
    at = dict(zip(columns, last, strict=True))
    # Results have no column of a part that was told apart later.
    parts = {part: at.get(f"{part}_ns", 0) for part in stats.PARTS}
    return stats.part_shares(parts, at["busy_ns"], at["t_ns"] * disks)


def thinned(rows: list[Row]) -> list[Row]:
    """Every second row, the last one included."""
    return rows[1::2] if len(rows) % 2 == 0 else rows[0::2]


def since(columns: list[str], rows: list[Row], name: str) -> list[float]:
    """A counter from 0 on: what was counted before the first sample is of the run, too. A sample that was
    taken as the run began is that 0."""
    times, values = ([row[columns.index(one)] for row in rows] for one in ("t_ns", name))
    begins = len(times) > 1 and 2 * times[0] < times[1]
    return [0.0, *values[begins:]]


def heat(
    times: list[float], histograms: list[list[int]], stretches: int
) -> tuple[list[list[int]], list[int]]:
    """Requests by bucket and stretch of time, and which buckets these are. Of samples at TIMES."""
    width = max(map(len, histograms))
    rows = [row + [0] * (width - len(row)) for row in histograms]
    counts = [[0] * stretches for _ in range(width)]
    for at, before, after in zip(times, [[0] * width, *rows], rows, strict=False):
        place = min(int(at / times[-1] * stretches), stretches - 1)
        for bucket in range(width):
            counts[bucket][place] += after[bucket] - before[bucket]
    used = [bucket for bucket in range(width) if any(counts[bucket])] or [0]
    buckets = list(range(used[0], used[-1] + 1))
    return [counts[bucket] for bucket in buckets], buckets


def _take(read: Read, before: dict[str, Any], start_ns: int, places: Recorder | None) -> list[Row]:
    """Sample until SIGTERM comes."""
    rows: list[Row] = []
    step = FIRST_NS
    due = start_ns
    while True:
        figures = baseline.difference(read(), before)
        rows.append(row(figures, time.monotonic_ns() - start_ns))
        if places:
            places.drain()
        if len(rows) >= MOST:
            rows, step = thinned(rows), 2 * step
        due = max(due + step, time.monotonic_ns())
        left = max(due - time.monotonic_ns(), 1) / 1e9
        if signal.sigtimedwait({signal.SIGTERM}, left):
            return rows


class Sampler:
    """with Sampler(READ, BEFORE) as sampler: ...; then sampler.rows, of what was counted since BEFORE. READ
    has the figures as they are. If something records PLACES, sampler.places are what it has found."""

    def __init__(self, read: Read, before: dict[str, Any], places: Recorder | None = None) -> None:
        self.read, self.before, self.recorder = read, before, places
        self.rows: list[Row] = []
        self.places: dict[str, Any] | None = None
        self.pid: int | None = None

    def __enter__(self) -> Sampler:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        self.reader, writer = os.pipe()
        start = time.monotonic_ns()
        self.pid = os.fork()
        if not self.pid:
            os.close(self.reader)
            status = 1
            try:
                with os.fdopen(writer, "w") as file:
                    rows = _take(self.read, self.before, start, self.recorder)
                    json.dump([rows, self.recorder.found() if self.recorder else None], file)
                status = 0
            finally:
                os._exit(status)
        os.close(writer)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        return self

    def __exit__(self, *_: object) -> None:
        """Once, however often it is called."""
        if self.pid is None:
            return
        os.kill(self.pid, signal.SIGTERM)
        with os.fdopen(self.reader) as file:
            text = file.read()
        os.waitpid(self.pid, 0)
        self.pid = None
        self.rows, self.places = json.loads(text) if text else ([], None)
