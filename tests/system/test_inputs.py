# SPDX-License-Identifier: GPL-2.0
"""Nothing of other people's files goes without being counted, and nothing is made of nothing."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from davidlib import losses
from davidlib.trace import blocks, formats, importing
from davidlib.trace.account import DOUBLED, MAYBE_AGAIN
from davidlib.util import UserError
from helpers.davidtool import program as david_program

SAMPLES = {
    "strace": '1 openat(AT_FDCWD, "/d/f", O_RDONLY) = 3\n1 read(3, "x", 100) = 50\n',
    "fio": "fio version 2 iolog\n/d/f add\n/d/f open\n/d/f read 0 4096\n/d/f close\n",
    "blkparse": "  8,0 3 1 0.000001829 697 D W 22 + 8 [k]\n  8,0 3 2 0.000009000 0 C W 22 + 8 [0]\n",
    "msr": "128166372003061629,usr,0,Read,7014609920,24576,41286\n",
    "systor": "1455592020.5,0.001,R,3,4096,8192\n",
    "fiu": "89967391000000 4000 imapd 4419968 128 W 6 0 b279a4f90dba384fcfbd39f6654b0028\n",
    "alibaba": "419,W,8192,4096,1577808144000000\n",
    "tencent": "1538323200,4419968,128,1,1283\n",
    "spc": "0,20941264,8192,W,0.551706\n",
    "disksim": "0.0000 0 4419968 128 1\n",
    "darshan": "# DXT, file_id: 7, file_name: /d/f\n X_POSIX 0 read 0 8192 4096 0.0029 0.0032\n",
    "json": '{"rvalue": 1, "caller": {"tid": "0", "pid": "1"}, "stamp": {"begin": 1, "elapsed": 5}, '
    '"call": "open", "args": ["/d/f", "2", "511"]}\n',
    "ibench": "[20]; [7]; [entry]; [fsync]; [3]; [X]; [0];\n[50]; [7]; [return]; [fsync]; [3]; [X]; [0];\n",
    "nfsdump": "1.03 30.0801 31.0320 U C3 8ccadb3d 6 read fh 0100a4 off 20 count 10 con = 1 len = 1\n"
    "1.04 31.0320 30.0801 U R3 8ccadb3d 6 read OK ftype 1 mode 1a4 count 10 eof 0 status=0 pl = 8\n",
}
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\n" + bytes(range(256)) * 16


def status_of(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["david", *words])
    return david_program().run()


@pytest.fixture
def foreign(tmp_path: Path) -> list[Path]:
    """What is of no use to any command."""
    (tmp_path / "empty").touch()
    (tmp_path / "jpeg").write_bytes(JPEG)
    (tmp_path / "text").write_text("This is\nno trace.\n")
    return [tmp_path / "empty", tmp_path / "jpeg", tmp_path / "text", Path("/dev/null")]


def test_of_a_text_without_a_call_no_trace_is_made(foreign: list[Path], tmp_path: Path) -> None:
    assert SAMPLES.keys() == formats.CALLS.keys()
    out = tmp_path / "t.db"
    for kind, text in SAMPLES.items():
        others = []
        for other in SAMPLES.keys() - {kind}:
            others.append(tmp_path / f"{other}.log")
            others[-1].write_text(SAMPLES[other])
        for path in [*foreign, *others]:
            with pytest.raises(UserError, match=f"no call of {kind} in it"):
                importing.import_lines(kind, path, out)
            assert not out.exists()
        (tmp_path / "right").write_text(text)
        taken = importing.import_lines(kind, tmp_path / "right", out)
        assert taken.calls() and not taken.account.left_out
        out.unlink()


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_mixed_text_is_not_to_be_believed_and_says_why(
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log, out, found = tmp_path / "log", tmp_path / "t.db", tmp_path / "t.json"
    log.write_bytes(SAMPLES[kind].encode() + b"A line of something else\n")
    words = ("trace", "import", kind, str(log), "-o", str(out), "--json", str(found))
    assert status_of(words, monkeypatch) == 2
    assert "not understood" in capsys.readouterr().err
    said = json.loads(found.read_text())
    lines = SAMPLES[kind].count("\n") + 1
    assert said["lines"] == lines
    left = {"count": 1, "line": lines, "example": "A line of something else", "bytes": None, "ns": None}
    assert isinstance(said["left-out"]["not understood"].pop("why"), str)
    assert said["left-out"] == {"not understood": left}
    missing = losses.of_trace(sqlite3.connect(out))
    assert missing.whole == said["calls"] + 1 and missing.missing["unparsed"] == 1


def test_no_command_makes_something_of_what_it_cannot_read(
    foreign: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "place").mkdir()
    out = str(tmp_path / "out")
    for path in map(str, foreign):
        for words in (
            ("compile", path, "-o", out),
            ("replay", path, str(tmp_path / "place")),
            ("sim", path),
            ("calibrate", "--from", path, "--profile", "toshiba-p300-3tb", "-o", out),
            ("trace", "finish", path, "-o", out),
            ("trace", "report", path),
        ):
            assert status_of(words, monkeypatch) == 1, words
            assert capfd.readouterr().err and not Path(out).exists(), words


BLOCK = """\
259,0 2  1 0.000000000 300 Q FWS [jbd2]
259,0 2  2 0.000500000 0 C FWS 0 [0]
259,0 2  3 0.001000000 300 D WFS 2048 + 8 [jbd2/nvme0n1p2-]
259,0 2  4 0.001500000 0 C WFS 2048 + 8 [0]
259,0 2  5 0.002000000 301 D DS 8192 + 2048 [fstrim]
259,0 2  6 0.002500000 0 C DS 8192 + 2048 [0]
259,0 2  0 0.002600000 0 m N cfq4162S / alloced
259,0 2  7 0.003000000 301 Q R 64 + 8 [a b c 1 + 2 ]
259,0 2  8 0.011412000 0 C R 64 + 8 [0]
259,0 2  9 0.012000000 0 UT N [swapper] 1
259,0 2 10 0.012500000 301 D WZ 64 + 8 [mkfs]
259,0 2 11 0.013000000 0 C WZ 64 + 8 [0]
259,0 2 12 0.014000000 301 D R 640 + 8 [cat]
"""


def test_every_request_of_a_block_trace_is_taken_or_counted(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(BLOCK)
    account = importing.import_lines("blkparse", tmp_path / "log", tmp_path / "t.db").account
    database = sqlite3.connect(tmp_path / "t.db")
    calls = "SELECT tid, name, start, duration FROM call WHERE name != 'open' ORDER BY start"
    assert database.execute(calls).fetchall() == [
        (300, "fsync", 0, 500_000),
        (300, "pwrite64", 1_000_000, 500_000),
        (301, "fallocate", 2_000_000, 500_000),
        (301, "pread64", 3_000_000, 8_412_000),
    ]
    assert {name: kind.count for name, kind in account.left_out.items()} == {
        "requests that are no read, write, flush or discard": 1,
        "requests that were issued and never ended": 1,
    }
    assert account.without["messages"].count == 1 and account.without["other events"].count == 1
    assert losses.of_trace(database).missing["not-taken"] == 2


def test_times_from_a_copys_own_beginning_are_kept(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(
        "timestamp,hostname\n0,usr,0, Read,0,512,10000\n1000000,usr,0,Write,0,512,20000\n"
    )
    importing.import_lines("msr", tmp_path / "log", tmp_path / "t.db")
    database = sqlite3.connect(tmp_path / "t.db")
    calls = "SELECT start, duration FROM call WHERE name != 'open' ORDER BY start"
    assert database.execute(calls).fetchall() == [(0, 1_000_000), (100_000_000, 2_000_000)]


def test_many_requests_of_dxt_fit_into_frames(tmp_path: Path) -> None:
    lines = (f" X_POSIX 0 write {n} {n * 512} 512 {n}.0 {n}.5\n" for n in range(20_000))
    (tmp_path / "log").write_text(HEAD.format("f") + "".join(lines))
    assert importing.import_lines("darshan", tmp_path / "log", tmp_path / "t.db").calls() == 20_001


HEAD = "# DXT, file_id: 7, file_name: /d/{}\n"
DXT = {
    # MPI-IO by one rank, POSIX by the one that collects, and in other pieces.
    "twice": (
        HEAD.format("f") + " X_MPIIO 0 write 0 0 262144 0.0028 0.0033\n"
        " X_MPIIO 1 write 0 262144 262144 0.0028 0.0034\n" +
        HEAD.format("f") + " X_POSIX 0 write 0 0 524288 0.0029 0.0032 [ 12]\n",
        [(1, "pwrite64", 0, 524288)],
        {},
    ),
    # Old logs: MPI-IO has no offsets. Its POSIX requests are there.
    "old": (
        HEAD.format("f") + " X_MPIIO 0 read 0 N/A 4096 0.1 0.2\n X_MPIIO 0 read 1 -1 4096 0.2 0.3\n"
        " X_POSIX 0 read 0 8192 8192 0.15 0.25\n",
        [(1, "pread64", 8192, 8192)],
        {},
    ),
    "nowhere": (
        HEAD.format("f") + " X_MPIIO 0 read 0 N/A 4096 0.1 0.2\n" + HEAD.format("g") +
        " X_MPIIO 1 write 0 4096 512 0.0 0.05\n",
        [(2, "pwrite64", 4096, 512)],
        {"requests of MPI-IO without an offset": (1, 4096, 100_000_000)},
    ),
    # The order of files is not that of times. A shared record has no rank.
    "shared": (
        HEAD.format("f") + " X_POSIX -1 write 0 0 512 2.5 2.75\n" + HEAD.format("g") +
        " X_POSIX 3 read 0 0 512 1.5 1.75 140123 [3]\n",
        [(4, "pread64", 0, 512), (1 << 30, "pwrite64", 0, 512)],
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", DXT)
def test_each_request_of_dxt_is_taken_once(case: str, tmp_path: Path) -> None:
    text, expected, left_out = DXT[case]
    (tmp_path / "log").write_text(text)
    account = importing.import_lines("darshan", tmp_path / "log", tmp_path / "t.db").account
    database = sqlite3.connect(tmp_path / "t.db")
    calls = "SELECT tid, name, offset, result FROM call WHERE name != 'open' ORDER BY id"
    assert database.execute(calls).fetchall() == expected
    assert {name: (one.count, one.bytes, one.ns) for name, one in account.left_out.items()} == left_out
    assert ("requests of a module that another module's are there for" in account.without) is (
        case in ("twice", "old")
    )
    assert bool(account.guessed) is (case == "shared")


ENDED = "1 +++ exited with 0 +++\n2 +++ killed by SIGKILL +++\n"
OPENS = '1 clone(child_stack=NULL, flags=SIGCHLD) = 2\n2 openat(AT_FDCWD, "/d/f", O_RDONLY) = 3\n'
NO_EXIT, NO_RETURN = "tasks without an end", "tasks without an end, in a call"
REQUEST = "  8,0 3 1 0.000001829 697 D W 22 + 8 [k]\n"
# What a text that is cut at a line's end lets be seen: nothing is missing there that could be counted.
HALF = {
    "whole": ("strace", OPENS + ENDED, {}),
    "an end is missing": ("strace", OPENS + "1 +++ exited with 0 +++\n", {NO_EXIT: (1, 2)}),
    "both are": ("strace", OPENS, {NO_EXIT: (2, 1)}),
    "in a call": ("strace", OPENS + "2 read(3,  <unfinished ...>\n1 +++ exited with 0 +++\n",
                  {NO_RETURN: (1, 3)}),
    "detached": ("strace", OPENS + "1 pause( <detached ...>\nstrace: Process 2 detached\n", {}),
    "no beginning": ("strace", "1 <... read resumed>\"x\", 9) = 1\n" + OPENS + ENDED,
                     {"calls without a beginning": (1, 1)}),
    "iolog": ("fio", "fio version 2 iolog\n/f add\n/f open\n/f read 0 4096\n/g open\n/g close\n",
              {"files that are never closed": (1, 3)}),
}  # fmt: skip


@pytest.mark.parametrize("case", HALF)
def test_what_has_no_end_or_no_beginning_is_counted(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, text, expected = HALF[case]
    (tmp_path / "log").write_text(text)
    words = ("trace", "import", kind, str(tmp_path / "log"), "-o", str(tmp_path / "t.db"))
    status = status_of((*words, "--json", str(tmp_path / "account")), monkeypatch)
    found = json.loads((tmp_path / "account").read_text())["half"]
    assert {name: (one["count"], one["line"]) for name, one in found.items()} == expected
    assert status in (0, None), capsys.readouterr().err
    said = capsys.readouterr().err
    for name, (count, line) in expected.items():
        assert f"{count} {name}, as if the text were cut: as line {line}, " in said
    assert expected or "cut" not in said


def test_requests_of_a_cut_block_trace_are_left_out_by_number(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(SAMPLES["blkparse"] + REQUEST.replace("22 +", "99 +"))
    account = importing.import_lines("blkparse", tmp_path / "log", tmp_path / "t.db").account
    assert account.left_out["requests that were issued and never ended"].count == 1


def many(line: str) -> list[str]:
    """Lines as a tool writes them, each with a time of its own."""
    return [line.format(n) + "\n" for n in range(100, 160)]


LINES = {
    "strace": "7 1700000000.{0}000 pread64(3, \"x\", 4096, {0}4096) = 4096",
    "msr": "128166372003{0}629,usr,0,Read,{0}4096,4096,100",
    "systor": "1455592020.{0},0.001,R,3,4096,8192",
    "fiu": "89967391{0}000 4000 imapd 4419968 128 W 6 0 b279a4f90dba384fcfbd39f6654b0028",
    "alibaba": "419,W,8192,4096,157780{0}00000",
    "spc": "0,20941264,8192,W,0.{0}",
    "disksim": "{0}.0000 0 4419968 128 1",
}
TIMED = {kind: many(line) for kind, line in LINES.items()}


@pytest.mark.parametrize("kind", TIMED)
def test_a_text_that_is_there_twice_is_refused_with_the_line(kind: str, tmp_path: Path) -> None:
    lines = TIMED[kind]
    source = tmp_path / "log"
    source.write_text("".join(lines))
    importing.import_lines(kind, source, tmp_path / "once.db")
    source.write_text("".join(lines + lines))
    with pytest.raises(UserError) as raised:
        importing.import_lines(kind, source, tmp_path / "twice.db")
    assert "from line 61 on it is there again: 20 lines with their times" in str(raised.value)
    assert not (tmp_path / "twice.db").exists()
    if kind in formats.BLOCKS:
        with pytest.raises(UserError) as raised:
            blocks.load(source, kind)
        assert "from line 61 on it is there again" in str(raised.value)


# Request number n, of times that are finer than the requests.
FINE: dict[str, Callable[[int], str]] = {
    **{kind: (line + "\n").format for kind, line in LINES.items()},
    "blkparse": lambda n: f"  8,0 3 {n} 0.{n:09} 697 {'CD'[n % 2]} W {(n + 1) // 2 * 8} + 8 [k]\n",
    "nfsdump": lambda n: (
        f"1.{n}000 30.0801 31.0320 U C3 8ccad{n} 6 read fh 0100a4 off {n} count 10 con = 1 len = 1\n"
        f"1.{n}900 31.0320 30.0801 U R3 8ccad{n} 6 read OK ftype 1 mode 1a4 count 10 eof 0\n"),
    "json": lambda n: f'{{"rvalue": 1, "caller": {{"tid": "0", "pid": "1"}}, "stamp": {{"begin": {n}000000, '
                      f'"elapsed": 5}}, "call": "pread", "args": ["/d/f", "", 4096, {n}]}}\n',
    "darshan": lambda n: f" X_POSIX 0 read {n} {n * 4096} 4096 0.0029 0.0032\n",
}
HEADING = {"darshan": "# DXT, file_id: 7, file_name: /d/f\n"}


@pytest.mark.parametrize("kind", FINE)
def test_lines_that_are_there_twice_are_refused_or_counted(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, account = tmp_path / "log", tmp_path / "account"
    lines = [line for n in range(101, 401) for line in FINE[kind](n).splitlines(keepends=True)]
    head = HEADING.get(kind, "")

    def imported(*these: str) -> tuple[int, str]:
        (tmp_path / "t.db").unlink(missing_ok=True)
        source.write_text(head + "".join(these))
        words = ("trace", "import", kind, str(source), "-o", str(tmp_path / "t.db"), "--json", str(account))
        status = status_of(words, monkeypatch)
        return status or 0, capsys.readouterr().err

    assert imported(*lines) == (0, imported(*lines)[1])
    assert not json.loads(account.read_text())["guessed"]
    # Two copies, merged by their times.
    status, said = imported(*(line for line in lines for _ in range(2)))
    first = 2 + bool(head)
    assert status == 1 and f"{len(lines)} of " in said
    assert f"lines that are there twice, with their times: as line {first}, " in said
    # Two parts of a trace that have one line both.
    status, said = imported(*lines[:30], lines[29], *lines[30:])
    [(what, found)] = json.loads(account.read_text())["guessed"].items()
    assert (what, found["count"], found["line"]) == (DOUBLED, 1, 31 + bool(head))
    assert f"1 {DOUBLED}: as line {31 + bool(head)}, " in said
    # One of them at the end of the other.
    assert imported(*lines, *lines[100:200])[0] == 1


@pytest.mark.parametrize(("took", "twice"), [("0.000000", False), ("0.000001", True)])
def test_calls_while_a_clock_stands_may_be_alike(took: str, twice: bool, tmp_path: Path) -> None:
    """As in a lab with virtual time, where a program that does not sleep takes none."""
    lines = [f'7 1700000000.{n:06} write(3, "x"..., 512) = 512 <{took}>\n' for n in range(101, 401)]
    (tmp_path / "log").write_text("".join([*lines, lines[-1]]))
    account = importing.import_lines("strace", tmp_path / "log", tmp_path / "t.db").account
    assert (DOUBLED in account.guessed) == twice


@pytest.mark.parametrize(("kind", "line"), [
    ("strace", '7 pread64(3, "x", 4096, 4096) = 4096\n'),  # no times: the same program, twice
    ("tencent", "1538323200,4419968,128,1,1283\n"),  # of one second, all alike
    ("strace", '7 10:00:01 pread64(3, "x", 4096, 4096) = 4096\n'),  # of strace -t
])
def test_lines_that_are_alike_by_themselves_may_come_again(kind: str, line: str, tmp_path: Path) -> None:
    source = tmp_path / "log"
    source.write_text(line * 200)
    assert importing.import_lines(kind, source, tmp_path / "t.db").calls() >= 200


def test_a_log_without_times_that_may_be_there_twice_says_so(tmp_path: Path) -> None:
    """strace -A appends a second run, which may be just as the first one."""
    run = "".join(f'7 pread64(3, "x", 4096, {n}) = 4096\n' for n in range(30)) + "7 +++ exited with 0 +++\n"
    for count, expected in ((1, {}), (2, {MAYBE_AGAIN: (20, 32)})):
        (tmp_path / "log").write_text(run * count)
        taken = importing.import_lines("strace", tmp_path / "log", tmp_path / f"{count}.db")
        guessed = taken.account.guessed
        assert {what: (kind.count, kind.line) for what, kind in guessed.items()} == expected


@pytest.mark.parametrize("kind", [*TIMED, "fio"])
def test_a_mark_of_the_order_of_bytes_costs_no_line(kind: str, tmp_path: Path) -> None:
    text = SAMPLES[kind] if kind == "fio" else "".join(TIMED[kind])
    found = []
    for name, mark in (("plain", b""), ("marked", b"\xef\xbb\xbf")):
        (tmp_path / name).write_bytes(mark + text.encode())
        trace = importing.import_lines(None if kind in ("strace", "msr") else kind, tmp_path / name,
                                       tmp_path / f"{name}.db")
        assert not trace.account.left_out
        found.append(trace.calls())
    assert found[0] == found[1] > 0


def test_a_log_of_strace_that_is_not_in_its_order_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "log"
    lines = [f'7 17000{n:05}.000000 pread64(3, "x", 4096, {n}) = 4096\n' for n in range(300)]
    source.write_text("".join(lines[30:] + lines[:30]))  # a clock that was set back once is no such log
    assert importing.import_lines("strace", source, tmp_path / "once.db").account.guessed
    source.write_text("".join(reversed(lines)))
    with pytest.raises(UserError) as raised:
        importing.import_lines("strace", source, tmp_path / "t.db")
    assert "299 of 300 lines of an earlier time than the line in front of them" in str(raised.value)
    assert "as line 2" in str(raised.value)


def test_requests_of_no_bytes_are_left_out_and_counted(tmp_path: Path) -> None:
    source = tmp_path / "log"
    source.write_text("".join(TIMED["msr"]).replace("1294096,4096,", "1294096,0,"))
    trace = importing.import_lines("msr", source, tmp_path / "t.db")
    assert {what: left.count for what, left in trace.account.left_out.items()} == {"requests of no bytes": 1}
