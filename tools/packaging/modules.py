#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The modules of davidlib that the installed david needs, one file a line.

All that its commands import is needed, but for the commands of labs, which need the source tree.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # who installs may be root

from davidlib.source import LIBRARY, imported  # noqa: E402
from davidlib.util import TOOLS  # noqa: E402

NOT_INSTALLED = ("lab.cli", "paper.cli")


def commands() -> list[str]:
    loader = importlib.machinery.SourceFileLoader("david_program", str(TOOLS / "david"))
    spec = importlib.util.spec_from_loader("david_program", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return [name for name in module.COMMANDS if name not in NOT_INSTALLED]


def needed() -> set[Path]:
    todo = {LIBRARY / "util.py", *(LIBRARY / f"{name.replace('.', '/')}.py" for name in commands())}
    seen: set[Path] = set()
    while todo:
        path = todo.pop()
        seen |= {path, path.with_name("__init__.py")}
        todo |= imported(path) - seen
    return seen


def main() -> None:
    for path in sorted({LIBRARY / "__init__.py"} | needed()):
        print(path.relative_to(LIBRARY))


if __name__ == "__main__":
    main()
