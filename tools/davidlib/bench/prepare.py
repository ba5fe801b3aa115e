# SPDX-License-Identifier: GPL-2.0
"""What a sweep needs before its first run: the labs' module, and Dask and Altair in an environment.

The environment is set up when it is first needed, as these are large: `tools/setup bench`. Its name has
the digest of what is in it: two trees with different lists do not take each other's away.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

from ..lab import needs
from ..util import CACHE, TREE, UserError, inner, no_ctrl_c

LIST = TREE / "tools" / "setup-bench.txt"
VENV = CACHE / f"venv-bench-{hashlib.sha256(LIST.read_bytes()).hexdigest()[:10]}"
INSIDE = "DAVID_BENCH_PYTHON"


def become() -> None:
    """Go on as the same command in that environment; returns there."""
    if os.environ.get(INSIDE) == str(VENV):
        return
    if not VENV.exists():
        needs.check("this command", needs.of_python())
    if subprocess.run([TREE / "tools" / "setup", "bench"], check=False).returncode:
        raise UserError("sweeps and reports need Dask, Altair and vl-convert; setting them up failed, see "
                        "above")
    python = VENV / "bin" / "python3"
    with no_ctrl_c():
        os.execve(python, [str(python), *sys.argv], os.environ | {INSIDE: str(VENV)})


def lab(kind: str, kernel: str) -> None:
    if inner("lab", "module", "--kind", kind, "--kernel", kernel, quiet=True):
        raise UserError("the lab's module cannot be built, see above")
