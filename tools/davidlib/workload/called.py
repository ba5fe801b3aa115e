# SPDX-License-Identifier: GPL-2.0
"""Which programs of the system a run has called, and of which versions they are. It is asked where the run
runs, when all is measured.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from .. import source
from ..util import BUILD

# What to say to a program that does not answer to --version.
SHORT = {"mke2fs", "debugfs", "mkfs.ext2", "mkfs.ext3", "mkfs.ext4", "mkfs.xfs", "mkfs.f2fs"}
NUMBER = re.compile(r"\b\d+(?:\.\d+)+[\w.+~-]*|(?<=[-v])\d[\w.+~-]*")

# Those of a script that a user wrote are not started once more to be asked.
_asked: set[str] = set()
_looked_at: set[str] = set()


def note(program: str) -> None:
    """A program that answers to --version, or is of this tree, whose sources are known."""
    _asked.add(program)


def note_script(text: str) -> None:
    """The words of a shell's script may be programs: which of them it calls nobody knows before."""
    _looked_at.update(re.findall(r"[\w./+-]+", f"sh {text}"))


def _files(words: set[str]) -> dict[str, str]:
    """Of those that are programs: name and file."""
    found = {Path(word).name: shutil.which(word) for word in sorted(words)}
    return {name: path for name, path in found.items()
            if path and os.path.isfile(path) and not Path(path).is_relative_to(BUILD)}


def _digest(path: str) -> str:
    return f"sha256 {source.short(Path(path).read_bytes())}"


def _version(name: str, path: str) -> str:
    words = [path, "-V" if name in SHORT else "--version"]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", env=os.environ | {"LC_ALL": "C"})
    number = NUMBER.search(done.stdout)
    return number[0] if number and not done.returncode else _digest(path)


def versions() -> dict[str, str]:
    """By program; and of the kernel and of Python."""
    found = {"kernel": os.uname().release, "python3": platform.python_version()}
    # Another name: a run that calls the same program by itself has its version.
    found |= {f"{name} in a command": _digest(path) for name, path in _files(_looked_at).items()}
    return found | {name: _version(name, path) for name, path in _files(_asked).items()}
