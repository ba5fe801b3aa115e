# SPDX-License-Identifier: GPL-2.0
"""Figures 1 and 8: images in the manner of Impressions, what share of them is metadata, and how large they
may be on a small backing device."""

from __future__ import annotations

import mmap
import os
import random
from typing import Any

from ..bench import testbed
from ..workload import fileops, image
from ..workload.kinds import KINDS
from ..workload.record import Record
from . import disks

GIB = 1 << 30
CHUNK = 8 << 20
DIRECT_FROM = 1 << 20


def _params(**changes: Any) -> dict[str, Any]:
    return KINDS["impressions"].params | changes


def figure_1(run: dict[str, Any]) -> dict[str, Any]:
    """On ext2, which is laid out as ext3, without a journal: that would be most of a small image."""
    params = run["params"]
    told = disks.described(run, backing=2 * GIB)
    with disks.disk(told):
        top = testbed.make_file_system(told)
        before = testbed.figures()
        image.run("impressions", top, _params(
            files=params["files"], directories=params["files"] // 5, mu=params["mu"],
            sigma=params["sigma"], largest=64 * GIB), run["seed"])
        testbed.call("umount", testbed.MOUNT)
        return disks.blocks_since(before, testbed.figures()) | {"files": params["files"]}


def large_file(path: str, size: int, buffer: mmap.mmap) -> None:
    """Past the page cache: ten times as fast, and the same to the disk. A whole number of blocks."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o644)
    size = -(-size // 4096) * 4096
    try:
        with memoryview(buffer) as view:
            while size > 0:
                size -= os.write(fd, view[: min(size, CHUNK)])
    finally:
        os.close(fd)


def make_large(top: str, params: dict[str, Any], seed: int) -> int:
    """An image whose large files are written by direct I/O; its bytes."""
    drawn = image.draw(params, seed)
    scratch = Record()
    for path in drawn.directories[1:]:
        os.mkdir(f"{top}/{path}")
    with mmap.mmap(-1, CHUNK) as buffer:
        buffer.write(random.Random(1).randbytes(CHUNK))
        for path, size in drawn.files():
            if size < DIRECT_FROM:
                fileops.create(scratch, f"{top}/{path}", size)
            else:
                large_file(f"{top}/{path}", size, buffer)
            scratch.ns.clear()
    return sum(drawn.sizes)


def figure_8(run: dict[str, Any]) -> dict[str, Any]:
    params = run["params"]
    told = disks.described(run, backing=params["backing"], profile=params["drive"])
    if told["file_system"]["type"] == "ext4":
        # As ext3's of 2007. The default of today, 1 GB, would fill a backing device of that size alone.
        told["file_system"]["mkfs"] = ["-J", "size=128"]
    with disks.disk(told):
        testbed.call(*testbed.mkfs_words(told["file_system"], run["seed"]))
        size = 0

        def make() -> None:
            nonlocal size
            size = make_large(testbed.MOUNT, _params(**params["image"], largest=1 << 40), run["seed"])

        found = disks.mounted(told, make)
        return found | {"bytes": size, "backing": params["backing"], "files": params["image"]["files"]}
