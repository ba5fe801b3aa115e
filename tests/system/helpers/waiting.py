# SPDX-License-Identifier: GPL-2.0
"""What waits unclassified until its inode has told."""

from __future__ import annotations

import time

from helpers.guest import device_stats
from helpers.units import GIB


def settle(name: str, seconds: float = 4) -> None:
    """Until inodes have told what they can."""
    end, before = time.time() + seconds, -1
    while time.time() < end:
        now = int(device_stats(name)["unclassified"]["data"])  # type: ignore[index]
        if now == before and now:
            return
        before = now
        time.sleep(1)


SIZE = 16 * GIB


def counts(group: str) -> dict[str, int]:
    return device_stats("waits")[group]  # type: ignore[return-value]
