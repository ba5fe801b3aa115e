# SPDX-License-Identifier: GPL-2.0
"""Command lines of david and of its programs, drawn from david's own parsers and from what the programs'
--help says. Of a line no word is hostile, or a tenth, or four tenths. draw() makes one, with where it is to
run.

What has to be drawn by hand is here only: words that must not reach the machine, as it is the tester's own.
No process, uid or cgroup is named, no block device, and no directory outside of the sandbox.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

# Names of no disk and no pool that a tester may have.
NAMES = ("fuzzed-none", "fuzzed.none-0", "f=1", "a" * 127)
HOSTILE = (
    "",
    " ",
    "-",
    "--",
    "-1",
    "0",
    "1e999",
    "nan",
    "inf",
    "-inf",
    "NaN",
    "0x10",
    "1_000",
    "999999999999999999999999",
    "9223372036854775807",
    "18446744073709551616",
    "1.5",
    "-0",
    "١٢",
    "ä",
    "日本",
    "\udcff\udcfe",
    "a\nb",
    "\t",
    "%s%n",
    "{0}",
    "$(true)",
    "a" * 300,
    "a/" * 3000,
    "/dev/null",
    "/dev/full",
    "/nosuch/x",
    "=",
    "a=",
    "=b",
    ";",
    "*",
    "[",
    "a b",
    "'",
    '"',
    "\\",
    "#",
    "1:2",
    "1,2",
    "1-2",
    "5-1",
    "true",
    "None",
    "8E",
    "1e3",
    "1K",
    "0.5s",
)
SIZES = ("1T", "64K", "512", "1M", "20TB", "1.5GiB", "7E")
TIMES = ("1ms", "10s", "100us", "0s", "1ns", "3min")
NUMBERS = ("1", "2", "3", "7", "16", "100")
# Of commands that run another one: what they run.
RUN = (("true",), ("false",), ("sh", "-c", "exit 3"), ("nosuch",), ("",), ("/dev/null",), ("cat", "text"))
PASSES_ON = (
    ("lab", "run"),
    ("lab", "shell"),
    ("lab", "icount"),
    ("trace", "record"),
    ("trace", "causal"),
    ("record",),
)
# Who is named here is traced, and a shell waits for its user.
NOT_OPTIONS = ("--pid", "--uid", "--cgroup", "--scheduler")
PLACES = ("here", "read-only", "removed", "full")
CLOSED = ("", "in", "out", "err", "out is full", "pipe nobody reads")
WORDS = {
    "profile": "capacity=1GiB\nrpm=7200\nheads=2\nname=small\n",
    "question.toml": '[disk]\nprofile = "toshiba-p300-3tb"\n[[filesystem]]\ntype = "ext4"\n'
    '[[workload]]\nkind = "varmail"\n',
    "strace.log": '1 1.000000 openat(AT_FDCWD, "/a", O_RDONLY) = 3 <0.1>\n1 1.1 close(3) = 0 <0.000010>\n',
    "blkparse.txt": "  8,0  1  1  0.000000000  697  Q  R 223490 + 8 [kjournald]\n",
    "msr.csv": "128166372003061629,hm,1,Read,383496192,3276,413\n128166372016382155,hm,1,Write,310983,16,7\n",
    "trace.csv": "op,lbn,blocks,delay_us,measured_us\nR,0,8,0,100\nW,64,8,10,300\n",
    "text": "no format of anybody's\n" * 3,
    "empty": "",
    "nested.json": "[" * 5000,
    "wrong.toml": "[disk\nprofile = 1\n[[filesystem]]\n[filesystem]\n",
    "types.toml": "question = 7\nrepeats = -1\nwhere = []\n[disk]\nprofile = {a = 1}\nbacking = true\n",
    "figures.json": json.dumps(
        {"kind": "replay", "runs": [], "options": {}, "cold": False, "environment": {}}
    ),
    "results.json": json.dumps({"jobs": [{"read": None, "jobname": []}], "fio version": 3}),
    "stats.json": json.dumps({"name": "fuzzed-none", "requests": []}),
    "-rf": "text\n",
    "ä.txt": "ä\n",
    "a\nb": "x\n",
    "\udcff.txt": "x\n",
}


class Dice(random.Random):
    hostile = 0.4  # the share of words that are


@dataclass
class Line:
    """What is run, and where."""

    program: str
    words: list[str]
    place: str = "here"
    closed: str = ""
    nobody: bool = False
    environment: dict[str, str] = field(default_factory=dict)

    def passes_on(self) -> bool:
        """May its status be another program's?"""
        given = [word for word in self.words if not word.startswith("-")]
        return any(tuple(given[: len(words)]) == words for words in PASSES_ON)

    def __str__(self) -> str:
        where = [
            self.place,
            self.closed and f"{self.closed} closed",
            self.nobody and "as nobody",
            *(f"{key}={value}" for key, value in self.environment.items()),
        ]
        return f"{self.program} {self.words!r} ({', '.join(filter(None, where))})"


