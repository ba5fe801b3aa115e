# SPDX-License-Identifier: GPL-2.0
"""Data is dropped below partitions, logical volumes and arrays, and metadata is kept: auto sees through them.

Each layer is given fake disks, makes a device of them, and file systems live there. What must not be taken
for data comes by the same ways: pages of another file system's files, of arrays with parity.
"""

from __future__ import annotations

import json
import mmap
import os
import random
from collections.abc import Callable
from contextlib import ExitStack

from helpers.filesystems import whole_check
from helpers.guest import (
    Failed,
    attached,
    device_stats,
    loop_disk,
    mounted,
    run,
)
from helpers.lvmtool import GROUP, lvm, volume
from helpers.manifest import difference, manifest
from helpers.planted import must_fail, planted
from helpers.raw import opened
from helpers.units import GIB, KIB, MIB
from helpers.victim import (
    Mapper,
    drop_caches,
    fake,
    flush_buffers,
    linear,
    make,
    many_directories,
    populate,
    sync,
    wait_until,
)

from cases import case

NAMES = ("victim", "second", "third", "fourth")
KINDS = ("ext4", "xfs", "btrfs")
STREAM = 48 * MIB  # of each of two files
LEAST = 0.99
# With xfs and btrfs in make check, too.
SHORT = ("partition", "a_striped_volume", "raid1", "a_volume_on_raid0_of_raid1")
NOISE = random.Random(17).randbytes(MIB)


