# SPDX-License-Identifier: GPL-2.0
"""Standard input of a lab's command: what comes in on the host, in files that guest/main hands on.

A guest has no descriptor of the host's. So each piece is a file of the private directory: 0, 1, 2, ..., and
an empty one at the end. guest/main removes what it has handed on. Under virtual time all of it is read before
the guest starts: there, waiting for a piece would move the clock.
"""

import os
import stat
import sys
import threading
import time
from pathlib import Path

PIECE = 64 << 10
# Pieces that may wait for the guest; who writes more has to wait, as with a pipe.
MOST = 64
POLL = 0.02
# Who reads all of it first says so, if the end does not come.
PATIENCE = 2


def is_given(fd: int = 0) -> bool:
    """A pipe, a socket or a file: a terminal is for `lab shell`, and /dev/null has nothing."""
    try:
        mode = os.fstat(fd).st_mode
    except OSError:  # closed
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _put(where: Path, number: int, data: bytes) -> None:
    new = where / "new"
    new.write_bytes(data)
    new.rename(where / str(number))


def _read_full(fd: int) -> bytes:
    """A whole piece, or what is left: so the pieces are the same, however the input came."""
    data = b""
    while len(data) < PIECE and (more := os.read(fd, PIECE - len(data))):
        data += more
    return data


def read_all(where: Path, fd: int = 0) -> None:
    """Before the guest starts."""
    tell = threading.Timer(PATIENCE, lambda: print(
        "lab: reading standard input to its end first, as virtual time wants it; </dev/null if there is none",
        file=sys.stderr, flush=True))
    tell.daemon = True
    tell.start()
    number = 0
    while data := _read_full(fd):
        _put(where, number, data)
        number += 1
    tell.cancel()
    _put(where, number, b"")


def feed(where: Path, fd: int = 0) -> None:
    """While the guest runs; ends with this process."""
    threading.Thread(target=_feed, args=(where, fd), daemon=True).start()


def _feed(where: Path, fd: int) -> None:
    number = 0
    try:
        while True:
            data = os.read(fd, PIECE)
            _put(where, number, data)
            if not data:
                return
            number += 1
            while len(os.listdir(where)) >= MOST:
                time.sleep(POLL)
    except OSError:  # the lab is over, and its directory gone
        pass
