# SPDX-License-Identifier: GPL-2.0
"""Ctrl-C and SIGTERM, phase by phase: one line, the status of the table, nothing left behind, and it goes on.

A terminal sends Ctrl-C to the command and to all that it has started. So does the test, as soon as it sees
that the command is in the phase: by the processes that are there, or by what it has said. No lab of pytest's.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from davidlib.bench.results import Results
from test_bench import TREE
from test_bench_goals import made

DAVID = str(TREE / "tools" / "david")
MARK = "DAVID_TEST_MARK"
PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
SECONDS = 120
SILENT = "nothing"
Sign = Callable[["Begun"], bool]


def others(mark: str) -> dict[int, str]:
    """Processes with this mark in their environment, and their command lines."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}\0".encode() in (path / "environ").read_bytes():
                line = (path / "cmdline").read_bytes()
                found[int(path.name)] = line.replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            pass  # it has gone
    return {pid: line for pid, line in found.items() if line}


def lines_of(pid: int) -> list[str]:
    """Command lines of a process and of all that it has started."""
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        below = [int(one) for task in Path(f"/proc/{pid}/task").iterdir()
                 for one in (task / "children").read_text().split()]
    except OSError:
        return []  # it has gone
    return [line, *(found for one in below for found in lines_of(one))]


@dataclass
class Begun:
    """A command under way, in a session of its own."""

    words: list[str]
    top: Path
    mark: str = field(default_factory=lambda: f"{os.getpid()}-{random.getrandbits(64)}")

    def __post_init__(self) -> None:
        self.temporary = self.top / "tmp"
        self.temporary.mkdir(exist_ok=True)
        self.since, self.files = time.monotonic(), [self.top / "said", self.top / "told"]
        # What is asked of mkfs takes no time: there one that does comes first.
        slow = self.top / "bin" / "mkfs.ext4"
        slow.parent.mkdir(exist_ok=True)
        slow.write_text(f'#!/bin/sh\nsleep 0.3\nexec {shutil.which("mkfs.ext4", path=PATH)} "$@"\n')
        slow.chmod(0o755)
        env = os.environ | {"TMPDIR": str(self.temporary), "PATH": f"{slow.parent}:{PATH}", MARK: self.mark}
        with self.files[0].open("w") as said, self.files[1].open("w") as told:
            self.program = subprocess.Popen([sys.executable, DAVID, *self.words], cwd=self.top, env=env,
                                            stdout=told, stderr=said, stdin=subprocess.DEVNULL,
                                            start_new_session=True)

    def said(self) -> str:
        return self.files[0].read_text()

    def has(self, word: str) -> bool:
        return any(word in line for line in lines_of(self.program.pid))

    def until(self, sign: Sign) -> None:
        while not sign(self):
            assert self.program.poll() is None, f"it ended before that phase: {self.said()}"
            assert time.monotonic() < self.since + SECONDS, f"that phase did not come: {self.said()}"
            time.sleep(0.01)

    def end(self, number: int, whole: bool = True) -> tuple[int, str]:
        """Its status, as a shell has it, and its last words; nobody of it is left, and no file in its TMPDIR.

        While modules are read the signal ends Python itself, and there are no words."""
        for _ in range(2):  # who waits for an end asks again
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.program.pid, number) if whole else self.program.send_signal(number)
            time.sleep(0.03)
        status = self.program.wait(60)
        for _ in range(50):  # Python's own helper sees a moment later that nobody is there
            if not (left := others(self.mark)):
                break
            time.sleep(0.1)
        assert not left, left
        assert not list(self.temporary.iterdir()), list(self.temporary.rglob("*"))
        said = self.said()
        assert "Traceback" not in said and said.count("stopped") == (status > 0), said
        return (128 - status, SILENT) if status < 0 else (status, said)


def after(seconds: float) -> Sign:
    return lambda begun: time.monotonic() >= begun.since + seconds


def running(word: str, more: float = 0) -> Sign:
    """So long after there is such a process."""
    def sign(begun: Begun) -> bool:
        if begun.has(word):
            time.sleep(more)
            return True
        return False

    return sign


QUESTION = """
repeats = 4
[disk]
profile = "samsung-pm883"
size = "8G"
backing = "256M"
[[filesystem]]
type = "ext4"
mkfs = ["-J", "size=8"]
[[workload]]
kind = "varmail"
operations = 200
"""
SELDOM = pytest.mark.seldom
REQUESTS = 100000  # they take a drive a second
BOTH = [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=SELDOM)]


def question(top: Path) -> Path:
    path = top / "q.toml"
    path.write_text(QUESTION)
    return path


def big_trace(top: Path) -> Path:
    rng, path, now = random.Random(1), top / "big.csv", 128166372000000000
    with path.open("w") as file:
        for number in range(REQUESTS):
            now += rng.randrange(200000)
            kind = "Read" if number % 3 else "Write"
            file.write(f"{now},usr,0,{kind},{rng.randrange(10 ** 8) * 4096},4096,1000\n")
    return path


