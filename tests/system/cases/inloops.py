# SPDX-License-Identifier: GPL-2.0
"""A loop device with direct I/O on a file of a mounted fake disk. What lies in the file is metadata as well:
file systems whose tools write past the page cache, encryption, volumes, arrays, copied images, swap.

Whoever made it, it is looked at cold: the loop device, and the file system around it, were closed meanwhile.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from cases import case
from helpers.filesystems import TOOLS, UNKNOWN, whole_check
from helpers.guest import SCRATCH, Failed, attached, david, linear_disk, looped, mounted, run
from helpers.lvmtool import GROUP, lvm, volume
from helpers.manifest import difference
from helpers.planted import must_fail, planted
from helpers.raw import opened, patterned
from helpers.swapping import swapped_out
from helpers.units import GIB, MIB
from helpers.victim import (
    Mapper,
    drop_caches,
    fake,
    flush_buffers,
    in_modes,
    linear,
    make,
    many_directories,
    plain,
    populate,
    sync,
    told,
    tree,
)

KNOWING = ("keep", "auto", "explicit")
SIZE = 600 * MIB


class Image:
    """A file on a file system on the fake disk."""

    def __init__(self, device: str, outer: str, size: int = SIZE, falls_back: bool = False) -> None:
        self.device, self.outer = device, outer
        self.options = "data=journal" if falls_back and outer == "ext4" else ""
        make(outer, device)
        with mounted(device, outer, self.options) as top:
            Path(f"{top}/image").touch()
            if outer == "btrfs" and not falls_back:
                run("chattr", "+C", f"{top}/image")  # or direct I/O goes through the page cache
            os.truncate(f"{top}/image", size)

    @contextmanager
    def loop(self) -> Iterator[str]:
        with mounted(self.device, self.outer, self.options) as top:
            with attached(f"{top}/image", direct=True) as loop:
                if Path(f"/sys/block/{Path(loop).name}/loop/dio").read_text() != "1\n":
                    raise Failed(f"{loop} has no direct I/O")
                yield loop
                drop_caches()
            drop_caches()


@contextmanager
def image(mode: str, outer: str = "ext4", size: int = SIZE) -> Iterator[Image]:
    with fake(mode, 8 * GIB) as (disk, _):
        yield Image(disk, outer, size)
        told(mode)
        run(*TOOLS[outer].check, disk)


def tools(fs: str) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    return UNKNOWN[fs] if fs in UNKNOWN else (TOOLS[fs].mkfs, whole_check(fs), "")


def made(fs: str, device: str, *words: str) -> list[str]:
    """A file system that is used, and its tree."""
    mkfs, _, options = tools(fs)
    run(*mkfs, *words, device)
    with mounted(device, fs, options) as top:
        if fs in TOOLS and fs != "nilfs2":
            populate(top, "old", 60)
            many_directories(top, "t", 60)
        else:
            plain(top, "old", 80)
        sync(top)
        return tree(top)


def is_whole(fs: str, device: str, expected: list[str]) -> None:
    _, check, options = tools(fs)
    flush_buffers(device)
    run(*check, device)
    with mounted(device, fs, options) as top:
        if wrong := difference(expected, tree(top)):
            raise Failed(f"{fs}: the tree differs:\n" + "\n".join(wrong))


def lives(mode: str, fs: str, *words: str, outer: str = "ext4") -> None:
    with image(mode, outer) as file:
        with file.loop() as loop:
            expected = made(fs, loop, *words)
        with file.loop() as loop:
            is_whole(fs, loop, expected)


def named(name: str, scenario: Callable[[str], None], *modes: str) -> None:
    """The cases of a scenario that is one of a table."""
    scenario.__name__, scenario.__module__ = name, __name__
    globals()[name] = in_modes(*modes)(scenario)


# Each by its own mkfs, and past the page cache where that has an option for it.
MADE = {"ext4": ("-D",), "xfs": (), "btrfs": (), "f2fs": (), "nilfs2": ()}
for fs in (*MADE, *UNKNOWN):
    named(
        f"in_a_loop_on_a_file_{fs}_is_whole",
        lambda mode, fs=fs: lives(mode, fs, *MADE.get(fs, ())),  # type: ignore[misc]
        *KNOWING,
    )
for outer in ("xfs", "btrfs", "f2fs"):
    named(
        f"in_a_loop_on_a_file_of_{outer}_an_xfs_is_whole",
        lambda mode, outer=outer: lives(mode, "xfs", outer=outer),  # type: ignore[misc]
        *KNOWING,
    )


# The file system around the file may do without direct I/O, and then the pages are the file's own.


def falls_back(mode: str, outer: str) -> None:
    with fake(mode, 8 * GIB) as (disk, _):
        file = Image(disk, outer, falls_back=True)
        with file.loop() as loop:
            expected = made("xfs", loop)
        with file.loop() as loop:
            is_whole("xfs", loop, expected)


for outer in ("btrfs", "ext4", "ext3"):
    named(
        f"in_a_loop_whose_direct_io_{outer}_refuses_an_xfs_is_whole",
        lambda mode, outer=outer: falls_back(mode, outer),  # type: ignore[misc]
        *KNOWING,
    )


@in_modes(*KNOWING)
def in_a_loop_on_a_file_what_is_discarded_in_part_is_whole(mode: str) -> None:
    """Blocks of 1 KiB: the rest of the page is cleared through the page cache of the file."""
    with image(mode) as file:
        with file.loop() as loop:
            run("mkfs.ext4", "-q", "-b", "1024", loop)
            with mounted(loop, "ext4", "discard") as top:
                populate(top, "old", 60)
                for i in range(60):
                    Path(f"{top}/small-{i}").write_bytes(bytes([65 + i]) * 1024)
                sync(top)
                for i in range(0, 60, 2):
                    os.unlink(f"{top}/small-{i}")
                many_directories(top, "t", 60)
                sync(top)
                run("fstrim", top)
                expected = tree(top)
        with file.loop() as loop:
            is_whole("ext4", loop, expected)


# What the loop device itself lies on.


def deeper(mode: str, place: Callable[[ExitStack, str], str]) -> None:
    with ExitStack() as exits:
        disk, _ = exits.enter_context(fake(mode, 8 * GIB))
        file = Image(place(exits, disk), "ext4")
        with file.loop() as loop:
            expected = made("xfs", loop)
        with file.loop() as loop:
            is_whole("xfs", loop, expected)
        told(mode)


def told_loop(exits: ExitStack, disk: str) -> str:
    loop = exits.enter_context(looped(disk, MIB))
    david("stack")
    return loop


def plain_volume(exits: ExitStack, disk: str) -> str:
    return Mapper(exits).create("volume", linear(4 * GIB, disk, MIB))


def loop_on_a_file(exits: ExitStack, disk: str) -> str:
    return exits.enter_context(Image(disk, "ext4", 2 * GIB).loop())


for place in (told_loop, plain_volume, loop_on_a_file):
    named(
        f"in_a_loop_on_a_file_on_a_{place.__name__}_an_xfs_is_whole",
        lambda mode, place=place: deeper(mode, place),  # type: ignore[misc]
        *KNOWING,
    )


@in_modes(*KNOWING)
def in_a_partition_of_a_loop_on_a_file_an_xfs_is_whole(mode: str) -> None:
    with image(mode) as file:
        with file.loop() as loop:
            run("sh", "-c", f"printf ',64M\\n,\\n' | sfdisk -q --no-reread --no-tell-kernel -X gpt {loop}")
            with ExitStack() as exits:
                part = Mapper(exits).create("part", linear(SIZE - 80 * MIB, loop, 65 * MIB))
                expected = made("xfs", part)
        with file.loop() as loop, ExitStack() as exits:
            assert len(run("sfdisk", "-d", loop).splitlines()) > 5, "the partition table is gone"
            part = Mapper(exits).create("part", linear(SIZE - 80 * MIB, loop, 65 * MIB))
            is_whole("xfs", part, expected)


# Others than file systems, that write past the page cache.


def key() -> str:
    path = SCRATCH / "key"
    path.write_text("secret")
    return str(path)


@in_modes(*KNOWING)
def a_luks_in_a_loop_on_a_file_opens_again(mode: str) -> None:
    words = ("--type", "luks2", "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", "-q")
    expected: list[str] = []
    with image(mode) as file:
        with file.loop() as loop:
            run("cryptsetup", "luksFormat", *words, loop, key())
            drop_caches()
            run("cryptsetup", "open", "--key-file", key(), loop, "opened")
            try:
                expected = made("xfs", "/dev/mapper/opened")
            finally:
                run("cryptsetup", "close", "opened")
        with file.loop() as loop:
            run("cryptsetup", "open", "--key-file", key(), loop, "opened")
            try:
                is_whole("xfs", "/dev/mapper/opened", expected)
            finally:
                run("cryptsetup", "close", "opened")


@in_modes(*KNOWING)
def a_volume_group_in_a_loop_on_a_file_is_found_again(mode: str) -> None:
    with image(mode) as file:
        with file.loop() as loop:
            lvm("pvcreate", loop, disks=(loop,))
            lvm("vgcreate", GROUP, loop, disks=(loop,))
            drop_caches()
            lvm("lvcreate", "-n", "a", "-L", "400M", GROUP, disks=(loop,))
            try:
                expected = made("xfs", volume("a"))
            finally:
                lvm("vgchange", "-an", GROUP, disks=(loop,))
        with file.loop() as loop:
            lvm("vgchange", "-ay", GROUP, disks=(loop,))
            try:
                is_whole("xfs", volume("a"), expected)
            finally:
                lvm("vgchange", "-an", GROUP, disks=(loop,))


@in_modes(*KNOWING)
def an_array_in_a_loop_on_a_file_is_assembled_again(mode: str) -> None:
    array = "/dev/md7"
    with image(mode) as file:
        with file.loop() as loop:
            words = ("--level=1", "--metadata=1.2", "--bitmap=internal", "--raid-devices=2")
            run("mdadm", "--create", array, "--run", *words, loop, "missing")
            try:
                expected = made("xfs", array)
            finally:
                run("mdadm", "--stop", array)
        with file.loop() as loop:
            run("mdadm", "--assemble", "--run", array, loop)
            try:
                is_whole("xfs", array, expected)
            finally:
                run("mdadm", "--stop", array)


@in_modes(*KNOWING)
def an_integrity_device_in_a_loop_on_a_file_opens_again(mode: str) -> None:
    with image(mode) as file:
        with file.loop() as loop:
            run("integritysetup", "format", "-q", "--integrity", "crc32c", loop)
            run("integritysetup", "open", "--integrity", "crc32c", loop, "opened")
            try:
                expected = made("xfs", "/dev/mapper/opened")
            finally:
                run("integritysetup", "close", "opened")
        with file.loop() as loop:
            run("integritysetup", "open", "--integrity", "crc32c", loop, "opened")
            try:
                is_whole("xfs", "/dev/mapper/opened", expected)
            finally:
                run("integritysetup", "close", "opened")


@in_modes(*KNOWING)
def memory_swapped_to_a_loop_on_a_file_is_exact(mode: str) -> None:
    """The loop device drops the mark of swap; and the signature is mkswap's."""
    with image(mode) as file:
        with file.loop() as loop:
            run("mkswap", loop)
        with file.loop() as loop:
            run("swapon", loop)
            try:
                size, exact = swapped_out(patterned(3, 8 * MIB))
            finally:
                run("swapoff", loop)
            if size < 4 * MIB or not exact:
                raise Failed(f"{size} bytes were swapped, exact: {exact}")


