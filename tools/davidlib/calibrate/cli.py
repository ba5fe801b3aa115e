# SPDX-License-Identifier: GPL-2.0
"""david calibrate: measure a drive, and write a profile of it."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from ..command import Commands, OnceEach
from ..drive import files
from ..pages import writing
from ..sizes import SECTOR, format_both, format_time, size_text_arg
from ..util import DAVID, UserError, say
from . import cache, depth, fromfio, heads, layout, result, rotation, seeks, validation, writes
from .blockdisk import BlockDisk
from .output import new_file
from .simdisk import SimDisk
from .probe import Prober, TimedDisk

MODEL = "model:"
LEAST = 1 << 30  # bytes
NO_DISK = "see docs/CALIBRATION.md, \"When not to believe it\""


def open_disk(name: str, write: bool) -> BlockDisk | SimDisk:
    if name.startswith(MODEL):
        return SimDisk(files.find(name.removeprefix(MODEL)))
    return BlockDisk(name, write)


def survey(disk: TimedDisk, write: bool, name: str, title: str) -> result.Draft:
    """Everything that can be found out, in the order in which one needs the other."""
    probe = Prober(disk)
    say("the cache")
    found_cache = cache.measure(probe)
    say("the speed of rotation")
    spindle = rotation.measure(probe)
    if not spindle:
        raise UserError(f"nothing turns here: only disks can be calibrated so far; {NO_DISK}")
    say(f"zones and tracks; a revolution takes {format_time(round(spindle.revolution))}")
    plan = layout.measure(probe, spindle)
    if not plan.heads_known:
        counted = heads.count(probe, plan, found_cache)
        plan = layout.Layout(spindle, plan.zones, counted, disk.sectors)
    say(f"seeks; {len(plan.zones)} zones, {plan.heads} heads, {plan.cylinders} cylinders")
    mechanics = seeks.measure(probe, plan, found_cache)
    found_writes = None
    if write:
        say("writes and flushes")
        found_writes = writes.measure(probe, plan, found_cache, mechanics)
    draft = result.draft(name, title, disk, plan, mechanics, found_cache, found_writes)
    say("how it chooses among commands")
    with depth.Fitter(draft) as fitter:
        rates = depth.fit_choice(fitter, probe)
        if found_writes:
            depth.fit_writes(fitter, found_writes)
    draft.title += "\nRandom reads of 4 KiB a second, by depth: "
    draft.title += ", ".join(f"{rate:.1f} ({deep})" for deep, rate in rates.items())
    if found_writes and found_writes.flushes:
        base, each = found_writes.flush_base / 1e6, found_writes.flush_each / 1e6
        draft.title += f"\nA flush after N scattered writes, to {max(writes.FLUSHES)}: "
        draft.title += f"{base:.1f} + {each:.2f} * N ms"
    say(f"{probe.asked} requests so far; now jobs that nothing is fitted to")
    return draft


def title_of(device: str, size: int, write: bool) -> str:
    how = "reads and writes" if write else "reads only"
    day = time.strftime("%Y-%m-%d")
    return f"Measured by david calibrate on {day}: {device}, {format_both(size)}, by {how}."


def calibrate(args: argparse.Namespace) -> int:
    if bool(args.device) == bool(args.from_):
        raise UserError("name a device to be measured, or fio's results by --from: one of them")
    if args.from_:
        return fromfio.run(args)
    for name in ("profile", "size", "option", "beside", "only"):
        if getattr(args, name):
            raise UserError(f"--{name} goes with --from, not with a device")
    with new_file(args.out, args.force) as out, open_disk(args.device, args.write) as disk:
        size = disk.sectors * SECTOR
        if size < LEAST:
            raise UserError(f"{args.device} has {format_both(size)}: too small for zones and seeks")
        if args.write and isinstance(disk, BlockDisk):
            disk.need_blank()
        name = args.name or args.device.removeprefix(MODEL).rpartition("/")[2]
        draft = survey(disk, args.write, name, title_of(args.device, size, args.write))
        out.write_text(draft.text())
        rows = validation.compare(disk, out, args.write)
        table = validation.table(rows)
        draft.title += "\nThe model beside the drive, in percent of the drive's figure:\n" + table
        out.write_text(draft.text())
    print(table)
    if args.html:
        writing.write(Path(args.html), f"{name}, calibrated", [validation.page(rows)])
    say(f"wrote {args.out}; what in it is assumed: grep assumed {args.out}")
    return 0


def add_parsers(sub: Commands) -> None:
    parser = sub.add_parser(
        "calibrate", help="measure a drive, and make a profile of it",
        description="Measure a disk by direct I/O and write a profile. It only reads, unless --write is "
        "given, and takes a disk that nobody uses. Minutes to an hour.",
        epilog=f"examples:\n  {DAVID} calibrate /dev/sdb -o mine.profile\n"
        f"  {DAVID} calibrate /dev/sdb --write -o mine.profile\n"
        f"  {DAVID} calibrate model:toshiba-p300-3tb -o again.profile\n"
        f"  {DAVID} calibrate --from fio.json --profile toshiba-p300-3tb -o mine.profile",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("device", metavar="DEV", nargs="?",
                        help="a whole disk; or model:P, a modelled one, to try it")
    parser.add_argument("-o", dest="out", metavar="OUT", required=True, help="the profile to be written")
    parser.add_argument("--write", action="store_true",
                        help="measure writes, too: zeros, all over a disk that must be blank")
    parser.add_argument("--name", metavar="WORD", help="the drive's name in the profile (the device's)")
    parser.add_argument("--from", dest="from_", metavar="FILE.json", nargs="+",
                        help="fit to fio's results (--output-format=json) instead; no device is needed")
    parser.add_argument("--profile", metavar="P", help="with --from: a drive of the class, to begin with")
    parser.add_argument("--size", type=size_text_arg, metavar="SIZE",
                        help="with --from: the drive's size, if it is not P's")
    parser.add_argument("--option", metavar="NAME=VALUE", action=OnceEach, default=[],
                        help="with --from: replace a value of P before anything is fitted, such as "
                        "precondition=random for an SSD that was not written in order; repeatable")
    parser.add_argument("--beside", metavar="FILE.json", nargs="+", default=[],
                        help="with --from: fio's results to which nothing is fitted: how far off the profile "
                        "is there is told")
    parser.add_argument("--html", metavar="FILE", help="write a page of the model beside the drive, too")
    parser.add_argument("--only", choices=list(fromfio.WAYS), help="with --from: a profile for these alone")
    parser.add_argument("--force", action="store_true", help="replace OUT if it exists")
    parser.set_defaults(func=calibrate)
