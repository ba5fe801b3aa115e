# SPDX-License-Identifier: GPL-2.0
"""Data is dropped below partitions, logical volumes and arrays, and metadata is kept: auto sees through them.

Each layer is given fake disks, makes a device of them, and file systems live there. What must not be taken
for data comes by the same ways: pages of another file system's files, of arrays with parity.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from helpers import udev
from helpers.guest import attached, david, dm, loop_disk, mounted, run
from helpers.logdata import recovered
from helpers.logdata import on_a_loop as log_on_a_loop
from helpers.logdata import on_raid1 as log_on_raid1
from helpers.lvmtool import GROUP, lvm, volume
from helpers.manifest import difference, manifest
from helpers.planted import must_fail, planted
from helpers.raw import opened
from helpers.stacks import NAMES, STREAM, Stack, checked_by_md, look_at, stream, written
from helpers.units import FULL, GIB, KIB, MIB
from helpers.victim import linear, make, many_directories, populate, sync

from cases import case

KINDS = ("ext4", "xfs", "btrfs")
STREAMS = {"stream": 0, "direct": os.O_DIRECT}
LEAST = 0.99
# With xfs and btrfs in make check, too.
SHORT = ("partition", "a_striped_volume", "raid1", "a_volume_on_raid0_of_raid1")


def on_partition(stack: Stack) -> str:
    return stack.partition(stack.disk(), "part")


def on_a_volume_in_pieces(stack: Stack) -> str:
    first, second = stack.disk(), stack.disk()
    stack.group(first, second)
    lvm("lvcreate", "-n", "a", "-L", "600M", GROUP, first)
    lvm("lvcreate", "-n", "b", "-L", "400M", GROUP, first)
    lvm("lvextend", "-L", "1000M", f"{GROUP}/a", first)
    lvm("lvextend", "-L", "1600M", f"{GROUP}/a", second)
    return volume("a")


def on_a_striped_volume(stack: Stack) -> str:
    stack.group(stack.disk(), stack.disk())
    lvm("lvcreate", "-n", "a", "-L", "1G", "-i", "2", "-I", "64k", GROUP)
    return volume("a")


def on_raid0(stack: Stack) -> str:
    return stack.md(7, "--level=0 --chunk=64", stack.disk(), stack.disk())


def on_raid1(stack: Stack) -> str:
    return stack.md(7, "--level=1 --bitmap=none --assume-clean", stack.disk(), stack.disk())


def on_raid10(stack: Stack) -> str:
    return stack.md(
        7,
        "--level=10 --bitmap=none --assume-clean --chunk=64 --layout=n2",
        *(stack.disk(GIB) for _ in NAMES),
    )


def on_raid10_of_far_copies(stack: Stack) -> str:
    disks = [stack.disk() for _ in NAMES[:3]]
    return stack.md(7, "--level=10 --bitmap=none --assume-clean --chunk=64 --layout=f2", *disks)


def on_raid0_of_partitions(stack: Stack) -> str:
    parts = [stack.partition(stack.disk(), f"part{number}") for number in range(2)]
    return stack.md(7, "--level=0 --chunk=64", *parts)


def on_a_volume_on_raid1(stack: Stack) -> str:
    return stack.mapper.create("a", linear(GIB, on_raid1(stack), 64 * MIB))


def on_a_volume_on_raid0_of_raid1(stack: Stack) -> str:
    first = stack.md(8, "--level=1 --bitmap=none --assume-clean", stack.disk(GIB), stack.disk(GIB))
    second = stack.md(9, "--level=1 --bitmap=none --assume-clean", stack.disk(GIB), stack.disk(GIB))
    return stack.mapper.create("a", linear(GIB, stack.md(7, "--level=0 --chunk=64", first, second), 64 * MIB))


def on_a_loop_device(stack: Stack) -> str:
    return stack.loop(stack.disk(), MIB)


def on_a_volume_on_a_loop_device_on_raid0(stack: Stack) -> str:
    return stack.mapper.create("a", linear(GIB, stack.loop(on_raid0(stack)), 64 * MIB))


def on_a_multipath(stack: Stack) -> str:
    """Both ways lead to the same disk. One that takes requests, not bios, needs a disk that does so too."""
    disk = stack.disk()
    ways = f"round-robin 0 2 1 {disk} 1000 {disk} 1000"
    run("modprobe", "dm-round-robin")
    device = stack.mapper.create("a", f"0 {2 * GIB >> 9} multipath 2 queue_mode bio 0 1 1 {ways}")
    david("stack")  # emulated, the machine may be late to hear by itself
    return device


def share_of(disks: list[str], path: str, flags: int = 0) -> float:
    before = written(disks)
    stream(path, flags)
    after = written(disks)
    squashed, kept = (after[key] - before[key] for key in ("squashed", "kept"))
    if not disks:
        return 0.0
    assert squashed + kept >= STREAM // (4 * KIB), f"{squashed + kept} blocks written"
    return squashed / (squashed + kept)


def seen(disk: str) -> list[str]:
    return run("dmsetup", "message", disk, "0", "stack").split()


def life(fs: str, device: str, disks: list[str]) -> tuple[list[float], list[list[str]], list[str]]:
    """The shares of streamed data that the disks dropped, the devices each of them has seen, and the tree."""
    make(fs, device)
    with mounted(device, fs) as top:
        populate(top, "old", 60)  # what is heard first is kept
        sync(top)
        udev.settle()  # while udev has a disk open, direct I/O is kept
        shares = [share_of(disks, f"{top}/{name}", flags) for name, flags in STREAMS.items()]
        many_directories(top, "t", 100)
        populate(top, "new", 60)
        sync(top)
        return shares, [seen(disk) for disk in disks], manifest(top, content=False)


@cache
def reference(fs: str) -> list[str]:
    """The tree on a disk that stores everything."""
    with loop_disk(2 * GIB) as device:
        return life(fs, device, [])[-1]


def lives(layer: str, place: Callable[[Stack], str], fs: str) -> None:
    with ExitStack() as exits:
        stack = Stack(exits)
        device = place(stack)
        (by_page, by_direct), told, tree = life(fs, device, stack.disks)
        # The uml lab compares the same layers with it. Without KVM it takes as long as all the rest.
        if FULL or os.environ.get("DAVID_LAB") != "vm":
            wrong = difference(reference(fs), tree)
            assert not wrong, wrong[:20]
        print(
            f"seen: {fs} on {layer}: {by_page:.2%} of pages, {by_direct:.2%} of direct I/O",
            flush=True,
        )
        assert by_page >= LEAST, f"{by_page:.2%} of a file's pages were squashed"
        assert by_direct >= LEAST, f"{by_direct:.2%} of direct I/O was squashed"
        # A disk that nothing was written to yet has seen nothing.
        assert any(told) and all(words[1:] in ([], [fs]) for words in told), f"devices seen: {told}"
        look_at(fs, device, tree)


def cases_of(place: Callable[[Stack], str], kinds: tuple[str, ...] = KINDS, **about: Any) -> None:
    layer = place.__name__.removeprefix("on_")
    for fs in kinds:

        def one(fs: str = fs) -> None:
            lives(layer, place, fs)

        one.__name__ = f"data_of_{fs}_on_{layer}_is_dropped"
        one.__module__ = __name__
        globals()[one.__name__] = case(one, full=fs != "ext4" and layer not in SHORT, **about)


for place in (
    on_partition,
    on_a_volume_in_pieces,
    on_a_striped_volume,
    on_raid0,
    on_raid1,
    on_raid10,
    on_raid10_of_far_copies,
    on_raid0_of_partitions,
    on_a_volume_on_raid1,
    on_a_volume_on_raid0_of_raid1,
):
    cases_of(place)
cases_of(on_a_loop_device, vm="newest")
cases_of(on_a_volume_on_a_loop_device_on_raid0, ("ext4", "xfs"))
cases_of(on_a_multipath, ("ext4",), vm="newest", stock="6.12", uml=False)


def image(path: str) -> list[str]:
    """A file system with nothing but metadata, as a file."""
    with open(path, "wb") as file:
        file.truncate(64 * MIB)
    make("ext4", path, "-b", "4096")
    with attached(path) as loop, mounted(loop, "ext4") as top:
        many_directories(top, "t", 300)
        return manifest(top, content=False)


def write_mapped(path: str, device: str, at: int) -> None:
    """The file's own pages are the buffer of direct I/O to the device."""
    size = os.path.getsize(path)
    with (
        opened(path, os.O_RDONLY) as file,
        opened(device, os.O_WRONLY | os.O_DIRECT) as fd,
    ):
        with (
            mmap.mmap(file, size, prot=mmap.PROT_READ) as pages,
            memoryview(pages) as view,
        ):
            for offset in range(0, size, MIB):
                with view[offset : offset + MIB] as piece:
                    assert os.pwrite(fd, piece, at + offset) == len(piece)


