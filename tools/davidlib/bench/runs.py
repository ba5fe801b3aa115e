# SPDX-License-Identifier: GPL-2.0
"""The runs of a spec: one for each combination. A run's id is the digest of all that decides its figures."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..drive import files
from ..util import UserError
from . import parts
from .spec import Spec, short_name


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


def _sizes_said(sizes: list[int | None]) -> list[str]:
    """Each in as few digits, six or more, as tell them all apart; a page knows a variant by its name."""
    for digits in range(6, 16):
        said = [f"{(size or 0) / 1e12:.{digits}g} TB" for size in sizes]
        if len(set(said)) == len(said):
            return said
    return [f"{size} bytes" for size in sizes]


def _variant(spec: Spec, profile: str, size: str, system: str) -> str:
    """Only what differs between runs is named."""
    words = [system] if len(spec.file_systems) > 1 else []
    if len(spec.profiles) > 1:
        words.append(short_name(profile))
    if len(spec.sizes) > 1:
        words.append(size)
    return ", ".join(words) or system


def _profile_text(profile: str) -> str:
    return (Path(profile) if "/" in profile else files.path_of(profile)).read_text()


def describe(spec: Spec) -> Iterator[dict[str, Any]]:
    """All runs, in the order of the spec, without their parts."""
    texts = {profile: _profile_text(profile) for profile in spec.profiles}
    called = dict(zip(spec.sizes, _sizes_said(spec.sizes), strict=True))
    axes = itertools.product(spec.workloads, spec.profiles, spec.sizes, spec.file_systems, spec.seeds)
    for workload, profile, size, system, seed in axes:
        yield {
            "variant": _variant(spec, profile, called[size], system.name),
            "where": spec.where,
            "memory": spec.memory,
            "timeout": spec.timeout,
            "profile": short_name(profile),
            "profile_text": texts[profile],
            "profile_options": spec.profile_options,
            "size": size,
            "backing": spec.backing,
            "classify": spec.classify,
            "options": spec.options,
            "file_system": {"type": system.type, "name": system.name, "mkfs": list(system.mkfs),
                            "mount": system.mount},
            "workload": {"kind": workload.kind, "name": workload.name, "params": workload.params},
            "seed": seed,
        }


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
    _refuse_namesakes(described)
    return identified(described)
