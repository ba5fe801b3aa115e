# SPDX-License-Identifier: GPL-2.0
"""A second way to what an SSD's collection does: page by page, in lists, by the rules of model/flash/WHY.md.

For drives whose map has all pages, without an SLC cache, that collect greedily and keep what they move apart.
"""

from __future__ import annotations

from collections import deque
from typing import Any

FEW_FREE = 4  # of blocks: then collection begins
SPARE = 8  # blocks that a drive has more than its pages need, at least
OVERWRITES = 4  # of a drive that was written at random, times what it was filled with
PAGE = 8  # sectors


class Map:
    def __init__(self, told: dict[str, Any]) -> None:
        """TOLD is the profile; its drive is written before as it says."""
        assert told["gc"] == "greedy" and told["gc_separate"] == "yes" and not told["slc_cache"], told
        pages, self.block = int(told["capacity"]) // PAGE, int(told["gc_unit"]) // PAGE
        blocks = max(int(told["raw_capacity"] // told["gc_unit"]), -(-pages // self.block) + SPARE)
        self.place = [-1] * pages
        self.slots = [0] * (blocks * self.block)
        self.valid = [0] * blocks
        self.free = deque(range(blocks))
        self.closed: set[int] = set()
        # The block that is filled, and its next slot.
        self.streams = {"host": (-1, self.block), "moves": (-1, self.block)}
        self.victim, self.next, self.owed, self.share, self.gain = -1, 0, 0, 0, 1
        self.moved = self.erased = 0
        self.fill(told, pages)

    def fill(self, told: dict[str, Any], pages: int) -> None:
        if told["precondition"] == "fresh":
            return
        filled, dice = int(pages * told["precondition_fill"]), 1
        for page in range(filled):
            self.write(page)
        for _ in range(OVERWRITES * filled if told["precondition"] == "random" else 0):
            # Knuth's MMIX; the upper half says where.
            dice = (dice * 6364136223846793005 + 1442695040888963407) % 2**64
            self.write((dice >> 32) * filled >> 32)
        self.moved = self.erased = 0

    def put(self, page: int, stream: str) -> None:
        block, at = self.streams[stream]
        if at == self.block:
            block, at = self.free.popleft(), 0
        if self.place[page] >= 0:
            self.valid[self.place[page] // self.block] -= 1
        slot = block * self.block + at
        self.place[page], self.slots[slot] = slot, page
        self.valid[block] += 1
        self.streams[stream] = (block, at + 1)
        if at + 1 == self.block:
            self.closed.add(block)

    def choose(self) -> bool:
        if not self.closed:
            return False
        self.victim = min(self.closed, key=lambda block: (self.valid[block], block))
        self.closed.remove(self.victim)
        self.next, self.share = self.victim * self.block, self.valid[self.victim]
        self.gain = max(self.block - self.share, 1)
        return True

    def move(self) -> None:
        while self.place[self.slots[self.next]] != self.next:
            self.next += 1
        self.put(self.slots[self.next], "moves")
        self.moved += 1

    def erase_if_empty(self) -> None:
        if not self.valid[self.victim]:
            self.free.append(self.victim)
            self.erased += 1
            self.victim = -1

    def collect(self) -> None:
        """For a page of the host's the victim's share is owed. What it gains is room for such pages."""
        if self.victim < 0 and (len(self.free) > FEW_FREE or not self.choose()):
            return
        self.owed += self.share
        while self.owed >= self.gain and self.valid[self.victim]:
            self.owed -= self.gain
            self.move()
        self.erase_if_empty()

    def write(self, page: int) -> None:
        self.collect()
        # The last free block is for moves.
        while self.streams["host"][1] == self.block and len(self.free) < 2:
            assert self.victim >= 0 or self.choose()
            while self.valid[self.victim]:
                self.move()
            self.erase_if_empty()
        self.put(page, "host")
