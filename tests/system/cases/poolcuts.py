# SPDX-License-Identifier: GPL-2.0
"""Power cuts on a pool of three disks: nothing is lost on any of them, wherever the cut comes."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from cases import case
from helpers import writelog
from helpers.cutlives import Files, Life, marked
from helpers.filesystems import TOOLS, whole_check
from helpers.guest import (
    david,
    device_stats,
    load_table,
    loop_disk,
    mapped,
    mounted,
    run,
    say,
)
from helpers.layouts import ARRAY
from helpers.planted import must_fail, planted
from helpers.poolbox import Look, cut_at, made, made_sharing, pool_disk
from helpers.poolsystems import cut_systems
from helpers.units import FULL, GIB, MIB, TIB

NAMES = ("a", "b", "c")
SIZE, FLUSHES, CUTS = 2 * MIB, 700 if FULL else 30, 3000 if FULL else 25
SHARED_FLUSHES, SHARED_CUTS = (350, 1500) if FULL else (30, 20)
FS_SIZE, FS_BACKING = 2 * GIB, (512 if FULL else 160) * MIB
SYNCS, FS_CUTS = (40, 500) if FULL else (10, 6)
# The directory's writes are made to fail.
FAILS = "the pool's directory cannot be written|I/O error|error|david"


def each_disk(disk_size: int, words: str, wrong: Callable[[str, str, int], str]) -> Look:
    """Looks at all disks of the pool; `wrong` is told a disk's name, its path, and its last mark."""

    def look(dev: str, done: list[writelog.Entry], number: int) -> str:
        said = ""
        with ExitStack() as stack:
            for name in NAMES:
                table = f"0 {disk_size >> 9} david {dev} 2 {words} pool={name}"
                disk = stack.enter_context(mapped(f"back-{name}", table))
                said = said or wrong(name, disk, marked(done, name))
        return said

    return look


def cut_everywhere(size: int, found: list[writelog.Entry], cuts: int, look: Look) -> None:
    rng = random.Random(1)
    cut_at(size, found, writelog.places(found, writelog.first_mark(found), cuts, rng), rng, look)


def shown(sectors: int) -> str:
    """The table of a device that shows so many sectors of what is recorded."""
    return f"0 {sectors} linear /dev/mapper/recorded 0"


def larger(size: int, lives: dict[str, Life]) -> None:
    """What lies below the pool grows, and the pool, which is in use, grows too. Its disks want more."""
    load_table("shown", shown(size >> 9))
    assert "now" in david("pool", "grow", "/dev/mapper/shown")
    for life in lives.values():
        life.most = 70 * size // SIZE


def cut_blocks(flushes: int, cuts: int, seed: int, share: bool = False, grows: int = 0) -> None:
    """What the disks write they have in common, but not where and when. `grows`: so many times."""
    most = SIZE + grows * MIB
    sizes = [SIZE + number * MIB for number in range(1, grows + 1)]
    with writelog.log_disk(512 * MIB if FULL else 128 * MIB) as log:
        with (
            loop_disk(most) as dev,
            writelog.recorded("recorded", dev, log),
            mapped("shown", shown(SIZE >> 9)) as backing,
            ExitStack() as stack,
        ):
            (made_sharing if share else made)(backing)
            lives = {}
            for number, name in enumerate(NAMES):
                disk = stack.enter_context(pool_disk(name, backing, "-o", "pool_reserve=32"))
                lives[name] = Life(disk, "recorded", seed + number, name)
                stack.callback(lives[name].close)
                # Together they want nearly all that there is.
                lives[name].most = 70
            order = random.Random(seed)
            for life in lives.values():
                life.run(1, last=False)
            while min(life.flushes for life in lives.values()) < flushes:
                done = sum(life.flushes for life in lives.values()) / (flushes * len(lives))
                if sizes and done > 1 - len(sizes) / (grows + 1):
                    larger(sizes.pop(0), lives)
                life = order.choice(list(lives.values()))
                life.run(life.flushes + 1, last=False)
            saved = int(device_stats(NAMES[0])["pool_saved"])  # type: ignore[call-overload]
            assert bool(saved) == share, saved
            for life in lives.values():
                life.run(0)
        found = list(writelog.entries(log))

    def wrong(name: str, disk: str, flushed: int) -> str:
        said = lives[name].wrong(disk, flushed)
        return f"disk {name}: {said}" if said else ""

    cut_everywhere(most, found, cuts, each_disk(TIB, "classify=keep", wrong))


