# SPDX-License-Identifier: GPL-2.0
"""How disks lie in layers: arrays of md, partition tables by hand, volumes whose extents lie scattered."""

from __future__ import annotations

import os
import signal
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from helpers.guest import mounted, run
from helpers.victim import look, make, many_directories, populate, size_of, sync, told, tree

ARRAY = "/dev/md7"
SPEED = Path("/proc/sys/dev/raid")


@contextmanager
def at_work(top: str) -> Iterator[None]:
    """Somebody makes directories all the time."""
    child = os.fork()
    if not child:
        try:
            number = 0
            while True:
                number += 1
                where = f"{top}/w{number % 50}/d{number}"
                os.makedirs(where)
                Path(f"{where}/f").write_text(f"{number}\n")
                if number % 10 == 0:
                    sync(top)
        finally:
            os._exit(0)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def synced() -> bool:
    said = Path("/proc/mdstat").read_text()
    return "_" not in said.rpartition("[")[2] and "recovery" not in said and "resync" not in said


def slowly(speed: int = 20000) -> None:
    for name in ("speed_limit_max", "speed_limit_min"):
        (SPEED / name).write_text(f"{speed}\n")


def dos_label(disk: str, start: int) -> None:
    """As sfdisk writes it: the first sector, nothing else."""
    sectors = size_of(disk) - start >> 9
    with open(disk, "r+b") as file:
        file.seek(446)
        file.write(struct.pack("<B3xB3xII", 0, 0x83, start >> 9, sectors) + bytes(48) + b"\x55\xaa")


# Few inodes: so the log is among the first 64 MiB.
PACKED = ("-E", "packed_meta_blocks=1,nodiscard,lazy_itable_init=0", "-J", "size=4", "-N", "20000")


def live_scattered(mode: str, fs: str, device: str, *features: str) -> None:
    """The layer puts what is written later wherever there is room."""
    make(fs, device, *features)
    with mounted(device, fs) as top:
        populate(top, "old", 100)
        sync(top)
        many_directories(top, "t", 200)
        sync(top)
    with mounted(device, fs) as top:
        for number in range(3):
            many_directories(top, f"more-{number}-", 60)
            sync(top)
        run("rm", "-r", f"{top}/old/d1")
        expected = tree(top)
    told(mode)
    look(fs, device, expected)
