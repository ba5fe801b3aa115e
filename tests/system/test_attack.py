# SPDX-License-Identifier: GPL-2.0
"""Composed attacks: a few in short, in a lab; and is attack.toml complete?"""

from __future__ import annotations

import re
import itertools
import time
from pathlib import Path

import pytest

from helpers import attacklife
from helpers.attacklayers import BUILDERS
from helpers.attacklife import Judged, Lived, judged, reduced
from helpers.attackplan import LAYERS_MOST, MODES, STEPS_LEAST, Plan, compose, drops, read, rows, table
from helpers.attackside import Moment
from helpers.attacksteps import STEPS
from attackrun import outcome
from labjob import PYTHON, Job

HERE = Path(__file__).parent
# Layers, file systems and modes that differ; as short as they are, they do not find much.
SEEDS = ("1003", "1164")
LAB = Job(
    "attack", "uml", "6.12", (*PYTHON, str(HERE / "attackrun.py"), "short"), SEEDS, memory="4G", usually=30
)
INJECT = HERE.parents[1] / "dm-david" / "base" / "inject.h"


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=pytest.mark.lab(LAB, seed)) for seed in SEEDS])
def test_a_short_attack_finds_nothing(lab, seed: str) -> None:
    found = lab.result(seed=int(seed))
    assert not found["wrong"] and not found["control"] and not found["not_built"], found
    assert found["squashed"], "nothing was squashed, so nothing could have been lost"


@pytest.mark.lab(LAB)
def test_lab_ends_well(lab) -> None:
    lab.ended_well()


def test_each_layer_and_each_step_of_the_table_is_one_that_can_be_done() -> None:
    assert [row["name"] for row in rows("layers")] == list(BUILDERS)
    assert sorted(row["name"] for row in rows("steps")) == sorted(STEPS)
    assert len(STEPS) >= 60


def test_what_cannot_be_built_says_why() -> None:
    wanting = [
        row for kind in ("layers", "file_systems", "steps") for row in table()[kind] if "not_here" in row
    ]
    assert wanting and all(row["not_here"] for row in wanting)


def test_what_the_table_names_is_in_the_table() -> None:
    layers = {row["name"] for row in rows("layers")}
    kinds = {row["name"] for row in rows("file_systems")}
    for row in rows("steps"):
        assert set(row.get("layers", ())) <= layers and set(row.get("fs", ())) <= kinds, row
    for row in table()["planted"]:
        assert row["lives"], row
        assert set(row["hold"]) <= {*Plan.__dataclass_fields__, "often"}, row
        assert set(row["hold"].get("often", ())) <= set(STEPS), row
        assert set(row["hold"].get("layers", ())) <= layers and row["hold"].get("fs", "xfs") in kinds, row
        assert re.search(rf"^ \*\t{row['plant']}\t", INJECT.read_text(), re.MULTILINE), row


def test_a_seed_is_a_plan_and_a_plan_is_a_file(tmp_path: Path) -> None:
    for seed in range(1, 300):
        plan = compose(seed)
        assert len(plan.layers) <= LAYERS_MOST and len(plan.steps) >= STEPS_LEAST
        assert compose(seed).text() == plan.text()
    path = tmp_path / "plan.json"
    path.write_text(plan.text())
    assert read(path) == plan


def test_each_layer_file_system_and_step_is_chosen_by_some_seed() -> None:
    plans = [compose(seed) for seed in range(1, 1500)]
    assert {name for plan in plans for name in plan.layers} == {row["name"] for row in rows("layers")}
    assert {plan.fs for plan in plans} == {row["name"] for row in rows("file_systems")}
    assert {name for plan in plans for name, _ in plan.steps} == set(STEPS)


def test_most_lives_drop_data() -> None:
    """As far as their layers and their file system let them. Where nothing is dropped nothing is lost."""
    plans = [compose(seed) for seed in range(1, 300)]
    assert sum(map(drops, plans)) > len(plans) * 0.6
    assert not all(map(drops, plans))


