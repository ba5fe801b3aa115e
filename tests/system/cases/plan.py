# SPDX-License-Identifier: GPL-2.0
"""How large the backing device must be: what david plan says, on disks that are made and filled."""

from __future__ import annotations

import json
import os
import subprocess

from davidlib.disk import plan

from cases import case
from helpers.davidtool import called, david
from helpers.guest import Failed, device_stats, fake_disk, mounted, ram_disk, run, say
from helpers.units import FULL, GIB, KIB, MIB

MKFS = {"xfs": "-fq", "btrfs": "-fq", "f2fs": "-fq"}
FILES, BYTES = 5000 if FULL else 500, 8 * KIB


def planned(fs: str, *words: str) -> dict:
    return json.loads(david("plan", "--fs", fs, "--json", *words))


def fill(point: str) -> None:
    data = os.urandom(BYTES)
    for number in range(FILES):
        directory = f"{point}/directory-{number // 200:04}"
        os.makedirs(directory, exist_ok=True)
        with open(f"{directory}/a-file-of-{number:05}.dat", "wb") as file:
            file.write(data)


@case
def a_disk_made_and_filled_as_planned_fits_on_the_planned_device() -> None:
    for fs in plan.FORMULAS if FULL else ("ext4", "xfs", "btrfs", "f2fs"):
        said = planned(fs, "--size", "16G", "--files", str(FILES), "--data", str(FILES * BYTES))
        with ram_disk(said["enough"]) as dev, fake_disk("plan", 16 * GIB, dev) as disk:
            run(f"mkfs.{fs}", MKFS.get(fs, "-q"), disk)
            made = device_stats("plan")["store_used"] * 4096
            with mounted(disk, fs) as point:
                fill(point)
                os.sync()
            figures = device_stats("plan")
            used = figures["store_used"] * 4096
            say(f"{fs}: mkfs {made >> 10} KiB, planned {said['made'] >> 10}; in all {used >> 10} KiB, {said}")
            if figures["nospc"] or figures["state"] != "ok":
                raise Failed(f"{fs}: {figures['state']}, {figures['nospc']} requests without space")
            assert abs(made - said["made"]) <= said["made"] * 0.1 + 64 * KIB, (fs, made, said)
            rest = said["journal"] + said["for_data"] + said["for_files"]
            assert used - made <= rest + 512 * KIB, (fs, used, said)


@case(complaints="Buffer I/O error|critical space allocation", seldom=True)
def mkfs_on_20_tb_needs_what_is_planned_and_create_warns_of_less() -> None:
    said = planned("ext4", "--size", "20TB")
    for room, fits in ((said["least"], True), (said["least"] * 9 // 10 // MIB * MIB, False)):
        with ram_disk(room) as dev:
            done = called("create", "plan", "--size", "20TB", "--backing", dev, "--format")
            try:
                assert not done.returncode and ("mkfs.ext4" in done.stderr) != fits, done.stderr
                made = subprocess.run(["mkfs.ext4", "-q", "/dev/mapper/plan"], capture_output=True, text=True)
                figures = device_stats("plan")
            finally:
                run("dmsetup", "remove", "--retry", "plan")
            say(f"20 TB on {room >> 20} MiB: mkfs.ext4 {made.returncode}, {figures['nospc']} without space")
            assert bool(figures["nospc"]) != fits, (room, figures["nospc"], made.stderr)
