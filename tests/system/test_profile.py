# SPDX-License-Identifier: GPL-2.0
"""david profile: what is shipped is sound, what is bad is refused with line and reason. Needs no lab."""

import os
import subprocess
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]
SHIPPED = sorted((TREE / "profiles").glob("*.profile"))
DRIVES = sorted((TREE / ".." / "shared" / "drives").glob("*.params"))

PARAMS = """\
# a small drive
name = tiny
rpm = 7200
heads = 2
cylinders = 100
declared_blocks = 9990
sector_bytes = 512
bus_read_ms_per_block = 0.1
fast_write_level = 0
[zones]
0 0 49 60 0 0 5 6 0 0 0 6000
1 50 99 40 0 0 5 6 0 0 6000 4000
[slips]
[remaps]
[seek]
1 1.0000004
99 20
"""


def profile(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([TREE / "tools" / "david", "profile", *args], env=dict(os.environ), cwd="/",
                          capture_output=True, text=True, timeout=120, check=False)


def test_list_names_every_profile() -> None:
    run = profile("list")
    assert run.returncode == 0, run.stderr
    named = [line.split()[0] for line in run.stdout.splitlines()[1:]]
    assert named == [path.stem for path in SHIPPED]
    assert len(named) >= 8


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_profile_is_sound_and_says_where_each_value_is_from(path: Path) -> None:
    run = profile("check", path.stem)
    assert run.returncode == 0, run.stderr
    assert f"'{path.stem}'" in run.stdout
    text = path.read_text()
    assert "Sources:" in text
    assert "Derived:" in text


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_what_show_prints_is_a_profile_of_the_same_values(path: Path, tmp_path: Path) -> None:
    shown = profile("show", path.stem)
    assert shown.returncode == 0, shown.stderr
    copy = tmp_path / "copy"
    copy.write_text(shown.stdout)
    assert profile("show", str(copy)).stdout == shown.stdout


def test_show_takes_other_values() -> None:
    run = profile("show", "hitachi-hds721010kla330", "--option", "write_cache=off", "--option", "ncq_depth=1")
    assert "write_cache = off\n" in run.stdout
    assert "ncq_depth = 1\n" in run.stdout
    bad = profile("show", "hitachi-hds721010kla330", "--option", "write_cache=later")
    assert bad.returncode == 1
    assert bad.stderr == "write_cache=later: write_cache is 'later', none of off, through, sequential, back\n"


def test_import_translates_and_cuts_at_the_declared_capacity(tmp_path: Path) -> None:
    source, out = tmp_path / "tiny.params", tmp_path / "tiny.profile"
    source.write_text(PARAMS)
    assert profile("import", str(source), "-o", str(out)).stderr == ""
    text = out.read_text()
    assert text.startswith("# Imported from tiny.params.\n# a small drive\n")
    assert "zone = 50,99,40,3990,5,6,0,0,0  # holds 4000, cut at the declared capacity\n" in text
    assert "capacity = 9990 sectors\n" in text
    assert "seek = 1, 1.000000 ms\n" in text
    assert "write_cache = through\n" in text
    assert profile("check", str(out)).returncode == 0


@pytest.mark.parametrize("path", DRIVES, ids=lambda path: path.stem)
def test_the_measured_drives_can_be_imported(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = profile("import", str(path), "-o", str(out))
    assert (run.returncode, run.stderr) == (0, "")
    assert profile("show", str(out)).stdout == profile("show", str(path)).stdout != ""


@pytest.mark.parametrize(("change", "error"), [
    (("rpm = 7200", "rpm = 72O0"), "rpm has the unit 'O0'; it takes rpm (line 4 as a profile)"),
    (("fast_write_level = 0", "fast_write_level = 7"), "9: fast_write_level '7' is not known"),
    (("40 0 0 5 6 0 0 6000 4000", "40"), "12: a zone has 12 numbers, but this is '1 50 99 40'"),
    (("6000 4000", "6001 4000"), "12: zone 1 begins with block 6001, but those before end at 6000"),
    (("[remaps]", "[spares]"), "14: there is no table '[spares]'"),
    (("sector_bytes = 512", "sector_bytes = 520"), "7: sectors of 520 bytes are not supported, only 512"),
])
def test_bad_parameters_are_refused_with_line_and_reason(change: tuple[str, str], error: str,
                                                         tmp_path: Path) -> None:
    source, out = tmp_path / "bad.params", tmp_path / "out"
    source.write_text(PARAMS.replace(*change))
    run = profile("import", str(source), "-o", str(out))
    assert run.returncode == 1
    assert run.stderr.rstrip().removeprefix(str(source)).lstrip(": ") == error
    assert not out.exists()


def test_a_bad_profile_is_refused_with_line_and_reason(tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    text = SHIPPED[0].read_text()
    bad.write_text(text + "head_swich = 1 ms  # as of old\n")
    run = profile("check", str(bad))
    assert run.returncode == 1
    assert run.stderr == f"{bad}:{text.count(chr(10)) + 1}: there is no parameter 'head_swich'\n"


def test_a_name_that_is_none_lists_those_that_are() -> None:
    run = profile("show", "no-such-drive")
    assert run.returncode == 1
    assert "there is no profile 'no-such-drive'" in run.stderr
    assert "hitachi-hds721010kla330" in run.stderr
