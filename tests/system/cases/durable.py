# SPDX-License-Identifier: GPL-2.0
"""A store lasts: it is opened again as it was, and nothing else is taken for one."""

from __future__ import annotations

import errno
import os
import random
import time
from contextlib import suppress

from cases import case
from helpers import raw
from helpers.guest import Failed, device_stats, dm, fake_disk, loop_disk, mapped, mounted, remove, run
from helpers.raw import BLOCK
from helpers.stores import events, fill_table, refused, state, table, wait_event
from helpers.storetool import says
from helpers.units import GIB, KIB, MIB, TIB

# Past the page cache, which knows nothing of what device-mapper wrote.
COPY = ("bs=1M", "iflag=direct", "conv=sparse,fsync", "status=none")


class Disk:
    """Random changes of all kinds, and what the disk must hold; unit is the block size."""

    def __init__(self, seed: int, unit: int, blocks: int) -> None:
        self.rng = random.Random(seed)
        self.pool = self.rng.randbytes(MIB)
        self.unit, self.blocks = unit, blocks
        self.memory = bytearray(unit * blocks)

    def change(self, fd: int) -> None:
        start = self.rng.randrange(self.blocks)
        count = min(self.rng.choice((1, 1, 2, 9)), self.blocks - start)
        at, size = start * self.unit, count * self.unit
        what = self.rng.random()
        if what < 0.4:
            source = self.rng.randrange(MIB - size)
            data = self.pool[source : source + size]
            raw.write(fd, data, GIB + at)
        elif what < 0.7:
            data = bytes([self.rng.randrange(256)]) * size
            raw.write(fd, data, GIB + at)
        else:
            data = bytes(size)
            raw.discard(fd, GIB + at, size)
        self.memory[at : at + size] = data

    def check(self, fd: int) -> None:
        raw.must_read(fd, self.memory, GIB)


@case
def a_store_is_opened_as_it_was_left() -> None:
    for unit in (512, 4096):
        words = ("classify=keep", f"block_size={unit}")
        disk = Disk(unit, unit, 600)
        with loop_disk(8 * MIB) as dev:
            seen: dict[str, object] = {}
            for life in range(5):
                with mapped("again", table(dev, *words)) as path, raw.opened(path) as fd:
                    figures = device_stats("again")
                    for name in ("store_used", "ranges", "blocks"):
                        assert seen.get(name, figures[name]) == figures[name], f"{name}: {figures}"
                    disk.check(fd)
                    for _ in range(120 * life):
                        disk.change(fd)
                        if disk.rng.random() < 0.05:
                            os.fsync(fd)
                    seen = device_stats("again")
                    assert state("again") == "ok"


@case
def the_seed_is_remembered_and_the_table_recreates_the_disk() -> None:
    with loop_disk(MIB) as dev:
        first = table(dev, "classify=data", "seed=7", "store=format")
        with mapped("seed", first) as path, raw.opened(path) as fd:
            raw.write(fd, raw.patterned(1, 64 * KIB), GIB)
            before = raw.read(fd, 64 * KIB, GIB)
            line = run("dmsetup", "table", "seed").strip()
        assert " store=auto" in line, line
        for again in (line, table(dev, "classify=data")):
            with mapped("seed", again) as path, raw.opened(path) as fd:
                raw.must_read(fd, before, GIB)


@case(complaints="store full|store low|critical")
def a_log_goes_round_and_round() -> None:
    """Thousands of changes and flushes on the smallest store: checkpoints follow each other."""
    disk = Disk(5, BLOCK, 500)
    with loop_disk(MIB) as dev:
        for _ in range(2):
            with mapped("round", table(dev, "classify=keep")) as path, raw.opened(path) as fd:
                for number in range(1000):
                    try:
                        disk.change(fd)
                    except OSError as error:
                        assert error.errno == errno.ENOSPC, error
                        raw.discard(fd, GIB, 500 * BLOCK)
                        disk.memory[:] = bytes(500 * BLOCK)
                    if number % 3 == 0:
                        os.fsync(fd)
                disk.check(fd)
        with mapped("round", table(dev, "classify=keep")) as path, raw.opened(path) as fd:
            disk.check(fd)


