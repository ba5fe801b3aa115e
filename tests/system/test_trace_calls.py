# SPDX-License-Identifier: GPL-2.0
"""The tracer's table of system calls: Linux's whole list, and what exec closes. No lab, no rights."""

from __future__ import annotations

import errno
import os
import re
import sqlite3
import struct
import subprocess
from pathlib import Path

import pytest

from davidlib import build
from davidlib.trace import tracefile
from davidlib.util import CACHE
from helpers import compiledfile
from helpers.ordercases import DIR, EXCL, HERE, RW, Trace, at

TREE = Path(__file__).resolve().parents[2]
DAVID = TREE / "tools/david"
KERNELS = CACHE / "kernels"
NEWEST = sorted(KERNELS.glob("*/arch/x86/include/generated/uapi/asm")) + sorted(
    KERNELS.glob("headers-*/usr/src/linux-headers-*/arch/x86/include/generated/uapi/asm")
)


def table(*words: str) -> dict[int, list[str]]:
    """By number: name, and what else david-trace says of it."""
    said = subprocess.run(
        [build.ensure("david-trace"), "calls", *words], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split() for line in said.splitlines()]
    return {int(row[0]): row[1:] for row in rows}


def linux(arch: str) -> dict[int, str]:
    """The committed copy of the kernel's list."""
    lines = (TREE / f"tools/calls/linux-{arch}.txt").read_text().splitlines()[1:]
    return {int(nr): name for nr, name in map(str.split, lines)}


@pytest.mark.parametrize(("arch", "words"), [("x86-64", ()), ("i386", ("i386",))])
def test_the_table_has_every_call_of_linux(arch: str, words: tuple[str, ...]) -> None:
    ours = {nr: row[0] for nr, row in table(*words).items()}
    assert linux(arch) and {nr: ours.get(nr) for nr in linux(arch)} == linux(arch)
    # What it has more than the newest Linux is not there under another number.
    assert len(set(ours.values())) == len(ours)


@pytest.mark.parametrize(("arch", "header"), [("x86-64", "unistd_64.h"), ("i386", "unistd_32.h")])
def test_no_kernel_that_is_here_has_a_call_that_is_not_in_the_copy(arch: str, header: str) -> None:
    if not NEWEST:
        pytest.skip("no kernel's headers are here")
    for directory in NEWEST:
        found = re.findall(r"^#define __NR_(\w+) (\d+)$", (directory / header).read_text(), re.MULTILINE)
        theirs = {int(nr): name for name, nr in found if name != "syscalls"}
        assert theirs and set(theirs.items()) <= set(linux(arch).items()), directory


def test_a_call_that_makes_a_descriptor_says_what_exec_does_to_it() -> None:
    """And no other does. Bits of flags stand where the call has a number or flags."""
    calls = table()
    makes = {"OPEN", "CREAT", "OPENAT2", "SOCKET", "PAIR", "PAIR4", "DUP", "DUP2", "FCNTL", "RECVMMSG"}
    makes |= {"CLONE", "CLONE3"}
    for name, _, letters, does, fds, _ in calls.values():
        assert (fds != "none") == (does in makes or name == "recvmsg"), name
        if fds.startswith("closed-if"):
            assert letters[int(fds.split(":")[1])] in "oxiu", name


def test_a_call_that_is_recorded_with_its_arguments_has_no_more_than_six() -> None:
    for name, _, letters, *_ in table().values():
        assert letters == "-" or len(letters) <= 6, name


SMALL = """\
static long call(long nr, long a, long b, long c)
{
	long result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

void _start(void)
{
	long fd = call(5, (long)"made", 0101, 0644);

	call(4, fd, (long)"hello", 5);
	call(17, 1, 2, 3);
	call(70, 0xffff, 0xffff, 0);
	call(6, fd, 0, 0);
	call(1, 0, 0, 0);
}
"""


