# SPDX-License-Identifier: GPL-2.0
"""The store: full, low, freed, failing."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from cases import case
from helpers import raw
from helpers.guest import Failed, device_stats, dm, fake_disk, loop_disk, mapped, remove, run
from helpers.planted import must_fail, planted
from helpers.poolbox import made
from helpers.raw import BLOCK, SECTOR
from helpers.stores import SECTORS, events, state, wait_event
from helpers.units import GIB, KIB, MIB, TIB


def fill_up(fd: int, blocks: int, data: bytes) -> dict[int, int]:
    """Write blocks at random places until ENOSPC: offset -> offset in `data`."""
    rng = random.Random(3)
    written: dict[int, int] = {}
    for _ in range(blocks + 10):
        offset = rng.randrange(TIB // BLOCK) * BLOCK
        source = rng.randrange(len(data) - BLOCK)
        try:
            raw.write(fd, data[source : source + BLOCK], offset)
        except OSError as error:
            assert error.errno == errno.ENOSPC, f"{errno.errorcode[error.errno or 0]} instead of ENOSPC"
            return written
        written[offset] = source
    raise Failed(f"{len(written)} blocks were taken, {blocks} fit")


@case(vm="6.1", cpus=True, complaints="store full|store low|I/O error|critical")
def full_store_fails_clearly() -> None:
    data = raw.patterned(1, MIB)
    options = ("--classify", "keep", "-o", "low_water=64")
    with loop_disk(MIB) as dev, fake_disk("full", TIB, dev, *options) as disk, raw.opened(disk) as fd:
        blocks = int(device_stats("full")["store_blocks"])
        assert state("full") == "ok"
        start = events("full")
        waiter = subprocess.Popen(["dmsetup", "wait", "full", str(start)], env=dm.environment())
        written = fill_up(fd, blocks, data)
        assert len(written) == blocks, f"{len(written)} blocks fit instead of {blocks}"
        assert waiter.wait(timeout=10) == 0
        # One event for low, one for full.
        for _ in range(50):
            if events("full") >= start + 2:
                break
            time.sleep(0.1)
        assert events("full") == start + 2, f"{events('full') - start} events instead of 2"
        assert state("full") == "full"
        figures = device_stats("full")
        assert figures["nospc"] == 1 and figures["store_used"] == blocks and figures["errors"] == 0, figures

        # What is stored stays readable and writable; what did not fit keeps its old content.
        for offset, source in written.items():
            raw.must_read(fd, data[source : source + BLOCK], offset)
        first = next(iter(written))
        raw.write(fd, data[:BLOCK], first)
        raw.must_read(fd, data[:BLOCK], first)
        other = TIB - 8 * BLOCK
        for size in (SECTOR, BLOCK, 4 * BLOCK):
            try:
                raw.write(fd, data[:size], other)
                raise Failed(f"{size} bytes were written to a full store")
            except OSError as error:
                assert error.errno == errno.ENOSPC, error
            raw.must_read(fd, bytes(size), other)
        # Constant blocks need no room.
        raw.write(fd, b"\x55" * BLOCK, other)
        raw.must_read(fd, b"\x55" * BLOCK, other)

        # A discard makes room.
        victim = list(written)[1]
        raw.discard(fd, victim, BLOCK)
        assert state("full") == "low", state("full")
        raw.write(fd, data[:BLOCK], other)
        raw.must_read(fd, data[:BLOCK], other)
        raw.discard(fd, 0, TIB)
        assert state("full") == "ok"
        figures = device_stats("full")
        assert figures["store_used"] == 0, figures
        # And the story begins anew, events included.
        again = events("full")
        assert len(fill_up(fd, blocks, data)) == blocks
        wait_event("full", again)


def a_write_waits_for_freed_blocks(bug: str) -> None:
    """The round of the log that frees them ends between its search for a block and its question."""
    data = raw.patterned(1, MIB)
    keep = ("--classify", "keep")
    with loop_disk(MIB) as dev, fake_disk("full", TIB, dev, *keep) as disk, raw.opened(disk) as fd:
        for offset in sorted(fill_up(fd, MIB // BLOCK, data))[:8]:
            raw.discard(fd, offset, BLOCK)
        with planted(bug):
            raw.write(fd, data[:BLOCK], TIB - BLOCK)


@case(planted=True, complaints="store full|store low|I/O error|critical")
def blocks_that_become_free_meanwhile_are_found() -> None:
    a_write_waits_for_freed_blocks("pause")


@case(planted=True, complaints="store full|store low|I/O error|critical")
def a_write_that_does_not_look_again_is_found() -> None:
    with must_fail():
        a_write_waits_for_freed_blocks("once")


@case(cpus=True, complaints="I/O error")
def buffered_writes_to_a_full_store_report_at_fsync() -> None:
    with loop_disk(MIB) as dev, fake_disk("full", TIB, dev, "--classify", "keep") as disk:
        with raw.opened(disk, os.O_RDWR) as fd:
            os.pwrite(fd, raw.patterned(1, 2 * MIB), GIB)
            try:
                os.fsync(fd)
                raise Failed("fsync of twice the store's size succeeded")
            except OSError as error:
                assert error.errno in (errno.ENOSPC, errno.EIO), error


@case(cpus=True)
def discards_rewrites_and_squashes_free_the_store() -> None:
    data = raw.patterned(1, MIB)
    with loop_disk(16 * MIB) as dev, fake_disk("free", TIB, dev, "--classify", "keep") as disk:
        with raw.opened(disk) as fd:

            def used() -> int:
                figures = device_stats("free")
                assert figures["store_used"] == figures["blocks"]["stored"], figures
                return int(figures["store_used"])

            raw.write(fd, data, GIB)
            assert used() == 256
            raw.write(fd, data, GIB)
            assert used() == 256, "a rewrite took new blocks"
            raw.discard(fd, GIB, 64 * KIB)
            assert used() == 240
            # Parts of blocks stay.
            raw.discard(fd, GIB + 64 * KIB + SECTOR, BLOCK)
            assert used() == 240
            raw.zero_out(fd, GIB + 64 * KIB, 64 * KIB)
            assert used() == 224
            raw.write(fd, b"\xaa" * 64 * KIB, GIB + 128 * KIB)
            assert used() == 208
            raw.must_read(fd, bytes(128 * KIB) + b"\xaa" * 64 * KIB + data[192 * KIB :], GIB)
            # Runs on both sides of a hole, taken by one write again.
            raw.write(fd, data, GIB)
            raw.must_read(fd, data, GIB)
            assert used() == 256
            raw.discard(fd, 0, TIB)
            assert used() == 0
            raw.must_read(fd, bytes(MIB), GIB)


@case(cpus=True)
def a_random_life_leaves_no_block_lost() -> None:
    """Random writes and discards: the store counts as used what is stored, to the end."""
    rng = random.Random(11)
    data = raw.patterned(2, MIB)
    with loop_disk(4 * MIB) as dev, fake_disk("churn", TIB, dev, "--classify", "keep") as disk:
        with raw.opened(disk) as fd:
            shadow: dict[int, int] = {}
            for number in range(1500):
                block = rng.randrange(2000)
                if rng.random() < 0.55 and len(shadow) < 900:
                    source = rng.randrange(len(data) - BLOCK)
                    raw.write(fd, data[source : source + BLOCK], block * BLOCK)
                    shadow[block] = source
                else:
                    count = rng.randrange(1, 8)
                    raw.discard(fd, block * BLOCK, count * BLOCK)
                    for victim in range(block, block + count):
                        shadow.pop(victim, None)
                if number % 250 == 0:
                    figures = device_stats("churn")
                    assert figures["store_used"] == len(shadow) == figures["blocks"]["stored"], figures
            for block, source in shadow.items():
                raw.must_read(fd, data[source : source + BLOCK], block * BLOCK)
            raw.discard(fd, 0, TIB)
            assert device_stats("churn")["store_used"] == 0


@case(cpus=True, complaints="I/O error")
def errors_of_the_backing_device_are_passed_on() -> None:
    """The first half of the backing device works, the second fails: what failed keeps its old content."""
    half = 512 * KIB >> 9
    table = "0 {0} linear {1} 0\n{0} {0} error"
    with loop_disk(MIB) as dev:
        run("dmsetup", "create", "bad", "--table", table.format(half, dev))
        try:
            dm.make_node("bad")
            sectors = TIB >> 9
            with (
                mapped("top", f"0 {sectors} david /dev/mapper/bad 2 classify=keep store=memory") as disk,
                raw.opened(disk) as fd,
            ):
                data = raw.patterned(1, 512 * KIB)
                raw.write(fd, data, GIB)
                try:
                    raw.write(fd, data[:BLOCK], TIB - BLOCK)
                    raise Failed("a write to the failing half succeeded")
                except OSError as error:
                    assert error.errno == errno.EIO, error
                raw.must_read(fd, bytes(BLOCK), TIB - BLOCK, "content after a failed write")
                raw.must_read(fd, data, GIB)
                figures = device_stats("top")
                assert figures["errors"] == 1 and figures["store_used"] == 128 and not figures["nospc"], (
                    figures
                )
                # Room in the good half serves the next write.
                raw.discard(fd, GIB, BLOCK)
                raw.write(fd, data[:BLOCK], TIB - BLOCK)
                raw.must_read(fd, data[:BLOCK], TIB - BLOCK)
                # Then reads fail too.
                run("dmsetup", "load", "bad", "--table", f"0 {2 * half} error")
                run("dmsetup", "suspend", "--noflush", "bad")
                run("dmsetup", "resume", "bad")
                try:
                    raw.read(fd, BLOCK, TIB - BLOCK)
                    raise Failed("a read from the failing device succeeded")
                except OSError as error:
                    assert error.errno == errno.EIO, error
        finally:
            remove("bad")


@case(vm="6.1", cpus=True)
def a_flush_reaches_the_backing_device() -> None:
    """fsync and O_DSYNC arrive below: seen in the block layer's own count of flushes."""
    with loop_disk(16 * MIB) as dev, fake_disk("flush", TIB, dev, "--classify", "keep") as disk:

        def flushes() -> int:
            fields = open(f"/sys/block/{os.path.basename(dev)}/stat").read().split()
            return int(fields[15])

        with raw.opened(disk) as fd:
            raw.write(fd, raw.patterned(1, BLOCK), 0)
            before, counted = flushes(), device_stats("flush")["requests"]["flush"]
            os.fsync(fd)
            assert flushes() > before, "no flush reached the backing device"
            assert device_stats("flush")["requests"]["flush"] > counted
        with raw.opened(disk, raw.DIRECT | os.O_DSYNC) as fd:
            before = flushes()
            raw.write(fd, raw.patterned(1, 64 * KIB), GIB)
            assert flushes() > before, "O_DSYNC did not flush the backing device"


