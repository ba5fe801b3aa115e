# SPDX-License-Identifier: GPL-2.0
"""david bench: arrays as a dimension, held to david-sim's, and file systems that are aged before the run.

`make bench-arrays` has the long form.
"""

from __future__ import annotations

from typing import Any

import pytest

import benchrun
from davidlib.bench import arraywords, doubts, precheck, runs, spec, target, testbed
from davidlib.disk import plan
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
    with pytest.raises(spec.SpecError, match="a.toml:4: option = 'store=memory': not with an array"):
        parse(DISK + 'array = ["none", "6 members=12"]\noption = ["seed=3", "store=memory"]\n' + WORK)


STATES = 'array = ["none", "5 members=3"]\narray-state = ["healthy", "failed=1", "rebuilding=2"]\n'
SLOW = '[[faults]]\nfaults = "slow:factor=2"\n'


def test_an_array_s_state_is_a_dimension_of_arrays_alone() -> None:
    found = described(DISK + STATES + WORK)
    assert [one["variant"] for one in found] == [
        "no array", "RAID-5 of 3, healthy", "RAID-5 of 3, failed=1", "RAID-5 of 3, rebuilding=2"]
    assert [one.get("array_state") for one in found] == [None, None, {"failed": [1]}, {"rebuilding": [2]}]
    ids = [run.id for run in runs.expand(parse(DISK + STATES + WORK))]
    assert len(set(ids)) == 4
    # A healthy array is the one that nothing is said of.
    assert ids[1] == runs.expand(parse(DISK + 'array = "5 members=3"\n' + WORK))[0].id


def test_a_member_s_faults_are_a_dimension_too() -> None:
    text = DISK + 'array = "5 members=3"\n' + WORK + "[[faults]]\n" + SLOW + 'name = "slow"\nmember = 2\n'
    healthy, slow = described(text)
    assert "faults" not in healthy and slow["faults"]["member"] == 2 and slow["variant"] == "slow"
    # A single disk has no members: its run is as ever.
    both = described(DISK + 'array = ["none", "5 members=3"]\n' + WORK + SLOW + "member = 1\n")
    assert [one["faults"].get("member") for one in both] == [None, 1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (DISK + 'array-state = "failed=1"\n' + WORK, "a.toml:3: array-state: there is no array"),
        (DISK + 'array-state = "broken"\narray = "5 members=3"\n' + WORK, "3: .*write healthy, failed=N"),
        (DISK + 'array-state = "failed=3"\narray = "5 members=3"\n' + WORK, "3: .*has members 0 to 2"),
        (DISK + 'array-state = "failed=1+2"\narray = "5 members=3"\n' + WORK, "3: .*bears 1 failed"),
        (DISK + 'array-state = "failed=1"\narray = "0 members=3"\n' + WORK, "3: .*bears no failed"),
        (DISK + 'array-state = "failed=1+1"\narray = "6 members=4"\n' + WORK, "3: .*a member is there twice"),
        (DISK + 'array-state = ["failed=1", "failed=01"]\narray = "6 members=4"\n' + WORK,
         "3: .*there twice"),
        (DISK + WORK + SLOW + "member = 0\n", "a.toml:.*: member: there is no array"),
        (DISK + WORK + "[[faults]]\nmember = 0\n", "member = 0: of an array the member that fails"),
        (DISK + 'array = "5 members=3"\n' + WORK + SLOW, "of an array one member fails; write which"),
        (DISK + 'array = "5 members=3"\n' + WORK + SLOW + "member = 3\n",
         "member = 3: RAID-5 of 3 has members"),
        (DISK + 'array = "5 members=3"\narray-state = "failed=1"\n' + WORK + SLOW + "member = 1\n",
         "member = 1: by array-state = 'failed=1' it has failed already"),
    ],
)
def test_a_state_that_an_array_cannot_have_is_named_by_its_line(text: str, says: str) -> None:
    with pytest.raises(spec.SpecError, match=says):
        parse(text)


@pytest.mark.parametrize(
    ("words", "bears"),
    [("0 members=3", 0), ("1 members=3", 2), ("5 members=3", 1), ("6 members=4", 2), ("10 members=4", 1),
     ("10 members=6 layout=n3", 2)],
)
def test_what_an_array_bears_is_that_of_its_level(words: str, bears: int) -> None:
    found = arraywords.parse(words)
    assert found and found.bears() == bears


