# SPDX-License-Identifier: GPL-2.0
"""33 cases of calls that are seldom made (helpers/oddcases.c): the tree of the trace, of a replay, what is
missing. By ptrace, and by eBPF where that can be. Every day the cheap ones, in one trace. No lab.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from davidlib import build, util
from helpers.traced import Node, tree_of_disk, tree_of_trace

TREE = Path(__file__).resolve().parents[2]
BUILD = TREE / "build"
FULL = os.environ.get("DAVID_SCALE") == "full"

# 100,000 files, 10,000 threads one after the other, 2,000 at a time.
LONG = ["manyfiles", "threads", "manyatonce"]
ROOT = ["openat2", "times", "rootdir", "mntns", "pivot", "setuids", "exchange", "notify"]
CASES = [
    *("tmpfile", "exchange", "copy", "fallocs", "rwf", "mmaps", "locks", "openat2", "times", "names", "deep"),
    *("forks", "clones", "threadexec", "sigdeath", "eintr", "sockets", "memfd", "notify", "dirs", "links"),
    *("closes", "unlinked", "limits", "direct", "rootdir", "mntns", "pivot", "setuids", "futexes", *LONG),
]
# What a replay leaves out of each, and compile says: ioctl(FICLONE), RWF_NOAPPEND, open_by_handle_at of a
# directory that is none of the trace's, fexecve of memory, two calls that are none, a tmpfs, another user.
MISSING = {
    "copy": {"not-replayed": 1},
    "rwf": {"not-replayed": 1},
    "openat2": {"not-replayed": 1},
    "memfd": {"not-replayed": 1},
    "limits": {"unknown": 2},
    "mntns": {"elsewhere": 4},
    "setuids": {"not-replayed": 2, "without-rights": 3},
}
REASONS = ["not-replayed", "without-rights", "unknown", "left-out", "missing", "elsewhere", "starved"]
# By eBPF extended attributes have no values; a program in memory has a name.
MISSING_BPF = {**MISSING, "times": {"not-replayed": 3}, "memfd": {}}
# The last one that a case runs with: it has executed another program.
STATUS = {"threadexec": 3}


@dataclass
class Compared:
    work: Path
    trace: dict[str, Node]
    disk: dict[str, Node]
    replay: dict[str, Node]
    stats: dict[str, int]
    run: dict[str, int]

    def missing(self) -> dict[str, int]:
        return {reason: self.stats[reason] for reason in REASONS if self.stats[reason]}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for name in ("david-trace", "david-compile", "david-replay"):
        build.ensure(name)
    out = tmp_path_factory.mktemp("oddcases") / "oddcases"
    flags = ["-O1", "-Wall", "-Werror", "-Wno-unused-result", "-Wno-stringop-overread", "-pthread"]
    source = TREE / "tests/system/helpers/oddcases.c"
    subprocess.run(["cc", *flags, "-Wno-maybe-uninitialized", "-o", out, source], check=True)
    said = subprocess.run([out], capture_output=True, text=True, check=True).stdout.split()
    assert sorted(said) == sorted(CASES) and len(CASES) == 33
    return out


@pytest.fixture(scope="module")
def bpf(tmp_path_factory: pytest.TempPathFactory) -> None:
    if os.geteuid() or not (Path("/usr/include/bpf/libbpf.h").exists() and shutil.which("clang")):
        pytest.skip("not root, no libbpf-dev, or no clang")
    if not Path("/sys/kernel/btf/vmlinux").exists():
        pytest.skip("the kernel says nothing of its types")
    try:
        build.ensure("david-trace-bpf")
    except util.UserError as error:
        pytest.fail(str(error))
    words = [BUILD / "david-trace-bpf", "record", "--out", tmp_path_factory.mktemp("bpf") / "t.dtr"]
    done = subprocess.run([*words, "--share-disk", "--", "true"], capture_output=True, text=True)
    if "the kernel does not take the tracer" in done.stderr:
        pytest.skip(done.stderr)


@pytest.fixture(scope="module")
def program32(program: Path) -> Path:
    out = program.with_name("oddcases32")
    source = TREE / "tests/system/helpers/oddcases.c"
    built = subprocess.run(["cc", "-m32", "-O1", "-w", "-pthread", "-o", out, source], check=False)
    if built.returncode or subprocess.run([out], stdout=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("no 32-bit programs here")
    return out


def below(tree: dict[str, Node], top: Path) -> dict[str, Node]:
    return {str(Path(path).relative_to(top)): node for path, node in tree.items()}


def compare(top: Path, tracer: str, *command: str | Path, status: int = 0) -> Compared:
    """The command's trace, the disk, and a replay; what the command says is wrong."""
    work, target = top / "work", top / "target"
    work.mkdir(parents=True)
    words = [BUILD / tracer, "record", "--out", top / "t.dtr", "--share-disk", "--", *command]
    done = subprocess.run(words, cwd=work, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (status, "")
    subprocess.run([BUILD / "david-trace", "finish", top / "t.dtr", top / "t.db"], check=True)
    database = sqlite3.connect(top / "t.db")
    database.text_factory = lambda text: text.decode(errors="surrogateescape")
    trace, disk = tree_of_trace(database, work), tree_of_disk(work)
    database.close()
    words = [BUILD / "david-compile", "--stats", top / "t.db", top / "t.wl"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    stats = {key: int(value) for key, value in (line.split() for line in said.splitlines())}
    target.mkdir()
    subprocess.run([BUILD / "david-replay", "prepare", "--holes", top / "t.wl", target], check=True)
    words = [BUILD / "david-replay", "run", "--share-disk", "--timing", "afap", top / "t.wl", target]
    run = json.loads(subprocess.run(words, capture_output=True, text=True).stdout)
    again = Path(f"{target}{work}")
    replay = below(tree_of_disk(again), again)
    return Compared(work, below(trace, work), below(disk, work), replay, stats, run)


def differences(one: dict[str, Node], other: dict[str, Node]) -> list[str]:
    return [
        f"{name}: {one.get(name)}, on the disk {other.get(name)}"
        for name in sorted(one.keys() | other.keys())
        if one.get(name) != other.get(name)
    ]


def check(c: Compared, missing: dict[str, int]) -> None:
    assert not differences(c.trace, c.disk)
    assert not differences(c.replay, c.disk)
    assert c.run["same"] == c.run["compared"] > 0, c.run["differences"]
    assert c.run["compared"] == c.run["made"] or c.stats["op.LISTXATTR"]
    assert not c.run["stalls"]
    assert c.missing() == missing


def possible(cases: list[str]) -> list[str]:
    return [case for case in cases if case not in ROOT or not os.geteuid()]


EACH = """\
odd=$1; shift
for case; do mkdir $case && cd $case || exit; $odd $case || [ $? = 3 ] || exit; cd ..; done
"""


def check_in_one_trace(program: Path, tmp_path: Path) -> None:
    """The shell is one more program, in front of each."""
    cases = possible([case for case in CASES if case not in LONG])
    compared = compare(tmp_path, "david-trace", "sh", "-c", EACH, "sh", program, *cases)
    missing: dict[str, int] = {}
    for case in cases:
        for reason, count in MISSING.get(case, {}).items():
            missing[reason] = missing.get(reason, 0) + count
    check(compared, missing)


def test_all_cases_that_are_cheap_in_one_trace(program: Path, tmp_path: Path) -> None:
    check_in_one_trace(program, tmp_path)


def test_the_same_of_a_program_of_32_bits(program32: Path, tmp_path: Path) -> None:
    check_in_one_trace(program32, tmp_path)


@pytest.mark.skipif(not FULL, reason="each alone only with DAVID_SCALE=full")
@pytest.mark.parametrize("case", possible(CASES))
def test_a_case_by_ptrace(case: str, program: Path, tmp_path: Path) -> None:
    check(compare(tmp_path, "david-trace", program, case, status=STATUS.get(case, 0)), MISSING.get(case, {}))


@pytest.mark.skipif(not FULL, reason="each alone only with DAVID_SCALE=full")
@pytest.mark.parametrize("case", possible(CASES))
def test_a_case_by_ebpf(case: str, program: Path, bpf: None, tmp_path: Path) -> None:
    compared = compare(tmp_path, "david-trace-bpf", program, case, status=STATUS.get(case, 0))
    check(compared, MISSING_BPF.get(case, {}))
