# SPDX-License-Identifier: GPL-2.0
"""Quotas as xfs has them (quotactl_fd(2)): limits, times of grace, what is used; projects of directories."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import struct
from collections.abc import Iterator

from helpers.randomops import libc
from helpers.raw import opened

KINDS = ("user", "group", "project")
Q_XSETQLIM, Q_XGETQSTAT, Q_XGETNEXTQUOTA = (ord("X") << 8) + 4, (ord("X") << 8) + 5, (ord("X") << 8) + 9
LIMITS, GRACE = 0b1111, 0b11000000  # FS_DQ_LIMIT_MASK without realtime's, FS_DQ_{B,I}TIMER
DQUOT = struct.Struct("=bbHI6QiiHHbbbb3QiHh8s")  # struct fs_disk_quota
STATE = struct.Struct("=bxHb3xQQI4xQQI4xIiiiHH4x")  # struct fs_quota_stat
FS_IOC_FSGETXATTR, FS_IOC_FSSETXATTR = 0x801C581F, 0x401C5820
PROJECT_INHERITED = 0x200
QUOTACTL_FD = 443


def quotactl(command: int, kind: str, top: str, number: int, buffer: bytearray) -> None:
    """Of the file system that is mounted there."""
    memory = (ctypes.c_char * len(buffer)).from_buffer(buffer)
    with opened(top, os.O_RDONLY) as fd:
        word, who = command << 8 | KINDS.index(kind), ctypes.c_uint32(number)
        if libc.syscall(ctypes.c_long(QUOTACTL_FD), fd, ctypes.c_uint32(word), who, memory):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), f"{kind} quota {number}")


def set_limits(top: str, kind: str, number: int, blocks: int, files: int) -> None:
    """Soft limits, in blocks of 512 bytes; the hard ones are twice that."""
    words = (1, 0, LIMITS, number, 2 * blocks, blocks, 2 * files, files, 0, 0)
    quotactl(Q_XSETQLIM, kind, top, number, bytearray(DQUOT.pack(*words, *[0] * 14, b"")))


def set_grace(top: str, kind: str, blocks: int, files: int) -> None:
    """How many seconds a soft limit may be passed."""
    words = (1, 0, GRACE, 0, 0, 0, 0, 0, 0, 0, files, blocks)
    quotactl(Q_XSETQLIM, kind, top, 0, bytearray(DQUOT.pack(*words, *[0] * 12, b"")))


def grace(top: str, kind: str) -> tuple[int, int]:
    state = bytearray(STATE.size)
    quotactl(Q_XGETQSTAT, kind, top, 0, state)
    fields = STATE.unpack(state)
    return fields[10], fields[11]


def entries(top: str, kind: str) -> Iterator[tuple[int, ...]]:
    """The quotas that are on the disk, by id."""
    number = 0
    while number < 1 << 32:
        entry = bytearray(DQUOT.size)
        try:
            quotactl(Q_XGETNEXTQUOTA, kind, top, number, entry)
        except OSError as error:
            if error.errno == errno.ENOENT:
                return
            raise
        fields = DQUOT.unpack(entry)
        yield fields
        number = fields[3] + 1


def report(top: str, used: tuple[str, ...] = ("blocks", "files")) -> list[str]:
    """A line for each kind's grace, and one for each id that has a limit, or that uses something of these.
    Blocks change at unmount, as what was allocated in advance is given back.
    """
    lines = []
    for kind in KINDS:
        lines.append("{} grace {} {}".format(kind, *grace(top, kind)))
        for fields in entries(top, kind):
            usage = [f"{fields[8 + ('blocks', 'files').index(what)]} {what}" for what in used]
            if used or any(fields[4:8]):
                lines.append(f"{kind} {fields[3]} limits {fields[4:8]} used {' '.join(usage)}")
    return lines


def set_project(directory: str, number: int) -> None:
    """Of a directory and of all that is made below it."""
    with opened(directory, os.O_RDONLY) as fd:
        fields = list(struct.unpack("5I8s", fcntl.ioctl(fd, FS_IOC_FSGETXATTR, bytes(28))))
        fields[0] |= PROJECT_INHERITED
        fields[3] = number
        fcntl.ioctl(fd, FS_IOC_FSSETXATTR, struct.pack("5I8s", *fields))
