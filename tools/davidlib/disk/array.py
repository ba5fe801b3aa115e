# SPDX-License-Identifier: GPL-2.0
"""david array: arrays of md whose members are fake disks, each with a modelled drive of its own."""

from __future__ import annotations

import argparse
import copy
import json
import os
import random
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..command import Command, Commands, add
from ..drive import profileword
from ..sizes import SECTOR, format_size, size_arg
from ..util import DAVID
from . import device, dm, md, stack, stats
from .create import create_disk
from .dm import DeviceError, need_root
from .parameters import DiskParameters, add_drive_options, name_arg, of_options

# Copies stand at other sectors of other members: made-up content has to be the same everywhere.
CONTENT_OF_FAR_COPIES = "zeros"
# Of a drive's start, whose platters may stand anywhere: longer than a revolution.
START_NS = 10**9
# How long md may take to let a member go, or to begin a rebuild; and how often one looks.
GO_S, LOOK_S = 20, 0.01


@dataclass(frozen=True)
class ArrayParameters:
    """The options of `david array create`, with what they are without being given."""

    name: str
    level: str
    members: Sequence[DiskParameters]
    chunk: int = 0  # bytes; 0: md's own
    layout: str = ""
    bitmap: str = "none"
    resync: bool = False


def _check(args: argparse.Namespace) -> None:
    least = md.LEVELS[args.level]
    if args.members < least:
        raise DeviceError(f"--members {args.members}: RAID-{args.level} has {least} at least")
    if args.pool and args.backing:
        raise DeviceError("--backing: not with --pool, which all members share")
    if not args.pool and len(args.backing or ()) != args.members:
        raise DeviceError(
            f"--backing: {args.members} members need a device each, and {len(args.backing or ())} are named; "
            "or --pool"
        )
    if args.level == "1" and args.chunk:
        raise DeviceError("--chunk: RAID-1 has none")
    if args.layout and args.level in ("0", "1", "4"):
        raise DeviceError(f"--layout: RAID-{args.level} has none")
    far = args.level == "10" and (args.layout or "n2")[0] != "n"
    if far and args.content not in (None, "zeros") and not args.content.startswith("pattern"):
        raise DeviceError(
            f"--content {args.content}: with --layout {args.layout} the copies of a block stand at different "
            "sectors, where made-up content differs; take zeros or pattern:HEX"
        )
    if args.content is None:
        args.content = CONTENT_OF_FAR_COPIES if far else "incompressible"


def with_phase(options: Sequence[str], seed: int, number: int) -> list[str]:
    """A member's, of its profile: where its platters start, unless they say so themselves."""
    if any(option.startswith("phase=") for option in options):
        return [*options]
    return [*options, f"phase={random.Random(f'{seed} {number}').randrange(START_NS)}ns"]


def _member_of(args: argparse.Namespace, number: int) -> DiskParameters:
    """Of the options that all members share."""
    one = copy.copy(args)
    one.name = name_arg(f"{args.name}-{number}")
    one.backing = None if args.pool else args.backing[number]
    if args.profile:
        one.profile_option = with_phase(args.profile_option, args.seed, number)
    return of_options(one)


def _make_members(members: Sequence[DiskParameters]) -> list[str]:
    """All of them, or none."""
    for drive in dict.fromkeys(one.profile for one in members if one.profile):
        if profileword.load(drive, []).has_zones:
            raise DeviceError(f"--profile {drive}: the drive has zones, which are written in order; arrays "
                              "of md write anywhere: take a drive without zones")
    made: list[str] = []
    try:
        for one in members:
            print(create_disk(one))
            made.append(one.name)
    except BaseException:
        _remove_members(made)
        raise
    return made


def _remove_members(names: list[str]) -> None:
    for name in reversed(names):
        dm.run("dmsetup", "remove", "--retry", name)


