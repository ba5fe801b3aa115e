# SPDX-License-Identifier: GPL-2.0
"""No command of trace, compile, replay, compare, sim and calibrate makes something of what it cannot read.

Each is given files that are empty, foreign, cut short, or made of two. None ends with 0.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from davidlib.replay import programs
from davidlib.trace import blocks, importing, tracefile
from davidlib.util import UserError
from helpers.davidtool import program as david_program
from test_inputs import JPEG, SAMPLES, status_of
from test_status import commands

LOG = "".join(
    f'1 openat(AT_FDCWD, "/d/f{n}", O_RDONLY) = 3\n1 read(3, "x"..., 4096) = {4096 - n}\n1 close(3) = 0\n'
    for n in range(300)
)
JOB = {"jobname": "t", "error": 0, "job options": {"rw": "randread", "bs": "4k", "iodepth": "1"}}
FIO = {
    "fio version": "fio-3.33",
    "global options": {"direct": "1"},
    "jobs": [JOB | {"read": {"iops": 75.0}, "write": {"iops": 0}, "iodepth_level": {"1": 100.0}}],
}
# Of each command: its words, with FILE the one that it reads; what it reads.
COMMANDS = {
    ("trace", "finish"): (("FILE", "-o", "OUT"), "trace file"),
    ("trace", "import"): (("FILE", "-o", "OUT"), "log"),
    ("trace", "export"): (("FILE", "--to", "csv", "-o", "OUT"), "trace"),
    ("trace", "report"): (("FILE",), "trace"),
    ("trace", "record"): (("--share-disk", "-o", "OUT", "--", "FILE"), None),
    ("trace", "causal"): (("-o", "OUT", "--", "FILE"), None),
    ("trace", "on"): (("FILE",), None),
    ("trace", "off"): (("FILE",), None),
    ("trace", "status"): (("FILE",), None),
    ("compile",): (("FILE", "-o", "OUT"), "trace"),
    ("replay",): (("--share-disk", "FILE", "PLACE"), "compiled trace"),
    ("compare",): (("FILE", "-o", "OUT"), "figures"),
    ("sim",): (("--profile", "toshiba-p300-3tb", "FILE", "-o", "OUT"), None),
    ("calibrate",): (("--from", "FILE", "--profile", "toshiba-p300-3tb", "-o", "OUT"), "result of fio"),
}
# What is in front of the place where it was cut off is a trace: status 2, and docs/TRACE.md says so. And
# what a program did that could not be run was recorded: its status is the program's.
STAYS = {("trace", "finish"), ("trace", "record")}
# Nothing is held beside the figure that the profile was fitted to: not to be believed.
NOT_VOUCHED_FOR = {("calibrate",)}


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A file of each kind that a command reads."""
    top = tmp_path_factory.mktemp("right")
    found = {kind: top / kind for kind in ("trace file", "log", "trace", "compiled trace", "figures")}
    found["log"].write_text(LOG)
    importing.import_lines("strace", found["log"], found["trace"])
    programs.make(found["trace"], found["compiled trace"], [])
    (top / "place").mkdir()
    programs.prepare(found["compiled trace"], top / "place", holes=True)
    run = programs.run(found["compiled trace"], top / "place", ["--share-disk", "--timing", "afap"])
    result = {"kind": "replay", "cold": False, "environment": {}, "options": {}, "runs": [run]}
    found["figures"].write_text(json.dumps(result))
    trace = tracefile.TraceFile("-")
    for n in range(100):
        trace.call(1, 0, n + 1, n + 2, 1, (3, 0, 1))
    found["trace file"].write_bytes(b"".join(trace.end({})))
    found["result of fio"] = top / "result of fio"
    found["result of fio"].write_text(json.dumps(FIO))
    return found


