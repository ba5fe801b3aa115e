# SPDX-License-Identifier: GPL-2.0
"""Who may speak for a block: a page says data only if nobody between its file system and the disk wants the
content. A log, a loop device's file, a RAW rule and a fake disk above want it.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from cases import case
from helpers.filesystems import TOOLS
from helpers.guest import Failed, david, fake_disk, looped, mapped, mounted, run
from helpers.logdata import (
    Place,
    on_a_loop,
    on_a_loop_on_a_loop,
    on_a_volume,
    on_a_volume_on_a_loop,
    on_a_volume_on_raid1,
    on_raid1,
    on_raid1_of_loops,
    on_raid10,
    recovered,
)
from helpers.planted import must_fail, planted
from helpers.raw import BLOCK, SECTOR, first_difference, must_read, opened, patterned
from helpers.raw import write as write_direct
from helpers.units import GIB, KIB, MIB
from helpers.victim import (
    MODES,
    drop_caches,
    fake,
    in_modes,
    linear,
    look,
    make,
    many_directories,
    populate,
    sync,
    told,
    tree,
)

KNOWING = ("keep", "auto", "explicit")


def named(name: str, scenario: Callable[[str], None], *modes: str, complaints: str = "") -> None:
    """The cases of a scenario that is one of a table."""
    scenario.__name__, scenario.__module__ = name, __name__
    globals()[name] = in_modes(*modes, complaints=complaints)(scenario)


# A log of data, written from the files' own pages, through layers that drop its mark.

PLACES: tuple[Place, ...] = (
    on_a_loop,
    on_raid1,
    on_raid10,
    on_a_volume,
    on_a_loop_on_a_loop,
    on_a_volume_on_a_loop,
    on_a_volume_on_raid1,
    on_raid1_of_loops,
)
for place in PLACES:
    named(
        f"an_ext4_that_logs_its_data_{place.__name__}_recovers",
        lambda mode, place=place: recovered(mode, place),  # type: ignore[misc]
        *KNOWING,
    )


@in_modes(*KNOWING)
def an_ext3_that_logs_its_data_on_a_loop_recovers(mode: str) -> None:
    recovered(mode, on_a_loop, "-O", "^extents,^64bit,^metadata_csum,^flex_bg", "-J", "size=64")


@in_modes(*KNOWING)
def an_ext4_that_logs_its_data_to_a_disk_of_its_own_recovers(mode: str) -> None:
    """The file system itself is on a disk that stores everything."""
    recovered(mode, lambda stack: stack.disk(GIB), apart=True)


@in_modes(*KNOWING)
def an_ext4_that_logs_its_data_to_a_loop_of_its_own_recovers(mode: str) -> None:
    recovered(mode, on_a_loop, apart=True)


@case(planted=True)
def planted_marks_that_are_lost_on_the_way_are_found() -> None:
    with planted("unmarked"), must_fail():
        recovered("auto", on_a_loop)


# Direct I/O to the disk itself, below a file system that has it mounted.

@dataclass(frozen=True)
class Below:
    fs: str
    options: tuple[str, ...] = ()
    size: tuple[str, ...] = ()  # behind the device's name
    areas: tuple[tuple[int, int], ...] = ()  # where the file system has nothing: offset, size


BOOT = ((0, SECTOR), (SECTOR, SECTOR))
BEHIND = tuple((at, BLOCK) for at in (3 * GIB, 3 * GIB + 40 * KIB, 4 * GIB - 8 * KIB, 4 * GIB - 4 * KIB))
BELOW = {
    "in_the_boot_block_of_an_ext4": Below("ext4", areas=BOOT),
    "in_the_boot_block_of_an_ext4_of_1_kib": Below("ext4", ("-b", "1024"), areas=BOOT),
    "in_the_boot_block_of_an_f2fs": Below("f2fs", areas=BOOT),
    "in_the_boot_loaders_room_of_a_btrfs": Below(
        "btrfs", areas=(BOOT[0], *((at * KIB, 4 * KIB) for at in (4, 8, 32, 60)), (16 * KIB, 16 * KIB))
    ),
    "behind_an_ext4": Below("ext4", size=("3G",), areas=BEHIND),
    "behind_an_xfs": Below("xfs", ("-d", "size=3g"), areas=BEHIND),
    "behind_a_btrfs": Below("btrfs", ("-b", "3G"), areas=BEHIND),
}


def written_below(mode: str, below: Below) -> None:
    with fake(mode, 4 * GIB) as (disk, _):
        run(*TOOLS[below.fs].mkfs, *below.options, disk, *below.size)
        with mounted(disk, below.fs) as top:
            populate(top, "old", 60)
            with opened(f"{top}/direct", os.O_RDWR | os.O_CREAT | os.O_DIRECT) as file:
                write_direct(file, patterned(7, MIB), 0)
            sync(top)
            with opened(disk, os.O_RDWR | os.O_DIRECT) as fd:
                for at, size in below.areas:
                    write_direct(fd, patterned(at, size), at)
                os.fsync(fd)
            drop_caches()
            with opened(disk, os.O_RDWR | os.O_DIRECT) as fd:
                for at, size in below.areas:
                    must_read(fd, patterned(at, size), at, f"{size} bytes at {at}")
            many_directories(top, "t", 60)
            sync(top)
            expected = tree(top)
        told(mode)
        look(below.fs, disk, expected)


for words, below in BELOW.items():
    named(
        f"what_is_written_{words}_while_it_is_mounted_is_exact",
        lambda mode, below=below: written_below(mode, below),  # type: ignore[misc]
        *MODES,
    )


def written_beside(mode: str, fs: str) -> None:
    """To the whole loop device, of which a partition is mounted: before it, and where another one is."""
    areas = ((SECTOR, 62 * SECTOR), (512 * KIB, 64 * KIB), (2 * GIB, MIB), (3 * GIB, 4 * KIB))
    with fake(mode, 4 * GIB) as (disk, _), looped(disk) as loop:
        run("sh", "-c", f"printf ',1G\\n,\\n' | sfdisk -q -X dos {loop}")
        run("partx", "-u", loop)
        david("stack")
        part = f"{loop}p1"
        make(fs, part)
        with mounted(part, fs) as top:
            populate(top, "old", 60)
            with opened(f"{top}/direct", os.O_RDWR | os.O_CREAT | os.O_DIRECT) as file:
                write_direct(file, patterned(7, MIB), 0)
            sync(top)
            with opened(loop, os.O_RDWR | os.O_DIRECT) as fd:
                for at, size in areas:
                    write_direct(fd, patterned(at, size), at)
                os.fsync(fd)
            drop_caches()
            with opened(loop, os.O_RDWR | os.O_DIRECT) as fd:
                for at, size in areas:
                    must_read(fd, patterned(at, size), at, f"{size} bytes at {at}")
            expected = tree(top)
        told(mode)
        look(fs, part, expected)
        run("partx", "-d", loop)


@in_modes(*MODES)
def what_is_written_beside_a_mounted_partition_of_a_loop_device_is_exact(mode: str) -> None:
    written_beside(mode, "ext4")


@in_modes(*MODES)
def what_is_written_beside_a_btrfs_in_a_partition_of_a_loop_device_is_exact(mode: str) -> None:
    written_beside(mode, "btrfs")


@case(planted=True)
def planted_openers_that_nobody_asks_about_are_found() -> None:
    """A program has the disk open beside the file system."""
    with planted("openers"), must_fail():
        written_below("auto", BELOW["in_the_boot_loaders_room_of_a_btrfs"])


# RAW files that come to share, or to be given, the blocks of files that no rule names.


def keeps_its_content(path: str, content: bytes, how: str) -> None:
    drop_caches()
    if (at := first_difference(content, Path(path).read_bytes())) >= 0:
        raise Failed(f"a RAW file differs from byte {at} on, {how}")


def given_blocks(mode: str, fs: str, how: str) -> None:
    """Files of equal content, while it is in the page cache; then one of them is RAW."""
    content = patterned(1, MIB)
    with fake(mode, 4 * GIB) as (disk, _):
        make(fs, disk)
        with mounted(disk, fs) as top:
            os.mkdir(f"{top}/raw")
            if mode != "keep":
                david("raw", "add", "victim", f"{top}/raw")
            for name in ("other", "raw/file", "raw/untouched"):
                Path(f"{top}/{name}").write_bytes(content)
            sync(top)
            keeps_its_content(f"{top}/raw/file", content, "as it was written")
            # Of the other one the page cache still has what was written.
            Path(f"{top}/other").write_bytes(content)
            sync(top)
            run("xfs_io", "-c", how.format(f"{top}/other", size=MIB), f"{top}/raw/file")
            keeps_its_content(f"{top}/raw/file", content, f"after {how.partition(' ')[0]}")
            keeps_its_content(f"{top}/raw/untouched", content, "by itself")
        run(*TOOLS[fs].check, disk)


DEDUPE, SWAPEXT = "dedupe {0} 0 0 {size}", "swapext {0}"


@in_modes("keep", "auto", "explicit")
def a_raw_file_of_a_btrfs_is_exact_when_it_shares_blocks(mode: str) -> None:
    given_blocks(mode, "btrfs", DEDUPE)


@in_modes("keep", "auto", "explicit")
def a_raw_file_of_an_xfs_is_exact_when_it_shares_blocks(mode: str) -> None:
    given_blocks(mode, "xfs", DEDUPE)


@in_modes("keep", "auto", "explicit")
def a_raw_file_of_an_xfs_is_exact_when_it_gets_anothers_blocks(mode: str) -> None:
    given_blocks(mode, "xfs", SWAPEXT)


START_ATOMIC, COMMIT_ATOMIC, MOVE_RANGE = 0xF501, 0xF502, 0xC020F509  # of f2fs


def given_by_f2fs(mode: str, how: Callable[[str, str, bytes], None]) -> None:
    content = patterned(1, MIB)
    with fake(mode, 4 * GIB) as (disk, _):
        make("f2fs", disk)
        with mounted(disk, "f2fs") as top:
            os.mkdir(f"{top}/raw")
            if mode != "keep":
                david("raw", "add", "victim", f"{top}/raw")
            Path(f"{top}/raw/file").write_bytes(patterned(2, MIB))
            sync(top)
            how(top, f"{top}/raw/file", content)
            sync(top)
            keeps_its_content(f"{top}/raw/file", content, how.__name__)


def written_as_one(top: str, path: str, content: bytes) -> None:
    """Into blocks of another inode, until it is committed."""
    with opened(path, os.O_RDWR) as fd:
        fcntl.ioctl(fd, START_ATOMIC)
        os.pwrite(fd, content, 0)
        fcntl.ioctl(fd, COMMIT_ATOMIC)


def moved_from_another(top: str, path: str, content: bytes) -> None:
    Path(f"{top}/other").write_bytes(content)
    with opened(f"{top}/other", os.O_RDWR) as source, opened(path, os.O_RDWR) as fd:
        os.fsync(source)
        fcntl.ioctl(source, MOVE_RANGE, struct.pack("=I4xQQQ", fd, 0, 0, len(content)))


@in_modes("keep", "auto", "explicit")
def a_raw_file_of_an_f2fs_is_exact_when_it_is_written_as_one(mode: str) -> None:
    given_by_f2fs(mode, written_as_one)


@in_modes("keep", "auto", "explicit")
def a_raw_file_of_an_f2fs_is_exact_when_blocks_are_moved_to_it(mode: str) -> None:
    given_by_f2fs(mode, moved_from_another)


# A fake disk on a fake disk: the upper one wants what it sends.


def on_another(mode: str, fs: str, upper: str, place: str = "whole") -> None:
    """`mode` is the lower one's. The upper one has a RAW rule, or keeps everything."""
    content = patterned(1, 5 * MIB)
    with ExitStack() as exits:
        disk, _ = exits.enter_context(fake(mode, 4 * GIB))
        if place == "loop":
            disk = exits.enter_context(looped(disk, MIB))
            david("stack")
        elif place == "volume":
            disk = exits.enter_context(mapped("volume", linear(3 * GIB, disk, MIB)))
        top_disk = exits.enter_context(fake_disk("upper", 20 * GIB, disk, "--classify", upper))
        make(fs, top_disk)
        with mounted(top_disk, fs) as top:
            os.mkdir(f"{top}/raw")
            if upper != "keep":
                david("raw", "add", "upper", f"{top}/raw")
            # What is heard first is kept.
            Path(f"{top}/old").write_bytes(patterned(2, MIB))
            sync(top)
            time.sleep(0.5)
            Path(f"{top}/raw/file").write_bytes(content)
            populate(top, "more", 60)
            sync(top)
            told(mode)
            expected = tree(top)
            keeps_its_content(f"{top}/raw/file", content, f"on {fs}, {upper} on {mode}")
        look(fs, top_disk, expected)


UPPER = {"auto": ("ext4", "xfs", "btrfs"), "keep": ("ext4", "xfs", "f2fs"), "implicit": ("ext4",)}
for upper, kinds in UPPER.items():
    for fs in kinds:
        named(
            f"what_a_fake_disk_with_{fs}_of_{upper}_wants_is_exact_on_another",
            lambda mode, fs=fs, upper=upper: on_another(mode, fs, upper),  # type: ignore[misc]
            *MODES,
        )
for place in ("loop", "volume"):
    named(
        f"what_a_fake_disk_of_keep_wants_is_exact_on_a_{place}_on_another",
        lambda mode, place=place: on_another(mode, "ext4", "keep", place),  # type: ignore[misc]
        *KNOWING,
    )


@case(planted=True)
def planted_fake_disks_that_are_believed_below_are_found() -> None:
    with planted("upper"), must_fail():
        on_another("auto", "ext4", "keep")
