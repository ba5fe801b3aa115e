# SPDX-License-Identifier: GPL-2.0
"""The release tarball: the same bytes each time, from a clone and from a tarball; what works in one without
git. No lab.
"""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from davidlib import source
from helpers.scripts import loaded

TREE = Path(__file__).resolve().parents[2]
DIST = TREE / "tools/packaging/dist"
WHEN = 1_700_000_000


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist") / "first.tar.xz"
    assert loaded(DIST).write(out, WHEN, preset=0) == len(source.whole(TREE))
    return out


@pytest.fixture(scope="module")
def unpacked(packed: Path) -> Path:
    with tarfile.open(packed) as tar:
        tar.extractall(packed.parent, filter="tar")
    return next(path for path in packed.parent.iterdir() if path.is_dir())


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """All programs of /usr/bin but git."""
    top = tmp_path_factory.mktemp("bin")
    for directory in ("/usr/bin", "/usr/sbin", "/bin", "/sbin"):
        for entry in os.scandir(directory):
            if not entry.name.startswith("git") and not (top / entry.name).is_symlink():
                (top / entry.name).symlink_to(entry.path)
    return str(top)


def run(unpacked: Path, path: str, *words: str, **more: str) -> str:
    done = subprocess.run(
        words, cwd=unpacked, env=os.environ | {"PATH": path} | more, capture_output=True, text=True
    )
    assert not done.returncode and "Traceback" not in done.stderr, (
        words,
        done.stdout[-3000:],
        done.stderr[-3000:],
    )
    return done.stdout


def test_the_same_tree_gives_the_same_bytes_whatever_its_files_dates_and_owners_are(
    packed: Path, unpacked: Path, tmp_path: Path
) -> None:
    for name in ("README.md", "tools/david"):
        os.utime(unpacked / name, (1, 1))
        os.chmod(unpacked / name, 0o700 if name == "tools/david" else 0o600)
    (unpacked / "build").mkdir(exist_ok=True)
    (unpacked / "build" / "left.o").write_text("of a build\n")
    (unpacked / "tools" / "sim" / "left.o").write_text("of a build\n")
    again = tmp_path / "again.tar.xz"
    loaded(unpacked / DIST.relative_to(TREE)).write(again, WHEN, preset=0)
    assert again.read_bytes() == packed.read_bytes()


@pytest.mark.seldom
def test_a_changed_file_gives_other_bytes(packed: Path, unpacked: Path, tmp_path: Path) -> None:
    text = (unpacked / "README.md").read_text()
    (unpacked / "README.md").write_text(text + "\n")
    try:
        loaded(unpacked / DIST.relative_to(TREE)).write(tmp_path / "other.tar.xz", WHEN, preset=0)
    finally:
        (unpacked / "README.md").write_text(text)
    assert (tmp_path / "other.tar.xz").read_bytes() != packed.read_bytes()


def test_a_tarballs_files_are_roots_and_of_one_date(packed: Path) -> None:
    with tarfile.open(packed) as tar:
        entries = tar.getmembers()
    assert {
        (entry.uname, entry.uid, entry.mtime, entry.mode & 0o022) for entry in entries if not entry.issym()
    } == {("root", 0, WHEN, 0)}
    assert any(entry.issym() for entry in entries)


def test_files_of_a_tree_without_git_are_those_of_the_clone(unpacked: Path) -> None:
    assert source.whole(unpacked) == source.whole(TREE)
    assert source.tracked(unpacked) == source.tracked(TREE)
    assert source.programs(unpacked) == source.programs(TREE)


def test_a_tree_within_a_repository_that_is_another_one_is_walked(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.c").touch()
    assert source.tracked(tmp_path / "tree") == [Path("a.c")]


@pytest.mark.seldom
def test_a_tarball_without_git_knows_its_commands_its_questions_and_its_rooms(
    unpacked: Path, path: str
) -> None:
    assert "create" in run(unpacked, path, "tools/david", "--help")
    (unpacked / "build").mkdir(exist_ok=True)
    (unpacked / "build" / "q.toml").write_text(run(unpacked, path, "tools/david", "bench", "--example"))
    assert "varmail" in run(unpacked, path, "tools/david", "bench", "--workloads")
    run(unpacked, path, "tests/rooms")
    run(unpacked, path, "tools/files", "--check")


@pytest.mark.seldom
def test_a_tarball_without_git_builds_its_simulator_lists_a_questions_runs_and_tests_itself(
    unpacked: Path, path: str
) -> None:
    run(unpacked, path, "make", "sim")
    assert "capacity" in run(unpacked, path, "build/david-sim", "profile", "show", "toshiba-p300-3tb")
    (unpacked / "build" / "q.toml").write_text(run(unpacked, path, "tools/david", "bench", "--example"))
    assert "6 runs" in run(unpacked, path, "tools/david", "bench", "build/q.toml", "--list")
    run(unpacked, path, "make", "unit", "TEST=rangetable")
    for part in ("docs", "facts"):
        run(unpacked, path, f"tests/{part}")
