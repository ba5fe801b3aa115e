# SPDX-License-Identifier: GPL-2.0
"""What tests ask of dmsetup most often, by its library: a start of it costs a tenth of a second in a lab."""

from __future__ import annotations

import ctypes
import os

from davidlib.disk import dm

# Types of tasks, of <libdevmapper.h>
CREATE, RELOAD, REMOVE, SUSPEND, RESUME, TARGET_MSG = 0, 1, 2, 4, 5, 17
NUMBER = ctypes.c_uint64

os.environ.update({name: word for name, word in dm.environment().items() if name == "DM_DISABLE_UDEV"})
lib = ctypes.CDLL("libdevmapper.so.1.02.1")
lib.dm_task_create.restype = ctypes.c_void_p
lib.dm_task_get_message_response.restype = ctypes.c_char_p
QUIET = ctypes.CFUNCTYPE(None)(lambda: None)
lib.dm_log_with_errno_init(QUIET)


class Task:
    def __init__(self, kind: int, name: str, *flags: str) -> None:
        self.task = ctypes.c_void_p(lib.dm_task_create(kind))
        self.ready = lib.dm_task_set_name(self.task, name.encode())
        if "--noflush" in flags:
            self.ready &= lib.dm_task_no_flush(self.task)
        if "--nolockfs" in flags:
            self.ready &= lib.dm_task_skip_lockfs(self.task)

    def __del__(self) -> None:
        lib.dm_task_destroy(self.task)

    def load(self, table: str) -> Task:
        for line in table.splitlines():
            start, size, target, *words = line.split(maxsplit=3)
            self.ready &= lib.dm_task_add_target(
                self.task, NUMBER(int(start)), NUMBER(int(size)), target.encode(), "".join(words).encode()
            )
        return self

    def say(self, sector: int, text: str) -> Task:
        self.ready &= lib.dm_task_set_sector(self.task, NUMBER(sector))
        self.ready &= lib.dm_task_set_message(self.task, text.encode())
        return self

    def run(self) -> str | None:
        if not self.ready or not lib.dm_task_run(self.task):
            return None
        return (lib.dm_task_get_message_response(self.task) or b"").decode()

    def run_and_wait(self) -> str | None:
        """Run; then its node is as it should be, by udev or not."""
        cookie = ctypes.c_uint32(0)
        self.ready &= lib.dm_task_set_cookie(self.task, ctypes.byref(cookie), 0)
        output = self.run()
        return output if lib.dm_udev_wait(cookie) else None


def output(*words: str) -> str | None:
    """What `dmsetup WORDS` prints; None if that is none of these, or fails: the program itself says why."""
    match words:
        case ("create", name, "--table", table):
            return Task(CREATE, name).load(table).run_and_wait()
        case ("load", name, "--table", table):
            return Task(RELOAD, name).load(table).run()
        case ("suspend", *flags, name):
            return Task(SUSPEND, name, *flags).run()
        case ("resume", *flags, name):
            return Task(RESUME, name, *flags).run_and_wait()
        case ("remove", name):
            return Task(REMOVE, name).run_and_wait()
        case ("message", name, sector, *text):
            return Task(TARGET_MSG, name).say(int(sector), " ".join(text)).run()
    return None
