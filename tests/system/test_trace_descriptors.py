# SPDX-License-Identifier: GPL-2.0
"""Descriptors in a trace beside those of /proc, at random moments; passed from process to process. No lab."""

from __future__ import annotations

import array
import fcntl
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from davidlib import build
from helpers.traced import tree_of_disk, tree_of_trace

TREE = Path(__file__).resolve().parents[2]
DAVID = TREE / "tools/david"
HELPERS = TREE / "tests/system/helpers"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build.ensure("david-trace")
    top = tmp_path_factory.mktemp("programs")
    for name in ("descriptors", "passing", "tracee"):
        words = ["cc", "-O1", "-Wall", "-Werror", "-pthread", "-o", top / name, HELPERS / f"{name}.c"]
        subprocess.run([*words, "-lrt"], check=True)
    return top


def looked_at(out: Path, *command: str | Path, every: int = 1, **popen: object) -> sqlite3.Connection:
    """The finished trace of a command whose descriptors were looked at, after one of @every calls."""
    program = build.ensure("david-trace")
    dtr = out.with_suffix(".dtr")
    words = [program, "record", "--out", dtr, "--share-disk", "--look", str(every), "--", *command]
    subprocess.run(words, check=True, timeout=120, **popen)  # type: ignore[call-overload]
    subprocess.run([program, "finish", dtr, out], check=True)
    return sqlite3.connect(out)


def number(database: sqlite3.Connection, key: str) -> int:
    return int(database.execute("SELECT value FROM trace WHERE key = ?", (key,)).fetchone()[0])


def differences(database: sqlite3.Connection) -> list[tuple]:
    found = database.execute(
        "SELECT c.name, fd, what, l.trace, kernel FROM look l LEFT JOIN call c ON c.id = l.event"
    ).fetchall()
    assert len(found) == number(database, "looks.different")
    return found


# What several processes have open moves only while one of them runs: a look at one of them comes between the
# others' calls and their records.
SHELL = """\
exec 7>out 8<out 9>>out
echo a >&7; echo b >&9; read x <&8; (echo c >&9; read y <&8; echo d >&7)
for i in 1 2 3; do echo $i >>out; head -c 3 <&8; done >&9
cp out again; sort again | tr a-z A-Z | cat >sorted; exec 7>&-; { echo in; echo out >&2; } 2>err >out
"""


@pytest.mark.parametrize("name", ["descriptors", "passing", "tracee", "sh", "python"])
def test_the_trace_has_the_descriptors_that_the_kernel_has(name: str, programs: Path, tmp_path: Path) -> None:
    """Numbers, files, offsets, flags, close-on-exec: after each call of a program."""
    work = tmp_path / "work"
    work.mkdir()
    command = {
        "sh": ["sh", "-c", SHELL],
        "python": [sys.executable, "-c", "import subprocess as s; s.run(['true'], capture_output=True)"],
    }.get(name, [programs / name, *([work] if name == "tracee" else [])])
    database = looked_at(tmp_path / "t.db", *command, cwd=work)
    assert number(database, "looks.descriptors") > 300
    assert differences(database) == []


def test_one_of_so_many_calls_is_looked_at(programs: Path, tmp_path: Path) -> None:
    database = looked_at(tmp_path / "t.db", programs / "passing", every=10, cwd=tmp_path)
    (calls,) = database.execute("SELECT count(*) FROM event").fetchone()
    assert calls / 20 < number(database, "looks") < calls / 5


UNSEEN = """\
import ctypes, os, sys
go = lambda: (print("go", flush=True), sys.stdin.readline())
go()
os.fstat(3)
if sys.argv[1] == "number":
    libc = ctypes.CDLL(None)
    watch = libc.fanotify_init(0, os.O_RDONLY)
    libc.fanotify_mark(watch, 1, ctypes.c_uint64(0x20), -100, sys.executable.encode())
    os.close(os.open(sys.executable, os.O_RDONLY))
    os.read(watch, 4096)
"""


