# SPDX-License-Identifier: GPL-2.0
"""Hostile command lines end as they should: a few of those of `make commands-hunt`, whose seeds are fixed;
and what was found by them, once each. No lab.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from davidlib import build
from helpers import commandlines
from helpers.davidtool import program

TREE = Path(__file__).resolve().parents[2]
DAVID = TREE / "tools" / "david"
COUNT = 25
NO_NAMESPACES = 77


def david(*words: str, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, DAVID, *words], stderr=subprocess.PIPE, text=True, **more)  # type: ignore[call-overload]


def hunt(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [TREE / "tests/system/commandlines_hunt.py", *words],
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )
    if done.returncode == NO_NAMESPACES:
        pytest.skip(done.stderr)
    return done


def test_hostile_command_lines_end_with_a_status_of_the_table_one_line_and_nothing_left() -> None:
    for name in (
        "david-sim",
        "david-store",
        "david-classify",
        "david-replay",
        "david-compile",
        "david-trace",
    ):
        build.ensure(name)
    done = hunt("--count", str(COUNT))
    assert not done.returncode and f"commandlines: {COUNT} lines" in done.stdout, done.stdout + done.stderr


def test_planted_faults_of_the_program_are_found() -> None:
    done = hunt("--planted")
    assert not done.returncode and "planted: 5 found" in done.stdout, done.stdout + done.stderr


def test_lines_repeat_with_their_seed_and_reach_every_command(tmp_path: Path) -> None:
    parser, files = program().parser_of(), commandlines.sandbox(tmp_path)
    helps = {"david-sim": "Usage: david-sim replay --profile P --trace T.csv --out OUT [--json]\n"}
    lines, again = (
        [commandlines.draw(seed, parser, helps, files, True) for seed in range(700)] for _ in range(2)
    )
    assert lines == again
    reached = {word for line in lines for word in line.words[:1]}
    assert {name for names in program().COMMANDS.values() for name in names} <= reached
    assert not {"--pid", "--uid", "--cgroup"} & {word for line in lines for word in line.words}


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_stream_that_the_caller_has_closed_is_no_files_number(closed: int, tmp_path: Path) -> None:
    """What a program that is called prints would go into the file that has got the number."""
    words = f'"$@" {closed}>&-' if closed else '"$@" <&-'
    done = subprocess.run(
        ["bash", "-c", words, "-", sys.executable, DAVID, "profile", "show", "toshiba-p300-3tb"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert not list(tmp_path.iterdir())
    assert "Traceback" not in done.stderr
    assert done.returncode == (1 if closed == 1 else 0), done


def test_a_standard_output_that_is_full_is_an_error_and_not_a_cut_answer() -> None:
    with open("/dev/full", "w") as full:
        done = david("fault", "presets", "latent-errors", "--size", "1T", "--json", stdout=full)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "No space left on device" in done.stderr


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("bench", "--help"), ("list", "--help")])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_help_that_cannot_be_written_is_an_error(words: tuple[str, ...], unbuffered: str) -> None:
    """argparse minds no full disk, if Python writes at once."""
    with open("/dev/full", "w") as full:
        done = david(*words, stdout=full, env=os.environ | {"PYTHONUNBUFFERED": unbuffered})
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert "No space left on device" in done.stderr


@pytest.mark.parametrize(
    "words", [("david-sim", "profile", "options"), ("david-classify", "--help"), ("david-trace", "calls")]
)
def test_a_program_whose_output_is_full_fails(words: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [build.ensure(words[0]), *words[1:]], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (
        done.returncode
        and done.stderr == f"{words[0]}: standard output could not be written; what it has is not whole\n"
    )


def test_a_directory_that_was_removed_is_said(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    done = subprocess.run(
        [
            "bash",
            "-c",
            'rmdir "$PWD"; exec "$@"',
            "-",
            sys.executable,
            DAVID,
            "bench",
            "--profile",
            "toshiba-p300-3tb",
            "--workload",
            "varmail",
            "--list",
        ],
        cwd=tmp_path / "gone",
        capture_output=True,
        text=True,
    )
    assert (
        done.returncode == 1
        and done.stderr
        == "david bench: the directory that it was called in is gone; call it in another one\n"
    )


def test_what_is_read_and_printed_is_the_same_in_every_locale(tmp_path: Path) -> None:
    """Of a locale without UTF-8 Python would read files as ASCII."""
    said = []
    for environment in (
        {"LC_ALL": "C.UTF-8"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ):
        done = subprocess.run(
            [sys.executable, DAVID, "plan", "--help"],
            capture_output=True,
            cwd=tmp_path,
            env=os.environ | environment,
        )
        assert not done.returncode and not done.stderr
        said.append(done.stdout)
    assert said[0] == said[1]


def test_a_file_that_begins_with_a_dash_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "-rf").write_text("no file system\n")
    for words, says in (
        (("classify", "--", "-rf"), "./-rf: no ext, btrfs or xfs file system there"),
        (("store", "info", "--", "-rf"), "./-rf"),
    ):
        done = david(*words, cwd=tmp_path, stdout=subprocess.PIPE)
        assert done.returncode == 1 and says in done.stderr and "unknown option" not in done.stderr, done


def test_of_a_trace_that_cannot_be_read_no_drawing_is_left(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("no trace\n")
    done = david("compile", "t", "-o", "w", "--dot", "d.dot", cwd=tmp_path, stdout=subprocess.PIPE)
    assert done.returncode == 1 and [path.name for path in tmp_path.iterdir()] == ["t"]


def test_a_drawing_that_has_no_room_is_an_error(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(
        "".join(
            f'1 {n}.0 openat(AT_FDCWD, "/a", O_RDONLY) = 3 <0.1>\n1 {n}.5 close(3) = 0 <0.1>\n'
            for n in range(400)
        )
    )
    assert not david(
        "trace", "import", "strace", "log", "-o", "t", cwd=tmp_path, stdout=subprocess.PIPE
    ).returncode
    done = david("compile", "t", "-o", "w", "--dot", "/dev/full", cwd=tmp_path, stdout=subprocess.PIPE)
    assert done.returncode == 1 and "/dev/full: it could not be written" in done.stderr


def test_a_program_that_fails_below_a_command_is_one_line() -> None:
    """As tar does when it unpacks a kernel's source onto a disk that is full."""
    for said, end in ((None, "see above, if it said why"), (b"x\ntar: no space\n", "tar: no space")):
        error = subprocess.CalledProcessError(2, ["tar", "-xJf", "a"], stderr=said)
        assert program().refusal(error) == f"tar failed with status 2: {end}"


def test_a_name_that_is_too_long_with_its_number_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    words = ["array", "create", "a" * 126, "--level", "1", "--members", "2", "--pool", "p"]
    monkeypatch.setattr(sys, "argv", ["david", *words])
    assert program().run() == 1
    said = capsys.readouterr().err
    assert "cannot be a device's name" in said and said.count("\n") == 1