def test_calls_of_a_32_bit_program_are_those_that_they_are_like(tmp_path: Path) -> None:
    """Not those of x86-64 with the same numbers. What is like none, as break, is counted by name."""
    source, program, out = tmp_path / "small.c", tmp_path / "small", tmp_path / "t.db"
    source.write_text(SMALL)
    built = subprocess.run(["cc", "-m32", "-nostdlib", "-static", "-o", program, source], check=False)
    if built.returncode or subprocess.run([program], cwd=tmp_path, check=False).returncode:
        pytest.skip("no 32-bit programs here")
    words = [DAVID, "trace", "record", "-o", out, "--share-disk", "--", program]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2 and "1 foreign" in done.stderr
    database = sqlite3.connect(out)
    counted = dict(database.execute("SELECT key, value FROM balance WHERE key LIKE 'foreign.%'"))
    assert counted == {"foreign.break": "1"}
    rows = database.execute("SELECT name, result, ofd > 0 FROM call WHERE name != 'execve'").fetchall()
    assert rows == [
        *(("open", 3, 1), ("write", 5, 1), ("break", -38, None), ("setreuid", 0, None), ("close", 0, 1)),
        ("exit", None, None),
    ]
    assert database.execute("SELECT DISTINCT uid FROM process").fetchall() == [(os.getuid(),)]
    done_by = "SELECT s.name FROM event JOIN syscall s USING (nr) WHERE does IS NOT NULL"
    done = [name for (name,) in database.execute(done_by)]
    assert done == ["execve", "open", "write", "setreuid", "close", "exit"]


ENDLESS = """\
#include <sys/socket.h>
int main(void)
{
	struct { struct cmsghdr head; long more[2]; } control = { { -1, SOL_SOCKET, SCM_RIGHTS } };
	struct iovec part = { &control, 1 };
	struct msghdr said = { 0, 0, &part, 1, &control, sizeof(control), 0 };
	int pair[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || sendmsg(pair[0], &said, 0) != -1;
}
"""


@pytest.mark.parametrize("bits", ["-m64", "-m32"])
def test_a_header_of_a_message_that_is_too_long_ends_it(bits: str, tmp_path: Path) -> None:
    """The kernel refuses it. Its length with what it is rounded up to is 0."""
    source, program, out = tmp_path / "endless.c", tmp_path / "endless", tmp_path / "t.dtr"
    source.write_text(ENDLESS)
    if subprocess.run(["cc", bits, "-o", program, source], check=False).returncode:
        pytest.skip("no programs of that kind here")
    words = [TREE / "build/david-trace", "record", "--out", out, "--share-disk", "--", program]
    assert subprocess.run(words, timeout=60, check=False).returncode == 0


@pytest.fixture(scope="module")
def descriptors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("descriptors") / "descriptors"
    source = TREE / "tests/system/helpers/descriptors.c"
    subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-o", out, source, "-lrt"], check=True)
    return out


def test_exec_closes_what_the_kernel_closes(descriptors: Path, tmp_path: Path) -> None:
    """Each number is closed once then: the trace has a descriptor there where the kernel had one."""
    words = [DAVID, "trace", "record", "-o", tmp_path / "t.db", "--share-disk", "--", descriptors]
    subprocess.run(words, cwd=tmp_path, check=True, timeout=120, capture_output=True)
    database = sqlite3.connect(tmp_path / "t.db")
    (second,) = database.execute("SELECT max(id) FROM call WHERE name = 'execve' AND result = 0").fetchone()
    rows = database.execute(
        "SELECT a0, result, ofd FROM call WHERE name = 'close' AND id > ?", (second,)
    ).fetchall()
    closes = rows[-253:]  # those of the dynamic linker are before
    assert [fd for fd, _, _ in closes] == list(range(3, 256))
    there = [fd for fd, result, _ in closes if not result]
    assert len(there) > 20
    assert there == [fd for fd, _, ofd in closes if ofd]


def test_what_a_call_found_as_it_began_is_older_than_what_others_did_meanwhile(tmp_path: Path) -> None:
    """A close and two removals find the file as it was before what ends while they are under way."""
    trace = Trace()
    trace.thread(2)
    trace.open(at(1, 1, 2), 3, "f", EXCL | os.O_APPEND | RW, ino=7)
    trace.io(at(1, 3, 4), "write", 3, 10)
    trace.io(at(1, 5, 7), "write", 3, 5)
    trace.call(at(2, 6, 8), "close", 0, 3, ino=7, size=10)
    trace.open(at(1, 10, 11), 3, "g", EXCL, ino=8)
    trace.name(at(1, 12, 13), "link", 0, "g", "h", ino=8, links=2)
    trace.name(at(1, 14, 16), "unlink", 0, "g", ino=8, links=2)
    trace.name(at(2, 15, 17), "unlink", 0, "h", ino=8, links=2)
    trace.finish(tmp_path / "t.db")
    database = sqlite3.connect(tmp_path / "t.db")
    files = database.execute("SELECT ino, size, links, removed FROM file WHERE ino ORDER BY ino").fetchall()
    assert files == [(7, 15, 1, 0), (8, 0, 0, 1)]


