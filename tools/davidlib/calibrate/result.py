# SPDX-License-Identifier: GPL-2.0
"""A profile whose every line says where it comes from."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .cache import Cache
from .layout import Layout
from .seeks import Mechanics
from .probe import LARGEST, TimedDisk
from .writes import Writes

# No drive is known to read on for a stream less than this, sectors: what the arm reads on anyhow.
LEAST_TURN = 128
SURE = 30_000  # ns: how far a switch may be measured too long
PROFILE_NAME = 31  # characters, model/profile/profile.h: PROFILE_NAME_LEN
GIVEN = "given"  # the source of what the user said


@dataclass
class Line:
    name: str
    value: str
    source: str  # measured, fitted, assumed, reported or given
    how: str = ""

    def __str__(self) -> str:
        return f"{self.name} = {self.value}\t# {self.source}{': ' if self.how else ''}{self.how}"


@dataclass
class Draft:
    title: str
    lines: list[Line] = field(default_factory=list)

    def add(self, name: str, value: object, source: str, how: str = "") -> None:
        self.lines.append(Line(name, str(value), source, how))

    def set(self, name: str, value: object, source: str, how: str = "") -> None:
        """In place of what it was, if it was given."""
        new = Line(name, str(value), source, how)
        for n, line in enumerate(self.lines):
            if line.name == name:
                self.lines[n] = new
                return
        self.lines.append(new)

    def copy(self) -> Draft:
        """With lines of its own: it may be changed."""
        return Draft(self.title, list(self.lines))

    def text(self) -> str:
        head = [f"# {line}" for line in self.title.splitlines()]
        head.append("# Each line says whether it was measured, fitted, reported, given or assumed.")
        return "\n".join([*head, "", *map(str, self.lines), ""])


def profile_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-")[:PROFILE_NAME] or "calibrated"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _ns(value: float) -> str:
    return f"{max(round(value), 0)} ns"


def _geometry(draft: Draft, layout: Layout) -> None:
    draft.add("rpm", f"{60e9 / layout.spindle.revolution:.3f}", "measured", "the same sector, minutes apart")
    draft.add("heads", layout.heads, "fitted", "by the period of skews, the arm, or the zones' tracks")
    draft.add("cylinders", layout.cylinders, "measured")
    for zone in layout.zones:
        last = zone.first_cylinder + zone.cylinders - 1
        value = (f"{zone.first_cylinder},{last},{zone.track},{zone.sectors},{zone.track_skew},"
                 f"{zone.cylinder_skew}")
        if layout.first_offset(zone):
            value += f",{layout.first_offset(zone)}"
        draft.add("zone", value, "measured")


def _within(layout: Layout, time: float, skew: str) -> float:
    """A switch that a stream makes does not take longer than its skew: a revolution would be lost."""
    least = min(getattr(zone, skew) * layout.sector_time(zone) for zone in layout.zones)
    return least - 100 if least < time < least + SURE else time


def _mechanics(draft: Draft, layout: Layout, mechanics: Mechanics) -> None:
    seeks = dict(mechanics.seeks)
    seeks[1] = _within(layout, seeks[1], "cylinder_skew")
    for distance, time in seeks.items():
        draft.add("seek", f"{distance}, {_ns(time)}", "measured")
    if mechanics.head_switch is not None:
        switch = _within(layout, mechanics.head_switch, "track_skew")
        draft.add("head_switch", _ns(switch), "measured", "no more than the skew")


def _cache(draft: Draft, cache: Cache | None) -> None:
    if not cache:
        draft.add("segments", 0, "measured", "nothing is read faster the second time")
        draft.add("read_cache", "no", "measured")
        draft.add("readahead", "none", "measured")
        return
    draft.add("bus_read", _ns(cache.bus), "measured", "hits of two lengths")
    draft.add("segments", cache.segments, "measured", "reads until something is gone")
    if cache.segment:
        draft.add("segment_sectors", f"{cache.segment} sectors", "measured", "what is left of a stream")
    else:
        draft.add("segment_sectors", f"{cache.ahead_stream + LARGEST} sectors", "assumed",
                  "the drive drops what was read, so that only read-ahead shows")
    draft.add("readahead", "max" if cache.ahead_stream else "none", "measured")
    if cache.ahead_stream:
        draft.add("readahead_max", f"{cache.ahead_stream} sectors", "measured")
        draft.add("readahead_on_idle_hit", _yes(cache.idle_hit), "measured")
    if cache.turn > LEAST_TURN:
        draft.add("readahead_stream", f"{cache.turn} sectors", "measured")
    draft.add("keep_requested" if cache.keeps else "drop_requested", "yes", "measured")


def _overheads(draft: Draft, cache: Cache | None, mechanics: Mechanics, writes: Writes | None) -> None:
    hit = cache.overhead if cache else 0.0
    draft.add("overhead", _ns(hit), "measured" if cache else "assumed", "of a hit")
    read = mechanics.overhead - hit
    draft.add("overhead_read_miss_after_read", _ns(read), "measured", "what a read from the media takes more")
    draft.add("overhead_read_miss_after_write", _ns(read), "assumed", "as after a read")
    write = writes.overhead_media - hit if writes else read
    source = ("measured", "") if writes else ("assumed", "as a read's")
    draft.add("overhead_write_miss_after_read", _ns(write), *source)
    draft.add("overhead_write_miss_after_write", _ns(write), "assumed", "as after a read")
    if writes and writes.overhead_hit - hit > 5000:
        for before in ("read", "write"):
            draft.add(f"overhead_write_hit_after_{before}", _ns(writes.overhead_hit - hit), "measured")


def _writes(draft: Draft, cache: Cache | None, writes: Writes | None) -> None:
    total = cache.segments * (cache.segment or cache.ahead_stream) if cache else 0
    buffer = max(total // 4, 4 * LARGEST) // 8 * 8
    if not writes:
        draft.add("write_cache", "back", "assumed")
        draft.add("bus_write", _ns(cache.bus if cache else 0), "assumed", "as bus_read")
        draft.add("write_settle", "0 ns", "assumed", "--write measures it")
    else:
        draft.add("write_cache", "back" if writes.cached else "off", "measured")
        draft.add("bus_write", _ns(writes.bus), "measured")
        if writes.settle is None:
            draft.add("write_settle", "1 ms", "assumed", "forced writes go elsewhere; shingled?")
            draft.add("settle_on_switch", "no", "assumed")
        else:
            draft.add("write_settle", f"{round(writes.settle)} ns", "measured")
            draft.add("settle_on_switch", _yes(writes.settle_on_switch), "measured")
        draft.add("flush_overhead", _ns(writes.flush_empty - (cache.overhead if cache else 0)), "measured")
        draft.add("read_hits_on_write_data", _yes(writes.read_back), "measured")
    if not writes or writes.cached:
        draft.add("write_buffer", f"{buffer} sectors", "assumed", "a quarter of the cache")
        draft.add("write_segments", 16, "assumed")
        draft.add("destage_idle", "1 ms", "assumed")
    if not writes:
        draft.add("settle_on_switch", "no", "assumed", "drives write streams as fast as they read them")


def draft(name: str, title: str, disk: TimedDisk, layout: Layout, mechanics: Mechanics,
          cache: Cache | None, writes: Writes | None) -> Draft:
    found = Draft(title)
    found.add("name", profile_name(name), "reported")
    found.add("capacity", f"{disk.sectors} sectors", "reported")
    found.add("logical_block", f"{disk.logical} B", "reported")
    found.add("physical_block", f"{disk.physical} B", "reported")
    _geometry(found, layout)
    _mechanics(found, layout, mechanics)
    _cache(found, cache)
    _overheads(found, cache, mechanics, writes)
    _writes(found, cache, writes)
    found.add("ncq_depth", 32, "assumed")
    found.add("ncq_rotation", "0", "assumed")
    return found
