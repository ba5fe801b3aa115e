# SPDX-License-Identifier: GPL-2.0
"""david raw add, remove and list: what of a fake disk's data is kept as it was written.

The kernel knows inode numbers, suffixes and sectors. Paths are turned into numbers here, on a mounted
file system of the disk; on btrfs each subvolume has numbers of its own, and a number of its own.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import stat
import struct
import sys
from collections.abc import Iterator

from ..command import Commands
from ..sizes import SECTOR, format_size
from ..util import DAVID
from . import dm, stats
from .layers import Place, place_on
from .dm import DeviceError, need_disk, need_root
from .parameters import name_arg
from .kmsg import KernelLog
from .mounts import Mount, above, mounts

RULE = re.compile(r"(ino|dir|suffix|sectors):")
SUFFIX = re.compile(r"\*?\.([^./,\s]+)")
BTRFS_IOC_INO_LOOKUP = 0xD0009412
BTRFS_ROOT = 256  # the directory that a subvolume begins with
TOLD = 5  # files named in a warning; of the others, the number

HOW = (
    "file systems can be asked about by path while they are mounted; rules in the kernel's words "
    "(ino:, dir:, suffix:, sectors:) do without"
)


def _place(mount: Mount, number: str) -> Place | None:
    """Where on the disk of that number a file system begins; None: elsewhere."""
    # btrfs shows an anonymous number: there the source tells.
    device = mount.number if not mount.number.startswith("0:") else dm.number(mount.source)
    return place_on(device, number) if device else None


def _is_direct(mount: Mount, number: str) -> bool:
    return number in (mount.number, dm.number(mount.source))


def _on_disk(mount: Mount, number: str) -> bool:
    try:
        return _place(mount, number) is not None
    except DeviceError:
        return False


def mount_of(path: str) -> Mount:
    """Where a real path lies."""
    mount = above(path)
    if not mount:
        raise DeviceError(f"{path}: nothing is mounted there")
    return mount


def subvolume(path: str) -> int:
    """The number of the btrfs subvolume that a path is in."""
    args = bytearray(struct.pack("=QQ4080x", 0, BTRFS_ROOT))
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        fcntl.ioctl(fd, BTRFS_IOC_INO_LOOKUP, args)
    except OSError as error:
        raise DeviceError(f"{path}: btrfs does not tell its subvolume: {error.strerror}") from None
    finally:
        os.close(fd)
    return int(struct.unpack_from("=Q", args)[0])


def rule_of_path(name: str, text: str) -> tuple[str, str]:
    """The rule for a file or directory, and its real path."""
    path = os.path.realpath(text)
    try:
        what = os.stat(path)
    except OSError as error:
        remedy = "make it first, empty (touch, mkdir), or " if isinstance(error, FileNotFoundError) else ""
        raise DeviceError(f"{text}: {error.strerror}; {remedy}name its directory or its suffix") from None
    mount, number = mount_of(path), dm.minor(name)
    try:
        place = _place(mount, number)
    except DeviceError as error:
        raise DeviceError(f"{text}: is it on {name}? {error}; {HOW}") from None
    if not place:
        raise DeviceError(f"{text}: not on {name}, but on {mount.source} mounted on {mount.point}; {HOW}")
    if stat.S_ISDIR(what.st_mode):
        word = "dir"
    elif stat.S_ISREG(what.st_mode):
        word = "ino"
    else:
        raise DeviceError(f"{text}: neither a file nor a directory")
    volume = f"{place.sector}/" if place.sector else ""
    if mount.kind == "btrfs":
        volume = f"{subvolume(path)}/"
    if _classify(name) in ("auto", "explicit") and not _is_direct(mount, number):
        raise DeviceError(
            f"{text}: on {mount.source}, behind which classify={_classify(name)} is not told of files: "
            "all there is treated alike; mount the disk itself, or use classify=implicit"
        )
    return f"{word}:{volume}{what.st_ino}", path


def rule_of(name: str, text: str) -> tuple[str, str]:
    """A rule in the kernel's words, and the path it came from, if any."""
    if RULE.match(text):
        return text, ""
    if match := SUFFIX.fullmatch(text):
        return f"suffix:{match[1]}", ""
    return rule_of_path(name, text)


def _files_below(top: str) -> Iterator[str]:
    """Regular files, without crossing into what is mounted below."""
    inside = {mount.point for mount in mounts()} - {top}
    for directory, directories, names in os.walk(top):
        directories[:] = [d for d in directories if os.path.join(directory, d) not in inside]
        yield from (os.path.join(directory, file) for file in names)


def _has_blocks(path: str) -> bool:
    try:
        what = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(what.st_mode) and what.st_blocks > 0


