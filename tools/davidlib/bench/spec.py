# SPDX-License-Identifier: GPL-2.0
"""The question that a sweep answers, as a TOML file: read, checked, and every mistake named with its line.

Nothing is made, built or started here. What can be checked without a lab is: names of drives, file systems
and workloads, parameters, sizes.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import filesystems
from ..drive import files
from ..sizes import parse_size
from ..util import UserError
from ..workload.kinds import KINDS, Bytes, File
from .metrics import METRICS

WHERE = ("virtual", "uml", "vm", "here")
NO_FILE_SYSTEM = "none"  # the raw disk
SYSTEMS = (*filesystems.BENCHED, NO_FILE_SYSTEM)


class SpecError(UserError):
    """A mistake in a spec; the text names file and line, and what to write."""


@dataclass(frozen=True)
class FileSystem:
    type: str
    name: str
    mkfs: tuple[str, ...] = ()
    mount: str = ""


@dataclass(frozen=True)
class Workload:
    kind: str
    name: str
    params: dict[str, Any]


@dataclass
class Spec:
    question: str
    profiles: list[str]
    sizes: list[int | None]
    file_systems: list[FileSystem]
    workloads: list[Workload]
    seeds: list[int]
    where: str = "virtual"
    metric: str = "operations"
    backing: int = 512 << 20
    memory: str = "1G"
    timeout: int = 600
    classify: str = "auto"
    profile_options: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)


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


class Table:
    """One table of the file; takes its keys one by one and complains of what is left."""

    def __init__(self, source: Source, name: str, values: dict[str, Any], number: int = 0) -> None:
        self.source, self.name, self.values, self.number = source, name, values, number
        self.left = dict(values)

    def wrong(self, key: str, text: str) -> SpecError:
        line = _line_of(self.source.text, self.name, self.number, key)
        return SpecError(f"{self.source.path}:{line}: {text}")

    def take(self, key: str, kind: type, default: Any) -> Any:
        value = self.left.pop(key, default)
        # True is an int of Python's.
        if type(value) is not kind and value is not default and not (kind is float and type(value) is int):
            raise self.wrong(key, f"{key} = {value!r}: want {WANTED[kind]}")
        return value

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

    def size(self, key: str, default: int) -> int:
        return self.bytes_of(key, self.left.pop(key, default))

    def bytes_of(self, key: str, value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return int(value)
        try:
            return parse_size(value if isinstance(value, str) else "")
        except ValueError as error:
            raise self.wrong(key, f"{key}: {error}") from None

    def done(self, known: tuple[str, ...]) -> None:
        for key in self.left:
            raise self.wrong(key, f"{key}: unknown here; there are {', '.join(sorted(known))}")


WANTED = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", list: "a list"}


@dataclass(frozen=True)
class Source:
    path: str
    text: str


def _no_such(table: Table, key: str, what: str, known: list[str]) -> SpecError:
    return table.wrong(key, f"{key}: there is no {what}; there are {', '.join(known)}")


def _profile(table: Table, name: str, base: Path) -> str:
    """A name of profiles/, or a file, from the spec's own place."""
    if name in files.names():
        return name
    path = base / name
    if not path.is_file():
        raise _no_such(table, "profile", f"profile '{name}'", files.names())
    return str(path.resolve())


def short_name(profile: str) -> str:
    """What a page calls a drive: a name of profiles/, or of a file what stands before the dot."""
    return Path(profile).stem if "/" in profile else profile


def _profiles(table: Table, base: Path) -> list[str]:
    found = [_profile(table, name, base) for name in table.several("profile", str, [])]
    names = list(map(short_name, found))
    for name in names:
        if names.count(name) > 1:
            raise table.wrong("profile", f"profile: two of them are called {name}, and a page could not tell "
                              "them apart; copy one to a file of another name")
    return found


def _file_system(table: Table) -> FileSystem:
    kind = table.choice("type", SYSTEMS, None)
    words = tuple(table.several("mkfs", str, []))
    found = FileSystem(kind, table.take("name", str, kind), words, table.take("mount", str, ""))
    if kind == NO_FILE_SYSTEM and (words or found.mount):
        raise table.wrong("type", "type = 'none': a raw disk is neither made nor mounted")
    table.done(("type", "name", "mkfs", "mount"))
    return found


def _file(table: Table, key: str, base: Path) -> str:
    name = table.take(key, str, "")
    if name and not (base / name).is_file():
        raise table.wrong(key, f"{key} = {name!r}: there is no such file")
    return str((base / name).resolve()) if name else ""


def _param(table: Table, key: str, default: Any, base: Path) -> Any:
    if isinstance(default, Bytes):
        return table.size(key, default)
    if isinstance(default, File):
        return _file(table, key, base)
    value = table.take(key, type(default), default)
    if type(default) is int and value < (0 if default == 0 else 1):
        raise table.wrong(key, f"{key} = {value}: too small")
    return value


def _workload(table: Table, base: Path) -> Workload:
    kind = table.choice("kind", tuple(KINDS), None)
    name = table.take("name", str, kind)
    known = KINDS[kind]
    params = {key: _param(table, key, default, base) for key, default in known.params.items()}
    for key in known.required:
        if not params[key]:
            raise table.wrong(key, f"{key}: needed for kind = '{kind}'")
    table.done(("kind", "name", *known.params))
    return Workload(kind, name, params)


def _unique(table: Callable[[int], Table], found: list[Any]) -> None:
    """Variants are told apart by these names."""
    for number, one in enumerate(found):
        if one.name in [other.name for other in found[:number]]:
            raise table(number).wrong("name", f"name = '{one.name}': there twice; give one another name")


