# SPDX-License-Identifier: GPL-2.0
"""david sim: a recording or a block trace, served by modelled drives without a kernel."""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import build
from ..command import Commands, OnceEach
from ..quantile import at_rank
from ..sizes import SECTOR, size_arg, time_arg
from ..trace import blocks
from ..util import DAVID, UserError, replacing, say
from . import recording, served
from .files import find

BOUND = 100_000_000  # ns
MOST_DEPTH = 65536  # as david-sim has it
# A discard takes no time, and is not among them. The last four are commands to zones.
OPS = ("read", "write", "flush", "discard", "open", "close", "finish", "reset")
FIELD = re.compile(r" (id|op|arrival|completion)=(\d+)")


def _recorded(path: str) -> dict[int, dict[str, int]]:
    """By id: op, arrival and, where it was recorded, completion."""
    found: dict[int, dict[str, int]] = {}
    with Path(path).open(encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.lstrip().startswith(("david_queue:", "david_complete:")):  # as david-sim takes them
                fields = {name: int(value) for name, value in FIELD.findall(line)}
                found.setdefault(fields.pop("id"), {}).update(fields)
    return found


def _modelled(path: Path) -> Iterator[tuple[int, int, int]]:
    with path.open() as file:
        for row in csv.DictReader(file):
            yield int(row["id"]), int(row["arrival_ns"]), int(row["completion_ns"])


def _figures(times: list[int]) -> dict[str, float]:
    times = sorted(times)
    found = {"n": len(times), "mean_ms": sum(times) / len(times) / 1e6}
    return found | {f"p{share}_ms": at_rank(times, 10 * share) / 1e6
                    for share in (50, 90, 99)}


def _by_op(times: dict[str, list[int]]) -> dict[str, dict[str, float]]:
    return {op: _figures(times[op]) for op in OPS if times.get(op)}


def simulate(path: str, profile: str | None, options: list[str], out: str | None) -> dict[str, Any]:
    head = recording.head_of(path)
    with tempfile.TemporaryDirectory() as directory:
        word = Path(directory) / "recorded.profile"
        word.write_text(head.profile.replace(";", "\n") + "\n")
        to = Path(out or Path(directory) / "out.csv")
        drive = find(profile) if profile else word
        line = [str(build.ensure("david-sim")), "replay", "--profile", str(drive)]
        line += ["--size", str(head.sectors), "--recorded", path, "--json"]
        line += [word for option in options for word in ("--option", option)]
        before: dict[str, list[int]] = {}
        after: dict[str, list[int]] = {}
        with replacing(to) as new:
            done = subprocess.run([*line, "--out", str(new)], capture_output=True, text=True)
            if not done.stdout.startswith("{"):
                said = done.stderr.strip().replace(str(new), str(to))
                raise UserError(f"{path}: {said or 'david-sim failed'}")
            found = json.loads(done.stdout)
            recorded = _recorded(path)
            for number, arrival, completion in _modelled(new):
                request = recorded[number]
                op = OPS[request["op"]]
                after.setdefault(op, []).append(completion - arrival)
                if "completion" in request:
                    before.setdefault(op, []).append(request["completion"] - request["arrival"])
    found |= {"recorded": _by_op(before), "simulated": _by_op(after)}
    found["same_drive"] = not profile and not options
    return found


def as_text(found: dict[str, Any]) -> str:
    lines = [f"{'':<18}{'n':>9}{'mean':>10}{'p50':>10}{'p90':>10}{'p99':>10}  ms"]
    for what in ("recorded", "simulated"):
        for op, row in found[what].items():
            times = "".join(f"{row[name]:>10.3f}" for name in ("mean_ms", "p50_ms", "p90_ms", "p99_ms"))
            lines.append(f"{what:<10}{op:>8}{row['n']:>9}{times}")
    if found["same_drive"]:
        said = "all are the kernel's to the nanosecond" if not found["differ"] else "THEY SHOULD BE THE SAME"
        lines.append(f"{found['compared']} completions compared, {found['differ']} differ: {said}")
    return "\n".join(lines)


def _as_recorded(args: argparse.Namespace) -> bool:
    """Is it a recording that one drive serves at the recorded times, with all that the kernel told?"""
    asked = (args.array, args.device, args.format, args.loop, args.depth, args.bound, args.size)
    return len(args.profile) < 2 and not any(asked) and recording.is_one(args.recording)


def _serve(args: argparse.Namespace) -> int:
    trace = served.load(args.recording, args.format, args.device)
    bound = args.bound or BOUND
    way = served.Way(args.profile, args.array, args.option, args.loop or "both", args.depth, bound,
                     args.size and args.size // SECTOR, args.out)
    found = served.serve(trace, way)
    print(json.dumps(found, indent=2) if args.json else served.as_text(found, bound))
    return served.doubts(trace, found, args.depth)


def sim(args: argparse.Namespace) -> int:
    if args.out and Path(args.out).exists() and Path(args.out).samefile(args.recording):
        raise UserError(f"-o {args.out}: that is the file which is to be served; write another name")
    if not _as_recorded(args):
        return _serve(args)
    found = simulate(args.recording, args.profile[0] if args.profile else None, args.option, args.out)
    print(json.dumps(found, indent=2) if args.json else as_text(found))
    if not found["same_drive"]:
        say("requests come when they were recorded; a program that waits for answers would have asked at "
            "other times of another drive")
    return 1 if found["same_drive"] and found["differ"] else 0


def _depth_arg(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_DEPTH:
        raise argparse.ArgumentTypeError(f"'{text}' is no depth; write a number from 1 to {MOST_DEPTH}")
    return int(text)


def add_parsers(sub: Commands) -> None:
    parser = sub.add_parser(
        "sim", help="serve a recording or a block trace by modelled drives, without a kernel",
        description="Serve a recording of david record by the modelled drive without a kernel: the times are "
        "those of the kernel to the nanosecond, or the exit status is 1. Or by another drive. Or serve a "
        "block trace by drives and arrays, at its times and at its depth, and say how much faster it may "
        "come.",
        epilog=f"examples:\n  {DAVID} sim run.rec\n  {DAVID} sim run.rec --profile toshiba-p300-3tb\n"
        f"  {DAVID} sim web_2.csv.gz --profile toshiba-p300-3tb --profile samsung-pm883 "
        "--array '6 members=12'",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recording", metavar="FILE", help="what david record wrote, or a block trace")
    parser.add_argument("--profile", metavar="P", action="append", default=[],
                        help="another drive, scaled to the recorded disk's size; repeatable")
    parser.add_argument("--array", metavar="WORDS", action="append", default=[],
                        help="also by an array of each drive, such as '6 members=12'; repeatable")
    parser.add_argument("--option", metavar="NAME=VALUE", action=OnceEach, default=[],
                        help="replace a value of the profile; repeatable")
    parser.add_argument("--format", metavar="NAME", choices=list(blocks.READERS),
                        help="of a block trace; it is recognised, if not given: " + ", ".join(blocks.READERS))
    parser.add_argument("--device", metavar="NAME", help="which of several devices that a block trace has")
    parser.add_argument("--loop", choices=list(served.LOOPS),
                        help="open: at the trace's times; closed: as many under way as in the trace; both, "
                        "if not given")
    parser.add_argument("--depth", metavar="N", type=_depth_arg,
                        help="closed: so many under way, whatever the trace says")
    parser.add_argument("--bound", metavar="TIME", type=time_arg,
                        help="of the 99th percentile, for the verdict on the load; 100ms, if not given")
    parser.add_argument("--size", metavar="SIZE", type=size_arg,
                        help="scale each drive, and each member of an array, to this size; its own, if not "
                        "given")
    parser.add_argument("-o", dest="out", metavar="OUT.csv",
                        help="write id, arrival, dispatch, completion and parts of each request, ns; of a "
                        "block trace, which one drive serves in one loop, index, arrival and completion")
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")
    parser.set_defaults(func=sim)
