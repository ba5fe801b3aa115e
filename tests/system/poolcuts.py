#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Power cuts of a pool that shares blocks, with three file systems, in a lab: lives, each by its seed."""

from __future__ import annotations

import argparse
import sys
import traceback

from helpers.cutlives import numbers
from helpers.guest import Failed, say
from helpers.poolsystems import cut_systems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=numbers, required=True, help="FIRST-LAST, a life each")
    parser.add_argument("--cuts", type=int, default=100, help="of each life (default: 100)")
    parser.add_argument("--syncs", type=int, default=40, help="of each life (default: 40)")
    args = parser.parse_args()
    done = bad = 0
    for seed in args.seeds:
        try:
            done += cut_systems(seed, args.syncs, args.cuts)
        except (Failed, OSError, AssertionError) as error:
            bad += 1
            # What was wrong first: what was in use then cannot be taken away.
            first: BaseException = error
            while first.__context__:
                first = first.__context__
            say(f"poolcuts: {first}")
            say("".join(traceback.format_exception(first)))
    say(f"poolcuts: {done} cuts of {len(args.seeds) - bad} lives were found good, {bad} lives bad")
    return 1 if bad or not done else 0


if __name__ == "__main__":
    sys.exit(main())
