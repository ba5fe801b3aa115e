# SPDX-License-Identifier: GPL-2.0
"""What a drawing is: a description of Vega-Lite's, made by Altair, and the table that it draws.

A page has both, and a script that draws them: page.js. For a file vl-convert draws the same description,
with the legend in it that the page makes of HTML. Of the table's fields, `series` is what the legend switches
on and off. `labels` says what each is, with its unit: that is the head of the drawing's CSV.
"""

from __future__ import annotations

import json
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import vl_convert

from ..pages import theme
from . import forms

alt.data_transformers.disable_max_rows()
TABLE = "table"
DATA = alt.NamedData(TABLE)
VEGA_LITE = "6.4"  # Altair's own
WIDTH, HEIGHT = 480, 220  # of a drawing in a file, and of any without rows
TITLE = 44  # letters of an axis' title on a line: a phone has room for them
SMALL_TITLE = 12
LETTER = 0.6  # of its height that a letter is wide, at most on average
SHORT = 30  # letters: they fit everywhere
ROW = 40  # px that a name and what stands below it take
MARKS = 6  # of a line
DIGITS = 6
FILE = 520  # px of a file's legend
LETTERS = 8  # pt, of a drawing for a paper
LEAST_SHARE = 0.5  # of such a drawing's width that lies within its axes, at least
PPI = 300  # of its PNG


@dataclass(frozen=True)
class Axis:
    title: str  # with its unit
    log: bool = False
    low: float | None = None  # ends of the axis
    high: float | None = None
    ticks: tuple[tuple[float, str], ...] = ()  # only these, so called

    def scale(self, **more: Any) -> alt.Scale:
        kind = {"type": "log"} if self.log else {}
        ends = {"domainMin": self.low, "domainMax": self.high}
        return alt.Scale(
            nice=False, **kind, **{key: end for key, end in ends.items() if end is not None} | more
        )

    def lines(self) -> list[str]:
        return textwrap.wrap(self.title, TITLE)

    def across(self, every: int = 70, **more: Any) -> alt.Axis:
        if self.ticks:
            values, words = [at for at, _ in self.ticks], [word for _, word in self.ticks]
            called = f"{json.dumps(words)}[indexof({json.dumps(values)}, datum.value)]"
            return alt.Axis(title=self.lines(), values=values, labelExpr=called, labelOverlap=True, **more)
        # As many as there is room for.
        return alt.Axis(
            title=self.lines(), format="~r", tickCount=alt.ExprRef(f"max(2, width / {every})"), **more
        )

    def up(self) -> alt.Axis:
        """Its title stands above, where there is room for it."""
        return alt.Axis(
            title=self.lines(),
            format="~r",
            tickCount=5,
            titleAngle=0,
            titleAlign="left",
            titleAnchor="end",
            titleX=0,
            titleY=-8,
            titleBaseline="bottom",
        )


def ends(values: Iterable[float], log: bool = False) -> tuple[float, float]:
    """Of an axis that has all these on it."""
    found = list(values)
    low, high = min(found, default=1.0), max(found, default=1.0)
    if log:
        return (low / 1.2, high * 1.2)
    low, high = min(0.0, 1.05 * low), max(0.0, 1.05 * high)
    return (low, high or (0.0 if low else 1.0))


