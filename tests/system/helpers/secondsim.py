# SPDX-License-Identifier: GPL-2.0
"""A second way to the figures of `david-sim bench --json`.

The job's requests are made anew here, from its words and the seed. They come at times that the job's rate
decides, so that they are known beforehand. `david-sim replay --recorded` gives them to the drive and says of
each one when it was done and where its time went. What the job should have printed is counted from that.
"""

from __future__ import annotations

import csv
import functools
import itertools
import json
import math
import os
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import secondflash
from .figuretable import Between, Near, printed

TREE = Path(__file__).resolve().parents[3]
SIM = TREE / "build" / "david-sim"
START = 1_000_000  # ns: when a job begins
READ, WRITE, FLUSH = range(3)
OPS = {"all": (READ, WRITE), "reads": (READ,), "writes": (WRITE,)}
PARTS = ("overhead", "seek", "rotation", "transfer", "flush", "queued", "die", "channel", "map", "fault")
QUANTILES = {"p1_us": 10, "p50_us": 500, "p90_us": 900, "p99_us": 990, "p999_us": 999}  # thousandths
REFUTING = ("empty_reads", "unsteady", "failed", "unmet_faults")
UNITS = {"": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "sectors": 1, "rpm": 1, "ps": 1e-3}


def splitmix(state: int) -> Iterator[int]:
    """Steele, Lea, Flood, 2014."""
    mask = (1 << 64) - 1
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield z ^ (z >> 31)


@dataclass(frozen=True)
class Part:
    """Requests at a rate, or one after another where that is 0."""

    size: int = 4096
    writes: int = 0
    order: str = "random"
    rate: int = 0
    start: int = 0
    span: int = 1 << 30
    flush: int = 0
    depth: int = 4

    def words(self) -> str:
        what = "write" if self.writes == 100 else "read"
        words = f"{what} {self.order} size={self.size} depth={self.depth}"
        words += f" writes={self.writes}" if 0 < self.writes < 100 else ""
        words += f" rate={self.rate}" if self.rate else ""
        words += f" at={self.start}" if self.start else ""
        words += f" flush={self.flush}" if self.flush else ""
        return f"{words} span={self.span}"


@dataclass
class Request:
    part: int
    op: int
    sector: int = 0
    sectors: int = 0
    arrival: int = 0
    done: int = 0
    hit: bool = False
    failed: bool = False
    cached: int = 0
    parts: dict[str, int] = field(default_factory=dict)

    @property
    def ns(self) -> int:
        return self.done - self.arrival


