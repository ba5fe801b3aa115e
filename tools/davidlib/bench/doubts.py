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
from ..disk.stats import failed_by_drive as failed_by_drive, requests_of as requests_of
from ..sizes import SECTOR
from ..workload import steady
from ..workload.fileops import PAGE
from ..workload.record import Record
from .limits import Limits

LEAST = 0.1  # a share below that is no doubt
LEAST_OF = 0.01  # of requests or bytes: fewer reads or writes are a file system's own
AGAIN = 2  # times that requests at random went to each of their places
WINDOW = 20  # operations: fewer in a window say nothing of a rate
LEAST_NS = 200_000_000  # of operations whose ends are known to the millisecond
Doubt = dict[str, Any]
KINDS = ("cached_writes", "cached_reads", "memory_reads", "empty_reads", "erased_flash", "trend", "unsteady",
         "short_stroke", "failed", "unmet_faults")
# What ran was not what was asked for, so the run is not to be believed. The other doubts are of runs that did
# what was asked: who measures a cache has measured it. david-sim has the same (tools/sim/doubts.c).
REFUTING = ("empty_reads", "unsteady", "failed", "unmet_faults")
# By what the question says of steady; None: such a workload cannot be.
WAITS = {None: "a longer job", False: "more operations, or steady = true", True: "a larger settle"}


@dataclass
class Seen:
    """What is known of a run when it has ended."""

    record: Record
    ns: int  # of the measured span
    left_ns: int  # what the machine and the drive took afterwards until all was on the media
    part: dict[str, Any]  # the disk's figures of that span
    timed: dict[str, Any]  # the same from the beginning of timing-accurate
    homes: tuple[steady.Home, steady.Home]  # when the span began, and when all was written
    limits: Limits
    is_random: bool  # some of its requests are
    rated: bool
    begin_ns: int = 0  # of the span, by the operations' clock; 0: theirs is another one
    warming: dict[str, Any] | None = None
    warm: dict[str, Any] | None = None  # the disk's figures of the warming
    faulty: bool = False  # the drive was to fail
    may_settle: bool | None = None  # of WAITS
    rebuilding: bool = False  # md's own requests are among the disk's, and nobody can tell them apart
    mended: bool = False  # by an array: what one member failed to give the others gave

    @property
    def wait(self) -> str:
        """What would make the rate settle."""
        return WAITS[self.may_settle]


def reach_of(part: dict[str, Any]) -> dict[str, int]:
    """Bytes of the disk: that were asked for, each once; over which most requests for data went; all there
    are."""
    reach = part["reach"]
    return {
        "touched_bytes": reach["pages"] * stats.REACH_PAGE,
        "stroked_bytes": (reach["most_end"] - reach["most_first"]) * SECTOR,
        "disk_bytes": part["target_sectors"] * SECTOR,
    }


def _doubt(kind: str, share: float, text: str) -> Doubt:
    return {"kind": kind, "share": share, "text": text}


def _cached_share(part: dict[str, Any], kind: str) -> float:
    """Of the sectors, those that only the drive's cache saw."""
    return min(part["cached"][kind] / max(part["sectors"][kind], 1), 1.0)


def _has(part: dict[str, Any], kind: str) -> bool:
    """Are enough of the disk's requests of that kind that the run's figures are of them, too?"""
    both = (part["sectors"], part["modelled"])
    return max(of[kind] / max(of["read"] + of["write"], 1) for of in both) >= LEAST_OF


def _cached_writes(seen: Seen) -> Iterator[Doubt]:
    limits = seen.limits
    if not (seen.record.written or _has(seen.part, "write")):
        return
    if (share := steady.stayed(*seen.homes)) >= LEAST:
        yield _doubt("cached_writes", share, "a shingled disk's media cache took the writes: "
                     f"{100 * share:.0f} % of them wait there for bands to be written ({seen.wait})")
    elif (share := _cached_share(seen.part, "write")) >= LEAST:
        yield _doubt("cached_writes", share, f"{100 * share:.0f} % of what the disk was given was "
                     "overwritten in the drive's cache, and never got to the media (a larger size)")
    elif (share := _gone(seen)) >= LEAST:
        yield _doubt("cached_writes", share, f"{100 * share:.0f} % of what programs wrote never came to "
                     "the disk: it was overwritten in the machine's memory, or deleted before (direct = "
                     "true, or a larger size)")
    elif not (seen.warming and seen.warming["level"]):
        yield from _left(seen, limits)


def _gone(seen: Seen) -> float:
    """Of the bytes that programs wrote, those that the disk has not when all was written out."""
    before, after = seen.homes
    return 1 - SECTOR * (after.written - before.written) / seen.record.written if seen.record.written else 0.0


def _emptied_within(seen: Seen) -> int:
    """Of the span, what came after the last operation: then all processes wait for the caches at once."""
    if not (seen.rated and seen.begin_ns and seen.record.ns.get("fsync") and seen.record.ends):
        return 0
    return max(seen.begin_ns + seen.ns - max(seen.record.ends), 0)


