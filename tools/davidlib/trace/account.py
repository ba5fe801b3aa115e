# SPDX-License-Identifier: GPL-2.0
"""What became of each line of a text that was imported: no line goes without being counted."""

from __future__ import annotations

import enum
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..losses import percent
from ..util import UserError

NOT_UNDERSTOOD = "not understood"
EXAMPLE = 100  # letters
SUMMARY = "lines of the summary"
KEPT = 200  # lines without a call, for who wants to know what they are
AGAIN = 20  # lines by which a text's beginning is known again
BEHIND = 100_000  # lines among which one is looked for that is there twice
MAYBE_AGAIN = "lines as at the beginning: of a second run, or it is there twice, and no times tell which"
DOUBLED = "lines that are there twice, with their times"
_TIME = re.compile(r"\d{6}|\d\.\d{3}")  # in a line; what has none, as a heading, may well come again
# strace's, by a clock that stood still meanwhile, as a virtual one does: the next call may be just that.
_INSTANT = re.compile(r"<0\.0+>\s*$")


class Clock(enum.Enum):
    """What times a text's lines have."""

    NONE = enum.auto()
    COARSE = enum.auto()  # two lines that are alike may be two requests
    FINE = enum.auto()  # they are one, twice


@dataclass
class Kind:
    count: int
    line: int  # of the first
    example: str
    bytes: int | None = None  # None: not known
    ns: int | None = None
    why: str = ""  # of the first, where it is known


class Misread(ValueError):
    """A line has a format's form, and this is wrong with it."""


@dataclass(frozen=True)
class Taken:
    """What has become calls."""

    calls: int
    bytes: int = 0  # that were read and written
    ns: int = 0  # in the calls


def _share(part: int, whole: int, unit: str) -> str:
    return f"{part} of {whole} {unit}, {percent(part / whole)}"


