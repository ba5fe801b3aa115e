# SPDX-License-Identifier: GPL-2.0
"""Zones, tracks and the angle of every sector.

A zone begins with a track. Angles of its first track tell the time of a sector; where they jump the next
track begins; how far they jump is the skew. What that foretells is looked at further and further away,
until it is false: there the next zone begins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..util import UserError
from .rotation import Spindle
from .probe import Prober, first_true

MOST_HEADS = 72
NEAR = 0.003  # of a revolution: as foretold
LOOK_AT = (0.05, 0.45, 0.9)  # of a track
SMALLEST = 24  # sectors of a track


@dataclass
class Zone:
    first: int  # sector
    sectors: int
    track: int  # sectors
    track_skew: int
    cylinder_skew: int
    angle: float  # at which the first sector's read ends
    first_cylinder: int = 0
    cylinders: int = 0


@dataclass
class Place:
    zone: Zone
    cylinder: int
    head: int
    offset: int  # sectors from the track's start


class Layout:
    def __init__(self, spindle: Spindle, zones: list[Zone], heads: int, sectors: int) -> None:
        self.spindle, self.zones, self.heads, self.sectors = spindle, zones, heads or 1, sectors
        self.heads_known = bool(heads)
        cylinder = 0
        for zone in zones:
            zone.first_cylinder = cylinder
            zone.cylinders = -(-zone.sectors // (zone.track * self.heads))
            cylinder += zone.cylinders
        self.cylinders = cylinder

    def sector_time(self, zone: Zone) -> float:
        return self.spindle.revolution / zone.track

    def zone_of(self, cylinder: int) -> Zone:
        return next(zone for zone in self.zones if cylinder < zone.first_cylinder + zone.cylinders)

    def track_start(self, cylinder: int, head: int) -> int:
        zone = self.zone_of(cylinder)
        return zone.first + ((cylinder - zone.first_cylinder) * self.heads + head) * zone.track

    def slots(self, zone: Zone, track: int) -> int:
        """Sectors by which a track of a zone begins later than its first one."""
        cylinder, head = divmod(track, self.heads)
        return zone.track_skew * (head + (self.heads - 1) * cylinder) + zone.cylinder_skew * cylinder

    def angle(self, sector: int) -> float:
        """At which a read of SECTOR ends."""
        zone = next(zone for zone in self.zones if sector < zone.first + zone.sectors)
        track, offset = divmod(sector - zone.first, zone.track)
        turned = (self.slots(zone, track) + offset) % zone.track
        return (zone.angle + turned * self.sector_time(zone)) % self.spindle.revolution

    def sector_at(self, cylinder: int, head: int, angle: float, unit: int) -> int:
        """That sector of a track whose read ends at an angle, or soon after."""
        return self.sector_on(self.zone_of(cylinder), self.track_start(cylinder, head), angle, unit)

    def sector_on(self, zone: Zone, start: int, angle: float, unit: int) -> int:
        """The same of the track of a zone that begins at START."""
        wait = (angle - self.angle(start)) % self.spindle.revolution
        sector = -(-(start + math.ceil(wait / self.sector_time(zone))) // unit) * unit
        return sector if sector + unit <= start + zone.track else -(-start // unit) * unit

    def first_offset(self, zone: Zone) -> int:
        """The angle of a zone's first sector in sectors, from the first zone's on."""
        first = self.zones[0]
        begin = zone.angle - self.sector_time(zone) - (first.angle - self.sector_time(first))
        return round(begin / self.sector_time(zone)) % zone.track


class Surveyor:
    def __init__(self, probe: Prober, spindle: Spindle) -> None:
        self.probe, self.spindle = probe, spindle
        self.unit = probe.unit

    def _jumps(self, start: int, angle: float, sector_time: float, at: int) -> bool:
        """Is START + AT on another track?"""
        foretold = angle + at * sector_time
        off = self.spindle.off(self.spindle.angle(start + at), foretold)
        return abs(off) > 2 * NEAR * self.spindle.revolution

    def _track(self, start: int) -> tuple[int, float]:
        """Sectors of the track that begins at START, and its angle."""
        revolution, unit = self.spindle.revolution, self.unit
        angle = self.spindle.angle(start)
        step = 16 * unit
        sector_time = (self.spindle.angle(start + step) - angle) % revolution / step
        while sector_time * SMALLEST < revolution:
            step = min(4 * step, int(0.95 * revolution / sector_time) // unit * unit)
            foretold = step * sector_time
            off = self.spindle.off(self.spindle.angle(start + step), angle + foretold)
            if abs(off) > 0.2 * revolution:
                break
            sector_time = (foretold + off) / step
            if step * sector_time > 0.9 * revolution:
                return self._track_end(start, angle, sector_time), angle
        raise UserError(f"sector {start}: the tracks that follow are not like those that disks have; "
                        "see docs/CALIBRATION.md, \"When not to believe it\"")

    def _track_end(self, start: int, angle: float, sector_time: float) -> int:
        track = round(self.spindle.revolution / sector_time / self.unit)

        def jumps(at: int) -> bool:
            return self._jumps(start, angle, sector_time, at * self.unit)

        width = 2
        while jumps(track - width) or not jumps(track + width):
            width *= 2
            if width > track // 4:
                raise UserError(f"sector {start}: no end of its track is to be seen; "
                                "see docs/CALIBRATION.md, \"When not to believe it\"")
        return first_true(track - width, track + width, jumps) * self.unit

    def _skew(self, start: int, track: int) -> int:
        """By how many sectors the track behind that which begins at START begins later."""
        off = self.spindle.angle(start + track) - self.spindle.angle(start)
        return round(off % self.spindle.revolution / self.spindle.revolution * track) % track

    def skews(self, start: int, track: int) -> tuple[int, int, int]:
        """Skew of a track and of a cylinder, and heads, or 0 where both skews are the same."""
        found = [self._skew(start + n * track, track) for n in range(MOST_HEADS)]
        common = max(set(found), key=found.count)
        other = [n for n, skew in enumerate(found) if abs(skew - common) > 1]
        if not other:
            return common, common, 0
        heads = other[0] + 1
        if other != list(range(heads - 1, MOST_HEADS, heads)):
            raise UserError(f"sector {start}: the skews of its tracks have no period: {found}")
        return common, found[heads - 1], heads

    def zone(self, start: int, heads: int) -> tuple[Zone, int]:
        """The zone that begins at START; and the heads, if they are known now."""
        track, angle = self._track(start)
        rest = self.probe.disk.sectors - start
        if not heads:
            track_skew, cylinder_skew, heads = self.skews(start, track)
        else:
            track_skew = self._skew(start, track)
            cylinder_skew = self._skew(start + (heads - 1) * track, track)
        zone = Zone(start, rest, track, track_skew, cylinder_skew, angle)
        layout = Layout(self.spindle, [zone], heads, self.probe.disk.sectors)

        def false(number: int) -> bool:
            return not all(self._as_foretold(layout, start + number * track + int(share * track))
                           for share in LOOK_AT)

        tracks = rest // track
        far = 1
        while far < tracks and not false(far):
            far *= 2
        if far < tracks or false(tracks - 1):
            zone.sectors = first_true(far // 2, min(far, tracks - 1), false) * track
        return zone, heads

    def _as_foretold(self, layout: Layout, sector: int) -> bool:
        sector -= sector % self.unit
        off = self.spindle.off(self.spindle.angle(sector), layout.angle(sector))
        return abs(off) < NEAR * self.spindle.revolution


def measure(probe: Prober, spindle: Spindle) -> Layout:
    """Where all skews of a zone are alike, heads are not known yet."""
    surveyor = Surveyor(probe, spindle)
    zones: list[Zone] = []
    heads = start = 0
    while start < probe.disk.sectors:
        zone, heads = surveyor.zone(start, heads)
        zones.append(zone)
        start += zone.sectors
    return Layout(spindle, zones, heads, probe.disk.sectors)
