# SPDX-License-Identifier: GPL-2.0
"""What the file systems' own tools do, mounted and not: growing, defragmenting, converting, copying, several
disks, and a cut in the midst of it.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

from cases import case
from helpers.guest import SCRATCH, attached, loop_disk, mounted, run
from helpers.planted import must_fail, planted
from helpers.units import GIB, MIB
from helpers.victim import (
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

KNOWING = ("auto", "explicit", "implicit")
# A disk that is taken away, or comes back, is told.
MISSING = r"BTRFS warning.*(is missing|maj:min changed)"


def noise(path: str, size: int) -> None:
    Path(path).write_bytes(os.urandom(size))


def replay_all_data(mode: str) -> None:
    for options in ("data=journal", "data=ordered"):
        with fake(mode, 5 * GIB) as (disk, _):
            make("ext4", disk, "-J", "size=64")
            with mounted(disk, "ext4", options) as top:
                run("chattr", "+j", top)
                populate(top, "w", 120)
                noise(f"{top}/w/big", 10 * MIB)
                sync(top)
                expected = tree(top)
                shut_down(top)
            with mounted(disk, "ext4"):
                pass
            look("ext4", disk, expected, options)


@in_modes(*KNOWING)
def a_journal_with_all_data_is_replayed(mode: str) -> None:
    replay_all_data(mode)


@case(complaints=".", planted=True)
def a_log_that_nothing_marks_is_known_by_its_place() -> None:
    """As on kernels whose jbd2 does not mark its log REQ_META. `explicit` has nothing else to go by."""
    with planted("marks"):
        for mode in ("implicit", "auto"):
            replay_all_data(mode)
        with must_fail():
            replay_all_data("explicit")


@in_modes(*KNOWING)
def a_journal_on_another_fake_disk_is_replayed(mode: str) -> None:
    with fake(mode, 5 * GIB) as (disk, _), fake(mode, GIB, 256 * MIB, "log") as (log, _):
        run("mke2fs", "-q", "-F", "-O", "journal_dev", "-b", "4096", log, "16384")
        make("ext4", disk, "-b", "4096", "-J", f"device={log}")
        with mounted(disk, "ext4", "data=journal") as top:
            populate(top, "w", 60)
            sync(top)
            expected = tree(top)
            shut_down(top)
        with mounted(disk, "ext4"):
            pass
        look("ext4", disk, expected)


@in_modes(*KNOWING)
def ext4_with_all_features_is_defragmented_grown_and_cut(mode: str) -> None:
    features = "quota,project,ea_inode,inline_data,casefold,mmp,orphan_file,fast_commit"
    with fake(mode, 6 * GIB) as (disk, _):
        run("mkfs.ext4", "-q", "-F", "-O", features, "-E", "quotatype=usrquota:grpquota:prjquota", disk, "3G")
        with mounted(disk, "ext4") as top:
            populate(top, "old", 150)
            for _ in range(25):
                for name in "abc":
                    with open(f"{top}/fragmented-{name}", "ab") as file:
                        file.write(os.urandom(4096))
                sync(top)
            run("e4defrag", top, ok=(0, 1))
            run("resize2fs", disk)
            populate(top, "more", 60)
            run("chattr", "-p", "7", f"{top}/more")
            sync(top)
            expected = tree(top)
            shut_down(top)
        with mounted(disk, "ext4"):
            pass
        told(mode)
        look("ext4", disk, expected)


@in_modes(*KNOWING)
def ext4_becomes_a_btrfs_and_an_ext4_again(mode: str) -> None:
    with fake(mode) as (disk, _):
        make("ext4", disk)
        with mounted(disk, "ext4") as top:
            populate(top, "old", 200)
            many_directories(top, "t", 100)
            expected = tree(top)
        run("btrfs-convert", disk)
        with mounted(disk, "btrfs") as top:
            populate(top, "more", 100)
            sync(top)
            populate(top, "again", 50)
        run("btrfs", "check", disk)
        drop_caches()
        run("btrfs-convert", "-r", disk)
        look("ext4", disk, expected)


@in_modes(*KNOWING, complaints=MISSING)
def btrfs_moves_between_disks_and_kinds_of_chunks(mode: str) -> None:
    with (
        fake(mode, 5 * GIB, name="x") as (x, _),
        fake(mode, 5 * GIB, name="y") as (y, _),
        fake(mode, 5 * GIB, name="z") as (z, _),
    ):
        make("btrfs", x)
        with mounted(x, "btrfs") as top:
            populate(top, "old", 150)
            sync(top)
            run("btrfs", "device", "add", "-f", y, top)
            run("btrfs", "balance", "start", "-f", "-dconvert=raid1", "-mconvert=raid1", top)
            run("btrfs", "subvolume", "create", f"{top}/s")
            populate(f"{top}/s", "in", 80)
            run("btrfs", "subvolume", "snapshot", "-r", f"{top}/s", f"{top}/s1")
            Path(f"{top}/s/n").touch()
            run("rm", "-r", f"{top}/s/in/d1")
            run("btrfs", "subvolume", "snapshot", "-r", f"{top}/s", f"{top}/s2")
            run("btrfs", "quota", "enable", top)
            run("btrfs", "filesystem", "defragment", "-r", "-czstd", f"{top}/s")
            sync(top)
            run("btrfs", "replace", "start", "-B", "-f", "2", z, top)
            run("btrfs", "scrub", "start", "-B", top)
            os.mkdir(f"{top}/received")
            send = f"btrfs send {top}/s1 | btrfs receive {top}/received"
            run("sh", "-c", send)
            run("cp", "--reflink=always", "-r", f"{top}/old/d3", f"{top}/copy")
            run("btrfs", "device", "add", "-f", y, top)
            run("btrfs", "device", "remove", x, top)
            sync(top)
            expected = tree(top)
        look("btrfs", y, expected)
        for options in (
            "clear_cache,nospace_cache",
            "space_cache=v1,clear_cache",
            "space_cache=v2,clear_cache",
        ):
            with mounted(y, "btrfs", options) as top:
                populate(top, "copy/" + options.replace(",", "-"), 20)
                expected = tree(top)
            look("btrfs", y, expected, options)
        run("btrfs", "device", "scan", "--forget")
        run("btrfs", "device", "scan", z)
        with mounted(z, "btrfs", "degraded,ro") as top:
            assert tree(top) == expected, "with a disk missing the tree differs"


@in_modes(*KNOWING, complaints=MISSING)
def a_seed_of_btrfs_sprouts(mode: str) -> None:
    with fake(mode, 5 * GIB, name="x") as (x, _), fake(mode, 5 * GIB, name="y") as (y, _):
        make("btrfs", x)
        with mounted(x, "btrfs") as top:
            populate(top, "old", 100)
        run("btrfstune", "-f", "-S", "1", x)
        with mounted(x, "btrfs", "ro") as top:
            run("btrfs", "device", "add", "-f", y, top)
            run("mount", "-o", "remount,rw", top)
            populate(top, "more", 60)
            sync(top)
            expected = tree(top)
        look("btrfs", y, expected)


@in_modes("keep", *KNOWING, complaints=MISSING)
def btrfs_becomes_a_raid5_and_loses_any_disk(mode: str) -> None:
    names = ("x", "y", "z")
    with ExitStack() as stack:
        disks = [stack.enter_context(fake(mode, 4 * GIB, name=name))[0] for name in names]
        run("mkfs.btrfs", "-q", "-f", "-d", "raid0", "-m", "raid1", *disks)
        with mounted(disks[0], "btrfs") as top:
            populate(top, "old", 200)
            sync(top)
            run("btrfs", "balance", "start", "-f", "-mconvert=raid5,soft", top)
            many_directories(top, "t", 100)
            expected = tree(top)
        look("btrfs", disks[0], expected)
        for lost in disks:
            run("btrfs", "device", "scan", "--forget")
            rest = [disk for disk in disks if disk != lost]
            for disk in rest:
                run("btrfs", "device", "scan", disk)
            with mounted(rest[0], "btrfs", "ro,degraded") as top:
                assert tree(top) == expected, f"without {lost} the tree differs"
        run("btrfs", "device", "scan", "--forget")


@in_modes(*KNOWING)
def xfs_with_its_log_elsewhere_grows_and_recovers(mode: str) -> None:
    with fake(mode, 5 * GIB) as (disk, _), fake(mode, GIB, 256 * MIB, "log") as (log, _):
        run("mkfs.xfs", "-q", "-f", "-l", f"logdev={log},size=64m", "-d", "size=3g", disk)
        options = f"logdev={log},uquota,gquota"
        with mounted(disk, "xfs", options) as top:
            populate(top, "old", 150)
            run("chown", "-R", "1000:1000", f"{top}/old/d1")
            run("xfs_growfs", "-d", top)
            populate(top, "more", 100)
            run("xfs_fsr", f"{top}/old/d3", ok=(0, 1))
            sync(top)
            expected = tree(top)
            shut_down(top)
        drop_caches()
        with mounted(disk, "xfs", options) as top:
            assert tree(top) == expected, "after the cut the tree differs"
        run("xfs_repair", "-n", "-l", log, disk)


@in_modes(*KNOWING)
def xfs_with_a_realtime_part_recovers(mode: str) -> None:
    with fake(mode, 5 * GIB) as (disk, _), fake(mode, 3 * GIB, name="rt") as (rt, _):
        words = ("-m", "reflink=0,rmapbt=0", "-d", "rtinherit=1", "-r", f"rtdev={rt},extsize=64k")
        make("xfs", disk, *words)
        with mounted(disk, "xfs", f"rtdev={rt}") as top:
            populate(top, "old", 150)
            run("xfs_growfs", "-r", top, ok=(0, 1))
            sync(top)
            expected = tree(top)
            shut_down(top)
        drop_caches()
        with mounted(disk, "xfs", f"rtdev={rt}") as top:
            assert tree(top) == expected, "after the cut the tree differs"
            many_directories(top, "t", 60)
        run("xfs_repair", "-n", "-r", rt, disk)


@in_modes(*KNOWING)
def copies_of_an_xfs_over_a_cut_one_are_whole(mode: str) -> None:
    with fake(mode, 5 * GIB) as (disk, _), loop_disk(2 * GIB) as source:
        make("xfs", disk)
        with mounted(disk, "xfs") as top:
            populate(top, "gone", 150)
            shut_down(top)
        make("xfs", source)
        with mounted(source, "xfs") as top:
            populate(top, "old", 120)
            expected = tree(top)
        run("xfs_copy", "-d", source, disk)
        drop_caches()
        with mounted(disk, "xfs") as top:
            assert tree(top) == expected, "the copy differs"
            populate(top, "old/d1/more", 20)
            shut_down(top)
        dump = str(SCRATCH / "metadump")
        run("xfs_metadump", "-o", source, dump)
        run("xfs_mdrestore", dump, disk)
        look("xfs", disk, expected)


@in_modes(*KNOWING)
def xfs_is_scrubbed_and_repaired_while_mounted(mode: str) -> None:
    with fake(mode, 5 * GIB) as (disk, _):
        make("xfs", disk, "-m", "rmapbt=1")
        with mounted(disk, "xfs") as top:
            populate(top, "old", 150)
            many_directories(top, "t", 100)
            expected = tree(top)
            for what in ("probe", "sb 0", "agf 1", "agfl 1", "agi 1", "bnobt 1", "inobt 1", "refcountbt 1"):
                run("xfs_io", "-x", "-c", f"repair -R {what}", top, ok=(0, 1))
            for where in (f"{top}/t1", f"{top}/old/d1"):
                for what in ("inode", "bmapbtd", "directory", "xattr", "parent"):
                    run("xfs_io", "-x", "-c", f"repair -R {what}", where, ok=(0, 1))
            sync(top)
        look("xfs", disk, expected)


def copied_live(mode: str, words: tuple[str, ...], journal: int) -> None:
    """An image of a mounted ext4 is written to the fake disk with dd."""
    image, snapshot = SCRATCH / "live.image", SCRATCH / "live.snapshot"
    with open(image, "wb") as file:
        file.truncate(2 * GIB)
    with attached(str(image)) as loop:
        make("ext4", loop, "-J", f"size={journal}")
        with mounted(loop, "ext4") as top:
            for number in range(4):
                populate(top, f"k{number}", 150)
                sync(top)
            run("rm", "-r", f"{top}/k1")
            sync(top)
            many_directories(top, "top", 200)
            sync(top)
            Path(f"{top}/k2/x").touch()
            sync(top)
            run("cp", "--sparse=always", str(image), str(snapshot))
    image.unlink()
    run("cp", "--sparse=always", str(snapshot), str(image))
    with attached(str(image)) as loop, mounted(loop, "ext4") as top:
        expected = tree(top)
    image.unlink()
    with fake(mode, 2 * GIB) as (disk, _):
        run("dd", f"if={snapshot}", f"of={disk}", "bs=1M", *words)
        told(mode)
        with mounted(disk, "ext4"):
            pass
        look("ext4", disk, expected)
    snapshot.unlink()


@in_modes(*KNOWING)
def a_live_image_written_past_the_cache_is_whole(mode: str) -> None:
    copied_live(mode, ("oflag=direct",), 8)


@in_modes(*KNOWING)
def a_live_image_written_through_the_cache_is_whole(mode: str) -> None:
    copied_live(mode, ("conv=fsync",), 64)
