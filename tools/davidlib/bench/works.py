# SPDX-License-Identifier: GPL-2.0
"""[[workload]] of a question. A parameter that is a list is a dimension. A job of fio may have parameters of
its own: {block} in its text is the key block of its table, and {seed} is the run's seed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..workload.kinds import KINDS, Bytes, File
from .dimensions import Factors, Level, double, points
from .tables import Table

SEED = "seed"
JOB = "job"
# Texts that are programs: a list of them would be no name on a page.
PROGRAMS = (JOB, "command")
# fio would take ${NAME} from the environment, and a lab has none.
PARAMETER, OF_ENVIRONMENT = re.compile(r"(?<!\$)\{(\w+)\}"), re.compile(r"\$\{\w*\}")
# They may be 0, though that is not what holds without them.
MAY_BE_NONE = ("reads",)


@dataclass(frozen=True)
class Workload:
    kind: str
    name: str
    params: dict[str, Any]
    number: int = 0  # of its table, from 0 on
    factors: Factors = field(default_factory=dict)

    def of_seed(self, seed: int) -> dict[str, Any]:
        """The parameters of a run."""
        if self.kind != "fio":
            return self.params
        return self.params | {JOB: self.params[JOB].replace(f"{{{SEED}}}", str(seed))}


def _file(table: Table, key: str, base: Path) -> str:
    name = table.take(key, str, "")
    if name and not (base / name).is_file():
        raise table.gone(key, f"{key} = {name!r}: there is no such file")
    return str((base / name).resolve()) if name else ""


def _param(table: Table, key: str, default: Any, base: Path) -> Any:
    """One value of the table's key."""
    if isinstance(default, Bytes):
        return table.size(key, default)
    if isinstance(default, File):
        return _file(table, key, base)
    value = table.take(key, type(default), default)
    if type(default) is int and value < (0 if default == 0 or key in MAY_BE_NONE else 1):
        raise table.wrong(key, f"{key} = {value}: too small")
    return value


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _levels(table: Table, key: str, default: Any, base: Path) -> list[Level]:
    """The values of a parameter, each with the word that the question has for it."""
    if not isinstance(table.left.get(key), list):
        return [Level("", _param(table, key, default, base))]
    words = table.left.pop(key)
    if key in PROGRAMS:
        raise table.wrong(key, f"{key}: one text; what differs is a parameter, such as {{block}} of a job "
                          "of fio, or another [[workload]]")
    if not words:
        raise table.wrong(key, f"{key}: an empty list leaves nothing to run")
    found = []
    for word in words:
        table.left[key] = word
        value = _param(table, key, default, base)
        found.append(Level(Path(word).stem if isinstance(default, File) else _word(word), value))
    if twice := double(found):
        raise table.wrong(key, f"{key}: {twice} is there twice")
    return found


def _of_job(table: Table, job: str) -> dict[str, list[Level]]:
    """The parameters that its text names."""
    if there := OF_ENVIRONMENT.search(job):
        raise table.wrong(JOB, f"job: {there[0]}: a lab has no such variable; write {there[0][1:]} for a "
                          "parameter of the question")
    found: dict[str, list[Level]] = {}
    for name in dict.fromkeys(PARAMETER.findall(job)):
        if name == SEED:
            continue
        if name not in table.left:
            known = ", ".join(sorted({SEED, *table.left} - {"kind", "name", JOB}))
            raise table.wrong(JOB, f"job: {{{name}}}: there is no {name} in this [[workload]]; there are "
                                   f"{known}")
        value = table.left.pop(name)
        values = value if isinstance(value, list) else [value]
        for one in values:
            if not isinstance(one, str | int | float):
                raise table.wrong(name, f"{name} = {one!r}: want a text or a number, or a list of such")
        found[name] = [Level(_word(one), one) for one in values]
        if not values or double(found[name]):
            raise table.wrong(name, f"{name}: an empty list, or a value that is there twice")
    return found


def read(table: Table, base: Path) -> Iterator[Workload]:
    """A workload for each combination of its parameters."""
    kind = table.choice("kind", tuple(KINDS), None)
    name = table.label(kind)
    known = KINDS[kind]
    own = {key: _levels(table, key, default, base) for key, default in known.params.items()}
    for key in known.required:
        if not own[key][0].value:
            raise table.wrong(key, f"{key}: needed for kind = '{kind}'")
    more = _of_job(table, own[JOB][0].value) if kind == "fio" else {}
    table.done(("kind", "name", *known.params, *more))
    for values, factors in points(own | more):
        params = {key: values[key] for key in own}
        for key in more:
            params[JOB] = params[JOB].replace(f"{{{key}}}", _word(values[key]))
        yield Workload(kind, name, params, table.number, factors)
