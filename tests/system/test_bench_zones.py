# SPDX-License-Identifier: GPL-2.0
"""david bench: drives with zones. What cannot be on one is said with its line; what can be is held to
david-sim's.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace

import pytest

import benchrun
from davidlib.bench import precheck, runs, spec, testbed
from labjob import TREE
from test_bench import LAB, WORK, parse

SYSTEMS = tuple(f"zoned-{fs}" for fs in benchrun.ZONED_SYSTEMS)
SYSTEMS_LAB = replace(LAB, name="bench-zones", runs=SYSTEMS, usually=30)
DISK, FLASH = "wd-ultrastar-dc-hc620-14tb", "wd-ultrastar-dc-zn540-1tb"
RAW = '[[filesystem]]\ntype = "none"\n'
ZBD = '[[workload]]\nkind = "fio"\njob = "[a]\\nrw=write\\nbs=64k\\ndirect=1\\nzonemode=zbd\\nsize=1z"\n'


def drive(name: str, more: str = "") -> str:
    return f'[disk]\nprofile = "{name}"\n{more}'


def system(kind: str) -> str:
    return f'[[filesystem]]\ntype = "{kind}"\n'


WRONG = [
    (drive(DISK, 'array = "1 members=2"\n') + RAW + ZBD, "a.toml:3: array: .* has zones"),
    (drive(DISK, 'age = "desktop"\n') + system("btrfs") + WORK, "a.toml:3: age"),
    (drive(FLASH, 'precondition = "random"\n') + RAW + ZBD, "a.toml:3: precondition: .* its zones say"),
    (drive(DISK, 'profile-option = ["precondition=random"]\n') + RAW + ZBD, "precondition: what of"),
    (drive(DISK, 'size = "100GB"\n') + RAW + ZBD, "a.toml:3: size: .* zones of 256 MiB, .* nearest below"),
    (drive(DISK) + WORK, "type = 'ext4': .* has zones, which are written in order, and ext4: it writes"),
    (drive(DISK) + system("xfs") + WORK,
     "a.toml:4: type = 'xfs': .* needs Linux 6.15 and mkfs.xfs 6.14, and bench makes none there"),
    (drive(FLASH) + system("xfs") + WORK,
     "a.toml:4: type = 'xfs': .* 6.14, without conventional zones also a second device for its metadata"),
    (drive(FLASH) + system("f2fs") + WORK, "a.toml:4: type = 'f2fs': .* needs conventional zones"),
    (drive(DISK) + RAW + '[[workload]]\nkind = "random-write"\n', "a.toml:6: kind = 'random-write': it"),
    (drive(DISK) + RAW + '[[workload]]\nkind = "fio"\njob = "[a]\\nrw=write\\nzonemode=zbd\\n[b]\\n'
     'rw=write\\nstonewall\\nzonemode=none"\n', r"a.toml:7: job: \[b\] has no zonemode=zbd"),
    ('where = "vm"\nkernel = "6.1"\n' + drive(DISK) + RAW + ZBD, "a.toml:2: kernel = '6.1': .* Linux 6.12"),
    # By an option a drive gets zones, and by one it loses them.
    (drive("samsung-pm883", 'profile-option = ["zone_size=256MiB"]\n') + WORK, "type = 'ext4': samsung"),
]


@pytest.mark.parametrize(("text", "says"), WRONG, ids=[says[:40] for _, says in WRONG])
def test_what_cannot_be_on_zones_is_named_with_its_line(text: str, says: str) -> None:
    with pytest.raises(spec.SpecError, match=says):
        parse(text)


@pytest.mark.parametrize("text", [
    drive(DISK) + RAW + ZBD,
    drive(FLASH, 'precondition = "fresh"\n') + RAW + ZBD,
    drive(DISK, 'size = "256GiB"\n') + system("f2fs") + WORK,
    drive(FLASH) + system("btrfs") + WORK,
    drive(DISK, 'profile-option = ["zone_size=0"]\n') + WORK,
    'where = "uml"\nkernel = "newest"\n' + drive(DISK) + RAW + ZBD,
])
def test_what_can_be_on_zones_is_taken(text: str) -> None:
    assert parse(text).disks


def test_mkfs_is_told_of_zones_and_only_then() -> None:
    text = drive(DISK, 'profile-option = [["zone_size=0"], []]\n') + system("btrfs") + WORK
    plain, zoned = runs.describe(parse(text))
    assert "zoned" not in plain and zoned["zoned"]
    words = [testbed.mkfs_words(one["file_system"], 1, "/dev/disk", "zoned" in one) for one in (plain, zoned)]
    assert words[0] == [word for word in words[1] if word not in ("-O", "zoned", "-d", "-m", "single")]
    assert words[1][-1] == "/dev/disk" and "zoned" in words[1]
    # A file has no zones that mkfs could be asked about.
    found = parse(drive(FLASH) + '[[filesystem]]\ntype = "btrfs"\nmkfs = ["--nosuch"]\n' + WORK)
    precheck._systems(found)
    with pytest.raises(spec.SpecError, match="mkfs: "):
        precheck._systems(replace(found, disks=parse(drive("samsung-pm883") + WORK).disks))


@pytest.mark.lab(LAB, *benchrun.ZONED)
def test_fio_on_zones_takes_what_the_simulator_says(lab) -> None:
    for name, (profile, job) in benchrun.ZONED.items():
        found = lab.labs.wait(LAB, {"run": name})
        assert found and not found["error"], found
        [live] = found["results"]
        assert live["times"]["good"] is True and not live["wrong"], (name, live["wrong"])
        sim = [TREE / "build" / "david-sim", "bench", "--json", "--no-doubts", "--profile", profile]
        said = subprocess.run([*sim, "--job", job], capture_output=True, text=True)
        [modelled] = json.loads(said.stdout)["jobs"]
        assert live["operations"] == modelled["all"]["requests"] == 4000, (name, modelled["all"])
        mean = live["latency"]["write"]["mean_ns"] / 1000
        assert mean == pytest.approx(modelled["all"]["mean_us"], rel=0.02), (name, mean, modelled["all"])


@pytest.mark.seldom
@pytest.mark.lab(SYSTEMS_LAB, *SYSTEMS)
def test_a_file_system_on_zones_runs_and_its_appends_are_counted(lab) -> None:
    for name in SYSTEMS:
        found = lab.labs.wait(SYSTEMS_LAB, {"run": name})
        assert found and not found["error"], found
        [result] = found["results"]
        assert result["times"]["good"] is True and not result["wrong"], (name, result["wrong"])
        assert result["operations"] >= 60 and result["stats"]["written"]["squashed"] > 60, result["stats"]
        # Where no zone is conventional, data is appended.
        flash = benchrun.ZONED_SYSTEMS[name.removeprefix("zoned-")] == FLASH
        assert (result["stats"]["zones"]["append"] > 60) == flash, (name, result["stats"]["zones"])
