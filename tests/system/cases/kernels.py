# SPDX-License-Identifier: GPL-2.0
"""What newer kernels do in other ways: how a disk tells who has it mounted, a file its names, a backing
device its limits. Quick, as each kernel in the vm lab runs them.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cases import case
from davidlib.filesystems import made_alike
from helpers import raw, udev, zoned
from helpers.csums import btrfs_disk, clean, figures, some_files
from helpers.filesystems import OF_DATA, TOOLS, UUID
from helpers.guest import (
    Failed,
    complaint,
    david,
    device_stats,
    fake_disk,
    loop_disk,
    mounted,
    ram_disk,
    run,
    unload,
)
from helpers.raw import BLOCK
from helpers.rulefiles import make
from helpers.units import GIB, KIB, MIB
from helpers.zonecuts import squashed

NAME = "kernel"
BLOCKS = 64
# dm-david says so where btrfs hands on copies of what is written by direct I/O.
COPIES = "btrfs copies what is written by direct I/O"

BLOCK_DEVICES = "adapter*/host*/target*/*/block/*"


def evidence(kind: str) -> int:
    return int(device_stats(NAME)["evidence"][kind])  # type: ignore[index]


def write_directly(path: str, place: int = 0) -> None:
    udev.settle()  # while udev has the disk open, direct I/O is kept
    with raw.opened(path, raw.DIRECT | os.O_CREAT) as fd:
        raw.write(fd, raw.patterned(3, BLOCKS * BLOCK), place)


def owners_are_seen(fs: str) -> None:
    """Direct I/O into a file is data though it is the first that is written after mounting."""
    with ram_disk(128 * MIB) as dev, fake_disk(NAME, 4 * GIB, dev) as disk:
        make(fs, disk)
        # With checksums btrfs writes through the page cache, or from copies.
        with mounted(disk, fs, "nodatasum" if fs == "btrfs" else "") as top:
            write_directly(f"{top}/direct")
            os.sync()
            if evidence("anon") < BLOCKS:
                raise Failed(f"{evidence('anon')} anonymous blocks were seen on {fs}, of {BLOCKS}")
            before = evidence("file")
            Path(f"{top}/file").write_bytes(raw.patterned(4, BLOCKS * BLOCK))
            run("sync", "-f", top)
            if evidence("file") < before + BLOCKS:
                raise Failed(f"{evidence('file') - before} blocks of a file were seen on {fs}, of {BLOCKS}")
            names = sorted(os.listdir(top))
        run(*TOOLS[fs].check, disk)
        with mounted(disk, fs) as top:
            assert sorted(os.listdir(top)) == names
            for name in ("direct", "file"):
                assert len(Path(f"{top}/{name}").read_bytes()) == BLOCKS * BLOCK
        before = evidence("unmounted")
        write_directly(disk, 4 * GIB - BLOCKS * BLOCK)
        assert evidence("unmounted") == before + BLOCKS


@case(vm="6.1 newest", stock="6.12")
def who_has_a_disk_mounted_is_seen_on_ext4() -> None:
    owners_are_seen("ext4")


@case(vm="6.1 newest", stock="6.12")
def who_has_a_disk_mounted_is_seen_on_xfs() -> None:
    owners_are_seen("xfs")


@case(vm="6.1 newest", stock="6.12")
def who_has_a_disk_mounted_is_seen_on_btrfs() -> None:
    owners_are_seen("btrfs")


@case(vm="6.1 newest", stock="6.12")
def direct_io_that_btrfs_copies_is_stored_and_said() -> None:
    with ram_disk(128 * MIB) as dev, fake_disk(NAME, 4 * GIB, dev) as disk:
        make("btrfs", disk)
        with mounted(disk, "btrfs") as top:
            write_directly(f"{top}/direct")
            os.sync()
            seen = evidence("anon") + evidence("file")
            copies = COPIES in run("dmesg")
            if (seen < BLOCKS) != copies:
                raise Failed(f"the owner of {seen} of {BLOCKS} blocks was seen; said in the log: {copies}")
        with mounted(disk, "btrfs") as top:
            content = Path(f"{top}/direct").read_bytes()
        assert (content == raw.patterned(3, BLOCKS * BLOCK)) == copies
        run(*TOOLS["btrfs"].check, *OF_DATA, disk)


@case(vm="6.1 newest", stock="6.12")
def made_up_content_has_the_checksums_that_btrfs_stored() -> None:
    with btrfs_disk(store=128 * MIB) as disk:
        with mounted(disk, "btrfs") as top:
            some_files(top, 1)
        # By its checker, by reading every file, by a scrub.
        clean(disk)
        if (squashed := figures()["written"]["squashed"]) < BLOCKS:
            raise Failed(f"{squashed} blocks of all files were squashed: this tests nothing")


@case(vm="6.1 newest", stock="6.12")
def who_has_a_disk_mounted_is_seen_on_f2fs() -> None:
    owners_are_seen("f2fs")


@case(vm="6.1 newest", stock="6.12")
def a_file_of_several_names_is_chosen_by_any_of_them() -> None:
    data = [raw.patterned(n, 100 * KIB) for n in range(3)]
    with ram_disk(64 * MIB) as dev, fake_disk(NAME, 4 * GIB, dev) as disk:
        make("ext4", disk)
        with mounted(disk, "ext4") as top:
            os.mkdir(f"{top}/chosen")
            david("raw", "add", NAME, f"{top}/chosen", "*.db")
            for name in ("plain", "suffix", "directory"):
                Path(f"{top}/{name}").touch()
            os.link(f"{top}/suffix", f"{top}/other.db")
            os.link(f"{top}/directory", f"{top}/chosen/inside")
            for name, content in zip(("plain", "suffix", "directory"), data, strict=True):
                Path(f"{top}/{name}").write_bytes(content)
        with mounted(disk, "ext4") as top:
            exact = [
                Path(f"{top}/{name}").read_bytes() == content
                for name, content in zip(("plain", "suffix", "directory"), data, strict=True)
            ]
        assert exact == [False, True, True], exact


@contextmanager
def unmapping_disk(megabytes: int) -> Iterator[str]:
    """A SCSI disk in memory whose WRITE_ZEROES unmaps; the uml lab's kernel has none."""
    words = [f"dev_size_mb={megabytes}", "lbpws=1", "lbprz=1", "max_luns=1"]
    run("modprobe", "sd_mod")
    run("modprobe", "scsi_debug", *words)
    found: list[str] = []
    deadline = time.monotonic() + 60
    try:
        while not found:
            driver = Path("/sys/bus/pseudo/drivers/scsi_debug")
            found = [f"/dev/{path.name}" for path in driver.glob(BLOCK_DEVICES)]
            if time.monotonic() > deadline:
                raise Failed("scsi_debug makes no disk")
            time.sleep(0.1)
        yield found[0]
    finally:
        unload("scsi_debug", *found)


