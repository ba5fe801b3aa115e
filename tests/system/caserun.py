#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs cases in a lab: one line "RESULT {json}" each, and a look at the kernel log after each."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
import traceback

from cases import GROUPS, LAYERS, LONG, VIRTUAL, About, Case, about, load, matching
from helpers.guest import Complaints, Failed, busy, dm, leaks, remove, run, say
from helpers.planted import can_plant
from helpers.units import DEBUG_KERNEL


def clean_up() -> list[str]:
    """Take away what a failed case left, for the next one's sake."""
    left = [line.split("\t")[0] for line in run("dmsetup", "ls").splitlines() if "\t" in line]
    for name in reversed(left):
        try:
            remove(name)
        except (Failed, OSError, subprocess.SubprocessError, dm.DeviceError) as error:
            say(f"caserun: {error}")
    return left


def skipped(known: About) -> str:
    """Why the case is not run here."""
    if known.full and os.environ.get("DAVID_SCALE") != "full":
        return "only with DAVID_SCALE=full"
    if known.planted and not can_plant() and os.environ.get("DAVID_PLANT") != "1":
        return "only with a module built with DAVID_PLANT=1"
    if known.debug and not DEBUG_KERNEL:
        return "only on the debug kernel: make faults"
    if not known.uml and os.environ.get("DAVID_LAB") == "uml":
        return "only in the vm lab"
    return ""


def tried(case: Case) -> str:
    """What is wrong."""
    complaints = Complaints()
    error = ""
    try:
        case()
    except (Failed, AssertionError) as wrong:
        place = traceback.extract_tb(wrong.__traceback__)
        line = next((frame for frame in reversed(place) if "/cases/" in frame.filename), place[-1])
        error = f"line {line.lineno} ({line.line}): {wrong}"
    except Exception:
        error = traceback.format_exc(limit=-4)
    if left := clean_up():
        error = error or f"left devices behind: {', '.join(left)}"
    expected = about(case).complaints
    lines = [text for text in complaints.found() if not (expected and re.search(expected, text))]
    return "\nkernel: ".join([error, *lines])


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("patterns", nargs="*", help="which cases: tables.*, store.full*; all of GROUPS")
    parser.add_argument("--planted", action="store_true", help="of these those that plant a bug to be found")
    parser.add_argument("--layers", action="store_true", help="those of LAYERS: who else writes to a disk")
    args = parser.parse_args(argv)
    virtual = os.environ.get("DAVID_LAB_VIRTUAL_TIME") == "1"
    cases = load(VIRTUAL if virtual else GROUPS + LONG + LAYERS)
    patterns = args.patterns or [name for name in cases if name.partition(".")[0] not in LONG + LAYERS]
    if args.planted:
        some = matching(cases, args.patterns) if args.patterns else tuple(cases)
        patterns = [name for name in some if about(cases[name]).planted]
    if args.layers:
        patterns = [f"{group}.*" for group in LAYERS]
    try:
        chosen = matching(cases, patterns)
    except ValueError as error:
        parser.error(str(error))
    failed = ran = 0
    for number, name in enumerate(chosen, 1):
        start, spent = time.monotonic(), busy()
        why = skipped(about(cases[name]))
        error = "" if why else tried(cases[name])
        seconds, cpu = round(time.monotonic() - start, 2), round(busy() - spent, 2)
        took = f"{seconds} s, of CPU time {cpu} s"
        say(f"caserun: {number}/{len(chosen)} {name}: {error or why or 'ok'} ({took})")
        result = {"case": name, "error": error, "skipped": why, "seconds": seconds, "cpu": cpu}
        print("RESULT " + json.dumps(result), flush=True)
        failed += bool(error)
        ran += not why
    say(f"caserun: {ran - failed} good, {failed} bad, {len(chosen) - ran} not run here")
    if lost := leaks():
        say(f"caserun: kmemleak: {lost}")
    return int(failed > 0 or not ran or bool(lost))


if __name__ == "__main__":
    sys.exit(main())
