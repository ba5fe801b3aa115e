# SPDX-License-Identifier: GPL-2.0
"""Is every case run, does none import from another, and is every file told of in tests/README.md? No lab."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import test_device
import vmjobs
from cases import GROUPS, LAYERS, LONG, UML_ONLY, VIRTUAL, about, load, matching

HERE = Path(__file__).parent
EVERYTHING = GROUPS + LONG + LAYERS + VIRTUAL


def test_every_file_of_cases_is_in_one_group() -> None:
    files = [path.stem for path in (HERE / "cases").glob("*.py") if path.stem != "__init__"]
    assert sorted(files) == sorted(EVERYTHING)
    assert set(UML_ONLY) <= set(GROUPS)


@pytest.mark.seldom
def test_every_case_of_a_group_runs_in_the_uml_lab() -> None:
    """Those that several CPUs may break with two, with the full scale or DAVID_DEBUG=1 with one, too."""
    ran = [name for job in test_device.JOBS if (job.kind, job.kernel) == ("uml", "6.12") for name in job.runs]
    several = [name for job in test_device.JOBS if job.kind == "uml" and job.cpus > 1 for name in job.runs]
    expected = {name for name, case in load(GROUPS).items() if about(case).uml}
    assert expected <= {*ran, *several} and len(ran) == len(set(ran))


@pytest.mark.seldom
def test_what_several_cpus_may_break_runs_with_several() -> None:
    named = {name for name, case in load(EVERYTHING).items() if about(case).cpus} | set(load(("races",)))
    ran = {name for job in test_device.JOBS if job.kind == "uml" and job.cpus > 1 for name in job.runs}
    assert named == ran


def test_what_the_uml_lab_cannot_run_the_vm_lab_does() -> None:
    cases = load(EVERYTHING)
    known = {name: about(case) for name, case in cases.items()}
    assert not [name for name, its in known.items() if not (its.uml or its.vm or its.stock)]
    assert not [name for name, its in known.items() if set(its.vm) & set(its.stock)]


def test_every_function_of_a_file_of_cases_is_a_case_or_is_used() -> None:
    """Without its decorator a case would not be run, and nothing would say so."""
    words = Counter(re.findall(r"\w+", "\n".join(path.read_text() for path in HERE.rglob("*.py"))))
    unused = []
    for path in (HERE / "cases").glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and not node.decorator_list:
                unused += [node.name] if words[node.name] < 2 else []
    assert not unused


def test_every_kernel_that_a_case_names_is_the_vm_labs() -> None:
    cases = load(EVERYTHING)
    named = {(kernel, name) for name in cases for kernel in vmjobs.kernels_of(name, cases[name])}
    ran = {(job.kernel, name) for job, name in test_device.CHOSEN if job.kind == "vm"}
    assert named <= ran
    assert {kernel for case in cases.values() for kernel in about(case).stock} <= set(vmjobs.KERNELS)
    assert all(name in job.runs for job, name in test_device.CHOSEN)


def test_a_pattern_that_matches_nothing_is_refused() -> None:
    cases = load(("store",))
    assert matching(cases, ("store.full*",)) == ("store.full_store_fails_clearly",)
    with pytest.raises(ValueError, match="store.nosuch"):
        matching(cases, ("store.*", "store.nosuch*"))


def test_the_readme_tells_of_every_file_once() -> None:
    text = (HERE.parent / "README.md").read_text().partition("## Files of system/")[2]
    told = re.findall(r"\w[\w-]*\.py|vm-init", "\n".join(re.findall(r"^\| ([^|]*) \|", text, re.MULTILINE)))
    rooms = [HERE, HERE / "helpers", HERE / "streams"]
    files = [path.name for room in rooms for path in room.glob("*.py") if path.stem != "__init__"]
    assert sorted(told) == sorted([*files, "vm-init"])


def test_no_case_imports_from_a_case_and_no_helper_from_any() -> None:
    """What two of them need is a helper's. The package itself has the decorator."""
    wrong = []
    for path in [*HERE.glob("cases/*.py"), *HERE.glob("helpers/*.py"), *HERE.glob("streams/*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            wrong += [f"{path.name}:{node.lineno}" for module in modules if module.startswith("cases.")]
    assert not wrong