def _left(seen: Seen, limits: Limits) -> Iterator[Doubt]:
    """What caches still have when the last operation is done."""
    written = seen.timed["sectors"]["write"] * SECTOR
    if limits.lasting and 0 < seen.part["sectors"]["write"] and written < 2 * limits.cache:
        yield _doubt("cached_writes", 1.0, f"{written / 1e6:.4g} MB were written, into a cache of "
                     f"{limits.cache / 1e6:.4g} MB ({seen.wait})")
        return
    within = _emptied_within(seen)
    share = (within + seen.left_ns) / max(seen.ns + seen.left_ns, 1)
    if share < LEAST:
        return
    rate = seen.record.operations() * 1e9 / max(seen.ns + seen.left_ns, 1)
    counted = f", {within / 1e9:.3g} s of them in the run's {seen.ns / 1e9:.3g} s" if within else (
        f", beside the run's {seen.ns / 1e9:.3g} s")
    yield _doubt("cached_writes", share, "a cache, of the drive or in the machine's memory, took the writes: "
                 f"to empty it at the end took {(within + seen.left_ns) / 1e9:.3g} s{counted}; with all of "
                 f"that it is {rate:.4g} operations a second ({seen.wait})")


def _empty_share(seen: Seen) -> float:
    """Of the pages that were read; of fio's sections of those of the one that read the fewest, if all of them
    were its own: nobody knows whose they were."""
    empty, least = seen.part["flash"]["empty_reads"], seen.record.least_read // PAGE
    return max(empty / max(seen.part["read_pages"], 1), min(empty / least, 1.0) if least else 0.0)


def _cached_reads(seen: Seen) -> Iterator[Doubt]:
    """A stream's hits say nothing: they were read for it. So at most its requests are taken off, and what is
    left are hits of reads at random. On an SSD what nobody wrote is a hit, too."""
    part, stream = seen.part, seen.record.in_order
    if not _has(part, "read"):
        return
    cached, asked = _cached_share(part, "read"), seen.is_random and seen.limits.kind == "disk"
    at_random, hit = part["modelled"]["read"] - stream, part["read_hits"] - stream
    hits = max(hit, 0) / max(at_random, 1) if asked else 0.0
    if hits >= LEAST and hits >= cached:
        text = f"{100 * hits:.0f} % of the random reads were in the drive's cache (a larger size)"
        yield _doubt("cached_reads", hits, text)
    elif cached >= LEAST:
        yield _doubt("cached_reads", cached, f"{100 * cached:.0f} % of what the disk was asked for was in "
                     "the drive's cache, and not read from the media for it (a larger size)")


def _rate(seen: Seen, found: list[Doubt]) -> Iterator[Doubt]:
    """Whatever the run is: no more can pass the heads. FOUND are the doubts that it has already."""
    moved = {kind: seen.part["sectors"][kind] * SECTOR for kind in ("read", "write")}
    rate, media = sum(moved.values()) * 1e9 / max(seen.ns, 1), seen.limits.media_rate
    kind = "cached_writes" if moved["write"] > moved["read"] else "cached_reads"
    share = 1 - media / rate if rate and media else 0.0
    if share >= LEAST and kind not in {doubt["kind"] for doubt in found}:
        yield _doubt(kind, share, f"{rate / 1e6:.1f} MB/s were read and written, and the media have "
                     f"{media / 1e6:.1f}")


def _memory_reads(seen: Seen) -> Iterator[Doubt]:
    """Linux may read ahead of programs, so what the disk read may be more than they asked for. It reads
    pages, so those of small files count whole."""
    asked, read = seen.record.read + seen.record.rest, seen.part["sectors"]["read"] * SECTOR
    share = 1 - read / asked if asked else 0.0
    if share >= LEAST:
        yield _doubt("memory_reads", share, f"{100 * share:.0f} % of the {asked / 1e6:.4g} MB of pages "
                     "that were read did not come from the disk: they were in the machine's memory, or were "
                     "never written "
                     "(more files or a larger size than memory has room for, or direct = true)")


def _flash(seen: Seen) -> Iterator[Doubt]:
    empty, flash = _empty_share(seen), seen.timed["flash"]
    if empty >= LEAST:
        whose = " by one of fio's sections" if seen.record.least_read else ""
        yield _doubt("empty_reads", empty, f"{100 * empty:.0f} % of the pages that were read{whose} had "
                     "never been written, so flash was not asked "
                     '(profile-option = ["precondition=random"], or sequential)')
    if _has(seen.part, "write") and seen.part["flash"]["programs"]:
        yield from _erased(seen, flash)


def _fresh_share(flash: dict[str, int], timed: dict[str, int]) -> float:
    """Of the pages that were written while operations counted, those for which nothing had to be collected.
    If the map's sample has none of them: was anything collected at all?"""
    if flash["host_pages"]:
        return flash["fresh_pages"] / flash["host_pages"]
    return float(not timed["erases"] and not timed["moved_pages"])


