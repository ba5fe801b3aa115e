# SPDX-License-Identifier: GPL-2.0
"""The steps of attack.toml: what is done to a side of a composed attack. Each is a function of the side and
of the step's own random numbers, begins and ends with the file system mounted, and is the same on both sides.
What only a fake disk can be asked for does nothing to the control.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import random
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from helpers import attackside, raw
from helpers.attackplan import rows
from helpers.attackside import Side
from helpers.csums import crc32c
from helpers.f2fs import collect_f2fs
from helpers.filesystems import TOOLS, UNKNOWN
from helpers.guest import Failed, attached, david, loop_disk, mounted, run, swap_table
from helpers.lvmtool import lvm, new_group
from helpers.manifest import difference, manifest
from helpers.poolbox import pool_disk
from helpers.storetool import says
from helpers.swapping import swapped_out
from helpers.units import GIB, KIB, MIB
from helpers.victim import (
    NOLOGFLUSH,
    drop_caches,
    flush_buffers,
    linear,
    plain,
    populate,
    shut_down,
    size_of,
    sync,
    wait_until,
)

Do = Callable[[Side, random.Random], None]
STEPS: dict[str, Do] = {}
BLOCK = 4096
FIFREEZE, FITHAW, FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, JOURNAL_DATA, NOCOW = (
    *(0xC0045877, 0xC0045878, 0x80086601, 0x40086602),
    *(0x4000, 0x800000),
)


def step(name: str) -> Callable[[Do], Do]:
    def named(function: Do) -> Do:
        STEPS[name] = function
        return function

    return named


# The tree: operations of randomops.py, a few of one kind, on names that are there by then.

TREE = (
    *("create", "write", "append", "direct", "mapped", "truncate", "allocate", "rename", "link", "symlink"),
    *("mkdir", "special", "delete", "rmdir", "xattr", "mode", "fsync", "sync", "many", "prune", "clone"),
    *("copy", "read", "orphan", "unnamed", "close", "exchange", "scattered"),
)


def in_tree(side: Side, rng: random.Random, name: str) -> None:
    work = side.work
    assert work
    work.rng = random.Random(rng.randrange(1 << 30))
    weight = [float(what.__name__ == name) for what, _ in work.table]
    work.weights = weight  # type: ignore[assignment]
    work.run(rng.randrange(2, 9))


for name in TREE:
    STEPS[f"tree: {name}"] = partial(in_tree, name=name)


@step("tree: a mixture")
def mixture(side: Side, rng: random.Random) -> None:
    work = side.work
    assert work
    work.rng = random.Random(rng.randrange(1 << 30))
    work.weights = [weight for _, weight in work.table]
    work.run(40)


@step("tree: many directories")
def many_directories(side: Side, rng: random.Random) -> None:
    where = f"{side.top}/tree/m{rng.randrange(1 << 30)}"
    plain(where, "p", rng.randrange(30, 120))


@step("tree: a large file, and small ones")
def large_file(side: Side, rng: random.Random) -> None:
    """It is where an array's members have something else than the array. Its inode is written once more, and
    the classifier, which looks at inodes every two seconds, has the time for it.
    """
    where = f"{side.top}/tree/l{rng.randrange(1 << 30)}"
    os.mkdir(where)
    noise = random.Random(5).randbytes(MIB)
    with open(f"{where}/large", "wb") as file:
        for _ in range(rng.choice((32, 110, 110))):
            file.write(noise)
        os.fsync(file.fileno())
    for number in range(2):
        plain(where, f"small{number}", 60)
        os.utime(f"{where}/large")
        sync(side.top)
        if side.implicit:
            time.sleep(2.5)


@step("tree: what compresses")
def compressible(side: Side, rng: random.Random) -> None:
    """To five eighths of its size, or less."""
    where = f"{side.top}/tree/c{rng.randrange(1 << 30)}"
    os.mkdir(where)
    for number in range(rng.randrange(4, 24)):
        noise = rng.randbytes(80 * KIB)
        Path(f"{where}/{number}").write_bytes(
            b"".join(noise[i : i + KIB] + bytes(640) for i in range(0, 80 * KIB, KIB))
        )
    sync(side.top)


@step("tree: remove all")
def remove_all(side: Side, rng: random.Random) -> None:
    work = side.work
    assert work
    work.close_all()
    shutil.rmtree(f"{side.top}/tree")
    os.mkdir(f"{side.top}/tree")
    work.files, work.others, work.directories = [], [], [work.top]


# Files whose content must be kept: below raw/, where a rule says so or all is kept.


def a_kept(side: Side, rng: random.Random) -> str:
    if not side.kept:
        keep_new(side, rng)
    return rng.choice(sorted(side.kept))


def content_of(rng: random.Random, most: int = 300 * KIB) -> bytes:
    kind = rng.random()
    if kind < 0.1:
        return b"some text\n" * rng.randrange(1, 4000)
    return rng.randbytes(rng.choice((100, BLOCK, 5 * BLOCK + 17, 32 * BLOCK, rng.randrange(1, most))))


def put(side: Side, name: str, offset: int, data: bytes) -> None:
    before = side.kept.get(name, b"")
    side.kept[name] = before[:offset].ljust(offset, b"\0") + data + before[offset + len(data) :]


@step("raw: new files")
def keep_new(side: Side, rng: random.Random) -> None:
    for _ in range(rng.randrange(1, 5)):
        name, content = f"r{rng.randrange(1 << 30)}", content_of(rng)
        Path(f"{side.top}/raw/{name}").write_bytes(content)
        side.kept[name] = content


@step("raw: write in the midst")
def keep_write(side: Side, rng: random.Random) -> None:
    name = a_kept(side, rng)
    with raw.opened(f"{side.top}/raw/{name}", os.O_RDWR) as fd:
        for _ in range(rng.randrange(1, 6)):
            data, offset = content_of(rng, 40 * KIB), rng.randrange(len(side.kept[name]) + 1)
            os.pwrite(fd, data, offset)
            put(side, name, offset, data)
        if rng.random() < 0.5:
            os.fsync(fd)


@step("raw: direct I/O")
def keep_direct(side: Side, rng: random.Random) -> None:
    name, data = a_kept(side, rng), rng.randbytes(BLOCK * rng.randrange(1, 17))
    offset = rng.randrange(len(side.kept[name]) // BLOCK + 1) * BLOCK
    with raw.opened(f"{side.top}/raw/{name}", os.O_RDWR | os.O_DIRECT) as fd:
        raw.write(fd, data, offset)
    put(side, name, offset, data)


@step("raw: by a mapping")
def keep_mapped(side: Side, rng: random.Random) -> None:
    name = a_kept(side, rng)
    size = len(side.kept[name])
    with raw.opened(f"{side.top}/raw/{name}", os.O_RDWR) as fd, mmap.mmap(fd, size) as memory:
        start = rng.randrange(size)
        data = rng.randbytes(min(5000, size - start))
        memory[start : start + len(data)] = data
        memory.flush()
    put(side, name, start, data)


@step("raw: truncate, punch")
def keep_punch(side: Side, rng: random.Random) -> None:
    name = a_kept(side, rng)
    content = side.kept[name]
    path = f"{side.top}/raw/{name}"
    if rng.random() < 0.5 or len(content) < 4 * BLOCK:
        size = rng.randrange(1, len(content) + 1)
        os.truncate(path, size)
        side.kept[name] = content[:size]
        return
    start = rng.randrange(len(content) // BLOCK - 1) * BLOCK
    try:
        run("xfs_io", "-c", f"fpunch {start} {BLOCK}", path)
    except Failed:  # not every file system can
        return
    if Path(path).read_bytes() != content:
        put(side, name, start, bytes(BLOCK))


@step("raw: delete, rename, again")
def keep_delete(side: Side, rng: random.Random) -> None:
    name = a_kept(side, rng)
    if rng.random() < 0.5:
        os.rename(f"{side.top}/raw/{name}", f"{side.top}/raw/{name}x")
        side.kept[f"{name}x"] = side.kept.pop(name)
    else:
        os.unlink(f"{side.top}/raw/{name}")
        del side.kept[name]


@step("raw: the same again")
def keep_again(side: Side, rng: random.Random) -> None:
    name = a_kept(side, rng)
    with raw.opened(f"{side.top}/raw/{name}", os.O_RDWR | rng.choice((0, os.O_DSYNC))) as fd:
        os.pwrite(fd, side.kept[name], 0)


def keep_for_rewriting(side: Side, rng: random.Random) -> str:
    """A file with blocks of its own, once it is synced."""
    name = f"w{rng.randrange(1 << 30)}"
    side.kept[name] = rng.randbytes(8 * BLOCK)
    Path(f"{side.top}/raw/{name}").write_bytes(side.kept[name])
    return name


def rewrite_durably(side: Side, rng: random.Random, name: str) -> None:
    """In place, past the page cache, and once more to be durable. To a device itself that would flush its
    cache; a file's blocks that are there already are written with FUA, and no flush.
    """
    places = rng.sample(range(8), rng.randrange(2, 7))
    content = {place * BLOCK: rng.randbytes(BLOCK) for place in places}
    for flags in (0, os.O_DSYNC):
        with raw.opened(f"{side.top}/raw/{name}", raw.DIRECT | flags) as fd:
            for offset, data in content.items():
                raw.write(fd, data, offset)
                put(side, name, offset, data)


@step("raw: in place, and again to be durable")
def keep_durably(side: Side, rng: random.Random) -> None:
    name = keep_for_rewriting(side, rng)
    sync(side.top)
    with suppress(OSError):  # not every file system has direct I/O
        rewrite_durably(side, rng, name)


@step("raw: deduplicate with a file of no rule")
def keep_dedupe(side: Side, rng: random.Random) -> None:
    """While the page cache has of that file what was written."""
    name, content = f"r{rng.randrange(1 << 30)}", rng.randbytes(rng.choice((MIB, 256 * KIB)))
    other = f"{side.top}/tree/e{rng.randrange(1 << 30)}"
    Path(other).write_bytes(content)
    Path(f"{side.top}/raw/{name}").write_bytes(content)
    side.kept[name] = content
    sync(side.top)
    with suppress(Failed):  # xfs without reflink
        run("xfs_io", "-c", f"dedupe {other} 0 0 {len(content)}", f"{side.top}/raw/{name}")


@step("raw: exchange blocks with an equal file")
def keep_exchange(side: Side, rng: random.Random) -> None:
    name = a_kept(side, rng)
    other = f"{side.top}/tree/s{rng.randrange(1 << 30)}"
    Path(other).write_bytes(side.kept[name])
    sync(side.top)
    with suppress(Failed):
        run("xfs_io", "-c", f"swapext {other}", f"{side.top}/raw/{name}")


@step("raw: clone among themselves")
def keep_clone(side: Side, rng: random.Random) -> None:
    name = a_kept(side, rng)
    with suppress(Failed):
        run("cp", "--reflink=always", f"{side.top}/raw/{name}", f"{side.top}/raw/{name}c")
        side.kept[f"{name}c"] = side.kept[name]
    if f"{name}c" not in side.kept:
        Path(f"{side.top}/raw/{name}c").unlink(missing_ok=True)


# The file system as a whole.


@step("fs: mount again")
def mount_again(side: Side, rng: random.Random) -> None:
    side.remount()


@step("fs: mount with nothing said")
def mount_plainly(side: Side, rng: random.Random) -> None:
    side.unmount()
    side.options = "nogc" if side.kind == "nilfs2" else ""
    side.mount()


@step("fs: mount with other options")
def mount_otherwise(side: Side, rng: random.Random) -> None:
    row = next(row for row in rows("file_systems") if row["name"] == side.plan.fs)
    side.unmount()
    side.options = rng.choice(row.get("mount", [""]))
    side.mount()


@step("fs: read-only, and back")
def read_only(side: Side, rng: random.Random) -> None:
    assert side.work
    side.work.close_all()
    run("mount", "-o", "remount,ro", side.top)
    run("mount", "-o", "remount,rw", side.top)


@step("fs: freeze and thaw")
def freeze(side: Side, rng: random.Random) -> None:
    with raw.opened(side.top, os.O_RDONLY) as fd:
        fcntl.ioctl(fd, FIFREEZE, 0)
        drop_caches()
        fcntl.ioctl(fd, FITHAW, 0)


@step("fs: trim")
def trim(side: Side, rng: random.Random) -> None:
    """A loop device has no discards on a drive without a command for zeros: some profiles are of such."""
    number = os.stat(side.top).st_dev
    limit = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/queue/discard_max_bytes")
    if not limit.exists() or int(limit.read_text()):
        run("fstrim", side.top)


@step("fs: drop caches")
def drop(side: Side, rng: random.Random) -> None:
    drop_caches()


@step("fs: look")
def look(side: Side, rng: random.Random) -> None:
    side.moments[-1].tree = side.look()


@step("fs: made anew")
def make_anew(side: Side, rng: random.Random) -> None:
    """Over what was there, with no discard."""
    sync(side.top)
    side.unmount()
    side.make()
    side.mount()
    side.populate()


@step("fs: another one made in between")
def make_another(side: Side, rng: random.Random) -> None:
    """It lives a while. Then the first one's kind is made again."""
    other = rng.choice([fs for fs in ("ext4", "xfs", "btrfs", "f2fs", "ext2") if fs != side.kind])
    side.unmount()
    device = side.devices[0]
    if side.kind == "btrfs":
        run("btrfs", "device", "scan", "--forget", ok=(0, 1))
    run(*TOOLS[other].mkfs, device)
    driver = "ext4" if other == "ext2" else other
    with mounted(device, driver) as top:
        populate(top, "other", 60)
        before = manifest(top)
    drop_caches()
    flush_buffers(device)
    run(*TOOLS[other].check, device)
    with mounted(device, driver) as top:
        if wrong := difference(before, manifest(top)):
            raise Failed(f"{other}: the tree differs: " + "\n".join(wrong))
    side.make()
    side.mount()
    side.populate()


