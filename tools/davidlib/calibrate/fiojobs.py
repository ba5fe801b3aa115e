# SPDX-License-Identifier: GPL-2.0
"""fio's results (--output-format=json): what each job asked of a disk, and what came of it."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..sizes import parse_size
from ..util import UserError
from .probe import FLUSH, READ, WRITE, Request

COUNT = 1500
RANDOM = {"randread": 0.0, "randwrite": 1.0, "randrw": 0.5}
SEQUENTIAL = {"read": 0.0, "write": 1.0}


@dataclass
class FioJob:
    name: str
    random: bool
    writes: float  # share of the requests
    sectors: int
    depth: int
    span: int  # bytes; 0: the whole disk
    fsync: int  # after so many writes; 0: never
    rate: float  # requests a second

    @property
    def kind(self) -> str:
        order = "random" if self.random else "sequential"
        what = "reads" if not self.writes else "writes" if self.writes == 1 else "reads and writes"
        return f"{order} {what} of {self.sectors // 2} KiB, depth {self.depth}"

    def requests(self, disk_sectors: int) -> list[Request]:
        """As many like those of the job."""
        rnd = random.Random(self.name)
        span = min(self.span // 512 or disk_sectors, disk_sectors) // self.sectors
        found: list[Request] = []
        for n in range(COUNT):
            at = rnd.randrange(span) if self.random else n % span
            op = WRITE if rnd.random() < self.writes else READ
            found.append(Request(op, at * self.sectors, self.sectors))
            if self.fsync and (n + 1) % self.fsync == 0:
                found.append(Request(FLUSH, 0, 0))
        return found


def _size(text: str) -> int:
    """As fio has it: 4k is 4096."""
    return parse_size(str(text).split(",")[0].strip())


def _job(job: dict[str, Any], common: dict[str, Any]) -> FioJob:
    options = common | job.get("job options", {})
    order = str(options.get("rw", options.get("readwrite", "read"))).split(":")[0]
    if order not in RANDOM and order not in SEQUENTIAL:
        raise ValueError(f"rw={order} is none of {', '.join([*RANDOM, *SEQUENTIAL])}")
    if job.get("error"):
        raise ValueError(f"it ended with error {job['error']}")
    if order == "randrw" and (mix := options.get("rwmixread")) is not None:
        writes = 1 - int(mix) / 100
    else:
        writes = (RANDOM | SEQUENTIAL)[order]
    size = str(options.get("size", "0"))
    span = _size(size) if size[:1] in "123456789" and "%" not in size else 0
    sectors = _size(options.get("bs", "4k")) // 512
    rate = sum(float(job[way]["iops"]) for way in ("read", "write"))
    if rate <= 0:
        raise ValueError("it did no requests")
    depth = int(options.get("iodepth", 1)) * int(options.get("numjobs", 1))
    if order in SEQUENTIAL and int(options.get("numjobs", 1)) > 1:
        raise ValueError("several sequential jobs at a time: their places are not told")
    return FioJob(str(job.get("jobname", order)), order in RANDOM, writes, sectors, depth, span,
                  int(options.get("fsync", 0)), rate)


def load(path: str) -> list[FioJob]:
    try:
        text = Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--from {path}: {getattr(error, 'strerror', '') or 'no text'}") from None
    try:
        # fio writes its warnings before the object.
        found, _ = json.JSONDecoder().raw_decode(text[text.index("{"):])
        jobs = found["jobs"]
    except (ValueError, KeyError, TypeError):
        raise UserError(f"--from {path}: no results of fio; call it with --output-format=json") from None
    result = []
    for job in jobs:
        try:
            result.append(_job(job, found.get("global options", {})))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            name = job.get("jobname", "?") if isinstance(job, dict) else "?"
            raise UserError(f"--from {path}: job {name}: {error}; leave it out of the file") from None
    if not result:
        raise UserError(f"--from {path}: there are no jobs in it")
    return result
