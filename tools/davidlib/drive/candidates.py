# SPDX-License-Identifier: GPL-2.0
"""Drives and arrays of them that may meet a demand, and what david-sim makes of each.

A demand of requests a second is asked of `david-sim bench`: random requests over all of the drive or array,
so many under way (DEPTHS), counted once the caches have taken what they take. A candidate meets it if at
some depth it serves as many, with a 99th percentile within the bound. No job depends on the demand: so a
weaker demand is met wherever a stronger one is. A demand of traces is asked of `david-sim blocks`, at the
trace's own times.

Of each drive and level the least number of members is looked for, upwards from the least that has the room.
What no simulation was made of is counted, each with its reason: FEW, SLOW, LATE, and members beyond the
most.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import build
from ..sizes import SECTOR
from ..util import CACHE, UserError
from . import profileword, served, worth
from .asking import Asking
from .files import ProfileError, find

DEPTHS = (1, 4, 16, 64)
COUNT = 4000  # requests of a job: 40 are beyond the 99th percentile
FILLINGS = 4.1  # of the caches, until david-sim takes them for full: four
MOST_WARM = 400_000  # requests before those that count
LOTS = 4  # times as much as is asked: whether it bears more is not looked for
SLACK = 2  # times as many a drive may serve in an array as by itself, at most
SEEN = 5  # percent of reads, from which on a percentile has to do with them
NONE = "none"
LEVELS = (NONE, "1", "10", "5", "6", "0")
LEAST = {NONE: 1, "0": 2, "1": 2, "10": 2, "5": 3, "6": 4}
SPARE = {NONE: 0, "0": 0, "10": 1, "5": 1, "6": 2}  # members that may fail, whichever they are
MOST_FAILED = 2  # that are looked at
WRITES = {NONE: 1, "0": 1, "10": 2, "5": 2, "6": 3}  # of members, for one write, at least
MIRRORS = 4  # members of a RAID-1 at most: more have the same room

FITS, MISSES, FEW, SLOW, LATE, DOUBTED, REFUSED = (
    "fits", "misses", "too small", "too few requests", "too late", "not to be believed", "refused")


@dataclass(frozen=True)
class Demand:
    iops: float | None  # None: what the traces ask
    p99: int  # ns
    capacity: int  # bytes
    reads: int = 70  # percent
    block: int = 4096
    survives: bool = False  # with a member failed, too
    traces: tuple[served.Trace, ...] = ()

    def job(self, depth: int, warm: int) -> str:
        writes = 100 - self.reads
        kind = "" if not writes else "write " if writes == 100 else f"writes={writes} "
        return f"{kind}random size={self.block} depth={depth} count={COUNT} warm={warm}"


@dataclass(frozen=True)
class Point:
    """What a candidate does with so many requests under way; or with a trace at its own times."""

    depth: int  # 0: of a trace
    per_s: float
    p99_us: float
    doubts: tuple[str, ...] = ()
    times: float | None = None  # a trace may come so many times as fast
    brief: bool = False  # that is true for as long as the trace alone


@dataclass(frozen=True)
class Tried:
    """One candidate, with so many members failed."""

    members: int
    failed: int
    capacity: int  # bytes
    points: tuple[Point, ...]

    def within(self, demand: Demand) -> list[Point]:
        return [one for one in self.points if one.p99_us * 1e3 <= demand.p99 and not one.doubts]

    def fits(self, demand: Demand) -> bool:
        good = self.within(demand)
        return len(good) == len(demand.traces) if demand.traces else any(
            one.per_s >= (demand.iops or 0) for one in good)

    def limit(self, demand: Demand) -> float | None:
        """How many times as much as is asked it bears within the bound; None: not even a little is known."""
        good = self.within(demand)
        if demand.iops:
            return max((one.per_s for one in good), default=0) / demand.iops
        speeds = [one.times for one in self.points if one.times is not None]
        return min(speeds) if len(speeds) == len(demand.traces) else None

    def met_at(self, demand: Demand) -> Point | None:
        """Where the demand is met: with the fewest under way; of traces the latest."""
        good = [one for one in self.within(demand) if demand.traces or one.per_s >= (demand.iops or 0)]
        if not good:
            return None
        return max(good, key=lambda one: one.p99_us) if demand.traces else good[0]

    @property
    def doubts(self) -> list[str]:
        return list(dict.fromkeys(text for one in self.points for text in one.doubts))


@functools.cache
def left_by_mdadm(level: str, sectors: int) -> int:
    """Of each drive for data, as david-sim knows it; 0: the drive is too small. RAID-0 stands for others."""
    words = f"{level} members=2 metadata=1.2"
    line = [str(build.ensure("david-sim")), "layout", "--total", "--array", words, "--size", str(sectors)]
    done = subprocess.run(line, capture_output=True, text=True)
    return int(done.stdout or 0) // (1 if level == "1" else 2)


def sectors_of(level: str, members: int, sectors: int) -> int:
    """Of an array with chunks as mdadm's, of drives that have so many; david-sim has the same default."""
    if level == NONE:
        return sectors
    if level == "1":
        return left_by_mdadm(level, sectors)
    data = {"0": members, "10": members // 2, "5": members - 1, "6": members - 2}[level]
    return left_by_mdadm("0", sectors) * data


def members_of(level: str, most: int) -> list[int]:
    if level == NONE:
        return [1]
    top = min(most, MIRRORS) if level == "1" else most
    return list(range(LEAST[level], top + 1, 2 if level == "10" else 1))


def spare(level: str, members: int) -> int:
    return min(MOST_FAILED, members - 1 if level == "1" else SPARE[level])


def words_of(level: str, members: int, failed: int = 0) -> str:
    if level == NONE:
        return ""
    gone = f" failed={'+'.join(map(str, range(failed)))}" if failed else ""
    return f"{level} members={members}{gone}"


def _sim(asking: Asking, profile: Path, *words: str) -> str:
    """What david-sim says; the same words, of the same program and profile, are asked once by all."""
    program, digest = _program()
    what = [digest, hashlib.sha256(profile.read_bytes()).hexdigest(), *words]
    path = CACHE / "choose" / hashlib.sha256("\0".join(what).encode()).hexdigest()
    with contextlib.suppress(OSError):
        return path.read_text()
    line = [str(program), words[0], "--profile", str(profile), *words[1:]]
    done = asking.run(line)
    if done.returncode not in (0, 2) or not done.stdout.startswith("{"):
        said = done.stderr.strip().splitlines() or ["david-sim failed"]
        raise UserError(said[0])
    with contextlib.suppress(OSError):  # a cache that cannot be written to is none
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
        new.write_text(done.stdout)
        os.replace(new, path)
    return done.stdout


@functools.cache
def _program() -> tuple[Path, str]:
    """david-sim, and its digest."""
    found = build.ensure("david-sim")
    return found, hashlib.sha256(found.read_bytes()).hexdigest()


@dataclass(eq=False)
class Drive:
    """A drive, as its profile has it."""

    profile: str
    options: list[str] = field(default_factory=list)
    asking: Asking = field(default_factory=Asking)

    @cached_property
    def path(self) -> Path:
        return find(self.profile)

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8", errors="replace")

    @cached_property
    def room(self) -> int:
        """Sectors, by the profile's text and before david-sim is asked; 0 if it does not say so."""
        word = profileword.parse(self.text, "")
        with contextlib.suppress(ProfileError):
            for option in self.options:
                profileword.override(word, option)
        return word.capacity() // SECTOR

    @property
    def is_disk(self) -> bool:
        return not re.search(r"^\s*kind\s*=\s*(ssd|memory)\b", self.text, re.M)

    @cached_property
    def is_zoned(self) -> bool:
        return profileword.parse(self.text, "").has_zones

    @cached_property
    def told(self) -> dict[str, Any]:
        """Its name, kind and drive, as david-sim bench says them."""
        found: dict[str, Any] = json.loads(self._bench("", ["random count=1 warm=0"], self.options))
        return found

    @property
    def name(self) -> str:
        return str(self.told["profile"])

    @property
    def sectors(self) -> int:
        return int(self.told["drive"]["sectors"])

    @cached_property
    def worth(self) -> worth.Worth:
        return worth.of_text(self.text)

    @cached_property
    def cache(self) -> int:
        """Bytes that it takes before the media have to: how long to warm up. Whether that was enough is
        said by david-sim's doubts."""
        words = [str(word) for option in self.options for word in ("--option", option)]
        line = [str(_program()[0]), "profile", "show", *words, str(self.path)]
        done = self.asking.run(line)
        if done.returncode:
            raise UserError(done.stderr.strip())
        given = dict(re.findall(r"^(\w+) = (\S+)", done.stdout, re.M))
        if given.get("write_cache") == "off":
            return 0
        buffer, slc = (SECTOR * int(given.get(name, "0").removesuffix("sectors"))
                       for name in ("write_buffer", "slc_cache"))
        return max(int(self.told["drive"]["cache_bytes"]), buffer) + slc

    @cached_property
    def asked(self) -> list[str]:
        """Options: an SSD is one that has been written, as it is in use."""
        said = any(option.startswith("precondition=") for option in self.options)
        # Zones are written in order.
        used = "precondition=sequential" if self.is_zoned else "precondition=random"
        return [*self.options, *([] if said or self.told["kind"] != "ssd" else [used])]

    def _bench(self, array: str, jobs: list[str], options: list[str]) -> str:
        words = [word for option in options for word in ("--option", option)]
        words += ["--array", array] if array else []
        words += [word for job in jobs for word in ("--job", job)]
        return _sim(self.asking, self.path, "bench", "--json", *words)

    def warm(self, level: str, members: int, demand: Demand) -> int:
        writes = (100 - demand.reads) / 100
        if not writes or not self.cache:
            return COUNT // 10
        # A write of RAID-1 goes to all.
        copies = members if level == "1" else WRITES[level]
        needed = FILLINGS * self.cache * members / (writes * copies * demand.block)
        return int(min(MOST_WARM, max(COUNT // 10, needed)))

    def point(self, level: str, members: int, failed: int, depth: int, demand: Demand) -> Point:
        job = demand.job(depth, self.warm(level, members, demand))
        array = words_of(level, members, failed)
        found = json.loads(self._bench(array, [job], self.asked))["jobs"][0]
        if found["doubts"] and self.told["kind"] == "disk":
            found = json.loads(self._bench(array, [f"{job} steady"], self.asked))["jobs"][0]
        return Point(depth, found["all"]["per_s"], found["p99_us"],
                     tuple(one["text"] for one in found["doubts"]))

    def most(self, demand: Demand) -> float:
        """Requests a second of the drive by itself, at its best, whatever they take."""
        return max(self.point(NONE, 1, 0, depth, demand).per_s for depth in DEPTHS)

    def read_us(self, demand: Demand) -> float:
        """What a read takes when nothing else is asked, at the mean."""
        job = f"random size={demand.block} count={COUNT // 4}"
        return float(json.loads(self._bench("", [job], self.asked))["jobs"][0]["all"]["mean_us"])

    def serve(self, level: str, members: int, failed: int, trace: served.Trace, bound: int) -> Point:
        """A trace, at its own times."""
        array = words_of(level, members, failed)
        way = served.Way([str(self.path)], [], self.asked, "open", None, bound, None, None)
        with tempfile.TemporaryDirectory() as directory:
            requests = Path(directory) / "requests"
            served.write(trace, None, requests)
            found = served.serve_one(requests, (self.path, array), ("open",), way, self.asking)
        [run] = found["runs"]
        doubts = []
        if found["beyond"]:
            doubts.append(f"{found['beyond']} requests of {trace.path} do not lie on it")
        pages = served.pages_read(trace)
        if pages and run["empty_reads"] > served.EMPTY * pages:
            doubts.append("flash was not asked for pages that had never been written")
        if short := served.few(trace):
            doubts.append(short)
        if served.bursts(trace, run):
            doubts.append(f"the clock of {trace.path}, and not the load, decided what came at once")
        late = run["all"]["p99_us"]
        return Point(0, run["per_s"], late, tuple(doubts), found["load"]["speed"], served.brief(found))

    def tried(self, level: str, members: int, failed: int, demand: Demand) -> Tried:
        """At each depth until the bound is passed, as with more under way all wait longer; or until it bears
        LOTS."""
        points: list[Point] = []
        for trace in demand.traces:
            points.append(self.serve(level, members, failed, trace, demand.p99))
        for depth in () if demand.traces else DEPTHS:
            points.append(self.point(level, members, failed, depth, demand))
            last = points[-1]
            if last.p99_us * 1e3 > demand.p99 or not last.doubts and last.per_s >= LOTS * (demand.iops or 0):
                break
        size = SECTOR * sectors_of(level, members, self.sectors)
        return Tried(members, failed, size, tuple(points))


@dataclass
class Choice:
    """What became of one drive in one level."""

    drive: Drive
    level: str
    verdict: str
    tried: list[Tried] = field(default_factory=list)  # none failed; the last one fits, where one does
    degraded: list[Tried] = field(default_factory=list)  # of the one that fits, by how many failed
    untried: dict[str, int] = field(default_factory=dict)  # members, by why no simulation was made
    why: str = ""

    @property
    def best(self) -> Tried | None:
        return self.tried[-1] if self.tried else None


def _slow(drive: Drive, level: str, members: int, demand: Demand) -> bool:
    """Can it not serve as many, even if each member did SLACK times what a drive does by itself?"""
    writes = (100 - demand.reads) / 100
    cost = 1 - writes + writes * (members if level == "1" else WRITES[level])
    return SLACK * members * drive.most(demand) / cost < (demand.iops or 0)


def _late(drive: Drive, demand: Demand) -> bool:
    """Do reads take longer than the bound, before anything has to wait?"""
    return demand.reads >= SEEN and drive.read_us(demand) * 1e3 > SLACK * demand.p99


def most_jobs(drive: Drive, level: str, most: int, demand: Demand) -> int:
    """How often choose() asks david-sim, at most."""
    if drive.is_zoned and level != NONE:
        return 0
    room = [count for count in members_of(level, most) if not drive.room
            or SECTOR * sectors_of(level, count, drive.room) >= demand.capacity]
    # A disk's job is done again, with `steady`, where david-sim doubts it.
    each = len(demand.traces) or len(DEPTHS) * (1 + drive.is_disk)
    spares = [spare(level, count) for count in room]
    degraded = sum(spares) if demand.survives else max(spares, default=0)
    first = 1  # told
    if room and not demand.traces:
        first += 2 + each  # cache, read_us, most
    return first + each * (len(room) + degraded)


def choose(drive: Drive, level: str, most: int, demand: Demand) -> Choice:
    """The least members of the drive that meet the demand in this level."""
    if drive.is_zoned and level != NONE:
        raise UserError("drives with zones are in no array")
    if drive.is_zoned and not demand.traces and demand.reads < 100:
        raise UserError("its zones are written in order, and not at random; --read-share 100 asks for reads")
    found = Choice(drive, level, MISSES)
    numbers = members_of(level, most)
    room = [count for count in numbers
            if SECTOR * sectors_of(level, count, drive.sectors) >= demand.capacity]
    found.untried[FEW] = len(numbers) - len(room)
    if not room:
        found.verdict = FEW
        return found
    if not demand.traces and _late(drive, demand):
        found.verdict, found.untried[LATE] = LATE, len(room)
        return found
    for at, count in enumerate(room):
        if not demand.traces and level != NONE and _slow(drive, level, count, demand):
            found.untried[SLOW] = found.untried.get(SLOW, 0) + 1
            continue
        found.tried.append(drive.tried(level, count, 0, demand))
        if not found.tried[-1].fits(demand):
            continue
        found.degraded = [drive.tried(level, count, failed, demand)
                          for failed in range(1, spare(level, count) + 1)]
        if demand.survives and not (found.degraded and found.degraded[0].fits(demand)):
            continue
        found.verdict, found.untried["more members than needed"] = FITS, len(room) - at - 1
        return found
    found.degraded = []
    if not found.tried:
        found.verdict = SLOW
    elif any(one.doubts for one in found.tried):
        found.verdict, found.why = DOUBTED, found.tried[-1].doubts[0] if found.tried[-1].doubts else ""
    return found
