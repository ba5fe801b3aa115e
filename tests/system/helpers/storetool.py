# SPDX-License-Identifier: GPL-2.0
"""david-store inside a lab, where the tree cannot be written to: compiled once a boot."""

from __future__ import annotations

import subprocess

from helpers.guest import SCRATCH, TREE, run

PROGRAM = SCRATCH / "david-store"
# What the kernel and tools/store have in common.
SHARED = ("format", "poolfmt", "rangetable", "bitmap", "crc", "rawset", "rawpage")


def says(*words: str) -> tuple[int, str]:
    """Exit status and output."""
    if not PROGRAM.exists():
        SCRATCH.mkdir(parents=True, exist_ok=True)
        sources = [*(TREE / "tools/store").glob("*.c"), *(TREE / f"dm-david/lib/{name}.c" for name in SHARED)]
        run("cc", "-o", str(PROGRAM), *map(str, sources), "-lz")
    done = subprocess.run([str(PROGRAM), *words], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr
