# SPDX-License-Identifier: GPL-2.0
"""Percentiles by nearest rank, of whatever lies in order. tools/sim/rank.c has the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Value = TypeVar("Value")


def at_rank(ordered: Sequence[Value], thousandths: int) -> Value:
    """The least that so many thousandths of them do not pass. There is at least one."""
    return ordered[max(-(-len(ordered) * thousandths // 1000), 1) - 1]
