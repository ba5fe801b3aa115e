# SPDX-License-Identifier: GPL-2.0
"""What the model makes of fio's jobs, and the factor by which a value of a profile comes nearest to one."""

from __future__ import annotations

import json
import math
import re
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..util import UserError
from .fiojobs import FioJob
from .result import GIVEN, Draft
from .simdisk import program

CLOSE = 0.01  # of the rate: what two models differ by anyhow
STEPS = 14  # of a search
LEAST_STEPS = 5  # of one for the least change
BURST = 40_000  # random writes to an SLC cache: more than a write buffer takes, and less than fills the cache
FILLINGS = 4  # of a write buffer, at least, are counted
MANY = 10_000  # requests that tell the longest waits
# As david-sim bench has them
WAITS = {1.0: "p1_us", 50.0: "p50_us", 90.0: "p90_us", 99.0: "p99_us", 99.9: "p999_us"}


def value(draft: Draft, name: str) -> str:
    return next((line.value for line in draft.lines if line.name == name), "")


def is_ssd(draft: Draft) -> bool:
    return value(draft, "kind") == "ssd"


def _counted(draft: Draft, job: FioJob) -> str:
    """Enough requests for a rate; of writes only those behind a write buffer that is full."""
    count = 6000 if is_ssd(draft) else 2000
    if job.burst:
        count = BURST if job.random else count
        return f" count={count} warm={count // 4}"
    count = max(200, count * 8 // max(job.sectors, 8)) if job.random else count
    if is_ssd(draft) and job.writes:
        # While an SSD collects its buffer fills, and then it stops: fewer requests are of one or the other.
        count = max(count, FILLINGS * _sectors_of(draft, "write_buffer") // job.sectors)
    return f" count={count}" + (" steady" if job.writes else f" warm={count // 10}")


def _sectors_of(draft: Draft, name: str) -> int:
    return int(re.sub(r"\D.*", "", value(draft, name)) or 0)


def _sectors(draft: Draft) -> int:
    return _sectors_of(draft, "capacity")


def written(draft: Draft) -> bool:
    """Has the user said how the drive had been written?"""
    return any(line.name == "precondition" and line.source == GIVEN for line in draft.lines)


def _state(draft: Draft) -> list[str]:
    """What is read of flash was written before; fio does not say how."""
    unknown = is_ssd(draft) and value(draft, "precondition") == "fresh" and not written(draft)
    return ["precondition=sequential"] if unknown else []


class Model:
    """One profile file for many tries."""

    def __init__(self) -> None:
        self._file = tempfile.NamedTemporaryFile("w", suffix=".profile")

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _bench(self, draft: Draft, words: str, options: tuple[str, ...]) -> dict[str, Any]:
        """What david-sim bench says of a job."""
        Path(self._file.name).write_text(draft.text())
        line = [program(), "bench", "--profile", self._file.name, "--json", "--no-doubts", "--job", words]
        # A job's own word is in place of the draft's.
        each = {option.partition("=")[0]: option for option in (*_state(draft), *options)}
        line += [word for option in each.values() for word in ("--option", option)]
        done = subprocess.run(line, capture_output=True, text=True)
        if done.returncode:
            raise UserError(f"{words}: {done.stderr.strip() or 'david-sim bench failed'}")
        found: dict[str, Any] = json.loads(done.stdout)["jobs"][0]
        return found

    def parts(self, draft: Draft, words: str, *options: str) -> list[float]:
        """Requests a second of each part of a job of david-sim bench."""
        found = self._bench(draft, words, options)["parts"]
        return [float(part["per_s"]) for one in found for part in one.values()]

    def rate(self, draft: Draft, job: FioJob, *options: str) -> float:
        """Requests a second."""
        return sum(self.parts(draft, job.words(_sectors(draft)) + _counted(draft, job), *options))

    def mean_seek(self, draft: Draft) -> float:
        """us, between two random places of the disk."""
        return float(self._bench(draft, "read random count=10 warm=0", ())["mean_seek_us"])

    def wait(self, draft: Draft, job: FioJob, percent: float, *options: str) -> float:
        """us that so many percent of random reads take at most, of WAITS."""
        words = job.words(_sectors(draft)) + f" count={MANY} warm={MANY // 10}"
        return float(self._bench(draft, words, options)[WAITS[percent]])


@dataclass(frozen=True)
class Tried:
    factor: float
    off: float  # logarithm of the modelled rate by the wanted one


def solve(rate_of: Callable[[float], float], wanted: float, low: float, high: float) -> Tried:
    """The best of the factors that were tried: a rate that rises with the factor, or falls, is met.

    LOW and HIGH are above 0. Where the rate does not depend on the factor, that is 1. A rate that something
    else bounds is not met: of the factors that come as near as any, the one that changes least is taken.
    Otherwise a value that decides nothing would go to its limit, and be of no drive.
    """
    tried: list[Tried] = []

    def off(factor: float) -> float:
        tried.append(Tried(factor, math.log(rate_of(factor) / wanted)))
        return tried[-1].off

    if abs(off(1)) > CLOSE:
        rises = off(high) > off(low)
        for _ in range(STEPS):
            middle = math.sqrt(low * high)
            now = off(middle)
            if abs(now) < CLOSE / 10:
                break
            low, high = (middle, high) if (now < 0) == rises else (low, middle)
    best = min(tried, key=lambda one: abs(one.off))
    if abs(best.off) <= CLOSE:
        return best
    near = abs(best.off) + CLOSE
    least = min((one for one in tried if abs(one.off) <= near), key=lambda one: abs(math.log(one.factor)))
    far = 1.0
    for _ in range(LEAST_STEPS if least.factor != 1 else 0):
        middle = math.sqrt(far * least.factor)
        if abs(off(middle)) <= near:
            least = tried[-1]
        else:
            far = middle
    return least
