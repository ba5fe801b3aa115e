# SPDX-License-Identifier: GPL-2.0
"""How much of a trace may be missing: one limit for all that record, import, compile and replay.

What is missing is what was lost, what was not understood, and what was left out of the calls. Above WARNING
it is said; above LIMIT the command's exit status is that of what is not to be believed.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from .util import NOT_BELIEVABLE, say

WARNING, LIMIT = 0.001, 0.01
# Of a trace's balance: records that are missing, and calls that nobody understood.
MISSING = ("lost", "unparsed", "not-taken")
NOT_UNDERSTOOD = ("unknown", "foreign")


@dataclass(frozen=True)
class Losses:
    """By name, of how many in all."""

    missing: dict[str, int]
    whole: int

    def share(self) -> float:
        """Of nothing, nothing is missing."""
        return sum(self.missing.values()) / self.whole if self.whole else 0.0


def of_trace(database: sqlite3.Connection) -> Losses:
    """Of a finished trace: what its balance counts."""
    counted = dict(database.execute("SELECT key, value FROM balance"))
    found = {key: int(counted.get(key, 0)) for key in (*MISSING, *NOT_UNDERSTOOD)}
    calls = int(counted.get("calls", 0)) - made_up(database)
    return Losses(found, calls + sum(found[key] for key in MISSING))


def made_up(database: sqlite3.Connection) -> int:
    """Calls of an imported trace that no line of its text has: they are no part of a whole."""
    (value,) = database.execute("SELECT total(value) FROM balance WHERE key = 'made-up'").fetchone()
    return int(value)


def percent(share: float) -> str:
    return f"{100 * share:.{2 if share < 0.995 else 3}g} %"


def status(what: str, found: Losses, are: str = "are missing", unit: str = "calls") -> int:
    """0, or NOT_BELIEVABLE; says how many calls, or other units, ARE so where it is above WARNING."""
    share = found.share()
    if share <= WARNING:
        return 0
    said = ", ".join(f"{count} {name}" for name, count in found.missing.items() if count)
    beyond = share > LIMIT
    limit = f"more than {100 * LIMIT:g} %, and so not to be believed" if beyond else "a warning"
    say(f"{what}: {percent(share)} of {found.whole} {unit} {are} ({said}): {limit}")
    return NOT_BELIEVABLE if beyond else 0
