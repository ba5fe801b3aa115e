# SPDX-License-Identifier: GPL-2.0
"""What a device tells about itself: the ioctl of /dev/david, as names and numbers. statstext.py has the text.

Mirrors dm-david/uapi/dm-david.h. The kernel prints the same figures as words "key=value" in `dmsetup status`
and `dmsetup message NAME 0 stats`; words() gives these names.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
from typing import Any

from ..util import UserError
from . import dm

CONTROL = "/dev/david"
ABI_VERSION = 1
NAME_LEN = 128
SLOTS = 16

BUCKETS = 32

STATES = ("ok", "low", "full", "failed")
FAULTS = ("none", "flush", "log", "superblock", "room")
MODES = ("speedup", "timing-accurate", "model-only")

# In the kernel's order, which is that of DAVID_EVIDENCE in the header: tests/facts.
EVIDENCE_MEANS: dict[str, str] = {
    "mode": "classify=keep or data decided",
    "flags": "request marked as metadata: kept",
    "bdev": "page of a block device: kept",
    "directory": "page of a directory or symbolic link: kept",
    "internal": "page of a file system's own inode: kept",
    "unowned": "page without an owner: kept",
    "unproven": "file system not known to be safe, or checksums that cannot be kept: kept",
    "unmounted": "not mounted here: kept",
    "file": "page of a regular file mounted here: squashed",
    "anon": "anonymous page, mounted here: squashed",
    "partial": "part of a block whose rest is not data: kept",
    "unknown": "implicit: nothing known for certain there: kept",
    "layout": "implicit: metadata or journal by its place: kept",
    "logged": "implicit: in the journal's log: kept",
    "self": "implicit: says itself that it is metadata: kept",
    "implied": "implicit: nothing but data is possible: squashed",
    "raw": "data that a RAW rule keeps: kept",
    "made_up": "reads the same when it is squashed, as a copy of squashed data does: squashed",
}

# JSON group -> (field of the struct, prefix of the kernel's words, names by index, "" for one not counted)
GROUPS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "mem": ("mem", "mem_", ("ranges", "bitmap", "pools", "target", "model", "classify", "checksums")),
    "cpu": ("cpu", "cpu_", ("classify", "map", "content", "io", "model")),
    "written": ("verdict", "written_", ("kept", "fill", "squashed", "exact")),
    "evidence": ("evidence", "ev_", tuple(EVIDENCE_MEANS)),
    "ranges": ("ranges", "ranges_", ("", "fill", "squashed", "stored", "packed")),
    "blocks": ("blocks", "blocks_", ("", "fill", "squashed", "stored", "packed")),
    "requests": ("requests", "requests_", ("read", "write", "flush", "discard", "zeroes")),
    "sectors": ("sectors", "sectors_", ("read", "write", "flush", "discard", "zeroes")),
}

SCALARS = (
    "block_size",
    "target_sectors",
    "store_blocks",
    "store_used",
    "store_low_water",
    "nospc",
    "errors",
    "range_locks",
)


TIMED = ("read", "write", "flush")
PARTS = ("overhead", "seek", "rotation", "transfer", "flush", "queued", "die", "channel", "map", "fault")
# The part about time, in the struct's order: groups as above, scalars, histograms.
TIME_GROUPS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "parts": ("parts", "part_", PARTS),
    "modelled": ("modelled", "modelled_", TIMED),
    "modelled_ns": ("modelled_ns", "modelled_ns_", TIMED),
    "measured": ("measured", "measured_", TIMED),
    "measured_ns": ("measured_ns", "measured_ns_", TIMED),
}
TIME_SCALARS = (
    "late_50us",
    "late_max",
    "late_ns",
    "busy_ns",
    "queue_waits",
    "queue_wait_ns",
    "unmodelled",
    "hits",
)
# Behind the part about time.
LATE_GROUPS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "unclassified": ("unclassified", "unclassified_", ("now", "most", "spilled", "data", "metadata")),
}
HISTOGRAMS = ("late", "modelled_times", "measured_times")
# Of the requests that were waited for: how many, their modelled times, how late, how many too late.
DELIVERED: dict[str, tuple[str, str, tuple[str, ...]]] = {
    field: (field, f"{field}_", TIMED)
    for field in ("delivered", "delivered_ns", "delivered_late_ns", "delivered_over")
}
CHECKSUMS = ("checksums", "checksums_", ("blocks", "store", "loads", "evictions", "saves"))
# Behind all others, in the struct's order.
FLASH = ("host_pages", "moved_pages", "folded_pages", "reads", "programs", "slc_programs", "map_programs",
         "map_reads", "erases", "empty_reads", "buffer_reads", "buffer_waits", "suspended",
         "fresh_pages")
MODEL_GROUPS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "flash": ("flash", "flash_", FLASH),
    "reach": ("reach", "reach_", ("first", "end", "pages", "most_first", "most_end")),
    "cached": ("cached", "cached_", ("read", "write")),
    "pending": ("pending", "pending_", ("sectors", "runs")),
    "faults": ("faults", "faults_", ("media_read", "media_write", "timeout", "gone", "slowed", "stalled",
                                     "detours", "moved")),
}
READS = ("read_hits", "read_pages")
END = ("created",)
# Of a disk with zones, behind that: commands that were done, and the modelled times of those without data.
ZONE_COMMANDS = ("open", "close", "finish", "reset")
ZONE_GROUPS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "zones": ("zones", "zones_", (*ZONE_COMMANDS, "append", "opened", "refused")),
    "zones_ns": ("zones_ns", "zones_ns_", ZONE_COMMANDS),
}
REACH_PAGE = 4096  # bytes
ALL_GROUPS = GROUPS | TIME_GROUPS | {"checksums": CHECKSUMS} | LATE_GROUPS | DELIVERED | MODEL_GROUPS
ALL_GROUPS |= ZONE_GROUPS
EXACT = ("exact_blocks", "exact_limit")
POOL = ("pool_saved", "pool_memory")
PACKS = ("packs_store",)
LAST = ("log_retries", "raw_names", "raw_names_full")
ALL_SCALARS = (*SCALARS, *TIME_SCALARS, *EXACT, *LAST, *POOL, *PACKS, *READS, *END)

_SLOT_ARRAY = ctypes.c_uint64 * SLOTS
_HISTOGRAM = ctypes.c_uint64 * BUCKETS


class Struct(ctypes.Structure):
    """struct david_stats"""

    _fields_ = [
        ("version", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("name", ctypes.c_char * NAME_LEN),
        ("state", ctypes.c_uint32),
        ("block_size", ctypes.c_uint32),
        *((name, ctypes.c_uint64) for name in SCALARS[1:]),
        *((field, _SLOT_ARRAY) for field, _, _ in GROUPS.values()),
        ("mode", ctypes.c_uint32),
        ("fault", ctypes.c_uint32),
        ("late", _HISTOGRAM),
        *((name, ctypes.c_uint64) for name in TIME_SCALARS),
        ("parts", _SLOT_ARRAY),
        ("modelled", _SLOT_ARRAY),
        ("modelled_ns", _SLOT_ARRAY),
        ("modelled_times", _HISTOGRAM),
        ("measured", _SLOT_ARRAY),
        ("measured_ns", _SLOT_ARRAY),
        ("measured_times", _HISTOGRAM),
        ("checksums", _SLOT_ARRAY),
        *((name, ctypes.c_uint64) for name in EXACT),
        ("more_evidence", _SLOT_ARRAY),
        ("unclassified", _SLOT_ARRAY),
        *((name, ctypes.c_uint64) for name in LAST),
        *((field, _SLOT_ARRAY) for field in DELIVERED),
        *((name, ctypes.c_uint64) for name in (*POOL, *PACKS, *READS)),
        *((field, _SLOT_ARRAY) for field in MODEL_GROUPS),
        *((name, ctypes.c_uint64) for name in END),
        *((field, _SLOT_ARRAY) for field in ZONE_GROUPS),
    ]


def _ioc(direction: int, number: int, size: int) -> int:
    """_IOC() of asm-generic/ioctl.h"""
    return direction << 30 | size << 16 | ord("D") << 8 | number


IOC_STATS = _ioc(0, 2, 0)


def ioc_stats_sized(size: int) -> int:
    """The number that older programs call, which has the size of their struct in it."""
    return _ioc(3, 1, size)


class StatsError(UserError):
    """The device's figures cannot be had; the text says why and what to do."""


