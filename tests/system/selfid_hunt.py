#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Recorded lives of btrfs and xfs, classified from very many beginnings and cut at very many ends.

As stream_hunt.py does with ext, on logs that selfid_record.py --keep has left in a directory (make hunt
records them first). The whole classifier is at work, with blocks that wait to be decided:

- It is loaded at any entry of the log. Nothing marked as metadata may be squashed, at once or later, and in
  the end every tree block is the one on the real disk.
- The power fails at any entry: the same is true then.

Requests are torn into parts and mixed, or not; the worker comes at once or late; there is much room or
little.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import struct
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from helpers.units import MIB
from stream_hunt import Disk
from streams.selfid_cases import CASES, Case
from streams.selfid_oracle import xfs_metadata

OPTIONS = ("", "--lag 50", "--lag 7 --unclassified 2097152", "--lag 1000")


BLOCK, HEAD = 4096, 512
UUID = slice(32, 48)  # in the superblock


def metadata(case: Case, image: Path) -> bytes:
    """All metadata that can be found from the superblock on, or nothing if there is no file system yet."""
    if case.fstype == "btrfs":
        words = ["btrfs", "inspect-internal", "dump-tree", str(image)]
        done = subprocess.run(words, capture_output=True)
        return b"" if done.returncode else done.stdout + done.stderr
    found = []
    with open(image, "rb") as file:
        super_block = file.read(HEAD)
        uuid, size = super_block[UUID], min(BLOCK, int.from_bytes(super_block[4:8], "big"))
        try:
            places = {at // size for at, _ in xfs_metadata(str(image))}
        except (RuntimeError, struct.error):
            return b""
        for place in sorted(places):
            block = os.pread(file.fileno(), size, place * size)
            # What is still in the log only: its place holds whatever was there before.
            if uuid in block[:HEAD]:
                found.append(place.to_bytes(8, "big") + block)
    return b"".join(found)


def replay(program: Path, case: Case, out: Path, log: Path, *options: str) -> dict[str, int]:
    words = [program, "replay", "--by-super", "--size", str(case.size * MIB), "--out", out, *options, log]
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)


def differs(case: Case, real: bytes, fake: Path, figures: dict[str, int]) -> str:
    if figures["metadata_squashed"] + figures["later_metadata"]:
        return f"metadata squashed: {figures}"
    if metadata(case, fake) == real:
        return ""
    return "its metadata is another"


def hunt(name: str, args: argparse.Namespace, seconds: float) -> tuple[int, int, int, list[str]]:
    """Beginnings and ends that were tried, sectors that were dropped later, and what was wrong."""
    case, chance, wrong = CASES[name], random.Random(f"{args.seed} {name}"), list[str]()
    log = args.directory / f"{name}-0.log"
    end, loads, cuts, later = time.monotonic() + seconds, 0, 0, 0
    with TemporaryDirectory(dir=args.scratch) as temporary:
        work = Path(temporary)
        fake = work / "fake"
        disk = Disk(work / "whole", log, case.size * MIB)
        disk.go(disk.entries)
        whole = metadata(case, work / "whole")
        if not whole:
            return 0, 0, 0, [f"{name}: its own tool finds no metadata on the disk that was recorded"]
        while time.monotonic() < end:
            # The real disk only goes forward.
            disk = Disk(work / "now", log, case.size * MIB)
            for at in sorted(chance.sample(range(1, disk.entries), min(20, disk.entries - 1))):
                disk.go(at)
                options = f"{chance.choice(OPTIONS)} --tear {chance.randrange(3)}"
                real = metadata(case, work / "now")
                figures = replay(args.program, case, fake, log, "--until", str(at), *options.split())
                later += figures["later"]
                cuts += bool(real)
                if real and (found := differs(case, real, fake, figures)):
                    wrong.append(f"{name}: cut at {at} {options}: {found}")
                at = chance.randrange(disk.entries)
                figures = replay(args.program, case, fake, log, "--from", str(at), *options.split())
                later += figures["later"]
                loads += 1
                if found := differs(case, whole, fake, figures):
                    wrong.append(f"{name}: loaded at {at} {options}: {found}")
                if time.monotonic() > end:
                    break
    return loads, cuts, later, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--program", type=Path, default=Path("build/david-classify"))
    parser.add_argument("--seconds", type=float, default=300, help="in all (default 300)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scratch", type=Path, default=Path("/dev/shm"), help="for images")
    parser.add_argument("--planted", action="store_true", help="PROGRAM has a bug: fail unless it is found")
    parser.add_argument("directory", type=Path, help="with NAME-0.log of file systems on one device")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    alone = [name for name, case in CASES.items() if case.devices == 1]
    names = args.names or [name for name in alone if (args.directory / f"{name}-0.log").exists()]
    if not names:
        parser.error(f"{args.directory} has no NAME-0.log: make hunt records them")
    failed = False
    for name in names:
        loads, cuts, later, wrong = hunt(name, args, args.seconds / len(names))
        if not loads or not cuts:
            sys.exit(f"{name}: {'; '.join(wrong) or 'too little time'}: nothing was compared")
        print(
            f"{name}: loaded at {loads} entries, cut at {cuts}, {later // 8} blocks dropped later, "
            f"{len(wrong)} wrong",
            flush=True,
        )
        for line in wrong[:10]:
            print(f"  {line}", flush=True)
        failed |= bool(wrong) != args.planted
    return failed


if __name__ == "__main__":
    sys.exit(main())
