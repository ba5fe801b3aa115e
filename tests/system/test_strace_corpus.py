# SPDX-License-Identifier: GPL-2.0
"""What the installed strace writes of real programs, with its options, beside the own tracer's trace.

Each program does the same in each run: once under the own tracer, which is the truth, and once under strace
for each set of options. The calls with their results, the names, the tree and a replay have to be the same.
In short, each program has one set of options; DAVID_SCALE=full (`make trace-test`) has all of both.
A program for i386 is among them: it needs no library, and is held to the same program for x86-64, as the own
tracer counts calls of i386 and does not follow them.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from davidlib.replay import programs
from davidlib.trace import importing
from helpers import traced

TREE = Path(__file__).resolve().parents[2]
FULL = os.environ.get("DAVID_SCALE") == "full"
pytestmark = pytest.mark.skipif(not shutil.which("strace"), reason="no strace here")

OPTIONS = (
    "-f", "-f -y", "-f -yy", "-f -Y", "-f -k", "-f -C", "-f -q", "-f -qqq", "-f -i", "-f -n", "-f -v",
    "-f -x", "-f -xx", "-f -t", "-f -tt", "-f -ttt", "-f -T", "-f -r", "-f -r -ttt", "-f -a 1", "-f -s 0",
    "-f -s 200", "-f -X raw", "-f -X verbose", "-f --seccomp-bpf", "-f -D", "-f -A",
    "-f --decode-pids=pidns", "-f -ttt -T -v -yy", "-f -T -tt -yy -Y -k -i -n -v -r",
)  # fmt: skip


@dataclass(frozen=True)
class Program:
    command: tuple[str, ...]  # WORK is the directory, BUILT where the C programs are
    at_once: bool = False  # what its first process sees depends on who is faster: its children count
    ends_strace: str = ""  # an option with which strace itself fails at this program


def dash(script: str, at_once: bool = False) -> Program:
    return Program(("/bin/dash", "-c", f"cd WORK && {script}"), at_once)


MAKEFILE = "all: a b c d\n%:\n\t/bin/cat in > $@; /bin/cp $@ $@.copy\n\t@/bin/rm $@.copy; :\n"
PYTHON = (
    "import os, sys; os.chdir(sys.argv[1]); f = open('x', 'wb', 0); f.write(b'1' * 5000); f.close(); "
    "os.rename('x', 'y'); os.link('y', 'z'); d = os.open('y', os.O_RDWR); os.pwrite(d, b'2', 9000); "
    "os.pread(d, 100, 8990); os.ftruncate(d, 40); os.fsync(d); os.close(d); os.symlink('z', 'way')"
)
PROGRAMS = {
    "tracee": Program(("BUILT/tracee", "WORK")),
    "posix_spawn": Program(("BUILT/spawner", "spawn", "WORK")),
    # strace 6.1 -k ends
    # there: "cannot initialize libunwind".
    "a thread that execs": Program(("BUILT/spawner", "exec", "WORK"), ends_strace="-k"),
    "dash": dash("mkdir d; for n in 1 2 3 4; do echo $n > d/$n; /bin/cat d/$n in >> all; done; rm -r d"),
    "subshells": dash("for n in 1 2 3; do (mkdir s$n; cd s$n; /bin/cp ../in x; /bin/mv x y); done"),
    "subshells at once": dash(
        "for n in 1 2 3 4; do (mkdir s$n; cd s$n; /bin/cat ../in > x; /bin/mv x y) & done; wait", True
    ),
    "make": Program(("/usr/bin/make", "-s", "-C", "WORK", "all")),
    "make -j4": Program(("/usr/bin/make", "-s", "-j4", "-C", "WORK", "all"), True),
    "tar": dash("tar cf t.tar in tree; mkdir to; tar xf t.tar -C to; rm -r to"),
    "cp -a and find": dash("cp -a tree copy; find copy -type f -exec /bin/cat {} + > all"),
    "sed and sort": dash("sed s/a/b/ in > new; sort -r -o in new; head -c 20 in > part"),
    "python": Program(("/usr/bin/python3", "-E", "-s", "-S", "-B", "-c", PYTHON, "WORK")),
    "dd": dash("dd if=/dev/zero of=z bs=4K count=3 seek=5 status=none; dd if=z of=in bs=9 status=none"),
}  # fmt: skip
SHORT = ("posix_spawn", "a thread that execs", "subshells at once", "make -j4", "python")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("built")
    for name in ("tracee", "spawner"):
        source = TREE / f"tests/system/helpers/{name}.c"
        subprocess.run(["cc", "-pthread", "-o", top / name, source], check=True)
    return top


def command_of(program: Program, built: Path, top: Path) -> list[str]:
    """In a directory that is as it was before each other run."""
    work = top / "work"
    shutil.rmtree(work, ignore_errors=True)
    (work / "tree/below").mkdir(parents=True)
    (work / "in").write_text("".join(f"line {n * 7919 % 101} of a file\n" for n in range(300)))
    (work / "tree/below/one").write_bytes(b"1" * 10_000)
    (work / "tree/two").symlink_to("below/one")
    (work / "Makefile").write_text(MAKEFILE)
    return [word.replace("WORK", str(work)).replace("BUILT", str(built)) for word in program.command]


def run(words: list[str]) -> None:
    """With an environment that no wrapper of a program has changed."""
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE, timeout=300, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})


def own_trace(program: Program, built: Path, top: Path) -> Path:
    out = top / "own.db"
    command = command_of(program, built, top)
    record = [sys.executable, str(TREE / "tools/david"), "trace", "record", "--share-disk", "-o", str(out)]
    run([*record, "--", *command])
    return out


def straced(program: Program, options: str, built: Path, top: Path) -> Path:
    out, log = top / "strace.db", top / "log"
    for path in (out, log):
        path.unlink(missing_ok=True)
    run(["strace", *options.split(), "-o", str(log), *command_of(program, built, top)])
    account = importing.import_lines("strace", log, out).account
    assert not account.left_out, account.left_out
    assert bool(account.half) is ("-qqq" in options), account.half  # which leaves out the tasks' ends
    return out


# How many there are is for the kernel to say. And one of make's jobs has its standard input.
RACES = {"wait4", "pselect6", "rt_sigreturn", "dup2", "lseek"}


def calls(path: Path, at_once: bool) -> list:
    """By task; where tasks run at once without their order, and without the first one."""
    with sqlite3.connect(path) as database:
        tasks = traced.by_task(database)
    if not at_once:
        return tasks
    return sorted([[call for call in task if call[0] not in RACES] for task in tasks[1:]], key=repr)


def complaint(own: Path, other: Path, at_once: bool) -> str:
    """Where the calls differ first; empty: nowhere."""
    ours, theirs = calls(own, at_once), calls(other, at_once)
    if len(ours) != len(theirs):
        return f"{len(ours)} and {len(theirs)} tasks"
    for number, (mine, its) in enumerate(zip(ours, theirs, strict=True)):
        for at, (a, b) in enumerate(zip(mine, its, strict=False)):
            if a != b:
                return f"task {number}, call {at}: {a} and {b}"
        if len(mine) != len(its):
            return f"task {number}: {len(mine)} and {len(its)} calls"
    return ""


def types(path: Path, work: Path) -> dict[str, int]:
    """What was there in the beginning, as far as the trace knows."""
    with sqlite3.connect(path) as database:
        found = traced.tree_of_trace(database, work)
        return {name: stat.S_IFMT(mode) for name, (mode, *_) in found.items() if mode}


def replayed(trace: Path, top: Path) -> tuple[int, int]:
    """How many calls were as in the original, and of how many."""
    workload, place = top / "t.wl", top / "place"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    programs.make(trace, workload, [])
    programs.prepare(workload, place, holes=True)
    found = programs.run(workload, place, ["--share-disk", "--timing", "afap"])
    return found["same"], found["compared"]


def cases() -> Iterator[tuple[str, tuple[str, ...]]]:
    for number, name in enumerate(PROGRAMS):
        if FULL:
            yield name, OPTIONS
        elif name in SHORT:
            yield name, (OPTIONS[number * 7 % len(OPTIONS)],)


def nolibc(bits: int, to: Path) -> Path:
    """The program, without a library; skips where the compiler has nothing for i386."""
    built = to / f"nolibc{bits}"
    arch = subprocess.run(["cc", "-print-multiarch"], capture_output=True, text=True).stdout.strip()
    line = ["cc", f"-m{bits}", "-idirafter", f"/usr/include/{arch}", "-nostdlib", "-static", "-O1"]
    line += ["-fno-pic", "-no-pie", "-fno-stack-protector", "-fcf-protection=none", "-o", str(built)]
    source = str(TREE / "tests/system/helpers/nolibc.c")
    done = subprocess.run([*line, source], capture_output=True, text=True)
    if done.returncode and bits == 32:
        pytest.skip(f"no program for i386 can be built here: {done.stderr}")
    assert done.returncode == 0, done.stderr
    return built


def places(path: Path) -> list[tuple]:
    """Each call with its result, where in the file it was, how long, and of which names."""
    with sqlite3.connect(path) as database:
        return list(database.execute(
            "SELECT s.name, CASE WHEN s.name = 'mmap' THEN 0 ELSE result END, offset, "
            "CASE WHEN s.name IN ('read', 'write', 'pread64', 'pwrite64', 'mmap') THEN a2 END, "
            "CASE WHEN s.name = 'mmap' THEN a5 END, p.text, q.text "
            "FROM event JOIN syscall s USING (nr) LEFT JOIN text p ON p.id = path "
            "LEFT JOIN text q ON q.id = path2 WHERE s.name <> 'execve' ORDER BY event.id"))


@pytest.mark.parametrize("options", OPTIONS if FULL else ("-f -yy",))
def test_a_program_for_i386_makes_the_calls_of_the_one_for_x86_64(options: str, tmp_path: Path) -> None:
    programs = {bits: Program((str(nolibc(bits, tmp_path)), "WORK")) for bits in (32, 64)}
    own = own_trace(programs[64], tmp_path, tmp_path)
    other = straced(programs[32], options, tmp_path, tmp_path)
    assert places(other) == places(own)
    assert len({row[0] for row in places(own)}) > 20 and max(row[2] or 0 for row in places(own)) > 1 << 32
    same, compared = replayed(other, tmp_path)
    assert same == compared > 30


@pytest.mark.parametrize(("name", "options"), [pytest.param(*case, id=case[0]) for case in cases()])
def test_stracing_a_program_tells_what_the_own_tracer_does(
    name: str, options: tuple[str, ...], built: Path, tmp_path: Path
) -> None:
    program = PROGRAMS[name]
    own = own_trace(program, built, tmp_path)
    tree = types(own, tmp_path / "work")
    for words in options:
        if program.ends_strace in words.split():
            continue
        other = straced(program, words, built, tmp_path)
        assert not complaint(own, other, program.at_once), words
        told = types(other, tmp_path / "work")
        assert {path: kind for path, kind in told.items() if tree.get(path) != kind} == {}, words
    same, compared = replayed(other, tmp_path)
    assert same >= 0.999 * compared > 10