@step("fs: swap on a file")
def swap(side: Side, rng: random.Random) -> None:
    path = f"{side.top}/raw/swap"
    size, content = 12 * MIB, rng.randbytes(2 * MIB)
    try:
        Path(path).touch(0o600)
        if side.kind == "btrfs":
            run("chattr", "+C", path)
        with open(path, "r+b") as file:
            for _ in range(size // MIB):
                file.write(bytes(MIB))
            os.fsync(file.fileno())
        run("mkswap", path)
        try:
            run("swapon", path)
        except Failed:  # not on every file system
            return
        try:
            _, same = swapped_out(content)
        finally:
            run("swapoff", path)
        if not same:
            raise Failed("what was swapped out is not what comes back")
    finally:
        Path(path).unlink(missing_ok=True)


@step("fs: direct I/O to the device below")
def write_below(side: Side, rng: random.Random) -> None:
    """Where the file system has nothing: its boot block, or the room for btrfs's boot loader."""
    places = {"btrfs": (4 * KIB, 8 * KIB, 32 * KIB, 60 * KIB)}.get(side.kind, (0,))
    size = BLOCK if side.kind == "btrfs" else 512
    with raw.opened(
        f"{side.top}/tree/d{rng.randrange(1 << 30)}", os.O_RDWR | os.O_CREAT | os.O_DIRECT
    ) as file:
        raw.write(file, rng.randbytes(64 * KIB), 0)
        os.fsync(file)
    at, content = rng.choice(places), rng.randbytes(size)
    with raw.opened(side.devices[0]) as fd:
        raw.write(fd, content, at)
        os.fsync(fd)
    drop_caches()
    with raw.opened(side.devices[0]) as fd:
        if raw.read(fd, size, at) != content:
            raise Failed(f"{size} bytes written below the file system at {at} are not what was written")


# Tools of one kind of file system.


def ext_tool(side: Side, *words: str, ok: tuple[int, ...] = (0,)) -> None:
    """Not every feature goes with every other: what is refused has done nothing."""
    with side.unmounted() as device:
        run("e2fsck", "-fy", device, ok=(0, 1))
        with suppress(Failed):
            run(*words, device, ok=ok)
        run("e2fsck", "-fy", device, ok=(0, 1))


@step("ext: features by tune2fs")
def tune_features(side: Side, rng: random.Random) -> None:
    words = rng.choice(
        (
            *(
                "^metadata_csum",
                "metadata_csum",
                "^huge_file",
                "quota",
                "^quota",
                "uninit_bg",
                "^resize_inode",
            ),
            *("fast_commit", "^fast_commit", "mmp", "^mmp", "orphan_file", "^orphan_file", "ea_inode"),
            *("encrypt", "verity", "large_dir", "sparse_super", "dir_nlink", "project", "metadata_csum_seed"),
        )
    )
    if side.journal:
        ext_tool(side, "tune2fs", "-O", words)


@step("ext: log by tune2fs")
def tune_log(side: Side, rng: random.Random) -> None:
    """Removed, and made again elsewhere. In between ext3 could not be mounted."""
    with side.unmounted() as device:
        run("e2fsck", "-fy", device, ok=(0, 1))
        run("tune2fs", "-f", "-O", "^has_journal", device)
        run("e2fsck", "-fy", device, ok=(0, 1))
        run("tune2fs", "-J", f"size={rng.choice((4, 8, 16))}", device)
        run("e2fsck", "-fy", device, ok=(0, 1))


@step("ext: tune2fs -c -L -m -r")
def tune_little(side: Side, rng: random.Random) -> None:
    ext_tool(side, "tune2fs", "-c", "20", "-L", f"l{rng.randrange(99)}", "-m", str(rng.randrange(9)))


@step("ext: larger inodes")
def tune_inodes(side: Side, rng: random.Random) -> None:
    ext_tool(side, "tune2fs", "-I", "512")


@step("ext: e2fsck -D")
def optimize(side: Side, rng: random.Random) -> None:
    ext_tool(side, "e2fsck", "-fyD", ok=(0, 1))


@step("ext: smaller, then larger while mounted")
def resize_ext(side: Side, rng: random.Random) -> None:
    with side.unmounted() as device:
        run("e2fsck", "-fy", device, ok=(0, 1))
        with suppress(Failed):
            run("resize2fs", device, f"{size_of(device) * rng.randrange(5, 10) // 10 >> 20}M")
    work_a_little(side, rng)
    with suppress(Failed):
        run("resize2fs", side.devices[0])


def work_a_little(side: Side, rng: random.Random) -> None:
    assert side.work
    side.work.rng = random.Random(rng.randrange(1 << 30))
    side.work.weights = [weight for _, weight in side.work.table]
    side.work.run(12)


@step("ext: e4defrag")
def e4defrag(side: Side, rng: random.Random) -> None:
    run("e4defrag", f"{side.top}/tree", ok=(0, 1))


@step("ext: chattr +j")
def log_data(side: Side, rng: random.Random) -> None:
    path = f"{side.top}/raw/j{rng.randrange(1 << 30)}"
    Path(path).touch()
    run("chattr", "+j", path, ok=(0, 1))
    content = rng.randbytes(100 * KIB)
    Path(path).write_bytes(content)
    side.kept[Path(path).name] = content


@step("ext: debugfs")
def debugfs(side: Side, rng: random.Random) -> None:
    """A directory and a file, past the kernel."""
    name = f"b{rng.randrange(1 << 30)}"
    with side.unmounted() as device:
        run("e2fsck", "-fy", device, ok=(0, 1))
        run("debugfs", "-w", "-R", f"mkdir tree/{name}", device)
        run("e2fsck", "-fy", device, ok=(0, 1))


@step("xfs: larger while mounted")
def xfs_grow(side: Side, rng: random.Random) -> None:
    """It was made smaller than its device."""
    side.unmount()
    size = size_of(side.devices[0]) * rng.randrange(5, 9) // 10 >> 20 << 20
    run(*TOOLS["xfs"].mkfs, "-d", f"size={size}", side.devices[0])
    side.mount()
    side.populate()
    work_a_little(side, rng)
    run("xfs_growfs", side.top)


def live_in_the_tail(side: Side, rng: random.Random, tail: str) -> None:
    """In what was cut off, at once: a kind that is known to implicit, or one that is not."""
    fs = rng.choice(("xfs", "xfs", "ext4", "f2fs", "jfs", "vfat"))
    known = fs in TOOLS
    options = "" if known else UNKNOWN[fs][2]
    plainly = {"xfs": ("-K",), "ext4": ("-U", "random", "-E", "nodiscard"), "f2fs": ("-t", "0")}
    run(*(TOOLS[fs].mkfs if known else UNKNOWN[fs][0]), *plainly.get(fs, ()), tail)
    work_a_little(side, rng)
    sync(side.top)
    with mounted(tail, fs, options) as below:
        plain(below, "other", 120)
        work_a_little(side, rng)
        sync(side.top)
        before = manifest(below)
    drop_caches()
    flush_buffers(tail)
    run(*(TOOLS[fs].check if known else UNKNOWN[fs][1]), tail)
    with mounted(tail, fs, options) as below:
        if wrong := difference(before, manifest(below)):
            raise Failed(f"{fs} in what was cut off: the tree differs: " + "\n".join(wrong))


@step("xfs: smaller while mounted, another one in what was cut off")
def xfs_shrink(side: Side, rng: random.Random) -> None:
    size = size_of(side.devices[0])
    said = run("xfs_info", side.top)
    found = re.search(r"data\s+=\s+bsize=(\d+)\s+blocks=(\d+)", said)
    group = re.search(r"agsize=(\d+)", said)
    assert found and group
    bsize, blocks = int(found[1]), int(found[2])
    last = blocks % int(group[1]) or int(group[1])
    less = min(last * bsize - 32 * MIB, 310 * MIB) // BLOCK * BLOCK
    if less < 301 * MIB or blocks * bsize < size - MIB:
        return
    try:
        run("xfs_growfs", "-D", str(blocks - less // bsize), side.top)
    except Failed:  # something lies there
        return
    with attached(side.devices[0], blocks * bsize - less, direct=rng.random() < 0.5) as tail:
        live_in_the_tail(side, rng, tail)
    flush_buffers(side.devices[0])
    run("xfs_growfs", side.top)


@step("xfs: xfs_fsr")
def fsr(side: Side, rng: random.Random) -> None:
    for path in (side.work.files if side.work else [])[:4]:
        run("xfs_fsr", path, ok=(0, 1))


@step("xfs: xfs_io")
def xfs_io(side: Side, rng: random.Random) -> None:
    path = f"{side.top}/tree/i{rng.randrange(1 << 30)}"
    words = rng.choice(
        (
            ("falloc 0 8m", "pwrite -b 64k 1m 3m", "fsync", "finsert 1m 1m", "fcollapse 4m 1m"),
            ("extsize 1m", "pwrite 0 5000", "pwrite 6m 5000", "fsync"),
            ("pwrite -V 4 0 1m", "fzero 64k 128k", "fdatasync", "truncate 300k", "fpunch 4k 100k"),
            ("pwrite -d -b 4k 0 256k", "mmap 0 256k", "mwrite 4k 9000", "msync", "reflink {0} 0 1m 64k"),
            ("pwrite -D -b 4k 0 64k", "sync_range -w 0 64k", "funshare 0 64k"),
        )
    )
    run("xfs_io", "-f", *(word for text in words for word in ("-c", text.format(path))), path, ok=(0, 1))


@step("xfs: xfs_admin")
def admin(side: Side, rng: random.Random) -> None:
    with side.unmounted() as device:
        run("xfs_admin", "-L", f"l{rng.randrange(99)}", device)


@step("xfs: xfs_repair")
def xfs_repair(side: Side, rng: random.Random) -> None:
    with side.unmounted() as device:
        run("xfs_repair", *rng.choice(((), ("-L",))), device)


@step("xfs: scrub by the kernel")
def xfs_scrub(side: Side, rng: random.Random) -> None:
    for what in ("inode", "bmapbtd", "directory", "sb 0", "agf 0"):
        with suppress(Failed):
            run("xfs_io", "-x", "-c", f"scrub {what}", f"{side.top}/tree")


@step("btrfs: subvolumes and snapshots")
def subvolumes(side: Side, rng: random.Random) -> None:
    name = f"{side.top}/tree/v{rng.randrange(1 << 30)}"
    run("btrfs", "subvolume", "create", name)
    plain(name, "p", 30)
    run("btrfs", "subvolume", "snapshot", *rng.choice(((), ("-r",))), name, f"{name}s")
    if rng.random() < 0.5:
        run("btrfs", "subvolume", "delete", name)


@step("btrfs: balance")
def balance(side: Side, rng: random.Random) -> None:
    words = rng.choice((("-dusage=100",), ("-musage=100",), ("--full-balance",)))
    run("btrfs", "balance", "start", "--force", *words, side.top)


@step("btrfs: another profile")
def convert(side: Side, rng: random.Random) -> None:
    one = (("-mconvert=single",), ("-mconvert=dup",), ("-dconvert=dup",), ("-dconvert=single",))
    two = (("-dconvert=raid0",), ("-dconvert=raid1", "-mconvert=raid1"), ("-dconvert=single",))
    words = rng.choice(two if len(side.devices) > 1 else one)
    with suppress(Failed):
        run("btrfs", "balance", "start", "--force", *words, side.top)


@step("btrfs: smaller, larger")
def btrfs_resize(side: Side, rng: random.Random) -> None:
    with suppress(Failed):
        run("btrfs", "filesystem", "resize", f"-{rng.randrange(50, 300)}m", side.top)
    work_a_little(side, rng)
    run("btrfs", "filesystem", "resize", "max", side.top)


@step("btrfs: defragment, compress")
def defragment(side: Side, rng: random.Random) -> None:
    words = rng.choice(((), ("-czstd",), ("-clzo",), ("-czlib",)))
    run("btrfs", "filesystem", "defragment", "-r", *words, f"{side.top}/tree", ok=(0, 1))


@step("btrfs: scrub")
def scrub(side: Side, rng: random.Random) -> None:
    said = run("btrfs", "scrub", "start", "-B", side.top, ok=(0, 3))
    if not re.search(r"no errors found", said):
        raise Failed(f"scrub: {said}")


@step("btrfs: a device more, and away again")
def device_more(side: Side, rng: random.Random) -> None:
    with loop_disk(300 * MIB) as device:
        run("btrfs", "device", "add", "-f", device, side.top)
        work_a_little(side, rng)
        run("btrfs", "device", "remove", device, side.top)


@step("btrfs: properties")
def properties(side: Side, rng: random.Random) -> None:
    where = f"{side.top}/tree/o{rng.randrange(1 << 30)}"
    os.mkdir(where)
    words = rng.choice((("compression", "zstd"), ("compression", "lzo"), ("compression", "none")))
    run("btrfs", "property", "set", where, *words)
    if rng.random() < 0.3:
        run("chattr", "+C", where, ok=(0, 1))
    plain(where, "p", 20)


@step("btrfs: send and receive")
def send(side: Side, rng: random.Random) -> None:
    name = f"{side.top}/tree/n{rng.randrange(1 << 30)}"
    run("btrfs", "subvolume", "create", name)
    plain(name, "p", 20)
    run("btrfs", "subvolume", "snapshot", "-r", name, f"{name}s")
    os.mkdir(f"{name}r")
    run("sh", "-c", f"btrfs send -q {name}s | btrfs receive {name}r")


@step("btrfs: quota")
def quota(side: Side, rng: random.Random) -> None:
    run("btrfs", "quota", rng.choice(("enable", "disable")), side.top, ok=(0, 1))


@step("f2fs: collection")
def collect(side: Side, rng: random.Random) -> None:
    collect_f2fs(side.top, rng.randrange(1, 20))


@step("f2fs: fsck.f2fs")
def fsck_f2fs(side: Side, rng: random.Random) -> None:
    with side.unmounted() as device:
        run("fsck.f2fs", "-f", device, ok=(0, 1, 255))


# Something else in a file of the file system, on a loop device.


@contextmanager
def image(side: Side, rng: random.Random) -> Iterator[str]:
    path = f"{side.top}/late/image"
    Path(path).touch()
    if side.kind == "btrfs":
        run("chattr", "+C", path, ok=(0, 1))
    try:
        os.truncate(path, 320 * MIB)
        with attached(path, direct=rng.random() < 0.7) as loop:
            yield loop
    finally:
        Path(path).unlink()


def in_an_image(side: Side, rng: random.Random, fs: str) -> None:
    known = fs in TOOLS
    options = "" if known else UNKNOWN[fs][2]
    if not side.has_images:
        return
    with image(side, rng) as loop:
        run(*(TOOLS[fs].mkfs if known else UNKNOWN[fs][0]), *("-U", "random") * (fs == "ext4"), loop)
        with mounted(loop, fs, options) as top:
            plain(top, "p", 60)
            before = manifest(top)
        drop_caches()
        flush_buffers(loop)
        run(*(TOOLS[fs].check if known else UNKNOWN[fs][1]), loop)
        with mounted(loop, fs, options) as top:
            if wrong := difference(before, manifest(top)):
                raise Failed(f"in an image, {fs}: the tree differs: " + "\n".join(wrong))


for fs in ("ext4", "xfs", "f2fs", "jfs", "vfat"):
    STEPS[f"image: {fs}"] = partial(in_an_image, fs=fs)


@step("image: labels of LUKS and LVM")
def labels(side: Side, rng: random.Random) -> None:
    """What a program writes with direct I/O: no page tells of it."""
    if not side.has_images:
        return
    with image(side, rng) as loop:
        if rng.random() < 0.5:
            quick = ("--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000")
            Path("/tmp/david-attack-pass").write_text("pass")
            run("cryptsetup", "luksFormat", "-q", *quick, "-d", "/tmp/david-attack-pass", loop)
            drop_caches()
            flush_buffers(loop)
            run("cryptsetup", "luksDump", loop)
        else:
            new_group("inimage", loop)
            drop_caches()
            flush_buffers(loop)
            lvm("vgck", "inimage", disks=(loop,))
            lvm("vgremove", "inimage", disks=(loop,))


# Layers.


@step("md: a leg fails, and comes back")
def leg(side: Side, rng: random.Random) -> None:
    """Not where nothing is left then. raid1 and raid10 alone are asked: a raid5 of fake disks keeps all."""
    for device in side.place.arrays:
        level = run("mdadm", "--detail", device)
        legs = side.place.legs[device]
        if "raid0" in level or len(legs) < 2:
            continue
        name = rng.choice(legs)
        run("mdadm", device, "--fail", name)
        run("mdadm", device, "--remove", name)
        work_a_little(side, rng)
        run("mdadm", "--zero-superblock", name)
        run("mdadm", device, "--add", name)
        run("mdadm", "--wait", device, ok=(0, 1))


@step("md: check")
def md_check(side: Side, rng: random.Random) -> None:
    for device in side.place.arrays:
        md = Path("/sys/block") / Path(device).name / "md"
        if (md / "sync_action").exists():
            sync(side.top)
            (md / "sync_action").write_text(rng.choice(("check", "repair")))
            idle = partial(lambda action: action.read_text() == "idle\n", md / "sync_action")
            wait_until(idle, "md's check", 300)


@step("LVM: snapshot, and away")
def lvm_snapshot(side: Side, rng: random.Random) -> None:
    """The same is done where lvm refuses."""
    for group, below in groups_of_volumes(side, "LVM linear", "LVM striped"):
        with suppress(Failed):
            lvm("lvcreate", "-s", "-n", "snap", "-l", "20%FREE", f"{group}/a", disks=below)
        work_a_little(side, rng)
        with suppress(Failed):
            lvm("lvremove", "-f", f"{group}/snap", disks=below)


@step("LVM: larger")
def lvm_larger(side: Side, rng: random.Random) -> None:
    for group, below in groups_of_volumes(side, "LVM linear", "LVM in pieces", "LVM striped"):
        with suppress(Failed):
            lvm("lvextend", "-l", "+10%FREE", f"{group}/a", disks=below)


def groups_of_volumes(side: Side, *kinds: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """With what each stands on. Of other devices its lvm sees none: below the control's linear device the
    same labels stand again, and of what it finds twice lvm changes nothing.
    """
    for number, name in enumerate(side.plan.layers):
        if name in kinds:
            yield f"layer{number}0", side.place.below[f"layer{number}0"]


@step("loop: told again")
def told_again(side: Side, rng: random.Random) -> None:
    if side.fake:
        david("stack")


@step("layer: suspend, resume")
def suspend_layer(side: Side, rng: random.Random) -> None:
    names = [line.split("\t")[0] for line in run("dmsetup", "ls").splitlines() if line.startswith("layer")]
    for name in sorted(names)[:2]:
        run("dmsetup", "suspend", name)
        run("dmsetup", "resume", name)


# Fake disks.


def fakes(side: Side) -> list[str]:
    return [*side.names, *side.place.uppers] if side.fake else []


@step("david: pack")
def pack(side: Side, rng: random.Random) -> None:
    """A pool's disks cannot be packed."""
    for name in fakes(side):
        if side.plan.store == "alone" or name in side.place.uppers:
            david("pack", name)


@step("david: suspend, resume")
def suspend(side: Side, rng: random.Random) -> None:
    for name in side.names:
        run(
            "dmsetup",
            "suspend",
            *rng.choice(((), ("--noflush",), ("--nolockfs",), ("--noflush", "--nolockfs"))),
            name,
        )
        run("dmsetup", "resume", name)


@step("david: the same table again")
def reload(side: Side, rng: random.Random) -> None:
    for name in side.names:
        swap_table(name, run("dmsetup", "table", name).strip())


@step("david: another way of classification")
def classify(side: Side, rng: random.Random) -> None:
    """A rule for files is obeyed by page owners, or by what is written, and one does not know the other's."""
    if side.plan.mode == "keep":
        return
    modes = ["auto", "explicit"] if side.plan.mode != "implicit" else ["implicit"]
    if not side.plan.rule and not any("on a file" in name for name in side.plan.layers):
        modes = ["auto", "explicit", "implicit"]
    mode = rng.choice(modes)
    side.implicit |= mode == "implicit"
    for name in side.names if side.fake else []:
        table = run("dmsetup", "table", name).strip()
        swap_table(name, re.sub(r"classify=\w+", f"classify={mode}", table))


@step("david: timing-accurate, and back")
def timing(side: Side, rng: random.Random) -> None:
    if side.fake:
        david("set", "disk0", "mode=timing-accurate")
    try:
        work_a_little(side, rng)
        sync(side.top)
    finally:
        if side.fake:
            david("set", "disk0", "mode=speedup")


@step("david: other content")
def other_content(side: Side, rng: random.Random) -> None:
    content = rng.choice(("zeros", "text", "stamp", "incompressible", "compressible:500"))
    for name in side.names if side.fake else []:
        with suppress(Failed):  # not with files=
            david("set", name, f"content={content}")


@step("david: larger")
def larger(side: Side, rng: random.Random) -> None:
    """The disk; what lies on it is not told."""
    for name in side.names:
        size = side.sizes[name] + 16 * MIB
        if size > side.sizes["beside"] + attackside.GROWTH + GIB:
            continue
        if side.fake:
            david("resize", name, str(size))
        else:
            swap_table(name, linear(size, side.base(name), 0))
        side.sizes[name] = size


@step("david: removed, and created again")
def reopen(side: Side, rng: random.Random) -> None:
    side.reopen()


@step("david: checked while it is away")
def check_store(side: Side, rng: random.Random) -> None:
    side.unmount()
    side.close()
    if side.fake:
        if side.plan.store == "alone":
            for name in side.base_names():
                david_store("check", side.base(name))
        else:
            david_store("pool", "check", side.base("pool"))
    side.open()
    side.mount()


def david_store(*words: str) -> None:
    status, text = says(*words)
    if status:
        raise Failed(f"david-store {' '.join(words)}: {text}")


@step("david: the pool exported, and imported elsewhere")
def move_pool(side: Side, rng: random.Random) -> None:
    side.unmount()
    side.close()
    if side.fake and side.plan.store != "alone":
        packed = "/tmp/david-attack-pool"
        david_store("pool", "export", side.base("pool"), packed)
        david_store("pool", "import", "--format", packed, side.base("pool"), "farm")
        os.unlink(packed)
    side.open()
    side.mount()


@step("david: a rule for nothing, and away")
def other_rule(side: Side, rng: random.Random) -> None:
    for name in side.names if side.fake else []:
        rule = f"suffix:x{rng.randrange(99)}"
        david("raw", "add", name, rule)
        david("raw", "remove", name, rule)


@step("david: status, statistics, messages")
def ask(side: Side, rng: random.Random) -> None:
    for name in fakes(side):
        run("dmsetup", "status", name)
        run("dmsetup", "message", name, "0", "stack")
        david("stats", name)


# Beside: a disk that is written to past any file system. What is written counts as it is promised there.


def beside_write(side: Side, place: int, content: bytes, flags: int = 0) -> None:
    with raw.opened("/dev/mapper/beside", raw.DIRECT | flags) as fd:
        raw.write(fd, content, place)
    for at in range(place, place + len(content), BLOCK):
        side.blocks[at] = content[at - place : at - place + BLOCK]
        side.ruled.discard(at)
        (side.loose.discard if flags & os.O_DSYNC else side.loose.add)(at)


def a_place(rng: random.Random) -> int:
    return rng.randrange(2000) * BLOCK


@step("beside: write")
def write_beside(side: Side, rng: random.Random) -> None:
    for _ in range(rng.randrange(1, 12)):
        beside_write(side, a_place(rng), rng.randbytes(BLOCK * rng.randrange(1, 5)))


@step("beside: the same again, to be durable")
def write_durably(side: Side, rng: random.Random) -> None:
    """The first time it may be lost by a cut; from the second on it may not."""
    for _ in range(rng.randrange(1, 4)):
        place, content = a_place(rng), rng.randbytes(BLOCK)
        beside_write(side, place, content)
        if rng.random() < 0.3:
            beside_write(side, a_place(rng), rng.randbytes(BLOCK))
        beside_write(side, place, content, os.O_DSYNC)


@step("beside: discard")
def discard_beside(side: Side, rng: random.Random) -> None:
    place, size = a_place(rng), BLOCK * rng.randrange(1, 40)
    with raw.opened("/dev/mapper/beside") as fd:
        raw.discard(fd, place, size)
    for at in range(place, place + size, BLOCK):
        side.blocks.pop(at, None)
        side.ruled.discard(at)
        side.loose.discard(at)


@step("beside: flush")
def flush_beside(side: Side, rng: random.Random) -> None:
    with raw.opened("/dev/mapper/beside") as fd:
        os.fsync(fd)
    side.loose.clear()


@step("beside: the same blocks as elsewhere")
def copies_beside(side: Side, rng: random.Random) -> None:
    content = random.Random(9).randbytes(BLOCK)
    for _ in range(rng.randrange(2, 9)):
        beside_write(side, a_place(rng), content)
    if side.kept:
        content = side.kept[rng.choice(sorted(side.kept))][: 8 * BLOCK]
        if len(content) >= BLOCK:
            beside_write(side, a_place(rng), content[: len(content) // BLOCK * BLOCK])


@step("beside: exact from now on, and newer data")
def rule_beside(side: Side, rng: random.Random) -> None:
    """By a rule for sectors, what was written as data before is written again, and must stay."""
    place, content = a_place(rng), rng.randbytes(BLOCK)
    beside_write(side, place, content)
    with raw.opened("/dev/mapper/beside") as fd:
        raw.must_read(fd, content, place)
    if side.fake:
        run("dmsetup", "message", "beside", "0", "raw", "add", f"sectors:{place >> 9}-{(place >> 9) + 7}")
    beside_write(side, place, content, rng.choice((0, os.O_DSYNC)))
    side.ruled.add(place)
    for number in range(8):
        beside_write(side, 32 * MIB + number * MIB, rng.randbytes(MIB))
    # What is older than that is squashed by a worker.
    time.sleep(1)


@step("beside: fill, and give back")
def fill_beside(side: Side, rng: random.Random) -> None:
    """So that the pool's free blocks are this disk's. Nobody else may be short of room."""
    with raw.opened("/dev/mapper/beside") as fd:
        if side.fake and side.plan.store != "alone":
            noise = random.Random(3).randbytes(2 * MIB)
            with suppress(OSError):  # it is full
                for at in range(64 * MIB, attackside.BESIDE, 2 * MIB):
                    turned = at >> 21
                    raw.write(fd, noise[turned:] + noise[:turned], at)
        raw.discard(fd, 64 * MIB, attackside.BESIDE - 64 * MIB)
        os.fsync(fd)
    work_a_little(side, rng)
    for name in side.names if side.fake else []:
        david("raw", "add", name, f"suffix:f{rng.randrange(1 << 20)}")
    sync(side.top)


LATE = GIB


@step("pool: a disk that has nothing, while another one has all")
def disk_without_blocks(side: Side, rng: random.Random) -> None:
    """It needs blocks for checksums, rules and what must be kept. The other one can spare them."""
    if side.plan.store == "alone":
        return
    if not side.fake:
        fill_beside(side, rng)
        return
    options = ("--classify", "data", "-o", "checksums=on", "-o", "pool_reserve=0")
    with pool_disk("late", side.base("pool"), *options, size=LATE) as disk:
        fill_beside(side, rng)
        content = {at: rng.randbytes(MIB) for at in range(0, 16 * MIB, MIB)}
        with raw.opened(disk) as fd:
            for at, data in content.items():
                raw.write(fd, data, at)
            os.fsync(fd)
            run("dmsetup", "message", "late", "0", "raw", "add", "sectors:65536-65599")
            kept = rng.randbytes(8 * BLOCK)
            raw.write(fd, kept, 32 * MIB)
            os.fsync(fd)
    with pool_disk("late", side.base("pool"), *options, size=LATE) as disk, raw.opened(disk) as fd:
        raw.must_read(fd, kept, 32 * MIB)
        for at, data in content.items():
            for start in range(0, MIB, 32 * BLOCK):
                if crc32c(raw.read(fd, BLOCK, at + start)) != crc32c(data[start : start + BLOCK]):
                    raise Failed(f"late: the block at {at + start} has lost its checksum")
        raw.discard(fd, 0, LATE)


# Cut off.


@contextmanager
def cut_off(side: Side) -> Iterator[list[str]]:
    """What comes before is synced, and must be there afterwards."""
    if side.work:
        side.work.close_all()
    os.sync()
    tree = side.tree()
    side.failing = True
    try:
        yield tree
    finally:
        side.log.found()
        side.failing = False


@step("cut: the file system ends")
def cut_fs(side: Side, rng: random.Random) -> None:
    """It writes no more, as if the machine had stopped: nothing that was in memory comes down."""
    with cut_off(side) as tree:
        side.do_late(rng.randrange(1 << 30))
        try:
            shut_down(side.top, NOLOGFLUSH)
        except OSError:  # btrfs cannot
            return
        side.unmount()
        side.after_cut(tree)


@step("cut: the uppermost layer goes")
def cut_top(side: Side, rng: random.Random) -> None:
    tables = {f"cut{i}": "" for i in range(len(side.devices))}
    with cut_off(side) as tree:
        side.do_late(rng.randrange(1 << 30))
        for name in tables:
            tables[name] = run("dmsetup", "table", name).strip()
            swap_table(name, f"0 {tables[name].split()[1]} error")
        side.unmount()
        for name, table in tables.items():
            swap_table(name, table)
        side.after_cut(tree)


@step("cut: backing devices fail")
def cut_backing(side: Side, rng: random.Random) -> None:
    """All of them. They come back, and all is opened again."""
    with cut_off(side) as tree:
        side.do_late(rng.randrange(1 << 30))
        for name in side.base_names():
            side.fail(name)
        with suppress(OSError):
            sync(side.top)
        side.unmount()
        close_broken(side)
        for name in side.base_names():
            side.unfail(name)
        forget_loose(side)
        side.open()
        side.after_cut(tree)


def forget_loose(side: Side) -> None:
    """What no flush has made durable may be there, or not."""
    for at in side.loose:
        side.blocks.pop(at, None)
        side.ruled.discard(at)
    side.loose.clear()


def close_broken(side: Side) -> None:
    """What lies on disks that fail may refuse to go at first."""
    with suppress(Failed, OSError):
        side.close()
    left = [line.split("\t")[0] for line in run("dmsetup", "ls").splitlines() if "\t" in line]
    for name in [name for name in left if not name.startswith("base-")]:
        with suppress(Failed, OSError):
            run("dmsetup", "remove", "--retry", name)


@step("cut: the power fails")
def cut_power(side: Side, rng: random.Random) -> None:
    """What no flush has made durable may be gone."""
    name = keep_for_rewriting(side, rng)
    with cut_off(side) as tree:
        side.do_late(rng.randrange(1 << 30))
        if rng.random() < 0.3:
            write_durably(side, rng)
        with suppress(OSError):
            rewrite_durably(side, rng, name)
        for name in side.base_names():
            side.fail(name)
        with suppress(OSError):
            sync(side.top)
        side.unmount()
        close_broken(side)
        side.power_cut(rng.randrange(1 << 30))
        forget_loose(side)
        side.open()
        side.after_cut(tree)
        side.check_beside()
