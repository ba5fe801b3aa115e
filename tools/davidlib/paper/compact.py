# SPDX-License-Identifier: GPL-2.0
"""In how few bytes could a kept block be said? Four ways, from a rule in the range table to a compressor.

Nothing of it is built: it tells what building it would give.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter

BLOCK = 4096
NUMBERS = BLOCK // 4
# What a rule takes in the range table: the range's first block and length, kind and value.
RULE = 24
# Of several runs: where it begins in the block, how long it is, and its first number.
RUN = 8


def runs_of(block: bytes) -> list[tuple[int, int, int]]:
    """The numbers of a block, of 32 bits, as runs that count up by one: offset, length, first number. Zeros
    belong to none."""
    found: list[tuple[int, int, int]] = []
    for at, number in enumerate(struct.unpack(f"<{NUMBERS}I", block)):
        if not number:
            continue
        if found:
            start, length, first = found[-1]
            if start + length == at and first + length == number:
                found[-1] = (start, length + 1, first)
                continue
        found.append((at, 1, number))
    return found


def ways(block: bytes) -> dict[str, int]:
    """The bytes that it takes in each way; BLOCK where a way cannot say it."""
    runs = len(runs_of(block))
    return {
        "one": RULE if runs <= 1 else BLOCK,
        "several": min(RULE + RUN * (runs if runs > 1 else 0), BLOCK),
        "trimmed": len(block.rstrip(b"\0")),
        "deflate": min(len(zlib.compress(block, 9, wbits=-15)), BLOCK),
    }


def account(blocks: list[bytes]) -> dict[str, int]:
    """The sum of that over these blocks; `best`: the shortest for each; no store could do better."""
    total: Counter[str] = Counter()
    for block in blocks:
        found = ways(block)
        total.update(found | {"best": min(found.values())})
    return dict(total)
