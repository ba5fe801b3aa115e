# SPDX-License-Identifier: GPL-2.0
"""The tree's `david` as a program: it succeeds and prints, or refuses and says why.

A copy of this process becomes it: in a lab a start of Python takes ten times as long as a fork.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import IO, NoReturn

from helpers.guest import TREE
from helpers.scripts import loaded


@cache
def program() -> ModuleType:
    return loaded(TREE / "tools/david", "david_program")


def become(words: tuple[str, ...], output: tuple[IO[str], IO[str]]) -> NoReturn:
    """Never comes back, whatever happens: the caller of called() goes on in the other process."""
    status = 1
    try:
        for number, file in enumerate(output, 1):
            os.dup2(file.fileno(), number)
        sys.stdout, sys.stderr = (os.fdopen(os.dup(number), "w") for number in (1, 2))
        sys.argv = ["david", *words]
        try:
            status = program().main()
        except SystemExit as end:  # argparse's
            status = end.code if isinstance(end.code, int) else 1
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        os.write(2, traceback.format_exc().encode())
        status = 1
    finally:
        os._exit(status)


def called(*words: str) -> subprocess.CompletedProcess[str]:
    # Modules are read once, before there are copies.
    for module, commands in program().COMMANDS.items():
        if words[0] in commands:
            import_module(f"davidlib.{module}")
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        child = os.fork()
        if not child:
            become(words, (output, errors))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said = []
        for file in (output, errors):
            file.seek(0)
            said.append(file.read())
    return subprocess.CompletedProcess(["david", *words], status, *said)


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
