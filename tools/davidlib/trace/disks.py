# SPDX-License-Identifier: GPL-2.0
"""What the kernel counts of each disk (/proc/diskstats): how much a program, or its replay, asked of it."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

# In the kernel's order (Documentation/admin-guide/iostats.rst); sectors are of 512 bytes.
FIELDS = (
    "reads", "read_merges", "read_sectors", "read_ms", "writes", "write_merges", "write_sectors", "write_ms",
    "in_flight", "busy_ms", "weighted_ms",
)  # fmt: skip
STATE = FIELDS.index("in_flight")  # as it is now: no count

Counts = dict[str, list[int]]  # by the disk's name


def counts() -> Counts:
    found = {}
    for line in Path("/proc/diskstats").read_text().splitlines():
        _, _, name, *numbers = line.split()
        found[name] = [int(number) for number in numbers[: len(FIELDS)]]
    return found


def between(before: Counts, after: Counts) -> Counts:
    """Of the disks that were asked for something meanwhile."""
    zero = [0] * len(FIELDS)
    found = {
        name: [now - was for now, was in zip(numbers, before.get(name, zero), strict=True)]
        for name, numbers in after.items()
    }
    for numbers in found.values():
        numbers[STATE] = 0
    return {name: numbers for name, numbers in found.items() if any(numbers)}


def name_of(source: str) -> str | None:
    """The kernel's name of the disk that is mounted from there; None: it is no disk."""
    try:
        device = os.stat(source).st_rdev
        return Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve(strict=True).name
    except OSError:
        return None


def store(database: Path, found: Counts) -> None:
    columns = ", ".join(f"{field} INTEGER" for field in FIELDS)
    connection = sqlite3.connect(database)
    with connection:
        connection.execute(f"CREATE TABLE IF NOT EXISTS disk (name TEXT PRIMARY KEY, {columns}) STRICT")
        marks = ", ".join("?" * (1 + len(FIELDS)))
        connection.executemany(f"INSERT INTO disk VALUES ({marks})", [(n, *f) for n, f in found.items()])
    connection.close()


def load(connection: sqlite3.Connection) -> dict[str, dict[str, int]]:
    """As store() has put it there; nothing, of a trace that has it not."""
    try:
        rows = connection.execute(f"SELECT name, {', '.join(FIELDS)} FROM disk").fetchall()
    except sqlite3.Error:
        return {}
    return {row[0]: dict(zip(FIELDS, row[1:], strict=True)) for row in rows}
