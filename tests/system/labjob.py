# SPDX-License-Identifier: GPL-2.0
"""Labs in the background: the longest first, two at a time, their result lines handed to whoever waits for
them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parents[2]
LOGS = TREE / "build" / "system-tests"
AT_ONCE = 2
# Debian's own, without site: without KVM a start of it takes a third of the time of one with more about it.
PYTHON = ("/usr/bin/python3", "-S") if Path("/usr/bin/python3").exists() else ("python3",)
RESULT = "RESULT "
# The debug kernel is slow, and takes more memory for its own books.
DEBUG = bool(os.environ.get("DAVID_DEBUG"))  # then only the uml lab's jobs run: no other has one
SLOWER = 6


@dataclass(frozen=True)
class Job:
    """One invocation of `tools/david lab run`."""

    name: str
    kind: str
    kernel: str
    command: tuple[str, ...]
    runs: tuple[str, ...] = ()  # what else the command takes: of these, what the chosen tests need
    memory: str = "3G"
    timeout: int = 900
    usually: int = 60  # seconds on two cores, for the progress line
    rw: str = ""
    virtual_time: bool = False
    cpus: int = 0  # vm; 0: what is usual

    def describe(self) -> str:
        return f"{self.name} in {self.kind}-{self.kernel}"

    def argv(self, runs: tuple[str, ...]) -> list[str]:
        argv = [sys.executable, str(TREE / "tools" / "david"), "lab", "run", "--kind", self.kind]
        argv += ["--kernel", self.kernel, "--memory", "4G" if DEBUG else self.memory]
        argv += ["--timeout", str(self.timeout * (SLOWER if DEBUG else 1)), *(["--debug"] if DEBUG else [])]
        argv += ["--rw", self.rw] if self.rw else []
        argv += ["--virtual-time"] if self.virtual_time else []
        argv += ["--cpus", str(self.cpus)] if self.cpus else []
        return [*argv, "--", *self.command, *runs]

    def log(self) -> Path:
        return LOGS / f"{self.name}-{self.kind}-{self.kernel}.log"


class Labs:
    def __init__(self, jobs: dict[Job, tuple[str, ...]]) -> None:
        """What of its runs each is to do."""
        self.runs = jobs
        self.changed = threading.Condition()
        self.results: dict[Job, list[dict[str, Any]]] = {job: [] for job in jobs}
        self.ended: dict[Job, int] = {}
        self.seconds: dict[Job, float] = {}
        self.waiting = sorted(jobs, key=lambda job: -job.usually)
        self.running: set[subprocess.Popen[str]] = set()
        self.stopping = False
        LOGS.mkdir(parents=True, exist_ok=True)
        self.workers = [threading.Thread(target=self._work, daemon=True) for _ in self.waiting[:AT_ONCE]]
        for worker in self.workers:
            worker.start()

    def wait(self, job: Job, wanted: dict[str, object]) -> dict[str, Any] | None:
        """The first result of `job` with all these values, or None once it has ended without."""
        with self.changed:
            while True:
                for result in self.results[job]:
                    if wanted.items() <= {key: result.get(key) for key in wanted}.items():
                        return result
                if job in self.ended:
                    return None
                self.changed.wait()

    def end(self, job: Job) -> int:
        """Exit status, once it is there."""
        with self.changed:
            self.changed.wait_for(lambda: job in self.ended)
            return self.ended[job]

    def tail(self, job: Job, size: int = 5000) -> str:
        status = self.ended.get(job)
        text = job.log().read_text(errors="replace")[-size:] if job.log().exists() else ""
        return f"exit status {status}, the end of {job.log().relative_to(TREE)}:\n{text}"

    def stop(self) -> None:
        with self.changed:
            self.stopping = True
            for process in self.running:
                process.send_signal(signal.SIGTERM)
        for worker in self.workers:
            worker.join(timeout=20)

    def _work(self) -> None:
        while True:
            with self.changed:
                if self.stopping or not self.waiting:
                    return
                job = self.waiting.pop(0)
            status = 125
            try:
                status = self._run(job)
            finally:
                with self.changed:
                    self.ended[job] = status
                    self.changed.notify_all()

    def _run(self, job: Job) -> int:
        start = time.monotonic()
        runs = self.runs[job]
        some = f"{len(runs)} of {len(job.runs)} runs of what"
        say(f"{job.describe()}: started, {some if runs != job.runs else ''} usually takes {job.usually} s")
        with open(job.log(), "w") as log:
            process = subprocess.Popen(
                job.argv(runs),
                cwd=TREE,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                errors="replace",
                env=dict(os.environ, PYTHONUNBUFFERED="1"),
            )
            with self.changed:
                self.running.add(process)
                if self.stopping:
                    process.terminate()
            assert process.stdout
            for line in process.stdout:
                log.write(line)
                log.flush()
                self._take(job, line)
            status = process.wait()
            with self.changed:
                self.running.discard(process)
        self.seconds[job] = time.monotonic() - start
        say(f"{job.describe()}: ended with status {status} after {self.seconds[job]:.0f} s")
        return status

    def _take(self, job: Job, line: str) -> None:
        # Under load the guest's console may put something before it.
        _, mark, text = line.partition(RESULT)
        if not mark:
            return
        try:
            result = json.loads(text)
        except ValueError:
            return
        with self.changed:
            self.results[job].append(result)
            self.changed.notify_all()


def say(text: str) -> None:
    """Past pytest's capture: whoever waits minutes wants to see that something happens."""
    print(f"\nlab: {text}", file=sys.__stderr__, flush=True)
