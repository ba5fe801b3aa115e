# SPDX-License-Identifier: GPL-2.0
"""The directory that a trace is replayed in."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from ..util import UserError
from . import background

KEPT = "lost+found"  # mkfs makes it
IDLE = 1.0  # so many seconds without a request: the disk is idle
PATIENCE = 600.0


def check_empty(target: Path) -> None:
    if not target.is_dir():
        raise UserError(f"{target} is no directory")
    if any(entry.name != KEPT for entry in target.iterdir()):
        raise UserError(f"{target} is not empty; a replay makes its own files, in a directory of their own")


def empty(target: Path) -> None:
    """Remove what replays have left; check_empty() was there before."""
    for entry in target.iterdir():
        if entry.name == KEPT:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _requests(device: int) -> list[str]:
    """What the kernel counts of a disk; nothing, of what is no disk."""
    number = [str(os.major(device)), str(os.minor(device))]
    for line in Path("/proc/diskstats").read_text().splitlines():
        words = line.split()
        if words[:2] == number:
            return words[3:]
    return []


def wait_until_idle(target: Path) -> None:
    device = target.stat().st_dev
    before, since, limit = _requests(device), time.monotonic(), time.monotonic() + PATIENCE
    while before and time.monotonic() < since + IDLE:
        time.sleep(IDLE / 10)
        now = _requests(device)
        if now != before:
            before, since = now, time.monotonic()
        if time.monotonic() > limit:
            raise background.complaint(target, PATIENCE)


def make_cold(target: Path) -> None:
    """All is on the disk, nothing is in the cache, and the disk has done with what it does after a mount."""
    os.sync()
    wait_until_idle(target)
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3\n")
    except OSError:
        raise UserError("--cold needs root: only root may empty the page cache") from None
    wait_until_idle(target)
