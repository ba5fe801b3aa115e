# SPDX-License-Identifier: GPL-2.0
"""Runs of `david bench` that never ran, as a page has them: any number of variants, with long names.

Their figures are made by a generator of numbers, and hang together as those of a disk do: counters grow, the
histogram has all requests. A page of them is to be looked at, not to be believed.
"""

from __future__ import annotations

import copy
import itertools
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from davidlib.bench import places, runs, samples, spec
from davidlib.disk.stats import EVIDENCE_MEANS
from davidlib.workload.record import QUANTILES

SECONDS, SAMPLES, BUCKETS = 12, 60, 18
SPEC = '[disk]\nprofile = "hitachi-hds721010kla330"\n[[workload]]\nkind = "varmail"\n'
DISK, JOURNAL = 10**12, 1 << 39
# As long as those of a real page.
DOUBTS = [
    {"kind": "memory_reads", "share": 0.45, "text":
     "45 % of the 8.987 MB of pages that were read did not come from the disk: they were in the machine's "
     "memory, or were never written (more files or a larger size than memory has room for, or direct = "
     "true)"},
    {"kind": "trend", "share": 1.12, "text":
     "the rate was not level: it rose by 112 % (more operations, or steady = true)"},
    {"kind": "cached_writes", "share": 1.0, "text":
     "20.78 MB were written, into a cache of 33.55 MB (more operations, or steady = true)"},
]
PARTS = ("overhead_ns", "seek_ns", "rotation_ns", "transfer_ns", "flush_ns")


def names(count: int, letters: int = 40) -> list[str]:
    """So many names with so many letters, and no two alike."""
    words = itertools.cycle(
        (
            "ext4 with its journal elsewhere, and",
            "xfs, sunit=256, swidth=1024, reflink",
            "btrfs -d single -m dup, compress=zstd:",
        )
    )
    return [
        f"{word} ".ljust(letters - 3, "x")[: letters - 3] + f" {number:02}"
        for number, word in zip(range(count), words, strict=False)
    ]


