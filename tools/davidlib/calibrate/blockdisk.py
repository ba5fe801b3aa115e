# SPDX-License-Identifier: GPL-2.0
"""A real drive, or what the kernel shows as one: direct I/O, and the times of its answers."""

from __future__ import annotations

import ctypes
import contextlib
import errno
import mmap
import os
import random
import stat
import subprocess
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from ..util import UserError
from .probe import FLUSH, FUA, READ, Answer, Request

LARGEST = 1 << 20  # bytes
SAMPLES = 256
PR_SET_TIMERSLACK = 29
WAYS_OUT = {
    errno.EBUSY: "it is mounted, or held by a partition, LVM, md or another program: take it out of use",
    errno.EACCES: "call it as root",
    errno.EPERM: "call it as root",
    errno.ENOENT: "there is no such device: see lsblk",
    errno.EROFS: "it is read-only: leave out --write",
}


def mounted_at(path: str, mountinfo: str = "/proc/self/mountinfo") -> str:
    """Where a disk or a partition of it is mounted; "" if it is not."""
    number = os.stat(path).st_rdev
    mine = f"{os.major(number)}:{os.minor(number)}"
    parts = Path(f"/sys/dev/block/{mine}").glob("*/dev")
    numbers = {mine, *(part.read_text().strip() for part in parts)}
    lines = [line.split() for line in Path(mountinfo).read_text().splitlines()]
    return next((fields[4] for fields in lines if fields[2] in numbers), "")


def _way_out(path: str, error: OSError) -> str:
    """Debian's kernels answer EPERM for a mounted disk, too, if it is to be opened for writing."""
    with contextlib.suppress(OSError):
        if stat.S_ISBLK(os.stat(path).st_mode) and (point := mounted_at(path)):
            return f"it is mounted on {point}: unmount it, or name another disk"
    if error.errno in (errno.EACCES, errno.EPERM) and not os.geteuid():
        return "not even root may: it is in use, or what this process runs in does not allow it"
    return WAYS_OUT.get(error.errno or 0, "")


def _buffer() -> mmap.mmap:
    return mmap.mmap(-1, LARGEST)


class BlockDisk:
    """Whole and by itself: O_EXCL keeps others from mounting it meanwhile."""

    def __init__(self, path: str, write: bool = False) -> None:
        self.path = path
        mode = os.stat(path).st_mode if os.path.exists(path) else 0
        if mode and not stat.S_ISBLK(mode):
            raise UserError(f"{path} is no block device: name a disk, such as /dev/sdb, or model:PROFILE")
        flags = os.O_DIRECT | os.O_EXCL | os.O_CLOEXEC | (os.O_RDWR if write else os.O_RDONLY)
        try:
            self.fd = os.open(path, flags)
        except OSError as error:
            way = _way_out(path, error)
            raise UserError(f"{path}: {error.strerror}{': ' if way else ''}{way}") from None
        self._buffers = threading.local()
        self._buffers.one = _buffer()
        self._zeros = _buffer()
        self.sectors = os.lseek(self.fd, 0, os.SEEK_END) // 512
        sys = Path(f"/sys/dev/block/{os.major(os.stat(path).st_rdev)}:{os.minor(os.stat(path).st_rdev)}")
        if not (sys / "queue").exists():
            self.close()
            raise UserError(f"{path} is a partition: name the whole disk")
        self.logical = int((sys / "queue/logical_block_size").read_text())
        self.physical = int((sys / "queue/physical_block_size").read_text())
        # Sleeps end when they are to, not some 50 us later with others.
        ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)

    def __enter__(self) -> BlockDisk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        os.close(self.fd)

    def need_blank(self) -> None:
        """--write writes zeros in places all over: nothing may be lost by that."""
        found = subprocess.run(["blkid", "-p", "-o", "value", "-s", "TYPE", "-s", "PTTYPE", self.path],
                               capture_output=True, text=True).stdout.split()
        if found:
            raise UserError(f"{self.path} is not blank: it holds {', '.join(found)}; {self._way_out()}")
        rnd, block = random.Random(0), 1 << 16
        last = (self.sectors * 512 - block) // 4096
        places = [0, 1, 2, 3, last * 4096 // block - 1]
        for place in [n * block for n in places] + [rnd.randrange(last) * 4096 for _ in range(SAMPLES)]:
            got = os.preadv(self.fd, [memoryview(self._buffers.one)[:block]], place)
            if any(self._buffers.one[:got]):
                raise UserError(f"{self.path} is not blank: byte {place} and on; {self._way_out()}")

    def _way_out(self) -> str:
        return f"leave out --write, or give up its content first: blkdiscard --zeroout {self.path}"

    def _ask(self, request: Request) -> Answer:
        if not hasattr(self._buffers, "one"):
            self._buffers.one = _buffer()
        buffer = self._buffers.one if request.op == READ else self._zeros
        data = [memoryview(buffer)[: request.sectors * 512]]
        start = time.monotonic_ns()
        try:
            if request.op == FLUSH:
                os.fdatasync(self.fd)
            elif request.op == READ:
                os.preadv(self.fd, data, request.sector * 512)
            else:
                os.pwritev(self.fd, data, request.sector * 512, os.RWF_DSYNC if request.flags & FUA else 0)
        except OSError as error:
            raise UserError(f"{self.path}: {error.strerror} at sector {request.sector}; a drive with bad "
                            "sectors cannot be measured") from None
        return Answer(start, time.monotonic_ns())

    def many(self, requests: Iterable[Request], at: int = 0) -> list[Answer]:
        wait = at - time.monotonic_ns()
        if wait > 0:
            time.sleep(wait / 1e9)
        return [self._ask(request) for request in requests]

    def deep(self, requests: list[Request], depth: int) -> list[Answer]:
        answers: list[Answer | None] = [None] * len(requests)
        failed: list[UserError] = []
        todo = iter(enumerate(requests))
        lock = threading.Lock()

        def work() -> None:
            try:
                while not failed:
                    with lock:
                        number, request = next(todo, (-1, None))
                    if request is None:
                        return
                    answers[number] = self._ask(request)
            except UserError as error:
                failed.append(error)

        threads = [threading.Thread(target=work) for _ in range(depth)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]
        return [answer for answer in answers if answer]
