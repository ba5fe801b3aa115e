# SPDX-License-Identifier: GPL-2.0
"""Small traces, each with an order that a replay must keep: two or three threads, some calls, exact times.

Times are steps of 100 us. A file is known by the number that the case gives it.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from davidlib.trace import program, tracefile

STEP = 100_000
THREAD = 0x10F00  # CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD
NEW, EXCL, TRUNC, APPEND = os.O_CREAT, os.O_CREAT | os.O_EXCL, os.O_CREAT | os.O_TRUNC, os.O_APPEND
REMOVEDIR = 0x200  # AT_REMOVEDIR
RW, DIRECTORY, TMPFILE = os.O_RDWR, os.O_DIRECTORY, 0o20200000
HERE = (1 << 64) - 100  # AT_FDCWD
FILE, DIR, LINK = stat.S_IFREG | 0o644, stat.S_IFDIR | 0o755, stat.S_IFLNK | 0o777


class Trace:
    """A trace in the making. Calls are given in the order in which they return."""

    def __init__(self) -> None:
        self._nr = {name: nr for nr, name, _, _ in program.calls()}
        self._file = tracefile.TraceFile("case")
        self._file.record(tracefile.TASK, 1, nr=1, entry=STEP, blobs=[(tracefile.CWD, b"/w")])
        self._frames: list[bytes] = []
        self.calls = 0

    def thread(self, tid: int, flags: int = THREAD, parent: int = 1, when: float = 0) -> None:
        time = STEP + int(when * STEP)
        self._file.record(tracefile.FORK, parent, nr=tid, entry=time, exit=time, args=(flags,))

    def call(
        self,
        who: tuple[int, float, float],
        name: str,
        result: int,
        *args: int,
        paths: tuple[str, ...] = (),
        ino: int = 0,
        mode: int = FILE,
        size: int = 0,
        links: int = 1,
        blobs: list[tracefile.Blob] | None = None,
        flags: int = 0,
    ) -> int:
        """By whom, from when, to when; the number of the call."""
        tid, start, end = who
        blobs = [*(blobs or [])]
        kinds = (tracefile.PATH, tracefile.PATH2)
        blobs += [(kind, path.encode()) for kind, path in zip(kinds, paths, strict=False)]
        if ino:
            attr = struct.pack("<QQQQQII", 1, ino, size, 0, 0, mode, links)
            before = name in ("unlink", "unlinkat", "rmdir", "close")
            blobs.append((tracefile.ATTR_BEFORE if before else tracefile.ATTR, attr))
        times = [STEP + int(time * STEP) for time in (start, end)]
        self._file.call(tid, self._nr[name], *times, result, args, flags, blobs)
        self.calls += 1
        self._frames += self._file.closed()
        return self.calls

    def touch(
        self,
        who: tuple[int, float, float],
        ino: int,
        page: int,
        write: int = 0,
        shared: int = 1,
        size: int = 0,
    ) -> None:
        """As eBPF records it: the first touch of a page of a mapped file. It has waited until the end."""
        tid, *times = who
        start, end = (STEP + int(time * STEP) for time in times)
        attr = struct.pack("<QQQQQII", 1, ino, size, 0, 0, FILE, 1)
        args = (4096 * page, write, shared, 0)
        self._file.record(
            tracefile.FAULT, tid, entry=start, exit=start, args=args, blobs=[(tracefile.ATTR, attr)]
        )
        if end > start:
            self._file.record(tracefile.WAITED, tid, entry=start, exit=end)

    def pages(
        self,
        tid: int,
        time: float,
        ino: int,
        runs: list[tuple[int, int]],
        path: str = "/w/f",
        written: int | None = None,
        shared: int = 1,
        writable: int = 1,
        size: int = 0,
    ) -> None:
        """As ptrace records them: pages that were found when the call at that time was made."""
        known = 0 if written is None else 2 + 4 * written
        start = STEP + int(time * STEP)
        attr = struct.pack("<QQQQQII", 1, ino, size, 0, 0, FILE, 1)
        blobs = [(tracefile.PATH, path.encode()), (tracefile.ATTR, attr)]
        blobs.append((tracefile.RUNS, b"".join(struct.pack("<II", *run) for run in runs)))
        args = (0, 0, 0, sum(count for _, count in runs), shared, writable + known)
        self._file.record(tracefile.PAGES, tid, entry=start, exit=start, args=args, blobs=blobs)

    def record(self, kind: int, tid: int, time: float, **more: Any) -> None:
        when = STEP + int(time * STEP)
        self._file.record(kind, tid, entry=when, exit=when, **more)

    def map(self, who, fd: int, pages: int, address: int = 1 << 40, shared: bool = True, offset: int = 0):
        return self.call(who, "mmap", address, 0, 4096 * pages, 3, 1 if shared else 2, fd, 4096 * offset)

    def exit(self, tid: int, time: float) -> None:
        self._file.record(tracefile.EXIT, tid, entry=STEP + int(time * STEP), exit=STEP + int(time * STEP))

    def finish(self, out: Path) -> None:
        names = {nr: name for name, nr in self._nr.items()}
        assert program.finish("-", out, iter([*self._frames, *self._file.end(names)]))

    # The calls that the cases are made of.
    def open(self, who, fd: int, path: str, flags: int = 0, ino: int = 0, size: int = 0, mode: int = FILE):
        return self.call(
            who, "openat", fd, HERE, 0, flags, 0o644, paths=(path,), ino=ino, size=size, mode=mode
        )

    def name(self, who, name: str, result: int, *paths: str, ino: int = 0, **more):
        return self.call(who, name, result, paths=paths, ino=ino, **more)

    def io(self, who, name: str, fd: int, length: int, offset: int = 0, result: int | None = None):
        return self.call(who, name, length if result is None else result, fd, 0, length, offset)


def at(tid: int, start: float, end: float) -> tuple[int, float, float]:
    return tid, start, end


CASES: dict[str, Callable[[Trace], None]] = {}


def case(build: Callable[[Trace], None]) -> Callable[[Trace], None]:
    CASES[build.__name__] = build
    return build


def two(t: Trace) -> None:
    """The second and third thread, of one process; the first has only begun."""
    t.thread(2)
    t.thread(3)


@case
def create_open(t: Trace) -> None:
    two(t)
    t.open(at(2, 1, 2), 3, "f", EXCL | RW, ino=9)
    t.open(at(3, 3, 4), 4, "f", ino=9)


@case
def write_read_through_another_descriptor(t: Trace) -> None:
    two(t)
    t.open(at(2, 1, 2), 3, "f", EXCL | RW, ino=9)
    t.open(at(3, 3, 4), 4, "f", ino=9)
    t.io(at(2, 5, 6), "pwrite64", 3, 100)
    t.io(at(3, 7, 8), "pread64", 4, 100)


@case
def rename_open(t: Trace) -> None:
    two(t)
    t.name(at(2, 1, 2), "rename", 0, "a", "b", ino=9)
    t.open(at(3, 3, 4), 4, "b", ino=9)
    t.open(at(3, 5, 6), -2, "a")


@case
def rename_of_a_parent(t: Trace) -> None:
    two(t)
    t.open(at(3, 1, 2), 4, "d/f", ino=9)
    t.name(at(2, 3, 4), "rename", 0, "d", "e", ino=8, mode=DIR)
    t.open(at(3, 5, 6), 5, "e/f", ino=9)
    t.open(at(2, 7, 8), -2, "d/f")


@case
def a_directory_moves_that_another_thread_keeps_open(t: Trace) -> None:
    """A replayer keeps it from the second time on; no name in it is to be found or made after that."""
    two(t)
    t.name(at(2, 1, 2), "symlink", 0, "one", "d/s", ino=20, mode=LINK)
    for i in range(3):
        t.call(at(3, 3 + i, 3.5 + i), "readlink", 3, 0, 0, 100, paths=("d/s",), ino=20, mode=LINK)
    t.open(at(3, 7, 8), 4, "d/f", EXCL | RW, ino=21)
    t.name(at(2, 9, 10), "rename", 0, "d", "e", ino=8, mode=DIR)
    t.call(at(3, 11, 12), "readlink", -2, 0, 0, 100, paths=("d/s",))
    t.open(at(3, 13, 14), -2, "d/f")
    t.open(at(3, 15, 16), -2, "d/g", NEW | RW)
    t.name(at(3, 17, 18), "stat", -2, "d/f")
    t.name(at(3, 19, 20), "mkdir", -2, "d/n")
    t.call(at(3, 21, 22), "readlink", 3, 0, 0, 100, paths=("e/s",), ino=20, mode=LINK)
    t.name(at(3, 23, 24), "stat", 0, "e/f", ino=21)


@case
def two_directories_change_places_under_another_thread(t: Trace) -> None:
    two(t)
    for i, (name, ino) in enumerate((("d", 8), ("e", 9))):
        t.name(at(2, i, i + 0.5), "mkdir", 0, name, ino=ino, mode=DIR)
    t.open(at(2, 2, 3), 3, "d/f", EXCL | RW, ino=20)
    for i in range(3):
        t.name(at(3, 4 + i, 4.5 + i), "stat", 0, "d/f", ino=20)
        t.name(at(3, 4.5 + i, 5 + i), "stat", -2, "e/f")
    t.call(at(2, 8, 9), "renameat2", 0, HERE, 0, HERE, 0, 2, paths=("d", "e"), ino=8, mode=DIR)
    t.name(at(3, 10, 11), "stat", -2, "d/f")
    t.name(at(3, 12, 13), "stat", 0, "e/f", ino=20)
    t.open(at(3, 14, 15), 4, "d/f", EXCL | RW, ino=21)


@case
def a_link_takes_the_place_of_a_file_in_a_directory_that_is_open(t: Trace) -> None:
    """What was found there in one step leads on then."""
    two(t)
    t.open(at(2, 0, 0.5), 3, "d/one", EXCL | RW, ino=20)
    t.io(at(2, 0.5, 1), "pwrite64", 3, 50)
    t.open(at(2, 1, 2), 4, "d/l", EXCL | RW, ino=21)
    for i in range(3):
        t.name(at(3, 3 + i, 3.5 + i), "stat", 0, "d/l", ino=21)
    t.name(at(2, 7, 8), "unlink", 0, "d/l", ino=21)
    t.name(at(2, 8, 9), "symlink", 0, "one", "d/l", ino=22, mode=LINK)
    t.open(at(3, 10, 11), 5, "d/l", ino=20)
    t.io(at(3, 11, 12), "pread64", 5, 100, result=50)
    t.name(at(2, 13, 14), "unlink", 0, "d/one", ino=20)
    t.name(at(3, 15, 16), "stat", -2, "d/l")
    t.name(at(3, 17, 18), "lstat", 0, "d/l", ino=22, mode=LINK)


@case
def a_link_on_the_way_gets_another_target(t: Trace) -> None:
    """No directory behind a link stays open: it would be the old one."""
    two(t)
    t.open(at(2, 0, 1), 3, "d/f", EXCL | RW, ino=20)
    t.name(at(2, 1, 2), "mkdir", 0, "e", ino=9, mode=DIR)
    t.name(at(2, 2, 3), "symlink", 0, "d", "l", ino=21, mode=LINK)
    for i in range(3):
        t.name(at(3, 4 + i, 4.5 + i), "stat", 0, "l/f", ino=20)
    t.name(at(2, 8, 9), "unlink", 0, "l", ino=21, mode=LINK)
    t.name(at(2, 9, 10), "symlink", 0, "e", "l", ino=22, mode=LINK)
    t.name(at(3, 11, 12), "stat", -2, "l/f")
    t.open(at(3, 13, 14), 4, "l/f", EXCL | RW, ino=23)


@case
def a_symbolic_link_gets_another_target(t: Trace) -> None:
    two(t)
    t.open(at(2, 0, 0.5), 7, "one", EXCL, ino=8)
    t.name(at(2, 1, 2), "symlink", 0, "one", "s", ino=20, mode=LINK)
    t.open(at(3, 3, 4), 4, "s", ino=8)
    t.name(at(2, 5, 6), "unlink", 0, "s", ino=20, mode=LINK)
    t.name(at(2, 6, 7), "symlink", 0, "two", "s", ino=21, mode=LINK)
    t.open(at(3, 8, 9), -2, "s")


@case
def removed_and_made_again(t: Trace) -> None:
    two(t)
    t.open(at(2, 1, 2), 3, "f", EXCL | RW, ino=9)
    t.name(at(3, 3, 4), "unlink", 0, "f", ino=9)
    t.open(at(2, 5, 6), 5, "f", EXCL | RW, ino=10)


@case
def removed_and_made_again_if_it_is_not_there(t: Trace) -> None:
    two(t)
    t.open(at(2, 1, 2), 3, "f", NEW | RW, ino=9)
    t.io(at(2, 2, 3), "pwrite64", 3, 50)
    t.name(at(3, 4, 5), "unlink", 0, "f", ino=9)
    t.open(at(2, 6, 7), 5, "f", NEW | RW, ino=10)
    t.io(at(3, 8, 9), "pread64", 5, 50, result=0)


@case
def written_by_one_name_read_by_another(t: Trace) -> None:
    two(t)
    t.open(at(2, 1, 2), 3, "f", EXCL | RW, ino=9)
    t.name(at(2, 2, 3), "link", 0, "f", "g", ino=9, links=2)
    t.open(at(3, 4, 5), 4, "g", ino=9)
    t.io(at(2, 6, 7), "pwrite64", 3, 10)
    t.io(at(3, 8, 9), "pread64", 4, 10)


@case
def two_descriptors_have_one_offset(t: Trace) -> None:
    two(t)
    t.open(at(2, 1, 2), 3, "old", ino=7, size=150)
    t.call(at(2, 2, 3), "dup", 4, 3)
    t.io(at(2, 4, 5), "read", 3, 100)
    t.io(at(3, 6, 7), "read", 4, 100, result=50)


@case
def a_descriptor_number_is_used_again(t: Trace) -> None:
    two(t)
    t.open(at(2, 1, 2), 3, "old", ino=7, size=150)
    t.call(at(2, 3, 4), "close", 0, 3)
    t.open(at(3, 5, 6), 3, "f", EXCL | RW, ino=9)
    t.io(at(2, 7, 8), "pread64", 3, 100, result=0)


@case
def an_offset_is_inherited(t: Trace) -> None:
    t.open(at(1, 1, 2), 3, "old", ino=7, size=150)
    t.thread(2, flags=0)
    t.io(at(2, 3, 4), "read", 3, 100)
    t.io(at(1, 5, 6), "read", 3, 100, result=50)


@case
def the_last_of_two_processes_closes(t: Trace) -> None:
    t.open(at(1, 1, 2), 3, "f", EXCL | RW, ino=9)
    t.thread(2, flags=0)
    t.call(at(1, 3, 4), "close", 0, 3)
    t.io(at(2, 5, 6), "pwrite64", 3, 10)
    t.call(at(2, 7, 8), "close", 0, 3)


@case
def another_reads_and_closes_while_the_last_closes(t: Trace) -> None:
    """Its close returned later, so the other's was not the last, and the descriptor was there until then."""
    t.open(at(1, 1, 2), 3, "old", ino=7, size=150)
    t.thread(2, flags=0)
    t.io(at(2, 4, 5), "pread64", 3, 100)
    t.call(at(2, 6, 7), "close", 0, 3)
    t.call(at(1, 3, 8), "close", 0, 3)


