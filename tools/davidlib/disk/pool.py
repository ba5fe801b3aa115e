# SPDX-License-Identifier: GPL-2.0
"""`david pool`: several fake disks on one backing device.

The work is done by build/david-store, where the pool's disks are closed, else by the kernel.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from typing import Any

from .. import build
from ..command import Command, Commands
from ..sizes import SECTOR, format_size
from ..util import DAVID, path_word
from . import backing, dm, pools, stats
from .dm import DeviceError
from .kmsg import KernelLog, kernel_says

BLOCK = 4096


def store_tool(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([build.ensure("david-store"), "pool", *words], capture_output=True, text=True)


def need(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode:
        raise DeviceError((done.stdout + done.stderr).strip())
    return done.stdout


def open_disks(path: str) -> dict[str, dm.Device]:
    """The disks of the pool on a device that are in use, by their names in the pool."""
    if not dm.target_loaded():
        return {}
    number, found = dm.number(path), {}
    for disk in dm.devices():
        words = dict(word.partition("=")[::2] for word in disk.words)
        if "pool" in words and dm.number(disk.backing) == number:
            found[words["pool"]] = disk
    return found


def create_pool(name: str, device: str, format: bool = False, share: bool = False) -> None:
    """On a block device that is blank, or whatever is on it. DeviceError says what is in the way."""
    dm.need_root("pool create")
    backing.check_backing(device, format)
    if not format and backing.is_store(device):
        raise DeviceError(f"--backing {device}: there is a disk's store on it; --format overwrites it")
    options = [option for option, chosen in (("--format", format), ("--share", share)) if chosen]
    need(store_tool("create", *options, path_word(device), name))


def create(args: argparse.Namespace) -> int:
    create_pool(args.pool, args.backing, args.format, args.share)
    shares = ", shared copies" if args.share else ""
    print(f"pool {args.pool}: {format_size(dm.size_of(args.backing))} on {args.backing}{shares}")
    return 0


def describe(pool: str) -> dict[str, Any]:
    """The pool and its disks, as `pool show --json` has them. What is free, and saved, is known of a pool of
    which a disk is in use."""
    dm.need_root("pool show")
    path = pools.find(pool)
    live = open_disks(path)
    found: dict[str, Any] = {"name": pools.pool_name(path), "device": path, "size": None, "shares": False,
                             "free": None, "saved": None, "disks": []}
    for line in need(store_tool("show", path)).splitlines():
        words = line.split()
        if words[0] == "blocks":
            found["size"] = int(words[1]) * BLOCK
        found["shares"] = found["shares"] or words == ["share", "yes"]
        if words[0] != "disk":
            continue
        entry = dict(zip(words[2::2], words[3::2], strict=False))
        sectors, used, state = int(entry.get("target_sectors", 0)), int(entry.get("used", 0)), None
        if disk := live.get(words[1]):
            status = stats.parse_words(dm.dmsetup("status", disk.name))
            sectors, used, state = disk.sectors, int(status["store_used"]), status["state"]
            found["free"] = (int(status["store_blocks"]) - used) * BLOCK
            found["saved"] = int(status["pool_saved"]) * BLOCK
        found["disks"].append({
            "name": words[1],
            "size": sectors * SECTOR,
            "used": used * BLOCK,
            "reserve": int(entry["reserve"]) * BLOCK,
            "log": int(entry["log_pages"]) * BLOCK,
            "state": state or entry.get("state", "damaged"),
            "device": f"/dev/mapper/{disk.name}" if disk else None,
        })
    return found


def show(args: argparse.Namespace) -> int:
    found = describe(args.pool)
    if args.json:
        print(json.dumps(found, indent=2))
        return 0
    if found["size"] is not None:
        print(f"pool {found['name']} on {found['device']}: {format_size(found['size'])}")
    if found["free"] is not None:
        print(f"free for the last of them: {format_size(found['free'])}")
    if found["saved"] is not None and found["shares"]:
        print(f"saved, as several have the same blocks: {format_size(found['saved'])}")
    rows = [("DISK", "SIZE", "USED", "RESERVE", "LOG", "STATE", "DEVICE")]
    rows += [(disk["name"], *(format_size(disk[key]) for key in ("size", "used", "reserve", "log")),
              disk["state"], disk["device"] or "-") for disk in found["disks"]]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


def check(args: argparse.Namespace) -> int:
    dm.need_root("pool check")
    return subprocess.run([build.ensure("david-store"), "pool", "check", pools.find(args.pool)]).returncode


def drop(args: argparse.Namespace) -> int:
    """By the kernel if the pool is in use: it knows what is free."""
    dm.need_root("pool drop")
    path = pools.find(args.pool)
    live = open_disks(path)
    if args.disk in live:
        name = live[args.disk].name
        raise DeviceError(f"DISK {args.disk}: in use; first: david remove {name}")
    if not live:
        need(store_tool("drop", path, args.disk))
        return 0
    with KernelLog() as log:
        try:
            dm.dmsetup("message", next(iter(live.values())).name, "0", "pool", "drop", args.disk)
        except DeviceError as error:
            says = kernel_says(log.new_lines())
            raise DeviceError(f"DISK {args.disk}: {says or error}; see david pool show") from None
    return 0


def _blocks(path: str) -> int:
    """That the pool's directory says it has."""
    lines = need(store_tool("show", path)).splitlines()
    return next(int(words[1]) for words in map(str.split, lines) if words[0] == "blocks")


