# SPDX-License-Identifier: GPL-2.0
"""Checksums of squashed blocks, what takes longer: with DAVID_SCALE=full, or by name."""

from __future__ import annotations

from cases import case
from helpers.csums import (
    IMPLICIT,
    btrfs_disk,
    clean,
    exact_disk,
    figures,
    large_file,
    live,
    scrub,
    settled,
    some_files,
    units_keep_their_checksums,
)
from helpers.guest import SCRATCH, Failed, fake_disk, loop_disk, looped, mapped, mounted, run
from helpers.manifest import difference, manifest
from helpers.planted import planted
from helpers.raw import BLOCK
from helpers.storetool import says
from helpers.units import GIB, KIB, MIB
from helpers.workload import SCALES, Workload


@case
def checksums_that_do_not_fit_in_memory_stand_in_the_store() -> None:
    with btrfs_disk("-o", "checksum_memory=0") as disk:
        with mounted(disk, "btrfs") as top:
            large_file(top, 72)
        live(disk, 32)
        clean(disk)
        after = figures()["checksums"]
        assert after["evictions"] > 20 and after["loads"] > 20 and after["store"] > 0, after
        assert figures()["mem"]["checksums"] < 400 * KIB, figures()["mem"]


@case
def without_page_flags_or_mount_state() -> None:
    with btrfs_disk("--classify", "explicit", "-o", "block_size=1024") as disk:
        live(disk, 33)
        clean(disk)


@case
def other_checksums_are_not_forged_so_data_is_kept() -> None:
    with btrfs_disk(mkfs=("--csum", "sha256")) as disk:
        with mounted(disk, "btrfs") as top:
            some_files(top, 4)
        clean(disk)
        after = figures()
        assert after["written"]["squashed"] == 0 and after["evidence"]["unproven"] > 100, after
        # The superblock of a new file system is seen.
        run("mkfs.btrfs", "-q", "-f", disk)
        with mounted(disk, "btrfs") as top:
            some_files(top, 5)
        clean(disk)
        assert figures()["written"]["squashed"] > 100


@case
def a_large_file_costs_4_4_bytes_a_block() -> None:
    with btrfs_disk("-o", "checksum_memory=0") as disk, mounted(disk, "btrfs") as top:
        before = figures()
        large_file(top, 400)
        after = figures()
        blocks = after["checksums"]["blocks"] - before["checksums"]["blocks"]
        assert blocks >= 100 * 1024, after["checksums"]
        assert after["checksums"]["evictions"] > 10, after["checksums"]
        memory = after["mem"]["checksums"] - before["mem"]["checksums"]
        in_store = after["checksums"]["store"] * after["block_size"]
        assert memory < 600 * KIB, memory
        print(f"sums: {memory} bytes of memory, {in_store} of the store, {blocks} blocks")
        # The 16 chunks that are always in memory are in the store, too: a cache, whatever the size.
        assert (memory - 16 * BLOCK + in_store) / blocks <= 4.4, (memory, in_store, blocks)
        scrub(top)


@case
def smaller_blocks_make_units_as_well() -> None:
    units_keep_their_checksums(512, 600)


@case
def btrfs_with_its_newest_data_exact() -> None:
    with btrfs_disk("-o", "exact=2", "-o", "checksum_memory=0") as disk:
        live(disk, 34)
        clean(disk)
        after = settled()
        assert after["written"]["exact"] > 1000 and after["blocks"]["squashed"] > 1000, after


@case
def ext4_lives_with_exact_data() -> None:
    """Blocks change from data to metadata and back, with a budget that is always used up."""
    for classify in ("auto", "implicit"):
        with exact_disk("-o", "exact=6", "--classify", classify) as disk:
            run("mkfs.ext4", "-q", disk, "75000")
            before: list[str] = []
            for seed in (10, 11):
                with mounted(disk, "ext4") as top:
                    run("sh", "-c", f"rm -rf {top}/round*")
                    Workload(top, seed, SCALES["tiny"]).run()
                    before = manifest(top, content=False)
                run("e2fsck", "-fn", disk)
            after = settled()
            assert after["written"]["exact"] > 1000 and after["blocks"]["squashed"] > 1000, after
            with mounted(disk, "ext4") as top:
                wrong = difference(before, manifest(top, content=False))
            assert not wrong, wrong


@case
def checksums_move_with_an_exported_disk() -> None:
    """What was squashed keeps its checksums on another backing device; so does what is written there."""
    image = SCRATCH / "sums.image"
    size = 64 * GIB >> 9
    with loop_disk(96 * MIB) as first, loop_disk(64 * MIB) as second:
        with fake_disk("sums", 64 * GIB, first, "-o", "checksum_memory=0") as disk:
            run("mkfs.btrfs", "-q", "-f", disk)
            with mounted(disk, "btrfs") as top:
                large_file(top, 24)
                some_files(top, 41)
        assert says("export", first, str(image)) == (0, ""), says("export", first, str(image))
        assert says("import", str(image), second) == (0, ""), says("check", second)
        run("blockdev", "--flushbufs", second)
        assert says("check", second) == (0, "no fault found\n"), says("check", second)
        with mapped("sums", f"0 {size} david {second}") as disk:
            clean(disk)
            assert figures()["checksums"]["loads"] > 5, figures()["checksums"]
            with mounted(disk, "btrfs") as top:
                some_files(top, 42)
            clean(disk)
        with mapped("sums", f"0 {size} david {second}") as disk:
            clean(disk)
    image.unlink()


def plain() -> None:
    """Data of a btrfs that is mounted here."""
    with btrfs_disk() as disk, mounted(disk, "btrfs") as top:
        some_files(top, 8)
        scrub(top)


def torn() -> None:
    """Requests of 4 KiB, of which nothing tells whose they are: data waits for the next commit."""
    with btrfs_disk(*IMPLICIT) as disk, mapped("torn", f"0 {GIB >> 9} striped 1 8 {disk} 0") as above:
        run("mkfs.btrfs", "-q", "-f", above)
        with mounted(above, "btrfs") as top:
            for seed in (8, 9, 10):
                some_files(top, seed)
            dropped = figures()["unclassified"]["data"]
            assert dropped > 100, f"{dropped} blocks were dropped later"
            run("sh", "-c", "echo 3 >/proc/sys/vm/drop_caches")
            scrub(top)


def others() -> None:
    with btrfs_disk(*IMPLICIT) as disk, looped(disk) as loop:
        run("mkfs.btrfs", "-q", "-f", "--csum", "xxhash", loop)
        with mounted(loop, "btrfs") as top:
            some_files(top, 8)
            scrub(top)


@case
def data_that_is_dropped_later_has_its_checksums() -> None:
    torn()


@case(complaints="csum|checksum|errs:|unable to fixup", planted=True)
def scrub_finds_a_planted_bug() -> None:
    for bug, life in {"unit": plain, "later": torn, "other": others}.items():
        life()
        try:
            with planted(bug):
                life()
        except Failed as found:
            if "scrub" not in str(found):
                raise
        else:
            raise Failed(f"planted and not found: {bug}")