RACES = {
    # A directory of which nobody knows whether it was there is made and removed at the same time.
    "gone": (-2, ["mkdir", "rmdir", "stat"]),
    "there": (0, ["rmdir", "mkdir", "stat"]),
    "nobody": (None, ["mkdir", "rmdir"]),
}


@pytest.mark.parametrize("case", RACES)
def test_of_two_orders_that_may_be_what_is_there_afterwards_decides(case: str, tmp_path: Path) -> None:
    later, order = RACES[case]
    trace = Trace()
    trace.thread(2)
    trace.name(at(1, 2, 3), "mkdir", 0, "d", ino=7, mode=DIR)
    trace.name(at(2, 1, 4), "rmdir", 0, "d", ino=7, mode=DIR)
    if later is not None:
        trace.name(at(1, 5, 6), "stat", later, "d", ino=8 if not later else 0, mode=DIR)
    trace.finish(tmp_path / "t.db")
    found = sqlite3.connect(tmp_path / "t.db").execute("SELECT name FROM call ORDER BY id").fetchall()
    assert [name for (name,) in found] == order


# What is done by two threads at a time, by name: thread, from, to, call, result, names; and the order.
FULL = -errno.ENOTEMPTY
KEPT: dict[str, tuple[list[tuple], list[tuple[str, int]]]] = {
    "what was there goes afterwards": (
        [(1, 2, 3, "unlink", 0, "d/x"), (2, 1, 4, "rmdir", FULL, "d"), (1, 5, 6, "rmdir", 0, "d")],
        [("rmdir", FULL), ("unlink", 0), ("rmdir", 0)],
    ),
    "what comes was there before": (
        [(1, 2, 4, "mkdir", 0, "d/x"), (2, 1, 3, "rmdir", FULL, "d")],
        [("mkdir", 0), ("rmdir", FULL)],
    ),
    "a rename": (
        [(1, 2, 3, "unlink", 0, "d/x"), (2, 1, 4, "rename", FULL, "e", "d"), (1, 5, 6, "rmdir", 0, "d")],
        [("rename", FULL), ("unlink", 0), ("rmdir", 0)],
    ),
    "another name was there longer": (
        [
            *[(1, 2, 3, "unlink", 0, "d/x"), (2, 1, 4, "rmdir", FULL, "d")],
            *[(3, 1, 5, "unlink", 0, "d/y"), (1, 6, 7, "rmdir", 0, "d")],
        ],
        [("unlink", 0), ("rmdir", FULL), ("unlink", 0), ("rmdir", 0)],
    ),
    "another directory's": (
        [(1, 2, 3, "unlink", 0, "e/x"), (2, 1, 4, "rmdir", FULL, "d"), (1, 5, 6, "rmdir", 0, "e")],
        [("unlink", 0), ("rmdir", FULL), ("rmdir", 0)],
    ),
}


def in_order(done: list[tuple], tmp_path: Path) -> list[tuple[str, int]]:
    """The calls as they are numbered."""
    trace = Trace()
    for thread in sorted({thread for thread, *_ in done} - {1}):
        trace.thread(thread)
    for thread, start, end, name, result, *paths in sorted(done, key=lambda one: one[2]):
        trace.call(at(thread, start, end), name, result, paths=tuple(paths))
    trace.finish(tmp_path / "t.db")
    with sqlite3.connect(tmp_path / "t.db") as database:
        return database.execute("SELECT name, result FROM call ORDER BY id").fetchall()


@pytest.mark.parametrize("case", KEPT)
def test_what_has_kept_a_directory_from_being_removed_was_there(case: str, tmp_path: Path) -> None:
    done, order = KEPT[case]
    assert in_order(done, tmp_path) == order


