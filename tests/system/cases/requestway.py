# SPDX-License-Identifier: GPL-2.0
"""A request's way where it is narrow: tables that are read-only for a while, requests that must not sleep,
what is durable when, and what happens where there is no room.
"""

from __future__ import annotations

import errno
import mmap
import os
import resource
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from cases import case
from helpers import iouring, raw
from helpers.failinglog import COMPLAINTS, Under
from helpers.guest import (
    Failed,
    david,
    device_stats,
    fake_disk,
    loop_disk,
    mapped,
    mounted,
    ram_disk,
    remove,
    run,
)
from helpers.nullblock import null_block
from helpers.planted import must_fail, planted
from helpers.raw import BLOCK
from helpers.rulefiles import make
from helpers.stores import events, table, wait_event
from helpers.timed import profile, timed_disk
from helpers.units import GIB, KIB, MIB, TIB

RWF_NOWAIT = os.RWF_NOWAIT


# Tables that are read-only


@contextmanager
def read_only(name: str, text: str) -> Iterator[str]:
    run("dmsetup", "create", "--readonly", name, "--table", text)
    run("dmsetup", "mknodes", name)
    try:
        yield f"/dev/mapper/{name}"
    finally:
        remove(name)


def load(name: str, text: str, *flags: str) -> None:
    run("dmsetup", "load", *flags, name, "--table", text)
    run("dmsetup", "resume", name)


def write_at(path: str, seed: int, at: int) -> None:
    with raw.opened(path) as fd:
        raw.write(fd, raw.patterned(seed, BLOCK), at)
        os.fsync(fd)


def has(path: str, *blocks: tuple[int, int]) -> None:
    with raw.opened(path, os.O_RDONLY | os.O_DIRECT) as fd:
        for seed, at in blocks:
            raw.must_read(fd, raw.patterned(seed, BLOCK), at)


@case
def a_disk_that_was_read_only_and_then_written_to_is_opened_again() -> None:
    with loop_disk(8 * MIB) as dev:
        text = table(dev, "classify=keep")
        with mapped("turns", text) as path:
            write_at(path, 1, GIB)
        with read_only("turns", text) as path:
            has(path, (1, GIB))
            load("turns", text)
            write_at(path, 2, 2 * GIB)
            load("turns", text, "--readonly")
            has(path, (1, GIB), (2, 2 * GIB))
            load("turns", text)
            write_at(path, 3, 3 * GIB)
        with mapped("turns", text) as path:
            has(path, (1, GIB), (2, 2 * GIB), (3, 3 * GIB))


@case
def a_log_that_was_not_closed_is_read_by_a_read_only_table_and_gone_on_with() -> None:
    with loop_disk(8 * MIB) as dev, loop_disk(8 * MIB) as copy:
        with mapped("cut", table(dev, "classify=keep")) as path:
            for number in range(300):
                write_at(path, number, GIB + 2 * number * BLOCK)
            # As a power cut leaves it: the store is open.
            run("dd", f"if={dev}", f"of={copy}", "bs=1M", "iflag=direct", "conv=fsync", "status=none")
        text = table(copy, "classify=keep")
        blocks = [(number, GIB + 2 * number * BLOCK) for number in range(300)]
        with read_only("after", text) as path:
            has(path, *blocks)
        with read_only("after", text) as path:
            has(path, *blocks)
            load("after", text)
            write_at(path, 1000, 2 * GIB)
        with mapped("after", text) as path:
            has(path, *blocks, (1000, 2 * GIB))


@case(complaints="I/O error|Trying to write to read-only")
def a_read_only_table_changes_nothing_whoever_has_the_disk_open() -> None:
    """device-mapper lets through what a device above it writes, which was there before."""
    with loop_disk(8 * MIB) as dev:
        for words in (("classify=keep",), ("classify=data",), ("classify=keep", "store=memory")):
            text = table(dev, *words)
            lasts = "store=memory" not in words
            new = table(dev, *words, "store=format") if lasts else text
            over = f"0 {TIB >> 9} linear /dev/mapper/held 0"
            with mapped("held", new), mapped("over", over) as path, raw.opened(path) as fd:
                raw.write(fd, raw.patterned(1, BLOCK), GIB)
                os.fsync(fd)
                before = raw.read(fd, 2 * BLOCK, GIB)
                load("held", text, "--readonly")
                for at in (GIB, GIB + BLOCK):
                    try:
                        raw.write(fd, raw.patterned(7, BLOCK), at)
                    except OSError as error:
                        assert error.errno in (errno.EIO, errno.EPERM, errno.EROFS), error
                    else:
                        raise Failed(f"{words}: a read-only table takes a write")
                raw.must_read(fd, before, GIB)
                load("held", text)
                raw.must_read(fd, before, GIB)
                raw.write(fd, raw.patterned(2, BLOCK), 2 * GIB)
            if lasts:
                with mapped("held", text) as path, raw.opened(path) as fd:
                    raw.must_read(fd, before, GIB)


