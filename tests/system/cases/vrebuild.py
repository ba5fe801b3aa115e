# SPDX-License-Identifier: GPL-2.0
"""md fills a new drive, under the virtual clock and with nothing else to do: its times are david-sim's.

Trace points say when md began, so david-sim's platters stand as the disks' do, and its ticks come when the
kernel's do. What is left between both is how often the test looks whether md is done.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cases import case
from helpers.guest import Failed, device_stats, run, say
from helpers.mdtimed import (
    ARRAY,
    DRIVE,
    REVOLUTION_US,
    angles,
    array,
    begin_times,
    done_by_members,
    part,
    phase_us,
)
from helpers.timed import EVENTS, FLUSH, SIM, Recording, recording
from helpers.units import GIB, KIB, MIB

MD = Path("/sys/block/md7/md")
SPAN = 128 * MIB  # of each member
HZ = 100  # the lab's kernel
NEW = 1
NEAR = 0.001  # the test looks once a millisecond


@dataclass(frozen=True)
class Told:
    level: str
    members: int
    layout: str = ""
    faults: tuple[tuple[int, str], ...] = ()

    def words(self) -> str:
        layout = f" layout={self.layout}" if self.layout else ""
        return f"{self.level} members={self.members} failed={NEW}{layout} {part(SPAN)}"


PLAIN, MIRROR = Told("5", 3), Told("1", 2)
COPIES = (Told("10", 4, "n2"), Told("10", 3, "n2"), Told("10", 4, "o2"))
FAR = (Told("10", 4, "f2"), Told("10", 3, "f2"), Told("10", 3, "f3"))
# Two latent errors and a fail-slow member.
FAILING = Told("6", 12, faults=((3, "slow:factor=4"), (5, "media-error:sectors=40000-40007"),
                                (7, "media-error:sectors=90000-90007")))


def wait_while(file: str, words: tuple[str, ...], step: float = 0.001) -> None:
    until = time.monotonic() + 600
    while (MD / file).read_text().strip() in words:
        if time.monotonic() > until:
            raise Failed(f"{file} of md is still {' or '.join(words)}")
        time.sleep(step)


@contextmanager
def degraded(told: Told) -> Iterator[list[str]]:
    """An array whose member NEW is out and blank, in the drives' time."""
    with array(told.level, told.members, told.layout, SPAN, 400 * MIB) as names:
        out = f"/dev/mapper/{names[NEW]}"
        run("mdadm", ARRAY, "--fail", out)
        while subprocess.run(["mdadm", ARRAY, "--remove", out], capture_output=True).returncode:
            time.sleep(0.05)
        run("mdadm", "--zero-superblock", "--force", out)
        begin_times(names, told.faults)
        yield names


def by_md(told: Told) -> tuple[float, int, list[dict]]:
    """Seconds that md took, when it began, and what each member was asked for meanwhile. What was copied is
    then checked."""
    with degraded(told) as names:
        before = [device_stats(name) for name in names]
        with recording(2000) as recorded, flushes_alone():
            run("mdadm", ARRAY, "--add", f"/dev/mapper/{names[NEW]}")
            wait_while("sync_completed", ("none",))
            wait_while("sync_action", ("recover",))
            end = time.monotonic_ns()
        if (MD / "degraded").read_text().strip() != "0":
            raise Failed("md has not filled the new drive")
        done = done_by_members(names, before)
        (MD / "sync_action").write_text("check")
        wait_while("sync_action", ("check",), 0.05)
        if mismatches := int((MD / "mismatch_cnt").read_text()):
            raise Failed(f"{mismatches} sectors of the array do not agree")
        began = when_it_began(recorded[0], names)
        return (end - began) / 1e9, began, done


@contextmanager
def flushes_alone() -> Iterator[None]:
    """The trace has when flushes came, and nothing else."""
    filters = {event: "dev == 0" for event in EVENTS.iterdir() if event.is_dir()}
    filters[EVENTS / "david_queue"] = f"op == {FLUSH}"
    for event, text in filters.items():
        (event / "filter").write_text(text)
    try:
        yield
    finally:
        for event in filters:
            (event / "filter").write_text("0")


def when_it_began(recorded: Recording, names: list[str]) -> int:
    """Superblocks are written when a drive is added, and once more when md begins to fill it. Each time comes
    a flush to each member; the first is here that of member 0."""
    device = os.stat(f"/dev/mapper/{names[0]}").st_rdev
    mine = [event["arrival"] for event in recorded.events("queue", f"{os.major(device)}:{os.minor(device)}")]
    return mine[1] - phase_us(0) * 1000


def by_david_sim(told: Told, began: int, hz: int = HZ) -> dict:
    words = [SIM, "rebuild", "--json", "--profile", DRIVE, "--size", str(GIB // 512), "--hz", str(hz),
             "--after-tick", str(began % (10**9 // hz)), "--array", told.words(), "--angles",
             angles(told.members, began)]
    words += [word for member, text in told.faults for word in ("--fault", f"{member}:{text}")]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout))


def agree(told: Told) -> tuple[float, int]:
    """Seconds that md took, and when it began."""
    took, began, members = by_md(told)
    found = by_david_sim(told, began)
    said = found["seconds"]
    apart = f"{100 * (took / said - 1):+.3f} %"
    say(f"RAID-{told.level}{told.layout} of {told.members}: md {took:.4f} s, david-sim {said:.4f} s, {apart}")
    if abs(took / said - 1) > NEAR:
        raise Failed(f"md took {took:.4f} s, and david-sim says {said:.4f}")
    # md's superblocks are few, and whoever looks at a new disk reads its first blocks.
    for number, (one, other) in enumerate(zip(members, found["members"], strict=True)):
        for kind, field in (("read", "read_bytes"), ("write", "written_bytes")):
            if abs(one["sectors"][kind] * 512 - other[field]) > 128 * KIB:
                raise Failed(f"member {number}: {kind} {one['sectors'][kind] * 512}, and david-sim says "
                             f"{other[field]}")
    for number in {member for member, text in told.faults if text.startswith("media")}:
        faults = members[number]["faults"]
        if (faults["media_read"], faults["moved"]) != (2, 8):  # blocks of 512 bytes
            raise Failed(f"member {number}: {faults}")
    if found["bad_reads"] != sum(one["faults"]["media_read"] for one in members):
        raise Failed(f"david-sim has {found['bad_reads']} failed reads")
    return took, began


@case(seldom=True)
def md_fills_a_drive_in_the_time_that_david_sim_says() -> None:
    took, began = agree(PLAIN)
    # Planted: a kernel with other ticks is another one, and platters that stand elsewhere take other times.
    if abs(took / by_david_sim(PLAIN, began, 250)["seconds"] - 1) < 0.1:
        raise Failed("of a rebuild of RAID-5 ticks decide nothing")
    if abs(took / by_david_sim(PLAIN, began + REVOLUTION_US * 400)["seconds"] - 1) < NEAR:
        raise Failed("of a rebuild of RAID-5 it decides nothing where platters stand")


@case(seldom=True)
def md_fills_a_mirror_in_the_time_that_david_sim_says() -> None:
    for told in (MIRROR, *COPIES):
        agree(told)


@case(seldom=True)
def md_fills_far_copies_in_the_time_that_david_sim_says() -> None:
    for told in FAR:
        agree(told)


@case(seldom=True, complaints="read error corrected")
def md_fills_a_drive_over_latent_errors_and_beside_a_slow_member_as_david_sim_says() -> None:
    agree(FAILING)
