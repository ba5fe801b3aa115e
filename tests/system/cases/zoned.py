# SPDX-License-Identifier: GPL-2.0
"""Zoned disks: random commands beside null_blk, which keeps the state of zones by the same rules and stores
nothing; what is there when the disk is made again; what a table line may not say.
"""

from __future__ import annotations

import errno
import os
import random
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from cases import case
from davidlib.drive import profileword
from helpers import raw, writelog
from helpers.guest import (
    SCRATCH,
    Failed,
    device_stats,
    dm,
    loop_disk,
    mapped,
    mounted,
    ram_disk,
    remove,
    run,
    say,
    swap_table,
)
from helpers.planted import all_found, must_fail, planted
from helpers.units import FULL, KIB, MIB
from helpers.zoned import FULL as FULL_ZONE
from helpers.zoned import (
    CONVENTIONAL,
    ZONE,
    Shape,
    after_power_on,
    line,
    manage,
    null_zoned,
    raw_report,
    zoned_disk,
    zones_of,
)

# What the kernel says of commands that null_blk refuses.
JUDGE = "I/O error, dev judge"
COMMANDS = 100_000 if FULL else 4_000
# Errors of a command, by what the zones' rules know.
KNOWN = {0: "done", errno.EIO: "invalid", errno.ETOOMANYREFS: "open", errno.EOVERFLOW: "active"}


