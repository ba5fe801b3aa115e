# SPDX-License-Identifier: GPL-2.0
"""david bench and report: specs, runs, workloads, numbers and answers without a lab; then one lab with runs.

What needs Dask and a browser is in `make sweep-test`.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import types
from pathlib import Path
from typing import Any

import pytest

from davidlib import build
from davidlib.bench import doubts, limits, localhost, runs, samples, spec
from davidlib.bench.metrics import METRICS
from davidlib.bench.results import Results
from davidlib.disk import modulehelp
from davidlib.disk.dm import DeviceError
from davidlib.report import answer, figures
from davidlib.report.filenames import file_words
from davidlib.util import UserError, write_whole
from davidlib.workload import blocks as workblocks, fileops, fiojob, fiooptions, image, record, steady
from davidlib.workload.kinds import KINDS
from davidlib.workload.record import QUANTILES
from davidlib.workload.several import WorkFailed
import benchrun
from labjob import PYTHON, Job

TREE = Path(__file__).resolve().parents[2]
DISK = '[disk]\nprofile = "hitachi-hds721010kla330"\n'
WORK = '[[workload]]\nkind = "varmail"\n'
RUNS = ("ext4-postmark", "none-random-read", "ext4-spread", "xfs-spread", *benchrun.DOUBTED,
        "fio-fsync", "fio-fsync-2", "fio-waits", "full", "roomy", "slow-hour", "slow-later", "gone",
        *benchrun.ARRAYS, *benchrun.BESIDE, *benchrun.ZONED, *benchrun.PLACES, "aged")
LAB = Job("bench", "uml", "6.12", (*PYTHON, str(Path(__file__).with_name("benchrun.py"))), RUNS,
          memory="1G", usually=40, virtual_time=True)


def parse(text: str) -> spec.Spec:
    return spec.parse(text, "a.toml", Path("/"))


def fio(job: str, system: str = "") -> str:
    return f"{DISK}{system}[[workload]]\nkind = \"fio\"\njob = \"\"\"\n{job}\"\"\"\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x =", "a.toml:1: not TOML"),
        ("a = 1\n\n\n[disk\n", "a.toml:4: not TOML"),
        ('[disk]\nprofile = "nope"\n' + WORK, "a.toml:2: profile: there is no profile 'nope'; there are "),
        ('[disk]\nprofile = "exos"\n' + WORK,
         "a.toml:2: profile: there is no profile 'exos'; did you mean seagate-exos-x20-20tb"),
        ("[disk]\n" + WORK, "a.toml:1: [disk] has no profile"),
        ("repeat = 3\n" + DISK + WORK, r"a.toml:1: repeat: unknown here; did you mean repeats\?"),
        ("repeats = 3\nseeds = [1]\n" + DISK + WORK, "a.toml:1: repeats: there are seeds already"),
        ("seeds = [1, 1]\n" + DISK + WORK, "a.toml:1: seeds: a value is there twice"),
        ("seeds = []\n" + DISK + WORK, "a.toml:1: seeds: an empty list leaves nothing to run"),
        ("seeds = [-1]\n" + DISK + WORK, "a.toml:1: seeds are 0 and more"),
        ("repeats = 0\n" + DISK + WORK, "a.toml:1: repeats = 0: want 1 to 1000"),
        ("repeats = -1\n" + DISK + WORK, "a.toml:1: repeats = -1: want 1 to 1000"),
        ("repeats = 0\nseeds = [1]\n" + DISK + WORK, "a.toml:1: repeats: there are seeds already"),
        (DISK + 'size = ["512M", "1G", "0.5G"]\n' + WORK, "a.toml:3: size: 512M is there twice"),
        ("seeds = true\n" + DISK + WORK, "a.toml:1: seeds = True: want a whole number"),
        ('where = "moon"\n' + DISK + WORK, "a.toml:1: where = 'moon': not one of virtual, uml, vm, here"),
        ('memory = "lots"\n' + DISK + WORK, "a.toml:1: memory = 'lots': want a number with M or G"),
        (DISK + 'size = "20Q"\n' + WORK, "a.toml:3: size: '20Q' is not a size"),
        (DISK + "size = []\n" + WORK + "colour = 1", "a.toml:6: colour: unknown here"),
        (DISK, "a.toml:1: workload: write \\[\\[workload"),
        ("disk = 3\n" + WORK, "a.toml:1: disk: write \\[disk"),
        (DISK + WORK + '[[workload]]\nkind = "vermail"', "a.toml:6: kind = 'vermail': not one of fileserver"),
        (DISK + WORK + '[[workload]]\nkind = "du"\n\nfiles = "many"', "a.toml:8: files = 'many': want"),
        (DISK + WORK + WORK, "a.toml:5: name = 'varmail': there twice"),
        (DISK + WORK + "processes = 0", "a.toml:5: processes = 0: too small"),
        (DISK + '[[workload]]\nkind = "fio"', "a.toml:3: job: needed for kind = 'fio'"),
        (DISK + '[[workload]]\nkind = "replay"', "a.toml:3: trace: needed for kind = 'replay'"),
        (DISK + '[[workload]]\nkind = "replay"\ntrace = "nope.wl"', "a.toml:5: trace = 'nope.wl': there"),
        (DISK + '[[filesystem]]\ntype = "none"\n' + WORK, "a.toml:6: kind = 'varmail': needs a file system"),
        (DISK + '[[filesystem]]\ntype = "none"\nmount = "x"\n' + WORK, "a.toml:4: type = 'none': a raw disk"),
        (fio("[a]\nrandrepeat=1"), "a.toml:5: job: randrepeat: leave it out; each run's seed goes to fio"),
        (fio("[global]\nrw=randread\n[a]\nbs=4k\n[global]\n randseed = 4\n[b]"), "a.toml:5: job: randseed: "),
        (fio("[a]\ninclude b.fio"), "a.toml:5: job: include: leave it out; bench takes the job's text alone"),
        (fio("[a]\nclocksource=cpu"), "a.toml:5: job: clocksource: leave it out"),
        (fio("[a]\nss=iops:5%"), "a.toml:5: job: steadystate: leave it out; fio ends the job when"),
        (fio("[a]\nramp_time=1"), "a.toml:5: job: ramp_time: leave it out; the disk's figures would be of"),
        (fio("[a]\nread_iolog=x"), "a.toml:5: job: read_iolog: leave it out; .*kind = 'replay' is for"),
        (fio("[a]\nrubbish=1"), "a.toml:5: job: rubbish: bench does not know what it would do"),
        (fio("[a]\nrw=write\nnumjobs=4", '[[filesystem]]\ntype = "none"\n'),
         "a.toml:7: job: numjobs=4: .* of the raw disk.*offset_increment=25% and size=25%"),
        (fio("[global]\nnumjobs=2\nfilename=x\n[a]\nrw=read\n"), "a.toml:5: job: numjobs=2: .*blocks of x"),
        (fio("[a]\nrw=read\nnumjobs=4\nfilename_format=f.$filenum\n"), "numjobs=4: .* blocks of f.\\$"),
        (fio("[global]\nfilename_format=f.$jobnum\n[a]\nrw=read\n[b]\nrw=read\n"), r"\[b\] .* blocks of f"),
        (fio("[a]\nrw=randread\nnumjobs=2k\n"), "a.toml:5: job: numjobs=2k: write a plain number"),
        (fio("[a]\nrw=write\n[b]\nrw=read", '[[filesystem]]\ntype = "none"\n'),
         r"a.toml:7: job: \[b\] goes over the same blocks of the raw disk as \[a\] does"),
        (fio("[a]\nrw=randtrim"), "a.toml:5: job: rw=randtrim: fio trims block devices, .*none"),
        (fio("[a]\nreadwrite=trimwrite"), "a.toml:5: job: rw=trimwrite: fio trims block devices"),
        (fio("[a]\niodepth=32\ndirect=1"), "a.toml:5: job: iodepth=32: with ioengine=psync one request is"),
        (fio("[a]\niodepth=4\nioengine=libaio"), "a.toml:5: job: iodepth=4: .* without direct=1"),
        (fio("[a]\niodepth=4\nioengine=libaio\nbuffered=1"), "a.toml:5: job: iodepth=4: .* without direct=1"),
        (fio("[a]\nioengine=cpuio"), "a.toml:5: job: ioengine=cpuio: its operations are not the disk's"),
        (fio("[a]\nfilename=/dev/sda"), "a.toml:5: job: filename=/dev/sda: leave it out"),
        (fio("rw=read"), "a.toml:5: job: rw: stands in no section; write a line such as \\[job\\]"),
        (fio("# [a]\n[global]\nrw=read"), "a.toml:5: job: there is no section but \\[global\\]"),
        (fio("[a]\nfilename=b", '[[filesystem]]\ntype = "none"\n'), "a.toml:7: job: filename=b: .*raw disk"),
        ('metric = "p99"\n' + fio("[a]\nrw=randwrite\nfsync=1"),
         "a.toml:1: metric = 'p99': not known of workload 'fio': fsync=1: fio does not tell which sync"),
        ('metric = "p99"\n' + DISK + '[[workload]]\nkind = "du"', "a.toml:1: metric = 'p99': .* one program"),
        (DISK + '[[workload]]\nkind = "random-read"\nfiles = 1000', "a.toml:5: files: files = 1000: at most"),
        (DISK + '[[workload]]\nkind = "mixed"\nsize = "128K"', "a.toml:5: size: the 64 files have no room"),
        (DISK + '[[filesystem]]\ntype = "ext5"\n' + WORK, "a.toml:4: type = 'ext5': not one of ext2"),
        (DISK + WORK + '[[faults]]\npreset = "rust"', "a.toml:6: preset: there is no preset 'rust' of"),
        (DISK + WORK + '[[faults]]\npreset = "vibration"\nfaults = "gone"', "a.toml:6: preset: .* two t"),
        (DISK + WORK + '[[faults]]\nfaults = "slow:factor=2 gone"', "a.toml:6: faults = .*want faults as"),
        (DISK + WORK + '[[faults]]\nage = "1h"', "a.toml:6: age: of a drive of which nothing fails"),
        (DISK + WORK + '[[faults]]\nfaults = "gone"\nage = "1 hour"', "a.toml:7: age = '1 hour': want"),
        (DISK + WORK + "[[faults]]\n[[faults]]\n", "a.toml:6: name = 'healthy': there twice"),
        (DISK + 'array = "1 members=2"\n' + WORK + '[[faults]]\nfaults = "gone"\n',
         r"a.toml:6: \[\[faults\]\]: of an array one member"),
        (DISK + WORK + "[[faults]]\nkind = 1\n", "a.toml:6: kind: unknown here; there are age, faults"),
    ],
)
def test_a_mistake_in_a_spec_is_named_by_its_line(text: str, says: str) -> None:
    with pytest.raises(spec.SpecError, match=says.replace("[disk]", "\\[disk\\]")):
        parse(text)


def test_runs_are_all_combinations_and_their_ids_say_what_they_are() -> None:
    text = "repeats = 2\n" + DISK.replace('= "h', '= ["seagate-exos-x20-20tb", "h').replace('330"', '330"]')
    found = runs.expand(parse(text + '[[filesystem]]\ntype = "ext4"\n[[filesystem]]\ntype = "xfs"\n' + WORK))
    assert len(found) == len({run.id for run in found}) == 8
    assert {run.variant for run in found} == {
        f"{fs}, {drive}" for fs in ("ext4", "xfs")
        for drive in ("seagate-exos-x20-20tb", "hitachi-hds721010kla330")
    }
    again = runs.expand(parse("# a remark\n" + text + '[[filesystem]]\ntype = "xfs"\n' + WORK))
    assert {run.id for run in again} < {run.id for run in found}
    other = runs.expand(parse(text + '[[filesystem]]\ntype = "xfs"\n' + WORK + "operations = 7\n"))
    assert not {run.id for run in other} & {run.id for run in found}


def test_no_two_variants_have_one_name(tmp_path: Path) -> None:
    """The page has one figure for each name and seed: of two runs it would have the later one's."""
    for sizes, said in (
        (("1100000000000", "1100000512000"), ["1.1 TB", "1.100000512 TB"]),
        (("1T", "1000G", "10TB"), ["1.099511627776 TB", "1.073741824 TB", "10 TB"]),
        (("9223372036854775296", "9223372036854774784"),
         ["9223372.036854775296 TB", "9223372.036854774784 TB"]),
    ):
        found = runs.expand(parse(DISK + f"size = {list(sizes)}\n" + WORK))
        assert [run.variant for run in found] == said
    text = (TREE / "profiles/hitachi-hds721010kla330.profile").read_text()
    for name in ("c", "b, c"):
        (tmp_path / f"{name}.profile").write_text(text)
    namesakes = '[disk]\nprofile = ["c.profile", "b, c.profile"]\n' + "".join(
        f'[[filesystem]]\ntype = "ext4"\nname = "{name}"\n' for name in ("a", "a, b"))
    with pytest.raises(UserError, match="two variants would be called 'a, b, c'"):
        runs.expand(spec.parse(namesakes + WORK, "a.toml", tmp_path))


