# SPDX-License-Identifier: GPL-2.0
"""david trace import: strace's text says the same as the own tracer; a real log is understood whole."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from davidlib.replay import programs
from davidlib.trace import blocks, formats, from_requests, from_strace, importing, program, recognise
from davidlib.trace import tracefile
from davidlib.util import UserError
from helpers import traced

TREE = Path(__file__).resolve().parents[2]
DAVID = TREE / "tools/david"
BLOCK_TRACES = Path(__file__).parent / "blocktraces"
OTHERS = TREE / "profiles/evidence/traces"
FULL = os.environ.get("DAVID_SCALE") == "full"
RUNS = int(os.environ.get("DAVID_FUZZ_RUNS", 20000 if FULL else 60))  # of each importer's fuzzer


def imported(kind: str, text: str, tmp_path: Path) -> sqlite3.Connection:
    log, out = tmp_path / "log", tmp_path / "log.db"
    log.write_text(text)
    out.unlink(missing_ok=True)
    assert importing.import_trace(kind, log, out) == 0
    return sqlite3.connect(out)


def rows(database: sqlite3.Connection, sql: str) -> list[tuple]:
    return database.execute(sql).fetchall()


def test_artcs_sample_is_understood_whole(tmp_path: Path) -> None:
    out = tmp_path / "t.db"
    assert importing.import_trace("strace", next(OTHERS.glob("*.strace.xz")), out) == 0
    database = sqlite3.connect(out)
    counts = Counter(dict(rows(database, "SELECT name, count(*) FROM call GROUP BY name")))
    assert counts.total() == 33068
    assert [counts[name] for name in ("pread64", "close", "fstat", "getdents", "fcntl")] == [
        32768,
        48,
        45,
        40,
        38,
    ]
    assert rows(database, "SELECT value FROM balance WHERE key IN ('unknown', 'unparsed')") == [
        ("0",),
        ("0",),
    ]
    # Eight files, each read 4,096 times in one open-close session.
    assert rows(database, "SELECT count(*), sum(reads), sum(bytes_read) FROM ofd WHERE reads > 100") == [
        (8, 32768, 8 * 4096 * 1000)
    ]


@pytest.fixture(scope="module")
def tracee(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tracee") / "tracee"
    subprocess.run(["cc", "-O1", "-pthread", "-o", out, TREE / "tests/system/helpers/tracee.c"], check=True)
    return out


@pytest.fixture(scope="module")
def own(tracee: Path) -> Path:
    """A finished trace of the tracee."""
    work = tracee.parent / "work"
    work.mkdir()
    words = ["-o", tracee.parent / "t.db", "--share-disk", "--", tracee, work]
    subprocess.run([DAVID, "trace", "record", *words], check=True, capture_output=True, timeout=120)
    return tracee.parent / "t.db"


OPTIONS = ["-f -ttt -T -v", "-f -r -T -yy -n", "-f", *(["-f -tt -y", "-f -t -X raw -i"] if FULL else [])]


@pytest.mark.skipif(not shutil.which("strace"), reason="no strace here")
@pytest.mark.parametrize("options", OPTIONS)
def test_strace_and_the_own_tracer_see_the_same(
    options: str, own: Path, tracee: Path, tmp_path: Path
) -> None:
    """The same calls with the same results in the same order, by thread."""
    log, work = tmp_path / "log", tracee.parent / "work"
    shutil.rmtree(work)
    work.mkdir()
    subprocess.run(
        ["strace", *options.split(), "-s", "100", "-o", log, tracee, work], check=True, timeout=120
    )
    other = tmp_path / "strace.db"
    assert importing.import_trace("strace", log, other) == 0
    assert not traced.difference(own, other)
    assert len(traced.by_task(sqlite3.connect(own))) == 4  # the fifth makes no call to files


UNFINISHED = """\
100 10:00:00.000001 openat(AT_FDCWD, "a \\"b\\" \\303\\244.txt", O_RDWR|O_CREAT, 0644) = 3 <0.000010>
100 10:00:00.000020 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD <unfinished ...>
101 10:00:00.000025 read(3,  <unfinished ...>
100 10:00:00.000030 <... clone resumed>, child_tidptr=0x7f) = 101 <0.000010>
100 10:00:00.000031 write(3</x/a>, "abc", 3) = 3 <0.000005>
101 10:00:00.000040 <... read resumed>"abc", 10) = 3 <0.000015>
101 10:00:00.000041 close(3) = 0 <0.000001>
101 10:00:00.000042 exit_group(4) = ?
101 10:00:00.000043 +++ exited with 4 +++
100 23:59:59.999999 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=101} ---
100 00:00:00.000001 close(3) = -1 EIO (Input/output error) <0.000001>
100 00:00:00.000002 nosuchcall(1, 2) = 0
100 00:00:00.000003 read(9, 0x7ffe, 10) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.1>
100 00:00:00.000004 +++ killed by SIGKILL +++
"""


def test_interrupted_lines_become_whole_calls(tmp_path: Path) -> None:
    database = imported("strace", UNFINISHED, tmp_path)
    assert rows(database, "SELECT tid, name, start, duration, result FROM call ORDER BY id") == [
        (100, "openat", 0, 10000, 3),
        (100, "clone", 19000, 10000, 101),
        (100, "write", 30000, 5000, 3),
        (101, "read", 24000, 15000, 3),
        (101, "close", 40000, 1000, 0),
        (101, "exit_group", 41000, None, None),
        (100, "close", 50400 * 10**9, 1000, -5),
        (100, None, 50400 * 10**9 + 1000, 0, 0),
        (100, "read", 50400 * 10**9 + 2000, 10**8, -512),
    ]
    assert rows(database, "SELECT text FROM ofd JOIN text ON text.id = name") == [('/a "b" ä.txt',)]
    # One session of both: the descriptor was inherited.
    assert rows(database, "SELECT reads, writes, descriptors FROM ofd WHERE name IS NOT NULL") == [
        (1, 1, 2)
    ]
    assert rows(database, "SELECT pid, parent, status FROM process ORDER BY id") == [
        (100, None, 9),
        (101, 1, 4 << 8),
    ]
    assert rows(database, "SELECT value FROM balance WHERE key = 'unknown'") == [("1",)]


def mutated(text: str, dice: random.Random) -> str:
    """The text with a few places changed, lines moved, and parts of it repeated."""
    letters = list(text)
    for _ in range(dice.randint(1, 12)):
        at = dice.randrange(len(letters))
        match dice.randrange(5):
            case 0:
                letters[at] = chr(
                    dice.choice([0, 9, 10, 34, 40, 41, 44, 60, 62, 91, 92, 0xDC80, 0xFFFF, 48, 57])
                )
            case 1:
                del letters[at : at + dice.randint(1, 40)]
                letters.append("\n")
            case 2:
                letters[at:at] = letters[at // 2 : at // 2 + dice.randint(1, 60)]
            case 3:
                letters[at:at] = dice.choice(
                    ["99999999999999999999", "-1", "0x", "\\", '"', "<unfinished ...>"]
                )
            case 4:
                letters[at:at] = dice.choice(
                    [") = ", "= ?", "[pid", "<... read resumed>", " +++ ", "{", "\n"]
                )
    return "".join(letters)


IOLOG = """\
fio version 3 iolog
29 /mnt/f add
219 /mnt/f open
224 /mnt/f read 0 16384
3821 /mnt/f write 32768 4096
7776 /mnt/f datasync 0 0
7777 /mnt/f trim 0 4096
11815 /mnt/f close
"""
BLKPARSE = """\
  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  D   W 223490 + 8 [kjournald]
  8,0    3        3     0.000009000     0  C   W 223490 + 8 [0]
  8,0    1        4     0.002000000   700  D  RA 1000 + 256 [cat]
  8,0    1        5     0.012000000     0  C  RA 1000 + 256 [0]
  8,0    1        6     0.012100000   700  U   N [cat] 1

