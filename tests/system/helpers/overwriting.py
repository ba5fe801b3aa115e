# SPDX-License-Identifier: GPL-2.0
"""A database's file on a timed SSD of a terabyte, overwritten at random, recorded for david-sim."""

from __future__ import annotations

import ctypes
import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from helpers.filesystems import TOOLS
from helpers.guest import Failed, device_stats, mounted, ram_disk, run
from helpers.raw import DIRECT, Buffer, opened
from helpers.timed import EVENTS, TRACING, timed_disk
from helpers.units import MIB, TIB

PROFILE = "micron-7300-pro"
STARTS = {"fresh": ("precondition=fresh",), "random:0.9": ("precondition=random", "precondition_fill=0.9")}
# A discard of the whole disk would undo the precondition. ext4 makes its inode tables when mounted, for long.
MKFS = {"ext4": ("-E", "nodiscard"), "xfs": ("-K",)}
MOUNT = {"ext4": "noinit_itable", "xfs": ""}
BACKING = 128 * MIB
BLOCK = 4096
STATE = 8 * MIB
# So many under way; those that are done are taken, and sent again, eight at a time.
DEPTH, REAPED = 32, 8
IO_SETUP, IO_DESTROY, IO_GETEVENTS, IO_SUBMIT = 206, 207, 208, 209  # x86-64
IOCB_CMD_PWRITE = 1
# What david-sim reads of a recording
RECORDED = ("david_queue", "david_complete", "david_wait", "david_unplug")
libc = ctypes.CDLL(None, use_errno=True)


class Iocb(ctypes.Structure):
    """struct iocb of <linux/aio_abi.h>"""

    _fields_ = [
        ("data", ctypes.c_uint64),
        ("key", ctypes.c_uint32),
        ("rw_flags", ctypes.c_uint32),
        ("opcode", ctypes.c_uint16),
        ("reqprio", ctypes.c_int16),
        ("fd", ctypes.c_uint32),
        ("buf", ctypes.c_uint64),
        ("nbytes", ctypes.c_uint64),
        ("offset", ctypes.c_int64),
        ("reserved", ctypes.c_uint64 * 3),
    ]


class IoEvent(ctypes.Structure):
    """struct io_event"""

    _fields_ = [(name, ctypes.c_int64) for name in ("data", "obj", "res", "res2")]


def call(number: int, *words: object) -> int:
    done = libc.syscall(ctypes.c_long(number), *words)
    if done < 0:
        raise Failed(f"asynchronous I/O, call {number}: {os.strerror(ctypes.get_errno())}")
    return done


@dataclass
class Result:
    """Of one run: writes a second of each mark by the machine's own clock, and the module's memory."""

    per_s: list[float] = field(default_factory=list)
    memory: int = 0
    overwritten: int = 0


def overwrite(fd: int, size: int, writes: int, marks: int, seed: int) -> list[float]:
    """Overwrites of a block each in random places; writes a second of each mark."""
    rng, blocks, buffer = random.Random(seed), size // BLOCK, Buffer(BLOCK)
    buffer.view[:] = random.Random(1).randbytes(BLOCK)
    address = ctypes.addressof(ctypes.c_char.from_buffer(buffer.map))
    iocbs = (Iocb * DEPTH)()
    pointers = (ctypes.POINTER(Iocb) * DEPTH)()
    events = (IoEvent * DEPTH)()
    for slot, iocb in enumerate(iocbs):
        iocb.data, iocb.opcode, iocb.fd, iocb.buf, iocb.nbytes = slot, IOCB_CMD_PWRITE, fd, address, BLOCK
    context = ctypes.c_ulong(0)
    call(IO_SETUP, ctypes.c_uint(DEPTH), ctypes.byref(context))
    rates, every, free, sent, done = [], writes // marks, list(range(DEPTH)), 0, 0
    begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    try:
        while done < writes:
            batch = min(len(free), writes - sent)
            for place in range(batch):
                slot = free.pop()
                iocbs[slot].offset = rng.randrange(blocks) * BLOCK
                pointers[place] = ctypes.pointer(iocbs[slot])
            sent += batch
            if batch and call(IO_SUBMIT, context, ctypes.c_long(batch), pointers) != batch:
                raise Failed("io_submit took a part")
            least = min(REAPED, sent - done)
            got = call(IO_GETEVENTS, context, ctypes.c_long(least), ctypes.c_long(DEPTH), events, None)
            for event in events[:got]:
                if event.res != BLOCK:
                    raise Failed(f"an overwrite came back with {event.res}")
                free.append(event.data)
            if done // every != (done + got) // every:
                now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
                rates.append(every * 1e9 / (now - begin))
                begin = now
            done += got
    finally:
        libc.syscall(ctypes.c_long(IO_DESTROY), context)
    return rates


@contextmanager
def poured(to: Path, kilobytes: int = 60000) -> Iterator[None]:
    """Record all requests to a file meanwhile: more than the kernel's buffer holds."""
    if not EVENTS.exists():
        run("mount", "-t", "tracefs", "tracefs", str(TRACING))
    (TRACING / "trace").write_text("")
    (TRACING / "buffer_size_kb").write_text(str(kilobytes))
    over = threading.Event()
    pipe = os.open(TRACING / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def pour() -> None:
        with to.open("wb") as file:
            last = False
            while not last:
                last = over.wait(0.02)
                try:
                    while piece := os.read(pipe, 1 << 16):
                        file.write(piece)
                except BlockingIOError:
                    pass

    reader = threading.Thread(target=pour)
    reader.start()
    for event in RECORDED:
        (EVENTS / event / "enable").write_text("1")
    try:
        yield
    finally:
        (EVENTS / "enable").write_text("0")
        over.set()
        reader.join()
        os.close(pipe)
        (TRACING / "trace").write_text("")
        (TRACING / "buffer_size_kb").write_text("8")


def life(fs: str, start: str, size: int, writes: int, marks: int, to: Path) -> Result:
    """mkfs, a file of `size` written in order, `writes` overwrites, the checker; recorded in `to`."""
    result = Result()
    options = [word for option in STARTS[start] for word in ("--profile-option", option)]
    with (
        ram_disk(BACKING) as dev,
        poured(to),
        timed_disk("overwrites", TIB, dev, PROFILE, *options) as disk,
    ):
        run(*TOOLS[fs].mkfs, *MKFS[fs], disk)
        with mounted(disk, fs, MOUNT[fs]) as top:
            fill = Buffer(4 * MIB)
            fill.view[:] = random.Random(2).randbytes(4 * MIB)
            with opened(f"{top}/database", DIRECT | os.O_CREAT) as fd:
                for at in range(0, size, 4 * MIB):
                    if os.pwrite(fd, fill.view, at) != 4 * MIB:
                        raise Failed(f"a short write at {at}")
                os.fsync(fd)
                result.per_s = overwrite(fd, size, writes, marks, seed=7)
                os.fsync(fd)
            figures = device_stats("overwrites")
        run(*TOOLS[fs].check, disk)
        later = device_stats("overwrites")
    result.memory = max(sum(stats["mem"].values()) for stats in (figures, later))  # type: ignore[attr-defined]
    result.overwritten = writes
    return result


def sim_options(start: str) -> list[str]:
    return [word for option in STARTS[start] for word in ("--option", option)]
