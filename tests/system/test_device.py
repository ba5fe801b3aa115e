# SPDX-License-Identifier: GPL-2.0
"""The device itself, case by case (cases/), in each lab."""

from __future__ import annotations

import fnmatch
import os
from pathlib import Path

import pytest
from cases import GROUPS, LONG, load
from labjob import PYTHON, Job

PROGRAM = str(Path(__file__).with_name("caserun.py"))

# Without KVM the vm is slow, above all at starting programs. There run the cases that more than one CPU or
# the stock kernels' own code may change; the two kernels share those that depend on neither version.
BOTH = (
    *("content.anonymous*", "store.full*", "store.a_flush*"),
    *("life.reload_changes*", "life.overlapping*"),
    *("timing.the_disk*", "timing.requests*", "timing.a_full*"),
    "kernels.*",
)
ONLY_6_1 = (
    "tables.status*",
    "content.keep*_4096",
    "content.an_unmounted*",
    "content.a_partition*",
    "life.suspend*",
    "timing.suspend*",
)
ONLY_6_12 = (
    "tables.what*",
    "tables.the_ioctl*",
    "content.keep*_512",
    "content.a_page*",
    "content.one_request*",
    "store.*",
    "life.[!as]*",
    "life.a_s*",
)
ALL = tuple(f"{group}.*" for group in GROUPS)
# The newest kernel that Debian serves: what each file system's owners, checksums, times and log rest on.
NEWEST = (
    *("kernels.*", "content.anonymous*", "sums.squashed_units*", "timing.the_disk*", "timing.requests*"),
    "powercut.ext4_recovers*",
)
# In the uml lab in two boots, so that there is work for two CPUs to the end.
UML_HALVES = (ALL[::2], ALL[1::2])
# Page owners, names and quotas, the same on every kernel; programs are slow without KVM.
UML_ONLY = ("rawfiles.*", "byfile.*", "xfsquota.*", "crypt.*", "packed.*", "plan.*")
VM_ALL = tuple(pattern for pattern in ALL if pattern not in UML_ONLY)
FULL = os.environ.get("DAVID_SCALE") == "full"
LIMIT = 1800 if FULL else 600
VM_6_1, VM_6_12 = (VM_ALL, VM_ALL) if FULL else (BOTH + ONLY_6_1, BOTH + ONLY_6_12)

JOBS = [
    (Job("device", "vm", "6.12", (*PYTHON, PROGRAM, *VM_6_12), timeout=1500, usually=220), VM_6_12),
    # One CPU costs the host a third less; 6.12 has two.
    (Job("device", "vm", "newest", (*PYTHON, PROGRAM, *NEWEST), timeout=1500, usually=90, cpus=1), NEWEST),
    (Job("device", "vm", "6.1", (*PYTHON, PROGRAM, *VM_6_1), timeout=1500, usually=100, cpus=1), VM_6_1),
]
JOBS += [
    (Job(f"device-{n}", "uml", "6.12", (*PYTHON, PROGRAM, *half), timeout=LIMIT, usually=120), half)
    for n, half in enumerate(UML_HALVES, 1)
]
if FULL:
    LONGER = tuple(f"{group}.*" for group in LONG if group != "vmguest")
    JOBS.append((Job("long", "uml", "6.12", (*PYTHON, PROGRAM, *LONGER), timeout=900, usually=240), LONGER))
    GUESTS = ("vmguest.*",)
    GUESTS_JOB = Job("guests", "uml", "6.12", (*PYTHON, PROGRAM, *GUESTS), timeout=7200, usually=900)
    JOBS.append((GUESTS_JOB, GUESTS))


def params() -> list:
    names = load(GROUPS + LONG)
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
    "job", [pytest.param(j, id=f"{j.name}-{j.kind}-{j.kernel}", marks=pytest.mark.lab(j)) for j, _ in JOBS]
)
def test_lab_ends_well(lab, job: Job) -> None:
    lab.ended_well()
