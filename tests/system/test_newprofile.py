# SPDX-License-Identifier: GPL-2.0
"""david profile new: sheets that no drive can have are refused; others come back from the model. No lab."""

import argparse
import json
import re
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

from davidlib import build
from davidlib.calibrate import fiomodel, fitdisk, knobs, newprofile, result, sheet
from davidlib.drive import classes, worth
from davidlib.util import UserError

TREE = Path(__file__).resolve().parents[2]
SSD = ["--class", "sata-tlc", "--capacity", "60GB"]
DISK = ["--class", "desktop-7200", "--capacity", "1TB", "--rpm", "7200"]


def new(out: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([TREE / "tools/david", "profile", "new", "mine", "-o", out, *words],
                          capture_output=True, text=True, timeout=400)


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(message)


def refused(out: Path, *words: str) -> str:
    """In this process, as there are many: what is said of it, in one line."""
    parser = Parser()
    newprofile.add_parser(parser.add_subparsers())
    with pytest.raises(UserError) as found:
        newprofile.run(parser.parse_args(["new", "mine", "-o", str(out), *words]))
    assert "\n" not in str(found.value)
    return str(found.value)


def bench(profile: Path, job: str, *options: str) -> dict:
    """The second way: david-sim, asked by hand."""
    words = [word for option in options for word in ("--option", option)]
    command = [build.ensure("david-sim"), "bench", "--json", "--profile", profile, *words, "--job", job]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["jobs"][0]


@pytest.mark.parametrize(("words", "said"), [
    ("--read-rate 200MB/s --inner-rate 210MB/s", "--inner-rate 210 MB/s is more than --read-rate 200 MB/s"),
    ("--interface sata-3 --read-rate 310MB/s", "--read-rate 310 MB/s is more than sata-3 carries, 300 MB/s"),
    ("--read-iops 130@1", "--read-iops 130@1 takes 7.69 ms each, and half a revolution"),
    ("--seek 8.5ms --read-iops 90@1", "half a revolution at 7200 rpm and the average seek takes 12.7 ms"),
    ("--seek 8ms --write-seek 7ms", "--write-seek 7 ms is less than --seek 8 ms"),
    ("--seek 8ms --track-seek 9ms", "--track-seek 9 ms, --seek 8 ms"),
    ("--seek 8ms --full-seek 8ms", "--seek 8 ms, --full-seek 8 ms"),
    ("--read-iops 80@1 --read-iops 70@16", "more depth never costs"),
    ("--seek 8ms --sync-iops 9", "--sync-iops is of an SSD"),
    ("--read-latency 90us", "--read-latency is of an SSD"),
    # Of two figures of one thing the last was taken, 0 and nan stood for none, the others were a traceback.
    ("--read-iops 80@1 --read-iops 70@1", "--read-iops: depth 1 is there twice"),
    ("--read-rate 200MB/s --rpm 0", "'0' is no number above 0"),
    ("--read-rate 200MB/s --rpm nan", "'nan' is no number above 0"),
    ("--capacity 960", "'960' is not a multiple of 512 bytes"),
    ("--cache 100", "'100' is not a multiple of 512 bytes"),
])
def test_a_disk_that_cannot_be_is_refused_by_name(words: str, said: str, tmp_path: Path) -> None:
    # Such as 130 a second at 7,200 rpm: half a revolution is 4.17 ms, and seeks come on top.
    words = words.replace("130@1", "130@1 --seek 8ms") if "130@1" in words else words
    assert said in refused(tmp_path / "x", *DISK, *words.split())
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(("words", "said"), [
    ("--interface sata-6 --read-iops 150000@32", "are 614.4 MB/s, more than sata-6 carries"),
    ("--read-rate 300MB/s --read-iops 98000@32", "nothing is faster at random than in order"),
    ("--read-latency 100us --read-iops 20000@1", "needs each done in 50 us, and --read-latency is 100 us"),
    ("--write-iops 10000@1 --write-iops 90000@8", "is more than 8 times 10000@1"),
    ("--write-iops 10000@32 --sync-iops 20000", "a flush takes no time away"),
    ("--rpm 7200", "--rpm is of a disk"), ("--seek 8ms", "--seek is of a disk"),
    ("", "a profile of nothing"), ("--class sata-tlv", "there is no class 'sata-tlv'; did you mean"),
    ("--class xpoint --read-rate 1GB/s", "of a drive of kind memory nothing is fitted"),
    ("--sync-iops 0", "'0' is no number above 0"),
    ("--read-rate 5", "'5' is no figure in"),
    ("--read-iops 98000", "is not N@DEPTH"), ("--read-rate 0MB/s", "is no figure"),
])
def test_an_ssd_that_cannot_be_is_refused_by_name(words: str, said: str, tmp_path: Path) -> None:
    assert said in refused(tmp_path / "x", *SSD, *words.split())
    assert not (tmp_path / "x").exists()


def test_a_sheet_that_can_be_is_not_refused() -> None:
    sheet.check(sheet.Sheet(True, "sata-6", 0, {"read": 560e6, "write": 530e6}, {
        "read": {1: 12000, 32: 98000}, "write": {32: 90000}}, {"read": 82e-6}, synced=5000))
    sheet.check(sheet.Sheet(False, "sata-6", 7200, {"read": 260e6, "inner": 130e6}, {
        "read": {1: 78, 16: 170}, "write": {16: 350}}, {}, {"average": 8e-3, "write": 9e-3, "track": 1e-3}))
    with pytest.raises(UserError, match="no drive is like that: .*; "):  # all that is wrong, in one line
        sheet.check(sheet.Sheet(True, "sata-6", 0, {"read": 700e6, "write": 800e6}))


def test_an_ssds_sheet_comes_back_from_the_model(tmp_path: Path) -> None:
    out = tmp_path / "mine.profile"
    run = new(out, *SSD, "--interface", "sata-6", "--read-rate", "540MB/s", "--read-iops", "90000@32",
              "--write-rate", "400MB/s", "--read-latency", "100us", "--flash", "mlc")
    assert run.returncode == 0, run.stdout + run.stderr
    order = "precondition=sequential"
    for job, options, figure, wanted in (
            ("read random depth=32 count=20000", [order], "per_s", 90000),
            ("read random count=5000", [order], "mean_us", 100),
            ("read size=128K depth=32 count=8000", [order], "mb_s", 540),
            ("write size=128K depth=32 count=20000 steady", [], "mb_s", 400)):
        assert bench(out, job, *options)["all"][figure] == pytest.approx(wanted, rel=0.02), job
    text = out.read_text()
    lines = [line for line in text.splitlines() if line and line[0] != "#"]
    sources = r"# (data sheet|assumed \(class sata-tlc\)|reported)"
    assert all(re.search(sources, line) for line in lines), lines
    assert "page_types = 2\t# data sheet" in text
    assert re.search("command_time = .*data sheet.* 90000 a second", text)
    found = worth.of_text(text)
    assert found.drive_class == "sata-tlc" and found.doubt and found.of("tail").grade == "class"
    assert found.profile == "mine.sata-tlc" and found.of("tail").factor and found.of("mix").factor is None
    assert worth.as_text(found) in run.stdout
    assert f"; {classes.spread(classes.find('sata-tlc').drives)['gc_unit']}\n" in text


def number(text: str, name: str) -> float:
    """Of a made profile, in its own unit."""
    return float(re.search(rf"^{name} = ([\d.]+)", text, re.MULTILINE)[1])


def test_an_ssd_that_reads_twice_as_fast_as_its_class_has_values_of_a_drive(tmp_path: Path) -> None:
    """Its class's base needs 1.5 us of the controller for 4 KiB: 2.7 GB/s. Writes do not slow the link."""
    out = tmp_path / "mine.profile"
    run = new(out, "--class", "nvme-plp", "--capacity", "120GB", "--interface", "pcie-4x4", "--read-rate",
              "6800MB/s", "--write-rate", "2GB/s", "--read-iops", "800k@128", "--read-latency", "80us")
    assert run.returncode == 0, run.stdout + run.stderr
    for job, figure, wanted in (("read size=128K depth=32 count=8000", "mb_s", 6800),
                                ("read random depth=128 count=20000", "per_s", 800000)):
        found = bench(out, job, "precondition=sequential")["all"][figure]
        assert found == pytest.approx(wanted, rel=0.04), job
    text = out.read_text()
    assert 6.7e9 <= number(text, "link_rate") <= 7.88e9
    # 128 commands in 160 us are 1.25 us each; and not 100 ns, of which nothing would be seen.
    assert 500 <= number(text, "command_time") <= 1250
    assert number(text, "dies") <= 256 and number(text, "page_time") < 700
    assert number(text, "scattered_read_time") == 0


@pytest.mark.seldom
def test_a_rate_of_a_worn_drive_is_that_of_many_fillings_of_its_buffer(tmp_path: Path) -> None:
    """6,000 requests may be counted between two stops: with 1 % to spare 200,000 a second, not 24,000."""
    out = tmp_path / "mine.profile"
    run = new(out, "--class", "nvme-plp", "--capacity", "480GB", "--write-rate", "2GB/s", "--write-iops",
              "90k@128")
    assert run.returncode == 0, run.stdout + run.stderr
    worn = bench(out, "write random depth=128 count=300000 warm=100000", "precondition=random")
    assert worn["all"]["per_s"] == pytest.approx(90_000, rel=0.1)


def test_a_write_rate_is_of_the_slc_cache_where_the_class_has_one(tmp_path: Path) -> None:
    """Native cells of four bits stay as the class has them: nobody makes any that write 2 GB/s."""
    out = tmp_path / "mine.profile"
    run = new(out, "--class", "qlc", "--capacity", "512GB", "--write-rate", "1500MB/s")
    assert run.returncode == 0, run.stdout + run.stderr
    text = out.read_text()
    assert "program_time = 5.15ms\t# assumed (class qlc)" in text
    assert re.search(r"^slc_program_time = \S+\t# data sheet", text, re.MULTILINE)
    found = bench(out, "write size=128K depth=32 count=8000 warm=2000")
    assert found["all"]["mb_s"] == pytest.approx(1500, rel=0.03)


def test_an_ssd_faster_than_its_class_at_depth_1_wakes_faster_too(tmp_path: Path) -> None:
    """The base takes 169 us for a read, 50 of them to wake. 77 us are no 16 ns of flash and 50 of waking."""
    out = tmp_path / "mine.profile"
    run = new(out, *SSD, "--read-iops", "13000@1")
    assert run.returncode == 0, run.stdout + run.stderr
    text = out.read_text()
    assert number(text, "read_time") > 10_000 and number(text, "wake_time") < 30_000
    assert bench(out, "read random count=5000", "precondition=sequential")["all"]["per_s"] == \
        pytest.approx(13000, rel=0.02)


def test_a_value_that_decides_nothing_stays_near_what_it_was() -> None:
    """A rate that something else bounds at 100, where 200 are wanted."""
    found = fiomodel.solve(lambda factor: min(100.0, 90 * factor), 200.0, 0.02, 50.0)
    assert 1.1 < found.factor < 2.0, found
    found = fiomodel.solve(lambda factor: 90 * factor, 200.0, 0.02, 50.0)
    assert found.factor == pytest.approx(200 / 90, rel=0.01)
    assert fiomodel.solve(lambda factor: 100.0, 200.0, 0.02, 50.0).factor == 1


def test_values_of_no_drive_are_told() -> None:
    """Planted one by one in a profile that has none."""
    base = newprofile.fromfio.base("samsung-970-pro", None)
    assert newprofile.beyond(base, "pcie-3x4") == []
    for name, planted, said in (
            ("link_rate", "5GB/s", "pcie-3x4 carries 3940 MB/s"), ("read_time", "16ns", "reads"),
            ("program_time", "20us", "programs"), ("command_time", "37ns", "controller"),
            ("raw_capacity", "1005215216 sectors", "spare flash")):
        draft = base.copy()
        draft.set(name, planted, "fitted")
        [line] = newprofile.beyond(draft, "pcie-3x4")
        assert name in line and said in line


def test_a_disk_of_denser_tracks_reads_as_long_ahead(tmp_path: Path) -> None:
    """In fewer segments: it was one stream that came off worst. The revolutions are the class's."""
    out = tmp_path / "mine.profile"
    run = new(out, "--class", "disk-10k", "--capacity", "900GB", "--read-rate", "168MB/s", "--cache", "64MiB")
    assert run.returncode == 0, run.stdout + run.stderr
    text = out.read_text()
    base = (TREE / "profiles/ibm-ultrastar-146z10.profile").read_text()
    tracks = [int(re.search(r"^zone = \d+,\d+,(\d+)", one, re.MULTILINE)[1]) for one in (text, base)]
    factor = tracks[0] / tracks[1]
    assert factor > 2
    assert number(text, "readahead_max") == pytest.approx(factor * 640, rel=0.02)
    cache = number(text, "segments") * number(text, "segment_sectors") + number(text, "write_buffer")
    assert 0.9 * 131072 < cache <= 131072
    done = subprocess.run([build.ensure("david-sim"), "physics", "--profile", out, "--rule", "streams",
                           "--jobs", "60", "--seed", "11"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_a_shingled_drives_cache_has_room_for_two_bands(tmp_path: Path) -> None:
    """A fifth of 128 MiB has not: the model refused it, and named a file that nobody had given."""
    out = tmp_path / "mine.profile"
    run = new(out, "--class", "smr", "--capacity", "5TB", "--rpm", "5526", "--read-rate", "140MB/s",
              "--cache", "128MiB")
    assert run.returncode == 0, run.stdout + run.stderr
    text = out.read_text()
    assert number(text, "write_buffer") == 2 * number(text, "band") == 2 * 61440
    words = ("--class", "smr", "--capacity", "5TB", "--read-rate", "140MB/s", "--cache", "32MiB")
    assert "less than a segment of the class" in refused(out.with_name("x"), *words)


def test_a_stream_is_written_as_fast_as_it_is_read_with_a_small_cache_and_long_tracks(tmp_path: Path) -> None:
    """A WD10JPVX, by its sheet, from memory: a fifth of 8 MiB is a track. It wrote 76 MB/s, and read 143."""
    out = tmp_path / "mine.profile"
    run = new(out, "--class", "mobile", "--capacity", "1TB", "--rpm", "5400", "--interface", "sata-6",
              "--read-rate", "144MB/s", "--cache", "8MiB")
    assert run.returncode == 0, run.stdout + run.stderr
    read, write = (bench(out, f"{way} size=64K count=4096")["all"]["mb_s"] for way in ("read", "write"))
    assert write == pytest.approx(read, rel=0.02)
    text = out.read_text()
    assert number(text, "segments") * number(text, "segment_sectors") + number(text, "write_buffer") <= 16384
    lost = bench(out, "write size=64K count=4096", "write_buffer=1638KiB")["all"]["mb_s"]
    assert lost < 0.6 * read  # what it was


def test_a_disks_sheet_comes_back_from_the_model(tmp_path: Path) -> None:
    out = tmp_path / "mine.profile"
    run = new(out, *DISK, "--read-rate", "180MB/s", "--inner-rate", "85MB/s", "--seek", "9ms",
              "--track-seek", "1ms", "--full-seek", "18ms", "--write-seek", "10ms", "--cache", "64MiB",
              "--read-iops", "140@32")
    assert run.returncode == 0, run.stdout + run.stderr
    read = bench(out, "read size=1M count=200")
    assert read["all"]["mb_s"] == pytest.approx(180, rel=0.02)
    assert read["mean_seek_us"] == pytest.approx(9000, rel=0.02)
    inner = bench(out, "read size=1M count=200 at=inner span=1G")["all"]["mb_s"]
    assert inner == pytest.approx(85, rel=0.03)
    assert bench(out, "read random depth=32 count=4000")["all"]["per_s"] == pytest.approx(140, rel=0.05)
    text = out.read_text()
    assert re.search(r"write_settle = 1000000ns\t# data sheet", text)
    points = [line for line in text.splitlines() if line.startswith("seek = ")]
    assert "1000000ns" in points[0] and "18000000ns" in points[-1] and "data sheet" in points[5]


@pytest.mark.parametrize("factor", [0.5, 1, 3, 12])
def test_no_fitted_seek_is_longer_than_two_that_lead_there(factor: float) -> None:
    draft = newprofile.fromfio.base("generic-500gb-7200", None)
    for fitted in (fitdisk.slower(draft, factor, ""), newprofile.curve(draft, factor, 0, 0, "")):
        table = {int(way): knobs.nanoseconds(time)
                 for way, time in (line.value.split(",") for line in fitted.lines if line.name == "seek")}
        doubled = [way for way in table if 2 * way in table]
        assert len(doubled) > 10
        assert [way for way in doubled if table[2 * way] > 2 * table[way] + 1] == []
        assert sorted(table.values()) == list(table.values())


def test_a_disk_that_turns_faster_loses_no_revolution_at_a_switch(tmp_path: Path) -> None:
    """Of the class's skews in sectors, which last half as long at twice the speed."""
    out = tmp_path / "mine.profile"
    run = new(out, "--class", "desktop-7200", "--capacity", "300GB", "--rpm", "14400", "--track-seek", "1ms")
    assert run.returncode == 0, run.stdout + run.stderr
    job = bench(out, "read size=1M count=200")
    assert job["all"]["mb_s"] > 0.97 * job["media_mb_s"], job


def test_what_the_class_cannot_give_back_is_told_by_the_status(tmp_path: Path) -> None:
    """2,000 random writes a second of a disk of 7,200 rpm, whatever is fitted."""
    out = tmp_path / "mine.profile"
    run = new(out, *DISK, "--write-iops", "2000@16")
    assert run.returncode == 2 and "NOT TO BE BELIEVED: --write-iops 2000@16" in run.stdout, run.stdout
    assert "NOT TO BE BELIEVED" in out.read_text()


def test_results_of_fio_are_fitted_on_top(tmp_path: Path) -> None:
    """The sheet's figure at depth 1 is replaced by a measured one, and is then told to be off."""
    options = {"rw": "randread", "iodepth": "1", "direct": "1", "ioengine": "libaio"}
    job = {"jobname": "a", "job options": options,
           "read": {"iops": 5000.0, "clat_ns": {"mean": 200_000.0}}, "write": {"iops": 0.0}}
    (tmp_path / "fio.json").write_text(json.dumps({"jobs": [job]}))
    out = tmp_path / "mine.profile"
    run = new(out, *SSD, "--read-latency", "100us", "--from", str(tmp_path / "fio.json"))
    assert run.returncode == 2 and "NOT TO BE BELIEVED: --read-latency" in run.stdout, run.stdout + run.stderr
    assert re.search(r"read_time = \S+\t# fitted", out.read_text())
    assert bench(out, "read random count=5000", "precondition=sequential")["all"]["per_s"] == \
        pytest.approx(5000, rel=0.03)


def test_a_name_that_leaves_no_room_for_the_class_is_refused() -> None:
    """31 characters in all, as the kernel takes; cut short it might be another drive's."""
    sata = classes.find("sata-tlc")
    assert newprofile.name_of("a" * 22, sata) == "a" * 22 + ".sata-tlc"
    for name in ("a" * 23, "a" * 60):
        with pytest.raises(UserError, match="22 are left; give a shorter one"):
            newprofile.name_of(name, sata)
    assert f"PROFILE_NAME_LEN\t{result.PROFILE_NAME + 1}" in (TREE / "model/profile/profile.h").read_text()


def test_a_planted_sheet_is_off() -> None:
    """A figure that the model misses by more than is allowed is a doubt; one within it is none."""
    def doubts(*models: float) -> int:
        return len(newprofile._doubts([newprofile.Held("--x", 100, model, "/s") for model in models]))

    assert doubts(111, 89) == 2 and doubts(109, 91) == 0
