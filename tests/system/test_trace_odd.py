# SPDX-License-Identifier: GPL-2.0
"""Calls that do other things than they seem to: the trace's tree, and a replay's, is the disk's. No lab."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from davidlib import build
from helpers.traced import Node, tree_of_disk, tree_of_trace

TREE = Path(__file__).resolve().parents[2]
DAVID = TREE / "tools/david"
NOT_HERE = 77


@pytest.fixture(scope="module")
def oddcalls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build.ensure("david-trace")
    out = tmp_path_factory.mktemp("oddcalls") / "oddcalls"
    source = TREE / "tests/system/helpers/oddcalls.c"
    subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-o", out, source], check=True)
    return out


def traced(tmp_path: Path, *command: str | Path, **popen: object) -> tuple[sqlite3.Connection, Path]:
    """A command's trace, and where it was at work."""
    work, out = tmp_path / "work", tmp_path / "t.db"
    work.mkdir(exist_ok=True)
    words = [DAVID, "trace", "record", "-o", out, "--share-disk", "--", *command]
    done = subprocess.run(words, cwd=work, timeout=120, check=False, **popen)  # type: ignore[call-overload]
    if done.returncode == NOT_HERE:
        pytest.skip("the kernel, or who runs this, does not allow it")
    assert not done.returncode
    return sqlite3.connect(out), work


NAMES = ["append", "same", "socket", "own", "deep", "handle", "root", "mounts", "pivot", "resolve"]
CASES = [*NAMES, "newmounts", "uring", "refused", "watched", "whiteout", "removed", "ways", "far"]


@pytest.mark.parametrize("case", CASES)
def test_the_tree_of_the_trace_is_that_on_the_disk(case: str, oddcalls: Path, tmp_path: Path) -> None:
    database, work = traced(tmp_path, oddcalls, case)
    disk = tree_of_disk(work)
    assert disk and tree_of_trace(database, work) == disk


def replayed(tmp_path: Path, work: Path) -> tuple[Path, dict[str, int]]:
    """Where the trace's replay was at work, and its figures."""
    target, out, workload = tmp_path / "replay", tmp_path / "run.json", tmp_path / "t.wl"
    target.mkdir()
    words = ["compile", tmp_path / "t.db", "-o", workload, "--order", "root"]
    subprocess.run([DAVID, *words], capture_output=True, timeout=120, check=False)
    words = ["replay", workload, target, "--share-disk", "--timing", "afap", "-o", out]
    subprocess.run([DAVID, *words], capture_output=True, timeout=120, check=False)
    (run,) = json.loads(out.read_text())["runs"]
    return Path(f"{target}{work}"), run


def as_below(tree: dict[str, Node], top: Path) -> dict[str, Node]:
    return {str(Path(path).relative_to(top)): node for path, node in tree.items()}


@pytest.mark.parametrize("case", CASES)
def test_the_tree_of_the_replay_is_that_on_the_disk(case: str, oddcalls: Path, tmp_path: Path) -> None:
    _, work = traced(tmp_path, oddcalls, case)
    again, run = replayed(tmp_path, work)
    assert as_below(tree_of_disk(again), again) == as_below(tree_of_disk(work), work)
    assert (run["same"], run["compared"]) == (run["made"], run["made"])


def test_a_vector_of_io_uring_is_as_long_as_its_parts(oddcalls: Path, tmp_path: Path) -> None:
    database, _ = traced(tmp_path, oddcalls, "uring")
    rows = database.execute("SELECT name, a2, result, offset FROM submission ORDER BY start").fetchall()
    assert rows == [("pwrite64", 3096, 3096, 5000), ("pread64", 3096, 3096, 1000), ("write", 3096, 3096, 100)]


def test_a_script_is_not_its_interpreter(tmp_path: Path) -> None:
    """Its size and inode are its own, in the tree, of the process and of the call."""
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\necho hi >out\nread x </etc/hostname\n")
    script.chmod(0o755)
    database, work = traced(tmp_path, "sh", "-c", f"{script}; {script} again; ./none; exec {script}")
    st = script.stat()
    rows = database.execute(
        "SELECT f.dev, f.ino, f.first_size, f.size FROM file f JOIN text t ON t.id = f.name WHERE t.text = ?",
        (str(script),),
    ).fetchall()
    assert rows == [(st.st_dev, st.st_ino, st.st_size, st.st_size)]
    sizes = database.execute("SELECT file_size FROM bsd_execute WHERE file_name = ?", (str(script),))
    assert sizes.fetchall() == [(st.st_size,)] * 3
    programs = database.execute(
        "SELECT t.text FROM process p JOIN file f ON f.id = p.program JOIN text t ON t.id = f.name"
    ).fetchall()
    assert programs.count((str(script),)) == 3
    assert tree_of_trace(database, work) == tree_of_disk(work)


INHERITED = """\
import os
assert os.lseek(1, 0, os.SEEK_CUR) == 149
os.write(1, bytes(10))
assert os.lseek(1, 0, os.SEEK_CUR) == 159
"""


