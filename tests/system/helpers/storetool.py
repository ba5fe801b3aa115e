# SPDX-License-Identifier: GPL-2.0
"""david-store inside a lab, where the tree cannot be written to: as it was built before, unless a source is
newer. Then it is compiled here, which takes a lab without KVM a quarter of a minute.
"""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from helpers.guest import SCRATCH, TREE, run

BUILT = TREE / "build/david-store"


@cache
def program() -> str:
    sources = run("make", "-s", "-C", str(TREE / "tools/store"), "sources").split()
    read = [*sources, *TREE.glob("tools/store/*.h"), *TREE.glob("dm-david/lib/*.h")]
    if BUILT.exists() and BUILT.stat().st_mtime > max(Path(file).stat().st_mtime for file in read):
        return str(BUILT)
    SCRATCH.mkdir(parents=True, exist_ok=True)
    compiled = str(SCRATCH / "david-store")
    run("cc", "-o", compiled, *sources, "-lz")
    return compiled


def says(*words: str) -> tuple[int, str]:
    """Exit status and output."""
    done = subprocess.run([program(), *words], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr
