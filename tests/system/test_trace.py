# SPDX-License-Identifier: GPL-2.0
"""david trace: what a program does to files is recorded whole. Needs no lab and no rights."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from davidlib import build
from helpers.traced import tree_of_disk, tree_of_trace

TREE = Path(__file__).resolve().parents[2]
DAVID = TREE / "tools/david"
FULL = os.environ.get("DAVID_SCALE") == "full"


@pytest.fixture(scope="module")
def program() -> Path:
    return build.ensure("david-trace")


@pytest.fixture(scope="module")
def tracee(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tracee") / "tracee"
    source = TREE / "tests/system/helpers/tracee.c"
    subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-pthread", "-o", out, source], check=True)
    return out


def record(out: Path, *words: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    command = [DAVID, "trace", "record", "-o", out, "--share-disk", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=check)


def dump(program: Path, dtr: Path) -> tuple[list[str], str]:
    """Lines of a trace file, and what is said of its end."""
    done = subprocess.run([program, "dump", dtr], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines(), done.stderr


def calls(lines: list[str]) -> Counter[str]:
    return Counter(found[1] for line in lines if (found := re.match(r"\d+ (\w+)\(", line)))


def balance(lines: list[str]) -> dict[str, str]:
    assert lines[-1].split()[1] == "balance"
    return dict(word.split("=", 1) for word in re.findall(r" text=([\w.-]+=\S*)", lines[-1]))


def test_a_command_is_recorded_and_its_status_is_passed_on(program: Path, tmp_path: Path) -> None:
    dtr = tmp_path / "t.dtr"
    assert record(dtr, "--", "sh", "-c", "cat /etc/hostname; exit 7", check=False).returncode == 7
    lines, end = dump(program, dtr)
    assert not end
    assert any("openat" in line and "path=/etc/hostname" in line for line in lines)
    assert record(dtr, "--", "sh", "-c", "kill -TERM $$", check=False).returncode == 128 + signal.SIGTERM
    missing = record(dtr, "--", "no-such-program", check=False)
    assert missing.returncode == 125 and "there is no program no-such-program" in missing.stderr


def test_what_cannot_be_recorded_leaves_no_file_and_keeps_the_old_one(program: Path) -> None:
    """In the tree, as the place for temporary files may be in memory, which is no disk."""
    with tempfile.TemporaryDirectory(dir=program.parent) as top:
        for words in (["--share-disk", "--", "no-such-program"], ["--share-disk", "--", "/no/such/program"],
                      ["--disk", top, "--", "true"]):
            new, old = Path(top, "new.dtr"), Path(top, "old.dtr")
            old.write_text("a trace")
            for out in new, old:
                command = [program, "record", "--out", out, *words]
                failed = subprocess.run(command, capture_output=True, text=True)
                assert failed.returncode == 125 and failed.stderr.count("\n") == 1, failed
            assert not new.exists() and old.read_text() == "a trace", words


def test_every_call_of_a_program_is_counted_once(program: Path, tracee: Path, tmp_path: Path) -> None:
    dtr, work = tmp_path / "t.dtr", tmp_path / "work"
    work.mkdir()
    record(dtr, "--", tracee, work)
    lines, end = dump(program, dtr)
    seen, said = calls(lines), balance(lines)
    assert not end
    assert {"openat2", "renameat2", "copy_file_range", "close_range", "execve", "msync"} <= set(seen)
    assert sum(seen.values()) == int(said["calls"])
    assert {name: n for name, n in seen.items()} == {
        key.removeprefix("calls."): int(n) for key, n in said.items() if key.startswith("calls.")
    }
    assert (said["unknown"], said["lost"], said["foreign"], said["untraced"]) == ("0", "0", "0", "0")
    assert said["tasks"] == "5"
    # Two stops a call, and those of tasks that begin: nothing else stops the program.
    assert int(said["stops"]) <= 2 * int(said["calls"]) + 5 * int(said["tasks"])


def test_calls_that_have_no_number_here_are_recorded_too(program: Path, tmp_path: Path) -> None:
    dtr = tmp_path / "t.dtr"
    record(dtr, "--", sys.executable, "-c", "import ctypes; ctypes.CDLL(None).syscall(999, 1, 2)")
    lines, _ = dump(program, dtr)
    assert balance(lines)["unknown"] == "1"
    assert any(re.match(r"\d+ unknown\(0x1, 0x2, .*= -38 ", line) for line in lines)


def test_a_killed_tracer_leaves_a_trace_up_to_its_last_whole_frame(
    program: Path, tracee: Path, tmp_path: Path
) -> None:
    """At many points: each leaves whole records, more of them the later it was."""
    work = tmp_path / "work"
    work.mkdir()
    for turn in range(6):
        dtr = tmp_path / f"{turn}.dtr"
        command = [program, "record", "--out", dtr, "--share-disk", "--", tracee, "--loop", work]
        tracer = subprocess.Popen(command)
        # A frame is written when it is full, or by a record that ends a second after its first.
        least = turn * 3000
        while not dtr.exists() or dtr.stat().st_size <= least:
            assert tracer.poll() is None
            time.sleep(0.001)
        tracer.send_signal(signal.SIGKILL)
        assert tracer.wait() == -signal.SIGKILL
        lines, _ = dump(program, dtr)
        assert lines and lines[0].split()[1] == "about"
        assert not any(line.split()[1] == "balance" for line in lines)
    # What a trace says does not depend on where it ends: cut at every byte, it reads up to a whole frame.
    whole = dtr.read_bytes()
    before = -1
    for length in sorted(
        {*range(0, min(len(whole), 3000), 61), *range(0, len(whole), len(whole) // 40 + 1)}
    ):
        dtr.write_bytes(whole[:length])
        lines, _ = dump(program, dtr)
        assert len(lines) >= before
        before = len(lines)


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("after", [0, 0.05], ids=["at once", "when it runs"])
def test_the_command_of_a_killed_tracer_ends_with_it(
    tracee: Path, program: Path, tmp_path: Path, after: float
) -> None:
    words = ["--out", tmp_path / "t.dtr", "--share-disk", "--", tracee, "--loop", tmp_path]
    tracer = subprocess.Popen([program, "record", *words])
    children = Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children")
    while not children.read_text():
        time.sleep(0.01)
    child = int(children.read_text().split()[0])
    time.sleep(after)
    tracer.kill()
    tracer.wait()
    limit = time.monotonic() + 60
    while lives(child):
        assert time.monotonic() < limit, "it runs without its tracer"
        time.sleep(0.01)


def test_a_killed_command_leaves_a_whole_trace(program: Path, tracee: Path, tmp_path: Path) -> None:
    dtr = tmp_path / "t.dtr"
    tracer = subprocess.Popen(
        [program, "record", "--out", dtr, "--share-disk", "--", tracee, "--loop", tmp_path]
    )
    children = Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children")
    while not (tmp_path / "again").exists():
        assert tracer.poll() is None
    os.kill(int(children.read_text().split()[0]), signal.SIGKILL)
    assert tracer.wait(60) == 128 + signal.SIGKILL
    lines, end = dump(program, dtr)
    assert not end
    assert sum(calls(lines).values()) == int(balance(lines)["calls"])
    assert lines[-2].split()[1] == "exit"


def test_a_damaged_trace_is_told_from_a_short_one(program: Path, tmp_path: Path) -> None:
    dtr = tmp_path / "t.dtr"
    record(dtr, "--", "true")
    whole = bytearray(dtr.read_bytes())
    for place in (0, 5, 9, 21, len(whole) // 2, len(whole) - 1):
        damaged = whole.copy()
        damaged[place] ^= 0x40
        dtr.write_bytes(damaged)
        done = subprocess.run([program, "dump", dtr], capture_output=True, text=True, check=False)
        assert done.returncode == 2 or "ends within" in done.stderr, f"byte {place}"


def cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_a_running_process_is_traced_and_let_go(program: Path, tracee: Path, tmp_path: Path) -> None:
    dtr = tmp_path / "t.dtr"
    with subprocess.Popen([tracee, "--loop", tmp_path]) as process:
        # It has done with starting.
        while not (tmp_path / "again").exists():
            assert process.poll() is None
        tracer = subprocess.Popen(
            [program, "record", "--out", dtr, "--share-disk", "--pid", str(process.pid)]
        )
        while not dtr.exists() or dtr.stat().st_size < 20000:
            assert tracer.poll() is None
            time.sleep(0.01)
        tracer.send_signal(signal.SIGINT)
        assert tracer.wait(60) == 0
        # It runs on.
        before, limit = cpu_ticks(process.pid), time.monotonic() + 60
        while cpu_ticks(process.pid) == before:
            assert time.monotonic() < limit, "it stands still"
            time.sleep(0.01)
        assert "TracerPid:\t0" in Path(f"/proc/{process.pid}/status").read_text()
        process.kill()
    lines, end = dump(program, dtr)
    assert not end and balance(lines)["attached"] == "1"
    assert {"openat", "write", "close", "unlink"} == set(calls(lines))


ROUNDS = 20 if FULL else 3


@pytest.fixture(scope="module")
def turmoil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("turmoil") / "turmoil"
    source = TREE / "tests/system/helpers/turmoil.c"
    subprocess.run(["cc", "-O1", "-Wall", "-pthread", "-o", out, source], check=True)
    return out


@pytest.mark.parametrize("what", ["exec", "exit", "stop", "threads"])
def test_what_happens_to_threads_that_are_stopped_is_seen_once(
    what: str, program: Path, turmoil: Path, tmp_path: Path
) -> None:
    """Another program, the end, a stop: there is always one that waits for its turn."""
    for number in range(ROUNDS):
        dtr = tmp_path / f"{number}.dtr"
        assert record(dtr, "--", turmoil, what, check=False).returncode == 7
        subprocess.run([program, "finish", dtr, dtr.with_suffix(".db")], check=True)
        database = finished(dtr.with_suffix(".db"))
        assert database.execute("SELECT value FROM trace WHERE key = 'whole'").fetchone() == ("yes",)
        threads = {"exec": 8, "exit": 8, "stop": 8, "threads": 121}[what]
        found = database.execute("SELECT count(*), sum(end IS NULL) FROM thread").fetchone()
        assert found == (threads, 0)
        ran = "SELECT count(*) FROM call WHERE name = 'execve' AND result = 0"
        assert one(database, ran) == 1 + (what == "exec")
        statuses = [status for (status,) in database.execute("SELECT status FROM process ORDER BY id")]
        assert statuses == ([7 << 8, signal.SIGKILL] if what == "stop" else [7 << 8])
        # The first thread's end is where exec was called: it makes calls until the kernel ends it.
        late = "SELECT count(*) FROM event e JOIN thread t ON t.id = e.thread WHERE e.start > t.end"
        assert one(database, f"{late} AND t.id > {what == 'exec':d}") == 0


MAPPED = """\
import mmap, os
page, fd = 4096, os.open("f", os.O_CREAT | os.O_RDWR)
os.ftruncate(fd, 4000 * page)
m = mmap.mmap(fd, 3000 * page)
m[7 * page] = m[2500 * page] = 1
m.close()
m = mmap.mmap(fd, 1000 * page, offset=3000 * page, prot=mmap.PROT_READ)
assert m[123 * page] == 0
os._exit(0)
"""


def test_pages_that_were_touched_by_way_of_a_mapping_are_recorded(tmp_path: Path) -> None:
    """At its end, and at that of the process. There may be pages around them, up to a large folio."""
    out = tmp_path / "t.db"
    words = [
        DAVID,
        "trace",
        "record",
        "--pages",
        "-o",
        out,
        "--share-disk",
        "--",
        sys.executable,
        "-c",
        MAPPED,
    ]
    subprocess.run(words, cwd=tmp_path, check=True, timeout=120, capture_output=True)
    database = finished(out)
    rows = database.execute(
        "SELECT shared, writable, offset / 4096, length / 4096 FROM page JOIN file f ON f.id = page.file "
        "JOIN text t ON t.id = f.name WHERE t.text = ?",
        (f"{tmp_path}/f",),
    ).fetchall()
    first = {at for _, writable, start, count in rows if writable for at in range(start, start + count)}
    second = {
        at for _, writable, start, count in rows if not writable for at in range(start, start + count)
    }
    assert {7, 2500} <= first <= set(range(3000)) and len(first) <= 2 * 512
    assert 3123 in second and second <= set(range(3000, 4000)) and len(second) <= 512
    said = dict(database.execute("SELECT key, value FROM balance"))
    assert int(said["mapped-pages"]) == one(database, "SELECT sum(length) / 4096 FROM page")
    assert int(said["calls.munmap"]) > 0


def test_a_trace_on_the_traced_disk_is_refused(tmp_path: Path) -> None:
    if os.stat(tmp_path).st_dev != os.stat(TREE / "build").st_dev:
        pytest.skip("the directory for temporary files is on another disk than the tree")
    out = tmp_path / "t.dtr"
    done = subprocess.run(
        [DAVID, "trace", "record", "-o", out, "--disk", TREE, "--", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 125 and "on the disk that is traced" in done.stderr
    assert not out.exists()


LONG_NS, NO_DISK = 30_000, 16  # tools/trace/disk-read.c, tools/calls/tracefile.h


def reads(out: Path) -> tuple[list[int], list[int]]:
    """Flags of the preads of a page: of those that took long, of the others."""
    sql = "SELECT flags, duration FROM event WHERE nr = 17 AND result = 4096"
    rows = finished(out).execute(sql).fetchall()
    split = [[flags for flags, ns in rows if (ns > LONG_NS + 4096) == slow] for slow in (True, False)]
    return split[0], split[1]


def test_of_a_read_that_took_long_it_is_known_if_it_asked_no_disk(tmp_path: Path) -> None:
    """Eight threads wait for their processors and for the tracer: their reads take long, from the page cache.
    Pages that were dropped are asked for.
    """
    system = subprocess.run(["stat", "-f", "-c", "%T", tmp_path], capture_output=True, text=True, check=True)
    if system.stdout.strip() not in ("ext2/ext3", "xfs", "btrfs", "f2fs"):
        pytest.skip(f"{tmp_path} is on no disk's file system")
    micro, sources = tmp_path / "micro", ("tests/bench/replay-micro.c", "tools/common/clock.c")
    flags = ("-O1", "-std=gnu11", "-D_GNU_SOURCE", "-pthread")
    subprocess.run(["cc", *flags, "-o", micro, *(TREE / source for source in sources)], check=True)
    subprocess.run([micro, "make", tmp_path, "8", "65536"], check=True)
    record(tmp_path / "cached.db", "--", micro, "rr", tmp_path, "8", "8000")
    slow, fast = reads(tmp_path / "cached.db")
    assert len(slow) > 100 and not any(fast), "only those that took long are looked at"
    assert slow.count(NO_DISK) > 0.9 * len(slow)
    dropped = (
        "import os, sys; fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT); os.pwrite(fd, bytes(1 << 22), 0);"
        "os.fsync(fd); [os.posix_fadvise(fd, 0, 0, what) for what in"
        " (os.POSIX_FADV_DONTNEED, os.POSIX_FADV_RANDOM)]; [os.pread(fd, 4096, at << 16) for at in range(64)]"
    )
    record(tmp_path / "dropped.db", "--", sys.executable, "-c", dropped, tmp_path / "file")
    slow, fast = reads(tmp_path / "dropped.db")
    assert slow and not any(slow) and not any(fast)


def finished(out: Path) -> sqlite3.Connection:
    database = sqlite3.connect(f"file:{out}?mode=ro", uri=True)
    database.text_factory = lambda text: text.decode(errors="surrogateescape")
    return database


def one(database: sqlite3.Connection, sql: str, *values: object) -> Any:
    rows = database.execute(sql, values).fetchall()
    assert len(rows) == 1, rows
    return rows[0][0] if len(rows[0]) == 1 else rows[0]


Traced = tuple[sqlite3.Connection, Path]


@pytest.fixture(scope="module")
def traced(tracee: Path, tmp_path_factory: pytest.TempPathFactory) -> Traced:
    """A finished trace of the tracee, and where it was at work."""
    top = tmp_path_factory.mktemp("traced")
    work = top / "work"
    work.mkdir()
    record(top / "t.db", "--", tracee, work)
    assert not (top / "t.dtr").exists()
    return finished(top / "t.db"), work


def test_the_tree_that_follows_from_a_trace_is_that_on_the_disk(traced: Traced) -> None:
    database, work = traced
    disk = tree_of_disk(work)
    assert len(disk) > 8
    assert tree_of_trace(database, work) == disk
    assert one(database, "SELECT value FROM trace WHERE key = 'whole'") == "yes"


def test_a_file_has_a_number_of_its_own_though_its_inode_number_is_used_again(traced: Traced) -> None:
    database, work = traced
    opens = database.execute(
        "SELECT file_id FROM bsd_open WHERE file_name = ?", (f"{work}/gone",)
    ).fetchall()
    assert len(opens) == 2 and opens[0] != opens[1]
    assert (
        one(
            database,
            "SELECT count(*) FROM (SELECT dev, ino, generation FROM file WHERE ino IS NOT NULL "
            "GROUP BY dev, ino, generation HAVING count(*) > 1)",
        )
        == 0
    )


def test_names_follow_renames_links_and_directories(traced: Traced) -> None:
    database, work = traced
    here = one(database, "SELECT file FROM name WHERE path = ?", f"{work}/moved/sub/here")
    assert (
        one(database, "SELECT file_id FROM bsd_open WHERE file_name = ?", f"{work}/moved/sub/here") == here
    )
    both = database.execute(
        "SELECT DISTINCT file FROM name WHERE path IN (?, ?)", (f"{work}/two", f"{work}/moved/sub/one")
    ).fetchall()
    assert len(both) == 1
    # By a symbolic link that led nowhere at first, and elsewhere then.
    assert (
        one(database, "SELECT full_path FROM call WHERE path = 'way/one' AND result = 0")
        == f"{work}/moved/sub/one"
    )
    assert (
        one(database, "SELECT full_path FROM call WHERE path = 'way/one' AND errno = 2")
        == f"{work}/dir/sub/one"
    )


def test_an_open_file_description_is_one_session_of_all_that_share_it(traced: Traced) -> None:
    """Parent and child read on, each from where the other has stopped; the session has the reads of both."""
    database, work = traced
    ofd, reads, size, descriptors = one(
        database,
        "SELECT open_id, number_of_io, bytes_transferred_while_open, reference_count FROM bsd_open "
        "WHERE file_name = ?",
        f"{work}/shared",
    )
    assert (reads, size, descriptors) == (3, 18, 2)
    assert [
        row[0]
        for row in database.execute(
            "SELECT offset FROM event WHERE ofd = ? AND offset IS NOT NULL AND nr IN (0, 1) ORDER BY id",
            (ofd,),
        )
    ] == [0, 0, 4]
    assert one(database, "SELECT count(DISTINCT process) FROM session WHERE ofd = ?", ofd) == 2
    # By a second descriptor, too: bytes 1 to 4, then 5 to 7.
    assert [
        row[0]
        for row in database.execute(
            "SELECT offset FROM call WHERE name = 'read' AND file = (SELECT file FROM name WHERE path = ?) "
            "ORDER BY id",
            (f"{work}/data",),
        )
    ][:2] == [1, 5]


def test_processes_have_parents_commands_and_ends(traced: Traced, tracee: Path) -> None:
    database, _ = traced
    processes = database.execute(
        "SELECT how, status, text FROM process LEFT JOIN text ON text.id = command ORDER BY process.id"
    ).fetchall()
    assert [how for how, _, _ in processes] == ["there before", "clone", "vfork", "clone"]
    assert [status for _, status, _ in processes] == [0, 3 << 8, 0, signal.SIGKILL]
    assert {command for _, _, command in processes} == {str(tracee)}
    assert one(database, "SELECT count(*) FROM thread") == 5


TABLE_1 = {  # of the tracing package for 4.2BSD, after post processing
    "bsd_open": "record_type record_length real_time process_time file_id open_id process_id user_id "
    "open_mode device_number last_modify_time last_access_time user_name "
    "file_size_when_open file_size_when_close file_type close_time number_of_io "
    "bytes_transferred_while_open reference_count file_name",
    "bsd_close": "record_type record_length real_time process_time file_id open_id process_id user_id "
    "open_mode device_number file_size file_type number_of_io "
    "bytes_transferred_while_open reference_count",
    "bsd_read_write": "record_type record_length real_time process_time duration file_id open_id process_id "
    "user_id offset bytes_transferred",
    "bsd_rename": "record_type record_length real_time file_id process_id user_id device_number "
    "last_modify_time last_access_time user_name file_size old_file_type new_file_type "
    "old_file_name new_file_name",
    "bsd_delete": "record_type record_length real_time file_id process_id user_id device_number "
    "last_modify_time last_access_time user_name file_size file_type file_name",
    "bsd_execute": "record_type record_length real_time process_time file_id process_id user_id "
    "device_number user_name file_size file_name",
    "bsd_fork": "record_type record_length real_time process_time vfork_flag parent_process_id "
    "child_process_id user_id",
    "bsd_exit": "record_type record_length real_time process_time process_id user_id",
}


@pytest.mark.parametrize("view", TABLE_1)
def test_a_view_has_the_fields_of_the_papers_record(view: str, traced: Traced) -> None:
    database, _ = traced
    rows = database.execute(f"SELECT * FROM {view}")
    assert [column[0] for column in rows.description] == TABLE_1[view].split()
    assert rows.fetchall()


def test_a_trace_that_was_cut_short_says_so_when_it_is_finished(program: Path, tmp_path: Path) -> None:
    dtr, database = tmp_path / "t.dtr", tmp_path / "t.db"
    record(dtr, "--", "sh", "-c", "cat /etc/hostname")
    dtr.write_bytes(dtr.read_bytes()[:-10])
    done = subprocess.run([DAVID, "trace", "finish", dtr], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "ends within a frame" in done.stderr
    assert one(finished(database), "SELECT value FROM trace WHERE key = 'whole'") == "no"


# Real programs, each in an empty directory. {tree} is the project's.
PROGRAMS = {
    "git clone": "git clone -q {tree} c",
    "git gc": "git init -q g && cd g && for i in 1 2 3 4; do cp {tree}/Makefile f$i; git add .; "
    "git -c user.name=x -c user.email=x commit -qm $i; done; git gc -q",
    "make -j4": "cp -r {tree}/tools {tree}/model {tree}/dm-david . && make -s -j4 -C tools/sim",
    "tar": "tar cf x.tar -C {tree} docs tools && tar xf x.tar",
    "cp -a": "cp -a {tree}/docs {tree}/tools .",
    "rsync": "rsync -a {tree}/docs {tree}/tools .",
    "dpkg": "mkdir -p p/DEBIAN p/usr && printf 'Package: x\\nVersion: 1\\nArchitecture: all\\n"
    "Maintainer: a <a@b>\\nDescription: x\\n' >p/DEBIAN/control && echo x >p/usr/f && "
    "dpkg-deb -b p x.deb && dpkg-deb -x x.deb root",
    "sqlite": "python3 -c \"import sqlite3; d = sqlite3.connect('t.db'); d.execute('create table a(x)'); "
    "d.executemany('insert into a values(?)', [(i,) for i in range(3000)]); d.commit(); "
    "d.execute('vacuum')\"",
    "postgres": "chmod 755 {work} && export PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin) && cat >s <<'E'\n"
    "initdb -D d -A trust >/dev/null && pg_ctl -D d -o '-k {work} -c listen_addresses=' -l log -w start && "
    "pgbench -q -i -h {work} postgres && pgbench -c 2 -t 50 -h {work} postgres && "
    "pg_ctl -D d -m fast -w stop\nE\n"
    "[ $(id -u) != 0 ] || {{ chown postgres . && "
    "set -- setpriv --reuid postgres --regid postgres --clear-groups; }}\n"
    'HOME=. "$@" sh -e s',
    "db_bench": "db_bench --benchmarks=fillsync,overwrite,readrandom,compact,readwhilewriting --num=400 "
    "--threads=2 --db=d --write_buffer_size=65536",
    "postmark": "printf 'set location .\nset number 200\nset subdirectories 5\nset transactions 500\n"
    "run\nquit\n' | postmark && echo left >over",
    "dbench": "dbench -t 2 -D . 2",
    "fileserver": "PYTHONPATH={tree}/tools python3 -c \""
    "from davidlib.workload import kinds; "
    "k = kinds.KINDS['fileserver']; p = k.params | dict(files=50, operations=100, mean=20000, "
    "processes=2); "
    "k.prepare('.', p, 1); k.run('fileserver', '.', p, 1)\"",
    "gzip": "cp -r {tree}/docs d; gzip -r d; mv d e; ln -s e f; ls -R f/",
}
EVERY_DAY = {"cp -a", "gzip"}


@pytest.mark.parametrize("name", [name for name in PROGRAMS if FULL or name in EVERY_DAY])
def test_a_real_program_is_traced_whole(name: str, tmp_path: Path) -> None:
    """No call that is unknown, and the tree that follows from the trace is that on the disk."""
    trace_program(name, tmp_path)


def trace_program(name: str, tmp_path: Path, *options: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    for path in [tmp_path, tmp_path.parent, tmp_path.parent.parent]:
        path.chmod(path.stat().st_mode | 0o011)
    command = f"cd {work}; {PROGRAMS[name].format(tree=TREE, work=work)}"
    done = record(tmp_path / "t.db", *options, "--", "sh", "-c", command, check=False)
    assert done.returncode == 0, done.stderr
    database = finished(tmp_path / "t.db")
    said = dict(database.execute("SELECT key, value FROM balance"))
    assert [said[key] for key in ("unknown", "foreign", "lost", "untraced", "bad-paths")] == ["0"] * 5
    disk = tree_of_disk(work)
    assert disk and tree_of_trace(database, work) == disk
