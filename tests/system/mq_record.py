# SPDX-License-Identifier: GPL-2.0
"""In the vm lab: in what order does Linux send requests to a disk? `make mq-orders` runs it.

  mq_record.py DIR

A fake disk of the kernel's, null_blk or scsi_debug, takes one command at a time, each for 20 ms or more.
Random requests go to it by libaio: three and more at once are plugged, one is not. The kernel's trace points
tell when each came, and when each command was sent. DIR/NAME.order gets both; tests/unit/mq-orders holds the
model to it.

Between a command's begin and end times are stretched or shrunk to those of a disk that takes exactly as
long as asked. A request that came while the kernel was choosing could have been seen by it or not: such a run
is repeated.
"""

import ctypes
import mmap
import os
import random
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

TRACING = Path("/sys/kernel/tracing")
SERVICE = 20_000_000  # ns
SPAN = 1 << 14  # sectors
PREAD, PWRITE, FDSYNC = 0, 1, 3
RWF_DSYNC = 2
IO_SETUP, IO_SUBMIT, IO_GETEVENTS = 206, 209, 208
EVENT = re.compile(
    r"^ *(\S+)-\d+ .* (\d+)\.(\d{6}): "
    r"block_(bio_queue|bio_backmerge|bio_frontmerge|rq_insert|rq_issue|rq_complete)"
    r": +\S+ (\w+) (.*)",
    re.MULTILINE,
)
PLACE = re.compile(r"(\d+) \+ (\d+) ")
libc = ctypes.CDLL(None, use_errno=True)

Batch = list[tuple[int, int, int, int]]  # of libaio: kind, sector, sectors, flags


@dataclass(frozen=True)
class Trial:
    name: str
    disk: str
    scheduler: str
    batches: int
    seed: int
    writes: int = 50  # percent
    fua: int = 0  # percent of the writes
    flushes: int = 0  # percent of the requests
    service: int = SERVICE
    longest: int = 8  # requests of a batch

    def words(self) -> str:
        """The model's parameters."""
        depth = "ncq_depth=1" if self.disk == "scsi" else "ncq_depth=8"  # SCSI gives the scheduler a budget
        whats = ("read_latency", "write_latency", "flush_overhead")
        times = ";".join(f"{what}={self.service}ns" for what in whats)
        queue = f"scheduler={self.scheduler};hw_depth=1;nr_requests=512;max_sectors=512;{depth}"
        return f"host=blk-mq;{queue};{times}"


TRIALS = [
    Trial("null-deadline", "null", "mq-deadline", 36, 1),
    Trial("null-deadline-writes", "null", "mq-deadline", 30, 2, writes=80, longest=12),
    Trial("null-deadline-deep", "null", "mq-deadline", 5, 6, writes=30, service=8_000_000, longest=70),
    Trial("null-deadline-flushes", "null", "mq-deadline", 24, 3, fua=15, flushes=12),
    Trial("null-deadline-late", "null", "mq-deadline", 24, 4, writes=15, service=60_000_000, longest=10),
    Trial("scsi-deadline", "scsi", "mq-deadline", 36, 5),
]


class Iocb(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_uint64), ("key", ctypes.c_uint32), ("rw_flags", ctypes.c_int32),
        ("opcode", ctypes.c_uint16), ("priority", ctypes.c_int16), ("fd", ctypes.c_uint32),
        ("buf", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("offset", ctypes.c_int64),
        ("reserved", ctypes.c_uint64), ("flags", ctypes.c_uint32), ("resfd", ctypes.c_uint32),
    ]  # fmt: skip


