# SPDX-License-Identifier: GPL-2.0
"""david profile: what is shipped is sound, what is bad is refused with line and reason. Needs no lab."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from davidlib import build, sizes
from davidlib.calibrate import knobs
from davidlib.drive import evidence, files, profile_bench, realdrives

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


def parser(*args: str | Path) -> subprocess.CompletedProcess[str]:
    """What `david profile` calls for every file: Python's start would take ten times as long as this."""
    return subprocess.run([build.ensure("david-sim"), "profile", *args], capture_output=True, text=True,
                          timeout=120, check=False)


def test_list_names_every_profile() -> None:
    run = profile("list")
    assert run.returncode == 0, run.stderr
    named = [line.split()[0] for line in run.stdout.splitlines()[1:]]
    assert named == [path.stem for path in SHIPPED]
    assert len(named) >= 8


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_profile_is_sound_and_says_where_each_value_is_from(path: Path) -> None:
    run = parser("check", "--", path)
    assert run.returncode == 0, run.stderr
    assert f"'{path.stem}'" in run.stdout
    text = path.read_text()
    assert "Sources:" in text
    assert "Derived:" in text or "Fitted:" in text


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_what_show_prints_is_a_profile_of_the_same_values(path: Path, tmp_path: Path) -> None:
    shown = parser("show", "--", path)
    assert shown.returncode == 0, shown.stderr
    copy = tmp_path / "copy"
    copy.write_text(shown.stdout)
    assert parser("show", "--", copy).stdout == shown.stdout


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


# What DiskSim 4.0's manual and module specifications let a switch be, and what a profile then says.
SWITCHES = {
    "lbn_mapping": {0: "serpentine = no", 1: "serpentine = yes", 2: "serpentine = yes", 3: None, 4: None},
    "sparing_scheme": {
        0: "sparing = none", 1: "sparing = tracks", 2: "sparing = cylinder", 3: "sparing = track",
        4: "sparing = cylinder", 5: None, 6: None, 7: "sparing = disk-end", 8: "sparing = range",
        9: "sparing = zone-end", 10: "sparing = zone-end",
    },
    "enable_cache": {0: "read_cache = no", 1: "read_cache = yes", 2: "read_cache = yes"},
    "readahead_kind": {0: "readahead = none", 1: "readahead = track", 2: "readahead = cylinder",
                       3: "readahead = max", 4: "readahead = track-next"},
    "readahead_over_requested": {
        -1: "readahead_over_requested = yes\ndrop_requested = yes",
        0: "readahead_over_requested = no\ndrop_requested = no",
        1: "readahead_over_requested = yes\ndrop_requested = no",
    },
    "fast_write_level": {0: "write_cache = through", 1: "write_cache = sequential", 2: "write_cache = back"},
    "immediate_buffer_read": {0: "immediate_read = no", 1: "immediate_read = yes", 2: "immediate_read = yes"},
    "immediate_buffer_write": {0: "immediate_write = no", 1: "immediate_write = yes",
                               2: "immediate_write = yes"},
    "preseeking_level": dict.fromkeys((0, 1, 2), "ncq_depth = 1"),
    **{name: dict.fromkeys((0, 1), "ncq_depth = 1") for name in (
        "almost_read_hits", "sneaky_full_hits", "sneaky_partial_hits", "sneaky_intermediate_hits",
        "write_prebuffering", "disconnect_write_if_seek")},
    **{name: {0: f"{option} = no", 1: f"{option} = yes"} for name, option in {
        "separate_write_segment": "separate_write_segment",
        "readahead_on_idle_hit": "readahead_on_idle_hit",
        "read_any_free_blocks": "read_any_free",
        "read_hits_on_write_data": "read_hits_on_write_data",
        "combine_seq_writes": "combine_sequential_writes",
        "stop_prefetch_in_sector": "stop_prefetch_in_sector",
        "write_hit_stop_prefetch": "write_hit_stops_prefetch",
        "read_directly_to_buffer": "read_directly_to_buffer",
        "immediate_transfer_partial_hit": "transfer_partial_hit",
        "water_mark_by_request": "water_mark_by_request",
        "never_disconnect": "never_disconnect",
        "hold_bus_read": "hold_bus_read",
        "hold_bus_write": "hold_bus_write",
        "extra_write_disconnect": "extra_write_disconnect",
    }.items()},
}
CACHE = "buffer_segments = 2\nmax_write_segments = 1\nsegment_blocks = 256\n"


