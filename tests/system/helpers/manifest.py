#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A tree as text: one line an entry, sorted, the same for equal trees on any disk.

Names, types, sizes, modes, owners, link counts, symlink targets, device numbers and extended attributes.
Not times, inode numbers or blocks, which no two runs share. File content only on demand: a fake disk has
none.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import stat
import sys
from collections.abc import Iterator

CHUNK = 1 << 16

KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "dir",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "fifo",
    stat.S_IFCHR: "char",
    stat.S_IFBLK: "block",
    stat.S_IFSOCK: "socket",
}


def brief(value: bytes) -> str:
    """Short values in full, to be read in a diff; long ones as a digest."""
    if len(value) <= 24:
        return value.hex()
    return f"{len(value)}:{hashlib.sha256(value).hexdigest()[:24]}"


def xattrs(path: bytes) -> list[str]:
    names = sorted(os.listxattr(path, follow_symlinks=False))
    return [f"{name}={brief(os.getxattr(path, name, follow_symlinks=False))}" for name in names]


def digest(path: bytes) -> str:
    """Of the content as it reads: holes and zeros are the same, and holes are not read."""
    result = hashlib.sha256()
    zeros = bytes(CHUNK)
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        offset = 0
        while offset < size:
            try:
                offset = os.lseek(file.fileno(), offset, os.SEEK_DATA) // CHUNK * CHUNK
            except OSError:  # ENXIO: a hole up to the end
                break
            data = os.pread(file.fileno(), CHUNK, offset)
            if data != zeros[: len(data)]:
                result.update(b"%d:" % offset + data)
            offset += CHUNK
    return result.hexdigest()[:24]


def line(top: bytes, path: bytes, blocks: bool, content: bool) -> tuple[str, os.stat_result]:
    info = os.lstat(path)
    kind = KINDS[stat.S_IFMT(info.st_mode)]
    words = [
        repr(path[len(top) :] or b"/")[1:],
        kind,
        f"size={info.st_size}",
        f"mode={stat.S_IMODE(info.st_mode):o}",
        f"owner={info.st_uid}:{info.st_gid}",
        f"nlink={info.st_nlink}",
    ]
    if kind == "link":
        words.append("target=" + repr(os.readlink(path))[1:])
    elif kind in ("char", "block"):
        words.append(f"device={os.major(info.st_rdev)}:{os.minor(info.st_rdev)}")
    if blocks:
        words.append(f"blocks={info.st_blocks}")
    if content and kind == "file":
        words.append(f"content={digest(path)}")
    # A link's or a special file's user attributes do not exist, and asking costs a system call.
    if kind in ("file", "dir"):
        words += xattrs(path)
    return " ".join(words), info


def walk(top: bytes, blocks: bool = False, content: bool = False) -> Iterator[str]:
    todo = [top]
    while todo:
        path = todo.pop()
        text, info = line(top, path, blocks, content)
        yield text
        if stat.S_ISDIR(info.st_mode):
            # Last in, first out: sorted downwards gives a walk sorted upwards.
            todo += [path + b"/" + name for name in sorted(os.listdir(path), reverse=True)]


def manifest(top: str, blocks: bool = False, content: bool = False) -> list[str]:
    return list(walk(os.fsencode(top.rstrip("/") or "/"), blocks, content))


def checksum(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:24]


def difference(expected: list[str], found: list[str], limit: int = 10) -> list[str]:
    """The first differing entries: '-' what is expected, '+' what was found."""
    missing, extra = set(expected) - set(found), set(found) - set(expected)
    result = [f"-{text}" for text in expected if text in missing] + [
        f"+{text}" for text in found if text in extra
    ]
    result.sort(key=lambda text: text[1:])
    if len(result) > limit:
        result = [*result[:limit], f"… and {len(result) - limit} more"]
    if not result and expected != found:
        result = ["the same entries in another order"]
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("top", metavar="DIR")
    parser.add_argument("--blocks", action="store_true", help="with the blocks that each file takes")
    parser.add_argument("--content", action="store_true", help="with a digest of each file's content")
    args = parser.parse_args()
    for text in walk(os.fsencode(args.top.rstrip("/") or "/"), args.blocks, args.content):
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