# Requests that must not sleep


@case(cpus=True)
def a_discard_that_must_not_sleep_does_no_harm_on_a_mounted_disk() -> None:
    with ram_disk(64 * MIB) as dev, fake_disk("uring", 16 * GIB, dev) as disk:
        run("mkfs.ext4", "-q", "-J", "size=4", disk, "1g")
        with mounted(disk, "ext4") as top, raw.opened(disk) as fd:
            try:
                if not iouring.discard(fd, 8 * GIB, MIB):
                    return
            except iouring.NoRing:
                return
            Path(f"{top}/goes-on").write_text("x" * 9000)
            os.sync()
        run("e2fsck", "-fn", disk)


def nowait(fd: int, size: int, offset: int) -> bytes:
    done = os.preadv(fd, [raw.BUFFER.view[:size]], offset, RWF_NOWAIT)
    assert done == size, f"{done} bytes instead of {size}"
    return bytes(raw.BUFFER.view[:size])


def switches() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw


@case
def a_read_that_is_made_up_in_place_needs_no_worker() -> None:
    with ExitStack() as stack:
        dev = stack.enter_context(ram_disk(64 * MIB))
        disk = stack.enter_context(fake_disk("made", TIB, dev, "--classify", "data"))
        fd = stack.enter_context(raw.opened(disk))
        raw.write(fd, raw.patterned(1, BLOCK), GIB)
        expected = raw.read(fd, BLOCK, GIB)
        for at, content in ((GIB, expected), (2 * GIB, bytes(BLOCK))):
            before = switches()
            for _ in range(200):
                assert nowait(fd, BLOCK, at) == content
            slept = switches() - before
            assert slept < 20, f"200 reads that must not sleep slept {slept} times"


@case(cpus=True)
def requests_that_must_not_sleep_are_served_like_others() -> None:
    """On a store and of any mixture: what a worker has to do, or what is refused, is done in the end."""
    content: dict[int, bytes] = {}
    with ExitStack() as stack:
        dev = stack.enter_context(loop_disk(64 * MIB))
        disk = stack.enter_context(fake_disk("mixed", TIB, dev, "--classify", "keep"))
        fd = stack.enter_context(raw.opened(disk))
        for number in range(400):
            at = GIB + number % 97 * 3 * BLOCK
            data = b"".join(
                raw.patterned(number, BLOCK) if (number >> part) & 1 else bytes([number & 255]) * BLOCK
                for part in range(3)
            )
            raw.BUFFER.view[: len(data)] = data
            for _ in range(1000):
                try:
                    done = os.pwritev(fd, [raw.BUFFER.view[: len(data)]], at, RWF_NOWAIT)
                    break
                except BlockingIOError:
                    continue
            assert done == len(data), done
            content[at] = data
        os.fsync(fd)
        for at, data in content.items():
            raw.must_read(fd, data, at)
        assert device_stats("mixed")["nospc"] == 0
        assert device_stats("mixed")["errors"] == 0


def one_at_a_time() -> AbstractContextManager[str]:
    """A disk of 64 MiB in memory that serves one request at a time, in a millisecond."""
    return null_block("size=64 memory_backed=1 hw_queue_depth=1 irqmode=2 completion_nsec=1000000 power=1")


@contextmanager
def refusing() -> Iterator[int]:
    """A disk whose backing device refuses what it has no tag for. The model's queue has room for all."""
    with (
        one_at_a_time() as dev,
        timed_disk("tags", 16 * GIB, dev, profile("quick"), "--classify", "keep") as disk,
        raw.opened(disk) as fd,
    ):
        yield fd


def many_that_must_not_sleep(fd: int) -> None:
    pages = mmap.mmap(-1, 8 * BLOCK)

    def client(number: int) -> None:
        page = memoryview(pages)[number * BLOCK : (number + 1) * BLOCK]
        places = [number * GIB + 2 * turn * BLOCK for turn in range(30)]
        for at in places:
            page[:] = raw.patterned(at >> 12, BLOCK)
            assert os.pwritev(fd, [page], at, RWF_NOWAIT) == BLOCK
        for at in places:
            assert os.preadv(fd, [page], at, RWF_NOWAIT) == BLOCK
            assert page == raw.patterned(at >> 12, BLOCK), f"other content at {at}"

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(client, range(8)))
    stats = device_stats("tags")
    assert stats["requests"]["write"] == 240, f"{stats['requests']}: some were seen again"