THERE = (1, 1, 2, "stat", 0, "d")
FOUND: dict[str, tuple[list[tuple], list[tuple[str, int]]]] = {
    # The one that returns first can only have been the last: two others have to be taken before it.
    "a directory was empty": (
        [
            *[THERE, (1, 3, 4, "mkdir", 0, "d/x"), (2, 3, 5, "rmdir", 0, "d"), (3, 3, 6, "mkdir", 0, "d")],
            (1, 7, 8, "stat", 0, "d/x"),
        ],
        [("stat", 0), ("rmdir", 0), ("mkdir", 0), ("mkdir", 0), ("stat", 0)],
    ),
    "a directory that cannot be unlinked": (
        [(1, 1, 2, "stat", -2, "d"), (2, 3, 4, "unlink", -21, "d"), (1, 3, 5, "mkdir", 0, "d")],
        [("stat", -2), ("mkdir", 0), ("unlink", -21)],
    ),
    "a rename of nothing": (
        [THERE, (2, 3, 4, "rename", -2, "d", "e"), (1, 3, 5, "rmdir", 0, "d")],
        [("stat", 0), ("rmdir", 0), ("rename", -2)],
    ),
    "a link to nothing": (
        [THERE, (1, 2.1, 2.2, "stat", 0, "x"), (2, 3, 4, "link", -2, "x", "d/e"), (1, 3, 5, "rmdir", 0, "d")],
        [("stat", 0), ("stat", 0), ("rmdir", 0), ("link", -2)],
    ),
    "a directory above has gone": (
        [
            *[THERE, (2, 3, 4, "mkdir", -2, "d/e/f"), (1, 2.1, 2.2, "mkdir", 0, "d/e")],
            *[(1, 2.3, 3.2, "rmdir", 0, "d/e"), (1, 3.3, 5, "mkdir", 0, "d/e"), (1, 6, 7, "stat", 0, "d/e")],
        ],
        [("stat", 0), ("mkdir", 0), ("rmdir", 0), ("mkdir", -2), ("mkdir", 0), ("stat", 0)],
    ),
    "no directory two steps above": (
        [
            *[THERE, (1, 2.1, 2.2, "mkdir", 0, "d/e"), (2, 3, 4, "mkdir", -2, "d/e/f/g")],
            *[(1, 2.3, 2.4, "mkdir", 0, "d/e/f"), (1, 3, 5, "rename", 0, "d/e", "h")],
            (1, 6, 7, "stat", 0, "h/f"),
        ],
        [("stat", 0), ("mkdir", 0), ("mkdir", 0), ("rename", 0), ("mkdir", -2), ("stat", 0)],
    ),
    # Nobody can have found it so: the order of the returns stays.
    "something else has made it": (
        [(1, 1, 2, "stat", -2, "d"), (2, 3, 4, "unlink", -21, "d"), (1, 3, 5, "stat", -2, "d")],
        [("stat", -2), ("unlink", -21), ("stat", -2)],
    ),
}


@pytest.mark.parametrize("case", FOUND)
def test_calls_that_overlapped_are_in_an_order_that_all_can_have_found(case: str, tmp_path: Path) -> None:
    done, order = FOUND[case]
    assert in_order(done, tmp_path) == order


def test_a_removed_directory_is_another_than_its_successor_of_that_name(tmp_path: Path) -> None:
    """Who has the old one open does not find what is in the new one, whatever the two are called."""
    trace = Trace()
    trace.thread(2)
    trace.name(at(1, 1, 1.5), "mkdir", 0, "d", ino=7, mode=DIR)
    trace.open(at(1, 1.6, 1.8), 4, "d/x", EXCL, ino=9)
    trace.open(at(2, 2.1, 2.2), 3, "d", os.O_DIRECTORY, ino=7, mode=DIR)
    trace.name(at(1, 4, 5), "rmdir", 0, "d", ino=7, mode=DIR)
    trace.name(at(1, 6, 7), "mkdir", 0, "d", ino=8, mode=DIR)
    trace.open(at(1, 7.1, 7.5), 5, "d/x", EXCL, ino=10)
    trace.call(at(2, 3, 8), "unlinkat", 0, 3, 0, paths=("x",))
    trace.name(at(1, 9, 10), "stat", 0, "d/x", ino=10)
    trace.finish(tmp_path / "t.db")
    done = sqlite3.connect(tmp_path / "t.db").execute("SELECT name FROM call WHERE id > 3 ORDER BY id")
    assert [name for (name,) in done] == ["unlinkat", "rmdir", "mkdir", "openat", "stat"]