def limit(device: str, name: str) -> int | None:
    path = Path(f"/sys/class/block/{Path(os.path.realpath(device)).name}/queue/{name}")
    return int(path.read_text()) if path.exists() else None


@case(vm="6.1 newest", stock="6.12", uml=False)
def a_backing_device_that_unmaps_zeroes_changes_no_limit() -> None:
    unmap = "write_zeroes_unmap_max_hw_bytes"

    def limits(disk: str) -> list[int | None]:
        return [limit(disk, name) for name in ("write_zeroes_max_bytes", unmap, "discard_max_hw_bytes")]

    with unmapping_disk(64) as dev:
        if limit(dev, unmap) == 0:
            raise Failed("the SCSI disk does not unmap zeroes: this tests nothing")
        with fake_disk(NAME, 4 * GIB, dev) as disk:
            seen = limits(disk)
            make("ext4", disk)
            run(*TOOLS["ext4"].check, disk)
    with loop_disk(64 * MIB) as dev, fake_disk(NAME, 4 * GIB, dev) as disk:
        expected = limits(disk)
    assert seen == expected, (seen, expected)
    assert not seen[1], "the disk that is faked has no such command"


@case(uml=False, vm="6.1")
def drives_with_zones_are_refused_by_name_where_the_kernel_cannot_have_them() -> None:
    for drive, zone in (("wd-ultrastar-dc-hc620-14tb", 256 * MIB), ("wd-ultrastar-dc-zn540-1tb", 2048 * MIB)):
        with ram_disk(32 * MIB) as dev:
            said = complaint("create", NAME, "--size", str(24 * zone), "--backing", dev, "--profile", drive)
            if "Linux 6.12 or later" not in said or "\n" in said:
                raise Failed(f"{drive}: {said}")
            left = list(zoned.NULLB.iterdir()) if zoned.NULLB.exists() else []
            if any(path.is_dir() for path in left):
                raise Failed(f"{drive}: left behind: {left}")


