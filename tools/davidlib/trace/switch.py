# SPDX-License-Identifier: GPL-2.0
"""A tracer that runs is found by the lock that it holds on its trace (tools/trace/control.h)."""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import time
from pathlib import Path

from ..util import UserError
from . import program

LIVES, RECORDS = 0, 1  # bytes of the trace that a tracer has locked
WAIT_S = 60


def _holder(trace: Path, byte: int) -> int:
    """The process that has locked a byte; 0: none."""
    with open(trace, "rb") as file:
        flock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, byte, 1, 0)
        kind, _, _, _, pid = struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_GETLK, flock))
    return 0 if kind == fcntl.F_UNLCK else pid


def _file_of(trace: str) -> Path:
    file = Path(trace).with_suffix(program.SUFFIX)
    if not file.exists():
        raise UserError(f"trace: there is no {file}: nothing is being recorded there")
    return file


def recording(trace: str) -> tuple[int, bool]:
    """The tracer of a trace, 0 if it has ended, and whether it records."""
    file = _file_of(trace)
    return _holder(file, LIVES), bool(_holder(file, RECORDS))


def switch(trace: str, on: bool) -> None:
    """Return when it has been done."""
    pid, now = recording(trace)
    if not pid:
        raise UserError(f"trace: no tracer writes {_file_of(trace)}")
    limit = time.monotonic() + WAIT_S
    while now != on:
        os.kill(pid, signal.SIGUSR1 if on else signal.SIGUSR2)
        time.sleep(0.01)
        pid, now = recording(trace)
        if not pid or time.monotonic() > limit:
            raise UserError(f"trace: the tracer of {_file_of(trace)} does not answer")