def result(rng: random.Random, speed: float) -> dict[str, Any]:
    rows: list[list[int]] = []
    histograms: list[list[int]] = []
    at = dict.fromkeys(samples.COLUMNS, 0)
    at |= {"store_bytes": 10 << 20, "memory_bytes": 4 << 20}
    heights = [0] * BUCKETS
    for sample in range(1, SAMPLES + 1):
        step = SECONDS * 10**9 // SAMPLES
        count = max(1, int(speed * rng.uniform(4, 8)))
        at["t_ns"] = sample * step
        at["reads"] += count // 3
        at["writes"] += count - count // 3
        at["flushes"] += count // 5
        at["read_bytes"] += 4096 * (count // 3)
        at["written_bytes"] += 8192 * (count - count // 3)
        at["modelled"] += count
        at["modelled_ns"] += int(count * rng.lognormvariate(15.5, 0.6))
        at["busy_ns"] += int(0.9 * step)
        for part, share in zip(PARTS, (0.05, 0.35, 0.3, 0.1, 0.1), strict=True):
            at[part] += int(step * share * rng.uniform(0.8, 1))
        at["store_bytes"] += 8192 * count
        at["memory_bytes"] += 512 * count
        for _ in range(count):
            heights[min(BUCKETS - 1, max(0, int(rng.gauss(12, 2))))] += 1
        rows.append([at[name] for name in samples.COLUMNS])
        histograms.append(list(heights))
    operations = at["modelled"] // 2
    times = sorted(int(rng.lognormvariate(15.5, 0.9)) for _ in range(500))
    quantiles = [times[min(499, share * 500 // 1000)] for share in QUANTILES]
    stats = {
        "mode": "timing-accurate",
        "store_used": at["store_bytes"] // 4096,
        "block_size": 4096,
        "mem": {"model": at["memory_bytes"]},
        "busy_ns": at["busy_ns"],
        "queue_wait_ns": at["modelled_ns"] // 5,
        "requests": {
            "read": at["reads"],
            "write": at["writes"],
            "flush": at["flushes"],
            "discard": 0,
            "zeroes": 0,
        },
        "sectors": {
            "read": at["read_bytes"] // 512,
            "write": at["written_bytes"] // 512,
            "flush": 0,
            "discard": 0,
            "zeroes": 0,
        },
        "parts": {
            name.removesuffix("_ns"): at[name]
            for name in samples.COLUMNS
            if name.endswith("_ns") and name not in ("t_ns", "modelled_ns", "busy_ns", "late_ns")
        },
        "evidence": dict.fromkeys(EVIDENCE_MEANS, 0)
        | {"bdev": at["written_bytes"] // 4096 // 3, "file": at["written_bytes"] // 4096 * 2 // 3},
        "modelled": {"read": at["reads"], "write": at["writes"], "flush": at["flushes"]},
        "flash": {"host_pages": 0, "moved_pages": 0},
    }
    took = places.Counts(DISK // 512, [(JOURNAL // 512, (JOURNAL + (1 << 30)) // 512)], 0, "253:0")
    for number in range(at["reads"] + at["writes"]):
        logged = JOURNAL // 4096 + number % 1000
        where = rng.choice((rng.randrange(DISK // 4096), rng.randrange(1000), logged))
        op = "01"[number >= at["reads"]]
        took.take("253:0", rng.randrange(SECONDS * 10**9), op, 8 * where, rng.choice((8, 16)))
    return {
        "places": took.found(),
        "seconds": float(SECONDS),
        "operations": operations,
        "operations_per_s": operations / SECONDS,
        "megabytes_per_s": (at["read_bytes"] + at["written_bytes"]) / 1e6 / SECONDS,
        "read_bytes": at["read_bytes"],
        "written_bytes": at["written_bytes"],
        "latency": {"create": {"count": operations, "mean_ns": sum(times) // 500, "quantiles_ns": quantiles}},
        "times": {"good": True, "text": "all requests were on time"},
        "wrong": [],
        "doubts": DOUBTS[: rng.randrange(4)],
        "reach": {"touched_bytes": 25_800_000, "stroked_bytes": 153_200_000, "disk_bytes": 20 * 10**12},
        "left_ns": 10**6,
        "steady": None,
        "stats": stats,
        "columns": list(samples.COLUMNS),
        "samples": rows,
        "histograms": histograms,
    }


def made(
    factors: list[dict[str, str]], seeds: int, workloads: tuple[str, ...] = ("mail",)
) -> list[dict[str, Any]]:
    """A run for each workload, variant and seed, as Results.load() has them."""
    base = runs.expand(spec.parse(SPEC, "made up", Path("/")))[0].described
    found = []
    for workload, (number, words) in itertools.product(workloads, enumerate(factors)):
        for seed in range(1, seeds + 1):
            run = copy.deepcopy(base)
            run |= {"variant": ", ".join(words.values()), "factors": words, "seed": seed}
            run["workload"] |= {"name": workload}
            rng = random.Random(f"{workload} {number} {seed}")
            found.append(
                {
                    "id": f"{workload}-{number}-{seed}",
                    "run": run,
                    "drive": "3 of 10 values are assumed",
                    "versions": {"kernel": "6.12.117", "mkfs.ext4": "1.47.0"},
                    "result": result(rng, 1 + number % 7),
                }
            )
    return found


def variants(count: int, seeds: int, letters: int = 40) -> list[dict[str, Any]]:
    """Runs of one group."""
    return made([{"mkfs": name} for name in names(count, letters)], seeds)


def grid(systems: int, drives: int, seeds: int, letters: int = 40) -> list[dict[str, Any]]:
    """Runs of several file systems on each of several drives."""
    return made(
        [
            {"file system": fs, "drive": drive}
            for drive in names(drives, letters)
            for fs in names(systems, letters)
        ],
        seeds,
    )


BLOCKS = ("4K", "16K", "64K", "256K")


def sweep(systems: int, drives: int, seeds: int, letters: int = 40) -> list[dict[str, Any]]:
    """Runs of several file systems on each of several drives, with each of four sizes of a block."""
    return made(
        [
            {"file system": fs, "drive": drive, "block": block}
            for drive in names(drives, letters)
            for fs in names(systems, letters)
            for block in BLOCKS
        ],
        seeds,
    )


# Written from the right, in letters as wide as high, with signs of HTML, and longer than a phone is wide.
ODD = ("مقارنة ext4 מערכת קבצים", "日本語のファイルシステム比較テスト", "Ελληνικά & <b>x</b>, 50% \\{}_~^",
       "RAID-6 of 12 chunk=64K layout=left-symmetric-6 bitmap=internal")


def odd(count: int, seeds: int) -> list[dict[str, Any]]:
    """Runs with such names, with rates and times that are far from each other."""
    found = made([{"file system": name} for name in ODD[:count]], seeds, ("بريد",))
    for one in found:
        result, far = one["result"], 100 ** ODD.index(one["run"]["variant"])
        result["operations_per_s"] *= far
        # From 1 ns to 100 s.
        result["latency"]["create"]["quantiles_ns"] = [int(10 ** (11 * share / 1000)) for share in QUANTILES]
    return found


def main() -> None:
    """A page: of variants of one group, of three file systems on a third as many drives, of two over a
    parameter, or with odd names. With a width, in pt, the files for a paper there: of the drawings
    of a group those that are named."""
    from davidlib.report import export, page, plots

    shape, count, seeds, path, *paper = sys.argv[1:]
    shapes: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "group": lambda: variants(int(count), int(seeds)),
        "grid": lambda: grid(3, int(count) // 3, int(seeds)),
        "odd": lambda: odd(int(count), int(seeds)),
        "sweep": lambda: sweep(2, int(count) // 8, int(seeds)),
    }
    found = shapes[shape]()
    if paper:
        width, *asked = paper
        of_group = plots.of_group
        plots.of_group = lambda runs: {name: one for name, one in of_group(runs).items() if name in asked}
        Path(path).mkdir()
        for line in (*export.answers(found, "operations", Path(path)),
                     *export.drawings(found, "operations", Path(path), float(width))):
            print(line)
        return
    environment = {"host": "no machine", "finished": "never"}
    text = page.make("Which of these is it?", found, "operations", SPEC, environment, export.table(found))
    Path(path).write_text(text)


if __name__ == "__main__":
    main()
