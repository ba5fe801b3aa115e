# SPDX-License-Identifier: GPL-2.0
"""A user reads what a member cannot read: what md does then takes the time that david-sim says, read by read.

The reads come one after another. Platters stand in david-sim as the disks' did when the first one came.
"""

from __future__ import annotations

import json
import operator
import os
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from cases import case
from helpers import raw
from helpers.guest import SCRATCH, Failed, device_stats, run, say
from helpers.mdtimed import ARRAY, DRIVE, angles, array, begin_times, done_by_members, part
from helpers.timed import SIM
from helpers.units import GIB, MIB

SPAN = 64 * MIB  # of each member
BAD = (20000, 20127)  # sectors of a member
LAST_S = 5  # before the last read, so that all is written that could not be read
NEAR_NS = 1000  # of a read; each of its steps is rounded


@dataclass(frozen=True)
class Told:
    level: str
    members: int
    bad: tuple[int, ...]  # members
    seed: int  # one with which reads of both sizes fail
    layout: str = ""
    at: tuple[int, int] = BAD

    def error(self) -> str:
        return "media-error:sectors={}-{}".format(*self.at)

    def words(self) -> str:
        layout = f" layout={self.layout}" if self.layout else ""
        return f"{self.level} members={self.members}{layout} {part(SPAN)}"

    def data(self) -> int:
        """Members' worth of data. Of far copies the first half of a member has first ones only."""
        if self.layout.startswith("f"):
            return self.members
        lost = {"4": 1, "5": 1, "6": 2, "1": self.members - 1, "10": self.members // 2}
        return self.members - lost[self.level]


@contextmanager
def failing(told: Told) -> Iterator[list[str]]:
    """An array of such disks, in the drives' time, with members that cannot read something."""
    with array(told.level, told.members, told.layout, SPAN, 200 * MIB) as names:
        begin_times(names, [(member, told.error()) for member in told.bad])
        yield names


def placing(told: Told) -> int:
    """How many reads come first and are not compared: they place heads. The kernel has read before."""
    return 2 * told.members


def reads_of(told: Told) -> list[tuple[int, int]]:
    """Sectors of the array, and how many: at first such that place heads, then near what is bad, and one that
    is good, which is not compared: sleeping is not exact."""
    rng, chunk = random.Random(told.seed), 1024
    found = [(row * chunk, 8) for row in range(placing(told))]
    low, high = (told.at[0] // chunk - 1) * told.data(), (told.at[1] // chunk + 2) * told.data()
    at_row = told.at[0] // chunk * told.data()
    for number in range(30):
        blocks = 16 if number % 5 == 4 else 1
        chunk_at = rng.randrange(at_row, at_row + told.data()) if number % 2 else rng.randrange(low, high)
        at = rng.randrange(told.at[0] % chunk - 64, told.at[1] % chunk + 64) // 8 * 8
        found.append((chunk_at * chunk + min(at, chunk - 8 * blocks), 8 * blocks))
    return [*found, (0, 8)]


def by_md(told: Told, reads: list[tuple[int, int]]) -> tuple[int, list[int], list[dict]]:
    """When the first one came, what each took, and what each member did behind those that place heads."""
    with failing(told) as names:
        fd = os.open(ARRAY, os.O_RDONLY | os.O_DIRECT)
        try:
            began, took = time.monotonic_ns(), []
            for number, (sector, sectors) in enumerate(reads):
                if number == placing(told):
                    before = [device_stats(name) for name in names]
                if number == len(reads) - 1:
                    time.sleep(LAST_S)
                start = time.monotonic_ns()
                raw.read(fd, sectors * 512, sector * 512)
                took.append(time.monotonic_ns() - start)
        finally:
            os.close(fd)
        return began, took, done_by_members(names, before)


def by_david_sim(told: Told, reads: list[tuple[int, int]], began: int) -> tuple[list[int], list[dict]]:
    SCRATCH.mkdir(parents=True, exist_ok=True)
    trace, out = SCRATCH / "trace.csv", SCRATCH / "times.csv"
    delays = [0] * (len(reads) - 2) + [LAST_S * 10**6, 0]
    trace.write_text("op,lbn,blocks,delay_us\n" + "".join(
        f"R,{sector},{sectors},{delay}\n" for (sector, sectors), delay in zip(reads, delays, strict=True)))
    profile = Path(SCRATCH) / "scaled.profile"
    profile.write_text(run(SIM, "profile", "show", "--sectors", str(GIB // 512), DRIVE))
    words = [SIM, "replay", "--profile", profile, "--trace", trace, "--out", out, "--json", "--array",
             told.words(), "--angles", angles(told.members, began)]
    words += [word for member in told.bad for word in ("--fault", f"{member}:{told.error()}")]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    times = [round(float(line.split(",")[1]) * 1000) for line in out.read_text().splitlines()[1:]]
    return times, json.loads(done.stdout)["members"]


def read_and_written(member: dict) -> tuple[int, int, int]:
    """Of a member in david-sim: reads, writes, bytes that were read."""
    return member["reads"], member["writes"], member["read_bytes"]


def without_placing(told: Told, reads: list[tuple[int, int]], began: int,
                    whole: list[dict]) -> list[tuple[int, ...]]:
    """What each member did of the WHOLE in david-sim behind the reads that place heads. Which copy md reads
    of the first of these depends on what the kernel has read before.
    """
    _, placed = by_david_sim(replace(told, bad=()), reads[:placing(told)], began)
    return [tuple(map(operator.sub, read_and_written(one), read_and_written(other)))
            for one, other in zip(whole, placed, strict=True)]


def differ_by_the_last(told: Told, mine: list[tuple[int, ...]], theirs: list[tuple[int, ...]]) -> bool:
    """Members did the same. Of copies, the last read, which is not compared, may be of another one."""
    if mine == theirs or told.level not in ("1", "10"):
        return mine == theirs
    apart = [tuple(map(operator.sub, one, other)) for one, other in zip(mine, theirs, strict=True)]
    last = (1, 0, reads_of(told)[-1][1] * 512)
    return sorted(apart) == sorted([last, tuple(map(operator.neg, last)), *[(0, 0, 0)] * (told.members - 2)])


def agree(told: Told) -> None:
    reads = reads_of(told)
    began, took, members = by_md(told, reads)
    said, whole = by_david_sim(told, reads, began)
    simulated = without_placing(told, reads, began, whole)
    compared = slice(placing(told), -1)
    reads, took, said = reads[compared], took[compared], said[compared]
    apart = [abs(one - other) for one, other in zip(took, said, strict=True)]
    failed = [sectors for (_, sectors), one in zip(reads, took, strict=True) if one > 10**8]
    slow, large = len(failed), sum(sectors > 8 for sectors in failed)
    say(f"RAID-{told.words()}: {slow} of {len(reads)} reads met what is bad, {large} of them large; "
        f"{max(apart)} ns apart at most, "
        f"{sum(took) / 1e9:.4f} s of md, {sum(said) / 1e9:.4f} s of david-sim")
    if slow < 3 or not large:
        raise Failed(f"only {slow} reads met what is bad, {large} of them large")
    mine = [(one["requests"]["read"], one["requests"]["write"], one["sectors"]["read"] * 512)
            for one in members]
    if not differ_by_the_last(told, mine, simulated):
        raise Failed(f"members did {mine}, and david-sim says {simulated}")
    worst = max(range(len(apart)), key=lambda at: apart[at])
    if apart[worst] > NEAR_NS:
        raise Failed(f"read {worst} {reads[worst]} took {took[worst]} ns, and david-sim says {said[worst]}")


@case(seldom=True, complaints="read error|rescheduling sector|redirecting sector")
def md_reads_around_what_a_member_cannot_read_as_david_sim_says() -> None:
    agree(Told("5", 3, (2,), 59))
    agree(Told("6", 5, (0, 3), 35))


@case(seldom=True, complaints="read error|rescheduling sector|redirecting sector")
def a_mirror_reads_around_what_a_member_cannot_read_as_david_sim_says() -> None:
    agree(Told("1", 2, (0,), 59))
    agree(Told("10", 4, (0,), 59, "n2"))


@case(seldom=True, complaints="read error|rescheduling sector|redirecting sector")
def raid4_a_mirror_of_three_and_offset_copies_read_around_it_as_david_sim_says() -> None:
    agree(Told("4", 3, (1,), 10))
    agree(Told("1", 3, (0,), 1))
    # In a row that has first copies
    agree(Told("10", 4, (0,), 4, "o2", (20576, 20703)))


@case(seldom=True, complaints="read error|rescheduling sector|redirecting sector")
def far_copies_read_around_what_a_member_cannot_read_as_david_sim_says() -> None:
    agree(Told("10", 4, (0,), 4, "f2"))
    agree(Told("10", 3, (1,), 13, "f3", (10000, 10127)))
