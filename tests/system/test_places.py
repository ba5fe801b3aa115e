# SPDX-License-Identifier: GPL-2.0
"""Where on the disk requests of a run went: counted a second way (helpers/secondplaces.py), of random streams
and of runs in the lab of test_bench.py. What a page and its tables make of that.
"""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import benchrun
from davidlib.bench import costs, places
from davidlib.bench.results import _database
from davidlib.report import why
from helpers import madeup, secondplaces
from test_bench import LAB

DISK = 1 << 31  # sectors
JOURNAL = [[1 << 20, 1 << 21], [1 << 22, 1 << 23]]


def stream(seed: int, count: int, wide: bool) -> list[secondplaces.Request]:
    """Of two devices: here and there, going on, and in the journal; all over the disk if WIDE."""
    rng, now, found = random.Random(seed), 7_000_000, []
    end = 0
    for _ in range(count):
        now += rng.randrange(1, 10 ** rng.randrange(3, 9))
        sector = rng.choice((end, rng.randrange(DISK if wide else 1 << 16), 1 << 20, (1 << 22) + 99))
        sectors = rng.choice((8, 16, 256))
        found.append({"dev": rng.choice(("253:0", "253:1")), "arrival": now, "op": rng.choice("01"),
                      "sector": sector, "sectors": sectors})
        end = sector + sectors
    return found


def counted(requests: list[secondplaces.Request]) -> dict[str, Any]:
    counts = places.Counts(DISK, [(low, high) for low, high in JOURNAL], 7_000_000, "253:0")
    for one in requests:
        counts.take(one["dev"], one["arrival"], one["op"], one["sector"], one["sectors"])
    return counts.found()


@pytest.mark.parametrize("wide", [False, True])
def test_what_is_counted_is_so_request_by_request(wide: bool) -> None:
    for seed in range(5):
        requests = stream(seed, 4000, wide)
        found = counted(requests)
        assert secondplaces.complaints(found, requests, 7_000_000, "253:0", JOURNAL) == []
        # As fine as there is room for: by half the time there would be too many columns.
        last = max(cell[1] for cell in found["cells"])
        assert len(found["cells"]) > 100 and last >= places.COLUMNS // 2


def test_lies_of_what_is_counted_are_found() -> None:
    """Planted: a request less, one later, one elsewhere; another journal; a figure that is off by one."""
    requests = stream(9, 500, False)
    found = counted(requests)

    def wrong(of: dict[str, Any], asked: list[secondplaces.Request], journal: list = JOURNAL) -> int:
        return len(secondplaces.complaints(of, asked, 7_000_000, "253:0", journal))

    assert not wrong(found, requests)
    first = next(at for at, one in enumerate(requests) if one["dev"] == "253:0")
    for change in ({"arrival": requests[first]["arrival"] + 10**10}, {"sector": 1 << 30}):
        assert wrong(found, [*requests[:first], requests[first] | change, *requests[first + 1:]])
    assert wrong(found, requests[:-1]) and wrong(found, requests, JOURNAL[:1])
    for name in ("requests", "jumped_bytes", "journal_requests", "journal_bytes"):
        assert wrong(found | {name: found[name] + 1}, requests) == 1
    assert wrong(found | {"cells": found["cells"][1:]}, requests) == 1
    assert wrong(found | {"jumps": found["jumps"][::-1]}, requests) == 1


def test_the_figures_of_an_operation_follow_and_what_is_incomplete_is_not_known() -> None:
    result = madeup.variants(1, 1)[0]["result"]
    found, told = result["places"], costs.of(result)
    operations, pairs = result["operations"], found["requests"] - 1
    assert told["journal_requests_per_op"] * operations == pytest.approx(found["journal_requests"])
    assert told["journal_bytes_per_op"] * operations == pytest.approx(found["journal_bytes"])
    assert told["going_on_share"] == pytest.approx(found["jumps"][0] / pairs)
    assert told["jump_bytes"] * (pairs - found["jumps"][0]) == pytest.approx(found["jumped_bytes"])
    for less in ({"requests": found["requests"] - 1}, {"lost": 1}):
        short = costs.of(result | {"places": found | less})
        assert [short[name] for name in (*costs.JOURNAL, *costs.JUMPS)] == [None] * 4
    unknown = costs.of(result | {"places": found | {"journal_requests": None, "journal_bytes": None}})
    assert unknown["journal_bytes_per_op"] is None and unknown["jump_bytes"] == told["jump_bytes"]
    runs = madeup.variants(2, 1)
    assert why.untold(runs) == ""
    runs[0]["result"]["places"] = None
    assert why.untold(runs).startswith("Of 1 of 2 runs it is not known")


def test_the_database_has_the_cells(tmp_path: Path) -> None:
    runs = madeup.variants(2, 1)
    for one in runs:
        one["run"]["parts"] = {}
    _database(tmp_path / "r.sqlite", runs)
    with sqlite3.connect(tmp_path / "r.sqlite") as db:
        for one in runs:
            rows = db.execute("SELECT kind, step, place, requests FROM places WHERE run = ? ORDER BY rowid",
                              (one["id"],)).fetchall()
            cells = one["result"]["places"]["cells"]
            assert rows == [(places.KINDS[kind], *cell) for kind, *cell in cells] and cells


@pytest.mark.lab(LAB, *benchrun.PLACES)
@pytest.mark.parametrize("name", benchrun.PLACES)
def test_a_run_tells_where_its_requests_went(lab: Any, name: str) -> None:
    """Of the kernel's own list of them; planted differences are found. To record them changes a run by no
    request, and by no more than a hundred thousandth of its time."""
    found = lab.labs.wait(LAB, {"run": name})
    assert found["wrong"] == [] and all(found["planted"]), found["wrong"]
    went, stats = found["result"]["places"], found["result"]["stats"]
    asked = stats["requests"]
    assert asked["read"] + asked["write"] == went["requests"] == found["requests"] > 50
    assert places.whole(found["result"]) and not found["result"]["wrong"]
    if name == "places-array":
        assert went["journal_requests"] is None
    else:
        # A commit is a flush, and is in the journal before.
        assert went["journal_requests"] >= asked["flush"] > 10
    alone = found["alone"]
    assert alone["places"] is None and alone["stats"]["requests"] == asked
    assert alone["seconds"] == pytest.approx(found["result"]["seconds"], rel=1e-5)
