# SPDX-License-Identifier: GPL-2.0
"""Block traces: the same requests are the same in every format, and none goes without being counted."""

from __future__ import annotations

import csv
import random
import re
import sqlite3
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from davidlib.trace import blocks, formats, from_blktrace, importing
from davidlib.trace.account import Taken
from davidlib.trace.blocks import DISCARD, FLUSH, FUA, PREFLUSH, READ, SYNC, WRITE
from davidlib.util import UserError

SAMPLES = Path(__file__).parent / "blocktraces"
# Of what a format's times are whole, and whether it has response times.
FORMATS = {
    "blkparse": (1, True),
    "msr": (100, True),
    "systor": (1, True),
    "fiu": (1, False),
    "alibaba": (1000, False),
    "tencent": (1_000_000_000, False),
    "spc": (1000, False),
    "disksim": (100, False),
    "fio": (1000, False),
}


def truth() -> list[tuple[int, int, int, int, int]]:
    with (SAMPLES / "requests.csv").open() as file:
        rows = [[int(word) for word in row] for row in csv.reader(file) if not row[0].startswith("#")]
    return [(row[0], row[1], row[2], row[3], row[4]) for row in rows]


def requests_of(path: Path, kind: str | None = None, device: str | None = None) -> list[blocks.Block]:
    _, found = blocks.load(path, kind)
    return found.of(blocks.choose(path, found, device))


def complaint(kind: str, found: list[blocks.Block]) -> str:
    """How these requests are not those of requests.csv."""
    grain, timed = FORMATS[kind]
    if len(found) != len(truth()):
        return f"{len(found)} requests"
    for block, (start, took, op, sector, sectors) in zip(found, truth(), strict=True):
        began = start // grain * grain
        right = blocks.Block(began, began + took * timed, op, sector, sectors, SYNC)
        if block != right:
            return f"{block}, not {right}"
    return ""


@pytest.mark.parametrize("kind", FORMATS)
def test_the_same_requests_are_the_same_in_every_format(kind: str) -> None:
    assert formats.BLOCKS.keys() == FORMATS.keys()
    assert blocks.recognise(SAMPLES / kind) == kind
    named, found = blocks.load(SAMPLES / kind, None)
    assert named == kind and not found.account.left_out
    assert not complaint(kind, found.of(found.devices[0]))


