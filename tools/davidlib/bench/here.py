# SPDX-License-Identifier: GPL-2.0
"""where = "here": runs on this machine, in real time, with its own kernel.

The module is loaded where it is not, and stays. A disk is made for each run, and removed however the run
ends. There is one run at a time: two would share the machine that is measured.
"""

from __future__ import annotations

import argparse
import os
from contextlib import suppress
from pathlib import Path

from ..disk import device, dm
from ..disk.dm import DeviceError
from ..util import TREE, UserError

# In memory, as the backing devices of labs are.
SCRATCH = "/dev/shm"
# Not there in a kernel that takes none.
MODULES = Path("/proc/modules")
INSTEAD = 'where = "virtual" needs no module: its labs have kernels of their own'


def ready(args: argparse.Namespace) -> None:
    """Say what is missing before anything is made."""
    if args.scheduler:
        raise UserError('where = "here" is this machine: leave out --scheduler')
    if args.workers > 1:
        raise UserError(f'where = "here" has one run at a time: leave out --workers {args.workers}')
    try:
        device.need_root("bench")
        _load()
    except DeviceError as error:
        raise UserError(f'where = "here": {error}\n  or: {INSTEAD}') from None


def _load() -> None:
    """The module that is installed, or else the one that was built here."""
    if not dm.target_loaded() and not MODULES.exists():
        raise DeviceError(f"the kernel of this machine, {os.uname().release}, takes no modules")
    built = TREE / "dm-david" / "dm-david.ko"
    with suppress(DeviceError):
        dm.load_module()
    if not dm.target_loaded() and built.exists():
        dm.run("modprobe", "dm-mod")
        dm.run("insmod", str(built))
    dm.load_module()