def _erased(seen: Seen, timed: dict[str, int]) -> Iterator[Doubt]:
    """Once collection moves pages the rate goes on to fall, until all has been written anew for some times.
    Blocks of which nothing is valid, as sequential writes leave them, are collected for the erase alone.
    """
    flash, enough = seen.part["flash"], seen.limits.rewrites
    spans = [span["reach"]["pages"] for span in (seen.part, seen.warm) if span]
    times, fresh = timed["host_pages"] / max(*spans, 1), _fresh_share(flash, timed)
    missing = 1 - times / enough if timed["moved_pages"] and enough else 0.0
    if fresh >= max(missing, LEAST):
        by_slc = 2 * flash["slc_programs"] * seen.limits.program_pages > flash["fresh_pages"]
        what, longer = ("the SLC cache", "") if by_slc else (
            "flash blocks that were erased", 'profile-option = ["precondition=random"], and ')
        yield _doubt("erased_flash", fresh, f"{what} took {100 * fresh:.0f} % of the writes, and nothing had "
                     f"to be collected for them ({longer}{seen.wait})")
    elif missing >= LEAST:
        yield _doubt("erased_flash", missing, "collection had only begun: each place was "
                     f"written {times:.3g} times, and the rate falls until it has been {enough} times "
                     '(profile-option = ["precondition=random"])')


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
                     f"the rate was not level: it {what} by {abs(slope):.0f} % ({seen.wait})")
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


def _map_in_memory(seen: Seen) -> Iterator[Doubt]:
    """Files that lie all over an SSD need few pages of its map, if they are small. Requests of pages that
    were never written need none, and those in order that of the request before."""
    part, pages = seen.part, max(seen.part["read_pages"], 1)
    written = 1 - min(part["flash"]["empty_reads"] / pages, 1.0)
    reads = max(part["modelled"]["read"] - seen.record.in_order, 0)
    asked = seen.limits.map_misses * (written * reads + part["modelled"]["write"])
    share = 1 - part["flash"]["map_reads"] / asked if asked else 0.0
    if share >= LEAST:
        yield _doubt("short_stroke", share, f"the drive read its map {part['flash']['map_reads']} times, and "
                     f"for as many requests on all of the disk it reads it {asked:.0f} times: most of what "
                     "the files need of it was in its memory (a larger size)")


def _short_stroke(seen: Seen) -> Iterator[Doubt]:
    reach = reach_of(seen.part)
    share = reach["stroked_bytes"] / max(reach["disk_bytes"], 1)
    if seen.is_random and share <= 1 - LEAST:
        yield _doubt("short_stroke", 1 - share, f"the requests lay within {100 * share:.3g} % of the disk: "
                     "heads moved less, and maps and caches had less to hold, than on all of it")
    elif seen.is_random and seen.limits.media_rate:
        span = seen.warm or seen.part
        pages, written = span["reach"]["pages"], span["sectors"]["write"] * SECTOR
        times = written / max(pages * stats.REACH_PAGE, 1)
        if times >= AGAIN:
            until = " until they counted" if seen.warm else ""
            yield _doubt("short_stroke", 1 - 1 / times, f"the requests at random went to the same "
                         f"{pages * stats.REACH_PAGE / 1e6:.4g} MB, {times:.3g} times{until}: "
                         "with its cache the drive has less far to go between them than on all of the disk "
                         "(a larger size)")
    elif seen.is_random:
        yield from _map_in_memory(seen)


def _failed(seen: Seen) -> Iterator[Doubt]:
    """Programs need not notice: a file system writes later, and a program may go on after an error. Of an
    array that bears it nothing is lost."""
    share = failed_by_drive(seen.part) / max(requests_of(seen.part), 1)
    if share >= LEAST and not seen.mended:
        yield _doubt("failed", share, f"{100 * share:.0f} % of the disk's requests failed, and operations "
                     "may count that got nothing (fewer faults, or another age of the drive)")


def _unmet_faults(seen: Seen) -> Iterator[Doubt]:
    """A drive that was to fail, and did nothing of that kind, was a healthy one."""
    if seen.faulty and not sum(seen.part["faults"].values()):
        yield _doubt("unmet_faults", 1.0, "no request met a fault: the figure is that of a healthy drive "
                     "(another place, age or seed of the faults, or more operations)")


def found(seen: Seen) -> list[Doubt]:
    """In the order of KINDS, at most one of each."""
    of_counters = () if seen.rebuilding else (_cached_writes, _cached_reads, _memory_reads, _short_stroke)
    tests = (*of_counters, _flash, _trend, _failed, _unmet_faults)
    doubts = [doubt for test in tests for doubt in test(seen)]
    rate = [] if seen.rebuilding else [*_rate(seen, doubts)]
    return sorted([*doubts, *rate], key=lambda doubt: KINDS.index(doubt["kind"]))
