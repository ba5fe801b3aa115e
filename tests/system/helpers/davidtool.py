# SPDX-License-Identifier: GPL-2.0
"""The tree's `david` as a program: it succeeds and prints, or refuses and says why."""

from __future__ import annotations

import subprocess
import sys

from helpers.guest import TREE


def called(*words: str) -> subprocess.CompletedProcess:
    line = [sys.executable, "-S", str(TREE / "tools/david"), *words]
    return subprocess.run(line, capture_output=True, text=True)


def david(*words: str) -> str:
    """What it prints."""
    done = called(*words)
    assert not done.returncode, (words, done)
    return done.stdout


def refused(*words: str) -> str:
    """What it says on stderr."""
    done = called(*words)
    assert done.returncode == 1, (words, done)
    return done.stderr
