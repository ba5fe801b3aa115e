# SPDX-License-Identifier: GPL-2.0
"""[[faults]] of a question: what fails of the drive while it is measured."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any

from ..drive import presets
from .dimensions import FAULTS, Factors
from .tables import Table

KEYS = ("name", "faults", "preset", "age", "member")
HEALTHY = "healthy"
AGE = r"\d+(ns|us|ms|s|m|h|d)"
FAULT = r"(media-error|timeout|gone|slow|firmware-stall)(:[a-z_]+=[0-9a-z.-]+)*"


@dataclass(frozen=True)
class Faults:
    """A text, or the name of a preset; neither: nothing fails."""

    name: str
    text: str = ""
    preset: str = ""
    age: str = ""
    member: int | None = None  # of an array, the one that fails
    number: int = 0  # of its table, from 0 on
    factors: Factors = field(default_factory=dict)

    @property
    def is_healthy(self) -> bool:
        return not self.text and not self.preset

    def told(self, is_of_array: bool) -> dict[str, Any]:
        """For a run's description."""
        of_member = {"member": self.member} if is_of_array else {}
        own = {key: value for key, value in asdict(self).items() if key in ("text", "preset", "age")}
        return own | of_member


def _read(table: Table, is_one_of_several: bool) -> Faults:
    text, preset = table.take("faults", str, ""), table.take("preset", str, "")
    age = table.take("age", str, "")
    if text and preset:
        raise table.wrong("preset", "preset: there are faults already; write them in two tables")
    if preset and preset not in presets.PRESETS:
        known = ", ".join(presets.PRESETS)
        raise table.wrong("preset", f"preset: there is no preset '{preset}' of faults; there are {known}")
    if text and not re.fullmatch(f"{FAULT}(,{FAULT})*", text):
        raise table.wrong("faults", f"faults = {text!r}: want faults as docs/MODEL.md has them, "
                          "with commas between")
    if age and not re.fullmatch(AGE, age):
        raise table.wrong("age", f"age = {age!r}: want a whole number with ns, us, ms, s, m, h or d")
    if age and not (text or preset):
        raise table.wrong("age", "age: of a drive of which nothing fails it decides nothing")
    member = table.take("member", int, None)
    if member is not None and (member < 0 or not (text or preset)):
        raise table.wrong("member", f"member = {member}: of an array the member that fails, from 0 on, and "
                          "how it does: faults or preset")
    name = table.label(preset or ("faulty" if text else HEALTHY))
    table.done(KEYS)
    return Faults(name, text, preset, age, member, table.number, {FAULTS: name} if is_one_of_several else {})


def read(found: list[Table]) -> list[Faults]:
    """A variant each."""
    return [_read(table, len(found) > 1) for table in found]
