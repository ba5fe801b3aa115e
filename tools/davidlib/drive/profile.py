# SPDX-License-Identifier: GPL-2.0
"""david profile: the drives in profiles/, and others.

There is one parser of profiles, the model's own: david-sim is called for everything.
"""

from __future__ import annotations

import argparse
import subprocess

from .. import build
from ..command import Commands
from . import profile_bench
from .files import find, names, path_of


def call(*words: str) -> int:
    return subprocess.run([build.ensure("david-sim"), "profile", *words], check=False).returncode


def cmd_list(_: argparse.Namespace) -> int:
    return call("list", *(str(path_of(name)) for name in names()))


def cmd_show(args: argparse.Namespace) -> int:
    options = [word for option in args.option for word in ("--option", option)]
    return call("show", *options, "--", str(find(args.profile)))


def cmd_import(args: argparse.Namespace) -> int:
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
    one = commands.add_parser("import", help="make a profile of DiskSim's drive parameters")
    one.add_argument("file", metavar="FILE.params")
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
