# SPDX-License-Identifier: GPL-2.0
"""Features of file systems, one or some that go together: each gets a life of its own (fsrun.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from helpers.fscrypt import FS_CASEFOLD_FL, FS_COMPR_FL, set_flags


@dataclass(frozen=True)
class Feature:
    """Beside the file system's own disk there may be others, fake ones, too: `disks` says how many there are
    of btrfs's, `beside` what mkfs and mount of xfs call the second one.
    """

    mkfs: tuple[str, ...] = ()
    mount: str = ""
    disks: int = 1
    beside: str = ""  # logdev or rtdev
    made: Callable[[str], None] | None = None  # with the directory of the life, empty
    verity: bool = False  # of some files, when all is written
    copies: int = 1  # of data, on all disks
    block: int = 4096  # of the fake disks: larger ones than the file system's are kept if a part of one is
    compressible: bool = False  # what is written becomes a quarter; such extents are kept, and read back
    checked: bool = True  # by its checker: fsck.f2fs counts compressed files' blocks wrongly, on any disk
    waits: tuple[str, ...] = ()  # modes in which most is undecided yet, and kept, when the life ends
    exact: tuple[str, ...] = ()  # modes that keep all of it: there contents are compared, too
    # Bugs to plant that the life has to find in these modes: dm-david/base/inject.h, classifier/planted.h
    auto: tuple[str, ...] = ()
    implicit: tuple[str, ...] = ()

    def bugs(self, classify: str) -> tuple[str, ...]:
        return {"auto": self.auto, "implicit": self.implicit}.get(classify, ())

    def squashes(self, classify: str) -> float:
        """Of what was written at least so much must be squashed."""
        if classify == "keep" or classify in (*self.exact, *self.waits) or self.compressible:
            return 0.0
        return 0.6 * self.copies


folded = partial(set_flags, add=FS_CASEFOLD_FL)
compressed = partial(set_flags, add=FS_COMPR_FL)


def ext4(*features: str) -> tuple[str, ...]:
    return ("-O", ",".join(features))


# What is kept whole, and why: dm-david/io/WHY.md says it of btrfs, classifier/xfs/WHY.md of xfs's second
# devices. Where inodes decide, classifier/ext/WHY.md, little is decided in a short life. Of f2fs `implicit`
# knows nothing.
OTHER_SUMS = REALTIME = ("auto", "implicit")
INODES = STRIPED = LOG_ELSEWHERE = UNKNOWN = ("implicit",)

# ext4 writes metadata from the disk's own pages, and logs it; btrfs writes trees. What another kind of
# evidence keeps all the same is lost with `buffers` only.
Buffered = partial(Feature, auto=("blockdev",), implicit=("logged",))
Trees = partial(Feature, auto=("buffers",), implicit=("spacetree",))

FEATURES: dict[str, dict[str, Feature]] = {
    "ext4": {
        "bigalloc": Buffered((*ext4("bigalloc"), "-C", "16384")),
        "inline_data": Buffered(ext4("inline_data", "ea_inode")),
        "orphan_file": Buffered(ext4("orphan_file", "fast_commit")),
        "casefold": Buffered(ext4("casefold"), made=folded),
        "verity": Feature(
            ext4("verity"), verity=True, waits=INODES, auto=("blockdev", "behind"), implicit=("anyfile",)
        ),
        "csum_seed": Buffered(ext4("metadata_csum_seed", "large_dir")),
        "1k": Buffered(("-b", "1024"), block=1024),
        # `auto` keeps what lies in a log by its place as well as by flags. With `implicit` too little is
        # decided in a life of blocks of 4 KiB to find a bug in that; the one of 1 KiB finds it.
        "data_journal": Feature(mount="data=journal", waits=INODES, auto=("blockdev",)),
        "1k_data_journal": Feature(
            ("-b", "1024", "-O", "fast_commit,inline_data"),
            "data=journal",
            block=1024,
            waits=INODES,
            auto=("blockdev",),
            implicit=("anyfile",),
        ),
    },
    "xfs": {
        "rmapbt": Feature(("-m", "rmapbt=1,reflink=1"), auto=("buffers",), implicit=("rmapbt",)),
        "nrext64": Feature(
            ("-i", "nrext64=1", "-m", "bigtime=1,inobtcount=1"), auto=("buffers",), implicit=("inodes",)
        ),
        "old": Feature(
            ("-m", "bigtime=0,inobtcount=0,finobt=0,reflink=0"), auto=("buffers",), implicit=("inodes",)
        ),
        "logdev": Feature(
            ("-l", "size=64m"),
            beside="logdev",
            exact=LOG_ELSEWHERE,
            # Of such a one nothing says that it is mounted: a bug in what is safe squashes nothing.
            auto=("buffers",),
        ),
        "rtdev": Feature(
            ("-m", "reflink=0,rmapbt=0", "-d", "rtinherit=1"),
            beside="rtdev",
            exact=REALTIME,
            auto=("buffers", "elsewhere"),
            implicit=("unsafe",),
        ),
    },
    "btrfs": {
        "mixed": Trees(("-M",)),
        "dup": Trees(("-d", "dup", "-m", "dup"), copies=2),
        "raid1": Trees(("-d", "raid1", "-m", "raid1"), disks=2, copies=2),
        "raid10": Feature(
            ("-d", "raid10", "-m", "raid10"),
            disks=2,
            copies=2,
            exact=STRIPED,
            auto=("buffers",),
            implicit=("spacetree",),
        ),
        # With `auto` such checksums have all of the disk kept, whatever is planted besides.
        "xxhash": Feature(("--csum", "xxhash"), exact=OTHER_SUMS, implicit=("other",)),
        "blake2": Feature(("--csum", "blake2"), exact=OTHER_SUMS, implicit=("other",)),
        "zstd": Feature(
            mount="compress-force=zstd",
            compressible=True,
            auto=("buffers",),
            implicit=("spacetree", "rests"),
        ),
        "nodatasum": Trees(mount="nodatasum"),
        "holes": Trees(("-O", "^no-holes")),
    },
    "f2fs": {
        "compression": Feature(
            ("-O", "extra_attr,compression"),
            "compress_algorithm=lz4,compress_chksum",
            made=compressed,
            compressible=True,
            checked=False,
            exact=UNKNOWN,
            auto=("nodes", "compressed"),
        ),
        "casefold": Feature(("-O", "casefold", "-C", "utf8"), made=folded, exact=UNKNOWN, auto=("nodes",)),
        "checksums": Feature(
            ("-O", "extra_attr,inode_checksum,inode_crtime,sb_checksum,flexible_inline_xattr"),
            exact=UNKNOWN,
            auto=("nodes",),
        ),
    },
}
