# SPDX-License-Identifier: GPL-2.0
"""A RAW file keeps its content when it gets blocks that were dropped, by deduplication or swapext.

The kernel compares two files in the page cache, where the one outside the rules still is what was written.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cases import case
from helpers.filesystems import whole_check
from helpers.guest import Failed, david, device_stats, loop_disk, mapped, mount, remove, run, swap_table
from helpers.guest import unmount
from helpers.planted import must_fail, planted
from helpers.poolbox import pool_device, pool_disk
from helpers.raw import BLOCK, DIRECT, must_read, opened, write
from helpers.units import GIB, KIB, MIB
from helpers.victim import drop_caches, linear, make, sync, wait_until

SIZE = MIB
START = 64 * KIB
CONTENT = random.Random(7).randbytes(SIZE)
TOP = "/run/twins"
NAME = "twins"


@dataclass
class World:
    fs: str
    disk: str
    backing: str

    def path(self, name: str) -> Path:
        return Path(f"{TOP}/{name}")

    def put(self, name: str, content: bytes = CONTENT) -> None:
        self.path(name).write_bytes(content)
        sync(TOP)

    def close(self) -> None:
        unmount(TOP, self.fs)
        remove(NAME)

    def open(self) -> None:
        david("create", NAME, "--size", "4G", "--backing", self.backing)
        mount(self.disk, TOP, self.fs)

    def must_be_exact(self, name: str, content: bytes = CONTENT) -> None:
        drop_caches()
        found = self.path(name).read_bytes()
        if found != content:
            places = range(0, len(content), 4096)
            wrong = sum(found[at : at + 4096] != content[at : at + 4096] for at in places)
            raise Failed(f"{name}: {wrong} of {len(places)} blocks have other content")


@contextmanager
def world(fs: str, *options: str) -> Iterator[World]:
    with loop_disk(900 * MIB) as backing:
        here = World(fs, f"/dev/mapper/{NAME}", backing)
        Path(TOP).mkdir(exist_ok=True)
        david("create", NAME, "--size", "4G", "--backing", backing, *options)
        make(fs, here.disk)
        mount(here.disk, TOP, fs)
        for name in ("raw", "no"):
            here.path(name).mkdir()
        david("raw", "add", NAME, f"{TOP}/raw")
        try:
            yield here
        finally:
            here.close()


def dedupe(here: World, source: str, target: str, size: int = SIZE) -> None:
    said = run("xfs_io", "-c", f"dedupe {here.path(source)} 0 0 {size}", str(here.path(target)))
    assert f"deduped {size}/{size}" in said, said


def checked(here: World) -> None:
    """The checksums of all data are right, too."""
    unmount(TOP, here.fs)
    try:
        run(*whole_check(here.fs), here.disk)
    finally:
        mount(here.disk, TOP, here.fs)


def deduplicated(here: World, order: tuple[str, ...]) -> None:
    for name in order:
        here.put(name)
    dedupe(here, "no/a", "raw/b")
    here.must_be_exact("raw/b")
    checked(here)


def reopened(here: World) -> None:
    here.put("raw/b")
    here.close()
    here.open()
    here.put("no/a")
    dedupe(here, "no/a", "raw/b")
    here.must_be_exact("raw/b")
    here.put("no/c")
    drop_caches()
    here.put("raw/d")
    dedupe(here, "no/a", "raw/d")
    here.must_be_exact("raw/d")
    checked(here)


def with_a_table_in_between(here: World) -> None:
    here.put("no/a")
    swap_table(NAME, run("dmsetup", "table", NAME).strip())
    here.put("raw/b")
    swap_table(NAME, run("dmsetup", "table", NAME).strip())
    dedupe(here, "no/a", "raw/b")
    here.must_be_exact("raw/b")


def written_over(here: World) -> None:
    """What was dropped is something else by the time its twin is stored: its checksum is of that."""
    other = random.Random(8).randbytes(SIZE)
    for _ in range(5):
        here.put("no/a")
        here.path("raw/b").write_bytes(CONTENT)
        here.path("no/a").write_bytes(other)
        sync(TOP)
        here.put("no/a", random.Random(9).randbytes(SIZE))
    here.must_be_exact("raw/b")
    checked(here)


def many_copies(here: World) -> None:
    """A file of the same 64 KiB, over and over."""
    content = CONTENT[: 64 * KIB] * 7
    here.put("no/a", content)
    here.put("raw/b", content)
    dedupe(here, "no/a", "raw/b", len(content))
    here.must_be_exact("raw/b", content)
    checked(here)


def of_a_block_that_was_something_else(here: World) -> None:
    """The block outside was the first RAW file's equal once, and is the second one's now."""
    other = random.Random(8).randbytes(SIZE)
    here.put("no/a")
    with open(here.path("no/a"), "r+b") as file:
        file.write(other)
    sync(TOP)
    here.put("raw/b")
    here.put("raw/c", other)
    dedupe(here, "no/a", "raw/c")
    here.must_be_exact("raw/c", other)
    here.must_be_exact("raw/b")
    checked(here)


def written_past_its_pages(here: World) -> None:
    """While the disk is open elsewhere, nobody says whose direct I/O is."""
    here.put("raw/b", random.Random(9).randbytes(SIZE))
    here.must_be_exact("raw/b", random.Random(9).randbytes(SIZE))
    with opened(here.disk, os.O_RDONLY), opened(str(here.path("raw/b")), DIRECT) as fd:
        write(fd, CONTENT, 0)
    here.must_be_exact("raw/b")
    here.put("no/a")
    dedupe(here, "no/a", "raw/b")
    here.must_be_exact("raw/b")


def exchanged(here: World) -> None:
    here.put("raw/b")
    here.put("no/donor")
    run("xfs_io", "-c", f"swapext {here.path('no/donor')}", str(here.path("raw/b")))
    here.must_be_exact("raw/b")
    checked(here)


def cases_of(what: str, life: Callable[[World], None], kinds: tuple[str, ...] = ("btrfs", "xfs")) -> None:
    for fs in kinds:

        def one(fs: str = fs) -> None:
            with world(fs) as here:
                life(here)

        one.__name__ = f"on_{fs}_a_raw_file_{what}"
        one.__module__ = __name__
        globals()[one.__name__] = case(one)


cases_of("deduplicated_with_what_was_dropped_before_is_exact", partial(deduplicated, order=("no/a", "raw/b")))
cases_of("deduplicated_with_what_is_written_later_is_exact", partial(deduplicated, order=("raw/b", "no/a")))
cases_of("deduplicated_after_reopening_is_exact", reopened)
cases_of("deduplicated_across_tables_is_exact", with_a_table_in_between)
cases_of("and_its_twin_that_is_written_over_are_right", written_over)
cases_of("deduplicated_with_many_copies_is_exact", many_copies)
cases_of("deduplicated_with_a_block_that_was_another_is_exact", of_a_block_that_was_something_else)
cases_of("deduplicated_after_direct_writes_is_exact", written_past_its_pages)
cases_of("exchanged_with_its_equal_is_exact", exchanged, ("xfs",))


@case
def a_raw_file_deduplicated_with_exact_data_outlasts_it() -> None:
    with world("xfs", "--option", "exact=16") as here:
        here.put("no/a")
        here.put("raw/b")
        dedupe(here, "no/a", "raw/b")
        here.put("no/other", os.urandom(64 * MIB))
        here.must_be_exact("raw/b")


def places_of(path: Path) -> list[int]:
    """Where the blocks of a file are, on its device."""
    found = []
    for line in run("xfs_io", "-r", "-c", "fiemap", str(path)).splitlines()[1:]:
        if match := re.search(r"\]: (\d+)\.\.(\d+)", line):
            found += range(int(match[1]) << 9, int(match[2]) + 1 << 9, BLOCK)
    return found


@contextmanager
def behind_another_target(fs: str, pool: str) -> Iterator[World]:
    """Where the fake disk is the second target of its device."""
    with loop_disk(MIB) as first:
        with pool_disk(NAME, pool, "--classify", "auto", size=4 * GIB):
            fake = run("dmsetup", "table", NAME).split(maxsplit=2)
        table = f"{linear(START, first, 0)}\n{START >> 9} {fake[1]} {fake[2]}"
        with mapped(NAME, table):
            here = World(fs, f"/dev/mapper/{NAME}", "")
            Path(TOP).mkdir(exist_ok=True)
            make(fs, here.disk)
            mount(here.disk, TOP, fs)
            here.path("no").mkdir()
            run("dmsetup", "message", NAME, str(START >> 9), "raw", "add", "suffix:kept")
            try:
                yield here
            finally:
                unmount(TOP, fs)


@case
def raw_content_is_stored_where_it_was_dropped_though_another_disk_seems_to_have_it() -> None:
    """In a target that does not begin at sector 0 of its device, and a pool with --share: the other disk had
    that content at the same places, and has another one now. So the request is served twice.
    """
    with pool_device(512 * MIB, share=True) as pool, behind_another_target("xfs", pool) as here:
        here.put("no/a")
        places = [at - START for at in places_of(here.path("no/a"))]
        assert len(places) == SIZE // BLOCK and min(places) > 0, places[:3]
        with pool_disk("other", pool, size=4 * GIB) as other, opened(other) as fd:
            for number, at in enumerate(places):
                content = CONTENT[number * BLOCK : (number + 1) * BLOCK]
                write(fd, content, at)
                write(fd, bytes(512), at)
                must_read(fd, bytes(512) + content[512:], at)  # others may have it from now on
            before = int(device_stats(NAME)["store_used"])  # type: ignore[call-overload]
            here.put("b.kept")
            wait_until(partial(stored_twice, before), "what was dropped to be stored")
            here.must_be_exact("no/a")
            here.must_be_exact("b.kept")
            for at in places:
                must_read(fd, bytes(512), at)


def stored_twice(before: int) -> bool:
    after = int(device_stats(NAME)["store_used"])  # type: ignore[call-overload]
    return after - before >= 2 * SIZE // BLOCK


@case
def on_ext4_which_shares_no_blocks_the_equal_of_a_raw_file_is_dropped() -> None:
    with world("ext4") as here:
        here.put("raw/b")
        before = device_stats(NAME)["written"]["squashed"]  # type: ignore[index]
        here.put("no/a")
        after = device_stats(NAME)["written"]["squashed"]  # type: ignore[index]
        assert after - before >= SIZE // 4096, f"{after - before} blocks were dropped"


@case
def on_xfs_other_data_is_dropped_beside_raw_files() -> None:
    with world("xfs") as here:
        here.put("raw/b")
        size = 64 * MIB
        before = device_stats(NAME)["written"]["squashed"]  # type: ignore[index]
        with open(here.path("no/large"), "wb") as file:
            file.write(os.urandom(size))
        sync(TOP)
        after = device_stats(NAME)["written"]["squashed"]  # type: ignore[index]
        share = (after - before) / (size // 4096)
        print(f"twins: {share:.2%} of other data was dropped", flush=True)
        assert share > 0.99, f"{share:.2%}"


@case(planted=True)
def planted_twins_that_are_dropped_are_found() -> None:
    for order in (("no/a", "raw/b"), ("raw/b", "no/a")):
        with world("xfs") as here, planted("twins"), must_fail():
            deduplicated(here, order)
