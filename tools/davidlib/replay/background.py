# SPDX-License-Identifier: GPL-2.0
"""What a file system does by itself after a mount, beside what is measured. What can be turned off is.

ext4 writes inode tables that mkfs has left out, and reads block bitmaps in advance, in a thread of the kernel
that begins at a random time after the mount and may take minutes.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..disk import mounts
from ..disk.mounts import Mount
from ..util import UserError, say

# By file system: the option that turns it off, that which turns it on again on a mounted one, and what it is.
OFF: dict[str, list[tuple[str, str, str]]] = {
    "ext4": [
        ("noinit_itable", "init_itable", "the writing of inode tables that mkfs has left out"),
        ("no_prefetch_block_bitmaps", "", "the reading of block bitmaps in advance"),
    ]
}
# Threads of the kernel that work for a mounted file system while nobody asks for anything.
THREADS = ("ext4lazyinit", "jbd2/", "xfsaild/", "btrfs-", "f2fs_gc", "f2fs_discard", "kworker/u")


def _remount(mount: Mount, option: str) -> bool:
    words = ["mount", "-o", f"remount,{mount.options},{option}", mount.source, mount.point]
    return not subprocess.run(words, capture_output=True, check=False).returncode


def _again(mount: Mount, option: str) -> str:
    """With the value that it had."""
    return next((one for one in mount.options.split(",") if one.split("=")[0] == option), option)


def _restore(mount: Mount, option: str, again: str) -> None:
    now = mounts.above(mount.point)
    if again and now:
        _remount(now, _again(mount, again))
        now = mounts.above(mount.point)
    if now and option in now.options.split(","):
        say(f"{mount.point}: {option} stays until it is mounted again")


@contextmanager
def turned_off(place: Path) -> Iterator[None]:
    """Of the file system that @place is on. Afterwards it is as it was, as far as the kernel lets it."""
    mount = mounts.above(str(place.resolve()))
    changed = []
    for option, again, what in OFF.get(mount.kind, []) if mount else []:
        assert mount
        now = mounts.above(mount.point)
        if not now or option in now.options.split(","):
            continue
        if not _remount(now, option):
            say(f"--cold: {mount.point}: mount refuses {option}: {what} may go on")
            continue
        changed.append((option, again))
        say(f"--cold: {mount.point}: {what} is turned off ({option})")
    try:
        yield
    finally:
        for option, again in changed:
            assert mount
            _restore(mount, option, again)


def at_work() -> list[str]:
    """Threads of the kernel that work for file systems, and are running or wait for a disk."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = status.read_text().split("(", 1)[1].rsplit(")", 1)
        except (OSError, IndexError):
            continue
        if name.startswith(THREADS) and rest.split()[0] in "RD":
            found.add(name)
    return sorted(found)


def complaint(place: Path, seconds: float) -> UserError:
    threads = ", ".join(at_work())
    told = f"; at work in the kernel: {threads}" if threads else ""
    return UserError(
        f"the disk of {place} is still busy after {seconds:.0f} s{told}; --cold cannot begin:"
        " see who uses it, or leave out --cold"
    )
