# SPDX-License-Identifier: GPL-2.0
"""Content by file: what was dropped of a file reads as a well-formed one, by the suffix of its name."""

from __future__ import annotations

import mmap
import os
import random
import zlib
from pathlib import Path

from cases import case
from helpers import raw
from helpers.guest import Failed, david, device_stats, mounted, run
from helpers.raw import BLOCK
from helpers.rulefiles import disk_with, drop_caches
from helpers.units import KIB, MIB
from helpers.wellformed import FILES, NOISE, SUFFIX, content, parsers, put, well_formed


@case
def real_parsers_take_files_on_ext4() -> None:
    sizes = [(kind, size) for kind in SUFFIX for size in (1 * KIB, 70 * KIB + 1)]
    well_formed("ext4", [*sizes, ("gzip", 3 * MIB + 3), ("pdf", 3 * MIB + 3)])


@case
def a_file_reads_the_same_in_any_way_the_page_cache_reads_it() -> None:
    rng = random.Random(1)
    with disk_with("ext4", *FILES) as disk, mounted(disk, "ext4") as top:
        path, size = f"{top}/a.json", 700 * KIB + 5
        put(path, size)
        run("sync", "-f", top)
        whole = content(path)
        assert whole.startswith(b'{"title"') and whole.endswith(b"]}\n") and len(whole) == size
        drop_caches()
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
            for _ in range(60):
                at = rng.randrange(size)
                assert os.pread(file.fileno(), 9 * KIB, at) == whole[at : at + 9 * KIB], f"at {at}"
            drop_caches()
            with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as area:
                assert area[:] == whole, "mapped"
                # The last page, behind the end: zeros.
        # A write of a part reads the rest of its page; another block stays what it is.
        with open(path, "r+b") as file:
            file.seek(100)
            file.write(b"x")
        run("sync", "-f", top)
        assert content(path) == whole, "after a write in the middle"


@case
def content_follows_the_files_size_and_name() -> None:
    judge = parsers().KINDS
    with disk_with("ext4", *FILES) as disk, mounted(disk, "ext4") as top:
        path = f"{top}/a.html"
        put(path, 50 * KIB)
        run("sync", "-f", top)
        drop_caches()
        judge["html"](Path(path))
        with open(path, "ab") as file:
            file.write(NOISE[: 20 * KIB + 1])
        run("sync", "-f", top)
        drop_caches()
        judge["html"](Path(path))
        os.rename(path, f"{top}/a.txt")
        drop_caches()
        judge["text"](Path(f"{top}/a.txt"))
        os.rename(f"{top}/a.txt", f"{top}/a.bin")
        other = content(f"{top}/a.bin")
        assert b"</html>" not in other and len(zlib.compress(other)) > len(other) * 0.99
        put(f"{top}/b.txt", 50 * KIB)
        put(f"{top}/c.txt", 50 * KIB)
        run("sync", "-f", top)
        assert content(f"{top}/b.txt") != content(f"{top}/c.txt"), "two files are equal"


@case
def what_is_not_dropped_and_who_is_not_the_page_cache_sees_no_file() -> None:
    size = 64 * KIB
    with disk_with("ext4", *FILES) as disk, mounted(disk, "ext4") as top:
        path = f"{top}/a.txt"
        with open(path, "wb") as file:
            file.write(NOISE[: 16 * KIB] + bytes(16 * KIB) + NOISE[: 32 * KIB])
        put(f"{top}/b.bin", size)
        run("sync", "-f", top)
        whole = content(path)
        assert whole[16 * KIB : 32 * KIB] == bytes(16 * KIB), "zeros were written"
        assert whole[: 16 * KIB].isascii() and whole[32 * KIB :].isascii()
        with raw.opened(path, os.O_RDONLY | os.O_DIRECT) as fd:
            assert not raw.read(fd, BLOCK, 0).isascii(), "a direct read"
        # Into pages of a file of this disk a direct read gets what is on the disk, not what those belong to.
        with raw.opened(f"{top}/b.bin", os.O_RDONLY | os.O_DIRECT) as fd:
            expected = raw.read(fd, BLOCK, 0)
            with open(path, "r+b") as file, mmap.mmap(file.fileno(), size) as area:
                view = memoryview(area)
                os.preadv(fd, [view[:BLOCK]], 0)
                assert bytes(view[:BLOCK]) == expected
                view.release()
        david("raw", "add", "raw", "*.txt")
        put(f"{top}/c.txt", size)
        run("sync", "-f", top)
        assert content(f"{top}/c.txt") == NOISE[:size]


@case
def a_disk_that_has_had_checksums_still_has_files() -> None:
    """A btrfs was on it: its checksums stay in the store. The next file system's files have none."""
    with disk_with("btrfs", *FILES) as disk:
        with mounted(disk, "btrfs") as top:
            put(f"{top}/a.bin", 300 * KIB)
            run("sync", "-f", top)
        assert device_stats("raw")["checksums"]["blocks"], "btrfs's data had no checksums"
        run("mkfs.ext4", "-qF", disk)
        judge = parsers().KINDS
        with mounted(disk, "ext4") as top:
            for size in (KIB, 70 * KIB + 1):
                path = Path(f"{top}/{size}.json")
                put(str(path), size)
                run("sync", "-f", top)
                drop_caches()
                judge["json"](path)


@case
def suffixes_are_changed_by_message() -> None:
    with disk_with("ext4") as disk, mounted(disk, "ext4") as top:
        path = f"{top}/a.x"
        put(path, 20 * KIB)
        run("sync", "-f", top)
        before = content(path)
        assert not before.isascii()
        for words, start in (("x,y=json;z=html", b"{"), ("x=html", b"<!DOCTYPE"), ("off", before[:99])):
            run("dmsetup", "message", "raw", "0", "files", words)
            assert f"files={words} " in run("dmsetup", "table", "raw"), words
            assert content(path).startswith(start), words
        try:
            run("dmsetup", "message", "raw", "0", "files", "x=zip")
        except Failed:
            assert "files=off " in run("dmsetup", "table", "raw")
        else:
            raise Failed("files x=zip was taken")
