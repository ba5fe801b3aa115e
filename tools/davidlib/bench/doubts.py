# SPDX-License-Identifier: GPL-2.0
"""What a run's figures do not say by themselves: that a cache took the writes, or served the reads, that
flash had nothing to read, that the rate was not level, that the heads hardly moved.

A figure with a doubt is right for the run as it was. It is not what the drive does in the long run. Words and
rules are david-sim's (tools/sim/doubts.c), but for what only a live run has: the machine's memory, and files.
All is of the span that was measured, and not of what went before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..disk import stats
from ..sizes import SECTOR
from ..workload import steady
from ..workload.record import Record
from .limits import Limits

LEAST = 0.1  # a share below that is no doubt
WINDOW = 20  # operations: fewer in a window say nothing of a rate
LEAST_NS = 200_000_000  # of operations whose ends are known to the millisecond
Doubt = dict[str, Any]
KINDS = ("cached_writes", "cached_reads", "memory_reads", "empty_reads", "erased_flash", "trend", "unsteady",
         "short_stroke")
WAIT = "more operations, or steady = true"


@dataclass
class Seen:
    """What is known of a run when it has ended."""

    record: Record
    ns: int  # of the measured span
    left_ns: int  # what the machine and the drive took afterwards until all was on the media
    part: dict[str, Any]  # the disk's figures of that span
    timed: dict[str, Any]  # the same from the beginning of timing-accurate
    limits: Limits
    is_random: bool
    rated: bool
    begin_ns: int = 0  # of the span, by the operations' clock; 0: theirs is another one
    warming: dict[str, Any] | None = None


def reach_of(part: dict[str, Any]) -> dict[str, int]:
    """Bytes of the disk: that were asked for, each once; from the first to the last; and all there are."""
    reach = part["reach"]
    return {
        "touched_bytes": reach["pages"] * stats.REACH_PAGE,
        "stroked_bytes": (reach["end"] - reach["first"]) * SECTOR,
        "disk_bytes": part["target_sectors"] * SECTOR,
    }


def _doubt(kind: str, share: float, text: str) -> Doubt:
    return {"kind": kind, "share": share, "text": text}


def _cached_writes(seen: Seen) -> Iterator[Doubt]:
    limits, timed = seen.limits, seen.timed
    written, writes = timed["sectors"]["write"] * SECTOR, timed["modelled"]["write"]
    if not (seen.record.written or seen.part["sectors"]["write"]):
        return
    if seen.warming and seen.warming["level"]:
        return
    caches = steady.Caches(limits.cache, limits.media_cache, limits.media_writes)
    # Of others than requests at random, nobody knows what a media cache takes.
    if seen.is_random and writes and not caches.media_filled(written, writes):
        yield _doubt("cached_writes", 1.0, "a shingled disk's media cache took the writes: "
                     f"{writes} of some {limits.media_writes} that fill it ({WAIT})")
        return
    if limits.lasting and 0 < seen.part["sectors"]["write"] and written < 2 * limits.cache:
        yield _doubt("cached_writes", 1.0, f"{written / 1e6:.4g} MB were written, into a cache of "
                     f"{limits.cache / 1e6:.4g} MB ({WAIT})")
        return
    within = sum(seen.record.ns.get("fsync", [])) if seen.rated else 0
    share = (within + seen.left_ns) / max(seen.ns + seen.left_ns, 1)
    if share < LEAST:
        return
    rate = seen.record.operations() * 1e9 / max(seen.ns + seen.left_ns, 1)
    counted = f", {within / 1e9:.3g} s of them in the run's {seen.ns / 1e9:.3g} s" if within else (
        f", beside the run's {seen.ns / 1e9:.3g} s")
    yield _doubt("cached_writes", share, "a cache, of the drive or in the machine's memory, took the writes: "
                 f"to empty it at the end took {(within + seen.left_ns) / 1e9:.3g} s{counted}; with all of "
                 f"that it is {rate:.4g} operations a second ({WAIT})")


def _empty_share(part: dict[str, Any]) -> float:
    return part["flash"]["empty_reads"] / max(part["read_pages"], 1)


def _cached_reads(seen: Seen) -> Iterator[Doubt]:
    reads, read = seen.part["modelled"]["read"], seen.part["sectors"]["read"] * SECTOR
    if seen.is_random:
        share = seen.part["read_hits"] / reads if reads else 0.0
        if share >= LEAST and _empty_share(seen.part) < LEAST:
            text = f"{100 * share:.0f} % of the random reads were in the drive's cache (a larger size)"
            yield _doubt("cached_reads", share, text)
        return
    # More came than passed the heads. A stream's hits alone say nothing: they were read for it.
    rate = read * 1e9 / max(seen.ns, 1)
    share = 1 - seen.limits.media_rate / rate if rate and seen.limits.media_rate else 0.0
    if share >= LEAST:
        yield _doubt("cached_reads", share, f"{100 * share:.0f} % of what was read was in the drive's cache: "
                     f"{rate / 1e6:.1f} MB/s, and the media have {seen.limits.media_rate / 1e6:.1f}")


def _memory_reads(seen: Seen) -> Iterator[Doubt]:
    """Linux may read ahead of programs, so what the disk read may be more than they asked for."""
    asked, read = seen.record.read, seen.part["sectors"]["read"] * SECTOR
    share = 1 - read / asked if asked else 0.0
    if share >= LEAST:
        yield _doubt("memory_reads", share, f"{100 * share:.0f} % of the {asked / 1e6:.4g} MB that were read "
                     "did not come from the disk: they were in the machine's memory, or were never written "
                     "(more files or a larger size than memory has room for, or direct = true)")


def _flash(seen: Seen) -> Iterator[Doubt]:
    empty, flash = _empty_share(seen.part), seen.timed["flash"]
    if empty >= LEAST:
        yield _doubt("empty_reads", empty, f"{100 * empty:.0f} % of the pages that were read had never been "
                     "written, so flash was not asked "
                     '(profile-option = ["precondition=random"], or sequential)')
    collected = flash["erases"] or flash["moved_pages"]
    if seen.part["modelled"]["write"] and seen.part["flash"]["programs"] and not collected:
        yield _doubt("erased_flash", 1.0, "flash blocks that were erased took all writes, and none had to be "
                     'collected (profile-option = ["precondition=random"], and steady = true)')


def windows(ends: list[int], begin: int) -> list[steady.Point]:
    """Of operations that ended then: ten windows of as many each; none if they are too few."""
    ordered, each = sorted(ends), len(ends) // steady.WINDOWS
    if each < WINDOW:
        return []
    if not begin:
        begin = ordered[0]
        if ordered[-1] - begin < LEAST_NS:
            return []
    return [(begin, 0)] + [(ordered[each * at - 1], each * at) for at in range(1, steady.WINDOWS + 1)]


def _trend(seen: Seen) -> Iterator[Doubt]:
    points = windows(seen.record.ends, seen.begin_ns) if seen.rated else []
    slope = steady.trend(points)
    if abs(slope) >= steady.LEVEL:
        what = "fell" if slope < 0 else "rose"
        yield _doubt("trend", slope / 100,
                     f"the rate was not level: it {what} by {abs(slope):.0f} % (steady = true)")
    warming = seen.warming
    if warming and not warming["level"]:
        yield _doubt("unsteady", 1.0, f"did not settle: after {warming['warmed']} operations the rate was "
                     "not level, or the caches not full (a larger settle)")
    elif warming and warming["before"] and seen.record.ends:
        rate = len(seen.record.ends) * 1e9 / max(seen.ns, 1)
        share = rate / warming["before"] - 1
        if abs(share) >= LEAST:
            yield _doubt("unsteady", share, f"{warming['warmed']} operations before those that count came "
                         f"at {warming['before']:.4g} a second, and these at {rate:.4g} (more operations)")


def _short_stroke(seen: Seen) -> Iterator[Doubt]:
    reach = reach_of(seen.part)
    share = reach["stroked_bytes"] / max(reach["disk_bytes"], 1)
    if seen.is_random and share <= 1 - LEAST:
        yield _doubt("short_stroke", 1 - share, f"the requests at random lay within {100 * share:.3g} % of "
                     "the disk: heads moved less, and maps and caches had less to hold, than on all of it")


def found(seen: Seen) -> list[Doubt]:
    """In the order of KINDS, at most one of each."""
    tests = (_cached_writes, _cached_reads, _memory_reads, _flash, _trend, _short_stroke)
    return [doubt for test in tests for doubt in test(seen)]