@case(cpus=True)
def memory_follows_the_ranges() -> None:
    """Ranges cost memory, and give it back."""
    with (
        loop_disk(16 * MIB) as dev,
        fake_disk("memory", TIB, dev, "--classify", "data") as disk,
        raw.opened(disk) as fd,
    ):
        empty = device_stats("memory")["mem"]
        data = raw.patterned(1, BLOCK)
        for number in range(2000):
            raw.write(fd, data, number * 3 * BLOCK)
        figures = device_stats("memory")
        assert figures["ranges"]["squashed"] == 2000, figures["ranges"]
        grown = figures["mem"]["ranges"] - empty["ranges"]
        assert 2000 * 16 <= grown <= 2000 * 128, f"{grown} bytes for 2000 ranges"
        raw.discard(fd, 0, TIB)
        figures = device_stats("memory")
        assert figures["ranges"]["squashed"] == 0
        assert figures["mem"]["ranges"] < empty["ranges"] + 80 * KIB, figures["mem"]


@contextmanager
def suspended(name: str) -> Iterator[None]:
    run("dmsetup", "suspend", name)
    try:
        yield
    finally:
        run("dmsetup", "resume", name)


def in_time(*words: str) -> None:
    """A command that must not wait for anybody's device."""
    try:
        subprocess.run(words, check=True, capture_output=True, timeout=60, env=dm.environment())
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(words)}: hangs") from None