@pytest.mark.parametrize(("number", "status"), BOTH)
@pytest.mark.parametrize(
    "sign",
    [
        pytest.param(after(0.12), id="modules are read"),
        pytest.param(running("bin/mkfs.ext4"), id="the question is checked"),
        pytest.param(running("tools/setup bench"), id="its Python is set up", marks=SELDOM),
        pytest.param(running("make -s"), id="programs are built", marks=SELDOM),
        pytest.param(running(" lab module "), id="the module is built"),
        pytest.param(running(" lab module ", 0.1), id="the module is looked at", marks=SELDOM),
    ],
)
def test_bench_is_stopped_before_its_first_run(number: int, status: int, sign: Sign, tmp_path: Path) -> None:
    begun = Begun(["bench", str(question(tmp_path))], tmp_path)
    begun.until(sign)
    got, said = begun.end(number, whole=number == signal.SIGINT)
    assert got == status and said in ("david: bench: stopped\n", SILENT), said
    assert not (tmp_path / "q.result" / "runs").exists() or not list((tmp_path / "q.result/runs").iterdir())


@pytest.mark.parametrize(("number", "status"), BOTH)
@pytest.mark.parametrize("seconds", [0.4, pytest.param(0.1, marks=SELDOM)])
def test_a_report_is_stopped(number: int, status: int, seconds: float, tmp_path: Path) -> None:
    results = tmp_path / "a.result"
    made(results, {"ext4": [400] * 30, "xfs": [500] * 30}, paged=True)
    before = {path.name for path in results.iterdir()}
    begun = Begun(["report", str(results), "--files", str(tmp_path / "files")], tmp_path)
    begun.until(running("/venv-bench-", seconds))
    got, said = begun.end(number, whole=number == signal.SIGINT)
    assert got == status and said in ("david: report: stopped\n", SILENT), said
    assert {path.name for path in results.iterdir()} <= before | {"report.html"}
    page = results / "report.html"
    assert not page.exists() or page.read_text().rstrip().endswith("</html>")


@pytest.mark.parametrize(("number", "status"), BOTH)
@pytest.mark.parametrize("sign", [pytest.param(after(0.4), id="the trace is read"),
                                  pytest.param(running("david-sim blocks"), id="drives serve it")])
def test_a_simulation_is_stopped_and_its_table_is_not_there_in_part(number: int, status: int, sign: Sign,
                                                                    tmp_path: Path) -> None:
    """Half of a table would look like a whole one. Where it was done before it was asked: again."""
    out, trace = tmp_path / "out.csv", str(big_trace(tmp_path))
    words = ["sim", trace, "--profile", "seagate-exos-x20-20tb", "--loop", "open", "-o", str(out)]
    for _ in range(5):
        out.unlink(missing_ok=True)
        begun = Begun(words, tmp_path)
        begun.until(sign)
        got, said = begun.end(number, whole=number == signal.SIGINT)
        if got:
            break
    assert got == status and said in ("david: sim: stopped\n", SILENT), said
    assert not out.exists() or len(out.read_text().splitlines()) == REQUESTS + 1


def results_of(top: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (top / "q.result" / "runs").iterdir()}


@SELDOM
@pytest.mark.parametrize(("number", "status"), BOTH)
def test_a_sweep_is_stopped_phase_by_phase_and_goes_on(number: int, status: int, tmp_path: Path) -> None:
    """One directory of results all the way: each time there are as many runs as the last line says."""
    words = ["bench", str(question(tmp_path)), "--workers", "1"]
    phases: list[tuple[str, Sign, int]] = [
        ("a cluster is made", lambda begun: "results in" in begun.said(), 0),
        ("a lab begins", running(" lab run "), 0),
        ("it boots", running("/linux ", 0.1), 0),
        ("it runs", running("/linux ", 1.5), 0),
        ("results come in", lambda begun: "1 of 4 runs" in begun.said(), 1),
        ("the page is made", running(" report "), 4),
    ]
    kept: dict[str, bytes] = {}
    for phase, sign, least in phases:
        begun = Begun(words, tmp_path)
        begun.until(sign)
        got, said = begun.end(number, whole=number == signal.SIGINT)
        last = said.splitlines()[-1]
        assert got == status, f"{phase}: {said}"
        found = results_of(tmp_path)
        assert least <= len(found) and kept.items() <= found.items(), f"{phase}: {said}"
        if phase != "the page is made":
            known = f"david: bench: stopped; {len(found)} of 4 runs are there, and the same command goes on"
            early = ["david: bench: stopped"] if phase == "a cluster is made" else []
            assert last in [known, *early], f"{phase}: {said}"
        else:
            assert last == "david: bench: stopped", f"{phase}: {said}"
        kept = found
    begun = Begun(words, tmp_path)
    assert begun.program.wait(300) == 0, begun.said()
    assert "4 of them are there" in begun.said() and results_of(tmp_path) == kept
    assert len(Results(tmp_path / "q.result").load()) == 4 and not others(begun.mark)
