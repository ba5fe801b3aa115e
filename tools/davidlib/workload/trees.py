# SPDX-License-Identifier: GPL-2.0
"""Trees of sources: unpacked, searched, walked, cloned. An operation is a file.

The tree is made up: log-normal sizes with a median of 4 KiB, ten files a directory, three levels. Programs
are Debian's own (tar, grep, find, du, git); a machine's files are not used, as the next machine's are
others.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tarfile
import time
from io import BytesIO
from typing import Any

from . import called, fileops
from .record import Record
from .several import WorkFailed, seeded

SCRATCH = "/tmp/david-bench-tree"
ONE_PROGRAM = "one program does all of it, so only the mean of its files is known"
WRITTEN = ("untar", "git-clone")  # their programs write a tree of known size
FIXED_DATE = "2020-01-01T00:00:00Z"
GIT = {
    **{f"GIT_AUTHOR_{what}": "bench@localhost" for what in ("NAME", "EMAIL")},
    **{f"GIT_COMMITTER_{what}": "bench@localhost" for what in ("NAME", "EMAIL")},
    **{"GIT_AUTHOR_DATE": FIXED_DATE, "GIT_COMMITTER_DATE": FIXED_DATE},
    **{"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"},
}


def names(params: dict[str, Any], seed: int) -> dict[str, int]:
    rng = seeded(seed, "tree")
    return {
        f"tree/{n // 100 % 10}/{n // 1000}-{n // 10 % 10}/source-{n}.c": min(_size(rng), 1 << 20)
        for n in range(params["files"])
    }


def _size(rng: random.Random) -> int:
    return max(1, round(rng.lognormvariate(8.3, 1.3)))


def _call(*words: str, ok: tuple[int, ...] = (0,), cwd: str = "/") -> None:
    called.note(words[0])
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": "/tmp", **GIT}
    done = subprocess.run(words, env=env, cwd=cwd, capture_output=True, text=True)
    if done.returncode not in ok:
        raise WorkFailed(f"{' '.join(words)}: exit status {done.returncode}: {done.stderr.strip()[-500:]}")


def _make_archive(params: dict[str, Any], seed: int) -> None:
    os.makedirs(SCRATCH, exist_ok=True)
    with tarfile.open(f"{SCRATCH}/tree.tar", "w") as archive:
        for name, size in names(params, seed).items():
            entry = tarfile.TarInfo(name)
            entry.size = size
            archive.addfile(entry, BytesIO(b"".join(fileops.pieces(size))))


def _make_repository(params: dict[str, Any], seed: int) -> None:
    os.makedirs(SCRATCH, exist_ok=True)
    fileops.fill(SCRATCH, names(params, seed))
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "tree")):
        _call("git", *words, cwd=SCRATCH)


def prepare(kind: str, top: str, params: dict[str, Any], seed: int) -> None:
    shutil.rmtree(SCRATCH, ignore_errors=True)
    if kind == "untar":
        _make_archive(params, seed)
    elif kind == "git-clone":
        _make_repository(params, seed)
    else:
        fileops.fill(top, names(params, seed))


def _words(kind: str, top: str) -> tuple[str, ...]:
    return {
        "untar": ("tar", "-C", top, "-xf", f"{SCRATCH}/tree.tar"),
        "git-clone": ("git", "clone", "-q", "--no-hardlinks", SCRATCH, f"{top}/clone"),
        "grep": ("grep", "-r", "no such text", f"{top}/tree"),
        "find": ("find", f"{top}/tree", "-type", "f", "-size", "+1000000k"),
        "du": ("du", "-s", f"{top}/tree"),
    }[kind]


def run(kind: str, top: str, params: dict[str, Any], seed: int) -> Record:
    record = Record()
    start = time.monotonic_ns()
    _call(*_words(kind, top), ok=(0, 1) if kind == "grep" else (0,))
    if kind in WRITTEN:
        os.sync()
        record.written = sum(names(params, seed).values())
    record.tell(kind, params["files"], time.monotonic_ns() - start)
    return record


def run_metadata(kind: str, top: str, params: dict[str, Any], seed: int) -> Record:
    """Empty files: made, looked at, renamed, deleted, in an order of their own each."""
    del kind
    record, rng = Record(), seeded(seed, "metadata")
    paths = [f"{top}/d{n // params['width']:04}/f{n:06}" for n in range(params["files"])]
    for directory in dict.fromkeys(map(os.path.dirname, paths)):
        with record.timed("mkdir"):
            os.mkdir(directory)
    for path in paths:
        fileops.create(record, path, 0)
    for path in rng.sample(paths, len(paths)):
        fileops.stat(record, path)
    for path in rng.sample(paths, len(paths)):
        with record.timed("rename"):
            os.rename(path, path + "-renamed")
    for path in rng.sample(paths, len(paths)):
        fileops.delete(record, path + "-renamed")
    with record.timed("sync"):
        os.sync()
    return record
