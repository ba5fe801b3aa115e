# SPDX-License-Identifier: GPL-2.0
"""In the vm lab: in what order does Linux send requests to a disk? `make mq-orders` runs it.

  mq_record.py DIR [NAME...]

Of the trials below those for as many CPUs as the lab has, or those that are named.

A fake disk of the kernel's, null_blk or scsi_debug, takes so many commands at a time, each for 20 ms or more.
Random requests go to it by libaio: three and more at once are plugged, one is not. They come from one CPU, or
from any of several. The kernel's trace points tell when each request came, and when each command was sent.
DIR/NAME.order gets both; tests/unit/mq-orders holds the model to it.

Between the end of one command and of the next times are stretched or shrunk to those of a disk that takes
exactly as long as asked. A request that came while the kernel was choosing could have been seen by it or not:
such a run is repeated. So is one in which commands did not end in the order in which they began.

Other trials have more submitters than tags. Each is a thread with one request. They come at known times, away
from those at which commands end. So it is known who waits. What follows the end of a command has an order,
too. The threads are of SCHED_FIFO, so that they run in the order in which they are woken. The kernel's
workers are above them, so that the queue is run before a waiter adds to it. (Both orders happen on a machine;
the model has this one.)
"""

import contextlib
import ctypes
import mmap
import os
import random
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