class Maker:
    """The requests of a job, in the order in which they are sent."""

    def __init__(self, parts: list[Part], seed: int = 1) -> None:
        self.parts, self.random = parts, splitmix(seed)
        self.sent = [0] * len(parts)
        self.at = [part.start // 512 for part in parts]
        self.due = [START] * len(parts)

    def next_of(self, number: int) -> Request:
        part = self.parts[number]
        self.sent[number] += 1
        if part.flush and (self.sent[number] - 1) % (part.flush + 1) == part.flush:
            return Request(number, FLUSH)
        sectors, op = part.size // 512, WRITE if part.writes == 100 else READ
        if 0 < part.writes < 100 and next(self.random) % 100 < part.writes:
            op = WRITE
        if part.order == "random":
            places = (part.span // 512 - sectors) // sectors + 1
            return Request(number, op, part.start // 512 + next(self.random) % places * sectors, sectors)
        sector = self.at[number]
        self.at[number] += sectors
        if self.at[number] + sectors > (part.start + part.span) // 512:
            self.at[number] = part.start // 512
        return Request(number, op, sector, sectors)

    def timed(self) -> Request:
        """The next by the rates. Of the same time those of the first part come first."""
        number = min(range(len(self.parts)), key=lambda one: (self.due[one], one))
        request = self.next_of(number)
        request.arrival = self.due[number]
        self.due[number] += request.sectors * 512 * 10**9 // self.parts[number].rate
        return request


@dataclass(frozen=True)
class Asked:
    """A job of one drive, or of an array of it."""

    profile: str
    parts: tuple[Part, ...]
    count: int
    warm: int = 0
    every: int = 0
    options: tuple[str, ...] = ()
    array: str = ""
    bad: range = range(0)  # sectors that cannot be read

    def words(self) -> str:
        return " + ".join(part.words() for part in self.parts) + (
            f" count={self.count} warm={self.warm}" + (f" every={self.every}" if self.every else ""))

    def failing(self) -> list[str]:
        return ["--faults", f"media-error:sectors={self.bad[0]}-{self.bad[-1]}"] if self.bad else []

    def drive(self) -> list[str]:
        return ["--profile", self.profile, *(word for one in self.options for word in ("--option", one))]


def ask(*words: str, status: tuple[int, ...] = (0,)) -> str:
    done = subprocess.run([SIM, *words], capture_output=True, text=True)
    assert done.returncode in status, (words, done.returncode, done.stderr)
    return done.stdout


def bench(asked: Asked, more: str = "") -> dict[str, Any]:
    """Status 2 if a doubt says that the figures are of something else than was asked for."""
    array = ["--array", asked.array] if asked.array else []
    words = ("bench", "--json", *asked.drive(), *asked.failing(), *array, "--job", asked.words() + more)
    doc: dict[str, Any] = json.loads(ask(*words, status=(0, 2)))
    refuted = any(doubt["kind"] in REFUTING for job in doc["jobs"] for doubt in job["doubts"])
    ask(*words, status=(2 if refuted else 0,))
    return doc


def profile_of(asked: Asked) -> dict[str, Any]:
    """The profile's values: numbers in ns and bytes or sectors, zones and the seek curve as lists."""
    values: dict[str, Any] = {"zone": [], "seek": []}
    for line in ask("profile", "show", asked.profile).splitlines() + list(asked.options):
        name, _, text = (word.strip() for word in line.partition("="))
        if name in ("zone", "seek"):
            values[name].append([number(word) for word in text.split(",")])
        else:
            values[name] = number(text)
    return values


def number(text: str) -> Any:
    digits = re.match(r"[-+0-9.]*", text.strip())[0]  # type: ignore[index]
    unit = text.strip()[len(digits):]
    try:
        return float(digits) * UNITS[unit]
    except (ValueError, KeyError):
        return text.strip()


def replayed(asked: Asked, place: Path, wanted: int) -> list[Request]:
    """WANTED requests of the job, each with its end."""
    maker = Maker(list(asked.parts))
    return ended_alone(asked, place, [maker.timed() for _ in range(wanted)])


def ended_alone(asked: Asked, place: Path, requests: list[Request]) -> list[Request]:
    """These on one drive, each with its end."""
    lines = [f" david_queue: dev=1:0 id={number} arrival={one.arrival} op={one.op} sector={one.sector} "
             f"sectors={one.sectors} flags=2" for number, one in enumerate(requests)]
    recorded, out = place / "recorded", place / "out.csv"
    recorded.write_text("\n".join(lines) + "\n")
    ask("replay", *asked.drive(), *asked.failing(), "--recorded", str(recorded), "--out", str(out))
    for row in csv.DictReader(out.read_text().splitlines()):
        one = requests[int(row["id"])]
        one.done, one.hit = int(row["completion_ns"]), row["hit"] == "1"
        one.failed = one.op == READ and any(map(asked.bad.count, (one.sector, one.sector + one.sectors - 1)))
        assert one.failed == (row["failed"] != "0"), row
        one.cached = int(row["cached"])
        one.parts = {name: int(row[f"{name}_ns"]) for name in PARTS}
    return requests


def nearest_rank(times: list[int], thousandths: int) -> int:
    """The least of them that so many do not pass; 0 of none."""
    counts, passed = Counter(times), 0
    for one in sorted(counts):
        passed += counts[one]
        if 1000 * passed >= thousandths * len(times):
            return one
    return 0


def quantiles(times: list[int]) -> dict[str, Any]:
    return {name: printed(nearest_rank(times, rank) / 1e3, 3) for name, rank in QUANTILES.items()}


def group(counted: list[Request], seconds: float) -> dict[str, Any]:
    """Of "all", "reads", "writes" or a part."""
    requests, bad = [one for one in counted if not one.failed], [one for one in counted if one.failed]
    n, sectors = len(requests), sum(one.sectors for one in requests)
    return {
        "requests": len(counted),
        "failed": len(bad),
        "failed_mean_us": printed(sum(one.ns for one in bad) / len(bad) / 1e3 if bad else 0, 3),
        "per_s": printed(n / seconds, 4),
        "mb_s": printed(sectors * 512 / 1e6 / seconds, 5),
        "mean_us": printed(sum(one.ns for one in requests) / n / 1e3 if n else 0, 3),
        "max_us": printed(max((one.ns for one in requests), default=0) / 1e3, 3),
        "hits": printed(sum(one.hit for one in requests) / n if n else 0, 5),
        "cached": printed(sum(one.cached for one in requests) / sectors if sectors else 0, 5),
    }


def marks(asked: Asked, counted: list[Request], begin: int) -> list[Any]:
    """Requests a second of each mark."""
    rates = []
    for first in range(0, len(counted) - asked.every + 1, asked.every) if asked.every else ():
        these = counted[first : first + asked.every]
        served = sum(one.op != FLUSH and not one.failed for one in these)
        rates.append(printed(served * 1e9 / (these[-1].done - begin), 1))
        begin = these[-1].done
    return rates


@functools.cache
def counter() -> tempfile.TemporaryDirectory[str]:
    """In it a library that counts a program's allocations."""
    place = tempfile.TemporaryDirectory()
    words = ["cc", "-O1", "-shared", "-fPIC", "-o", f"{place.name}/livebytes.so"]
    subprocess.run([*words, Path(__file__).with_name("livebytes.c")], check=True)
    return place


def live_bytes(asked: Asked, members: int) -> int:
    """The most that david-sim has had allocated at a time, of a short job on a RAID-0 of such drives."""
    script = 'export LD_PRELOAD="$1"; shift; exec "$@" 9>&1 >/dev/null'
    job = ("--array", f"0 members={members}", "--job", "read random size=4096 count=10 span=1048576")
    library = f"{counter().name}/livebytes.so"
    line = ["sh", "-c", script, "sh", library, str(SIM), "bench", *asked.drive(), *job]
    done = subprocess.run(line, env=os.environ | {"LC_ALL": "C"}, capture_output=True, text=True)
    assert done.returncode in (0, 2) and done.stdout, done.stderr
    return int(done.stdout)


def state(asked: Asked) -> Near:
    """What one more drive takes of memory, and so each of the job's. The allocator rounds up."""
    one = live_bytes(asked, 3) - live_bytes(asked, 2)
    drives = int(asked.array.split("members=")[1].split()[0]) if asked.array else 1
    return Near(drives * one, 0.01 * drives * one + 512)


def flat(prefix: str, values: dict[str, Any]) -> dict[str, Any]:
    return {f"{prefix}.{name}": value for name, value in values.items()}


def fill(told: dict[str, Any]) -> float:
    """The share of an SSD that was written before."""
    return told["precondition_fill"] if told["kind"] == "ssd" and told["precondition"] != "fresh" else 0


def head(asked: Asked, job: str, doc: dict[str, Any]) -> dict[str, Any]:
    """What the document has of the drive, and of what was asked for. The words as they were read are asked
    for again: they must be those of the same job."""
    told = profile_of(asked)
    disk = told["kind"] == "disk"
    overhead = {
        "read": "read_miss_after_read", "write": "write_miss_after_write",
        "read_hit": "read_hit_after_read", "write_hit": "write_hit_after_write",
    }
    drive: dict[str, Any] = {
        "sectors": told["capacity"], "physical_block": told["physical_block"],
        "revolution_us": printed(60e6 / told["rpm"] if disk else 0, 3),
        "write_settle_us": printed(told["write_settle"] / 1e3 if disk else 0, 3),
        "flush_overhead_us": printed(told["flush_overhead"] / 1e3, 3),
        "read_cache": disk and told["read_cache"] == "yes" and told["segments"] > 0,
        "readahead": disk and told["readahead"] != "none",
        "write_cache": told["write_cache"],
        "drops_requested": disk and told["drop_requested"] == "yes",
        "segments": told["segments"] if disk else 0,
        "cache_bytes": told["segments"] * told["segment_sectors"] * 512 if disk else 0,
        "readahead_bytes": (told["readahead_max"] or told["segment_sectors"]) * 512 if disk else 0,
        "ncq_depth": told["ncq_depth"], "logical_block": told["logical_block"],
        "precondition": told["precondition"] if told["kind"] == "ssd" else "",
        "precondition_fill": printed(fill(told), 3),
    }
    drive |= flat("overhead_us", {
        name: printed((told["overhead"] + told[f"overhead_{kind}"]) / 1e3 if disk else 0, 3)
        for name, kind in overhead.items()})
    array = ["--array", asked.array] if asked.array else []
    again = json.loads(ask("bench", "--json", *asked.drive(), *array, "--job", doc["jobs"][0]["job"],
                           status=(0, 2)))
    return flat("drive", drive) | {
        "profile": told["name"], "kind": told["kind"],
        f"{job}.name": asked.words(), f"{job}.job": again["jobs"][0]["job"],
        f"{job}.warmed": asked.warm, f"{job}.state_bytes": state(asked),
    }


def zone_rate(told: dict[str, Any], zone: list[float]) -> float:
    """Bytes a second of tracks in order: a revolution each, and a skew between two."""
    _, _, spt, _, track_skew, cylinder_skew = zone[:6]
    heads = told["heads"]
    turns = heads + ((heads - 1) * track_skew + cylinder_skew) / spt
    return heads * spt * 512 * told["rpm"] / 60 / turns


def seek_ns(told: dict[str, Any], distance: int) -> float:
    """By the table, straight between two entries; or by the curve's two halves."""
    if not distance:
        return 0
    for (near, less), (far, more) in itertools.pairwise(told["seek"]):
        if near <= distance <= far:
            return less + (more - less) * (distance - near) / (far - near)
    if distance < told["seek_limit"]:
        return told["seek_short_base"] + told["seek_short_factor"] * math.sqrt(distance)
    return told["seek_long_base"] + told["seek_long_factor"] * distance


def limits(asked: Asked) -> dict[str, Any]:
    """Of the drive, for this job."""
    told = profile_of(asked)
    if told["kind"] != "disk":
        link = number_of_rate(told["link_rate"]) / 1e6
        return {name: printed(link, 5) for name in ("media_mb_s", "least_media_mb_s", "interface_mb_s")} | {
            "mean_seek_us": 0}
    rates, sector = [], 0.0
    for zone in told["zone"]:
        begin, end = sector * 512, (sector + zone[3]) * 512
        if any(begin < one.start + one.span and one.start < end for one in asked.parts):
            rates.append(zone_rate(told, zone) / 1e6)
        sector += zone[3]
    buses = [told["bus_read"] if any(one.writes < 100 for one in asked.parts) else 0,
             told["bus_write"] if any(one.writes for one in asked.parts) else 0]
    first, dice, seeks = asked.parts[0], splitmix(1), 0.0
    cylinders = [cylinder(told, first.start // 512 + next(dice) % (first.span // 512)) for _ in range(20001)]
    for one, other in itertools.pairwise(cylinders):
        seeks += seek_ns(told, abs(one - other)) / 20000 / 1e3
    return {
        "media_mb_s": Near(max(rates), 1e-5 * max(rates)),
        "least_media_mb_s": Near(min(rates), 1e-5 * min(rates)),
        "interface_mb_s": printed(512e3 / max(buses), 5),
        "mean_seek_us": Near(seeks, 1e-4 * seeks),
    }


def number_of_rate(text: Any) -> float:
    """Of "2000MB/s", bytes a second."""
    digits = str(text).rstrip("GMKB/s")
    return float(digits) * {"G": 1e9, "M": 1e6, "K": 1e3}.get(str(text)[len(digits)], 1)


def cylinder(told: dict[str, Any], sector: int) -> int:
    for first, last, _, sectors, *_ in told["zone"]:
        if sector < sectors:
            return int(first + sector * (last - first + 1) // sectors)
        sector -= sectors
    raise ValueError("behind the last zone")


def of_one_drive(asked: Asked, doc: dict[str, Any], place: Path) -> tuple[dict[str, Any], list[Request]]:
    """All figures of a document of one job of a disk or an SSD, but what flash did and doubts; and the
    requests that ended until the last one that is counted."""
    job, wanted = "jobs.0", asked.warm + asked.count
    requests = replayed(asked, place, wanted + 50)
    ended = sorted(requests, key=lambda one: one.done)[:wanted]
    counted = ended[asked.warm :]
    begin = ended[asked.warm - 1].done if asked.warm else START
    seconds = (counted[-1].done - begin) / 1e9
    flushes = [one for one in counted if one.op == FLUSH]
    plain = [one for one in counted if one.op != FLUSH]
    second = head(asked, job, doc) | {f"{job}.seconds": printed(seconds, 9), f"{job}.flushes": len(flushes),
                                      f"{job}.failed": sum(one.failed for one in plain),
                                      f"{job}.failed_flushes": 0}
    second |= {f"{job}.zone_commands": 0, f"{job}.zone_command_mean_us": 0.0}
    second[f"{job}.flush_mean_us"] = printed(sum(one.ns for one in flushes) / len(flushes) / 1e3, 3)
    for name, ops in OPS.items():
        second |= flat(f"{job}.{name}", group([one for one in plain if one.op in ops], seconds))
    for number in range(len(asked.parts)):
        mine = [one for one in plain if one.part == number]
        second |= flat(f"{job}.parts.{number}.part{number}", group(mine, seconds))
        if len(asked.parts) > 1:
            second |= flat(f"{job}.parts.{number}.part{number}", quantiles(
                [one.ns for one in mine if not one.failed]))
    second |= flat(job, quantiles([one.ns for one in plain if not one.failed]) | limits(asked))
    second |= flat(f"{job}.drive_ns", {name: sum(one.parts[name] for one in counted) for name in PARTS})
    second |= {f"{job}.every.{n}.per_s": rate for n, rate in enumerate(marks(asked, counted, begin))}
    return second, ended


PROGRAM = 16  # pages of 4 KiB that a program of flash.profile takes
BLOCK = 8  # programs of a block of one of its dies: gc_unit / dies
DIES = 8


def moved(asked: Asked, writes: list[int], before: int) -> int:
    """Pages that collection moves for these writes of a page each, without those for so many before."""
    drive, then = secondflash.Map(profile_of(asked)), 0
    for number, page in enumerate(writes):
        then = drive.moved if number == before else then
        drive.write(page)
    return drive.moved - then


def programs(asked: Asked, requests: list[Request]) -> int:
    """Of what the host writes: a flush programs what is less than a unit, too."""
    found = loose = 0
    for one in requests:
        loose += one.op == WRITE
        if loose == PROGRAM or one.op == FLUSH and loose:
            found, loose = found + 1, 0
    return found


def erases(programmed: float) -> Between:
    """Each die erases when it has filled a block, if there is one that has been collected."""
    return Between(programmed / BLOCK - 2 * DIES - 1, programmed / BLOCK + 1)


def suspended(asked: Asked, requests: list[Request]) -> int:
    """Programs and erases that these reads suspended: those reads waited for suspend_time at least. No two
    reads overlap, and the drive may suspend all that it does. So nothing else lets one wait so long."""
    told = profile_of(asked)
    assert told["suspends"] > 1 and not told["locked_programs"] and told["suspend_time"] > 2000, told
    reads = [one for one in requests if one.op == READ and one.parts["die"]]
    for one, after in itertools.pairwise(sorted(reads, key=lambda one: one.arrival)):
        assert one.done <= after.arrival, (one, after)
    return sum(one.parts["queued"] >= told["suspend_time"] for one in reads)


def waited_for_room(asked: Asked, requests: list[Request]) -> int:
    """Writes that took longer than their command, their way over the link and the drive's latency. The drive
    takes one command after another, and data of writes cross the link so."""
    told, late, taken, crossed = profile_of(asked), 0, 0.0, 0.0
    others = ("write_wake_time", "write_command_time", "page_time", "link_command_time", "interrupt_batch")
    assert not any(told[name] for name in others), told
    for one in sorted(requests, key=lambda one: (one.arrival, one.op != FLUSH)):
        taken = max(taken, one.arrival) + told["command_time"]
        if one.op == WRITE:
            crossed = max(crossed, taken) + one.sectors * 512e9 / number_of_rate(told["link_rate"])
            late += one.done > crossed + told["write_latency"] + 1
    return late


def of_flash(doc: dict[str, Any], ended: list[Request], asked: Asked) -> dict[str, Any]:
    """What flash did, of a job of requests of one page each, on a drive that was full or blank before."""
    job, counted = doc["jobs"][0], ended[asked.warm :]
    written: set[int] = set()
    empty = []
    for one in sorted(ended, key=lambda one: one.arrival):
        if one.op == WRITE:
            written.add(one.sector)
        elif one.op == READ and one.sector not in written and "precondition=fresh" in asked.options:
            empty.append(one)
    unwritten = len({id(one) for one in empty} & {id(one) for one in counted})
    reads = [one for one in counted if one.op == READ]
    host = sum(one.op == WRITE for one in counted)
    before = sum(one.op == WRITE for one in ended[: asked.warm])
    came = sorted(ended, key=lambda one: one.arrival)
    apart = moved(asked, [one.sector // 8 for one in came if one.op == WRITE], before)
    pages = host + apart
    units = programs(asked, came) - programs(asked, came[: asked.warm]) + apart / PROGRAM
    second = {
        "host_pages": host, "sample": 1, "empty_reads": unwritten,
        "moved_pages": apart,
        "write_amplification": printed(pages / host, 4),
        # What is moved waits until there is a unit for each die.
        "programs": Near(units, DIES if apart else 1),
        "erases": erases(units) if apart else 0,
        "suspended": suspended(asked, counted),
        "buffer_waits": waited_for_room(asked, ended) - waited_for_room(asked, ended[: asked.warm]),
        "flash_reads": sum(one.parts["die"] > 0 for one in reads),
        "buffer_reads": sum(one.hit for one in reads) - unwritten,
    } | {name: 0 for name in ("slc_programs", "folded_pages", "map_reads", "map_programs")}
    second |= {f"every.{n}.write_amplification": Between(0.8 * pages / host, 1.25 * pages / host)
               for n in range(len(job.get("every", ())))}
    if asked.options and "precondition=fresh" in asked.options:
        second |= {"doubts.0.kind": "empty_reads", "doubts.0.share": printed(unwritten / len(reads), 5),
                   "doubts.1.kind": "erased_flash", "doubts.1.share": 1.0}
    return flat("jobs.0", second)


@dataclass
class Member:
    reads: int = 0
    writes: int = 0
    prereads: int = 0
    redundant: int = 0
    busy: int = 0


def members_of(asked: Asked, requests: list[Request], chunk: int) -> list[Member]:
    """By the layout: RAID-0, or a RAID-5, left-symmetric, that reads old data and parity before each write.
    Each request is of one block, and alone."""
    level, _, rest = asked.array.partition(" ")
    nr = int(rest.split()[0].removeprefix("members="))
    members, data = [Member() for _ in range(nr)], nr - (level == "5")
    for one in requests:
        row, offset = divmod(one.sector, chunk * data)
        parity = nr - 1 - row % nr
        mine = members[(parity + 1 + offset // chunk) % nr if level == "5" else offset // chunk]
        mine.reads += one.op == READ or level == "5"
        mine.writes += one.op == WRITE
        mine.busy += one.ns if one.op == READ or level == "0" else 0
        if one.op == WRITE and level == "5":
            mine.prereads += 1
            other = members[parity]
            other.reads, other.prereads = other.reads + 1, other.prereads + 1
            other.writes, other.redundant = other.writes + 1, other.redundant + 1
    return members


def one_by_one(asked: Asked, place: Path) -> list[Request]:
    """The requests of a job on an array of SSDs, each with its time in a trace that is replayed there."""
    maker = Maker(list(asked.parts))
    requests = [maker.next_of(0) for _ in range(asked.count)]
    trace, out = place / "trace.csv", place / "times.csv"
    trace.write_text("op,lbn,blocks,delay_us\n" + "".join(
        f"{'RW'[one.op]},{one.sector},{one.sectors},0\n" for one in requests))
    ask("replay", *asked.drive(), "--array", asked.array, "--trace", str(trace), "--out", str(out))
    now = START
    for one, row in zip(requests, csv.DictReader(out.read_text().splitlines()), strict=True):
        one.arrival, one.done = now, now + round(float(row["modelled_us"]) * 1000)
        now = one.done
    return requests


def alone(asked: Asked, requests: list[Request], chunk: int, place: Path) -> list[list[Request]]:
    """What came to each member, on a drive of its own. A write of RAID-5 comes when old data and parity are
    read, and takes what one takes that the buffer has room for."""
    level, told = asked.array.partition(" ")[0], profile_of(asked)
    nr = len(members_of(asked, [], chunk))
    data = nr - (level == "5")
    came: list[list[Request]] = [[] for _ in range(nr)]
    fast = round(told["command_time"] + told["write_latency"] + 4096e9 / number_of_rate(told["link_rate"]))
    ready: list[tuple[int, list[Request]]] = []
    for one in requests:
        row, offset = divmod(one.sector, chunk * data)
        parity, sector = nr - 1 - row % nr, row * chunk + offset % chunk
        mine = (parity + 1 + offset // chunk) % nr if level == "5" else offset // chunk
        for number in (mine, parity) if one.op == WRITE and level == "5" else ():
            came[number].append(Request(0, READ, sector, one.sectors, one.arrival))
            came[number].append(Request(0, WRITE, sector, one.sectors, one.done - fast))
        if one.op == WRITE and level == "5":
            ready.append((one.done - fast, [came[number][-2] for number in (mine, parity)]))
        else:
            came[mine].append(Request(0, one.op, sector, one.sectors, one.arrival))
            ready.append((one.done, came[mine][-1:]))
    for mine_alone in came:
        ended_alone(asked, place, mine_alone)
    for time, first in ready:
        assert max(one.done for one in first) == time, (time, first)
    return came


def of_array(asked: Asked, doc: dict[str, Any], place: Path, chunk: int) -> dict[str, Any]:
    """All figures of a document of one job, one request at a time, on an array of SSDs."""
    job, told = "jobs.0", doc["jobs"][0]
    requests = one_by_one(asked, place)
    ns = requests[-1].done - START
    members = members_of(asked, requests, chunk)
    for one in requests:
        # A write is a hit if all members' buffers took it, and it read nothing before.
        one.hit = one.op == WRITE and asked.array.startswith("0")
    second = head(asked, job, doc) | {f"{job}.seconds": printed(ns / 1e9, 9), f"{job}.array": asked.array,
                                      f"{job}.flushes": 0, f"{job}.flush_mean_us": 0.0, f"{job}.failed": 0,
                                      f"{job}.zone_commands": 0, f"{job}.zone_command_mean_us": 0.0,
                                      f"{job}.failed_flushes": 0}
    for name, ops in OPS.items():
        second |= flat(f"{job}.{name}", group([one for one in requests if one.op in ops], ns / 1e9))
    second |= flat(f"{job}.parts.0.part0", group(requests, ns / 1e9))
    second |= flat(job, quantiles([one.ns for one in requests]))
    second |= flat(job, {
        "member_reads": printed(sum(one.reads for one in members) / len(requests), 4),
        "member_writes": printed(sum(one.writes for one in members) / len(requests), 4),
        "member_time.all_ns": ns * len(members),
        "member_time.idle_ns": 0,
        "member_time.busy_ns": sum(one["busy_ns"] for one in told["members"]),
        "member_time.waiting_ns": sum(one["waiting_ns"] for one in told["members"]),
    })
    drives = [one["drive_ns"] for one in told["members"]]
    second |= flat(f"{job}.drive_ns", {name: sum(one[name] for one in drives) for name in PARTS})
    apart = alone(asked, requests, chunk, place)
    came = [[one for one in mine if one.op == WRITE] for mine in apart]
    writes = sum(map(len, came))
    gone = [moved(asked, [one.sector // 8 for one in mine], 0) for mine in came]
    units = sum(programs(asked, mine) + pages / PROGRAM for mine, pages in zip(came, gone, strict=True))
    second |= flat(job, {
        "host_pages": writes, "flash_reads": sum(one.reads for one in members),
        "moved_pages": sum(gone),
        "write_amplification": printed((writes + sum(gone)) / writes, 4),
        "programs": Near(units, DIES),
        "suspended": sum(suspended(asked, one) for one in apart),
        "buffer_waits": sum(waited_for_room(asked, one) for one in apart),
        "sample": 1,
    } | {name: 0 for name in ("erases", "buffer_reads", "empty_reads", "slc_programs", "folded_pages",
                              "map_reads", "map_programs")})
    for number, member in enumerate(members):
        second |= flat(f"{job}.members.{number}", of_member(member, told["members"][number], asked, ns))
    return second


def of_member(one: Member, told: dict[str, Any], asked: Asked, ns: int) -> dict[str, Any]:
    """Of RAID-0 the times are those of the requests; of RAID-5 they have to add up."""
    busy = one.busy if asked.array.startswith("0") else ns - told["waiting_ns"]
    parts = told["drive_ns"]
    return {
        "reads": one.reads, "writes": one.writes, "flushes": 0, "prereads": one.prereads,
        "read_bytes": one.reads * 4096, "written_bytes": one.writes * 4096,
        "preread_bytes": one.prereads * 4096, "redundant_bytes": one.redundant * 4096,
        "hits": one.writes, "busy": printed(busy / ns, 6),
        "busy_ns": busy, "response_ns": busy, "idle_ns": 0, "waiting_ns": ns - told["busy_ns"],
    } | {f"drive_ns.{name}": busy - sum(parts[other] for other in PARTS if other != name) for name in PARTS}


def of_disk(doc: dict[str, Any], ended: list[Request], asked: Asked) -> dict[str, Any]:
    """Write amplification is of an SSD; what a cache served of a part, or did not write, is doubted."""
    second: dict[str, Any] = {f"jobs.0.every.{n}.write_amplification": None
                              for n in range(len(doc["jobs"][0].get("every", ())))}
    shares: dict[str, float] = {"cached_writes": 0, "cached_reads": 0, "failed": 0}
    for number, part in enumerate(asked.parts):
        for kind, op in (("cached_writes", WRITE), ("cached_reads", READ)):
            mine = [one for one in ended[asked.warm :] if one.op == op and one.part == number]
            if mine:
                shares["failed"] = max(shares["failed"], sum(one.failed for one in mine) / len(mine))
                cached = sum(one.cached for one in mine) / sum(one.sectors for one in mine)
                served = op == READ and part.order == "random"
                hits = sum(one.hit for one in mine) / len(mine) if served else 0
                shares[kind] = max(shares[kind], cached, hits)
    for n, (kind, share) in enumerate((kind, share) for kind, share in shares.items() if share >= 0.1):
        second |= {f"jobs.0.doubts.{n}.kind": kind, f"jobs.0.doubts.{n}.share": printed(share, 5)}
    return second
