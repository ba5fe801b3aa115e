# SPDX-License-Identifier: GPL-2.0
"""A file system on a fake disk is clean, and its tree equals that of the same workload on a disk of full
size.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from labjob import TREE, Job

FULL = os.environ.get("DAVID_SCALE") == "full"
PROGRAM = str(Path(__file__).with_name("fsrun.py"))


def job(name: str, kind: str, kernel: str, runs: list[str], usually: int, **options: object) -> Job:
    command = ["python3", PROGRAM, *runs]
    if FULL:
        options |= {"timeout": 7200}
    if FULL and kind == "uml":
        # The reference's file takes the 20 GB that are written: on the host's disk.
        directory = TREE / "build" / "reference" / f"{kind}-{kernel}"
        directory.mkdir(parents=True, exist_ok=True)
        command += ["--reference", str(directory)]
        options |= {"rw": str(directory)}
    return Job(name, kind, kernel, tuple(command), usually=usually, **options)  # type: ignore[arg-type]


UML_SCALE, VM_SCALE = ("uml", "vm") if FULL else ("check", "check")
STORE = "1G" if FULL else "128M"

# 1 TB; for ext2 and ext3 in the vm less: mkfs and e2fsck take long without KVM over all inode tables.
UML = [f"{fs}:1T:{STORE}:{UML_SCALE}" for fs in ("ext4", "xfs", "btrfs", "ext3", "ext2")]
SMALLER, SMALL_SCALE = ("64G", "vm") if FULL else ("16G", "tiny")
VM = [f"{fs}:1T:{STORE}:{VM_SCALE}" for fs in ("ext4", "xfs", "btrfs")]
VM += [f"{fs}:{SMALLER}:{STORE}:{SMALL_SCALE}" for fs in ("ext3", "ext2")]
LARGE = ["xfs:100T:128M:tiny", "ext4:16T:512M:tiny"]
# With everything kept, contents are compared too, and btrfs checks its own.
MODES = [
    "ext4:16G:256M:tiny:keep",
    "xfs:16G:256M:tiny:keep",
    "btrfs:16G:256M:tiny:keep",
    "ext4:64G:128M:tiny:explicit",
    "xfs:64G:128M:tiny:explicit",
    "btrfs:64G:128M:tiny:explicit",
]

VM_MEMORY = "9G" if FULL else "4G"
# The backing device is a file in RAM there, which may use half: btrfs leaves 0.5 GB of old tree blocks.
UML_MEMORY = "6G" if FULL else "3G"
# The longest first: two labs run at a time.
JOBS = [
    (job("filesystems", "vm", "6.1", VM, 300, memory=VM_MEMORY, timeout=1500), VM),
    (job("filesystems", "vm", "6.12", VM, 300, memory=VM_MEMORY, timeout=1500), VM),
    (job("filesystems", "uml", "6.12", UML, 150, memory=UML_MEMORY), UML),
    (job("large", "uml", "6.12", LARGE + MODES, 60), LARGE + MODES),
]

CASES = [
    pytest.param(run, id=f"{job.name}-{job.kind}-{job.kernel}-{run}", marks=pytest.mark.lab(job))
    for job, runs in JOBS
    for run in runs
]


@pytest.mark.parametrize("run", CASES)
def test_same_tree_and_clean(lab, run: str) -> None:
    reference = lab.result(arg=run, target="linear")
    assert not reference["errors"], f"the reference itself failed: {reference['errors']}"
    result = lab.result(arg=run, target="david")
    assert not result["errors"], "\n".join(result["errors"])
    assert not result["difference"], "tree differs from the reference:\n" + "\n".join(result["difference"])
    assert result["entries"] == reference["entries"] > 100
    assert result["manifest"] == reference["manifest"]


@pytest.mark.parametrize(
    "job", [pytest.param(j, id=f"{j.name}-{j.kind}-{j.kernel}", marks=pytest.mark.lab(j)) for j, _ in JOBS]
)
def test_lab_ends_well(lab, job: Job) -> None:
    lab.ended_well()
