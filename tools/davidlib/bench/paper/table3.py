# SPDX-License-Identifier: GPL-2.0
"""Table 3: mirrors of one to three disks, made by md over fake disks, in virtual time.

The drive's caches are out of the way: the paper's sequential requests take a revolution each.
"""

from __future__ import annotations

import argparse
import mmap
import os
import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from ...disk import array, device, dm, md
from .. import inside
from .plan import HITACHI

UNCACHED = ("read_cache=no", "readahead=none", "write_cache=off", "ncq_depth=1")
PAGE = 4096
STORE = 64 << 20


def david(*words: str) -> None:
    """A command of tools/david, without its start."""
    parser = argparse.ArgumentParser(prog="david")
    commands = parser.add_subparsers()
    for room in (device, array):
        room.add_parsers(commands)
    args = parser.parse_args(words)
    args.func(args)


@contextmanager
def store(path: str, size: int) -> Iterator[str]:
    """A loop device on a sparse file in the lab's memory."""
    with open(path, "wb") as file:
        file.truncate(size)
    loop = inside.call("losetup", "--find", "--show", path).strip()
    try:
        yield loop
    finally:
        inside.call("losetup", "--detach", loop)
        Path(path).unlink()


@contextmanager
def mirror(members: int) -> Iterator[str]:
    """RAID-1 of so many disks; the paper has one disk without."""
    drive = ["--profile", HITACHI, "--format"]
    drive += [word for option in UNCACHED for word in ("--profile-option", option)]
    with ExitStack() as stack:
        stores = [stack.enter_context(store(f"/tmp/member-{number}", STORE)) for number in range(members)]
        if members == 1:
            david("create", "m", "--backing", stores[0], *drive)
            stack.callback(dm.run, "dmsetup", "remove", "--retry", "m")
            yield "/dev/mapper/m"
            return
        david("array", "create", "m", "--level", "1", "--members", str(members), "--backing", *stores, *drive)
        stack.callback(david, "array", "remove", "m")
        yield md.find("m").device


def rate(path: str, what: str, where: str, threads: int, requests: int) -> float:
    """Requests of 4 KiB a second. The paper's sequential ones are one at a time: docs/MEASURED.md."""
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