CPU3 (8,0):
 Reads Queued:           0,        0KiB  Writes Queued:           1,        4KiB
"""
MSR = """\
Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime
128166372003061629,usr,0,Read,7014609920,24576,41286
128166372016382155,usr,0,Write,2517159936,4096,7053
"""
DARSHAN = """\
# *******************************************************
# DXT, file_id: 9457796068806373448, file_name: /lustre/out file
# DXT, rank: 1, hostname: node1
# Module    Rank  Wt/Rd  Segment          Offset       Length    Start(s)      End(s)
 X_POSIX       1  write        0               0        262144      0.0029      0.0032
 X_POSIX       1   read        1          262144        262144      0.0033      0.0037
"""
JSON = """\
2
{"rvalue": 1, "caller": {"tid": "0", "pid": "1"}, "stamp": {"begin": 100, "elapsed": 5}, "call": "open",\
 "args": ["/data/f", "2", "511"]}
{"rvalue": 4096, "caller": {"tid": "0", "pid": "1"}, "stamp": {"begin": 110, "elapsed": 60}, "call": "pread",\
 "args": ["/data/f", "1", "4096", "8192"]}
"""
NFSDUMP = """\
1003680000.003106 30.0801 31.0320 U C3 8ccadb3d 6 read fh 0100a4 off 8000 count 2000 con = 130 len = 120
1003680000.003226 31.0320 30.0801 U R3 8ccadb3d 6 read OK ftype 1 mode 1a4 count 1fff eof 0 status=0 pl = 8
1003680000.013226 30.0801 31.0320 U C3 8ccadb3e 3 lookup fh 0100a3 name "a file" con = 130 len = 120
1003680000.013326 31.0320 30.0801 U R3 8ccadb3e 3 lookup NOENT status=2 pl = 8
"""
IBENCH = """\
[1000]; [7]; [comment]; [syscall_map]; [open=5 read=3];
[2000]; [7]; [entry]; [open]; [/Users/u/a b.plist]; [0]; [O_RDWR O_CREAT ]; [438]; [12rsrc]; [XX_]; [X]; [0];
[5000]; [7]; [return]; [open]; [/Users/u/a b.plist]; [0]; [O_RDWR O_CREAT ]; [438]; [12rsrc]; [XX_]; [X]; [3];
[6000]; [7]; [entry]; [pwrite]; [3]; [512]; [4096]; [XXX]; [0];
[6500]; [8]; [entry]; [fcntl]; [3]; [51]; [0]; [F_FULLFSYNC]; [XXX]; [0];
[9000]; [7]; [return]; [pwrite]; [3]; [512]; [4096]; [XXX]; [512];
[9500]; [8]; [return]; [fcntl]; [3]; [51]; [0]; [F_FULLFSYNC]; [XXX]; [0];
[9600]; [8]; [entry]; [exchangedata]; [/Users/u/a b.plist]; [/Users/u/c]; [1]; [2]; [0];
[9700]; [8]; [return]; [exchangedata]; [/Users/u/a b.plist]; [/Users/u/c]; [1]; [2]; [-1];
[9800]; [N/A]; [entry]; [getdtablesize]; [0];
[9900]; [N/A]; [return]; [getdtablesize]; [256];
[9950]; [8]; [entry]; [aio_read]; [0x10]; [3]; [8192]; [1024]; [0]; [XXX]; [0];
[9960]; [8]; [return]; [aio_read]; [0x10]; [3]; [8192]; [1024]; [0]; [XXX]; [0];
"""


def test_calls_of_another_system_become_those_of_linux(tmp_path: Path) -> None:
    database = imported("ibench", IBENCH, tmp_path)
    assert rows(database, "SELECT tid, name, start, duration, result, offset FROM call ORDER BY id") == [
        (8, "open", 0, 3000, 3, None),
        (8, "pwrite64", 4000, 3000, 512, 4096),
        (9, "fsync", 4500, 3000, 0, None),
        (9, "renameat2", 7600, 100, -1, None),
        (1, None, 7800, 100, 256, None),
        (9, "pread64", 7950, 10, 1024, 8192),
    ]
    assert rows(database, "SELECT count(*) FROM process") == [(1,)]
    sessions = "SELECT text, reads, writes, syncs, flags FROM ofd JOIN text ON text.id = name"
    assert rows(database, sessions) == [("/Users/u/a b.plist", 1, 1, 1, 0o102)]


SAMPLES = {
    "strace": UNFINISHED,
    "ibench": IBENCH,
    "fio": IOLOG,
    "blkparse": BLKPARSE,
    "msr": MSR,
    "darshan": DARSHAN,
    "json": JSON,
    "nfsdump": NFSDUMP,
} | {
    name: (BLOCK_TRACES / name).read_text()
    for name in ("systor", "fiu", "alibaba", "tencent", "spc", "disksim")
}
CALLS = (
    "SELECT tid, name, start, duration, offset, result FROM call "
    "WHERE name NOT IN ('open', 'close') ORDER BY id"
)


@pytest.mark.parametrize(
    ("kind", "expected", "files"),
    [
        (
            "fio",
            [
                (1, "pread64", 5000, 0, 0, 16384),
                (1, "pwrite64", 3602000, 0, 32768, 4096),
                (1, "fdatasync", 7557000, 0, None, 0),
                (1, "fallocate", 7558000, 0, None, 0),
            ],
            ["/mnt/f"],
        ),
        (
            "blkparse",
            [
                (697, "pwrite64", 0, 7171, 223490 * 512, 4096),
                (700, "pread64", 1998171, 10000000, 512000, 131072),
            ],
            ["/dev/block/8:0"] * 2,
        ),
        (
            "msr",
            [
                (1, "pread64", 0, 4128600, 7014609920, 24576),
                (1, "pwrite64", 1332052600, 705300, 2517159936, 4096),
            ],
            ["/usr/0"],
        ),
        (
            "darshan",
            [(2, "pwrite64", 0, 300000, 0, 262144), (2, "pread64", 400000, 400000, 262144, 262144)],
            ["/lustre/out file"],
        ),
        ("json", [(1, "pread64", 10000, 60000, 8192, 4096)], ["/data/f"]),
        (
            "nfsdump",
            [
                (0x300801 + 1, "pread64", 0, 120000, 0x8000, 0x1FFF),
                (0x300801 + 1, "stat", 10120000, 100000, None, -2),
            ],
            ["/nfs/0100a4"],
        ),
    ],
)
def test_requests_become_calls(kind: str, expected: list, files: list[str], tmp_path: Path) -> None:
    database = imported(kind, SAMPLES[kind], tmp_path)
    assert rows(database, CALLS) == expected
    assert [row[0] for row in rows(database, "SELECT text FROM ofd JOIN text ON text.id = name")] == files


def test_old_iologs_are_read_too(tmp_path: Path) -> None:
    database = imported("fio", "0, 4096, 512\n1,0,1024\n", tmp_path)
    assert [row[1:2] + row[4:] for row in rows(database, CALLS)] == [
        ("pread64", 4096, 512),
        ("pwrite64", 0, 1024),
    ]
    log = "fio version 2 iolog\n/f add\n/f open\n/f wait 500 0\n/f read 0 8\n"
    log += "/f wait 250 0\n/f write 0 8\n/f close\n"
    database = imported("fio", log, tmp_path)
    assert [row[1] for row in rows(database, CALLS)] == ["pread64", "pwrite64"]
    assert rows(database, "SELECT max(start) - min(start) FROM call WHERE name LIKE 'p%'") == [(252000,)]


def test_the_metrology_studys_workload_is_understood_whole(tmp_path: Path) -> None:
    out = tmp_path / "t.db"
    assert importing.import_trace("json", next(OTHERS.glob("*.workload.xz")), out) == 0
    database = sqlite3.connect(out)
    assert rows(database, "SELECT count(*), sum(result) FROM call WHERE name = 'pread64'") == [
        (5000, 5000 * 4096)
    ]


def exported(own: Path, kind: str, out: Path) -> str:
    subprocess.run([DAVID, "trace", "export", own, "--to", kind, "-o", out], check=True, timeout=120)
    return out.read_text(errors="surrogateescape")


def test_what_is_exported_as_strace_is_imported_again_the_same(own: Path, tmp_path: Path) -> None:
    exported(own, "strace", tmp_path / "log")
    assert importing.import_trace("strace", tmp_path / "log", tmp_path / "again.db") == 0
    before, after = sqlite3.connect(own), sqlite3.connect(tmp_path / "again.db")
    sql = "SELECT tid, name, result, path, path2, duration, full_path, offset FROM call ORDER BY start, id"
    assert [row for row in rows(before, sql)] == [row for row in rows(after, sql)]
    sql = "SELECT count(*), sum(reads), sum(writes), max(descriptors) FROM ofd WHERE event IS NOT NULL"
    assert rows(before, sql) == rows(after, sql)
    assert rows(before, "SELECT pid, status FROM process ORDER BY id") == rows(
        after, "SELECT pid, status FROM process ORDER BY id"
    )


def test_perfetto_and_csv_have_every_call(own: Path, tmp_path: Path) -> None:
    count = rows(sqlite3.connect(own), "SELECT count(*) FROM event")[0][0]
    events = json.loads(exported(own, "perfetto", tmp_path / "t.json"))["traceEvents"]
    assert sum(event["ph"] == "X" for event in events) == count
    assert {"name", "pid", "tid", "ts", "dur", "args"} <= set(events[-1])
    assert len(list(csv.DictReader(exported(own, "csv", tmp_path / "t.csv").splitlines()))) == count


@pytest.mark.skipif(not shutil.which("fio"), reason="no fio here")
def test_fio_replays_what_is_exported_for_it(tmp_path: Path) -> None:
    """fio itself is the oracle: as many reads and writes, of as many bytes."""
    data = tmp_path / "data"
    script = f"dd if=/dev/zero of={data} bs=4k count=25 conv=fsync; dd if={data} of=/dev/null bs=8k"
    subprocess.run(
        [DAVID, "trace", "record", "-o", tmp_path / "t.db", "--share-disk", "--", "sh", "-c", script],
        check=True,
        capture_output=True,
        timeout=120,
    )
    text = exported(tmp_path / "t.db", "fio", tmp_path / "all")
    log = tmp_path / "iolog"
    log.write_text(
        "\n".join(line for line in text.splitlines() if line.startswith("fio") or f" {data} " in line)
        + "\n"
    )
    done = subprocess.run(
        [
            "fio",
            "--name=t",
            f"--read_iolog={log}",
            "--output-format=json",
            "--replay_no_stall=1",
            "--thread",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    assert (job["write"]["total_ios"], job["write"]["io_bytes"]) == (25, 25 * 4096)
    assert (job["read"]["total_ios"], job["read"]["io_bytes"]) == (13, 25 * 4096)


A_LINE_A_CALL = ("fio", "msr", "systor", "fiu", "alibaba", "tencent", "spc", "disksim")


@pytest.mark.parametrize("kind", A_LINE_A_CALL)
def test_every_line_is_a_call_or_has_none_or_is_left_out(kind: str) -> None:
    """Opens that no line has are counted apart, whoever is told of the requests."""
    calls = program.calls()
    for seed in range(max(RUNS // 20, 60)):
        text = mutated(SAMPLES[kind], random.Random(seed)) if seed else SAMPLES[kind]
        trace, told = tracefile.TraceFile(kind), blocks.Blocks()
        for _ in formats.CALLS[kind](trace, calls, trace.account.each(io.StringIO(text))):
            pass
        for _ in formats.BLOCKS[kind](told, told.account.each(io.StringIO(text))):
            pass
        for account, taken in ((trace.account, trace.calls() - trace.account.made_up),
                               (told.account, len(told))):  # fmt: skip
            counted = sum(each.count for each in (*account.without.values(), *account.left_out.values()))
            assert counted + taken == account.lines > 0, (seed, account.as_json())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1.5,hm,1,Read,4096,512,10\n", "as msr, line 1: '1.5' is no whole number"),
        ("12,hm,1,Read,4096,512,10\n9,hm,1,Read,-4096,512,10\n" * 3 + "x\n" * 20,
         "as msr, line 2: '-4096' is no whole number"),
        ("1455592551,one,R,4,0,512\n", "as systor, line 1: 'one' is no number"),
        ("0 sda 8 8 0\n", "as disksim, line 1: 'sda' is no whole number"),
        ("fio version 4 iolog\n1 /f add\n", "as fio, line 1: version 4 of fio's iolog: 1 to 3 are known"),
        ('1  10:00:00,123456 close(3) = 0\n', "as strace, line 1: a time with a comma"),
        ('1 10:00:00 close(3) = 0 <0,000012>\n', "as strace, line 1: a time with a comma"),
    ],
)  # fmt: skip
def test_a_text_that_has_nearly_a_format_says_where_it_has_not(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(text)
    with pytest.raises(UserError) as raised:
        importing.import_lines(None, tmp_path / "log", tmp_path / "t.db")
    assert says in str(raised.value)


def test_numbers_are_read_as_programs_write_them(tmp_path: Path) -> None:
    lines = "0,8,512,R,1.5\n0,16,512,R,.25e1\n0,24,512,R,35E-1\n0,32,512,R,4.\n0,40,512,R,5.0000000019\n"
    database = imported("spc", lines, tmp_path)
    assert [row[2] for row in rows(database, CALLS)] == [0, 10**9, 2 * 10**9, 2_500_000_000, 3_500_000_001]
    for wrong in ("1e", "e1", ".", "1e999", "1_0", "+1", "٣", "nan", "0x10", "1e50"):
        with pytest.raises(ValueError):
            from_requests.fraction(wrong, 10**9)
        with pytest.raises(ValueError):
            from_requests.number(wrong)


def test_times_of_dxt_are_whatever_it_prints_and_backward_ones_are_said(tmp_path: Path) -> None:
    lines = ["0 write 0 0 512 1.5e-03 .0025 [1]", "1 read 0 512 512 0.2 0.1 [1]"]
    text = "# DXT, file_id: 1, file_name: /f\n" + "".join(f" X_POSIX {line}\n" for line in lines)
    database = imported("darshan", text, tmp_path)
    found = [(1, "pwrite64", 0, 10**6, 0, 512), (2, "pread64", 198_500_000, 0, 512, 512)]
    assert rows(database, CALLS) == found
    (tmp_path / "log.db").unlink()
    guessed = importing.import_lines("darshan", tmp_path / "log", tmp_path / "log.db").account.guessed
    assert {name: (kind.count, kind.line) for name, kind in guessed.items()} == {
        "requests that end before they begin: taken as of no time": (1, 3)}


@pytest.mark.parametrize(("content", "says"), [
    (MSR.encode(), "it is no trace; `david trace import` makes a trace of another tool's text"),
    (b"\x1f\x8b\x08", "it is compressed by gzip; `david trace import` makes"),
    (b"SQLite format 3\0" + bytes(100), "could not be compiled"),
])  # fmt: skip
def test_what_is_compiled_and_is_no_trace_is_told_the_way(content: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(content)
    with pytest.raises(UserError) as raised:
        programs.make(tmp_path / "log", tmp_path / "t.wl", [])
    assert says in str(raised.value)
    assert ("import" in says) is ("import" in str(raised.value))


def test_shares_are_of_what_the_text_has(tmp_path: Path) -> None:
    """Each request here is of another disk: opens that are made up are half of the calls."""
    good = [f"{n},R,4096,4096,{n}\n" for n in range(300)]
    (tmp_path / "log").write_text("".join(good) + "x,R,4096,4096,1\n" * 4)
    words = ["trace", "import", str(tmp_path / "log"), "-o", str(tmp_path / "t.db")]
    done = subprocess.run([sys.executable, TREE / "tools/david", *words], capture_output=True, text=True)
    assert "4 of 304 calls, 1.3 %, not understood: as line 301, 'x,R,4096,4096,1', 'x' is no" in done.stderr
    assert "304 lines, 300 calls; made up: 300 opens" in done.stderr and done.returncode == 2


def iolog(*lines: str) -> str:
    return "\n".join(("fio version 3 iolog", "0 /f add", "1 /f open", *lines, "99 /f close\n"))


def test_iologs_of_fio_behind_one_another_are_none(tmp_path: Path) -> None:
    """fio appends, and its jobs of numjobs write to one file: times begin again, and nobody knows when."""
    one = iolog("2 /f read 0 4096")
    for text, says in (
        (one + one, "at line 6 another iolog of fio begins"),
        (iolog(*(f"{9 - n % 2} /f read {n * 4096} 4096" for n in range(40))), "of an earlier time than the"),
    ):
        (tmp_path / "log").write_text(text)
        for read in (blocks.load, lambda path, kind: importing.import_lines(kind, path, tmp_path / "t.db")):
            with pytest.raises(UserError, match=says):
                read(tmp_path / "log", None)


def test_names_in_iologs_may_have_blanks_and_requests_have_bytes(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(iolog("2 /f read 0 0", "3 /f g read 4096 512").replace("/f ", "/my f "))
    trace = importing.import_lines("fio", tmp_path / "log", tmp_path / "t.db")
    assert trace.account.left_out["requests of no bytes"].count == 1
    with sqlite3.connect(tmp_path / "t.db") as database:
        assert rows(database, CALLS) == [(1, "pread64", 2000, 0, 4096, 512)]
        names = rows(database, "SELECT text FROM ofd JOIN text ON text.id = name ORDER BY text")
    assert names == [("/my f",), ("/my f g",)]


@pytest.mark.parametrize("kind", SAMPLES)
def test_damaged_text_is_counted_and_never_breaks_the_import(kind: str, tmp_path: Path) -> None:
    """Random changes; what comes of them is finished, too."""
    calls = program.calls()
    names = {nr: name for nr, name, _, _ in calls}
    for seed in range(RUNS):
        text = mutated(SAMPLES[kind], random.Random(seed))
        trace = tracefile.TraceFile(kind)
        lines = text.split("\n")
        frames = list(tracefile.frames(trace, names, formats.CALLS[kind](trace, calls, iter(lines))))
        if seed % (RUNS // 1000 or 20) == 0:
            out = tmp_path / f"{seed}.db"
            assert program.finish("-", out, frames)
            out.unlink()


@pytest.mark.parametrize("kind", SAMPLES)
def test_damaged_text_is_recognised_or_refused(kind: str, tmp_path: Path) -> None:
    """Never as something else, and no importer breaks on what is not its own."""
    calls, found = program.calls(), Counter[str]()
    for seed in range(max(RUNS // 10, 20)):
        lines = mutated(SAMPLES[kind], random.Random(seed)).splitlines(keepends=True)
        try:
            found[recognise.format_of(tmp_path / "log", lines, importing.attempts(calls), "")] += 1
        except UserError as error:
            assert "has none of the formats" in str(error) or "has lines of" in str(error)
    assert found.keys() == {kind}


def test_a_string_of_c_is_read_as_c_reads_it() -> None:
    assert from_strace.unquote(r"a\n\303\244\0\x41\"\\1") == b'a\n\xc3\xa4\0A"\\1'
    assert from_strace.split_arguments(r'1, "a, \"b", {x=[1, 2], y=f(3, 4)}, 5') == [
        "1",
        r'"a, \"b"',
        "{x=[1, 2], y=f(3, 4)}",
        "5",
    ]
