# SPDX-License-Identifier: GPL-2.0
"""What a question may ask of its runs: the metrics, and how a page calls them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    name: str
    unit: str
    more_is_better: bool

    @property
    def label(self) -> str:
        """Of an axis or a column."""
        return self.name if self.unit in ("1/s", "s") else f"{self.name}, {self.unit}"


METRICS = {
    "operations": Metric("operations a second", "1/s", True),
    "seconds": Metric("seconds", "s", False),
    "megabytes": Metric("megabytes a second", "MB/s", True),
    "mean": Metric("mean time of an operation", "ms", False),
    "p99": Metric("99th percentile of the time of an operation", "ms", False),
}
