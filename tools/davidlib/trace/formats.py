# SPDX-License-Identifier: GPL-2.0
"""The one table of other tools' formats: who makes calls of a text, and who tells its requests to a disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from . import from_blktrace, from_blocks, from_darshan, from_ibench, from_nfs, from_requests, from_strace
from .account import Clock
from .from_requests import Calls, Reader
from .tracefile import TraceFile

Importer = Callable[[TraceFile, Calls, Iterable[str]], Iterator[None]]


@dataclass(frozen=True)
class Format:
    calls: Importer
    blocks: Reader | None = None  # None: it is of no disk


def _of_blocks(reader: Reader, as_requests: Reader | None = None) -> Format:
    """Each request is a call. AS_REQUESTS: where requests to a disk are read in another way."""

    def calls_of(trace: TraceFile, calls: Calls, lines: Iterable[str]) -> Iterator[None]:
        ordered = from_requests.Ordered(from_requests.Requests(trace, calls))
        yield from reader(ordered, lines)
        ordered.end()

    return Format(calls_of, as_requests or reader)


def _fio(trace: TraceFile, calls: Calls, lines: Iterable[str]) -> Iterator[None]:
    """It opens and closes its files in between, and is in order."""
    return from_requests.iolog(from_requests.Requests(trace, calls), lines)


def strace(trace: TraceFile, calls: Calls, lines: Iterable[str], cwd: str | None = None) -> Iterator[None]:
    return from_strace.StraceImport(trace, calls, cwd).steps(lines)


FORMATS: dict[str, Format] = {
    "fio": Format(_fio, from_requests.iolog),
    "blkparse": _of_blocks(from_blktrace.blkparse, partial(from_blktrace.blkparse, queued=True)),
    "msr": _of_blocks(from_blocks.msr),
    "systor": _of_blocks(from_blocks.systor),
    "fiu": _of_blocks(from_blocks.fiu),
    "alibaba": _of_blocks(from_blocks.alibaba),
    "tencent": _of_blocks(from_blocks.tencent),
    "spc": _of_blocks(from_blocks.spc),
    "disksim": _of_blocks(from_blocks.disksim),
    "strace": Format(strace),
    "darshan": Format(from_darshan.darshan),
    "json": Format(from_requests.json_calls),
    "ibench": Format(from_ibench.ibench),
    "nfsdump": Format(from_nfs.nfsdump),
}
# Of the others each line has a time of its own, so that no twenty in a row come twice. Tencent's are seconds.
CLOCKS = {"fio": Clock.NONE, "darshan": Clock.NONE, "tencent": Clock.COARSE}


def clock_of(kind: str, head: Iterable[str]) -> Clock:
    """HEAD: a text's first lines. strace's options say what they have."""
    return from_strace.clock_of(head) if kind == "strace" else CLOCKS.get(kind, Clock.FINE)


CALLS: dict[str, Importer] = {name: one.calls for name, one in FORMATS.items()}
BLOCKS: dict[str, Reader] = {name: one.blocks for name, one in FORMATS.items() if one.blocks}
