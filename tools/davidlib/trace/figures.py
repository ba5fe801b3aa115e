# SPDX-License-Identifier: GPL-2.0
"""What a finished trace says: tables and figures, each a function of the database.

Table 1 is the views bsd_* (docs/TRACE.md). Tables 2 and 3 and figures 1 to 4 are those of the tracing package
for 4.2BSD (Zhou, Da Costa, Smith). As there, files are counted, not devices, pipes and sockets.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from ..pages.tables import Cell, Curve, Table
from ..quantile import at_rank
from ..util import UserError

SECOND = 1_000_000_000
BLOCK = 4096
BINS = [(0, 40), (510, 520), (1020, 1030), (4090, 4100), (6140, 6150), (8190, 8200)]  # of Table 3
PEAK = 0.05  # a size that so many of the calls have
POINTS = 200  # of a figure over time, at most

# A regular file, or one of which nothing is known but that it was opened by name.
_FILES = "(f.mode IS NULL OR f.mode & 61440 = 32768)"
_DATA = f"FROM event e JOIN file f ON f.id = e.file WHERE {_FILES} AND result >= 0 AND nr IN "
_READS = "(SELECT nr FROM syscall WHERE does IN ('READ', 'PREAD'))"
_WRITES = "(SELECT nr FROM syscall WHERE does IN ('WRITE', 'PWRITE'))"
_COPIES = "(SELECT nr FROM syscall WHERE does IN ('COPY', 'SENDFILE', 'SPLICE'))"

def open_trace(path: Path) -> sqlite3.Connection:
    if not path.exists():
        raise UserError(f"there is no {path}")
    try:
        database = sqlite3.connect(f"file:{path.absolute()}?mode=ro", uri=True)
        database.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        database.execute("SELECT count(*) FROM event WHERE id = 0")
    except sqlite3.Error as error:
        raise UserError(f"{path} is no finished trace: {error}") from error
    return database


def _one(database: sqlite3.Connection, sql: str, *values: Cell) -> int:
    return database.execute(sql, values).fetchone()[0] or 0


def _percent(part: float, whole: float) -> float | None:
    return round(100 * part / whole, 2) if whole else None


def _span(database: sqlite3.Connection) -> int:
    """Nanoseconds from the first event to the last."""
    return _one(database, "SELECT max(start + ifnull(duration, 0)) - min(start) FROM event")


def about(database: sqlite3.Connection) -> Iterator[Table]:
    said = dict(database.execute("SELECT key, value FROM trace"))
    counted = dict(database.execute("SELECT key, value FROM balance"))
    rows: list[list[Cell]] = [
        [key, said[key]] for key in ("command", "host", "kernel", "method") if said.get(key)
    ]
    rows += [["seconds", round(_span(database) / SECOND, 6)], ["events", int(said["events"])]]
    rows += [
        [key, counted[key]]
        for key in ("unknown", "foreign", "unparsed", "lost", "untraced")
        if key in counted
    ]
    if "tracer.cpu-user-ns" in counted:
        used = int(counted["tracer.cpu-user-ns"]) + int(counted["tracer.cpu-system-ns"])
        rows.append(["tracer's CPU seconds", round(used / SECOND, 3)])
        rows.append(["tracer's bytes written", int(counted["tracer.stored-bytes"])])
    notes = [] if said.get("whole") == "yes" else [f"This trace is cut short: {said.get('problem')}."]
    yield Table("The trace", ["what", "value"], rows, notes)


def records(database: sqlite3.Connection) -> dict[str, int]:
    """Table 2's counts."""
    opens = "FROM ofd o JOIN file f ON f.id = o.file JOIN event e ON e.id = o.event WHERE " + _FILES
    created = "(e.nr = 85 OR o.flags & 64 AND o.size_open = 0)"
    done = "SELECT count(*) FROM event WHERE result = 0 AND nr IN"
    removals = "(SELECT nr FROM syscall WHERE does IN ('UNLINK', 'RMDIR'))"
    return {
        "create": _one(database, f"SELECT count(*) {opens} AND {created}"),
        "open": _one(database, f"SELECT count(*) {opens} AND NOT {created}"),
        "close": _one(database, f"SELECT count(*) {_DATA} (3)"),
        "read": _one(database, f"SELECT count(*) {_DATA} {_READS}"),
        "write": _one(database, f"SELECT count(*) {_DATA} {_WRITES}"),
        "delete": _one(database, f"{done} {removals}"),
        "rename": _one(
            database,
            f"{done} (SELECT nr FROM syscall WHERE does = 'RENAME')",
        ),
        "fork": _one(database, "SELECT count(*) FROM process WHERE how IN ('fork', 'clone')"),
        "vfork": _one(database, "SELECT count(*) FROM process WHERE how = 'vfork'"),
        "exec": _one(
            database,
            f"{done} (SELECT nr FROM syscall WHERE does = 'EXEC')",
        ),
        "exit": _one(database, "SELECT count(*) FROM process WHERE end IS NOT NULL"),
    }


