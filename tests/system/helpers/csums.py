# SPDX-License-Identifier: GPL-2.0
"""Disks whose squashed blocks have checksums, and what reads, btrfs and `david stats` make of them."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from fsrun import read_all
from helpers import raw
from helpers.filesystems import TOOLS
from helpers.guest import (
    Failed,
    device_stats,
    fake_disk,
    load_table,
    loop_disk,
    mapped,
    mounted,
    ram_disk,
    run,
)
from helpers.raw import BLOCK
from helpers.units import GIB, KIB, MIB, TIB
from helpers.workload import SCALES, Workload

UNIT = 4096
IMPLICIT = ("--classify", "implicit")


def entry(number: int) -> int:
    for _ in range(8):
        number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
    return number


CRC_TABLE = [entry(number) for number in range(256)]


def crc32c(data: bytes) -> int:
    state = 0xFFFFFFFF
    for byte in data:
        state = state >> 8 ^ CRC_TABLE[(state ^ byte) & 255]
    return state ^ 0xFFFFFFFF


@contextmanager
def btrfs_disk(*options: str, mkfs: tuple[str, ...] = (), store: int = 256 * MIB) -> Iterator[str]:
    with ram_disk(store) as dev, fake_disk("sums", 64 * GIB, dev, *options) as disk:
        run(*TOOLS["btrfs"].mkfs, *mkfs, disk)
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
    load_table("sums", table)


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
        for unit, crc in rng.sample(sorted(sums.items()), min(len(sums), 300)):
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


def noise(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


def put_noise(top: str, seed: int, size: int = 2 * MIB) -> None:
    Path(f"{top}/noise-{seed}").write_bytes(noise(seed, size))
    run("sync", "-f", top)


def is_exact(top: str, seed: int, size: int = 2 * MIB) -> bool:
    return Path(f"{top}/noise-{seed}").read_bytes() == noise(seed, size)


def is_stored(where: str, seed: int) -> None:
    """Its checksums cannot be kept: so is its data, and counted."""
    before = figures()
    with mounted(where, "btrfs") as top:
        put_noise(top, seed)
    with mounted(where, "btrfs") as top:
        assert is_exact(top, seed), f"{where}: not what was written"
        scrub(top)
    after = figures()
    unproven = after["evidence"]["unproven"] - before["evidence"]["unproven"]
    assert unproven > 450, f"{where}: {unproven} blocks were not proven"
    assert after["written"]["squashed"] == before["written"]["squashed"], (before, after)


def is_squashed(where: str, seed: int) -> None:
    before = figures()["written"]["squashed"]
    with mounted(where, "btrfs") as top:
        put_noise(top, seed)
    clean(where)
    with mounted(where, "btrfs") as top:
        assert not is_exact(top, seed), f"{where}: all is kept"
    assert figures()["written"]["squashed"] - before > 400, figures()["evidence"]


@contextmanager
def exact_disk(*options: str) -> Iterator[str]:
    with ram_disk(128 * MIB) as dev, fake_disk("sums", 64 * GIB, dev, *options) as disk:
        yield disk


def settled() -> dict:
    """When the worker has squashed what is too much."""
    for _ in range(50):
        after = figures()
        if after["exact_blocks"] <= after["exact_limit"]:
            return after
        time.sleep(0.05)
    raise Failed(f"{after['exact_blocks']} blocks are exact instead of {after['exact_limit']}")


def copy_of(dev: str) -> Callable[[str], object]:
    """What a crash leaves: the backing device as it is at that moment."""
    return lambda path: run("cp", "--sparse=always", dev, path)


def opened_again(dev: str, *words: str) -> AbstractContextManager[str]:
    return mapped("sums", f"0 {64 * GIB >> 9} david {dev} {len(words)} {' '.join(words)}")
