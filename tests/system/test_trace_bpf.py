# SPDX-License-Identifier: GPL-2.0
"""david trace record --method bpf: the same as by ptrace, of a command, a user, a cgroup. Root; no lab."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from davidlib import build, util
from helpers import traced
from test_trace import FULL, PROGRAMS, trace_program
from test_trace_control import (
    USER,
    as_user,
    cgroup,
    commands,
    pieces,
    public,
    root_only,
    switch_off_and_on,
    trace,
    tracee,
    tracer_pid,
    values,
    wait_for,
)
from test_trace_uring import aiowork, assert_all_of_fio, assert_as_worked, uringwork
from test_trace_uring import traced as recorded_and_said

TREE = Path(__file__).resolve().parents[2]
DAVID, BUILD = TREE / "tools/david", TREE / "build"

__all__ = ["aiowork", "cgroup", "public", "tracee", "uringwork"]  # fixtures
pytestmark = [
    root_only,
    pytest.mark.skipif(
        not (Path("/usr/include/bpf/libbpf.h").exists() and shutil.which("clang")),
        reason="no libbpf-dev or clang",
    ),
    pytest.mark.skipif(
        not Path("/sys/kernel/btf/vmlinux").exists(), reason="the kernel says nothing of its types"
    ),
]


def options(out: Path) -> list[str | Path]:
    return [DAVID, "trace", "record", "--method", "bpf", "-o", out, "--share-disk"]


@pytest.fixture(scope="module", autouse=True)
def _program(tmp_path_factory: pytest.TempPathFactory) -> None:
    try:
        build.ensure("david-trace-bpf")
    except util.UserError as error:
        pytest.fail(str(error))
    out = tmp_path_factory.mktemp("bpf") / "t.db"
    done = subprocess.run([*options(out), "--", "true"], capture_output=True, text=True, check=False)
    if "the kernel does not take the tracer" in done.stderr:
        pytest.skip(done.stderr)


def recorded(out: Path, *words: str | Path) -> sqlite3.Connection:
    subprocess.run([*options(out), *words], check=True, timeout=120, capture_output=True)
    return sqlite3.connect(out)


def test_it_sees_what_the_other_tracer_sees(tracee: Path, tmp_path: Path) -> None:
    """The same calls, results, paths and order by thread; the same tree."""
    work, other = tmp_path / "work", tmp_path / "ptrace.db"
    work.mkdir()
    words = [DAVID, "trace", "record", "-o", other, "--share-disk", "--", tracee, work]
    subprocess.run(words, check=True, timeout=120, capture_output=True)
    shutil.rmtree(work)
    work.mkdir()
    database = recorded(tmp_path / "t.db", "--", tracee, work)
    assert traced.difference(tmp_path / "t.db", other) == ""
    assert traced.tree_of_trace(database, work) == traced.tree_of_disk(work)
    assert (values(database, "trace")["method"], values(database, "trace")["whole"]) == ("bpf", "yes")
    said = values(database, "balance")
    assert [said[key] for key in ("unknown", "foreign", "lost", "bad-paths", "tasks")] == ["0"] * 4 + ["5"]
    status = database.execute("SELECT how, status FROM process ORDER BY id").fetchall()
    assert status == [("there before", 0), ("clone", 3 << 8), ("vfork", 0), ("clone", signal.SIGKILL)]


def test_a_pipe_that_a_child_has_is_replayed(tmp_path: Path) -> None:
    """Each task was made by the call that made it, so that it has what its maker had then, and not later."""
    work, workload, target = tmp_path / "work", tmp_path / "t.wl", tmp_path / "target"
    work.mkdir()
    target.mkdir()
    (work / "from").write_bytes(bytes(20000))
    packs = "tar czf a.tgz from; tar czf b.tgz from; cat from | (sleep 0.01; cat) | wc -c >size"
    database = recorded(tmp_path / "t.db", "--", "sh", "-c", f"cd {work}; {packs}")
    made = "SELECT result, start FROM call WHERE name IN ('clone', 'clone3', 'fork', 'vfork') AND result > 0"
    begun = set(database.execute("SELECT tid, start FROM thread"))
    calls = set(database.execute(made))
    assert len(calls) > 6 and calls <= begun
    subprocess.run([DAVID, "compile", tmp_path / "t.db", "-o", workload], check=True, capture_output=True)
    replay = [DAVID, "replay", workload, target, "--share-disk", "--timing", "afap"]
    said = subprocess.run(replay, check=True, capture_output=True, text=True, timeout=120)
    assert "100.000 % of" in said.stdout + said.stderr


def test_a_script_has_not_its_interpreters_size(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\nexec true\n")
    script.chmod(0o755)
    database = recorded(tmp_path / "t.db", "--", "sh", "-c", str(script))
    rows = database.execute("SELECT file_size FROM bsd_execute WHERE file_name = ?", (str(script),))
    assert rows.fetchall() == [(None,)]
    named = "SELECT size FROM file JOIN text t ON t.id = file.name WHERE t.text = ? AND size IS NOT NULL"
    assert database.execute(named, (str(script),)).fetchall() == [(script.stat().st_size,)]


@pytest.mark.seldom
def test_tasks_that_want_the_same_place_for_their_state_are_all_traced(tracee: Path, tmp_path: Path) -> None:
    """With two places, most tasks have theirs elsewhere."""
    program = with_change("#define SLOTS 16384", "#define SLOTS 2", tmp_path)
    work, one, many = tmp_path / "work", tmp_path / "one.dtr", tmp_path / "many.dtr"
    for record, dtr in ((program, one), (BUILD / "david-trace-bpf", many)):
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        subprocess.run([record, "record", "--out", dtr, "--share-disk", "--", tracee, work], check=True)
        trace("finish", dtr)
    assert traced.difference(one.with_suffix(".db"), many.with_suffix(".db")) == ""
    script = tmp_path / "script"
    script.write_text(REPLACED)
    out = tmp_path / "replaced.dtr"
    record = [program, "record", "--out", out, "--share-disk", "--", sys.executable, script]
    subprocess.run(record, check=True)
    trace("finish", out)
    assert_one_process_ended(sqlite3.connect(out.with_suffix(".db")))


REQUESTS = (
    "SELECT s.name, result, offset, a2, text FROM submission s JOIN ofd ON ofd.id = s.ofd"
    " JOIN text ON text.id = ofd.name ORDER BY s.event, s.name, offset, text"
)


def aio_differs(program: list[str | Path], aiowork: Path, tmp_path: Path) -> bool:
    """From what the tracer by ptrace sees, submitted or in the balance."""
    found = []
    for number, record in enumerate(([BUILD / "david-trace", "record"], program)):
        dtr, work = tmp_path / f"{number}.dtr", tmp_path / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        subprocess.run([*record, "--out", dtr, "--share-disk", "--", aiowork, work], check=True)
        trace("finish", dtr)
        database = sqlite3.connect(dtr.with_suffix(".db"))
        said = values(database, "balance")
        counted = [said[f"aio-{key}"] for key in ("submissions", "completions")]
        found.append((database.execute(REQUESTS).fetchall(), counted))
    assert len(found[0][0]) == 8 and found[0][1] == ["8", "8"]
    return found[0] != found[1]


def test_requests_of_aio_are_those_that_the_other_tracer_sees(aiowork: Path, tmp_path: Path) -> None:
    assert not aio_differs([BUILD / "david-trace-bpf", "record"], aiowork, tmp_path)


BPF = ("--method", "bpf")


def test_submissions_to_io_uring_are_those_that_the_other_tracer_sees(
    uringwork: Path, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    database, balance, _ = recorded_and_said(tmp_path / "t.db", uringwork, work, options=BPF)
    assert_as_worked(database, balance, work)
    # In time: after the call was made, and seen when they were completed.
    wrong = database.execute(
        "SELECT count(*) FROM uring u JOIN event e ON e.id = u.event "
        "WHERE e.nr != 426 OR u.start NOT BETWEEN e.start AND e.start + e.duration OR seen < u.start"
    )
    assert wrong.fetchone() == (0,)


def test_what_a_thread_of_the_kernel_takes_from_the_ring_is_seen(uringwork: Path, tmp_path: Path) -> None:
    """As if the program had submitted it, but by no call."""
    work = tmp_path / "work"
    work.mkdir()
    database, balance, _ = recorded_and_said(tmp_path / "t.db", uringwork, work, "polled", options=BPF)
    assert_as_worked(database, balance, work)
    assert database.execute("SELECT count(event) FROM uring").fetchone() == (0,)


def test_fios_requests_to_io_uring_are_all_seen(uringwork: Path, tmp_path: Path) -> None:
    assert_all_of_fio(tmp_path, *BPF)


LAYOUTS = (
    "SELECT DISTINCT hex(value) FROM extra JOIN event e ON e.id = extra.event JOIN text ON text.id = e.name"
    " WHERE kind = 18 AND text = ?"
)


@pytest.mark.parametrize(
    "script",
    [
        "exec 3<f; exec 3<&-; sleep 1",  # closed since: by its path
        "exec 3<f; rm f; sleep 1",  # removed: by its descriptor
        "cat $PWD/f > /dev/null",  # gone, with its process
    ],
)
def test_where_files_lie_is_what_the_other_tracer_finds(script: str, tmp_path: Path) -> None:
    found = []
    file = tmp_path / "f"
    for number, method in enumerate(("bpf", "ptrace")):
        (tmp_path / "kept").unlink(missing_ok=True)
        if not number:
            file.write_bytes(bytes(100_000))
            os.sync()
        os.link(file, tmp_path / "kept")  # the same file is there for the other one
        words = [DAVID, "trace", "record", "--method", method, "--layout", "--share-disk"]
        out = tmp_path / f"{number}.db"
        subprocess.run([*words, "-o", out, "--", "sh", "-c", script], cwd=tmp_path, check=True, timeout=60)
        database = sqlite3.connect(out)
        found.append(database.execute(LAYOUTS, (str(file),)).fetchall())
        assert values(database, "balance")["layout-unseen"] == "0"
        if not file.exists():
            os.link(tmp_path / "kept", file)
    if not found[1]:
        pytest.skip("this file system does not say where files lie")
    assert found[0] == found[1]


def test_a_file_that_is_gone_when_it_is_looked_for_is_counted(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(bytes(100_000))
    script = "exec 3<f; rm f"
    database = recorded(tmp_path / "t.db", "--layout", "--", "sh", "-c", f"cd {tmp_path}; {script}")
    found = database.execute(LAYOUTS, (f"{tmp_path}/f",)).fetchall()
    assert len(found) + int(values(database, "balance")["layout-unseen"]) == 1


REPLACED = """\
import os, threading
thread = threading.Thread(target=lambda: os.execv("/bin/true", ["true"]))
thread.start()
thread.join()
"""


def test_a_thread_that_is_not_the_first_may_run_a_new_program(tmp_path: Path) -> None:
    """It takes the process's number: there is one process, and it ends once."""
    script = tmp_path / "script"
    script.write_text(REPLACED)
    assert_one_process_ended(recorded(tmp_path / "t.db", "--", sys.executable, script))


