# SPDX-License-Identifier: GPL-2.0
"""Commands that fail on disks that are there leave nothing behind: the rows `lab` of refused.toml."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from helpers import leftovers
from helpers.guest import SCRATCH, Failed
from helpers.nullblock import CONFIGFS

from cases import case

TOP = SCRATCH / "refused"


@contextmanager
def scratch() -> Iterator[Path]:
    """With configfs mounted, as on every machine that systemd has started: david would mount it."""
    subprocess.run(["modprobe", "-q", "null_blk", "nr_devices=0"], check=False)
    if not os.path.ismount(CONFIGFS):
        subprocess.run(["mount", "-t", "configfs", "configfs", CONFIGFS], check=True)
    TOP.mkdir(parents=True)
    try:
        yield TOP
    finally:
        shutil.rmtree(TOP)


def with_backing(row: leftovers.Row, cwd: Path) -> leftovers.Row:
    """A row that says BACKING has the loop device that its `before` is about to set up."""
    if "BACKING" not in row.run:
        return row
    free = subprocess.run(["losetup", "-f"], capture_output=True, text=True, check=True).stdout.strip()
    says = tuple(word.replace("BACKING", free) for word in row.says)
    return replace(row, run=row.run.replace("BACKING", free), says=says)


# They take 30 s of CPU time: a mkfs and a start of dmsetup or losetup for most rows.
@case(complaints="I/O error", seldom=True)
def what_fails_leaves_nothing_behind() -> None:
    rows, wrong = leftovers.rows("lab"), []
    with scratch() as top:
        for number, row in enumerate(rows):
            wrong += leftovers.complaints(with_backing(row, top), top / f"{number}")
    if wrong or len(rows) < 20:
        raise Failed(f"of {len(rows)} commands:\n" + "\n".join(wrong))


def _sh(script: str) -> Callable[[], None]:
    return lambda: leftovers.shell(script, TOP)


PLANTED = {
    "left behind, mappings: refused": ("dmsetup create refused --table '0 8 zero'", "dmsetup remove refused"),
    "left behind, loops: ": ("truncate -s 1M l; losetup -f --show l >loop",
                             "losetup -d $(cat loop); rm l loop"),
    "left behind, null_blk: david-refused": ("mkdir /sys/kernel/config/nullb/david-refused",
                                             "rmdir /sys/kernel/config/nullb/david-refused"),
    f"left behind, mounts: {TOP}/planted": ("mkdir planted; mount -t tmpfs x planted",
                                            "umount planted; rmdir planted"),
    "left behind, arrays: md": ("mdadm -q --build /dev/md/refused --level=0 --force -n 1 /dev/ram0",
                                "mdadm -q --stop /dev/md/refused"),
}


@case(seldom=True)
def what_is_left_behind_is_found() -> None:
    row = leftovers.Row("remove refused", 1, ("refused",))
    with scratch() as top:
        if wrong := leftovers.complaints(row, top / "control"):
            raise Failed(f"nothing was planted: {wrong}")
        for number, (says, (plant, mend)) in enumerate(PLANTED.items()):
            found = leftovers.complaints(row, top / f"{number}", _sh(plant))
            leftovers.shell(mend, TOP)
            if not any(says in one for one in found):
                raise Failed(f"not found: {says}: {found}")
