# SPDX-License-Identifier: GPL-2.0
"""`david classify`: which blocks of an image are metadata, by the classifier's own sources.

The work is done by build/david-classify, which is built here when it is missing or older than its sources.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path

from .util import BUILD, DAVID, INSTALLED, TREE, UserError, installed_program

PROGRAM = BUILD / "david-classify"


def _newest_source() -> float:
    found = [path for top in ("classifier", "tools/classify") for path in (TREE / top).glob("*.[ch]")]
    found.append(TREE / "dm-david" / "portable.h")
    return max(path.stat().st_mtime for path in found)


def program() -> Path:
    """build/david-classify, as new as its sources."""
    if INSTALLED:
        return installed_program(PROGRAM.name)
    if PROGRAM.exists() and PROGRAM.stat().st_mtime >= _newest_source():
        return PROGRAM
    if not shutil.which("make") or not shutil.which("cc"):
        raise UserError("classify: needs make and a C compiler to build itself; run tools/setup packages")
    make = ["make", "-s", "-C", str(TREE / "tools" / "classify")]
    done = subprocess.run(make, capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"classify: building build/david-classify failed:\n{done.stderr.strip()}")
    return PROGRAM


def classify(args: argparse.Namespace) -> int:
    words = [str(program()), "image"]
    words += ["--json"] if args.json else []
    words += ["--summary"] if args.summary else []
    # argparse lets no IMAGE begin with a dash.
    return subprocess.run([*words, args.image]).returncode


def add_parsers(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = sub.add_parser(
        "classify",
        help="print which blocks of an image are metadata, and why",
        description="Print which blocks of the ext2, ext3, ext4, btrfs and xfs file systems on an image or a "
        "block device are metadata, and why: by the kernel target's own classifier, with the whole disk "
        "at hand. Ranges are first block, last block, kind, in blocks of the file system from its start.",
        epilog="exit status: 0; 1: no such file system there; 2: IMAGE cannot be read; 3: parts of it "
        f"made no sense and were left out\n\nexample:\n  {DAVID} classify --summary disk.img",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("image", metavar="IMAGE|DEV")
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")
    parser.add_argument("--summary", action="store_true", help="counts only")
    parser.set_defaults(func=classify)