def _start(wanted: ArrayParameters, disks: list[str]) -> None:
    """Assemble the array that is on the disks, or create it."""
    paths = [md.path_of(disk) for disk in disks]
    found = [md.superblock(disk) for disk in disks]
    node = f"/dev/md/{wanted.name}"
    if any(found):
        levels = {each["MD_LEVEL"].removeprefix("raid") for each in found if "MD_LEVEL" in each}
        if levels != {wanted.level}:
            there = ", ".join(sorted(levels))
            raise DeviceError(
                f"--level {wanted.level}: the disks have an array of RAID-{there}; --format makes a new one"
            )
        md.mdadm("--assemble", "--run", node, *paths)
        return
    words = ["--metadata=1.2", f"--level={wanted.level}", f"--raid-devices={len(disks)}", "--run", "--force"]
    words += [f"--chunk={wanted.chunk // 1024}"] if wanted.chunk else []
    words += [f"--layout={wanted.layout}"] if wanted.layout else []
    if wanted.level != "0":
        words += [f"--bitmap={wanted.bitmap}"]
        # New disks read as zeros, so copies are equal and parity is right.
        words += [] if wanted.resync else ["--assume-clean"]
    md.mdadm("--create", node, f"--name={wanted.name}", "--homehost=any", *words, *paths)


def create_array(wanted: ArrayParameters) -> md.Array:
    """Make the members and the array on them, or assemble the one that they have."""
    need_root("array create")
    if dm.target_loaded() and md.disks_of(wanted.name):
        raise DeviceError(
            f"NAME {wanted.name}: its disks are there already; david array show {wanted.name}"
        )
    disks = _make_members(wanted.members)
    try:
        _start(wanted, disks)
        stack.listen(disks)
        return md.find(wanted.name)
    except BaseException:
        with suppress(DeviceError):
            md.mdadm("--stop", md.find(wanted.name).device)
        _remove_members(disks)
        raise


def create(args: argparse.Namespace) -> int:
    need_root("array create")
    _check(args)
    members = [_member_of(args, number) for number in range(args.members)]
    array = create_array(ArrayParameters(
        args.name, args.level, members, args.chunk or 0, args.layout or "", args.bitmap, args.resync))
    size = format_size(dm.size_of(array.device))
    print(f"{array.device}: RAID-{args.level} of {len(members)} disks, {size}")
    if args.level in md.WITH_PARITY:
        print("all data is stored: parity restores a lost block from the bytes of all others")
    return 0


def describe(array: md.Array) -> dict[str, Any]:
    """The array and its members."""
    members = []
    for member in array.members:
        words = stats.parse_words(dm.dmsetup("status", member.name))
        used = int(words.get("store_used", 0)) * int(words.get("block_size", 0))
        state = member.state or "not in it"
        members.append({"number": member.number, "disk": member.name, "state": state, "stored": used})
    done, _, total = array.said("sync_completed").partition(" / ")
    return {
        "name": array.name,
        "device": array.device,
        "level": array.said("level").removeprefix("raid"),
        "size": dm.size_of(array.device),
        "chunk": int(array.said("chunk_size") or 0),
        "layout": int(array.said("layout") or 0),
        "state": array.said("array_state"),
        "degraded": int(array.said("degraded") or 0),
        "mismatch_sectors": int(array.said("mismatch_cnt") or 0),
        "action": array.said("sync_action"),
        "action_done": int(done) / int(total) if total else None,
        "members": members,
    }


def show(args: argparse.Namespace) -> int:
    need_root("array show")
    found = describe(md.find(args.name))
    if args.json:
        print(json.dumps(found, indent=2))
        return 0
    chunk = f", chunks of {format_size(found['chunk'])}" if found["chunk"] else ""
    print(f"{found['name']}: {found['device']}, RAID-{found['level']}, {format_size(found['size'])}{chunk}")
    missing = f", {found['degraded']} missing" if found["degraded"] else ""
    share = f", {100 * found['action_done']:.1f} % done" if found["action_done"] is not None else ""
    print(f"  {found['state']}{missing}; {found['action'] or 'no redundancy'}{share}")
    for member in found["members"]:
        stored = format_size(member["stored"])
        print(f"  {member['number']:>3}  {member['disk']:<20} {member['state']:<20} {stored} stored")
    return 0


