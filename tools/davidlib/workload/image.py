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
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

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


def resized(sizes: Sequence[int], total: int) -> array[int]:
    """So many bytes in all. What is missing goes to the largest hundredth of the files: the body of the
    distribution stays. What is too much is taken from all alike."""
    missing = total - sum(sizes)
    if missing < 0:
        return array("q", (round(size * total / (total - missing)) for size in sizes))
    count = -(-len(sizes) // 100)
    least = sorted(sizes)[-count]
    return array("q", (size + missing // count if size >= least else size for size in sizes))


@dataclass
class Image:
    """
    A million files are numbers, not a million paths: a process of User Mode Linux may have some 65,000 pages
    that do not lie in a row (the host's vm.max_map_count), and ends with a segmentation fault beyond.
    """

    directories: list[str]  # in the order in which they can be made; the top is the first
    places: array[int]  # the directory of each file
    sizes: array[int]

    def files(self) -> Iterator[tuple[str, int]]:
        for number, (place, size) in enumerate(zip(self.places, self.sizes, strict=True)):
            yield f"{self.directories[place]}f{number:06}", size


def draw(params: dict[str, Any], seed: int) -> Image:
    rng = seeded(seed, "image")
    tree = directories(rng, params["directories"])
    by_depth: dict[int, array[int]] = {}
    for number, (_, depth) in enumerate(tree):
        by_depth.setdefault(depth, array("q")).append(number)
    deepest = max(by_depth)
    places, sizes = array("q"), array("q")
    for _ in range(params["files"]):
        depth = min(max(_poisson(rng, params["depth"]) - 1, 0), deepest)
        sizes.append(size_of(rng, params["mu"], params["sigma"], params["largest"]))
        places.append(rng.choice(by_depth[depth]))
    if params.get("total"):
        sizes = resized(sizes, params["total"])
    return Image([path for path, _ in tree], places, sizes)


def files(params: dict[str, Any], seed: int) -> tuple[list[str], list[tuple[str, int]]]:
    """Directories in the order in which they can be made, and files with their sizes."""
    found = draw(params, seed)
    return found.directories[1:], list(found.files())


def run(kind: str, top: str, params: dict[str, Any], seed: int) -> Record:
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
