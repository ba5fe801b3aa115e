#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Programs that are newer than this machine's, in a directory of their own with the libraries that they need:
xfsprogs, as xfs on zones needs mkfs.xfs 6.14. Fetched from the newest suite of apt's lists. On the host.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from davidlib.lab import archive
from davidlib.util import UserError, say
from helpers.newer import ROOT

# With what they are linked to; udev, Python and the like are not for mkfs.xfs and xfs_repair.
PACKAGES = ("xfsprogs", "libc6", "libblkid1", "libuuid1", "libinih1", "liburcu8t64")


def make() -> None:
    if ROOT.exists():
        return
    say(f"fetching {', '.join(PACKAGES)}, once ({ROOT})")
    ROOT.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT.parent) as scratch:
        root, debs = Path(scratch, "root"), Path(scratch, "debs")
        debs.mkdir()
        for name in ("bin", "sbin", "lib", "lib64"):
            (root / "usr" / name).mkdir(parents=True)
            (root / name).symlink_to(f"usr/{name}")
        for name in ("dev", "proc", "sys"):
            (root / name).mkdir()
        for deb in archive.download(PACKAGES, debs):
            subprocess.run(["dpkg-deb", "-x", deb, root], check=True)
        shutil.move(root, ROOT)


if __name__ == "__main__":
    try:
        make()
    except UserError as error:
        sys.exit(f"newerprograms: {error}")
