# SPDX-License-Identifier: GPL-2.0
"""A whole pool that is moved to a file and back: its disks are the same, and share what they shared."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from cases import case
from helpers import raw, writelog
from helpers.filesystems import TOOLS, whole_check
from helpers.guest import SCRATCH, Failed, complaint, david, device_stats, loop_disk, mounted, ram_disk, run
from helpers.layouts import ARRAY
from helpers.planted import must_fail
from helpers.poolbox import Writer, must_be_good, opened_all, pool_device, pool_disk
from helpers.raw import BLOCK
from helpers.stacks import checked_by_md
from helpers.storetool import program, says
from helpers.trees import equal
from helpers.units import GIB, KIB, MIB
from helpers.victim import many_directories, populate, sync, tree

NAMES = ["a", "b", "c"]
COMMON = 60
IMAGE = SCRATCH / "pool.image"
LOOK = 17 * BLOCK


def common(first: int, count: int) -> bytes:
    """Blocks that all disks have."""
    return b"".join(random.Random(each).randbytes(BLOCK) for each in range(first, first + count))


def places(number: int) -> list[int]:
    """Where disk `number` has them: the first half in the same place, the others not."""
    return [each if each < COMMON // 2 else each * 2 + 100 * number for each in range(COMMON)]


class Farm:
    """What is on the disks of a pool."""

    def __init__(self) -> None:
        self.writers = {name: Writer(name, 1) for name in NAMES}

    def fill(self, device: str) -> None:
        with opened_all(device, NAMES) as fds:
            for number, name in enumerate(NAMES):
                for _ in range(60):
                    self.writers[name].step(fds[name])
                for each, place in enumerate(places(number)):
                    raw.write(fds[name], common(each, 1), place * BLOCK)
                    self.writers[name].held[place * BLOCK] = common(each, 1)
                self.constant(name, fds[name])

    def constant(self, name: str, fd: int) -> None:
        """Takes no room."""
        raw.write(fd, b"\x07" * BLOCK * 20, 5000 * BLOCK)
        self.writers[name].held[5010 * BLOCK] = b"\x07" * BLOCK

    def check(self, fds: dict[str, int]) -> None:
        for name, fd in fds.items():
            self.writers[name].check(fd)

    def distinct(self) -> int:
        """Blocks that have to be stored: no two disks have one of them in common but the common ones."""
        held = (block for writer in self.writers.values() for block in writer.held.values())
        return len({block for block in held if block.count(block[:1]) < BLOCK})


def figures(device: str) -> list[list[str]]:
    """Of each disk: size, what it uses, and its reserve."""
    rows = [line.split() for line in says("pool", "show", device)[1].splitlines()]
    keep = ("reserve", "target_sectors", "used", "state")
    return [[row[1], *(row[row.index(each) + 1] for each in keep)] for row in rows if row[0] == "disk"]


def begins(device: str) -> bytes:
    run("blockdev", "--flushbufs", device)
    with open(device, "rb") as file:
        return file.read(MIB)


def exported(farm: Farm, share: bool = True) -> tuple[int, list[list[str]]]:
    """IMAGE is of a pool with that on its disks. How many blocks sharing saved there, and its figures."""
    with pool_device(16 * MIB, share=share) as device:
        farm.fill(device)
        saved, found = must_be_good(device), figures(device)
        david("pool", "export", device, str(IMAGE))
        return saved, found


def move(share: bool) -> None:
    farm = Farm()
    saved, before = exported(farm, share)
    assert bool(saved) == share, saved
    size, least = IMAGE.stat().st_size, farm.distinct() * BLOCK
    if share:
        assert least < size < 1.02 * least + 16 * KIB, f"{size} bytes for {least} of content"
    with ram_disk(8 * MIB) as device:
        # What stands there from a case before is none of this one's.
        run("dd", "if=/dev/zero", f"of={device}", "bs=1M", "count=1", "conv=fsync")
        david("pool", "import", "other", str(IMAGE), "--backing", device)
        assert must_be_good(device) == saved, (must_be_good(device), saved)
        assert figures(device) == before, (figures(device), before)
        assert david("pool", "show", device).startswith("pool other on ")
        with opened_all(device, NAMES) as fds:
            farm.check(fds)
            # One that changes what others share leaves them what they have.
            writer = farm.writers["b"]
            for place in places(1)[:20]:
                raw.write(fds["b"], bytes([1, 2]) * (BLOCK // 2), place * BLOCK)
                writer.held[place * BLOCK] = bytes([1, 2]) * (BLOCK // 2)
            for _ in range(100):
                writer.step(fds["b"])
            farm.check(fds)
        must_be_good(device)
    IMAGE.unlink()


@case
def a_sharing_pool_shares_again_after_export_and_import() -> None:
    move(share=True)


@case
def a_pool_without_shared_copies_is_exported_and_imported() -> None:
    move(share=False)


def refuse(said: str, *words: str) -> None:
    """What david-store says of it, and that MIB of the device is as it was."""
    before = begins(words[-2])
    found, text = says("pool", "import", *words)
    if found != 1 or said not in text:
        raise Failed(f"pool import {' '.join(words)}: status {found}, {text}")
    assert begins(words[-2]) == before, f"changed, though refused: {text}"


@case
def what_a_pool_cannot_be_made_of_changes_nothing() -> None:
    exported(Farm())
    data, torn = IMAGE.read_bytes(), SCRATCH / "torn.image"
    with loop_disk(16 * MIB) as device, pool_device(MIB) as other, loop_disk(MIB) as small:
        for length in (0, 1000, 6000, len(data) // 2, len(data) - 1):
            torn.write_bytes(data[:length])
            refuse("torn.image: ", str(torn), device, "farm")
        for at in (50, 5800, len(data) // 2, len(data) - 20):
            torn.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
            refuse("damaged", str(torn), device, "farm")
        refuse("too small", str(IMAGE), small, "farm")
        refuse("cannot be a pool's name", str(IMAGE), device, "a,b")
        refuse("not blank", str(IMAGE), other, "farm")
        # Where there is a pool, as nowhere else, without room and with --format
        with opened_all(other, ["x"]) as fds:
            raw.write(fds["x"], common(0, 10), 0)
            assert says("pool", "import", "--format", str(IMAGE), other, "farm")[0] == 1, "overwritten in use"
            assert says("pool", "export", other, str(torn))[0] == 1, "exported while in use"
        refuse("too small", "--format", str(IMAGE), other, "farm")
        assert says("export", "--disk", "x", other, str(torn)) == (0, "")
        refuse("david store import", str(torn), device, "farm")
        found = says("import", str(IMAGE), device)
        assert found[0] == 1 and "david pool import" in found[1], found
        # A pool with a damaged disk stays where it is, and no file is made.
        with open(other, "r+b") as file:
            file.seek(6 * BLOCK)
            file.write(b"\xff" * BLOCK)
            os.fsync(file.fileno())
        torn.unlink()
        status, text = says("pool", "export", other, str(torn))
        assert status == 1 and "david pool check" in text and not torn.exists(), text
        with pool_device(2 * MIB) as empty:
            assert "no disk" in says("pool", "export", empty, str(torn))[1] and not torn.exists()
    IMAGE.unlink()


def killed_by(number: int, done: subprocess.Popen[bytes]) -> None:
    assert done.wait() == -number, done.returncode


@case
def a_killed_export_or_import_leaves_nothing_half_made() -> None:
    farm = Farm()
    exported(farm)
    data = IMAGE.read_bytes()
    with loop_disk(16 * MIB) as device:
        words = [program(), "pool", "import", "-", device, "farm"]
        for length in (len(data) // 2, len(data) - 10):
            done = subprocess.Popen(words, stdin=subprocess.PIPE)
            assert done.stdin
            # Once all but a pipe's room is taken the areas are being written. The rest never comes.
            done.stdin.write(data[:length])
            done.stdin.flush()
            done.kill()
            killed_by(signal.SIGKILL, done)
            assert not any(begins(device)[:LOOK]), "not blank"
        # What ends in the middle is told, and leaves it blank, too.
        done = subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        text = done.communicate(data[: len(data) // 2])[1]
        assert done.returncode == 1 and b"blank now" in text, text
        assert not any(begins(device)[:LOOK])
        done = subprocess.Popen(words, stdin=subprocess.PIPE)
        done.communicate(data)
        assert done.returncode == 0
        with opened_all(device, NAMES) as fds:
            farm.check(fds)
        # A file that is there stays as it is until the new one is whole.
        with opened_all(device, ["a"]) as fds:
            Writer("a", 5).fill(fds["a"], 50)
        limit = f"ulimit -f 200; exec {program()} pool export {device} {IMAGE}"
        killed_by(signal.SIGXFSZ, subprocess.Popen(["sh", "-c", limit]))
        assert IMAGE.read_bytes() == data
        must_be_good(device)
    IMAGE.unlink()
    Path(f"{IMAGE}.part").unlink()


def each_cut(found: list[writelog.Entry], farm: Farm, size: int) -> list[bool]:
    """Cut behind each entry: the device is blank then, or has the whole pool. Which of them?"""
    rng, base, there = random.Random(1), SCRATCH / "base", []
    with open(base, "w+b") as image:
        image.truncate(size)
        for cut in writelog.cuts(image, found, range(len(found))):

            def prepare(path: str, cut: writelog.Cut = cut) -> None:
                writelog.copy_left_at(str(base), path, found, cut, rng)

            with loop_disk(size, prepare=prepare) as device:
                there.append(any(begins(device)[:LOOK]))
                if there[-1]:
                    must_be_good(device)
                    with opened_all(device, NAMES) as fds:
                        farm.check(fds)
    base.unlink()
    return there


@case(seldom=True)
def a_power_cut_leaves_no_part_of_a_pool_that_is_imported() -> None:
    farm, size = Farm(), 8 * MIB
    exported(farm)
    with writelog.log_disk(32 * MIB) as log:
        with loop_disk(size) as device, writelog.recorded("recorded", device, log) as recorded:
            status, text = says("pool", "import", str(IMAGE), recorded, "farm")
            assert status == 0, text
        found = list(writelog.entries(log))
    there = each_cut(found, farm, size)
    places = [
        place for place, entry in enumerate(found) if entry.sectors and entry.sector < 48 and any(entry.data)
    ]
    assert places, "the directory is not in the recording"
    # It may be there from when it is on its way, and is there when it is flushed.
    flushed = next(at for at in range(places[-1] + 1, len(found)) if found[at].flags & writelog.FLUSH)
    assert not any(there[: places[0] - 1]) and all(there[flushed:]) and there[-1], there
    # Were the directory written first, that would be found.
    directory = [found[place] for place in places]
    behind = 1 + next(number for number, entry in enumerate(found) if entry.flags & writelog.FLUSH)
    with must_fail():
        each_cut([*found[:behind], *directory, *found[behind:]], farm, size)
    IMAGE.unlink()


@contextmanager
def mirror(device: str, names: list[str], *words: str) -> Iterator[str]:
    """md over these disks of the pool."""
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(pool_disk(name, device, size=GIB))
        run("mdadm", words[0], ARRAY, "--run", *words[1:], *(f"/dev/mapper/{name}" for name in names))
        try:
            yield ARRAY
        finally:
            run("mdadm", "--stop", ARRAY)


def stored() -> int:
    """Blocks that the open pool has stored."""
    each = [device_stats(name) for name in NAMES]
    used = sum(int(one["store_used"]) for one in each)  # type: ignore[call-overload]
    return used - int(each[0]["pool_saved"])  # type: ignore[call-overload]


@case(seldom=True)
def a_mirror_whose_pool_is_moved_takes_the_store_of_one_leg() -> None:
    create = ("--create", "--level=1", "--raid-devices=3", "--bitmap=none", "--assume-clean")
    with pool_device(64 * MIB, share=True) as device:
        with mirror(device, NAMES, *create) as md:
            run(*TOOLS["ext4"].mkfs, "-J", "size=8", md)
            with mounted(md, "ext4") as top:
                many_directories(top, "many", 30)
                populate(top, "files", 60)
                sync(top)
                expected = tree(top)
        saved = must_be_good(device)
        assert saved, saved
        david("pool", "export", device, str(IMAGE))
    with loop_disk(48 * MIB) as device:
        david("pool", "import", "moved", str(IMAGE), "--backing", device)
        assert must_be_good(device) == saved
        with mirror(device, NAMES, "--assemble") as md:
            checked_by_md(md)
            with mounted(md, "ext4") as top:
                equal("after the move", expected, tree(top))
                populate(top, "more", 40)
                sync(top)
                each = int(device_stats("a")["store_used"])  # type: ignore[call-overload]
                assert stored() <= 1.1 * each + 16, (stored(), each)
                expected = tree(top)
        for name in NAMES:
            with mirror(device, [name], "--assemble") as md:
                run(*whole_check("ext4"), md)
                with mounted(md, "ext4") as top:
                    equal(f"{name} alone", expected, tree(top))
    IMAGE.unlink()


@case
def commands_about_a_pools_file_refuse_what_cannot_be() -> None:
    with pool_device(2 * MIB) as device:
        with pool_disk("a", device):
            assert "in use" in complaint("pool", "export", device, str(IMAGE))
            assert "in use" in complaint("pool", "import", "x", str(IMAGE), "--backing", device)
        assert "--format" in complaint("pool", "import", "x", str(IMAGE), "--backing", device)
        assert "no device" in complaint("pool", "export", "nowhere", str(IMAGE))
        assert not IMAGE.exists()
