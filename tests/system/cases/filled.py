# SPDX-License-Identifier: GPL-2.0
"""An SSD has flash to read where the disk has content: whichever mode wrote it, and whoever made the model.

The times are the model's own, of one request at a time: a busy machine does not change them. david-sim says
what they should be, of a drive that has been written once.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from cases import case
from davidlib import util
from helpers import raw
from helpers.davidtool import called, david, refused
from helpers.guest import SCRATCH, Failed, device_stats, ram_disk, run, say
from helpers.hammer import FORK, Processes
from helpers.planted import must_fail, planted
from helpers.timed import SIM, profile, timed_disk
from helpers.units import FULL, GIB, MIB, TIB

DRIVES = ("micron-7300-pro", "samsung-pm883", "samsung-970-pro") if FULL else ("micron-7300-pro",)
SPAN = 16 * MIB
READS = 300
# What is read where nothing was written comes without flash.
TOLERATED = 0.1
# Its path has the helpers.
PYTHON = ("env", f"PYTHONPATH={Path(__file__).parents[1]}", sys.executable, "-c")
ASK = f"""
import os, random, sys
from helpers import raw
rnd = random.Random(5)
with raw.opened(sys.argv[1]) as fd:
    for n in range(200):
        raw.read(fd, 4096, rnd.randrange({2 * SPAN} // 4096) * 4096)
"""


def written(disk: str, start: int, content: Callable[[int], bytes]) -> None:
    with raw.opened(disk) as fd:
        for at in range(start, start + SPAN, MIB):
            raw.write(fd, content(MIB), at)


def mean_read(name: str, start: int) -> float:
    """Of single reads at random, in the model's time, us."""
    rng, before = random.Random(1), device_stats(name)
    with raw.opened(f"/dev/mapper/{name}") as fd:
        for _ in range(READS):
            raw.read(fd, 4096, start + rng.randrange(SPAN // 4096) * 4096)
    after = device_stats(name)
    count = after["modelled"]["read"] - before["modelled"]["read"]
    assert count == READS, count
    return (after["modelled_ns"]["read"] - before["modelled_ns"]["read"]) / count / 1000


def simulated(drive: str, past: str) -> float:
    job = f"x: random size=4K depth=1 span={SPAN} count=2000"
    words = [str(SIM), "bench", "--json", "--no-doubts", "--profile", drive]
    words += ["--option", f"precondition={past}"]
    done = subprocess.run([*words, "--job", job], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["jobs"][0]["all"]["mean_us"]


def near(what: str, found: float, wanted: float) -> None:
    say(f"{what}: {found:.1f} us, by david-sim {wanted:.1f} us")
    if abs(found / wanted - 1) > TOLERATED:
        raise Failed(f"{what}: a read takes {found:.1f} us, by david-sim {wanted:.1f} us")


def looked_at(name: str, drive: str, when: str) -> None:
    """Content that is kept, repeated, or dropped; and where there is none."""
    old, new = simulated(drive, "sequential"), simulated(drive, "fresh")
    assert old > 1.3 * new, (old, new)
    for place, wanted in ((0, old), (SPAN, old), (2 * SPAN, new), (3 * SPAN, old)):
        near(f"{drive}, {when}, from {place // MIB} MiB on", mean_read(name, place), wanted)


@contextmanager
def opened(name: str, drive: str, ram: str, *options: str) -> Iterator[None]:
    """A disk that is there already."""
    david("create", name, "--size", str(TIB), "--backing", ram, "--profile", drive, *options)
    try:
        yield
    finally:
        david("remove", name)


def fills(name: str, drive: str, ram: str) -> None:
    """Written in speedup; the third span, which was written, too, has been discarded."""
    with timed_disk(name, TIB, ram, drive, "--mode", "speedup", "--classify", "keep") as disk:
        written(disk, 0, os.urandom)
        written(disk, SPAN, bytes)
    with opened(name, drive, ram, "--mode", "speedup", "--classify", "data"):
        for start in (2 * SPAN, 3 * SPAN):
            written(disk, start, os.urandom)
        with raw.opened(disk) as fd:
            raw.discard(fd, 2 * SPAN, SPAN)
        david("set", name, "mode=timing-accurate")
        looked_at(name, drive, "written in speedup")
        david("set", name, "mode=speedup")
        written(disk, 2 * SPAN, os.urandom)
        david("set", name, "mode=timing-accurate")
        near("written in speedup once more", mean_read(name, 2 * SPAN), simulated(drive, "sequential"))
        with raw.opened(disk) as fd:
            raw.discard(fd, 2 * SPAN, SPAN)


def opens_again(name: str, drive: str, ram: str) -> None:
    with opened(name, drive, ram):
        looked_at(name, drive, "made again")
        run("dmsetup", "suspend", name)
        run("dmsetup", "resume", name)
        looked_at(name, drive, "resumed")


@case
def an_ssd_reads_from_flash_what_the_disk_has_whoever_wrote_it() -> None:
    for drive in DRIVES:
        with ram_disk(128 * MIB) as ram:
            fills("filled", drive, ram)
            opens_again("filled", drive, ram)


@case(seldom=True)
def a_recording_says_what_the_disk_has_when_it_begins() -> None:
    file = SCRATCH / "filled.rec"
    with ram_disk(64 * MIB) as ram:
        with timed_disk("filled", GIB, ram, DRIVES[0], "--mode", "speedup", "--classify", "data") as disk:
            written(disk, SPAN, os.urandom)
            david("set", "filled", "mode=timing-accurate")
            ask = (*PYTHON, ASK, disk)
            david("record", "filled", str(file), "--", *ask)
            blank = SCRATCH / "blank.rec"
            changes = "PATH=$PATH:/usr/sbin; for mode in speedup timing-accurate; do"
            changes += " dmsetup message filled 0 mode $mode; done"
            assert "in speedup" in refused("record", "filled", str(blank), "--", "sh", "-c", changes)
            assert not blank.exists()
    found = json.loads(david("sim", str(file), "--json"))
    assert found["compared"] == 200 and not found["differ"], found
    lines = file.read_text().splitlines(keepends=True)
    rest = [line for line in lines if not line.startswith("david_written:")]
    assert len(rest) == len(lines) - 1, lines[:8]
    file.write_text("".join(rest))
    other = json.loads(called("sim", str(file), "--json").stdout)
    assert other["differ"] > 50, other
    assert other["simulated"]["read"]["mean_ms"] < 0.8 * found["simulated"]["read"]["mean_ms"], other
    file.unlink()


@case(seldom=True)
def an_image_brings_its_content_to_an_ssd() -> None:
    image, drive = SCRATCH / "filled.image", DRIVES[0]
    with ram_disk(64 * MIB) as ram, timed_disk("filled", TIB, ram, drive, "--classify", "data") as disk:
        written(disk, 0, os.urandom)
        david("image", "push", "filled", str(image))
    with ram_disk(64 * MIB) as ram:
        words = ("--backing", ram, "--format", "--name", "filled")
        david("image", "pull", str(image), *words)
        try:
            near("from an image", mean_read("filled", 0), simulated(drive, "sequential"))
            near("beside it", mean_read("filled", 4 * SPAN), simulated(drive, "fresh"))
        finally:
            david("remove", "filled")
    image.unlink()


@case(seldom=True)
def zeroes_by_a_command_of_the_drive_are_written() -> None:
    """And a recording tells of them; a disk that was in model-only has nothing."""
    drive, file = DRIVES[0], SCRATCH / "zeroes.rec"
    options = ("--profile-option", "write_zeroes=yes", "--classify", "data")
    old, new = simulated(drive, "sequential"), simulated(drive, "fresh")
    with ram_disk(64 * MIB) as ram, timed_disk("filled", GIB, ram, drive, *options) as disk:
        near("not written", mean_read("filled", 0), new)
        zero = "import sys; from helpers import raw\n"
        zero += f"with raw.opened({disk!r}) as fd:\n raw.zero_out(fd, 0, {2 * SPAN})\n"
        david("record", "filled", str(file), "--", *PYTHON, f"{zero}\nsys.argv[1:] = {[disk]!r}\n{ASK}")
        near("zeroes", mean_read("filled", 0), old)
    found = json.loads(david("sim", str(file), "--json"))
    assert found["compared"] == 200 and not found["differ"], found
    assert abs(found["recorded"]["read"]["mean_ms"] * 1000 / old - 1) < TOLERATED, (found, old)
    file.unlink()


def ask_for_moves(name: str, asked: Connection, stops: Callable[[], bool]) -> None:
    times, most = 0, 0
    while not stops():
        with suppress(Failed, util.UserError, OSError, KeyError):  # it is not there yet
            flash = device_stats(name)["flash"]
            times, most = times + 1, max(most, flash["moved_pages"], flash["erases"])
    asked.send((times, most))


@case(cpus=True, seldom=True)
def figures_do_not_count_what_an_ssd_is_told_of_while_it_is_told() -> None:
    """The map collects then, which is none of the figures: whoever asks meanwhile must not see it."""
    drive, size = profile("flash"), GIB
    options = ("--profile-option", "sample=1", "--classify", "data")
    with ram_disk(64 * MIB) as ram:
        with timed_disk("filled", size, ram, drive, "--mode", "speedup", *options) as disk:
            with raw.opened(disk) as fd:
                raw.zero_out(fd, 0, size)
        ours, theirs = FORK.Pipe(duplex=False)
        with Processes(partial(ask_for_moves, "filled", theirs)) as asks:
            words = ("--size", str(size), "--backing", ram, "--profile", drive, *options)
            david("create", "filled", *words)
            asks.finish()
        david("remove", "filled")
        times, most = ours.recv()
    say(f"asked {times} times until the disk was there: at most {most} pages moved or blocks erased")
    assert times > 2, "nobody asked in time"
    assert not most, most


@case(planted=True)
def a_model_that_is_told_of_no_content_is_found() -> None:
    with ram_disk(128 * MIB) as ram:
        fills("filled", DRIVES[0], ram)
        with planted("blank"), must_fail():
            opens_again("filled", DRIVES[0], ram)
