# SPDX-License-Identifier: GPL-2.0
"""Times: under the virtual clock of the uml lab they are david-sim's, to the nanosecond (cases/vtime.py)."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases import VIRTUAL, load
from labjob import PYTHON, Job

PROGRAM = str(Path(__file__).with_name("caserun.py"))


def job(name: str, *patterns: str, usually: int) -> Job:
    command = (*PYTHON, PROGRAM, *patterns)
    return Job(name, "uml", "6.12", command, timeout=600, usually=usually, virtual_time=True)


HOUR = job("hour", "vtime.an_hour*", usually=15)
TWICE = [job(f"repeat-{number}", "vtime.a_run*", usually=10) for number in (1, 2)]
VTIME = job("vtime", "vtime.[!a]*", "vtime.a_burst*", usually=90)


def job_of(name: str) -> Job:
    return HOUR if name == "vtime.an_hour_of_disk_time" else TWICE[0] if "repeated" in name else VTIME


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.lab(job_of(name))) for name in load(VIRTUAL)]
)
def test_case(lab, name: str) -> None:
    error = lab.result(case=name)["error"]
    if error:
        pytest.fail(error, pytrace=False)


@pytest.mark.lab(HOUR)
def test_an_hour_of_disk_time_passes_within_a_minute(lab) -> None:
    lab.ended_well()
    assert lab.labs.seconds[HOUR] < 60


@pytest.mark.lab(TWICE[1])
def test_two_runs_are_the_same_to_the_nanosecond(lab) -> None:
    digests = [lab.labs.wait(job, {"repeated": True}) for job in TWICE]
    assert all(digests) and digests[0] == digests[1], digests


@pytest.mark.parametrize(
    "job", [pytest.param(j, id=j.name, marks=pytest.mark.lab(j)) for j in (VTIME, *TWICE)]
)
def test_lab_ends_well(lab, job: Job) -> None:
    lab.ended_well()