@pytest.mark.parametrize("kind", FORMATS)
def test_a_unit_that_is_wrong_is_found(kind: str) -> None:
    """Times, places and sizes of another unit, a request that is lost, reads that are writes."""
    found = requests_of(SAMPLES / kind)
    for wrong in (
        [block._replace(start=block.start * 1000, end=block.end * 1000) for block in found],
        [block._replace(sector=block.sector // 8) for block in found],
        [block._replace(sectors=block.sectors * 512) for block in found],
        [block._replace(op=1 - block.op) for block in found],
        found[1:],
    ):
        assert complaint(kind, wrong)


FLUSHES = """\
  8,0 0  1 0.000000000 300 Q FWS [jbd2]
  8,0 0  2 0.000100000 300 D FN [kworker]
  8,0 0  3 0.000400000 0 C FN 0 [0]
  8,0 0  4 0.000500000 0 C FWS 0 [0]
  8,0 0  5 0.001000000 300 Q FWFS 2048 + 8 [jbd2]
  8,0 0  6 0.001500000 0 C WFS 2048 + 8 [0]
  8,0 0  7 0.002000000 301 Q DS 8192 + 2048 [fstrim]
  8,0 0  8 0.002500000 0 C DS 8192 + 2048 [0]
  8,0 0  9 0.003000000 302 Q W 100 + 8 [a]
  8,0 0 10 0.003100000 302 Q W 108 + 8 [a]
  8,0 0 11 0.003150000 302 M W 108 + 8 [a]
  8,0 0 12 0.003200000 302 D W 100 + 16 [a]
  8,0 0 13 0.004000000 0 C W 100 + 16 [0]
  8,0 0 14 0.005000000 303 Q R 4096 + 64 [a]
  8,0 0 15 0.005100000 303 X R 4096 / 4128 [a]
  8,0 0 16 0.006000000 0 C R 4128 + 32 [0]
  8,0 0 17 0.007000000 0 C R 4096 + 32 [0]
  8,0 0 18 0.008000000 303 Q FWS [a]
  8,0 0 19 0.008100000 303 D FN [a]
  8,0 0 20 0.008400000 0 C FN 0 [0]
  8,0 0 21 0.009000000 0 C R 64 + 8 [0]
  8,0 0 22 0.009500000 303 Q R 64 + 8 [a]
"""


def test_merged_and_split_requests_and_flushes_are_what_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(FLUSHES)
    _, found = blocks.load(tmp_path / "log", None)
    expected = [
        (0, 500_000, FLUSH, 0, 0, SYNC),
        (1_000_000, 1_500_000, WRITE, 2048, 8, FUA | SYNC | PREFLUSH),
        (2_000_000, 2_500_000, DISCARD, 8192, 2048, 0),
        (3_000_000, 4_000_000, WRITE, 100, 8, 0),
        (3_100_000, 4_000_000, WRITE, 108, 8, 0),
        (5_000_000, 7_000_000, READ, 4096, 64, SYNC),
        (8_000_000, 8_400_000, FLUSH, 0, 0, SYNC),
    ]
    assert found.of("/dev/block/8:0") == expected
    assert {name: kind.count for name, kind in found.account.left_out.items()} == {
        "ends of requests whose beginning is not in it": 1,
        "requests that were issued and never ended": 1,
    }


# Behind the lines, by -s: of each process, then of each processor.
SUMMARY = """\
fio (115)
 Reads Queued:         152,     4216KiB\t Writes Queued:         148,     4404KiB
 Completion wait:        0        \t Completion wait:         0
CPU0 (8,0):
 Reads Queued:         152,     4216KiB\t Writes Queued:         148,     4404KiB

Throughput (R/W): 42,728KiB/s / 44,626KiB/s
Events (8,0): 600 entries
Skips: 0 forward (0 -   0.0%)
Input file sda.blktrace.0 added
"""


@pytest.mark.parametrize("change", [
    lambda text: text + SUMMARY,
    lambda text: "Input file sda.blktrace.0 added\n" + text,
    # -f "%D %2c %8s %5T.%9t %5p %2a %3d %S + %n", with and without the name behind it.
    lambda text: re.sub(r"( FN| FWS)( 0)? \[", r"\1 0 + 0 [", text),
    lambda text: re.sub(r"( FN| FWS)( 0)? \[", r"\1 0 + 0 [", text).replace("[", "").replace("]", ""),
    lambda text: re.sub(r" \[.*", "", re.sub(r"( FN| FWS)( 0)? \[", r"\1 0 + 0 [", text)),
], ids=["summaries", "own lines", "zero sectors", "no brackets", "no names"])
def test_options_of_blkparse_change_no_request(change: Callable[[str], str], tmp_path: Path) -> None:
    found = []
    for text in (FLUSHES, change(FLUSHES)):
        (tmp_path / "log").write_text(text)
        _, told = blocks.load(tmp_path / "log", "blkparse")
        found.append((told.of("/dev/block/8:0"), [kind.count for kind in told.account.left_out.values()]))
    assert found[0] == found[1] and change(FLUSHES) != FLUSHES


def test_an_issue_of_another_form_is_not_passed_over(tmp_path: Path) -> None:
    """Else its request would begin where it was queued, and its time be another one's."""
    text = "".join(f"8,0 0 {n} 0.{n:09} 3 {what} R 8 + 8 [a]\n" for n, what in enumerate("QDC" * 200))
    (tmp_path / "log").write_text(re.sub(r"D R 8 \+ 8.*", "D R 8 8", text))
    _, told = blocks.load(tmp_path / "log", "blkparse")
    assert told.account.left_out["not understood"].count == 200
    assert "its sectors are not as blkparse has them" in "".join(told.account.as_text("log", Taken(200)))
    for actions in ("Q", "C"):
        some = [line for line in text.splitlines(True) if f" {actions} " in line]
        (tmp_path / "log").write_text("".join(some))
        with pytest.raises(UserError, match="as blkparse, line .*(never ended|beginning is not in it)"):
            blocks.load(tmp_path / "log", None)


WHOLE = """\
  7,0 0  1 0.000000000 10004 Q FWS [mkfs.ext4]
  7,0 0  2 0.000001000    78 D FN [kworker/0:1H]
  7,0 0  3 0.000002000     8 C FN 0 [0]
  7,0 0  4 0.000003000     8 C WS 0 [0]
  7,0 0  5 0.000010000 10005 Q FWFSM 229396 + 2 [jbd2/loop0-8]
  7,0 0  6 0.000011000    78 D FN [kworker/0:1H]
  7,0 0  7 0.000012000    15 C FN 0 [0]
  7,0 0  8 0.000013000    78 D WSM 229396 + 2 [kworker/0:1H]
  7,0 0  9 0.000014000    15 C WSM 229396 + 2 [0]
  7,0 0 10 0.000015000    78 D FN [kworker/0:1H]
  7,0 0 11 0.000016000    15 C FN 0 [0]
  7,0 0 12 0.000017000    15 C WSM 229396 [0]
  7,0 0 13 0.000020000 10005 Q WFS 8 + 2 [a]
  7,0 0 14 0.000021000    15 C WFS 8 + 2 [0]
"""


def test_a_write_with_flushes_ends_when_the_last_of_them_has(tmp_path: Path) -> None:
    """As the kernel tells of a disk without FUA; and one that has it, and needs no flush behind the data."""
    (tmp_path / "log").write_text(WHOLE)
    _, found = blocks.load(tmp_path / "log", None)
    assert found.of("/dev/block/7:0") == [
        (0, 3000, FLUSH, 0, 0, SYNC),
        (10_000, 17_000, WRITE, 229396, 2, FUA | SYNC | PREFLUSH),
        (20_000, 21_000, WRITE, 8, 2, FUA | SYNC),
    ]
    assert not found.account.left_out


def test_depths_are_those_under_way() -> None:
    def at(start: int, end: int, op: int = READ) -> blocks.Block:
        return blocks.Block(start, end, op, 0, 8, SYNC)

    found = [at(0, 10), at(1, 5), at(2, 2, DISCARD), at(3, 20), at(5, 30), at(30, 40)]
    assert blocks.depths(found) == [1, 2, 2, 3, 3, 1]
    assert blocks.depths([at(0, 0), at(1, 2)]) is None


ACTIONS = {name: number for number, name in enumerate(from_blktrace._ACTIONS) if name != "?"}
LETTERS = {"W": 1 << 1, "F": 1 << 2, "S": 1 << 3, "D": 1 << 13}


def binary(line: str, order: str) -> bytes:
    """A line of blkparse as the kernel's event."""
    words = line.split()
    major, minor = (int(word) for word in words[0].split(","))
    seconds, part = words[3].split(".")
    category = 1 << 10 if words[5] == "m" else 0
    if not category:
        for letter in words[6].replace("WFS", "WS"):
            category |= LETTERS.get(letter, 0)
        category |= (1 << 15) * ("WFS" in words[6])
    more = b"a message" if words[5] == "m" else b"pdu!" if words[5] == "U" else b""
    sector, size = (int(words[7]), int(words[9]) * 512) if words[8:9] == ["+"] else (0, 0)
    action = (2 if words[5] == "m" else ACTIONS[words[5]]) | category << 16
    return struct.pack(
        order + "IIQQIIIIIHH",
        *(0x65617407, int(words[2]), int(seconds) * 10**9 + int(part), sector, size, action, int(words[4])),
        *(major << 20 | minor, int(words[1]), 0, len(more)),
    ) + more


def events() -> list[str]:
    lines = (SAMPLES / "blkparse").read_text().splitlines()
    return [line for line in lines if line.startswith("  8,16")]


@pytest.mark.parametrize("order", "<>")
def test_blktraces_own_files_are_read_with_those_of_the_other_processors(order: str, tmp_path: Path) -> None:
    dice = random.Random(2)
    parts: list[list[bytes]] = [[], [], []]
    for line in events():
        parts[dice.randrange(3)].append(binary(line, order))
    for cpu, part in enumerate(parts):
        (tmp_path / f"sdb.blktrace.{cpu}").write_bytes(b"".join(part))
    (tmp_path / "sdc.blktrace.0").write_bytes(binary("8,32 0 1 0.000000001 7 Q R 0 + 8 [a]", order))
    assert not complaint("blkparse", requests_of(tmp_path / "sdb.blktrace.1"))
    # What one processor said is missing.
    (tmp_path / "sdb.blktrace.2").unlink()
    assert complaint("blkparse", requests_of(tmp_path / "sdb.blktrace.1"))


def test_a_trace_of_many_requests_is_imported_whole(tmp_path: Path) -> None:
    """What waits for its order at the end is more than a frame of a trace file may be."""
    lines = [f"{n * 7919},host,0,{'Read' if n % 3 else 'Write'},{n * 4096},4096,100\n" for n in range(13_000)]
    (tmp_path / "log").write_text("".join(lines))
    trace = importing.import_lines(None, tmp_path / "log", tmp_path / "t.db")
    with sqlite3.connect(tmp_path / "t.db") as database:
        rows = database.execute("SELECT count(*), sum(result), sum(duration) FROM event WHERE result > 99")
        assert rows.fetchone() == (13_000, 13_000 * 4096, 13_000 * 10_000)
    assert trace.account.lines == 13_000 == trace.calls() - trace.account.made_up


def test_a_file_of_blktrace_that_is_cut_short_says_so(tmp_path: Path) -> None:
    whole = b"".join(binary(line, "<") for line in events())
    (tmp_path / "whole").write_bytes(whole)
    assert not complaint("blkparse", requests_of(tmp_path / "whole"))
    (tmp_path / "cut").write_bytes(whole[:-20])
    _, found = blocks.load(tmp_path / "cut", None)
    assert found.account.unparsed() == 1


def test_what_is_no_block_trace_is_refused(tmp_path: Path) -> None:
    for text in ("", "This is\nno trace.\n", "fio version 3 iolog\n", "\0" * 4096):
        (tmp_path / "log").write_text(text)
        with pytest.raises(UserError, match="block trace: .* has none of the formats"):
            blocks.load(tmp_path / "log", None)
        with pytest.raises(UserError, match="no request of msr in it"):
            blocks.load(tmp_path / "log", "msr")


@pytest.mark.parametrize("kind", FORMATS)
def test_a_block_trace_of_two_formats_is_refused_as_an_imported_one_is(kind: str, tmp_path: Path) -> None:
    kinds = list(FORMATS)
    other = kinds[(kinds.index(kind) + 1) % len(kinds)]
    (tmp_path / "log").write_text((SAMPLES / kind).read_text() + (SAMPLES / other).read_text())
    said = []
    for read in (blocks.recognise, lambda path: importing.import_lines(None, path, tmp_path / "t.db")):
        with pytest.raises(UserError) as raised:
            read(tmp_path / "log")
        said.append(str(raised.value).split("has lines of ")[1])
    # An open of fio's iolog is a call, and asks nothing of a disk.
    said = [re.sub(r"line \d+", "line", text) for text in said]
    assert said[0] == said[1] and kind in said[0] and other in said[0]


def test_one_of_several_devices_must_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("0,0,512,R,0.1\n1,8,512,R,0.2\n1,16,512,W,0.3\n")
    with pytest.raises(UserError, match=r"--device: /asu/1 \(2 requests\), /asu/0 \(1 requests\)"):
        requests_of(tmp_path / "log")
    with pytest.raises(UserError, match="no requests of /asu/2"):
        requests_of(tmp_path / "log", None, "/asu/2")
    assert [block.sector for block in requests_of(tmp_path / "log", None, "/asu/1")] == [8, 16]
