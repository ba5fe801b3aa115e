# SPDX-License-Identifier: GPL-2.0
"""A block trace, served by modelled drives and arrays without a kernel: david-sim blocks does it."""

from __future__ import annotations

import functools
import json
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .. import build
from ..losses import Losses, percent, status
from ..quantile import at_rank
from ..trace import blocks
from ..trace.account import Account, Taken
from ..trace.blocks import DISCARD, FLUSH, READ, WRITE, Block
from ..util import NOT_BELIEVABLE, UserError, replacing, say
from . import recording
from .asking import Asking
from .files import find

LOOPS = {"open": ("open",), "closed": ("closed",), "both": ("open", "closed")}
MOST = 1 << 20  # times as fast, as david-sim says
RANKS = {"p50": 500, "p99": 990, "p999": 999}
EMPTY = 0.1  # of the pages that are read
FRESH = 0.1  # of the pages that are written
CACHED = 0.1  # of the time, with that to empty the caches
BRIEF = "*"
LEAST = 100  # reads and writes: of fewer the 99th percentile is the longest


@dataclass
class Trace:
    path: Path
    kind: str
    device: str
    requests: list[Block]
    account: Account
    timed: bool
    every: blocks.Blocks  # of all devices
    sectors: int | None = None  # of the disk that was recorded
    profile: str | None = None  # in one word
    depths: list[int] | None = field(default=None)

    def counted(self) -> Counter[int]:
        return Counter(block.op for block in self.requests)

    def as_json(self) -> dict[str, Any]:
        counted = self.counted()
        found: dict[str, Any] = {"file": str(self.path), "format": self.kind, "device": self.device}
        for name, op in (("reads", READ), ("writes", WRITE), ("flushes", FLUSH), ("discards", DISCARD)):
            found[name] = counted[op]
        found["left_out"] = [
            {"kind": name, "count": kind.count, "line": kind.line, "example": kind.example}
            for name, kind in self.account.left_out.items()
        ]
        if self.timed:
            grain = self.grain
            found |= {"grain_us": grain.ns / 1e3, "shared": grain.shared}
        return found | ({"recorded": self.recorded()} if self.depths else {})

    @functools.cached_property
    def grain(self) -> blocks.Grain:
        return blocks.grain(self.requests, self.kind)

    def recorded(self) -> dict[str, Any]:
        """What the trace itself says of these requests."""
        assert self.depths
        asked = [block for block in self.requests if block.op in (READ, WRITE)]
        times = sorted(block.end - block.start for block in asked)
        first = min(block.start for block in self.requests)
        seconds = (max(block.end for block in self.requests) - first) / 1e9
        size = 512 * sum(block.sectors for block in asked)
        found = {"seconds": seconds, "per_s": len(asked) / seconds, "mb_s": size / 1e6 / seconds}
        found |= {f"{name}_us": at_rank(times, rank) / 1e3 for name, rank in RANKS.items()}
        return found | {"depth": sum(self.depths) / len(self.depths)}


def load(path: str, kind: str | None, device: str | None) -> Trace:
    kind, found = blocks.load(Path(path), kind)
    name = blocks.choose(Path(path), found, device)
    trace = Trace(Path(path), kind, name, found.of(name), found.account, found.timed, found)
    if not {READ, WRITE} & trace.counted().keys():
        raise UserError(f"{path}: no read and no write of {name} in it")
    if kind == "recording":
        head = recording.head_of(path)
        trace.sectors, trace.profile = head.sectors, head.profile
    if trace.timed:
        trace.depths = blocks.depths(trace.requests)
    return trace


@dataclass
class Way:
    """How it is to be served."""

    profiles: list[str]
    arrays: list[str]
    options: list[str]
    loop: str
    depth: int | None
    bound: int  # ns
    size: int | None  # sectors of each disk, members of arrays too
    out: str | None
    recorded: int | None = None  # sectors of the disk that was recorded: a drive by itself is of that size


