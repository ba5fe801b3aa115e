# SPDX-License-Identifier: GPL-2.0
"""What a worker of Dask is handed. It may be a process of another machine, which has the tree at the same
path, and no davidlib on its own path.

So the function goes there by value, and starts one.py. A function within a function always goes by value;
Dask would send another one as a name to import.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def by_value() -> Callable[[str, dict[str, Any]], dict[str, Any]]:
    def execute(tools: str, described: dict[str, Any]) -> dict[str, Any]:
        """one.execute() of the tree that the sweep was started from."""
        import json
        import os
        import subprocess
        import sys

        if not os.path.isdir(tools):
            return {"error": f"this worker has no {tools}: it needs dm-david's tree at the same path"}
        words = ("setpriv", "--pdeathsig", "TERM", sys.executable, "-B", "-m", "davidlib.bench.one")
        done = subprocess.run(words, cwd=tools, input=json.dumps(described), capture_output=True, text=True)
        if done.returncode:
            return {"error": f"{words[-1]}: exit status {done.returncode}: {done.stderr.strip()[-1500:]}"}
        came: dict[str, Any] = json.loads(done.stdout)
        return came

    return execute