def _shared(database: sqlite3.Connection) -> int:
    """Files that several processes have opened or used."""
    return _one(
        database,
        "SELECT count(*) FROM (SELECT o.file FROM session s JOIN ofd o ON o.id = s.ofd "
        "JOIN file f ON f.id = o.file "
        f"WHERE {_FILES} AND o.event IS NOT NULL GROUP BY o.file HAVING count(DISTINCT s.process) > 1)",
    )


def general(database: sqlite3.Connection) -> Iterator[Table]:
    counts = records(database)
    total, opens = sum(counts.values()), counts["create"] + counts["open"]
    rows: list[list[Cell]] = [["records", total, 100.0 if total else None]]
    rows += [[f"{kind} records", n, _percent(n, total)] for kind, n in counts.items()]
    shared = _shared(database)
    rows += [
        ["bytes read", _one(database, f"SELECT sum(result) {_DATA} {_READS}"), None],
        ["bytes written", _one(database, f"SELECT sum(result) {_DATA} {_WRITES}"), None],
        ["bytes of raw trace", _one(database, "SELECT sum(length) FROM event"), None],
        ["shared files", shared, _percent(shared, opens)],
        ["most active processes in a minute", max((n for _, n in _active(database)), default=0), None],
    ]
    copied = _one(database, f"SELECT sum(result) FROM event WHERE result > 0 AND nr IN {_COPIES}")
    if copied:  # 4.2BSD had no such calls
        rows.append(["bytes copied by the kernel", copied, None])
    notes = [
        "Percent of shared files are those of opens. A file is shared if several processes opened or used it."
    ]
    yield Table("Table 2. General statistics", ["what", "number", "percent"], rows, notes)


def _sizes(database: sqlite3.Connection, which: str) -> Counter[int]:
    return Counter(dict(database.execute(f"SELECT result, count(*) {_DATA} {which} GROUP BY result")))


def sizes(database: sqlite3.Connection) -> Iterator[Table]:
    reads, writes = _sizes(database, _READS), _sizes(database, _WRITES)
    rows: list[list[Cell]] = []
    for low, high in BINS:
        pair = [sum(n for size, n in found.items() if low <= size <= high) for found in (reads, writes)]
        rows.append(
            [
                f"{low}-{high}",
                pair[0],
                _percent(pair[0], reads.total()),
                pair[1],
                _percent(pair[1], writes.total()),
            ]
        )
    rows.append(["all", reads.total(), _percent(1, 1), writes.total(), _percent(1, 1)])
    columns = ["bytes", "reads", "percent", "writes", "percent"]
    yield Table("Table 3. I/O size distribution", columns, rows)
    peaks: list[list[Cell]] = []
    for name, found in (("read", reads), ("write", writes)):
        for size, n in found.most_common(12):
            if n >= PEAK * found.total():
                peaks.append([name, size, n, _percent(n, found.total())])
    yield Table("I/O sizes that are frequent", ["call", "bytes", "calls", "percent"], peaks)


def _steps(low: int, high: int) -> list[int]:
    """1, 2, 5, 10, ... from @low to the first past @high."""
    steps: list[int] = []
    power = 1
    while not steps or steps[-1] < high:
        steps += [step * power for step in (1, 2, 5) if step * power >= low]
        power *= 10
    return steps


