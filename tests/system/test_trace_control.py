# SPDX-License-Identifier: GPL-2.0
"""david trace record: on and off, a ring of files, a user's or a cgroup's processes; trace causal. No lab."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from davidlib import build

TREE = Path(__file__).resolve().parents[2]
DAVID = TREE / "tools/david"

FULL = os.environ.get("DAVID_SCALE") == "full"
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
USER = 30000 + os.getpid() % 20000  # a user without processes, and not that of another session's tests


@pytest.fixture(scope="module")
def tracee() -> Iterator[Path]:
    build.ensure("david-trace")
    source = TREE / "tests/system/helpers/tracee.c"
    with open_directory() as top:
        subprocess.run(["cc", "-O1", "-pthread", "-o", top / "tracee", source], check=True)
        yield top / "tracee"


@contextlib.contextmanager
def open_directory() -> Iterator[Path]:
    """A directory that other users reach. Those of pytest are closed whenever another pytest begins."""
    with tempfile.TemporaryDirectory(prefix="david-trace-") as name:
        top = Path(name)
        top.chmod(0o755)
        yield top


def wait_for(what: Callable[[], object]) -> None:
    limit = time.monotonic() + 600
    while not what():
        assert time.monotonic() < limit, "it never came"
        time.sleep(0.01)


def start(out: Path, *words: str | Path) -> subprocess.Popen:
    """A tracer that has begun."""
    tracer = subprocess.Popen([DAVID, "trace", "record", "-o", out, "--share-disk", *words])
    wait_for(lambda: tracer.poll() is not None or (out.exists() and out.stat().st_size))
    assert tracer.poll() is None
    return tracer


def trace(word: str, *words: str | Path, status: int = 0) -> str:
    done = subprocess.run([DAVID, "trace", word, *words], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def finished(dtr: Path, status: int = 0) -> sqlite3.Connection:
    dtr.with_suffix(".db").unlink(missing_ok=True)
    trace("finish", dtr, status=status)
    return sqlite3.connect(dtr.with_suffix(".db"))


def tracer_pid(dtr: Path) -> int:
    return int(trace("status", dtr).split()[1])


def values(database: sqlite3.Connection, table: str) -> dict[str, str]:
    return dict(database.execute(f"SELECT key, value FROM {table}"))


SWITCHED = """\
import os, sys
def turn(what):
    print(what, flush=True)
    sys.stdin.readline()
