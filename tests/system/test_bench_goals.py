# SPDX-License-Identifier: GPL-2.0
"""david bench: thresholds of a question, two results beside each other, and the format of results. No lab."""

from __future__ import annotations

import argparse
import copy
import html
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from davidlib.bench import results as store
from davidlib.bench import durations, loop, runs, spec
from davidlib.bench.goals import parse as goal_of
from davidlib.bench.results import Results, signed_sweep
from davidlib.report import compare, thresholds
from davidlib import util
from davidlib.util import UserError
from helpers import ctrlc, madeup
from test_bench import DISK, TREE, WORK, latency_of, parse, result_of

SYSTEMS = '[[filesystem]]\ntype = ["ext4", "xfs"]\n'


@pytest.mark.parametrize(
    ("text", "metric", "value", "missed", "met"),
    [
        ("p99 > 20ms", "p99", 20, 20.1, 20),
        ("p99 >= 20000us", "p99", 20, 20, 19.9),
        ("mean>1.5s", "mean", 1500, 1501, 1500),
        ("seconds > 500ms", "seconds", 0.5, 0.51, 0.5),
        ("operations < 500", "operations", 500, 499, 500),
        ("operations <= 500/s", "operations", 500, 500, 501),
        ("megabytes < 12.5 MB/s", "megabytes", 12.5, 12, 13),
    ],
)
def test_a_threshold_is_a_metric_a_comparison_and_a_value(text: str, metric: str, value: float, missed: float,
                                                          met: float) -> None:
    found = goal_of(text)
    assert (found.metric, found.value) == (metric, pytest.approx(value))
    assert found.missed(missed) and not found.missed(met)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('"p99"', "want a metric, a comparison"),
        ('"p99 = 20ms"', "want a metric, a comparison"),
        ('"p999 > 20ms"', "p999 is none of operations"),
        ('"p99 > 20"', "the value has no unit; write one of ns, us, ms, s"),
        ('"p99 > 20MB/s"', "'MB/s' is no unit of p99; write ns, us, ms, s"),
        ('"operations < 5 ms"', "'ms' is no unit of operations; write /s"),
        ('"post: p99 > 20ms"', "there is no workload 'post'; there are varmail"),
        ('["p99 > 20ms", "p99 > 20ms"]', ": a value is there twice"),
        ("20", "want a text"),
    ],
)
def test_a_mistake_in_a_threshold_is_named_by_its_line(text: str, says: str) -> None:
    with pytest.raises(spec.SpecError, match=f"a.toml:1: fail-if.*{re.escape(says)}"):
        parse(f"fail-if = {text}\n" + DISK + WORK)


def test_a_threshold_of_what_a_workload_does_not_have_is_refused() -> None:
    du = DISK + WORK + '[[workload]]\nkind = "du"\n'
    with pytest.raises(spec.SpecError, match="a.toml:1: .*p99 is not known of workload 'du': "):
        parse('fail-if = "p99 > 1s"\n' + du)
    assert parse('fail-if = "varmail: p99 > 1s"\n' + du).goals[0].workload == "varmail"


def made(top: Path, rates: dict[str, list[float]], first: str = "", paged: bool = False) -> Results:
    """A result with so many operations a second of each file system and seed; PAGED: of which a page can be
    made, with other rates."""
    text = f"{first}seeds = {list(range(1, len(rates['ext4']) + 1))}\n" + DISK + SYSTEMS + WORK
    found, results = runs.expand(parse(text)), Results(top)
    results.begin(text, found, top)
    for run in found:
        seed = run.described["seed"]
        one = json.loads(result_of(seed, 2 / rates[run.variant][seed - 1]))
        one |= {"result": madeup.result(random.Random(seed), 1.0)} if paged else {}
        results.add(run, json.dumps(one | {"run": run.described}))
    return results