@case
def opened_from_a_directory_that_moves(t: Trace) -> None:
    two(t)
    t.open(at(2, 1, 2), 3, "d", DIRECTORY, ino=8, mode=DIR)
    t.name(at(3, 3, 4), "rename", 0, "d", "e", ino=8, mode=DIR)
    t.call(at(2, 5, 6), "openat", 4, 3, 0, EXCL | RW, 0o644, paths=("f",), ino=9)
    t.open(at(3, 7, 8), 5, "e/f", ino=9)


@case
def the_working_directory_is_shared(t: Trace) -> None:
    two(t)
    t.name(at(2, 1, 2), "mkdir", 0, "n", ino=8, mode=DIR)
    t.name(at(2, 2, 3), "chdir", 0, "n", blobs=[(tracefile.CWD, b"/w/n")])
    t.open(at(3, 4, 5), 4, "f", EXCL, ino=9)
    t.open(at(2, 6, 7), 5, "/w/n/f", ino=9)


@case
def a_directory_is_made_removed_made(t: Trace) -> None:
    two(t)
    t.name(at(2, 1, 2), "mkdir", 0, "n", ino=8, mode=DIR)
    t.name(at(3, 3, 4), "rmdir", 0, "n", ino=8, mode=DIR)
    t.name(at(2, 5, 6), "mkdir", 0, "n", ino=9, mode=DIR)


