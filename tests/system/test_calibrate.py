# SPDX-License-Identifier: GPL-2.0
"""david calibrate on modelled disks and fio's results. Needs no lab; all profiles: make calibrate-test."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import calibrated
import fiofits
import pytest
from davidlib.calibrate import cache, cli, depth, fiojobs, fiomodel, fitdisk, fromfio, heads, layout, rotation
from davidlib.calibrate.simdisk import SimDisk
from davidlib.calibrate.probe import FLUSH, FUA, Answer, Prober, Request
from davidlib.drive import files
from davidlib.util import UserError

TREE = Path(__file__).resolve().parents[2]
SMALL = "hitachi-hds728080pla380"
BUSY = "toshiba-p300-3tb"
SELDOM = pytest.mark.seldom


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


@pytest.mark.seldom
def test_a_flush_behind_each_forced_write_is_no_part_of_settling() -> None:
    """It takes more than a revolution here."""
    with SimDisk(files.find(SMALL), ["flush_overhead=15ms"]) as disk:
        draft = cli.survey(Flushing(disk), True, "flushing", "")
    found = {line.name: line.value for line in draft.lines}
    assert abs(calibrated.number(found["write_settle"].replace(" ", "")) - 0.7e6) < 0.1e6
    overhead = calibrated.number(found["overhead_write_miss_after_read"].replace(" ", ""))
    assert overhead < 0.5e6


@pytest.mark.seldom
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
    ("ncq_unseen=3", "ncq_unseen", "3"),
    pytest.param("ncq_unseen=0", "ncq_unseen", "0", marks=SELDOM),
    ("ncq_depth=20,ncq_unseen=2", "ncq_depth", "20"),
    pytest.param("ncq_depth=1", "ncq_depth", "1", marks=SELDOM),
    ("ncq_fair=8,ncq_unseen=4", "ncq_fair", "8"),
    pytest.param("ncq_fair=5", "ncq_fair", "5", marks=SELDOM),
    ("ncq_fair=0", "ncq_fair", "0"),
])
def test_how_a_drive_chooses_is_seen_in_the_order_of_its_answers(options: str, name: str, value: str) -> None:
    draft = fromfio.base(SMALL, None)
    with SimDisk(files.find(SMALL), options.split(",")) as disk, depth.Fitter(draft) as fitter:
        depth.fit_choice(fitter, Prober(disk))
    assert {line.name: line.value for line in draft.lines}[name] == value


@pytest.mark.parametrize(("limit", "low", "high"), [
    pytest.param("400 ms", 360, 440, marks=pytest.mark.seldom),
    ("700 ms", 665, 735),
])
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
    beside = written(tmp_path / "beside.json", fio("randread", "4k", 2, 59.9))
    done = david("calibrate", "--from", results, "--profile", "toshiba-p300-3tb", "--size", "2TB", "-o", out,
                 "--beside", beside, "--only", "reads")
    assert not done.returncode, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.endswith(("  yes", "  no"))]
    assert [row[-1] for row in rows] == ["yes", "yes", "yes", "yes", "no"]
    assert "for reads alone: writes are as of toshiba-p300-3tb" in done.stdout
    assert all(abs(float(row[-2])) < fromfio.FITTED_LIMIT for row in rows), done.stdout
    assert all(abs(float(row[-2])) < 3 for row in rows if row[5:7] == ["depth", "1"]), done.stdout
    assert not david("profile", "check", out).returncode


def calibrated_from(tmp_path: Path, base: str, *jobs: dict,
                    more: tuple[str, ...] = ()) -> tuple[int, str, Path]:
    """The exit status, what is printed, and the profile."""
    out = tmp_path / "fitted.profile"
    done = david("calibrate", "--from", written(tmp_path / "fio.json", *jobs), "--profile", base, "-o", out,
                 "--force", *more)
    assert done.returncode in (0, 2), done.stderr
    return done.returncode, done.stdout, out


def test_the_best_of_what_was_tried_is_taken_and_what_stays_off_is_told(tmp_path: Path) -> None:
    """No window of this drive comes to 419 a second: the smallest one, which was tried last, comes to 162."""
    status, said, out = calibrated_from(tmp_path, "toshiba-p300-3tb", fio("randread", "4k", 10, 419))
    row = next(line for line in said.splitlines() if "depth 10" in line).split()
    assert float(row[-3]) > 200, said
    far = float(row[-2])
    assert far < -10 and status == 2
    assert "NOT TO BE BELIEVED: random reads of 4 KiB, depth 10: the model comes to" in said
    head = [line for line in out.read_text().splitlines() if line.startswith("#")]
    assert any("NOT TO BE BELIEVED" in line and f"{far:+.0f} %" in line for line in head)


def test_others_that_are_far_off_make_the_profile_one_that_is_not_to_be_believed(tmp_path: Path) -> None:
    """A drive whose random reads of 64 KiB are twice as fast as those of 4 KiB is none."""
    status, said, _ = calibrated_from(tmp_path, "toshiba-p300-3tb", fio("randread", "4k", 1, 58),
                                      fio("randread", "64k", 1, 116))
    assert status == 2
    assert "NOT TO BE BELIEVED: reads that nothing was fitted to are" in said


@pytest.mark.parametrize(("given", "more", "expected"), [
    ((("randread", "4k", 1), ("randread", "4k", 2)), ("--only", "reads"), ""),
    ((("randread", "4k", 1), ("randread", "4k", 2), ("randwrite", "4k", 1)), (), ""),
    ((("randread", "4k", 1), ("randread", "4k", 2)), (), "no job tells anything of writes, and they do"),
    ((("randwrite", "4k", 1), ("randwrite", "4k", 4)), (), "no job tells anything of reads, and they do"),
    ((("randread", "4k", 1), ("randwrite", "4k", 1)), (), "every job was used to fit: nothing tells how far"),
    ((("randread", "4k", 1), ("randwrite", "4k", 1)), ("--only", "reads"), "every job was used to fit"),
])
def test_a_profile_is_vouched_for_by_jobs_of_its_kind_that_nothing_was_fitted_to(
        tmp_path: Path, given: tuple[tuple[str, str, int], ...], more: tuple[str, ...],
        expected: str) -> None:
    jobs = modelled(tmp_path, SMALL, *((*job, 0) for job in given))
    status, said, _ = calibrated_from(tmp_path, SMALL, *jobs, more=more)
    assert status == (2 if expected else 0), said
    assert f"NOT TO BE BELIEVED: {expected}" in said if expected else "NOT TO" not in said


def test_writes_that_are_far_off_are_not_hidden_by_many_reads(tmp_path: Path) -> None:
    jobs = modelled(tmp_path, SMALL, *(("randread", "4k", 1, 0),) * 12, ("randwrite", "4k", 1, 0))
    jobs[-1]["write"]["iops"] /= 2
    beside = written(tmp_path / "beside.json", *jobs[1:])
    status, said, _ = calibrated_from(tmp_path, SMALL, jobs[0], more=("--beside", str(beside)))
    assert status == 2
    assert re.search("BELIEVED: writes that nothing was fitted to are (99|100|101) % off", said), said


def test_what_the_jobs_do_not_tell_is_named_with_the_job_that_would(tmp_path: Path) -> None:
    _, said, out = calibrated_from(tmp_path, "toshiba-p300-3tb", fio("randread", "4k", 1, 58))
    for named in ("zone, cylinders: needs sequential reads",
                  "ncq_depth, ncq_rotation: needs random reads at a depth of more than 2",
                  "write_segments, write_settle: needs random writes",
                  "flush_overhead: needs writes with fsync"):
        line = f"not determined by these jobs, and as of toshiba-p300-3tb: {named}"
        assert line in said and f"# {line}\n" in out.read_text()
    assert "as of toshiba-p300-3tb: seek" not in said


# Of a drive that is made up: the base with other values. Its rates are the model's.
SSD, SSD_BASE = "samsung-pm883", "samsung-860-pro"
SSD_JOBS = (("randread", "4k", 1, 0), ("randread", "4k", 32, 0), ("randread", "128k", 8, 0),
            ("write", "128k", 8, 0), ("randwrite", "4k", 1, 0), ("randwrite", "4k", 32, 0),
            ("randwrite", "4k", 1, 1), ("randread", "4k", 4, 0), ("randwrite", "4k", 4, 0))


def modelled(tmp_path: Path, profile: str, *jobs: tuple[str, str, int, int], options: tuple[str, ...] = (),
             waits: bool = False, **more: str) -> list[dict]:
    """What fio would say of a modelled drive."""
    found, draft = [], fromfio.base(profile, None, options)
    with fiomodel.Model() as model:
        for rw, bs, deep, fsync in jobs:
            job = fio(rw, bs, deep, 1.0)
            job["job options"] |= more | ({"fsync": str(fsync)} if fsync else {})
            [parsed] = fiojobs.load(str(written(tmp_path / "asked.json", job)))
            way = "write" if "write" in rw else "read"
            job[way]["iops"] = model.rate(draft, parsed)
            if waits and deep > 1:
                job[way]["clat_ns"] = {"percentile": {
                    f"{percent:f}": model.wait(draft, parsed, percent) * 1000 for percent in fiomodel.WAITS}}
            found.append(job)
    return found


def test_how_long_reads_wait_tells_fairness_and_the_limit_of_age(tmp_path: Path) -> None:
    """Without percentiles both stay the base's, which has neither the one nor the other."""
    other = ("ncq_fair=8", "ncq_age_limit=900ms")
    jobs = modelled(tmp_path, "generic-500gb-7200", ("randread", "4k", 1, 0), ("randread", "4k", 8, 0),
                    ("randread", "4k", 32, 0), options=other, waits=True)
    draft, _ = fromfio.fit(fromfio.base("generic-500gb-7200", None),
                           fiojobs.load(str(written(tmp_path / "fio.json", *jobs))))
    assert fiomodel.value(draft, "ncq_fair") == "8"
    assert 750 <= int(fiomodel.value(draft, "ncq_age_limit").removesuffix("ms")) <= 1100
    with fiomodel.Model() as model:
        for job in fiojobs.load(str(tmp_path / "fio.json")):
            assert abs(model.rate(draft, job) / job.rate - 1) < 0.08


