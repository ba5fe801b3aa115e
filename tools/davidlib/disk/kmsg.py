# SPDX-License-Identifier: GPL-2.0
"""What the kernel log says from now on: dmsetup reports a refused table only as "Invalid argument"."""

from __future__ import annotations

import os

from . import dm


class KernelLog:
    """Remembers the end of the log; new_lines() gives what has been written since.

    `lost` counts how often some of it was overwritten before it was read.
    """

    def __init__(self) -> None:
        self.fd = -1
        self.lost = 0
        try:
            self.fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.lseek(self.fd, 0, os.SEEK_END)
        except OSError:
            self.close()

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1

    def __enter__(self) -> KernelLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def new_lines(self) -> list[str]:
        lines: list[str] = []
        while self.fd >= 0:
            try:
                record = os.read(self.fd, 8192).decode(errors="replace")
            except BrokenPipeError:
                self.lost += 1
                continue
            except OSError:
                break
            lines.append(record.split(";", 1)[-1].split("\n", 1)[0])
        return lines


def kernel_says(lines: list[str]) -> str:
    """The newest line of the kernel log about a david table, without what names only the place."""
    mine = [line for line in lines if "device-mapper" in line and dm.TARGET in line]
    # device-mapper's own line comes last, and has a number alone.
    mine = [line for line in mine if "preresume failed, error" not in line] or mine
    if not mine:
        return ""
    return mine[-1].removeprefix("device-mapper: ").removeprefix("table: ").split(f"{dm.TARGET}: ", 1)[-1]
