#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a lab: `david trace` by eBPF and by ptrace beside each other, on that lab's kernel."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from helpers import traced

TREE = Path(__file__).resolve().parents[2]
BUILD = TREE / "build"


SUBMISSIONS = "SELECT name, result, offset, full_path, full_path2 FROM submission ORDER BY start"


def trace(program: str, top: Path, *words: str | Path, tracee: str = "tracee") -> Path:
    """The tracee's life in top/work, traced and finished."""
    work, dtr = top / "work", top / f"{program}.{tracee}.dtr"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    record = [BUILD / program, "record", "--share-disk", *words, "--out", dtr, "--", top / tracee, work]
    subprocess.run(record, check=True)
    subprocess.run([BUILD / "david-trace", "finish", dtr, dtr.with_suffix(".db")], check=True)
    return dtr.with_suffix(".db")


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        for tracee in ("tracee", "uringwork"):
            source = TREE / f"tests/system/helpers/{tracee}.c"
            subprocess.run(["cc", "-O1", "-pthread", "-o", top / tracee, source], check=True)
        os.chdir(top)
        theirs, own = trace("david-trace", top), trace("david-trace-bpf", top, "--pages")
        database = sqlite3.connect(own)
        said = dict(database.execute("SELECT key, value FROM balance"))
        assert traced.difference(own, theirs) == "", traced.difference(own, theirs)
        assert traced.tree_of_trace(database, top / "work") == traced.tree_of_disk(top / "work")
        assert [said[key] for key in ("unknown", "lost", "bad-paths", "untraced")] == ["0"] * 4, said
        # The times of an open file's inode have moved in the kernel's structure, twice.
        assert not database.execute(
            "SELECT * FROM ofd WHERE opened IS NOT NULL AND file IS NOT NULL AND mtime NOT BETWEEN 1 AND 1e19"
        ).fetchall()
        touches, pages = database.execute("SELECT count(*), count(file) FROM fault").fetchone()
        assert touches == pages == int(said["mapped-pages"]) > 0
        theirs, own = (trace(name, top, tracee="uringwork") for name in ("david-trace", "david-trace-bpf"))
        submitted = sqlite3.connect(own).execute(SUBMISSIONS).fetchall()
        assert submitted == sqlite3.connect(theirs).execute(SUBMISSIONS).fetchall(), submitted
        assert len(submitted) == 16, submitted
    print(f"{platform.release()}: {said['calls']} calls and {touches} touches, by both tracers the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
