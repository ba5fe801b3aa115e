# SPDX-License-Identifier: GPL-2.0
"""What came of a sweep: one directory, for programs and for reports.

    spec.toml          the question
    base               from where it names files
    sweep.json         the runs of the last start: their ids, the words for a page, the question's digest
    runs/ID.json       one run: what it was told, and its figures
    results.json       all runs in a table, without samples
    results.sqlite     the same and the samples, to be asked in SQL
    environment.json   where and when, and with which versions

A run's file is there whole or not at all. The two tables are made of the runs' files, each time anew. Files
of other runs than the last start's may be there: of another question, model or drive. They are on no page.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..drive import profile_bench, worth
from ..util import TREE, VERSION, UserError, replacing, write_whole
from ..workload.record import QUANTILES
from . import costs, lock, parts, places, spec
from .runs import Run

# Of a run's result, what a table has one column for.
FIGURES = ("seconds", "operations", "operations_per_s", "megabytes_per_s", "read_bytes", "written_bytes")
# A digest of each group of what decided the figures.
PARTS = ("profile_digest", "model", "classifier", "module", "lab", "code")
COLUMNS = ("id", "variant", "workload", "profile", "file_system", "seed", *FIGURES, "store_bytes",
           "memory_bytes", "trustworthy", "verdict", "wrong", "doubts", "touched", "stroked",
           "degraded", "rebuilt_bytes", "drive", *PARTS, "kernel", "versions", "factors", "latency", "worth",
           *costs.COLUMNS)
# Of the directory: 1 had no factors. Older ones are read, newer ones refused.
FORMAT = 2


class Results:
    """The directory of one sweep."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.runs = top / "runs"

    def begin(self, spec_text: str, runs: Iterable[Run], base: Path | None = None) -> None:
        if self.runs.is_dir():
            os.close(lock.take(self.top))  # Who is at work there has asked something else, perhaps.
        if self.top.exists() and any(self.top.iterdir()) and not self.runs.is_dir():
            raise UserError(f"{self.top}: there is something else; name another directory with --output")
        self.runs.mkdir(parents=True, exist_ok=True)
        write_whole(self.top / "spec.toml", spec_text)
        write_whole(self.top / "base", f"{base or Path.cwd()}\n")
        write_whole(self.top / "sweep.json", signed_sweep(list(map(_words, runs)), spec_text))

    def question(self) -> tuple[spec.Spec, str]:
        """The spec and its text; files that it names are where they were."""
        text, base = (self.top / "spec.toml").read_text(), self.top / "base"
        if _read_sweep(self.top / "sweep.json")["question"] != parts.digest(text):
            raise UserError(f"{self.top / 'spec.toml'}: it was changed after its runs were done; 'david "
                            "bench' asks anew with it")
        place = Path(base.read_text().rstrip("\n")) if base.is_file() else self.top.resolve()
        return spec.stored(text, str(self.top / "spec.toml"), place), text

    def path(self, run: Run) -> Path:
        return self.runs / f"{run.id}.json"

    def has(self, run: Run) -> bool:
        """Is it there, and whole?"""
        return self.path(run).exists() and not _damage(self.path(run))

    def add(self, run: Run, text: str) -> None:
        write_whole(self.path(run), signed(json.loads(text), run.id))

    def asked(self) -> list[dict[str, Any]]:
        """The words for a page of each run of the last start, whether it is there or not."""
        runs: list[dict[str, Any]] = _read_sweep(self.top / "sweep.json")["runs"]
        return runs

    def load(self) -> list[dict[str, Any]]:
        """Those of the last start's runs that are there, each with its id, in the order of the spec.
        UserError if they were not all made by one model, lab and so on, or if that is not known."""
        found = []
        for words in self.asked():
            path = self.runs / f"{words['id']}.json"
            if path.exists():
                if damage := _damage(path):
                    raise UserError(f"{path}: {damage}; 'david bench' runs it again")
                found.append(_named(json.loads(path.read_text()), words))
        parts.refuse_mixture(found)
        return found

    def why(self, run: Run, wanted: set[str]) -> str:
        """Why a run is to be done that is not there: "" if it was never done, else what is another one than
        at the last time. WANTED are ids that are no older form of it."""
        if self.path(run).exists() and (damage := _damage(self.path(run))):
            return f"{run.id}.json is there, but {damage}"
        found = []
        for path in self.runs.glob(f"{run.legible}-*.json"):
            if path.stem not in wanted:
                old = _described(path)
                same = old.get("profile", run.described.get("profile")) == run.described.get("profile")
                said = parts.difference(old, run.described)
                found += [(len(said), -path.stat().st_mtime, path.stem, said)] if same else []
        if not found:
            return ""
        _, _, name, said = min(found)
        return f"{name} is there, but {'; '.join(said)}"

    def note(self, environment: dict[str, Any]) -> None:
        """Where and when runs were done."""
        write_whole(self.top / "environment.json", json.dumps(environment, indent=1) + "\n")

    def write_tables(self, loaded: list[dict[str, Any]]) -> None:
        rows = [dict(zip(COLUMNS, columns(one), strict=True)) for one in loaded]
        write_whole(self.top / "results.json", json.dumps(rows, indent=1) + "\n")
        with replacing(self.top / "results.sqlite", sqlite3.OperationalError) as new:
            _database(new, loaded)


