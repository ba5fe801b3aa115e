# SPDX-License-Identifier: GPL-2.0
"""`david store`: a store looked at and repaired while no device uses it.

The work is done by build/david-store, which is built here when it is missing or older than its sources.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path

from .util import BUILD, TREE, UserError

PROGRAM = BUILD / "david-store"


def program() -> Path:
    """build/david-store, as new as its sources."""
    sources = [path for top in ("dm-david", "tools/store") for path in (TREE / top).glob("*.[ch]")]
    if PROGRAM.exists() and PROGRAM.stat().st_mtime >= max(path.stat().st_mtime for path in sources):
        return PROGRAM
    if not shutil.which("make") or not shutil.which("cc"):
        raise UserError("store: needs make and a C compiler to build itself; run tools/setup packages")
    done = subprocess.run(["make", "-s", "-C", str(TREE / "tools" / "store")], capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"store: building build/david-store failed:\n{done.stderr.strip()}")
    return PROGRAM


def store(args: argparse.Namespace) -> int:
    return subprocess.run([str(program()), args.action, args.device]).returncode


def add_parsers(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = sub.add_parser(
        "store",
        help="look at a store while no device uses it, check it, repair it",
        description="Look at the store on a backing device, or on an image of one, while no device uses it. "
        "info: what it says of itself, one name and value a line. check: read all of it as the kernel "
        "does. dump: what each range of the disk's blocks is: first, last, kind, and a fill's word or where "
        "it is stored. "
        "repair: give back a broken copy of the superblock, and cut the log before a page that is lost.",
        epilog="exit status: 0; 1: damaged, or no store; 2: DEV cannot be read or is in use\n\n"
        "example:\n  tools/david store check /dev/ram0",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("action", choices=("info", "check", "dump", "repair"))
    parser.add_argument("device", metavar="DEV")
    parser.set_defaults(func=store)
