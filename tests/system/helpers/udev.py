# SPDX-License-Identifier: GPL-2.0
"""udev beside the tests. It runs in the vm lab, not in the uml lab: it opens and reads each new disk, and
each that was open for writing. Meanwhile requests are not all the test's own, and nothing can be removed.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable

from davidlib.disk import dm

CONTROL = "/run/udev/control"
LIMIT = 60


def runs() -> bool:
    return os.path.exists(CONTROL)


def settle() -> bool:
    """Wait until udev has dealt with all that has happened; whether it has. Once in some hundred runs udevadm
    ends with "Failed to wait for daemon to reply: Broken pipe", and not for the disk's sake: it asks again.
    """
    # The lab's root is a chroot to udevadm, in which it would wait for nothing.
    env = dm.environment() | {"SYSTEMD_IGNORE_CHROOT": "1"}
    words = ["udevadm", "settle", f"--timeout={LIMIT}"]
    deadline = time.monotonic() + LIMIT
    while runs() and subprocess.run(words, env=env, check=False).returncode:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def patiently(attempt: Callable[[], bool]) -> bool:
    """Whether the attempt succeeds before the time is up; udev ends what it does in between."""
    deadline = time.monotonic() + LIMIT
    while not attempt():
        if time.monotonic() > deadline:
            return False
        settle()
        time.sleep(0.1)
    return True
