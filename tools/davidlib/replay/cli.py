# SPDX-License-Identifier: GPL-2.0
"""david compile, david replay, david compare: what was recorded, again, and what that is worth."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from .. import losses
from ..command import Commands
from ..disk import mounts
from ..pages import writing
from ..sizes import size_arg, time_arg
from ..trace import blocks, disks
from ..trace.figures import open_trace
from ..util import FAILED, NOT_BELIEVABLE, UserError, say
from . import background, blockreplay, compare, comparison, programs, snapshot, target

ORDERS = ("root", "temporal", "fs", "minimal", "single", "none")
KERNEL = ("vm.dirty_ratio", "vm.dirty_background_ratio", "vm.dirty_expire_centisecs")


def timing_arg(text: str) -> list[str]:
    kind, colon, scale = text.partition(":")
    if kind == "scale" and re.fullmatch(r"\d+(\.\d+)?", scale):
        return ["--timing", "closed", "--scale", scale]
    if kind in ("closed", "open", "afap", "artc") and not colon:
        return ["--timing", kind]
    raise argparse.ArgumentTypeError(f"'{text}' is none of closed, open, afap, artc, scale:F")


def _compile(args: argparse.Namespace) -> int:
    trace, out = Path(args.trace), Path(args.out)
    options = ["--order", args.order]
    for name in ("from", "to", "cached"):
        value = getattr(args, name)
        options += [f"--{name}", str(value)] if value is not None else []
    for only in args.only or []:
        kind, _, value = only.partition("=")
        if kind not in ("pid", "path") or not value:
            raise UserError(f"compile: --only takes pid=N or path=PATTERN, not {only}")
        options += [f"--{kind}", value]
    if args.root:
        if not os.path.isabs(args.root):
            raise UserError(f"compile: --root takes a path from the root on, not {args.root}")
        options += ["--root", os.path.normpath(args.root)]
    options += ["--dot", args.dot] if args.dot else []
    options += ["--explain", str(args.explain)] if args.explain else []
    explained, calls, rest = programs.make(trace, out, options).partition("calls ")
    counted = {key: int(number) for key, number in (line.split() for line in (calls + rest).splitlines())}
    print(explained + (calls + rest if args.stats else ""), end="")
    if args.json:
        Path(args.json).write_text(json.dumps(counted, indent=1) + "\n")
    return _left_out(trace, counted)


# Calls of the trace that the compiled one has not, though nobody asked for it and a disk may have been used.
LEFT_OUT = ("unknown", "not-replayed", "without-rights", "elsewhere")
# Why a call of the trace is none of the workload (tools/calls/workload.h: enum wl_reason).
REASONS = ("only-in-order", "without-a-disk", "left-out", *LEFT_OUT, "missing")


def _left_out(trace: Path, counted: dict[str, int]) -> int:
    """The exit status of a compilation: is too much missing?"""
    calls, without = counted["calls"], {key: counted[key] for key in REASONS if counted[key]}
    say(f"{trace}: {_in_workload(calls, without)}")
    database = open_trace(trace)
    lost = losses.of_trace(database)
    missing = {key: lost.missing[key] for key in losses.MISSING} | {key: counted[key] for key in LEFT_OUT}
    status = losses.status(str(trace), losses.Losses(missing, calls - losses.made_up(database)))
    if counted["starved"]:
        status = NOT_BELIEVABLE
    if calls == sum(without.values()) and not counted["touches"]:
        say(f"{trace}: nothing of it is left to be replayed")
        return NOT_BELIEVABLE
    return status


def _in_workload(calls: int, without: dict[str, int]) -> str:
    """How much of the trace it is, and what it is not."""
    missing = sum(without.values())
    if not calls:
        return "the trace has no call"
    if not missing:
        return f"all of the trace's {calls} calls are in the workload"
    reasons = ", ".join(f"{count} {reason}" for reason, count in without.items())
    share = losses.percent(missing / calls)
    return f"{missing} of the trace's {calls} calls, {share}, are not in the workload: {reasons}"


def clock_step() -> int:
    """ns; the least that two looks at the clock differ by."""
    looks = [time.clock_gettime_ns(time.CLOCK_MONOTONIC) for _ in range(2000)]
    return min((b - a for a, b in zip(looks, looks[1:], strict=False) if b > a), default=0)


def environment(place: Path) -> dict[str, Any]:
    """What a figure depends on, beside the disk."""
    mount = mounts.above(str(place.resolve()))
    memory = re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())
    found: dict[str, Any] = {
        "kernel": platform.release(),
        "cpus": os.cpu_count(),
        "clock-ns": clock_step(),
        "memory-kb": int(memory[1]) if memory else 0,
        "file-system": mount.kind if mount else "?",
        "mount-options": mount.options if mount else "?",
    }
    for name in KERNEL:
        path = Path("/proc/sys", *name.split("."))
        found[name] = path.read_text().strip() if path.exists() else None
    return found


def _options(args: argparse.Namespace, run: int) -> list[str]:
    options = [
        *args.timing,
        "--reads",
        args.reads,
        "--syncs",
        args.fsync,
        "--on-mismatch",
        args.on_mismatch,
    ]
    options += ["--ballast", str(args.ballast)] if args.ballast else []
    options += ["--add-delay", str(args.add_delay)] if args.add_delay else []
    options += ["--shuffle", str(args.shuffle + run)] if args.shuffle else []
    options += ["--spin"] if args.spin else []
    options += ["--processes"] if args.processes else []
    options += ["--fifo"] if args.fifo else []
    options += ["--share-disk"] if args.share_disk else []
    if args.log:
        options += ["--log", args.log if args.repeats == 1 else f"{args.log}.{run + 1}"]
    return options


def _line(figures: dict[str, Any]) -> str:
    compared, same = figures["compared"], figures["same"]
    share = "no call's result was compared"
    if compared:
        share = f"{100 * same / compared:.3f} % of {compared} calls as in the original"
        calls = figures["trace-calls"]
        if calls and figures["not-in-workload"]:
            share += f", {100 * figures['trace-same'] / calls:.3f} % of the trace's {calls}"
    seconds = [figures[name] / 1e9 for name in ("elapsed", "original-elapsed")]
    told = f"{share}; {seconds[0]:.6f} s, the original {seconds[1]:.6f} s"
    if seconds[1]:
        told += f", a ratio of {seconds[0] / seconds[1]:.3g}"
    if figures["timing"] == "afap" and "idle" in figures:
        told += f"; for {figures['idle'] / 1e9:.6f} s of these, {figures['idle-times']} times, no thread ran"
    return told


def disk_of(place: Path) -> str | None:
    mount = mounts.above(str(place.resolve()))
    return disks.name_of(mount.source) if mount else None


def beginnings(args: argparse.Namespace, workload: Path, place: Path) -> Iterator[int]:
    """The runs, each with the initial tree: made again, or with the whole disk as it was before the first."""
    if not args.snapshot:
        for run in range(args.repeats):
            target.empty(place)
            programs.prepare(workload, place, args.holes)
            yield run
        return
    mount = snapshot.mount_of(place)
    programs.prepare(workload, place, args.holes)
    with tempfile.TemporaryDirectory(prefix="dm-david-replay-") as scratch:
        state = snapshot.Snapshot(mount, Path(scratch) / "store")
        for run in range(args.repeats):
            if run:
                state.restore()
            yield run


# Of directories only: with what holds, if they are not given.
OF_CALLS = {
    **{"reads": "current", "fsync": "traced", "on_mismatch": "count", "repeats": 1, "log": None},
    **dict.fromkeys(("snapshot", "holes", "cold", "spin", "processes", "fifo", "share_disk"), False),
    **dict.fromkeys(("ballast", "add_delay", "shuffle")),
}
OF_BLOCKS = {"write": False, "depth": None, "device": None, "format": None}


def _not_with(args: argparse.Namespace, options: dict[str, Any], place: str) -> None:
    for name, default in options.items():
        if getattr(args, name) != default:
            raise UserError(f"replay: --{name.replace('_', '-')} is not for {place}")


def _replay_blocks(args: argparse.Namespace) -> int:
    _not_with(args, OF_CALLS, "a block trace on a device or a file")
    timing = args.timing[1]
    if args.timing not in (["--timing", "open"], ["--timing", "closed"]):
        raise UserError("replay: --timing of a block trace is open or closed")
    way = blockreplay.Way(timing, args.depth, args.write, args.device, args.format)
    return blockreplay.replay(Path(args.workload), Path(args.target), way, args.out)


def _replay(args: argparse.Namespace) -> int:
    workload, place = Path(args.workload), Path(args.target)
    if not place.exists():
        raise UserError(f"{place}: there is no such directory, and no such device or file")
    if not place.is_dir():
        return _replay_blocks(args)
    _not_with(args, OF_BLOCKS, "a directory")
    target.check_empty(place)
    runs: list[dict[str, Any]] = []
    status = 0
    with background.turned_off(place) if args.cold else nullcontext():
        for run in beginnings(args, workload, place):
            if args.cold:
                target.make_cold(place)
            name, before = disk_of(place), disks.counts()
            figures = programs.run(workload, place, _options(args, run))
            if not run:
                say(f"{workload}: {_in_workload(figures['trace-calls'], figures['not-in-workload'])}")
                missing = {key: figures["not-in-workload"].get(key, 0) for key in (*LEFT_OUT, "missing")}
                status = losses.status(str(workload), losses.Losses(missing, figures["trace-calls"]))
            asked = disks.between(before, disks.counts()).get(name) if name else None
            if name:
                figures["disk"] = dict(zip(disks.FIELDS, asked or [0] * len(disks.FIELDS), strict=True))
            say(f"run {run + 1}: {_line(figures)}")
            for different in figures["differences"][:5] if not run else []:
                say("record {record}: {call} gave {got}, in the original {expected}".format(**different))
            runs.append(figures)
            same = _differing(run, figures, args.on_mismatch == "ignore")
            status = max(status, same, _stalled(run, figures, workload), _short(run, figures))
        result = {
            "kind": "replay",
            "cold": args.cold,
            "environment": environment(place),
            "options": {
                "add-delay": args.add_delay,
                "ballast": args.ballast,
                "shuffle": args.shuffle,
                "fifo": args.fifo,
            },
            "runs": runs,
        }
    if args.out:
        Path(args.out).write_text(json.dumps(result, indent=1) + "\n")
    if any(run["stopped"] for run in runs):
        return FAILED
    return NOT_BELIEVABLE if any(run.get("order-violations") for run in runs) else status


def _differing(run: int, figures: dict[str, Any], ignored: bool = False) -> int:
    """The exit status of a run: did it do the same? @ignored: nobody wants to know."""
    if not figures["made"]:
        say(f"run {run + 1}: nothing was replayed")
        return NOT_BELIEVABLE
    if not figures["compared"] and not ignored:
        say(f"run {run + 1}: of none of its {figures['made']} calls the original's result is known")
        return NOT_BELIEVABLE
    differ = figures["compared"] - figures["same"]
    found = losses.Losses({"differ": differ}, figures["compared"])
    return losses.status(f"run {run + 1}", found, "came to another result")


SHORTAGES = {
    "too-few-descriptors": "EMFILE: the workload uses up to {descriptors} descriptors, the limit is "
    "{descriptors-limit} (ulimit -n)",
    "no-room": "ENOSPC: TARGET's disk, or a quota, is full",
    "no-memory": "ENOMEM: there is too little memory",
}


def _short(run: int, figures: dict[str, Any]) -> int:
    """The exit status of a run: had it what the original had?"""
    for name, count in figures["shortages"].items():
        say(f"run {run + 1}: {count} calls failed with {SHORTAGES[name].format(**figures)}")
    return NOT_BELIEVABLE if figures["shortages"] else 0


def _stalled(run: int, figures: dict[str, Any], workload: Path) -> int:
    """The exit status of a run: did some commands wait for what could not come?"""
    if not figures["stalls"]:
        return 0
    say(f"run {run + 1}: {figures['stalls']} times no thread could go on; then one gave up. The first time:")
    for wait in figures["stalled"]:
        what = f"record {wait['for-record']}" if "for-record" in wait else wait["for"]
        say(f"record {wait['record']}: {wait['call']} waits for {what}")
    say(f"{workload}: david compile --explain RECORD says why a record waits for another")
    return NOT_BELIEVABLE


def _compare(args: argparse.Namespace) -> int:
    results = compare.load([Path(path) for path in args.result])
    traces = [compare.Seen.of_trace(Path(path), args.disk) for path in args.trace or []]
    found = compare.compare(results, args.capture_cost or 0, traces, args.mixed)
    print("\n".join(comparison.as_text(found)))
    if args.page:
        writing.write(Path(args.page), comparison.TITLE, comparison.of_page(found))
    if args.out:
        Path(args.out).write_text(json.dumps(compare.as_json(found), indent=1) + "\n")
    return 0


def add_parsers(sub: Commands) -> None:
    make = sub.add_parser(
        "compile",
        help="make a recorded trace into one that can be replayed",
        description="Make of a finished trace what `david replay` replays: which calls, which of them "
        "wait for which, how long after, and what tree must be there at first.",
    )
    make.add_argument("trace", metavar="TRACE", help="a trace of `david trace`")
    make.add_argument("-o", "--out", metavar="OUT", required=True, help="the compiled trace")
    make.add_argument(
        "--order",
        metavar="RULES",
        default="root",
        help=f"{', '.join(ORDERS)}, or rules with commas between them (docs/REPLAY.md); root, if not given",
    )
    make.add_argument("--from", metavar="TIME", type=time_arg, help="what is before is only preparation")
    make.add_argument("--to", metavar="TIME", type=time_arg, help="leave out what begins then or later")
    make.add_argument(
        "--only",
        metavar="WHAT",
        action="append",
        help="pid=N: of that process; path=PATTERN: of such names",
    )
    make.add_argument(
        "--root",
        metavar="DIR",
        help="what is below DIR, in the original: the replay's TARGET takes DIR's place",
    )
    make.add_argument(
        "--cached",
        metavar="TIME",
        type=time_arg,
        help="a read that took no longer, and a nanosecond a byte, asked no disk; 50us, if not given",
    )
    make.add_argument("--stats", action="store_true", help="print what is in it")
    make.add_argument("--json", metavar="FILE", help="write what is in it, and what was guessed, as JSON")
    make.add_argument("--dot", metavar="FILE", help="write which call waits for which, for graphviz")
    make.add_argument("--explain", metavar="ID", type=int, help="print what that call waits for")
    make.set_defaults(func=_compile)
    replay = sub.add_parser(
        "replay",
        help="do a compiled trace's calls again, in a directory; or a block trace's requests, on a device",
        description="Do the calls of a compiled trace again, in an empty directory that takes the place "
        "of the original's root. Nothing outside of it is touched. What the trace needs is made first. Or "
        "send a block trace's requests to a device or a file with direct I/O.",
    )
    replay.add_argument("workload", metavar="WORKLOAD", help="what `david compile` made, or a block trace")
    replay.add_argument(
        "target",
        metavar="TARGET",
        help="an empty directory, on the disk to be measured; of a block trace a device or a file",
    )
    replay.add_argument("--write", action="store_true", help="block trace: TARGET may be written to")
    replay.add_argument("--depth", metavar="N", type=int, help="block trace: so many under way")
    replay.add_argument("--device", metavar="NAME", help="block trace: which of several devices it has")
    replay.add_argument(
        "--format", metavar="NAME", choices=list(blocks.READERS), help="block trace: its format"
    )
    replay.add_argument(
        "--timing",
        metavar="WHEN",
        type=timing_arg,
        default=["--timing", "closed"],
        help="closed: as long after its predecessors as in the original (if not given); open: after the "
        "start; scale:F: closed, times F; afap: at once; artc: closed, but before it waits for others",
    )
    replay.add_argument(
        "--reads",
        choices=("current", "original", "none"),
        default="current",
        help="which reads are done: all; those that asked the original's disk, and they ask this one; none",
    )
    replay.add_argument(
        "--fsync",
        choices=("traced", "none", "each"),
        default="traced",
        help="syncs as in the trace, none, or one after each write",
    )
    replay.add_argument(
        "--on-mismatch",
        choices=("count", "stop", "ignore"),
        default="count",
        help="what to do if a call's result is another than the original's",
    )
    replay.add_argument(
        "-n", "--repeats", metavar="N", type=int, default=1, help="so many runs, each from new"
    )
    replay.add_argument(
        "--snapshot", action="store_true", help="each run from the same state of the fake disk; root"
    )
    replay.add_argument("--holes", action="store_true", help="write nothing to the initial tree's files")
    replay.add_argument(
        "--cold", action="store_true", help="empty the caches first, wait for the disk; root"
    )
    replay.add_argument(
        "--ballast", metavar="SIZE", type=size_arg, help="hold so much memory, as the original did"
    )
    replay.add_argument("--add-delay", metavar="TIME", type=time_arg, help="make each call so much longer")
    replay.add_argument("--shuffle", metavar="SEED", type=int, help="put in delays drawn from a seed")
    replay.add_argument(
        "--spin", action="store_true", help="spin the last 60 us before a call; in real time only"
    )
    replay.add_argument(
        "--processes", action="store_true", help="the original's processes as processes, not only as threads"
    )
    replay.add_argument(
        "--fifo",
        action="store_true",
        help="real-time priority: threads woken together go on in that order; for root",
    )
    replay.add_argument("--log", metavar="FILE", help="write when each call was planned, made and done")
    replay.add_argument("--share-disk", action="store_true", help="trace and log may be on TARGET's disk")
    replay.add_argument("-o", "--out", metavar="FILE", help="the figures, as JSON")
    replay.set_defaults(func=_replay)
    beside = sub.add_parser(
        "compare",
        help="say how near replays came to the original, and how sure that is",
        description="Compare replays with the originals that they are of, under six headings of metrology. "
        "The last line is the verdict.",
    )
    beside.add_argument(
        "result", metavar="FILE", nargs="+", help="what `david replay -o` wrote; one a capture"
    )
    beside.add_argument(
        "--capture-cost", metavar="TIME", type=time_arg, help="a traced call took so much longer"
    )
    beside.add_argument("--mixed", action="store_true", help="captures may be of different programs")
    beside.add_argument(
        "--trace",
        metavar="TRACE",
        action="append",
        help="a trace that was replayed: what the original asked of its disk, beside the replays",
    )
    beside.add_argument(
        "--disk", metavar="NAME", help="the original's disk, as dm-0; else the one that was asked most"
    )
    beside.add_argument("--page", metavar="FILE", help="the same as one HTML page")
    beside.add_argument("-o", "--out", metavar="FILE", help="the same as JSON")
    beside.set_defaults(func=_compare)