def test_an_array_that_is_not_as_it_was_asked_for_is_said() -> None:
    [failed, rebuilding] = described(DISK + STATES.replace('"healthy", ', "") + WORK)[1:]
    said = target.ArraySaid
    assert not testbed.array_wrong(failed, said(1, "idle", 0))
    assert not testbed.array_wrong(rebuilding, said(1, "recover", 7))
    [text] = testbed.array_wrong(rebuilding, said(0, "idle", 7))
    assert "the rebuild ended before" in text
    # A second member went, without any faults that say so; or none is missing.
    assert testbed.array_wrong(failed, said(2, "idle", 0)) == [
        "array: 2 members are missing, and by the question 1"]
    assert testbed.array_wrong(failed, said(0, "idle", 0))
    assert not testbed.array_wrong(failed | {"faults": {}}, said(2, "idle", 0))
    # What the others give is not lost, as long as enough of them are there.
    mended = [testbed.is_mended(failed, said(missing, "idle", 0)) for missing in (0, 1, 2)]
    assert mended == [True, True, False]
    assert not testbed.is_mended({}, None)
    assert not testbed.is_mended({"array": failed["array"] | {"level": "0"}}, said(0, "", 0))


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


@pytest.mark.parametrize(("words", "stored"), [
    # So it was measured in a lab, members of 4 TB, the last of 400 GiB: the fewer groups a
    # file system has, the more of its blocks have a stripe for themselves.
    ("0 members=4", 1.0), ("1 members=3", 2.998), ("5 members=5", 1.205), ("5 members=4", 1.749)])
def test_copies_and_parity_are_among_what_mkfs_stores(words: str, stored: float) -> None:
    array = arraywords.parse(words)
    assert array and array.surely_stored(0) * precheck.SURE <= stored <= array.stored() * 1.01
    made = plan.needs("ext4", int(4e12 * array.data_members())).made
    # By that the backing is just too small, or just large enough.
    for room, told in ((stored * made * 0.99, True), (array.stored() * made * 1.2, False)):
        text = f'[disk]\nprofile = "seagate-exos-x20-20tb"\nsize = "4TB"\narray = "{words}"\n'
        found = parse(text + f'backing = "{int(room) >> 20}M"\n' + WORK)
        said = [line for line in precheck.memory(found, 1) if "alone stores up to" in line]
        assert bool(said) == told, (room, said)
        if said:
            assert f"on {array.word}, of " in said[0]


def test_an_age_is_a_dimension_by_a_recipe_of_david_age(tmp_path, monkeypatch) -> None:
    (tmp_path / "old.toml").write_text('fs = "xfs"\nfiles = 70\nchurn = 3.0\n')
    text = DISK + 'age = ["none", "old.toml", "small"]\n' + WORK
    # Where the caller is, other recipes have these names.
    (tmp_path / "elsewhere").mkdir()
    for name in ("small", "olden", "old.toml"):
        (tmp_path / "elsewhere" / name).write_text('size = "1T"\nfiles = 99\n')
    monkeypatch.chdir(tmp_path / "elsewhere")
    new, old, small = list(runs.describe(spec.parse(text, "a.toml", tmp_path)))
    assert [one["variant"] for one in (new, old, small)] == ["new", "aged by old", "aged by small"]
    # The disk and the file system are the question's.
    assert "age" not in new and not {"size", "fs", "mkfs"} & old["age"].keys()
    assert (old["age"]["files"], small["age"]["files"]) == (70, 1000)
    for words, says in (('age = "olden"\n', "a.toml:3: age = 'olden': there is no such file"),
                        ('age = "small"\n[[filesystem]]\ntype = "none"\n', "a.toml:3: age: of ext4.* not of "
                                                                           "none")):
        with pytest.raises(spec.SpecError, match=says):
            parse(DISK + words + '[[workload]]\nkind = "random-read"\n')


def test_figures_of_members_are_sums_but_for_what_they_share() -> None:
    one = {"state": "ok", "fault": "none", "block_size": 4096, "late_max": 5, "late": [1, 2], "name": "a",
           "reach": {"pages": 3, "first": 1, "end": 2, "most_first": 1, "most_end": 2},
           "busy_ns": 7, "pool_saved": 2, "pool_memory": 8}
    other = one | {"state": "full", "fault": "room", "late_max": 9, "late": [1, 0, 4], "name": "b"}
    assert target.together([one, other]) == {
        "state": "full", "fault": "room", "block_size": 4096, "late_max": 9, "late": [2, 2, 4], "name": "a",
        "reach": {"pages": 6, "first": 2, "end": 4, "most_first": 2, "most_end": 4},
        "busy_ns": 14, "pool_saved": 2, "pool_memory": 8}
    assert target.together([one]) is one
    assert not any(target.together([one | {"reach": dict.fromkeys(one["reach"], 0)}] * 3)["reach"].values())


