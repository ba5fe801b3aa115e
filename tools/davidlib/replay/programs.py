# SPDX-License-Identifier: GPL-2.0
"""build/david-compile and build/david-replay, as the commands call them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from .. import build
from ..trace.recognise import what_it_is
from ..util import UserError, path_word

COMPILE, REPLAY = "david-compile", "david-replay"
DIFFERS = 2  # it was stopped, or its order was not kept; there are figures


def _reason(name: str, done: subprocess.CompletedProcess[str]) -> str:
    """The last line of what a program said that failed, for the command's own error; the others are shown."""
    *before, why = done.stderr.strip().splitlines() or [f"{name} ended with {done.returncode}"]
    for line in before:
        print(line, file=sys.stderr)
    return why.removeprefix(f"{name}: ")


def make(trace: Path, out: Path, options: list[str]) -> str:
    """Compile; what --stats and --explain print: the counts come last, and begin with `calls`."""
    words = [str(build.ensure(COMPILE)), *options, "--stats", path_word(trace), path_word(out)]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        what = what_it_is(trace)
        if trace.is_file() and not what.startswith("a finished trace"):
            what = f"it is {what}" if what else "it is no trace"
            raise UserError(f"{trace} could not be compiled: {what}; `david trace import` makes a trace of "
                            "another tool's text")
        raise UserError(f"{trace} could not be compiled: {_reason(COMPILE, done)}")
    sys.stderr.write(done.stderr)
    return done.stdout


def prepare(workload: Path, target: Path, holes: bool) -> None:
    places = [path_word(workload), path_word(target)]
    words = [str(build.ensure(REPLAY)), "prepare", *["--holes"] * holes, *places]
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    if done.returncode:
        raise UserError(f"{target} could not be filled with the initial tree: {_reason(REPLAY, done)}")
    sys.stderr.write(done.stderr)


def run(workload: Path, target: Path, options: list[str]) -> dict[str, Any]:
    """One replay; its figures."""
    words = [str(build.ensure(REPLAY)), "run", *options, path_word(workload), path_word(target)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, DIFFERS):
        raise UserError(f"{workload} could not be replayed")
    return json.loads(done.stdout)
