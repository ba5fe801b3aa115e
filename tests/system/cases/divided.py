# SPDX-License-Identifier: GPL-2.0
"""File systems that are divided over several disks, though each disk looks like a whole one: by an array
whose members are as long as itself, or by btrfs, whose compressed extents go on at another disk.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import sleep

from cases import case
from helpers.filesystems import TOOLS
from helpers.guest import Failed, device_stats, mounted, run
from helpers.layouts import ARRAY
from helpers.planted import must_fail, planted
from helpers.units import GIB, KIB, MIB
from helpers.victim import (
    drop_caches,
    fake,
    flush_buffers,
    in_modes,
    look,
    make,
    many_directories,
    next_boot,
    populate,
    sync,
    told,
    tree,
)

NAMES = ("victim", "second", "third", "fourth")
CONTROLLED = ("keep", "implicit")
# No journal, no reserve of descriptors: all groups look alike, and nothing but places tells them apart.
EXT4 = ("-E", "lazy_itable_init=0", "-O", "^has_journal,^resize_inode,^flex_bg")
EXT2 = ("-O", "^resize_inode")


def dropped(name: str = "victim") -> int:
    """Blocks, at once or later."""
    stats = device_stats(name)
    return stats["written"]["squashed"] + stats["unclassified"]["data"]  # type: ignore[index]


@contextmanager
def array(layout: str, chunk: int, *disks: str) -> Iterator[str]:
    """Its superblock is at the end, so the first sector of the array is that of a disk."""
    words = ("--level=10", f"--layout={layout}", "--metadata=1.0", "--bitmap=none", "--assume-clean")
    words += (f"--chunk={chunk // KIB}", f"--raid-devices={len(disks)}")
    run("mdadm", "--create", ARRAY, "--run", *words, *disks)
    try:
        yield ARRAY
    finally:
        run("mdadm", "--stop", ARRAY)


def live(top: str, rounds: int = 3, name: str = "") -> list[str]:
    """A file where the disk has something else than the array, then metadata, and its inode once more."""
    noise = Path(f"{top}/noise{name}")
    noise.write_bytes(os.urandom(110 * MIB))
    sync(top)
    for number in range(rounds):
        populate(top, f"files{name}{number}", 150)
        many_directories(top, f"t{name}{number}-", 80)
        os.utime(noise)
        sync(top)
        sleep(4)  # the worker looks at inodes every two seconds
    return tree(top)


def far_copies(mode: str, fs: str, chunk: int, *features: str, layout: str = "f2") -> None:
    with ExitStack() as stack:
        disks = [stack.enter_context(fake(mode, 2 * GIB, 1536 * MIB, name))[0] for name in NAMES[:2]]
        with array(layout, chunk, *disks) as device:
            make(fs, device, *features)
            with mounted(device, fs) as top:
                expected = live(top)
            for name in NAMES[:2]:
                told(mode, name)
            look(fs, device, expected, f"{fs} on chunks of {chunk >> 10} KiB")


@in_modes(*CONTROLLED)
def an_ext4_without_a_journal_on_far_copies_is_whole(mode: str) -> None:
    far_copies(mode, "ext4", 512 * KIB, *EXT4)


@in_modes("implicit")
def an_ext4_without_a_journal_on_far_copies_in_small_chunks_is_whole(mode: str) -> None:
    far_copies(mode, "ext4", 64 * KIB, *EXT4)
    far_copies(mode, "ext4", 4 * KIB, *EXT4)


@in_modes(*CONTROLLED)
def an_ext4_without_a_journal_on_far_copies_in_large_chunks_is_whole(mode: str) -> None:
    """The first chunk has several groups, the last one is in its place by chance."""
    far_copies(mode, "ext4", 64 * MIB, *EXT4, "-g", "4096")


@in_modes("implicit")
def an_ext4_with_two_backups_on_far_copies_in_large_chunks_is_whole(mode: str) -> None:
    """They are in the first and the last group: in the first and the last chunk, as they should be."""
    features = EXT4[-1] + ",sparse_super2"
    far_copies(mode, "ext4", 64 * MIB, *EXT4[:-1], features, "-g", "4096")


@in_modes(*CONTROLLED)
def an_ext2_on_far_copies_is_whole(mode: str) -> None:
    far_copies(mode, "ext2", 512 * KIB, *EXT2)


@in_modes("implicit")
def an_ext2_on_far_copies_in_large_chunks_is_whole(mode: str) -> None:
    far_copies(mode, "ext2", 64 * MIB, *EXT2, "-g", "4096", "-O", "^sparse_super")


@in_modes("implicit")
def an_ext2_of_small_blocks_on_far_copies_is_whole(mode: str) -> None:
    """Where groups begin at block 1."""
    far_copies(mode, "ext2", 64 * KIB, *EXT2, "-b", "1024")


@in_modes("implicit")
def an_ext4_with_a_journal_on_far_copies_is_whole(mode: str) -> None:
    far_copies(mode, "ext4", 64 * MIB, "-O", "^resize_inode,^flex_bg", "-J", "size=4", "-g", "4096")


@in_modes("implicit")
def an_ext4_without_a_journal_on_offset_copies_is_whole(mode: str) -> None:
    """One of the two disks has all of it in one piece."""
    far_copies(mode, "ext4", 512 * KIB, *EXT4, layout="o2")


@in_modes("implicit")
def an_ext2_on_near_copies_in_large_chunks_is_whole(mode: str) -> None:
    """The first disk has the first three chunks in their places, and with them the only backup."""
    with ExitStack() as stack:
        disks = [stack.enter_context(fake(mode, 381 * MIB, 500 * MIB, name))[0] for name in NAMES]
        with array("n3", 64 * MIB, *disks) as device:
            run("mkfs.ext2", "-q", "-F", *EXT2, device, f"{380 * MIB // KIB}K")
            with mounted(device, "ext2") as top:
                expected = live(top)
        for name in NAMES:
            told(mode, name)
        # With all four, reads would come from any of them.
        run("mdadm", "--assemble", "--run", ARRAY, disks[0], disks[3])
        stack.callback(run, "mdadm", "--stop", ARRAY)
        look("ext2", ARRAY, expected, "ext2 on near copies")


@in_modes("implicit")
def an_ext2_made_anew_with_its_old_uuid_is_whole(mode: str) -> None:
    """Each disk has the backups of an older one of the same uuid and geometry."""
    same = (*EXT2, "-U", "11111111-2222-3333-4444-555555555555", "-E", "nodiscard")
    with ExitStack() as stack:
        disks = [stack.enter_context(fake(mode, 2 * GIB, 1536 * MIB, name))[0] for name in NAMES[:2]]
        for disk in disks:
            run("mkfs.ext2", "-q", "-F", *same, disk)
        with array("f2", 512 * KIB, *disks) as device:
            run("mkfs.ext2", "-q", "-F", *same, device)
            with mounted(device, "ext2") as top:
                expected = live(top)
            for name in NAMES[:2]:
                told(mode, name)
            look("ext2", device, expected, "ext2 with an old uuid")


@in_modes("implicit")
def an_ext2_shorter_than_its_stripes_is_whole(mode: str) -> None:
    """As long as one disk, on stripes over two."""
    with ExitStack() as stack:
        disks = [stack.enter_context(fake(mode, 2 * GIB, 1536 * MIB, name))[0] for name in NAMES[:2]]
        words = ("--level=0", "--metadata=1.0", "--chunk=512", "--raid-devices=2")
        run("mdadm", "--create", ARRAY, "--run", *words, *disks)
        stack.callback(run, "mdadm", "--stop", ARRAY)
        run("mkfs.ext2", "-q", "-F", *EXT2, ARRAY, f"{2 * GIB // KIB - 64}K")
        with mounted(ARRAY, "ext2") as top:
            expected = live(top)
        told(mode)
        look("ext2", ARRAY, expected)


@in_modes("implicit")
def an_ext2_on_the_whole_disk_is_still_dropped(mode: str) -> None:
    """Also after the next boot, when all is read from the disk."""
    for features in ((), ("-b", "1024"), ("-O", "^sparse_super,^resize_inode")):
        with fake(mode, 4 * GIB, 1536 * MIB) as (disk, backing):
            make("ext2", disk, *features)
            for boot in range(2):
                with mounted(disk, "ext2") as top:
                    expected = live(top, 1, f"boot{boot}-")
                print(f"victim: ext2 {features}: {dropped()} blocks dropped", file=sys.stderr)
                if dropped() < 200:
                    raise Failed(f"ext2 {features}: {dropped()} blocks were found to be data")
                look("ext2", disk, expected)
                next_boot(mode, 4 * GIB, backing)


@case(planted=True)
def far_copies_find_who_believes_in_one_piece() -> None:
    """When the worker looks is a matter of chance: a life in which it came too late proves nothing."""
    with planted("placed"), must_fail():
        for _ in range(10):
            far_copies("implicit", "ext4", 512 * KIB, *EXT4)


# btrfs divides by itself, at 64 KiB


def packable(number: int) -> bytes:
    """About 80 KiB of each 128 KiB remain: extents of all lengths cross from one stripe to the next."""
    rows = (os.urandom(600) + b"abcdefgh" * 50 for _ in range(100 + number * 11))
    return b"".join(rows)


def read_all(top: str, names: list[str]) -> list[str]:
    """What cannot be read. Its content may be made up: of a file's end that is not compressed."""
    wrong = []
    for name in names:
        try:
            Path(f"{top}/{name}").read_bytes()
        except OSError as error:
            wrong.append(f"{name}: {error}")
    return wrong


