# SPDX-License-Identifier: GPL-2.0
"""Where on its disk a file system that is not mounted has its journal, by its own programs."""

from __future__ import annotations

import re
import subprocess

from ..sizes import SECTOR

Ranges = list[tuple[int, int]]  # sectors, from and up to
NONE = ("ext2",)  # that have none
XFS_WORDS = ("logstart", "logblocks", "agblocks", "agblklog", "blocksize")


def _said(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    return done.stdout if not done.returncode else ""


def _of_ext(disk: str) -> Ranges | None:
    """Inode 8, whose blocks debugfs lists; nothing of one without a journal."""
    size = re.search(r"^Block size: +(\d+)$", _said("debugfs", "-R", "stats -h", disk), re.MULTILINE)
    if not size:
        return None
    sectors, found = int(size[1]) // SECTOR, list[tuple[int, int]]()
    for block in map(int, re.findall(r"\d+", _said("debugfs", "-R", "blocks <8>", disk))):
        begin = block * sectors
        if found and found[-1][1] == begin:
            found[-1] = found[-1][0], begin + sectors
        else:
            found.append((begin, begin + sectors))
    return found


def _of_xfs(disk: str) -> Ranges | None:
    words = {name: int(value) for name, value in re.findall(
        r"^(\w+) = (\d+)$", _said("xfs_db", "-r", "-c", "sb 0", "-c", f"p {' '.join(XFS_WORDS)}", disk),
        re.MULTILINE)}
    if set(words) != set(XFS_WORDS) or not words["logstart"]:
        return None  # a log on another device
    group, block = divmod(words["logstart"], 1 << words["agblklog"])
    sectors = words["blocksize"] // SECTOR
    begin = (group * words["agblocks"] + block) * sectors
    return [(begin, begin + words["logblocks"] * sectors)]


def ranges(system: str, disk: str) -> Ranges | None:
    """None: it has no journal of its own place, or that is not known."""
    if system in NONE:
        return []
    if system in ("ext3", "ext4"):
        return _of_ext(disk)
    return _of_xfs(disk) if system == "xfs" else None