def test_a_result_that_no_order_explains_is_said_and_not_compared(tmp_path: Path) -> None:
    """Before and after the rename the name is there. Without the two there is nothing to be said."""
    for case, result in ("explained", 0), ("not explained", -errno.ENOENT):
        trace = Trace()
        trace.thread(2)
        for start, name in (1, "d"), (2, "e"):
            trace.open(at(1, start, start + 0.5), 3, name, EXCL, ino=start)
        trace.name(at(2, 4, 5), "access", result, "d")
        trace.name(at(1, 3, 6), "rename", 0, "e", "d", ino=2)
        trace.finish(tmp_path / f"{case}.db")
        words = [build.ensure("david-compile"), tmp_path / f"{case}.db", tmp_path / f"{case}.wl"]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stderr
        made = [one for thread in compiledfile.load(tmp_path / f"{case}.wl") for one in thread]
        (look,) = [one for one in made if one["op"] == "ACCESS"]
        assert ("order not decided by the trace: 1 calls" in said) == bool(result)
        assert bool(look["flags"] & NO_RESULT) == bool(result)


def test_a_size_that_is_shown_says_which_of_two_calls_came_last(tmp_path: Path) -> None:
    """Of a write and of who cuts the file meanwhile: all that was written is there, or what was left."""
    for shown, order in (100, ["ftruncate", "pwrite64"]), (10, ["pwrite64", "ftruncate"]):
        trace = Trace()
        trace.thread(2)
        trace.open(at(1, 0.2, 0.5), 3, "f", EXCL | os.O_RDWR, ino=9)
        trace.io(at(1, 1, 3), "pwrite64", 3, 100)
        trace.call(at(2, 2, 4), "ftruncate", 0, 3, 10)
        trace.call(at(1, 5, 6), "fstat", 0, 3, ino=9, size=shown)
        trace.finish(tmp_path / f"{shown}.db")
        with sqlite3.connect(tmp_path / f"{shown}.db") as connection:
            done = connection.execute("SELECT name FROM call WHERE id > 1 ORDER BY id LIMIT 2").fetchall()
            assert [name for (name,) in done] == order
            assert connection.execute("SELECT count(*) FROM race").fetchone() == (1,)


def test_what_a_read_has_got_that_no_order_explains_is_said_and_not_compared(tmp_path: Path) -> None:
    """Before the write nothing was there, and after it ten bytes."""
    for got in 0, 10, 7:
        trace = Trace()
        trace.thread(2)
        trace.open(at(1, 0.2, 0.5), 3, "f", EXCL | os.O_RDWR, ino=9)
        trace.open(at(2, 0.6, 0.8), 4, "f", os.O_RDWR, ino=9)
        trace.io(at(2, 2, 3), "read", 4, 100, result=got)
        trace.io(at(1, 1, 4), "write", 3, 10)
        trace.finish(tmp_path / f"{got}.db")
        words = [build.ensure("david-compile"), tmp_path / f"{got}.db", tmp_path / f"{got}.wl"]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stderr
        made = [one for thread in compiledfile.load(tmp_path / f"{got}.wl") for one in thread]
        (read,) = [one for one in made if one["op"] == "READ"]
        assert ("order not decided by the trace: 1 calls" in said) == (got == 7)
        assert bool(read["flags"] & NO_RESULT) == (got == 7)


SQE, CQE, SUBMIT, PWRITE = 11, 12, 16, 18  # tools/calls/tracefile.h; a call


def test_a_file_that_io_uring_writes_to_is_as_calls_say(tmp_path: Path) -> None:
    """When it has grown no call says: nothing is held to an order of calls alone."""
    for submitted in False, True:
        trace = Trace()
        trace.thread(2)
        trace.open(at(1, 0.2, 0.5), 3, "f", EXCL | os.O_RDWR, ino=9)
        if submitted:
            submit = struct.pack("<BBHIQ", 23, 0, 0, 7, 1)
            trace.record(SQE, 1, 0.6, nr=PWRITE, args=(3, 0, 5, 0), blobs=[(SUBMIT, submit)])
            trace.record(CQE, 1, 0.7, nr=7, args=(1,), result=5)
        trace.io(at(2, 2, 3), "read", 3, 100, result=7)
        trace.io(at(1, 1, 4), "pwrite64", 3, 10)
        trace.finish(tmp_path / f"{submitted}.db")
        with sqlite3.connect(tmp_path / f"{submitted}.db") as connection:
            assert connection.execute("SELECT count(*) FROM uring").fetchone() == (submitted,)
            left = connection.execute("SELECT count(*) FROM race WHERE first IS NULL").fetchone()
            assert left == (not submitted,)