@pytest.mark.parametrize("unseen", [5, pytest.param(1, marks=SELDOM)])
def test_how_short_reads_wait_tells_what_is_left_out(unseen: int, tmp_path: Path) -> None:
    """A rate does not: without percentiles the base's stays, which leaves out nothing."""
    base = fromfio.base("generic-500gb-7200", None)
    jobs = modelled(tmp_path, "generic-500gb-7200", ("randread", "4k", 1, 0), ("randread", "4k", 32, 0),
                    options=(f"ncq_unseen={unseen}", "ncq_rotation=0.3"), waits=True)
    draft, _ = fromfio.fit(base, fiojobs.load(str(written(tmp_path / "fio.json", *jobs))))
    assert fiomodel.value(draft, "ncq_unseen") == str(unseen)
    del jobs[1]["read"]["clat_ns"]["percentile"]["1.000000"]
    draft, _ = fromfio.fit(base, fiojobs.load(str(written(tmp_path / "fio.json", *jobs))))
    assert fiomodel.value(draft, "ncq_unseen") == "0"
    missing = fromfio.undetermined(draft, fiojobs.load(str(tmp_path / "fio.json")))
    assert any(line.startswith("ncq_unseen: needs") and "percentiles" in line for line in missing)


def test_a_drive_that_chooses_from_many_and_gains_little_has_long_short_seeks(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rule a window of few commands is fitted, as a rate says: depths in between are off."""
    drive, base = "hgst-hts721010-100gb", fromfio.base("generic-500gb-7200", None)
    jobs = modelled(tmp_path, drive, ("randread", "4k", 1, 0), ("randread", "4k", 32, 0), waits=True)
    given = fiojobs.load(str(written(tmp_path / "fio.json", *jobs)))
    others = modelled(tmp_path, drive, *(("randread", "4k", deep, 0) for deep in (4, 8, 16)))
    held = fiojobs.load(str(written(tmp_path / "held.json", *others)))

    def worst() -> tuple[int, float]:
        draft, _ = fromfio.fit(base, given)
        with fiomodel.Model() as model:
            off = max(abs(model.rate(draft, job) / job.rate - 1) for job in held)
            assert abs(model.rate(draft, given[0]) / given[0].rate - 1) < 0.02
        return int(fiomodel.value(draft, "ncq_depth")), off

    window, off = worst()
    assert window >= 31 and off < 0.03
    monkeypatch.setattr(fitdisk, "_by_short_seeks", lambda model, draft, jobs, best: (draft, best))
    window, off = worst()
    assert window < 16 and off > 0.06


def test_how_an_ssd_was_written_is_what_the_user_says(tmp_path: Path) -> None:
    how = ("precondition=random", "precondition_fill=0.1")
    asked = (("randread", "4k", 1, 0), ("randread", "4k", 32, 0), ("randread", "64k", 16, 0),
             ("randread", "128k", 8, 0))
    jobs = modelled(tmp_path, "samsung-970-pro", *asked, options=how, size="5g")
    [in_order] = modelled(tmp_path, "samsung-970-pro", asked[2], size="5g")
    assert in_order["read"]["iops"] > 1.5 * jobs[2]["read"]["iops"]
    words = [word for option in how for word in ("--option", option)]
    status, said, out = calibrated_from(tmp_path, "samsung-970-pro", *jobs, more=("--only", "reads", *words))
    assert status == 0, said
    text = out.read_text()
    assert re.search(r"^precondition = random\t# given$", text, re.M)
    assert re.search(r"^precondition_fill = 0.1\d*\t# given$", text, re.M)
    jobs[2]["read"]["iops"] /= 2
    status, said, out = calibrated_from(tmp_path, "samsung-970-pro", *jobs, more=("--only", "reads"))
    assert status == 2 and 'say so by "--option precondition=random"' in said
    assert re.search(r"^precondition = fresh\t# assumed", out.read_text(), re.M)


def test_an_ssd_is_fitted_from_another_ones_profile(tmp_path: Path) -> None:
    status, said, out = calibrated_from(tmp_path, SSD_BASE, *modelled(tmp_path, SSD, *SSD_JOBS))
    rows = [line for line in said.splitlines() if line.endswith(("  yes", "  no"))]
    assert len(rows) == len(SSD_JOBS)
    off = {line[:58].strip(): abs(float(line.split()[-2])) for line in rows}
    assert all(off[line[:58].strip()] < 10 for line in rows if line.endswith("  yes")), said
    assert all(off[line[:58].strip()] < 15 for line in rows if line.endswith("  no")), said
    assert status == 0 and "not determined" not in said
    assert not david("profile", "check", out).returncode
    text = out.read_text()
    for name in ("command_time", "read_time", "link_rate", "program_time", "write_latency", "flush_overhead"):
        assert re.search(rf"^{name} = .*# fitted: ", text, re.M), name


@pytest.mark.parametrize(("device", "more"), [
    ("samsung-pm883", False),
    pytest.param("hgst-hts72101-100gb-7200-2.5", True, marks=pytest.mark.seldom),
])
def test_other_jobs_of_a_real_drive_are_as_near_as_allowed(device: str, more: bool) -> None:
    """All of them, with several processes and mixes: `make calibrate-test`."""
    drive = next(drive for drive in fiofits.DRIVES if drive.device == device)
    found = fiofits.fit(drive, False, more)
    assert found.status == 0 and len(found.found) > 5
    assert found.off <= fiofits.ALLOWED[drive.kind], found.row()


def test_no_base_is_the_drive_itself() -> None:
    for drive in fiofits.DRIVES:
        text = files.find(drive.base).read_text() + Path(
            TREE / f"profiles/evidence/{drive.base}.toml").read_text()
        assert drive.device not in text


def test_of_memory_nothing_is_fitted(tmp_path: Path) -> None:
    results = written(tmp_path / "fio.json", fio("randread", "4k", 1, 5000))
    done = david("calibrate", "--from", results, "--profile", "optane-p4800x", "-o", tmp_path / "out")
    assert done.returncode == 1 and "of a drive of kind memory nothing is fitted" in done.stderr


def test_the_processes_of_numjobs_are_one_job(tmp_path: Path) -> None:
    """Without group_reporting fio tells of each by itself."""
    parts = [fio("randread", "4k", 2, 20.0 + n) for n in range(4)]
    for part in parts:
        part["jobname"] = "readers"
        part["job options"] |= {"numjobs": "4"}
        part["read"]["clat_ns"] = {"mean": 95e6, "percentile": {"99.000000": 200e6}}
    found, = fiojobs.load(str(written(tmp_path / "fio.json", *parts)))
    assert (found.depth, found.rate) == (8, 86)
    assert not found.waits  # of the four together nothing is told
    assert found.pace == 0  # 8 requests in 95 ms are 84 a second


def of_a_group(group: int, depth: int, rate: float) -> dict:
    """One of two jobs of a section [t] with numjobs=2, as fio 3.33 tells of them."""
    job = fio("randread", "4k", depth, rate) | {"jobname": "t", "groupid": group}
    return job | {"job options": job["job options"] | {"numjobs": "2"}}


def test_two_sections_of_one_name_are_two_jobs(tmp_path: Path) -> None:
    """[t] and, behind stonewall, [t] once more: their rates were added, at the depth of the first."""
    parts = [of_a_group(0, 1, 60), of_a_group(0, 1, 61), of_a_group(1, 16, 80), of_a_group(1, 16, 81)]
    found = fiojobs.load(str(written(tmp_path / "fio.json", *parts)))
    assert [(job.depth, job.rate) for job in found] == [(2, 121), (32, 161)]
    for parts in ([of_a_group(0, 1, 60)] * 4, [of_a_group(0, 1, 60)] * 3):
        with pytest.raises(UserError, match=f"numjobs=2, and there are {len(parts)} of that name"):
            fiojobs.load(str(written(tmp_path / "fio.json", *parts)))


@pytest.mark.parametrize("done", (16, 99, 100))
def test_a_rate_of_a_few_requests_is_refused(done: int, tmp_path: Path) -> None:
    job = fio("randread", "4k", 1, 60)
    job["read"] |= {"total_ios": done}
    results = str(written(tmp_path / "fio.json", job))
    if done < 100:
        with pytest.raises(UserError, match=f"it did {done} requests, and a rate needs 100 at least"):
            fiojobs.load(results)
    else:
        assert len(fiojobs.load(results)) == 1


@pytest.mark.parametrize(("ns", "fits"), [(199_000, True), (219_000, True), (221_000, False)])
def test_no_more_requests_are_under_way_than_the_job_has(ns: int, fits: bool, tmp_path: Path) -> None:
    """Rate times latency. Figures of three times the rate were taken for those of the job."""
    job = fio("randread", "4k", 2, 10_000)
    job["read"]["clat_ns"] = {"mean": float(ns)}
    results = str(written(tmp_path / "fio.json", job))
    if fits:
        assert fiojobs.load(results)[0].depth == 2
    else:
        with pytest.raises(UserError, match="requests under way, and by its options 2: its figures are not"):
            fiojobs.load(results)


def test_what_latencies_leave_out_is_the_programs_time(tmp_path: Path) -> None:
    job = fio("randread", "4k", 2, 10_000)
    job["read"]["clat_ns"] = {"mean": 180_000.0}
    found, = fiojobs.load(str(written(tmp_path / "fio.json", job)))
    assert abs(found.pace - 20) < 1e-9  # of the 200 us between two requests of a slot


def test_of_several_results_in_one_file_none_is_taken_unseen(tmp_path: Path) -> None:
    """By --status-interval the first one is of long before the end."""
    one = written(tmp_path / "fio.json", fio("randread", "4k", 1, 90)).read_text()
    (tmp_path / "fio.json").write_text(one + "\nfio: a word behind it\n")
    assert len(fiojobs.load(str(tmp_path / "fio.json"))) == 1
    (tmp_path / "fio.json").write_text(one + one)
    with pytest.raises(UserError) as raised:
        fiojobs.load(str(tmp_path / "fio.json"))
    assert "another result stands behind the first one" in str(raised.value)


def test_depths_that_are_not_tried_are_refused(tmp_path: Path) -> None:
    for rw, deep in (("randread", 513), ("read", 129)):
        with pytest.raises(UserError) as raised:
            fiojobs.load(str(written(tmp_path / "fio.json", fio(rw, "4k", deep, 90))))
        assert f"depth {deep}: that many requests at a time are not tried" in str(raised.value)
    found, = fiojobs.load(str(written(tmp_path / "fio.json", fio("randread", "4k", 300, 90))))
    assert [re.search(r"depth=(\d+)", part)[1] for part in found.words(1 << 30).split(" + ")] == ["100"] * 3


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
    # fio's units: its k has 1024, its KiB 1000, unless kb_base says otherwise.
    ({"bs": "4ki"}, ("random reads of 4 KiB, depth 8", 0)),
    ({"bs": "0x1000"}, ("random reads of 4 KiB, depth 8", 0)),
    ({"bs": "64KiB"}, ("random reads of 62 KiB, depth 8", 0)),
    ({"bs": "4KiB"}, "bs=4KiB is 4000 bytes to fio, and a disk has sectors of 512"),
    ({"bs": "1.5k"}, "bs=1.5k is no size as fio has them"),
    ({"bs": "4iB"}, "bs=4iB is no size as fio has them"),
    ({"kb_base": "1024", "clocksource": "cpu"}, ("random reads of 4 KiB, depth 8", 0)),
    ({"kb_base": "1000"}, "kb_base=1000: what a job with that option asks of the disk is not known here"),
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
    order = options.get("rw", options.get("readwrite", ""))
    job["write"] = {"iops": float("write" in order or "rw" in order)}
    job["read"] = {"iops": 90.0 * ("write" not in order)}
    results = written(tmp_path / "fio.json", job)
    if isinstance(expected, str):
        with pytest.raises(UserError) as raised:
            fiojobs.load(str(results))
        assert f"job randread8: {expected}" in str(raised.value)
        return
    found, = fiojobs.load(str(results))
    assert (found.kind, round(found.writes, 6)) == expected


def told(job: dict, **more: object) -> dict:
    options = RANDREAD | {"iodepth": "1"} | {str(name): "" for name in more.pop("words", ())}
    return job | {"job options": options} | more


@pytest.mark.parametrize(("change", "says"), [
    # Two jobs of one file run at the same time, unless the second one waits.
    (({"groupid": 0}, {"groupid": 0}), "jobs one and two ran at the same time, so each had a part"),
    (({"groupid": 0}, {"groupid": 1, "words": ["new_group"]}), "jobs one and two ran at the same time"),
    (({"groupid": 0}, {"groupid": 1}), ""),
    (({"groupid": 0}, {"groupid": 1, "words": ["new_group", "stonewall"]}), ""),
    (({"groupid": 0}, {"groupid": 0, "words": ["wait_for_previous"]}), ""),
    (({}, {"write": {"iops": 7.0}}), "job two: rw=randread, and it did writes: group_reporting tells of"),
    (({}, {"read": {"iops": float("nan")}}), "job two: it did no requests"),
    (({}, {"job options": None}), "job two: its options are not in it, as an older fio leaves them out"),
    (({}, {"read": None, "write": None, "mixed": {"iops": 7.0}}), "job two: unified_rw_reporting: it tells"),
])
def test_a_job_that_had_not_the_disk_for_itself_tells_nothing(
        change: tuple[dict, dict], says: str, tmp_path: Path) -> None:
    jobs = [told(fio("randread", "4k", 1, 90), **more) | {"jobname": name}
            for name, more in zip(("one", "two"), change, strict=True)]
    jobs = [{name: value for name, value in job.items() if value is not None} for job in jobs]
    results = written(tmp_path / "fio.json", *jobs)
    if says:
        with pytest.raises(UserError) as raised:
            fiojobs.load(str(results))
        assert says in str(raised.value)
    else:
        assert [job.name for job in fiojobs.load(str(results))] == ["one", "two"]


def test_jobs_of_numjobs_that_ran_one_after_the_other_are_refused(tmp_path: Path) -> None:
    def part(runtime: int) -> dict:
        job = fio("randread", "4k", 8, 90) | {"job options": RANDREAD | {"numjobs": "2"}}
        return job | {"read": job["read"] | {"runtime": runtime}}

    found, = fiojobs.load(str(written(tmp_path / "fio.json", part(10_000), part(9_900))))
    assert (found.depth, found.rate) == (16, 180)
    with pytest.raises(UserError) as raised:
        fiojobs.load(str(written(tmp_path / "fio.json", part(10_000), part(5_000))))
    assert "job randread8: its 2 jobs ran for 5000 to 10000 ms, so not all the time" in str(raised.value)


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
    *[([f"model:{SMALL}", "-o", "OUT", *words], f"{words[0]} goes with --from")
      for words in (["--profile", SMALL], ["--size", "1T"], ["--option", "rpm=5400"], ["--only", "reads"],
                    ["--beside", "FIO"])],
    (["--from", "FIO", "--profile", SMALL, "--option", "none=1", "-o", "OUT"], "none=1"),
    (["--from", "/none", "--profile", SMALL, "-o", "OUT"], "--from /none: No such file"),
    (["--from", "FIO", "--profile", SMALL, "-o", "OUT"], "job randread1: it ended with error 5"),
])
def test_bad_input_is_named_and_nothing_is_left(tmp_path: Path, words: list[str], because: str) -> None:
    failed = written(tmp_path / "fio.json", fio("randread", "4k", 1, 50, error=5))
    names = {"OUT": str(tmp_path / "out.profile"), "FIO": str(failed)}
    done = david("calibrate", *(names.get(word, word) for word in words))
    assert done.returncode == 1 and because in done.stderr, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["fio.json"]
