# SPDX-License-Identifier: GPL-2.0
"""Others on the same disk: behind a mounted file system, in its place, on what a file system has left, and
file systems that the classifier does not know.
"""

from __future__ import annotations

import os
import shutil

from cases import case
from helpers.filesystems import UNKNOWN
from helpers.guest import attached, mounted, run
from helpers.layouts import dos_label
from helpers.manifest import manifest
from helpers.planted import must_fail, planted
from helpers.trees import equal
from helpers.units import GIB, MIB
from helpers.victim import (
    MODES,
    drop_caches,
    fake,
    in_modes,
    look,
    make,
    many_directories,
    plain,
    populate,
    shut_down,
    sync,
    told,
    tree,
)

KNOWING = ("auto", "explicit", "implicit")


def behind(mode: str, fs: str, other: str, *features: str) -> None:
    """A file system that does not take the whole disk; behind it another one, by direct I/O through a loop
    device, which the first one's holder does not forbid.
    """
    with fake(mode, 8 * GIB) as (disk, _):
        run(*{"ext4": ("mkfs.ext4", "-q", "-F", disk, "2G")}[fs])
        with mounted(disk, fs) as top:
            populate(top, "old", 60)
            with attached(disk, 4 * GIB, direct=True) as loop:
                make(other, loop, *features)
                with mounted(loop, other) as inner:
                    populate(inner, "old", 60)
                    many_directories(inner, "t", 60)
                    expected = tree(inner)
                if other == "xfs":
                    run("xfs_repair", loop)
                look(other, loop, expected, f"{other} behind a mounted {fs}")
            populate(top, "more", 30)
            outer = tree(top)
        told(mode)
        look(fs, disk, outer)


@in_modes(*MODES)
def an_xfs_made_behind_a_mounted_ext4_is_whole(mode: str) -> None:
    behind(mode, "ext4", "xfs")


@in_modes("auto", "explicit")
def an_ext4_made_past_the_cache_behind_a_mounted_one_is_whole(mode: str) -> None:
    behind(mode, "ext4", "ext4", "-D")


@in_modes(*MODES)
def a_disk_taken_out_of_a_btrfs_takes_an_xfs(mode: str) -> None:
    with fake(mode, 4 * GIB) as (disk, _), fake(mode, 4 * GIB, name="second") as (second, _):
        make("btrfs", disk)
        with mounted(disk, "btrfs") as top:
            populate(top, "old", 60)
            run("btrfs", "device", "add", "-f", second, top)
            populate(top, "more", 60)
            run("btrfs", "device", "remove", disk, top)
            sync(top)
            # While the other one stays mounted.
            make("xfs", disk)
            with mounted(disk, "xfs") as inner:
                populate(inner, "old", 60)
                expected = tree(inner)
            look("xfs", disk, expected, "xfs on the disk that btrfs has left")
            outer = tree(top)
        look("btrfs", second, outer)


@in_modes(*MODES)
def a_disk_replaced_in_a_btrfs_takes_an_xfs(mode: str) -> None:
    with fake(mode, 4 * GIB) as (disk, _), fake(mode, 4 * GIB, name="second") as (second, _):
        make("btrfs", disk)
        with mounted(disk, "btrfs") as top:
            populate(top, "old", 60)
            run("btrfs", "replace", "start", "-B", "-f", "1", second, top)
            make("xfs", disk)
            with mounted(disk, "xfs") as inner:
                populate(inner, "old", 60)
                expected = tree(inner)
            look("xfs", disk, expected, "xfs on the disk that btrfs has left")
            outer = tree(top)
        look("btrfs", second, outer)


def over_a_cut_one(mode: str, old: str, new: str, *features: str) -> None:
    """A machine was lost with its file system mounted; its disk is partitioned, and used again."""
    with fake(mode, 6 * GIB) as (disk, _):
        make(old, disk)
        with mounted(disk, old) as top:
            populate(top, "old", 60)
        with mounted(disk, old) as top:
            populate(top, "more", 40)
            many_directories(top, "t", 60)
            shut_down(top)
        drop_caches()
        dos_label(disk, MIB)
        with attached(disk, MIB) as part:
            make(new, part, *features)
            with mounted(part, new) as top:
                populate(top, "new", 100)
                many_directories(top, "n", 100)
                expected = tree(top)
            told(mode)
            look(new, part, expected, f"{new} in a partition over a cut {old}")


@in_modes(*MODES)
def an_ext4_in_a_partition_over_a_cut_ext4_is_whole(mode: str) -> None:
    over_a_cut_one(mode, "ext4", "ext4")


@in_modes(*MODES)
def an_ext4_in_a_partition_over_a_cut_ext4_not_discarded_is_whole(mode: str) -> None:
    over_a_cut_one(mode, "ext4", "ext4", "-E", "nodiscard")


@case(planted=True)
def a_partition_over_a_cut_ext4_finds_who_believes_all_of_it() -> None:
    with planted("alone"), must_fail():
        over_a_cut_one("implicit", "ext4", "f2fs", "-t", "0")


@in_modes("keep", "implicit")
def an_xfs_in_a_partition_over_a_cut_ext4_is_whole(mode: str) -> None:
    over_a_cut_one(mode, "ext4", "xfs", "-K")


@in_modes("keep", "implicit")
def a_btrfs_in_a_partition_over_a_cut_ext4_is_whole(mode: str) -> None:
    over_a_cut_one(mode, "ext4", "btrfs", "-K")


@in_modes("keep", "implicit")
def an_f2fs_in_a_partition_over_a_cut_ext4_is_whole(mode: str) -> None:
    over_a_cut_one(mode, "ext4", "f2fs", "-t", "0")


