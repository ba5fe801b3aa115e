# SPDX-License-Identifier: GPL-2.0
"""RAW directories and suffixes where no page owner tells of files: by names, behind a loop device, on ext."""

from __future__ import annotations

import os
import random
import time

from cases import case
from helpers.guest import (
    Failed,
    david,
    device_stats,
    fake_disk,
    loop_disk,
    looped,
    mapped,
    mounted,
    ram_disk,
    run,
)
from helpers.raw import BLOCK
from helpers.units import KIB, MIB


def flush(device: str) -> None:
    """What the journal has let go goes home; what is in the running transaction does not."""
    fd = os.open(device, os.O_RDWR)
    os.fsync(fd)
    os.close(fd)


def dropped() -> int:
    return int(device_stats("raw")["unclassified"]["data"])  # type: ignore[index]


def put(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


@case
def names_that_only_the_journal_has_count() -> None:
    """Inodes go home before the directories that name them: those are read from the log."""
    data = random.Random(1).randbytes(10 * BLOCK)
    with (
        ram_disk(160 * MIB) as dev,
        fake_disk("raw", 1200 * MIB, dev, "--classify", "implicit") as disk,
        looped(disk, MIB) as loop,
    ):
        # Inodes of 4 KiB: each goes home by itself.
        run("mkfs.ext4", "-q", "-b", "4096", "-I", "4096", "-N", "256", "-J", "size=8", loop)
        with mounted(loop, "ext4") as top:
            for name in ("raw", "raw/deep", "plain"):
                os.mkdir(f"{top}/{name}")
            for name in ("raw/tick", "raw/deep/tick", "plain/tick", "plain/moved"):
                put(f"{top}/{name}", b"x" * 100)
            said = david("raw", "add", "raw", f"{top}/raw", "*.db")
            inode = os.stat(f"{top}/raw").st_ino
            assert f"dir:{MIB // 512}/{inode}: kept from now on" in said, said
            os.sync()
            chosen = ("raw/new", "raw/deep/new", "raw/made/new", "plain/new.db", "raw/moved")
            os.mkdir(f"{top}/raw/made")
            os.truncate(f"{top}/plain/moved", 0)
            os.rename(f"{top}/plain/moved", f"{top}/raw/moved")
            for name in chosen:
                put(f"{top}/{name}", data)
            before = dropped()
            put(f"{top}/plain/other", data)
            # In the next transaction, and so not on their way home: the directories.
            end = time.monotonic() + 30
            number = 0
            while number < 12 or (dropped() == before and time.monotonic() < end):
                for name in ("raw", "raw/deep", "plain"):
                    os.rename(f"{top}/{name}/tick", f"{top}/{name}/tock")
                    os.rename(f"{top}/{name}/tock", f"{top}/{name}/tick")
                flush(loop)
                if number % 4 == 3:
                    os.utime(f"{top}/plain")
                    put(f"{top}/plain/{number}", b"")
                number += 1
                time.sleep(0.2)
            assert dropped() - before >= len(data) // BLOCK, f"{before} blocks, and now {dropped()}"
            assert device_stats("raw")["raw_names"]
        with mounted(loop, "ext4") as top:
            for name in chosen:
                with open(f"{top}/{name}", "rb") as file:
                    assert file.read() == data, f"{name} is not what was written"
            with open(f"{top}/plain/other", "rb") as file:
                assert file.read() != data, "this was to be dropped"
        run("e2fsck", "-fn", loop)


def refused(path: str, says: str) -> None:
    try:
        david("raw", "add", "raw", path)
    except Failed as error:
        assert says in str(error), error
    else:
        raise Failed(f"a rule for {path} was taken")


@case
def paths_are_found_through_loop_devices_and_linear_mappings() -> None:
    with (
        ram_disk(160 * MIB) as dev,
        fake_disk("raw", 1200 * MIB, dev, "--classify", "implicit") as disk,
        mapped("linear", f"0 {64 * KIB} linear {disk} 2048") as part,
        looped(part, 8 * KIB) as loop,
        loop_disk(4 * MIB) as elsewhere,
    ):
        run("mkfs.ext4", "-q", loop)
        run("mkfs.ext2", "-q", elsewhere)
        with mounted(loop, "ext4") as top:
            david("raw", "add", "raw", top)
            assert david("raw", "list", "raw").split() == [f"dir:{2048 + 16}/2"]
        with mounted(elsewhere, "ext2") as top:
            refused(top, "an image: if that is on the disk, name it")
    with ram_disk(64 * MIB) as dev, fake_disk("raw", 256 * MIB, dev) as disk, looped(disk) as loop:
        run("mkfs.ext2", "-q", loop)
        with mounted(loop, "ext2") as top:
            refused(top, "classify=auto is not told of files")
