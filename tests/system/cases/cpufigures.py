# SPDX-License-Identifier: GPL-2.0
"""CPU time of the module, in `david stats`: of each read it is more than nothing, and less than that took.

The scheduler's clock moves by 10 ms in this lab. Of most reads it would tell nothing, of some too much.
"""

from __future__ import annotations

import ctypes
import os
import random
import time
from collections.abc import Callable

from cases import case
from helpers import raw
from helpers.guest import Failed, device_stats, fake_disk, ram_disk, say
from helpers.units import GIB, MIB

NAME, READS, ROUNDS = "cpu", 16, 3


def elapsed(work: Callable[[], object]) -> int:
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    work()
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) - before


def told() -> dict[str, int]:
    return device_stats(NAME)["cpu"]  # type: ignore[return-value]


def read(fd: int, offset: int) -> None:
    if os.preadv(fd, [raw.BUFFER.view[:MIB]], offset) != MIB:
        raise Failed("a short read")


@case(seldom=True)
def making_up_content_takes_longer_than_writing_it_and_less_than_the_read() -> None:
    address = ctypes.addressof(ctypes.c_char.from_buffer(raw.BUFFER.map))
    least, shares = min(elapsed(lambda: ctypes.memset(address, 1, MIB)) for _ in range(50)), []
    with ram_disk(64 * MIB) as ram, fake_disk(NAME, GIB, ram, "--classify", "data") as disk:
        with raw.opened(disk) as fd:
            for number in range(READS):
                raw.write(fd, random.Random(number).randbytes(MIB), number * MIB)
            for number in range(ROUNDS * READS):
                before = told()
                took = elapsed(lambda at=number % READS * MIB: read(fd, at))  # type: ignore[misc]
                spent = {name: ns - before[name] for name, ns in told().items()}
                if not (least / 2 <= spent["content"] and sum(spent.values()) <= took):
                    raise Failed(f"a read of {took} ns: {spent}; to write as much takes {least} ns")
                if spent["classify"] or spent["io"] or spent["model"]:
                    raise Failed(f"a read of what is made up: {spent}")
                shares.append(spent["content"] / took)
    some = f"content {100 * min(shares):.0f} to {100 * max(shares):.0f} % of the time"
    say(f"{len(shares)} reads of 1 MiB: {some}; to write as much takes {least} ns")
