# SPDX-License-Identifier: GPL-2.0
"""An ext4 that logs its data, on layers that drop the marks of requests: its log is written from the files'
own pages. It is cut off, and must recover from the log.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import ExitStack

from helpers.guest import david, loop_disk, mounted, run
from helpers.lvmtool import GROUP, lvm, volume
from helpers.stacks import NOISE, Stack
from helpers.units import GIB, MIB
from helpers.victim import (
    drop_caches,
    flush_buffers,
    linear,
    look,
    make,
    many_directories,
    populate,
    shut_down,
    sync,
    told,
    tree,
)

Place = Callable[[Stack], str]

MIRROR = "--bitmap=none --assume-clean"


def on_raid1(stack: Stack) -> str:
    return stack.md(7, f"--level=1 {MIRROR}", stack.disk(GIB), stack.disk(GIB))


def on_raid10(stack: Stack) -> str:
    return stack.md(7, f"--level=10 --layout=n2 {MIRROR}", stack.disk(GIB), stack.disk(GIB))


def on_a_loop(stack: Stack) -> str:
    return stack.loop(stack.disk(GIB), MIB)


def on_a_loop_on_a_loop(stack: Stack) -> str:
    return stack.loop(stack.loop(stack.disk(GIB), MIB), MIB)


def on_a_volume_on_a_loop(stack: Stack) -> str:
    return stack.mapper.create("a", linear(512 * MIB, stack.loop(stack.disk(GIB)), 64 * MIB))


def on_a_volume_on_raid1(stack: Stack) -> str:
    return stack.mapper.create("a", linear(512 * MIB, on_raid1(stack), 64 * MIB))


def on_raid1_of_loops(stack: Stack) -> str:
    loops = [stack.loop(stack.disk(GIB), MIB) for _ in range(2)]
    return stack.md(7, f"--level=1 {MIRROR}", *loops)


def on_a_volume(stack: Stack) -> str:
    first, second = stack.disk(GIB), stack.disk(GIB)
    stack.group(first, second)
    lvm("lvcreate", "-n", "a", "-L", "100M", GROUP, first)
    lvm("lvextend", "-L", "800M", f"{GROUP}/a", second)
    return volume("a")


def write_and_sync(top: str) -> None:
    """Each a transaction, whose data is in the log."""
    os.mkdir(f"{top}/synced")
    for i in range(40):
        with open(f"{top}/synced/{i}", "wb") as file:
            file.write(NOISE[i : i + 50_000])
            file.flush()
            os.fsync(file.fileno())


def log_on(stack: Stack, device: str) -> tuple[str, ...]:
    """An ext4 on a disk that stores everything; its log on the device."""
    run("mke2fs", "-q", "-F", "-O", "journal_dev", "-b", "4096", device, "16384")
    return (stack.stack.enter_context(loop_disk(GIB)), "-J", f"device={device}")


def recovered(
    mode: str, place: Place, *features: str, options: str = "data=journal", apart: bool = False
) -> None:
    with ExitStack() as exits:
        stack = Stack(exits, mode)
        device = place(stack)
        if apart:
            device, *words = log_on(stack, device)
            features = (*features, *words)
        make("ext4", device, *(features or ("-J", "size=64")))
        david("stack")
        with mounted(device, "ext4", options) as top:
            # Layers are heard from the first page on that says data.
            populate(top, "old", 60)
            sync(top)
            time.sleep(1)
            populate(top, "more", 60)
            sync(top)
            write_and_sync(top)
            many_directories(top, "t", 40)
            sync(top)
            expected = tree(top)
            shut_down(top)
        for name in stack.disks:
            told(mode, name)
        drop_caches()
        flush_buffers(device)
        with mounted(device, "ext4", options):
            pass  # from the log
        look("ext4", device, expected, "recovered")
