# SPDX-License-Identifier: GPL-2.0
"""What blktests' group zbd asks of a disk with zones, which Debian does not have as a package: by case, to a
null_blk device and to a fake disk with the same zones, which have to answer alike.

Its case 009, btrfs on zones whose capacity is below their size, is a life of zonedfs. Not here are 012, about
a SCSI disk that asks for commands to come again, which no fake disk does; and 014, about f2fs with inline
encryption.
"""

from __future__ import annotations

import fcntl
import os
import random
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from cases import case
from davidlib.filesystems import made_alike
from helpers import raw
from helpers.filesystems import UUID
from helpers.guest import Failed, loop_disk, mapped, mounted, run
from helpers.planted import all_found
from helpers.units import MIB
from helpers.zoned import (
    CLOSED,
    FULL,
    HEAD,
    IMP_OPEN,
    Shape,
    manage,
    null_zoned,
    raw_report,
    zoned_disk,
    zones_of,
)

BLKGETZONESZ, BLKGETNRZONES = 0x80041284, 0x80041285
BLOCK = 4096
SHAPES = (
    Shape(zones=24, size=4, conventional=4, max_open=6, max_active=8),
    Shape(zones=24, size=4, capacity=3),
)
KEY = "0123456789abcdef" * 4


def alike(what: Callable[[str, Shape], object], shapes: tuple[Shape, ...] = SHAPES) -> None:
    """WHAT returns the same of both devices."""
    for shape in shapes:
        with ExitStack() as stack:
            null = stack.enter_context(null_zoned("judge", shape, stores=True))
            backing = stack.enter_context(loop_disk(2 * shape.bytes))
            fake = stack.enter_context(zoned_disk("zd", shape, backing, "classify=keep"))
            should, found = what(null, shape), what(fake, shape)
            if not should:
                raise Failed("nothing was seen")
            if found != should:
                raise Failed(f"{shape}: the fake disk has {found}, null_blk {should}")


def queue(disk: str) -> dict[str, str]:
    """What /sys says of the disk's zones."""
    number = os.stat(disk).st_rdev
    path = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/queue")
    names = ("zoned", "nr_zones", "chunk_sectors", "max_open_zones", "max_active_zones")
    return {name: (path / name).read_text().strip() for name in names if (path / name).exists()}


def behind(disk: str) -> bytes:
    """What is read behind a zone's pointer: null_blk has ones there (nullb_fill_pattern())."""
    return b"\0" if "/mapper/" in disk else b"\xff"


def asked(fd: int, what: int) -> int:
    answer = bytearray(4)
    fcntl.ioctl(fd, what, answer)
    return int(struct.unpack("=I", answer)[0])


def conditions(fd: int, shape: Shape) -> list[tuple[int, int]]:
    """Of each zone, and how far behind its begin the pointer is, which of a full zone says nothing."""
    return [(zone.cond, 0 if zone.cond == FULL else zone.wp - zone.start)
            for zone in zones_of(raw_report(fd, shape.zones))]


@case
def zbd_001_what_sys_says_is_what_the_calls_say() -> None:
    def look(disk: str, shape: Shape) -> object:
        said = queue(disk)
        with raw.opened(disk) as fd:
            size, count = asked(fd, BLKGETZONESZ), asked(fd, BLKGETNRZONES)
        calls = {"zoned": "host-managed", "chunk_sectors": str(size), "nr_zones": str(count)}
        if not calls.items() <= said.items():
            raise Failed(f"{disk}: {said}, and calls say {size} sectors, {count} zones")
        return said

    alike(look)


