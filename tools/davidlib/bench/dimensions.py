# SPDX-License-Identifier: GPL-2.0
"""What a question varies. Each list of values is a dimension, and each run has one value of each.

A run's factors say in words which these are, but for what all runs share: dimension -> value. Pages tell runs
apart by them, and compare what was asked within the values of all others.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

Factors = dict[str, str]
SYSTEM = "file system"
DISK = "disk"
FAULTS = "faults"
KERNEL = "kernel"
# Their values say by themselves what they are of.
EVIDENT = (SYSTEM, "mkfs", "mount", DISK, "drive", "size", "array", "array-state", "profile-option",
           "age", FAULTS)


@dataclass(frozen=True)
class Level:
    """A value of a dimension, and what a page calls it."""

    word: str
    value: Any


def points(dimensions: dict[str, list[Level]]) -> Iterator[tuple[dict[str, Any], Factors]]:
    """All combinations: the values, and the words of what differs."""
    for levels in itertools.product(*dimensions.values()):
        named = dict(zip(dimensions, levels, strict=True))
        factors = {name: level.word for name, level in named.items() if len(dimensions[name]) > 1}
        yield {name: level.value for name, level in named.items()}, factors


def variant(factors: Factors) -> str:
    """The same in one line."""
    return ", ".join(word if name in EVIDENT else f"{name} {word}" for name, word in factors.items())


def double(levels: Iterable[Level]) -> str:
    """The word of a value that is there twice, perhaps in other words; "" if none is."""
    seen: list[Any] = []
    for level in levels:
        if level.value in seen:
            return level.word
        seen.append(level.value)
    return ""