@case
def every_flushed_block_of_every_disk_survives_a_power_cut() -> None:
    cut_blocks(FLUSHES, CUTS, 1)


@case(seldom=True)
def blocks_that_disks_share_survive_a_power_cut() -> None:
    cut_blocks(SHARED_FLUSHES, SHARED_CUTS, 3, share=True)


@case(seldom=True)
def a_pool_that_grows_in_use_survives_a_power_cut() -> None:
    for share in (False, True):
        cut_blocks(SHARED_FLUSHES, SHARED_CUTS, 4, share, grows=4)


@case(planted=True)
def blocks_that_are_lost_when_a_pool_grows_are_found() -> None:
    with planted("forgets"), must_fail():
        cut_blocks(SHARED_FLUSHES, SHARED_CUTS, 4, grows=4)


@case(planted=True)
def lost_blocks_of_a_pool_are_found() -> None:
    for bug, share in (("flush", False), ("reuse", False), ("reuse", True)):
        with planted(bug), must_fail():
            cut_blocks(60, 80, 2, share)


@case(seldom=True, complaints=FAILS)
def file_systems_of_three_kinds_recover_from_a_power_cut() -> None:
    cut_systems(1, SYNCS, FS_CUTS, share=False)


@case(seldom=True, complaints=FAILS)
def file_systems_of_three_kinds_that_share_blocks_recover_from_a_power_cut() -> None:
    cut_systems(2, SYNCS, FS_CUTS)


@case(planted=True, complaints=FAILS)
def what_a_pool_with_file_systems_loses_is_found() -> None:
    for bug in ("ahead", "onlycopy", "uncounted", "early"):
        say(f"poolcuts: with '{bug}' planted")
        with planted(bug), must_fail():
            cut_systems(3, 24, 80)


@contextmanager
def mirror(disks: list[str], *words: str) -> Iterator[str]:
    run("mdadm", words[0], ARRAY, "--run", *words[1:], *disks)
    try:
        yield ARRAY
    finally:
        run("mdadm", "--stop", ARRAY)


@case
def each_leg_of_a_mirror_with_shared_copies_recovers_from_a_power_cut() -> None:
    syncs, cuts = (100, 300) if FULL else (6, 4)
    words = ("--level=1", "--raid-devices=3", "--bitmap=none", "--metadata=1.2", "--assume-clean")
    with writelog.log_disk(2 * GIB) as log:
        with (
            loop_disk(FS_BACKING, prepare=made_sharing) as dev,
            writelog.recorded("recorded", dev, log) as backing,
            ExitStack() as stack,
        ):
            opened = (pool_disk(name, backing, "--classify", "auto", size=FS_SIZE) for name in NAMES)
            disks = [stack.enter_context(disk) for disk in opened]
            md = stack.enter_context(mirror(disks, "--create", *words))
            run(*TOOLS["ext4"].mkfs, "-J", "size=8", md)
            files = Files(stack.enter_context(mounted(md, "ext4")), "recorded", 1)
            os.sync()
            writelog.mark("recorded", "mounted")
            for number in range(syncs):
                files.step(number)
        found = list(writelog.entries(log))

    def look(dev: str, done: list[writelog.Entry], number: int) -> str:
        name = NAMES[number % len(NAMES)]
        table = f"0 {FS_SIZE >> 9} david {dev} 2 classify=auto pool={name}"
        with mapped(f"back-{name}", table) as disk, mirror([disk], "--assemble") as md:
            with mounted(md, "ext4") as top:
                said = files.wrong(top, marked(done, ""))
            run(*whole_check("ext4"), md)
        return f"leg {name}: {said}" if said else ""

    cut_everywhere(FS_BACKING, found, cuts, look)
