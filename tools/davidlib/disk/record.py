# SPDX-License-Identifier: GPL-2.0
"""david record: the requests of a disk and their times, in a file for david sim.

The trace points tell of them, in a buffer of our own. The disk's table is loaded again, so that the model
begins anew, as the simulator does.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..command import Commands, add
from ..drive.recording import EVENTS, Head
from ..util import DAVID, say
from . import dm, stats
from .dm import DeviceError, need_disk, need_root
from .parameters import name_arg

TRACING = Path("/sys/kernel/tracing")
BUFFER_KIB = 16384
# At first the disk's content is told at once, an event for each of its ranges.
RANGE_BYTES = 56
SPEEDUP = " mode=0"  # enum david_mode
LOST = re.compile(r"LOST (\d+) EVENTS")


def mount() -> None:
    """Where the kernel tells of requests. DeviceError: it does not tell."""
    if not (TRACING / "instances").is_dir():
        dm.run("mount", "-t", "tracefs", "tracefs", str(TRACING))
    if not (TRACING / "events/david").is_dir():
        raise DeviceError("this kernel has no trace points (CONFIG_EVENT_TRACING): nothing can be recorded")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise DeviceError(f"{path}: {error.strerror}") from None


class Reader(threading.Thread):
    """Takes the events of a device out of the kernel's buffer, and puts them into a file."""

    def __init__(self, pipe: Path, device: str, file: IO[str]) -> None:
        super().__init__()
        self._pipe = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self._mine = f"dev={device} "
        self._file = file
        self._end = threading.Event()
        self._rest = ""
        self.requests = self.lost = 0
        self.speedup = False
        self.error = ""

    def run(self) -> None:
        try:
            while not self._end.wait(0.02):
                self._take()
            self._take()
        except OSError as error:
            self.error = error.strerror or str(error)
        finally:
            os.close(self._pipe)

    def _take(self) -> None:
        while True:
            try:
                text = os.read(self._pipe, 1 << 16).decode()
            except BlockingIOError:
                return
            if not text:
                return
            *lines, self._rest = (self._rest + text).split("\n")
            for line in lines:
                self._line(line)

    def _line(self, line: str) -> None:
        if lost := LOST.search(line):
            self.lost += int(lost[1])
        _, found, text = line.partition(": david_")
        if found and self._mine in text:
            self.requests += text.startswith("queue:")
            self.speedup |= text.startswith("mode:") and text.endswith(SPEEDUP)
            self._file.write(f"david_{text}\n")

    def stop(self) -> None:
        self._end.set()
        self.join()


def _buffer_kib(name: str) -> int:
    """Of the kernel's buffer, for each CPU: the one that tells the content is not known."""
    ranges = sum(stats.as_dict(stats.fetch(name))["ranges"].values())
    return BUFFER_KIB + ranges * RANGE_BYTES // 1024


@contextmanager
def _tracing(name: str, device: str, file: IO[str]) -> Iterator[Reader]:
    """An instance of the kernel's tracing for this disk only."""
    mount()
    instance = TRACING / "instances" / f"david-{name}"
    try:
        instance.mkdir()
    except FileExistsError:
        raise DeviceError(f"NAME {name}: it is being recorded; if not: rmdir {instance}") from None
    try:
        _write(instance / "buffer_size_kb", str(_buffer_kib(name)))
        for event in EVENTS:
            _write(instance / "events/david" / event / "enable", "1")
        reader = Reader(instance / "trace_pipe", device, file)
        reader.start()
        try:
            yield reader
        finally:
            _write(instance / "tracing_on", "0")
            reader.stop()
    finally:
        instance.rmdir()


def _table(name: str) -> tuple[str, Head]:
    table = dm.dmsetup("table", name)
    if len(table.splitlines()) != 1:
        raise DeviceError(f"NAME {name}: its table has more than one line; no recording can tell them apart")
    fields = table.split()
    words = dict(field.partition("=")[::2] for field in fields[5:])
    if "profile" not in words or words.get("mode") != "timing-accurate":
        raise DeviceError(f"NAME {name}: there are no times to be recorded without a profile, and but in "
                          f"mode=timing-accurate; david set {name} mode=timing-accurate")
    return table, Head(int(fields[1]), words["profile"])


def _begin(name: str, table: str) -> None:
    """The same table again: heads at cylinder 0, caches empty, requests counted from 0."""
    dm.dmsetup("load", name, "--table", table.strip())
    try:
        dm.dmsetup("resume", "--nolockfs", name)
    except DeviceError:
        dm.run("dmsetup", "clear", name)
        raise


def _run(command: list[str]) -> int:
    """The command, or until the user ends it. Its exit status."""
    if not command:
        say("recording; end it with Ctrl-C")
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
        return 0
    try:
        done = subprocess.run(command, check=False)
    except OSError as error:
        raise DeviceError(f"{command[0]}: {error.strerror}") from None
    # A program's writes are the disk's only when they have been written back.
    os.sync()
    return done.returncode


def _not_whole(reader: Reader, head: Head) -> str:
    """Why the recording does not say what the model did; "" if it does."""
    if reader.error:
        return reader.error
    if reader.lost:
        return f"{reader.lost} events came faster than they could be written"
    if reader.speedup and "kind=ssd" in head.profile.split(";"):
        return "the disk was in speedup for a while, and what an SSD was sent then is not recorded"
    return ""


def record(args: argparse.Namespace) -> int:
    need_root("record")
    need_disk(args.name)
    table, head = _table(args.name)
    target = Path(args.out)
    if target.exists():
        raise DeviceError(f"FILE {args.out}: it exists; give another name")
    command = args.command[args.command[:1] == ["--"] :]
    if not command:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    part = target.with_name(f".{target.name}.part")
    try:
        with open(part, "w") as file:
            file.write(head.text())
            with _tracing(args.name, dm.minor(args.name), file) as reader:
                _begin(args.name, table)
                status = _run(command)
        if why := _not_whole(reader, head):
            raise DeviceError(f"NAME {args.name}: {why}; nothing was kept")
        os.replace(part, target)
    except OSError as error:
        raise DeviceError(f"FILE {args.out}: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
    say(f"wrote {args.out}: {reader.requests} requests; david sim {args.out}")
    return status


def add_parsers(sub: Commands) -> None:
    parser = add(sub, "record", record, "record a disk's requests and their modelled times, for david sim",
                 f"  {DAVID} record big run.rec -- cp -r /usr/share/doc /mnt")
    parser.add_argument("name", metavar="NAME", type=name_arg)
    parser.add_argument("out", metavar="FILE", help="the recording to be written, a new file")
    parser.add_argument("command", metavar="COMMAND", nargs=argparse.REMAINDER,
                        help="what is recorded; without one: until Ctrl-C")
