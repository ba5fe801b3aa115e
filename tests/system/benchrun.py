#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs of `david bench` in one lab: what davidlib/bench/testbed.py does, a line "RESULT {json}" each."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from davidlib import filesystems
from davidlib.bench import runs, spec, target, testbed
from davidlib.paper import images, plan, requests, storage, table2, table3
from davidlib.disk import dm
from davidlib.workload import called
from helpers import arrayruns, secondplaces
from helpers.davidtool import david
from helpers.guest import loop_disk

DISK = '[disk]\nprofile = "hitachi-hds721010kla330"\n'
EXOS, MICRON, SHINGLED = "seagate-exos-x20-20tb", "micron-7300-pro", "seagate-st8000as0002"
SMALL_CACHE = ('profile-option = ["segments=8", "segment_sectors=128sectors", '
               '"write_buffer=1024sectors"]\n')
# By name: drive, more of the disk, file system, workload.
DOUBTED = {
    "cache-takes-writes": (EXOS, "", "none", 'kind = "random-write"\noperations = 300\n'),
    "cache-is-full": ("hitachi-hds721010kla330", SMALL_CACHE, "none",
                      'kind = "random-write"\noperations = 300\nsteady = true\n'),
    # A store of 4 MiB has no room for what is written, if it is kept.
    "raw-is-data": ("hitachi-hds721010kla330", 'backing = "4M"\n' + SMALL_CACHE, "none",
                    'kind = "random-write"\noperations = 300\nblock = "64K"\n'),
    "never-settles": (EXOS, "", "none",
                      'kind = "random-write"\noperations = 300\nsteady = true\nsettle = 400\n'),
    "memory-takes-writes": (EXOS, "", "xfs", 'kind = "fileserver"\noperations = 100\nfiles = 50\n'),
    "memory-reads": (EXOS, "", "xfs", 'kind = "webserver"\noperations = 200\nfiles = 20\n'),
    "cache-reads": (EXOS, "", "none", 'kind = "fio"\n'
                    'job = "[a]\\nrw=randread\\nbs=4k\\ndirect=1\\nsize=1M\\nio_size=8M\\nnorandommap"\n'),
    "stream-again": (EXOS, "", "none", 'kind = "fio"\n'
                     'job = "[a]\\nrw=read\\nbs=64k\\ndirect=1\\nsize=1M\\nio_size=64M"\n'),
    "overwritten": ("hitachi-hds721010kla330", "", "none", 'kind = "fio"\n'
                    'job = "[a]\\nrw=write\\nbs=64k\\ndirect=1\\nsize=4M\\nio_size=512M"\n'),
    "media-cache": (SHINGLED, "", "none", 'kind = "fio"\n'
                    'job = "[a]\\nrw=write:1M\\nbs=4k\\ndirect=1\\nsize=2G\\nnumber_ios=2000"\n'),
    "whole-bands": (SHINGLED, "", "none",
                    'kind = "sequential-write"\nblock = "1M"\noperations = 2000\n'),
    "blank": (MICRON, "", "none", 'kind = "random-read"\noperations = 300\n'),
    "erased": (MICRON, "", "none", 'kind = "random-write"\nblock = "1M"\noperations = 300\n'),
    "worn": (MICRON, 'profile-option = ["precondition=random"]\n', "none",
             'kind = "random-read"\noperations = 300\n'),
    # ext4's journal lies in the middle of the disk, btrfs's last superblock behind its first 256 GiB.
    "journal": (EXOS, "", "ext4", 'kind = "fio"\njob = "[a]\\nrw=randread\\nbs=4k\\ndirect=1\\nsize=64M\\n'
                'number_ios=1500"\n'),
    "superblocks": ("hitachi-hds721010kla330", 'size = "280GiB"\n', "btrfs",
                    'kind = "random-write"\noperations = 400\n'),
    "one-place": (EXOS, "", "xfs", 'kind = "random-read"\nfiles = 1\noperations = 100\n'),
    "several-settle": ("hitachi-hds721010kla330", SMALL_CACHE, "xfs",
                       'kind = "varmail"\nprocesses = 2\noperations = 600\nsteady = true\nfiles = 40\n'),
}
# By name: how an SSD was written before, kind of requests, how many. Held to david-sim's.
FLASH = str(Path(__file__).parent / "profiles" / "flash.profile")
BESIDE = {
    "beside-blank": ("fresh", "random-read", 500),
    "beside-written": ("random", "random-read", 500),
    "beside-erased": ("sequential", "random-write", 3000),
    "beside-worn": ("random", "random-write", 3000),
}
# By name: a drive with zones, and what david-sim is asked; fio does the same.
SEQUENTIAL = "write sequential size=64K depth=1 count=4000 warm=0"
ZONED = {"zoned-flash": ("wd-ultrastar-dc-zn540-1tb", SEQUENTIAL),
         # Its zone 600
         "zoned-disk": ("wd-ultrastar-dc-hc620-14tb", SEQUENTIAL + " at=150G")}