class Disk:
    """The requests of a process, by libaio."""

    def __init__(self, path: str) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_DIRECT)
        self.buffer = mmap.mmap(-1, 1 << 20)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.buffer))
        self.context = ctypes.c_uint64()
        self.sent = 0
        self.kept: list[Iocb] = []
        if libc.syscall(IO_SETUP, 1024, ctypes.byref(self.context)):
            raise OSError(ctypes.get_errno(), "io_setup")

    def submit(self, requests: Batch) -> None:
        blocks = [
            Iocb(opcode=op, fd=self.fd, buf=self.address, bytes=size * 512, offset=at * 512, rw_flags=flags)
            for op, at, size, flags in requests
        ]
        for block in blocks:
            if block.opcode == FDSYNC:
                block.buf = block.bytes = block.offset = 0
        pointers = (ctypes.POINTER(Iocb) * len(blocks))(*map(ctypes.pointer, blocks))
        self.kept += blocks
        if libc.syscall(IO_SUBMIT, self.context, len(blocks), pointers) != len(blocks):
            raise OSError(ctypes.get_errno(), "io_submit")
        self.sent += len(blocks)

    def wait(self) -> None:
        events = (ctypes.c_uint64 * (4 * self.sent))()
        if libc.syscall(IO_GETEVENTS, self.context, self.sent, self.sent, events, None) != self.sent:
            raise OSError(ctypes.get_errno(), "io_getevents")


