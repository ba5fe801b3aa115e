#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Record every write of an ext file system's life, in order, with content. Runs in a lab.

dm-log-writes stands under the file system and writes a log into OUT/NAME.log; the disk itself stays behind
as OUT/NAME.img. Marks in the log tell what dm-log-writes cannot see: mounted, unmounted. The classifier's
stream test (test_streams.py) feeds both to `david-classify replay`.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import random
import subprocess
import sys
from pathlib import Path

from guest import Failed, attached, load_table, mapped, run, swap_table
from stream_cases import CASES, Case
from units import MIB
from workload import Scale, Workload

SCALE = Scale(150, 400, 8 * MIB, 2)
LOG_SIZE = 4 << 30
MOUNT = Path("/tmp/stream-mount")
FS_IOC_ENABLE_VERITY = 0x40806685


class Recorder:
    def __init__(self, case: Case, device: str) -> None:
        self.case = case
        self.device = device
        self.top = "/dev/mapper/stream-top"

    def mark(self, text: str) -> None:
        """Behind everything written so far: unflushed writes would come after the mark."""
        fd = os.open(self.device, os.O_RDWR)
        os.fsync(fd)
        os.close(fd)
        run("dmsetup", "message", "stream", "0", "mark", text)

    def mount(self, options: str = "") -> None:
        words = ["-t", self.case.fstype, "-o", ",".join(filter(None, [self.case.options, options])) or "rw"]
        run("mount", *words, self.top, str(MOUNT))
        self.mark("mounted")

    def umount(self) -> None:
        run("umount", str(MOUNT))
        self.mark("unmounted")

    def crash(self) -> None:
        """The disk goes away under the file system, and comes back."""
        sectors = int(run("blockdev", "--getsz", self.device))
        swap_table("stream-top", f"0 {sectors} error")
        run("umount", str(MOUNT))
        self.mark("unmounted")
        load_table("stream-top", f"0 {sectors} linear {self.device} 0")

    def work(self, seed: int) -> None:
        directory = MOUNT / f"life-{seed}"
        directory.mkdir()
        Workload(str(directory), seed, SCALE).run()

    def fast_commits(self) -> None:
        """Many small fsyncs: with fast_commit few of them are full commits."""
        directory = MOUNT / "fsyncs"
        directory.mkdir(exist_ok=True)
        noise = random.Random(5)
        for i in range(300):
            with open(directory / f"f{i % 60}", "ab") as file:
                file.write(noise.randbytes(3000))
                file.flush()
                os.fsync(file.fileno())
            if i % 7 == 0:
                os.rename(directory / f"f{i % 60}", directory / f"r{i % 60}")

    def verity(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        for i in range(4):
            path = MOUNT / f"verity-{i}"
            path.write_bytes(random.Random(i).randbytes((1 << 20) * (i + 1) + 77))
            argument = (ctypes.c_uint8 * 128)()
            argument[0] = 1  # version
            argument[4] = 1  # SHA-256
            ctypes.c_uint32.from_buffer(argument, 8).value = 4096
            fd = os.open(path, os.O_RDONLY)
            if libc.ioctl(fd, ctypes.c_ulong(FS_IOC_ENABLE_VERITY), argument):
                raise Failed(f"verity: {os.strerror(ctypes.get_errno())}")
            os.close(fd)

    def life(self) -> None:
        size = [f"{self.case.size // 2}M"] if "resize" in self.case.extra else []
        run("mke2fs", "-q", "-F", *self.case.mkfs, self.top, *size)
        self.mark("mkfs")
        self.mount()
        self.work(1)
        if "verity" in self.case.extra:
            self.verity()
        if "fsync" in self.case.extra:
            self.fast_commits()
        self.umount()
        self.mount()
        if "tune2fs" in self.case.extra:
            run("tune2fs", "-j", self.top)
        self.work(2)
        if "resize" in self.case.extra:
            run("resize2fs", self.top)
            self.work(3)
        if "crash" in self.case.extra:
            if "fsync" in self.case.extra:
                self.fast_commits()
            self.crash()
            if "e2fsck" in self.case.extra:
                run("e2fsck", "-fy", self.top, ok=(0, 1))
            self.mount()
            self.work(4)
        self.umount()


def record(name: str, out: Path) -> None:
    case = CASES[name]
    image, log = out / f"{name}.img", out / f"{name}.log"
    for path, size in ((image, case.size * MIB), (log, LOG_SIZE)):
        with open(path, "wb") as file:
            file.truncate(size)
    sectors = case.size * 2048
    with attached(str(image)) as lower, attached(str(log)) as writes:
        with mapped("stream", f"0 {sectors} log-writes {lower} {writes}") as device:
            with mapped("stream-top", f"0 {sectors} linear {device} 0"):
                Recorder(case, device).life()


def tell(name: str, error: str) -> None:
    print("RESULT " + json.dumps({"case": name, "error": error}), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="+", metavar="NAME")
    args = parser.parse_args()
    MOUNT.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in args.names:
        try:
            record(name, args.out)
            tell(name, "")
        except (Failed, OSError) as error:
            failed = 1
            tell(name, str(error))
            with contextlib.suppress(Exception):
                subprocess.run(["umount", str(MOUNT)])
    return failed


if __name__ == "__main__":
    sys.exit(main())