ZONED, ZONES, ZONE = "wd-ultrastar-dc-hc620-14tb", 80, 16 * MIB


def zones_by_blkzone(disk: str) -> list[tuple[str, int]]:
    """Of each zone what kind of zone it is, with the condition, and sectors that are written."""
    lines = run("blkzone", "report", disk).splitlines()
    found = [re.search(r"wptr (0x\w+) .*\[type: (\d)\((\w+)\)\]", line) for line in lines]
    return [(f"{m[3]} {re.findall(r'zcond:.*?[(](.*?)[)]', line)[0]}", int(m[1], 16))
            for line, m in zip(lines, found, strict=True) if m]


@case(stock="6.12", seldom=True)
def a_drive_with_zones_is_made_and_has_what_fio_and_btrfs_write() -> None:
    with ram_disk(64 * MIB) as dev:
        david("create", NAME, "--size", str(ZONES * ZONE), "--backing", dev, "--profile", ZONED, "--mode",
              "speedup", "--profile-option", f"zone_size={ZONE >> 20}MiB",
              "--profile-option", "logical_block=4096")
        try:
            disk = f"/dev/mapper/{NAME}"
            if (kinds := [kind for kind, _ in zones_by_blkzone(disk)]) != ["CONVENTIONAL nw"] + \
                    ["SEQ_WRITE_REQUIRED em"] * (ZONES - 1):
                raise Failed(f"a new disk's zones are {kinds}")
            run("fio", "--name=z", f"--filename={disk}", "--zonemode=zbd", "--rw=randwrite", "--bs=64k",
                "--direct=1", "--ioengine=libaio", "--iodepth=4", f"--io_size={8 * MIB}", "--verify=crc32c",
                "--max_open_zones=4", f"--offset={ZONE}", f"--size={8 * ZONE}")
            if (written := sum(sectors for _, sectors in zones_by_blkzone(disk)[1:]) << 9) != 8 * MIB:
                raise Failed(f"fio wrote {8 * MIB} bytes, and zones have {written}")
            run("blkzone", "reset", disk)
            if left := [zone for zone in zones_by_blkzone(disk)[1:] if zone != ("SEQ_WRITE_REQUIRED em", 0)]:
                raise Failed(f"after a reset of all there is {left}")
            run(*made_alike("btrfs", UUID, zoned=True), disk)
            with mounted(disk, "btrfs") as top:
                for number in range(8):
                    Path(top, f"file{number}").write_bytes(random.Random(number).randbytes(200 * KIB))
                os.sync()  # umount writes pages of files without a name: these are kept
            if not device_stats(NAME)["zones"]["append"]:  # type: ignore[index]
                raise Failed("btrfs appended nothing")
            run(*TOOLS["btrfs"].check, *OF_DATA, disk)
            with mounted(disk, "btrfs") as top:
                sizes = [path.stat().st_size for path in sorted(Path(top).iterdir())]
                if sizes != [200 * KIB] * 8:
                    raise Failed(f"files have {sizes} bytes")
            if not squashed(NAME):
                raise Failed("nothing was squashed")
        finally:
            david("remove", NAME)