@pytest.mark.parametrize("strayed", [0, 1])
def test_a_mirror_that_nothing_is_read_from_has_no_heads_that_stayed(strayed: int) -> None:
    """md reads from one of them, one request at a time: its heads went over all of the disk, but a hundredth
    at either end. A page that the other one was asked for changes little."""
    size = 1_000_000
    busy = {"pages": 300, "first": 7000, "end": 995_000, "most_first": 10_000, "most_end": 990_000}
    idle = {"pages": strayed, "first": 8, "end": 16, "most_first": 8, "most_end": 16} if strayed else (
        dict.fromkeys(busy, 0))
    rest = {"state": "ok", "fault": "none", "block_size": 4096, "late_max": 5, "late": [1, 2], "name": "a",
            "busy_ns": 7, "pool_saved": 2, "pool_memory": 8, "target_sectors": size}
    for members in ([busy, idle], [idle, busy], [idle, idle, busy]):
        found = target.together([rest | {"reach": one} for one in members])
        share = doubts.reach_of(found)
        assert share["stroked_bytes"] / share["disk_bytes"] == pytest.approx(0.98, abs=0.01), (members, share)


def run_of(lab, name: str) -> dict[str, Any]:
    found = lab.labs.wait(LAB, {"run": name})
    assert found and not found["error"] and not found["left"], found
    [result] = found["results"]
    assert result["times"]["good"] is True and not result["wrong"], (result["times"], result["wrong"])
    return dict(result)


AS_SIMULATED = ("raid6-read", "raid6-write", "raid5-degraded", "raid5-slow")


@pytest.mark.lab(LAB, *AS_SIMULATED)
@pytest.mark.parametrize("name", AS_SIMULATED)
def test_an_array_is_as_fast_as_david_sim_s(lab, name: str) -> None:
    array, kind, operations, depth, *more = benchrun.ARRAYS[name]
    result = run_of(lab, name)
    expected = arrayruns.simulated(array, kind, operations, depth, *more)
    assert not arrayruns.wrong(result, expected, operations, arrayruns.SHORT), (expected, result["stats"])
    assert not doubts_of(result) & {"failed", "unmet_faults"}, result["doubts"]
    # Planted: an array whose parity is one block less is another one; and so is a healthy one.
    planted = arrayruns.simulated(array if more else "5 members=12", "random-write" if not more else kind,
                                  operations, depth)
    assert arrayruns.wrong(result, planted, operations, arrayruns.SHORT)


def doubts_of(result: dict[str, Any]) -> set[str]:
    return {doubt["kind"] for doubt in result["doubts"]}


@pytest.mark.lab(LAB, "raid5-degraded", "raid5-rebuilding")
def test_a_rebuild_goes_on_beside_the_reads(lab) -> None:
    degraded, rebuilding = (run_of(lab, name)["array"] for name in ("raid5-degraded", "raid5-rebuilding"))
    assert degraded == {"degraded": 1, "action": "idle", "rebuilt_bytes": 0}
    assert (rebuilding["degraded"], rebuilding["action"]) == (1, "recover")
    result = run_of(lab, "raid5-rebuilding")
    # Nobody else writes, but md its superblocks. What it fills it has read on both others. The kernel counts
    # what has ended, and dm-david what it was asked: what is under way at either end may be told of one only.
    sectors, rebuilt = result["stats"]["sectors"], rebuilding["rebuilt_bytes"]
    assert rebuilt > 8 << 20 and abs(sectors["write"] * 512 - rebuilt) <= 256 << 10, (sectors, rebuilt)
    assert sectors["read"] * 512 == pytest.approx(2 * rebuilt, rel=0.1)
    # Its requests are no doubts of the workload's.
    assert not doubts_of(result) & {"cached_reads", "short_stroke", "cached_writes"}, result["doubts"]


@pytest.mark.lab(LAB, "raid5-latent", "raid1-unmet")
def test_an_array_mends_what_a_member_cannot_read(lab) -> None:
    result = run_of(lab, "raid5-latent")
    faults = result["stats"]["faults"]
    assert faults["media_read"] > 2 and result["array"]["degraded"] == 0, faults
    # md reads a bad block past its stripe cache, then by way of it, and writes it then: it can be read again.
    assert faults["media_read"] == 2 * faults["moved"] and not faults["media_write"], faults
    assert not doubts_of(result) & {"failed", "unmet_faults"}, result["doubts"]
    assert "unmet_faults" in doubts_of(run_of(lab, "raid1-unmet"))


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
