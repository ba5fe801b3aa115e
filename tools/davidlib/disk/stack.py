# SPDX-License-Identifier: GPL-2.0
"""`david stack`: tell the module which loop devices lie on fake disks. The kernel does not tell."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..command import Commands, add
from ..util import DAVID
from . import dm
from .layers import DEPTH, below_loop, layers_below, sysfs_text
from .dm import DeviceError, need_root


def disks_below(number: str, fake: dict[str, str], depth: int = DEPTH) -> set[str]:
    """The fake disks, of @fake (their names by number), that a device lies on, through any layers."""
    if number in fake:
        return {fake[number]}
    if not depth:
        return set()
    return {name for each in layers_below(number) for name in disks_below(each, fake, depth - 1)}


def loops() -> Iterator[tuple[str, str, str, int]]:
    """Of each loop device on a block device: number, sequence number, what it lies on, from where on."""
    for loop in sorted(Path("/sys/block").glob("loop*")):
        number, diskseq = sysfs_text(loop / "dev"), sysfs_text(loop / "diskseq")
        try:
            place = below_loop(number, loop)
        except DeviceError:  # on nothing, or on a file
            continue
        yield number, diskseq, place.number, place.sector


def listen(disks: Iterable[str]) -> None:
    """From now on the module hears who writes through what holds these disks."""
    for disk in disks:
        dm.dmsetup("message", disk, "0", "stack")


def tell_of_loops() -> list[str]:
    """Tell the module of the loop devices that lie on fake disks: a line for each."""
    fake = {dm.minor(device.name): device.name for device in dm.devices()}
    told = []
    listen(fake.values())
    for number, diskseq, lower, sector in loops():
        for disk in sorted(disks_below(lower, fake))[:1]:
            dm.dmsetup("message", disk, "0", f"stack {number} {diskseq} {lower} {sector}")
            told.append(f"{dm.device_node(number)} on {dm.device_node(lower)} from sector {sector}")
    return told


def stack(args: argparse.Namespace) -> int:
    need_root("stack")
    for line in tell_of_loops():
        print(line)
    return 0


def add_parsers(sub: Commands) -> None:
    add(
        sub,
        "stack",
        stack,
        "tell the module which loop devices lie on fake disks: file data written through those with "
        "direct I/O is dropped then; partitions, volumes and arrays need no telling; the package's udev "
        "rule does it",
        f"  losetup --find --show --direct-io=on /dev/mapper/big && {DAVID} stack",
    )