def an_image_goes_to_another_volume() -> None:
    with ExitStack() as exits:
        stack = Stack(exits)
        disk = stack.disk()
        first = stack.mapper.create("a", linear(GIB, disk, MIB))
        second = stack.mapper.create("b", linear(512 * MIB, disk, MIB + GIB))
        make("ext4", first)
        with mounted(first, "ext4") as top:
            expected = image(f"{top}/image")
            sync(top)
            assert share_of(stack.disks, f"{top}/stream") > LEAST
            write_mapped(f"{top}/image", second, 0)
        look_at("ext4", second, expected)


@case
def pages_of_a_file_that_are_written_to_another_volume_are_kept() -> None:
    an_image_goes_to_another_volume()


def an_image_goes_to_a_disk_that_its_volume_has_left() -> None:
    with ExitStack() as exits:
        stack = Stack(exits)
        disk = stack.disk()
        real = exits.enter_context(loop_disk(GIB))
        device = stack.mapper.create("a", linear(GIB, disk, MIB))
        make("ext4", device)
        with mounted(device, "ext4") as top:
            stream(f"{top}/stream")
            sync(top)
            # As pvmove does in the end: the same volume elsewhere, mounted all the time.
            run("dmsetup", "suspend", "a")
            size = ("bs=1M", "skip=1", "count=1024")
            run("dd", f"if={disk}", f"of={real}", *size, "conv=sparse", "status=none")
            run("dmsetup", "load", "a", "--table", linear(GIB, real, 0))
            run("dmsetup", "resume", "a")
            expected = image(f"{top}/image")
            sync(top)
            write_mapped(f"{top}/image", disk, MIB)
        moved = stack.mapper.create("b", linear(64 * MIB, disk, MIB))
        look_at("ext4", moved, expected)


