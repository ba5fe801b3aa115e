# SPDX-License-Identifier: GPL-2.0
"""Random programs: recorded, compiled, replayed, compared. No lab, no rights. `make programs-hunt`: more."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import programs_hunt
from davidlib import build
from helpers import ordercases

TREE = Path(__file__).resolve().parents[2]
SEED, COUNT = 1, 60


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> programs_hunt.Tools:
    build.ensure("david-trace")
    build.ensure("david-compile")
    build.ensure("david-replay")
    return programs_hunt.Tools(programs_hunt.build(tmp_path_factory.mktemp("program") / "random-program"))


def test_random_programs_are_replayed(tools: programs_hunt.Tools, tmp_path: Path) -> None:
    """Tree of the trace, results, tree of the replay: all as in the original. No wait that cannot end."""
    found, together = programs_hunt.hunt(tools, SEED, COUNT, programs_hunt.KINDS, tmp_path)
    assert not found and not together


def test_a_compiler_whose_execs_wait_for_others_is_caught(
    tools: programs_hunt.Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what judges random programs. In the trace the exec returns last: in recorded ones by chance."""
    planted = tmp_path / "planted"
    rooms = [TREE / "tools" / room for room in ("compile", "calls", "common")]
    sources = [path for room in rooms for path in sorted(room.glob("*.c"))]
    flags = ["-O1", "-std=gnu11", "-D_GNU_SOURCE", "-DCOMPILE_PLANT"]
    subprocess.run(["cc", *flags, "-o", planted, *sources, "-lsqlite3", "-lzstd", "-lz"], check=True)
    trace = ordercases.Trace()
    ordercases.an_exec_closes_at_one_instant(trace)
    trace.finish(tmp_path / "t.db")

    def said_of(top: Path) -> list[str]:
        top.mkdir()
        subprocess.run([planted, tmp_path / "t.db", top / "t.wl"], check=True)
        return programs_hunt.judge(programs_hunt.replay(tools, top, "afap"))

    assert not said_of(tmp_path / "without")
    monkeypatch.setenv("COMPILE_PLANT", "1")
    assert any("stood still" in said for said in said_of(tmp_path / "with"))
