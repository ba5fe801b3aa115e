# SPDX-License-Identifier: GPL-2.0
"""david bench: a question whose values are lists, and the mistakes that only programs know. No lab."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import pytest

from davidlib.bench import durations, loop, mountoptions, precheck, runs, spec
from davidlib.bench.results import Results
from davidlib.util import KERNELS
from davidlib.workload import fiojob
from test_bench import DISK, WORK, parse, result_of

HITACHI, SSD = "hitachi-hds721010kla330", "samsung-pm883"
JOB = 'kind = "fio"\njob = """\n[a]\nrw=randread\nbs={block}\nrandseed_of={seed}\n"""\n'


def described(text: str) -> list[dict]:
    return list(runs.describe(parse(text)))


def test_each_list_is_a_dimension_and_a_run_says_its_values() -> None:
    text = f"""seeds = [3, 4]
[disk]
profile = ["{HITACHI}", "{SSD}"]
size = ["200GB", "400GB"]
precondition = ["random", "sequential"]
profile-option = [["write_cache=off"], []]
[[filesystem]]
type = ["ext4", "xfs"]
mount = ["noatime", ""]
[[workload]]
kind = "random-read"
block = ["4K", "64K"]
processes = [1, 4]
"""
    found = described(text)
    # The disk has no precondition: three drives and pasts, two sizes, two options; by hand.
    assert len(found) == (1 + 2) * 2 * 2 * 2 * 2 * 2 * 2 * 2
    assert len({(one["variant"], one["seed"]) for one in found}) == len(found)
    [one] = [one for one in found if one["variant"] == "xfs, mounted as it is, samsung-pm883, 400 GB, "
             "write_cache=off, precondition sequential, block 64K, processes 4" and one["seed"] == 4]
    assert one["profile_options"] == ["write_cache=off", "precondition=sequential"]
    assert (one["size"], one["file_system"]["mount"]) == (400 * 10**9, "")
    assert (one["workload"]["params"]["block"], one["workload"]["params"]["processes"]) == (65536, 4)
    assert one["factors"] == {
        "file system": "xfs", "mount": "mounted as it is", "drive": SSD, "size": "400 GB",
        "profile-option": "write_cache=off", "precondition": "sequential", "block": "64K", "processes": "4"}
    assert all("precondition" not in one["factors"] for one in found if one["profile"] == HITACHI)


SET = f"""seeds = [1, 2, 3]
[[disk]]
name = "disk"
profile = "{HITACHI}"
age = ["none", "small"]
[[disk]]
profile = "{SSD}"
age = ["none", "small"]
[[disk]]
name = "RAID-6"
profile = "{HITACHI}"
array = "6 members=12"
age = ["none", "small"]
backing = "2G"
[[filesystem]]
type = ["ext4", "xfs", "btrfs"]
[[workload]]
kind = "varmail"
"""


def test_several_tables_of_disks_are_a_dimension_without_their_product() -> None:
    """An SSD and an array of disks, and no array of SSDs."""
    found = described(SET)
    assert len(found) == 3 * 3 * 2 * 3
    assert {(one["factors"]["disk"], one["profile"], "array" in one, one["backing"] >> 20) for one in found} \
        == {("disk", HITACHI, False, 512), (SSD, SSD, False, 512), ("RAID-6", HITACHI, True, 2048)}
    assert {tuple(one["factors"]) for one in found} == {("file system", "disk", "age")}
    assert found[-1]["variant"] == "btrfs, RAID-6, aged by small"
    # One table alone is none, in either way of writing it.
    for head in ("[disk]", "[[disk]]"):
        [one] = described(f'{head}\nname = "it"\nprofile = "{SSD}"\n{WORK}')
        assert one["factors"] == {}


@pytest.mark.parametrize(("old", "new", "says"), [
    ('name = "RAID-6"', 'name = "disk"', "a.toml:10: .*two are called 'disk'"),
    ('backing = "2G"', 'baking = "2G"', "a.toml:14: baking: unknown here; did you mean backing"),
    ('backing = "2G"', 'classify = "data"', "a.toml:14: classify = 'data': not with an array"),
    ('backing = "2G"', 'option = "store=memory"', "a.toml:14: option = 'store=memory': not with an array"),
    ('array = "6 members=12"\nage = ["none", "small"]', 'array = "6 members=12"\nage = "smal"',
     "a.toml:13: age = 'smal': there is no such file"),
    ('[[disk]]\nprofile', '[disk]\nprofile', "a.toml:6: not TOML"),
])
def test_a_mistake_in_one_of_several_disks_is_named_by_its_line(old: str, new: str, says: str) -> None:
    with pytest.raises(spec.SpecError, match=says):
        parse(SET.replace(old, new))


def test_files_of_one_name_are_refused_across_disks(tmp_path: Path) -> None:
    for number, name in enumerate("ab"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "own.profile").write_text(f"capacity = {number + 1} GiB\n")
    text = "".join(f'[[disk]]\nname = "{name}"\nprofile = "{name}/own.profile"\n' for name in "ab") + WORK
    with pytest.raises(spec.SpecError, match="a.toml:6: profile: two of them are called own"):
        spec.parse(text, "a.toml", tmp_path)


def test_what_all_runs_share_is_no_factor() -> None:
    [one] = described(DISK + 'size = ["1T"]\n[[filesystem]]\ntype = ["xfs"]\nmount = ["noatime"]\n' + WORK +
                      "files = [7]\n")
    assert one["factors"] == {} and one["variant"] == "xfs" and one["workload"]["params"]["files"] == 7


def test_words_for_mkfs_are_a_list_and_several_lists_are_a_dimension() -> None:
    table = '[[filesystem]]\ntype = "ext4"\nmkfs = '
    [one] = described(DISK + table + '["-O", "^has_journal", "-O", "bigalloc"]\n' + WORK)
    assert one["file_system"]["mkfs"] == ["-O", "^has_journal", "-O", "bigalloc"]
    found = described(DISK + table + '[["-J", "size=64"], []]\n' + WORK)
    assert [one["variant"] for one in found] == ["-J size=64", "mkfs alone"]


def test_a_job_has_its_parameters_from_the_question() -> None:
    text = DISK.replace("[disk]", "seeds = [8, 9]\n[disk]") + "[[workload]]\n" + 'block = ["4k", "1m"]\n' + \
        'kind = "fio"\njob = """\n[a]\nrw=randread\nbs={block}\nfilename=f.{seed}.{block}\n"""\n'
    found = described(text)
    lines = [re.findall("bs=.*|filename=.*", one["workload"]["params"]["job"]) for one in found]
    assert lines == [[f"bs={block}", f"filename=f.{seed}.{block}"]
                     for block in ("4k", "1m") for seed in (8, 9)]
    assert [one["factors"] for one in found] == [{"block": block} for block in ("4k", "4k", "1m", "1m")]


def test_a_metric_is_asked_of_each_value_of_a_parameter() -> None:
    """With a depth of 1 the mean of a synced write is known, with 8 it is not."""
    deep = "fsync=1\niodepth={{depth}}\nioengine=libaio\ndirect=1"
    job = f'kind = "fio"\ndepth = {{}}\njob = """\n[a]\nrw=randwrite\n{deep}\n"""\n'
    assert not spec.refuse_metric(parse(DISK + "[[workload]]\n" + job.format("[1]")), "mean")
    assert "iodepth=8" in spec.refuse_metric(parse(DISK + "[[workload]]\n" + job.format("[1, 8]")), "mean")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (DISK + WORK + "files = []", "a.toml:5: files: an empty list leaves nothing to run"),
        (DISK + WORK + "files = [7, 7]", "a.toml:5: files: 7 is there twice"),
        (DISK + WORK + 'files = [7, "x"]', "a.toml:5: files = 'x': want a whole number"),
        (DISK + WORK + "processes = [1, 0]", "a.toml:5: processes = 0: too small"),
        (DISK + '[[workload]]\nkind = "random-read"\nblock = ["4K", 4096]',
         "a.toml:5: block: 4096 is there twice"),
        (DISK + '[[workload]]\nkind = "command"\ncommand = ["a", "b"]',
         "a.toml:5: command: one text; what differs"),
        (DISK + '[[workload]]\nkind = "random-read"\nfiles = [1, 1000]',
         "a.toml:5: files: files = 1000: at most"),
        (DISK + "[[workload]]\n" + JOB,
         "a.toml:5: job: {block}: there is no block in this .*; there are seed"),
        (DISK + '[[workload]]\nblock = "4k"\nblok = 1\n' + JOB, "a.toml:5: blok: unknown here"),
        (DISK + "[[workload]]\nblock = []\n" + JOB, "a.toml:4: block: an empty list, or"),
        (DISK + "[[workload]]\nblock = [1, 1]\n" + JOB,
         "a.toml:4: block: an empty list, or a value that is there"),
        (DISK + "[[workload]]\nblock = [[1]]\n" + JOB, "a.toml:4: block = \\[1\\]: want a text or a number"),
        (DISK + "[[workload]]\n" + JOB.replace("{block}", "${BS}"),
         "a.toml:5: job: \\${BS}: a lab has no such"),
        (DISK + 'precondition = "random"\n' + WORK, "a.toml:3: precondition: only an SSD has one"),
        (DISK.replace(HITACHI, SSD) + 'precondition = "worn"\n' + WORK,
         "a.toml:3: precondition = 'worn': not one"),
        (DISK + 'profile-option = [["a=1"], "b=2", 3]\n' + WORK, "a.toml:3: profile-option = 3: want a text"),
        (DISK + 'profile-option = [["a=1"], ["a=1"]]\n' + WORK,
         "a.toml:3: profile-option: a list is there twice"),
        # The last one counted, and the run was named by both.
        (DISK + 'profile-option = ["rpm=5400", "rpm=7200"]\n' + WORK,
         "a.toml:3: profile-option: rpm is there twice"),
        (DISK.replace(HITACHI, SSD) + 'precondition = "random"\nprofile-option = "precondition=x"\n' + WORK,
         "a.toml:4: profile-option: precondition is there twice"),
        # Names that do not show, or not as they are.
        (DISK + WORK + 'name = ""', "a.toml:5: name = '': want letters that show"),
        (DISK + WORK + 'name = "a "', "a.toml:5: name = 'a ': want letters that show"),
        (DISK + WORK + 'name = "a\\nb"', "a.toml:5: name = "),
        (DISK + WORK + 'name = "a\\u202eb"', "a.toml:5: name = "),
        (DISK + '[[filesystem]]\ntype = "xfs"\nname = "\\t"\n' + WORK, "a.toml:5: name = "),
        (DISK + '[[workload]]\nkind = "random-read"\nblock = 0', "a.toml:5: block: '0' is no size"),
        (DISK + '[[filesystem]]\ntype = ["ext4", "xfs"]\nmkfs = "-K"\n' + WORK,
         "a.toml:5: mkfs: of several types; write a"),
        (DISK + '[[filesystem]]\ntype = ["ext4", "ext9"]\n' + WORK, "a.toml:4: type = 'ext9': not one of"),
        (DISK + '[[filesystem]]\ntype = ["ext4", "xfs"]\n[[filesystem]]\ntype = "xfs"\n' + WORK,
         "a.toml:5: name = 'xfs': there twice"),
    ],
)
def test_a_mistake_in_a_list_is_named_by_its_line(text: str, says: str) -> None:
    with pytest.raises(spec.SpecError, match=says):
        parse(text)


EXT4 = '[[filesystem]]\ntype = "ext4"\n'
FIO = '[[workload]]\nkind = "fio"\njob = """\n[a]\nrw={}\nsize=1M\n"""\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (DISK + 'profile-option = "rpms=1"\n' + WORK, "a.toml:3: profile-option: hitachi.*rpms"),
        (DISK + 'profile-option = [[], ["write_cache=perhaps"]]\n' + WORK,
         "a.toml:3: .*none of off, through"),
        (DISK + EXT4 + 'mkfs = ["-O", "no_such_thing"]\n' + WORK, "a.toml:5: mkfs: .*no_such_thing"),
        (DISK + EXT4.replace("ext4", "xfs") + 'mkfs = ["-d", "agcount=1000000000"]\n' + WORK,
         "a.toml:5: mkfs: "),
        (DISK + EXT4.replace("ext4", "btrfs") + 'mkfs = ["-n", "5000"]\n' + WORK,
         "a.toml:5: mkfs: .*nodesize"),
        (DISK + EXT4 + 'mount = "noatim"\n' + WORK, "a.toml:5: .*no such option; noatime?"),
        (DISK + EXT4 + 'mount = ["noatime", "data=wrong"]\n' + WORK,
         "a.toml:5: .*data=journal|ordered|writeback"),
        (DISK + EXT4 + 'mount = "commit=soon"\n' + WORK, "a.toml:5: .*commit=NUMBER"),
        (DISK + FIO.format("randsweep"), "a.toml:5: job: .*randsweep"),
        (DISK + WORK + '[[faults]]\nname = "a"\nfaults = "slow:facto=4"\n', "a.toml:7: .*no word \"facto"),
        (DISK + WORK + '[[faults]]\nfaults = "gone,slow:factor=4:sectors=5-2"\n', "a.toml:6: .*sectors="),
    ],
)
def test_a_mistake_that_programs_know_is_found_before_a_lab_starts(text: str, says: str) -> None:
    found = parse(text)
    with pytest.raises(spec.SpecError, match=says):
        precheck.check(found)


def test_what_programs_take_is_no_mistake() -> None:
    precheck.check(parse(DISK + 'size = "2T"\nprofile-option = ["write_cache=off", "ncq_depth=1"]\n' + EXT4 +
                         'mkfs = ["-J", "size=64"]\nmount = ["noatime,data=writeback", "commit=30", ""]\n' +
                         FIO.format("randread") + '[[faults]]\nfaults = "gone"\n'))


LARGE = '[disk]\nprofile = "seagate-exos-x20-20tb"\nsize = "{}"\nbacking = "{}"\n'


@pytest.mark.parametrize(
    ("top", "size", "backing", "systems", "more", "says"),
    [
        # By david plan mkfs.ext4 stores 264 MiB of 20 TB and 1.42 GiB of 100 TB, btrfs 0.4 MiB.
        ("", "20TB", "128M", ["ext4"], "", "a.toml:4: backing: mkfs.ext4 alone stores at least 238 MiB on a "
         "disk of 20.0 TB .*, and the backing is 128 MiB"),
        ("", "20TB", "300M", ["ext4"], "", ""),
        ("", "20TB", "250M", ["ext4"], "", ""),  # perhaps
        ('memory = "1G"\n', "100TB", "2G", ["btrfs", "ext4"], "",
         "a.toml:1: memory: mkfs.ext4 alone stores at least 1.28 GiB on a disk of 100 TB .*, in "
         "a lab's memory of 1G"),
        ('memory = "2G"\n', "100TB", "4G", ["btrfs", "ext4"], "", ""),
        ('memory = "256M"\n', "100TB", "4G", ["btrfs"], "", ""),  # a backing is sparse
        ('memory = "1G"\nwhere = "here"\n', "100TB", "2G", ["ext4"], "", ""),
        # Each copy of a mirror is stored, and parity at least where the drives differ.
        ("", "20TB", "700M", ["ext4"], 'array = "1 members=3"\n', "a.toml:4: backing: mkfs.ext4 alone stores "
         "at least 713 MiB on RAID-1 of 3, of 20.0 TB .*, and the backing is 700 MiB"),
        ("", "20TB", "720M", ["ext4"], 'array = "1 members=3"\n', ""),
        ("", "20TB", "480M", ["ext4"], 'array = "1 members=3"\narray-state = "failed=1"\n', ""),
        ("", "4TB", "200M", ["ext4"], 'array = "5 members=5"\n', ""),
        ("", "4TB", "180M", ["ext4"], 'array = "5 members=5"\n', "a.toml:4: backing: mkfs.ext4 alone stores "
         "at least 191 MiB on RAID-5 of 5"),
        ("", "4TB", "180M", ["ext4"], 'array = "5 members=5"\narray-state = "failed=4"\n', ""),
        # What that takes nobody knows.
        ("", "20TB", "128M", ["ext4"], 'mkfs = ["-O", "^has_journal,bigalloc", "-C", "65536"]\n', ""),
    ],
)
def test_a_store_without_room_for_mkfs_is_refused_before_the_first_run(
        top: str, size: str, backing: str, systems: list[str], more: str, says: str) -> None:
    of_disk, of_system = (more, "") if "array" in more else ("", more)
    made = "".join(f'[[filesystem]]\ntype = "{system}"\n{of_system}' for system in systems)
    found = parse(top + LARGE.format(size, backing) + of_disk + made + WORK)
    if says:
        with pytest.raises(spec.SpecError, match=says):
            precheck._stores(found)
    else:
        precheck._stores(found)


def test_a_lab_larger_than_the_machine_is_refused_before_the_first_run(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("davidlib.lab.memory.machines_megabytes", lambda: 2047)
    with pytest.raises(spec.SpecError, match="a.toml:1: memory = '2G': this machine has 2047 MiB"):
        precheck.of_machine(parse('memory = "2G"\n' + DISK + WORK))
    precheck.of_machine(parse('memory = "2047M"\n' + DISK + WORK))
    precheck.of_machine(parse('memory = "2G"\nwhere = "here"\n' + DISK + WORK))


def test_a_store_larger_than_the_lab_is_said() -> None:
    larger = DISK + 'backing = "4G"\n' + WORK
    said = precheck.memory(parse(larger), 1)
    assert said == ["a backing of 4.00 GiB is in a lab's memory of 1G: a run fails where it stores more than "
                    "there is free"]
    assert not precheck.memory(parse('memory = "4G"\n' + larger), 1)
    assert not precheck.memory(parse('where = "here"\n' + larger), 1)


def test_the_options_of_a_mount_are_those_of_the_kernel_s_source() -> None:
    """Each name in its tables, and no other. A kernel that was fetched built has left no source."""
    trees = [path.parents[2] for path in KERNELS.glob("uml-6.12*/fs/ext4/super.c")]
    if not trees:
        pytest.skip("the kernel's source is not here")
    tree = trees[0]
    places = {"ext4": "fs/ext4/super.c", "xfs": "fs/xfs/xfs_super.c", "btrfs": "fs/btrfs/super.c"}
    for system, path in places.items():
        text = re.sub(r"/\*.*?\*/", "", (tree / path).read_text(), flags=re.DOTALL)
        there = set()
        for no, name in re.findall(r'fsparam(?:_(?:flag(_no)?|\w+))?\s*\((?:NULL, )?\s*"([\w-]+)=?"', text):
            there |= {name, f"no{name}"} if no else {name}
        mine = {rule.partition("=")[0] for rule in mountoptions.OPTIONS[system].split()}
        assert mine == there, (system, mine ^ there)


def test_a_list_says_what_differs_and_how_long_it_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                        capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(durations, "KEPT", tmp_path / "seconds.json")
    text = "seeds = [1, 2]\n" + DISK + '[[filesystem]]\ntype = ["ext4", "xfs"]\n' + WORK
    found, results = runs.expand(parse(text)), Results(tmp_path / "a")
    loop.list_runs(results, found)
    assert capsys.readouterr().out.splitlines()[3] == f"{found[3].id}  to do  [xfs]"
    # Of several workloads each run says of which it is: an id has the kind alone.
    two = runs.expand(parse(text + WORK.replace("[[workload]]", '[[workload]]\nname = "again"')))
    loop.list_runs(results, two)
    assert capsys.readouterr().out.splitlines()[-1] == f"{two[-1].id}  to do  [again: xfs]"
    lines = loop.summary(results, found, 2).splitlines()
    assert lines[:2] == ["file system: ext4, xfs", "seed: 1, 2"]
    assert lines[2] == ("4 runs, 4 to be done: of 4 runs it is not known how long they take: none like them "
                        "was done on this machine")
    # Another seed is alike; another file system is not.
    durations.note([(found[0], 30.0)])
    assert loop.summary(results, found, 2).splitlines()[2].startswith(
        "4 runs, 4 to be done: 2 runs take about 30 s, 2 at a time; of 2 runs it is not known")
    results.begin(text, found)
    results.add(found[0], result_of(1, 3.0))
    assert "4 runs, 3 to be done: 1 runs take about 15 s" in loop.summary(results, found, 2)
    # A drive that fails may take far longer than a healthy one.
    failing = runs.expand(parse(text + '[[faults]]\npreset = "vibration"\n'))
    assert "of 4 runs it is not known" in loop.summary(results, failing, 2)


def test_how_long_a_run_took_is_in_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durations, "KEPT", tmp_path / "seconds.json")
    text = "seeds = [1, 2]\n" + DISK + WORK
    found, results = runs.expand(parse(text)), Results(tmp_path / "a")
    results.begin(text, found)

    def run_all(todo: list[runs.Run], progress: loop.Progress, *_: object) -> None:
        for run in todo:
            progress.done(run, {"text": result_of(run.described["seed"], 3.0), "took": 12.5})

    monkeypatch.setattr(loop, "run_all", run_all)
    monkeypatch.setattr(loop, "inner", lambda *words: 0)
    assert loop.do(argparse.Namespace(workers=1, scheduler=""), results, found, 1) == 0
    assert json.loads(durations.KEPT.read_text()) == {durations.likeness(found[0]): 12.5}
    assert not any("12.5" in path.read_text() for path in results.runs.iterdir())


def test_a_job_of_the_precheck_is_the_one_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fiojob, "JOB", str(tmp_path / "job"))
    fiojob._job_file("/mnt", {"job": "[a]\nrw=read"}, 7)
    assert (tmp_path / "job").read_text() == fiojob.text("/mnt", "[a]\nrw=read", 7)