@case(seldom=True)
def pages_of_a_volume_that_has_left_the_disk_are_kept() -> None:
    an_image_goes_to_a_disk_that_its_volume_has_left()


def an_image_goes_to_a_disk_that_its_loop_device_is_said_to_be_on() -> None:
    with ExitStack() as exits:
        stack = Stack(exits)
        disk = stack.disk()
        real = exits.enter_context(loop_disk(GIB))
        loop = stack.loop(real)
        diskseq = Path(f"/sys/block/{Path(loop).name}/diskseq").read_text().strip()
        run("dmsetup", "message", disk, "0", f"stack {dm.number(loop)} {diskseq} {dm.number(disk)} 0")
        make("ext4", loop)
        with mounted(loop, "ext4") as top:
            stream(f"{top}/stream")
            expected = image(f"{top}/image")
            sync(top)
            write_mapped(f"{top}/image", disk, 0)
        look_at("ext4", disk, expected)


@case
def pages_that_reach_a_disk_by_another_way_than_was_said_are_kept() -> None:
    an_image_goes_to_a_disk_that_its_loop_device_is_said_to_be_on()


@case(planted=True)
def planted_pages_of_any_file_are_found() -> None:
    for scenario in (
        an_image_goes_to_another_volume,
        an_image_goes_to_a_disk_that_its_volume_has_left,
        an_image_goes_to_a_disk_that_its_loop_device_is_said_to_be_on,
    ):
        with planted("elsewhere"), must_fail():
            scenario()


def an_array_with_parity_lends_pages() -> None:
    """With skip_copy the members are written from the file's own pages."""
    with ExitStack() as exits:
        stack = Stack(exits)
        disks = [stack.disk(512 * MIB) for _ in NAMES[:3]]
        device = stack.md(7, "--level=5 --bitmap=none --assume-clean --chunk=64", *disks)
        Path("/sys/block/md7/md/skip_copy").write_text("1")
        make("ext4", device)
        with mounted(device, "ext4") as top:
            populate(top, "old", 60)
            sync(top)
            stream(f"{top}/stream")
            many_directories(top, "t", 100)
            stream(f"{top}/again")
            sync(top)
            expected = manifest(top, content=False)
        checked_by_md(device)
        run("mdadm", "--fail", device, disks[0])
        look_at("ext4", device, expected)


@case(seldom=True)
def an_array_with_parity_survives_a_disk_though_it_lends_pages() -> None:
    an_array_with_parity_lends_pages()


@case(planted=True)
def planted_trails_through_parity_are_found() -> None:
    with planted("parity"), must_fail():
        an_array_with_parity_lends_pages()


# speakers.py has more of these, on 6.12 only. jbd2 of 6.1 does not mark its log, and md of 6.1 drops marks.
@case(vm="6.1", stock="newest")
def an_ext4_that_logs_its_data_on_a_mirror_recovers_by_its_log() -> None:
    recovered("auto", log_on_raid1)


@case(vm="newest", stock="6.1")
def an_ext4_that_logs_its_data_on_a_loop_device_recovers_by_its_log() -> None:
    recovered("auto", log_on_a_loop)