@case
def a_directory_is_emptied_and_removed(t: Trace) -> None:
    two(t)
    t.name(at(2, 1, 2), "mkdir", 0, "n", ino=8, mode=DIR)
    t.open(at(2, 2, 3), 3, "n/f", EXCL, ino=9)
    t.name(at(3, 4, 5), "rmdir", -39, "n")
    t.name(at(2, 6, 7), "unlink", 0, "n/f", ino=9)
    t.name(at(3, 8, 9), "rmdir", 0, "n", ino=8, mode=DIR)


@case
def a_directory_is_emptied_and_removed_by_unlinkat(t: Trace) -> None:
    """As rm -r does: the one call is of names and of directories."""
    two(t)
    t.name(at(2, 1, 2), "mkdir", 0, "n", ino=8, mode=DIR)
    t.open(at(2, 2, 3), 3, "n/f", EXCL, ino=9)
    t.call(at(3, 4, 5), "unlinkat", -39, HERE, 0, REMOVEDIR, paths=("n",))
    t.call(at(2, 6, 7), "unlinkat", 0, HERE, 0, 0, paths=("n/f",), ino=9)
    t.call(at(3, 8, 9), "unlinkat", 0, HERE, 0, REMOVEDIR, paths=("n",), ino=8, mode=DIR)


