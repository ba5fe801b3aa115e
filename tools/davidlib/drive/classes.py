# SPDX-License-Identifier: GPL-2.0
"""Classes of drives: profiles/classes/NAME.toml. What is not known of a drive is taken from its class.

    title   what its drives have in common
    drives  the shipped profiles that it was made from, of real drives
    also    profiles of the class that are of no real drive: nothing is learnt from them
    base    the drive whose values a new profile takes where nothing better is known: values of one drive go
            together, means of several do not. `why`: for what it was chosen
    then    the base of the class as it would be without `base`; of another class, if there is no other drive

How far values of its drives are apart is not in the file: spread() reads it from the profiles as they are.
A profile that `david profile new` made is named DRIVE.CLASS: a disk's table has its name, and no comments.
For readers, and as older ones have it, a comment says the same after MARK.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..nearest import did_you_mean
from ..util import PROFILES, UserError
from . import files, profileword

DIRECTORY = PROFILES / "classes"
MARK = "class: "
UNITS = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20,
         "GiB": 1 << 30, "TiB": 1 << 40, "B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "sectors": 512,
         "": 1}


@dataclass(frozen=True)
class DriveClass:
    name: str
    title: str
    drives: tuple[str, ...]
    base: str
    why: str
    also: tuple[str, ...] = ()
    then: str = ""


def _load(name: str) -> DriveClass:
    path = DIRECTORY / f"{name}.toml"
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        drives, also = tuple(found.pop("drives")), tuple(found.pop("also", ()))
        made = DriveClass(name, drives=drives, also=also, **found)
    except (tomllib.TOMLDecodeError, TypeError, KeyError) as error:
        raise UserError(f"{path}: {error}: unknown, missing, or not what it should be") from None
    if made.then == made.base:
        raise UserError(f"{path}: then: {made.then} is the base itself")
    if made.base not in drives:
        raise UserError(f"{path}: base: {made.base} is none of its drives")
    if unknown := sorted({*drives, *also, *filter(None, [made.then])} - set(files.names())):
        raise UserError(f"{path}: drives: there is no profile {unknown[0]}")
    return made


@functools.cache
def every() -> tuple[DriveClass, ...]:
    return tuple(_load(path.stem) for path in sorted(DIRECTORY.glob("*.toml")))


def find(name: str) -> DriveClass:
    """UserError: there is none of that name."""
    names = [one.name for one in every()]
    if name not in names:
        raise UserError(f"there is no class '{name}'; "
                        + did_you_mean(name, names, f"there are {', '.join(names)}"))
    return next(one for one in every() if one.name == name)


def of_profile(name: str) -> DriveClass | None:
    """The class of a shipped profile."""
    return next((one for one in every() if name in one.drives or name in one.also), None)


def without(drive: str) -> DriveClass | None:
    """The class of a drive as it would be if nobody knew that drive. None: there would be none."""
    one = of_profile(drive)
    if one is None:
        return None
    base = one.then if one.base == drive else one.base
    rest = tuple(name for name in one.drives if name != drive)
    return replace(one, drives=rest or (base,), base=base, then="") if base else None


def of_name(name: str) -> DriveClass | None:
    """The class that a profile's name ends with, after a dot."""
    return next((one for one in every() if name.endswith(f".{one.name}")), None)


def of_text(text: str) -> DriveClass | None:
    """The class that a profile's name says, or its comment."""
    found = re.search(rf"^# {MARK}(\S+)$", text, re.MULTILINE)
    said = next((one for one in every() if found and one.name == found[1]), None)
    return of_name(profileword.parse(text, "").name()) or said


@dataclass(frozen=True)
class Spread:
    """A parameter's values on the drives that give one."""

    values: dict[str, str]  # by drive, as the profile has it

    def __str__(self) -> str:
        numbers = {number: text for text in self.values.values() if (number := _number(text)) is not None}
        if len(self.values) == 1:
            return "of one drive"
        if len(set(self.values.values())) == 1:
            return f"alike on {len(self.values)} drives"
        if len(numbers) < len(set(self.values.values())):
            return f"{', '.join(sorted(set(self.values.values())))} on {len(self.values)} drives"
        return f"{numbers[min(numbers)]} to {numbers[max(numbers)]} on {len(self.values)} drives"


def _number(text: str) -> float | None:
    match = re.fullmatch(r"(-?[\d.]+)\s*([A-Za-z/]*)", text)
    return float(match[1]) * UNITS[match[2]] if match and match[2] in UNITS else None


def spread(drives: Iterable[str]) -> dict[str, Spread]:
    """Of each parameter that stands in a profile once, what these drives' profiles say."""
    found: dict[str, dict[str, str]] = {}
    for drive in drives:
        word = profileword.parse(files.path_of(drive).read_text(encoding="utf-8"), drive)
        for item in word.items:
            name, _, value = item.partition("=")
            if name not in profileword.REPEATED and name not in ("name", "capacity"):
                found.setdefault(name, {})[drive] = value
    return {name: Spread(values) for name, values in found.items()}


def as_text(one: DriveClass) -> str:
    lines = [f"{one.name}: {one.title}", f"  made from {', '.join(one.drives)}"]
    lines += [f"  of no real drive: {', '.join(one.also)}"] if one.also else []
    lines.append(f"  a new profile begins with {one.base}: {one.why}")
    base = spread([one.base])
    for name, values in spread(one.drives).items():
        mine = base[name].values[one.base] if name in base else "not given"
        lines.append(f"  {name:<24}{mine:<18}{values}")
    return "\n".join(lines)
