# SPDX-License-Identifier: GPL-2.0
"""Requests to the backing device that fail by chance, for a while, by the kernel's own fault injection
(fail_make_request): data, the log, superblocks and flushes alike. On the debug kernel only.

DAVID_SCALE=full does it 100 times.
"""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cases import case
from helpers import raw
from helpers.failing import (
    FAILS,
    RUNS,
    Injected,
    Tolerant,
    injected,
    need_injection,
    run_into_faults,
    synced_tree,
)
from helpers.filesystems import TOOLS
from helpers.guest import Failed, device_stats, loop_disk, mapped, mounted, run, say
from helpers.manifest import difference, manifest
from helpers.randomops import Operations
from helpers.stores import state, table
from helpers.units import GIB, MIB

REQUESTS = Path("/sys/kernel/debug/fail_make_request")


@contextmanager
def failing_requests(device: str, percent: int) -> Iterator[Injected]:
    switch = Path(f"/sys/block/{os.path.basename(device)}/make-it-fail")
    switch.write_text("1")
    try:
        with injected([REQUESTS], {}, percent) as found:
            yield found
    finally:
        switch.write_text("0")


def must_be_good_or_say_why(name: str) -> bool:
    """Is it failed? Then with a reason."""
    figures = device_stats(name)
    failed = figures["state"] == "failed"
    assert failed == (figures["fault"] != "none"), f"{figures['state']}, fault {figures['fault']}"
    return failed


class Flushed(Tolerant):
    """Of a disk that lasts: each block may be what it was at the last flush, or anything written since."""

    def __init__(self, fd: int, seed: int) -> None:
        super().__init__(fd, seed)
        self.durable = [set(may) for may in self.may]

    def step(self) -> None:
        before = [frozenset(may) for may in self.may]
        super().step()
        for since, old, may in zip(self.durable, before, self.may, strict=True):
            if may != old:
                since |= may

    def flush(self) -> None:
        try:
            os.fsync(self.fd)
        except OSError as error:
            assert error.errno == errno.EIO, error
            self.failed += 1
        else:
            self.durable = [set(may) for may in self.may]


def raw_life(seed: int) -> tuple[int, int]:
    """Requests made to fail, and whether the disk gave up."""
    rng = random.Random(seed)
    with loop_disk(16 * MIB) as dev:
        with mapped("chance", table(dev, "classify=keep")) as path, raw.opened(path) as fd:
            work = Flushed(fd, seed)
            for _ in range(20):
                work.step()
            work.flush()
            # Some lives lose data only, others the log.
            with failing_requests(dev, rng.choice((5, 10, 30))) as failed:
                for _ in range(80):
                    work.step()
                    if rng.random() < 0.2:
                        work.flush()
            gave_up = must_be_good_or_say_why("chance")
            for block in range(work.blocks):
                work.check(block, 1, must=True)
            if not gave_up:
                before = work.failed
                for _ in range(40):
                    work.step()
                work.flush()
                assert work.failed == before and state("chance") == "ok", state("chance")
        with mapped("chance", table(dev, "classify=keep")) as path, raw.opened(path) as fd:
            work.fd, work.may = fd, work.durable
            for block in range(work.blocks):
                work.check(block, 1, must=True)
            work.step()
            os.fsync(fd)
            assert state("chance") == "ok"
        return failed.times, int(gave_up)


@case(complaints=FAILS, debug=True)
def requests_that_fail_by_chance_leave_what_was_flushed() -> None:
    need_injection(REQUESTS, "probability")
    lives = [raw_life(seed) for seed in range(6 * RUNS)]
    failed, gave_up = sum(times for times, _ in lives), sum(lost for _, lost in lives)
    print(f"{failed} requests failed; {gave_up} of {len(lives)} disks gave up", flush=True)
    assert failed, "no request failed: the test tests nothing"


def shaken(disk: str, below: str, fs: str, seed: int) -> tuple[list[str], int]:
    """What was synced before, and how many requests were made to fail."""
    rng = random.Random(seed)
    with mounted(disk, fs) as top:
        tree, late = synced_tree(top, seed, 60)
        with failing_requests(below, rng.choice((2, 10))) as failed:
            run_into_faults(late, 4, 30)
        late.close_all()
    return tree, failed.times


def file_system_life(fs: str, seed: int) -> int:
    """On a disk that lasts, and on dm-linear: what both kept is what was synced before."""
    size, tools = 2 * GIB, TOOLS[fs]
    with loop_disk(128 * MIB) as dev, loop_disk(size) as full:
        for name, below, line in (
            ("chance", dev, f"0 {size >> 9} david {dev}"),
            ("plain", full, f"0 {size >> 9} linear {full} 0"),
        ):
            with mapped(name, line) as disk:
                run(*tools.mkfs, disk)
                tree, failed = shaken(disk, below, fs, seed)
                if name == "chance":
                    must_be_good_or_say_why(name)
            with mapped(name, line) as disk:
                if tools.repair:
                    run(*tools.repair, disk, ok=(0, 1))
                with mounted(disk, fs) as top:
                    wrong = difference(tree, manifest(f"{top}/tree", content=False))
                    os.mkdir(f"{top}/after")
                    work = Operations(f"{top}/after", f"after {seed}")
                    work.run(30)
                    work.close_all()
                # An attribute that xfs did not come to write, on any disk; it says so, and takes it away.
                if fs == "xfs" and "is INCOMPLETE" in run("xfs_repair", "-n", disk, ok=(0, 1)):
                    run("xfs_repair", disk)
                run(*tools.check, disk)
            if wrong:
                raise Failed(f"{fs} on {name}, seed {seed}: " + "\n".join(wrong))
    return failed


@case(complaints=FAILS, debug=True)
def a_file_system_over_requests_that_fail_by_chance_keeps_what_was_synced() -> None:
    need_injection(REQUESTS, "probability")
    failed = 0
    for seed in range(RUNS):
        failed += file_system_life("ext4", seed)
        failed += file_system_life("xfs", seed)
        if seed % 10 == 9:
            say(f"requestfaults: file systems: {seed + 1} of {RUNS} lives")
    assert failed, "no request failed: the test tests nothing"
