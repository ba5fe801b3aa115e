#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The modules of davidlib that the installed david needs, one file name a line.

All that its commands import is needed, but for the labs' command: labs need the source tree.
"""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.util
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[1]
LIBRARY = TOOLS / "davidlib"
NOT_INSTALLED = ("lab_cli",)


def commands() -> list[str]:
    loader = importlib.machinery.SourceFileLoader("david_program", str(TOOLS / "david"))
    spec = importlib.util.spec_from_loader("david_program", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return [name for name in module.COMMANDS if name not in NOT_INSTALLED]


def imported(name: str) -> set[str]:
    """The modules of davidlib that one of them imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((LIBRARY / f"{name}.py").read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= {node.module.split(".")[0]} if node.module else {alias.name for alias in node.names}
    return {found_name for found_name in found if (LIBRARY / f"{found_name}.py").exists()}


def needed() -> set[str]:
    todo, seen = {"__init__", "util", *commands()}, set()
    while todo:
        name = todo.pop()
        seen.add(name)
        todo |= imported(name) - seen
    return seen


def main() -> None:
    for name in sorted(needed()):
        print(f"{name}.py")


if __name__ == "__main__":
    main()
