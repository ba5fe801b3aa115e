# SPDX-License-Identifier: GPL-2.0
"""Features that meet: checksums, RAW rules, exact data, small blocks, a full store and a failing log."""

from __future__ import annotations

import errno
import os
import random

from cases import case
from helpers import raw
from helpers.csums import UNIT, crc32c, settled
from helpers.guest import Failed, david, device_stats, loop_disk, mapped, run
from helpers.raw import BLOCK, SECTOR
from helpers.stores import fill_table, state, table
from helpers.units import GIB, KIB, MIB, TIB


def units_beside_raw_sectors(block: int, steps: int) -> None:
    """Each unit reads exactly or with its checksum; what a rule names reads exactly."""
    rng = random.Random(block)
    units = 64
    pool = [rng.randbytes(UNIT) for _ in range(20)]
    crcs = {data: crc32c(data) for data in pool}
    held: dict[int, bytes] = {}
    chosen: set[int] = set()  # sectors, from GIB on
    words = ("classify=data", "checksums=on", "checksum_memory=0", f"block_size={block}")
    with loop_disk(16 * MIB) as dev:
        for _ in range(2):
            with mapped("sums", table(dev, *words)) as path, raw.opened(path) as fd:
                for step in range(steps):
                    if step % 20 == 0:
                        # A rule that begins and ends anywhere; what was dropped before it is gone.
                        first = rng.randrange(units * 8 - 40)
                        last = first + rng.choice((0, 1, 3, 9, 30))
                        if first not in chosen:
                            rule = f"sectors:{(GIB // SECTOR) + first}-{(GIB // SECTOR) + last}"
                            run("dmsetup", "message", "sums", "0", "raw", "add", rule)
                            chosen.update(range(first, last + 1))
                            for unit in range(first // 8, last // 8 + 1):
                                held.pop(unit, None)
                    unit, count = rng.randrange(units - 5), rng.randrange(1, 6)
                    data = [rng.choice(pool) for _ in range(count)]
                    raw.write(fd, b"".join(data), GIB + unit * UNIT)
                    held.update(enumerate(data, unit))
                for unit, content in held.items():
                    found = raw.read(fd, UNIT, GIB + unit * UNIT)
                    for sector in range(8):
                        piece = slice(sector * SECTOR, (sector + 1) * SECTOR)
                        if unit * 8 + sector in chosen:
                            assert found[piece] == content[piece], f"unit {unit}: sector {sector} not exact"
                    if found != content:
                        assert crc32c(found) == crcs[content], f"unit {unit}: another checksum"
                figures = device_stats("sums")
                assert figures["written"]["squashed"] and figures["evidence"]["raw"], figures  # type: ignore[index]


@case
def checksums_and_raw_rules_agree_on_small_blocks() -> None:
    for block in (512, 1024):
        units_beside_raw_sectors(block, 50)


@case(complaints="store full|store low|I/O error|critical|chunks cannot be written")
def a_flush_that_cannot_save_checksums_fails() -> None:
    """Data that is dropped needs no block, its checksums do."""
    rng = random.Random(4)
    data = rng.randbytes(64 * KIB)
    words = ("classify=data", "checksums=on", "raw=sectors:0-2097151")
    with loop_disk(MIB) as dev:
        with mapped("sums", table(dev, *words)) as path, raw.opened(path) as fd:
            raw.write(fd, data, 2 * GIB)
            os.fsync(fd)
            blocks = int(device_stats("sums")["store_blocks"])
            try:
                for number in range(blocks + 1):
                    raw.write(fd, rng.randbytes(BLOCK), number * BLOCK)
                raise Failed("a full store took more")
            except OSError as error:
                assert error.errno == errno.ENOSPC, error
            # Another chunk.
            raw.write(fd, data, 3 * GIB)
            for _ in range(2):
                try:
                    os.fsync(fd)
                    raise Failed("a flush completed without its checksums")
                except OSError as error:
                    assert error.errno == errno.ENOSPC, error
            # Nothing is lost by that: they are in memory.
            for at in (2 * GIB, 3 * GIB):
                assert crc32c(raw.read(fd, UNIT, at)) == crc32c(data[:UNIT]), at
            raw.discard(fd, 0, 16 * BLOCK)
            os.fsync(fd)
        with mapped("sums", table(dev, *words)) as path, raw.opened(path) as fd:
            for at in (2 * GIB, 3 * GIB):
                found = raw.read(fd, len(data), at)
                for unit in range(0, len(data), UNIT):
                    assert crc32c(found[unit : unit + UNIT]) == crc32c(data[unit : unit + UNIT]), (at, unit)


@case(complaints="critical")
def exact_data_gives_way_when_the_table_is_full() -> None:
    """Data that is exact takes a range and blocks; what is full is the table, and discards help."""
    data = raw.patterned(1, BLOCK)
    with loop_disk(16 * MIB) as dev, mapped("sums", table(dev, "classify=data", "exact=1")) as path:
        with raw.opened(path) as fd:
            taken = fill_table(fd, data, 30000)
            after = settled()
            assert after["exact_blocks"] <= after["exact_limit"] and after["errors"] == 0, after
            # Each is exact or made up, and none fails. What could not be squashed for want of room in
            # the table is stored for good: what squashing was behind when that became full, an eighth.
            exact = [raw.read(fd, BLOCK, number * 2 * BLOCK) == data for number in range(taken)]
            assert not all(exact) and sum(exact) <= after["exact_limit"] * 9 // 8 + 8, sum(exact)
            # What was squashed may be written again: that it cannot be exact is no refusal.
            refused = after["nospc"]
            for number in range(min(taken, 500)):
                raw.write(fd, data, number * 2 * BLOCK)
            after = settled()
            assert after["nospc"] == refused and after["errors"] == 0, after
            os.fsync(fd)
            raw.discard(fd, 0, TIB)
            os.fsync(fd)
            raw.write(fd, data, 0)
            raw.must_read(fd, data, 0)
            after = settled()
            assert after["exact_blocks"] == after["store_used"] == 1, after


@case(complaints="I/O error|checksums: .* cannot be|rules cannot be saved|log cannot be")
def exact_data_and_a_log_that_fails() -> None:
    """What is too much cannot be squashed any more: it stays, readable, and nothing hangs."""
    sectors = 16 * MIB >> 9
    with loop_disk(16 * MIB) as dev:
        good = f"0 {sectors} linear {dev} 0"
        bad = f"0 32 linear {dev} 0\n32 16 error\n48 {sectors - 48} linear {dev} 48"
        words = ("classify=data", "exact=1", "checksums=on")
        with mapped("under", good), mapped("sums", table("/dev/mapper/under", *words)) as path:
            with raw.opened(path) as fd:
                raw.write(fd, raw.patterned(1, 64 * KIB), GIB)
                os.fsync(fd)
                run("dmsetup", "load", "under", "--table", bad)
                run("dmsetup", "suspend", "--noflush", "under")
                run("dmsetup", "resume", "under")
                failed = 0
                for number in range(60):
                    try:
                        raw.write(fd, raw.patterned(number, 64 * KIB), 2 * GIB + number * MIB)
                        os.fsync(fd)
                    except OSError as error:
                        assert error.errno == errno.EIO, error
                        failed += 1
                assert failed and state("sums") == "failed", (failed, state("sums"))
                raw.must_read(fd, raw.patterned(1, 64 * KIB), GIB)
                assert "rules cannot be saved" in refused_rule()
                run("dmsetup", "load", "under", "--table", good)
                run("dmsetup", "suspend", "--noflush", "under")
                run("dmsetup", "resume", "under")
        with mapped("sums", table(dev, *words)) as path, raw.opened(path) as fd:
            # Flushed, so stored or with its checksum.
            found, written = raw.read(fd, UNIT, GIB), raw.patterned(1, 64 * KIB)[:UNIT]
            assert crc32c(found) == crc32c(written)
            assert state("sums") == "ok"


def refused_rule() -> str:
    try:
        return david("raw", "add", "sums", "sectors:0-7")
    except Failed as error:
        return str(error)
