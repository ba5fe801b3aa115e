# SPDX-License-Identifier: GPL-2.0
"""Zoned disks: a null_blk device with zones, a fake disk that has them, commands to zones, and reports."""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from helpers.guest import Failed, mapped, run
from helpers.units import MIB

CONFIGFS = Path("/sys/kernel/config")
NULLB = CONFIGFS / "nullb"

# Linux's include/uapi/linux/blkzoned.h
BLKREPORTZONE = 0xC0101282
RANGE = {"reset": 0x40101283, "open": 0x40101286, "close": 0x40101287, "finish": 0x40101288}
HEAD, ZONE = struct.Struct("=QII"), struct.Struct("=QQQBBBB4xQ24x")
CONVENTIONAL = 1
EMPTY, IMP_OPEN, EXP_OPEN, CLOSED, READONLY, FULL = 1, 2, 3, 4, 0xD, 0xE


@dataclass(frozen=True)
class Zone:
    start: int
    len: int
    wp: int
    type: int
    cond: int
    capacity: int


@dataclass(frozen=True)
class Shape:
    """What a drive has; MB, or a number of zones."""

    zones: int
    size: int = 8
    capacity: int = 0
    conventional: int = 0
    max_open: int = 0
    max_active: int = 0
    block: int = 4096
    append: int = 0  # sectors of the largest; 0: what null_blk takes

    @property
    def bytes(self) -> int:
        return self.zones * self.size * MIB


@contextmanager
def null_zoned(name: str, shape: Shape, stores: bool = False) -> Iterator[str]:
    """A null_blk device, that stores nothing, or all."""
    if not NULLB.exists():
        run("modprobe", "null_blk", "nr_devices=0", ok=(0, 1))
        if not os.path.ismount(CONFIGFS):
            run("mount", "-t", "configfs", "none", str(CONFIGFS))
    path = NULLB / name
    path.mkdir()
    try:
        if shape.append:
            (path / "zone_append_max_sectors").write_text(str(shape.append))
        for key, value in (
            ("size", shape.zones * shape.size),
            ("blocksize", shape.block),
            ("zoned", 1),
            ("memory_backed", int(stores)),
            ("zone_size", shape.size),
            ("zone_capacity", shape.capacity or shape.size),
            ("zone_nr_conv", shape.conventional),
            ("zone_max_open", shape.max_open),
            ("zone_max_active", shape.max_active),
            ("power", 1),
        ):
            (path / key).write_text(str(value))
        # Before 6.13 or so its name is a number.
        device = Path("/dev") / name
        yield str(device if device.exists() else Path(f"/dev/nullb{(path / 'index').read_text().strip()}"))
    finally:
        path.rmdir()


@contextmanager
def zoned_disk(name: str, shape: Shape, backing: str, *words: str) -> Iterator[str]:
    """A fake disk with such zones, by its table line."""
    with ExitStack() as stack:
        zones = stack.enter_context(null_zoned(f"{name}-zones", shape))
        yield stack.enter_context(mapped(name, line(shape, backing, zones, *words)))


def line(shape: Shape, backing: str, zones: str, *words: str) -> str:
    words = (f"zones={zones}", f"block_size={shape.block}", *words)
    return f"0 {shape.bytes >> 9} david {backing} {len(words)} {' '.join(words)}"


def manage(fd: int, what: str, sector: int, sectors: int) -> None:
    fcntl.ioctl(fd, RANGE[what], struct.pack("=QQ", sector, sectors))


def raw_report(fd: int, zones: int) -> bytes:
    """The report of the first zones, as the kernel gives it."""
    buffer = bytearray(HEAD.size + zones * ZONE.size)
    HEAD.pack_into(buffer, 0, 0, zones, 0)
    fcntl.ioctl(fd, BLKREPORTZONE, buffer)
    if HEAD.unpack_from(buffer)[1] != zones:
        raise Failed(f"{HEAD.unpack_from(buffer)[1]} zones are reported of {zones}")
    return bytes(buffer[HEAD.size:])


def zones_of(report: bytes) -> list[Zone]:
    zones = []
    for at in range(0, len(report), ZONE.size):
        start, length, wp, kind, cond, _, _, capacity = ZONE.unpack_from(report, at)
        zones.append(Zone(start, length, wp, kind, cond, capacity))
    return zones


def after_power_on(zone: Zone) -> tuple[int, int, int]:
    """Start, condition and write pointer of what was open or closed; a full zone's pointer says nothing."""
    if zone.type == CONVENTIONAL or zone.cond in (EMPTY, READONLY):
        return zone.start, zone.cond, zone.wp
    if zone.cond == FULL:
        return zone.start, FULL, zone.start
    return zone.start, CLOSED if zone.wp > zone.start else EMPTY, zone.wp
