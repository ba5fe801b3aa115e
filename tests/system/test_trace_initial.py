# SPDX-License-Identifier: GPL-2.0
"""What was there before an imported trace: the own tracer saw the same run, and knows."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from davidlib import build
from davidlib.replay import programs
from davidlib.trace import importing, program
from helpers import traced

TREE = Path(__file__).resolve().parents[2]
DAVID = TREE / "tools/david"

# Programs that read what was there, each in a way of its own; {0} is the directory.
PROGRAMS = {
    "cat": ["cat", "{0}/large", "{0}/empty", "{0}/small"],
    "tar": ["tar", "-cf", "/dev/null", "-C", "{0}", "."],
    "tail": ["tail", "-c", "100", "{0}/large"],
    "append": ["dash", "-c", "/bin/cat {0}/small >> {0}/log; echo one >> {0}/log; /bin/cat {0}/log"],
    "python": [
        sys.executable,
        "-ISc",
        "import mmap; f = open('{0}/large', 'r+b'); f.seek(4096); f.read(10); f.write(b'x')\n"
        "mmap.mmap(f.fileno(), 0)[5]; f.seek(0, 2); g = open('{0}/log', 'a+'); g.write('y')",
    ],
    "find": ["find", "{0}", "-name", "small", "-size", "-10k", "-exec", "/usr/bin/wc", "-c", "{{}}", "+"],
}
OPTIONS = {"cat": "-f -ttt -T", "tar": "-f -v", "append": "-f -T -y", "python": "-f -s 4096"}  # else -f


def fill(work: Path) -> None:
    shutil.rmtree(work, ignore_errors=True)
    (work / "deep/deeper").mkdir(parents=True)
    (work / "large").write_bytes(bytes(3_000_001))
    (work / "empty").touch()
    (work / "small").write_bytes(b"small\n" * 700)
    (work / "log").write_bytes(b"l" * 5000)
    (work / "deep/deeper/small").write_bytes(b"s" * 100)
    (work / "deep/link").symlink_to("../small")


def sizes(database: sqlite3.Connection, work: Path) -> dict[str, tuple[int, bool]]:
    """Of regular files that were there, by their first path: size, and is it a guess?"""
    guessed = "SELECT text, first_size, guessed FROM file JOIN text ON text.id = name "
    return {
        path: (size or 0, bool(guess) or size is None)
        for path, size, guess in database.execute(
            guessed + "WHERE text LIKE ? || '/%' AND (mode IS NULL OR mode & 61440 = 32768)", (str(work),)
        )
    }


@pytest.mark.skipif(not shutil.which("strace"), reason="no strace here")
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_was_there_follows_from_straces_text(name: str, tmp_path: Path) -> None:
    if not shutil.which(PROGRAMS[name][0]):
        pytest.skip(f"no {name} here")
    work, own, log, other = (tmp_path / file for file in ("work", "own.db", "log", "strace.db"))
    command = [word.format(work) for word in PROGRAMS[name]]
    command[0] = shutil.which(command[0]) or command[0]
    fill(work)
    tracer = [build.ensure("david-trace"), "record", "--share-disk", "--out", tmp_path / "own.dtr", "--"]
    subprocess.run([*tracer, *command], check=True, stdout=subprocess.DEVNULL, timeout=120)
    assert program.finish(tmp_path / "own.dtr", own)
    fill(work)
    options = OPTIONS.get(name, "-f").split()
    subprocess.run(
        ["strace", *options, "-o", log, *command], check=True, stdout=subprocess.DEVNULL, timeout=120
    )
    assert importing.import_trace("strace", log, other) == 0
    assert not traced.difference(own, other)
    truth, found = (sizes(sqlite3.connect(path), work) for path in (own, other))
    assert truth and not any(guess for _, guess in truth.values())
    assert found.keys() == truth.keys()
    for path, (size, guess) in found.items():
        assert size <= truth[path][0] if guess else size == truth[path][0], path
    replayed(other, tmp_path)


def replayed(database: Path, tmp_path: Path) -> None:
    compiled, place = tmp_path / "t.wl", tmp_path / "place"
    programs.make(database, compiled, [])
    place.mkdir()
    programs.prepare(compiled, place, holes=False)
    run = programs.run(compiled, place, ["--share-disk", "--timing", "afap"])
    assert run["compared"] > 0 and run["same"] >= 0.999 * run["compared"], run["differences"]


REQUESTS = {
    "strace": '100 openat(AT_FDCWD, "/d/f", O_RDONLY) = 3\n100 pread64(3, "x"..., 4096, 8192) = 4096\n',
    "msr": "128166372010000000,d,0,Read,8192,4096,80000\n128166372010200000,d,0,Read,0,4096,80000\n",
    "fio": "fio version 2 iolog\n/d/f add\n/d/f open\n/d/f read 8192 4096\n/d/f read 0 4096\n/d/f close\n",
    "darshan": "# DXT, file_id: 7, file_name: /d/f\n X_POSIX 0 read 0 8192 4096 0.0029 0.0032\n",
    "nfsdump": "1.000003 30.0801 31.0320 U C3 8ccadb3d 6 read fh 0100a4 off 2000 count 1000 con = 1 len = 1\n"
    "1.000004 31.0320 30.0801 U R3 8ccadb3d 6 read OK ftype 1 mode 1a4 count 1000 eof 0 status=0 pl = 8\n",
}


@pytest.mark.parametrize("kind", REQUESTS)
def test_requests_find_what_they_read(kind: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(REQUESTS[kind])
    assert importing.import_trace(kind, log, tmp_path / "t.db") == 0
    replayed(tmp_path / "t.db", tmp_path)
    files = [path for path in (tmp_path / "place").rglob("*") if path.is_file()]
    assert [path.stat().st_size for path in files] == [12288]


STAT = "{st_dev=makedev(0x8, 0x1), st_ino=7, st_mode=S_IFREG|0600, st_nlink=1, st_size=12288, st_atime=1}"
SAID = {
    "descriptor": f'newfstatat(3, "", {STAT}, AT_EMPTY_PATH)',
    "no path": f"newfstatat(3, NULL, {STAT}, AT_EMPTY_PATH)",
    "abbreviated": "fstat(3, {st_mode=S_IFREG|0644, st_size=12288, ...})",
    "raw": "fstat(3, {st_mode=0100644, st_size=12288, ...})",
    "statx": 'statx(3, "", AT_EMPTY_PATH, STATX_BASIC_STATS, {stx_mask=STATX_BASIC_STATS, '
    "stx_attributes=0, stx_mode=S_IFREG|0644, stx_size=12288, ...})",
    "name": 'stat("/d/f", {st_mode=S_IFREG|0644, st_size=12288, ...})',
}


@pytest.mark.parametrize("form", SAID)
def test_each_form_of_stat_tells_the_size(form: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(f'1 openat(AT_FDCWD, "/d/f", O_RDONLY) = 3\n1 {SAID[form]} = 0\n')
    assert importing.import_trace("strace", log, tmp_path / "t.db") == 0
    assert sizes(sqlite3.connect(tmp_path / "t.db"), Path("/d")) == {"/d/f": (12288, False)}


DIRECTORIES = """\
1 openat(AT_FDCWD, "/a", O_RDONLY) = 3
1 getdents64(3, 0x1 /* 2 entries */, 32768) = 48
1 openat(AT_FDCWD, "/b", O_RDONLY) = 4
1 openat(4, "x", O_RDONLY) = 5
1 openat(AT_FDCWD, "/c", O_RDWR) = -1 EISDIR (Is a directory)
1 openat(AT_FDCWD, "/d", O_PATH) = 6
1 fchdir(6) = 0
1 mkdir("/e/x", 0755) = 0
1 readlink("/l", "a", 4096) = 1
1 access("/f", X_OK) = 0
"""


def test_directories_and_links_are_known_by_their_use(tmp_path: Path) -> None:
    log, place = tmp_path / "log", tmp_path / "place"
    log.write_text(DIRECTORIES)
    assert importing.import_trace("strace", log, tmp_path / "t.db") == 0
    replayed(tmp_path / "t.db", tmp_path)
    found = [path.name for path in place.iterdir() if path.is_dir() and not path.is_symlink()]
    assert sorted(found) == list("abcde")
    assert (place / "l").readlink() == Path("a")
    assert (place / "f").stat().st_mode & 0o111


def test_what_is_guessed_is_said(tmp_path: Path) -> None:
    log, figures = tmp_path / "log", tmp_path / "t.json"
    log.write_text(
        REQUESTS["strace"]
        + '100 access("/d/g", R_OK) = 0\n'
        + f"100 {SAID['name']} = 0\n".replace("/f", "/h")
    )
    assert importing.import_trace("strace", log, tmp_path / "t.db") == 0
    words = [DAVID, "compile", tmp_path / "t.db", "-o", tmp_path / "t.wl", "--json", figures]
    said = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True).stderr
    assert "the sizes of 2 of 3 files" in said and "the types of 1 names" in said
    counts = json.loads(figures.read_text())
    assert [counts[key] for key in ("tree", "tree-files", "guessed-sizes", "guessed-types")] == [4, 3, 2, 1]
