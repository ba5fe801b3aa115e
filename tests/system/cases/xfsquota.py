# SPDX-License-Identifier: GPL-2.0
"""xfs with quotas of users, groups and projects: their blocks are no files' pages, and no inode's either.

Limits, times of grace and what is used must be those of the reference, and those before a cut after it.
DAVID_SCALE=full does it in every mode, with more owners, and on blocks of 1 KiB.
"""

from __future__ import annotations

import errno
import os
import random

from cases import case
from helpers.cutoff import Cut
from helpers.guest import Complaints, Failed, device_stats, fake_disk, linear_disk, mounted, ram_disk, run
from helpers.manifest import manifest
from helpers.quotas import KINDS, report, set_grace, set_limits, set_project
from helpers.raw import opened
from helpers.trees import equal
from helpers.units import FULL, GIB, MIB
from helpers.workload import SCALES, Workload

SIZE, NAME = 2 * GIB, "quotas"
OPTIONS = "usrquota,grpquota,prjquota"
OWNERS = 1500 if FULL else 150
PROJECTS = 20
LIMITED = 9_999_999  # an id that no file has
HUGE = 1 << 40
CRASH = r"XFS|I/O error|lost async page write"


def owner(i: int) -> int:
    """Neighbours share a block of quotas, of 30 ids; the rest does not."""
    return i + 100 if i % 3 else i * 7919 % 1_000_000 + 1000


def mkfs(disk: str, *words: str) -> None:
    run("mkfs.xfs", "-q", "-f", *words, disk)


def give(path: str, i: int) -> None:
    """The owner of everything, one after another."""
    os.chown(path, owner(i), owner(i + 11))


def work(top: str, seed: int) -> None:
    """Files of many owners in directories of many projects, with limits and without."""
    rng = random.Random(seed)
    noise = rng.randbytes(64 << 10)
    for i in range(PROJECTS):
        os.mkdir(f"{top}/{seed}-{i}")
        set_project(f"{top}/{seed}-{i}", seed * 1000 + i)
    for i in range(OWNERS):
        path = f"{top}/{seed}-{i % PROJECTS}/{i}"
        with open(path, "wb") as file:
            file.write(noise[: rng.randrange(20_000)])
        give(path, i)
    for kind in KINDS:
        set_grace(top, kind, rng.randrange(1, 1 << 20), rng.randrange(1, 1 << 20))
        for i in range(0, OWNERS, 4):
            set_limits(top, kind, owner(i), HUGE + rng.randrange(1000), HUGE + rng.randrange(1000))
        set_limits(top, kind, LIMITED + seed, 5, 5)
    for i in range(0, OWNERS, 5):
        path = f"{top}/{seed}-{i % PROJECTS}/{i}"
        if i % 2:
            os.unlink(path)
        else:
            give(path, i + 1)
    if FULL:
        Workload(f"{top}/{seed}-0", seed, SCALES["tiny"]).run()
    os.sync()


def state(top: str) -> list[str]:
    return manifest(top, content=False) + report(top)


def live_on_the_reference(*words: str) -> list[str]:
    with linear_disk("reference", SIZE) as disk:
        mkfs(disk, *words)
        with mounted(disk, "xfs", OPTIONS) as top:
            work(top, 1)
        with mounted(disk, "xfs", OPTIONS) as top:
            return state(top)


def is_enforced(top: str) -> None:
    """A limit is one also for who came to it after recovery."""
    path = f"{top}/too-much"
    with opened(path, os.O_CREAT | os.O_WRONLY) as fd:
        os.chown(path, LIMITED + 1, 0)
        try:
            for _ in range(16):
                os.write(fd, bytes(MIB // 16))
        except OSError as error:
            if error.errno != errno.EDQUOT:
                raise
        else:
            raise Failed("a user got 1 MiB with a limit of 5 KiB")
    os.unlink(path)


def live_and_crash(classify: str, expected: list[str], *words: str) -> None:
    with ram_disk(192 * MIB) as dev, fake_disk(NAME, SIZE, dev, "--classify", classify) as disk:
        mkfs(disk, *words)
        with mounted(disk, "xfs", OPTIONS) as top:
            work(top, 1)
        run("xfs_repair", "-n", disk)
        cut = Cut(NAME, Complaints())
        with mounted(disk, "xfs", OPTIONS) as top:
            equal(f"{classify}, mounted again", expected, state(top))
            work(top, 2)
            before = state(top)
            cut.cut()
        cut.restore()
        with mounted(disk, "xfs", OPTIONS) as top:
            equal(f"{classify}, after the cut", before, state(top))
            is_enforced(top)
        run("xfs_repair", "-n", disk)
        if not device_stats(NAME)["written"]["squashed"]:  # type: ignore[index]
            raise Failed(f"{classify}: nothing was squashed")


@case(complaints=CRASH)
def quotas_of_xfs_are_the_same_after_a_cut() -> None:
    expected = live_on_the_reference()
    for classify in ("implicit", "auto", "explicit")[: 3 if FULL else 1]:
        live_and_crash(classify, expected)


@case(complaints=CRASH, full=True)
def quotas_of_xfs_on_small_blocks_are_the_same_after_a_cut() -> None:
    """Blocks of quotas are smaller than the store's."""
    words = ("-b", "size=1024")
    expected = live_on_the_reference(*words)
    for classify in ("implicit", "auto", "explicit"):
        live_and_crash(classify, expected, *words)
