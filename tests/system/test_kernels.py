# SPDX-License-Identifier: GPL-2.0
"""Which kernel is which; and of one that dm-david does not know the module is not built, and it says why."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from davidlib.lab import kernels, module

# As if a kernel had moved the list of an inode's names elsewhere once more.
MOVED = """\
#define d_u d_elsewhere
#include <linux/dcache.h>
#undef d_u
"""


def test_an_unknown_kernel_is_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "moved.h").write_text(MOVED)
    place = tmp_path / "module"
    module.refresh(place, module.sources())
    target = module.kernel_build("vm", "6.12")
    command = target.command(place, f"KCFLAGS=-include {tmp_path}/moved.h")
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode
    said = [line for line in run.stderr.splitlines() if not line.startswith("make")]
    assert len(said) == 1, run.stderr
    assert said[0].startswith("dm-david: this kernel is none of those that dm-david knows")
    assert said[0].endswith("missing: names (the list of an inode's dentries)")
    assert "error:" not in run.stdout


def test_a_version_is_its_newest_release_without_flavours() -> None:
    served = ["6.1.0-9-amd64", "6.1.0-50-amd64", "6.1.0-51-cloud-amd64", "6.12.94+deb13-amd64",
              "6.12.107+deb13-amd64", "6.12.110+deb13-rt-amd64", "7.3.4+deb13-amd64", "7.3.4+deb13-common"]
    assert kernels.newest(kernels.of_version(served, "6.1")) == "6.1.0-50-amd64"
    assert kernels.newest(kernels.of_version(served, "6.12")) == "6.12.107+deb13-amd64"
    assert kernels.newest(kernels.of_version(served, "7.3")) == "7.3.4+deb13-amd64"
    assert kernels.of_version(served, "7.2") == []
