# SPDX-License-Identifier: GPL-2.0
"""The question that a sweep answers, as a TOML file: read, checked, and every mistake named with its line.

Nothing is made, built or started here. What can be checked without a lab is: names of drives, file systems
and workloads, parameters, sizes.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import filesystems
from ..image import recipe
from ..workload.kinds import KINDS
from . import disks, faultwords, goals, kernelwords, works, zonewords
from .dimensions import SYSTEM, Factors, Level, points
from .disks import Disk, short_name
from .faultwords import Faults
from .goals import Goal
from .kernelwords import Kernel
from .metrics import METRICS
from .tables import GoneError, Source, SpecError, Table, tables
from .works import Workload

__all__ = ("FileSystem", "Spec", "SpecError", "parse", "read", "refuse_metric", "short_name", "stored")

WHERE = ("virtual", "uml", "vm", "here")
NO_FILE_SYSTEM = "none"  # the raw disk
SYSTEMS = (*filesystems.BENCHED, NO_FILE_SYSTEM)
UNPOOLED = ("store=memory", "mode=model-only")
TOP = ("question", "where", "kernel", "metric", "compare", "memory", "timeout", "repeats", "seeds",
       "fail-if", "disk", "filesystem", "workload", "faults")


@dataclass(frozen=True)
class FileSystem:
    type: str
    name: str
    mkfs: tuple[str, ...] = ()
    mount: str = ""
    number: int = 0  # of its table, from 0 on
    factors: Factors = field(default_factory=dict)


@dataclass
class Spec:
    source: Source
    question: str
    disks: list[Disk]
    file_systems: list[FileSystem]
    workloads: list[Workload]
    seeds: list[int]
    faults: list[Faults]
    kernels: list[Kernel]
    where: str = "virtual"
    metric: str = "operations"
    compare: str = ""  # the dimension that the answer is about
    memory: str = "1G"
    timeout: int = 600
    goals: list[Goal] = field(default_factory=list)
    # Of one whose runs are done, and which could not be asked now. Why; then disks and so on are not known.
    refused: str = ""  # by today's rules
    gone: str = ""  # a file that it names


def _types(table: Table) -> list[str]:
    if not isinstance(table.left.get("type"), list):
        return [table.choice("type", SYSTEMS, None)]
    found = table.choices("type", SYSTEMS, [""])
    for key in ("name", "mkfs"):
        if len(found) > 1 and key in table.left:
            raise table.wrong(key, f"{key}: of several types; write a [[filesystem]] for each of them")
    return found


def _read_systems(table: Table) -> list[FileSystem]:
    types = _types(table)
    name, listed = table.label(""), isinstance(table.left.get("mount"), list)
    mounts = table.several("mount", str, [""]) if listed else [table.take("mount", str, "")]
    dimensions = {
        "type": [Level(kind, kind) for kind in types],
        "mkfs": [Level(" ".join(words) or "mkfs alone", words) for words in table.sets("mkfs")],
        "mount": [Level(options or "mounted as it is", options) for options in mounts],
    }
    table.done(("type", "name", "mkfs", "mount"))
    found = []
    for values, factors in points(dimensions):
        kind = values["type"]
        if kind == NO_FILE_SYSTEM and (values["mkfs"] or values["mount"]):
            raise table.wrong("type", "type = 'none': a raw disk is neither made nor mounted")
        more = {key: word for key, word in factors.items() if key != "type"}
        found.append(FileSystem(kind, name or kind, values["mkfs"], values["mount"], table.number, more))
    return found


def _file_systems(found: list[Table]) -> list[FileSystem]:
    """Their names are what tells them apart."""
    systems = [one for table in found for one in _read_systems(table)]
    names = {(one.name, one.number) for one in systems}
    if len({name for name, _ in names}) == 1:
        return systems
    return [FileSystem(one.type, one.name, one.mkfs, one.mount, one.number, {SYSTEM: one.name} | one.factors)
            for one in systems]


def _unique(source: Source, table: str, found: list[Any]) -> None:
    """Variants are told apart by these names."""
    first: dict[str, int] = {}
    for one in found:
        if first.setdefault(one.name, one.number) != one.number:
            raise source.wrong(table, one.number, "name",
                               f"name = '{one.name}': there twice; give one another name")


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


def _raw_ones(source: Source, spec: Spec) -> None:
    """What a raw disk cannot do."""
    if any(fs.type == NO_FILE_SYSTEM for fs in spec.file_systems):
        for workload in spec.workloads:
            if not KINDS[workload.kind].raw:
                raise source.wrong("workload", workload.number, "kind",
                                   f"kind = '{workload.kind}': needs a file system, and there is one of "
                                   "type = 'none'; leave one of the two out")


def _aged_ones(source: Source, spec: Spec) -> None:
    for disk in spec.disks:
        for fs in spec.file_systems if disk.age else ():
            if fs.type not in recipe.SYSTEMS:
                raise source.wrong("disk", disk.number, "age", f"age: of {', '.join(recipe.SYSTEMS)}, and "
                                   f"not of {fs.type}; leave one of the two out")


def _arrays(source: Source, spec: Spec) -> None:
    for disk in spec.disks:
        if not disk.array:
            continue
        for option in disk.options:
            if option in UNPOOLED:
                raise source.wrong("disk", disk.number, "option", f"option = '{option}': not with an array, "
                                   "whose members share a pool; leave it out")
        if disk.classify == "data":
            raise source.wrong("disk", disk.number, "classify",
                               "classify = 'data': not with an array, whose superblocks are kept")


def _failing_ones(source: Source, spec: Spec) -> None:
    """Of an array one member fails, which works when it begins to."""
    arrays = [disk for disk in spec.disks if disk.array]
    for faults in spec.faults:
        if faults.is_healthy:
            continue
        if faults.member is not None and not arrays:
            raise source.wrong("faults", faults.number, "member", "member: there is no array; leave it out")
        if faults.member is None and arrays:
            raise source.wrong("faults", faults.number, "name", "[[faults]]: of an array one member fails; "
                               "write which, such as member = 3")
        for disk in arrays:
            if disk.array and faults.member is not None and faults.member >= disk.array.members:
                raise source.wrong("faults", faults.number, "member", f"member = {faults.member}: "
                                   f"{disk.array.word} has members 0 to {disk.array.members - 1}")
            if disk.state and faults.member in disk.state.members:
                raise source.wrong("faults", faults.number, "member", f"member = {faults.member}: by "
                                   f"array-state = '{disk.state.word}' it has failed already")


def _mistakes(source: Source, spec: Spec) -> None:
    """Of workloads that know more of their parameters than a type."""
    raw = any(fs.type == NO_FILE_SYSTEM for fs in spec.file_systems)
    for workload in spec.workloads:
        check = KINDS[workload.kind].mistake
        if check and (found := check(workload.of_seed(spec.seeds[0]), raw)):
            key, text = found
            raise source.wrong("workload", workload.number, key, f"{key}: {text}")


def refuse_metric(spec: Spec, metric: str) -> str:
    """Why this metric is not known of all workloads; nothing: it is."""
    for workload in spec.workloads:
        tell = KINDS[workload.kind].unknown
        if tell and (why := tell(workload.of_seed(spec.seeds[0])).get(metric)):
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
    disk = values.get("disk", {})
    if not isinstance(disk, (dict, list)):
        raise source.wrong("", 0, "disk", "disk: write [disk] above its keys")
    if isinstance(disk, dict):  # [disk], of which there is one
        values["disk"] = [disk]
    found_disks = tables(source, values, "disk", [])
    systems = tables(source, values, "filesystem", [{"type": "ext4"}])
    workloads = tables(source, values, "workload", [])
    faults = tables(source, values, "faults", [{}])
    top = Table(source, "", values)
    where = top.choice("where", WHERE, "virtual")
    spec = Spec(
        source=source,
        question=top.take("question", str, ""),
        disks=list(disks.read(found_disks, base)),
        file_systems=_file_systems(systems),
        workloads=[one for table in workloads for one in works.read(table, base)],
        seeds=_seeds(top),
        faults=faultwords.read(faults),
        kernels=kernelwords.read(top, where, base),
        where=where,
        metric=top.choice("metric", tuple(METRICS), "operations"),
        compare=top.take("compare", str, ""),
        memory=top.take("memory", str, "1G"),
        timeout=top.take("timeout", int, 600),
    )
    spec.goals = goals.read(top)
    goals.check(top, spec.goals, spec.workloads, spec.seeds[0])
    top.done(TOP)
    if not re.fullmatch(r"[1-9]\d*[MG]", spec.memory):
        raise top.wrong("memory", f"memory = {spec.memory!r}: want a number with M or G, such as 2G")
    if spec.timeout < 1:
        raise top.wrong("timeout", f"timeout = {spec.timeout}: want seconds of real time")
    _unique(source, "filesystem", spec.file_systems)
    _unique(source, "workload", spec.workloads)
    _unique(source, "faults", spec.faults)
    for check in (_raw_ones, _aged_ones, _arrays, _failing_ones, _mistakes):
        check(source, spec)
    zonewords.check(spec)
    if why := refuse_metric(spec, spec.metric):
        raise top.wrong("metric", why)
    return spec


def stored(text: str, path: str, base: Path) -> Spec:
    """Of a question whose runs are done: rules that came later refuse none of it, and are told of."""
    try:
        return parse(text, path, base)
    except SpecError as error:
        why = str(error).removeprefix(f"{path}:")
        refused, gone = (f"line {why}", "") if not isinstance(error, GoneError) else ("", f"line {why}")
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            raise error from None
    source = Source(path, text)
    top = Table(source, "", {key: values[key] for key in ("question", "metric", "fail-if") if key in values})
    return Spec(source, top.take("question", str, ""), [], [], [], [], [], [], goals=goals.read(top),
                metric=top.choice("metric", tuple(METRICS), "operations"), refused=refused, gone=gone)


def read(path: Path) -> tuple[Spec, str]:
    """A spec and its text."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text"
        raise SpecError(f"{path}: {reason}; 'david bench --example' prints a spec to begin with") from None
    return parse(text, str(path), path.resolve().parent), text
