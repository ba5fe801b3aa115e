# SPDX-License-Identifier: GPL-2.0
"""david stats: its options; what a disk counted, in its life or in a part of it. statstext.py is the text."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from ..command import Commands, add
from ..util import DAVID
from . import baseline, dm, group, openmetrics, stats, statstext
from .dm import DeviceError, need_root
from .parameters import name_arg


def figures_of(name: str) -> dict[str, Any]:
    figures = stats.as_dict(stats.fetch(name))
    figures["mounted_above"] = statstext.mounted_above(name)
    return figures


def of_life(name: str) -> dict[str, Any]:
    """The disk's whole life, whatever was reset."""
    figures = figures_of(name)
    baseline.without_other_reach(figures, figures, None)
    return figures


def _part(args: argparse.Namespace, now: dict[str, Any]) -> tuple[str, dict[str, Any] | None]:
    """Of which part of the disk's life, whose figures are NOW: in words, and the figures at its beginning."""
    if args.since:
        return f"since {args.since}", baseline.read_file(args.since, args.name)
    if not args.all and (left := baseline.mark(args.name, now)):
        at, figures = left
        return f"since the reset at {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(at))}", figures
    return "", None


def _print(args: argparse.Namespace) -> None:
    figures = now = figures_of(args.name)
    words, before = _part(args, now)
    if before is not None:
        figures = baseline.difference(now, before)
    baseline.without_other_reach(figures, now, before)
    if not args.json:
        print((f"({words})\n" if words else "") + statstext.as_text(figures), flush=True)
        return
    if words:
        figures["since"] = words
    # One line each, where there are many.
    print(json.dumps(figures, indent=None if args.watch else 2), flush=True)


def _watch(args: argparse.Namespace) -> int:
    left = args.count
    while left is None or left > 0:
        if not args.json and sys.stdout.isatty():
            print("\033[H\033[2J", end="")
        _print(args)
        left = None if left is None else left - 1
        if left != 0:
            time.sleep(args.watch)
    return 0


def of_group(found: group.Group) -> dict[str, Any]:
    """An array, or a pool, in its disks' whole lives: all of them as one, and each."""
    members = [figures_of(name) for name in found.disks]
    return {"name": found.name, "kind": found.kind,
            "sum": group.total(found.name, members, found.pools), "members": members}


def _show_group(args: argparse.Namespace, found: group.Group) -> int:
    for given, word in ((args.reset, "--reset"), (args.since, "--since"), (args.watch, "--watch")):
        if given:
            disks = ", ".join(found.disks)
            raise DeviceError(f"{word}: of one disk; {found.name} is the {found.kind} of {disks}")
    said = of_group(found)
    if args.json:
        print(json.dumps(said, indent=2))
        return 0
    print(f"{found.name}: the {found.kind} of {len(found.disks)} disks, added up, in their whole lives\n")
    for one in (said["sum"], *said["members"]):
        print(statstext.as_text(one) + "\n")
    return 0


def show(args: argparse.Namespace) -> int:
    need_root("stats")
    if args.openmetrics:
        for given, word in ((args.reset, "--reset"), (args.since, "--since"), (args.json, "--json")):
            if given:
                raise DeviceError(f"{word}: not with --openmetrics, whose figures are of the whole life")
        names = group.find(args.name).disks if args.name else [device.name for device in dm.devices()]
        print(openmetrics.text_of([of_life(name) for name in names]), end="")
        return 0
    if not args.name:
        raise DeviceError("NAME: of which disk; --openmetrics alone can do without")
    found = group.find(args.name)
    if found.kind != "disk":
        return _show_group(args, found)
    if args.count is not None and not args.watch:
        raise DeviceError("--count: how often --watch prints; there is no --watch")
    if args.reset:
        baseline.set_mark(args.name, figures_of(args.name))
        dm.dmsetup("message", args.name, "0", "reach", "restart")
        return 0
    if args.watch:
        return _watch(args)
    _print(args)
    return 0


def seconds(text: str) -> float:
    """An argparse type: a time to wait."""
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0.01 <= value <= 86400:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds from 0.01 to 86400")
    return value


def add_parsers(sub: Commands) -> None:
    parser = add(
        sub,
        "stats",
        show,
        "show a fake disk's memory, CPU time, verdicts and store use",
        f"  {DAVID} stats big\n  {DAVID} stats big --json | jq '.mem | add'\n"
        f"  {DAVID} stats big --reset && fio job.fio && {DAVID} stats big",
    )
    parser.add_argument("name", metavar="NAME", type=name_arg, nargs="?", help="a disk, an array, or a pool")
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")
    parser.add_argument("--openmetrics", action="store_true",
                        help="for Prometheus and others, of the whole life of NAME's disks, or of all disks")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--reset", action="store_true", help="from now on show what was counted since now")
    part.add_argument("--since", metavar="FILE", help="what was counted since FILE, of an earlier --json")
    part.add_argument("--all", action="store_true", help="of the disk's whole life, whatever was reset")
    parser.add_argument("--watch", metavar="SECONDS", type=seconds, help="again and again")
    parser.add_argument("--count", metavar="N", type=int, help="with --watch: so often, and no more")
