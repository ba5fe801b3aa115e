# SPDX-License-Identifier: GPL-2.0
"""What shows in sums only: how a drive chooses among commands, and how much its write buffer takes.

The model serves what the drive was asked, with one value after another, until it does as the drive did.
"""

from __future__ import annotations

import bisect
import functools
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import mean

from .result import Draft
from .simdisk import SimDisk
from .probe import READ, Answer, Prober, Request, first_true
from .writes import Writes, burst

DEPTHS = (1, 2, 4, 8, 16, 32, 64)
WINDOWS = (1, 2, 4, 8, 16, 32, 64)
SMALL = (4, 8)
TELLING = (4, 8, 16, 32)  # depths at which the share shows
REQUESTS = 2000
BLOCK = 8  # sectors
NONE = 1000  # thousandths of the angle that a drive may know
IN_ORDER = 2  # so many outstanding leave nothing to choose from
DEEPEST = 128
ORDERED = 200  # requests that tell whether there is an order
PASSED = 1000  # that tell how often one is passed over
PASSES = 2  # as the model has it, where a drive is fair: model/host/window.c
OFTEN, SELDOM = 0.1, 0.005  # shares of requests: a drive that chooses, and what may be an accident
AGED = (16, 32, 64)  # depths at which commands wait longest
LATEST = 10
AGE_STEP = 1.2
AGE_LIMITS = tuple(round(4000 / AGE_STEP**n) for n in reversed(range(22)))  # ms
ALIKE = 0.001  # of squared logarithms: what two models differ by anyhow


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


def overtaken(answers: list[Answer]) -> list[int]:
    """For each request, how many that were issued before it were done after it."""
    ends: list[int] = []
    found = []
    for answer in answers:
        found.append(len(ends) - bisect.bisect_right(ends, answer.end))
        bisect.insort(ends, answer.end)
    return found


def passed_over(answers: list[Answer]) -> list[int]:
    """For each request, how many that were issued after it were done before it; the last one first."""
    ends: list[int] = []
    found = []
    for answer in reversed(answers):
        found.append(bisect.bisect_left(ends, answer.end))
        bisect.insort(ends, answer.end)
    return found


def _reached(numbers: list[int], share: float) -> int:
    """The largest number that so large a share of them reaches."""
    return sorted(numbers)[-max(round(share * len(numbers)), 1)]


def _count_unseen(probe: Prober) -> int:
    """Up to two commands more than a drive leaves out are served in order: one of them is under way."""

    def chooses(depth: int) -> bool:
        answers = probe.disk.deep(random_reads(probe, ORDERED), depth)
        return _reached(overtaken(answers), OFTEN) > 0

    deep = IN_ORDER
    while deep < DEEPEST and not chooses(2 * deep):
        deep *= 2
    if deep >= DEEPEST:
        return 0  # it does not choose at all: its window says so
    return first_true(deep, 2 * deep, chooses) - IN_ORDER - 1


def _count_fair(probe: Prober, unseen: int) -> int:
    """Among so many commands none is passed over more than PASSES times; 0: there is no such number.

    A drive that does not choose at all has none. One of those that are outstanding is under way.
    """

    def passes(depth: int) -> bool:
        answers = probe.disk.deep(random_reads(probe, PASSED), depth)
        return _reached(passed_over(answers), SELDOM) > PASSES

    deep = IN_ORDER + unseen + 1
    if passes(deep):
        return 0
    while deep < DEEPEST and not passes(2 * deep):
        deep *= 2
    return 0 if deep >= DEEPEST else first_true(deep, 2 * deep, passes) - 2


def _window(probe: Prober, unseen: int) -> int:
    """
    A command that is not in the drive's window cannot be chosen: the last one in it is the one that
    overtakes the most. 0: there is no end to be seen, or the host has an order of its own.
    """
    answers = probe.disk.deep(random_reads(probe, REQUESTS), DEEPEST)
    most = _reached(overtaken(answers), SELDOM)
    return most + 1 + unseen if most < DEEPEST - unseen - IN_ORDER - 1 else 0


def _late(answers: list[Answer]) -> float:
    """The mean of those that took longest."""
    return mean(sorted(answer.time for answer in answers)[-LATEST:])


def fit_choice(fitter: Fitter, probe: Prober) -> dict[int, float]:
    """ncq_depth, ncq_unseen, ncq_rotation and ncq_age_limit; returns the measured rates by depth."""
    jobs = {depth: random_reads(probe, REQUESTS) for depth in DEPTHS}
    answers = {depth: probe.disk.deep(requests, depth) for depth, requests in jobs.items()}
    measured = {depth: rate(found) for depth, found in answers.items()}
    unseen = _count_unseen(probe)
    fitter.draft.set("ncq_unseen", unseen, "measured", "up to so many more than two are served in order")
    fair = _count_fair(probe, unseen)
    fitter.draft.set("ncq_fair", fair, "measured", f"of so many none was overtaken by over {PASSES}")

    @functools.cache
    def off(window: int, share: int, depth: int) -> float:
        options = f"ncq_depth={window}", f"ncq_rotation={share / 1000}"
        return math.log(fitter.rate(depth, jobs[depth], *options) / measured[depth]) ** 2

    def share_by(window: int, depths: tuple[int, ...]) -> int:
        return least(0, NONE, lambda share: sum(off(window, share, depth) for depth in depths))

    window = _window(probe, unseen)
    if window:
        fitter.draft.set("ncq_depth", window, "measured", "the most that one command overtakes")
    else:
        # At small depths the window does not matter. With the share known, it shows at large ones.
        share = share_by(max(WINDOWS), SMALL)
        window = min(WINDOWS, key=lambda window: sum(off(window, share, depth) for depth in DEPTHS))
        fitter.draft.set("ncq_depth", window, "fitted", "random reads at depths 1 to 64")
    # What waits too long is served in order, at large depths: there the share shows less.
    share = share_by(window, SMALL)
    fitter.draft.set("ncq_rotation", f"{share / 1000:.3f}", "fitted", "random reads at depths 4 to 8")
    if _fit_age_limit(fitter, jobs, {depth: _late(answers[depth]) for depth in AGED}):
        off.cache_clear()
    share = share_by(window, TELLING)
    fitter.draft.set("ncq_rotation", f"{share / 1000:.3f}", "fitted", "random reads at depths 4 to 32")
    return measured


def _fit_age_limit(fitter: Fitter, jobs: dict[int, list[Request]], late: dict[int, float]) -> bool:
    """By the slowest reads. False: none waited for so long that the limit shows."""

    @functools.cache
    def off(limit: int) -> float:
        found = 0.0
        for depth in AGED:
            with fitter.model(f"ncq_age_limit={limit}ms") as model:
                found += math.log(_late(model.deep(jobs[depth], depth)) / late[depth]) ** 2
        return found

    best = min(AGE_LIMITS, key=off)
    if off(AGE_LIMITS[-1]) < 2 * off(best) + ALIKE:
        fitter.draft.set("ncq_age_limit", "2 s", "assumed", "no read waited for so long")
        return False
    best = least(round(best / AGE_STEP), round(best * AGE_STEP), off)
    fitter.draft.set("ncq_age_limit", f"{best} ms", "fitted", "the slowest reads at depths 16 to 64")
    return True


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
