# SPDX-License-Identifier: GPL-2.0
"""What a worker of Dask is handed. It may be a process of another machine, which has the tree at the same
path, and no davidlib on its own path before it is told where that is.

So the function goes there by value. A function within a function always does; Dask would send another one as
a name to import.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def by_value() -> Callable[[str, dict[str, Any]], dict[str, Any]]:
    def execute(tools: str, described: dict[str, Any]) -> dict[str, Any]:
        """one.execute() of the tree that the sweep was started from."""
        import os
        import sys

        if not os.path.isdir(tools):
            return {"error": f"this worker has no {tools}: it needs dm-david's tree at the same path"}
        if tools not in sys.path:
            sys.path.insert(0, tools)
        from davidlib.bench import one

        return one.execute(described)

    return execute
