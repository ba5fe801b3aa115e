# SPDX-License-Identifier: GPL-2.0
"""Many runs as tasks of Dask: on workers of this machine, or of a scheduler that exists.

Dask has its own ways to Slurm, Kubernetes and others, and its own care for workers that die: their runs are
done elsewhere. Results come back by value, so that workers share no directory with this process.
"""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker

import dask
from distributed import Client, LocalCluster, as_completed
from typing import Any

from ..util import TREE, UserError
from .runs import Run

# A run that takes that many workers with it is to blame.
DEATHS = 3
# A run, what came of it, and how many have come so far.
Done = Callable[[Run, dict[str, Any]], None]


def by_value() -> Callable[[str, dict[str, Any]], dict[str, Any]]:
    """What a worker is handed. It may be a process of another machine, which has the tree at the same path,
    and no davidlib on its own path. So the function goes there by value, and starts labrun.py. A function
    within a function always goes by value; Dask would send another one as a name to import.
    """

    def execute(tools: str, described: dict[str, Any]) -> dict[str, Any]:
        """one.execute() of the tree that the sweep was started from."""
        import json
        import os
        import subprocess
        import sys

        if not os.path.isdir(tools):
            return {"error": f"this worker has no {tools}: it needs dm-david's tree at the same path"}
        words = ("setpriv", "--pdeathsig", "TERM", sys.executable, "-B", "-m", "davidlib.bench.labrun")
        done = subprocess.run(words, cwd=tools, input=json.dumps(described), capture_output=True, text=True)
        if done.returncode:
            return {"error": f"{words[-1]}: exit status {done.returncode}: {done.stderr.strip()[-1500:]}"}
        came: dict[str, Any] = json.loads(done.stdout)
        return came

    return execute


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Threads and processes that begin meanwhile never see Ctrl-C, nor do theirs: a terminal sends it to all
    of them, and each worker would print where it was. One that comes meanwhile is this thread's afterwards,
    and so is SIGTERM: a cluster that is made in part cannot be closed.
    """
    # Python starts it with the first process, and then lets that thread have Ctrl-C.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    # Not blocked: that would be the workers', too, and their labs would not end with them.
    came: list[int] = []
    handler = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number in came[:1]:
            signal.raise_signal(number)


@contextmanager
def client_of(scheduler: str, workers: int) -> Iterator[Client]:
    dask.config.set({"distributed.scheduler.allowed-failures": DEATHS, "distributed.admin.tick.limit": "1h",
                     "distributed.comm.timeouts.connect": "20s"})
    if scheduler:
        try:
            with Client(scheduler) as client:
                yield client
        except OSError as error:
            raise UserError(f"--scheduler {scheduler}: {error}; is it running, and reachable?") from None
        return
    # Dask's own directory in /tmp would stay.
    scratch = tempfile.TemporaryDirectory(prefix="david-bench-")
    dask.config.set({"temporary-directory": scratch.name})
    with without_interrupts():
        local = LocalCluster(n_workers=workers, threads_per_worker=1, processes=True,
                             local_directory=scratch.name, dashboard_address="127.0.0.1:0",
                             silence_logs="CRITICAL")
        client = Client(local)
    with scratch, local, client:
        yield client


def sweep(runs: list[Run], scheduler: str, workers: int, done: Done) -> None:
    """Do these runs and call done() for each as it ends, in whatever order."""
    execute, tools = by_value(), str(TREE / "tools")
    with client_of(scheduler, workers) as client:
        futures = {
            # In the order of the runs: who stops a sweep knows what is there.
            client.submit(execute, tools, run.described, key=run.id, pure=False, priority=-number): run
            for number, run in enumerate(runs)
        }
        for future in as_completed(futures):
            error = future.exception()
            done(futures[future], {"error": f"its worker died: {error}"} if error else future.result())
            future.release()
