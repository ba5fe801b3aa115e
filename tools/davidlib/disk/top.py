# SPDX-License-Identifier: GPL-2.0
"""david top: what disks do now. Every interval a line for each: rate, latency, queue, where the drive's time
goes, store, memory, lateness.

A line is the difference of two looks at the kernel's figures. sample() makes it; nothing else here computes.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Iterator
from typing import Any

from ..command import Commands, add
from ..sizes import SECTOR, format_size, format_time
from ..util import DAVID
from . import baseline, dm, group, lateness, stats
from .dm import DeviceError, need_disk, need_root
from .parameters import name_arg
from .show import seconds

HEADER = (
    f"{'disk':<12} {'read/s':>8} {'write/s':>8} {'read':>10} {'written':>10} {'r-resp':>8} {'w-resp':>8} "
    f"{'queue':>6} {'busy':>5}  {'seek  rot xfer ovhd flsh  que  die chan  map  flt':<49} {'hits':>8} "
    f"{'store':>9} {'memory':>9}  late"
)


def _mean(ns: int, count: int) -> float | None:
    """Milliseconds; None if there was nothing."""
    return ns / count / 1e6 if count else None


def sample(before: dict[str, Any], after: dict[str, Any], elapsed_ns: int) -> dict[str, Any]:
    """One line, from two figures of stats.as_dict() and the time between them."""
    part = baseline.difference(after, before)
    span = elapsed_ns / 1e9
    response = sum(part["modelled_ns"].values())
    verdict = lateness.verdict(part)
    late = sum(part["delivered_late_ns"].values())
    return {
        "name": after["name"],
        "created": after["created"],
        "seconds": span,
        **{f"{kind}_per_s": count / span for kind, count in part["requests"].items()},
        **{f"{kind}_bytes_per_s": part["sectors"][kind] * SECTOR / span for kind in ("read", "write")},
        **{f"{kind}_ms": _mean(part["modelled_ns"][kind], n) for kind, n in part["modelled"].items()},
        # Little's law: the mean number in the modelled system.
        "queue": response / elapsed_ns,
        "queue_waits_per_s": part["queue_waits"] / span,
        "busy": part["busy_ns"] / elapsed_ns,
        "parts": stats.part_shares(part["parts"], part["busy_ns"], elapsed_ns),
        "hits_per_s": part["hits"] / span,
        "store_bytes": after["store_used"] * after["block_size"],
        "store_share": after["store_used"] / after["store_blocks"] if after["store_blocks"] else 0,
        "memory_bytes": sum(after["mem"].values()),
        "late_ms": _mean(late, sum(part["delivered"].values())),
        "trustworthy": verdict.good,
        "verdict": verdict.text,
    }


def _milliseconds(value: float | None) -> str:
    return "-" if value is None else format_time(round(value * 1e6))


def line(row: dict[str, Any]) -> str:
    """A sample under HEADER."""
    shown = ("seek", "rotation", "transfer", "overhead", "flush", "queued", "die", "channel", "map", "fault")
    parts = " ".join(f"{100 * row['parts'][name]:>4.0f}" for name in shown)
    late = _milliseconds(row["late_ms"]) + ("" if row["trustworthy"] is not False else " LATE")
    return (
        f"{row['name']:<12} {row['read_per_s']:>8.1f} {row['write_per_s']:>8.1f} "
        f"{format_size(row['read_bytes_per_s']):>10} {format_size(row['write_bytes_per_s']):>10} "
        f"{_milliseconds(row['read_ms']):>8} {_milliseconds(row['write_ms']):>8} "
        f"{row['queue']:>6.1f} {100 * row['busy']:>4.0f}%  {parts:<49} {row['hits_per_s']:>8.1f} "
        f"{format_size(row['store_bytes']):>9} {format_size(row['memory_bytes']):>9}  {late}"
    )


# Of a terminal that has no room for HEADER: 80 columns. Rates are MB, times milliseconds.
COLUMNS = (("r/s", 6), ("w/s", 6), ("r-MB", 5), ("w-MB", 5), ("r-ms", 6), ("w-ms", 6), ("que", 4),
           ("busy", 4), ("full", 4))
NARROW = f"{'time':<8} {'disk':<8} {' '.join(f'{name:>{width}}' for name, width in COLUMNS)} late"


def _fits(value: float | None, width: int) -> str:
    """With as many digits behind the point as there is room for."""
    if value is None:
        return "-"
    texts = [f"{value:.{digits}f}" for digits in (2, 1, 0)]
    short = f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
    return next((text for text in texts if len(text) <= width), short)


def narrow_line(row: dict[str, Any], clock: str) -> str:
    """A sample under NARROW."""
    numbers = (row["read_per_s"], row["write_per_s"], row["read_bytes_per_s"] / 1e6,
               row["write_bytes_per_s"] / 1e6, row["read_ms"], row["write_ms"], row["queue"])
    texts = [_fits(number, width) for number, (_, width) in zip(numbers, COLUMNS, strict=False)]
    texts += [f"{100 * row[name]:.0f}%" for name in ("busy", "store_share")]
    shown = " ".join(f"{text:>{width}}" for text, (_, width) in zip(texts, COLUMNS, strict=True))
    late = _fits(row["late_ms"], 6) + ("!" if row["trustworthy"] is False else "")
    return f"{clock:<8} {row['name'][:8]:<8} {shown} {late}"


def is_narrow() -> bool:
    return sys.stdout.isatty() and shutil.get_terminal_size().columns <= len(HEADER)


Look = tuple[int, dict[str, Any]]  # when; the disk's figures


def _look(name: str) -> Look:
    return time.monotonic_ns(), stats.as_dict(stats.fetch(name))


def _names(wanted: list[str]) -> list[str]:
    for name in wanted:
        need_disk(name)
    return wanted or [device.name for device in dm.devices()]


def rows(wanted: list[str], interval: float, count: int | None) -> Iterator[list[dict[str, Any]]]:
    """Samples of all disks, interval by interval. A disk that is gone drops out. One that was made again
    under its name has no line of that interval."""
    last: dict[str, Look] = {name: _look(name) for name in _names(wanted)}
    if not last:
        raise DeviceError("no david devices; 'david create --help' tells how to make one")
    while last and (count is None or count > 0):
        time.sleep(interval)
        count = None if count is None else count - 1
        found = []
        for name, (then, before) in list(last.items()):
            try:
                now, after = last[name] = _look(name)
            except (stats.StatsError, DeviceError, OSError):
                del last[name]
                continue
            if before["created"] == after["created"]:
                found.append(sample(before, after, now - then))
        yield found


def _group_rows(groups: list[group.Group], interval: float,
                count: int | None) -> Iterator[list[dict[str, Any]]]:
    """Samples of the disks of arrays and pools, each with one of all its disks before them. A disk that was
    made again has no sample, and then there is none of all."""
    last = {name: _look(name) for each in groups for name in each.disks}
    while count is None or count > 0:
        time.sleep(interval)
        count = None if count is None else count - 1
        now = {name: _look(name) for name in last}
        found = []
        for each in groups:
            pairs = [(last[name], now[name]) for name in each.disks
                     if last[name][:-2] == now[name][:-2]
                     and last[name][-1].get("created") == now[name][-1].get("created")]
            members = [sample(then[-1], after[-1], after[-2] - then[-2]) for then, after in pairs]
            if each.kind != "disk" and len(pairs) == len(each.disks):
                found.append(_of_all(each, pairs, members))
            found += members
        last = now
        yield found


def _of_all(each: group.Group, pairs: list[tuple[Look, Look]],
            members: list[dict[str, Any]]) -> dict[str, Any]:
    """Of the figures added up. Busy, and its parts, are means of the drives. If one disk's times are not to
    be believed, these are not."""
    before, after = (group.total(each.name, [look[-1] for look in looks], each.pools)
                     for looks in zip(*pairs, strict=True))
    row = sample(before, after, sum(now[-2] - then[-2] for then, now in pairs) // len(pairs))
    row["busy"] /= len(pairs)
    # Of drives that are busy at the same time part_shares() would count each other's time.
    row["parts"] = {name: sum(one["parts"][name] for one in members) / len(members) for name in row["parts"]}
    bad = [one for one in members if one["trustworthy"] is False]
    if bad:
        row["trustworthy"], row["verdict"] = False, f"{bad[0]['name']}: {bad[0]['verdict']}"
    return row


def _rows(args: argparse.Namespace) -> Iterator[list[dict[str, Any]]]:
    groups = [group.find(name) for name in args.name]
    if any(each.kind != "disk" for each in groups):
        return _group_rows(groups, args.interval, args.count)
    return rows(args.name, args.interval, args.count)


def top(args: argparse.Namespace) -> int:
    need_root("top")
    if args.json:
        for found in _rows(args):
            for row in found:
                print(json.dumps(row), flush=True)
        return 0
    narrow, printed = is_narrow(), 0
    for found in _rows(args):
        # Once a screen, which has 24 lines at least.
        if printed % 20 + len(found) > 20 or not printed:
            print(NARROW if narrow else HEADER)
            printed = 0
        for row in found:
            print(narrow_line(row, time.strftime("%H:%M:%S")) if narrow else line(row), flush=True)
        printed += len(found)
    return 0


def add_parsers(sub: Commands) -> None:
    parser = add(
        sub,
        "top",
        top,
        "show what fake disks do now: rates, latency, queue, where the drive's time goes, lateness",
        f"  {DAVID} top\n  {DAVID} top big --interval 5 --json | tee run.jsonl",
    )
    text = "disks, arrays and pools (default: all disks)"
    parser.add_argument("name", metavar="NAME", type=name_arg, nargs="*", help=text)
    parser.add_argument("--interval", type=seconds, default=1, metavar="S", help="seconds (default 1)")
    parser.add_argument("--count", type=int, metavar="N", help="so many lines a disk, and no more")
    parser.add_argument("--json", action="store_true", help="a JSON object a line, for programs")
