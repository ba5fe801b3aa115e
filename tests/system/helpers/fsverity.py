# SPDX-License-Identifier: GPL-2.0
"""fs-verity: files that can never be written again, with a Merkle tree behind their end."""

from __future__ import annotations

import ctypes
import fcntl
import os

from helpers.units import MIB

FS_IOC_ENABLE_VERITY, FS_IOC_READ_VERITY_METADATA = 0x40806685, 0xC0286687


def enable_verity(path: str) -> None:
    argument = (ctypes.c_uint8 * 128)()
    argument[0], argument[4] = 1, 1  # version; SHA-256
    ctypes.c_uint32.from_buffer(argument, 8).value = 4096
    fd = os.open(path, os.O_RDONLY)
    try:
        fcntl.ioctl(fd, FS_IOC_ENABLE_VERITY, bytes(argument))
    finally:
        os.close(fd)


def merkle_tree(path: str) -> bytes:
    """As it stands on the disk."""
    room = MIB
    buffer = ctypes.create_string_buffer(room)
    argument = (ctypes.c_uint64 * 5)(1, 0, room, ctypes.addressof(buffer), 0)
    fd = os.open(path, os.O_RDONLY)
    try:
        return buffer.raw[: fcntl.ioctl(fd, FS_IOC_READ_VERITY_METADATA, argument)]
    finally:
        os.close(fd)
