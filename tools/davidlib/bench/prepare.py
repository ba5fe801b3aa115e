# SPDX-License-Identifier: GPL-2.0
"""What a sweep needs before its first run: the labs' module, and Dask and Altair in an environment.

The environment is set up when it is first needed, as these are large: `tools/setup bench`.
"""

from __future__ import annotations

import os
import subprocess
import sys

from ..util import CACHE, TREE, UserError

VENV = CACHE / "venv-bench"
INSIDE = "DAVID_BENCH_PYTHON"


def become() -> None:
    """Go on as the same command in that environment; returns there."""
    if os.environ.get(INSIDE) == str(VENV):
        return
    if subprocess.run([TREE / "tools" / "setup", "bench"], check=False).returncode:
        raise UserError("sweeps and reports need Dask, Altair and vl-convert; setting them up failed, see "
                        "above")
    python = VENV / "bin" / "python3"
    os.execve(python, [str(python), *sys.argv], os.environ | {INSIDE: str(VENV)})


def lab(kind: str, kernel: str) -> None:
    words = ["lab", "module", "--kind", kind, "--kernel", kernel]
    done = subprocess.run([sys.executable, str(TREE / "tools" / "david"), *words], stdout=subprocess.DEVNULL)
    if done.returncode:
        raise UserError("the lab's module cannot be built, see above")
