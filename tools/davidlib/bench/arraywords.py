# SPDX-License-Identifier: GPL-2.0
"""An array in a question, in the words of david-sim: "6 members=12 chunk=128K". md makes it of fake disks.
And its state: "failed=3+7", "rebuilding=3".
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from ..disk import md
from ..sizes import parse_size

NONE = "none"
LEAST_CHUNK, LARGEST_CHUNK = 4 << 10, 64 << 20
MOST_MEMBERS = 64
# mdadm's names, by level; david-sim has the same.
LAYOUTS = {
    "5": r"(left|right)-a?symmetric|parity-(first|last)",
    "6": r"((left|right)-a?symmetric|parity-first)(-6)?|parity-last|ddf-(zero-restart|N-(restart|continue))",
    "10": r"[nfo][1-9]",
}
BITMAPS = ("none", "internal")
HEALTHY = "healthy"
FAILED, REBUILDING = "failed", "rebuilding"


@dataclass(frozen=True)
class Array:
    level: str
    members: int
    chunk: int = 0  # bytes; 0: md's own
    layout: str = ""  # md's own
    bitmap: str = "none"

    @property
    def word(self) -> str:
        """What a page calls it."""
        more = [f"chunk={self.chunk >> 10}K"] if self.chunk else []
        more += [f"layout={self.layout}"] if self.layout else []
        more += [f"bitmap={self.bitmap}"] if self.bitmap != "none" else []
        return " ".join([f"RAID-{self.level} of {self.members}", *more])

    def told(self) -> dict[str, Any]:
        """For a run's description."""
        return asdict(self)

    def data_members(self) -> float:
        """How many members' room is for data."""
        copies = int(self.layout[1:]) if self.level == "10" and self.layout else 2
        return {"0": self.members, "1": 1, "4": self.members - 1, "5": self.members - 1,
                "6": self.members - 2, "10": self.members / copies}[self.level]

    def stored(self) -> float:
        """How many times what is written is stored at most: each copy, and the parity of blocks that have
        their stripes for themselves."""
        copies = self.members / self.data_members()
        return 1 + self.members - self.data_members() if self.level in md.WITH_PARITY else copies

    def surely_stored(self, out: int) -> float:
        """The least of that with so many members out. The parity of blocks that are alike may be zeros, which
        take no room."""
        if self.level in md.WITH_PARITY:
            return max(0.0, 1 - out / self.data_members())
        return max(0.0, self.stored() - out)

    def bears(self) -> int:
        """How many members may fail, whichever they are."""
        if self.level == "10":
            return (int(self.layout[1:]) if self.layout else 2) - 1
        return {"0": 0, "1": self.members - 1, "4": 1, "5": 1, "6": 2}[self.level]


@dataclass(frozen=True)
class State:
    """Members that failed before anything was written; they may be rebuilt while the array is measured."""

    kind: str
    members: tuple[int, ...]

    @property
    def word(self) -> str:
        return f"{self.kind}={'+'.join(map(str, self.members))}"

    def told(self) -> dict[str, Any]:
        """For a run's description."""
        return {self.kind: list(self.members)}


def parse_state(text: str) -> State | None:
    """None: healthy. ValueError says what is wrong."""
    if text.strip() == HEALTHY:
        return None
    found = re.fullmatch(rf"({FAILED}|{REBUILDING})=(\d+(?:\+\d+)*)", text.strip())
    if not found:
        raise ValueError("write healthy, failed=N or rebuilding=N, where N counts members from 0; failed=3+7 "
                         "is two of them")
    members = sorted(map(int, found[2].split("+")))
    if len(set(members)) < len(members):
        raise ValueError("a member is there twice")
    return State(found[1], tuple(members))


def mistake(array: Array, state: State) -> str:
    """Why this array cannot have this state; "": it can."""
    if state.members[-1] >= array.members:
        return f"{array.word} has members 0 to {array.members - 1}"
    if len(state.members) > array.bears():
        return f"{array.word} bears {array.bears() or 'no'} failed members for certain"
    return ""


def _chunk(value: str) -> int:
    size = parse_size(value)
    if not LEAST_CHUNK <= size <= LARGEST_CHUNK or size & (size - 1):
        raise ValueError(f"chunk={value}: a power of two from 4K to 64M")
    return size


def _check(found: Array) -> Array:
    least = md.LEVELS[found.level]
    if not least <= found.members <= MOST_MEMBERS:
        raise ValueError(f"members={found.members}: RAID-{found.level} has {least} to {MOST_MEMBERS}")
    if found.level == "1" and found.chunk:
        raise ValueError("chunk: RAID-1 has none")
    if found.layout and not re.fullmatch(LAYOUTS.get(found.level, ""), found.layout):
        raise ValueError(f"layout={found.layout}: RAID-{found.level} has no such layout")
    if found.bitmap not in BITMAPS or (found.level == "0" and found.bitmap != "none"):
        raise ValueError(f"bitmap={found.bitmap}: write none or internal; RAID-0 has none")
    return found


def parse(text: str) -> Array | None:
    """None: no array. ValueError says what is wrong."""
    if text.strip() == NONE:
        return None
    level, *words = text.split() or [""]
    if level not in md.LEVELS:
        raise ValueError(f"'{level}' is no level; write none, or one of {', '.join(md.LEVELS)} and "
                         'members=N, such as "6 members=12"')
    said = dict(word.partition("=")[::2] for word in words)
    if len(said) < len(words):
        raise ValueError("a word is there twice")
    for key in said:
        if key not in ("members", "chunk", "layout", "bitmap"):
            raise ValueError(f"{key}: unknown; there are members=, chunk=, layout= and bitmap=")
    if not said.get("members", "").isdecimal():
        raise ValueError("members=N is missing")
    chunk = _chunk(said["chunk"]) if "chunk" in said else 0
    layout, bitmap = said.get("layout", ""), said.get("bitmap", "none")
    return _check(Array(level, int(said["members"]), chunk, layout, bitmap))
