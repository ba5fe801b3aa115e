# SPDX-License-Identifier: GPL-2.0
"""david plan: how large the backing device must be for a disk of a size, a file system and a number of files.

What mkfs writes follows from its parameters. It was counted on empty disks of 16 GiB to 100 TiB (e2fsprogs
1.47, xfsprogs 6.1, btrfs-progs 6.2, f2fs-tools 1.15): the blocks that are not one repeated word, for those
are fills and take no room. What a file takes was measured, with names of 20 characters, 200 a directory.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..command import Commands
from ..drive import profileword
from ..filesystems import FILE_SYSTEMS
from ..sizes import format_both, format_size, size_arg
from ..util import DAVID, UserError

BLOCK = 4096
KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40
GROUP = 128 * MIB  # of ext2, ext3 and ext4 with blocks of 4 KiB
RESERVED = 1024  # most blocks that ext keeps for descriptors of a larger disk
FLEX = 16  # groups of ext4 whose bitmaps lie together
MKE2FS_CONF = Path("/etc/mke2fs.conf")
ORPHAN_BLOCKS = 512  # most of ext4's orphan file

# The log of the store takes a sixteenth of the device; each range of its table needs room in it twice over.
LOG_SHARE = 16
RANGES_A_PAGE = 3.4
RANGES_A_FILE = 0.5


@dataclass
class Needs:
    """Bytes that are stored of a file system."""

    made: float  # by mkfs
    journal: float  # when all of it has been written
    full: float  # for the data: bitmaps, indirect blocks, checksums
    files: float

    def total(self) -> float:
        return self.made + self.journal + self.full + self.files


def _copies(groups: int) -> int:
    """Group descriptors stand in group 0 and 1, and in the powers of 3, 5 and 7."""
    return 1 + (groups > 1) + sum(base**n < groups for base in (3, 5, 7) for n in range(1, 40))


def _ext_journal(size: int) -> int:
    """mke2fs's own table."""
    for least, journal in (
        (128 * GIB, GIB),
        (64 * GIB, 512 * MIB),
        (32 * GIB, 256 * MIB),
        (16 * GIB, 128 * MIB),
        (2 * GIB, 64 * MIB),
        (GIB, 32 * MIB),
        (128 * MIB, 16 * MIB),
        (8 * MIB, 4 * MIB),
    ):
        if size >= least:
            return journal
    return 0


