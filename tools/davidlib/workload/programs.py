# SPDX-License-Identifier: GPL-2.0
"""Programs that are not built in: a command of the shell, a trace that was recorded."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from .. import build, losses
from . import called
from .record import Record
from .several import WorkFailed


def _call(words: list[str], cwd: str, env: dict[str, str]) -> str:
    called.note(words[0])
    env = os.environ | env
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, errors="replace")
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip())[-800:]
        raise WorkFailed(f"{words[-1]}: exit status {done.returncode}: {said}")
    return done.stdout


PR_SET_CHILD_SUBREAPER = 36


def _adopt() -> None:
    """Processes that their parent leaves are this one's from now on."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _children() -> dict[int, str]:
    """Processes of this one that have not ended, and their names."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, tail = path.read_text(errors="replace").rpartition(")")
        except OSError:
            continue  # it has gone
        state, parent, *_ = tail.split()
        if int(parent) == os.getpid() and state != "Z":
            found[int(path.parent.name)] = head.partition("(")[2]
    return found


def run_command(kind: str, top: str, params: dict[str, Any], seed: int) -> Record:
    """One operation: the command, to its end and until all is on the disk."""
    del kind
    record = Record()
    where = os.path.dirname(top) if top.startswith("/dev/") else top
    called.note_script(params["command"])
    _adopt()
    before = _children()
    with record.timed("command"):
        _call(["sh", "-ec", params["command"]], where, {"TOP": top, "SEED": str(seed)})
        os.sync()
    if left := [name for pid, name in _children().items() if pid not in before]:
        raise WorkFailed(f"command: {', '.join(sorted(set(left)))} went on when it had ended, and the figure "
                         "would be without that: write 'wait' at its end, or end them there")
    return record


REPLAY = "david-replay"
QUANTILES = {"min": 0, "p50": 500, "p99": 990, "p99.9": 999, "max": 1000}  # of the replayer; thousandths


def prepare_replay(top: str, params: dict[str, Any], seed: int) -> None:
    """The tree that was there before the trace."""
    del seed
    _call([str(build.ensure(REPLAY)), "prepare", params["trace"], top], "/", {})


def run_replay(kind: str, top: str, params: dict[str, Any], seed: int) -> Record:
    """An operation is a call; of each kind the replayer tells number, mean and some quantiles."""
    del kind, seed
    record = Record()
    # The trace is not on @top's disk: a run's disk has nothing on it but what the run makes.
    options = ("--timing", params["timing"], "--share-disk")
    words = [str(build.ensure(REPLAY)), "run", *options, params["trace"], top]
    found = json.loads(_call(words, "/", {}))
    if not found["compared"]:
        raise WorkFailed(f"{params['trace']}: it has no call that is replayed")
    # Below that it was another workload.
    if found["compared"] - found["same"] > losses.LIMIT * found["compared"]:
        same = f"{found['same']} of {found['compared']} calls are as in the original"
        raise WorkFailed(f"{params['trace']}: only {same}")
    for name, call in found["calls"].items():
        spread = call["replay"]
        known = {share: spread[quantile] for quantile, share in QUANTILES.items()}
        record.tell(name.lower(), spread["n"], round(spread["n"] * spread["mean"]), known)
    record.read, record.written = found["bytes-read"], found["bytes-written"]
    return record
