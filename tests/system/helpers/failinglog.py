# SPDX-License-Identifier: GPL-2.0
"""A backing device whose log fails."""

from __future__ import annotations

from helpers.guest import run
from helpers.units import MIB

SIZE = 2 * MIB
SECTORS = SIZE >> 9
COMPLAINTS = r"I/O error"


class Under:
    """A dm device that can be told which of its pages fail. A flush does not fail by that."""

    def __init__(self, loop: str) -> None:
        self.loop = loop

    def good(self) -> str:
        return f"0 {SECTORS} linear {self.loop} 0"

    def without(self, first: int, pages: int) -> str:
        start, end = first * 8, (first + pages) * 8
        parts = [(0, start, f"linear {self.loop} 0"), (start, end - start, "error")]
        parts.append((end, SECTORS - end, f"linear {self.loop} {end}"))
        return "\n".join(f"{at} {length} {target}" for at, length, target in parts if length)

    def no_flush(self) -> str:
        return f"0 {SECTORS} flakey {self.loop} 0 0 3600 1 error_writes"

    def load(self, text: str) -> None:
        run("dmsetup", "load", "under", "--table", text)

    def resume(self) -> None:
        run("dmsetup", "resume", "--noflush", "under")

    def become(self, text: str) -> None:
        self.load(text)
        self.resume()
