# SPDX-License-Identifier: GPL-2.0
"""The ext file systems whose writes are recorded and classified again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    mkfs: list[str]
    options: str = ""
    fstype: str = "ext4"
    extra: tuple[str, ...] = ()  # steps of life(): crash, e2fsck, fsync, verity, resize, tune2fs
    size: int = 1024  # MiB
    # Of the data blocks written, at least, at once. The rest are ends of texts, which may be symbolic links.
    squashed: float = 0.995
    # Where inodes have to tell: of the data that is there in the end, at least.
    later: float = 0.0


CASES = {
    "ext4": Case(["-t", "ext4"]),
    "ext4-1k": Case(["-t", "ext4", "-b", "1024"]),
    "ext4-2k": Case(["-t", "ext4", "-b", "2048"]),
    "ext4-old": Case(["-t", "ext4", "-O", "^metadata_csum,^64bit,^flex_bg"]),
    "ext4-writeback": Case(["-t", "ext4"], "data=writeback"),
    "ext4-data": Case(["-t", "ext4"], "data=journal", squashed=0, later=0.6),
    "ext4-crash": Case(["-t", "ext4"], extra=("crash",)),
    "ext4-fsck": Case(["-t", "ext4", "-O", "fast_commit"], extra=("crash", "fsync", "e2fsck")),
    "ext4-fc": Case(["-t", "ext4", "-O", "fast_commit"], extra=("crash", "fsync")),
    "ext4-quota": Case(["-t", "ext4", "-O", "quota,project", "-I", "256"]),
    "ext4-features": Case(["-t", "ext4", "-O", "ea_inode,inline_data,large_dir,orphan_file,mmp"]),
    "ext4-bigalloc": Case(["-t", "ext4", "-O", "bigalloc", "-C", "16384"], size=4096),
    "ext4-meta-bg": Case(["-t", "ext4", "-b", "1024", "-O", "meta_bg,^resize_inode"]),
    "ext4-sparse2": Case(["-t", "ext4", "-O", "sparse_super2,^resize_inode"], squashed=0),
    "ext4-small-log": Case(["-t", "ext4", "-J", "size=4"]),
    "ext4-resize": Case(["-t", "ext4"], extra=("resize",), size=2048),
    "ext4-verity": Case(["-t", "ext4", "-O", "verity"], extra=("verity",), squashed=0, later=0.15),
    "ext3": Case(["-t", "ext3"], fstype="ext3"),
    "ext3-1k": Case(["-t", "ext3", "-b", "1024"], fstype="ext3"),
    "ext3-crash": Case(["-t", "ext3"], fstype="ext3", extra=("crash",)),
    # A journal, but not in use: mounted without it, or made while mounted.
    "ext4-noload": Case(["-t", "ext4"], "noload", squashed=0),
    "ext2-tune2fs": Case(["-t", "ext2"], fstype="ext2", extra=("tune2fs",), squashed=0),
    "ext2": Case(["-t", "ext2"], fstype="ext2", squashed=0, later=0.25),
    "ext2-1k": Case(["-t", "ext2", "-b", "1024"], fstype="ext2", squashed=0, later=0.01),
    "ext2-crash": Case(["-t", "ext2"], fstype="ext2", extra=("crash", "e2fsck"), squashed=0, later=0.2),
    "ext4-nojournal": Case(["-t", "ext4", "-O", "^has_journal"], squashed=0, later=0.9),
    "ext4-nojournal-resize": Case(
        ["-t", "ext4", "-O", "^has_journal"],
        extra=("resize", "crash", "e2fsck"),
        size=2048,
        squashed=0,
        later=0.9,
    ),
    "ext4-nojournal-bigalloc": Case(
        ["-t", "ext4", "-O", "^has_journal,bigalloc", "-C", "16384"], size=4096, squashed=0, later=0.9
    ),
    "ext4-nojournal-old": Case(
        ["-t", "ext4", "-O", "^has_journal,^metadata_csum,inline_data,large_dir"],
        extra=("crash", "e2fsck"),
        squashed=0,
        later=0.5,
    ),
    # Metadata that has no form, and no journal: all is kept.
    "ext4-nojournal-ea": Case(["-t", "ext4", "-O", "^has_journal,ea_inode"], squashed=0),
    "ext4-nojournal-quota": Case(["-t", "ext4", "-O", "^has_journal,quota"], squashed=0),
    "ext3-data": Case(["-t", "ext3"], "data=journal", fstype="ext3", extra=("crash",), squashed=0, later=0.2),
    "ext4-data-crash": Case(["-t", "ext4"], "data=journal", extra=("crash", "e2fsck"), squashed=0, later=0.3),
}

# Those of `make check`; DAVID_SCALE=full takes all.
CHECK = ("ext4", "ext4-1k", "ext4-fc", "ext4-features", "ext3-crash", "ext4-noload")