@dataclass(frozen=True)
class Drawing:
    heading: str
    description: str  # for who does not see it
    chart: Any
    labels: dict[str, str]  # field -> what it is
    rows: list[dict[str, Any]]
    series: Sequence[str] = ()  # that the legend has
    wide: bool = False  # takes all of a page's width
    near: tuple[str, str] | None = None  # x and y of the points that the pointer finds
    mark: str = "line"  # of the legend

    def spec(self, validate: bool = False) -> dict[str, Any]:
        """To validate takes most of the time that it takes to make a page: tests do it."""
        found: dict[str, Any] = self.chart.to_dict(validate=validate)
        found.pop("config", None)
        return found | {"description": f"{self.heading}. {self.description}"}

    def for_page(self) -> dict[str, Any]:
        """Texts of the table are numbers of `words`, as they come again and again."""
        words: dict[str, int] = {}
        rows = [
            [
                words.setdefault(value, len(words)) if isinstance(value, str) else value
                for value in (row.get(field) for field in self.labels)
            ]
            for row in self.rows
        ]
        texts = [field for field in self.labels if any(isinstance(row.get(field), str) for row in self.rows)]
        return {
            "heading": self.heading,
            "spec": self.spec(),
            "labels": self.labels,
            "rows": rows,
            "words": list(words),
            "texts": texts,
            "series": list(self.series),
            "near": self.near,
            "mark": self.mark,
        }

    def for_file(self, width: float = WIDTH, whole: int = FILE, heading: bool = True) -> dict[str, Any]:
        """WIDTH is between the axes, WHOLE what heading and legend have; px."""
        text = theme.for_file(json.dumps(self.spec() | {"config": theme.CONFIG}))
        found: dict[str, Any] = json.loads(text)
        if heading:
            found["title"] = textwrap.wrap(self.heading, whole // 8)
        found["background"] = "white"
        found["datasets"] = {TABLE: self.rows}
        for part in found.get("vconcat", [found]):
            part["width"] = width
        for one in _all_of(found):
            if one.get("type") == "point" and "clip" in one:
                one["clip"] = False  # nothing is enlarged, and a mark on an edge is whole
            if "columnPadding" in one:
                one["columns"] = _columns(self.series, whole)
        return found

    def for_paper(self, width: float) -> tuple[dict[str, Any], float]:
        """Without a heading, as a paper has a caption. The second is what its px are, in pt, so that it is as
        wide as is asked for, in pt."""
        whole = width * theme.SMALL / LETTERS
        between, total = 0.8 * whole, 0.0
        for _ in range(4):
            spec = self.for_file(round(between, 1), int(whole), heading=False)
            total = _size(str(vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)))[0]
            more = whole - total
            if abs(more) < 1 or (more < 0 and between <= LEAST_SHARE * whole):
                break
            between = max(between + more, LEAST_SHARE * whole)
        return spec, width / total

    def csv(self) -> str:
        rows = ([row.get(field) for field in self.labels] for row in self.rows)
        return forms.as_csv((self.labels.values(), rows))

    def rendered(self, kind: str) -> bytes:
        """The bytes of an SVG, a PNG, a PDF or a CSV. A program that does the same gets the same, but for the
        order of a PDF's objects."""
        return self.csv().encode() if kind == "csv" else _rendered(self.for_file(), kind)

    def in_a_paper(self, width: float) -> tuple[dict[str, bytes], float]:
        """The bytes of each form, so wide, in pt; and the size of its letters, in pt."""
        spec, scale = self.for_paper(width)
        forms = {kind: _rendered(spec, kind, scale) for kind in FORMS if kind != "csv"}
        return forms | {"csv": self.csv().encode()}, theme.SMALL * scale


def _all_of(spec: Any) -> Iterator[dict[str, Any]]:
    """All objects of a description."""
    if isinstance(spec, dict):
        yield spec
    for one in spec.values() if isinstance(spec, dict) else spec if isinstance(spec, list) else ():
        yield from _all_of(one)


def _size(svg: str) -> tuple[float, float]:
    found = re.search(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"', svg)
    assert found, svg[:200]
    return float(found[1]), float(found[2])


def _resized(svg: str, scale: float, unit: str = "") -> str:
    wide, high = (f"{scale * px:.6g}{unit}" for px in _size(svg))
    return re.sub(r'width="[\d.]+" height="[\d.]+"', f'width="{wide}" height="{high}"', svg, count=1)


def _rendered(spec: dict[str, Any], kind: str, scale: float | None = None) -> bytes:
    """SCALE is pt for each px; without it an SVG has px, a PDF a pt and a PNG two pixels for each."""
    if kind == "png":
        return bytes(vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=scale or 2,
                                                ppi=PPI if scale else None))
    svg = str(vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE))
    if kind == "pdf":
        # Which takes a px for a pt, whatever unit stands there.
        return bytes(vl_convert.svg_to_pdf(_resized(svg, scale or 1)))
    return (_resized(svg, scale, "pt") if scale else svg).encode()


FORMS = ("svg", "png", "pdf", "csv")


def figure(number: float) -> float:
    """As many digits as a drawing's table has."""
    return float(f"{number:.{DIGITS}g}")


def legend(names: Sequence[str], kind: str = "line") -> alt.Legend | None:
    """Of a file: below the drawing, in as many columns as the longest name lets."""
    if len(names) < 2 and kind == "line":
        return None
    # A mark with a dashed edge is recognized by nobody.
    edge = {"symbolStrokeWidth": 0} if kind == "line" else {}
    return alt.Legend(title=None, orient="bottom", direction="horizontal", columns=_columns(names, FILE),
                      columnPadding=30, **edge)