@case
def a_directory_is_emptied_and_replaced(t: Trace) -> None:
    two(t)
    t.name(at(2, 1, 2), "mkdir", 0, "n", ino=8, mode=DIR)
    t.name(at(3, 1, 2), "mkdir", 0, "m", ino=10, mode=DIR)
    t.open(at(2, 2, 3), 3, "n/f", EXCL, ino=9)
    t.name(at(3, 4, 5), "rename", -39, "m", "n")
    t.name(at(2, 6, 7), "unlink", 0, "n/f", ino=9)
    t.name(at(3, 8, 9), "rename", 0, "m", "n", ino=10, mode=DIR)


@case
def truncate_read(t: Trace) -> None:
    two(t)
    t.open(at(2, 1, 2), 3, "f", EXCL | RW, ino=9)
    t.io(at(2, 2, 3), "pwrite64", 3, 100)
    t.io(at(3, 4, 5), "pread64", 3, 100)
    t.call(at(2, 6, 7), "ftruncate", 0, 3, 10)
    t.io(at(3, 8, 9), "pread64", 3, 100, result=10)


@case
def two_threads_append(t: Trace) -> None:
    two(t)
    t.open(at(2, 1, 2), 3, "f", EXCL | RW | APPEND, ino=9)
    t.io(at(2, 3, 4), "write", 3, 10)
    t.io(at(3, 5, 6), "write", 3, 20)
    t.call(at(2, 7, 8), "lseek", 30, 3, 0, 2)


@case
def a_file_without_a_name_gets_one(t: Trace) -> None:
    two(t)
    t.open(at(2, 1, 2), 3, ".", TMPFILE | RW, ino=9)
    t.call(at(2, 3, 4), "linkat", 0, HERE, 0, HERE, 0, 0x400, paths=("/proc/self/fd/3", "g"), ino=9)
    t.open(at(3, 5, 6), 4, "g", ino=9)


@case
def two_names_change_places(t: Trace) -> None:
    two(t)
    t.open(at(2, 0, 1), 3, "a", EXCL | RW, ino=8)
    t.open(at(2, 1, 2), 4, "b", EXCL | RW, ino=9)
    t.io(at(2, 2, 3), "pwrite64", 4, 7)
    t.call(at(2, 3, 4), "renameat2", 0, HERE, 0, HERE, 0, 2, paths=("a", "b"), ino=8)
    t.open(at(3, 5, 6), 5, "a", ino=9)
    t.io(at(3, 6, 7), "pread64", 5, 10, result=7)


@case
def a_pipe_between_processes(t: Trace) -> None:
    t.call(at(1, 1, 2), "pipe", 0, 0, blobs=[(tracefile.FDS, struct.pack("<II", 3, 4))])
    t.thread(2, flags=0)
    t.io(at(1, 5, 6), "write", 4, 10)
    t.io(at(2, 3, 7), "read", 3, 100, result=10)


def ends(*fds: int) -> list[tuple[int, bytes]]:
    """The descriptors of a pipe or of a socketpair."""
    return [(tracefile.FDS, struct.pack("<II", *fds))]


@case
def the_reader_of_a_pipe_goes_after_what_was_written(t: Trace) -> None:
    t.call(at(1, 1, 2), "pipe", 0, 0, blobs=ends(3, 4))
    t.thread(2)
    t.io(at(2, 3, 4), "write", 4, 10)
    t.call(at(1, 5, 6), "close", 0, 3)


@case
def the_reader_of_a_pipe_goes_while_somebody_writes(t: Trace) -> None:
    """What was written has found a reader, though that was said later."""
    t.call(at(1, 1, 2), "pipe", 0, 0, blobs=ends(3, 4))
    t.thread(2, flags=0)
    t.call(at(2, 2, 3), "close", 0, 3)
    t.io(at(1, 4, 5), "read", 3, 10)
    t.call(at(1, 6, 7), "close", 0, 3)
    t.io(at(2, 3.5, 8), "write", 4, 10)
    t.io(at(2, 9, 10), "write", 4, 10, result=-32)


@case
def one_end_of_a_socketpair_goes_first(t: Trace) -> None:
    """Its writer hears nothing of that; who reads the other end does."""
    t.call(at(1, 1, 2), "socketpair", 0, 1, 1, 0, 0, blobs=ends(3, 4))
    t.thread(2)
    t.io(at(2, 2, 7), "write", 4, 10)
    t.call(at(1, 3, 4), "close", 0, 3)
    t.io(at(2, 8, 9), "read", 4, 10, result=0)
    t.call(at(2, 10, 11), "close", 0, 4)


@case
def a_socket_says_that_no_more_comes(t: Trace) -> None:
    t.call(at(1, 1, 2), "socketpair", 0, 1, 1, 0, 0, blobs=ends(3, 4))
    t.thread(2)
    t.io(at(1, 3, 4), "write", 3, 10)
    t.call(at(1, 5, 6), "shutdown", 0, 3, 1)
    t.io(at(2, 2, 7), "read", 4, 100, result=10)
    t.io(at(2, 8, 9), "read", 4, 100, result=0)
    t.io(at(2, 9, 10), "write", 4, 20)
    t.io(at(1, 7, 11), "read", 3, 100, result=20)


def messages(*lengths: int) -> list[tuple[int, bytes]]:
    """What a call of several messages carries."""
    return [(tracefile.MESSAGES, struct.pack(f"<{len(lengths)}I", *lengths))]


@case
def several_messages_a_call_each_with_its_end(t: Trace) -> None:
    """Of datagrams: what is read of one is gone with it. Who looks only takes nothing."""
    t.call(at(1, 1, 2), "socketpair", 0, 1, 2, 0, 0, blobs=ends(3, 4))
    t.thread(2)
    t.call(at(1, 5, 6), "sendmmsg", 3, 3, 0, 3, 0, blobs=messages(100, 20, 300))
    t.call(at(2, 3, 7), "recvmmsg", 1, 4, 0, 9, 2, 0, blobs=messages(100))
    t.call(at(2, 8, 9), "recvmmsg", 2, 4, 0, 9, 0, 0, blobs=messages(100, 7))
    t.io(at(2, 10, 11), "read", 4, 1000, result=300)
    t.open(at(2, 12, 13), 5, "f", EXCL | RW, ino=9)
    t.name(at(1, 14, 15), "unlink", 0, "f", ino=9)


