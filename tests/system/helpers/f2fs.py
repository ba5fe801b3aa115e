# SPDX-License-Identifier: GPL-2.0
"""f2fs's garbage collection, on demand."""

from __future__ import annotations

import fcntl
import os
import struct
from pathlib import Path

from helpers import raw

F2FS_GARBAGE_COLLECT = 0x4004F506


def collect_f2fs(top: str, times: int) -> None:
    """Moves what is in use out of segments that are partly free."""
    with raw.opened(top, os.O_RDONLY) as fd:
        for _ in range(times):
            try:
                fcntl.ioctl(fd, F2FS_GARBAGE_COLLECT, struct.pack("I", 1))
            except OSError:  # nothing to be collected
                break


def collect_garbage(top: str, disk: str) -> int:
    """How many blocks f2fs has moved."""
    number = os.stat(disk).st_rdev
    name = os.path.basename(os.readlink(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}"))
    moved = Path(f"/sys/fs/f2fs/{name}/moved_blocks_foreground")
    before = int(moved.read_text())
    collect_f2fs(top, 20)
    return int(moved.read_text()) - before
