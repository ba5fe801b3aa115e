# SPDX-License-Identifier: GPL-2.0
"""A write cache between the file system and the fake disk that is not flushed: blocks come in any order, home
blocks before the log that names them.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from helpers.guest import SCRATCH, attached, loop_disk, mounted, run
from helpers.nbdserver import DEVICE, NAME, listens, program, wait_for
from helpers.units import GIB, MIB
from helpers.victim import (
    MODES,
    Mapper,
    fake,
    flush_buffers,
    in_modes,
    look,
    make,
    many_directories,
    populate,
    size_of,
    sync,
    told,
    tree,
    wait_until,
)

WRITEBACK = {"dirty_writeback_centisecs": "100", "dirty_expire_centisecs": "150"}


@contextmanager
def early_writeback() -> Iterator[None]:
    """The page cache writes what is a second old: in a test nobody waits for half a minute."""
    places = {Path("/proc/sys/vm") / name: value for name, value in WRITEBACK.items()}
    before = {place: place.read_text() for place in places}
    for place, value in places.items():
        place.write_text(value)
    try:
        yield
    finally:
        for place, value in before.items():
            place.write_text(value)


def work_with_syncs(top: str, rounds: int = 5) -> None:
    for number in range(rounds):
        for part in range(3):
            many_directories(top, f"round-{number}-{part}-", 20)
            sync(top)
        # Long links in blocks that were directories: something is left behind their targets.
        for i in range(0, 20, 2):
            shutil.rmtree(f"{top}/round-{number}-0-{i}")
        sync(top)
        for i in range(40):
            os.symlink("y" * (70 + i), f"{top}/link-{number}-{i}")
        sync(top)
        populate(top, f"files-{number}", 60)
        sync(top)
        time.sleep(1)


def behind_a_cache(mode: str, fs: str, options: str) -> None:
    """A loop device over the disk is the cache: barriers end above it."""
    with fake(mode) as (disk, _), early_writeback():
        with attached(disk) as loop:
            # Then the block layer sends it no flush.
            queue = Path(f"/sys/block/{os.path.basename(loop)}/queue")
            (queue / "write_cache").write_text("write through")
            make(fs, loop)
            os.sync()
            with mounted(loop, fs, options) as top:
                populate(top, "old")
            os.sync()
            with mounted(loop, fs, options) as top:
                work_with_syncs(top)
                expected = tree(top)
        told(mode)
        look(fs, disk, expected)


@in_modes(*MODES)
def ext4_behind_a_cache_without_flush_loses_nothing(mode: str) -> None:
    behind_a_cache(mode, "ext4", "barrier=0")


@in_modes(*MODES)
def ext3_behind_a_cache_without_flush_loses_nothing(mode: str) -> None:
    behind_a_cache(mode, "ext3", "barrier=0")


@in_modes(*MODES)
def xfs_behind_a_cache_without_flush_loses_nothing(mode: str) -> None:
    behind_a_cache(mode, "xfs", "")


@in_modes(*MODES)
def btrfs_behind_a_cache_without_flush_loses_nothing(mode: str) -> None:
    behind_a_cache(mode, "btrfs", "nobarrier")


@contextmanager
def careless_nbd_server(disk: str) -> Iterator[str]:
    """As it is delivered: it tells its client of no flush."""
    run("ip", "link", "set", "lo", "up")
    config = f"{SCRATCH}/careless.conf"
    Path(config).write_text(
        f"[generic]\nuser = root\ngroup = root\nlistenaddr = 127.0.0.1\n[{NAME}]\nexportname = {disk}\n"
    )
    with program("nbd-server", "-d", "-C", config) as (_, log):
        wait_for("nbd-server", lambda: listens(10809), log)
        run("nbd-client", "-N", NAME, "-b", "4096", "127.0.0.1", DEVICE)
        try:
            yield DEVICE
        finally:
            run("nbd-client", "-d", DEVICE)
            flush_buffers(DEVICE)
    flush_buffers(disk)


@contextmanager
def careless_qemu(disk: str) -> Iterator[str]:
    """cache=unsafe: a flush is answered, and not passed on."""
    run("qemu-nbd", "--fork", "--cache=unsafe", "-f", "raw", "-c", DEVICE, disk)
    try:
        yield DEVICE
    finally:
        os.sync()
        run("qemu-nbd", "-d", DEVICE)
    os.sync()
    flush_buffers(disk)


@contextmanager
def a_bcache(disk: str) -> Iterator[str]:
    """Written back when it likes; in the end all of it is."""
    with loop_disk(256 * MIB) as cache:
        run("make-bcache", "--wipe-bcache", "--writeback", "-b", "64k", "-C", cache, "-B", disk)
        for device in (cache, disk):
            Path("/sys/fs/bcache/register").write_text(device)
        wait_until(lambda: Path("/dev/bcache0").exists(), "bcache0")
        state = Path("/sys/block/bcache0/bcache")
        for name, value in (("writeback_percent", "0"), ("writeback_delay", "0"), ("sequential_cutoff", "0")):
            (state / name).write_text(value)
        try:
            yield "/dev/bcache0"
        finally:
            caches = os.path.realpath(state / "cache")
            (state / "detach").write_text("1")
            wait_until(lambda: "no cache" in (state / "state").read_text(), "all written back", 120)
            (state / "stop").write_text("1")
            Path(f"{caches}/stop").write_text("1")
            wait_until(lambda: not Path("/dev/bcache0").exists(), "the end of bcache0")
            wait_until(lambda: not Path(caches).exists(), "the end of its cache")


@contextmanager
def a_writecache(disk: str) -> Iterator[str]:
    with loop_disk(128 * MIB) as cache, ExitStack() as stack:
        length = size_of(disk) >> 9
        few = "4 high_watermark 5 low_watermark 1"
        yield Mapper(stack).create("between", f"0 {length} writecache s {disk} {cache} 4096 {few}")
        run("dmsetup", "message", "between", "0", "flush")


@contextmanager
def a_dm_cache(disk: str) -> Iterator[str]:
    with loop_disk(16 * MIB) as meta, loop_disk(512 * MIB) as cache, ExitStack() as stack:
        length = size_of(disk) >> 9
        table = f"0 {length} cache {meta} {cache} {disk} 128 1 writeback"
        mapper = Mapper(stack)
        yield mapper.create("between", f"{table} smq 0")
        run("dmsetup", "suspend", "between")
        run("dmsetup", "load", "between", "--table", f"{table} cleaner 0")
        run("dmsetup", "resume", "between")
        # Dirty blocks are the 15th word: of the status line of a cache.
        wait_until(lambda: run("dmsetup", "status", "between").split()[13] == "0", "all written back", 120)


LAYERS = {
    "nbd-server": careless_nbd_server,
    "qemu": careless_qemu,
    "bcache": a_bcache,
    "writecache": a_writecache,
    "cache": a_dm_cache,
}
BEHIND = {"bcache": 8 << 10}  # where the file system begins


def behind_a_layer(mode: str, fs: str, layer: str) -> None:
    SCRATCH.mkdir(parents=True, exist_ok=True)
    with fake(mode, 4 * GIB) as (disk, _), early_writeback():
        with LAYERS[layer](disk) as device:
            make(fs, device)
            os.sync()
            with mounted(device, fs) as top:
                populate(top, "old")
            os.sync()
            with mounted(device, fs) as top:
                work_with_syncs(top)
                run("rm", "-r", f"{top}/old/d1", f"{top}/files-0")
                expected = tree(top)
            flush_buffers(device)
        told(mode)
        with attached(disk, BEHIND.get(layer, 0)) as loop:
            look(fs, loop, expected, f"{fs} below {layer}")


@in_modes(*MODES)
def ext4_by_an_nbd_server_without_flush_loses_nothing(mode: str) -> None:
    behind_a_layer(mode, "ext4", "nbd-server")


@in_modes("implicit")
def xfs_by_an_nbd_server_without_flush_loses_nothing(mode: str) -> None:
    behind_a_layer(mode, "xfs", "nbd-server")


@in_modes(*MODES)
def ext4_by_qemu_with_an_unsafe_cache_loses_nothing(mode: str) -> None:
    behind_a_layer(mode, "ext4", "qemu")


@in_modes("implicit")
def btrfs_by_qemu_with_an_unsafe_cache_loses_nothing(mode: str) -> None:
    behind_a_layer(mode, "btrfs", "qemu")


@in_modes(*MODES)
def ext4_below_a_bcache_loses_nothing(mode: str) -> None:
    behind_a_layer(mode, "ext4", "bcache")


@in_modes("implicit")
def xfs_below_a_bcache_loses_nothing(mode: str) -> None:
    behind_a_layer(mode, "xfs", "bcache")


@in_modes("implicit")
def btrfs_below_a_bcache_loses_nothing(mode: str) -> None:
    behind_a_layer(mode, "btrfs", "bcache")


@in_modes(*MODES)
def ext4_below_a_writecache_loses_nothing(mode: str) -> None:
    behind_a_layer(mode, "ext4", "writecache")


@in_modes("implicit")
def xfs_below_a_writecache_loses_nothing(mode: str) -> None:
    behind_a_layer(mode, "xfs", "writecache")


@in_modes(*MODES)
def ext4_below_a_dm_cache_loses_nothing(mode: str) -> None:
    behind_a_layer(mode, "ext4", "cache")


@in_modes("implicit")
def btrfs_below_a_dm_cache_loses_nothing(mode: str) -> None:
    behind_a_layer(mode, "btrfs", "cache")
