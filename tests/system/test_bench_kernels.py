# SPDX-License-Identifier: GPL-2.0
"""david bench: kernels as a dimension of a question. No lab: kernels of the user's are made up."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from davidlib.bench import kernelwords, labrun, parts, runs, spec
from davidlib.lab import own_kernel
from davidlib.util import UserError
from test_bench import DISK, WORK, parse, result_of

SOURCE = ("Makefile", "Kconfig", "Kbuild", "kernel/sched/core.c", "arch/x86/Makefile")


def tree(top: Path, name: str) -> Path:
    """What looks like a kernel's source."""
    for file in SOURCE:
        (top / name / file).parent.mkdir(parents=True, exist_ok=True)
        (top / name / file).write_text("VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 1\n")
    return top / name


def built(top: Path, source: Path, digest: str, virtual_time: str = "yes") -> str:
    """What was built of a tree, as own_kernel.py leaves it."""
    where = top / f"uml-6.12.1-{digest}"
    where.mkdir()
    found = own_kernel.About(str(source), "6.12.1", digest * 8, "interface", virtual_time)
    (where / own_kernel.ABOUT).write_text(json.dumps(asdict(found)))
    return str(where)


def read(text: str, base: Path) -> spec.Spec:
    return spec.parse(text, "a.toml", base)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ('kernel = "6"', "a.toml:1: kernel: 6: want a version such as 6.12, newest, or a directory"),
        ('kernel = ["6.12", "6.12"]', "a.toml:1: kernel: a value is there twice"),
        ('kernel = "newest"', "a.toml:1: kernel: --virtual-time: the uml lab's newest kernel has several"),
        ('kernel = "./nosuch"', "a.toml:1: kernel: there is no directory .*/nosuch"),
        ('kernel = "~nobody-there/linux"', "a.toml:1: kernel: there is no directory .*/~nobody"),
        ("kernel = []", "a.toml:1: kernel: an empty list leaves nothing to run"),
        ('kernel = "./empty"', "a.toml:1: kernel: .*/empty: no source tree of a kernel"),
        ('kernel = ["./linux", "./other/linux"]', "a.toml:1: kernel: two of them are called linux"),
        ('kernel = "./linux"\nwhere = "vm"', "a.toml:1: kernel: .*/linux: .* --kind uml only"),
        ('kernel = "6.12"\nwhere = "here"', 'a.toml:1: kernel: where = "here" has the kernel of this'),
        ("kernel = 6.12", "a.toml:1: kernel = 6.12: want a text"),
    ],
)
def test_a_kernel_that_no_lab_has_is_named_before_anything_is_built(tmp_path: Path, words: str,
                                                                    says: str) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("linux", "other/linux"):
        tree(tmp_path, name)
    with pytest.raises(spec.SpecError, match=says):
        read(f"{words}\n{DISK}{WORK}", tmp_path)


def test_the_lab_s_own_kernel_by_name_is_the_run_that_was_there_before() -> None:
    [before], [named] = (runs.expand(parse(text + DISK + WORK)) for text in ("", 'kernel = "6.12"\n'))
    assert before.id == named.id and "kernel" not in named.described
    assert "--kernel" not in labrun.command(named.described, Path("/x"))


def two(top: Path) -> tuple[spec.Spec, list[runs.Run]]:
    """A question about Debian's kernel and one of the user's, which was built."""
    source = tree(top, "linux")
    found = read(f'kernel = ["6.12", "./linux"]\nseeds = [1, 2]\n{DISK}{WORK}', top)
    there = built(top, source, "0123456789")
    found.kernels = [kernelwords.Kernel(there if "/" in one.name else one.name, one.factors)
                     for one in found.kernels]
    return found, runs.expand(found)


