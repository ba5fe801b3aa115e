#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Random lives of file systems: one seed is one life, lived on the reference and on the fake disk, and the
trees must be equal and the checker content. Runs in a lab.

A life is a mkfs with features that the seed chooses, and some episodes. Each mounts with options that the
seed chooses, does random operations (randomops.py), perhaps grows or shrinks or balances what is mounted, and
ends in one of four ways: unmounted; remounted read-only and back, then unmounted; cut off after a sync; cut
off in the midst of operations. Cut off means that the disk is gone from one request to the next, with the
file system still mounted; then it is there again with all that had been completed, and is recovered by mount
or by the checker. What was synced before must be there. Operations in the midst of which a cut falls have a
directory of their own, which is looked at by the checker alone and removed afterwards.

In place of a mode, FS:linear cuts dm-linear at the same places: e2fsck -fy, for one, does not always mend a
cut ext2, whatever the disk.

What is called FS-pieces, FS-cache or FS-mirror has a layer between (layers.py); FS-tools ends with a cut and
a tool that writes before anybody recovers (aftertools.py). FS:change is told another mode again and again, in
the midst of its life, and is read-only between.

ext4-crypt, f2fs-crypt, f2fs-packed, xfs-quota and these live only where they are named. The first three are
encrypted or compressed, the fourth has projects and limits. Where page owners keep what is encrypted, its
content must be the reference's, too.

Prints one line "RESULT {json}" a life.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from helpers import aftertools, fscrypt, layers, quotas
from helpers.f2fs import collect_f2fs
from helpers.filesystems import HASH_SEED, OF_DATA, TOOLS, Tools
from helpers.guest import (
    Complaints,
    Failed,
    device_stats,
    dm,
    fake_disk,
    leaks,
    linear_disk,
    load_table,
    mounted,
    ram_disk,
    run,
    say,
    swap_table,
)
from helpers.manifest import checksum, difference, manifest
from helpers.randomops import Operations
from helpers.units import GIB, MIB

