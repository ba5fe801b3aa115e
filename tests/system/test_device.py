# SPDX-License-Identifier: GPL-2.0
"""The device itself, case by case (cases/), in one boot of each lab."""

from __future__ import annotations

import fnmatch
from pathlib import Path

import pytest
from cases import load
from labjob import Job

PROGRAM = str(Path(__file__).with_name("caserun.py"))

# Without KVM the vm is slow, above all at starting programs: there, what more than one CPU or the stock
# kernels' own code may change.
VM = ("tables.every_bad*", "tables.status*", "tables.the_ioctl*", "tables.what*")
VM += ("content.*", "store.*", "life.*")
JOBS = [
    (Job("device", "uml", "6.12", ("python3", PROGRAM), timeout=600, usually=120), ("*",)),
    (Job("device", "vm", "6.1", ("python3", PROGRAM, *VM), timeout=1500, usually=240), VM),
    (Job("device", "vm", "6.12", ("python3", PROGRAM, *VM), timeout=1500, usually=240), VM),
]


def params() -> list:
    names = load()
    return [
        pytest.param(name, id=f"{job.kind}-{job.kernel}-{name}", marks=pytest.mark.lab(job))
        for job, patterns in JOBS
        for name in names
        if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
    ]


@pytest.mark.parametrize("name", params())
def test_case(lab, name: str) -> None:
    error = lab.result(case=name)["error"]
    if error:
        pytest.fail(error, pytrace=False)


@pytest.mark.parametrize(
    "job", [pytest.param(j, id=f"{j.kind}-{j.kernel}", marks=pytest.mark.lab(j)) for j, _ in JOBS]
)
def test_lab_ends_well(lab, job: Job) -> None:
    lab.ended_well()
