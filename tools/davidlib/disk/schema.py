# SPDX-License-Identifier: GPL-2.0
"""david schema: what is in the JSON of a command, as a JSON Schema (draft 7). tests/system/test_schema.py
holds what the commands print to it.

Of the commands with figures it is made of docs/figures.toml, the one table of them. The others are below:
each name, its type, and what it is.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from ..command import Commands, add
from ..nearest import did_you_mean
from ..util import DAVID, FIGURES, UserError

Schema = dict[str, Any]
# By command: its part of docs/figures.toml.
OF_FIGURES = {"stats": "stats", "top": "top", "sim": "blocks", "choose": "choose",
              "david-sim bench": "sim", "david-sim rebuild": "rebuild"}
# What only some of them have: an SSD, an array, a trace with times, a part of a disk's life.
ALWAYS = ("stats", "top", "rebuild")
PROGRAMS = ("david-sim bench", "david-sim rebuild")
DRAFT = "http://json-schema.org/draft-07/schema#"


def one(kind: str | list[str], meaning: str) -> Schema:
    return {"type": kind, "description": meaning}


def thing(meaning: str, fields: dict[str, Schema], optional: tuple[str, ...] = ()) -> Schema:
    """An object that has these, and nothing else."""
    return {"type": "object", "description": meaning, "properties": fields, "additionalProperties": False,
            "required": [name for name in fields if name not in optional]}


def many(meaning: str, items: Schema) -> Schema:
    return {"type": "array", "description": meaning, "items": items}


def words_of(meaning: str) -> Schema:
    return {"type": "object", "description": meaning, "additionalProperties": {"type": "string"}}


def by_name(meaning: str, items: Schema) -> Schema:
    return {"type": "object", "description": meaning, "minProperties": 1, "additionalProperties": items}


TEXT, TRUTH, COUNT, NUMBER = "string", "boolean", "integer", "number"
MAYBE = ["integer", "null"]
BYTES = "in bytes"

FINDINGS = many("one a question", thing("a finding", {
    "what": one(TEXT, "the question"),
    "good": one(TRUTH, "nothing is wrong"),
    "text": one(TEXT, "the answer"),
}))
WORTH: Schema = {
    "type": "object", "description": "by kind of job, such as reads",
    "additionalProperties": thing("what a profile is worth of such jobs", {
        "grade": one(TEXT, "drive: this one was measured; class: others of its class; assumed: neither"),
        "held": one(COUNT, "figures that were measured on this drive, and that nothing was fitted to"),
        "fitted": one(COUNT, "figures of this drive that parameters were fitted to"),
        "published": one(COUNT, "figures of this drive that a data sheet alone has"),
        "others": one(COUNT, "drives of the class with figures that are held, this one left out"),
        "factor": one(["number", "null"], "a figure may be off by so many times; null if unknown"),
    }),
}
WRITTEN: dict[str, Schema] = {
    "list": many("the fake disks that there are", thing("a disk", {
        "name": one(TEXT, "of the device, /dev/mapper/NAME"),
        "size": one(COUNT, f"of the disk, {BYTES}"),
        "backing": one(TEXT, "the device that holds what is kept"),
        "state": one(["string", "null"], "ok, low, full or failed; null if it does not tell"),
        "stored": one(MAYBE, f"in use of its store, {BYTES}"),
        "store": one(MAYBE, f"all that its store has for blocks, {BYTES}"),
        "zones": one(COUNT, "that it has; 0 without"),
        "options": many("words of the table line; of the profile its name alone", one(TEXT, "KEY=VALUE")),
    })),
    "profile list": many("the drives of profiles/", thing("a drive", {
        "name": one(TEXT, "as --profile takes it"),
        "file": one(TEXT, "its profile"),
        "kind": {"enum": ["disk", "ssd", "memory"], "description": "of drive"},
        "capacity": one(COUNT, BYTES),
        "rpm": one(["number", "null"], "turns a minute; null without platters"),
        "heads": one(MAYBE, "null without platters"),
    })),
    "profile show": thing("a profile", {
        "file": one(TEXT, "where it is"),
        "parameters": {
            "type": "object", "description": "all, by name, with their units, as a profile has them",
            "additionalProperties": {"oneOf": [{"type": TEXT}, {"type": "array", "items": {"type": TEXT}}]},
        },
    }),
    "profile worth": by_name("by profile: who has measured such a drive", thing("what a profile is worth", {
        "class": one(TEXT, "of drives; empty if it is of none"),
        "doubt": one(TEXT, "why nobody vouches for the profile; empty if somebody does"),
        "kinds": WORTH,
    })),
    "fault presets": by_name("by preset: how drives were seen to fail", thing("a preset", {
        "says": one(TEXT, "what happens"),
        "faults": one(TEXT, "the faults, as create and david-sim take them"),
        "source": one(TEXT, "who published it"),
        "common": one(TEXT, "how many drives it befalls"),
        "assumed": one(TEXT, "what nobody published"),
    })),
    "fault list": thing("what fails of a disk's drive", {
        "age_ns": one(COUNT, "of the drive, in ns"),
        "faults": many("by number, from 0 on: the kind, and its words as the table line has them", {
            "type": "object", "required": ["kind"], "additionalProperties": {"type": TEXT},
        }),
        "moved": many("runs of sectors that were moved to spare blocks", one(TEXT, "FIRST-LAST")),
    }),
    "classify": thing("which blocks of an image are metadata", {
        "volumes": many("one a file system", thing("a file system", {
            "type": {"enum": ["ext", "btrfs", "xfs"]},
            "start_sector": one(COUNT, "where it begins, in sectors of 512 bytes"),
            "block_size": one(COUNT, BYTES),
            "blocks": one(COUNT, "of it, in its blocks"),
            "metadata": one(COUNT, "blocks of it"),
            "errors": one(COUNT, "parts that made no sense and were left out"),
            "bigalloc": one(TRUTH, "does a bit of ext's bitmaps stand for several blocks?"),
            "count": {"type": "object", "description": "blocks by kind, such as inode-table",
                      "additionalProperties": one(COUNT, "blocks")},
            "ranges": many("of metadata; none with --summary", {
                "type": "array", "description": "first block, how many, kind", "minItems": 3, "maxItems": 3,
                "items": [one(COUNT, "block"), one(COUNT, "blocks"), one(TEXT, "kind")],
            }),
        })),
    }),
    "info": thing("what a disk is", {
        "name": one(TEXT, "of the device"),
        "size": one(COUNT, BYTES),
        "backing": one(TEXT, "the device that holds what is kept"),
        "options": words_of("words of the table line, without the profile"),
        "rules": many("RAW rules", one(TEXT, "a rule")),
        "faults": many("what fails of the drive; `none`", one(TEXT, "a fault")),
        "zones": thing("of a disk with zones", {
            "count": one(COUNT, "zones"),
            "size": one(COUNT, f"of each, {BYTES}"),
            "capacity": one(COUNT, f"of each that is written in order, {BYTES}"),
            "conventional": one(COUNT, "zones that are written anywhere"),
            "max_open": one(COUNT, "at a time; 0: no limit"),
            "max_active": one(COUNT, "open or closed, at a time; 0: no limit"),
            "append": one(COUNT, f"the largest append, {BYTES}"),
            "written": one(COUNT, f"in zones that are written in order, {BYTES}"),
            "conditions": {"type": "object", "description": "by condition, zones that are written in order",
                           "additionalProperties": one(COUNT, "zones")},
        }),
        "drive": one(TEXT, "name of the profile"),
        "capacity": one(COUNT, f"of the drive, {BYTES}"),
        "scaled": one(TRUTH, "is the disk's size another one than the drive's?"),
        "parameters": words_of("of the drive, as its profile says them"),
        "host": words_of("of the modelled host"),
        "flash": one(TEXT, "what an SSD's map begins with; empty of others"),
        "sources": one(TEXT, "how many parameters are measured, published, assumed; empty if nobody knows"),
        "worth": thing("who has measured the drive, or its class; empty if its name says neither", {
            "class": one(TEXT, "of drives; empty if it is of none"),
            "doubt": one(TEXT, "why nobody vouches for the profile; empty if somebody does"),
            "kinds": WORTH,
        }, ("class", "doubt", "kinds")),
    }, ("zones", "drive", "capacity", "scaled", "parameters", "host", "flash", "sources", "worth")),
    "check": thing("was a run valid? Of an array or a pool: of all, and of each disk", {
        "valid": one(TRUTH, "nothing was wrong"),
        "findings": FINDINGS,
        "name": one(TEXT, "of the array or the pool"),
        "kind": {"enum": ["array", "pool"]},
        "members": many("one each", thing("a disk", {
            "name": one(TEXT, "of the disk"), "valid": one(TRUTH, "nothing was wrong"), "findings": FINDINGS,
        })),
    }, ("name", "kind", "members")),
    "array show": thing("an array", {
        "name": one(TEXT, "of the array"),
        "device": one(TEXT, "of md"),
        "level": one(TEXT, "0, 1, 4, 5, 6 or 10"),
        "size": one(COUNT, BYTES),
        "chunk": one(COUNT, f"{BYTES}; 0 if the level has none"),
        "layout": one(COUNT, "md's number"),
        "state": one(TEXT, "md's word"),
        "degraded": one(COUNT, "members that are missing"),
        "mismatch_sectors": one(COUNT, "that the last check found"),
        "action": one(TEXT, "md's word; empty if the level has no redundancy"),
        "action_done": one(["number", "null"], "share of it; null if nothing is going on"),
        "members": many("one each", thing("a member", {
            "number": one(COUNT, "from 0 on"),
            "disk": one(TEXT, "name of the fake disk"),
            "state": one(TEXT, "md's word"),
            "stored": one(COUNT, f"in use of its store, {BYTES}"),
        })),
    }),
    "pool show": thing("a pool", {
        "name": one(TEXT, "of it"),
        "device": one(TEXT, "that it is on"),
        "size": one(MAYBE, BYTES),
        "shares": one(TRUTH, "are blocks of the same content stored once?"),
        "free": one(MAYBE, f"for the last disk in use, {BYTES}; null if none is"),
        "saved": one(MAYBE, f"as disks have the same blocks, {BYTES}; null if none is in use"),
        "disks": many("one each", thing("a disk", {
            "name": one(TEXT, "in the pool"),
            "size": one(COUNT, BYTES),
            "used": one(COUNT, f"of the pool, {BYTES}"),
            "reserve": one(COUNT, f"that others cannot take, {BYTES}"),
            "log": one(COUNT, f"of its log, {BYTES}"),
            "state": one(TEXT, "ok, low, full, failed; of one that is not in use what its store says"),
            "device": one(["string", "null"], "null if it is not in use"),
        })),
    }),
    "plan": thing("how large a backing device must be", {
        "fs": one(TEXT, "the file system"),
        "size": one(COUNT, f"of the disk, {BYTES}"),
        "files": one(COUNT, "how many"),
        "data": one(COUNT, f"in them, {BYTES}"),
        "made": one(COUNT, f"stored of what mkfs writes, {BYTES}"),
        "journal": one(COUNT, f"of the journal, once all of it was written, {BYTES}"),
        "for_data": one(COUNT, f"for the data: bitmaps, block lists, checksums, {BYTES}"),
        "for_files": one(COUNT, f"for the files, {BYTES}"),
        "least": one(COUNT, f"of the backing device, to make the file system, {BYTES}"),
        "enough": one(COUNT, f"of the backing device, for all of it, {BYTES}"),
    }),
}


def expanded(path: str) -> Iterator[list[str]]:
    """A path of the table with {one,another} in it as several, by their names; braces may have dots."""
    pieces = re.split(r"\{([^}]*)\}", path)
    choices = [piece.split(",") if place % 2 else [piece] for place, piece in enumerate(pieces)]
    for words in itertools.product(*choices):
        yield "".join(words).split(".")


def _leaf(row: dict[str, Any]) -> Schema:
    """A number where it has a unit, or none; a list of them is a histogram."""
    per = f"; divided by {row['per']}" if row.get("per") else ""
    unit = f", in {row['unit']}" if row["unit"] else ""
    leaf: Schema = {"description": f"{row['meaning']}{unit}{per}"}
    if row["unit"] and not row.get("text"):
        number: Schema = {"type": ["number", "boolean", "null"]}
        leaf["anyOf"] = [number, {"type": "array", "items": number}]
    return leaf


def of_figures(rows: list[dict[str, Any]], always: bool) -> Schema:
    """Each path of the table is one of the schema; no other one may be printed."""
    top: Schema = {"type": "object", "properties": {}, "additionalProperties": False}
    for row in rows:
        for names in expanded(row["path"]):
            place = top
            for name in names[:-1]:
                place = _below(place, name)
                place.setdefault("type", ["object", "array", "null"])
                place.setdefault("properties", {})
                place.setdefault("additionalProperties", False)
            _put(place, names[-1], _leaf(row))
    if always:
        _require(top)
    return top


def _below(place: Schema, name: str) -> Schema:
    if name != "*":
        return place.setdefault("properties", {}).setdefault(name, {})
    if not isinstance(place.get("items"), dict):
        place["items"] = {}
        place["additionalProperties"] = place["items"]
    return place["items"]


def _put(place: Schema, name: str, leaf: Schema) -> None:
    if name == "*":
        place["items"] = place["additionalProperties"] = leaf
    else:
        place.setdefault("properties", {})[name] = leaf


def _require(place: Schema) -> None:
    if names := list(place.get("properties", {})):
        place["required"] = names
        place["type"] = "object"
    for below in place.get("properties", {}).values():
        _require(below)


def _of_group(meaning: str, fields: dict[str, Schema]) -> Schema:
    return thing(meaning, {"name": one(TEXT, "of it"), "kind": {"enum": ["array", "pool"]}, **fields})


def commands() -> list[str]:
    return sorted([*OF_FIGURES, *WRITTEN])


def of(command: str) -> Schema:
    """The schema of what a command prints with --json. UserError of one that has none."""
    if command in OF_FIGURES:
        table = tomllib.loads(FIGURES.read_text(encoding="utf-8"))
        name = OF_FIGURES[command]
        found = of_figures(table[name]["figure"], name in ALWAYS)
        if name == "stats":
            found["properties"]["since"] = one(TEXT, "of which part of the disk's life; not there of all")
            found = {"anyOf": [found, _of_group("figures of an array or a pool, in its disks' whole lives", {
                "sum": one("object", "as of one disk: counts and times added up, the worst state, no places"),
                "members": many("one each", found),
            })]}
    elif command in WRITTEN:
        found = WRITTEN[command]
    else:
        raise UserError(f"schema: COMMAND {command}: has none; "
                        + did_you_mean(command, commands(), f"there are {', '.join(commands())}"))
    title = command if command in PROGRAMS else f"david {command}"
    return {"$schema": DRAFT, "title": f"{title} --json", **found}


def schema(args: argparse.Namespace) -> int:
    if not args.words:
        print("\n".join(commands()))
        return 0
    print(json.dumps(of(" ".join(args.words)), indent=2))
    return 0


def add_parsers(sub: Commands) -> None:
    text = "print what a command's --json has in it, as a JSON Schema"
    parser = add(sub, "schema", schema, text, f"  {DAVID} schema profile list\n  {DAVID} schema")
    text = "such as stats, or profile list (default: list those that have one)"
    parser.add_argument("words", metavar="COMMAND", nargs="*", help=text)