@case(cpus=True)
def what_the_backing_device_refuses_is_sent_again() -> None:
    with refusing() as fd:
        many_that_must_not_sleep(fd)


def many_of_several_pieces(fd: int) -> None:
    """As many_that_must_not_sleep(), but a constant block lies between two kept ones."""
    pages = mmap.mmap(-1, 8 * 4 * BLOCK)
    again: list[int] = []

    def client(number: int) -> None:
        page = memoryview(pages)[number * 4 * BLOCK : number * 4 * BLOCK + 3 * BLOCK]
        for turn in range(10):
            at = number * GIB + 8 * turn * BLOCK
            page[:] = raw.patterned(at >> 12, BLOCK) + bytes(BLOCK) + raw.patterned(1 + (at >> 12), BLOCK)
            try:
                assert os.pwritev(fd, [page], at, RWF_NOWAIT) == 3 * BLOCK
            except BlockingIOError:
                again.append(at)
                assert os.pwrite(fd, page, at) == 3 * BLOCK

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(client, range(8)))
    stats = device_stats("tags")
    seen = stats["requests"]["write"]
    assert seen == 80 and not again, f"{len(again)} got EAGAIN, the model has seen {seen} of 80"


@case
def requests_of_several_pieces_are_sent_again() -> None:
    with refusing() as fd:
        many_of_several_pieces(fd)


@case(planted=True)
def planted_refusals_are_found() -> None:
    with refusing() as fd, planted("refused"), must_fail():
        many_that_must_not_sleep(fd)


# What is durable when it is complete


@case
def zeroes_are_durable_when_complete_on_a_drive_without_a_write_cache() -> None:
    with loop_disk(16 * MIB) as dev, loop_disk(16 * MIB) as copy:
        options = ("--classify", "keep", "--mode", "speedup", "--profile-option", "write_cache=through")
        options += ("--profile-option", "write_zeroes=yes")
        with timed_disk("through", 16 * GIB, dev, profile("quick"), *options) as disk, raw.opened(disk) as fd:
            raw.write(fd, raw.patterned(1, 4 * BLOCK), GIB)
            raw.zero_out(fd, GIB, 2 * BLOCK)
            run("dd", f"if={dev}", f"of={copy}", "bs=1M", "iflag=direct", "conv=fsync", "status=none")
        text = f"0 {16 * GIB >> 9} david {copy} 1 classify=keep"
        with mapped("cut", text) as path, raw.opened(path) as fd:
            raw.must_read(fd, bytes(2 * BLOCK) + raw.patterned(1, 4 * BLOCK)[2 * BLOCK :], GIB)


@case(complaints=COMPLAINTS)
def a_flush_that_fails_while_the_disk_is_suspended_fails_the_disk() -> None:
    """What the device had may be lost, so that nobody may go on as if nothing had been."""
    with loop_disk(2 * MIB) as dev:
        under = Under(dev)
        with mapped("under", under.good()):
            text = table("/dev/mapper/under", "classify=keep")
            with mapped("top", text) as path, raw.opened(path) as fd:
                seen = events("top")
                raw.write(fd, raw.patterned(1, BLOCK), GIB)
                os.fsync(fd)
                under.become(under.no_flush())
                run("dmsetup", "suspend", "--nolockfs", "--noflush", "top")
                under.become(under.good())
                run("dmsetup", "resume", "top")
                wait_event("top", seen)
                now = dict(word.split("=", 1) for word in run("dmsetup", "status", "top").split()[3:])
                assert (now["state"], now["fault"]) == ("failed", "flush"), f"{now['state']} {now['fault']}"
                try:
                    raw.write(fd, raw.patterned(2, BLOCK), 2 * GIB)
                except OSError as error:
                    assert error.errno == errno.EIO, error
                else:
                    raise Failed("a write after a flush that failed")


# Room


