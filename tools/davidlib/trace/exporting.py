# SPDX-License-Identifier: GPL-2.0
"""david trace export: a finished trace as strace's text, CSV, Perfetto's JSON, or fio's iolog."""

from __future__ import annotations

import csv
import errno
import json
import os
import signal
import sqlite3
import struct
from collections.abc import Callable
from typing import TextIO

from . import tracefile
from .constants import words

OPEN_FLAGS = (
    "O_CREAT",
    "O_EXCL",
    "O_NOCTTY",
    "O_TRUNC",
    "O_APPEND",
    "O_NONBLOCK",
    "O_SYNC",
    "O_DSYNC",
    "O_DIRECT",
    "O_TMPFILE",
    "O_DIRECTORY",
    "O_NOFOLLOW",
    "O_NOATIME",
    "O_CLOEXEC",
    "O_PATH",
)
RESTARTS = {512: "ERESTARTSYS", 513: "ERESTARTNOINTR", 514: "ERESTARTNOHAND", 516: "ERESTART_RESTARTBLOCK"}
AT_FDCWD = -100

Row = sqlite3.Row


def quoted(text: str) -> str:
    """As strace prints a string."""
    parts = []
    for byte in text.encode("utf-8", "surrogateescape"):
        if byte in (34, 92):
            parts.append("\\" + chr(byte))
        elif 32 <= byte < 127:
            parts.append(chr(byte))
        else:
            parts.append(f"\\{byte:03o}")
    return '"' + "".join(parts) + '"'


