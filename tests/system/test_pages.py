# SPDX-License-Identifier: GPL-2.0
"""Pages of `david report`, looked at in Chromium (helpers/boxes.py); of made-up runs (helpers/madeup.py).
And pages of tables, which other commands print.

Every day two pages at two widths. DAVID_SCALE=full (`make sweep-test`) has 2, 6, 24 and 60 variants, names of
40 letters, one seed and ten, at all widths, in light and dark, and printed.
"""

from __future__ import annotations

import base64
import csv
import html
import io
import json
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from davidlib.bench.prepare import VENV
from davidlib.pages import writing
from davidlib.pages.tables import Marks, Table
from davidlib.util import TREE
from davidlib.workload.record import QUANTILES
from helpers import boxes, madeup
from helpers.boxes import View
from helpers.browser import Browser
from helpers.units import FULL

MOST = 3 << 20  # bytes of a page without its data
DAILY = (View(400, "dark"), View(1280))
MANY = (View(400, "dark"), View(2560), View(boxes.PAPER, media="print"))  # of 60 variants: a minute each


@dataclass(frozen=True)
class Asked:
    """Variants of one group; three file systems on a third as many drives; or two file systems over a
    parameter of four values, on an eighth as many drives."""

    shape: str
    variants: int
    seeds: int

    def __str__(self) -> str:
        return f"{self.shape}-{self.variants}-{self.seeds}"


SWEEP = Asked("sweep", 8, 3)
ODD = Asked("odd", 4, 3)
PAGES = (
    [
        Asked("group", 2, 1),
        Asked("group", 6, 10),
        Asked("group", 24, 3),
        Asked("group", 60, 1),
        Asked("grid", 6, 3),
        Asked("grid", 24, 10),
        Asked("grid", 60, 1),
        SWEEP,
        Asked("sweep", 24, 1),
        ODD,
        Asked("odd", 1, 1),
    ]
    if FULL
    else [Asked("group", 2, 1), SWEEP]
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Asked], Path]:
    """A page of made-up runs: in the environment that draws."""
    for part in ("bench", "browser"):
        subprocess.run([TREE / "tools" / "setup", part], check=True)
    top = tmp_path_factory.mktemp("pages")

    def make(asked: Asked) -> Path:
        page = top / f"{asked}.html"
        words = [
            VENV / "bin" / "python3",
            Path(__file__).parent / "helpers" / "madeup.py",
            asked.shape,
            str(asked.variants),
            str(asked.seeds),
            page,
        ]
        if not page.exists():
            subprocess.run(words, check=True)
        return page

    return make


@pytest.fixture(scope="module")
def browser(made: Callable) -> Iterator[Browser]:
    with Browser() as found:
        yield found


@pytest.mark.parametrize("asked", PAGES, ids=str)
def test_nothing_is_cut_on_top_of_another_pale_or_empty(
    asked: Asked, made: Callable[[Asked], Path], browser: Browser
) -> None:
    page = made(asked)
    views = DAILY if not FULL else boxes.EVERY if asked.variants < 60 else MANY
    assert not boxes.wrong(browser, page, views, boxes.IN_TIME if FULL else 0)
    assert page.stat().st_size - len(data_of(page)) < MOST


def data_of(page: Path) -> str:
    [found] = re.findall(r'<script type="application/json" id="drawings">(.*?)</script>', page.read_text())
    return found


