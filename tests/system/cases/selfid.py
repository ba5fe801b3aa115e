# SPDX-License-Identifier: GPL-2.0
"""btrfs and xfs told apart from data by what their blocks say themselves, alone and beside page owners.

DAVID_SCALE=full does more of everything.
"""

from __future__ import annotations

import os
import random
import re
import time
from contextlib import suppress
from pathlib import Path

from cases import case
from helpers.crashes import CRASH, NAME, Kind, counts, crash, crashing, disk_of, mount_of
from helpers.filesystems import OF_DATA, TOOLS
from helpers.guest import Failed, load_table, looped, mounted, run
from helpers.manifest import manifest
from helpers.trees import equal
from helpers.units import FULL, GIB, MIB
from helpers.workload import Scale, Workload

SCALE = Scale(120, 300, 4 * MIB, 2) if FULL else Scale(20, 40, MIB, 1)


BTRFS = Kind("btrfs", (*TOOLS["btrfs"].mkfs, "-K"), "", (*TOOLS["btrfs"].check, *OF_DATA))
XFS = Kind("xfs", (*TOOLS["xfs"].mkfs, "-K"), "", TOOLS["xfs"].check)
EXT4 = Kind("ext4", (*TOOLS["ext4"].mkfs, "-E", "nodiscard"), "", TOOLS["ext4"].check)


def work(top: str, seed: int) -> None:
    directory = f"{top}/{seed}"
    os.mkdir(directory)
    Workload(directory, seed, SCALE).run()


def live(disk: str, kind: Kind, seed: int) -> list[str]:
    with mount_of(disk, kind) as top:
        work(top, seed)
        return manifest(top, content=False)


def tree(disk: str, kind: Kind) -> list[str]:
    with mount_of(disk, kind) as top:
        return manifest(top, content=False)


def same_and_clean(disk: str, kind: Kind, before: list[str]) -> None:
    run(*kind.check, disk)
    equal(" ".join(kind.check), before, tree(disk, kind))


def dropped() -> int:
    """Blocks of data: at once, and when nothing waits to be decided any more."""
    for _ in range(100):
        waiting = counts("unclassified")
        if not waiting["now"]:
            break
        time.sleep(0.02)
    return counts("written")["squashed"] + waiting["data"]


def all_but_all_data_is_squashed(top: str, megabytes: int) -> None:
    """Write noise, by buffered, direct and small synchronous writes: 999 of 1000 blocks are dropped."""
    noise = random.Random(7).randbytes(MIB)
    third = megabytes // 3
    # btrfs makes a chunk for it. Blocks that come without their slot's first are kept until that is known.
    with open(f"{top}/first", "wb") as file:
        for _ in range(megabytes):
            file.write(noise)
    run("sync", "-f", top)
    before = dropped()
    with open(f"{top}/buffered", "wb") as file:
        for _ in range(third):
            file.write(noise)
    run("dd", f"if={top}/buffered", f"of={top}/direct", "bs=256K", f"count={4 * third}", "oflag=direct")
    with open(f"{top}/synchronous", "wb") as file:
        for i in range(4 * third):
            file.write(noise[: 256 * 1024])
            if i % 8 == 0:
                os.fdatasync(file.fileno())
    run("sync", "-f", top)
    blocks = 3 * third * MIB // 4096
    squashed = dropped() - before
    if squashed < 0.999 * blocks:
        raise Failed(f"{squashed} of {blocks} blocks of data were squashed: {counts('evidence')}")
    for name in ("first", "buffered", "direct", "synchronous"):
        os.unlink(f"{top}/{name}")


def live_and_crash(disk: str, kind: Kind, seed: int) -> list[str]:
    """What was synchronised before the crash."""
    with crashing(disk) as name:
        point = f"/tmp/david-tests/crash-{seed}"
        os.makedirs(point, exist_ok=True)
        run("mount", "-t", kind.name, "-o", kind.options or "rw", name, point)
        try:
            work(point, seed)
            run("sync", "-f", point)
            before = manifest(point, content=False)
            for i in range(200):
                with open(f"{point}/late-{i}", "w") as file:
                    file.write("late" * i * 20)
                    if i % 20 == 0:
                        os.fsync(file.fileno())
        finally:
            crash(kind, disk, point)
    return before


