# SPDX-License-Identifier: GPL-2.0
"""A second way to the figures of `david-sim rebuild --json`, of one block of each new drive.

What md does is written down here once more, request by request. `david-sim replay --recorded` says of each
member, as a drive by itself, when they are done. A block is so little that no two requests of a member meet,
but for a flush behind a read: what the drive does then is the replay's, too.
"""

from __future__ import annotations

import csv
import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .figuretable import printed
from .secondsim import FLUSH, PARTS, READ, SIM, WRITE, ask, flat

PROFILE = "hitachi-hds721010kla330"
SECTORS = 2097152  # of a drive
SUPERBLOCK = SECTORS - 16
REVOLUTION = 8_333_333  # ns
LEAD, FUA, SYNC = 300_000_000, 1, 2


@dataclass(frozen=True)
class Asked:
    level: str
    members: int
    new: tuple[int, ...]
    bad: tuple[int, ...] = ()  # members that cannot read the block
    slow: int | None = None
    status: int = 0
    copies: tuple[tuple[int, int], ...] = ()  # of mirrors: who is read, who is written

    def array(self) -> str:
        return f"{self.level} members={self.members} failed={'+'.join(map(str, self.new))} metadata=none"

    def angle(self, member: int) -> int:
        return member * 2_345_679 % REVOLUTION

    def faults(self) -> dict[int, str]:
        slow = {self.slow: "slow:factor=4"} if self.slow is not None else {}
        return slow | dict.fromkeys(self.bad, "media-error:sectors=0-7")

    def sectors(self) -> int:
        return 8 if self.level in ("4", "5", "6") else 128


@dataclass
class Member:
    """A drive by itself. Its heads are at the superblock."""

    clock: int  # when the rebuild begins
    faults: str
    place: Path
    sent: list[tuple[int, int, int, int, int]] = field(default_factory=list)  # op, sector, sectors, flags, at

    def send(self, at: int, op: int, sector: int = 0, sectors: int = 0, flags: int = 0) -> int:
        self.sent.append((op, sector, sectors, flags, at))
        return len(self.sent) - 1

    def ended(self) -> list[dict[str, str]]:
        before = [(FLUSH, 0, 0, SYNC, -LEAD), (WRITE, SUPERBLOCK, 1, SYNC | FUA, -LEAD + 50_000_000)]
        lines = [f" david_queue: dev=1:0 id={number} arrival={self.clock + at} op={op} sector={sector} "
                 f"sectors={sectors} flags={flags}"
                 for number, (op, sector, sectors, flags, at) in enumerate(before + self.sent)]
        recorded, out = self.place / "recorded", self.place / "out.csv"
        recorded.write_text("\n".join(lines) + "\n")
        faults = ["--faults", self.faults] if self.faults else []
        ask("replay", "--profile", PROFILE, "--size", str(SECTORS), *faults, "--recorded", str(recorded),
            "--out", str(out))
        rows = {int(row["id"]): row for row in csv.DictReader(out.read_text().splitlines())}
        return [rows[number] for number in range(len(before), len(lines))]

    def done(self, number: int) -> int:
        return int(self.ended()[number]["completion_ns"]) - self.clock

    def failed(self, number: int) -> bool:
        return self.ended()[number]["failed"] != "0"


