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
        globals()[one.__name__] = case(one, full=mode != "auto" and layer not in SHORT)


for layer in LAYERS:
    cases_of(layer)
