#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The files of the tree that the installed david needs below PREFIX/share/dm-david: each one's mode and path.

    modules.py tools    the modules of davidlib that all commands import but those of labs
    modules.py lab      what labs need besides: the rest of davidlib, the sources of module and programs
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # who installs may be root

from davidlib.source import LIBRARY, imported, tracked  # noqa: E402
from davidlib.util import TOOLS, TREE  # noqa: E402

# Of programs, the sources: a run's id has their digests.
PROGRAMS = ("sim", "store", "classify", "trace", "compile", "replay", "calls", "common")
SOURCES = ("dm-david/", "model/", "classifier/", *(f"tools/{room}/" for room in PROGRAMS))
SUFFIXES = (".c", ".h", ".S", ".lds", ".sh", ".txt", "")  # without one: Makefile, Kbuild
BESIDE = ("Makefile", "tools/program.mk", "tools/setup", "tools/setup-bench.txt", "tools/setup-python.txt")


def commands() -> list[str]:
    loader = importlib.machinery.SourceFileLoader("david_program", str(TOOLS / "david"))
    spec = importlib.util.spec_from_loader("david_program", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return [name for name in module.COMMANDS if not name.startswith(module.OF_LABS)]


def of_tools() -> set[Path]:
    todo = {LIBRARY / "util.py", *(LIBRARY / f"{name.replace('.', '/')}.py" for name in commands())}
    seen: set[Path] = {LIBRARY / "__init__.py"}
    while todo:
        path = todo.pop()
        seen |= {path, path.with_name("__init__.py")}
        todo |= imported(path) - seen
        # A module's page of style lies beside it.
        seen |= {style for style in [path.with_suffix(".css")] if style.exists()}
    return {path.relative_to(TREE) for path in seen}


def of_labs() -> set[Path]:
    files = [path for path in tracked(TREE) if path.suffix != ".md"]
    sources = {path for path in files if path.suffix in SUFFIXES and str(path).startswith(SOURCES)}
    library = {path for path in files if path.is_relative_to(LIBRARY.relative_to(TREE))}
    return (sources | library | {Path(name) for name in BESIDE}) - of_tools()


def main() -> int:
    for path in sorted({"tools": of_tools, "lab": of_labs}[sys.argv[1]]()):
        print(755 if os.access(TREE / path, os.X_OK) else 644, path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
