# SPDX-License-Identifier: GPL-2.0
"""david trace report: a day made to a paper's numbers is reported with the paper's numbers."""

from __future__ import annotations

import csv
import html.parser
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from davidlib import util
from davidlib.pages import writing
from davidlib.pages.tables import Table
from davidlib.trace import figures, program
from helpers import bsdday

TREE = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("day") / "day.db"
    frames = list(bsdday.frames({nr: name for nr, name, _, _ in program.calls()}))
    assert program.finish("-", out, frames)
    return out


@pytest.fixture(scope="module")
def database(day: Path) -> sqlite3.Connection:
    return figures.open_trace(day)


def tables(database: sqlite3.Connection, section: str) -> list[figures.Table]:
    return list(figures.SECTIONS[section](database))


def by_first(table: figures.Table) -> dict[figures.Cell, list[figures.Cell]]:
    return {row[0]: row[1:] for row in table.rows}


def test_table_2_has_the_papers_counts(database: sqlite3.Connection) -> None:
    rows = by_first(tables(database, "general")[0])
    assert {kind: rows[f"{kind} records"][0] for kind in bsdday.COUNTS} == bsdday.COUNTS
    assert rows["records"][0] == bsdday.RECORDS == 538588
    assert rows["bytes read"][0] == bsdday.BYTES_READ and rows["bytes written"][0] == bsdday.BYTES_WRITTEN
    assert rows["shared files"] == [bsdday.SHARED, 8.47]
    assert rows["most active processes in a minute"][0] == bsdday.ACTIVE
    printed = {
        "create": 1.2,
        "open": 16.3,
        "close": 17.5,
        "read": 41.0,
        "write": 15.3,
        "delete": 1.2,
        "fork": 1.4,
        "vfork": 1.3,
        "exec": 2.2,
        "exit": 2.7,
    }
    assert {kind: round(rows[f"{kind} records"][1], 1) for kind in printed} == printed


def test_table_3_has_the_papers_sizes(database: sqlite3.Connection) -> None:
    table, peaks = tables(database, "sizes")
    counts = [[reads, writes] for _, reads, writes in bsdday.SIZES]
    assert [[row[1], row[3]] for row in table.rows] == [*counts, [220579, 82266]]
    # Printed as 16.1, 21.3, 19.1, 8.3, 10.4, 2.0: but 42,847 of 220,579 are 19.4.
    assert [round(row[2], 1) for row in table.rows[:-1]] == [16.1, 21.3, 19.4, 8.3, 10.4, 2.0]
    assert [round(100 * row[3] / 82266, 1) for row in table.rows[:-1]] == [22.1, 1.3, 25.5, 4.1, 27.9, 2.1]
    assert {(row[0], row[1]) for row in peaks.rows} == {
        *(("read", size) for size in (20, 512, 1024, 4096, 6144)),
        *(("write", size) for size in (20, 1024, 6144)),
    }


def test_the_figures_have_what_the_paper_says_of_them(database: sqlite3.Connection) -> None:
    durations = by_first(tables(database, "durations")[0])
    assert durations[20.0][0] > 90 and durations[20.0][1] > 90
    rates = tables(database, "rates")[0]
    assert rates.title.endswith("120 s") and "Reads to writes 2.68, bytes 1.88." in rates.notes
    assert sum(row[1] for row in rates.rows) * 120 == pytest.approx(bsdday.BYTES_READ, rel=1e-3)
    assert tables(database, "lifetimes")[0].notes == [
        "Processes that lived less than 1 s 37.0 %, less than 3 s 56.7 %, more than 10 s 26.7 %, "
        "more than 60 s 12.7 %, more than 600 s 2.86 %."
    ]
    active = tables(database, "active")[0]
    assert active.title.endswith("60 s") and max(row[1] for row in active.rows) == bsdday.ACTIVE


def test_sessions_are_as_the_paper_says(database: sqlite3.Connection) -> None:
    rows = by_first(tables(database, "sessions")[0])
    assert round(rows["opened for reading, fewer than 4 reads"][1]) == 97
    assert round(rows["opened for writing, no write or one"][1]) == 87
    assert round(rows["reads a session"][0]) == 2 and round(rows["writes a session"][0]) == 1
    assert round(rows["shorter than 150 ms"][1]) == 70 and round(rows["longer than 350 ms"][1]) == 17


