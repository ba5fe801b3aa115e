# SPDX-License-Identifier: GPL-2.0
"""The zones of a fake disk, and the device of null_blk that device-mapper takes them from.

That device has the zones that the disk's profile says, and stores nothing. It is made by configfs, in a
directory of null_blk that is called `david-` and the disk's name, and goes with the disk. docs/ZONES.md tells
why there is one.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..drive import profileword
from ..sizes import SECTOR, format_both, format_size
from . import dm
from .dm import DeviceError

MIB = 1 << 20
CONFIGFS = Path("/sys/kernel/config")
NULLB = CONFIGFS / "nullb"
OURS = "david-"
NAME_LEN = 31  # of a block device
DEFAULT_BLOCK = 4096  # the module's block_size
# Linux's include/uapi/linux/blkzoned.h
BLKREPORTZONE = 0xC0101282
HEAD, ZONE = struct.Struct("=QII"), struct.Struct("=QQQBBBB4xQ24x")
SOME = 4096  # zones of one report
MAX_SECTORS = 65535
CONVENTIONAL = 1
CONDITIONS = {0: "conventional", 1: "empty", 2: "implicitly_open", 3: "explicitly_open", 4: "closed",
              0xD: "read_only", 0xE: "full", 0xF: "offline"}


@dataclass(frozen=True)
class Shape:
    """What a drive of a profile has, in bytes or a number of zones."""

    disk: int
    size: int
    capacity: int
    conventional: int
    max_open: int  # 0: no limit; likewise
    max_active: int
    append: int  # the largest; 0: none is said
    block: int  # a logical one


def block_of(shape: Shape) -> int:
    """The module's block_size: no write to a zone may end within a block."""
    return min(DEFAULT_BLOCK, shape.block)