def assert_one_process_ended(database: sqlite3.Connection) -> None:
    assert database.execute("SELECT how, status, end IS NOT NULL FROM process").fetchall() == [
        ("there before", 0, 1)
    ]
    assert database.execute("SELECT count(*) FROM thread WHERE end IS NULL").fetchone() == (0,)


def test_the_commands_status_is_passed_on(tmp_path: Path) -> None:
    for script, status in (("exit 7", 7), ("kill -TERM $$", 128 + signal.SIGTERM)):
        out = tmp_path / f"{status}.db"
        assert subprocess.run([*options(out), "--", "sh", "-c", script], check=False).returncode == status


TOUCHING = """\
import mmap, os
file = os.open("f", os.O_CREAT | os.O_RDWR)
os.ftruncate(file, 4000 * 4096)
mapped = mmap.mmap(file, 3000 * 4096, offset=1000 * 4096)
mapped[7 * 4096] = 1
seen = mapped[100 * 4096 + 5]
mapped[7 * 4096 + 8] = 1
os.stat("between")
mapped[2500 * 4096] = 1
"""


def test_each_first_touch_of_a_mapped_page_is_recorded(tmp_path: Path) -> None:
    """When, by whom, of which page, and whether to write to it."""
    script = f"import os\nos.chdir({str(tmp_path)!r})\nopen('between', 'w').close()\n{TOUCHING}"
    database = recorded(tmp_path / "t.db", "--pages", "--", sys.executable, "-c", script)
    touches = database.execute(
        "SELECT offset / 4096, write, shared, kernel, time FROM fault JOIN file f ON f.id = file "
        "JOIN text ON text.id = f.name WHERE text = ? ORDER BY time",
        (f"{tmp_path}/f",),
    ).fetchall()
    assert [row[:4] for row in touches] == [(1007, 1, 1, 0), (1100, 0, 1, 0), (3500, 1, 1, 0)]
    (stat,) = database.execute("SELECT start FROM call WHERE path = 'between' AND name LIKE '%stat%'")
    assert touches[1][4] < stat[0] < touches[2][4]
    said = values(database, "balance")
    (count,) = database.execute("SELECT count(*) FROM fault").fetchone()
    assert (int(said["mapped-pages"]), said["mapped-pages-unseen"], said["lost"]) == (count, "0", "0")


