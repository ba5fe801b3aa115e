# SPDX-License-Identifier: GPL-2.0
"""The private Python environment: virtme-ng, pytest and ruff."""

import subprocess
from pathlib import Path

from ..util import CACHE, TREE, UserError

LIST = TREE / "tools" / "setup-python.txt"
VENV = CACHE / "venv"


def ensure() -> Path:
    """The environment's bin directory, set up when it is not there or not current."""
    done = VENV / "installed"
    current = done.exists() and done.read_bytes() == LIST.read_bytes()
    if not current and subprocess.run([TREE / "tools" / "setup", "python"], check=False).returncode:
        raise UserError("the vm lab needs the Python tools; setting them up failed, see above")
    return VENV / "bin"
