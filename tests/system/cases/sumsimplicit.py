# SPDX-License-Identifier: GPL-2.0
"""Checksums of squashed blocks where nobody tells whose pages they are: classify=implicit, by default.

The file systems are mounted on loop devices over the fake disk, past its page cache: as in a guest, or in
a partition. In sums.py is what takes no time.
"""

from __future__ import annotations

from contextlib import ExitStack

from cases import case
from helpers.csums import (
    IMPLICIT,
    clean,
    copy_of,
    figures,
    is_squashed,
    is_stored,
    live,
    opened_again,
    put_noise,
    some_files,
)
from helpers.guest import Failed, device_stats, fake_disk, loop_disk, looped, mapped, mounted, ram_disk, run
from helpers.manifest import difference, manifest
from helpers.units import GIB, MIB
from helpers.workload import SCALES, Workload

SIZE = 64 * GIB


def live_in_a_partition(*options: str) -> dict:
    """With a table that is reloaded in the middle, which forgets that there is a file system."""
    with ram_disk(256 * MIB) as dev, fake_disk("sums", SIZE, dev, *IMPLICIT, *options) as disk:
        with looped(disk, MIB) as loop:
            run("mkfs.btrfs", "-q", "-f", "-b", str(4 * GIB), loop)
            live(loop, 31)
            clean(loop)
            return figures()


@case
def a_partition_at_1_mib() -> None:
    live_in_a_partition()


@case
def smaller_blocks_are_dropped_by_4_kib() -> None:
    for block in (512, 2048):
        after = live_in_a_partition("-o", f"block_size={block}")
        assert after["written"]["squashed"] > 2000 * 4096 // block, after["evidence"]
        # What waits could not be summed.
        assert after["unclassified"]["data"] == 0, after["unclassified"]


@case
def the_newest_data_is_exact_and_then_dropped() -> None:
    after = live_in_a_partition("-o", "exact=2", "-o", "checksum_memory=0")
    assert after["written"]["exact"] > 1000 and after["blocks"]["squashed"] > 1000, after


@case
def another_kind_in_the_same_place() -> None:
    with ram_disk(96 * MIB) as dev, fake_disk("sums", SIZE, dev, *IMPLICIT) as disk, looped(disk) as loop:
        for seed, kind in enumerate(("crc32c", "sha256", "crc32c", "blake2", "crc32c")):
            run("mkfs.btrfs", "-q", "-f", "--csum", kind, loop)
            (is_squashed if kind == "crc32c" else is_stored)(loop, seed)


@case
def an_opened_store_goes_on_with_them() -> None:
    """Opened again, with the superblock to be read, and after a crash."""
    store = 96 * MIB
    words = ("classify=implicit", "checksum_memory=0")
    with loop_disk(store) as dev:
        with fake_disk("sums", SIZE, dev, *IMPLICIT, "-o", "checksum_memory=0") as disk, looped(disk) as loop:
            run("mkfs.btrfs", "-q", "-f", loop)
            with mounted(loop, "btrfs") as top:
                put_noise(top, 1, 8 * MIB)
                some_files(top, 21)
        with opened_again(dev, *words) as disk, looped(disk) as loop:
            clean(loop)
            with mounted(loop, "btrfs") as top:
                some_files(top, 22)
                run("sh", "-c", f"rm {top}/some-21-1* && sync -f {top} && fstrim {top}")
                put_noise(top, 2)
                assert figures()["written"]["squashed"] > 400, figures()["evidence"]
                with loop_disk(store, prepare=copy_of(dev)) as copy:
                    with mapped("crashed", f"0 {SIZE >> 9} david {copy} 1 classify=implicit") as other:
                        run("btrfs", "check", "--check-data-csum", other)
        with opened_again(dev, *words) as disk, looped(disk) as loop:
            clean(loop)


@case
def each_of_several_devices_keeps_its_own() -> None:
    with loop_disk(96 * MIB) as dev, loop_disk(96 * MIB) as dev2:
        with ExitStack() as stack:
            disks = [
                stack.enter_context(fake_disk(name, SIZE, backing, *IMPLICIT))
                for name, backing in (("sums", dev), ("other", dev2))
            ]
            loops = [stack.enter_context(looped(disk)) for disk in disks]
            for profile in ("raid1", "raid0", "raid10", "dup"):
                run("mkfs.btrfs", "-q", "-f", "-d", profile, *loops)
                run("btrfs", "device", "scan", *loops)
                with mounted(loops[0], "btrfs") as top:
                    Workload(top, 35, SCALES["tiny"]).run()
                    before = manifest(top, content=False)
                clean(loops[0])
                with mounted(loops[1], "btrfs") as top:
                    if wrong := difference(before, manifest(top, content=False)):
                        raise Failed(f"{profile}: the tree differs:\n" + "\n".join(wrong))
            for name in ("sums", "other"):
                after = device_stats(name)
                assert after["written"]["squashed"] > 1000, after["evidence"]  # type: ignore[index]