def _member(array: md.Array, number: int) -> md.Member:
    for member in array.members:
        if member.number == number:
            return member
    there = ", ".join(str(each.number) for each in array.members)
    raise DeviceError(f"MEMBER {number}: {array.name} has {there}")


def fail(args: argparse.Namespace) -> int:
    """The member is out, as if its drive had died."""
    need_root("array fail")
    fail_member(md.find(args.name), args.member)
    return 0


def fail_member(array: md.Array, number: int) -> None:
    member = _member(array, number)
    if "faulty" in member.state or not member.state:
        raise DeviceError(f"MEMBER {number}: {member.name} has failed already")
    md.mdadm(array.device, "--fail", md.path_of(member.name))


def readd(args: argparse.Namespace) -> int:
    need_root("array readd")
    array = md.find(args.name)
    member = _member(array, args.member)
    if member.state and "faulty" not in member.state:
        raise DeviceError(f"MEMBER {args.member}: {member.name} is in the array; first: {DAVID} array fail")
    add_member(array, member, args.blank)
    stack.listen([member.name])
    print(f"{array.device}: {member.name} is back; '{DAVID} array show {array.name}' shows the rebuild")
    return 0


def take_out(array: md.Array, number: int) -> None:
    """A member that has failed is no longer in the array. md lets it go once its last request is done."""
    path, until = md.path_of(_member(array, number).name), time.monotonic() + GO_S
    while dm.run("mdadm", array.device, "--remove", path).returncode:
        if time.monotonic() > until:
            md.mdadm(array.device, "--remove", path)  # says why
            return
        time.sleep(LOOK_S)


def add_member(array: md.Array, member: md.Member, blank: bool) -> None:
    """What is out is in again, as it was or as a new drive."""
    path = md.path_of(member.name)
    if member.state:
        take_out(array, member.number)
    if blank:
        md.mdadm("--zero-superblock", "--force", path)
        _discard(member)
    if blank or dm.run("mdadm", array.device, "--re-add", path).returncode:
        md.mdadm(array.device, "--add", path)


def rebuild(name: str, numbers: Sequence[int]) -> None:
    """New drives in place of members that are out, together. Returns when md has begun to fill them."""
    array = md.find(name)
    paths = [md.path_of(_member(array, number).name) for number in numbers]
    md.mdadm("--zero-superblock", "--force", *paths)
    for number in numbers:
        _discard(_member(array, number))
    md.mdadm(array.device, "--add", *paths)
    until = time.monotonic() + GO_S
    while array.said("sync_action") != "recover":
        if time.monotonic() > until:
            raise DeviceError(f"{array.device}: md began no rebuild in {GO_S} s")
        time.sleep(LOOK_S)


def _discard(member: md.Member) -> None:
    """A drive as new: nothing was ever written."""
    done = dm.run("blkdiscard", "--force", md.path_of(member.name))
    if done.returncode:
        raise DeviceError(f"{member.name}: cannot be made blank: {done.stderr.strip()}")


def _grown_members(args: argparse.Namespace, array: md.Array) -> argparse.Namespace:
    """For further members like the ones that are there, but for where their stores are."""
    table = dm.dmsetup("table", array.members[0].name).split()
    one = copy.copy(args)
    words = [word for word in table[5:] if not word.startswith(("low_water=", "pool", "profile=", "store="))]
    taken = {key: value for key, _, value in (word.partition("=") for word in words)}
    one.mode, one.classify = taken.pop("mode", None), taken.pop("classify", "auto")
    one.content = taken.pop("content", "incompressible")
    one.option = [f"{key}={value}" for key, value in taken.items()]
    one.size, one.profile_option = int(table[1]) * SECTOR, []
    if not args.profile and any(word.startswith("profile=") for word in table):
        raise DeviceError("--profile: the members have a drive; name that of the new ones")
    return one


