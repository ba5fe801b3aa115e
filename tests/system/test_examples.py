# SPDX-License-Identifier: GPL-2.0
"""examples/: each question is read and has its runs, each script does what it says, and GUIDE names all.

No lab.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from davidlib import build
from davidlib.bench import spec
from davidlib.bench.runs import expand
from helpers.scripts import loaded

TREE = Path(__file__).resolve().parents[2]
EXAMPLES = TREE / "examples"
DAVID = TREE / "tools" / "david"
# By question: how many runs, as its lists multiply.
RUNS = {"mail.toml": 2 * 2 * 5, "array.toml": 3 * 3, "latency.toml": 2 * 3}


def run(*words: object, where: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PYTHONPATH": str(TREE / "tools"), "DAVID": str(DAVID), "DAVID_SIM": str(build.ensure("david-sim"))
    }  # fmt: skip
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, cwd=where, env=environment)


@pytest.mark.parametrize("name", RUNS)
def test_a_question_has_its_runs(name: str) -> None:
    assert len(expand(spec.read(EXAMPLES / name)[0])) == RUNS[name]


@pytest.mark.parametrize(
    "name",
    ["latency.toml", *(pytest.param(name, marks=pytest.mark.seldom) for name in ("mail.toml", "array.toml"))],
)
def test_a_question_is_listed_by_the_command_that_stands_in_it(name: str, tmp_path: Path) -> None:
    done = run(sys.executable, DAVID, "bench", EXAMPLES / name, "--list", where=tmp_path)
    assert not done.returncode and f"{RUNS[name]} runs, {RUNS[name]} to be done" in done.stdout, done
    assert f"david bench examples/{name}" in (EXAMPLES / name).read_text()


def test_the_script_in_python_serves_a_trace_by_drives_and_arrays(tmp_path: Path) -> None:
    trace = tmp_path / "t.csv"
    lines = (f"{128166372003061629 + n * 10**5},hm,1,Read,{n * 7919 << 20},4096,9\n" for n in range(60))
    trace.write_text("".join(lines))
    done = run(sys.executable, EXAMPLES / "drives.py", trace, where=tmp_path)
    assert not done.returncode, done
    rows = [re.split(r" {2,}", line) for line in done.stdout.splitlines()[1:]]
    assert len(rows) == 6 and all(float(row[1]) > 0 for row in rows)
    # A disk seeks, an SSD does not.
    assert float(rows[0][1]) * 5 < float(rows[4][1])
    for words, status in ((("nothing",), 1), ((), 1), ((trace, "no-drive"), 1)):
        done = run(sys.executable, EXAMPLES / "drives.py", *words, where=tmp_path)
        assert done.returncode == status and done.stderr.count("\n") == 1, done


@pytest.mark.seldom
def test_the_script_of_the_shell_has_the_fastest_large_disks_first(tmp_path: Path) -> None:
    done = run(EXAMPLES / "fastest.sh", "10", "2", where=tmp_path)
    assert not done.returncode and not done.stderr, done
    drives = {line.split()[2]: float(line.split()[0]) for line in done.stdout.splitlines()}
    rates = list(drives.values())
    assert len(rates) == 2 and rates == sorted(rates, reverse=True)
    # It is the drive's rate, and not that of a few places: others of 100,000 come to the same.
    for name, rate in drives.items():
        job = ["--profile", name, "--job", "random read count=100000 seed=7", "--json"]
        said = json.loads(run(build.ensure("david-sim"), "bench", *job, where=tmp_path).stdout)
        assert rate == pytest.approx(said["jobs"][0]["all"]["per_s"], rel=0.01), (name, rate)


def test_the_image_and_what_ci_runs_in_it_are_of_this_tree(tmp_path: Path) -> None:
    """What `make image-test` does line by line, which takes a root and minutes."""
    image = loaded(TREE / "tests/system/packages/image")
    (word, base), *rest = image.instructions((EXAMPLES / "Containerfile").read_text())
    assert word == "FROM" and base in image.SUITES
    assert {word for word, _ in rest} == {"COPY", "RUN", "ENV", "USER", "WORKDIR"}
    control = (TREE / "tools/packaging/debian/control").read_text()
    copied = dict(rest)["COPY"].split()[:-1]
    packages = set(re.findall(r"^Package: (\S+)", control, re.MULTILINE))
    assert {pattern.partition("_")[0] for pattern in copied} <= packages
    steps = re.findall(r"^ +- run: (.*)$", (EXAMPLES / "workflow.yml").read_text(), re.MULTILINE)
    assert steps == ["david bench latency.toml"] and (EXAMPLES / "latency.toml").exists()
    assert "path: latency.result\n" in (EXAMPLES / "workflow.yml").read_text()
    assert image.instructions("A b\\\n  c\n# d\n\nE f=g\n") == [("A", "bc"), ("E", "f=g")]


def test_guide_names_each_example() -> None:
    guide = (TREE / "docs" / "GUIDE.md").read_text()
    assert {path.name for path in EXAMPLES.iterdir()} == set(re.findall(r"\.\./examples/([\w.]+)\)", guide))
