#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Every page by every way of ways.toml. In a lab: `try FILE` tries them all, and writes what it finds. On the
host: `table FILE...` prints the files of several kernels beside each other. `make ways` does both.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tomllib
import traceback
from pathlib import Path

# On stock kernels, without KVM, a layer takes half a minute.
MODES = {"uml": ("auto", "explicit"), "vm": ("auto",)}
WAYS = Path(__file__).with_name("ways.toml")


def try_all(path: str, layers: list[str]) -> int:
    from helpers.guest import say
    from helpers.waylayers import LAYERS
    from helpers.waypages import NotBuilt, tried, ways

    found: list[dict[str, str]] = []
    for layer in layers or LAYERS:
        for mode in MODES[os.environ["DAVID_LAB"]]:
            missing = wrong = ""
            try:
                for cell in tried(layer, mode):
                    row = {"page": cell.way.page, "layer": layer, "mode": mode}
                    found.append({**row, "found": cell.found, "wrong": cell.wrong})
                continue
            except NotBuilt as error:
                missing = " ".join(str(error).split())[:200]
            except Exception:
                wrong = " ".join(traceback.format_exc(limit=-2).split())[:400]
            say(f"ways: {layer}, {mode}: {missing or wrong}")
            for way in ways():
                if way.layer == layer:
                    row = {"page": way.page, "layer": layer, "mode": mode, "wrong": wrong}
                    found.append({**row, "found": "not here" if missing else "broken", "missing": missing})
        Path(path).write_text(json.dumps(found))
        say(f"ways: {layer}: done")
    return 0


def short(row: dict[str, str] | None) -> str:
    if not row:
        return "NOT TRIED"
    return ("WRONG " if row["wrong"] else "") + row["found"].removesuffix(" dropped")


def table(paths: list[str]) -> int:
    """One line a way, one column a kernel and mode. 1: something is wrong, or was not tried."""
    with open(WAYS, "rb") as file:
        ways = tomllib.load(file)["ways"]
    kernels = {Path(path).stem: json.loads(Path(path).read_text()) for path in paths}
    columns = [(kernel, mode) for kernel in kernels for mode in MODES[kernel.partition("-")[0]]]
    lines = [["page", "layer", "right", *(f"{kernel} {mode}" for kernel, mode in columns)]]
    notes: dict[str, None] = {}
    bad = 0
    for way in ways:
        line = [way["page"], way["layer"], way.get("right", "none")]
        for kernel, mode in columns:
            key = {"page": way["page"], "layer": way["layer"], "mode": mode}
            row = next((row for row in kernels[kernel] if key.items() <= row.items()), None)
            line.append(short(row))
            bad += not row or bool(row["wrong"])
            if row and (row["wrong"] or row.get("missing")):
                what = row["wrong"] or f"not here: {row['missing']}"
                notes[f"{kernel}, {mode}, {way['layer']}, {way['page']}: {what}"] = None
        if "none" in way:
            notes[f"{way['layer']}, {way['page']}: none: {way['none']}"] = None
        lines.append(line)
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip())
    print("", *notes, f"{bad} of {len(ways) * len(columns)} are wrong or were not tried", sep="\n")
    return int(bad > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("try", help="in a lab")
    run.add_argument("file", help="what is found goes there, as JSON")
    run.add_argument("layers", nargs="*", help="only these")
    show = commands.add_parser("table", help="on the host")
    show.add_argument("files", nargs="+", help="one of each kernel, called LAB-KERNEL.json")
    args = parser.parse_args()
    return try_all(args.file, args.layers) if args.command == "try" else table(args.files)


if __name__ == "__main__":
    sys.exit(main())
