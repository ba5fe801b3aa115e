# SPDX-License-Identifier: GPL-2.0
"""What a profile is worth: grades and intervals, derived a second way from worth.csv; classes. No lab."""

import csv
import functools
import json
import math
import re
import tomllib
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from davidlib.disk import info
from davidlib.drive import classes, everyday, files, profile_bench, profileword, realdrives, worth
from davidlib.util import UserError

TREE = Path(__file__).resolve().parents[2]
# Student's, of both sides, 95 %, by degrees of freedom (tables).
T = {3: 3.182446, 4: 2.776445, 5: 2.570582, 6: 2.446912}
# Nobody can vouch for these: ../shared/research/fidelity.md, section 4.
NOT_VOUCHED = {"hgst-ultrastar-c15k600", "hitachi-ultrastar-15k450", "ibm-ultrastar-146z10", "generic-qlc",
               "toshiba-rc100-480", "seagate-st8000as0002", "wd-ultrastar-dc-hc620-14tb",
               "wd-ultrastar-dc-zn540-1tb"}


def rows() -> list[dict[str, str]]:
    with (TREE / "profiles/evidence/worth.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@functools.cache
def class_of(name: str) -> list[str]:
    """Real drives of its class, by the files alone."""
    found = [tomllib.loads(path.read_text()) for path in (TREE / "profiles/classes").glob("*.toml")]
    [mine] = [one for one in found if name in one["drives"] + one.get("also", [])]
    return mine["drives"]


def second(name: str, kind: str, table: list[dict[str, str]]) -> tuple[str, float | None]:
    """Grade and factor, from the table alone."""
    real = [row for row in table if row["kind"] == kind and row["by"] == "measured" and row["fitted"] == "0"]
    own = [row for row in real if row["profile"] == name]
    squares = defaultdict(list)
    for row in real:
        if row["profile"] in class_of(name) and row["profile"] != name and row["of"] == "drive":
            off = math.log(float(row["modelled"])) - math.log(float(row["real"]))
            squares[row["profile"]].append(off * off)
    if any(row["of"] == "drive" for row in own):
        grade = "drive"
    else:
        grade = "class" if own or squares else "assumed"
    if len(squares) < 3:
        return grade, None
    mean = sum(sum(some) / len(some) for some in squares.values()) / len(squares)
    return grade, math.exp(T[len(squares)] * math.sqrt(mean))


def test_grades_and_factors_are_what_the_table_comes_to() -> None:
    table, with_factor = rows(), 0
    for name in files.names():
        found = worth.of_profile(name)
        for kind in worth.KINDS:
            grade, factor = second(name, kind, table)
            assert found.of(kind).grade == grade, (name, kind)
            assert found.of(kind).factor == (factor and pytest.approx(factor, rel=1e-6)), (name, kind)
            with_factor += factor is not None
    assert with_factor > 20


def test_who_nobody_can_vouch_for_is_named() -> None:
    doubted = {name for name in files.names() if worth.of_profile(name).doubt}
    assert NOT_VOUCHED <= doubted
    assert not doubted & {"toshiba-p300-3tb", "samsung-pm883", "micron-7300-pro", "intel-540s-1tb"}
    assert "it breaks rules of physics: size" in worth.of_profile("seagate-st8000as0002").doubt


def point(profile: str, modelled: float = 100.0, **other: object) -> worth.Point:
    return replace(worth.Point(profile, "reads", "a", "per s", 100.0, modelled, False, "drive", "measured"),
                   **other)


def test_a_drive_is_left_out_of_its_own_interval_and_fitted_figures_of_all() -> None:
    others = [point("a", 110), point("b", 90), point("c", 100)]
    found = worth.grade("reads", [point("x", 1000)], others)
    off = math.sqrt((math.log(1.1) ** 2 + math.log(0.9) ** 2) / 3)
    assert found.rms == pytest.approx(off) and found.factor == pytest.approx(math.exp(T[3] * off), rel=1e-6)
    assert found.grade == "drive" and found.held == 1
    assert found.interval(50) == (50 / found.factor, 50 * found.factor)
    # As many figures of one drive as there may be: it is one drive.
    assert worth.grade("reads", [], others + [point("a", 110)] * 50).rms == pytest.approx(off)
    far = [point("d", 500, fitted=True), point("d", 500, by="published"), point("d", 500, of="class"),
           point("d", 500, kind="mix")]
    assert worth.grade("reads", [], others + far).rms == pytest.approx(off)


def test_with_two_other_drives_the_error_is_unknown() -> None:
    found = worth.grade("reads", [], [point("a", 110), point("b", 90)])
    assert (found.grade, found.others, found.factor, found.interval(5)) == ("class", 2, None, None)
    assert "unknown" in str(found)


def test_what_was_fitted_or_published_or_measured_on_another_drive_is_no_measurement_of_this_one() -> None:
    def grade(*own: worth.Point) -> str:
        return worth.grade("reads", own, []).grade

    assert grade(point("x")) == "drive"
    assert grade(point("x", fitted=True), point("x", by="published"), point("x", kind="mix")) == "assumed"
    assert grade(point("x", of="class")) == "class"
    assert grade(point("x", of="class", fitted=True)) == "assumed"


@pytest.mark.parametrize(("words", "kind"), [
    ("read random count=400", "reads"), ("random", "reads"), ("read size=128K depth=32", "reads"),
    ("write random flush=1", "writes"), ("write size=1M depth=4", "writes"), ("writes=100 random", "writes"),
    ("read random depth=2", "depth"), ("write random depth=128 span=8G", "depth"),
    ("read random + read random", "depth"), ("random writes=30", "mix"),
    ("read random + write size=1M", "mix"), ("append depth=4", "writes"), ("reset filled=100", "writes"),
])
def test_a_job_is_of_one_kind(words: str, kind: str) -> None:
    assert worth.kind_of(words) == kind


def test_each_profile_is_of_one_class_and_what_is_no_drive_makes_none() -> None:
    named = [name for one in classes.every() for name in (*one.drives, *one.also)]
    assert sorted(named) == files.names()
    assert "generic-qlc" not in [name for one in classes.every() for name in one.drives]
    for one in classes.every():
        assert one.base in one.drives
        assert len(one.drives) == 1 or f"{len(one.drives)} drives" in classes.as_text(one)


def test_the_spread_of_a_parameter_is_what_its_drives_profiles_have() -> None:
    drives = classes.find("sata-tlc").drives
    texts = {name: files.path_of(name).read_text() for name in drives}
    dies = {name: int(re.findall(r"^dies = (\d+)", text, re.MULTILINE)[0]) for name, text in texts.items()}
    assert len(dies) == 4 and min(dies.values()) < max(dies.values())
    spread = classes.spread(drives)
    assert str(spread["dies"]) == f"{min(dies.values())} to {max(dies.values())} on 4 drives"
    assert str(spread["kind"]) == "alike on 4 drives" and "name" not in spread and "zone" not in spread
    assert str(classes.Spread({"a": "900us", "b": "1ms"})) == "900us to 1ms on 2 drives"
    assert str(classes.Spread({"a": "back", "b": "off"})) == "back, off on 2 drives"


@pytest.mark.parametrize(("text", "said"), [
    ('title = "a"\ndrives = ["samsung-pm883"]\nbase = "x"\nwhy = "b"\n', "base: x"),
    ('title = "a"\ndrives = ["nothing"]\nbase = "nothing"\nwhy = "b"\n', "no profile nothing"),
    ('title = "a"\n', "drives"), ('titel = "a"\ndrives = []\n', "titel"), ("[", "x.toml"),
])
def test_a_class_that_says_what_it_cannot_is_refused(text: str, said: str, tmp_path: Path,
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classes, "DIRECTORY", tmp_path)
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(UserError, match=said):
        classes._load("x")


def test_a_table_that_is_no_longer_so_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A drive of few jobs is run anew; then one figure of the table is 6 % larger, and one is missing."""
    drive = "optane-p4800x"
    now = profile_bench._points(drive)
    assert now and not worth.outdated(drive, now)
    there = [one for one in worth.table() if one.profile == drive]
    planted = [replace(there[0], modelled=there[0].modelled * 1.06), *there[1:]]
    monkeypatch.setattr(worth, "table", lambda: planted)
    assert "1 figures are no longer" in worth.outdated(drive, now)
    monkeypatch.setattr(worth, "table", lambda: there[1:])
    assert "other figures" in worth.outdated(drive, now)


def test_no_closed_form_is_a_figure_of_a_drive() -> None:
    seen = everyday.Row("random", "a", "read", "us", lambda _: 1.0, "b")
    bound = replace(seen, kind="measured")
    own = replace(seen, group="drive", kind="measured", of="class")
    found = worth.points("x", [everyday.Outcome(row, 2.0, 1.0) for row in (seen, bound, own)], [])
    assert [(one.of, one.modelled, one.real) for one in found] == [("class", 2.0, 1.0)]


def test_a_figure_of_a_data_sheet_is_published() -> None:
    figure = {"per s": realdrives.Figure(1, False, None, 1), "p99": realdrives.Figure(1, False, None, 1)}
    sources = ("data sheet", "b")
    made = [realdrives.Real("a", "fresh", 0, "write random", source, figure) for source in sources]
    found = worth.points("x", [], made)
    assert [(one.by, one.kind) for one in found] == [("published", "writes"), ("published", "tail"),
                                                     ("measured", "writes"), ("measured", "tail")]


def test_a_profile_is_graded_by_its_values_or_by_the_class_that_it_names() -> None:
    text = files.path_of("samsung-pm883").read_text()
    assert worth.of_text(text) == worth.of_profile("samsung-pm883")
    other = worth.of_text(re.sub(r"^dies = \d+", "dies = 77", text, flags=re.MULTILINE))
    assert not other.drive_class and "no class" in other.doubt
    named = worth.of_text("# class: sata-tlc\n" + text.replace("name = samsung-pm883", "name = mine"))
    assert named.drive_class == "sata-tlc" and named.doubt and named.of("tail").grade == "class"
    assert json.dumps(named.as_dict())


def test_a_made_profile_has_no_interval_of_profiles_that_were_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has that of profiles made like it (test_leftout.py). Without those nobody knows the error."""
    assert worth.of_profile("samsung-pm883").of("tail").factor
    texts = ("# class: sata-tlc\nname = mine\n", "name = mine.sata-tlc\n")
    assert worth.of_text(texts[0]).of("tail").factor == worth.of_text(texts[1]).of("tail").factor
    monkeypatch.setattr(worth, "made_table", lambda: ())
    for text in texts:
        found = worth.of_text(text)
        assert found.drive_class == "sata-tlc" and found.doubt
        for one in found.grades:
            assert (one.others, one.factor, one.interval(5)) == (0, None, None), one
            assert "error unknown, as no drive of its class was held against a profile of" in one.told


def test_a_disk_says_the_class_of_a_made_profile_by_its_name_alone() -> None:
    """What david info has: the table's word, without comments."""
    def told(name: str) -> tuple[str, str]:
        text = f"# class: nvme\n{files.path_of('samsung-pm883').read_text()}"
        word = profileword.parse(text.replace("name = samsung-pm883", f"name = {name}"), "")
        table = profileword.parse(word.text(), "table")
        found = info._drive(table, table.capacity()) | {"name": "d", "size": table.capacity(), "backing": "b",
                                                        "options": {}, "rules": [], "faults": []}
        [row] = [line for line in info.as_text(found).splitlines() if line.startswith("  worth ")]
        return found["worth"].get("class", ""), row

    assert told("mine.sata-tlc")[0] == "sata-tlc" and "of the class sata-tlc: " in told("mine.sata-tlc")[1]
    assert told("mine.nvme-plp")[0] == "nvme-plp"  # and not nvme-plp's beginning, or the comment's
    assert re.search(r"tail: class x\d", told("mine.sata-tlc")[1])
    assert not re.search(r" x\d", told("mine.nvme-plp")[1].partition("mix")[0])  # of two drives: no factor
    for name in ("mine", "mine.nothing", "sata-tlc", "mine-sata-tlc"):
        assert told(name)[0] == "" and "unknown" in told(name)[1]
    assert told("samsung-pm883")[1].count("drive x") > 0
