# SPDX-License-Identifier: GPL-2.0
"""Arrays that nothing fails of: under the virtual clock each read and write of md takes the time that
david-sim says, by level, layout and chunk. One request comes after another.
"""

from __future__ import annotations

import csv
import json
import os
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cases import case
from helpers import raw
from helpers.guest import SCRATCH, Failed, device_stats, run, say
from helpers.mdtimed import ARRAY, DRIVE, angles, array, begin_times, done_by_members, part
from helpers.timed import SIM
from helpers.units import GIB, KIB, MIB

SPAN = 64 * MIB  # of each member
NEAR_NS = 1000
REQUESTS = 40
PLUGS = ("scheduler=none", "host=blk-mq")
RAID5 = ("left-symmetric", "left-asymmetric", "right-symmetric", "right-asymmetric", "parity-first")
RAID5 += ("parity-last",)
DDF = ("ddf-zero-restart", "ddf-N-restart", "ddf-N-continue")
SIXES = tuple(f"{name}-6" for name in RAID5[:5])
MD = Path("/sys/block/md7/md")
Request = tuple[str, int, int]  # R or W, sector, sectors


@dataclass(frozen=True)
class Told:
    level: str
    members: int
    layout: str = ""
    chunk: int = 512 * KIB
    options: tuple[str, ...] = ()  # of the drive's profile

    def words(self, span: int = SPAN) -> str:
        words = f"{self.level} members={self.members}"
        words += f" chunk={self.chunk}" if self.level != "1" else ""
        words += f" layout={self.layout}" if self.layout else ""
        return f"{words} {part(span)}" if self.level != "0" else f"{words} metadata=1.0"


@contextmanager
def at_work(told: Told) -> Iterator[list[str]]:
    """The array, in its drives' time. It has been written to, and stays active: no superblock is written."""
    chunk = 0 if told.level == "1" else told.chunk
    with array(told.level, told.members, told.layout, SPAN, 400 * MIB, chunk, told.options) as names:
        if told.level != "0":
            (MD / "safe_mode_delay").write_text("0")
        with raw.opened(ARRAY, raw.DIRECT) as fd:
            raw.write(fd, bytes(4096), 0)
        begin_times(names, ())
        yield names


