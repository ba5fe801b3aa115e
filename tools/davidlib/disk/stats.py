# SPDX-License-Identifier: GPL-2.0
"""What a device tells about itself: the ioctl of /dev/david, as names and numbers, and as text.

Mirrors dm-david/uapi/dm-david.h. The kernel prints the same figures as words "key=value" in `dmsetup status`
and `dmsetup message NAME 0 stats`; words() gives these names.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from typing import Any

from ..sizes import SECTOR, format_size, format_time
from ..util import UserError
from . import dm, lateness

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
PARTS = ("overhead", "seek", "rotation", "transfer", "flush", "queued")
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
ALL_GROUPS = GROUPS | TIME_GROUPS | {"checksums": CHECKSUMS} | LATE_GROUPS | DELIVERED
EXACT = ("exact_blocks", "exact_limit")
POOL = ("pool_saved", "pool_memory")
PACKS = ("packs_store",)
LAST = ("log_retries", "raw_names", "raw_names_full")
ALL_SCALARS = (*SCALARS, *TIME_SCALARS, *EXACT, *LAST, *POOL, *PACKS)

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
        *((name, ctypes.c_uint64) for name in (*POOL, *PACKS)),
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


FAULTS_MEAN = {
    "none": "",
    "flush": ": the backing device could not flush, and may have forgotten what it had",
    "log": ": the backing device would not take the store's log, at a second try neither",
    "superblock": ": the backing device would not take the store's superblock, at a second try neither",
    "room": ": the store's log has no room, which cannot be",
}


CHECKSUMS_MEAN = {
    "blocks": "each of 4 KiB",
    "store": "blocks of the store that hold some of them",
    "loads": "times that some were read from there",
    "evictions": "times that some left memory",
}


UNCLASSIFIED_MEANS = {
    "now": "blocks kept until an inode tells what they are",
    "most": "at any time so far",
    "spilled": "past the bound: kept permanently",
    "data": "told to be data: content dropped",
    "metadata": "told to be metadata",
}


def part_shares(parts: dict[str, int], busy_ns: int, span_ns: int) -> dict[str, float]:
    """Of a span of time: what the drive was busy with. Commands that are under way together share it."""
    total = sum(parts.values())
    scale = min(1, busy_ns / total) / max(span_ns, 1) if total else 0
    return {name: ns * scale for name, ns in parts.items()}


def _mean(total_ns: int, count: int) -> str:
    return format_time(total_ns // count) if count else "-"


def _histogram(counts: list[int]) -> Iterator[tuple[str, int]]:
    for bucket, count in enumerate(counts):
        if count:
            yield f"< {format_time(1000 << bucket)}", count


PART_TEXTS = {
    "overhead": "from here on: the time of commands in the drive, {:.2f} at a time",
    "flush": "until what a flush or FUA needs is on the media",
    "queued": "for the drive's other work: room, the arm, a die, the link",
}


def _times(stats: dict[str, Any], row: Callable[..., None], title: Callable[[str], None]) -> None:
    """Of a disk with a profile: what the drive took, and whether the host kept up."""
    total = sum(stats["modelled"].values())
    busy = stats["busy_ns"]
    title(f"modelled times ({stats['mode']})")
    for name, count in stats["modelled"].items():
        row(name, _mean(stats["modelled_ns"][name], count), f"mean response of {count} requests")
    rate = f"{total * 1_000_000_000 / busy:.1f} requests a second of it" if busy else ""
    row("drive busy", format_time(busy), rate)
    under_way = sum(stats["parts"].values()) / busy if busy else 0
    for name, ns in stats["parts"].items():
        row(name, format_time(ns), PART_TEXTS.get(name, "").format(under_way))
    row("cache hits", str(stats["hits"]), "commands that the drive's cache served or took")
    waits = f"waited to enter the queue, {format_time(stats['queue_wait_ns'])} in all"
    row("queue waits", str(stats["queue_waits"]), waits)
    if late := sum(stats["late"]):
        over = stats["late_50us"]
        title("lateness: delivered minus modelled")
        title(f"  {lateness.verdict(stats)}")
        half = format_time(1000 * quantile_us(stats["late"], 0.5))
        row("requests", str(late), f"half of them less than {half}")
        row("over 50 us", str(over), f"{100 * over / late:.2f} %")
        row("mean", _mean(stats["late_ns"], late))
        row("most", format_time(stats["late_max"]))
        for label, count in _histogram(stats["late"]):
            row(label, str(count))
    if sum(stats["measured"].values()):
        title("measured times of the backing device")
        for name, count in stats["measured"].items():
            row(name, _mean(stats["measured_ns"][name], count), f"mean response of {count} requests")
        row("unmodelled", str(stats["unmodelled"]), "requests that the model was too far behind for")
        title("response times of reads and writes: modelled, measured")
        modelled, measured = stats["modelled_times"], stats["measured_times"]
        for bucket in range(max(len(modelled), len(measured))):
            counts = [series[bucket] if bucket < len(series) else 0 for series in (modelled, measured)]
            if any(counts):
                row(f"< {format_time(1000 << bucket)}", str(counts[0]), str(counts[1]))


def mounted_above(name: str) -> list[dict[str, str]]:
    """Devices that lie on the disk, and have written there while a file system had them mounted."""
    said = dm.run("dmsetup", "message", name, "0", "stack").stdout
    return [
        {"device": dm.device_node(number), "file_system": kind}
        for number, kind in (line.split() for line in said.splitlines())
    ]


def as_text(stats: dict[str, Any]) -> str:
    """The table that `david stats` prints."""
    block = stats["block_size"]
    used, total = stats["store_used"], stats["store_blocks"]
    lines: list[str] = []

    def row(label: str, value: str, note: str = "") -> None:
        lines.append(f"  {label:<12} {value:>14}  {note}".rstrip())

    def size_row(label: str, size: int, note: str = "") -> None:
        row(label, format_size(size), note)

    lines.append(f"{stats['name']}: {stats['state']}{FAULTS_MEAN.get(stats['fault'], '')}")
    sectors = stats["target_sectors"]
    size_row("target", sectors * SECTOR, f"{sectors} sectors of {SECTOR} bytes")
    size_row("store", total * block, f"{total} blocks of {block} bytes")
    size_row("store used", used * block, f"{used} blocks, {100 * used / total if total else 0:.1f} %")
    if packs := stats["packs_store"]:
        size_row("packs", packs * block, f"{packs} blocks that hold {stats['blocks']['packed']} packed ones")
    if memory := stats["pool_memory"]:
        saved = stats["pool_saved"]
        size_row("pool saves", saved * block, f"{saved} blocks that several of its disks have, stored once")
        size_row("pool memory", memory, "once for all of its disks")
    row("low water", str(stats["store_low_water"]), "free blocks at which an event is raised")
    row("no space", str(stats["nospc"]), "requests that got ENOSPC")
    row("errors", str(stats["errors"]), "requests failed by the backing device")
    row("range locks", str(stats["range_locks"]), "requests that waited for an overlapping one")
    if retries := stats["log_retries"]:
        row("log retries", str(retries), "writes of the store's log that failed at first")

    mem = stats["mem"]
    lines.append("memory")
    for name, size in mem.items():
        size_row(name, size)
    size_row("total", sum(mem.values()))

    cpu = stats["cpu"]
    lines.append("CPU time")
    for name, ns in cpu.items():
        row(name, format_time(ns))
    row("total", format_time(sum(cpu.values())))

    lines.append("blocks written, by verdict")
    for name, count in stats["written"].items():
        row(name, str(count), format_size(count * block))
    lines.append("blocks written, by evidence")
    for name, count in stats["evidence"].items():
        if count:
            row(name, str(count), EVIDENCE_MEANS.get(name, ""))
    if above := stats.get("mounted_above"):
        lines.append("seen through layers")
        for device in above:
            row(device["file_system"], device["device"])
    lines.append("target now")
    for name, count in stats["blocks"].items():
        row(name, str(count), f"blocks in {stats['ranges'][name]} ranges, {format_size(count * block)}")
    if limit := stats["exact_limit"]:
        row("exact", str(stats["exact_blocks"]), f"of the stored are data, the newest; limit {limit}")
    if stats["checksums"]["blocks"]:
        lines.append("checksums of squashed blocks")
        for name, note in CHECKSUMS_MEAN.items():
            row(name, str(stats["checksums"][name]), note)
    lines.append("requests")
    for name, count in stats["requests"].items():
        row(name, str(count), format_size(stats["sectors"][name] * SECTOR))
    if names := stats["raw_names"]:
        everything = "; no room for all of them: everything is kept" if stats["raw_names_full"] else ""
        row("RAW names", str(names), f"files known by name or directory{everything}")
    if stats["unclassified"]["most"]:
        lines.append("written undecided (classify=implicit)")
        for name, count in stats["unclassified"].items():
            row(name, str(count), UNCLASSIFIED_MEANS[name])
    if stats["mem"]["model"]:
        _times(stats, row, lines.append)
    return "\n".join(lines)
