# SPDX-License-Identifier: GPL-2.0
"""What is known of real drives beside their profiles: profiles/evidence/NAME.toml, one file a profile.

[[job]]: a row of everyday.py's table. `job` is david-sim bench's. Its figure in `unit` is to be `value`, and
may be `below` and `above` percent off, by a `source` of this `kind`: measured or published. `how` says what
the value was reckoned from. `formula` names one of FORMULAS, whose parameters are beside it. Without either
nobody knows a figure, and `source` says where it was looked for. `fitted`: a parameter of the profile was
chosen by this very figure. `known`: why it is off, where that is not to be mended.

[[times]]: a row of realdrives.py's. `state` is the drive's before the job (realdrives.STATES), `fill` how
much of it is written, `part` the part of the job that the figures are of. Of per_s, and of p50, p90, p99 and
p99.9 in us, there is a `value`; by how many percent it may be `off`, if at all; and whether it was `fitted`.
`why` says why it is off; it must where the rate, or without one p50, is off by more than realdrives.FAR.

In both, `of` = "class": not this drive was measured, but another one of its class.

[[fio-plot]]: a drive of fio-plot's measurements, which are not in the tree: realdrives.FioPlot.

[[sheet]]: what the drive's data sheet says, as `options` of `david profile new`, and the `source`: of that a
profile is made as if the drive were not known (davidlib/calibrate/leftout.py).

[[rule]]: a rule of `david-sim physics`, by its `name`, that the shipped drive is `known` to break, and why.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from ..util import PROFILES, UserError
from .everyday import MEASURED, PUBLISHED, UNKNOWN, Row, Seen

EVIDENCE = PROFILES / "evidence"
TABLES = {"job", "times", "fio-plot", "rule", "sheet"}
KEYS = {"name", "job", "unit", "value", "how", "formula", "source", "kind", "below", "above", "fitted",
        "known", "of"}
Made = TypeVar("Made")


def average_seek(seen: Seen, operation: str, seek_ms: float, rpm: float) -> float:
    """us of a request of 4 KiB: the data sheet's average seek, which the profile's curve goes through."""
    revolution_ms = 60_000 / rpm
    return 1000 * (seek_ms + revolution_ms / 2) + seen.drive["overhead_us"][operation] + seen.transfer(4096)


# By name: the function, and its parameters.
FORMULAS: dict[str, tuple[Callable[..., float], set[str]]] = {
    "average seek": (average_seek, {"operation", "seek_ms", "rpm"}),
}


class EvidenceError(UserError):
    """A file of evidence says what it cannot; the text names it."""


def load(profile: str) -> dict[str, list[dict[str, Any]]]:
    """The tables of that drive's file; none where there is no file."""
    path = EVIDENCE / f"{profile}.toml"
    if path not in EVIDENCE.glob("*.toml"):
        return {}
    try:
        found: dict[str, list[dict[str, Any]]] = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise EvidenceError(f"{path}: {error}") from None
    if unknown := found.keys() - TABLES:
        raise EvidenceError(f"{path}: {sorted(unknown)[0]}: there are {', '.join(sorted(TABLES))}")
    return found


def of_what(entry: dict[str, Any]) -> str:
    """Which drive was measured."""
    found: str = entry.get("of", "drive")
    if found not in ("drive", "class"):
        raise KeyError("of")
    return found


def _expected(entry: dict[str, Any]) -> Callable[[Seen], float | None]:
    value = entry.get("value")
    if "formula" not in entry:
        return lambda seen: value
    function, parameters = FORMULAS[entry["formula"]]
    return partial(function, **{name: entry[name] for name in parameters})


def _job(entry: dict[str, Any]) -> Row:
    of_formula = FORMULAS[entry["formula"]][1] if "formula" in entry else set()
    if unknown := sorted(entry.keys() - KEYS - of_formula):
        raise KeyError(unknown[0])
    known = "value" in entry or "formula" in entry
    if entry.get("kind", UNKNOWN) not in ((MEASURED, PUBLISHED) if known else (UNKNOWN,)):
        raise KeyError("kind")
    row = Row("drive", entry["name"], entry["job"], entry["unit"], _expected(entry), entry["source"],
              entry.get("kind", UNKNOWN), fitted=entry.get("fitted", False), known=entry.get("known", ""),
              of=of_what(entry))
    if known:
        row.below, row.above = entry["below"], entry["above"]
    return row


def rows(profile: str, table: str, make: Callable[[dict[str, Any]], Made]) -> list[Made]:
    """Something of each entry of a table; what `make` cannot take is named."""
    made = []
    for number, entry in enumerate(load(profile).get(table, []), 1):
        try:
            made.append(make(entry))
        except (KeyError, TypeError, ValueError) as error:
            raise EvidenceError(f"{EVIDENCE / profile}.toml: [[{table}]] {number}: {error.args[0]}: unknown, "
                                "missing, or not what it should be") from None
    return made


def known_rules(profile: str) -> dict[str, str]:
    """The rules of physics that the drive as shipped breaks, and why."""
    def make(entry: dict[str, Any]) -> tuple[str, str]:
        if unknown := sorted(entry.keys() - {"name", "known"}):
            raise KeyError(unknown[0])
        return str(entry["name"]), str(entry["known"])

    return dict(rows(profile, "rule", make))


def jobs(profile: str) -> list[Row]:
    """The drive's own rows of everyday jobs."""
    return rows(profile, "job", _job)