@case
def zbd_002_zones_are_reported_in_a_row_from_any_of_them_on() -> None:
    def look(disk: str, shape: Shape) -> object:
        sectors, found = shape.size * MIB >> 9, []
        with raw.opened(disk) as fd:
            whole = raw_report(fd, shape.zones)
            for first in range(shape.zones + 1):
                buffer = bytearray(HEAD.size + len(whole))
                # In the middle of a zone, too: that one is the first.
                HEAD.pack_into(buffer, 0, first * sectors + (first % 2) * 8, shape.zones, 0)
                fcntl.ioctl(fd, 0xC0101282, buffer)
                count = HEAD.unpack_from(buffer)[1]
                each = len(whole) // shape.zones
                if buffer[HEAD.size : HEAD.size + count * each] != whole[first * each :]:
                    raise Failed(f"{disk}: from zone {first} on {count} zones are reported, not as of all")
                found.append(count)
        at = 0
        for zone in zones_of(whole):
            if zone.start != at:
                raise Failed(f"{disk}: a zone begins at {zone.start}, and should at {at}")
            at += zone.len
        some = run("blkzone", "report", "-o", str(sectors), "-c", "3", disk)
        return found, at, run("blkzone", "report", disk), some

    alike(look)


@case
def zbd_003_a_reset_of_some_zones_is_of_these() -> None:
    def look(disk: str, shape: Shape) -> object:
        sectors, found = shape.size * MIB >> 9, []
        with raw.opened(disk) as fd:
            first = shape.conventional
            for number in range(first, first + 6):
                data = random.Random(number).randbytes(BLOCK * (1 + number))
                raw.write(fd, data, number * shape.size * MIB)
            manage(fd, "reset", (first + 1) * sectors, 3 * sectors)
            found.append(conditions(fd, shape))
            for number in range(first + 1, first + 4):
                size = BLOCK * (1 + number)
                if raw.read(fd, size, number * shape.size * MIB) != behind(disk) * size:
                    raise Failed(f"{disk}: zone {number} was reset, and has something")
            if raw.read(fd, BLOCK, first * shape.size * MIB) != random.Random(first).randbytes(BLOCK):
                raise Failed(f"{disk}: the zone before those that were reset has not what was written")
            run("blkzone", "reset", "-o", str(first * sectors), disk)
            found.append(conditions(fd, shape))
        return found

    alike(look)


@case
def zbd_004_a_write_across_the_border_of_two_zones_goes_to_both() -> None:
    """Where zones end with their capacity."""

    def look(disk: str, shape: Shape) -> object:
        first, size = shape.conventional, shape.size * MIB
        with raw.opened(disk) as fd:
            for at in range(0, size - MIB, MIB):
                raw.write(fd, bytes(MIB), first * size + at)
            raw.write(fd, bytes(MIB - BLOCK), first * size + size - MIB)
            data = random.Random(4).randbytes(2 * BLOCK)
            raw.write(fd, data, (first + 1) * size - BLOCK)
            if raw.read(fd, 2 * BLOCK, (first + 1) * size - BLOCK) != data:
                raise Failed(f"{disk}: the write across two zones is not there")
            found = conditions(fd, shape)
        if found[first][0] != FULL or found[first + 1] not in ((IMP_OPEN, 8), (CLOSED, 8)):
            raise Failed(f"{disk}: zones are {found[first : first + 2]}")
        return found

    alike(look, SHAPES[:1])


def fio_zbd(disk: str, shape: Shape, *words: str) -> None:
    start = shape.conventional * shape.size * MIB
    run("fio", "--name=zbd", f"--filename={disk}", "--zonemode=zbd", "--direct=1", "--ioengine=libaio",
        f"--offset={start}", *words)


@case(seldom=True)
def zbd_005_writes_in_a_row_at_a_depth_come_in_order() -> None:
    def look(disk: str, shape: Shape) -> object:
        fio_zbd(disk, shape, "--rw=write", "--bs=64k", "--iodepth=8", f"--size={4 * shape.size * MIB}",
                "--verify=crc32c", "--max_open_zones=1")
        with raw.opened(disk) as fd:
            return conditions(fd, shape)

    alike(look)


@case(seldom=True)
def zbd_006_a_disk_that_is_opened_and_closed_meanwhile_takes_writes() -> None:
    def look(disk: str, shape: Shape) -> object:
        fio_zbd(disk, shape, "--rw=randwrite", "--bs=4k", "--iodepth=8", f"--size={shape.size * MIB}",
                "--io_size=2M", "--loops=4")
        with raw.opened(disk) as fd:
            return [condition for condition, _ in conditions(fd, shape)]

    alike(look)


