# SPDX-License-Identifier: GPL-2.0
"""DiskSim 4's own description files: .parv, .diskspecs, .model, .seek. Needs no lab.

The seven drives of profiles/evidence are written as DiskSim publishes them, in the words of its manual. What
is made of that has to be what is made of the flat file: two ways to the same numbers, and the number of
blocks of each zone is computed in one of them only.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from davidlib import build
from davidlib.drive import disksim, profile, profileword
from davidlib.util import UserError

TREE = Path(__file__).resolve().parents[2]
DAMAGED = 5000 if os.environ.get("DAVID_SCALE") == "full" else 150
DRIVES = sorted((TREE / "profiles/evidence/disksim").glob("*.params"))

# Words of DiskSim's manual (chapters on disks and on the disk module), and those of the flat file.
DISK = """
Per-request overhead time|ov_per_request
Hold bus entire read xfer|hold_bus_read
Hold bus entire write xfer|hold_bus_write
Allow almost read hits|almost_read_hits
Allow sneaky full read hits|sneaky_full_hits
Allow read hits on write data|read_hits_on_write_data
Allow write prebuffering|write_prebuffering
Preseeking level|preseeking_level
Never disconnect|never_disconnect
Number of buffer segments|buffer_segments
Maximum number of write segments|max_write_segments
Segment size (in blks)|segment_blocks
Use separate write segment|separate_write_segment
Low (write) water mark|write_water_mark
High (read) water mark|read_water_mark
Set watermark by reqsize|water_mark_by_request
Enable caching in buffer|enable_cache
Buffer continuous read|readahead_kind
Minimum read-ahead (blks)|readahead_min_blocks
Maximum read-ahead (blks)|readahead_max_blocks
Read-ahead over requested|readahead_over_requested
Read-ahead on idle hit|readahead_on_idle_hit
Read any free blocks|read_any_free_blocks
Fast write level|fast_write_level
Immediate buffer read|immediate_buffer_read
Immediate buffer write|immediate_buffer_write
Combine seq writes|combine_seq_writes
Stop prefetch in sector|stop_prefetch_in_sector
Write hit stop prefetch|write_hit_stop_prefetch
Read directly to buffer|read_directly_to_buffer
Immed transfer partial hit|immediate_transfer_partial_hit
Read hit over. after read|ov_read_hit_after_read
Read hit over. after write|ov_read_hit_after_write
Read miss over. after read|ov_read_miss_after_read
Read miss over. after write|ov_read_miss_after_write
Write hit over. after read|ov_write_hit_after_read
Write hit over. after write|ov_write_hit_after_write
Write miss over. after read|ov_write_miss_after_read
Write miss over. after write|ov_write_miss_after_write
Read completion overhead|ov_read_completion
Write completion overhead|ov_write_completion
Data preparation overhead|ov_data_prep
First reselect overhead|ov_first_reselect
Other reselect overhead|ov_other_reselect
Read disconnect afterread|ov_read_disconnect_after_read
Read disconnect afterwrite|ov_read_disconnect_after_write
Write disconnect overhead|ov_write_disconnect
Extra write disconnect|extra_write_disconnect
Extradisc command overhead|xd_command
Extradisc disconnect overhead|xd_disconnect
Extradisc inter-disconnect delay|xd_inter
Extradisc 2nd disconnect overhead|xd_second
Extradisc seek delta|xd_seek_delta
Minimum seek delay|min_seek_delay
"""
PARV = """disksim_global Global {{
   Init Seed = 42,
   # Statistic warm-up period = 0.0 seconds,
   Stat definition file = statdefs
}}
disksim_bus BUS0 {{
type = 1,
Read block transfer time = 0.0,
Write block transfer time = 0.0,
Print stats =  0
}} # end of BUS0 spec
disksim_bus BUS1 {{
type = 1,
Read block transfer time = {read},
Write block transfer time = {write},
Print stats =  1
}}
disksim_ctlr CTLR0 {{ type = 1, Scale for delays = 0.0, Bulk sector transfer time = 0.0 }}

source drive.diskspecs

instantiate [ bus0 ] as BUS0
instantiate [ bus1 .. bus2 ] as BUS1
instantiate [ ctlr0 .. ctlr1 ] as CTLR0
instantiate [ disk0 .. disk1 ] as {name}_validate

