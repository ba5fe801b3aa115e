# SPDX-License-Identifier: GPL-2.0
"""david info: what a disk is: drive, scaling, modelled host, options, rules, and what is assumed."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..command import Commands, add
from ..drive import files, profile_bench, profileword, worth
from ..sizes import SECTOR, format_both
from ..util import DAVID
from . import dm, zones
from .create import kept_in_scaling
from .dm import need_disk, need_root
from .parameters import name_arg

# Of the profile, the host in front of the drive: model/host/WHY.md.
HOST = ("host", "scheduler", "nr_requests", "max_sectors", "plug_time", "ncq_depth")
DRIVE = ("rpm", "heads", "write_cache", "read_cache", "write_zeroes", "logical_block", "physical_block")


def _items(word: profileword.Word) -> dict[str, str]:
    """Those that stand in a profile once."""
    pairs = (item.partition("=") for item in word.items)
    return {key: value for key, _, value in pairs if key not in profileword.REPEATED}


def _assumed(name: str) -> str:
    """How much of the drive's shipped profile is measured, published or assumed; "" if it is not shipped."""
    if name not in files.names():
        return ""
    return profile_bench.grade_text(profile_bench.grade(files.path_of(name).read_text()))


def _worth(name: str) -> dict[str, Any]:
    """Who has measured the drive, or its class, by kind of job; empty if its name says neither."""
    found = worth.of_name(name)
    return found.as_dict() if found else {}


# What an SSD's map begins with: model/flash/WHY.md.
PASTS = {
    "fresh": "what the disk has lies in order, and what it has not was never written",
    "sequential": "what the disk has lies in order, and {fill} of the drive was written in order before",
    "random": "what the disk has lies page by page, and {fill} of the drive was overwritten at random before",
}


def _flash(items: dict[str, str]) -> str:
    """"" of a drive without flash."""
    if items.get("kind") != "ssd":
        return ""
    past = items.get("precondition", "fresh")
    fill = f"{float(items.get('precondition_fill', 1)) * 100:g} %"
    return f"precondition={past}: {PASTS[past].format(fill=fill)}; the SLC cache is empty at first"


def _drive(word: profileword.Word, size: int) -> dict[str, Any]:
    items, capacity = _items(word), word.capacity()
    return {
        "drive": word.name(),
        "capacity": capacity,
        "scaled": size != capacity,
        "parameters": {key: items[key] for key in DRIVE if key in items},
        "host": {key: items[key] for key in HOST if key in items},
        "flash": _flash(items),
        "sources": _assumed(word.name()),
        "worth": _worth(word.name()),
    }


def of_disk(name: str) -> dict[str, Any]:
    """The same, of a disk that may not be there: DeviceError says so."""
    need_root("info")
    need_disk(name)
    return describe(name)


def describe(name: str) -> dict[str, Any]:
    """Everything that the table line says, in order."""
    device = next(device for device in dm.devices() if device.name == name)
    size = device.sectors * SECTOR
    words = dict(word.split("=", 1) for word in device.words if "=" in word)
    text = words.pop("profile", None)
    found: dict[str, Any] = {"name": name, "size": size, "backing": device.backing, "options": words}
    found["rules"] = dm.dmsetup("message", name, "0", "raw", "list").split()
    found["faults"] = words.get("faults", "none").split(",")
    if words.get("zones"):
        found["zones"] = zones.describe(name)
    if text:
        found |= _drive(profileword.parse(text, "table"), size)
    return found


def _row(label: str, text: str) -> str:
    return f"  {label:<12} {text}"


def as_text(found: dict[str, Any]) -> str:
    lines = [f"{found['name']}: {format_both(found['size'])} on {found['backing']}"]
    if "drive" in found:
        lines.append(_row("drive", f"{found['drive']}, {format_both(found['capacity'])}"))
        if found["scaled"]:
            share = f"{100 * found['size'] / found['capacity']:.4g} % of it"
            lines.append(_row("scaled", f"to {share}: {kept_in_scaling('zones' in found)}"))
        for title in ("parameters", "host"):
            lines.append(_row(title, ", ".join(f"{key}={value}" for key, value in found[title].items())))
        if found["flash"]:
            lines.append(_row("flash", found["flash"]))
        lines.append(_row("sources", found["sources"] or "of a profile that is not in profiles/"))
        value = worth.of_name(found["drive"])
        unknown = "unknown: the drive is no shipped one, and its name has no class"
        lines.append(_row("worth", worth.named(value) if value else unknown))
    else:
        lines.append(_row("drive", "none: no times, as fast as it can"))
    if "zones" in found:
        lines.append(_row("zones", zones.as_text(found["zones"])))
    lines.append(_row("options", " ".join(f"{key}={value}" for key, value in found["options"].items())))
    lines.append(_row("faults", " ".join(found["faults"])))
    lines.append(_row("RAW rules", " ".join(found["rules"]) or "none"))
    return "\n".join(lines)


def info(args: argparse.Namespace) -> int:
    found = of_disk(args.name)
    print(json.dumps(found, indent=2) if args.json else as_text(found))
    return 0


def add_parsers(sub: Commands) -> None:
    parser = add(
        sub,
        "info",
        info,
        "tell what a fake disk is: drive, scaling, modelled host, options, rules, what is assumed",
        f"  {DAVID} info big",
    )
    parser.add_argument("name", metavar="NAME", type=name_arg)
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")
