# SPDX-License-Identifier: GPL-2.0
"""tests/bench/goals: its table is docs/results/goals.csv, and follows from worth.csv a second way. No lab."""

import csv
import functools
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from davidlib.drive import worth
from helpers.scripts import loaded

TREE = Path(__file__).resolve().parents[2]
PATH = TREE / "tests/bench/goals"
TRACED = "hp_c2490a"  # its traces lie beside the tree, or nowhere


@functools.cache
def printed(*words: str) -> tuple[int, str]:
    done = subprocess.run([PATH, *words], capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| what |")]


def test_the_table_in_the_tree_is_what_the_command_prints() -> None:
    """The rows of disks whose traces lie beside the tree are compared where they are."""
    there = [line for line in (TREE / "docs/results/goals.csv").read_text().splitlines() if line[:2] != "# "]
    traced = any((one / f"{TRACED}.params").exists() for one in loaded(PATH).TRACES)
    status, text = printed("--csv")
    now = text.splitlines()
    assert status == 3 and len(now) > 40
    assert [line for line in there if traced or TRACED not in line] == [
        line for line in now if traced or TRACED not in line]


def test_means_follow_from_the_table_of_figures() -> None:
    with (TREE / "profiles/evidence/worth.csv").open(newline="") as file:
        table = list(csv.DictReader(file))

    def percents(drive: str, figure: str, job: str) -> list[float]:
        return [100 * abs(float(row["modelled"]) - float(row["real"])) / float(row["real"]) for row in table
                if row["profile"] == drive and row["figure"] == figure and re.search(job, row["job"])]

    text = printed()[1]
    mixed = percents("intel-540s-1tb", "per s", "beside")
    assert len(mixed) == 35
    assert f"random reads, per s, mean of what they are off | 15 % | {sum(mixed) / 35:.0f} % (35 " in text
    deep = percents("samsung-860-pro", "p99", "^writes, depth")
    assert len(deep) == 6 and max(deep) < 35
    assert f"860 PRO, writes, p99, at most | 35 % | {max(deep):.0f} % (6 figures; depth 2) |" in text
    [far] = percents("micron-7300-pro", "p50", "^reads of 1 MiB, written in order")
    assert far > 15 and f"reads of 1 MiB, written in order, p50 | 15 % of 807 | **-{far:.0f} %** |" in text


def test_what_is_missed_or_not_judged_is_counted_and_is_the_status() -> None:
    status, text = printed()
    missed, unknown = text.count("**") // 2, sum(" not worse |" in line for line in rows(text))
    assert status == 3 and missed
    met = len(rows(text)) - missed - unknown
    assert f"{len(rows(text))} rows: {met} goals are met, {missed} missed, {unknown} not judged" in text


def test_a_disk_without_traces_is_not_judged(tmp_path: Path) -> None:
    text = printed("--traces", str(tmp_path))[1]
    assert text.count("not measured: no hp_c2490a.params") == 3 and "dec_rz26.params" in text


def test_a_figure_that_moves_misses_its_goal_and_none_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: one real figure is 20 % larger, then a drive has none."""
    goals, table = loaded(PATH), worth.table()
    assert all(row.good for row in goals.depths() if "reads, per s" in row.what)
    planted = tuple(replace(one, real=one.real * 1.2) if (one.profile, one.job, one.figure) == (
        "samsung-860-pro", "reads, depth 8", "per s") else one for one in table)
    monkeypatch.setattr(worth, "table", lambda: planted)
    assert [row.good for row in goals.depths() if "reads, per s" in row.what] == [False]
    without = tuple(one for one in table if one.profile != "samsung-860-pro")
    monkeypatch.setattr(worth, "table", lambda: without)
    with pytest.raises(SystemExit, match="no figure 'per s' of samsung-860-pro"):
        goals.depths()