@contextmanager
def again_and_again(command: str) -> Iterator[None]:
    """Meanwhile a shell does that."""
    shell = subprocess.Popen(["sh", "-c", f"while :; do {command}; done"])
    try:
        yield
    finally:
        shell.kill()
        shell.wait()


def table(kind: str, disk: str, first: int, count: int, shape: Shape) -> str:
    sectors = shape.size * MIB >> 9
    if kind == "linear":
        return f"0 {count * sectors} linear {disk} {first * sectors}"
    return f"0 {count * sectors} crypt aes-xts-plain64 {KEY} 0 {disk} {first * sectors}"


@case
def zbd_007_a_device_on_some_zones_has_their_pointers() -> None:
    """Moved below it, and by it."""

    def look(disk: str, shape: Shape) -> object:
        size, found = shape.size * MIB, []
        first, count = shape.conventional + 2, 8
        with mapped("above", table("linear", disk, first, count, shape)) as above:
            with raw.opened(disk) as below, raw.opened(above) as fd:
                for number, blocks in ((0, 1), (4, 2), (7, 3)):
                    raw.write(below, bytes([number + 1]) * BLOCK * blocks, (first + number) * size)
                mapped_shape = Shape(zones=count, size=shape.size)
                found.append(conditions(fd, mapped_shape))
                for number in (0, 7):
                    zone = zones_of(raw_report(fd, count))[number]
                    raw.write(fd, b"a" * BLOCK, zone.wp << 9)
                manage(fd, "finish", 4 * size >> 9, size >> 9)
                manage(fd, "open", size >> 9, size >> 9)
                found.append(conditions(fd, mapped_shape))
                if conditions(below, shape)[first : first + count] != found[-1]:
                    raise Failed(f"{disk}: its zones are not those of the device above")
        return found

    alike(look)


@case
def zbd_008_what_was_read_before_a_reset_is_not_read_again() -> None:
    """Through the page cache, while others read."""

    def look(disk: str, shape: Shape) -> object:
        first, size = shape.conventional, shape.size * MIB
        sectors = size >> 9
        with again_and_again(f"cat {disk} >/dev/null"), raw.opened(disk) as fd:
            for turn in range(6):
                for number in range(first, first + 4):
                    raw.write(fd, bytes([0xAA]) * MIB, number * size)
                with open(disk, "rb") as cached:
                    cached.seek(first * size)
                    if cached.read(MIB) != bytes([0xAA]) * MIB:
                        raise Failed(f"{disk}: turn {turn}: not what was written")
                manage(fd, "reset", first * sectors, 4 * sectors)
                with open(disk, "rb") as cached:
                    for number in range(first, first + 4):
                        cached.seek(number * size)
                        if cached.read(MIB) != behind(disk) * MIB:
                            raise Failed(f"{disk}: turn {turn}: zone {number} was reset, has something")
            return conditions(fd, shape)

    alike(look)


def f2fs_checked(disk: str) -> list[str]:
    """Each thing that fsck.f2fs looks at, and what it found."""
    done = subprocess.run(["fsck.f2fs", "-f", "--dry-run", disk], capture_output=True, text=True)
    found = [line for line in done.stdout.splitlines() if line.startswith("[FSCK]")]
    if not found:
        raise Failed(f"{disk}: fsck.f2fs says {done.stdout[-300:]} {done.stderr[-300:]}")
    return found


