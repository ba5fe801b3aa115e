# SPDX-License-Identifier: GPL-2.0
"""File-system tools on the unmounted disk lose no block: the result is that of the same tools on a real
disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from cases import case
from helpers import raw
from helpers.guest import SCRATCH, Failed, device_stats, fake_disk, linear_disk, mounted, ram_disk, run
from helpers.manifest import difference, manifest
from helpers.units import GIB, MIB
from helpers.workload import SCALES, Workload

UUID = "6a7d1d3e-8d1c-4f0b-9d5f-3b1c2a4e5f60"
OTHER = "0d4f1f2c-58a2-4b6e-9f5b-9a1fd1c5a7b1"
HASH = f"hash_seed={UUID}"
MODES = ("auto", "explicit")
# The same times in both superblocks and inodes.
FIXED = {"E2FSPROGS_FAKE_TIME": "1700000000", "E2FSCK_TIME": "1700000000"}

# Default since e2fsprogs 1.47.2, whose e2fsck then finds an unclean orphan file after tune2fs, on any disk.
NO_ORPHANS = "^orphan_file"

Step = Callable[[str], None]


def command(*words: str, ok: tuple[int, ...] = (0,)) -> Step:
    """A step that runs a command; "DISK" stands for the disk."""

    def step(disk: str) -> None:
        run(*(word.replace("DISK", disk) for word in words), ok=ok, env=FIXED)

    step.__name__ = " ".join(words)
    return step


def source_tree() -> str:
    """Files for mke2fs -d and mkfs.btrfs --rootdir, the same every time."""
    top = SCRATCH / "source"
    if top.exists():
        return str(top)
    top.mkdir(parents=True)
    # Access times go into the new file system too.
    run("mount", "-o", "remount,noatime", run("stat", "-c", "%m", str(SCRATCH)).strip())
    for number in range(60):
        directory = top / f"directory-{number % 7}"
        directory.mkdir(exist_ok=True)
        (directory / f"file-{number}").write_bytes(raw.patterned(number, number * 1013))
        os.symlink("x" * (number * 3 + 1), directory / f"link-{number}")
    os.link(top / "directory-1/file-1", top / "hard")
    for path in [top, *top.rglob("*")]:
        os.utime(path, ns=(17 * 10**17, 17 * 10**17), follow_symlinks=False)
    return str(top)


def same_bytes(one: str, other: str, size: int, after: str) -> None:
    with (
        raw.opened(one, os.O_RDONLY | os.O_DIRECT) as first,
        raw.opened(other, os.O_RDONLY | os.O_DIRECT) as second,
    ):
        step = len(raw.BUFFER.view)
        for offset in range(0, size, step):
            length = min(step, size - offset)
            expected = raw.read(first, length, offset)
            found = raw.read(second, length, offset)
            at = raw.first_difference(expected, found)
            if at >= 0:
                raise Failed(
                    f"after {after}: byte {offset + at} is {found[at : at + 8].hex()}, on a real disk "
                    f"{expected[at : at + 8].hex()}"
                )


def unmounted(size: int, steps: list[Step], modes: tuple[str, ...] = MODES) -> None:
    """Run steps on a real disk and on fake ones, and compare every byte after each."""
    for mode in modes:
        with ExitStack() as stack:
            reference = stack.enter_context(linear_disk("reference", size))
            backing = stack.enter_context(ram_disk(128 * MIB))
            disk = stack.enter_context(fake_disk("tooled", size, backing, "--classify", mode))
            for step in steps:
                step(reference)
                step(disk)
                same_bytes(reference, disk, size, f"{step.__name__} with classify={mode}")
            figures = device_stats("tooled")
            assert figures["written"]["squashed"] == 0, figures


def ext(kind: str, *options: str) -> Step:
    # 4 KiB blocks: with smaller ones mke2fs aligns its tables to the physical block, which loop has not.
    options = ("-b", "4096", *options)
    return command(f"mkfs.{kind}", "-q", "-F", "-U", UUID, "-E", HASH, *options, "-d", source_tree(), "DISK")


@case(seldom=True)
def ext4_tools_change_every_byte_they_should() -> None:
    unmounted(
        256 * MIB,
        [
            ext("ext4", "-I", "128", "-O", f"^flex_bg,^metadata_csum,^resize_inode,^64bit,{NO_ORPHANS}"),
            command("tune2fs", "-I", "256", "DISK"),
            command("tune2fs", "-O", "^has_journal", "DISK"),
            command("tune2fs", "-j", "-J", "size=8", "DISK"),
            command("e2fsck", "-fy", "-D", "DISK", ok=(0, 1)),
            command("tune2fs", "-O", "metadata_csum", "DISK"),
            command("e2fsck", "-fn", "DISK"),
            command("tune2fs", "-U", OTHER, "DISK"),
            command("tune2fs", "-O", "quota,project", "DISK", ok=(0, 1)),
            command("e2fsck", "-fy", "DISK", ok=(0, 1)),
            command("resize2fs", "-f", "DISK", "100M"),
            command("e2fsck", "-fn", "DISK"),
            command("resize2fs", "-f", "DISK"),
            command("e2fsck", "-fn", "DISK"),
        ],
    )


@case
def ext4_damage_is_repaired_alike() -> None:
    def damage(disk: str) -> None:
        for request in (
            "clri /directory-3",
            "set_inode_field /directory-1/file-1 links_count 7",
            "set_super_value free_blocks_count 5",
        ):
            run("debugfs", "-w", "-R", request, disk, env=FIXED)

    unmounted(
        256 * MIB,
        [ext("ext4"), damage, command("e2fsck", "-fy", "DISK", ok=(0, 1)), command("e2fsck", "-fn", "DISK")],
        ("auto",),
    )


@case(seldom=True)
def ext2_and_ext3_tools_change_every_byte_they_should() -> None:
    for kind in ("ext2", "ext3"):
        unmounted(
            256 * MIB,
            [
                ext(kind),
                command("tune2fs", "-O", "dir_index,uninit_bg", "DISK", ok=(0, 1)),
                command("e2fsck", "-fy", "-D", "DISK", ok=(0, 1)),
                command("resize2fs", "-f", "DISK", "120M"),
                command("e2fsck", "-fn", "DISK"),
            ],
            ("auto",),
        )


def squashed(name: str) -> int:
    return int(device_stats(name)["written"]["squashed"])


def after_use(fs: str, size: int, mkfs: list[str], options: str, tools: list[Step]) -> None:
    """mkfs, mount and use, then tools on the unmounted disk: nothing squashed, and equal trees."""
    trees = {}
    for target in ("reference", *MODES):
        with ExitStack() as stack:
            if target == "reference":
                disk = stack.enter_context(linear_disk("tooled", size))
            else:
                backing = stack.enter_context(ram_disk(128 * MIB))
                disk = stack.enter_context(fake_disk("tooled", size, backing, "--classify", target))
            run(*mkfs, disk)
            with mounted(disk, fs, options) as top:
                Workload(top, 9, SCALES["tiny"]).run()
            before = 0 if target == "reference" else squashed("tooled")
            for step in tools:
                step(disk)
            if target != "reference":
                assert squashed("tooled") == before, "blocks were squashed while nothing was mounted"
            with mounted(disk, fs, options) as top:
                trees[target] = manifest(top)
        if target != "reference" and trees[target] != trees["reference"]:
            raise Failed("\n".join(["the tree differs", *difference(trees["reference"], trees[target])]))


@case(seldom=True)
def ext4_in_use_is_unharmed_by_tools() -> None:
    after_use(
        "ext4",
        8 * GIB,
        ["mkfs.ext4", "-q", "-U", UUID, "-E", HASH, "-O", NO_ORPHANS],
        "",
        [
            command("e2fsck", "-fy", "-D", "DISK", ok=(0, 1)),
            command("tune2fs", "-O", "^metadata_csum", "DISK"),
            command("e2fsck", "-fn", "DISK"),
            command("tune2fs", "-O", "metadata_csum", "DISK"),
            command("tune2fs", "-O", "^has_journal", "DISK"),
            command("tune2fs", "-j", "DISK"),
            command("resize2fs", "-f", "DISK", "6G"),
            command("e2fsck", "-fn", "DISK"),
        ],
    )


@case(seldom=True)
def xfs_in_use_is_unharmed_by_tools() -> None:
    after_use(
        "xfs",
        8 * GIB,
        ["mkfs.xfs", "-q", "-m", f"uuid={UUID}"],
        "",
        [
            command("xfs_repair", "DISK"),
            command("xfs_admin", "-L", "renamed", "DISK"),
            command("xfs_admin", "-U", OTHER, "DISK"),
            command("xfs_repair", "-L", "DISK"),
            command("xfs_repair", "-n", "DISK"),
        ],
    )


@case(seldom=True)
def btrfs_in_use_is_unharmed_by_tools() -> None:
    after_use(
        "btrfs",
        8 * GIB,
        ["mkfs.btrfs", "-q", "-f"],
        "",
        [
            command("btrfs", "check", "--check-data-csum", "DISK"),
            command("btrfstune", "-f", "-u", "DISK"),
            command("btrfs", "filesystem", "label", "DISK", "renamed"),
            command("btrfs", "rescue", "zero-log", "DISK"),
            command("btrfs", "check", "--check-data-csum", "DISK"),
        ],
    )


@case
def mkfs_with_files_keeps_their_content() -> None:
    """mkfs.btrfs --rootdir writes data while nothing is mounted: all of it is kept."""
    top = Path(source_tree())
    names = [path.relative_to(top) for path in sorted(top.rglob("file-*"))]
    with ram_disk(128 * MIB) as backing, fake_disk("filled", 2 * GIB, backing) as disk:
        run("mkfs.btrfs", "-q", "-f", "--rootdir", str(top), disk)
        run("btrfs", "check", "--check-data-csum", disk)
        with mounted(disk, "btrfs", "ro") as point:
            for name in names:
                assert (Path(point) / name).read_bytes() == (top / name).read_bytes(), f"{name} differs"
        assert squashed("filled") == 0