@pytest.mark.parametrize(("name", "number"), [(name, number) for name, numbers in SWITCHES.items()
                                              for number in numbers])
def test_every_number_that_disksim_gives_a_switch_is_taken_or_refused_with_a_reason(
        name: str, number: int, tmp_path: Path) -> None:
    source = tmp_path / "tiny.params"
    lines = [line for line in PARAMS.splitlines() if not line.startswith(name)]
    lines.insert(5, f"{CACHE}{name} = {number}")
    source.write_text("\n".join(lines) + "\n")
    # without Python in between: there are many of them
    run = subprocess.run([TREE / "build/david-sim", "profile", "show", source], capture_output=True,
                         text=True, check=False)
    wanted = SWITCHES[name][number]
    if wanted is None:
        assert run.returncode == 1
        assert f": {name} {number} cannot be modelled: " in run.stderr
    else:
        assert (run.returncode, run.stderr) == (0, "")
        # what a profile shows may have other lines in between
        shown = run.stdout.splitlines()
        assert set(wanted.splitlines()) <= set(shown)


def test_a_number_that_the_model_has_for_some_drives_only_is_refused_for_the_others(tmp_path: Path) -> None:
    source = tmp_path / "bad.params"
    odd = PARAMS.replace("0 0 49", "0 0 50").replace("1 50 99", "1 51 99")
    source.write_text(odd.replace("[zones]", "lbn_mapping = 2\n[zones]"))
    assert profile("import", str(source)).stderr == (
        f"{source}:13: lbn_mapping 2 cannot be modelled with a zone from cylinder 51 on: "
        "the model counts odd cylinders from its zone's first\n")
    slips = PARAMS.replace("[slips]", "[slips]\n0 7")
    source.write_text(slips.replace("[zones]", "sparing_scheme = 4\n[zones]"))
    assert profile("import", str(source)).stderr == (
        f"{source}:15: sparing_scheme 4 with slips cannot be modelled: "
        "they would use the disk's last spares\n")


