# SPDX-License-Identifier: GPL-2.0
"""Table 3: mirrors of one to three disks, made by md over fake disks, in virtual time.

The drive's caches are out of the way: the paper's sequential requests take a revolution each.
"""

from __future__ import annotations

import mmap
import os
import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..bench import testbed
from ..disk import array, dm, md
from ..disk.create import create_disk
from ..disk.parameters import DiskParameters
from .plan import HITACHI

UNCACHED = ("read_cache=no", "readahead=none", "write_cache=off", "ncq_depth=1")
PAGE = 4096
STORE = 64 << 20
# For who has the array open still.
WAIT_S = 5


@contextmanager
def store(path: str, size: int) -> Iterator[str]:
    """A loop device on a sparse file in the lab's memory."""
    with open(path, "wb") as file:
        file.truncate(size)
    loop = testbed.call("losetup", "--find", "--show", path).strip()
    try:
        yield loop
    finally:
        testbed.call("losetup", "--detach", loop)
        Path(path).unlink()


@contextmanager
def mirror(members: int) -> Iterator[str]:
    """RAID-1 of so many disks; the paper has one disk without."""
    disk = DiskParameters("m", profile=HITACHI, profile_options=UNCACHED, format=True)
    with ExitStack() as stack:
        stores = [stack.enter_context(store(f"/tmp/member-{number}", STORE)) for number in range(members)]
        if members == 1:
            create_disk(replace(disk, backing=stores[0]))
            stack.callback(dm.run, "dmsetup", "remove", "--retry", "m")
            yield "/dev/mapper/m"
            return
        each = [replace(disk, name=f"m-{number}", backing=store) for number, store in enumerate(stores)]
        array.create_array(array.ArrayParameters("m", "1", each))
        stack.callback(array.remove_array, "m", WAIT_S)
        yield md.find("m").device


def rate(path: str, what: str, where: str, threads: int, requests: int) -> float:
    """Requests of 4 KiB a second. The paper's sequential ones are one at a time: results/raid1-model.csv."""
    threads = threads if where == "random" else 1
    fd = os.open(path, os.O_RDWR | os.O_DIRECT)
    pages = os.lseek(fd, 0, os.SEEK_END) // PAGE

    def work(thread: int) -> None:
        rng, buffer = random.Random(thread), mmap.mmap(-1, PAGE)
        for number in range(requests // threads):
            place = (rng.randrange(pages) if where == "random" else number) * PAGE
            if what == "read":
                os.preadv(fd, [buffer], place)
            else:
                os.pwrite(fd, buffer, place)

    try:
        begin = time.monotonic()
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, range(threads)))
        return requests / (time.monotonic() - begin)
    finally:
        os.close(fd)


def run(run: dict[str, Any]) -> dict[str, Any]:
    params, rates = run["params"], {}
    with mirror(params["disks"]) as path:
        for where in ("random", "sequential"):
            for what in ("read", "write"):
                found = rate(path, what, where, params["disks"], params["requests"])
                rates[f"{where} {what}"] = found
    return {"rates": rates}
