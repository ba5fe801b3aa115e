# SPDX-License-Identifier: GPL-2.0
"""Images of file systems copied onto the fake disk: of a mounted one, in any order; and over one that was not
unmounted.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

from helpers.guest import SCRATCH, attached, copy_sparse, mounted, run
from helpers.sparse import data_runs
from helpers.units import GIB
from helpers.victim import (
    MODES,
    drop_caches,
    fake,
    in_modes,
    look,
    make,
    many_directories,
    populate,
    shut_down,
    sync,
    told,
    tree,
)

SIZE = 2 * GIB
PIECE = 64 << 10
KNOWING = ("auto", "explicit", "implicit")
Copy = Callable[[str, str], object]


def image_of(fs: str, unmounted: bool, *features: str) -> tuple[Path, list[str]]:
    """A file, and the tree that is in it once it is recovered."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    live, image = SCRATCH / "live.image", SCRATCH / "copied.image"
    for path in (live, image):
        with open(path, "wb") as file:
            file.truncate(SIZE)
    with attached(str(live)) as loop:
        make(fs, loop, *features)
        with mounted(loop, fs) as top:
            for number in range(4):
                populate(top, f"k{number}", 120)
                sync(top)
            run("rm", "-r", f"{top}/k1")
            many_directories(top, "t", 150)
            sync(top)
            Path(f"{top}/k2/x").touch()
            sync(top)
            if not unmounted:
                copy_sparse(str(live), str(image))
        if unmounted:
            copy_sparse(str(live), str(image))
        os.sync()
    with open(live, "wb") as file:
        file.truncate(SIZE)
    copy_sparse(str(image), str(live))
    with attached(str(live)) as loop, mounted(loop, fs) as top:
        expected = tree(top)
    live.unlink()
    return image, expected


def pieces(path: str) -> list[int]:
    """Where something stands."""
    found = []
    with open(path, "rb") as file:
        for begin, end in data_runs(file.fileno()):
            found += range(begin // PIECE, (end + PIECE - 1) // PIECE)
    return sorted(set(found))


def in_order(source: str, disk: str, order: list[int]) -> None:
    flags = os.O_WRONLY | os.O_CLOEXEC
    with open(source, "rb") as file:
        fd = os.open(disk, flags)
        try:
            for piece in order:
                os.pwrite(fd, os.pread(file.fileno(), PIECE, piece * PIECE), piece * PIECE)
                if piece % 16 == 0:
                    os.fdatasync(fd)
            os.fsync(fd)
        finally:
            os.close(fd)


def at_random(source: str, disk: str) -> None:
    order = pieces(source)
    random.Random(7).shuffle(order)
    in_order(source, disk, order)


def backwards(source: str, disk: str) -> None:
    in_order(source, disk, pieces(source)[::-1])


def superblock_first(source: str, disk: str) -> None:
    """Then the log, then all else at random: what a copy of the busiest blocks first would do."""
    first, *rest = pieces(source)
    random.Random(8).shuffle(rest)
    in_order(source, disk, [first, *rest])


def by_qemu(source: str, disk: str) -> None:
    run("qemu-img", "convert", "-n", "-W", "-m", "16", "-f", "raw", "-O", "raw", source, disk)


def by_e2image(source: str, disk: str) -> None:
    run("e2image", "-f", "-ra", source, disk)


def copied(mode: str, fs: str, copy: Copy, *features: str, unmounted: bool = False, over: str = "") -> None:
    image, expected = image_of(fs, unmounted, *features)
    with fake(mode, SIZE) as (disk, _):
        if over:
            make(over, disk, *features)
            with mounted(disk, over) as top:
                populate(top, "gone", 60)
            with mounted(disk, over) as top:
                many_directories(top, "gone", 60)
                if over != "btrfs":  # it cannot, and its superblock does not tell
                    shut_down(top)
            drop_caches()
        copy(str(image), disk)
        told(mode)
        drop_caches()
        with mounted(disk, fs):
            pass
        look(fs, disk, expected)
    image.unlink()


@in_modes(*MODES)
def a_live_ext4_copied_at_random_is_whole(mode: str) -> None:
    copied(mode, "ext4", at_random, "-J", "size=8")


@in_modes("implicit")
def a_live_ext4_copied_backwards_is_whole(mode: str) -> None:
    copied(mode, "ext4", backwards, "-J", "size=8")


@in_modes("implicit")
def a_live_ext4_whose_superblock_comes_first_is_whole(mode: str) -> None:
    copied(mode, "ext4", superblock_first, "-J", "size=8")


@in_modes("implicit")
def a_live_ext4_copied_by_qemu_in_any_order_is_whole(mode: str) -> None:
    copied(mode, "ext4", by_qemu, "-J", "size=8")


@in_modes("implicit")
def a_live_ext3_copied_at_random_is_whole(mode: str) -> None:
    copied(mode, "ext3", at_random, "-J", "size=8")


@in_modes("implicit")
def a_live_ext2_copied_at_random_is_whole(mode: str) -> None:
    copied(mode, "ext2", at_random, unmounted=True)


@in_modes("implicit", "auto")
def a_live_xfs_copied_at_random_is_whole(mode: str) -> None:
    copied(mode, "xfs", at_random)


@in_modes("implicit")
def a_live_xfs_with_large_directories_copied_at_random_is_whole(mode: str) -> None:
    copied(mode, "xfs", at_random, "-n", "size=16384")


@in_modes("implicit")
def a_live_xfs_with_large_directories_copied_in_order_is_whole(mode: str) -> None:
    copied(mode, "xfs", lambda image, disk: in_order(image, disk, pieces(image)), "-n", "size=16384")


@in_modes("implicit", "auto")
def a_live_btrfs_copied_at_random_is_whole(mode: str) -> None:
    copied(mode, "btrfs", at_random)


@in_modes("implicit")
def a_live_ext4_copied_by_e2image_is_whole(mode: str) -> None:
    copied(mode, "ext4", by_e2image, "-J", "size=8", unmounted=True)


@in_modes(*MODES)
def an_image_restored_at_random_over_a_cut_ext4_is_whole(mode: str) -> None:
    """Its superblock comes late: until then the old one's counts as mounted."""
    copied(mode, "ext4", at_random, "-J", "size=8", unmounted=True, over="ext4")


@in_modes("keep", "implicit")
def an_image_restored_backwards_over_a_cut_ext4_is_whole(mode: str) -> None:
    copied(mode, "ext4", backwards, "-J", "size=8", unmounted=True, over="ext4")


@in_modes("keep", "implicit")
def an_image_restored_by_qemu_over_a_cut_ext4_is_whole(mode: str) -> None:
    copied(mode, "ext4", by_qemu, "-J", "size=8", unmounted=True, over="ext4")


@in_modes("keep", "implicit")
def an_xfs_restored_at_random_over_a_cut_xfs_is_whole(mode: str) -> None:
    copied(mode, "xfs", at_random, unmounted=True, over="xfs")


@in_modes("keep", "implicit")
def an_xfs_restored_at_random_over_a_cut_ext4_is_whole(mode: str) -> None:
    copied(mode, "xfs", at_random, unmounted=True, over="ext4")


@in_modes("keep", "implicit")
def a_btrfs_restored_at_random_over_another_is_whole(mode: str) -> None:
    copied(mode, "btrfs", at_random, unmounted=True, over="btrfs")