def batches(trial: Trial) -> list[Batch]:
    rnd = random.Random(trial.seed)
    before = follow = 0
    result = []
    for _ in range(trial.batches):
        batch: Batch = []
        for _ in range(rnd.choice((1, rnd.randint(3, trial.longest)))):
            if rnd.randrange(100) < trial.flushes:
                batch.append((FDSYNC, 0, 0, 0))
                continue
            sectors = 8 * rnd.choice((1, 1, 2, 4, 16))
            sector = follow if rnd.randrange(3) else rnd.randrange(SPAN // 8) * 8
            if rnd.randrange(4) == 0 and before >= sectors:
                sector = before - sectors
            op = PWRITE if rnd.randrange(100) < trial.writes else PREAD
            before, follow = sector, sector + sectors
            flags = RWF_DSYNC if op == PWRITE and rnd.randrange(100) < trial.fua else 0
            batch.append((op, sector, sectors, flags))
        result.append(batch)
    return result


def wait_for_quiet(name: str) -> None:
    """The kernel, and whoever udev calls, read a new disk."""
    stat = Path("/sys/block", name, "stat")
    before = ""
    while stat.read_text() != before:
        before = stat.read_text()
        time.sleep(3)


def make(trial: Trial) -> str:
    """The fake disk; its name in /sys/block."""
    if trial.disk == "null":
        words = f"queue_mode=2 irqmode=2 completion_nsec={trial.service} hw_queue_depth=1 submit_queues=1"
        words += " gb=1 bs=512 max_sectors=512 memory_backed=1 cache_size=64"
        subprocess.run(["modprobe", "null_blk", *words.split()], check=True)
        name = "nullb0"
    else:
        words = f"ndelay={trial.service} max_queue=1 dev_size_mb=64 num_parts=0"
        subprocess.run(["modprobe", "scsi_debug", *words.split()], check=True)
        name = ""
        while not name:
            time.sleep(0.1)
            disks = Path("/sys/block").glob("sd*")
            found = [d.name for d in disks if (d / "device/model").read_text().startswith("scsi_debug")]
            name = found[0] if found and Path("/dev", found[0]).exists() else ""
    wait_for_quiet(name)
    return name


def set_queue(trial: Trial, name: str) -> None:
    """A new scheduler, that knows nothing of what was before."""
    queue = Path("/sys/block", name, "queue")
    for what, value in (("scheduler", "none"), ("scheduler", trial.scheduler), ("nr_requests", "512"),
                        ("wbt_lat_usec", "0"), ("max_sectors_kb", "256")):  # fmt: skip
        if (queue / what).exists():
            (queue / what).write_text(value)


def unmake(trial: Trial) -> None:
    """udev may still read the disk, as it was open for writing."""
    module = {"null": "null_blk", "scsi": "scsi_debug"}[trial.disk]
    while subprocess.run(["modprobe", "-r", module], stderr=subprocess.DEVNULL).returncode:
        time.sleep(0.2)


@dataclass
class Clock:
    """The kernel's time, as that of a disk that takes exactly `service` for each command."""

    service: int
    ends: list[int]  # of the commands
    known: int = 10**9  # the time here
    at: int = 0  # and the kernel's then
    busy: bool = False
    done: int = 0

    def event(self, now: int, issue: bool) -> None:
        """A command begins or ends."""
        if not issue:
            self.known += self.service
            self.done += 1
        self.busy, self.at = issue, now

    def __call__(self, now: int) -> int:
        since = now - self.at
        if self.busy:
            return self.known + since * self.service // (self.ends[self.done] - self.at)
        self.known += since if self.at else 0
        self.at = now
        return self.known


@dataclass
class Recording:
    lines: list[str] = field(default_factory=list)
    raced: bool = False  # a request came while the kernel chose


@dataclass(frozen=True)
class Event:
    now: int
    what: str
    flags: str
    sector: int
    sectors: int
    foreign: bool  # a request of another process

    def op(self) -> int:
        return 2 if not self.sectors else 1 if "W" in self.flags else 0


def read_events() -> list[Event]:
    events = []
    for match in EVENT.finditer((TRACING / "trace").read_text()):
        task, seconds, micros, what, flags, rest = match.groups()
        place = PLACE.search(rest + " ")
        sectors = int(place[2]) if place else 0
        if what == "rq_complete" and not sectors and flags != "FF":
            continue  # what waited for a flush ends with it
        events.append(Event(
            int(seconds) * 10**9 + int(micros) * 1000, what, flags, int(place[1]) if place and sectors else 0,
            sectors, what == "bio_queue" and sectors > 0 and task != "python3",
        ))  # fmt: skip
    return events


def follow(trial: Trial, sent: list[Batch]) -> Recording:
    """Flushes are not in the plan: libaio has workers for them, which do not plug."""
    events = read_events()
    batches = [[request for request in batch if request[0] != FDSYNC] for batch in sent]
    plan = [(i + 1 if len(sent[i]) >= 3 else 0, last == len(batch))
            for i, batch in enumerate(batches) for last in range(1, len(batch) + 1)]  # fmt: skip
    result = Recording(raced=any(event.foreign for event in events))
    clock = Clock(trial.service, [event.now for event in events if event.what == "rq_complete"])
    plugged = visible = issued = 0  # sectors
    coming = False  # a request that the scheduler has not yet
    for event in events if not result.raced else []:
        request = f"{event.op()} {event.sector} {event.sectors}"
        if event.what in ("rq_issue", "rq_complete"):
            clock.event(event.now, event.what == "rq_issue")
            result.raced |= coming
        if event.what in ("bio_backmerge", "bio_frontmerge", "rq_insert"):
            coming = False
        if event.what == "rq_issue":
            issued += event.sectors
            result.lines.append(f"i {request}")
        if event.what != "bio_queue":
            continue
        result.raced |= not clock.busy and visible != issued
        at, (plug, last) = clock(event.now), plan.pop(0) if event.sectors else (0, False)
        result.lines.append(f"q {at} {request} {int('F' in event.flags.partition('W')[2])} {plug}")
        plugged += event.sectors
        coming = last and not result.raced
        if last or not plug:
            visible, plugged = visible + plugged, 0
        if plug and last:
            result.lines.append(f"u {at} {plug}")
    return result


def enable_events(enable: str) -> None:
    for event in ("bio_queue", "bio_backmerge", "bio_frontmerge", "rq_insert", "rq_issue", "rq_complete"):
        (TRACING / f"events/block/block_{event}/enable").write_text(enable)


def record(trial: Trial) -> Recording:
    name = make(trial)
    disk = Disk(f"/dev/{name}")
    set_queue(trial, name)
    sent = batches(trial)
    rnd = random.Random(trial.seed)
    enable_events("1")
    (TRACING / "trace_clock").write_text("mono")
    (TRACING / "trace").write_text("")
    for batch in sent:
        disk.submit(batch)
        time.sleep(rnd.randrange(1, 5) * trial.service / 1e9)
    disk.wait()
    enable_events("0")
    os.close(disk.fd)
    result = follow(trial, sent)
    unmake(trial)
    return result


def main() -> None:
    subprocess.run(["udevadm", "control", "--exit"], stderr=subprocess.DEVNULL)
    for trial in TRIALS:
        recording = record(trial)
        while recording.raced:
            print(f"{trial.name}: a request came while the kernel chose; again", flush=True)
            recording = record(trial)
        text = "\n".join([f"# {trial.words()}", *recording.lines]) + "\n"
        Path(sys.argv[1], f"{trial.name}.order").write_text(text)
        print(f"{trial.name}: {len(recording.lines)} lines", flush=True)


main()
