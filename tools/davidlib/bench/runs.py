# SPDX-License-Identifier: GPL-2.0
"""The runs of a spec: one for each combination. A run's id is the digest of all that decides its figures."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..nearest import did_you_mean
from ..util import UserError
from ..workload.kinds import KINDS
from . import parts, zonewords
from .dimensions import variant
from .disks import Disk, short_name
from .faultwords import Faults
from .kernelwords import Kernel
from .spec import FileSystem, Spec
from .works import Workload

# It makes the pool of an array's members.
POOLS = "david-store"


@dataclass(frozen=True)
class Run:
    """What one lab is to do; `described` is all that it is told, and has the parts (parts.py) in it."""

    described: dict[str, Any]

    @property
    def variant(self) -> str:
        """Everything but workload and seed, in the words that tell variants apart."""
        return self.described["variant"]

    @property
    def legible(self) -> str:
        """The beginning of its id."""
        system, work = self.described["file_system"]["type"], self.described["workload"]
        words = (system, work["name"] if "experiment" in self.described else work["kind"])
        said = "-".join(re.sub(r"[^A-Za-z0-9]+", "-", word).strip("-") for word in words)
        return f"{said}-seed{self.described['seed']}"

    @cached_property
    def id(self) -> str:
        """Its name in the results: legible, and another one if what decides its figures is another."""
        return f"{self.legible}-{parts.content(self.described)}"


def identified(described: Iterable[dict[str, Any]]) -> list[Run]:
    """With what the tree and this machine are now."""
    tree = parts.Tree()
    return [Run(one | {"parts": tree.parts(one)}) for one in described]


def _programs(workload: Workload, disk: Disk) -> set[str]:
    """Those of the tree that a run calls."""
    return {*KINDS[workload.kind].built, *((POOLS,) if disk.array else ())}


def programs(spec: Spec) -> set[str]:
    """Those that any of its runs calls."""
    return {name for workload in spec.workloads for disk in spec.disks for name in _programs(workload, disk)}


def _of(spec: Spec, workload: Workload, disk: Disk, kernel: Kernel, system: FileSystem, faults: Faults,
        seed: int) -> dict[str, Any]:
    factors = {**system.factors, **disk.factors, **kernel.factors, **faults.factors, **workload.factors}
    if spec.compare in factors:
        factors = {spec.compare: factors[spec.compare]} | factors
    found = {
        "variant": variant(factors) or system.name,
        "factors": factors,
        "where": spec.where,
        "memory": spec.memory,
        "timeout": spec.timeout,
        "profile": short_name(disk.profile),
        "profile_text": disk.text,
        "profile_options": list(disk.profile_options),
        "size": disk.size,
        "backing": disk.backing,
        "classify": disk.classify,
        "options": list(disk.options),
        "file_system": {"type": system.type, "name": system.name, "mkfs": list(system.mkfs),
                        "mount": system.mount},
        "workload": {"kind": workload.kind, "name": workload.name, "params": workload.of_seed(seed)},
        "seed": seed,
        **kernel.told(),
    }
    if disk.array:
        found |= {"array": disk.array.told(), "built": sorted(_programs(workload, disk))}
    if not faults.is_healthy:
        found["faults"] = faults.told(bool(disk.array))
    if disk.state:
        found["array_state"] = disk.state.told()
    if zonewords.is_zoned(disk):
        found["zoned"] = True
    return found | ({"age": disk.age} if disk.age else {})


def _refuse_comparison(spec: Spec, described: list[dict[str, Any]]) -> None:
    # Not those of some: precondition is of SSDs alone.
    names = [name for name in described[0]["factors"] if all(name in one["factors"] for one in described)]
    if spec.compare and spec.compare not in names:
        there = f"there are {', '.join(names)}" if names else "all runs differ in their seed alone"
        raise spec.source.wrong("", 0, "compare", f"compare = '{spec.compare}': no dimension of all runs; "
                                + did_you_mean(spec.compare, names, there))


def describe(spec: Spec) -> Iterator[dict[str, Any]]:
    """All runs, in the order of the spec, without their parts."""
    for axes in itertools.product(spec.workloads, spec.disks, spec.kernels, spec.file_systems, spec.faults,
                                  spec.seeds):
        yield _of(spec, *axes)


def _refuse_namesakes(described: list[dict[str, Any]]) -> None:
    """UserError if a page could not tell two runs apart: it would have the figures of one of them."""
    seen: set[tuple[str, str, int]] = set()
    for one in described:
        key = (one["workload"]["name"], one["variant"], one["seed"])
        if key in seen:
            raise UserError(f"two variants would be called '{one['variant']}', and a page could not tell "
                            "them apart; give a file system or a profile another name")
        seen.add(key)


def expand(spec: Spec) -> list[Run]:
    """All runs, in the order of the spec."""
    described = list(describe(spec))
    _refuse_comparison(spec, described)
    _refuse_namesakes(described)
    return identified(described)
