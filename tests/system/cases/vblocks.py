# SPDX-License-Identifier: GPL-2.0
"""A blktrace of fio on a fake disk, served without a kernel by `david sim`: its times are the kernel's."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cases import case
from davidlib.drive import served as serving
from davidlib.trace import blocks, from_blktrace
from helpers.davidtool import david
from helpers.guest import SCRATCH, Failed, loop_disk, mounted, ram_disk, run, say
from helpers.timed import check_lateness, fio, profile, settle, timed_disk
from helpers.units import GIB, MIB

DEBUG = Path("/sys/kernel/debug")
PLAIN, FLASH = profile("plain"), profile("flash")
REVOLUTION = 60_000_000 / 7200  # us, of PLAIN
NEAR = 1_000  # ns: a look at the virtual clock takes one


@contextmanager
def blktrace(disk: str, name: str) -> Iterator[Path]:
    """The file is there after the block."""
    if not (DEBUG / "block").exists():
        with suppress(Failed):
            run("mount", "-t", "debugfs", "debugfs", str(DEBUG))
    SCRATCH.mkdir(parents=True, exist_ok=True)
    for old in SCRATCH.glob(f"{name}.blktrace.*"):
        old.unlink()
    command = ["blktrace", "-d", disk, "-o", name, "-D", str(SCRATCH), "-b", "512", "-n", "4"]
    tracer = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        while not list((DEBUG / "block").glob("*/dropped")):
            if tracer.poll() is not None:
                raise Failed(f"blktrace: {tracer.communicate()[0]}")
            time.sleep(0.01)
        time.sleep(1)
        yield SCRATCH / f"{name}.blktrace.0"
    finally:
        tracer.terminate()
        say(tracer.communicate()[0].strip())


def served(trace: Path, drive: str, loop: str) -> tuple[dict, dict[int, int]]:
    """The one run that david sim makes of it, and each request's response time by its number."""
    out = SCRATCH / "served.csv"
    way = serving.Way([drive], [], [], loop, None, 100_000_000, GIB // 512, str(out))
    found = serving.serve(serving.load(str(trace), None, None), way)
    with out.open() as file:
        rows = [[int(word) for word in row.values()] for row in csv.DictReader(file)]
    out.unlink()
    return found, {number: end - came for number, came, end in rows}


def asked(trace: Path) -> list[blocks.Block]:
    _, found = blocks.load(trace, None)
    return found.of(found.devices[0])


def farthest(requests: list[blocks.Block], rows: dict[int, int]) -> int:
    """From the kernel's response time, ns."""
    if rows.keys() != {n for n, block in enumerate(requests) if block.op != blocks.DISCARD}:
        raise Failed(f"{len(rows)} of {len(requests)} requests were served")
    return max(abs(requests[number].end - requests[number].start - took) for number, took in rows.items())


def near(name: str, kernels: float, said: float, more: float) -> None:
    say(f"{name}: the kernel's {kernels:.3f}, served {said:.3f}, {100 * (said / kernels - 1):+.3f} %")
    if abs(said - kernels) > 0.01 * kernels + more:
        raise Failed(f"{name}: {said} is not within 1 % of the kernel's {kernels}, or {more} more")


def with_fault(trace: Path, fault: str) -> Path:
    """blkparse's lines of a trace, with a fault."""
    lines = list(from_blktrace.binary_lines(trace))
    if fault == "unit":
        moved = [re.sub(r"^(\S+ \d+ \d+) (\d+)\.(\d{6})(\d{3})", r"\1 \2.000\3", line) for line in lines]
    else:
        moved = [line for line in lines if " FWS " not in line]
    if moved == lines:
        raise Failed(f"nothing is wrong with the trace: {fault}")
    path = SCRATCH / "fault"
    path.write_text("\n".join(moved) + "\n")
    return path


DEEP = ("--ioengine=libaio", "--iodepth=32", "--norandommap")


@case
def a_blktrace_of_fio_on_an_ssd_is_served_as_the_kernel_served_it() -> None:
    settle()
    with ram_disk(128 * MIB) as ram, timed_disk("vt", GIB, ram, FLASH) as disk:
        with blktrace(disk, "ssd") as trace:
            job = ("--name=deep", f"--filename={disk}", "--rw=randrw", "--number_ios=3000", "--fsync=40")
            fio(*job, *DEEP)
        check_lateness("vt")
    requests = asked(trace)
    counted = [sum(block.op == op for block in requests) for op in range(3)]
    assert min(counted[:2]) > 1000 and counted[2] > 20, counted
    found, rows = served(trace, FLASH, "open")
    off = farthest(requests, rows)
    say(f"{counted} requests, at most {off} ns from the kernel's times")
    assert off <= NEAR and found["trace"]["left_out"] == [], (off, found)
    assert found["trace"]["flushes"] == counted[2], found["trace"]
    # Times of another unit, and flushes that are lost, are found.
    wrong = with_fault(trace, "unit")
    assert farthest(requests, served(wrong, FLASH, "open")[1]) > NEAR
    wrong = with_fault(trace, "flush")
    assert farthest(asked(wrong), served(wrong, FLASH, "open")[1]) > NEAR


@case
def a_blktrace_of_fio_on_a_disk_is_served_within_a_hundredth() -> None:
    settle()
    record = SCRATCH / "disk.rec"
    record.unlink(missing_ok=True)
    with ram_disk(128 * MIB) as ram, timed_disk("vt", GIB, ram, PLAIN, "--classify", "data") as disk:
        with blktrace(disk, "disk") as trace:
            job = ("--name=deep", f"--filename={disk}", "--rw=randrw", "--number_ios=1200")
            line = ("fio", "--clocksource=clock_gettime", "--direct=1", "--bs=4k", *job, *DEEP)
            david("record", "vt", str(record), "--", *line)
        check_lateness("vt")
    count = len(asked(trace))
    assert count >= 1200, count
    for loop in ("open", "closed"):
        found, _ = served(trace, PLAIN, loop)
        said, kernels = found["served"][0]["runs"][0], found["trace"]["recorded"]
        assert said["all"]["requests"] == count, said
        near(f"{loop}: requests a second", kernels["per_s"], said["per_s"], 0)
        for rank in ("p50_us", "p99_us"):
            # The disk had work all the time. With the platters at another angle at the beginning each
            # request is done so much earlier or later, to the end, unless the next ones come so, too.
            near(f"{loop}: {rank}", kernels[rank], said["all"][rank], REVOLUTION if loop == "open" else 0)
    # A recording has the angle of the platters, too.
    _, rows = served(record, PLAIN, "open")
    off = farthest(asked(record), rows)
    say(f"of the recording at most {off} ns from the kernel's times")
    assert off <= NEAR, off


@case(seldom=True)
def a_blktrace_replayed_on_the_same_disk_has_its_throughput() -> None:
    settle()
    out = SCRATCH / "replayed.json"
    for name, drive, count in (("ssd", FLASH, 1500), ("disk", PLAIN, 200)):
        with ram_disk(128 * MIB) as ram:
            with (
                timed_disk("vt", GIB, ram, drive, "--classify", "data") as disk,
                blktrace(disk, name) as trace,
            ):
                job = ("--name=deep", f"--filename={disk}", "--rw=randrw", f"--number_ios={count}")
                fio(*job, "--fsync=100", *DEEP)
            requests = asked(trace)
            ended = max(block.end for block in requests) / 1e9
            kernels = sum(block.op != blocks.FLUSH for block in requests) / ended
            for timing in ("closed", "open"):
                # On a new disk, as the first was.
                with timed_disk("vt", GIB, ram, drive, "--classify", "data") as disk:
                    david("replay", str(trace), disk, "--write", "--timing", timing, "-o", str(out))
                    check_lateness("vt")
                found = json.loads(out.read_text())
                # The disk has no write cache, and is not asked to flush it.
                assert found["reads"] + found["writes"] >= count, found
                assert bool(found["flushes"]) == (drive == FLASH) and not found["late"], found
                near(f"{name}, {timing}: requests a second", kernels, found["per_s"], 0)
            # Another depth is found.
            with timed_disk("vt", GIB, ram, drive, "--classify", "data") as disk:
                david("replay", str(trace), disk, "--write", "--depth", "8", "-o", str(out))
            shallow = json.loads(out.read_text())
            assert shallow["p50_us"] < 0.5 * found["p50_us"], (shallow, found)


def asked_of_kernel(disk: str) -> dict[str, int]:
    """/sys/block/…/stat: sectors read, written and discarded."""
    fields = [int(word) for word in Path(f"/sys/block/{Path(disk).name}/stat").read_text().split()]
    return {"read": fields[2], "written": fields[6], "discarded": fields[13]}


@case
def a_blktrace_of_a_disk_with_a_queue_has_all_that_the_kernel_counted() -> None:
    """Requests are merged, split and flushed there; blkparse's text says the same as blktrace's file."""
    settle()
    with loop_disk(256 * MIB) as disk:
        with blktrace(disk, "loop") as trace:
            before = asked_of_kernel(disk)
            run("mkfs.ext4", "-q", disk)
            with mounted(disk, "ext4") as place:
                point = Path(place)
                for number in range(20):
                    path = point / f"file-{number}"
                    path.write_bytes(bytes(range(256)) * 4096 * (1 + number % 3))
                    number % 3 or run("sync", str(path))
                run("rm", str(point / "file-3"))
                run("fstrim", str(point))
                Path("/proc/sys/vm/drop_caches").write_text("3")
                for number in range(4, 20):
                    (point / f"file-{number}").read_bytes()
            counted = {name: value - before[name] for name, value in asked_of_kernel(disk).items()}
        _, found = blocks.load(trace, None)
        requests = found.of(found.devices[0])
        sums = {
            name: sum(block.sectors for block in requests if block.op == op)
            for name, op in (("read", blocks.READ), ("written", blocks.WRITE), ("discarded", blocks.DISCARD))
        }
        sums["flushes"] = sum(block.op == blocks.FLUSH for block in requests)
        # The kernel counts what the drive is sent: one, or two, of a write with flushes, too.
        counted["flushes"] = len([line for line in from_blktrace.binary_lines(trace) if " Q FWS [" in line])
        say(f"{len(requests)} requests, {counted}, {sums}, {found.account.as_json()}")
        text = SCRATCH / "text"
        text.write_text(run("blkparse", "-q", "-i", str(trace).removesuffix(".blktrace.0")))
        assert asked(text) == requests, len(asked(text))
        assert counted == sums, (counted, sums)
        assert not found.account.left_out, found.account.left_out
