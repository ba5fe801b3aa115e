# SPDX-License-Identifier: GPL-2.0
"""The drawings as SVG, PNG, PDF and CSV, the tables as CSV, beside the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..bench.results import COLUMNS, columns
from ..util import write_whole
from . import answer, charts, factors, figures, forms, plots, why
from .filenames import file_words

Runs = list[dict[str, Any]]


def table(runs: Runs) -> str:
    """A line for each run."""
    return forms.as_csv((COLUMNS, map(columns, runs)))


def samples(runs: Runs) -> str:
    """A line for each sample of each run."""
    head = ["run", *(runs[0]["result"]["columns"] if runs else [])]
    return forms.as_csv((head, ([one["id"], *row] for one in runs for row in one["result"]["samples"])))


def answers(runs: Runs, metric: str, top: Path) -> None:
    """The page's tables of the answer and of what an operation costs, in each form."""
    tables = {"answer": answer.table(runs, metric)}
    if why.known(runs):
        tables["why"] = why.head(runs), why.rows(runs)
    for name, table in tables.items():
        for kind, form in forms.FORMS.items():
            write_whole(top / f"{name}.{kind}", form(table))


def drawings(runs: Runs, metric: str, top: Path) -> int:
    """Each drawing of each workload and group in each form; how many files that is."""
    found: list[tuple[str, charts.Drawing]] = []
    workloads = list(dict.fromkeys(one["run"]["workload"]["name"] for one in runs))
    for name, words in zip(workloads, file_words(workloads), strict=True):
        mine = figures.of_workload(runs, name)
        found.append((f"{words}-comparison", plots.comparison(mine, metric)))
        curves = plots.curves(mine, metric)
        found += [(f"{words}-{end}", curve) for curve, end in
                  zip(curves, file_words([one.heading for one in curves]), strict=True)]
    facets = factors.facets(runs)
    for (_, group), words in zip(facets, file_words([name for name, _ in facets]), strict=True):
        found += [(f"{words}-{what}", drawing) for what, drawing in plots.of_group(group).items()]
    for stem, drawing in found:
        for kind in charts.FORMS:
            write_whole(top / f"{stem}.{kind}", drawing.rendered(kind))
    return len(found) * len(charts.FORMS)