def test_who_gets_a_descriptor_s_number_again_comes_after_all_that_was_done_with_it(tmp_path: Path) -> None:
    """Emptied in front of the first write, the file would be as large as it is found. But the number that the
    open returns was another file's then.
    """
    trace = Trace()
    trace.thread(2)
    trace.open(at(1, 0.1, 0.2), 4, "f", EXCL | os.O_RDWR, ino=9)
    trace.call(at(1, 0.3, 0.4), "ftruncate", 0, 4, 200)
    trace.open(at(1, 0.5, 0.6), 5, "g", EXCL | os.O_RDWR, ino=10)
    trace.io(at(1, 2, 3), "pwrite64", 4, 100)
    trace.io(at(1, 3, 4), "pwrite64", 5, 30)
    trace.call(at(1, 5, 6), "close", 0, 5)
    trace.call(at(1, 7, 8), "lseek", 100, 4, 0, os.SEEK_END)
    trace.open(at(2, 1, 9), 5, "f", os.O_TRUNC | os.O_RDWR, ino=9)
    trace.finish(tmp_path / "t.db")
    with sqlite3.connect(tmp_path / "t.db") as connection:
        done = connection.execute(
            "SELECT call.name, ino FROM call JOIN file f ON f.id = call.file WHERE call.id > 3"
        )
        assert [*done.fetchall()][1:3] == [("pwrite64", 10), ("close", 10)]
        assert connection.execute("SELECT count(*) FROM race WHERE first IS NULL").fetchone() == (1,)


def test_a_directory_that_cannot_be_listed_has_been_removed_before(tmp_path: Path) -> None:
    """By its descriptor: the list ends before the removal returns."""
    trace = Trace()
    trace.thread(2)
    trace.open(at(2, 1, 2), 3, "d", os.O_DIRECTORY, ino=7, mode=DIR)
    trace.call(at(2, 4, 5), "getdents64", -errno.ENOENT, 3)
    trace.name(at(1, 3, 6), "rmdir", 0, "d", ino=7, mode=DIR)
    trace.finish(tmp_path / "t.db")
    found = sqlite3.connect(tmp_path / "t.db").execute("SELECT name FROM call ORDER BY id").fetchall()
    assert [name for (name,) in found] == ["openat", "rmdir", "getdents64"]


def test_what_a_look_has_seen_of_a_call_under_way_counts_once(tmp_path: Path) -> None:
    """A close finds a half of what another appends; an open finds all of it, a removal another removal. A
    stat has looked before what ended while it was under way.
    """
    trace = Trace()
    trace.thread(2)
    trace.thread(3)
    appends = EXCL | os.O_APPEND | RW
    trace.open(at(1, 1, 2), 3, "f", appends, ino=7)
    trace.io(at(1, 3, 4), "write", 3, 100)
    trace.open(at(1, 4, 4.5), 9, "f", os.O_APPEND | RW, ino=7, size=100)
    trace.call(at(1, 6, 7), "close", 0, 3, ino=7, size=4096)
    trace.io(at(2, 5, 8), "write", 9, 9000)
    trace.open(at(1, 11, 13), 4, "g", appends, ino=8)
    trace.open(at(1, 14, 16), 5, "g", RW, ino=8, size=60)
    trace.io(at(2, 15, 17), "write", 4, 50)
    trace.io(at(3, 15, 18), "write", 4, 10)
    trace.open(at(1, 21, 22), 6, "h", appends, ino=9)
    trace.io(at(2, 24, 25), "write", 6, 30)
    trace.call(at(1, 23, 26), "fstat", 0, 6, ino=9)
    trace.open(at(1, 31, 32), 7, "i", EXCL, ino=10)
    for links, name in enumerate(("j", "k"), 2):
        trace.name(at(1, 31 + links, 31.5 + links), "link", 0, "i", name, ino=10, links=links)
    trace.name(at(1, 36, 37), "unlink", 0, "i", ino=10, links=2)
    trace.name(at(2, 35, 38), "unlink", 0, "j", ino=10, links=3)
    trace.finish(tmp_path / "t.db")
    database = sqlite3.connect(tmp_path / "t.db")
    files = database.execute("SELECT ino, size, links, removed FROM file WHERE ino ORDER BY ino").fetchall()
    assert files == [(7, 9100, 1, 0), (8, 60, 1, 0), (9, 30, 1, 0), (10, 0, 1, 0)]


