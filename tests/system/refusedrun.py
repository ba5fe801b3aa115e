#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The commands of refused.toml that need no lab: what they end with, say, and leave behind.

  refusedrun.py [--daily | --seldom] [--planted]

Each runs in namespaces of this program's own, where no other process is seen and all places for temporary
files are empty. The last line says how many commands were tried. With --planted something is left behind
each time, and has to be found.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.dont_write_bytecode = True

from helpers import leftovers  # noqa: E402
from helpers.guest import TREE  # noqa: E402

INSIDE = "DAVID_REFUSED_IN"
NO_NAMESPACES = 77
# /run as a whole is the machine's.
EMPTY = ("/tmp", "/var/tmp", "/dev/shm")


def contained() -> int:
    """Run this program again in namespaces of its own; its status."""
    root = [] if os.geteuid() == 0 else ["-r"]
    words = ["unshare", *root, "-m", "-p", "-f", "--mount-proc", "--kill-child"]
    if subprocess.run([*words, "true"], capture_output=True).returncode:
        print("refused: no namespaces for this user (unshare): nothing was run", file=sys.stderr)
        return NO_NAMESPACES
    words += [sys.executable, __file__, *sys.argv[1:]]
    return subprocess.run(words, env=os.environ | {INSIDE: "yes"}).returncode


def empty(top: Path) -> None:
    """Empty places, but for this tree, which may lie in one of them."""
    own = [path for path in (TREE, TREE.parent / "shared") if path.is_dir() and str(path).startswith(EMPTY)]
    for number, path in enumerate(own):
        (top / f"own-{number}").mkdir()
        subprocess.run(["mount", "--rbind", path, top / f"own-{number}"], check=True)
    for place in EMPTY:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "refused", place], check=True)
    for number, path in enumerate(own):
        path.mkdir(parents=True)
        subprocess.run(["mount", "--move", top / f"own-{number}", path], check=True)
        (top / f"own-{number}").rmdir()


def _process() -> None:
    subprocess.Popen(["sleep", "60"], start_new_session=True)


def _mount() -> None:
    subprocess.run(["mount", "-t", "tmpfs", "planted", "/var/tmp"], check=True)


def _taken_away() -> None:
    Path("refused.img").unlink()


# What is planted behind a command, and what must be complained of.
PLANTED: dict[str, tuple[Callable[[], object], str]] = {
    "a temporary file": (lambda: tempfile.mkstemp(), "left behind, files: /tmp/"),
    "a file in memory": (lambda: Path("/dev/shm/planted").touch(), "left behind, files: /dev/shm/planted"),
    "a file here": (lambda: Path("planted").touch(), "left behind, files: "),
    "a process": (_process, "left behind, processes: "),
    "a mount": (_mount, "left behind, mounts: "),
    "a file that is gone": (_taken_away, "gone, files: "),
}
ROW = leftovers.Row("store check refused.img", 1, ("refused.img",), before="truncate -s 8M refused.img")
WRONG = {
    "a status": leftovers.Row("store check refused.img", 2, before=ROW.before),
    "a word": leftovers.Row("store check refused.img", 1, ("no such word",), before=ROW.before),
    "lines": leftovers.Row("store check refused.img", 1, before=ROW.before, lines=2),
}


def find_planted(top: Path) -> int:
    missed = [] if not leftovers.complaints(ROW, top / "control") else ["nothing was planted"]
    for number, (name, (plant, says)) in enumerate(PLANTED.items()):
        if not any(says in one for one in leftovers.complaints(ROW, top / f"planted-{number}", plant)):
            missed.append(name)
    missed += [name for name, row in WRONG.items() if not leftovers.complaints(row, top / name)]
    for name in missed:
        print(f"not found: {name}", file=sys.stderr)
    print(f"planted: {len(PLANTED) + len(WRONG) - len(missed)} of {len(PLANTED) + len(WRONG)} found")
    return 1 if missed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--daily", action="store_true", help="none that is seldom")
    parser.add_argument("--seldom", action="store_true", help="only those")
    parser.add_argument("--planted", action="store_true")
    args = parser.parse_args()
    if INSIDE not in os.environ:
        return contained()
    top = Path("/run/refused") if os.access("/run", os.W_OK) else Path.home() / ".refused"
    top.mkdir()
    empty(top)
    os.environ.pop("TMPDIR", None)
    tempfile.tempdir = None
    try:
        if args.planted:
            return find_planted(top)
        wanted = [row for row in leftovers.rows("host")
                  if not (args.daily and row.seldom or args.seldom and not row.seldom)]
        found = [leftovers.complaints(row, top / f"{number}") for number, row in enumerate(wanted)]
    finally:
        shutil.rmtree(top)
    for one in (line for lines in found for line in lines):
        print(one, file=sys.stderr)
    print(f"refused: {len(wanted)} commands, {sum(map(bool, found))} of them wrong")
    return 1 if any(found) or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
