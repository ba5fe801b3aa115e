# SPDX-License-Identifier: GPL-2.0
"""[disk] of a question, or each [[disk]]: the fake disks that its runs are on, one for each combination of
what it lists.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from ..drive import files, profileword
from ..image import recipe
from ..nearest import did_you_mean
from ..util import UserError
from . import arraywords
from .arraywords import Array, State
from .dimensions import DISK, Factors, Level, double, points
from .tables import SpecError, Table

KEYS = ("name", "profile", "size", "backing", "classify", "profile-option", "option", "array", "array-state",
        "precondition", "age")
CLASSIFY = ("auto", "implicit", "explicit", "keep", "data")
PRECONDITIONS = ("fresh", "sequential", "random")
NEW = "none"
# Of a recipe these are the question's.
NOT_AGED_BY = ("size", "fs", "mkfs", "profile")


@dataclass(frozen=True)
class Disk:
    """A disk, or each member of an array."""

    profile: str  # a name of profiles/, or a file's path
    text: str  # of the profile
    size: int | None  # bytes; None: the drive's own
    array: Array | None = None
    state: State | None = None  # of the array; None: healthy
    profile_options: tuple[str, ...] = ()
    age: dict[str, Any] | None = None  # a recipe, but for NOT_AGED_BY
    backing: int = 512 << 20
    classify: str = "auto"
    options: tuple[str, ...] = ()
    number: int = 0  # of its table, from 0 on
    factors: Factors = field(default_factory=dict)


def short_name(profile: str) -> str:
    """What a page calls a drive: a name of profiles/, or of a file what stands before the dot."""
    return Path(profile).stem if "/" in profile else profile


def size_word(size: int) -> str:
    """As drives are sold, with all digits: two sizes are two variants."""
    unit, name = (10**12, "TB") if size >= 10**12 else (10**9, "GB") if size >= 10**9 else (10**6, "MB")
    return f"{(Decimal(size) / unit).normalize():f} {name}"


def _profile(table: Table, name: str, base: Path) -> str:
    """A name of profiles/, or a file, from the spec's own place."""
    if name in files.names():
        return name
    path = base / name
    if not path.is_file():
        meant = did_you_mean(name, files.names(), f"there are {', '.join(files.names())}")
        raise table.gone("profile", f"profile: there is no profile '{name}'; {meant}")
    return str(path.resolve())


def _namesakes(table: Table, name: str) -> SpecError:
    return table.wrong("profile", f"profile: two of them are called {name}, and a page could not tell them "
                       "apart; copy one to a file of another name")


def _profiles(table: Table, base: Path) -> list[str]:
    found = [_profile(table, name, base) for name in table.several("profile", str, [])]
    names = list(map(short_name, found))
    for name in names:
        if names.count(name) > 1:
            raise _namesakes(table, name)
    if not found:
        raise table.wrong("profile", f"[disk] has no profile; there are {', '.join(files.names())}")
    return found


def _sizes(table: Table) -> list[Level]:
    sizes = [(word, table.bytes_of("size", word)) for word in table.several("size", str, [])]
    if twice := double(Level(word, size) for word, size in sizes[::-1]):
        raise table.wrong("size", f"size: {twice} is there twice, once in another word")
    return [Level(size_word(size), size) for _, size in sizes] or [Level("", None)]


def _once(table: Table, key: str, levels: list[Level]) -> list[Level]:
    if word := double(levels):
        raise table.wrong(key, f"{key}: {word} is there twice, once in another word")
    return levels


def _arrays(table: Table) -> list[Level]:
    found: list[Level] = []
    for text in table.several("array", str, [arraywords.NONE]):
        try:
            array = arraywords.parse(text)
        except ValueError as error:
            raise table.wrong("array", f"array = {text!r}: {error}") from None
        found.append(Level(array.word if array else "no array", array))
    return _once(table, "array", found)


def _states(table: Table, arrays: list[Level]) -> list[Level]:
    """Each array has to be able to have each."""
    found: list[Level] = []
    texts = table.several("array-state", str, [])
    if texts and not any(level.value for level in arrays):
        raise table.wrong("array-state", "array-state: there is no array; write one, such as "
                          'array = "6 members=12"')
    for text in texts:
        try:
            state = arraywords.parse_state(text)
        except ValueError as error:
            raise table.wrong("array-state", f"array-state = {text!r}: {error}") from None
        why = [why for level in arrays if level.value and state
               and (why := arraywords.mistake(level.value, state))]
        if why:
            raise table.wrong("array-state", f"array-state = {text!r}: {why[0]}")
        found.append(Level(state.word if state else arraywords.HEALTHY, state))
    return _once(table, "array-state", found)


