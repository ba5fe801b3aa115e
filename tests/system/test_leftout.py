# SPDX-License-Identifier: GPL-2.0
"""What a profile made from a data sheet is worth: drives left out, one at a time, a second way. No lab."""

import csv
import io
import math
import subprocess
import tomllib
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from davidlib.calibrate import leftout, newprofile
from davidlib.drive import classes, files, worth
from davidlib.util import UserError

TREE = Path(__file__).resolve().parents[2]
TABLE = TREE / "docs/results/left-out.csv"
CHEAP = "hgst-hts721010-100gb"  # to make, and to hold
# Student's, of both sides, 95 %, by degrees of freedom (tables).
T = {3: 3.182446, 4: 2.776445, 5: 2.570582, 6: 2.446912}


def rows(name: str) -> list[dict[str, str]]:
    with (TREE / "profiles/evidence" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def second(drive_class: str, kind: str) -> tuple[int, float | None]:
    """Drives and factor, from the file of the class and the table alone."""
    drives = tomllib.loads((TREE / f"profiles/classes/{drive_class}.toml").read_text())["drives"]
    squares = defaultdict(list)
    for row in rows("made.csv"):
        if row["profile"] in drives and row["kind"] == kind and row["by"] == "measured":
            off = math.log(float(row["modelled"])) - math.log(float(row["real"]))
            squares[row["profile"]].append(off * off)
    if len(squares) < 3:
        return len(squares), None
    mean = sum(sum(some) / len(some) for some in squares.values()) / len(squares)
    return len(squares), math.exp(T[len(squares)] * math.sqrt(mean))


def test_the_interval_of_a_made_profile_is_what_the_left_out_drives_come_to() -> None:
    with_factor = 0
    for one in classes.every():
        found = worth.of_name(f"mine.{one.name}")
        assert found and found.doubt
        for grade in found.grades:
            drives, factor = second(one.name, grade.kind)
            assert (grade.others, grade.made) == (drives, True), (one.name, grade.kind)
            assert grade.factor == (factor and pytest.approx(factor, rel=1e-6)), (one.name, grade.kind)
            assert f"within {factor:.3g} times" in str(grade) if factor else "error unknown" in str(grade)
            with_factor += factor is not None
    assert with_factor >= 7


def test_all_that_was_measured_on_a_drive_judges_it() -> None:
    """Also what the shipped profile was fitted to; and what is left out has a reason."""
    made = rows("made.csv")
    shipped = rows("worth.csv")
    for drive in files.names():
        measured = [(row["kind"], row["job"], row["figure"], row["real"]) for row in shipped
                    if row["profile"] == drive and (row["of"], row["by"]) == ("drive", "measured")]
        held = [(row["kind"], row["job"], row["figure"], row["real"]) for row in made
                if row["profile"] == drive and row["by"] == "measured"]
        assert sorted(held) == ([] if leftout.why_not(drive) else sorted(measured)), drive
    assert {row["profile"] for row in made} == set(leftout.drives()) and len(leftout.drives()) > 12
    assert "nothing was measured" in leftout.why_not("seagate-exos-x20-20tb")
    assert "no data sheet" in leftout.why_not("generic-500gb-7200")


def test_no_drive_is_in_what_judges_it() -> None:
    for drive in leftout.drives():
        one = classes.without(drive)
        assert one and one.base != drive and drive not in one.drives, drive
        whole = classes.of_profile(drive)
        assert whole and one.base == (whole.then if whole.base == drive else whole.base)
    assert classes.without("optane-p4800x") is None  # nobody says what its class were without it


def test_a_class_that_goes_on_with_its_own_base_is_refused(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classes, "DIRECTORY", tmp_path)
    for then, said in (("samsung-pm883", "then: samsung-pm883 is the base itself"), ("pm", "no profile pm")):
        (tmp_path / "x.toml").write_text('title = "a"\ndrives = ["samsung-pm883"]\nbase = "samsung-pm883"\n'
                                         f'why = "b"\nthen = "{then}"\n')
        with pytest.raises(UserError, match=said):
            classes._load("x")


@pytest.fixture(scope="module")
def made() -> newprofile.Made:
    return leftout.make(CHEAP)


def test_what_the_table_has_of_a_drive_is_what_its_sheet_comes_to(
        made: newprofile.Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: a figure that is 6 % nearer, and a profile into which the drive's own values have got."""
    bases = {line.how.partition(";")[0] for line in made.draft.lines if line.source.startswith("assumed")}
    assert bases == {"as of hitachi-travelstar-5k320"}
    now = leftout.points(CHEAP, made)
    assert not worth.outdated(CHEAP, now, made=True)
    there = [one for one in worth.made_table() if one.profile == CHEAP]
    better = [replace(there[0], modelled=there[0].modelled * 1.06), *there[1:]]
    monkeypatch.setattr(worth, "made_table", lambda: tuple(better))
    assert "made.csv: 1 figures are no longer" in worth.outdated(CHEAP, now, made=True)
    monkeypatch.undo()
    known = classes.of_profile(CHEAP)
    monkeypatch.setattr(classes, "without", lambda _: known)
    told = worth.outdated(CHEAP, leftout.points(CHEAP, leftout.make(CHEAP)), made=True)
    assert "figures are no longer what the model comes to" in told and "'make left-out'" in told


def test_the_table_in_the_tree_is_what_the_command_prints() -> None:
    done = subprocess.run([TREE / "tests/bench/left-out"], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    there = [line for line in TABLE.read_text().splitlines() if line[:2] != "# "]
    assert done.stdout.splitlines() == there and len(there) > 40
    for drive in set(files.names()) - set(leftout.drives()):
        assert f"left out of this: {drive}: " in done.stderr
    for row in csv.DictReader(io.StringIO(done.stdout)):
        if row["drive"].startswith("all "):
            drives, factor = second(row["class"], row["kind"])
            assert row["drive"] == f"all {drives}"
            assert row["19 of 20 drives within"] == (f"{factor:.3g}" if factor else "unknown")
