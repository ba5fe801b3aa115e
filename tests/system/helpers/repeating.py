#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A run of `david bench` under circumstances of one's choice, and in labs that have something planted.

    repeating.py            of standard input: {"run": a run's description, "plant": [...]}; prints its result
    repeating.py lab run …  is `david lab run …`, with what is planted
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path

from davidlib.bench import labrun
from davidlib.lab import host, uml

TREE = Path(__file__).resolve().parents[3]

PLANTED = "REPEATING_PLANTED"
FAKETIME = "REPEATING_FAKETIME"  # the library
# They take their random numbers, process numbers and looks at the clock, and 40 pages stay in use.
FORKS = "i=0; while [ $i -lt 500 ]; do (:); i=$((i + 1)); done\nhead -c 160K /dev/zero >/run/pages\n"
# Words of the lab's kernel that are left out.
CLOCK, RANDOM = "time-travel-start=", "random_seed="


def without(word: str) -> None:
    line = uml.command_line
    uml.command_line = lambda *args: [w for w in line(*args) if not w.startswith(word)]


def forks() -> None:
    """What goes before the command, and is none of its business."""
    script = host.mount_script
    host.mount_script = lambda *args: script(*args) + FORKS


def no_beginning() -> None:
    uml.begin_command = lambda lab: ""


def faked_clock() -> None:
    environment = uml.uml_environment
    words = {"LD_PRELOAD": os.environ[FAKETIME], "FAKETIME": "+1d"}
    uml.uml_environment = lambda lab: environment(lab) | words


PLANTS = {
    "forks": forks,
    "host's clock": lambda: without(CLOCK),
    "host's random numbers": lambda: without(RANDOM),
    "no beginning": no_beginning,
    "faked clock": faked_clock,
}


def main() -> int:
    if sys.argv[1:]:
        for name in json.loads(os.environ.get(PLANTED, "[]")):
            PLANTS[name]()
        sys.argv[0] = str(TREE / "tools" / "david")
        runpy.run_path(sys.argv[0], run_name="__main__")
        return 0
    asked = json.load(sys.stdin)
    os.environ[PLANTED] = json.dumps(asked["plant"])
    labrun.DAVID = Path(__file__).resolve()
    came = labrun.execute(asked["run"])
    if "error" in came:
        print(came["error"], file=sys.stderr)
        return 1
    print(came["text"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
