# SPDX-License-Identifier: GPL-2.0
"""The C programs that commands are made of: built here as `make` would, where there is a source tree."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from .packages import to_get
from .util import BUILD, BY_PIP, INSTALLED, PREFIX, TREE, UserError, locked, say

# By program: where its makefile is, and where it is installed.
DIRECTORIES = {
    "david-sim": "tools/sim",
    "david-store": "tools/store",
    "david-classify": "tools/classify",
    "david-trace": "tools/trace",
    "david-compile": "tools/compile",
    "david-replay": "tools/replay",
    "david-trace-bpf": "tools/trace/bpf",
}
INSTALLED_AT = {"david-sim": PREFIX / "bin"}


def ensure(name: str) -> Path:
    """The program, as new as its sources. In a tree that cannot be written to, as in a lab, as it is."""
    if BY_PIP:
        found = shutil.which(name)
        if not found:
            raise UserError(f"there is no {name} in PATH: pip installs none of the programs in C; install "
                            "the package dm-david, or build it in the source tree (make programs) and put "
                            "build/ into PATH")
        return Path(found)
    if INSTALLED:
        program = INSTALLED_AT.get(name, PREFIX / "libexec" / "dm-david") / name
        if not program.exists():
            raise UserError(f"there is no {program}; install dm-david again")
        return program
    program = BUILD / name
    if program.exists() and not os.access(BUILD, os.W_OK):
        return program
    if not shutil.which("make") or not shutil.which("cc"):
        raise UserError(f"{name} needs make and a C compiler to be built; {to_get('make', 'gcc')}")
    # Beside the sources not by another path than `make`: what depends on what is noted by path.
    place = [] if BUILD == TREE / "build" else [f"BUILD_TOP={BUILD}"]
    make = ["make", "-s", "-C", str(TREE / DIRECTORIES[name]), *place]
    # As a rule there is nothing to build, and so nobody to wait for.
    if not subprocess.run([*make, "-q"], capture_output=True).returncode:
        return program
    if not program.exists():
        say(f"building {name}")
    with locked(BUILD / f"{name}.lock", f"it is building {name}"):
        done = subprocess.run(make, capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"{done.stderr.rstrip()}\nbuilding {name} failed; try 'make -C {DIRECTORIES[name]}'")
    return program
