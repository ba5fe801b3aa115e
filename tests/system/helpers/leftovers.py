# SPDX-License-Identifier: GPL-2.0
"""What a command that fails may leave behind, listed before and after it; and refused.toml, the commands.

Both where the whole machine is the test's own: in a lab, or in refusedrun.py's namespaces. There what other
users have on the machine is not seen, but for loop devices and mappings: of these the ones count that are
the test's, by the place of their file and by their name.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from helpers.davidtool import called
from helpers.guest import TREE

TABLE = TREE / "tests/system/refused.toml"
# Every disk, array and pool of the table is called so.
NAME = "refused"
TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm", "/run/dm-david")
# What Python, libc or a library says where we should.
INNER = re.compile(r"Traceback|Exception|\[Errno|Error:|object at 0x|<class|\bNoneType\b|AddressSanitizer")
# What goes by itself within this time is not left behind: a killed lab takes seconds on a busy machine.
SECONDS = 20.0
# PF_KTHREAD of include/linux/sched.h.
KERNEL_THREAD = 0x200000
Look = dict[str, set[str]]


@dataclass(frozen=True)
class Row:
    """`run` has to end with `status` and one line of error, which has each of `says`. `before` is done by sh
    in front of it, `after` behind. `makes` may be there afterwards: the command is documented to keep it. If
    `lines` is given there are so many lines: notes in front of the error, or a lab's output; -1: any number.
    One that is `whole` is started as a user does: david bench goes on in another Python."""

    run: str
    status: int
    says: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    makes: tuple[str, ...] = ()
    lines: int = 1
    seldom: bool = False
    whole: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(shlex.split(self.run))


def rows(kind: str, text: str | None = None) -> list[Row]:
    """Of the table's `host` or `lab`."""
    read = tomllib.loads(TABLE.read_text() if text is None else text)[kind]
    return [Row(**{key: tuple(value) if isinstance(value, list) else value for key, value in row.items()})
            for row in read]


def _texts(pattern: str) -> Iterator[tuple[str, str]]:
    for path in Path("/sys").glob(pattern):
        with suppress(OSError):  # it has gone
            yield path.parts[3], path.read_text().strip()


def processes() -> set[str]:
    """All of this place but the kernel's threads, this one, and what has ended: number and time of start. By
    its command line one could not be known: in an exec it has none for a moment."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has gone
            # Behind the name, which may have anything in it: the state first.
            words = path.read_text().rpartition(")")[2].split()
            ended = words[0] in "ZX" or int(words[6]) & KERNEL_THREAD
            if not ended and path.parts[2] != str(os.getpid()):
                found.add(f"{path.parts[2]} since {words[19]}")
    return found


def named(what: str, one: str) -> str:
    """With a process's command line."""
    if what == "processes":
        with suppress(OSError):
            line = Path(f"/proc/{one.split()[0]}/cmdline").read_bytes()
            return f"{one}: {line.replace(bytes(1), b' ').decode(errors='replace')}"
    return one


def files(tops: tuple[str, ...]) -> set[str]:
    """But for this tree's own, in which others build meanwhile: it may lie in such a place."""
    found = set()
    for where in tops:
        for top, below, names in os.walk(where):
            found |= {f"{top}/{name}" for name in (*below, *names)}
            below[:] = [name for name in below if f"{top}/{name}" != str(TREE)]
    return found


def look(cwd: Path) -> Look:
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return {
        "loops": {f"{name} {file}" for name, file in _texts("block/loop*/loop/backing_file")
                  if file.startswith((*TEMPORARY, str(cwd)))},
        "mappings": {name for _, name in _texts("block/dm-*/dm/name") if NAME in name},
        "arrays": {path.name for path in Path("/sys/block").glob("md*")},
        "null_blk": {path.name for path in Path("/sys/kernel/config/nullb").glob(f"*{NAME}*")},
        "mounts": {f"{line.split()[4]}, mount {line.split()[0]}" for line in mounts},
        "processes": processes(),
        "files": files((*TEMPORARY, str(cwd))),
    }


def differences(before: Look, after: Look, makes: tuple[str, ...]) -> list[str]:
    found = []
    for what, was in before.items():
        left = {one for one in after[what] - was if not any(f"/{name}" in one for name in makes)}
        found += [f"left behind, {what}: {named(what, one)}" for one in sorted(left)]
        found += [f"gone, {what}: {one}" for one in sorted(was - after[what]) if what != "processes"]
    return found


def shell(script: str, cwd: Path) -> None:
    subprocess.run(["sh", "-euc", script], cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def started(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, TREE / "tools/david", *words], capture_output=True, text=True)


def wrong_words(row: Row, done: subprocess.CompletedProcess[str]) -> list[str]:
    found = [f"it does not say {word!r}" for word in row.says if word not in done.stderr]
    if done.returncode != row.status:
        found.append(f"status {done.returncode}, not {row.status}")
    if INNER.search(done.stderr):
        found.append("it says what is inside")
    if (count := done.stderr.count("\n")) != row.lines >= 0:
        found.append(f"{count} lines of error, not {row.lines}")
    return found


def complaints(row: Row, cwd: Path, plant: Callable[[], object] | None = None) -> list[str]:
    """All that is wrong with a row, done in `cwd`, a directory of its own. `plant` leaves what it likes, for
    which nothing is waited."""
    cwd.mkdir(parents=True)
    before_it = Path.cwd()
    os.chdir(cwd)
    try:
        if row.before:
            shell(row.before, cwd)
        before = look(cwd)
        done = started(*row.words) if row.whole else called(*row.words)
        if plant:
            plant()
        found, deadline = differences(before, look(cwd), row.makes), time.monotonic() + SECONDS * (not plant)
        while found and time.monotonic() < deadline:
            time.sleep(0.2)
            found = differences(before, look(cwd), row.makes)
        if row.after:
            shell(row.after, cwd)
    finally:
        os.chdir(before_it)
    found = wrong_words(row, done) + found
    return [f"david {row.run}: {one}" for one in found] + ([f"    {done.stderr.strip()}"] if found else [])
