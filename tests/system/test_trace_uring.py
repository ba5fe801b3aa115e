# SPDX-License-Identifier: GPL-2.0
"""david trace record: what is submitted to io_uring and AIO, beside what the program says of it. No lab."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path

import pytest

from davidlib import build
from helpers.traced import tree_of_disk, tree_of_trace

TREE = Path(__file__).resolve().parents[2]
DAVID = TREE / "tools/david"

SQPOLL_ABSENT = 77


@pytest.fixture(scope="module")
def uringwork(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build.ensure("david-trace")
    out = tmp_path_factory.mktemp("uringwork") / "uringwork"
    source = TREE / "tests/system/helpers/uringwork.c"
    subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-o", out, source], check=True)
    (out.parent / "try").mkdir()
    if subprocess.run([out, out.parent / "try"], check=False).returncode == SQPOLL_ABSENT:
        pytest.skip("no io_uring here, or not all of these operations")
    return out


def traced(
    out: Path, *words: str | Path, options: tuple[str, ...] = ()
) -> tuple[sqlite3.Connection, dict[str, int], str]:
    """The trace, its balance, and what the command said."""
    command = [DAVID, "trace", "record", *options, "-o", out, "--share-disk", "--", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    database = sqlite3.connect(out)
    balance = {key: int(n) for key, n in database.execute("SELECT * FROM balance") if n.isdecimal()}
    return database, balance, done.stdout


def assert_as_worked(database: sqlite3.Connection, balance: dict[str, int], work: Path) -> None:
    """The trace of uringwork in that directory."""
    d = f"{work}/d"
    assert database.execute(
        "SELECT name, result, offset, full_path, full_path2 FROM submission ORDER BY start"
    ).fetchall() == [
        ("mkdirat", 0, None, d, None),
        ("openat", 4, None, f"{d}/a", None),
        ("openat", 5, None, f"{d}/b", None),
        ("pwrite64", 1000, 0, None, None),
        ("pwrite64", 2000, 4096, None, None),
        ("pwrite64", 3000, 8192, None, None),
        ("write", 100, 0, None, None),
        ("pread64", 4096, 4096, None, None),
        ("pread64", -9, None, None, None),
        ("fdatasync", 0, None, None, None),
        ("fallocate", 0, None, None, None),
        ("renameat2", 0, None, f"{d}/b", f"{d}/c"),
        ("linkat", 0, None, f"{d}/c", f"{d}/e"),
        ("symlinkat", 0, None, None, f"{d}/f"),
        ("unlinkat", 0, None, f"{d}/a", None),
        ("close", 0, None, None, None),
    ]
    # A read of a registered file is one of the file.
    assert database.execute(
        "SELECT reads, writes, bytes_read, bytes_written, syncs FROM ofd JOIN text ON text.id = name "
        "WHERE text = ?",
        (f"{d}/a",),
    ).fetchall() == [(1, 3, 4096, 6000, 1)]
    assert tree_of_trace(database, work) == tree_of_disk(work)
    assert [balance[f"io-uring-{key}"] for key in ("submissions", "completions")] == [16, 16]
    assert [balance[f"io-uring-{key}"] for key in ("polled", "unknown-rings", "overwritten")] == [0] * 3


def test_each_submission_is_the_call_that_does_the_same(uringwork: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    database, balance, _ = traced(tmp_path / "t.db", uringwork, work)
    assert_as_worked(database, balance, work)
    # In time: submitted when the call was made, seen at the latest when it returned.
    wrong = database.execute(
        "SELECT count(*) FROM uring u JOIN event e ON e.id = u.event "
        "WHERE u.start != e.start OR seen < u.start OR seen > e.start + e.duration"
    )
    assert wrong.fetchone() == (0,)


def test_what_a_thread_of_the_kernel_takes_from_the_ring_is_counted(
    uringwork: Path, tmp_path: Path
) -> None:
    if subprocess.run([uringwork, tmp_path, "poll"], check=False).returncode:
        pytest.skip("the kernel polls no rings here")
    database, balance, _ = traced(tmp_path / "t.db", uringwork, tmp_path, "poll")
    assert (balance["io-uring-polled"], balance["io-uring-submissions"]) == (1, 0)
    assert database.execute("SELECT count(*) FROM uring").fetchone() == (0,)


def test_fios_requests_are_all_in_the_trace(uringwork: Path, tmp_path: Path) -> None:
    """Many at a time, by two processes with registered files: as many, and as many bytes, as fio says."""
    assert_all_of_fio(tmp_path)


def assert_all_of_fio(tmp_path: Path, *options: str) -> None:
    words = f"fio --name=a --directory={tmp_path} --ioengine=io_uring --registerfiles=1 --rw=randrw --bs=4k"
    words += " --size=2M --iodepth=16 --iodepth_batch=4 --numjobs=2 --output-format=json --fsync=50"
    database, balance, said = traced(tmp_path / "t.db", *words.split(), options=options)
    jobs = json.loads(said[said.index("{") :])["jobs"]
    for name, way in (("pread64", "read"), ("pwrite64", "write")):
        counted = database.execute(
            "SELECT count(*), sum(result) FROM submission WHERE name LIKE ? AND result >= 0",
            (f"{name[:5]}%",),
        ).fetchone()
        assert counted == (
            sum(job[way]["total_ios"] for job in jobs),
            sum(job[way]["io_bytes"] for job in jobs),
        )
    assert balance["io-uring-completions"] == balance["io-uring-submissions"] > 1000
    assert database.execute(
        "SELECT count(*) FROM uring WHERE ofd IS NULL OR result IS NULL"
    ).fetchone() == (0,)


@pytest.fixture(scope="module")
def aiowork(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build.ensure("david-trace")
    out = tmp_path_factory.mktemp("aiowork") / "aiowork"
    source = TREE / "tests/system/helpers/aiowork.c"
    subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-o", out, source], check=True)
    (out.parent / "try").mkdir()
    if subprocess.run([out, out.parent / "try"], check=False).returncode == SQPOLL_ABSENT:
        pytest.skip("no AIO here")
    return out


def test_each_request_of_aio_is_the_call_that_does_the_same(aiowork: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    database, balance, _ = traced(tmp_path / "t.db", aiowork, work)
    assert [balance[f"aio-{key}"] for key in ("submissions", "completions")] == [8, 8]
    told = database.execute(
        "SELECT s.event, s.name, result, offset, a2, text FROM submission s JOIN ofd ON ofd.id = s.ofd"
        " JOIN text ON text.id = ofd.name ORDER BY s.event, s.name, offset, text"
    ).fetchall()
    calls = sorted({row[0] for row in told})
    a, b = f"{work}/a", f"{work}/b"
    assert [(calls.index(row[0]), *row[1:]) for row in told] == [
        (0, "pwrite64", 1000, 0, 1000, a),
        (0, "pwrite64", 12288, 0, 12288, b),
        (0, "pwrite64", 4096, 4096, 4096, a),
        (0, "pwrite64", 4096, 12288, 4096, b),
        (1, "fdatasync", 0, None, None, a),
        (1, "fsync", 0, None, None, b),
        (2, "pread64", 4096, 4096, 8192, a),
        (2, "pread64", 12288, 4096, 12288, b),
    ]
    # Seen when an io_getevents returned, and never before the submission.
    wrong = database.execute(
        "SELECT count(*) FROM uring u WHERE seen < start OR seen NOT IN"
        " (SELECT start + duration FROM call WHERE name = 'io_getevents')"
    )
    assert wrong.fetchone() == (0,)
    assert database.execute(
        "SELECT reads, writes, bytes_read, bytes_written, syncs FROM ofd JOIN text ON text.id = name "
        "WHERE text = ?",
        (b,),
    ).fetchall() == [(1, 2, 12288, 16384, 1)]
    assert tree_of_trace(database, work) == tree_of_disk(work)


def test_fios_requests_by_aio_are_all_in_the_trace(aiowork: Path, tmp_path: Path) -> None:
    words = f"fio --name=a --directory={tmp_path} --ioengine=libaio --rw=randrw --bs=4k --size=2M"
    words += " --iodepth=16 --iodepth_batch=4 --numjobs=2 --output-format=json"
    database, balance, said = traced(tmp_path / "t.db", *words.split())
    assert balance["aio-completions"] == balance["aio-submissions"] > 1000
    jobs = json.loads(said[said.index("{") :])["jobs"]
    for name, way in (("pread64", "read"), ("pwrite64", "write")):
        counted = database.execute(
            "SELECT count(*), sum(result) FROM submission WHERE name = ? AND result >= 0", (name,)
        ).fetchone()
        assert counted == (
            sum(job[way]["total_ios"] for job in jobs),
            sum(job[way]["io_bytes"] for job in jobs),
        )
    assert database.execute(
        "SELECT count(*) FROM uring WHERE ofd IS NULL OR result IS NULL"
    ).fetchone() == (0,)
