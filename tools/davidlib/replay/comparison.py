# SPDX-License-Identifier: GPL-2.0
"""A comparison under its six headings: as text, and as one HTML page that opens without a network."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..trace import page
from ..trace.figures import Cell, Table
from . import metrology
from .compare import Comparison, Row, verdict


def _us(value: float) -> str:
    return f"{value / 1000:.3f}" if math.isfinite(value) else "-"


def _freedom(value: float) -> str:
    return f"{value:.0f}" if math.isfinite(value) else "inf"


def _uncertain(row: Row) -> list[Cell]:
    combined = row.combined
    below, above = metrology.around_bias(row.bias, combined.expanded)
    return [
        row.kind,
        f"{row.of_replay:.2f} %",
        f"{_us(row.bias)} ± {_us(combined.expanded)}",
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


def _runs(c: Comparison) -> Table:
    """A drawing: the elapsed time of each run beside its original's."""
    rows: list[list[Cell]] = [
        [number, run["elapsed"] / 1e9, run["original-elapsed"] / 1e9] for number, run in enumerate(c.runs, 1)
    ]
    return Table("Elapsed time", ["run", "replay, s", "original, s"], rows, curve=(0, [1, 2], False))


def as_text(c: Comparison) -> list[str]:
    return [*(page.as_text(table) for table in tables(c)), verdict(c)]


def as_html(c: Comparison) -> str:
    verdict_first = Table("Verdict", ["", ""], [], [verdict(c)])
    return page.as_html([verdict_first, *tables(c), _runs(c)], "A replay beside its original")
