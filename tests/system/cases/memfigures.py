# SPDX-License-Identifier: GPL-2.0
"""Memory of the module, in `david stats`, is what the machine has less: by /proc/meminfo, part by part.

The figures are bytes that were asked for. The kernel rounds large pieces up, to at most twice as much.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from cases import case
from helpers import raw
from helpers.guest import Failed, device_stats, fake_disk, loop_disk, say
from helpers.units import GIB, MIB, TIB

SPARE = ("MemFree", "Buffers", "Cached", "SReclaimable")
# So many disks at a time, as slabs and lists of free pages keep megabytes, whatever they are asked for.
DISKS = 4
NOISE, LEAST = 2 * MIB, 16 * MIB


def used() -> int:
    """Bytes that are neither free nor a cache's."""
    os.sync()
    Path("/proc/sys/vm/drop_caches").write_text("3")
    time.sleep(0.3)
    lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    kib = {name: int(value.split()[0]) for name, value in lines.items()}
    return (kib["MemTotal"] - sum(kib[name] for name in SPARE)) << 10


def told() -> Counter[str]:
    """Of all disks."""
    found: Counter[str] = Counter()
    for number in range(DISKS):
        found.update(device_stats(f"mem{number}")["mem"])
    return found


def held(taken: int, said: int) -> bool:
    return said - NOISE <= taken <= 2 * said + NOISE


def judge(part: str, taken: int, said: int) -> None:
    """And a figure that is wrong by a factor of two would be found."""
    say(f"{part}: {taken} bytes less, {said} told")
    if said < LEAST or not held(taken, said):
        raise Failed(f"{part}: the machine has {taken} bytes less, and {said} are told")
    if held(taken, 2 * said) or held(taken, said // 3):
        raise Failed(f"{part}: {2 * said} or {said // 3} bytes would not be found: {taken} taken")


def disks_of(size: int, *options: str, then: Callable[[str], None] = str) -> tuple[int, Counter[str]]:
    """What the machine has less with such disks, after something is done with each; and what is told."""
    with ExitStack() as stack:
        backings = [stack.enter_context(loop_disk(size)) for _ in range(DISKS)]
        before = used()
        for number, backing in enumerate(backings):
            then(stack.enter_context(fake_disk(f"mem{number}", TIB, backing, *options)))
        return used() - before, told()


def write_runs(disk: str) -> None:
    """Of two blocks in turn, each a word again and again: entries of the table, and no block of the store."""
    words = b"".join((b"DAVID-%02d" % (number % 2)) * 512 for number in range(256))
    with raw.opened(disk) as fd:
        for number in range(700):
            raw.write(fd, words, number * 3 * MIB)


@case(seldom=True)
def memory_is_what_the_machine_has_less() -> None:
    disks_of(GIB)  # what is made once and stays
    plain, least = disks_of(GIB)
    say(f"{DISKS} disks: {plain} bytes less, {dict(least)} told")
    for part, size, more in (
        ("bitmap", 64 * GIB, ()),
        ("model", GIB, ("--profile", "samsung-pm883")),
        ("model", GIB, ("--profile", "seagate-st8000as0002")),
    ):
        taken, mem = disks_of(size, *more)
        judge(part, taken - plain, mem[part] - least[part])
    taken, mem = disks_of(GIB, then=write_runs)
    judge("ranges", taken - plain, mem["ranges"] - least["ranges"])
