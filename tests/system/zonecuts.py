#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Power cuts of file systems on zones, on a fake disk without them and on a plain device, in a lab: lives of
20 syncs, each by its seed, and cuts of each.
"""

from __future__ import annotations

import argparse
import sys

from helpers.cutlives import numbers
from helpers.guest import Failed, say
from helpers.zonecuts import PLACES, SHAPES, cut_life

SYNCS = 20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=numbers, required=True, help="FIRST-LAST, a life each")
    parser.add_argument("--cuts", type=int, default=50, help="of each life (default: 50)")
    parser.add_argument("--fs", choices=SHAPES, default="btrfs")
    parser.add_argument("--on", choices=PLACES, nargs="+", default=["zones"], help="a life on each")
    parser.add_argument("--modes", nargs="+", default=["auto", "explicit"], help="in turn")
    args = parser.parse_args()
    done, lives = dict.fromkeys(args.on, 0), dict.fromkeys(args.on, 0)
    bad = 0
    for seed in args.seeds:
        mode = args.modes[seed % len(args.modes)]
        for on in args.on:
            try:
                done[on] += cut_life(args.fs, SYNCS, args.cuts, seed, mode, on)
                lives[on] += 1
            except Failed as error:
                bad += 1
                say(f"zonecuts: {args.fs}, seed {seed}, {mode}, {on}: {error}")
    for on in args.on:
        say(f"zonecuts: {args.fs}, {on}: {done[on]} cuts of {lives[on]} lives were found good")
    say(f"zonecuts: {bad} lives bad")
    return 1 if bad or not all(done.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