STORE = 128 * MIB
COUNT, EPISODES = 120, 4
LINEAR = "linear"  # in place of a mode
CHANGE = "change"  # the same: another mode again and again
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
PACKED_MOUNTS = tuple(
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
# dm-linear as well: so f2fs-crypt has none of them, and f2fs-packed may fail as f2fs-packed:linear does.
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
    "f2fs-packed": replace(
        FILE_SYSTEMS["f2fs"],
        words=("-t", "0", "-O", "extra_attr,compression"),
        features=FILE_SYSTEMS["f2fs"].features[:3],
        mounts=PACKED_MOUNTS,
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


@dataclass
class Life:
    """One life on one disk; the same plan on any disk but for the cuts, which the reference is spared."""

    fs: FileSystem
    driver: str
    seed: str
    count: int
    episodes: int
    disk: str
    cut: Cut | None  # None: the reference
    layer: layers.Layer
    exact: bool = False  # look at content, too
    change: Modes | None = None
    trees: list[list[str]] = field(default_factory=list)
    contents: list[list[str]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    written: int = 0
    operations: int = 0

    def live(self) -> None:
        fs, rng = self.fs, random.Random(self.seed)
        size = int(fs.size * fs.first) >> 20 << 20
        features = [word for choice in fs.features for word in rng.choice(choice)]
        if fs.mkfs[0] == "mkfs.xfs":
            where = ["-d", f"size={size}", self.disk]
        elif fs.mkfs[0] == "mkfs.btrfs":
            where = ["-b", str(size), self.disk]
        else:
            where = [self.disk, f"{size >> 10}k"]
        try:
            # On any device the same words.
            words = [*fs.mkfs, *features, *where]
            self.told.append(" ".join(words).replace(self.disk, "/dev/mapper/trial"))
            run(*fs.mkfs, *features, *where)
        except Failed:  # not every feature goes with every other
            self.told.append("refused")
            run(*fs.mkfs, *where)
        work: Operations | None = None
        for number in range(self.episodes):
            work = self.episode(number, work, random.Random(f"{self.seed} {number}"))
            run(*fs.check, self.disk)
            self.layer.look(self.check_alone)
            if self.change:
                self.read_only()
        if fs.ends_with_tool and self.cut:
            self.end_with_a_tool()

    def check_alone(self, device: str) -> None:
        """What lies below the layer, by itself."""
        if self.driver == "btrfs":
            run("btrfs", "device", "scan", "--forget")
        run(*self.fs.check, device)
        with mounted(device, self.driver, ",".join(filter(None, ("ro", self.fs.always)))) as top:
            if wrong := difference(self.trees[-1], self.manifest(top, False)):
                raise Failed("below the layer the tree differs: " + "\n".join(wrong))
        if self.driver == "btrfs":
            run("btrfs", "device", "scan", "--forget")

    def read_only(self) -> None:
        assert self.change
        self.change.read_only()
        # So that the file system knows, through a layer as well: xfs writes its log at mount.
        run("blockdev", "--setro", self.disk)
        with self.mounted(",".join(filter(None, ("ro", self.fs.always)))) as top:
            if wrong := difference(self.trees[-1], self.manifest(top, False)):
                raise Failed("of a read-only disk the tree differs: " + "\n".join(wrong))
        run("blockdev", "--setrw", self.disk)
        self.change.writable()

    def end_with_a_tool(self) -> None:
        assert self.cut
        with self.mounted(self.fs.always) as top, ExitStack() as stack:
            work = Operations(f"{top}/{LATE}", f"{self.seed} end")
            stack.callback(work.close_all)
            work.run(60)
            os.sync()
            work.run(20)
            self.operations += 80
            self.cut.cut()
        self.cut.restore()
        name = self.fs.mkfs[0].partition(".")[2]
        aftertools.same_by_any_tool(name, self.driver, self.disk, f"{self.seed} tool")

    def do(self, work: Operations, count: int) -> None:
        work.run(count)
        self.operations += count

    def episode(self, number: int, work: Operations | None, rng: random.Random) -> Operations:
        fs = self.fs
        end = rng.choice(("unmount", "remount", "idle cut", "busy cut"))
        options = ",".join(word for word in (rng.choice(fs.mounts), fs.always) if word)
        repair = rng.random() < 0.5
        grow = bool(fs.tools.enlarge) and rng.random() < 0.4
        other = fs.other is not None and rng.random() < 0.3
        self.told.append(f"{number}: mount {options or '-'}{' grow' * grow}{' other' * other}, {end}")
        with self.mounted_with(options) as top, ExitStack() as stack:
            if work is None:
                self.make(f"{top}/{LATE}")
                self.make(f"{top}/tree")
                work = Operations(f"{top}/tree", self.seed)
            # Whatever happens: with a file open there is no unmounting.
            stack.callback(work.close_all)
            self.do(work, self.count // 2)
            aside = random.Random(f"{self.seed} {number} aside")
            self.layer.disturb(top, aside)
            if self.change:
                self.change.next(aside)
            if grow:
                try:
                    self.layer.grown()
                    fs.tools.grow(self.disk, top)
                except Failed:  # sparse_super2, for one
                    self.told.append("not grown")
            if other and fs.other:
                fs.other(top, rng)
            self.do(work, self.count - self.count // 2)
            self.layer.settle()
            if end == "remount":
                work.close_all()
                self.remount(top)
                self.do(work, self.count // 4)
            if not end.endswith("cut"):
                work.close_all()
            else:
                os.sync()
            self.look(top)
            if self.cut and end == "idle cut":
                self.cut.cut()
            elif self.cut and end == "busy cut":
                self.busy(f"{top}/{LATE}", f"{self.seed} {number} late")
        if end.endswith("cut") and self.cut:
            self.cut.restore()
            if fs.must_repair:
                self.repair_again()
            if fs.must_repair or (fs.tools.repair and repair):
                said = run(*fs.tools.repair, self.disk, ok=(0, 1, 12))
                # The kernel may log a superblock whose checksum is a moment older, on any disk.
                if "Superblock checksum does not match" in said:
                    said = run(*fs.tools.repair, self.disk, ok=(0, 1))
                if "Filesystem still has errors" in said:
                    raise Failed(f"{' '.join(fs.tools.repair)}: {said[-1500:]}")
            # The log is replayed, orphans are removed.
            with self.mounted(fs.always) as top:
                self.look(top, "after the cut")
                shutil.rmtree(f"{top}/{LATE}")
                self.make(f"{top}/{LATE}")
            # A kernel that noted failed writes does not follow the orphans, but leaves them to e2fsck;
            # with ea_inode it may lose one of them, on any disk.
            if fs.tools.repair and re.search("with errors|ea_inode", run("dumpe2fs", "-h", self.disk)):
                run(*fs.tools.repair, self.disk, ok=(0, 1))
        elif end.endswith("cut"):
            with self.mounted(fs.always) as top:
                self.look(top)
        else:
            with self.mounted(",".join(filter(None, ("ro", fs.always)))) as top:
                self.look(top)
        self.written += work.written
        return work

    def make(self, directory: str) -> None:
        os.mkdir(directory)
        if self.fs.made:
            self.fs.made(directory)

    @contextmanager
    def mounted(self, options: str) -> Iterator[str]:
        with mounted(self.disk, self.driver, options) as top:
            if self.fs.ready:
                self.fs.ready(top)
            yield top

    @contextmanager
    def mounted_with(self, options: str) -> Iterator[str]:
        """Not every option goes with every feature: both disks refuse then, or the lives differ."""
        with ExitStack() as stack:
            try:
                top = stack.enter_context(self.mounted(options))
            except Failed:
                self.told.append("refused")
                top = stack.enter_context(self.mounted(self.fs.always))
            yield top

    def remount(self, top: str) -> None:
        try:
            run("mount", "-o", "remount,ro", top)
        except Failed:  # nilfs2 at times is busy with what was removed, on any disk
            self.told.append("not remounted")
        self.look(top)
        run("mount", "-o", "remount,rw", top)

    def look(self, top: str, when: str = "") -> None:
        lines = self.manifest(top, False)
        if self.fs.more:
            lines += self.fs.more(top)
        self.remember(self.trees, lines, when)
        if self.exact:
            self.remember(self.contents, self.manifest(top, True), when)

    def manifest(self, top: str, content: bool) -> list[str]:
        lines = manifest(f"{top}/tree", content=content)
        return [re.sub(r" dir size=\d+", " dir", line) for line in lines] if self.fs.by_chance else lines

    def remember(self, trees: list[list[str]], lines: list[str], when: str) -> None:
        # Against what was seen before the cut, too: that was synced.
        if when and (wrong := difference(trees[-1], lines)):
            raise Failed(f"{when}, the tree is not as it was synced: " + "\n".join(wrong))
        trees.append(lines)

    def repair_again(self) -> None:
        """What e2fsck -y mends without a journal, it sometimes has to mend again, on any disk; and of the
        directories that the cut fell into some are beyond it.
        """
        for number in range(4):
            said = run(*self.fs.tools.repair, self.disk, ok=(0, 1, 4))
            beyond = re.search(r"^Couldn't fix parent of inode (\d+)", said, re.MULTILINE)
            if number == 2:
                # An inode that claims one block many times is not mended by any number of runs.
                claims = r"^Multiply-claimed block\(s\) in inode (\d+)"
                beyond = beyond or re.search(claims, said, re.MULTILINE)
            if beyond:
                run("debugfs", "-w", "-R", f"clri <{beyond[1]}>", self.disk)

    def busy(self, where: str, seed: str) -> None:
        """Cut while another process is at work."""
        child = os.fork()
        if not child:
            status = 0
            try:
                late = Operations(where, seed)
                while True:
                    late.run(50)
            except OSError:
                status = 1  # the cut
            finally:
                os._exit(status)
        rng = random.Random(seed)
        time.sleep(rng.uniform(0.02, 0.3))
        assert self.cut
        self.cut.cut()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            done, _ = os.waitpid(child, os.WNOHANG)
            if done:
                return
            time.sleep(0.02)
            if time.monotonic() > deadline - 50:
                os.kill(child, signal.SIGKILL)
        raise Failed("a process hangs on a disk that was cut off")


class Cut:
    """Takes a fake disk away and brings it back.

    The store lives as long as a target of its disk does: one of a single sector stays, on which no file
    system has anything but a boot block (xfs: its superblock, which it does not write once it is shut down).
    """

    def __init__(self, name: str, log: Complaints) -> None:
        self.name, self.log = name, log
        self.table = run("dmsetup", "table", name).strip()
        self.complaints: list[str] = []  # while the disk was there

    def cut(self) -> None:
        self.complaints += self.log.found()
        words = self.table.split()
        if words[2] == "linear":
            swap_table(self.name, f"0 {words[1]} error")
            return
        swap_table(self.name, f"0 1 {' '.join(words[2:])}\n1 {int(words[1]) - 1} error")

    def restore(self) -> None:
        swap_table(self.name, self.table)
        self.log.found()


class Modes:
    """The fake disk's table with another way of classification, in the midst of requests; or read-only."""

    def __init__(self, cut: Cut) -> None:
        self.cut = cut

    def next(self, rng: random.Random) -> None:
        mode = rng.choice(("keep", "auto", "explicit", "implicit"))
        table, changed = re.subn(r"classify=\w+", f"classify={mode}", self.cut.table)
        if not changed:
            raise Failed(f"no classification in {table}")
        self.cut.table = table
        if rng.random() < 0.5:
            swap_table(self.cut.name, table)
        else:
            load_table(self.cut.name, table)

    def read_only(self) -> None:
        run("dmsetup", "load", "--readonly", self.cut.name, "--table", self.cut.table)
        run("dmsetup", "suspend", self.cut.name)
        run("dmsetup", "resume", self.cut.name)

    def writable(self) -> None:
        load_table(self.cut.name, self.cut.table)


def driver_of(fs: str) -> str:
    """Kernels without a driver of its own for ext3 leave it to ext4's."""
    fs = fs.partition("-")[0]
    with open("/proc/filesystems") as file:
        return "ext4" if fs == "ext3" and "ext3" not in file.read().split() else fs


@dataclass
class Result:
    fs: str
    classify: str
    seed: int
    error: str = ""
    seconds: float = 0
    squashed: int = 0
    kept: int = 0
    operations: int = 0
    lived: list[str] = field(default_factory=list)


def live(
    name: str, seed: int, count: int, episodes: int, disk: str, cut: Cut | None, classify: str = LINEAR
) -> Life:
    fs = KNOWN[name]
    exact = fs.exact and classify != "implicit"
    kind = fs.layer if cut else ""
    first = int(fs.size * fs.first)
    with layers.between(kind, disk, fs.size, first, f"{name} {seed} layer") as layer:
        way = cut if layer.cuts else None
        words = (f"{name} {seed}", count, episodes, layer.device, way, layer, exact)
        life = Life(fs, driver_of(name), *words)
        if classify == CHANGE and cut:
            life.change = Modes(cut)
        try:
            life.live()
        except (Failed, OSError) as error:
            raise Failed(f"{'; '.join(life.told)}: {type(error).__name__}: {error}") from None
    return life


def disk_size(name: str) -> int:
    return layers.room(KNOWN[name].layer, KNOWN[name].size)


def reference(name: str, seed: int, count: int, episodes: int) -> Life:
    with linear_disk("trial", KNOWN[name].size) as disk:
        return live(name, seed, count, episodes, disk, None)


def judge(life: Life, expected: Life) -> None:
    if life.told != expected.told:
        raise Failed(f"{'; '.join(life.told)}: the reference went another way: {'; '.join(expected.told)}")
    pairs = list(zip(life.trees, expected.trees, strict=True))
    if life.exact:
        pairs += zip(life.contents, expected.contents, strict=True)
    for number, (ours, theirs) in enumerate(pairs):
        if wrong := difference(theirs, ours):
            raise Failed(
                f"{'; '.join(life.told)}: look {number}: the tree differs from the reference:\n"
                + "\n".join(wrong)
            )


class References:
    """Digests of what references came to, so that only a life that differs needs one. Other versions of
    kernel and tools may give other trees: then the reference is lived after all, which takes its time.
    """

    def __init__(self, path: Path | None, count: int, episodes: int) -> None:
        self.shape = f"{count} operations, {episodes} episodes"
        self.digests: dict[str, str] = json.loads(path.read_text()).get(self.shape, {}) if path else {}
        self.lived: dict[str, Life] = {}  # the last one
        self.renewed = 0

    @staticmethod
    def digest(life: Life) -> str:
        return checksum([*life.told, *(checksum(tree) for tree in (*life.trees, *life.contents))])

    def judge(self, name: str, seed: int, life: Life, live_reference: Callable[[], Life]) -> None:
        key = f"{name} {seed}"
        if self.digests.get(key) == self.digest(life):
            return
        if key not in self.lived:
            self.renewed += 1
            try:
                self.lived = {key: live_reference()}
            except (Failed, OSError) as error:
                raise Failed(f"the reference itself failed: {error}") from None
        judge(life, self.lived[key])
        self.digests[key] = self.digest(life)

    def save(self, path: Path) -> None:
        path.write_text(json.dumps({self.shape: self.digests}, indent=0, sort_keys=True) + "\n")


def one_linear(name: str, seed: int, count: int, episodes: int) -> Result:
    """The same cuts on dm-linear, which loses nothing: what a file system or its checker does of its own."""
    result = Result(name, LINEAR, seed)
    start = time.monotonic()
    try:
        with linear_disk("trial", disk_size(name)) as disk:
            live(name, seed, count, episodes, disk, Cut("trial", Complaints()))
    except (Failed, OSError) as error:
        result.error = f"{type(error).__name__}: {error}"
    result.seconds = round(time.monotonic() - start, 2)
    return result


def one(name: str, classify: str, seed: int, count: int, episodes: int, references: References) -> Result:
    result = Result(name, classify, seed)
    start = time.monotonic()
    complaints = Complaints()
    try:
        with ExitStack() as stack:
            backing = stack.enter_context(ram_disk(STORE))
            first = "auto" if classify == CHANGE else classify
            disk = stack.enter_context(fake_disk("trial", disk_size(name), backing, "--classify", first))
            cut = Cut("trial", complaints)
            life = live(name, seed, count, episodes, disk, cut, classify)
            result.lived, result.operations = life.told, life.operations
            figures = device_stats("trial")
            written: dict[str, int] = figures["written"]  # type: ignore[assignment]
            result.squashed, result.kept = written["squashed"], written["kept"]
            if figures["errors"] or figures["nospc"]:
                raise Failed(f"{figures['errors']} requests failed, {figures['nospc']} for want of space")
            if wrong := cut.complaints + complaints.found():
                raise Failed(f"{'; '.join(life.told)}: kernel: " + "\nkernel: ".join(wrong[:10]))
        references.judge(name, seed, life, lambda: reference(name, seed, count, episodes))
    except (Failed, OSError) as error:
        last = complaints.log.new_lines()[-8:]
        result.error = "\nkernel: ".join([f"{type(error).__name__}: {error}", *last])
    result.seconds = round(time.monotonic() - start, 2)
    return result


def seeds_of(text: str) -> range:
    """The seeds of "200" (1 to 200) or "17-19"."""
    first, _, last = text.rpartition("-")
    try:
        return range(int(first or 1), int(last) + 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is neither COUNT nor FIRST-LAST") from None


def run_of(text: str) -> tuple[str, tuple[str, ...]]:
    name, _, classify = text.partition(":")
    if name not in KNOWN:
        raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(KNOWN)}")
    return name, (classify,) if classify else KNOWN[name].classify


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", nargs="*", type=run_of, metavar="FS[:CLASSIFY]")
    parser.add_argument("--seeds", type=seeds_of, default=range(1, 2), metavar="COUNT|FIRST-LAST")
    parser.add_argument(
        "--count", type=int, default=COUNT, help="operations an episode (default: %(default)s)"
    )
    parser.add_argument("--episodes", type=int, default=EPISODES, help="mounts a life (default: %(default)s)")
    parser.add_argument("--references", type=Path, metavar="FILE", help="digests of what references came to")
    parser.add_argument("--remember", type=Path, metavar="FILE", help="write them and what was lived")
    parser.add_argument("--rotate", action="store_true", help="one mode a seed, in turn")
    args = parser.parse_args()
    failed = clean = 0
    operations: Counter[str] = Counter()
    references = References(args.references, args.count, args.episodes)
    for seed in args.seeds:
        for name, modes in args.runs or [(name, fs.classify) for name, fs in FILE_SYSTEMS.items()]:
            shape = (seed, args.count, args.episodes)
            if args.rotate:
                modes = (modes[seed % len(modes)],)
            if modes == (LINEAR,):
                result = one_linear(name, *shape)
                say(f"trials: {name}:{LINEAR} {seed}: {result.error or 'clean'} ({result.seconds} s)")
                clean += not result.error
                failed += bool(result.error)
                continue
            for classify in modes:
                result = one(name, classify, *shape, references)
                print("RESULT " + json.dumps(vars(result)), flush=True)
                operations[classify] += result.operations
                say(f"trials: {name}:{classify} {seed}: {result.error or 'clean'} ({result.seconds} s)")
                clean += not result.error
                failed += bool(result.error)
                if result.error:
                    say(f"trials: to repeat it: make trials FS={name}:{classify} SEEDS={seed}-{seed}")
                if dm.exists("trial"):
                    sys.exit("trials: what is left of this one cannot be removed; no more lives here")
    if args.references and references.renewed:
        say(f"trials: {references.renewed} references are not in {args.references}, and were lived")
    if args.remember:
        references.save(args.remember)
    if lost := leaks():
        say(f"trials: kmemleak: {lost}")
    done = ", ".join(f"{count} in {mode}" for mode, count in sorted(operations.items())) or "none"
    say(f"trials: {clean} lives clean, {failed} not; operations in lives that ended: {done}")
    return int(failed > 0 or not clean or bool(lost))


if __name__ == "__main__":
    sys.exit(main())
