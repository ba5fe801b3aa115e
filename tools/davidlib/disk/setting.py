# SPDX-License-Identifier: GPL-2.0
"""david set: what of a live disk can be changed at once. All that is named is changed, or nothing is."""

from __future__ import annotations

import argparse
import re

from ..command import Commands, add
from ..util import DAVID
from . import dm
from .dm import DeviceError, need_disk, need_root
from .parameters import name_arg
from .kmsg import KernelLog

# Each is a message of the kernel's, and a word of the table line that has its value.
SETTINGS = ("mode", "content", "files")


def setting(text: str) -> tuple[str, str]:
    """An argparse type: KEY=VALUE of SETTINGS."""
    key, equals, value = text.partition("=")
    if key not in SETTINGS or not equals or not value or any(char.isspace() for char in value):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not one of {', '.join(f'{name}=VALUE' for name in SETTINGS)}; "
            "the rest of a disk changes with a new table (dmsetup reload)"
        )
    return key, value


def values(name: str) -> dict[str, str]:
    """The settings as they are."""
    words = dm.dmsetup("table", name).split()
    return {key: value for key, _, value in (word.partition("=") for word in words) if key in SETTINGS}


def message(name: str, *words: str) -> str:
    """Send a message, and return what is answered. If it is refused, the kernel's log says why."""
    with KernelLog() as log:
        try:
            return dm.dmsetup("message", name, "0", *words)
        except DeviceError as error:
            # The newest line of this target; else dmsetup's own words.
            lines = [line for line in log.new_lines() if "david" in line]
            says = re.sub(r"^.*?: david: (\d+:\d+: )?", "", lines[-1]) if lines else error
            raise DeviceError(f"{'='.join(words)}: {says}") from None


def change(name: str, wanted: list[tuple[str, str]]) -> None:
    """Change all, in this order. What was changed before one that is refused gets its old value again."""
    before = values(name)
    done: list[str] = []
    try:
        for key, value in wanted:
            message(name, key, value)
            done.append(key)
    except DeviceError:
        for key in reversed(done):
            message(name, key, before[key])
        raise


def set_values(args: argparse.Namespace) -> int:
    need_root("set")
    need_disk(args.name)
    change(args.name, args.setting)
    print(" ".join(f"{key}={value}" for key, value in values(args.name).items()))
    return 0


def add_parsers(sub: Commands) -> None:
    parser = add(
        sub,
        "set",
        set_values,
        "change a live disk's mode, content or files",
        f"  {DAVID} set big mode=speedup        # fill at full speed\n"
        f"  {DAVID} set big mode=timing-accurate # then measure",
    )
    parser.add_argument("name", metavar="NAME", type=name_arg)
    parser.add_argument(
        "setting",
        metavar="KEY=VALUE",
        type=setting,
        nargs="+",
        help="mode=, content= or files=, as in david create",
    )
