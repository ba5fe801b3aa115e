# SPDX-License-Identifier: GPL-2.0
"""What the files of workloads' drawings are called: names of workloads may be in any letters, and long."""

from __future__ import annotations

import re
from collections import Counter

LONGEST = 60  # letters of a workload's name in that of a file


def file_words(names: list[str]) -> list[str]:
    """What files of workloads with these names are called: in letters of ASCII, short, and each another."""
    words = [re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:LONGEST] for name in names]
    counts = Counter(word.lower() for word in words)
    return [word if word and counts[word.lower()] == 1 else f"{word or 'workload'}-{at}"
            for at, word in enumerate(words, 1)]
