# SPDX-License-Identifier: GPL-2.0
"""What a device tells about itself: the ioctl of /dev/david, as names and numbers.

Mirrors dm-david/uapi/dm-david.h. The kernel prints the same figures as words "key=value" in `dmsetup status`
and `dmsetup message NAME 0 stats`; words() gives these names.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
from typing import Any

from .sizes import SECTOR, format_size, format_time
from .util import UserError

CONTROL = "/dev/david"
ABI_VERSION = 1
NAME_LEN = 128
SLOTS = 16

STATES = ("ok", "low", "full")

# JSON group -> (field of the struct, prefix of the kernel's words, names by index, "" for one not counted)
GROUPS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "mem": ("mem", "mem_", ("ranges", "bitmap", "pools", "target")),
    "cpu": ("cpu", "cpu_", ("classify", "map", "content", "io")),
    "written": ("verdict", "written_", ("kept", "fill", "squashed")),
    "evidence": (
        "evidence",
        "ev_",
        (
            "mode",
            "flags",
            "bdev",
            "directory",
            "internal",
            "unowned",
            "unproven",
            "unmounted",
            "file",
            "anon",
            "partial",
        ),
    ),
    "ranges": ("ranges", "ranges_", ("", "fill", "squashed", "stored")),
    "blocks": ("blocks", "blocks_", ("", "fill", "squashed", "stored")),
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


class Struct(ctypes.Structure):
    """struct david_stats"""

    _fields_ = [
        ("version", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("name", ctypes.c_char * NAME_LEN),
        ("state", ctypes.c_uint32),
        ("block_size", ctypes.c_uint32),
        *((name, ctypes.c_uint64) for name in SCALARS[1:]),
        *((field, ctypes.c_uint64 * SLOTS) for field, _, _ in GROUPS.values()),
    ]


def _ioc(direction: int, number: int, size: int) -> int:
    """_IOC() of asm-generic/ioctl.h"""
    return direction << 30 | size << 16 | ord("D") << 8 | number


IOC_STATS = _ioc(3, 1, ctypes.sizeof(Struct))


class StatsError(UserError):
    """The device's figures cannot be had; the text says why and what to do."""


def fetch(name: str) -> Struct:
    stats = Struct(version=ABI_VERSION, size=ctypes.sizeof(Struct), name=name.encode())
    try:
        fd = os.open(CONTROL, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise StatsError(f"there is no {CONTROL}; load the module: modprobe dm-david") from None
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
    result: dict[str, Any] = {"name": stats.name.decode(), "state": state}
    result.update({name: getattr(stats, name) for name in SCALARS})
    for group, (field, _, names) in GROUPS.items():
        values = getattr(stats, field)
        result[group] = {name: values[slot] for slot, name in enumerate(names) if name}
    return result


def words(stats: dict[str, Any]) -> dict[str, str]:
    """as_dict() in the kernel's own words, for comparison with status and message."""
    result = {key: str(stats[key]) for key in ("state", *SCALARS)}
    for group, (_, prefix, names) in GROUPS.items():
        result.update({prefix + name: str(stats[group][name]) for name in names if name})
    return result


def parse_words(text: str) -> dict[str, str]:
    """The words key=value in a line of dmsetup."""
    return dict(word.split("=", 1) for word in text.split() if "=" in word)


EVIDENCE_MEANS = {
    "mode": "classify=keep or data decided",
    "flags": "request marked as metadata: kept",
    "bdev": "page of a block device: kept",
    "directory": "page of a directory or symbolic link: kept",
    "internal": "page of a file system's own inode: kept",
    "unowned": "page without an owner: kept",
    "unproven": "owner's file system not known to be safe: kept",
    "unmounted": "not mounted here: kept",
    "file": "page of a regular file mounted here: squashed",
    "anon": "anonymous page, mounted here: squashed",
    "partial": "part of a block whose rest is not data: kept",
}


def as_text(stats: dict[str, Any]) -> str:
    """The table that `david stats` prints."""
    block = stats["block_size"]
    used, total = stats["store_used"], stats["store_blocks"]
    lines: list[str] = []

    def row(label: str, value: str, note: str = "") -> None:
        lines.append(f"  {label:<12} {value:>14}  {note}".rstrip())

    def size_row(label: str, size: int, note: str = "") -> None:
        row(label, format_size(size), note)

    lines.append(f"{stats['name']}: {stats['state']}")
    sectors = stats["target_sectors"]
    size_row("target", sectors * SECTOR, f"{sectors} sectors of {SECTOR} bytes")
    size_row("store", total * block, f"{total} blocks of {block} bytes")
    size_row("store used", used * block, f"{used} blocks, {100 * used / total if total else 0:.1f} %")
    row("low water", str(stats["store_low_water"]), "free blocks at which an event is raised")
    row("no space", str(stats["nospc"]), "requests that got ENOSPC")
    row("errors", str(stats["errors"]), "requests failed by the backing device")
    row("range locks", str(stats["range_locks"]), "requests that waited for an overlapping one")

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
    lines.append("target now")
    for name, count in stats["blocks"].items():
        row(name, str(count), f"blocks in {stats['ranges'][name]} ranges, {format_size(count * block)}")
    lines.append("requests")
    for name, count in stats["requests"].items():
        row(name, str(count), format_size(stats["sectors"][name] * SECTOR))
    return "\n".join(lines)
