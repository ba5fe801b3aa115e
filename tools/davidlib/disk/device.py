# SPDX-License-Identifier: GPL-2.0
"""david remove, resize and list: fake disks that are there."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from ..command import Commands, add
from ..sizes import SECTOR, format_size, size_arg
from ..util import DAVID
from . import baseline, dm, lateness, stats, zones
from .dm import DeviceError, need_disk, need_root
from .kmsg import KernelLog, kernel_says
from .parameters import name_arg


def _last_word(name: str) -> str:
    """On the times of a disk that is about to go; "" if none were delivered."""
    try:
        verdict = lateness.verdict(stats.as_dict(stats.fetch(name)))
    except stats.StatsError:
        return ""
    return "" if verdict.good is None else f"{name}: its times were {verdict}"


def zoned_device(name: str) -> str:
    """The numbers of the device that has a disk's zones; "" without."""
    return zones.word_of(dm.dmsetup("table", name).split())


def take_away(name: str) -> None:
    """Remove a disk that nobody uses, or say nothing if that cannot be."""
    zoned = zoned_device(name) if dm.exists(name) else ""
    if dm.run("dmsetup", "remove", "--retry", name).returncode == 0:
        zones.drop(zoned)


def remove_disk(name: str, wait: float) -> None:
    """It may be open for so many seconds more."""
    need_root("remove")
    need_disk(name)
    number, zoned = dm.minor(name), zoned_device(name)
    said = _last_word(name)
    deadline = time.monotonic() + wait
    while True:
        done = dm.run("dmsetup", "remove", name)
        if done.returncode == 0:
            zones.drop(zoned)
            baseline.drop_mark(name)
            if said:
                print(said)
            return
        if "busy" not in done.stderr:
            raise DeviceError(f"NAME {name}: {done.stderr.strip()}")
        if time.monotonic() >= deadline:
            break
        time.sleep(0.1)
    who = dm.users(number)
    raise DeviceError(
        f"NAME {name}: busy for {wait:g} s ({', '.join(who) or 'opened by someone out of sight'}); "
        "unmount it or end what has it open, then try again"
    )


def remove(args: argparse.Namespace) -> int:
    remove_disk(args.name, args.wait)
    return 0


def _store_size(name: str) -> tuple[int, int]:
    """Blocks of the store, and bytes of a block."""
    words = stats.parse_words(dm.dmsetup("status", name))
    return int(words["store_blocks"]), int(words["block_size"])


def resize_disk(name: str, size: int = 0, backing: bool = False) -> None:
    """The table line again, with another length or for a larger backing device: the store goes on, requests
    wait for a moment.
    """
    need_root("resize")
    if not size and not backing:
        raise DeviceError("nothing to do: give a SIZE, or --backing")
    need_disk(name)
    table = dm.dmsetup("table", name)
    if len(table.splitlines()) != 1:
        raise DeviceError(f"NAME {name}: its table has more than one line; use dmsetup")
    fields = table.split()
    old = int(fields[1])
    new = size // SECTOR if size else old
    if zones.word_of(fields) and new != old:
        raise DeviceError(f"SIZE {format_size(size)}: a disk with zones cannot grow: its zoned device ends "
                          "where it does; make another one")
    pooled = any(field.startswith("pool=") for field in fields)
    if backing and pooled:
        raise DeviceError("--backing: the disk is of a pool: david pool grow")
    if new < old:
        raise DeviceError(
            f"SIZE {format_size(size)}: the disk has {format_size(old * SECTOR)}, and what is behind "
            "its new end would be lost; a disk can only grow"
        )
    fields[1] = str(new)
    blocks, block = _store_size(name)
    # One that was the default is the default again.
    if fields.count(f"low_water={blocks // 16}"):
        fields.remove(f"low_water={blocks // 16}")
        fields[4] = str(int(fields[4]) - 1)
    with KernelLog() as log:
        try:
            dm.dmsetup("load", name, "--table", " ".join(fields))
        except DeviceError as error:
            says = kernel_says(log.new_lines())
            raise DeviceError(f"the kernel refuses the new size: {says or error}") from None
        # Suspends the disk as it is, waits for requests under way, and resumes with the new table. The file
        # system need not be frozen, and one that gave up when the store was full cannot be.
        try:
            dm.dmsetup("resume", "--nolockfs", name)
        except DeviceError as error:
            says = kernel_says(log.new_lines())
            raise DeviceError(f"NAME {name}: cannot go on: {says or error}; see dmsetup info") from None
        grown, _ = _store_size(name)
        if backing and grown == blocks:
            says = kernel_says(log.new_lines())
            remedy = says or "make it larger first: lvextend, or truncate and losetup --set-capacity"
            node, all_of_it = dm.device_node(fields[3]), format_size(blocks * block)
            raise DeviceError(
                f"--backing: all that {node} has for blocks, {all_of_it}, is used already; {remedy}"
            )
    if new != old:
        print(f"/dev/mapper/{name}: {format_size(old * SECTOR)}, now {format_size(new * SECTOR)}")
    if grown != blocks and not pooled:
        print(f"its store: {format_size(blocks * block)}, now {format_size(grown * block)}")


