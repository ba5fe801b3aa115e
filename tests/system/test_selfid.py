# SPDX-License-Identifier: GPL-2.0
"""Every write of a btrfs's and an xfs's life, classified by itself: no metadata is lost, nearly all data is
squashed.

DAVID_SCALE=full runs all cases of selfid_cases.py and all images of scattered_images.py, `make check` runs
the btrfs alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.units import FULL
from labjob import PYTHON, Job
from streams.scattered_images import IMAGES
from streams.selfid_cases import CASES

PROGRAM = str(Path(__file__).with_name("selfid_record.py"))
NAMES = (*CASES, *IMAGES) if FULL else ("btrfs-single", "xfs")
JOB = Job(
    "selfid",
    "uml",
    "6.12",
    (*PYTHON, PROGRAM),
    NAMES,
    memory="4G",
    timeout=3600,
    usually=18 * len(NAMES),
    programs=("david-classify",),
)


@pytest.mark.seldom
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.lab(JOB, name)) for name in NAMES])
def test_no_metadata_is_squashed_and_data_is(lab, name: str) -> None:
    result = lab.result(name=name)
    assert result["ok"], result.get("why")
