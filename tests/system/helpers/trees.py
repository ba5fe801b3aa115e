# SPDX-License-Identifier: GPL-2.0
"""What manifest.py lists of a tree must be as it was, or a test fails."""

from __future__ import annotations

from helpers.guest import Failed
from helpers.manifest import difference


def equal(when: str, expected: list[str], found: list[str]) -> None:
    if wrong := difference(expected, found):
        raise Failed(f"{when}: the tree differs:\n" + "\n".join(wrong))
