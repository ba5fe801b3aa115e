# SPDX-License-Identifier: GPL-2.0
"""An ext4 whose machine lost power: tools that write to it before it is mounted again, and mounts that leave
its log alone.

The disk is made anew before the last mount, so nothing is remembered of the log before. What a tool leaves
is compared with what it leaves on a disk that keeps everything.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from cases import case
from helpers.guest import SCRATCH, Failed, mounted, run
from helpers.manifest import difference
from helpers.planted import must_fail, planted
from helpers.units import GIB
from helpers.victim import (
    LOGFLUSH,
    MODES,
    NOLOGFLUSH,
    drop_caches,
    fake,
    in_modes,
    make,
    many_directories,
    next_boot,
    populate,
    shut_down,
    sync,
    told,
    tree,
)

SIZE = 3 * GIB
Tool = Callable[[str], None]


def cut(disk: str, flags: int = LOGFLUSH) -> None:
    """Mounted, changed a little, and gone: the flag that recovery is needed stays."""
    with mounted(disk, "ext4") as top:
        Path(f"{top}/x").touch()
        Path(f"{top}/y").write_text("1\n")
        sync(top)
        shut_down(top, flags)


def old_and_cut(mode: str, disk: str, backing: str, prepare: Tool | None = None) -> None:
    make("ext4", disk, "-E", "lazy_itable_init=0")
    with mounted(disk, "ext4") as top:
        populate(top, "old", 60)
        many_directories(top, "t", 150)
    if prepare:
        prepare(disk)
    next_boot(mode, SIZE, backing)
    cut(disk)


def mended(disk: str) -> tuple[list[str], list[str]]:
    """What e2fsck says, and what it makes of the disk."""
    drop_caches()
    said = run("e2fsck", "-fy", disk, ok=(0, 1))
    run("e2fsck", "-fn", disk)
    with mounted(disk, "ext4") as top:
        return said.splitlines(), tree(top)


def spares(mode: str, tool: Tool, prepare: Tool | None = None) -> None:
    """The tool leaves what it leaves on a disk that keeps everything."""
    results = []
    for each in dict.fromkeys(("keep", mode)):
        with fake(each, SIZE) as (disk, backing):
            old_and_cut(each, disk, backing, prepare)
            tool(disk)
            told(each)
            results.append(mended(disk))
    (said, expected), (more, found) = results[0], results[-1]
    if wrong := difference(expected, found):
        raise Failed("after e2fsck not as with classify=keep:\n" + "\n".join(wrong))
    if len(more) > len(said) + 2:
        raise Failed(
            f"e2fsck says {len(more)} lines, with classify=keep {len(said)}:\n" + "\n".join(more[:9])
        )


def long_names(disk: str) -> None:
    """Directories that e2fsck -D will rewrite."""
    with mounted(disk, "ext4") as top:
        for i in range(300):
            where = f"{top}/new{i}/sub"
            os.makedirs(where)
            for k in range(6):
                Path(f"{where}/{'a' * 53}{k}").touch()
            for k in (0, 2):
                os.unlink(f"{where}/{'a' * 53}{k}")


def check_and_undo(disk: str) -> None:
    undo = SCRATCH / "undo"
    undo.unlink(missing_ok=True)
    run("e2fsck", "-z", str(undo), "-fyD", disk, ok=(0, 1))
    run("e2undo", str(undo), disk)
    drop_caches()


@in_modes("implicit", "auto", "explicit")
def e2undo_of_a_check_loses_nothing(mode: str) -> None:
    spares(mode, check_and_undo, long_names)


def save_image(disk: str) -> None:
    run("e2image", disk, str(SCRATCH / "image"))


def restore_image(disk: str) -> None:
    run("e2image", "-I", disk, str(SCRATCH / "image"))


@in_modes("implicit", "auto", "explicit")
def e2image_puts_metadata_back_and_nothing_is_lost(mode: str) -> None:
    spares(mode, restore_image, save_image)


def edit(disk: str) -> None:
    commands = (
        "mkdir new",
        "mkdir new/a",
        "mkdir new/b",
        "write /bin/ls new/ls",
        f"symlink new/l {'z' * 100}",
    )
    script = SCRATCH / "debugfs"
    script.write_text("\n".join((*commands, "rm t3/sub/file", "")))
    run("debugfs", "-w", "-f", str(script), disk)


@in_modes("implicit", "auto", "explicit")
def debugfs_may_write_before_recovery(mode: str) -> None:
    spares(mode, edit)


@in_modes("implicit", "auto", "explicit")
def resize2fs_may_be_forced_before_recovery(mode: str) -> None:
    spares(mode, lambda disk: str(run("resize2fs", "-f", disk, "2G")))


@in_modes("implicit", "auto", "explicit")
def tune2fs_may_take_the_journal_away_before_recovery(mode: str) -> None:
    spares(mode, lambda disk: str(run("tune2fs", "-f", "-O", "^has_journal", disk)))


def without_log(mode: str, flags: int) -> None:
    """mount -o ro,noload, then remount,rw: the flag that recovery is needed stays, and nothing is logged."""
    with fake(mode, 5 * GIB) as (disk, _):
        make("ext4", disk)
        with mounted(disk, "ext4") as top:
            populate(top, "old", 200)
        with mounted(disk, "ext4") as top:
            populate(top, "more", 30)
            sync(top)
            shut_down(top, flags)
        with mounted(disk, "ext4", "ro,noload") as top:
            run("mount", "-o", "remount,rw", top)
            many_directories(top, "new", 300)
            sync(top)
            expected = tree(top)
        told(mode)
        drop_caches()
        with mounted(disk, "ext4", "ro,noload") as top:
            if wrong := difference(expected, tree(top)):
                raise Failed("the tree differs:\n" + "\n".join(wrong))


@in_modes(*MODES)
def a_mount_without_the_log_made_writable_loses_nothing(mode: str) -> None:
    without_log(mode, LOGFLUSH)


@in_modes(*MODES)
def a_mount_without_a_torn_log_made_writable_loses_nothing(mode: str) -> None:
    without_log(mode, NOLOGFLUSH)


@case(complaints="EXT4-fs", planted=True)
def a_mount_without_the_log_finds_who_believes_in_it() -> None:
    with planted("alone"), must_fail():
        without_log("implicit", LOGFLUSH)


def a_journal_destroyed(disk: str) -> None:
    """e2fsck then repairs with the flag set."""
    block = run("debugfs", "-R", "bmap <8> 0", disk).split("\n")[-2].strip()
    with open(disk, "r+b") as file:
        file.seek(int(block) * 4096)
        file.write(b"x" * 4096)
    run("e2fsck", "-fyD", disk, ok=(0, 1))


@in_modes("implicit", "auto", "explicit")
def e2fsck_with_a_destroyed_journal_loses_nothing(mode: str) -> None:
    spares(mode, a_journal_destroyed, long_names)


@in_modes("implicit", "auto", "explicit")
def tune2fs_may_change_the_inodes_size_before_recovery(mode: str) -> None:
    """It refuses today; should it not, nothing may be lost."""
    spares(mode, lambda disk: str(run("tune2fs", "-f", "-I", "512", disk, ok=(0, 1))))


@in_modes("implicit", "auto", "explicit")
def tune2fs_changes_everything_that_it_can_before_recovery(mode: str) -> None:
    def tool(disk: str) -> None:
        for words in (
            ("-L", "name"),
            ("-U", "random"),
            ("-O", "quota"),
            ("-O", "project"),
            ("-O", "^dir_index"),
        ):
            run("tune2fs", "-f", *words, disk, ok=(0, 1))

    spares(mode, tool)
