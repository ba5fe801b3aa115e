# SPDX-License-Identifier: GPL-2.0
"""zonefs, whose files are a disk's zones: made as mkfs.zonefs does, which Debian 12 does not have."""

from __future__ import annotations

import os
import struct
import zlib

from helpers import raw
from helpers.filesystems import UUID

MAGIC = 0x5A4F4653
# Linux's fs/zonefs/zonefs.h, struct zonefs_super: magic number, checksum, label, uuid, features, uid, gid,
# permissions. It fills a block.
SUPER = struct.Struct("<II64s16sQIII")
BLOCK = 4096
CHECKSUM_AT = 4


def make(disk: str) -> None:
    """A superblock in the first zone, which is empty or conventional."""
    uuid = bytes.fromhex(UUID.replace("-", ""))
    block = bytearray(SUPER.pack(MAGIC, 0, b"", uuid, 0, 0, 0, 0o640).ljust(BLOCK, b"\0"))
    # The kernel's crc32_le() begins with all ones, and does not turn the result round.
    struct.pack_into("<I", block, CHECKSUM_AT, zlib.crc32(block) ^ 0xFFFFFFFF)
    with raw.opened(disk) as fd:
        raw.write(fd, bytes(block), 0)
        os.fsync(fd)


def fill(top: str, number: int, data: bytes, at: int = 0) -> None:
    """Write to the file of a sequential zone, past the page cache, as it has to be."""
    fd = os.open(f"{top}/seq/{number}", raw.DIRECT)
    try:
        raw.write(fd, data, at)
    finally:
        os.close(fd)
