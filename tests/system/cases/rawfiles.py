# SPDX-License-Identifier: GPL-2.0
"""RAW: what a rule names reads back exactly as it was written, by file, directory, suffix and place."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import raw
from filesystems import TOOLS
from raw import BLOCK, SECTOR
from units import GIB, KIB, MIB, TIB

from cases import case

from guest import SCRATCH, Failed, david, device_stats, dm, fake_disk, loop_disk, mounted, ram_disk, run

FIO_VERIFY = ("--rw=write", "--bs=64k", "--size=4m", "--verify=crc32c", "--do_verify=1", "--invalidate=1")


def make(fs: str, disk: str) -> None:
    """With a small log: the backing device is small, too."""
    run(*TOOLS[fs].mkfs, *{"ext4": ("-J", "size=8"), "xfs": ("-l", "size=64m")}.get(fs, ()), disk)


@contextmanager
def disk_with(fs: str, *options: str) -> Iterator[str]:
    with ram_disk(128 * MIB) as dev, fake_disk("raw", 16 * GIB, dev, *options) as disk:
        make(fs, disk)
        yield disk


def drop_caches(what: int = 3) -> None:
    Path("/proc/sys/vm/drop_caches").write_text(str(what))


def mount(disk: str, fs: str) -> object:
    return mounted(disk, fs)


def put(path: str, seed: int, size: int = 300 * KIB + 77) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(raw.patterned(seed, size))


def is_exact(path: str, seed: int, size: int = 300 * KIB + 77) -> bool:
    return Path(path).read_bytes() == raw.patterned(seed, size)


def reload(name: str) -> None:
    run("dmsetup", "load", name, "--table", run("dmsetup", "table", name).strip())
    run("dmsetup", "resume", name)


def chosen_files_are_exact(fs: str) -> None:
    with disk_with(fs) as disk:
        with mount(disk, fs) as top:
            os.mkdir(f"{top}/dir")
            Path(f"{top}/one").touch()
            david("raw", "add", "raw", f"{top}/one", f"{top}/dir", "*.db")
            reload("raw")
            put(f"{top}/one", 1)
            put(f"{top}/dir/a", 2)
            put(f"{top}/dir/made/later/b", 3)
            put(f"{top}/x.db", 4)
            put(f"{top}/other", 5)
            put(f"{top}/dirt/c", 6)
            put(f"{top}/moved", 7)
            run("sync", "-f", top)
            os.rename(f"{top}/moved", f"{top}/dir/moved")
            os.rename(f"{top}/dir/a", f"{top}/a")
        with mount(disk, fs) as top:
            for name, seed in (("one", 1), ("a", 2), ("dir/made/later/b", 3), ("x.db", 4)):
                assert is_exact(f"{top}/{name}", seed), f"{name} is not what was written"
            # Or this would be a test of a disk that keeps everything.
            for name, seed in (("other", 5), ("dirt/c", 6), ("dir/moved", 7)):
                assert not is_exact(f"{top}/{name}", seed), f"{name} was to be dropped"
            figures = device_stats("raw")
            assert figures["evidence"]["raw"] >= 4 * 75, figures["evidence"]
            # Moved in: exact from the next write on. Moved out: dropped from then on.
            put(f"{top}/dir/moved", 8)
            put(f"{top}/a", 9)
            david("raw", "remove", "raw", f"{top}/one")
            put(f"{top}/one", 10)
            # Unmounting forgets names first, and a btrfs file without one is kept.
            run("sync", "-f", top)
        with mount(disk, fs) as top:
            assert is_exact(f"{top}/dir/moved", 8)
            assert not is_exact(f"{top}/a", 9)
            assert not is_exact(f"{top}/one", 10)
            assert is_exact(f"{top}/dir/made/later/b", 3)


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


def work_with(top: str) -> None:
    """Ordinary programs on a tree that is dropped, and on one that is kept."""
    env = {"HOME": str(SCRATCH), "GIT_CONFIG_NOSYSTEM": "1"}
    source = SCRATCH / "repository"
    if not source.exists():
        for number in range(20):
            put(f"{source}/dir-{number % 3}/file-{number}", number, number * 997)
        run("git", "init", "-q", str(source), env=env)
        run("git", "-C", str(source), "add", ".", env=env)
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        run("git", "-C", str(source), *who, "commit", "-q", "-m", "all", env=env)
    os.mkdir(f"{top}/kept")
    Path(f"{top}/one.sqlite").touch()
    david("raw", "add", "raw", f"{top}/kept", f"{top}/one.sqlite")
    run("git", "clone", "-q", "--no-local", str(source), f"{top}/kept/clone", env=env)
    run("cp", "-r", str(source), f"{top}/dropped")
    for path in (f"{top}/one.sqlite", f"{top}/kept/two.sqlite"):
        with closing(sqlite3.connect(path)) as database:
            database.execute("create table t(n integer primary key, x blob)")
            for start in range(0, 400, 100):
                with database:
                    rows = ((n, os.urandom(900)) for n in range(start, start + 100))
                    database.executemany("insert into t values(?, ?)", rows)
            with database:
                database.execute("delete from t where n % 3 = 0")


def look_at(top: str) -> None:
    env = {"HOME": str(SCRATCH), "GIT_CONFIG_NOSYSTEM": "1"}
    clone = f"{top}/kept/clone"
    run("git", "-C", clone, "fsck", "--full", "--strict", env=env)
    assert not run("git", "-C", clone, "status", "--porcelain", env=env)
    run("diff", "-r", "--exclude=.git", str(SCRATCH / "repository"), clone)
    for path in (f"{top}/one.sqlite", f"{top}/kept/two.sqlite"):
        with closing(sqlite3.connect(path)) as database:
            assert database.execute("pragma integrity_check").fetchone() == ("ok",), path
            assert database.execute("select count(*) from t").fetchone() == (266,), path
    # What is dropped is other data, but files are whole, and the same each time.
    dropped = f"{top}/dropped"
    run("tar", "cf", f"{top}/kept/tree.tar", "-C", dropped, ".")
    run("tar", "df", f"{top}/kept/tree.tar", "-C", dropped)
    run("grep", "-r", "no such thing", dropped, ok=(1,))
    run("cp", "-r", dropped, f"{top}/kept/copy")
    drop_caches()
    run("diff", "-r", dropped, f"{top}/kept/copy")
    rsync = ("rsync", "-r", "--checksum", "--itemize-changes", f"{dropped}/")
    run(*rsync, f"{top}/kept/synced")
    drop_caches()
    again = run(*rsync, f"{top}/kept/synced")
    assert not again, f"the second rsync finds changes: {again}"


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
