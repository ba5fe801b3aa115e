# SPDX-License-Identifier: GPL-2.0
"""A lab's command on the caller's terminal, for `david lab shell`.

The guest's /dev/tty1 is a pseudo-terminal of the host, and what is typed and printed goes between that and
the caller's terminal. The guest's own line discipline makes signals of keys, so the caller's is raw.
"""

import contextlib
import fcntl
import os
import select
import signal
import termios
import threading
import tty
from collections.abc import Iterator
from pathlib import Path

from ..util import UserError


def check() -> None:
    if not (os.isatty(0) and os.isatty(1)):
        raise UserError("lab shell: standard input and output are no terminal; `lab run -- bash` takes "
                        "commands from a pipe")


def size() -> tuple[int, int]:
    """Columns and lines; a terminal without a size has the usual one."""
    found = os.get_terminal_size(0)
    return (found.columns or 80, found.lines or 24)


class Terminal:
    """The other side of the guest's /dev/tty1: `slave` is for the guest."""

    def __init__(self) -> None:
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        self.stop, self.stopped = os.pipe()
        self.relay = threading.Thread(target=self._relay, daemon=True)

    def resize(self) -> None:
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.master, termios.TIOCSWINSZ, fcntl.ioctl(0, termios.TIOCGWINSZ, bytes(8)))

    def _relay(self) -> None:
        watched = [0, self.master, self.stop]
        while True:
            ready = select.select(watched, [], [])[0]
            if self.master in ready:
                self._write(1, os.read(self.master, 1 << 16))
            elif self.stop in ready:  # and nothing more has been printed
                return
            if 0 in ready:
                typed = os.read(0, 1 << 12)
                if typed:
                    self._write(self.master, typed)
                else:
                    watched.remove(0)

    @staticmethod
    def _write(fd: int, data: bytes) -> None:
        while data:
            data = data[os.write(fd, data):]


@contextlib.contextmanager
def attached(private: Path) -> Iterator[Terminal]:
    """The caller's terminal is the guest's meanwhile; guest/main is told how large it is."""
    columns, lines = size()
    (private / "terminal").write_text(f"stty cols {columns} rows {lines} <$terminal\n")
    before, terminal = termios.tcgetattr(0), Terminal()
    terminal.resize()
    signal.signal(signal.SIGWINCH, lambda *_: terminal.resize())
    try:
        tty.setraw(0)
        terminal.relay.start()
        yield terminal
    finally:
        os.close(terminal.stopped)
        terminal.relay.join(timeout=2)
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        signal.signal(signal.SIGWINCH, signal.SIG_DFL)
        os.close(terminal.master)
        os.close(terminal.slave)
