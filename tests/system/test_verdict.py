# SPDX-License-Identifier: GPL-2.0
"""The verdict on a disk's times, figures since an earlier look, and a line of `david top`. Needs no lab."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from davidlib.disk import baseline, check, lateness, stats, top
from davidlib.disk.dm import DeviceError

MS = 10**6


def figures(mode: str = "timing-accurate", **kinds: tuple[int, int, int, int]) -> dict:
    """Of a disk with a profile: by kind of request, how many, modelled and late ns of each, how many over."""
    found = stats.as_dict(stats.Struct())
    found["mode"], found["mem"]["model"], found["created"] = mode, 1, 1
    found["late"] = [0] * stats.BUCKETS
    for kind, (count, modelled, late, over) in kinds.items():
        found["delivered"][kind] = count
        found["delivered_ns"][kind] = count * modelled
        found["delivered_late_ns"][kind] = count * late
        found["delivered_over"][kind] = over
        found["late"][(late // 1000).bit_length()] += count
    return found


@pytest.mark.parametrize(
    ("kinds", "good"),
    [
        ({"read": (1000, 12 * MS, 1700, 0)}, True),
        # make demo's random reads, which nothing told of: 79.7 a second modelled, 49.7 delivered.
        ({"read": (100, 12_547_000, 7_573_000, 90)}, False),
        # Late reads do not hide behind writes that wait in a long queue.
        ({"write": (5000, 418 * MS, 1000, 0), "read": (961, 10 * MS, 8 * MS, 950)}, False),
        ({"write": (5000, 418 * MS, 1000, 0), "read": (961, 10 * MS, 100_001, 0)}, False),
        # One late flush among thousands of requests changes nothing.
        ({"write": (5000, 4 * MS, 1000, 0), "flush": (1, 4 * MS, 4 * MS, 1)}, True),
        # Totals are right, and every hundredth request is not.
        ({"read": (1000, 10 * MS, 50_000, 11)}, False),
        ({"read": (1000, 10 * MS, 50_000, 10)}, True),
        # find: one empty flush among few reads, late by half a microsecond or by four.
        ({"read": (21, 8 * MS, 300, 0), "flush": (1, 50_000, 510, 0)}, True),
        ({"read": (21, 8 * MS, 300, 0), "flush": (1, 50_000, 4000, 1)}, True),
        # Late by more than a hundredth of what a read takes: as much as the whole run, were it one read.
        ({"read": (21, 8 * MS, 300, 0), "flush": (1, 50_000, 81_000, 1)}, False),
        # Two of 22 that are late by much of their time.
        ({"read": (21, 8 * MS, 300, 0), "flush": (2, 50_000, 20_000, 2)}, False),
        # One read of many is late by a tenth; half of a few are.
        ({"read": (50, 10 * MS, 20_000, 1)}, True),
        ({"read": (4, 10 * MS, 90_000, 2)}, False),
        ({"read": (1, 10 * MS, 101_000, 0)}, False),
        # Flushes are one request in 112, and most of the time.
        ({"read": (1000, 100_000, 100, 0), "flush": (9, 15 * MS, 5 * MS, 9)}, False),
    ],
)
def test_times_are_trusted_only_if_no_kind_of_request_comes_late(kinds: dict, good: bool) -> None:
    verdict = lateness.verdict(figures(**kinds))
    assert verdict.good is good, verdict
    assert ("--virtual-time" in verdict.text) is not good


def test_nobody_is_told_to_use_the_virtual_time_that_he_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    late = figures(read=(100, 12_547_000, 7_573_000, 90))
    monkeypatch.setenv("DAVID_LAB_VIRTUAL_TIME", "1")
    assert "--virtual-time" not in lateness.verdict(late).text
    monkeypatch.setenv("DAVID_LAB_VIRTUAL_TIME", "0")
    assert "--virtual-time" in lateness.verdict(late).text


def test_what_is_said_to_be_added_is_of_the_run_and_not_of_a_short_request() -> None:
    text = lateness.verdict(figures(read=(21, 8 * MS, 8000, 0), flush=(1, 50_000, 4000, 1))).text
    assert text.startswith("trustworthy: 22 requests") and text.endswith("at most 0.1 % longer")


def test_the_verdict_names_the_share_the_bound_and_both_times() -> None:
    text = lateness.verdict(figures(read=(100, 12 * MS, 8 * MS, 100))).text
    assert text.startswith("not to be believed: 100 % of requests came more than 4096 us later than modelled")
    assert "a read took 20 ms where 12 ms were modelled" in text


@pytest.mark.parametrize(("mode", "says"), [("speedup", "added up"), ("model-only", "backing device"),
                                            ("timing-accurate", "so far")])
def test_without_a_request_that_was_waited_for_there_is_nothing_to_judge(mode: str, says: str) -> None:
    verdict = lateness.verdict(figures(mode))
    assert verdict.good is None and says in verdict.text


def test_a_fill_in_speedup_does_not_hide_what_came_late_after_it() -> None:
    found = figures(read=(100, 10 * MS, 10 * MS, 100))
    found["modelled"]["write"], found["modelled_ns"]["write"] = 10**6, 10**6 * 400 * MS
    assert lateness.verdict(found).good is False


def test_a_difference_is_of_what_was_counted_and_keeps_what_is_so_now() -> None:
    then = figures(read=(10, 10 * MS, 3_000, 0)) | {"store_used": 9, "late_max": 5000}
    then["requests"]["read"] = 10
    now = copy.deepcopy(then) | {"store_used": 4}
    now["delivered"]["read"], now["requests"]["read"], now["late"][1] = 30, 30, 20
    part = baseline.difference(now, then)
    assert (part["requests"]["read"], part["delivered"]["read"], part["store_used"]) == (20, 20, 4)
    assert sum(part["late"]) == 20 and part["late_max"] == 2000
    assert baseline.difference(now, now)["late_max"] == 0


@pytest.mark.parametrize(
    ("reset_after", "since", "kept"),
    [
        (None, None, True),  # the whole life
        (None, 0, True),
        (None, 20, False),  # it said that 200 pages were touched where nothing was asked
        (20, 20, True),
        (20, 0, False),
        (20, 5, False),
        (20, None, False),  # --all
    ],
)
def test_places_are_left_out_of_figures_of_other_requests(
    reset_after: int | None, since: int | None, kept: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def after(count: int) -> dict:
        found = figures() | {"name": "big"}
        found["requests"]["write"], found["reach"]["pages"] = count, count
        return found

    monkeypatch.setattr(baseline, "MARKS", tmp_path / "marks")
    if reset_after is not None:
        baseline.set_mark("big", after(reset_after))
    now = after(30)
    shown = copy.deepcopy(now)
    baseline.without_other_reach(shown, now, None if since is None else after(since))
    assert shown["reach"] == (now["reach"] if kept else dict.fromkeys(now["reach"], 0))


@pytest.mark.parametrize("then", [{}, {"requests": 3}, figures(read=(999, 1, 1, 0))])
def test_figures_of_something_else_are_refused(then: dict) -> None:
    with pytest.raises(DeviceError, match="earlier figures"):
        baseline.difference(figures(read=(10, 1, 1, 0)), then)


@pytest.mark.parametrize("made", [2, 0])
def test_figures_of_a_disk_that_was_made_again_are_refused_though_it_did_more_since(made: int) -> None:
    then = figures(read=(10, 1, 1, 0))
    with pytest.raises(DeviceError, match="made again meanwhile"):
        baseline.difference(figures(read=(30, 1, 1, 0)) | {"created": made}, then | {"created": min(made, 1)})


def test_check_of_a_disk_that_was_asked_nothing_is_not_valid() -> None:
    found = figures(read=(10, 10 * MS, 1000, 0))
    assert not check.asked(found).good
    found["requests"]["flush"] = 1
    assert check.asked(found) == check.Finding("requests", True, "1")


@pytest.mark.parametrize("bad", ["state", "nospc", "errors", "spilled", "unmodelled", "late"])
def test_check_finds_whatever_is_wrong(bad: str) -> None:
    found = figures(read=(10, 10 * MS, 10 * MS if bad == "late" else 1000, 10 if bad == "late" else 0))
    assert check.valid(check.findings(figures(read=(10, 10 * MS, 1000, 0))))
    if bad == "state":
        found["state"] = "full"
    elif bad == "spilled":
        found["unclassified"]["spilled"] = 1
    elif bad in found:
        found[bad] = 1 if bad != "late" else found[bad]
    assert not check.valid(check.findings(found))


@pytest.mark.parametrize(
    ("reads", "pages", "nothing", "writes", "good"),
    [
        (500, 500, 500, 0, False),  # a new SSD: 23 us a read instead of 106, and check said "valid"
        (500, 500, 60, 0, False),
        (500, 500, 40, 0, True),
        (500, 500, 0, 0, True),
        (30, 240, 240, 5000, True),  # who looks for a file system, beside writes
        (2000, 2000, 2000, 5000, False),
        (0, 0, 0, 5000, True),
    ],
)
def test_a_run_that_read_what_was_never_written_is_not_valid(
    reads: int, pages: int, nothing: int, writes: int, good: bool
) -> None:
    found = figures(read=(reads, MS, 0, 0), write=(writes, MS, 0, 0))
    found["modelled"] |= {"read": reads, "write": writes}
    found["requests"]["read"], found["read_pages"], found["flash"]["empty_reads"] = 1, pages, nothing
    said = check.of_run(found)
    assert check.valid(said) is good, said
    assert [one.what for one in said if not one.good] == ([] if good else ["empty reads"])


@pytest.mark.parametrize(("fault", "count", "good"), [
    ("media_read", 100, False), ("timeout", 100, False), ("gone", 99, True), ("slowed", 1000, True),
])
def test_a_run_of_which_the_drive_failed_a_tenth_is_not_valid(fault: str, count: int, good: bool) -> None:
    """As of david bench and david-sim bench."""
    found = figures(read=(1000, MS, 0, 0))
    found["requests"]["read"], found["faults"][fault] = 1000, count
    said = check.of_run(found)
    assert [one.what for one in said if not one.good] == ([] if good else ["failed"]), said


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({}, ""),
        ({"name": "other"}, "of the disk other, not of big"),
        # Of 120 reads 100 were before the reset: 125 - 20 is nothing that was ever counted.
        ({"since": "since the reset at 2030-01-01 00:00:14"}, "those since the reset at .* --all --json"),
    ],
)
def test_earlier_figures_are_of_the_whole_life_of_this_disk(tmp_path: Path, said: dict, says: str) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps({"name": "big", "requests": {"read": 20}} | said))
    if not says:
        assert baseline.read_file(str(file), "big")["requests"] == {"read": 20}
        return
    with pytest.raises(DeviceError, match=says):
        baseline.read_file(str(file), "big")


def test_top_goes_on_when_a_disk_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """It begins anew: the older one had more reads in an interval, or fewer, than the new one has in all."""
    reads = {"old": 100, "other": 0}
    disks = {"a": "old", "b": "other"}
    made = ("old", "other", "new", "newer")
    empty = figures()

    def fetch(name: str) -> str:
        if name not in disks:
            raise DeviceError(f"NAME {name}: no such device")
        return disks[name]

    def counted(disk: str) -> dict:
        found = copy.deepcopy(empty)
        found["requests"]["read"] = reads[disk]
        return found | {"name": disk, "created": 1 + made.index(disk)}

    monkeypatch.setattr(stats, "fetch", fetch)
    monkeypatch.setattr(stats, "as_dict", counted)
    monkeypatch.setattr(top, "need_disk", lambda name: None)
    monkeypatch.setattr(top.time, "sleep", lambda seconds: happens.pop(0)())
    happens = [
        lambda: reads.update(old=105),
        lambda: (disks.update(a="new"), reads.update(new=300, other=1)),
        lambda: (disks.update(a="newer"), reads.update(newer=7, other=2)),
        lambda: reads.update(newer=8),
        lambda: disks.pop("a"),
    ]
    shown = [[(row["name"], row["read_per_s"] > 0) for row in rows] for rows in top.rows(["a", "b"], 1, 5)]
    assert shown == [
        [("old", True), ("other", False)],
        [("other", True)],
        [("other", True)],
        [("newer", True), ("other", False)],
        [("other", False)],
    ]


def test_a_line_of_top_is_rates_of_its_interval() -> None:
    before = figures() | {"store_used": 1, "store_blocks": 100, "block_size": 4096}
    after = copy.deepcopy(before) | {"store_used": 2, "busy_ns": 10**9}
    after["requests"]["read"], after["sectors"]["read"] = 100, 800
    after["modelled"]["read"], after["modelled_ns"]["read"] = 100, 100 * 40 * MS
    after["parts"]["seek"] = 5 * 10**8
    row = top.sample(before, after, 2 * 10**9)
    assert (row["read_per_s"], row["read_bytes_per_s"], row["read_ms"]) == (50, 800 * 512 / 2, 40)
    # 50 a second of 40 ms each: two at a time, on average.
    assert (row["queue"], row["busy"], row["parts"]["seek"], row["store_bytes"]) == (2, 0.5, 0.25, 8192)
    assert row["write_ms"] is None and row["trustworthy"] is None
    # 16 commands at a time, for half of the time: their waits share it.
    after["parts"] |= {"seek": 0, "transfer": 4 * 10**9, "queued": 12 * 10**9}
    parts = top.sample(before, after, 2 * 10**9)["parts"]
    assert (parts["transfer"], parts["queued"], sum(parts.values())) == (0.125, 0.375, 0.5)
    assert len(top.line(row)) > 100
    # In 80 columns, whatever the figures are.
    wide = row | {"name": "a" * 40, "late_ms": 99999.7, "write_ms": 123456.7, "trustworthy": False,
                  "busy": 1.0, "queue": 12345.0, "read_bytes_per_s": 9e11, "read_per_s": 1234567.0,
                  "store_share": 1.0}
    for one, end in ((row, " -"), (wide, " 100000!")):
        text = top.narrow_line(one, "23:59:59")
        assert len(text) <= 80 and text.rindex(end) == top.NARROW.index(" late"), text
    assert top.narrow_line(row | {"name": "big"}, "00:00:00").split() == [
        "00:00:00", "big", "50.00", "0.00", "0.20", "0.00", "40.00", "-", "2.00", "50%", "2%", "-"]
