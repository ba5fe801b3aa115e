# SPDX-License-Identifier: GPL-2.0
"""Zoned disks under a virtual clock: through the kernel they take what david-sim says, to the nanosecond."""

from __future__ import annotations

import os
import random
import time
from contextlib import ExitStack

from cases import case
from davidlib.drive import profileword
from davidlib.filesystems import made_alike
from helpers import raw
from helpers.filesystems import UUID
from helpers.guest import Failed, device_stats, mounted, ram_disk, run, say
from helpers.planted import all_found
from helpers.timed import Recording, check_lateness, check_parts, recording, settle
from helpers.units import KIB, MIB
from helpers.zoned import FULL, Shape, manage, raw_report, zoned_disk, zones_of

# Their zones, on disks that have few of them
DRIVES = {
    "wd-ultrastar-dc-zn540-1tb": Shape(
        zones=16, size=2048, capacity=1077, max_open=14, max_active=14, block=512, append=256
    ),
    "wd-ultrastar-dc-hc620-14tb": Shape(zones=24, size=256, conventional=1, block=512),
}
OPS = {"open": 4, "close": 5, "finish": 6, "reset": 7}
OPENS, APPENDS = 64, 32
APPENDED = 40  # files
# The virtual clock moves when it is read.
PROGRAM_NS = 20_000


