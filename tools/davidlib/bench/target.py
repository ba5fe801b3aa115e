# SPDX-License-Identifier: GPL-2.0
"""The disk of a run: a fake disk, or an array of md whose members are fake disks of one pool.

Figures of an array are its members' together: counts and times are sums. Where each has a share of its own,
as of the disk that was touched, the sums make the share of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..disk import array, device, dm, group, md, pool, setting, stats, zones
from ..disk.array import ArrayParameters, create_array
from ..disk.create import create_disk
from ..disk.parameters import DiskParameters
from ..sizes import SECTOR
from . import limits
from .arraywords import FAILED, REBUILDING
from .limits import Limits

NAME = "david-bench"
POOL = "david-bench"


@dataclass(frozen=True)
class ArraySaid:
    degraded: int  # members that are missing, or not filled yet
    action: str  # what md is at: idle, recover; of RAID-0 nothing
    rebuilt: int  # bytes that were ever written to members that are rebuilt


@dataclass(frozen=True)
class Target:
    path: str
    disks: tuple[str, ...]  # device-mapper's names of the fake disks that it is made of, but for what failed
    rebuilt: tuple[int, ...] = ()  # of an array: members that are out, and are to be rebuilt

    def figures(self) -> dict[str, Any]:
        """As stats.as_dict() has them, of all disks."""
        return together([stats.as_dict(stats.fetch(name)) for name in self.disks])

    def faulty(self, member: int | None) -> str:
        """The disk that fails: of an array the one of this member."""
        return self.disks[0] if member is None else _member_name(member)

    def rebuild(self) -> None:
        """New drives in place of the members that are out; md has begun when this returns."""
        if self.rebuilt:
            array.rebuild(NAME, self.rebuilt)

    def of_array(self) -> ArraySaid | None:
        """None: it is a single disk."""
        if self == SINGLE:
            return None
        found = md.find(NAME)
        written = [stats.as_dict(stats.fetch(_member_name(number)))["sectors"]["write"]
                   for number in self.rebuilt]
        return ArraySaid(int(found.said("degraded") or 0), found.said("sync_action"), sum(written) * SECTOR)

    def message(self, *words: str) -> None:
        for name in self.disks:
            setting.message(name, *words)

    def set_mode(self, mode: str) -> None:
        for name in self.disks:
            setting.change(name, [("mode", mode)])

    def limits(self) -> Limits:
        one, count = limits.of_disk(self.disks[0]), len(self.disks)
        return replace(one, cache=one.cache * count, media_cache=one.media_cache * count,
                       media_rate=one.media_rate * count)


SINGLE = Target(f"/dev/mapper/{NAME}", (NAME,))


def _reach(members: list[dict[str, int]]) -> dict[str, int]:
    """Places add up. How far most requests went is the members' mean, by the pages that each was asked for,
    times the members: a mirror that nothing was read from has no heads that stayed in one place."""
    found = {name: sum(one[name] for one in members) for name in members[0]}
    if found["pages"]:
        went = sum((one["most_end"] - one["most_first"]) * one["pages"] for one in members)
        found["most_end"] = found["most_first"] + went * len(members) // found["pages"]
    return found


def together(figures: list[dict[str, Any]]) -> dict[str, Any]:
    """Of the members of one pool as of one disk. Its state is the worst that one has, with its fault. Places
    add up, too: their differences are of all members that have requests."""
    if len(figures) == 1:
        return figures[0]
    worst = max(figures, key=lambda one: stats.STATES.index(one["state"]))
    reach = _reach([one["reach"] for one in figures])
    of_pool = {name: max(one[name] for one in figures) for name in group.OF_THE_POOL}
    return group.total(figures[0]["name"], figures) | of_pool | {"reach": reach, "fault": worst["fault"]}


def _member_name(number: int) -> str:
    return f"{NAME}-{number}"


def make(disk: DiskParameters, told: dict[str, Any] | None, seed: int,
         state: dict[str, list[int]] | None = None) -> Target:
    """TOLD is an array's description, STATE says what of it failed. DISK's backing has the members' pool."""
    if not told:
        create_disk(disk)
        return SINGLE
    dm.load_module()
    pool.need(pool.store_tool("create", "--format", disk.backing, POOL))
    members = [
        replace(disk, name=_member_name(number), backing="", pool=disk.backing, format=False,
                profile_options=array.with_phase(disk.profile_options, seed, number))
        for number in range(told["members"])
    ]
    made = create_array(ArrayParameters(NAME, told["level"], members, told["chunk"], told["layout"],
                                        told["bitmap"]))
    failed, rebuilt = ((state or {}).get(word, []) for word in (FAILED, REBUILDING))
    for number in (*failed, *rebuilt):
        array.fail_member(made, number)
        array.take_out(made, number)
    left = [one.name for number, one in enumerate(members) if number not in failed]
    return Target(made.device, tuple(left), tuple(rebuilt))


def there() -> bool:
    """Is a disk of a bench there, or what is left of one?"""
    return dm.exists(NAME) or (dm.target_loaded() and bool(md.disks_of(NAME)))


def remove() -> None:
    if dm.exists(NAME):
        zoned = device.zoned_device(NAME)
        dm.dmsetup("remove", NAME)
        zones.drop(zoned)
    if dm.target_loaded() and md.disks_of(NAME):
        array.remove_array(NAME, 5)