def _tables(source: Source, values: dict[str, Any], name: str, default: list[dict[str, Any]]) -> list[Table]:
    found = values.pop(name, default)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found) or not found:
        line = _line_of(source.text, name, 0, "")
        raise SpecError(f"{source.path}:{line}: {name}: write [[{name}]] above each of them")
    return [Table(source, name, one, number) for number, one in enumerate(found)]


def _seeds(top: Table) -> list[int]:
    repeats = top.take("repeats", int, None)
    named = "seeds" in top.left
    seeds = top.several("seeds", int, [])
    if named and not seeds:
        raise top.wrong("seeds", "seeds: an empty list leaves nothing to run")
    if repeats is not None and seeds:
        raise top.wrong("repeats", "repeats: there are seeds already, one for each run; leave one out")
    if repeats is not None and not 1 <= repeats <= 1000:
        raise top.wrong("repeats", f"repeats = {repeats}: want 1 to 1000")
    if any(seed < 0 for seed in seeds):
        raise top.wrong("seeds", "seeds are 0 and more")
    return seeds or list(range(1, (repeats or 1) + 1))


def _sizes(disk: Table) -> list[int | None]:
    words = disk.several("size", str, [])
    sizes: list[int | None] = [disk.bytes_of("size", word) for word in words]
    for word, size in zip(words, sizes, strict=True):
        if sizes.count(size) > 1:
            raise disk.wrong("size", f"size: {word} is there twice, once in another word")
    return sizes or [None]


def _raw_ones(source: Source, spec: Spec) -> None:
    if any(fs.type == NO_FILE_SYSTEM for fs in spec.file_systems):
        for number, workload in enumerate(spec.workloads):
            if not KINDS[workload.kind].raw:
                line = _line_of(source.text, "workload", number, "kind")
                raise SpecError(f"{source.path}:{line}: kind = '{workload.kind}': needs a file system, and "
                                "there is one of type = 'none'; leave one of the two out")


def _mistakes(source: Source, spec: Spec) -> None:
    """Of workloads that know more of their parameters than a type."""
    raw = any(fs.type == NO_FILE_SYSTEM for fs in spec.file_systems)
    for number, workload in enumerate(spec.workloads):
        check = KINDS[workload.kind].mistake
        if check and (found := check(workload.params, raw)):
            key, text = found
            line = _line_of(source.text, "workload", number, key)
            raise SpecError(f"{source.path}:{line}: {key}: {text}")


def refuse_metric(spec: Spec, metric: str) -> str:
    """Why this metric is not known of all workloads; nothing: it is."""
    for workload in spec.workloads:
        tell = KINDS[workload.kind].unknown
        if tell and (why := tell(workload.params).get(metric)):
            return f"metric = '{metric}': not known of workload '{workload.name}': {why}"
    return ""


def parse(text: str, path: str, base: Path) -> Spec:
    """A spec of its text; PATH is for messages, BASE for files that it names."""
    source = Source(path, text)
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at (?:line (\d+)|end of document)", str(error))
        line = found[1] if found and found[1] else str(text.count("\n") + 1)
        raise SpecError(f"{path}:{line}: not TOML: {str(error).partition(' (at')[0]}") from None
    disk_values = values.pop("disk", {})
    if not isinstance(disk_values, dict):
        raise SpecError(f"{path}:{_line_of(text, '', 0, 'disk')}: disk: write [disk] above its keys")
    disk = Table(source, "disk", disk_values)
    systems = _tables(source, values, "filesystem", [{"type": "ext4"}])
    workloads = _tables(source, values, "workload", [])
    top = Table(source, "", values)
    spec = Spec(
        question=top.take("question", str, ""),
        profiles=_profiles(disk, base),
        sizes=_sizes(disk),
        file_systems=[_file_system(table) for table in systems],
        workloads=[_workload(table, base) for table in workloads],
        seeds=_seeds(top),
        where=top.choice("where", WHERE, "virtual"),
        metric=top.choice("metric", tuple(METRICS), "operations"),
        backing=disk.size("backing", 512 << 20),
        memory=top.take("memory", str, "1G"),
        timeout=top.take("timeout", int, 600),
        classify=disk.choice("classify", ("auto", "implicit", "explicit", "keep", "data"), "auto"),
        profile_options=disk.several("profile-option", str, []),
        options=disk.several("option", str, []),
    )
    top.done(("question", "where", "metric", "memory", "timeout", "repeats", "seeds",
              "disk", "filesystem", "workload"))
    disk.done(("profile", "size", "backing", "classify", "profile-option", "option"))
    if not spec.profiles:
        raise disk.wrong("profile", f"[disk] has no profile; there are {', '.join(files.names())}")
    if not re.fullmatch(r"[1-9]\d*[MG]", spec.memory):
        raise top.wrong("memory", f"memory = {spec.memory!r}: want a number with M or G, such as 2G")
    if spec.timeout < 1:
        raise top.wrong("timeout", f"timeout = {spec.timeout}: want seconds of real time")
    _unique(lambda number: systems[number], spec.file_systems)
    _unique(lambda number: workloads[number], spec.workloads)
    _raw_ones(source, spec)
    _mistakes(source, spec)
    if why := refuse_metric(spec, spec.metric):
        raise top.wrong("metric", why)
    return spec


def read(path: Path) -> tuple[Spec, str]:
    """A spec and its text."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text"
        raise SpecError(f"{path}: {reason}; 'david bench --example' prints a spec to begin with") from None
    return parse(text, str(path), path.resolve().parent), text
