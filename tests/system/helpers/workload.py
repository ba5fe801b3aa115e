#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A file-system workload that is the same every time: everything a file system can be asked to do, from a
seed.

Two disks that got the same workload must hold the same tree; manifest.py prints that tree. So nothing here
may depend on time, on the order of a directory's entries, on inode numbers or on how fast the disk is.
What a file system does not offer (holes in ext2, ACLs in some kernels) is left out, the same on both
disks.

Each round deletes much of what the one before it made, after it has reached the disk: blocks that were
data become directories, inode tables and extent trees, and the other way round. That is where a disk that
keeps only metadata would go wrong.

A system call costs tens of microseconds in a lab, so contents are slices of one random pool, written with
few calls.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import mmap
import os
import random
import shutil
import stat
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from helpers.units import GIB, KIB, MIB

POOL = 4 * MIB
BLOCK = 4096
FALLOC_KEEP_SIZE, FALLOC_PUNCH_HOLE, FALLOC_ZERO_RANGE = 0x01, 0x02, 0x10

libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)

# User Mode Linux with several CPUs (arch/um/include/asm/tlbflush.h, 7.3) takes a right to write to a mapped
# page from a process when that next enters the kernel, not at once. On another CPU the process goes on
# writing while the page is under write-back. Then a checksum, a copy and the disk differ: btrfs on dm-linear
# finds checksums wrong, too. So there nothing is written through mappings.
STALE_MAPPINGS = os.environ.get("DAVID_LAB") == "uml" and (os.cpu_count() or 1) > 1


@dataclass(frozen=True)
class Scale:
    files: int  # small files a round
    entries: int  # entries of the great directory
    large: int  # bytes of the large file
    rounds: int


SCALES = {
    "tiny": Scale(120, 300, 4 * MIB, 2),
    "check": Scale(1000, 3000, 48 * MIB, 2),
    "vm": Scale(5000, 20000, 2 * GIB, 3),
    "uml": Scale(10000, 40000, 20 * GIB, 3),
}

# What a file system may decline without failing the workload.
UNSUPPORTED = {errno.EOPNOTSUPP, errno.ENOSPC, errno.E2BIG, errno.ERANGE, errno.EINVAL, errno.EMLINK}


