#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Hostile command lines, a seed each: does every one end with a status of the table, an error of one line,
and nothing left behind?

  commandlines_hunt.py [--first SEED] [--count N] [--each SEED ...] [--planted]

The lines run where they can do no harm: in namespaces of their own, without a network, with a /dev that has
no disk, on a tree that is read-only. Most of them run in a fork of this process, which has david's modules
loaded; those with another beginning of Python (locale, closed descriptors, PATH) are started as a user
starts them.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.dont_write_bytecode = True

from helpers import commandlines  # noqa: E402
from helpers.commandlines import Line  # noqa: E402
from helpers.davidtool import program  # noqa: E402

TREE = Path(__file__).resolve().parents[2]
# What docs/REFERENCE.md has.
STATUSES = {0, 1, 2, 3, 124, 125, 126, 130, 141}
FAILED = {1, 125}
PROGRAMS = ("david-sim", "david-store", "david-classify", "david-replay", "david-compile")
SECONDS = 20
# What Python, libc or a library says where we should.
INNER = re.compile(
    r"Traceback|Exception|\[Errno|Error:|object at 0x|<class|\bNoneType\b|AddressSanitizer|runtime error"
)
INSIDE = "DAVID_FUZZED_IN"
NOBODY = 65534


def contained() -> int:
    """Run this program again in namespaces of its own; its status."""
    top = Path(tempfile.mkdtemp(prefix="david-lines-"))
    top.chmod(0o755)
    words = [
        "unshare",
        *([] if os.geteuid() == 0 else ["-r"]),
        "-m",
        "-n",
        "-p",
        "-f",
        "--mount-proc",
        "--kill-child",
    ]
    try:
        if subprocess.run([*words, "true"], capture_output=True).returncode:
            print("commandlines: no namespaces for this user (unshare): nothing was run", file=sys.stderr)
            return 77
        # Not one in a directory that nobody may enter.
        python = shutil.which("python3", path="/usr/bin") or sys.executable
        inner = [python, __file__, *sys.argv[1:]]
        return subprocess.run([*words, *inner], env=os.environ | {INSIDE: str(top)}).returncode
    finally:
        shutil.rmtree(top, ignore_errors=True)


def enter(top: Path) -> None:
    """Of the namespaces: the tree, read-only, where nobody can read it, and a /dev without disks. This
    program goes on there."""

    def mount(*words: str | Path) -> None:
        subprocess.run(["mount", *words], check=True)

    tree, full = top / "tree", top / "full"
    for place in (tree, full, top / "dev"):
        place.mkdir()
    mount("--bind", TREE, tree)
    mount("-o", "remount,bind,ro", tree)
    mount("-t", "tmpfs", "-o", "size=4k,mode=777", "full", full)
    (full / "filler").write_bytes(b"x" * 4096)
    mount("-t", "tmpfs", "dev", top / "dev")
    for name in ("null", "zero", "full", "random", "urandom"):
        (top / "dev" / name).touch()
        mount("--bind", f"/dev/{name}", top / "dev" / name)
    # They would wait for a network or a password, or unpack and build a kernel for minutes.
    for name in ("apt-get", "sudo", "make", "tar"):
        if Path(f"/usr/bin/{name}").exists():
            mount("--bind", "/bin/false", f"/usr/bin/{name}")
    (top / "dev" / "shm").mkdir(mode=0o777)
    (top / "dev" / "shm").chmod(0o1777)
    mount("--move", top / "dev", "/dev")
    hunt = tree / "tests" / "system" / Path(__file__).name
    os.execve(sys.executable, [sys.executable, str(hunt), *sys.argv[1:]], around(top))


def around(top: Path) -> dict[str, str]:
    """The environment: a cache of its own, no compiler, and of programs only what harms nobody."""
    for name in ("temporary", "cache", "home"):
        (top / name).mkdir(mode=0o777)
        (top / name).chmod(0o1777)
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(top / "home"),
        "XDG_CACHE_HOME": str(top / "cache"),
        "TMPDIR": str(top / "temporary"),
        "TERM": "dumb",
        "DAVID_BUILD": str(top / "tree" / "build"),
        "PYTHONDONTWRITEBYTECODE": "1",
        INSIDE: str(top),
    }


def _traceback() -> int:
    raise KeyError("planted")


def _left() -> int:
    Path(os.environ["TMPDIR"], "planted").touch()
    return 0