def put_all(top: str, prefix: str) -> list[str]:
    names = [f"{prefix}{number}" for number in range(60)]
    for number, name in enumerate(names):
        Path(f"{top}/{name}").write_bytes(packable(number))
    sync(top)
    return names


@contextmanager
def several(mode: str, count: int) -> Iterator[list[str]]:
    with ExitStack() as stack:
        yield [stack.enter_context(fake(mode, 4 * GIB, GIB, name))[0] for name in NAMES[:count]]
    run("btrfs", "device", "scan", "--forget")


def can_be_read(disks: list[str], files: list[str], when: str) -> None:
    drop_caches()
    for disk in disks:
        flush_buffers(disk)
    with mounted(disks[0], "btrfs") as top:
        if wrong := read_all(top, files):
            raise Failed(f"{when}: {len(wrong)} of {len(files)}: " + "; ".join(wrong[:5]))
    run(*TOOLS["btrfs"].check, disks[0])


def compressed(mode: str, profile: str, count: int, *kinds: str) -> None:
    for kind in kinds:
        with several(mode, count) as disks:
            run("mkfs.btrfs", "-q", "-f", "-d", profile, "-m", "raid1", *disks)
            run("btrfs", "device", "scan", *disks)
            with mounted(disks[0], "btrfs", f"compress-force={kind}") as top:
                files = put_all(top, "f")
                sleep(1)
                files += put_all(top, "g")
            for name in NAMES[:count]:
                told(mode, name)
            can_be_read(disks, files, f"{kind} on {profile}")


