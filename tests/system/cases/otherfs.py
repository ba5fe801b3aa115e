# SPDX-License-Identifier: GPL-2.0
"""What only page owners can tell: f2fs, whose files' pages are dropped; nilfs2, of which everything is kept,
as its recovery reads the checksum of all that it logged; and Merkle trees, metadata in a file's own pages.

Random lives of both file systems, with cuts and garbage collection: trials.py. The scripted ones here take a
minute on nilfs2; DAVID_SCALE=full has them, in every mode.
"""

from __future__ import annotations

import os
import random

from cases import case
from helpers.cutoff import Cut
from helpers.filesystems import TOOLS
from helpers.fsverity import enable_verity, merkle_tree
from helpers.guest import Complaints, Failed, device_stats, fake_disk, linear_disk, mounted, ram_disk, run
from helpers.lifekinds import FILE_SYSTEMS
from helpers.manifest import manifest
from helpers.planted import must_fail, planted
from helpers.trees import equal
from helpers.units import FULL, GIB, MIB
from helpers.workload import SCALES, Workload

SIZE, NAME = 2 * GIB, "other"
OPTIONS = {"f2fs": "", "nilfs2": "nogc"}
MODES = ("auto", "explicit")
# A newer f2fs that stops at an error shows the way there.
CRASH = r"F2FS-fs|NILFS|[Nn]ilfs|I/O error|lost async page write|Call Trace"


def counts(group: str) -> dict[str, int]:
    return dict(device_stats(NAME)[group])  # type: ignore[call-overload]


def check(fs: str, disk: str) -> None:
    run(*FILE_SYSTEMS[fs].check, disk)


def live_on_the_reference(fs: str, content: bool) -> list[str]:
    with linear_disk("reference", SIZE) as disk:
        run(*FILE_SYSTEMS[fs].mkfs, disk)
        with mounted(disk, fs, OPTIONS.get(fs, "")) as top:
            Workload(top, 81, SCALES["tiny"]).run()
            return manifest(top, content=content)


def live_and_crash(fs: str, classify: str, content: bool, expected: list[str]) -> None:
    """The workload, mounted again; then cut off with the file system mounted, and recovered."""
    with ram_disk(192 * MIB) as dev, fake_disk(NAME, SIZE, dev, "--classify", classify) as disk:
        run(*FILE_SYSTEMS[fs].mkfs, disk)
        with mounted(disk, fs, OPTIONS.get(fs, "")) as top:
            Workload(top, 81, SCALES["tiny"]).run()
            equal(f"{fs}:{classify}", expected, manifest(top, content=content))
        check(fs, disk)
        cut = Cut(NAME, Complaints())
        with mounted(disk, fs, OPTIONS.get(fs, "")) as top:
            equal(f"{fs}:{classify} mounted again", expected, manifest(top, content=content))
            for i in range(40):
                with open(f"{top}/late-{i}", "wb") as file:
                    file.write(random.Random(i).randbytes(5000 * (i % 9) + 1))
                    file.flush()
                    if i % 3 == 0:
                        os.fsync(file.fileno())
            before = manifest(top, content=content)
            os.sync()
            with open(f"{top}/late-0", "ab") as file:  # rolled forward from the last checkpoint
                file.write(b"more" * 3000)
                file.flush()
                os.fsync(file.fileno())
            cut.cut()
        cut.restore()
        with mounted(disk, fs, OPTIONS.get(fs, "")) as top:
            os.truncate(f"{top}/late-0", 1)
            equal(f"{fs}:{classify} after the crash", before, manifest(top, content=content))
        check(fs, disk)


@case(cpus=True, complaints=CRASH, seldom=True)
def f2fs_lives_and_recovers_without_its_data() -> None:
    expected = live_on_the_reference("f2fs", False)
    for classify in MODES if FULL else ("explicit",):
        live_and_crash("f2fs", classify, False, expected)


