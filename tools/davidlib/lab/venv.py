# SPDX-License-Identifier: GPL-2.0
"""The private Python environment: virtme-ng and pytest."""

import subprocess
from pathlib import Path

from ..util import CACHE, TREE, UserError

VENV = CACHE / "venv"


def ensure() -> Path:
    """The environment's bin directory, set up when it is not there or lacks something."""
    if subprocess.run([TREE / "tools" / "setup", "python"], check=False).returncode:
        raise UserError("the vm lab needs the Python tools; setting them up failed, see above")
    return VENV / "bin"
