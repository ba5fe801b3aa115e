# SPDX-License-Identifier: GPL-2.0
"""Logical volumes in pieces, whose lengths happen to fit: where the superblock has the volume's end, a
neighbour ends, or the disk does. So what is seen there is not the volume's own.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from helpers.filesystems import TOOLS
from helpers.guest import mounted, run
from helpers.units import GIB, MIB
from helpers.victim import (
    MODES,
    Mapper,
    drop_caches,
    fake,
    in_modes,
    linear,
    look,
    make,
    many_directories,
    next_boot,
    populate,
    sync,
    told,
    tree,
)

START = MIB
ONLY_IMPLICIT = ("keep", "implicit")


def probe(device: str) -> None:
    """As udev does with each device that comes: the end of it is read, too."""
    drop_caches()
    run("blkid", "-p", device, ok=(0, 2))


def work_on(top: str, name: str) -> None:
    populate(top, f"{name}-files", 150)
    sync(top)
    many_directories(top, name, 150)
    sync(top)


def look_at_both(a: str, b: str, first: str, second: str, trees: tuple[list[str], list[str]]) -> None:
    look(first, a, trees[0], f"the volume in pieces ({first})")
    look(second, b, trees[1], f"the neighbour ({second})")


def work_on_both(a: str, b: str, first: str, second: str, name: str) -> tuple[list[str], list[str]]:
    with mounted(a, first) as top, mounted(b, second) as other:
        for number in range(2):
            work_on(top, f"{name}{number}")
            work_on(other, f"{name}{number}")
        return tree(top), tree(other)


def pieces_of(disk: str, first: int, second: int) -> str:
    """Around a neighbour of a GiB."""
    return linear(first, disk, START) + "\n" + linear(second, disk, START + first + GIB, first)


def extended_by_as_much(mode: str, first: str, second: str) -> None:
    """Volume a is extended by the length of its neighbour, so that its new end is the neighbour's."""
    with fake(mode, 20 * GIB) as (disk, _), ExitStack() as stack:
        mapper = Mapper(stack)
        a = mapper.create("a", linear(2 * GIB, disk, START))
        b = mapper.create("b", linear(GIB, disk, START + 2 * GIB))
        make(first, a)
        make(second, b)
        probe(b)
        with mounted(a, first) as top:
            work_on(top, "old")
            run("dmsetup", "suspend", "a")
            run("dmsetup", "load", "a", "--table", pieces_of(disk, 2 * GIB, GIB))
            run("dmsetup", "resume", "a")
            probe(b)
            TOOLS[first].grow(a, top)
            sync(top)
        trees = work_on_both(a, b, first, second, "more")
        told(mode)
        look_at_both(a, b, first, second, trees)


@in_modes(*MODES)
def an_ext4_extended_by_as_much_as_an_xfs_has_spares_it(mode: str) -> None:
    extended_by_as_much(mode, "ext4", "xfs")


@in_modes(*ONLY_IMPLICIT)
def an_ext4_extended_by_as_much_as_an_ext4_has_spares_it(mode: str) -> None:
    extended_by_as_much(mode, "ext4", "ext4")


@in_modes(*ONLY_IMPLICIT)
def an_ext4_extended_by_as_much_as_an_f2fs_has_spares_it(mode: str) -> None:
    extended_by_as_much(mode, "ext4", "f2fs")


@in_modes(*ONLY_IMPLICIT)
def an_xfs_extended_by_as_much_as_an_f2fs_has_spares_it(mode: str) -> None:
    extended_by_as_much(mode, "xfs", "f2fs")


@in_modes(*ONLY_IMPLICIT)
def a_btrfs_extended_by_as_much_as_an_ext4_has_spares_it(mode: str) -> None:
    extended_by_as_much(mode, "btrfs", "ext4")


def probed_at_boot(mode: str, first: str, second: str) -> None:
    """The table is loaded anew, and udev reads the neighbour's end before anybody mounts the volume."""
    with fake(mode, 20 * GIB) as (disk, backing), ExitStack() as stack:
        with ExitStack() as before:
            mapper = Mapper(before)
            a = mapper.create("a", pieces_of(disk, 2 * GIB, GIB))
            b = mapper.create("b", linear(GIB, disk, START + 2 * GIB))
            make(first, a)
            make(second, b)
            work_on_both(a, b, first, second, "old")
        next_boot(mode, 20 * GIB, backing)
        mapper = Mapper(stack)
        a = mapper.create("a", pieces_of(disk, 2 * GIB, GIB))
        b = mapper.create("b", linear(GIB, disk, START + 2 * GIB))
        for _ in range(2):
            with mounted(a, first):  # its superblock is seen again
                pass
            probe(b)
        trees = work_on_both(a, b, first, second, "more")
        told(mode)
        look_at_both(a, b, first, second, trees)