ANYWHERE = """\
import mmap, os, random, sys
file = os.open(sys.argv[1], os.O_RDONLY)
mapped = mmap.mmap(file, 0, prot=mmap.PROT_READ)
mapped.madvise(mmap.MADV_RANDOM)
for page in random.Random(5).sample(range(4000), 200):
    mapped[page * 4096]
"""


def touches_of(database: sqlite3.Connection, name: str) -> list[tuple[int, int]]:
    """Page, and how long was waited for it."""
    return database.execute(
        "SELECT f.offset / 4096, duration FROM fault f JOIN file ON file.id = f.file "
        "JOIN text ON text.id = file.name WHERE text GLOB ? ORDER BY time",
        (f"*/{name}",),
    ).fetchall()


def test_two_hundred_touches_are_two_hundred_in_trace_and_replay(tmp_path: Path) -> None:
    """The replay is traced, too: each page once, in the same order, from the disk, as in the original."""
    for name in ("david-compile", "david-replay"):
        build.ensure(name)
    there, work, target = tmp_path / "there", tmp_path / "t.wl", tmp_path / "target"
    there.mkdir()
    (there / "f").write_bytes(b"x" * (4000 * 4096))
    target.mkdir()
    os.sync()
    Path("/proc/sys/vm/drop_caches").write_text("3")
    original = recorded(tmp_path / "t.db", "--pages", "--", "/usr/bin/python3", "-c", ANYWHERE, there / "f")
    asked = touches_of(original, "f")
    assert len(asked) == 200 and sum(wait > 0 for _, wait in asked) > 150
    calls = [TREE / "build/david-compile", "--root", there, tmp_path / "t.db", work]
    subprocess.run(calls, check=True)
    subprocess.run([TREE / "build/david-replay", "prepare", work, target], check=True)
    os.sync()
    Path("/proc/sys/vm/drop_caches").write_text("3")
    words = [TREE / "build/david-replay", "run", "--share-disk", work, target]
    again = touches_of(recorded(tmp_path / "r.db", "--pages", "--", *words), "f")
    assert [page for page, _ in again] == [page for page, _ in asked]
    assert sum(wait > 0 for _, wait in again) > 150


