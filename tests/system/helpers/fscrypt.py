# SPDX-License-Identifier: GPL-2.0
"""Encrypted directories, by fscrypt's ioctls: the key, which a file system forgets when it is unmounted, and
the policy of a directory, which is on the disk. And the flags of inodes that go with such things.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct

from helpers.raw import opened

FS_IOC_ADD_ENCRYPTION_KEY, FS_IOC_SET_ENCRYPTION_POLICY = 0xC0506617, 0x800C6613
FS_IOC_GETFLAGS, FS_IOC_SETFLAGS = 0x80086601, 0x40086602
FS_COMPR_FL, FS_CASEFOLD_FL = 0x00000004, 0x40000000
KEY = bytes(range(64))
BY_IDENTIFIER, VERSION_2 = 2, 2
AES_256_XTS, AES_256_CTS, PAD_32 = 1, 4, 3


def add_key(top: str) -> bytes:
    """Give the mounted file system the key; returns how policies name it."""
    argument = bytearray(struct.pack("II32sII32s", BY_IDENTIFIER, 0, b"", len(KEY), 0, b"") + KEY)
    with opened(top, os.O_RDONLY) as fd:
        fcntl.ioctl(fd, FS_IOC_ADD_ENCRYPTION_KEY, argument)
    return bytes(argument[8:24])


def encrypt(directory: str, key: bytes) -> None:
    """Whatever is made in the directory, which must be empty, is encrypted from now on."""
    policy = struct.pack("BBBB4x16s", VERSION_2, AES_256_XTS, AES_256_CTS, PAD_32, key)
    with opened(directory, os.O_RDONLY) as fd:
        fcntl.ioctl(fd, FS_IOC_SET_ENCRYPTION_POLICY, policy)


def set_flags(path: str, add: int) -> None:
    with opened(path, os.O_RDONLY) as fd:
        old = struct.unpack("i", fcntl.ioctl(fd, FS_IOC_GETFLAGS, bytes(4)))[0]
        fcntl.ioctl(fd, FS_IOC_SETFLAGS, struct.pack("i", old | add))


def is_locked(path: str) -> bool:
    """A file of which the key is not known: it cannot be opened."""
    try:
        with opened(path, os.O_RDONLY):
            return False
    except OSError as error:
        if error.errno != errno.ENOKEY:
            raise
        return True
