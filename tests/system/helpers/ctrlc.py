# SPDX-License-Identifier: GPL-2.0
"""Ctrl-C, for tests that send it to what they have started.

A shell that begins a command in the background has it ignore SIGINT, and what is ignored at a program's start
stays so for all that it starts.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


def for_children() -> None:
    """What is started from here on heeds Ctrl-C. If this process ignores it, it goes on so: a handler is
    no child's, and this one does nothing.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: None)


@contextmanager
def for_us() -> Iterator[None]:
    """This process heeds it, too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
