# SPDX-License-Identifier: GPL-2.0
"""Commands that fail end with their status, one line, and nothing left behind: refused.toml. No lab; those
on disks that are there are cases.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from davidlib import build
from helpers import leftovers

RUN = Path(__file__).with_name("refusedrun.py")
NO_NAMESPACES = 77
PROGRAMS = ("david-sim", "david-store", "david-classify", "david-replay", "david-compile", "david-trace")


def refused(*words: str) -> subprocess.CompletedProcess[str]:
    for name in PROGRAMS:
        build.ensure(name)
    done = subprocess.run([RUN, *words], capture_output=True, text=True)
    if done.returncode == NO_NAMESPACES:
        pytest.skip(done.stderr)
    return done


def test_what_fails_says_why_in_one_line_and_leaves_nothing_behind() -> None:
    done = refused("--daily")
    assert not done.returncode and done.stdout.startswith("refused: "), done.stdout + done.stderr
    assert int(done.stdout.split()[1]) >= 35, done.stdout


@pytest.mark.seldom
def test_labs_that_fail_leave_nothing_behind() -> None:
    done = refused("--seldom")
    assert not done.returncode and int(done.stdout.split()[1]) >= 4, done.stdout + done.stderr


def test_what_is_planted_is_found() -> None:
    done = refused("--planted")
    assert not done.returncode and "planted: 9 of 9 found" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("row", [*leftovers.rows("host"), *leftovers.rows("lab")], ids=lambda row: row.run)
def test_a_row_says_what_has_to_be_said(row: leftovers.Row) -> None:
    """A row without a word, or of a command that succeeds, could not fail."""
    assert row.status and (row.says or not row.lines)