def grade_of(profile: str) -> str:
    """What times of a shipped profile are worth, by today's table, in one line."""
    found = worth.of_name(profile)
    return f"{profile}, {worth.named(found)}." if found else f"{profile}: nothing is known of it."


def _words(run: Run) -> dict[str, Any]:
    """What a page calls a run: it may be called something else the next time, and be the same one."""
    told = run.described
    text = told.get("profile_text", "")
    return {
        "id": run.id,
        "variant": run.variant,
        "profile": told.get("profile"),
        "file_system": told["file_system"]["name"],
        "workload": told["workload"]["name"],
        "drive": profile_bench.grade_text(profile_bench.grade(text)) if text else "",
        "worth": worth.of_text(text).as_dict() if text else {},
        "factors": told.get("factors", {}),
    }


def _named(one: dict[str, Any], words: dict[str, Any]) -> dict[str, Any]:
    """A run's result with these words for a page."""
    run = one["run"]
    named = run | {
        "variant": words["variant"],
        # Before there were factors, a variant's name was all that told it from others.
        "factors": words.get("factors", {"variant": words["variant"]}),
        "file_system": run["file_system"] | {"name": words["file_system"]},
        "workload": run["workload"] | {"name": words["workload"]},
    }
    named |= {"profile": words["profile"]} if words["profile"] else {}
    # Older ones have no grades.
    return one | {"id": words["id"], "drive": words["drive"], "worth": words.get("worth", {}), "run": named}


# What a page is made of.
RESULT = ("seconds", "operations", "latency", "times", "wrong", "doubts", "reach", "stats", "columns",
          "samples", "histograms")


def _digest(found: dict[str, Any]) -> str:
    return parts.digest({name: value for name, value in found.items() if name != "digest"})


def signed(found: dict[str, Any], name: str) -> str:
    """A run's file: it says which run it is of, and has a digest of all that it says."""
    found = found | {"id": name}
    return json.dumps(found | {"digest": _digest(found)}, sort_keys=True)


def _damage(path: Path) -> str:
    """What is wrong with a run's file; "" if nothing is. Results of the paper's experiments have other
    figures, and those that an older dm-david made have no parts: that is said where they are read."""
    try:
        found = json.loads(path.read_text())
        run, result = found["run"], found["result"]
        if "parts" not in run:
            return ""
        missing = [] if "experiment" in run else [name for name in RESULT if name not in result]
        if missing or not isinstance(found["versions"], dict):
            return f"{missing[0] if missing else 'versions'} is missing in it"
        if found["id"] != path.stem or found["digest"] != _digest(found):
            return "it was changed, or is another run's"
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return "it is no result of a run, or is cut short"
    return ""


def signed_sweep(words: list[dict[str, Any]], spec_text: str) -> str:
    """The file of a start: its runs, the digest of its question, and one of all that."""
    found = {"format": FORMAT, "runs": words, "question": parts.digest(spec_text)}
    return json.dumps(found | {"digest": _digest(found)}, indent=1) + "\n"


