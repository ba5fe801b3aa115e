# SPDX-License-Identifier: GPL-2.0
"""Pools: several disks on one backing device."""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

from cases import case
from davidlib.disk import pools
from helpers import devmapper, raw
from helpers.guest import (
    SCRATCH,
    Failed,
    complaint,
    david,
    device_stats,
    fake_disk,
    loop_disk,
    mapped,
    mounted,
    remove,
    run,
)
from helpers.layouts import ARRAY
from helpers.nullblock import null_block
from helpers.planted import must_fail, planted
from helpers.poolbox import (
    COPY,
    Writer,
    copies_of,
    fails_at,
    made,
    must_be_good,
    opened_all,
    place_of,
    pool_device,
    pool_disk,
    reload,
    sync_all,
)
from helpers.raw import BLOCK
from helpers.stores import refused, state, table_of
from helpers.storetool import says
from helpers.trees import equal
from helpers.units import KIB, MIB, TIB
from helpers.victim import many_directories, populate, sync, tree

NAMES = ["a", "b", "c"]


def used(name: str) -> int:
    return int(device_stats(name)["store_used"])  # type: ignore[call-overload]


def live_together() -> None:
    """Three disks written in turn; then opened in another order, and again."""
    rng = random.Random(5)
    writers = {name: Writer(name, 1) for name in NAMES}
    with pool_device(16 * MIB) as device:
        for order in (NAMES, ["c", "a", "b"], ["b", "c", "a"]):
            with opened_all(device, order) as fds:
                for name in order:
                    writers[name].check(fds[name])
                for _ in range(600):
                    name = rng.choice(NAMES)
                    writers[name].step(fds[name])
                    if rng.random() < 0.05:
                        os.fsync(fds[name])
                for name in order:
                    writers[name].check(fds[name])
            must_be_good(device)


@case(cpus=True)
def disks_of_a_pool_hold_what_was_written_to_each() -> None:
    live_together()


@case(planted=True)
def blocks_that_two_disks_get_are_found() -> None:
    with planted("twice"), must_fail():
        live_together()


