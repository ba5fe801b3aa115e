# SPDX-License-Identifier: GPL-2.0
"""Every command line of the documents is one that the parsers know, and those that need neither lab, rights
nor somebody's files are run as they stand. README's first session is run in a lab of its own.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from davidlib import build
from davidlib.source import tracked
from helpers.davidtool import program

TREE = Path(__file__).resolve().parents[2]
DOCUMENTS = [TREE / "README.md", *sorted((TREE / "docs").glob("*.md")),
             *(TREE / name for name in tracked(TREE) if name.name == "WHY.md")]
PROGRAMS = ("david-sim", "david-store", "david-classify")
COMMAND = re.compile(rf"(?<![\w/.-])(?:tools/)?(david|(?:build/)?(?:{'|'.join(PROGRAMS)})) (?=[a-z])")
INLINE = re.compile(r"`([^`]+)`")
# Commands that change nothing but files in the directory where they run, and ask no device.
HARMLESS = {"profile", "plan", "schema", "sim", "bench --example", "fault presets"}
# A word that stands for one of the reader's.
PLACEHOLDER = re.compile(r"^[A-Z][A-Z0-9]*$|…|\.\.\.|^\[|\]$|\||^/dev/|^/mnt|[()<>]")


@dataclass(frozen=True)
class Line:
    where: str
    code: bool  # indented, to be typed as it stands
    program: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join([self.program, *self.words])


def split(text: str) -> tuple[str, ...]:
    """A line's words up to its comment, the program's own after `--`, a pipe or the next command."""
    text = re.split(r"\s+#|\s+&&|\s+\|\s|\s{3,}|[;]|\s[<>]|\\$", text)[0]
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    return tuple(words[: words.index("--")] if "--" in words else words)


def lines_of(name: str, text: str) -> Iterator[Line]:
    """Of the indented lines every command; of the prose what stands in backticks."""
    text = re.sub(r"\\\n\s*", " ", text)
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            fenced = not fenced
        code = fenced or line.startswith("    ")
        for part in re.split(r"\s{3,}", line.strip()) if code else INLINE.findall(line):
            found = COMMAND.match(part)
            if found:
                words = split(part[found.end():])
                yield Line(f"{name}:{number}", code, found[1].removeprefix("build/"), words)


def every_line() -> list[Line]:
    return [line for path in DOCUMENTS for line in lines_of(path.name, path.read_text())]


def subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    return next((dict(action.choices) for action in parser._actions
                 if isinstance(action, argparse._SubParsersAction)), {})


def unknown_of_david(parser: argparse.ArgumentParser, words: tuple[str, ...]) -> Iterator[str]:
    """Words that are no command, and options that the command has not."""
    known = set(parser._option_string_actions)
    rest = list(words)
    while rest and (below := subparsers(parser)):
        word = rest.pop(0)
        if word.startswith("-"):
            continue
        names = [one for one in re.split(r"[|,]", word.strip("[]{}")) if one]
        if any(PLACEHOLDER.search(name) for name in names):
            return
        if missing := [name for name in names if name not in below]:
            yield f"no command {missing[0]}"
            return
        parser = below[names[0]]
        known |= set(parser._option_string_actions)
    for word in rest:
        for option in re.findall(r"(?:^|(?<=[\[(|,]))--?[a-z][a-z0-9-]*", word):
            if option not in known and not (len(option) > 2 and option[:2] in known and option[1] != "-"):
                yield f"no option {option}"


@functools.cache
def help_of(name: str, *words: str) -> str:
    line = [TREE / "build" / name, *words, "--help"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def unknown_of_program(name: str, words: tuple[str, ...]) -> Iterator[str]:
    """By its --help, and by that of the command."""
    build.ensure(name)
    text = help_of(name)
    if words and not words[0].startswith("-"):
        if not re.search(rf"\b{re.escape(words[0])}\b", text):
            yield f"no command {words[0]}"
            return
        text += help_of(name, words[0])
    for word in words:
        for option in re.findall(r"(?:^|(?<=[\[(|]))--[a-z][a-z0-9-]*", word):
            if not re.search(rf"(?<![\w-]){option}(?![\w-])", text):
                yield f"no option {option}"


def wrong(lines: list[Line]) -> list[str]:
    parser = program().parser_of()
    return [f"{line.where}: '{line}': {what}" for line in lines for what in (
        unknown_of_david(parser, line.words) if line.program == "david" else
        unknown_of_program(line.program, line.words))]


def test_each_command_line_of_the_documents_is_one_that_there_is() -> None:
    lines = every_line()
    assert len(lines) > 150
    assert wrong(lines) == []


@pytest.mark.parametrize("text,what", [
    ("    david creat big --backing /dev/ram0\n", "no command creat"),
    ("    david create big --baking /dev/ram0\n", "no option --baking"),
    ("By `david pool shoe POOL` you see it.\n", "no command shoe"),
    ("    david pool show POOL [--jason]\n", "no option --jason"),
    ("    build/david-sim bench --profil x\n", "no option --profil"),
    ("`david-sim bensh`\n", "no command bensh"),
])
def test_a_wrong_command_line_is_found(text: str, what: str) -> None:
    """Planted."""
    [found] = wrong(list(lines_of("planted.md", text)))
    assert found.endswith(what)


def runnable(line: Line) -> bool:
    start = " ".join(line.words[:2])
    if not line.code or line.program != "david" or not (line.words[0] in HARMLESS or start in HARMLESS):
        return False
    if any(PLACEHOLDER.search(word) for word in line.words):
        return False
    # A file that only the reader has.
    return not any(re.search(r"\.(?!profile$)[a-z0-9.]+$", word) for word in line.words)


RUN = sorted({str(line): line for line in every_line() if runnable(line)}.values(), key=str)


def test_enough_of_them_are_run() -> None:
    assert len(RUN) >= 6, [str(line) for line in RUN]


# A profile of a data sheet is fitted: 15 s of CPU time.
@pytest.mark.parametrize("line", [
    pytest.param(line, marks=pytest.mark.seldom if line.words[:2] == ("profile", "new") else (), id=str(line))
    for line in RUN])
def test_it_runs_as_it_stands(tmp_path: Path, line: Line) -> None:
    """Status 2 is an answer with a doubt."""
    (tmp_path / "tests").symlink_to(TREE / "tests")  # lines have names of the tree's files
    done = subprocess.run([sys.executable, TREE / "tools/david", *line.words], cwd=tmp_path,
                          capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode in (0, 2), f"{line.where}: {done.stderr}"
    assert done.stdout or any(tmp_path.iterdir()), f"{line.where}: it says nothing and makes nothing"


def session(text: str) -> tuple[str, list[list[str]]]:
    """README's first session: its commands, and each line with a figure that README shows of their output."""
    section = text.split("## A first session\n")[1].split("\n## ")[0]
    typed, printed, *_ = re.findall(r"(?:^    .*\n)+", section, re.MULTILINE)
    return typed, [line.split() for line in printed.split("\n") if re.search(r"\d", line)]


