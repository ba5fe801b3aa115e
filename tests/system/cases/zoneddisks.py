# SPDX-License-Identifier: GPL-2.0
"""Disks with zones by `david create`: their zoned device is made and goes with them, what is shown of them is
what the kernel reports, they last, and what cannot be made leaves nothing behind.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from contextlib import ExitStack, suppress
from pathlib import Path

from cases import case
from davidlib.disk import create, zones
from helpers import raw
from helpers.guest import Failed, complaint, david, device_stats, dm, loop_disk, mapped, ram_disk, run
from helpers.planted import all_found
from helpers.units import GIB, KIB, MIB
from helpers.zoned import (
    CONVENTIONAL,
    FULL,
    NULLB,
    Shape,
    after_power_on,
    manage,
    null_zoned,
    raw_report,
    zones_of,
)

DISK, FLASH = "wd-ultrastar-dc-hc620-14tb", "wd-ultrastar-dc-zn540-1tb"
# What each has when it is so large; of 52,156 zones of the disk 524 are conventional, so of 24 one.
SHAPES = {
    DISK: Shape(zones=24, size=256, conventional=1, block=512),
    FLASH: Shape(zones=20, size=2048, capacity=1077, max_open=14, max_active=14, block=512, append=256),
}
CONDITIONS = {1: "empty", 2: "implicitly_open", 3: "explicitly_open", 4: "closed", 0xE: "full"}


def there() -> set[str]:
    """All that a disk with zones may leave."""
    found = {f"/sys/block/{name}" for name in os.listdir("/sys/block") if not name.startswith("loop")}
    found |= {str(path) for path in NULLB.iterdir() if path.is_dir()} if NULLB.exists() else set()
    return found | set(run("dmsetup", "ls").splitlines()) - {"No devices found"}


def zone_life(fd: int, shape: Shape) -> None:
    """One zone full, one written in part, one finished, one open, one empty again."""
    sectors, first = shape.size * MIB >> 9, shape.conventional
    for zone, blocks in ((first, 3), (first + 1, 40), (first + 3, 1)):
        raw.write(fd, random.Random(zone).randbytes(blocks * 4096), zone * shape.size * MIB)
    manage(fd, "finish", (first + 1) * sectors, sectors)
    manage(fd, "open", (first + 2) * sectors, sectors)
    manage(fd, "reset", (first + 3) * sectors, sectors)
    try:
        raw.write(fd, bytes(4096), first * shape.size * MIB)
    except OSError:
        return
    raise Failed("a write below the pointer was not refused")


def check_life(shape: Shape, report: bytes) -> None:
    """The report has what zone_life() did, and nothing else."""
    found = [(zone.cond, 0 if zone.cond == FULL else zone.wp - zone.start) for zone in zones_of(report)]
    # Implicitly open with 3 blocks, finished, explicitly open, empty again
    should = [(2, 24), (FULL, 0), (3, 0), *[(1, 0)] * (shape.zones - shape.conventional - 3)]
    if found[shape.conventional:] != should:
        raise Failed(f"zones are {found[shape.conventional:]}, not {should}")


def check_shown(drive: str, shape: Shape, report: bytes) -> None:
    """What `david info` and `list` say, beside the profile's words and the kernel's report."""
    reported = zones_of(report)
    ordered = [zone for zone in reported if zone.type != CONVENTIONAL]
    conditions = [CONDITIONS[zone.cond] for zone in ordered]
    should = {
        "count": shape.zones,
        "size": shape.size * MIB,
        "capacity": (shape.capacity or shape.size) * MIB,
        "conventional": shape.conventional,
        # 128 open zones are no limit where there are 24.
        "max_open": shape.max_open,
        "max_active": shape.max_active,
        # Of a drive without appends they are writes, and Linux has requests of 1280 KiB.
        "append": shape.append * 512 or 1280 * KIB,
        "written": 512 * sum(z.capacity if z.cond == FULL else z.wp - z.start for z in ordered),
        "conditions": {name: conditions.count(name) for name in sorted(set(conditions))},
    }
    found = json.loads(david("info", "zd", "--json"))
    if found["zones"] != should:
        raise Failed(f"{drive}: info says {found['zones']}, not {should}")
    if len(reported) != shape.zones or len(reported) - len(ordered) != shape.conventional:
        raise Failed(f"{drive}: the kernel reports {len(reported)} zones")
    if len(set(conditions)) < 4:
        raise Failed(f"hardly a condition was seen: {conditions}")
    said = json.loads(david("list", "--json"))
    if [(disk["name"], disk["zones"]) for disk in said] != [("plain", 0), ("zd", shape.zones)]:
        raise Failed(f"{drive}: list says {said}")
    text = david("info", "zd")
    if f"zones        {shape.zones} of " not in text or "zones keep their size" not in text:
        raise Failed(f"{drive}: info says {text}")


@case
def a_drive_with_zones_is_made_shown_and_lasts_and_takes_its_zoned_device_away() -> None:
    for drive, shape in SHAPES.items():
        with ExitStack() as stack:
            other = stack.enter_context(ram_disk(16 * MIB))
            backing = stack.enter_context(loop_disk(64 * MIB))
            stack.enter_context(mapped("plain", f"0 {GIB >> 9} david {other} 1 classify=keep"))
            before = there()
            words = ("create", "zd", "--size", str(shape.bytes), "--backing", backing, "--profile", drive,
                     "--mode", "speedup", "--classify", "keep")
            david(*words)
            try:
                with raw.opened("/dev/mapper/zd") as fd:
                    zone_life(fd, shape)
                    report = raw_report(fd, shape.zones)
                counted = device_stats("zd")["zones"]
                if counted != {"open": 1, "close": 0, "finish": 1, "reset": 1, "append": 0, "opened": 3,
                               "refused": 1}:
                    raise Failed(f"{drive}: {counted}")
                if "commands and writes that" not in david("stats", "zd"):
                    raise Failed("david stats says nothing of zones")
                check_life(shape, report)
                check_shown(drive, shape, report)
                complaint("resize", "zd", str(2 * shape.bytes))
            finally:
                david("remove", "zd")
            if there() != before:
                raise Failed(f"{drive}: left behind: {there() - before}, gone: {before - there()}")
            david(*words)
            try:
                with raw.opened("/dev/mapper/zd") as fd:
                    again = zones_of(raw_report(fd, shape.zones))
                    data = raw.read(fd, 3 * 4096, shape.conventional * shape.size * MIB)
            finally:
                david("remove", "zd")
            if list(map(after_power_on, again)) != list(map(after_power_on, zones_of(report))):
                raise Failed(f"{drive}: made again the zones are {again}")
            if data != random.Random(shape.conventional).randbytes(3 * 4096):
                raise Failed(f"{drive}: made again, a zone has not what was written")


def wrong_disks(backing: str, other: str) -> list[tuple[tuple[str, ...], str]]:
    """Words of create, and what is said of them."""
    zone = SHAPES[DISK].size * MIB
    size = ("--size", str(24 * zone))
    return [
        (("--size", str(24 * zone + MIB), "--backing", backing),
         f"{DISK} has zones of 256 MiB, and a disk has two or more whole ones; the nearest: {24 * zone} or "
         f"{25 * zone}"),
        (("--size", str(zone), "--backing", backing), f"the nearest: {2 * zone}"),
        ((*size, "--pool", other), "--pool: not for a drive with zones"),
        ((*size, "--backing", backing, "--mode", "model-only"), "model-only: not for a drive with zones"),
        ((*size, "--backing", backing, "--option", "block_size=4096"), "block_size must not be larger"),
        ((*size, "--backing", backing, "--profile-option", "zone_size=1.5KiB"), "multiple of 1 MiB"),
        ((*size, "--backing", backing, "--profile-option", "zone_size=768MiB"), "Linux wants a power of two"),
        ((*size, "--backing", backing, "--profile-option", "zone_size=abc"), "zone_size"),
        ((*size, "--backing", backing, "--profile-option", "precondition=random"), "precondition"),
        ((*size, "--backing", backing, "--profile-option", "conventional_zones=60000"), "conventional_zones"),
        ((*size, "--backing", "/dev/nowhere"), "--backing /dev/nowhere"),
        ((*size, "--backing", other), "the store has other zones"),
    ]


@case
def what_cannot_be_made_with_zones_is_said_and_leaves_nothing_behind() -> None:
    with ExitStack() as stack:
        backing = stack.enter_context(ram_disk(16 * MIB))
        other = stack.enter_context(loop_disk(16 * MIB))
        shape = Shape(zones=12, size=512, conventional=1, block=512)
        # The module comes with the first device, and one of somebody else's is not to be touched.
        null = stack.enter_context(null_zoned("others", shape))
        with mapped("zo", f"0 {shape.bytes >> 9} david {other} 2 zones={null} block_size=512"):
            with raw.opened("/dev/mapper/zo") as fd:
                raw.write(fd, bytes(4096), shape.size * MIB)
        before = there()
        for words, says in wrong_disks(backing, other):
            said = complaint("create", "zd", "--profile", DISK, *words)
            if says not in said or "\n" in said or there() != before:
                raise Failed(f"{words}: {said}, and not {says}; left: {there() ^ before}")
        said = complaint("array", "create", "za", "--level", "1", "--members", "2", "--backing", backing,
                         other, "--profile", DISK, "--size", "6G")
        if "arrays of md write anywhere" not in said or there() != before:
            raise Failed(f"array create: {said}; left: {there() ^ before}")
        # After the device has been made
        for place in ("make_node", "dmsetup"):
            if not fails_at(place, backing) or there() != before:
                raise Failed(f"a failure in {place}: left {there() ^ before}")


def fails_at(place: str, backing: str) -> bool:
    """Ctrl-C comes when create has come so far."""
    real = getattr(dm, place)

    def interrupted(*args: str) -> str:
        if place == "dmsetup" and args[0] != "create":
            return str(real(*args))
        raise KeyboardInterrupt

    setattr(dm, place, interrupted)
    try:
        with suppress(KeyboardInterrupt):
            david("create", "zd", "--profile", DISK, "--size", "6G", "--backing", backing)
            return False
    finally:
        setattr(dm, place, real)
    return True


@case
def a_zoned_device_that_is_there_already_is_taken_over_only_if_nobody_uses_it() -> None:
    name = "zoned-disk-with-a-name-of-many-letters"
    directory = f"david-{name}"[:22] + "-" + hashlib.sha256(name.encode()).hexdigest()[:8]
    shape = SHAPES[DISK]
    with ExitStack() as stack:
        backing = stack.enter_context(loop_disk(16 * MIB))
        words = ("create", name, "--size", str(shape.bytes), "--backing", backing, "--profile", DISK)
        with null_zoned(directory, shape) as null:
            with mapped("holder", f"0 {shape.bytes >> 9} linear {null} 0"):
                before = there()
                said = complaint(*words)
                if "in use (used by /dev/dm-" not in said or there() != before:
                    raise Failed(f"a zoned device in use: {said}, {there() ^ before}")
            # As a command that was killed has left it: null_zoned() finds it gone.
            before = there() - {str(NULLB / directory), f"/sys/block/{os.path.basename(null)}"}
            david(*words)
            if not (NULLB / directory).exists():
                raise Failed(f"the zoned device is not in {directory}")
            david("remove", name)
            if there() != before:
                raise Failed(f"left: {there() ^ before}")
            (NULLB / directory).mkdir()


@case
def a_kernel_without_null_blk_or_configfs_is_told() -> None:
    """Where it is not to be found."""
    shape = zones.Shape(6 * GIB, 256 * MIB, 256 * MIB, 1, 0, 0, 0, 512)
    tries = {"NULLB": "directory /nowhere, and there is none", "CONFIGFS": "its zones need configfs"}
    with null_zoned("others", SHAPES[DISK]):
        for place, says in tries.items():
            real = getattr(zones, place)
            setattr(zones, place, Path("/nowhere"))
            try:
                with zones.made("zd", shape, DISK):
                    raise Failed(f"{place} is not there, and a device was made")
            except create.DeviceError as error:
                if says not in str(error) or "boot a kernel with CONFIG_" not in str(error):
                    raise Failed(f"{place}: {error}") from None
            finally:
                setattr(zones, place, real)


@case(planted=True)
def what_is_shown_and_what_lasts_find_each_bug() -> None:
    test = a_drive_with_zones_is_made_shown_and_lasts_and_takes_its_zoned_device_away
    all_found(*((bug, test) for bug in ("zone_kind", "zone_pointer", "zone_restore")))
    try:
        all_found(("zone_store", what_cannot_be_made_with_zones_is_said_and_leaves_nothing_behind))
    finally:
        david("remove", "zd")  # what should have been refused
