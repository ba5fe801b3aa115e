# SPDX-License-Identifier: GPL-2.0
"""`david replay` of a block trace on a file. Whether it is in time is tried in a lab: cases/vblocks.py."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from davidlib.replay import blockreplay
from davidlib.trace.blocks import DISCARD, FLUSH, FUA, PREFLUSH, READ, SYNC, WRITE, Block
from davidlib.util import UserError
from test_inputs import status_of

SIZE = 4 << 20
PAGE = 4096


def lines_of(made: list[Block]) -> str:
    """As blkparse has them."""
    events = []
    for block in made:
        said = {READ: "R", WRITE: "WS", FLUSH: "FWS", DISCARD: "DS"}[block.op]
        if block.op == WRITE:
            said = "F" * bool(block.flags & PREFLUSH) + "W" + "F" * bool(block.flags & FUA) + "S"
        where = f"{block.sector} + {block.sectors}" if block.sectors else ""
        events.append((block.start, f"Q {said} {where} [a]"))
        events.append((block.end, f"C {said} {where or 0} [0]"))
    return "".join(f"8,0 0 1 {time // 10**9}.{time % 10**9:09} 1 {said}\n" for time, said in sorted(events))


def made(seed: int, count: int) -> list[Block]:
    dice, time, found = random.Random(seed), 0, []
    for _ in range(count):
        op = dice.choices((READ, WRITE, FLUSH, DISCARD), (8, 8, 2, 3))[0]
        pages = 0 if op == FLUSH else dice.choice((1, 1, 2, 8))
        page = dice.randrange(SIZE // PAGE - pages) if pages else 0
        flags = SYNC | (dice.choice((0, 0, FUA, PREFLUSH, FUA | PREFLUSH)) if op == WRITE else 0)
        found.append(Block(time, time + 100_000, op, page * 8, pages * 8, flags))
        time += 200_000
    return found


def changed(made: list[Block]) -> set[int]:
    """Pages that have something at the end, if each request is done before the next comes."""
    full: set[int] = set()
    for block in made:
        pages = set(range(block.sector // 8, (block.sector + block.sectors) // 8))
        full = full | pages if block.op == WRITE else full - pages if block.op == DISCARD else full
    return full


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    with path.open("wb") as new:
        new.truncate(SIZE)
    return path


def full_pages(file: Path) -> set[int]:
    data = file.read_bytes()
    return {at // PAGE for at in range(0, len(data), PAGE) if any(data[at : at + PAGE])}


@pytest.mark.parametrize("timing", ["closed", "open"])
def test_each_request_is_done_where_the_trace_has_it(
    timing: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = made(1, 300)
    (tmp_path / "log").write_text(lines_of(requests))
    out = tmp_path / "out.json"
    # In the open loop one may be late, and be done beside the next: then places may differ.
    words = ("replay", str(tmp_path / "log"), str(file), "--write", "--timing", timing, "-o", str(out))
    assert status_of(words, monkeypatch) in (0, 2)  # 2: this machine was too busy
    found = json.loads(out.read_text())
    counted = [sum(block.op == op for block in requests) for op in range(4)]
    assert [found[name] for name in ("reads", "writes", "flushes", "discards")] == counted
    if timing == "closed":
        assert full_pages(file) == changed(requests)
        # A write that is lost, or a discard, is found.
        assert changed([block for block in requests if block.op != DISCARD]) != changed(requests)
    assert found["late"] <= len(requests) and found["seconds"] > 0


def test_as_many_are_under_way_as_there_were(file: Path) -> None:
    requests = [Block(0, 100, READ, 8 * n, 8, SYNC) for n in range(200)]
    target = blockreplay.Target(file, write=False)
    depths = [1 + n // 20 % 3 for n in range(200)]
    run = blockreplay.Run(target, requests, depths)
    run.run(3)
    target.close()
    rows = sorted(run.sent)
    assert [row[0] for row in rows] == list(range(200))
    for number, planned, began, done in rows:
        assert planned <= began <= done
        # Of those before it fewer than that were not done when it was to come.
        assert sum(other[3] > planned for other in rows[:number]) < depths[number], number


def test_what_cannot_be_replayed_is_refused(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    (tmp_path / "place").mkdir()

    def said(text: str, *words: str, target: Path = file) -> tuple[int, str]:
        log.write_text(text)
        status = status_of(("replay", str(log), str(target), *words), monkeypatch)
        return status, capsys.readouterr().err

    writes, read = lines_of(made(2, 20)), "0,0,4096,R,0.1\n"
    for text, words, why in (
        (writes, (), "--write allows them"),
        (read, (), "give --depth N"),
        ("0,0,4096\n", ("--timing", "open"), "it has no times"),
        (read, ("--timing", "afap"), "open or closed"),
        (read, ("--cold",), "--cold is not for a block trace"),
        ("0,999999,4096,R,0.1\n", ("--depth", "1"), "no read and no write lies on the target"),
        ("nonsense\n", (), "has none of the formats"),
    ):
        status, error = said(text, *words)
        assert status == 1 and why in error, (text, words, error)
    status, error = said(read, "--depth", "1", target=tmp_path / "place")
    assert status == 1 and "--depth is not for a directory" in error
    status, error = said(read * 10 + "0,999999,4096,R,0.2\n", "--depth", "1")
    assert status == 2 and "1 beyond the end" in error
    assert full_pages(file) == set()


@pytest.mark.parametrize(
    ("step", "words", "coarse"),
    [
        (10**9, ("--timing", "open"), True),
        (10**9, ("--timing", "closed", "--depth", "2"), False),
        (1, ("--timing", "open"), False),
    ],
)
def test_bursts_that_a_traces_clock_made_are_said(
    step: int, words: tuple[str, ...], coarse: bool, file: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    times = (n * 20_000_003 // step * step for n in range(60))  # 1.2 s
    line = "0,R,{at},4096,{us}\n" if step == 1 else "{s},{sector},8,0,0\n"
    text = "".join(
        line.format(at=n * PAGE, sector=n * 8, us=time // 1000, s=1538323200 + time // 10**9)
        for n, time in enumerate(times)
    )
    trace = file.with_name("trace")
    trace.write_text(text)
    found = status_of(("replay", str(trace), str(file), *words), monkeypatch)
    said = capfd.readouterr().err
    assert ("times in steps of 1000 ms" in said) is coarse, said
    assert found == 2 or not coarse


def test_an_error_of_the_target_ends_it(file: Path) -> None:
    target = blockreplay.Target(file, write=False)
    run = blockreplay.Run(target, [Block(0, 1, WRITE, 0, 8, SYNC)] * 3, [1] * 3)
    run.run(1)
    target.close()
    assert "Bad file descriptor" in run.failed
    with pytest.raises(UserError, match="No such file"):
        blockreplay.Target(file.with_name("none"), write=False)
