# SPDX-License-Identifier: GPL-2.0
"""Arrays of `david bench`, md over fake disks, held to the arrays of david-sim: the same drives, levels and
jobs, by another program that knows md's rules and not md.

Rates are of requests of 4 KiB at random, whose places and the platters' angles differ in both. So david-sim's
is the mean of several seeds.
"""

from __future__ import annotations

import json
import statistics
import subprocess
from typing import Any

from davidlib import build

DRIVE = "seagate-exos-x20-20tb"
SEEDS = range(1, 9)
# As of md beside the paper's arrays (cases/vtime.py): of 500 places by chance the mean may be 2 % from the
# mean of all.
SHORT, LONG = 0.045, 0.025


def spec(array: str, kind: str, operations: int, depth: int, seed: int = 1, state: str = "",
         faults: tuple[str, int] = ("", 0)) -> str:
    """A question of one run. With a depth it is fio's: of several processes the last one would end alone.
    FAULTS are those of a member, and its number."""
    text = f'seeds = {seed}\n[disk]\nprofile = "{DRIVE}"\narray = "{array}"\n'
    text += f'array-state = "{state}"\n' if state else ""
    text += f'[[faults]]\nfaults = "{faults[0]}"\nmember = {faults[1]}\n' if faults[0] else ""
    text += '[[filesystem]]\ntype = "none"\n[[workload]]\n'
    if depth == 1:
        return text + f'kind = "{kind}"\noperations = {operations}\n'
    rw = kind.replace("-", "").replace("random", "rand")
    return text + (f'kind = "fio"\ndepth = {depth}\njob = """\n[a]\nrw={rw}\nbs=4k\ndirect=1\n'
                   f'ioengine=libaio\niodepth={{depth}}\nnorandommap\nnumber_ios={operations}\n"""\n')


def simulated(array: str, kind: str, operations: int, depth: int, state: str = "",
              faults: tuple[str, int] = ("", 0)) -> dict[str, float]:
    """Requests a second, what members are asked for each of them, and by what share seeds are apart."""
    failing = ["--faults", faults[0], "--faulty", str(faults[1])] if faults[0] else []
    write = "write " if kind == "random-write" else ""
    # A run of bench begins with empty caches. But for fio's, it ends with a flush.
    job = f"{write}random depth={depth} count={operations} warm=0{' drain' if write and depth == 1 else ''}"
    found = []
    for seed in SEEDS:
        words = [str(build.ensure("david-sim")), "bench", "--json", "--no-doubts", "--profile", DRIVE,
                 "--array", f"{array} seed={seed} {state}", "--job", f"{job} seed={seed}", *failing]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        found.append(json.loads(done.stdout)["jobs"][0])
    rates = [operations / job["seconds"] for job in found]
    return {"rate": statistics.harmonic_mean(rates),
            "spread": statistics.stdev(rates) / statistics.fmean(rates),
            "reads": statistics.fmean(job["member_reads"] for job in found),
            "writes": statistics.fmean(job["member_writes"] for job in found)}


def apart(result: dict[str, Any], expected: dict[str, float], operations: int) -> dict[str, float]:
    """By how much a run of bench is off: shares."""
    asked = result["stats"]["modelled"]
    kinds = {"reads": asked["read"] / operations, "writes": asked["write"] / operations}
    found = {"rate": operations / result["seconds"] / expected["rate"] - 1}
    # md writes its superblocks, and whoever looks at a new disk reads its first block.
    return found | {name: value / expected[name] - 1 for name, value in kinds.items() if expected[name]}


def wrong(result: dict[str, Any], expected: dict[str, float], operations: int,
          tolerance: float) -> dict[str, float]:
    """What of that is more than the tolerance."""
    return {name: share for name, share in apart(result, expected, operations).items()
            if abs(share) > tolerance}
