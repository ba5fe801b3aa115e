#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Does calibrating a modelled disk give its own profile back?

  tests/system/calibrated.py [P...]                 modelled by david-sim; all disks of profiles/ otherwise
  tests/system/calibrated.py --found FILE P         a profile that was found elsewhere, such as in a lab
  tests/system/calibrated.py --table [P...]         what calibrate/WHY.md shows

It calls `david calibrate` as a user does, with --write, and compares what comes out with the profile itself.
"""

from __future__ import annotations

import argparse
import bisect
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from davidlib.calibrate.depth import rate
from davidlib.calibrate.simdisk import SimDisk
from davidlib.calibrate.probe import READ, Request
from davidlib.drive import files

TREE = Path(__file__).resolve().parents[2]

UNITS = {"ps": 1e-3, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
UNITS |= {"sectors": 1, "KiB": 2, "MiB": 2048, "rpm": 1}
PLACES = 2000
DEPTHS = (1, 2, 4, 8, 16, 32)
# What is allowed, by figure.
LIMITS = {"rotation ppm": 10, "rate %": 0.5, "skew sectors": 2, "seek ms": 0.1, "switch ms": 0.1}
LIMITS |= {"settle ms": 0.1, "cache": 0, "depth %": 3}


def number(text: str) -> float:
    match = re.fullmatch(r"(-?[\d.]+)([A-Za-z]*)", text)
    assert match, text
    return float(match[1]) * UNITS.get(match[2], 1)


class Drive:
    """A profile's values: times in ns, lengths in sectors."""

    def __init__(self, profile: Path) -> None:
        shown = subprocess.run([TREE / "build/david-sim", "profile", "show", profile], check=True,
                               capture_output=True, text=True).stdout
        pairs = [line.split(" = ") for line in shown.splitlines() if " = " in line]
        self.words = dict(pairs)
        self.zones = [[int(word) for word in value.split(",")] for name, value in pairs if name == "zone"]
        self.seeks = [(int(d), number(t)) for d, t in (v.split(",") for n, v in pairs if n == "seek")]
        self.starts = [sum(zone[3] for zone in self.zones[:n]) for n in range(len(self.zones))]
        self.profile = profile

    def value(self, name: str) -> float:
        return number(self.words[name])

    def zone(self, sector: int) -> list[int]:
        return self.zones[bisect.bisect_right(self.starts, sector) - 1]

    def rate(self, sector: int) -> float:
        """Sectors a revolution, skews included."""
        _, _, track, _, track_skew, cylinder_skew, *_ = self.zone(sector)
        heads = self.value("heads")
        return heads * track * track / (heads * track + (heads - 1) * track_skew + cylinder_skew)

    def seek(self, distance: int) -> float:
        if not self.seeks:
            short = self.value("seek_short_base") + self.value("seek_short_factor") * distance**0.5
            long = self.value("seek_long_base") + self.value("seek_long_factor") * distance
            time = short if distance < self.value("seek_limit") else long
        elif distance <= self.seeks[0][0]:
            time = self.seeks[0][1]
        else:
            at = min(bisect.bisect_left(self.seeks, (distance, 0)), len(self.seeks) - 1)
            (d, t), (e, u) = self.seeks[at - 1], self.seeks[at]
            time = t + (u - t) * (distance - d) / (e - d)
        return max(time, self.value("cylinder_switch"))


