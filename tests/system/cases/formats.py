# SPDX-License-Identifier: GPL-2.0
"""What lies crooked on the fake disk: images with tables of their own (as virtual machines have them on a
logical volume), volumes that begin in the midst of its blocks, stores of smaller blocks, an array that is
reshaped.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from fcntl import ioctl
from pathlib import Path

from helpers.guest import SCRATCH, attached, mounted, run
from helpers.layouts import ARRAY, at_work, dos_label, live_scattered, slowly, synced
from helpers.raw import opened
from helpers.units import GIB, MIB
from helpers.victim import (
    LOGFLUSH,
    MODES,
    drop_caches,
    fake,
    flush_buffers,
    in_modes,
    look,
    make,
    many_directories,
    populate,
    shut_down,
    size_of,
    sync,
    told,
    tree,
    wait_until,
)

EXT4_IOC_CHECKPOINT, DISCARD, ZEROOUT = 0x4004662B, 1, 2
DEVICE = "/dev/nbd0"
ONLY_IMPLICIT = ("keep", "implicit")


@contextmanager
def through_qemu(disk: str, kind: str) -> Iterator[str]:
    run("qemu-nbd", "--fork", "--cache=none", "-f", kind, "-c", DEVICE, disk)
    wait_until(lambda: size_of(DEVICE) > 0, "the client's size")
    try:
        yield DEVICE
    finally:
        os.sync()
        run("qemu-nbd", "-d", DEVICE)
        flush_buffers(disk)


def in_an_image(mode: str, fs: str, kind: str, *words: str) -> None:
    """Clusters come where there is room, tables between them."""
    with fake(mode, 4 * GIB) as (disk, _):
        run("qemu-img", "create", "-q", "-f", kind, *words, disk, "2G")
        with through_qemu(disk, kind) as device:
            live_scattered(mode, fs, device)
        run("qemu-img", "check", "-q", "-f", kind, disk)
        with through_qemu(disk, kind) as device:
            look(fs, device, None, f"{fs} in a {kind}")


@in_modes(*MODES)
def an_ext4_in_a_qcow2_on_the_disk_loses_nothing(mode: str) -> None:
    in_an_image(mode, "ext4", "qcow2")


@in_modes(*ONLY_IMPLICIT)
def an_ext4_in_a_qcow2_whose_clusters_are_in_order_loses_nothing(mode: str) -> None:
    in_an_image(mode, "ext4", "qcow2", "-o", "preallocation=metadata")


@in_modes(*ONLY_IMPLICIT)
def an_xfs_in_a_qcow2_whose_clusters_are_in_order_loses_nothing(mode: str) -> None:
    in_an_image(mode, "xfs", "qcow2", "-o", "preallocation=metadata")


@in_modes(*ONLY_IMPLICIT)
def a_btrfs_in_a_qcow2_on_the_disk_loses_nothing(mode: str) -> None:
    in_an_image(mode, "btrfs", "qcow2")


def begins_at(mode: str, fs: str, offset: int, *features: str, block: int = 4096) -> None:
    """Blocks of the file system lie across those of the store."""
    with fake(mode, 4 * GIB, GIB, "victim", "-o", f"block_size={block}") as (disk, _):
        if offset:
            dos_label(disk, offset)
            os.sync()
        with attached(disk, offset) as loop:
            live_scattered(mode, fs, loop, *features)


@in_modes(*MODES)
def an_ext4_that_begins_at_sector_63_loses_nothing(mode: str) -> None:
    begins_at(mode, "ext4", 63 << 9)


@in_modes(*ONLY_IMPLICIT)
def an_ext3_of_small_blocks_that_begins_at_sector_63_loses_nothing(mode: str) -> None:
    begins_at(mode, "ext3", 63 << 9, "-b", "1024")


@in_modes(*ONLY_IMPLICIT)
def an_xfs_that_begins_at_sector_63_loses_nothing(mode: str) -> None:
    begins_at(mode, "xfs", 63 << 9)


@in_modes(*ONLY_IMPLICIT)
def a_btrfs_that_begins_at_sector_63_loses_nothing(mode: str) -> None:
    begins_at(mode, "btrfs", 63 << 9)


@in_modes("auto", "implicit")
def an_ext4_in_a_store_of_512_bytes_loses_nothing(mode: str) -> None:
    begins_at(mode, "ext4", 0, block=512)


@in_modes("auto", "implicit")
def an_xfs_in_a_store_of_1024_bytes_loses_nothing(mode: str) -> None:
    begins_at(mode, "xfs", 0, block=1024)


def reshape_ended() -> bool:
    return synced() and "reshape" not in Path("/proc/mdstat").read_text()


def reshaped(mode: str, fs: str) -> None:
    """mdadm --grow moves all that there is to other places, while the file system is at work."""
    size = 256 * MIB
    with ExitStack() as stack:
        disks = [stack.enter_context(fake(mode, size, name=f"leg{i}"))[0] for i in range(4)]
        words = ("--metadata=1.2", "--level=5", "--raid-devices=3", "--assume-clean", "--bitmap=none")
        run("mdadm", "--create", ARRAY, "--run", *words, *disks[:3])
        try:
            make(fs, ARRAY)
            with mounted(ARRAY, fs) as top:
                many_directories(top, "old", 200)
                populate(top, "files", 80)
                sync(top)
                slowly(200000)
                with at_work(top):
                    run("mdadm", ARRAY, "--add", disks[3])
                    run("mdadm", "--grow", ARRAY, "--raid-devices=4", f"--backup-file={SCRATCH}/grow")
                    wait_until(reshape_ended, "the end of the reshape", 120)
                populate(top, "more", 40)
                sync(top)
                expected = tree(top)
            run("mdadm", ARRAY, "--fail", disks[1])
            look(fs, ARRAY, expected, f"{fs} on a reshaped array, a disk lost")
        finally:
            run("mdadm", "--stop", ARRAY)


@in_modes(*ONLY_IMPLICIT)
def an_ext4_on_a_raid5_that_is_reshaped_survives_a_disk(mode: str) -> None:
    reshaped(mode, "ext4")


@in_modes(*ONLY_IMPLICIT)
def an_xfs_on_a_raid5_that_is_reshaped_survives_a_disk(mode: str) -> None:
    reshaped(mode, "xfs")


def erased_log(mode: str, how: int) -> None:
    """EXT4_IOC_CHECKPOINT: the log is written home, and then discarded or zeroed, while mounted."""
    with fake(mode, 4 * GIB) as (disk, _):
        make("ext4", disk, "-J", "size=16")
        with mounted(disk, "ext4") as top:
            for number in range(4):
                populate(top, f"k{number}", 60)
                sync(top)
                many_directories(top, f"t{number}-", 80)
                with opened(top, os.O_RDONLY) as directory:
                    ioctl(directory, EXT4_IOC_CHECKPOINT, struct.pack("I", how))
            expected = tree(top)
            sync(top)
            shut_down(top, LOGFLUSH)
        told(mode)
        drop_caches()
        with mounted(disk, "ext4"):
            pass
        look("ext4", disk, expected)


@in_modes("auto", "explicit", "implicit")
def an_ext4_whose_log_is_discarded_while_mounted_loses_nothing(mode: str) -> None:
    erased_log(mode, DISCARD)


@in_modes("auto", "explicit", "implicit")
def an_ext4_whose_log_is_zeroed_while_mounted_loses_nothing(mode: str) -> None:
    erased_log(mode, ZEROOUT)


def rewritten(mode: str, fs: str) -> None:
    """badblocks -n writes patterns over everything, and what was there again, on a disk that was cut."""
    with fake(mode, 256 * MIB + 64 * MIB * (fs == "xfs")) as (disk, _):
        make(fs, disk)
        with mounted(disk, fs) as top:
            many_directories(top, "t", 200)
            sync(top)
            expected = tree(top)
            shut_down(top, LOGFLUSH)
        drop_caches()
        run("badblocks", "-n", "-f", "-b", "4096", "-c", "512", disk)
        told(mode)
        drop_caches()
        with mounted(disk, fs):
            pass
        look(fs, disk, expected)


@in_modes("keep", "auto", "implicit")
def a_cut_ext4_rewritten_by_badblocks_is_whole(mode: str) -> None:
    rewritten(mode, "ext4")


@in_modes("keep", "auto", "implicit")
def a_cut_xfs_rewritten_by_badblocks_is_whole(mode: str) -> None:
    rewritten(mode, "xfs")
