# SPDX-License-Identifier: GPL-2.0
"""Figures 6 and 7: modelled beside measured times of each request, with the model running beside a disk.

The paper had the drive that it modelled. There is none here: below the model lies an emulated one, in virtual
time. What is compared is the time that the model foretells with the one that a program waits.
"""

from __future__ import annotations

import math
import mmap
import os
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..bench import testbed
from ..disk import dm, setting
from ..disk.create import create_disk
from ..disk.parameters import DiskParameters
from ..workload import servers, trees
from ..workload.kinds import KINDS
from . import disks
from .plan import HITACHI
from .table3 import store

TRACING = Path("/sys/kernel/tracing")
COMPLETE = TRACING / "events/david/david_complete/enable"
UPPER, LOWER = "/dev/mapper/upper", "/dev/mapper/lower"
# Table 1 of the paper has a write-through cache.
CACHE = ("write_cache=through",)
POINTS, FINE = 200, 2000
# Longer than what any backlog of the model's takes, which filling at full speed leaves.
SETTLE_S = 3600
EVENT = re.compile(
    r"david_complete: dev=(\S+) .*? arrival=(\d+) dispatch=\d+ completion=(\d+) delivered=(\d+)")
FIGURE_6 = {"sequential reads": ("read", False), "random reads": ("read", True),
            "sequential writes": ("write", False), "random writes": ("write", True)}


@contextmanager
def model_over_disk(classify: str) -> Iterator[None]:
    """UPPER, which models the same drive that lies below it."""
    lower = DiskParameters("lower", profile=HITACHI, profile_options=CACHE, classify=classify, mode="speedup",
                           format=True)
    upper = DiskParameters("upper", LOWER, profile=HITACHI, profile_options=CACHE, mode="model-only")
    with store("/tmp/lower", 4 << 30) as loop:
        create_disk(replace(lower, backing=loop))
        try:
            create_disk(upper)
            yield
        finally:
            for name in ("upper", "lower"):
                if dm.exists(name):
                    testbed.call("dmsetup", "remove", "--retry", name)


def recorded(body: Callable[[], object]) -> dict[str, Any]:
    """What the model said of UPPER's requests, beside what they took."""
    if not COMPLETE.exists():
        testbed.call("mount", "-t", "tracefs", "tracefs", str(TRACING))
    time.sleep(SETTLE_S)
    testbed.align()
    setting.change("lower", [("mode", "timing-accurate")])
    (TRACING / "buffer_size_kb").write_text("60000")
    (TRACING / "trace").write_text("")
    COMPLETE.write_text("1")
    start = time.monotonic_ns()
    body()
    os.sync()
    took = time.monotonic_ns() - start
    COMPLETE.write_text("0")
    setting.change("lower", [("mode", "speedup")])
    found = EVENT.findall((TRACING / "trace").read_text())
    # The upper disk's model says when a request would be done; the lower disk's clock, when it was.
    modelled = [int(done) - int(came) for device, came, done, _ in found if device == number_of(UPPER)]
    measured = [int(there) - int(came) for device, came, _, there in found if device == number_of(LOWER)]
    return {"seconds": took / 1e9, **compared(modelled, measured)}


def number_of(path: str) -> str:
    number = os.stat(path).st_rdev
    return f"{os.major(number)}:{os.minor(number)}"


def quantiles(times: list[int], points: int) -> list[int]:
    ordered = sorted(times)
    return [ordered[round(at * (len(times) - 1) / points)] for at in range(points + 1)]


def compared(modelled: list[int], measured: list[int]) -> dict[str, Any]:
    """Means, both distributions, and the demerit of Ruemmler and Wilkes: how far the two lie apart."""
    pairs = zip(quantiles(modelled, FINE), quantiles(measured, FINE), strict=True)
    return {
        "n": len(modelled),
        "n_measured": len(measured),
        "modelled_ns": sum(modelled) / len(modelled),
        "measured_ns": sum(measured) / len(measured),
        "demerit_ns": math.sqrt(sum((one - other) ** 2 for one, other in pairs) / (FINE + 1)),
        "modelled": quantiles(modelled, POINTS),
        "measured": quantiles(measured, POINTS),
    }


def _micro(what: str, at_random: bool, count: int) -> None:
    fd = os.open(UPPER, os.O_RDWR | os.O_DIRECT)
    pages, rng, buffer = os.lseek(fd, 0, os.SEEK_END) // 4096, random.Random(6), mmap.mmap(-1, 4096)
    buffer.write(rng.randbytes(4096))
    for number in range(count):
        place = (rng.randrange(pages) if at_random else number) * 4096
        if what == "read":
            os.preadv(fd, [buffer], place)
        else:
            os.pwrite(fd, buffer, place)
    os.close(fd)


def figure_6(run: dict[str, Any]) -> dict[str, Any]:
    count = run["params"]["requests"]
    with model_over_disk("data"):
        return {name: recorded(partial(_micro, *how, count)) for name, how in FIGURE_6.items()}


def _server(kind: str, top: str, params: dict[str, Any]) -> Callable[[], object]:
    known = KINDS[kind].params | params
    servers.prepare(top, known, 1)
    return lambda: servers.run(kind, top, known, 1)


def _tar(top: str, params: dict[str, Any]) -> Callable[[], object]:
    trees.prepare("untar", top, params, 1)
    return lambda: trees.run("untar", top, params, 1)


def figure_7(run: dict[str, Any]) -> dict[str, Any]:
    share = run["params"]["share"]
    told = disks.described(run)["file_system"]
    workloads: dict[str, Callable[[str], Callable[[], object]]] = {
        "postmark": lambda top: _server("postmark", top, {"operations": 1000 * share}),
        "webserver": lambda top: _server("webserver", top, {"operations": 1000 * share, "files": 1000}),
        "varmail": lambda top: _server("varmail", top, {"operations": 400 * share}),
        "tar": lambda top: _tar(top, {"files": 2000 * share}),
    }
    found = {}
    with model_over_disk("auto"):
        words = testbed.mkfs_words(told, 1)
        testbed.call(*words[:-1], UPPER)
        os.makedirs(testbed.MOUNT, exist_ok=True)
        for name, prepare in workloads.items():
            testbed.call("mount", "-t", "ext3", "-o", told["mount"], UPPER, testbed.MOUNT)
            try:
                os.mkdir(f"{testbed.MOUNT}/{name}")
                body = prepare(f"{testbed.MOUNT}/{name}")
                testbed.call("umount", testbed.MOUNT)
                testbed.call("mount", "-t", "ext3", "-o", told["mount"], UPPER, testbed.MOUNT)
                Path("/proc/sys/vm/drop_caches").write_text("3")
                found[name] = recorded(body)
            finally:
                testbed.call("umount", testbed.MOUNT)
    return found
