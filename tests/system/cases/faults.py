# SPDX-License-Identifier: GPL-2.0
"""A backing device that fails, and a kernel without memory: errors reach the request that met them, nothing
else is lost, and all is well once the device is whole again.

DAVID_SCALE=full repeats the random ones 100 times.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cases import case
from helpers import raw
from helpers.failing import (
    FAILS,
    INJECTORS,
    RUNS,
    Injected,
    Tolerant,
    fails,
    injected,
    need_injection,
    run_into_faults,
    synced_tree,
)
from helpers.filesystems import TOOLS
from helpers.guest import (
    Failed,
    david,
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
from helpers.manifest import difference, manifest
from helpers.planted import planted
from helpers.poolbox import pool_device, pool_disk
from helpers.raw import BLOCK
from helpers.units import GIB, MIB, TIB
from helpers.workload import SCALES, Workload

# A log that cannot be written makes the whole device fail, and says so: cases/durable.py.
IN_MEMORY = ("-o", "store=memory")
KEPT = ("--classify", "keep", *IN_MEMORY)


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


def flaky_life(fs: str, seed: int) -> None:
    """Faults while operations are under way, in a directory of their own; what was synced must be there."""
    rng, tools = random.Random(f"{fs} {seed}"), TOOLS[fs]
    size = 128 * MIB
    with shaky_disk(size) as shaky, fake_disk("shaken", 4 * GIB, shaky.disk, *IN_MEMORY) as disk:
        run(*tools.mkfs, disk)
        with mounted(disk, fs) as top:
            tree, late = synced_tree(top, seed, 150)
            late.run(20)
            shaky.become(rng.choice((shaky.flakey(), shaky.flakey("error_writes"))))
            run_into_faults(late, 6, 40)
            late.close_all()
        shaky.become(shaky.whole())
        if tools.repair and rng.random() < 0.5:
            run(*tools.repair, disk, ok=(0, 1))
        with mounted(disk, fs) as top:
            wrong = difference(tree, manifest(f"{top}/tree", content=False))
        assert not wrong, "the tree is not as it was synced: " + "\n".join(wrong)
        # A file system that knows of errors wants its full check.
        if tools.repair:
            run(*tools.repair, disk, ok=(0, 1))
        run(*tools.check, disk)


@case(complaints=FAILS)
def a_file_system_over_faults_keeps_what_was_synced() -> None:
    for seed in range(1, 1 + RUNS):
        flaky_life("ext4", seed)
        flaky_life("xfs", seed)
        if seed % 10 == 0:
            say(f"faults: file systems: {seed} of {RUNS} lives")


# Allocations: kernels with fault injection only, that is the debug kernel.


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


@contextmanager
def no_memory_for(function: str) -> Iterator[Injected]:
    """None at all where this function of the module is on the stack."""
    lines = (line.split() for line in open("/proc/kallsyms") if line.endswith("[dm_david]\n"))
    places = sorted((int(words[0], 16), words[2]) for words in lines if words[1] in "tT")
    found = [number for number, (_, name) in enumerate(places) if name == function]
    if len(found) != 1:
        raise Failed(f"{len(found)} functions of the module are called {function}")
    start, end = places[found[0]][0], places[found[0] + 1][0]
    values = {"require-start": hex(start), "require-end": hex(end)}
    with injected(INJECTORS, {**values, "ignore-gfp-wait": "N", "min-order": "0"}, 100) as failed:
        yield failed


@case(debug=True)
def without_memory_raw_content_is_stored_where_it_was_dropped() -> None:
    """The write waits for that, and reclaim may wait for the write."""
    need_injection()
    content = random.Random(11).randbytes(MIB)
    with loop_disk(900 * MIB) as dev, fake_disk("poor", 4 * GIB, dev) as disk:
        run("mkfs.xfs", "-q", disk)
        with mounted(disk, "xfs") as top:
            for name in ("raw", "no"):
                os.mkdir(f"{top}/{name}")
            david("raw", "add", "poor", f"{top}/raw")
            Path(f"{top}/no/a").write_bytes(content)
            os.sync()
            with no_memory_for("finish_work") as failed:
                Path(f"{top}/raw/b").write_bytes(content)
                os.sync()
            said = run("xfs_io", "-c", f"dedupe {top}/no/a 0 0 {MIB}", f"{top}/raw/b")
            assert f"deduped {MIB}/{MIB}" in said, said
        with mounted(disk, "xfs") as top:
            at = raw.first_difference(Path(f"{top}/raw/b").read_bytes(), content)
    assert failed.times, "no allocation failed: the test tests nothing"
    assert at < 0, f"the RAW file has other content at {at}"


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
    from helpers.hammer import Hammer

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


# Locks that are never held over I/O: kernels with lockdep look at that (dm-david/target/iolocks.c).

WITHOUT_IO = {"stores_lock", "pools_lock", "devices_lock", "watch_lock", "&d->mode_lock", "david_message"}


@case(complaints=".", debug=True, planted=True)
def io_under_a_lock_that_is_never_held_over_it_is_found() -> None:
    """Under each of them: they are known by the names that lockdep has."""
    before = told_of_io()
    assert not before, before
    with planted("overio"), pool_device(64 * MIB) as device, pool_disk("under", device):
        run("dmsetup", "message", "under", "0", "mode", "speedup")
        with suppress(Failed):  # there is no such device
            run("dmsetup", "message", "under", "0", "stack", "7:77", "1", "7:78", "0")
    assert told_of_io() == WITHOUT_IO, told_of_io()


def told_of_io() -> set[str]:
    return set(re.findall(r"dm-david: I/O under (\S+)", run("dmesg")))