@in_modes(*ONLY_IMPLICIT)
def an_xfs_in_pieces_whose_end_is_an_f2fs_is_not_proved_by_a_probe(mode: str) -> None:
    probed_at_boot(mode, "xfs", "f2fs")


@in_modes(*ONLY_IMPLICIT)
def an_xfs_in_pieces_whose_end_is_an_ext4_is_not_proved_by_a_probe(mode: str) -> None:
    probed_at_boot(mode, "xfs", "ext4")


@in_modes(*ONLY_IMPLICIT)
def an_ext4_in_pieces_whose_end_is_an_f2fs_is_not_proved_by_a_probe(mode: str) -> None:
    probed_at_boot(mode, "ext4", "f2fs")


def on_two_disks(mode: str, first: str, second: str, table: Callable[[str, str], str], again: bool) -> None:
    """Half of each disk is volume a, which is as long as one disk; the first one's other half is b."""
    half = 2 * GIB
    with fake(mode, START + 2 * half) as (one, backing), ExitStack() as stack:
        two, _ = stack.enter_context(fake(mode, START + 2 * half, name="second"))
        with ExitStack() as before:
            mapper = Mapper(before)
            a = mapper.create("a", table(one, two))
            b = mapper.create("b", linear(half, one, START + half))
            make(second, b)
            make(first, a)
            trees = work_on_both(a, b, first, second, "old")
            if not again:
                told(mode)
                look_at_both(a, b, first, second, trees)
                return
        next_boot(mode, START + 2 * half, backing)
        mapper = Mapper(stack)
        a = mapper.create("a", table(one, two))
        b = mapper.create("b", linear(half, one, START + half))
        trees = work_on_both(a, b, first, second, "more")
        trees = work_on_both(a, b, first, second, "again")
        told(mode)
        look_at_both(a, b, first, second, trees)


def halves(one: str, two: str) -> str:
    return linear(2 * GIB, one, START) + "\n" + linear(2 * GIB, two, START, 2 * GIB)


def stripes(one: str, two: str) -> str:
    return f"0 {4 * GIB >> 9} striped 2 2048 {one} {START >> 9} {two} {START >> 9}"


@in_modes(*ONLY_IMPLICIT)
def an_ext4_on_halves_of_two_disks_spares_an_f2fs(mode: str) -> None:
    on_two_disks(mode, "ext4", "f2fs", halves, False)


@in_modes(*MODES)
def an_xfs_on_halves_of_two_disks_spares_an_ext4(mode: str) -> None:
    on_two_disks(mode, "xfs", "ext4", halves, False)


@in_modes(*ONLY_IMPLICIT)
def an_xfs_striped_over_halves_of_two_disks_spares_an_ext4(mode: str) -> None:
    on_two_disks(mode, "xfs", "ext4", stripes, False)


@in_modes(*ONLY_IMPLICIT)
def a_btrfs_on_halves_of_two_disks_spares_an_xfs(mode: str) -> None:
    on_two_disks(mode, "btrfs", "xfs", halves, False)


@in_modes(*ONLY_IMPLICIT)
def an_ext4_on_halves_of_two_disks_spares_an_xfs_after_a_boot(mode: str) -> None:
    on_two_disks(mode, "ext4", "xfs", halves, True)


@in_modes(*ONLY_IMPLICIT)
def an_xfs_on_halves_of_two_disks_spares_an_f2fs_after_a_boot(mode: str) -> None:
    on_two_disks(mode, "xfs", "f2fs", halves, True)


def over_old_zeros(mode: str, first: str) -> None:
    """The neighbour was another file system once, whose mkfs has written zeros at its end."""
    with fake(mode, 20 * GIB) as (disk, _), ExitStack() as stack:
        mapper = Mapper(stack)
        b = mapper.create("b", linear(GIB, disk, START + 2 * GIB))
        make("xfs", b, "-K")
        make("f2fs", b, "-t", "0")
        a = mapper.create("a", pieces_of(disk, 2 * GIB, GIB))
        make(first, a, "-K" if first != "ext4" else "-Enodiscard")
        trees = work_on_both(a, b, first, "f2fs", "more")
        told(mode)
        look_at_both(a, b, first, "f2fs", trees)


@in_modes(*ONLY_IMPLICIT)
def an_ext4_in_pieces_is_not_proved_by_zeros_of_another(mode: str) -> None:
    over_old_zeros(mode, "ext4")


@in_modes(*ONLY_IMPLICIT)
def an_xfs_in_pieces_is_not_proved_by_zeros_of_another(mode: str) -> None:
    over_old_zeros(mode, "xfs")
