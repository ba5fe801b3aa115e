# SPDX-License-Identifier: GPL-2.0
"""The layers of ways.toml: each makes a device of fake disks, on which a file system is mounted."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from helpers.guest import attached, fake_disk, loop_disk, mounted, run
from helpers.lvmtool import GROUP, lvm, volume
from helpers.manifest import difference, manifest
from helpers.stacks import Stack
from helpers.units import GIB, MIB
from helpers.victim import linear, make, populate, size_of

SIZE = 400 * MIB  # of the device on top, at least
KEY = "0f" * 16
PROFILE = "samsung-970-pro"
MIRROR = "--bitmap=none --assume-clean"


@dataclass
class Top:
    device: str
    copies: int = 1  # how many blocks of the fake disks a block of the device is
    outer: str = ""  # the directory that a loop device's file is in
    wanted: str = ""  # a fake disk that wants what it sends: by a rule for a directory, if it drops the rest
    made: bool = False  # it has a file system already
    look: Callable[[], None] = field(default=lambda: None)  # in the end


def nothing(stack: Stack) -> Top:
    return Top(stack.disk(GIB))


def partition(stack: Stack) -> Top:
    return Top(stack.partition(stack.disk(), "part"))


def linear_volume(stack: Stack) -> Top:
    stack.group(stack.disk(GIB))
    lvm("lvcreate", "-n", "a", "-L", "512M", GROUP)
    return Top(volume("a"))


def volume_in_pieces(stack: Stack) -> Top:
    first, second = stack.disk(GIB), stack.disk(GIB)
    stack.group(first, second)
    lvm("lvcreate", "-n", "a", "-L", "12M", GROUP, first)
    lvm("lvextend", "-L", "512M", f"{GROUP}/a", second)
    return Top(volume("a"))


def raid1(stack: Stack) -> Top:
    return Top(stack.md(7, f"--level=1 {MIRROR}", stack.disk(GIB), stack.disk(GIB)), 2)


def raid10(stack: Stack) -> Top:
    return Top(stack.md(7, f"--level=10 --layout=n2 {MIRROR}", stack.disk(GIB), stack.disk(GIB)), 2)


def striped_volume(stack: Stack) -> Top:
    stack.group(stack.disk(GIB), stack.disk(GIB))
    lvm("lvcreate", "-n", "a", "-L", "512M", "-i", "2", "-I", "64k", GROUP)
    return Top(volume("a"))


def raid0(stack: Stack) -> Top:
    return Top(stack.md(7, "--level=0 --chunk=64", stack.disk(GIB), stack.disk(GIB)))


def raid5(stack: Stack) -> Top:
    """It lends the file's own pages to its members."""
    disks = [stack.disk(GIB // 2) for _ in range(3)]
    array = stack.md(7, f"--level=5 --chunk=64 {MIRROR}", *disks)
    Path("/sys/block/md7/md/skip_copy").write_text("1")
    return Top(array)


def buffered_loop(stack: Stack) -> Top:
    return Top(stack.stack.enter_context(attached(stack.disk(GIB))))


def told_loop(stack: Stack) -> Top:
    return Top(stack.loop(stack.disk(GIB), MIB))


def loop_on_a_file(stack: Stack) -> Top:
    disk = stack.disk(2 * GIB)
    make("ext4", disk)
    outer = stack.stack.enter_context(mounted(disk, "ext4"))
    Path(f"{outer}/image").touch()
    os.truncate(f"{outer}/image", SIZE)
    return Top(stack.stack.enter_context(attached(f"{outer}/image", direct=True)), outer=outer)


def crypt(stack: Stack) -> Top:
    disk = stack.disk(GIB)
    return Top(stack.mapper.create("between", f"0 {GIB >> 9} crypt aes-cbc-plain {KEY} 0 {disk} 0"))


def integrity(stack: Stack) -> Top:
    """Without a journal it sends the pages on, and checks their content when it is read."""
    disk = stack.disk(GIB)
    run("integritysetup", "format", "-q", "--no-wipe", "--integrity", "crc32c", disk)
    words = ("--integrity", "crc32c", "--integrity-recalculate", "--integrity-no-journal")
    run("integritysetup", "open", *words, disk, "between")
    stack.stack.callback(run, "integritysetup", "close", "between")
    return Top("/dev/mapper/between")


def writecache(stack: Stack) -> Top:
    """The fast device is a fake disk, too."""
    fast = stack.disk(64 * MIB)
    return Top(stack.mapper.create("between", f"0 {SIZE >> 9} writecache s {stack.disk(GIB)} {fast} 4096 0"))


def mirror(stack: Stack) -> Top:
    disks = f"{stack.disk(GIB)} 0 {stack.disk(GIB)} 0"
    return Top(stack.mapper.create("between", f"0 {SIZE >> 9} mirror core 2 1024 nosync 2 {disks} 0"), 2)


def thin(stack: Stack) -> Top:
    meta = stack.stack.enter_context(loop_disk(8 * MIB))
    pool = stack.mapper.create("pool", f"0 {GIB >> 9} thin-pool {meta} {stack.disk(GIB)} 128 0")
    run("dmsetup", "message", "pool", "0", "create_thin", "0")
    return Top(stack.mapper.create("thin", f"0 {SIZE >> 9} thin {pool} 0"))


def cache(stack: Stack, mode: str, fast: str) -> Top:
    meta = stack.stack.enter_context(loop_disk(8 * MIB))
    table = f"cache {meta} {fast} {stack.disk(GIB)} 128 1 {mode} smq 0"
    return Top(stack.mapper.create("between", f"0 {SIZE >> 9} {table}"))


def cache_written_through(stack: Stack) -> Top:
    """The fast device is real, and takes nothing: with what it has, the request is sent on as a copy."""
    top = cache(stack, "writethrough", stack.stack.enter_context(loop_disk(64 * MIB)))
    run("dmsetup", "message", "between", "0", "migration_threshold 0")
    return top


def cache_written_back(stack: Stack) -> Top:
    """What the fast one takes the kernel copies to the other, later."""
    return cache(stack, "writeback", stack.disk(64 * MIB))


def upper(stack: Stack, mode: str) -> Top:
    disk = stack.disk()
    name = stack.stack.enter_context(fake_disk("upper", GIB, disk, "--classify", mode))
    return Top(name, wanted="upper")


def fake_disk_with_a_rule(stack: Stack) -> Top:
    return upper(stack, "auto")


def fake_disk_that_keeps(stack: Stack) -> Top:
    return upper(stack, "keep")


def fake_disk_that_only_models(stack: Stack) -> Top:
    """It stores nothing elsewhere, and drops nothing: requests go on as they are."""
    disk = stack.disk(GIB)
    words = ("--mode", "model-only", "--profile", PROFILE)
    return Top(stack.stack.enter_context(fake_disk("upper", GIB, disk, *words)))


def delay(stack: Stack) -> Top:
    disk = stack.disk(GIB)
    return Top(stack.mapper.create("between", f"0 {GIB >> 9} delay {disk} 0 0 {disk} 0 1"))


def flakey(stack: Stack) -> Top:
    return Top(stack.mapper.create("between", f"0 {GIB >> 9} flakey {stack.disk(GIB)} 0 3600 0"))


def snapshot_origin(stack: Stack) -> Top:
    """The snapshot's store is on the same fake disk, and is filled by the kernel's own copies."""
    disk = stack.disk(GIB)
    base = stack.mapper.create("base", linear(SIZE, disk, 0))
    store = stack.mapper.create("store", linear(SIZE, disk, SIZE))
    make("ext4", base)
    with mounted(base, "ext4") as top:
        populate(top, "old", 60)
        expected = manifest(top)
    # One chunk of zeros says that there is no snapshot in the store yet.
    run("dd", "if=/dev/zero", f"of={store}", "bs=64k", "count=1", "conv=fsync", "status=none")
    table = f"0 {size_of(base) >> 9}"
    snapshot = stack.mapper.create("snapshot", f"{table} snapshot {base} {store} P 16")
    # It asks for the snapshot's chunks when it is resumed.
    origin = stack.mapper.create("origin", f"{table} snapshot-origin {base}")

    def look() -> None:
        run("e2fsck", "-fn", snapshot)
        with mounted(snapshot, "ext4", "ro") as top:
            if wrong := difference(expected, manifest(top)):
                raise AssertionError(f"the snapshot's tree differs: {wrong}")

    return Top(origin, made=True, look=look)


LAYERS: dict[str, Callable[[Stack], Top]] = {
    "none": nothing,
    "partition": partition,
    "LVM": linear_volume,
    "LVM in pieces": volume_in_pieces,
    "LVM striped": striped_volume,
    "md raid0": raid0,
    "md raid1": raid1,
    "md raid10": raid10,
    "md raid5": raid5,
    "loop, buffered": buffered_loop,
    "loop, direct, told": told_loop,
    "loop, direct, on a file": loop_on_a_file,
    "crypt": crypt,
    "integrity": integrity,
    "dm mirror": mirror,
    "thin": thin,
    "cache, writethrough": cache_written_through,
    "cache, writeback": cache_written_back,
    "writecache": writecache,
    "fake disk with a rule": fake_disk_with_a_rule,
    "fake disk that keeps": fake_disk_that_keeps,
    "fake disk that only models": fake_disk_that_only_models,
    "delay": delay,
    "flakey": flakey,
    "snapshot origin": snapshot_origin,
}
