# SPDX-License-Identifier: GPL-2.0
"""david bench: arrays as a dimension, held to david-sim's, and file systems that are aged before the run.

`make bench-arrays` has the long form.
"""

from __future__ import annotations

from typing import Any

import pytest

import benchrun
from davidlib.bench import arraywords, precheck, runs, spec, target
from helpers import arrayruns
from test_bench import DISK, LAB, WORK, parse


def described(text: str) -> list[dict]:
    return list(runs.describe(parse(text)))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("7 members=3", "'7' is no level"),
        ("", "'' is no level; write none"),
        ("6", "members=N is missing"),
        ("6 members=3", "members=3: RAID-6 has 4 to 64"),
        ("6 members=65", "members=65: RAID-6 has 4 to 64"),
        ("6 members=many", "members=N is missing"),
        ("6 members=4 members=5", "a word is there twice"),
        ("6 members=4 disks=5", "disks: unknown"),
        ("1 members=2 chunk=64K", "chunk: RAID-1 has none"),
        ("5 members=3 chunk=65K", "chunk=65K: a power of two"),
        ("5 members=3 chunk=2K", "chunk=2K: a power of two"),
        ("5 members=3 layout=n2", "layout=n2: RAID-5 has no such"),
        ("0 members=3 layout=left-symmetric", "RAID-0 has no such"),
        ("0 members=2 bitmap=internal", "bitmap=internal: write none or internal; RAID-0 has none"),
    ],
)
def test_a_mistake_in_an_array_is_named_by_its_line(words: str, says: str) -> None:
    with pytest.raises(spec.SpecError, match="a.toml:3: array = .*" + says):
        parse(DISK + f'array = "{words}"\n' + WORK)


@pytest.mark.parametrize(
    ("words", "data"),
    [("0 members=3", 3), ("1 members=3", 1), ("4 members=5", 4), ("5 members=5 layout=parity-last", 4),
     ("6 members=12 chunk=128K layout=left-symmetric-6", 10), ("10 members=5 layout=f2 bitmap=internal", 2.5),
     ("10 members=6 layout=n3", 2)],
)
def test_an_array_s_room_is_that_of_its_level(words: str, data: float) -> None:
    found = arraywords.parse(words)
    assert found and found.data_members() == data and arraywords.parse("none") is None


def test_an_array_is_a_dimension_and_in_the_id() -> None:
    text = DISK + 'array = ["none", "6 members=12", "6 members=12 chunk=64K"]\n' + WORK
    found = described(text)
    assert [one["variant"] for one in found] == ["no array", "RAID-6 of 12", "RAID-6 of 12 chunk=64K"]
    assert "array" not in found[0] and found[1]["built"] == ["david-store"]
    ids = [run.id for run in runs.expand(parse(text))]
    assert len(set(ids)) == 3 and ids[0] == runs.expand(parse(DISK + WORK))[0].id
    assert precheck.size_of(parse(text).disks[1]) == 10 * precheck.size_of(parse(text).disks[0])
    with pytest.raises(spec.SpecError, match="a.toml:3: array: RAID-6 of 12 is there twice, once in another"):
        parse(DISK + 'array = ["6 members=12", "6  members=12"]\n' + WORK)
    with pytest.raises(spec.SpecError, match="a.toml:4: classify = 'data': not with an array"):
        parse(DISK + 'array = "6 members=12"\nclassify = "data"\n' + WORK)


def test_what_an_array_takes_of_memory_is_said_before_it_starts() -> None:
    text = DISK + 'array = ["none", "6 members=12"]\nbacking = "480M"\n' + WORK
    said = precheck.memory(parse(text), 2)
    assert said == ["of memory, each lab has 1G, and 2 at a time 2.00 GiB",
                    "RAID-6 of 12 keeps all that is written, and parity: the backing of 480 MiB, which its "
                    "members share, has room for about 400 MiB of data"]
    assert not precheck.memory(parse(DISK + WORK), 2)
    # Group descriptors and bitmaps of 10 TB: by david plan.
    small = parse(DISK + 'array = "6 members=12"\nbacking = "16M"\n' + WORK)
    assert "mkfs.ext4 alone stores" in precheck.memory(small, 2)[-1]


def test_an_age_is_a_dimension_by_a_recipe_of_david_age(tmp_path) -> None:
    (tmp_path / "old.toml").write_text('size = "1T"\nfs = "xfs"\nfiles = 70\nchurn = 3.0\n')
    text = DISK + 'age = ["none", "old.toml", "small"]\n' + WORK
    new, old, small = list(runs.describe(spec.parse(text, "a.toml", tmp_path)))
    assert [one["variant"] for one in (new, old, small)] == ["new", "aged by old", "aged by small"]
    # The disk and the file system are the question's.
    assert "age" not in new and old["age"]["files"] == 70 and not {"size", "fs", "mkfs"} & old["age"].keys()
    for words, says in (('age = "olden"\n', "a.toml:3: age = 'olden': there is no recipe"),
                        ('age = "small"\n[[filesystem]]\ntype = "none"\n', "a.toml:3: age: of ext4.* not of "
                                                                           "none")):
        with pytest.raises(spec.SpecError, match=says):
            parse(DISK + words + '[[workload]]\nkind = "random-read"\n')


def test_figures_of_members_are_sums_but_for_what_they_share() -> None:
    one = {"state": "ok", "fault": "none", "block_size": 4096, "late_max": 5, "late": [1, 2], "name": "a",
           "reach": {"pages": 3, "first": 1, "end": 2}, "busy_ns": 7, "pool_saved": 2, "pool_memory": 8}
    other = one | {"state": "full", "fault": "room", "late_max": 9, "late": [1, 0, 4], "name": "b"}
    assert target.together([one, other]) == {
        "state": "full", "fault": "room", "block_size": 4096, "late_max": 9, "late": [2, 2, 4], "name": "a",
        "reach": {"pages": 6, "first": 2, "end": 4}, "busy_ns": 14, "pool_saved": 2, "pool_memory": 8}
    assert target.together([one]) is one


@pytest.mark.lab(LAB, *benchrun.ARRAYS)
@pytest.mark.parametrize("name", benchrun.ARRAYS)
def test_an_array_is_as_fast_as_david_sim_s(lab, name: str) -> None:
    array, kind, operations, depth = benchrun.ARRAYS[name]
    found = lab.labs.wait(LAB, {"run": name})
    assert found and not found["error"] and not found["left"], found
    [result] = found["results"]
    assert result["times"]["good"] is True and not result["wrong"], result["times"]
    expected = arrayruns.simulated(array, kind, operations, depth)
    assert not arrayruns.wrong(result, expected, operations, arrayruns.SHORT), (expected, result["stats"])
    # Planted: an array whose parity is one block less is another one.
    planted = arrayruns.simulated("5 members=12", "random-write", operations, depth)
    assert arrayruns.wrong(result, planted, operations, arrayruns.SHORT)


@pytest.mark.lab(LAB, "aged")
def test_a_file_system_is_aged_as_by_hand(lab) -> None:
    """By `david age` with the same recipe, seed, size and file system."""
    found: dict[str, Any] | None = lab.labs.wait(LAB, {"run": "aged"})
    assert found and not found["error"], found
    [result] = found["results"]
    aged, by_hand = result["aged"], found["by_hand"]
    assert aged["files"] > 30 and aged["files_made"] > aged["files"], aged
    same = ("files", "files_made", "bytes", "bytes_made", "tree_sha256")
    assert [aged[name] for name in same] == [by_hand[name] for name in same], (aged, by_hand)
