# SPDX-License-Identifier: GPL-2.0
"""The vm lab's jobs: one boot of each kernel, for its cases and for the lives of its file systems.

Without KVM a second there takes seven. So `make land` runs what the uml lab cannot show, on 6.1 and on the
newest kernel. 6.12 is the uml lab's own: Debian 13's is for `make stock`. So is what one of the other two
shows as well as both. `make check` boots none of them.
"""

from __future__ import annotations

import os
from pathlib import Path

from cases import GROUPS, UML_ONLY, Case, about, load
from helpers.units import DAILY, FULL
from labjob import PYTHON, Job

PROGRAM = str(Path(__file__).with_name("vmrun.py"))
KERNELS = ("6.1", "6.12", "newest")
STOCK = FULL or os.environ.get("DAVID_STOCK") == "1"  # `make stock`

# Those whose trees are the same in all labs: the uml lab's reference is theirs, too.
ALIKE = ("ext2", "ext3", "ext4", "btrfs", "f2fs")
STORE = "1G" if FULL else "128M"
SMALL_SIZE, SMALL_SCALE = ("64G", "vm") if FULL else ("16G", "tiny")
# mkfs and e2fsck take long without KVM over all inode tables.
SMALLER = [f"{fs}:{SMALL_SIZE}:{STORE}:{SMALL_SCALE}" for fs in ("ext3", "ext2") if FULL]
F2FS = f"f2fs:{SMALL_SIZE}:{STORE}:{SMALL_SCALE}"


def lives(kernel: str) -> list[str]:
    """The newest kernel has large pages here, and not in the uml lab, where f2fs lives, too. That one lives
    with 6.12, with more files. On 6.1 xfs and f2fs live for `make stock`: who owns their pages there is seen
    in each `make land` by cases/kernels.py.
    """
    if DAILY or (kernel == "6.12" and not FULL):
        return []
    if FULL:
        large = [f"{fs}:1T:{STORE}:vm" for fs in ("ext4", "xfs", "btrfs")]
    else:
        # e2fsck takes half a minute over the groups of 1 TB there.
        terabytes = ("xfs", "btrfs") if kernel == "newest" or STOCK else ("btrfs",)
        large = [f"ext4:128G:{STORE}:tiny", *(f"{fs}:1T:{STORE}:tiny" for fs in terabytes)]
    return [*large, *([F2FS] if STOCK else []), *(SMALLER if kernel == "6.1" else ())]


def cases(kernel: str) -> list[str]:
    if FULL:
        return [name for name in load(GROUPS) if name.partition(".")[0] not in UML_ONLY]
    return [name for name, case in load(GROUPS).items() if kernel in kernels_of(name, case)]


def kernels_of(name: str, case: Case) -> tuple[str, ...]:
    """In which it runs: a lab in which nothing would run is not started."""
    if DAILY or (about(case).full and not FULL):
        return ()
    return about(case).vm + (about(case).stock if STOCK else ())


def job(kernel: str) -> Job:
    command = [*PYTHON, PROGRAM]
    if not FULL:
        command.append(f"--without-reference={','.join(ALIKE)}")
    # One CPU costs the host a third less than two.
    return Job(
        "all",
        "vm",
        kernel,
        tuple(command),
        (*lives(kernel), *cases(kernel)),
        memory="9G" if FULL else "4G",
        timeout=8700 if FULL else 3600,
        usually={"6.1": 80, "6.12": 90, "newest": 120}[kernel],
        cpus=1,
        programs=("david-store",),
    )


JOBS = {kernel: job(kernel) for kernel in KERNELS if cases(kernel)}