# Each on the small page: what is planted, and what must be said of it.
PLANTED = {
    "a legend that is cut": (".legend span{max-width:60px;white-space:nowrap;overflow:hidden}", "is cut"),
    "a sentence that is cut below": (".answer{height:10px;overflow:hidden}", "is cut below"),
    "cells that are cut below": ("td{display:inline-block;height:10px;overflow:hidden}", "is cut below"),
    "a drawing larger than its card": (
        ".plot svg{max-width:none!important;transform:scale(1.2)}",
        "outside its card",
    ),
    "a page that is too wide": ("main{min-width:3000px}", "wide where there are 1280"),
    "a wide table": ("td{white-space:nowrap!important;min-width:900px!important}", "is outside its card"),
    "texts on each other": (".plot svg text{font-size:40px!important}", "are on each other"),
    "a paragraph on a table": ("p{margin-bottom:-30px!important}", "blocks .* are on each other"),
    "a legend on its plot": (".legend{margin-top:-60px}", "blocks .* are on each other"),
    "buttons on each other": (".tools button{margin-right:-40px}", "entries .* are on each other"),
    "cards on each other": ("figure{margin-bottom:-60px}", "blocks .* are on each other"),
    "a title on marks": (".role-axis-title text{transform:translate(0,-14px)}", "a mark is on the text"),
    "pale texts": (".plot svg text{fill:#ccc!important}", "has a contrast of"),
    "texts that shine through": (".plot svg text{opacity:.3!important}", "the text .* has a contrast of"),
    "a pale table": ("td{color:#bbb!important}", "TD .* has a contrast of"),
    "a table that shines through": ("td{opacity:.4}", "TD .* has a contrast of"),
    "pale marks": (
        ".plot .role-mark path{fill:#bbb!important;stroke:#bbb!important}", "a mark has a contrast of"),
    "an empty plot": (".role-mark path{d:path('M0 0')!important}", "the plot is empty"),
    "marks that do not show": (".plot .role-mark path{opacity:0!important}", "the plot is empty"),
    "marks of the card's colour": (
        ".plot .role-mark path{fill:var(--card)!important;stroke:var(--card)!important}",
        "the plot is empty",
    ),
    "marks beyond the axes": (".plot .role-mark path{transform:translate(0,-4000px)}", "the plot is empty"),
    "no drawing": (".plot{display:none}", "is outside its card"),
    "axes without a title": (".role-axis-title{display:none}", "has no unit"),
    "axes without a unit": ('"title":["time, s"]', "the axis \"time\" has no unit"),
    "a table without rows": ("<tbody>.*?</tbody>", "has no row"),
    "a drawing without a description": ('"description":"Throughput.*?"', "Throughput.*: it is not described"),
}
# No style: what of the page is something else.
REPLACED = {"axes without a unit": '"title":["time"]', "a table without rows": "<tbody></tbody>",
            "a drawing without a description": '"description":""'}


@pytest.mark.parametrize("name", PLANTED if FULL else ["a legend that is cut", "an empty plot"])
def test_what_is_planted_in_a_page_is_found(
    name: str, made: Callable[[Asked], Path], browser: Browser
) -> None:
    style, says = PLANTED[name]
    page = made(PAGES[0])
    planted, text = page.with_name("planted.html"), page.read_text()
    if name in REPLACED:
        wrong = re.sub(re.escape(style) if "[" in style else style, REPLACED[name], text)
    else:
        wrong = text.replace("</style>", f"{style}</style>", 1)
    assert wrong != text
    planted.write_text(wrong)
    found = boxes.wrong(browser, planted, [View(1280)])
    assert found and any(re.search(says, text) for text in found), found


def test_names_of_other_letters_are_whole_and_turn_no_figure_around(
    made: Callable[[Asked], Path], browser: Browser
) -> None:
    """Without the sign behind a word that is written from the right, 0.366 stands on its other side. And a
    name of 62 letters is longer than a phone is wide."""
    page = made(ODD)
    assert not boxes.wrong(browser, page, [View(400)])
    planted, text = page.with_name("planted.html"), page.read_text()
    large = text.replace('"fontSize":{"expr":', '"fontSize":12,"x":{"expr":')
    planted.write_text(large.replace("\u200e", ""))
    found = boxes.wrong(browser, planted, [View(400)])
    assert any("stands before" in one for one in found), found
    assert any("is outside its card" in one for one in found), found
    # What is far from the others is on an axis where one sees all of them.
    [drawing] = [one for one in json.loads(data_of(page))["drawings"] if one["heading"] == "Variants"]
    assert '"type": "log"' in json.dumps(drawing["spec"])


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("console.warn('odd')", "odd"),
        ("new Function('return 1')()", "unsafe-eval"),
        ("fetch('https://example.org/')", "example.org"),
    ],
)
def test_a_page_that_warns_evaluates_text_or_wants_the_network_is_found(
    script: str, says: str, made: Callable[[Asked], Path], browser: Browser
) -> None:
    """The policy is what forbids the last two: with another script in it, the script's own digest is gone."""
    page = made(PAGES[0])
    planted = page.with_name("planted.html")
    text = re.sub(r"script-src 'sha256-[^']*'", "script-src 'unsafe-inline'", page.read_text())
    planted.write_text(text + f"<script>setTimeout(() => {{ {script} }})</script>")
    found = boxes.wrong(browser, planted, [View(1280)])
    assert any(says in one for one in found), found


