# SPDX-License-Identifier: GPL-2.0
"""A backing device that fails, and a kernel without memory: errors reach the request that met them, nothing
else is lost, and all is well once the device is whole again.

DAVID_SCALE=full repeats the random ones 100 times.
"""

from __future__ import annotations

import errno
import os
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import raw
from guest import (
    Failed,
    device_stats,
    dm,
    fake_disk,
    loop_disk,
    mapped,
    mounted,
    ram_disk,
    remove,
    run,
    say,
    swap_table,
)
from manifest import difference, manifest
from randomops import Operations
from raw import BLOCK
from units import GIB, MIB, TIB
from workload import SCALES, Workload

from cases import case

# A log that cannot be written makes the whole device fail, and says so: cases/durable.py.
IN_MEMORY = ("-o", "store=memory")
KEPT = ("--classify", "keep", *IN_MEMORY)

RUNS = 100 if os.environ.get("DAVID_SCALE") == "full" else 1
# What the kernel says of a disk that fails.
FAILS = r"I/O error|EXT4-fs (error|warning)|JBD2: .*error|XFS .*(error|[Cc]orruption|unmount)"


class Shaky:
    """A dm device over a loop device, whole, or with parts that fail."""

    def __init__(self, name: str, loop: str, size: int) -> None:
        self.name, self.loop, self.sectors = name, loop, size >> 9
        self.disk = f"/dev/mapper/{name}"

    def whole(self) -> str:
        return f"0 {self.sectors} linear {self.loop} 0"

    def without(self, block: int) -> str:
        start = block * 8
        parts = [(0, start, f"linear {self.loop} 0"), (start, 8, "error")]
        parts.append((start + 8, self.sectors - start - 8, f"linear {self.loop} {start + 8}"))
        return "\n".join(f"{at} {length} {target}" for at, length, target in parts if length)

    def flakey(self, *features: str) -> str:
        words = f"{len(features)} {' '.join(features)}" if features else ""
        return f"0 {self.sectors} flakey {self.loop} 0 0 3600 {words}"

    def dust(self) -> str:
        return f"0 {self.sectors} dust {self.loop} 0 {BLOCK}"

    def become(self, table: str) -> None:
        swap_table(self.name, table)


@contextmanager
def shaky_disk(size: int = 16 * MIB) -> Iterator[Shaky]:
    with loop_disk(size) as loop, mapped("shaky", f"0 {size >> 9} linear {loop} 0"):
        yield Shaky("shaky", loop, size)


def fails(call: Callable[[], object], what: str) -> None:
    try:
        call()
    except OSError as error:
        assert error.errno == errno.EIO, f"{what}: {errno.errorcode[error.errno or 0]} instead of EIO"
    else:
        raise Failed(f"{what}: no error")


def place_of(disk: str, content: bytes) -> int:
    """The block of the backing device that holds @content."""
    with raw.opened(disk) as fd:
        for start in range(0, os.lseek(fd, 0, os.SEEK_END), MIB):
            part = raw.read(fd, MIB, start)
            for at in range(0, MIB, BLOCK):
                if part.startswith(content, at):
                    return (start + at) // BLOCK
    raise Failed("a block that was kept is not on the backing device")


@case(complaints=FAILS)
def an_error_below_fails_the_request_that_meets_it_and_no_other() -> None:
    """Reads, writes in place, and writes to a new place; alone and in the midst of a larger request."""
    blocks, base = 64, GIB
    data = raw.patterned(1, blocks * BLOCK)
    other = raw.patterned(2, blocks * BLOCK)
    rng = random.Random(3)
    with shaky_disk() as shaky, fake_disk("upon", TIB, shaky.disk, *KEPT) as disk:
        with raw.opened(disk) as fd:
            order = list(range(blocks))
            rng.shuffle(order)
            for block in order:
                raw.write(fd, data[block * BLOCK :][:BLOCK], base + block * BLOCK)
            with raw.opened(shaky.disk) as below:
                os.fsync(below)
            for bad in rng.sample(range(4, blocks - 4), 6):
                place = place_of(shaky.disk, data[bad * BLOCK :][:BLOCK])
                shaky.become(shaky.without(place))
                at = base + bad * BLOCK
                fails(lambda at=at: raw.read(fd, BLOCK, at), "reading the bad block")
                fails(lambda at=at: raw.read(fd, 5 * BLOCK, at - 2 * BLOCK), "reading across the bad block")
                fails(lambda at=at: raw.write(fd, other[:BLOCK], at), "writing the bad block")
                for block in range(blocks):
                    if block != bad:
                        raw.must_read(fd, data[block * BLOCK :][:BLOCK], base + block * BLOCK)
                shaky.become(shaky.whole())
                raw.must_read(fd, data, base, "after the backing device was whole again, content")
            # The next free place of the store is bad: what was to go there is as it was before.
            free = int(device_stats("upon")["store_used"])  # type: ignore[call-overload]
            shaky.become(shaky.without(free))
            fails(lambda: raw.write(fd, other[:BLOCK], 2 * GIB), "writing to a bad new place")
            shaky.become(shaky.whole())
            raw.must_read(fd, bytes(BLOCK), 2 * GIB, "a block whose first write failed, content")
            assert device_stats("upon")["store_used"] == free, "the place of a failed write is not free again"
            raw.write(fd, other[:BLOCK], 2 * GIB)
            raw.must_read(fd, other[:BLOCK], 2 * GIB)
        assert device_stats("upon")["errors"] == 6 * 3 + 1, device_stats("upon")["errors"]