class Account:
    """Lines are taken, or have no call in them, or are left out: then a call is missing."""

    def __init__(self) -> None:
        self.lines = 0
        self._current = 0, ""
        self.without: dict[str, Kind] = {}
        self.left_out: dict[str, Kind] = {}
        self.refused: dict[str, Kind] = {}  # of these, what makes the whole text one that is not read
        self.guessed: dict[str, Kind] = {}  # taken, and something of it made up
        self.half: dict[str, Kind] = {}  # what has no beginning or no end: the text may be cut short there
        self.kept: list[tuple[int, str]] = []  # the first that were not understood
        self.behind: deque[tuple[int, str]] = deque(maxlen=KEPT)  # the last of a summary
        self.backward: dict[str, Kind] = {}  # of what is guessed, what makes it a text that is not read
        self.made_up = 0  # calls that no line has: a file is opened before it is used
        self.joined: tuple[int, str] | None = None  # the line at which another text begins, and of what
        self.again = 0  # the line at which the text stands a second time; 0: there is none
        self._first: list[str] = []
        self._alike = 0  # how many lines so far are those of the beginning
        self._ended = True  # the last line has an end
        self._bad = 0  # the last line that was not understood
        self._doubled: dict[str, Kind] = {}
        self._known: dict[int, None] = {}  # the last BEHIND lines that differ

    def each(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            self.lines += 1
            self._current = self.lines, line
            self._ended = line.endswith("\n")
            self._look_for_the_beginning(line)
            self._look_for_its_like(line)
            yield line

    def _look_for_the_beginning(self, line: str) -> None:
        if len(self._first) < AGAIN:
            self._first.append(line)
        elif not self.again:
            if line != self._first[self._alike]:
                self._alike = 0
            self._alike += line == self._first[self._alike]
            if self._alike == AGAIN:
                self.again, self._alike = self.lines - AGAIN + 1, 0

    def _look_for_its_like(self, line: str) -> None:
        key = hash(line.strip())
        if key in self._known:
            if _TIME.search(line) and not _INSTANT.search(line):
                self._count(self._doubled, DOUBLED, 1)
            return
        self._known[key] = None
        if len(self._known) > BEHIND:
            del self._known[next(iter(self._known))]

    def is_joined(self, what: str) -> None:
        """Another text begins at the current line: of times of its own, and nothing is made of both."""
        self.joined = self.joined or (self._current[0], what)

    def need_one(self, name: str, clock: Clock) -> None:
        """UserError: there are two texts, or one stands twice, as in a file that was joined of several.

        Where times do not differ among themselves, nothing tells one from the next.
        """
        if self.joined:
            raise UserError(f"{name}: at line {self.joined[0]} {self.joined[1]}; split the file there and "
                            "take one of the parts")
        again = self.again and len(set(self._first)) > AGAIN // 2
        if again and clock != Clock.NONE:
            raise UserError(f"{name}: from line {self.again} on it is there again: {AGAIN} lines with their "
                            "times are those that it begins with; take one of both")
        if again:
            self.guessed[MAYBE_AGAIN] = Kind(AGAIN, self.again, self._first[0].strip()[:EXAMPLE])

        if clock == Clock.FINE:
            self.guessed |= self._doubled
            self.backward |= self._doubled

    def go_back_to(self, number: int, line: str) -> None:
        """Who has read ahead counts that line now."""
        self._current = number, line

    def _count(self, kinds: dict[str, Kind], kind: str, count: int) -> Kind:
        number, text = self._current
        first = kinds.setdefault(kind, Kind(0, number, text.strip()[:EXAMPLE]))
        first.count += count
        return first

    def has_none(self, kind: str, count: int = 1) -> None:
        """The current line, or so many, have no call in them."""
        if count:
            self._count(self.without, kind, count)
        if kind == SUMMARY:
            self.behind.append(self._current)

    def leave_out(
        self, kind: str, count: int = 1, size: int | None = None, ns: int | None = None, why: str = ""
    ) -> None:
        """The current line, or so many, are calls that the trace does not get; of so many bytes, so long."""
        if not count:
            return
        found = self._count(self.left_out, kind, count)
        if found.line == self._current[0]:
            found.why = found.why or why
        found.bytes = found.bytes if size is None else (found.bytes or 0) + size
        found.ns = found.ns if ns is None else (found.ns or 0) + ns
        if kind == NOT_UNDERSTOOD:
            self._bad = self._current[0]
            if len(self.kept) < KEPT:
                self.kept.append(self._current)

    def refuse(self, kind: str) -> None:
        """The current line is left out; and if there are many such, nothing is made of the text."""
        self._count(self.left_out, kind, 1)
        self._count(self.refused, kind, 1)

    def guess(self, kind: str) -> None:
        """The current line is taken; something that it does not say is made up."""
        self._count(self.guessed, kind, 1)

    def is_backward(self, kind: str) -> None:
        """As guess(); and if there are many such, nothing is made of the text."""
        self._count(self.guessed, kind, 1)
        self._count(self.backward, kind, 1)

    def is_half(self, kind: str, number: int, line: str) -> None:
        """Of this one, which line NUMBER is the last to tell of, the text has no beginning or no end."""
        first = self.half.setdefault(kind, Kind(0, number, line.strip()[:EXAMPLE]))
        first.count += 1

    def place(self) -> tuple[int, str]:
        """The current line."""
        return self._current

    def is_cut(self) -> bool:
        """The last line has no end, and makes no sense: the text was cut short there."""
        return not self._ended and self._bad == self.lines

    def unparsed(self) -> int:
        found = self.left_out.get(NOT_UNDERSTOOD)
        return found.count if found else 0

    def not_taken(self) -> int:
        """What was understood, and left out."""
        return sum(kind.count for kind in self.left_out.values()) - self.unparsed()

    def missing(self, unit: str) -> int:
        """Of what was left out, as far as it is known: `bytes` or `ns`."""
        return sum(getattr(kind, unit) or 0 for kind in self.left_out.values())

    def as_json(self) -> dict[str, Any]:
        def first(kind: Kind) -> dict[str, Any]:
            return {"count": kind.count, "line": kind.line, "example": kind.example}

        return {
            "lines": self.lines,
            "made-up": self.made_up,
            "without-a-call": {name: first(kind) for name, kind in self.without.items()},
            "left-out": {
                name: first(kind) | {"bytes": kind.bytes, "ns": kind.ns, "why": kind.why}
                for name, kind in self.left_out.items()
            },
            "guessed": {name: first(kind) for name, kind in self.guessed.items()},
            "half": {name: first(kind) for name, kind in self.half.items()},
        }

    def as_text(self, name: str, taken: Taken, unit: str = "calls") -> list[str]:
        """For people: the whole, then a line a kind of what is missing."""
        beside = ", ".join(f"{kind.count} {what}" for what, kind in self.without.items())
        found = [
            f"{name}: {self.lines} lines, {taken.calls} {unit}"
            + (f"; without a call: {beside}" if beside else "")
            + (f"; made up: {self.made_up} opens of files that no line opens" if self.made_up else "")
        ]
        whole = taken.calls + sum(kind.count for kind in self.left_out.values())
        for what, kind in self.left_out.items():
            shares, missing = [_share(kind.count, whole, unit)], []
            for other, word in (("bytes", "bytes"), ("ns", "time")):
                part = getattr(kind, other)
                if part:
                    shares.append(_share(part, getattr(taken, other) + self.missing(other), other))
                elif part is None:
                    missing.append(word)
            unknown = f"; not known: {' and '.join(missing)} of these" if missing else ""
            why = f", {kind.why}" if kind.why else ""
            found.append(f"{', '.join(shares)}, {what}: as line {kind.line}, {kind.example!r}{why}{unknown}")
        for what, kind in self.guessed.items():
            found.append(f"{kind.count} {what}: as line {kind.line}, {kind.example!r}")
        for what, kind in self.half.items():
            said = f"as line {kind.line}, {kind.example!r}"
            found.append(f"{kind.count} {what}, as if the text were cut: {said}")
        return found
