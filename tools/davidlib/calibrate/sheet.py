# SPDX-License-Identifier: GPL-2.0
"""A drive's data sheet: its figures as jobs, and what no drive can be.

A figure that contradicts another one, or what turns and what a link carries, is refused: no profile would
give it back, and the nearest one would be of no drive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..sizes import SECTOR
from ..util import UserError
from .fiojobs import FioJob

SMALL, LARGE = 8, 256  # sectors: of requests whose number, and whose rate, a sheet gives
LARGE_DEPTH = 32  # at which it gives the rate of an SSD
INNER = 1 << 30  # bytes
# Bytes a second of the wire: 8b/10b of Serial ATA and SAS, 128b/130b of PCIe. No drive passes on more.
LINKS = {
    "sata-1.5": 150e6, "sata-3": 300e6, "sata-6": 600e6, "sas-3": 300e6, "sas-6": 600e6, "sas-12": 1200e6,
    "sas-24": 2400e6, "pcie-3x2": 1.97e9, "pcie-3x4": 3.94e9, "pcie-4x4": 7.88e9, "pcie-5x4": 15.75e9,
}  # fmt: skip
FLASH = {"slc": 1, "mlc": 2, "tlc": 3, "qlc": 4}  # bits a cell
AGREES = 0.02  # of two figures that a sheet rounds


class OfSpan(FioJob):
    """At the inner end of a disk."""

    def words(self, disk_sectors: int) -> str:
        return re.sub(r"span=\d+", f"at=inner span={INNER}", super().words(disk_sectors))


@dataclass
class Figure:
    """One of the sheet's, as a job; `options` are of the drive's state before it."""

    option: str
    job: FioJob
    options: tuple[str, ...] = ()


@dataclass
class Sheet:
    """Rates in bytes a second, times in seconds, requests a second by depth. 0: the sheet does not say."""

    ssd: bool
    link: str = ""
    rpm: float = 0
    rates: dict[str, float] = field(default_factory=dict)  # read, write, inner
    iops: dict[str, dict[int, float]] = field(default_factory=lambda: {"read": {}, "write": {}})
    latency: dict[str, float] = field(default_factory=dict)  # read, write
    seeks: dict[str, float] = field(default_factory=dict)  # average, write, track, full
    synced: float = 0
    steady: bool = False
    burst: bool = False  # its drive has an SLC cache: rates of writes are those of a cache with room

    def figures(self) -> list[Figure]:
        """What the model can be asked for, in the order in which one needs the other."""
        found = []
        depth = LARGE_DEPTH if self.ssd else 1
        for way, writes in (("read", 0.0), ("write", 1.0)):
            if rate := self.rates.get(way):
                name = f"--{way}-rate"
                many = rate / LARGE / SECTOR
                job = FioJob(name, False, writes, LARGE, depth, 0, 0, many)
                job.burst = self.burst and writes > 0
                found.append(Figure(name, job))
        if rate := self.rates.get("inner"):
            inner = OfSpan("--inner-rate", False, 0.0, LARGE, 1, 0, 0, rate / LARGE / SECTOR)
            found.append(Figure("--inner-rate", inner))
        for way, writes in (("read", 0.0), ("write", 1.0)):
            if took := self.latency.get(way):
                name = f"--{way}-latency"
                alone = FioJob(name, True, writes, SMALL, 1, 0, 0, 1 / took)
                alone.burst = self.burst and writes > 0
                found.append(Figure(name, alone))
            for deep, count in self.iops[way].items():
                job = FioJob(f"--{way}-iops", True, writes, SMALL, deep, 0, 0, count)
                worn = ("precondition=random",) if writes and self.steady else ()
                job.burst = self.burst and writes > 0 and not worn
                found.append(Figure(f"--{way}-iops {count:g}@{deep}", job, worn))
        if self.synced:
            found.append(Figure("--sync-iops", FioJob("--sync-iops", True, 1.0, SMALL, 1, 0, 1, self.synced)))
        return found


def _rates(sheet: Sheet) -> Iterator[str]:
    read, write, inner = (sheet.rates.get(name, 0) for name in ("read", "write", "inner"))
    if inner and read and inner > read:
        yield (f"--inner-rate {inner / 1e6:g} MB/s is more than --read-rate {read / 1e6:g} MB/s: inner "
               "tracks are shorter, so the two are mixed up")
    link = LINKS.get(sheet.link, 0)
    for name, rate in (("--read-rate", read), ("--write-rate", write)):
        if link and rate > link:
            yield f"{name} {rate / 1e6:g} MB/s is more than {sheet.link} carries, {link / 1e6:g} MB/s"
    for way, counts in sheet.iops.items():
        for depth, count in counts.items():
            carried = count * SMALL * SECTOR
            name = f"--{way}-iops {count:g}@{depth}"
            if link and carried > link:
                yield (f"{name} of 4 KiB are {carried / 1e6:.4g} MB/s, more than {sheet.link} carries, "
                       f"{link / 1e6:g} MB/s")
            if (rate := sheet.rates.get(way, 0)) and carried > rate * (1 + AGREES):
                yield (f"{name} of 4 KiB are {carried / 1e6:.4g} MB/s, more than --{way}-rate "
                       f"{rate / 1e6:g} MB/s: nothing is faster at random than in order")


def _depths(sheet: Sheet) -> Iterator[str]:
    for way, counts in sheet.iops.items():
        told = sorted(counts.items())
        for (shallow, few), (deep, many) in zip(told, told[1:], strict=False):
            if many < few * (1 - AGREES):
                yield f"--{way}-iops {many:g}@{deep} is less than {few:g}@{shallow}: more depth never costs"
            if many > few * deep / shallow * (1 + AGREES):
                yield (f"--{way}-iops {many:g}@{deep} is more than {deep / shallow:g} times {few:g}@{shallow}"
                       ": no request takes less time among others")
        if took := sheet.latency.get(way):
            for depth, count in told:
                if count > depth / took * (1 + AGREES):
                    yield (f"--{way}-iops {count:g}@{depth} needs each done in {1e6 * depth / count:.4g} us, "
                           f"and --{way}-latency is {1e6 * took:.4g} us")
    if sheet.synced and (most := max(sheet.iops["write"].values(), default=0)) and sheet.synced > most:
        yield f"--sync-iops {sheet.synced:g} is more than --write-iops {most:g}: a flush takes no time away"


def _turning(sheet: Sheet) -> Iterator[str]:
    average, write, track, full = (sheet.seeks.get(name, 0) for name in ("average", "write", "track", "full"))
    if average and write and write < average:
        yield (f"--write-seek {1e3 * write:g} ms is less than --seek {1e3 * average:g} ms: a write settles "
               "longer")
    for shorter, longer, words in ((track, average, "--track-seek {:g} ms, --seek {:g} ms"),
                                   (average, full, "--seek {:g} ms, --full-seek {:g} ms"),
                                   (track, full, "--track-seek {:g} ms, --full-seek {:g} ms")):
        if shorter and longer and shorter >= longer:
            said = words.format(1e3 * shorter, 1e3 * longer)
            yield f"{said}: the second one goes further, and takes longer"
    if not sheet.rpm:
        return
    least = 30 / sheet.rpm + average
    if (count := sheet.iops["read"].get(1, 0)) and 1 / count < least:
        seek = " and the average seek" if average else ""
        yield (f"--read-iops {count:g}@1 takes {1e3 / count:.3g} ms each, and half a revolution at "
               f"{sheet.rpm:g} rpm{seek} takes {1e3 * least:.3g} ms")


def check(sheet: Sheet) -> None:
    """UserError: all that cannot be, by name."""
    wrong = [*_rates(sheet), *_depths(sheet), *(() if sheet.ssd else _turning(sheet))]
    if wrong:
        raise UserError("no drive is like that: " + "; ".join(wrong))
