# SPDX-License-Identifier: GPL-2.0
"""What only writes tell: the write cache, its overheads and room, settling, flushes. They write zeros."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import mean, median, quantiles

from .cache import Cache
from .layout import Layout
from .seeks import Arm, Mechanics
from .probe import FLUSH, LARGEST, MS, WRITE, Prober, Request

IDLE = 50 * MS
FLUSHES = (1, 2, 4, 8, 16, 32)
MOST_BURST = 40_000
BLOCK = 8  # sectors
ALIKE = 0.5 * MS  # half of what writes take longer than reads by, at several distances, lies so close


@dataclass
class Writes:
    cached: bool
    overhead_hit: float
    overhead_media: float
    bus: float
    settle: float | None  # None: writes take no longer than reads by one and the same time
    settle_on_switch: bool
    flush_empty: float  # ns
    flushes: dict[int, float] = field(default_factory=dict)  # ns by blocks that wait
    flush_base: float = 0
    flush_each: float = 0
    read_back: bool = False  # what waits to be written is read from the cache
    # Requests until one had to wait, and how many of them did not. None: none had to.
    bursts: dict[str, tuple[list[Request], int | None]] = field(default_factory=dict)


def _write(probe: Prober, sectors: int = BLOCK) -> Request:
    at = probe.place(sectors) // BLOCK * BLOCK
    return Request(WRITE, at, sectors)


def _hit_times(probe: Prober) -> tuple[float, float]:
    def times(sectors: int) -> float:
        return median(probe.many([_write(probe, sectors)], probe.idle(IDLE))[0].time for _ in range(9))

    bus = (times(LARGEST) - times(BLOCK)) / (LARGEST - BLOCK)
    return times(BLOCK) - BLOCK * bus, max(bus, 0.0)


def _flush_after(probe: Prober, blocks: int) -> int:
    requests = [_write(probe) for _ in range(blocks)] + [Request(FLUSH, 0, 0)]
    return probe.many(requests, probe.idle(IDLE))[-1].time


def line(points: dict[int, float]) -> tuple[float, float]:
    """a and b of a + b * x, by least squares."""
    x_mean, y_mean = mean(points), mean(points.values())
    slope = sum((x - x_mean) * (y - y_mean) for x, y in points.items())
    slope /= sum((x - x_mean) ** 2 for x in points)
    return y_mean - slope * x_mean, slope


def fits_in(answers: list[int], share: float) -> int | None:
    """How many came before the first that took longer than the median of the first ones, by a share."""
    usual = median(answers[:8])
    return next((n for n, time in enumerate(answers) if time > usual * (1 + share) + 0.1 * MS), None)


def burst(probe: Prober, requests: list[Request], share: float) -> tuple[list[Request], int | None]:
    probe.many([Request(FLUSH, 0, 0)])
    probe.wander()
    times: list[int] = []
    for n in range(0, len(requests), 64):
        times += [answer.time for answer in probe.many(requests[n : n + 64])]
        found = fits_in(times, share)
        if found is not None:
            return requests[: len(times)], found
    return requests, None


def _sequential(probe: Prober) -> list[Request]:
    count = min(4096, probe.disk.sectors // 2 // LARGEST)
    return [Request(WRITE, n * LARGEST, LARGEST) for n in range(count)]


def _read_back(probe: Prober) -> bool:
    request = _write(probe)
    probe.many([request])
    return probe.is_hit(probe.read(request.sector))


def measure(probe: Prober, layout: Layout, cache: Cache | None, mechanics: Mechanics) -> Writes:
    probe.many([Request(FLUSH, 0, 0)])
    flush_empty = _flush_after(probe, 0)
    arm = Arm(probe, layout, cache, write=True)
    arm.flush_follows(flush_empty)
    overhead_hit, bus = _hit_times(probe)
    seek = median(mechanics.seeks.values())
    cached = overhead_hit < 0.3 * seek
    standing = median(arm.time(arm.in_place()) for _ in range(3))
    # The data came over the bus before the sector did.
    overhead = standing - arm.unit * bus
    known = [d for d in mechanics.seeks if d > 1]
    tried = known[:: max(len(known) // 8, 1)]
    settles = [arm.time(arm.between((d, 0), (0, 0))) - overhead - mechanics.seeks[d] for d in tried]
    low, settle, high = quantiles(settles)
    on_switch = False
    if mechanics.head_switch is not None:
        switch = arm.time(arm.between((0, 1), (0, 0))) - overhead - mechanics.head_switch
        on_switch = switch > settle / 2 > 0
    seen = settle if high - low < ALIKE else None
    found = Writes(cached, overhead_hit, overhead, bus, seen, seen is not None and on_switch, flush_empty)
    if cached:
        found.flushes = {n: mean(_flush_after(probe, n) for _ in range(8)) for n in FLUSHES}
        found.flush_base, found.flush_each = line(found.flushes)
        found.read_back = _read_back(probe)
        found.bursts["write_buffer"] = burst(probe, _sequential(probe), 0.3)
        found.bursts["write_segments"] = burst(probe, [_write(probe) for _ in range(MOST_BURST)], 4)
    return found
