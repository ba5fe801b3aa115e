# SPDX-License-Identifier: GPL-2.0
"""What each operation of a workload took, by its kind, by the machine's own clock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..quantile import at_rank

# Of the distribution of a kind's times, in thousandths: what a report needs to draw it.
QUANTILES = (0, *range(10, 990, 10), 990, 992, 994, 996, 998, 999, 1000)


class Record:
    """One process's operations, or several processes' together."""

    def __init__(self) -> None:
        self.ns: dict[str, list[int]] = {}
        self.told: dict[str, dict[str, Any]] = {}
        self.read = self.written = 0
        self.rest = 0  # of the last pages of files, or of reads at random: a disk is asked for it, too
        self.in_order = 0  # requests that the disk got for reads in order, at most, beside some at random
        self.least_read = 0  # bytes, by the one of several parts of the job that read the fewest
        self.ends: list[int] = []  # of operations, where a rate is asked for; ns
        # Of a program that says how long it was at its operations, and in which steps; 0: all the time.
        self.own_ns = self.grain_ns = 0

    @contextmanager
    def timed(self, kind: str) -> Iterator[None]:
        start = time.monotonic_ns()
        yield
        end = time.monotonic_ns()
        self.ns.setdefault(kind, []).append(end - start)
        self.ends.append(end)

    def tell(self, kind: str, count: int, ns: int | None, known: dict[int, int] | None = None) -> None:
        """Operations that a program sums up: how many, their times' sum, and some quantiles by thousandths.

        What the program does not tell is not made up: a sum may be None, and quantiles are mostly missing.
        """
        quantiles = [(known or {}).get(share) for share in QUANTILES]
        mean = None if ns is None else ns // max(count, 1)
        self.told[kind] = {"count": count, "mean_ns": mean, "quantiles_ns": quantiles}

    def operations(self) -> int:
        return sum(map(len, self.ns.values())) + sum(told["count"] for told in self.told.values())

    def as_dict(self) -> dict[str, Any]:
        return {"ns": self.ns, "ends": self.ends, "read": self.read, "written": self.written,
                "rest": self.rest}

    def join(self, other: dict[str, Any]) -> None:
        """Take what another process has recorded, as as_dict() gives it."""
        for kind, times in other["ns"].items():
            self.ns.setdefault(kind, []).extend(times)
        self.ends += other["ends"]
        self.read += other["read"]
        self.written += other["written"]
        self.rest += other["rest"]


LEAST_GRAINS = 100


def too_short(record: Record) -> str:
    """Why the program's own count of the time makes no rate of 1 %; nothing: it does."""
    if record.own_ns >= LEAST_GRAINS * record.grain_ns:
        return ""
    return (f"the operations took {record.own_ns / 1e6:.0f} ms, and the program counts whole milliseconds: "
            "ask for more of them")


def quantiles(times: list[int]) -> list[int]:
    """The times that these thousandths of the operations did not exceed."""
    ordered = sorted(times)
    return [at_rank(ordered, share) for share in QUANTILES]


def summary(record: Record) -> dict[str, Any]:
    """By kind of operation: how many, their mean, and QUANTILES in nanoseconds; None: not known."""
    timed = {
        kind: {"count": len(times), "mean_ns": sum(times) // len(times), "quantiles_ns": quantiles(times)}
        for kind, times in record.ns.items()
    }
    return dict(sorted((timed | record.told).items()))
