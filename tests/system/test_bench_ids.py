# SPDX-License-Identifier: GPL-2.0
"""david bench: a run's id is the digest of all that decides its figures; two kinds of runs are on no page
together. No lab.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from davidlib import source
from davidlib.bench import labrun, localhost, loop, parts, runs, spec, testbed
from davidlib.paper import guest, plan
from davidlib.bench.results import COLUMNS, RESULT, Results, signed, signed_sweep
from davidlib.drive import files
from davidlib.lab import archive, identity, kernels, uml_kernel
from davidlib.report import origin
from davidlib.util import UserError
from test_bench import DISK, TREE, WORK, parse, result_of

DRIVE = "hitachi-hds721010kla330"
GRADED = "39 parameters: 14 published, 5 derived, 5 fitted, 15 assumed (38 % assumed)"


@pytest.mark.parametrize(
    ("reader", "one", "other", "same"),
    [
        ("c_says", "a = 1; /* one */", "a=1;\n\t// why\n", True),
        ("c_says", "a = 1;", "a = 2;", False),
        ("c_says", "x = a & &b;", "x = a && b;", False),
        ("c_says", "x = a - -b;", "x = a--b;", False),
        ("c_says", 's = "/* 1 */";', 's = "/* 2 */";', False),
        ("c_says", 's = "\\"// 1";', 's = "\\"// 2";', False),
        ("c_says", "c = '\"'; /* \" */ d;", "c = '\"'; d;", True),
        ("c_says", "#define F(x) x", "#define F (x) x", False),
        ("c_says", "#define A 1\nB", "#define A 1 B", False),
        ("c_says", "#define A \\\n\t1\nB", "#define A 1 // one\nB", True),
        ("python_says", '"""One."""\na = 1  # why', "a = (\n    1)\n", True),
        ("python_says", 'def f():\n    """One."""\n    return 1', "def f(): return 1", True),
        ("python_says", "a = 1", "a = 2", False),
        ("python_says", "a = None", "a = []", False),
        ("python_says", "f(x=None)", "f()", False),
        ("python_says", 'a = "text"', 'a = "other"', False),
        ("lines_say", "# why\nmake a", "make a\n\n", True),
        ("lines_say", "make a", "make b", False),
        ("config_says", "# why\nCONFIG_A=y", "CONFIG_A=y", True),
        ("config_says", "# CONFIG_A is not set", "", False),
        ("patch_says", "Why.\n\n--- a/x\n+++ b/x\n", "Another why.\n--- a/x\n+++ b/x\n", True),
        ("patch_says", "--- a/x\n+y\n", "--- a/x\n+z\n", False),
        ("profile_says", "# [A]\nrpm = 7200\t# measured\n", "rpm=7200", True),
        ("profile_says", "rpm = 7200", "rpm = 5400", False),
    ],
)
def test_a_digest_is_of_what_a_source_says(reader: str, one: str, other: str, same: bool) -> None:
    says = getattr(source, reader)
    assert (says(one) == says(other)) is same


# In a copy of the tree: file, what stands in it, what is put in its place, and is that another run?
EDITS = [
    ("model/drive/media.c", "// SPDX", "/* a remark */ // SPDX", False),
    ("model/drive/media.c", "wait = ready - now", "wait = 1000000 + ready - now", True),
    ("dm-david/timing/timing.c", "#include", "#define NEW 1\n#include", True),
    ("dm-david/timing/timing.h", "#define", "\t/* a remark */\n#define", False),
    ("dm-david/Kbuild", "ccflags-y +=", "ccflags-y += -DNEW", True),
    ("classifier/volume.h", "#define", "#define NEW 1\n#define", True),
    ("model/array/array.h", "#define", "#define NEW 1\n#define", False),  # david-sim's alone
    (f"profiles/{DRIVE}.profile", "rpm = 7200", "rpm = 5400", True),
    (f"profiles/{DRIVE}.profile", "rpm = 7200", "rpm = 7200 # as it was", False),
    ("profiles/seagate-exos-x20-20tb.profile", "rpm = 7200", "rpm = 5400", False),
    ("tools/davidlib/lab/uml.config", "CONFIG_", "# why\nCONFIG_", False),
    ("tools/davidlib/lab/uml.config", "CONFIG_", "CONFIG_NEW=y\nCONFIG_", True),
    ("tools/davidlib/lab/uml-random.patch", "\n+", "\n+/* new */\n+", True),
    ("tools/davidlib/lab/uml.py", "1_893_456_000", "1_893_456_001", True),
    ("tools/davidlib/lab/guest/main", ". /run/lab/mounts", "sync\n. /run/lab/mounts", True),
    ("tools/davidlib/lab/archive.py", "import", "NEW = 1\nimport", False),  # of no lab that is there
    ("tools/davidlib/bench/testbed.py", '"""One run', '"""A run', False),
    ("tools/davidlib/bench/testbed.py", "3_141_592", "2_718_281", True),
    ("tools/davidlib/workload/servers.py", "import", "NEW = 1\nimport", True),
    ("tools/davidlib/workload/image.py", "import", "NEW = 1\nimport", False),  # of other kinds
    ("tools/davidlib/workload/blocks.py", "import", "NEW = 1\nimport", True),  # says whose writes are data
    ("tools/davidlib/report/page.py", "import", "NEW = 1\nimport", False),
    ("tools/davidlib/workload/__init__.py", '"""', '"""Another remark. ', False),
    ("tools/davidlib/workload/__init__.py", '"""', 'NEW = 1\n"""', True),
    ("tools/davidlib/bench/labrun.py", "import", "NEW = 1\nimport", True),
    ("tools/davidlib/lab/module.py", "import", "NEW = 1\nimport", True),
    ("Makefile", "subdir-ccflags-y +=", "subdir-ccflags-y += -DNEW", True),
    ("Makefile", "check:", "new:\n\ncheck:", False),
]
IDS = """
import json, sys
from pathlib import Path
from davidlib.bench import runs, spec