def test_the_policy_of_a_page_allows_its_own_script_alone(
    made: Callable[[Asked], Path], browser: Browser
) -> None:
    page = made(PAGES[0])
    planted = page.with_name("planted.html")
    planted.write_text(page.read_text() + "<script>window.planted = 1</script>")
    boxes.opened(browser, planted)
    assert browser.evaluate(
        "window.planted === undefined && document.documentElement.dataset.ready === 'yes'"
    )


def test_one_switches_variants_and_chooses_a_span(made: Callable[[Asked], Path], browser: Browser) -> None:
    browser.see(1280)
    boxes.opened(browser, made(PAGES[0]))
    browser.evaluate(boxes.SETTLED)
    lines = "document.querySelectorAll('.mark-line.role-mark path[d]:not([d=\"\"])').length"
    before = browser.evaluate(lines)
    browser.evaluate("document.querySelector('.legend input').click()")
    browser.evaluate(boxes.SETTLED)
    # One of two lines is gone from each drawing that has lines, and its box from every legend.
    assert browser.evaluate(lines) == before / 2 > 0
    assert (
        browser.evaluate("document.querySelectorAll('.legend input[type=checkbox]:not(:checked)').length")
        == before / 2
    )
    # A brush over the first drawing's left half: all of them go on to that time.
    box = browser.evaluate("""(() => {
        const svg = document.querySelector('figure:not(.wide) svg');
        svg.scrollIntoView({block: 'center'});
        const found = svg.querySelector('.background').getBoundingClientRect();
        return {x: found.x, y: found.y + found.height / 2, width: found.width};})()""")
    for kind, share in (
        ("mousePressed", 0.02),
        ("mouseMoved", 0.3),
        ("mouseMoved", 0.5),
        ("mouseReleased", 0.5),
    ):
        browser.call(
            "Input.dispatchMouseEvent",
            type=kind,
            x=box["x"] + share * box["width"],
            y=box["y"],
            button="left",
            buttons=0 if kind == "mouseReleased" else 1,
            clickCount=1,
        )
    browser.evaluate(boxes.SETTLED)
    shown = """[...document.querySelectorAll('.tools button')].filter(
        one => one.textContent === 'whole time' && !one.hidden).length"""
    assert browser.evaluate(shown) >= 4
    assert not browser.said


def test_a_page_is_printed_whole(made: Callable[[Asked], Path], browser: Browser, tmp_path: Path) -> None:
    browser.see(1280, media="")
    boxes.opened(browser, made(PAGES[0]))
    (tmp_path / "page.pdf").write_bytes(browser.printed())
    text = subprocess.run(
        ["pdftotext", "-layout", tmp_path / "page.pdf", "-"], capture_output=True, text=True
    ).stdout
    # The last drawing was never in sight.
    last = browser.evaluate("[...document.querySelectorAll('figure h3')].at(-1).textContent")
    assert (
        " ".join(last.split()[:4]) in text and text.count("time, s") >= 6 and "share of them, %" in text
    ), text


WIDTH = 238.11  # pt, 84 mm


def test_drawings_for_a_paper_are_as_wide_as_is_asked_for_with_letters_of_8_pt(
        made: Callable[[Asked], Path], tmp_path: Path) -> None:
    top = tmp_path / "files"
    words = ["grid", "6", "1", top, str(WIDTH), "throughput"]
    program = Path(__file__).parent / "helpers" / "madeup.py"
    made(PAGES[0])  # the environment is there
    subprocess.run([VENV / "bin" / "python3", program, *words], check=True)
    rows = list(csv.DictReader((top / "drawings.csv").open()))
    # All variants, which has two parts, and of each of two drives one.
    assert len(rows) == 3 and all(row["heading"] and row["description"] and row["of"] for row in rows)
    assert {path.stem for path in top.glob("*.pdf")} == {row["file"] for row in rows}
    for row in rows:
        svg = (top / f"{row['file']}.svg").read_text()
        [(wide, high, px)] = re.findall(
            r'^<svg [^>]*width="([\d.]+)pt" height="([\d.]+)pt" viewBox="0 0 ([\d.]+)', svg)
        assert float(wide) == pytest.approx(WIDTH, abs=0.01)
        # Its px are of 12 to a line's letters.
        letters = {float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg)}
        assert min(letters) * WIDTH / float(px) == pytest.approx(8, rel=0.01), letters
        assert f">{row['heading']}<" not in svg
        said = subprocess.run(["pdfinfo", top / f"{row['file']}.pdf"], capture_output=True, text=True).stdout
        [size] = re.findall(r"Page size: +([\d.]+) x ([\d.]+) pts", said)
        assert [float(one) for one in size] == pytest.approx([float(wide), float(high)], abs=0.5)
        fonts = subprocess.run(["pdffonts", top / f"{row['file']}.pdf"], capture_output=True,
                               text=True).stdout.splitlines()[2:]
        assert fonts and all(line.split()[-5] == "yes" for line in fonts), fonts  # embedded
        picture = (top / f"{row['file']}.png").read_bytes()
        assert int.from_bytes(picture[16:20]) == pytest.approx(WIDTH / 72 * 300, abs=2)


