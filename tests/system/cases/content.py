# SPDX-License-Identifier: GPL-2.0
"""What reads return: kept blocks exactly, squashed ones the same each time, others zeros; at any size and
alignment.
"""

from __future__ import annotations

import mmap
import os
import random
import zlib
from string import ascii_lowercase

from cases import case
from helpers import raw, udev
from helpers.guest import (
    Failed,
    device_stats,
    fake_disk,
    linear_disk,
    loop_disk,
    mapped,
    mounted,
    ram_disk,
    run,
)
from helpers.raw import BLOCK, SECTOR
from helpers.units import FULL, GIB, KIB, MIB, TIB


class Shadow:
    """Random requests to a few windows of a disk, each checked against a copy in memory."""

    def __init__(self, disk: str, size: int, seed: int, block: int) -> None:
        self.rng = random.Random(seed)
        self.pool = self.rng.randbytes(1 << 20)
        self.block = block
        self.log: list[str] = []
        span = 256 * KIB
        # The start, the end, and an odd place in between.
        self.windows = {start: bytearray(span) for start in (0, (size // 3) // SECTOR * SECTOR, size - span)}
        self.span = span
        self.direct = os.open(disk, raw.DIRECT)
        self.buffered = os.open(disk, os.O_RDWR | os.O_CLOEXEC)

    def close(self) -> None:
        os.close(self.buffered)
        os.close(self.direct)

    def extent(self, unit: int) -> tuple[int, int, int]:
        """Window, offset in it, length: mostly short, sometimes long, multiples of `unit`."""
        window = self.rng.choice(list(self.windows))
        most = self.rng.choice((2 * unit, 16 * KIB, 16 * KIB, 160 * KIB))
        length = self.rng.randrange(1, max(most // unit, 1) + 1) * unit
        offset = self.rng.randrange((self.span - length) // unit + 1) * unit
        return window, offset, length

    def data(self, length: int) -> bytes:
        """Mostly random; sometimes one word repeated, which the range table holds; sometimes a mixture."""
        kind = self.rng.random()
        start = self.rng.randrange(len(self.pool) - length)
        data = self.pool[start : start + length]
        if kind < 0.6:
            return data
        word = self.rng.choice((bytes(8), b"\xff" * 8, self.rng.randbytes(8), self.rng.randbytes(4) * 2))
        constant = (word * (length // 8 + 1))[:length]
        if kind < 0.85:
            return constant
        cut = self.rng.randrange(length)
        return constant[:cut] + data[cut:]

    def write_direct(self) -> None:
        window, offset, length = self.extent(SECTOR)
        data = self.data(length)
        pieces = self.rng.randrange(1, 6)
        if pieces > 1 and length >= 8 * SECTOR:
            # Segments that begin and end anywhere in their pages.
            cuts = sorted(self.rng.randrange(length // SECTOR) * SECTOR for _ in range(pieces - 1))
            views = []
            place = 0
            for start, end in zip([0, *cuts], [*cuts, length], strict=True):
                if start == end:
                    continue
                place += self.rng.randrange(9) * SECTOR
                raw.BUFFER.view[place : place + end - start] = data[start:end]
                views.append(raw.BUFFER.view[place : place + end - start])
                place += end - start
            done = os.pwritev(self.direct, views, window + offset)
            assert done == length, f"short write: {done} of {length}"
        else:
            raw.write(self.direct, data, window + offset)
        self.windows[window][offset : offset + length] = data

    def write_buffered(self) -> None:
        window, offset, length = self.extent(1)
        data = self.data(length)
        assert os.pwrite(self.buffered, data, window + offset) == length
        self.windows[window][offset : offset + length] = data
        # The page cache must not get between the two kinds of access.
        os.fsync(self.buffered)

    def read(self) -> None:
        window, offset, length = self.extent(SECTOR)
        raw.must_read(self.direct, self.windows[window][offset : offset + length], window + offset)

    def read_buffered(self) -> None:
        window, offset, length = self.extent(1)
        raw.drop_caches(self.buffered)
        found = os.pread(self.buffered, length, window + offset)
        at = raw.first_difference(self.windows[window][offset : offset + length], found)
        assert at < 0, f"buffered read differs at {window + offset + at}"

    def zero(self) -> None:
        window, offset, length = self.extent(SECTOR)
        raw.zero_out(self.direct, window + offset, length)
        self.windows[window][offset : offset + length] = bytes(length)

    def discard(self) -> None:
        window, offset, length = self.extent(SECTOR)
        raw.discard(self.direct, window + offset, length)
        # The kernel zeroes what it has cached of all that was to be discarded, parts of blocks included.
        raw.drop_caches(self.buffered)
        # Whole blocks become zeros, the rest stays.
        first = -(-(window + offset) // self.block) * self.block - window
        last = (window + offset + length) // self.block * self.block - window
        if first < last:
            self.windows[window][first:last] = bytes(last - first)

    def step(self) -> None:
        action = self.rng.choices(
            (self.write_direct, self.write_buffered, self.read, self.read_buffered, self.zero, self.discard),
            (8, 3, 8, 1, 2, 2),
        )[0]
        action()

    def check_all(self) -> None:
        raw.drop_caches(self.buffered)
        for window, expected in self.windows.items():
            raw.must_read(self.direct, expected, window, "at the end, content")

    def run(self, steps: int) -> None:
        for number in range(steps):
            try:
                self.step()
            except (Failed, AssertionError) as error:
                raise Failed(f"step {number}: {error}") from None
        self.check_all()


def fuzz(block: int, classify: str, seed: int, steps: int) -> None:
    if os.environ.get("DAVID_LAB") == "vm":
        steps //= 8 if FULL else 16  # without KVM a step takes ten times as long
    # A size that is no multiple of the block: the last one is cut off.
    size = TIB + 3 * SECTOR
    with (
        loop_disk(16 * MIB) as dev,
        fake_disk("fuzz", size, dev, "--classify", classify, "-o", f"block_size={block}") as disk,
    ):
        shadow = Shadow(disk, size, seed, block)
        try:
            shadow.run(steps)
        finally:
            shadow.close()
        figures = device_stats("fuzz")
        assert figures["written"]["squashed"] == 0 and figures["errors"] == 0, figures
        if block > SECTOR:
            assert figures["written"]["kept"] and figures["written"]["fill"], figures


@case(stock="6.1", cpus=True)
def keep_returns_exactly_what_was_written_4096() -> None:
    fuzz(4096, "keep", 1, 6000)


@case(cpus=True, seldom=True)
def keep_returns_exactly_what_was_written_4096_longer() -> None:
    fuzz(4096, "keep", 6, 15000)


@case
def keep_returns_exactly_what_was_written_2048() -> None:
    fuzz(2048, "keep", 2, 6000)


@case
def keep_returns_exactly_what_was_written_1024() -> None:
    fuzz(1024, "keep", 3, 6000)


@case(cpus=True, seldom=True)
def keep_returns_exactly_what_was_written_512() -> None:
    fuzz(512, "keep", 4, 6000)


@case
def an_unmounted_disk_returns_exactly_what_was_written() -> None:
    fuzz(4096, "auto", 5, 8000)
    fuzz(4096, "explicit", 6, 3000)


@case
def blocks_never_written_read_as_zeros() -> None:
    with loop_disk(MIB) as dev, fake_disk("zeros", 100 * TIB, dev) as disk, raw.opened(disk) as fd:
        for offset in (0, 512, TIB, 99 * TIB + 4096 * 3, 100 * TIB - MIB):
            raw.must_read(fd, bytes(MIB), offset)
        assert device_stats("zeros")["store_used"] == 0


@case
def squashed_content_depends_on_seed_and_sector_alone() -> None:
    """The same across reads, sizes of reads, rewrites and devices; another seed gives other bytes."""
    offset, size = 7 * GIB + 16 * KIB, 256 * KIB
    seen = {}
    for name, seed in (("first", 1), ("second", 1), ("third", 2)):
        options = ("--classify", "data", "-o", f"seed={seed}")
        with loop_disk(MIB) as dev, fake_disk(name, TIB, dev, *options) as disk, raw.opened(disk) as fd:
            raw.write(fd, raw.patterned(1, size), offset)
            seen[name] = raw.read(fd, size, offset)
            raw.must_read(fd, seen[name], offset, "second read")
            for start in (0, 512, 4096 - 512, 100 * KIB):
                for length in (512, 4096, 12 * KIB + 512):
                    raw.must_read(fd, seen[name][start : start + length], offset + start, "part read alone")
            raw.write(fd, raw.patterned(2, size), offset)
            raw.must_read(fd, seen[name], offset, "read after a rewrite")
            assert device_stats(name)["store_used"] == 0
    assert seen["first"] == seen["second"], "two devices of the same seed differ"
    at = sum(a != b for a, b in zip(seen["first"], seen["third"], strict=True))
    assert at > size * 0.9, f"seeds 1 and 2 differ in {at} of {size} bytes only"
    packed = len(zlib.compress(seen["first"]))
    assert packed > size * 0.99, f"incompressible content packs to {packed} of {size} bytes"


@case
def content_zeros_reads_as_zeros() -> None:
    options = ("--classify", "data", "--content", "zeros")
    with loop_disk(MIB) as dev, fake_disk("zeros", TIB, dev, *options) as disk, raw.opened(disk) as fd:
        raw.write(fd, raw.patterned(1, MIB), GIB)
        raw.must_read(fd, bytes(MIB), GIB)
        assert device_stats("zeros")["blocks"]["squashed"] == MIB // BLOCK


def squashed_as(kind: str, size: int) -> bytes:
    """What @size bytes at 1 GiB of a disk with that content read as."""
    options = ("--classify", "data", "--content", kind)
    with loop_disk(MIB) as dev, fake_disk("kind", TIB, dev, *options) as disk, raw.opened(disk) as fd:
        raw.write(fd, raw.patterned(1, size), GIB)
        seen = raw.read(fd, size, GIB)
        raw.must_read(fd, seen[512 : 512 + 12 * KIB], GIB + 512, "part read alone")
        return seen


@case
def content_of_each_kind_is_what_it_says() -> None:
    size = 256 * KIB
    packed = len(zlib.compress(squashed_as("compressible:300", size), 6)) * 1000 / size
    assert 285 <= packed <= 315, f"compressible:300 packs to {packed:.0f} thousandths"
    lines = squashed_as("text", size).decode("ascii").splitlines()
    assert len(lines) == size // 64
    assert all(set(ascii_lowercase) <= set(line.lower()) for line in lines), "a line is no pangram"
    assert squashed_as("pattern:0123456789abcdef", size) == bytes.fromhex("0123456789abcdef") * (size // 8)
    sectors = range(GIB // 512, (GIB + size) // 512)
    assert squashed_as("stamp", size) == b"".join(sector.to_bytes(8, "little") * 64 for sector in sectors)


@case
def constant_blocks_read_back_exactly_and_cost_nothing() -> None:
    with (
        loop_disk(MIB) as dev,
        fake_disk("fill", TIB, dev, "--classify", "data") as disk,
        raw.opened(disk) as fd,
    ):
        words = [bytes(8), b"\xff" * 8, b"\x00\x01\x02\x03\x04\x05\x06\x07", b"\xa5\x5a" * 4]
        for number, word in enumerate(words):
            raw.write(fd, word * (256 * KIB // 8), number * GIB)
        for number, word in enumerate(words):
            raw.must_read(fd, word * (256 * KIB // 8), number * GIB)
            # A part that begins in the midst of a block.
            raw.must_read(fd, word * 64, number * GIB + 1536)
        figures = device_stats("fill")
        assert figures["store_used"] == 0 and figures["ranges"]["fill"] == len(words), figures


@case(cpus=True)
def one_request_over_all_kinds_of_ranges() -> None:
    """Stored, squashed, constant and never written blocks side by side, served as one request."""
    with loop_disk(16 * MIB) as dev, fake_disk("mixed", TIB, dev, "--classify", "keep") as disk:
        kept = raw.patterned(1, BLOCK)
        with raw.opened(disk) as fd:
            for number in range(0, 64, 4):
                raw.write(fd, kept, GIB + number * BLOCK)
        reload("mixed", "classify=keep", "classify=data")
        with raw.opened(disk) as fd:
            for number in range(0, 64, 4):
                raw.write(fd, raw.patterned(number, BLOCK), GIB + (number + 1) * BLOCK)
                raw.write(fd, b"\x11" * BLOCK, GIB + (number + 2) * BLOCK)
            whole = raw.read(fd, 64 * BLOCK, GIB)
            for number in range(64):
                piece = whole[number * BLOCK : (number + 1) * BLOCK]
                expected = {0: kept, 1: piece, 2: b"\x11" * BLOCK, 3: bytes(BLOCK)}[number % 4]
                assert piece == expected, f"block {number} differs"
                raw.must_read(fd, piece, GIB + number * BLOCK, f"block {number} alone")
            raw.must_read(
                fd, whole[SECTOR : 64 * BLOCK - SECTOR], GIB + SECTOR, "the same off the blocks' bounds"
            )
            # With classify=data a write that covers them drops all; constants come back.
            raw.write(fd, raw.patterned(9, 64 * BLOCK), GIB)
            figures = device_stats("mixed")
            assert figures["blocks"]["stored"] == 0 and figures["store_used"] == 0, figures


def reload(name: str, old: str, new: str) -> None:
    table = run("dmsetup", "table", name).strip()
    assert old in table, table
    run("dmsetup", "load", name, "--table", table.replace(old, new))
    run("dmsetup", "resume", name)


@case
def a_part_of_a_squashed_block_stays_squashed() -> None:
    with (
        loop_disk(MIB) as dev,
        fake_disk("part", TIB, dev, "--classify", "data") as disk,
        raw.opened(disk) as fd,
    ):
        raw.write(fd, raw.patterned(1, BLOCK), GIB)
        before = raw.read(fd, BLOCK, GIB)
        raw.write(fd, raw.patterned(2, SECTOR), GIB + 1024)
        raw.must_read(fd, before, GIB)
        assert device_stats("part")["store_used"] == 0


@case
def the_last_block_may_be_cut_off() -> None:
    for extra in (SECTOR, 3 * SECTOR, 7 * SECTOR):
        size = GIB + extra
        with (
            loop_disk(MIB) as dev,
            fake_disk("odd", size, dev, "--classify", "keep") as disk,
            raw.opened(disk) as fd,
        ):
            data = raw.patterned(extra, BLOCK + extra)
            raw.write(fd, data, GIB - BLOCK)
            raw.must_read(fd, data, GIB - BLOCK)
            raw.write(fd, data[:extra], GIB)
            raw.must_read(fd, data[:BLOCK] + data[:extra], GIB - BLOCK)
            raw.zero_out(fd, GIB - SECTOR, SECTOR + extra)
            raw.must_read(fd, data[: BLOCK - SECTOR] + bytes(SECTOR + extra), GIB - BLOCK)
            raw.discard(fd, 0, size)


@case
def files_read_the_same_each_time_and_zeros_are_zeros() -> None:
    """On a mounted file system: data is squashed, but stable; metadata and constant blocks are exact."""
    with ram_disk(128 * MIB) as dev, fake_disk("files", TIB, dev) as disk:
        run("mkfs.ext4", "-q", disk)
        with mounted(disk, "ext4") as top:
            for name, data in (
                ("random", raw.patterned(1, MIB)),
                ("zeros", bytes(MIB)),
                ("ones", b"\xff" * MIB),
            ):
                with open(f"{top}/{name}", "wb") as file:
                    file.write(data)
            with raw.opened(f"{top}/direct", os.O_CREAT | raw.DIRECT) as fd:
                raw.write(fd, raw.patterned(3, MIB), 0)
            os.sync()
        before = device_stats("files")
        contents = []
        for _ in range(2):
            with mounted(disk, "ext4") as top:
                contents.append(
                    {
                        name: open(f"{top}/{name}", "rb").read()
                        for name in ("random", "zeros", "ones", "direct")
                    }
                )
        assert contents[0] == contents[1], "files read differently the second time"
        assert contents[0]["zeros"] == bytes(MIB) and contents[0]["ones"] == b"\xff" * MIB
        assert contents[0]["random"] != raw.patterned(1, MIB), "data was kept"
        assert contents[0]["direct"] != raw.patterned(3, MIB), "direct data was kept"
        assert before["evidence"]["file"] >= 256 and before["evidence"]["anon"] >= 256, before["evidence"]
        run("e2fsck", "-fn", disk)


@case(cpus=True)
def a_page_of_a_file_elsewhere_is_kept_on_an_unmounted_disk() -> None:
    """Direct I/O from a mapped file of another file system: pages with an owner, but elsewhere."""
    with ram_disk(128 * MIB) as dev, fake_disk("mounted", TIB, dev) as disk:
        run("mkfs.ext4", "-q", disk)
        with (
            mounted(disk, "ext4") as top,
            loop_disk(16 * MIB) as other,
            fake_disk("other", TIB, other) as target,
        ):
            data = raw.patterned(1, MIB)
            with open(f"{top}/source", "w+b") as file:
                file.write(data)
                file.flush()
                with mmap.mmap(file.fileno(), MIB) as mapping, raw.opened(target) as fd:
                    view = memoryview(mapping)
                    assert os.pwrite(fd, view, GIB) == MIB
                    view.release()
                    raw.must_read(fd, data, GIB)
            figures = device_stats("other")
            assert figures["written"]["squashed"] == 0 and figures["evidence"]["unmounted"] == MIB // BLOCK, (
                figures
            )


@case(vm="6.1 newest", stock="6.12")
def anonymous_pages_are_kept_unless_the_disk_is_mounted_for_writing() -> None:
    with loop_disk(64 * MIB) as dev, fake_disk("anon", 64 * GIB, dev) as disk:
        run("mkfs.ext4", "-q", disk)
        data = raw.patterned(5, MIB)
        # Behind the file system's back, where it has nothing: the last megabyte of the disk.
        place = 64 * GIB - MIB
        with raw.opened(disk) as fd:
            raw.write(fd, data, place)
            raw.must_read(fd, data, place)
        with mounted(disk, "ext4", "ro"), raw.opened(disk) as fd:
            raw.write(fd, data[::-1], place)
            raw.must_read(fd, data[::-1], place)
        assert device_stats("anon")["written"]["squashed"] == 0
        with mounted(disk, "ext4") as top:
            udev.settle()
            before = device_stats("anon")["evidence"]["anon"]
            with raw.opened(f"{top}/file", raw.DIRECT | os.O_CREAT) as fd:
                raw.write(fd, data, 0)
            assert device_stats("anon")["evidence"]["anon"] == before + MIB // BLOCK
            # Past the file system: nobody knows who wants it back.
            with raw.opened(disk) as fd:
                raw.write(fd, data, place)
                raw.must_read(fd, data, place)
            assert device_stats("anon")["evidence"]["anon"] == before + MIB // BLOCK


@case(vm="6.1")
def a_partition_keeps_everything() -> None:
    """Mounted on another block device, dm-linear on top, a file system is not recognised: all is kept."""
    with ram_disk(128 * MIB) as dev, fake_disk("below", 4 * GIB, dev) as disk:
        sectors = 2 * GIB >> 9
        with mapped("above", f"0 {sectors} linear {disk} 2048") as part:
            run("mkfs.ext4", "-q", part)
            data = raw.patterned(1, MIB)
            with mounted(part, "ext4") as top, open(f"{top}/file", "wb") as file:
                file.write(data)
            with mounted(part, "ext4") as top:
                assert open(f"{top}/file", "rb").read() == data
            run("e2fsck", "-fn", part)
        assert device_stats("below")["written"]["squashed"] == 0


@case
def reads_without_waiting_give_data_or_again() -> None:
    """RWF_NOWAIT: EAGAIN is right, wrong data or a hang is not."""
    with loop_disk(16 * MIB) as dev, fake_disk("nowait", TIB, dev, "--classify", "keep") as disk:
        with raw.opened(disk) as fd:
            data = raw.patterned(1, 64 * KIB)
            raw.write(fd, data, GIB)
            for _ in range(20):
                try:
                    size = os.preadv(fd, [raw.BUFFER.view[: len(data)]], GIB, os.RWF_NOWAIT)
                except (BlockingIOError, OSError):
                    continue
                assert raw.BUFFER.view[:size] == data[:size]


@case
def the_reference_passes_the_same_fuzz() -> None:
    """The fuzz itself is right: dm-linear passes it."""
    size = GIB
    with linear_disk("plain", size) as disk:
        shadow = Shadow(disk, size, 7, SECTOR)
        try:
            shadow.run(300)
        finally:
            shadow.close()