def _signed(value: int) -> int:
    """A descriptor is an int: the upper half of its register says nothing."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def open_flags(value: int) -> str:
    access = ("O_RDONLY", "O_WRONLY", "O_RDWR", "3")[value & 3]
    rest = value & ~3
    return access + ("|" + words(rest, "", OPEN_FLAGS) if rest else "")


class _Strace:
    """Lines, by the time at which a call began."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database
        self.letters = dict(database.execute("SELECT nr, args FROM syscall"))
        self.names = dict(database.execute("SELECT nr, name FROM syscall"))
        said = dict(database.execute("SELECT key, value FROM trace"))
        self.start = int(said.get("realtime.start", said.get("start", 0)))
        self.extras: dict[int, dict[int, bytes]] = {}
        for event, kind, value in database.execute("SELECT event, kind, value FROM extra"):
            self.extras.setdefault(event, {})[kind] = value
        self.attrs = {
            row[0]: row[1:]
            for row in database.execute(
                "SELECT a.event, a.dev, f.ino, a.mode, a.links, a.size FROM attr a "
                "JOIN file f ON f.id = a.file"
            )
        }

    def _argument(self, row: Row, letter: str, at: int) -> str:
        value = row[f"a{at}"] or 0
        extra = self.extras.get(row["id"], {})
        if letter in "pP":
            text = row["text" if letter == "p" else "text2"]
            return quoted(text) if text is not None else hex(value & (1 << 64) - 1)
        if letter in "dD" and _signed(value) == AT_FDCWD:
            return "AT_FDCWD"
        if letter in "dDfF":
            return str(_signed(value))
        if letter == "o":
            return open_flags(value & 0xFFFFFFFF)
        if letter == "m":
            return f"0{value & 0xFFFF:o}"
        if letter == "r" and len(extra.get(tracefile.FDS, b"")) >= 8:
            return "[{}, {}]".format(*struct.unpack("<ii", extra[tracefile.FDS][:8]))
        if letter == "v" and tracefile.TOTAL in extra:
            return "[{{iov_base=NULL, iov_len={}}}]".format(*struct.unpack("<Q", extra[tracefile.TOTAL][:8]))
        if letter == "a" and tracefile.ARGV in extra:
            parts = extra[tracefile.ARGV].split(b"\0")[:-1]
            return "[" + ", ".join(quoted(part.decode("utf-8", "surrogateescape")) for part in parts) + "]"
        if letter == "h" and tracefile.HOW in extra:
            flags, mode, resolve = struct.unpack("<3Q", extra[tracefile.HOW][:24])
            return f"{{flags={open_flags(flags)}, mode=0{mode:o}, resolve={resolve:#x}}}"
        if letter == "b" and tracefile.MESSAGES in extra and at == 1:
            lengths = struct.unpack(f"<{len(extra[tracefile.MESSAGES]) // 4}I", extra[tracefile.MESSAGES])
            return "[" + ", ".join(f"{{msg_len={length}}}" for length in lengths) + "]"
        if letter == "b" and tracefile.CHILD in extra and at == 2:
            child = struct.unpack("<I", extra[tracefile.CHILD][:4])[0]
            return f"{{si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid={child}}}"
        return self._number(row, letter, at, value)

    def _number(self, row: Row, letter: str, at: int, value: int) -> str:
        if letter == "s" and row["id"] in self.attrs and row["result"] == 0:
            dev, ino, mode, links, size = self.attrs[row["id"]]
            return (
                f"{{st_dev=makedev({os.major(dev):#x}, {os.minor(dev):#x}), st_ino={ino}, st_mode=0{mode:o}, "
                f"st_nlink={links}, st_size={size}}}"
            )
        if letter == "y":
            given = self.extras.get(row["id"], {}).get(tracefile.OFFSETS, b"")
            number = "".join(self.letters[row["nr"]][:at]).count("y")
            if len(given) >= 16 and value:
                return f"[{struct.unpack('<2q', given[:16])[number]}]"
            return "NULL"
        if letter in "ul":
            return str(value)
        if letter == "i":
            return str(_signed(value))
        return hex(value & (1 << 64) - 1) if value else "0" if letter == "x" else "NULL"

    def _arguments(self, row: Row) -> str:
        letters = self.letters.get(row["nr"])
        if letters is None:
            return ", ".join(hex((row[f"a{at}"] or 0) & (1 << 64) - 1) for at in range(6))
        name = self.names[row["nr"]]
        if name == "clone":
            return f"child_stack=NULL, flags={(row['a0'] or 0) & (1 << 64) - 1:#x}"
        if name == "clone3":
            flags = self.extras.get(row["id"], {}).get(tracefile.CLONE, bytes(8))
            return f"{{flags={struct.unpack('<Q', flags)[0]:#x}}}, 88"
        return ", ".join(self._argument(row, letter, at) for at, letter in enumerate(letters))

    def _result(self, row: Row) -> str:
        result = row["result"]
        if result is None:
            return "?"
        if -4096 < result < 0:
            if -result in RESTARTS:
                return f"? {RESTARTS[-result]} (To be restarted)"
            name = errno.errorcode.get(-result, "EUNKNOWN")
            return f"-1 {name} ({os.strerror(-result)})"
        if self.names.get(row["nr"]) in ("mmap", "mremap"):
            return hex(result & (1 << 64) - 1)
        return str(result)

    def _time(self, since: int) -> str:
        return "{}.{:09d}".format(*divmod(self.start + since, 10**9))

    def lines(self, out: TextIO) -> None:
        ends = self.database.execute(
            "SELECT t.end, t.tid, p.status, t.tid = p.pid FROM thread t JOIN process p ON p.id = t.process "
            "WHERE t.end IS NOT NULL ORDER BY 1, t.id DESC"
        ).fetchall()
        self.database.row_factory = sqlite3.Row
        for row in self.database.execute(
            "SELECT e.*, t.tid, p.text AS text, q.text AS text2 FROM event e "
            "JOIN thread t ON t.id = e.thread "
            "LEFT JOIN text p ON p.id = e.path LEFT JOIN text q ON q.id = e.path2 ORDER BY e.start, e.id"
        ):
            while ends and ends[0][0] < row["start"]:
                self._end(out, ends.pop(0))
            name = self.names.get(row["nr"], f"syscall_{row['nr']:#x}")
            took = "" if row["duration"] is None else " <{}.{:09d}>".format(*divmod(row["duration"], 10**9))
            out.write(
                f"{row['tid']} {self._time(row['start'])} {name}({self._arguments(row)}) = "
                f"{self._result(row)}{took}\n"
            )
        for end in ends:
            self._end(out, end)

    def _end(self, out: TextIO, end: Row) -> None:
        time, tid, status, leader = end
        if leader and status and status & 127:
            try:
                name = signal.Signals(status & 127).name
            except ValueError:
                name = f"SIGRT_{status & 127}"
            out.write(f"{tid} {self._time(time)} +++ killed by {name} +++\n")
        else:
            out.write(
                f"{tid} {self._time(time)} +++ exited with {(status or 0) >> 8 & 255 if leader else 0} +++\n"
            )


