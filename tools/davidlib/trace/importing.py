# SPDX-License-Identifier: GPL-2.0
"""david trace import: other tools' traces become finished ones."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, IO, cast

from ..util import UserError
from . import from_blktrace, from_blocks, from_ibench, from_nfs, from_requests, from_strace
from . import program, tracefile

Calls = list[tuple[int, str, str, str]]
Importer = Callable[[tracefile.TraceFile, Calls, Iterable[str]], Iterator[None]]


def _strace(trace: tracefile.TraceFile, calls: Calls, lines: Iterable[str]) -> Iterator[None]:
    return from_strace.StraceImport(trace, calls).steps(lines)


def _calls_of(reader: from_requests.Reader) -> Importer:
    """Each request is a call."""
    return lambda trace, calls, lines: reader(from_requests.Requests(trace, calls), lines)


# Traces of requests to disks.
BLOCKS: dict[str, from_requests.Reader] = {
    "fio": from_requests.iolog,
    "blkparse": from_blktrace.blkparse,
    "msr": from_blocks.msr,
    "systor": from_blocks.systor,
    "fiu": from_blocks.fiu,
    "alibaba": from_blocks.alibaba,
    "tencent": from_blocks.tencent,
    "spc": from_blocks.spc,
    "disksim": from_blocks.disksim,
}
FORMATS: dict[str, Importer] = {name: _calls_of(reader) for name, reader in BLOCKS.items()} | {
    "strace": _strace,
    "darshan": from_requests.darshan,
    "json": from_requests.json_calls,
    "ibench": from_ibench.ibench,
    "nfsdump": from_nfs.nfsdump,
}


def _open_text(path: Path) -> IO[str]:
    openers: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}
    opener = openers.get(path.suffix, open)
    return cast(IO[str], opener(path, "rt", encoding="utf-8", errors="surrogateescape"))


@contextmanager
def lines_of(path: Path) -> Iterator[Iterable[str]]:
    """The lines of a text, whether it is compressed or not, or of blktrace's files as blkparse has them."""
    if path.is_file() and from_blktrace.is_binary(path):
        yield from_blktrace.binary_lines(path)
        return
    with _open_text(path) as lines:
        yield lines


def import_trace(kind: str, path: Path, out: Path) -> int:
    """How many lines were not understood."""
    return import_lines(kind, path, out).account.unparsed()


def import_lines(kind: str, path: Path, out: Path) -> tracefile.TraceFile:
    """What was taken, and the account of every line. Of a text without a call nothing is made."""
    calls = program.calls()
    trace = tracefile.TraceFile(kind)
    names = {nr: name for nr, name, _, _ in calls}
    try:
        with lines_of(path) as lines:
            steps = FORMATS[kind](trace, calls, trace.account.each(lines))
            program.finish("-", out, tracefile.frames(trace, names, steps))
    except BrokenPipeError:
        raise UserError(f"trace import: {out} could not be written, see above") from None
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise UserError(f"trace import: {path} cannot be read: {error}") from None
    if not trace.calls():
        out.unlink(missing_ok=True)
        said = "; ".join(trace.account.as_text(str(path), 0))
        raise UserError(f"trace import: there is no call of {kind} in it: {said}")
    return trace
