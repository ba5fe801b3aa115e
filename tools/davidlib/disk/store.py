# SPDX-License-Identifier: GPL-2.0
"""`david store`: a store looked at and repaired while no device uses it.

The work is done by build/david-store.
"""

from __future__ import annotations

import argparse
import subprocess

from .. import build
from ..command import Commands
from ..util import DAVID, UserError, path_word


def store(args: argparse.Namespace) -> int:
    if args.disk and args.format:
        raise UserError("--format: not with --disk, whose pool is there already")
    words = [args.action, *(["--format"] if args.format else []), *map(path_word, args.places)]
    if args.disk:
        words[1:1] = ["--disk", args.disk]
    return subprocess.run([build.ensure("david-store"), *words]).returncode


def add_parsers(sub: Commands) -> None:
    parser = sub.add_parser(
        "store",
        help="look at a store while no device uses it, check it, repair it, move the disk on it",
        description="Look at the store on a backing device, or on an image of one, while no device uses it, "
        "or move the disk that is on it.",
        epilog="exit status: 0; 1: damaged, no store, in use, or it cannot be read or written\n\n"
        f"example:\n  {DAVID} store check /dev/ram0\n"
        f"  {DAVID} store export /dev/ram0 aged.image && {DAVID} store import aged.image /dev/sdx",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def add(name: str, text: str, *places: str) -> argparse.ArgumentParser:
        action = actions.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        for place in places:
            action.add_argument("places", action="append", metavar=place)
        action.add_argument("--disk", metavar="NAME", help="where DEV is a pool's: the disk of that name")
        action.set_defaults(func=store, format=False)
        return action

    add("info", "what a store says of itself, one name and value a line", "DEV")
    add("check", "read all of it as the kernel does", "DEV")
    text = "what each range of the disk's blocks is: first, last, kind, and a fill's word or its place"
    add("dump", text, "DEV")
    text = "give back a broken copy of the superblock, and cut the log before a page that is lost"
    add("repair", text, "DEV")
    text = "write the disk, what is stored of it and its tables, to one packed file ('-': standard output)"
    add("export", text, "DEV", "FILE")
    text = (
        "make the store of an exported disk ('-': standard input) on a blank device of any size that has "
        "room for it; a file is checked before anything is written"
    )
    action = add("import", text, "FILE", "DEV")
    action.add_argument("--format", action="store_true", help="overwrite what is on the device")