TRACING = Path("/sys/kernel/tracing")
SERVICE = 20_000_000  # ns
SPAN = 1 << 14  # sectors
GUARD = 200_000  # ns: what is nearer than that may be in another order here
PREAD, PWRITE, FDSYNC = 0, 1, 3
RWF_DSYNC = 2
IO_SETUP, IO_SUBMIT, IO_GETEVENTS = 206, 209, 208
SLOT = 20_000_000  # ns: submitters come at multiples of it
OFFSET = SLOT * 3 // 8  # commands end at multiples of this behind
EVENTS = ("bio_queue", "bio_backmerge", "bio_frontmerge", "getrq", "rq_insert", "rq_issue", "rq_complete")
EVENT = re.compile(
    rf"^ *(\S+)-(\d+) +\[(\d+)\] .* (\d+)\.(\d{{6}}): block_({'|'.join(EVENTS)}): +\S+ (\w+) (.*)",
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
    queues: int = 1  # of the hardware
    tags: int = 1  # of each
    depth: int = 0  # commands that the drive takes; 0: as many as there are tags
    cpus: int = 1  # that requests come from
    has_fua: bool = True  # the drive
    submitters: int = 0  # threads with a request each, instead of libaio
    requests: int = 512  # tags of the scheduler

    def at_once(self) -> int:
        return self.depth or self.queues * self.tags

    def words(self) -> str:
        """The model's parameters."""
        # SCSI gives the scheduler a budget
        depth = f"ncq_depth={self.depth or 8 * self.queues * self.tags}"
        whats = ("read_latency", "write_latency", "flush_overhead")
        times = ";".join(f"{what}={self.service}ns" for what in whats)
        queue = f"scheduler={self.scheduler};hw_depth={self.tags};nr_requests={self.requests}"
        queue += f";max_sectors=512;{depth}"
        if not self.has_fua:
            queue += ";fua=no"
        if self.queues > 1:
            queue += f";hw_queues={self.queues}"
        if self.at_once() > 1:
            queue += f";units={self.at_once()}"
        return f"host=blk-mq;{queue};{times}"


TRIALS = [
    Trial("null-deadline", "null", "mq-deadline", 36, 1),
    Trial("null-deadline-writes", "null", "mq-deadline", 30, 2, writes=80, longest=12),
    Trial("null-deadline-deep", "null", "mq-deadline", 5, 6, writes=30, service=8_000_000, longest=70),
    Trial("null-deadline-flushes", "null", "mq-deadline", 24, 3, fua=15, flushes=12),
    Trial("null-deadline-late", "null", "mq-deadline", 24, 4, writes=15, service=60_000_000, longest=10),
    Trial("scsi-deadline", "scsi", "mq-deadline", 36, 5, depth=1),
    # Several commands at a time, hardware queues, CPUs
    Trial("null-deadline-tags", "null", "mq-deadline", 30, 11, tags=3, longest=12),
    Trial("null-deadline-queues", "null", "mq-deadline", 9, 12, queues=2, cpus=2, longest=10),
    Trial("scsi-deadline-deep", "scsi", "mq-deadline", 30, 14, tags=32, depth=3, longest=12),
    # Linux looks again every 3 ms whether the drive takes something, and remembers how often it did not
    Trial("scsi-none", "scsi", "none", 8, 15, tags=64, depth=1, service=2_500_000),
    # A FUA write is a write and a flush
    Trial("null-deadline-nofua", "null", "mq-deadline", 30, 16, fua=30, flushes=12, has_fua=False),
    # More submitters than tags: two are woken at a time; one is
    Trial("null-none-waits", "null", "none", 1, 21, tags=16, submitters=44, service=25 * SLOT + OFFSET),
    Trial("null-deadline-waits", "null", "mq-deadline", 1, 22, tags=2, submitters=50, requests=12,
          service=8 * SLOT + OFFSET),
]  # fmt: skip


class Iocb(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_uint64), ("key", ctypes.c_uint32), ("rw_flags", ctypes.c_int32),
        ("opcode", ctypes.c_uint16), ("priority", ctypes.c_int16), ("fd", ctypes.c_uint32),
        ("buf", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("offset", ctypes.c_int64),
        ("reserved", ctypes.c_uint64), ("flags", ctypes.c_uint32), ("resfd", ctypes.c_uint32),
    ]  # fmt: skip


class Submitter(threading.Thread):
    """One request, when it is told so."""

    def __init__(self, fd: int, request: tuple[int, int, int, int]) -> None:
        super().__init__(daemon=True)
        self.fd, self.request = fd, request
        self.go = threading.Lock()
        self.go.acquire()
        self.start()

    def run(self) -> None:
        op, sector, sectors, _flags = self.request
        buffer = mmap.mmap(-1, sectors * 512)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
        self.go.acquire()
        if op == PWRITE:
            os.pwritev(self.fd, [buffer], sector * 512)
        else:
            os.preadv(self.fd, [buffer], sector * 512)


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


def single_requests(trial: Trial) -> list[tuple[int, int, int, int]]:
    """Some lie behind others, so that they could be merged."""
    rnd = random.Random(trial.seed)
    follow = [0, 0]
    result = []
    for _ in range(trial.submitters):
        op = PWRITE if rnd.randrange(100) < trial.writes else PREAD
        sectors = 8 * rnd.choice((1, 1, 2, 4))
        sector = rnd.randrange(SPAN // 8) * 8 if rnd.randrange(3) else follow[op]
        follow[op] = sector + sectors
        result.append((op, sector, sectors, 0))
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
        words = f"queue_mode=2 irqmode=2 completion_nsec={trial.service}"
        words += f" hw_queue_depth={trial.tags} submit_queues={trial.queues}"
        words += f" fua={int(trial.has_fua)}"
        words += " gb=1 bs=512 max_sectors=512 memory_backed=1 cache_size=64"
        subprocess.run(["modprobe", "null_blk", *words.split()], check=True)
        name = "nullb0"
    else:
        words = f"ndelay={trial.service} max_queue={trial.tags} dev_size_mb=64 num_parts=0"
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
    values = [("scheduler", "none"), ("scheduler", trial.scheduler), ("wbt_lat_usec", "0")]
    values.append(("max_sectors_kb", "256"))
    if trial.scheduler != "none":
        values.append(("nr_requests", str(trial.requests)))
    if trial.disk == "scsi":
        values.append(("../device/queue_depth", str(trial.at_once())))
    for what, value in values:
        if what != "wbt_lat_usec" or (queue / what).exists():
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
    ends: list[int]  # of the commands, the kernel's time
    known: int = 10**9  # the time here, of the last event
    at: int = 0  # and the kernel's then
    due: list[int] = field(default_factory=list)  # when the commands under way end, here
    done: int = 0

    def event(self, now: int, issue: bool) -> None:
        """A command begins, which it does at the last event, or ends."""
        if issue:
            self.due.append(self.known + self.service)
        else:
            self.known = self.due.pop(0)
            self.done += 1
        self.at = now

    def __call__(self, now: int) -> int:
        since = now - self.at if self.at else 0
        if self.due:
            left = self.due[0] - self.known
            self.known += min(since * left // max(self.ends[self.done] - self.at, 1), left - 1)
        else:
            self.known += since
        self.at = now
        return self.known


@dataclass
class Recording:
    lines: list[str] = field(default_factory=list)
    raced: str = ""  # why its order may be another one


@dataclass(frozen=True)
class Event:
    now: int
    what: str
    flags: str
    sector: int
    sectors: int
    foreign: bool  # a request of another process
    cpu: int
    task: int

    def op(self) -> int:
        return 2 if not self.sectors else 1 if "W" in self.flags else 0

    def request(self) -> str:
        return f"{self.op()} {self.sector} {self.sectors}"


def read_events() -> list[Event]:
    events = []
    for match in EVENT.finditer((TRACING / "trace").read_text()):
        task, pid, cpu, seconds, micros, what, flags, rest = match.groups()
        place = PLACE.search(rest + " ")
        sectors = int(place[2]) if place else 0
        if what == "rq_complete" and not sectors and flags != "FF":
            continue  # what waited for a flush ends with it
        if what.startswith("rq") and not sectors and "F" not in flags:
            continue  # the driver's own
        events.append(Event(
            int(seconds) * 10**9 + int(micros) * 1000, what, flags, int(place[1]) if place and sectors else 0,
            sectors, what == "bio_queue" and sectors > 0 and task != "python3", int(cpu), int(pid),
        ))  # fmt: skip
    return events


class Follower:
    """Turns the kernel's events into a recording."""

    def __init__(self, trial: Trial, events: list[Event], plan: list[tuple[int, bool]]) -> None:
        self.trial, self.plan = trial, plan
        self.result = Recording()
        self.race(any(event.foreign for event in events), "another program read")
        self.clock = Clock(trial.service, [event.now for event in events if event.what == "rq_complete"])
        self.under_way: list[int] = []  # sectors where commands begin
        self.coming: Event | None = None  # a request that the scheduler has not yet
        self.batch: list[int] = []  # sectors where it begins, and those that were plugged with it
        self.plug = 0
        self.ended = 0  # when the last command did
        self.waiting: list[tuple[int, int]] = []  # with the scheduler: sectors, and who plugged them
        self.coming_since = 0  # when the request came that has no tag yet
        self.came: dict[int, int] = {}  # by task: how many commands had ended when its last request came
        self.woken: list[int] = []  # sectors of those that have got a tag since
        for event in events:
            if self.result.raced:
                return
            getattr(self, event.what)(event)

    def race(self, raced: bool, why: str) -> None:
        if raced:
            self.result.raced = why

    def check_coming(self, event: Event) -> None:
        coming, self.coming = self.coming, None
        itself = any(event.sector <= sector < event.sector + event.sectors for sector in self.batch)
        self.race(bool(coming) and event.now - coming.now < GUARD and not itself,
                  "a request came while the kernel chose")

    def rq_issue(self, event: Event) -> None:
        self.check_coming(event)
        itself = any(event.sector <= sector < event.sector + event.sectors for sector in self.woken)
        self.race(bool(self.woken) and not itself, "a waiter was faster than the queue")
        self.waiting = [(sector, plug) for sector, plug in self.waiting
                        if not event.sector <= sector < event.sector + event.sectors]  # fmt: skip
        self.clock.event(event.now, True)
        self.under_way.append(event.sector)
        self.result.lines.append(f"i {event.request()}")

    def rq_complete(self, event: Event) -> None:
        self.check_coming(event)
        near = self.trial.submitters and self.coming_since and event.now - self.coming_since < SLOT // 10
        self.race(bool(near), "a request came as a command ended")
        # The scheduler's waiters run between two ends: not if the machine stood still.
        near = self.trial.submitters and event.now - self.ended < SLOT // 10
        self.race(bool(near) and self.trial.scheduler != "none", "two commands ended")
        self.race(not self.under_way or self.under_way.pop(0) != event.sector, "a command was overtaken")
        if not self.result.raced:
            # Two queues that get tags at once are served by two CPUs, in either order.
            same = self.trial.queues == 1 and self.clock.due[0] == self.clock.known
            self.race(event.now - self.ended < GUARD and not same, "two commands ended")
            self.clock.event(event.now, False)
        self.ended = event.now
        self.woken = []

    def rq_insert(self, event: Event) -> None:
        self.waiting.append((event.sector, self.plug))
        self.bio_backmerge(event)

    def bio_backmerge(self, _event: Event) -> None:
        self.coming = None
        self.coming_since = 0

    bio_frontmerge = bio_backmerge

    def getrq(self, event: Event) -> None:
        if self.came.get(event.task) == self.clock.done:
            self.coming_since = 0
        if self.trial.submitters and self.came[event.task] < self.clock.done:
            self.woken.append(event.sector)
            self.result.lines.append(f"g {event.request()}")

    def bio_queue(self, event: Event) -> None:
        self.race(event.now - self.ended < GUARD, "a request came as a command ended")
        at, (plug, last) = self.clock(event.now), self.plan.pop(0) if event.sectors else (0, False)
        others = any(not plug or waiting != plug for _, waiting in self.waiting)
        room = self.trial.scheduler != "none" and len(self.under_way) < self.trial.at_once()
        self.race(others and room, "a request came while the kernel chose")
        fua = int("F" in event.flags.partition("W")[2])
        self.result.lines.append(f"q {at} {event.request()} {fua} {plug} {event.cpu}")
        if plug != self.plug or not plug:
            self.batch = []
        self.plug = plug
        self.came[event.task] = self.clock.done
        self.coming_since = event.now
        self.batch.append(event.sector)
        self.coming = event if last else None
        if plug and last:
            self.result.lines.append(f"u {at} {plug}")


def follow(trial: Trial, sent: list[Batch]) -> Recording:
    """Flushes are not in the plan: libaio has workers for them, which do not plug."""
    batches = [[request for request in batch if request[0] != FDSYNC] for batch in sent]
    plan = [(i + 1 if len(sent[i]) >= 3 else 0, last == len(batch))
            for i, batch in enumerate(batches) for last in range(1, len(batch) + 1)]  # fmt: skip
    return Follower(trial, read_events(), plan).result


def enable_events(enable: str) -> None:
    for event in EVENTS:
        (TRACING / f"events/block/block_{event}/enable").write_text(enable)


def run_batches(trial: Trial, path: str) -> list[Batch]:
    disk, sent = Disk(path), batches(trial)
    rnd = random.Random(trial.seed)
    for batch in sent:
        if trial.cpus > 1:
            os.sched_setaffinity(0, {rnd.randrange(trial.cpus)})
        disk.submit(batch)
        time.sleep(rnd.randrange(1, 5) * trial.service / trial.at_once() / 1e9)
    disk.wait()
    os.close(disk.fd)
    return sent


def workers_first() -> None:
    """The kernel's workers go before the submitters."""
    for comm in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            if comm.read_text().startswith("kworker/"):
                os.sched_setscheduler(int(comm.parent.name), os.SCHED_FIFO, os.sched_param(50))


def run_submitters(trial: Trial, path: str) -> list[Batch]:
    rnd = random.Random(trial.seed)
    fd = os.open(path, os.O_RDWR | os.O_DIRECT)
    requests = single_requests(trial)
    threads = [Submitter(fd, request) for request in requests]
    time.sleep(1)
    workers_first()
    at = time.monotonic_ns()
    for number, thread in enumerate(threads):
        # First there are enough to fill the queue, then about as many as it serves.
        full = number > trial.submitters // 2
        at += SLOT * (rnd.randrange(1, 2 * trial.service // trial.at_once() // SLOT + 2) if full else 1)
        time.sleep(max(at - time.monotonic_ns(), 0) / 1e9)
        thread.go.release()
    for thread in threads:
        thread.join()
    os.close(fd)
    return [[request] for request in requests]


def record(trial: Trial) -> Recording:
    name = make(trial)
    keeper = os.open(f"/dev/{name}", os.O_RDWR)  # udev reads a disk when the last writer is gone
    set_queue(trial, name)
    (TRACING / "trace").write_text("")
    sent = (run_submitters if trial.submitters else run_batches)(trial, f"/dev/{name}")
    result = follow(trial, sent)
    os.close(keeper)
    unmake(trial)
    return result


def main() -> None:
    subprocess.run(["udevadm", "control", "--exit"], stderr=subprocess.DEVNULL)
    # Once for all: the kernel patches itself, and not every emulator lets it do so unharmed.
    (TRACING / "trace_clock").write_text("mono")
    enable_events("1")
    names = sys.argv[2:] or [trial.name for trial in TRIALS if trial.cpus == os.cpu_count()]
    for trial in (trial for trial in TRIALS if trial.name in names):
        recording = record(trial)
        while recording.raced:
            print(f"{trial.name}: {recording.raced}; again", flush=True)
            trial = replace(trial, seed=trial.seed + 100)
            recording = record(trial)
        text = "\n".join([f"# {trial.words()}", *recording.lines]) + "\n"
        Path(sys.argv[1], f"{trial.name}.order").write_text(text)
        print(f"{trial.name}: {len(recording.lines)} lines", flush=True)


main()
