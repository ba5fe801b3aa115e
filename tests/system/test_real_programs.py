# SPDX-License-Identifier: GPL-2.0
"""Programs of Debian: recorded, compiled, replayed, compared. No lab. `make real-programs`: all of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import real_programs
from davidlib import build

FULL = os.environ.get("DAVID_SCALE") == "full"


@pytest.mark.parametrize("name", real_programs.DAILY if FULL else ["perl"])
def test_a_program_of_debian_is_replayed(name: str, tmp_path: Path) -> None:
    """The trace's tree, 99.9 % of the results, the replay's tree, and no wait that cannot end."""
    lacks = real_programs.missing(real_programs.PROGRAMS[name])
    assert not lacks, f"{lacks}: have {real_programs.PROGRAMS[name].packages} installed"
    for program in ("david-trace", "david-compile", "david-replay"):
        build.ensure(program)
    for path in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        path.chmod(path.stat().st_mode | 0o011)
    figures, wrong = real_programs.try_program(name, tmp_path)
    assert figures and not wrong, wrong[:5]
