# SPDX-License-Identifier: GPL-2.0
"""A run of `david bench` under virtual time is the same to the byte, whoever asks for it, from where, and
whatever the lab did before: in a short form. `make repeat-test` has the long one, beside other work, too.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from davidlib.bench import runs, spec
from helpers import repeating

TREE = Path(__file__).resolve().parents[2]
from helpers.units import FULL  # noqa: E402

# It reads from where all that it sees of its surroundings says, so that its times tell of them.
LOOKS = r"""
place() {
    (date +%s%N; env | sort; pwd; echo $$; head -c 16 /dev/urandom; cat /proc/uptime /proc/self/stat
        ls -a / /tmp /run/open/0) | cksum | cut -d' ' -f1
}
for i in 1 2 3 4 5; do
    dd if=$TOP of=/dev/null bs=4096 count=1 skip=$(place) iflag=direct status=none
done
"""
SPECS = {
    # So long that a lab would be out of free memory, if ext4 made its block bitmaps in advance.
    "ext4": """
seeds = [3]
[disk]
profile = "seagate-exos-x20-20tb"
[[workload]]
kind = "varmail"
""",
    "ssd": """
[disk]
profile = "samsung-pm883"
[[filesystem]]
type = "xfs"
[[workload]]
kind = "varmail"
files = 50
operations = 200
""",
    "looks": f"""
[disk]
profile = "seagate-exos-x20-20tb"
[[filesystem]]
type = "none"
[[workload]]
kind = "command"
command = '''{LOOKS}'''
""",
}


def bench(name: str, plant: list[str], env: dict[str, str], cwd: Path) -> str:
    [run] = runs.expand(spec.parse(SPECS[name], name, Path("/")))
    asked = json.dumps({"run": run.described, "plant": plant})
    words = [sys.executable, str(Path(repeating.__file__).resolve())]
    done = subprocess.run(words, input=asked, env=env, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@functools.cache
def usual(name: str) -> str:
    return bench(name, [], dict(os.environ), TREE)


def elsewhere(name: str, place: Path, plant: list[str]) -> str:
    """For another user, as it were: another place, another environment."""
    deep = place / ("a directory with a long name " * 6) / "tmp"
    deep.mkdir(parents=True, exist_ok=True)
    env = dict(os.environ) | {
        "TMPDIR": str(deep), "PATH": f"{deep}:" * 40 + os.environ["PATH"], "LANG": "de_DE.UTF-8",
        "LC_ALL": "de_DE.UTF-8", "TERM": "vt100", "DAVID_SOMETHING": "x" * 999, "TZ": "Asia/Tokyo",
    }
    return bench(name, plant, env, deep)


LONG = pytest.mark.skipif(not FULL, reason="only with DAVID_SCALE=full; make repeat-test has such runs, too")


@pytest.mark.parametrize(
    ("name", "plant"),
    [pytest.param("ext4", ["forks"], marks=LONG), ("ssd", []),
     pytest.param("looks", ["forks"], marks=pytest.mark.seldom)],
)
def test_a_run_is_the_same_for_another_user_and_after_500_processes(
    name: str, plant: list[str], tmp_path: Path
) -> None:
    """The processes are the lab's first: which numbers the run's own have must not matter, either."""
    assert elsewhere(name, tmp_path, plant) == usual(name)


@pytest.mark.seldom
@pytest.mark.parametrize("plant", [["host's clock"], ["host's random numbers"], ["no beginning", "forks"]])
def test_a_lab_that_does_not_repeat_is_found(plant: list[str], tmp_path: Path) -> None:
    """By the run that looks at its surroundings."""
    assert elsewhere("looks", tmp_path, plant) != usual("looks")


@pytest.mark.parametrize("name", [pytest.param("ext4", marks=LONG), "looks", "ssd"])
def test_requests_are_late_by_no_more_than_looks_at_the_clock(name: str) -> None:
    """Which are 1 ns each. A disk of 20 us a request is late by a hundredth if that is 256."""
    result = json.loads(usual(name))["result"]
    delivered, late = result["stats"]["delivered"], result["stats"]["delivered_late_ns"]
    assert result["times"]["good"], result["times"]
    assert all(late[kind] <= 20 * count for kind, count in delivered.items()), (late, delivered)