def _here() -> int:
    print("david: it failed", file=sys.stderr)
    Path("planted").touch()
    return 1


# The fault, and what is to be complained of.
PLANTED: dict[str, tuple[Callable[[], int], str]] = {
    "traceback": (_traceback, "says what is inside"),
    "status": (lambda: 7, "status 7"),
    "temporary file": (_left, "left behind: temporary files"),
    "file": (_here, "left behind: files here"),
    "mute": (lambda: 1, "fails without a word"),
}


class Hunt:
    def __init__(self, top: Path) -> None:
        self.top, self.tree = top, top / "tree"
        self.david = program()
        self.parser = self.david.parser_of()
        self.helps = {
            name: subprocess.run(
                [self.tree / "build" / name, "--help"], capture_output=True, text=True
            ).stdout
            for name in PROGRAMS
        }
        self.helps = {name: text for name, text in self.helps.items() if "sage:" in text}
        self.wrong: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.slow = 0
        self.planted = False
        self.ran: Counter[str] = Counter()

    def left(self, cwd: Path) -> dict[str, set[str]]:
        """What a command may leave behind."""
        return {
            "temporary files": {*os.listdir(self.top / "temporary"), *os.listdir("/dev/shm")},
            "devices": set(os.listdir("/dev")) - {"shm"},
            "mounts": set(Path("/proc/self/mounts").read_text().splitlines()),
            "files here": set(os.listdir(cwd)) if cwd.is_dir() else set(),
        }

    def exec_words(self, line: Line) -> list[str]:
        if line.program != "david":
            return [str(self.tree / "build" / line.program), *line.words]
        return [sys.executable, str(self.tree / "tools" / "david"), *line.words]

    def child(self, line: Line, cwd: Path, fds: tuple[int, int, int]) -> int:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        os.chdir(cwd)
        if line.place == "removed":
            gone = cwd / "gone"
            gone.mkdir()
            os.chdir(gone)
            gone.rmdir()
        for number, fd in enumerate(fds):
            os.dup2(fd, number)
        os.closerange(3, 256)
        if line.nobody:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        for number, name in enumerate(("in", "out", "err")):
            if line.closed == name:
                os.close(number)
        if line.program != "david" or line.environment or line.closed in ("in", "out", "err"):
            os.execve(self.exec_words(line)[0], self.exec_words(line), os.environ | line.environment)
        sys.argv = ["david", *line.words]
        sys.stdin = io.TextIOWrapper(io.FileIO(0), encoding="utf-8")
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w")), encoding="utf-8")
        sys.stderr = io.TextIOWrapper(
            io.FileIO(2, "w"),
            encoding="utf-8",
            errors="backslashreplace",  # type: ignore[type-var]
            write_through=True,
        )
        try:
            sys.exit(self.david.main())
        except SystemExit as ended:
            if isinstance(ended.code, str):
                print(ended.code, file=sys.stderr)
                return 1
            return ended.code or 0
        except BaseException:
            traceback.print_exc()
            return 1

    def run(self, line: Line, cwd: Path) -> tuple[int | None, str, str]:
        """Its status, None if it was not done in time, and what it said."""
        out, err = self.top / "out", self.top / "err"
        with open(os.devnull) as nothing, out.open("wb") as to, err.open("wb") as errors:
            reads, writes = os.pipe()
            os.close(reads)
            target = {"out is full": os.open("/dev/full", os.O_WRONLY), "pipe nobody reads": writes}.get(
                line.closed, to.fileno()
            )
            pid = os.fork()
            if not pid:
                code = 120
                with contextlib.suppress(BaseException):
                    code = self.child(line, cwd, (nothing.fileno(), target, errors.fileno()))
                    with contextlib.suppress(OSError):
                        sys.stdout.flush()
                os._exit(code)
            for fd in {target, writes} - {to.fileno()}:
                os.close(fd)
            deadline = time.monotonic() + SECONDS
            status = None
            pause = 0.002
            while time.monotonic() < deadline:
                done, state = os.waitpid(pid, os.WNOHANG)
                if done:
                    status = os.waitstatus_to_exitcode(state)
                    break
                time.sleep(pause)
                pause = min(pause * 1.5, 0.05)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            if status is None:
                os.waitpid(pid, 0)
        return status, out.read_text(errors="replace"), err.read_text(errors="replace")

    def complaints(
        self, line: Line, status: int, said: str, before: dict[str, set[str]], after: dict[str, set[str]]
    ) -> list[str]:
        found = []
        allowed = STATUSES | ({127, -13} if line.passes_on() else set())
        if status not in allowed:
            found.append(f"status {status}")
        if INNER.search(said):
            found.append("says what is inside")
        lines = [
            one for one in said.splitlines() if not one.startswith(("david: warning", "david: building"))
        ]
        if status in FAILED and not line.passes_on():
            if line.closed != "err" and not lines:
                found.append("fails without a word")
            if len(lines) > 4 and line.program == "david":  # the programs behind it print their usage
                found.append(f"an error of {len(lines)} lines")
        for what in before:
            # What it says where it is, is no leftover.
            left = {one for one in after[what] - before[what] if one not in said}
            if left and (what != "files here" or status in FAILED and not line.passes_on()):
                found.append(f"left behind: {what} {sorted(left)[:3]}")
            if gone := before[what] - after[what]:
                found.append(f"gone: {what} {sorted(gone)[:3]}")
        if not os.path.exists("/dev/null") or not Path("/dev/null").is_char_device():
            sys.exit(f"commandlines: /dev/null is gone after {line}")
        return found

    def one(self, seed: int) -> bool:
        """The line of a seed: is all as it should be?"""
        work = self.top / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        files = commandlines.sandbox(work)
        work.chmod(0o777)
        line = (
            Line("david", ["list"])
            if self.planted
            else commandlines.draw(
                seed, self.parser, self.helps, files, self.top.stat().st_uid == 0 and self.is_root()
            )
        )
        if any("\0" in word for word in line.words):
            return True
        cwd = self.top / "full" if line.place == "full" else work
        if line.place == "read-only":
            work.chmod(0o555)
        before = self.left(cwd)
        status, said, errors = self.run(line, cwd)
        self.ran[line.program] += 1
        if status is None:
            self.slow += 1
            found = []
            print(f"seed {seed}: not done after {SECONDS} s, not judged: {line}")
            for name in os.listdir(self.top / "temporary"):
                shutil.rmtree(self.top / "temporary" / name, ignore_errors=True)
                (self.top / "temporary" / name).unlink(missing_ok=True)
        else:
            self.statuses[status] += 1
            found = self.complaints(line, status, errors, before, self.left(cwd))
        if found:
            self.wrong.update(one.partition(" [")[0] for one in found)
            print(
                f"seed {seed}: {'; '.join(found)}: {line}\n"
                f"    status {status}: {errors[-1500:] or said[-200:]}"
            )
        for entry in os.listdir(self.top / "full"):
            if entry != "filler":
                (self.top / "full" / entry).unlink()
        return not found

    def find_planted(self) -> int:
        """Each of some faults of the program must be found; 0 if all were."""
        self.planted = True
        for name, (fault, complaint) in PLANTED.items():
            self.david.main = fault  # type: ignore[attr-defined]
            self.wrong.clear()
            self.one(1)
            if complaint not in self.wrong:
                print(f"planted: {name}: not found")
                return 1
        print(f"planted: {len(PLANTED)} found")
        return 0

    @staticmethod
    def is_root() -> bool:
        """Of the machine, not only of the namespace: it may become somebody else."""
        return "4294967295" in Path("/proc/self/uid_map").read_text()


def main() -> int:
    if INSIDE not in os.environ:
        return contained()
    top = Path(os.environ[INSIDE])
    if TREE != top / "tree":
        enter(top)
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--each", type=int, nargs="+")
    parser.add_argument("--planted", action="store_true", help="faults of the program, that have to be found")
    args = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    hunt = Hunt(top)
    if args.planted:
        return hunt.find_planted()
    seeds = args.each or range(args.first, args.first + args.count)
    wrong = [seed for seed in seeds if not hunt.one(seed)]
    print(
        f"commandlines: {sum(hunt.ran.values())} lines ("
        + ", ".join(f"{n} {name}" for name, n in hunt.ran.items())
        + "), "
        f"{len(wrong)} wrong, {hunt.slow} not done in time and not judged; statuses "
        + ", ".join(f"{status}: {n}" for status, n in sorted(hunt.statuses.items()))
    )
    if wrong:
        print(f"wrong: {dict(hunt.wrong)}; --each {' '.join(map(str, wrong[:50]))}")
    return 1 if wrong or not hunt.ran else 0


if __name__ == "__main__":
    sys.exit(main())
