# SPDX-License-Identifier: GPL-2.0
"""The runs of a spec: one for each combination. A run's description alone decides its figures."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..util import VERSION
from ..workload.kinds import files_of
from .spec import Spec

# Bump when a run of the same description would come to other figures.
RECIPE = 2


@dataclass(frozen=True)
class Run:
    """What one lab is to do; `described` is all that it is told."""

    described: dict[str, Any]

    @property
    def variant(self) -> str:
        """Everything but workload and seed, in the words that tell variants apart."""
        return self.described["variant"]

    @property
    def id(self) -> str:
        """Its name in the results: legible, and another one if anything of it is another."""
        what = {key: value for key, value in self.described.items() if key not in ("variant", "timeout")}
        digest = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:12]
        words = (self.described["file_system"]["name"], self.described["workload"]["name"])
        legible = "-".join(re.sub(r"[^A-Za-z0-9]+", "-", word).strip("-") for word in words)
        return f"{legible}-seed{self.described['seed']}-{digest}"


def _short(profile: str) -> str:
    return Path(profile).stem if "/" in profile else profile


def _variant(spec: Spec, profile: str, size: int | None, system: str) -> str:
    """Only what differs between runs is named."""
    words = [system] if len(spec.file_systems) > 1 else []
    if len(spec.profiles) > 1:
        words.append(_short(profile))
    if len(spec.sizes) > 1:
        words.append(f"{(size or 0) / 1e12:g} TB")
    return ", ".join(words) or system


def _profile_text(profile: str) -> str:
    """Of a file: what stands in it, as the name says nothing."""
    return Path(profile).read_text() if "/" in profile else ""


def _with_digests(workload: dict[str, Any]) -> dict[str, Any]:
    """Of a file that the workload names what stands in it counts, not its name alone."""
    files = files_of({"workload": workload})
    digests = {key: hashlib.sha256(Path(name).read_bytes()).hexdigest() for key, name in files.items()}
    return workload | {"digests": digests} if digests else workload


def expand(spec: Spec) -> list[Run]:
    """All runs, in the order of the spec."""
    found = []
    axes = itertools.product(spec.workloads, spec.profiles, spec.sizes, spec.file_systems, spec.seeds)
    for workload, profile, size, system, seed in axes:
        found.append(Run({
            "recipe": RECIPE,
            "version": VERSION,
            "variant": _variant(spec, profile, size, system.name),
            "where": spec.where,
            "memory": spec.memory,
            "timeout": spec.timeout,
            "profile": _short(profile),
            "profile_text": _profile_text(profile),
            "profile_options": spec.profile_options,
            "size": size,
            "backing": spec.backing,
            "classify": spec.classify,
            "options": spec.options,
            "file_system": {"type": system.type, "name": system.name, "mkfs": list(system.mkfs),
                            "mount": system.mount},
            "workload": _with_digests(
                {"kind": workload.kind, "name": workload.name, "params": workload.params}),
            "seed": seed,
        }))
    return found
