# SPDX-License-Identifier: GPL-2.0
"""Disks are created, suspended, resumed, reloaded and removed at random by several processes, while the
device below one of them is suspended, slow or fails. Nobody waits for a device that is not below his own
disk, and who waits for his own goes on when that is whole again. DAVID_SCALE=full does it 2,000 times.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cases import case
from davidlib.util import UserError
from helpers import devmapper, raw
from helpers.failing import FAILS
from helpers.guest import Failed, device_stats, dm, loop_disk, mapped, remove, run, say, swap_table
from helpers.planted import must_fail, planted
from helpers.poolbox import made_sharing
from helpers.raw import BLOCK
from helpers.units import FULL, GIB, MIB

FORK = multiprocessing.get_context("fork")
OPERATIONS = 2000 if FULL else 120
BACKING, SIZE = 24 * MIB, GIB
ROUNDS_LEAST = 15 if FULL else 3
EACH_ROUND = 8  # operations on each other device's disks, while one device does not answer
SOON = 2.0 if FULL else 1.0  # seconds until somebody waits for that, most times
PAUSE = 0.01 if FULL else 0.04  # between two operations, at most
LIMIT = 120.0  # seconds that these may take: the machine may be busy
OPERATORS = 2  # processes that operate a disk; one more does I/O
KINDS = ("create", "remove", "suspend", "resume", "reload", "load", "message", "error")
WEIGHTS = (30, 12, 12, 6, 12, 5, 12, 2)
OFTEN = ("create", "remove", "suspend", "reload")  # each of these is done, in however short a time
TROUBLES = ("suspended", "slow", "failing", "failing writes", "slow and suspended")
RULE = "sectors:8-15"
MESSAGES = ("stats", f"raw add {RULE}", f"raw remove {RULE}", "raw list", "content text", "mode speedup")
MESSAGES += ("stack 7:77 1 7:78 0", "pack")


@dataclass
class Disk:
    name: str
    lower: str  # the device that gets into trouble
    backing: str
    words: str
    fails: bool  # it may fail: what lies on it can be opened again

    def table(self, rng: random.Random, fake: bool) -> str:
        if not fake:
            return f"0 {BACKING >> 9} linear {self.backing} 0"
        words = f"classify={rng.choice(('keep', 'data', 'auto', 'implicit'))} {self.words}".split()
        return f"0 {SIZE >> 9} david {self.backing} {len(words)} {' '.join(words)}"


class Board:
    """What each process does, in memory that all see. Each writes to its own places only."""

    def __init__(self, processes: int) -> None:
        self.since = FORK.RawArray("d", processes)  # 0: between two operations
        self.kind = FORK.RawArray("i", processes)
        self.done = FORK.RawArray("q", processes)
        self.longest = FORK.RawArray("d", processes)
        self.good = [FORK.RawArray("q", len(KINDS)) for _ in range(processes)]

    def begin(self, me: int, kind: int) -> None:
        self.kind[me] = kind
        self.since[me] = time.monotonic()

    def end(self, me: int, good: bool) -> None:
        self.longest[me] = max(self.longest[me], time.monotonic() - self.since[me])
        self.since[me] = 0.0
        self.done[me] += 1
        if self.kind[me] < len(KINDS):
            self.good[me][self.kind[me]] += good


def operate(disk: Disk, kind: str, rng: random.Random, fake: bool) -> bool:
    """True: it was done. What a device in trouble refuses is refused."""
    flags = [flag for flag in ("--noflush", "--nolockfs") if rng.randrange(2)]
    if kind == "create":
        return devmapper.output("create", disk.name, "--table", disk.table(rng, fake)) is not None
    if kind == "remove":
        return devmapper.output("remove", disk.name) is not None
    if kind == "resume":
        return devmapper.output("resume", disk.name) is not None
    if kind == "message":
        if rng.randrange(3) == 0:
            return bool(device_stats(disk.name))
        return devmapper.output("message", disk.name, "0", *rng.choice(MESSAGES).split()) is not None
    if kind in ("reload", "load", "error"):
        table = f"0 {SIZE >> 9} error" if kind == "error" else disk.table(rng, fake)
        if devmapper.output("load", disk.name, "--table", table) is None:
            return False
        if kind == "load":
            return True
    good = devmapper.output("suspend", *flags, disk.name) is not None
    time.sleep(rng.random() / 50)
    # Somebody else may have resumed it, or removed it.
    return devmapper.output("resume", disk.name) is not None and good


def operator(disk: Disk, board: Board, me: int, fake: bool, stopped: Callable[[], bool]) -> None:
    rng = random.Random(f"{disk.name} {me}")
    while not stopped():
        kind = rng.choices(KINDS, WEIGHTS)[0]
        board.begin(me, KINDS.index(kind))
        good = False
        with suppress(UserError, OSError, Failed):
            good = operate(disk, kind, rng, fake)
        board.end(me, good)
        time.sleep(rng.random() * PAUSE)


def user(disk: Disk, board: Board, me: int, stopped: Callable[[], bool]) -> None:
    """I/O, whenever there is a disk."""
    rng = random.Random(f"{disk.name} {me}")
    pool = rng.randbytes(MIB)
    while not stopped():
        with suppress(OSError, Failed), raw.opened(f"/dev/mapper/{disk.name}") as fd:
            for _ in range(rng.randrange(1, 20)):
                at = rng.randrange(256) * BLOCK
                board.begin(me, len(KINDS))
                try:
                    what = rng.randrange(6)
                    if what == 0:
                        os.fsync(fd)
                    elif what == 1:
                        raw.discard(fd, at, BLOCK)
                    elif what == 2:
                        raw.read(fd, BLOCK, at)
                    else:
                        source = rng.randrange(MIB // BLOCK - 4) * BLOCK
                        raw.write(fd, pool[source : source + rng.randrange(1, 4) * BLOCK], at)
                finally:
                    board.end(me, True)
        time.sleep(0.01)


def asker(names: list[str], board: Board, me: int, stopped: Callable[[], bool]) -> None:
    """Figures of all disks, also of those whose device does not answer."""
    while not stopped():
        for name in names:
            board.begin(me, len(KINDS))
            with suppress(UserError, OSError):
                device_stats(name)
            board.end(me, True)
        time.sleep(0.02)


class Crowd:
    """All processes. The last one asks for figures, and belongs to no disk."""

    def __init__(self, disks: list[Disk], fake: bool) -> None:
        works: list[tuple[str, Callable[..., None], tuple[object, ...]]] = []
        for disk in disks:
            works += [(disk.lower, operator, (disk, fake))] * OPERATORS + [(disk.lower, user, (disk,))]
        works.append(("", asker, ([disk.name for disk in disks],)))
        self.names = [disk.name for disk in disks]
        self.lowers = [lower for lower, _, _ in works]
        self.operates = [work is operator for _, work, _ in works]
        self.board = board = Board(len(works))
        self.stop = FORK.Event()
        self.all = []
        for me, (_, work, args) in enumerate(works):
            first, *rest = args
            process = FORK.Process(target=work, args=(first, board, me, *rest, self.stop.is_set), daemon=True)
            process.start()
            self.all.append(process)

    def resume_all(self) -> None:
        """A disk that cannot be resumed, as its store has failed, answers with errors."""
        for name in self.names:
            if dm.exists(name) and devmapper.output("resume", name) is None:
                devmapper.output("load", name, "--table", f"0 {SIZE >> 9} error")
                devmapper.output("resume", name)

    def operations(self) -> int:
        return sum(done for done, yes in zip(self.board.done, self.operates, strict=True) if yes)

    def stuck(self) -> str:
        told = []
        for me, process in enumerate(self.all):
            since = self.board.since[me]
            if not since or time.monotonic() - since < 2:
                continue
            kind = (*KINDS, "I/O or figures")[self.board.kind[me]]
            where = "?"
            with suppress(OSError):
                lines = Path(f"/proc/{process.pid}/stack").read_text().splitlines()[:12]
                where = " < ".join(line.split()[1].partition("+")[0] for line in lines)
            told.append(f"{self.lowers[me] or 'asker'}: {kind} for {time.monotonic() - since:.0f} s: {where}")
        return "; ".join(told)

    def others_go_on(self, lower: str, limit: float) -> None:
        """Each group of processes whose disk does not lie on `lower`, and who asks of all of them."""
        self.somebody_waits(lower)
        before = list(self.board.done)
        deadline = time.monotonic() + limit
        groups = {each for each in self.lowers if each != lower}

        def behind() -> set[str]:
            return {
                group
                for group in groups
                if sum(
                    self.board.done[me] - before[me]
                    for me, each in enumerate(self.lowers)
                    if each == group and (self.operates[me] or not group)
                )
                < EACH_ROUND
            }

        while waiting := behind():
            if time.monotonic() > deadline:
                raise Failed(f"{lower} does not answer, and {sorted(waiting)} wait for it: {self.stuck()}")
            time.sleep(0.01)

    def somebody_waits(self, lower: str) -> None:
        """If `lower` answers nobody. What is slow or fails may hold up nobody for long."""
        deadline = time.monotonic() + SOON
        mine = [me for me, each in enumerate(self.lowers) if each == lower and self.operates[me]]
        while time.monotonic() < deadline:
            since = [self.board.since[me] for me in mine]
            if any(each and time.monotonic() - each > SOON / 5 for each in since):
                return
            time.sleep(0.01)

    def all_go_on(self, limit: float) -> None:
        """Each process ends what it was at."""
        before = list(self.board.done)
        busy = [me for me in range(len(self.all)) if self.board.since[me]]
        deadline = time.monotonic() + limit
        while any(self.board.done[me] == before[me] for me in busy):
            if time.monotonic() > deadline:
                raise Failed(f"all devices are whole, and these wait: {self.stuck()}")
            time.sleep(0.01)

    def finish(self, limit: float) -> None:
        self.stop.set()
        deadline = time.monotonic() + limit
        # Who does I/O may wait until somebody resumes the disk: those who operate it end first.
        for me in sorted(range(len(self.all)), key=lambda each: not self.operates[each]):
            if not self.operates[me]:
                self.resume_all()
            self.all[me].join(max(deadline - time.monotonic(), 0.1))
        if hung := sum(process.is_alive() for process in self.all):
            raise Failed(f"{hung} processes do not end: {self.stuck()}")
        if wrong := [process.exitcode for process in self.all if process.exitcode]:
            raise Failed(f"processes ended with {wrong}")


@contextmanager
def trouble(lower: str, loop: str, kind: str) -> Iterator[None]:
    def table(words: str) -> str:
        return f"0 {BACKING >> 9} {words}"

    broken = {
        "slow": f"delay {loop} 0 60",
        "slow and suspended": f"delay {loop} 0 60",
        "failing": "error",
        "failing writes": f"flakey {loop} 0 0 3600 1 error_writes",
    }
    if kind in broken:
        swap_table(lower, table(broken[kind]))
    if kind.endswith("suspended"):
        run("dmsetup", "suspend", "--noflush", "--nolockfs", lower)
    try:
        yield
    finally:
        if kind in broken:
            run("dmsetup", "load", lower, "--table", table(f"linear {loop} 0"))
            run("dmsetup", "suspend", "--noflush", "--nolockfs", lower)
        run("dmsetup", "resume", lower)


def hang(operations: int, fake: bool = True, limit: float = LIMIT) -> None:
    rng = random.Random(operations)
    with ExitStack() as stack:
        loops = {}
        for lower in ("lower0", "lower1", "lower2", "lower3"):
            prepare = made_sharing if fake and lower == "lower2" else id
            loops[lower] = stack.enter_context(loop_disk(BACKING, prepare=prepare))
            stack.enter_context(mapped(lower, f"0 {BACKING >> 9} linear {loops[lower]} 0"))
        # A fake disk on a fake disk: the lower one is suspended, too.
        middle = f"0 {SIZE >> 9} david /dev/mapper/lower3 1 classify=keep" if fake else (
            f"0 {BACKING >> 9} linear /dev/mapper/lower3 0")  # fmt: skip
        stack.enter_context(mapped("middle", middle))
        disks = [
            Disk("h0", "lower0", "/dev/mapper/lower0", "", True),
            Disk("h1", "lower1", "/dev/mapper/lower1", "exact=1 raw=sectors:0-7", True),
            Disk("h2a", "lower2", "/dev/mapper/lower2", "pool=a", True),
            Disk("h2b", "lower2", "/dev/mapper/lower2", "pool=b", True),
            Disk("h3", "lower3", "/dev/mapper/middle", "", False),
        ]
        crowd = Crowd(disks, fake)
        rounds = 0
        try:
            while crowd.operations() < operations or rounds < ROUNDS_LEAST:
                disk = rng.choice(disks)
                kind = rng.choice(TROUBLES if disk.fails else TROUBLES[:2])
                middle = not disk.fails and kind == "suspended" and rng.randrange(2)
                below = "middle" if middle else disk.lower
                with trouble(below, loops[disk.lower], kind):
                    crowd.others_go_on(disk.lower, limit)
                crowd.all_go_on(limit)
                rounds += 1
        finally:
            try:
                crowd.finish(limit)
            finally:
                for disk in disks:
                    if dm.exists(disk.name):
                        remove(disk.name)
        good = {kind: sum(each[n] for each in crowd.board.good) for n, kind in enumerate(KINDS)}
        longest = max(crowd.board.longest)
        did = f"{crowd.operations()} operations in {rounds} rounds, longest {longest:.1f} s"
        say(f"hangs: {did}; done: {good}")
        nothing = [kind for kind in OFTEN if not good[kind]]
        assert not nothing, f"never done: {nothing}"


@case(cpus=True, seldom=True, complaints=FAILS)
def nobody_waits_for_a_device_below_another_disk() -> None:
    if FULL:
        hang(OPERATIONS // 8, fake=False)  # the control: what the kernel does with other disks
    hang(OPERATIONS)


@case(planted=True, complaints=".")
def who_holds_a_lock_over_io_is_found() -> None:
    with planted("overio"), must_fail():
        hang(10000, limit=15)