@in_modes("keep", "implicit")
def an_ext4_in_a_partition_over_a_cut_xfs_is_whole(mode: str) -> None:
    over_a_cut_one(mode, "xfs", "ext4", "-E", "nodiscard")


@in_modes("keep", "implicit")
def an_ext4_in_a_partition_over_a_cut_btrfs_is_whole(mode: str) -> None:
    with fake(mode, 6 * GIB) as (disk, _):
        make("btrfs", disk)
        with mounted(disk, "btrfs") as top:
            populate(top, "old", 60)
            sync(top)
        dos_label(disk, MIB)
        with attached(disk, MIB) as part:
            make("ext4", part, "-E", "nodiscard")
            with mounted(part, "ext4") as top:
                populate(top, "new", 100)
                expected = tree(top)
            look("ext4", part, expected)


@in_modes(*KNOWING)
def a_root_checked_while_mounted_read_only_is_whole(mode: str) -> None:
    """What a boot does: mount read-only, which recovers; e2fsck; remount."""
    with fake(mode) as (disk, _):
        make("ext4", disk)
        with mounted(disk, "ext4") as top:
            populate(top, "old", 100)
        with mounted(disk, "ext4") as top:
            many_directories(top, "t", 100)
            shut_down(top)
        with mounted(disk, "ext4", "ro") as top:
            run("e2fsck", "-fyD", disk, ok=(0, 1, 2, 3))
            run("mount", "-o", "remount,rw", top)
            many_directories(top, "u", 100)
            expected = tree(top)
        told(mode)
        look("ext4", disk, expected)


def live_unknown(mode: str, fs: str) -> None:
    mkfs, check, options = UNKNOWN[fs]
    with fake(mode, GIB) as (disk, _):
        run(*mkfs, disk)
        with mounted(disk, fs, options) as top:
            plain(top, "old", 80)
        with mounted(disk, fs, options) as top:
            plain(top, "more", 60)
            shutil.rmtree(f"{top}/old/d3")
            os.sync()
            expected = manifest(top, content=True)
        told(mode)
        drop_caches()
        run(*check, disk)
        with mounted(disk, fs, options) as top:
            equal(fs, expected, manifest(top, content=True))


@in_modes(*KNOWING)
def a_vfat_is_kept_whole(mode: str) -> None:
    live_unknown(mode, "vfat")


@in_modes(*KNOWING)
def an_exfat_is_kept_whole(mode: str) -> None:
    live_unknown(mode, "exfat")


@in_modes(*KNOWING)
def an_ntfs_is_kept_whole(mode: str) -> None:
    live_unknown(mode, "ntfs3")


@in_modes(*KNOWING)
def a_jfs_is_kept_whole(mode: str) -> None:
    live_unknown(mode, "jfs")


@in_modes(*KNOWING)
def a_gfs2_is_kept_whole(mode: str) -> None:
    live_unknown(mode, "gfs2")


@in_modes(*KNOWING)
def an_ocfs2_with_its_jbd2_is_kept_whole(mode: str) -> None:
    live_unknown(mode, "ocfs2")


@in_modes(*KNOWING)
def a_reiserfs_is_kept_whole(mode: str) -> None:
    live_unknown(mode, "reiserfs")


@in_modes(*KNOWING)
def a_udf_is_kept_whole(mode: str) -> None:
    live_unknown(mode, "udf")


@in_modes(*KNOWING)
def a_minix_is_kept_whole(mode: str) -> None:
    live_unknown(mode, "minix")


def image_in_a_fragmented_file(mode: str, outer: str, inner: str) -> None:
    """The superblock of an image in a file of an unknown file system: what lies in the image's range on
    the disk is not all the image's.
    """
    mkfs, check, options = UNKNOWN[outer]
    with fake(mode, 3 * GIB) as (disk, _):
        run(*mkfs, disk)
        with mounted(disk, outer, options) as top:
            for number in range(24):
                with open(f"{top}/image", "ab") as file:
                    file.write(bytes(os.urandom(4096)) * 1024 * 2)
                plain(top, f"between-{number}", 10)
                os.sync()
            with attached(f"{top}/image") as loop:
                make(inner, loop, *(("-J", "size=4") if inner == "ext4" else ()))
                with mounted(loop, inner) as image:
                    for number in range(6):
                        plain(image, f"inside-{number}", 20)
                        os.sync()
                        plain(top, f"beside-{number}", 30)
                        for part in range(10):
                            shutil.rmtree(f"{top}/between-{number}/d{part}")
                            os.makedirs(f"{top}/again-{number}-{part}/deep/deeper")
                        os.sync()
            os.sync()
            expected = [line for line in manifest(top, content=True) if "/image'" not in line]
        told(mode)
        drop_caches()
        run(*check, disk)
        with mounted(disk, outer, options) as top:
            found = [line for line in manifest(top, content=True) if "/image'" not in line]
            equal(f"{outer} around an image of {inner}", expected, found)


@in_modes("implicit")
def a_vfat_with_an_image_of_ext4_in_pieces_loses_nothing(mode: str) -> None:
    image_in_a_fragmented_file(mode, "vfat", "ext4")


@in_modes("implicit")
def a_vfat_with_an_image_of_btrfs_in_pieces_loses_nothing(mode: str) -> None:
    image_in_a_fragmented_file(mode, "vfat", "btrfs")


@in_modes("implicit")
def a_jfs_with_an_image_of_ext4_in_pieces_loses_nothing(mode: str) -> None:
    image_in_a_fragmented_file(mode, "jfs", "ext4")
