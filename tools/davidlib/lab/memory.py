# SPDX-License-Identifier: GPL-2.0
"""Memory that a lab wants, and what there is."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from ..util import UserError


def parse_memory(text: str, option: str = "--memory") -> int:
    """Megabytes of "512M" or "2G"."""
    factor = {"M": 1, "G": 1024}.get(text[-1:].upper())
    if factor is None or not text[:-1].isdecimal() or not int(text[:-1]):
        raise UserError(f"{option} {text}: want a number with M or G behind it, such as 512M or 2G")
    return int(text[:-1]) * factor


def machines_megabytes() -> int:
    """Of this machine, or of the control group that this process may not leave."""
    text = Path("/proc/meminfo").read_text()
    found = re.search(r"^MemTotal: +(\d+) kB", text, re.M)
    limits = [int(found[1]) >> 10] if found else []
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            limits.append(int((Path("/sys/fs/cgroup") / name).read_text()) >> 20)
    return min(limits)
