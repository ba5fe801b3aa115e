# SPDX-License-Identifier: GPL-2.0
"""The legs of a mirror drop the same, though a leg may let its requests wait: evidence may be gone by then.

A leg that is suspended takes no request. The other one has judged them all when it goes on.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from helpers.guest import Failed, device_stats, mounted, run
from helpers.planted import must_fail, planted
from helpers.raw import BLOCK, opened
from helpers.stacks import NOISE, Stack, checked_by_md
from helpers.units import MIB
from helpers.victim import make, sync, wait_until

from cases import case

# Each a request of its own, and far more than a plug, a queue or a small table holds.
SCATTERED = 6000


@contextmanager
def suspended(disk: str) -> Iterator[None]:
    run("dmsetup", "suspend", "--nolockfs", "--noflush", disk)
    try:
        yield
    finally:
        run("dmsetup", "resume", disk)


def dropped(disk: str) -> int:
    return int(device_stats(disk)["written"]["squashed"])  # type: ignore[index]


@contextmanager
def mirror() -> Iterator[str]:
    """An ext4 on two fake disks; in the end md compares all of them."""
    with ExitStack() as exits:
        stack = Stack(exits)
        disks = [stack.disk(128 * MIB), stack.disk(128 * MIB)]
        array = stack.md(7, "--level=1 --bitmap=none --assume-clean", *disks)
        # Otherwise md marks the array as clean, and as not so, on both legs.
        Path(f"/sys/block/{Path(array).name}/md/safe_mode_delay").write_text("0")
        make("ext4", array, "-b", str(BLOCK), "-O", "^has_journal")
        with mounted(array, "ext4") as top:
            wait_until(lambda: is_seen(top), "the layers are seen through", 60)
            yield top
        checked_by_md(array)


def is_seen(top: str) -> bool:
    with open(f"{top}/first", "wb") as file:
        file.write(NOISE)
    sync(top)
    return dropped("victim") > 0


def written_while_one_leg_waits(top: str, fd: int, blocks: int, meanwhile: Callable[[], None]) -> None:
    """The first leg has all of the file's `blocks` before the other one has any."""
    before = dropped("victim")
    writer = threading.Thread(target=os.fsync, args=(fd,))
    with suspended("second"):
        writer.start()
        wait_until(lambda: dropped("victim") >= before + blocks, "the first leg has the file", 60)
        meanwhile()
    writer.join()


def many_requests_wait_for_a_leg() -> None:
    with mirror() as top, opened(f"{top}/file", os.O_RDWR | os.O_CREAT) as fd:
        os.posix_fallocate(fd, 0, 2 * SCATTERED * BLOCK)
        os.fsync(fd)
        for i in range(SCATTERED):
            os.pwrite(fd, NOISE[i : i + BLOCK], 2 * i * BLOCK)
        one, other = dropped("victim"), dropped("second")
        written_while_one_leg_waits(top, fd, SCATTERED, lambda: None)
        one, other = dropped("victim") - one, dropped("second") - other
        if one != SCATTERED or other != SCATTERED:
            raise Failed(f"of {SCATTERED} blocks one leg dropped {one}, the other {other}")


def a_file_is_cut_while_it_waits_for_a_leg() -> None:
    with mirror() as top, opened(f"{top}/file", os.O_RDWR | os.O_CREAT) as fd:
        os.pwrite(fd, NOISE, 0)
        cutter = threading.Thread(target=os.truncate, args=(f"{top}/file", BLOCK))

        def cut() -> None:
            cutter.start()
            wait_until(lambda: os.stat(f"{top}/file").st_size == BLOCK, "the file is cut", 60)

        written_while_one_leg_waits(top, fd, len(NOISE) // BLOCK, cut)
        cutter.join()


@case
def a_leg_that_lets_many_requests_wait_drops_what_the_other_does() -> None:
    many_requests_wait_for_a_leg()


@case
def a_leg_drops_what_the_other_does_of_a_file_that_is_cut_meanwhile() -> None:
    a_file_is_cut_while_it_waits_for_a_leg()


@case(planted=True)
def planted_requests_that_are_lost_on_the_way_to_a_leg_are_found() -> None:
    with planted("lost"), must_fail():
        many_requests_wait_for_a_leg()


@case(planted=True)
def planted_legs_that_judge_for_themselves_are_found() -> None:
    with planted("legs"), must_fail():
        a_file_is_cut_while_it_waits_for_a_leg()
