# SPDX-License-Identifier: GPL-2.0
"""Drives left out: of each that was measured a profile as a stranger makes it, held against the drive.

The stranger has the drive's data sheet ([[sheet]] of profiles/evidence) and its class as it would be without
that drive: classes.without(). `david profile new` makes the profile. What it is off tells what a made
profile of that class is worth: worth.py takes it from profiles/evidence/made.csv, which is made here.

In made.csv are the figures that were measured on the drive itself: none of them went into the profile, also
where the shipped one was fitted to it. The sheet's own figures are there as `published`, and as fitted.
"""

from __future__ import annotations

import argparse
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..drive import classes, evidence, files, profile_bench, worth
from ..drive.everyday import MEASURED, PUBLISHED
from ..util import UserError
from . import newprofile


@dataclass(frozen=True)
class Sheet:
    options: tuple[str, ...]  # of david profile new
    source: str


def sheets(drive: str) -> list[Sheet]:
    """What the drive's data sheet says; none is known of some."""
    def made(entry: dict[str, str]) -> Sheet:
        if unknown := sorted(entry.keys() - {"options", "source"}):
            raise KeyError(unknown[0])
        return Sheet(tuple(shlex.split(entry["options"])), entry["source"])

    return evidence.rows(drive, "sheet", made)


def _measured(found: Sequence[worth.Point]) -> list[worth.Point]:
    return [one for one in found if one.by == MEASURED and one.of == worth.DRIVE]


def judges(drive: str) -> int:
    """How many figures were measured on it."""
    return len(_measured([one for one in worth.table() if one.profile == drive]))


def why_not(drive: str) -> str:
    """Why no profile of it can be made and held; "" if one can."""
    one = classes.of_profile(drive)
    if not judges(drive):
        return "nothing was measured on it"
    if one is None or drive in one.also:
        return "it is no drive of a class"
    if not sheets(drive):
        return "no data sheet: it is not known which drive it is, or of its kind nothing is fitted"
    return "" if classes.without(drive) else "its class has no other base"


def drives() -> list[str]:
    """All that can be left out."""
    return [name for name in files.names() if not why_not(name)]


def make(drive: str) -> newprofile.Made:
    """As a stranger would."""
    drive_class = classes.without(drive)
    if drive_class is None:
        raise UserError(f"{drive}: {why_not(drive)}")
    [sheet] = sheets(drive)
    parser = argparse.ArgumentParser(prog=f"[[sheet]] of {drive}: david profile")
    newprofile.add_parser(parser.add_subparsers())
    return newprofile.make(parser.parse_args(
        ["new", "left-out", "--class", drive_class.name, "-o", "none", *sheet.options]), drive_class)


def _kind(option: str) -> str:
    """Of a figure of the sheet."""
    if "@" in option and not option.endswith("@1"):
        return "depth"
    return "writes" if option.startswith(("--write", "--sync")) else "reads"


def points(drive: str, made: newprofile.Made) -> list[worth.Point]:
    """What was measured on the drive beside the made profile, and the sheet's own figures."""
    with tempfile.NamedTemporaryFile("w", suffix=".profile") as file:
        file.write(made.draft.text())
        file.flush()
        found = worth.points(drive, *profile_bench.beside(Path(file.name), drive))
    told = [replace(one, fitted=False) for one in _measured(found)]
    return told + [worth.Point(drive, _kind(one.option), one.option, one.unit, one.wanted, one.model, True,
                               worth.DRIVE, PUBLISHED) for one in made.held]
