# SPDX-License-Identifier: GPL-2.0
"""Layers that put blocks elsewhere, or other blocks between them: encryption, integrity, arrays, copies that
are made while they are used.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from helpers.guest import Failed, attached, loop_disk, mounted, run
from helpers.layouts import ARRAY, PACKED, at_work, live_scattered, slowly, synced
from helpers.units import GIB, MIB
from helpers.victim import (
    MODES,
    Mapper,
    fake,
    in_modes,
    look,
    make,
    many_directories,
    populate,
    size_of,
    sync,
    told,
    tree,
    wait_until,
)

NAMES = ("victim", "second", "third")
SIZE = 512 * MIB  # of each disk of an array


def table_over(disk: str, mode: str, fs: str, table: str, *features: str) -> None:
    with ExitStack() as stack:
        device = Mapper(stack).create("between", table.format(length=size_of(disk) >> 9, disk=disk))
        live_scattered(mode, fs, device, *features)


@in_modes(*MODES)
def an_ext4_encrypted_by_dm_crypt_loses_nothing(mode: str) -> None:
    with fake(mode, 4 * GIB) as (disk, _):
        table_over(disk, mode, "ext4", f"0 {{length}} crypt aes-cbc-plain {'0f' * 16} 0 {{disk}} 0")


@in_modes("implicit", "auto")
def an_xfs_encrypted_by_luks_loses_nothing(mode: str) -> None:
    with fake(mode, 2 * GIB) as (disk, _):
        key = "/tmp/luks-key"
        Path(key).write_text("secret")
        words = ("--type", "luks2", "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", "-q")
        run("cryptsetup", "luksFormat", *words, disk, key)
        run("cryptsetup", "open", "--key-file", key, disk, "opened")
        try:
            live_scattered(mode, "xfs", "/dev/mapper/opened")
        finally:
            run("cryptsetup", "close", "opened")


def with_integrity(mode: str, fs: str, *features: str) -> None:
    """Tags and a journal of its own between the blocks: a part of the file system is in one piece."""
    with fake(mode, 2 * GIB) as (disk, _):
        run("integritysetup", "format", "-q", "--no-wipe", "--integrity", "crc32c", disk)
        run("integritysetup", "open", "--integrity", "crc32c", "--integrity-recalculate", disk, "whole")
        try:
            live_scattered(mode, fs, "/dev/mapper/whole", *features)
        finally:
            run("integritysetup", "close", "whole")


@in_modes(*MODES)
def an_ext4_on_dm_integrity_loses_nothing(mode: str) -> None:
    with_integrity(mode, "ext4", *PACKED)


@in_modes("implicit")
def an_xfs_on_dm_integrity_loses_nothing(mode: str) -> None:
    with_integrity(mode, "xfs")


@in_modes("implicit")
def a_btrfs_on_dm_integrity_loses_nothing(mode: str) -> None:
    with_integrity(mode, "btrfs")


def in_array(mode: str, fs: str, level: str, count: int, *features: str, lost: bool = False) -> None:
    """Resynced while it is used; then with a disk missing."""
    with ExitStack() as stack:
        disks = [stack.enter_context(fake(mode, SIZE, name=name))[0] for name in NAMES[:count]]
        run("mdadm", "--create", ARRAY, "--run", *level.split(), f"--raid-devices={count}", *disks)
        try:
            slowly(60000)
            make(fs, ARRAY, *features)
            with mounted(ARRAY, fs) as top, at_work(top):
                populate(top, "old", 100)
                many_directories(top, "t", 100)
                wait_until(synced, "the array in sync", 200)
            with mounted(ARRAY, fs) as top:
                many_directories(top, "u", 100)
                sync(top)
                expected = tree(top)
            for name in NAMES[:count]:
                told(mode, name)
            look(fs, ARRAY, expected, f"{fs} on {level}")
            if lost:
                run("mdadm", "--stop", ARRAY)
                run("mdadm", "--assemble", "--run", ARRAY, *disks[1:])
                look(fs, ARRAY, expected, f"{fs} on {level} without its first disk")
        finally:
            run("mdadm", "--stop", ARRAY)


@in_modes("implicit", "auto", "keep")
def an_ext4_on_raid5_survives_a_disk(mode: str) -> None:
    in_array(mode, "ext4", "--level=5 --bitmap=none", 3, "-J", "size=4", lost=True)


@in_modes("implicit")
def an_ext4_on_raid5_of_large_chunks_survives_a_disk(mode: str) -> None:
    in_array(mode, "ext4", "--level=5 --bitmap=none --chunk=65536", 3, *PACKED, lost=True)


@in_modes("implicit", "auto")
def an_xfs_on_raid5_survives_a_disk(mode: str) -> None:
    in_array(mode, "xfs", "--level=5 --bitmap=none", 3, lost=True)


@in_modes("implicit")
def a_btrfs_on_raid5_survives_a_disk(mode: str) -> None:
    in_array(mode, "btrfs", "--level=5 --bitmap=none", 3, lost=True)


@in_modes("implicit", "auto")
def an_ext4_on_raid0_of_large_chunks_is_whole(mode: str) -> None:
    in_array(mode, "ext4", "--level=0 --chunk=65536", 2, *PACKED)


@in_modes("implicit", "auto")
def an_ext4_on_raid10_survives_a_disk(mode: str) -> None:
    in_array(mode, "ext4", "--level=10 --layout=n2 --bitmap=internal", 3, "-J", "size=4", lost=True)


@in_modes("implicit", "auto")
def an_ext4_on_raid1_with_its_superblock_last_survives_a_disk(mode: str) -> None:
    """The file system begins at the first sector of the disk, but is mounted on the array."""
    in_array(mode, "ext4", "--level=1 --metadata=1.0 --bitmap=internal", 2, "-J", "size=4", lost=True)


@in_modes("implicit")
def an_ext4_on_raid1_written_behind_survives_a_disk(mode: str) -> None:
    """The second leg is written when there is time: without the order of the first one."""
    with fake(mode, GIB) as (disk, _), loop_disk(GIB) as real:
        words = "--level=1 --metadata=1.0 --bitmap=internal --write-behind=4096 --assume-clean".split()
        run("mdadm", "--create", ARRAY, "--run", *words, "--raid-devices=2", real, "--write-mostly", disk)
        try:
            make("ext4", ARRAY, "-J", "size=4")
            with mounted(ARRAY, "ext4") as top:
                populate(top, "old", 100)
            with mounted(ARRAY, "ext4") as top:
                for number in range(5):
                    many_directories(top, f"t{number}-", 60)
                    sync(top)
                expected = tree(top)
        finally:
            run("mdadm", "--stop", ARRAY)
        told(mode)
        with attached(disk) as loop:
            look("ext4", loop, expected, "the leg that is written behind")


def hydrated(mode: str, fs: str, *features: str) -> None:
    """dm-clone: the real disk's file system is used on the fake one while it is still being copied."""
    size = GIB
    with fake(mode, size) as (disk, _), loop_disk(size) as real, loop_disk(16 * MIB) as meta:
        make(fs, real, *features)
        with mounted(real, fs) as top:
            populate(top, "old", 100)
            many_directories(top, "t", 200)
        with ExitStack() as stack:
            table = f"0 {size >> 9} clone {meta} {disk} {real} 8 1 no_hydration"
            device = Mapper(stack).create("clone", table)
            with mounted(device, fs) as top:
                run("dmsetup", "message", "clone", "0", "enable_hydration")
                with at_work(top):
                    wait_until(lambda: all_copied("clone"), "all copied", 200)
                sync(top)
                expected = tree(top)
            look(fs, device, expected)
        told(mode)
        look(fs, disk, expected, "the copy alone")


