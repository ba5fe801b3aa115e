# SPDX-License-Identifier: GPL-2.0
"""The planner's page: what `david choose --json` printed, as one HTML file.

What fits stands in a table, with the figures as the drive's class lets them be off, and in two drawings: how
far each is from the limit, also with members failed, and its 99th percentile over the rate. What does not fit
has a table of its own, with why.
"""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..pages.document import escape, table_of
from ..sizes import format_size
from ..util import NOT_BELIEVABLE, UserError
from . import answer, charts, forms
from .charts import Axis, Drawing
from .page import document, drawn

HEAD = ["drive", "level", "members", "capacity", "requests/s", "p99 ms", "under way", "times", "1 failed",
        "2 failed", "sure", "class", "vouched for by"]
COLUMNS = ["profile", "level", "verdict", "members", "failed", "capacity_bytes", "fits", "times_asked",
           "depth", "per_s", "p99_us", "doubts", "factor", "tail_factor"]
WHOLE = "all members"


def wanted(path: Path, found: dict[str, Any]) -> None:
    """UserError unless there is something to tell of."""
    if not found["choices"]:
        raise UserError(f"{path}: david choose asked no drive")


def named(one: dict[str, Any]) -> str:
    if one["level"] == "none":
        return str(one["profile"])
    return f"{one['profile']}, {one['level']} of {one['tried'][-1]['members']}"


def fitting(found: dict[str, Any]) -> list[dict[str, Any]]:
    good = [one for one in found["choices"] if one["verdict"] == "fits"]
    return sorted(good, key=lambda one: (one["tried"][-1]["members"], -(one["tried"][-1]["times"] or 0)))


def asked(found: dict[str, Any]) -> str:
    what = found["asked"]
    bound = f"99 of 100 within {what['p99_us'] / 1e3:g} ms, room for {format_size(what['capacity'])}"
    spare = ", also with a member failed" if what["degraded"] else ""
    if what["traces"]:
        return f"Asked: {', '.join(what['traces'])} at their own times; {bound}{spare}."
    return (f"Asked: {what['iops']:g} requests a second of {format_size(what['block'])}, "
            f"{what['read_share']} % of them reads, at random; {bound}{spare}.")


def _between(value: float, factor: float | None, digits: float) -> str:
    """A figure, and from where to where the drive's may be."""
    value /= digits
    said = answer.digits(value)
    return f"{said} ({' to '.join(answer.apart(value / factor, value * factor))})" if factor else said


def _failed(one: dict[str, Any], failed: int) -> str:
    there = [tried for tried in one["degraded"] if tried["failed"] == failed]
    if not there:
        return "-"
    times = "-" if there[0]["times"] is None else f"{there[0]['times']:.3g}"
    return times if there[0]["fits"] else f"misses: {times}"


def rows(found: dict[str, Any]) -> list[list[str]]:
    lines = []
    for one in fitting(found):
        best = one["tried"][-1]
        lines.append([
            one["profile"], one["level"], str(best["members"]), format_size(best["capacity"]),
            _between(best["per_s"], one["factor"], 1), _between(best["p99_us"], one["tail_factor"], 1e3),
            str(best["depth"] or "as traced"), "-" if best["times"] is None else f"{best['times']:.3g}",
            _failed(one, 1), _failed(one, 2), one["sure"], one["class"] or "none",
            "nobody" if one["doubt"] else f"rate: {one['grade']}; p99: {one['tail_grade']}"])
    return lines


def others(found: dict[str, Any]) -> list[list[str]]:
    lines = []
    for one in found["choices"]:
        if one["verdict"] != "fits":
            near = max((tried["times"] or 0 for tried in one["tried"]), default=0)
            lines.append([one["profile"], one["level"], one["verdict"], f"{near:.3g}" if near else "-",
                          one["why"] or "-"])
    return lines


def csv(found: dict[str, Any]) -> str:
    """A line for each simulation."""
    lines = [
        [one["profile"], one["level"], one["verdict"], tried["members"], tried["failed"], tried["capacity"],
         int(tried["fits"]), tried["times"], point["depth"], point["per_s"], point["p99_us"],
         "; ".join(point["doubts"]), one["factor"], one["tail_factor"]]
        for one in found["choices"]
        for tried in (*one["tried"], *one["degraded"])
        for point in tried["points"]]
    return forms.as_csv((COLUMNS, lines))


