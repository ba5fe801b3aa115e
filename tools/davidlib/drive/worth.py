# SPDX-License-Identifier: GPL-2.0
"""What a profile is worth, by kind of job: who has measured it, and how far off the model is on its class.

All is made of profiles/evidence/worth.csv: each figure of a real drive, beside what the model makes of it.
`david profile worth --write` (`make worth`) writes it, `validate` fails where it is no longer so. A closed
form of the profile's own parameters is no figure of a drive, and is not in it.

The grade of a kind of job, from the figures that no parameter was fitted to, and that were measured:
    drive    some are of this drive
    class    none is, and some are of other drives of its class
    assumed  there are none

The interval: of each other drive of the class, the mean of log(modelled / real)^2 over such figures of that
kind; the root of the mean over drives, times Student's factor, is what a logarithm may be off by in 19 of 20
drives. The drive itself is left out: it may have been fitted. With fewer than LEAST others there is none.

A profile made from a data sheet has the interval of such profiles. Shipped ones were fitted to much more than
a sheet says. So each drive of the class was left out, a profile made of its sheet and of the others, and held
against what was measured on it (davidlib/calibrate/leftout.py): profiles/evidence/made.csv, which has the
columns of worth.csv, and is written by `make left-out`. All that was measured counts there, whatever the
shipped profile was fitted to. The drive at hand is none of them.
"""

from __future__ import annotations

import csv
import functools
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from .. import student
from ..util import UserError
from . import classes, evidence, files, profileword
from .everyday import MEASURED, PUBLISHED, Outcome
from .realdrives import Real

KINDS = ("reads", "writes", "mix", "tail", "depth")
MEANS = {
    "reads": "one read at a time, or reads in order",
    "writes": "one write at a time, or writes in order, with or without flushes",
    "mix": "reads and writes at the same time",
    "tail": "p99 and p99.9 of any job",
    "depth": "random reads, or writes, several at a time",
}
DRIVE, CLASS, ASSUMED = "drive", "class", "assumed"
GRADES = {DRIVE: "measured on this drive", CLASS: "measured on its class", ASSUMED: "assumed"}
TAIL = ("p99", "p99.9")
WRITING = {"write", "append", "reset", "finish"}  # words of a job
LEAST = 3  # other drives
OLD = 0.05  # of a logarithm: the table and the model are further apart
NOBODY = "no figure that was measured on the drive holds it"
TABLE = evidence.EVIDENCE / "worth.csv"
AGAIN = "'make worth' writes it anew"
MADE = evidence.EVIDENCE / "made.csv"
MADE_AGAIN = "'make left-out' writes it anew"


@dataclass(frozen=True)
class Point:
    """A figure of a real drive, and the model's."""

    profile: str
    kind: str
    job: str
    figure: str
    real: float
    modelled: float
    fitted: bool
    of: str  # DRIVE, or CLASS: another drive was measured
    by: str  # MEASURED or PUBLISHED

    @property
    def key(self) -> tuple[Any, ...]:
        real = f"{self.real:.6g}"
        return self.profile, self.kind, self.job, self.figure, self.fitted, self.of, self.by, real

    @property
    def log(self) -> float:
        return math.log(self.modelled / self.real)

    @property
    def held(self) -> bool:
        """Was it measured, and nothing fitted to it?"""
        return self.by == MEASURED and not self.fitted


def kind_of(words: str) -> str:
    """Of a job of david-sim bench; tails apart."""
    parts = [part.split() for part in words.split("+")]
    ways, depth = set(), 0
    for part in parts:
        given = dict(word.partition("=")[::2] for word in part)
        share = int(given.get("writes", 100 if WRITING & set(part) else 0))
        ways |= {"writes"} if share == 100 else {"reads"} if not share else {"reads", "writes"}
        depth += int(given.get("depth", 1))
    if len(ways) > 1:
        return "mix"
    return "depth" if depth > 1 and all("random" in part for part in parts) else ways.pop()


def points(profile: str, outcomes: Iterable[Outcome], measured: Iterable[Real]) -> list[Point]:
    """All figures of real drives among what 'david profile bench' came to."""
    found = []
    for one in outcomes:
        row = one.row
        if row.group == "drive" and one.expected is not None:
            found.append(Point(profile, kind_of(row.words), row.name, row.unit, one.expected, one.modelled,
                               row.fitted, row.of, row.kind))
    for real in measured:
        by = PUBLISHED if real.source.startswith("data sheet") else MEASURED
        for name, figure in real.figures.items():
            kind = "tail" if name in TAIL else kind_of(real.words)
            found.append(Point(profile, kind, real.name, name, figure.real, figure.modelled, figure.fitted,
                               real.of, by))
    return found