def samples_of(result: dict) -> list[dict[str, float]]:
    return [dict(zip(result["columns"], row, strict=True)) for row in result["samples"]]


def close(value: float) -> object:
    """A drawing's table has six digits."""
    return pytest.approx(value, rel=1e-5)


def test_every_number_of_a_drawing_follows_from_the_csv(made: Callable[[Asked], Path]) -> None:
    """From runs.csv, which the page carries, and from samples: of the same made-up runs."""
    page, runs = made(PAGES[0]), madeup.variants(2, 1)
    [text] = re.findall(r'download="runs.csv" href="data:text/csv;base64,([^"]*)"', page.read_text())
    rows = {row["variant"]: row for row in csv.DictReader(io.StringIO(base64.b64decode(text).decode()))}
    results = {one["run"]["variant"]: one["result"] for one in runs}
    found = {one["heading"]: tables_of(one) for one in json.loads(data_of(page))["drawings"]}
    assert len(found) == 13
    for line in found["Variants"]:
        rate = float(rows[line["name"]]["operations_per_s"])
        assert (line["mean"] if line["seed"] is None else line["value"]) == close(rate)
    for line in found["What an operation costs the drive"]:
        assert line["y"] == close(float(rows[line["name"]][f"{line['series']}_ns_per_op"]) / 1e6)
    for line in found["Where the drive's time went"]:
        last = samples_of(results[line["name"]])[-1]
        parts = {name: value for name, value in last.items() if name in madeup.PARTS}
        share = 100 * parts[f"{line['series']}_ns"] / sum(parts.values()) * last["busy_ns"] / last["t_ns"]
        # Parts of commands that went on at once share the time that the drive was busy.
        assert line["y"] == close(min(share, 100 * parts[f"{line['series']}_ns"] / last["t_ns"]))
    for heading, name, unit in (
        ("Store over time", "store_bytes", 1 << 20),
        ("Memory over time", "memory_bytes", 1 << 20),
    ):
        for variant, result in results.items():
            lines = [line for line in found[heading] if line["series"] == variant]
            assert len(lines) == len(result["samples"])
            for line, sample in zip(lines, samples_of(result), strict=True):
                assert (line["x"], line["y"]) == (close(sample["t_ns"] / 1e9), close(sample[name] / unit))
    for variant, result in results.items():
        moved, slow = (
            [line for line in found[heading] if line["series"] == variant]
            for heading in ("Throughput over time", "Latency over time")
        )
        zero = dict.fromkeys(result["columns"], 0)
        pairs = list(pairwise([zero, *samples_of(result)]))
        assert len(moved) - 1 == len(slow) == len(pairs)
        for line, later, (before, after) in zip(moved[1:], slow, pairs, strict=True):
            span = (after["t_ns"] - before["t_ns"]) / 1e9
            sizes = sum(after[name] - before[name] for name in ("read_bytes", "written_bytes"))
            assert (line["x"], line["y"]) == (close(after["t_ns"] / 1e9), close(sizes / 1e6 / span))
            mean = (
                (after["modelled_ns"] - before["modelled_ns"])
                / (after["modelled"] - before["modelled"])
                / 1e6
            )
            assert (later["x"], later["y"]) == (close(after["t_ns"] / 1e9), close(mean))
        for line in found["Distribution of latency"]:
            if line["series"] == variant:
                at = QUANTILES.index(round(line["y"] * 10))
                assert line["x"] == close(result["latency"]["create"]["quantiles_ns"][at] / 1e6)
        went, heading = result["places"], f"Places on the disk over time: {variant}"
        drawn = [(line["series"], line["x"], line["x2"], line["y"], line["y2"], line["count"])
                 for line in found[heading]]
        step, place = went["step_ns"] / 1e9, went["place_bytes"] / (1 << 30)
        assert len(drawn) == len(went["cells"]) > 100
        for line, (of, at, where, count) in zip(drawn, went["cells"], strict=True):
            right = [close(one) for one in (at * step, (at + 1) * step, where * place, (where + 1) * place)]
            assert line == (("read", "write", "journal")[of], *right, count)
        told = sum(count for _, _, _, _, _, count in drawn)
        assert told == result["stats"]["requests"]["read"] + result["stats"]["requests"]["write"]
        row = rows[variant]
        logged = sum(count for series, *_, count in drawn if series == "journal")
        assert logged / result["operations"] == close(float(row["journal_requests_per_op"]))
        near = [line for line in found["From one request to the next"] if line["series"] == variant]
        assert near[0]["y"] == close(100 * float(row["going_on_share"])) and near[-1]["y"] == 100
        for bits, line in enumerate(near):
            below = sum(went["jumps"][: bits + 1]) / sum(went["jumps"])
            assert (line["x"], line["y"]) == (close(512 * 2**bits / (1 << 20)), close(100 * below))
        # All requests are in some cell.
        cells = found[f"Latency over time, all requests: {variant}"]
        assert sum(cell["count"] for cell in cells) == sum(result["histograms"][-1])


