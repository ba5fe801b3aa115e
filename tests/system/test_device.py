# SPDX-License-Identifier: GPL-2.0
"""The device itself, case by case (cases/), in each lab. What runs where stands at the case: see cases."""

from __future__ import annotations

from pathlib import Path

import pytest

import vmjobs
from cases import GROUPS, LONG, about, chosen, load
from helpers.units import FULL
from labjob import DEBUG, PYTHON, Job

HERE = Path(__file__).parent
COMMAND = (*PYTHON, str(HERE / "caserun.py"))
PROGRAMS = ("david-store", "david-classify")
LIMIT = 2400  # 140 to 170 are usual; on a machine with six times as much to do, 1200 were too few
CASES = load(GROUPS)


def in_groups(groups: tuple[str, ...]) -> tuple[str, ...]:
    """For the uml lab."""
    return tuple(name for name, case in chosen(groups).items() if about(case).uml)


def with_one_cpu(groups: tuple[str, ...]) -> tuple[str, ...]:
    """For the uml lab of 6.12. Those that several CPUs may break run with two in the newest kernel's; in make
    check, which does not need to show twice what does not depend on the kernel, only there.
    """
    return tuple(name for name in in_groups(groups) if FULL or DEBUG or not about(CASES[name]).cpus)


SEVERAL = (
    *(name for name in in_groups(GROUPS) if about(CASES[name]).cpus),
    *in_groups(("races",)),
)
JOBS = [
    # More CPUs than the host has spend their time waiting for each other.
    Job("cpus", "uml", "newest", COMMAND, SEVERAL, timeout=LIMIT, usually=80, cpus=4 if FULL else 2,
        programs=PROGRAMS)
]
# In the uml lab in three boots, so that there is work for all CPUs to the end.
JOBS += [
    Job(f"device-{n + 1}", "uml", "6.12", COMMAND, with_one_cpu(GROUPS[n::3]), timeout=LIMIT, usually=90,
        programs=PROGRAMS)
    for n in range(3)
]
CHOSEN = [(job, name) for job in JOBS for name in job.runs]
CHOSEN += [(job, name) for kernel, job in vmjobs.JOBS.items() for name in vmjobs.cases(kernel)]
if FULL:
    OTHERS = in_groups(tuple(group for group in LONG if group not in ("vmguest", "races")))
    JOBS += [
        Job("long", "uml", "6.12", COMMAND, OTHERS, usually=240),
        Job("guests", "uml", "6.12", COMMAND, in_groups(("vmguest",)), timeout=7200, usually=900),
    ]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, id=f"{job.kind}-{job.kernel}-{name}", marks=pytest.mark.lab(job, name))
        for job, name in CHOSEN
    ],
)
def test_case(lab, name: str) -> None:
    lab.case(name)


if vmjobs.STOCK and not FULL:
    ONE_CPU = Job(
        "one-cpu", "uml", "6.12", COMMAND, tuple(name for name in SEVERAL if name in CASES), timeout=LIMIT,
        programs=PROGRAMS,
    )

    @pytest.mark.parametrize(
        "name", [pytest.param(name, marks=pytest.mark.lab(ONE_CPU, name)) for name in ONE_CPU.runs]
    )
    def test_case_with_one_cpu(lab, name: str) -> None:
        lab.case(name)


@pytest.mark.parametrize(
    "job", [
        pytest.param(j, id=f"{j.name}-{j.kind}-{j.kernel}", marks=pytest.mark.lab(j))
        for j in (*JOBS, *vmjobs.JOBS.values())
    ],
)
def test_lab_ends_well(lab, job: Job) -> None:
    lab.ended_well()