def test_a_descriptor_stands_where_it_stood_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    with open(tmp_path / "work/out", "wb", buffering=0) as out:
        out.write(bytes(149))
        streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": subprocess.DEVNULL}
        database, work = traced(tmp_path, sys.executable, "-c", INHERITED, **streams)
    name = f"{work}/out"
    rows = database.execute(
        "SELECT found_at FROM ofd JOIN text t ON t.id = ofd.name WHERE t.text = ?", (name,)
    ).fetchall()
    assert rows == [(149,)]
    written = "SELECT offset FROM call WHERE name = 'write' AND a0 = 1 AND result = 10"
    assert database.execute(written).fetchall() == [(149,)]
    sizes = "SELECT first_size, size FROM file f JOIN ofd o ON o.file = f.id WHERE o.found_at = 149"
    assert database.execute(sizes).fetchall() == [(149, 159)]
    again, run = replayed(tmp_path, work)
    assert (again / "out").stat().st_size == 159 and run["same"] == run["made"]


def test_a_link_that_leads_nowhere_from_another_root_is_still_there(oddcalls: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "r").mkdir(parents=True)
    (work / "r/way").symlink_to(work / "file")
    (work / "file").write_bytes(bytes(600))
    database, _ = traced(tmp_path, oddcalls, "lost")
    found = database.execute("SELECT result FROM call WHERE path LIKE '%way' AND name = 'openat'").fetchall()
    assert found[0] == (-2,) and found[1][0] > 0
    again, run = replayed(tmp_path, work)
    assert (run["same"], run["compared"]) == (run["made"], run["made"])
    assert (again / "r/way").stat().st_size == 600 and (again / "r/after").stat().st_size == 10


def test_a_link_to_a_file_of_the_kernel_s_is_no_file_of_a_disk(oddcalls: Path, tmp_path: Path) -> None:
    """As /etc/mtab is one to /proc/self/mounts; and its name is what it was."""
    traced(tmp_path, oddcalls, "append")
    link = tmp_path / "work/mtab"
    link.symlink_to("/proc/self/mounts")
    (tmp_path / "t.db").unlink()
    database, work = traced(tmp_path, "sh", "-c", "cat mtab >out; cat mtab >>out")
    names = "SELECT t.text, bytes_read > 0 FROM ofd JOIN text t ON t.id = ofd.name WHERE t.text LIKE '%/mtab'"
    assert database.execute(names).fetchall() == [(str(link), 1)] * 2
    again, run = replayed(tmp_path, work)
    assert run["same"] == run["compared"] > 20, run["differences"]
    assert (again / "out").stat().st_size == (work / "out").stat().st_size and not (again / "mtab").exists()


BOTH = """\
import os
for fd in (1, 2, 1, 9, 2):
    os.write(fd, bytes(10))
assert os.lseek(2, 0, os.SEEK_CUR) == 50
"""


def test_descriptors_that_a_shell_has_made_of_one_have_one_offset(oddcalls: Path, tmp_path: Path) -> None:
    """oddcalls says whether programs can be traced here."""
    traced(tmp_path, oddcalls, "append")
    shell = f"exec >out 2>&1 9>&1; exec {DAVID} trace record -o ../b.db --share-disk -- \"$@\""
    words = ["sh", "-c", shell, "sh", sys.executable, "-c", BOTH]
    subprocess.run(words, cwd=tmp_path / "work", check=True, timeout=120)
    database = sqlite3.connect(tmp_path / "b.db")
    written = "SELECT a0, offset FROM call WHERE name = 'write' AND result = 10 ORDER BY id"
    assert database.execute(written).fetchall() == [(1, 0), (2, 10), (1, 20), (9, 30), (2, 40)]
    names = "SELECT count(*) FROM ofd JOIN text t ON t.id = ofd.name WHERE t.text LIKE '%/out'"
    assert database.execute(names).fetchall() == [(1,)]
    (tmp_path / "b.db").rename(tmp_path / "t.db")
    again, run = replayed(tmp_path, tmp_path / "work")
    assert (again / "out").stat().st_size == 50 and run["same"] == run["made"]


SCRIPT = """
test -e new/file || echo absent; read line
cat new/file
test -e old && echo there; read line
test -e old || mkdir old
"""


def test_what_somebody_who_is_not_traced_does_meanwhile_is_done_by_the_replay(
    oddcalls: Path, tmp_path: Path
) -> None:
    """oddcalls says whether programs can be traced here."""
    traced(tmp_path, oddcalls, "append")
    work, out = tmp_path / "others", tmp_path / "others.db"
    work.mkdir()
    (work / "old").write_text("x")
    words = [DAVID, "trace", "record", "-o", out, "--share-disk", "--", "/bin/sh", "-c", SCRIPT]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, cwd=work, text=True, **pipes) as program:  # type: ignore[call-overload]
        assert program.stdin and program.stdout and program.stdout.readline() == "absent\n"
        (work / "new").mkdir()
        (work / "new/file").write_text("made\n")
        print(file=program.stdin, flush=True)
        assert [program.stdout.readline() for _ in range(2)] == ["made\n", "there\n"]
        (work / "old").unlink()
        print(file=program.stdin, flush=True)
    assert not program.returncode
    out.rename(tmp_path / "t.db")
    again, run = replayed(tmp_path, work)
    assert run["same"] == run["compared"] == run["made"], run["differences"]
    assert as_below(tree_of_disk(again), again) == as_below(tree_of_disk(work), work)