@case
def the_last_of_several_messages_is_the_end(t: Trace) -> None:
    t.call(at(1, 1, 2), "socketpair", 0, 1, 1, 0, 0, blobs=ends(3, 4))
    t.thread(2, flags=0)
    t.call(at(2, 2.2, 2.3), "close", 0, 3)
    t.call(at(1, 2.5, 2.7), "close", 0, 4)
    t.call(at(1, 3, 4), "sendmmsg", 2, 3, 0, 2, 0, blobs=messages(10, 20))
    t.call(at(1, 5, 6), "close", 0, 3)
    t.call(at(2, 2.5, 7), "recvmmsg", 3, 4, 0, 3, 0, 0, blobs=messages(10, 20, 0))
    t.name(at(2, 8, 9), "mkdir", 0, "d", ino=8, mode=DIR)
    t.name(at(1, 10, 11), "rmdir", 0, "d", ino=8, mode=DIR)
    t.call(at(1, 12, 13), "read", -9, 3, 0, 10)


@case
def an_exec_closes_at_one_instant(t: Trace) -> None:
    """So its maker learns that it went well: by the end of a pipe, which it closes itself then."""
    t.call(at(1, 1, 2), "pipe2", 0, 0, os.O_CLOEXEC, blobs=ends(3, 4))
    t.thread(2, flags=0)
    t.name(at(2, 2.1, 2.2), "stat", -2, "none")  # it is there, and has both ends
    t.call(at(1, 2.5, 3), "close", 0, 4)
    t.io(at(1, 4, 6), "read", 3, 1, result=0)
    t.call(at(1, 7, 8), "close", 0, 3)
    t.call(at(2, 3, 10), "execve", 0, 0, 0, 0, paths=("p",), ino=9)
    t.name(at(2, 11, 12), "unlink", 0, "p", ino=9)


@case
def two_copy_from_pipe_to_pipe(t: Trace) -> None:
    """tee() leaves it where it is, splice() takes it along, vmsplice() puts memory there."""
    t.call(at(1, 1, 2), "pipe", 0, 0, blobs=ends(3, 4))
    t.call(at(1, 2, 3), "pipe", 0, 0, blobs=ends(5, 6))
    t.thread(2)
    t.call(at(1, 4, 5), "vmsplice", 100, 4, 0, 1, 0)
    t.call(at(2, 4, 6), "tee", 100, 3, 6, 4096, 0)
    t.call(at(2, 7, 8), "splice", 100, 3, 0, 6, 0, 4096, 0)
    t.call(at(1, 9, 10), "close", 0, 4)
    t.call(at(2, 9, 11), "splice", 0, 3, 0, 6, 0, 4096, 0)
    t.call(at(2, 12, 13), "close", 0, 6)
    t.io(at(1, 11, 14), "read", 5, 4096, result=200)
    t.io(at(1, 15, 16), "read", 5, 4096, result=0)


@case
def a_descriptor_is_opened_by_its_name(t: Trace) -> None:
    t.call(at(1, 1, 2), "pipe", 0, 0, blobs=ends(3, 4))
    t.thread(2)
    t.open(at(1, 2, 3), 5, "/dev/fd/4", os.O_WRONLY, ino=20, mode=stat.S_IFIFO | 0o600)
    t.call(at(1, 3, 4), "close", 0, 4)
    t.io(at(1, 5, 6), "write", 5, 30)
    t.call(at(1, 6, 7), "close", 0, 5)
    t.io(at(2, 2, 8), "read", 3, 100, result=30)
    t.io(at(2, 9, 10), "read", 3, 100, result=0)


FIFO = stat.S_IFIFO | 0o600


@case
def a_fifo_lets_in_who_has_another_side(t: Trace) -> None:
    """The reader is there first; its second time it waits for the second writer."""
    t.call(at(1, 1, 2), "mknod", 0, 0, FIFO, 0, paths=("q",), ino=20, mode=FIFO)
    t.thread(2, flags=0)
    t.name(at(2, 2, 2.5), "stat", -2, "x")
    t.open(at(1, 4, 5), 3, "q", os.O_WRONLY, ino=20, mode=FIFO)
    t.open(at(2, 3, 6), 3, "q", ino=20, mode=FIFO)
    t.io(at(1, 6, 7), "write", 3, 10)
    t.call(at(1, 7, 8), "close", 0, 3)
    t.io(at(2, 7, 9), "read", 3, 100, result=10)
    t.io(at(2, 9, 10), "read", 3, 100, result=0)
    t.call(at(2, 11, 12), "close", 0, 3)
    t.open(at(1, 13, 15), 3, "q", os.O_WRONLY, ino=20, mode=FIFO)
    t.open(at(2, 14, 16), 3, "q", ino=20, mode=FIFO)
    t.call(at(1, 17, 18), "close", 0, 3)
    t.io(at(2, 17, 19), "read", 3, 100, result=0)


@case
def waited_for_before_its_end_was_seen(t: Trace) -> None:
    t.thread(2, flags=0)
    t.open(at(2, 2, 3), 3, "f", EXCL | RW, ino=9)
    t.call(at(1, 1, 5), "wait4", 2, -1, 0, 0, 0)
    t.exit(2, 6)
    t.name(at(1, 7, 8), "unlink", 0, "f", ino=9)


@case
def the_end_of_a_process_is_in_the_trace_behind_its_successor(t: Trace) -> None:
    """Who comes later may have the thread of who has ended, but not before it has closed its pipe."""
    t.call(at(1, 1, 2), "pipe", 0, 0, blobs=ends(3, 4))
    for tid in (2, 3):
        t.thread(tid, flags=0, when=tid)
        t.call(at(1, tid, tid + 0.2), "clone", tid, 0)
    for tid in (1, 3):
        t.call(at(tid, 3.4, 3.5), "close", 0, 4)
    t.io(at(2, 3.6, 4), "write", 4, 10)
    t.io(at(3, 3.6, 4.2), "read", 3, 10)
    t.io(at(3, 4.5, 5.5), "read", 3, 10, result=0)
    t.thread(4, flags=0, parent=3, when=6)
    t.call(at(3, 6, 6.5), "clone", 4, 0)
    t.call(at(2, 5, 5), "exit_group", 0, 0, flags=1)
    t.exit(2, 5)
    t.open(at(4, 7, 8), 5, "f", EXCL, ino=9)