def _loops(trace: Trace, way: Way) -> tuple[str, ...]:
    """Those that the trace allows; says what is left out."""
    found = []
    for loop in LOOPS[way.loop]:
        if loop == "open" and not trace.timed:
            why = "it has no times: no open loop, and no verdict on the load"
        elif loop == "closed" and trace.depths is None and way.depth is None:
            why = "it does not say how long requests took: no closed loop without --depth N"
        else:
            found.append(loop)
            continue
        if way.loop == loop:
            raise UserError(f"{trace.path}: {why}")
        say(f"{trace.path}: {why}")
    if not found:
        raise UserError(f"{trace.path}: nothing is left that could be served")
    return tuple(found)


def write(trace: Trace, depth: int | None, to: Path) -> None:
    depths = [depth] * len(trace.requests) if depth else trace.depths or [1] * len(trace.requests)
    with to.open("w") as file:
        for block, under_way in zip(trace.requests, depths, strict=True):
            _, _, op, sector, sectors, flags = block
            file.write(f"{block.start},{op},{sector},{sectors},{flags},{under_way}\n")


def _targets(trace: Trace, way: Way, word: Path) -> list[tuple[Path, str]]:
    """Of each drive: by itself, and in each array."""
    if not all(array.strip() for array in way.arrays):
        raise UserError("--array: its value is empty; write an array's words, such as '6 members=12'")
    if not way.profiles and trace.profile is None:
        raise UserError(f"{trace.path}: --profile must name the drive that is to serve it")
    drives = [find(profile) for profile in way.profiles]
    if not drives and trace.profile:
        word.write_text(trace.profile.replace(";", "\n") + "\n")
        drives = [word]
    return [(drive, array) for drive in drives for array in ("", *way.arrays)]


def serve_one(requests: Path, target: tuple[Path, str], loops: tuple[str, ...], way: Way,
              asking: Asking) -> dict[str, Any]:
    profile, array = target
    line = [str(build.ensure("david-sim")), "blocks", "--profile", str(profile), "--requests", str(requests)]
    line += [f"--{loop}" for loop in loops]
    line += ["--array", array] if array else []
    size = way.size or (None if array else way.recorded)
    line += ["--size", str(size)] if size else []
    line += ["--bound", str(way.bound)] if "open" in loops and not way.out else []
    line += ["--out", way.out] if way.out else []
    line += [word for option in way.options for word in ("--option", option)]
    done = asking.run(line)
    if done.returncode:
        said = done.stderr.strip() or "david-sim failed"
        name = profile.stem + (f" in '{array}'" if array else "")
        said = said.replace(way.out, way.out.removesuffix(".new")) if way.out else said
        raise UserError(f"{name}: {said}".replace(str(requests), "requests"))
    found: dict[str, Any] = json.loads(done.stdout)
    if found["load"] is None:
        del found["load"]
    return found


def serve(trace: Trace, way: Way) -> dict[str, Any]:
    loops = _loops(trace, way)
    way.recorded = trace.sectors
    with tempfile.TemporaryDirectory() as directory:
        requests = Path(directory) / "requests"
        write(trace, way.depth, requests)
        targets = _targets(trace, way, Path(directory) / "recorded.profile")
        if way.out and (len(targets) > 1 or len(loops) > 1):
            raise UserError("-o is for one drive, and for --loop open or closed")
        asking = Asking()
        if way.out is None:
            served = [serve_one(requests, target, loops, way, asking) for target in targets]
        else:
            with replacing(Path(way.out)) as new:
                served = [serve_one(requests, targets[0], loops, replace(way, out=str(new)), asking)]
    return {"trace": trace.as_json(), "served": served}


def missing(trace: Trace) -> tuple[Losses, int]:
    """Says what is missing of the trace; the losses, and the exit status."""
    for line in trace.account.as_text(str(trace.path), Taken(len(trace.every)), "requests")[1:]:
        say(line)
    gone = trace.every.left_out()
    lost = Losses(gone, len(trace.requests) + sum(gone.values()))
    return lost, status(str(trace.path), lost, unit="requests")


