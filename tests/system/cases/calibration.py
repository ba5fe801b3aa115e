# SPDX-License-Identifier: GPL-2.0
"""david calibrate: which block devices it refuses."""

from __future__ import annotations

import subprocess
from pathlib import Path

from cases import case
from helpers.davidtool import called
from helpers.guest import fake_disk, mounted, ram_disk, run
from helpers.units import GIB, MIB

OUT = Path("/tmp/found.profile")


def calibrate(*words: str) -> subprocess.CompletedProcess:
    return called("calibrate", *words, "-o", str(OUT))


def refuses(because: str, *words: str) -> None:
    done = calibrate(*words)
    assert done.returncode == 1 and because in done.stderr, (words, done.returncode, done.stderr)
    assert not list(OUT.parent.glob("*found.profile*")), "something half made is left"


@case(seldom=True)
def a_disk_in_use_or_not_blank_is_refused() -> None:
    with ram_disk(64 * MIB) as dev, fake_disk("drive", 2 * GIB, dev) as disk:
        refuses("no block device", "/etc/passwd")
        refuses("no such device", "/dev/none")
        refuses("held by", dev)
        run("mkfs.ext4", "-q", disk)
        refuses("not blank: it holds ext4", disk, "--write")
        with mounted(disk, "ext4"):
            refuses("it is mounted on /", disk)
        run("wipefs", "-qa", disk)
        refuses("not blank: byte", disk, "--write")
        refuses("nothing turns here", disk)
