# SPDX-License-Identifier: GPL-2.0
"""How many heads, where a head's switch turns the sectors as far as a cylinder's, so that skews do not tell.

All zones are whole cylinders, so that the number of heads divides the tracks of each. But it need not be the
largest number that does. The arm tells: from a zone's first track it reaches some of the next ones by a
switch, and those further away by a longer seek. The first of these begins a cylinder. Seen from any track of
the first cylinder, that one is as far; from the next cylinder it is nearer.
"""

from __future__ import annotations

import math

from .cache import Cache
from .layout import Layout, Zone
from .seeks import TRIES, Arm, Try
from .probe import Answer, Prober, first_true

LONGER = 60_000  # ns: more than two measurements differ by
TRIED = (2, 4, 8, 16, 32, 64, 128, 256)  # tracks away


class Tracks:
    """The arm's times between tracks of a zone, by their numbers: which cylinder they are of is not known."""

    def __init__(self, probe: Prober, layout: Layout, cache: Cache | None) -> None:
        self.probe, self.layout = probe, layout
        self.arm = Arm(probe, layout, cache)
        self.zones = [zone for zone in layout.zones if zone.sectors > (TRIED[-1] + 1) * zone.track]

    def _start(self, zone: Zone, track: int) -> int:
        return zone.first + track * zone.track

    def _between(self, from_: int, to: int) -> Try:
        """Track 0 begins a cylinder in any zone. What is read ahead there must not be there any more."""
        unit, spindle = self.probe.unit, self.arm.spindle

        def attempt(wait: float) -> tuple[Answer, float]:
            for _ in range(TRIES):
                zone = self.probe.random.choice(self.zones)
                self.probe.wander(self.probe.segments + 1)
                within = self.probe.random.randrange(zone.track // 2 // unit) * unit
                before = self.probe.read(self._start(zone, from_) + within)
                angle = spindle.angle_at(before.end) + wait
                answer = self.arm.ask(self.layout.sector_on(zone, self._start(zone, to), angle, unit))
                if not self.probe.is_hit(answer) and not self.probe.is_hit(before):
                    break
            return answer, unit * self.layout.sector_time(zone)

        return attempt

    def time(self, from_: int, to: int) -> float:
        return self.arm.time(self._between(from_, to))


def _by_arm(tracks: Tracks) -> int:
    """0: no seek to a track so near is longer than a switch."""
    switch = tracks.time(0, 1)

    def longer(from_: int, to: int) -> bool:
        return to != from_ and tracks.time(from_, to) > switch + LONGER

    far = next((far for far in TRIED if longer(0, far)), 0)
    if not far:
        return 0
    first = first_true(far // 2, far, lambda to: longer(0, to))
    if tracks.time(0, first) - tracks.time(0, first - 1) < LONGER / 2:
        return 0  # it grows bit by bit: there is no step to be seen
    return first_true(0, first, lambda from_: not longer(from_, first))


def count(probe: Prober, layout: Layout, cache: Cache | None) -> int:
    """For a layout with one head, made of zones whose skews are alike."""
    most = math.gcd(*(zone.sectors // zone.track for zone in layout.zones[:-1]))
    tracks = Tracks(probe, layout, cache)
    found = _by_arm(tracks) if most != 1 and tracks.zones else 0
    return found if found and most % found == 0 else most or 1