# An image that was made elsewhere and is copied into the loop device.


def copied_by_dd(source: str, loop: str) -> None:
    run("dd", f"if={source}", f"of={loop}", "bs=1M", "oflag=direct", "conv=fsync", "status=none")


def copied_by_io_uring(source: str, loop: str) -> None:
    """As a virtual machine writes."""
    how = f"driver=raw,file.driver=host_device,file.aio=io_uring,file.cache.direct=on,file.filename={loop}"
    run("qemu-img", "convert", "-n", "-f", "raw", "--target-image-opts", source, how)


def copied_from_its_pages(source: str, loop: str) -> None:
    """The image's own pages are the buffers."""
    with opened(source, os.O_RDONLY) as file, opened(loop, os.O_WRONLY | os.O_DIRECT) as fd:
        with mmap.mmap(file, SIZE, prot=mmap.PROT_READ) as pages, memoryview(pages) as view:
            for at in range(0, SIZE, MIB):
                with view[at : at + MIB] as piece:
                    assert os.pwrite(fd, piece, at) == MIB
        os.fsync(fd)


def copied(mode: str, copy: Callable[[str, str], None]) -> None:
    with image(mode) as file, linear_disk("source", SIZE) as source:
        expected = made("xfs", source)
        whole = SCRATCH / "whole"
        run("dd", f"if={source}", f"of={whole}", "bs=1M", "conv=sparse", "status=none")
        try:
            with file.loop() as loop:
                copy(str(whole), loop)
        finally:
            whole.unlink()
        with file.loop() as loop:
            is_whole("xfs", loop, expected)


for copy in (copied_by_dd, copied_by_io_uring, copied_from_its_pages):
    named(
        f"an_xfs_{copy.__name__}_into_a_loop_on_a_file_is_whole",
        lambda mode, copy=copy: copied(mode, copy),  # type: ignore[misc]
        *KNOWING,
    )


@case(planted=True)
def planted_pages_in_the_hands_of_a_loop_device_are_found() -> None:
    with planted("hands"), must_fail():
        lives("auto", "xfs")