@case
def a_pipe_is_made_while_another_thread_makes_a_process(t: Trace) -> None:
    """That process has its parent's descriptors of before. It ends after what comes after the pipe's end."""
    t.thread(2)
    t.thread(3, flags=0, when=1)
    t.call(at(2, 2, 3), "pipe", 0, 0, blobs=ends(3, 4))
    t.call(at(1, 1, 5), "clone", 3, 0)
    t.call(at(2, 6, 7), "close", 0, 4)
    t.io(at(1, 8, 9), "read", 3, 10, result=0)
    t.open(at(1, 10, 11), 5, "f", EXCL, ino=9)
    t.open(at(3, 12, 13), 5, "f", ino=9)
    t.exit(3, 14)


@case
def who_inherits_a_pipe_comes_after_it(t: Trace) -> None:
    """Another thread has made it than the one that makes the process, which lets go of it at its end."""
    t.thread(2)
    t.call(at(2, 1, 2), "pipe", 0, 0, blobs=ends(3, 4))
    t.thread(3, flags=0, when=3)
    t.call(at(1, 3, 3.5), "clone", 3, 0)
    t.exit(3, 4)
    t.call(at(2, 5, 6), "close", 0, 4)
    t.io(at(2, 7, 8), "read", 3, 10, result=0)


@case
def waited_for_by_waitid_before_its_end_was_seen(t: Trace) -> None:
    t.thread(2, flags=0)
    t.open(at(2, 2, 3), 3, "f", EXCL | RW, ino=9)
    t.call(at(1, 1, 5), "waitid", 0, 1, 2, 0, 4, 0)
    t.exit(2, 6)
    t.name(at(1, 7, 8), "unlink", 0, "f", ino=9)


@case
def waited_for_by_waitid_that_names_nobody(t: Trace) -> None:
    """It has said who it was. By the descriptor of a process, without asking, the tracer has looked."""
    t.thread(2, flags=0)
    t.open(at(2, 2, 3), 3, "f", EXCL | RW, ino=9)
    t.call(at(1, 1, 5), "waitid", 0, 0, 0, 4096, 4, 0, blobs=[(tracefile.CHILD, struct.pack("<I", 2))])
    t.exit(2, 6)
    t.name(at(1, 7, 8), "unlink", 0, "f", ino=9)
    t.thread(3, flags=0)
    t.open(at(3, 9, 10), 3, "g", EXCL | RW, ino=10)
    t.call(at(1, 8.5, 11), "waitid", 0, 3, 7, 0, 4, 0, blobs=[(tracefile.CHILD, struct.pack("<I", 3))])
    t.exit(3, 12)
    t.name(at(1, 13, 14), "unlink", 0, "g", ino=10)


@case
def woken_by_a_futex(t: Trace) -> None:
    two(t)
    t.open(at(2, 2, 3), 3, "f", EXCL | RW, ino=9)
    t.call(at(2, 4, 5), "futex", 1, 4096, 1, 1)
    t.call(at(3, 1, 6), "futex", 0, 4096, 0, 0)
    t.open(at(3, 7, 8), 4, "f", ino=9)


@case
def woken_by_a_call_that_returns_later(t: Trace) -> None:
    two(t)
    t.open(at(2, 2, 3), 3, "f", EXCL | RW, ino=9)
    t.call(at(3, 1, 6), "futex", 0, 4096, 0, 0)
    t.call(at(2, 4, 7), "futex", 1, 4096, 1, 1)
    t.open(at(3, 8, 9), 4, "f", ino=9)


@case
def joined(t: Trace) -> None:
    """The kernel wakes who waits: the futex has the number of the thread that ends."""
    two(t)
    t.open(at(3, 2, 3), 3, "f", EXCL | RW, ino=9)
    t.exit(3, 4)
    t.call(at(2, 1, 5), "futex", 0, 4096, 265, 3, 0, 0, 0xFFFFFFFF)
    t.name(at(2, 6, 7), "rename", 0, "f", "g", ino=9)


@case
def waited_for_at_its_exit(t: Trace) -> None:
    t.thread(2, flags=0)
    t.open(at(2, 2, 3), 3, "f", EXCL | RW, ino=9)
    t.exit(2, 4)
    t.call(at(1, 1, 5), "wait4", 2, -1, 0, 0, 0)
    t.name(at(1, 6, 7), "unlink", 0, "f", ino=9)


@case
def a_lock_is_handed_over(t: Trace) -> None:
    two(t)
    t.open(at(2, 0, 1), 3, "f", EXCL | RW, ino=9)
    t.open(at(3, 1, 2), 4, "f", ino=9)
    t.call(at(2, 2, 3), "flock", 0, 3, 2)
    t.io(at(2, 4, 5), "pwrite64", 3, 10)
    t.call(at(2, 6, 7), "flock", 0, 3, 8)
    t.call(at(3, 3, 8), "flock", 0, 4, 2)
    t.io(at(3, 9, 10), "pread64", 4, 10)


@case
def control_blocks(t: Trace) -> None:
    """What is submitted is not replayed; the order of the calls is."""
    two(t)
    t.call(at(2, 1, 2), "io_setup", 0, 64, 0)
    t.open(at(2, 2, 3), 3, "f", EXCL | RW, ino=9)
    t.call(at(3, 4, 5), "io_submit", 1, 64, 1, 0)
    t.open(at(3, 6, 7), 4, "f", ino=9)


@case
def mapped_and_read(t: Trace) -> None:
    two(t)
    t.open(at(2, 1, 2), 3, "f", EXCL | RW, ino=9)
    t.call(at(2, 2, 3), "ftruncate", 0, 3, 8192)
    t.call(at(2, 4, 5), "mmap", 1 << 40, 0, 8192, 3, 1, 3, 0)
    t.io(at(3, 6, 7), "pread64", 3, 8192)