def variants(args: str) -> list[list[int]]:
    """Of arguments: a descriptor of a file, or of a pipe's end; names begin at the working directory."""
    return [
        [HERE if letter in "dD" else fd if letter == "f" else other for letter in args]
        for fd in (3, 5, 6)
        for other in (0, 1)
    ]


SPECIAL = {"MMAP": [0, 1, 1, 1, 3, 0], "CLOSERANGE": [3, 6, 0]}  # by effect: arguments
RETURN_NOTHING = "PAIR PAIR4 EXEC BIND MKDIR FORK VFORK CLONE CLONE3 CLOSE WAIT".split()


def one_of_each(trace: Trace, calls: dict[int, list[str]]) -> dict[int, str]:
    """Each by processes of their own, which have a file and a pipe's ends. By event: the call's name."""
    trace.open(at(1, 1, 1.5), 3, "f", EXCL | RW, ino=9)
    trace.call(at(1, 2, 2.5), "pipe", 0, 0, blobs=[(tracefile.FDS, struct.pack("<II", 5, 6))])
    time, tid, events = 3.0, 100, {}
    for name, _, args, effect, makes, _ in calls.values():
        args = "" if args == "-" else args
        for values in variants(args):
            trace.thread(tid, flags=0, when=time)
            paths = tuple(f"{letter}{tid}" for letter in "pP" if letter in args)
            values = SPECIAL.get(effect, values)
            blobs = [(tracefile.FDS, struct.pack("<II", 10, 11))] if "r" in args else []
            blobs += [(tracefile.HOW, struct.pack("<3Q", 0, 0, 0))] if "h" in args else []
            blobs += [(tracefile.MESSAGES, struct.pack("<I", 1))] if "mmsg" in name else []
            if "xattr" in name and "list" not in name:
                blobs = [(tracefile.XATTR, struct.pack("<II", 0, 0) + b"user.x\0"), (tracefile.VALUE, b"")]
            if effect == "BIND" or name == "open_by_handle_at":  # the tracer says which name it is
                paths = (f"p{tid}",)
            result = 1 if makes == "none" or effect in ("READ", "RECVMMSG") else 7
            if effect in RETURN_NOTHING:
                result = 0
            who = at(tid, time + 0.1, time + 0.2)
            events[trace.call(who, name, result, *values, paths=paths, blobs=blobs)] = name
            trace.exit(tid, time + 0.3)
            time, tid = time + 1, tid + 1
    return events


def compiled(calls: dict[int, list[str]], tmp_path: Path) -> tuple[set[str], dict[str, int]]:
    """Which of the calls become calls of a replay, and how many calls have which reason not to."""
    trace = Trace()
    events = one_of_each(trace, calls)
    trace.finish(tmp_path / "t.db")
    words = [build.ensure("david-compile"), "--stats", tmp_path / "t.db", tmp_path / "t.wl"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    commands = [one for thread in compiledfile.load(tmp_path / "t.wl") for one in thread]
    # What close_range closes are commands that the compiler makes up.
    made = [
        one
        for one in commands
        if one["op"] != "NONE" and (not one["flags"] & MADE_UP or events.get(one["event"]) == "close_range")
    ]
    (tmp_path / "t.db").unlink()
    counts = {key: int(value) for key, value in map(str.split, said.splitlines())}
    return {events[one["event"]] for one in made if one["event"] in events}, counts


MADE_UP, NO_RESULT = 1, 2  # tools/calls/workload.h


def test_the_compiler_does_with_each_call_what_the_table_says(tmp_path: Path) -> None:
    """What is done again, what is at most an order, what is left out and counted."""
    calls = {nr: row for nr, row in table().items() if row[0] not in ("exit", "exit_group")}
    by_replay = {
        kind: {nr: row for nr, row in calls.items() if row[5] == kind} for kind in ("done", "order", "out")
    }
    done, _ = compiled(by_replay["done"], tmp_path)
    assert sorted({row[0] for row in by_replay["done"].values()} - done) == []
    for kind, never in (("order", ("not-replayed", "elsewhere", "unknown")), ("out", ("only-in-order",))):
        made, counts = compiled(by_replay[kind], tmp_path)
        assert (kind, made, [counts[key] for key in never]) == (kind, set(), [0] * len(never))