def limits(found: dict[str, Any]) -> Drawing:
    """How many times as much each bears, whole and with members failed."""
    values: dict[str, dict[str, float]] = {}
    for one in fitting(found):
        for tried in (one["tried"][-1], *one["degraded"]):
            if tried["times"]:
                series = f"{tried['failed']} failed" if tried["failed"] else WHOLE
                values.setdefault(series, {})[named(one)] = tried["times"]
    whole = charts.points("times as much as is asked, 1", values, log=True)
    return replace(whole, heading="How far the limit is")


def curves(found: dict[str, Any]) -> Drawing:
    """The 99th percentile over the rate, with more and more under way."""
    lines = [
        {"series": named(one), "x": point["per_s"], "y": point["p99_us"] / 1e3, "depth": point["depth"]}
        for one in fitting(found) for point in one["tried"][-1]["points"]]
    names = list(dict.fromkeys(line["series"] for line in lines))
    x = Axis("requests a second, 1/s", True, *charts.ends([line["x"] for line in lines], True))
    y = Axis("99th percentile, ms", True, *charts.ends([line["y"] for line in lines], True))
    return Drawing(
        "p99 over the rate",
        "A line for each that fits, over the requests a second that it serves with more and more under way; "
        f"{y.title}. {', '.join(names)}.",
        charts.lines(names, x, y, 1),
        {"series": "drive", "depth": "under way", "x": x.title, "y": y.title}, lines, names, wide=True,
        near=("x", "y"))


def verdict(found: dict[str, Any]) -> str:
    good = fitting(found)
    doubt = (" Not to be believed: too much of a trace is missing, or all that would do is in doubt."
             if found["status"] == NOT_BELIEVABLE else "")
    if not good:
        return f"Nothing of {len(found['choices'])} drives in levels fits.{doubt}"
    marked = sum(bool(one["doubt"]) for one in good)
    return (f"{len(good)} of {len(found['choices'])} drives in levels fit, {marked} of them by profiles that "
            f"nobody vouches for. With fewest members: {named(good[0])}.{doubt}")


def make(path: Path, found: dict[str, Any]) -> str:
    """The page of what load() gave. UserError: PATH has not all that david choose prints."""
    try:
        return _made(found)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise UserError(f"{path}: not all that 'david choose --json' prints ({error!r}): another version, or "
                        "another program, wrote it") from None


def _made(found: dict[str, Any]) -> str:
    drawings = [limits(found)] if fitting(found) else []
    drawings += [curves(found)] if drawings and found["asked"]["iops"] else []
    data = base64.b64encode(csv(found).encode()).decode()
    best = f"<h2>What fits</h2>{table_of(HEAD, rows(found))}" if drawings else ""
    rest = others(found)
    left = ("<h2>What does not</h2>" + table_of(["drive", "level", "verdict", "times at most", "why"], rest)
            if rest else "")
    untried: dict[str, int] = {}
    for one in found["choices"]:
        for name, count in one["untried"].items():
            untried[name] = untried.get(name, 0) + count
    said = ", ".join(f"{count} {name}" for name, count in untried.items()) or "none"
    return document(
        "Which drive will do?",
        f'<p>{escape(asked(found))}</p><p class="answer">{escape(verdict(found))}</p>{best}'
        f"{drawn(drawings, 0, 0)}{left}"
        "<p>Times: how many times as much it bears within the bound, at the depths that were tried. In "
        "brackets from where to where the figure of a real drive lies, in 19 of 20, by the others of its "
        "class; without them that is not known. Sure: is the demand met at the worse ends of both? An "
        "array's own error is not in it. A rebuild is not judged.</p>"
        f"<p>Numbers of members that were not simulated, by why: {escape(said)}.</p>"
        f'<p><a download="choose.csv" href="data:text/csv;base64,{data}">Each simulation as CSV</a></p>',
        drawings)
