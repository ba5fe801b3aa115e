# SPDX-License-Identifier: GPL-2.0
"""Checksums of squashed blocks: btrfs with its own data checksums finds nothing wrong."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager

import raw
from fsrun import read_all
from raw import BLOCK
from workload import SCALES, Workload

from cases import case

from guest import Failed, device_stats, fake_disk, loop_disk, mounted, ram_disk, run

KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40
UNIT = 4096

CRC_TABLE = []
for number in range(256):
    for _ in range(8):
        number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
    CRC_TABLE.append(number)


def crc32c(data: bytes) -> int:
    state = 0xFFFFFFFF
    for byte in data:
        state = state >> 8 ^ CRC_TABLE[(state ^ byte) & 255]
    return state ^ 0xFFFFFFFF


@contextmanager
def btrfs_disk(*options: str, mkfs: tuple[str, ...] = (), store: int = 256 * MIB) -> Iterator[str]:
    with ram_disk(store) as dev, fake_disk("sums", 64 * GIB, dev, *options) as disk:
        run("mkfs.btrfs", "-q", "-f", *mkfs, disk)
        yield disk


def figures() -> dict:
    return device_stats("sums")  # type: ignore[return-value]


def scrub(top: str) -> None:
    said = run("btrfs", "scrub", "start", "-B", top)
    if "no errors found" not in said:
        raise Failed(f"scrub: {said}")


def clean(disk: str, options: str = "") -> None:
    """btrfs's two checkers, and every file to its end: through the page cache and past it."""
    run("btrfs", "check", "--check-data-csum", disk)
    with mounted(disk, "btrfs", options) as top:
        assert read_all(top) > MIB
        scrub(top)


