# SPDX-License-Identifier: GPL-2.0
"""A day made to the numbers of "A File System Tracing Package for Berkeley UNIX" (Zhou, Da Costa, Smith).

Table 2's records and bytes, Table 3's sizes, and what the text says of sessions and lifetimes. Where it gives
a share, the day has so many. The rate's peak is not in it: 3.7 MB/s for two minutes is more than was read all
day.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

from davidlib.trace import tracefile

SECOND = 1_000_000_000
MS = SECOND // 1000
DAY = (9 * 60 + 46) * 60 * SECOND
COUNTS = {
    "create": 6533,
    "open": 87664,
    "close": 94153,
    "read": 220579,
    "write": 82266,
    "delete": 6337,
    "rename": 168,
    "fork": 7633,
    "vfork": 7023,
    "exec": 11641,
    "exit": 14591,
}
RECORDS = 538588
BYTES_READ, BYTES_WRITTEN = 385646844, 204970844
SHARED, ACTIVE = 7977, 189
SIZES = [
    (20, 35551, 18191),
    (512, 47069, 1076),
    (1024, 42847, 20946),
    (4096, 18401, 3332),
    (6144, 22876, 22979),
    (8192, 4462, 1756),
]  # bytes; how many reads, how many writes
WRITERS = 22000  # sessions that are opened for writing
NR = {"read": 0, "write": 1, "open": 2, "close": 3, "execve": 59, "rename": 82, "creat": 85, "unlink": 87}


def sizes(column: int, calls: int, total: int) -> Iterator[int]:
    """The table's sizes, and others so that the sum is right, well mixed."""
    known = [size for size, *counts in SIZES for _ in range(counts[column])]
    rest, room = calls - len(known), total - sum(known)
    others = [room // rest - 60 + (i * 37) % 121 for i in range(rest)]
    others[-1] += room - sum(others)
    every = known + others
    # A step without a common divisor takes each once.
    step = 7919
    return (every[i * step % calls] for i in range(calls))


def per_session(calls: int, sessions: int, few: float, usual: int) -> list[int]:
    """Calls of each session: the share @few of them has @usual, the others all that is left."""
    many = sessions - round(few * sessions)
    left = calls - usual * (sessions - many)
    busy = [left // many + (i < left % many) for i in range(many)]
    result = [usual] * (sessions - many)
    step = (sessions - many) // many
    for i, n in enumerate(busy):
        result.insert(i * (step + 1), n)
    return result


def lifetimes() -> list[int]:
    """37 % below 1 s, 56.7 % below 3 s; 26.7 % above 10 s, 12.7 % above a minute, 2.86 % above ten."""
    ended = COUNTS["exit"]
    edges = [
        (0.37, 300 * MS, 900 * MS),
        (0.567, 1100 * MS, 2900 * MS),
        (1 - 0.267, 3500 * MS, 9500 * MS),
        (1 - 0.127, 25 * SECOND, 55 * SECOND),
        (1 - 0.0286, 70 * SECOND, 500 * SECOND),
        (1.0, 700 * SECOND, 3000 * SECOND),
    ]
    lives: list[int] = []
    for share, low, high in edges:
        n = round(share * ended) - len(lives)
        lives += [low + (high - low) * i // n for i in range(n)]
    return lives


class Day:
    def __init__(self) -> None:
        self.events: list[tuple[int, int, tuple]] = []  # time, order, what
        self.reads = sizes(0, COUNTS["read"], BYTES_READ)
        self.writes = sizes(1, COUNTS["write"], BYTES_WRITTEN)
        self.short = cycle([3 * MS, 5 * MS, 2 * MS, 4 * MS])
        self.next_fd: dict[int, int] = {}

    def add(self, time: int, *what: object) -> None:
        self.events.append((time, len(self.events), what))

    def call(
        self, time: int, took: int, pid: int, name: str, result: int, args: tuple[int, ...], *paths: str
    ) -> None:
        self.add(time + took, "call", pid, name, time, result, args, paths)

    def session(
        self,
        pid: int,
        start: int,
        length: int,
        index: int,
        path: str,
        made: bool,
        writer: bool,
        calls: int,
        close: bool,
    ) -> None:
        fd = self.next_fd.get(pid, 3)
        self.next_fd[pid] = fd + 1
        if made:
            self.call(start, 0, pid, "creat", fd, (0, 0o644), path)
        else:
            self.call(start, 0, pid, "open", fd, (0, 1 if writer else 0, 0), path)
        each = max(length // (calls + 1), 1)
        for i in range(calls):
            size = next(self.writes if writer else self.reads)
            took = 25 * MS if (index + i) % 20 == 0 else next(self.short)
            self.call(
                start + each * (i + 1) - min(took, each),
                min(took, each),
                pid,
                "write" if writer else "read",
                size,
                (fd, 0, size),
            )
        if close:
            self.call(start + length, 0, pid, "close", 0, (fd,))


def make() -> Day:
    day = Day()
    born = COUNTS["fork"] + COUNTS["vfork"]
    minutes = DAY // (60 * SECOND)
    noon = 200
    # How many are born in each minute: 189 in one, about 25 in the others. They do all in their first minute.
    births = [noon] * ACTIVE
    births += [
        minute for i in range(born - ACTIVE) if (minute := i * (minutes - 1) // (born - ACTIVE)) >= 0
    ]
    births = [minute + (minute >= noon) if i >= ACTIVE else minute for i, minute in enumerate(births)]
    lives = lifetimes()
    # Those with long lives are born early enough to end.
    order = sorted(range(born), key=lambda i: births[i])
    life: dict[int, int] = {}
    alive = born - len(lives)
    longest = sorted(lives, reverse=True)
    late = order[born - alive :]
    for i, process in enumerate(order[: born - alive]):
        life[process] = longest[i]
    sessions = plan(born, late, life)
    spread(day, births, life, sessions)
    return day


def plan(born: int, late: list[int], life: dict[int, int]) -> list[list[int]]:
    """The sessions of each process, by how long they take: 70 % below 150 ms, 17 % above 350 ms."""
    total = COUNTS["create"] + COUNTS["open"]
    found: list[list[int]] = [[] for _ in range(born)]
    closed = COUNTS["close"]
    long, medium = round(0.17 * closed), round(0.13 * closed)
    for process in late:
        found[process].append(0)
    patient = [process for process, length in life.items() if length > 25 * SECOND]
    for i in range(long):
        found[patient[i % len(patient)]].append(400 * MS + (i * 7919) % (2000 * MS))
    slow = [process for process, length in life.items() if length > 3 * SECOND]
    for i in range(medium):
        found[slow[i % len(slow)]].append(160 * MS + (i * 7919) % (180 * MS))
    everyone = list(life)
    for i in range(total - long - medium - len(late)):
        found[everyone[i % len(everyone)]].append(20 * MS + (i * 7919) % (20 * MS))
    return found


def spread(day: Day, births: list[int], life: dict[int, int], sessions: list[list[int]]) -> None:
    total = COUNTS["create"] + COUNTS["open"]
    readers = total - WRITERS
    reads = iter(per_session(COUNTS["read"], readers, 0.97, 2))
    writes = iter(per_session(COUNTS["write"], WRITERS, 0.87, 1))
    opened, left_open = 0, total - COUNTS["close"]
    plain = 0
    for process, (minute, lengths) in enumerate(zip(births, sessions, strict=True)):
        pid, start = process + 100, minute * 60 * SECOND + (process * 7919) % (9 * SECOND)
        day.add(start, "fork", pid, 0x4100 if process < COUNTS["vfork"] else 0)
        if process < COUNTS["exec"]:
            day.call(start + 1, 0, pid, "execve", 0, (), f"/bin/command{process % 40}")
        at = start + 2
        # Several at once fit into a short life.
        room = (life.get(process, 60 * SECOND) - 200 * MS) // max(len(lengths), 1)
        for length in lengths:
            writer = opened * WRITERS // total != (opened + 1) * WRITERS // total
            made = writer and plain_made(opened, total)
            if made:
                path = f"/tmp/made{opened}"
            else:
                path = f"/usr/shared{plain % SHARED}" if plain < 2 * SHARED else f"/usr/file{plain}"
                plain += 1
            stays = process not in life and left_open > 0
            left_open -= stays
            took = length or 30 * MS
            day.session(
                pid, at, took, opened, path, made, writer, next(writes if writer else reads), not stays
            )
            at += min(room, took + MS, 400 * MS)
            opened += 1
        if process < COUNTS["delete"]:
            day.call(at, 0, pid, "unlink", 0, (), f"/tmp/gone{process}")
        elif process < COUNTS["delete"] + COUNTS["rename"]:
            day.call(at, 0, pid, "rename", 0, (), f"/tmp/old{process}", f"/tmp/new{process}")
        if process in life:
            day.add(start + life[process], "exit", pid)


def plain_made(opened: int, total: int) -> bool:
    """Of the sessions that write, so many that all files are created that should be."""
    number = opened * WRITERS // total
    return number * COUNTS["create"] // WRITERS != (number + 1) * COUNTS["create"] // WRITERS


def frames(names: dict[int, str]) -> Iterator[bytes]:
    trace = tracefile.TraceFile("synthetic")
    trace.record(tracefile.TASK, 1, 1, 1, 1)

    def steps() -> Iterator[None]:
        for time, _, what in sorted(make().events):
            time += 1
            match what[0]:
                case "fork":
                    trace.record(tracefile.FORK, 1, what[1], time, time, args=(what[2],))
                case "exit":
                    trace.record(tracefile.EXIT, what[1], entry=time, exit=time)
                case _:
                    _, pid, name, start, result, args, paths = what
                    blobs = [(tracefile.PATH + i, path.encode()) for i, path in enumerate(paths)]
                    trace.call(pid, NR[name], start + 1, time, result, args, 0, blobs)
            yield

    yield from tracefile.frames(trace, names, steps())


__all__ = ["ACTIVE", "BYTES_READ", "BYTES_WRITTEN", "COUNTS", "RECORDS", "SHARED", "SIZES", "frames"]