old = os.open("old", os.O_CREAT | os.O_RDWR)
os.write(old, b"x" * 10)
turn("off please")
unseen = os.open("unseen", os.O_CREAT | os.O_RDWR)
os.write(unseen, b"x" * 100)
os.close(old)
other = os.open("other", os.O_CREAT | os.O_RDWR)
turn("on please")
os.write(unseen, b"x" * 1000)
os.write(other, b"x" * 5)
"""


@pytest.mark.parametrize("way", ["command", "pid"])
def test_it_is_switched_off_and_on_while_it_runs(way: str, tmp_path: Path) -> None:
    """What happens meanwhile is not recorded; what was opened meanwhile is known."""
    switch_off_and_on(way, tmp_path)


def switch_off_and_on(way: str, tmp_path: Path, *options: str) -> None:
    dtr = tmp_path / "t.dtr"
    words = [sys.executable, "-c", SWITCHED]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": tmp_path}
    if way == "command":
        record = [DAVID, "trace", "record", "-o", dtr, *options, "--share-disk", "--", *words]
        program = tracer = subprocess.Popen(record, **pipes)
        assert program.stdout.readline() == "off please\n"
    else:
        program = subprocess.Popen(words, **pipes)
        assert program.stdout.readline() == "off please\n"
        tracer = start(dtr, "--pid", str(program.pid))
        wait_for(lambda: "records: on" in trace("status", dtr))
    trace("off", dtr)
    assert "records: off" in trace("status", dtr, status=1)
    print("go", file=program.stdin, flush=True)
    assert program.stdout.readline() == "on please\n"
    trace("on", dtr)
    print("go", file=program.stdin, flush=True)
    assert program.wait(60) == 0 and tracer.wait(60) == 0
    assert "nothing is being recorded" in trace("status", dtr, status=1)
    database = finished(dtr)
    written = dict(
        database.execute(
            "SELECT t.text, sum(result) FROM event JOIN ofd ON ofd.id = event.ofd "
            "JOIN text t ON t.id = ofd.name WHERE nr = 1 AND t.text LIKE ? GROUP BY 1",
            (f"{tmp_path}/%",),
        )
    )
    begin = {f"{tmp_path}/old": 10} if way == "command" else {}
    assert written == {**begin, f"{tmp_path}/unseen": 1000, f"{tmp_path}/other": 5}
    (gap,) = database.execute("SELECT why, start < end FROM gap")
    assert gap == ("off", 1)
    balance = values(database, "balance")
    assert balance["switches"] == "2" and int(balance["off-ns"]) > 0
    assert values(database, "trace")["whole"] == "yes"


def test_a_trace_may_begin_switched_off(tracee: Path, tmp_path: Path) -> None:
    dtr = tmp_path / "t.dtr"
    done = subprocess.run(
        [DAVID, "trace", "record", "-o", dtr, "--share-disk", "--off", "--", tracee, tmp_path]
    )
    assert done.returncode == 0
    database = finished(dtr)
    balance = values(database, "balance")
    assert balance["calls"] == "0" and int(balance["skipped"]) > 50
    assert list(database.execute("SELECT count(*) FROM process")) == [(4,)]
    assert "no tracer writes" in trace("on", dtr, status=1)


THREADED = """\
#include <pthread.h>
static void *run(void *of) { return of; }
int main(void)
{
	pthread_t thread;

	return pthread_create(&thread, 0, run, 0) || pthread_join(thread, 0);
}
"""


@pytest.mark.parametrize("bits", ["-m64", "-m32"])
def test_a_thread_made_while_switched_off_is_known_as_one(bits: str, tmp_path: Path) -> None:
    source, program, dtr = tmp_path / "threaded.c", tmp_path / "threaded", tmp_path / "t.dtr"
    source.write_text(THREADED)
    if subprocess.run(["cc", bits, "-pthread", "-o", program, source]).returncode:
        pytest.skip("no programs of that kind here")
    subprocess.run([DAVID, "trace", "record", "-o", dtr, "--share-disk", "--off", "--", program], check=True)
    words = [TREE / "build/david-trace", "dump", dtr]
    dumped = subprocess.run(words, capture_output=True, text=True, check=True)
    flags = re.findall(r" fork \d+ \((0x[0-9a-f]+)", dumped.stdout)
    assert flags and int(flags[-1], 16) & 0x10000 == 0x10000 and int(flags[-1], 16) < 1 << 32  # CLONE_THREAD


def pieces(dtr: Path) -> list[Path]:
    return [path for path in dtr.parent.iterdir() if path.name.startswith(dtr.name)]


RING = 1 << 20


@pytest.mark.seldom
@pytest.mark.parametrize("files", [2, *([3] if FULL else [])])
def test_a_ring_of_files_keeps_the_newest_calls(files: int, tracee: Path, tmp_path: Path) -> None:
    """Never more bytes than asked for; what is left is whole but for what it says was dropped."""
    dtr, work = tmp_path / "t.dtr", tmp_path / "work"
    work.mkdir()
    size = RING * files // 2
    tracer = start(dtr, "--rotate", f"{size},{files}", "--", tracee, "--loop", work)
    inode, most = set(), 0

    def went_round() -> bool:
        nonlocal most
        most = max(most, sum(path.stat().st_size for path in pieces(dtr)))
        text = dtr.read_bytes()[16:20]
        inode.add(text)
        return len(inode) > 2

    wait_for(went_round)
    assert len(pieces(dtr)) == files and most <= size
    # All files but the current one are full.
    full = sorted(path.stat().st_size for path in pieces(dtr))[1:]
    assert all(bytes_ > 0.8 * size / files for bytes_ in full), full
    os.kill(tracer_pid(dtr), signal.SIGTERM)
    assert tracer.wait(60) == 128 + signal.SIGTERM
    database = finished(dtr)
    about, balance = values(database, "trace"), values(database, "balance")
    assert about["whole"] == "no" and "dropped" in about["problem"]
    assert int(about["dropped"]) > 0 and int(balance["segments"]) > files
    assert int(about["dropped"]) + int(about["events"]) == int(balance["calls"])
    assert list(database.execute("SELECT why, start, calls FROM gap")) == [
        ("dropped", 0, int(about["dropped"]))
    ]
    # All that the loop does is about files whose names are known, though it began before what is left.
    names = {
        name for (name,) in database.execute("SELECT DISTINCT full_path FROM call WHERE name = 'openat'")
    }
    assert names == {f"{work}/again"}


def test_a_ring_whose_tracer_was_killed_can_be_read(tracee: Path, tmp_path: Path) -> None:
    dtr, work = tmp_path / "t.dtr", tmp_path / "work"
    work.mkdir()
    tracer = start(dtr, "--rotate", str(RING), "--", tracee, "--loop", work)
    wait_for(lambda: len(pieces(dtr)) == 2 and Path(f"{dtr}.1").stat().st_size > 1000)
    os.kill(tracer_pid(dtr), signal.SIGKILL)
    tracer.wait(60)
    about = values(finished(dtr, status=2), "trace")
    # Killed while it writes, it leaves a part of its last frame.
    assert re.search("without a balance|ends within a frame", about["problem"]), about
    assert int(about["events"]) > 1000
    # A file of it alone is a trace, too; one that is lost between others is missed.
    alone = tmp_path / "alone.dtr"
    Path(f"{dtr}.1").rename(alone)
    assert int(values(finished(alone, status=2), "trace")["dropped"]) > 1000


GOES_ON = "i=0; while [ $i -lt {} ]; do echo $i >out; i=$((i+1)); done; echo end >ended"


def test_a_trace_that_cannot_be_written_does_not_end_the_command(tmp_path: Path) -> None:
    """As by strace. The status says that the trace is none; the command's, if it failed."""
    program = build.ensure("david-trace")
    for status in (0, 7):
        (tmp_path / "ended").unlink(missing_ok=True)
        command = ["sh", "-c", f"{GOES_ON.format(20)}; exit {status}"]
        record = [program, "record", "--out", "/dev/full", "--share-disk", "--", *command]
        done = subprocess.run(record, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == (status or 2) and (tmp_path / "ended").exists()
        assert "the trace cannot be written: No space left on device" in done.stderr
        assert re.search(r" [1-9]\d* calls are not in /dev/full", done.stderr)


@root_only
def test_a_trace_on_a_disk_that_becomes_full_has_what_came_before(tmp_path: Path) -> None:
    """Of all calls, each is in it or counted as lost; and it is to be finished elsewhere. The disk has
    room for some of the tracer's blocks."""
    small, work = tmp_path / "small", tmp_path / "work"
    small.mkdir()
    work.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", small], check=True)
    try:
        record = [DAVID, "trace", "record", "-o", small / "t.db", "--", "sh", "-c", GOES_ON.format(4000)]
        done = subprocess.run(record, cwd=work, capture_output=True, text=True, timeout=300, check=False)
        dtr = small / "t.dtr"
        assert done.returncode == 1 and (work / "ended").exists()
        assert f"{dtr} could not be finished; it stays" in done.stderr and not (small / "t.db").exists()
        trace("finish", dtr, "-o", tmp_path / "t.db", status=2)
    finally:
        subprocess.run(["umount", small], check=True)
    database = sqlite3.connect(tmp_path / "t.db")
    about = values(database, "trace")
    assert about["whole"] == "no" and int(about["events"]) > 100
    said = values(database, "balance")  # there is none, if there was no room for it
    if said:
        assert int(said["calls"]) == int(about["events"])
        assert int(said["lost"]) > 100 and int(said["calls.openat"]) < 4000
        lost = re.search(r"(\d+) calls are not in", done.stderr)
        assert lost and lost[1] == said["lost"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_who_ends_record_ends_the_command_and_has_the_trace(number: signal.Signals, tmp_path: Path) -> None:
    out = tmp_path / "t.db"
    command = ["sh", "-c", f"echo x >{tmp_path}/begun; exec sleep 600"]
    record = [DAVID, "trace", "record", "-o", out, "--share-disk", "--", *command]
    with subprocess.Popen(record) as tracer:
        wait_for((tmp_path / "begun").exists)
        tracer.send_signal(number)
        assert tracer.wait(60) == 128 + number
    database = sqlite3.connect(out)
    assert values(database, "trace")["whole"] == "yes" and not out.with_suffix(".dtr").exists()
    assert database.execute("SELECT status FROM process").fetchall() == [(int(number),)]


def test_a_signal_that_is_ignored_as_by_nohup_ends_nothing(tmp_path: Path) -> None:
    out = tmp_path / "t.db"
    command = ["sh", "-c", f"echo x >{tmp_path}/begun; while [ ! -e {tmp_path}/go ]; do sleep 0.01; done"]
    record = ["nohup", DAVID, "trace", "record", "-o", out, "--share-disk", "--", *command]
    with subprocess.Popen(record, stderr=subprocess.DEVNULL) as tracer:
        wait_for((tmp_path / "begun").exists)
        tracer.send_signal(signal.SIGHUP)
        os.kill(tracer_pid(out.with_suffix(".dtr")), signal.SIGHUP)
        time.sleep(0.2)
        (tmp_path / "go").touch()
        assert tracer.wait(60) == 0


def as_user(tracee: Path, work: Path, *words: str) -> subprocess.Popen:
    work.mkdir(exist_ok=True)
    os.chown(work, USER, USER)
    return subprocess.Popen([tracee, *words, work], user=USER, group=USER, extra_groups=[])


@pytest.fixture
def public() -> Iterator[Path]:
    with open_directory() as top:
        yield top


def commands(database: sqlite3.Connection, work: Path) -> set[str]:
    """Which of the directories below have been worked in."""
    rows = database.execute("SELECT DISTINCT full_path FROM call WHERE full_path LIKE ?", (f"{work}/%",))
    return {Path(name).relative_to(work).parts[0] for (name,) in rows}


@root_only
def test_all_processes_of_a_user_are_traced_and_let_go(tracee: Path, public: Path) -> None:
    dtr = public / "t.dtr"
    before = as_user(tracee, public / "before", "--loop-slowly")
    roots = subprocess.Popen([tracee, "--loop-slowly", public])
    wait_for((public / "before/again").exists)
    tracer = start(dtr, "--uid", str(USER))
    wait_for(lambda: "records: on" in trace("status", dtr))
    late = as_user(tracee, public / "late", "--loop-slowly")
    size = dtr.stat().st_size
    wait_for(lambda: dtr.stat().st_size > size + 20000 and "TracerPid:\t0" not in status(late.pid))
    time_of_attach = dtr.stat().st_size
    wait_for(lambda: dtr.stat().st_size > time_of_attach + 5000)
    assert "TracerPid:\t0" in status(roots.pid)
    os.kill(tracer_pid(dtr), signal.SIGINT)
    assert tracer.wait(60) == 0
    for process in (before, late, roots):
        assert process.poll() is None and "TracerPid:\t0" in status(process.pid)
        process.kill()
        process.wait()
    database = finished(dtr)
    assert commands(database, public) == {"before", "late"}
    balance = values(database, "balance")
    assert (balance["attached"], balance["late"], balance["refused"]) == ("2", "1", "0")
    assert values(database, "trace")["scope.uid"] == str(USER)


def status(pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text()


@pytest.fixture
def cgroup() -> Iterator[Path]:
    """A cgroup of our own, with one in it."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    tops = [Path(mount[1]) for mount in mounts if mount[2] == "cgroup2"]
    if not tops or not os.access(tops[0], os.W_OK):
        pytest.skip("no cgroups can be made here")
    top = tops[0] / f"david-test-{os.getpid()}"
    inner = top / "inner"
    top.mkdir()
    inner.mkdir()
    yield inner
    inner.rmdir()
    top.rmdir()


@root_only
def test_all_processes_of_a_cgroup_are_traced(cgroup: Path, tracee: Path, tmp_path: Path) -> None:
    dtr = tmp_path / "t.dtr"
    loops = {}
    for name in ("before", "late", "outside"):
        (tmp_path / name).mkdir()
        loops[name] = subprocess.Popen([tracee, "--loop-slowly", tmp_path / name])
        wait_for((tmp_path / name / "again").exists)
    (cgroup / "cgroup.procs").write_text(str(loops["before"].pid))
    tracer = start(dtr, "--cgroup", cgroup.parent)
    (cgroup / "cgroup.procs").write_text(str(loops["late"].pid))
    wait_for(lambda: "TracerPid:\t0" not in status(loops["late"].pid))
    size = dtr.stat().st_size
    wait_for(lambda: dtr.stat().st_size > size + 5000)
    os.kill(tracer_pid(dtr), signal.SIGINT)
    assert tracer.wait(60) == 0
    for process in loops.values():
        assert process.poll() is None and "TracerPid:\t0" in status(process.pid)
        process.kill()
        process.wait()
    database = finished(dtr)
    assert commands(database, tmp_path) == {"before", "late"}


def test_a_scope_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for words, said in (
        (["--uid", "no-such-user"], "there is no user"),
        (["--cgroup", "/no/such"], "there is no cgroup"),
        (["--uid", "0", "--", "true"], "one of a command"),
    ):
        done = subprocess.run(
            [DAVID, "trace", "record", "-o", tmp_path / "t.dtr", "--share-disk", *words],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode and said in done.stderr, done.stderr


def test_who_watches_a_word_of_memory_waits_for_who_writes_it(tmp_path: Path) -> None:
    """No call tells. In real time: a thread that spins stops a virtual clock. Other work may come between."""
    build.ensure("david-trace")
    program, out = tmp_path / "waiters", tmp_path / "found.json"
    source = TREE / "tests/system/helpers/waiters.c"
    subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-pthread", "-o", program, source], check=True)
    words = [DAVID, "trace", "causal", "-o", out, "--", program, tmp_path, "2", "pure:1>2"]
    wanted = ("1.2", 3, False, "1.1", 4)

    def found() -> set[tuple[str, int, bool, str, int]]:
        subprocess.run(words, check=True, capture_output=True, timeout=300)
        waits = [tuple(wait.values()) for wait in json.loads(out.read_text())["waits"]]
        return {wait for wait in waits if "." in wait[0] and "." in wait[3]}

    assert any(found() == {wanted} for _ in range(10))