def _distances(cylinders: int) -> Iterable[int]:
    yield from range(1, 64)
    yield from (1 + (cylinders - 2) * n // PLACES for n in range(1, PLACES + 1))


CACHE = ("segments", "segment_sectors", "readahead", "readahead_max", "readahead_stream", "keep_requested",
         "drop_requested", "readahead_on_idle_hit")


def is_assumed(name: str, text: str) -> bool:
    return bool(re.search(rf"^{name} = .*# assumed", text, re.M))


def cache_differences(drive: Drive, found: Drive, text: str) -> list[str]:
    """Names of what is not the same, but for what the drive lets nobody see and the profile calls assumed."""
    names = [name for name in CACHE if drive.words[name] != found.words[name]]
    return [name for name in names if not is_assumed(name, text)]


def depth_difference(drive: Drive, found: Drive, count: int) -> float:
    """The largest of the depths, in percent."""
    rnd, worst = random.Random(20), 0.0
    for depth in DEPTHS:
        sectors = int(drive.value("capacity"))
        requests = [Request(READ, rnd.randrange(sectors // 8) * 8, 8) for _ in range(count)]
        rates = []
        for profile in (drive.profile, found.profile):
            with SimDisk(profile) as disk:
                rates.append(rate(disk.deep(requests, depth)))
        worst = max(worst, abs(100 * (rates[1] / rates[0] - 1)))
    return worst


def differences(profile: Path, found_profile: Path, count: int = 6000) -> dict[str, float]:
    drive, found = Drive(profile), Drive(found_profile)
    places = [int(drive.value("capacity")) * n // PLACES for n in range(PLACES)]
    skews = [abs(drive.zone(at)[n] - found.zone(at)[n]) for at in places for n in (4, 5)]
    cylinders, text = int(drive.value("cylinders")), found_profile.read_text()
    return {
        "rotation ppm": 1e6 * abs(found.value("rpm") / drive.value("rpm") - 1),
        "rate %": max(abs(100 * (found.rate(at) / drive.rate(at) - 1)) for at in places),
        "skew sectors": max(skews),
        "seek ms": max(abs(drive.seek(d) - found.seek(d)) for d in _distances(cylinders)) / 1e6,
        "switch ms": abs(drive.value("head_switch") - found.value("head_switch")) / 1e6,
        # A shingled disk lets nobody see it.
        "settle ms": 0 if drive.value("media_cache") and is_assumed("write_settle", text) else
        abs(drive.value("write_settle") - found.value("write_settle")) / 1e6,
        "cache": len(cache_differences(drive, found, text)),
        "depth %": depth_difference(drive, found, count),
    }


def calibrate(device: str, out: Path) -> str:
    """The last line of what is wrong."""
    done = subprocess.run([TREE / "tools/david", "calibrate", device, "--write", "--force", "-o", out],
                          capture_output=True, text=True)
    return done.stderr.strip().splitlines()[-2] if done.returncode else ""


def disks() -> list[str]:
    """Only these can be calibrated: SSDs and memory are of another kind, and zones are written in order."""
    texts = {name: files.find(name).read_text() for name in files.names()}
    return [name for name, text in texts.items() if not re.search(r"^(kind|zone_size)\b", text, re.MULTILINE)]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("profiles", metavar="P", nargs="*")
    parser.add_argument("--found", metavar="FILE", type=Path)
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    bad = 0
    if args.table:
        print("| profile | " + " | ".join(LIMITS) + " |")
        print("|---|" + "---|" * len(LIMITS))
    for number_, name in enumerate(args.profiles or disks(), 1):
        with tempfile.TemporaryDirectory() as directory:
            found = args.found or Path(directory) / "found.profile"
            error = "" if args.found else calibrate(f"model:{name}", found)
            if error:
                bad += 1
                print(f"not ok {number_} calibrated.{name}")
                print(f"# {name}: {error}", file=sys.stderr)
                continue
            figures = differences(files.find(name), found)
        wrong = [figure for figure, limit in LIMITS.items() if figures[figure] > limit]
        bad += bool(wrong)
        if args.table:
            row = " | ".join(f"{figure:.3g}" for figure in figures.values())
            print(f"| {name} | {row} |", flush=True)
        else:
            said = ", ".join(f"{figure} {value:.3g}" for figure, value in figures.items())
            print(f"{'not ' if wrong else ''}ok {number_} calibrated.{name} {said}", flush=True)
        for figure in wrong:
            much = f"{figures[figure]:.4g}, more than {LIMITS[figure]}"
            print(f"# {name}: {figure} is {much}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