def to_strace(database: sqlite3.Connection, out: TextIO) -> int:
    _Strace(database).lines(out)
    return 0


def to_csv(database: sqlite3.Connection, out: TextIO) -> int:
    rows = database.execute("SELECT * FROM call ORDER BY id")
    writer = csv.writer(out)
    writer.writerow([column[0] for column in rows.description])
    writer.writerows(rows)
    return 0


def _printable(text: str | None) -> str | None:
    return None if text is None else text.encode("utf-8", "backslashreplace").decode()


def to_perfetto(database: sqlite3.Connection, out: TextIO) -> int:
    """The JSON that Perfetto and Chrome's tracing read; times are us."""
    out.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
    separator = ""
    for pid, command in database.execute(
        "SELECT pid, c.text FROM process LEFT JOIN text c ON c.id = command"
    ):
        name = {
            "name": "process_name",
            "ph": "M",
            "pid": pid,
            "args": {"name": _printable(command) or str(pid)},
        }
        out.write(separator + json.dumps(name))
        separator = ",\n"
    for tid, pid, name, start, duration, result, path, path2, offset in database.execute(
        "SELECT t.tid, p.pid, ifnull(s.name, 'unknown'), e.start, e.duration, e.result, a.text, b.text, "
        "e.offset "
        "FROM event e JOIN thread t ON t.id = e.thread JOIN process p ON p.id = t.process "
        "LEFT JOIN syscall s ON s.nr = e.nr LEFT JOIN text a ON a.id = e.name "
        "LEFT JOIN text b ON b.id = e.name2 "
        "ORDER BY e.start"
    ):
        said = {"result": result, "path": _printable(path), "path2": _printable(path2), "offset": offset}
        event = {
            "name": name,
            "cat": "syscall",
            "ph": "X",
            "pid": pid,
            "tid": tid,
            "ts": start / 1000,
            "dur": (duration or 0) / 1000,
            "args": {key: value for key, value in said.items() if value is not None},
        }
        out.write(separator + json.dumps(event))
        separator = ",\n"
    out.write("\n]}\n")
    return 0


def to_fio(database: sqlite3.Connection, out: TextIO) -> int:
    """fio's iolog, version 3, of regular files, each open from its first access to the end of the trace.

    How many accesses are not in it: those of names with white space, which fio cannot read.
    """
    out.write("fio version 3 iolog\n")
    kinds = {"READ": "read", "PREAD": "read", "WRITE": "write", "PWRITE": "write", "FSYNC": "sync"}
    opened: set[str] = set()
    skipped = time = 0
    for start, does, name, file, offset, result in database.execute(
        "SELECT e.start, s.does, s.name, t.text, e.offset, e.result FROM event e JOIN syscall s USING (nr) "
        "JOIN ofd o ON o.id = e.ofd JOIN text t ON t.id = o.name JOIN file f ON f.id = e.file "
        "WHERE result >= 0 AND (f.mode IS NULL OR f.mode & 61440 = 32768) ORDER BY e.start, e.id"
    ):
        kind = kinds.get(does)
        if kind is None or (kind != "sync" and (not result or offset is None)):
            continue
        if any(letter.isspace() for letter in file):
            skipped += 1
            continue
        time = start // 1000
        if file not in opened:
            out.write(f"{time} {file} add\n{time} {file} open\n")
            opened.add(file)
        if kind == "sync":
            out.write(f"{time} {file} {'datasync' if name == 'fdatasync' else 'sync'} 0 0\n")
        else:
            out.write(f"{time} {file} {kind} {offset} {result}\n")
    for file in sorted(opened):
        out.write(f"{time} {file} close\n")
    return skipped


FORMATS: dict[str, Callable[[sqlite3.Connection, TextIO], int]] = {
    "strace": to_strace,
    "csv": to_csv,
    "perfetto": to_perfetto,
    "fio": to_fio,
}
