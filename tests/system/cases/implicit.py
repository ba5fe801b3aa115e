# SPDX-License-Identifier: GPL-2.0
"""Classification from the writes alone: no page owners, no request flags."""

from __future__ import annotations

import fcntl
import filecmp
import os
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from time import sleep

from cases import case
from helpers.guest import Failed, device_stats, fake_disk, load_table, looped, mounted, ram_disk, run
from helpers.manifest import difference, manifest
from helpers.units import GIB, MIB
from helpers.workload import SCALES, Workload

FS_IOC_SHUTDOWN, NOLOGFLUSH = 0x8004587D, 2


@contextmanager
def disk_of(size: int = 16 * GIB) -> Iterator[str]:
    with ram_disk(128 * MIB) as dev, fake_disk("implicit", size, dev, "--classify", "implicit") as disk:
        yield disk


def live(disk: str, seed: int, options: str = "") -> list[str]:
    """Work on the file system on @disk; its tree before it is unmounted."""
    with mounted(disk, "ext4", options) as top:
        Workload(top, seed, SCALES["tiny"]).run()
        return manifest(top, content=False)


def same_and_clean(disk: str, before: list[str]) -> None:
    run("e2fsck", "-fn", disk)
    with mounted(disk, "ext4") as top:
        wrong = difference(before, manifest(top, content=False))
    if wrong:
        raise Failed("tree differs: " + "\n".join(wrong[:20]))


def squashed_share() -> float:
    written = device_stats("implicit")["written"]
    return written["squashed"] / (written["squashed"] + written["kept"])  # type: ignore[index]


def shut_down(top: str) -> None:
    """What a power cut leaves: nothing more is written, not even the journal."""
    with open(top) as directory_of_file:
        fcntl.ioctl(directory_of_file, FS_IOC_SHUTDOWN, struct.pack("I", NOLOGFLUSH))


@case
def ext4_behind_a_loop_device_is_told_apart() -> None:
    with disk_of() as disk, looped(disk) as loop:
        run("mkfs.ext4", "-q", loop)
        before = live(loop, 1)
        assert squashed_share() > 0.6, f"{squashed_share():.0%} of the blocks were squashed"
        same_and_clean(loop, before)


@case(seldom=True)
def streamed_noise_is_dropped() -> None:
    """Most blocks of it may be symbolic links by their content: the order of writes has to decide."""
    for fs in ("ext4", "ext3"):
        for behind in (nullcontext, looped):
            with disk_of() as disk:
                run(f"mkfs.{fs}", "-q", "-F", disk)
                with behind(disk) as device, mounted(device, fs) as top:
                    before = device_stats("implicit")["written"]["squashed"]  # type: ignore[index]
                    for number in range(8):
                        Path(f"{top}/{number}").write_bytes(os.urandom(8 * MIB))
                        sleep(0.2)
                    os.sync()
                    after = device_stats("implicit")["written"]["squashed"]  # type: ignore[index]
                share = (after - before) / (64 * MIB >> 12)
                print(f"noise on {fs}: {share:.2%} dropped at once", file=sys.stderr)
                if share < 0.99:
                    raise Failed(f"of noise streamed to {fs} {share:.2%} is dropped at once")


@case(seldom=True)
def two_volumes_and_a_new_one_over_both() -> None:
    with disk_of() as disk:
        with looped(disk, 2 * GIB) as second:
            with looped(disk) as first:
                run("mkfs.ext3", "-q", first, "400000")
                run("mkfs.ext4", "-q", "-b", "1024", second, "4000000")
                trees = live(first, 2), live(second, 3)
                same_and_clean(first, trees[0])
                same_and_clean(second, trees[1])
        run("mkfs.ext4", "-q", "-F", "-b", "2048", disk)
        same_and_clean(disk, live(disk, 4))


def replay_after_crashes(seeds: range) -> None:
    with disk_of() as disk:
        run("mkfs.ext4", "-q", disk)
        for seed in seeds:
            with mounted(disk, "ext4") as top:
                Workload(top, seed, SCALES["tiny"]).run()
                run("sync", "-f", top)
                before = manifest(top, content=False)
                run("sh", "-c", f"for i in $(seq 300); do echo $i >{top}/late-{seed}-$i; done")
                shut_down(f"{top}/late-{seed}-1")
            if seed % 2:
                run("e2fsck", "-fy", disk, ok=(0, 1))
            with mounted(disk, "ext4") as top:
                after = [line for line in manifest(top, content=False) if "late-" not in line]
                run("sh", "-c", f"rm -rf {top}/*")
            # The root directory itself has grown.
            lost = {line for line in before if not line.startswith("'/' ")} - set(after)
            if lost:
                raise Failed("lost: " + "\n".join(sorted(lost)[:20]))
            run("e2fsck", "-fn", disk)


@case
def the_journal_is_replayed_after_a_crash() -> None:
    replay_after_crashes(range(5, 7))


@case(seldom=True)
def the_journal_is_replayed_after_four_crashes() -> None:
    replay_after_crashes(range(7, 11))


@case
def a_table_reload_in_the_middle_loses_nothing() -> None:
    with disk_of() as disk:
        run("mkfs.ext4", "-q", disk)
        with mounted(disk, "ext4") as top:
            Workload(top, 10, SCALES["tiny"]).run()
            table = run("dmsetup", "table", "implicit").strip()
            load_table("implicit", table)
            run("sh", "-c", f"rm -rf {top}/*")
            Workload(top, 11, SCALES["tiny"]).run()
            before = manifest(top, content=False)
        same_and_clean(disk, before)


@case
def growing_while_mounted() -> None:
    with disk_of() as disk:
        run("mkfs.ext4", "-q", disk, "1000000")
        with mounted(disk, "ext4") as top:
            run("resize2fs", disk)
            Workload(top, 12, SCALES["tiny"]).run()
            before = manifest(top, content=False)
        same_and_clean(disk, before)


@case(seldom=True)
def tools_on_the_unmounted_disk_lose_nothing() -> None:
    with disk_of() as disk:
        run("mkfs.ext4", "-q", disk)
        before = live(disk, 13)
        run("tune2fs", "-I", "512", disk, ok=(0, 1))
        run("e2fsck", "-fy", disk, ok=(0, 1))
        run("tune2fs", "-O", "^has_journal", disk)
        run("tune2fs", "-j", disk)
        run("resize2fs", "-f", disk, "2000000")
        same_and_clean(disk, before)
        # Nobody here mounts such blocks, but the tools write them, and a loop device whole ones.
        with looped(disk) as loop:
            for size in ("8192", "65536"):
                run("mkfs.ext4", "-q", "-F", "-F", "-b", size, loop)
                run("debugfs", "-w", "-R", f"write {sys.executable} file", loop)
                run("e2fsck", "-fn", loop)
                run("debugfs", "-R", "dump file /tmp/file", loop)
                assert filecmp.cmp("/tmp/file", sys.executable, shallow=False), f"blocks of {size} bytes"


@case
def every_way_of_journaling_data() -> None:
    with disk_of() as disk:
        for seed, options in enumerate(("data=journal", "data=writeback", "data=ordered,nodelalloc")):
            run("mkfs.ext4", "-q", "-F", "-O", "inline_data,ea_inode", disk)
            same_and_clean(disk, live(disk, 20 + seed, options))
