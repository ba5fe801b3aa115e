# SPDX-License-Identifier: GPL-2.0
"""The drawings as PNG and SVG, the tables as CSV, beside the page."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from ..bench.results import COLUMNS, columns
from ..util import write_whole
from . import figures, plots, theme
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
    """Each drawing of each workload in both forms; how many files that is."""
    count = 0
    names = list(dict.fromkeys(one["run"]["workload"]["name"] for one in runs))
    for name, words in zip(names, file_words(names), strict=True):
        for what, (_, draw) in plots.drawings(figures.of_workload(runs, name), metric).items():
            stem = f"{words}-{what}"
            for kind in ("svg", "png"):
                write_whole(top / f"{stem}.{kind}", plots.rendered(draw, theme.LIGHT, kind))
                count += 1
    return count