topology disksim_iodriver driver0 [
   disksim_bus bus0 [
      disksim_ctlr ctlr0 [ disksim_bus bus1 [ disksim_disk disk0 [] ] ], # of bus1
      disksim_ctlr ctlr1 [ disksim_bus bus2 [ disksim_disk disk1 [] ] ]
   ]
]
disksim_synthio Synthio {{
Generators = [ disksim_synthgen {{ devices = [ disk0 .. disk1 ], Sizes  = [ exponential, 0.0, 8.0  ] }} ]
}}
"""


class Flat:
    def __init__(self, path: Path) -> None:
        self.words: dict[str, str] = {}
        self.tables: dict[str, list[list[str]]] = {}
        table = ""
        for line in path.read_text().splitlines():
            if line.startswith("["):
                table = line.strip("[]")
            elif line and not line.startswith("#") and table:
                self.tables.setdefault(table, []).append(line.split())
            elif "=" in line and not line.startswith("#"):
                name, _, value = line.partition("=")
                self.words[name.strip()] = value.strip()


def zone(row: list[str], slips: list[list[str]]) -> str:
    own = ", ".join(place for number, place in slips if number == row[0])
    return f"""dm_layout_g1_zone {{ # band {row[0]}
      First cylinder number = {row[1]},
      Last cylinder number = {row[2]},
      Blocks per track = {row[3]},
      Offset of first block = {row[4]}.000000,
      Empty space at zone front = {row[5]},
      Skew for track switch = {row[6]}.000000,
      Skew for cylinder switch = {row[7]},
      Number of spares = {row[8]},
      slips = [ {own} ],
      defects = []
   }}"""


def published(flat: Flat, to: Path) -> Path:
    """The drive as DiskSim's valid/ has it: four files, of which the returned one names the others."""
    words, name = flat.words, flat.words["name"]
    zones = ",\n   ".join(zone(row, flat.tables.get("slips", [])) for row in flat.tables["zones"])
    (to / "drive.model").write_text(f"""dm_disk {name}_validate_model {{
   Number of data surfaces = {words["heads"]},
   Number of cylinders = {words["cylinders"]},
   Block count = {words["declared_blocks"]},
   Layout Model = dm_layout_g1 {{
      LBN-to-PBN mapping scheme = {words["lbn_mapping"]},
      Sparing scheme used = {words["sparing_scheme"]},
      Rangesize for sparing = {words["sparing_range_cyls"]},
      Zones = [ {zones} ]
   }},
   Mechanical Model = dm_mech_g1 {{
      Access time type = trackSwitchPlusRotation,
      Seek type = extracted,
      Full seek curve = drive.seek,
#      First ten seek times = [ 1.25, 1.16 ],
      Add. write settling delay = {words["write_settle_ms"]},
      Head switch time = {words["head_switch_ms"]},
      Rotation speed (in rpms) = {words["rpm"]},
      Percent error in rpms = 0.000000
   }}
}} # end of spec
""")
    seeks = flat.tables["seek"]
    rows = "".join(f"{distance},      {time}\n" for distance, time in seeks)
    (to / "drive.seek").write_text(f"Seek distances measured: {len(seeks)}\n{rows}")
    pairs = [line.split("|") for line in DISK.split("\n") if line]
    told = ",\n   ".join(f"{long} = {words[short]}" for long, short in pairs if short in words)
    (to / "drive.diskspecs").write_text(f"""disksim_disk {name}_validate {{
   Model = source drive.model,
   Time scale for overheads = 1.000000,
   Bulk sector transfer time = 0.000000,
   Print stats = 1,
   Max queue length = 1,
   Scheduler = disksim_ioqueue {{
      Scheduling policy = 1,
      Timeout time/weight = 0
   }},
   {told}
}}
""")
    (to / "drive.parv").write_text(PARV.format(name=name, read=words["bus_read_ms_per_block"],
                                               write=words["bus_write_ms_per_block"]))
    return to / "drive.parv"


@dataclass
class Run:
    status: int
    stderr: str


Imports = Callable[[Path], Run]


