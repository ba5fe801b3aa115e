# SPDX-License-Identifier: GPL-2.0
"""The pages of ways.toml: how each reaches a device on which an ext4 is mounted; and whether what the fake
disks made of it is right. All pages are tried in one life of the file system.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import random
import struct
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from helpers import udev
from helpers.guest import Failed, david, device_stats, loop_disk, mounted, run
from helpers.manifest import difference
from helpers.raw import BLOCK, opened
from helpers.stacks import Stack
from helpers.swapping import swapped_out
from helpers.units import MIB
from helpers.victim import (
    drop_caches,
    flush_buffers,
    make,
    many_directories,
    populate,
    shut_down,
    sync,
    tree,
)
from helpers.waylayers import LAYERS, Top

TABLE = Path(__file__).resolve().parents[1] / "ways.toml"
SIZE = 2 * MIB
LEAST = 0.99
FIEMAP, EXTENTS = 0xC020660B, 64


class NotBuilt(Failed):
    """The kernel, or its tools, cannot make the layer."""


@dataclass(frozen=True)
class Way:
    page: str
    layer: str
    who: str
    right: str = ""  # dropped or kept
    none: str = ""  # why there is no such way


@dataclass(frozen=True)
class Cell:
    """What became of a way."""

    way: Way
    wrong: str
    found: str


def ways() -> list[Way]:
    with open(TABLE, "rb") as file:
        return [Way(**row) for row in tomllib.load(file)["ways"]]


@dataclass
class Life:
    """Where pages may come from while the file system is mounted."""

    top: str
    device: str
    elsewhere: str  # a file system on another disk
    outer: str  # that of the loop device's file, or the one on top


@contextmanager
def anonymous(content: bytes) -> Iterator[memoryview]:
    with mmap.mmap(-1, len(content), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as pages:
        pages[:] = content
        with memoryview(pages) as view:
            yield view


@contextmanager
def of_a_file(path: str, content: bytes) -> Iterator[memoryview]:
    """The pages of a file that is not written to any more."""
    with opened(path, os.O_RDWR | os.O_CREAT) as fd:
        with of_an_open_file(fd, content) as view:
            os.fsync(fd)
            yield view


@contextmanager
def of_an_open_file(fd: int, content: bytes) -> Iterator[memoryview]:
    os.pwrite(fd, content, 0)
    with mmap.mmap(fd, len(content), prot=mmap.PROT_READ) as pages, memoryview(pages) as view:
        yield view


@contextmanager
def of_a_memfd(content: bytes) -> Iterator[memoryview]:
    fd = os.memfd_create("way")
    try:
        with of_an_open_file(fd, content) as view:
            yield view
    finally:
        os.close(fd)


def past_the_cache(path: str, view: memoryview, at: int = 0) -> None:
    with opened(path, os.O_WRONLY | os.O_DIRECT) as fd:
        done = os.pwrite(fd, view, at)
        assert done == len(view), f"{done} bytes written to {path}"
        os.fsync(fd)


def extents(path: str) -> Iterator[tuple[int, int, int]]:
    """Offset in the file, place on the device, length."""
    room = bytearray(struct.pack("=QQIIII", 0, 1 << 62, 1, 0, EXTENTS, 0) + bytes(56 * EXTENTS))
    with opened(path, os.O_RDONLY) as file:
        fcntl.ioctl(file, FIEMAP, room)
    for number in range(struct.unpack_from("=I", room, 20)[0]):
        yield struct.unpack_from("=QQQ", room, 32 + 56 * number)


# Each writes `content` over `path`, a file of the file system on top, so that it is on the device when it
# returns. `measured` is entered for what is to be judged.

Measured = Callable[[], AbstractContextManager[None]]


def file(life: Life, path: str, content: bytes, measured: Measured) -> None:
    with measured(), opened(path, os.O_WRONLY) as fd:
        os.pwrite(fd, content, 0)
        os.fsync(fd)


def mapped(life: Life, path: str, content: bytes, measured: Measured) -> None:
    with of_a_file(f"{life.outer}/source", content) as view:
        sync(life.outer)
        with measured():
            past_the_cache(path, view)


def memory(life: Life, path: str, content: bytes, measured: Measured) -> None:
    with anonymous(content) as view, measured():
        past_the_cache(path, view)


def below(life: Life, path: str, content: bytes, measured: Measured) -> None:
    """To the file's blocks, on the device: from memory and from another file's pages by turns."""
    source = f"{life.top}/below"
    with anonymous(content) as view, of_a_file(source, content) as pages:
        sync(life.top)
        with measured():
            for start, place, length in extents(path):
                for at in range(0, min(length, len(content) - start), MIB // 8):
                    size = min(MIB // 8, length - at)
                    buffer = view if (start + at) // (MIB // 8) % 2 else pages
                    with buffer[start + at : start + at + size] as piece:
                        past_the_cache(life.device, piece, place + at)


def elsewhere(life: Life, path: str, content: bytes, measured: Measured) -> None:
    half = len(content) // 2
    with (
        of_a_memfd(content[:half]) as first,
        of_a_file(f"{life.elsewhere}/source", content[half:]) as second,
        measured(),
    ):
        past_the_cache(path, first)
        past_the_cache(path, second, half)


WRITERS = {
    "inner file": file,
    "outer file": mapped,
    "anonymous": memory,
    "another device's inode": elsewhere,
    "anonymous, to the device": below,  # last: udev opens what was written to
}
PAGES = (*WRITERS, "swap", "kernel memory")


def dropped(disks: list[str]) -> int:
    """Blocks whose pages said data. Copies of made-up content, as the kernel makes some, are not counted."""
    figures = [device_stats(disk) for disk in disks]
    return sum(each["written"]["squashed"] - each["evidence"]["made_up"] for each in figures)  # type: ignore[index]


def swap_out(path: str, content: bytes, disks: list[str]) -> tuple[int, bool]:
    """How many blocks were dropped, and whether the memory is what it was."""
    found: list[int] = []
    run("mkswap", path)
    os.chmod(path, 0o600)
    sync(os.path.dirname(path))
    run("swapon", path)
    try:
        before = dropped(disks)
        size, exact = swapped_out(content, lambda: found.append(dropped(disks) - before))
    finally:
        run("swapoff", path)
    if size < len(content) // 2:
        raise Failed(f"{size} bytes of memory were swapped")
    return found[0], exact


class Trial:
    """All pages through one layer."""

    def __init__(self, layer: str, mode: str, stack: Stack) -> None:
        self.stack, self.layer = stack, layer
        self.rows = [way for way in ways() if way.layer == layer]
        try:
            self.top: Top = LAYERS[layer](stack)
        except (Failed, OSError) as error:
            raise NotBuilt(f"{layer}: {error}") from None
        self.rng = random.Random(f"{layer}")
        self.dropped: dict[str, int] = {}
        self.exact: dict[str, bool] = {}
        self.content: dict[str, bytes] = {}

    @contextmanager
    def measured(self, page: str) -> Iterator[None]:
        before = dropped(self.stack.disks)
        yield
        self.dropped[page] = dropped(self.stack.disks) - before

    def run(self) -> list[Cell]:
        device = self.top.device
        if not self.top.made:
            make("ext4", device, "-b", str(BLOCK), "-J", "size=8", "-E", "lazy_itable_init=0")
        david("stack")
        with ExitStack() as exits:
            other = exits.enter_context(loop_disk(32 * MIB))
            make("ext4", other)
            aside = exits.enter_context(mounted(other, "ext4"))
            with mounted(device, "ext4") as top:
                self.write(Life(top, device, aside, self.top.outer or top))
                expected = tree(top)
            metadata = self.recovers(expected)
        self.top.look()
        return [self.judge(way, metadata) for way in self.rows]

    def write(self, life: Life) -> None:
        where = f"{life.top}/files"
        os.mkdir(where)
        if self.top.wanted:
            david("raw", "add", self.top.wanted, where)
        # What is heard first is kept; what a thin pool provisions, too. What is judged goes over this.
        populate(life.top, "metadata", 20)
        sync(life.top)
        time.sleep(0.2)
        for page in PAGES:
            with opened(f"{where}/{page}".replace(" ", "_"), os.O_WRONLY | os.O_CREAT) as fd:
                os.pwrite(fd, self.rng.randbytes(SIZE), 0)
        many_directories(life.top, "t", 20)
        sync(life.top)
        udev.settle()
        wanted = {way.page for way in self.rows if not way.none}
        for page, write in WRITERS.items():
            if page in wanted:
                self.content[page] = self.rng.randbytes(SIZE)
                path = f"{where}/{page}".replace(" ", "_")
                write(life, path, self.content[page], lambda page=page: self.measured(page))
        if "swap" in wanted:
            self.dropped["swap"], self.exact["swap"] = swap_out(
                f"{where}/swap", self.rng.randbytes(SIZE), self.stack.disks
            )
        sync(life.top)

    def recovers(self, expected: list[str]) -> str:
        """Opened again, what was written is compared. Then data is logged, the disk is cut off, and the log
        is needed: what is wrong.
        """
        device = self.top.device
        self.cold()
        try:
            with mounted(device, "ext4", "data=journal") as top:
                if wrong := difference(expected, tree(top)):
                    return f"the tree differs: {wrong[:5]}"
                for page, content in self.content.items():
                    path = f"{top}/files/{page}".replace(" ", "_")
                    self.exact[page] = Path(path).read_bytes() == content
                for i in range(20):
                    with open(f"{top}/logged-{i}", "wb") as log:
                        log.write(self.rng.randbytes(40_000))
                        log.flush()
                        os.fsync(log.fileno())
                expected = tree(top)
                shut_down(top)
            self.cold()
            with mounted(device, "ext4", "data=journal") as top:
                if wrong := difference(expected, tree(top)):
                    return f"recovered, the tree differs: {wrong[:5]}"
            run("e2fsck", "-fn", device)
        except (Failed, OSError) as error:
            return str(error)[:300]
        return ""

    def cold(self) -> None:
        """From the disk, not from memory."""
        drop_caches()
        flush_buffers(self.top.device)

    def judge(self, way: Way, metadata: str) -> Cell:
        if way.none:
            return Cell(way, "", "none")
        if way.page == "kernel memory":
            return Cell(way, metadata, "lost" if metadata else "kept")
        blocks = SIZE // BLOCK * self.top.copies
        share = self.dropped[way.page] / blocks
        exact = self.exact.get(way.page)
        found = f"{share:.1%} dropped" if share else "kept"
        if exact is False and not share:
            found = "lost"
        if way.right == "dropped":
            return Cell(way, "" if share >= LEAST else "is not dropped", found)
        wrong = [f"{share:.1%} was dropped"] if share else []
        if not exact:
            wrong.append("is not exact" if exact is False else "was not compared")
        return Cell(way, ", ".join(wrong), found)


def tried(layer: str, mode: str) -> list[Cell]:
    """Every page through `layer`, on fake disks of that mode."""
    with ExitStack() as exits:
        return Trial(layer, mode, Stack(exits, mode)).run()