def all_copied(name: str) -> bool:
    """META HELD/OF, REGION COPIED/OF: the seventh word."""
    words = run("dmsetup", "status", name).split()
    done, _, total = words[6].partition("/")
    return done == total


@in_modes(*MODES)
def an_ext4_used_while_it_is_cloned_is_whole(mode: str) -> None:
    hydrated(mode, "ext4", "-O", "^flex_bg", "-g", "8192", "-J", "size=4")


@in_modes("implicit", "auto")
def an_xfs_used_while_it_is_cloned_is_whole(mode: str) -> None:
    hydrated(mode, "xfs")


@in_modes("implicit")
def a_btrfs_used_while_it_is_cloned_is_whole(mode: str) -> None:
    hydrated(mode, "btrfs")


@in_modes("implicit", "auto")
def an_ext4_below_dm_era_and_dm_ebs_loses_nothing(mode: str) -> None:
    with fake(mode, 4 * GIB) as (disk, _), loop_disk(16 * MIB) as meta:
        table_over(disk, mode, "ext4", f"0 {{length}} era {meta} {{disk}} 128")
    with fake(mode, 4 * GIB) as (disk, _):
        table_over(disk, mode, "ext4", "0 {length} ebs {disk} 0 1 8")


@in_modes("implicit")
def verity_beside_a_file_system_is_kept(mode: str) -> None:
    """Its hash tree lies behind the file system on the same disk."""
    with fake(mode, 2 * GIB) as (disk, _):
        run("mkfs.ext4", "-q", "-F", "-O", "^has_journal,^metadata_csum", disk, "512M")
        with mounted(disk, "ext4") as top:
            populate(top, "old", 40)
        root = ""
        for line in run(
            "veritysetup", "format", f"--hash-offset={GIB}", f"--data-blocks={512 * MIB >> 12}", disk, disk
        ).splitlines():
            if line.startswith("Root hash"):
                root = line.split()[-1]
        said = run("veritysetup", "verify", f"--hash-offset={GIB}", disk, disk, root)
        if "failed" in said.lower():
            raise Failed(said)
