# SPDX-License-Identifier: GPL-2.0
"""Several disks under one name: an array's members, the disks of a pool that are in use. And their figures as
one.

Counts and times add up. total() says what does not: a state is the worst one, a place on a disk is none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import dm, md, pools, stats

# The largest of all; a pool has its own once, and each of its disks tells them.
LARGEST = ("late_max", "created")
OF_THE_POOL = ("pool_saved", "pool_memory")
# Of one disk only: a place on it.
PLACES = ("first", "end", "most_first", "most_end")
# Of all, or of none.
ALIKE = ("block_size",)


@dataclass(frozen=True)
class Group:
    name: str
    kind: str  # disk, array or pool
    disks: tuple[str, ...]
    pools: tuple[str, ...]  # of each disk: the device of its pool, or ""


def _pool_of(device: dm.Device) -> str:
    return device.backing if any(word.startswith("pool=") for word in device.words) else ""


def _group(name: str, kind: str, devices: Sequence[dm.Device]) -> Group:
    return Group(name, kind, tuple(device.name for device in devices), tuple(map(_pool_of, devices)))


def find(name: str) -> Group:
    """A disk by its name, or else an array, or a pool, by its name or device. DeviceError: there is none."""
    devices = dm.devices()
    if own := [device for device in devices if device.name == name]:
        return _group(name, "disk", own)
    if any(md.disks_of(name).values()):
        members = {member.name for member in md.find(name).members}
        return _group(name, "array", [device for device in devices if device.name in members])
    pooled = [device for device in devices if (place := _pool_of(device))
              and (place == name or "/" not in name and pools.pool_name(place) == name)]
    if pooled:
        return _group(name, "pool", pooled)
    dm.need_disk(name)
    return _group(name, "disk", [device for device in dm.devices() if device.name == name])


def _worst(name: str, words: list[str]) -> str:
    if name == "state":
        return max(words, key=lambda word: stats.STATES.index(word) if word in stats.STATES else -1)
    said = sorted(set(words) - {"none"})
    return said[0] if len(said) == 1 else "several" if said else words[0]


def _sum(name: str, values: list[Any]) -> Any:
    if isinstance(values[0], dict):
        return {key: 0 if name == "reach" and key in PLACES else _sum(key, [value[key] for value in values])
                for key in values[0]}
    if isinstance(values[0], list):
        if not all(isinstance(item, int) for value in values for item in value):
            return [item for value in values for item in value]
        longest = max(map(len, values))
        return [sum(value[at] for value in values if at < len(value)) for at in range(longest)]
    if isinstance(values[0], str):
        return _worst(name, values)
    if name in ALIKE:
        return values[0] if len(set(values)) == 1 else 0
    return max(values) if name in LARGEST else sum(values)


def total(name: str, figures: Sequence[dict[str, Any]], pools_of: Sequence[str] = ()) -> dict[str, Any]:
    """Figures of several disks, as stats.as_dict() has them, as if they were one's: counts, bytes, times and
    histograms added up; the worst state; the latest of all; no places. Of disks that share a pool its free
    blocks, and what it saves, count once."""
    whole: dict[str, Any] = {key: _sum(key, [one[key] for one in figures]) for key in figures[0]}
    whole["name"] = name
    shared = defaultdict(list)
    for one, pool in zip(figures, pools_of or [""] * len(figures), strict=True):
        if pool:
            shared[pool].append(one)
    for disks in shared.values():
        free = [disk["store_blocks"] - disk["store_used"] for disk in disks]
        whole["store_blocks"] -= sum(free) - max(free)
        for key in OF_THE_POOL:
            told = [disk[key] for disk in disks]
            whole[key] -= sum(told) - max(told)
    return whole
