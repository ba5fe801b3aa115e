# SPDX-License-Identifier: GPL-2.0
"""Import of iBench's text, which ARTC reads: calls of Mac OS X's programs, as dtrace printed them.

A line is an event: [time]; [thread]; [entry, return or comment]; [call]; [arguments...]; [result];
Calls that Linux has not become what does the same. No trace was at hand: the order of the fields is that
in which ARTC takes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from . import tracefile
from .from_requests import Calls
from .tracefile import TraceFile

_THREAD = 0x10F00  # CLONE_VM, FS, FILES, SIGHAND, THREAD

# Of each call: what does it on Linux; what its fields are, one letter each: p a path, n a number, d a
# descriptor, w words of flags, c a command of fcntl, - nothing of use. The result follows.
_TABLE = {
    "open": ("open", "p-w----"),
    "shm_open": ("open", "p-"),
    "close": ("close", "d"),
    "dup": ("dup", "d"),
    "kqueue": ("epoll_create1", ""),
    "socket": ("socket", "nnn"),
    "socketpair": ("socketpair", "nnndd"),
    "read": ("read", "dn--"),
    "write": ("write", "dn--"),
    "pread": ("pread64", "dnn-"),
    "pwrite": ("pwrite64", "dnn-"),
    "aio_read": ("pread64", "-dnn--"),
    "lseek": ("lseek", "dnn"),
    "fsync": ("fsync", "d-"),
    "fcntl": ("fcntl", "d-nc-"),
    "ftruncate": ("ftruncate", "dn-"),
    "link": ("link", "pp"),
    "symlink": ("symlink", "pp"),
    "rmdir": ("rmdir", "p"),
    "unlink": ("unlink", "p"),
    "readlink": ("readlink", "pn-"),
    "rename": ("rename", "pp-----"),
    "exchangedata": ("renameat2", "pp--"),
    "mkdir": ("mkdir", "pn"),
    "flock": ("flock", "dn-"),
    "mmap": ("mmap", "nn--dnww"),
    "futimes": ("utimensat", "d"),
    "statfs": ("statfs", "p"),
    "statfs64": ("statfs", "p"),
    "fstatfs64": ("fstatfs", "d"),
    "fstat": ("fstat", "d"),
    "lstat": ("lstat", "p"),
    "stat": ("stat", "p"),
    "fstat64": ("fstat", "d"),
    "lstat64": ("lstat", "p"),
    "stat64": ("stat", "p"),
    "setattrlist": ("utimes", "p"),
    "getattrlist": ("stat", "p"),
    "getxattr": ("getxattr", "p"),
    "fgetxattr": ("fgetxattr", "d"),
    "listxattr": ("listxattr", "p"),
    "flistxattr": ("flistxattr", "d"),
    "access": ("access", "pn"),
    "chown": ("chown", "pnn"),
    "chmod": ("chmod", "pn"),
    "setxattr": ("setxattr", "p-"),
    "fsetxattr": ("fsetxattr", "d-"),
    "removexattr": ("removexattr", "p-"),
    "fremovexattr": ("fremovexattr", "d-"),
    "getdirentries64": ("getdents64", "d"),
    "getdirentriesattr": ("getdents64", "d"),
    "chdir": ("chdir", "p"),
    "fchdir": ("fchdir", "d"),
    "fchmod": ("fchmod", "dn"),
    "fchown": ("fchown", "dnn"),
}
# Calls that no call of Linux is like, or whose fields are not known: counted as unknown.
_UNLIKE = {
    *("aio_error", "aio_return", "aio_suspend", "kill", "utimes", "fchflags", "fsgetpath", "getfsstat64"),
    *("getdtablesize", "posix_spawn", "execve"),
}
# What the kernel or the tracer did besides a call.
_NO_CALLS = {
    *("controller", "resolver", "all_calls", "setter", "build_path", "namei", "vn_create", "syscall_map"),
    *("hfs_vnop_pagein", "vnode_pagein"),
}
_WORDS = {
    "O_RDONLY": 0,
    "O_WRONLY": 1,
    "O_RDWR": 2,
    "O_APPEND": 0o2000,
    "O_CREAT": 0o100,
    "O_EXCL": 0o200,
    "O_TRUNC": 0o1000,
    "O_NONBLOCK": 0o4000,
    "O_NOFOLLOW": 0o400000,
    "O_EVTONLY": 0,
    "O_EXLOCK": 0,
    "O_SHLOCK": 0,
    "PROT_READ": 1,
    "PROT_WRITE": 2,
    "PROT_EXEC": 4,
    "MAP_SHARED": 1,
    "MAP_PRIVATE": 2,
    "MAP_FIXED": 16,
    "MAP_NOCACHE": 0,
}
_FCNTL = {"F_DUPFD": 0, "F_GETFD": 1, "F_SETFD": 2, "F_GETFL": 3, "F_SETFL": 4, "F_SETLK": 6, "F_SETLKW": 7}
_LINKED = {"F_FULLFSYNC": "fsync", "F_PREALLOCATE": "fallocate"}  # other commands are advice


class Ibench:
    """All threads are of one process."""

    def __init__(self, trace: TraceFile, calls: Calls) -> None:
        self.trace = trace
        self._nr = {name: nr for nr, name, _, _ in calls}
        self.entered: dict[tuple[int, str], int] = {}  # when, by thread and call
        self._threads: list[int] = []

    def take(self, line: str) -> None:
        if not line:
            self.trace.account.has_none("blank lines")
            return
        if not (line.startswith("[") and line.endswith("];")):
            raise ValueError(line)
        time, thread, kind, *rest = line[1:-2].split("]; [")
        if kind == "comment" or rest[0] in _NO_CALLS:
            self.trace.account.has_none("comments")
            return
        key = (0 if thread == "N/A" else int(thread), rest[0])
        if kind == "entry":
            self.entered[key] = int(time)
        elif kind == "return":
            self._call(key[0], self.entered.pop(key), int(time), rest)
        else:
            raise ValueError(kind)

    def _begin(self, thread: int, time: int) -> None:
        if self._threads and thread not in self._threads:
            first = self._threads[0] + 1
            self.trace.record(tracefile.FORK, first, thread + 1, time, time, args=(_THREAD,))
        if thread not in self._threads:
            self._threads.append(thread)

    def _call(self, thread: int, start: int, end: int, fields: list[str]) -> None:
        name, *fields = fields
        if name in _UNLIKE:
            self._begin(thread, start)
            self.trace.call(thread + 1, tracefile.UNKNOWN, start, end, int(fields[-1], 0))
            return
        linux, letters = _TABLE[name]
        if len(fields) != len(letters) + 1:
            raise ValueError(fields)
        args: list[int] = []
        blobs: list[tracefile.Blob] = []
        for letter, field in zip(letters, fields, strict=False):
            if letter == "p":
                kind = tracefile.PATH2 if blobs else tracefile.PATH
                blobs.append((kind, field.encode(errors="surrogateescape")))
                args.append(0)
            elif letter == "w":
                args.append(sum(_WORDS[word] for word in field.split()))
            elif letter in "dn":
                args.append(int(field, 0))
            elif letter == "c":
                linux = _LINKED.get(field, linux if field in _FCNTL else "fadvise64")
                args.insert(1, _FCNTL.get(field, 0))
        result = int(fields[-1], 0)
        args, result = _as_linux_has_them(name, args, result)
        self._begin(thread, start)
        self.trace.call(thread + 1, self._nr[linux], start, end, result, tuple(args), 0, blobs)


def _as_linux_has_them(name: str, args: list[int], result: int) -> tuple[list[int], int]:
    if name in ("pread", "pwrite"):
        fd, count, offset = args
        args = [fd, 0, count, offset]
    elif name == "aio_read":
        fd, offset, count = args
        args, result = [fd, 0, count, offset], result or count
    elif name in ("read", "write"):
        args = [args[0], 0, args[1]]
    elif name == "exchangedata":
        args = [-100, 0, -100, 0, 2]  # AT_FDCWD, RENAME_EXCHANGE
    elif name == "mmap":
        address, length, fd, offset, prot, flags = args
        args = [address, length, prot, flags, fd, offset]
    elif name == "socketpair":
        args = args[:3]
    elif name == "shm_open":
        args = [*args, 2]
    return args, result


def ibench(trace: TraceFile, calls: Calls, lines: Iterable[str]) -> Iterator[None]:
    reader = Ibench(trace, calls)
    for line in lines:
        try:
            reader.take(line.strip())
        except (ValueError, IndexError, KeyError, TypeError):
            trace.misunderstood()
        yield
    trace.account.leave_out("calls that never returned", len(reader.entered))