text, edits = json.load(sys.stdin)
tell = lambda: runs.expand(spec.parse(text, "a.toml", Path("/")))[0].id
print(tell())
for name, old, new, _ in edits:
    path = Path(name)
    was = path.read_text()
    assert old in was, (name, old)
    # One file starts with such a line below a docstring.
    at = was.index(f"\\n{old}") + 1 if f"\\n{old}" in was else was.index(old)
    path.write_text(was[:at] + new + was[at + len(old):])
    print(tell())
    path.write_text(was)
print(tell())
"""


def test_a_run_is_another_one_when_what_decides_its_figures_is(tmp_path: Path) -> None:
    ignore = shutil.ignore_patterns("*.o", "*.ko", "*.cmd", "__pycache__", "found.h")
    for name in ("tools", "profiles", "dm-david", "model", "classifier"):
        shutil.copytree(TREE / name, tmp_path / name, ignore=ignore)
    shutil.copy(TREE / "Makefile", tmp_path)
    words = [sys.executable, "-B", "-c", IDS]
    done = subprocess.run(words, input=json.dumps([DISK + WORK, EDITS]), cwd=tmp_path, text=True,
                          capture_output=True, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                                                    "HOME": str(tmp_path), "PYTHONPATH": "tools"})
    assert not done.returncode, done.stderr
    before, *ids, after = done.stdout.split()
    assert before == after
    wrong = [edit for edit, found in zip(EDITS, ids, strict=True) if (found != before) is not edit[3]]
    assert not wrong


def ids(text: str) -> list[str]:
    return [run.id for run in runs.expand(parse(text))]


@pytest.mark.parametrize("words", [
    'question = "?"\n', 'metric = "p99"\n', "timeout = 7\n", "repeats = 1\n", "# a remark\n"])
def test_what_decides_no_figure_is_not_in_the_id(words: str) -> None:
    assert ids(words + DISK + WORK) == ids(DISK + WORK)


@pytest.mark.parametrize("words", [
    'name = "a"\n[[filesystem]]\ntype = "ext4"\nname = "b"\n', 'name = "c"\n'])
def test_names_on_the_page_are_not_in_the_id(words: str) -> None:
    assert ids(DISK + WORK + words) == ids(DISK + WORK)


@pytest.mark.parametrize("changed", [
    'memory = "2G"\n' + DISK + WORK,
    'where = "uml"\n' + DISK + WORK,
    'seeds = 7\n' + DISK + WORK,
    DISK + 'size = "2T"\n' + WORK,
    DISK + 'backing = "1G"\n' + WORK,
    DISK + 'classify = "implicit"\n' + WORK,
    DISK + 'option = "content=zero"\n' + WORK,
    DISK + 'profile-option = "write_cache=off"\n' + WORK,
    DISK + '[[filesystem]]\ntype = "ext4"\nmkfs = ["-J", "size=64"]\n' + WORK,
    DISK + '[[filesystem]]\ntype = "ext4"\nmount = "noatime"\n' + WORK,
    DISK + WORK + "files = 7\n",
])
def test_what_decides_figures_is_in_the_id(changed: str) -> None:
    assert not set(ids(changed)) & set(ids(DISK + WORK))


def test_a_file_counts_by_its_content_and_not_by_its_place(tmp_path: Path) -> None:
    def of(trace: str, profile: str) -> set[str]:
        text = f'[disk]\nprofile = "{profile}"\n[[workload]]\nkind = "replay"\ntrace = "{trace}"\n'
        return {run.id for run in runs.expand(spec.parse(text, "a.toml", tmp_path))}

    text = files.path_of(DRIVE).read_text()
    (tmp_path / "own.profile").write_text("# mine\n" + text)
    (tmp_path / "another.profile").write_text(text.replace("rpm = 7200", "rpm = 5400"))
    (tmp_path / "a.wl").write_bytes(b"a trace")
    (tmp_path / "b.wl").write_bytes(b"a trace")
    assert of("a.wl", DRIVE) == of("b.wl", "own.profile") != of("a.wl", "another.profile")
    before = of("a.wl", DRIVE)
    (tmp_path / "a.wl").write_bytes(b"another trace")
    assert of("a.wl", DRIVE).isdisjoint(before)


@pytest.mark.parametrize(("where", "counts"), [("here", True), ("virtual", False)])
def test_a_path_in_a_command_or_for_mkfs_may_be_a_file_s(where: str, counts: bool) -> None:
    """A lab has a /tmp of its own."""
    with tempfile.TemporaryDirectory(dir="/tmp") as top:
        assert len(ids_of_three(where, Path(top))) == (3 if counts else 1)


def ids_of_three(where: str, top: Path) -> set[str]:
    """With three contents of two files."""
    script, tree = top / "script.sh", top / "root.tar"
    text = f'where = "{where}"\n{DISK}[[filesystem]]\ntype = "ext4"\nmkfs = ["-d", "{tree}"]\n'
    text += f'[[workload]]\nkind = "command"\ncommand = "sh {script}"\n'
    seen = []
    for script_says, tree_says in (("true", "1"), ("false", "1"), ("false", "2")):
        script.write_text(script_says)
        tree.write_text(tree_says)
        seen += ids(text)
    return set(seen)


def test_a_directory_is_all_that_a_command_finds_in_it(tmp_path: Path) -> None:
    """Also behind a link to another directory, and if the command names it behind an option's letter."""
    tree, elsewhere = tmp_path / "tree", tmp_path / "elsewhere"
    for place in (tree, elsewhere):
        place.mkdir()
    for name in ("link", "again"):
        (tree / name).symlink_to(elsewhere)
    (elsewhere / "round").symlink_to(tree)
    command = f"tar -C{tree} -chf - . | cat >$TOP/x"
    text = f'where = "here"\n{DISK}[[workload]]\nkind = "command"\ncommand = "{command}"\n'
    seen = []
    for says in ("one", "two", "two"):
        (elsewhere / "file").write_text(says)
        seen += ids(text)
    assert seen[0] != seen[1] == seen[2]


