# SPDX-License-Identifier: GPL-2.0
"""Random lives (trials.py) find what is planted: with DAVID_PLANT=1 only, and part of `make powercut`."""

from __future__ import annotations

import trials
from cases import case
from helpers.guest import Failed
from helpers.planted import must_fail, planted

COUNT, EPISODES = 60, 2


@case(complaints=".", planted=True)
def a_planted_bug_is_found_by_random_lives() -> None:
    """Pages that nobody owns are data: then a mirror loses what it copies."""
    for name in ("ext4-mirror", "xfs-mirror"):
        with planted("unowned"), must_fail():
            references = trials.References(None, COUNT, EPISODES)
            found = trials.one(name, "auto", 1, COUNT, EPISODES, references)
            if found.error:
                raise Failed(f"{name}: {found.error}")
