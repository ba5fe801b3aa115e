# SPDX-License-Identifier: GPL-2.0
"""Real drives' response times beside the model's: a table of `david profile bench` and `validate`.

A figure that a parameter of the profile was chosen by shows that the fit holds. It is no evidence for the
model. What fio-plot measured is in a table of its own, profiles/evidence/fio-plot.csv.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import evidence

COLUMNS = ("per s", "p50", "p90", "p99", "p99.9")
FIELDS = ("per_s", "p50_us", "p90_us", "p99_us", "p999_us")
FAR = 25  # percent: where a rate is further off, its row says why
STATES = {
    "fresh": ("precondition=fresh",),
    "in order": ("precondition=sequential",),
    "steady": ("precondition=random",),
    "as made": (),
}
# Of an entry of evidence, besides figures' names.
KEYS = {"name", "state", "fill", "part", "job", "source", "why", "of",
        *(of.replace(" ", "_") for of in COLUMNS)}

SECONDS = 60  # a point of fio-plot's
FIO_PLOT = evidence.EVIDENCE / "fio-plot.csv"


@dataclass
class Figure:
    real: float
    fitted: bool
    limit: float | None  # percent
    modelled: float = 0

    @property
    def off(self) -> float:
        return 100 * (self.modelled / self.real - 1)

    @property
    def bad(self) -> bool:
        return self.limit is not None and abs(self.off) > self.limit

    def __str__(self) -> str:
        return f"{self.real:.0f} {self.modelled:.0f} {self.off:+.0f} %{'*' * self.fitted}{'!' * self.bad}"


@dataclass
class Real:
    name: str
    state: str
    part: int
    words: str
    source: str
    figures: dict[str, Figure] = field(default_factory=dict[str, Any])
    before: list[str] = field(default_factory=list[str])  # jobs that the drive serves first
    served_by: str = ""  # a drive that serves all rows with this name, in order; else a new one does
    size: int = 0  # sectors of the drive, if it is a smaller one
    why: str = ""  # some of it is off
    of: str = "drive"  # or "class": another one was measured

    @property
    def options(self) -> tuple[str, ...]:
        state, _, fill = self.state.partition(" 0.")
        return STATES[state] + ((f"precondition_fill=0.{fill}",) if fill else ())

    @property
    def arguments(self) -> list[str]:
        """david-sim bench's, but for the profile and the jobs."""
        words = [word for option in self.options for word in ("--option", option)]
        return [*words, *(["--size", str(self.size)] if self.size else [])]

    @property
    def jobs(self) -> list[str]:
        """What the drive serves; the figures are of the last one."""
        return [*self.before, self.words]

    @property
    def bad(self) -> bool:
        return any(figure.bad for figure in self.figures.values())

    @property
    def unexplained(self) -> bool:
        """Its rate, or without one its median, is far off, and it does not say why."""
        main = self.figures.get(COLUMNS[0]) or self.figures.get(COLUMNS[1])
        return main is not None and abs(main.off) > FAR and not self.why

    @property
    def evidence(self) -> bool:
        return not all(figure.fitted for figure in self.figures.values())


def _figure(entry: dict[str, Any]) -> Figure:
    return Figure(entry["value"], entry.get("fitted", False), entry.get("off"))


def _row(entry: dict[str, Any]) -> Real:
    # per_s in TOML, as a key has no blank.
    found = {of: entry[key] for of in COLUMNS if (key := of.replace(" ", "_")) in entry}
    figures = {of: _figure(one) for of, one in found.items()}
    if unknown := sorted(entry.keys() - KEYS):
        raise KeyError(unknown[0])
    if entry["state"] not in STATES:
        raise KeyError("state")
    fill = entry.get("fill")
    state = entry["state"] + (f" {fill}" if fill else "")
    row = Real(entry["name"], state, entry.get("part", 0), entry["job"], entry["source"], figures)
    row.why, row.of = entry.get("why", ""), evidence.of_what(entry)
    return row


@dataclass
class FioPlot:
    """A drive of fio-plot's: at which depths figures were fitted, and what may be off by how much."""

    device: str
    op: str
    fitted: tuple[int, ...]
    limits: dict[str, float]
    depths: tuple[int, ...]
    limited: tuple[int, ...]  # depths at which limits hold
    state: str = "as made"
    known: tuple[tuple[int, str], ...] = ()  # depths and figures that are off, and stay so
    history: int = 0  # a drive of so many sectors serves all that was measured before; 0: it does not
    share: int = 1  # of what was measured: one request of so many, as of the drive's sectors
    why: str = ""  # some of it is off


def _fio_plot(entry: dict[str, Any]) -> FioPlot:
    depths, fitted, limited = (tuple(entry[name]) for name in ("depths", "fitted", "limited"))
    known = tuple((depth, of) for depth, of in entry.get("known", ()))
    more = (entry.get("history", 0), entry.get("share", 1), entry.get("why", ""))
    return FioPlot(entry["device"], entry["operation"], fitted, entry["limits"], depths, limited,
                   entry["state"], known, *more)


