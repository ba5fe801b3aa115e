# SPDX-License-Identifier: GPL-2.0
"""david calibrate on fake disks in virtual time, by the block layer: it finds the disk's own profile."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from davidlib.drive import files

from cases import case
from helpers.guest import TREE, fake_disk, ram_disk, run, say
from helpers.units import MIB

import calibrated

# Empty: all disks.
PROFILES = os.environ.get("DAVID_CALIBRATED", "hitachi-hds728080pla380").split() or calibrated.disks()
OUT = Path("/tmp/found.profile")


@case(full=True)
def a_fake_disk_in_virtual_time_gives_its_own_profile_back() -> None:
    failed = []
    for name in PROFILES:
        size = int(calibrated.Drive(files.path_of(name)).value("capacity")) * 512
        with ram_disk(512 * MIB) as dev, fake_disk("drive", size, dev, "--profile", name) as disk:
            line = [sys.executable, "-S", str(TREE / "tools/david"), "calibrate", disk, "--write", "--force"]
            said = run(*line, "-o", str(OUT))
            found = calibrated.differences(files.path_of(name), OUT)
            say(f"calibrated {json.dumps({'profile': name} | found)}\n{said}")
            wrong = [key for key, limit in calibrated.LIMITS.items() if found[key] > limit]
            failed += [(name, wrong, found)] if wrong else []
    assert not failed, failed
