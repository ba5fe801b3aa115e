# SPDX-License-Identifier: GPL-2.0
"""`import dm_david`: of the tree, as pip and as `make install` lay it out; it says what the commands say.

No lab of pytest's: those that are seldom start one by Lab and bench() themselves.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import random
import re
import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

import dm_david
from davidlib import build
from davidlib.disk import create
from davidlib.disk.parameters import DiskParameters
from davidlib.source import closure

TREE = Path(__file__).resolve().parents[2]
DAVID = TREE / "tools" / "david"
DRIVE = "toshiba-p300-3tb"
SETUP = tomllib.loads((TREE / "pyproject.toml").read_text())["tool"]["setuptools"]
ASKS = f"import dm_david as d; print(len(d.Profile.all()), d.__version__, d.Profile('{DRIVE}').capacity)"
SAYS = f"{len(dm_david.Profile.all())} {dm_david.__version__} 3000592982016\n"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    lines = (f"{128166372003061629 + n * 10**5},hm,1,Read,{n << 20},4096,9\n" for n in range(60))
    path.write_text("".join(lines))
    return path


def asked(*words: object, path: str = "/usr/bin:/bin", where: Path) -> subprocess.CompletedProcess[str]:
    """Of Python that has nothing of this tree."""
    environment = {"PATH": path, "PYTHONPATH": str(where), "HOME": "/nosuch"}
    return subprocess.run(
        [sys.executable, *map(str, words)], capture_output=True, text=True, env=environment, cwd=where
    )


def test_a_simulation_is_that_of_the_command(trace: Path) -> None:
    words = ["sim", trace, "--profile", DRIVE, "--array", "5 members=4", "--loop", "closed", "--json"]
    done = subprocess.run([sys.executable, DAVID, *words], capture_output=True, text=True)
    found = dm_david.simulate(trace, [DRIVE], arrays=["5 members=4"], loop="closed")
    assert found.figures == json.loads(done.stdout) and len(found.served) == 2
    assert found.believable == (done.returncode == 0)


def test_a_simulation_of_too_little_of_a_trace_is_not_believable(trace: Path) -> None:
    with trace.open("a") as file:
        file.write("no request\n" * 3)
    assert not dm_david.simulate(trace, [DRIVE], loop="closed").believable


def test_options_of_a_profile_are_those_of_the_command() -> None:
    assert dm_david.Profile(DRIVE, {"rpm": "5400"}).parameters["rpm"] == "5400rpm"
    with pytest.raises(dm_david.Error, match="did you mean"):
        _ = dm_david.Profile("toshiba-p300").capacity
    with pytest.raises(dm_david.Error, match="loop='sometimes'"):
        dm_david.simulate("t", [DRIVE], loop="sometimes")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"profiles": DRIVE}, f"profiles='{DRIVE}': want a list of texts"),
        ({"arrays": "6 members=4"}, "arrays='6 members=4': want a list of texts"),
        ({"arrays": [" "]}, "--array: its value is empty"),
        ({"options": {"rpm": "5400"}}, "options={'rpm': '5400'}: want a list of texts"),
        ({"depth": 0}, "depth=0: want a whole number from 1 on to 65536"),  # was as many as the trace had
        ({"depth": 65537}, "depth=65537: want"),
        ({"bound": 1e8}, "bound=100000000.0: want"),
        ({"size": 0}, "size=0: want"),
        ({"format": "iolog"}, "format='iolog': want fio, blkparse"),
    ],
)
def test_what_simulate_cannot_take_is_an_error_of_its_own(
    wrong: dict, said: str, trace: Path
) -> None:
    with pytest.raises(dm_david.Error, match=re.escape(said)):
        dm_david.simulate(trace, **{"profiles": [DRIVE], "loop": "closed"} | wrong)


def test_the_size_is_that_of_each_disk(tmp_path: Path) -> None:
    """It did not reach the members of arrays: a RAID-0 of one, which is that disk, was of another size."""
    dice = random.Random(1)
    lines = (f"{n},hm,1,Read,{dice.randrange(10**8) * 4096},4096,9\n" for n in range(300))
    (tmp_path / "t.csv").write_text("".join(lines))
    for size in (None, 500_000_000_000 // 512 * 512):
        way = {"arrays": ["0 members=1"], "loop": "closed", "depth": 1, "size": size}
        found = dm_david.simulate(tmp_path / "t.csv", [DRIVE], **way)
        alone, array = (one["runs"][0]["per_s"] for one in found.served)
        assert abs(array / alone - 1) < 0.05, (size, alone, array)  # 0.45 before


def test_a_disk_is_made_by_the_commands_function(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[DiskParameters] = []
    monkeypatch.setattr(create, "create_disk", made.append)
    values = {"backing": "/dev/x", "pool": "p", "size": 7, "profile": "d", "profile_options": ("a=1",),
              "mode": "speedup", "classify": "keep", "content": "zeros", "options": ("b=2",),
              "format": True}  # fmt: skip
    dm_david.Disk.create("n", **values)
    assert made == [DiskParameters("n", **values)]
    # Each of the command's parameters, with what it is without being given.
    parameters = inspect.signature(dm_david.Disk.create).parameters
    assert {name: one.default for name, one in parameters.items() if name != "name"} == {
        one.name: one.default for one in fields(DiskParameters) if one.name != "name"
    }


def test_each_name_says_what_it_is() -> None:
    for name in set(dm_david.__all__) - {"__version__"}:
        thing = getattr(dm_david, name)
        assert thing.__doc__ and not thing.__doc__.startswith(f"{name}("), name


def laid_out(place: Path) -> Path:
    """As pyproject.toml says, without pip."""
    for package in SETUP["packages"]:
        top = package if package in SETUP["package-dir"] else package.partition(".")[0]
        source = TREE / SETUP["package-dir"][top] / package.removeprefix(top).strip(".")
        to = place.joinpath(*package.split("."))
        to.mkdir(parents=True)
        for pattern in ["*.py", *SETUP["package-data"].get(package, [])]:
            for file in source.glob(pattern):
                (to / file.relative_to(source)).parent.mkdir(exist_ok=True)
                shutil.copy(file, to / file.relative_to(source))
    about = place / f"dm_david-{dm_david.__version__}.dist-info"
    about.mkdir()
    text = f"Metadata-Version: 2.1\nName: dm-david\nVersion: {dm_david.__version__}\n"
    (about / "METADATA").write_text(text)
    return place


def test_as_pip_installs_it_it_finds_david_sim_in_path_or_says_so(tmp_path: Path) -> None:
    place = laid_out(tmp_path)
    sim = build.ensure("david-sim")
    assert asked("-c", ASKS, path=f"/usr/bin:{sim.parent}", where=place).stdout == SAYS
    done = asked("-c", ASKS, where=place)
    assert "dm" in done.stderr and "there is no david-sim in PATH: pip installs none" in done.stderr
    done = asked("-c", "import dm_david; dm_david.bench('q.toml')", where=place)
    assert "bench: the labs are not installed: apt-get install dm-david-lab" in done.stderr


@pytest.mark.seldom
def test_a_labs_status_and_output_are_the_callers(capfd: pytest.CaptureFixture[str]) -> None:
    lab = dm_david.Lab(memory="512M", virtual_time=True)
    found = lab.run("sh", "-c", "echo it is $(uname -r | cut -c1-4); grep -c ^dm_david /proc/modules; exit 7")
    assert found == dm_david.LabResult(7, [])
    assert capfd.readouterr().out.splitlines() == ["it is 6.12", "1"]


@pytest.mark.seldom
def test_a_command_that_is_not_done_in_time_and_a_lab_that_is_not_there() -> None:
    assert dm_david.Lab(memory="512M", timeout=15).run("sleep", "1000").status == 124
    with pytest.raises(dm_david.Error, match="linux-source-9.99, which is not installed"):
        dm_david.Lab(kernel="9.99").run("true")


QUESTION = """
question = "what does mail come to?"
repeats = 1
fail-if = "operations < 1000000"
[disk]
profile = "hitachi-hds721010kla330"
size = "64G"
[[filesystem]]
type = "ext4"
[[workload]]
kind = "varmail"
operations = 50
"""


@pytest.mark.seldom
def test_a_question_is_answered_and_what_is_there_is_not_run_again(tmp_path: Path) -> None:
    """The threshold is one that no disk meets: planted."""
    question, result = tmp_path / "q.toml", tmp_path / "mail.result"
    question.write_text(QUESTION)
    found = dm_david.bench(question, result, workers=1)
    assert (found.status, found.believable, found.missed) == (3, True, True)
    assert found.page == result / "report.html" and found.page.stat().st_size > 10**5
    [row] = found.rows
    assert row == json.loads((result / "results.json").read_text())[0]
    assert row["operations"] == 50 and 50 / row["seconds"] == pytest.approx(row["operations_per_s"], rel=1e-6)
    [run] = (result / "runs").glob("*.json")
    before = run.stat().st_mtime_ns
    assert dm_david.bench(question, result, workers=1).rows == [row]
    assert run.stat().st_mtime_ns == before
    with pytest.raises(dm_david.Error, match=r"none\.toml: No such file"):
        dm_david.bench(tmp_path / "none.toml")


def test_pip_installs_what_its_modules_import_and_no_more() -> None:
    packages = {name: TREE / SETUP["package-dir"].get(name, f"tools/{name.replace('.', '/')}")
                for name in SETUP["packages"]}  # fmt: skip
    first = (TREE / "tools" / "dm_david").glob("*.py")
    lab = TREE / "tools" / "davidlib" / "lab"  # what needs the source tree says so before
    needed = {path.parent for path in closure(first, without=[lab / "run.py", lab / "__init__.py"])}
    data = {packages[name] for name in ("davidlib._profiles", "davidlib._figures")}
    assert needed | data == set(packages.values())


def test_as_installed_it_finds_the_rest_below_the_same_prefix(tmp_path: Path) -> None:
    """Of what `make install` lays out, the Python part."""
    environment = os.environ | {"PREFIX": "/usr"}
    listed = subprocess.run([TREE / "tools/packaging/install", "list"], capture_output=True, text=True,
                            env=environment).stdout.split()  # fmt: skip
    module = "/usr/lib/python3/dist-packages/dm_david/"
    assert f"{module}__init__.py" in listed and "/usr/share/dm-david/docs/figures.toml" in listed
    for name in listed:
        share = "/usr/share/dm-david/"
        for head, source in ((module, "tools/dm_david/"), (f"{share}tools/davidlib/", "tools/davidlib/"),
                             (f"{share}profiles/", "profiles/")):  # fmt: skip
            if name.startswith(head):
                to = tmp_path / name[1:]
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(TREE / source / name.removeprefix(head), to)
    for name in ("tools/version", "docs/figures.toml"):
        (tmp_path / "usr/share/dm-david" / name).parent.mkdir(exist_ok=True)
        shutil.copy(TREE / name, tmp_path / "usr/share/dm-david" / name)
    (tmp_path / "usr/share/dm-david/tools/installed").touch()
    (tmp_path / "usr/bin").mkdir()
    shutil.copy(build.ensure("david-sim"), tmp_path / "usr/bin/david-sim")
    assert asked("-c", ASKS, where=tmp_path / "usr/lib/python3/dist-packages").stdout == SAYS


def test_without_davidlib_it_says_where_it_looked(tmp_path: Path) -> None:
    shutil.copytree(TREE / "tools/dm_david", tmp_path / "dm_david")
    assert "there is no davidlib beside it" in asked("-c", "import dm_david", where=tmp_path).stderr


@pytest.mark.seldom
def test_pip_installs_it_from_the_tree(tmp_path: Path) -> None:
    """With setuptools of PyPI's. The tree is copied: pip leaves things in it."""
    for name in ("tools", "profiles", "docs"):
        shutil.copytree(TREE / name, tmp_path / "tree" / name, symlinks=True)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(TREE / name, tmp_path / "tree")
    subprocess.run(
        [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "install", "--no-deps", "--target",
         tmp_path / "site", tmp_path / "tree"], check=True
    )  # fmt: skip
    sim = build.ensure("david-sim")
    assert asked("-c", ASKS, path=f"/usr/bin:{sim.parent}", where=tmp_path / "site").stdout == SAYS
    assert importlib.util.find_spec("dm_david")
