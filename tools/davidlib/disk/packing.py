# SPDX-License-Identifier: GPL-2.0
"""david pack: what a live disk keeps, in fewer places of its store."""

from __future__ import annotations

import argparse

from ..command import Commands, add
from ..sizes import format_size
from ..util import DAVID
from . import setting
from .dm import need_disk, need_root
from .parameters import name_arg

BLOCK = 4096
STOPPED = {
    "suspended": "the disk was to be suspended",
    "killed": "it was killed",
    "full": "the store has no room for another pack",
    "table": "half of the ranges that the table may have are in use",
}


def pack(args: argparse.Namespace) -> int:
    need_root("pack")
    need_disk(args.name)
    said = dict(word.split("=", 1) for word in setting.message(args.name, "pack").split())
    blocks, places = int(said["blocks"]), int(said["places"])
    sizes = [format_size(BLOCK * count) for count in (blocks, places)]
    line = f"{blocks} blocks packed in {places}: {sizes[0]} in {sizes[1]}"
    if int(said["changed"]):
        line += f"; {said['changed']} were written meanwhile, and stay as they are"
    print(line)
    why = said["stopped"]
    if why != "no":
        print(f"ended early: {STOPPED.get(why, why)}")
    return 0


def add_parsers(sub: Commands) -> None:
    parser = add(
        sub,
        "pack",
        pack,
        "put what a live disk keeps into fewer places of its store",
        f"  {DAVID} pack big      # it reads as before, through a decoder",
    )
    parser.add_argument("name", metavar="NAME", type=name_arg)
