# SPDX-License-Identifier: GPL-2.0
"""The drawings as SVG, PNG, PDF and CSV, the tables as CSV, beside the page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..bench.results import COLUMNS, columns
from ..util import write_whole
from . import answer, charts, factors, figures, forms, plots, why
from .filenames import file_words

Runs = list[dict[str, Any]]
SMALL = 6  # pt: who reads a paper does not like less


def table(runs: Runs) -> str:
    """A line for each run."""
    return forms.as_csv((COLUMNS, map(columns, runs)))


def samples(runs: Runs) -> str:
    """A line for each sample of each run."""
    head = ["run", *(runs[0]["result"]["columns"] if runs else [])]
    return forms.as_csv((head, ([one["id"], *row] for one in runs for row in one["result"]["samples"])))


def answers(runs: Runs, metric: str, top: Path) -> list[str]:
    """The page's tables of the answer and of what an operation costs, in each form. What has to be said of
    them."""
    tables = {"answer": answer.table(runs, metric)}
    if why.known(runs):
        tables["why"] = why.head(runs), why.rows(runs)
    for name, table in tables.items():
        for kind, form in forms.FORMS.items():
            write_whole(top / f"{name}.{kind}", form(table))
    # A page of LaTeX is no wider than one of HTML.
    if why.known(runs):
        write_whole(top / "why.tex", "\n".join(map(forms.as_latex, why.tables(runs))))
    foreign = "".join(dict.fromkeys("".join(forms.not_in_latex(table) for table in tables.values())))
    return [f"answer.tex and why.tex: pdflatex does not know {foreign}; lualatex does, with a font that has "
            "it"] if foreign else []


@dataclass(frozen=True)
class Place:
    """What a drawing's files are called, and what it is of."""

    stem: str
    of: str  # a workload, or a group
    drawing: charts.Drawing


def _places(runs: Runs, metric: str) -> list[Place]:
    found: list[Place] = []
    workloads = list(dict.fromkeys(one["run"]["workload"]["name"] for one in runs))
    for name, words in zip(workloads, file_words(workloads), strict=True):
        mine = figures.of_workload(runs, name)
        found.append(Place(f"{words}-comparison", name, plots.comparison(mine, metric)))
        curves = plots.curves(mine, metric)
        found += [Place(f"{words}-{end}", name, curve) for curve, end in
                  zip(curves, file_words([one.heading for one in curves]), strict=True)]
    facets = factors.facets(runs)
    for (name, group), words in zip(facets, file_words([name for name, _ in facets]), strict=True):
        found += [Place(f"{words}-{what}", name, drawing) for what, drawing in plots.of_group(group).items()]
    return found


def drawings(runs: Runs, metric: str, top: Path, width: float | None = None) -> list[str]:
    """Each drawing of each workload and group in each form, and what they are, as captions say it. WIDTH is
    of those for a paper, in pt. What has to be said of them."""
    places = _places(runs, metric)
    letters: list[float] = []
    for place in places:
        if width:
            made, size = place.drawing.in_a_paper(width)
            letters.append(size)
        else:
            made = {kind: place.drawing.rendered(kind) for kind in charts.FORMS}
        for kind, data in made.items():
            write_whole(top / f"{place.stem}.{kind}", data)
    head = ("file", "of", "heading", "description")
    write_whole(top / "drawings.csv", forms.as_csv((head, (
        (place.stem, place.of, place.drawing.heading, place.drawing.description) for place in places))))
    small = [size for size in letters if size < SMALL]
    return [f"{len(small)} of {len(letters)} drawings have letters below {SMALL} pt, down to "
            f"{min(small):.1f} pt: their names are long; ask for a larger --width"] if small else []
