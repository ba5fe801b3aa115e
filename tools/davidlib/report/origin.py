# SPDX-License-Identifier: GPL-2.0
"""Of what a page's figures are: kernel, programs, drives, and the digests of all that decided them."""

from __future__ import annotations

from typing import Any

from ..bench import parts
from ..bench.results import kernel_of

Rows = list[list[str]]
GROUPS = {"lab": "lab: configuration, patches, start", "machine": "kernel and module", "model": "model/",
          "classifier": "classifier/", "dm-david": "dm-david/", "program": "programs of the tree"}
HEAD = ["what", "was", "digest"]
FAILS = ("faults=", "age=")  # of the options: they change what the drive does


def _unlike(rows: Rows) -> Rows:
    return [list(row) for row in dict.fromkeys(map(tuple, rows))]


def _changed(one: dict[str, Any]) -> str:
    """What the question has set in place of the profile's own, of which the grades tell; and what fails."""
    run = one["run"]
    said = [f"size={run['size']}"] if run.get("size") else []
    said += run.get("profile_options", [])
    said += [word for word in run.get("options", []) if word.startswith(FAILS)]
    return f" with {', '.join(said)}" if said else ""


def _drives(one: dict[str, Any]) -> Rows:
    return [[f"drive {name}{_changed(one)}", one["drive"], value]
            for name, value in one["run"]["parts"]["profile"].items()]


def _work(one: dict[str, Any]) -> Rows:
    run = one["run"]
    rows = [[f"code of {run['workload']['kind']}", "", parts.digest(run["parts"]["run"])]]
    named = run["parts"].get("files", {}).items()
    return rows + [[f"{name} of {run['workload']['name']}", "", value] for name, value in named]


def rows(runs: list[dict[str, Any]]) -> Rows:
    """Each once: refuse_mixture() has seen that there are no two of one thing."""
    found = [["kernel that the runs ran on", kernel_of(one), ""] for one in runs]
    for one in runs:
        there = one["run"]["parts"]
        found += [[called, "", parts.digest(there[group])] for group, called in GROUPS.items()
                  if group in there]
    found += [row for one in runs for row in _drives(one)]
    found += [row for one in runs for row in _work(one)]
    found += [[name, value, ""] for one in runs for name, value in sorted(one["versions"].items())
              if name != "kernel"]
    return _unlike(found)


def sentence(runs: list[dict[str, Any]]) -> str:
    """The same in short: kernel, programs, and how much of the drives is assumed."""
    kernels = ", ".join(dict.fromkeys(map(kernel_of, runs)))
    versions = {name: value for one in runs for name, value in one["versions"].items() if name != "kernel"}
    said = [f"kernel {kernels}", *(f"{name} {value}" for name, value in sorted(versions.items()))]
    drives = dict.fromkeys((f"{one['run'].get('profile')}{_changed(one)}", one["drive"])
                           for one in runs if one["drive"])
    return "; ".join([*said, *(f"{name}: {graded}" for name, graded in drives)]) + "."
