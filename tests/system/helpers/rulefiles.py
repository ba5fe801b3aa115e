# SPDX-License-Identifier: GPL-2.0
"""Disks whose files are RAW by rule, and whether such files are exact."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from helpers import raw
from helpers.filesystems import TOOLS
from helpers.guest import SCRATCH, david, device_stats, fake_disk, mounted, ram_disk, run
from helpers.units import GIB, KIB, MIB


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