def read_directly(path: str) -> None:
    with raw.opened(path, os.O_RDONLY | os.O_DIRECT) as fd:
        for offset in range(0, os.fstat(fd).st_size // BLOCK * BLOCK, MIB):
            os.preadv(fd, [raw.BUFFER.view[:MIB]], offset)


def some_files(top: str, seed: int, count: int = 20, size: int = 200 * KIB) -> None:
    rng = random.Random(seed)
    for i in range(count):
        with open(f"{top}/some-{seed}-{i}", "wb") as file:
            file.write(rng.randbytes(rng.randrange(size) + 5000))
    # What is written at umount only has no name any more and is kept.
    run("sync", "-f", top)


def large_file(top: str, mib: int) -> None:
    data = random.Random(6).randbytes(4 * MIB)
    with open(f"{top}/sequential", "wb") as file:
        for _ in range(mib // 4):
            file.write(data)
    run("sync", "-f", top)


def reload(change: tuple[str, str] = ("", "")) -> None:
    table = run("dmsetup", "table", "sums").strip().replace(*change)
    run("dmsetup", "suspend", "sums")
    run("dmsetup", "load", "sums", "--table", table)
    run("dmsetup", "resume", "sums")


def live(disk: str, seed: int) -> None:
    """Everything that btrfs does with data, on a disk whose table is reloaded in the middle."""
    with mounted(disk, "btrfs") as top:
        Workload(top, seed, SCALES["tiny"]).run()
        run("btrfs", "subvolume", "snapshot", top, f"{top}/snapshot")
        run("cp", "--reflink=always", f"{top}/large", f"{top}/cloned")
        reload()
        with open(f"{top}/large", "r+b") as file:
            file.write(random.Random(seed).randbytes(300_000))
        run("sync", "-f", top)
        run("btrfs", "balance", "start", "-dusage=100", "-musage=0", top)
        read_directly(f"{top}/cloned")
    before = figures()["checksums"]
    assert before["blocks"] > 1000, before


@case
def btrfs_finds_its_checksums_right() -> None:
    with btrfs_disk() as disk:
        live(disk, 31)
        clean(disk)
        # Compressed extents are kept exactly, beside data that is not.
        with mounted(disk, "btrfs", "compress-force=zlib") as top:
            some_files(top, 1)
            with open(f"{top}/words", "w") as file:
                file.write("one and the same\n" * 50_000)
            run("sync", "-f", top)
        with mounted(disk, "btrfs") as top, open(f"{top}/words") as file:
            assert file.read() == "one and the same\n" * 50_000
        clean(disk)
        assert figures()["written"]["squashed"] > 2000


@case
def checksums_that_do_not_fit_in_memory_stand_in_the_store() -> None:
    with btrfs_disk("-o", "checksum_memory=0") as disk:
        with mounted(disk, "btrfs") as top:
            large_file(top, 72)
        live(disk, 32)
        clean(disk)
        after = figures()["checksums"]
        assert after["evictions"] > 20 and after["loads"] > 20 and after["store"] > 0, after
        assert figures()["mem"]["checksums"] < 400 * KIB, figures()["mem"]


@case
def without_page_flags_or_mount_state() -> None:
    with btrfs_disk("--classify", "explicit", "-o", "block_size=1024") as disk:
        live(disk, 33)
        clean(disk)


@case
def a_wrong_checksum_is_found() -> None:
    """The oracles above can fail: without checksums, and with one block changed."""
    with btrfs_disk("-o", "checksums=off") as disk:
        with mounted(disk, "btrfs") as top:
            some_files(top, 2)
        said = run("btrfs", "check", "--check-data-csum", disk, ok=(0, 1))
        assert "mirror 1 bytenr" in said or "csum" in said.split("checking csums", 1)[-1], said
        assert figures()["checksums"]["blocks"] == 0
    with btrfs_disk() as disk:
        with mounted(disk, "btrfs") as top:
            some_files(top, 2)
            run("sync", "-f", top)
            where = run("filefrag", "-v", f"{top}/some-2-3")
            scrub(top)
        run("btrfs", "check", "--check-data-csum", disk)
        logical = int(re.search(r"^ +0: +\d+\.\. +\d+: +(\d+)", where, re.M).group(1)) * BLOCK
        said = run("btrfs-map-logical", "-l", str(logical), disk)
        place = int(re.search(r"physical (\d+)", said).group(1))
        with raw.opened(disk) as fd:
            raw.write(fd, random.Random(3).randbytes(BLOCK), place)
        said = run("btrfs", "check", "--check-data-csum", disk, ok=(0, 1))
        assert str(logical) in said, said


@case
def other_checksums_are_not_forged_so_data_is_kept() -> None:
    with btrfs_disk(mkfs=("--csum", "sha256")) as disk:
        with mounted(disk, "btrfs") as top:
            some_files(top, 4)
        clean(disk)
        after = figures()
        assert after["written"]["squashed"] == 0 and after["evidence"]["unproven"] > 100, after
        # The superblock of a new file system is seen.
        run("mkfs.btrfs", "-q", "-f", disk)
        with mounted(disk, "btrfs") as top:
            some_files(top, 5)
        clean(disk)
        assert figures()["written"]["squashed"] > 100


@case
def a_large_file_costs_4_4_bytes_a_block() -> None:
    with btrfs_disk("-o", "checksum_memory=0") as disk, mounted(disk, "btrfs") as top:
        before = figures()
        large_file(top, 400)
        after = figures()
        blocks = after["checksums"]["blocks"] - before["checksums"]["blocks"]
        assert blocks >= 100 * 1024, after["checksums"]
        assert after["checksums"]["evictions"] > 10, after["checksums"]
        memory = after["mem"]["checksums"] - before["mem"]["checksums"]
        in_store = after["checksums"]["store"] * after["block_size"]
        assert memory < 600 * KIB, memory
        print(f"sums: {memory} bytes of memory, {in_store} of the store, {blocks} blocks")
        assert (memory + in_store) / blocks <= 4.4, (memory, in_store, blocks)
        scrub(top)


def units_keep_their_checksums(block: int, steps: int) -> None:
    """Random whole units, zeros and discards; sometimes less than a unit is set to zeros."""
    rng = random.Random(block)
    # Groups of 16, of which few are in the same chunk of the table.
    groups = 300
    sums: dict[int, int] = {}
    exact: dict[int, bytes] = {}
    options = ("-o", f"block_size={block}", "-o", "checksums=on", "-o", "checksum_memory=0")
    pool = [rng.randbytes(UNIT) for _ in range(60)]
    crcs = [crc32c(data) for data in pool]
    with (
        loop_disk(32 * MIB) as dev,
        fake_disk("sums", TIB, dev, "--classify", "data", *options) as disk,
        raw.opened(disk) as fd,
    ):
        for _ in range(steps):
            first = rng.randrange(groups) * 1000
            count = rng.choice((1, 1, 2, 5, 40))
            action = rng.random()
            if action < 0.6:
                chosen = [rng.randrange(len(pool)) for _ in range(count)]
                raw.write(fd, b"".join(pool[i] for i in chosen), first * UNIT)
                for unit, i in enumerate(chosen, first):
                    sums[unit] = crcs[i]
                    exact.pop(unit, None)
            elif action < 0.7:
                raw.discard(fd, first * UNIT, count * UNIT)
                for unit in range(first, first + count):
                    sums.pop(unit, None)
                    exact[unit] = bytes(UNIT)
            elif action < 0.85 and first in sums:
                old = bytearray(raw.read(fd, UNIT, first * UNIT))
                at, size = rng.randrange(7) * 512, 512
                raw.zero_out(fd, first * UNIT + at, size)
                old[at : at + size] = bytes(size)
                exact[first] = bytes(old)
                del sums[first]
            else:
                # In pieces as well as in one.
                whole = raw.read(fd, UNIT, first * UNIT)
                parts = b"".join(raw.read(fd, 512, first * UNIT + at) for at in range(0, UNIT, 512))
                assert whole == parts, f"unit {first} reads differently in pieces"
        reload()
        for unit, crc in rng.sample(sorted(sums.items()), min(len(sums), 800)):
            assert crc32c(raw.read(fd, UNIT, unit * UNIT)) == crc, f"unit {unit}: another checksum"
        for unit, data in exact.items():
            raw.must_read(fd, data, unit * UNIT)
        after = figures()
        assert after["checksums"]["blocks"] >= len(sums) > 100, after
        assert after["checksums"]["loads"] > 0, after
        # One that lies across: from here on all is kept, exactly.
        data = rng.randbytes(5 * UNIT)
        raw.write(fd, data, 5_000_000 * UNIT + 512)
        raw.write(fd, data, 6_000_000 * UNIT)
        raw.must_read(fd, data, 5_000_000 * UNIT + 512)
        raw.must_read(fd, data, 6_000_000 * UNIT)
        # Off: no checksum is kept, and none of those there were is in the way.
        reload(("checksums=on", "checksums=off"))
        unit = next(iter(sums))
        raw.write(fd, pool[0], unit * UNIT)
        assert crc32c(raw.read(fd, UNIT, unit * UNIT)) != crcs[0]


@case
def squashed_units_read_with_the_checksum_of_what_was_written() -> None:
    units_keep_their_checksums(4096, 1200)


@case
def smaller_blocks_make_units_as_well() -> None:
    units_keep_their_checksums(512, 600)


@case
def the_kind_of_content_changes_by_message() -> None:
    with btrfs_disk("--content", "text") as disk:
        with mounted(disk, "btrfs") as top:
            some_files(top, 7)
            run("sync", "-f", top)
            run("dmsetup", "message", "sums", "0", "content", "compressible:300")
            assert "content=compressible:300" in run("dmsetup", "table", "sums")
            scrub(top)
        clean(disk)
        run("dmsetup", "message", "sums", "0", "content", "ones", ok=(1,))
        assert "content=compressible:300" in run("dmsetup", "table", "sums")
    with loop_disk(16 * MIB) as dev, fake_disk("sums", GIB, dev, "--classify", "data") as disk:
        with raw.opened(disk) as fd:
            raw.write(fd, random.Random(8).randbytes(BLOCK), 0)
            run("dmsetup", "message", "sums", "0", "content", "pattern:0123")
            assert raw.read(fd, BLOCK, 0) == bytes.fromhex("0123") * (BLOCK // 2)
