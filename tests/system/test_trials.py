# SPDX-License-Identifier: GPL-2.0
"""Random lives of file systems: a few short ones. `make trials` runs hundreds, and says how to repeat one."""

from __future__ import annotations

from pathlib import Path

import pytest
from labjob import PYTHON, Job

PROGRAM = str(Path(__file__).with_name("trials.py"))
# Short enough for `make check`: one seed a file system, in the mode that sees least of it. Ten take minutes.
RUNS = ("ext2:implicit", "ext3:implicit", "ext4:auto", "ext4:implicit", "xfs:implicit", "btrfs:implicit")
RUNS += ("f2fs:explicit", "nilfs2:explicit")
COMMAND = (*PYTHON, PROGRAM, "--seeds", "1", "--count", "60", "--episodes", "2", *RUNS)
JOB = Job("trials", "uml", "6.12", COMMAND, memory="1500M", timeout=300, usually=25)


@pytest.mark.parametrize(
    ("fs", "classify"), [pytest.param(*run.split(":"), id=run, marks=pytest.mark.lab(JOB)) for run in RUNS]
)
def test_a_random_life_ends_clean(lab, fs: str, classify: str) -> None:
    error = lab.result(fs=fs, classify=classify)["error"]
    if error:
        pytest.fail(error, pytrace=False)


@pytest.mark.lab(JOB)
def test_lab_ends_well(lab) -> None:
    lab.ended_well()