def pages_read(trace: Trace) -> int:
    return sum(
        (block.sector + block.sectors + 7) // 8 - block.sector // 8
        for block in trace.requests
        if block.op == READ
    )


def doubts(trace: Trace, found: dict[str, Any], depth: int | None) -> int:
    """Says what is missing of the trace, and what is not to be believed; the exit status. DEPTH was asked
    for."""
    lost, worst = missing(trace)
    pages = pages_read(trace)
    if any("load" in served for served in found["served"]) and (short := few(trace)):
        say(f"{trace.path}: {short}")
        worst = max(worst, NOT_BELIEVABLE)
    for served in found["served"]:
        name = served["profile"] + (f" in '{served['array']}'" if served["array"] else "")
        if served["beyond"]:
            block = trace.requests[served["beyond_line"] - 1]
            say(
                f"{name}: requests do not lie on its {served['sectors']} sectors, the first from "
                f"{block.sector} on"
            )
            beyond = Losses(lost.missing | {"beyond the end": served["beyond"]}, lost.whole)
            worst = max(worst, status(name, beyond, unit="requests"))
        empty = max((run["empty_reads"] for run in served["runs"]), default=0)
        if pages and empty / pages > EMPTY:
            say(
                f"{name}: {percent(empty / pages)} of the pages that were read had never been written, so "
                "flash was not asked: not to be believed"
            )
            worst = max(worst, NOT_BELIEVABLE)
        fresh = max((run["fresh"] for run in served["runs"]), default=0)
        if fresh >= FRESH:
            say(
                f"{name}: flash blocks that were erased, or an SLC cache, took {percent(fresh)} of the "
                "writes, and nothing had to be collected for them (--option precondition=random)"
            )
        worst = max(worst, _coarse(trace, name, served, depth))
        cached = _cached(name, served)
        if served.get("load", {}).get("speed") and (cached or fresh >= FRESH):
            say(f"{name}: the load is one that it bears for as long as the trace, and not for long: not to "
                "be believed (a longer trace)")
            worst = max(worst, NOT_BELIEVABLE)
    return worst


def few(trace: Trace) -> str:
    """What to say if the trace is too short for a verdict on a load; else ""."""
    counted = trace.counted()
    asked = counted[READ] + counted[WRITE]
    if asked >= LEAST:
        return ""
    return (f"the trace has {asked} reads and writes, and a load is told of {LEAST} "
            "or more, as p99 of fewer is the longest: not to be believed")


def bursts(trace: Trace, run: dict[str, Any]) -> str:
    """What to say if the steps of the trace's clock, and not the load, decided what came at once; else ""."""
    return trace.grain.bursts(run["all"]["mean_us"] * 1e3) if trace.timed else ""


def _coarse(trace: Trace, name: str, served: dict[str, Any], depth: int | None) -> int:
    """Says so, of the runs that went by that clock; the exit status."""
    worst = 0
    for run in served["runs"]:
        if (run["loop"] == "open" or depth is None) and (said := bursts(trace, run)):
            say(f"{name}, {run['loop']} loop: {said} (--loop closed --depth N)")
            worst = NOT_BELIEVABLE
    return worst


def cached_ways(served: dict[str, Any]) -> list[tuple[str, float, float, float]]:
    """The loops, and `load`, of which a cache took the writes: a longer trace would wait for the media.
    Each with its rate, its seconds, and those to empty the cache afterwards."""
    ways = [(run["loop"], run["per_s"], run["left_seconds"]) for run in served["runs"]]
    if served.get("load", {}).get("speed"):
        ways.append(("load", served["load"]["per_s"], served["load"]["left_seconds"]))
    first = served["runs"][0]
    if not first["writes"]["requests"]:
        return []
    found = [(loop, rate, first["all"]["requests"] / rate, left) for loop, rate, left in ways]
    return [way for way in found if way[3] >= CACHED * (way[2] + way[3])]


