# SPDX-License-Identifier: GPL-2.0
"""Kernels that dm-david does not know: the module does not build, and says why."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from davidlib import module

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