def test_curves_and_their_intervals_follow_from_the_csv(made: Callable[[Asked], Path]) -> None:
    """Of two file systems and four sizes of a block: means and Student's intervals, from runs.csv alone."""
    page = made(SWEEP)
    [text] = re.findall(r'download="runs.csv" href="data:text/csv;base64,([^"]*)"', page.read_text())
    rates: dict[tuple[str, str], list[float]] = {}
    for row in csv.DictReader(io.StringIO(base64.b64decode(text).decode())):
        system, _, block = row["variant"].rpartition(", ")
        rates.setdefault((system, block), []).append(float(row["operations_per_s"]))
    heading = f"Over block: {madeup.names(1)[0]}"
    [curve] = [tables_of(one) for one in json.loads(data_of(page))["drawings"] if one["heading"] == heading]
    assert len(curve) == len(rates) == 8
    sizes = {"4K": 4096, "16K": 16384, "64K": 65536, "256K": 262144}
    for line in curve:
        [found] = [
            mine
            for (name, block), mine in rates.items()
            if name.startswith(line["series"]) and block == line["value"]
        ]
        # Student's, of two degrees of freedom.
        mean, half = statistics.mean(found), 4.30265 * statistics.stdev(found) / 3**0.5
        assert (line["y"], line["high"], line["count"]) == (close(mean), close(mean + half), 3)
        assert (line["low"], line["x"]) == (close(max(0, mean - half)), sizes[line["value"]])


