# SPDX-License-Identifier: GPL-2.0
"""Files that lie all over a disk, as far as its file system lets one say so: for requests at random.

All of a large disk cannot be written, and what was not written asks no disk. So there are many small files,
each written, at places that are far from each other. File systems put what is new beside what was new before,
and each needs its own persuasion:

    ext2, 3, 4    a directory below the root goes to a group of its own. A file follows its directory if it is
                  as small as what mballoc preallocates for small files, and that can be set
    xfs           a directory goes to the next allocation group. Within that, room that is allocated and given
                  back again keeps files apart
    others        files lie together: nothing is known that would help

How far the requests went is in the run's figures, and so is what that leaves of the disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from . import fileops
from .record import Record

MOST = 512  # files: each is open, and in a directory of its own
BLOCK = 4096
# Of what is free on xfs, all spacers together.
SPACERS = 0.97
EXT4 = Path("/sys/fs/ext4")


def paths(top: str, files: int, number: int) -> list[str]:
    """Of one process; each directory has a file of every process."""
    return [f"{top}/spread-{file:03}/file-{number}" for file in range(files)]


def _type_of(top: str) -> tuple[str, str]:
    """File system and device of what is mounted there; nothing of a directory in one: that is not ours."""
    for line in reversed(Path("/proc/self/mounts").read_text().splitlines()):
        device, where, kind, *_ = line.split()
        if where == top:
            return kind, device
    return "", ""


def _ext4_settings(device: str) -> Path:
    number = os.stat(device).st_rdev
    name = os.path.basename(os.path.realpath(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}"))
    return EXT4 / name


@contextmanager
def _each_beside_its_directory(kind: str, device: str, size: int) -> Iterator[None]:
    """ext: what is written of a file of that size is allocated at the file's own goal."""
    settings = _ext4_settings(device) if kind.startswith("ext") else EXT4 / "none"
    if not settings.is_dir():
        yield
        return
    wanted = {"mb_group_prealloc": max(size // BLOCK, 1), "mb_stream_req": 2 * max(size // BLOCK, 1)}
    before = {name: (settings / name).read_text() for name in wanted}
    try:
        for name, blocks in wanted.items():
            (settings / name).write_text(str(blocks))
        yield
    finally:
        for name, text in before.items():
            (settings / name).write_text(text)


def _leave_room(path: str, size: int) -> None:
    """Allocate what nobody writes. There may be less of it than was counted."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        with suppress(OSError):
            os.posix_fallocate(fd, 0, size)
    finally:
        os.close(fd)


def make(top: str, files: int, size: int, processes: int) -> None:
    """Written files of SIZE bytes each, for every process."""
    kind, device = _type_of(top)
    free = os.statvfs(top)
    apart = int(free.f_bavail * free.f_frsize * SPACERS) // files if kind == "xfs" else 0
    scratch = Record()
    spacers = []
    with _each_beside_its_directory(kind, device, size):
        for file in range(files):
            directory = f"{top}/spread-{file:03}"
            os.mkdir(directory)
            if apart > size * processes:
                spacers.append(f"{directory}/spacer")
                _leave_room(spacers[-1], apart - size * processes)
            for number in range(processes):
                fileops.create(scratch, f"{directory}/file-{number}", size, sync=True)
    for path in spacers:
        os.unlink(path)
