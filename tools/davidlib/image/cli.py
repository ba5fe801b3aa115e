# SPDX-License-Identifier: GPL-2.0
"""david image and david age."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from dataclasses import replace
from typing import Any

from ..command import Commands
from ..disk import dm
from ..disk.create import create_disk
from ..disk.device import take_away
from ..disk.dm import need_disk, need_root
from ..disk.parameters import DiskParameters, name_arg
from ..filesystems import FILE_SYSTEMS
from ..sizes import format_both, format_size
from ..util import DAVID, UserError, say
from . import aging, archive, disk, recipe


def pieces_of(old: dict[str, Any]) -> str:
    return f"{old['extents_per_file']} extents a file, {old['extents_per_file_fresh']} when new"


def as_text(found: dict[str, Any]) -> str:
    system = found["file_system"]
    lines = [f"disk         {format_both(found['size'])}, drive {found['drive'] or 'none'}",
             f"file system  {system.get('type', 'none')} {system.get('uuid', '')}".rstrip(),
             f"content      {found['content']}, seed {found['seed']}",
             f"made         {found['made']} by david {found['david']}",
             f"store        {format_size(found['store']['bytes'])}, sha256 {found['store']['sha256']}"]
    if found.get("note"):
        lines.append(f"note         {found['note']}")
    if old := found.get("aged"):
        lines += [f"aged         seed {old['seed']}, {old['files']} files of {format_size(old['bytes'])}; "
                  f"{old['files_made']} of {format_size(old['bytes_made'])} were made",
                  f"             {pieces_of(old)}"]
    return "\n".join(lines)


def image_push(args: argparse.Namespace) -> int:
    need_root("image push")
    need_disk(args.name)
    disk.push(args.name, args.file, args.force, {"note": args.note} if args.note else {})
    say(f"wrote {args.file}, {format_size(os.path.getsize(args.file))}")
    return 0


def image_pull(args: argparse.Namespace) -> int:
    need_root("image pull")
    if args.name and dm.exists(args.name):
        raise UserError(f"--name {args.name}: in use; choose another, or first: david remove {args.name}")
    found = disk.pull(args.file, args.backing, args.format)
    if not args.name:
        name = found["drive"] or ""
        words = disk.create_words(found, args.backing) + (["--profile", name] if name else [])
        say(f"the disk is on {args.backing}; to use it: {DAVID} create NAME {' '.join(words)}")
        return 0
    with tempfile.NamedTemporaryFile("w", suffix=".profile") as profile:
        profile.write((found["profile"] or "").replace(";", "\n") + "\n")
        profile.flush()
        pulled = disk.parameters(args.name, found, args.backing)
        print(create_disk(replace(pulled, profile=profile.name if found["profile"] else "")))
    return 0


def image_show(args: argparse.Namespace) -> int:
    with archive.opened(args.file) as (found, _):
        print(json.dumps(found, indent=2) if args.json else as_text(found))
    return 0


def _aged(name: str, made: recipe.Recipe, seed: int) -> dict[str, Any]:
    """A new file system on the disk, aged and checked."""
    node = f"/dev/mapper/{name}"
    done = dm.run(*FILE_SYSTEMS[made.fs].mkfs, *made.mkfs.split(), node)
    if done.returncode:
        raise UserError(f"{FILE_SYSTEMS[made.fs].mkfs[0]}: {done.stderr.strip()}")
    with tempfile.TemporaryDirectory(prefix="david-age.") as top:
        done = dm.run("mount", node, top)
        if done.returncode:
            raise UserError(f"mount: {done.stderr.strip()}")
        try:
            return aging.age(top, made, seed)
        except OSError as error:
            raise UserError(f"aging: {error.strerror}; is --backing too small? see david plan") from None
        finally:
            dm.run("umount", top)


def age(args: argparse.Namespace) -> int:
    need_root("age")
    changes = {"size": args.size, "fs": args.fs, "profile": args.profile, "files": args.files}
    made = recipe.load(args.recipe, changes)
    name = f"age-{os.getpid()}"
    create_disk(DiskParameters(
        name, args.backing, size=made.size, profile=made.profile, mode="speedup", format=args.format))
    try:
        say(f"aging {format_both(made.size)} of {made.fs}: {made.files} files, churn {made.churn}")
        found = _aged(name, made, args.seed)
        disk.push(name, args.out, args.force, {"aged": found})
    finally:
        take_away(name)
    say(f"wrote {args.out}, {format_size(os.path.getsize(args.out))}: {pieces_of(found)}")
    return 0


def add_parsers(sub: Commands) -> None:
    parser = sub.add_parser("image", help="a disk as one file with a description, to hand on and start from",
                            description="Write a disk to one file with a description and checksums, and make "
                            "a disk of such a file.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    one = actions.add_parser("push", help="write a disk, which nobody uses, to a file")
    one.add_argument("name", metavar="NAME", type=name_arg)
    one.add_argument("file", metavar="FILE")
    one.add_argument("--note", metavar="TEXT", help="what else the description is to say")
    one.add_argument("--force", action="store_true", help="replace FILE if it exists")
    one.set_defaults(func=image_push)
    one = actions.add_parser("pull", help="make the store of an image on a blank device; it is checked first")
    one.add_argument("file", metavar="FILE")
    one.add_argument("--backing", metavar="DEV", required=True)
    one.add_argument("--format", action="store_true", help="overwrite what is on the device")
    one.add_argument("--name", metavar="NAME", type=name_arg, help="make the disk, too, with its drive")
    one.set_defaults(func=image_pull)
    one = actions.add_parser("show", help="check an image, and print its description")
    one.add_argument("file", metavar="FILE")
    one.add_argument("--json", action="store_true")
    one.set_defaults(func=image_show)
    parser = sub.add_parser(
        "age", help="make an image with an aged file system, by a recipe",
        description="Make a disk with a file system, fill it, delete and make files until it is old, and "
        f"write it to a file as david image does. Recipes: {', '.join(recipe.BUILT_IN)}, or a TOML file.",
        epilog=f"example:\n  {DAVID} age archive --backing /dev/ram0 -o archive.image",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", metavar="RECIPE")
    parser.add_argument("--backing", metavar="DEV", required=True, help="a blank device to work on")
    parser.add_argument("-o", dest="out", metavar="FILE", required=True, help="the image to be written")
    parser.add_argument("--size", metavar="SIZE", help="of the disk, instead of the recipe's")
    parser.add_argument("--fs", metavar="F", choices=recipe.SYSTEMS, help="instead of the recipe's")
    parser.add_argument("--profile", metavar="P", help="drive, instead of the recipe's")
    parser.add_argument("--files", metavar="N", type=int, help="how many, instead of the recipe's")
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="another one gives another layout")
    parser.add_argument("--format", action="store_true", help="overwrite what is on the device")
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.set_defaults(func=age)