# The first zones of the disk are conventional, which some file systems need, and others then use alone.
ZONED_SYSTEMS = {name: "wd-ultrastar-dc-hc620-14tb" if "-m" in system.zoned else "wd-ultrastar-dc-zn540-1tb"
                 for name, system in filesystems.FILE_SYSTEMS.items() if system.zoned}
FEW_READS = '[[filesystem]]\ntype = "none"\n[[workload]]\nkind = "random-read"\noperations = 50\n'
# By name: a spec, and how often it is run.
SPECS = {
    "ext4-postmark": (DISK + '[[workload]]\nkind = "postmark"\nfiles = 40\noperations = 60\n', 2),
    "none-random-read": (DISK + FEW_READS, 1),
    # The drive fails, or is to: twice as slow, in places that nobody asks for, for all requests, later.
    "slow-hour": (DISK + FEW_READS + '[[faults]]\npreset = "slow-hour-disk"\n', 1),
    "slow-later": (DISK + FEW_READS + '[[faults]]\npreset = "slow-hour-disk"\nage = "2h"\n', 1),
    "gone": (DISK + FEW_READS + '[[faults]]\nfaults = "gone"\n', 1),
    **{name: (f"seeds = {seed}\n" + DISK + '[[filesystem]]\ntype = "none"\n[[workload]]\nkind = "fio"\n'
              'job = "[a]\\nrw=randwrite\\nbs=4k\\nfsync=1\\ndirect=1\\nsize=512M\\nnumber_ios=40"\n', 1)
       for name, seed in (("fio-fsync", 1), ("fio-fsync-2", 2))},
    "fio-waits": (DISK + '[[filesystem]]\ntype = "none"\n[[workload]]\nkind = "fio"\n'
                  'job = "[global]\\nrw=randread\\nbs=4k\\ndirect=1\\nnumber_ios=20\\n'
                  '[a]\\nthinktime=20ms\\n[b]\\nstonewall\\nrate_iops=40"\n', 1),
    # On a disk of which 256 MiB are little.
    **{f"{fs}-spread": (DISK + f'[[filesystem]]\ntype = "{fs}"\n[[workload]]\nkind = "random-read"\n'
                        "operations = 200\n", 1) for fs in ("ext4", "xfs")},
    **{name: (f'[disk]\nprofile = "{drive}"\n{disk}[[filesystem]]\ntype = "{fs}"\n[[workload]]\n{work}', 1)
       for name, (drive, disk, fs, work) in DOUBTED.items()},
    **{name: (f'[disk]\nprofile = "{FLASH}"\nprecondition = "{precondition}"\n'
              'profile-option = "precondition_fill=1"\noption = "store=memory"\n'
              '[[filesystem]]\ntype = "none"\n'
              f'[[workload]]\nkind = "{kind}"\noperations = {operations}\n', 1)
       for name, (precondition, kind, operations) in BESIDE.items()},
    **{name: (f'[disk]\nprofile = "{drive}"\nclassify = "data"\n[[filesystem]]\ntype = "none"\n[[workload]]\n'
              'kind = "fio"\njob = "[a]\\nrw=write\\nbs=64k\\ndirect=1\\nzonemode=zbd\\noffset=600z\\n'
              'size=1z\\nnumber_ios=4000"\n', 1)
       for name, (drive, _) in ZONED.items()},
    **{f"zoned-{fs}": (f'[disk]\nprofile = "{drive}"\nsize = "256GiB"\n'
                       f'[[filesystem]]\ntype = "{fs}"\n[[workload]]\nkind = "varmail"\nfiles = 40\n'
                       "operations = 60\n", 1) for fs, drive in ZONED_SYSTEMS.items()},
    # More is kept than half of the lab's memory of 1 GiB, which is what a tmpfs has room for by itself.
    "roomy": (DISK + 'backing = "700M"\nclassify = "keep"\n[[filesystem]]\ntype = "none"\n'
              '[[workload]]\nkind = "sequential-write"\nblock = "1M"\noperations = 560\n', 1),
    # Everything is kept, in a store that has no room for it.
    "full": (DISK + 'backing = "4M"\nclassify = "keep"\n[[filesystem]]\ntype = "none"\n'
             '[[workload]]\nkind = "random-write"\nblock = "64K"\n', 1),
}


