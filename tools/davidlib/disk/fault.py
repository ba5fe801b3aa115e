# SPDX-License-Identifier: GPL-2.0
"""david fault: what fails of a live disk's modelled drive, where and when. See docs/MODEL.md."""

from __future__ import annotations

import argparse
import json
import re
from fractions import Fraction
from typing import Any

from ..command import Commands
from ..drive import presets
from ..sizes import SECTOR, format_size, size_arg
from ..util import DAVID, UserError
from . import setting
from .dm import need_disk, need_root, size_of
from .parameters import OneOf, name_arg

KINDS = ("media-error", "slow", "timeout", "firmware-stall", "gone")
MOST_ONE_IN = 1 << 40
# Options that are words of the text as they are.
WORDS = ("sectors", "one_in", "seed", "over", "factor", "from", "for", "every")
PAST = ("moved", "drawn")  # no faults: what became of them


def sectors_arg(text: str) -> str:
    if not re.fullmatch(r"\d+-\d*", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form A-B, or A- to the end")
    return text


def time_word(text: str) -> str:
    if not re.fullmatch(r"\d+(ns|us|ms|s|m|h|d)|0", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number with ns, us, ms, s, m, h or d")
    return text


def one_in_arg(text: str) -> str:
    """A share from 0 to 1, as one in so many."""
    try:
        rate = Fraction(text)
    except (ValueError, ZeroDivisionError):
        rate = Fraction(0)
    if not Fraction(1, MOST_ONE_IN) <= rate <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no share above 0 and up to 1, such as 1e-6")
    return str(round(1 / rate))


def seed_arg(text: str) -> int:
    """As model/fault/fault-text.c takes it."""
    if not text.isascii() or not text.isdecimal() or int(text) >= 1 << 64:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 0 to {(1 << 64) - 1}")
    return int(text)


def _of_preset(args: argparse.Namespace) -> str:
    """A preset's faults, for this disk's size."""
    for word in WORDS:
        if word != "seed" and getattr(args, f"fault_{word}") is not None:
            raise UserError("--preset has all words of its faults, and takes only --seed")
    sectors = size_of(f"/dev/mapper/{args.name}") // SECTOR
    return presets.text_of(args.preset, sectors, args.fault_seed or 0)


def text_of(args: argparse.Namespace) -> str:
    """The fault, as the table line has it."""
    if args.preset:
        return _of_preset(args)
    words = ((word, getattr(args, f"fault_{word}")) for word in WORDS)
    return ":".join((args.kind, *(f"{word}={value}" for word, value in words if value is not None)))


def _listed(name: str) -> dict[str, str]:
    """What the kernel says: age, shift, faults."""
    return dict(word.split("=", 1) for word in setting.message(name, "fault", "list").split())


def items(text: str) -> list[dict[str, Any]]:
    """The faults of a table line, and what became of them."""
    found = []
    for item in text.split(",") if text != "none" else ():
        kind, *words = item.split(":")
        found.append({"kind": kind, **dict(word.split("=", 1) for word in words)})
    return found


def add(args: argparse.Namespace) -> int:
    need_root("fault")
    need_disk(args.name)
    text = text_of(args)
    setting.message(args.name, "fault", "add", text)
    print(text)
    return 0


def remove(args: argparse.Namespace) -> int:
    need_root("fault")
    need_disk(args.name)
    if args.number != "all" and not args.number.isdecimal():
        raise UserError(f"NUMBER '{args.number}' is no number of 'david fault list', and not 'all'")
    setting.message(args.name, "fault", "remove", args.number)
    return 0


def describe(name: str) -> dict[str, Any]:
    """As `fault list --json` prints it: the drive's age, its faults by number, runs that were moved."""
    listed = _listed(name)
    found = items(listed["faults"])
    return {
        "age_ns": int(listed["age"].removesuffix("ns")),
        "faults": [item for item in found if item["kind"] not in PAST],
        "moved": [item["sectors"] for item in found if item["kind"] == "moved"],
    }


def show(args: argparse.Namespace) -> int:
    need_root("fault")
    need_disk(args.name)
    said = describe(args.name)
    age, faults, moved = said["age_ns"], said["faults"], said["moved"]
    if args.json:
        print(json.dumps(said, indent=2))
        return 0
    print(f"age {age / 1e9:.3f} s")
    for number, item in enumerate(faults):
        words = " ".join(f"{key}={value}" for key, value in item.items() if key != "kind")
        print(f"{number:>3}  {item['kind']:<15} {words}".rstrip())
    for run in moved:
        first, last = map(int, run.split("-"))
        print(f"     moved           sectors={run}: {format_size((last - first + 1) * SECTOR)}")
    if not faults:
        print("no faults")
    return 0


def show_presets(args: argparse.Namespace) -> int:
    sectors = args.size // SECTOR
    if args.preset and not args.json:
        print(presets.text_of(args.preset, sectors, args.seed))
        return 0
    found = {name: {"says": one.says, "faults": one.text(sectors, args.seed), "source": one.source,
                    "common": one.common, "assumed": one.assumed} for name, one in presets.PRESETS.items()
             if args.preset in (None, name)}
    if args.json:
        print(json.dumps(found, indent=2))
        return 0
    for name, words in found.items():
        print(f"{name}: {words.pop('says')}", words.pop("faults"),
              *(f"{key}: {text}" for key, text in words.items()), sep="\n    ")
    return 0


def _option(parser: argparse.ArgumentParser, word: str, **how: Any) -> None:
    """--WORD, which the result has as fault_WORD: from and for are no names in Python."""
    parser.add_argument(f"--{word}", dest=f"fault_{how.pop('dest', word)}", default=None, **how)


def add_parsers(sub: Commands) -> None:
    parser = sub.add_parser("fault", help="make a drive fail: bad sectors, timeouts, a slow drive",
                            description="Make a fake disk's drive fail. docs/MODEL.md tells how.")
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser(
        "add", help="one fault more", description="One fault more, from now on.",
        epilog=f"examples:\n  {DAVID} fault add big --kind media-error --sectors 4096-4103\n"
               f"  {DAVID} fault add big --kind media-error --rate 1e-6 --seed 7\n"
               f"  {DAVID} fault add big --kind slow --factor 8 --from 1h --for 10m --every 1d",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    action.set_defaults(func=add)
    action.add_argument("name", metavar="NAME", type=name_arg)
    what = action.add_mutually_exclusive_group(required=True)
    what.add_argument("--kind", type=OneOf(KINDS), metavar="KIND", help=", ".join(KINDS))
    what.add_argument("--preset", type=OneOf(tuple(presets.PRESETS)), metavar="PRESET",
                      help="a way in which drives were seen to fail: david fault presets; takes --seed")
    _option(action, "sectors", type=sectors_arg, metavar="A-B", help="of 512 bytes, both included; else all")
    _option(action, "rate", dest="one_in", type=one_in_arg, metavar="R",
            help="share of the blocks, or of the requests; else each")
    _option(action, "seed", type=seed_arg, metavar="N", help="draws them; else 0")
    _option(action, "over", type=time_word, metavar="TIME", help="until that share is bad; else at once")
    _option(action, "factor", metavar="F", help="of slow: times the usual time, 1 to 10000")
    _option(action, "from", type=time_word, metavar="AGE", help="of the drive, when it begins; else at once")
    _option(action, "for", type=time_word, metavar="TIME", help="so long it lasts; else for ever")
    _option(action, "every", type=time_word, metavar="TIME", help="it comes again; else once")
    action = actions.add_parser(
        "presets", help="ways in which drives were seen to fail",
        description="Ways in which drives were seen to fail: what was published, and what is assumed.")
    action.set_defaults(func=show_presets)
    action.add_argument("preset", metavar="PRESET", nargs="?", type=OneOf(tuple(presets.PRESETS)),
                        help="print its faults, as create and david-sim take them, and nothing else; with "
                        "--json all of it")
    action.add_argument("--size", type=size_arg, default=1 << 40, metavar="SIZE", help="of the disk; else 1T")
    action.add_argument("--seed", type=seed_arg, default=0, metavar="N", help="draws where it fails; else 0")
    action.add_argument("--json", action="store_true", help="as JSON, for programs")
    action = actions.add_parser("list", help="what fails, and what was moved to spare blocks",
                                description="What fails, by number, and what was moved to spare blocks.")
    action.set_defaults(func=show)
    action.add_argument("name", metavar="NAME", type=name_arg)
    action.add_argument("--json", action="store_true", help="as JSON, for programs")
    action = actions.add_parser("remove", help="one fault less, or none",
                                description="One fault less, or none. What was moved stays where it is.")
    action.set_defaults(func=remove)
    action.add_argument("name", metavar="NAME", type=name_arg)
    action.add_argument("number", metavar="NUMBER", help="of 'david fault list', or all")
