# SPDX-License-Identifier: GPL-2.0
"""Kernel and module of the labs, once, and before many ask for them at the same time."""

from __future__ import annotations

import subprocess
import sys

from ..util import TREE, UserError


def prepare_labs(kind: str) -> None:
    words = ["lab", "module", "--kind", kind, "--kernel", "6.12"]
    done = subprocess.run([sys.executable, str(TREE / "tools" / "david"), *words], stdout=subprocess.DEVNULL)
    if done.returncode:
        raise UserError("the lab's module cannot be built, see above")
