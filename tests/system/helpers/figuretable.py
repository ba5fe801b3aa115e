# SPDX-License-Identifier: GPL-2.0
"""docs/figures.toml, and what a program printed held to it: each figure has a row, and is what a second way
comes to.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NUMBER = re.compile(r"(?<=\.)\d+(?=\.)")
TABLE = Path(__file__).resolve().parents[3] / "docs" / "figures.toml"


@dataclass(frozen=True)
class Near:
    """As printed: within half of the last digit."""

    value: float
    grain: float


@dataclass(frozen=True)
class Between:
    low: float
    high: float


@dataclass(frozen=True)
class Row:
    """Of the table."""

    pattern: str  # of one path, without braces
    bounds: bool
    text: bool
    planted: int = 1000  # a unit wrong by so much must be found

    def has(self, path: str) -> bool:
        return re.fullmatch(re.escape(self.pattern).replace(r"\*", r"[^.]+"), path) is not None


def printed(value: float, digits: int) -> Near:
    return Near(value, 0.5001 * 10**-digits)


def expanded(path: str) -> Iterator[str]:
    """A path with {one,another} as several."""
    pieces = re.split(r"\{([^}]*)\}", path)
    choices = [piece.split(",") if place % 2 else [piece] for place, piece in enumerate(pieces)]
    return map("".join, itertools.product(*choices))


def rows(program: str) -> list[Row]:
    """Of "sim", "rebuild", "stats", "top", "page" or "blocks"."""
    table = tomllib.loads(TABLE.read_text())[program]["figure"]
    return [
        Row(pattern, row.get("bounds", False), row.get("text", False), row.get("planted", 1000))
        for row in table
        for pattern in _patterns(row["path"])
    ]


def _patterns(path: str) -> Iterator[str]:
    """Braces may have a dot in them: jobs.*.{all,parts.*.*}.hits"""
    return expanded(path)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each figure with its path, as jobs.0.all.per_s. A list may be empty."""
    if isinstance(value, dict | list) and value:
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in pairs:
            yield from leaves(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def agrees(value: Any, expected: Any) -> bool:
    if isinstance(expected, Near | Between):
        if not isinstance(value, int | float) or isinstance(value, bool):
            return False
        if isinstance(expected, Near):
            return abs(value - expected.value) <= expected.grain
        return expected.low <= value <= expected.high
    return value == expected and isinstance(value, bool) == isinstance(expected, bool)


def row_of(table: list[Row], path: str) -> Row | None:
    return next((row for row in table if row.has(path)), None)


def wrong(table: list[Row], path: str, value: Any, second: dict[str, Any]) -> str:
    """What is wrong with a figure; "" if nothing is."""
    if value == [] and any(row.pattern.startswith(f"{re.sub(NUMBER, '*', path)}.*") for row in table):
        return "" if not any(other.startswith(f"{path}.") for other in second) else f"{path} is empty"
    row = row_of(table, path)
    if row is None:
        return f"{path} = {value!r} stands in no row of {TABLE.name}"
    if row.text:
        return "" if isinstance(value, str) and value else f"{path} = {value!r} is no text"
    if path not in second:
        return f"{path} = {value!r} is derived no second way"
    if not agrees(value, second[path]):
        return f"{path} is {value!r}, and {second[path]!r} the second way"
    return ""


def complaints(table: list[Row], printed_out: Any, second: dict[str, Any]) -> list[str]:
    """What is wrong with all that a program has printed."""
    found = dict(leaves(printed_out))
    missing = [f"{path} was derived and is not there" for path in second if path not in found]
    return [text for path, value in found.items() if (text := wrong(table, path, value, second))] + missing


def unprinted(table: list[Row], documents: Iterable[Any]) -> list[str]:
    """Rows that are of nothing that any of the documents has."""
    paths = [
        path if value != [] else f"{path}.0" for document in documents for path, value in leaves(document)
    ]
    return [row.pattern for row in table if not any(map(row.has, paths))]


def idle(table: list[Row], documents: Iterable[Any]) -> list[str]:
    """Rows whose figure is 0, or nothing, wherever it stands: that it is right says little."""
    busy = [path for document in documents for path, value in leaves(document) if value]
    return [row.pattern for row in table if not any(map(row.has, busy))]


def missed(table: list[Row], printed_out: Any, second: dict[str, Any]) -> list[str]:
    """Each figure is made wrong: renamed, of a unit a thousand times as large, counted twice. What is not
    found of that."""
    found = []
    for path, value in leaves(printed_out):
        row = row_of(table, path)
        if row is None or row.text or isinstance(value, str | bool | list) or value is None:
            continue
        plants = [value * row.planted, value * 2] if value else [1]
        if row.bounds:
            plants = plants[:1] if value else []
        found += [f"{path}: {plant} for {value}" for plant in plants if not wrong(table, path, plant, second)]
        if not wrong(table, f"{path}_", value, second):
            found.append(f"{path}_ for {path}")
    return found
