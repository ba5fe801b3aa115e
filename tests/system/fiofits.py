#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""How far off are the other jobs of a real drive, when a profile is fitted to a few of fio's results?

  tests/system/fiofits.py [--all] [DRIVE...]     docs/results/fio-fits.csv
  tests/system/fiofits.py --jobs DRIVE           each job of a drive

The results are those of profiles/evidence: fio-plot.csv and perfscripts.csv. `david calibrate --from` is
given random reads of 4 KiB at depths 1 and 32 (perfscripts has depth 10 only) and what there is of
sequential rates. All else of the same drive is held beside the model. The base is another drive of the
class. Without --all, jobs of one process only, and no mixes. The exit status is 1 if a drive is further off
than allowed, and the command vouches for the profile, or the reason is not known.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from davidlib.calibrate import fiojobs, fiomodel
from davidlib.calibrate.fiojobs import FioJob
from davidlib.calibrate.result import Draft, Line

TREE = Path(__file__).resolve().parents[2]
EVIDENCE = TREE / "profiles/evidence"
ALLOWED = {"disk": 10.0, "ssd": 15.0}  # percent, of the mean of the jobs that nothing was fitted to
GIVEN = {"fio-plot": (1, 32), "perfscripts": (10,)}  # depths of the random reads
MORE = {("randread", 4), ("randwrite", 1), ("randwrite", 32)}  # what --more gives besides
MOST = 128  # requests under way at a time
MEAN_SIZES = {"1to4k": "2560", "8to16k": "12K", "32to64k": "48K", "128to256k": "192K", "512Kto1M": "768K"}


@dataclass(frozen=True)
class Drive:
    device: str  # as the data have it
    data: str
    kind: str
    base: str  # a profile of another drive
    size: str
    known: str = ""  # why it is further off than allowed
    options: tuple[str, ...] = ()


DRIVES = (
    Drive("samsung-f1-1tb-7200", "fio-plot", "disk", "generic-500gb-7200", "1TB",
          "reads tell nothing of its writes"),
    Drive("hgst-hts72101-100gb-7200-2.5", "fio-plot", "disk", "generic-500gb-7200", "100GB",
          "it writes as if without a cache, and reads do not tell that"),
    Drive("Toshiba_P300_3TB", "perfscripts", "disk", "seagate-st2000dm006", "3TB"),
    Drive("samsung-pm883", "fio-plot", "ssd", "samsung-860-pro", "960GB"),
    Drive("samsung-860-pro", "fio-plot", "ssd", "samsung-pm883", "1024GB",
          "its writes got faster in the order in which they were measured, whatever their depth"),
    Drive("kingston-dc500m", "fio-plot", "ssd", "samsung-860-pro", "960GB"),
    Drive("Intel_SSD_540S_1Tb", "perfscripts", "ssd", "samsung-860-pro", "1TB"),
    Drive("Samsung_Evo_960_MZ-V6E500BW_512Gb", "perfscripts", "ssd", "samsung-970-pro", "500GB",
          "what it reads in random places seems to have been written one by one, what it reads in order not",
          ("precondition=random", "precondition_fill=0.1")),
)


@dataclass
class Figure:
    """Of one job, or of one part of several at a time."""

    kind: str  # random reads, random writes, sequential, mixes
    name: str
    drive: float  # requests a second
    model: float = 0.0

    @property
    def off(self) -> float:
        return 100 * (self.model / self.drive - 1)


