# SPDX-License-Identifier: GPL-2.0
"""build/david-trace, as the commands call it."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from .. import build
from ..util import INSTALLED, UserError

NAME = "david-trace"
METHODS = {"ptrace": NAME, "bpf": "david-trace-bpf"}
SUFFIX = ".dtr"
BAD = 2  # the trace is broken, and what is in front of that was taken
FAILED = 125  # nothing was traced; the program has said why


def default_output() -> Path:
    return Path(tempfile.gettempdir()) / time.strftime("david-trace-%Y%m%d-%H%M%S.db")


def pieces(file: Path) -> list[Path]:
    """The files of a trace file: one, or those that are there of a ring (record --rotate)."""
    found = [file]
    while (piece := Path(f"{file}.{len(found)}")).exists():
        found.append(piece)
    return found


def record(file: Path, options: list[str], command: list[str], method: str = "ptrace") -> int:
    """Record into a new trace file; the command's exit status."""
    if method == "bpf" and INSTALLED:
        raise UserError("trace record: --method bpf works in dm-david's source tree only")
    words = [str(build.ensure(METHODS[method])), "record", "--out", str(file), *options]
    # What the caller has open the command has, too.
    done = subprocess.Popen(words + (["--", *command] if command else []), close_fds=False)
    with _passed_on(done):
        while True:
            try:
                return done.wait()
            except KeyboardInterrupt:
                continue  # the command has had it too, and the trace is still to be closed


@contextlib.contextmanager
def _passed_on(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """What asks this process to end asks the tracer, and that the command: the trace is to be closed then."""
    before = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as by nohup
            before[number] = signal.signal(number, lambda number, _: child.send_signal(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def finish(file: Path | str, database: Path, frames: Iterable[bytes] = ()) -> bool:
    """Make a database of a trace file, or, of "-", of the frames.

    False: the trace is cut short, and the program has said so.
    """
    if database.exists():
        raise UserError(f"{database} is there already")
    words = [str(build.ensure(NAME)), "finish", str(file), str(database)]
    with subprocess.Popen(words, stdin=subprocess.PIPE if file == "-" else None) as child:
        if child.stdin:
            for frame in frames:
                child.stdin.write(frame)
            child.stdin.close()
    if child.returncode not in (0, BAD):
        database.unlink(missing_ok=True)  # it has no end
        raise UserError(f"{file} could not be finished; it stays as it is, for 'david trace finish'")
    return not child.returncode


def calls() -> list[tuple[int, str, str, str]]:
    """The table of calls: number, name, class, letters of arguments (tools/calls/calls.h)."""
    said = subprocess.run([build.ensure(NAME), "calls"], capture_output=True, text=True, check=True).stdout
    table = [line.split()[:4] for line in said.splitlines()]
    return [(int(nr), name, kind, "" if args == "-" else args) for nr, name, kind, args in table]
