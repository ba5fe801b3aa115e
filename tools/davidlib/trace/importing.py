# SPDX-License-Identifier: GPL-2.0
"""david trace import: other tools' traces become finished ones."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import shutil
import subprocess
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, IO

from ..util import UserError, reason_of
from . import formats, from_blktrace, program, recognise, tracefile
from .account import Account, Taken
from .from_requests import Calls

# What reading a text raises that is not whole.
UNREADABLE = (OSError, EOFError, lzma.LZMAError, zlib.error)
# How compressed texts begin, whatever their names are, and who reads them.
_OPENERS: tuple[tuple[bytes, Callable[..., Any]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\0", lzma.open),
)
_PROGRAMS = ((b"\x28\xb5\x2f\xfd", "zstd"), (b"\x04\x22\x4d\x18", "lz4"))


def _as_text(data: Any) -> IO[str]:
    """Windows writes a mark of the order of bytes in front of a text, also in front of one of UTF-16."""
    if data.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return io.TextIOWrapper(data, encoding="utf-16", errors="replace")
    return io.TextIOWrapper(data, encoding="utf-8-sig", errors="surrogateescape")


@contextmanager
def _unpacked(path: Path, program: str) -> Iterator[IO[str]]:
    """Of a form that Python has no library for."""
    if not shutil.which(program):
        raise UserError(f"{path} is compressed by {program}, which is not here: install Debian's {program}")
    command = [program, "-dcq", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        with _as_text(process.stdout) as lines:
            yield lines
        if process.wait() > 0:  # not if nobody wanted the rest: that is a signal
            raise OSError(f"{program} cannot unpack it whole")


@contextmanager
def _open_text(path: Path) -> Iterator[IO[str]]:
    head = b""
    if path.is_file():
        with path.open("rb") as file:
            head = file.read(8)
    for beginning, unpacks in _PROGRAMS:
        if head.startswith(beginning):
            with _unpacked(path, unpacks) as lines:
                yield lines
            return
    opener: Callable[..., Any] = next((how for start, how in _OPENERS if head.startswith(start)), open)
    with _as_text(opener(path, "rb")) as lines:
        yield lines


@contextmanager
def lines_of(path: Path) -> Iterator[Iterable[str]]:
    """The lines of a text, whether it is compressed or not, or of blktrace's files as blkparse has them."""
    if path.is_file() and from_blktrace.is_binary(path):
        yield from_blktrace.binary_lines(path)
        return
    with _open_text(path) as lines:
        yield lines


def attempts(calls: Calls) -> dict[str, recognise.Attempt]:
    """How many calls each format makes of a text."""

    def made(name: str, account: Account, lines: Iterable[str]) -> int:
        trace = tracefile.TraceFile("-")
        trace.account = account
        for _ in formats.CALLS[name](trace, calls, account.each(lines)):
            pass
        return trace.calls()

    return {name: partial(made, name) for name in formats.CALLS}


def _check(path: Path, kind: str, trace: tracefile.TraceFile, calls: Calls, head: list[str]) -> None:
    """Is it all of one format, and whole?"""
    account = trace.account
    if not trace.calls():
        said = "; ".join(account.as_text(str(path), Taken(0)))
        known = recognise.what_text_it_is(path, head, attempts(calls))
        other = recognise.other_than(kind, attempts(calls), list(enumerate(head, 1)))
        known = f"; it looks like {other[0]}'s" if other else f"; {known}" if known else ""
        raise UserError(f"trace import: there is no call of {kind} in it: {said}{known}")
    taken = trace.calls() - account.made_up
    clock = formats.clock_of(kind, head)
    recognise.need_whole(f"trace import: {path}", kind, account, taken, attempts(calls), clock)


def import_trace(kind: str, path: Path, out: Path) -> int:
    """How many lines were not understood."""
    return import_lines(kind, path, out).account.unparsed()


def import_lines(
    kind: str | None, path: Path, out: Path, cwd: str | None = None
) -> tracefile.TraceFile:
    """What was taken, and the account of every line. KIND None: it is recognised. CWD: of strace's programs.

    Of a text without a call, of one that is cut short, or of lines of two formats, nothing is made.
    """
    if out.exists():
        raise UserError(f"{out} is there already")
    try:
        return _import_lines(kind, path, out, cwd)
    except BaseException:
        out.unlink(missing_ok=True)
        raise


def _import_lines(kind: str | None, path: Path, out: Path, cwd: str | None) -> tracefile.TraceFile:
    calls = program.calls()
    names = {nr: name for nr, name, _, _ in calls}
    try:
        with lines_of(path) as lines:
            text = iter(lines)
            head = list(islice(text, recognise.LINES))
            kind = kind or recognise.format_of(path, head, attempts(calls), "trace import: ")
            trace = tracefile.TraceFile(kind)
            importer = partial(formats.strace, cwd=cwd) if kind == "strace" else formats.CALLS[kind]
            if cwd and kind != "strace":
                raise UserError(f"trace import: --cwd is for logs of strace, and {path} is one of {kind}")
            steps = importer(trace, calls, trace.account.each(chain(head, text)))
            program.finish("-", out, tracefile.frames(trace, names, steps))
    except BrokenPipeError:
        raise UserError(f"trace import: {out} could not be written, see above") from None
    except UNREADABLE as error:
        raise UserError(f"trace import: {path} cannot be read: {reason_of(error)}") from None
    _check(path, kind, trace, calls, head)
    return trace
