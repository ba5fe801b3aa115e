# SPDX-License-Identifier: GPL-2.0
"""Drives with zones in a question: the host writes a zone in order. What cannot be on such a drive is said
before anything starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from .. import filesystems
from ..drive import files, profileword
from ..sizes import format_size
from ..workload import fiojob
from .disks import Disk, short_name

NONE = "none"
FIO = "fio"
# Of kernels that are named by their version.
TOO_OLD = re.compile(r"^[1-5]\.|^6\.([0-9]|1[01])(\.|$)")
XFS = "xfs: on zones it needs Linux 6.15 and mkfs.xfs 6.14{}, and bench makes none there"
# xfs has its metadata on conventional zones, or on another device.
XFS_METADATA = ", without conventional zones also a second device for its metadata"


def word_of(disk: Disk) -> profileword.Word:
    """The profile, with the question's options."""
    word = profileword.parse(disk.text, disk.profile)
    for option in disk.profile_options:
        # precheck.py says what is wrong with one.
        with suppress(files.ProfileError):
            profileword.override(word, option)
    return word


def is_zoned(disk: Disk) -> bool:
    return word_of(disk).has_zones


def _disk_mistake(disk: Disk, word: profileword.Word) -> tuple[str, str] | None:
    name, zone = short_name(disk.profile), word.bytes_of("zone_size")
    if disk.array:
        return "array", f"array: {name} has zones, which are written in order, and md writes anywhere"
    if disk.age:
        return "age", f"age: {name} has zones, and no recipe ages a file system on them"
    if word.value("precondition") not in ("", "fresh"):
        return "precondition", f"precondition: what of {name} was written, its zones say; leave it out"
    if disk.size and (disk.size % zone or disk.size < 2 * zone):
        return "size", (f"size: {name} has zones of {format_size(zone)}, and a disk has two or more whole "
                        f"ones; the nearest below is {max(disk.size // zone, 2) * zone} bytes")
    return None


def _system_mistake(kind: str, conventional: int) -> str:
    if kind == "xfs":
        return XFS.format("" if conventional else XFS_METADATA)
    if kind != NONE and not filesystems.FILE_SYSTEMS[kind].zoned:
        return f"{kind}: it writes anywhere"
    if kind == "f2fs" and not conventional:
        return "f2fs: it needs conventional zones, and the drive has none"
    return ""


def _fio_mistake(job: str) -> str:
    """fio without zonemode writes where no zone lets it."""
    for name, options in fiojob.sections(job):
        if options.get("zonemode") != "zbd":
            return f"[{name}] has no zonemode=zbd"
    return ""


def _work_mistakes(spec: Any) -> Iterator[tuple[int, str, str]]:
    """Of workloads on the raw disk: number, key, and why not."""
    for work in spec.workloads if any(one.type == NONE for one in spec.file_systems) else ():
        if work.kind == FIO:
            if why := _fio_mistake(work.of_seed(spec.seeds[0])["job"]):
                yield work.number, "job", f"job: {why}"
        elif work.kind != "command":
            yield work.number, "kind", (f"kind = '{work.kind}': it writes anywhere on the raw disk; kind = "
                                        "'fio' has zonemode=zbd")


def check(spec: Any) -> None:
    """Of a spec.Spec: SpecError names the line."""
    zoned = [(disk, word) for disk in spec.disks if (word := word_of(disk)).has_zones]
    if not zoned:
        return
    name = short_name(zoned[0][0].profile)
    for disk, word in zoned:
        if found := _disk_mistake(disk, word):
            raise spec.source.wrong("disk", disk.number, *found)
        for system in spec.file_systems:
            if why := _system_mistake(system.type, word.number("conventional_zones")):
                drive = short_name(disk.profile)
                raise spec.source.wrong("filesystem", system.number, "type",
                                        f"type = '{system.type}': {drive} has zones, which are written in "
                                        f"order, and {why}; take btrfs, or none with fio")
    for number, key, why in _work_mistakes(spec):
        raise spec.source.wrong("workload", number, key, f"{why}; {name} has zones, written in order")
    for kernel in spec.kernels if spec.where != "here" else ():
        if TOO_OLD.match(kernel.name):
            raise spec.source.wrong("", 0, "kernel", f"kernel = '{kernel.name}': {name} has zones, and a "
                                    "fake disk with zones needs Linux 6.12 or later")
