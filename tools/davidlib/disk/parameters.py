# SPDX-License-Identifier: GPL-2.0
"""What a fake disk is made of: the parameters of create.create_disk(), and the options that say them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..command import OnceEach
from . import stats

MODES = ("timing-accurate", "speedup", "model-only")
CLASSIFY = ("auto", "implicit", "explicit", "keep", "data")
CONTENT = ("incompressible", "zeros", "compressible:20 to compressible:1000", "text", "pattern:HEX", "stamp")


@dataclass(frozen=True)
class DiskParameters:
    """The options of `david create`, with what they are without being given."""

    name: str
    backing: str = ""  # a block device; with a pool none
    pool: str = ""  # its name or device
    size: int = 0  # bytes; 0: the drive's own
    profile: str = ""  # a name in profiles/, or a file
    profile_options: Sequence[str] = ()  # KEY=VALUE
    mode: str = ""  # timing-accurate with a profile, speedup without
    classify: str = "auto"
    content: str = "incompressible"
    options: Sequence[str] = ()  # KEY=VALUE, words of the table line
    format: bool = False


def of_options(args: argparse.Namespace) -> DiskParameters:
    """Of add_drive_options(), and name, size, backing and pool."""
    return DiskParameters(
        name=args.name,
        backing=args.backing or "",
        pool=args.pool or "",
        size=args.size or 0,
        profile=args.profile or "",
        profile_options=args.profile_option,
        mode=args.mode or "",
        classify=args.classify,
        content=args.content,
        options=args.option,
        format=args.format,
    )


@dataclass(frozen=True)
class OneOf:
    """An argparse type: one of these words. A shell's completion offers them."""

    words: tuple[str, ...]

    def __call__(self, text: str) -> str:
        if text not in self.words:
            raise argparse.ArgumentTypeError(f"'{text}' is not one of {', '.join(self.words)}")
        return text


def name_arg(text: str) -> str:
    # device-mapper's own set: other characters would be replaced by \\xNN in /dev/mapper.
    if not re.fullmatch(r"[A-Za-z0-9#+.:=@_][A-Za-z0-9#+.:=@_-]*", text) or len(text) >= stats.NAME_LEN:
        raise argparse.ArgumentTypeError(
            f"'{text}' cannot be a device's name; use up to {stats.NAME_LEN - 1} letters, digits and #+-.:=@_"
        )
    return text


def content_arg(text: str) -> str:
    """The kind only: the module says what is wrong with its value."""
    if text.partition(":")[0] not in {kind.partition(":")[0] for kind in CONTENT}:
        raise argparse.ArgumentTypeError(f"'{text}' is not one of {', '.join(CONTENT)}")
    return text


def option_arg(text: str) -> str:
    key, equals, value = text.partition("=")
    if not key or not equals or not value or any(char.isspace() for char in text):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form KEY=VALUE, without spaces")
    if key in ("mode", "classify", "content", "profile"):
        raise argparse.ArgumentTypeError(f"'{text}': use --{key} {value}")
    return text


def add_drive_options(parser: argparse.ArgumentParser) -> None:
    """What a disk is, beside its name, size and store."""
    parser.add_argument(
        "--profile",
        metavar="P",
        help="drive whose times and properties the disk takes, scaled to its size: a name in profiles/ "
        "(see david profile list), or a file",
    )
    parser.add_argument(
        "--profile-option",
        action=OnceEach,
        default=[],
        metavar="KEY=VALUE",
        help="change a parameter of the profile, such as write_cache=off; repeatable",
    )
    parser.add_argument(
        "--mode",
        type=OneOf(MODES),
        metavar="MODE",
        help="timing-accurate (default with --profile): requests complete when the drive would have; speedup "
        "(default without): at once, the drive's time is only added up; model-only: everything is "
        "stored, on a backing device as large as the disk, and its times are compared with the drive's",
    )
    parser.add_argument(
        "--classify",
        type=OneOf(CLASSIFY),
        default="auto",
        metavar="HOW",
        help="what is kept: auto (default): all but file data, by request flags and page owner, where what "
        "is written does not object; explicit: by flags and owner alone; implicit: by what is written, where "
        "ext2, ext3, ext4, xfs or btrfs is mounted by a guest, over a network or behind a loop device; keep: "
        "everything; data: nothing but constant blocks, for benchmarks of the raw disk",
    )
    parser.add_argument(
        "--content",
        type=content_arg,
        default="incompressible",
        metavar="KIND",
        help="what squashed blocks read as: incompressible (default), zeros, compressible:THOUSANDTHS, text, "
        "pattern:HEX or stamp",
    )
    parser.add_argument(
        "--option",
        "-o",
        type=option_arg,
        action=OnceEach,
        default=[],
        metavar="KEY=VALUE",
        help="seed=N: of the made-up content; block_size=512|1024|2048|4096 (default 4096); "
        "low_water=BLOCKS: free blocks of the store below which an event is raised; "
        "unclassified=MB: with classify=implicit, what may wait for an inode (default 64); "
        "checksums=auto|on|off, "
        "checksum_memory=MB: of squashed data, for btrfs; exact=MB: the newest data is stored; "
        "table_memory=MB: the range table's bound (default a quarter of all memory); "
        "files=default: files read as well-formed ones by their suffix; raw=RULE,...: see david raw; "
        "pool_reserve=BLOCKS: of a new disk of a pool, that the others cannot take (default 1/256 of it), "
        "pool_log=PAGES: its log (default 1/128); "
        "faults=FAULT,...: what fails of the drive, see david fault; age=TIME: how old it is; "
        "repeatable",
    )
    parser.add_argument(
        "--format", action="store_true", help="make a new store, whatever is on the backing device"
    )