def damaged(right: dict[str, Path], reads: str | None, top: Path) -> Iterator[tuple[str, Path]]:
    """What no command can use; and, of the file that this one reads, parts, and with something else."""
    yield "/dev/null", Path("/dev/null")
    yield "a directory", top
    whole = right[reads].read_bytes() if reads else b""
    files = {"empty": b"", "a picture": JPEG, "a text": b"This is\nno trace.\n", "zeros": bytes(5000)}
    files |= {kind: path.read_bytes() for kind, path in right.items() if kind != reads}
    if reads:
        others = [path.read_bytes() for kind, path in right.items() if kind != reads]
        files |= {f"the first {part} bytes": whole[:part] for part in (1, 5, len(whole) // 2, len(whole) - 2)}
        files |= {f"half, and half of {n}": whole[: len(whole) // 2] + o for n, o in enumerate(others)}
    for name, content in files.items():
        path = top / "file"
        path.write_bytes(content)
        yield name, path


def test_every_command_that_reads_a_file_is_in_the_table() -> None:
    rooms = ("trace", "compile", "replay", "compare", "sim", "calibrate")
    found = {words for words in commands(david_program().parser_of()) if words and words[0] in rooms}
    assert found - {("trace",)} == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nothing_is_made_of_what_cannot_be_read(
    command: tuple[str, ...],
    right: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    words, reads = COMMANDS[command]
    out, place, top = tmp_path / "out", tmp_path / "place", tmp_path / "top"
    place.mkdir()
    top.mkdir()
    for name, path in damaged(right, reads, top):
        said = [{"FILE": str(path), "OUT": str(out), "PLACE": str(place)}.get(word, word) for word in words]
        status = status_of((*command, *said), monkeypatch)
        assert status not in (0, None), name
        assert command == ("trace", "status") or capfd.readouterr().err.strip(), name
        if command not in STAYS or status == 1:
            assert not out.exists(), name
        out.unlink(missing_ok=True)
        assert not list(place.iterdir()), name
    if reads:
        path = right[reads]
        said = [{"FILE": str(path), "OUT": str(out), "PLACE": str(place)}.get(word, word) for word in words]
        expected = (2,) if command in NOT_VOUCHED_FOR else (0, None)
        assert status_of((*command, *said), monkeypatch) in expected, capfd.readouterr().err


def refused(path: Path, kind: str | None, out: Path) -> str:
    with pytest.raises(UserError) as raised:
        importing.import_lines(kind, path, out)
    assert not out.exists()
    return str(raised.value)


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_text_is_recognised_and_two_in_one_are_refused(kind: str, tmp_path: Path) -> None:
    log, out = tmp_path / "log", tmp_path / "t.db"
    log.write_text(SAMPLES[kind])
    trace = importing.import_lines(None, log, out)
    assert trace.origin == kind and trace.calls() and not trace.account.left_out
    out.unlink()
    kinds = list(SAMPLES)
    for step, named in ((1, None), (1, kind), (3, None), (4, kind)):
        other = kinds[(kinds.index(kind) + step) % len(kinds)]
        log.write_text(SAMPLES[kind] + SAMPLES[other])
        said = refused(log, named, out)
        assert "has lines of" in said and kind in said and other in said
        assert named is None or f"has lines of {kind} and of {other}, which line" in said
        log.write_text(SAMPLES[other])
        assert f"it looks like {other}'s" in refused(log, kind, out)


def test_what_has_no_format_is_named(right: dict[str, Path], tmp_path: Path) -> None:
    log, out = tmp_path / "log", tmp_path / "t.db"
    log.write_bytes(JPEG)
    assert "it is a picture" in refused(log, None, out) and "it is a picture" in refused(log, "msr", out)
    assert "`david replay` takes it" in refused(right["compiled trace"], None, out)
    assert "`david compile` takes a trace" in refused(right["trace"], "strace", out)
    assert "`david trace finish`" in refused(right["trace file"], None, out)
    assert "`david calibrate --from` takes it" in refused(right["result of fio"], None, out)
    log.write_text("In 2003 there were\n1, 4096, 512\nof these, and no more\nthan that.\n")
    assert "has none of the formats" in refused(log, None, out)
    log.write_bytes(b"")
    assert "it is empty" in refused(log, None, out)
    log.write_bytes(lzma.compress(b"This is\nno trace.\n"))
    assert "it is compressed by xz" in refused(log, None, out)


SIGNS = {
    "quotes around its values": ('"{}"', ","),
    "';' between its values, not ','": ("{}", ";"),
    "tabs between its values, not ','": ("{}", "\t"),
    "blanks between its values, not ','": ("{}", "  "),
    "quotes around its values, and ';' between its values, not ','": ('"{}"', ";"),
}


@pytest.mark.parametrize("head", [True, False])
@pytest.mark.parametrize("wrong", SIGNS)
def test_a_table_with_other_signs_is_refused_with_what_mends_it(
    wrong: str, head: bool, tmp_path: Path
) -> None:
    quoted, between = SIGNS[wrong]
    log, plain = tmp_path / "log", tmp_path / "plain"
    rows = [(str(128166372003061629 + n), "usr", "0", "Read", str(4096 * n), "4096", "9") for n in range(50)]
    rows[:0] = [("Timestamp", "Hostname", "DiskNumber", "Type", "Offset", "Size", "ResponseTime")] * head
    log.write_text("".join(between.join(quoted.format(one) for one in row) + "\n" for row in rows))
    said = refused(log, None, tmp_path / "t.db")
    assert f"as msr, line {1 + head}: {wrong}: `" in said
    assert f"line {1 + head}: {wrong}: `" in refused(log, "msr", tmp_path / "t.db")
    with pytest.raises(UserError, match=f"line {1 + head}: "):
        blocks.load(log, None)
    mends = said.split("`")[1].replace("FILE", str(log))
    subprocess.run(["bash", "-c", f"{mends} >{plain}"], check=True)
    assert importing.import_lines(None, plain, tmp_path / "t.db").account.without.keys() <= {"headers"}
    assert len(blocks.load(plain, None)[1]) == 50


# Lines as these tools write them (perf 6.1, fio 3.33; ftrace's and the others' by their documentation).
OTHERS = {
    "ftrace": ("# tracer: nop\n#\n", "line 1 is ftrace's", "blktrace"),
    "an event of ftrace": (
        "             dd-4000    [001] d..1.  5000.001000: block_rq_issue: 259,0 R 4096 () 8 + 8 [dd]\n",
        "line 1 is ftrace's", "blktrace",
    ),
    "perf script": (
        "        dd 11700 [001] 42525.606284:            block:block_bio_queue: 254,0 RA 8 + 16 [dd]\n",
        "line 1 is perf script's", "blktrace",
    ),
    "perf trace": (
        "         ? (         ): ls/11674  ... [continued]: execve())           = 0\n"
        "     0.050 ( 0.012 ms): ls/11674 brk()                  = 0x56063e574000\n",
        "line 2 is perf trace's", "david trace record",
    ),
    "biosnoop": ("TIME(s)     COMM           PID    DISK    T\n", "line 1 is biosnoop's", "blktrace"),
    "bpftrace": ("Attaching 2 probes...\n@bytes[fio]: 4096\n", "line 1 is a tool of bcc's", "blktrace"),
    "iostat": ("\nDevice            r/s     rkB/s\nsda   1.0 2.0\n", "line 2 is iostat's", "no requests"),
    "fio's latencies": ("0, 22543, 0, 4096, 0\n", "line 1 is a log of fio's", "write_iolog"),
    "fio's, averaged": ("7, 49891, 0, 0, 0, 0\n", "line 1 is a log of fio's", "write_iolog"),
    "fio's histograms": ("10, 0, 4096" + ", 0" * 1856 + "\n", "line 1 is a log of fio's", "write_iolog"),
    "a poem": ("\n\nOnce upon a midnight dreary\n", "line 3, 'Once upon a midnight dreary', is of none", ""),
}


@pytest.mark.parametrize("whose", OTHERS)
def test_another_tool_s_text_is_named_by_its_line(whose: str, tmp_path: Path) -> None:
    text, line, what = OTHERS[whose]
    (tmp_path / "log").write_text(text * 3)
    said = refused(tmp_path / "log", None, tmp_path / "t.db")
    assert line in said and what in said
    with pytest.raises(UserError, match=line):
        blocks.load(tmp_path / "log", None)


PACKED = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: subprocess.run(["zstd", "-cq"], input=data, capture_output=True, check=True).stdout,
    "lz4": lambda data: subprocess.run(["lz4", "-cq"], input=data, capture_output=True, check=True).stdout,
}


@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("form", PACKED)
def test_a_text_is_unpacked_whatever_its_name_is(form: str, coding: str, tmp_path: Path) -> None:
    if form in ("zst", "lz4") and not shutil.which({"zst": "zstd"}.get(form, form)):
        pytest.skip(f"no {form} here")
    log, out = tmp_path / "log", tmp_path / "t.db"
    text = "".join(f"{128166372003061629 + n},usr,0,Read,{n * 4096},4096,100\r\n" for n in range(300))
    whole = PACKED[form](text.encode(coding))
    log.write_bytes(whole)
    account = importing.import_lines(None, log, out).account
    assert account.lines == 300 and not account.left_out and not account.guessed
    assert blocks.load(log, None)[0] == "msr"
    out.unlink()
    log.write_bytes(whole + whole[: len(whole) // 2])  # the first is a whole text
    assert "cannot be read" in refused(log, None, out) and not out.exists()
    middle = len(whole) // 2
    wrong = bytes(255 - byte for byte in whole[middle : middle + 40])
    log.write_bytes(whole[:middle] + wrong + whole[middle + 40 :])
    assert refused(log, "msr", out) and not out.exists()  # in one line: no other error
    log.write_bytes(PACKED[form](b""))
    assert f"{log} has none of the formats" in refused(log, None, out)


def test_what_is_cut_short_is_refused(tmp_path: Path) -> None:
    log, out = tmp_path / "log", tmp_path / "t.db"
    log.write_text(LOG[:-10])
    for kind in ("strace", None):
        assert "cut short: its last line, 900, has no end" in refused(log, kind, out)
    log.write_text(LOG[:-1])
    assert importing.import_lines(None, log, out).calls() == 900
    out.unlink()
    packed = tmp_path / "log.xz"
    packed.write_bytes(lzma.compress(LOG.encode() * 400)[:-100])
    assert "cannot be read" in refused(packed, None, out)
    for kind, text, kinds in (
        ("json", "3\n" + SAMPLES["json"], "calls that the first line counts and that are not there"),
        (
            "ibench",
            "[1]; [8]; [entry]; [fsync]; [3]; [X]; [0];\n" + SAMPLES["ibench"],
            "calls that never returned",
        ),
    ):
        log.write_text(text)
        assert list(importing.import_lines(kind, log, out).account.left_out) == [kinds]
        out.unlink()


TABLE = """\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 46.51    0.000040          40         1           close
------ ----------- ----------- --------- --------- ----------------
100.00    0.000086           2        29         1 total
"""


def test_what_is_behind_a_summary_is_not_lost(tmp_path: Path) -> None:
    """strace -A -C writes behind what is there."""
    log, out = tmp_path / "log", tmp_path / "t.db"
    for table in (TABLE, "syscall    calls\n------- --------\nclose    1\n------- -----\ntotal    29\n"):
        log.write_text(SAMPLES["strace"] + table + SAMPLES["strace"] + table)
        trace = importing.import_lines("strace", log, out)
        assert trace.calls() == 4 and not trace.account.left_out
        out.unlink()
        log.write_text(SAMPLES["strace"] + table + SAMPLES["fio"])
        assert "has lines of strace and of fio" in refused(log, "strace", out)


ZEROES = """\
8,0 3 1 0.000000000 700 D W 22 + 8 [k]
8,0 3 2 0.001000000 0 C W 22 + 8 [0]
8,0 3 3 0.002000000 700 D WZ 64 + {sectors} [mkfs]
8,0 3 4 0.00{end}000000 0 C WZ 64 + {sectors} [0]
"""


@pytest.mark.parametrize(
    ("sectors", "end", "says"),
    [
        (8, 3, "1 of 201 calls, 0.5 %, 4096 of 823296 bytes, 0.5 %, 1000000 of 201000000 ns, 0.5 %, req"),
        (800, 3, "33 % of 1228800 bytes are missing (409600 left out): more than 1 %"),
        (8, 9, "3.4 % of 207000000 ns are missing (7000000 left out): more than 1 %"),
    ],
)
def test_what_is_left_out_is_held_against_calls_bytes_and_time(
    sectors: int,
    end: int,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Few calls may be much of what was done."""
    log, out, found = tmp_path / "log", tmp_path / "t.db", tmp_path / "t.json"
    first, rest = ZEROES.split("8,0 3 3")
    many = [first.replace("0.00", f"{n}.00") for n in range(200)]
    log.write_text("".join(many) + "8,0 3 3" + rest.format(sectors=sectors, end=end))
    words = ("trace", "import", "blkparse", str(log), "-o", str(out), "--json", str(found))
    assert (status_of(words, monkeypatch) or 0) == (2 if "more than" in says else 0)
    said = capfd.readouterr().err
    assert says in said
    made = json.loads(found.read_text())
    assert (made["calls"], made["bytes"], made["ns"]) == (200, 200 * 4096, 200 * 10**6)
