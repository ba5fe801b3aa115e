# SPDX-License-Identifier: GPL-2.0
"""How far an answer may be from the drive, beside the answer: intervals derived a second way. No lab."""

import argparse
import importlib
import json
import math
import shutil
import sys
import types
from pathlib import Path

import pytest

from davidlib.bench import prepare, runs
from davidlib.bench import results as stored
from davidlib.bench.results import Results
from davidlib.drive import worth
from davidlib.report import cli, trust
from test_bench import parse, result_of

DRIVES = ("hitachi-hds721010kla330", "samsung-pm883", "seagate-exos-x20-20tb")
QUESTION = f"""seeds = [1, 2]
[disk]
profile = {json.dumps(DRIVES)}
[[filesystem]]
type = "ext4"
[[workload]]
kind = "varmail"
"""


def stats(reads: int, writes: int, under_way: float = 1.0, seconds: float = 1.0) -> dict:
    return {"modelled": {"read": reads, "write": writes, "flush": 9},
            "modelled_ns": {"read": under_way * seconds * 1e9, "write": 0, "flush": 0}}


@pytest.mark.parametrize(("reads", "writes", "under_way", "metric", "kind"), [
    (100, 0, 1.0, "operations", "reads"), (0, 100, 1.9, "operations", "writes"),
    (95, 5, 1.0, "operations", "reads"), (89, 11, 1.0, "operations", "mix"), (11, 89, 9.0, "seconds", "mix"),
    (100, 0, 2.1, "operations", "depth"), (0, 100, 8.0, "seconds", "depth"), (100, 0, 1.0, "p99", "tail"),
    (0, 0, 0.0, "operations", ""),
])
def test_a_run_is_of_one_kind_of_job(reads: int, writes: int, under_way: float, metric: str,
                                     kind: str) -> None:
    one = {"result": {"seconds": 3.0, "stats": stats(reads, writes, under_way, 3.0)}}
    assert trust.kind_of(one, metric) == kind


def made(rates: dict[str, float], factors: dict[str, float | None], doubt: str = "") -> list[dict]:
    """Runs of writes with such operations a second by drive, whose error is at most such a factor."""
    loaded = []
    for run in runs.expand(parse(QUESTION)):
        told, base = dict(run.described), json.loads(result_of(1, 1.0))
        rate, factor = rates[told["profile"]], factors[told["profile"]]
        figures = base["result"] | {"operations_per_s": rate, "seconds": 2 / rate, "stats": stats(0, 100)}
        grade = {"grade": "class", "others": 3 if factor else 2, "factor": factor}
        known = {"class": "some", "doubt": doubt, "kinds": {"writes": grade, "depth": grade}}
        loaded.append(base | {"id": run.id, "drive": "", "run": told, "result": figures, "worth": known})
    return loaded


def test_a_figure_has_the_interval_of_its_grade() -> None:
    said = trust.sentences(made(dict(zip(DRIVES, (100, 400, 90), strict=True)), dict.fromkeys(DRIVES, 2.0)),
                           "operations")
    first = next(line for line in said if f"on {DRIVES[0]}" in line)
    assert "measured on its class; by 3 other drives of the class 'some'" in first
    assert "100 1/s, 50 to 200." in first
    assert trust.CANCELS not in said


def test_a_ratio_of_two_drives_has_the_errors_of_both() -> None:
    """Four times as fast: within errors of 2 and of 1.2; not told with 3 and 2."""
    rates = dict(zip(DRIVES, (100, 400, 90), strict=True))
    for factors, told in (((2.0, 1.2, 1.0), True), ((3.0, 2.0, 1.0), True), ((4.0, 2.0, 1.0), False)):
        said = trust.sentences(made(rates, dict(zip(DRIVES, factors, strict=True))), "operations")
        [line] = [line for line in said if f"{DRIVES[1]} over {DRIVES[0]}" in line]
        off = math.exp(math.sqrt(math.log(factors[0]) ** 2 + math.log(factors[1]) ** 2))
        assert ("is not told" not in line) == told == (4 / off > 1), line
        assert f"4 times, {4 / off:.3g} to {4 * off:.3g} by the errors of both" in line