@case
def mapped_by_one_touched_by_another(t: Trace) -> None:
    two(t)
    t.open(at(2, 1, 2), 3, "old", RW, ino=7, size=16384)
    t.map(at(2, 3, 4), 3, 4)
    t.call(at(2, 4, 5), "close", 0, 3)
    t.touch(at(3, 6, 7), 7, 2, size=16384)


@case
def touched_where_it_has_grown(t: Trace) -> None:
    """Before that there is no such page."""
    two(t)
    t.open(at(2, 1, 2), 3, "f", EXCL | RW, ino=9)
    t.map(at(2, 2, 3), 3, 4)
    t.call(at(2, 4, 5), "ftruncate", 0, 3, 16384)
    t.touch(at(3, 6, 7), 9, 3, write=1)
    t.call(at(2, 8, 9), "ftruncate", 0, 3, 4096)


@case
def touched_before_it_is_unmapped(t: Trace) -> None:
    two(t)
    t.open(at(2, 1, 2), 3, "old", RW, ino=7, size=16384)
    t.map(at(2, 3, 4), 3, 4)
    t.touch(at(3, 5, 6), 7, 1, write=1, size=16384)
    t.call(at(2, 7, 8), "munmap", 0, 1 << 40, 16384)
    t.pages(2, 7, 7, [(0, 2)], "/w/old", written=0, size=16384)


@case
def written_by_a_mapping_read_by_a_call(t: Trace) -> None:
    two(t)
    t.open(at(2, 1, 2), 3, "f", EXCL | RW, ino=9)
    t.call(at(2, 2, 3), "ftruncate", 0, 3, 8192)
    t.map(at(2, 4, 5), 3, 2)
    t.touch(at(2, 6, 8), 9, 1, write=1)
    t.io(at(3, 9, 10), "pread64", 3, 8192)
    t.touch(at(3, 11, 12), 9, 0)
    t.call(at(2, 13, 14), "msync", 0, 1 << 40, 8192, 4)


@case
def a_hole_is_punched(t: Trace) -> None:
    two(t)
    t.open(at(2, 1, 2), 3, "f", EXCL | RW, ino=9)
    t.call(at(2, 3, 4), "fallocate", 0, 3, 0, 0, 4096)
    t.io(at(3, 5, 6), "pread64", 3, 9000, result=4096)


@case
def both_before_the_third(t: Trace) -> None:
    """The edge that is lost if only one predecessor is kept: the two overlap, the third is after both."""
    two(t)
    t.thread(4)
    t.open(at(2, 0, 1), 3, "f", EXCL | RW, ino=9)
    t.open(at(3, 2, 3), 4, "f", RW, ino=9)
    t.open(at(4, 2, 3), 5, "f", ino=9)
    t.io(at(2, 4, 6), "pwrite64", 3, 100)
    t.io(at(3, 5, 7), "pwrite64", 4, 100, offset=100)
    t.io(at(4, 8, 9), "pread64", 5, 200)


@case
def closed_after_the_last_use(t: Trace) -> None:
    two(t)
    t.open(at(2, 1, 2), 3, "old", ino=7, size=150)
    t.io(at(3, 3, 4), "pread64", 3, 100)
    t.call(at(2, 5, 6), "close", 0, 3)


@case
def a_directory_is_read(t: Trace) -> None:
    two(t)
    t.name(at(2, 1, 2), "mkdir", 0, "n", ino=8, mode=DIR)
    t.open(at(3, 3, 4), 3, "n", DIRECTORY, ino=8, mode=DIR)
    t.call(at(3, 5, 6), "getdents64", 48, 3, 0, 32768)
    t.name(at(2, 7, 8), "rmdir", 0, "n", ino=8, mode=DIR)


@case
def two_make_a_directory_and_who_has_not_returns_first(t: Trace) -> None:
    """Below it something is made meanwhile, too."""
    two(t)
    t.name(at(3, 2, 3), "mkdir", -17, "d")
    t.open(at(3, 4, 5), 3, "d/f", EXCL | RW, ino=10)
    t.name(at(1, 1.5, 5.5), "stat", 0, "d", ino=9, mode=DIR)
    t.name(at(2, 1, 6), "mkdir", 0, "d", ino=9, mode=DIR)
    t.io(at(3, 7, 8), "pwrite64", 3, 10)


@case
def two_make_a_directory_and_who_has_returns_first(t: Trace) -> None:
    two(t)
    t.name(at(2, 1, 4), "mkdir", 0, "d", ino=9, mode=DIR)
    t.name(at(3, 2, 5), "mkdir", -17, "d")


@case
def a_directory_is_found_and_filled_before_its_mkdir_returns(t: Trace) -> None:
    """No call of these has the directory's own name."""
    two(t)
    t.open(at(3, 2, 3), 3, "a/f", EXCL | RW, ino=10)
    t.name(at(3, 4, 5), "mkdir", 0, "a/b", ino=11, mode=DIR)
    t.name(at(2, 1, 6), "mkdir", 0, "a", ino=9, mode=DIR)
    t.name(at(2, 7, 8), "rmdir", -39, "a")


@case
def a_directory_that_was_not_there_is_made_while_another_removes_it(t: Trace) -> None:
    """By what came later it was not there at first, so the rmdir is the last of the two."""
    two(t)
    t.name(at(3, 2, 3), "mkdir", 0, "d", ino=8, mode=DIR)
    t.name(at(2, 1, 5), "rmdir", 0, "d", ino=8, mode=DIR)
    t.name(at(2, 6, 7), "mkdir", 0, "d", ino=9, mode=DIR)


@case
def a_directory_that_was_there_is_made_while_another_removes_it(t: Trace) -> None:
    two(t)
    t.name(at(3, 2, 3), "mkdir", 0, "d", ino=9, mode=DIR)
    t.name(at(2, 1, 5), "rmdir", 0, "d", ino=8, mode=DIR)
    t.name(at(3, 6, 7), "mkdir", -17, "d")


