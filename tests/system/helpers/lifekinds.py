# SPDX-License-Identifier: GPL-2.0
"""Which file systems live a random life (lives.py): what a seed may choose, and how each is looked after.

ext4-crypt, f2fs-crypt, f2fs-compressed, xfs-quota and what is called FS-pieces, FS-cache, FS-mirror or
FS-tools live only where they are named. The first three are encrypted or compressed, the fourth has projects
and limits. Where page owners keep what is encrypted, its content must be the reference's, too. FS-pieces,
FS-cache and FS-mirror have a layer between (layers.py); FS-tools ends with a cut and a tool that writes
before anybody recovers (aftertools.py).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from helpers import aftertools, fscrypt, quotas
from helpers.f2fs import collect_f2fs
from helpers.filesystems import HASH_SEED, OF_DATA, TOOLS, Tools
from helpers.guest import run
from helpers.units import GIB, MIB

LATE = "late"  # the directory of operations that may be cut off

Choices = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class FileSystem:
    """What a seed may choose from, and how the file system is looked after."""

    tools: Tools
    features: Choices  # one of each, words for mkfs
    mounts: tuple[str, ...]
    classify: tuple[str, ...]  # how the disk may be told to decide
    words: tuple[str, ...] = ()  # always for mkfs
    must_repair: bool = False  # no journal
    size: int = 4 * GIB
    first: float = 1.0  # how much of the disk mkfs takes if it may grow
    other: Callable[[str, random.Random], None] | None = None  # something else while mounted
    always: str = ""  # mount option
    ready: Callable[[str], object] | None = None  # mounted, before anything is looked at
    made: Callable[[str], None] | None = None  # with a directory of operations
    more: Callable[[str], list[str]] | None = None  # what must be the same besides the tree
    by_chance: bool = False  # sizes of directories
    exact: bool = False  # page owners keep all content below such a directory
    layer: str = ""  # between it and the disk
    ends_with_tool: bool = False  # after a cut
    check_words: tuple[str, ...] = ()

    @property
    def mkfs(self) -> tuple[str, ...]:
        return (*self.tools.mkfs, *self.words)

    @property
    def check(self) -> tuple[str, ...]:
        """Must find nothing."""
        return (*self.tools.check, *self.check_words)


def other_f2fs(top: str, rng: random.Random) -> None:
    collect_f2fs(top, rng.randrange(1, 20))


def other_btrfs(top: str, rng: random.Random) -> None:
    kind = rng.randrange(4)
    if kind == 0:
        run("btrfs", "balance", "start", "-dusage=100", "-musage=100", "--force", top)
    elif kind == 1:
        run("btrfs", "filesystem", "resize", "-300m", top)
    elif kind == 2:
        run("btrfs", "subvolume", "snapshot", top, f"{top}/{LATE}/snapshot-{rng.randrange(1 << 30)}")
    else:
        run("btrfs", "filesystem", "defragment", "-r", top)


def encrypted(directory: str) -> None:
    """There is only one key, and it was added before."""
    fscrypt.encrypt(directory, fscrypt.add_key(directory))


def compressed(directory: str) -> None:
    fscrypt.set_flags(directory, fscrypt.FS_COMPR_FL)


def in_projects(directory: str) -> None:
    quotas.set_project(directory, len(directory))


def limit(top: str, rng: random.Random) -> None:
    """So high that nobody meets it; of ids that have files, and of others."""
    for kind in quotas.KINDS:
        quotas.set_grace(top, kind, rng.randrange(1, 1 << 20), rng.randrange(1, 1 << 20))
        used = [fields[3] for fields in quotas.entries(top, kind) if fields[3]]
        for number in {*used[::3], *(rng.randrange(1, 1 << 31) for _ in range(20))}:
            quotas.set_limits(top, kind, number, (1 << 40) + rng.randrange(99), 1 << 40)


def limits(top: str) -> list[str]:
    """Not what is used: files without a name go after a cut. xfs_repair -n counts that."""
    return quotas.report(top, ())


SIZES = (("-b", "4096"), ("-b", "4096"), ("-b", "1024"), ("-b", "2048"))
INODES = ((), ("-I", "128"), ("-I", "512"))
EXT4_FEATURES = (
    *((), (), (), ("-O", "bigalloc"), ("-O", "inline_data"), ("-O", "ea_inode"), ("-O", "^metadata_csum")),
    *(("-O", "^64bit"), ("-O", "meta_bg,^resize_inode"), ("-O", "sparse_super2"), ("-O", "quota")),
    *(("-O", "^flex_bg"), ("-O", "orphan_file"), ("-O", "fast_commit"), ("-J", "size=4")),
    *(
        ("-O", "large_dir"),
        ("-O", "^dir_index"),
        ("-O", "^extent,^64bit"),
        ("-E", f"{HASH_SEED},packed_meta_blocks=1"),
    ),
)

# For a directory of encrypted files; the last word with -O is the only one.
CRYPT_FEATURES = tuple(
    ("-O", f"encrypt{more}")
    for more in ("", ",verity", ",quota", ",inline_data", ",ea_inode", ",^metadata_csum", ",fast_commit")
)
ENCRYPTED = {"ready": fscrypt.add_key, "made": encrypted, "by_chance": True, "exact": True}
COMPRESSED_MOUNTS = tuple(
    f"compress_algorithm={algorithm},compress_log_size={size}{more}"
    for algorithm, size, more in (
        *(("lz4", 2, ""), ("lz4", 4, ",compress_cache"), ("zstd", 3, ",compress_chksum"), ("lzo", 2, "")),
        *(("lzo-rle", 3, ",mode=lfs"), ("lz4", 5, ",compress_cache,discard"), ("zstd", 2, ",active_logs=2")),
        *(("lz4", 2, ",background_gc=sync"), ("lz4", 2, ",compress_mode=user")),
    )
)

FILE_SYSTEMS = {
    "ext2": FileSystem(
        TOOLS["ext2"],
        (SIZES, INODES, ((), ("-O", "^dir_index"), ("-O", "^resize_inode"))),
        ("", "sync", "discard"),
        ("auto", "explicit", "implicit"),
        must_repair=True,
        size=1 * GIB,
        first=0.8,
    ),
    "ext3": FileSystem(
        TOOLS["ext3"],
        (SIZES, INODES, ((), ("-J", "size=4"), ("-J", "size=64"))),
        ("", "data=writeback", "commit=1", "discard", "nodelalloc"),
        ("auto", "explicit", "implicit"),
        size=1 * GIB,
        first=0.8,
    ),
    "ext4": FileSystem(
        TOOLS["ext4"],
        (SIZES, INODES, EXT4_FEATURES),
        (
            *("", "", "data=journal", "data=writeback", "nodelalloc", "commit=1", "discard"),
            *("journal_async_commit,journal_checksum,data=writeback", "nobarrier", "dioread_lock"),
        ),
        ("auto", "explicit", "implicit"),
        first=0.5,
    ),
    "xfs": FileSystem(
        TOOLS["xfs"],
        (
            ((), ("-b", "size=1024"), ("-b", "size=2048")),
            ((), ("-n", "size=8192"), ("-n", "size=65536")),
            ((), ("-i", "size=1024"), ("-i", "sparse=1"), ("-i", "maxpct=90")),
            ((), ("-m", "reflink=0"), ("-m", "rmapbt=1"), ("-m", "finobt=0,inobtcount=0")),
            ((), ("-l", "su=64k"), ("-d", "agcount=9")),
        ),
        ("", "", "wsync", "discard", "logbsize=256k", "allocsize=64k", "inode64", "swalloc"),
        ("auto", "explicit", "implicit"),
        first=0.6,
    ),
    "btrfs": FileSystem(
        TOOLS["btrfs"],
        (
            ((), ("-n", "4k"), ("-n", "64k"), ("-M",)),
            # Cut off on dm-linear, btrfs itself loses sizes without no-holes, and warns without the tree.
            ((), ("-m", "single")),
        ),
        ("", "", "discard=async", "discard=sync", "ssd", "autodefrag", "commit=1"),
        ("auto", "explicit", "implicit"),
        first=0.6,
        other=other_btrfs,
        check_words=OF_DATA,
    ),
    "f2fs": FileSystem(
        TOOLS["f2fs"],
        (
            *(((), ("-s", "2")), ((), ("-i",)), ((), ("-o", "10"))),
            (
                *((), (), ("-O", "extra_attr,inode_checksum,inode_crtime,sb_checksum")),
                *(("-O", "extra_attr,flexible_inline_xattr"), ("-O", "extra_attr,quota,project_quota")),
                *(("-O", "extra_attr,compression"), ("-O", "encrypt,verity"), ("-O", "lost_found")),
            ),
        ),
        (
            *("", "", "mode=lfs", "noinline_data,noinline_dentry", "active_logs=2", "fsync_mode=strict"),
            *("background_gc=sync", "discard", "nobarrier", "noextent_cache", "inline_xattr"),
            *("compress_algorithm=lzo,compress_extension=*", "usrquota,grpquota", "checkpoint_merge"),
        ),
        ("auto", "explicit"),
        other=other_f2fs,
        words=("-t", "0"),
    ),
    # Kept whole: so it is looked at as closely, but nothing can be squashed.
    "nilfs2": FileSystem(
        TOOLS["nilfs2"],
        (((), ("-b", "1024"), ("-b", "2048")), ((), ("-B", "16"), ("-B", "512"))),
        ("", "", "order=strict", "nobarrier", "discard"),
        ("auto", "explicit"),
        size=1 * GIB,
        # The cleaner, a daemon, at times survives a remount, on any disk, and holds the file system.
        always="nogc",
    ),
}


# Not among those that are lived where none is named: `make trials FS="ext4-crypt xfs-quota"`. In long lives
# fsck.f2fs (1.15) at times counts the blocks of compressed files wrongly, above all of encrypted ones, on
# dm-linear as well: so f2fs-crypt has none of them, and f2fs-compressed may fail as f2fs-compressed:linear
# does.
SPECIAL = {
    "ext4-crypt": replace(
        FILE_SYSTEMS["ext4"],
        words=("-O", "encrypt"),
        features=(SIZES, INODES, CRYPT_FEATURES),
        mounts=("", "", "data=journal", "data=writeback", "nodelalloc", "commit=1", "inlinecrypt"),
        **ENCRYPTED,
    ),
    "f2fs-crypt": replace(
        FILE_SYSTEMS["f2fs"],
        words=("-t", "0", "-O", "encrypt"),
        mounts=("inlinecrypt", *FILE_SYSTEMS["f2fs"].mounts),
        classify=("auto", "explicit", "implicit"),
        **ENCRYPTED,
    ),
    "f2fs-compressed": replace(
        FILE_SYSTEMS["f2fs"],
        words=("-t", "0", "-O", "extra_attr,compression"),
        features=FILE_SYSTEMS["f2fs"].features[:3],
        mounts=COMPRESSED_MOUNTS,
        classify=("auto", "explicit", "implicit"),
        made=compressed,
    ),
    "xfs-quota": replace(
        FILE_SYSTEMS["xfs"],
        always="usrquota,grpquota,prjquota",
        made=in_projects,
        other=limit,
        more=limits,
    ),
}
EVERY_MODE = ("implicit", "auto", "keep")
for base in ("ext3", "ext4", "xfs", "btrfs"):
    for layer in ("pieces", "cache", "mirror"):
        SPECIAL[f"{base}-{layer}"] = replace(
            FILE_SYSTEMS[base], layer=layer, classify=EVERY_MODE, size=GIB, first=0.6
        )
for base in aftertools.TOOLS:
    SPECIAL[f"{base}-tools"] = replace(
        FILE_SYSTEMS[base],
        ends_with_tool=True,
        classify=("implicit", "auto", "explicit"),
        size=512 * MIB,
        first=0.7,
    )
KNOWN = FILE_SYSTEMS | SPECIAL
