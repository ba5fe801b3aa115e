# SPDX-License-Identifier: GPL-2.0
"""Upkeep of a file system: features changed off line and on line, labels, freezing, trimming, partitions, two
names of one disk, and what is put upon it.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from helpers.guest import SCRATCH, Failed, attached, dm, mapped, mounted, remove, run
from helpers.units import GIB, MIB
from helpers.victim import (
    MODES,
    drop_caches,
    fake,
    flush_buffers,
    in_modes,
    linear,
    look,
    make,
    many_directories,
    populate,
    shut_down,
    squashes,
    sync,
    told,
    tree,
)

KNOWING = ("auto", "explicit", "implicit")


@in_modes(*KNOWING)
def e2fsprogs_may_change_everything_of_an_unmounted_ext4(mode: str) -> None:
    undo = SCRATCH / "offline.undo"
    with fake(mode, 4 * GIB) as (disk, _):
        run("mkfs.ext4", "-q", "-F", disk, "2G")
        with mounted(disk, "ext4") as top:
            populate(top, "old", 100)
            many_directories(top, "t", 100)
            expected = tree(top)
        steps = (
            *("tune2fs -I 512", "tune2fs -O ^metadata_csum", "tune2fs -O ^has_journal", "tune2fs -j"),
            *("tune2fs -O metadata_csum", "tune2fs -O quota,project", "tune2fs -U random", "tune2fs -L name"),
            *("resize2fs -s", "resize2fs -b", "tune2fs -O ^resize_inode", "tune2fs -E stride=16"),
        )
        for step in steps:
            # Not each goes with all before it; e2fsck first, as they want it.
            run("e2fsck", "-fyD", disk, ok=(0, 1))
            run(*step.split(), disk, ok=(0, 1))
        run("resize2fs", "-f", disk, "3G")
        run("resize2fs", "-f", "-M", disk)
        undo.unlink(missing_ok=True)
        run("resize2fs", "-f", "-z", str(undo), disk, "3500M")
        run("e2undo", "-f", str(undo), disk)
        run("e2fsck", "-fyD", disk, ok=(0, 1))
        told(mode)
        look("ext4", disk, expected)


@in_modes(*KNOWING)
def an_ext4_is_told_other_things_while_it_is_mounted(mode: str) -> None:
    with fake(mode) as (disk, _):
        make("ext4", disk)
        with mounted(disk, "ext4") as top:
            populate(top, "old", 80)
            for words in ("-L label", "-m 1", "-c 7", "-e remount-ro", "-E mount_opts=lazytime", "-U random"):
                run("tune2fs", *words.split(), disk, ok=(0, 1))
            run("dumpe2fs", disk)
            many_directories(top, "t", 100)
            run("fsfreeze", "-f", top)
            run("fsfreeze", "-u", top)
            populate(top, "more", 60)
            run("fstrim", top)
            run("mount", "-o", "remount,ro", top)
            run("e2fsck", "-fn", disk)
            run("mount", "-o", "remount,rw,data=ordered,commit=1", top)
            many_directories(top, "u", 100)
            sync(top)
            expected = tree(top)
        told(mode)
        squashes()
        look("ext4", disk, expected)


@in_modes(*KNOWING)
def xfs_tools_lose_nothing(mode: str) -> None:
    with fake(mode, 6 * GIB) as (disk, _):
        make("xfs", disk, "-d", "size=3g")
        with mounted(disk, "xfs") as top:
            populate(top, "old", 100)
            run("xfs_io", "-x", "-c", "label -s one", top)
            run("xfs_growfs", top)
            run("xfs_growfs", "-m", "20", top)
            many_directories(top, "t", 100)
            run("fsfreeze", "-f", top)
            run("fsfreeze", "-u", top)
            run("fstrim", top)
            run("xfs_fsr", top, ok=(0, 1))
            expected = tree(top)
        run("xfs_admin", "-L", "other", disk)
        run("xfs_admin", "-U", "generate", disk)
        run("xfs_repair", disk)
        with mounted(disk, "xfs") as top:
            populate(top, "more", 60)
            sync(top)
            shut_down(top)
        run("xfs_repair", "-L", disk)
        with mounted(disk, "xfs") as top:
            assert set(expected) - {line for line in tree(top)} <= {expected[0]}, "names are gone"
        told(mode)
        run("xfs_repair", "-n", disk)


@in_modes(*KNOWING)
def btrfs_tools_lose_nothing(mode: str) -> None:
    with fake(mode, 6 * GIB) as (disk, _):
        make("btrfs", disk, "-b", "3g")
        with mounted(disk, "btrfs") as top:
            populate(top, "old", 100)
            run("btrfs", "filesystem", "label", top, "one")
            run("btrfs", "filesystem", "resize", "max", top)
            run("btrfs", "filesystem", "resize", "-1g", top)
            many_directories(top, "t", 100)
            run("btrfs", "balance", "start", "-f", "-mconvert=single", top)
            run("fstrim", top)
            sync(top)
            expected = tree(top)
        run("btrfstune", "-f", "-u", disk)
        run("btrfs", "rescue", "zero-log", disk)
        run("btrfs", "check", "--clear-space-cache", "v2", disk)
        told(mode)
        look("btrfs", disk, expected)


@in_modes(*KNOWING)
def f2fs_tools_lose_nothing(mode: str) -> None:
    with fake(mode, 4 * GIB) as (disk, _):
        run("mkfs.f2fs", "-q", "-f", "-t", "0", disk, str(2 * GIB >> 9))
        with mounted(disk, "f2fs") as top:
            populate(top, "old", 100)
            many_directories(top, "t", 100)
            expected = tree(top)
        run("resize.f2fs", disk)
        run("fsck.f2fs", "-f", disk, ok=(0, 1))
        run("defrag.f2fs", "-l", "8192", disk, ok=(0, 1, 255))
        with mounted(disk, "f2fs") as top:
            assert tree(top) == expected, "the tree differs after resize.f2fs"
            populate(top, "more", 60)
            sync(top)
            expected = tree(top)
            shut_down(top, 2)
        with mounted(disk, "f2fs"):
            pass
        told(mode)
        look("f2fs", disk, expected)


@in_modes(*KNOWING)
def partitions_of_each_kind_lose_nothing(mode: str) -> None:
    """A label by sfdisk or parted, moved and made again; ext4, xfs and btrfs side by side."""
    kinds = ("ext4", "xfs", "btrfs")
    for label in ("gpt", "dos"):
        with fake(mode, 6 * GIB) as (disk, _):
            lines = "".join(f",{GIB >> 9}\\n" for _ in kinds)
            run("sh", "-c", f"printf '{lines}' | sfdisk -q --no-reread --no-tell-kernel -X {label} {disk}")
            trees = []
            for number, fs in enumerate(kinds):
                with mapped("part", linear(GIB, disk, MIB + number * GIB)) as part:
                    make(fs, part)
                    with mounted(part, fs) as top:
                        populate(top, "old", 60)
                        many_directories(top, "t", 60)
                        trees.append(tree(top))
            run("parted", "-s", disk, "name" if label == "gpt" else "set", "1", *named(label))
            for number, _ in enumerate(kinds, 1):  # parted maps them
                if dm.exists(f"{os.path.basename(disk)}{number}"):
                    remove(f"{os.path.basename(disk)}{number}")
            told(mode)
            for number, fs in enumerate(kinds):
                with mapped("part", linear(GIB, disk, MIB + number * GIB)) as part:
                    look(fs, part, trees[number], f"{fs} in a partition ({label})")
            assert run("sfdisk", "-d", disk).count("start=") == 3, "partitions are gone"


def named(label: str) -> tuple[str, ...]:
    return ("first",) if label == "gpt" else ("boot", "on")


@in_modes(*KNOWING)
def a_disk_with_two_names_is_one(mode: str) -> None:
    with fake(mode) as (disk, _):
        make("ext4", disk)
        other = f"/dev/{os.path.basename(os.path.realpath(disk))}"
        if not os.path.exists(other):
            other = disk
        second = SCRATCH / "second-name"
        second.mkdir(parents=True, exist_ok=True)
        with mounted(disk, "ext4") as top:
            run("mount", "-t", "ext4", other, str(second))
            try:
                populate(top, "old", 60)
                populate(str(second), "more", 60)
                expected = tree(top)
            finally:
                run("umount", str(second))
            many_directories(top, "t", 60)
            expected = tree(top)
        look("ext4", disk, expected)


@in_modes(*KNOWING)
def an_overlay_keeps_its_whiteouts_and_names(mode: str) -> None:
    with fake(mode) as (disk, _):
        make("ext4", disk)
        with mounted(disk, "ext4") as top:
            populate(top, "lower", 100)
            for name in ("upper", "work", "merged"):
                os.mkdir(f"{top}/{name}")
            words = (
                f"lowerdir={top}/lower,upperdir={top}/upper,workdir={top}/work,redirect_dir=on,metacopy=on"
            )
            run("mount", "-t", "overlay", "overlay", "-o", words, f"{top}/merged")
            try:
                many_directories(f"{top}/merged", "t", 60)
                shutil.rmtree(f"{top}/merged/d1")
                os.rename(f"{top}/merged/d2", f"{top}/merged/moved")
                os.chmod(f"{top}/merged/d3", 0o700)
                merged = tree(f"{top}/merged")
            finally:
                run("umount", f"{top}/merged")
            expected = tree(top)
        look("ext4", disk, expected)
        with mounted(disk, "ext4") as top:
            run("mount", "-t", "overlay", "overlay", "-o", words, f"{top}/merged")
            found = tree(f"{top}/merged")
            run("umount", f"{top}/merged")
        assert found == merged, "merged it differs"


@in_modes(*MODES)
def an_ext4_in_a_loop_device_of_each_kind_loses_nothing(mode: str) -> None:
    for direct in (False, True):
        with fake(mode, 4 * GIB) as (disk, _):
            with attached(disk, direct=direct) as loop:
                make("ext4", loop)
                with mounted(loop, "ext4") as top:
                    populate(top, "old", 80)
                with mounted(loop, "ext4") as top:
                    many_directories(top, "t", 100)
                    sync(top)
                    expected = tree(top)
            flush_buffers(disk)
            look("ext4", disk, expected, f"direct={direct}")


@in_modes(*KNOWING)
def swap_in_a_partition_keeps_its_content(mode: str) -> None:
    """What goes out comes back: on the raw disk, and before a file system that is mounted beside it."""
    with fake(mode, GIB) as (disk, _):
        run("mkswap", "-L", "pages", disk)
        drop_caches()
        run("swapon", disk)
        try:
            pages = bytearray(os.urandom(MIB) * 48)
            # Reclaim by hand: a cgroup's, where there is one.
            with suppress(OSError, Failed):
                Path("/sys/fs/cgroup/memory.reclaim").write_text("48M")
            assert bytes(pages[:MIB]) == bytes(pages[-MIB:]), "pages differ"
        finally:
            run("swapoff", disk)
        assert "pages" in run("blkid", "-p", disk)
