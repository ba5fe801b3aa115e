# SPDX-License-Identifier: GPL-2.0
"""File systems by their own tools: how tests make one, look at it, repair it and make it larger."""

from __future__ import annotations

from dataclasses import dataclass

from davidlib.filesystems import FILE_SYSTEMS, made_alike
from helpers.guest import run


@dataclass(frozen=True)
class Tools:
    """Words of a command line; more words, and the device, follow."""

    mkfs: tuple[str, ...]  # quiet, over whatever was there
    check: tuple[str, ...]  # changes nothing, and fails where something is wrong
    repair: tuple[str, ...] = ()  # after a cut; () if only mount recovers
    enlarge: tuple[str, ...] = ()
    enlarge_by_device: bool = False  # rather than by mount point
    size: tuple[str, ...] = ()  # for mkfs, before the device; {} is the size. () where KiB follow it

    def sized(self, device: str, size: int) -> tuple[str, ...]:
        """The last words of mkfs: on a device, but not on all of it."""
        if self.size:
            return (*(word.format(size) for word in self.size), device)
        return (device, f"{size >> 10}k")

    def grow(self, device: str, top: str) -> None:
        """To the end of the device, mounted."""
        run(*self.enlarge, device if self.enlarge_by_device else top)


# The same for a disk and its reference: directories must split alike.
UUID = "6a7d1d3e-8d1c-4f0b-9d5f-3b1c2a4e5f60"
HASH_SEED = f"hash_seed={UUID}"
# btrfs check looks at the checksums of data, too.
OF_DATA = ("--check-data-csum",)


def ext(kind: str) -> Tools:
    return Tools(made_alike(kind, UUID), ("e2fsck", "-fn"), ("e2fsck", "-fy"), ("resize2fs",), True)


TOOLS = {
    "ext2": ext("ext2"),
    "ext3": ext("ext3"),
    "ext4": ext("ext4"),
    "xfs": Tools(
        FILE_SYSTEMS["xfs"].mkfs,
        ("xfs_repair", "-n"),
        enlarge=("xfs_growfs",),
        size=("-d", "size={}"),
    ),
    "btrfs": Tools(
        FILE_SYSTEMS["btrfs"].mkfs,
        ("btrfs", "check"),
        enlarge=("btrfs", "filesystem", "resize", "max"),
        size=("-b", "{}"),
    ),
    "f2fs": Tools(
        FILE_SYSTEMS["f2fs"].mkfs,
        (
            *("sh", "-c"),
            # Its exit status does not tell.
            'out=$(fsck.f2fs -f --dry-run "$0" 2>&1) && ! echo "$out" | grep -E "\\[Fail\\]|ASSERT" || '
            '{ echo "$out"; exit 1; }',
        ),
    ),
    # There is no checker; mount reads the checksums of the last logs.
    "nilfs2": Tools(FILE_SYSTEMS["nilfs2"].mkfs, ("true",)),
}

# Whom the classifier does not know: mkfs, type for mount, checker, options.
UNKNOWN = {
    "vfat": (("mkfs.vfat", "-F", "32"), ("fsck.vfat", "-n"), "codepage=437,iocharset=iso8859-1"),
    "exfat": (("mkfs.exfat",), ("fsck.exfat", "-n"), ""),
    "ntfs3": (("mkfs.ntfs", "-q", "-f", "-F"), ("ntfsfix", "-n"), ""),
    "jfs": (("mkfs.jfs", "-q"), ("fsck.jfs", "-n", "-f"), ""),
    "gfs2": (("mkfs.gfs2", "-q", "-O", "-p", "lock_nolock", "-J", "32"), ("fsck.gfs2", "-n"), ""),
    "ocfs2": (("mkfs.ocfs2", "-q", "-M", "local", "--fs-features=local"), ("true",), ""),
    "reiserfs": (("mkfs.reiserfs", "-q", "-f", "-f"), ("true",), ""),
    "udf": (("mkfs.udf",), ("true",), ""),
    "minix": (("mkfs.minix", "-3"), ("fsck.minix",), ""),
}


def whole_check(fs: str) -> tuple[str, ...]:
    """The check, of data, too, where the file system has checksums of it."""
    return (*TOOLS[fs].check, *(OF_DATA if fs == "btrfs" else ()))
