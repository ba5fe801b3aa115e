# SPDX-License-Identifier: GPL-2.0
"""Where something stands in a sparse file."""

from __future__ import annotations

import os
from collections.abc import Iterator


def data_runs(fd: int) -> Iterator[tuple[int, int]]:
    """Begin and end of each run that is no hole, in bytes, from left to right."""
    at, size = 0, os.fstat(fd).st_size
    while at < size:
        try:
            begin = os.lseek(fd, at, os.SEEK_DATA)
        except OSError:  # ENXIO: a hole up to the end
            return
        at = os.lseek(fd, begin, os.SEEK_HOLE)
        yield begin, at
