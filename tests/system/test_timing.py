# SPDX-License-Identifier: GPL-2.0
"""Times: under the virtual clock of the uml lab they are david-sim's (cases/vtime.py, vflash.py)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cases import VIRTUAL, chosen, matching
from labjob import PYTHON, Job

COMMAND = (*PYTHON, str(Path(__file__).with_name("caserun.py")))
CASES = tuple(chosen(VIRTUAL))
AN_HOUR = matching(CASES, ("vtime.an_hour_of_disk_time",))
REPEATED = matching(CASES, ("vtime.a_run_that_is_repeated",))
OTHERS = tuple(name for name in CASES if name not in AN_HOUR + REPEATED)


LIMIT = 2400  # as of the other labs: beside six times as much to do, 600 were too few


def job(name: str, cases: tuple[str, ...], usually: int) -> Job:
    return Job(name, "uml", "6.12", COMMAND, cases, timeout=LIMIT, usually=usually, virtual_time=True,
               programs=("david-trace", "david-compile", "david-replay"))


HOUR = job("hour", AN_HOUR, usually=5)
TWICE = [job(f"repeat-{number}", REPEATED, usually=5) for number in (1, 2)]
VTIME = job("vtime", OTHERS, usually=110)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.lab(job, name))
        for job in (VTIME, HOUR, TWICE[0])
        for name in job.runs
    ],
)
def test_case(lab, name: str) -> None:
    lab.case(name)


@pytest.mark.lab(HOUR)
def test_an_hour_of_disk_time_takes_no_hour(lab) -> None:
    """The lab is ended after LIMIT seconds: it could not wait for the modelled disk in real time."""
    lab.ended_well()


@pytest.mark.lab(TWICE[0])
@pytest.mark.lab(TWICE[1])
def test_two_runs_are_the_same_to_the_nanosecond(lab) -> None:
    digests = [lab.labs.wait(job, {"repeated": True}) for job in TWICE]
    assert all(digests) and digests[0] == digests[1], digests


@pytest.mark.parametrize(
    "job", [pytest.param(j, id=j.name, marks=pytest.mark.lab(j)) for j in (VTIME, *TWICE)]
)
def test_lab_ends_well(lab, job: Job) -> None:
    lab.ended_well()


@pytest.mark.seldom
def test_an_nvme_drive_of_10_us_delivers_in_time() -> None:
    """Where an instruction takes a nanosecond, on a stock kernel: the machine's load does not show.

    `make lateness` has slower drives, more requests and planted bugs.
    """
    lateness = Path(__file__).resolve().parents[1] / "bench/lateness"
    run = subprocess.run([lateness, "--short"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
