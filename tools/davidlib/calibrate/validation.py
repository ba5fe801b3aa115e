# SPDX-License-Identifier: GPL-2.0
"""The profile beside the drive, on jobs that nothing was fitted to."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from ..pages.tables import Cell, Marks, Table
from ..quantile import at_rank
from .simdisk import SimDisk
from .probe import FLUSH, LARGEST, READ, SECOND, WRITE, Answer, Request, TimedDisk

REQUESTS = 500
SHARES = (("p50", 500), ("p90", 900), ("p99", 990), ("p99.9", 999))  # thousandths


@dataclass
class Job:
    name: str
    depth: int
    requests: list[Request]


@dataclass
class Row:
    name: str
    drive: dict[str, float]  # ms, and requests a second
    model: dict[str, float]

    def error(self, figure: str) -> float:
        """Percent."""
        return 100 * (self.model[figure] / self.drive[figure] - 1) if self.drive[figure] else 0.0


def jobs(disk: TimedDisk, write: bool, seed: int = 7331) -> list[Job]:
    rnd = random.Random(seed)

    def anywhere(op: int, sectors: int) -> Request:
        return Request(op, rnd.randrange(disk.sectors // sectors - 1) * sectors, sectors)

    def stream(op: int, start: int, sectors: int = LARGEST) -> list[Request]:
        return [Request(op, start + n * sectors, sectors) for n in range(REQUESTS)]

    def near(share: int) -> list[Request]:
        span = disk.sectors // share
        start = rnd.randrange(disk.sectors - span) // 8 * 8
        return [Request(READ, start + rnd.randrange(span // 8 - 1) * 8, 8) for _ in range(REQUESTS)]

    inner = (disk.sectors - (REQUESTS + 1) * LARGEST) // LARGEST * LARGEST
    outer, other = (disk.sectors // n // LARGEST * LARGEST for n in (9, 3))
    found = [Job(f"random reads of 4 KiB, depth {depth}", depth, [anywhere(READ, 8) for _ in range(REQUESTS)])
             for depth in (1, 4, 12, 32)]
    found += [
        Job("random reads of 64 KiB", 1, [anywhere(READ, 128) for _ in range(REQUESTS)]),
        Job("random reads of 4 KiB in 1 % of the disk", 1, near(100)),
        Job("sequential reads of 128 KiB, outside", 1, stream(READ, outer)),
        Job("sequential reads of 128 KiB, inside", 1, stream(READ, inner)),
        Job("two sequential readers", 2,
            [r for pair in zip(stream(READ, outer), stream(READ, other), strict=True) for r in pair]),
    ]
    if write:
        mixed = [anywhere(rnd.choice((READ, READ, WRITE)), 8) for _ in range(REQUESTS)]
        flushed = [r for n in range(REQUESTS // 8)
                   for r in [*(anywhere(WRITE, 8) for _ in range(8)), Request(FLUSH, 0, 0)]]
        found += [Job("random writes of 4 KiB", 1, [anywhere(WRITE, 8) for _ in range(2 * REQUESTS)]),
                  Job("reads and writes of 4 KiB, 2 to 1, depth 4", 4, mixed),
                  Job("a flush after 8 random writes", 1, flushed),
                  Job("sequential writes of 128 KiB", 1, stream(WRITE, other))]
    return found


def _figures(answers: list[Answer]) -> dict[str, float]:
    times = sorted(answer.time / 1e6 for answer in answers)
    span = max(a.end for a in answers) - min(a.start for a in answers)
    found = {"rate": len(answers) * 1e9 / span, "mean": sum(times) / len(times)}
    return found | {name: at_rank(times, share) for name, share in SHARES}


def _run(disk: TimedDisk, job: Job, write: bool) -> dict[str, float]:
    """From a quiet drive on."""
    first = Request(FLUSH, 0, 0) if write else Request(READ, 0, 8)
    last = disk.many([first])[-1].end
    disk.many([Request(READ, disk.sectors // 2 // 8 * 8, 8)], last + SECOND)
    return _figures(disk.deep(job.requests, job.depth))


def compare(disk: TimedDisk, profile: Path, write: bool) -> list[Row]:
    with SimDisk(profile) as model:
        return [Row(job.name, _run(disk, job, write), _run(model, job, write)) for job in jobs(disk, write)]


TITLE = "The model beside the drive, on jobs that nothing was fitted to"


def page(rows: list[Row]) -> Table:
    """The same as table(), for a page."""
    names = ["rate", "mean", *(name for name, _ in SHARES)]
    lines: list[list[Cell]] = [
        [row.name, row.drive["rate"], row.model["rate"], *(row.error(name) for name in names)]
        for row in rows]
    columns = ["job", "drive, 1/s", "model, 1/s", *(f"{name}, %" for name in names)]
    return Table(TITLE, columns, lines, ["In percent: how much more the model has than the drive."],
                 marks=Marks(tuple(range(3, len(columns))), "of the drive's figure, less 100, %"))


def table(rows: list[Row]) -> str:
    """Errors of the model in percent of the drive's figure."""
    names = ["rate", "mean", *(name for name, _ in SHARES)]
    lines = [f"{'on jobs that nothing was fitted to':<44}{'drive/s':>9}{'model/s':>9}"
             + "".join(f"{name + ' %':>9}" for name in names)]
    for row in rows:
        errors = "".join(f"{row.error(name):>9.1f}" for name in names)
        lines.append(f"{row.name:<44}{row.drive['rate']:>9.1f}{row.model['rate']:>9.1f}{errors}")
    return "\n".join(lines)
