# SPDX-License-Identifier: GPL-2.0
"""md fills a new drive, under the virtual clock and with nothing else to do: its times are david-sim's."""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cases import case
from helpers.guest import Failed, david, device_stats, loop_disk, run, say
from helpers.timed import SIM
from helpers.units import GIB, KIB, MIB

DRIVE = "hitachi-hds721010kla330"
REVOLUTION_US = 8333
ARRAY = "/dev/md7"
MD = Path("/sys/block/md7/md")
SPAN = 128 * MIB  # of each member
HZ = 100  # the lab's kernel
NEW = 1
SEEDS = range(1, 7)


@dataclass(frozen=True)
class Told:
    level: str
    members: int
    near: float
    faults: tuple[tuple[int, str], ...] = ()


# Where rotations happen to stand decides 1 % of so short a rebuild; the slow member's count four times.
PLAIN = Told("5", 3, 0.02)
MIRROR = Told("1", 2, 0.015)
# Two latent errors and a fail-slow member.
FAILING = Told("6", 12, 0.02, ((3, "slow:factor=4"), (5, "media-error:sectors=40000-40007"),
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
    names = [f"m{number}" for number in range(told.members)]
    disks = [f"/dev/mapper/{name}" for name in names]
    with loop_disk(400 * MIB) as store:
        david("pool", "create", "p", "--backing", store, "--format")
        made: list[str] = []
        try:
            for number, name in enumerate(names):
                phase = f"phase={number * 8021107 % REVOLUTION_US}us"
                david("create", name, "--pool", "p", "--size", str(GIB), "--profile", DRIVE, "--mode",
                      "speedup", "--profile-option", phase)
                made.append(name)
            run("mdadm", "--create", ARRAY, "--run", "--force", "--assume-clean", "--metadata=1.0",
                "--bitmap=none", "--level", told.level, "--raid-devices", str(told.members), "--size",
                str(SPAN // KIB), *disks)
            run("mdadm", ARRAY, "--fail", disks[NEW])
            while subprocess.run(["mdadm", ARRAY, "--remove", disks[NEW]], capture_output=True).returncode:
                time.sleep(0.05)
            run("mdadm", "--zero-superblock", "--force", disks[NEW])
            for member, text in told.faults:
                run("dmsetup", "message", names[member], "0", "fault", "add", text)
            for name in names:
                run("dmsetup", "message", name, "0", "mode", "timing-accurate")
            yield names
        finally:
            with suppress(Failed):
                run("mdadm", "--stop", ARRAY)
            for name in made:
                run("dmsetup", "remove", "--retry", name)


def by_md(told: Told) -> tuple[float, list[dict]]:
    """Seconds that md took, and what each member was asked for meanwhile. What was copied is then checked."""
    with degraded(told) as names:
        before = [device_stats(name) for name in names]
        run("mdadm", ARRAY, "--add", f"/dev/mapper/{names[NEW]}")
        wait_while("sync_completed", ("none",))
        start = time.monotonic()
        wait_while("sync_action", ("recover",))
        took = time.monotonic() - start
        if (MD / "degraded").read_text().strip() != "0":
            raise Failed("md has not filled the new drive")
        after = [device_stats(name) for name in names]
        (MD / "sync_action").write_text("check")
        wait_while("sync_action", ("check",), 0.05)
        if mismatches := int((MD / "mismatch_cnt").read_text()):
            raise Failed(f"{mismatches} sectors of the array do not agree")
        return took, [difference(*pair) for pair in zip(after, before, strict=True)]


def difference(now: dict, then: dict) -> dict:
    return {group: {name: now[group][name] - then[group][name] for name in now[group]}
            for group in ("sectors", "faults")}


def by_david_sim(told: Told, seed: int, hz: int = HZ) -> dict:
    words = [SIM, "rebuild", "--json", "--profile", DRIVE, "--size", str(GIB // 512), "--span",
             str(SPAN // 512), "--hz", str(hz), "--array",
             f"{told.level} members={told.members} failed={NEW} seed={seed}"]
    words += [word for member, text in told.faults for word in ("--fault", f"{member}:{text}")]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout))


def agree(told: Told) -> float:
    """Seconds that md took."""
    took, members = by_md(told)
    found = [by_david_sim(told, seed) for seed in SEEDS]
    said = statistics.fmean(one["seconds"] for one in found)
    apart = f"{100 * (took / said - 1):+.2f} %"
    say(f"RAID-{told.level} of {told.members}: md {took:.3f} s, david-sim {said:.3f} s, {apart}")
    if abs(took / said - 1) > told.near:
        raise Failed(f"md took {took:.3f} s, and david-sim says {said:.3f}")
    # md's superblocks are few, and whoever looks at a new disk reads its first blocks.
    for number, (one, other) in enumerate(zip(members, found[0]["members"], strict=True)):
        for kind, field in (("read", "read_bytes"), ("write", "written_bytes")):
            if abs(one["sectors"][kind] * 512 - other[field]) > 128 * KIB:
                raise Failed(f"member {number}: {kind} {one['sectors'][kind] * 512}, and david-sim says "
                             f"{other[field]}")
    for number in {member for member, text in told.faults if text.startswith("media")}:
        faults = members[number]["faults"]
        if (faults["media_read"], faults["moved"]) != (2, 8):  # blocks of 512 bytes
            raise Failed(f"member {number}: {faults}")
    if found[0]["bad_reads"] != sum(one["faults"]["media_read"] for one in members):
        raise Failed(f"david-sim has {found[0]['bad_reads']} failed reads")
    return took


@case(seldom=True, complaints="read error corrected")
def md_fills_a_drive_in_the_time_that_david_sim_says() -> None:
    took = agree(PLAIN)
    agree(MIRROR)
    # Planted: a kernel with other ticks is another one.
    if abs(took / by_david_sim(PLAIN, 1, 250)["seconds"] - 1) < 0.1:
        raise Failed("of a rebuild of RAID-5 ticks decide nothing")


@case(seldom=True, complaints="read error corrected")
def md_fills_a_drive_over_latent_errors_and_beside_a_slow_member_as_david_sim_says() -> None:
    agree(FAILING)