class Workload:
    def __init__(self, top: str, seed: int, scale: Scale, compressible: bool = False) -> None:
        self.top = top
        self.scale = scale
        self.random = random.Random(seed)
        if compressible:
            self.pool = memoryview(b"".join(self.random.randbytes(KIB) * 4 for _ in range(POOL // BLOCK)))
        else:
            self.pool = memoryview(self.random.randbytes(POOL))
        self.zeros = memoryview(bytes(256 * KIB))
        # Two kinds of anonymous memory: private pages, and shared ones, which belong to a tmpfs inode.
        self.private = mmap.mmap(-1, MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.shared = mmap.mmap(-1, MIB, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
        self.private[:] = self.pool[:MIB]
        self.shared[:] = self.pool[MIB : 2 * MIB]
        self.files: list[str] = []
        self.skipped: set[str] = set()
        self.fds: set[int] = set()
        self.written = 0

    # Helpers

    def data(self, size: int) -> memoryview:
        """`size` bytes, at most the pool's, never constant and seldom the same."""
        start = self.random.randrange(POOL - size + 1)
        return self.pool[start : start + size]

    def open(self, path: str, flags: int, mode: int = 0o777) -> int:
        fd = os.open(path, flags, mode)
        self.fds.add(fd)
        return fd

    def close(self, fd: int) -> None:
        self.fds.discard(fd)
        os.close(fd)

    def pwrite(self, fd: int, data: memoryview, offset: int) -> None:
        done = os.pwrite(fd, data, offset)
        self.written += done
        if done != len(data):
            raise OSError(errno.EIO, f"short write: {done} of {len(data)} bytes at {offset}")

    def create(self, path: str, data: memoryview | None, mode: int = 0o644) -> None:
        fd = self.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, mode)
        if data is not None and len(data):
            self.pwrite(fd, data, 0)
        self.close(fd)

    def optional(self, what: str, call: Callable[[], object]) -> bool:
        """Make a call that the file system may decline."""
        try:
            call()
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                raise
            self.skipped.add(f"{what}: {errno.errorcode[error.errno]}")
            return False
        return True

    def fallocate(self, fd: int, mode: int, offset: int, length: int, what: str) -> None:
        def call() -> None:
            if libc.fallocate(fd, mode, offset, length):
                code = ctypes.get_errno()
                raise OSError(code, os.strerror(code))

        self.optional(what, call)

    def sample(self, count: int) -> list[str]:
        return self.random.sample(self.files, min(count, len(self.files)))

    def size(self) -> int:
        """A small file's size: mostly a few KiB, sometimes nothing, sometimes hundreds of KiB."""
        kind = self.random.random()
        if kind < 0.05:
            return 0
        if kind < 0.30:
            return self.random.randrange(1, 2048)
        if kind < 0.90:
            return self.random.randrange(2048, 24 * KIB)
        if kind < 0.99:
            return self.random.randrange(24 * KIB, 128 * KIB)
        return self.random.randrange(128 * KIB, 640 * KIB)

    # Steps of a round. `base` is the round's own directory.

    def small_files(self, base: str) -> None:
        """Many files in many directories, some of them deep."""
        directories = [base]
        for i in range(self.scale.files // 25):
            # Every tenth directory goes below the newest one: a few long paths.
            parent = directories[-1] if i % 10 else self.random.choice(directories)
            path = f"{parent}/d{i}"
            if len(path) > 3000:
                path = f"{base}/d{i}"
            os.mkdir(path, self.random.choice((0o755, 0o700, 0o1777)))
            directories.append(path)
        for i in range(self.scale.files):
            path = f"{self.random.choice(directories)}/file-{i}"
            self.create(path, self.data(self.size()))
            self.files.append(path)

    def great_directory(self, base: str) -> None:
        """Thousands of names of all lengths; a third goes again, so that the tree splits and empties."""
        path = f"{base}/great"
        os.mkdir(path)
        names = [f"{path}/{i:x}" + "n" * self.random.randrange(0, 60) for i in range(self.scale.entries)]
        for name in names:
            os.mknod(name, stat.S_IFREG | 0o600)
        os.sync()
        for name in names[::3]:
            os.unlink(name)
        for name in names[1::7]:
            if os.path.exists(name):
                os.rename(name, name + "-renamed")

    def appends(self, base: str) -> None:
        for path in self.sample(self.scale.files // 10):
            fd = self.open(path, os.O_WRONLY | os.O_APPEND)
            for _ in range(3):
                self.written += os.write(fd, self.data(self.random.randrange(1, 9000)))
            if self.random.random() < 0.1:
                os.fsync(fd)
            self.close(fd)

    def overwrites(self, base: str) -> None:
        for path in self.sample(self.scale.files // 10):
            fd = self.open(path, os.O_RDWR)
            size = os.fstat(fd).st_size
            for _ in range(3):
                self.pwrite(fd, self.data(self.random.randrange(1, 6000)), self.random.randrange(size + 1))
            if self.random.random() < 0.1:
                os.fdatasync(fd)
            self.close(fd)
        for path in self.sample(self.scale.files // 40):
            self.create(path, self.data(self.size()))
        for path in self.sample(self.scale.files // 40):
            os.truncate(path, self.random.randrange(30000))

    def direct_io(self, base: str) -> None:
        """O_DIRECT: what reaches the disk are the caller's own pages, which belong to no file."""
        for i in range(max(self.scale.files // 100, 4)):
            path = f"{base}/direct-{i}"
            fd = self.open(path, os.O_CREAT | os.O_RDWR | os.O_DIRECT, 0o640)
            memory = memoryview(self.shared if i % 3 == 2 else self.private)
            for _ in range(6):
                length = BLOCK * self.random.randrange(1, 65)
                start = BLOCK * self.random.randrange((MIB - length) // BLOCK + 1)
                offset = BLOCK * self.random.randrange(256)
                self.pwrite(fd, memory[start : start + length], offset)
            os.preadv(fd, [memory[:BLOCK]], 0)
            memory[:BLOCK] = self.data(BLOCK)
            if i % 4 == 0:
                os.fsync(fd)
            self.close(fd)
            self.files.append(path)
        # Direct I/O over what came through the page cache, and the other way round.
        for path in self.sample(self.scale.files // 100):
            fd = self.open(path, os.O_RDWR | os.O_DIRECT)
            self.pwrite(fd, memoryview(self.private)[: 2 * BLOCK], BLOCK)
            self.close(fd)

    def direct_from_file(self, base: str) -> None:
        """O_DIRECT from the mapped pages of another file: pages with an owner, but not the right one."""
        source = f"{base}/source"
        self.create(source, self.data(64 * KIB))
        with open(source, "r+b") as file, mmap.mmap(file.fileno(), 64 * KIB) as mapped:
            fd = self.open(f"{base}/copy", os.O_CREAT | os.O_WRONLY | os.O_DIRECT, 0o600)
            view = memoryview(mapped)
            self.pwrite(fd, view, 0)
            view.release()
            self.close(fd)

    def sparse(self, base: str) -> None:
        for i, size in enumerate((8 * MIB, 100 * MIB, 3 * GIB)):
            path = f"{base}/sparse-{i}"
            fd = self.open(path, os.O_CREAT | os.O_RDWR, 0o600)
            os.ftruncate(fd, size)
            for _ in range(12):
                self.pwrite(
                    fd, self.data(self.random.randrange(1, 20000)), self.random.randrange(size - 20000)
                )
            # Blocks of zeros in the midst of data are blocks all the same.
            self.pwrite(fd, self.zeros[: 16 * KIB], 4 * MIB)
            self.close(fd)
        os.truncate(f"{base}/sparse-1", 30 * MIB + 17)
        os.truncate(f"{base}/sparse-1", 60 * MIB + 1)

    def holes(self, base: str) -> None:
        """Punched holes and preallocation."""
        for i in range(8):
            path = f"{base}/holes-{i}"
            self.create(path, self.data(2 * MIB))
            fd = self.open(path, os.O_RDWR)
            if i % 2:
                os.fsync(fd)
            for _ in range(8):
                offset = self.random.randrange(2 * MIB)
                length = self.random.randrange(1, 200 * KIB)
                self.fallocate(fd, FALLOC_PUNCH_HOLE | FALLOC_KEEP_SIZE, offset, length, "punch hole")
            self.fallocate(fd, FALLOC_ZERO_RANGE, 100 * KIB, 50 * KIB, "zero range")
            self.fallocate(fd, 0, 3 * MIB, MIB, "preallocate")
            self.fallocate(fd, FALLOC_KEEP_SIZE, 8 * MIB, MIB, "preallocate beyond the end")
            self.pwrite(fd, self.data(10000), 3 * MIB + 5000)
            self.close(fd)

    def mapped(self, base: str) -> None:
        for i in range(4):
            path = f"{base}/mapped-{i}"
            with open(path, "w+b") as file:
                os.ftruncate(file.fileno(), MIB)
                with mmap.mmap(file.fileno(), MIB) as memory:
                    for _ in range(30):
                        start = self.random.randrange(MIB - 5000)
                        if STALE_MAPPINGS:
                            os.pwrite(file.fileno(), self.data(5000), start)
                        else:
                            memory[start : start + 5000] = self.data(5000)
                    if i % 2:
                        memory.flush()

    def links(self, base: str) -> None:
        os.mkdir(f"{base}/links")
        for i, path in enumerate(self.sample(self.scale.files // 10)):
            os.link(path, f"{base}/links/hard-{i}")
        first = self.files[0]
        for i in range(200):
            os.link(first, f"{base}/links/many-{i}")
        for i in range(self.scale.files // 20):
            # Up to 59 bytes stand in ext's inode; xfs's limit is 1023.
            length = self.random.choice((8, 40, 59, 60, 61, 200, 700, 1000))
            os.symlink(
                f"{i:x}/" + "target" * 169 if length > 990 else ("s" * length + f"{i:x}")[-length:],
                f"{base}/links/symbolic-{i}",
            )

    def special(self, base: str) -> None:
        os.mkfifo(f"{base}/fifo", 0o620)
        os.mknod(f"{base}/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.mknod(f"{base}/disk", stat.S_IFBLK | 0o660, os.makedev(259, 100000))
        os.mknod(f"{base}/socket", stat.S_IFSOCK | 0o600)

    def xattrs(self, base: str) -> None:
        try:
            os.getxattr(base, "user.none")
        except OSError as error:
            if error.errno == errno.EOPNOTSUPP:
                self.skipped.add("xattrs: EOPNOTSUPP")
                return
        for i, path in enumerate(self.sample(self.scale.files // 10)):
            os.setxattr(path, "user.small", bytes(self.data(self.random.randrange(1, 40))))
            if i % 2:
                os.setxattr(path, "user.middle", bytes(self.data(self.random.randrange(100, 900))))
            if i % 5 == 0:
                value = bytes(self.data(self.random.randrange(1500, 2900)))
                self.optional("large xattr", lambda p=path, v=value: os.setxattr(p, "user.large", v))
            if i % 9 == 0:
                value = bytes(self.data(12000))
                self.optional("huge xattr", lambda p=path, v=value: os.setxattr(p, "user.huge", v))
            if i % 7 == 0:
                os.removexattr(path, "user.small")
        os.mkdir(f"{base}/xattrs")
        # Many names on one directory; ext has room for one block of them.
        for i in range(60):
            value = bytes(self.data(30))
            self.optional(
                "many xattrs", lambda i=i, v=value: os.setxattr(f"{base}/xattrs", f"user.name-{i}", v)
            )
        acl = struct.pack("<I", 2) + b"".join(
            struct.pack("<HHI", tag, permission, who)
            for tag, permission, who in (
                (1, 6, 2**32 - 1),
                (2, 4, 1000),
                (4, 4, 2**32 - 1),
                (16, 4, 2**32 - 1),
                (32, 0, 2**32 - 1),
            )
        )
        for path in self.sample(10):
            self.optional("ACL", lambda p=path: os.setxattr(p, "system.posix_acl_access", acl))

    def renames(self, base: str) -> None:
        os.mkdir(f"{base}/moved")
        chosen = self.sample(self.scale.files // 10)
        for i, path in enumerate(chosen):
            if i % 4 == 3:  # over another file
                target = chosen[i - 1]
                if target not in self.alive or path == target:
                    continue
            elif i % 2:
                target = f"{base}/moved/" + os.path.basename(path) + f"-{i}"
            else:
                target = path + "-renamed"
            os.rename(path, target)
            self.alive.discard(path)
            self.alive.add(target)
        self.files = [path for path in self.files if path in self.alive]
        self.files += sorted(self.alive - set(self.files))

    def modes(self, base: str) -> None:
        for path in self.sample(self.scale.files // 10):
            os.chmod(path, self.random.choice((0o600, 0o444, 0o4755, 0o2711, 0o777, 0)))
            os.chown(path, self.random.randrange(70000), self.random.randrange(70000))
        for path in self.sample(self.scale.files // 20):
            os.utime(path, ns=(10**18, 10**18 + 12345))

    def large_file(self, base: str) -> None:
        """One file that is most of the data, then overwritten in places and cut."""
        path = f"{self.top}/large"
        fd = self.open(path, os.O_CREAT | os.O_RDWR, 0o644)
        chunk = min(2 * MIB, self.scale.large)
        size = self.scale.large
        told = time.monotonic()
        for offset in range(0, size, chunk):
            self.pwrite(fd, self.data(min(chunk, size - offset)), offset)
            if time.monotonic() - told > 10:
                told = time.monotonic()
                say(f"large file: {offset >> 20} of {size >> 20} MiB")
        os.fsync(fd)
        for _ in range(200):
            self.pwrite(fd, self.data(self.random.randrange(1, 30000)), self.random.randrange(size))
        os.ftruncate(fd, size - size // 10 - 123)
        for _ in range(20):
            self.fallocate(
                fd,
                FALLOC_PUNCH_HOLE | FALLOC_KEEP_SIZE,
                self.random.randrange(size),
                self.random.randrange(1, size // 20),
                "punch hole",
            )
        self.close(fd)

    def deletes(self, base: str) -> None:
        for path in self.sample(len(self.files) // 4):
            os.unlink(path)
            self.alive.discard(path)
        self.files = [path for path in self.files if path in self.alive]

    def delete_round(self, number: int) -> None:
        """Most of an old round goes; its blocks come back as something else in the next."""
        base = f"{self.top}/round-{number}"
        for name in sorted(os.listdir(base)):
            path = f"{base}/{name}"
            if name.startswith("d") and not self.random.random() < 0.7:
                continue
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            elif self.random.random() < 0.7:
                os.unlink(path)
        self.files = [path for path in self.files if os.path.lexists(path)]

    # The whole

    def run(self) -> None:
        for number in range(self.scale.rounds):
            base = f"{self.top}/round-{number}"
            os.mkdir(base)
            steps = [
                self.small_files,
                self.great_directory,
                self.appends,
                self.overwrites,
                self.direct_io,
                self.direct_from_file,
                self.sparse,
                self.holes,
                self.mapped,
                self.links,
                self.special,
                self.xattrs,
                self.renames,
                self.modes,
                self.deletes,
            ]
            if number == 0:
                steps.insert(5, self.large_file)
            for step in steps:
                self.alive = set(self.files)
                start = time.monotonic()
                try:
                    step(base)
                finally:
                    # Of a step that failed: with an open file nobody can unmount.
                    for fd in [*self.fds]:
                        self.close(fd)
                # What is deleted before it was written out never reaches the disk.
                os.sync()
                seconds = time.monotonic() - start
                say(f"round {number + 1}/{self.scale.rounds} {step.__name__}: {seconds:.2f} s")
            if number + 1 < self.scale.rounds:
                self.delete_round(number)
                os.sync()


def say(text: str) -> None:
    print(f"workload: {text}", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("top", metavar="DIR", help="where the file system is mounted")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", choices=SCALES, default="check")
    args = parser.parse_args()
    work = Workload(args.top, args.seed, SCALES[args.scale])
    work.run()
    declined = ", ".join(sorted(work.skipped)) or "nothing"
    say(f"{work.written / 1e6:.0f} MB written; declined by the file system: {declined}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