def written_before(name: str, rule: str, path: str) -> list[str]:
    """Files that the rule is for and that have blocks already."""
    if path:
        paths = _files_below(path) if os.path.isdir(path) else iter((path,))
    elif rule.startswith("suffix:"):
        number = dm.minor(name)
        tops = [mount.point for mount in mounts() if _on_disk(mount, number)]
        ending = "." + rule.removeprefix("suffix:")
        paths = (file for top in tops for file in _files_below(top) if file.endswith(ending))
    else:
        return []
    return sorted({file for file in paths if _has_blocks(file)})


def _squashed(name: str) -> int:
    status = stats.parse_words(dm.dmsetup("status", name))
    return int(status.get("blocks_squashed", 0)) * int(status.get("block_size", 0))


def warn(name: str, rule: str, path: str) -> None:
    """What was written before is gone: say of which files."""
    files = written_before(name, rule, path)
    if files:
        print(f"{rule}: written to already; what was dropped of it stays made up until it is written again:")
        for file in files[:TOLD]:
            print(f"  {file}")
        if len(files) > TOLD:
            print(f"  and {len(files) - TOLD} files more")
    elif not path and not rule.startswith("suffix:") and (gone := _squashed(name)):
        print(f"{rule}: if part of the {format_size(gone)} dropped on this disk lies there, it stays made up")


def _send(name: str, *words: str) -> str:
    with KernelLog() as log:
        try:
            return dm.dmsetup("message", name, "0", "raw", *words)
        except DeviceError as error:
            lines = [line for line in log.new_lines() if ": raw: " in line]
            says = lines[-1].split(": raw: ", 1)[1] if lines else str(error)
            raise DeviceError(f"the kernel refuses the rule: {says}") from None


def _classify(name: str) -> str:
    words = next(d.words for d in dm.devices() if d.name == name)
    return next((word.partition("=")[2] for word in words if word.startswith("classify=")), "")


def _prepare(args: argparse.Namespace) -> list[tuple[str, str]]:
    need_root("raw")
    need_disk(args.name)
    return [rule_of(args.name, text) for text in args.what]


def _without_effect(how: str, rule: str) -> str:
    """Why the rule means nothing, and what would; empty if it does."""
    if how == "data" and not rule.startswith("sectors:"):
        return "does not look at files; sectors: would work"
    return ""


def add(args: argparse.Namespace) -> int:
    rules = _prepare(args)
    _send(args.name, "add", *(rule for rule, _ in rules))
    how = _classify(args.name)
    for rule, path in rules:
        print(f"{rule}: kept from now on" + (f" ({path})" if path else ""))
        if remedy := _without_effect(how, rule):
            print(f"{rule}: without effect, as classify={how} {remedy}", file=sys.stderr)
        warn(args.name, rule, path)
    return 0


def remove(args: argparse.Namespace) -> int:
    rules = _prepare(args)
    _send(args.name, "remove", *(rule for rule, _ in rules))
    for rule, _ in rules:
        print(f"{rule}: no longer; what is stored stays exact until it is written again")
    return 0


def show(args: argparse.Namespace) -> int:
    need_root("raw")
    need_disk(args.name)
    rules = _send(args.name, "list").split()
    for rule in rules:
        sectors = re.fullmatch(r"sectors:(\d+)(?:-(\d+))?", rule)
        size = ""
        if sectors:
            count = int(sectors[2] or sectors[1]) - int(sectors[1]) + 1
            size = f"  {format_size(count * SECTOR)} at {format_size(int(sectors[1]) * SECTOR)}"
        print(rule + size)
    if not rules:
        print(f"{args.name}: no rules; 'david raw add --help' tells how to make one", file=sys.stderr)
    return 0


WHAT = (
    "a file or a directory (with everything below it, now and later) on a mounted file system of the disk; "
    "a suffix: '*.db' or .db; or a rule in kernel words: ino:[V/]N[-N], dir:[V/]N, suffix:S, sectors:N-N"
)


def add_parsers(sub: Commands) -> None:
    parser = sub.add_parser("raw", help="choose data that is kept as it was written", description=WHAT)
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    for name, func, text in (
        ("add", add, "keep what is written to these from now on"),
        ("remove", remove, "end that"),
    ):
        action = actions.add_parser(
            name,
            help=text,
            description=text[0].upper() + text[1:] + ".",
            epilog=f"example:\n  {DAVID} raw add big /mnt/database '*.sqlite'",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        action.set_defaults(func=func)
        action.add_argument("name", metavar="NAME", type=name_arg)
        action.add_argument("what", metavar="WHAT", nargs="+", help=WHAT)
    action = actions.add_parser("list", help="show the rules", description="Show the rules.")
    action.set_defaults(func=show)
    action.add_argument("name", metavar="NAME", type=name_arg)