@case
def what_is_no_store_is_refused_and_left_alone() -> None:
    def refuses(dev: str, words: str, expected: str) -> None:
        said = refused("bad", f"{dev} {words}")
        assert said.startswith(expected), f"'{said}' instead of '{expected}'"

    with loop_disk(MIB) as dev:
        with open(dev, "r+b") as file:
            file.write(b"something of value")
        refuses(dev, "", "Backing device holds something else than a david store: store=format")
        with open(dev, "r+b") as file:
            assert file.read(18) == b"something of value"
            file.write(bytes(BLOCK))
            # Where only btrfs has something.
            file.seek(64 * KIB + 64)
            file.write(b"_BHRfS_M")
        refuses(dev, "", "Backing device holds something else than a david store: store=format")
        with mapped("made", table(dev, "store=format", "block_size=2048")) as path, raw.opened(path) as fd:
            raw.write(fd, raw.patterned(1, BLOCK), GIB)
        refuses(dev, "", "The store on the backing device has block_size=2048")
        with open(dev, "r+b") as file:
            first = bytearray(file.read(2 * BLOCK))
            # One copy of the superblock is enough.
            for broken in (0, BLOCK):
                file.seek(broken)
                file.write(bytes(BLOCK))
                file.flush()
                os.fsync(file.fileno())
                run("blockdev", "--flushbufs", dev)
                if broken:
                    continue
                with mapped("made", table(dev, "block_size=2048")) as path, raw.opened(path) as fd:
                    raw.must_read(fd, raw.patterned(1, BLOCK), GIB)
                file.seek(0)
                first = bytearray(file.read(2 * BLOCK))
            first[100] ^= 1
            first[BLOCK + 100] ^= 1
            file.seek(0)
            file.write(first)
            file.flush()
            os.fsync(file.fileno())
        refuses(dev, "1 block_size=2048", "Backing device holds a david store that is broken")
    with loop_disk(256 * KIB) as dev:
        refuses(dev, "", "Backing device is too small for a store that lasts")
    with loop_disk(2 * MIB) as dev:
        with mapped("made", table(dev)):
            pass
        run("dmsetup", "create", "less", "--table", f"0 2048 linear {dev} 0")
        dm.make_node("less")
        try:
            refuses("/dev/mapper/less", "", "Backing device is smaller than when the store")
        finally:
            remove("less")


@case(complaints="store damaged")
def a_damaged_log_is_told_and_a_torn_end_is_not() -> None:
    with loop_disk(2 * MIB) as dev:
        with mapped("made", table(dev, "classify=keep")) as path, raw.opened(path) as fd:
            for number in range(20):
                raw.write(fd, raw.patterned(number, BLOCK), GIB + number * 2 * BLOCK)
                os.fsync(fd)
        with open(dev, "r+b") as file:
            file.seek((2 + 7) * BLOCK + 500)
            file.write(b"damage")
            os.fsync(file.fileno())
        said = refused("made", dev)
        assert said.startswith("The store on the backing device is damaged"), said


@case
def a_flush_costs_one_write_at_most_and_none_without_changes() -> None:
    """And one more where there are new checksums: a page for what lies together."""

    def written() -> int:
        """Pages; a flush by itself has none."""
        return int(open(f"/sys/block/{os.path.basename(dev)}/stat").read().split()[6]) // 8

    with loop_disk(16 * MIB) as dev, fake_disk("cost", TIB, dev, "--classify", "keep") as disk:
        with raw.opened(disk) as fd:
            for number in range(40):
                before = written()
                raw.write(fd, raw.patterned(number, BLOCK), GIB + number * 3 * BLOCK)
                data = written()
                os.fsync(fd)
                flush = written()
                data, flush = data - before, flush - data
                assert data == 1 and flush <= 1, f"{data} pages, and {flush} by the flush"
            before = written()
            for number in range(10):
                raw.write(fd, raw.patterned(100 + number, BLOCK), GIB + number * 3 * BLOCK)
                os.fsync(fd)
            cost = written() - before
            assert cost == 10, f"10 blocks written to their places took {cost} pages"
    with (
        loop_disk(16 * MIB) as dev,
        mapped("cost", table(dev, "classify=data", "checksums=on")) as disk,
        raw.opened(disk) as fd,
    ):
        data = raw.patterned(1, 64 * KIB)
        for number in range(40):
            before = written()
            raw.write(fd, data, GIB + number * 64 * KIB)
            os.fsync(fd)
            cost = written() - before
            assert cost <= 2, f"{cost} pages: what was written is dropped, and the flush takes a page each"