@case
def who_opens_a_device_that_is_suspended_holds_up_nobody_else() -> None:
    """Stores and pools on a device that answers nobody are opened, beside the life of others."""
    with ExitStack() as stack:
        devices = [stack.enter_context(loop_disk(16 * MIB)) for _ in range(3)]
        below = stack.enter_context(mapped("below", f"0 {GIB >> 9} david {devices[0]} 1 classify=keep"))
        made(below)
        stack.enter_context(mapped("other", f"0 {SECTORS} david {devices[1]}"))
        table = f"0 {SECTORS} david {below} 2 classify=keep"
        waiting = []
        with suspended("below"):
            for name, words in (("a", " pool=a"), ("b", " pool=b"), ("c", " store=format")):
                command = ["dmsetup", "create", name, "--table", table + words]
                process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=dm.environment())
                waiting.append((name, process))
                time.sleep(0.5)
            for words in (("suspend", "other"), ("resume", "other"), ("status", "other")):
                in_time("dmsetup", *words)
            assert device_stats("other")["store_used"] is not None
            in_time("dmsetup", "create", "third", "--table", f"0 {SECTORS} david {devices[2]}")
            in_time("dmsetup", "remove", "third")
        said = {name: process.communicate(timeout=60)[1] for name, process in waiting}
        failed = [name for name, process in waiting if process.returncode]
        for name in said.keys() - failed:
            run("dmsetup", "remove", name)
        assert failed == ["c"], said