class Beside:
    """A fake disk and null_blk, to which the same is done. What is written has a number in each block."""

    def __init__(self, disk: str, null: str, shape: Shape, seed: int) -> None:
        self.rng = random.Random(seed)
        self.shape = shape
        self.disks = [os.open(path, raw.DIRECT) for path in (disk, null)]
        self.content: dict[int, int] = {}
        self.number = self.plugged = 0
        self.answers = dict.fromkeys(KNOWN.values(), 0)  # the fake disk's
        self.zone_blocks = shape.size * MIB // shape.block

    def close(self) -> None:
        while self.disks:
            os.close(self.disks.pop())

    def both(self, what: str, do: object) -> bool:
        """Do it to each. True if both did it; the error must be the same."""
        found = []
        for fd in self.disks:
            try:
                do(fd)  # type: ignore[operator]
                found.append(0)
            except OSError as error:
                found.append(error.errno or -1)
        # In front of null_blk the block layer queues writes to a zone, and says EIO of some that the drive
        # refuses for another reason. Nothing queues in front of a fake disk.
        plugged = what.startswith("write") and found[0] in (errno.ETOOMANYREFS, errno.EOVERFLOW)
        if found[0] != found[1] and plugged and found[1] == errno.EIO:
            self.plugged += 1
        elif found[0] != found[1] or found[0] not in KNOWN:
            raise Failed(f"{what}: error {found[0]}, null_blk has {found[1]}")
        self.answers[KNOWN[found[0]]] += 1
        return not found[0]

    def block(self, number: int) -> bytes:
        return number.to_bytes(8, "little") * (self.shape.block // 8)

    def write(self, first: int, blocks: int) -> None:
        self.number += 1
        numbers = [self.number << 20 | i for i in range(blocks)]
        # Whole runs of one word, too, which take no place in the store.
        if not self.rng.randrange(4):
            numbers = [self.number] * blocks
        data = b"".join(map(self.block, numbers))
        place = first * self.shape.block
        if self.both(f"write of {blocks} blocks at {first}", lambda fd: raw.write(fd, data, place)):
            self.content.update(zip(range(first, first + blocks), numbers, strict=True))

    def manage(self, what: str, zone: int) -> None:
        sectors = self.shape.size * MIB >> 9
        zones = self.shape.zones - zone if what == "reset" and not zone else 1
        if zones > 1 and self.shape.conventional:
            zones = 1
        if self.both(f"{what} of zone {zone}", lambda fd: manage(fd, what, zone * sectors, zones * sectors)):
            if what == "reset":
                for block in range(zone * self.zone_blocks, (zone + zones) * self.zone_blocks):
                    self.content.pop(block, None)

    def step(self) -> None:
        rng = self.rng
        reports = [raw_report(fd, self.shape.zones) for fd in self.disks]
        if reports[0] != reports[1]:
            zones = [zones_of(report) for report in reports]
            differ = next((a, b) for a, b in zip(*zones, strict=True) if a != b)
            raise Failed(f"zones differ: {differ[0]}, null_blk has {differ[1]}")
        number = rng.randrange(self.shape.zones)
        zone = zones_of(reports[0])[number]
        what = rng.choice(("write",) * 6 + ("open", "close", "finish", "reset"))
        if what != "write":
            # Not all is reset each time that it comes to the first zone.
            self.manage(what, number if rng.randrange(20) else 0)
            return
        sectors = self.shape.block >> 9
        place = zone.wp
        if zone.type == CONVENTIONAL or not rng.randrange(8):
            place = zone.start + rng.randrange(zone.len)
        place = min(place, zone.start + zone.len - sectors) // sectors
        room = number * self.zone_blocks + self.zone_blocks - place
        most = max(1, (zone.start + zone.capacity) // sectors - place)
        blocks = rng.choice((1, 2, 8, 32, 256 * KIB // self.shape.block, most))
        # What does not fit, the block layer may split in front of null_blk, and a part fits.
        blocks = blocks if blocks <= most else min(blocks, most + 1, 2)
        self.write(place, min(room, blocks, 4 * MIB // self.shape.block))

    def look(self, fd: int, blocks: int, first: int) -> None:
        found = raw.read(fd, blocks * self.shape.block, first * self.shape.block)
        for i in range(blocks):
            block = found[i * self.shape.block : (i + 1) * self.shape.block]
            if block != self.block(self.content.get(first + i, 0)):
                raise Failed(f"block {first + i} has not what was written")

    def look_at_all(self, fd: int) -> None:
        some = MIB // self.shape.block
        for first in range(0, self.shape.bytes // self.shape.block, some):
            self.look(fd, some, first)


def random_shape(rng: random.Random, block: int) -> Shape:
    zones = rng.randrange(6, 20)
    size = rng.choice((1, 2, 4))
    active = rng.choice((0, 3, 5))
    return Shape(
        zones=zones,
        size=size,
        capacity=rng.randrange(1, size + 1),
        conventional=rng.choice((0, 0, 1, 3)),
        max_open=rng.choice((0, 2, 3)) if not active else rng.choice((0, 2, active)),
        max_active=active,
        block=block,
    )


def beside_null_blk(commands: int, rounds: int, seed: int, block: int) -> dict[str, int]:
    rng = random.Random(seed)
    answers: dict[str, int] = {}
    for number in range(rounds):
        shape = random_shape(rng, block)
        with ExitStack() as stack:
            backing = stack.enter_context(loop_disk(192 * MIB))
            null = stack.enter_context(null_zoned("judge", shape))
            zones = stack.enter_context(null_zoned("zones", shape))
            table = line(shape, backing, zones, "classify=keep", "store=auto")
            with mapped("zd", table) as disk:
                beside = Beside(disk, null, shape, rng.randrange(1 << 32))
                try:
                    for _ in range(commands // rounds):
                        beside.step()
                    beside.look_at_all(beside.disks[0])
                    before = zones_of(raw_report(beside.disks[0], shape.zones))
                except Failed as error:
                    raise Failed(f"round {number}, {shape}: {error}") from None
                finally:
                    beside.close()
            with mapped("zd", table) as disk, raw.opened(disk) as fd:
                after = zones_of(raw_report(fd, shape.zones))
                should = list(map(after_power_on, before))
                if list(map(after_power_on, after)) != should or any(zone.cond in (2, 3) for zone in after):
                    raise Failed(f"made again, {shape}: {after}, not {before}")
                beside.look_at_all(fd)
        for key, value in {**beside.answers, "open or active, EIO of null_blk": beside.plugged}.items():
            answers[key] = answers.get(key, 0) + value
    return answers


@case(complaints=JUDGE)
def zones_are_those_of_null_blk_after_each_command_and_stay_when_the_disk_is_made_again() -> None:
    answers = beside_null_blk(COMMANDS * 2 // 3, 24 if FULL else 4, 40, 4096)
    for key, value in beside_null_blk(COMMANDS // 3, 8 if FULL else 2, 41, 512).items():
        answers[key] += value
    if min(answers[key] for key in KNOWN.values()) < COMMANDS // 200:
        raise Failed(f"an answer was hardly given: {answers}")
    say(f"zoned: {answers}")


class ZoneLife:
    """Random commands to a disk's zones, with all that each zone has had, and after which flush."""

    def __init__(self, fd: int, shape: Shape, seed: int) -> None:
        self.fd, self.shape, self.rng = fd, shape, random.Random(seed)
        self.flushes = self.number = 0
        self.most = (shape.capacity or shape.size) * MIB // shape.block
        # By zone: the flushes before, and the number that each block has had; 0 is zeros.
        self.had: list[list[tuple[int, list[int]]]] = [[(-1, [])] for _ in range(shape.zones)]

    def step(self) -> None:
        zone, what = self.rng.randrange(self.shape.zones), self.rng.random()
        had = self.had[zone][-1][1]
        sectors = self.shape.size * MIB >> 9
        if what < 0.12:
            manage(self.fd, "reset", zone * sectors, sectors)
            had = []
        elif what < 0.15:
            manage(self.fd, "finish", zone * sectors, sectors)
            had = had + [0] * (self.most - len(had))
        elif len(had) < self.most:
            blocks = min(self.rng.choice((1, 2, 5, 9)), self.most - len(had))
            more = list(range(self.number + 1, self.number + 1 + blocks))
            self.number += blocks
            data = b"".join(map(content, more))
            raw.write(self.fd, data, zone * self.shape.size * MIB + len(had) * self.shape.block)
            had = had + more
        self.had[zone].append((self.flushes, had))

    def run(self, flushes: int) -> None:
        while self.flushes < flushes:
            for _ in range(self.rng.choice((0, 1, 3, 10))):
                self.step()
            os.fsync(self.fd)
            writelog.mark("recorded", str(self.flushes))
            self.flushes += 1

    def wrong(self, fd: int, flushed: int) -> str:
        """What no drive has after that flush (-1: none) and before the next."""
        zones = zones_of(raw_report(fd, self.shape.zones))
        for number, zone in enumerate(zones):
            had = self.had[number]
            base = max(i for i, (when, _) in enumerate(had) if when <= flushed)
            some = [blocks for when, blocks in had[base:] if when <= flushed + 1]
            data = raw.read(fd, self.shape.size * MIB, zone.start << 9)
            blocks = (zone.wp - zone.start) * 512 // self.shape.block if zone.cond != FULL_ZONE else self.most
            size = self.shape.block
            if any(data[blocks * size :]):
                return f"zone {number} has something behind its pointer, {blocks} blocks"
            found = [data[i * size : (i + 1) * size] for i in range(blocks)]
            # A request that was cut off has left a part, from its beginning on.
            pairs = [(some[0], some[0]), *zip(some, some[1:], strict=False)]
            if not any(
                len(found) == len(after) or len(before) <= len(found) <= len(after)
                for before, after in pairs
                if found == list(map(content, after[: len(found)]))
            ):
                may = sorted({len(blocks) for blocks in some})
                return f"zone {number} has {blocks} blocks after flush {flushed}, and may have {may}"
        return ""


def content(number: int) -> bytes:
    """What the write of that number leaves in a block: every third a repeated word, 0 zeros."""
    word = number.to_bytes(8, "little")
    return word * 512 if number % 3 == 0 else word + random.Random(number).randbytes(4088)


def cut_zones(flushes: int, cuts: int, seed: int) -> None:
    rng = random.Random(seed)
    shape = Shape(zones=8, size=1)
    size = 16 * MIB
    with ExitStack() as stack:
        null = stack.enter_context(null_zoned("zones", shape))
        log = stack.enter_context(writelog.log_disk(512 * MIB if FULL else 128 * MIB))
        with (
            loop_disk(size) as dev,
            writelog.recorded("recorded", dev, log) as backing,
            mapped("zd", line(shape, backing, null, "classify=keep", "store=format")) as disk,
            raw.opened(disk) as fd,
        ):
            writelog.mark("recorded", "-1")
            life = ZoneLife(fd, shape, seed)
            life.run(flushes)
        found = list(writelog.entries(log))
        places = writelog.places(found, writelog.first_mark(found), cuts, rng)
        dev = stack.enter_context(loop_disk(size))
        base = stack.enter_context(open(SCRATCH / "zonebase", "w+b"))
        stack.callback((SCRATCH / "zonebase").unlink)
        base.truncate(size)
        for cut in writelog.cuts(base, found, places):
            image = os.pread(base.fileno(), size, 0)
            with raw.opened(dev, os.O_RDWR) as fd:
                os.pwrite(fd, image, 0)
                writelog.left_at(fd, found, cut, rng)
                os.fsync(fd)
            with mapped("zd", line(shape, dev, null, "classify=keep")) as disk, raw.opened(disk) as fd:
                wrong = life.wrong(fd, cut.marked)
            if wrong:
                raise Failed(f"cut behind entry {cut.place} of {len(found)}: {wrong}")


@case
def after_a_power_cut_each_zone_has_what_was_flushed_and_nothing_behind_its_pointer() -> None:
    cut_zones(600 if FULL else 30, 1000 if FULL else 15, 40)


@case(planted=True)
def a_flush_that_does_not_wait_is_found_in_zones() -> None:
    with planted("late"), must_fail():
        cut_zones(60, 60, 40)


def some_beside_null_blk() -> None:
    beside_null_blk(2000, 2, 40, 4096)


@case(planted=True, complaints=JUDGE)
def random_commands_beside_null_blk_find_each_bug() -> None:
    """Of what is stored, of pointers, of conditions, and of limits."""
    bugs = ("unreset", "unfinished", "zone_pointer", "zone_brim", "zone_limits", "zone_turn", "zone_restore")
    all_found(*((bug, some_beside_null_blk) for bug in bugs))


def refused(table: str, *says: str) -> None:
    run("dmesg", "-C")
    run("dmsetup", "create", "wrong", "--table", table, ok=(1,))
    if dm.exists("wrong"):
        remove("wrong")
    said = run("dmesg")
    if not all(text in said for text in says):
        raise Failed(f"{table}: the kernel says {said}, not {says}")


@case
def what_zones_a_disk_cannot_have_is_said() -> None:
    shape = Shape(zones=16, size=4, capacity=3, conventional=2)
    other = Shape(zones=16, size=4, conventional=2)
    with ExitStack() as stack:
        backing = stack.enter_context(ram_disk(16 * MIB))
        null = stack.enter_context(null_zoned("zones", shape))
        wrong = stack.enter_context(null_zoned("other", other))
        good = line(shape, backing, null, "classify=keep")
        refused(line(shape, backing, backing), "zones: the device has no zones")
        refused(line(shape, backing, "/dev/nowhere"), "zones: the device is not there")
        refused(line(Shape(zones=17, size=4), backing, null), "zones: the table is longer than the device")
        refused(line(shape, backing, null, "pool=a"), "zones: not with pool")
        refused(f"0 {shape.bytes >> 9} david {null} 0", "Backing device has zones")
        # Times of a drive without zones would look right.
        for mode in ("timing-accurate", "speedup"):
            words = ("profile=name=x;kind=memory;host=nvme;capacity=1GiB", f"mode={mode}")
            refused(line(shape, backing, null, *words), "zones: the profile is of a drive without zones")
        # A store without zones, and not empty, gets none: they would mean something else.
        plain = f"0 {shape.bytes >> 9} david {backing} 1 classify=keep"
        with mapped("plain", plain) as disk, raw.opened(disk) as fd:
            raw.write(fd, b"kept" * 1024, MIB * 20)
        refused(good, "the store is of a disk without zones, and not empty")
        with mapped("plain", plain) as disk, raw.opened(disk) as fd:
            if raw.read(fd, 4096, MIB * 20) != b"kept" * 1024:
                raise Failed("a table that was refused has changed the store")
        formatted = line(shape, backing, null, "classify=keep", "store=format")
        with mapped("zd", formatted) as disk, raw.opened(disk) as fd:
            raw.write(fd, b"zone" * 1024, shape.size * 2 * MIB)
        refused(plain, "the store is of a zoned disk")
        refused(line(other, backing, wrong, "classify=keep"), "the store has other zones")
        with mapped("zd", good) as disk, raw.opened(disk) as fd:
            zone = zones_of(raw_report(fd, shape.zones))[2]
            if zone.wp != zone.start + 8 or raw.read(fd, 4096, shape.size * 2 * MIB) != b"zone" * 1024:
                raise Failed(f"a table that was refused has changed the zone: {zone}")


def fails(do: Callable[[], object]) -> None:
    try:
        do()
    except OSError as error:
        if error.errno not in (errno.EIO, errno.ENODEV, errno.ETIMEDOUT, errno.ENODATA):
            raise
        return
    raise Failed("the drive did not fail")


@case(complaints="I/O error", seldom=True)
def zones_of_a_drive_that_fails_have_what_is_stored() -> None:
    """In both modes: what the drive fails leaves the zone as it was, and the next command finds it so."""
    word = profileword.load("wd-ultrastar-dc-zn540-1tb", []).text()
    shape = Shape(zones=16, size=2048, capacity=1077, max_open=14, max_active=14, block=512, append=256)
    sectors, data = shape.size * MIB >> 9, random.Random(1).randbytes(64 * KIB)
    for mode in ("timing-accurate", "speedup"):
        words = ("classify=keep", f"mode={mode}", f"profile={word}")
        with ram_disk(16 * MIB) as backing, zoned_disk("zd", shape, backing, *words) as disk:
            with raw.opened(disk) as fd:
                raw.write(fd, data, 0)
                for zone, what in ((5, "open"), (6, "open"), (6, "close")):
                    manage(fd, what, zone * sectors, sectors)
                for fault in ("gone", "timeout"):
                    before = raw_report(fd, shape.zones)
                    run("dmsetup", "message", "zd", "0", "fault", "add", fault)
                    fails(lambda fd=fd: raw.write(fd, data, len(data)))
                    fails(lambda fd=fd: raw.write(fd, data, 3 * sectors * 512))
                    if fault == "gone":
                        for what in ("reset", "finish"):
                            fails(lambda fd=fd, what=what: manage(fd, what, 0, sectors))
                        # Empty, explicitly open
                        for zone, what in ((7, "open"), (5, "close")):
                            at = zone * sectors
                            fails(lambda fd=fd, what=what, at=at: manage(fd, what, at, sectors))
                    if raw_report(fd, shape.zones)[ZONE.size:] != before[ZONE.size:]:
                        raise Failed(f"{mode}, {fault}: a command that failed has changed a zone's condition")
                    run("dmsetup", "message", "zd", "0", "fault", "remove", "all")
                    zones = zones_of(raw_report(fd, shape.zones))
                    if zones[0].wp != len(data) >> 9 or zones[3].wp != zones[3].start:
                        raise Failed(f"{mode}, {fault}: {zones[0]}, {zones[3]}")
                    if raw.read(fd, len(data), 0) != data or any(raw.read(fd, 4096, len(data))):
                        raise Failed(f"{mode}, {fault}: a zone has not what was written")
                run("dmsetup", "message", "zd", "0", "fault", "add", "media-error:sectors=0-7")
                fails(lambda fd=fd: raw.read(fd, 4096, 0))
                raw.write(fd, data, len(data))
                manage(fd, "reset", 0, sectors)
                raw.write(fd, data, 0)
                if raw.read(fd, len(data), 0) != data:
                    raise Failed(f"{mode}: what was written again is not there")


@case(complaints="I/O error")
def a_table_that_did_not_become_live_leaves_no_zones_in_the_store() -> None:
    shape = Shape(zones=16, size=1)
    size = 8 * MIB >> 9
    with ExitStack() as stack:
        dev = stack.enter_context(loop_disk(8 * MIB))
        under = stack.enter_context(mapped("under", f"0 {size} linear {dev} 0"))
        null = stack.enter_context(null_zoned("zones", shape))
        run("dmsetup", "create", "zd", "--notable")
        stack.callback(remove, "zd")
        run("dmsetup", "load", "zd", "--table", line(shape, under, null, "classify=keep"))
        swap_table("under", f"0 {size} error")
        said = run("dmsetup", "resume", "zd", ok=(1,))
        swap_table("under", f"0 {size} linear {dev} 0")
        # The superblock could not be written, and so the store is nobody's yet.
        run("dmsetup", "load", "zd", "--table", f"0 {shape.bytes >> 9} david {under} 1 classify=keep")
        try:
            run("dmsetup", "resume", "zd")
        except Failed as error:
            raise Failed(f"after {said!r}: {error}: {run('dmesg')[-600:]}") from None
        dm.make_node("zd")
        with raw.opened("/dev/mapper/zd") as fd:
            raw.write(fd, b"kept" * 1024, 5 * MIB)
        # And one that became live is kept to.
        run("dmsetup", "load", "zd", "--table", line(shape, under, null, "classify=keep"))
        run("dmsetup", "suspend", "zd")
        run("dmsetup", "resume", "zd", ok=(1,))
        run("dmsetup", "load", "zd", "--table", f"0 {shape.bytes >> 9} david {under} 1 classify=keep")
        run("dmsetup", "resume", "zd")
        with raw.opened("/dev/mapper/zd") as fd:
            if raw.read(fd, 4096, 5 * MIB) != b"kept" * 1024:
                raise Failed("what was written is not there")


@case
def a_profile_of_other_zones_is_refused() -> None:
    names = ("wd-ultrastar-dc-hc620-14tb", "wd-ultrastar-dc-zn540-1tb")
    disk, flash = (profileword.load(name, []).text() for name in names)
    smaller = flash.replace("zone_append_limit=128KiB", "zone_append_limit=64KiB")
    zns = Shape(zones=16, size=2048, capacity=1077, max_open=14, max_active=14, block=512, append=256)
    with ExitStack() as stack:
        backing = stack.enter_context(ram_disk(16 * MIB))
        for number, (word, shape, says) in enumerate((
            (disk, Shape(zones=24, size=128, conventional=1, block=512), "profile's zone_size"),
            (disk, Shape(zones=24, size=256, capacity=200, conventional=1, block=512), "zone_capacity"),
            (disk, Shape(zones=24, size=256, conventional=2, block=512), "conventional_zones"),
            (disk, Shape(zones=24, size=256, conventional=1, max_open=4, block=512), "max_open_zones"),
            (disk, Shape(zones=24, size=256, conventional=1, block=4096), "logical_block"),
            (flash, replace(zns, max_open=13, max_active=13), "max_open_zones"),
            (flash, replace(zns, max_active=15), "max_active_zones"),
            (smaller, zns, "zone_append_limit"),
            (flash.replace("name=", "precondition=sequential;name="), zns, "precondition"),
        )):
            null = stack.enter_context(null_zoned(f"other{number}", shape))
            refused(line(shape, backing, null, f"profile={word}"), "zones: the", says)


@case
def a_write_that_fails_leaves_the_pointer_behind_what_is_stored() -> None:
    """The backing device is full: what was refused is not behind the pointer, and a reset makes room."""
    shape = Shape(zones=8, size=8)
    with loop_disk(8 * MIB) as backing, zoned_disk("zd", shape, backing, "classify=keep") as disk:
        with raw.opened(disk) as fd:
            rng = random.Random(1)
            written = 0
            try:
                for _ in range(shape.size * 16):
                    raw.write(fd, rng.randbytes(64 * KIB), written)
                    written += 64 * KIB
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
            else:
                raise Failed("more was stored than the backing device has")
            zone = zones_of(raw_report(fd, shape.zones))[0]
            if not written <= zone.wp << 9 < written + 64 * KIB:
                raise Failed(f"{written} bytes were written: {zone}")
            if any(raw.read(fd, 64 * KIB, (zone.wp << 9) & -4096)):
                raise Failed("there is something behind the pointer")
            manage(fd, "reset", 0, zone.len)
            raw.write(fd, rng.randbytes(64 * KIB), 0)


class Writing(threading.Thread):
    """A write that may take its time, and what became of it."""

    def __init__(self, fd: int, data: bytes, place: int) -> None:
        super().__init__(daemon=True)
        self.fd, self.data, self.place = fd, data, place
        self.error: OSError | None = None
        self.start()

    def run(self) -> None:
        try:
            raw.write(self.fd, self.data, self.place)
        except OSError as error:
            self.error = error


@case(complaints="I/O error|could not be undone")
def a_write_waits_for_the_one_before_it_in_its_zone_and_fails_with_it() -> None:
    """The second one needs nothing of the backing device, which the first one waits for."""
    shape, size, sectors = Shape(zones=8, size=8), 64 * KIB, 16 * MIB >> 9
    with ExitStack() as stack:
        dev = stack.enter_context(loop_disk(16 * MIB))
        under = stack.enter_context(mapped("under", f"0 {sectors} linear {dev} 0"))
        disk = stack.enter_context(zoned_disk("zd", shape, under, "classify=keep"))
        fd = stack.enter_context(raw.opened(disk))
        data = random.Random(1).randbytes(size)
        raw.write(fd, data, 0)
        os.fsync(fd)
        run("dmsetup", "suspend", "--noflush", "--nolockfs", "under")
        try:
            first = Writing(fd, random.Random(2).randbytes(size), size)
            time.sleep(0.2)
            second = Writing(fd, b"constant" * (size // 8), 2 * size)
            time.sleep(0.3)
            done = [not one.is_alive() for one in (first, second)]
        finally:
            run("dmsetup", "load", "under", "--table", f"0 {sectors} error")
            run("dmsetup", "resume", "under")
        for one in (first, second):
            one.join(20)
        swap_table("under", f"0 {sectors} linear {dev} 0")
        if any(done):
            raise Failed(f"while nothing could be stored, writes were done: {done}")
        if not first.error or not second.error:
            raise Failed(f"the first write ended with {first.error}, the one behind it with {second.error}")
        zone = zones_of(raw_report(fd, shape.zones))[0]
        if zone.wp != size >> 9 or raw.read(fd, size, 0) != data or any(raw.read(fd, 2 * size, size)):
            raise Failed(f"the zone has not what was stored: {zone}")


@case(seldom=True)
def fio_and_blkzone_find_a_zoned_disk() -> None:
    shape = Shape(zones=32, size=8, capacity=6, conventional=2, max_open=4, max_active=6)
    with loop_disk(256 * MIB) as backing, zoned_disk("zd", shape, backing, "classify=keep") as disk:
        number = os.stat(disk).st_rdev
        queue = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/queue")
        if (queue / "zoned").read_text().strip() != "host-managed":
            raise Failed("the disk is not host-managed")
        for job in ("randwrite", "write"):
            run("blkzone", "reset", disk)
            run("fio", "--name=z", f"--filename={disk}", "--zonemode=zbd", f"--rw={job}", "--bs=64k",
                "--direct=1", "--ioengine=libaio", "--iodepth=8", f"--io_size={96 * MIB}", "--verify=crc32c",
                "--max_open_zones=4", f"--offset={16 * MIB}", f"--size={shape.bytes - 16 * MIB}")
            with raw.opened(disk) as fd:
                zones = zones_of(raw_report(fd, shape.zones))[shape.conventional:]
            written = sum(z.capacity if z.cond == FULL_ZONE else z.wp - z.start for z in zones) << 9
            if written != 96 * MIB:
                raise Failed(f"{job}: fio wrote {96 * MIB} bytes, and zones have {written}")


@case
def zoned_btrfs_made_again_with_another_checksum_reads_what_it_wrote() -> None:
    """Of data that is squashed the checksum is kept, if it is crc32c. A superblock says which it is, but one
    that lies in the zones for superblocks may be of a file system before."""
    for conventional in (0, 2):
        shape = Shape(zones=24, size=8, conventional=conventional)
        with loop_disk(96 * MIB) as backing, zoned_disk("zd", shape, backing, "classify=explicit") as disk:
            squashed = []
            # The superblocks of 20 commits go past 64 KiB, where a disk without zones has its own.
            for csum, files in (("crc32c", 20), ("xxhash", 3)):
                run("mkfs.btrfs", "-q", "-f", "-O", "zoned", "-d", "single", "-m", "single",
                    "--csum", csum, disk)
                with mounted(disk, "btrfs") as point:
                    for number in range(files):
                        Path(point, f"file{number}").write_bytes(random.Random(number).randbytes(16 * KIB))
                        os.sync()
                squashed.append(device_stats("zd")["blocks"]["squashed"])
                with mounted(disk, "btrfs") as point:
                    for number in range(files):
                        if len(Path(point, f"file{number}").read_bytes()) != 16 * KIB:
                            raise Failed(f"{csum}: file{number} has another length")
            if not squashed[0] or squashed[1]:
                raise Failed(f"{conventional} conventional zones: blocks squashed with either: {squashed}")


@case(planted=True, complaints="I/O error")
def what_these_tests_of_zones_guard_is_seen_to_be_missed() -> None:
    """Pointers of fio, drives that fail, stores and profiles of other zones, full backing devices."""
    all_found(
        ("zone_pointer", fio_and_blkzone_find_a_zoned_disk),
        ("zone_failed", zones_of_a_drive_that_fails_have_what_is_stored),
        ("zone_mend", zones_of_a_drive_that_fails_have_what_is_stored),
        ("zone_mend", a_write_that_fails_leaves_the_pointer_behind_what_is_stored),
        ("zone_order", a_write_waits_for_the_one_before_it_in_its_zone_and_fails_with_it),
        ("zone_store", what_zones_a_disk_cannot_have_is_said),
        ("zone_profile", a_profile_of_other_zones_is_refused),
    )
