# SPDX-License-Identifier: GPL-2.0
"""Programs that are not built in: a command of the shell, a trace that was recorded."""

from __future__ import annotations

import json
import os
import subprocess
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


def run_command(kind: str, top: str, params: dict[str, Any], seed: int) -> Record:
    """One operation: the command, to its end and until all is on the disk."""
    del kind
    record = Record()
    where = os.path.dirname(top) if top.startswith("/dev/") else top
    called.note_script(params["command"])
    with record.timed("command"):
        _call(["sh", "-ec", params["command"]], where, {"TOP": top, "SEED": str(seed)})
        os.sync()
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
