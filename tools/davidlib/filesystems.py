# SPDX-License-Identifier: GPL-2.0
"""File systems that are made on fake disks: how each is made without a question, and alike each time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FileSystem:
    mkfs: tuple[str, ...]  # quiet, over whatever was there
    # More words, so that the same is made each time: names' hashes, and so places, depend on the uuid.
    # () where mkfs takes none.
    identity: tuple[str, ...]
    package: str  # Debian's, with mkfs and the checker
    benched: bool = True  # david bench offers it
    zoned: tuple[str, ...] = ()  # more words on a disk with zones; () where it cannot be


UUID = "UUID"  # stands for one in the words
FILE_SYSTEMS = {
    "ext2": FileSystem(("mkfs.ext2", "-q", "-F"), ("-U", UUID, "-E", f"hash_seed={UUID}"), "e2fsprogs"),
    "ext3": FileSystem(("mkfs.ext3", "-q", "-F"), ("-U", UUID, "-E", f"hash_seed={UUID}"), "e2fsprogs"),
    "ext4": FileSystem(("mkfs.ext4", "-q", "-F"), ("-U", UUID, "-E", f"hash_seed={UUID}"), "e2fsprogs"),
    "xfs": FileSystem(("mkfs.xfs", "-q", "-f"), ("-m", f"uuid={UUID}"), "xfsprogs"),
    "btrfs": FileSystem(("mkfs.btrfs", "-q", "-f"), ("-U", UUID), "btrfs-progs",
                        zoned=("-O", "zoned", "-d", "single", "-m", "single")),
    "f2fs": FileSystem(("mkfs.f2fs", "-q", "-f"), (), "f2fs-tools", zoned=("-m",)),
    "nilfs2": FileSystem(("mkfs.nilfs2", "-q", "-f"), (), "nilfs-tools", benched=False),
}
BENCHED = tuple(name for name, system in FILE_SYSTEMS.items() if system.benched)


def made_alike(name: str, uuid: str, zoned: bool = False) -> tuple[str, ...]:
    """The words of mkfs; the device follows."""
    system = FILE_SYSTEMS[name]
    identity = (word.replace(UUID, uuid) for word in system.identity)
    return (*system.mkfs, *(system.zoned if zoned else ()), *identity)
