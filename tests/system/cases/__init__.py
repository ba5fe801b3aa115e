# SPDX-License-Identifier: GPL-2.0
"""What a david device must do, case by case. Cases run in a lab, many in one boot; see caserun.py.

A case is a function without arguments that raises Failed (or anything) if something is wrong. Its name
states the behaviour. It leaves nothing behind: devices are made by context managers.

Every case of GROUPS runs in the uml lab of one CPU, unless it says @case(uml=False, vm=...). What several
CPUs may break says @case(cpus=True), and runs with two in the one of the newest kernel; with one for `make
stock`, with the full scale and on the debug kernel. @case(vm=...) names the kernels of the vm lab: there
programs are slow without KVM, so it runs what may differ between kernels, such as who owns a page or has a
disk mounted. @case(stock=...) names further ones, for `make stock` alone.

What takes seconds of CPU time, and breaks only together with what is shorter, says @case(seldom=True): `make
check` leaves it out, `make land` and `make system` do not.
"""

from __future__ import annotations

import fnmatch
import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from helpers.units import DAILY

Case = Callable[[], None]

GROUPS = ("tables", "content", "store", "life", "tools", "timing", "implicit")
GROUPS += ("selfid", "sums", "rawfiles", "byfile", "durable", "moving", "powercut", "faults", "ways")
GROUPS += ("requestfaults", "unclassified", "nbd", "otherfs", "logfault", "security", "rawstore")
GROUPS += ("rawinode", "rawnames", "crossings", "xfsdirs", "xfsquota", "crypt", "compressed", "kernels")
GROUPS += ("plan", "requestway", "arrays", "seenthrough", "commands", "pools", "poolcuts")
GROUPS += ("copied", "legs", "raids", "benchhere", "calibration", "sharing")
GROUPS += ("recordings", "diskimages", "poolimages", "fullmirror", "packing", "twins", "waystable")
GROUPS += ("targets", "filled", "figures", "drivefaults", "hangs", "zoned", "zoneddisks", "zonedfs")
GROUPS += ("memfigures", "cpufigures", "zonedgroup", "refused")
# Page owners, names and quotas, the same on every kernel: not in the vm lab, where programs are slow.
UML_ONLY = ("rawfiles", "byfile", "xfsquota", "crypt", "compressed", "plan", "arrays", "pools", "poolcuts")
UML_ONLY += ("raids", "calibration", "sharing")
UML_ONLY += ("recordings", "diskimages", "poolimages", "fullmirror", "waystable", "filled", "figures")
UML_ONLY += ("drivefaults", "hangs", "zoned", "zoneddisks", "zonedfs", "memfigures")
UML_ONLY += ("cpufigures", "zonedgroup", "refused")
# Where asked for by name:
LONG = ("long", "sumslong", "sumsimplicit", "unclassifiedlong", "races", "rawnameslong", "vmguest")
LONG += ("attacks", "zonedlarge", "zonedxfs")
# Who else writes to the disk: writers.toml has the list of them.
LAYERS = (
    "volumes",
    "coincidence",
    "divided",
    "shrunk",
    "formats",
    "caches",
    "mirrors",
    "aftercut",
    "readpast",
    "fstools",
    "strangers",
    "images",
    "lvm",
    "upkeep",
    "stacked",
    "randomlives",
    "speakers",
    "inloops",
)
VIRTUAL = ("vtrace", "vtime", "vflash", "vreplay", "vcalibrate", "vblocks",  # for the virtual clock only
           "vrebuild", "vmends", "vzoned", "vlayouts")


@dataclass(frozen=True)
class About:
    vm: tuple[str, ...] = ()  # kernels of the vm lab that run the case, too
    stock: tuple[str, ...] = ()  # further ones, with `make stock` only
    uml: bool = True  # the uml lab can run it
    cpus: bool = False  # several CPUs may break it
    complaints: str = ""  # what the kernel may say meanwhile, a pattern of re
    full: bool = False  # with DAVID_SCALE=full only
    planted: bool = False  # plants a bug: needs a module built with DAVID_PLANT=1
    debug: bool = False  # needs what only the debug kernel has
    seldom: bool = False  # not in `make check`


def case(
    function: Case | None = None,
    *,
    vm: str = "",
    stock: str = "",
    uml: bool = True,
    cpus: bool = False,
    complaints: str = "",
    full: bool = False,
    planted: bool = False,
    debug: bool = False,
    seldom: bool = False,
) -> Any:
    """Bare, or with what is known About the case. `vm` and `stock` are words: "6.1 newest"."""

    def mark(function: Case) -> Case:
        function.about = About(  # type: ignore[attr-defined]
            tuple(vm.split()), tuple(stock.split()), uml, cpus, complaints, full, planted, debug, seldom
        )
        return function

    return mark(function) if function else mark


def about(function: Case) -> About:
    return function.about  # type: ignore[attr-defined]


def load(groups: tuple[str, ...] = GROUPS) -> dict[str, Case]:
    """Cases by name, "group.function", in the order of the files."""
    found: dict[str, Case] = {}
    for group in groups:
        module = importlib.import_module(f"cases.{group}")
        for name, value in vars(module).items():
            if hasattr(value, "about") and getattr(value, "__module__", "") == module.__name__:
                found[f"{group}.{name}"] = value
    return found


def chosen(groups: tuple[str, ...] = GROUPS) -> dict[str, Case]:
    """Those of load() that these tests are to run: in `make check` none that is marked as seldom."""
    return {name: case for name, case in load(groups).items() if not (DAILY and about(case).seldom)}


def matching(cases: Iterable[str], patterns: Iterable[str]) -> tuple[str, ...]:
    """The names that a pattern matches; a pattern without any is a mistake."""
    names = tuple(cases)
    chosen: set[str] = set()
    for pattern in patterns:
        found = [pattern] if pattern in names else fnmatch.filter(names, pattern)
        if not found:
            raise ValueError(f"{pattern} matches no case")
        chosen.update(found)
    return tuple(name for name in names if name in chosen)
