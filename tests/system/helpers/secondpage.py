# SPDX-License-Identifier: GPL-2.0
"""A second way to a page's runs.csv: from what was asked for, and from what the disk counted.

results.json has the same rows.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
from pathlib import Path
from typing import Any

from davidlib.bench import labrun, runs, spec
from davidlib.bench.results import Results

from . import secondsim
from .figuretable import Between, Near

OPERATIONS, SIZE = 400, 4096
CAPACITY = 960_197_124_096  # of the drive, by its data sheet: 1,875,385,008 sectors
# A buffer of 32 MiB takes all writes, and a drive that was written in order has erased blocks left.
DOUBTS = (
    "cached_writes: 1.638 MB were written, into a cache of 33.55 MB (more operations, or steady = true); "
    "erased_flash: flash blocks that were erased took 100 % of the writes, and nothing had to be collected "
    'for them (profile-option = ["precondition=random"], and more operations, or steady = true)'
)
SPEC = f"""
seeds = [3]
[disk]
profile = "samsung-pm883"
profile-option = ["precondition=sequential"]
[[filesystem]]
type = "none"
[[workload]]
kind = "random-read"
operations = {OPERATIONS}
[[workload]]
kind = "random-write"
operations = {OPERATIONS}
[[workload]]
kind = "sequential-read"
block = "4k"
operations = {OPERATIONS}
"""
LOOKS = 20  # ns that an operation takes in the machine: each look at the virtual clock is one
CALLS = {"random-read": {"read": "read"}, "sequential-read": {"read": "read"},
         "random-write": {"write": "write", "fsync": "flush"}}
TIMES = ("overhead", "seek", "rotation", "transfer", "flush", "queued", "die", "channel", "map", "fault")


def rows(top: Path) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Each row of results.json, and what the second way comes to. Each run has a lab of its own."""
    expanded = runs.expand(spec.parse(SPEC, "figures", Path("/")))
    results = Results(top)
    results.begin(SPEC, expanded)
    for run in expanded:
        came = labrun.execute(run.described)
        assert "text" in came, came["error"]
        results.add(run, came["text"])
    loaded = results.load()
    results.write_tables(loaded)
    lines = json.loads((top / "results.json").read_text())
    lines = [line | {"latency": json.loads(line["latency"])} for line in lines]
    return [(line, second(one)) for line, one in zip(lines, loaded, strict=True)]


def bucket_of(histogram: list[int], thousandths: int) -> Between:
    """Of so many that no more than this share is longer, by the disk's histogram: less than 1 us, then from
    2^(i-1) to 2^i us."""
    wanted = math.ceil(sum(histogram) * thousandths / 1000)
    bucket = next(at for at, passed in enumerate(itertools.accumulate(histogram)) if passed >= wanted)
    return Between(1000 << bucket - 1 if bucket else 0, (1000 << bucket) + LOOKS)


def latency(kind: str, disk: dict[str, Any]) -> dict[str, Any]:
    """Of each kind of operation: the disk has one kind of request for each."""
    found: dict[str, Any] = {}
    for call, of_disk in CALLS[kind].items():
        count = OPERATIONS if call != "fsync" else 1
        mean = disk["modelled_ns"][of_disk] / disk["modelled"][of_disk]
        assert disk["modelled"][of_disk] == count, disk["modelled"]
        looked = Near(mean + LOOKS / 2, LOOKS / 2)
        p99 = bucket_of(disk["modelled_times"], 990) if count > 1 else looked
        found |= {f"latency.{call}.count": count, f"latency.{call}.mean_ns": looked,
                  f"latency.{call}.p99_ns": p99}
    return found


@functools.cache
def model_bytes() -> float:
    """What david-sim allocates for such a drive."""
    asked = secondsim.Asked("samsung-pm883", (), 0, options=("precondition=sequential",))
    return secondsim.state(asked).value


def second(one: dict[str, Any]) -> dict[str, Any]:
    run, result = one["run"], json.loads(json.dumps(one["result"]))
    disk, kind = result["stats"], run["workload"]["kind"]
    seconds, writes = result["seconds"], kind == "random-write"
    # Beside the writes there is one fsync, at the end.
    rate, bytes_rate = (OPERATIONS + writes) / seconds, OPERATIONS * SIZE / 1e6 / seconds
    spent = sum(one["count"] * one["mean_ns"] for one in result["latency"].values()) / 1e9
    written = disk["sectors"]["write"] * 512
    assert written == OPERATIONS * SIZE * writes and disk["sectors"]["read"] == OPERATIONS * SIZE // 512 * (
        not writes
    )
    asked, last = OPERATIONS + writes, result["samples"][-1]
    at = result["columns"].index
    return latency(kind, disk) | {
        "requests_per_op": OPERATIONS / asked,
        "flushes_per_op": writes / asked,
        "disk_read_bytes_per_op": OPERATIONS * SIZE * (not writes) / asked,
        "disk_written_bytes_per_op": OPERATIONS * SIZE * writes / asked,
        **{f"{part}_ns_per_op": last[at(f"{part}_ns")] / asked for part in TIMES},
        "queue_wait_ns_per_op": 0,
        "degraded": None,
        "rebuilt_bytes": None,
        **dict.fromkeys(("journal_requests_per_op", "journal_bytes_per_op")),  # a raw disk
        # At random places of the disk: a third of it apart, give or take twelve times what that may vary.
        "going_on_share": 1 if kind == "sequential-read" else Between(0, 3 / OPERATIONS),
        "jump_bytes": None if kind == "sequential-read" else Near(
            CAPACITY / 3, 12 * CAPACITY / (18 * OPERATIONS) ** 0.5),
        "metadata_share": None,
        "moved_share": None,  # nothing came to the flash: the buffer took it
        "variant": run["variant"],
        "workload": kind,
        "profile": "samsung-pm883",
        "file_system": "none",
        "seed": 3,
        "seconds": Near(spent, 0.002 * spent),
        "operations": sum(disk["requests"].values()),
        "operations_per_s": Near(rate, 1e-9 * rate),
        "megabytes_per_s": Near(bytes_rate, 1e-9 * bytes_rate),
        "read_bytes": disk["sectors"]["read"] * 512,
        "written_bytes": written,
        "store_bytes": 0,  # of the raw disk too, what such a workload writes is data
        # Most of it is the drive's model. Requests, tables and what counts take the rest.
        "memory_bytes": Between(0.95 * model_bytes(), 1.4 * model_bytes()),
        "doubts": DOUBTS if writes else "",
        # Pages at random of so many are different ones, but for a few in a billion.
        "touched": Near(OPERATIONS * SIZE / CAPACITY, 1e-9),
        # The first and the last of n places lie 2 / (n + 1) short of the whole; twelve times that is never.
        "stroked": Near(OPERATIONS * SIZE / CAPACITY, 1e-12) if kind == "sequential-read" else Between(
            1 - 24 / (OPERATIONS + 1), 1),
        "trustworthy": True,
        "wrong": "",
    }
