# SPDX-License-Identifier: GPL-2.0
"""Figures of a block trace that `david sim` serves, a second way: from when each request was done."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from davidlib import build
from helpers.figuretable import Between, Near, printed
from helpers import secondsim
from helpers.secondsim import nearest_rank

DAVID = Path(__file__).resolve().parents[3] / "tools" / "david"
READ, WRITE, FLUSH, DISCARD = range(4)
SECTORS = 1 << 21  # of each disk
CHUNK = 128
NAMES = ("reads", "writes", "flushes", "discards")


class Made(NamedTuple):
    start: int
    end: int
    op: int
    sector: int
    sectors: int


def requests(seed: int, count: int, gap: int, flushes: int = 1) -> list[Made]:
    """None lies in two chunks."""
    dice, time, made = random.Random(seed), 0, []
    for _ in range(count):
        op = dice.choices(range(4), (10, 8, flushes, 1))[0] if made else READ
        sectors = 0 if op == FLUSH else dice.choice((8, 16, 64))
        sector = dice.randrange((SECTORS // 4 - 64) // sectors) * sectors if sectors else 0
        made.append(Made(time, time + dice.randrange(1000, 4 * gap), op, sector, sectors))
        time += (dice.randrange(1, 2 * gap) // 1000 + 1) * 1000
    return made


def blkparse(made: list[Made]) -> str:
    """As lines of blkparse, with one that nobody understands and a request that is none of these."""
    events = []
    for block in made:
        said = ("R", "WS", "FWS", "DS")[block.op]
        where = f"{block.sector} + {block.sectors}" if block.sectors else ""
        events.append((block.start, f"Q {said} {where} [a]"))
        events.append((block.end, f"C {said} {where or 0} [0]"))
    events += [(5, "D WZ 640 + 8 [a]"), (6, "C WZ 640 + 8 [0]"), (7, "P N [a]")]
    lines = [
        f"8,0 0 {number} {time // 10**9}.{time % 10**9:09} 1 {said}"
        for number, (time, said) in enumerate(sorted(events))
    ]
    return "\n".join([*lines, "something else", ""])


class Asked(NamedTuple):
    profile: str
    array: str = ""
    options: tuple[str, ...] = ()
    count: int = 400
    gap: int = 12_000_000  # ns
    bound: int = 60_000  # us
    flushes: int = 1  # of 20 requests

    def words(self) -> list[str]:
        found = ["--profile", self.profile, "--bound", f"{self.bound}us"]
        found += ["--size", str(SECTORS * 512)]
        return found + [word for option in self.options for word in ("--option", option)]


def _sim(path: Path, asked: Asked, *more: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, DAVID, "sim", path, *asked.words(), *more, "--json"], capture_output=True, text=True
    )
    assert done.returncode == (2 if "not to be believed" in done.stderr else 0), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def simulated(asked: Asked, place: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What it printed, of the drive by itself and of the array, and what the second way comes to."""
    made = requests(3, asked.count, asked.gap, asked.flushes)
    path = place / "trace"
    path.write_text(blkparse(made))
    doc = _sim(path, asked, *(("--array", asked.array) if asked.array else ()))
    second = _trace(path, made)
    for number, served in enumerate(doc["served"]):
        found = _served(served, asked, made, place)
        second |= {f"served.{number}.{name}": value for name, value in found.items()}
    return doc, second


def _ranks(times: list[int], names: tuple[str, ...]) -> dict[str, Any]:
    ranks = {"p50_us": 500, "p90_us": 900, "p99_us": 990, "p999_us": 999, "max_us": 1000}
    return {name: printed(nearest_rank(times, ranks[name]) / 1e3, 3) for name in names}


