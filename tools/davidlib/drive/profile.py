# SPDX-License-Identifier: GPL-2.0
"""david profile: the drives in profiles/, and others.

There is one parser of profiles, the model's own: david-sim is called for everything.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from .. import build
from ..command import Commands
from . import disksim, profile_bench
from .files import find, names, path_of


def call(*words: str) -> int:
    return subprocess.run([build.ensure("david-sim"), "profile", *words], check=False).returncode


def cmd_list(_: argparse.Namespace) -> int:
    return call("list", *(str(path_of(name)) for name in names()))


def cmd_show(args: argparse.Namespace) -> int:
    options = [word for option in args.option for word in ("--option", option)]
    return call("show", *options, "--", str(find(args.profile)))


def _import_described(path: Path, out: str | None) -> int:
    """DiskSim's own description files. What david-sim says of the flat form is told of their lines."""
    flat = disksim.flatten(path)
    with tempfile.TemporaryDirectory() as directory:
        named = Path(directory) / path.name
        named.write_text(flat.text(), encoding="utf-8")
        words = [*(("-o", out) if out else ()), "--", str(named)]
        done = subprocess.run([build.ensure("david-sim"), "profile", "import", *words], check=False,
                              stderr=subprocess.PIPE, text=True)
    sys.stderr.write(disksim.placed(done.stderr, flat, str(path)))
    return done.returncode


def cmd_import(args: argparse.Namespace) -> int:
    if disksim.is_one(Path(args.file)):
        return _import_described(Path(args.file), args.out)
    return call("import", *(("-o", args.out) if args.out else ()), "--", args.file)


def cmd_check(args: argparse.Namespace) -> int:
    return call("check", "--", str(find(args.profile)))


def cmd_options(_: argparse.Namespace) -> int:
    return call("options")


def add_parsers(sub: Commands) -> None:
    parser = sub.add_parser("profile", help="drives that a disk can be modelled on",
                            description="Look at drives' profiles, check them, import others.")
    commands = parser.add_subparsers(dest="profile_command", required=True, metavar="COMMAND")
    one = commands.add_parser("list", help="the profiles in profiles/: name, size, speed, heads")
    one.set_defaults(func=cmd_list)
    one = commands.add_parser("show", help="all parameters of a profile, those not given in it, too")
    one.add_argument("profile", metavar="P", help="a name in profiles/, or a file")
    one.add_argument("--option", metavar="NAME=VALUE", action="append", default=[],
                     help="replace a value; repeatable")
    one.set_defaults(func=cmd_show)
    one = commands.add_parser("import", help="make a profile of DiskSim's drive parameters",
                              description="Make a profile of a disk that DiskSim 4 describes (.parv, "
                              ".diskspecs, .model, with the files that these name), or of a flat file of its "
                              "parameters (.params; docs/REFERENCE.md, \"DiskSim's files\").")
    one.add_argument("file", metavar="FILE", help=".parv, .diskspecs, .model or .params")
    one.add_argument("-o", dest="out", metavar="OUT", help="write there, not to standard output")
    one.set_defaults(func=cmd_import)
    one = commands.add_parser("check", help="say what is wrong with a profile, with its line",
                              description="Say what is wrong with a profile, with its line; or that it is "
                              "sound. 'david profile options' lists what can stand in one.")
    one.add_argument("profile", metavar="FILE", help="a file, or a name in profiles/")
    one.set_defaults(func=cmd_check)
    one = commands.add_parser("options", help="the parameters of a profile, with units, limits and presets")
    one.set_defaults(func=cmd_options)
    profile_bench.add_parser(commands)
