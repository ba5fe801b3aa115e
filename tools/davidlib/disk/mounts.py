# SPDX-License-Identifier: GPL-2.0
"""What is mounted, as /proc/self/mountinfo says."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Mount:
    point: str
    kind: str
    source: str
    number: str  # major:minor; btrfs shows an anonymous one, and its source tells
    options: str  # as for `mount -o`


def _unescape(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _options(own: str, of_file_system: str) -> str:
    """Read-only is what either is."""
    words = dict.fromkeys(f"{own},{of_file_system}".split(","))
    return ",".join(word for word in words if word != "rw" or "ro" not in words)


def mounts() -> list[Mount]:
    found = []
    with open("/proc/self/mountinfo") as file:
        for line in file:
            fields = line.split()
            dash = fields.index("-")
            point, source = _unescape(fields[4]), _unescape(fields[dash + 2])
            options = _options(fields[5], fields[dash + 3])
            found.append(Mount(point, fields[dash + 1], source, fields[2], options))
    return found


def above(path: str) -> Mount | None:
    """Where a real path lies: the last mount with the longest point above it."""
    best = None
    for mount in mounts():
        point = mount.point.rstrip("/")
        if (path == point or path.startswith(point + "/")) and (
            not best or len(point) >= len(best.point.rstrip("/"))
        ):
            best = mount
    return best
