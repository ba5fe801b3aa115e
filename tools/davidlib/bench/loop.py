# SPDX-License-Identifier: GPL-2.0
"""From runs to a page: those that are not there are done, and why again; the page is made of all of them."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from typing import Any

from ..util import FAILED, UserError, ended_status, inner, say
from . import durations, lock
from .results import Results, environment
from .runs import Run

# Reasons to do runs again, that are said one by one.
REASONS = 3


class Progress:
    """Keeps what comes in, and says how far it is."""

    def __init__(self, results: Results, total: int) -> None:
        self.results, self.total = results, total
        self.good = 0
        self.failed: list[str] = []
        self.took: list[tuple[Run, float]] = []
        self.start = time.monotonic()

    def seconds(self) -> float:
        return time.monotonic() - self.start

    def done(self, run: Run, came: dict[str, Any]) -> None:
        error = came.get("error", "")
        if not error:
            try:
                self.results.add(run, came["text"])
            except UserError as full:
                # A disk that is full loses this run: others may find room again.
                error = str(full)
        if error:
            self.failed.append(f"{run.id}: {error}")
            say(f"bench: run failed: {self.failed[-1]}")
        else:
            self.good += 1
            self.took += [(run, came["took"])] if "took" in came else []
        so_far = self.good + len(self.failed)
        left = self.seconds() / so_far * (self.total - so_far)
        each = f"{run.id} took {came['took']:.0f} s; " if "took" in came else ""
        say(f"bench: {each}{so_far} of {self.total} runs, {self.seconds():.0f} s, about {left:.0f} s left")


def run_all(todo: list[Run], progress: Progress, scheduler: str, workers: int) -> None:
    # Not before it is needed: it is not in Debian's Python.
    from . import sweep

    sweep.sweep(todo, scheduler, workers, progress.done)


def reasons(results: Results, runs: list[Run]) -> dict[str, str]:
    """By the id of each run that is not there: why not; "" if it was never done."""
    wanted = {run.id for run in runs}
    return {run.id: results.why(run, wanted) for run in runs if not results.has(run)}


def list_runs(results: Results, runs: list[Run]) -> int:
    """Which are there; of others why they are to be done."""
    why = reasons(results, runs)
    several = len({run.described["workload"]["name"] for run in runs}) > 1
    for run in runs:
        state = "there" if run.id not in why else f"to do: {why[run.id]}" if why[run.id] else "to do"
        words = [run.described["workload"]["name"]] if several else []
        words += [run.variant] if run.described.get("factors") else []
        print(f"{run.id}  {state}" + (f"  [{': '.join(words)}]" if words else ""))
    return 0


def summary(results: Results, runs: list[Run], workers: int) -> str:
    """What differs between the runs, and about how long those take that are not there."""
    values: dict[str, dict[str, None]] = {}
    for run in runs:
        told = run.described
        words = {"workload": told["workload"]["name"]} | told.get("factors", {}) | {"seed": str(told["seed"])}
        for name, word in words.items():
            values.setdefault(name, {})[word] = None
    lines = [f"{name}: {', '.join(words)}" for name, words in values.items() if len(words) > 1]
    todo = list({run.id: run for run in runs if not results.has(run)}.values())
    left = durations.said(todo, workers, durations.load())
    return "\n".join([*lines, f"{len(runs)} runs, {len(todo)} to be done: {left}"])


def _say_why(why: dict[str, str]) -> None:
    """Of runs that were there in an older form."""
    found = Counter(text.partition(" is there, but ")[2] for text in why.values() if text)
    for text, count in found.most_common(REASONS):
        say(f"bench: {count} to be done again: {text}")


def do(args: argparse.Namespace, results: Results, runs: list[Run], most: int,
       tables: bool = True) -> int:
    """MOST runs at a time, and tables of them; the exit status of `david bench`."""
    why = reasons(results, runs)
    # Two variants may be one run, by another name.
    todo = list({run.id: run for run in runs if run.id in why}.values())
    workers = args.workers or min(most, max(len(todo), 1))
    progress = Progress(results, len(todo))
    there = sum(map(results.has, runs))
    say(f"bench: {len(runs)} runs, {there} of them are there; results in {results.top}")
    _say_why(why)
    if todo:
        held = lock.take(results.top)
        try:
            run_all(todo, progress, args.scheduler, workers)
        except KeyboardInterrupt as error:
            say(f"bench: stopped; {there + progress.good} of {len(runs)} runs are there, and the same "
                f"command goes on")
            return ended_status(error)
        finally:
            durations.note(progress.took)
            os.close(held)
        where = args.scheduler or f"{workers} of this machine"
        results.note(environment(sys.argv[1:], progress.seconds(), where))
    loaded = results.load()
    if tables:
        results.write_tables(loaded)
    if progress.failed:
        say(f"bench: {len(progress.failed)} of {len(todo)} runs failed; the same command tries them again")
    status = inner("report", results.top) if loaded else FAILED
    return FAILED if progress.failed else status


def cpus() -> int:
    return os.cpu_count() or 1
