# SPDX-License-Identifier: GPL-2.0
"""A question's TOML, table by table: each key is taken once, and each mistake is named by its line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..nearest import did_you_mean
from ..sizes import parse_size
from ..util import UserError

WANTED = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", list: "a list"}


class SpecError(UserError):
    """A mistake in a spec; the text names file and line, and what to write."""


class GoneError(SpecError):
    """What a spec names is not there. Of runs that are done that says nothing."""


def _line_of(text: str, table: str, number: int, key: str) -> int:
    """Where a key of the number-th table of that name stands; the table's own line, or 1, without it."""
    current, seen, at = "", 0, 1
    for line, words in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\[?\s*([\w.-]+)\s*\]\]?", words):
            current = header[1]
            seen += current == table
            if current == table and seen == number + 1:
                at = line
        elif current == table and seen in (0, number + 1):
            if re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", words):
                return line
    return at


@dataclass(frozen=True)
class Source:
    path: str
    text: str

    def wrong(self, table: str, number: int, key: str, text: str) -> SpecError:
        """A mistake at that key of the number-th table of that name."""
        return SpecError(f"{self.path}:{_line_of(self.text, table, number, key)}: {text}")


class Table:
    """One table of the file; takes its keys one by one and complains of what is left."""

    def __init__(self, source: Source, name: str, values: dict[str, Any], number: int = 0) -> None:
        self.source, self.name, self.values, self.number = source, name, values, number
        self.left = dict(values)

    def wrong(self, key: str, text: str) -> SpecError:
        return self.source.wrong(self.name, self.number, key, text)

    def gone(self, key: str, text: str) -> GoneError:
        """The same of a file that is not there."""
        return GoneError(*self.wrong(key, text).args)

    def take(self, key: str, kind: type, default: Any) -> Any:
        value = self.left.pop(key, default)
        # True is an int of Python's.
        if type(value) is not kind and value is not default and not (kind is float and type(value) is int):
            raise self.wrong(key, f"{key} = {value!r}: want {WANTED[kind]}")
        return value

    def label(self, default: str) -> str:
        """The name on the page. One that does not show, or not as it is, tells nothing apart there."""
        name: str = self.take("name", str, default)
        if name != default and (name != name.strip() or not name or not name.isprintable()):
            raise self.wrong("name", f"name = {name!r}: want letters that show, and no blank at an end")
        return name

    def choice(self, key: str, known: tuple[str, ...], default: str | None) -> str:
        value = self.take(key, str, default)
        if value not in known:
            raise self.wrong(key, f"{key} = {value!r}: not one of {', '.join(known)}")
        return value

    def several(self, key: str, kind: type, default: list[Any]) -> list[Any]:
        """A value, or a list of them without doubles."""
        value = self.left.pop(key, default)
        values = value if isinstance(value, list) else [value]
        if not values and default:
            raise self.wrong(key, f"{key}: an empty list leaves nothing to run")
        for one in values:
            if type(one) is not kind:
                raise self.wrong(key, f"{key} = {one!r}: want {WANTED[kind]}, or a list of such")
        if len(set(values)) < len(values):
            raise self.wrong(key, f"{key}: a value is there twice")
        return values

    def choices(self, key: str, known: tuple[str, ...], default: list[str]) -> list[str]:
        """One of what is known, or a list of such."""
        found: list[str] = self.several(key, str, default)
        for value in found:
            if value not in known:
                raise self.wrong(key, f"{key} = {value!r}: not one of {', '.join(known)}")
        return found

    def words(self, key: str, value: Any) -> tuple[str, ...]:
        """A list of words of a command; one may be there twice."""
        found = value if isinstance(value, list) else [value]
        for one in found:
            if type(one) is not str:
                raise self.wrong(key, f"{key} = {one!r}: want a text, or a list of such")
        return tuple(found)

    def sets(self, key: str) -> list[tuple[str, ...]]:
        """Words, or several lists of them: each list is a value of a dimension."""
        value = self.left.pop(key, [])
        several = isinstance(value, list) and any(isinstance(one, list) for one in value)
        found = [self.words(key, one) for one in (value if several else [value])]
        if len(set(found)) < len(found):
            raise self.wrong(key, f"{key}: a list is there twice")
        return found

    def size(self, key: str, default: int) -> int:
        return self.bytes_of(key, self.left.pop(key, default))

    def bytes_of(self, key: str, value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return int(value)
        try:
            return parse_size(value if isinstance(value, str) else repr(value))
        except ValueError as error:
            raise self.wrong(key, f"{key}: {error}") from None

    def done(self, known: tuple[str, ...]) -> None:
        for key in self.left:
            meant = did_you_mean(key, known, f"there are {', '.join(sorted(known))}")
            raise self.wrong(key, f"{key}: unknown here; {meant}")


def tables(source: Source, values: dict[str, Any], name: str, default: list[dict[str, Any]]) -> list[Table]:
    """All [[name]] of the file."""
    found = values.pop(name, default)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found) or not found:
        raise source.wrong(name, 0, "", f"{name}: write [[{name}]] above each of them")
    return [Table(source, name, one, number) for number, one in enumerate(found)]
