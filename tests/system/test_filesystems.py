# SPDX-License-Identifier: GPL-2.0
"""A file system on a fake disk is clean, and its tree equals that of the same workload on a disk of full
size. In the vm, which is slow, the reference is the uml lab's, except for xfs, whose trees differ a little
between the two, and from kernel to kernel; with DAVID_SCALE=full each lab has its own. A tree is the same
whatever the disk's size.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from davidlib.lab import kernels

import vmjobs
from fsrun import Run
from helpers.featurekinds import FEATURES
from helpers.units import FULL
from labjob import PYTHON, TREE, Job
from vmjobs import ALIKE, F2FS, SMALLER, STORE

PROGRAM = str(Path(__file__).with_name("fsrun.py"))


def job(name: str, kernel: str, runs: list[str], usually: int, **options: object) -> Job:
    command = [*PYTHON, PROGRAM]
    if not FULL and kernel == "newest":
        command += ["--target", "david"]
    if FULL:
        options |= {"timeout": 7200}
        # The reference's file takes the 20 GB that are written: on the host's disk.
        directory = TREE / "build" / "reference" / f"uml-{kernel}"
        directory.mkdir(parents=True, exist_ok=True)
        command += ["--reference", str(directory)]
        options |= {"rw": str(directory)}
    return Job(name, "uml", kernel, tuple(command), tuple(runs), usually=usually, **options)  # type: ignore[arg-type]


SCALE = "uml" if FULL else "check"

UML = [f"{fs}:1T:{STORE}:{SCALE}" for fs in ("ext4", "xfs", "btrfs")]
# mkfs and e2fsck take time by the group: half a minute each for 1 TB.
UML += [f"{fs}:{'1T' if FULL else '32G'}:{STORE}:{SCALE}" for fs in ("ext3", "ext2")]
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

# Their kin live in `make check`.
SELDOM = (*LARGE, "xfs:16G:256M:tiny:keep", "ext4:64G:128M:tiny:explicit", "btrfs:64G:128M:tiny:explicit")

# The backing device is a file in RAM there, which may use half: btrfs leaves 0.5 GB of old tree blocks.
UML_MEMORY = "6G" if FULL else "3G"
UML_JOB = job("filesystems", "6.12", UML, 25, memory=UML_MEMORY)
# ext4, xfs and btrfs live on the newest kernel in the vm lab (`make land`), with several CPUs in races.py.
# More CPUs than the host has spend their time waiting for each other.
CPUS_JOB = job(
    "filesystems", "newest", [*(UML[:3] if FULL else []), F2FS], 8, memory=UML_MEMORY, cpus=4 if FULL else 2
)
OTHERS = [*LARGE, *MODES, *([] if FULL else [F2FS, *SMALLER])]
OTHERS_JOB = job("large", "6.12", OTHERS, 40)


# Each feature in two modes: one life on the reference is that of both.
def featured(fs: str) -> list[str]:
    scale = "check" if FULL else "tiny"
    return [f"{fs}+{name}:8G:512M:{scale}:{mode}" for name in FEATURES[fs] for mode in ("auto", "implicit")]


FEATURE_JOBS = [job(f"features-{fs}", "6.12", featured(fs), 60) for fs in FEATURES]
JOBS = [UML_JOB, CPUS_JOB, OTHERS_JOB, *FEATURE_JOBS]
CHOSEN = [(job, run) for job in JOBS for run in job.runs]
CHOSEN += [(job, run) for kernel, job in vmjobs.JOBS.items() for run in vmjobs.lives(kernel)]


def tree_of(run: str) -> tuple[str, str, bool]:
    """What its tree depends on; with everything kept, contents are part of it."""
    fs, _, _, scale, *classify = run.split(":")
    return fs, scale, classify == ["keep"]


def reference_of(job: Job, run: str) -> tuple[Job, str]:
    """Whose run on dm-linear, and which, that of `job` is compared with."""
    if job in FEATURE_JOBS:
        return job, next(other for other in job.runs if Run.parse(other).tree == Run.parse(run).tree)
    its_own = job in vmjobs.JOBS.values() and run.partition(":")[0] not in ALIKE
    if FULL or its_own or job in (UML_JOB, OTHERS_JOB):
        return job, run
    return next((o, r) for o in (UML_JOB, OTHERS_JOB) for r in o.runs if tree_of(r) == tree_of(run))


CASES = [
    pytest.param(
        run,
        id=f"{job.name}-{job.kind}-{job.kernel}-{run}",
        marks=(
            *(pytest.mark.lab(job, run), pytest.mark.lab(*reference_of(job, run))),
            *([pytest.mark.seldom] if run in SELDOM or job in FEATURE_JOBS else []),
        ),
    )
    for job, run in CHOSEN
]


@pytest.mark.parametrize("run", CASES)
def test_same_tree_and_clean(lab, run: str) -> None:
    result = lab.result(arg=run, target="david")
    assert not result["errors"], "\n".join(result["errors"])
    version = kernels.version(kernels.NEWEST) if lab.job.kernel == "newest" else lab.job.kernel
    assert str(result["kernel"]).startswith(f"{version}."), "another kernel was booted"
    other, its_run = reference_of(lab.job, run)
    reference = lab.result(other, arg=its_run, target="linear")
    assert not reference["errors"], f"the reference itself failed: {reference['errors']}"
    assert not result["difference"], "tree differs from the reference:\n" + "\n".join(result["difference"])
    assert result["entries"] == reference["entries"] > 100
    assert result["manifest"] == reference["manifest"]


@pytest.mark.parametrize(
    "job",
    [
        pytest.param(
            j,
            id=f"{j.name}-{j.kind}-{j.kernel}",
            marks=(pytest.mark.lab(j), *([pytest.mark.seldom] if j in FEATURE_JOBS else [])),
        )
        for j in JOBS
    ],
)
def test_lab_ends_well(lab, job: Job) -> None:
    lab.ended_well()
