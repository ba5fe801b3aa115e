# SPDX-License-Identifier: GPL-2.0
"""libdevmapper, for what tests do most often: the start of dmsetup costs a tenth of a second in a lab."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

from davidlib import dm

# Types of tasks, of <libdevmapper.h>
CREATE, REMOVE, TARGET_MSG = 0, 2, 17
SECTORS = ctypes.c_uint64

os.environ.update({name: word for name, word in dm.environment().items() if name == "DM_DISABLE_UDEV"})
lib = ctypes.CDLL("libdevmapper.so.1.02.1")
lib.dm_task_create.restype = ctypes.c_void_p
QUIET = ctypes.CFUNCTYPE(None)(lambda: None)
lib.dm_log_with_errno_init(QUIET)


@contextmanager
def task(kind: int, name: str) -> Iterator[ctypes.c_void_p]:
    made = ctypes.c_void_p(lib.dm_task_create(kind))
    try:
        lib.dm_task_set_name(made, name.encode())
        yield made
    finally:
        lib.dm_task_destroy(made)


def waited(made: ctypes.c_void_p) -> bool:
    """Done, and its node is as it should be, by udev or not."""
    cookie = ctypes.c_uint32(0)
    if not lib.dm_task_set_cookie(made, ctypes.byref(cookie), 0):
        return False
    done = bool(lib.dm_task_run(made))
    return bool(lib.dm_udev_wait(cookie)) and done


def create(name: str, table: str) -> bool:
    """False: it does not exist; dmsetup says why."""
    with task(CREATE, name) as made:
        for line in table.splitlines():
            start, size, target, *words = line.split(maxsplit=3)
            lib.dm_task_add_target(
                made, SECTORS(int(start)), SECTORS(int(size)), target.encode(), "".join(words).encode()
            )
        return waited(made)


def remove(name: str) -> bool:
    with task(REMOVE, name) as made:
        return waited(made)


def message(name: str, text: str) -> bool:
    with task(TARGET_MSG, name) as made:
        lib.dm_task_set_message(made, text.encode())
        lib.dm_task_set_sector(made, SECTORS(0))
        return bool(lib.dm_task_run(made))
