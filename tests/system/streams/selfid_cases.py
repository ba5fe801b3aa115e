# SPDX-License-Identifier: GPL-2.0
"""The btrfs and xfs file systems whose writes are recorded and classified again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    fstype: str
    mkfs: list[str]
    options: str = ""
    extra: tuple[str, ...] = ()  # steps of a life: see selfid_record.py
    size: int = 1024  # MiB
    devices: int = 1
    squashed: float = 0.999  # of the data written while mounted, at least
    torn: float = 0.999  # of the same, where requests are torn and mixed


# Others keep space back, in one piece.
BARE = ("-m", "reflink=0,rmapbt=0,finobt=0")


def large(mkfs: list[str], extra: tuple[str, ...], squashed: float) -> Case:
    """Directory blocks larger than blocks: a log in pieces out of order tells nothing."""
    return Case("xfs", mkfs, extra=extra, squashed=squashed, torn=0)


CASES = {
    "btrfs": Case("btrfs", [], extra=("snapshots", "balance", "fsync")),
    "btrfs-4k": Case("btrfs", ["-n", "4096"], extra=("snapshots", "fsync")),
    "btrfs-64k": Case("btrfs", ["-n", "65536"], extra=("snapshots", "balance", "fsync")),
    "btrfs-single": Case("btrfs", ["-m", "single"], extra=("balance",)),
    "btrfs-mixed": Case("btrfs", ["-M"], extra=("fsync", "balance"), squashed=0.997),
    # The caches count as data here, and are kept.
    "btrfs-cache-v1": Case(
        "btrfs", ["-R", "^free-space-tree"], "space_cache=v1", extra=("fsync",), squashed=0.997
    ),
    # What is compressed is kept.
    "btrfs-lzo": Case("btrfs", [], "compress-force=lzo", squashed=0.9),
    "btrfs-raid1": Case("btrfs", ["-m", "raid1", "-d", "raid1"], extra=("fsync",), devices=2),
    # Any data in stripes may be the rest of what is compressed.
    "btrfs-raid0": Case("btrfs", ["-m", "raid1", "-d", "raid0"], extra=("balance",), devices=2, squashed=0),
    "btrfs-xxhash": Case("btrfs", ["--csum", "xxhash"], extra=("fsync",)),
    "btrfs-crash": Case("btrfs", [], extra=("fsync", "crash")),
    "btrfs-resize": Case("btrfs", [], extra=("resize", "balance")),
    "btrfs-raid5": Case("btrfs", ["-m", "raid5", "-d", "raid5"], devices=3, squashed=0),
    "xfs": Case("xfs", [], extra=("fsync",)),
    "xfs-1k": large(["-b", "size=1024"], ("fsync", "crash"), 0.95),
    "xfs-dir8k": large(["-n", "size=8192", *BARE], ("fsync", "scatter"), 0.99),
    "xfs-dir16k": large(["-n", "size=16384"], ("fsync", "crash", "repair"), 0.98),
    "xfs-dir64k": large(["-n", "size=65536", *BARE], ("fsync", "scatter"), 0.99),
    "xfs-plain": Case("xfs", ["-m", "reflink=0,rmapbt=0,finobt=0", "-i", "sparse=0"]),
    "xfs-rmap": Case("xfs", ["-m", "reflink=1,rmapbt=1", "-i", "size=2048"], extra=("reflink",)),
    "xfs-grow": Case("xfs", [], extra=("resize",)),
    "xfs-crash": Case("xfs", [], extra=("fsync", "crash")),
    "xfs-repair": Case("xfs", [], extra=("crash", "repair")),
    "xfs-quota": Case("xfs", [], "usrquota,grpquota,prjquota", extra=("fsync", "quota", "crash")),
    "xfs-ags": Case("xfs", ["-d", "agcount=8", "-i", "size=512"], extra=("fragment",)),
    "xfs-v4": Case("xfs", ["-m", "crc=0"], squashed=0),
}
