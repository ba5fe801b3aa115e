# SPDX-License-Identifier: GPL-2.0
"""Labs in the background: two at a time, three or four while nothing else runs, unless DAVID_LABS says how
many. First come those with whose results tests then work, then the longest. Their result lines are handed to
whoever waits for them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from davidlib import build

TREE = Path(__file__).resolve().parents[2]

LOGS = TREE / "build" / "system-tests"
IMPORTED = ("tools/davidlib", "tests/system/cases", "tests/system/helpers")
# A lab may be given 5 GB, and none takes it all. With that much memory there are so many at once.
MEMORY_FOR = {3: 12 << 30, 4: 20 << 30}
# Debian's own, without site: without KVM a start of it takes a third of the time of one with more about it.
PYTHON = ("/usr/bin/python3", "-S") if Path("/usr/bin/python3").exists() else ("python3",)
RESULT = "RESULT "
AT_ONCE = int(os.environ.get("DAVID_LABS", "2"))
# The debug kernel is slow, and takes more memory for its own books.
DEBUG = bool(os.environ.get("DAVID_DEBUG"))  # then only the uml lab's jobs run: no other has one
SLOWER = 6


def room_for(labs: int) -> int:
    """So many, or as many as the memory allows; two always."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    while memory < MEMORY_FOR.get(labs, 0):
        labs -= 1
    return labs


@dataclass(frozen=True)
class Job:
    """One invocation of `tools/david lab run`."""

    name: str
    kind: str
    kernel: str
    command: tuple[str, ...]
    runs: tuple[str, ...] = ()  # what else the command takes: of these, what the chosen tests need
    memory: str = "3G"
    timeout: int = 2400  # alone none takes a quarter of that; other work may take most of the machine
    usually: int = 60  # seconds on two cores, for the progress line
    rw: str = ""
    virtual_time: bool = False
    cpus: int = 0  # vm; 0: what is usual
    programs: tuple[str, ...] = ()  # of the tree, built on the host: a lab takes three times as long
    worked_on: bool = False  # its tests do more on the host than look at results

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


def compile_python() -> None:
    """For all programs from here on, those in labs, too: a lab may not write into the tree. Of a start of
    `david`, four tenths are the compiling of its sources. The bytecode stands beside them, where Python
    looks: told of another place it would look for that of its own library there, too, and find none.
    """
    places = [str(TREE / name) for name in IMPORTED]
    subprocess.run([*PYTHON, "-m", "compileall", "-q", *places], check=True)


def cpu_of_all_below(pid: int) -> float:
    """Seconds of CPU time of a process, of those that it has started, and of those that have ended."""
    below: dict[int, list[int]] = {}
    spent: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            number, _, rest = stat.read_text().partition(" ")
            words = rest.rpartition(")")[2].split()
            below.setdefault(int(words[1]), []).append(int(number))
            spent[int(number)] = sum(map(int, words[11:15]))
    total, left = 0, [pid]
    while left:
        total += spent.get(next_one := left.pop(), 0)
        left += below.get(next_one, [])
    return total / os.sysconf("SC_CLK_TCK")


class Labs:
    def __init__(self, jobs: dict[Job, tuple[str, ...]], say: Callable[[str], None]) -> None:
        """What of its runs each is to do, and where to say how they go."""
        self.runs = jobs
        self.say = say
        self.changed = threading.Condition()
        self.results: dict[Job, list[dict[str, Any]]] = {job: [] for job in jobs}
        self.ended: dict[Job, int] = {}
        self.seconds: dict[Job, float] = {}
        self.cpu: dict[Job, float] = {}  # of those that have ended, seconds of CPU time
        self.took: Counter[str] = Counter()  # of the same, what each result took since the one before
        self.waiting = sorted(jobs, key=lambda job: (not job.worked_on, -job.usually))
        self.running: set[subprocess.Popen[str]] = set()
        self.stopping = False
        LOGS.mkdir(parents=True, exist_ok=True)
        self.workers: list[threading.Thread] = []
        for _ in range(min(len(jobs), room_for(AT_ONCE))):
            self._start_worker()

    def nothing_else_runs(self) -> None:
        """From now on tests only wait. Labs wait, too, for devices and for times: so there are more."""
        if "DAVID_LABS" in os.environ:
            return
        while len(self.workers) < room_for(max(MEMORY_FOR)):
            self._start_worker()

    def _start_worker(self) -> None:
        self.workers.append(threading.Thread(target=self._work, daemon=True))
        self.workers[-1].start()

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
                end(process)
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
        some = "" if runs == job.runs else f"{len(runs)} of {len(job.runs)} runs of what "
        self.say(f"{job.describe()}: started, {some}usually takes {job.usually} s")
        for program in job.programs:
            build.ensure(program)
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
                    end(process)
            assert process.stdout
            spent = 0.0
            for line in process.stdout:
                log.write(line)
                log.flush()
                if name := self._take(job, line):
                    before, spent = spent, cpu_of_all_below(process.pid)
                    self.took[f"{name} of {job.describe()}"] += spent - before
            _, status, used = os.wait4(process.pid, 0)
            status = process.returncode = os.waitstatus_to_exitcode(status)
            with self.changed:
                self.running.discard(process)
                self.cpu[job] = used.ru_utime + used.ru_stime
        self.seconds[job] = time.monotonic() - start
        took = f"{self.seconds[job]:.0f} s, of CPU time {self.cpu[job]:.0f} s"
        self.say(f"{job.describe()}: ended with status {status} after {took}")
        return status

    def _take(self, job: Job, line: str) -> str:
        """Of a result line, what it is of."""
        # Under load the guest's console may put something before it.
        _, mark, text = line.partition(RESULT)
        if not mark:
            return ""
        try:
            result = json.loads(text)
        except ValueError:
            return ""
        with self.changed:
            self.results[job].append(result)
            self.changed.notify_all()
        return str(next(iter(result.values()), ""))


def end(process: subprocess.Popen[str]) -> None:
    """Popen's own way would take its status, which _run() waits for."""
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGTERM)