def recovered(disk: str, kind: Kind, before: list[str]) -> None:
    with mount_of(disk, kind) as top:
        after = manifest(top, content=False)
        for name in os.listdir(top):
            if name.startswith("late-"):
                os.unlink(f"{top}/{name}")
    # The root directory itself has grown.
    lost = {line for line in before if not line.startswith("'/' ")} - set(after)
    if lost:
        raise Failed("lost: " + "\n".join(sorted(lost)[:20]))
    run(*kind.check, disk)


def both_live_behind_a_loop_device(kind: Kind) -> None:
    with disk_of() as disk, looped(disk) as loop:
        run(*kind.mkfs, loop)
        for seed in (1, 2, 3) if FULL else (1,):
            with mount_of(loop, kind) as top:
                all_but_all_data_is_squashed(top, 192 if FULL else 24)
                work(top, seed)
                before = manifest(top, content=False)
        same_and_clean(loop, kind, before)


@case
def btrfs_behind_a_loop_device_is_told_apart() -> None:
    both_live_behind_a_loop_device(BTRFS)


@case
def xfs_behind_a_loop_device_is_told_apart() -> None:
    both_live_behind_a_loop_device(XFS)


@case(seldom=True)
def btrfs_and_xfs_side_by_side() -> None:
    with disk_of() as disk:
        with looped(disk, 2 * GIB) as second, looped(disk) as first:
            run(*BTRFS.mkfs, "-b", str(2 * GIB), first)
            run(*XFS.mkfs, "-d", f"size={4 * GIB}", second)
            trees = live(first, BTRFS, 3), live(second, XFS, 4)
            same_and_clean(first, BTRFS, trees[0])
            same_and_clean(second, XFS, trees[1])


@case(complaints=CRASH, seldom=True)
def both_recover_after_a_crash() -> None:
    with disk_of() as disk:
        for kind in (BTRFS, XFS):
            run(*kind.mkfs, disk)
            for seed in (5, 6, 7) if FULL else (5,):
                before = live_and_crash(disk, kind, seed)
                recovered(disk, kind, before)


@case(complaints=CRASH, seldom=True)
def repair_tools_on_the_unmounted_disk_lose_nothing() -> None:
    with disk_of() as disk:
        run(*XFS.mkfs, disk)
        live_and_crash(disk, XFS, 7)
        run("xfs_repair", "-L", disk)
        before = live(disk, XFS, 8)
        run("xfs_repair", disk)
        run("xfs_admin", "-U", "generate", disk)
        same_and_clean(disk, XFS, before)
        run(*BTRFS.mkfs, disk)
        before = live(disk, BTRFS, 9)
        run("btrfs", "check", "--repair", "--force", disk)
        run("btrfstune", "-f", "-u", disk)
        same_and_clean(disk, BTRFS, before)


@case(seldom=True)
def growing_while_mounted() -> None:
    with disk_of() as disk:
        run(*XFS.mkfs, "-d", f"size={2 * GIB}", disk)
        with mount_of(disk, XFS) as top:
            work(top, 11)
            run("xfs_growfs", top)
            all_but_all_data_is_squashed(top, 12)
            work(top, 12)
            before = manifest(top, content=False)
        same_and_clean(disk, XFS, before)
        run(*BTRFS.mkfs, "-b", str(2 * GIB), disk)
        with mount_of(disk, BTRFS) as top:
            work(top, 13)
            run("btrfs", "filesystem", "resize", "max", top)
            all_but_all_data_is_squashed(top, 12)
            work(top, 14)
            before = manifest(top, content=False)
        same_and_clean(disk, BTRFS, before)