# Array, workload, operations, depth; its state, and what fails of which member.
ARRAYS: dict[str, tuple[Any, ...]] = {
    "raid6-read": ("6 members=12", "random-read", 400, 1),
    "raid6-write": ("6 members=12", "random-write", 400, 1),
    "raid5-degraded": ("5 members=3", "random-read", 400, 1, "failed=1"),
    "raid5-rebuilding": ("5 members=3", "random-read", 100, 1, "rebuilding=1"),
    "raid5-slow": ("5 members=3", "random-read", 400, 1, "", ("slow:factor=2", 1)),
    "raid5-latent": ("5 members=3", "random-read", 100, 1, "", ("media-error:one_in=8", 1)),
    # Of idle mirrors md reads the first.
    "raid1-unmet": ("1 members=2", "random-read", 100, 1, "", ("slow:factor=4", 1)),
}
RECIPE = 'size = "1G"\nfs = "ext4"\nfiles = 40\ndirectories = 4\n'
# Of the paper's evaluation: a short form of what `david bench paper` does in labs of their own.
IMAGE = {"total": 64 << 20, "files": 60, "directories": 12, "mu": plan.IMAGE_MU, "sigma": plan.IMAGE_SIGMA}
SHORT = {"postmark": {"files": 60, "operations": 60}, "webserver": {"operations": 110},
         "varmail": {"operations": 40}}
PAPER = {
    "table2": (table2.run, "ext4", {"image": IMAGE} | SHORT),
    "kept": (storage.run, "ext3", {"image": IMAGE, "size": 2 << 30} | SHORT),
    "table3": (table3.run, "none", {"disks": 2, "requests": 60}),
    "figure1": (images.figure_1, "ext2", {"mu": 7.53, "sigma": 2.48, "files": 300}),
    "figure6": (requests.figure_6, "none", {"requests": 60}),
    "figure8": (images.figure_8, "ext4",
                {"drive": plan.HITACHI, "image": IMAGE | {"total": 1 << 30}, "backing": 64 << 20}),
}


def of_the_paper(name: str) -> dict[str, object]:
    experiment, fs, params = PAPER[name]
    said = {"run": name, "error": "", "result": {}}
    system = {"type": fs, "name": fs, "mkfs": [], "mount": ""}
    try:
        said["result"] = experiment({"params": params, "seed": 1, "file_system": system})
    except testbed.ERRORS as error:
        said["error"] = str(error)
    said["left"] = [disk for disk in (testbed.NAME, "upper", "lower", "m") if dm.exists(disk)]
    return said