def test_what_it_has_not_says_so(tmp_path: Path) -> None:
    words = [*options(tmp_path / "t.db"), "--cpu", "--", "true"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 125 and "--method bpf has no --cpu" in done.stderr


def test_processes_of_a_user_are_traced_from_their_first_call(tracee: Path, public: Path) -> None:
    dtr = public / "t.dtr"
    # No loop at full speed: the ring could be full before the tracer is given a CPU.
    (public / "before").mkdir()
    slow = f"while :; do : <{public}/before; sleep 0.05; done"
    before = subprocess.Popen(["sh", "-c", slow], user=USER, group=USER, extra_groups=[])
    tracer = subprocess.Popen([*options(dtr), "--uid", str(USER)])
    wait_for(lambda: dtr.exists() and "records: on" in trace_status(dtr))
    short = as_user(tracee, public / "short")
    assert short.wait(60) == 0
    os.kill(tracer_pid(dtr), signal.SIGINT)
    assert tracer.wait(60) == 0 and before.poll() is None
    before.kill()
    before.wait()
    trace("finish", dtr)
    database = sqlite3.connect(dtr.with_suffix(".db"))
    assert commands(database, public) >= {"short"}
    opened = "SELECT count(*) FROM call WHERE path = ? AND result >= 0"
    assert database.execute(opened, (f"{public}/before",)).fetchone()[0] > 0
    # From the exec on, which is the first call that it made as that user.
    own = database.execute(
        "SELECT name FROM call WHERE process = (SELECT id FROM process WHERE pid = ?)", (short.pid,)
    )
    names = [name for (name,) in own]
    assert "execve" in names[:8] and names[-1] == "exit_group"
    assert traced.tree_of_trace(database, public / "short") == traced.tree_of_disk(public / "short")
    assert values(database, "balance")["lost"] == "0"


def trace_status(dtr: Path) -> str:
    done = subprocess.run([DAVID, "trace", "status", dtr], capture_output=True, text=True, check=False)
    return done.stdout


def test_processes_of_a_cgroup_are_traced(cgroup: Path, tracee: Path, tmp_path: Path) -> None:
    dtr = tmp_path / "t.dtr"
    for name in ("inside", "outside"):
        (tmp_path / name).mkdir()
    tracer = subprocess.Popen([*options(dtr), "--cgroup", cgroup.parent])
    wait_for(lambda: dtr.exists() and "records: on" in trace_status(dtr))
    enter = f"echo $$ >{cgroup}/cgroup.procs; exec {tracee} {tmp_path}/inside"
    subprocess.run(["sh", "-c", enter], check=True)
    subprocess.run([tracee, tmp_path / "outside"], check=True)
    os.kill(tracer_pid(dtr), signal.SIGINT)
    assert tracer.wait(60) == 0
    trace("finish", dtr)
    database = sqlite3.connect(dtr.with_suffix(".db"))
    assert commands(database, tmp_path) == {"inside"}
    assert traced.tree_of_trace(database, tmp_path / "inside") == traced.tree_of_disk(tmp_path / "inside")


def test_it_is_switched_off_and_on_while_it_runs(tmp_path: Path) -> None:
    switch_off_and_on("command", tmp_path, "--method", "bpf")


@pytest.mark.skipif(not FULL, reason="with DAVID_SCALE=full")
def test_it_goes_round_its_ring(tracee: Path, tmp_path: Path) -> None:
    dtr, work = tmp_path / "t.dtr", tmp_path / "work"
    work.mkdir()
    words = ["--rotate", "1M", "--", tracee, "--loop", work]
    tracer = subprocess.Popen([*options(dtr), *words])
    wait_for(lambda: len(pieces(dtr)) == 2 and dtr.read_bytes()[16:20] not in (b"", bytes(4)))
    os.kill(tracer_pid(dtr), signal.SIGTERM)
    assert tracer.wait(60) == 128 + signal.SIGTERM
    trace("finish", dtr)
    database = sqlite3.connect(dtr.with_suffix(".db"))
    about, balance = values(database, "trace"), values(database, "balance")
    assert int(about["dropped"]) + int(about["events"]) == int(balance["calls"])
    assert about["whole"] == "no"


def test_what_is_lost_is_counted_and_told(tmp_path: Path) -> None:
    """A tracer that stands still, and more calls meanwhile than the ring has room for."""
    dtr, go, done = (tmp_path / name for name in ("t.dtr", "go", "done"))
    os.mkfifo(go)
    script = f"read line <{go}; dd if=/dev/zero of=/dev/null bs=1 count=150000 2>/dev/null; echo >{done}"
    tracer = subprocess.Popen([*options(dtr), "--", "sh", "-c", script])
    wait_for(lambda: dtr.exists() and "records: on" in trace_status(dtr))
    pid = tracer_pid(dtr)
    with go.open("w") as line:
        os.kill(pid, signal.SIGSTOP)
        print("go", file=line)
    wait_for(done.exists)
    os.kill(pid, signal.SIGCONT)
    assert tracer.wait(60) == 0
    said = trace("finish", dtr, status=2)
    assert "calls were lost" in said and "not to be believed" in said
    database = sqlite3.connect(dtr.with_suffix(".db"))
    said = values(database, "balance")
    lost, calls = int(said["lost"]), int(said["calls"])
    assert lost > 0 and 300_000 < calls + lost < 301_000
    assert values(database, "trace")["whole"] == "no"


def test_a_killed_tracer_leaves_its_trace_and_the_command_goes_on(tracee: Path, tmp_path: Path) -> None:
    dtr, work = tmp_path / "t.dtr", tmp_path / "work"
    work.mkdir()
    recorder = subprocess.Popen([*options(dtr), "--", tracee, "--loop", work])
    wait_for(lambda: dtr.exists() and dtr.stat().st_size > 20_000)
    pid = tracer_pid(dtr)
    command = int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
    os.kill(pid, signal.SIGKILL)
    recorder.wait(60)
    os.kill(command, signal.SIGKILL)
    said = trace("finish", dtr, status=2)
    # Killed while it writes, it leaves a part of its last frame.
    assert "without a balance" in said or "ends within a frame" in said, said
    database = sqlite3.connect(dtr.with_suffix(".db"))
    assert database.execute("SELECT count(*) FROM event").fetchone()[0] > 1000


@pytest.mark.skipif(not FULL, reason="with DAVID_SCALE=full")
@pytest.mark.parametrize("kernel", ["6.1", "6.12", "newest"])
def test_it_works_on_stock_kernels(kernel: str) -> None:
    lab = [DAVID, "lab", "run", "--kind", "vm", "--kernel", kernel, "--", "python3", "tests/system/bpfrun.py"]
    done = subprocess.run(lab, cwd=TREE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


PLANTED = {
    "a result": (
        "->result = result;\n\tif (plan)",
        "->result = result < 0 ? 0 : result;\n\tif (plan)",
    ),
    "a plain result": (
        "r->exit = bpf_ktime_get_ns();\n\tr->result = result;",
        "r->exit = bpf_ktime_get_ns();\n\tr->result = result + 1;",
    ),
    "a call": ("if (!state || !state->in_call)", "if (!state || !state->in_call || state->nr == 82)"),
    "a path": ("add_path(to, used, TRACEFILE_PATH2, arg_of", "add_path(to, used, TRACEFILE_PATH, arg_of"),
}


@pytest.mark.skipif(not FULL, reason="with DAVID_SCALE=full")
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found_by_the_other_tracer(name: str, tracee: Path, tmp_path: Path) -> None:
    work, out, dtr = tmp_path / "work", tmp_path / "t.db", tmp_path / "other.dtr"
    program = with_change(*PLANTED[name], tmp_path)
    record = [program, "record", "--out", dtr, "--share-disk", "--", tracee, work]
    work.mkdir()
    subprocess.run([DAVID, "trace", "record", "-o", out, "--share-disk", "--", tracee, work], check=True)
    shutil.rmtree(work)
    work.mkdir()
    subprocess.run(record, check=True)
    trace("finish", dtr)
    assert traced.difference(dtr.with_suffix(".db"), out) != ""


@pytest.mark.skipif(not FULL, reason="with DAVID_SCALE=full")
def test_a_planted_bug_of_aio_is_found_by_the_other_tracer(aiowork: Path, tmp_path: Path) -> None:
    right = "one->bytes = total_of(iocb->aio_buf, iocb->aio_nbytes);"
    program = with_change(right, "one->bytes = iocb->aio_nbytes;", tmp_path)
    assert aio_differs([program, "record"], aiowork, tmp_path)


@pytest.mark.skipif(not FULL, reason="with DAVID_SCALE=full")
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("(ring->cached_sq_head - 1)", "(ring->cached_sq_head - 2)"),
        ("r->result = (s64)cqe.result;", "r->result = (s64)cqe.result + 1;"),
        ("r->flags = TRACEFILE_POLLED;", "r->flags = 0;"),
    ],
)
def test_a_planted_bug_of_io_uring_is_found(right: str, wrong: str, uringwork: Path, tmp_path: Path) -> None:
    program, work, dtr = with_change(right, wrong, tmp_path), tmp_path / "work", tmp_path / "t.dtr"
    work.mkdir()
    record = [program, "record", "--out", dtr, "--share-disk", "--", uringwork, work, "polled"]
    subprocess.run(record, check=True)
    trace("finish", dtr)
    database = sqlite3.connect(dtr.with_suffix(".db"))
    balance = {key: int(n) for key, n in values(database, "balance").items() if n.isdecimal()}
    with pytest.raises(AssertionError):
        assert_as_worked(database, balance, work)
        assert database.execute("SELECT count(event) FROM uring").fetchone() == (0,)


def with_change(right: str, wrong: str, tmp_path: Path) -> Path:
    """The tracer with one place of its kernel's part changed."""
    copy = tmp_path / "copy"
    for path in ("tools/trace", "tools/calls", "tools/common", "tools/program.mk", "dm-david/portable"):
        whole, to = TREE / path, copy / path
        to.parent.mkdir(parents=True, exist_ok=True)
        _ = shutil.copytree(whole, to) if whole.is_dir() else shutil.copy(whole, to)
    sources = [p for p in (copy / "tools/trace/bpf/kernel").glob("*.bpf.[ch]") if right in p.read_text()]
    assert [source.read_text().count(right) for source in sources] == [1]
    sources[0].write_text(sources[0].read_text().replace(right, wrong))
    subprocess.run(["make", "-s", "-C", copy / "tools/trace/bpf"], check=True, timeout=120)
    return copy / "build/david-trace-bpf"


@pytest.mark.skipif(not FULL, reason="with DAVID_SCALE=full")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_real_program_is_traced_whole(name: str, tmp_path: Path) -> None:
    trace_program(name, tmp_path, "--method", "bpf")