def of_profile(profile: profileword.Word | None, size: int) -> Shape | None:
    """None: a drive without zones, or with a size of zones that is none, as the kernel will say."""
    if not profile or not profile.has_zones:
        return None
    zone = profile.bytes_of("zone_size")
    _check_size(profile.name(), zone, size)
    capacity = profile.bytes_of("zone_capacity") or zone
    for word, value in (("zone_size", zone), ("zone_capacity", capacity)):
        if value % MIB:
            raise DeviceError(f"--profile {profile.name()}: {word} is {format_both(value)}; a fake disk's is "
                              "a multiple of 1 MiB")
    if zone & (zone - 1):
        raise DeviceError(f"--profile {profile.name()}: zone_size is {format_both(zone)}; Linux wants a "
                          "power of two")
    whole = profile.capacity() or size
    conventional = profile.number("conventional_zones")
    # As model/profile/profile-scale.c does it. If it were not so, the kernel would refuse the table.
    if conventional and size != whole:
        conventional = max(conventional * size // whole, 1)
    return Shape(size, zone, capacity, conventional, profile.number("max_open_zones"),
                 profile.number("max_active_zones"), profile.bytes_of("zone_append_limit"),
                 profile.bytes_of("logical_block", "B") or SECTOR)


def _check_size(name: str, zone: int, size: int) -> None:
    if size % zone or size < 2 * zone:
        below = max(size // zone, 2) * zone
        near = f"{below}" if size < below else f"{below} or {below + zone}"
        raise DeviceError(f"--size {size}: {name} has zones of {format_size(zone)}, and a disk has two or "
                          f"more whole ones; the nearest: {near}")


def _directory(disk: str) -> Path:
    """Its name is the device's. A long one is told apart by its end."""
    name = OURS + disk
    if len(name) > NAME_LEN:
        name = f"{name[:NAME_LEN - 9]}-{hashlib.sha256(disk.encode()).hexdigest()[:8]}"
    return NULLB / name


def _need_null_blk(drive: str) -> None:
    why = f"--profile {drive}: its zones need"
    if not os.path.isdir("/sys/module/null_blk"):
        dm.run("modprobe", "configfs")
        done = dm.run("modprobe", "null_blk", "nr_devices=0")
        if not os.path.isdir("/sys/module/null_blk"):
            said = (done.stderr.strip() or "modprobe says nothing").splitlines()[-1]
            raise DeviceError(f"{why} the kernel's module null_blk, which cannot be loaded ({said}); boot a "
                              "kernel with CONFIG_BLK_DEV_NULL_BLK, such as Debian's")
    if not CONFIGFS.is_dir():
        raise DeviceError(f"{why} configfs; boot a kernel with CONFIG_CONFIGFS_FS, such as Debian's")
    if not os.path.ismount(CONFIGFS):
        done = dm.run("mount", "-t", "configfs", "configfs", str(CONFIGFS))
        if done.returncode:
            raise DeviceError(f"{why} configfs, which cannot be mounted: {done.stderr.strip()}")
    if not NULLB.is_dir():
        raise DeviceError(f"{why} null_blk's directory {NULLB}, and there is none; boot a kernel with "
                          "CONFIG_BLK_DEV_NULL_BLK and CONFIG_CONFIGFS_FS")


def _set(path: Path, values: dict[str, int], drive: str) -> None:
    for key, value in values.items():
        try:
            (path / key).write_text(str(value))
        except OSError as error:
            # Of a file that is not there configfs says that nobody may make it.
            if not (path / key).exists():
                raise DeviceError(f"--profile {drive}: this kernel's null_blk has no {key}; zones need Linux "
                                  "6.12 or later") from None
            what = "makes no device with such zones" if key == "power" else f"refuses {key}={value}"
            hint = "; it needs CONFIG_BLK_DEV_ZONED" if key in ("zoned", "power") else ""
            raise DeviceError(f"--profile {drive}: null_blk {what}: {error.strerror}{hint}; dmesg has more"
                              ) from None


def _device_in(path: Path) -> str:
    """The block device of a directory of null_blk; "" if it has none."""
    try:
        index = (path / "index").read_text().strip()
    except OSError:
        return ""
    names = (path.name, f"nullb{index}")
    return next((name for name in names if Path("/sys/block", name).exists()), "")


def _drop_left(path: Path, disk: str) -> None:
    """What a command that was killed has left."""
    device = _device_in(path)
    if device and (who := dm.users(Path("/sys/block", device, "dev").read_text().strip())):
        raise DeviceError(f"NAME {disk}: the zoned device /dev/{device} of that name is there, and in use "
                          f"({', '.join(who)}); choose another name")
    path.rmdir()


@contextmanager
def made(disk: str, shape: Shape, drive: str) -> Iterator[str]:
    """The zoned device for a disk, by its numbers. It stays, unless what is done with it fails."""
    _need_null_blk(drive)
    path = _directory(disk)
    if path.exists():
        _drop_left(path, disk)
    try:
        path.mkdir()
    except OSError as error:
        raise DeviceError(f"--profile {drive}: null_blk takes no device: {path}: {error.strerror}") from None
    try:
        append = {"zone_append_max_sectors": shape.append // SECTOR} if shape.append else {}
        _set(path, {
            **append,
            "size": shape.disk // MIB,
            "blocksize": shape.block,
            # Of null_blk's own 127 KiB no request shall be cut.
            "max_sectors": MAX_SECTORS,
            "zoned": 1,
            "memory_backed": 0,
            "zone_size": shape.size // MIB,
            "zone_capacity": shape.capacity // MIB,
            "zone_nr_conv": shape.conventional,
            "zone_max_open": shape.max_open,
            "zone_max_active": shape.max_active,
            "power": 1,
        }, drive)
        yield Path("/sys/block", _device_in(path), "dev").read_text().strip()
    except BaseException:
        path.rmdir()
        raise


def word_of(words: list[str]) -> str:
    """The numbers of a disk's zoned device, of the words of its table; "" if it has no zones."""
    return next((word.partition("=")[2] for word in words if word.startswith("zones=")), "")


def drop(number: str) -> None:
    """The disk of this zoned device is gone, and so the device goes, if `david create` made it."""
    link = Path("/sys/dev/block", number)
    device = link.resolve().name if number and link.exists() else ""
    if not device or not NULLB.is_dir():
        return
    for path in NULLB.glob(f"{OURS}*"):
        if _device_in(path) == device:
            path.rmdir()


def _report(node: str) -> Iterator[tuple[int, ...]]:
    """All zones of a disk: start, length, pointer, type, condition and capacity."""
    buffer, at = bytearray(HEAD.size + SOME * ZONE.size), 0
    with open(node, "rb") as file:
        while True:
            HEAD.pack_into(buffer, 0, at, SOME, 0)
            fcntl.ioctl(file, BLKREPORTZONE, buffer)
            count = HEAD.unpack_from(buffer)[1]
            if not count:
                return
            for number in range(count):
                start, length, pointer, kind, condition, _, _, capacity = ZONE.unpack_from(
                    buffer, HEAD.size + number * ZONE.size)
                yield start, length, pointer, kind, condition, capacity
                at = start + length


def _limit(name: str, key: str) -> int:
    return int(Path("/sys/dev/block", dm.minor(name), "queue", key).read_text())


def count(name: str) -> int:
    """Of a disk that has zones."""
    return _limit(name, "nr_zones")


def describe(name: str) -> dict[str, Any]:
    """The zones of a disk that has some, and what they are in just now."""
    conditions: Counter[str] = Counter()
    size = capacity = written = 0
    for start, length, pointer, kind, condition, room in _report(f"/dev/mapper/{name}"):
        size = length * SECTOR
        conditions[CONDITIONS.get(condition, "unknown")] += 1
        if kind == CONVENTIONAL:
            continue
        capacity = room * SECTOR
        written += (room if condition == 0xE else max(0, min(pointer - start, room))) * SECTOR
    return {
        "count": conditions.total(),
        "size": size,
        "capacity": capacity,
        "conventional": conditions.pop("conventional", 0),
        "max_open": _limit(name, "max_open_zones"),
        "max_active": _limit(name, "max_active_zones"),
        "append": _limit(name, "zone_append_max_bytes"),
        "written": written,
        "conditions": dict(sorted(conditions.items())),
    }


def as_text(found: dict[str, Any]) -> str:
    """What describe() found, in a line."""
    words = [f"{found['count']} of {format_size(found['size'])}"]
    if found["capacity"] != found["size"]:
        words.append(f"of which {format_size(found['capacity'])} can be written")
    words.append(f"{found['conventional']} conventional")
    words += [f"at most {found[f'max_{what}']} {what}" for what in ("open", "active") if found[f"max_{what}"]]
    words += [f"{count} {condition.replace('_', ' ')}" for condition, count in found["conditions"].items()]
    return ", ".join([*words, f"{format_size(found['written'])} written in order"])
