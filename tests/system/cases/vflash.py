# SPDX-License-Identifier: GPL-2.0
"""SSDs and memory under a virtual clock: through the kernel they take what david-sim says, to the ns."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cases import case
from davidlib.disk import lateness
from helpers import overwriting, raw, secondstats
from helpers.davidtool import david
from helpers.guest import SCRATCH, TREE, Failed, device_stats, mapped, mounted, ram_disk, run, say
from helpers.timed import SIM, Recording, check_lateness, check_parts, fio, recording, settle, timed_disk
from helpers.timed import profile as profile_of
from helpers.units import FULL, GIB, MIB, TIB

RAM = 128 * MIB
IOS = 6000 if FULL else 900
# All the caches that an SSD may have, so small that each fills and is emptied
CACHES = (
    *("buffer_reads=yes", "map_cache=512KiB"),
    *("slc_cache=64MiB", "slc_cache_min=16MiB", "slc_idle_after=300us", "slc_fold_rate=400MB/s"),
)


def words_of(options: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for option in options for word in ("--profile-option", option))


# An SSD behind NVMe, with those caches, the same behind a queue of 2007, and a drive without flash
DRIVES = {
    "nvme": ("flash",),
    "caches": ("flash", *words_of(CACHES)),
    "folds": ("flash", *words_of((*CACHES, "slc_full=fold"))),
    "sata": ("flash", "--profile-option", "host=linux-2.6.23", "--profile-option", "ncq_depth=32"),
    "memory": ("memory",),
}


def mixed(disk: str, rng: random.Random, requests: int) -> None:
    """Reads, also of what was just written, writes, also of parts of pages, flushes, discards, one by one."""
    written = 0
    with raw.opened(disk) as fd:
        for _ in range(requests):
            size = rng.choice((512, 1536, 4096, 8192, 65536, MIB))
            align = 512 if size < 4096 else 4096
            offset = rng.randrange((GIB - size) // align) * align
            what = rng.randrange(20)
            if what < 2:
                raw.read(fd, 4096, written)
            elif what < 8:
                raw.read(fd, size, offset)
            elif what < 18:
                raw.write(fd, bytes(size), offset)
                written = offset
            elif what < 19:
                raw.discard(fd, offset, size)
            else:
                os.fsync(fd)


@case
def flash_and_memory_take_what_the_simulator_says() -> None:
    settle()
    for name, (drive, *options) in DRIVES.items():
        with ram_disk(RAM) as dev, recording() as result:
            with timed_disk("vt", GIB, dev, profile_of(drive), "--classify", "data", *options) as disk:
                mixed(disk, random.Random(1), 600)
                report = fio(
                    "--filename=" + disk,
                    "--ioengine=libaio",
                    "--name=reads",
                    *("--rw=randread", "--iodepth=32", f"--number_ios={IOS // 3}"),
                    "--name=writes",
                    *("--stonewall", "--rw=randrw", "--iodepth=96", "--fdatasync=50"),
                    f"--number_ios={2 * IOS // 3}",
                )
                if drive == "flash":
                    # The clock moves when it is read: memory's completions come faster than that allows.
                    check_lateness("vt")
                figures = device_stats("vt")
        said = result[0].replay(profile_of(drive), GIB, *to_sim(options))
        trims = sum(event["op"] == 3 for event in result[0].events("queue"))
        say(f"{name}: {said}, {trims} discards, reads {report['jobs'][0]['read']['clat_ns']['mean']:.0f} ns")
        assert said["n"] == said["compared"] + trims >= IOS and not said["differ"], said
        assert bool(trims) == (drive == "flash"), trims
        parts = check_parts(figures, said)
        # Requests that came later end before others, and these are counted once.
        busy = secondstats.busy(secondstats.requests_of(result[0]))
        assert figures["busy_ns"] == busy, (figures["busy_ns"], busy)
        assert figures["busy_ns"] < sum(parts.values()) <= 96 * figures["busy_ns"], (parts, figures)
        if name == "caches":
            for left_out in ("buffer_reads", "map_cache", "slc_cache"):
                others = words_of(tuple(word for word in CACHES if not word.startswith(left_out)))
                assert differs(result[0], profile_of(drive), GIB, *to_sim(list(others))), left_out


SHIPPED = sorted(
    path.stem for path in (TREE / "profiles").glob("*.profile")
    if any(line.split("#")[0].split() in (["kind", "=", "ssd"], ["kind", "=", "memory"])
           for line in path.read_text().splitlines()) and "\nzone_size" not in path.read_text()
)


def one_at_a_time(disk: str, requests: int) -> None:
    rng = random.Random(1)
    with raw.opened(disk) as fd:
        for number in range(requests):
            raw.write(fd, bytes([number % 255 + 1]) * 4096, rng.randrange(GIB // 4096) * 4096)
            if number % 4 == 0:
                os.fsync(fd)
        for _ in range(requests):
            raw.read(fd, 4096, rng.randrange(GIB // 4096) * 4096)


@case
def every_shipped_drive_without_an_arm_is_trustworthy_at_depth_1() -> None:
    """The virtual clock has a nanosecond. With 256 ns a request of 22 us is late by more than a hundredth."""
    if len(SHIPPED) < 10:
        raise Failed(f"these are all drives without an arm? {SHIPPED}")
    wrong = {}
    for name in SHIPPED:
        with ram_disk(RAM) as dev, timed_disk("vt", GIB, dev, name, "--classify", "data") as disk:
            one_at_a_time(disk, 200)
            figures = device_stats("vt")
        verdict, late = lateness.verdict(figures), max(figures["delivered_late_ns"].values())
        if not verdict.good or not sum(figures["delivered"].values()) or late > 600 * 3:
            wrong[name] = (str(verdict), figures["delivered_late_ns"])
    if wrong:
        raise Failed(str(wrong))


@case
def a_drive_that_is_really_late_is_found_under_the_virtual_clock() -> None:
    """Its backing device takes 100 ms to write what the drive has in some microseconds."""
    with ram_disk(RAM) as dev:
        table = f"0 {RAM >> 9} delay {dev} 0 0 {dev} 0 100"  # dm-delay polls for less than 50
        with (
            mapped("slow", table) as slow,
            timed_disk("vt", GIB, slow, "samsung-pm883", "--classify", "keep") as disk,
        ):
            one_at_a_time(disk, 50)
            verdict = lateness.verdict(device_stats("vt"))
    if verdict.good or "--virtual-time" in verdict.text or "virtual here" not in verdict.text:
        raise Failed(f"{verdict.good}: {verdict}")


def differs(recorded: Recording, drive: str, size: int, *options: str) -> bool:
    """Would another drive have taken other times?"""
    try:
        recorded.replay(drive, size, *options)
    except Failed:
        return True
    return False


def to_sim(options: list[str]) -> list[str]:
    return ["--option" if word == "--profile-option" else word for word in options]


@case
def the_disk_looks_as_an_nvme_drive_does() -> None:
    with ram_disk(RAM) as dev, timed_disk("vt", GIB, dev, profile_of("flash")) as disk:
        number = os.stat(disk).st_rdev
        queue = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/queue")
        seen = {
            name: (queue / name).read_text().strip()
            for name in (
                "rotational",
                "write_cache",
                "physical_block_size",
                "max_hw_sectors_kb",
                "discard_granularity",
                "write_zeroes_max_bytes",
            )
        }
        say(json.dumps(seen))
        assert seen["rotational"] == "0" and seen["write_cache"] == "write back", seen
        assert seen["physical_block_size"] == "4096" and seen["max_hw_sectors_kb"] == "128", seen
        assert seen["discard_granularity"] == "4096" and int(seen["write_zeroes_max_bytes"]) > 0, seen


@case
def a_database_on_an_ssd_of_a_terabyte_is_overwritten_as_the_simulator_says() -> None:
    """Two runs of `make overwrites` in short."""
    settle()
    SCRATCH.mkdir(parents=True, exist_ok=True)
    trace = SCRATCH / "overwrites"
    for fs, start in (("ext4", "fresh"), ("xfs", "random:0.9")):
        result = overwriting.life(fs, start, 256 * MIB, 8000, 2, trace)
        recorded = Recording(trace.read_text())
        said = recorded.replay(overwriting.PROFILE, TIB, *overwriting.sim_options(start))
        trace.unlink()
        say(f"{fs}, {start}: {result}, {said}")
        assert said["compared"] >= 8000 and not said["differ"], said
        assert result.memory <= overwriting.STATE, result
        # A drive with another past would not have done so.
        other = "fresh" if start != "fresh" else "random:0.9"
        if not differs(recorded, overwriting.PROFILE, TIB, *overwriting.sim_options(other)):
            raise Failed(f"{fs}: {start} and {other} take the same times")


def reached(*recorded: Recording) -> dict[str, int]:
    """By the requests that were recorded."""
    spans = [(event["sector"], event["sector"] + event["sectors"]) for one in recorded
             for event in one.events("queue") if event["sectors"]]
    pages = {page for first, end in spans for page in range(first // 8, (end + 7) // 8)}
    first, end = min(first for first, _ in spans), max(end for _, end in spans)
    usual = secondstats.most(spans, TIB >> 9)
    return {"first": first, "end": end, "pages": len(pages), "most_first": usual[0], "most_end": usual[1]}


@case
def what_the_model_counts_itself_is_told() -> None:
    """Reach, and what flash did: the same of the requests, one by one. A table's model may go meanwhile."""
    settle()
    rng = random.Random(3)
    with ram_disk(RAM) as dev, timed_disk("vt", TIB, dev, "micron-7300-pro", "--classify", "data") as disk:
        places = [rng.randrange(TIB // 4096) * 4096 for _ in range(300)]
        with recording() as result, raw.opened(disk) as fd:
            for offset in places[:200]:
                raw.write(fd, bytes(4096), offset)
            os.fsync(fd)
            for offset in places[100:]:
                raw.read(fd, 4096, offset)
        figures = device_stats("vt")
        assert figures["reach"] == reached(result[0]), (figures["reach"], reached(result[0]))
        flash = figures["flash"]
        # Half of the pages that are read were written. Where they lie is known of groups of pages.
        assert figures["read_pages"] == 200 and flash["empty_reads"] == 100, figures
        assert flash["reads"] + flash["buffer_reads"] == 100, figures
        assert figures["read_hits"] == 100 + flash["buffer_reads"], figures
        assert flash["programs"] and not flash["erases"] and not flash["moved_pages"], figures
        assert flash["fresh_pages"] == flash["host_pages"] > 0, figures
        # What a table's model has counted stays when it goes, and so does how far requests have gone.
        table = run("dmsetup", "table", "vt")
        run("dmsetup", "reload", "vt", "--table", table)
        run("dmsetup", "resume", "vt")
        assert device_stats("vt")["reach"] == figures["reach"], (device_stats("vt"), figures)
        with recording() as more, raw.opened(disk) as fd:
            raw.read(fd, 4096, TIB - 4096)
        then = device_stats("vt")
        assert then["flash"] == flash | {"empty_reads": flash["empty_reads"] + 1}, (flash, then)
        assert then["reach"] == reached(result[0], more[0]), (then["reach"], reached(result[0], more[0]))
        david("stats", "vt", "--reset")
        assert not any(device_stats("vt")["reach"].values()), device_stats("vt")
        with raw.opened(disk) as fd:
            raw.read(fd, 4096, places[250])
        only = places[250] // 512, places[250] // 512 + 8
        again = device_stats("vt")["reach"]
        assert again == {"first": only[0], "end": only[1], "pages": 1, "most_first": only[0],
                         "most_end": only[1]}, again
        scaled = run(str(SIM), "profile", "show", "micron-7300-pro", "--word", "--sectors", str(TIB >> 9))
        assert run("dmsetup", "message", "vt", "0", "drive").strip() == scaled.strip()


WRITTEN = ("micron-7300-pro", "samsung-pm883", "samsung-970-pro", "optane-p4800x")


READS = """
import mmap, os, random, sys
fd, page, rng = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, 4096), random.Random(1)
for _ in range(int(sys.argv[3])):
    os.preadv(fd, [page], rng.randrange(int(sys.argv[2]) // 4096) * 4096)
"""


def read_at(disk: str, depth: int, span: int, count: int) -> float:
    """4 KiB at random, direct: as many a second. fio is for what it alone can, as its start takes long."""
    if depth == 1:
        rng, before = random.Random(1), time.monotonic_ns()
        with raw.opened(disk, os.O_RDONLY | os.O_DIRECT) as fd:
            for _ in range(count):
                raw.read(fd, 4096, rng.randrange(span // 4096) * 4096)
        return count * 1e9 / (time.monotonic_ns() - before)
    reads = ("--rw=randread", f"--size={span}", f"--iodepth={depth}", f"--number_ios={count}")
    report = fio("--name=r", f"--filename={disk}", "--ioengine=io_uring", *reads)
    return report["jobs"][0]["read"]["iops"]


def simulated(drive: str, depth: int, span: int, count: int, precondition: str = "sequential") -> float:
    job = f"r: random depth={depth} span={span} count={count}"
    words = [str(SIM), "bench", "--json", "--no-doubts", "--profile", drive, "--job", job]
    words += ["--option", f"precondition={precondition}"] if drive != "optane-p4800x" else []
    return json.loads(run(*words))["jobs"][0]["all"]["per_s"]


@contextmanager
def on(fs: str, disk: str, make: bool) -> Iterator[str]:
    """A file on it, or with none the disk itself."""
    if fs == "none":
        yield disk
        return
    if make:
        run(f"mkfs.{fs}", "-q", disk)
    with mounted(disk, fs) as top:
        yield f"{top}/file"


@contextmanager
def again(name: str, backing: str, drive: str) -> Iterator[str]:
    """A disk that is on its backing device already."""
    david("create", name, "--size", str(TIB), "--backing", backing, "--profile", drive)
    try:
        yield f"/dev/mapper/{name}"
    finally:
        david("remove", name)


def held(drive: str, fs: str, when: str, top: str, span: int, depths: dict[int, int]) -> None:
    """Reads of each depth, as many as DEPTHS says."""
    Path("/proc/sys/vm/drop_caches").write_text("3")
    for depth, count in depths.items():
        found, wanted = read_at(top, depth, span, count), simulated(drive, depth, span, count)
        text = f"{drive}, {fs}, {when}, depth {depth}: {found:.0f}/s, by david-sim {wanted:.0f}"
        say(text)
        if abs(found / wanted - 1) > 0.1:
            raise Failed(text)


def fill(top: str, span: int) -> None:
    content = raw.patterned(1, 4 * MIB)  # zeroes would be no data
    with raw.opened(top, raw.DIRECT | os.O_CREAT) as fd:
        for offset in range(0, span, 4 * MIB):
            raw.write(fd, content, offset)
        os.fsync(fd)


def reads_as_a_written_drive(drive: str, fs: str, span: int, depths: dict[int, int]) -> None:
    """Filled in speedup; made again; out of an image. Once more by the simulator, of a recording."""
    image, file, count = SCRATCH / "written.image", SCRATCH / "written.rec", depths[1]
    with ram_disk(512 * MIB) as ram:
        how = ("--mode", "speedup", "--classify", "data" if fs == "none" else "auto")
        with timed_disk("vt", TIB, ram, drive, *how) as disk, on(fs, disk, True) as top:
            fill(top, span)
            david("set", "vt", "mode=timing-accurate")
            held(drive, fs, "written in speedup", top, span, depths)
        with again("vt", ram, drive) as disk, on(fs, disk, False) as top:
            held(drive, fs, "made again", top, span, depths)
            words = (sys.executable, "-c", READS, top, str(span), str(count))
            david("record", "vt", str(file), "--", *words)
            if fs == "none":
                david("image", "push", "vt", str(image))
    said = json.loads(david("sim", str(file), "--json"))
    file.unlink()
    mean, wanted = said["simulated"]["read"]["mean_ms"], 1000 / simulated(drive, 1, span, count)
    say(f"{drive}, {fs}, recorded: {mean * 1000:.1f} us, by david-sim {wanted * 1000:.1f}")
    assert not said["differ"] and abs(mean / wanted - 1) < 0.1, said
    if fs == "none":
        with ram_disk(512 * MIB) as ram:
            david("image", "pull", str(image), "--backing", ram, "--format", "--name", "vt")
            held(drive, fs, "from an image", "/dev/mapper/vt", span, depths)
            david("remove", "vt")
            image.unlink()


@case(full=True)
def a_file_of_64_gib_is_read_as_a_written_drive_is() -> None:
    settle()
    for drive in WRITTEN:
        for fs in ("none", "ext4", "xfs"):
            reads_as_a_written_drive(drive, fs, 64 * GIB, {1: 6000, 32: 60_000})


@case
def what_was_written_in_speedup_is_read_as_written() -> None:
    """The same in short. What was never written is read so much faster that it would be found."""
    settle()
    for fs in ("none", "ext4"):
        reads_as_a_written_drive("micron-7300-pro", fs, 256 * MIB, {1: 500})
    blank, written = (simulated("micron-7300-pro", 1, 256 * MIB, 500, how) for how in ("fresh", "sequential"))
    if blank < 3 * written:
        raise Failed(f"reads of a blank drive: {blank:.0f}/s, of a written one {written:.0f}")