@pytest.mark.parametrize("path", DRIVES, ids=lambda path: path.stem)
def test_the_measured_drives_can_be_imported(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = profile("import", str(path), "-o", str(out))
    zones = f"{path.name}: the zones have 2630 cylinders, and 2629 are declared: the zones count\n"
    settle = f"{path.name}:15: write_settle_ms is {{}}: 0 counts, as a write seeks no faster\n"
    miss = (f"{path.name}:53: ov_write_miss_after_write is 0.823910: 2.275 counts, "
            "as of a read that misses\n")
    told = {"hp_c2490a": settle.format("-0.642000") + miss + zones, "dec_rz26": settle.format("-0.483000")}
    assert (run.returncode, run.stderr) == (0, told.get(path.stem, ""))
    assert profile("show", str(out)).stdout == profile("show", str(path)).stdout != ""


@pytest.mark.parametrize(("holds", "reads", "writes", "taken"), [
    (0, ("1.5", "2"), ("1.5", "2"), ("1.5", "2")),
    (0, ("1.5", "2"), ("1.4", "1.9"), ("1.5", "2")),
    (0, ("3", "2"), ("2.5", "2.5"), ("3", "2.5")),
    (1, ("3", "2"), ("2.5", "1"), ("2.5", "2")),  # of a read after a read it waits no longer for the arm
    (1, ("1", "2"), ("0.5", "3"), ("1", "3")),
])
def test_a_write_that_misses_has_the_arm_no_sooner_than_a_read(
        holds: int, reads: tuple[str, str], writes: tuple[str, str], taken: tuple[str, str],
        tmp_path: Path) -> None:
    source, names = tmp_path / "some.params", ("after_read", "after_write")
    lines = [f"ov_{op}_miss_{name} = {value}" for op, values in (("write", writes), ("read", reads))
             for name, value in zip(names, values, strict=True)]
    source.write_text(PARAMS.replace("[zones]", "\n".join([*lines, f"hold_bus_read = {holds}", "[zones]"])))
    run = profile("show", str(source))
    shown = [line.partition(" = ") for line in run.stdout.splitlines()
             if line.startswith("overhead_write_miss")]
    assert {name: knobs.nanoseconds(value) for name, _, value in shown} == {
        f"overhead_write_miss_{name}": 1e6 * float(value) for name, value in zip(names, taken, strict=True)}
    assert run.stderr == "".join(
        f"{source.name}:{10 + at}: ov_write_miss_{names[at]} is {writes[at]}: {taken[at]} counts, "
        "as of a read that misses\n"
        for at in range(2) if writes[at] != taken[at])


@pytest.mark.parametrize(("value", "error"), [
    ("l.5", "10: 'l.5' is not a time in ms"),
    ("1.5x", "10: '1.5x' is not a time in ms"),
    ("-1.5", "overhead_write_miss_after_read"),
    ("nan", "overhead_write_miss_after_read"),
])
def test_what_is_no_time_is_refused_of_a_write_that_misses(value: str, error: str, tmp_path: Path) -> None:
    source = tmp_path / "some.params"
    lines = f"ov_write_miss_after_read = {value}\nov_read_miss_after_read = 2\n[zones]"
    source.write_text(PARAMS.replace("[zones]", lines))
    run = profile("show", str(source))
    assert run.returncode == 1 and error in run.stderr and "counts" not in run.stderr, run.stderr


@pytest.mark.parametrize(("change", "error"), [
    (("rpm = 7200", "rpm = 72O0"), "rpm has the unit 'O0'; it takes rpm (line 4 as a profile)"),
    (("fast_write_level = 0", "fast_write_level = 7"), "9: fast_write_level is '7', not 0, 1 or 2"),
    (("fast_write_level = 0", "fast_write_level = 1x"), "9: fast_write_level is '1x', not 0, 1 or 2"),
    (("fast_write_level = 0", "read_any_free_blocks = 2"), "9: read_any_free_blocks is '2', not 0 or 1"),
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


@pytest.mark.parametrize(("text", "says"), [
    ("513", "the nearest below is 512"), ("20.5KB", "the nearest below is 20480"),
    ("100", "the least is 512"), ("0.1K", "the least is 512"),
])
def test_a_size_that_is_none_says_which_one_near_is(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says) as refused:
        sizes.parse_size(text)
    assert sizes.parse_size(str(refused.value).split()[-1]) % sizes.SECTOR == 0


def simulate(path: Path, *options: str) -> str:
    words = [word for option in options for word in ("--option", option)]
    jobs = ("read count=300", "write random size=16K count=300", "random writes=50 depth=8 count=300")
    run = subprocess.run([TREE / "build/david-sim", "bench", "--json", "--profile", path, *words,
                          *(word for job in jobs for word in ("--job", job))],
                         capture_output=True, text=True, check=True)
    return run.stdout


@pytest.mark.parametrize("path", [TREE / "profiles/toshiba-p300-3tb.profile", *DRIVES],
                         ids=lambda path: path.stem)
def test_what_has_no_effect_has_none(path: Path) -> None:
    items = re.findall(r"^(\w+)\n    (.*)\n    (.*)$", profile("options").stdout, re.MULTILINE)
    inert = {name: limits for name, text, limits in items if text.startswith("no effect: ")}
    assert "write_disconnect" in inert and "hold_bus_write" in inert
    before = simulate(path)
    for name, limits in inert.items():
        values = ("yes", "no") if limits.startswith("yes|no") else ("30 %",) if "%" in limits else ("3 ms",)
        for value in values:
            assert simulate(path, f"{name}={value}") == before, (name, value)


@pytest.mark.parametrize("words", [("profile", "options"), ("profile", "bench", "toshiba-p300-3tb")])
def test_a_reader_that_has_seen_enough_is_no_error(words: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        run = subprocess.run([TREE / "tools" / "david", *words], stdout=writer, stderr=subprocess.PIPE,
                             text=True, timeout=120, check=False)
    finally:
        os.close(writer)
    assert run.returncode == 128 + signal.SIGPIPE
    assert "Traceback" not in run.stderr and "Broken" not in run.stderr


def test_all_evidence_is_of_a_shipped_profile_and_understood() -> None:
    known = {path.stem for path in evidence.EVIDENCE.glob("*.toml")}
    assert known and known <= set(files.names())
    assert all(evidence.jobs(name) or realdrives.rows_for(name) or evidence.load(name) for name in known)
    assert evidence.jobs("nothing") == [] and evidence.jobs("../evidence/generic-qlc") == []


@pytest.mark.parametrize(("text", "said"), [
    ('[[job]]\nname = "a"\njob = "read"\nunit = "us"\nvalu = 1\nsource = "b"\n', r"\[\[job\]\] 1: valu:"),
    ('[[job]]\nname = "a"\njob = "read"\nunit = "us"\nvalue = 1\nsource = "b"\n', r"\[\[job\]\] 1: kind:"),
    ('[[job]]\nname = "a"\njob = "read"\nunit = "us"\nformula = "f(x)"\nsource = "b"\n', r" 1: f\(x\):"),
    ('[[times]]\nname = "a"\nstate = "worn"\njob = "read"\nsource = "b"\n', r"\[\[times\]\] 1: state:"),
    ('[[times]]\nname = "a"\nstate = "fresh"\njob = "read"\nsource = "b"\np98 = { value = 1 }\n', "p98"),
    ("[[figure]]\n", "figure: there are"),
    ("[[job]\n", "x.toml"),
])
def test_evidence_that_says_what_it_cannot_is_refused(text: str, said: str, tmp_path: Path,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "EVIDENCE", tmp_path)
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(evidence.EvidenceError, match=said):
        evidence.jobs("x")
        realdrives.rows_for("x")


# ../shared/research/fidelity.md, section 5: the drive, the row's name, its figure, what was published.
PUBLIC = [
    ("samsung-970-pro", "writes, depth 32", "per s", 34000),
    ("samsung-970-pro", "writes with flush, two programs", "per s", 840),
    ("samsung-970-pro", "writes with flush, three programs", "per s", 817),
    ("samsung-970-pro", "writes with flush, four programs", "per s", 782),
    ("samsung-850-evo-250", "writes, depth 32, in steady state: 5,000 to 8,000", "per s", 6500),
    ("samsung-pm883", "writes with flush", "per s", 12680),
    ("samsung-pm883", "writes with flush, at most", "per s", 59338),
    ("kingston-dc500m", "reads, depth 1, on AHCI: 8,000 to 9,000", "per s", 8500),
    ("kingston-dc500m", "reads of 8 KiB, depth 1: half as many", "per s", 4250),
    ("kingston-dc500m", "reads of 1 MiB in order, depth 1: less than the link", "per s", 534),
    ("micron-7300-pro", "writes, depth 32, when new", "per s", 163000),
    ("micron-7300-pro", "reads of 128 KiB, written in order", "p50", 247),
    ("micron-7300-pro", "reads of 128 KiB, written at random", "p50", 379),
    ("micron-7300-pro", "reads of 1 MiB, written in order", "p50", 807),
    ("micron-7300-pro", "reads of 1 MiB, written at random", "p50", 1106),
    ("micron-7300-pro", "reads of 128 KiB in order, depth 32", "per s", 20698),
    ("micron-7300-pro", "writes of 128 KiB in order, depth 32", "per s", 12260),
    ("micron-7300-pro", "writes of 128 KiB in order, depth 32, after random writes", "per s", 2289),
    ("micron-7300-pro", "reads, depth 256: of each of two programs", "per s", 267000),
    ("optane-p4800x", "reads of 8 KiB, depth 8", "per s", 280000),
    ("optane-p4800x", "reads, depth 16", "p99", 41),
    ("seagate-st2000dm006", "a write and a flush", "per s", 29),
    ("hgst-hts721010-100gb", "writes, depth 1", "per s", 43.9),
]


@pytest.mark.parametrize(("drive", "name", "of", "real"), PUBLIC)
def test_a_public_figure_is_a_row_with_its_source(drive: str, name: str, of: str, real: float) -> None:
    [row] = [row for row in realdrives.rows_for(drive) if row.name == name]
    assert row.source and row.figures[of].real == pytest.approx(real, rel=0.002)


@pytest.mark.parametrize(("drive", "name", "value"), [
    ("seagate-st8000as0002", "random writes, media cache full", 3),
    ("seagate-exos-x20-20tb", "random reads, depth 16", 168),
])
def test_a_public_figure_of_a_disk_is_an_everyday_job(drive: str, name: str, value: float) -> None:
    [entry] = [entry for entry in evidence.load(drive)["job"] if entry["name"] == name]
    assert entry["value"] == value and entry["source"]


def test_a_rate_far_off_without_a_reason_fails_validate() -> None:
    def row(real: float, modelled: float, why: str = "", of: str = "per s") -> realdrives.Real:
        figure = realdrives.Figure(real, False, None, modelled)
        return realdrives.Real("a", "fresh", 0, "read", "b", {of: figure}, why=why)

    assert row(100, 126).unexplained and row(100, 74).unexplained and row(100, 130, of="p50").unexplained
    assert not row(100, 124).unexplained and not row(100, 130, "because").unexplained
    assert not row(100, 130, of="p99").unexplained
    assert profile_bench.failed([], [row(100, 130)])
    assert not profile_bench.failed([], [row(100, 130, "because")])
