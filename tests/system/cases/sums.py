# SPDX-License-Identifier: GPL-2.0
"""Checksums of squashed blocks: btrfs with its own data checksums finds nothing wrong."""

from __future__ import annotations

import base64
import random
import re
import sys
from contextlib import ExitStack
from pathlib import Path

from cases import case
from helpers import raw
from helpers.csums import (
    IMPLICIT,
    UNIT,
    btrfs_disk,
    clean,
    copy_of,
    crc32c,
    exact_disk,
    figures,
    is_squashed,
    is_stored,
    large_file,
    live,
    opened_again,
    put_noise,
    reload,
    scrub,
    settled,
    some_files,
    units_keep_their_checksums,
)
from helpers.guest import fake_disk, loop_disk, mapped, mounted, ram_disk, run
from helpers.raw import BLOCK
from helpers.units import GIB, KIB, MIB


@case
def btrfs_finds_its_checksums_right() -> None:
    with btrfs_disk() as disk:
        live(disk, 31)
        clean(disk)
        # Compressed extents are kept exactly, beside data that is not.
        with mounted(disk, "btrfs", "compress-force=zlib") as top:
            some_files(top, 1)
            with open(f"{top}/words", "w") as file:
                file.write("one and the same\n" * 50_000)
            run("sync", "-f", top)
        with mounted(disk, "btrfs") as top, open(f"{top}/words") as file:
            assert file.read() == "one and the same\n" * 50_000
        clean(disk)
        assert figures()["written"]["squashed"] > 2000


@case
def a_wrong_checksum_is_found() -> None:
    """The oracles above can fail: without checksums, and with one block changed."""
    with btrfs_disk("-o", "checksums=off") as disk:
        with mounted(disk, "btrfs") as top:
            some_files(top, 2)
        said = run("btrfs", "check", "--check-data-csum", disk, ok=(0, 1))
        assert "mirror 1 bytenr" in said or "csum" in said.split("checking csums", 1)[-1], said
        assert figures()["checksums"]["blocks"] == 0
    with btrfs_disk() as disk:
        with mounted(disk, "btrfs") as top:
            some_files(top, 2)
            run("sync", "-f", top)
            where = run("filefrag", "-v", f"{top}/some-2-3")
            scrub(top)
        run("btrfs", "check", "--check-data-csum", disk)
        logical = int(re.search(r"^ +0: +\d+\.\. +\d+: +(\d+)", where, re.M).group(1)) * BLOCK
        said = run("btrfs-map-logical", "-l", str(logical), disk)
        place = int(re.search(r"physical (\d+)", said).group(1))
        with raw.opened(disk) as fd:
            raw.write(fd, random.Random(3).randbytes(BLOCK), place)
        said = run("btrfs", "check", "--check-data-csum", disk, ok=(0, 1))
        assert str(logical) in said, said


@case
def squashed_units_read_with_the_checksum_of_what_was_written() -> None:
    units_keep_their_checksums(4096, 700)


@case
def the_newest_data_reads_exactly() -> None:
    rng = random.Random(9)
    piece = 64 * KIB
    data = [rng.randbytes(piece) for _ in range(256)]
    options = ("--classify", "data", "-o", "exact=4", "-o", "checksums=on")
    with exact_disk(*options) as disk, raw.opened(disk) as fd:
        for number, content in enumerate(data):
            raw.write(fd, content, number * 10 * MIB)
            # Squashing may be an eighth of the budget behind, eight pieces: newer data is not held then.
            if number % 4 == 3:
                # What is written again and again is as new as its last time.
                raw.write(fd, data[0], 0)
                settled()
        after = settled()
        newest = [raw.read(fd, piece, number * 10 * MIB) == content for number, content in enumerate(data)]
        assert newest[0] and all(newest[-50:]) and not any(newest[16:160]), newest
        assert 800 <= after["exact_blocks"] <= 1024 == after["exact_limit"], after
        assert after["store_used"] - after["checksums"]["store"] == after["exact_blocks"], after
        # Squashed since, with the checksum of what was written.
        for number in rng.sample(range(1, 160), 30):
            assert crc32c(raw.read(fd, UNIT, number * 10 * MIB)) == crc32c(data[number][:UNIT])
        # In the middle of words of the map, and over their ends: no more leaves it than was discarded.
        for number in range(206, 256):
            raw.discard(fd, number * 10 * MIB + 3 * BLOCK, 9 * BLOCK)
        assert figures()["exact_blocks"] == after["exact_blocks"] - 50 * 9, figures()
        raw.discard(fd, 0, 64 * GIB)
        after = figures()
        assert after["exact_blocks"] == 0 and after["store_used"] == 0, after
        # A budget of nothing: what is held is squashed.
        raw.write(fd, data[1], 0)
        assert figures()["exact_blocks"] == piece // BLOCK
        reload(("exact=4", "exact=0"))
        after = settled()
        assert after["store_used"] == after["checksums"]["store"], after
        assert raw.read(fd, piece, 0) != data[1]


