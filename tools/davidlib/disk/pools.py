# SPDX-License-Identifier: GPL-2.0
"""Where a pool is: its device, by the name in its directory (dm-david/lib/poolfmt.h)."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from . import dm
from .layers import below
from .dm import DeviceError

MAGIC = b"dm-david pool\n\0\0"
NAME_AT, NAME_LEN = 64, 64


def pool_name(path: str) -> str:
    """Of the pool on a device, from either copy of its directory; "" if there is none."""
    try:
        with open(path, "rb") as file:
            for copy in (0, 3 * 4096):
                file.seek(copy)
                head = file.read(NAME_AT + NAME_LEN)
                if head.startswith(MAGIC):
                    return head[NAME_AT:].split(b"\0", 1)[0].decode(errors="replace")
    except OSError:
        pass
    return ""


def _majors(driver: str) -> set[str]:
    """The major numbers of a driver of block devices (/proc/devices); it may have none."""
    told = Path("/proc/devices").read_text().partition("Block devices:")[2]
    return {number for number, name in map(str.split, told.strip().splitlines()) if name == driver}


def candidates() -> list[str]:
    """Block devices to look at: not empty drives, nor fake disks, where a read takes modelled time, nor
    null_blk's, where a read gives what its buffer had before: a pool that is elsewhere, or was."""
    found = []
    null = _majors("nullb")
    for entry in sorted(Path("/sys/class/block").iterdir()):
        try:
            if not int((entry / "size").read_text()):
                continue
            uuid = entry / "dm" / "uuid"
            if uuid.exists() and uuid.read_text().startswith(dm.UUID):
                continue
            number = (entry / "dev").read_text().strip()
            if number.partition(":")[0] in null:
                continue
        except (OSError, ValueError):  # gone meanwhile
            continue
        found.append(dm.device_node(number))
    return found


def _uppermost(paths: list[str]) -> list[str]:
    """Without those that others among them lie on, as loop devices do: these show the same bytes."""
    covered = set()
    for path in paths:
        with suppress(DeviceError):  # on a file
            if place := below(dm.number(path)):
                covered.add(place.number)
    return [path for path in paths if dm.number(path) not in covered]


def find(pool: str) -> str:
    """The device of a pool that is named by its name, or by its device."""
    if "/" in pool:
        try:
            mode = os.stat(pool).st_mode
        except OSError as error:
            raise DeviceError(f"--pool {pool}: {error.strerror}; name a pool, or its device") from None
        if not stat.S_ISBLK(mode) or not pool_name(pool):
            raise DeviceError(f"--pool {pool}: there is no pool on it; david pool create makes one")
        return pool
    found = _uppermost([path for path in candidates() if pool_name(path) == pool])
    if len(found) > 1:
        raise DeviceError(f"--pool {pool}: {', '.join(found)} are called so; name the device")
    if not found:
        raise DeviceError(f"--pool {pool}: no device has a pool of that name; david pool create makes one")
    return found[0]
