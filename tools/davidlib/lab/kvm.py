# SPDX-License-Identifier: GPL-2.0
"""Whether KVM can be used. That /dev/kvm exists says nothing: nested or half-working ones hang or abort."""

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from ..util import CACHE, locked, say
from . import kernels

DEVICE = "/dev/kvm"
# A KVM that works has booted after 3 to 10 seconds.
PROBE_SECONDS = 30


def works(kernel: str, probe: Callable[[str, float], bool]) -> bool:
    """The remembered answer for this kernel on this boot of the host; PROBE finds it the first time."""
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        return False
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text()
    key = hashlib.sha256(f"{boot_id} {kernels.release(kernel)}".encode()).hexdigest()[:16]
    answer = CACHE / "kvm" / key
    with locked(answer.with_suffix(".lock"), "it is trying KVM"):
        if not answer.exists():
            start = time.monotonic()
            say(f"trying whether KVM boots {kernels.release(kernel)}, once, at most {PROBE_SECONDS} s")
            good = probe(kernel, PROBE_SECONDS)
            say(f"KVM {'works' if good else 'does not work here: using emulation, which is slower'} "
                f"({time.monotonic() - start:.0f} s)")
            answer.write_text("works" if good else "does not work")
    return answer.read_text() == "works"
