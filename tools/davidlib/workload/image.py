# SPDX-License-Identifier: GPL-2.0
"""A file-system image in the manner of Impressions (Agrawal, Arpaci-Dusseau, Arpaci-Dusseau, FAST 2009).

File sizes are log-normal, with a Pareto tail; a file's depth is Poisson's; a directory is made below one
that is chosen with a weight of its subdirectories plus two (the generative model of Agrawal and others,
FAST 2007). The defaults are meant to be those of Impressions' table of parameters; docs/BENCH.md says where
each is from, and which were not verified.
"""

from __future__ import annotations

import os
import random

from . import fileops
from .record import Record
from .several import seeded

TAIL_SHARE, TAIL_SHAPE, TAIL_FROM = 1 - 0.99994, 0.91, 512 << 20


def size_of(rng: random.Random, mu: float, sigma: float, largest: int) -> int:
    tail = rng.random() < TAIL_SHARE
    size = TAIL_FROM * rng.paretovariate(TAIL_SHAPE) if tail else rng.lognormvariate(mu, sigma)
    return min(round(size), largest)


def _poisson(rng: random.Random, mean: float) -> int:
    """Knuth's: the number of steps until a product of uniform numbers is below exp(-mean)."""
    limit, product, count = 2.718281828459045**-mean, rng.random(), 0
    while product > limit:
        product *= rng.random()
        count += 1
    return count


def directories(rng: random.Random, count: int) -> list[tuple[str, int]]:
    """Paths from the top with their depths; the top itself is the first."""
    # Each stands in the list as often as its weight is.
    found, weighted = [("", 0)], [0, 0]
    for number in range(count):
        above = rng.choice(weighted)
        path, depth = found[above]
        weighted += [above, len(found), len(found)]
        found.append((f"{path}d{number:05}/", depth + 1))
    return found


def resized(found: list[tuple[str, int]], total: int) -> list[tuple[str, int]]:
    """So many bytes in all. What is missing goes to the largest hundredth of the files: the body of the
    distribution stays. What is too much is taken from all alike."""
    missing = total - sum(size for _, size in found)
    if missing < 0:
        return [(path, round(size * total / (total - missing))) for path, size in found]
    count = -(-len(found) // 100)
    least = sorted(size for _, size in found)[-count]
    return [(path, size + missing // count if size >= least else size) for path, size in found]


def files(params: dict, seed: int) -> tuple[list[str], list[tuple[str, int]]]:
    """Directories in the order in which they can be made, and files with their sizes."""
    rng = seeded(seed, "image")
    tree = directories(rng, params["directories"])
    by_depth: dict[int, list[str]] = {}
    for path, depth in tree:
        by_depth.setdefault(depth, []).append(path)
    deepest = max(by_depth)
    found = []
    for number in range(params["files"]):
        depth = min(max(_poisson(rng, params["depth"]) - 1, 0), deepest)
        size = size_of(rng, params["mu"], params["sigma"], params["largest"])
        found.append((f"{rng.choice(by_depth[depth])}f{number:06}", size))
    if params.get("total"):
        found = resized(found, params["total"])
    return [path for path, _ in tree[1:]], found


def run(kind: str, top: str, params: dict, seed: int) -> Record:
    del kind
    record = Record()
    made, found = files(params, seed)
    for path in made:
        with record.timed("mkdir"):
            os.mkdir(f"{top}/{path}")
    for path, size in found:
        fileops.create(record, f"{top}/{path}", size)
    with record.timed("sync"):
        os.sync()
    return record
