# SPDX-License-Identifier: GPL-2.0
"""A disk that is moved: to a file and back, to a larger size, to another backing device; and one that is
removed and made again, time after time.

DAVID_SCALE=full removes and makes it 100 times.
"""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress

from cases import case
from helpers import raw
from helpers.guest import (
    SCRATCH,
    Failed,
    david,
    device_stats,
    fake_disk,
    linear_disk,
    loop_disk,
    mapped,
    mounted,
    ram_disk,
    run,
)
from helpers.hammer import Hammer
from helpers.manifest import difference, manifest
from helpers.randomops import Operations
from helpers.raw import BLOCK
from helpers.stores import events, state, table, wait_event
from helpers.storetool import program, says
from helpers.units import FULL, GIB, KIB, MIB, TIB
from helpers.workload import SCALES, Workload


def begins(dev: str) -> bytes:
    run("blockdev", "--flushbufs", dev)
    with open(dev, "rb") as file:
        return file.read(MIB)


@case(seldom=True)
def an_exported_disk_is_the_same_on_another_backing_device() -> None:
    """Smaller, and of another kind: a used ext4, its tree and its check; the file is small."""
    image = SCRATCH / "disk.image"
    with loop_disk(256 * MIB) as first:
        with mapped("moved", table(first, "seed=5")) as disk:
            run("mkfs.ext4", "-q", "-N", "65536", "-J", "size=16", disk, "64G")
            with mounted(disk, "ext4") as top:
                Workload(top, 7, SCALES["tiny"]).run()
            # Not what is in the page cache, but what is made up.
            with mounted(disk, "ext4") as top:
                tree = manifest(top, content=True)
            # Beyond the file system's end: nothing of the test's matters there.
            with raw.opened(disk) as fd:
                raw.write(fd, raw.patterned(1, BLOCK), TIB - BLOCK)
                last = raw.read(fd, BLOCK, TIB - BLOCK)
        assert says("export", first, str(image)) == (0, ""), says("export", first, str(image))
        size = image.stat().st_size
        assert size < 4 * MIB, f"{size} bytes"
        used = dict(line.split(" ", 1) for line in says("info", first)[1].splitlines())
    with ram_disk(128 * MIB) as second:
        with open(second, "r+b") as file:
            file.write(b"something else")
        status, text = says("import", str(image), second)
        assert status and "not blank" in text, text
        assert says("import", "--format", str(image), second) == (0, ""), text
        assert says("check", second) == (0, "no fault found\n"), says("check", second)
        again = dict(line.split(" ", 1) for line in says("info", second)[1].splitlines())
        for name in ("used", "seed", "target_sectors", "ranges_fill", "ranges_squashed"):
            assert used[name] == again[name], f"{name}: {used[name]}, then {again[name]}"
        assert used["uuid"] != again["uuid"], "two stores of one uuid"
        run("blockdev", "--flushbufs", second)
        with mapped("moved", table(second)) as disk:
            run("e2fsck", "-fn", disk)
            with mounted(disk, "ext4") as top:
                wrong = difference(tree, manifest(top, content=True))
                assert not wrong, "\n".join(wrong)
                # And it can be gone on with.
                os.mkdir(f"{top}/more")
                Workload(f"{top}/more", 8, SCALES["tiny"]).run()
            with raw.opened(disk) as fd:
                raw.must_read(fd, last, TIB - BLOCK)
            run("e2fsck", "-fn", disk)
    image.unlink()