def _trace(path: Path, made: list[Made]) -> dict[str, Any]:
    second: dict[str, Any] = {"file": str(path), "format": "blkparse", "device": "/dev/block/8:0"}
    second |= {name: sum(block.op == op for block in made) for op, name in enumerate(NAMES)}
    lines = path.read_text().splitlines()
    left = [
        ("not understood", len(lines), lines[-1]),
        (
            "requests that are no read, write, flush or discard",
            *next((number, line) for number, line in enumerate(lines, 1) if "C WZ" in line),
        ),
    ]
    order = sorted(left, key=lambda kind: kind[1])
    for number, (kind, line, example) in enumerate(order):
        second |= {
            f"left_out.{number}.{name}": value
            for name, value in (("kind", kind), ("count", 1), ("line", line), ("example", example))
        }
    asked = [block for block in made if block.op < FLUSH]
    seconds = (max(block.end for block in made) - made[0].start) / 1e9
    depths = _depths(made)
    found = {
        "seconds": Near(seconds, 1e-9),
        "per_s": Near(len(asked) / seconds, 1e-6),
        "mb_s": Near(512e-6 * sum(block.sectors for block in asked) / seconds, 1e-6),
        "depth": Near(sum(depths) / len(depths), 1e-9),
    }
    found |= _ranks([block.end - block.start for block in asked], ("p50_us", "p99_us", "p999_us"))
    second |= {f"recorded.{name}": value for name, value in found.items()}
    assert all(block.start % 1000 == 0 for block in made)
    for larger in (2, 3, 5, 7):  # no multiple of 1 us that is a larger step is one of all
        assert any(block.start % (1000 * larger) for block in made)
    shared = len(made) - len({block.start for block in made})
    second |= {"grain_us": 1.0, "shared": shared / len(made)}
    return {f"trace.{name}": value for name, value in second.items()}


def _engine(
    asked: Asked, array: str, lines: list[tuple[int, ...]], place: Path, loop: str
) -> list[tuple[int, ...]]:
    """Index, arrival and completion of each request, by david-sim blocks alone."""
    (place / "lines").write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    said = [build.ensure("david-sim"), "blocks", "--profile", asked.profile, "--requests", place / "lines"]
    said += ["--size", str(SECTORS)] + (["--array", array] if array else [])
    said += [word for option in asked.options for word in ("--option", option)]
    subprocess.run([*said, f"--{loop}", "--out", place / "out"], check=True, capture_output=True)
    with (place / "out").open() as file:
        return [tuple(map(int, row.values())) for row in csv.DictReader(file)]


def _depths(made: list[Made]) -> list[int]:
    asked = [[other for other in made[: number + 1] if other.op != DISCARD] for number in range(len(made))]
    return [
        max(1, sum(other.start <= block.start < other.end for other in before))
        for block, before in zip(made, asked, strict=True)
    ]


def _lines(made: list[Made]) -> list[tuple[int, ...]]:
    return [
        (block.start, block.op, block.sector, block.sectors, 2 * (block.op != DISCARD), depth)
        for block, depth in zip(made, _depths(made), strict=True)
    ]


def _served(doc: dict[str, Any], asked: Asked, made: list[Made], place: Path) -> dict[str, Any]:
    text = Path(asked.profile).read_text()
    word = dict(line.split(" = ") for line in text.splitlines() if " = " in line)
    array = asked.array if doc["array"] else ""
    disks = _members(array) - (array[0] == "5") if array else 1  # one is parity
    sectors: int | Between = SECTORS
    if array:
        sectors = Between(0.99 * disks * SECTORS, disks * SECTORS)
    second: dict[str, Any] = {
        "profile": word["name"],
        "kind": word.get("kind", "disk"),
        "array": array,
        "sectors": sectors,
        "beyond": 0,
        "beyond_line": 0,
    }
    for number, run in enumerate(doc["runs"]):
        found = _run(run["loop"], asked, array, made, place)
        second |= {f"runs.{number}.{name}": value for name, value in found.items()}
    load = _load(asked, array, made, place, doc["load"]["speed"])
    return second | {f"load.{name}": value for name, value in load.items()}


