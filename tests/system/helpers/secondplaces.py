# SPDX-License-Identifier: GPL-2.0
"""A second way to where requests of a run went: all of them are kept, and counted one by one.

In a lab, told() has each request of the measured span by a buffer of its own. complaints() holds what
davidlib/bench/places.py has counted to a list of requests, wherever that comes from.
"""

from __future__ import annotations

import math
import re
import struct
from collections import Counter
from collections.abc import Callable
from typing import Any

from davidlib.bench import places, testbed
from davidlib.disk.record import TRACING

Request = dict[str, Any]  # dev, arrival, op, sector, sectors
MOST_CELLS, MOST_COLUMNS = 1500, 60


def told(run: Callable[[], Any]) -> tuple[Any, list[Request], int]:
    """What RUN returns, the requests that came while it was measured, and when that began."""
    begun: list[int] = []
    known = places.Counts.__init__

    def note(self: places.Counts, sectors: int, journal: Any, start_ns: int, first: str) -> None:
        begun.append(start_ns)
        known(self, sectors, journal, start_ns, first)

    if not (TRACING / "instances").is_dir():
        testbed.call("mount", "-t", "tracefs", "tracefs", str(TRACING))
    mine = TRACING / "instances/second"
    mine.mkdir()
    try:
        (mine / "buffer_size_kb").write_text("32768")
        (mine / "events/david/david_queue/enable").write_text("1")
        places.Counts.__init__ = note  # type: ignore[method-assign]
        result = run()
        text = (mine / "trace").read_text()
    finally:
        places.Counts.__init__ = known  # type: ignore[method-assign]
        mine.rmdir()
    requests = []
    for line in text.splitlines():
        if ": david_queue: " in line:
            words = dict(word.split("=") for word in line.partition(": david_queue: ")[2].split())
            if words["op"] in "01" and int(words["arrival"]) >= begun[0]:
                requests.append(words | {key: int(words[key]) for key in ("arrival", "sector", "sectors")})
    # What writes home at the end is no part of what is measured.
    return result, requests[: result["places"]["requests"]], begun[0]


def journal_of(system: str, disk: str) -> list[list[int]]:
    """Sectors, by other words than the bench's: debugfs's extents; xfs's superblock, byte for byte."""
    if system == "ext4":
        text = testbed.call("debugfs", "-R", "dump_extents -l <8>", disk)
        return [[8 * int(first), 8 * int(last) + 8] for first, last in re.findall(
            r"^ *\d+/ *\d+ +\d+/ *\d+ +\d+ - +\d+ +(\d+) - +(\d+)", text, re.MULTILINE)]
    if system != "xfs":
        return []
    with open(disk, "rb") as file:
        block = file.read(512)
    (size,), (start,), (per_group,), (count,) = (
        struct.unpack_from(form, block, at) for form, at in ((">I", 4), (">Q", 48), (">I", 84), (">I", 96)))
    begin = (start >> block[124]) * per_group + (start & ((1 << block[124]) - 1))
    return [[begin * size // 512, (begin + count) * size // 512]]


def complaints(found: dict[str, Any], requests: list[Request], start: int, first: str,
               journal: list[list[int]] | None) -> list[str]:
    """What of FOUND is not so; FIRST is the device whose places are told."""
    step, place = found["step_ns"], found["place_bytes"] // 512
    cells: Counter[tuple[int, int, int]] = Counter()
    lengths: list[int] = []
    ends: dict[str, int] = {}
    logged: list[int] = []
    for one in requests:
        kind = int(one["op"])
        if kind and any(low <= one["sector"] < high for low, high in journal or ()):
            kind = 2
            logged.append(one["sectors"])
        if one["dev"] == first:
            cells[kind, (one["arrival"] - start) // step, one["sector"] // place] += 1
        if one["dev"] in ends:
            lengths.append(abs(one["sector"] - ends[one["dev"]]))
        ends[one["dev"]] = one["sector"] + one["sectors"]
    heights: Counter[int] = Counter(math.floor(math.log2(one)) + 1 if one else 0 for one in lengths)
    right = {
        "requests": len(requests),
        "lost": 0,
        "cells": sorted([*cell, count] for cell, count in cells.items()),
        "jumps": [heights[bits] for bits in range(max(heights, default=-1) + 1)],
        "jumped_bytes": 512 * sum(lengths),
        "journal_requests": None if journal is None else len(logged),
        "journal_bytes": None if journal is None else 512 * sum(logged),
    }
    wrong = [f"{name}: {found[name]}, and it is {value}" for name, value in right.items()
             if found[name] != value]
    if len(found["cells"]) > MOST_CELLS or any(cell[1] >= MOST_COLUMNS for cell in found["cells"]):
        wrong.append("more cells than are kept")
    return wrong