def placing(told: Told) -> list[Request]:
    """Reads of each chunk of two rows: they place the heads, and are not compared."""
    return [("R", number * told.chunk // 512, 8) for number in range(2 * told.members)]


def some(told: Told, seed: int, sectors: int) -> list[Request]:
    """Of what array_single_doubt() does not doubt: rows with parity are written whole or by a block of 4 KiB;
    where tasks do not plug, no request has two pieces for one member."""
    rng, found, parities = random.Random(seed), placing(told), {"4": 1, "5": 1, "6": 2}.get(told.level, 0)
    row = (told.members - parities) * told.chunk // 512
    for _ in range(REQUESTS):
        op, size = rng.choice("RW"), rng.choice((8, 8, 8, 64, 256, 1024))
        align = 8
        if parities and op == "W":
            size = align = rng.choice((8, row)) if told.options else 8
        elif parities and not told.options:
            size = min(size, told.chunk // 512)
        found.append((op, rng.randrange((sectors - size) // align) * align, size))
    return found


def by_md(told: Told, seed: int) -> tuple[list[Request], int, list[int], list[dict]]:
    """The requests, when the first one came, what each took, what each member did."""
    with at_work(told) as names, raw.opened(ARRAY, raw.DIRECT) as fd:
        requests = some(told, seed, os.lseek(fd, 0, os.SEEK_END) // 512)
        before, took = [device_stats(name) for name in names], []
        began = time.monotonic_ns()
        for op, sector, sectors in requests:
            start = time.monotonic_ns()
            if op == "R":
                raw.read(fd, sectors * 512, sector * 512)
            else:
                raw.write(fd, bytes(sectors * 512), sector * 512)
            took.append(time.monotonic_ns() - start)
        return requests, began, took, done_by_members(names, before)


def by_david_sim(told: Told, requests: list[Request], began: int,
                 span: int = SPAN) -> tuple[list[int], list[dict]]:
    SCRATCH.mkdir(parents=True, exist_ok=True)
    trace, out, profile = SCRATCH / "trace.csv", SCRATCH / "times.csv", SCRATCH / "scaled.profile"
    trace.write_text("op,lbn,blocks,delay_us\n" + "".join(
        f"{op},{sector},{sectors},0\n" for op, sector, sectors in requests))
    profile.write_text(run(SIM, "profile", "show", "--sectors", str(GIB // 512), DRIVE))
    words = [SIM, "replay", "--profile", profile, "--trace", trace, "--out", out, "--json", "--array",
             told.words(span), "--angles", angles(told.members, began)]
    words += [word for option in told.options for word in ("--option", option)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    rows = csv.DictReader(out.read_text().splitlines())
    return [round(float(row["modelled_us"]) * 1000) for row in rows], json.loads(done.stdout)["members"]


def furthest(told: Told, took: list[int], said: list[int]) -> tuple[int, int]:
    """By how much a request differs at most, and which: those that place heads are not compared."""
    first = len(placing(told))
    return max((abs(one - other), number)
               for number, (one, other) in enumerate(zip(took, said, strict=True)) if number >= first)


def agree(told: Told, seed: int) -> None:
    requests, began, took, members = by_md(told, seed)
    said, modelled = by_david_sim(told, requests, began)
    apart, number = furthest(told, took, said)
    writes = sum(op == "W" for op, _, _ in requests)
    say(f"RAID-{told.words()}: {REQUESTS} requests, {writes} writes: {apart} ns apart at most, "
        f"{sum(took) / 1e9:.4f} s of md, {sum(said) / 1e9:.4f} s of david-sim")
    if apart > NEAR_NS:
        raise Failed(f"RAID-{told.words()}: request {number} {requests[number]} took {took[number]} ns, and "
                     f"david-sim says {said[number]}")
    mine = [(one["sectors"]["read"] * 512, one["sectors"]["write"] * 512) for one in members]
    theirs = [(one["read_bytes"], one["written_bytes"]) for one in modelled]
    # Which member of a mirror has the first read depends on what the kernel has read before.
    if told.level == "1":
        mine, theirs = ([tuple(map(sum, zip(*some, strict=True)))] for some in (mine, theirs))
    if mine != theirs:
        raise Failed(f"RAID-{told.words()}: members read and wrote {mine}, and david-sim says {theirs}")


def all_agree(*arrays: Told) -> None:
    wrong = []
    for seed, told in enumerate(arrays, 1):
        try:
            agree(told, seed)
        except Failed as error:
            wrong.append(str(error))
    if wrong:
        raise Failed("; ".join(wrong))


@case(seldom=True)
def copies_in_every_layout_take_what_david_sim_says() -> None:
    all_agree(Told("10", 4, "f2"), Told("10", 3, "f2"), Told("10", 4, "f3"), Told("10", 3, "f3", 64 * KIB),
              Told("10", 4, "n2"), Told("10", 3, "n3"), Told("10", 4, "o2"), Told("10", 3, "o2", 64 * KIB),
              Told("10", 5, "o3"))


@case(seldom=True)
def stripes_and_mirrors_take_what_david_sim_says() -> None:
    all_agree(Told("0", 2), Told("0", 3, chunk=64 * KIB), Told("1", 2), Told("1", 3))


@case(seldom=True)
def parity_in_every_layout_takes_what_david_sim_says() -> None:
    all_agree(Told("4", 3), Told("5", 3),
              *(Told("5", 4, layout, 64 * KIB) for layout in RAID5),
              *(Told("6", 5, layout, 64 * KIB) for layout in (*RAID5, *DDF, *SIXES)))


@case(seldom=True)
def parity_behind_hosts_that_plug_takes_what_david_sim_says() -> None:
    """Whole rows, and reads of several pieces."""
    all_agree(*(Told(level, 5, layout, 64 * KIB, PLUGS) for level in ("5", "6") for layout in RAID5[:2]))


@case(seldom=True)
def another_size_of_members_is_another_time_where_copies_lie_far() -> None:
    """Planted: members of twice the size, so that second copies lie elsewhere."""
    told = Told("10", 4, "f2")
    requests, began, took, _ = by_md(told, 1)
    said, _ = by_david_sim(told, requests, began, 2 * SPAN)
    if furthest(told, took, said)[0] <= NEAR_NS:
        raise Failed("members of twice the size take the same times")
