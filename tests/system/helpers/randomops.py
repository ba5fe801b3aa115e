# SPDX-License-Identifier: GPL-2.0
"""Random operations on a tree, the same from the same seed on any disk.

workload.py does everything once, in an order that is always the same; this does it in any order, as
fsstress does. What is there is known from a list kept here, so nothing depends on what a disk answers but the
refusals of a file system (holes in ext2, a full xattr block), which are the same on both disks. Nothing
here looks at content: a fake disk has none.

Open files are part of it: some are written to for a while, some have been deleted meanwhile and are what a
crash leaves as orphans.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import random
import stat
import struct
from collections.abc import Callable
from contextlib import suppress

from helpers.units import KIB, MIB

BLOCK = 4096
POOL = MIB
KEEP_SIZE, PUNCH_HOLE, COLLAPSE, ZERO_RANGE, INSERT = 0x01, 0x02, 0x08, 0x10, 0x20
RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2
FICLONERANGE = 0x4020940D
AT_FDCWD = -100
LARGEST = 48 * MIB  # of any offset
REFUSED = {
    *(errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL, errno.ENOSPC, errno.E2BIG, errno.ERANGE),
    *(errno.EMLINK, errno.EXDEV, errno.EFBIG, errno.EISDIR, errno.ENAMETOOLONG),
}

libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
libc.renameat2.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)


def checked(result: int) -> None:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


class Operations:
    """A tree below `top` and what is done to it. `top` must be an empty directory, or one left by the same
    object.
    """

    def __init__(self, top: str, seed: str) -> None:
        self.top = top
        self.rng = random.Random(seed)
        self.pool = memoryview(random.Random(1).randbytes(POOL))
        self.zeros = memoryview(bytes(256 * KIB))
        self.buffer = mmap.mmap(-1, MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.buffer[:] = self.pool[:]
        self.shared = mmap.mmap(-1, MIB, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
        self.shared[:] = self.pool[:]
        self.files: list[str] = []
        self.others: list[str] = []
        self.directories: list[str] = [top]
        self.open: list[int] = []
        self.number = 0
        self.written = 0
        self.table: list[tuple[Callable[[], None], int]] = [
            *((self.create, 14), (self.write, 14), (self.append, 8), (self.direct, 8), (self.mapped, 3)),
            *((self.truncate, 5), (self.allocate, 6), (self.rename, 7), (self.link, 4), (self.symlink, 4)),
            *((self.mkdir, 6), (self.special, 1), (self.delete, 6), (self.rmdir, 2), (self.xattr, 6)),
            *((self.mode, 3), (self.fsync, 4), (self.sync, 1), (self.many, 2), (self.prune, 1)),
            *((self.clone, 2), (self.copy, 2), (self.read, 2), (self.orphan, 2), (self.unnamed, 1)),
            *((self.close, 2), (self.exchange, 1), (self.scattered, 1)),
        ]
        self.weights = [weight for _, weight in self.table]

    def without_mappings(self) -> Operations:
        """For disks that fail: behind a mapping an error is a signal, which ends the program."""
        self.weights = [0 if what == self.mapped else weight for what, weight in self.table]
        return self

    def run(self, count: int) -> None:
        for operation, _ in self.rng.choices(self.table, self.weights, k=count):
            try:
                operation()
            except OSError as error:
                if error.errno not in REFUSED:
                    raise OSError(
                        error.errno, f"{operation.__name__}: {error.strerror}", error.filename
                    ) from None

    def close_all(self) -> None:
        for fd in self.open:
            with suppress(OSError):  # after a crash, of what could not be written
                os.close(fd)
        self.open = []

    # Helpers

    def name(self, where: str | None = None) -> str:
        self.number += 1
        long = self.rng.random()
        text = f"{self.number:x}"
        if long < 0.1:
            text += "-" + "n" * self.rng.randrange(250 - len(text))
        elif long < 0.4:
            text += "-" + "name" * self.rng.randrange(1, 8)
        return f"{where or self.directory()}/{text}"

    def directory(self) -> str:
        return self.rng.choice(self.directories)

    def file(self) -> str:
        if not self.files:
            self.create()
        return self.rng.choice(self.files)

    def size(self) -> int:
        kind = self.rng.random()
        if kind < 0.1:
            return self.rng.randrange(200)
        if kind < 0.6:
            return self.rng.randrange(1, 12 * KIB)
        if kind < 0.95:
            return self.rng.randrange(1, 100 * KIB)
        return self.rng.randrange(1, 768 * KIB)

    def offset(self, size: int) -> int:
        kind = self.rng.random()
        if kind < 0.5:
            return self.rng.randrange(size + 1)
        if kind < 0.8:
            return size
        if kind < 0.97:
            return self.rng.randrange(MIB)
        return self.rng.randrange(LARGEST)

    def data(self, size: int) -> memoryview:
        kind = self.rng.random()
        if kind < 0.05 and size <= len(self.zeros):
            return self.zeros[:size]
        start = self.rng.randrange(POOL - size + 1)
        return self.pool[start : start + size]

    def put(self, fd: int, data: memoryview, offset: int) -> None:
        done = os.pwrite(fd, data, offset)
        self.written += done
        if done != len(data):
            raise OSError(errno.EIO, f"short write: {done} of {len(data)} bytes")

    def opened(self, path: str, flags: int = os.O_RDWR) -> int:
        return os.open(path, flags | os.O_CLOEXEC, 0o644)

    # Operations

    def create(self) -> None:
        path = self.name()
        fd = self.opened(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        try:
            self.files.append(path)
            if self.rng.random() < 0.9:
                self.put(fd, self.data(self.size()), 0)
        finally:
            os.close(fd)

    def write(self) -> None:
        """Often to a file that stays open from operation to operation."""
        if self.open and self.rng.random() < 0.3:
            fd, keep = self.rng.choice(self.open), True
        else:
            fd, keep = self.opened(self.file()), self.rng.random() < 0.1
        try:
            for _ in range(self.rng.randrange(1, 4)):
                size = os.fstat(fd).st_size
                self.put(fd, self.data(self.size()), self.offset(size))
        finally:
            if not keep:
                os.close(fd)
            elif fd not in self.open:
                self.open.append(fd)

    def append(self) -> None:
        fd = self.opened(self.file(), os.O_WRONLY | os.O_APPEND)
        try:
            self.written += os.write(fd, self.data(self.size()))
        finally:
            os.close(fd)

    def direct(self) -> None:
        fd = self.opened(self.file(), os.O_RDWR | os.O_DIRECT)
        try:
            memory = memoryview(self.rng.choice((self.buffer, self.shared)))
            length = BLOCK * self.rng.randrange(1, 33)
            start = BLOCK * self.rng.randrange((MIB - length) // BLOCK + 1)
            offset = BLOCK * self.rng.randrange(256)
            if self.rng.random() < 0.2:
                os.preadv(fd, [memory[start : start + length]], offset)
                memory[start : start + length] = self.pool[start : start + length]
            else:
                self.put(fd, memory[start : start + length], offset)
        finally:
            os.close(fd)

    def mapped(self) -> None:
        fd = self.opened(self.file())
        try:
            if os.fstat(fd).st_size < 128 * KIB:
                os.ftruncate(fd, 128 * KIB)
            with mmap.mmap(fd, 128 * KIB) as memory:
                for _ in range(self.rng.randrange(1, 5)):
                    start = self.rng.randrange(120 * KIB)
                    memory[start : start + 6000] = self.pool[start : start + 6000]
        finally:
            os.close(fd)

    def truncate(self) -> None:
        path = self.file()
        kind = self.rng.random()
        size = os.lstat(path).st_size
        if kind < 0.2:
            size = 0
        elif kind < 0.7:
            size = self.rng.randrange(size + 1)
        else:
            size = self.rng.randrange(LARGEST)
        os.truncate(path, size)

    def allocate(self) -> None:
        fd = self.opened(self.file())
        try:
            mode = self.rng.choice(
                (0, KEEP_SIZE, PUNCH_HOLE | KEEP_SIZE, ZERO_RANGE, ZERO_RANGE | KEEP_SIZE, COLLAPSE, INSERT)
            )
            offset, length = self.offset(os.fstat(fd).st_size), max(self.size(), 1)
            if mode in (COLLAPSE, INSERT):
                # Whole blocks only, inside the file; a file that is not large enough refuses.
                offset, length = offset // (64 * KIB) * 64 * KIB, 64 * KIB
            checked(libc.fallocate(fd, mode, offset, length))
        finally:
            os.close(fd)

    def rename(self) -> None:
        """Of a file, onto a new name or onto another file; or of a whole directory."""
        if self.rng.random() < 0.2 and len(self.directories) > 1:
            old = self.rng.choice(self.directories[1:])
            above = [path for path in self.directories if not (path + "/").startswith(old + "/")]
            new = self.name(self.rng.choice(above))
            os.rename(old, new)
            self.moved(old, new)
            return
        old = self.file()
        if self.rng.random() < 0.25:
            new = self.rng.choice(self.files)
            if new == old or os.path.samefile(old, new):
                return
            self.files.remove(new)
        else:
            new = self.name()
        os.rename(old, new)
        self.files[self.files.index(old)] = new

    def moved(self, old: str, new: str) -> None:
        def follow(path: str) -> str:
            return new + path[len(old) :] if (path + "/").startswith(old + "/") else path

        self.files = [follow(path) for path in self.files]
        self.others = [follow(path) for path in self.others]
        self.directories = [follow(path) for path in self.directories]

    def exchange(self) -> None:
        first, second = self.file(), self.file()
        checked(libc.renameat2(AT_FDCWD, os.fsencode(first), AT_FDCWD, os.fsencode(second), RENAME_EXCHANGE))

    def link(self) -> None:
        path = self.name()
        os.link(self.file(), path)
        self.files.append(path)

    def symlink(self) -> None:
        path = self.name()
        length = self.rng.choice((5, 40, 59, 60, 120, 300, 800, 1000))
        os.symlink("t" * length, path)
        self.others.append(path)

    def special(self) -> None:
        path = self.name()
        kind = self.rng.choice((stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK))
        os.mknod(path, kind | 0o600, os.makedev(1, 3) if kind in (stat.S_IFCHR, stat.S_IFBLK) else 0)
        self.others.append(path)

    def mkdir(self) -> None:
        path = self.name()
        if len(path) < 2000:
            os.mkdir(path, self.rng.choice((0o755, 0o700, 0o1777)))
            self.directories.append(path)

    def delete(self) -> None:
        for _ in range(self.rng.randrange(1, 4)):
            chosen = self.others if self.others and self.rng.random() < 0.2 else self.files
            if chosen:
                os.unlink(chosen.pop(self.rng.randrange(len(chosen))))

    def rmdir(self) -> None:
        """An empty one, if there is one."""
        used = {os.path.dirname(path) for path in (*self.files, *self.others, *self.directories)}
        for path in self.directories[1:]:
            if path not in used:
                os.rmdir(path)
                self.directories.remove(path)
                return

    def prune(self) -> None:
        """A directory with all that is below it."""
        if len(self.directories) < 6:
            return
        gone = self.rng.choice(self.directories[1:]) + "/"
        for path in self.files + self.others:
            if path.startswith(gone):
                os.unlink(path)
        for path in sorted((p for p in self.directories if (p + "/").startswith(gone)), reverse=True):
            os.rmdir(path)
        self.files = [path for path in self.files if not path.startswith(gone)]
        self.others = [path for path in self.others if not path.startswith(gone)]
        self.directories = [path for path in self.directories if not (path + "/").startswith(gone)]

    def many(self) -> None:
        """Enough names for a directory to become one of more blocks, and often all away again."""
        where = self.name()
        os.mkdir(where)
        self.directories.append(where)
        names = [self.name(where) for _ in range(self.rng.randrange(20, 90))]
        for name in names:
            os.mknod(name, stat.S_IFREG | 0o600)
        keep = self.rng.choice((0, 0, len(names) // 2, len(names)))
        if not keep and self.rng.random() < 0.5:
            os.sync()
        for name in names[keep:]:
            os.unlink(name)
        self.files += names[:keep]

    def xattr(self) -> None:
        path = self.directory() if self.rng.random() < 0.3 else self.file()
        name = f"user.x{self.rng.randrange(5)}"
        if self.rng.random() < 0.2:
            if name in os.listxattr(path):
                os.removexattr(path, name)
            return
        size = self.rng.choice((1, 20, 60, 300, 1000, 3000, 9000))
        os.setxattr(path, name, bytes(self.pool[size : 2 * size]))

    def mode(self) -> None:
        path = self.file()
        os.chmod(path, self.rng.choice((0o600, 0o444, 0o4755, 0o777)))
        os.chown(path, self.rng.randrange(70000), self.rng.randrange(70000))

    def fsync(self) -> None:
        path = self.directory() if self.rng.random() < 0.2 else self.file()
        fd = os.open(path, os.O_RDONLY)
        try:
            self.rng.choice((os.fsync, os.fdatasync))(fd)
        finally:
            os.close(fd)

    def sync(self) -> None:
        os.sync()

    def clone(self) -> None:
        """A part of one file shared with another: only on block boundaries, only where that is known."""
        source, target = self.opened(self.file()), self.opened(self.file())
        try:
            length = 64 * KIB * self.rng.randrange(1, 3)
            start = 64 * KIB * self.rng.randrange(2)
            to = 64 * KIB * self.rng.randrange(16)
            fcntl.ioctl(target, FICLONERANGE, struct.pack("qQQQ", source, start, length, to))
        finally:
            os.close(source)
            os.close(target)

    def copy(self) -> None:
        source, target = self.opened(self.file()), self.opened(self.file())
        try:
            os.copy_file_range(source, target, self.size(), 0, self.offset(os.fstat(target).st_size))
        finally:
            os.close(source)
            os.close(target)

    def read(self) -> None:
        fd = self.opened(self.file())
        try:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.pread(fd, 128 * KIB, self.offset(os.fstat(fd).st_size))
        finally:
            os.close(fd)

    def orphan(self) -> None:
        """A file without a name that is still written to."""
        if len(self.open) < 12:
            path = self.file()
            self.open.append(self.opened(path))
            self.files.remove(path)
            os.unlink(path)

    def unnamed(self) -> None:
        if len(self.open) < 12:
            fd = os.open(self.directory(), os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
            self.open.append(fd)
            self.put(fd, self.data(self.size()), 0)

    def close(self) -> None:
        if self.open:
            os.close(self.open.pop(self.rng.randrange(len(self.open))))

    def scattered(self) -> None:
        """Every other block of a part of a file: many extents."""
        fd = self.opened(self.file())
        try:
            for block in range(0, self.rng.randrange(20, 120), 2):
                self.put(fd, self.pool[:BLOCK], block * BLOCK)
                if block % 16 == 0:
                    os.fdatasync(fd)
        finally:
            os.close(fd)