def durations(database: sqlite3.Connection) -> Iterator[Table]:
    found = [
        sorted(
            row[0] for row in database.execute(f"SELECT duration {_DATA} {which} AND duration IS NOT NULL")
        )
        for which in (_READS, _WRITES)
    ]
    longest = max((times[-1] for times in found if times), default=0)
    rows: list[list[Cell]] = []
    for step in _steps(1000, longest):
        rows.append([step / 1e6, *(_percent(_below(times, step), len(times)) for times in found)])
    for name, times in zip(("read", "write"), found, strict=True):
        if times:
            middle = at_rank(times, 500) / 1e6
            rows.append(
                [
                    f"median of a {name}, ms",
                    middle if name == "read" else None,
                    middle if name == "write" else None,
                ]
            )
    yield Table(
        "Figure 1. Durations of reads and writes",
        ["at most, ms", "reads, %", "writes, %"],
        rows,
        curve=Curve(0, (1, 2), "took at most, ms", "share of the calls, %", log=True),
    )


def _below(ordered: list[int], limit: int) -> int:
    """How many are at most @limit."""
    low, high = 0, len(ordered)
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] <= limit:
            low = middle + 1
        else:
            high = middle
    return low


def _interval(database: sqlite3.Connection, usual: int) -> int:
    """Of a figure over time: the paper's, but not so long that a short trace has a few points only."""
    span = _span(database)
    return usual * SECOND if span >= 30 * usual * SECOND else max(span // POINTS, 1000)


def rates(database: sqlite3.Connection) -> Iterator[Table]:
    step = _interval(database, 120)
    read, written = (
        dict(database.execute(f"SELECT start / {step}, sum(result) {_DATA} {which} GROUP BY 1"))
        for which in (_READS, _WRITES)
    )
    rows: list[list[Cell]] = []
    for at in range(_span(database) // step + 1):
        rows.append(
            [
                round(at * step / SECOND, 6),
                *(round(all_of.get(at, 0) * SECOND / step) for all_of in (read, written)),
            ]
        )
    peaks = [
        _one(
            database,
            f"SELECT max(n) FROM (SELECT sum(result) AS n {_DATA} {which} GROUP BY start / {SECOND})",
        )
        for which in (_READS, _WRITES)
    ]
    notes = [f"Most bytes in a second: read {peaks[0]}, written {peaks[1]}."]
    counts = [_one(database, f"SELECT count(*) {_DATA} {which}") for which in (_READS, _WRITES)]
    totals = [sum(read.values()), sum(written.values())]
    if counts[1] and totals[1]:
        notes.append(f"Reads to writes {counts[0] / counts[1]:.2f}, bytes {totals[0] / totals[1]:.2f}.")
    yield Table(
        f"Figure 2. Transfer rate in intervals of {step / SECOND:g} s",
        ["seconds", "read, B/s", "written, B/s"],
        rows,
        notes,
        curve=Curve(0, (1, 2), "time, s", "moved, B/s"),
    )


def lifetimes(database: sqlite3.Connection) -> Iterator[Table]:
    lives = sorted(
        row[0]
        for row in database.execute(
            "SELECT end - start FROM process WHERE end IS NOT NULL AND how <> 'there before'"
        )
    )
    rows: list[list[Cell]] = []
    for step in _steps(1_000_000, lives[-1] if lives else 0):
        rows.append([step / SECOND, _percent(_below(lives, step), len(lives))])
    notes = []
    if lives:
        shares = [
            ("less than 1 s", _below(lives, SECOND - 1)),
            ("less than 3 s", _below(lives, 3 * SECOND - 1)),
            *(
                (f"more than {limit:g} s", len(lives) - _below(lives, limit * SECOND))
                for limit in (10, 60, 600)
            ),
        ]
        notes = [
            "Processes that lived "
            + ", ".join(f"{name} {_percent(n, len(lives))} %" for name, n in shares)
            + "."
        ]
    yield Table(
        "Figure 3. Lifetimes of processes",
        ["at most, s", "processes, %"],
        rows,
        notes,
        curve=Curve(0, (1,), "lived at most, s", "share of the processes, %", log=True),
    )


def _active(database: sqlite3.Connection, step: int = 60 * SECOND) -> list[tuple[int, int]]:
    return database.execute(
        f"SELECT e.start / {step}, count(DISTINCT t.process) FROM event e JOIN thread t ON t.id = e.thread "
        "WHERE e.file IS NOT NULL OR e.ofd IS NOT NULL OR e.path IS NOT NULL GROUP BY 1"
    ).fetchall()


def active(database: sqlite3.Connection) -> Iterator[Table]:
    step = _interval(database, 60)
    found = dict(_active(database, step))
    rows: list[list[Cell]] = [
        [round(at * step / SECOND, 6), found.get(at, 0)] for at in range(_span(database) // step + 1)
    ]
    yield Table(
        f"Figure 4. Active processes in intervals of {step / SECOND:g} s",
        ["seconds", "processes"],
        rows,
        curve=Curve(0, (1,), "time, s", "active processes, 1"),
    )


def sessions(database: sqlite3.Connection) -> Iterator[Table]:
    rows = database.execute(
        "SELECT o.flags & 3, reads, writes, closed - opened, bytes_read + bytes_written FROM ofd o "
        f"JOIN file f ON f.id = o.file WHERE {_FILES} AND o.event IS NOT NULL"
    ).fetchall()
    readers, writers = [row for row in rows if row[0] != 1], [row for row in rows if row[0]]
    closed = sorted(row[3] for row in rows if row[3] is not None)
    ms = SECOND // 1000
    table: list[list[Cell]] = [
        ["sessions", len(rows), None],
        [
            "opened for reading, fewer than 4 reads",
            sum(row[1] < 4 for row in readers),
            _percent(sum(row[1] < 4 for row in readers), len(readers)),
        ],
        [
            "opened for writing, no write or one",
            sum(row[2] < 2 for row in writers),
            _percent(sum(row[2] < 2 for row in writers), len(writers)),
        ],
        ["reads a session", round(sum(row[1] for row in rows) / len(rows), 2) if rows else None, None],
        ["writes a session", round(sum(row[2] for row in rows) / len(rows), 2) if rows else None, None],
        ["bytes a session", round(sum(row[4] for row in rows) / len(rows)) if rows else None, None],
        [
            "shorter than 150 ms",
            _below(closed, 150 * ms - 1),
            _percent(_below(closed, 150 * ms - 1), len(closed)),
        ],
        [
            "longer than 350 ms",
            len(closed) - _below(closed, 350 * ms),
            _percent(len(closed) - _below(closed, 350 * ms), len(closed)),
        ],
    ]
    yield Table("Open-close sessions", ["what", "number", "percent"], table)
    curve: list[list[Cell]] = [
        [step / 1e6, _percent(_below(closed, step), len(closed))]
        for step in _steps(1000, closed[-1] if closed else 0)
    ]
    yield Table(
        "Durations of sessions",
        ["at most, ms", "sessions, %"],
        curve,
        curve=Curve(0, (1,), "lasted at most, ms", "share of the sessions, %", log=True),
    )


def shared(database: sqlite3.Connection) -> Iterator[Table]:
    rows = database.execute(
        "SELECT t.text, count(DISTINCT s.process), count(DISTINCT o.id), sum(s.reads), sum(s.writes) "
        "FROM session s "
        "JOIN ofd o ON o.id = s.ofd JOIN file f ON f.id = o.file LEFT JOIN text t ON t.id = f.name "
        f"WHERE {_FILES} AND o.event IS NOT NULL GROUP BY o.file HAVING count(DISTINCT s.process) > 1 "
        "ORDER BY 2 DESC, 1 LIMIT 30"
    ).fetchall()
    yield Table(
        "Files that most processes share",
        ["file", "processes", "opens", "reads", "writes"],
        [list(row) for row in rows],
    )


def by_command(database: sqlite3.Connection) -> Iterator[Table]:
    found: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for name, which in (("read", _READS), ("write", _WRITES)):
        # The command is that of the process at its end; a shell's child counts for what it became.
        sql = (
            f"SELECT c.text, e.result, count(*) FROM event e JOIN file f ON f.id = e.file "
            "JOIN thread t ON t.id = e.thread JOIN process p ON p.id = t.process "
            f"LEFT JOIN text c ON c.id = p.command WHERE {_FILES} AND result >= 0 AND e.nr IN {which} "
            "GROUP BY 1, 2"
        )
        for command, size, n in database.execute(sql):
            found[command or "", name][size] += n
    rows: list[list[Cell]] = []
    for (command, name), each in sorted(found.items(), key=lambda item: -item[1].total())[:60]:
        size, n = max(each.items(), key=lambda item: (item[1], item[0]))
        rows.append(
            [
                command,
                name,
                each.total(),
                sum(each.elements())
                if len(each) < 1
                else sum(value * times for value, times in each.items()),
                size,
                _percent(n, each.total()),
            ]
        )
    yield Table(
        "I/O size by command", ["command", "call", "calls", "bytes", "main size", "percent of calls"], rows
    )


def sequentiality(database: sqlite3.Connection) -> Iterator[Table]:
    kinds: dict[str, list[int]] = {}
    for reads, writes, sequential, moved in database.execute(
        "SELECT reads, writes, sequential, bytes_read + bytes_written FROM ofd o "
        "JOIN file f ON f.id = o.file "
        f"WHERE {_FILES} AND reads + writes > 0"
    ):
        calls = reads + writes
        kind = (
            "one access"
            if calls == 1
            else "sequential"
            if sequential >= calls - 1
            else "mostly sequential"
            if 2 * sequential >= calls
            else "random"
        )
        total = kinds.setdefault(kind, [0, 0, 0])
        for place, value in enumerate((1, calls, moved)):
            total[place] += value
    rows: list[list[Cell]] = [
        [kind, *kinds[kind]]
        for kind in ("one access", "sequential", "mostly sequential", "random")
        if kind in kinds
    ]
    notes = [
        "Sequential: each access but the first begins where the last one of the session ended. "
        "Mostly: half do."
    ]
    yield Table(
        "Sequentiality of sessions", ["sessions that are", "sessions", "accesses", "bytes"], rows, notes
    )


def syncs(database: sqlite3.Connection) -> Iterator[Table]:
    total = database.execute(
        "SELECT count(*), avg(duration), max(duration) FROM event WHERE result = 0 AND nr IN "
        "(SELECT nr FROM syscall WHERE does IN ('FSYNC', 'SYNCALL'))"
    ).fetchone()
    rows = database.execute(
        "SELECT t.text, sum(o.syncs), sum(o.writes), sum(o.bytes_written) FROM ofd o "
        "JOIN file f ON f.id = o.file "
        "LEFT JOIN text t ON t.id = f.name WHERE o.syncs > 0 GROUP BY o.file ORDER BY 2 DESC, 1 LIMIT 30"
    ).fetchall()
    notes = [f"{total[0]} calls of fsync, fdatasync, sync and syncfs."]
    if total[1] is not None:
        notes.append(f"They took {total[1] / 1e6:.3f} ms in the mean, {total[2] / 1e6:.3f} ms at most.")
    yield Table(
        "fsync",
        ["file", "fsyncs", "writes", "bytes written", "bytes a fsync"],
        [[*row, round(row[3] / row[1])] for row in rows],
        notes,
    )


def working_set(database: sqlite3.Connection) -> Iterator[Table]:
    step = _interval(database, 120)
    data = "(SELECT nr FROM syscall WHERE does IN ('READ', 'PREAD', 'WRITE', 'PWRITE'))"
    seen: set[tuple[int, int]] = set()
    files: set[int] = set()
    now: set[tuple[int, int]] = set()
    rows: list[list[Cell]] = []
    current = 0
    for at, file, offset, size in database.execute(
        f"SELECT start / {step}, file, offset, result FROM event e JOIN file f ON f.id = e.file "
        f"WHERE {_FILES} AND result > 0 AND offset IS NOT NULL AND nr IN {data} ORDER BY start"
    ):
        if at != current:
            rows.append(
                [round(current * step / SECOND, 6), len(files), len(seen) * BLOCK, len(now) * BLOCK]
            )
            current, now = at, set()
        files.add(file)
        # What claims to be longer than any call can be is not believed.
        for block in range(offset // BLOCK, (offset + min(size, 1 << 31) - 1) // BLOCK + 1):
            seen.add((file, block))
            now.add((file, block))
    rows.append([round(current * step / SECOND, 6), len(files), len(seen) * BLOCK, len(now) * BLOCK])
    yield Table(
        "Working set",
        ["seconds", "files so far", "bytes so far", "bytes in the interval"],
        rows,
        [f"In blocks of {BLOCK} bytes."],
        curve=Curve(0, (2, 3), "time, s", "size, B"),
    )


SECTIONS: dict[str, Callable[[sqlite3.Connection], Iterator[Table]]] = {
    "about": about,
    "general": general,
    "sizes": sizes,
    "durations": durations,
    "rates": rates,
    "lifetimes": lifetimes,
    "active": active,
    "sessions": sessions,
    "shared": shared,
    "commands": by_command,
    "sequentiality": sequentiality,
    "fsync": syncs,
    "working-set": working_set,
}