def test_faults_are_a_dimension_and_decide_a_run() -> None:
    text = '[[faults]]\n[[faults]]\npreset = "vibration"\n[[faults]]\nname = "x"\nfaults = "gone"\n'
    found = runs.expand(parse(DISK + WORK + text))
    assert [run.variant for run in found] == ["healthy", "vibration", "x"]
    assert len({run.id for run in found}) == 3
    # A healthy drive is one, whatever it is called; the text decides, and not its name.
    [plain] = runs.expand(parse(DISK + WORK))
    [named] = runs.expand(parse(DISK + WORK + '[[faults]]\nname = "good"\n'))
    assert plain.id == named.id == found[0].id and plain.variant == "ext4"
    [other] = runs.expand(parse(DISK + WORK + '[[faults]]\nname = "y"\nfaults = "gone"\n'))
    assert other.id == found[2].id


def tree_of(top: Path) -> list[tuple[str, int]]:
    files = [path for path in top.rglob("*") if path.is_file()]
    return sorted((str(path.relative_to(top)), path.stat().st_size) for path in files)


FEW = {"files": 60, "directories": 12, "operations": 80, "size": 1 << 20, "direct": False, "largest": 1 << 16}


@pytest.mark.parametrize("name", sorted(set(KINDS) - {"command", "fio", "git-clone", "replay"}))
def test_a_workload_makes_the_same_calls_with_the_same_seed(name: str, tmp_path: Path) -> None:
    kind, seen = KINDS[name], []
    params = kind.params | {key: value for key, value in FEW.items() if key in kind.params}
    for life, seed in enumerate((5, 5, 6)):
        top = tmp_path / str(life)
        top.mkdir()
        if kind.prepare:
            kind.prepare(str(top), params, seed)
        done = kind.run(name, str(top), params, seed)
        counts = {what: len(times) for what, times in done.ns.items()}
        counts |= {what: told["count"] for what, told in done.told.items()}
        assert sum(counts.values()) == done.operations() >= min(FEW["operations"], params.get("files", 80))
        seen.append((counts, done.read, done.written, tree_of(top)))
    assert seen[0] == seen[1]
    if name in ("fileserver", "varmail", "postmark", "impressions", "untar"):
        assert seen[0] != seen[2], "another seed changes nothing"


@pytest.mark.parametrize(
    ("name", "processes", "blocks"),
    [
        ("sequential-write", 1, set(range(40))),
        # A quarter of the disk each, from its beginning on.
        ("sequential-write", 4, {16 * share + at for share in range(4) for at in range(10)}),
        ("sequential-write", 3, {21 * share + at for share in range(3) for at in range(14)}),
    ],
)
def test_sequential_processes_have_a_part_of_the_raw_disk_each(
    name: str, processes: int, blocks: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workblocks, "_is_device", lambda top: True)
    disk = tmp_path / "disk"
    disk.write_bytes(bytes(64 * 4096))
    params = KINDS[name].params | {"block": 4096, "processes": processes, "operations": 40, "direct": False}
    done = KINDS[name].run(name, str(disk), params, 1)
    content = disk.read_bytes()
    assert {at for at in range(64) if any(content[4096 * at : 4096 * (at + 1)])} == blocks
    # What was written and what was touched add up.
    assert done.written == 4096 * len(blocks)


def test_requests_at_random_go_over_all_of_the_raw_disk_of_whichever_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workblocks, "_is_device", lambda top: True)
    disk = tmp_path / "disk"
    disk.write_bytes(bytes(64 * 4096))
    place = workblocks.Place(str(disk), {"block": 4096, "direct": False}, 3)
    assert place.blocks() == 64 and place.find(63)[1] == 63 * 4096
    place.close()
    with pytest.raises(WorkFailed, match="processes: the disk has no block of 4096 bytes for each of 65"):
        workblocks.Place(str(disk), {"block": 4096, "direct": False}, 3, 65)


@pytest.mark.parametrize(
    ("job", "unknown"),
    [
        ("[a]\nrw=randwrite", set()),
        ("[a]\nrw=randread\nfsync=1\nend_fsync=1", set()),
        ("[a]\nrw=randwrite\nsync=1\nfsync=0\nend_fsync=0", set()),
        ("[a]\nrw=randrw\nfdatasync=4", {"p99"}),
        ("[global]\nsync_file_range=write:8\n[a]\nrw=trimwrite", {"p99", "megabytes"}),
        ("[a]\nrw=read\n[b]\nstonewall\nrw=randtrim:4", {"megabytes"}),
        ("[a]\nrw=write:8k\nfsync=1\niodepth=16\nioengine=libaio\ndirect=1", {"p99", "mean"}),
        ("[a]\nrw=read\n[b]\nreadwrite=rw\nend_fsync", {"p99", "mean"}),
        ("[a]\nrw=write\nfsync_on_close=1", {"p99", "mean"}),
        # As fio reads it: the last of two names of one option, and what stands behind a section's name.
        ("[a]\nrw=randread\nreadwrite=randwrite\nend_fsync=1", {"p99", "mean"}),
        ("[a]\nreadwrite=randwrite\nrw=randread\nend_fsync=1", set()),
        ("[a]\nrw=write\nfsync=1\n[b] # c\nrw=read\nfsync=0", {"p99"}),
    ],
)
def test_a_time_that_fio_does_not_tell_is_refused_before_a_run(job: str, unknown: set[str]) -> None:
    found = parse(fio(job, '[[filesystem]]\ntype = "none"\n' if "trim" in job else ""))
    assert {metric for metric in METRICS if spec.refuse_metric(found, metric)} == unknown


SYNCED = "[a]\nrw=randwrite\nbs=4k\nsize=1M\nnumber_ios=20\nwrite_iolog={log}\n"


def test_why_fio_failed_is_said_in_a_line(fio_files: Path) -> None:
    """It stood before fio's JSON, of which the last 800 letters were told, without a word of the failure."""
    for job, says in (("[a]\nrw=read\nsize=1M\nrate_iops=9\nrate_iops_min=90\n", "minimum rate exceeds"),
                      ("[a]\nrw=randtrim\nsize=1M\nnumber_ios=9\n", "Inappropriate ioctl for device"),
                      ("[a]\nrw=randread\nsize=1M\nmax_latency=1\n", "latency of .* exceeds"),
                      ("[a]\nrw=randread\nsize=1M\nioengine=none-such\n", "none-such")):
        with pytest.raises(WorkFailed) as failed:
            fio_run(fio_files / "top", job, 1)
        text = str(failed.value)
        assert re.search(says, text) and "\n" not in text and "{" not in text, text


def fio_run(top: Path, job: str, seed: int) -> record.Record:
    top.mkdir(exist_ok=True)
    fiojob.prepare(str(top), {"job": job}, seed)
    return fiojob.run("fio", str(top), {"job": job}, seed)


# fio 3.33 does six of these requests.
CUT = """[r]
rw=randrw
random_distribution=pareto:0.3
bssplit=4k/60:64k/30:16k/10,8k/100
size=64M
number_ios=1500
"""


@pytest.mark.parametrize(
    ("job", "operations"),
    [(CUT, 0), (CUT.replace("1500", "5000").replace("60:64k/30:16k/10,8k/", ""), 5000),
     (CUT.replace(",8k/100", ""), 1500), ("[a]\nrw=randread\nbs=64k\nsize=64k\nnumber_ios=9\n", 1),
     (CUT + "runtime=1\n", 6)],
    ids=["cut", "one size", "one split", "by its size", "a time"],
)
def test_a_job_that_fio_ends_early_has_failed(job: str, operations: int, fio_files: Path) -> None:
    if not operations:
        with pytest.raises(WorkFailed, match=r"fio ended \[r\] after \d+ of number_ios=1500 requests"):
            fio_run(fio_files / "top", job, 1)
    else:
        done = fio_run(fio_files / "top", job, 1)
        count = sum(one["count"] for one in record.summary(done).values())
        assert count == operations if operations != 6 else count < 1500


@pytest.fixture
def fio_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if not shutil.which("fio"):
        pytest.skip("no fio here")
    monkeypatch.setattr(fiojob, "JOB", str(tmp_path / "job.fio"))
    monkeypatch.setattr(fiojob, "LOGS", str(tmp_path / "logs"))
    return tmp_path


@pytest.mark.parametrize("more", ["", "random_generator=lfsr", "random_distribution=zipf:1.2", "norandommap"])
def test_a_runs_seed_decides_where_fio_writes(more: str, fio_files: Path) -> None:
    seen = []
    for life, seed in enumerate((0, 0, 1, 2)):
        log = fio_files / f"log-{life}"
        fio_run(fio_files / "top", SYNCED.format(log=log) + more + "\n", seed)
        seen.append([line.split()[3] for line in log.read_text().splitlines() if " write " in line])
    assert len(seen[0]) == 20 and seen[0] == seen[1]
    assert len(set(map(tuple, seen))) == 3, "another seed changes nothing"


