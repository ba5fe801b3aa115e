# SPDX-License-Identifier: GPL-2.0
"""Devices of null_blk, made by configfs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from helpers.guest import run

CONFIGFS = "/sys/kernel/config"


@contextmanager
def null_block(words: str) -> Iterator[str]:
    """A device of null_blk, its attributes set in the order of the words."""
    run("modprobe", "-q", "null_blk", "nr_devices=0", ok=(0, 1))
    if not os.path.ismount(CONFIGFS):
        run("mount", "-t", "configfs", "configfs", CONFIGFS)
    top = Path(CONFIGFS, "nullb", "one")
    top.mkdir()
    try:
        for name, value in (word.split("=") for word in words.split()):
            (top / name).write_text(value)
        # Some kernels name it as its directory here.
        names = (top.name, f"nullb{(top / 'index').read_text().strip()}")
        yield next(f"/dev/{name}" for name in names if Path("/sys/block", name).exists())
    finally:
        top.rmdir()