def test_an_event_takes_less_than_120_bytes(day: Path, database: sqlite3.Connection) -> None:
    assert day.stat().st_size / figures._one(database, "SELECT count(*) FROM event") < 120


def david(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TREE / "tools/david", "trace", *words], capture_output=True, text=True, timeout=120, check=False
    )


class Balanced(html.parser.HTMLParser):
    """Every element is closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        links = [value or "" for name, value in attrs if name in ("src", "href")]
        assert all(value.startswith("data:") for value in links), "it needs a network"
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_report_is_text_files_and_a_page(tmp_path: Path) -> None:
    """All sections, of a small trace."""
    trace, script = tmp_path / "t.db", "for i in 1 2 3; do echo $i >>f; sync f; done; cat f f"
    script += f"; {sys.executable} -c 'import os; os.sendfile(1, os.open(\"f\", 0), 0, 4)' >g; rm f"
    recorded = david("record", "-o", trace, "--share-disk", "--", "sh", "-c", f"cd {tmp_path}; {script}")
    assert recorded.returncode == 0, recorded.stderr
    done = david("report", trace, "--csv", tmp_path / "csv", "--html", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    titles = [
        "Table 2.",
        "Table 3.",
        "Figure 1.",
        "Figure 2.",
        "Figure 3.",
        "Figure 4.",
        "Working set",
        "fsync",
    ]
    titles += ["Sequentiality", "I/O size by command", "Open-close sessions"]
    assert [title for title in titles if title not in done.stdout] == []
    assert f"{tmp_path}/f" in done.stdout and "3 calls of fsync" in done.stdout
    assert re.search(r"bytes copied by the kernel +4\n", done.stdout)
    assert (tmp_path / "csv/figure-2-transfer-rate.csv").exists()
    rows = list(csv.reader((tmp_path / "csv/table-3-i-o-size-distribution.csv").open()))
    assert rows[0] == ["bytes", "reads", "percent", "writes", "percent"] and rows[1][3] == "3"
    assert david("report", trace, "sizes").stdout.startswith("Table 3.")


def test_without_what_draws_a_page_has_its_numbers_and_says_so(
    day: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As where dm-david-lab is not installed, and where it fails."""
    found = [table for section in ("sizes", "rates") for table in tables(figures.open_trace(day), section)]
    page = tmp_path / "page.html"
    for labs, words in ((False, "the package dm-david-lab draws them."), (True, "failed to make them.")):
        monkeypatch.setattr(writing, "HAS_LABS", labs)
        monkeypatch.setattr(util, "TOOLS", tmp_path)
        writing.write(page, "Trace", found)
        text, lines = page.read_text(), capsys.readouterr().err.splitlines()
        assert len(lines) == 1 and lines[0].startswith(f"david: {page}: This page has no drawings: ")
        assert lines[0].endswith(words) and words in text and "<svg" not in text and "<script" not in text
        balanced = Balanced()
        balanced.feed(text)
        assert not balanced.open and balanced.seen.count("table") == 3
    # What nothing is to be drawn of needs nobody.
    writing.write(page, "Trace", found[:2])
    assert not capsys.readouterr().err and "no drawings" not in page.read_text()


def test_a_wrong_trace_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.db").write_text("no database")
    assert "is no finished trace" in david("report", tmp_path / "t.db").stderr
    assert "there is no" in david("report", tmp_path / "none.db").stderr


PLANTED = (
    "UPDATE event SET result = 513 WHERE id = (SELECT max(id) FROM event WHERE nr = 0 AND result = 512)"
)


def test_one_byte_more_is_seen(day: Path, tmp_path: Path) -> None:
    """The oracle can fail."""
    copy = tmp_path / "copy.db"
    copy.write_bytes(day.read_bytes())
    with sqlite3.connect(copy) as changed:
        changed.execute(PLANTED)
    rows = by_first(tables(figures.open_trace(copy), "general")[0])
    assert rows["bytes read"][0] == bsdday.BYTES_READ + 1


def test_words_of_a_trace_are_no_html() -> None:
    text = writing.plain("x", [Table("<b>", ["<i>"], [["</script>&"]])], "")
    assert "<b>" not in text and "&lt;/script&gt;&amp;" in text
