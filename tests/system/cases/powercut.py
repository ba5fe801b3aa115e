# SPDX-License-Identifier: GPL-2.0
"""Power cuts: what the backing device holds at any moment opens, and nothing is lost that was flushed.

dm-log-writes under the backing device records. Then the recording is played back, and cut at a flush or
somewhere between two; of what came after the last flush any part is there. `make powercut` does it at all
flushes.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext

from cases import case
from helpers import raw, writelog
from helpers.cutlives import Files, Life
from helpers.filesystems import TOOLS, whole_check
from helpers.guest import (
    SCRATCH,
    Failed,
    copy_sparse,
    david,
    device_stats,
    fake_disk,
    loop_disk,
    mapped,
    mounted,
    run,
    say,
)
from helpers.planted import planted
from helpers.raw import BLOCK
from helpers.savedrules import rules_survive_a_power_cut
from helpers.storetool import says
from helpers.units import FULL, GIB, KIB, MIB, TIB

# Backing device, and how many flushes: small enough for the log to go round many times.
RAW_SIZE, RAW_FLUSHES, RAW_CUTS = MIB, 2000 if FULL else 70, 4000 if FULL else 20


def told(what: str, places: list[int]) -> Iterator[int]:
    """The places one by one; a line now and then to those who wait."""
    for number, place in enumerate(places, 1):
        yield place
        if number % 200 == 0:
            say(f"powercut: {what}: {number} of {len(places)} cuts")


def table(size: int, device: str) -> str:
    return f"0 {size >> 9} david {device} 1 classify=keep"


def cut_raw(flushes: int, cuts: int, seed: int) -> None:
    rng = random.Random(seed)
    with writelog.log_disk(256 * MIB if FULL else 64 * MIB) as log:
        with (
            loop_disk(RAW_SIZE) as dev,
            writelog.recorded("recorded", dev, log) as backing,
            fake_disk("cut", TIB, backing, "--classify", "keep") as disk,
        ):
            life = Life(disk, "recorded", seed)
            life.run(flushes)
        found = list(writelog.entries(log))
    # Where a power cut may come: behind an entry. Not before the store is there.
    places = writelog.places(found, writelog.first_mark(found), cuts, rng)
    with loop_disk(RAW_SIZE) as dev, open(SCRATCH / "base", "w+b") as base:
        base.truncate(RAW_SIZE)
        for cut in writelog.cuts(base, found, told("raw", places)):
            image = os.pread(base.fileno(), RAW_SIZE, 0)
            with raw.opened(dev, os.O_RDWR) as fd:
                os.pwrite(fd, image, 0)
                writelog.left_at(fd, found, cut, rng)
                os.fsync(fd)
            with mapped("back", table(TIB, dev)) as disk:
                wrong = life.wrong(disk, cut.marked)
            if wrong:
                raise Failed(f"cut behind entry {cut.place} of {len(found)}: {wrong}")
        (SCRATCH / "base").unlink()


def cut_growing(syncs: int, cuts: int, seed: int) -> None:
    """The backing device grows twice under writes. A store is as large as its superblock says, and opens on a
    device of that size; nothing behind that is used before.
    """
    rng = random.Random(seed)
    sizes = (512 * KIB, 768 * KIB, 2 * MIB)
    window = "0 {} linear /dev/mapper/recorded 0"
    with writelog.log_disk(64 * MIB) as log:
        with (
            loop_disk(sizes[-1]) as dev,
            writelog.recorded("recorded", dev, log) as recorder,
            mapped("window", window.format(sizes[0] >> 9)) as backing,
            fake_disk("cut", TIB, backing, "--classify", "keep") as disk,
        ):
            assert recorder == "/dev/mapper/recorded"
            life = Life(disk, "recorded", seed)
            for number, size in enumerate(sizes):
                if number:
                    run("dmsetup", "load", "window", "--table", window.format(size >> 9))
                    run("dmsetup", "resume", "--noflush", "window")
                    writelog.mark("recorded", "grow")
                    david("resize", "cut", "--backing")
                    writelog.mark("recorded", "grown")
                life.most = (40, 90, 120)[number]
                life.run(syncs * (number + 1), last=number == len(sizes) - 1)
        found = list(writelog.entries(log))
    places = set(writelog.places(found, writelog.first_mark(found), cuts, rng))
    begin = None
    for number, entry in enumerate(found):
        if entry.data == b"grow":
            begin = number
        if begin is not None and entry.data == b"grown":
            # All of what growing writes, and the first writes to what is new.
            near = range(begin, min(number + 12, len(found)))
            places.update(near if FULL else rng.sample(near, 4))
            begin = None
    seen = set()
    path = SCRATCH / "base"
    for place in told("growing", sorted(places)):
        with open(path, "w+b") as base:
            base.truncate(sizes[-1])
            (cut,) = writelog.cuts(base, found, (place,))
            writelog.left_at(base.fileno(), found, cut, rng)
        marks = [entry.data for entry in found[: cut.done] if entry.flags & writelog.MARK]
        flushed = max((int(text) for text in marks if text.isdigit()), default=-1)
        status, text = says("info", str(path))
        if status:
            raise Failed(f"growing, cut behind entry {place} of {len(found)}: {text}")
        size = int(dict(line.split(" ", 1) for line in text.splitlines())["backing_blocks"])
        seen.add(size * BLOCK)
        # It opens on a device of just that size, which is no more than what there is.
        has = sizes[min(marks.count(b"grow"), len(sizes) - 1)]
        if not sizes[marks.count(b"grown")] <= size * BLOCK <= has:
            wrong = f"the store says that it has {size * BLOCK} bytes, and the device has {has}"
        else:

            def prepare(to: str, size: int = size) -> None:
                copy_sparse(str(path), to)
                os.truncate(to, size * BLOCK)

            with loop_disk(size * BLOCK, prepare=prepare) as dev, mapped("back", table(TIB, dev)) as disk:
                wrong = life.wrong(disk, flushed)
        if wrong:
            raise Failed(f"growing, cut behind entry {place} of {len(found)}: {wrong}")
    path.unlink()
    assert seen == set(sizes), f"sizes {sorted(seen)} were seen only"


@case
def every_flushed_block_survives_a_power_cut() -> None:
    cut_raw(RAW_FLUSHES, RAW_CUTS, 1)


@case(seldom=True)
def a_store_that_grows_is_of_the_old_size_or_the_new() -> None:
    cut_growing(200 if FULL else 12, 300 if FULL else 6, 5)


# A full one would fail the mount: log and checksums take more in a long life.
FS_SIZE, FS_BACKING = 2 * GIB, (192 if FULL else 48) * MIB
TEARING = f"0 {FS_SIZE >> 9} striped 1 8 {{}} 0"


# Requests divided at 4 KiB, and nobody who tells whose pages they are: btrfs's data waits for a commit.
TORN = ("--classify", "implicit")


def cut_everywhere(
    what: str,
    found: list[writelog.Entry],
    size: int,
    cuts: int,
    rng: random.Random,
    wrong: Callable[[str, int], str],
) -> None:
    """Of each place the disk, from the first mark on, and the number in the last mark before (-1: none)."""
    places = writelog.places(found, writelog.first_mark(found), cuts, rng)
    base = SCRATCH / "base"
    with open(base, "w+b") as image:
        image.truncate(FS_BACKING)
        for cut in writelog.cuts(image, found, told(what, places)):

            def prepare(path: str, cut: writelog.Cut = cut) -> None:
                writelog.copy_left_at(str(base), path, found, cut, rng)

            try:
                with (
                    loop_disk(FS_BACKING, prepare=prepare) as dev,
                    mapped("back", f"0 {size >> 9} david {dev}") as disk,
                ):
                    said = wrong(disk, cut.marked)
            except Failed as error:
                said = str(error)
            if said:
                raise Failed(
                    f"{what}, cut behind entry {cut.place} of {len(found)}, after sync {cut.marked}: {said}"
                )
    base.unlink()


def cut_file_system(fs: str, syncs: int, cuts: int, seed: int, torn: bool = False) -> None:
    # Of btrfs the data is squashed: the checksums have to be there.
    check = whole_check(fs)
    with writelog.log_disk(2 * GIB) as log:
        with (
            loop_disk(FS_BACKING) as dev,
            writelog.recorded("recorded", dev, log) as backing,
            fake_disk("cut", FS_SIZE, backing, *(TORN if torn else ())) as disk,
            mapped("torn", TEARING.format(disk)) if torn else nullcontext(disk) as above,
        ):
            run(*TOOLS[fs].mkfs, *(("-J", "size=8") if fs == "ext4" else ()), above)
            with mounted(above, fs) as top:
                os.sync()
                writelog.mark("recorded", "mounted")
                files = Files(top, "recorded", seed)
                for number in range(syncs):
                    files.step(number)
                    if torn and number % 4 == 0:
                        run("sync", "-f", top)
            dropped = device_stats("cut")["unclassified"]["data"]  # type: ignore[index]
            if torn and not dropped:
                raise Failed(f"{fs}: nothing was dropped later")
        found = list(writelog.entries(log))

    def wrong(disk: str, synced: int) -> str:
        with mounted(disk, fs) as top:
            said = files.wrong(top, synced)
        run(*check, disk)
        return said

    cut_everywhere(fs, found, FS_SIZE, cuts, random.Random(seed), wrong)


class Chosen:
    """Files that are to be exact, each written once and synced, and one that grows; others are dropped."""

    def __init__(self, top: str, recorder: str, seed: int, count: int) -> None:
        self.top, self.recorder = top, recorder
        self.rng = random.Random(seed)
        self.names: list[str] = []
        self.content: dict[str, bytes] = {}
        self.grows = b""
        self.ends: list[int] = []
        for name in ("raw", "raw/deep", "plain"):
            os.mkdir(f"{top}/{name}")
        # By inode: so they have to be there before.
        self.names = [f"plain/keep-{number}" for number in range(count)]
        for name in ("raw/grows", *self.names):
            self.put(name, b"")

    def put(self, name: str, data: bytes, mode: str = "wb") -> None:
        with open(f"{self.top}/{name}", mode) as file:
            file.write(data)

    def sync(self, name: str) -> None:
        with open(f"{self.top}/{name}", "rb") as file:
            os.fsync(file.fileno())

    def step(self, number: int, by_name: bool) -> None:
        if by_name:
            places = (f"raw/deep/{number}", f"raw/{number}", f"plain/{number}.db")
            self.names[number] = self.rng.choice(places)
        for each in range(3):
            self.put(f"plain/other-{number}-{each}", self.rng.randbytes(self.rng.randrange(90 * KIB)))
        if number > 5:
            os.unlink(f"{self.top}/plain/other-{number - 5}-0")
        name = self.names[number]
        data = self.content[name] = self.rng.randbytes(self.rng.choice((100, 5000, 40000, 200000)))
        more = self.rng.randbytes(self.rng.choice((10, 1000, 7000)))
        self.put("raw/grows", more, "ab")
        self.put(name, data)
        self.sync("raw/grows")
        self.sync(name)
        self.grows += more
        self.ends.append(len(self.grows))
        writelog.mark(self.recorder, str(number))

    def wrong(self, top: str, synced: int) -> str:
        for name in self.names[: synced + 1]:
            with open(f"{top}/{name}", "rb") as file:
                if file.read() != self.content[name]:
                    return f"{name} is not what was synced"
        end = self.ends[synced] if synced >= 0 else 0
        with open(f"{top}/raw/grows", "rb") as file:
            if file.read(end) != self.grows[:end]:
                return f"raw/grows is not what was synced, {end} bytes"
        return ""


def cut_chosen(by_name: bool, syncs: int, cuts: int, seed: int) -> None:
    """RAW rules where no page owner tells of files: the others' data is dropped when inodes have told."""
    size = 512 * MIB
    with writelog.log_disk(2 * GIB) as log:
        with (
            loop_disk(FS_BACKING) as dev,
            writelog.recorded("recorded", dev, log) as backing,
            fake_disk("cut", size, backing, "--classify", "implicit") as disk,
        ):
            run("mkfs.ext4", "-q", "-J", "size=8", disk)
            with mounted(disk, "ext4") as top:
                files = Chosen(top, "recorded", seed, syncs)
                names = ["raw", *files.names] if not by_name else ["raw"]
                rules = [f"{top}/{name}" for name in names]
                if not by_name:
                    rules[0] += "/grows"
                david("raw", "add", "cut", *rules, *(["*.db"] if by_name else []))
                os.sync()
                writelog.mark("recorded", "mounted")
                for number in range(syncs):
                    files.step(number, by_name)
                    if number % 4 == 3:
                        os.sync()
                    # What is committed goes home.
                    with open(disk, "r+b") as device:
                        os.fsync(device.fileno())
                    time.sleep(0.1)
                if wrong := files.wrong(top, syncs - 1):
                    raise Failed(f"before any cut: {wrong}")
            dropped = int(device_stats("cut")["unclassified"]["data"])  # type: ignore[index]
            if dropped < syncs:
                raise Failed(f"only {dropped} blocks were dropped")
        found = list(writelog.entries(log))

    def judge(disk: str, synced: int) -> str:
        with mounted(disk, "ext4") as top:
            said = files.wrong(top, synced)
        run("e2fsck", "-fn", disk)
        return said

    cut_everywhere("chosen files", found, size, cuts, random.Random(seed), judge)


