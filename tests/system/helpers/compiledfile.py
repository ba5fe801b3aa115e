# SPDX-License-Identifier: GPL-2.0
"""A compiled trace as tests read it: a second reader of the format of tools/calls/workload.h."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parents[3]
OPS_H = TREE / "tools/calls/workload-ops.h"
OPERATIONS = re.findall(r'^OP\((\w+), "(\w*)"', OPS_H.read_text(), re.MULTILINE)
HEADER = struct.Struct("<IIQIIQQQQQQQQ32sQQQ9QQ")
REASONS = [
    *("not-replayed", "without-a-disk", "only-in-order", "without-rights", "unknown", "left-out"),
    "missing",
    "elsewhere",
]
THREAD = struct.Struct("<QQIIII")


def numbers(data: bytes) -> Iterator[int]:
    """Of 7 bits a byte, the lowest first."""
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0


def unfold(value: int) -> int:
    return value >> 1 ^ -(value & 1)


def commands(data: bytes, count: int) -> Iterator[dict[str, Any]]:
    rest = numbers(data)
    event = start = 0
    for _ in range(count):
        # Ops and flags are less than 128, so each is a number of one byte.
        name, arguments = OPERATIONS[next(rest)]
        flags = next(rest)
        event += unfold(next(rest))
        start += unfold(next(rest))
        command = {"op": name, "flags": flags, "event": event, "start": start}
        command |= {"duration": next(rest), "gap": next(rest), "result": unfold(next(rest))}
        command["deps"] = [(next(rest), next(rest)) for _ in range(next(rest))]
        command["args"] = [unfold(next(rest)) if letter == "i" else next(rest) for letter in arguments]
        yield command


def load(path: Path) -> list[list[dict[str, Any]]]:
    """By thread, its commands."""
    data = path.read_bytes()
    header = HEADER.unpack_from(data)
    found = []
    for thread in range(header[3]):
        at, size, count, *_ = THREAD.unpack_from(data, header[12] + THREAD.size * thread)
        found.append(list(commands(data[at : at + size], count)))
    return found


def trace_calls(path: Path) -> tuple[int, dict[str, int]]:
    """How many the trace had; which of them are none here, by reason."""
    calls, *without = HEADER.unpack_from(path.read_bytes())[17:-1]
    return calls, {reason: n for reason, n in zip(REASONS, without, strict=True) if n}


def layout(path: Path) -> tuple[list[str], list[tuple[int, ...]]]:
    """Names of the tree, and pieces of its files: gap, entry, offset, length."""
    data = path.read_bytes()
    header = HEADER.unpack_from(data)
    tree, tree_bytes, text = header[8], header[9], header[10]
    count, at, size = header[14:17]
    entries = list(numbers(data[tree : tree + tree_bytes]))[2::4]
    names = [data[text + place :].split(b"\0", 1)[0].decode() for place in entries]
    rest = numbers(data[at : at + size])
    return names, [tuple(next(rest) for _ in range(4)) for _ in range(count)]
