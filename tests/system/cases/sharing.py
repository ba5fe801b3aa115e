# SPDX-License-Identifier: GPL-2.0
"""Pools whose disks store what they have in common once."""

from __future__ import annotations

import errno
import os
import random
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from cases import case
from helpers import raw
from helpers.filesystems import whole_check
from helpers.guest import Failed, david, device_stats, mounted, run, say
from helpers.layouts import ARRAY, synced
from helpers.planted import must_fail, planted
from helpers.poolbox import Writer, must_be_good, opened_all, pool_device, pool_disk
from helpers.raw import BLOCK, SECTOR
from helpers.stacks import checked_by_md
from helpers.storetool import says
from helpers.trees import equal
from helpers.units import FULL, GIB, KIB, MIB, TIB
from helpers.victim import make, many_directories, populate, sync, tree, wait_until

NAMES = ["a", "b", "c"]
PLACES = 300


def figure(name: str, what: str) -> int:
    return int(device_stats(name)[what])  # type: ignore[call-overload]


def saved(name: str = "a") -> int:
    return figure(name, "pool_saved")


def some(number: int) -> bytes:
    """One of the contents that disks have in common."""
    return random.Random(number).randbytes(BLOCK)


class Twin:
    """A disk that is written with what others may have, too; and what it must hold."""

    def __init__(self, name: str, contents: int) -> None:
        self.rng = random.Random(name)
        self.contents = contents
        self.held: dict[int, bytes] = {}

    def step(self, fd: int) -> None:
        block, count = self.rng.randrange(PLACES), self.rng.choice((1, 1, 1, 4, 20))
        what = self.rng.random()
        if what < 0.15:
            raw.discard(fd, block * BLOCK, count * BLOCK)
            self.put(block, bytes(count * BLOCK))
        elif what < 0.3:
            self.part(fd, block)
        else:
            first = self.rng.randrange(self.contents)
            data = b"".join(some((first + each) % self.contents) for each in range(count))
            raw.write(fd, data, block * BLOCK)
            self.put(block, data)

    def part(self, fd: int, block: int) -> None:
        """Less than a block: what others have of it stays as it is."""
        data = self.held.get(block, bytes(BLOCK))
        at = self.rng.randrange(7) * SECTOR
        part = self.rng.randbytes(2 * SECTOR)
        raw.write(fd, part, block * BLOCK + at)
        self.held[block] = data[:at] + part + data[at + len(part) :]

    def put(self, block: int, data: bytes) -> None:
        for at in range(0, len(data), BLOCK):
            self.held[block + at // BLOCK] = data[at : at + BLOCK]

    def check(self, fd: int) -> None:
        for block, data in self.held.items():
            if raw.read(fd, BLOCK, block * BLOCK) != data:
                raise Failed(f"block {block} is not what was written")


def alone(device: str, fds: dict[str, int], twins: dict[str, Twin], steps: int) -> None:
    rng = random.Random(steps)
    for _ in range(steps):
        name = rng.choice(list(fds))
        twins[name].step(fds[name])
        if rng.random() < 0.05:
            os.fsync(fds[name])
    for name in fds:
        twins[name].check(fds[name])


def live_alike(contents: int = 40) -> None:
    """The same contents on three disks, written, changed in part and discarded in turn; opened again."""
    twins = {name: Twin(name, contents) for name in NAMES}
    with pool_device(16 * MIB, share=True) as device:
        for order in (NAMES, ["c", "a"], ["b", "c", "a"]):
            with opened_all(device, order) as fds:
                alone(device, fds, twins, 300)
                for name in fds:
                    os.fsync(fds[name])
                shared = saved(order[0])
            found = must_be_good(device)
            if not shared or found != shared:
                raise Failed(f"{found} blocks are saved, {shared} while the disks were open")


@case(cpus=True)
def disks_that_share_blocks_hold_what_was_written_to_each() -> None:
    live_alike()


@case(planted=True)
def blocks_that_change_under_others_are_found() -> None:
    for bug in ("inplace", "early", "unread"):
        with planted(bug), must_fail():
            live_alike()


def look_alike(disks: dict[str, int], block: int) -> bytes:
    """What the index believes to be at `block` of the first disk, though it is not any more."""
    fd = disks["a"]
    content = some(block)
    raw.write(fd, content, block * BLOCK)
    raw.write(fd, content[::-1][:SECTOR], block * BLOCK)
    raw.must_read(fd, content[::-1][:SECTOR] + content[SECTOR:], block * BLOCK)
    return content


def written(name: str) -> tuple[int, int]:
    """Blocks, by what became of them, and by the evidence."""
    figures = device_stats(name)
    by_evidence: dict[str, int] = figures["evidence"]  # type: ignore[assignment]
    by_kind: dict[str, int] = figures["written"]  # type: ignore[assignment]
    return sum(by_kind.values()), sum(by_evidence.values())


def count_what_is_served_again() -> None:
    """Of each request some block seems to be another disk's: all behind it is served twice."""
    rng = random.Random(9)
    with pool_device(16 * MIB, share=True) as device, opened_all(device, NAMES) as fds:
        for number in range(40):
            blocks, at = rng.randrange(2, 60), rng.randrange(8)
            whole = [some(1000 * (number + 1) + each) for each in range(blocks)]
            for each in rng.sample(range(blocks), min(blocks, rng.choice((1, 1, 3)))):
                whole[each] = look_alike(fds, 100 * number + each)
            # It begins and ends within a block: these parts are counted, too.
            data = b"".join(whole)[at * SECTOR :]
            sectors = rng.choice((0, 3))
            data += some(5000)[: sectors * SECTOR]
            before = written("b")
            raw.write(fds["b"], data, 100 * number * BLOCK + at * SECTOR)
            raw.must_read(fds["b"], data, 100 * number * BLOCK + at * SECTOR)
            after = written("b")
            more = (after[0] - before[0], after[1] - before[1])
            wanted = blocks + bool(sectors)
            if more != (wanted, wanted):
                raise Failed(f"request {number}: {more} blocks counted, {wanted} were written")


@case
def a_block_that_is_served_again_is_counted_once() -> None:
    count_what_is_served_again()


@case(planted=True)
def blocks_that_are_counted_twice_are_found() -> None:
    with planted("recounted"), must_fail():
        count_what_is_served_again()


@case(cpus=True)
def writers_at_once_find_each_others_blocks() -> None:
    """Each thread has a disk, and all write the same."""
    with pool_device(16 * MIB, share=True) as device, opened_all(device, NAMES) as fds:
        wrong: list[str] = []

        def work(name: str) -> None:
            buffer = raw.Buffer(BLOCK)
            for number in range(600):
                buffer.view[:] = some(number % 200)
                if os.pwrite(fds[name], buffer.view, (number % 250) * BLOCK) != BLOCK:
                    wrong.append(f"{name}: a short write")
            for place in range(250):
                number = max(each for each in range(600) if each % 250 == place)
                os.preadv(fds[name], [buffer.view], place * BLOCK)
                if bytes(buffer.view) != some(number % 200):
                    wrong.append(f"{name}: block {place}")

        threads = [threading.Thread(target=work, args=(name,)) for name in NAMES]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong, wrong
        assert saved() > 100, saved()


@contextmanager
def assembled(disks: list[str], *words: str) -> Iterator[str]:
    """md over disks: what is there already, or what the words say."""
    words = words or ("--assemble",)
    run("mdadm", words[0], ARRAY, "--run", *words[1:], *disks)
    try:
        yield ARRAY
    finally:
        run("mdadm", "--stop", ARRAY)


@contextmanager
def mirror(device: str, names: list[str], *words: str, size: int = 64 * MIB) -> Iterator[str]:
    with ExitStack() as stack:
        opened = [stack.enter_context(pool_disk(name, device, size=size)) for name in names]
        yield stack.enter_context(assembled(opened, *words))


CREATE = ("--create", "--level=1", "--raid-devices=3", "--bitmap=none", "--metadata=1.2", "--assume-clean")


def sectors_written(device: str) -> int:
    return int(Path(f"/sys/block/{Path(device).name}/stat").read_text().split()[6])


def physical(names: list[str]) -> int:
    """Blocks in use. What was given up is, until that is durable."""
    for name in names:
        with raw.opened(f"/dev/mapper/{name}", os.O_RDONLY) as fd:
            os.fsync(fd)
    return sum(figure(name, "store_used") for name in names) - saved(names[0])


@case
def a_mirror_writes_once() -> None:
    blocks = 2000
    data = random.Random(3).randbytes(blocks * BLOCK)
    with pool_device(32 * MIB, share=True) as device:
        with mirror(device, NAMES, *CREATE) as md, raw.opened(md) as fd:
            before, stored = sectors_written(device), physical(NAMES)
            for at in range(0, len(data), 64 * KIB):
                raw.write(fd, data[at : at + 64 * KIB], at)
            # Again, elsewhere, and over what was there.
            raw.write(fd, data[: 40 * BLOCK], 1000 * BLOCK)
            written = sectors_written(device) - before
            assert blocks * 8 <= written < blocks * 8 * 1.05, written
            assert physical(NAMES) - stored <= blocks + 3, physical(NAMES) - stored
            assert saved() >= 2 * blocks - 80, saved()
            os.fsync(fd)
        expected = data[: 1000 * BLOCK] + data[: 40 * BLOCK] + data[1040 * BLOCK :]
        for name in NAMES:
            with mirror(device, [name], "--assemble") as md, raw.opened(md) as fd:
                raw.must_read(fd, expected[: 4 * MIB], 0)
                raw.must_read(fd, expected[4 * MIB :], 4 * MIB)
        must_be_good(device)


@case
def a_member_that_is_replaced_shares_what_is_rebuilt() -> None:
    data = random.Random(4).randbytes(4 * MIB)
    with pool_device(32 * MIB, share=True) as device:
        with mirror(device, NAMES, *CREATE) as md, raw.opened(md) as fd:
            raw.write(fd, data, 0)
            os.fsync(fd)
        # Nobody remembers then where the blocks are.
        with mirror(device, NAMES, "--assemble") as md, raw.opened(md) as fd:
            run("mdadm", md, "--fail", "/dev/mapper/b", "--remove", "/dev/mapper/b")
            raw.write(fd, data[:MIB], 2 * MIB)
            run("blkdiscard", "--force", "/dev/mapper/b")
            left = physical(NAMES)
            run("mdadm", md, "--add", "/dev/mapper/b")
            wait_until(synced, "the new member in sync", 100)
            assert physical(NAMES) - left < 16, (physical(NAMES), left)
            checked_by_md(md)
        with mirror(device, ["b"], "--assemble") as md, raw.opened(md) as fd:
            raw.must_read(fd, data[: 2 * MIB] + data[:MIB] + data[3 * MIB :], 0)
        must_be_good(device)


@case
def a_dropped_disk_leaves_what_others_share() -> None:
    data = random.Random(5).randbytes(100 * BLOCK)
    with pool_device(8 * MIB, share=True) as device:
        with opened_all(device, ["a", "b"]) as fds:
            for name in ("a", "b"):
                raw.write(fds[name], data, 0)
                raw.write(fds[name], some(ord(name)), len(data))
            assert saved() == 100, saved()
            run("dmsetup", "remove", "a", ok=(0, 1))
        with opened_all(device, ["b"]) as fds:
            room = figure("b", "store_blocks")
            run("dmsetup", "message", "b", "0", "pool", "drop", "a")
            # Its own block, its log, and its spare.
            assert figure("b", "store_blocks") - room == 1 + 66 + 16, figure("b", "store_blocks") - room
            assert saved("b") == 0
            raw.must_read(fds["b"], data + some(ord("b")), 0)
            # What is free now is not what b has.
            with opened_all(device, ["a"]) as others:
                for number in range(300):
                    raw.write(others["a"], some(1000 + number), number * BLOCK)
                raw.must_read(fds["b"], data + some(ord("b")), 0)
        must_be_good(device)


@case
def a_disk_of_a_sharing_pool_is_exported_and_imported() -> None:
    data = random.Random(6).randbytes(100 * BLOCK)
    image = "/tmp/shared.image"
    with pool_device(8 * MIB, share=True) as device:
        with opened_all(device, NAMES) as fds:
            for fd in fds.values():
                raw.write(fd, data, 0)
        assert must_be_good(device) == 200
        assert says("export", "--disk", "b", device, image) == (0, "")
        assert says("pool", "drop", device, "b")[0] == 0
        status, text = says("import", "--disk", "b", image, device)
        assert status == 0, text
        assert must_be_good(device) == 100
        with opened_all(device, NAMES) as fds:
            for fd in fds.values():
                raw.must_read(fd, data, 0)
    os.unlink(image)


def change_what_is_shared_when_full() -> None:
    """Three disks have the same, as a mirror's legs do; a fourth one takes all that is left."""
    with pool_device(4 * MIB, share=True) as device, opened_all(device, [*NAMES, "d"]) as fds:
        for number in range(100):
            for name in NAMES:
                raw.write(fds[name], some(number), number * BLOCK)
        assert Writer("d", 1).fill(fds["d"], 2000) < 2000
        for change in range(1, 4):
            for number in range(100):
                for name in NAMES:
                    raw.write(fds[name], some(1000 * change + number), number * BLOCK)
            for name in NAMES:
                raw.must_read(fds[name], b"".join(some(1000 * change + each) for each in range(100)), 0)
        assert saved() >= 200, saved()


@case
def a_mirror_in_a_full_pool_can_be_changed() -> None:
    change_what_is_shared_when_full()


@case(planted=True)
def a_full_pool_that_keeps_no_spare_is_found() -> None:
    with planted("spared"), must_fail():
        change_what_is_shared_when_full()


MEMBER = TIB if FULL else 768 * MIB
FILES = 20000 if FULL else 300
POOL = 2 * GIB if FULL else 128 * MIB
HOURS = 20000 if FULL else 300
STEP, NEAR = 64 * KIB // BLOCK, 16 * MIB // BLOCK


def fill(top: str, after: str = "") -> None:
    many_directories(top, f"many{after}-", FILES // 10)
    populate(top, f"files{after}", FILES // (10 if after else 1))
    sync(top)


def legs(number: int) -> list[str]:
    return [f"mirror-{leg}" for leg in range(number)]


@contextmanager
def mirrored(pool: str, number: int) -> Iterator[str]:
    """The mirror called so, made or found again."""
    words = ("--level", "1", "--members", str(number), "--size", str(MEMBER), "--bitmap", "internal")
    david("array", "create", "mirror", *words, "--pool", pool)
    try:
        yield "/dev/md/mirror"
    finally:
        david("array", "remove", "mirror")


Range = tuple[int, int, str, int]  # first block, the one behind the last, kind, value


def table(device: str, name: str) -> list[Range]:
    """What the disk has of the array: md's own blocks are before that."""
    status, text = says("dump", "--disk", name, device)
    assert status == 0, text
    found = []
    for line in text.splitlines():
        first, last, kind, *value = line.split()
        number = int(value[0], 16 if kind == "fill" else 10) if value else 0
        found.append((int(first), int(last) + 1, kind, number))
    return found


def unlike(device: str, one: list[Range], other: list[Range], begin: int, end: int) -> int:
    """Blocks between `begin` and `end` that read otherwise on two disks with the same seed."""

    def at(ranges: list[Range], number: int, block: int) -> tuple[int, str, int]:
        while number < len(ranges) and ranges[number][1] <= block:
            number += 1
        if number == len(ranges) or ranges[number][0] > block:
            return number, "fill", 0  # never written: zeros
        first, _, kind, value = ranges[number]
        return number, kind, value + (block - first if kind == "stored" else 0)

    borders = {edge for each in (*one, *other) for edge in each[:2]} | {begin, end}
    edges = sorted(edge for edge in borders if begin <= edge <= end)
    i = j = wrong = 0
    with open(device, "rb") as file:
        raw.drop_caches(file.fileno())
        for block, behind in zip(edges, edges[1:], strict=False):
            i, kind, value = at(one, i, block)
            j, other_kind, other_value = at(other, j, block)
            if kind == other_kind and value == other_value:
                continue
            if kind == other_kind == "stored":
                size = (behind - block) * BLOCK
                wrong += os.pread(file.fileno(), size, value * BLOCK) != os.pread(
                    file.fileno(), size, other_value * BLOCK
                )
            else:
                say(f"sharing: {block} to {behind - 1}: {kind} {value:x}, but {other_kind} {other_value:x}")
                wrong += behind - block
    return wrong


def windows(tables: list[list[Range]], begin: int, end: int) -> list[tuple[int, int]]:
    """Blocks between these two that may hold something on a leg, and what is near. The rest is zeros."""
    everything = (each for ranges in tables for each in ranges)
    held = sorted((first, last) for first, last, kind, value in everything if kind != "fill" or value)
    found: list[tuple[int, int]] = []
    for first, last in held:
        first, last = max(first // STEP * STEP, begin), min(-(-last // STEP) * STEP, end)
        if found and first <= found[-1][1] + NEAR:
            found[-1] = found[-1][0], max(last, found[-1][1])
        elif first < last:
            found.append((first, last))
    return found


def taken(path: Path, text: str) -> bool:
    """Does md take it now? It is busy while its thread comes to an end, or looks whether there is work."""
    try:
        path.write_text(text)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        return False
    return True


def checked(md: str, where: list[tuple[int, int]]) -> int:
    """What md's own check finds there, sectors."""
    of_md = Path(f"/sys/block/{Path(md).resolve().name}/md")
    action, each = of_md / "sync_action", BLOCK // SECTOR
    size = 2 * int((of_md / "component_size").read_text())
    found = 0

    def reached(end: int) -> bool:
        done = (of_md / "sync_completed").read_text().split()[0]
        return done.isdigit() and int(done) >= end or end >= size and action.read_text() == "idle\n"

    for first, last in where:
        steps = ("sync_max", "max"), ("sync_min", first * each), ("sync_max", last * each)
        for name, value in (*steps, ("sync_action", "check")):
            wait_until(lambda name=name, value=value: taken(of_md / name, f"{value}\n"), f"md takes {name}")
        wait_until(lambda last=last: reached(last * each), "the check's end", HOURS)
        found += int((of_md / "mismatch_cnt").read_text())
        action.write_text("idle\n")
    return found


def begin_of_array(disk: str) -> int:
    """The block of a leg where the array's first one is: data_offset of md's superblock."""
    with raw.opened(disk, os.O_RDONLY) as fd:
        return int.from_bytes(os.pread(fd, 136, BLOCK)[128:], "little") * SECTOR // BLOCK


def seen(top: str) -> bool:
    """Is it known that the array is mounted? Until then all is kept."""
    Path(f"{top}/some").write_text("some\n")
    sync(top)
    return "ext4" in run("dmsetup", "message", "mirror-0", "0", "stack")


def kept_again() -> None:
    """A block that was stored as exact data is written again with the same bytes, and must stay."""
    with pool_device(64 * MIB, share=True) as device:
        options = ("--classify", "data", "-o", "exact=1")
        with pool_disk("a", device, *options) as disk, raw.opened(disk) as fd:
            raw.write(fd, some(1), 0)
            raw.must_read(fd, some(1), 0)
            run("dmsetup", "message", "a", "0", "raw", "add", "sectors:0-7")
            raw.write(fd, some(1), 0)
            for number in range(8):
                raw.write(fd, random.Random(number).randbytes(MIB), (number + 1) * MIB)
            raw.must_read(fd, some(1), 0)
            wait_until(lambda: figure("a", "exact_blocks") <= 256, "older data are squashed", 60)
            raw.must_read(fd, some(1), 0)


@case
def a_block_that_is_kept_from_now_on_is_no_exact_data() -> None:
    kept_again()


@case(planted=True)
def a_kept_block_that_counts_as_exact_data_is_found() -> None:
    with planted("retained"), must_fail():
        kept_again()


@case
def what_is_written_again_is_durable_if_it_has_to_be() -> None:
    """The bytes are there already, but whether the backing device's cache has been flushed nobody knows."""
    with pool_device(64 * MIB, share=True) as device, pool_disk("a", device, size=GIB) as disk:
        stat = Path(f"/sys/block/{Path(device).name}/stat")
        run("mkfs.ext4", "-q", "-O", "^has_journal", "-E", "lazy_itable_init=0", disk)
        with mounted(disk, "ext4") as top:
            file = f"{top}/file"
            Path(file).write_bytes(some(1))
            sync(top)
            counts = []
            for flags, content in ((0, some(2)), (0, some(2)), (os.O_DSYNC, some(2))):
                with raw.opened(file, raw.DIRECT | flags) as fd:
                    before = stat.read_text().split()
                    raw.write(fd, content, 0)
                    after = stat.read_text().split()
                    raw.must_read(fd, content, 0)
                counts.append(int(after[4]) - int(before[4]))
            assert counts[:2] == [1, 0] and counts[2] >= 1, counts


def fast() -> None:
    for name in ("speed_limit_max", "speed_limit_min"):
        Path(f"/proc/sys/dev/raid/{name}").write_text("2000000\n")


@case(seldom=True)
def three_mirrored_disks_take_the_store_of_one() -> None:
    with pool_device(POOL) as device, pool_disk("one", device, "--classify", "auto", size=MEMBER) as disk:
        make("ext4", disk)
        with mounted(disk, "ext4") as top:
            fill(top)
        one = physical(["one"])
    fast()
    with pool_device(POOL, share=True) as device:
        with mirrored(device, 3) as md:
            make("ext4", md)
            with mounted(md, "ext4") as top:
                wait_until(lambda: seen(top), "the layers are seen through", 60)
                fill(top)
            three, each = physical(legs(3)), figure("mirror-0", "store_used")
            say(f"sharing: {one} blocks for one disk, {three} for three mirrored: {three / one:.3f}")
            say(f"sharing: {each} blocks for each of them: {three / each:.3f}")
            assert three <= 1.1 * each, (three, each)
            assert not FULL or three <= 1.1 * one, (three, one)
            with mounted(md, "ext4") as top:
                david("array", "fail", "mirror", "1")
                fill(top, "-without-1")
                david("array", "readd", "mirror", "1")
                wait_until(synced, "leg 1 again in sync", HOURS)
                david("array", "fail", "mirror", "2")
                david("array", "readd", "mirror", "2", "--blank")
                wait_until(synced, "a new leg 2 in sync", HOURS)
                expected = tree(top)
            three, each = physical(legs(3)), figure("mirror-0", "store_used")
            say(f"sharing: rebuilt, {three} blocks for three that have {each} each: {three / each:.3f}")
            assert three <= 1.1 * each, (three, each)
            begin = begin_of_array("/dev/mapper/mirror-0")
            end = begin + int(run("blockdev", "--getsize64", md)) // BLOCK
        must_be_good(device)
        tables = [table(device, name) for name in legs(3)]
        wrong = [unlike(device, tables[0], other, begin, end) for other in tables[1:]]
        say(f"sharing: of {end - begin} blocks {wrong} of legs 1 and 2 are not as those of leg 0")
        assert wrong == [0, 0], wrong
        where = [(first - begin, last - begin) for first, last in windows(tables, begin, end)]
        with mirror(device, legs(3), "--assemble", size=MEMBER) as md:
            found = checked(md, where)
        say(f"sharing: md's check of {sum(last - first for first, last in where)} blocks: {found} mismatches")
        assert found == 0, found
        for name in legs(3):
            with (
                pool_disk(name, device, "--classify", "auto", size=MEMBER) as disk,
                assembled([disk]) as md,
            ):
                run(*whole_check("ext4"), md)
                with mounted(md, "ext4") as top:
                    equal(f"{name} alone", expected, tree(top))
