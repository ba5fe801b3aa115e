#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""fio's own tests of zones, t/zbd/test-zbd-support of its source, in a lab: on a null_blk device that stores
all, and on a fake disk with the same zones. Each test has to say the same of both.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from helpers.guest import SCRATCH, Complaints, Failed, loop_disk, program, say
from helpers.planted import planted
from helpers.units import MIB
from helpers.zoned import Shape, null_zoned, zoned_disk

# Of fio's run-tests-against-nullb those with zones, of 512 MiB. Those of open zones have limits of their own,
# where fio's script has its -o; and the last two are not fio's.
SHAPES = {
    "sequential": Shape(zones=512, size=1),
    "capacity": Shape(zones=128, size=4, capacity=3),
    "conventional": Shape(zones=512, size=1, conventional=51),
    "capacity-conventional": Shape(zones=128, size=4, capacity=3, conventional=12),
    "mostly-conventional": Shape(zones=512, size=1, conventional=338),
    "capacity-mostly-conventional": Shape(zones=256, size=4, capacity=3, conventional=168),
    "open": Shape(zones=512, size=1, max_open=8),
    "open-capacity-conventional": Shape(
        zones=128, size=4, capacity=3, conventional=12, max_open=8, max_active=8
    ),
    "sectors": Shape(zones=128, size=4, capacity=3, conventional=12, block=512),
    "few": Shape(zones=24, size=16, capacity=12, conventional=8, max_open=4, max_active=6),
}
PASS, FAIL, SKIP, LATE = "pass", "fail", "skip", "late"
Scripts = tuple[Path, Path]  # null_blk's, the fake disk's

# Bugs of a module that has bugs, and tests that find each, on a shape with a capacity below the size.
BUGS = {"zone_capacity": [5, 7]}
BUGS_SHAPE = "capacity-conventional"


def laid_out(tests: Path, device: str) -> Path:
    """As in fio's source, where the script looks for fio and leaves its logs: for each device. It sets an I/O
    scheduler, which no device of bios has, and ends if it cannot: so it does that of neither device.
    """
    top = SCRATCH / f"fio-{device}"
    shutil.copytree(tests, top / "t" / "zbd")
    (top / "fio").symlink_to(program("fio"))
    script = top / "t" / "zbd" / "test-zbd-support"
    text, count = re.subn(r"^\s*set_io_scheduler .*$", "", script.read_text(), flags=re.MULTILINE)
    if count != 2:
        raise Failed(f"{script} sets {count} schedulers, and is known to set 2")
    script.write_text(text)
    return script


def numbers(script: Path) -> list[int]:
    return sorted(int(number) for number in re.findall(r"^test(\d+)\(\)", script.read_text(), re.MULTILINE))


def node(disk: str) -> str:
    """By the kernel's name, which the script looks for in /sys/block."""
    device = os.stat(disk).st_rdev
    link = os.readlink(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    path = f"/dev/{os.path.basename(link)}"
    if not os.path.exists(path):
        os.mknod(path, 0o660 | 0o060000, device)
    return path


def outcome(script: Path, number: int, disk: str, limit: int) -> tuple[str, str]:
    """What the script says of a test, and why, if it says that."""
    Path(f"{script}.log.{number}").unlink(missing_ok=True)
    words = ["timeout", "-k", "5", str(limit), str(script), "-t", str(number), disk]
    done = subprocess.run(words, capture_output=True, text=True)
    found = re.search(rf"^Running test 0*{number} \.\.\. (PASS|FAIL|SKIP)\s*(.*)$", done.stdout, re.MULTILINE)
    log = Path(f"{script}.log.{number}")
    text = log.read_text(errors="replace") if log.exists() else ""
    if not found:
        return (LATE if done.returncode in (124, 137) else FAIL), (done.stdout + done.stderr + text)[-1500:]
    if found[1] == "SKIP":
        return SKIP, found[2]
    if disk not in text:
        raise Failed(f"test {number} of {disk}: its log does not name the device: {text[-300:]}")
    return found[1].lower(), text[-1500:]


def reason(found: tuple[str, str]) -> str:
    """Why a test was left out. A device's name is at its begin or end."""
    return " ".join(word for word in found[1].split() if not word.startswith("/dev/"))


def compare(name: str, scripts: Scripts, tests: list[int], limit: int) -> tuple[Counter[str], list[int]]:
    """How many there were of each outcome, and in which the two devices differ. Both are tested at a time:
    some tests last half a minute, whatever the device does.
    """
    shape = SHAPES[name]
    seen: Counter[str] = Counter()
    differ = []
    with ExitStack() as stack:
        null = stack.enter_context(null_zoned("judge", shape, stores=True))
        backing = stack.enter_context(loop_disk(2 * shape.bytes + 64 * MIB))
        fake = stack.enter_context(zoned_disk("zd", shape, backing, "classify=keep"))
        disks = (node(null), node(fake))
        pool = stack.enter_context(ThreadPoolExecutor(2))
        for number in tests:
            should, found = pool.map(lambda at, n=number: outcome(scripts[at], n, disks[at], limit), (0, 1))
            skipped = should[0] == SKIP
            alike = should[0] == found[0] and not (skipped and reason(should) != reason(found))
            say(f"row: {name},{number},{should[0]},{found[0]},{reason(should) if skipped else ''}")
            if alike:
                seen[should[0]] += 1
            else:
                differ.append(number)
            if not alike or should[0] in (FAIL, LATE):
                say(f"fiozbd: {name}, test {number}: null_blk: {should[1]}\nthe fake disk: {found[1]}")
    counts = ", ".join(f"{seen[kind]} {kind}" for kind in (PASS, SKIP, FAIL, LATE))
    say(f"fiozbd: {name}: {len(tests)} tests: of both devices {counts}; {len(differ)} differ: {differ}")
    return seen, differ


def bugs_are_found(scripts: Scripts, bugs: dict[str, list[int]], limit: int) -> bool:
    """Tests that both devices pass, and with a bug planted the fake disk does not."""
    good = True
    for bug, tests in bugs.items():
        seen, _ = compare(BUGS_SHAPE, scripts, tests, limit)
        with planted(bug):
            _, differ = compare(BUGS_SHAPE, scripts, tests, limit)
        found = differ == tests and seen[PASS] == len(tests)
        say(f"fiozbd: planted: {bug}: {'found' if found else 'not found'} by tests {tests}: {differ}")
        good = good and found
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=Path, required=True, help="the directory t/zbd of fio's source")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--only", type=int, nargs="+", help="these tests, by number")
    parser.add_argument("--limit", type=int, default=90, help="seconds for a test (default: 90)")
    parser.add_argument("--planted", nargs="*", help="bugs that have to be found (default: all known ones)")
    args = parser.parse_args()
    scripts = (laid_out(args.tests, "null"), laid_out(args.tests, "fake"))
    if args.planted is not None:
        bugs = {bug: args.only or BUGS[bug] for bug in args.planted or BUGS}
        return 0 if bugs_are_found(scripts, bugs, args.limit) else 1
    tests = args.only or numbers(scripts[0])
    complaints = Complaints()
    seen: Counter[str] = Counter()
    different = 0
    for name in args.shapes:
        found, differ = compare(name, scripts, tests, args.limit)
        seen += found
        different += len(differ)
    # Of null_blk's device that is the case where fio writes where it must not (test 54).
    said = [line for line in complaints.found() if "I/O error, dev judge," not in line]
    for line in said:
        say(f"fiozbd: the kernel complained: {line}")
    return 1 if different or said or not seen[PASS] else 0


if __name__ == "__main__":
    sys.exit(main())