@case
def two_want_a_lock_file(t: Trace) -> None:
    """And the next one has it before its removal returns; another has not found it any more."""
    two(t)
    t.open(at(3, 2, 3), -17, "lock", EXCL | RW)
    t.open(at(2, 1, 4), 3, "lock", EXCL | RW, ino=9)
    t.open(at(3, 6, 7), 4, "lock", EXCL | RW, ino=10)
    t.name(at(2, 5, 8), "unlink", 0, "lock", ino=9)
    t.name(at(2, 11, 12), "stat", -2, "lock")
    t.name(at(3, 10, 13), "unlink", 0, "lock", ino=10)


@case
def two_remove_a_name_that_was_there(t: Trace) -> None:
    two(t)
    t.name(at(3, 2, 3), "unlink", -2, "old")
    t.name(at(2, 1, 4), "unlink", 0, "old", ino=9)
    t.open(at(3, 6, 7), -2, "older")
    t.name(at(2, 5, 8), "rename", 0, "older", "new", ino=10)
    t.name(at(3, 7.5, 9), "stat", 0, "new", ino=10)


@case
def two_make_a_name_by_link_and_by_symlink(t: Trace) -> None:
    two(t)
    t.open(at(2, 0.2, 0.5), 3, "f", EXCL | RW, ino=9)
    t.name(at(3, 2, 3), "symlink", -17, "f", "g")
    t.name(at(2, 1, 4), "link", 0, "f", "g", ino=9, links=2)
    t.name(at(3, 6, 7), "stat", 0, "g", ino=9, links=2)


@case
def a_name_that_is_not_there_yet(t: Trace) -> None:
    two(t)
    t.name(at(3, 1, 2), "stat", -2, "f")
    t.open(at(2, 3, 4), 3, "f", EXCL, ino=9)
    t.name(at(3, 5, 6), "stat", 0, "f", ino=9)


@case
def an_end_is_sought_while_another_appends(t: Trace) -> None:
    """Once behind what is written, which returns later; once in front of it."""
    two(t)
    t.open(at(2, 0.2, 0.5), 3, "log", EXCL | APPEND | RW, ino=9)
    t.open(at(3, 0.6, 0.8), 4, "log", APPEND | RW, ino=9)
    t.io(at(2, 1, 2), "write", 3, 10)
    t.call(at(3, 3, 4), "lseek", 20, 4, 0, 2)
    t.io(at(2, 3, 5), "write", 3, 10)
    t.io(at(2, 6, 7), "write", 3, 10)
    t.call(at(3, 6, 8), "lseek", 20, 4, 0, 2)


@case
def an_end_is_read_while_another_writes(t: Trace) -> None:
    two(t)
    t.open(at(2, 0.2, 0.5), 3, "f", EXCL | RW, ino=9)
    t.open(at(3, 0.6, 0.8), 4, "f", RW, ino=9)
    t.io(at(2, 1, 2), "write", 3, 10)
    t.io(at(3, 1, 3), "read", 4, 100, result=0)
    t.io(at(3, 4, 5), "pread64", 4, 100, result=20)
    t.io(at(2, 4, 6), "write", 3, 10)


@case
def a_file_is_cut_while_another_writes(t: Trace) -> None:
    """What is there at last tells: the write that returned first came later."""
    two(t)
    t.open(at(2, 0.2, 0.5), 3, "f", EXCL | RW, ino=9)
    t.open(at(3, 0.6, 0.8), 4, "f", RW, ino=9)
    t.io(at(2, 1, 3), "pwrite64", 3, 100)
    t.call(at(3, 2, 4), "ftruncate", 0, 4, 10)
    t.io(at(2, 5, 6), "pread64", 3, 200, result=100)


@case
def a_file_is_emptied_by_who_opens_it_while_another_writes(t: Trace) -> None:
    two(t)
    t.open(at(2, 0.2, 0.5), 3, "f", EXCL | RW, ino=9)
    t.io(at(2, 1, 3), "write", 3, 100)
    t.open(at(3, 2, 4), 4, "f", TRUNC | RW, ino=9)
    t.call(at(3, 5, 6), "lseek", 100, 4, 0, 2)


@case
def a_file_is_copied_while_another_writes(t: Trace) -> None:
    """It was empty yet, and when it is copied again no more."""
    two(t)
    t.open(at(2, 0.2, 0.5), 3, "f", EXCL | RW, ino=9)
    t.open(at(3, 0.6, 0.8), 4, "f", RW, ino=9)
    t.open(at(3, 0.9, 0.95), 5, "copy", EXCL | RW, ino=10)
    t.io(at(2, 1, 3), "write", 3, 50)
    t.call(at(3, 2, 4), "copy_file_range", 0, 4, 0, 5, 0, 1000, 0)
    t.call(at(3, 5, 6), "sendfile", 90, 5, 4, 0, 1000)
    t.io(at(2, 5, 7), "write", 3, 40)


@case
def two_read_where_one_description_stands(t: Trace) -> None:
    """Who has got less returned first."""
    two(t)
    t.open(at(2, 0.2, 0.5), 3, "f", EXCL | RW, ino=9)
    t.io(at(2, 1, 2), "pwrite64", 3, 15)
    t.io(at(3, 3, 4), "read", 3, 10, result=5)
    t.io(at(2, 3, 5), "read", 3, 10)
    t.io(at(2, 6, 7), "pwrite64", 3, 5, offset=15)
    t.io(at(3, 6, 8), "read", 3, 10, result=5)


def overlapping(t: Trace) -> tuple[int, int]:
    """Two reads of one file at the same time: no order may be put on them."""
    two(t)
    t.open(at(2, 1, 2), 3, "old", ino=7, size=1000)
    one = t.io(at(2, 4, 6), "pread64", 3, 100)
    other = t.io(at(3, 5, 7), "pread64", 3, 100, offset=500)
    return one, other


def traces(top: Path) -> Iterator[tuple[str, Path]]:
    for name, build in CASES.items():
        trace = Trace()
        build(trace)
        trace.finish(top / f"{name}.db")
        yield name, top / f"{name}.db"