@cache
def _rows(data: str) -> list[dict[str, str]]:
    with (EVIDENCE / f"{data}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _result(name: str, options: dict[str, str], row: dict[str, str]) -> dict[str, object]:
    """As fio has it in its JSON."""
    waits = {f"{float(name[1:]):.6f}": round(float(row[name]) * 1000) for name in row
             if re.fullmatch(r"p\d+(\.\d+)?", name) and row[name]}
    told = {"iops": float(row["iops"]),
            "clat_ns": {"mean": float(row["clat_mean_us"]) * 1000, "percentile": waits}}
    nothing = {"iops": 0, "clat_ns": {"mean": 0}}
    ways = {way: told if way == row["op"] else nothing for way in ("read", "write")}
    return {"jobname": name, "job options": {"direct": "1", "ioengine": "libaio", **options}, **ways}


def _fio_plot(drive: Drive, more: bool) -> Iterator[tuple[bool, bool, dict[str, object]]]:
    """Is it given, is it of one process, and the job."""
    for row in _rows("fio-plot"):
        depth, processes = int(row["iodepth"]), int(row["numjobs"])
        if row["device"] != drive.device or depth * processes > MOST:
            continue
        options = {"rw": row["rw"], "bs": "4k", "iodepth": str(depth), "numjobs": str(processes)}
        given = row["rw"] == "randread" and depth in GIVEN["fio-plot"] or more and (row["rw"], depth) in MORE
        given = given and processes == 1
        yield given, processes == 1, _result(f"{row['rw']}-{depth}x{processes}",
                                             options | {"group_reporting": "1"}, row)


def _perfscripts(drive: Drive) -> Iterator[tuple[bool, bool, dict[str, object]]]:
    for row in _rows("perfscripts"):
        if row["device"] != drive.device or row["file"].startswith("mixed"):
            continue
        order = {"randread": "randread", "seqread": "read", "seqwrite": "write"}[row["job"].split("-")[0]]
        size = row["job"].split("-")[1] if order == "randread" else "1m"
        options = {"rw": order, "bs": size, "iodepth": "10", "size": "5g" if order == "randread" else "32g"}
        yield order != "randread" or size == "4k", True, _result(row["file"], options, row)


def jobs(drive: Drive, more: bool) -> Iterator[tuple[bool, bool, dict[str, object]]]:
    return _fio_plot(drive, more) if drive.data == "fio-plot" else _perfscripts(drive)


def mixes(drive: Drive) -> dict[str, list[dict[str, str]]]:
    """By name: a random reader beside a reader and a writer of 1 MiB, held to a rate or not."""
    found: dict[str, list[dict[str, str]]] = {}
    for row in _rows(drive.data):
        if row["device"] == drive.device and row.get("file", "").startswith("mixed"):
            found.setdefault(row["file"], []).append(row)
    return found


def mix_words(name: str) -> str:
    _, _, sizes, held = name.replace("_", "-").split("-")
    rate = "" if held == "uncapped" else f" rate={held.removesuffix('Mseq')}M"
    count = 3000 if held == "uncapped" else 12000
    return (f"read random size={MEAN_SIZES[sizes]} align=4K depth=10 span=5G + "
            f"read size=1M depth=10 at=6G span=5G{rate} + write size=1M depth=10 at=12G span=5G{rate} "
            f"count={count} warm={count // 10}")


def calibrate(drive: Drive, out: Path, everything: bool, more: bool) -> tuple[int, str]:
    """The exit status, and what it said."""
    given, beside = out.with_suffix(".json"), out.with_suffix(".beside.json")
    given.write_text(json.dumps({"jobs": [job for is_given, _, job in jobs(drive, more) if is_given]}))
    others = [job for is_given, alone, job in jobs(drive, more) if not is_given and (alone or everything)]
    beside.write_text(json.dumps({"jobs": others}))
    line = [TREE / "tools/david", "calibrate", "--from", given, "--beside", beside, "--profile", drive.base]
    line += ["--size", drive.size, *(word for option in drive.options for word in ("--option", option))]
    done = subprocess.run([*line, "-o", out], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def draft_of(profile: Path) -> Draft:
    draft = Draft("")
    for line in profile.read_text().splitlines():
        item = line.partition("#")[0]
        name, equals, text = item.partition("=")
        if equals:
            source = line.partition("# ")[2].partition(":")[0]
            draft.lines.append(Line(name.strip(), text.strip(), source))
    return draft


def kind_of(job: FioJob) -> str:
    return "sequential" if not job.random else "random writes" if job.writes else "random reads"


def figures(drive: Drive, profile: Path, everything: bool) -> list[Figure]:
    """Of the jobs that nothing was fitted to."""
    draft, found = draft_of(profile), []
    path = profile.with_suffix(".beside.json")
    with fiomodel.Model() as model:
        for job in fiojobs.load(str(path)):
            found.append(Figure(kind_of(job), job.kind, job.rate, model.rate(draft, job)))
        for name, rows in mixes(drive).items() if everything else ():
            parts = model.parts(draft, mix_words(name))
            for row, rate in zip(rows, parts, strict=True):
                found.append(Figure("mixes", f"{name}, {row['job']}", float(row["iops"]), rate))
    return found


def mean_off(found: list[Figure], kind: str | None = None) -> float | None:
    chosen = [abs(figure.off) for figure in found if kind in (None, figure.kind)]
    return sum(chosen) / len(chosen) if chosen else None


KINDS = ("random reads", "random writes", "sequential", "mixes")


def cell(found: list[Figure], kind: str | None) -> str:
    off = mean_off(found, kind)
    count = sum(kind in (None, figure.kind) for figure in found)
    return "" if off is None else f"{off:.1f} ({count})"


@dataclass
class Fit:
    """What came of a drive."""

    drive: Drive
    status: int
    said: str
    found: list[Figure]

    @property
    def off(self) -> float:
        return mean_off(self.found) or 0.0

    @property
    def verdict(self) -> str:
        if self.off <= ALLOWED[self.drive.kind]:
            return "ok"
        return "refused" if self.status and self.drive.known else "OFF"

    def row(self) -> str:
        worst = max(self.found, key=lambda figure: abs(figure.off))
        cells = " | ".join(cell(self.found, kind) for kind in (*KINDS, None))
        return (f"| {self.drive.device} | {self.drive.base} | {cells} | {worst.name}: {worst.off:+.0f} % "
                f"| {self.status} | {self.verdict} |")


def fit(drive: Drive, everything: bool, more: bool) -> Fit:
    with tempfile.TemporaryDirectory() as directory:
        profile = Path(directory) / "found.profile"
        status, said = calibrate(drive, profile, everything, more)
        if status not in (0, 2):
            raise SystemExit(f"{drive.device}: {said}")
        return Fit(drive, status, said, figures(drive, profile, everything))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("drives", metavar="DRIVE", nargs="*")
    parser.add_argument("--all", action="store_true", help="also several processes, and mixes")
    parser.add_argument("--more", action="store_true",
                        help="give random reads at depth 4 and random writes at depths 1 and 32 as well")
    parser.add_argument("--jobs", action="store_true", help="print each job")
    args = parser.parse_args()
    print("| drive | from | " + " | ".join([*KINDS, "all"]) + " | worst | status | |")
    print("|" + "---|" * 10, flush=True)
    bad = 0
    for drive in DRIVES:
        if args.drives and drive.device not in args.drives:
            continue
        one = fit(drive, args.all, args.more)
        bad += one.verdict == "OFF"
        print(one.row(), flush=True)
        if args.jobs:
            print(one.said)
            for figure in one.found:
                print(f"  {figure.name:<58}{figure.drive:>10.1f}{figure.model:>10.1f}{figure.off:>+8.1f} %")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