@pytest.mark.parametrize(
    ("more", "kinds", "syncs"),
    [
        ("fsync=1\n", {"write": 20}, 19),
        ("rw=randrw\nfdatasync=2\nnumjobs=2\ngroup_reporting\n", {"read": 20, "write": 20}, 2),
        ("ioengine=libaio\nfsync=4\n[b]\nstonewall\nrw=read\nsize=64k\nbs=4k\n",
         {"write": 20, "read": 16}, 4),
        ("ioengine=io_uring\nfsync=1\n", {"write": 20}, 19),
        ("ioengine=mmap\nfsync=1\n", {"write": 20}, 19),
    ],
)
def test_operations_are_requests_and_a_syncs_time_is_of_its_write(
    more: str, kinds: dict[str, int], syncs: int, fio_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[dict] = []
    real = fiojob.record_of
    monkeypatch.setattr(fiojob, "record_of", lambda said, *rest: (told.append(said), real(said, *rest))[1])
    done = fio_run(fio_files / "top", SYNCED.replace("write_iolog={log}\n", "") + more, 3)
    found = record.summary(done)
    counts = {kind: one["count"] for kind, one in found.items()}
    if "rw=randrw" in more:
        assert sum(counts.values()) == 40 and set(counts) == set(kinds)
    else:
        assert counts == kinds
    # The other way: sums of fio's own statistics, which its log has no part in.
    jobs = told[0]["jobs"]
    count = sum(job["sync"]["lat_ns"]["N"] for job in jobs)
    writes = sum(job["write"]["lat_ns"]["N"] * job["write"]["lat_ns"]["mean"] for job in jobs)
    waits = sum(job["sync"]["lat_ns"]["N"] * job["sync"]["lat_ns"]["mean"] for job in jobs)
    assert count >= syncs and waits > writes / 1000
    assert abs(found["write"]["mean_ns"] - (writes + waits) / counts["write"]) < 2
    assert set(found["write"]["quantiles_ns"]) == {None}
    if "read" in found:
        most = max(job["read"]["lat_ns"]["max"] for job in jobs)
        assert found["read"]["quantiles_ns"][-1] == max(done.ns["read"]) == most


@pytest.mark.parametrize("job", [
    "[a]\nrw=randwrite\nnumjobs=4",
    "[a]\nrw=write\nnumjobs=4\noffset_increment=25%",
    "[a]\nrw=write\n[b]\nstonewall\nrw=read",
    "[a]\nrw=write\n[b]\nrw=read\noffset=50%",
    "[a]\nrw=write\n[b]\nrw=randread\nnumjobs=7",
])
def test_jobs_of_the_raw_disk_that_do_not_follow_each_other_are_taken(job: str) -> None:
    assert parse(fio(job, '[[filesystem]]\ntype = "none"\n'))


@pytest.mark.parametrize("job", [
    "[a]\nrw=write\nnumjobs=4",
    "[global]\nrw=write\nfilename_format=x.$jobname.$jobnum\n[a]\nnumjobs=2\n[b]\n",
    "[global]\nrw=write\nfilename_format=$jobname\n[a]\n[b]\n",
    "[a]\nrw=write\nfilename_format=x\nnumjobs=2\noffset_increment=50%",
])
def test_jobs_with_files_or_parts_of_their_own_are_taken(job: str) -> None:
    assert parse(fio(job))


def test_each_option_of_fio_is_kept_or_refused_with_a_reason_that_the_documents_have() -> None:
    if not shutil.which("fio"):
        pytest.skip("no fio here")
    said = subprocess.run(["fio", "--cmdhelp=all"], capture_output=True, text=True).stdout
    names = [line.partition(":")[0].strip() for line in said.splitlines()]
    assert len(names) > 200
    twice = [name for name in names if (name in fiooptions.REFUSED) == (name in fiooptions.KEPT)]
    assert not twice, twice
    # fio's own names of one option.
    for name in names:
        told = subprocess.run(["fio", f"--cmdhelp={name}"], capture_output=True, text=True).stdout
        if other := re.search(r"^ *alias: (\w+)$", told, re.M):
            assert fiooptions.ALIASES[other[1]] == name
    text = (TREE / "docs" / "BENCH.md").read_text()
    for name in fiooptions.REFUSED:
        assert f"`{name}`" in text, f"{name} is not in docs/BENCH.md"
        with pytest.raises(spec.SpecError, match=f"job: {name}: leave it out; "):
            parse(fio(f"[a]\n{name}=1"))


SIZED = "[global]\nrw=randrw\nbs=4k\nsize=1M\nnumber_ios=200\n[a]\n"


@pytest.mark.parametrize("more", [
    "", "numjobs=3\n", "numjobs=3\ngroup_reporting\n", "thread\nnumjobs=2\n", "loops=3\n",
    "time_based\nruntime=1\n", "time_based\nruntime=1\ntimeout=500ms\nnumjobs=2\ngroup_reporting\n",
    "thinktime=2ms\nthinktime_blocks=2\n", "rate_iops=300\n", "rate_iops=300\nrate_process=poisson\n",
    "rate=1m\n", "[b]\nstonewall\nrw=write\n", "[b]\nrw=write\nnumber_ios=10\n",
    "exitall\n[b]\nnumber_ios=9\n",
    "ioengine=libaio\ndirect=1\niodepth=8\niodepth_batch=4\n",
    "ioengine=libaio\ndirect=1\nserialize_overlap=1\niodepth=4\n",
    "bssplit=4k/50:8k/50\n", "zonemode=strided\nzonesize=64k\nzoneskip=64k\n", "log_offset=1\nlog_prio=1\n",
    "disable_clat=1\ndisable_slat=1\n", "disable_bw=1\nclat_percentiles=0\n", "percentile_list=50:99\n",
    "fsync=1\n", "nrfiles=4\nfile_service_type=random\n",
])
def test_a_job_s_rate_is_fio_s_own(more: str, fio_files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what fio counts, and of the time that it counts for its own rates."""
    told: list[dict] = []
    real = fiojob.record_of
    monkeypatch.setattr(fiojob, "record_of", lambda said, *rest: (told.append(said), real(said, *rest))[1])
    job = SIZED + more
    assert not fiojob.mistake({"job": job}, False)
    done = fio_run(fio_files / "top", job, 5)
    sides = [(job["groupid"], job[kind]) for job in told[0]["jobs"] for kind in ("read", "write", "trim")]
    assert done.operations() == sum(side["total_ios"] for _, side in sides) > 0
    assert done.read + done.written <= sum(side["io_bytes"] for _, side in sides)
    # fio's rate times its time, in each group of the time of its longest.
    seconds = 0.0
    for group in {group for group, _ in sides}:
        mine = [side for number, side in sides if number == group and side["total_ios"]]
        seconds += max(side["total_ios"] / side["iops"] for side in mine if side["iops"])
    assert done.own_ns / 1e9 == pytest.approx(seconds, rel=0.01, abs=0.002)


def test_a_time_that_fio_counts_in_few_milliseconds_makes_no_rate() -> None:
    def job(group: int, ms: int, whole: int) -> dict:
        sides = {kind: {"runtime": ms if kind == "read" else 0, "total_ios": 0, "io_bytes": 0}
                 for kind in ("read", "write", "trim")}
        sides["read"]["total_ios"] = 1
        return {"groupid": group, "job_runtime": whole, "sync": {"lat_ns": {"N": 0, "mean": 0.0}}} | sides

    def found(*jobs: dict) -> record.Record:
        return fiojob.record_of({"jobs": jobs}, {"read": [1] * len(jobs)}, {"job": "[a]"})

    assert not record.too_short(record.Record())
    two = found(job(0, 300, 4000), job(0, 500, 4000), job(1, 400, 9000))
    assert (two.own_ns, two.grain_ns) == (900_000_000, 2_000_000) and not record.too_short(two)
    said = record.too_short(found(job(0, 99, 99)))
    assert said.startswith("the operations took 99 ms")
    assert record.too_short(found(job(0, 100, 100), job(1, 99, 99)))
    assert not record.too_short(found(job(0, 100, 1)))
    # A job may be over within the first.
    assert record.too_short(found(job(0, 0, 0)))


def test_a_job_without_requests_fails_the_run(fio_files: Path) -> None:
    sides = {kind: {"io_bytes": 0, "total_ios": 0, "runtime": 0} for kind in ("read", "write", "trim")}
    job = {"groupid": 0, "sync": {"lat_ns": {"N": 0, "mean": 0.0}}} | sides
    with pytest.raises(WorkFailed, match="fio logged no request"):
        fiojob.record_of({"jobs": [job]}, {}, {"job": "[a]"})
    with pytest.raises(WorkFailed, match=r"fio counted 0 requests \(read\), and its log has 2"):
        fiojob.record_of({"jobs": [job]}, {"read": [1, 2]}, {"job": "[a]"})
    with pytest.raises(WorkFailed, match="fio: exit status 1: "):
        fio_run(fio_files / "top", "[a]\nrubbish=1\n", 1)


def test_a_command_that_fails_fails_the_run_and_says_why(tmp_path: Path) -> None:
    from davidlib.workload.several import together

    with pytest.raises(WorkFailed, match="exit status 3: sorry"):
        KINDS["command"].run("command", str(tmp_path), {"command": "echo sorry >&2; exit 3"}, 1)
    done = KINDS["command"].run("command", str(tmp_path), {"command": "echo $SEED >$TOP/seed"}, 17)
    assert done.operations() == 1 and (tmp_path / "seed").read_text() == "17\n"

    def body(number: int, *_: object) -> None:
        if number == 1:
            raise ValueError("the second one")

    with pytest.raises(WorkFailed, match="the second one"):
        together(body, 3, 1)


# It answers to SIGTERM as a run does, and says when its processes are being started.
ENDED = """
import signal, sys, time
from davidlib.bench import testbed
from davidlib.workload.several import together

signal.signal(signal.SIGTERM, testbed._end)
print("begun", flush=True)
together(lambda number, rng, record: time.sleep(1000), 200, 1)
"""


@pytest.mark.parametrize("after_ms", [0, 1, 5, 20, 50, 1000])
def test_a_workload_that_is_ended_leaves_no_process(after_ms: int) -> None:
    env = os.environ | {"PYTHONPATH": str(TREE / "tools")}
    with subprocess.Popen([sys.executable, "-c", ENDED], env=env, stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as ended:
        assert ended.stdout and ended.stdout.readline() == "begun\n"
        time.sleep(after_ms / 1000)
        ended.terminate()
        # The second one, as `timeout` sends it.
        ended.terminate()
        assert ended.wait(60) == 128 + signal.SIGTERM
        assert not subprocess.run(["pgrep", "--session", str(ended.pid)], capture_output=True).stdout


# A process of its own: what is left behind becomes its child.
LEFT = """
import os, signal, sys
from davidlib.workload import programs
from davidlib.workload.several import WorkFailed

os.sync = lambda: None
try:
    programs.run_command("command", sys.argv[1], {"command": sys.argv[2]}, 1)
except WorkFailed as failed:
    print(failed)
for pid in programs._children():
    os.kill(pid, signal.SIGKILL)
"""


@pytest.mark.parametrize(
    ("command", "left"),
    [
        ("sleep 0.1", ""),
        ("sleep 0.1 & wait", ""),
        ("echo a | cat", ""),
        ("sleep 0.1 &", ""),  # it has the command's output, to whose end bench reads
        ("sleep 7 >/dev/null 2>&1 &", "sleep"),
        ("setsid sleep 7 >/dev/null 2>&1 &", "sleep"),
        ("(sleep 7 >/dev/null 2>&1 & sleep 7 >/dev/null 2>&1 &)", "sleep"),
    ],
)
def test_a_command_that_leaves_work_undone_has_no_figure(command: str, left: str, tmp_path: Path) -> None:
    """Its seconds were those until the shell's end, and the rest of the work was on no page."""
    env = os.environ | {"PYTHONPATH": str(TREE / "tools")}
    done = subprocess.run([sys.executable, "-c", LEFT, str(tmp_path), command], env=env, capture_output=True,
                          text=True)
    said = (f"command: {left} went on when it had ended, and the figure would be without that: write 'wait' "
            "at its end, or end them there")
    assert (done.stdout, done.stderr) == (f"{said}\n" if left else "", "")


# A phase's beginning, as in a lab; then what a program that a workload starts would have.
ALIGNED = """
import subprocess
from davidlib.bench import testbed

testbed.virtual, testbed.ROUND_S = (lambda: True), 1
testbed.align()
print(subprocess.run(["cat", "/proc/self/timerslack_ns"], capture_output=True, text=True).stdout)
"""


def test_a_workload_sleeps_as_on_linux_though_a_phase_begins_on_time() -> None:
    """With a slack of 1 ns fio's thinktime and rate never end: it sleeps for less than it can see."""
    env = os.environ | {"PYTHONPATH": str(TREE / "tools")}
    words = [sys.executable, "-c", ALIGNED]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == Path("/proc/self/timerslack_ns").read_text().strip()


def test_an_image_has_log_normal_sizes_and_depths_of_poisson() -> None:
    params = KINDS["impressions"].params | {"files": 4000, "largest": 1 << 40}
    made, found = image.files(params, 1)
    logs = sorted(math.log(max(size, 1)) for _, size in found)
    # Half of a log-normal lies below exp(mu), and 84 % below one sigma above it.
    assert abs(logs[2000] - params["mu"]) < 0.15 and abs(logs[3365] - params["mu"] - params["sigma"]) < 0.2
    known = {"", *made}
    assert {f"{os.path.dirname(path)}/".lstrip("/") for path, _ in found} <= known and len(made) == 200


def test_quantiles_are_times_that_so_many_operations_did_not_exceed() -> None:
    found = dict(zip(record.QUANTILES, record.quantiles(list(range(1, 1002))), strict=True))
    assert (found[0], found[500], found[990], found[1000]) == (1, 501, 991, 1001)
    assert set(record.quantiles([7])) == {7}
    # By nearest rank, as david-sim bench does: of 100 the 99th, of 2 the larger above the half.
    hundred, two = (dict(zip(record.QUANTILES, record.quantiles(times), strict=True))
                    for times in (list(range(100, 0, -1)), [5, 3]))
    assert (hundred[0], hundred[500], hundred[990], hundred[999]) == (1, 50, 99, 100)
    assert (two[500], two[600], two[999]) == (3, 5, 5)


def test_the_parts_of_a_run_are_no_more_than_the_drive_was_busy() -> None:
    last = {name: 0 for name in samples.COLUMNS} | {"t_ns": 1000, "busy_ns": 800}
    disk = last | {"seek_ns": 300, "flush_ns": 500}
    found = samples.part_shares(list(disk), list(disk.values()))
    assert (found["seek"], found["flush"], sum(found.values())) == (0.3, 0.5, 0.8)
    ssd = last | {"transfer_ns": 400, "queued_ns": 1200}
    found = samples.part_shares(list(ssd), list(ssd.values()))
    assert (found["transfer"], found["queued"], sum(found.values())) == pytest.approx((0.2, 0.6, 0.8))
    assert set(samples.part_shares(list(last), list(last.values())).values()) == {0}


def test_samples_are_thinned_to_every_second_with_the_last() -> None:
    for length in (5, 6):
        rows = [[number] for number in range(length)]
        assert samples.thinned(rows)[-1] == rows[-1] and len(samples.thinned(rows)) == 3


@pytest.mark.parametrize(
    ("values", "half"),
    # By hand: 4.30265273 s / sqrt(3) with s = 1; 12.70620474 s / sqrt(2) with s = sqrt(2).
    [([9.0, 10.0, 11.0], 4.30265273 / math.sqrt(3)), ([101.0, 103.0], 12.70620474)],
)
def test_an_interval_is_students(values: list[float], half: float) -> None:
    found = figures.estimate(values)
    assert found.low is not None and abs(found.mean - found.low - half) < 1e-7
    assert figures.estimate(values[:1]).low is None


def table(**variants: list[float]) -> figures.Table:
    return {"mail": {name: dict(enumerate(values)) for name, values in variants.items()}}


@pytest.mark.parametrize(
    ("found", "metric", "says"),
    [
        (table(ext4=[10, 20, 30], xfs=[20, 40, 61]), "operations",
         r"mail: xfs has 2.01 times the operations a second of ext4 \(95 % interval 1.96 to 2.06, 3 seeds\)"),
        # Fewer seconds are better: the first named is the faster one.
        (table(ext4=[10, 20, 30], xfs=[20, 40, 61]), "seconds",
         "mail: ext4 has 0.497 times the seconds of xfs"),
        (table(ext4=[10, 20, 30], xfs=[11, 19, 30]), "operations", "mail: no difference between"),
        (table(ext4=[10, 12]), "operations",
         r"mail: ext4: 11 operations a second \(95 % interval 0 to 23.7, 2 seeds\)"),
        (table(ext4=[10, 10, 10]), "operations",
         "mail: ext4: 10 operations a second, the same with all 3 seeds: the workload has no randomness.$"),
        (table(ext4=[10, 10], xfs=[25, 25]), "operations",
         "mail: xfs has 2.5 times the operations a second of ext4, the same with all 2 seeds: "
         "the workload has no randomness.$"),
        (table(ext4=[10, 20], xfs=[20, 40]), "operations",
         "mail: xfs has 2 times the operations a second of ext4, the same with all 2 seeds.$"),
        (table(ext4=[10, 10], xfs=[10, 10]), "operations",
         "mail: ext4 and xfs have the same operations a second with all 2 seeds: the workload"),
        (table(ext4=[10, 20], xfs=[10, 20]), "operations",
         "mail: ext4 and xfs have the same operations a second with all 2 seeds.$"),
        (table(ext4=[10], xfs=[10]), "operations", "mail: ext4 and xfs have the same operations a second.$"),
        (table(ext4=[10], xfs=[10.001]), "operations", "mail: xfs has 1.0001 times the operations"),
        (table(ext4=[10, 10.00001]), "operations",
         r"mail: ext4: 10 operations a second \(95 % interval 9.9999 to 10, 2 seeds\)"),
        (table(ext4=[10], xfs=[20]), "operations", "mail: xfs has 2 times the operations a second of ext4.$"),
    ],
)
def test_the_answer_is_a_sentence_with_its_interval(found: figures.Table, metric: str, says: str) -> None:
    [variants] = found.values()
    still = frozenset(name for name, values in variants.items() if len({*values.values()}) == 1)
    said = f"mail: {answer.sentence(answer.Said(variants, metric, still=still))}."
    assert re.match(says, said), said


def test_equal_figures_of_runs_that_differ_are_no_lack_of_randomness() -> None:
    """Reads at random of a drive that takes the same time for each."""
    one = json.loads(result_of(1, 1.0)) | {"id": "one"}
    two = copy.deepcopy(one) | {"id": "two"}
    two["run"]["seed"] = 2
    [said] = answer.sentences([one, two], "operations").values()
    assert said.endswith(", the same with all 2 seeds: the workload has no randomness.")
    two["result"]["reach"]["touched_bytes"] += 4096
    [said] = answer.sentences([one, two], "operations").values()
    assert said.endswith(", the same with all 2 seeds: the seeds make no difference to this figure.")


def latency_of(count: int = 100, **ms: float) -> dict[str, Any]:
    return {kind: {"count": count, "mean_ns": 1e6 * value, "quantiles_ns": [1e6 * value] * len(QUANTILES)}
            for kind, value in ms.items()}


def test_a_percentile_is_of_one_kind_of_operation_and_says_of_which() -> None:
    """Of each run another kind takes most of the time."""
    runs = []
    for seed, (fs, latency) in enumerate([("ext4", latency_of(create=1, append=4)),
                                          ("xfs", latency_of(create=5, append=2))]):
        one = json.loads(result_of(1, 1.0)) | {"id": str(seed)}
        one["run"]["variant"], one["result"]["latency"] = fs, latency
        runs.append(one)
    # Appends took as long as creates did: the first of them.
    assert figures.table(runs, "p99") == {"varmail": {"ext4": {1: 1}, "xfs": {1: 5}}}
    [said] = answer.sentences(runs, "p99").values()
    assert said.startswith("varmail: ext4 has 0.2 times the 99th percentile of the time of an operation "
                           "'create' of xfs")
    # One fsync took longer than all writes: its percentile is of nothing.
    for one in runs:
        one["result"]["latency"] = latency_of(write=1) | latency_of(count=1, fsync=2000)
    assert figures.longest_kind(runs) == "write" and figures.label(runs, "varmail", "p99") == " 'write'"
    for one in runs:
        one["result"]["latency"] = latency_of(count=7, write=1)
    assert figures.label(runs, "varmail", "p99") == " 'write' (of 7 only)"
    runs[1]["result"]["latency"] = latency_of(delete=1)
    with pytest.raises(UserError, match="no kind of operation in common"):
        figures.table(runs, "p99")


def test_bytes_that_nobody_counted_are_no_rate() -> None:
    one = json.loads(result_of(1, 1.0))["result"] | {"read_bytes": 0, "written_bytes": 0}
    with pytest.raises(UserError, match="count no bytes"):
        figures.value(one, "megabytes")


@pytest.mark.parametrize("kind", ["command", "grep", "find", "du", "metadata"])
def test_a_rate_of_bytes_is_refused_of_programs_whose_bytes_nobody_counts(kind: str) -> None:
    command = 'command = "true"\n' if kind == "command" else ""
    found = parse(f'{DISK}[[workload]]\nkind = "{kind}"\n{command}')
    assert spec.refuse_metric(found, "megabytes") and not spec.refuse_metric(found, "seconds")


def test_files_of_any_workload_s_name_are_each_another() -> None:
    names = ["mail", "日本", "한국", "a b", "a-b", "A b", "x" * 300]
    words = file_words(names)
    assert words[0] == "mail" and len({word.lower() for word in words}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9-]{1,70}", word) for word in words)


def test_runs_that_are_missing_are_named() -> None:
    asked = [{"id": str(at), "workload": "mail", "variant": "xfs" if at % 2 else "ext4"} for at in range(5)]
    assert answer.missing([{"id": str(at)} for at in range(5)], asked) == ""
    assert answer.missing([{"id": "0"}, {"id": "1"}], asked).startswith(
        "3 of the question's 5 runs are missing: 2 of mail, ext4; 1 of mail, xfs.")


def test_numbers_have_three_digits_that_count() -> None:
    assert [answer.digits(n) for n in (0, 0.001234, 1.2345, 99.96, 12345.6)] == \
        ["0", "0.00123", "1.23", "100", "12,300"]


@pytest.mark.lab(LAB, "ext4-postmark")
def test_a_run_has_all_that_a_report_needs_and_repeats(lab) -> None:
    found = lab.labs.wait(LAB, {"run": "ext4-postmark"})
    assert found and not found["error"], found
    assert found["versions"].keys() >= {"mkfs.ext4", "mount", "python3"}, found["versions"]
    assert found["versions"]["kernel"].startswith("6.12.")
    assert all(re.match(r"\d+\.\d", version) for version in found["versions"].values()), found["versions"]
    result, again = found["results"]
    assert result["times"]["good"] is True and not result["wrong"], result["times"]
    assert result["operations"] >= 60 and result["seconds"] > 0 and result["latency"]["create"]["count"] > 5
    assert len(result["samples"]) == len(result["histograms"]) > 1
    assert len(result["samples"][0]) == len(result["columns"])
    assert result["stats"]["mode"] == "timing-accurate"
    assert {kind: what["count"] for kind, what in result["latency"].items()} == \
        {kind: what["count"] for kind, what in again["latency"].items()}


@pytest.mark.lab(LAB, "none-random-read")
def test_random_reads_of_a_raw_disk_take_what_the_drive_takes(lab) -> None:
    found = lab.labs.wait(LAB, {"run": "none-random-read"})
    assert found and not found["error"], found
    [result] = found["results"]
    # One at a time: the drive was busy all the time, and the program waited for nothing else.
    busy = result["stats"]["busy_ns"] / 1e9
    assert abs(busy - result["seconds"]) < 0.02 * result["seconds"], (busy, result["seconds"])
    assert result["latency"]["read"]["count"] == 50


@pytest.mark.lab(LAB, "none-random-read", "slow-hour", "slow-later", "gone")
def test_a_drive_that_fails_is_measured_as_one(lab) -> None:
    found = {name: lab.labs.wait(LAB, {"run": name})
             for name in ("none-random-read", "slow-hour", "slow-later", "gone")}
    [healthy], [slow], [later] = (found[name]["results"] for name in list(found)[:3])
    assert not any(healthy["stats"]["faults"].values()), healthy["stats"]["faults"]
    # The same requests: each took twice the drive's time, of which half is the fault's.
    assert slow["stats"]["faults"]["slowed"] == 50 and not slow["doubts"], slow["doubts"]
    parts = slow["stats"]["parts"]
    assert parts["fault"] * 2 == pytest.approx(sum(parts.values()), rel=0.001), parts
    assert slow["seconds"] / healthy["seconds"] == pytest.approx(2, rel=0.1)
    # At another age it is a healthy one, and says so. It begins at another angle of the platters.
    means = [one["latency"]["read"]["mean_ns"] for one in (healthy, later)]
    assert means[0] == pytest.approx(means[1], rel=0.001)
    assert [doubt["kind"] for doubt in later["doubts"]] == ["unmet_faults"], later["doubts"]
    assert "No such device" in found["gone"]["error"] and not found["gone"]["left"], found["gone"]


@pytest.mark.lab(LAB, "ext4-spread", "xfs-spread")
@pytest.mark.parametrize("fs", ["ext4", "xfs"])
def test_random_reads_of_files_go_all_over_the_disk(lab, fs: str) -> None:
    """By the disk's own count of what was asked for. One file of 256 MiB is a 4000th of this disk."""
    found = lab.labs.wait(LAB, {"run": f"{fs}-spread"})
    assert found and not found["error"], found
    [result] = found["results"]
    stats = result["stats"]
    assert stats["reach"]["most_end"] - stats["reach"]["most_first"] > 0.9 * stats["target_sectors"], stats
    # As fast as the raw disk, but for what the file system itself has to read.
    [raw] = lab.labs.wait(LAB, {"run": "none-random-read"})["results"]
    count, mean = (result["latency"]["read"][name] for name in ("count", "mean_ns"))
    assert count == 200 and 0.9 < mean / raw["latency"]["read"]["mean_ns"] < 1.4, (mean, raw["latency"])


@pytest.mark.lab(LAB, "fio-fsync", "fio-fsync-2")
def test_a_write_of_fio_takes_its_sync_and_goes_where_the_seed_says(lab) -> None:
    found = [lab.labs.wait(LAB, {"run": name}) for name in ("fio-fsync", "fio-fsync-2")]
    assert all(one and not one["error"] for one in found), found
    first, other = (result for one in found for result in one["results"])
    assert first["latency"] != other["latency"]
    write, stats = first["latency"]["write"], first["stats"]
    assert first["operations"] == write["count"] == 40 and set(first["latency"]) == {"write"}
    # The other way: the disk's own sum of the times of writes and flushes. There is no sync behind the last.
    assert (stats["modelled"]["write"], stats["modelled"]["flush"]) == (40, 39)
    modelled = sum(stats["modelled_ns"].values()) / 40
    assert abs(write["mean_ns"] - modelled) < 0.002 * modelled, (write["mean_ns"], modelled)
    # One at a time: the rate is of the time in which the disk was asked, and not of fio's start and end.
    assert not first["wrong"] and first["operations_per_s"] == pytest.approx(1e9 / modelled, rel=0.01)
    assert first["samples"][-1][0] / 1e9 - first["seconds"] > 0.05


@pytest.mark.lab(LAB, "fio-waits")
def test_jobs_that_wait_come_to_an_end_and_to_the_rate_that_they_ask_for(lab) -> None:
    [result] = lab.labs.wait(LAB, {"run": "fio-waits"})["results"]
    read = result["latency"]["read"]
    assert not result["wrong"] and result["operations"] == read["count"] == 40
    # 20 with 20 ms behind each, then 20 of which one begins every 25 ms.
    waits = 20 * (read["mean_ns"] / 1e9 + 0.02) + 19 * 0.025
    assert result["seconds"] == pytest.approx(waits, rel=0.06), (result["seconds"], waits)


# Of a run: the doubts that it has. What is not here must not be there. Caches that fill, or are cold, at the
# beginning are a trend: a step behind the first window.
DOUBTED = {
    "cache-takes-writes": {"cached_writes"},
    "cache-is-full": set(),
    "raw-is-data": {"trend"},
    "never-settles": {"cached_writes", "unsteady"},
    "memory-takes-writes": {"cached_writes", "memory_reads"},
    "memory-reads": {"cached_writes", "memory_reads", "trend"},
    "cache-reads": {"cached_reads", "short_stroke"},
    "stream-again": {"cached_reads"},
    "overwritten": {"cached_writes"},
    "media-cache": {"cached_writes", "trend"},
    "whole-bands": {"trend"},
    "blank": {"empty_reads"},
    "erased": {"erased_flash", "trend"},
    "worn": set(),
    "journal": {"short_stroke"},
    "superblocks": {"cached_writes", "short_stroke", "trend"},
    "one-place": {"short_stroke"},
    "several-settle": {"memory_reads"},
    "none-random-read": set(),
    "ext4-spread": {"trend"},
    "xfs-spread": set(),
}


@pytest.mark.lab(LAB, *DOUBTED)
@pytest.mark.parametrize("name", DOUBTED)
def test_a_run_says_what_its_figure_is_not(lab, name: str) -> None:
    found = lab.labs.wait(LAB, {"run": name})
    assert found and not found["error"], found
    [result] = found["results"]
    assert {doubt["kind"] for doubt in result["doubts"]} == DOUBTED[name], result["doubts"]
    # A rate may rise to many times what it was.
    most = {"trend": math.inf, "unsteady": math.inf}
    assert all(doubt["text"] and 0.1 <= abs(doubt["share"]) <= most.get(doubt["kind"], 1)
               for doubt in result["doubts"])
    reach = result["reach"]
    assert 0 < reach["touched_bytes"] <= reach["disk_bytes"] >= reach["stroked_bytes"] > 0
    warming = result["steady"]
    assert (warming is not None) == (name in ("cache-is-full", "never-settles", "several-settle"))
    # What a workload has no word for, or has said already, is no advice.
    advised = any("steady = true" in doubt["text"] for doubt in result["doubts"])
    assert not (advised and (warming or "= \"fio\"" in benchrun.SPECS[name][0])), result["doubts"]
    # Only what was measured counts: the disk's own count of requests has none of the warming up.
    if warming:
        assert warming["warmed"] >= 300 and result["stats"]["modelled"]["write"] < 2000, result["stats"]
        assert warming["level"] == (name != "never-settles")


@pytest.mark.lab(LAB, *benchrun.BESIDE)
def test_a_live_disk_and_the_simulator_say_the_same_of_an_ssds_past(lab) -> None:
    """The rate, what is in doubt, how much of it, and whether that refutes the figure. Not all are alike."""
    rates, kinds = {}, {}
    for name, (precondition, kind, operations) in benchrun.BESIDE.items():
        found = lab.labs.wait(LAB, {"run": name})
        assert found and not found["error"], found
        [live] = found["results"]
        job = f"a: {kind.removeprefix('random-')} random count={operations} warm=0 drain"
        words = ["--option", f"precondition={precondition}", "--option", "precondition_fill=1", "--job", job]
        sim = [TREE / "build" / "david-sim", "bench", "--json", "--profile", benchrun.FLASH]
        said = subprocess.run(sim + words, capture_output=True, text=True)
        [modelled] = json.loads(said.stdout)["jobs"]
        rates[name] = live["operations_per_s"]
        assert rates[name] == pytest.approx(modelled["all"]["per_s"], rel=0.05), (name, modelled["all"])
        shares = [{doubt["kind"]: doubt["share"] for doubt in one["doubts"]} for one in (live, modelled)]
        kinds[name] = set(shares[0])
        assert shares[0] == pytest.approx(shares[1], abs=0.05), (name, shares)
        refuted = not kinds[name].isdisjoint(doubts.REFUTING)
        assert said.returncode == (2 if refuted else 0), (name, said.returncode, shares)
    assert rates["beside-blank"] > 3 * rates["beside-written"], rates
    assert rates["beside-erased"] > 2 * rates["beside-worn"], rates
    assert kinds == {"beside-blank": {"empty_reads"}, "beside-written": set(),
                     "beside-erased": {"erased_flash"}, "beside-worn": {"trend"}}, kinds


@pytest.mark.lab(LAB, "journal", "superblocks", "one-place")
@pytest.mark.parametrize("name", ["journal", "superblocks", "one-place"])
def test_metadata_far_away_is_no_place_where_requests_lay(lab, name: str) -> None:
    [result] = lab.labs.wait(LAB, {"run": name})["results"]
    reach, stats = result["reach"], result["stats"]["reach"]
    assert reach["stroked_bytes"] < 0.01 * reach["disk_bytes"], reach
    # The other way, and what it was before: all requests of the disk.
    if name != "one-place":
        assert (stats["end"] - stats["first"]) * 512 > 0.4 * reach["disk_bytes"], stats


@pytest.mark.lab(LAB, "full")
def test_a_run_whose_store_is_too_small_fails_and_leaves_nothing(lab) -> None:
    found = lab.labs.wait(LAB, {"run": "full"})
    assert found and "; of the disk: store: full: writes failed" in found["error"], found
    assert not found["left"], found


@pytest.mark.lab(LAB, "roomy")
def test_a_store_may_take_more_than_half_of_the_lab_s_memory(lab) -> None:
    found = lab.labs.wait(LAB, {"run": "roomy"})
    assert found and not found["error"], found
    stats = found["results"][0]["stats"]
    assert stats["store_used"] * stats["block_size"] >= 560 << 20 and stats["errors"] == 0


@pytest.mark.lab(LAB)
def test_the_lab_ends_well(lab) -> None:
    lab.ended_well()


def result_of(seed: int, seconds: float) -> str:
    described = runs.expand(parse(f"seeds = {seed}\n" + DISK + WORK))[0].described
    versions = {"kernel": "6.12.117", "mkfs.ext4": "1.47.0"}
    stats = {"store_used": 1, "block_size": 4096, "mem": {"model": 1}}
    latency = {"create": {"count": 2, "mean_ns": 10**6, "quantiles_ns": [10**6] * len(record.QUANTILES)}}
    return json.dumps({"run": described, "versions": versions, "result": {
        "seconds": seconds, "operations": 2, "operations_per_s": 2 / seconds, "megabytes_per_s": 1.0,
        "read_bytes": 0, "written_bytes": 1, "latency": latency, "times": {"good": True, "text": "fine"},
        "wrong": [], "doubts": [], "reach": {"touched_bytes": 1, "stroked_bytes": 5, "disk_bytes": 10},
        "stats": stats, "columns": ["t_ns"], "samples": [[0], [1]], "histograms": [[0], [1]]}})


def test_a_result_finds_the_files_that_its_question_names(tmp_path: Path) -> None:
    """They are beside the spec, and the result is somewhere else."""
    (tmp_path / "a.wl").write_bytes(b"x")
    results = Results(tmp_path / "out")
    results.begin(DISK + '[[workload]]\nkind = "replay"\ntrace = "a.wl"\n', [], tmp_path)
    assert results.question()[0].workloads[0].params["trace"] == str(tmp_path / "a.wl")


def test_results_are_made_of_the_runs_that_are_there_and_the_same_each_time(tmp_path: Path) -> None:
    found = runs.expand(parse("seeds = [1, 2]\n" + DISK + WORK))
    seen = []
    for order in (found, list(reversed(found))):
        results = Results(tmp_path / str(len(seen)))
        results.begin("spec", found)
        assert not any(map(results.has, found))
        for run in order:
            results.add(run, result_of(run.described["seed"], run.described["seed"] * 3.0))
        results.write_tables(results.load())
        seen.append({path.name: path.read_bytes() for path in results.top.rglob("*") if path.is_file()})
    assert seen[0] == seen[1] and "results.sqlite" in seen[0]
    rows = json.loads(seen[0]["results.json"])
    assert [row["seconds"] for row in rows] == [3.0, 6.0]
    means = figures.table(Results(tmp_path / "0").load(), "mean")
    assert means == {"varmail": {"ext4": {1: 1.0, 2: 1.0}}}


def test_a_full_disk_leaves_what_was_there_and_is_said_in_a_line(tmp_path: Path) -> None:
    """A file may grow to 8 KiB, as if the disk had no more room."""
    found = runs.expand(parse("seeds = [1, 2]\n" + DISK + WORK))
    results = Results(tmp_path / "out")
    results.begin("spec", found)
    for run in found:
        results.add(run, result_of(run.described["seed"], 3.0))
    loaded = results.load()
    page, before = tmp_path / "page", "the old page"
    page.write_text(before)
    results.write_tables(loaded[:1])
    was = (results.top / "results.sqlite").read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, hard))
        with pytest.raises(UserError, match="page: File too large; it is as it was before"):
            write_whole(page, "x" * 100_000)
        with pytest.raises(UserError, match=r"results\.sqlite: .*; it is as it was before"):
            results.write_tables(loaded)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, old)
    assert page.read_text() == before and (results.top / "results.sqlite").read_bytes() == was
    assert not list(tmp_path.rglob("*.new"))


