# SPDX-License-Identifier: GPL-2.0
"""Every figure of `david stats --json` and of `david top --json` is what a second way comes to."""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

from cases import case
from davidlib.disk import top
from helpers import figuretable, raw, secondstats
from helpers.davidtool import david
from helpers.figuretable import Between
from helpers.guest import Failed, loop_disk, run
from helpers.secondstats import Map, Sent
from helpers.timed import SIM, profile, recording, timed_disk
from helpers.units import GIB, MIB

BACKING = 64 * MIB
BLOCK = 4096
ATONCE = 5
ROOM = ("nr_requests=8", "hw_depth=8")
OURS = ("plain", "flash")
# Of a new SSD: what takes some of its writes and reads, and so small that it is soon full
CACHES = (
    *("precondition=fresh", "write_buffer=64KiB", "buffer_reads=yes", "map_cache=256KiB"),
    *("slc_cache=8MiB", "slc_cache_min=4MiB", "slc_idle_after=300us", "slc_fold_rate=400MB/s"),
)
SHINGLED = "seagate-st8000as0002"
# 0 in all runs; other cases have them.
IDLE = {
    "stats": (
        "nospc",
        "errors",
        "range_locks",
        "exact_",
        "pool_",
        "packs_store",
        "log_retries",
        "raw_names",
        "checksums.",
        "unclassified.",
        "evidence.",
        "cpu.",
        "measured",
        "unmodelled",
        "late",
        "delivered_",
        "written.squashed",
        "written.exact",
        "sectors.flush",
        "ranges.squashed",
        "ranges.packed",
        "blocks.squashed",
        "blocks.packed",
        "mounted_above",
        "parts.map",
        "parts.fault",
        "faults.",
        # cases/vzoned.py has disks with zones.
        "zones.",
        "zones_ns.",
        "reach.first",
        "reach.most_first",
        "flash.map_programs",
    ),
    "top": ("parts.map", "parts.fault", "late_ms", "trustworthy"),
}


