# SPDX-License-Identifier: GPL-2.0
"""What a text is: the importers themselves are asked. Each takes the text's beginning, and says what it took.

So a format is known as soon as it can be imported, and nothing is recognised that would not be understood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..losses import LIMIT
from ..util import UserError
from .account import NOT_UNDERSTOOD, Account, Clock, Kind
from .otherforms import first_line, other_tool, rewritten

LINES = 2000  # that are looked at
NEAR = 3  # formats whose form the text has, that are named
# Has a text read by one importer, and returns how many calls or requests came of it.
Attempt = Callable[[Account, Iterable[str]], int]

# How files begin that are no texts, or texts of something else; and what is to be done with them.
KNOWN = (
    (b"SQLite format 3\0", "a finished trace or another database; `david compile` takes a trace"),
    (b"DTRF", "a trace file; `david trace finish` makes a trace of it"),
    (b"DWLK", "a compiled trace; `david replay` takes it"),
    (b"\x7fELF", "a program"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\xfd7zXZ\0", "compressed by xz"),
    (b"\x1f\x8b", "compressed by gzip"),
    (b"BZh", "compressed by bzip2"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd"),
    (b"\x04\x22\x4d\x18", "compressed by lz4"),
    (b"\xd4\xc3\xb2\xa1", "a capture of network packets"),
    (b"PERFILE2", "a recording of perf"),
    (b"# david recording", "a recording of `david record`; `david sim` takes it"),
    (b"%PDF", "a PDF"),
)


class _Marks(Account):
    """Also keeps which lines were not understood, and which have no call."""

    def __init__(self) -> None:
        super().__init__()
        self.no_calls: set[int] = set()

    def _count(self, kinds: dict[str, Kind], kind: str, count: int) -> Kind:
        if kinds is self.without or kind == NOT_UNDERSTOOD:
            self.no_calls.add(self._current[0])
        return super()._count(kinds, kind, count)


@dataclass(frozen=True)
class _Fit:
    taken: frozenset[int]  # lines that calls or requests came from
    unparsed: int


def _fits(attempts: Mapping[str, Attempt], lines: list[str]) -> tuple[dict[str, _Fit], list[str]]:
    """Of each format that something comes of; and what is wrong with lines that have another one's form."""
    found, near = {}, []
    for name, attempt in attempts.items():
        marks = _Marks()
        if attempt(marks, lines):
            taken = frozenset(range(1, marks.lines + 1)) - marks.no_calls
            found[name] = _Fit(taken, marks.unparsed())
        near += [f"as {name}, line {kind.line}: {kind.why or what}" for what, kind in marks.left_out.items()
                 if kind.why or what != NOT_UNDERSTOOD]
    return found, near


def what_it_is(path: Path) -> str:
    """A word for people; nothing, where that is not known."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        head = file.read(4096)
    for beginning, what in KNOWN:
        if head.startswith(beginning):
            return what
    if not head:
        return "empty"
    if b'"fio version"' in head:
        return "the result of fio; `david calibrate --from` takes it"
    return "not a text" if b"\0" in head else ""


def _other_signs(head: list[str], attempts: Mapping[str, Attempt]) -> str:
    """Which format it would be with other signs between its values; nothing: none."""
    for wrong, command, lines in rewritten(head):
        fits, _ = _fits(attempts, lines)
        for name, fit in fits.items():
            if 2 * fit.unparsed <= len(lines) and len(fits) == 1:
                return f"as {name}, line {min(fit.taken)}: {wrong}: `{command}` mends that"
    return ""


def what_text_it_is(path: Path, head: list[str], attempts: Mapping[str, Attempt]) -> str:
    """Of a file that no importer reads; nothing, where it is not known."""
    what = what_it_is(path)
    return f"it is {what}" if what else other_tool(head) or _other_signs(head, attempts)


def no_format(
    path: Path, head: list[str], attempts: Mapping[str, Attempt], command: str, near: list[str]
) -> UserError:
    what = what_text_it_is(path, head, attempts) or "; ".join(near[:NEAR]) or first_line(head)
    said = f"; {what}" if what else ""
    return UserError(f"{command}{path} has none of the formats {', '.join(sorted(attempts))}{said}")


def format_of(path: Path, head: list[str], attempts: Mapping[str, Attempt], command: str) -> str:
    """The one format whose importer understands the text's beginning. COMMAND: what errors begin with."""
    fits, near = _fits(attempts, head)
    if not fits:
        raise no_format(path, head, attempts, command, near)
    least = min(fit.unparsed for fit in fits.values())
    best = [name for name, fit in fits.items() if fit.unparsed == least]
    for name, fit in fits.items():
        if name != best[0] and not fit.taken & fits[best[0]].taken:
            raise mixed(f"{command}{path}", best[0], name, min(fit.taken))
    if 2 * least > len(head):
        raise no_format(path, head, attempts, command, near)  # a line or two that look like one are none
    if len(best) > 1:
        raise UserError(f"{command}{path} may be of {' or '.join(sorted(best))}: say which")
    return best[0]


def other_than(
    kind: str, attempts: Mapping[str, Attempt], kept: list[tuple[int, str]]
) -> tuple[str, int] | None:
    """Whose lines these are, if not KIND's; and the number of the first of them."""
    rest = {name: attempt for name, attempt in attempts.items() if name != kind}
    fits, _ = _fits(rest, [line for _, line in kept])
    if not fits:
        return None
    name = min(fits, key=lambda name: fits[name].unparsed)
    return name, kept[min(fits[name].taken, default=1) - 1][0]


def need_whole(
    text: str, kind: str, account: Account, taken: int, attempts: Mapping[str, Attempt], clock: Clock
) -> None:
    """UserError: TEXT, of which so many calls were taken, is not all KIND's, or several, or not whole."""
    if other := other_than(kind, attempts, [*account.kept, *account.behind]):
        raise mixed(text, kind, *other)
    account.need_one(text, clock)
    whole = taken + sum(left.count for left in account.left_out.values())
    for kinds, among in ((account.refused, whole), (account.backward, account.lines)):
        for what, left in kinds.items():
            if left.count > LIMIT * among:
                raise UserError(f"{text} is refused: {left.count} of {among} {what}: "
                                f"as line {left.line}, {left.example!r}")
    if account.is_cut():
        raise UserError(f"{text} is cut short: its last line, {account.lines}, has no end; "
                        "without that line it can be taken")


def mixed(text: str, kind: str, other: str, line: int) -> UserError:
    return UserError(
        f"{text} has lines of {kind} and of {other}, which line {line} is: import each by itself"
    )
