# SPDX-License-Identifier: GPL-2.0
"""Programs that are not built in: a command of the shell, a job of fio, a trace that was recorded."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from .. import build, losses
from . import called
from .record import Record
from .several import WorkFailed

JOB = "/tmp/david-bench.fio"


def _call(words: list[str], cwd: str, env: dict[str, str]) -> str:
    called.note(words[0])
    env = os.environ | env
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, errors="replace")
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip())[-800:]
        raise WorkFailed(f"{words[-1]}: exit status {done.returncode}: {said}")
    return done.stdout


def run_command(kind: str, top: str, params: dict, seed: int) -> Record:
    """One operation: the command, to its end and until all is on the disk."""
    del kind
    record = Record()
    where = os.path.dirname(top) if top.startswith("/dev/") else top
    called.note_script(params["command"])
    with record.timed("command"):
        _call(["sh", "-ec", params["command"]], where, {"TOP": top, "SEED": str(seed)})
        os.sync()
    return record


def _job_file(top: str, params: dict, seed: int) -> Path:
    path = Path(JOB)
    place = f"filename={top}" if top.startswith("/dev/") else f"directory={top}"
    # fio's own clock is the processor's, which is not the virtual one.
    options = f"[global]\n{place}\nclocksource=clock_gettime\nrandseed={seed}\n"
    path.write_text(options + params["job"].replace("[global]", "") + "\n")
    return path


def run_fio(kind: str, top: str, params: dict, seed: int) -> Record:
    """An operation is a request; of each kind fio tells number and mean."""
    del kind
    record = Record()
    path = _job_file(top, params, seed)
    said = _call(["fio", "--output-format=json", str(path)], "/", {})
    for job in json.loads(said[said.index("{") :])["jobs"]:
        for kind_of in ("read", "write"):
            side = job[kind_of]
            if side["total_ios"]:
                mean = side["lat_ns"]["mean"]
                record.add(kind_of, side["total_ios"], round(mean * side["total_ios"]))
        record.read += job["read"]["io_bytes"]
        record.written += job["write"]["io_bytes"]
    return record


REPLAY = "david-replay"


def prepare_replay(top: str, params: dict, seed: int) -> None:
    """The tree that was there before the trace."""
    del seed
    _call([str(build.ensure(REPLAY)), "prepare", params["trace"], top], "/", {})


def run_replay(kind: str, top: str, params: dict, seed: int) -> Record:
    """An operation is a call; of each kind the replayer tells number and mean."""
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
        record.add(name.lower(), spread["n"], round(spread["n"] * spread["mean"]))
    record.read, record.written = found["bytes-read"], found["bytes-written"]
    return record