@case(complaints="critical")
def a_full_table_refuses_what_would_grow_and_is_emptied_by_discards() -> None:
    with loop_disk(MIB) as dev, fake_disk("ranges", TIB, dev, "--classify", "data") as disk:
        with raw.opened(disk) as fd:
            data = raw.patterned(1, BLOCK)
            seen = events("ranges")
            taken = fill_table(fd, data, 20000)
            assert 1000 < taken < 3000, taken
            wait_event("ranges", seen)
            assert fill_table(fd, data, 20000) == taken
            # What is there may be written again, and flushed.
            raw.write(fd, data, 0)
            os.fsync(fd)
            raw.discard(fd, 0, 1000 * BLOCK)
            raw.write(fd, data, 4 * BLOCK)
            os.fsync(fd)
            assert events("ranges") == seen + 1, "a full table was told twice"
        with raw.opened(disk) as fd:
            raw.must_read(fd, bytes(BLOCK), 0)


@case(complaints="store low")
def given_up_blocks_come_back_when_they_are_needed() -> None:
    """Without any flush: the store makes its own."""
    with loop_disk(MIB) as dev, fake_disk("needed", TIB, dev, "--classify", "keep") as disk:
        with raw.opened(disk) as fd:
            blocks = int(device_stats("needed")["store_blocks"])
            for turn in range(5):
                for number in range(blocks):
                    raw.write(fd, raw.patterned(turn, BLOCK), (turn * blocks + number) * BLOCK)
                raw.discard(fd, turn * blocks * BLOCK, blocks * BLOCK)
            assert device_stats("needed")["nospc"] == 0


@case
def a_file_system_survives_remove_and_create() -> None:
    for fs in ("ext4", "xfs", "btrfs"):
        with loop_disk(64 * MIB) as dev:
            options = ("-f",) if fs != "ext4" else ("-q",)
            for life in range(2):
                with mapped("lasting", table(dev)) as disk:
                    if not life:
                        run(f"mkfs.{fs}", *options, disk)
                    with mounted(disk, fs) as top:
                        assert len(os.listdir(top)) >= life
                        for old in range(life):
                            assert os.path.getsize(f"{top}/life-{old}/file") == 100000 + old
                        os.mkdir(f"{top}/life-{life}")
                        with open(f"{top}/life-{life}/file", "wb") as file:
                            file.write(random.Random(life).randbytes(100000 + life))


@case
def a_backing_device_is_replaced_by_a_copy_of_it_and_by_nothing_else() -> None:
    data = [raw.patterned(number, 64 * KIB) for number in range(4)]

    def copy(to: str) -> None:
        run("dd", f"if={old}", f"of={to}", "bs=1M", "iflag=direct", "conv=fsync", "status=none")

    def resumes(device: str) -> bool:
        with suppress(Failed):
            run("dmsetup", "load", "moved", "--table", table(device, "classify=keep"))
            run("dmsetup", "resume", "moved")
            return True
        return False

    with loop_disk(8 * MIB) as old, loop_disk(16 * MIB) as new, loop_disk(8 * MIB) as stale:
        with mapped("moved", table(old, "classify=keep")) as path, raw.opened(path) as fd:
            raw.write(fd, data[0], GIB)
            os.fsync(fd)
            copy(stale)
            raw.write(fd, data[1], 2 * GIB)
            run("dmsetup", "suspend", "moved")
            assert not resumes(stale), "a copy of a disk in use was taken"
            assert not resumes(new), "a blank device was taken"
            copy(new)
            assert resumes(old), "the old device was refused"
            run("dmsetup", "suspend", "moved")
            assert not resumes(new), "a copy from before the last suspend was taken"
            copy(new)
            small = int(device_stats("moved")["store_blocks"])
            assert resumes(new), "the copy was refused"
            assert int(device_stats("moved")["store_blocks"]) == small + 8 * MIB // BLOCK
            raw.must_read(fd, data[0], GIB)
            raw.must_read(fd, data[1], 2 * GIB)
            raw.write(fd, data[2], GIB)
            raw.write(fd, data[3], 3 * GIB)
            os.fsync(fd)
            run("dmsetup", "suspend", "moved")
            assert not resumes(old), "the old device was taken again, without what came since"
            assert resumes(new)
            # What is in memory is not what is read: ask the new device, and only it.
            run("dd", "if=/dev/urandom", f"of={old}", "bs=1M", "count=8", "conv=fsync", "status=none")
            raw.must_read(fd, data[2], GIB)
            seen = device_stats("moved")["store_used"]
        with mapped("moved", table(new, "classify=keep")) as path, raw.opened(path) as fd:
            for number, at in ((2, 1), (1, 2), (3, 3)):
                raw.must_read(fd, data[number], at * GIB)
            figures = device_stats("moved")
            assert figures["store_used"] == seen and int(figures["store_blocks"]) > 3000, figures