def test_two_kernels_are_two_variants_and_each_run_boots_its_own(tmp_path: Path) -> None:
    found, all_runs = two(tmp_path)
    assert [(run.variant, run.described["seed"]) for run in all_runs] == \
        [("kernel 6.12", 1), ("kernel 6.12", 2), ("kernel linux", 1), ("kernel linux", 2)]
    assert len({run.id for run in all_runs}) == 4
    last = labrun.command(all_runs[-1].described, Path("/x"))
    assert last[last.index("--kernel") + 1] == found.kernels[1].name
    assert all_runs[-1].described["parts"]["lab"]["kernel"] == "6.12.1 of linux, 0123456789"


def test_a_run_is_known_by_the_kernel_and_not_by_where_it_was_built(tmp_path: Path) -> None:
    found, all_runs = two(tmp_path)
    moved = tmp_path / "moved"
    Path(found.kernels[1].name).rename(moved)
    found.kernels[1] = kernelwords.Kernel(str(moved), found.kernels[1].factors)
    assert runs.expand(found)[-1].id == all_runs[-1].id
    found.kernels[1] = kernelwords.Kernel(built(tmp_path, tmp_path / "linux", "abcdef0123"),
                                          found.kernels[1].factors)
    assert runs.expand(found)[-1].id != all_runs[-1].id


def results_of(found: list[runs.Run]) -> list[dict]:
    """As the runs would leave them: each kernel says another version of itself."""
    loaded = []
    for run in found:
        one = json.loads(result_of(run.described["seed"], 3.0))
        one["run"], one["id"] = run.described, run.id
        one["versions"]["kernel"] = "6.12.1" if "kernel" in run.described else "6.12.117"
        loaded.append(one)
    return loaded


def test_a_page_has_two_kernels_only_where_the_question_has(tmp_path: Path) -> None:
    _, found = two(tmp_path)
    loaded = results_of(found)
    parts.refuse_mixture(loaded)
    # One of them from before the tree was changed
    last = loaded[-1]["run"]
    loaded[-1]["run"] = last | {"parts": last["parts"] | {"lab": {"kernel": "older"}}}
    with pytest.raises(UserError, match="the lab's kernel that is called linux is .* of the one, older of"):
        parts.refuse_mixture(loaded)
    loaded = results_of(found)
    for one in loaded:
        one["run"] = one["run"] | {"factors": {}}
    with pytest.raises(UserError, match="the lab's kernel is "):
        parts.refuse_mixture(loaded)


def test_a_tree_without_virtual_time_is_refused_where_the_question_wants_that(tmp_path: Path) -> None:
    found, _ = two(tmp_path)
    none = built(tmp_path, tmp_path / "linux", "fedcba9876", "uml-time.patch does not apply")
    with pytest.raises(UserError, match="none: uml-time.patch does not apply"):
        kernelwords.built("virtual", [kernelwords.Kernel(none)], build=False)
    assert kernelwords.built("uml", [kernelwords.Kernel(none)], build=False)[0].name == none
    assert kernelwords.built("virtual", found.kernels, build=False) == found.kernels


def test_the_newest_kernel_is_told_by_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernelwords.stock, "version", lambda name: {"newest": "7.3"}.get(name, name))
    found = read(f'where = "uml"\nkernel = ["6.12", "newest"]\n{DISK}{WORK}', tmp_path)
    found.kernels = kernelwords.built(found.where, found.kernels, build=False)
    all_runs = runs.expand(found)
    assert [run.variant for run in all_runs] == ["kernel 6.12", "kernel newest"]
    assert all_runs[1].described["kernel"] == "7.3"
    assert "uml-smp.config" in all_runs[1].described["parts"]["lab"]


def test_a_tree_that_is_not_built_yet_is_listed_as_such(tmp_path: Path,
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_kernel, "KERNELS", tmp_path / "cache")
    source = tree(tmp_path, "linux")
    found = read(f'kernel = ["6.12", "./linux"]\n{DISK}{WORK}', tmp_path)
    found.kernels = kernelwords.built(found.where, found.kernels, build=False)
    assert found.kernels[1].name == str(source)
    all_runs = runs.expand(found)
    assert all_runs[1].described["parts"]["lab"]["kernel"] == "none yet"
