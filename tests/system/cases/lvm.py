# SPDX-License-Identifier: GPL-2.0
"""Logical volumes as lvm2 itself makes and changes them, mounted and at work; two fake disks are the physical
volumes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from helpers.guest import mounted, run
from helpers.layouts import at_work
from helpers.lvmtool import GROUP, lvm, volume
from helpers.units import GIB
from helpers.victim import (
    MODES,
    fake,
    in_modes,
    look,
    make,
    many_directories,
    populate,
    sync,
    told,
    tree,
    wait_until,
)


def mirrored() -> bool:
    """START LENGTH raid TYPE LEGS HEALTH DONE/ALL …"""
    words = run("dmsetup", "status", f"{GROUP}-a").split()
    done, _, total = words[6].partition("/")
    return done == total and words[5] == "AA"


@contextmanager
def group(mode: str) -> Iterator[tuple[str, str]]:
    with fake(mode, 6 * GIB) as (first, _), fake(mode, 6 * GIB, name="second") as (second, _):
        lvm("pvcreate", first, second)
        lvm("vgcreate", GROUP, first, second)
        try:
            yield first, second
        finally:
            lvm("vgchange", "-an", GROUP)


@in_modes(*MODES)
def a_volume_grown_by_lvextend_and_its_neighbour_are_whole(mode: str) -> None:
    with group(mode) as (first, _):
        lvm("lvcreate", "-n", "a", "-L", "1G", GROUP, first)
        lvm("lvcreate", "-n", "b", "-L", "1G", GROUP, first)
        make("ext4", volume("a"))
        make("xfs", volume("b"))
        with mounted(volume("a"), "ext4") as a, mounted(volume("b"), "xfs") as b:
            populate(a, "old")
            populate(b, "old")
            lvm("lvextend", "-L", "3G", f"{GROUP}/a", first)
            run("resize2fs", volume("a"))
            many_directories(a, "t", 200)
            lvm("lvextend", "-L", "2G", f"{GROUP}/b", first)
            run("xfs_growfs", b)
            populate(b, "more", 200)
            populate(a, "more", 200)
            sync(a)
            trees = tree(a), tree(b)
        told(mode)
        look("ext4", volume("a"), trees[0])
        look("xfs", volume("b"), trees[1])


@in_modes(*MODES)
def a_busy_ext4_moved_by_pvmove_is_whole(mode: str) -> None:
    with group(mode) as (first, second):
        lvm("lvcreate", "-n", "a", "-L", "512M", GROUP, first)
        make("ext4", volume("a"), "-J", "size=4", "-O", "^flex_bg")
        with mounted(volume("a"), "ext4") as top:
            populate(top, "old", 150)
            many_directories(top, "t", 200)
        with mounted(volume("a"), "ext4") as top:
            with at_work(top):
                lvm("pvmove", "-i", "1", "-n", "a", first, second)
            sync(top)
            expected = tree(top)
        told(mode, "second")
        look("ext4", volume("a"), expected)


@in_modes("implicit", "auto")
def a_busy_ext4_mirrored_by_lvconvert_is_whole(mode: str) -> None:
    with group(mode) as (first, second):
        lvm("lvcreate", "-n", "a", "-L", "512M", GROUP, first)
        make("ext4", volume("a"), "-J", "size=4", "-O", "^flex_bg")
        with mounted(volume("a"), "ext4") as top:
            populate(top, "old", 150)
            many_directories(top, "t", 200)
        with mounted(volume("a"), "ext4") as top:
            with at_work(top):
                lvm("lvconvert", "-i", "1", "--type", "raid1", "-m", "1", f"{GROUP}/a", second)
                wait_until(mirrored, "both legs in sync", 200)
            lvm("lvconvert", "-m", "0", f"{GROUP}/a", first)  # the second one stays
            sync(top)
            expected = tree(top)
        look("ext4", volume("a"), expected)


@in_modes("implicit", "auto")
def a_snapshot_by_lvcreate_and_its_merge_lose_nothing(mode: str) -> None:
    with group(mode) as (first, _):
        lvm("lvcreate", "-n", "a", "-L", "1G", GROUP, first)
        make("ext4", volume("a"))
        with mounted(volume("a"), "ext4") as top:
            populate(top, "old", 150)
        with mounted(volume("a"), "ext4") as top:
            many_directories(top, "t", 100)
            before = tree(top)
            lvm("lvcreate", "-s", "-n", "s", "-L", "512M", f"{GROUP}/a", first)
            many_directories(top, "late", 150)
            after = tree(top)
        look("ext4", volume("a"), after)
        lvm("lvconvert", "-i", "1", "--merge", f"{GROUP}/s")
        with mounted(volume("a"), "ext4"):
            pass
        look("ext4", volume("a"), before, "merged back")


@in_modes("implicit", "auto")
def thin_volumes_of_lvm_lose_nothing(mode: str) -> None:
    with group(mode) as (first, _):
        lvm("lvcreate", "--type", "thin-pool", "-n", "pool", "-L", "3G", "-Zn", GROUP, first)
        for name, fs in (("a", "ext4"), ("b", "xfs")):
            lvm("lvcreate", "--type", "thin", "-n", name, "-V", "4G", "--thinpool", "pool", GROUP)
            make(fs, volume(name))
        with mounted(volume("a"), "ext4") as a, mounted(volume("b"), "xfs") as b:
            for number in range(3):
                populate(a, f"k{number}", 80)
                populate(b, f"k{number}", 80)
                many_directories(a, f"t{number}-", 80)
                many_directories(b, f"t{number}-", 80)
                sync(a)
            lvm("lvcreate", "-s", "-n", "s", f"{GROUP}/a")
            run("rm", "-r", f"{a}/k1")
            many_directories(a, "late", 80)
            sync(a)
            run("fstrim", a)
            trees = tree(a), tree(b)
        look("ext4", volume("a"), trees[0])
        look("xfs", volume("b"), trees[1])


@in_modes("implicit", "auto")
def a_striped_volume_of_lvm_loses_nothing(mode: str) -> None:
    with group(mode):
        lvm("lvcreate", "-n", "a", "-L", "4G", "-i", "2", "-I", "64k", GROUP)
        make("ext4", volume("a"))
        with mounted(volume("a"), "ext4") as top:
            populate(top, "old", 150)
        with mounted(volume("a"), "ext4") as top:
            many_directories(top, "t", 200)
            sync(top)
            expected = tree(top)
        look("ext4", volume("a"), expected)
