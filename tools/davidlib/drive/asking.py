# SPDX-License-Identifier: GPL-2.0
"""david-sim asked by many threads, so that one who stops them all need not wait for its answers.

A thread that waits for a program does not see Ctrl-C, and would ask the next one. So whoever stops calls
stop(): what runs is ended, and every later call raises Stopped.
"""

from __future__ import annotations

import signal
import subprocess
import threading
from collections import Counter


class Stopped(KeyboardInterrupt):
    """Nothing is asked any more."""


class Asking:
    """The programs of one command."""

    def __init__(self) -> None:
        self.lock = threading.Lock()  # of what follows
        self.running: set[subprocess.Popen[str]] = set()
        self.stopped = False
        self.done: Counter[int] = Counter()  # programs that have ended by themselves, by who asked

    def run(self, line: list[str]) -> subprocess.CompletedProcess[str]:
        with self.lock:
            if self.stopped:
                raise Stopped
            program = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.running.add(program)
        try:
            said, error = program.communicate()
        except BaseException:
            program.kill()
            program.wait()
            raise
        finally:
            with self.lock:
                self.running.discard(program)
        # A terminal sends Ctrl-C to the programs as well, and they may have it first.
        if self.stopped or program.returncode == -signal.SIGINT:
            raise Stopped
        with self.lock:
            self.done[threading.get_ident()] += 1
        return subprocess.CompletedProcess(line, program.returncode, said, error)

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            for program in self.running:
                program.kill()
