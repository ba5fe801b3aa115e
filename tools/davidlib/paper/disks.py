# SPDX-License-Identifier: GPL-2.0
"""What the experiments share: a disk of a run's, steps on it that are timed, and what they stored."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..bench import testbed
from ..disk import baseline, check, lateness, setting
from .plan import HITACHI

# ext3 as mke2fs made it in 2007: inodes of 128 bytes, one for 16 KiB, and a journal of 128 MB. That comes to
# what the paper's David stored after mkfs, 7,900,712 KB, within 1 %.
OLD_EXT3 = ("-I", "128", "-i", "16384", "-J", "size=128")
MIB = 1 << 20
KINDS = ("fill", "squashed", "stored", "packed")


def described(run: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """What testbed.make_disk() and its like want to know."""
    system = dict(run["file_system"])
    if system["type"] == "ext3":
        system |= {"mkfs": list(OLD_EXT3), "mount": "data=ordered,commit=5"}
    found = {"profile": HITACHI, "profile_text": "", "backing": 1 << 30, "classify": "auto", "size": 0,
             "profile_options": [], "options": [], "seed": run["seed"], "file_system": system}
    return found | changes


@contextmanager
def disk(told: dict[str, Any]) -> Iterator[None]:
    """A disk at full speed; whatever is there is removed at the end."""
    try:
        testbed.align()
        testbed.make_disk(told)
        yield
    finally:
        testbed.clean_up()


def mode(name: str) -> None:
    setting.change(testbed.NAME, [("mode", name)])


def blocks_since(before: dict[str, Any], after: dict[str, Any]) -> dict[str, int]:
    """In bytes. `original`: blocks that were not in use before, and so what they take on a disk of full size.
    `kept`: those of them that are not dropped, zeros included, which the paper stored, too. `store`: what
    the store has grown by, the journal's blocks included, which mkfs had filled with zeros."""
    size = after["block_size"]
    grown = {kind: after["blocks"][kind] - before["blocks"][kind] for kind in KINDS}
    return {
        "original": size * sum(grown.values()),
        "kept": size * (sum(grown.values()) - grown["squashed"]),
        "store": size * (after["store_used"] - before["store_used"]),
        "store_used": size * after["store_used"],
    }


def mounted(told: dict[str, Any], body: Callable[[], object]) -> dict[str, Any]:
    """timed() with nothing in a cache before. What it stored is counted until the file system is unmounted:
    some of them write their metadata only then."""
    Path("/proc/sys/vm/drop_caches").write_text("3")
    before = testbed.figures()
    testbed.mount(told["file_system"])
    found = timed(body)
    testbed.call("umount", testbed.MOUNT)
    return found | blocks_since(before, testbed.figures())


def timed(body: Callable[[], object]) -> dict[str, Any]:
    """That in the drive's time: seconds, what it stored, and whether the times are to be believed."""
    testbed.align()
    mode("timing-accurate")
    before, start = testbed.figures(), time.monotonic_ns()
    body()
    os.sync()
    took, after = time.monotonic_ns() - start, testbed.figures()
    mode("speedup")
    part = baseline.difference(after, before)
    return {
        "seconds": took / 1e9,
        "busy": part["busy_ns"] / 1e9,
        "requests": part["requests"],
        "sectors": part["sectors"],
        **blocks_since(before, after),
        "memory": sum(after["mem"].values()),
        **judged(part),
    }


def judged(part: dict[str, Any]) -> dict[str, Any]:
    verdict = lateness.verdict(part)
    wrong = [f"{found.what}: {found.text}" for found in check.findings(part) if not found.good]
    return {"times": verdict.text, "wrong": wrong}
