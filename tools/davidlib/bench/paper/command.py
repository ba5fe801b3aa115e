# SPDX-License-Identifier: GPL-2.0
"""`david bench paper`: the labs are run, those that are there already are not, and the page is made."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from ... import build
from ...util import UserError, say
from .. import python
from ..prepare import prepare_labs
from ..progress import Progress, run_all
from ..results import Results, environment
from ..runs import Run
from . import plan

# In place of a question.
NOTE = "# The evaluation of David (FAST 2011), by `david bench paper`. The form is in paper.json.\n"


def is_paper(top: Path) -> bool:
    return (top / "paper.json").is_file()


def load(top: Path) -> tuple[bool, list[dict[str, Any]], dict[str, Any]]:
    """Was it the quick form, the results that are there, and the environment."""
    quick = json.loads((top / "paper.json").read_text())["quick"]
    runs = Results(top).load(plan.experiments(quick))
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
    return runs + [one | {"quick": True} for one in others if one["run"]["experiment"] not in there]


def _begin(results: Results, quick: bool) -> None:
    form = results.top / "paper.json"
    if form.is_file() and json.loads(form.read_text())["quick"] != quick:
        raise UserError(f"{results.top}: the other form is there; name another directory with --output")
    results.begin(NOTE)
    form.write_text(json.dumps({"quick": quick}) + "\n")


def wanted(run: Run, only: list[str]) -> bool:
    return not only or any(word in run.id for word in only)


def bench(args: argparse.Namespace) -> int:
    for name in ("profile", "fs", "workload"):
        if getattr(args, name):
            raise UserError(f"bench paper: --{name} is fixed: it is the paper's")
    runs: list[Run] = [run for run in plan.experiments(args.quick) if wanted(run, args.only)]
    if not runs:
        raise UserError(f"bench paper: --only {args.only[0]}: no lab is called so; --list has their names")
    results = Results(Path(args.output or ("paper-quick.result" if args.quick else "paper.result")))
    todo = [run for run in runs if not results.has(run)]
    if args.list:
        for run in runs:
            print(f"{run.id}  {'there' if results.has(run) else 'to do'}")
        return 0
    python.become()
    prepare_labs("uml")
    build.ensure("david-store")  # in a lab nothing is built
    _begin(results, args.quick)
    progress = Progress(results, len(todo))
    workers = args.workers or min(os.cpu_count() or 1, max(len(todo), 1))
    say(f"bench: {len(runs)} experiments, {len(runs) - len(todo)} are there; results in {results.top}")
    if todo:
        run_all(todo, progress, args.scheduler, workers)
        where = args.scheduler or f"{workers} of this machine"
        found = json.dumps(environment(sys.argv[1:], progress.seconds(), where), indent=1)
        (results.top / "environment.json").write_text(found + "\n")
    report = subprocess.run([sys.executable, sys.argv[0], "report", str(results.top)])
    return 1 if progress.failed else report.returncode