def _check_grow(args: argparse.Namespace, array: md.Array) -> None:
    if bool(args.members) == bool(args.size):
        raise DeviceError("nothing to do: give --members or --size, one of them")
    if args.members and args.members <= len(array.members):
        raise DeviceError(f"--members {args.members}: there are {len(array.members)}; an array can only grow")
    if args.pool and args.backing:
        raise DeviceError("--backing: not with --pool, which all new members share")
    if args.size and (args.pool or args.backing or args.profile):
        raise DeviceError("--size: makes no new members, so it goes with no --pool, --backing or --profile")
    added = (args.members or 0) - len(array.members)
    if args.members and not args.pool and len(args.backing or ()) != added:
        raise DeviceError(f"--backing: {added} new members need a device each; or --pool")


def _grow_size(args: argparse.Namespace, array: md.Array) -> None:
    for member in array.members:
        device.resize_disk(member.name, args.size)
    md.mdadm("--grow", array.device, "--size=max", *([] if args.resync else ["--assume-clean"]))


def _grow_members(args: argparse.Namespace, array: md.Array, level: str) -> None:
    """All of the new ones are in the array, or none is there."""
    first = array.members[-1].number + 1
    wanted = _grown_members(args, array)
    wanted.backing = None if args.pool else [None] * first + args.backing
    numbers = range(first, first + args.members - len(array.members))
    made = _make_members([_member_of(wanted, number) for number in numbers])
    paths = [md.path_of(disk) for disk in made]
    # RAID-0 has no spares: it takes new members in one step.
    at_once = ["--add", *paths] if level == "0" else []
    try:
        if level != "0":
            md.mdadm(array.device, "--add", *paths)
        md.mdadm("--grow", array.device, f"--raid-devices={args.members}", *at_once)
    except BaseException:
        for path in paths:
            dm.run("mdadm", array.device, "--remove", path)
        _remove_members(made)
        raise
    stack.listen(made)
    if level == "0":
        _stay_a_stripe(array)


def _stay_a_stripe(array: md.Array) -> None:
    """A process in the background sees to it that the array becomes RAID-0 again.

    A stripe grows as RAID-4 without parity. A process of mdadm's asks md for RAID-0 once the new shape is
    there. md refuses while its own thread for that shape still ends. mdadm asks once, and tells nobody: the
    array would stay RAID-4, and have RAID-4's times.
    """
    which = md.uuid(array)
    if os.fork():
        return
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        idle = 0  # looks
        while array.said("level") == "raid4":
            idle = idle + 1 if array.said("sync_action") == "idle" else 0
            if idle > 2:  # mdadm had its turn
                if md.uuid(array) != which:
                    break  # another array has the device now
                with suppress(OSError):  # not yet; md refuses, too, if there is parity
                    (array.place / "level").write_text("raid0")
            time.sleep(1)
    finally:
        os._exit(0)


def grow(args: argparse.Namespace) -> int:
    need_root("array grow")
    array = md.find(args.name)
    _check_grow(args, array)
    level = array.said("level").removeprefix("raid")
    if args.size and level == "0":
        raise DeviceError("--size: RAID-0 cannot use larger members; --members adds some")
    if args.size:
        _grow_size(args, array)
    else:
        _grow_members(args, array, level)
    array = md.find(args.name)
    doing = array.said("sync_action") or "idle"
    print(f"{array.device}: {len(array.members)} members, {format_size(dm.size_of(array.device))}; {doing}")
    return 0


def remove_array(name: str, wait: float) -> None:
    """What the members held stays where it is stored, and so does the array: `create` finds it again."""
    need_root("array remove")
    disks = md.disks_of(name)
    if not disks:
        md.find(name)  # says that there is none
    if node := next(filter(None, map(md.holder, disks.values())), ""):
        try:
            md.mdadm("--stop", node)
        except DeviceError as error:
            raise DeviceError(f"NAME {name}: {error}; unmount {node}, then try again") from None
    for disk in reversed(disks.values()):
        device.remove_disk(disk, wait)