def sandbox(top: Path) -> tuple[str, ...]:
    """Files of many formats, and what is no file; their names."""
    for name, text in WORDS.items():
        (top / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    (top / "random").write_bytes(random.Random(1).randbytes(5000))
    (top / "utf16.txt").write_bytes("ext4 läuft\n".encode("utf-16"))
    (top / "nul.txt").write_bytes(b"a\0b\n" * 9)
    (top / "log.gz").write_bytes(gzip.compress(WORDS["strace.log"].encode())[:-4])
    (top / "foreign.db").write_bytes(b"")
    with sqlite3.connect(top / "foreign.db") as db:
        db.execute("CREATE TABLE calls (a, b)")
    (top / "cut.db").write_bytes((top / "foreign.db").read_bytes()[:700])
    with (top / "sparse").open("wb") as file:
        file.truncate(1 << 26)
    (top / "directory").mkdir()
    (top / "of.result").mkdir()
    (top / "of.result" / "results.sqlite").write_bytes(b"no database")
    (top / "dangling").symlink_to("nowhere")
    (top / "loop").symlink_to("loop")
    (top / "unreadable").write_text("secret\n")
    (top / "unreadable").chmod(0)
    return tuple(sorted(os.listdir(top)))


def _value(chance: Dice, action: argparse.Action, files: tuple[str, ...]) -> str:
    """One word for an argument: as a rule what it asks for."""
    if chance.random() < chance.hostile:
        return chance.choice((*HOSTILE, *files))
    metavar = str(action.metavar or "")
    choices = tuple(map(str, action.choices or getattr(action.type, "words", ())))
    if choices:
        return chance.choice(choices)
    kind = getattr(action.type, "__name__", "")
    if kind == "name_arg" or metavar in ("NAME", "POOL", "DISK"):
        return chance.choice(NAMES)
    if kind == "size_arg" or "SIZE" in metavar or metavar == "M":
        return chance.choice(SIZES)
    if metavar in ("TIME", "AGE"):
        return chance.choice(TIMES)
    if kind in ("int", "float", "_count", "seconds", "_depth_arg", "one_in_arg"):
        return chance.choice(NUMBERS)
    if metavar in ("P", "PROFILE"):
        return chance.choice(("toshiba-p300-3tb", "profile", "toshiba", "samsung"))
    if "=" in metavar:
        return chance.choice(("rpm=5400", "seed=3", "write_cache=off", "rpm=", "zone=1", "faults=none"))
    return chance.choice(files)


def _take(chance: Dice, action: argparse.Action, files: tuple[str, ...]) -> list[str]:
    if action.nargs == 0:
        return []
    if action.nargs in ("...", argparse.REMAINDER) or action.dest == "command":
        return list(chance.choice(RUN))
    most = 1 if action.nargs is None else 3
    least = 0 if action.nargs in ("?", "*") else 1
    return [_value(chance, action, files) for _ in range(chance.randint(least, most))]


def _misspelt(chance: Dice, word: str) -> str:
    way = chance.randrange(4)
    if way == 0:
        return word[: chance.randint(1, len(word))]
    if way == 1:
        return word + chance.choice("xs=")
    if way == 2:
        return word.upper()
    at = chance.randrange(len(word))
    return word[:at] + word[at + 1 :]


def of_parser(chance: Dice, parser: argparse.ArgumentParser, files: tuple[str, ...]) -> list[str]:
    """A line for one command, with the options of the parsers on the way to it."""
    words: list[str] = []
    tail: list[str] = []
    options = [
        action
        for action in parser._actions
        if action.option_strings and not set(action.option_strings) & {"--help", "--version", *NOT_OPTIONS}
    ]
    for action in options:
        if not action.required and chance.random() > 1.5 / len(options):
            continue
        if action.required and chance.random() < 0.05:
            continue
        for _ in range(chance.choice((1, 1, 1, 1, 2))):
            name = chance.choice(action.option_strings)
            if chance.random() < 0.03:
                name = _misspelt(chance, name)
            values = _take(chance, action, files)
            if chance.random() < 0.03:
                values = []
            joined = (
                [f"{name}={values[0]}"]
                if len(values) == 1 and name[:2] == "--" and chance.random() < 0.3
                else [name, *values]
            )
            words += joined
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            name = chance.choice(list(action.choices))
            below = of_parser(chance, action.choices[name], files)
            return [*words, _misspelt(chance, name) if chance.random() < 0.02 else name, *below]
        if not action.option_strings and chance.random() > 0.03:
            taken = _take(chance, action, files)
            tail += ["--", *taken] if action.dest == "command" and chance.random() < 0.8 else taken
    if chance.random() < 0.03:
        tail.append(chance.choice((*HOSTILE, "--help", "--version")))
    return words + tail if chance.random() < 0.8 or "--" in tail else tail + words


def of_help(chance: Dice, text: str, files: tuple[str, ...]) -> list[str]:
    """A line for a program in C, by the usage lines of its --help."""
    lines = re.findall(r"^(?:usage:|Usage:| {5,7}) ?david-[a-z-]+ (.*(?:\n {20,}.*)*)", text, re.M)
    words: list[str] = []
    for part in re.sub(r"[\[\];]|\.\.\.", " ", chance.choice(lines)).split():
        if part in NOT_OPTIONS or part in ("tells", "more", "with") or part.startswith("david-"):
            continue
        choices = part.split("|")
        if part == "|":
            continue
        if part.startswith("--"):
            words += [part] if chance.random() < 0.6 else []
        elif part[:1].islower():
            words.append(chance.choice(choices) if chance.random() < 0.97 else _misspelt(chance, choices[0]))
        elif chance.random() < 0.97:
            words.append(
                chance.choice((*files, *files, *HOSTILE, *NUMBERS, "toshiba-p300-3tb", "5 members=4", "n=10"))
            )
    return words


def _around(chance: Dice, root: bool) -> dict[str, object]:
    """Half of the lines have the world as one expects it."""
    if chance.random() < 0.5:
        return {"nobody": root and chance.random() < 0.3}
    environment = dict(
        chance.choice(
            (
                {},
                {"LC_ALL": "C"},
                {"LC_ALL": "de_DE"},
                {"COLUMNS": "20"},
                {"TERM": ""},
                {"PYTHONIOENCODING": "ascii"},
                {"COLUMNS": "nan", "LINES": "0"},
                {"TMPDIR": "/nosuch"},
                {"HOME": "/nosuch", "XDG_CACHE_HOME": ""},
                {"PATH": ""},
                {"XDG_CACHE_HOME": "/dev/null"},
                {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
            )
        )
    )
    return {
        "place": chance.choice(PLACES),
        "closed": chance.choice(CLOSED),
        "environment": environment,
        "nobody": root and chance.random() < 0.3,
    }


def draw(
    seed: int, parser: argparse.ArgumentParser, helps: dict[str, str], files: tuple[str, ...], root: bool
) -> Line:
    """The line of a seed."""
    chance = Dice(seed)
    chance.hostile = chance.choice((0.0, 0.1, 0.4))
    around = _around(chance, root)
    if chance.random() < 0.85:
        return Line("david", of_parser(chance, parser, files), **around)  # type: ignore[arg-type]
    program = chance.choice(list(helps))
    return Line(program, of_help(chance, helps[program], files), **around)  # type: ignore[arg-type]
