# SPDX-License-Identifier: GPL-2.0
"""RAW: what a rule names reads back exactly as it was written, by file, directory, suffix and place."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from cases import case
from helpers import raw
from helpers.guest import Failed, david, device_stats, dm, fake_disk, loop_disk, mounted, run
from helpers.raw import BLOCK, SECTOR
from helpers.rulefiles import (
    chosen_files_are_exact,
    disk_with,
    drop_caches,
    is_exact,
    look_at,
    put,
    work_with,
)
from helpers.units import GIB, MIB, TIB

FIO_VERIFY = ("--rw=write", "--bs=64k", "--size=4m", "--verify=crc32c", "--do_verify=1", "--invalidate=1")


@case
def what_is_chosen_on_ext4_reads_back_exactly() -> None:
    chosen_files_are_exact("ext4")


@case
def what_is_chosen_on_btrfs_reads_back_exactly() -> None:
    chosen_files_are_exact("btrfs")


@case
def subvolumes_have_numbers_of_their_own() -> None:
    with disk_with("btrfs") as disk, mounted(disk, "btrfs") as top:
        for name in ("one", "two"):
            run("btrfs", "subvolume", "create", f"{top}/{name}")
            os.mkdir(f"{top}/{name}/dir")
        numbers = {os.stat(f"{top}/{name}/dir").st_ino for name in ("one", "two")}
        assert len(numbers) == 1, f"{numbers}: the two were to have the same number"
        said = david("raw", "add", "raw", f"{top}/one/dir")
        assert re.match(r"dir:\d+/\d+: kept from now on", said), said
        run("btrfs", "subvolume", "create", f"{top}/one/dir/inner")
        files = {"one/dir/a": True, "one/dir/inner/b": True, "two/dir/a": False, "one/c": False}
        for seed, name in enumerate(files):
            put(f"{top}/{name}", seed)
        run("sync", "-f", top)
        drop_caches()
        for seed, (name, kept) in enumerate(files.items()):
            assert is_exact(f"{top}/{name}", seed) == kept, f"{name}: {'not ' * kept}exact"


@case
def what_cannot_be_known_is_kept() -> None:
    """Names that left the cache before the data was written, and names that were never in it."""
    with disk_with("ext4") as disk:
        with mounted(disk, "ext4") as top:
            os.mkdir(f"{top}/dir")
            put(f"{top}/outside", 0, 4096)
            os.link(f"{top}/outside", f"{top}/dir/inside")
        with mounted(disk, "ext4", "nodelalloc") as top:
            david("raw", "add", "raw", f"{top}/dir")
            put(f"{top}/dir/a", 1)
            drop_caches(2)
            # By its other name; the one that counts was not looked at since the mount.
            put(f"{top}/outside", 2)
        with mounted(disk, "ext4") as top:
            assert is_exact(f"{top}/dir/a", 1)
            assert is_exact(f"{top}/outside", 2)


@case
def direct_writes_are_kept_while_there_are_rules_for_files() -> None:
    data = raw.patterned(1, MIB)
    with disk_with("ext4") as disk, mounted(disk, "ext4") as top:
        Path(f"{top}/one").touch()
        for number, rule in enumerate(("sectors:0-7", f"{top}/one")):
            david("raw", "add", "raw", rule)
            with raw.opened(f"{top}/direct-{number}", os.O_CREAT | raw.DIRECT) as fd:
                raw.write(fd, data, 0)
                assert (raw.read(fd, MIB, 0) == data) == bool(number), f"with {rule}"


@case
def places_are_kept_by_sector() -> None:
    """In any mode that would drop them; whole blocks, parts of blocks, and blocks touched by a rule."""
    data = raw.patterned(1, MIB)
    options = ("--classify", "data")
    with loop_disk(16 * MIB) as dev, fake_disk("raw", TIB, dev, *options) as disk, raw.opened(disk) as fd:
        start = GIB // SECTOR
        david("raw", "add", "raw", f"sectors:{start + 9}-{start + 99}")
        raw.write(fd, data, GIB)
        # Blocks 1 to 12 have a sector of the rule.
        raw.must_read(fd, data[BLOCK : 13 * BLOCK], GIB + BLOCK)
        assert raw.read(fd, BLOCK, GIB) != data[:BLOCK]
        assert raw.read(fd, BLOCK, GIB + 13 * BLOCK) != data[13 * BLOCK : 14 * BLOCK]
        assert device_stats("raw")["evidence"]["raw"] == 12
        raw.write(fd, data[:SECTOR], GIB + BLOCK + SECTOR)
        expected = data[BLOCK : BLOCK + SECTOR] + data[:SECTOR] + data[BLOCK + 2 * SECTOR : 2 * BLOCK]
        raw.must_read(fd, expected, GIB + BLOCK)
        raw.discard(fd, GIB, MIB)
        raw.write(fd, data[:SECTOR], GIB + 2 * BLOCK + SECTOR)
        raw.must_read(fd, bytes(SECTOR) + data[:SECTOR], GIB + 2 * BLOCK)


@case
def rules_are_told_and_survive_with_the_table() -> None:
    with disk_with("ext4") as disk, mounted(disk, "ext4") as top:
        put(f"{top}/old/file", 1)
        put(f"{top}/early.db", 1)
        os.mkdir(f"{top}/new")
        run("sync", "-f", top)
        said = david("raw", "add", "raw", f"{top}/old", f"{top}/new", ".db", "sectors:8-15")
        old = r"\(.*/old\)\ndir:.*written to already.*\n  .*/old/file\n"
        for text in (old, r"\(.*/new\)\nsuffix", "early.db"):
            assert re.search(text, said), f"{text} is not in {said}"
        assert re.search(r"sectors:8-15: if part of", said), said
        listed = david("raw", "list", "raw").splitlines()
        numbers = sorted(os.stat(f"{top}/{name}").st_ino for name in ("old", "new"))
        expected = [*(f"dir:{n}" for n in numbers), "sectors:8-15", "suffix:db"]
        assert [line.split()[0] for line in listed] == expected, listed
        table = run("dmsetup", "table", "raw").strip()
        assert f"raw={','.join(expected)}" in table, table
        # A table from before a rule takes none away.
        david("raw", "add", "raw", "ino:77")
        run("dmsetup", "load", "raw", "--table", table)
        run("dmsetup", "resume", "raw")
        assert "ino:77" in david("raw", "list", "raw")
        for words, says in (
            (("add", "raw", f"{top}/none"), "No such file"),
            (("add", "raw", "/etc"), "not on raw, but on"),
            (("add", "raw", "ino:x"), "'x': is not a decimal number"),
            (("remove", "raw", "ino:78"), "there is no such rule"),
            (("add", "raw", "suffix:a,b"), "no dot, slash, comma or space"),
            (("add", "none", "suffix:a"), "no such device"),
        ):
            try:
                david("raw", *words)
            except Failed as error:
                assert says in str(error), error
            else:
                raise Failed(f"raw {words} was taken")
        david("raw", "remove", "raw", f"{top}/old", f"{top}/new", ".db", "sectors:0-99", "ino:77")
        assert " raw=none " in run("dmsetup", "table", "raw")


@case
def programs_work_on_the_disk_and_find_their_data_where_it_is_kept() -> None:
    with disk_with("ext4") as disk:
        with mounted(disk, "ext4") as top:
            work_with(top)
        with mounted(disk, "ext4") as top:
            look_at(top)
        run("e2fsck", "-fn", disk)


@case
def fio_verifies_where_data_is_kept_and_not_elsewhere() -> None:
    with disk_with("ext4") as disk, mounted(disk, "ext4") as top:
        for name in ("kept", "dropped"):
            os.mkdir(f"{top}/{name}")
        david("raw", "add", "raw", f"{top}/kept")
        for name, good in (("kept", True), ("dropped", False)):
            done = subprocess.run(
                ["fio", "--name=verify", f"--directory={top}/{name}", *FIO_VERIFY],
                capture_output=True,
                env=dm.environment(),
            )
            assert (done.returncode == 0) == good, f"{name}: {done.returncode} {done.stderr.decode()[-500:]}"
            if not good:
                assert b"verify:" in done.stderr, done.stderr.decode()[-500:]
