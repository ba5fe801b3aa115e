# SPDX-License-Identifier: GPL-2.0
"""david calibrate on modelled disks and fio's results. Needs no lab; all profiles: make calibrate-test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import calibrated
import pytest
from davidlib.calibrate import cache, cli, depth, fiojobs, fromfio, heads, layout, rotation
from davidlib.calibrate.simdisk import SimDisk
from davidlib.calibrate.probe import FLUSH, FUA, Answer, Prober, Request
from davidlib.drive import files
from davidlib.util import UserError

TREE = Path(__file__).resolve().parents[2]
SMALL = "hitachi-hds728080pla380"
BUSY = "toshiba-p300-3tb"


def david(*words: object) -> subprocess.CompletedProcess:
    line = [sys.executable, TREE / "tools/david", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True)


def test_a_modelled_drive_gives_its_own_profile_back(tmp_path: Path) -> None:
    found = tmp_path / "found.profile"
    calibrated.calibrate(f"model:{SMALL}", found)
    figures = calibrated.differences(files.find(SMALL), found, 2000)
    assert not [key for key, limit in calibrated.LIMITS.items() if figures[key] > limit], figures
    lines = [line for line in found.read_text().splitlines() if " = " in line and line[0] != "#"]
    assert all(line.partition("\t# ")[2].split(":")[0] in ("measured", "fitted", "reported", "assumed")
               for line in lines)


class Twisted:
    """A modelled disk whose answers are those of another one than the profile that it is held against."""

    def __init__(self, disk: SimDisk) -> None:
        self.disk, self.sectors, self.logical, self.physical = disk, disk.sectors, disk.logical, disk.physical

    def many(self, requests: list[Request], at: int = 0) -> list[Answer]:
        return [Answer(round(a.start * 1.00002), round(a.end * 1.00002))
                for a in self.disk.many(requests, round(at / 1.00002))]


def test_a_motor_20_ppm_slower_is_told_from_the_right_one() -> None:
    with SimDisk(files.find(SMALL)) as disk:
        probe = Prober(Twisted(disk))
        cache.measure(probe)
        spindle = rotation.measure(probe)
    assert spindle and abs(spindle.revolution / (8333333 * 1.00002) - 1) < 1e-7


class Flushing:
    """A modelled disk as Linux shows it: behind each forced write a flush follows."""

    def __init__(self, disk: SimDisk) -> None:
        self.disk, self.sectors, self.logical, self.physical = disk, disk.sectors, disk.logical, disk.physical

    def many(self, requests: list[Request], at: int = 0) -> list[Answer]:
        if not any(request.flags & FUA for request in requests):
            return self.disk.many(requests, at)
        found = []
        for n, request in enumerate(requests):
            [answer] = self.disk.many([request], 0 if n else at)
            found.append(Answer(answer.start, self.disk.many([Request(FLUSH, 0, 0)])[0].end))
        return found

    def deep(self, requests: list[Request], depth: int) -> list[Answer]:
        return self.disk.deep(requests, depth)


def test_a_flush_behind_each_forced_write_is_no_part_of_settling() -> None:
    """It takes more than a revolution here."""
    with SimDisk(files.find(SMALL), ["flush_overhead=15ms"]) as disk:
        draft = cli.survey(Flushing(disk), True, "flushing", "")
    found = {line.name: line.value for line in draft.lines}
    assert abs(calibrated.number(found["write_settle"].replace(" ", "")) - 0.7e6) < 0.1e6
    overhead = calibrated.number(found["overhead_write_miss_after_read"].replace(" ", ""))
    assert overhead < 0.5e6


def test_where_forced_writes_go_elsewhere_their_settling_is_assumed() -> None:
    with SimDisk(files.find("seagate-st8000as0002")) as disk:
        draft = cli.survey(disk, True, "shingled", "")
    found = {line.name: line.source for line in draft.lines}
    assert found["write_settle"] == found["settle_on_switch"] == "assumed"


@pytest.mark.parametrize(("option", "figure", "value"), [
    ("segments=7", "segments", 7), ("segment_sectors=300KiB", "segment", 600),
    ("readahead_stream=0,readahead_max=111KiB", "ahead_stream", 222), ("readahead_stream=80KiB", "turn", 160),
])
def test_what_the_cache_is_given_is_found(option: str, figure: str, value: int) -> None:
    with SimDisk(files.find(SMALL), option.split(",")) as disk:
        found = cache.measure(Prober(disk))
    assert found and getattr(found, figure) == value, found


@pytest.mark.parametrize(("options", "name", "value"), [
    ("ncq_unseen=3", "ncq_unseen", "3"), ("ncq_unseen=0", "ncq_unseen", "0"),
    ("ncq_depth=20,ncq_unseen=2", "ncq_depth", "20"), ("ncq_depth=1", "ncq_depth", "1"),
    ("ncq_fair=8,ncq_unseen=4", "ncq_fair", "8"), ("ncq_fair=5", "ncq_fair", "5"),
    ("ncq_fair=0", "ncq_fair", "0"),
])
def test_how_a_drive_chooses_is_seen_in_the_order_of_its_answers(options: str, name: str, value: str) -> None:
    draft = fromfio.base(SMALL, None)
    with SimDisk(files.find(SMALL), options.split(",")) as disk, depth.Fitter(draft) as fitter:
        depth.fit_choice(fitter, Prober(disk))
    assert {line.name: line.value for line in draft.lines}[name] == value


@pytest.mark.parametrize(("limit", "low", "high"), [("400 ms", 360, 440), ("700 ms", 665, 735)])
def test_how_long_a_command_may_wait_is_found(limit: str, low: int, high: int) -> None:
    draft = fromfio.base(BUSY, None)
    with SimDisk(files.find(BUSY), [f"ncq_age_limit={limit}"]) as disk, depth.Fitter(draft) as fitter:
        depth.fit_choice(fitter, Prober(disk))
    found = {line.name: line.value for line in draft.lines}["ncq_age_limit"]
    assert low <= int(found.removesuffix(" ms")) <= high


@pytest.mark.parametrize("profile", [
    "generic-500gb-7200",  # a seek of one cylinder is a head's switch; all zones have as many cylinders
    "hitachi-hds728080pla380",
])
def test_heads_are_counted_where_skews_do_not_tell(profile: str) -> None:
    with SimDisk(files.find(profile)) as disk:
        probe = Prober(disk)
        found_cache = cache.measure(probe)
        plan = layout.measure(probe, rotation.measure(probe))
        found = plan.heads if plan.heads_known else heads.count(probe, plan, found_cache)
    assert found == int(calibrated.Drive(files.find(profile)).value("heads"))


def test_without_a_cache_none_is_found() -> None:
    with SimDisk(files.find(SMALL), ["write_cache=off", "readahead=none", "read_cache=no"]) as disk:
        assert cache.measure(Prober(disk)) is None


def fio(rw: str, bs: str, depth: int, rate: float, error: int = 0) -> dict:
    ways = {"read": {"iops": rate if "read" in rw else 0}, "write": {"iops": rate if "write" in rw else 0}}
    options = {"rw": rw, "bs": bs, "iodepth": str(depth)}
    return {"jobname": f"{rw}{depth}", "error": error, "job options": options, **ways}


def written(path: Path, *jobs: dict) -> Path:
    path.write_text("fio: a warning\n" + json.dumps({"jobs": jobs}))
    return path


def test_fio_results_are_fitted_and_the_others_are_held_beside(tmp_path: Path) -> None:
    results = written(tmp_path / "fio.json", fio("read", "1m", 1, 136.4), fio("randread", "4k", 1, 57.6),
                      fio("randread", "4k", 8, 78.6), fio("randread", "4k", 32, 93.6))
    out = tmp_path / "fitted.profile"
    done = david("calibrate", "--from", results, "--profile", "toshiba-p300-3tb", "--size", "2TB", "-o", out)
    assert not done.returncode, done.stderr
    rows = {line[:45].strip(): line.split() for line in done.stdout.splitlines()[1:]}
    for name, row in rows.items():
        assert (row[-1] == "no") == name.endswith("depth 8"), row
        assert row[-1] == "no" or abs(float(row[-2])) < 3, row
    assert not david("profile", "check", out).returncode


RANDREAD = {"rw": "randread", "bs": "4k", "iodepth": "8", "ioengine": "libaio", "direct": "1"}


@pytest.mark.parametrize(("more", "expected"), [
    ({}, ("random reads of 4 KiB, depth 8", 0)),
    ({"bs": None, "blocksize": "64k"}, ("random reads of 64 KiB, depth 8", 0)),
    ({"bs": "4096B"}, ("random reads of 4 KiB, depth 8", 0)),
    ({"bs": "4kb,4kb"}, ("random reads of 4 KiB, depth 8", 0)),
    ({"rw": None, "readwrite": "randwrite"}, ("random writes of 4 KiB, depth 8", 1)),
    ({"rw": "randrw", "rwmixwrite": "30"}, ("random reads and writes of 4 KiB, depth 8", 0.3)),
    ({"rw": "randrw", "rwmixread": "70"}, ("random reads and writes of 4 KiB, depth 8", 0.3)),
    # Synchronous engines, and fio's default is one, have one request at a time.
    ({"ioengine": "psync"}, ("random reads of 4 KiB, depth 1", 0)),
    ({"ioengine": "sync", "numjobs": "4"}, ("random reads of 4 KiB, depth 4", 0)),
    ({"ioengine": None, "iodepth_level": {"1": 100.0}}, ("random reads of 4 KiB, depth 1", 0)),
    ({"iodepth_level": {"1": 100.0}}, "iodepth=8, and most of the time it had one request"),
    ({"ioengine": "rados"}, "ioengine=rados: how many requests it has at a time"),
    ({"size": "50%"}, "size=50%: of how much is not told"),
    ({"bs": "4k,64k"}, "bs=4k,64k is several sizes"),
    ({"rw": "randread:8"}, "rw=randread:8 is none of"),
    ({"filename": "/dev/sda:/dev/sdb"}, "filename=/dev/sda:/dev/sdb is several files"),
    *[({name: value}, f"{name}={value}: what a job with that option asks of the disk is not known here")
      for name, value in {"bsrange": "4k-64k", "bssplit": "4k/50:64k/50", "rate_iops": "10", "rate": "1m",
                          "random_distribution": "zipf:1.2", "offset": "500G", "direct": "0", "buffered": "1",
                          "sync": "1", "thinktime": "100", "iodepth_batch_complete_min": "8",
                          "zonemode": "zbd", "an_option_of_tomorrow": "1"}.items()],
])
def test_an_option_of_fio_that_changes_the_job_is_read_or_refused_by_name(
        more: dict, expected: tuple[str, float] | str, tmp_path: Path) -> None:
    options = {name: value for name, value in (RANDREAD | more).items() if value is not None}
    beside = {"iodepth_level": options.pop("iodepth_level", {"8": 100.0})}
    job = fio("randread", "4k", 8, 90) | {"job options": options} | beside
    job["write"] = {"iops": 1.0}
    results = written(tmp_path / "fio.json", job)
    if isinstance(expected, str):
        with pytest.raises(UserError) as raised:
            fiojobs.load(str(results))
        assert f"job randread8: {expected}" in str(raised.value)
        return
    found, = fiojobs.load(str(results))
    assert (found.kind, round(found.writes, 6)) == expected


def test_who_did_not_say_direct_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fiojobs.load(str(written(tmp_path / "fio.json", fio("randread", "4k", 1, 90))))
    assert "randread1: no direct=1, so fio's default is the page cache" in capsys.readouterr().err
    job = fio("randread", "4k", 1, 90) | {"job options": RANDREAD | {"iodepth": "1"}}
    fiojobs.load(str(written(tmp_path / "fio.json", job)))
    assert not capsys.readouterr().err


@pytest.mark.parametrize(("words", "because"), [
    (["-o", "OUT"], "name a device"),
    (["model:none", "-o", "OUT"], "there is no profile 'none'"),
    (["/dev/null", "-o", "OUT"], "no block device"),
    (["/dev/nothing", "-o", "OUT"], "no such device"),
    ([f"model:{SMALL}", "-o", "/none/OUT"], "no directory"),
    (["--from", "FIO", "-o", "OUT"], "--from needs --profile"),
    (["--from", "/none", "--profile", SMALL, "-o", "OUT"], "--from /none: No such file"),
    (["--from", "FIO", "--profile", SMALL, "-o", "OUT"], "job randread1: it ended with error 5"),
])
def test_bad_input_is_named_and_nothing_is_left(tmp_path: Path, words: list[str], because: str) -> None:
    failed = written(tmp_path / "fio.json", fio("randread", "4k", 1, 50, error=5))
    names = {"OUT": str(tmp_path / "out.profile"), "FIO": str(failed)}
    done = david("calibrate", *(names.get(word, word) for word in words))
    assert done.returncode == 1 and because in done.stderr, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["fio.json"]