def _pace(point: dict[str, str]) -> float:
    """us between an answer and the next request: what fio and its kernel take, which its times leave out."""
    programs, depth = int(point["numjobs"]), int(point["iodepth"])
    return max(1e6 * programs * depth / float(point["iops"]) - float(point["clat_mean_us"]), 0)


def _history(plot: FioPlot, points: list[dict[str, str]]) -> list[str]:
    """A job for each point, of 60 s. Each program has places of its own, as with fio's randrepeat."""
    jobs = []
    for point in points:
        programs, count = int(point["numjobs"]), float(point["iops"]) * SECONDS / plot.share
        jobs.append(f"{plot.op} random depth={point['iodepth']} streams={programs} pace={_pace(point):.1f}us "
                    f"count={count:.0f} warm=0")
    return jobs


def _measured(plot: FioPlot) -> list[Real]:
    with FIO_PLOT.open(encoding="utf-8") as file:
        points = [
            row for row in csv.DictReader(file) if row["device"] == plot.device and row["op"] == plot.op
        ]
    # In the order in which they were measured
    points.sort(key=lambda row: (int(row["iodepth"]), int(row["numjobs"])))
    rows = {int(row["iodepth"]): row for row in points if row["numjobs"] == "1"}
    history = _history(plot, points) if plot.history else []
    result = []
    served = 0  # points
    for depth in plot.depths:
        count = 6000 if plot.state == "as made" else 40000
        pace = _pace(rows[depth])
        row = Real(
            f"{plot.op}s, depth {depth}", plot.state, 0,
            f"{plot.op} random depth={depth} pace={pace:.1f}us count={count} warm={count // 10}", "fio-plot",
        )
        if history:
            at = points.index(rows[depth])
            row.before = [f"{job} untimed" for job in history[served:at]]
            row.words, row.size, row.served_by = history[at], plot.history, f"{plot.op}s"
            served = at + 1
        for of, column in zip(COLUMNS, ("iops", "p50", "p90", "p99", "p99.9"), strict=True):
            limit = plot.limits.get(of) if depth in plot.limited and (depth, of) not in plot.known else None
            fitted = of in plot.limits and depth in plot.fitted
            row.figures[of] = Figure(float(rows[depth][column]), fitted, limit)
        row.why = plot.why
        result.append(row)
    return result


def rows_for(profile: str) -> list[Real]:
    rows = evidence.rows(profile, "times", _row)
    plots = evidence.rows(profile, "fio-plot", _fio_plot)
    if FIO_PLOT.exists():
        rows += [row for plot in plots for row in _measured(plot)]
    return rows


def _runs(rows: list[Real]) -> list[list[Real]]:
    """The rows by the runs of david-sim that they share."""
    runs: dict[tuple[str, ...], list[Real]] = {}
    for row in rows:
        runs.setdefault((row.served_by, *row.arguments), []).append(row)
    return list(runs.values())


def compare(profile: str, path: Path, run: Callable[..., dict[str, Any]]) -> list[Real]:
    """The profile's rows, with what the model makes of them. `run` runs david-sim bench."""
    rows = rows_for(profile)
    for served in _runs(rows):
        words = [word for row in served for job in row.jobs for word in ("--job", job)]
        keep = ["--keep-flash"] if served[0].served_by else []
        jobs = run("--profile", str(path), *served[0].arguments, "--no-doubts", *keep, *words)["jobs"]
        at = -1
        for row in served:
            at += len(row.jobs)
            part = jobs[at]["parts"][row.part][f"part{row.part}"]
            for of, name in zip(COLUMNS, FIELDS, strict=True):
                if of in row.figures:
                    row.figures[of].modelled = part.get(name) or jobs[at][name]
    return rows


HEAD = f"| {'job':<46} | {' | '.join(f'{of:<26}' for of in COLUMNS)} | by |"


def _line(row: Real) -> str:
    cells = (f"{row.figures[of]!s:<26}" if of in row.figures else " " * 26 for of in COLUMNS)
    why = f"; {row.why}" if row.why else ""
    return f"| {row.name:<46} | {' | '.join(cells)} | {row.source}{why} |"


def as_text(profile: str, rows: list[Real]) -> str:
    lines = [f"{profile}, real and modelled; times in us. *: a parameter was chosen by it. !: off"]
    for title, chosen in (
        ("Jobs with figures that were not fitted", [row for row in rows if row.evidence]),
        ("Jobs that were fitted", [row for row in rows if not row.evidence]),
    ):
        if chosen:
            lines += ["", title, "", HEAD, re.sub(r"[^|]", "-", HEAD), *map(_line, chosen)]
    return "\n".join(lines)