# By which share the figures of a line may differ, by how it begins. Each system call of the tools takes a
# nanosecond or more of the virtual clock, and then other requests meet in the queue. With up to 400 looks at
# the clock before each command (six sessions, 2026-11-29) the means of reads differed by 2.6 % and their
# count by 3.5, those of writes by 0.15, the time that the drive was busy by 0.55 and its rate by 0.15: this
# is twice as much, and for writes more than what a change of the tools came to (5,159). What is not here did
# not differ.
NOISE = {"read": 0.07, "write": 0.01, "drive busy": 0.012}
FIGURE = re.compile(r"\d[\d.]*")


def noise_of(line: list[str]) -> float:
    return NOISE.get(" ".join(itertools.takewhile(lambda word: not FIGURE.fullmatch(word), line)), 0)


def is_said(shown: list[str], said: list[list[str]]) -> bool:
    """Is there a line of the same words, whose figures differ by no more than the noise?"""
    def same(one: str, other: str) -> bool:
        if not FIGURE.fullmatch(one) or not FIGURE.fullmatch(other):
            return one == other
        return abs(float(one) - float(other)) <= noise_of(shown) * float(other)

    return any(len(line) == len(shown) and all(map(same, shown, line)) for line in said)


def planted(shown: list[str]) -> Iterator[list[str]]:
    """The line with each of its figures wrong: by more than twice the noise, or in its last digit."""
    for at, word in enumerate(shown):
        if FIGURE.fullmatch(word):
            step = max(2.5 * noise_of(shown) * float(word), 10.0 ** -len(word.partition(".")[2]))
            for wrong in (float(word) + step, float(word) - step):
                yield [*shown[:at], f"{wrong:.{len(word.partition('.')[2])}f}", *shown[at + 1:]]


def test_a_figure_of_a_session_may_differ_by_its_noise_and_no_more() -> None:
    shown = "write 416.1 ms mean response of 5140 requests".split()
    for count, good in ((5140, True), (5159, True), (5188, True), (5200, False), (5080, False)):
        said = f"write 416.1 ms mean response of {count} requests"
        assert is_said(shown, [["kept", "1"], said.split()]) is good, count
    assert not is_said("squashed 524288 2.00 GiB".split(), ["squashed 524289 2.00 GiB".split()])
    assert not is_said("mean 0 ns".split(), ["mean 0 us".split(), "mean 1 ns".split()])
    assert [line[-1] for line in planted(["kept", "9"])] == ["10", "8"]


@pytest.mark.seldom
def test_the_first_session_of_the_readme_prints_what_it_says() -> None:
    """The virtual clock repeats it to the nanosecond, as long as the tools are the same."""
    typed, printed = session((TREE / "README.md").read_text())
    assert len(typed.split("\n")) > 8 and len(printed) > 8
    david = [sys.executable, TREE / "tools" / "david"]
    done = subprocess.run(
        [*david, "lab", "run", "--virtual-time", "--sealed", "--memory", "2G", "--", "bash", "-e"],
        input=f"PATH=/run/david/tools:$PATH\n{typed}", cwd=TREE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    said = [line.split() for line in done.stdout.split("\n")]
    assert [line for line in printed if not is_said(line, said)] == [], done.stdout
    wrong = [line for shown in printed for line in planted(shown)]
    assert len(wrong) >= 30 and [line for line in wrong if is_said(line, said)] == []