@case
def rules_find_a_run_of_blocks_however_the_store_is_in_pieces() -> None:
    """With blocks of 512 bytes a page of the module's own takes eight in a row."""
    blocks = 2000
    with loop_disk(4 * MIB) as dev:
        text = table(dev, "classify=keep", "block_size=512")
        with mapped("pieces", text) as path, raw.opened(path) as fd:
            raw.write(fd, raw.patterned(1, blocks * 512), GIB)
            for number in range(0, 1200, 2):
                raw.discard(fd, GIB + number * 512, 512)
            os.fsync(fd)
            run("dmsetup", "message", "pieces", "0", "raw", "add", "sectors:0-99")
            run("dmsetup", "message", "pieces", "0", "raw", "add", "ino:77")
            raw.must_read(fd, raw.patterned(1, blocks * 512)[1200 * 512 :], GIB + 1200 * 512)
        with mapped("pieces", text):
            assert "ino:77" in run("dmsetup", "message", "pieces", "0", "raw", "list")


def fill_with_ranges(fd: int, most: int) -> int:
    """Constant blocks, no two alike: a range each. How many went in until ENOSPC."""
    for number in range(0, most, 64):
        try:
            words = b"".join(struct.pack("<Q", number + i + 1) * (BLOCK // 8) for i in range(64))
            raw.write(fd, words, GIB + number * BLOCK)
        except OSError as error:
            assert error.errno == errno.ENOSPC, error
            return number
    return most


@case(complaints="critical")
def the_range_tables_memory_has_a_bound() -> None:
    with loop_disk(256 * MIB) as dev:
        for store, limit in (("memory", 2), ("auto", 1)):
            text = table(dev, "classify=keep", f"store={store}", f"table_memory={limit}")
            with mapped("bound", text) as path, raw.opened(path) as fd:
                seen = events("bound")
                fitted = fill_with_ranges(fd, 200_000)
                assert 15_000 * limit < fitted < 50_000 * limit, f"{fitted} ranges in {limit} MB"
                memory = device_stats("bound")["mem"]["ranges"]  # type: ignore[index]
                assert memory < (limit << 20) + 256 * KIB, f"{memory} bytes, {limit} MB allowed"
                wait_event("bound", seen)
                # What changes no range goes in, discards make room, and more memory does, too.
                raw.write(fd, struct.pack("<Q", 7) * (BLOCK // 8), GIB + 6 * BLOCK)
                raw.discard(fd, GIB, fitted // 2 * BLOCK)
                assert fill_with_ranges(fd, fitted // 4) == fitted // 4
                run("dmsetup", "suspend", "bound")
                larger = text.replace(f"table_memory={limit}", f"table_memory={limit + 2}")
                load("bound", larger)
                assert fill_with_ranges(fd, fitted + 2000) == fitted + 2000
                assert f"table_memory={limit + 2}" in run("dmsetup", "table", "bound")


# RAW, whatever way the content takes


def copied_past_the_cache(top: str, source: str, to: str) -> None:
    """Direct I/O to @to from the pages of @source, mapped."""
    with open(source, "r+b") as file:
        size = os.fstat(file.fileno()).st_size
        with mmap.mmap(file.fileno(), size) as view, raw.opened(to) as fd:
            for at in range(0, size, 64 * KIB):
                assert os.pwrite(fd, memoryview(view)[at : at + 64 * KIB], at) == 64 * KIB


@case
def a_raw_file_is_exact_where_another_files_pages_are_written_to_it() -> None:
    size = MIB
    data = raw.patterned(5, size)
    for fs in ("ext4", "xfs"):
        with ram_disk(128 * MIB) as dev, fake_disk("rawdio", 16 * GIB, dev) as disk:
            make(fs, disk)
            with mounted(disk, fs) as top:
                for name in ("mapped", "spliced"):
                    with open(f"{top}/{name}", "wb") as file:
                        os.posix_fallocate(file.fileno(), 0, size)
                        os.fsync(file.fileno())
                    david("raw", "add", "rawdio", f"{top}/{name}")
                Path(f"{top}/source").write_bytes(data)
                os.sync()
                copied_past_the_cache(top, f"{top}/source", f"{top}/mapped")
                with open(f"{top}/source", "rb") as source, raw.opened(f"{top}/spliced") as fd:
                    done = 0
                    while done < size:
                        done += os.sendfile(fd, source.fileno(), None, size - done)
                os.sync()
            with mounted(disk, fs) as top:
                for name in ("mapped", "spliced"):
                    assert Path(f"{top}/{name}").read_bytes() == data, f"{fs}: {name} is not what was written"
                # On xfs what a RAW file has is kept wherever it is: see twins.py.
                if fs == "ext4":
                    assert Path(f"{top}/source").read_bytes() != data, f"{fs}: the source was kept"