def test_two_profiles_of_one_name_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        shutil.copy(files.path_of(DRIVE), tmp_path / name / "own.profile")
    text = '[disk]\nprofile = ["a/own.profile", "b/own.profile"]\n' + WORK
    with pytest.raises(spec.SpecError, match="a.toml:2: profile: two of them are called own"):
        spec.parse(text, "a.toml", tmp_path)


def sweep(top: Path, text: str = "seeds = [1, 2]\n" + DISK + WORK) -> tuple[Results, list[runs.Run]]:
    """A result whose runs are all there."""
    found, results = runs.expand(parse(text)), Results(top)
    results.begin(text, found, top)
    for run in found:
        results.add(run, result_of(run.described["seed"], 3.0))
    return results, found


def spoil(results: Results, run: runs.Run, change: Callable[[dict], None]) -> None:
    one = json.loads(results.path(run).read_text())
    change(one)
    results.add(run, json.dumps(one))


def _parts(group: str, name: str) -> Callable[[dict], None]:
    def change(one: dict) -> None:
        one["run"]["parts"].setdefault(group, {})[name] = "another"

    return change


def _profile(one: dict) -> None:
    one["run"]["profile_text"] = one["run"]["profile_text"].replace("rpm = 7200", "rpm = 5400")
    one["run"]["parts"]["profile"][DRIVE] = parts.profile_digest(one["run"]["profile_text"])


