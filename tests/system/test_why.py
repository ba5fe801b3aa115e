# SPDX-License-Identifier: GPL-2.0
"""Why a variant is faster: what an operation costs. The sentences follow from runs.csv alone, and its figures
from made-up counters. No lab; tests/system/test_figures.py has the same columns of real runs.
"""

from __future__ import annotations

import csv
import io
import math
import re
import shutil
import statistics
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from davidlib.bench import costs
from davidlib.report import answer, figures, forms, why
from helpers import madeup

T2 = 4.302653  # Student's, of both sides, 95 %, two degrees of freedom (table)
SENT = {
    "reads and writes of the disk": ("requests_per_op", 1),
    "flushes": ("flushes_per_op", 1),
    "KiB read": ("disk_read_bytes_per_op", 1024),
    "KiB written": ("disk_written_bytes_per_op", 1024),
    "writes to the journal": ("journal_requests_per_op", 1),
    "KiB to the journal": ("journal_bytes_per_op", 1024),
}
# Between what stands before a figure and behind it.
JUMPS = {
    ("a request begins where the last one ended in ", " % of cases"): ("going_on_share", 0.01),
    ("jumps of ", " MiB from one request to the next"): ("jump_bytes", 1 << 20),
}
TIMES = {
    "of seeks": "seek_ns_per_op",
    "of rotation": "rotation_ns_per_op",
    "of transfer": "transfer_ns_per_op",
    "of overhead": "overhead_ns_per_op",
    "of emptying caches": "flush_ns_per_op",
}
Runs = list[dict[str, Any]]
Table = Callable[[Runs], str]


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Table:
    """runs.csv, without Altair."""
    for name in ("charts", "plots"):
        monkeypatch.setitem(sys.modules, f"davidlib.report.{name}", types.ModuleType(name))
    from davidlib.report import export

    return export.table


def runs_of(**changes: dict[str, float]) -> Runs:
    """Two variants of three seeds, alike but for what is changed: times a counter, by its path."""
    found = madeup.made([{"file system": name} for name in ("ext4", "xfs")], 3)
    alike = {one["run"]["seed"]: one["result"] for one in found if one["run"]["variant"] == "ext4"}
    for one in found:
        if one["run"]["variant"] == "xfs":
            one["result"] = madeup.copy.deepcopy(alike[one["run"]["seed"]])
            stats = one["result"]["stats"]
            for path, factor in changes.get("xfs", {}).items():
                group, name = path.split(".")
                counters = (stats if group in stats else one["result"])[group]
                counters[name] = int(counters[name] * factor)
        # ext4 is the faster one: it stands first.
        one["result"]["operations_per_s"] *= 1 + (one["run"]["variant"] == "ext4")
    return found


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_each_figure_is_its_counter_divided_by_the_operations(table: Table) -> None:
    runs = madeup.variants(2, 2)
    for row, one in zip(rows_of(table(runs)), runs, strict=True):
        stats, operations = one["result"]["stats"], int(row["operations"])
        assert float(row["requests_per_op"]) * operations == pytest.approx(
            stats["requests"]["read"] + stats["requests"]["write"]
        )
        assert float(row["flushes_per_op"]) * operations == pytest.approx(stats["requests"]["flush"])
        assert float(row["disk_read_bytes_per_op"]) * operations == pytest.approx(
            512 * stats["sectors"]["read"]
        )
        assert float(row["disk_written_bytes_per_op"]) * operations == pytest.approx(
            512 * stats["sectors"]["write"]
        )
        assert float(row["queue_wait_ns_per_op"]) * operations == pytest.approx(stats["queue_wait_ns"])
        last = dict(zip(one["result"]["columns"], one["result"]["samples"][-1], strict=True))
        for part in ("seek", "rotation", "transfer", "overhead", "flush", "die", "map", "fault"):
            assert float(row[f"{part}_ns_per_op"]) * operations == pytest.approx(last[f"{part}_ns"])
        # A third of the blocks are pages of the block device.
        assert float(row["metadata_share"]) == pytest.approx(1 / 3, rel=0.01) and row["moved_share"] == ""


def test_what_is_metadata_and_what_collection_moved() -> None:
    result = madeup.variants(1, 1)[0]["result"]
    every = dict.fromkeys(result["stats"]["evidence"], 1)
    result["stats"] |= {"evidence": every, "flash": {"host_pages": 200, "moved_pages": 50}}
    found = costs.of(result)
    # 18 kinds of evidence: one that the question has decided, five of data.
    assert found["metadata_share"] == pytest.approx(12 / 17) and found["moved_share"] == 0.25
    result["stats"]["evidence"] = dict.fromkeys(every, 0) | {"mode": 7}
    assert costs.of(result)["metadata_share"] is None
    assert set(costs.of({"operations": 5, "stats": {"store_used": 1}}).values()) == {None}


