# SPDX-License-Identifier: GPL-2.0
"""Names of flags as strace prints them, and their numbers on x86-64."""

from __future__ import annotations

import fcntl
import mmap
import os
import re
import socket
import stat

_MORE = {
    "AT_FDCWD": -100,
    "AT_SYMLINK_NOFOLLOW": 0x100,
    "AT_REMOVEDIR": 0x200,
    "AT_EACCESS": 0x200,
    "AT_SYMLINK_FOLLOW": 0x400,
    "AT_NO_AUTOMOUNT": 0x800,
    "AT_EMPTY_PATH": 0x1000,
    "AT_STATX_SYNC_AS_STAT": 0,
    "AT_STATX_FORCE_SYNC": 0x2000,
    "AT_STATX_DONT_SYNC": 0x4000,
    "NULL": 0,
    "O_LARGEFILE": 0,
    "O_TMPFILE": 0o20200000,
    "O_PATH": 0o10000000,
    "F_DUPFD_CLOEXEC": 1030,
    "F_SETPIPE_SZ": 1031,
    "CLONE_VM": 0x100,
    "CLONE_FS": 0x200,
    "CLONE_FILES": 0x400,
    "CLONE_SIGHAND": 0x800,
    "CLONE_PIDFD": 0x1000,
    "CLONE_PTRACE": 0x2000,
    "CLONE_VFORK": 0x4000,
    "CLONE_PARENT": 0x8000,
    "CLONE_THREAD": 0x10000,
    "CLONE_NEWNS": 0x20000,
    "CLONE_SYSVSEM": 0x40000,
    "CLONE_SETTLS": 0x80000,
    "CLONE_PARENT_SETTID": 0x100000,
    "CLONE_CHILD_CLEARTID": 0x200000,
    "CLONE_DETACHED": 0x400000,
    "CLONE_UNTRACED": 0x800000,
    "CLONE_CHILD_SETTID": 0x1000000,
    "CLONE_NEWUSER": 0x10000000,
    "CLONE_NEWPID": 0x20000000,
    "SIGCHLD": 17,
    "FALLOC_FL_KEEP_SIZE": 1,
    "FALLOC_FL_PUNCH_HOLE": 2,
    "FALLOC_FL_COLLAPSE_RANGE": 8,
    "FALLOC_FL_ZERO_RANGE": 16,
    "FALLOC_FL_INSERT_RANGE": 32,
    "FALLOC_FL_UNSHARE_RANGE": 64,
    "RENAME_NOREPLACE": 1,
    "RENAME_EXCHANGE": 2,
    "RENAME_WHITEOUT": 4,
    "CLOSE_RANGE_UNSHARE": 2,
    "CLOSE_RANGE_CLOEXEC": 4,
    "SEEK_SET": 0,
    "SEEK_CUR": 1,
    "SEEK_END": 2,
    "SEEK_DATA": 3,
    "SEEK_HOLE": 4,
    "MAP_FIXED": 16,
    "MAP_32BIT": 0x40,
    "MAP_FIXED_NOREPLACE": 0x100000,
    "PROT_NONE": 0,
    "MS_ASYNC": 1,
    "MS_INVALIDATE": 2,
    "MS_SYNC": 4,
    "POSIX_FADV_NORMAL": 0,
    "POSIX_FADV_RANDOM": 1,
    "POSIX_FADV_SEQUENTIAL": 2,
    "POSIX_FADV_WILLNEED": 3,
    "POSIX_FADV_DONTNEED": 4,
    "POSIX_FADV_NOREUSE": 5,
    "LOCK_SH": 1,
    "LOCK_EX": 2,
    "LOCK_NB": 4,
    "LOCK_UN": 8,
    "MFD_CLOEXEC": 1,
    "EFD_CLOEXEC": 0o2000000,
    "EPOLL_CLOEXEC": 0o2000000,
    "IN_CLOEXEC": 0o2000000,
    "TFD_CLOEXEC": 0o2000000,
    "SFD_CLOEXEC": 0o2000000,
}


def _collected() -> dict[str, int]:
    found: dict[str, int] = {}
    for module in (socket, mmap, stat, fcntl, os):
        for name, value in vars(module).items():
            if name.isupper() and isinstance(value, int):
                found[name] = int(value)
    return found | _MORE


NUMBERS = _collected()
_ONE = re.compile(r"-?(0x[0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)(?![\w.])")


def number(text: str) -> int:
    """What a word, a number, or several with "|" between them come to. A word that is not known is 0."""
    total = 0
    for part in text.split("|"):
        part = part.strip()
        if part in NUMBERS:
            total |= NUMBERS[part] if total >= 0 else 0
        elif found := _ONE.match(part):
            digits = found[0].lstrip("-")
            base = 16 if digits.startswith("0x") else 8 if digits.startswith("0") else 10
            total |= int(digits, base) * (-1 if found[0].startswith("-") else 1)
    return total


def words(value: int, prefix: str, known: tuple[str, ...]) -> str:
    """A number as flags: those of @known that it has, then what is left."""
    parts = []
    for name in known:
        bit = NUMBERS[prefix + name]
        if bit and value & bit == bit:
            parts.append(prefix + name)
            value &= ~bit
    if value or not parts:
        parts.append(hex(value) if value else "0")
    return "|".join(parts)