def _columns(names: Sequence[str], whole: int) -> int:
    # Who looks at the file may have a wider font than it was made with.
    return max(1, whole // (7 * max(map(len, names), default=1) + 40))


def _range(names: Sequence[str], of: Sequence[Any]) -> alt.Scale:
    return alt.Scale(domain=list(names), range=[of[at % len(of)] for at in range(len(names))])


def colour(names: Sequence[str], kind: str = "line", told: bool = True) -> alt.Color:
    return alt.Color(
        "series:N", scale=_range(names, theme.SERIES), legend=legend(names, kind) if told else None
    )


def shape(names: Sequence[str], told: bool = True) -> alt.Shape:
    return alt.Shape("series:N", scale=_range(names, theme.SHAPES), legend=legend(names) if told else None)


def dash(names: Sequence[str]) -> alt.StrokeDash:
    return alt.StrokeDash("series:N", scale=_range(names, theme.DASHES), legend=legend(names))


def base(**more: Any) -> Any:
    """A chart of the table, without series that are switched off."""
    return alt.Chart(DATA, **more).transform_filter("indexof(hidden, datum.series) < 0")


def hidden() -> alt.Parameter:
    return alt.param(name="hidden", value=[])


def lines(
    names: Sequence[str], x: Axis, y: Axis, longest: int, step: bool = False, zoom: bool = False
) -> Any:
    """A line a series over x; of a zoomed drawing, the page chooses from where to where. LONGEST is how many
    points a line has at most: every so often one is marked, elsewhere on each line."""
    params, scale = [hidden()], x.scale()
    if zoom:
        params += [alt.param(name="from", value=x.low), alt.param(name="to", value=x.high)]
        scale = alt.Scale(nice=False, domain=[alt.ExprRef("from"), alt.ExprRef("to")])
    every = max(1, longest // MARKS)
    across = alt.X("x:Q", scale=scale, axis=x.across())
    up = alt.Y("y:Q", scale=y.scale(), axis=y.up())
    found = base(height=HEIGHT)
    curve = found.mark_line(
        clip=True, strokeWidth=1.6, **{"interpolate": "step-before"} if step else {}
    ).encode(x=across, y=up, color=colour(names), strokeDash=dash(names))
    if zoom:
        curve = curve.add_params(alt.selection_interval(name="brush", encodings=["x"]))
    marks = (
        found.transform_window(at="row_number()", groupby=["series"])
        .transform_filter(f"(datum.at + indexof({json.dumps(list(names))}, datum.series)) % {every} == 0")
        .mark_point(clip=True, filled=True, size=45, opacity=1)
        .encode(x=across, y=up, color=colour(names), shape=shape(names))
    )
    return alt.layer(curve, marks).add_params(*params)


def _letters(name: str) -> int:
    """How wide it is, in letters of Latin: others may be two."""
    return sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in name)


def row_axis(names: Sequence[str]) -> alt.Y:
    """A row for each name; the name stands in the row, above what the row has."""
    return alt.Y(
        "name:N", axis=None, scale=alt.Scale(type="band", domain=list(names), paddingInner=0, paddingOuter=0)
    )


def named_rows(names: Sequence[str], data: Any) -> Any:
    """The names of rows, in smaller letters where a name is longer than a row. DATA has each of them."""
    long = json.dumps({name: wide for name in names if (wide := _letters(name)) > SHORT})
    return (
        data.transform_aggregate(groupby=["name"])
        .mark_text(align="left", baseline="middle", yOffset=-ROW // 4, fontSize=alt.ExprRef(
            f"min({theme.SMALL}, width / ({LETTER} * ({long}[datum.name] || 1)))"))
        .encode(x=alt.value(0), y=row_axis(names), text="name:N")
    )


def facets(parts: dict[str, Any]) -> Any:
    """Drawings one below the other, each with its heading; a single one has none."""
    if len(parts) == 1:
        found = next(iter(parts.values()))
    else:
        found = alt.vconcat(
            *(
                part.properties(title=alt.Title(textwrap.wrap(heading, TITLE), fontSize=SMALL_TITLE))
                for heading, part in parts.items()
            ),
            spacing=18,
        )
    return found.add_params(hidden())


def points(title: str, found: dict[str, dict[str, float]], log: bool = False) -> Drawing:
    """A row for each name, in it a mark for each series that has it: series -> name -> value."""
    rows: list[dict[str, Any]] = [
        {"name": name, "series": series, "value": figure(value)}
        for series, values in found.items()
        for name, value in values.items()
    ]
    names, series = list(dict.fromkeys(row["name"] for row in rows)), list(found)
    axis = Axis(title, log, *ends([row["value"] for row in rows], log))
    marks = (
        base()
        .mark_point(filled=True, size=80, yOffset=ROW // 4, opacity=0.85)
        .encode(
            x=alt.X("value:Q", axis=axis.across(), scale=axis.scale()),
            y=row_axis(names),
            color=colour(series),
            shape=shape(series),
            tooltip=[
                alt.Tooltip("name:N"),
                alt.Tooltip("series:N"),
                alt.Tooltip("value:Q", title=title, format=",.4~r"),
            ],
        )
    )
    chart = alt.layer(marks, named_rows(names, alt.Chart(DATA))).properties(height=ROW * len(names))
    return Drawing(
        "",
        f"A row for each of {', '.join(names)}; {title}; marks: {', '.join(series)}.",
        facets({"": chart}),
        {"name": "of", "series": "what", "value": title},
        rows,
        series,
        wide=True,
    )
