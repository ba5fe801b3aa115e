# SPDX-License-Identifier: GPL-2.0
"""What an operation of a run cost: requests, flushes, bytes and the drive's time, divided by the operations.

All is of the measured span, from the disk's own figures (`david stats`). Those of an array are its members'
together. What goes to a journal is known by its place on the disk (places.py), as is how far requests are
from each other. A journal's writes are metadata, too.
"""

from __future__ import annotations

from typing import Any

from ..disk import stats as disk
from ..sizes import SECTOR
from . import places

PARTS = disk.PARTS
# Of the blocks that were written, by what decided about them: the content of files, or all else. What the
# question itself has decided (`mode`: classify=keep or data) is of neither kind.
DATA = ("file", "anon", "implied", "raw", "made_up")
UNKNOWN = ("mode",)

COUNTS = ("requests_per_op", "flushes_per_op", "disk_read_bytes_per_op", "disk_written_bytes_per_op")
TIMES = (*(f"{part}_ns_per_op" for part in PARTS), "queue_wait_ns_per_op")
SHARES = ("metadata_share", "moved_share")
JOURNAL = ("journal_requests_per_op", "journal_bytes_per_op")
JUMPS = ("going_on_share", "jump_bytes")
COLUMNS = (*COUNTS, *TIMES, *SHARES, *JOURNAL, *JUMPS)


def _metadata(stats: dict[str, Any]) -> float | None:
    found = stats.get("evidence", {})
    blocks = {name: count for name, count in found.items() if name not in UNKNOWN}
    whole = sum(blocks.values())
    return 1 - sum(blocks.get(name, 0) for name in DATA) / whole if whole else None


def _moved(stats: dict[str, Any]) -> float | None:
    """Pages of flash that collection moved, of those that the host wrote; None: it wrote none."""
    flash = stats.get("flash", {})
    return flash["moved_pages"] / flash["host_pages"] if flash.get("host_pages") else None


def _of_places(result: dict[str, Any], operations: int) -> list[float | None]:
    """Of JOURNAL and JUMPS. What is incomplete is not known."""
    found = places.whole(result)
    if not found:
        return [None] * 4
    journal = [None if found[name] is None else found[name] / operations
               for name in ("journal_requests", "journal_bytes")]
    pairs = sum(found["jumps"])
    jumps = pairs - found["jumps"][0] if pairs else 0
    return [*journal, 1 - jumps / pairs if pairs else None, found["jumped_bytes"] / jumps if jumps else None]


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
    return dict(zip(COLUMNS, [*per_op, _metadata(stats), _moved(stats),
                              *_of_places(result, operations)], strict=True))