def fetch(name: str) -> Struct:
    stats = Struct(version=ABI_VERSION, size=ctypes.sizeof(Struct), name=name.encode())
    try:
        fd = os.open(CONTROL, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        dm.require_target()
        raise StatsError(f"there is no {CONTROL}, though the module is loaded; is udevd stuck?") from None
    except OSError as error:
        raise StatsError(f"cannot open {CONTROL}: {error.strerror}; run as root") from None
    try:
        fcntl.ioctl(fd, IOC_STATS, stats)
    except OSError as error:
        if error.errno == errno.EPROTONOSUPPORT:
            reason = (
                f"the module speaks version {stats.version} of the interface, this program {ABI_VERSION}; "
                "install the two from one source"
            )
        elif error.errno in (errno.ENXIO, errno.ENODEV, errno.ENOENT):
            reason = f"there is no david device of the name '{name}'; 'david list' shows those there are"
        else:
            reason = f"{CONTROL} says about '{name}': {error.strerror}"
        raise StatsError(reason) from None
    finally:
        os.close(fd)
    return stats


def as_dict(stats: Struct) -> dict[str, Any]:
    """For --json: scalars, and one object a group."""
    state = STATES[stats.state] if stats.state < len(STATES) else str(stats.state)
    mode = MODES[stats.mode] if stats.mode < len(MODES) else str(stats.mode)
    fault = FAULTS[stats.fault] if stats.fault < len(FAULTS) else str(stats.fault)
    result: dict[str, Any] = {"name": stats.name.decode(), "state": state, "fault": fault, "mode": mode}
    result.update({name: getattr(stats, name) for name in ALL_SCALARS})
    for group, (field, _, names) in ALL_GROUPS.items():
        values = list(getattr(stats, field))
        if group == "evidence":
            values += stats.more_evidence
        result[group] = {name: values[slot] for slot, name in enumerate(names) if name}
    for name in HISTOGRAMS:
        result[name] = _without_tail(list(getattr(stats, name)))
    return result


def _without_tail(counts: list[int]) -> list[int]:
    """A histogram up to its last bucket that is not 0."""
    while len(counts) > 1 and not counts[-1]:
        counts.pop()
    return counts


def quantile_us(counts: list[int], share: float) -> int:
    """Microseconds that this share of the requests stayed below: the upper end of its bucket."""
    wanted = share * sum(counts)
    for bucket, count in enumerate(counts):
        wanted -= count
        if wanted <= 0:
            return 1 << bucket
    return 1 << len(counts)


def words(stats: dict[str, Any]) -> dict[str, str]:
    """as_dict() in the kernel's own words, for comparison with status and message."""
    result = {key: str(stats[key]) for key in ("state", "fault", "mode", *ALL_SCALARS)}
    for group, (_, prefix, names) in ALL_GROUPS.items():
        result.update({prefix + name: str(stats[group][name]) for name in names if name})
    result.update({name: ",".join(map(str, stats[name])) for name in HISTOGRAMS})
    return result


def parse_words(text: str) -> dict[str, str]:
    """The words key=value in a line of dmsetup."""
    return dict(word.split("=", 1) for word in text.split() if "=" in word)


def part_shares(parts: dict[str, int], busy_ns: int, span_ns: int) -> dict[str, float]:
    """Of a span of time: what the drive was busy with. Commands that are under way together share it."""
    total = sum(parts.values())
    scale = min(1, busy_ns / total) / max(span_ns, 1) if total else 0
    return {name: ns * scale for name, ns in parts.items()}


FAILURES = ("media_read", "media_write", "timeout", "gone")  # of `faults`; the others only take time


def failed_by_drive(figures: dict[str, Any]) -> int:
    """Requests that faults of the modelled drive failed: what was asked for."""
    return sum(figures.get("faults", {}).get(name, 0) for name in FAILURES)


def requests_of(figures: dict[str, Any]) -> int:
    """Reads, writes and flushes: of these some may have failed."""
    return sum(figures.get("requests", {}).get(kind, 0) for kind in TIMED)
