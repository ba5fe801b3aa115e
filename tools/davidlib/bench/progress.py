# SPDX-License-Identifier: GPL-2.0
"""What comes in of a sweep is kept, and how far it is is said."""

from __future__ import annotations

import time
from typing import Any

from ..util import say
from .results import Results
from .runs import Run


class Progress:
    """Keeps what comes in, and says how far it is."""

    def __init__(self, results: Results, total: int) -> None:
        self.results, self.total = results, total
        self.good = 0
        self.failed: list[str] = []
        self.start = time.monotonic()

    def seconds(self) -> float:
        return time.monotonic() - self.start

    def done(self, run: Run, came: dict[str, Any]) -> None:
        if "text" in came:
            self.results.add(run, came["text"])
            self.good += 1
        else:
            self.failed.append(f"{run.id}: {came['error']}")
            say(f"bench: run failed: {self.failed[-1]}")
        so_far = self.good + len(self.failed)
        left = self.seconds() / so_far * (self.total - so_far)
        say(f"bench: {so_far} of {self.total} runs, {self.seconds():.0f} s, about {left:.0f} s left")


def run_all(todo: list[Run], progress: Progress, scheduler: str, workers: int) -> None:
    # Not before it is needed: it is not in Debian's Python.
    from . import sweep

    sweep.sweep(todo, scheduler, workers, progress.done)
