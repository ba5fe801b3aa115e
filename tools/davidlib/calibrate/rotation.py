# SPDX-License-Identifier: GPL-2.0
"""The time of a revolution, and at which angle a sector's read ends.

A sector that is read from the media again comes a whole number of revolutions later.
"""

from __future__ import annotations

import cmath
import math

from .probe import MS, SECOND, Prober

SHORTEST, LONGEST = 3 * MS, 17 * MS  # 20,000 and 3,530 rpm
READS = 24
SPANS = (10 * SECOND, 60 * SECOND)  # waits between reads, for the last digits
TRACK = 64  # requests after which the reference is looked at again


def _ends(probe: Prober, sector: int) -> list[int]:
    found = []
    for _ in range(READS):
        found.append(probe.miss(sector).end)
        probe.wander(probe.segments + 1 + probe.random.randrange(8))
    return found


def _coherence(ends: list[int], period: float) -> float:
    """1, if all ends are whole periods apart."""
    return abs(sum(cmath.exp(2j * math.pi * ((end - ends[0]) / period % 1)) for end in ends)) / len(ends)


def _coarse(ends: list[int]) -> float:
    """The longest period that fits: halves and thirds of it do, too."""
    span = ends[-1] - ends[0]
    if span < READS * SHORTEST:
        return 0.0  # no disk is so fast
    best, found = 0.0, 0.0
    period = float(LONGEST)
    while period > SHORTEST:
        fit = _coherence(ends, period)
        # A shorter one must be much better: sampled beside its peak, the longer one lost a little.
        if fit > 0.8 and fit > best:
            best, found = fit, period
        if found and period < 0.9 * found:
            break
        period -= period * period / span / 16
    return found


def _fit(ends: list[int], period: float) -> float:
    """By least squares, where the number of revolutions between two ends is known."""
    turns = [round((end - ends[0]) / period) for end in ends]
    n, mean_turns = len(ends), sum(turns) / len(ends)
    mean_end = sum(end - ends[0] for end in ends) / n
    above = sum((t - mean_turns) * (end - ends[0] - mean_end) for t, end in zip(turns, ends, strict=True))
    return above / sum((t - mean_turns) ** 2 for t in turns)


class Spindle:
    """Angles in ns of a revolution, from where the reference sector's read ends."""

    def __init__(self, probe: Prober, revolution: float, reference: int, end: int) -> None:
        self.probe, self.revolution, self.reference = probe, revolution, reference
        self._end = end
        self._looked = probe.asked

    def angle_at(self, time: int) -> float:
        return (time - self._end) % self.revolution

    def off(self, one: float, other: float) -> float:
        """How far ONE is behind OTHER, from minus half a revolution on."""
        half = self.revolution / 2
        return (one - other + half) % self.revolution - half

    def look_again(self) -> None:
        """No motor turns so evenly that its angle can be told minutes later."""
        if self.probe.asked - self._looked > max(TRACK, 2 * self.probe.segments):
            self._end = self.probe.miss(self.reference).end
            self._looked = self.probe.asked

    def angle(self, sector: int) -> float:
        """Where a read of SECTOR ends."""
        self.look_again()
        return self.angle_at(self.probe.miss(sector).end)


def measure(probe: Prober) -> Spindle | None:
    """None: nothing turns."""
    reference = probe.place()
    ends = _ends(probe, reference)
    period = _coarse(ends)
    if not period:
        return None
    period = _fit(ends, period)
    for span in SPANS:
        probe.wander(probe.segments + 1)
        ends.append(probe.read(reference, at=probe.idle(span)).end)
        probe.wander()
        period = _fit(ends, period)
    return Spindle(probe, period, reference, ends[-1])