def resize(args: argparse.Namespace) -> int:
    resize_disk(args.name, args.size or 0, args.backing)
    return 0


def disks() -> list[dict[str, Any]]:
    """The fake disks that there are, as `list --json` has them. What one does not tell is null."""
    need_root("list")
    found = []
    for device in dm.devices():
        status = stats.parse_words(dm.dmsetup("status", device.name))
        known = {"store_used", "store_blocks", "block_size"} <= status.keys()
        block = int(status["block_size"]) if known else 0
        found.append({
            "name": device.name,
            "size": device.sectors * SECTOR,
            "backing": device.backing,
            "state": status.get("state"),
            "stored": int(status["store_used"]) * block if known else None,
            "store": int(status["store_blocks"]) * block if known else None,
            "zones": zones.count(device.name) if zones.word_of(device.words) else 0,
            "options": dm.shortened(" ".join(device.words)).split(),
        })
    return found


def _size(size: int | None) -> str:
    return "?" if size is None else format_size(size)


def list_devices(args: argparse.Namespace) -> int:
    there = disks()
    if args.json:
        print(json.dumps(there, indent=2))
        return 0
    rows = [("NAME", "SIZE", "BACKING", "STATE", "STORE USED", "OPTIONS")]
    rows += [
        (disk["name"], format_size(disk["size"]), disk["backing"], disk["state"] or "?",
         f"{_size(disk['stored'])} of {_size(disk['store'])}", " ".join(disk["options"]))
        for disk in there
    ]
    if len(rows) == 1:
        print("no david devices; 'david create --help' tells how to make one", file=sys.stderr)
        return 0
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


def add_parsers(sub: Commands) -> None:
    text = "remove a fake disk; what it held stays on the backing device"
    parser = add(sub, "remove", remove, text, f"  {DAVID} remove big")
    parser.add_argument("name", metavar="NAME", type=name_arg)
    parser.add_argument(
        "--wait",
        type=float,
        default=5,
        metavar="SECONDS",
        help="how long to wait for those who have it open (default %(default)s)",
    )

    text = "grow a fake disk, or its store, while it is in use; the file system has to be told of the disk's"
    parser = add(
        sub,
        "resize",
        resize,
        text,
        f"  {DAVID} resize big 2T && resize2fs /dev/mapper/big\n"
        f"  lvextend -L +10G vg/backing && {DAVID} resize big --backing",
    )
    parser.add_argument("name", metavar="NAME", type=name_arg)
    parser.add_argument(
        "size", metavar="SIZE", type=size_arg, nargs="?", help="the new size; see david create --help"
    )
    parser.add_argument(
        "--backing", action="store_true", help="use the backing device to its end, now that it is larger"
    )

    parser = add(sub, "list", list_devices, "list the fake disks", f"  {DAVID} list")
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")
