# SPDX-License-Identifier: GPL-2.0
"""Fake disks with layers on them, and data streamed to what lies on top."""

from __future__ import annotations

import json
import mmap
import os
import random
from contextlib import ExitStack
from pathlib import Path

from helpers import udev
from helpers.filesystems import whole_check
from helpers.guest import Failed, david, device_stats, looped, mounted, run
from helpers.lvmtool import GROUP, lvm
from helpers.manifest import difference, manifest
from helpers.raw import opened
from helpers.units import GIB, MIB
from helpers.victim import Mapper, drop_caches, fake, flush_buffers, linear, wait_until

NAMES = ("victim", "second", "third", "fourth")
STREAM = 16 * MIB if os.environ.get("DAVID_LAB") == "vm" else 48 * MIB
NOISE = random.Random(17).randbytes(MIB)


class Stack:
    """Fake disks, and what is made of them; taken away in the opposite order."""

    def __init__(self, stack: ExitStack, mode: str = "auto") -> None:
        self.stack = stack
        self.mode = mode
        self.mapper = Mapper(stack)
        self.disks: list[str] = []

    def disk(self, size: int = 2 * GIB) -> str:
        name = NAMES[len(self.disks)]
        self.disks.append(name)
        return self.stack.enter_context(fake(self.mode, size, name=name))[0]

    def md(self, number: int, level: str, *members: str) -> str:
        array = f"/dev/md{number}"
        words = ("--run", "--metadata=1.2", *level.split())
        # What udev still runs for a disk that has gone, `mdadm -If dm-0`, would fail what has its name now.
        udev.settle()
        run(
            "mdadm",
            "--create",
            array,
            *words,
            f"--raid-devices={len(members)}",
            *members,
        )
        self.stack.callback(run, "mdadm", "--stop", array)
        return array

    def partition(self, disk: str, name: str) -> str:
        """The second of a GPT, as kpartx maps it."""
        script = "printf ',200M\\n,1G\\n,\\n' | sfdisk -q --no-reread --no-tell-kernel -X gpt "
        run("sh", "-c", script + disk)
        second = json.loads(run("sfdisk", "-J", disk))["partitiontable"]["partitions"][1]
        return self.mapper.create(name, linear(second["size"] << 9, disk, second["start"] << 9))

    def loop(self, device: str, offset: int = 0) -> str:
        loop = self.stack.enter_context(looped(device, offset))
        david("stack")
        return loop

    def group(self, *devices: str) -> None:
        lvm("pvcreate", *devices)
        lvm("vgcreate", GROUP, *devices)
        self.stack.callback(lvm, "vgchange", "-an", GROUP)


def written(disks: list[str]) -> dict[str, int]:
    total = {"squashed": 0, "kept": 0}
    for disk in disks:
        figures = device_stats(disk)["written"]
        for key in total:
            total[key] += figures[key]  # type: ignore[index]
    return total


def stream(path: str, flags: int = 0) -> None:
    """Noise that is no metadata; by direct I/O from anonymous memory."""
    with (
        opened(path, os.O_WRONLY | os.O_CREAT | flags) as fd,
        mmap.mmap(-1, MIB) as buffer,
    ):
        buffer[:] = NOISE
        for _ in range(STREAM // MIB):
            os.write(fd, buffer)
        os.fsync(fd)


def look_at(fs: str, device: str, expected: list[str]) -> None:
    drop_caches()
    flush_buffers(device)
    run(*whole_check(fs), device)
    with mounted(device, fs) as top:
        wrong = difference(expected, manifest(top, content=False))
        assert not wrong, wrong[:20]


def checked_by_md(array: str) -> None:
    """All copies are equal, and parity is right."""
    md = Path("/sys/block") / Path(array).name / "md"
    (md / "sync_action").write_text("check")
    wait_until(lambda: (md / "sync_action").read_text() == "idle\n", "md's check", 1800)
    if (wrong := (md / "mismatch_cnt").read_text().strip()) != "0":
        raise Failed(f"md's check: {wrong} sectors differ")