def _all_at_rest(disks: list[str], log: KernelLog) -> None:
    """Suspend them all, and let them go on: the first one that does grows the pool."""
    suspended: list[str] = []
    try:
        for name in disks:
            dm.dmsetup("suspend", "--nolockfs", name)
            suspended.append(name)
    finally:
        failed = [name for name in suspended if dm.run("dmsetup", "resume", name).returncode]
    if failed:
        says = kernel_says(log.new_lines())
        raise DeviceError(f"{', '.join(failed)}: cannot go on: {says or 'see dmsetup info'}")


def grow(args: argparse.Namespace) -> int:
    """The file systems need not be frozen: requests wait for a moment."""
    dm.need_root("pool grow")
    path = pools.find(args.pool)
    live = open_disks(path)
    if not live:
        raise DeviceError("no disk of it is in use: it will use its device to the end when one is opened")
    before = _blocks(path)
    with KernelLog() as log:
        _all_at_rest([disk.name for disk in live.values()], log)
        after = _blocks(path)
        if after == before:
            says = kernel_says(log.new_lines())
            remedy = says or "make it larger first: lvextend, or truncate and losetup --set-capacity"
            size = format_size(before * BLOCK)
            raise DeviceError(f"all that {path} has, {size}, is used already; {remedy}")
    name = pools.pool_name(path)
    print(f"pool {name}: {format_size(before * BLOCK)}, now {format_size(after * BLOCK)}")
    return 0


def export(args: argparse.Namespace) -> int:
    dm.need_root("pool export")
    path = pools.find(args.pool)
    if live := open_disks(path):
        names = " ".join(disk.name for disk in live.values())
        raise DeviceError(f"POOL {args.pool}: disks of it are in use; first: david remove {names}")
    words = ["pool", "export", path, path_word(args.file)]
    return subprocess.run([build.ensure("david-store"), *words]).returncode


def import_pool(args: argparse.Namespace) -> int:
    dm.need_root("pool import")
    backing.check_backing(args.backing, args.format)
    words = [*(["--format"] if args.format else []), path_word(args.file), path_word(args.backing), args.pool]
    return subprocess.run([build.ensure("david-store"), "pool", "import", *words]).returncode


def add_parsers(sub: Commands) -> None:
    parser = sub.add_parser(
        "pool",
        help="several fake disks on one backing device",
        description="Several fake disks on one backing device: space is shared, all else is each disk's.",
        epilog="example:\n"
        f"  {DAVID} pool create farm --backing /dev/ram0\n"
        f"  {DAVID} create a --size 8T --pool farm && {DAVID} create b --size 8T --pool farm\n"
        f"  {DAVID} pool show farm",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def add(name: str, func: Command, text: str) -> argparse.ArgumentParser:
        action = actions.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        about = "its name" if name in ("create", "import") else "its name, or its device"
        action.add_argument("pool", metavar="POOL", help=about)
        action.set_defaults(func=func)
        return action

    action = add("create", create, "make a pool on a block device")
    action.add_argument(
        "--backing", required=True, metavar="DEV", help="block device, blank or with --format, 1 MiB at least"
    )
    action.add_argument("--format", action="store_true", help="make a new pool, whatever is on the device")
    action.add_argument(
        "--share",
        action="store_true",
        help="store blocks of the same content on several disks once, as the legs of a mirror have them",
    )
    action = add("show", show, "list the disks of a pool, and what each uses")
    action.add_argument("--json", action="store_true", help="as JSON, for programs")
    add("check", check, "read the tables of all disks of a pool that is not in use, as the kernel does")
    add("grow", grow, "use the device to its end, now that it is larger, while disks of the pool are in use")
    action = add("drop", drop, "give up a disk for good, and free what it has; it must not be in use")
    action.add_argument("disk", metavar="DISK", help="its name in the pool")
    text = (
        "write all disks of a pool that is not in use, what is stored of them and their tables, to one "
        "packed file ('-': standard output); blocks that disks share are in it once"
    )
    action = add("export", export, text)
    action.add_argument("file", metavar="FILE", help="a file that is there is replaced")
    text = (
        "make a pool of an exported one ('-': standard input) on a blank device of any size that has room "
        "for it; its disks share what they shared; a file is checked before anything is written"
    )
    action = add("import", import_pool, text)
    action.add_argument("file", metavar="FILE", help="as david pool export wrote it")
    action.add_argument("--backing", required=True, metavar="DEV", help="blank, or with --format")
    action.add_argument("--format", action="store_true", help="overwrite what is on the device")
