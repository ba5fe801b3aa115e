# SPDX-License-Identifier: GPL-2.0
"""What a block device is made of: loop devices, partitions and linear mappings, down to a fake disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..sizes import SECTOR
from . import dm
from .dm import DeviceError

DEPTH = 16  # devices upon devices


@dataclass(frozen=True)
class Place:
    """Where a device's first sector lies: in the device of that number."""

    number: str
    sector: int


def _sysfs(number: str) -> Path:
    return Path("/sys/dev/block") / number


def sysfs_text(path: Path) -> str:
    """What a file of sysfs says, or "" if there is none."""
    try:
        return path.read_text().rstrip("\n")
    except OSError:
        return ""


def below_loop(number: str, place: Path) -> Place:
    """What the loop device with that directory in sysfs lies on. DeviceError: on no block device."""
    path = sysfs_text(place / "loop/backing_file")
    if not path:
        raise DeviceError(f"loop device {number}: the kernel does not tell what it is on")
    behind = dm.number(path)
    if not behind:
        raise DeviceError(f"loop device {number} is on {path}, an image: if that is on the disk, name it")
    return Place(behind, int(sysfs_text(place / "loop/offset") or 0) // SECTOR)


def _below_mapping(number: str, place: Path) -> Place | None:
    lines = dm.dmsetup("table", "-j", number.partition(":")[0], "-m", number.partition(":")[2]).splitlines()
    fields = lines[0].split() if lines else []
    if len(fields) < 5 or fields[2] != "linear":
        return None
    if len(lines) > 1:
        name = sysfs_text(place / "dm/name")
        raise DeviceError(f"{name}: mapped in {len(lines)} pieces, but a rule knows one beginning")
    behind = fields[3] if ":" in fields[3] else dm.number(fields[3])
    return Place(behind, int(fields[4]))


def _whole(place: Path) -> str:
    """The number of the device that a partition is of; "" if it is none."""
    return sysfs_text(place.resolve().parent / "dev") if (place / "partition").exists() else ""


def layers_below(number: str) -> list[str]:
    """The numbers of all devices that a partition, mapping or array lies on directly."""
    place = _sysfs(number)
    whole = _whole(place)
    return [whole] if whole else [sysfs_text(slave / "dev") for slave in (place / "slaves").glob("*")]


def below(number: str) -> Place | None:
    """What a device lies on; None if it is no loop device, partition or linear mapping."""
    place = _sysfs(number)
    if whole := _whole(place):
        return Place(whole, int(sysfs_text(place / "start")))
    if (place / "loop").exists():
        return below_loop(number, place)
    if (place / "dm").exists():
        return _below_mapping(number, place)
    return None


def place_on(number: str, disk: str) -> Place | None:
    """Where the device lies on the disk of that number; None: not on it, as far as can be told."""
    at = Place(number, 0)
    for _ in range(DEPTH):
        if at.number == disk:
            return at
        behind = below(at.number)
        if not behind:
            return None
        at = Place(behind.number, at.sector + behind.sector)
    return None
