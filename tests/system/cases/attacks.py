# SPDX-License-Identifier: GPL-2.0
"""Composed attacks (attackrun.py) find what is planted: with DAVID_PLANT=1 only. attack.toml lists what is
planted, in how many lives it has to be found, and what of the plan is held.
"""

from __future__ import annotations

from typing import Any

from cases import case
from helpers.attacklife import judged
from helpers.attackplan import compose, table
from helpers.guest import Failed
from helpers.planted import planted


def is_found(row: dict[str, Any]) -> None:
    with planted(row["plant"]):
        for seed in range(1, row["lives"] + 1):
            found = judged(compose(seed, row["hold"]))
            if found.wrong:
                print(f"found: {row['loss']}: seed {seed}: {found.wrong[:300]}", flush=True)
                return
    raise Failed(f"planted and not found in {row['lives']} lives: {row['loss']}")


def cases_of(row: dict[str, Any]) -> None:
    def one() -> None:
        is_found(row)

    one.__name__ = f"a_planted_{row['plant']}_is_found"
    one.__module__ = __name__
    globals()[one.__name__] = case(one, planted=True, complaints=".")


for row in table()["planted"]:
    cases_of(row)
