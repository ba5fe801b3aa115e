# SPDX-License-Identifier: GPL-2.0
"""david record and david sim: what the simulator makes of a recording is what the kernel modelled."""

from __future__ import annotations

import json
import sys

from cases import case
from helpers import raw
from helpers.davidtool import called, david, refused
from helpers.guest import SCRATCH, fake_disk, ram_disk
from helpers.timed import profile, timed_disk
from helpers.units import GIB, MIB

QUICK = profile("quick")
ASK = """
import os, random, sys
rnd = random.Random(5)
fd = os.open(sys.argv[1], os.O_RDWR)
for n in range(200):
    at = rnd.randrange(1 << 18) * 4096
    os.pread(fd, 4096, at) if n % 3 else os.pwrite(fd, bytes(4096), at)
    n % 50 or os.fsync(fd)
"""


@case
def a_recording_simulated_has_the_kernels_times_to_the_nanosecond() -> None:
    file = SCRATCH / "run.rec"
    with ram_disk(64 * MIB) as ram, timed_disk("rec", GIB, ram, QUICK) as disk:
        # What was before the recording must not show.
        with raw.opened(disk) as fd:
            raw.read(fd, 4096, 512 * MIB)
        david("record", "rec", str(file), "--", sys.executable, "-c", ASK, disk)
        assert "it exists" in refused("record", "rec", str(file), "--", "true")
    found = json.loads(david("sim", str(file), "--json"))
    assert found["compared"] >= 200 and not found["differ"], found
    assert found["recorded"] == found["simulated"], found
    assert found["recorded"]["flush"]["n"] >= 4, found
    other = json.loads(david("sim", str(file), "--json", "--option", "rpm=3600"))
    assert other["simulated"]["read"]["mean_ms"] > 1.3 * found["simulated"]["read"]["mean_ms"], other
    other = json.loads(david("sim", str(file), "--json", "--profile", "hitachi-hds728080pla380"))
    assert other["simulated"] != found["simulated"], other
    # A completion that is a nanosecond off is found.
    text = file.read_text()
    at = text.index(" completion=", text.index("david_complete:")) + len(" completion=")
    end = text.index(" ", at)
    file.write_text(f"{text[:at]}{int(text[at:end]) + 1}{text[end:]}")
    assert "1 differ" in called("sim", str(file)).stdout
    file.unlink()


@case(seldom=True)
def what_cannot_be_recorded_is_said_and_leaves_nothing() -> None:
    with ram_disk(64 * MIB) as ram, fake_disk("rec", GIB, ram):
        file = SCRATCH / "none.rec"
        assert "without a profile" in refused("record", "rec", str(file), "--", "true")
        assert "no such device" in refused("record", "nothing", str(file), "--", "true")
    with ram_disk(64 * MIB) as ram, timed_disk("rec", GIB, ram, QUICK):
        assert "no-such-program" in refused("record", "rec", str(file), "--", "no-such-program")
        assert "No such file" in refused("record", "rec", "/none/x.rec", "--", "true")
    assert not list(SCRATCH.glob("*none.rec*"))
    assert "none of the formats" in refused("sim", "/etc/passwd")
    assert "No such file" in refused("sim", "/none/x.rec")