@case(complaints=CRASH, seldom=True)
def another_file_system_over_a_crashed_one() -> None:
    pairs = ((XFS, EXT4), (EXT4, BTRFS), (BTRFS, XFS), (XFS, BTRFS), (BTRFS, EXT4), (EXT4, XFS), (XFS, XFS))
    with disk_of() as disk:
        for seed, (old, new) in enumerate(pairs if FULL else pairs[:2], 20):
            run(*old.mkfs, disk)
            with suppress(Failed):
                live_and_crash(disk, old, seed)
            run(*new.mkfs, disk)
            same_and_clean(disk, new, live(disk, new, seed))


@case(seldom=True)
def a_table_reload_in_the_middle_loses_nothing() -> None:
    with disk_of() as disk:
        for kind in (BTRFS, XFS):
            run(*kind.mkfs, disk)
            with mount_of(disk, kind) as top:
                work(top, 30)
                table = run("dmsetup", "table", NAME).strip()
                load_table(NAME, table)
                work(top, 31)
                before = manifest(top, content=False)
            same_and_clean(disk, kind, before)


@case
def auto_keeps_what_the_write_itself_calls_metadata() -> None:
    """A copy of a metadata block in a file: its page's owner says data, its content that it is none."""
    with disk_of("auto") as disk:
        for kind, size in ((XFS, 4096), (BTRFS, 16384)):
            run(*kind.mkfs, disk)
            before = live(disk, kind, 40)
            with open(disk, "rb") as raw:
                uuid = bytes.fromhex(run("blkid", "-o", "value", "-s", "UUID", disk).strip().replace("-", ""))
                blocks = (os.pread(raw.fileno(), size, at) for at in range(4 * size, 64 * MIB, size))
                named = next(block for block in blocks if uuid in block[32:200] and b"_BHRfS" not in block)
            with mount_of(disk, kind) as top:
                self_said = counts("evidence")["self"]
                all_but_all_data_is_squashed(top, 12)
                with open(f"{top}/copy", "wb") as file:
                    # Only where a node may begin does a header count.
                    file.write(named[:4096] * 64)
                run("sync", "-f", top)
                if counts("evidence")["self"] < self_said + 16:
                    raise Failed(f"{kind.name}: no objection was counted: {counts('evidence')}")
                os.unlink(f"{top}/copy")
            same_and_clean(disk, kind, before)


@case
def auto_hears_no_objection_to_journaled_data() -> None:
    with disk_of("auto") as disk:
        for options in ("data=journal", "data=ordered")[: 1 + FULL]:
            run(*EXT4.mkfs, disk)
            with mounted(disk, "ext4", options) as top:
                work(top, 41)
                before = manifest(top, content=False)
                with open(f"{top}/large", "wb") as file:
                    file.write(random.Random(8).randbytes(8 * MIB))
                run("sync", "-f", top)
            if counts("written")["squashed"] < 2048:
                raise Failed(f"{options}: {counts('evidence')}")
            run("e2fsck", "-fn", disk)
            with mounted(disk, "ext4") as top:
                os.unlink(f"{top}/large")
            same_and_clean(disk, EXT4, before)


@case
def verdicts_and_their_reasons_can_be_traced() -> None:
    tracing = Path("/sys/kernel/tracing")
    if not (tracing / "events").exists():
        run("mount", "-t", "tracefs", "tracefs", str(tracing))
    events = tracing / "events/david"
    with disk_of() as disk:
        run(*XFS.mkfs, disk)
        with mount_of(disk, XFS) as top:
            run("sync", "-f", top)
            (tracing / "trace").write_text("")
            for name in ("verdict", "implied"):
                (events / f"david_{name}/enable").write_text("1")
            all_but_all_data_is_squashed(top, 3)
            for name in ("verdict", "implied"):
                (events / f"david_{name}/enable").write_text("0")
        text = (tracing / "trace").read_text()
    for wanted in (
        r"david_implied: dev=\d+:\d+ sector=\d+ sectors=8 reason=unnamed",
        r"david_implied: .* reason=journal",
        r"david_verdict: dev=\d+:\d+ sector=\d+ sectors=\d+ written=squashed evidence=implied",
        r"david_verdict: .* written=kept evidence=layout",
    ):
        if not re.search(wanted, text):
            raise Failed(f"nothing traced like {wanted}: {text[:1000]}")