@case(complaints=FAILS)
def bad_blocks_of_dust_fail_reads_until_they_are_written() -> None:
    data = raw.patterned(4, 16 * BLOCK)
    with shaky_disk() as shaky, fake_disk("dusty", TIB, shaky.disk, *KEPT) as disk:
        shaky.become(shaky.dust())
        with raw.opened(disk) as fd:
            raw.write(fd, data, GIB)
            place = place_of(shaky.disk, data[5 * BLOCK :][:BLOCK])
            run("dmsetup", "message", "shaky", "0", "addbadblock", str(place))
            run("dmsetup", "message", "shaky", "0", "enable")
            fails(lambda: raw.read(fd, len(data), GIB), "reading across the bad block")
            raw.must_read(fd, data[: 5 * BLOCK], GIB)
            raw.must_read(fd, data[6 * BLOCK :], GIB + 6 * BLOCK)
            raw.write(fd, data[5 * BLOCK :][:BLOCK], GIB + 5 * BLOCK)
            raw.must_read(fd, data, GIB)


class Tolerant:
    """Random writes and reads of a disk that may fail: after a failed write a block may be old or new."""

    def __init__(self, fd: int, seed: int, blocks: int = 256) -> None:
        self.fd, self.blocks = fd, blocks
        self.rng = random.Random(seed)
        self.pool = self.rng.randbytes(MIB)
        self.may: list[set[int]] = [{-1} for _ in range(blocks)]
        self.failed = 0

    def content(self, source: int) -> bytes:
        return self.pool[source : source + BLOCK] if source >= 0 else bytes(BLOCK)

    def step(self) -> None:
        first, count = self.rng.randrange(self.blocks), self.rng.choice((1, 1, 1, 4, 16))
        count = min(count, self.blocks - first)
        if self.rng.random() < 0.3:
            self.check(first, count)
            return
        sources = [self.rng.randrange(MIB - BLOCK) for _ in range(count)]
        try:
            raw.write(self.fd, b"".join(map(self.content, sources)), GIB + first * BLOCK)
        except (OSError, Failed):
            self.failed += 1
            for block, source in enumerate(sources, first):
                self.may[block].add(source)
        else:
            for block, source in enumerate(sources, first):
                self.may[block] = {source}

    def check(self, first: int, count: int, must: bool = False) -> None:
        try:
            found = raw.read(self.fd, count * BLOCK, GIB + first * BLOCK)
        except OSError:
            self.failed += 1
            if must:
                raise
            return
        for block in range(first, first + count):
            content = found[(block - first) * BLOCK :][:BLOCK]
            if not any(content == self.content(source) for source in self.may[block]):
                raise Failed(f"block {block} is none of the {len(self.may[block])} that it may be")


