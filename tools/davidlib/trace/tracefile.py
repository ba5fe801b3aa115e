# SPDX-License-Identifier: GPL-2.0
"""Trace files made by importers: the format of tools/calls/tracefile.h, with frames not compressed."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from .account import NOT_UNDERSTOOD, Account

MAGIC = 0x46525444


def is_tracefile(path: Path) -> bool:
    """Does the file begin as a trace file, or a part of one that was written around, does?"""
    try:
        with path.open("rb") as file:
            return file.read(4) == struct.pack("<I", MAGIC)
    except OSError:
        return False


FRAME = 900_000  # a frame is closed past so many bytes; 1 MiB is the most
LONGEST = 60_000  # of a blob
ABOUT, CALL, FORK, EXEC, EXIT, TASK, FD, BALANCE = range(1, 9)
PAGES, FAULT, WAITED = 13, 14, 15
NO_EXIT, FOREIGN, BAD_PATH, NO_DISK = 1, 2, 4, 16
PATH, PATH2, ATTR, ATTR_BEFORE, FDS, ARGV, TOTAL, CWD, TARGET, OFFSETS, HOW, CLONE, LOCK, CPU, TEXT = range(
    1, 16
)
RUNS, LAYOUT, CONTEXT = 17, 18, 19
MESSAGES, CHILD, XATTR, VALUE = 25, 26, 27, 28
UNKNOWN = 0xFFFF  # the number of a call whose name is in no table
Blob = tuple[int, bytes]

_RECORD = struct.Struct("<IHHIIQQq6Q")
_MASK = (1 << 64) - 1


def _clamp(time: int) -> int:
    return min(max(time, 0), _MASK >> 1)


class TraceFile:
    """Records come in, frames go out. An importer counts what it takes, and what it does not understand."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self._records = bytearray()
        self._closed: list[bytes] = []  # frames that are not handed out yet
        self._sequence = 0
        self._calls: Counter[int] = Counter()
        self.account = Account()
        self._last = 0
        self.record(ABOUT, 0, blobs=[(TEXT, f"method={origin}".encode()), (TEXT, b"arch=x86_64")])

    def record(
        self,
        kind: int,
        tid: int,
        nr: int = 0,
        entry: int = 0,
        exit: int = 0,
        result: int = 0,
        args: tuple[int, ...] = (),
        flags: int = 0,
        blobs: list[Blob] | tuple[()] = (),
    ) -> None:
        tail = b""
        for blob_kind, data in blobs:
            data = data[:LONGEST]
            tail += struct.pack("<HH", blob_kind, len(data)) + data + bytes(-len(data) % 4)
        tail = tail[: LONGEST + 8] if len(blobs) == 1 else tail
        tail += bytes(-len(tail) % 8)
        six = [value & _MASK for value in (*args, 0, 0, 0, 0, 0, 0)[:6]]
        result = (result + (1 << 63) & _MASK) - (1 << 63)
        entry, exit = _clamp(entry), _clamp(exit)
        self._last = max(self._last, exit)
        self._records += (
            _RECORD.pack(
                _RECORD.size + len(tail),
                kind,
                flags,
                tid & 0xFFFFFFFF,
                nr & 0xFFFFFFFF,
                entry,
                exit,
                result,
                *six,
            )
            + tail
        )
        if len(self._records) > FRAME:
            self._closed.append(self._frame())

    def call(
        self,
        tid: int,
        nr: int,
        entry: int,
        exit: int,
        result: int,
        args: tuple[int, ...] = (),
        flags: int = 0,
        blobs: list[Blob] | tuple[()] = (),
    ) -> None:
        self._calls[nr] += 1
        self.record(CALL, tid, nr, entry, max(entry, exit), result, args, flags, blobs)

    def misunderstood(self, count: int = 1) -> None:
        self.account.leave_out(NOT_UNDERSTOOD, count)

    def calls(self) -> int:
        return self._calls.total()

    def closed(self) -> Iterator[bytes]:
        """Frames that are full: however much an importer records at a time, none is longer than it may be."""
        frames, self._closed = self._closed, []
        yield from frames

    def _frame(self) -> bytes:
        """What has been recorded since the last frame."""
        head = struct.pack("<IHHIII", MAGIC, 1, 0, len(self._records), len(self._records), self._sequence)
        crc = zlib.crc32(self._records, zlib.crc32(head))
        frame = head + struct.pack("<I", crc) + self._records
        self._sequence += 1
        self._records = bytearray()
        return frame

    def end(self, names: dict[int, str]) -> Iterator[bytes]:
        """The last frames, with the balance."""
        texts = [
            f"calls={self._calls.total()}",
            f"unknown={self._calls[UNKNOWN]}",
            f"unparsed={self.account.unparsed()}",
            f"not-taken={self.account.not_taken()}",
            f"made-up={self.account.made_up}",
            "lost=0",
        ]
        texts += [f"calls.{names[nr]}={n}" for nr, n in sorted(self._calls.items()) if nr in names]
        self.record(
            BALANCE, 0, entry=self._last, exit=self._last, blobs=[(TEXT, text.encode()) for text in texts]
        )
        yield from self.closed()
        yield self._frame()


def frames(trace: TraceFile, names: dict[int, str], steps: Iterator[None]) -> Iterator[bytes]:
    """All frames of what an importer records; it yields now and then."""
    for _ in steps:
        yield from trace.closed()
    yield from trace.end(names)
