# SPDX-License-Identifier: GPL-2.0
"""A comparison under its six headings: as text, and as one HTML page that opens without a network."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..pages.tables import Cell, Curve, Table, as_text as text_of
from . import metrology
from .compare import Comparison, Row, verdict


def _us(value: float) -> str:
    return f"{value / 1000:.3f}" if math.isfinite(value) else "-"


def _freedom(value: float) -> str:
    return f"{value:.0f}" if math.isfinite(value) else "inf"


def _uncertain(row: Row) -> list[Cell]:
    combined = row.combined
    below, above = metrology.around_bias(row.bias, combined.expanded)
    spread = f"± {_us(combined.expanded)}" if combined.expanded else \
        "the same in each run" if row.replay.n > 1 else "± not known"
    return [
        row.kind,
        f"{row.of_replay:.2f} %",
        f"{_us(row.bias)} {spread}",
        _freedom(combined.freedom),
        f"{combined.coverage:.2f}",
        f"{_us(row.replay.mean)} -{_us(below)} +{_us(above)}",
    ]


def _characterized(row: Row) -> list[Cell]:
    relative = f"{100 * row.relative:+.2f} %", f"{row.share(row.replay.error):.2f} %"
    return [row.kind, _us(row.bias), relative[0], _us(row.replay.error), relative[1]]


def _sources(c: Comparison) -> Table:
    issue = [run["issue-error"]["mean"] for run in c.runs]
    return Table(
        "3. Sources of uncertainty of a mean over all calls, us",
        ["", "u", "freedom"],
        [[s.name, _us(s.uncertainty), _freedom(s.freedom)] for s in c.rows[0].budget],
        [f"not in the sum: calls are made {_us(sum(issue) / len(issue))} us late"],
    )


def tables(c: Comparison) -> Iterator[Table]:
    rows = [*c.rows, c.elapsed]
    yield Table(
        "1. Measurand: response time by call, us",
        ["", "calls", "original", "replay", "p50", "p99"],
        [
            [r.kind, str(r.calls), _us(r.original.mean), _us(r.replay.mean), *map(_us, r.quantiles)]
            for r in rows
        ],
    )
    yield Table(
        f"2. Procedure: {len(c.runs)} runs of {c.originals} captures",
        ["", "value"],
        [[name, str(value)] for name, value in c.procedure.items()],
    )
    yield _sources(c)
    known = (
        f"{c.sensitivity:.4f}" if c.sensitivity is not None else "not measured (replays with --add-delay)"
    )
    yield Table(
        "4. Characterization: bias, and precision of the mean",
        ["", "bias, us", "bias", "precision, us", "precision"],
        [_characterized(r) for r in rows],
        [f"sensitivity: {known}; resolution: {c.procedure.get('clock-ns')} ns"],
    )
    yield Table(
        "5. Mitigation",
        ["", "us"],
        [["taken off the original's means, what its capture cost", _us(-c.rows[0].correction)]],
    )
    yield Table(
        "6. Uncertainty",
        ["", "U, bias in it", "bias ± U, us", "freedom", "k", "not corrected, us"],
        [_uncertain(r) for r in rows],
        [f"note: {warning}" for warning in c.warnings],
    )


ROWS = 8  # of the table of rates


def _rates(c: Comparison) -> Table:
    """A mean hides it: where calls come thick they are made late."""
    points = c.rates
    step = -(-len(points) // ROWS) or 1
    parts = [points[i : i + step] for i in range(0, len(points), step)]
    rows: list[list[Cell]] = [
        [f"{part[0][0]:.0f}", f"{part[-1][0]:.0f}", _us(sum(error for _, error in part) / len(part))]
        for part in parts
    ]
    found = metrology.rank_correlation(points)
    told = f"rank correlation (Spearman): {found:+.2f}" if found is not None else "no correlation to tell"
    note = told if points else "not known: replays with --log have it"
    return Table("Issue error by rate of calls", ["calls a second, from", "to", "error, us"], rows, [note])


def _seen(c: Comparison) -> Table:
    original, replay = c.seen
    rows: list[list[Cell]] = [
        [name, *(f"{side[name]:.6g}" if side else "-" for side in (original, replay))]
        for name in replay or original
    ]
    names = ", ".join(sorted({one.name for one in c.traces}))
    note = f"the original's disk is {names}" if original else "the original's is not known; --trace tells"
    return Table("What the disk was asked for", ["", "original", "replay"], rows, [note])


def _runs(c: Comparison) -> Table:
    """A drawing: the elapsed time of each run beside its original's."""
    rows: list[list[Cell]] = [
        [number, run["elapsed"] / 1e9, run["original-elapsed"] / 1e9] for number, run in enumerate(c.runs, 1)
    ]
    return Table("Elapsed time", ["run", "replay, s", "original, s"], rows, curve=Curve(
        0, (1, 2), "run, 1", "elapsed, s"))


def _curve(c: Comparison) -> Table:
    rows: list[list[Cell]] = [[rate, error / 1000] for rate, error in c.rates]
    title = "Issue error of each interval, by its rate"
    return Table(title, ["calls a second", "error, us"], rows, curve=Curve(
        0, (1,), "calls a second, 1/s", "error, us", log=True))


def as_text(c: Comparison) -> list[str]:
    return [*(text_of(table) for table in [*tables(c), _rates(c), _seen(c)]), verdict(c)]


TITLE = "A replay beside its original"


def of_page(c: Comparison) -> list[Table]:
    verdict_first = Table("Verdict", ["", ""], [], [verdict(c)])
    drawn = [_runs(c), *([_curve(c)] if c.rates else [])]
    return [verdict_first, *tables(c), _rates(c), _seen(c), *drawn]
