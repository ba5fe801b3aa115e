# SPDX-License-Identifier: GPL-2.0
"""What a disk's drive allows, of its profile as the kernel has scaled it: how much its caches take, how fast
its media are. The units are those in which the model prints a profile.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..disk import setting
from ..sizes import SECTOR
from ..workload.fileops import PAGE

SIZES = {"sectors": SECTOR, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


@dataclass(frozen=True)
class Limits:
    """Bytes, unless it says otherwise."""

    kind: str  # disk, ssd, memory
    cache: int  # that takes writes
    lasting: bool  # a flush need not empty it
    media_cache: int  # of a shingled disk; 0: it is none
    media_rate: float  # a second that pass the heads at most; 0: there are none
    rewrites: int = 0  # of each place of an SSD, until collection costs what it does for ever
    program_pages: float = 0.0  # of 4 KiB, that a program of an SSD writes
    map_misses: float = 0.0  # of requests at random on all of an SSD those that read its map from flash


def _size(text: str) -> int:
    match = re.fullmatch(r"([0-9.]+)(\w*)", text)
    return int(float(match[1]) * SIZES[match[2] or "sectors"]) if match else 0


def _zone_rate(zone: list[int], heads: int, revolution: float) -> float:
    """Of sequential tracks: each takes a revolution and a skew. tools/sim/job.c has the same."""
    _, _, per_track, _, track_skew, cylinder_skew, *_ = zone
    skews = (heads - 1) * track_skew + cylinder_skew
    return heads * per_track * SECTOR * 1e9 / (revolution * (heads + skews / per_track))


def _rewrites(said: dict[str, str]) -> int:
    """As tools/sim/job.c: rewrites_after() has it measured."""
    if said.get("precondition") == "random":
        return 0
    full = float(said.get("precondition_fill", 1)) == 1
    return 1 if said.get("precondition") == "sequential" and full else 6


def _map_misses(said: dict[str, str]) -> float:
    """Of pages of the map the drive's memory has some; each tells of some of the disk. 0: it has all."""
    cache, page = _size(said.get("map_cache", "0")), _size(said.get("map_page", "0"))
    if not cache or not page:
        return 0.0
    known = cache // page * _size(said["map_coverage"])
    return max(0.0, 1 - known / _size(said["capacity"]))


def parse(word: str) -> Limits:
    """Of a profile in one word, with all parameters."""
    items = [item.partition("=")[::2] for item in word.strip().split(";")]
    said = dict(items)
    on = said["write_cache"] != "off" if "write_cache" in said else False
    segments = int(said.get("segments", 0)) * _size(said.get("segment_sectors", "0"))
    taken = max(segments, _size(said.get("write_buffer", "0"))) + _size(said.get("slc_cache", "0"))
    rates = []
    if said["kind"] == "disk":
        revolution = 60e9 / float(said["rpm"].removesuffix("rpm"))
        zones = [list(map(int, value.split(","))) for name, value in items if name == "zone"]
        rates = [_zone_rate(zone, int(said["heads"]), revolution) for zone in zones]
    return Limits(
        kind=said["kind"],
        cache=taken if on else 0,
        lasting=said["kind"] == "ssd" and said.get("power_loss_protection") == "yes",
        media_cache=_size(said.get("media_cache", "0")),
        media_rate=max(rates, default=0.0),
        rewrites=_rewrites(said) if said["kind"] == "ssd" else 0,
        program_pages=_size(said.get("program_unit", "0")) / PAGE,
        map_misses=_map_misses(said) if said["kind"] == "ssd" else 0.0,
    )


def of_disk(name: str) -> Limits:
    return parse(setting.message(name, "drive"))
