# SPDX-License-Identifier: GPL-2.0
"""File systems that end in a crash, with their options."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from helpers.guest import device_stats, fake_disk, mapped, mounted, ram_disk, run, swap_table
from helpers.units import GIB, MIB

NAME = "selfid"


@dataclass(frozen=True)
class Kind:
    name: str
    mkfs: tuple[str, ...]  # without discarding or wiping what was there
    options: str
    check: tuple[str, ...]


@contextmanager
def disk_of(classify: str = "implicit", size: int = 16 * GIB) -> Iterator[str]:
    with ram_disk(128 * MIB) as dev, fake_disk(NAME, size, dev, "--classify", classify) as disk:
        yield disk


def mount_of(disk: str, kind: Kind):  # type: ignore[no-untyped-def]
    return mounted(disk, kind.name, kind.options)


def counts(group: str) -> dict[str, int]:
    return dict(device_stats(NAME)[group])  # type: ignore[call-overload]


@contextmanager
def crashing(disk: str) -> Iterator[str]:
    """The disk by another name, which goes away under whoever is using it in the end."""
    sectors = int(run("blockdev", "--getsz", disk))
    with mapped("crashing", f"0 {sectors} linear {disk} 0") as top:
        yield top


def crash(kind: Kind, disk: str, top: str) -> None:
    sectors = int(run("blockdev", "--getsz", disk))
    swap_table("crashing", f"0 {sectors} error")
    run("umount", top)


CRASH = "I/O error|XFS .*(error|shut|Unmount)|BTRFS|EXT4-fs|JBD2"
