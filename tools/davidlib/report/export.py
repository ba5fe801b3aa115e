# SPDX-License-Identifier: GPL-2.0
"""The drawings as PNG and SVG, the tables as CSV, beside the page."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from ..bench.results import COLUMNS, columns
from ..util import write_whole
from . import factors, plots, theme
from .filenames import file_words

Runs = list[dict[str, Any]]


def table(runs: Runs) -> str:
    """A line for each run."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(columns(one) for one in runs)
    return out.getvalue()


def samples(runs: Runs) -> str:
    """A line for each sample of each run."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["run", *(runs[0]["result"]["columns"] if runs else [])])
    for one in runs:
        writer.writerows([one["id"], *row] for row in one["result"]["samples"])
    return out.getvalue()


def drawings(runs: Runs, metric: str, top: Path) -> int:
    """Each drawing of each workload and group in both forms; how many files that is."""
    count, facets = 0, factors.facets(runs)
    for (_, mine), words in zip(facets, file_words([name for name, _ in facets]), strict=True):
        for what, (_, draw) in plots.drawings(mine, metric).items():
            stem = f"{words}-{what}"
            for kind in ("svg", "png"):
                write_whole(top / f"{stem}.{kind}", plots.rendered(draw, theme.LIGHT, kind))
                count += 1
    return count
