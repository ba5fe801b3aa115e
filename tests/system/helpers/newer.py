# SPDX-License-Identifier: GPL-2.0
"""Programs that are newer than the lab's, from the directory that newerprograms.py makes on the host: those
that xfs on zones needs, mkfs.xfs from 6.14 on. Its kernel is the newest.
"""

from __future__ import annotations

import os

from davidlib.util import CACHE
from helpers.filesystems import UUID, Tools
from helpers.guest import Failed, run

ROOT = CACHE / "roots" / "newer-xfsprogs"
# File systems on zones
NEWER = {"xfs": Tools(("mkfs.xfs", "-q", "-f", "-m", f"uuid={UUID}"), ("xfs_repair", "-n"))}


def newer(*words: str) -> str:
    """What such a program says. It sees the devices of the lab."""
    if not ROOT.exists():
        raise Failed(f"{ROOT} is not there: `make zones-xfs` makes it")
    for name in ("dev", "proc", "sys"):
        if not os.path.ismount(ROOT / name):
            run("mount", "--rbind", f"/{name}", str(ROOT / name))
    return run("chroot", str(ROOT), *words)
