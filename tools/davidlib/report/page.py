# SPDX-License-Identifier: GPL-2.0
"""One HTML file of everything: it opens without a network, in light and dark, on a phone and on a wall."""

from __future__ import annotations

import base64
from html import escape
from typing import Any

from ..bench.dimensions import variant
from ..bench.metrics import METRICS
from ..bench.results import reached
from . import answer, factors, figures, origin, plots, theme, trust

STYLE = """
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:2400px;margin:auto;padding:clamp(12px,2vw,48px)}
h1{font-size:clamp(1.4rem,1rem + 1.6vw,2.6rem);line-height:1.2;margin:.2em 0 .6em}
h2{margin:1.6em 0 .5em}h3{font-size:1rem;margin:0 0 .4em}
.answer{font-size:clamp(1.05rem,.9rem + .6vw,1.6rem);max-width:60em;margin:.4em 0}
.good,.bad{border-left:.3em solid;padding-left:.7em;max-width:60em;overflow-wrap:anywhere}
.good{color:var(--good)}.bad{color:var(--bad)}
.grid{display:grid;gap:16px;grid-template-columns:repeat(auto-fill,minmax(min(100%,420px),1fr))}
figure{margin:0;padding:12px;background:var(--card);border-radius:10px;min-width:0}
svg{display:block;width:100%;height:auto}
svg text{font-family:system-ui,sans-serif!important}
.wide{overflow-x:auto;background:var(--card);border-radius:10px;padding:4px 12px}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%}
th,td{text-align:left;padding:.3em .8em .3em 0;white-space:nowrap;border-bottom:1px solid var(--faint)}
tr:last-child td{border-bottom:0}
.long{white-space:normal;min-width:16em;max-width:40em}
.wide+.grid{margin-top:16px}
pre{background:var(--card);border-radius:10px;padding:12px;overflow-x:auto;font-size:14px}
a{color:var(--s0)}
"""
# Letters of a cell that goes on in another line.
LONG = 40


def table_of(head: list[str], rows: list[list[str]]) -> str:
    def line(cells: list[str], tag: str) -> str:
        kinds = (f'{tag} class="long"' if len(cell) > LONG else tag for cell in cells)
        parts = (f"<{kind}>{escape(cell)}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))
        return f"<tr>{''.join(parts)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f'<div class="wide"><table><thead>{line(head, "th")}</thead><tbody>{body}</tbody></table></div>'


def _summary(runs: list[dict[str, Any]], metric: str) -> str:
    known, still = METRICS[metric], figures.without_randomness(runs)
    rows = []
    within = {(group.workload, one["run"]["variant"]): group.others
              for group in factors.groups(runs) for one in group.runs}
    for workload, variants in figures.table(runs, metric).items():
        for name, values in variants.items():
            found = figures.estimate(list(values.values()))
            mine = {other: seeds for other, seeds in variants.items()
                    if within[workload, other] == within[workload, name]}
            against = figures.ratio(values, variants[figures.ranking(mine, metric)[0]])
            why = "no randomness" if (workload, name) in still else "all the same"
            between = f"none: {why}" if found.same else answer.interval(found) or "-"
            what = workload + figures.label(runs, workload, metric)
            rows.append([what, name, answer.digits(found.mean), between, str(found.count),
                         answer.digits(against.mean) if against else "-"])
    head = ["workload", "variant", known.label, "95 % interval", "seeds", "of its group's best"]
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
            ". ".join(doubt["text"] for doubt in result["doubts"]) or "none",
        ])
    return table_of(head, rows)


def _drawings(runs: list[dict[str, Any]], metric: str) -> str:
    parts = []
    for name, mine in factors.facets(runs):
        parts.append(f"<h2>{escape(name)}</h2><div class='grid'>")
        for heading, draw in plots.drawings(mine, metric).values():
            svg = theme.for_page(plots.rendered(draw, theme.MARKS, "svg").decode())
            parts.append(f"<figure><h3>{escape(heading)}</h3>{svg}</figure>")
        parts.append("</div>")
    return "".join(parts)


# Keys of environment.json that a reader could take for something else.
CALLED = {"host": "started from the machine", "commit": "commit of the tree", "python": "Python of the sweep"}


def environment_of(found: dict[str, Any]) -> str:
    """Where and when it was run: none of it decides a figure."""
    rows = [[CALLED.get(key, key), " ".join(map(str, value if isinstance(value, list) else [value]))]
            for key, value in found.items()]
    return table_of(["what", "was"], rows)


def origin_of(runs: list[dict[str, Any]]) -> str:
    """What decided the figures."""
    return "<h2>Of what the figures are</h2>" + table_of(origin.HEAD, origin.rows(runs))


def document(title: str, body: str) -> str:
    """A whole page of its title and what stands below it."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{title}</title>'
        f"<style>{theme.css()}{STYLE}</style></head><body><main><h1>{title}</h1>{body}</main></body></html>\n"
    )


def make(question: str, runs: list[dict[str, Any]], metric: str, spec: str, environment: dict[str, Any],
         csv: str, missing: str = "", thresholds: list[str] | None = None) -> str:
    """The page's text; MISSING says which runs of the question are not there, THRESHOLDS which are missed."""
    good, verdict = answer.verdict(runs)
    said = "".join(f'<p class="answer">{escape(text)}</p>'
                   for text in answer.with_doubts(runs, metric))
    said += "".join(f"<p>{escape(text)}</p>" for text in trust.sentences(runs, metric))
    alone = answer.lonely(runs, metric)
    note = f"<p>{escape(alone)}</p>" if alone else ""
    lack = f'<p class="bad">{escape(missing)}</p>' if missing else ""
    lack += "".join(f'<p class="{"bad" if line.startswith("MISSED") else "good"}">{escape(line)}</p>'
                    for line in thresholds or [])
    data = base64.b64encode(csv.encode()).decode()
    title = escape(question or "What the runs came to")
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
        f"{_drawings(runs, metric)}<h2>Runs</h2>{_runs(runs)}"
        f'<p><a download="runs.csv" href="data:text/csv;base64,{data}">The runs as CSV</a></p>'
        "<h2>Again</h2><p>With this in a file SPEC.toml, <code>tools/david bench SPEC.toml</code> does the "
        f"same.</p><pre>{escape(spec)}</pre>{origin_of(runs)}"
        f"<h2>Environment</h2>{environment_of(environment)}",
    )
