# SPDX-License-Identifier: GPL-2.0
"""What became of each line of a text that was imported: no line goes without being counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..losses import percent

NOT_UNDERSTOOD = "not understood"
EXAMPLE = 100  # letters


@dataclass
class Kind:
    count: int
    line: int  # of the first
    example: str


class Account:
    """Lines are taken, or have no call in them, or are left out: then a call is missing."""

    def __init__(self) -> None:
        self.lines = 0
        self._current = 0, ""
        self.without: dict[str, Kind] = {}
        self.left_out: dict[str, Kind] = {}

    def each(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            self.lines += 1
            self._current = self.lines, line
            yield line

    def go_back_to(self, number: int, line: str) -> None:
        """Who has read ahead counts that line now."""
        self._current = number, line

    def _count(self, kinds: dict[str, Kind], kind: str, count: int) -> None:
        if not count:
            return
        number, text = self._current
        first = kinds.setdefault(kind, Kind(0, number, text.strip()[:EXAMPLE]))
        first.count += count

    def has_none(self, kind: str, count: int = 1) -> None:
        """The current line, or so many, have no call in them."""
        self._count(self.without, kind, count)

    def leave_out(self, kind: str, count: int = 1) -> None:
        """The current line, or so many, are calls that the trace does not get."""
        self._count(self.left_out, kind, count)

    def unparsed(self) -> int:
        found = self.left_out.get(NOT_UNDERSTOOD)
        return found.count if found else 0

    def not_taken(self) -> int:
        """What was understood, and left out."""
        return sum(kind.count for kind in self.left_out.values()) - self.unparsed()

    def as_json(self) -> dict[str, Any]:
        return {
            "lines": self.lines,
            "without-a-call": {name: vars(kind) for name, kind in self.without.items()},
            "left-out": {name: vars(kind) for name, kind in self.left_out.items()},
        }

    def as_text(self, name: str, calls: int, of: str = "calls") -> list[str]:
        """For people: the whole, then a line a kind of what is missing."""
        beside = ", ".join(f"{kind.count} {what}" for what, kind in self.without.items())
        found = [
            f"{name}: {self.lines} lines, {calls} {of}" + (f"; without a call: {beside}" if beside else "")
        ]
        whole = calls + sum(kind.count for kind in self.left_out.values())
        for what, kind in self.left_out.items():
            share = percent(kind.count / whole)
            found.append(
                f"{kind.count} of {whole} {of}, {share}, {what}: as line {kind.line}, {kind.example!r}"
            )
        return found