@pytest.mark.parametrize("what", ["offset", "flags", "number"])
def test_what_no_call_of_the_trace_has_done_is_found(what: str, tmp_path: Path) -> None:
    """Planted: somebody outside moves a description's offset, or changes its flags; a read of fanotify's
    makes a descriptor that the table does not know of.
    """
    if what == "number" and os.geteuid():
        pytest.skip("fanotify is for root")
    program = build.ensure("david-trace")
    dtr, out = tmp_path / "t.dtr", tmp_path / "t.db"
    shared = os.open(tmp_path / "shared", os.O_RDWR | os.O_CREAT)
    record = [program, "record", "--out", dtr, "--share-disk", "--look", "1", "--"]
    words = ["bash", "-c", f'exec "$@" 3<&{shared}', "sh", sys.executable, "-c", UNSEEN, what]
    with subprocess.Popen(
        [*record, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=[shared]
    ) as tracer:
        assert tracer.stdin and tracer.stdout and tracer.stdout.readline() == "go\n"
        if what == "offset":
            os.lseek(shared, 77, os.SEEK_SET)
        elif what == "flags":
            fcntl.fcntl(shared, fcntl.F_SETFL, os.O_APPEND)
        print("gone", file=tracer.stdin, flush=True)
    assert tracer.returncode == 0
    subprocess.run([program, "finish", dtr, out], check=True)
    found = {(kind, trace, kernel) for _, _, kind, trace, kernel in differences(sqlite3.connect(out))}
    wanted = {
        "offset": ("offset", 0, 77),
        "flags": ("flags", os.O_RDWR, os.O_RDWR | os.O_APPEND),
        "number": ("not in the trace", 0, 1),
    }
    assert found == {wanted[what]}


def test_a_descriptor_that_is_passed_on_is_the_same_description(programs: Path, tmp_path: Path) -> None:
    """By messages and by pidfd_getfd: what the receiver writes is in the sender's file, where that stood."""
    work, out = tmp_path / "work", tmp_path / "t.db"
    work.mkdir()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    foreign = os.open(work / "foreign", os.O_RDWR | os.O_CREAT)
    os.write(foreign, bytes(60))
    ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [foreign]))])
    record = [DAVID, "trace", "record", "-o", out, "--share-disk", "--"]
    words = ["bash", "-c", f'exec "$@" 3<&{theirs.fileno()}', "sh", programs / "passing"]
    subprocess.run([*record, *words], cwd=work, check=True, timeout=120, pass_fds=[theirs.fileno()])
    database = sqlite3.connect(out)
    disk = tree_of_disk(work)
    sizes = {Path(path).name: size for path, (_, size, _, _) in disk.items()}
    assert sizes == {"log": 111, "data": 222, "peeked": 303, "one": 15, "two": 25, "taken": 48, "foreign": 67}
    trace = tree_of_trace(database, work)
    named = {path: node for path, node in disk.items() if not path.endswith("foreign")}
    assert trace == named, "nobody has named the one from outside"
    rows = database.execute(
        "SELECT t.text, count(DISTINCT s.process) FROM ofd o JOIN text t ON t.id = o.name "
        "JOIN session s ON s.ofd = o.id WHERE t.text LIKE ? GROUP BY o.id",
        (f"{work}/%",),
    ).fetchall()
    assert {(Path(name).name, processes) for name, processes in rows} == {
        (name, 2) for name in sizes if name != "foreign"
    }
    written = database.execute(
        "SELECT offset, result FROM call c JOIN ofd o ON o.id = c.ofd WHERE c.name = 'write' AND result = 7 "
        "AND o.event IS NULL"
    ).fetchall()
    assert written == [(60, 7)]


def test_descriptors_that_a_shell_has_opened_reach_the_command(tmp_path: Path) -> None:
    out = tmp_path / "t.db"
    command = f"{DAVID} trace record -o {out} --share-disk -- sh -c 'echo x >&5' 5>{tmp_path}/five"
    subprocess.run(["sh", "-c", command], check=True, timeout=120, capture_output=True)
    assert (tmp_path / "five").read_text() == "x\n"


def test_exec_by_a_thread_that_is_not_the_first_keeps_the_working_directory(tmp_path: Path) -> None:
    """Names and processes of the program that follows are those of the process."""
    work, program = tmp_path / "work", tmp_path / "turmoil"
    (work / "below").mkdir(parents=True)
    subprocess.run(["cc", "-O1", "-Wall", "-pthread", "-o", program, HELPERS / "execthread.c"], check=True)
    out = tmp_path / "t.db"
    record = [DAVID, "trace", "record", "-o", out, "--share-disk", "--"]
    subprocess.run([*record, program, shutil.which("sh")], cwd=work, check=True, timeout=120)
    database = sqlite3.connect(out)
    assert tree_of_trace(database, work) == tree_of_disk(work)
    tids = database.execute("SELECT tid, end IS NOT NULL FROM thread").fetchall()
    assert len({tid for tid, _ in tids}) == len(tids) == 2 and all(ended for _, ended in tids)
