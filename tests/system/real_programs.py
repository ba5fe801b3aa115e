#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Real programs, each recorded, compiled, replayed and compared: those of real_programs.toml.

Interpreters, compilers and build systems, databases with their servers, servers under load, backups,
containers: Debian's packages. One whose commands are not here is left out, and said. Each runs in an empty
directory. The tree that follows from the trace must be that on the disk. The replay must come to 99.9 % of
the original's results, to the same tree, and never stand still.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from helpers.traced import tree_of_disk, tree_of_trace
from programs_hunt import Names, Tools, below, differences, judge, replay, run

TREE = Path(__file__).resolve().parents[2]
TABLE = TREE / "tests/system/real_programs.toml"
LIMIT_S = 300
AWAIT = 'await() { for i in $(seq 300); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; return 1; }'
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"


@dataclass(frozen=True)
class Program:
    commands: str
    script: str
    packages: str = ""


PROGRAMS = {name: Program(**words) for name, words in tomllib.loads(TABLE.read_text()).items()}
# Of each kind one or more: for `make trace-test`.
DAILY = ("perl", "node", "emacs", "meson", "scons", "mariadb", "redis", "nginx", "restic", "borg")


def missing(program: Program) -> list[str]:
    """Of the commands that it needs, those that are not here."""
    return [name for name in program.commands.split() if not shutil.which(name, path=PATH)]


def record(name: str, top: Path) -> int:
    """The program's exit status."""
    work = top / "work"
    work.mkdir()
    for path in (top, work):
        path.chmod(0o755)
    command = [TREE / "tools/david", "trace", "record", "-o", top / "t.db", "--share-disk", "--"]
    words = ["bash", "-c", f"{AWAIT}\ncd {work} || exit\n{PROGRAMS[name].script}"]
    with (top / "said").open("w") as said:
        return subprocess.run(
            [str(word) for word in [*command, *words]],
            env=os.environ | {"TREE": str(TREE), "PATH": PATH},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            timeout=LIMIT_S,
            check=False,
        ).returncode


def try_program(name: str, top: Path) -> tuple[dict[str, object], list[str]]:
    """The replay's figures, and what is wrong."""
    tools, work = Tools(Path()), top / "work"
    status = record(name, top)
    if status:
        return {}, [f"status {status}: {(top / 'said').read_text()[-300:]}"]
    disk = tree_of_disk(work)
    with sqlite3.connect(f"file:{top / 't.db'}?mode=ro", uri=True) as connection:
        connection.text_factory = lambda text: text.decode(errors="surrogateescape")
        wrong = differences("trace", below(tree_of_trace(connection, work), work), below(disk, work))
    run(tools.compile, top / "t.db", top / "t.wl", good=(0, 2))
    figures = replay(tools, top, "afap")
    again = top / "afap" / work.relative_to("/")
    return figures, wrong + judge(figures) + differences("tree", on_disk(again), on_disk(work))


# Of a socket or a device only the name is in a replay.
KEPT = {stat.S_IFDIR, stat.S_IFLNK, stat.S_IFIFO}


def on_disk(top: Path) -> Names:
    tree = below(tree_of_disk(top), top)
    return {
        name: (kind if kind in KEPT else stat.S_IFREG, size or 0, target)
        for name, (kind, size, target) in tree.items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs; all, if not given")
    parser.add_argument("--scratch", type=Path, default=Path(gettempdir()))
    parser.add_argument("--keep", type=Path, help="a directory for what was recorded of those that fail")
    args = parser.parse_args()
    bad = 0
    for name in args.names or PROGRAMS:
        if missing(PROGRAMS[name]):
            print(f"{name}: needs Debian's {PROGRAMS[name].packages or PROGRAMS[name].commands}", flush=True)
            continue
        with TemporaryDirectory(dir=args.scratch) as temporary:
            start = time.monotonic()
            try:
                figures, wrong = try_program(name, Path(temporary))
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                figures, wrong = {}, [str(error)[-400:]]
            took = time.monotonic() - start
            if wrong and args.keep:
                kept = args.keep / name.replace(" ", "-").replace(",", "")
                shutil.rmtree(kept, ignore_errors=True)
                subprocess.run(["cp", "-a", temporary, kept], check=False)
        same, compared = (int(str(figures.get(key, 0))) for key in ("same", "compared"))
        share = f"{100 * same / compared:.3f} % of {compared}" if compared else "nothing"
        lines = [f"{name}: {share}, {took:.0f} s", *(f"    {one[:300]}" for one in wrong[:6])]
        print(*lines, sep="\n", flush=True)
        bad += bool(wrong)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
