# SPDX-License-Identifier: GPL-2.0
"""docs/results/*.csv say how each table was measured; docs/MEASURED.md says what they say. No lab."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.scripts import loaded

TREE = Path(__file__).resolve().parents[2]
PAGE = TREE / "docs/MEASURED.md"
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")


results = loaded(TREE / "tests/bench/results")
FILES = sorted((TREE / "docs/results").glob("*.csv"))


def numbers(text: str) -> set[str]:
    return {found.replace(",", "") for found in NUMBER.findall(text)}


def told(name: str) -> set[str]:
    """The numbers of a table and of its notes."""
    result = results.Result.read(TREE / "docs/results" / name)
    return numbers(" | ".join([*result.notes, *(cell for row in result.rows for cell in row)]))


def wrong_figures(page: str) -> Iterator[str]:
    """Figures of the page that its tables do not have, and tables that no row or line names."""
    named = set(re.findall(r"\(results/([\w.-]+)\.csv\)", page))
    for path in FILES:
        if path.stem not in named:
            yield f"no word of {path.name}"
    rows = 0
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("| ") or cells[1:] == ["figure", "table"]:
            continue
        rows += 1
        tables = re.findall(r"\(results/([\w.-]+\.csv)\)", cells[-1])
        there = set().union(*map(told, tables))
        figures = numbers(cells[1])
        # A word alone ('nothing') is no figure: then the row must have another one.
        if not figures or not tables:
            yield f"no figure, or no table: {line}"
        yield from (f"{figure} is not in {', '.join(tables)}: {line}" for figure in sorted(figures - there))
    if rows < 20:
        yield f"only {rows} rows"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_table_says_how_it_was_measured(path: Path) -> None:
    assert results.Result.read(path).faults() == []


def test_a_command_of_a_table_is_there() -> None:
    targets = set(re.findall(r"^([a-z0-9.-]+(?: [a-z0-9.-]+)*):(?!=)", (TREE / "Makefile").read_text(), re.M))
    targets = {word for words in targets for word in words.split()}
    for path in FILES:
        command = results.Result.read(path).said["command"]
        for target in re.findall(r"\bmake (?:-s )?([a-z][\w-]*)", command):
            assert target in targets, f"{path.name}: no target {target}"
        for name in re.findall(r"(?<![\w/])((?:tests|tools)/[\w./-]+)", command):
            assert (TREE / name).exists(), f"{path.name}: no {name}"


def test_the_page_has_the_tables_figures_and_names_all_tables() -> None:
    assert len(FILES) > 40
    assert list(wrong_figures(PAGE.read_text())) == []


def test_a_wrong_figure_of_the_page_is_found() -> None:
    """Planted: one figure is another one, a table is not named, a row has no figure."""
    page = PAGE.read_text()
    assert "30.8 MiB" in page and "(results/fuzzing.csv)" in page
    wrong = list(wrong_figures(page.replace("30.8 MiB", "31.8 MiB")))
    assert len(wrong) == 1 and wrong[0].startswith("31.8 is not in demo.csv")
    unnamed = page.replace("[fuzzing](results/fuzzing.csv)", "[fuzzing](results/lives.csv)")
    assert any("no word of fuzzing.csv" in one for one in wrong_figures(unnamed))
    assert any("no figure" in one for one in wrong_figures(page.replace("30.8 MiB", "little")))


@pytest.mark.parametrize("text,fault", [
    ("# command: x\n# date: 2026-11-28\n# machine: y\na,b\n1\n", "row 1 has 1 cells of 2"),
    ("# command: x\n# date: 2026-11-28\n# machine: y\na,a\n1,2\n", "a column has no name, or another one's"),
    ("# command: x\n# date: 2026-11-28\n# machine: y\na,b\n", "no row"),
    ("# command: x\n# machine: y\na,b\n1,2\n", "no '# date:'"),
    ("# command: x\n# date: yesterday\n# machine: y\na\n1\n", "its date is no YYYY-MM-DD"),
])
def test_a_table_that_does_not_say_it_is_found(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / "x.csv").write_text(text)
    assert fault in results.Result.read(tmp_path / "x.csv").faults()


@pytest.mark.parametrize("name", results.MAKERS)
def test_what_is_made_again_has_the_makers_command_and_columns(name: str) -> None:
    result = results.Result.read(TREE / f"docs/results/{name}.csv")
    maker = results.MAKERS[name]
    assert result.said["command"] == maker.command and result.notes == maker.notes


def test_a_maker_of_another_table_makes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: a command that ends well and prints another table, and one that fails."""
    nothing = results.Maker("echo nothing", results.disksim, ())
    monkeypatch.setitem(results.MAKERS, "disksim", nothing)
    with pytest.raises(SystemExit, match="is not believed: no row"):
        results.main(["disksim", "--output", str(tmp_path)])
    broken = results.Maker("echo broken >&2; false", results.disksim, ())
    monkeypatch.setitem(results.MAKERS, "disksim", broken)
    with pytest.raises(SystemExit, match="ended with 1.*broken"):
        results.main(["disksim", "--output", str(tmp_path)])
    assert not list(tmp_path.iterdir())
