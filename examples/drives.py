#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Which drive will do? A block trace served by several drives and by arrays of them: a line for each.

    PYTHONPATH=tools examples/drives.py TRACE [DRIVE...]

No kernel, no root, no lab: david-sim does it. docs/REFERENCE.md tells which traces it reads. The exit status
is 2 if too much of the trace was left out.
"""

import sys

import dm_david

DRIVES = ("toshiba-p300-3tb", "seagate-exos-x20-20tb", "samsung-860-pro")


def main() -> int:
    if len(sys.argv) < 2:
        print("usage: drives.py TRACE [DRIVE...]", file=sys.stderr)
        return 1
    drives = sys.argv[2:] or DRIVES
    try:
        found = dm_david.simulate(sys.argv[1], drives, arrays=["10 members=4"], loop="closed")
    except dm_david.Error as error:
        print(f"drives.py: {error}", file=sys.stderr)
        return 1
    print(f"{'drive':<40} {'requests/s':>11} {'p99 ms':>9} {'busy':>6}")
    for served in found.served:
        for run in served["runs"]:
            name = served["profile"] + (f", RAID-{served['array']}" if served["array"] else "")
            p99 = run["all"]["p99_us"] / 1000
            print(f"{name:<40} {run['per_s']:>11.1f} {p99:>9.2f} {100 * run['busy']:>5.0f}%")
    return 0 if found.believable else 2


if __name__ == "__main__":
    sys.exit(main())