def by_hand(seed: int) -> dict[str, object]:
    """What `david age` makes of the recipe."""
    Path("/tmp/by-hand.toml").write_text(RECIPE)
    with loop_disk(64 << 20) as store:
        david("age", "/tmp/by-hand.toml", "--backing", store, "-o", "/tmp/by-hand.image",
              "--seed", str(seed))
    return dict(json.loads(david("image", "show", "/tmp/by-hand.image", "--json"))["aged"])


def aged() -> dict[str, object]:
    Path("/tmp/recipe.toml").write_text(RECIPE)
    text = f'seeds = 5\n{DISK}size = "1G"\nage = "/tmp/recipe.toml"\n[[workload]]\nkind = "postmark"\n'
    said = one("aged", text + "files = 20\noperations = 20\n")
    return said | {"by_hand": by_hand(5)}


def of_an_array(name: str) -> dict[str, object]:
    """Of ARRAYS, or such a row in one word with its seed: "6 members=12/random-read/400/1/7"."""
    if name in ARRAYS:
        array, kind, operations, depth, *more = ARRAYS[name]
        return one(name, arrayruns.spec(array, kind, operations, depth, 1, *more))
    array, kind, operations, depth, seed = name.split("/")
    return one(name, arrayruns.spec(array, kind, int(operations), int(depth), int(seed)))


PLACES = {"places-ext4": ("ext4", ""), "places-xfs": ("xfs", ""),
          "places-array": ("ext4", 'array = "1 members=2"\n')}


def placed(name: str) -> dict[str, object]:
    """A run, with what a second way says of where its requests went; and the same, not recorded."""
    system, more = PLACES[name]
    text = f'seeds = 3\n{DISK}size = "20G"\n{more}[[filesystem]]\ntype = "{system}"\n'
    text += '[[workload]]\nkind = "varmail"\nfiles = 20\noperations = 40\n'
    [run] = runs.describe(spec.parse(text, name, Path("/")))
    journals, devices = [], []
    known_measure = testbed.measure

    def measure(run: dict, top: str, disk: target.Target, *rest: object) -> dict:
        devices.append(dm.minor(disk.disks[0]))
        result = known_measure(run, top, disk, *rest)
        # Not before: what it reads would be in memory.
        journals.append(None if more else secondplaces.journal_of(system, disk.path))
        return result

    testbed.measure = measure
    result, requests, start = secondplaces.told(lambda: testbed.phases(run))
    testbed.measure = known_measure
    journal = journals[0]
    wrong = secondplaces.complaints(result["places"], requests, start, devices[0], journal)
    # Planted: a request less, the journal elsewhere.
    planted = [secondplaces.complaints(result["places"], requests[1:], start, devices[0], journal)]
    if journal:
        planted.append(secondplaces.complaints(result["places"], requests, start, devices[0], []))
    recorder, testbed.recorder = testbed.recorder, lambda *_: None
    alone = testbed.phases(run)
    testbed.recorder = recorder
    return {"run": name, "wrong": wrong, "planted": planted, "requests": len(requests), "result": result,
            "alone": alone}


def one(name: str, text: str = "", times: int = 1) -> dict[str, object]:
    if not text:
        text, times = SPECS[name]
    [run] = runs.describe(spec.parse(text, name, Path("/")))
    said = {"run": name, "error": "", "results": []}
    try:
        said["results"] = [testbed.phases(run) for _ in range(times)]
    except testbed.ERRORS as error:
        said["error"] = str(error)
    said["left"] = target.there()
    said["versions"] = called.versions()
    return said


def main() -> None:
    for name in sys.argv[1:]:
        if name == "aged":
            said = aged()
        elif name in PLACES:
            said = placed(name)
        elif name in ARRAYS or "/" in name:
            said = of_an_array(name)
        else:
            said = of_the_paper(name) if name in PAPER else one(name)
        print("RESULT " + json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
