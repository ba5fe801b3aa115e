# SPDX-License-Identifier: GPL-2.0
"""`david classify`: which blocks of an image are metadata, by the classifier's own sources.

The work is done by build/david-classify.
"""

from __future__ import annotations

import argparse
import subprocess

from .. import build
from ..command import Commands
from ..util import DAVID, path_word


def classify(args: argparse.Namespace) -> int:
    words = [str(build.ensure("david-classify")), "image"]
    words += ["--json"] if args.json else []
    words += ["--summary"] if args.summary else []
    return subprocess.run([*words, path_word(args.image)]).returncode


def add_parsers(sub: Commands) -> None:
    parser = sub.add_parser(
        "classify",
        help="print which blocks of an image are metadata, and why",
        description="Print which blocks of the ext2, ext3, ext4, btrfs and xfs file systems on an image or a "
        "block device are metadata, and why: by the kernel target's own classifier, with the whole disk "
        "at hand. Ranges are first block, last block, kind, in blocks of the file system from its start.",
        epilog="exit status: 0; 1: no such file system there, or IMAGE cannot be read; 2: parts of it "
        f"made no sense and were left out\n\nexample:\n  {DAVID} classify --summary disk.img",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("image", metavar="IMAGE|DEV")
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")
    parser.add_argument("--summary", action="store_true", help="counts only")
    parser.set_defaults(func=classify)
