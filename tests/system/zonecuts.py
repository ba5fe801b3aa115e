#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Power cuts of file systems on zones, in a lab: lives of 20 syncs, each by its seed, and cuts of each."""

from __future__ import annotations

import argparse
import sys

from helpers.cutlives import numbers
from helpers.guest import Failed, say
from helpers.zonecuts import SHAPES, cut_life

SYNCS = 20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=numbers, required=True, help="FIRST-LAST, a life each")
    parser.add_argument("--cuts", type=int, default=50, help="of each life (default: 50)")
    parser.add_argument("--fs", choices=SHAPES, default="btrfs")
    parser.add_argument("--modes", nargs="+", default=["auto", "explicit"], help="in turn")
    args = parser.parse_args()
    done = bad = 0
    for seed in args.seeds:
        mode = args.modes[seed % len(args.modes)]
        try:
            done += cut_life(args.fs, SYNCS, args.cuts, seed, mode)
        except Failed as error:
            bad += 1
            say(f"zonecuts: {args.fs}, seed {seed}, {mode}: {error}")
    say(f"zonecuts: {done} cuts of {len(args.seeds) - bad} lives were found good, {bad} lives bad")
    return 1 if bad or not done else 0


if __name__ == "__main__":
    sys.exit(main())