def test_a_directory_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("dear")
    with pytest.raises(UserError, match="something else"):
        Results(tmp_path).begin("spec", [])
    assert [path.name for path in tmp_path.iterdir()] == ["letter"]


@pytest.mark.parametrize(
    ("options", "modules", "says"),
    [
        ({"scheduler": "tcp://x:1"}, True, "leave out --scheduler"),
        ({"workers": 2}, True, "leave out --workers 2"),
        ({}, False, "takes no modules\n  or: where = \"virtual\" needs no module"),
        ({}, True, "no target 'david': it is not there; try: this\n  or: "),
    ],
)
def test_this_machine_is_refused_with_a_sentence(options: dict, modules: bool, says: str, tmp_path: Path,
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise DeviceError(modulehelp.explain("it is not there", "this"))

    monkeypatch.setattr(localhost.dm, "target_loaded", lambda: False)
    monkeypatch.setattr(localhost.dm, "load_module", refuse)
    monkeypatch.setattr(localhost.dm, "need_root", lambda what: None)
    monkeypatch.setattr(localhost, "MODULES", tmp_path if modules else tmp_path / "nothing")
    monkeypatch.setattr(localhost, "BUILT", tmp_path / "nothing")
    with pytest.raises(UserError, match=f"(?s)where = \"here\".*{says}"):
        localhost.ready(argparse.Namespace(**{"scheduler": "", "workers": 0} | options))


def test_a_bad_spec_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(DISK + '[[workload]]\nkind = "vermail"\n')
    words = [sys.executable, str(TREE / "tools" / "david"), "bench", "bad.toml"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "bad.toml:4: kind = 'vermail'" in done.stderr, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.toml"]


def points(rates: list[float]) -> list[steady.Point]:
    """Windows of a second each."""
    found = [(0, 0)]
    for rate in rates:
        found.append((found[-1][0] + 10**9, found[-1][1] + round(rate)))
    return found


@pytest.mark.parametrize(
    ("rates", "percent"),
    [
        ([100.0] * 10, 0),
        ([100.0] * 9, 0),
        # By hand: nine steps of 10.
        ([100.0 + 10 * at for at in range(10)], 90),
        ([190.0 - 10 * at for at in range(10)], -100 * 90 / 190),
        # Nothing falls by more than all of it: least squares, from 190.3636 with a slope of -19.9697.
        ([190.0 + at % 2 - 20 * at for at in range(10)], -100 * 9 * 19.96969697 / 190.36363636),
        # Curves, of which neither line nor step comes near.
        ([7642.0, 5184, 5067, 4909, 4754, 4585, 4407, 4141, 3930, 3790], 100 * (3790 / 7642 - 1)),
        ([1 / (1 - at / 10) for at in range(10)], 900),
        # A cliff: what is off a line through it hides the line.
        ([1541.0] * 8 + [65.0, 41.0], 100 * (53 / 1541 - 1)),
        ([100.0] * 9 + [7.0], -93),
        ([100.0] * 3 + [400.0] * 7, 300),
        # Less than a step of level rates may be, and a dip.
        ([100.0, 140.0] * 4 + [160.0, 150.0], 0),
        ([100.0] * 4 + [7.0] + [100.0] * 5, 0),
        # A rise of a half, in what scatters by as much: level rates do so, too.
        ([100 + 5 * at + (60 if at % 2 else -40) for at in range(10)], 0),
    ],
)
def test_a_trend_is_a_line_or_a_step_beyond_what_level_rates_have(rates: list[float], percent: float) -> None:
    assert steady.trend(points(rates)) == pytest.approx(percent)


@pytest.mark.parametrize(
    ("cache", "rate", "after"),
    [
        # A window is ten operations; eleven of them have ten rates.
        (0, lambda at: 100, 110),
        # As many operations of 4 KiB as the cache takes: 25, and eleven windows of that.
        (25 * 4096, lambda at: 100, 275),
        # A rate that falls all the time.
        (0, lambda at: 1000 * 0.99**at, 0),
    ],
)
def test_a_rate_has_settled_when_it_is_level_and_the_cache_was_full(cache: int, rate, after: int) -> None:
    came = steady.Home()
    judge = steady.Judge(cache, 10, lambda: came)
    now, found = 0, 0
    for at in range(1, 1001):
        now += int(10**9 / rate(at))
        came = steady.Home(written=8 * at)
        if judge.is_level(now, at, 4096 * at, 4096 * at):
            found = at
            break
    assert found == after


@pytest.mark.parametrize(("apart", "percent"), [(0, 90.0), (1, 90.0), (2, 90.0), (3, 90.0), (4, 0.0)])
def test_a_curve_has_nearly_all_windows_in_the_order_of_their_rates(apart: int, percent: float) -> None:
    """Of 45 pairs up to five may be in another order: as many as two windows make that are three apart."""
    rates = [100.0 + 10 * at for at in range(10)]
    rates[3], rates[3 + apart] = rates[3 + apart], rates[3]
    assert steady._curve(rates) == pytest.approx(percent)


def test_a_shingled_disk_settles_when_what_comes_goes_home() -> None:
    """Until its media cache is full, here after 300 writes, that takes all of it at a level rate."""
    homes = iter([steady.Home(8 * at, at, 8 * min(at, 300), min(at, 300)) for at in range(0, 1010, 10)])
    judge = steady.Judge(0, 10, lambda: next(homes), shingled=True)
    assert [at for at in range(1, 1001) if judge.is_level(10**7 * at, at, 4096 * at, 4096 * at)][0] == 400


def test_what_stays_in_the_machines_memory_settles_nothing() -> None:
    """A level rate of writes of which the disk gets none, or less than its cache takes."""
    for cache, came in ((0, 0), (4096, 3)):
        homes = iter([steady.Home(), *([steady.Home(written=8 * came)] * 100)])
        judge = steady.Judge(cache, 10, lambda homes=homes: next(homes))  # type: ignore[misc]
        assert not any(judge.is_level(10**7 * at, at, 4096 * at, 4096 * at) for at in range(1, 501))


@pytest.mark.parametrize(("came", "share"), [(0, 1.0), (50, 0.5), (95, None), (130, None)])
def test_what_programs_wrote_and_no_disk_got_is_a_doubt(came: int, share: float | None) -> None:
    """However level the rate was; 100 pages were written."""
    done = record.Record()
    done.written = 100 * 4096
    part = {"sectors": {"read": 0, "write": 8}, "modelled": {"read": 0, "write": 1}, "cached": {"write": 0}}
    seen = types.SimpleNamespace(
        part=part, record=done, homes=(steady.Home(8, 1), steady.Home(8 + 8 * came, 2)),
        warming={"level": True}, limits=None, wait="")
    found = [doubt["share"] for doubt in doubts._cached_writes(seen)]  # type: ignore[arg-type]
    assert found == ([] if share is None else [share])


def test_a_page_has_what_came_before_the_first_sample() -> None:
    """Of samples that were taken all the time the first is of the run's begin; of thinned ones it is not."""
    for times, counts in (([10**5, 10**9, 2 * 10**9], [1, 50, 60]), ([10**9, 2 * 10**9], [50, 60])):
        rows, columns = [[ns, count] for ns, count in zip(times, counts, strict=True)], ["t_ns", "modelled"]
        cells, buckets = samples.heat([float(ns) for ns in times], [[0, count] for count in counts], 10)
        assert buckets == [1] and sum(cells[0]) == 60
        assert samples.since(columns, rows, "modelled") == [0, 50, 60]
        assert samples.since(columns, rows, "t_ns") == [0, 10**9, 2 * 10**9]


def test_small_writes_beside_a_stream_stay_in_a_media_cache() -> None:
    before, stream = steady.Home(5000, 70, 100, 3), steady.Home(1_005_000, 1070, 100, 3)
    assert steady.stayed(before, stream) == 0
    # A thousand small ones are 0.8 % of the bytes, and half of the requests.
    assert steady.stayed(before, steady.Home(1_013_000, 2070, 8100, 1003)) == 0.5
    # Other bytes went home than came.
    assert steady.stayed(before, steady.Home(1_005_000, 1070, 0, 0)) == 0


def test_windows_are_of_as_many_operations_and_none_of_too_few() -> None:
    assert not doubts.windows(list(range(1, 200)), 1)
    assert [count for _, count in doubts.windows(list(range(1, 206)), 1)] == list(range(0, 201, 20))
    # fio's clock counts milliseconds.
    assert not doubts.windows([10**6 * (at // 4) for at in range(400)], 0)
    assert len(doubts.windows([10**6 * at for at in range(400)], 0)) == 11


@pytest.mark.parametrize(("pages", "rate", "share"),
                         [(1000, 1e8, 0.75), (1000, 0.0, None), (3000, 1e8, None)])
def test_places_that_were_written_again_and_again_are_a_doubt(pages: int, rate: float,
                                                              share: float | None) -> None:
    """Of a disk, whatever lies between these places; 4,000 pages were written while the rate settled."""
    part = {"reach": {"pages": 10, "first": 0, "end": 10**6, "most_first": 0, "most_end": 10**6},
            "target_sectors": 10**6, "read_pages": 0, "modelled": {"read": 0, "write": 4000},
            "flash": {"empty_reads": 0, "map_reads": 0}}
    warm = {"reach": {"pages": pages}, "sectors": {"write": 8 * 4000}}
    media = types.SimpleNamespace(media_rate=rate, map_misses=0.0)
    # With steady, and without.
    whole = part | warm | {"reach": part["reach"] | warm["reach"]}
    for span, before in ((part, warm), (whole, None)):
        seen = types.SimpleNamespace(part=span, is_random=True, warm=before, limits=media,
                                     record=record.Record())
        found = list(doubts._short_stroke(seen))  # type: ignore[arg-type]
        assert [doubt["share"] for doubt in found] == ([] if share is None else [share])


@pytest.mark.parametrize(
    ("streamed", "share"), [(0, 0.98), (600, 0.95), (950, 0.6), (990, None), (2000, None)]
)
def test_reads_at_random_are_asked_for_beside_a_stream(streamed: int, share: float | None) -> None:
    """A stream's requests are all hits; of 1,000 requests 980 were."""
    part = {"cached": {"read": 0}, "sectors": {"read": 8000, "write": 0}, "read_hits": 980,
            "modelled": {"read": 1000, "write": 0}}
    done = record.Record()
    done.in_order = streamed
    disk = types.SimpleNamespace(kind="disk")
    seen = types.SimpleNamespace(part=part, record=done, is_random=True, limits=disk)
    found = [doubt["share"] for doubt in doubts._cached_reads(seen)]  # type: ignore[arg-type]
    assert found == ([] if share is None else [pytest.approx(share)])


def test_syncs_of_processes_that_wait_at_once_are_one(tmp_path: Path) -> None:
    """Eight of 9 s each, after 7 s of writes."""
    done = record.Record()
    done.ns, done.ends = {"write": [10**6] * 800, "fsync": [9 * 10**9] * 8}, [10**9 + 7 * 10**9]
    part = {"sectors": {"write": 8000}}
    limits = types.SimpleNamespace(lasting=False, cache=1 << 20)
    seen = types.SimpleNamespace(record=done, rated=True, begin_ns=10**9, ns=16 * 10**9, left_ns=0, part=part,
                                 timed=part, wait="")
    doubt, = doubts._left(seen, limits)  # type: ignore[arg-type]
    assert doubt["share"] == 9 / 16 and "9 s of them in the run's 16 s" in doubt["text"], doubt


def test_small_reads_at_random_count_in_pages(tmp_path: Path) -> None:
    """32,000 of 512 bytes in 4,096 pages: the disk was asked for each page once."""
    done, pages = record.Record(), 4096
    done.read, done.rest = 32000 * 512, 32000 * 3584
    seen = types.SimpleNamespace(record=done, part={"sectors": {"read": 8 * pages}})
    doubt, = doubts._memory_reads(seen)  # type: ignore[arg-type]
    assert doubt["share"] == 1 - pages / 32000
    for direct, kind, rest in ((False, "random-read", 100 * 3584), (False, "sequential-read", 0)):
        params = KINDS[kind].params | {"block": 512, "size": 1 << 20, "operations": 100, "direct": direct}
        params["processes"] = 1
        place = tmp_path / kind
        place.mkdir()
        workblocks.prepare(str(place), params, 1)
        assert workblocks.run(kind, str(place), params, 1).rest == rest


def flash_run(written: int, moved: int, erases: int, rewrites: int, fresh: int = 0, slc: int = 0,
              sampled: bool = True) -> list[dict]:
    """Doubts about writes to 1,000 pages of an SSD."""
    flash = {"host_pages": written if sampled else 0, "moved_pages": moved, "erases": erases, "programs": 1,
             "empty_reads": 0, "fresh_pages": fresh, "slc_programs": slc}
    sums = {"read": 0, "write": written}
    part = {"sectors": sums, "modelled": sums, "read_pages": 0, "flash": flash, "reach": {"pages": 1000}}
    limits = types.SimpleNamespace(rewrites=rewrites, program_pages=16)
    seen = types.SimpleNamespace(part=part, timed=part, warm=None, limits=limits, record=record.Record(),
                                 wait="")
    return list(doubts._flash(seen))  # type: ignore[arg-type]


def test_erased_flash_is_a_doubt_by_its_share_of_the_writes() -> None:
    """As of david-sim: a job may begin with erased blocks, and end with collection, whatever it has moved."""
    for fresh, share in ((90, None), (400, 0.4), (1000, 1.0)):
        found = flash_run(1000, 300, 5, 0, fresh)
        assert [doubt["share"] for doubt in found] == ([] if share is None else [share])
        assert all("flash blocks that were erased" in doubt["text"] for doubt in found)
    # 32 programs of 16 pages are more than half of them.
    for programs, by_slc in ((32, True), (31, False)):
        [said] = flash_run(1000, 0, 0, 0, 1000, programs)
        assert ("the SLC cache took 100 %" in said["text"]) is by_slc
        assert ("precondition" in said["text"]) is not by_slc
    # What is missing may be more.
    [begun] = flash_run(1500, 1, 0, 6, 1000)
    assert begun["share"] == 0.75 and "only begun" in begun["text"]
    assert flash_run(500, 0, 0, 0, sampled=False) and not flash_run(500, 0, 3, 0, sampled=False)


def test_flash_is_in_doubt_until_all_was_written_anew_for_some_times() -> None:
    assert [doubt["share"] for doubt in flash_run(500, 0, 0, 6, 500)] == [1.0]
    assert [doubt["share"] for doubt in flash_run(1500, 1, 0, 6)] == [0.75]
    assert [doubt["share"] for doubt in flash_run(250, 1, 0, 1)] == [0.75]
    assert not flash_run(5500, 1, 0, 6) and not flash_run(950, 1, 0, 1)
    # Nothing valid is moved after writes in order; random writes were there before.
    assert not flash_run(1000, 0, 3, 6) and not flash_run(1000, 1, 0, 0)


@pytest.mark.parametrize(("drive", "pages"), [("intel-660p-1tb", 16), ("samsung-850-evo-250", 8)])
def test_an_slc_cache_that_took_the_writes_is_called_by_its_name(drive: str, pages: int) -> None:
    sim = str(build.ensure("david-sim"))
    words = [sim, "profile", "show", drive, "--word"]
    word = subprocess.run(words, capture_output=True, text=True, check=True)
    assert limits.parse(word.stdout).program_pages == pages
    without = ("--option", "slc_cache_min=0", "--option", "slc_cache=0")
    for options, who in (((), "the SLC cache"), (without, "flash blocks that were erased")):
        words = [sim, "bench", "--profile", drive, "--job", "write size=1M count=150 depth=4", *options]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        assert f"{who} took 100 % of the writes" in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("past", "fill", "times"),
    [("fresh", "1", 6), ("sequential", "1", 1), ("sequential", "0.5", 6), ("random", "1", 0)],
)
def test_how_often_flash_is_written_until_it_is_settled(past: str, fill: str, times: int) -> None:
    word = f"kind=ssd;precondition={past};precondition_fill={fill};write_buffer=8MiB"
    assert limits.parse(word).rewrites == times
    assert limits.parse(word.replace("kind=ssd", "kind=memory")).rewrites == 0


@pytest.mark.parametrize(("map_reads", "share"), [(940, None), (900, None), (500, 0.472), (3, 0.997)])
def test_small_files_all_over_an_ssd_have_its_map_in_memory(map_reads: int, share: float | None) -> None:
    """Of a Toshiba RC100: 24 GB of 480 GB are in memory, so of 100 requests at random 95 read the map."""
    shown = subprocess.run([str(build.ensure("david-sim")), "profile", "show", "toshiba-rc100-480", "--word"],
                           capture_output=True, text=True, check=True)
    found = limits.parse(shown.stdout)
    assert found.map_misses == pytest.approx(1 - 24 * 2**30 / 480.1e9, abs=1e-4)
    assert limits.parse(shown.stdout.replace("map_cache=49152", "map_cache=0")).map_misses == 0
    reach = {"pages": 1, "most_first": 0, "most_end": 99}
    part = {"modelled": {"read": 900, "write": 200}, "read_pages": 1000, "target_sectors": 100,
            "reach": reach, "flash": {"map_reads": map_reads, "empty_reads": 0}}
    done = record.Record()
    done.in_order = 100
    seen = types.SimpleNamespace(part=part, warm=None, record=done, limits=found, is_random=True)
    said = list(doubts._short_stroke(seen))  # type: ignore[arg-type]
    assert [doubt["share"] for doubt in said] == ([] if share is None else [pytest.approx(share, abs=1e-3)])
    part["flash"]["empty_reads"] = 1000
    assert len(list(doubts._short_stroke(seen))) == (map_reads < 100)  # type: ignore[arg-type]
    seen.is_random = False
    assert not list(doubts._short_stroke(seen))  # type: ignore[arg-type]


def test_a_file_systems_own_writes_beside_reads_are_no_doubt() -> None:
    sums = {"read": 100_000, "write": 100}
    assert not doubts._has({"sectors": sums, "modelled": sums}, "write")
    assert doubts._has({"sectors": sums, "modelled": {"read": 100, "write": 5}}, "write")
    few = {"sectors": {"read": 72, "write": 480_000}, "modelled": {"read": 9, "write": 60_047}}
    seen = types.SimpleNamespace(part=few | {"cached": {"read": 40}, "read_hits": 5}, record=record.Record())
    assert not list(doubts._cached_reads(seen))  # type: ignore[arg-type]


def test_a_line_of_a_job_ends_where_fio_ends_it(fio_files: Path) -> None:
    """At a comment. Otherwise direct=0 and fsync=0 were on, and two jobs none."""
    said = ("[global] ; all", "bs=4k # a page", "size=64k;", "", "; nothing", "[a] # one",
            "rw=randwrite ; hot", "fsync=0 ; none", "direct=0 # by memory", "numjobs=2 # two", "rate_iops#")
    plain = [line.split(";")[0].split("#")[0].strip() for line in said if line.strip()]
    place = fio_files / "commented.fio"
    place.write_text("\n".join(said[:-1]))
    line = subprocess.run(["fio", "--parse-only", "--showcmd", place], capture_output=True, text=True,
                          check=True)
    [(name, options)] = fiojob.sections("\n".join(said[:-1]))
    shown = dict(word[2:].split("=") for word in line.stdout.split()[1:])
    assert shown.pop("name") == name == "a" and options == shown, (options, shown)
    assert list(fiojob.sections("\n".join(said))) == list(fiojob.sections("\n".join(plain)))
    assert not fiojob.unknown({"job": "\n".join(said[:-1])})


JOBS = "[stream]\nrw=read\nbs=256k\n[hot]\nrw=randread\nbs=4k\nnumjobs=2\n[writes]\nrw=write\nbs=4k\n"


def test_requests_in_order_are_counted_by_sections(fio_files: Path) -> None:
    """Two for each read of the stream, none for what is at random or written."""
    done = fio_run(fio_files / "top", "[global]\nsize=1M\nnumber_ios=4\ngroup_reporting\n" + JOBS, 1)
    assert done.in_order == 2 * 4 and fiojob.is_random({"job": JOBS})
    assert done.least_read == 2 * 4 * 4096
    assert done.rest == 0
    odd = "[a]\nrw=randread\nbs=512\nsize=64k\nnumber_ios=10\n[b]\nrw=randread\nbs=5k\nsize=50k\ndirect={}\n"
    assert fio_run(fio_files / "top", odd.format(0), 1).rest == 10 * 3584 + 10 * 3072
    alone = fio_run(fio_files / "top", odd.format("1\nbs=8k"), 1)
    assert alone.rest == 10 * 3584
    part = {"flash": {"empty_reads": 20}, "read_pages": 1000}
    for read, share in ((0, 0.02), (50 * 4096, 0.4), (10 * 4096, 1)):
        alone.least_read = read
        seen = types.SimpleNamespace(part=part, record=alone)
        assert doubts._empty_share(seen) == share  # type: ignore[arg-type]
    assert not fiojob.is_random({"job": "[a]\nrw=read\n[b]\nrw=write\n"})


def test_pages_of_small_files_that_were_in_memory_are_a_doubt(tmp_path: Path) -> None:
    """A disk that is asked for few of their pages reads as many bytes as programs do."""
    (tmp_path / "small").write_bytes(b"x" * 512)
    small = record.Record()
    for _ in range(100):
        fileops.read_whole(small, str(tmp_path / "small"))
    assert (small.read, small.rest) == (51200, 100 * 3584)
    again = record.Record()
    again.join(small.as_dict())
    for pages, share in ((100, None), (12, 0.88)):
        seen = types.SimpleNamespace(record=again, part={"sectors": {"read": 8 * pages}})
        found = list(doubts._memory_reads(seen))  # type: ignore[arg-type]
        assert [doubt["share"] for doubt in found] == ([] if share is None else [pytest.approx(share)])


@pytest.mark.parametrize(("failed", "share"), [(0, None), (9, None), (10, 0.1), (60, 0.6)])
def test_requests_that_failed_are_a_doubt_by_their_share(failed: int, share: float | None) -> None:
    """Buffered writes fail behind a program's back: its rate is of what the drive refused."""
    part = {"requests": {"read": 10, "write": 80, "flush": 10, "discard": 900, "zeroes": 9},
            "faults": {"media_write": failed, "slowed": 50}}
    found = list(doubts._failed(types.SimpleNamespace(part=part, mended=False)))  # type: ignore[arg-type]
    assert [doubt["share"] for doubt in found] == ([] if share is None else [share])
    assert not list(doubts._failed(types.SimpleNamespace(part=part, mended=True)))  # type: ignore[arg-type]


def test_the_answer_carries_its_doubts() -> None:
    good = json.loads(result_of(1, 1.0)) | {"id": "one"}
    bad = copy.deepcopy(good) | {"id": "two"}
    bad["run"]["seed"], bad["run"]["variant"] = 2, "xfs"
    bad["result"]["doubts"] = [{"kind": "cached_writes", "share": 1.0, "text": "a cache took the writes"}]
    [(_, said)] = answer.with_doubts([good, bad], "operations")
    assert said == ["cached_writes, 1 of 2 runs: xfs: a cache took the writes"]
    # What is said of one variant is not said of another.
    worse = copy.deepcopy(bad)
    worse["run"]["variant"], worse["result"]["doubts"][0]["text"] = "btrfs", "a larger one"
    [line] = answer.doubted([good, bad, worse], "varmail")
    assert line == "cached_writes, 2 of 3 runs: xfs: a cache took the writes; btrfs: a larger one"
    # What to do about it stands once.
    bad["result"]["doubts"][0]["text"] += " (more of them)"
    [alone] = answer.doubted([good, bad, worse], "varmail")
    assert alone.endswith("xfs: a cache took the writes (more of them); btrfs: a larger one")
    worse["result"]["doubts"][0]["text"] += " (more of them)"
    [line] = answer.doubted([good, bad, worse], "varmail")
    assert line.endswith("xfs: a cache took the writes; btrfs: a larger one (more of them)")
    [(_, plain)] = answer.with_doubts([good], "operations")
    assert not plain
    # It is believable: who measures a cache has measured it.
    assert answer.verdict([good, bad])[0] is True
    # That it measured something else than was asked for is another matter.
    for kind in doubts.KINDS:
        bad["result"]["doubts"][0]["kind"] = kind
        believed, said = answer.verdict([good, bad])
        assert believed is (kind not in ("empty_reads", "unsteady", "failed", "unmet_faults"))
        assert believed or said.startswith("1 of 2 runs measured something else than was asked for. two: ")
    assert answer.reach([good, bad])[0] == "varmail, ext4: touched 10 % of the disk, stroked 50 %"


@pytest.mark.parametrize("drive", ["seagate-exos-x20-20tb", "seagate-st8000as0002", "micron-7300-pro"])
def test_a_drive_s_limits_are_those_of_the_simulator(drive: str) -> None:
    sim = str(build.ensure("david-sim"))
    word = subprocess.run([sim, "profile", "show", drive, "--word"], capture_output=True, text=True,
                          check=True)
    job = [sim, "bench", "--json", "--no-doubts", "--profile", drive, "--job", "a: random count=10"]
    said = json.loads(subprocess.run(job, capture_output=True, text=True, check=True).stdout)
    found = limits.parse(word.stdout)
    assert found.kind == said["kind"]
    if found.kind == "disk":
        assert found.media_rate / 1e6 == pytest.approx(said["jobs"][0]["media_mb_s"], rel=1e-5)
    assert bool(found.media_cache) == (drive == "seagate-st8000as0002") and found.cache > 0


def test_the_verdict_names_a_run_that_is_not_valid() -> None:
    good = json.loads(result_of(1, 1.0)) | {"id": "one"}
    bad = copy.deepcopy(good) | {"id": "two"}
    bad["result"]["wrong"] = ["no space: 3"]
    assert answer.verdict([good])[0] is True
    bad["run"]["seed"], bad["run"]["variant"] = 2, "xfs"
    said = "1 of 2 runs are not valid: varmail, xfs. two: no space: 3"
    assert answer.verdict([good, bad]) == (False, said)


def test_the_answers_table_says_which_rows_are_not_to_be_believed() -> None:
    """It is exported without the sentences around it, as LaTeX for a paper, and nothing marked these rows."""
    good = json.loads(result_of(1, 1.0)) | {"id": "one"}
    bad = copy.deepcopy(good) | {"id": "two"}
    bad["run"]["seed"], bad["run"]["variant"] = 2, "xfs"
    head, rows = answer.table([good, bad], "operations")
    assert len(head) == 6 == len(rows[0])
    for kind in doubts.KINDS:
        bad["result"]["doubts"] = [{"kind": kind, "share": 1.0, "text": "x"}]
        head, rows = answer.table([good, bad], "operations")
        if kind in ("empty_reads", "unsteady", "failed", "unmet_faults"):
            assert head[6] == "not to be believed"
            assert {row[1]: row[6] for row in rows} == {"ext4": "-", "xfs": f"{kind}: 1 of 1"}
        else:
            assert len(head) == 6 == len(rows[0])
    bad["result"]["wrong"] = ["no space: 3"]
    _, rows = answer.table([good, bad, copy.deepcopy(good) | {"id": "three"}], "operations")
    assert {row[1]: row[6] for row in rows} == {"ext4": "-", "xfs": "not valid: 1 of 1"}


def test_the_verdict_says_how_many_requests_the_drives_faults_failed() -> None:
    """A program may go on after an error, as dd does with conv=noerror, and btrfs with its second copy."""
    good = json.loads(result_of(1, 1.0)) | {"id": "one"}
    assert answer.verdict([good])[1].endswith("when modelled, none failed.")
    bad = copy.deepcopy(good) | {"id": "two"}
    faults = {"media_read": 3, "media_write": 1, "timeout": 0, "gone": 0, "slowed": 7, "moved": 9}
    asked = {"read": 30, "write": 8, "flush": 2, "discard": 5}
    bad["result"]["stats"] |= {"faults": faults, "requests": asked}
    said = "All 2 runs are valid: requests came when modelled, and 4 of 40 failed, in 1 of the runs, as "
    assert answer.verdict([good, bad]) == (True, said + "the drive's faults made them.")
    bad["result"]["stats"]["faults"] = dict.fromkeys(("media_read", "gone"), 0) | {"slowed": 5}
    assert answer.verdict([good, bad])[1].endswith("none failed.")