def david(*words: object) -> tuple[int, str]:
    command = [sys.executable, str(TREE / "tools" / "david"), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_a_threshold_is_missed_by_the_mean_of_a_variant(tmp_path: Path) -> None:
    results = made(tmp_path, {"ext4": [400, 600], "xfs": [400, 590]}, 'fail-if = "operations < 500"\n')
    loaded, goals = results.load(), results.question()[0].goals
    assert thresholds.missed(loaded, goals) == [
        "operations < 500: varmail, xfs: 495 1/s, 95 % interval 0 to 1,700, 2 seeds"]
    assert thresholds.said([], goals, True) == ["No threshold is missed: operations < 500."]
    [judged] = thresholds.said(["operations < 500: varmail, xfs: 495 1/s"], goals, False)
    assert judged.startswith("No threshold is met or missed, as runs are missing or not to be believed: ")
    assert not thresholds.said([], [], True)


OLD = {"ext4": [100.0, 110, 120], "xfs": [200.0, 210, 220]}


@pytest.mark.parametrize(
    ("ext4", "tolerance", "verdict"),
    [
        ([90.0, 99, 108.1], 0.0, compare.WORSE),
        ([90.0, 99, 108.1], 0.2, compare.OPEN),
        ([90.0, 99, 108], 0.0, compare.WORSE),
        ([130.0, 140, 150], 0.0, compare.BETTER),
        ([100.0, 110, 120], 0.0, compare.SAME),
        ([90.0, 120, 118], 0.0, compare.OPEN),
    ],
)
def test_what_got_worse_is_told_by_its_interval(tmp_path: Path, ext4: list[float], tolerance: float,
                                                verdict: str) -> None:
    old = made(tmp_path / "a", OLD).load()
    new = made(tmp_path / "b", OLD | {"ext4": ext4}).load()
    found = {one.variant: one for one in compare.changes(old, new, "operations", tolerance)}
    assert found["ext4"].verdict == verdict and found["xfs"].verdict == compare.SAME
    # As many fewer seconds are the same news.
    turned = {one.variant: one for one in compare.changes(old, new, "seconds", tolerance)}
    assert turned["ext4"].verdict == verdict
    assert f"varmail, ext4: operations a second 110 -> {sum(ext4) / 3:.3g}"[:45] in str(found["ext4"]) or \
        verdict == compare.SAME


def test_one_seed_is_no_verdict_and_what_is_alone_is_named(tmp_path: Path) -> None:
    old = made(tmp_path / "a", {"ext4": [100.0, 7], "xfs": [200.0, 7]}).load()
    new = made(tmp_path / "b", {"ext4": [50.0], "xfs": [200.0]}).load()
    found = {one.variant: one.verdict for one in compare.changes(old, new, "operations")}
    assert found == {"ext4": compare.ALONE, "xfs": compare.SAME}
    assert compare.alone(old, new) == ["2 runs are in the old result alone, such as varmail, ext4, seed 2"]
    assert compare.between(old, new) == ["nothing that decides a figure is another one"]
    other = copy.deepcopy(new)
    for one in other:
        one["id"], one["run"]["workload"]["name"] = "x", "post"
    with pytest.raises(UserError, match="no workload, variant and seed in common"):
        compare.changes(old, other, "operations")


def test_two_results_end_with_3_where_one_is_worse_and_with_2_where_one_is_not_valid(tmp_path: Path) -> None:
    made(tmp_path / "a", OLD)
    made(tmp_path / "b", OLD | {"ext4": [90.0, 98, 108]})
    status, said = david("report", tmp_path / "a", tmp_path / "b")
    assert status == 3 and "1 of 2 got worse" in said, said
    assert "ext4: operations a second 110 -> 98.7" in said, said
    assert david("report", tmp_path / "b", tmp_path / "a")[0] == 0
    assert david("report", tmp_path / "a", tmp_path / "b", "--tolerance", "30%")[0] == 0
    assert "no tolerance" in david("report", tmp_path / "a", tmp_path / "b", "--tolerance", "many")[1]
    assert david("report", tmp_path / "a", tmp_path / "b", "--files", "x")[0] == 1
    results = Results(tmp_path / "b")
    path = next(results.runs.iterdir())
    one = json.loads(path.read_text())
    one["result"]["wrong"] = ["no space: 3"]
    path.write_text(store.signed(one, one["id"]))
    status, said = david("report", tmp_path / "a", tmp_path / "b")
    assert status == 2 and "the new result: 1 of 6 runs are not valid" in said, said


def test_a_percentile_is_compared_of_one_kind_in_both(tmp_path: Path) -> None:
    """In the new result another kind takes most of the time."""
    old, new = (made(tmp_path / name, {"ext4": [100.0], "xfs": [100.0]}).load() for name in "ab")
    for found, times in ((old, {"read": 5, "write": 4}), (new, {"read": 3, "write": 30})):
        for one in found:
            one["result"]["latency"] = latency_of(**times)
    change = compare.changes(old, new, "p99")[0]
    assert (change.old, change.new) == (4, 30) and "'write'" in change.metric


def test_results_have_a_format_and_a_newer_one_is_refused_by_name(tmp_path: Path) -> None:
    results = made(tmp_path, {"ext4": [1.0], "xfs": [2.0]})
    loaded = results.load()
    assert [one["run"]["factors"] for one in loaded] == [{"file system": "ext4"}, {"file system": "xfs"}]
    results.write_tables(loaded)
    with sqlite3.connect(tmp_path / "results.sqlite") as db:
        assert db.execute("PRAGMA user_version").fetchone() == (store.FORMAT,)
        [text] = db.execute("SELECT factors FROM runs WHERE variant = 'xfs'").fetchone()
        assert json.loads(text) == {"file system": "xfs"}
    sweep, text = tmp_path / "sweep.json", (tmp_path / "spec.toml").read_text()
    words = json.loads(sweep.read_text())["runs"]
    # As an older one wrote it: no format, no factors.
    old = {"runs": [{key: value for key, value in one.items() if key != "factors"} for one in words],
           "question": json.loads(sweep.read_text())["question"]}
    sweep.write_text(json.dumps(old | {"digest": store._digest(old)}))
    assert [one["run"]["factors"] for one in results.load()] == [{"variant": "ext4"}, {"variant": "xfs"}]
    new = json.loads(signed_sweep(words, text)) | {"format": store.FORMAT + 1}
    new["digest"] = store._digest(new)
    sweep.write_text(json.dumps(new))
    with pytest.raises(UserError, match=f"results of format {store.FORMAT + 1}, .* reads up to "
                                        f"{store.FORMAT}"):
        results.load()


def test_of_two_sweeps_with_one_directory_the_second_says_who_the_first_is(tmp_path: Path) -> None:
    results = made(tmp_path, {"ext4": [1.0], "xfs": [2.0]})
    script = ("import sys, time\nfrom pathlib import Path\nfrom davidlib.bench import lock\n"
              "lock.take(Path(sys.argv[1]))\nprint('locked', flush=True)\ntime.sleep(60)\n")
    first = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True,
                             cwd=TREE / "tools")
    try:
        assert first.stdout and first.stdout.readline() == "locked\n"
        before = (tmp_path / "spec.toml").read_text()
        with pytest.raises(UserError, match=f"process {first.pid} is at work there; wait"):
            results.begin("another question", [], tmp_path)
        # Its question is still there.
        assert (tmp_path / "spec.toml").read_text() == before
    finally:
        first.kill()
        first.wait()
    results.begin(before, [], tmp_path)