def tolerant_run(seed: int) -> int:
    rng = random.Random(seed)
    with shaky_disk() as shaky, fake_disk("tough", TIB, shaky.disk, *KEPT) as disk:
        table = run("dmsetup", "table", "tough").strip()
        with raw.opened(disk) as fd:
            work = Tolerant(fd, seed)
            for _ in range(8):
                shaky.become(
                    rng.choice(
                        (
                            *(shaky.flakey(), shaky.flakey("error_writes"), shaky.flakey("error_reads")),
                            *(shaky.without(rng.randrange(200)), shaky.without(rng.randrange(20))),
                            shaky.flakey("random_read_corrupt", "0"),
                            shaky.whole(),
                        )
                    )
                )
                for _ in range(rng.randrange(10, 40)):
                    work.step()
                if rng.random() < 0.3:
                    run("dmsetup", "suspend", *rng.choice(((), ("--noflush",))), "tough")
                    if rng.random() < 0.5:
                        run("dmsetup", "load", "tough", "--table", table)
                    run("dmsetup", "resume", "tough")
                if rng.random() < 0.3:
                    done = subprocess.run(["dmsetup", "remove", "tough"], capture_output=True)
                    assert done.returncode, "removed while it is open"
            shaky.become(shaky.whole())
            for block in range(work.blocks):
                work.check(block, 1, must=True)
            for _ in range(50):
                work.step()
            assert work.failed or not device_stats("tough")["errors"]
        return work.failed


@case(complaints=FAILS)
def random_faults_leave_every_block_old_or_new() -> None:
    failed = sum(tolerant_run(seed) for seed in range(10, 11 + RUNS))
    assert failed, "no request failed: the test tests nothing"


def synced_tree(top: str, seed: int, count: int) -> tuple[list[str], Operations]:
    """What is there and synced, and operations for a directory of their own that faults may hit."""
    os.mkdir(f"{top}/late")
    os.mkdir(f"{top}/tree")
    work = Operations(f"{top}/tree", f"{seed}")
    work.run(count)
    work.close_all()
    os.sync()
    late = Operations(f"{top}/late", f"late {seed}")
    return manifest(f"{top}/tree", content=False), late.without_mappings()


def run_into_faults(late: Operations, rounds: int, count: int) -> None:
    try:
        for _ in range(rounds):
            late.run(count)
            os.sync()
    except OSError as error:
        assert error.errno in (errno.EIO, errno.EROFS, errno.EUCLEAN), error


def flaky_life(
    fs: str, mkfs: tuple[str, ...], check: tuple[str, ...], repair: tuple[str, ...], seed: int
) -> None:
    """Faults while operations are under way, in a directory of their own; what was synced must be there."""
    rng = random.Random(f"{fs} {seed}")
    size = 128 * MIB
    with shaky_disk(size) as shaky, fake_disk("shaken", 4 * GIB, shaky.disk, *IN_MEMORY) as disk:
        run(*mkfs, disk)
        with mounted(disk, fs) as top:
            tree, late = synced_tree(top, seed, 150)
            late.run(20)
            shaky.become(rng.choice((shaky.flakey(), shaky.flakey("error_writes"))))
            run_into_faults(late, 6, 40)
            late.close_all()
        shaky.become(shaky.whole())
        if repair and rng.random() < 0.5:
            run(*repair, disk, ok=(0, 1))
        with mounted(disk, fs) as top:
            wrong = difference(tree, manifest(f"{top}/tree", content=False))
        assert not wrong, "the tree is not as it was synced: " + "\n".join(wrong)
        # A file system that knows of errors wants its full check.
        if repair:
            run(*repair, disk, ok=(0, 1))
        run(*check, disk)


@case(complaints=FAILS)
def a_file_system_over_faults_keeps_what_was_synced() -> None:
    for seed in range(1, 1 + RUNS):
        flaky_life("ext4", ("mkfs.ext4", "-q", "-F"), ("e2fsck", "-fn"), ("e2fsck", "-fy"), seed)
        flaky_life("xfs", ("mkfs.xfs", "-q", "-f"), ("xfs_repair", "-n"), (), seed)
        if seed % 10 == 0:
            say(f"faults: file systems: {seed} of {RUNS} lives")


# Allocations: kernels with fault injection only, that is the debug kernel.

INJECTORS = [Path("/sys/kernel/debug") / name for name in ("failslab", "fail_page_alloc")]


MOST = 1 << 30  # times that something may fail: the kernel counts them down


def need_injection(where: Path = INJECTORS[0], what: str = "require-start") -> None:
    if not where.exists():
        subprocess.run(["mount", "-t", "debugfs", "debugfs", "/sys/kernel/debug"], capture_output=True)
    if not (where / what).exists():
        raise Failed(f"this kernel has no {where}/{what}: nothing is tested")


