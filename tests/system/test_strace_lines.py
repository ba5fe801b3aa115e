# SPDX-License-Identifier: GPL-2.0
"""Lines of strace that are seldom, and options that change all of them."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from davidlib.trace import importing
from helpers import traced

NAMES = ["m:2,S", "a(b", "a)b", "a[b", "a{b", 'a"b', "a<b", "a>b", "a->", "a|b", "a\\b", "a = 3"]


def imported(text: str, tmp_path: Path) -> sqlite3.Connection:
    (tmp_path / "log").write_text(text)
    account = importing.import_lines("strace", tmp_path / "log", tmp_path / "t.db").account
    assert not account.left_out, account.left_out
    return sqlite3.connect(tmp_path / "t.db")


def strace(options: str, command: list[str], tmp_path: Path) -> Path:
    log, out = tmp_path / "log", tmp_path / f"{len(list(tmp_path.iterdir()))}.db"
    words = ["strace", *options.split(), "-o", str(log), *command]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, timeout=120)
    account = importing.import_lines("strace", log, out).account
    assert not account.left_out, account.left_out
    return out


@pytest.mark.skipif(not shutil.which("strace"), reason="no strace here")
def test_no_name_shifts_the_arguments_behind_it(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    for size, name in enumerate(NAMES, 1):
        (work / name).write_bytes(b"x" * size)
    script = 'for f in "$1"/*; do /bin/dd if=/etc/passwd of="$f" bs=4096 seek=2 conv=notrunc; done'
    script = f"exec 2>/dev/null; {script}"
    command = ["/bin/sh", "-c", script, "sh", str(work)]
    for options in ("-f -y", "-f -yy -Y"):
        with sqlite3.connect(strace(options, command, tmp_path)) as database:
            sql = "SELECT count(DISTINCT full_path) FROM call WHERE name = 'openat' AND full_path LIKE ?"
            assert database.execute(sql, (f"{work}/_%",)).fetchone() == (len(NAMES),)
            found = "SELECT a0, a2, result FROM call WHERE name = 'write' AND result > 0 AND offset = 8192"
            assert len(database.execute(found).fetchall()) == len(NAMES)


@pytest.mark.skipif(not shutil.which("strace"), reason="no strace here")
def test_options_that_add_lines_or_words_change_nothing(tmp_path: Path) -> None:
    command = ["/bin/sh", "-c", "/bin/cat /etc/passwd; (/bin/true); :"]
    plain = strace("-f", command, tmp_path)
    for options in ("-f -Y", "-f -k", "-f -C", "-f -q", "-f -i -n -T -tt -yy"):
        assert not traced.difference(plain, strace(options, command, tmp_path)), options


VFORKS = """\
1 chdir("/a") = 0
1 fork() = 2
2 chdir("/b") = 0
1 vfork( <unfinished ...>
2 vfork( <unfinished ...>
20 openat(AT_FDCWD, "x", O_RDONLY) = 3
10 openat(AT_FDCWD, "x", O_RDONLY) = 3
20 execve("/bin/true", ["true"], 0x1 /* 2 vars */ <unfinished ...>
2 <... vfork resumed>) = 20
20 <... execve resumed>) = 0
1 <... vfork resumed>) = 10
"""


def test_of_two_vforks_each_child_is_its_own_parents(tmp_path: Path) -> None:
    database = imported(VFORKS, tmp_path)
    sql = "SELECT p.pid, q.pid FROM process p JOIN process q ON q.id = p.parent ORDER BY 1"
    assert database.execute(sql).fetchall() == [(2, 1), (10, 1), (20, 2)]
    opened = "SELECT tid, full_path FROM call WHERE name = 'openat' ORDER BY tid"
    assert database.execute(opened).fetchall() == [(10, "/a/x"), (20, "/b/x")]


SELDOM = """\
1 [ Process PID=1 runs in 32 bit mode. ]
1 openat(AT_FDCWD, "/f", O_RDWR) = 3
1 _llseek(3, 4294967296, [4294967296], SEEK_SET) = 0
1 write(3, "x"..., 4096) = 4096
Process 2 attached
Process 1 suspended
1 clone(child_stack=0x1, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM) = 2
1 pause( <unfinished ...>
2 execve("/bin/true", ["true"], 0x1 /* 2 vars */ <unfinished ...>
1 <... pause resumed>) = ?
1 +++ superseded by execve in pid 2 +++
1 <... execve resumed>) = 0
1 +++ exited with 0 +++
"""


def test_seldom_lines_are_understood(tmp_path: Path) -> None:
    database = imported(SELDOM, tmp_path)
    sql = (
        "SELECT tid, name, result, offset, full_path FROM call WHERE name NOT IN ('openat', 'pause', 'clone')"
    )
    assert database.execute(sql).fetchall() == [
        (1, "lseek", 4294967296, 4294967296, None),
        (1, "write", 4096, 4294967296, None),
        (1, "execve", 0, None, "/bin/true"),
    ]
    assert database.execute("SELECT count(*) FROM thread WHERE end IS NULL").fetchone() == (0,)
