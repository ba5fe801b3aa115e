# SPDX-License-Identifier: GPL-2.0
"""One request by io_uring, without a library: enough for commands that no system call has."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import struct
from typing import Self

SETUP, ENTER = 425, 426
IORING_ENTER_GETEVENTS = 1
IORING_OP_URING_CMD = 46
OFF_SQ_RING, OFF_CQ_RING, OFF_SQES = 0, 0x8000000, 0x10000000
BLOCK_URING_CMD_DISCARD = 0x1200
libc = ctypes.CDLL(None, use_errno=True)


class NoRing(Exception):
    """The kernel has no io_uring."""


class Ring:
    """Of one entry. struct io_uring_params: offsets of the rings' words in the kernel's answer."""

    def __init__(self) -> None:
        params = ctypes.create_string_buffer(120)
        self.fd = libc.syscall(SETUP, 1, params)
        if self.fd < 0:
            raise NoRing(os.strerror(ctypes.get_errno()))
        words = struct.unpack("30I", params.raw)
        self.sq_tail, self.sq_mask, self.sq_array = words[11], words[12], words[16]
        self.cq_head, self.cq_tail, self.cqes = words[20], words[21], words[25]
        self.sq = mmap.mmap(self.fd, self.sq_array + 4 * words[0], offset=OFF_SQ_RING)
        self.cq = mmap.mmap(self.fd, self.cqes + 16 * words[1], offset=OFF_CQ_RING)
        self.sqes = mmap.mmap(self.fd, 64 * words[0], offset=OFF_SQES)

    def close(self) -> None:
        for ring in (self.sq, self.cq, self.sqes):
            ring.close()
        os.close(self.fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, entry: bytes) -> int:
        """The result of one submission: what its system call would return, or a negative error."""
        self.sqes[0:64] = entry.ljust(64, b"\0")
        (tail,) = struct.unpack_from("=I", self.sq, self.sq_tail)
        struct.pack_into("=I", self.sq, self.sq_array, 0)
        struct.pack_into("=I", self.sq, self.sq_tail, tail + 1)
        if libc.syscall(ENTER, self.fd, 1, 1, IORING_ENTER_GETEVENTS, None, 0) < 0:
            return -ctypes.get_errno()
        (head,) = struct.unpack_from("=I", self.cq, self.cq_head)
        (result,) = struct.unpack_from("=i", self.cq, self.cqes + 8)
        struct.pack_into("=I", self.cq, self.cq_head, head + 1)
        return result


def discard(fd: int, offset: int, size: int) -> bool:
    """Discard part of the device @fd; False where the kernel has no such command."""
    entry = struct.pack("=BBHiQQ", IORING_OP_URING_CMD, 0, 0, fd, BLOCK_URING_CMD_DISCARD, offset)
    with Ring() as ring:
        result = ring.run(entry.ljust(48, b"\0") + struct.pack("=Q", size))
    if result in (-errno.EINVAL, -errno.EOPNOTSUPP, -errno.ENOTTY):
        return False
    if result < 0:
        raise OSError(-result, "discard by io_uring")
    return True
