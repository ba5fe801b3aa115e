# SPDX-License-Identifier: GPL-2.0
"""A file system that lives on a fake disk while something else writes there, too: made, filled, and looked
at for losses.

A scenario is a function of the classification's mode. `in_modes` makes a case of it for each mode; `keep` is
the control: what is lost there is not the classification's fault.
"""

from __future__ import annotations

import fcntl
import os
import random
import struct
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from cases import case
from helpers.filesystems import TOOLS
from helpers.guest import (
    Failed,
    david,
    device_stats,
    dm,
    fake_disk,
    libc,
    loop_disk,
    mounted,
    remove,
    run,
    swap_table,
)
from helpers.manifest import difference, manifest
from helpers.raw import opened
from helpers.units import GIB

MODES = ("keep", "auto", "explicit", "implicit")
FS_IOC_SHUTDOWN, LOGFLUSH, NOLOGFLUSH = 0x8004587D, 1, 2
BLKFLSBUF = 0x1261
POOL = random.Random(13).randbytes(256 << 10)

Scenario = Callable[[str], None]


def in_modes(*modes: str, complaints: str = "") -> Callable[[Scenario], Scenario]:
    """A case for each mode: NAME_in_keep, NAME_in_auto. The kernel may complain of `complaints`."""

    def cases_of(scenario: Scenario) -> Scenario:
        for mode in modes:

            def one(mode: str = mode) -> None:
                scenario(mode)

            one.__name__ = f"{scenario.__name__}_in_{mode}"  # type: ignore[attr-defined]
            one.__module__ = scenario.__module__
            scenario.__globals__[one.__name__] = case(one, complaints=complaints)  # type: ignore[attr-defined]
        return scenario

    return cases_of


@contextmanager
def fake(
    mode: str, size: int = 10 * GIB, store: int = GIB, name: str = "victim", *options: str
) -> Iterator[tuple[str, str]]:
    """A fake disk of that mode, and its backing device."""
    with loop_disk(store) as backing, fake_disk(name, size, backing, "--classify", mode, *options) as disk:
        yield disk, backing


def next_boot(mode: str, size: int, backing: str, name: str = "victim") -> None:
    """The same disk, with nothing in memory of what was seen before."""
    remove(name)
    david("create", name, "--size", str(size), "--backing", backing, "--classify", mode)


def make(fs: str, device: str, *words: str) -> None:
    run(*TOOLS[fs].mkfs, *words, device)


def drop_caches() -> None:
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w") as file:
        file.write("3")


def flush_buffers(device: str) -> None:
    with open(device, "rb") as file:
        fcntl.ioctl(file, BLKFLSBUF)


def populate(top: str, name: str, count: int = 120) -> None:
    """Directories, long names, links, attributes, and files of data: metadata of every kind, which lies
    in blocks of its own.
    """
    for i in range(count):
        where = f"{top}/{name}/d{i % 17}"
        os.makedirs(where, exist_ok=True)
        path = f"{where}/file-{i}-{'x' * (i % 90)}"
        with open(path, "wb") as file:
            file.write(POOL[i : i + 3000 + i * 97 % 40000])
        if i % 3 == 0:
            os.symlink("t" * (i % 200 + 1), f"{where}/link-{i}")
        if i % 5 == 0:
            os.setxattr(path, "user.a", bytes([65 + i % 26]) * (i % 1500 + 1))


def plain(top: str, name: str, count: int) -> None:
    """No links, no attributes, no long names: every file system has the rest."""
    for i in range(count):
        where = f"{top}/{name}/d{i % 17}"
        os.makedirs(where, exist_ok=True)
        Path(f"{where}/file-{i}").write_bytes(os.urandom(3000 + i * 97 % 40000))


def many_directories(top: str, name: str, count: int = 200) -> None:
    """One block of metadata each, and one for a long link."""
    for i in range(count):
        where = f"{top}/{name}{i}"
        os.makedirs(f"{where}/sub")
        with open(f"{where}/sub/file", "w") as file:
            file.write(f"{i}\n")
        os.symlink("z" * 100, f"{where}/link")


def tree(top: str) -> list[str]:
    return manifest(top)


def sync(top: str) -> None:
    with opened(top, os.O_RDONLY) as directory:
        libc.syncfs(directory)


def shut_down(top: str, flags: int = LOGFLUSH) -> None:
    """The file system writes no more: what a power cut leaves."""
    with opened(top, os.O_RDONLY) as directory:
        fcntl.ioctl(directory, FS_IOC_SHUTDOWN, struct.pack("I", flags))


def look(fs: str, device: str, expected: list[str] | None, when: str = "", options: str = "") -> None:
    """From the disk, not from memory: the checker is content, and the tree is as it was."""
    drop_caches()
    flush_buffers(device)
    where = f"{when or fs}: "
    try:
        run(*TOOLS[fs].check, device)
        with mounted(device, fs, options) as top:
            found = tree(top)
    except (Failed, OSError) as error:
        raise Failed(f"{where}{error}") from None
    if expected is not None and (wrong := difference(expected, found)):
        raise Failed(f"{where}the tree differs:\n" + "\n".join(wrong))


def written(name: str = "victim") -> dict[str, int]:
    return dict(device_stats(name)["written"])  # type: ignore[call-overload]


def told(mode: str, name: str = "victim") -> None:
    """How much was squashed, for the one who reads the log."""
    figures = {key: value for key, value in written(name).items() if value}
    print(f"victim: {sys._getframe(1).f_code.co_name} {mode}: {figures}", file=sys.stderr, flush=True)


def squashes(name: str = "victim", least: int = 1) -> None:
    """A disk that keeps everything passes all other tests."""
    if (found := written(name)["squashed"]) < least:
        raise Failed(f"{found} blocks squashed, at least {least} expected: {written(name)}")


class Mapper:
    """Device-mapper devices, taken away in the opposite order."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack

    def create(self, name: str, table: str) -> str:
        run("dmsetup", "create", name, "--table", table)
        self.stack.callback(lambda: dm.exists(name) and remove(name))
        dm.make_node(name)
        return f"/dev/mapper/{name}"

    def load(self, name: str, table: str) -> None:
        swap_table(name, table)


def size_of(device: str) -> int:
    with open(device, "rb") as file:
        return file.seek(0, os.SEEK_END)


def wait_until(done: Callable[[], bool], what: str, seconds: int = 30) -> None:
    for _ in range(seconds * 5):
        if done():
            return
        time.sleep(0.2)
    raise Failed(f"{what}: not after {seconds} s")


def linear(length: int, device: str, start: int, at: int = 0) -> str:
    """A line of a table, in bytes."""
    return f"{at >> 9} {length >> 9} linear {device} {start >> 9}"
