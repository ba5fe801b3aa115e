# SPDX-License-Identifier: GPL-2.0
"""david bench with where = "here": on the lab machine itself, as on any with a kernel that takes modules."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from davidlib.bench import labrun, localhost, runs, spec, testbed
from helpers.guest import TREE, dm, run
from helpers.victim import wait_until

from cases import case

DISK = 'where = "here"\n[disk]\nprofile = "hitachi-hds721010kla330"\nsize = "8G"\nbacking = "64M"\n'
UNMISTAKABLE = "nobodys-machine"
READS = '[[filesystem]]\ntype = "none"\n[[workload]]\nkind = "random-read"\n'


def described(text: str) -> dict[str, Any]:
    [only] = runs.expand(spec.parse(text, "here.toml", Path("/")))
    return only.described


def nothing_is_in_use() -> bool:
    loops = run("losetup", "--noheadings", "--output", "BACK-FILE")
    return not dm.exists(testbed.NAME) and localhost.SCRATCH not in loops


def nothing_is_left() -> bool:
    return nothing_is_in_use() and not list(Path(localhost.SCRATCH).glob("dm-david-bench-*"))


def numbers(value: Any, path: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from numbers(inner, path)
    elif isinstance(value, (int, float)):
        yield path, value


def check_no_surroundings(text: str) -> None:
    """In a run's figures is no date, in any unit, and no place or name of this machine."""
    now, result = time.time(), json.loads(text)["result"]
    dates = {path: value for path, value in numbers(result, "result")
             if any(0 <= now - value / unit < 600 for unit in (1, 10**3, 10**6, 10**9))}
    assert not dates and now > 10**9, (dates, now)
    words = json.dumps(result)
    for word in (localhost.SCRATCH, "dm-david-bench-", UNMISTAKABLE):
        at = words.find(word)
        assert at < 0, (word, words[max(0, at - 100) : at + 100])


@case
def a_bench_on_this_machine_makes_a_disk_and_removes_it() -> None:
    mkfs = '[[filesystem]]\ntype = "ext4"\n[[workload]]\nkind = "metadata"\nfiles = 30\n'
    before = os.uname().nodename
    for text in (mkfs, READS + "operations = 20\n"):
        socket.sethostname(UNMISTAKABLE)
        try:
            came = labrun.execute(described(DISK + text))
        finally:
            socket.sethostname(before)
        assert "text" in came, came
        check_no_surroundings(came["text"])
        result = json.loads(came["text"])["result"]
        assert result["operations"] >= 20 and result["seconds"] > 0, result
        assert nothing_is_left()


@case(seldom=True)
def a_bench_on_this_machine_that_fails_leaves_nothing() -> None:
    came = labrun.execute(described(
        DISK + '[[filesystem]]\ntype = "ext4"\nmkfs = ["-N", "many"]\n[[workload]]\nkind = "du"\n'))
    assert "mkfs.ext4" in came.get("error", ""), came
    assert nothing_is_left()
    came = labrun.execute(described(DISK.replace("[disk]", "timeout = 1\n[disk]") + READS))
    assert "random-read was not done after 1 s of real time" in came.get("error", ""), came
    assert nothing_is_left()


@case
def a_disk_of_that_name_that_is_there_is_left_alone() -> None:
    run("dmsetup", "create", testbed.NAME, "--table", "0 8 zero")
    try:
        came = labrun.execute(described(DISK + READS))
        assert "is there" in came.get("error", "") and dm.exists(testbed.NAME), came
    finally:
        run("dmsetup", "remove", testbed.NAME)
    assert nothing_is_left()


@case(seldom=True)
def a_bench_on_this_machine_that_is_killed_leaves_no_disk() -> None:
    text = json.dumps(described(DISK + READS + "operations = 100000\n"))
    program = "import json, sys; from davidlib.bench import labrun; labrun.execute(json.loads(sys.argv[1]))"
    env = os.environ | {"PYTHONPATH": str(TREE / "tools")}
    worker = subprocess.Popen([sys.executable, "-c", program, text], env=env)
    wait_until(lambda: dm.exists(testbed.NAME), "the disk", 600)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    wait_until(nothing_is_in_use, "no disk and no loop device", 600)
    for left in Path(localhost.SCRATCH).glob("dm-david-bench-*"):
        # The worker that made it was killed.
        run("rm", "-r", str(left))
    wait_until(nothing_is_left, "nothing left", 600)


@case
def the_loop_device_of_a_file_that_was_taken_away_is_found() -> None:
    """Who removes a killed worker's directory may be faster than its clean-up."""
    path = f"{localhost.SCRATCH}/taken away"
    Path(path).write_bytes(bytes(1 << 20))
    assert not testbed.loops_of(path)
    loop = run("losetup", "--find", "--show", path).strip()
    try:
        assert testbed.loops_of(path) == [loop]
        os.unlink(path)
        assert testbed.loops_of(path) == [loop]
    finally:
        run("losetup", "--detach", loop)
    assert not testbed.loops_of(path)
