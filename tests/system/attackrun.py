#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Composed attacks on fake disks, each beside its control. In a lab: `attack` composes them from seeds, and
reduces what fails to a plan, a file; `play FILE` does what stands in such a file; `table` lists what cannot
be built. `make attack` runs it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from helpers.attacklife import Judged, judged, reduced
from helpers.attackplan import Plan, compose, read, table
from helpers.guest import SCRATCH, busy, leaks, say
from helpers.planted import PLANT
from helpers.units import GIB

REDUCE = 1800.0
SHORT = 24  # steps
ROOM = 7 * GIB // 4  # of the lab's /tmp: in 1 GiB a life's own files did not fit, which looks like a loss
COSTLY = 12  # kinds of steps, of which it is said what they took
OUTCOMES = {
    "failed": "failed",
    "control": "that failed on the control, too",
    "part": "compared in part",
    "late": "too slow to end",
    "not built": "not built",
}


def number_of(text: str) -> tuple[str, Any]:
    """KEY=VALUE: what of a plan is not left to chance; lists with slashes between."""
    key, equals, value = text.partition("=")
    if not equals or key not in Plan.__dataclass_fields__:
        raise argparse.ArgumentTypeError(f"'{text}' is not KEY=VALUE with a field of a plan")
    if key in ("layers", "mkfs"):
        return key, [word for word in value.split("/") if word]
    if key in ("caches", "disks", "rule"):
        return key, int(value)
    return key, value


def tell(plan: Plan, found: Judged, seconds: float, cpu: float) -> None:
    kind = "control, too" if found.control else found.late or "clean"
    if found.part:
        kind = f"compared in part, {found.compared} steps: {found.part}"
    if found.not_built:
        kind = f"not built: {found.not_built}"
    if found.wrong:
        kind = f"FAILED: {found.wrong}"
    kind += f"; {found.squashed} of {found.written} blocks squashed"
    if found.left_out:
        kind += f"; left out: {'; '.join(found.left_out)}"
    took = f"{found.steps} steps, {seconds:.0f} s, of CPU time {cpu:.0f} s"
    say(f"attack: {plan.seed}: {plan.says()}: {kind} ({took})")
    if found.control:
        say(f"attack: {plan.seed}: control: {found.control[:600]}")
    row = {
        **{key: value for key, value in vars(found).items() if key != "seconds"},
        "seed": plan.seed,
        "plan": plan.says(),
        "seconds": round(seconds, 1),
        "cpu": round(cpu, 1),
    }
    print("RESULT " + json.dumps(row), flush=True)


def outcome(found: Judged) -> str:
    """One of OUTCOMES, or "clean": to its end nothing differed from the control."""
    ended = {
        "failed": found.wrong,
        "control": found.control,
        "not built": found.not_built,
        "late": found.late,
        "part": found.part,
    }
    return next((kind for kind, text in ended.items() if text), "clean")


def one(plan: Plan) -> Judged:
    start, spent = time.monotonic(), busy()
    found = judged(plan)
    tell(plan, found, time.monotonic() - start, busy() - spent)
    return found


def save(where: str, name: str, plan: Plan) -> None:
    if where:
        path = Path(where) / f"{name}.json"
        path.write_text(plan.text())
        path.chmod(0o644)
        command = f"python3 tests/system/attackrun.py play {path}"
        say(f"attack: {plan.seed}: to repeat it: tools/david lab run --memory 4G -- {command}")