def _memory(one: dict) -> None:
    one["run"]["memory"] = "2G"


def _operations(one: dict) -> None:
    one["run"]["workload"]["params"]["operations"] = 7


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_profile, "the profile is another one: rpm 5400 -> 7200"),
        (_parts("model", "drive/media.c"), "model/ is another one: drive/media.c"),
        (_parts("model", "gone.c"), "model/ is another one: gone.c"),
        (_parts("dm-david", "io/read.c"), "dm-david/ is another one: io/read.c"),
        (_parts("classifier", "xfs/xfs.c"), "classifier/ is another one: xfs/xfs.c"),
        (_parts("lab", "kernel"), "the lab's kernel: another -> 6.12."),
        (_parts("lab", "uml.config"), "the lab is another one: uml.config"),
        (_parts("run", "workload/servers.py"), "the code that does it is another one: workload/servers.py"),
        (_memory, "memory 2G -> 1G"),
        (_operations, "operations 7 -> 1000"),
        (lambda one: one["run"].pop("parts"), "it does not say of which model, drive and lab it is"),
        (lambda one: one.clear(), "it does not say of which model, drive and lab it is"),
    ],
)
def test_the_list_says_why_a_run_is_to_be_done_again(tmp_path: Path, change: Callable, says: str,
                                                     capsys: pytest.CaptureFixture[str]) -> None:
    results, [run, other] = sweep(tmp_path)
    old = results.path(run).with_name(f"{run.legible}-0123456789ab.json")
    results.path(run).rename(old)
    one = json.loads(old.read_text())
    change(one)
    old.write_text(json.dumps(one))
    loop.list_runs(results, [run, other])
    first, second = capsys.readouterr().out.splitlines()
    assert second == f"{other.id}  there"
    assert first.startswith(f"{run.id}  to do: {old.stem} is there, but {says}"), first


def test_a_run_that_was_never_done_has_no_reason_and_another_question_s_is_none(tmp_path: Path) -> None:
    text = "seeds = 1\n" + DISK + WORK + 'name = "a"\n' + WORK + 'name = "b"\noperations = 7\n'
    results, [first, second] = sweep(tmp_path, text)
    results.path(second).unlink()
    assert loop.reasons(results, [first, second]) == {second.id: ""}
    # Of another drive it is another run, not an older form of this one.
    spoil(results, first, lambda one: one["run"].update(profile="another"))
    assert loop.reasons(results, [second]) == {second.id: ""}


def test_a_page_is_of_the_last_start_s_runs_whatever_the_tree_is_now(tmp_path: Path) -> None:
    results, found = sweep(tmp_path)
    older = results.path(found[0]).with_name(f"{found[0].legible}-0123456789ab.json")
    older.write_text(result_of(1, 9.0))
    words = results.asked()
    # As if they had been made by another tree: their ids are not those of this one.
    for run, said in zip(found, words, strict=True):
        said["id"] = f"{run.legible}-{'f' * 12}"
        one = json.loads(results.path(run).read_text())
        results.path(run).unlink()
        (tmp_path / "runs" / f"{said['id']}.json").write_text(signed(one, said["id"]))
    (tmp_path / "sweep.json").write_text(signed_sweep(words, (tmp_path / "spec.toml").read_text()))
    assert [one["id"] for one in results.load()] == [said["id"] for said in words]
    (tmp_path / "sweep.json").unlink()
    with pytest.raises(UserError, match="an older dm-david made this"):
        results.load()


@pytest.mark.parametrize("name", ["spec.toml", "sweep.json"])
def test_what_a_page_is_told_is_what_was_asked(tmp_path: Path, name: str) -> None:
    results, _ = sweep(tmp_path, DISK + WORK)
    results.question()
    text = (tmp_path / name).read_text()
    (tmp_path / name).write_text(text.replace("varmail", "another"))
    with pytest.raises(UserError, match="it was changed"):
        results.question()


