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


def _unescape(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def mounts() -> list[Mount]:
    found = []
    with open("/proc/self/mountinfo") as file:
        for line in file:
            fields = line.split()
            dash = fields.index("-")
            point, source = _unescape(fields[4]), _unescape(fields[dash + 2])
            found.append(Mount(point, fields[dash + 1], source, fields[2]))
    return found
