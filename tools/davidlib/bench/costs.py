# SPDX-License-Identifier: GPL-2.0
"""What an operation of a run cost: requests, flushes, bytes and the drive's time, divided by the operations.

All is of the measured span, from the disk's own figures (`david stats`). Those of an array are its members'
together. What a file system's journal wrote is metadata here: nothing that a disk counts tells the two apart.
"""

from __future__ import annotations

from typing import Any

from ..disk import stats as disk
from ..sizes import SECTOR

PARTS = disk.PARTS
# Of the blocks that were written, by what decided about them: the content of files, or all else. What the
# question itself has decided (`mode`: classify=keep or data) is of neither kind.
DATA = ("file", "anon", "implied", "raw", "made_up")
UNKNOWN = ("mode",)

COUNTS = ("requests_per_op", "flushes_per_op", "disk_read_bytes_per_op", "disk_written_bytes_per_op")
TIMES = (*(f"{part}_ns_per_op" for part in PARTS), "queue_wait_ns_per_op")
SHARES = ("metadata_share", "moved_share")
COLUMNS = (*COUNTS, *TIMES, *SHARES)


def _metadata(stats: dict[str, Any]) -> float | None:
    found = stats.get("evidence", {})
    blocks = {name: count for name, count in found.items() if name not in UNKNOWN}
    whole = sum(blocks.values())
    return 1 - sum(blocks.get(name, 0) for name in DATA) / whole if whole else None


def _moved(stats: dict[str, Any]) -> float | None:
    """Pages of flash that collection moved, of those that the host wrote; None: it wrote none."""
    flash = stats.get("flash", {})
    return flash["moved_pages"] / flash["host_pages"] if flash.get("host_pages") else None


def of(result: dict[str, Any]) -> dict[str, float | None]:
    """By the names of COLUMNS; None is not known, or there is nothing that it could be of."""
    stats, operations = result["stats"], result["operations"]
    if not operations or "requests" not in stats:
        return dict.fromkeys(COLUMNS)
    requests, sectors = stats["requests"], stats["sectors"]
    sums = [requests["read"] + requests["write"], requests["flush"],
            *(sectors[kind] * SECTOR for kind in ("read", "write")),
            *(stats["parts"].get(part, 0) for part in PARTS), stats["queue_wait_ns"]]
    per_op = [value / operations for value in sums]
    return dict(zip(COLUMNS, [*per_op, _metadata(stats), _moved(stats)], strict=True))
