# SPDX-License-Identifier: GPL-2.0
"""The disk of a run: a fake disk, or an array of md whose members are fake disks of one pool.

Figures of an array are its members' together: counts and times are sums. Where each has a share of its own,
as of the disk that was touched, the sums make the share of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..disk import array, dm, md, pool, setting, stats
from ..disk.array import ArrayParameters, create_array
from ..disk.create import create_disk
from ..disk.parameters import DiskParameters
from . import limits
from .limits import Limits

NAME = "david-bench"
POOL = "david-bench"
# Of several members the largest; what all of them have is one.
MOST, SHARED = ("late_max", "created", "pool_saved", "pool_memory"), ("block_size",)


@dataclass(frozen=True)
class Target:
    path: str
    disks: tuple[str, ...]  # device-mapper's names of the fake disks that it is made of

    def figures(self) -> dict[str, Any]:
        """As stats.as_dict() has them, of all disks."""
        return together([stats.as_dict(stats.fetch(name)) for name in self.disks])

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


def _sum(name: str, values: list[Any]) -> Any:
    first = values[0]
    if isinstance(first, dict):
        return {key: _sum(key, [value[key] for value in values]) for key in first}
    if isinstance(first, list):
        width = max(map(len, values))
        return [sum(column) for column in zip(*([*value, *[0] * (width - len(value))] for value in values),
                                              strict=True)]
    if isinstance(first, str) or name in SHARED:
        return first
    return max(values) if name in MOST else sum(values)


def together(figures: list[dict[str, Any]]) -> dict[str, Any]:
    """Of several disks as of one. Its state is the worst that one has."""
    if len(figures) == 1:
        return figures[0]
    worst = max(figures, key=lambda one: stats.STATES.index(one["state"]))
    found = {name: _sum(name, [one[name] for one in figures]) for name in figures[0]}
    return found | {"state": worst["state"], "fault": worst["fault"]}


def make(disk: DiskParameters, told: dict[str, Any] | None, seed: int) -> Target:
    """TOLD is an array's description. DISK's backing holds the pool of its members."""
    if not told:
        create_disk(disk)
        return SINGLE
    dm.load_module()
    pool.need(pool.store_tool("create", "--format", disk.backing, POOL))
    members = [
        replace(disk, name=f"{NAME}-{number}", backing="", pool=disk.backing, format=False,
                profile_options=[*disk.profile_options, array.phase_option(seed, number)])
        for number in range(told["members"])
    ]
    made = create_array(ArrayParameters(NAME, told["level"], members, told["chunk"], told["layout"],
                                        told["bitmap"]))
    return Target(made.device, tuple(one.name for one in members))


def there() -> bool:
    """Is a disk of a bench there, or what is left of one?"""
    return dm.exists(NAME) or (dm.target_loaded() and bool(md.disks_of(NAME)))


def remove() -> None:
    if dm.exists(NAME):
        dm.dmsetup("remove", NAME)
    if dm.target_loaded() and md.disks_of(NAME):
        array.remove_array(NAME, 5)
