# SPDX-License-Identifier: GPL-2.0
"""`david bench paper`: the labs are run, those that are there already are not, and the page is made."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from .. import build
from ..bench import kernelwords, loop, parts, prepare
from ..bench.results import Results
from ..bench.runs import Run
from ..util import UserError
from . import plan

# In place of a question.
NOTE = "# The evaluation of David (FAST 2011), by `david bench paper`. The form is in paper.json.\n"


def is_paper(top: Path) -> bool:
    return (top / "paper.json").is_file()


def load(top: Path) -> tuple[bool, list[dict[str, Any]], dict[str, Any]]:
    """Was it the quick form, the results that are there, and the environment."""
    quick = json.loads((top / "paper.json").read_text())["quick"]
    runs = Results(top).load()
    if not runs:
        raise UserError(f"{top}: no experiment of the paper's is there yet; 'david bench paper' makes them")
    path = top / "environment.json"
    return quick, runs, json.loads(path.read_text()) if path.is_file() else _begun(top)


def _begun(top: Path) -> dict[str, Any]:
    """What is known of labs that were stopped before the last one: when the newest ended."""
    newest = max(path.stat().st_mtime for path in (top / "runs").glob("*.json"))
    return {"finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(newest))}


def filled(runs: list[dict[str, Any]], top: Path) -> list[dict[str, Any]]:
    """Of experiments that are missing: what the quick form in `top` has of them."""
    quick, others, _ = load(top)
    if not quick:
        raise UserError(f"--rest {top}: not of the quick form")
    there = {one["run"]["experiment"] for one in runs}
    parts.refuse_mixture(runs + others)
    return runs + [one | {"quick": True} for one in others if one["run"]["experiment"] not in there]


def _begin(results: Results, runs: list[Run], quick: bool) -> None:
    form = results.top / "paper.json"
    if form.is_file() and json.loads(form.read_text())["quick"] != quick:
        raise UserError(f"{results.top}: the other form is there; name another directory with --output")
    results.begin(NOTE, runs)
    form.write_text(json.dumps({"quick": quick}) + "\n")


def wanted(run: Run, only: list[str]) -> bool:
    return not only or any(word in run.id for word in only)


def experiments(args: argparse.Namespace) -> list[Run]:
    runs = [run for run in plan.experiments(args.quick) if wanted(run, args.only)]
    if not runs:
        raise UserError(f"bench paper: --only {args.only[0]}: no lab is called so; --list has their names")
    return runs


def bench(args: argparse.Namespace) -> int:
    for name in ("profile", "fs", "workload"):
        if getattr(args, name):
            raise UserError(f"bench paper: --{name} is fixed: it is the paper's")
    runs = experiments(args)
    results = Results(Path(args.output or ("paper-quick.result" if args.quick else "paper.result")))
    if args.list:
        return loop.list_runs(results, runs)
    prepare.become()
    prepare.lab("uml", kernelwords.DEFAULT)
    build.ensure("david-store")  # in a lab nothing is built
    # Once more: there was no kernel of the lab's before, maybe.
    runs = experiments(args)
    # Those that --only leaves out may be there, and belong on the page.
    _begin(results, plan.experiments(args.quick), args.quick)
    return loop.do(args, results, runs, loop.cpus(), tables=False)
