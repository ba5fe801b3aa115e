# SPDX-License-Identifier: GPL-2.0
"""david profile: the drives in profiles/, and others.

There is one parser of profiles, the model's own: david-sim is called for everything.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import build
from ..command import Commands, OnceEach
from ..sizes import SECTOR
from ..util import UserError
from . import classes, disksim, profile_bench, worth
from .files import find, names, path_of
from .profileword import REPEATED


def call(*words: str) -> int:
    return subprocess.run([build.ensure("david-sim"), "profile", *words], check=False).returncode


def parameters(profile: Path, options: Sequence[str] = ()) -> dict[str, str | list[str]]:
    """All of a drive's parameters, by name, in david-sim's words; of those that stand many times a list."""
    words = [word for option in options for word in ("--option", option)]
    done = subprocess.run([build.ensure("david-sim"), "profile", "show", *words, "--", str(profile)],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(done.stderr.strip())
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        name, equals, value = line.partition(" = ")
        if equals:
            found.setdefault(name, []).append(value)
    return {name: values if name in REPEATED else values[-1] for name, values in found.items()}


def described(profile: str, options: Sequence[str] = ()) -> dict[str, Any]:
    """For `profile show --json`: the file, and its parameters."""
    path = find(profile)
    return {"file": str(path), "parameters": parameters(path, options)}


def listed() -> list[dict[str, Any]]:
    """For `profile list --json`: the drives of profiles/. A speed and heads are a disk's alone."""
    rows = []
    for name in names():
        path = path_of(name)
        found = parameters(path)
        sectors = str(found["capacity"]).removesuffix("sectors")
        disk = found["kind"] == "disk"
        rows.append({
            "name": name,
            "file": str(path),
            "kind": found["kind"],
            "capacity": int(sectors) * SECTOR,
            "rpm": float(str(found["rpm"]).removesuffix("rpm")) if disk else None,
            "heads": int(str(found["heads"])) if disk else None,
        })
    return rows


def cmd_list(args: argparse.Namespace) -> int:
    if args.json:
        print(json.dumps(listed(), indent=2))
        return 0
    words = [str(build.ensure("david-sim")), "profile", "list", *(str(path_of(name)) for name in names())]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    head, *lines = done.stdout.splitlines()
    print(head + "".join(f"  {kind.upper():<11}" for kind in worth.KINDS) + "  CLASS")
    for name, line in zip(names(), lines, strict=True):
        found = worth.of_profile(name)
        print(line + "".join(f"  {worth.cell(one):<11}" for one in found.grades)
              + f"  {found.drive_class}{', nobody vouches for it' if found.doubt else ''}")
    return done.returncode


def cmd_worth(args: argparse.Namespace) -> int:
    if args.write:
        if args.profile or args.json:
            raise UserError("--write writes the table of all profiles: leave out P and --json")
        return profile_bench.write_worth()
    found = [worth.of_text(find(name).read_text(encoding="utf-8", errors="replace"))
             for name in args.profile or names()]
    if args.json:
        print(json.dumps({one.profile: one.as_dict() for one in found}, indent=1))
    else:
        print("\n".join(map(worth.as_text, found)))
    return 0


def cmd_class(args: argparse.Namespace) -> int:
    if args.name:
        print(classes.as_text(classes.find(args.name)))
        return 0
    for one in classes.every():
        print(f"{one.name:<14}{len(one.drives)} drive{'s' * (len(one.drives) != 1):<2} {one.title}")
    return 0


def cmd_show(args: argparse.Namespace) -> int:
    if args.json:
        print(json.dumps(described(args.profile, args.option), indent=2))
        return 0
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


def add_parsers(sub: Commands) -> Commands:
    """The subcommands; `new`, which fits, is calibrate/newprofile.py's."""
    parser = sub.add_parser("profile", help="drives that a disk can be modelled on",
                            description="Look at drives' profiles, check them, import others.")
    commands = parser.add_subparsers(dest="profile_command", required=True, metavar="COMMAND")
    one = commands.add_parser(
        "list", help="the profiles in profiles/: name, size, speed, heads, grades",
        description="List the profiles in profiles/, with a grade for each kind of job. drive: this one was "
        "measured; class: others of its class were; assumed: neither. x1.5: by these others a figure may be "
        f"1.5 times too large or too small; without it fewer than {worth.LEAST} others were measured, and "
        "nobody knows. 'david profile worth P' says more.")
    one.add_argument("--json", action="store_true", help="as JSON, for programs")
    one.set_defaults(func=cmd_list)
    one = commands.add_parser("show", help="all parameters of a profile, those not given in it, too")
    one.add_argument("profile", metavar="P", help="a name in profiles/, or a file")
    one.add_argument("--option", metavar="NAME=VALUE", action=OnceEach, default=[],
                     help="replace a value; repeatable")
    one.add_argument("--json", action="store_true", help="as JSON, for programs")
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
    one = commands.add_parser(
        "worth", help="who has measured a drive, by kind of job, and how far off its class is",
        description="Say of each kind of job whether the drive, its class, or nobody was measured, how many "
        "figures hold the profile, and by how much the model was off on the other drives of the class "
        "(docs/REFERENCE.md, What a profile is worth). Without P: of all.")
    one.add_argument("profile", metavar="P", nargs="*", help="a name in profiles/, or a file")
    one.add_argument("--json", action="store_true", help="as JSON, for programs")
    one.add_argument("--write", action="store_true",
                     help="run all figures anew, and write the table that the grades are made of; a minute")
    one.set_defaults(func=cmd_worth)
    one = commands.add_parser(
        "class", help="the classes of drives, and how far apart the drives of one are",
        description="List the classes of drives. With NAME: the drives that it was made from, and the spread "
        "among them of each parameter.")
    one.add_argument("name", metavar="NAME", nargs="?", help="a class")
    one.set_defaults(func=cmd_class)
    one = commands.add_parser("options", help="the parameters of a profile, with units, limits and presets")
    one.set_defaults(func=cmd_options)
    profile_bench.add_parser(commands)
    return commands