def test_a_run_is_called_on_the_page_what_the_question_calls_it_now(tmp_path: Path) -> None:
    results, _ = sweep(tmp_path, DISK + WORK)
    text = DISK + WORK + 'name = "mail"\n[[filesystem]]\ntype = "ext4"\nname = "plain"\n'
    text += '[[filesystem]]\ntype = "ext4"\nname = "again"\n'
    found = runs.expand(parse(text))
    assert all(map(results.has, found))
    results.begin(text, found, tmp_path)
    loaded = [one["run"] for one in results.load()]
    assert [(one["variant"], one["workload"]["name"], one["file_system"]["name"]) for one in loaded] == \
        [("plain", "mail", "plain"), ("again", "mail", "again")]


def test_one_run_by_two_names_is_done_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = DISK + WORK + "".join(f'[[filesystem]]\ntype = "ext4"\nname = "{name}"\n' for name in "ab")
    found, seen = runs.expand(parse(text)), []
    results = Results(tmp_path)
    results.begin(text, found)

    def run_all(todo: list[runs.Run], *_: object) -> None:
        for run in todo:
            seen.append(run.id)
            results.add(run, result_of(1, 3.0))

    monkeypatch.setattr(loop, "run_all", run_all)
    monkeypatch.setattr(loop, "inner", lambda *words: 0)
    assert loop.do(argparse.Namespace(workers=1, scheduler=""), results, found, 1) == 0
    assert seen == [found[0].id] and len(json.loads((tmp_path / "results.json").read_text())) == 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda one: one["versions"].update({"mkfs.ext4": "1.47.2"}), "the version of mkfs.ext4 is 1.47.0"),
        (lambda one: one["versions"].update(kernel="6.12.120"), "the version of kernel is 6.12.117"),
        (_parts("model", "drive/media.c"), "model/drive/media.c is "),
        (_parts("lab", "kernel"), "the lab's kernel is "),
        (_parts("profile", DRIVE), f"the profile {DRIVE} is "),
        (_parts("run", "workload/servers.py"), "workload/servers.py is "),
        (lambda one: one["run"].pop("parts"), "it does not say of which model"),
    ],
)
def test_one_page_never_mixes_two(tmp_path: Path, change: Callable, says: str) -> None:
    results, found = sweep(tmp_path)
    assert len(results.load()) == 2
    spoil(results, found[1], change)
    with pytest.raises(UserError) as refused:
        results.load()
    assert says in str(refused.value) and found[1].id in str(refused.value)
    done = subprocess.run([sys.executable, str(TREE / "tools" / "david"), "report", str(tmp_path)],
                          capture_output=True, text=True)
    assert done.returncode == 1 and says in done.stderr
    assert not (tmp_path / "report.html").exists()


def test_two_drives_and_two_workloads_are_no_mixture(tmp_path: Path) -> None:
    text = DISK.replace(f'"{DRIVE}"', f'["{DRIVE}", "seagate-exos-x20-20tb"]') + WORK
    results, found = Results(tmp_path), runs.expand(parse(text + '[[workload]]\nkind = "du"\n'))
    results.begin(text, found)
    for run in found:
        results.add(run, json.dumps(json.loads(result_of(1, 3.0)) | {"run": run.described}))
    assert len(results.load()) == 4


def test_a_worker_with_another_tree_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    [run] = runs.expand(parse(DISK + WORK))
    told = copy.deepcopy(run.described)
    started = []
    monkeypatch.setattr(labrun, "_once", lambda run: started.append(1) or {"text": "done"})
    assert labrun.execute(told) == {"text": "done"}
    told["parts"]["model"]["drive/media.c"] = "another"
    assert "model/ is another one: drive/media.c" in labrun.execute(told)["error"]
    assert started == [1]


def test_a_tree_that_is_changed_under_a_run_spoils_it(monkeypatch: pytest.MonkeyPatch) -> None:
    [run] = runs.expand(parse(DISK + WORK))
    told = copy.deepcopy(run.described)

    def once(_: dict) -> dict:
        monkeypatch.setattr(parts.identity, "lab", lambda kind, kernel: {"kernel": "6.12.999"})
        return {"text": "done"}

    monkeypatch.setattr(labrun, "_once", once)
    assert "-> 6.12.999" in labrun.execute(told)["error"]


