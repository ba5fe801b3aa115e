# SPDX-License-Identifier: GPL-2.0
"""Recordings of david record: a head of what was recorded, then a line for each event.

    # david recording 1
    # size 1953525168 sectors
    # profile name=…;capacity=…
    david_queue: dev=253:0 id=0 arrival=…

The lines are those of the trace points; david-sim replay --recorded reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..util import UserError

FIRST = "# david recording 1"
EVENTS = ("david_queue", "david_wait", "david_unplug", "david_complete", "david_written", "david_mode")


@dataclass
class Head:
    sectors: int
    profile: str  # as one word

    def text(self) -> str:
        return f"{FIRST}\n# size {self.sectors} sectors\n# profile {self.profile}\n"


def is_one(path: str) -> bool:
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            return file.readline().rstrip("\n") == FIRST
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None


def head_of(path: str) -> Head:
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            lines = [file.readline().rstrip("\n") for _ in range(3)]
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    size = lines[1].removeprefix("# size ").removesuffix(" sectors")
    profile = lines[2].removeprefix("# profile ")
    if lines[0] != FIRST or not size.isdecimal() or profile == lines[2]:
        raise UserError(f"{path}: no recording; 'david record' makes one, and david-sim replay --recorded "
                        "takes the text of trace points")
    return Head(int(size), profile)