def test_where_the_error_is_unknown_there_is_no_interval() -> None:
    found = made(dict(zip(DRIVES, (100, 400, 90), strict=True)), dict.fromkeys(DRIVES), "because")
    said = trust.sentences(found, "operations")
    assert any("error is unknown, as 2 other drives were measured of the class" in line for line in said)
    assert all(trust.NOBODY in line for line in said if "kind 'writes'" in line)
    assert any(line.endswith("is unknown, and so is the ratio's.") for line in said)
    assert not any("with 95 %" in line or "errors of both" in line for line in said)


def test_older_results_and_disks_without_a_drive_say_so_or_nothing() -> None:
    found = made(dict.fromkeys(DRIVES, 100), dict.fromkeys(DRIVES, 2.0))
    older = trust.sentences([one | {"worth": {}} for one in found], "operations")
    assert [line for line in older if "kind '" in line] == []
    assert sum("nothing is known" in line for line in older) == len(DRIVES)
    asked = [one | {"run": one["run"] | {"profile": None}} for one in found]
    assert trust.of_runs(asked, "operations") == []


def test_the_page_the_report_and_the_tables_say_what_the_grades_are(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Of shipped profiles: the grades are those of 'david profile worth'. Without Altair."""
    without = {"charts": {"Drawing": object}, "plots": {},
               "script": {"policy": lambda: "", "of_page": lambda _: ""}}
    for name, has in without.items():
        module = types.ModuleType(name)
        vars(module).update(has)
        monkeypatch.setitem(sys.modules, f"davidlib.report.{name}", module)
    for name in ("page", "export"):
        monkeypatch.delitem(sys.modules, f"davidlib.report.{name}", raising=False)
    page = importlib.import_module("davidlib.report.page")
    monkeypatch.setattr(page, "_drawings", lambda *_: ("", []))
    monkeypatch.setattr(prepare, "become", lambda: None)
    results, found = Results(tmp_path), runs.expand(parse(QUESTION))
    results.begin(QUESTION, found, tmp_path)
    for run in found:
        one = json.loads(result_of(1, 1.0))
        one["result"]["stats"] |= stats(0, 100)
        results.add(run, json.dumps(one | {"run": run.described}))
    results.write_tables(results.load())
    for row in json.loads((tmp_path / "results.json").read_text()):
        assert json.loads(row["worth"]) == worth.of_profile(row["profile"]).as_dict()
    asked = argparse.Namespace(result=str(tmp_path), new=None, rest=None, tolerance=0, metric=None,
                               output=None, files=None, width=None)
    cli.report(asked)
    printed, text = capsys.readouterr().out, (tmp_path / "report.html").read_text()
    said = [line for line in trust.sentences(results.load(), "operations") if "kind 'writes'" in line]
    assert len(said) == 3 and all(line in printed for line in said), printed
    assert all(line.replace("'", "&#x27;") in text for line in said)
    factor = worth.of_profile(DRIVES[0]).of("writes").factor
    assert factor and any(f"{2 / factor:.3g} to {2 * factor:.3g}" in line for line in said), said
    assert any(trust.NOBODY in line for line in said)
    asked.new = str(tmp_path)
    cli.report(asked)
    printed = capsys.readouterr().out.splitlines()
    kinds = [worth.of_profile(name).of("writes") for name in DRIVES]
    told = [line for line in printed if line.startswith("  varmail: a job of the kind 'writes'")]
    assert len(told) == len(DRIVES)
    assert [trust.WORDS[kind.grade] in line for kind, line in zip(kinds, told, strict=True)] == [True] * 3
    # A result whose grades were others: each says of which of the two it is.
    old = shutil.copytree(tmp_path, tmp_path.with_name("old"))
    sweep = json.loads((old / "sweep.json").read_text().replace('"grade": "drive"', '"grade": "assumed"'))
    (old / "sweep.json").write_text(json.dumps(sweep | {"digest": stored._digest(sweep)}))
    asked.result = str(old)
    cli.report(asked)
    printed = capsys.readouterr().out
    changed = sum(kind.grade == "drive" for kind in kinds)
    assert changed and printed.count("  the old result: varmail:") == changed, printed
    assert printed.count("  the new result: varmail:") == changed
