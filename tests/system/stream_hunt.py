#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Recorded lives, classified from very many beginnings and cut at very many ends.

What test_streams.py does a few times is done here as often as the time allows, on logs that
stream_record.py has left in a directory (make hunt records them first):

- The classifier is loaded at any entry of the log. Nothing marked as metadata may be squashed, at once or
  later; e2fsck finds nothing; all metadata of the real disk is on the fake one.
- The power fails at any entry. e2fsck -fy then says the same about the real disk as about the fake one, and
  leaves the same metadata.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from helpers import writelog
from helpers.units import MIB
from streams.replayed import differences, lost, replay
from streams.stream_cases import CASES, Case

OPTIONS = ("", "--by-super", "--by-super --lag 50", "--lag 7 --unclassified 8388608", "--by-super --lag 1000")


class Disk:
    """What the recorded disk held after the first entries of its log."""

    def __init__(self, path: Path, log: Path, size: int) -> None:
        self.file = open(path, "w+b")
        self.file.truncate(size)
        self.entries = writelog.count(log)
        self.following = writelog.entries(log)
        self.at = 0

    def go(self, until: int) -> None:
        for entry in islice(self.following, max(until - self.at, 0)):
            writelog.apply(self.file.fileno(), entry)
        self.at = max(self.at, until)


ENVIRONMENT = dict(os.environ, E2FSCK_TIME="1700000000")


def checked(image: Path) -> str:
    """What e2fsck says about an image, and mends in it."""
    done = subprocess.run(["e2fsck", "-fy", image], capture_output=True, env=ENVIRONMENT)
    said = done.stdout.decode(errors="replace")
    if done.returncode & ~3:
        raise RuntimeError(f"{image}: {said}")
    # An indirect block that never reached the disk: what is in its place is data, and differs.
    said = re.sub(r"^(Illegal block #\d+) \(\d+\)", r"\1", said, flags=re.M)
    said = said.replace(str(image), "")
    return re.sub(r"^.*: (recovering journal|\d+/\d+ files).*$", "", said, flags=re.M)


def copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "--sparse=always", source, target], check=True)


def cut(
    name: str, case: Case, directory: Path, work: Path, disk: Disk, at: int, options: str, program: Path
) -> str | None:
    """What is wrong; None where there is no file system yet, and so nothing to compare."""
    disk.go(at)
    real, fake = work / "real", work / "fake"
    copy(Path(disk.file.name), real)
    replay(program, case, fake, directory / f"{name}.log", "--until", str(at), *options.split())
    try:
        said = checked(real)
    except RuntimeError:
        return None
    if checked(fake) != said:
        return "e2fsck says otherwise"
    # A directory that never reached the disk: e2fsck makes one of whatever is in its block.
    return "; ".join(differences(real, fake, program, Path(disk.file.name))[:3])


def load(name: str, case: Case, directory: Path, work: Path, at: int, options: str, program: Path) -> str:
    fake = work / "fake"
    figures = replay(program, case, fake, directory / f"{name}.log", "--from", str(at), *options.split())
    if lost(case, figures):
        return f"metadata squashed: {figures}"
    done = subprocess.run(["e2fsck", "-fn", fake], capture_output=True, text=True, errors="replace")
    if done.returncode:
        return done.stdout
    return "; ".join(differences(directory / f"{name}.img", fake, program)[:3])


def hunt(name: str, args: argparse.Namespace, seconds: float) -> tuple[int, int, list[str]]:
    """Beginnings and ends that were tried, and what was wrong."""
    case, chance, wrong = CASES[name], random.Random(f"{args.seed} {name}"), list[str]()
    end, loads, cuts = time.monotonic() + seconds, 0, 0
    with TemporaryDirectory(dir=args.scratch) as temporary:
        work = Path(temporary)
        entries = Disk(work / "none", args.directory / f"{name}.log", 0).entries
        while time.monotonic() < end:
            # The real disk only goes forward.
            disk = Disk(work / "now", args.directory / f"{name}.log", case.size * MIB)
            for at in sorted(chance.sample(range(1, entries), min(20, entries - 1))):
                options = chance.choice(OPTIONS)
                found = cut(name, case, args.directory, work, disk, at, options, args.program)
                cuts += found is not None
                if found:
                    wrong.append(f"{name}: cut at {at} {options}: {found}")
                for at in chance.sample(range(entries), args.loads):
                    options = chance.choice(OPTIONS)
                    found = load(name, case, args.directory, work, at, options, args.program)
                    loads += 1
                    if found:
                        wrong.append(f"{name}: loaded at {at} {options}: {found}")
                if time.monotonic() > end:
                    break
    return loads, cuts, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--program", type=Path, default=Path("build/david-classify"))
    parser.add_argument("--seconds", type=float, default=600, help="in all (default 600)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--loads", type=int, default=2, help="beginnings tried for each end (default 2)")
    parser.add_argument("--scratch", type=Path, default=Path("/dev/shm"), help="for images")
    parser.add_argument("directory", type=Path, help="with NAME.img and NAME.log")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    names = args.names or [name for name in CASES if (args.directory / f"{name}.log").exists()]
    if not names:
        parser.error(f"{args.directory} has no NAME.log: make hunt records them")
    failed = False
    for name in names:
        loads, cuts, wrong = hunt(name, args, args.seconds / len(names))
        if not loads or not cuts:
            wrong.append(f"{name}: too little time, or never a file system: nothing was compared")
        print(f"{name}: loaded at {loads} entries, cut at {cuts}, {len(wrong)} wrong", flush=True)
        for line in wrong[:10]:
            print(f"  {line}", flush=True)
        failed |= bool(wrong)
    return failed


if __name__ == "__main__":
    sys.exit(main())