def _ext(size: int, descriptor: int, most: int) -> tuple[int, int]:
    """Groups, and blocks of descriptors and of those kept for more of them."""
    groups = -(-size // GROUP)
    blocks = -(-groups * descriptor // BLOCK)
    return groups, blocks * _copies(groups) + max(min(RESERVED, most - blocks), 0)


def _orphan_blocks(size: int) -> int:
    """Of ext4's orphan file. Debian 13's mke2fs.conf asks for one; each block of it has a checksum."""
    text = MKE2FS_CONF.read_text() if MKE2FS_CONF.exists() else ""
    asked = re.search(r"^\s*features\s*=.*\borphan_file\b", text, re.MULTILINE)
    return min(ORPHAN_BLOCKS, size // BLOCK // 256) if asked else 0


def _ext4(size: int, files: int, data: int) -> Needs:
    groups, fixed = _ext(size, 64, 2048)
    flex = -(-groups // FLEX)
    used = min(-(-data // GROUP), groups)
    made = fixed + flex + 40 + _orphan_blocks(size)
    return Needs(made * BLOCK, _ext_journal(size), 2 * used * BLOCK, files * PER_FILE["ext4"])


def _ext2(size: int, files: int, data: int, journal: bool = False) -> Needs:
    groups, fixed = _ext(size, 32, 1024)
    made = fixed + 2 * groups + 40
    if not journal:
        return Needs(made * BLOCK, 0, data / 1024, files * PER_FILE["ext2"])
    log = _ext_journal(size)
    return Needs(made * BLOCK + log / 1024, log, data / 1024, files * PER_FILE["ext3"])


def _ext3(size: int, files: int, data: int) -> Needs:
    return _ext2(size, files, data, journal=True)


def _xfs(size: int, files: int, data: int) -> Needs:
    groups = max(4, -(-size // TIB))
    log = min(max(size // 2048, 64 * MIB), 2038 * MIB)
    return Needs((6 * groups + 9) * BLOCK, log, data / 16384, files * PER_FILE["xfs"])


def _btrfs(size: int, files: int, data: int) -> Needs:
    # Metadata stand twice on the disk. Of 4 KiB of data 4 bytes are checksums, in leaves that are not full.
    return Needs(96 * BLOCK, 0, 2 * 1.4 * data / 1024, files * PER_FILE["btrfs"])


def _f2fs(size: int, files: int, data: int) -> Needs:
    # Checkpoints and maps of the segments in use come with the first files.
    return Needs(16 * BLOCK, 0, 24 * MIB + data / 1018, files * PER_FILE["f2fs"])


# Bytes, measured; each file's own inode and name, and its share of directories, maps and trees.
PER_FILE = {"ext4": 1000, "ext3": 1000, "ext2": 600, "xfs": 900, "btrfs": 3000, "f2fs": 5000}
LARGEST = {"ext3": 16 * TIB - 1, "ext2": 16 * TIB - 1, "f2fs": 16 * TIB}
# What each stores, of size, files and bytes of data. davidlib/filesystems.py has how each is made.
FORMULAS: dict[str, Callable[[int, int, int], Needs]] = {
    "ext4": _ext4,
    "xfs": _xfs,
    "btrfs": _btrfs,
    "f2fs": _f2fs,
    "ext3": _ext3,
    "ext2": _ext2,
}


def needs(fs: str, size: int, files: int = 0, data: int | None = None) -> Needs:
    return FORMULAS[fs](size, files, size if data is None else data)


def backing(stored: float, files: int = 0) -> int:
    """Bytes of a device that holds so many stored bytes, and the store's log and table; whole MiB."""
    pages = max(
        stored / BLOCK * LOG_SHARE / (LOG_SHARE - 1) + 68, files * RANGES_A_FILE / RANGES_A_PAGE
    )
    return -int(-pages * BLOCK // MIB) * MIB


def warning(size: int, room: int) -> str:
    """What to say of a backing device that mkfs alone would fill; "" if none would."""
    bad = [
        fs
        for fs in FORMULAS
        if size <= LARGEST.get(fs, size) and backing(needs(fs, size).made) > room
    ]
    if not bad:
        return ""
    fine = [fs for fs in FORMULAS if size <= LARGEST.get(fs, size) and fs not in bad]
    each = {FILE_SYSTEMS[fs].mkfs[0]: backing(needs(fs, size).made) for fs in bad}
    least = ", ".join(f"{mkfs} {format_size(need)}" for mkfs, need in each.items())
    return (
        f"{format_size(room)} will not do for every file system on {format_both(size)}: {least} at least"
        + (f"; {', '.join(fine)} can be made" if fine else "")
        + ". 'david plan' tells what files and a journal take besides."
    )


def plan(args: argparse.Namespace) -> int:
    size = args.size
    if size is None:
        size = profileword.load(args.profile, []).capacity() if args.profile else 0
    if not size:
        raise UserError("plan: --size, or --profile whose drive's size it is, is needed")
    if size > LARGEST.get(args.fs, size):
        raise UserError(f"plan: --fs {args.fs}: no more than {format_both(LARGEST[args.fs])}")
    data = size if args.data is None else args.data
    found = needs(args.fs, size, args.files, data)
    least, enough = backing(found.made), backing(found.total(), args.files)
    if args.json:
        print(
            json.dumps(
                {
                    "fs": args.fs,
                    "size": size,
                    "files": args.files,
                    "data": data,
                    "made": round(found.made),
                    "journal": round(found.journal),
                    "for_data": round(found.full),
                    "for_files": round(found.files),
                    "least": least,
                    "enough": enough,
                },
                indent=1,
            )
        )
        return 0
    print(
        f"{args.fs} on {format_both(size)}, {args.files} files, {format_size(data)} of data; stored of it:"
    )
    for what, bytes_ in (
        ("made by mkfs", found.made),
        ("journal, once all of it has been written", found.journal),
        ("for the data: bitmaps, block lists, checksums", found.full),
        (f"for the files, {PER_FILE[args.fs]} bytes each", found.files),
    ):
        print(f"  {what:<46} {format_size(bytes_):>10}")
    print(f"backing device: {format_size(least)} to make it, {format_size(enough)} for all of this")
    return 0


def _count(text: str) -> int:
    units = {"K": 10**3, "M": 10**6, "G": 10**9}
    number, factor = (text[:-1], units[text[-1].upper()]) if text[-1:].upper() in units else (text, 1)
    try:
        value = float(number) * factor
    except ValueError:
        value = -1
    if not 0 <= value < 1e12:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of files; write 10000, 20K or 1.5M")
    return int(value)


def add_parsers(sub: Commands) -> None:
    parser = sub.add_parser(
        "plan",
        help="how large the backing device must be",
        description="Say how large the backing device must be for a disk with a file system that mkfs made "
        "by its own defaults. File data take no room, nor do constant blocks such as zeroed inode tables. "
        "RAW files, and data in what is no file system that dm-david knows, come on top.",
        epilog=f"example:\n  {DAVID} plan --size 20TB --fs ext4 --files 1M",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--size", type=size_arg, metavar="SIZE", help="of the disk: 1T, 20TB; see create"
    )
    parser.add_argument("--profile", metavar="P", help="the disk has the size of this drive")
    parser.add_argument(
        "--fs", required=True, choices=FORMULAS, metavar="F", help=", ".join(FORMULAS)
    )
    parser.add_argument(
        "--files", type=_count, default=0, metavar="N", help="files: 10000, 20K, 1.5M (default 0)"
    )
    parser.add_argument(
        "--data", type=size_arg, metavar="SIZE", help="in them (default: the disk is full)"
    )
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")
    parser.set_defaults(func=plan)
