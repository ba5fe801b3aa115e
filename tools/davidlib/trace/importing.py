# SPDX-License-Identifier: GPL-2.0
"""david trace import: other tools' traces become finished ones."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, IO, cast

from ..util import UserError
from . import from_ibench, from_nfs, from_requests, from_strace, program, tracefile

Calls = list[tuple[int, str, str, str]]
Importer = Callable[[tracefile.TraceFile, Calls, Iterable[str]], Iterator[None]]


def _strace(trace: tracefile.TraceFile, calls: Calls, lines: Iterable[str]) -> Iterator[None]:
    return from_strace.StraceImport(trace, calls).steps(lines)


FORMATS: dict[str, Importer] = {
    "strace": _strace,
    "fio": from_requests.iolog,
    "blkparse": from_requests.blkparse,
    "msr": from_requests.msr,
    "darshan": from_requests.darshan,
    "json": from_requests.json_calls,
    "ibench": from_ibench.ibench,
    "nfsdump": from_nfs.nfsdump,
}


def open_text(path: Path) -> IO[str]:
    """A text, whether it is compressed or not."""
    openers: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}
    opener = openers.get(path.suffix, open)
    return cast(IO[str], opener(path, "rt", encoding="utf-8", errors="surrogateescape"))


def import_trace(kind: str, path: Path, out: Path) -> int:
    """How many lines were not understood."""
    return import_lines(kind, path, out).account.unparsed()


def import_lines(kind: str, path: Path, out: Path) -> tracefile.TraceFile:
    """What was taken, and the account of every line. Of a text without a call nothing is made."""
    calls = program.calls()
    trace = tracefile.TraceFile(kind)
    names = {nr: name for nr, name, _, _ in calls}
    try:
        with open_text(path) as lines:
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
