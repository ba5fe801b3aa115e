# SPDX-License-Identifier: GPL-2.0
"""A backing device that does not take the store's own pages: what is tried again, what is not, and what the
user is told. Of data that cannot be written: faults.py.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from cases import case
from helpers import raw
from helpers.failing import fails
from helpers.failinglog import COMPLAINTS, SIZE, Under
from helpers.guest import Failed, device_stats, kmsg, loop_disk, mapped, run
from helpers.raw import BLOCK
from helpers.stores import events, table, wait_event
from helpers.units import GIB

# Pages of the backing device. Its log is from page 2 to 65.
SUPERS, LOG_BEGIN, LOG = (0, 2), (4, 2), (2, 64)


@contextmanager
def disks() -> Iterator[tuple[Under, int]]:
    """The device beneath, and the disk, on which one block has been written and flushed."""
    with loop_disk(SIZE) as dev:
        under = Under(dev)
        top = table("/dev/mapper/under", "classify=keep")
        with mapped("under", under.good()), mapped("top", top) as path, raw.opened(path) as fd:
            raw.write(fd, raw.patterned(1, BLOCK), GIB)
            os.fsync(fd)
            yield under, fd
            under.become(under.good())
        with mapped("top", table(dev, "classify=keep")) as path, raw.opened(path) as fd:
            raw.must_read(fd, raw.patterned(1, BLOCK), GIB, "what was flushed before, opened again,")
            assert words()["state"] == "ok", words()["state"]


def words() -> dict[str, str]:
    return dict(word.split("=", 1) for word in run("dmsetup", "status", "top").split()[3:])


def must_be_failed(under: Under, fd: int, fault: str, retries: int, seen: int) -> None:
    """It says so, takes nothing more, reads, and stays so when the device beneath is whole again."""
    wait_event("top", seen)
    for _ in range(2):
        now = words()
        assert (now["state"], now["fault"]) == ("failed", fault), f"{now['state']} {now['fault']}"
        assert int(now["log_retries"]) == retries, now["log_retries"]
        assert device_stats("top")["fault"] == fault
        fails(lambda: raw.write(fd, bytes(BLOCK), GIB), "a write")
        fails(lambda: raw.discard(fd, GIB, BLOCK), "a discard")
        fails(lambda: os.fsync(fd), "a flush")
        raw.must_read(fd, raw.patterned(1, BLOCK), GIB)
        under.become(under.good())
        # Suspended and resumed it is what it was.
        run("dmsetup", "suspend", "top")
        run("dmsetup", "resume", "top")
    assert events("top") == seen + 1, f"{events('top') - seen} events instead of 1"


def until_it_fails(fd: int, most: int) -> None:
    for number in range(most):
        try:
            raw.write(fd, raw.patterned(number, BLOCK), GIB + (number + 9) * 2 * BLOCK)
            os.fsync(fd)
        except OSError as error:
            assert error.errno == errno.EIO, error
            return
        if number % 16 == 15:
            with suppress(OSError):
                raw.discard(fd, GIB + 9 * BLOCK, 64 * BLOCK)
    raise Failed(f"{most} writes and flushes, and no error")


@case(complaints=COMPLAINTS)
def a_log_that_cannot_be_written_fails_the_disk_after_a_second_try() -> None:
    with disks() as (under, fd):
        seen = events("top")
        under.become(under.without(*LOG_BEGIN))
        until_it_fails(fd, 8)
        must_be_failed(under, fd, "log", 1, seen)


@case(complaints=COMPLAINTS)
def a_superblock_that_cannot_be_written_fails_the_disk_after_a_second_try() -> None:
    with disks() as (under, fd):
        seen = events("top")
        under.become(under.without(*SUPERS))
        until_it_fails(fd, 200)
        must_be_failed(under, fd, "superblock", 1, seen)


@case(complaints=COMPLAINTS)
def a_flush_that_failed_is_not_tried_again() -> None:
    """The device may have forgotten what it had, and the next flush would be said to be well."""
    with disks() as (under, fd):
        seen = events("top")
        raw.write(fd, raw.patterned(2, BLOCK), 2 * GIB)
        under.become(under.no_flush())
        fails(lambda: os.fsync(fd), "a flush")
        under.become(under.good())
        must_be_failed(under, fd, "flush", 0, seen)


@case(complaints=COMPLAINTS)
def a_write_of_the_log_that_fails_once_is_written_at_the_second_try() -> None:
    with disks() as (under, fd):
        data = {GIB: raw.patterned(1, BLOCK)}
        for turn, bad in enumerate((LOG, SUPERS)):
            log = kmsg.KernelLog()
            under.become(under.without(*bad))
            under.load(under.good())
            errors: list[OSError] = []

            def work(turn: int = turn, bad: tuple[int, int] = bad, errors: list[OSError] = errors) -> None:
                try:
                    # A superblock is written with a checkpoint only.
                    for number in range(150 if bad == SUPERS else 1):
                        block, at = raw.patterned(100 * turn + number, BLOCK), (2 + 200 * turn + number) * GIB
                        data[at] = block
                        raw.write(fd, block, at)
                        os.fsync(fd)
                        if int(words()["log_retries"]) > turn:
                            return
                except OSError as error:
                    errors.append(error)

            thread = threading.Thread(target=work)
            thread.start()
            for _ in range(1500):
                if any("second try follows" in line for line in log.new_lines()):
                    break
                time.sleep(0.01)
            else:
                raise Failed("no write failed")
            under.resume()
            thread.join()
            assert not errors, f"turn {turn}: {errors}"
            now = words()
            assert (now["state"], now["fault"], now["log_retries"]) == ("ok", "none", str(turn + 1)), now
        for at, block in data.items():
            raw.must_read(fd, block, at)
        assert events("top") == 0
        # What the second try wrote is on the device, not only in memory.
        with loop_disk(SIZE) as copy:
            run("dd", f"if={under.loop}", f"of={copy}", "bs=1M", "conv=fsync", "status=none")
            with mapped("crashed", table(copy, "classify=keep")) as path, raw.opened(path) as there:
                for at, block in data.items():
                    raw.must_read(there, block, at)
