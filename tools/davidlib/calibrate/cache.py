# SPDX-License-Identifier: GPL-2.0
"""What a drive's read cache holds: found by reading again, and looking whether that took the media."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from .probe import LARGEST, MS, Answer, Prober, first_true

IDLE = 500 * MS  # until read-ahead has ended
MOST_SEGMENTS = 1024
MOST_AHEAD = 1 << 18  # sectors: 128 MiB


@dataclass
class Cache:
    overhead: int  # ns, of a hit
    bus: float  # ns a sector
    segments: int
    segment: int | None  # sectors; None: cannot be seen
    ahead: int  # sectors, behind a first read
    ahead_stream: int  # sectors, behind a stream's last one
    turn: int  # sectors, before the arm leaves a stream
    keeps: bool  # what was just read
    idle_hit: bool  # a hit starts read-ahead again


def _again(probe: Prober, sectors: int) -> Answer:
    """A read of what was read ahead a while ago: a hit, if there is a cache."""
    at = probe.place(4 * LARGEST)
    probe.read(at, LARGEST)
    return probe.read(at + LARGEST, sectors, probe.idle(IDLE))


def hit_times(probe: Prober) -> tuple[int, float] | None:
    """Overhead and time a sector of hits, by a line through hits of two lengths. None: nothing hits."""
    probe.hit_limit = 0
    short = [_again(probe, probe.unit).time for _ in range(9)]
    long = [_again(probe, LARGEST).time for _ in range(9)]
    media = [probe.read(probe.place()).time for _ in range(9)]
    if median(short) > 0.5 * median(media):
        return None
    bus = max((median(long) - median(short)) / (LARGEST - probe.unit), 0.0)
    probe.hit_limit = int(1.3 * max(sorted(short)[:-1])) + 20_000
    return round(median(short) - probe.unit * bus), bus


def _is_there_after(probe: Prober, others: int) -> bool:
    at = probe.place(LARGEST)
    probe.read(at)
    probe.read(at + probe.unit, at=probe.idle(IDLE))
    probe.wander(others)
    return probe.is_hit(probe.read(at + 2 * probe.unit))


def count_segments(probe: Prober) -> int:
    """The least number of other reads after which something is gone."""
    most = 1
    while most < MOST_SEGMENTS and _is_there_after(probe, most):
        most *= 2
    return first_true(most // 2, most, lambda others: not _is_there_after(probe, others))


def _reach(probe: Prober, before: int, read: Callable[[int], object]) -> int:
    """How many sectors behind what READ(sector) reads, BEFORE sectors long, are there a while later."""

    def gone(distance: int) -> bool:
        at = probe.place(before + MOST_AHEAD)
        read(at)
        return not probe.is_hit(probe.read(at + before + distance * probe.unit, at=probe.idle(IDLE)))

    most = 1
    while most * probe.unit < MOST_AHEAD and not gone(most):
        most *= 2
    if most == 1 and gone(0):
        return 0
    return first_true(most // 2, most, gone) * probe.unit


def _segment(probe: Prober, ahead: int) -> tuple[int | None, int]:
    """Sectors of a segment, and how far a stream is read ahead."""
    length = -(-(2 * ahead + 4096) // LARGEST) * LARGEST

    def stream(at: int) -> None:
        probe.read_run(at, length)

    def there(distance: int) -> bool:
        at = probe.place(length + MOST_AHEAD)
        stream(at)
        return probe.is_hit(probe.read(at + distance * probe.unit, at=probe.idle(IDLE)))

    last = length // probe.unit - 1
    if not there(last):
        return None, _reach(probe, length, stream)
    # As long as its beginning is there, the stream was shorter than a segment.
    while there(0) and length < MOST_AHEAD:
        length *= 2
        last = length // probe.unit - 1
    reach = _reach(probe, length, stream)
    return length - first_true(0, last, there) * probe.unit + reach, reach


def _turn(probe: Prober) -> int:
    """How far a drive reads on for a stream that comes back, before the arm leaves for another read."""

    def gone(distance: int) -> bool:
        at = probe.place(4 * LARGEST + MOST_AHEAD)
        for part in range(3):
            probe.read(at + part * LARGEST, LARGEST)
            probe.wander()
        return not probe.is_hit(probe.read(at + 3 * LARGEST + distance * probe.unit))

    most = 1
    while most * probe.unit < MOST_AHEAD and not gone(most):
        most *= 2
    return first_true(most // 2, most, gone) * probe.unit


def _keeps(probe: Prober) -> bool:
    at = probe.place(2 * LARGEST)
    probe.read(at, LARGEST)
    return probe.is_hit(probe.read(at, at=probe.idle(IDLE)))


def _idle_hit(probe: Prober, ahead: int) -> bool:
    at = probe.place(4 * ahead)
    probe.read(at)
    probe.read(at + ahead, at=probe.idle(IDLE))
    return probe.is_hit(probe.read(at + ahead + ahead // 2, at=probe.idle(IDLE)))


def measure(probe: Prober) -> Cache | None:
    times = hit_times(probe)
    if not times:
        return None
    probe.segments = count_segments(probe)
    ahead = _reach(probe, probe.unit, probe.read)
    segment, ahead_stream = _segment(probe, ahead)
    return Cache(*times, probe.segments, segment, ahead, ahead_stream, _turn(probe), _keeps(probe),
                 _idle_hit(probe, ahead))
