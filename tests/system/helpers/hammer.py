# SPDX-License-Identifier: GPL-2.0
"""A process that writes and reads back while something else happens to the disk."""

from __future__ import annotations

import errno
import multiprocessing
import random
from collections.abc import Callable
from multiprocessing.synchronize import Event

from helpers import raw
from helpers.guest import Failed
from helpers.raw import BLOCK
from helpers.units import GIB, MIB

FORK = multiprocessing.get_context("fork")


class Hammer:
    """A process that writes blocks of a disk and reads them back, until it is stopped."""

    def __init__(self, disk: str, seed: int, base: int = GIB, blocks: int = 512) -> None:
        self.stop: Event = FORK.Event()
        self.ready: Event = FORK.Event()
        self.report, child = FORK.Pipe(duplex=False)
        self.process = FORK.Process(target=self._work, args=(disk, seed, base, blocks, child))
        self.process.start()
        child.close()
        if not self.ready.wait(20):
            raise Failed("the process that does the I/O does not get going")

    def _work(self, disk: str, seed: int, base: int, blocks: int, child: object) -> None:
        done, error = 0, ""
        try:
            rng = random.Random(seed)
            pool = rng.randbytes(MIB)
            shadow: dict[int, int] = {}
            with raw.opened(disk) as fd:
                while not self.stop.is_set():
                    block, source = rng.randrange(blocks), rng.randrange(MIB - BLOCK)
                    raw.write(fd, pool[source : source + BLOCK], base + block * BLOCK)
                    shadow[block] = source
                    block = rng.choice(list(shadow)) if done % 8 == 0 else block
                    source = shadow[block]
                    raw.must_read(fd, pool[source : source + BLOCK], base + block * BLOCK)
                    done += 1
                    if done == 20:
                        self.ready.set()
                for block, source in shadow.items():
                    raw.must_read(
                        fd, pool[source : source + BLOCK], base + block * BLOCK, "at the end, content"
                    )
        except OSError as wrong:
            error = errno.errorcode.get(wrong.errno or 0, str(wrong))
        except Exception as wrong:
            error = f"{type(wrong).__name__}: {wrong}"
        self.ready.set()
        child.send((done, error))  # type: ignore[attr-defined]

    def finish(self, timeout: float = 60) -> tuple[int, str]:
        """Requests done, and what went wrong."""
        self.stop.set()
        if not self.report.poll(timeout):
            self.process.kill()
            raise Failed("I/O hangs: the process that does it cannot be stopped")
        result = self.report.recv()
        self.process.join(timeout)
        return result


class Processes:
    """Runs each function in a process of its own, until they are told to stop; what they raise is told."""

    def __init__(self, *functions: Callable[[Callable[[], bool]], None]) -> None:
        self.stop = FORK.Event()
        self.all = []
        for function in functions:
            ours, theirs = FORK.Pipe(duplex=False)
            process = FORK.Process(target=self._work, args=(function, theirs))
            process.start()
            theirs.close()
            self.all.append((ours, process))

    def _work(self, function: Callable[[Callable[[], bool]], None], report: object) -> None:
        error = ""
        try:
            function(self.stop.is_set)
        except Exception as wrong:
            error = f"{type(wrong).__name__}: {wrong}"
        report.send(error)  # type: ignore[attr-defined]

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for _, process in self.all:
            process.kill()
            process.join(10)

    def finish(self, timeout: float = 200) -> None:
        self.stop.set()
        errors = []
        for ours, process in self.all:
            if not ours.poll(timeout):
                process.kill()
                raise Failed("a process cannot be stopped: its I/O hangs")
            errors.append(ours.recv())
            process.join(10)
        assert not any(errors), errors
