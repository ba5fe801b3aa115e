# SPDX-License-Identifier: GPL-2.0
"""What a request costs before the sector comes: overhead, head switch, seek.

From a sector just read to another, the answer takes as long as until that sector comes, if the arm is there
in time, or a revolution more. So the arm's time is found by choosing sectors that come earlier or later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

from .cache import IDLE, Cache
from .layout import Layout
from .probe import FUA, READ, WRITE, Answer, Prober, Request

STEPS = 14
TRIES = 8  # until neither sector was in the cache
CLOSE = 6_000  # ns: near enough
EARLY = 0.1  # of a revolution: how much sooner than a read's end a write's may come
ALIKE = 300_000  # ns: a flush behind a write, and one alone
SMOOTH = 20_000  # ns: how far a distance may be off the line between its neighbours
# One try: the answer to a request whose sector comes about so long after it was issued, and that sector's
# own time.
Try = Callable[[float], tuple[Answer, float]]


@dataclass
class Mechanics:
    overhead: float  # ns, of a read from the media
    head_switch: float | None
    seeks: dict[int, float] = field(default_factory=dict)  # by cylinders


def least(attempt: Try, revolution: float, close: float = CLOSE) -> float:
    """The least time in which a sector can come, without the sector's own time."""
    answer, own = attempt(0)
    high = answer.time - own
    low = high - revolution
    for _ in range(STEPS):
        if high - low < close:
            break
        answer, own = attempt((high + low) / 2)
        time = answer.time - own
        if time <= high:
            high = max(time, low)
        else:
            low = min(max(low, time - revolution), high)
    return (high + low) / 2


class Arm:
    """The probing of arm and electronics by reads of a sector, or by writes of a physical block."""

    def __init__(self, probe: Prober, layout: Layout, cache: Cache | None, write: bool = False) -> None:
        self.probe, self.layout, self.cache = probe, layout, cache
        self.spindle = layout.spindle
        self.write = write
        self.unit = max(probe.disk.physical // 512, probe.unit) if write else probe.unit
        self.after = 0  # ns, from a write's last sector to its answer

    def flush_follows(self, flush: int) -> None:
        """
        Linux sends a flush behind each forced write. FLUSH is the time of one. At which angle the last sector
        was written is known, so it shows how much later the answer came, but for whole revolutions.
        """
        revolution = self.spindle.revolution
        late = median(self._late() for _ in range(9))
        turns = round((flush - late) / revolution)
        if abs(late + turns * revolution - flush) < ALIKE:
            self.after = round(late + turns * revolution)

    def ask(self, sector: int, at: int = 0) -> Answer:
        request = Request(WRITE if self.write else READ, sector, self.unit, FUA if self.write else 0)
        answer = self.probe.many([request], at)[0]
        return Answer(answer.start, answer.end - self.after)

    def _late(self) -> float:
        sector = self.probe.place(self.unit) // self.unit * self.unit
        self.spindle.look_again()
        angle = self.spindle.angle_at(self.ask(sector).end)
        early = self.spindle.revolution * EARLY
        late = angle - self.layout.angle(sector + self.unit - self.probe.unit)
        return (late + early) % self.spindle.revolution - early

    def _own(self, sector: int) -> float:
        zone = next(z for z in self.layout.zones if sector < z.first + z.sectors)
        return self.unit * self.layout.sector_time(zone)

    def _read_on(self, cylinder: int, head: int) -> Answer:
        start, unit = self.layout.track_start(cylinder, head), self.probe.unit
        track = self.layout.zone_of(cylinder).track
        return self.probe.read(start + self.probe.random.randrange(track // 2 // unit) * unit)

    def between(self, from_: tuple[int, int], to: tuple[int, int]) -> Try:
        """From one (cylinder, head) to another, moved along the disk from try to try."""

        def attempt(wait: float) -> tuple[Answer, float]:
            for _ in range(TRIES):
                base = self.probe.random.randrange(self.layout.cylinders - 1 - max(from_[0], to[0]))
                before = self._read_on(base + from_[0], from_[1])
                angle = self.spindle.angle_at(before.end) + wait
                sector = self.layout.sector_at(base + to[0], to[1], angle, self.unit)
                answer = self.ask(sector)
                if not self.probe.is_hit(answer) and not self.probe.is_hit(before):
                    break
            return answer, self._own(sector)

        return attempt

    def in_place(self) -> Try:
        """The arm stands on the sector's track: read-ahead has ended there."""
        unit = self.unit
        ahead = self.cache.ahead if self.cache else 0

        def attempt(wait: float) -> tuple[Answer, float]:
            room = ahead + 3 * max(zone.track for zone in self.layout.zones)
            zone = next(z for z in self.layout.zones if z.sectors > 2 * room)
            number = self.probe.random.randrange((zone.sectors - 2 * room) // zone.track)
            # Read-ahead is to end in the first third of a track.
            end = zone.first + (number * zone.track + room) // zone.track * zone.track
            end = (end + zone.track // 4) // unit * unit
            before = self.probe.read(end - self.probe.unit - ahead)
            sector = end + 2 * unit
            soonest = before.end + IDLE
            angle = self.layout.angle(sector) - wait - self.spindle.angle_at(soonest)
            return self.ask(sector, at=round(soonest + angle % self.spindle.revolution)), self._own(sector)

        return attempt

    def time(self, attempt: Try) -> float:
        return least(attempt, self.spindle.revolution)


def _distances(longest: int) -> list[int]:
    """1, 2, 3, 4, 6, 8, 12, … and steps of a sixteenth of the stroke."""
    found, step = {longest}, 1
    while step < longest:
        found |= {step, min(step * 3 // 2, longest)}
        step *= 2
    return sorted(found | {max(n * longest // 16, 1) for n in range(1, 16)})


def _curve(seek: Callable[[int], float], longest: int) -> dict[int, float]:
    """Seek times by distance, more of them where they do not lie on a line."""
    found = {distance: seek(distance) for distance in _distances(longest)}
    todo = list(zip(sorted(found), sorted(found)[1:], strict=False))
    while todo:
        low, high = todo.pop()
        middle = (low + high) // 2
        if middle in (low, high) or len(found) > 160:
            continue
        found[middle] = seek(middle)
        line = found[low] + (found[high] - found[low]) * (middle - low) / (high - low)
        if abs(line - found[middle]) > SMOOTH:
            todo += [(low, middle), (middle, high)]
    return dict(sorted(found.items()))


def measure(probe: Prober, layout: Layout, cache: Cache | None) -> Mechanics:
    arm = Arm(probe, layout, cache)
    standing = median(arm.time(arm.in_place()) for _ in range(3))
    # What the bus takes for the last sector is in the answer, but neither arm's nor electronics' time.
    bus = probe.unit * cache.bus if cache else 0.0

    def seek(distance: int) -> float:
        return max(arm.time(arm.between((distance, 0), (0, 0))) - standing, 0.0)

    switch = None
    if layout.heads > 1:
        switch = max(arm.time(arm.between((0, 1), (0, 0))) - standing, 0.0)
    # A little less than the full stroke, so that there are many places to go from.
    longest = max(layout.cylinders - 2 - max(layout.cylinders // 200, 8), 1)
    return Mechanics(standing - bus, switch, _curve(seek, longest))
