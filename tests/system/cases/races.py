# SPDX-License-Identifier: GPL-2.0
"""What several CPUs at once might break. `make races` runs it for longer, with 2 and 4 of them."""

from __future__ import annotations

import itertools
import os
import random
import re
import struct
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack

from cases import case
from helpers import raw
from helpers.filesystems import whole_check
from helpers.guest import Failed, device_stats, dm, fake_disk, loop_disk, mapped, mounted, ram_disk, run
from helpers.hammer import Processes
from helpers.manifest import difference, manifest
from helpers.raw import BLOCK, SECTOR
from helpers.stores import table_of
from helpers.storetool import says
from helpers.units import GIB, KIB, MIB, TIB
from helpers.workload import SCALES, Workload

SECONDS = 120 if os.environ.get("DAVID_SCALE") == "full" else 4
WORKERS = 4
BLOCKS = 192
# Sectors of each block that belong to each process.
SHARE = BLOCK // SECTOR // WORKERS


def stamp(worker: int, number: int) -> bytes:
    return struct.pack("<II", worker, number) * (SECTOR // 8)


def sharer(disk: str, worker: int, base: int) -> Callable[[Callable[[], bool]], None]:
    """Writes its own sectors of blocks that others write to, too, and finds them as it left them."""

    def work(stopped: Callable[[], bool]) -> None:
        rng = random.Random(worker)
        held = [0] * (BLOCKS * SHARE)
        number = 0
        with raw.opened(disk) as fd:

            def look(block: int) -> None:
                content = raw.read(fd, BLOCK, base + block * BLOCK)
                for i in range(SHARE):
                    at = (i * WORKERS + worker) * SECTOR
                    last = held[block * SHARE + i]
                    expected = stamp(worker, last) if last else bytes(SECTOR)
                    if content[at : at + SECTOR] != expected:
                        raise Failed(
                            f"block {block}, sector {at // SECTOR}: {content[at : at + 8].hex()}, "
                            f"not number {last} of process {worker}"
                        )

            while not stopped():
                number += 1
                block, i = rng.randrange(BLOCKS), rng.randrange(SHARE)
                at = base + block * BLOCK + (i * WORKERS + worker) * SECTOR
                if rng.randrange(8):
                    raw.write(fd, stamp(worker, number), at)
                    held[block * SHARE + i] = number
                else:
                    raw.zero_out(fd, at, SECTOR)
                    held[block * SHARE + i] = 0
                if number % 4 == 0:
                    look(rng.randrange(BLOCKS))
                if number % 64 == 0:
                    os.fsync(fd)
            for block in range(BLOCKS):
                look(block)

    return work


def whole_blocks(disk: str, base: int) -> Callable[[Callable[[], bool]], None]:
    """Runs of blocks, discarded and made constant in between: the store is taken and given back."""

    def work(stopped: Callable[[], bool]) -> None:
        rng = random.Random(77)
        pool = rng.randbytes(MIB)
        held: list[bytes] = [bytes(BLOCK)] * BLOCKS
        with raw.opened(disk) as fd:
            while not stopped():
                block = rng.randrange(BLOCKS)
                n = rng.randrange(1, min(33, BLOCKS - block + 1))
                what = rng.randrange(4)
                at = rng.randrange(MIB - n * BLOCK) // 8 * 8
                data = (pool[at : at + n * BLOCK], bytes([what]) * (n * BLOCK))[what == 3]
                if what == 0:
                    data = bytes(n * BLOCK)
                    raw.discard(fd, base + block * BLOCK, n * BLOCK)
                else:
                    raw.write(fd, data, base + block * BLOCK)
                held[block : block + n] = [data[i * BLOCK : (i + 1) * BLOCK] for i in range(n)]
                block = rng.randrange(BLOCKS)
                raw.must_read(fd, held[block], base + block * BLOCK)
            raw.must_read(fd, b"".join(held), base, "at the end, content")

    return work


def disturb(name: str, seconds: float, seed: int) -> None:
    """All that may be done to a disk while it is in use."""
    rng = random.Random(seed)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        what = rng.randrange(5)
        if what == 0:
            run("dmsetup", "suspend", "--nolockfs", *(["--noflush"] if rng.randrange(2) else []), name)
            run("dmsetup", "resume", name)
        elif what == 1:
            run("dmsetup", "load", name, "--table", table_of(name))
            run("dmsetup", "suspend", "--nolockfs", name)
            run("dmsetup", "resume", name)
        elif what == 2:
            run("dmsetup", "message", name, "0", "content", rng.choice(("zeros", "incompressible", "text")))
        elif what == 3:
            run("dmsetup", "status", name)
        else:
            device_stats(name)
        time.sleep(rng.random() / 4)


@case
def nothing_is_torn_or_lost_between_cpus() -> None:
    with loop_disk(16 * MIB) as dev:
        with fake_disk("races", TIB, dev, "--classify", "keep") as disk:
            base, other = GIB, 2 * GIB
            workers = [sharer(disk, worker, base) for worker in range(WORKERS)]
            with Processes(*workers, whole_blocks(disk, other)) as processes:
                disturb("races", SECONDS, 1)
                processes.finish()
            with raw.opened(disk) as fd:
                before = raw.read(fd, BLOCKS * BLOCK, base) + raw.read(fd, BLOCKS * BLOCK, other)
            assert device_stats("races")["errors"] == 0
        status, said = says("check", dev)
        assert status == 0, said
        with mapped("races", f"0 {TIB >> 9} david {dev} 1 classify=keep") as disk, raw.opened(disk) as fd:
            after = raw.read(fd, BLOCKS * BLOCK, base) + raw.read(fd, BLOCKS * BLOCK, other)
            at = raw.first_difference(before, after)
            assert at < 0, f"another content after remove and create at {at}"


def life(top: str, seed: int) -> Callable[[Callable[[], bool]], None]:
    """Workloads one after the other, each in the place of the last."""

    def work(stopped: Callable[[], bool]) -> None:
        for again in itertools.count():
            subprocess.run(["rm", "-rf", top], check=True)
            os.mkdir(top)
            Workload(top, seed + again * WORKERS, SCALES["tiny"]).run()
            if stopped():
                return

    return work


def file_system_lives(fs: str, classify: str) -> None:
    with ExitStack() as stack:
        dev = stack.enter_context(ram_disk(384 * MIB))
        disk = stack.enter_context(fake_disk("races", 64 * GIB, dev, "--classify", classify, "-o", "exact=8"))
        # In implicit mode the whole journal is stored, and after each reload data, too, until it is known.
        run(f"mkfs.{fs}", "-q", *(["-J", "size=32"] if fs == "ext4" else []), disk)
        with mounted(disk, fs, "discard") as top:
            lives = [life(f"{top}/{seed}", seed) for seed in range(WORKERS)]
            with Processes(*lives) as processes:
                disturb("races", SECONDS, 2)
                processes.finish(600)
            run("sync", "-f", top)
            before = manifest(top, content=False)
        run(*whole_check(fs), disk)
        with mounted(disk, fs) as top:
            wrong = difference(before, manifest(top, content=False))
            assert not wrong, wrong[:20]
            if fs == "btrfs":
                said = run("btrfs", "scrub", "start", "-B", top)
                assert re.search("no errors found", said), said


@case
def ext4_lives_with_several_cpus() -> None:
    """In auto, where page owners and the classifier speak."""
    file_system_lives("ext4", "auto")


@case(seldom=True)
def ext4_lives_with_several_cpus_in_implicit() -> None:
    file_system_lives("ext4", "implicit")


@case(seldom=True)
def xfs_lives_with_several_cpus() -> None:
    file_system_lives("xfs", "auto")


@case(seldom=True)
def btrfs_lives_with_several_cpus() -> None:
    file_system_lives("btrfs", "auto")


@case(seldom=True)
def several_disks_come_and_go() -> None:
    """Pools, caches and books that all disks share."""

    def one(number: int) -> Callable[[Callable[[], bool]], None]:
        def work(stopped: Callable[[], bool]) -> None:
            rng = random.Random(number)
            name = f"comes{number}"
            while not stopped():
                data = rng.randbytes(64 * KIB)
                with loop_disk(8 * MIB) as dev, fake_disk(name, TIB, dev, "--classify", "keep") as disk:
                    for again in range(2):
                        with raw.opened(disk) as fd:
                            raw.write(fd, data, (number + 1) * GIB)
                        run("dmsetup", "remove", "--retry", name)
                        run("dmsetup", "create", name, "--table", f"0 {TIB >> 9} david {dev} 1 classify=keep")
                        with raw.opened(disk) as fd:
                            raw.must_read(fd, data, (number + 1) * GIB, f"after {again + 1} times: content")

        return work

    with Processes(*(one(number) for number in range(WORKERS))) as processes:
        time.sleep(SECONDS)
        processes.finish()
    assert not dm.exists("comes0")


def mixed_runs(disk: str, base: int) -> Callable[[Callable[[], bool]], None]:
    """Requests of many pieces, every other one constant: each takes operations of the log by the dozen."""

    def work(stopped: Callable[[], bool]) -> None:
        rng = random.Random(base)
        pool = rng.randbytes(MIB)
        with raw.opened(disk) as fd:
            while not stopped():
                turn = rng.randrange(2)
                data = bytearray(pool)
                for at in range(turn * BLOCK, MIB, 2 * BLOCK):
                    data[at : at + BLOCK] = bytes([rng.randrange(256)]) * BLOCK
                raw.write(fd, data, base)

    return work


@case(seldom=True)
def a_store_with_room_refuses_nothing() -> None:
    """A piece that may not sleep finds no room in the log's memory, while a piece before it returns."""
    with ExitStack() as stack:
        dev = stack.enter_context(loop_disk(8 * MIB))
        disk = stack.enter_context(fake_disk("room", TIB, dev, "--classify", "keep"))
        work = (mixed_runs(disk, number * GIB) for number in range(WORKERS))
        with Processes(*work) as processes:
            time.sleep(SECONDS)
            processes.finish()
        assert device_stats("room")["nospc"] == 0
