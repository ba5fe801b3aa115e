# SPDX-License-Identifier: GPL-2.0
"""Memory that is swapped out, and read back."""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Callable
from pathlib import Path

MADV_PAGEOUT = 21


def swapped() -> int:
    words = Path("/proc/meminfo").read_text().split()
    total, free = (int(words[words.index(name) + 1]) for name in ("SwapTotal:", "SwapFree:"))
    return (total - free) << 10


def swapped_out(content: bytes, then: Callable[[], object] = lambda: None) -> tuple[int, bool]:
    """How many bytes of memory with this content were swapped, and whether they are what they were. `then`
    is called when they are out.
    """
    with mmap.mmap(-1, len(content), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as pages:
        pages[:] = content
        before = swapped()
        for _ in range(20):
            pages.madvise(MADV_PAGEOUT)
            if swapped() >= before + len(content):
                break
            time.sleep(0.02)
        size = swapped() - before
        os.sync()
        then()
        return size, pages[:] == content
