#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs cases in a lab: one line "RESULT {json}" each, and a look at the kernel log after each."""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import sys
import time
import traceback

from cases import GROUPS, LAYERS, LONG, VIRTUAL, load

from guest import Complaints, Failed, dm, leaks, remove, run, say


def clean_up() -> list[str]:
    """Take away what a failed case left, for the next one's sake."""
    left = [line.split("\t")[0] for line in run("dmsetup", "ls").splitlines() if "\t" in line]
    for name in reversed(left):
        try:
            remove(name)
        except (Failed, OSError, dm.DeviceError) as error:
            say(f"caserun: {error}")
    return left


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("patterns", nargs="*", help="which cases: tables.*, store.full*; all of GROUPS")
    args = parser.parse_args()
    virtual = os.environ.get("DAVID_LAB_VIRTUAL_TIME") == "1"
    cases = load(VIRTUAL if virtual else GROUPS + LONG + LAYERS)
    patterns = args.patterns or [name for name in cases if name.partition(".")[0] not in LONG + LAYERS]
    chosen = [name for name in cases if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]
    failed = 0
    for number, name in enumerate(chosen, 1):
        complaints = Complaints()
        start = time.monotonic()
        error = ""
        try:
            cases[name]()
        except (Failed, AssertionError) as wrong:
            place = traceback.extract_tb(wrong.__traceback__)
            line = next((frame for frame in reversed(place) if "/cases/" in frame.filename), place[-1])
            error = f"line {line.lineno} ({line.line}): {wrong}"
        except Exception:
            error = traceback.format_exc(limit=-4)
        if left := clean_up():
            error = error or f"left devices behind: {', '.join(left)}"
        if lines := complaints.found():
            expected = getattr(cases[name], "complaints", None)
            lines = [text for text in lines if not (expected and expected.search(text))]
            if lines:
                error += "\nkernel: " + "\nkernel: ".join(lines)
        seconds = round(time.monotonic() - start, 2)
        say(f"caserun: {number}/{len(chosen)} {name}: {error or 'ok'} ({seconds} s)")
        print("RESULT " + json.dumps({"case": name, "error": error, "seconds": seconds}), flush=True)
        failed += bool(error)
    if lost := leaks():
        say(f"caserun: kmemleak: {lost}")
    return int(failed > 0 or bool(lost))


if __name__ == "__main__":
    sys.exit(main())
