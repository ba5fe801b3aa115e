# SPDX-License-Identifier: GPL-2.0
"""A file system filled, and then files deleted and made until it is old.

In the manner of Geriatrix (Kadekodi and others, USENIX ATC 2018): a rapid fill, then deletions and creations
in balance, by a distribution of sizes. Space is taken by fallocate(), as there, so that no data has to be
made for what is deleted again.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import struct
from dataclasses import asdict, dataclass
from typing import Any

from .recipe import Recipe

FIEMAP = 0xC020660B  # _IOWR('f', 11, struct fiemap)
SYNC, LAST = 1, 1  # FIEMAP_FLAG_SYNC, FIEMAP_EXTENT_LAST
HEAD, EXTENT = struct.Struct("=QQIIII"), struct.Struct("=QQQ16xI12x")
AT_ONCE = 64
SAMPLES = 4000
BLOCK = 4096
PIECE = 4 << 20


@dataclass
class File:
    path: str
    size: int


def extents(path: str) -> int:
    """In how many pieces a file lies on the disk. What only the file system tells apart is one."""
    found, start, end = 0, 0, -1
    with open(path, "rb") as file:
        while True:
            buffer = bytearray(HEAD.pack(start, (1 << 64) - 1 - start, SYNC, 0, AT_ONCE, 0)
                               + bytes(AT_ONCE * EXTENT.size))
            fcntl.ioctl(file, FIEMAP, buffer)
            got = HEAD.unpack_from(buffer)[3]
            for number in range(got):
                at = HEAD.size + number * EXTENT.size
                logical, physical, length, flags = EXTENT.unpack_from(buffer, at)
                found += physical != end
                start, end = logical + length, physical + length
            if not got or flags & LAST:
                return found


class Ager:
    def __init__(self, top: str, recipe: Recipe, seed: int) -> None:
        self.top, self.recipe = top, recipe
        self.random = random.Random(f"age {seed}")
        room = os.statvfs(top)
        self.wanted = int(room.f_bavail * room.f_frsize * recipe.utilization)
        self.scale = self._scale()
        self.files: list[File] = []
        self.bytes = self.taken = self.made = 0

    def _most(self) -> float:
        """No file is more than a small part of all: one of them would be the disk."""
        return self.wanted * max(0.01, 10 / self.recipe.files)

    def _scale(self) -> float:
        """By which sizes are multiplied, so that so many files fill so much."""
        some = [self.random.lognormvariate(self.recipe.mu, self.recipe.sigma) for _ in range(SAMPLES)]
        low, high = 0.0, float(self.wanted)
        for _ in range(100):
            middle = (low + high) / 2
            mean = sum(min(size * middle, self._most()) for size in some) / SAMPLES
            low, high = (middle, high) if mean * self.recipe.files < self.wanted else (low, middle)
        return high

    def _size(self) -> int:
        size = self.random.lognormvariate(self.recipe.mu, self.recipe.sigma) * self.scale
        return max(int(min(size, self._most())) // BLOCK, 1) * BLOCK

    def _create(self) -> None:
        size = self._size()
        path = f"{self.top}/d{self.random.randrange(self.recipe.directories):04}/f{self.made:07}"
        self.made += 1
        with open(path, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)
        self.files.append(File(path, size))
        self.bytes += size
        self.taken += size

    def _delete(self) -> None:
        at = self.random.randrange(len(self.files))
        self.files[at], self.files[-1] = self.files[-1], self.files[at]
        gone = self.files.pop()
        os.unlink(gone.path)
        self.bytes -= gone.size

    def fill(self) -> None:
        for number in range(self.recipe.directories):
            os.mkdir(f"{self.top}/d{number:04}")
        while self.bytes < self.wanted:
            self._create()
        os.sync()

    def churn(self) -> None:
        until = self.taken + self.recipe.churn * self.wanted
        while self.taken < until:
            while self.bytes > self.wanted * 0.9:
                self._delete()
            while self.bytes < self.wanted and self.taken < until:
                self._create()
            os.sync()

    def write(self) -> None:
        """What is left gets data; the disk drops it."""
        data = bytes(range(256)) * (PIECE // 256)
        for old in self.files:
            with open(old.path, "r+b") as file:
                for at in range(0, old.size, PIECE):
                    file.write(data[: min(PIECE, old.size - at)])
        os.sync()

    def extents(self) -> float:
        """Of a file, on average, of up to 500 of them."""
        some = self.files[:: max(len(self.files) // 500, 1)]
        return sum(extents(file.path) for file in some) / len(some)


def tree(top: str) -> str:
    """A checksum of all paths and sizes."""
    found = []
    for directory, _, names in os.walk(top):
        for name in names:
            path = os.path.join(directory, name)
            found.append(f"{os.path.relpath(path, top)} {os.lstat(path).st_size}\n")
    return hashlib.sha256("".join(sorted(found)).encode()).hexdigest()


def age(top: str, recipe: Recipe, seed: int) -> dict[str, Any]:
    """Ages the empty file system at TOP, and says what came of it."""
    ager = Ager(top, recipe, seed)
    ager.fill()
    fresh = ager.extents()
    ager.churn()
    if recipe.write:
        ager.write()
    return {
        "recipe": asdict(recipe),
        "seed": seed,
        "files": len(ager.files),
        "files_made": ager.made,
        "bytes": ager.bytes,
        "bytes_made": ager.taken,
        "extents_per_file_fresh": round(fresh, 3),
        "extents_per_file": round(ager.extents(), 3),
        "tree_sha256": tree(top),
    }
