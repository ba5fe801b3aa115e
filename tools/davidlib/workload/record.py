# SPDX-License-Identifier: GPL-2.0
"""What each operation of a workload took, by its kind, by the machine's own clock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Of the distribution of a kind's times, in thousandths: what a report needs to draw it.
QUANTILES = (0, *range(10, 990, 10), 990, 992, 994, 996, 998, 999, 1000)


class Record:
    """One process's operations, or several processes' together."""

    def __init__(self) -> None:
        self.ns: dict[str, list[int]] = {}
        self.read = self.written = 0

    @contextmanager
    def timed(self, kind: str) -> Iterator[None]:
        start = time.monotonic_ns()
        yield
        self.ns.setdefault(kind, []).append(time.monotonic_ns() - start)

    def add(self, kind: str, count: int, ns: int) -> None:
        """Operations that were done by one program: only their mean is known."""
        self.ns.setdefault(kind, []).extend([ns // max(count, 1)] * count)

    def operations(self) -> int:
        return sum(map(len, self.ns.values()))

    def as_dict(self) -> dict[str, Any]:
        return {"ns": self.ns, "read": self.read, "written": self.written}

    def join(self, other: dict[str, Any]) -> None:
        """Take what another process has recorded, as as_dict() gives it."""
        for kind, times in other["ns"].items():
            self.ns.setdefault(kind, []).extend(times)
        self.read += other["read"]
        self.written += other["written"]


def quantiles(times: list[int]) -> list[int]:
    """The times that these thousandths of the operations did not exceed."""
    ordered = sorted(times)
    last = len(ordered) - 1
    return [ordered[-(-last * share // 1000)] for share in QUANTILES]


def summary(record: Record) -> dict[str, Any]:
    """By kind of operation: how many, their mean, and QUANTILES in nanoseconds."""
    return {
        kind: {"count": len(times), "mean_ns": sum(times) // len(times), "quantiles_ns": quantiles(times)}
        for kind, times in sorted(record.ns.items())
    }
