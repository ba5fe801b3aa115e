# SPDX-License-Identifier: GPL-2.0
"""Random lives of file systems: six short ones of each, in `make check` three. `make trials` runs hundreds
of long ones, and says how to repeat one; `make trials-references` writes what the references of these came
to.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.units import DAILY
from labjob import PYTHON, Job

HERE = Path(__file__).parent
SEEDS = 3 if DAILY else 6
# What each may be classified by takes turns, from seed to seed.
COMMAND = (*PYTHON, str(HERE / "trials.py"), "--references", str(HERE / "trials-references.json"))
COMMAND += ("--seeds", str(SEEDS), "--count", "60", "--episodes", "2", "--rotate")


def job(name: str, *file_systems: str) -> list[tuple[str, Job]]:
    lab = Job(name, "uml", "6.12", COMMAND, file_systems, memory="1500M", usually=30)
    return [(fs, lab) for fs in file_systems]


JOBS = job("trials-1", "ext2", "ext3", "ext4", "nilfs2") + job("trials-2", "xfs", "btrfs", "f2fs")


@pytest.mark.parametrize(
    ("fs", "seed"),
    [
        pytest.param(fs, seed, id=f"{fs}-{seed}", marks=pytest.mark.lab(lab, fs))
        for fs, lab in JOBS
        for seed in range(1, SEEDS + 1)
    ],
)
def test_a_random_life_ends_clean(lab, fs: str, seed: int) -> None:
    error = lab.result(fs=fs, seed=seed)["error"]
    if error:
        pytest.fail(error, pytrace=False)


@pytest.mark.parametrize(
    "lab_", [pytest.param(lab, marks=pytest.mark.lab(lab)) for lab in dict.fromkeys(lab for _, lab in JOBS)]
)
def test_lab_ends_well(lab, lab_: Job) -> None:
    lab.ended_well()