class Life:
    """Commands to zones in turn, one at a time; how long each of those that carry no data took."""

    def __init__(self, fd: int, shape: Shape, seed: int) -> None:
        self.fd, self.shape, self.rng = fd, shape, random.Random(seed)
        self.sectors = shape.size * MIB >> 9
        self.took: list[tuple[str, int, int]] = []  # and sectors that the zone had
        self.opened = 0

    def manage(self, what: str, zone: int, had: int) -> None:
        start = time.monotonic_ns()
        manage(self.fd, what, zone * self.sectors, self.sectors)
        self.took.append((what, had, time.monotonic_ns() - start))

    def step(self, number: int) -> None:
        zone = zones_of(raw_report(self.fd, self.shape.zones))[number]
        had = zone.capacity if zone.cond == FULL else zone.wp - zone.start
        what = self.rng.randrange(12)
        size = self.rng.choice((512, 4096, 65536, MIB))
        if zone.type == 1:
            place = self.rng.randrange(zone.len // 2048) * MIB
            raw.write(self.fd, bytes(size), (zone.start << 9) + place)
        elif zone.cond == FULL or what == 0:
            self.manage("reset", number, had)
        elif what == 1:
            self.manage("finish", number, had)
        elif what == 2:
            self.manage("open", number, had)
        elif what == 3 and zone.cond in (2, 3):
            self.manage("close", number, had)
        elif what < 6 and had:
            raw.read(self.fd, 4096, (zone.start << 9) + self.rng.randrange(had // 8 or 1) * 4096)
        else:
            raw.write(self.fd, bytes(size), zone.wp << 9)
            self.opened += zone.cond not in (2, 3)


def check_commands(drive: str, life: Life, result: Recording, deep: int, counted: dict) -> None:
    """What the program waited is what was recorded and counted, and that what the profile's words say."""
    took = dict.fromkeys(OPS, 0)
    queued = [event for event in result.events("queue") if event["op"] > 3][: len(life.took)]
    completed = {event["id"]: event["completion"] for event in result.events("complete")}
    if [event["op"] for event in queued] != [OPS[what] for what, _, _ in life.took]:
        raise Failed(f"{len(queued)} commands to zones were recorded, of {len(life.took)}")
    for event, (what, had, waited) in zip(queued, life.took, strict=True):
        modelled = completed[event["id"]] - event["arrival"]
        took[what] += modelled
        if not modelled <= waited <= modelled + PROGRAM_NS:
            raise Failed(f"{drive}: a {what} took {waited} ns, and has {modelled} ns in the model")
        if what == "reset" and drive == "wd-ultrastar-dc-zn540-1tb":
            # The profile's words
            should = 2_360 + 7_010_000 + 9_180_000 * had // (life.shape.capacity * 2048)
            if abs(modelled - should) > 1:
                raise Failed(f"a reset of {had} sectors takes {modelled} ns, not {should}")
    kinds = {what: sum(what == other for other, _, _ in life.took) for what in OPS}
    if counted["zones"] != kinds | {"append": 0, "opened": life.opened, "refused": 0}:
        raise Failed(f"{drive}: counted are {counted['zones']}, of {kinds} and {life.opened} opened")
    if counted["zones_ns"] != took:
        raise Failed(f"{drive}: counted are {counted['zones_ns']} ns, of {took}")
    opened = sum(bool(event["flags"] & OPENS) for event in result.events("queue")[:deep])
    if opened != life.opened:
        raise Failed(f"{opened} writes have opened a zone, and should be {life.opened}")


def zones_take_what_the_simulator_says(steps: int) -> None:
    settle()
    for drive, shape in DRIVES.items():
        with ExitStack() as stack:
            dev = stack.enter_context(ram_disk(64 * MIB))
            result = stack.enter_context(recording())
            word = profileword.load(drive, []).text()
            disk = stack.enter_context(zoned_disk("vz", shape, dev, "classify=data", f"profile={word}"))
            with raw.opened(disk) as fd:
                life = Life(fd, shape, 1)
                for step in range(steps):
                    # Several zones in turn
                    life.step((0, 3, 4, 9, 12)[step % 5])
                os.fsync(fd)
                # The kernel's, as of a job that fio runs at a depth
                before = device_stats("vz")
                sent = before["requests"]
                for zone in (1, 2, 5):
                    manage(fd, "reset", zone * life.sectors, life.sectors)
            deep = sum(sent[kind] for kind in ("read", "write", "flush")) + len(life.took)
            zone_bytes = shape.size * MIB
            run("fio", "--name=z", f"--filename={disk}", "--zonemode=zbd", "--rw=randwrite", "--bs=64k",
                "--direct=1", "--ioengine=libaio", "--iodepth=16", f"--io_size={24 * MIB}",
                f"--offset={zone_bytes}", f"--size={2 * zone_bytes}", "--max_open_zones=2")
            check_lateness("vz")
            figures = device_stats("vz")
        said = result[0].replay(drive, shape.bytes)
        if said["n"] != said["compared"] or said["n"] < steps or said["differ"]:
            raise Failed(f"{drive}: {said}")
        check_commands(drive, life, result[0], deep, before)
        parts = check_parts(figures, said)
        kinds = {what: sum(what == other for other, _, _ in life.took) for what in OPS}
        if min(kinds.values()) < 3 or life.opened < 3:
            raise Failed(f"hardly a command of some kind: {kinds}, {life.opened} opened")
        say(f"{drive}: {said['n']} requests, {kinds}, {life.opened} opened, parts {parts}")


@case
def zones_take_what_the_simulator_says_to_the_nanosecond() -> None:
    zones_take_what_the_simulator_says(400)


@case
def appends_of_btrfs_take_what_the_simulator_says_to_the_nanosecond() -> None:
    """No program can send an append to a block device. btrfs writes its data so."""
    settle()
    drive = "wd-ultrastar-dc-zn540-1tb"
    shape, size = DRIVES[drive], 300 * KIB
    with ExitStack() as stack:
        dev = stack.enter_context(ram_disk(64 * MIB))
        result = stack.enter_context(recording())
        word = profileword.load(drive, []).text()
        disk = stack.enter_context(zoned_disk("vz", shape, dev, f"profile={word}"))
        run(*made_alike("btrfs", UUID, zoned=True), disk)
        with mounted(disk, "btrfs") as top:
            for number in range(APPENDED):
                with open(f"{top}/file-{number}", "wb") as file:
                    file.write(random.Random(number).randbytes(size))
                    file.flush()
                    if number % 4 == 0:
                        os.fsync(file.fileno())
        check_lateness("vz")
        figures = device_stats("vz")
    said = result[0].replay(drive, shape.bytes)
    if said["n"] != said["compared"] or said["differ"]:
        raise Failed(f"{drive}: {said}")
    check_parts(figures, said)
    appended = [event for event in result[0].events("queue") if event["flags"] & APPENDS]
    sectors = sum(event["sectors"] for event in appended)
    if len(appended) != figures["zones"]["append"] or sectors << 9 < APPENDED * size:
        raise Failed(f"{len(appended)} appends of {sectors} sectors were recorded, not {figures['zones']}")
    say(f"{drive}: {said['n']} requests, of them {len(appended)} appends of {sectors >> 11} MiB")


@case(planted=True)
def times_of_zones_find_each_bug() -> None:
    all_found(
        ("timeless", zones_take_what_the_simulator_says_to_the_nanosecond),
        ("zone_plain", appends_of_btrfs_take_what_the_simulator_says_to_the_nanosecond),
        ("zone_count", appends_of_btrfs_take_what_the_simulator_says_to_the_nanosecond),
    )