ALL = ("zstd", "lzo", "zlib")


@in_modes(*CONTROLLED)
def compressed_extents_on_two_stripes_are_read_back(mode: str) -> None:
    compressed(mode, "raid0", 2, *ALL)


@in_modes(*CONTROLLED)
def compressed_extents_on_four_disks_are_read_back(mode: str) -> None:
    compressed(mode, "raid10", 4, *ALL)


@in_modes("implicit")
def compressed_extents_on_mirrors_are_read_back(mode: str) -> None:
    compressed(mode, "raid1", 2, "zstd")


@in_modes("implicit")
def compressed_extents_divided_later_are_read_back(mode: str) -> None:
    """A balance writes them into new, striped chunks; and what is written meanwhile."""
    with several(mode, 2) as disks:
        run("mkfs.btrfs", "-q", "-f", "-d", "single", "-m", "raid1", *disks)
        run("btrfs", "device", "scan", *disks)
        with mounted(disks[0], "btrfs", "compress-force=zstd") as top:
            files = put_all(top, "f")
            run("btrfs", "balance", "start", "-dconvert=raid0", top)
            files += put_all(top, "g")
        told(mode)
        can_be_read(disks, files, "converted")


@in_modes("implicit")
def compressed_extents_of_mixed_groups_are_read_back(mode: str) -> None:
    with several(mode, 2) as disks:
        run("mkfs.btrfs", "-q", "-f", "--mixed", "-d", "raid0", "-m", "raid0", *disks)
        run("btrfs", "device", "scan", *disks)
        with mounted(disks[0], "btrfs", "compress-force=zstd") as top:
            files = put_all(top, "f")
        told(mode)
        can_be_read(disks, files, "mixed")


@in_modes("implicit")
def what_is_not_divided_is_still_dropped(mode: str) -> None:
    for profile in ("raid1", "single", "raid0"):
        with several(mode, 1 if profile == "raid0" else 2) as disks:
            run("mkfs.btrfs", "-q", "-f", "-d", profile, *disks)
            run("btrfs", "device", "scan", *disks)
            with mounted(disks[0], "btrfs") as top:
                for number in range(8):
                    Path(f"{top}/{number}").write_bytes(os.urandom(8 * MIB))
                    sync(top)
                sleep(3)
            total = sum(dropped(name) for name in NAMES[: len(disks)])
            for name in NAMES[: len(disks)]:
                told(mode, name)
            if total < (64 * MIB >> 12) * 0.8:
                raise Failed(f"{profile}: {total} blocks squashed")


@case(planted=True, complaints="BTRFS")
def compressed_extents_find_who_drops_their_rest() -> None:
    with planted("rests"), must_fail():
        compressed("implicit", "raid0", 2, "zstd")
