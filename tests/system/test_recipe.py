# SPDX-License-Identifier: GPL-2.0
"""Does CONTRIBUTING's "A new file system" list every place that one has? No lab.

f2fs is the example: what names it is in the recipe, or is about what f2fs alone has.
"""

from __future__ import annotations

import fnmatch
import re
import subprocess
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]
CONTRIBUTING = TREE / "docs" / "CONTRIBUTING.md"
HEADING = "## A new file system\n"
# Documents, cases that use f2fs for something, planted bugs, and what is made of other places.
OF_ITS_OWN = (
    "docs/*",
    "*/WHY.md",
    "dm-david/base/inject.h",
    "tests/README.md",
    "tests/system/cases/*",
    "tests/system/helpers/f2fs.py",
    "tests/system/test_layers.py",
    "tests/system/test_recipe.py",
    "tests/system/test_trace.py",
    "tests/system/trials-references.json",
)


def recipe() -> str:
    return CONTRIBUTING.read_text().partition(HEADING)[2].partition("\n## ")[0]


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("| `")]


def places(text: str) -> set[str]:
    """Files in backticks, by their paths."""
    return {name for name in re.findall(r"`([\w./-]+)`", text) if (TREE / name).is_file()}


def named_in() -> set[str]:
    """Tracked files that name f2fs and are not about it alone."""
    command = ["git", "grep", "-Il", "-i", "f2fs"]
    found = subprocess.run(command, cwd=TREE, text=True, capture_output=True, check=True)
    names = set(found.stdout.splitlines())
    return {name for name in names if not any(fnmatch.fnmatch(name, of) for of in OF_ITS_OWN)}


def forgotten(text: str) -> set[str]:
    return named_in() - places(text)


@pytest.mark.skipif(not (TREE / ".git").exists(), reason="no clone: nobody says which files are tracked")
def test_the_recipe_names_every_place_of_a_file_system() -> None:
    assert not forgotten(recipe())


@pytest.mark.skipif(not (TREE / ".git").exists(), reason="no clone: nobody says which files are tracked")
def test_a_place_that_is_missing_in_the_recipe_is_found() -> None:
    text = recipe()
    for row in rows(text):
        without = text.replace(row + "\n", "")
        assert forgotten(without) == named_in() & (places(text) - places(without)), row
    assert len(forgotten("")) > 12