def test_what_drops_does_so_in_a_mode_that_there_is() -> None:
    for kind in ("layers", "file_systems"):
        for row in rows(kind):
            assert set(row.get("drops", ())) <= set(MODES) - {"explicit", "keep"}, row


def test_a_step_does_the_same_when_others_are_left_out() -> None:
    plan = compose(7)
    assert plan.with_steps(plan.steps[3:]).steps[0] == plan.steps[3]


def test_what_fails_is_reduced_to_the_steps_that_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = compose(7)
    wanted = [plan.steps[20], plan.steps[51]]

    def judged(plan: Plan) -> Judged:
        return Judged(wrong="lost" * (set(wanted) <= set(plan.steps)))

    monkeypatch.setattr(attacklife, "judged", judged)
    assert reduced(plan, 60, lambda text: None).steps == wanted
    assert reduced(plan, 0, lambda text: None).steps == plan.steps


def lived(*moments: Moment) -> Lived:
    return Lived([*moments])


def test_what_the_control_has_too_is_no_failure() -> None:
    def compared(control: Lived, fake: Lived) -> str:
        return attacklife.compared(control, fake).wrong

    refused, tree, said = Moment(0, "a", "no"), Moment(0, "a", tree=["x"]), Moment(0, "a", complaints=["bad"])
    good = Moment(0, "a")
    assert not compared(lived(refused, tree, said), lived(refused, tree, said))
    assert compared(lived(good), lived(refused)) == "no"
    assert not compared(lived(refused, tree), lived(good, Moment(1, "b", tree=["y"])))
    assert "not the control's" in compared(lived(tree), lived(Moment(0, "a", tree=["y"])))
    assert "kernel: bad" in compared(lived(good), lived(said))
    assert not compared(lived(good, said), lived(said, good))


@pytest.mark.parametrize("always", [False, True])
def test_what_only_the_control_refuses_ends_the_comparison_and_is_said(
    monkeypatch: pytest.MonkeyPatch, always: bool
) -> None:
    """What is lost behind it is found all the same: once more without that step. Where that is of no avail,
    the life is not clean.
    """
    plan = compose(7).with_steps([("a", 1), ("b", 2), ("c", 3), ("d", 4)])

    def lived_now(plan: Plan, fake: bool) -> Lived:
        moments = [Moment(at, name) for at, (name, _) in enumerate(plan.steps)]
        for moment in moments:
            if not fake and (moment.name == "b" or always):
                moment.refused = "no"
            if moment.name == "c":
                moment.tree = ["fake" if fake else "control"]
        found = lived(*moments)
        found.steps = len(moments)
        return found

    monkeypatch.setattr(attacklife, "lived", lived_now)
    found = judged(plan)
    if always:
        assert found.part and not found.wrong and len(found.left_out) == 3, found
        assert outcome(found) == "part"
        assert outcome(judged(plan.with_steps([]))) == "part"
    else:
        assert "not the control's" in found.wrong, found
        assert found.left_out == ["b: no"] and found.compared == 1 and found.steps == 7, found


def test_a_life_that_takes_too_long_is_late_and_ends_no_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def slow(plan: Plan, fake: bool) -> Lived:
        with attacklife.timed(Lived(steps=3), "fs: grow"):
            time.sleep(3)
        return Lived()

    monkeypatch.setattr(attacklife, "AT", tmp_path / "at")
    monkeypatch.setattr(attacklife, "lived_here", slow)
    monkeypatch.setattr(attacklife, "clean_up", lambda: None)
    # Of the clock, and of CPU time, which somebody else spends.
    for longest, spent in ((0.2, (0.0,)), (60, (0.0, 0.0, 61.0))):
        clock = itertools.chain(spent, itertools.repeat(spent[-1]))
        monkeypatch.setattr(attacklife, "LONGEST", longest)
        monkeypatch.setattr(attacklife, "busy", lambda clock=clock: next(clock))
        assert "step 3, fs: grow" in attacklife.lived(compose(7), True).late
    monkeypatch.setattr(attacklife, "LONGEST", 60)
    monkeypatch.setattr(attacklife, "busy", lambda: 0.0)
    assert not attacklife.lived(compose(7), True).late
