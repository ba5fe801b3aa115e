# SPDX-License-Identifier: GPL-2.0
"""A file system on a fake disk is clean, and its tree equals that of the same workload on a disk of full
size. In the vm, which is slow, the reference is the uml lab's, except for xfs, whose trees differ a little
between the two; with DAVID_SCALE=full each lab has its own.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.units import FULL
from labjob import PYTHON, TREE, Job

PROGRAM = str(Path(__file__).with_name("fsrun.py"))


def job(name: str, kind: str, kernel: str, runs: list[str], usually: int, **options: object) -> Job:
    command = [*PYTHON, PROGRAM]
    if not FULL and kind == "vm":
        command += ["--without-reference", ",".join(ALIKE)]
    if not FULL and (kind, kernel) == ("uml", "newest"):
        command += ["--target", "david"]
    if FULL:
        options |= {"timeout": 7200}
    if FULL and kind == "uml":
        # The reference's file takes the 20 GB that are written: on the host's disk.
        directory = TREE / "build" / "reference" / f"{kind}-{kernel}"
        directory.mkdir(parents=True, exist_ok=True)
        command += ["--reference", str(directory)]
        options |= {"rw": str(directory)}
    return Job(name, kind, kernel, tuple(command), tuple(runs), usually=usually, **options)  # type: ignore[arg-type]


UML_SCALE, VM_SCALE = ("uml", "vm") if FULL else ("check", "check")
STORE = "1G" if FULL else "128M"

# Those whose trees are the same in all labs.
ALIKE = ("ext2", "ext3", "ext4", "btrfs", "f2fs")

# 1 TB; for ext2, ext3 and f2fs in the vm less: mkfs and e2fsck take long without KVM over all inode tables.
UML = [f"{fs}:1T:{STORE}:{UML_SCALE}" for fs in ("ext4", "xfs", "btrfs", "ext3")]
UML.append(f"ext2:{'1T' if FULL else '256G'}:{STORE}:{UML_SCALE}")
SMALLER, SMALL_SCALE = ("64G", "vm") if FULL else ("16G", "tiny")
VM = [f"{fs}:1T:{STORE}:{VM_SCALE}" for fs in ("xfs", "btrfs")]
EXT4 = f"ext4:1T:{STORE}:{VM_SCALE}"
# e2fsck takes half a minute over the groups of 1 TB there.
EXT4_SMALLER = EXT4 if FULL else f"ext4:128G:{STORE}:{VM_SCALE}"
VM.insert(0, EXT4_SMALLER)
F2FS = f"f2fs:{SMALLER}:{STORE}:{SMALL_SCALE}"
VM.append(F2FS)
VM_SMALLER = [f"{fs}:{SMALLER}:{STORE}:{SMALL_SCALE}" for fs in ("ext3", "ext2")]
LARGE = ["xfs:100T:128M:tiny", "ext4:16T:512M:tiny"]
# With everything kept, contents are compared too, and btrfs checks its own.
MODES = [
    "ext4:16G:256M:tiny:keep",
    "xfs:16G:256M:tiny:keep",
    "btrfs:16G:256M:tiny:keep",
    "ext4:64G:128M:tiny:explicit",
    "xfs:64G:128M:tiny:explicit",
    "btrfs:64G:128M:tiny:explicit",
    "btrfs:64G:128M:tiny:implicit",
]

VM_MEMORY = "9G" if FULL else "4G"
# The backing device is a file in RAM there, which may use half: btrfs leaves 0.5 GB of old tree blocks.
UML_MEMORY = "6G" if FULL else "3G"
# The longest first: two labs run at a time. One CPU costs the host a third less than two.
VM_JOBS = [
    job("filesystems", "vm", kernel, runs, 100, memory=VM_MEMORY, timeout=1500, cpus=1)
    for kernel, runs in (("6.1", VM + VM_SMALLER), ("6.12", VM), ("newest", VM))
]
UML_JOB = job("filesystems", "uml", "6.12", UML, 130, memory=UML_MEMORY)
CPUS_JOB = job("filesystems", "uml", "newest", [*UML[:3], F2FS], 40, memory=UML_MEMORY, cpus=4)
OTHERS = [*LARGE, *MODES, *([] if FULL else [F2FS, *VM_SMALLER])]
OTHERS_JOB = job("large", "uml", "6.12", OTHERS, 60)
JOBS = [*VM_JOBS, UML_JOB, CPUS_JOB, OTHERS_JOB]


def reference_of(job: Job, run: str) -> tuple[Job, str]:
    """Whose run on dm-linear, and which, that of `job` is compared with."""
    its_own = job in VM_JOBS and run.partition(":")[0] not in ALIKE
    if FULL or its_own or job in (UML_JOB, OTHERS_JOB):
        return job, run
    run = EXT4 if run == EXT4_SMALLER else run
    return (UML_JOB if run in UML_JOB.runs else OTHERS_JOB), run


CASES = [
    pytest.param(
        run,
        id=f"{job.name}-{job.kind}-{job.kernel}-{run}",
        marks=(pytest.mark.lab(job, run), pytest.mark.lab(*reference_of(job, run))),
    )
    for job in JOBS
    for run in job.runs
]


@pytest.mark.parametrize("run", CASES)
def test_same_tree_and_clean(lab, run: str) -> None:
    result = lab.result(arg=run, target="david")
    assert not result["errors"], "\n".join(result["errors"])
    other, its_run = reference_of(lab.job, run)
    reference = lab.result(other, arg=its_run, target="linear")
    assert not reference["errors"], f"the reference itself failed: {reference['errors']}"
    assert not result["difference"], "tree differs from the reference:\n" + "\n".join(result["difference"])
    assert result["entries"] == reference["entries"] > 100
    assert result["manifest"] == reference["manifest"]


@pytest.mark.parametrize(
    "job", [pytest.param(j, id=f"{j.name}-{j.kind}-{j.kernel}", marks=pytest.mark.lab(j)) for j in JOBS]
)
def test_lab_ends_well(lab, job: Job) -> None:
    lab.ended_well()
