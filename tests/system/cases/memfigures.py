# SPDX-License-Identifier: GPL-2.0
"""Memory of the module, in `david stats`, part by part: what its functions asked for, by the kernel's
trace points; and what the machine has less, by /proc/meminfo.

The figures are bytes that were asked for. The kernel rounds large pieces up, to at most twice as much.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from cases import case
from helpers import raw
from helpers.allocations import allocations
from helpers.davidtool import david
from helpers.filesystems import TOOLS
from helpers.guest import Failed, device_stats, fake_disk, loop_disk, mounted, ram_disk, run, say
from helpers.units import GIB, MIB, TIB

SPARE = ("MemFree", "Buffers", "Cached", "SReclaimable")
# So many disks at a time, as slabs and lists of free pages keep megabytes, whatever they are asked for.
DISKS = 4
NOISE, LEAST = 2 * MIB, 16 * MIB
ENDS = 128


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


def live(disk: str) -> None:
    """Files on ext4, which implicit classification learns; checksums of what was dropped; nodes of ranges."""
    run(*TOOLS["ext4"].mkfs, disk)
    with mounted(disk, "ext4") as top:
        for number in range(20):
            directory = Path(top) / str(number % 5)
            directory.mkdir(exist_ok=True)
            (directory / str(number)).write_bytes(random.Random(number).randbytes(3 * 4096))
        os.sync()
        david("raw", "add", "mem", f"{top}/3", "*.db")


def slowed(disk: str) -> None:
    """A drive with faults."""
    david("fault", "add", "mem", "--preset", "slow-hour-disk")
    with raw.opened(disk) as fd:
        for number in range(20):
            raw.write(fd, raw.patterned(number, 4096), number * MIB)


def squashed(disk: str) -> None:
    with raw.opened(disk) as fd:
        for number in range(100):
            raw.write(fd, raw.patterned(number, 4096), number * MIB)


def packed(disk: str) -> None:
    with raw.opened(disk) as fd:
        for number in range(100):
            raw.write(fd, b"%04d" % number * 1024, number * MIB)
    run("dmsetup", "message", "mem", "0", "pack")


LIVES: tuple[tuple[str, tuple[str, ...], Callable[[str], None]], ...] = (
    ("auto", (), live),
    ("implicit", ("--classify", "implicit"), live),
    ("SSD", ("--profile", "samsung-pm883"), slowed),
    ("shingled disk", ("--profile", "seagate-st8000as0002"), slowed),
    ("checksums", ("--classify", "data", "--option", "checksums=on"), squashed),
    ("exact", ("--option", "exact=8"), live),
    ("packed", ("--classify", "keep"), packed),
)


def settled() -> dict[str, int]:
    """Figures that do not change any more, as the module works in the background."""
    before: dict[str, int] = {}
    for _ in range(50):
        mem: dict[str, int] = device_stats("mem")["mem"]  # type: ignore[assignment]
        if mem == before:
            return mem
        before = mem
        time.sleep(0.1)
    raise Failed(f"the figures go on changing: {before}")


def known(said: int, asked: int) -> bool:
    """But for the ends of tables, and of what vmalloc() gives in whole pages."""
    return abs(said - asked) <= (ENDS if asked < MIB else asked // 200)


@case(seldom=True)
def memory_is_what_the_module_asked_for() -> None:
    """And when the disk is removed, all is given back."""
    wrong, seen = [], Counter[str]()
    with ram_disk(128 * MIB) as ram, fake_disk("mem", 8 * GIB, ram):
        pass  # what is made once and stays
    for name, options, then in LIVES:
        with ram_disk(128 * MIB) as ram, allocations() as asked:
            with fake_disk("mem", 8 * GIB, ram, *options) as disk:
                then(disk)
                mem, found = settled(), asked.parts()
            say(f"{name}: {mem}")
            seen.update(mem)
            wrong += [f"{name}: {part}: {mem[part]} bytes told, {found[part]} asked for"
                      for part in mem if not known(mem[part], found[part])]
            time.sleep(0.3)  # what is freed when nobody looks at it any more
            if left := {part: size for part, size in asked.parts().items() if size}:
                wrong.append(f"{name}: removed, and {left} bytes are not given back")
    wrong += [f"{part}: 0 in all lives" for part, size in seen.items() if not size]
    if wrong:
        raise Failed("; ".join(wrong))