def differing(rows: list[dict[str, str]], column: str) -> tuple[float, float] | None:
    """The means of ext4 and xfs, if the interval of their difference does not have 0 in it."""
    of = {name: [float(row[column]) for row in rows if row["variant"] == name] for name in ("ext4", "xfs")}
    apart = [one - other for one, other in zip(*of.values(), strict=True)]
    half = T2 * statistics.stdev(apart) / math.sqrt(3)
    mean = statistics.mean(apart)
    return (
        None if mean - half <= 0 <= mean + half else (statistics.mean(of["ext4"]), statistics.mean(of["xfs"]))
    )


@pytest.mark.parametrize("words", JUMPS)
def test_how_requests_lie_follows_from_the_csv(words: tuple[str, str], table: Table) -> None:
    """Jumps are three times as long; of those that went on eight of nine do not."""
    column, divisor = JUMPS[words]
    runs = runs_of(xfs={"places.jumped_bytes": 3} if column == "jump_bytes" else {})
    for one in runs:
        if one["run"]["variant"] == "xfs" and column == "going_on_share":
            first, second, *others = one["result"]["places"]["jumps"]
            one["result"]["places"]["jumps"] = [first // 9, second + first - first // 9, *others]
    [said] = why.sentences(runs, "operations")
    found = differing(rows_of(table(runs)), column)
    before, behind = words
    match = re.search(rf"{before}([\d.,]+){behind} with ext4, ([\d.,]+) with xfs\.", said)
    assert match and found, said
    assert [float(text.replace(",", "")) for text in match.groups()] == [
        pytest.approx(one / divisor, rel=0.006) for one in found
    ]


def derived(rows: list[dict[str, str]]) -> tuple[str, str]:
    """What differs by the largest factor of what is sent, and by the most time."""
    sent, times = {}, {}
    for name, (column, divisor) in SENT.items():
        if (found := differing(rows, column)) and max(found) / divisor >= 0.1:
            sent[name] = abs(math.log(found[0] / found[1]))
    for name, column in TIMES.items():
        if found := differing(rows, column):
            times[name] = abs(found[0] - found[1])
    return max(sent, key=sent.__getitem__, default=""), max(times, key=times.__getitem__, default="")


@pytest.mark.parametrize(
    ("changes", "sent", "time"),
    [
        ({"requests.flush": 0.4, "sectors.write": 0.7}, "flushes", ""),
        ({"sectors.write": 3, "requests.flush": 2, "parts.rotation": 1.5}, "KiB written", "of rotation"),
        ({"sectors.read": 0.1, "parts.seek": 0.5, "parts.overhead": 0.1}, "KiB read", "of seeks"),
        ({"parts.flush": 5}, "", "of emptying caches"),
        ({"places.journal_requests": 0.2, "requests.flush": 0.5}, "writes to the journal", ""),
        ({"places.journal_bytes": 7, "parts.flush": 5}, "KiB to the journal", "of emptying caches"),
        ({}, "", ""),
    ],
)
def test_the_two_largest_differences_follow_from_the_csv(
    changes: dict[str, float], sent: str, time: str, table: Table
) -> None:
    runs = runs_of(xfs=changes)
    rows = rows_of(table(runs))
    assert derived(rows) == (sent, time)
    [said] = why.sentences(runs, "operations")
    if not changes:
        assert said == "mail: ext4 and xfs differ in nothing that is known of them."
        return
    for name in filter(None, (sent, time)):
        column, divisor = SENT[name] if name in SENT else (TIMES[name], 1e6)
        found = differing(rows, column)
        assert found is not None
        match = re.search(rf"([\d.,e-]+) (?:ms )?{name} an operation with ext4, ([\d.,e-]+) with xfs", said)
        assert match, said
        for text, value in zip(match.groups(), found, strict=True):
            assert float(text.replace(",", "")) == pytest.approx(value / divisor, rel=0.006)
    assert said.count(" with ext4") == bool(sent) + bool(time)


def test_what_the_seeds_leave_open_is_no_difference() -> None:
    runs = runs_of()
    for one, factor in zip(
        (one for one in runs if one["run"]["variant"] == "xfs"), (0.5, 1, 1.9), strict=True
    ):
        one["result"]["stats"]["requests"]["flush"] *= factor
    assert why.sentences(runs, "operations") == [
        "mail: ext4 and xfs differ in nothing that is known of them."
    ]
    # One seed has no interval, and what it shows is told.
    [said] = why.sentences([one for one in runs if one["run"]["seed"] == 1], "operations")
    assert "flushes an operation with ext4" in said


def test_a_table_has_every_variant_and_no_time_that_nobody_spends() -> None:
    runs = madeup.grid(2, 2, 2)
    head, rows = why.head(runs), why.rows(runs)
    assert len(rows) == 4 and all(len(row) == len(head) for row in rows)
    assert "seek, ms" in head and "die, ms" not in head
    assert figures.difference({1: 2.0}, {2: 1.0}) is None


def test_a_table_says_the_same_in_each_form() -> None:
    odd = ["a|b", "50 %_of {it}", "C:\\~ & #1", "1,234"]
    head, rows = ["what", "share", "path", "count"], [odd, ["x", "", "-", "2"]]
    made = {kind: form((head, rows)) for kind, form in forms.FORMS.items()}
    # Programs read a number as a number.
    assert list(csv.reader(io.StringIO(made["csv"]))) == [head, [*odd[:3], "1234"], rows[1]]
    assert forms.told_as_csv((["a"], [["5,520 to 16,040"], ["ext4, 1,000"], ["none: all the same"]])) == (
        'a\n5520 to 16040\n"ext4, 1,000"\nnone: all the same\n')
    marked = [re.split(r"(?<!\\)\|", line)[1:-1] for line in made["md"].splitlines()]
    assert [[cell.strip().replace("\\|", "|") for cell in line] for line in marked if line[0] != " --- "] == [
        head,
        *rows,
    ]
    lines = [line for line in made["tex"].splitlines() if line.endswith(r" \\")]
    assert len(lines) == 3 and all(len(re.findall(r"(?<!\\)&", line)) == 3 for line in lines)
    assert (r"a\textbar{}b & 50 \%\_of \{it\} & C:\textbackslash{}\textasciitilde{} \& \#1 & 1,{}234"
            in lines[1])
    assert r"\begin{tabular}{lllr}" in made["tex"]


ODD = "xfs <--> \"no'atime\" | 50% µ^~\\{} größe≥5, a,,b `c' ?`_#1 &$ ---"


def test_a_name_is_in_latex_what_it_is_and_a_letter_without_a_font_is_said(tmp_path: Path) -> None:
    """In the encoding that LaTeX has by itself < is another sign, and two dashes are one."""
    table = ["name", "rate"], [[ODD, "1,234"], ["x" * 300, "-"]]
    made = forms.as_latex(table)
    # No sign of these stands in it that LaTeX would take for another.
    plain = re.sub(r"\\[a-z]+(\{[^{}]*\}|[0-9]+\{\})?|\\.|\{\}", " ", made.split("\n")[6])
    assert not re.search(r"[<>|\"^~\\≥]|--|,,|[?!]`|``|''", plain), plain
    assert not forms.not_in_latex(table)
    assert forms.not_in_latex((["größe 中"], [["«ź"]])) == "中«"
    assert "% pdflatex does not know 中:" in forms.as_latex((["中"], []))
    if not shutil.which("pdflatex"):
        return
    # As somebody has it in a paper. What is read back is what was written; no line is too wide.
    (tmp_path / "a.tex").write_text(r"\documentclass{article}\usepackage{booktabs,graphicx}\begin{document}"
                                    f"\\noindent\n{made}\\end{{document}}\n")
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "a.tex"], cwd=tmp_path,
                          capture_output=True, text=True, errors="replace")
    assert not done.returncode and "Overfull" not in done.stdout, done.stdout[-2000:]
    said = subprocess.run(["pdftotext", "-layout", "a.pdf", "-"], cwd=tmp_path, capture_output=True,
                          text=True).stdout
    for word in ("<-->", "|", "50%", "a,,b", "---", "1,234", "#1 &$"):
        assert word in said, (word, said)


def test_the_answers_table_follows_from_the_csv(table: Table) -> None:
    runs = runs_of(xfs={})
    rows = rows_of(table(runs))
    head, found = answer.table(runs, "operations")
    assert head[2] == "operations a second"
    for line in found:
        rates = [float(row["operations_per_s"]) for row in rows if row["variant"] == line[1]]
        half = T2 * statistics.stdev(rates) / math.sqrt(3)
        mean = statistics.mean(rates)
        low, high = map(float, line[3].split(" to "))
        assert float(line[2]) == pytest.approx(mean, rel=0.006)
        assert (low, high) == pytest.approx((max(mean - half, 0), mean + half), rel=0.006) and line[4] == "3"