def attack(args: argparse.Namespace) -> int:
    if (free := shutil.disk_usage(SCRATCH.parent).free) < ROOM:
        say(f"attack: {SCRATCH.parent} has {free >> 20} MiB free, and lives need {ROOM >> 20}: --memory 4G")
        return 1
    held = dict(args.hold)
    if args.plant:
        PLANT.write_text(args.plant)
    deadline = time.monotonic() + args.seconds
    kinds: Counter[str] = Counter()
    costs: dict[str, float] = {}
    seed, begun = args.seed, 0
    while begun < args.count and time.monotonic() < deadline:
        plan = compose(seed, held)
        if args.steps:
            plan = shorter(plan, args.steps)
        found = one(plan)
        kinds["steps"] += found.steps
        kinds["compared"] += found.compared
        kinds["refused"] += found.refused
        kinds["left out"] += len(found.left_out)
        what = outcome(found)
        kinds[what] += 1
        for name, seconds in found.seconds.items():
            costs[name] = costs.get(name, 0.0) + seconds
        kinds["squashing"] += what == "clean" and found.squashed > 0
        kinds["squashed"] += found.squashed
        kinds["written"] += found.written
        begun += 1
        if found.late:
            save(args.save, f"{seed}-late", plan)
        if found.wrong:
            save(args.save, f"{seed}", plan)
            if args.reduce > 0:
                save(args.save, f"{seed}-reduced", reduced(plan, args.reduce))
            if args.stop:
                break
        seed += 1
    if lost := leaks():
        say(f"attack: kmemleak: {lost}")
    rest = ", ".join(f"{kinds[kind]} {name}" for kind, name in OUTCOMES.items())
    say(f"attack: {begun} lives on {os.uname().release}: {kinds['clean']} clean, {rest}")
    say(f"attack: {kinds['steps']} steps on fake disks, of which {kinds['refused']} were refused")
    say(
        f"attack: {kinds['compared']} of them were compared with the control's; "
        f"{kinds['left out']} were left out, as only the control refused them"
    )
    total = sum(costs.values())
    for name, seconds in sorted(costs.items(), key=lambda item: -item[1])[:COSTLY]:
        say(f"attack: cost: {seconds:.0f} s of {total:.0f}: {name}")
    say(
        f"attack: {kinds['squashing']} of {kinds['clean']} clean lives squashed something: in all lives "
        f"{kinds['squashed']} of {kinds['written']} blocks of content"
    )
    # Where nothing is squashed nothing could have been lost.
    idle = kinds["squashing"] * 2 < kinds["clean"]
    return int(kinds["failed"] > 0 or not kinds["clean"] or idle or bool(lost))


def short(args: argparse.Namespace) -> int:
    """Of each seed the first steps, and a look: for `make check`."""
    found = [one(shorter(compose(seed), SHORT)) for seed in args.seeds]
    return int(any(each.wrong or each.not_built for each in found))


def shorter(plan: Plan, steps: int) -> Plan:
    return plan.with_steps(plan.steps[:steps])


def play(args: argparse.Namespace) -> int:
    found = one(read(args.file))
    return int(bool(found.wrong or found.not_built))


def show(args: argparse.Namespace) -> int:
    for kind in ("layers", "file_systems", "steps"):
        known = table()[kind]
        here = [row["name"] for row in known if "not_here" not in row]
        print(f"{len(here)} {kind.replace('_', ' ')}: {'; '.join(here)}")
        for row in known:
            if "not_here" in row:
                print(f"  not here: {row['name']}: {row['not_here']}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("attack", help="lives from seeds, in a lab")
    run.add_argument("--seed", type=int, default=1, help="of the first life")
    run.add_argument("--count", type=int, default=1 << 30, help="how many lives")
    run.add_argument("--seconds", type=float, default=1e9, help="no life begins later")
    run.add_argument("--steps", type=int, default=0, help="only the first of each life")
    run.add_argument("--reduce", type=float, default=REDUCE, metavar="SECONDS", help="0: not at all")
    run.add_argument("--save", default="", metavar="DIR", help="where plans go that fail")
    run.add_argument("--stop", action="store_true", help="at the first that fails")
    run.add_argument("--plant", default="", metavar="BUG", help="with a module that has it")
    run.add_argument("--hold", type=number_of, action="append", default=[], metavar="KEY=VALUE")
    run.set_defaults(function=attack)
    few = commands.add_parser("short", help="of each seed the first steps, in a lab")
    few.add_argument("seeds", nargs="+", type=int)
    few.set_defaults(function=short)
    again = commands.add_parser("play", help="a plan that was saved, in a lab")
    again.add_argument("file")
    again.set_defaults(function=play)
    listed = commands.add_parser("table", help="what there is to choose from, and what cannot be built")
    listed.set_defaults(function=show)
    args = parser.parse_args()
    return int(args.function(args))


if __name__ == "__main__":
    sys.exit(main())
