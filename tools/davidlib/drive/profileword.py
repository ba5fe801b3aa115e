# SPDX-License-Identifier: GPL-2.0
"""A drive's profile as the one word that a table line takes: no comments or blanks, and ";" for a line's end.

What stands in it is checked by the kernel alone. Its complaints count items; Word knows their lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction

from ..sizes import SECTOR
from . import disksim
from .files import ProfileError, find

# zone, seek, slip and remap stand in a profile many times: no single one can be meant.
REPEATED = ("zone", "seek", "slip", "remap")
# Each host has other presets of these. tools/sim/load.c has the same.
OF_THE_HOST = ("nr_requests", "max_sectors", "max_segments", "scheduler")


@dataclass
class Word:
    """A profile's items, and where each of them comes from."""

    items: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)

    def add(self, item: str, place: str) -> None:
        self.items.append(item)
        self.places.append(place)

    def drop(self, names: tuple[str, ...]) -> None:
        kept = [i for i, item in enumerate(self.items) if item.partition("=")[0] not in names]
        self.items = [self.items[i] for i in kept]
        self.places = [self.places[i] for i in kept]

    def text(self) -> str:
        return ";".join(self.items)

    def name(self) -> str:
        return next((item[5:] for item in self.items if item.startswith("name=")), "?")

    def value(self, key: str) -> str:
        """Of a parameter that stands in a profile once; "" if it is not there."""
        begin = f"{key}="
        return next((item[len(begin):] for item in reversed(self.items) if item.startswith(begin)), "")

    def capacity(self) -> int:
        """Bytes of the drive; 0 if the profile does not say that as the kernel would take it."""
        return self.bytes_of("capacity")

    def bytes_of(self, key: str, plain: str = "sectors") -> int:
        """Of a parameter that is whole sectors, in bytes. PLAIN is the unit of a number without one."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]iB|sectors|B)?", self.value(key))
        if not match:
            return 0
        unit = match[2] or plain
        of_unit = {"sectors": SECTOR, "B": 1}
        size = Fraction(match[1]) * (of_unit.get(unit) or 1024 ** ("KMGT".index(unit[0]) + 1))
        return int(size) if size.denominator == 1 and not size % SECTOR else 0

    def number(self, key: str) -> int:
        """Of a parameter that is a count; 0 if it is not there, or none."""
        text = self.value(key)
        return int(text) if text.isdecimal() and text.isascii() else 0

    @property
    def has_zones(self) -> bool:
        """Does the host write the drive's zones in order?"""
        return self.bytes_of("zone_size") > 0

    def explain(self, complaint: str) -> str:
        """The kernel's complaint "profile: item N: ..." with the item's place in the file."""
        match = re.search(r"profile: item (\d+): (.*)", complaint)
        if not match or not 0 < int(match[1]) <= len(self.items):
            return complaint
        return f"{self.places[int(match[1]) - 1]}: {match[2]}"


def parse(text: str, place: str) -> Word:
    word = Word()
    for number, line in enumerate(text.splitlines(), 1):
        for item in line.partition("#")[0].split(";"):
            if squeezed := "".join(item.split()):
                word.add(squeezed, f"{place}, line {number}")
    return word


def override(word: Word, option: str) -> None:
    """Put `option`, KEY=VALUE, in the place of the item of that name, or at the end.

    Another host brings its presets.
    """
    key, equals, value = option.partition("=")
    if not key or not equals or not value or any(c.isspace() or c in ";#\\" for c in option):
        raise ProfileError(f"--profile-option '{option}' is not of the form KEY=VALUE, without spaces")
    if key in REPEATED:
        raise ProfileError(
            f"--profile-option {option}: a profile has many items '{key}'; change them in a copy of the file"
        )
    place = f"--profile-option {option}"
    if key == "host":
        word.drop(OF_THE_HOST)
    for number, item in enumerate(word.items):
        if item.partition("=")[0] == key:
            word.items[number], word.places[number] = option, place
            return
    word.add(option, place)


def load(name: str, options: list[str]) -> Word:
    try:
        path = find(name)
    except ProfileError as error:
        raise ProfileError(f"--profile {name}: {error}") from None
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ProfileError(f"--profile {path}: {error.strerror}") from None
    if disksim.is_one(path):
        raise ProfileError(f"--profile {path}: of DiskSim; first: david profile import {path} -o OUT")
    word = parse(text, str(path))
    for number, option in enumerate(options):
        key = option.partition("=")[0]
        if key in [one.partition("=")[0] for one in options[:number]]:
            raise ProfileError(f"--profile-option {option}: {key} is there twice; leave one out")
        override(word, option)
    return word
