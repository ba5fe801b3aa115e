# SPDX-License-Identifier: GPL-2.0
"""What the repetition of the paper's evaluation is held to, and whether it is reached."""

from __future__ import annotations

from dataclasses import dataclass

from ..report.answer import digits
from . import measured, published
from .measured import Runs

GB = 2**30
WITHIN = 2.5


@dataclass(frozen=True)
class Criterion:
    """`reached` is None where the results have nothing of it, as in the quick form."""

    aim: str
    ours: str
    reached: bool | None

    @property
    def word(self) -> str:
        return {True: "reached", False: "not reached", None: "not measured"}[self.reached]


def percent(number: float) -> str:
    """Of savings: enough places to see what is missing."""
    if 99.999 < number < 100:
        return "> 99.999 %"
    return f"{number:.3f} %" if number > 99 else f"{number:.2f} %"


def _as_large(runs: Runs, name: str) -> float | None:
    """Savings of the lab of `kept`, where as many bytes were in use as in the paper, within 1 %."""
    theirs = published.TABLE_2[name].original or 0
    for one in measured.of(runs, "kept"):
        row = one["result"]["rows"].get(name)
        if row and abs(row["original"] / 1024 - theirs) < 0.01 * theirs:
            return measured.savings(measured.packed(row))
    return None


def _savings(runs: Runs) -> Criterion:
    """Packed. What depends on the size of a workload is compared at the paper's, where that was run."""
    aim = "savings of table 2: at least the paper's in each row (ext3)"
    tables = measured.table_2(runs).get("ext3")
    if not tables:
        return Criterion(aim, "", None)
    less, said = [], []
    for name, row in published.TABLE_2.items():
        if row.savings is None:
            continue
        ours, as_large = measured.packed_savings_of(tables, name), _as_large(runs, name)
        if round(as_large or ours, 2) < row.savings:
            less.append(f"{name} {percent(as_large or ours)} of {row.savings} %")
        elif as_large:
            said.append(f"{name} {percent(as_large)} at the paper's size")
    return Criterion(aim, "; ".join(less + said) or "all rows", not less)


def _four_nines(runs: Runs, name: str, what: str) -> Criterion:
    tables = measured.table_2(runs)
    found = {fs: measured.packed_savings_of(table, name) for fs, table in tables.items()}
    said = ", ".join(f"{fs} {percent(value)}" for fs, value in found.items())
    return Criterion(f"savings of {what}: 99.99 %", said, min(found.values()) >= 99.99 if found else None)


def _figure_8(runs: Runs, size: float, backing: float, what: str) -> Criterion:
    said, good = [], []
    for fs, rows in measured.figure_8(runs).items():
        for row in rows:
            if abs(row["bytes"] / size - 1) < 0.05:
                said.append(f"{fs} {digits(row['store_used'] / GB)} GB")
                good.append(row["store_used"] <= backing)
    return Criterion(what, ", ".join(said), any(good) if said else None)


def _figure_9(runs: Runs) -> list[Criterion]:
    aims = "memory of figure 9: at most 10 MB (paper: 90)", "CPU of figure 9: at most 3 % (paper: 10 %)"
    ours = [measured.figure_9(one["result"]["rows"]) for one in measured.of(runs, "figure9")]
    if not ours:
        return [Criterion(aim, "", None) for aim in aims]
    memory, cpu = max(one["most"] for one in ours), max(one["cpu"] for one in ours)
    return [Criterion(aims[0], f"{digits(memory)} MB", memory <= 10),
            Criterion(aims[1], f"{digits(cpu)} %", cpu <= 3)]


def off_table_3(runs: Runs) -> list[float]:
    """By how many percent each of the twelve is off the paper's measured one."""
    return [100 * (rate / published.TABLE_3[what][0][disks - 1] - 1)
            for what, rates in measured.table_3(runs).items() for disks, rate in rates.items()]


def _table_3(runs: Runs) -> Criterion:
    found = off_table_3(runs)
    worst = max(found, key=abs, default=0.0)
    said = f"{len(found)} figures, at most {worst:+.1f} %"
    good = abs(worst) <= WITHIN if len(found) == 12 else None
    return Criterion(f"table 3: within {WITHIN} % of the measured", said, good)


def all_of(runs: Runs) -> list[Criterion]:
    return [
        _savings(runs),
        _four_nines(runs, "imp", "an image"),
        _four_nines(runs, "tar", "tar"),
        _figure_8(runs, published.FIGURE_8_GB * 2**30, 2**30,
                  "figure 8: an image of 800 GB on a backing device of 1 GB (paper: 10 GB)"),
        _figure_8(runs, 10 * 2**40, 8 * 2**30, "an image of 10 TB on a backing device of 8 GB"),
        *_figure_9(runs),
        _table_3(runs),
        Criterion("run times of figures 6 and 7: within 2.5 % of the measured",
                  "the paper does not say how many requests, files or bytes", None),
    ]
