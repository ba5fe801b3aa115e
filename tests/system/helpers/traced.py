# SPDX-License-Identifier: GPL-2.0
"""Traces beside what they are held to: strace's of the same program, and the tree on the disk."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

Calls = list[list[tuple]]


def by_task(database: sqlite3.Connection) -> Calls:
    """The calls of each thread, in order; what differs from run to run (PIDs, addresses) left out."""
    tasks: dict[int, list[tuple]] = {}
    for thread, name, result, path, path2 in database.execute(
        "SELECT thread, s.name, result, p.text, q.text FROM event JOIN syscall s USING (nr) "
        "LEFT JOIN text p ON p.id = path LEFT JOIN text q ON q.id = path2 "
        "WHERE class = 1 ORDER BY event.id"
    ):
        if name == "mmap":  # strace shows those without a file, too
            continue
        if name in ("clone", "clone3", "vfork", "fork", "wait4"):
            result = result and min(result, 1)
        tasks.setdefault(thread, []).append((name, result, path, path2))
    return [tasks[thread] for thread in sorted(tasks)]


def difference(own: Path, theirs: Path) -> str:
    """Where two traces of the same program differ first; empty: nowhere."""
    ours, others = (by_task(sqlite3.connect(path)) for path in (own, theirs))
    if [len(calls) for calls in ours] != [len(calls) for calls in others]:
        return f"calls of threads: {[len(c) for c in ours]} and {[len(c) for c in others]}"
    for thread, (mine, other) in enumerate(zip(ours, others, strict=True)):
        for at, (a, b) in enumerate(zip(mine, other, strict=True)):
            if a != b:
                return f"thread {thread}, call {at}: {a} and {b}"
    return ""


Node = tuple[int, int | None, int | None, str | None]


def tree_of_trace(database: sqlite3.Connection, top: Path) -> dict[str, Node]:
    """What follows from the trace: type, size, links, target by path."""
    found = {}
    for path, mode, size, links, target in database.execute(
        "SELECT path, mode, size, links, target FROM name LEFT JOIN file ON file.id = name.file "
        "WHERE path LIKE ? || '/%'",
        (str(top),),
    ):
        regular = stat.S_ISREG(mode or 0)
        found[path] = (
            stat.S_IFMT(mode or 0),
            size if regular else None,
            links if regular else None,
            target,
        )
    return found


def tree_of_disk(top: Path) -> dict[str, Node]:
    """By descriptors of directories: a path may be longer than the kernel takes."""
    found = {}
    for root, directories, files, fd in os.fwalk(top):
        for name in directories + files:
            st = os.stat(name, dir_fd=fd, follow_symlinks=False)
            regular = stat.S_ISREG(st.st_mode)
            target = os.readlink(name, dir_fd=fd) if stat.S_ISLNK(st.st_mode) else None
            found[os.path.join(root, name)] = (
                stat.S_IFMT(st.st_mode),
                st.st_size if regular else None,
                st.st_nlink if regular else None,
                target,
            )
    return found
