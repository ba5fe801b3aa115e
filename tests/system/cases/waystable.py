# SPDX-License-Identifier: GPL-2.0
"""Every kind of page through every layer is dropped, or kept, as tests/system/ways.toml has it."""

from __future__ import annotations

import re

from helpers.guest import Failed
from helpers.waylayers import LAYERS
from helpers.waypages import tried

from cases import case

# Where page owners speak; auto's veto has no part in what is right.
MODES = ("auto", "explicit")
# In make check, one of each kind: what hands pages on, in pieces or whole, copies, reads, encrypts, holds
# them back, or speaks for itself. `make ways` and the full scale have all layers. seenthrough.py lives file
# systems on the arrays and volumes that are left out here.
DAILY = (
    *("none", "partition", "LVM", "md raid1", "md raid5", "loop, buffered", "loop, direct, told"),
    *("loop, direct, on a file", "crypt", "thin", "cache, writeback", "fake disk with a rule"),
    *("fake disk that keeps", "fake disk that only models"),
)
# With explicit in make check, too.
SHORT = ("none", "loop, direct, on a file")


def is_right(layer: str, mode: str) -> None:
    cells = tried(layer, mode)
    for cell in cells:
        print(f"way: {cell.way.page} | {layer} | {mode} | {cell.way.right} | {cell.found}", flush=True)
    if wrong := [f"{cell.way.page}: {cell.wrong}" for cell in cells if cell.wrong]:
        raise Failed("\n".join(wrong))


def cases_of(layer: str) -> None:
    for mode in MODES:

        def one(mode: str = mode) -> None:
            is_right(layer, mode)

        words = re.sub(r"\W+", "_", layer).lower()
        one.__name__ = f"every_page_through_{words}_is_judged_as_in_the_table_in_{mode}"
        one.__module__ = __name__
        globals()[one.__name__] = case(one, full=layer not in (DAILY if mode == "auto" else SHORT))


assert {*DAILY, *SHORT} <= {*LAYERS}
for layer in LAYERS:
    cases_of(layer)