@case(seldom=True)
def zbd_010_f2fs_on_zones_below_their_size_is_for_its_checker_what_it_is_on_null_blk() -> None:
    """fsck.f2fs 1.15 counts other free segments than f2fs itself there: of null_blk, too."""

    def look(disk: str, shape: Shape) -> object:
        run(*made_alike("f2fs", UUID, zoned=True), disk)
        found = [f2fs_checked(disk)]
        with mounted(disk, "f2fs") as top:
            for number in range(40):
                Path(top, f"file{number}").write_bytes(random.Random(number).randbytes(100_000))
            os.sync()
            for number in range(0, 40, 3):
                Path(top, f"file{number}").unlink()
            os.sync()
        found.append(f2fs_checked(disk))
        with mounted(disk, "f2fs") as top:
            for number in set(range(40)) - set(range(0, 40, 3)):
                if Path(top, f"file{number}").read_bytes() != random.Random(number).randbytes(100_000):
                    raise Failed(f"{disk}: file{number} has not what was written")
        return [*found, f2fs_checked(disk)]

    alike(look, tuple(Shape(zones=128, size=8, capacity=capacity, conventional=16) for capacity in (5, 6)))


@contextmanager
def above(tables: str) -> Iterator[dict[str, str]]:
    with mapped("above", tables) as disk:
        yield queue(disk)


@case
def zbd_011_a_device_on_zones_has_their_limits_as_device_mapper_stacks_them() -> None:
    """On all zones; on so few that there is no limit; on all sequential ones; on the conventional ones."""

    def look(disk: str, shape: Shape) -> object:
        found = []
        at = shape.conventional
        some = [(0, shape.zones), (at, 4), (at, shape.zones - at)]
        if shape.conventional:
            some.append((0, shape.conventional))
        for kind in ("linear", "crypt"):
            for first, count in some:
                with above(table(kind, disk, first, count, shape)) as said:
                    found.append((kind, first, count, said))
        return found

    alike(look)


@case(seldom=True)
def zbd_013_dm_crypt_on_zones_reads_what_it_wrote_while_its_queue_is_stopped() -> None:
    def look(disk: str, shape: Shape) -> object:
        sequential = shape.zones - shape.conventional
        with mapped("above", table("crypt", disk, shape.conventional, sequential, shape)) as top:
            number = os.stat(top).st_rdev
            path = f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/queue/read_ahead_kb"
            with again_and_again(f"echo 4 >{path}; sleep 0.1; echo 8 >{path}; sleep 0.1"):
                fio_zbd(top, Shape(zones=sequential, size=shape.size), "--rw=randwrite", "--bs=64k",
                        "--iodepth=4", f"--size={8 * shape.size * MIB}", "--io_size=16M", "--verify=crc32c",
                        "--max_open_zones=3")
            with raw.opened(top) as fd:
                zones = conditions(fd, Shape(zones=sequential, size=shape.size))
        with raw.opened(disk) as fd:
            if conditions(fd, shape)[shape.conventional :] != zones:
                raise Failed(f"{disk}: its zones are not those of dm-crypt")
        full = sum(condition == FULL for condition, _ in zones)
        if full < 2:
            raise Failed(f"{top}: only {full} zones were filled")
        return "written"

    alike(look)


@case(planted=True, complaints="I/O error")
def each_of_these_finds_a_bug_of_what_it_asks() -> None:
    all_found(
        ("zone_chunk", zbd_001_what_sys_says_is_what_the_calls_say),
        ("zone_later", zbd_002_zones_are_reported_in_a_row_from_any_of_them_on),
        ("unreset", zbd_003_a_reset_of_some_zones_is_of_these),
        ("zone_brim", zbd_004_a_write_across_the_border_of_two_zones_goes_to_both),
        ("zone_brim", zbd_005_writes_in_a_row_at_a_depth_come_in_order),
        ("zone_brim", zbd_006_a_disk_that_is_opened_and_closed_meanwhile_takes_writes),
        ("zone_pointer", zbd_007_a_device_on_some_zones_has_their_pointers),
        ("unreset", zbd_008_what_was_read_before_a_reset_is_not_read_again),
        ("zone_capacity", zbd_010_f2fs_on_zones_below_their_size_is_for_its_checker_what_it_is_on_null_blk),
        ("zone_kind", zbd_011_a_device_on_zones_has_their_limits_as_device_mapper_stacks_them),
        ("zone_brim", zbd_013_dm_crypt_on_zones_reads_what_it_wrote_while_its_queue_is_stopped),
    )
