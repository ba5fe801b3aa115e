# SPDX-License-Identifier: GPL-2.0
"""Lab machines, and questions that are answered in them. Both need the package dm-david-lab, or the
source tree."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from davidlib.util import HAS_LABS, MISSED, NOT_BELIEVABLE, TOOLS, UserError


def _need_tree(what: str) -> None:
    if not HAS_LABS:
        raise UserError(
            f"{what}: the labs are not installed: apt-get install dm-david-lab; or put tools/ of dm-david's "
            "source tree into PYTHONPATH"
        )


@dataclass(frozen=True)
class LabResult:
    """What became of a command in a lab."""

    status: int  # the command's; 124 not done in time, 125 the lab failed, 126 the kernel printed a warning
    warnings: list[str]  # of the guest's kernel


@dataclass(frozen=True)
class Lab:
    """A lab machine, as `david lab run` has it. It is started for each command, and forgets all but what is
    written to `rw`."""

    kind: str = "uml"
    kernel: str = "6.12"
    virtual_time: bool = False
    memory: str | None = None
    cpus: int | None = None
    rw: Sequence[str | Path] = ()
    timeout: float = 600  # seconds

    def run(self, *argv: str) -> LabResult:
        """Run a command in it; what that prints comes to standard output. Error: no lab could be started."""
        _need_tree("Lab")
        from davidlib.lab.run import run_lab  # what is installed does not have it

        done = run_lab(
            argv,
            kind=self.kind,
            kernel=self.kernel,
            virtual_time=self.virtual_time,
            memory=self.memory,
            cpus=self.cpus,
            rw=self.rw,
            timeout=self.timeout,
        )
        return LabResult(done.returncode, list(done.warnings))


@dataclass(frozen=True)
class Answer:
    """What a question came to: a row for each run, as results.json has them."""

    rows: list[dict[str, Any]]
    directory: Path
    status: int  # of `david bench`: 0, 2 or 3

    @property
    def believable(self) -> bool:
        """Are all runs valid?"""
        return self.status != NOT_BELIEVABLE

    @property
    def missed(self) -> bool:
        """Was a threshold of the question missed?"""
        return self.status == MISSED

    @property
    def page(self) -> Path:
        return self.directory / "report.html"


def bench(question: str | Path, output: str | Path | None = None, workers: int = 0) -> Answer:
    """Run what a question (a TOML file) asks for, and make its page, as `david bench` does, in a process of
    its own: that has Dask and Altair in an environment of its own. Runs that are there are not run again.

    output     directory of the results; None: beside you, by the question's name
    workers    runs at a time; 0: one a CPU

    Error: the question is wrong, or a run failed.
    """
    _need_tree("bench")
    directory = Path(output or f"{Path(question).stem}.result")
    words = [
        sys.executable,
        str(TOOLS / "david"),
        "bench",
        "--output",
        str(directory),
        "--workers",
        str(workers),
    ]
    done = subprocess.run(
        [*words, "--", str(question)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    if done.returncode not in (0, NOT_BELIEVABLE, MISSED):
        lines = done.stderr.strip().splitlines() or [f"david bench ended with {done.returncode}"]
        raise UserError(lines[-1].removeprefix("david: "))
    return Answer(json.loads((directory / "results.json").read_text()), directory, done.returncode)
