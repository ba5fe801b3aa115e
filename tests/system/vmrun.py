#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Cases (caserun.py) and file systems' lives (fsrun.py) in one boot. Runs in the vm lab, where a boot takes a
quarter of a minute. A word with a colon is a file system's life, any other is a case.
"""

from __future__ import annotations

import argparse
import sys

import caserun
import fsrun


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--without-reference", default="", metavar="FS,FS", help="as fsrun.py's")
    parser.add_argument("runs", nargs="+", metavar="CASE|FS:SIZE...")
    args = parser.parse_args()
    lives = [run for run in args.runs if ":" in run]
    cases = [run for run in args.runs if ":" not in run]
    status = 0
    if lives:
        status |= fsrun.main([*lives, f"--without-reference={args.without_reference}"])
    if cases:
        status |= caserun.main(cases)
    return status


if __name__ == "__main__":
    sys.exit(main())