@case(full=True)
def f2fs_of_two_devices_loses_nothing() -> None:
    """The superblock names the first only: of the other everything is kept."""
    for classify in MODES:
        with (
            ram_disk(128 * MIB) as one,
            ram_disk(192 * MIB) as two,
            fake_disk(NAME, SIZE, one, "--classify", classify) as first,
            fake_disk("second", SIZE, two, "--classify", classify) as second,
        ):
            run("mkfs.f2fs", "-q", "-f", "-c", second, first)
            with mounted(first, "f2fs") as top:
                Workload(top, 82, SCALES["tiny"]).run()
                before = manifest(top, content=False)
            check("f2fs", first)
            with mounted(first, "f2fs") as top:
                equal(f"f2fs of two devices, {classify}", before, manifest(top, content=False))
            other = device_stats("second")["written"]
            if not counts("written")["squashed"] or not other["kept"] or other["squashed"]:  # type: ignore[index]
                raise Failed(f"{classify}: {counts('written')}, on the second device {other}")


@case(complaints=CRASH, planted=True)
def f2fs_finds_a_planted_bug() -> None:
    expected = live_on_the_reference("f2fs", False)
    with planted("nodes"), must_fail():
        live_and_crash("f2fs", "explicit", False, expected)


@case(complaints=CRASH, full=True)
def nilfs2_lives_and_recovers_as_it_is_kept_whole() -> None:
    expected = live_on_the_reference("nilfs2", True)
    for classify in MODES:
        live_and_crash("nilfs2", classify, True, expected)


@case
def data_of_f2fs_is_dropped_and_status_says_that_nilfs2s_is_not() -> None:
    """Noise, by buffered and by direct writes: 999 of 1000 blocks."""
    blocks = 24 * MIB // 4096
    noise = random.Random(7).randbytes(MIB)
    for fs in ("f2fs", "nilfs2"):
        with ram_disk(192 * MIB) as dev, fake_disk(NAME, SIZE, dev, "--classify", "explicit") as disk:
            run(*FILE_SYSTEMS[fs].mkfs, disk)
            with mounted(disk, fs, OPTIONS.get(fs, "")) as top:
                for name in ("one", "two"):
                    with open(f"{top}/{name}", "wb") as file:
                        for _ in range(8):
                            file.write(noise)
                # Unmounting forgets names first, and without one the first three numbers may be quota's.
                os.sync()
                run("dd", f"if={top}/one", f"of={top}/direct", "bs=256K", "oflag=direct")
            squashed, evidence = counts("written")["squashed"], counts("evidence")
            if fs == "f2fs" and squashed < 0.999 * blocks:
                raise Failed(f"{squashed} of {blocks} blocks of data were squashed: {evidence}")
            if fs == "nilfs2" and (squashed or evidence["unproven"] < blocks // 2):
                raise Failed(f"{squashed} blocks of nilfs2 were squashed: {evidence}")


@case
def merkle_trees_behind_a_files_end_are_kept() -> None:
    for fs in ("ext4", "f2fs"):
        for classify in MODES if FULL else ("explicit",):
            with ram_disk(128 * MIB) as dev, fake_disk(NAME, SIZE, dev, "--classify", classify) as disk:
                run(*TOOLS[fs].mkfs, "-O", "verity", disk)
                sizes = (1, 4096, 65536, 200_000, 3 * MIB + 77)
                with mounted(disk, fs, OPTIONS.get(fs, "")) as top:
                    for size in sizes:
                        with open(f"{top}/{size}", "wb") as file:
                            file.write(random.Random(size).randbytes(size))
                        enable_verity(f"{top}/{size}")
                    trees = [merkle_tree(f"{top}/{size}") for size in sizes]
                with mounted(disk, fs, OPTIONS.get(fs, "")) as top:
                    for size, tree in zip(sizes, trees, strict=True):
                        # To be opened it needs the descriptor that lies behind the tree.
                        if merkle_tree(f"{top}/{size}") != tree:
                            raise Failed(f"{fs}:{classify}: the tree of {size} bytes is not as it was")
                if not counts("written")["squashed"]:
                    raise Failed(f"{fs}:{classify}: nothing was squashed")
