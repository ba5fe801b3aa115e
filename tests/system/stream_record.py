#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Record every write of an ext file system's life, in order, with content. Runs in a lab.

dm-log-writes stands under the file system and writes a log into OUT/NAME.log; the disk itself stays behind
as OUT/NAME.img. Marks in the log tell what dm-log-writes cannot see: mounted, unmounted. The classifier's
stream test (test_streams.py) feeds both to `david-classify replay`.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import sys
from pathlib import Path

from helpers.guest import Failed, run
from streams.recorder import MOUNT, Recorder, recorded
from streams.stream_cases import CASES, Case

FS_IOC_ENABLE_VERITY = 0x40806685


class Life(Recorder):
    case: Case

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

    def live(self) -> None:
        top = self.tops[0]
        size = [f"{self.case.size // 2}M"] if self.has("resize") else []
        run("mke2fs", "-q", "-F", *self.case.mkfs, top, *size)
        self.mark("mkfs")
        self.mount()
        self.work(1)
        if self.has("verity"):
            self.verity()
        if self.has("fsync"):
            self.fsyncs(3000)
        self.umount()
        self.mount()
        if self.has("tune2fs"):
            run("tune2fs", "-j", top)
        self.work(2)
        if self.has("resize"):
            run("resize2fs", top)
            self.work(3)
        if self.has("crash"):
            if self.has("fsync"):
                self.fsyncs(3000)
            self.crash()
            if self.has("e2fsck"):
                run("e2fsck", "-fy", top, ok=(0, 1))
            self.mount()
            self.work(4)
        self.umount()


def record(name: str, out: Path) -> None:
    case = CASES[name]
    with recorded(case, [out / f"{name}.img"], [out / f"{name}.log"]) as (devices, tops):
        Life(case, devices, tops).live()


def tell(name: str, error: str) -> None:
    print("RESULT " + json.dumps({"case": name, "error": error}), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="+", metavar="NAME")
    args = parser.parse_args()
    failed = 0
    for name in args.names:
        try:
            record(name, args.out)
            tell(name, "")
        except (Failed, OSError) as error:
            failed = 1
            tell(name, str(error))
    return failed


if __name__ == "__main__":
    sys.exit(main())
