# SPDX-License-Identifier: GPL-2.0
"""Is ways.toml complete: does each page have a row for each layer, which says what is right? No lab."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from cases import load
from helpers.waylayers import LAYERS
from helpers.waypages import PAGES, Way, ways

TREE = Path(__file__).parents[2]
CLAIMS = [TREE / "docs/CLASSIFICATION.md", TREE / "dm-david/owner/WHY.md"]


def test_each_page_has_one_row_for_each_layer() -> None:
    rows = Counter((way.page, way.layer) for way in ways())
    assert rows == Counter((page, layer) for layer in LAYERS for page in PAGES)


@pytest.mark.parametrize("way", ways(), ids=lambda way: f"{way.page} through {way.layer}".replace(" ", "_"))
def test_each_row_says_what_is_right_and_who_claims_it(way: Way) -> None:
    assert bool(way.right) != bool(way.none), "what is right, or why there is none"
    assert way.right in ("", "dropped", "kept"), way.right
    text = "\n".join(path.read_text() for path in CLAIMS)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    assert way.who in headings, f"neither CLASSIFICATION.md nor owner/WHY.md has a section {way.who!r}"


def test_what_is_no_data_is_dropped_nowhere() -> None:
    never = ("anonymous, to the device", "swap", "kernel memory")
    assert not [way for way in ways() if way.page in never and way.right == "dropped"]


def test_each_layer_is_a_case() -> None:
    cases = list(load(("waystable",)))
    for layer in LAYERS:
        words = re.sub(r"\W+", "_", layer).lower()
        for mode in ("auto", "explicit"):
            assert f"waystable.every_page_through_{words}_is_judged_as_in_the_table_in_{mode}" in cases