@pytest.fixture(scope="module")
def choice(made: Callable, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, Path]:
    """What david choose says, and its page."""
    found = tmp_path_factory.mktemp("choice") / "choice.json"
    names = ("plain", "quick") if FULL else ("plain",)
    profiles = [TREE / "tests/system/profiles" / f"{name}.profile" for name in names]
    words = [
        "--iops",
        "150",
        "--p99",
        "80ms",
        "--capacity",
        "1G",
        "--read-share",
        "100",
        "--most",
        "4",
        "--json",
    ]
    david = [sys.executable, TREE / "tools/david"]
    named = [word for profile in profiles for word in ("--profile", profile)]
    found.write_text(
        subprocess.run([*david, "choose", *words, *named], capture_output=True, text=True).stdout
    )
    done = subprocess.run([*david, "report", found], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(found.read_text()), found.with_suffix(".html")


def test_the_planners_page_has_nothing_cut(choice: tuple[dict, Path], browser: Browser) -> None:
    assert not boxes.wrong(browser, choice[1], boxes.EVERY if FULL else DAILY)


def test_the_planners_page_follows_from_the_answer(choice: tuple[dict, Path]) -> None:
    """Its table, its drawings and its CSV, from what david choose printed."""
    said, page = choice
    drawings = {one["heading"]: tables_of(one) for one in json.loads(data_of(page))["drawings"]}
    right_limits: dict[tuple[str, str], float] = {}
    right_points, lines = set(), 0
    for one in said["choices"]:
        lines += sum(len(tried["points"]) for tried in (*one["tried"], *one["degraded"]))
        if one["verdict"] != "fits":
            continue
        best = one["tried"][-1]
        name = one["profile"] + (f", {one['level']} of {best['members']}" if one["level"] != "none" else "")
        for tried in (best, *one["degraded"]):
            series = f"{tried['failed']} failed" if tried["failed"] else "all members"
            rates = [point["per_s"] for point in tried["points"] if point["p99_us"] <= 80e3]
            if rates:
                right_limits[name, series] = max(rates) / 150
        right_points |= {
            (name, point["depth"], point["per_s"], point["p99_us"]) for point in best["points"]
        }
    limits = {(row["name"], row["series"]): row["value"] for row in drawings["How far the limit is"]}
    assert limits == pytest.approx(right_limits, rel=1e-5) and limits
    drawn = {
        (row["series"], row["depth"], row["x"], round(1e3 * row["y"], 3))
        for row in drawings["p99 over the rate"]
    }
    assert drawn == {(*point[:3], round(point[3], 3)) for point in right_points}
    text = page.read_text()
    [table] = re.findall(r'download="choose.csv" href="data:text/csv;base64,([^"]*)"', text)
    assert len(list(csv.DictReader(io.StringIO(base64.b64decode(table).decode())))) == lines > 0
    fits = sum(one["verdict"] == "fits" for one in said["choices"])
    assert (
        f"{fits} of {len(said['choices'])} drives in levels fit, {fits} of them" in text
    )  # nobody vouches


@pytest.fixture(scope="module")
def tabled(made: Callable, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The page of a recorded trace, and a directory of the same tables."""
    top = tmp_path_factory.mktemp("tables")
    script = "for i in 1 2 3 4 5 6; do seq 9999 >f$i; sync f$i; cat f$i f$i >/dev/null; done"
    trace = [sys.executable, TREE / "tools/david", "trace"]
    words = [*trace, "record", "-o", top / "t.db", "--share-disk", "--"]
    subprocess.run([*words, "sh", "-c", script], check=True, cwd=top, stderr=subprocess.DEVNULL)
    done = subprocess.run(
        [*trace, "report", top / "t.db", "--csv", top / "csv", "--html", top / "page.html"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert not done.stderr
    return top / "page.html", top / "csv"


def test_the_page_of_a_trace_has_nothing_cut(tabled: tuple[Path, Path], browser: Browser) -> None:
    page, _ = tabled
    assert not boxes.wrong(browser, page, boxes.EVERY if FULL else DAILY, boxes.IN_TIME if FULL else 0)
    assert page.stat().st_size < MOST


def not_in_csv(page: str) -> list[str]:
    """Numbers of a page of tables, of its drawings and of its tables, that its CSV has not."""
    files = {
        name: list(csv.reader(io.StringIO(base64.b64decode(data).decode())))
        for name, data in re.findall(r'download="([^"]*)" href="data:text/csv;base64,([^"]*)"', page)
    }
    wrong = []
    for drawing in json.loads(re.findall(r'id="drawings">(.*?)</script>', page)[0])["drawings"]:
        stem = drawing["heading"].lower().partition(" in intervals")[0]
        head, *rows = files[re.sub(r"[^a-z0-9]+", "-", stem).strip("-") + ".csv"]
        numbers = [row for row in rows if re.fullmatch(r"[\d.e+-]+", row[0])]
        found = {
            (name, float(row[0]), float(row[at]))
            for row in numbers
            for at, name in enumerate(head)
            if at and row[at]
        }
        drawn = {(row["series"], row["x"], row["y"]) for row in tables_of(drawing)}
        series = {name for name, _, _ in drawn}
        wrong += [f"{stem}: {odd}" for odd in drawn ^ {one for one in found if one[0] in series}]
    for part in page.partition("<script")[0].split("<h2>")[1:]:
        cells = re.findall(r"<td[^>]*>([^<]*)</td>", part)
        [data] = re.findall(r'href="data:text/csv;base64,([^"]*)"', part) if cells else [""]
        rows = list(csv.reader(io.StringIO(base64.b64decode(data).decode())))[1:]
        right = [
            f"{float(cell):.6g}" if re.fullmatch(r"-?\d+\.\d+(e[+-]?\d+)?", cell) else cell
            for row in rows
            for cell in row
        ]
        told = [html.unescape(cell) for cell in cells]
        wrong += [f"{part[:30]}: {odd}" for odd in zip(told, right, strict=True) if odd[0] != odd[1]]
    return wrong


def test_every_number_of_the_page_of_a_trace_is_in_its_csv(tabled: tuple[Path, Path]) -> None:
    """And the CSV is the file of --csv. Planted: one number of a drawing, one of a table."""
    page, files = tabled
    text = page.read_text()
    assert len(json.loads(data_of(page))["drawings"]) >= 5 and "<svg" not in text.partition("<script")[0]
    assert not_in_csv(text) == []
    for name, data in re.findall(r'download="([^"]*)" href="data:text/csv;base64,([^"]*)"', text):
        assert base64.b64decode(data) == (files / name).read_bytes()
    found = json.loads(data_of(page))
    found["drawings"][0]["rows"][1][2] += 1
    planted = text.replace(data_of(page), json.dumps(found))
    assert len(not_in_csv(planted)) == 2
    assert len(not_in_csv(re.sub(r"(<td[^>]*>)(\d\d)(</td>)", r"\g<1>1\2\3", text, count=1))) == 1


def test_marks_of_a_table_are_its_cells(made: Callable, browser: Browser, tmp_path: Path) -> None:
    """Of david profile bench, beside what it says as JSON; rows of one name are two. Less than nothing is on
    the axis, too."""
    profile, page = TREE / "tests/system/profiles/plain.profile", tmp_path / "bench.html"
    words = [sys.executable, TREE / "tools/david", "profile", "bench", profile, "--json", "--html", page]
    done = subprocess.run(words, capture_output=True, text=True)
    rows = [row for row in json.loads(done.stdout)["rows"] if row["off_percent"] is not None]
    [drawing] = json.loads(data_of(page))["drawings"]
    drawn = tables_of(drawing)
    assert [(row["name"], row["value"]) for row in sorted(drawn, key=lambda row: row["name"])] == [
        (name, close(off))
        for name, off in sorted((f"{row['group']}: {row['name']}", row["off_percent"]) for row in rows)
    ]
    assert len(drawn) > 20 and {row["series"] for row in drawn} <= {
        "evidence, %", "at least, %", "closed form, %", "fitted, %"}
    table = Table("Odd", ["job", "a, %", "b, %"], [["x", -40.0, 2.0], ["x", None, 7.0], ["y", 1.5, None]], [])
    table.marks = Marks((1, 2), "more than it was, %")
    writing.write(tmp_path / "odd.html", "Marks", [table])
    [drawing] = json.loads(data_of(tmp_path / "odd.html"))["drawings"]
    found = {(row["name"], row["series"], row["value"]) for row in tables_of(drawing)}
    assert found == {("x", "a, %", -40), ("x", "b, %", 2), ("x (2)", "b, %", 7), ("y", "a, %", 1.5)}
    # What is off the axis is outside its card, or nowhere.
    assert not boxes.wrong(browser, tmp_path / "odd.html", DAILY)
    seen = browser.evaluate("document.querySelectorAll('.mark-symbol.role-mark path').length")
    assert seen == 4


def test_what_a_real_drive_had_is_on_the_page_of_its_profile(tmp_path: Path) -> None:
    """Of an SSD there is no everyday job with a figure: the page had a heading and nothing else."""
    page = tmp_path / "bench.html"
    words = [sys.executable, TREE / "tools/david", "profile", "bench", "samsung-pm883"]
    done = subprocess.run([*words, "--json", "--html", page], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    [drawing] = json.loads(data_of(page))["drawings"]
    found = {row["name"]: (row["series"], row["value"]) for row in tables_of(drawing)}
    should = {f"{row['name']}: {name}": ("fitted, %" if figure["fitted"] else "held, %",
                                         close(100 * figure["modelled"] / figure["real"] - 100))
              for row in json.loads(done.stdout)["real"] for name, figure in row["figures"].items()}
    assert found == should and len(should) > 40
    assert "How far everyday jobs are off" not in page.read_text()
    (tmp_path / "none.json").write_text(writing.told("x", []))
    done = subprocess.run([*words[:2], "report", tmp_path / "none.json"], capture_output=True, text=True)
    assert done.returncode == 1 and "no page's tables" in done.stderr, done.stderr


def tables_of(drawing: dict) -> list[dict]:
    """A drawing's table, with its texts."""
    fields = list(drawing["labels"])
    return [
        {
            field: drawing["words"][cell] if field in drawing["texts"] and cell is not None else cell
            for field, cell in zip(fields, row, strict=True)
        }
        for row in drawing["rows"]
    ]
