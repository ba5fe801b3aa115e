# SPDX-License-Identifier: GPL-2.0
"""Files and reports of others: what each has to come to, or the error that it has to end with.

The texts are those of ../shared/research/outside-inputs, or were made to what outside-inputs.md tells of
files that are not there. Where ../shared is, its own files are read, too.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from davidlib.calibrate import fiojobs
from davidlib.replay import programs
from davidlib.trace import importing
from davidlib.util import UserError
from test_inputs import status_of

TREE = Path(__file__).resolve().parents[2]
SHARED = TREE.parent / "shared"
BESIDE = SHARED / "research/outside-inputs"
OTHERS = TREE / "profiles/evidence/traces"


@dataclass
class Case:
    """`moved`: tid, call, result, offset of each call but open and close. Or the error."""

    kind: str
    text: str
    moved: list[tuple] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    times: list[tuple[int, int]] | None = None  # of these: start, duration
    replayed: bool = True  # or it is of a disk, and `compile` says that nothing is left
    size: int | None = None  # of the one file that has to be there
    error: str = ""


STAT_V = (
    "{st_dev=makedev(0xfe, 0), st_ino=77, st_mode=S_IFREG|0644, st_nlink=1, st_uid=0, st_gid=0, "
    "st_blksize=4096, st_blocks=24, st_size=12288, st_atime=1}"
)
READ_OLD = (
    '100 openat(AT_FDCWD, "/data/f", O_RDONLY) = 3\n100 {}100 pread64(3, "x"..., 4096, 8192) = 4096\n'
    "100 close(3) = 0\n100 +++ exited with 0 +++\n"
)
READ = [(100, "pread64", 4096, 8192)]
ODD = "requests that are no read, write, flush or discard"
REQUEST = "251,0 0 {} 0.{:09} {} {} {} {}[python3]\n"


def requests(*lines: tuple[int, int, str, str, str]) -> str:
    return "".join(REQUEST.format(n, *line) for n, line in enumerate(lines, 1))


CASES = {
    "small.strace": Case("strace", READ_OLD.replace("100 {}", ""), READ, size=12288),
    "small.csv": Case(
        "msr",
        "128166372010000000,src,0,Read,8192,4096,80000\n128166372010200000,src,0,Read,0,4096,80000\n",
        [(1, "pread64", 4096, 8192), (1, "pread64", 4096, 0)],
        times=[(0, 8_000_000), (20_000_000, 8_000_000)], size=12288,
    ),
    "small.iolog": Case(
        "fio", "fio version 2 iolog\n/data/f add\n/data/f open\n/data/f read 8192 4096\n/data/f read 0 4096\n"
        "/data/f close\n", [(1, "pread64", 4096, 8192), (1, "pread64", 4096, 0)], size=12288,
    ),
    "strace-size-lost.txt": Case(
        "strace", READ_OLD.format("fstat(3, {st_mode=S_IFREG|0644, st_size=12288, ...}) = 0\n"),
        [(100, "fstat", 0, None), *READ], size=12288,
    ),
    "strace-v-size-lost.txt": Case(
        "strace", READ_OLD.format(f'newfstatat(3, "", {STAT_V}, AT_EMPTY_PATH) = 0\n'),
        [(100, "newfstatat", 0, None), *READ], size=12288,
    ),
    "iolog of a device": Case(
        "fio", "fio version 2 iolog\n/dev/sdb add\n/dev/sdb open\n/dev/sdb read 0 4096\n/dev/sdb close\n",
        [(1, "pread64", 4096, 0)], replayed=False,
    ),
    "strace-y-comma.txt": Case(
        "strace",
        "".join(
            f'100 openat(AT_FDCWD</tmp>, "{name}", O_RDWR) = 3</tmp/{name}>\n'
            f'100 pwrite64(3</tmp/{name}>, "x"..., 4096, 8192) = 4096\n100 close(3</tmp/{name}>) = 0\n'
            for name in ("m:2,S", "a(b")
        ),
        [(100, "pwrite64", 4096, 8192)] * 2,
    ),
    "-Y": Case("strace", '47618<IPC I/O Child> openat(AT_FDCWD, "/f", O_RDONLY) = 3\n'
               '47618<IPC I/O Child> 17731.5 read(3, "x", 9) = 9\n', [(47618, "read", 9, 0)]),
    "-k, -C": Case("strace", '1 openat(AT_FDCWD, "/f", O_RDONLY) = 3\n > /usr/lib/libc.so.6(open64+0x5) [1]\n'
                   "% time     seconds  usecs/call     calls    errors syscall\n------ ---- ---- ---- ----\n"
                   "100.00    0.000086           2        29         1 total\n"),
    "strace-i386-llseek.txt": Case(
        "strace", '1 openat(AT_FDCWD, "/f", O_RDWR) = 3\n'
        '1 _llseek(3, 4294967296, [4294967296], SEEK_SET) = 0\n1 write(3, "x"..., 4096) = 4096\n'
        '1 _llseek(3, 8192, [8192], SEEK_SET) = 0\n1 read(3, "x", 9) = 9\n',
        [(1, "lseek", 1 << 32, 1 << 32), (1, "write", 4096, 1 << 32), (1, "lseek", 8192, 8192),
         (1, "read", 9, 8192)],
    ),
    "strace-old.txt": Case(
        "strace", "[ Process PID=1 runs in 32 bit mode. ]\n" '1 openat(AT_FDCWD, "/f", O_RDONLY) = 3\n'
        "Process 1 suspended\nProcess 1 resumed\nProcess 1 detached\n",
    ),
    "dxt-mpiio-twice.txt": Case(
        "darshan", "# DXT, file_id: 7, file_name: /scratch/t/file\n"
        " X_MPIIO       0  write        0               0       262144      0.0028      0.0033\n"
        "# DXT, file_id: 7, file_name: /scratch/t/file\n"
        " X_POSIX       0  write        0               0       262144      0.0029      0.0032\n",
        [(1, "pwrite64", 262144, 0)], times=[(0, 300_000)],
    ),
    "dxt-old-offsets.txt": Case(
        "darshan", "# DXT, file_id: 7, file_name: /f\n X_MPIIO 0 write 0 N/A 4096 0.1 0.2\n"
        " X_MPIIO -1 write 1 -1 4096 0.1 0.2\n", error="2 of 2 calls, 100 %, .*MPI-IO without an offset",
    ),
    "msr-relative-times.csv": Case(
        "msr", "timestamp,hostname,disknumber,type,offset,size,responsetime\n"
        "0,usr,0,Read,0,512,10000\n1000000,usr,0,Read,512,512,20000\n",
        [(1, "pread64", 512, 0), (1, "pread64", 512, 512)],
        times=[(0, 1_000_000), (100_000_000, 2_000_000)],
    ),
    "msr out of order": Case(
        "msr", "128166372003061629,usr,0,Read,8192,4096,81\n128166372003007629,usr,0,Write,4096,512,54000\n",
        [(1, "pwrite64", 512, 4096), (1, "pread64", 4096, 8192)],
        times=[(0, 5_400_000), (5_400_000, 8_100)], size=12288,
    ),
    "two under way": Case(
        "blkparse",
        requests((0, 7, "D", "R", "0 + 8 "), (1_000_000, 7, "D", "R", "100 + 8 "),
                 (2_000_000, 0, "C", "R", "100 + 8 "), (3_000_000, 0, "C", "R", "0 + 8 ")),
        [(7, "pread64", 4096, 0), (7, "pread64", 4096, 51200)],
        times=[(0, 3_000_000), (1_000_000, 1_000_000)], replayed=False,
    ),
    "SYSTOR as MSR": Case("msr", "1455592020.5,0.001,R,3,4096,8192\n", error="no call of msr in it: .* 1 of"),
    "blkparse-messages.txt": Case(
        "blkparse",
        "8,64 3 1 0.000000000 4162 Q RM 1000 + 8 [fs_mark]\n8,64 3 0 0.000012707 0 m N cfq4162S / alloced\n"
        "8,64 3 2 0.000013433 4162 G RM 1000 + 8 [fs_mark]\n8,64 3 3 0.000015813 4162 P N [fs_mark]\n"
        "8,64 3 5 0.000023470 0 UT N [swapper] 1\n8,64 3 6 0.000032735 4162 D R 1000 + 8 [fs_mark]\n"
        "8,64 1 1 0.004276637 0 C R 1000 + 8 [0]\n",
        [(4162, "pread64", 4096, 512000)], times=[(0, 4_243_902)], replayed=False,
    ),
    "blkparse-flush-discard.txt": Case(
        "blkparse",
        requests((0, 300, "D", "FWS", ""), (500_000, 300, "C", "FWS", "0 "),
                 (1_000_000, 300, "D", "WFS", "2048 + 8 "), (1_500_000, 0, "C", "WFS", "2048 + 8 "),
                 (2_000_000, 301, "D", "DS", "8192 + 2048 "), (2_500_000, 0, "C", "DS", "8192 + 2048 "),
                 (3_000_000, 301, "D", "R", "64 + 8 "), (3_500_000, 0, "C", "R", "64 + 8 "),
                 (4_000_000, 301, "D", "WZ", "64 + 8 "), (4_500_000, 0, "C", "WZ", "64 + 8 ")),
        [(300, "fsync", 0, None), (300, "pwrite64", 4096, 1 << 20), (301, "fallocate", 0, None),
         (301, "pread64", 4096, 32768)],
        {ODD: 1}, [(n * 1_000_000, 500_000) for n in range(4)], replayed=False,
    ),
    "dmtrace.txt": Case(
        "blkparse",
        requests((0, 93, "Q", "R", "0 + 8 "), (8_412_000, 0, "C", "R", "0 + 8 "),
                 (8_500_000, 93, "Q", "WS", "134217728 + 8 "), (20_500_000, 0, "C", "WS", "134217728 + 8 "),
                 (20_600_000, 93, "Q", "FWS", ""), (31_600_000, 0, "C", "FWS", "0 ")),
        [(93, "pread64", 4096, 0), (93, "pwrite64", 4096, 134217728 * 512), (93, "fsync", 0, None)],
        times=[(0, 8_412_000), (8_500_000, 12_000_000), (20_600_000, 11_000_000)], replayed=False,
    ),
    "qonly.txt": Case("blkparse", requests((0, 93, "Q", "R", "0 + 8 ")),
                      error="no call of blkparse in it: .*1 beginnings of requests"),
}  # fmt: skip


def check(case: Case, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, compiled, place = tmp_path / "t.db", tmp_path / "t.wl", tmp_path / "place"
    if case.error:
        with pytest.raises(UserError, match=case.error):
            importing.import_lines(case.kind, log, out)
        assert not out.exists()
        return
    trace = importing.import_lines(None, log, out)
    assert trace.origin == case.kind
    assert {name: kind.count for name, kind in trace.account.left_out.items()} == case.left_out
    database = sqlite3.connect(out)
    sql = "FROM call WHERE name NOT IN ('open', 'openat', 'close') ORDER BY start, id"
    assert database.execute("SELECT tid, name, result, offset " + sql).fetchall() == case.moved
    if case.times is not None:
        assert database.execute("SELECT start, duration " + sql).fetchall() == case.times
    status = status_of(("compile", str(out), "-o", str(compiled)), monkeypatch) or 0
    assert status == (0 if case.replayed else 2)
    if not case.replayed:
        return
    place.mkdir()
    programs.prepare(compiled, place, holes=False)
    files = [path.stat().st_size for path in place.rglob("*") if path.is_file()]
    assert case.size is None or files == [case.size]
    run = programs.run(compiled, place, ["--share-disk", "--timing", "afap"])
    assert run["trace-same"] == run["trace-calls"] - sum(run["not-in-workload"].values()) > 0


@pytest.mark.parametrize("name", CASES)
def test_what_others_bring_is_read_as_it_is(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log").write_text(CASES[name].text)
    check(CASES[name], tmp_path / "log", tmp_path, monkeypatch)


@pytest.mark.skipif(not BESIDE.is_dir(), reason=f"no {BESIDE}")
def test_every_file_beside_the_report_comes_to_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {path.name for path in BESIDE.iterdir() if path.suffix in (".txt", ".csv", ".iolog", ".strace")}
    long = "blktrace-of-dm-david.txt"
    assert texts <= CASES.keys() | {long}
    for name in sorted(texts - {long}):
        case, work = CASES[name], tmp_path / name
        work.mkdir()
        check(case, BESIDE / name, work, monkeypatch)
    importing.import_lines(None, BESIDE / long, tmp_path / "t.db")
    sql = "SELECT duration FROM call WHERE name != 'open' ORDER BY id"
    took = [row[0] for row in sqlite3.connect(tmp_path / "t.db").execute(sql)]
    assert took[0] == 6_623_232 and len(took) == 10 and all(took)


FIO = {
    "sync.json": "random reads of 4 KiB, depth 1",
    "bytes.json": "random writes of 4 KiB, depth 1",
    "mixr.json": "random reads and writes of 4 KiB, depth 1",
    "fsyncdata.json": "random writes of 4 KiB, depth 1, a flush after 1",
    "bsrange.json": UserError("bsrange=4k-64k"),
    "offset.json": UserError("offset=500G"),
}


@pytest.mark.skipif(not BESIDE.is_dir(), reason=f"no {BESIDE}")
def test_every_result_of_fio_beside_the_report_is_taken_as_it_is_or_refused_by_name() -> None:
    assert FIO.keys() == {path.name for path in (BESIDE / "fiojson").iterdir()}
    for name, expected in FIO.items():
        if isinstance(expected, UserError):
            with pytest.raises(UserError, match=str(expected)):
                fiojobs.load(str(BESIDE / "fiojson" / name))
            continue
        (job,) = fiojobs.load(str(BESIDE / "fiojson" / name))
        assert job.kind == expected
        assert bool(job.fsync) is (name == "fsyncdata.json")
        assert (round(job.writes, 3) == 0.3) is (name == "mixr.json")


@pytest.mark.parametrize("suffix", ["strace.xz", "workload.xz"])
def test_the_sample_traces_replay(suffix: str, tmp_path: Path) -> None:
    """Of the trace's calls, 99.9 % are in the workload but for those that have no disk or no call."""
    (log,) = OTHERS.glob(f"*.{suffix}")
    importing.import_lines(None, log, tmp_path / "t.db")
    programs.make(tmp_path / "t.db", tmp_path / "t.wl", [])
    (tmp_path / "place").mkdir()
    programs.prepare(tmp_path / "t.wl", tmp_path / "place", holes=True)
    run = programs.run(tmp_path / "t.wl", tmp_path / "place", ["--share-disk", "--timing", "afap"])
    assert run["same"] >= 0.999 * run["compared"] > 4900
    without = run["not-in-workload"]
    beside = without.pop("only-in-order", 0) + without.pop("without-a-disk", 0)
    assert sum(without.values()) <= 0.001 * run["trace-calls"]
    assert run["trace-same"] >= 0.999 * (run["trace-calls"] - beside)
