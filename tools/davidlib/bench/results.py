# SPDX-License-Identifier: GPL-2.0
"""What came of a sweep: one directory, for programs and for reports.

    spec.toml          the question
    base               from where it names files
    runs/ID.json       one run: what it was told, and its figures
    results.json       all runs in a table, without samples
    results.sqlite     the same and the samples, to be asked in SQL
    environment.json   where and when, and with which versions

A run's file is there whole or not at all. The two tables are made of the runs' files, each time anew.
"""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..util import TREE, VERSION, UserError
from . import spec
from .runs import Run

# Of a run's result, what a table has one column for.
FIGURES = ("seconds", "operations", "operations_per_s", "megabytes_per_s", "read_bytes", "written_bytes")
COLUMNS = ("id", "variant", "workload", "profile", "file_system", "seed", *FIGURES, "store_bytes",
           "memory_bytes", "trustworthy", "verdict", "wrong")


def _write(path: Path, text: str) -> None:
    new = path.with_name(path.name + ".new")
    new.write_text(text)
    os.replace(new, path)


class Results:
    """The directory of one sweep."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.runs = top / "runs"

    def begin(self, spec_text: str, base: Path | None = None) -> None:
        if self.top.exists() and any(self.top.iterdir()) and not self.runs.is_dir():
            raise UserError(f"{self.top}: there is something else; name another directory with --output")
        self.runs.mkdir(parents=True, exist_ok=True)
        _write(self.top / "spec.toml", spec_text)
        _write(self.top / "base", f"{base or Path.cwd()}\n")

    def question(self) -> tuple[spec.Spec, str]:
        """The spec and its text; files that it names are where they were."""
        text, base = (self.top / "spec.toml").read_text(), self.top / "base"
        place = Path(base.read_text().rstrip("\n")) if base.is_file() else self.top.resolve()
        return spec.parse(text, str(self.top / "spec.toml"), place), text

    def path(self, run: Run) -> Path:
        return self.runs / f"{run.id}.json"

    def has(self, run: Run) -> bool:
        return self.path(run).exists()

    def add(self, run: Run, text: str) -> None:
        _write(self.path(run), text)

    def load(self, runs: Iterable[Run]) -> list[dict[str, Any]]:
        """The runs that are there, each with its id, in the order of the spec."""
        return [{"id": run.id, **json.loads(self.path(run).read_text())} for run in runs if self.has(run)]

    def finish(self, runs: list[Run], environment: dict[str, Any]) -> None:
        """Make the tables of what is there."""
        loaded = self.load(runs)
        rows = [dict(zip(COLUMNS, columns(one), strict=True)) for one in loaded]
        _write(self.top / "results.json", json.dumps(rows, indent=1) + "\n")
        _write(self.top / "environment.json", json.dumps(environment, indent=1) + "\n")
        new = self.top / "results.sqlite.new"
        new.unlink(missing_ok=True)
        _database(new, loaded)
        os.replace(new, self.top / "results.sqlite")


def columns(one: dict[str, Any]) -> list[Any]:
    """A run as a row of COLUMNS."""
    run, result = one["run"], one["result"]
    last = result["stats"]
    return [
        *(one["id"], run["variant"], run["workload"]["name"], run["profile"], run["file_system"]["name"]),
        *(run["seed"], *(result[name] for name in FIGURES)),
        *(last["store_used"] * last["block_size"], sum(last["mem"].values())),
        *(result["times"]["good"], result["times"]["text"], "; ".join(result["wrong"])),
    ]


def _database(path: Path, loaded: list[dict[str, Any]]) -> None:
    with sqlite3.connect(path) as db:
        db.execute(f"CREATE TABLE runs ({', '.join(COLUMNS)}, PRIMARY KEY (id))")
        db.executemany(f"INSERT INTO runs VALUES ({', '.join('?' * len(COLUMNS))})", map(columns, loaded))
        names = loaded[0]["result"]["columns"] if loaded else ["t_ns"]
        db.execute(f"CREATE TABLE samples (run, {', '.join(names)})")
        db.execute("CREATE TABLE latency (run, operation, count, mean_ns, quantiles_ns)")
        marks = ", ".join("?" * (len(names) + 1))
        for one in loaded:
            result = one["result"]
            rows = ([one["id"], *row] for row in result["samples"])
            db.executemany(f"INSERT INTO samples VALUES ({marks})", rows)
            kinds = result["latency"].items()
            db.executemany("INSERT INTO latency VALUES (?, ?, ?, ?, ?)",
                           ((one["id"], kind, figures["count"], figures["mean_ns"],
                             json.dumps(figures["quantiles_ns"])) for kind, figures in kinds))
    db.close()


def _commit() -> str:
    git = ["git", "-C", TREE, "describe", "--always", "--dirty"]
    done = subprocess.run(git, capture_output=True, text=True)
    return done.stdout.strip()


def environment(command: list[str], seconds: float, where: str) -> dict[str, Any]:
    """What differs from one sweep of the same spec to the next."""
    return {
        "command": command,
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "seconds": round(seconds, 1),
        "workers": where,
        "version": VERSION,
        "commit": _commit(),
        "host": platform.platform(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
    }
