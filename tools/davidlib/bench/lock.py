# SPDX-License-Identifier: GPL-2.0
"""One sweep at a time writes to a directory of results: the second one says who the first is, and ends.

The lock is of the directory itself (flock). It leaves no file, and goes with the process however that ends.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from ..util import UserError

LOCKS = Path("/proc/locks")


def holder(fd: int) -> int:
    """The process that has the lock of this open directory; 0 if it is not known."""
    there = os.fstat(fd)
    place = f"{os.major(there.st_dev):02x}:{os.minor(there.st_dev):02x}:{there.st_ino}"
    for line in LOCKS.read_text().splitlines() if LOCKS.exists() else ():
        words = line.split()
        if len(words) > 5 and words[1] == "FLOCK" and words[5] == place:
            return int(words[4])
    return 0


def take(directory: Path) -> int:
    """The lock, as an open file that holds it until it is closed, or this process ends."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = holder(fd)
        os.close(fd)
        who = f"process {pid}" if pid > 0 else "another process"
        raise UserError(f"{directory}: {who} is at work there; wait until it has ended, or name another "
                        "directory with --output") from None
    return fd