def _run(loop: str, asked: Asked, array: str, made: list[Made], place: Path) -> dict[str, Any]:
    rows = _engine(asked, array, _lines(made), place, loop)
    last = max(end for _, _, end in rows)
    seconds = (last - made[0].start) / 1e9
    second: dict[str, Any] = {"loop": loop, "seconds": printed(seconds, 9)}
    took = {op: [end - came for number, came, end in rows if made[number].op == op] for op in range(3)}
    both = took[READ] + took[WRITE]
    size = 512e-6 * sum(made[number].sectors for number, _, _ in rows)
    busy, until = 0, 0
    for _, came, end in sorted(rows, key=lambda row: row[1:]):
        busy += max(0, end - max(came, until))
        until = max(until, end)
    second |= {
        "per_s": printed(len(both) / seconds, 3),
        "mb_s": printed(size / seconds, 6),
        "busy": printed(busy / 1e9 / seconds, 6),
        "discards": sum(block.op == DISCARD for block in made),
        "queue": printed(sum(end - came for _, came, end in rows) / 1e9 / seconds, 6),
        "empty_reads": _empty(asked, made),
        "left_seconds": printed(_left(loop, asked, array, made, last, place), 9),
        "stays_in_cache": _stays(asked, made),
        "fresh": 1 if "precondition=fresh" in asked.options else 0,
    }
    for name, times in (("all", both), *((NAMES[op], took[op]) for op in range(3))):
        figures = {"requests": len(times), "mean_us": printed(sum(times) / max(1, len(times)) / 1e3, 3)}
        figures |= _ranks(times, ("p50_us", "p90_us", "p99_us", "p999_us", "max_us"))
        second |= {f"{name}.{figure}": value for figure, value in figures.items()}
    if array.startswith("0"):
        return second | _apart(asked, array, made, rows, seconds, place)
    if array:
        # Parity is read and written when the array comes to it.
        return (
            second
            | {"hits": Between(0, 1)}
            | {f"member_busy.{name}": Between(0, 1) for name in ("least", "mean", "most")}
        )
    return second | _replayed(asked, made, rows, place, len(both))


def _members(array: str) -> int:
    return int(array.split("members=")[1].split()[0])


def _apart(
    asked: Asked, array: str, made: list[Made], rows: list[tuple[int, ...]], seconds: float, place: Path
) -> dict[str, Any]:
    """Of a RAID-0 with chunks of 64 KiB: what comes to each member, on a drive of its own."""
    came: list[list[secondsim.Request]] = [[] for _ in range(_members(array))]
    drive = secondsim.Asked(asked.profile, (), 0, options=asked.options)
    busy, hits, ends = [], 0, {number: end for number, _, end in rows}
    of: dict[int, int] = {}
    for number, arrival, _ in sorted(rows, key=lambda row: (row[1], row[0])):
        block = made[number]
        chunk, offset = divmod(block.sector, CHUNK)
        mine = came[chunk % len(came)]
        sector = chunk // len(came) * CHUNK + offset
        mine.append(secondsim.Request(0, block.op, sector, block.sectors, arrival))
        of[id(mine[-1])] = number
    for mine in came:
        secondsim.ended_alone(drive, place, mine)
        total, until = 0, 0
        for one in mine:
            assert one.done == ends[of[id(one)]], (one, ends[of[id(one)]])
            total += max(0, one.done - max(one.arrival, until))
            until, hits = max(until, one.done), hits + one.hit
        busy.append(total / 1e9 / seconds)
    shares = {"least": min(busy), "mean": sum(busy) / len(busy), "most": max(busy)}
    return {"hits": printed(hits / len(of), 6)} | {
        f"member_busy.{name}": printed(share, 6) for name, share in shares.items()
    }


def _stays(asked: Asked, made: list[Made]) -> bool:
    """By the profile's text: an SSD keeps its buffer without power, and is by itself."""
    word = dict(line.split(" = ") for line in Path(asked.profile).read_text().splitlines() if " = " in line)
    if "power_loss_protection=yes" not in asked.options:
        return False
    room, unit = word["write_buffer"].split()
    assert unit == "MiB"
    written = sum(512 * block.sectors for block in made if block.op == WRITE)
    assert 0 < written != 2 * int(room) << 20
    return written < 2 * int(room) << 20


def _left(loop: str, asked: Asked, array: str, made: list[Made], last: int, place: Path) -> float:
    """Of the same trace with a flush behind it, when all others have ended: how long that takes."""
    return _left_of(_lines(made), loop, asked, array, last, place)