@case
def a_torn_image_leaves_the_backing_device_as_it_was() -> None:
    image, torn = SCRATCH / "disk.image", SCRATCH / "torn.image"
    with loop_disk(2 * MIB) as dev, loop_disk(MIB) as other, loop_disk(64 * MIB) as large:
        with mapped("moved", table(dev, "classify=keep")) as path, raw.opened(path) as fd:
            for number in range(200):
                raw.write(fd, raw.patterned(number, BLOCK), number * 2 * BLOCK)
        assert says("export", dev, str(image)) == (0, "")
        data = image.read_bytes()
        with mapped("there", table(other, "classify=keep")) as path, raw.opened(path) as fd:
            raw.write(fd, raw.patterned(1, BLOCK), GIB)
        before = begins(other)
        for length in (0, 50, 100, len(data) // 2, len(data) - 1):
            torn.write_bytes(data[:length])
            status, text = says("import", "--format", str(torn), other)
            assert status == 1 and "torn.image: " in text, text
            assert begins(other) == before, f"changed by an image of {length} of {len(data)} bytes"
        # Too small, in use, and what is no image at all.
        status, text = says("import", "--format", str(image), other)
        assert status == 1 and "too small" in text, text
        assert begins(other) == before
        with mapped("there", table(other, "classify=keep")):
            assert says("import", "--format", str(image), other)[0] == 1, "a store in use was overwritten"
        status, text = says("import", dev, large)
        assert status == 1 and "no image" in text, text
        # From a pipe it is found out too late, but told.
        torn.write_bytes(data[: len(data) // 2])
        status, text = says("import", "/dev/stdin", large)
        assert status, text
        try:
            run("sh", "-c", f"cat {torn} | {program()} import - {large}")
            raise Failed("a torn image was taken from a pipe")
        except Failed as error:
            assert "blank now" in str(error), error
        assert not any(begins(large)[: 68 * KIB])
        run("sh", "-c", f"cat {image} | {program()} import - {large}")
        with mapped("moved", table(large)) as path, raw.opened(path) as fd:
            for number in range(200):
                raw.must_read(fd, raw.patterned(number, BLOCK), number * 2 * BLOCK)
    image.unlink()
    torn.unlink()


@case(seldom=True)
def a_disk_grows_under_its_file_system_and_a_workload() -> None:
    with ram_disk(128 * MIB) as dev, fake_disk("grown", 8 * GIB, dev, "--classify", "keep") as disk:
        run("mkfs.ext4", "-q", disk, "4G")
        with mounted(disk, "ext4") as top:
            # Behind the file system.
            workers = [Hammer(disk, number, (6 + number) * GIB) for number in range(2)]
            Workload(top, 1, SCALES["tiny"]).run()
            for size in (9 * GIB, 64 * GIB):
                david("resize", "grown", str(size))
                assert int(run("blockdev", "--getsize64", disk)) == size
            for worker in workers:
                done, error = worker.finish()
                assert done and not error, f"{done} requests, {error}"
            run("resize2fs", disk)
            assert os.statvfs(top).f_blocks * os.statvfs(top).f_frsize > 57 * GIB
            os.mkdir(f"{top}/more")
            Workload(f"{top}/more", 2, SCALES["tiny"]).run()
            tree = manifest(top, content=False)
        run("e2fsck", "-fn", disk)
        try:
            david("resize", "grown", str(8 * GIB))
            raise AssertionError("a disk was made smaller")
        except Failed as error:
            assert "can only grow" in str(error), error
        line = run("dmsetup", "table", "grown").strip()
        david("remove", "grown")
        with mapped("grown", line) as disk, mounted(disk, "ext4") as top:
            wrong = difference(tree, manifest(top, content=False))
            assert not wrong, "\n".join(wrong)


@case
def removed_and_made_again_time_after_time_it_is_as_its_reference() -> None:
    """The same random operations on dm-linear: the trees are equal after each life."""
    lives = 100 if FULL else 2
    size = 4 * GIB
    with ram_disk(128 * MIB) as dev, linear_disk("reference", size) as reference:
        line = f"0 {size >> 9} david {dev} 0"
        # What stands on the device from cases before is none of this one's.
        run("dd", "if=/dev/zero", f"of={dev}", "bs=1M", "count=1", "conv=fsync")
        for life in range(lives):
            trees = []
            with mapped("lives", line) as disk:
                for path in (disk, reference):
                    if not life:
                        run("mkfs.ext4", "-q", "-F", path)
                    with mounted(path, "ext4") as top:
                        if not life:
                            os.mkdir(f"{top}/tree")
                        shutil.rmtree(f"{top}/tree/{life % 10}", ignore_errors=True)
                        os.mkdir(f"{top}/tree/{life % 10}")
                        work = Operations(f"{top}/tree/{life % 10}", f"life {life}")
                        work.run(100)
                        work.close_all()
                        trees.append(manifest(f"{top}/tree", content=False))
            with mapped("lives", line) as disk:
                run("e2fsck", "-fn", disk)
                with mounted(disk, "ext4") as top:
                    found = manifest(f"{top}/tree", content=False)
            for wrong in (difference(trees[1], trees[0]), difference(trees[1], found)):
                assert not wrong, f"life {life}: " + "\n".join(wrong)


def enlarge(dev: str, file: str, size: int) -> None:
    os.truncate(file, size)
    run("losetup", "--set-capacity", dev)


def info(dev: str) -> dict[str, str]:
    status, text = says("info", dev)
    assert not status, text
    return dict(line.split(" ", 1) for line in text.splitlines())


def fill_in_order(fd: int, start: int, data: bytes) -> list[int]:
    """From the start of the disk on, until ENOSPC, in few ranges: where what has been written begins."""
    written = []
    for offset in range(start, start + 64 * MIB, len(data)):
        try:
            raw.write(fd, data, offset)
        except OSError as error:
            assert error.errno == errno.ENOSPC, error
            return written
        written.append(offset)
    raise Failed("64 MiB were taken")


def not_grown(why: str) -> None:
    try:
        david("resize", "grown", "--backing")
    except Failed as error:
        assert why in str(error), error
    else:
        raise Failed("a device that has not grown was taken for one that has")


@case(complaints="store full|store low|I/O error|critical|not used to its end")
def a_full_disk_goes_on_when_its_backing_device_has_grown() -> None:
    """Raw, with requests under way all the time, and with data stored for a while only."""
    data = raw.patterned(1, 32 * BLOCK)
    files: list[str] = []
    options = ("--classify", "keep", "-o", "exact=1")
    with loop_disk(2 * MIB, prepare=files.append) as dev, fake_disk("grown", TIB, dev, *options) as disk:
        blocks = int(device_stats("grown")["store_blocks"])
        hammer = Hammer(disk, 1, 2 * GIB, 2)
        with raw.opened(disk) as fd:
            written = fill_in_order(fd, 0, data)
            assert state("grown") == "full", state("grown")
            not_grown("is used already")
            seen = events("grown")
            enlarge(dev, files[0], 4 * MIB)
            david("resize", "grown", "--backing")
            figures = device_stats("grown")
            more = int(figures["store_blocks"])
            assert more == blocks + 2 * MIB // BLOCK and state("grown") == "ok", figures
            assert figures["store_low_water"] == more // 16, figures["store_low_water"]
            # The same line with a larger disk and device at once, and all that is new is used.
            enlarge(dev, files[0], 6 * MIB)
            david("resize", "grown", str(2 * TIB), "--backing")
            assert state("grown") == "ok", state("grown")
            written += fill_in_order(fd, len(written) * len(data), data)
            wait_event("grown", seen)
            figures = device_stats("grown")
            assert figures["store_used"] == figures["store_blocks"] == more + 2 * MIB // BLOCK, figures
            done, error = hammer.finish()
            assert done and not error, f"{done} requests, {error}"
            for offset in written:
                raw.must_read(fd, data, offset)
        line = run("dmsetup", "table", "grown").strip()
        david("remove", "grown")
        assert says("check", dev) == (0, "no fault found\n"), says("check", dev)
        found = info(dev)
        assert (found["backing_blocks"], found["log_pages"]) == (str(6 * MIB // BLOCK), "64"), found
        with mapped("grown", line) as disk, raw.opened(disk) as fd:
            for offset in written:
                raw.must_read(fd, data, offset)
        data = raw.patterned(1, MIB)
        # Data stored for a while has maps by the block: they grow, too.
        with mapped("grown", table(dev, "classify=data", "exact=4", "store=format")) as disk:
            with raw.opened(disk) as fd:
                for turn in range(2):
                    for at in range(0, 6 * MIB, MIB):
                        raw.write(fd, data, GIB + at)
                    assert int(device_stats("grown")["exact_blocks"]) >= 256 * turn
                    enlarge(dev, files[0], (14 + 4 * turn) * MIB)
                    david("resize", "grown", "--backing")
                raw.discard(fd, 0, TIB)
                figures = device_stats("grown")
                assert figures["exact_blocks"] == figures["store_used"] == 0, figures
                # What is cut off is lost; but the disk does not go on as if it had it.
                enlarge(dev, files[0], 8 * MIB)
                not_grown("smaller than the store in use")


@case(complaints="store full|store low|critical|I/O error|EXT4-fs|JBD2")
def a_file_system_on_a_full_disk_goes_on_after_growing() -> None:
    """Against dm-linear: ext4 loses its journal when it gets ENOSPC. What was synced before is there."""
    size, files = 4 * GIB, []  # type: ignore[var-annotated]
    with loop_disk(24 * MIB, prepare=files.append) as dev, linear_disk("reference", size) as reference:
        with fake_disk("grown", size, dev, "--classify", "keep") as disk:
            before = []
            for path in (disk, reference):
                run("mkfs.ext4", "-q", "-F", "-J", "size=4", path)
                with mounted(path, "ext4") as top:
                    os.mkdir(f"{top}/tree")
                    work = Operations(f"{top}/tree", "before")
                    work.run(40)
                    work.close_all()
                    before.append(manifest(f"{top}/tree", content=False))
            with mounted(disk, "ext4") as top:
                with suppress(OSError), open(f"{top}/too-much", "wb") as file:
                    for _ in range(64):
                        file.write(raw.patterned(2, MIB))
                        os.fsync(file.fileno())
                assert int(device_stats("grown")["nospc"]), "it never was full"
                enlarge(dev, files[0], 96 * MIB)
                david("resize", "grown", "--backing")
            run("e2fsck", "-fy", disk, ok=(0, 1))
            with mounted(disk, "ext4") as top:
                with suppress(FileNotFoundError):
                    os.unlink(f"{top}/too-much")
            trees = []
            for path in (disk, reference):
                with mounted(path, "ext4") as top:
                    trees.append(manifest(f"{top}/tree", content=True))
                    os.mkdir(f"{top}/more")
                    work = Operations(f"{top}/more", "after")
                    work.run(60)
                    work.close_all()
                    trees.append(manifest(f"{top}/more", content=False))
                run("e2fsck", "-fn", path)
            for one, other in ((0, 2), (1, 3)):
                wrong = difference(trees[other], trees[one])
                assert not wrong, "\n".join(wrong)
            assert not difference(before[1], before[0])
