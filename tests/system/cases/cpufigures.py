# SPDX-License-Identifier: GPL-2.0
"""CPU time of the module, in `david stats`: of each read it is more than nothing, and less than that took.
Where a component loops for a while, it is told of just that, and of no other.

The scheduler's clock moves by 10 ms in this lab. Of most reads it would tell nothing, of some too much.
"""

from __future__ import annotations

import ctypes
import os
import random
import statistics
import time
from collections.abc import Callable

from cases import case
from helpers import raw
from helpers.guest import Failed, device_stats, fake_disk, ram_disk, say
from helpers.planted import must_fail, planted
from helpers.units import GIB, MIB

NAME, READS, ROUNDS = "cpu", 16, 3
BLOCK, REQUESTS, WITHIN = 4096, 15, 0.1


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


# By component, requests that come through it; of the two blocks for `io` one is zeroes, and one is stored.
THROUGH: dict[str, tuple[str, Callable[[int, int], object]]] = {
    "classify": ("data", lambda fd, at: raw.write(fd, raw.patterned(at, BLOCK), at)),
    "map": ("data", lambda fd, at: raw.read(fd, BLOCK, at)),
    "content": ("data", lambda fd, at: raw.read(fd, BLOCK, at)),
    "io": ("keep", lambda fd, at: raw.write(fd, bytes(BLOCK) + raw.patterned(at, BLOCK), GIB // 2 + 2 * at)),
    "model": ("data", lambda fd, at: raw.read(fd, BLOCK, at)),
}


def asked(fd: int, request: Callable[[int, int], object], number: int) -> tuple[int, dict[str, int]]:
    """How long a request took, and what is told of each component, ns."""
    before = told()
    took = elapsed(lambda: request(fd, number * BLOCK))
    return took, {name: ns - before[name] for name, ns in told().items()}


def told_of(component: str, bug: str) -> float:
    """The share of a request's time that is told of this component, where a loop takes nearly all of it.
    Of others nothing is. The largest share of several requests: between the loop and the program the host may
    have other work for milliseconds, as a program is another process of the host's than the kernel."""
    classify, request = THROUGH[component]
    with ram_disk(64 * MIB) as ram:
        options = ("--classify", classify, "--profile", "samsung-pm883", "--mode", "speedup")
        with fake_disk(NAME, GIB, ram, *options) as disk, raw.opened(disk) as fd:
            for number in range(REQUESTS):
                raw.write(fd, raw.patterned(number, BLOCK), number * BLOCK)
            usual = statistics.median(asked(fd, request, number)[0] for number in range(REQUESTS))
            with planted(bug):
                found = [asked(fd, request, number) for number in range(REQUESTS)]
    longer = statistics.median(took for took, _ in found)
    shares = {name: statistics.median(spent[name] / took for took, spent in found) for name in found[0][1]}
    say(f"{bug}: a request took {usual:.0f} ns, and {longer:.0f}; told {shares}")
    if usual > WITHIN / 2 * longer:
        raise Failed(f"{bug}: a request took {usual:.0f} ns, and {longer:.0f}: the loop is too short")
    if elsewhere := [name for name, share in shares.items() if name != component and share > WITHIN / 2]:
        raise Failed(f"{bug}: told of {', '.join(elsewhere)}: {shares}")
    if more := [(took, spent) for took, spent in found if sum(spent.values()) > took]:
        raise Failed(f"{bug}: of a request is told more than it took: {more}")
    return max(spent[component] / took for took, spent in found)


@case(planted=True)
def a_loop_is_told_of_its_component_and_of_no_other() -> None:
    for component in THROUGH:
        share = told_of(component, f"busy_{component}")
        if share < 1 - WITHIN:
            raise Failed(f"{component}: {share:.2f} of a loop is told")
    with must_fail():
        share = told_of("io", "untold")
        if share < 1 - WITHIN:
            raise Failed(f"io: {share:.2f} of a loop is told")