class Rebuild:
    def __init__(self, asked: Asked, place: Path) -> None:
        self.asked = asked
        self.lost = self.bad_reads = self.mended = 0
        self.members = [Member(1000 * REVOLUTION + asked.angle(number), asked.faults().get(number, ""), place)
                        for number in range(asked.members)]
        begin = self.filled() if asked.copies else self.stripe()
        self.ns = self.superblocks(self.superblocks(begin))

    def superblocks(self, at: int) -> int:
        """When all are written. A flush may wait for what the drive has."""
        flushed = [one.done(one.send(at, FLUSH, flags=SYNC)) for one in self.members]
        return max(one.done(one.send(then, WRITE, SUPERBLOCK, 1, SYNC | FUA))
                   for one, then in zip(self.members, flushed, strict=True))

    def all_of(self, members: set[int], at: int, op: int) -> tuple[int, set[int]]:
        """When the last of them is done, and which failed."""
        numbers = {one: self.members[one].send(at, op, 0, self.asked.sectors(), SYNC if op == READ else 0)
                   for one in members}
        bad = {one for one, number in numbers.items() if self.members[one].failed(number)}
        self.bad_reads += len(bad)
        return max(self.members[one].done(number) for one, number in numbers.items()), bad

    def stripe(self) -> int:
        """When the block is done. Of RAID-6 the last member has P, which is not read a second time."""
        new, parities = set(self.asked.new), 2 if self.asked.level == "6" else 1
        now, bad = self.all_of(set(range(self.asked.members)) - new, self.superblocks(0), READ)
        once = {self.asked.members - 1} if self.asked.level == "6" else set()
        if bad - once:
            now, again = self.all_of(bad - once, now, READ)
            bad = again | bad & once
        if len(new | bad) > parities:
            self.lost = 1
            return now
        now, _ = self.all_of(new | bad, now, WRITE)
        if bad:
            self.mended = len(bad)
            now, _ = self.all_of(bad, self.all_of(bad, now, WRITE)[0], READ)
        return now

    def filled(self) -> int:
        """Of mirrors: reads come before the superblocks, and writes behind them."""
        reads = [self.all_of({source}, 0, READ)[0] for source, _ in self.asked.copies]
        begin = self.superblocks(0)
        return max(self.all_of({target}, max(begin, read), WRITE)[0]
                   for read, (_, target) in zip(reads, self.asked.copies, strict=True))


def rebuilt(asked: Asked) -> dict[str, Any]:
    angles = "+".join(str(asked.angle(number)) for number in range(asked.members))
    words = [SIM, "rebuild", "--json", "--profile", PROFILE, "--size", str(SECTORS), "--span",
             str(asked.sectors()), "--array", asked.array(), "--angles", angles]
    words += [word for member, text in asked.faults().items() for word in ("--fault", f"{member}:{text}")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == asked.status, (words, done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def figures(asked: Asked, place: Path) -> dict[str, Any]:
    second = Rebuild(asked, place)
    ns, blocks = second.ns, asked.sectors() // 8
    found: dict[str, Any] = {
        "array": asked.array(), "seconds": printed(ns / 1e9, 9),
        "mb_s": printed((blocks - second.lost) * 4096e3 / ns, 5), "blocks": blocks, "lost": second.lost,
        "bad_reads": second.bad_reads, "mended": second.mended,
        "stripes": 0 if asked.copies else 256,
    }
    busy = 0
    for number, one in enumerate(second.members):
        rows, sent = one.ended(), one.sent
        spans = sorted((at, int(row["completion_ns"]) - one.clock)
                       for (*_, at), row in zip(sent, rows, strict=True))
        mine, until = 0, 0
        for begin, end in spans:
            mine, until = mine + max(0, end - max(begin, until)), max(until, end)
        busy += mine
        bytes_of = {op: 512 * sum(sectors for kind, _, sectors, *_ in sent if kind == op)
                    for op in (READ, WRITE)}
        count = {op: sum(kind == op for kind, *_ in sent) for op in (READ, WRITE, FLUSH)}
        found |= flat(f"members.{number}", {
            "reads": count[READ], "prereads": count[READ], "writes": count[WRITE], "flushes": count[FLUSH],
            "read_bytes": bytes_of[READ], "preread_bytes": bytes_of[READ],
            "written_bytes": bytes_of[WRITE], "redundant_bytes": bytes_of[WRITE],
            "hits": sum(int(row["hit"]) for row in rows), "busy": printed(mine / ns, 6),
            "response_ns": sum(end - begin for begin, end in spans),
            "busy_ns": mine, "waiting_ns": ns - mine, "idle_ns": 0,
        } | {f"drive_ns.{name}": sum(int(row[f"{name}_ns"]) for row in rows) for name in PARTS})
    everybody = ns * asked.members
    return found | flat("member_time", {"all_ns": everybody, "busy_ns": busy, "waiting_ns": everybody - busy,
                                        "idle_ns": 0})
