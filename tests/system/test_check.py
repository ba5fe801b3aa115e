# SPDX-License-Identifier: GPL-2.0
"""`make check` runs all its parts, ends with the first that fails, and says what each took. No lab."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from davidlib import build
from davidlib.util import BUILD, locked
from helpers.scripts import loaded

CHECK = Path(__file__).resolve().parents[1] / "check"
PARTS = ("programs", "lint", "unit", "fuzz", "modules", "kunit", "commands", "traces", "labs")
# Parts that wait for each other: they run at the same time, or not at all.
TOGETHER = {
    "lint": "touch lint; until test -e modules; do sleep 0.1; done",
    "modules": "touch modules; until test -e lint; do sleep 0.1; done",
    "unit": "until test -e labs; do sleep 0.1; done",
    "commands": "touch commands; until test -e traces; do sleep 0.1; done",
    "traces": "touch traces; until test -e labs; do sleep 0.1; done",
    "labs": "touch labs; until test -e commands; do sleep 0.1; done",
}


def checked(directory: Path, recipes: dict[str, str]) -> subprocess.CompletedProcess[str]:
    text = "".join(f"{part}:\n\t@{recipes.get(part, ':')}\n" for part in PARTS)
    (directory / "Makefile").write_text(f".PHONY: {' '.join(PARTS)}\n{text}")
    words = [sys.executable, CHECK, "--daily", directory]
    return subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)


def rows(done: subprocess.CompletedProcess[str]) -> dict[str, list[str]]:
    """Of the table at the end, by part."""
    table = done.stderr.rpartition("== part")[2].splitlines()[1:-1]
    return {line.split()[1]: line.split()[2:] for line in table}


def test_all_parts_run_four_at_a_time_and_their_times_are_said(tmp_path: Path) -> None:
    works = "echo ok 1 of a suite; i=0; while [ $$i -lt 3000000 ]; do i=$$((i+1)); done"
    done = checked(tmp_path, TOGETHER | {"unit": TOGETHER["unit"] + "; " + works})
    assert done.returncode == 0, done.stderr
    assert set(rows(done)) == set(PARTS), done.stderr
    assert "ok 1 of a suite" in done.stdout and "all tests passed" in done.stderr
    cpu = {part: int(row[1]) for part, row in rows(done).items()}
    assert cpu["unit"] > 0 and max(cpu, key=cpu.__getitem__) == "unit", cpu


def test_a_part_that_has_just_ended_does_not_save_the_others(tmp_path: Path) -> None:
    """It has been waited for, and is still among those that run. It hung once, on a busy machine."""
    over, on = (subprocess.Popen([name, "100"], start_new_session=True) for name in ("true", "sleep"))
    over.wait()
    check = loaded(CHECK).Check(tmp_path, "make check", {})
    check.running = [over, on]
    try:
        check.end()
        assert on.wait(60) == -signal.SIGINT
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(on.pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("part", "behind", "waits"),
    [
        ("unit", "fuzz", "labs"),
        ("kunit", "labs", "fuzz"),
        ("commands", "", "labs"),
        ("traces", "", "commands"),
    ],
)
def test_a_part_that_fails_ends_the_others(part: str, behind: str, waits: str, tmp_path: Path) -> None:
    """What it said is printed; what comes behind it is not begun, and what would go on is ended."""
    fails = "until test -e begun; do sleep 0.1; done; echo what was wrong; exit 1"
    done = checked(tmp_path, {waits: "touch begun; exec sleep 1000", part: fails})
    assert done.returncode == 1
    assert "what was wrong" in done.stdout and f"make {part} failed" in done.stderr, done.stderr
    assert f"make check failed: make {part} failed" in done.stderr.splitlines()[-1]
    assert rows(done)[waits][-1] == "ended"
    assert waits in rows(done) and (not behind or behind not in rows(done)), done.stderr


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_what_ends_the_check_ends_its_parts(number: signal.Signals, tmp_path: Path) -> None:
    """Such as a terminal that is closed."""
    (tmp_path / "Makefile").write_text(
        f".PHONY: {' '.join(PARTS)}\n{' '.join(PARTS)}:\n\t@echo $$$$ >$@.pid; touch begun; exec sleep 1000\n"
    )
    words = [sys.executable, CHECK, "--daily", tmp_path]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as check:
        while not (tmp_path / "begun").exists():
            time.sleep(0.1)
        check.send_signal(number)
        said = check.communicate(timeout=300)[1]
    assert check.returncode == 1 and "make check failed: interrupted" in said.splitlines()[-1], said
    [pid] = [int(path.read_text()) for path in tmp_path.glob("*.pid")]
    assert not Path(f"/proc/{pid}").exists()


def test_ctrl_c_reaches_what_tests_start_in_a_run_in_the_background_and_not_the_run() -> None:
    """SigIgn is a mask: bit 1 is SIGINT's."""
    begun = "import signal, subprocess, sys; from helpers import ctrlc; ctrlc.for_children()"
    asks = "signal.raise_signal(signal.SIGINT); subprocess.run(['grep', 'SigIgn', '/proc/self/status'])"
    words = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", sys.executable, "-c", f"{begun}; {asks}"]
    done = subprocess.run(words, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    assert not int(done.stdout.split()[1], 16) & 1 << signal.SIGINT - 1, done.stdout


@pytest.mark.parametrize("program", ["check", "conftest.py"])
def test_a_clone_without_links_is_told_so(program: str, tmp_path: Path) -> None:
    source = CHECK if program == "check" else Path(__file__).with_name(program)
    copy = tmp_path / program
    copy.write_text(source.read_text())
    words = [copy] if program == "check" else ["-m", "pytest", "-p", "no:cacheprovider", tmp_path]
    for link in ("", "../tools/davidlib"):  # nothing, and what git leaves where links cannot be
        if link:
            (tmp_path / "davidlib").write_text(link)
        command = [sys.executable, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode, done.stdout
        assert "this clone has no symbolic links" in done.stderr, done.stderr
        assert "Traceback" not in done.stderr, done.stderr


def test_who_finds_a_program_built_waits_for_nobody_and_says_nothing() -> None:
    """Many commands begin with this: beside others they would say now and then that they have waited."""
    build.ensure("david-sim")
    words = [sys.executable, "-c", "from davidlib import build; build.ensure('david-sim')"]
    with locked(BUILD / "david-sim.lock", "a test"):
        done = subprocess.run(words, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