class Injected:
    """How often something was made to fail; known when it is over."""

    def __init__(self) -> None:
        self.times = 0


@contextmanager
def injected(where: list[Path], values: dict[str, str], percent: int) -> Iterator[Injected]:
    found = Injected()
    values = {**values, "times": str(MOST), "verbose": "0", "interval": "1", "probability": str(percent)}
    try:
        for each in where:
            for name, value in values.items():
                if (each / name).exists():
                    (each / name).write_text(value)
        yield found
    finally:
        for each in where:
            (each / "probability").write_text("0")
            found.times += MOST - int((each / "times").read_text())


@contextmanager
def failing_allocations(percent: int, waiting_too: bool) -> Iterator[Injected]:
    """Of the module's: only where its code is on the stack."""
    start = int(Path("/sys/module/dm_david/sections/.text").read_text(), 0)
    size = int(next(line for line in open("/proc/modules") if line.startswith("dm_david ")).split()[1])
    values = {
        **{"require-start": hex(start), "require-end": hex(start + size)},
        **{"ignore-gfp-wait": "N" if waiting_too else "Y", "min-order": "0"},
    }
    with injected(INJECTORS, values, percent) as found:
        yield found


@case(debug=True)
def failing_allocations_delay_but_lose_nothing() -> None:
    need_injection()
    for classify, waiting in (("auto", False), ("auto", True), ("implicit", True), ("keep", True)):
        with ram_disk(128 * MIB) as dev, fake_disk("poor", 16 * GIB, dev, "--classify", classify) as disk:
            with failing_allocations(20, waiting) as failed:
                run("mkfs.ext4", "-q", "-F", disk)
                with mounted(disk, "ext4") as top:
                    Workload(top, 5, SCALES["tiny"]).run()
                    tree = manifest(top, content=False)
            run("e2fsck", "-fn", disk)
            with mounted(disk, "ext4") as top:
                wrong = difference(tree, manifest(top, content=False))
            assert not wrong, "\n".join(wrong)
            assert not device_stats("poor")["errors"], "requests failed for want of memory"
            print(f"{classify}: {failed.times} allocations failed", flush=True)
            assert failed.times, f"{classify}, {waiting}: no allocation failed: the test tests nothing"


@case(complaints="Call Trace", debug=True)
def making_a_disk_without_memory_fails_whole() -> None:
    need_injection()
    made = times = 0
    with ram_disk(128 * MIB) as dev:
        for number in range(60):
            with failing_allocations(5 if number % 2 else 1, True) as failed:
                done = subprocess.run(
                    ["dmsetup", "create", "poor", "--table", f"0 {TIB >> 9} david {dev} 1 classify=implicit"],
                    capture_output=True,
                    env=dm.environment(),
                )
            times += failed.times
            assert failed.times or not done.returncode, "not made, and no allocation failed"
            if done.returncode == 0:
                made += 1
                remove("poor")
            elif dm.exists("poor"):
                remove("poor")
    print(f"{made} of 60 made, {times} allocations failed", flush=True)
    assert 0 < made < 60, f"{made} of 60 made: the test tests nothing"


# Of a slab cache that cannot be made the kernel says where, and no more. What is wrong has a line of its own.


@case(complaints=FAILS)
def suspend_reload_and_remove_with_io_in_flight_under_faults() -> None:
    from cases.life import Hammer

    for seed in range(RUNS):
        rng = random.Random(seed)
        with shaky_disk() as shaky, fake_disk("torn", TIB, shaky.disk, *KEPT) as disk:
            table = run("dmsetup", "table", "torn").strip()
            hammers = [Hammer(disk, seed * 4 + number, GIB * (1 + number)) for number in range(2)]
            for _ in range(6):
                if rng.random() < 0.4:
                    shaky.become(shaky.flakey(*rng.choice(((), ("error_writes",)))))
                time.sleep(rng.uniform(0, 0.05))
                run("dmsetup", "suspend", *rng.choice(((), ("--noflush",))), "torn")
                if rng.random() < 0.5:
                    run("dmsetup", "load", "torn", "--table", table)
                run("dmsetup", "resume", "torn")
                shaky.become(shaky.whole())
            for hammer in hammers:
                done, error = hammer.finish()
                assert error in ("", "EIO"), f"{done} requests, {error}"
            again = Hammer(disk, seed, 9 * GIB)
            done, error = again.finish()
            assert not error, f"after the faults: {error}"
