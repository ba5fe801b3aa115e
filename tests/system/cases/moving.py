# SPDX-License-Identifier: GPL-2.0
"""A disk that is moved: to a file and back, to a larger size, to another backing device; and one that is
removed and made again, time after time.

DAVID_SCALE=full removes and makes it 100 times.
"""

from __future__ import annotations

import os

import raw
from manifest import difference, manifest
from randomops import Operations
from raw import BLOCK
from storetool import says
from workload import SCALES, Workload

from cases import case
from cases.durable import table
from cases.life import Hammer

from guest import (
    SCRATCH,
    Failed,
    david,
    fake_disk,
    linear_disk,
    loop_disk,
    mapped,
    mounted,
    ram_disk,
    run,
)

FULL = os.environ.get("DAVID_SCALE") == "full"
KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40


def begins(dev: str) -> bytes:
    run("blockdev", "--flushbufs", dev)
    with open(dev, "rb") as file:
        return file.read(MIB)


@case
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
        assert status == 2 and "too small" in text, text
        assert begins(other) == before
        with mapped("there", table(other, "classify=keep")):
            assert says("import", "--format", str(image), other)[0] == 2, "a store in use was overwritten"
        status, text = says("import", dev, large)
        assert status == 1 and "no image" in text, text
        # From a pipe it is found out too late, but told.
        torn.write_bytes(data[: len(data) // 2])
        status, text = says("import", "/dev/stdin", large)
        assert status, text
        try:
            run("sh", "-c", f"cat {torn} | {SCRATCH}/david-store import - {large}")
            raise Failed("a torn image was taken from a pipe")
        except Failed as error:
            assert "blank now" in str(error), error
        assert not any(begins(large)[: 68 * KIB])
        run("sh", "-c", f"cat {image} | {SCRATCH}/david-store import - {large}")
        with mapped("moved", table(large)) as path, raw.opened(path) as fd:
            for number in range(200):
                raw.must_read(fd, raw.patterned(number, BLOCK), number * 2 * BLOCK)
    image.unlink()
    torn.unlink()


@case
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
                        os.makedirs(f"{top}/tree/{life % 10}", exist_ok=True)
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
