# SPDX-License-Identifier: GPL-2.0
"""Several processes of one workload at once, each with its own seed and directory."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress

from .record import Record
from .steady import Warming

# What a process does: number, random numbers of its own, record.
Body = Callable[[int, random.Random, Record], None]


class WorkFailed(Exception):
    """A process of the workload, or a program that it started, failed; the text says how."""


def seeded(seed: int, *what: object) -> random.Random:
    """Random numbers of one purpose: as text, as Python has no seed of several things."""
    return random.Random(" ".join(map(str, (seed, *what))))


def _child(body: Body, number: int, seed: int, pipe: int) -> None:
    record, status = Record(), 0
    try:
        body(number, seeded(seed, "process", number), record)
        text = json.dumps(record.as_dict())
    except BaseException:
        text, status = traceback.format_exc(limit=-3), 1
    with os.fdopen(pipe, "w") as file:
        file.write(text)
    sys.stdout.flush()
    os._exit(status)


def _start(body: Body, number: int, seed: int, running: dict[int, int]) -> None:
    """Add a process and the pipe that it answers in. A signal comes before it or once it is known."""
    reader, writer = os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    pid = os.fork()
    if not pid:
        # What its parent does at a signal is its parent's.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        os.close(reader)
        _child(body, number, seed, writer)
    os.close(writer)
    running[pid] = reader
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def _answers(running: dict[int, int]) -> Record:
    record, failed = Record(), ""
    for pid, reader in list(running.items()):
        with os.fdopen(reader, closefd=False) as file:
            text = file.read()
        status = os.waitpid(pid, 0)[1]
        os.close(running.pop(pid))
        if status:
            failed = failed or text or f"ended by status {status}"
        else:
            record.join(json.loads(text))
    if failed:
        raise WorkFailed(failed.strip())
    return record


def together(body: Body, processes: int, seed: int, warming: Warming | None = None) -> Record:
    """Run them all and put their records together, in the order of their numbers. None outlives the call."""
    running: dict[int, int] = {}
    try:
        for number in range(processes):
            _start(body, number, seed, running)
        if warming:
            warming.release(list(running.values()))
        return _answers(running)
    finally:
        for pid, reader in running.items():
            # A signal may have come between its end and the note of it.
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            os.close(reader)