def as_csv(found: Iterable[Point]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([field.name for field in fields(Point)])
    for one in found:
        cells = astuple(one)
        writer.writerow([f"{cell:.6g}" if isinstance(cell, float) else int(cell) if isinstance(cell, bool)
                         else cell for cell in cells])
    return out.getvalue()


def _read(path: Path, again: str) -> tuple[Point, ...]:
    found = []
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                numbers = {"real": float(row.pop("real")), "modelled": float(row.pop("modelled"))}
                found.append(Point(fitted=row.pop("fitted") == "1", **numbers, **row))  # type: ignore[arg-type]
                if found[-1].kind not in KINDS or min(numbers.values()) <= 0:
                    raise ValueError("kind, real or modelled")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: {error}; {again}") from None
    return tuple(found)


@functools.cache
def table() -> tuple[Point, ...]:
    """Of the profiles as they are shipped."""
    return _read(TABLE, AGAIN)


@functools.cache
def made_table() -> tuple[Point, ...]:
    """Of profiles that were made from data sheets, each without its drive; `profile` is the drive."""
    return _read(MADE, MADE_AGAIN)


def outdated(profile: str, now: list[Point], made: bool = False) -> str:
    """Why the table is not what the model comes to now; "" if it is."""
    path, again = (MADE, MADE_AGAIN) if made else (TABLE, AGAIN)
    there = {one.key: one for one in (made_table() if made else table()) if one.profile == profile}
    here = {one.key: one for one in now}
    if there.keys() != here.keys():
        other = sorted(map(str, there.keys() ^ here.keys()))[0]
        return f"{path.name} has other figures than profiles/evidence, such as {other}; {again}"
    far = [one for key, one in here.items() if abs(one.log - there[key].log) > OLD]
    if not far:
        return ""
    first = far[0]
    return (f"{path.name}: {len(far)} figures are no longer what the model comes to, such as {first.job}, "
            f"{first.figure}: {there[first.key].modelled:.6g} there, {first.modelled:.6g} now; {again}")


@dataclass(frozen=True)
class Grade:
    kind: str
    grade: str
    held: int  # figures of this drive that were measured, and not fitted
    fitted: int  # of this drive, that were
    published: int  # of this drive, of a data sheet alone
    others: int  # drives of the class, this one left out, with figures that are held
    rms: float | None  # of the logarithms, over these
    made: bool = False  # from a data sheet; `others` are the class's drives that such ones were held against

    @property
    def factor(self) -> float | None:
        """The figure may be so many times too large or too small in 19 of 20 drives; None: unknown."""
        return None if self.rms is None else math.exp(student.factor(self.others) * self.rms)

    def interval(self, value: float) -> tuple[float, float] | None:
        return None if self.factor is None else (value / self.factor, value * self.factor)

    def __str__(self) -> str:
        parts = [f"{self.held} figures held"] if self.held else []
        parts += [f"{self.fitted} fitted"] if self.fitted else []
        parts += [f"{self.published} of a data sheet"] if self.published else []
        own = f" ({', '.join(parts)})" if parts else ""
        return f"{GRADES[self.grade]}{own}; {self.told}"

    @property
    def told(self) -> str:
        """The error, in words."""
        if self.made:
            if self.factor is None:
                drives = f"{self.others or 'no'} drive{'s' * (self.others > 1)} of its class"
                return (f"error unknown, as {drives} {'were' if self.others > 1 else 'was'} held against a "
                        f"profile of the data sheet alone, and {LEAST} tell it")
            return (f"within {self.factor:.3g} times, by {self.others} drives of its class, held against "
                    "profiles of their data sheets alone")
        if self.factor is None:
            return (f"error unknown, as {self.others} other drive{'s' * (self.others != 1)} of its class "
                    f"{'was' if self.others == 1 else 'were'} measured, and {LEAST} tell it")
        return f"within {self.factor:.3g} times, by {self.others} other drives of its class"


def _rms_of(found: Sequence[Point]) -> float:
    """Over drives: each counts once, however many figures it has."""
    drives: dict[str, list[float]] = {}
    for one in found:
        drives.setdefault(one.profile, []).append(one.log**2)
    return math.sqrt(sum(sum(logs) / len(logs) for logs in drives.values()) / len(drives))


def grade(kind: str, own: Sequence[Point], others: Sequence[Point],
          made: Sequence[Point] | None = None) -> Grade:
    """OWN are the drive's figures, OTHERS those of the shipped profiles of other drives of its class.

    With MADE the profile is made from a data sheet. These are the figures of such profiles of its class.
    """
    mine = [one for one in own if one.kind == kind and one.of == DRIVE]
    near = any(one.kind == kind and one.of == CLASS and one.held for one in own)
    beside = [one for one in others if one.kind == kind and one.of == DRIVE and one.held]
    judges = beside if made is None else [one for one in made if one.kind == kind and one.held]
    count = len({one.profile for one in judges})
    held = sum(one.held for one in mine)
    return Grade(
        kind,
        DRIVE if held else CLASS if beside or near else ASSUMED,
        held,
        sum(one.fitted for one in mine),
        sum(one.by == PUBLISHED and not one.fitted for one in mine),
        count,
        _rms_of(judges) if count >= LEAST else None,
        made is not None,
    )


@dataclass(frozen=True)
class Worth:
    profile: str
    drive_class: str  # "" of none
    grades: tuple[Grade, ...]
    doubt: str  # why nobody vouches for it; "" if somebody has measured it

    def of(self, kind: str) -> Grade:
        return self.grades[KINDS.index(kind)]

    def as_dict(self) -> dict[str, Any]:
        return {"class": self.drive_class, "doubt": self.doubt, "kinds": {
            one.kind: {"grade": one.grade, "held": one.held, "fitted": one.fitted, "published": one.published,
                       "others": one.others, "factor": one.factor} for one in self.grades}}


def _doubt(name: str, own: Sequence[Point]) -> str:
    if any(one.held and one.of == DRIVE for one in own):
        return ""
    broken = ", ".join(evidence.known_rules(name))
    return NOBODY + (f"; and it breaks rules of physics: {broken}" if broken else "")


def _of(name: str, one: classes.DriveClass | None, own: Sequence[Point], doubt: str,
        made: bool = False) -> Worth:
    others = [point for point in table() if one and point.profile in one.drives and point.profile != name]
    held = [point for point in made_table() if one and point.profile in one.drives] if made else None
    grades = tuple(grade(kind, own, others, held) for kind in KINDS)
    return Worth(name, one.name if one else "", grades, doubt)


def of_profile(name: str) -> Worth:
    """Of a shipped one."""
    own = [one for one in table() if one.profile == name]
    return _of(name, classes.of_profile(name), own, _doubt(name, own))


def of_class(one: classes.DriveClass) -> Worth:
    """Of any profile of that class that was made from a data sheet."""
    return _of(f".{one.name}", one, [], NOBODY, made=True)


def of_name(name: str) -> Worth | None:
    """Of a drive of which the name is known: a shipped one, or one that says its class. None: unknown."""
    if name in files.names():
        return of_profile(name)
    found = classes.of_name(name)
    return _of(name, found, [], NOBODY, made=True) if found else None


def of_text(text: str) -> Worth:
    """Of any profile: with the values of a shipped one it is that, else the class that it names tells."""
    word = profileword.parse(text, "")
    if word.name() in files.names():
        shipped = profileword.parse(files.path_of(word.name()).read_text(encoding="utf-8"), "")
        if shipped.items == word.items:
            return of_profile(word.name())
    found = classes.of_text(text)
    doubt = NOBODY if found else f"{NOBODY}, and it names no class"
    return _of(word.name(), found, [], doubt, made=found is not None)


def cell(one: Grade) -> str:
    """For a table."""
    return one.grade + (f" x{one.factor:.2g}" if one.factor else "")


def as_text(found: Worth) -> str:
    name = f", of the class {found.drive_class}" if found.drive_class else ", of no class"
    lines = [f"{found.profile}{name}"]
    lines += [f"  {one.kind:<8}{one}" for one in found.grades]
    lines += [f"  nobody vouches for it: {found.doubt}"] if found.doubt else []
    return "\n".join(lines)


def brief(found: Worth) -> str:
    """In one line."""
    said = ", ".join(f"{one.kind}: {cell(one)}" for one in found.grades)
    return said + (f"; nobody vouches for it: {found.doubt}" if found.doubt else "")


def named(found: Worth) -> str:
    """The same, with the class."""
    return (f"of the class {found.drive_class}: " if found.drive_class else "") + brief(found)