@case(seldom=True)
def opening_a_store_of_many_ranges_takes_no_time() -> None:
    """A fiftieth of the million that docs/results/opening.csv tells of."""
    many = int(os.environ.get("DAVID_RANGES", "20000"))
    with loop_disk(max(64, many // 1000) * 2 * MIB) as dev:
        with mapped("many", table(dev, "classify=data", "low_water=0")) as path:
            with raw.opened(path) as fd:
                raw.BUFFER.view[:BLOCK] = raw.patterned(1, BLOCK)
                for number in range(many):
                    os.pwrite(fd, raw.BUFFER.view[:BLOCK], number * 2 * BLOCK)
            ranges = sum(device_stats("many")["ranges"].values())
            assert ranges == many, f"{ranges} ranges"

        # Of so few it says no more than that it is not their square; a kernel may look for faults meanwhile.
        limit = max(5, many / 10**6)

        def opening(path: str, what: str) -> None:
            start = time.monotonic()
            run("dmsetup", "create", "many", "--table", table(path, "classify=data"))
            seconds = time.monotonic() - start
            try:
                assert sum(device_stats("many")["ranges"].values()) == ranges
            finally:
                remove("many")
            print(f"opening a store of {ranges} ranges {what}: {seconds:.2f} s", flush=True)
            assert seconds < limit, f"{seconds:.2f} s for {ranges} ranges {what}"

        opening(dev, "after a clean end")
        # After a crash the log has changes, at random, and two checkpoints.
        with loop_disk(max(64, many // 1000) * 2 * MIB) as copy:
            with mapped("many", table(dev, "classify=data", "low_water=0")) as path:
                with raw.opened(path) as fd:
                    rng = random.Random(1)
                    for number in range(many * 4 // 3):
                        raw.BUFFER.view[:BLOCK] = number.to_bytes(8, "little") * (BLOCK // 8)
                        os.pwrite(fd, raw.BUFFER.view[:BLOCK], rng.randrange(many) * 2 * BLOCK)
                    os.fsync(fd)
                    run("dd", f"if={dev}", f"of={copy}", *COPY)
            opening(copy, "after a crash")


@case
def the_tool_checks_dumps_and_repairs() -> None:
    with loop_disk(2 * MIB) as dev:
        assert says("check", dev)[0] == 1
        with mapped("made", table(dev, "classify=keep")) as path:
            with raw.opened(path) as fd:
                for number in range(20):
                    raw.write(fd, raw.patterned(number, BLOCK), number * 2 * BLOCK)
                    os.fsync(fd)
                raw.write(fd, b"\x55" * BLOCK, GIB)
            assert says("check", dev)[0] == 1, "a store in use was looked at"
        assert says("check", dev) == (0, "no fault found\n"), says("check", dev)
        status, text = says("info", dev)
        words = dict(line.split(" ", 1) for line in text.splitlines())
        assert (words["clean"], words["used"], words["ranges_stored"]) == ("yes", "20", "20"), text
        status, text = says("dump", dev)
        lines = text.splitlines()
        assert len(lines) == 21 and lines[-1] == f"{GIB // BLOCK} {GIB // BLOCK} fill {'55' * 8}", text
        with open(dev, "r+b") as file:
            file.seek((2 + 7) * BLOCK + 500)
            file.write(b"damage")
            file.flush()
            os.fsync(file.fileno())
        status, text = says("check", dev)
        assert status == 1 and "log page 7: " in text, text
        status, text = says("repair", dev)
        assert status == 0 and "repaired" in text, text
        assert says("check", dev) == (0, "no fault found\n"), says("check", dev)
        run("blockdev", "--flushbufs", dev)
        with mapped("made", table(dev, "classify=keep")) as path, raw.opened(path) as fd:
            for number in range(7):
                raw.must_read(fd, raw.patterned(number, BLOCK), number * 2 * BLOCK)
            raw.must_read(fd, bytes(BLOCK), 8 * 2 * BLOCK)