def _cached(name: str, served: dict[str, Any]) -> bool:
    """Says so; whether it took those of the load."""
    if served["runs"][0]["stays_in_cache"]:
        say(f"{name}: its cache has room for all that was written, and a flush need not empty it")
        return True
    took = False
    for loop, rate, seconds, left in cached_ways(served):
        said = "the load" if loop == "load" else f"{loop} loop"
        say(f"{name}, {said}: a cache took the writes: to empty it afterwards takes {left:.4g} s, beside "
            f"{seconds:.4g} s; with that it is {rate * seconds / (seconds + left):.1f} requests a second")
        took = took or loop == "load"
    return took


def brief(served: dict[str, Any]) -> bool:
    """Is the load one that it bears for as long as the trace, as caches or erased flash took the writes?"""
    first = served["runs"][0]
    return bool(served["load"]["speed"]) and (
        first["stays_in_cache"] or max(run["fresh"] for run in served["runs"]) >= FRESH
        or any(loop == "load" for loop, *_ in cached_ways(served)))


def _load(served: dict[str, Any]) -> str:
    speed = served["load"]["speed"]
    if not speed:
        return "none"
    return (f"over {MOST}" if speed >= MOST else f"{speed:.3g}") + BRIEF * brief(served)


NAME = 36  # letters, at least


def _row(
    wide: int, name: str, loop: str, run: dict[str, Any], times: dict[str, Any], busy: str, load: str
) -> str:
    shown = "".join(f" {_fit(times[rank + '_us'] / 1e3, 3, 10)}" for rank in RANKS)
    rates = f"{_fit(run['per_s'], 1, 11)} {_fit(run['mb_s'], 2, 8)}"
    return f"{name:<{wide}} {loop:<8}{rates}{shown}{busy:>8}{load:>14}"


def _fit(value: float, digits: int, wide: int) -> str:
    """In its column: with fewer digits behind the point where there is no room for them; of what is small as
    many as show that it is not 0."""
    text = f"{value:.{digits}f}"
    if len(text) > wide or (value and not float(text)):
        text = f"{value:.4g}" if value < 1e6 else f"{value:.{max(0, wide - 6)}g}"
    return f"{text:>{wide}}"


def as_text(found: dict[str, Any], bound: int) -> str:
    trace = found["trace"]
    counted = ", ".join(f"{trace[name]} {name}" for name in ("reads", "writes", "flushes", "discards"))
    lines = [f"{trace['file']}: {trace['format']}, {trace['device']}: {counted}", ""]
    names = [one["profile"] + (f", {one['array']}" if one["array"] else "") for one in found["served"]]
    wide = max(NAME, *map(len, names))
    lines += [
        f"{'':<{wide}} {'loop':<8}{'requests/s':>11}{'MB/s':>9}{'p50 ms':>11}{'p99 ms':>11}{'p99.9 ms':>11}"
        f"{'busy':>8}{'load':>14}"
    ]
    if "recorded" in trace:
        lines.append(_row(wide, "as recorded", "", trace["recorded"], trace["recorded"], "", ""))
    for name, served in zip(names, found["served"], strict=True):
        for run in served["runs"]:
            busy = f"{100 * run['busy']:.1f} %"
            load = _load(served) if run["loop"] == "open" and "load" in served else ""
            lines.append(_row(wide, name, run["loop"], run, run["all"], busy, load))
    if any("load" in served for served in found["served"]):
        limit = f"{bound / 1e6:g} ms"
        lines += ["", f"load: how many times as fast the trace may come until p99 is above {limit}"]
    if any("load" in served and brief(served) for served in found["served"]):
        lines.append(f"{BRIEF} for as long as the trace alone: a cache, or erased flash, takes the writes")
    if trace["discards"] and any(served["array"] for served in found["served"]):
        lines.append("discards: a modelled array does not pass them on to its disks")
    return "\n".join(lines)
