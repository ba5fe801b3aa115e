# SPDX-License-Identifier: GPL-2.0
"""The state of a fake disk, kept in a file and brought back: each run begins with the same disk.

What a disk holds is in its store, which is small. The disk is unmounted and taken away for it, so what comes
back has an empty page cache, and a drive with empty caches.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from ..disk import dm, mounts
from ..disk.mounts import Mount
from ..image import disk
from ..util import UserError

MAPPER = "/dev/mapper/"


def mount_of(place: Path) -> Mount:
    """The mounted fake disk that @place is on."""
    mount = mounts.above(str(place.resolve()))  # in a chroot, there may be none
    if not mount or not mount.source.startswith(MAPPER) or not dm.exists(_name(mount)):
        source = mount.source if mount else "no mounted disk"
        raise UserError(f"{place} is on {source}, which is no fake disk: --snapshot needs one")
    return mount


def _name(mount: Mount) -> str:
    return mount.source.removeprefix(MAPPER)


def _call(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"{' '.join(words)}: {done.stderr.strip()}")


class Snapshot:
    """Taken at once. @file is on another disk."""

    def __init__(self, mount: Mount, file: Path) -> None:
        self.mount, self.file = mount, file
        self._swap(["export"], lambda backing: [backing, str(file)])

    def restore(self) -> None:
        self._swap(["import", "--format"], lambda backing: [str(self.file), backing])

    def _swap(self, command: list[str], files: Callable[[str], list[str]]) -> None:
        m = self.mount
        _call("umount", m.point)
        try:
            _, backing, table = disk.describe(_name(m))
            with disk.taken_away(_name(m), table):
                disk.call_store(*command, *files(backing))
        finally:
            _call("mount", "-t", m.kind, "-o", m.options, m.source, m.point)