def _left_of(
    lines: list[tuple[int, ...]], loop: str, asked: Asked, array: str, last: int, place: Path
) -> float:
    # Closed, it comes when nothing is under way, whatever its time.
    behind = (last if loop == "open" else lines[-1][0], FLUSH, 0, 0, 2, 1)
    rows = _engine(asked, array, [*lines, behind], place, loop)
    [(came, end)] = [(came, end) for number, came, end in rows if number == len(lines)]
    assert came == last, (came, last)
    return (end - came) / 1e9


def _empty(asked: Asked, made: list[Made]) -> int:
    """Pages that nobody wrote before, of a new SSD whose map has them all; trimmed ones are empty, too."""
    if "precondition=fresh" not in asked.options:
        return 0
    written: set[int] = set()
    count = 0
    for block in made:
        pages = set(range(block.sector // 8, (block.sector + block.sectors) // 8))
        if block.op == WRITE:
            written |= pages
        elif block.op == DISCARD:
            written -= pages
        elif block.op == READ:
            count += len(pages - written)
    return count


def _replayed(
    asked: Asked, made: list[Made], rows: list[tuple[int, ...]], place: Path, asks: int
) -> dict[str, Any]:
    """Hits and parts, of david-sim replay of the same requests, told as the kernel's trace points do."""
    came = {number: arrival for number, arrival, _ in rows}
    for number, block in enumerate(made):
        if block.op == DISCARD:
            came[number] = came.get(number - 1, block.start) if number else block.start
    lines, order = [], sorted(came, key=lambda number: (came[number], number))
    for identity, number in enumerate(order):
        block = made[number]
        lines.append(
            f" david_queue: dev=1:1 id={identity} arrival={came[number]} op={block.op} sector={block.sector} "
            f"sectors={block.sectors} flags={2 * (block.op != DISCARD)}\n"
        )
    (place / "recorded").write_text("".join(lines))
    said = [
        build.ensure("david-sim"),
        "replay",
        "--profile",
        asked.profile,
        "--size",
        str(SECTORS),
        "--recorded",
        place / "recorded",
        "--json",
        "--out",
        place / "parts",
    ]
    said += [word for option in asked.options for word in ("--option", option)]
    found = json.loads(subprocess.run(said, capture_output=True, text=True).stdout)
    with (place / "parts").open() as file:
        hits = sum(row["hit"] == "1" for row in csv.DictReader(file))
    flushes = sum(block.op == FLUSH for block in made)
    share = Between((hits - flushes) / asks - 1e-6, hits / asks + 1e-6)
    return {"hits": share} | {f"drive_ns.{name}": value for name, value in found["drive_ns"].items()}


def _load(asked: Asked, array: str, made: list[Made], place: Path, speed: float) -> dict[str, Any]:
    """At that speed the bound holds, and a little above it does not."""
    lines = _lines(made)

    def sped(speed: float) -> list[tuple[int, ...]]:
        return [(int(line[0] / speed), *line[1:]) for line in lines]

    def at(speed: float) -> tuple[int, float, int]:
        faster = sped(speed)
        rows = _engine(asked, array, faster, place, "open")
        times = [end - came for number, came, end in rows if made[number].op < FLUSH]
        last = max(end for _, _, end in rows)
        return nearest_rank(times, 990), len(times) / last * 1e9, last

    p99, rate, last = at(speed)
    left = _left_of(sped(speed), "open", asked, array, last, place)
    above = [at(speed * (1 + step / 1000))[0] for step in range(1, 12)]
    holds = p99 <= asked.bound * 1000 < max(above)
    return {
        "bound_us": asked.bound,
        "speed": Near(speed, 1e-6) if holds else f"p99 is {p99} ns, and {above} above it",
        "p99_us": Near(p99 / 1e3, 1e-3 * p99 / 1e3),
        "per_s": Near(rate, 1e-3 * rate),
        # Times are rounded to ns, and the platters turn meanwhile.
        "left_seconds": Near(left, 1e-3 * left + 1e-6),
    }
