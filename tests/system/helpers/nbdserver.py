# SPDX-License-Identifier: GPL-2.0
"""A disk served by nbdkit, or whatever serves NBD, to the kernel of the lab."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from helpers.guest import SCRATCH, Failed, dm

DEVICE = "/dev/nbd0"
NAME = "fake"  # of the export


def wait_for(what: str, done: Callable[[], bool], log: str) -> None:
    for _ in range(250):
        if done():
            return
        time.sleep(0.02)
    with open(log) as file:
        raise Failed(f"{what} takes more than 5 s: {file.read()[-1000:]}")


@contextmanager
def program(*command: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A server that runs until it is told to end."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    log = f"{SCRATCH}/server.log"
    with open(log, "wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output, env=dm.environment())
    try:
        yield server, log
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def listens(port: int) -> bool:
    """Without connecting, which nbd-server would take for a client."""
    with open("/proc/net/tcp") as file:
        return any(f":{port:04X} 00000000:0000 0A" in line for line in file)
