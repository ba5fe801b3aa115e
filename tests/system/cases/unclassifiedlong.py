# SPDX-License-Identifier: GPL-2.0
"""Classification without a journal to decide, what takes longer: with DAVID_SCALE=full, or by name."""

from __future__ import annotations

import random
import time
from pathlib import Path

from cases import case
from helpers.guest import Failed, fake_disk, mapped, mounted, ram_disk, run, swap_table
from helpers.manifest import difference, manifest
from helpers.units import MIB
from helpers.waiting import SIZE, counts
from helpers.workload import SCALES, Workload

CRASH = "I/O error|EXT[24]-fs|error -5"


def settle(top: str) -> None:
    """Until the worker has looked at everything, which it does every two seconds. What is doubtful stays."""
    run("sync", "-f", top)
    end = time.monotonic() + 2.5
    while counts("unclassified")["now"] and time.monotonic() < end:
        time.sleep(0.2)


def write_late(top: str) -> None:
    for i in range(200):
        with open(f"{top}/late-{i}", "a") as file:
            file.write("".join(f"{number}\n" for number in range(i, 400)))


def crash(disk: str) -> None:
    """The disk goes away under the file system, before that is unmounted."""
    sectors = run("blockdev", "--getsz", disk).strip()
    swap_table("crashes", f"0 {sectors} error")


def lost(before: list[str], top: str) -> None:
    after = set(manifest(top, content=False))
    # The root directory itself has grown.
    missing = {line for line in before if not line.startswith("'/' ")} - after
    if missing:
        raise Failed("lost: " + "\n".join(sorted(missing)[:20]))


def live_and_crash(fstype: str, mkfs: tuple[str, ...], options: str, seed: int, least: float) -> None:
    with ram_disk(192 * MIB) as dev, fake_disk("waits", SIZE, dev, "--classify", "implicit") as disk:
        run("mke2fs", "-q", *mkfs, disk)
        sectors = run("blockdev", "--getsz", disk).strip()
        with mapped("crashes", f"0 {sectors} linear {disk} 0") as device:
            with mounted(device, fstype, options) as top:
                Workload(top, seed, SCALES["tiny"]).run()
                settle(top)
                before = manifest(top, content=False)
                figures, blocks = counts("unclassified"), counts("blocks")
                # Of what is not constant, directories, bitmaps, inodes and all, and the journal.
                share = blocks["squashed"] / (blocks["squashed"] + blocks["stored"])
                assert figures["data"] > 2000 and share > least, f"{share:.1%} squashed: {figures}"
                write_late(top)
                run("sync", "-f", top)
                write_late(top)
                crash(disk)
        run("e2fsck", "-fy", disk, ok=(0, 1))
        with mounted(disk, fstype, options) as top:
            lost(before, top)
            run("sh", "-c", f"rm -rf {top}/*")
            Workload(top, seed + 1, SCALES["tiny"]).run()
            before = manifest(top, content=False)
        run("e2fsck", "-fn", disk)
        with mounted(disk, fstype) as top:
            wrong = difference(before, manifest(top, content=False))
        if wrong:
            raise Failed("tree differs: " + "\n".join(wrong[:20]))


@case(complaints=CRASH)
def ext2_loses_nothing_in_a_crash() -> None:
    live_and_crash("ext2", ("-t", "ext2"), "", 30, 0.2)


@case(complaints=CRASH)
def ext4_without_a_journal_loses_nothing_in_a_crash() -> None:
    live_and_crash("ext4", ("-t", "ext4", "-O", "^has_journal"), "", 40, 0.4)


@case(complaints=CRASH)
def logged_data_is_dropped_at_home() -> None:
    live_and_crash("ext4", ("-t", "ext4", "-J", "size=32"), "data=journal", 50, 0.2)


@case
def what_is_raw_by_its_place_is_not_dropped_later() -> None:
    noise = random.Random(61).randbytes(8 * MIB)
    for rule, keeps in (f"raw=sectors:0-{SIZE // 512 - 1}", True), ("raw=none", False):
        options = ("--classify", "implicit", "-o", rule)
        with ram_disk(64 * MIB) as dev, fake_disk("waits", SIZE, dev, *options) as disk:
            run("mke2fs", "-q", "-t", "ext2", disk)
            with mounted(disk, "ext2") as top:
                # The first writes only teach where the file system's own blocks are.
                for name in ("first", "second"):
                    with open(f"{top}/{name}", "wb") as file:
                        file.write(noise)
                    run("sync", "-f", top)
                    time.sleep(1.2)
            dropped = counts("unclassified")["data"]
            with mounted(disk, "ext2") as top:
                exact = all(Path(f"{top}/{name}").read_bytes() == noise for name in ("first", "second"))
            assert exact == keeps and (dropped == 0) == keeps, f"{rule}: {dropped} dropped, exact: {exact}"
