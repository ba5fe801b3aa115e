# SPDX-License-Identifier: GPL-2.0
"""Backing devices before something is stored on them: who uses one, and what stands on it."""

from __future__ import annotations

import errno
import os
import stat

from . import dm, pools
from .dm import DeviceError

STORE_MAGIC = b"dm-david store\n\0"


def check_backing(path: str, format_it: bool) -> None:
    """Refuse what is no block device, in use, or carries something that the store would overwrite."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        raise DeviceError(f"--backing {path}: {error.strerror}; name a block device (see lsblk)") from None
    if not stat.S_ISBLK(mode):
        remedy = "make one of it: losetup --find --show FILE" if stat.S_ISREG(mode) else "see lsblk"
        raise DeviceError(f"--backing {path}: not a block device; {remedy}")
    try:
        # O_EXCL on a block device is refused while anyone has claimed it: a mount, md, dm, swap.
        os.close(os.open(path, os.O_RDWR | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise DeviceError(f"--backing {path}: cannot be opened for writing: {error.strerror}") from None
        number = os.stat(path).st_rdev
        who = dm.users(f"{os.major(number)}:{os.minor(number)}")
        raise DeviceError(
            f"--backing {path}: in use ({', '.join(who) or 'claimed by the kernel, perhaps swap or RAID'}); "
            "free it first, or name another device"
        ) from None
    if format_it or is_store(path):
        return
    if pool := pools.pool_name(path):
        raise DeviceError(f"--backing {path}: a pool, destroyed by --format; a disk in it: --pool {pool}")
    done = dm.run("wipefs", "--no-act", "--noheadings", "--output", "TYPE", path)
    if done.returncode:
        raise DeviceError(f"--backing {path}: cannot be looked at: {done.stderr.strip()}")
    found = sorted(set(done.stdout.split()))
    if found:
        raise DeviceError(
            f"--backing {path}: carries {', '.join(found)}, which would be overwritten; "
            "give --format if nothing on it is needed any more, or name another device"
        )


def is_store(path: str) -> bool:
    """A store of dm-david: what stood there before it may show through, but is gone."""
    with open(path, "rb") as file:
        return file.read(len(STORE_MAGIC)) == STORE_MAGIC
