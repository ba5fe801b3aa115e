# SPDX-License-Identifier: GPL-2.0
"""Layers between a random life's file system and its disk (lives.py): a volume in pieces with a neighbour of
another kind, a cache that is not flushed, a mirror that is resynced under load.

The layer's device is what the file system lives on. `disturb` is called while it is mounted, `settle` before
it is unmounted, and `look` when it is not.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from helpers.filesystems import TOOLS
from helpers.guest import SCRATCH, Failed, attached, dm, libc, linear_disk, mounted, remove, run
from helpers.manifest import difference, manifest
from helpers.units import MIB

START, BESIDE = MIB, 320 * MIB
ARRAY = "/dev/md7"
NEIGHBOURS = ("btrfs", "ext2", "ext3", "ext4", "xfs")
NOISE = random.Random(3).randbytes(64 << 10)


class Layer:
    """None: the disk itself."""

    cuts = True  # the disk may be cut off below it

    def __init__(self, device: str) -> None:
        self.device = device

    def disturb(self, top: str, rng: random.Random) -> None:
        pass

    def settle(self) -> None:
        pass

    def look(self, check: Callable[[str], None]) -> None:
        pass

    def grown(self) -> None:
        """The device is to be larger."""


class Pieces(Layer):
    """A volume, its neighbour of another kind right behind it, and the second piece behind that."""

    def __init__(self, disk: str, size: int, first: int, seed: str) -> None:
        super().__init__("/dev/mapper/pieces")
        rng = random.Random(seed)
        self.disk, self.size = disk, size
        self.first = first >> 20 << 20
        self.fs = rng.choice(NEIGHBOURS)
        self.rounds = 0
        self.tree: list[str] = []
        run("dmsetup", "create", "pieces", "--table", self.table(self.first))
        line = f"0 {BESIDE >> 9} linear {disk} {START + self.first >> 9}"
        run("dmsetup", "create", "neighbour", "--table", line)
        for name in ("pieces", "neighbour"):
            dm.make_node(name)
        # Not of the UUID of the one in pieces.
        other = ("-U", "random") if self.fs.startswith("ext") else ()
        run(*TOOLS[self.fs].mkfs, *other, "/dev/mapper/neighbour")

    def table(self, size: int) -> str:
        first = min(size, self.first)
        lines = [f"0 {first >> 9} linear {self.disk} {START >> 9}"]
        if size > first:
            behind = START + self.first + BESIDE
            lines.append(f"{first >> 9} {size - first >> 9} linear {self.disk} {behind >> 9}")
        return "\n".join(lines)

    def grown(self) -> None:
        run("dmsetup", "suspend", "pieces")
        run("dmsetup", "load", "pieces", "--table", self.table(self.size))
        run("dmsetup", "resume", "pieces")

    def disturb(self, top: str, rng: random.Random) -> None:
        """The neighbour is at work, too."""
        known = Path("/proc/filesystems").read_text().split()
        driver = "ext4" if self.fs in ("ext2", "ext3") and self.fs not in known else self.fs
        with mounted("/dev/mapper/neighbour", driver) as beside:
            self.rounds += 1
            for i in range(rng.randrange(20, 60)):
                where = f"{beside}/round-{self.rounds}/{i % 9}/{i}"
                os.makedirs(where)
                Path(f"{where}/file").write_bytes(NOISE[: i * 997 % 40000])
                os.symlink("z" * (i * 7 % 200 + 1), f"{where}/link")
            os.sync()
            self.tree = manifest(beside)
        self.driver = driver

    def look(self, check: Callable[[str], None]) -> None:
        if not self.rounds:
            return
        run(*TOOLS[self.fs].check, "/dev/mapper/neighbour")
        with mounted("/dev/mapper/neighbour", self.driver) as beside:
            if wrong := difference(self.tree, manifest(beside)):
                raise Failed(f"the neighbour ({self.fs}): the tree differs:\n" + "\n".join(wrong))

    def close(self) -> None:
        for name in ("neighbour", "pieces"):
            if dm.exists(name):
                remove(name)


class Cache(Layer):
    """The disk's page cache, written back when it likes. Nobody flushes it, so nothing can be cut off."""

    cuts = False

    def __init__(self, device: str, disk: str) -> None:
        super().__init__(device)
        self.disk = disk
        Path(f"/sys/block/{os.path.basename(device)}/queue/write_cache").write_text("write through")

    def disturb(self, top: str, rng: random.Random) -> None:
        """Writeback, of what is there in ascending order; the file system's log may be in the midst of it."""
        with open(self.device, "rb") as file:
            libc.sync_file_range(file.fileno(), 0, 0, 2)
        if rng.random() < 0.5:
            os.sync()

    def look(self, check: Callable[[str], None]) -> None:
        """From the disk, not from memory."""
        os.sync()
        for device in (self.device, self.disk):
            run("blockdev", "--flushbufs", device)
        check(self.disk)


class Mirror(Layer):
    """The disk is taken in again and again while the file system is at work on the other leg, which is real;
    what the disk has is looked at by itself.
    """

    cuts = False

    def __init__(self, disk: str, real: str) -> None:
        super().__init__(ARRAY)
        self.disk, self.real = disk, real
        words = ("--level=1", "--metadata=1.0", "--bitmap=none", "--raid-devices=2", "--assume-clean")
        for name in ("speed_limit_min", "speed_limit_max"):
            Path(f"/proc/sys/dev/raid/{name}").write_text("60000\n")
        run("mdadm", "--create", ARRAY, "--run", *words, real, "missing")
        self.inside = False

    def disturb(self, top: str, rng: random.Random) -> None:
        run("mdadm", "--zero-superblock", self.disk, ok=(0, 1))
        run("mdadm", ARRAY, "--add", self.disk)
        self.inside = True

    def settle(self) -> None:
        if self.inside:
            run("mdadm", "--wait", ARRAY, ok=(0, 1))

    def look(self, check: Callable[[str], None]) -> None:
        """Unmounted: the file system begins where the leg does."""
        if not self.inside:
            return
        run("mdadm", ARRAY, "--fail", self.disk)
        run("mdadm", ARRAY, "--remove", self.disk)
        self.inside = False
        run("blockdev", "--flushbufs", self.disk)
        with attached(self.disk) as loop:
            check(loop)

    def close(self) -> None:
        run("mdadm", "--stop", ARRAY, ok=(0, 1))


@contextmanager
def between(kind: str, disk: str, size: int, first: int, seed: str) -> Iterator[Layer]:
    """`size` is the file system's when it has grown, `first` before."""
    if kind == "pieces":
        layer: Layer = Pieces(disk, size, first, seed)
        try:
            yield layer
        finally:
            layer.close()  # type: ignore[attr-defined]
    elif kind == "cache":
        with attached(disk) as loop:
            yield Cache(loop, disk)
    elif kind == "mirror":
        with linear_disk("real", size, SCRATCH) as real:
            layer = Mirror(disk, real)
            try:
                yield layer
            finally:
                layer.close()  # type: ignore[attr-defined]
    else:
        yield Layer(disk)


def room(kind: str, size: int) -> int:
    """How large the disk must be."""
    return size + {"pieces": START + BESIDE}.get(kind, 0)
