# SPDX-License-Identifier: GPL-2.0
"""One HTML file of everything: it opens without a network, in light and dark, on a phone and on a wall."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence
from typing import Any

from ..bench.dimensions import variant
from ..bench.metrics import METRICS
from ..bench.results import reached
from ..pages.document import document as whole
from ..pages.document import escape, table_of
from ..util import DAVID
from . import answer, factors, figures, origin, plots, script, thresholds, trust, why
from .charts import Drawing


def _summary(runs: list[dict[str, Any]], metric: str) -> str:
    head, rows = answer.table(runs, metric)
    return table_of(head, rows)


def _by_factor(runs: list[dict[str, Any]], metric: str) -> str:
    """A row for each group, a column for each value of what was asked; nothing where there is one group."""
    factor, found = factors.asked(runs), factors.groups(runs)
    if len(found) < 2 or not factor:
        return ""
    levels = list(dict.fromkeys(factors.level_of(one, factor) for one in runs))
    rows = []
    for group in found:
        values = factors.levels(group, runs, metric)
        cells = []
        for level in levels:
            told = figures.estimate(list(values[level].values())) if level in values else None
            between = answer.interval(told) if told else ""
            cells.append((answer.digits(told.mean) + (f" ({between})" if between else "")) if told else "-")
        best = figures.ranking(values, metric)[0]
        rows.append([group.workload, variant(group.others) or "all", *cells, best])
    head = ["workload", "within", *levels, "best mean"]
    return (f"<h2>{escape(METRICS[metric].label)}, by {escape(factor)}</h2>{table_of(head, rows)}"
            "<p>Means, with intervals of 95 % over seeds. Sentences above say which differences they "
            "show.</p>")


def _runs(runs: list[dict[str, Any]]) -> str:
    head = ["workload", "variant", "seed", "seconds", "operations", "MB/s", "store MiB", "memory KiB",
            "touched", "stroked", "times", "doubts"]
    rows = []
    for one in runs:
        run, result = one["run"], one["result"]
        last = result["stats"]
        rows.append([
            run["workload"]["name"], run["variant"], str(run["seed"]), answer.digits(result["seconds"]),
            str(result["operations"]), answer.digits(result["megabytes_per_s"]),
            answer.digits(last["store_used"] * last["block_size"] / (1 << 20)),
            answer.digits(sum(last["mem"].values()) / 1024),
            *(f"{100 * share:.3g} %" for share in reached(result)), result["times"]["text"],
            ", ".join(dict.fromkeys(doubt["kind"] for doubt in result["doubts"])) or "none",
        ])
    return table_of(head, rows)


def _why(runs: list[dict[str, Any]], metric: str) -> str:
    """What an operation costs; nothing of runs that an older dm-david made, which have no such figures."""
    if not why.known(runs):
        return ""
    said = "".join(f"<p>{escape(text)}</p>" for text in why.sentences(runs, metric))
    return (f"<h2>Why: what an operation costs</h2>{said}"
            f"{''.join(f'<p></p>{table_of(*table)}' for table in why.tables(runs))}"
            "<p>Means over seeds, of the measured span: what the disk was sent, and what its time went to, "
            "divided by the operations. Of two variants the sentences have what differs by the largest "
            "factor of what is sent, and by the most time; nothing of which the seeds leave it open. "
            "Metadata: of the blocks that were written, those that are no content of files; what a journal "
            "wrote is among them. Moved: by collection, of the pages of flash that were written. To the "
            "journal: writes to where ext3, ext4 and xfs have theirs; of others, and on an array, it is not "
            "known. Going on, and jumps: of requests in the order in which they come to the disk, each "
            "beside the one before; neither the host's scheduler nor the drive has reordered them yet. "
            f"{escape(why.untold(runs))}</p>")


def drawn(drawings: Iterable[Drawing], number: int, section: int) -> str:
    """The places of drawings, numbered from NUMBER on. A legend is of all that are in one section."""
    parts = []
    for at, drawing in enumerate(drawings, number):
        wide = ' class="wide"' if drawing.wide else ""
        parts.append(f'<figure{wide} data-drawing="{at}" data-section="{section}" '
                     f'aria-labelledby="drawing-{at}">'
                     f'<h3 id="drawing-{at}">{escape(drawing.heading)}</h3><div class="plot"></div></figure>')
    return f'<div class="grid">{"".join(parts)}</div>' if parts else ""


def _drawings(runs: list[dict[str, Any]], metric: str) -> tuple[str, list[Drawing]]:
    """Of each workload all variants, then what is over time, for each group."""
    parts: list[str] = []
    found: list[Drawing] = []
    facets = factors.facets(runs)
    for workload in dict.fromkeys(one["run"]["workload"]["name"] for one in runs):
        of_it = figures.of_workload(runs, workload)
        mine = [plots.comparison(of_it, metric), *plots.curves(of_it, metric)]
        parts.append(f"<h2>{escape(workload)}</h2>{drawn(mine, len(found), len(parts))}")
        found += mine
        for name, group in facets:
            if group[0]["run"]["workload"]["name"] == workload:
                mine = list(plots.of_group(group).values())
                head = f"<h2>{escape(name)}</h2>" if name != workload else ""
                parts.append(head + drawn(mine, len(found), len(parts)))
                found += mine
    return "".join(parts), found


# Keys of environment.json that a reader could take for something else.
CALLED = {"host": "started from the machine", "commit": "commit of the tree", "python": "Python of the sweep"}


def environment_of(found: dict[str, Any]) -> str:
    """Where and when it was run: none of it decides a figure. Of a sweep that was stopped it is not known."""
    if not found:
        return ""
    rows = [[CALLED.get(key, key), " ".join(map(str, value if isinstance(value, list) else [value]))]
            for key, value in found.items()]
    return f"<h2>Environment</h2>{table_of(['what', 'was'], rows)}"


def origin_of(runs: list[dict[str, Any]]) -> str:
    """What decided the figures."""
    return "<h2>Of what the figures are</h2>" + table_of(origin.HEAD, origin.rows(runs))


def document(title: str, body: str, drawings: Sequence[Drawing] = ()) -> str:
    """A whole page of its title, what stands below it, and the drawings that have places there."""
    end = f"<noscript>Drawings need scripts.</noscript>{script.of_page(drawings)}" if drawings else ""
    return whole(title, body, script.policy(), end)


def _in_doubt(doubts: list[str]) -> str:
    """Which doubts, of how many runs; their texts are unfolded."""
    if not doubts:
        return ""
    short = "; ".join(text.partition(": ")[0] for text in doubts)
    return (f'<details class="doubt"><summary>In doubt: {escape(short)}</summary>'
            f"{''.join(f'<p>{escape(text)}.</p>' for text in doubts)}</details>")


def make(question: str, runs: list[dict[str, Any]], metric: str, spec: str, environment: dict[str, Any],
         csv: str, lacks: Sequence[str] = (), judged: list[str] | None = None) -> str:
    """The page's text. LACKS are what is wrong with the question: runs that are not there, rules that would
    refuse it. JUDGED says which thresholds are missed."""
    good, verdict = answer.verdict(runs)
    said = "".join(f'<p class="answer">{escape(text)}</p>{_in_doubt(doubts)}'
                   for text, doubts in answer.with_doubts(runs, metric))
    said += "".join(f"<p>{escape(text)}</p>" for text in trust.sentences(runs, metric))
    alone = answer.lonely(runs, metric)
    note = f"<p>{escape(alone)}</p>" if alone else ""
    lack = "".join(f'<p class="bad">{escape(line)}</p>' for line in lacks)
    lack += "".join(f'<p class="{"good" if line.startswith(thresholds.MET) else "bad"}">{escape(line)}</p>'
                    for line in judged or [])
    data = base64.b64encode(csv.encode()).decode()
    title = escape(question or "What the runs came to")
    places, drawings = _drawings(runs, metric)
    return document(
        title,
        f'{said}{note}{lack}<p class="{"good" if good else "bad"}">{escape(verdict)}</p>'
        f"{_by_factor(runs, metric)}<h2>Variants</h2>{_summary(runs, metric)}"
        "<p>An interval is of 95 % (Student's) over seeds: it is about the workload's randomness, not about "
        "how far the model is from the drive: what is known of that stands below the answer. Where all seeds "
        "come to the same there is none. "
        "Variants are compared seed by seed. Drawings over time and of distributions are "
        "of each variant's first seed.</p>"
        "<p>Touched: the bytes of the disk that were asked for, each once. Stroked: from the first to the "
        "last, without metadata and the few that lie far from the others. "
        f"{'. '.join(map(escape, answer.reach(runs)))}.</p>"
        f"{_why(runs, metric)}{places}<h2>Runs</h2>{_runs(runs)}"
        f'<p><a download="runs.csv" href="data:text/csv;base64,{data}">The runs as CSV</a></p>'
        f"<h2>Again</h2><p>With this in a file SPEC.toml, <code>{DAVID} bench SPEC.toml</code> does the "
        f"same.</p><pre>{html.escape(spec)}</pre>{origin_of(runs)}"
        f"{environment_of(environment)}", drawings,
    )
