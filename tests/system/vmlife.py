#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What happens inside a virtual machine whose disk is the fake one; vmguest.py starts it.

The disk gets a partition for each file system. The first boot makes them, fills them, and is killed while
it goes on; the next ones recover and go on; the last one shuts down as it should. Each tells what trees it
sees, through a second disk, which is a file on the other side: a line of JSON for each file system, and for
each state it comes to.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count

from davidlib.filesystems import FILE_SYSTEMS
from helpers.manifest import manifest
from helpers.workload import SCALES, Workload

MIB = 1 << 20
DISK, ANSWERS = "/dev/vda", "/dev/vdb"
BLKRRPART = 0x125F
MADE = ("ext4", "xfs", "btrfs")
NOISE, PIECE = 24 * MIB, MIB


def partitions(size: int) -> dict[str, tuple[int, int]]:
    """Beginning and length of each file system's part of the disk, in bytes."""
    part = (size // len(MADE) - 1) // MIB * MIB
    return {fs: (MIB + i * part, part - MIB) for i, fs in enumerate(MADE)}


def noise(fs: str) -> Iterator[bytes]:
    """The content of the file by which the other side sees what was dropped."""
    pool = random.Random(f"noise for {fs}").randbytes(PIECE)
    for i in range(NOISE // PIECE):
        yield pool[i * 4096 :] + pool[: i * 4096]


class Answers:
    def __init__(self) -> None:
        self.fd = os.open(ANSWERS, os.O_RDWR)
        self.at = 0

    def tell(self, **answer: object) -> None:
        self.at += os.pwrite(self.fd, json.dumps(answer).encode() + b"\n", self.at)
        os.fsync(self.fd)


def run(*command: str) -> None:
    print(f"vmlife: {time.monotonic():.1f} s: {' '.join(command)}", flush=True)
    subprocess.run(command, check=True)


def top(fs: str) -> str:
    return f"/mnt/{fs}"


def mount(fs: str, device: str) -> None:
    os.makedirs(top(fs), exist_ok=True)
    run("mount", "-t", fs, device, top(fs))


def partition_disk() -> None:
    with open(DISK, "r+b", buffering=0) as disk:
        entries = [
            struct.pack("<8B2I", 0, 0, 0, 0, 0x83, 0, 0, 0, start >> 9, length >> 9)
            for start, length in partitions(disk.seek(0, os.SEEK_END)).values()
        ]
        disk.seek(0)
        disk.write(bytes(446) + b"".join(entries).ljust(64, b"\0") + b"\x55\xaa")
        fcntl.ioctl(disk, BLKRRPART)


def live(fs: str, name: str, seed: int) -> None:
    os.mkdir(f"{top(fs)}/{name}")
    Workload(f"{top(fs)}/{name}", seed, SCALES["tiny"]).run()


def for_ever(fs: str) -> None:
    """Make trees and remove them, until somebody pulls the plug."""
    for number in count():
        live(fs, f"lost-{number}", number)
        if number:
            shutil.rmtree(f"{top(fs)}/lost-{number - 1}")


def lost(fs: str) -> list[str]:
    return [name for name in os.listdir(top(fs)) if name.startswith("lost-")]


def go_on(answers: Answers) -> None:
    for fs in MADE:
        if not os.fork():
            for_ever(fs)
    # Behind the first sync, so that something must be there afterwards.
    while not all(os.path.exists(f"{top(fs)}/lost-0/round-0/great") for fs in MADE):
        time.sleep(0.1)
    answers.tell(state="lives")
    while True:
        time.sleep(1)


def recover(answers: Answers) -> None:
    for number, fs in enumerate(MADE, 1):
        mount(fs, f"{DISK}{number}")
        answers.tell(fs=fs, tree=manifest(f"{top(fs)}/tree"), lost=lost(fs))


def first(answers: Answers) -> None:
    partition_disk()
    for number, fs in enumerate(MADE, 1):
        run(*FILE_SYSTEMS[fs].mkfs, f"{DISK}{number}")
        mount(fs, f"{DISK}{number}")
        live(fs, "tree", number)
    os.sync()
    for fs in MADE:
        answers.tell(fs=fs, tree=manifest(f"{top(fs)}/tree"))
    go_on(answers)


def again(answers: Answers) -> None:
    recover(answers)
    for fs in MADE:
        for name in lost(fs):
            shutil.rmtree(f"{top(fs)}/{name}")
    go_on(answers)


def last(answers: Answers) -> None:
    """What the crash left stays, for the other side to look at."""
    recover(answers)
    for number, fs in enumerate(MADE, 11):
        live(fs, "last", number)
        with open(f"{top(fs)}/noise", "wb") as file:
            file.writelines(noise(fs))
        os.sync()
        answers.tell(fs=fs, whole=manifest(top(fs)))
        run("umount", top(fs))
    answers.tell(state="ends")


if __name__ == "__main__":
    said = Answers()
    said.tell(state="up")
    {"first": first, "again": again, "last": last}[sys.argv[1]](said)