def _read_sweep(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise UserError(f"{path.parent}: an older dm-david made this, and did not note which model, drive "
                        "and lab its runs are of; 'david bench' runs them again")
    try:
        found = dict(json.loads(path.read_text()))
        whole, made = found["digest"] == _digest(found), int(found.get("format", 1))
    except (OSError, ValueError, TypeError, KeyError):
        whole = False
    if whole and made > FORMAT:
        raise UserError(f"{path.parent}: results of format {made}, and this dm-david reads up to {FORMAT}: "
                        "a newer one made them")
    if whole:
        return found
    raise UserError(f"{path}: it was changed, or 'david bench' did not write it; that makes it again")


def _described(path: Path) -> dict[str, Any]:
    """What an older run was told; nothing if its file does not say so."""
    try:
        found = json.loads(path.read_text())["run"]
    except (ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def _digests(one: dict[str, Any]) -> list[str]:
    """Of PARTS."""
    found = one["run"]["parts"]
    groups = (("profile",), ("model",), ("classifier",), ("dm-david",), ("lab", "machine"),
              ("run", "program", "files"))
    return [parts.digest([found.get(name, {}) for name in names]) for names in groups]


def kernel_of(one: dict[str, Any]) -> str:
    """The kernel that it ran on, and the package that a lab's was made of."""
    package = one["run"]["parts"].get("lab", {}).get("kernel")
    return one["versions"]["kernel"] + (f" ({package})" if package else "")


def said_versions(one: dict[str, Any]) -> str:
    return "; ".join(f"{name} {value}" for name, value in sorted(one["versions"].items()) if name != "kernel")


def reached(result: dict[str, Any]) -> tuple[float, float]:
    """Shares of the disk: that was touched, and over which most requests for data went."""
    reach = result["reach"]
    return reach["touched_bytes"] / reach["disk_bytes"], reach["stroked_bytes"] / reach["disk_bytes"]


def _latency(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What means and percentiles are made of, by kind of operation."""
    at = QUANTILES.index(990)
    return {kind: {"count": one["count"], "mean_ns": one["mean_ns"], "p99_ns": one["quantiles_ns"][at]}
            for kind, one in result["latency"].items()}


def columns(one: dict[str, Any]) -> list[Any]:
    """A run as a row of COLUMNS."""
    run, result = one["run"], one["result"]
    last = result["stats"]
    return [
        *(one["id"], run["variant"], run["workload"]["name"], run["profile"], run["file_system"]["name"]),
        *(run["seed"], *(result[name] for name in FIGURES)),
        *(last["store_used"] * last["block_size"], sum(last["mem"].values())),
        *(result["times"]["good"], result["times"]["text"], "; ".join(result["wrong"])),
        "; ".join(f"{doubt['kind']}: {doubt['text']}" for doubt in result["doubts"]),
        *reached(result),
        # None: it is no array, or an older run of one.
        *(result.get("array", {}).get(name) for name in ("degraded", "rebuilt_bytes")),
        *(one["drive"], *_digests(one), kernel_of(one), said_versions(one)),
        *(json.dumps(run["factors"]), json.dumps(_latency(result)), json.dumps(one.get("worth", {}))),
        *costs.of(result).values(),
    ]


def _database(path: Path, loaded: list[dict[str, Any]]) -> None:
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {FORMAT}")
        db.execute(f"CREATE TABLE runs ({', '.join(COLUMNS)}, PRIMARY KEY (id, variant, workload))")
        db.executemany(f"INSERT INTO runs VALUES ({', '.join('?' * len(COLUMNS))})", map(columns, loaded))
        names = loaded[0]["result"]["columns"] if loaded else ["t_ns"]
        db.execute(f"CREATE TABLE samples (run, {', '.join(names)})")
        db.execute("CREATE TABLE places (run, kind, step_ns, place_bytes, step, place, requests)")
        db.execute("CREATE TABLE latency (run, operation, count, mean_ns, quantiles_ns)")
        db.execute("CREATE TABLE parts (run, part, name, digest)")
        db.execute("CREATE TABLE versions (run, program, version)")
        marks = ", ".join("?" * (len(names) + 1))
        # Two variants may be one run, by another name.
        for one in {one["id"]: one for one in loaded}.values():
            result = one["result"]
            rows = ([one["id"], *row] for row in result["samples"])
            db.executemany(f"INSERT INTO samples VALUES ({marks})", rows)
            db.executemany("INSERT INTO parts VALUES (?, ?, ?, ?)",
                           ((one["id"], group, name, value) for group, names in one["run"]["parts"].items()
                            for name, value in names.items()))
            db.executemany("INSERT INTO versions VALUES (?, ?, ?)",
                           ((one["id"], *pair) for pair in sorted(one["versions"].items())))
            if went := places.whole(result):
                db.executemany("INSERT INTO places VALUES (?, ?, ?, ?, ?, ?, ?)",
                               ((one["id"], places.KINDS[kind], went["step_ns"], went["place_bytes"], *cell)
                                for kind, *cell in went["cells"]))
            kinds = result["latency"].items()
            db.executemany("INSERT INTO latency VALUES (?, ?, ?, ?, ?)",
                           ((one["id"], kind, figures["count"], figures["mean_ns"],
                             json.dumps(figures["quantiles_ns"])) for kind, figures in kinds))
    db.close()


def _commit() -> str:
    """"" of a tree without git, such as a tarball's."""
    if not (TREE / ".git").exists() or not shutil.which("git"):
        return ""
    git = ["git", "-C", str(TREE), "describe", "--always", "--dirty"]
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
