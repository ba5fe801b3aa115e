# SPDX-License-Identifier: GPL-2.0
"""What shows in sums only: how a drive chooses among commands, and how much its write buffer takes.

The model serves what the drive was asked, with one value after another, until it does as the drive did.
"""

from __future__ import annotations

import functools
import math
import tempfile
from collections.abc import Callable
from pathlib import Path

from .result import Draft
from .simdisk import SimDisk
from .timed import READ, Answer, Prober, Request
from .writes import Writes, burst

DEPTHS = (1, 2, 4, 8, 16, 32, 64)
WINDOWS = (1, 2, 4, 8, 16, 32, 64)
SMALL = (4, 8)
TELLING = (4, 8, 16, 32)  # depths at which the share shows
REQUESTS = 2000
BLOCK = 8  # sectors
NONE = 1000  # thousandths of the angle that a drive may know


def rate(answers: list[Answer]) -> float:
    """Requests a second."""
    span = max(a.end for a in answers) - min(a.start for a in answers)
    return len(answers) * 1e9 / span


def random_reads(probe: Prober, count: int, sectors: int = BLOCK) -> list[Request]:
    return [Request(READ, probe.place(sectors) // sectors * sectors, sectors) for _ in range(count)]


class Fitter:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._file = tempfile.NamedTemporaryFile("w", suffix=".profile")

    def __enter__(self) -> Fitter:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def model(self, *options: str) -> SimDisk:
        Path(self._file.name).write_text(self.draft.text())
        return SimDisk(self._file.name, options)

    def rate(self, depth: int, requests: list[Request], *options: str) -> float:
        with self.model(*options) as model:
            return rate(model.deep(requests, depth))


def least(low: int, high: int, cost: Callable[[int], float]) -> int:
    """Where COST, which falls and then rises, is least, to a hundredth of the first interval or so."""
    close = max((high - low) // 100, 1)
    while high - low > close:
        step = max((high - low) // 6, 1)
        best = min(range(low, high + 1, step), key=cost)
        low, high = max(best - step // 2, low), min(best + step // 2, high)
    return min((low, (low + high) // 2, high), key=cost)


def fit_choice(fitter: Fitter, probe: Prober) -> dict[int, float]:
    """ncq_depth and ncq_rotation; returns the measured rates by depth."""
    jobs = {depth: random_reads(probe, REQUESTS) for depth in DEPTHS}
    measured = {depth: rate(probe.disk.deep(requests, depth)) for depth, requests in jobs.items()}

    @functools.cache
    def off(window: int, share: int, depth: int) -> float:
        options = f"ncq_depth={window}", f"ncq_rotation={share / 1000}"
        return math.log(fitter.rate(depth, jobs[depth], *options) / measured[depth]) ** 2

    def share_by(window: int, depths: tuple[int, ...]) -> int:
        return least(0, NONE, lambda share: sum(off(window, share, depth) for depth in depths))

    # At small depths the window does not matter. With the share known, the window shows at large ones.
    share = share_by(max(WINDOWS), SMALL)
    window = min(WINDOWS, key=lambda window: sum(off(window, share, depth) for depth in DEPTHS))
    share = share_by(window, TELLING)
    fitter.draft.set("ncq_depth", window, "fitted", "random reads at depths 1 to 64")
    fitter.draft.set("ncq_rotation", f"{share / 1000:.3f}", "fitted", "the same")
    return measured


def _fit_room(fitter: Fitter, writes: Writes, name: str, unit: str, share: float, most: int) -> None:
    requests, fits = writes.bursts[name]
    if fits is None:
        return

    def model_fits(value: int) -> int:
        with fitter.model(f"{name}={value}{unit}") as model:
            found = burst(Prober(model, 2), requests, share)[1]
        return len(requests) if found is None else found

    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if model_fits(middle) >= fits else (middle, high)
    fitter.draft.set(name, f"{high}{unit}", "fitted", f"{fits} writes fit before one had to wait")


def fit_writes(fitter: Fitter, writes: Writes) -> None:
    if not writes.bursts:
        return
    for _ in range(2):  # each a little by the other
        _fit_room(fitter, writes, "write_buffer", "KiB", 0.3, 1 << 20)
        _fit_room(fitter, writes, "write_segments", "", 4, 1 << 14)