def rewritten(top: Path, old: str, new: str) -> None:
    """The question, as an older dm-david would have taken it."""
    text = (top / "spec.toml").read_text()
    assert old in text
    words = json.loads((top / "sweep.json").read_text())["runs"]
    (top / "spec.toml").write_text(text.replace(old, new))
    (top / "sweep.json").write_text(signed_sweep(words, text.replace(old, new)))


def test_runs_of_a_question_that_would_be_refused_today_are_reported_so(tmp_path: Path) -> None:
    """They are there. That a rule came later is said, on the page too, and status 2 says it to programs."""
    made(tmp_path, OLD, 'question = "which?"\nfail-if = "operations < 1"\n', paged=True)
    status, said = david("report", tmp_path)
    assert status == 0 and "would refuse" not in said, said
    rewritten(tmp_path, 'kind = "varmail"', 'kind = "varmail"\nramp_time = 3')
    status, said = david("report", tmp_path)
    line = (tmp_path / "spec.toml").read_text().splitlines().index("ramp_time = 3") + 1
    why = f"'david bench' would refuse this question today: line {line}: ramp_time: unknown here; "
    assert status == 2 and why in said, said
    assert "varmail: " in said and "No threshold is met or missed, as " in said, said
    page = (tmp_path / "report.html").read_text()
    assert html.escape(why) in page and "<h1>which?</h1>" in page
    status, said = david("report", tmp_path, tmp_path)
    assert status == 2 and f"the old result: {why}" in said and f"the new result: {why}" in said, said
    rewritten(tmp_path, "fail-if = ", "metric = 3\nfail-if = ")
    status, said = david("report", tmp_path)
    assert status == 1 and "metric = 3: want a text" in said, said


