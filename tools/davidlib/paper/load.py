# SPDX-License-Identifier: GPL-2.0
"""Figures 4 and 9: what waits unclassified while a large file is made, and memory and CPU time while an image
is made."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..bench import testbed
from ..disk import baseline, lateness
from ..workload import fileops, image
from ..workload.kinds import KINDS
from . import disks

BLOCK = 4096
GIB = 1 << 30
TICK = os.sysconf("SC_CLK_TCK")


def sampled(every: float, row: Callable[[float], dict[str, Any]],
            body: Callable[[], object]) -> list[dict[str, Any]]:
    """A row each so many seconds while the body runs, and one at its end."""
    rows: list[dict[str, Any]] = []
    stop, start = threading.Event(), time.monotonic()

    def sample() -> None:
        while not stop.wait(every):
            rows.append(row(time.monotonic() - start))

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        body()
    finally:
        stop.set()
        thread.join()
    rows.append(row(time.monotonic() - start))
    return rows


def _large_file(path: str, size: int) -> None:
    """Blocks begin with their number: none could be a symbolic link."""
    chunk = bytearray(fileops.POOL[: 1 << 20])
    with open(path, "wb", buffering=0) as file:
        for at in range(0, size, len(chunk)):
            for block in range(0, len(chunk), BLOCK):
                chunk[block : block + 8] = (at + block).to_bytes(8, "little")
            file.write(chunk)
        os.fsync(file.fileno())


def figure_4(run: dict[str, Any]) -> dict[str, Any]:
    told = disks.described(run, classify="implicit", backing=run["params"].get("backing", GIB))
    params = run["params"]

    def row(at: float) -> dict[str, Any]:
        found = testbed.figures()
        return {"s": at, "waiting": found["unclassified"]["now"] * BLOCK, "memory": found["mem"]["classify"]}

    with disks.disk(told):
        top = testbed.make_file_system(told)
        disks.mode("timing-accurate")
        before, path = testbed.figures(), f"{top}/large"
        rows = sampled(params["every"], row, lambda: _large_file(path, params["file"]))
        after = testbed.figures()
        found = baseline.difference(after, before)
        squashed = after["blocks"]["squashed"] - before["blocks"]["squashed"]
        return {"rows": rows, "file": params["file"], "most": found["unclassified"]["most"] * BLOCK,
                "squashed": squashed * BLOCK,
                "spilled": found["unclassified"]["spilled"] * BLOCK, "times": lateness.verdict(found).text}


def _machine() -> float:
    """Seconds of CPU time since the machine began: user, nice, system, interrupts."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    return sum(int(fields[at]) for at in (0, 1, 2, 5, 6)) / TICK


def figure_9(run: dict[str, Any]) -> dict[str, Any]:
    """In real time, at the drive's speed."""
    told = disks.described(run, classify="implicit", backing=run["params"].get("backing", GIB))
    params = run["params"]

    def row(at: float) -> dict[str, Any]:
        found = testbed.figures()
        return {"s": at, "machine": _machine(), "cpu": found["cpu"], "mem": found["mem"]}

    with disks.disk(told):
        top = testbed.make_file_system(told)
        disks.mode("timing-accurate")
        made = KINDS["impressions"].params | params["image"] | {"largest": 1 << 40}
        first = row(0.0)
        rows = sampled(params["every"], row, lambda: image.run("impressions", top, made, run["seed"]))
        return {"rows": [first, *rows], "bytes": params["image"]["total"]}
