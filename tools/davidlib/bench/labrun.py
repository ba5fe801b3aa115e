# SPDX-License-Identifier: GPL-2.0
"""One run in a lab of its own, and what it came to. This is what a worker of a sweep does.

Nothing of it stays: the lab has its disk in memory, and its directory goes with it. The lab ends with the
process that asked for it, however that ends.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ..lab.lab import SEALED_RW, SEALED_TREE, TIMED_OUT
from ..util import TOOLS, TREE, UserError, end_like_interrupted, ended_status
from ..workload.kinds import files_of
from . import localhost, parts, testbed

DAVID = TOOLS / "david"
TAIL = 1500
LAB = {
    "virtual": ("--kind", "uml", "--virtual-time"),
    "uml": ("--kind", "uml"),
    "vm": ("--kind", "vm"),
}


def command(run: dict[str, Any], directory: Path) -> list[str]:
    """It ends with the process that asked for it, however that ends."""
    if run["where"] == "here":
        limit = ("timeout", "--kill-after=60", str(run["timeout"]))
        place = f"{testbed.SCRATCH_WORD}={directory}"
        return ["setpriv", "--pdeathsig", "TERM", *limit, "env", place, *_python(run, TOOLS, directory)]
    words = _python(run, SEALED_TREE / TOOLS.relative_to(TREE), SEALED_RW / "0")
    return [
        *("setpriv", "--pdeathsig", "TERM", sys.executable, str(DAVID), "lab", "run", *LAB[run["where"]]),
        *(("--kernel", run["kernel"]) if "kernel" in run else ()),
        *("--memory", run["memory"], "--timeout", str(run["timeout"])),
        *("--sealed", "--rw", str(directory), "--", *words),
    ]


def _python(run: dict[str, Any], tools: Path, files: Path) -> tuple[str, ...]:
    """The same Python and the same order of sets wherever the worker is. -m looks where it begins."""
    module = parts.program_of(run).removesuffix(".py").replace("/", ".")
    words = ("-B", "-m", f"davidlib.{module}", str(files / "run.json"), str(files / "result.json"))
    return ("env", "-C", str(tools), "PYTHONHASHSEED=0", "setarch", "-R", "/usr/bin/python3", *words)


def execute(run: dict[str, Any]) -> dict[str, Any]:
    """{"text": its result as JSON} or {"error": why there is none}."""
    try:
        parts.refuse_another_tree(run)
        came = _once(run)
        # A lab builds the module of what is in the tree when it starts.
        parts.refuse_another_tree(run)
    except UserError as error:
        return {"error": str(error)}
    return came


def _copy_files(run: dict[str, Any], directory: Path) -> None:
    """A lab does not see the files that the workload names: copies are put beside the description."""
    for key, name in files_of(run).items():
        shutil.copy(name, directory / key)


def timed_out(run: dict[str, Any]) -> str:
    """What to say of a run that was not done in time. A second try would come to the same."""
    still = ("; under the virtual clock, a program that waits without sleeping is never done"
             if run["where"] == "virtual" else "")
    return (f"{run['workload']['name']} was not done after {run['timeout']} s of real time: ask for fewer "
            f"operations or a shorter runtime, or write a larger timeout into the spec{still}")


def _run(words: list[str]) -> subprocess.CompletedProcess[str]:
    """Who is ended meanwhile ends the lab first, and lets it clean up."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace") as process:
        try:
            said, error = process.communicate()
        except BaseException:
            process.terminate()
            raise
    return subprocess.CompletedProcess(words, process.returncode, said, error)


def _once(run: dict[str, Any]) -> dict[str, Any]:
    place = localhost.SCRATCH if run["where"] == "here" else None
    with tempfile.TemporaryDirectory(prefix="dm-david-bench-", dir=place) as name:
        directory = Path(name)
        (directory / "run.json").write_text(json.dumps(run))
        _copy_files(run, directory)
        words = command(run, directory)
        done = _run(words)
        answer = directory / "result.json"
        if done.returncode == TIMED_OUT:
            return {"error": timed_out(run)}
        if done.returncode or not answer.exists():
            said = done.stderr.strip()[-TAIL:] or "it said nothing"
            return {"error": f"exit status {done.returncode}: {said}"}
        return {"text": answer.read_text()}


def main() -> int:
    """A run's description in; what came of it out, and how long it took, in seconds of real time."""
    end_like_interrupted()
    run, begin = json.load(sys.stdin), time.monotonic()
    try:
        came = execute(run)
    except KeyboardInterrupt as error:
        return ended_status(error)
    json.dump(came | {"took": time.monotonic() - begin}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
