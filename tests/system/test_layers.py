# SPDX-License-Identifier: GPL-2.0
"""Who else writes to a disk: a short form of what `make layers` tries, and the list of all of it.

The rest, other modes and the control (`keep`) run with DAVID_SCALE=full. writers.toml has the list.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from cases import GROUPS, LAYERS, LONG, load, matching
from helpers.units import FULL
from labjob import PYTHON, Job

HERE = Path(__file__).parent
PROGRAM = str(HERE / "caserun.py")
MODES = ("auto", "implicit", "explicit", "keep")
SHORT = (
    *("readpast.an_ext2*_auto", "readpast.quota_files_made*_auto", "readpast.a_swap_file_made*_explicit"),
    *("strangers.an_xfs_made_behind*_auto", "volumes.a_thin_ext4*_implicit", "lvm.a_volume*_auto"),
    # What implicit has to prove: one piece, order, who is at work.
    *("volumes.an_ext4_volume*_xfs_*_implicit", "volumes.an_xfs_volume*_f2fs_*_implicit"),
    *("coincidence.an_ext4_extended*_an_xfs_*_implicit", "coincidence.an_xfs_in_pieces*_an_f2fs_*_implicit"),
    *("lvm.a_volume*_implicit", "caches.ext4_behind_a_cache*_implicit"),
    *("aftercut.a_mount_without_the_log*_implicit", "aftercut.debugfs*_implicit"),
    *("strangers.an_f2fs_in_a_partition*_implicit", "images.an_image_restored_at_random*_implicit"),
    "images.an_xfs_restored_at_random*xfs_is*_implicit",
    # Who may speak for a block. What logs its data is in seenthrough.
    *("speakers.what_is_written_in_the_boot_l*_auto", "speakers.a_raw_file_of_a_btrfs*_auto"),
    *("speakers.what_a_fake_disk_with_ext4_of_keep*_auto", "inloops.in_a_loop_on_a_file_xfs*_auto"),
    "inloops.a_luks*_auto",
)
NAMES = tuple(load(LAYERS)) if FULL else matching(load(LAYERS), SHORT)
LIMIT = 7200 if FULL else 2400
LAB = Job("layers", "uml", "6.12", (*PYTHON, PROGRAM), NAMES, memory="5G", timeout=LIMIT, usually=25)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.lab(LAB, name)) for name in NAMES])
def test_nothing_is_lost(lab, name: str) -> None:
    lab.case(name)


@pytest.mark.lab(LAB)
def test_lab_ends_well(lab) -> None:
    lab.ended_well()


def rows() -> list[dict[str, str]]:
    with open(HERE / "writers.toml", "rb") as file:
        return tomllib.load(file)["tried"]


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row['writer']}-{row['on']}".replace(" ", "_"))
def test_every_writer_names_its_case_or_why_it_has_none(row: dict[str, str]) -> None:
    assert set(row) <= {"writer", "on", "modes", "layer", "case", "held", "not_here"}, row
    assert row["writer"] and row["on"] and row["layer"], row
    assert ("not_here" in row) != ("case" in row), f"a case, or why there is none: {row}"
    if "not_here" in row:
        return
    assert row["held"], row
    known = load(GROUPS + LONG + LAYERS)
    assert row["modes"].split(), row
    for mode in row["modes"].split():
        assert mode in MODES, row
        if row["case"].partition(".")[0] in LAYERS:
            assert f"{row['case']}_in_{mode}" in known, f"no case {row['case']}_in_{mode}"
    if row["case"].partition(".")[0] not in LAYERS:
        assert row["case"] in known, f"no case {row['case']}"


def test_the_list_is_long() -> None:
    """Combinations of writer, file system, mode and layer."""
    tried = sum(len(row.get("modes", "").split()) for row in rows() if "case" in row)
    assert tried >= 60, f"{tried} combinations tried"
    assert len(rows()) >= 60, f"{len(rows())} rows"
