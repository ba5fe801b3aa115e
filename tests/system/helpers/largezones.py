# SPDX-License-Identifier: GPL-2.0
"""Drives with zones as large as they are sold, on 256 MiB: a file system with 10,000 files on one, what is
squashed of data in a row, and how much memory the module has.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from helpers.filesystems import whole_check
from helpers.guest import Failed, david, device_stats, loop_disk, mounted, run, say
from helpers.newer import NEWER, newer
from helpers.units import MIB
from helpers.zonecuts import make

DISK, FLASH = "wd-ultrastar-dc-hc620-14tb", "wd-ultrastar-dc-zn540-1tb"
ZONES = {DISK: 256 * MIB, FLASH: 2048 * MIB}
TB = 10**12
BACKING = 256 * MIB
FILES, DIRECTORIES = 10_000, 100
SIZES = (1_000, 5_000, 20_000, 70_000)
STREAM = 128 * MIB
# Issue 40's numbers
SQUASHED, MEMORY = 0.99, 10_000_000
# For each segment of 2 MiB fsck.f2fs reads the block of the table of segments anew, a call of Linux each.
# With a cache of its own that is a third of the time. Of a large disk it compares more memory that it never
# wrote to than a program in the uml lab may look at: each such page is a mapping of the host, which allows
# 65,530 of them (vm.max_map_count). If malloc() writes to all of it, it is one mapping.
CHECK = {"f2fs": ("sh", "-c", 'out=$(MALLOC_PERTURB_=1 fsck.f2fs -f --dry-run -c 16384 -m 4 "$0" 2>&1) && '
                  '! echo "$out" | grep -E "\\[Fail\\]|ASSERT" || { echo "$out"; exit 1; }')}


@contextmanager
def drive(name: str, profile: str, size: int, *options: str) -> Iterator[str]:
    """As large as is asked for, to a whole zone; with options of its profile."""
    with loop_disk(BACKING) as backing:
        size -= size % ZONES[profile]
        words = [word for option in options for word in ("--profile-option", option)]
        david("create", name, "--size", str(size), "--backing", backing, "--profile", profile,
              "--mode", "speedup", *words)
        try:
            yield f"/dev/mapper/{name}"
        finally:
            david("remove", name)


class Watch:
    """What happens to a disk, how long each part takes, and the most memory that the module had then."""

    def __init__(self, disk: str) -> None:
        self.disk, self.last, self.memory = disk, time.monotonic(), 0
        self.took: list[str] = []

    def figures(self) -> dict[str, Any]:
        return device_stats(self.disk)

    def done(self, what: str) -> None:
        now = time.monotonic()
        self.took.append(f"{what} {now - self.last:.0f} s")
        say(f"zonedlarge: {self.took[-1]}")
        self.last = now
        figures = self.figures()
        if figures["errors"] or figures["nospc"]:
            raise Failed(f"{what}: requests failed: {figures}")
        self.memory = max(self.memory, sum(figures["mem"].values()))

    def squashed(self) -> int:
        """Bytes, at once or later."""
        figures = self.figures()
        return int((figures["written"]["squashed"] + figures["unclassified"]["data"]) * figures["block_size"])


def make_files(top: str) -> dict[str, int]:
    """Names and sizes."""
    rng, sizes = random.Random(40), {}
    for number in range(FILES):
        name = f"directory-{number % DIRECTORIES}/file-{number}"
        if number < DIRECTORIES:
            os.mkdir(f"{top}/directory-{number}")
        sizes[name] = rng.choice(SIZES)
        with open(f"{top}/{name}", "wb") as file:
            file.write(rng.randbytes(sizes[name]))
    os.sync()
    return sizes


def look(top: str, sizes: dict[str, int]) -> None:
    """All names and sizes, and one file of ten as a whole."""
    for number, (name, size) in enumerate(sizes.items()):
        path = f"{top}/{name}"
        if os.path.getsize(path) != size:
            raise Failed(f"{name} has {os.path.getsize(path)} bytes instead of {size}")
        if number % 10 == 0:
            with open(path, "rb") as file:
                if len(file.read()) != size:
                    raise Failed(f"{name} cannot be read whole")
    found = sum(len(os.listdir(f"{top}/directory-{number}")) for number in range(DIRECTORIES))
    if found != len(sizes):
        raise Failed(f"{found} files are there, and {len(sizes)} were made")


def stream(top: str) -> None:
    rng = random.Random(41)
    with open(f"{top}/stream", "wb") as file:
        for _ in range(STREAM // MIB):
            file.write(rng.randbytes(MIB))
        file.flush()
        os.fsync(file.fileno())


def checked(fs: str, disk: str) -> None:
    if fs in NEWER:
        newer(*NEWER[fs].check, disk)
    else:
        run(*CHECK.get(fs, whole_check(fs)), disk)


def lives(fs: str, what: str, disk: str) -> None:
    watch = Watch(os.path.basename(disk))
    make(fs, disk)
    watch.done("mkfs")
    with mounted(disk, fs) as top:
        sizes = make_files(top)
        watch.done("files")
        before = watch.squashed()
        stream(top)
        squashed = watch.squashed() - before
        watch.done("stream")
    checked(fs, disk)
    watch.done("check")
    with mounted(disk, fs) as top:
        look(top, sizes)
        if os.path.getsize(f"{top}/stream") != STREAM:
            raise Failed("the stream has another size")
    watch.done("again")
    tell(what, watch, squashed)


def tell(what: str, watch: Watch, squashed: int) -> None:
    figures = watch.figures()
    stored = figures["store_used"] * figures["block_size"] / MIB
    say(f"zonedlarge: {what}: {', '.join(watch.took)}; {100 * squashed / STREAM:.2f} % of "
        f"{STREAM >> 20} MiB in a row squashed, {stored:.1f} MiB stored, memory {watch.memory} bytes")
    if squashed < SQUASHED * STREAM:
        raise Failed(f"{what}: only {squashed} bytes of {STREAM} in a row were squashed")
    if watch.memory > MEMORY:
        raise Failed(f"{what}: the module had {watch.memory} bytes of memory")