@pytest.fixture
def imports(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Imports:
    """`david profile import`, without another Python: there are many of them."""

    def run(path: Path) -> Run:
        try:
            status = profile.cmd_import(argparse.Namespace(file=str(path), out=str(tmp_path / "out.profile")))
        except UserError as error:
            return Run(1, str(error))
        return Run(status, capfd.readouterr().err)

    return run


def shown(path: Path) -> list[str]:
    """All values of a profile but its name."""
    line = [build.ensure("david-sim"), "profile", "show", path]
    lines = subprocess.run(line, capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines
    return [line for line in lines if not line.startswith("name = ")]


@pytest.mark.parametrize("path", DRIVES, ids=lambda path: path.stem)
def test_a_drive_is_the_same_by_disksims_own_files_and_by_the_flat_one(
        path: Path, tmp_path: Path, imports: Imports) -> None:
    told = {"dec_rz26": ("drive.model:27: write_settle_ms is -0.483000: 0 counts, "
                         "as a write seeks no faster\n")}
    run = imports(published(Flat(path), tmp_path))
    assert (run.status, run.stderr.removeprefix(f"{tmp_path}/")) == (0, told.get(path.stem, ""))
    assert shown(tmp_path / "out.profile") == shown(path)


def test_the_zones_blocks_are_those_that_the_flat_files_have() -> None:
    """Otherwise the test before might compare what was cut at the declared capacity."""
    assert {Flat(path).words["sparing_scheme"] for path in DRIVES} == {"1", "3", "7", "8", "9"}


SMALL = """disksim_disk SMALL {
   Model = dm_disk SMALL_model {
      Number of data surfaces = 2,
      Number of cylinders = 100,
      Block count = 8000,
      Layout Model = dm_layout_g1 {
         LBN-to-PBN mapping scheme = 0,
         Sparing scheme used = 0,
         Rangesize for sparing = 1,
         Zones = [ dm_layout_g1_zone {
            First cylinder number = 0, Last cylinder number = 99, Blocks per track = 40,
            Offset of first block = 0, Empty space at zone front = 0, Skew for track switch = 5,
            Skew for cylinder switch = 6, Number of spares = 0, slips = [], defects = [] } ]
      },
      Mechanical Model = dm_mech_g1 {
         Access time type = trackSwitchPlusRotation,
         Seek type = hplplus10,
         HPL seek equation values = [ 50, 3.0, 0.5, 4.0, 0.02, -1.0 ],
         First ten seek times = [ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ],
         Add. write settling delay = 0.5, Head switch time = 0.9,
         Rotation speed (in rpms) = 7200, Percent error in rpms = 0.0
      }
   },
   Time scale for overheads = 2.0, Per-request overhead time = 0.1, Bulk sector transfer time = 0.01,
   Number of buffer segments = 2, Maximum number of write segments = 1, Segment size (in blks) = 64,
   Enable caching in buffer = 1, Buffer continuous read = 1, Fast write level = 0
}
"""


def written(to: Path, text: str) -> Path:
    to.write_text(text)
    return to


def test_one_file_may_have_all_of_it_and_the_curve_may_be_a_formula(tmp_path: Path, imports: Imports) -> None:
    run = imports(written(tmp_path / "small.diskspecs", SMALL))
    assert run.status == 0, run.stderr
    assert "not say what the disk is connected to" in run.stderr
    words = dict(line.split(" = ") for line in shown(tmp_path / "out.profile") if not line.startswith("seek"))
    assert (words["overhead"], words["bus_read"], words["capacity"]) == ("200us", "10us", "8000sectors")
    seeks = dict(line.removeprefix("seek = ").split(",") for line in shown(tmp_path / "out.profile")
                 if line.startswith("seek = "))
    # The table to 10, then 3 + 0.5 * sqrt(d) below 50, then 4 + 0.02 * d.
    assert [seeks[n] for n in ("1", "10", "16", "49", "50", "99")] == [
        "1ms", "10ms", "5ms", "6.5ms", "5ms", "5.98ms"]


THREE = "Single cylinder seek time = 1.0, Average seek time = {mean}, Full strobe seek time = {full},"


@pytest.mark.parametrize(("kind", "mean", "full", "expected"), [
    ("linear", 4.0, 8.0, {1: 1.0, 17: 2.5, 33: 4.0, 66: 6.0, 99: 8.0}),
    # 1 + 7/6 * sqrt(d - 1) + 7/300 * (d - 1) ms
    ("curve", 8.0, 15.0, {1: 1.0, 2: 2.19, 17: 6.04, 34: 8.472, 99: 14.836}),
])
def test_seeks_by_three_points_are_those_of_the_manual(
        kind: str, mean: float, full: float, expected: dict[int, float], tmp_path: Path,
        imports: Imports) -> None:
    text = SMALL.replace("hplplus10,", f"{kind}, {THREE.format(mean=mean, full=full)}")
    run = imports(written(tmp_path / "small.diskspecs", text))
    assert run.status == 0, run.stderr
    assert f"small.diskspecs:17: Seek type '{kind}' is taken as DiskSim's manual has it" in run.stderr
    points = [line.removeprefix("seek = ").split(",") for line in shown(tmp_path / "out.profile")
              if line.startswith("seek = ")]
    known = [(int(far), float(re.sub("[a-z]+$", "", time)) * (1 if time.endswith("ms") else 1e-3))
             for far, time in points]

    def at(far: int) -> float:
        """As the model does it: a line between two of them."""
        low = max(point for point in known if point[0] <= far)
        high = min(point for point in known if point[0] >= far)
        return low[1] if low == high else low[1] + (high[1] - low[1]) * (far - low[0]) / (high[0] - low[0])

    assert {far: at(far) for far in expected} == pytest.approx(expected, rel=0.005)
    if kind == "curve":  # made so that the mean of seeks between random places is the average that is given
        weights = {far: 100 - far for far in range(1, 100)}
        average = sum(at(far) * weight for far, weight in weights.items()) / sum(weights.values())
        assert average == pytest.approx(mean, rel=0.03)


@pytest.mark.parametrize(("kind", "mean", "full", "error"), [
    ("linear", 9.0, 8.0, "Seek type 'linear' needs three times that rise: one cylinder 1 ms, average 9"),
    ("curve", 2.0, 9.0, "Seek type 'curve': no such curve goes through these three times; 'linear' "),
])
def test_three_points_that_make_no_curve_are_refused_with_their_line(
        kind: str, mean: float, full: float, error: str, tmp_path: Path, imports: Imports) -> None:
    text = SMALL.replace("hplplus10,", f"{kind}, {THREE.format(mean=mean, full=full)}")
    run = imports(written(tmp_path / "small.diskspecs", text))
    assert run.status == 1
    assert f"small.diskspecs:17: {error}" in run.stderr


def test_a_mechanical_model_alone_has_no_cache_and_that_is_said(tmp_path: Path, imports: Imports) -> None:
    model = SMALL[SMALL.index("dm_disk"):SMALL.index("   Time scale")].rstrip().rstrip(",")
    run = imports(written(tmp_path / "small.model", model))
    assert run.status == 0, run.stderr
    assert "a mechanical model alone: the profile has neither a cache nor overheads" in run.stderr


def test_a_last_zone_that_ends_one_cylinder_late_is_taken_and_told(tmp_path: Path, imports: Imports) -> None:
    late = SMALL.replace("Number of cylinders = 100", "Number of cylinders = 99")
    run = imports(written(tmp_path / "small.diskspecs", late))
    assert run.status == 0
    assert "the zones have 100 cylinders, and 99 are declared: the zones count" in run.stderr
    assert "cylinders = 100  # 99 are declared" in (tmp_path / "out.profile").read_text()


@pytest.mark.parametrize(("change", "line", "error"), [
    (("dm_layout_g1 {", "dm_layout_g4 {"), 6, "dm_layout_g4 cannot be modelled: its blocks run along one "
     "surface for many cylinders, and a profile has zones of whole cylinders; dm_layout_g1 is taken"),
    (("dm_layout_g1 {", "dm_layout_g2 {"), 6, "dm_layout_g2 cannot be modelled: a file beside it has"),
    (("dm_mech_g1", "dm_mech_g9"), 15, "dm_mech_g9 cannot be modelled; dm_mech_g1 is taken"),
    (("hplplus10", "linear"), 15, "there is no 'Single cylinder seek time'"),
    (("hplplus10", "three-point"), 17, "Seek type 'three-point' is none of DiskSim's: extracted, hpl, "),
    (("trackSwitchPlusRotation", "averageRotation"), 16,
     "Access time type 'averageRotation' cannot be modelled"),
    (("Sparing scheme used = 0", "Sparing scheme used = 5"), 8, "sparing_scheme 5 cannot be modelled: the "
     "model has no spares at the front of cylinders"),
    (("Fast write level = 0", "Fast write level = 7"), 26, "fast_write_level is '7', not 0, 1 or 2"),
    (("Head switch time = 0.9", "Head switch time = soon"), 20, "Head switch time: 'soon' is no number"),
    (("      Block count = 8000,\n", ""), 2, "there is no 'Block count'"),
    (("Block count = 8000,", "Block count = 8000"), 6, "behind 'block count' there has to be a comma or"),
    (("defects = [] } ]", "defects = [ 3 ] } ]"), 10, "defects are pairs of places"),
    (("cylinder number = 99", "cylinder number = -1"), 10, "a zone of cylinders 0 to -1, 40 blocks a track"),
    (("dm_disk SMALL_model {", "source none.model,#"), 0, "none.model: No such file or directory"),
    (("Seek type = hplplus10,", "Seek type = extracted, Full seek curve = no.seek,"), 0,
     "no.seek: No such file"),
])
def test_what_cannot_be_represented_is_refused_with_line_and_reason(
        change: tuple[str, str], line: int, error: str, tmp_path: Path, imports: Imports) -> None:
    run = imports(written(tmp_path / "small.diskspecs", SMALL.replace(*change)))
    assert run.status == 1
    assert error in run.stderr
    assert not line or f"small.diskspecs:{line}: " in run.stderr, run.stderr
    assert not (tmp_path / "out.profile").exists()


@pytest.mark.parametrize(("text", "error"), [
    ("Seek distances measured: 2\n1, 2.0\n", "2 distances are announced, and 1 are there"),
    ("Seek distances measured: 1\n1 2.0\n", "drive.seek:2: '1 2.0' is not of the form cylinders, ms"),
    ("1, 2.0\n", "drive.seek:1: a seek curve begins with 'Seek distances measured: N'"),
])
def test_a_bad_seek_curve_is_refused_with_its_line(
        text: str, error: str, tmp_path: Path, imports: Imports) -> None:
    parv = published(Flat(DRIVES[0]), tmp_path)
    (tmp_path / "drive.seek").write_text(text)
    run = imports(parv)
    assert run.status == 1 and error in run.stderr


@pytest.mark.parametrize(("text", "error"), [
    ("disksim_simpledisk S { type = 1 }\n", "no disksim_disk and no dm_disk in it, but disksim_simpledisk"),
    ("memsmodel_mems M {\n Seek function = 1 }\ndisksim_bus B { type = 1 }\n",
     "but disksim_bus, memsmodel_mems: only disks can be imported"),
    (SMALL + SMALL.replace("SMALL", "OTHER"), "several disks: SMALL, OTHER; import the .diskspecs of one"),
    (SMALL.rstrip().rstrip("}"), "behind 'fast write level' the file ends"),
    ("disksim_disk A {\n Model = source small.parv }\n", ", more than 16 deep"),
])
def test_what_describes_no_disk_or_several_is_refused(
        text: str, error: str, tmp_path: Path, imports: Imports) -> None:
    run = imports(written(tmp_path / "small.parv", text))
    assert run.status == 1 and error in run.stderr, run.stderr


def test_a_damaged_description_is_read_or_refused(tmp_path: Path) -> None:
    """Never another error than one with its file."""
    dice = random.Random(4)
    published(Flat(DRIVES[0]), tmp_path)
    texts = {path: path.read_text() for path in sorted(tmp_path.iterdir())}
    texts[tmp_path / "small.diskspecs"] = SMALL
    odd = [*"{}[],=#0", "..", "source ", "1e999", "nan", "-1", "[" * 40, "\0", "9" * 20]
    refused = 0
    for _ in range(DAMAGED):
        path = dice.choice(list(texts))
        text = texts[path]
        at = dice.randrange(len(text))
        path.write_text(text[:at] + dice.choice(odd) + text[at + dice.randrange(4):])
        try:
            disksim.flatten(tmp_path / ("small.diskspecs" if path.name.startswith("small") else "drive.parv"))
        except UserError as error:
            refused += 1
            assert str(error).startswith(str(tmp_path))
        path.write_text(text)
    assert DAMAGED / 10 < refused < DAMAGED


def test_who_wants_a_profile_is_told_how_to_get_one(tmp_path: Path, imports: Imports) -> None:
    parv = published(Flat(DRIVES[0]), tmp_path)
    with pytest.raises(UserError, match=f"of DiskSim; first: david profile import {parv} -o OUT"):
        profileword.load(str(parv), [])
    line = [build.ensure("david-sim"), "profile", "check", parv]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "david profile import makes a profile of it" in done.stderr
    assert imports(parv).status == 0
    assert profileword.load(str(tmp_path / "out.profile"), []).items


def test_a_queue_is_named_as_left_out(tmp_path: Path, imports: Imports) -> None:
    queue = SMALL.replace("Fast write", "Max queue length = 8, Fast write")
    run = imports(written(tmp_path / "small.diskspecs", queue))
    assert run.status == 0
    assert "'Max queue length' and 'Scheduler' are not used" in run.stderr