class Stack:
    """Fake disks, and what is made of them; taken away in the opposite order."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack
        self.mapper = Mapper(stack)
        self.disks: list[str] = []

    def disk(self, size: int = 2 * GIB) -> str:
        name = NAMES[len(self.disks)]
        self.disks.append(name)
        return self.stack.enter_context(fake("auto", size, name=name))[0]

    def md(self, number: int, level: str, *members: str) -> str:
        array = f"/dev/md{number}"
        words = ("--run", "--metadata=1.2", *level.split())
        run(
            "mdadm",
            "--create",
            array,
            *words,
            f"--raid-devices={len(members)}",
            *members,
        )
        self.stack.callback(run, "mdadm", "--stop", array)
        return array

    def partition(self, disk: str, name: str) -> str:
        """The second of a GPT, as kpartx maps it."""
        script = "printf ',200M\\n,1G\\n,\\n' | sfdisk -q --no-reread --no-tell-kernel -X gpt "
        run("sh", "-c", script + disk)
        second = json.loads(run("sfdisk", "-J", disk))["partitiontable"]["partitions"][1]
        return self.mapper.create(name, linear(second["size"] << 9, disk, second["start"] << 9))

    def group(self, *devices: str) -> None:
        lvm("pvcreate", *devices)
        lvm("vgcreate", GROUP, *devices)
        self.stack.callback(lvm, "vgchange", "-an", GROUP)


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


def written(disks: list[str]) -> dict[str, int]:
    total = {"squashed": 0, "kept": 0}
    for disk in disks:
        figures = device_stats(disk)["written"]
        for key in total:
            total[key] += figures[key]  # type: ignore[index]
    return total


def stream(path: str, flags: int = 0) -> None:
    """Noise that is no metadata; by direct I/O from anonymous memory."""
    with (
        opened(path, os.O_WRONLY | os.O_CREAT | flags) as fd,
        mmap.mmap(-1, MIB) as buffer,
    ):
        buffer[:] = NOISE
        for _ in range(STREAM // MIB):
            os.write(fd, buffer)
        os.fsync(fd)


def share_of(disks: list[str], path: str, flags: int = 0) -> float:
    before = written(disks)
    stream(path, flags)
    after = written(disks)
    squashed, kept = (after[key] - before[key] for key in ("squashed", "kept"))
    assert squashed + kept >= STREAM // (4 * KIB), f"{squashed + kept} blocks written"
    return squashed / (squashed + kept)


def read(path: str) -> str:
    with open(path) as file:
        return file.read().strip()


def seen(disk: str) -> list[str]:
    return run("dmsetup", "message", disk, "0", "stack").split()


def look_at(fs: str, device: str, expected: list[str]) -> None:
    drop_caches()
    flush_buffers(device)
    run(*whole_check(fs), device)
    with mounted(device, fs) as top:
        wrong = difference(expected, manifest(top, content=False))
        assert not wrong, wrong[:20]


def lives(layer: str, place: Callable[[Stack], str], fs: str) -> None:
    with ExitStack() as exits:
        stack = Stack(exits)
        device = place(stack)
        make(fs, device)
        with mounted(device, fs) as top:
            populate(top, "old", 60)  # what is heard first is kept
            sync(top)
            by_page = share_of(stack.disks, f"{top}/stream")
            by_direct = share_of(stack.disks, f"{top}/direct", os.O_DIRECT)
            many_directories(top, "t", 100)
            populate(top, "new", 60)
            sync(top)
            expected = manifest(top, content=False)
            told = [seen(disk) for disk in stack.disks]
        print(
            f"seen: {fs} on {layer}: {by_page:.2%} of pages, {by_direct:.2%} of direct I/O",
            flush=True,
        )
        assert by_page >= LEAST, f"{by_page:.2%} of a file's pages were squashed"
        assert by_direct >= LEAST, f"{by_direct:.2%} of direct I/O was squashed"
        # A disk that nothing was written to yet has seen nothing.
        assert any(told) and all(words[1:] in ([], [fs]) for words in told), f"devices seen: {told}"
        look_at(fs, device, expected)


def cases_of(place: Callable[[Stack], str]) -> None:
    layer = place.__name__.removeprefix("on_")
    for fs in KINDS:

        def one(fs: str = fs) -> None:
            lives(layer, place, fs)

        one.__name__ = f"data_of_{fs}_on_{layer}_is_dropped"
        one.__module__ = __name__
        globals()[one.__name__] = case(one, full=fs != "ext4" and layer not in SHORT)


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


@case
def pages_of_a_volume_that_has_left_the_disk_are_kept() -> None:
    an_image_goes_to_a_disk_that_its_volume_has_left()


@case(planted=True)
def planted_pages_of_any_file_are_found() -> None:
    for scenario in (
        an_image_goes_to_another_volume,
        an_image_goes_to_a_disk_that_its_volume_has_left,
    ):
        with planted("elsewhere"), must_fail():
            scenario()


def an_array_with_parity_lends_pages() -> None:
    """With skip_copy the members are written from the file's own pages."""
    with ExitStack() as exits:
        stack = Stack(exits)
        disks = [stack.disk(512 * MIB) for _ in NAMES[:3]]
        device = stack.md(7, "--level=5 --bitmap=none --assume-clean --chunk=64", *disks)
        with open("/sys/block/md7/md/skip_copy", "w") as file:
            file.write("1")
        make("ext4", device)
        with mounted(device, "ext4") as top:
            populate(top, "old", 60)
            sync(top)
            stream(f"{top}/stream")
            many_directories(top, "t", 100)
            stream(f"{top}/again")
            sync(top)
            expected = manifest(top, content=False)
        with open("/sys/block/md7/md/sync_action", "w") as file:
            file.write("check")
        wait_until(lambda: read("/sys/block/md7/md/sync_action") == "idle", "md's check", 120)
        if (wrong := read("/sys/block/md7/md/mismatch_cnt")) != "0":
            raise Failed(f"md's check: {wrong} sectors differ")
        run("mdadm", "--fail", device, disks[0])
        look_at("ext4", device, expected)


@case
def an_array_with_parity_survives_a_disk_though_it_lends_pages() -> None:
    an_array_with_parity_lends_pages()


@case(planted=True)
def planted_trails_through_parity_are_found() -> None:
    with planted("parity"), must_fail():
        an_array_with_parity_lends_pages()