def _recipe(table: Table, name: str, base: Path) -> dict[str, Any]:
    file = base / name
    if not file.is_file() and name not in recipe.BUILT_IN:
        raise table.gone("age", f"age = {name!r}: there is no such file, and the recipes without one are "
                         f"{', '.join(recipe.BUILT_IN)}")
    try:
        # Its size does not count here, and need not be there.
        found = recipe.load(str(file), {"size": "1G"}) if file.is_file() else recipe.built_in(name)
    except UserError as error:
        raise table.wrong("age", f"age = {name!r}: {error}") from None
    return {key: value for key, value in vars(found).items() if key not in NOT_AGED_BY}


def _ages(table: Table, base: Path) -> list[Level]:
    """By recipes of david age, but for the disk and the file system that these name."""
    found: list[Level] = []
    for name in table.several("age", str, [NEW]):
        new = name == NEW
        found.append(Level("new" if new else f"aged by {Path(name).stem}",
                           None if new else _recipe(table, name, base)))
    return _once(table, "age", found)


def _preconditions(table: Table) -> list[Level]:
    words = table.choices("precondition", PRECONDITIONS, [])
    return [Level(word, (f"precondition={word}",)) for word in words]


def _options(table: Table) -> list[Level]:
    return [Level(" ".join(words) or "profile as it is", words) for words in table.sets("profile-option")]


def _need_once(table: Table, words: tuple[str, ...]) -> None:
    """The last one would count, and the run would be named by both."""
    names = [word.partition("=")[0].strip() for word in words]
    if twice := [name for name in names if names.count(name) > 1]:
        raise table.wrong("profile-option", f"profile-option: {twice[0]} is there twice; as a list of "
                          "lists, [[\"rpm=5400\"], [\"rpm=7200\"]], each is a drive")


def is_ssd(text: str) -> bool:
    return "kind=ssd" in profileword.parse(text, "profile").items


def _text(profile: str) -> str:
    return (Path(profile) if "/" in profile else files.path_of(profile)).read_text()


def _of_table(table: Table, base: Path) -> tuple[str, list[Disk]]:
    """Its name, and all of its disks. What an SSD has had before is no dimension of a disk that rotates, nor
    a state of a single disk."""
    name = table.label("")
    profiles, conditions = _profiles(table, base), _preconditions(table)
    sizes, arrays = _sizes(table), _arrays(table)
    states, options, ages = _states(table, arrays), _options(table), _ages(table, base)
    backing, classify = table.size("backing", Disk.backing), table.choice("classify", CLASSIFY, Disk.classify)
    more = tuple(table.several("option", str, []))
    table.done(KEYS)
    texts = {profile: _text(profile) for profile in profiles}
    if conditions and not any(map(is_ssd, texts.values())):
        raise table.wrong("precondition", "precondition: only an SSD has one, and there is none")
    found = []
    for (profile, text), size, array in itertools.product(texts.items(), sizes, arrays):
        shared = [("drive", short_name(profile), len(profiles)), ("size", size.word, len(sizes)),
                  ("array", array.word, len(arrays))]
        known = {name: word for name, word, count in shared if count > 1}
        own = {"array-state": states if array.value and states else [Level("", None)],
               "profile-option": options, "age": ages,
               "precondition": conditions if is_ssd(text) and conditions else [Level("", ())]}
        for values, factors in points(own):
            words = (*values["profile-option"], *values["precondition"])
            _need_once(table, words)
            found.append(Disk(profile, text, size.value, array.value, values["array-state"], words,
                              values["age"], backing, classify, more, table.number, known | factors))
    plain = [*map(short_name, profiles), *(level.word for level in arrays if level.value)]
    return name or ", ".join(plain), found


def read(found: list[Table], base: Path) -> Iterator[Disk]:
    """The disks of all tables. Of several, the name of its table is what tells a disk apart."""
    first: dict[str, int] = {}
    texts: dict[str, str] = {}
    for table in found:
        name, disks = _of_table(table, base)
        for disk in disks:
            if texts.setdefault(short_name(disk.profile), disk.text) != disk.text:
                raise _namesakes(table, short_name(disk.profile))
        if first.setdefault(name, table.number) != table.number:
            raise table.wrong("name", f"[[disk]]: two are called '{name}', and a page could not tell them "
                              "apart; give one another name")
        for disk in disks:
            yield replace(disk, factors={DISK: name} | disk.factors) if len(found) > 1 else disk