def work(disk: str, blocks: Map, sent: Sent) -> None:
    """Requests of each kind that a disk knows. BLOCKS and SENT are kept up."""
    with raw.opened(disk) as fd:
        for number in range(60):
            place, nr = number * 7919 % 4000 * 32, 1 + number % 8
            filled = number % 3 == 0
            word = b"DAVID-%02d" % (number % 2)
            content = word * (nr * BLOCK // 8) if filled else raw.patterned(number, nr * BLOCK)
            # Some of it twice: a drive's cache overwrites it before it is on the media.
            for _ in range(1 + (number % 4 == 1)):
                raw.write(fd, content, place * BLOCK)
                sent.note("write", nr * 8)
            blocks.update({place + n: f"fill {word!r}" if filled else "stored" for n in range(nr)})
            if number % 4 == 0:
                raw.read(fd, nr * BLOCK, place * BLOCK)
                sent.note("read", nr * 8)
            if number % 10 == 0:
                os.fsync(fd)
                sent.note("flush", 0)
        # The first of these alone takes all room in the modelled host's queue, for tens of milliseconds.
        with ThreadPoolExecutor(ATONCE) as pool:
            list(pool.map(lambda number: raw.read(fd, 4 * MIB, (600 + number * 20) * MIB), range(ATONCE)))
        for _ in range(ATONCE):
            sent.note("read", 4 * MIB // 512)
        raw.discard(fd, 0, 32 * BLOCK)
        sent.note("discard", 32 * 8)
        for block in range(32):
            blocks.pop(block, None)
        raw.zero_out(fd, 7 * BLOCK, BLOCK)
        sent.note("zeroes", 8)
        blocks[7] = "fill zeroes"


def clocked(clocks: list[int], disk: str, blocks: Map, sent: Sent) -> None:
    """Add when the work began and ended."""
    clocks.append(time.monotonic_ns())
    work(disk, blocks, sent)
    clocks.append(time.monotonic_ns())


def state_bytes(path: str, size: int, more: tuple[str, ...]) -> int:
    """What david-sim says of the drive; test_figures.py holds that to its allocations."""
    options = [word for one in (*ROOM, *more) for word in ("--option", one)]
    words = ("--profile", path, "--size", str(size // 512), *options, "--json")
    said = run(str(SIM), "bench", *words, "--job", "read random size=4096 count=10 span=1M", ok=(0, 2))
    return int(json.loads(said)["jobs"][0]["state_bytes"])


Found = dict[str, tuple[dict[str, Any], dict[str, Any]]]


def found_on(drive: str, size: int, more: tuple[str, ...] = ()) -> Found:
    """What stats and top print, and what the second way comes to. MORE are options of the profile."""
    blocks: Map = {}
    sent = Sent()
    begin, made = time.monotonic_ns(), time.time_ns()
    path = profile(drive) if drive in OURS else drive
    options = [word for one in (*ROOM, *more) for word in ("--profile-option", one)]
    with (
        recording() as recorded,
        loop_disk(BACKING) as dev,
        timed_disk("figures", size, dev, path, *options) as disk,
    ):
        # What top waits for is the work.
        clocks = [time.monotonic_ns()]
        with mock.patch.object(top.time, "sleep", lambda _: clocked(clocks, disk, blocks, sent)):
            [[row]] = list(top.rows(["figures"], 1, 1))
        clocks.append(time.monotonic_ns())
        passed, last = time.monotonic_ns() - begin, time.time_ns()
        doc = json.loads(david("stats", "figures", "--json"))
        counted = sent.counted("figures")
    said = recorded[0].replay(path, size, *(word for one in (*ROOM, *more) for word in ("--option", one)))
    requests = secondstats.requests_of(recorded[0])
    flushes = sum(one.kind == "flush" for one in requests)
    second = secondstats.times(requests, said)
    second |= secondstats.verdicts(recorded[0]) | secondstats.content(blocks)
    second |= secondstats.nothing() | secondstats.processor(passed) | counted
    second |= secondstats.memory(BACKING // BLOCK, state_bytes(path, size, more))
    second |= secondstats.reach(recorded[0], size // 512)
    second |= {
        "name": "figures",
        "state": "ok",
        "fault": "none",
        "mode": "timing-accurate",
        "block_size": BLOCK,
        "target_sectors": size // 512,
        "created": Between(made // 1000, last // 1000),
        "exact_limit": 0,
        # The block layer counts a flush among the writes.
        "requests.flush": flushes,
        "requests.write": counted["requests.write"] - flushes,
        "sectors.flush": 0,
        "store_blocks": Between(BACKING // BLOCK * 0.6, BACKING // BLOCK),
        "store_used": second["blocks.stored"],
        "store_low_water": doc["store_blocks"] // 16,
    }
    row = json.loads(json.dumps(row))
    return {"stats": (doc, second), "top": (row, secondstats.of_top(row, doc, second, clocks))}


@case
def figures_are_derived_a_second_way_and_wrong_ones_are_found() -> None:
    runs = [found_on("plain", 64 * GIB), found_on("flash", GIB), found_on("flash", GIB, CACHES),
            found_on(SHINGLED, 1024 * GIB)]
    for program in ("stats", "top"):
        table = figuretable.rows(program)
        for found in runs:
            wrong = figuretable.complaints(table, *found[program])
            if wrong:
                raise Failed(f"{program}: {wrong}")
            missed = figuretable.missed(table, *found[program])
            if missed:
                raise Failed(f"{program}, not found: {missed}")
        documents = [found[program][0] for found in runs]
        if unprinted := figuretable.unprinted(table, documents):
            raise Failed(f"{program} does not print {unprinted}")
        idle = [row for row in figuretable.idle(table, documents) if not row.startswith(IDLE[program])]
        if idle:
            raise Failed(f"{program}: 0 in all runs: {idle}")
