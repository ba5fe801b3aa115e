# SPDX-License-Identifier: GPL-2.0
"""Exit statuses: docs/REFERENCE.md has the table. No lab."""

from __future__ import annotations

import argparse
import re
import sqlite3
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from davidlib import build, losses
from davidlib.bench import loop, prepare
from davidlib.drive import profileword
from davidlib.drive.files import ProfileError
from davidlib.nearest import nearest
from davidlib.report import cli as report
from davidlib.replay import cli as replay
from helpers.davidtool import program
from test_bench_ids import spoil, sweep

TREE = Path(__file__).resolve().parents[2]
DAVID = TREE / "tools" / "david"
PROGRAMS = ("david-sim", "david-store", "david-classify", "david-trace", "david-compile", "david-replay")
SIM = ("replay", "validate", "bench", "blocks", "layout", "live", "physics", "profile")


def commands(parser: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command and every subcommand."""
    yield words
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from commands(below, (*words, name))


@pytest.fixture(scope="module")
def david() -> types.ModuleType:
    return program()


def status_of(david: types.ModuleType, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["david", *words])
    with pytest.raises(SystemExit) as ended:
        david.run()
    return ended.value.code


def test_each_command_that_is_called_wrong_ends_with_1_and_those_of_labs_with_125(
        david: types.ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    every = list(commands(david.parser_of()))
    assert len(every) > 60 and {words[0] for words in every if words} == \
        {name for names in david.COMMANDS.values() for name in names}
    for words in every:
        found = status_of(david, (*words, "--no-such-option"), monkeypatch)
        assert found == (125 if words[:1] == ("lab",) else 1), words
        said = capsys.readouterr().err
        assert said.startswith(f"{' '.join(('david', *words))}: ") and said.count("\n") == 1, said
    assert status_of(david, ("nonsense",), monkeypatch) == 1
    assert status_of(david, ("create", "a", "--backing", "x", "--size", "many"), monkeypatch) == 1
    assert status_of(david, ("lab", "run", "--cpus", "many", "--", "true"), monkeypatch) == 125
    assert status_of(david, ("--help",), monkeypatch) == 0


@pytest.mark.parametrize(("words", "said"), [
    (("creat", "x"), "invalid choice: 'creat': did you mean create?"),
    (("array", "raedd", "a"), "did you mean readd?"),
    (("lab", "run", "--memry", "2G", "--", "true"), "--memry: unknown here; did you mean --memory?"),
    (("profile", "show", "a", "b", "c"), "david profile show: b: unknown here"),
    (("lab", "run", "--kind", "umll", "--", "true"), "did you mean uml?"),
    (("zzzz",), "choose from create, "),
])
def test_a_wrong_word_is_answered_with_the_one_that_was_meant(
        words: tuple[str, ...], said: str, david: types.ModuleType, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    status_of(david, words, monkeypatch)
    found = capsys.readouterr().err
    assert said in found and found.count("\n") == 1


DRIVE = "samsung-pm883"
TWICE = ("--option", "ncq_depth=1", "--option", "size=4", "--option", "ncq_depth=2")


@pytest.mark.parametrize("words", [
    ("create", "big", "--backing", "/dev/ram0", "--option", "seed=1", "-o", "seed=2"),
    ("create", "big", "--backing", "/dev/ram0", *(word.replace("--", "--profile-") for word in TWICE)),
    ("array", "create", "a", "--level", "1", *(word.replace("--", "--profile-") for word in TWICE)),
    ("profile", "show", DRIVE, *TWICE),
    ("profile", "bench", DRIVE, *TWICE),
    ("sim", "a.csv", "--profile", DRIVE, *TWICE),
    ("choose", "--iops", "5", "--p99", "1s", "--capacity", "1G", *TWICE),
    ("calibrate", "--from", "a.json", "--profile", DRIVE, *TWICE),
])
def test_an_option_that_is_there_twice_is_refused(
        words: tuple[str, ...], david: types.ModuleType, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    """The last one counted, and the others were forgotten."""
    assert status_of(david, words, monkeypatch) == 1
    found = capsys.readouterr().err
    assert re.search(r"(ncq_depth|seed) is there twice", found) and found.count("\n") == 1, found


@pytest.mark.parametrize("words", [
    ("bench", "--job", "random count=10"), ("profile", "show", "--word"), ("physics", "--jobs", "1"),
])
def test_a_simulator_s_option_that_is_there_twice_is_refused(words: tuple[str, ...]) -> None:
    """Of one that begins like another it is none. Programs call it so, too (dm_david.simulate)."""
    line = [str(build.ensure("david-sim")), *words]
    line += [DRIVE] if words[0] == "profile" else ["--profile", DRIVE]

    def asked(*options: str) -> subprocess.CompletedProcess[str]:
        more = [word for option in options for word in ("--option", option)]
        return subprocess.run([*line, *more], capture_output=True, text=True)

    found = asked("ncq_depth=2", "write_cache=on", "ncq_depth=2")
    assert found.returncode == 1 and found.stderr.count("\n") == 1 and not found.stdout
    assert "--option ncq_depth=2: that parameter is there twice" in found.stderr
    assert "twice" not in asked("write_cache=on", "write=x", "ncq_depth=2").stderr
    with pytest.raises(ProfileError, match="ncq_depth is there twice"):
        profileword.load(DRIVE, ["ncq_depth=2", "ncq_depth=4"])


def test_a_name_that_is_part_of_several_has_them_all_and_a_foreign_one_none() -> None:
    drives = ("hitachi-a", "hitachi-b", "seagate-exos-x20-20tb", "toshiba-mg08")
    assert nearest("hitachi", drives) == ["hitachi-a", "hitachi-b"]
    assert nearest("Seagate-Exos-X20", drives) == ["seagate-exos-x20-20tb"]
    assert nearest("seagate-exsos-x20-20tb", drives) == ["seagate-exos-x20-20tb"]
    assert nearest("a", drives) == nearest("zzz", drives) == nearest("", drives) == []
    assert nearest("", ()) == []


@pytest.mark.parametrize("words", [
    ("bench", "nothing.toml"), ("bench",), ("bench", "--quick"), ("report", "nothing"),
    ("sim", "nothing"), ("classify", "nothing"), ("store", "check", "nothing"),
    ("profile", "show", "nothing"), ("profile", "check", "nothing"),
    ("trace", "report", "nothing"), ("trace", "finish", "nothing"),
    ("trace", "import", "strace", "nothing"), ("trace", "record"), ("trace", "causal"),
    ("compile", "nothing", "-o", "w.wl"), ("replay", "nothing", "."), ("compare", "nothing"),
    ("image", "show", "nothing"), ("calibrate", "nothing"),
])
def test_wrong_input_ends_with_1(words: tuple[str, ...], tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, DAVID, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr and "Traceback" not in done.stderr, done


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_is_called_wrong_ends_with_1(name: str, tmp_path: Path) -> None:
    path = build.ensure(name)
    words = [(), ("--no-such-option",), ("nonsense",), ("check", "nothing", "nothing", "nothing")]
    if name == "david-sim":
        profile = ("--profile", TREE / "profiles" / "hitachi-hds721010kla330.profile")
        words += [(word, "--no-such-option") for word in SIM]
        words += [("bench", *profile, "--job", "nonsense"), ("bench", *profile, "--array", "5 members=65")]
    for said in words:
        done = subprocess.run([path, *said], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 1 and done.stderr, (said, done)


def test_a_tracer_that_is_called_wrong_ends_with_125() -> None:
    done = subprocess.run([build.ensure("david-trace"), "record", "--no-such-option"], capture_output=True)
    assert done.returncode == 125


LINE = '1 {}.000000 openat(AT_FDCWD, "/a", O_RDONLY) = 3 <0.000010>\n1 {}.000100 close(3) = 0 <0.000010>\n'


@pytest.mark.parametrize(("bad", "status", "says"), [
    (0, 0, ""), (1, 0, ""), (5, 0, "0.5 % of 1005 calls are missing (5 unparsed): a warning"),
    (20, 2, "2 % of 1020 calls are missing (20 unparsed): more than 1 %, and so not to be believed"),
])
def test_an_import_is_believed_as_long_as_little_was_not_understood(bad: int, status: int, says: str,
                                                                    tmp_path: Path) -> None:
    log = tmp_path / "log"
    text = "".join(LINE.format(n, n) for n in range(500))
    log.write_text(text + "1 999.0 no call at all\n" * bad)
    words = [sys.executable, DAVID, "trace", "import", "strace", log, "-o", tmp_path / "t.db"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == status and says in done.stderr, done
    assert ("are missing" in done.stderr) is bool(says) and (bad == 0) is ("understood" not in done.stderr)


BLKPARSE = "  8,0    1        {}     0.{:09}   697  {}   W 223490 + 8 [kjournald]\n"
SUMMARY = "CPU0 (sda):\n Reads Queued:  0, 0KiB\n\nTotal (sda):\nThroughput (R/W): 0KiB/s\n"
MESSAGE = "  8,0    1        0     0.000000001     0  m   N cfq698S / alloced\n"


@pytest.mark.parametrize(("text", "status", "says"), [
    (MESSAGE + "".join(BLKPARSE.format(n, n, "DC"[n % 2]) for n in range(100)) + SUMMARY, 0, ""),
    (LINE.format(1, 1), 1, "no call of blkparse .* 2 of 2 calls, 100 %, not understood: as line 1, '1 1.0"),
    ("", 1, "no call of blkparse in it: .*log: 0 lines"),
])
def test_blkparse_says_what_it_does_not_understand(text: str, status: int, says: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(text)
    words = [sys.executable, DAVID, "trace", "import", "blkparse", log, "-o", tmp_path / "t.db"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == status and re.search(says, done.stderr), done
    assert status or "understood" not in done.stderr


@pytest.mark.parametrize(("share", "status"), [
    (0, 0), (0.0009, 0), (0.002, 0), (0.01, 0), (0.011, 2), (1, 2)])
def test_one_limit_is_for_all_losses(share: float, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    found = losses.Losses({"lost": round(share * 10000)}, 10000)
    assert losses.status("t.db", found) == status
    assert ("are missing" in capsys.readouterr().err) is (share > losses.WARNING)
    assert losses.status("t.db", losses.Losses({"lost": 0}, 0)) == 0


def balance(path: Path, **counted: int) -> sqlite3.Connection:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE balance(key TEXT, value TEXT)")
        database.execute("CREATE TABLE event(id INTEGER PRIMARY KEY)")
        database.executemany("INSERT INTO balance VALUES(?,?)", counted.items())
    return database


@pytest.mark.parametrize(("counted", "status"), [
    ({"calls": 1000}, 0), ({"calls": 1000, "lost": 10}, 0), ({"calls": 1000, "lost": 11}, 2),
    ({"calls": 1000, "unknown": 11}, 2), ({"calls": 1000, "foreign": 11}, 2),
    ({"calls": 1000, "lost": 4, "unknown": 4, "foreign": 4}, 2)])
def test_what_is_missing_of_a_trace_stands_in_its_balance(counted: dict[str, int], status: int,
                                                          tmp_path: Path) -> None:
    from davidlib.trace import cli

    balance(tmp_path / "t.db", **counted)
    assert cli._believable(tmp_path / "t.db") == status
    assert cli._believable(tmp_path / "t.db", whole=False) == 2


@pytest.mark.parametrize(("left_out", "calls", "status"), [
    ("", 50, 0),
    ('1 {}.5 getxattr("/a", "user.x", 0x1, 9) = 1 <0.000010>\n', 50, 2),
    ('1 {}.5 ioctl(3, TCGETS, 0x1) = -1 ENOTTY (Inappropriate ioctl for device) <0.000010>\n', 50, 0),
    ('1 {}.5 socket(AF_INET, SOCK_STREAM, 0) = 4 <0.000010>\n', 50, 0),
    ('1 {}.5 socket(AF_INET, SOCK_STREAM, 0) = 4 <0.000010>\n', 0, 2),  # and nothing else
])
def test_a_compilation_is_believed_as_long_as_little_is_left_out(left_out: str, calls: int, status: int,
                                                                 tmp_path: Path) -> None:
    log, trace = tmp_path / "log", tmp_path / "t.db"
    log.write_text("".join(LINE.format(n, n) for n in range(calls)) +
                   "".join(left_out.format(100 + n) for n in range(2)))
    david = [sys.executable, DAVID]
    subprocess.run([*david, "trace", "import", "strace", log, "-o", trace], check=True, capture_output=True)
    for more in ([], ["--stats"]):
        done = subprocess.run([*david, "compile", trace, "-o", tmp_path / "w.wl", *more],
                              capture_output=True, text=True)
        assert done.returncode == status, done
        assert done.stdout.startswith("calls ") if more else not done.stdout


@pytest.mark.parametrize(("made", "compared", "same", "status"), [
    (0, 0, 0, 2), (500, 0, 0, 2), (500, 500, 500, 0), (500, 500, 495, 0), (500, 500, 494, 2)])
def test_a_replay_is_believed_as_long_as_it_does_the_same(made: int, compared: int, same: int,
                                                          status: int) -> None:
    assert replay._differing(0, {"made": made, "compared": compared, "same": same}) == status
    assert replay._differing(0, {"made": made, "compared": 0, "same": 0}, ignored=True) == (0 if made else 2)


@pytest.fixture
def _no_drawings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Altair is not in the tests' Python."""
    monkeypatch.setattr(prepare, "become", lambda: None)
    page = types.SimpleNamespace(make=lambda *_: "")
    export = types.SimpleNamespace(table=lambda _: "")
    for name, module in (("page", page), ("export", export)):
        monkeypatch.setitem(sys.modules, f"davidlib.report.{name}", module)
        monkeypatch.setattr(f"davidlib.report.{name}", module, raising=False)


@pytest.mark.usefixtures("_no_drawings")
def test_a_report_of_a_run_that_is_not_valid_ends_with_2(tmp_path: Path,
                                                         capsys: pytest.CaptureFixture[str]) -> None:
    results, found = sweep(tmp_path)
    args = argparse.Namespace(result=str(tmp_path), rest=None, metric=None, output=None, files=None, new=None,
                              tolerance=0.0, width=None)
    assert report.report(args) == 0
    said = capsys.readouterr().out
    assert "of kernel 6.12.117" in said and "so there is no interval" not in said
    path = results.path(found[0])
    kept = path.read_bytes()
    path.unlink()
    assert report.report(args) == 2
    said = capsys.readouterr().out
    assert "1 of the question's 2 runs are missing" in said
    # A figure of one run has no interval, and a terminal has no page to say so.
    assert "\nThere was one run each, so there is no interval: " in said
    path.write_bytes(kept)
    spoil(results, found[1], lambda one: one["result"].update(wrong=["times: late"]))
    assert report.report(args) == 2
    assert "1 of 2 runs are not valid" in capsys.readouterr().out


@pytest.mark.parametrize(("missing", "status"), [(False, 2), (True, 1)])
def test_a_sweep_ends_as_its_page_does_unless_a_run_failed(missing: bool, status: int, tmp_path: Path,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    results, found = sweep(tmp_path)
    monkeypatch.setattr(loop, "inner", lambda *words: 2)
    monkeypatch.setattr(loop, "run_all", lambda todo, progress, *_: progress.done(todo[0], {"error": "why"}))
    if missing:
        results.path(found[0]).unlink()
    assert loop.do(argparse.Namespace(workers=1, scheduler=""), results, found, 1) == status
