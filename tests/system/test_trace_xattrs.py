# SPDX-License-Identifier: GPL-2.0
"""Extended attributes: recorded with what they say, and replayed. No lab, no rights."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DAVID = Path(__file__).resolve().parents[2] / "tools/david"

PROGRAM = """
import ctypes, os

def refused(call, *words, **more):
    try:
        call(*words, **more)
    except OSError:
        return
    raise AssertionError(words)

os.mkdir("d")
open("f", "w").close()
os.symlink("f", "l")
os.setxattr("d", "user.dir", bytes(range(256)))
os.setxattr("f", "user.a", b"one", os.XATTR_CREATE)
refused(os.setxattr, "f", "user.a", b"two", os.XATTR_CREATE)
refused(os.setxattr, "f", "user.b", b"two", os.XATTR_REPLACE)
refused(os.setxattr, "l", "user.a", b"two", follow_symlinks=False)
refused(os.getxattr, "f", "user.none")
refused(os.removexattr, "f", "user.none")
os.setxattr("l", "user.a", b"by the link")
fd = os.open("f", os.O_RDONLY)
os.setxattr(fd, "user.fd", b"")
os.setxattr(fd, "user.gone", b"x")
os.removexattr(fd, "user.gone")
assert os.getxattr(fd, "user.a") == b"by the link" and len(os.listxattr(fd)) == 2
assert os.getxattr("old", "user.was") == b"there" and os.listxattr("old")
os.removexattr("old", "user.removed")
for number, words in (463, (b"user.at",)), (464, (b"user.at",)), (465, ()), (466, (b"user.at",)):
    room = ctypes.create_string_buffer(b"by a structure", 64)
    struct = (ctypes.c_uint64 * 2)(ctypes.addressof(room), 14)
    rest = [ctypes.c_void_p(ctypes.addressof(struct)), ctypes.c_size_t(16)]
    if number == 465:
        rest = [room, ctypes.c_size_t(64)]
    ctypes.CDLL(None).syscall(number, -100, b"d", 0, *words, *(rest if number < 466 else []))
"""


def attributes(top: Path) -> dict[str, dict[str, bytes]]:
    found = {}
    for path in sorted(top.rglob("*")):
        names = os.listxattr(path, follow_symlinks=False)
        found[str(path.relative_to(top))] = {
            name: os.getxattr(path, name, follow_symlinks=False) for name in names if name.startswith("user.")
        }
    return found


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "old").touch()
    try:
        os.setxattr(work / "old", "user.was", b"there")
    except OSError:
        pytest.skip("no extended attributes here")
    os.setxattr(work / "old", "user.removed", b"soon")
    return work


def replayed(work: Path, program: str) -> tuple[dict, Path, int]:
    """The replay's figures, its directory, and the exit status of `record`."""
    top = work.parent
    words: list[str | Path] = [DAVID, "trace", "record", "-o", top / "t.db", "--share-disk"]
    words += ["--", sys.executable, "-S", "-c", program]
    recorded = subprocess.run(words, cwd=work, check=False, capture_output=True, timeout=60).returncode
    subprocess.run([DAVID, "compile", top / "t.db", "-o", top / "t.wl"], check=False, capture_output=True)
    (top / "again").mkdir()
    words = [DAVID, "replay", top / "t.wl", top / "again", "--share-disk", "-o", top / "r.json"]
    subprocess.run(words, check=False, capture_output=True, timeout=60)
    (run,) = json.loads((top / "r.json").read_text())["runs"]
    return run, top / "again" / work.relative_to("/"), recorded


def test_what_is_set_is_set_again_and_what_was_found_was_there(work: Path) -> None:
    run, again, recorded = replayed(work, PROGRAM)
    assert not recorded and run["same"] == run["compared"] > 30
    assert {"user.a", "user.fd"} == set(attributes(work)["f"]) and attributes(again) == attributes(work)


def test_attributes_of_the_kernels_own_are_left_alone_and_counted(work: Path) -> None:
    program = """
import os
for name in "security.david", "trusted.david":
    try:
        os.setxattr("old", name, b"x")
    except OSError:
        pass
"""
    run, again, _ = replayed(work, program)
    assert run["same"] == run["compared"]
    done = subprocess.run(
        [DAVID.parents[1] / "build/david-compile", "--stats", work.parent / "t.db", work.parent / "s.wl"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert dict(line.split() for line in done.stdout.splitlines())["without-rights"] == "2"
    assert "left alone: 1 calls about security.david, 1 calls about trusted.david\n" in done.stderr
    assert not [name for name in os.listxattr(again / "old") if not name.startswith("user.")]