def fill_one() -> None:
    """The space is the pool's: one disk may have nearly all of it, but not what is reserved."""
    reserve = 64
    with pool_device(4 * MIB) as device, opened_all(device, NAMES, "-o", f"pool_reserve={reserve}") as fds:
        writers = {name: Writer(name, 2) for name in NAMES}
        full = writers["a"].fill(fds["a"], 2000)
        # 6 pages of directory, and three areas of 66
        if full != 1024 - 6 - 3 * 66 - 2 * reserve:
            raise Failed(f"{full} blocks fit")
        assert state("a") == "full", state("a")
        assert device_stats("a")["nospc"] == 1
        for name in ("b", "c"):
            assert state(name) != "full"
            got = writers[name].fill(fds[name], 2000)
            assert got == reserve, f"{name} got {got} blocks of its reserve of {reserve}"
        for name in NAMES:
            writers[name].check(fds[name])
        # What one gives up another can have, though it was not flushed.
        some = sorted(writers["a"].held)[: full // 2]
        for place in some:
            raw.discard(fds["a"], place, BLOCK)
            del writers["a"].held[place]
        got = writers["b"].fill(fds["b"], 2000)
        assert got >= len(some) - 1, f"{got} of {len(some)} blocks that were freed"
        for name in NAMES:
            writers[name].check(fds[name])
        assert sum(used(name) for name in NAMES) == sum(len(each.held) for each in writers.values())


@case(cpus=True, complaints="store full|store low|I/O error|critical")
def space_is_the_pools_and_reserves_are_each_disks() -> None:
    fill_one()


@case(planted=True, complaints="store full|store low|I/O error|critical")
def a_disk_that_takes_others_reserves_is_found() -> None:
    with planted("greedy"), must_fail():
        fill_one()


@case(complaints="store full|store low|I/O error|critical")
def a_closed_disk_keeps_its_reserve() -> None:
    with pool_device(4 * MIB) as device:
        writer = Writer("b", 3)
        with opened_all(device, ["a", "b"], "-o", "pool_reserve=50"):
            pass
        # With the pool open and closed in between.
        for _ in range(2):
            with opened_all(device, ["a"]) as fds:
                Writer("a", 10).fill(fds["a"], 2000)
                with opened_all(device, ["b"]) as others:
                    assert writer.fill(others["b"], 10) == 10
                    writer.check(others["b"])
                assert Writer("a", 11).fill(fds["a"], 10) == 0
        with opened_all(device, ["b"]) as fds:
            writer.check(fds["b"])
            assert writer.fill(fds["b"], 100) == 30
        must_be_good(device)


@case
def dropped_disks_free_what_they_had() -> None:
    with pool_device(8 * MIB) as device:
        with opened_all(device, ["a", "b"]) as fds:
            writers = {name: Writer(name, 4) for name in ("a", "b")}
            for name, writer in writers.items():
                assert writer.fill(fds[name], 300) == 300
            free = int(device_stats("a")["store_blocks"]) - used("a")  # type: ignore[call-overload]
            run("dmsetup", "remove", "b", ok=(0, 1))
        # By the kernel, while others are in use ...
        with opened_all(device, ["a"]) as fds:
            before = int(device_stats("a")["store_blocks"])  # type: ignore[call-overload]
            run("dmsetup", "message", "a", "0", "pool", "drop", "b")
            after = int(device_stats("a")["store_blocks"])  # type: ignore[call-overload]
            assert after - before == 300 + 66, (before, after, free)
            writers["a"].check(fds["a"])
            # ... and one of the same name begins with nothing.
            with opened_all(device, ["b"]) as others:
                assert raw.read(others["b"], BLOCK, min(writers["b"].held)) == bytes(BLOCK)
                Writer("b", 5).fill(others["b"], 100)
        must_be_good(device)
        # ... or by david-store.
        assert says("pool", "drop", device, "b")[0] == 0
        assert " b " not in says("pool", "show", device)[1]
        with opened_all(device, ["a"]) as fds:
            writers["a"].check(fds["a"])


@case(complaints="pool")
def a_disk_that_may_not_write_drops_no_other() -> None:
    """The pool's directory would be written."""
    with pool_device(8 * MIB) as device:
        with opened_all(device, ["a", "b"]):
            table = table_of("a")
        run("dmsetup", "create", "--readonly", "a", "--table", table)
        try:
            run("dmsetup", "message", "a", "0", "pool", "drop", "b", ok=(1,))
        finally:
            remove("a")
        assert " b " in says("pool", "show", device)[1]


@case(complaints="I/O error|pool|store damaged")
def mistakes_are_told() -> None:
    with pool_device(4 * MIB) as device, loop_disk(MIB) as plain:
        assert "no pool on the backing device" in refused("x", f"{plain} 1 pool=x")
        assert "pool: must be the disk's name" in refused("x", f"{device} 1 pool=a,b")
        assert "holds a david pool" in refused("x", f"{device} 0")
        assert "last" in refused("x", f"{device} 2 pool=x store=memory")
        assert "4096" in refused("x", f"{device} 2 pool=x block_size=512")
        assert "no room" in refused("x", f"{device} 2 pool=x pool_reserve=100000")
        assert "no room" in refused("x", f"{device} 2 pool=x pool_reserve=18446744073709551600")
        assert "only with pool" in refused("x", f"{plain} 1 pool_log=100")
        with pool_disk("a", device) as disk:
            assert "in use by another" in refused("x", f"{device} 1 pool=a")
            assert "in use by another" in refused("x", f"{device} 1 store=format")
            for words in ("pool drop nobody", "pool drop a", "pool"):
                run("dmsetup", "message", "a", "0", *words.split(), ok=(1,))
            assert says("pool", "check", device)[0] == 1, "a pool in use was checked"
            # Its table line makes it again, another of the pool does not.
            line = table_of("a")
            run("dmsetup", "load", "a", "--table", line)
            run("dmsetup", "resume", "a")
            assert table_of("a") == line
            other = line.replace("pool=a", "pool=b")
            run("dmsetup", "load", "a", "--table", other, ok=(1,))
            assert disk
        run("dmsetup", "create", "a", "--table", line)
        run("dmsetup", "remove", "a")
        assert "has a disk of that name" in refused("x", f"{device} 2 pool=a store=format")
        assert says("pool", "create", device, "farm")[0] == 1, "a pool was overwritten"
        try:
            david("create", "x", "--size", "1T", "--pool", "nowhere")
            raise Failed("a pool was found that is not there")
        except Failed as error:
            assert "--pool nowhere" in str(error), error
        try:
            david("create", "x", "--size", "1T", "--backing", device)
            raise Failed("a disk of its own was made on a pool")
        except Failed as error:
            assert "--pool farm" in str(error), error
        david("create", "x", "--size", "1T", "--pool", "farm")
        run("dmsetup", "remove", "x")


@case
def a_pool_is_not_looked_for_where_reads_give_old_memory() -> None:
    """A read of null_blk without memory gives what its buffer had before, such as a pool's directory."""
    with pool_device(4 * MIB) as device, null_block("size=64 queue_mode=0 power=1") as null:
        known = pools.candidates()
        assert device in known, (device, known)
        assert null not in known, (null, known)


@case
def disks_move_between_pools_and_devices_of_their_own() -> None:
    image, again = str(SCRATCH / "moved.image"), str(SCRATCH / "again.image")
    writer = Writer("a", 6)
    with pool_device(8 * MIB) as device, pool_device(8 * MIB) as second, loop_disk(4 * MIB) as plain:
        with opened_all(device, ["a", "b"]) as fds:
            for _ in range(500):
                writer.step(fds["a"])
                raw.write(fds["b"], random.Random(7).randbytes(BLOCK), writer.rng.randrange(500) * BLOCK)
        assert says("export", "--disk", "a", device, image) == (0, "")
        # A pool in which there is no long run
        with opened_all(second, ["x", "y"]) as fds:
            for number in range(1200):
                raw.write(fds["xy"[number % 2]], random.Random(number).randbytes(BLOCK), number * BLOCK)
            for number in range(0, 1200, 2):
                raw.discard(fds["x"], number * BLOCK, BLOCK)
        for words in (("--disk", "moved", image, second), (image, plain)):
            status, text = says("import", *words)
            assert status == 0, text
        assert says("import", "--disk", "moved", image, second)[0] == 1, "a disk was imported twice"
        must_be_good(second)
        assert says("check", "--disk", "moved", second) == (0, "no fault found\n")
        with opened_all(second, ["moved", "y"]) as fds:
            writer.check(fds["moved"])
            raw.must_read(fds["y"], random.Random(9).randbytes(BLOCK), 9 * BLOCK)
        with mapped("own", f"0 {TIB >> 9} david {plain}") as disk, raw.opened(disk) as fd:
            writer.check(fd)
        assert says("export", "--disk", "moved", second, again) == (0, "")
    with pool_device(8 * MIB) as device:
        assert says("import", "--disk", "a", again, device)[0] == 0
        with opened_all(device, ["a"]) as fds:
            writer.check(fds["a"])


@case(complaints="damaged|I/O error|pool")
def a_damaged_disk_is_told_by_name_and_mended() -> None:
    path = SCRATCH / "pool.file"
    SCRATCH.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        file.truncate(8 * MIB)
    made(str(path))
    run("losetup", "/dev/loop7", str(path))
    try:
        with opened_all("/dev/loop7", ["a", "b"]) as fds:
            writers = {name: Writer(name, 8) for name in ("a", "b")}
            for name, writer in writers.items():
                for _ in range(100):
                    writer.step(fds[name])
            sync_all(fds)
        area = 6 * BLOCK
        with open("/dev/loop7", "r+b") as file:
            file.seek(area)
            file.write(b"\xff" * BLOCK)
            os.fsync(file.fileno())
        status, text = says("pool", "check", "/dev/loop7")
        assert status == 1 and "disk a: damaged" in text, text
        status, text = says("repair", "--disk", "a", "/dev/loop7")
        assert status == 0 and "repaired" in text, text
        must_be_good("/dev/loop7")
        with opened_all("/dev/loop7", ["a", "b"]) as fds:
            for name, writer in writers.items():
                writer.check(fds[name])
        # Both superblocks gone: no disk of the pool opens, as nobody knows what is free.
        with open("/dev/loop7", "r+b") as file:
            file.seek(area)
            file.write(b"\xff" * BLOCK * 2)
            os.fsync(file.fileno())
        assert "damaged: see david pool check" in refused("b", "/dev/loop7 1 pool=b")
        assert says("pool", "drop", "/dev/loop7", "a")[0] == 0
        with opened_all("/dev/loop7", ["b"]) as fds:
            writers["b"].check(fds["b"])
    finally:
        run("losetup", "-d", "/dev/loop7")
        path.unlink()


@case
def a_disk_of_a_pool_grows_and_the_pool_with_its_device() -> None:
    with pool_device(2 * MIB) as device:
        with pool_disk("a", device, size=TIB) as disk, raw.opened(disk) as fd:
            data = raw.patterned(1, 64 * KIB)
            raw.write(fd, data, TIB - 64 * KIB)
            david("resize", "a", "2T")
            assert run("blockdev", "--getsize64", disk).strip() == str(2 * TIB)
            raw.write(fd, data, 2 * TIB - 64 * KIB)
            raw.must_read(fd, data, TIB - 64 * KIB)
            before = int(device_stats("a")["store_blocks"])  # type: ignore[call-overload]
        grown(device, 4 * MIB)
        with pool_disk("a", device, size=2 * TIB) as disk, raw.opened(disk) as fd:
            raw.must_read(fd, data, TIB - 64 * KIB)
            after = int(device_stats("a")["store_blocks"])  # type: ignore[call-overload]
            assert after - before == 2 * MIB // BLOCK, (before, after)
            assert Writer("a", 9).fill(fd, 600) == 600
        must_be_good(device)


def grown(device: str, size: int) -> None:
    """What lies below the pool is larger."""
    backing = run("losetup", "-n", "-O", "BACK-FILE", device).strip()
    os.truncate(backing, size)
    run("losetup", "--set-capacity", device)


def a_pool_grows_in_use(share: bool) -> None:
    """Three disks fill it, and then what it has more; one opens when it is large already."""
    same = random.Random(7).randbytes(64 * BLOCK)
    with pool_device(2 * MIB, share=share) as device:
        writers = {name: Writer(name, 1) for name in [*NAMES, "d"]}
        with opened_all(device, NAMES) as fds:
            for fd in fds.values():
                raw.write(fd, same[: 16 * BLOCK], 0)
            for name, fd in fds.items():
                assert writers[name].fill(fd, 2000) < 2000
            assert "used already" in complaint("pool", "grow", device)
            grown(device, 16 * MIB)
            with ThreadPoolExecutor(1) as pool:
                reader = pool.submit(lambda: [raw.read(fds["a"], BLOCK, 0) for _ in range(300)])
                assert "now 16.0 MiB" in david("pool", "grow", device)
                reader.result()
            for fd in fds.values():
                raw.write(fd, same, 0)
            # What was there before is freed.
            sync_all(fds)
            if share:
                saved = int(device_stats("a")["pool_saved"])  # type: ignore[call-overload]
                assert saved == 2 * 64, saved
            for name, fd in fds.items():
                assert writers[name].fill(fd, 500) == 500
            sync_all(fds)
            with pool_disk("d", device) as disk, raw.opened(disk) as fd:
                assert writers["d"].fill(fd, 100) == 100
            for name, fd in fds.items():
                writers[name].check(fd)
                raw.must_read(fd, same, 0)
        must_be_good(device)
        with opened_all(device, [*NAMES, "d"]) as fds:
            for name, fd in fds.items():
                writers[name].check(fd)
        assert "opened" in complaint("pool", "grow", device)


@case
def a_pool_grows_while_its_disks_are_in_use() -> None:
    a_pool_grows_in_use(share=False)


@case
def a_pool_with_shared_copies_grows_while_its_disks_are_in_use() -> None:
    a_pool_grows_in_use(share=True)


@case(planted=True)
def a_pool_that_grows_wrongly_is_found() -> None:
    for bug in ("forgets", "unsaid"):
        with planted(bug), must_fail():
            a_pool_grows_in_use(share=False)


def area_of(path: str, name: str) -> tuple[int, int]:
    """First block and number of blocks of a disk's superblocks and log, as the pool's directory has them."""
    with open(path, "rb") as file:
        copies = [file.read(3 * BLOCK), file.read(3 * BLOCK)]
    newest = max(copies, key=lambda copy: struct.unpack_from("<Q", copy, 40))
    for at in range(128, len(newest), 128):
        if newest[at:].startswith(name.encode() + b"\0"):
            return struct.unpack_from("<QQ", newest, at + 80)
    raise Failed(f"no disk {name} in the directory")


@case(complaints="david|I/O error|error")
def a_pool_grows_though_one_of_its_disks_has_failed() -> None:
    """That one has blocks that it freed, and cannot make durable."""
    with loop_disk(128 * MIB) as device, ExitStack() as stack:
        small, large = 64 * MIB >> 9, 128 * MIB >> 9
        below = stack.enter_context(mapped("below", f"0 {small} linear {device} 0"))
        made(below)
        disks = [stack.enter_context(pool_disk(name, below)) for name in ("a", "b")]
        first, count = (number * BLOCK >> 9 for number in area_of(below, "a"))
        with raw.opened(disks[0]) as fd:
            raw.write(fd, raw.patterned(1, 4 * MIB), 0)
            os.fsync(fd)
            raw.discard(fd, 0, 2 * MIB)
            lines = (f"0 {first} linear {device} 0", f"{first} {count} error",
                     f"{first + count} {small - first - count} linear {device} {first + count}")
            run("dmsetup", "suspend", "--nolockfs", "below")
            run("dmsetup", "load", "below", "--table", "\n".join(lines))
            run("dmsetup", "resume", "below")
            with suppress(OSError):
                os.fsync(fd)
        assert state("a") == "failed", state("a")
        for name in ("a", "b", "below"):
            run("dmsetup", "suspend", name)
        run("dmsetup", "load", "below", "--table", f"0 {large} linear {device} 0")
        for name in ("below", "b", "a"):
            run("dmsetup", "resume", name)
        with raw.opened(disks[1]) as fd:
            for at in range(0, 80 * MIB, MIB):
                raw.write(fd, raw.patterned(at, MIB), at)
        warned = [line for line in run("dmesg").splitlines() if "WARNING: CPU" in line]
        assert not warned, warned


DIRECTORY = "the pool's directory cannot be written|I/O error|error|david"


def must_not_enter(name: str, below: str) -> None:
    with suppress(Failed), pool_disk(name, below):
        raise RuntimeError(f"disk {name} was entered in a directory that cannot be written")


@case(complaints=DIRECTORY)
def a_torn_directory_is_mended_before_the_whole_one_is_touched() -> None:
    size = 64 * MIB
    with loop_disk(size) as device, mapped("below", f"0 {size >> 9} linear {device} 0") as below:
        made(below)
        with pool_disk("a", below):
            whole, older = copies_of(device)
            torn = place_of(device, older)
            # Of the copy's last block alone: the command reads what has the disks.
            reload("below", fails_at(device, size, torn + 2 * BLOCK, BLOCK))
            must_not_enter("b", below)
            assert whole not in copies_of(device)[:1], "nothing was written"
            with raw.opened(device) as fd:
                raw.write(fd, b"torn" * (COPY // 4), torn)
            reload("below", f"0 {size >> 9} linear {device} 0")
            with pool_disk("b", below):
                assert whole in copies_of(device), "the only whole copy was written over"
        must_be_good(below)


@case(complaints=DIRECTORY + "|store full|store low|critical")
def a_disk_that_may_be_in_the_directory_keeps_its_area() -> None:
    """Of a copy of the directory the last block alone fails, which has nothing in it: all of it stands."""
    size = 64 * MIB
    with loop_disk(size) as device, mapped("below", f"0 {size >> 9} linear {device} 0") as below:
        made(below)
        with pool_disk("a", below) as disk:
            _, older = copies_of(device)
            reload("below", fails_at(device, size, place_of(device, older) + 2 * BLOCK, BLOCK))
            must_not_enter("b", below)
            assert b"b\0" in copies_of(device)[0], "what failed is not there"
            reload("below", f"0 {size >> 9} linear {device} 0")
            with raw.opened(disk) as fd, suppress(OSError):
                for at in range(0, size, MIB):
                    raw.write(fd, raw.patterned(at, MIB), at)
            assert state("a") == "full", state("a")
        must_be_good(below)
        for name in ("a", "b"):
            with pool_disk(name, below):
                pass


@case(complaints=DIRECTORY)
def a_disk_whose_drop_failed_is_in_the_directory_when_it_is_used_again() -> None:
    """The directory without it stands on the device, though it is told that it could not be written."""
    size, data = 64 * MIB, raw.patterned(3, MIB)
    with loop_disk(size) as device, mapped("below", f"0 {size >> 9} linear {device} 0") as below:
        made(below)
        with pool_disk("b", below), pool_disk("a", below):
            remove("b")
            _, older = copies_of(device)
            reload("below", fails_at(device, size, place_of(device, older) + 2 * BLOCK, BLOCK))
            run("dmsetup", "message", "a", "0", "pool", "drop", "b", ok=(1,))
            assert b"b\0" not in copies_of(device)[0], "what failed is not there"
            reload("below", f"0 {size >> 9} linear {device} 0")
            with pool_disk("b", below) as disk, raw.opened(disk) as fd:
                raw.write(fd, data, 0)
                os.fsync(fd)
        must_be_good(below)
        with pool_disk("b", below) as disk, raw.opened(disk) as fd:
            raw.must_read(fd, data, 0)


def take_all_and_discard(fd: int) -> None:
    """All that the pool has is granted to this disk."""
    content, at = random.Random(3).randbytes(MIB), 0
    with suppress(OSError):
        for at in range(0, 100 * MIB, MIB):
            raw.write(fd, content, at)
    raw.discard(fd, 0, at)
    os.fsync(fd)


@case(complaints="store low|store full|I/O error|critical")
def a_flush_gets_the_blocks_that_other_disks_can_spare() -> None:
    """For checksums and RAW rules, as a write that is kept does."""
    with pool_device(64 * MIB) as device, ExitStack() as stack:
        options = ("--classify", "data", "-o", "checksums=on", "-o", "pool_reserve=0")
        disk = stack.enter_context(pool_disk("a", device, *options))
        other = stack.enter_context(pool_disk("b", device, "-o", "pool_reserve=0"))
        fd = stack.enter_context(raw.opened(disk))
        take_all_and_discard(stack.enter_context(raw.opened(other)))
        for at in range(0, 16 * MIB, MIB):
            raw.write(fd, random.Random(at).randbytes(MIB), at)
        os.fsync(fd)
        run("dmsetup", "message", "a", "0", "raw", "add", "sectors:0-7")


@case
def a_run_behind_many_holes_of_the_pool_is_found() -> None:
    """RAW rules of several pages take one run. Of the pool's free runs the first 512 have a block each."""
    rules = [f"sectors:{16 * number}-{16 * number + 7}" for number in range(600)]
    with pool_device(64 * MIB) as device:
        with pool_disk("a", device, "-o", "pool_reserve=0") as disk, raw.opened(disk) as fd:
            raw.write(fd, random.Random(3).randbytes(4 * MIB), 0)
            for at in range(0, 4 * MIB, 2 * BLOCK):
                raw.discard(fd, at, BLOCK)
            os.fsync(fd)
        with pool_disk("b", device, "-o", "pool_reserve=0"):
            run("dmsetup", "message", "b", "0", "raw", "add", *rules)
        must_be_good(device)


def two_disks_seek_room(bug: str) -> None:
    """The first finds what a third disk can spare. It is in the pool then, for the second, too."""
    with pool_device(8 * MIB) as device, opened_all(device, NAMES, "-o", "pool_reserve=0") as fds:
        take_all_and_discard(fds["c"])
        with planted(bug), ThreadPoolExecutor(2) as pool:
            list(pool.map(add_rule_once, ["a", "b"]))


def add_rule_once(name: str) -> None:
    """run() would say it again after a failure."""
    if devmapper.output("message", name, "0", "raw", "add", "sectors:0-7") is None:
        raise Failed(f"{name}: the rule is refused")


@case(planted=True, complaints="store low|store full|I/O error|critical")
def disks_that_seek_room_at_once_share_what_another_can_spare() -> None:
    two_disks_seek_room("pause")


@case(planted=True, complaints="store low|store full|I/O error|critical")
def a_disk_that_does_not_look_again_is_found() -> None:
    with must_fail():
        two_disks_seek_room("once")


@case
def the_command_makes_shows_checks_and_drops() -> None:
    with loop_disk(256 * MIB) as device:
        david("pool", "create", "farm", "--backing", device)
        assert "farm" in complaint("pool", "create", "farm", "--backing", device)
        with pool_disk("a", device), pool_disk("b", device):
            lines = david("pool", "show", device).splitlines()
            assert "farm" in lines[0] and [line.split()[0] for line in lines[-2:]] == ["a", "b"], lines
            assert "/dev/mapper/a" in lines[-2], lines
            assert "first: david remove a" in complaint("pool", "drop", device, "a").replace("tools/", "")
            david("remove", "b")
            david("pool", "drop", device, "b")
            assert "b" in complaint("pool", "drop", device, "b")
            assert [line.split()[0] for line in david("pool", "show", device).splitlines()[-1:]] == ["a"]
        david("pool", "check", device)
        david("pool", "drop", device, "a")
        must_be_good(device)


@case
def a_disk_of_its_own_is_as_before() -> None:
    with loop_disk(MIB) as dev, fake_disk("own", TIB, dev, "--classify", "keep"):
        assert "pool" not in table_of("own")


@contextmanager
def raid10(device: str, disks: list[str], size: int, *words: str) -> Iterator[str]:
    """md over disks of the pool."""
    with ExitStack() as stack:
        opened = (pool_disk(name, device, "--classify", "auto", size=size) for name in disks)
        run("mdadm", words[0], ARRAY, "--run", *words[1:], *[stack.enter_context(disk) for disk in opened])
        try:
            yield ARRAY
        finally:
            run("mdadm", "--stop", ARRAY)


@case(seldom=True)
def twenty_four_disks_of_8_tb_serve_as_raid_10() -> None:
    disks = [f"d{number}" for number in range(24)]
    create = ("--create", "--level=10", "--raid-devices=24", "--bitmap=none", "--assume-clean")
    with pool_device(512 * MIB) as device:
        with raid10(device, disks, 8 * 10**12, *create) as md:
            size = int(run("blockdev", "--getsize64", md))
            assert 95 * 10**12 < size < 96 * 10**12, size
            run("mkfs.xfs", "-q", "-f", "-K", md)
            with mounted(md, "xfs") as top:
                many_directories(top, "many", 400)
                populate(top, "files", 300)
                sync(top)
                expected = tree(top)
            run("xfs_repair", "-n", md)
            shares = [device_stats(name) for name in disks]
            squashed = sum(each["blocks"]["squashed"] for each in shares)  # type: ignore[index]
            kept = sum(each["store_used"] for each in shares)  # type: ignore[misc]
            assert squashed and kept * BLOCK < 200 * MIB, (squashed, kept)
        must_be_good(device)
        with raid10(device, disks, 8 * 10**12, "--assemble") as md, mounted(md, "xfs") as top:
            equal("after all was closed and opened", expected, tree(top))