def file_systems_recover(fs: str) -> None:
    # A sync flushes twice: at all of more than 2,000 flushes, and at as many other places.
    cut_file_system(fs, 1000 if FULL else 15, 4400 if FULL else 3, 3)


@case(vm="6.1", stock="6.12 newest", cpus=True)
def ext4_recovers_from_a_power_cut() -> None:
    file_systems_recover("ext4")


@case(cpus=True)
def btrfs_recovers_from_a_power_cut() -> None:
    file_systems_recover("btrfs")


@case(full=True)
def btrfs_recovers_from_a_power_cut_when_its_data_is_dropped_later() -> None:
    cut_file_system("btrfs", 200, 400, 4, torn=True)


@case(full=True)
def chosen_files_are_exact_after_a_power_cut_by_inode() -> None:
    cut_chosen(False, 80, 300, 6)


@case(full=True)
def chosen_files_are_exact_after_a_power_cut_by_name() -> None:
    cut_chosen(True, 80, 300, 7)


@case(cpus=True)
def xfs_recovers_from_a_power_cut() -> None:
    file_systems_recover("xfs")


@case(planted=True)
def the_test_finds_planted_bugs() -> None:
    missed = []
    for bug in ("flush", "late", "reuse", "sums", "rules", "grow"):
        try:
            with planted(bug):
                if bug == "sums":
                    cut_file_system("btrfs", 15, 3, 3)
                elif bug == "grow":
                    cut_growing(12, 6, 5)
                elif bug == "rules":
                    rules_survive_a_power_cut()
                else:
                    cut_raw(100, 60, 2)
            missed.append(bug)
        except Failed as found:
            print(f"{bug}: {found}", flush=True)
    if missed:
        raise Failed(f"planted and not found: {', '.join(missed)}")