def remove(args: argparse.Namespace) -> int:
    remove_array(args.name, args.wait)
    return 0


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not a number, 0 or more")
    return int(text)


def _backing(parser: argparse.ArgumentParser, whose: str) -> None:
    parser.add_argument("--backing", nargs="+", metavar="DEV", help=f"a device for each {whose}'s store")
    parser.add_argument("--pool", metavar="POOL", help=f"instead: a pool that holds all {whose}s' stores")


def _add_create(actions: Commands) -> None:
    parser = _action(
        actions,
        "create",
        create,
        "make fake disks NAME-0, NAME-1, ... and an array of them, or open those that are on the stores",
        "mirror --level 1 --members 3 --pool p --profile hitachi-hds721010kla330",
    )
    parser.add_argument("--level", required=True, choices=md.LEVELS, help="of RAID")
    parser.add_argument("--members", required=True, type=_count, metavar="N", help="how many disks")
    parser.add_argument("--size", type=size_arg, metavar="SIZE", help="of a member (default: the drive's)")
    _backing(parser, "member")
    parser.add_argument("--chunk", type=size_arg, metavar="SIZE", help="of stripes (default: md's)")
    parser.add_argument("--layout", help="mdadm's names: left-symmetric, n2, f2, o2 ... (default: md's)")
    under_way = "of md, for writes under way (default none)"
    parser.add_argument("--bitmap", choices=("none", "internal"), default="none", help=under_way)
    parser.add_argument(
        "--resync",
        action="store_true",
        help="make the members equal first, in the drives' time; new ones are equal, so they need not",
    )
    parser.add_argument(
        "--seed", type=_count, default=1, metavar="N", help="of where the members' platters start (default 1)"
    )
    add_drive_options(parser)
    parser.set_defaults(content=None)


def _add_grow(actions: Commands) -> None:
    text = "add members like those that are there, or use members that become larger"
    parser = _action(actions, "grow", grow, text, "mirror --members 4 --pool p")
    parser.add_argument("--members", type=_count, metavar="N", help="how many there are to be")
    parser.add_argument("--size", type=size_arg, metavar="SIZE", help="of each member from now on")
    _backing(parser, "new member")
    parser.add_argument("--profile", metavar="P", help="drive of the new members")
    parser.add_argument("--format", action="store_true", help="whatever is on the backing devices")
    parser.add_argument("--resync", action="store_true", help="with --size: make the new part equal first")
    parser.add_argument(
        "--seed", type=_count, default=1, metavar="N", help="of where their platters start (default 1)"
    )


def _action(actions: Commands, name: str, func: Command, text: str, example: str) -> argparse.ArgumentParser:
    parser = add(actions, name, func, text, f"  {DAVID} array {name} {example}")
    parser.add_argument("name", metavar="NAME", type=name_arg, help="of the array")
    return parser


def add_parsers(sub: Commands) -> None:
    text = "arrays of fake disks, made with md: create, look at, fail members, grow, remove"
    parser = sub.add_parser("array", help=text, description=text[0].upper() + text[1:] + ".")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_create(actions)
    _action(actions, "show", show, "the array, its members, what is going on", "mirror").add_argument(
        "--json", action="store_true", help="as JSON, for programs"
    )
    for name, func, text in (
        ("fail", fail, "take a member out, as if its drive had died"),
        ("readd", readd, "put a member back that has failed; md rebuilds it, in the drives' time"),
    ):
        action = _action(actions, name, func, text, "mirror 1")
        action.add_argument("member", metavar="MEMBER", type=_count, help="its number, from 0 on")
    action.add_argument("--blank", action="store_true", help="as a new drive: what it held is gone")
    _add_grow(actions)
    text = "stop the array and remove its disks; what they held stays where it is stored"
    action = _action(actions, "remove", remove, text, "mirror")
    text = "for those who have it open (default %(default)s)"
    action.add_argument("--wait", type=float, default=5, metavar="SECONDS", help=text)
