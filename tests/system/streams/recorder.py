# SPDX-License-Identifier: GPL-2.0
"""A file system's life over dm-log-writes: what the recorders of ext, and of btrfs and xfs, have in common.

Under each device of the file system every write goes into a log, in order, with content. Marks in the log
tell what dm-log-writes cannot see: mounted, unmounted. Above it lies a linear device, which can be taken
away.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from helpers.guest import attached, load_table, mapped, run, swap_table
from helpers.units import MIB
from helpers.workload import Scale, Workload

SCALE = Scale(150, 400, 8 * MIB, 2)
LOG_SIZE = 4 << 30
MOUNT = Path("/tmp/recorded")


class Case(Protocol):
    """Of stream_cases.py or selfid_cases.py."""

    @property
    def fstype(self) -> str: ...
    @property
    def options(self) -> str: ...
    @property
    def extra(self) -> tuple[str, ...]: ...
    @property
    def size(self) -> int: ...


@dataclass
class Recorder:
    """The steps that all lives are made of."""

    case: Case
    devices: list[str]  # that record
    tops: list[str]  # what the file system is on

    def has(self, step: str) -> bool:
        return step in self.case.extra

    def mark(self, text: str) -> None:
        """Behind everything written so far: unflushed writes would come after the mark."""
        for number, device in enumerate(self.devices):
            fd = os.open(device, os.O_RDWR)
            os.fsync(fd)
            os.close(fd)
            run("dmsetup", "message", f"recorder-{number}", "0", "mark", text)

    def mount(self) -> None:
        options = ",".join(filter(None, [self.case.options, *(f"device={top}" for top in self.tops[1:])]))
        run("mount", "-t", self.case.fstype, "-o", options or "rw", self.tops[0], str(MOUNT))
        self.mark("mounted")

    def umount(self) -> None:
        run("umount", str(MOUNT))
        self.mark("unmounted")

    def crash(self) -> None:
        """The disk goes away under the file system, and comes back."""
        sectors = self.case.size * 2048
        swap_table("recorder-top-0", f"0 {sectors} error")
        run("umount", str(MOUNT))
        self.mark("unmounted")
        load_table("recorder-top-0", f"0 {sectors} linear {self.devices[0]} 0")

    def work(self, seed: int) -> None:
        directory = MOUNT / f"life-{seed}"
        directory.mkdir()
        Workload(str(directory), seed, SCALE).run()

    def fsyncs(self, size: int) -> None:
        """Many small ones: ext4 with fast_commit makes few full commits of them."""
        directory = MOUNT / "fsyncs"
        directory.mkdir(exist_ok=True)
        noise = random.Random(5)
        for i in range(300):
            with open(directory / f"f{i % 60}", "ab") as file:
                file.write(noise.randbytes(size))
                file.flush()
                os.fsync(file.fileno())
            if i % 7 == 0:
                os.rename(directory / f"f{i % 60}", directory / f"r{i % 60}")


@contextmanager
def recorded(
    case: Case, images: Sequence[Path], logs: Sequence[Path]
) -> Iterator[tuple[list[str], list[str]]]:
    """The devices of a Recorder: an image and a log, both new, for each."""
    sectors = case.size * 2048
    with ExitStack() as stack:
        devices: list[str] = []
        tops: list[str] = []
        for i, (image, log) in enumerate(zip(images, logs, strict=True)):
            for path, size in ((image, case.size * MIB), (log, LOG_SIZE)):
                with open(path, "wb") as file:
                    file.truncate(size)
            lower, writes = (stack.enter_context(attached(str(path))) for path in (image, log))
            devices.append(
                stack.enter_context(mapped(f"recorder-{i}", f"0 {sectors} log-writes {lower} {writes}"))
            )
            tops.append(
                stack.enter_context(mapped(f"recorder-top-{i}", f"0 {sectors} linear {devices[i]} 0"))
            )
        MOUNT.mkdir(parents=True, exist_ok=True)
        stack.callback(subprocess.run, ["umount", str(MOUNT)], capture_output=True)
        yield devices, tops
