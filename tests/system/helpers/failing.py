# SPDX-License-Identifier: GPL-2.0
"""Allocations and devices that fail, and work that has to bear it."""

from __future__ import annotations

import errno
import os
import random
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from helpers import raw
from helpers.guest import Failed
from helpers.manifest import manifest
from helpers.randomops import Operations
from helpers.raw import BLOCK
from helpers.units import GIB, MIB

RUNS = 100 if os.environ.get("DAVID_SCALE") == "full" else 1
# What the kernel says of a disk that fails.
FAILS = r"I/O error|EXT4-fs (error|warning)|JBD2: .*error|XFS .*(error|[Cc]orruption|unmount)"


def fails(call: Callable[[], object], what: str) -> None:
    try:
        call()
    except OSError as error:
        assert error.errno == errno.EIO, f"{what}: {errno.errorcode[error.errno or 0]} instead of EIO"
    else:
        raise Failed(f"{what}: no error")


class Tolerant:
    """Random writes and reads of a disk that may fail: after a failed write a block may be old or new."""

    def __init__(self, fd: int, seed: int, blocks: int = 256) -> None:
        self.fd, self.blocks = fd, blocks
        self.rng = random.Random(seed)
        self.pool = self.rng.randbytes(MIB)
        self.may: list[set[int]] = [{-1} for _ in range(blocks)]
        self.failed = 0

    def content(self, source: int) -> bytes:
        return self.pool[source : source + BLOCK] if source >= 0 else bytes(BLOCK)

    def step(self) -> None:
        first, count = self.rng.randrange(self.blocks), self.rng.choice((1, 1, 1, 4, 16))
        count = min(count, self.blocks - first)
        if self.rng.random() < 0.3:
            self.check(first, count)
            return
        sources = [self.rng.randrange(MIB - BLOCK) for _ in range(count)]
        try:
            raw.write(self.fd, b"".join(map(self.content, sources)), GIB + first * BLOCK)
        except (OSError, Failed):
            self.failed += 1
            for block, source in enumerate(sources, first):
                self.may[block].add(source)
        else:
            for block, source in enumerate(sources, first):
                self.may[block] = {source}

    def check(self, first: int, count: int, must: bool = False) -> None:
        try:
            found = raw.read(self.fd, count * BLOCK, GIB + first * BLOCK)
        except OSError:
            self.failed += 1
            if must:
                raise
            return
        for block in range(first, first + count):
            content = found[(block - first) * BLOCK :][:BLOCK]
            if not any(content == self.content(source) for source in self.may[block]):
                raise Failed(f"block {block} is none of the {len(self.may[block])} that it may be")


def synced_tree(top: str, seed: int, count: int) -> tuple[list[str], Operations]:
    """What is there and synced, and operations for a directory of their own that faults may hit."""
    os.mkdir(f"{top}/late")
    os.mkdir(f"{top}/tree")
    work = Operations(f"{top}/tree", f"{seed}")
    work.run(count)
    work.close_all()
    os.sync()
    late = Operations(f"{top}/late", f"late {seed}")
    return manifest(f"{top}/tree", content=False), late.without_mappings()


def run_into_faults(late: Operations, rounds: int, count: int) -> None:
    try:
        for _ in range(rounds):
            late.run(count)
            os.sync()
    except OSError as error:
        assert error.errno in (errno.EIO, errno.EROFS, errno.EUCLEAN), error


INJECTORS = [Path("/sys/kernel/debug") / name for name in ("failslab", "fail_page_alloc")]
MOST = 1 << 30  # times that something may fail: the kernel counts them down


def need_injection(where: Path = INJECTORS[0], what: str = "require-start") -> None:
    if not where.exists():
        subprocess.run(["mount", "-t", "debugfs", "debugfs", "/sys/kernel/debug"], capture_output=True)
    if not (where / what).exists():
        raise Failed(f"this kernel has no {where}/{what}: nothing is tested")


class Injected:
    """How often something was made to fail; known when it is over."""

    def __init__(self) -> None:
        self.times = 0


@contextmanager
def injected(where: list[Path], values: dict[str, str], percent: int) -> Iterator[Injected]:
    found = Injected()
    values = {**values, "times": str(MOST), "verbose": "0", "interval": "1", "probability": str(percent)}
    try:
        for each in where:
            for name, value in values.items():
                if (each / name).exists():
                    (each / name).write_text(value)
        yield found
    finally:
        for each in where:
            (each / "probability").write_text("0")
            found.times += MOST - int((each / "times").read_text())
