# SPDX-License-Identifier: GPL-2.0
"""A store: its table line, its state, its events, and table lines that must be refused."""

from __future__ import annotations

import errno
import subprocess

from helpers import raw
from helpers.guest import Failed, dm, kmsg, run
from helpers.raw import BLOCK
from helpers.units import TIB


def table(device: str, *words: str) -> str:
    return f"0 {TIB >> 9} david {device} {len(words)} {' '.join(words)}"


def fill_table(fd: int, data: bytes, most: int) -> int:
    """Write `data` where each is a range of its own, until the table is full: how many were taken."""
    for number in range(most):
        try:
            raw.write(fd, data, number * 2 * BLOCK)
        except OSError as error:
            assert error.errno == errno.ENOSPC, error
            return number
    raise Failed("the table has no end")


def events(name: str) -> int:
    return int(run("dmsetup", "info", "-c", "--noheadings", "-o", "events", name))


def wait_event(name: str, after: int) -> None:
    """`dmsetup wait`, but not for ever."""
    done = subprocess.run(["timeout", "10", "dmsetup", "wait", name, str(after)], env=dm.environment())
    if done.returncode:
        raise Failed(f"no event after number {after} within 10 s")


def state(name: str) -> str:
    word = run("dmsetup", "status", name).split()[3]
    return word.removeprefix("state=")


SECTORS = TIB >> 9


def refused(name: str, words: str) -> str:
    """The kernel's reason for not making the device; Failed if it was made."""
    with kmsg.KernelLog() as log:
        done = subprocess.run(
            ["dmsetup", "create", name, "--table", f"0 {SECTORS} david {words}"],
            capture_output=True,
            env=dm.environment(),
        )
        lines = [line for line in log.new_lines() if " david: " in line]
    made = dm.exists(name)
    if made:
        run("dmsetup", "remove", name)
    if made or done.returncode == 0:
        raise Failed(f"table '{words}' was taken")
    if not lines:
        raise Failed(f"table '{words}': the kernel log says nothing")
    return lines[-1].split(" david: ", 1)[1]


def table_of(name: str) -> str:
    return run("dmsetup", "table", name).strip()