@pytest.mark.parametrize(
    ("where", "status", "says"),
    [
        ("virtual", 124, "mail was not done after 7 s of real time: ask .* without sleeping is never done$"),
        ("uml", 124, "mail was not done after 7 s of real time: ask .* into the spec$"),
        # What the lab said is told of other ends.
        ("virtual", 125, "exit status 125: a log of the boot$"),
    ],
)
def test_a_run_that_is_not_done_in_time_says_so_in_a_line_and_is_not_tried_again(
    where: str, status: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [run] = runs.expand(parse(f'where = "{where}"\ntimeout = 7\n' + DISK + WORK + 'name = "mail"\n'))
    tries = tmp_path / "tries"
    script = f"echo x >>{tries}; echo 'a log of the boot' >&2; exit {status}"
    monkeypatch.setattr(labrun, "command", lambda run, directory: ["sh", "-c", script])
    error = labrun.execute(copy.deepcopy(run.described))["error"]
    assert re.match(says, error) and "\n" not in error, error
    assert tries.read_text() == "x\n"


@pytest.mark.parametrize("kind", ["uml", "vm"])
def test_a_list_needs_no_network_where_no_lab_was_set_up(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refresh() -> None:
        raise AssertionError("Debian's lists are read")

    monkeypatch.setattr(archive, "known", lambda: False)
    monkeypatch.setattr(archive, "refresh", refresh)
    monkeypatch.setattr(uml_kernel, "installed", lambda kernel: None)
    monkeypatch.setattr(kernels, "installed", lambda kernel: None)
    assert identity.lab(kind)["kernel"] == "none yet"


def test_this_machine_s_module_is_told_by_its_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = localhost.NOTE + bytes(range(20))
    loaded, built = tmp_path / "note", tmp_path / "dm-david.ko"
    monkeypatch.setattr(localhost, "LOADED", loaded)
    monkeypatch.setattr(localhost, "_installed", lambda: built if built.exists() else None)
    assert localhost.module() == "none"
    built.write_bytes(b"\x7fELF..." + note + b"...")
    assert localhost.module() == bytes(range(20)).hex()[:16]
    loaded.write_bytes(localhost.NOTE + bytes(20))
    assert localhost.module() == "0" * 16
    kernel = runs.expand(parse('where = "here"\n' + DISK + WORK))[0].described["parts"]["machine"]["kernel"]
    assert kernel.startswith(localhost.os.uname().release)


def test_each_experiment_of_the_paper_is_known_by_its_own_module() -> None:
    for name, function in guest.EXPERIMENTS.items():
        assert function.__module__.rpartition(".")[2] == plan.MODULES.get(name, name)
    code = {run.described["experiment"]: run.described["parts"]["run"] for run in plan.experiments(True)}
    assert all("paper/guest.py" in found for found in code.values())
    assert "paper/table3.py" in code["table3"] and "paper/table3.py" not in code["table2"]
    assert "workload/servers.py" in code["table2"]
    assert "tools/store/main.c" in plan.experiments(True)[0].described["parts"]["program"]


def test_the_page_names_what_the_figures_are_of(tmp_path: Path) -> None:
    results, _ = sweep(tmp_path)
    loaded = results.load()
    rows = {name: (was, digest) for name, was, digest in origin.rows(loaded)}
    [package] = {one["run"]["parts"]["lab"]["kernel"] for one in loaded}
    kernel = f"6.12.117 ({package})"
    assert rows["kernel that the runs ran on"] == (kernel, "")
    assert rows["mkfs.ext4"] == ("1.47.0", "") and rows[f"drive {DRIVE}"][0] == GRADED
    assert rows.keys() >= {"model/", "classifier/", "dm-david/", "code of varmail"}
    assert len(origin.rows(loaded)) == len(rows)
    assert f"kernel {kernel}; mkfs.ext4 1.47.0; {DRIVE}: {GRADED}." == origin.sentence(loaded)


def test_what_the_question_has_changed_of_a_drive_stands_with_the_drive(tmp_path: Path) -> None:
    """Its grades are of the profile: of an rpm that the question sets nothing is published."""
    results, _ = sweep(tmp_path)
    loaded = results.load()
    for one in loaded:
        one["run"] |= {"profile_options": ["rpm=3600"], "size": 1 << 40,
                       "options": ["store=memory", "faults=slow:factor=5"]}
    drive = f"{DRIVE} with size=1099511627776, rpm=3600, faults=slow:factor=5"
    assert f"; {drive}: {GRADED}." in origin.sentence(loaded)
    assert f"drive {drive}" in {name for name, _, _ in origin.rows(loaded)}


def test_the_tables_have_the_digests_and_the_versions(tmp_path: Path) -> None:
    results, _ = sweep(tmp_path)
    loaded = results.load()
    [package] = {one["run"]["parts"]["lab"]["kernel"] for one in loaded}
    results.write_tables(loaded)
    [first, second] = json.loads((tmp_path / "results.json").read_text())
    assert list(first) == list(COLUMNS)
    assert (first["kernel"], first["versions"], first["drive"]) == \
        (f"6.12.117 ({package})", "mkfs.ext4 1.47.0", GRADED)
    assert all(first[name] == second[name] for name in ("model", "profile_digest", "lab", "code"))
    with sqlite3.connect(tmp_path / "results.sqlite") as db:
        [[digest]] = db.execute("SELECT DISTINCT digest FROM parts "
                                "WHERE part = 'model' AND name = 'drive/media.c'")
        assert digest == source.digest(TREE / "model/drive/media.c")
        assert list(db.execute("SELECT DISTINCT version FROM versions WHERE program = 'mkfs.ext4'")) == \
            [("1.47.0",)]


def test_a_run_leaves_the_versions_of_what_it_called(monkeypatch: pytest.MonkeyPatch) -> None:
    from davidlib.workload import called

    monkeypatch.setattr(called, "_asked", set())
    monkeypatch.setattr(called, "_looked_at", set())
    testbed.call("find", "--version")
    called.note_script("cp -a /nowhere $TOP")
    found = json.loads(testbed.answer({}, {}))["versions"]
    assert found.keys() == {"kernel", "python3", "find", "sh in a command", "cp in a command"}
    assert found["find"][0].isdigit() and found["cp in a command"].startswith("sha256 ")


@pytest.mark.parametrize("named", [
    "cp -r {top}/some $TOP/x", "cd {top}/some && sh ./go", "cat '{top}/some/a b' >$TOP/c",
    "cat {top}/some/a:b >$TOP/c", "cat {top}/some/* >$TOP/c", "cat .{top}/some/go >$TOP/c",
    "A={top}/some; cp -r $A $TOP"])
def test_what_a_command_reads_is_in_the_id_however_it_is_named(named: str, tmp_path: Path) -> None:
    place = tmp_path / "some"
    (place / "below").mkdir(parents=True)
    names = ("go", "a b", "a:b", "below/c")
    for name in names:
        (place / name).write_text(name)
    text = DISK + f'[[workload]]\nkind = "command"\ncommand = "{named.format(top=tmp_path)}"\nname = "a"\n'
    # A lab has a /tmp of its own.
    before = ids('where = "here"\n' + text)
    for name in names:
        (place / name).write_text(f"another {name}")
    assert ids('where = "here"\n' + text) != before


def damaged(text: str) -> dict[str, str]:
    """Forms of a run's file that are none."""
    found = json.loads(text)
    without = {key: json.dumps({name: value for name, value in found.items() if name != key})
               for key in ("run", "result", "versions")}
    poor = found | {"result": {name: value for name, value in found["result"].items() if name != "latency"}}
    other = found | {"run": found["run"] | {"seed": found["run"]["seed"] + 7}}
    elsewhere = signed(found, "ext4-varmail-seed2-0123456789ab")
    return without | {"elsewhere": elsewhere, "empty": "", "cut": text[: len(text) // 2], "list": "[]",
                      "nothing": "{}", "latency": json.dumps(poor), "another run's": json.dumps(other)}


def test_a_damaged_result_is_told_by_name_and_done_again(tmp_path: Path) -> None:
    (run,) = runs.expand(parse("seeds = 1\n" + DISK + WORK))
    kept = Results(tmp_path / "a.result")
    kept.begin("", [run])
    whole = json.dumps({"run": run.described, "result": dict.fromkeys(RESULT), "versions": {}})
    kept.add(run, whole)
    assert kept.has(run) and not kept.why(run, {run.id})
    for what, text in damaged(kept.path(run).read_text()).items():
        kept.path(run).write_text(text)
        assert not kept.has(run), what
        assert run.id in kept.why(run, {run.id}), what
        with pytest.raises(UserError, match=run.id):
            kept.load()
    (tmp_path / "a.result/sweep.json").write_text("")
    with pytest.raises(UserError, match=r"sweep\.json"):
        kept.load()
