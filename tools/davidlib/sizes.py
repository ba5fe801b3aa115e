# SPDX-License-Identifier: GPL-2.0
"""Sizes as users write them: 1T, 1.5TiB, 64K in powers of 1024, 20TB in powers of 1000, bytes. And times."""

from __future__ import annotations

import argparse
import re
from fractions import Fraction

SECTOR = 512
UNITS = "KMGTPE"
SECONDS = {"ns": 1, "us": 1000, "ms": 1000_000, "s": 1000_000_000, "min": 60_000_000_000}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)(?:([KMGTPE])(iB|B)?)?", re.IGNORECASE)


def parse_size(text: str) -> int:
    """Bytes, a positive multiple of 512; ValueError says what is wrong and what to write instead."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"'{text}' is not a size; write 1T, 1.5T, 100G, 512M, 64K, 20TB or plain bytes")
    number, unit, suffix = match.groups()
    power = UNITS.index(unit.upper()) + 1 if unit else 0
    value = Fraction(number) * (1000 if (suffix or "").upper() == "B" else 1024) ** power
    size = int(value)
    if size == 0:
        raise ValueError(f"'{text}' is no size to work with; give at least {SECTOR} bytes")
    if value.denominator != 1 or size % SECTOR:
        below = size // SECTOR * SECTOR
        near = f"the nearest below is {below}" if below else f"the least is {SECTOR}"
        raise ValueError(f"'{text}' is not a multiple of {SECTOR} bytes; {near}")
    # The kernel counts bytes of a disk in a signed 64-bit number.
    if size >= 1 << 63:
        raise ValueError(f"'{text}' is too large; a disk must be smaller than 8E")
    return size


def size_arg(text: str) -> int:
    """parse_size() for argparse, which puts the argument's name in front."""
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def size_text_arg(text: str) -> str:
    """The same, as it was written: where a profile's comment repeats it."""
    size_arg(text)
    return text


def time_arg(text: str) -> int:
    """10s, 1.5ms, 200us: nanoseconds."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ns|us|ms|s|min)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is not a time; write 10s, 250ms, 100us, 2min")
    return int(float(match[1]) * SECONDS[match[2]])


def format_size(size: float) -> str:
    """Three digits and a unit: 1.50 TiB."""
    if size < 1024:
        return f"{int(size)} B"
    for unit in UNITS:
        size /= 1024
        if size < 1024 or unit == UNITS[-1]:
            break
    digits = 2 if size < 10 else 1 if size < 100 else 0
    return f"{size:.{digits}f} {unit}iB"


def format_both(size: int) -> str:
    """As makers and as programs count: 20.0 TB (18.2 TiB)."""
    power = max(n for n in range(len(UNITS) + 1) if 1000**n <= max(size, 1))
    if not power:
        return f"{size} B"
    value = size / 1000**power
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f} {UNITS[power - 1]}B ({format_size(size)})"


def format_time(ns: int) -> str:
    """Nanoseconds in the unit that suits."""
    for limit, factor, unit in ((10_000, 1, "ns"), (10_000_000, 1000, "us"), (10_000_000_000, 10**6, "ms")):
        if ns < limit:
            return f"{ns / factor:.4g} {unit}"
    return f"{ns / 10**9:.2f} s"
