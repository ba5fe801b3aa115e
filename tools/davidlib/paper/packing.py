# SPDX-License-Identifier: GPL-2.0
"""What a workload takes in the store once its kept blocks are packed.

Packed are all blocks that are kept, the journal's and those of workloads before, too. So it is read in the
packs which block takes how much: its piece, and its share of what the pack's places hold besides.
"""

from __future__ import annotations

import os
import struct
from bisect import bisect_right
from dataclasses import dataclass, field

from .. import build
from ..bench import testbed

BLOCK = 4096
# docs/FORMAT.md: area 2, eight pages for each number, a head and pieces.
MODULES_OWN = 1 << 59
PACKS = MODULES_OWN + (2 << 56)
PAGES = 8
HEAD, PIECE = struct.Struct("<IIQII"), struct.Struct("<QIHH")


@dataclass
class Kept:
    """Blocks that are kept, in ranges, and what each packed one of them takes, in bytes."""

    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    packed: dict[int, float] = field(default_factory=dict)

    def __contains__(self, block: int) -> bool:
        at = bisect_right(self.first, block)
        return at > 0 and block <= self.last[at - 1]


def shares(pack: bytes, blocks: set[int]) -> dict[int, float]:
    """What each of these blocks takes of that pack, which has no others any more."""
    pieces = HEAD.unpack_from(pack)[4]
    taken = {block: PIECE.size + length
             for block, _, length, _ in PIECE.iter_unpack(pack[HEAD.size : HEAD.size + PIECE.size * pieces])
             if block in blocks}
    return {block: len(pack) * bytes_ / sum(taken.values()) for block, bytes_ in taken.items()}


def look() -> Kept:
    """What is in the store, which may be in use: what was flushed is in its log."""
    found = Kept()
    places: dict[int, int] = {}
    members: dict[int, set[int]] = {}
    for line in testbed.call(str(build.ensure("david-store")), "dump", testbed.BACKING).splitlines():
        words = line.split()
        first, last, kind = int(words[0]), int(words[1]), words[2]
        if first >= PACKS:
            places |= {page - PACKS: int(words[3]) + page - first for page in range(first, last + 1)}
        elif kind != "squashed" and first < MODULES_OWN:
            found.first.append(first)
            found.last.append(last)
            if kind == "packed":
                members.setdefault(int(words[3]), set()).update(range(first, last + 1))
    with open(testbed.BACKING, "rb") as store:
        for number, blocks in members.items():
            pages = [places[page] for page in range(PAGES * number, PAGES * (number + 1)) if page in places]
            pack = b"".join(os.pread(store.fileno(), BLOCK, BLOCK * place) for place in pages)
            found.packed |= shares(pack, blocks)
    return found


def pack() -> Kept:
    testbed.call("dmsetup", "message", testbed.NAME, "0", "pack")
    with open(testbed.DISK, "r+b") as disk:
        os.fsync(disk.fileno())
    return look()


def spared(before: Kept, now: Kept) -> int:
    """Bytes that new blocks take less than when each took a place of its own."""
    return int(sum(BLOCK - taken for block, taken in now.packed.items() if block not in before))