@case
def metadata_is_safe_where_exact_data_stood() -> None:
    """What is written over data in place, in any way, is not squashed with it later."""
    rng = random.Random(12)
    with exact_disk("-o", "exact=8") as disk:
        run("mkfs.ext4", "-q", disk)
        with mounted(disk, "ext4") as top:
            large_file(top, 4)
            where = run("filefrag", "-v", f"{top}/sequential")
        place = int(re.search(r"^ +0: +\d+\.\. +\d+: +(\d+)", where, re.M).group(1)) * BLOCK
        assert figures()["exact_blocks"] == 4 * MIB // BLOCK
        with raw.opened(disk) as fd:
            old = raw.read(fd, 64 * KIB, place)
            assert old == random.Random(6).randbytes(4 * MIB)[: len(old)]
            expected = bytearray(old)
            for at, size in ((0, 8192), (5 * BLOCK, 512), (7 * BLOCK + 512, 9000 // 512 * 512)):
                expected[at : at + size] = rng.randbytes(size)
                raw.write(fd, expected[at : at + size], place + at)
            raw.zero_out(fd, place + 12 * BLOCK + 512, 512)
            expected[12 * BLOCK + 512 : 12 * BLOCK + 1024] = bytes(512)
            reload(("exact=8", "exact=0"))
            assert settled()["exact_blocks"] == 0
            for block in (0, 1, 5, 7, 8, 9, 12):
                at = block * BLOCK
                raw.must_read(fd, expected[at : at + BLOCK], place + at, "what was kept")
            for block in (2, 3, 4, 6, 10, 11, 13):
                assert raw.read(fd, BLOCK, place + block * BLOCK) != old[block * BLOCK :][:BLOCK]
        run("e2fsck", "-fn", disk)


@case
def checksums_survive_remove_and_create_and_a_crash() -> None:
    store = 96 * MIB
    with loop_disk(store) as dev:
        with fake_disk("sums", 64 * GIB, dev, "-o", "checksum_memory=0") as disk:
            run("mkfs.btrfs", "-q", "-f", disk)
            with mounted(disk, "btrfs") as top:
                large_file(top, 24)
                some_files(top, 21)
            assert figures()["checksums"]["saves"] > 0, figures()["checksums"]
        with opened_again(dev) as disk:
            before = figures()["checksums"]
            assert before["store"] > 6 * MIB // 960 // BLOCK and before["blocks"] == 0, before
            clean(disk)
            after = figures()["checksums"]
            assert after["store"] == before["store"] and after["loads"] > 5, (before, after)
            # Written over, cloned and freed, then the machine stops while it is mounted.
            with mounted(disk, "btrfs") as top:
                some_files(top, 22)
                run("cp", "--reflink=always", f"{top}/sequential", f"{top}/cloned")
                run("sh", "-c", f"rm {top}/some-21-1* && sync -f {top} && fstrim {top}")
                some_files(top, 23)
                with loop_disk(store, prepare=copy_of(dev)) as copy:
                    crashed = f"0 {64 * GIB >> 9} david {copy} 1 checksums=off"
                    with mapped("crashed", crashed) as other:
                        # Nobody wants new ones there, and those that there are count.
                        run("btrfs", "check", "--check-data-csum", other)
        with opened_again(dev) as disk:
            clean(disk)
            # All is discarded: so are they.
            run("blkdiscard", disk)
            after = figures()
            assert after["store_used"] == after["checksums"]["store"] <= 1, after


@case
def the_kind_of_content_changes_by_message() -> None:
    with btrfs_disk("--content", "text") as disk:
        with mounted(disk, "btrfs") as top:
            some_files(top, 7)
            run("sync", "-f", top)
            run("dmsetup", "message", "sums", "0", "content", "compressible:300")
            assert "content=compressible:300" in run("dmsetup", "table", "sums")
            scrub(top)
        clean(disk)
        run("dmsetup", "message", "sums", "0", "content", "ones", ok=(1,))
        assert "content=compressible:300" in run("dmsetup", "table", "sums")
    with loop_disk(16 * MIB) as dev, fake_disk("sums", GIB, dev, "--classify", "data") as disk:
        with raw.opened(disk) as fd:
            raw.write(fd, random.Random(8).randbytes(BLOCK), 0)
            run("dmsetup", "message", "sums", "0", "content", "pattern:0123")
            assert raw.read(fd, BLOCK, 0) == bytes.fromhex("0123") * (BLOCK // 2)


@case
def compressed_files_are_exact_where_nobody_tells_whose_pages_they_are() -> None:
    """Nothing else could be unpacked in their place."""
    rng, kinds = random.Random(41), ("zstd", "zlib:9", "zlib:1", "lzo")
    piece = 128 << 10  # all of it is compressed, or nothing
    files = {
        "zeros": bytes(3 * piece),
        "text": b"".join(b"%d green bottles\n" % rng.randrange(10**6) for _ in range(60000))[: 4 * piece],
        "base64": base64.b64encode(rng.randbytes(5 * piece))[: 5 * piece],
        "program": Path(sys.executable).read_bytes()[: 8 * piece],
    }
    with ram_disk(128 * MIB) as dev, fake_disk("sums", 64 * GIB, dev, *IMPLICIT) as disk:
        with mapped("part", f"0 {2 * GIB >> 9} linear {disk} 2048") as first:
            run("mkfs.btrfs", "-q", "-f", first)
            for kind in kinds:
                with mounted(first, "btrfs", f"compress-force={kind}") as top:
                    for name, data in files.items():
                        Path(f"{top}/{kind}-{name}").write_bytes(data)
            is_squashed(first, 42)
            with mounted(first, "btrfs") as top:
                for kind in kinds:
                    # lzo finds nothing twice in that one, which so is not compressed.
                    for name, data in [x for x in files.items() if (kind, x[0]) != ("lzo", "base64")]:
                        assert Path(f"{top}/{kind}-{name}").read_bytes() == data, f"{name} by {kind}"


@case
def where_nobody_tells_whose_pages_they_are() -> None:
    """By default, too: volumes at several places have their checksums, or are stored."""
    with ram_disk(128 * MIB) as dev, fake_disk("sums", 64 * GIB, dev, *IMPLICIT) as disk:
        with ExitStack() as stack:
            first, xxhash, across, ext4 = (
                stack.enter_context(mapped(f"at-{place}", f"0 {2 * GIB >> 9} linear {disk} {place}"))
                for place in (2048, 8 * GIB >> 9, (16 * GIB >> 9) + 1, (24 * GIB >> 9) + 1)
            )
            run("mkfs.btrfs", "-q", "-f", first)
            run("mkfs.btrfs", "-q", "-f", "--csum", "xxhash", xxhash)
            run("mkfs.btrfs", "-q", "-f", across)
            # It has none, and so may lie as it likes.
            run("mkfs.ext4", "-q", "-b", "1024", "-E", "nodiscard", ext4)
            is_squashed(first, 1)
            is_stored(xxhash, 2)
            is_stored(across, 3)
            before = figures()["written"]["squashed"]
            with mounted(ext4, "ext4") as top:
                put_noise(top, 4)
            run("e2fsck", "-fn", ext4)
            assert figures()["written"]["squashed"] - before > 400, figures()["evidence"]
            # Their lives go on beside each other.
            is_stored(xxhash, 5)
            is_squashed(first, 6)
