# SPDX-License-Identifier: GPL-2.0
"""What a david device must do, case by case. Cases run in a lab, many in one boot; see caserun.py.

A case is a function without arguments that raises Failed (or anything) if something is wrong. Its name
states the behaviour. It leaves nothing behind: devices are made by context managers.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

Case = Callable[[], None]

GROUPS = ("tables", "content", "store", "life", "tools", "timing", "implicit")
GROUPS += ("selfid", "sums", "rawfiles", "byfile", "durable", "moving", "powercut", "faults", "ways")
GROUPS += ("requestfaults", "unclassified", "nbd", "otherfs", "logfault", "security", "rawstore")
GROUPS += ("rawinode", "rawnames", "crossings", "xfsdirs", "xfsquota", "crypt", "packed", "kernels")
GROUPS += ("plan", "requestway")
# Where asked for by name:
LONG = ("long", "sumslong", "sumsimplicit", "unclassifiedlong", "races", "rawnameslong", "vmguest")
# Who else writes to the disk: writers.toml has the list of them.
LAYERS = (
    "volumes",
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
)
VIRTUAL = ("vtime",)  # for the virtual clock only


def load(groups: tuple[str, ...] = GROUPS) -> dict[str, Case]:
    """Cases by name, "group.function", in the order of the files."""
    found: dict[str, Case] = {}
    for group in groups:
        module = importlib.import_module(f"cases.{group}")
        for name, value in vars(module).items():
            if getattr(value, "is_case", False) and value.__module__ == module.__name__:
                found[f"{group}.{name}"] = value
    return found


def case(function: Case) -> Case:
    function.is_case = True  # type: ignore[attr-defined]
    return function