def test_runs_whose_drives_file_is_gone_are_reported(tmp_path: Path) -> None:
    """Nothing is wrong with them."""
    made(tmp_path, OLD, paged=True)
    rewritten(tmp_path, 'profile = "', 'profile = "gone/')
    status, said = david("report", tmp_path)
    assert status == 0 and "'david bench' could not ask this question now: line " in said, said


def swept(results: Results, monkeypatch: pytest.MonkeyPatch, run_all: Callable) -> int:
    found = runs.expand(parse("seeds = [1, 2, 3]\n" + DISK + WORK))
    results.begin("", found)
    monkeypatch.setattr(loop, "run_all", run_all)
    monkeypatch.setattr(loop, "inner", lambda *words: 0)
    monkeypatch.setattr(durations, "KEPT", results.top / "seconds.json")
    return loop.do(argparse.Namespace(workers=1, scheduler=""), results, found, 1)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_who_ends_it_gets_a_line_and_its_status(number: int, status: int, tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch,
                                                capsys: pytest.CaptureFixture[str]) -> None:
    def run_all(todo: list[runs.Run], progress: loop.Progress, *_: object) -> None:
        progress.done(todo[0], {"text": result_of(1, 3.0), "took": 2.0})
        signal.raise_signal(number)

    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    util.end_like_interrupted()
    try:
        with ctrlc.for_us():
            assert swept(Results(tmp_path / "a"), monkeypatch, run_all) == status
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    *_, progress, last = capsys.readouterr().err.splitlines()
    assert "took 2 s; 1 of 3 runs" in progress
    assert last == "david: bench: stopped; 1 of 3 runs are there, and the same command goes on"


def test_a_run_that_is_ended_leaves_nothing(tmp_path: Path) -> None:
    """Its lab ends first, and what it has made for itself goes."""
    script = ("import sys\nfrom davidlib.bench import labrun\nlabrun.parts.refuse_another_tree = id\n"
              "labrun.command = lambda run, place: ['sh', '-c', f'echo $$ >{place}/lab; exec sleep 77']\n"
              "labrun._copy_files = lambda run, place: None\nsys.exit(labrun.main())\n")
    run = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, text=True,
                           cwd=TREE / "tools", env=os.environ | {"TMPDIR": str(tmp_path)})
    assert run.stdin
    run.stdin.write('{"where": "virtual"}')
    run.stdin.close()
    while not (begun := [path for path in tmp_path.glob("*/lab") if path.read_text()]):
        assert run.poll() is None
        time.sleep(0.02)
    lab = int(begun[0].read_text())
    run.send_signal(signal.SIGTERM)
    assert run.wait(30) == 143 and not list(tmp_path.iterdir())
    assert not Path(f"/proc/{lab}").exists()


def test_a_run_that_cannot_be_written_is_one_run_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                             capsys: pytest.CaptureFixture[str]) -> None:
    results = Results(tmp_path / "a")
    real = results.add

    def add(run: runs.Run, text: str) -> None:
        if run.described["seed"] == 2:
            raise UserError("x: No space left on device; it is as it was before")
        real(run, text)

    def run_all(todo: list[runs.Run], progress: loop.Progress, *_: object) -> None:
        for run in todo:
            progress.done(run, {"text": result_of(run.described["seed"], 3.0)})

    monkeypatch.setattr(results, "add", add)
    assert swept(results, monkeypatch, run_all) == 1
    assert len(list(results.runs.iterdir())) == 2
    said = capsys.readouterr().err
    assert "run failed: ext4-varmail-seed2-" in said and "No space left" in said, said
    assert "1 of 3 runs failed" in said, said
