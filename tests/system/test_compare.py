# SPDX-License-Identifier: GPL-2.0
"""david compare: its arithmetic beside printed numbers, and its report of made-up replays. No lab."""

from __future__ import annotations

import html
import json
import math
import re
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from davidlib import student
from davidlib.replay import compare, comparison, metrology
from davidlib.replay.metrology import Source
from davidlib.trace import disks
from davidlib.util import UserError

TREE = Path(__file__).resolve().parents[2]

PAPER = TREE.parent / "shared/papers/replay-metrology.txt"
# Of the paper's fileserver: what was replayed, the reference (us), U as printed (%), the precision it is of.
FILESERVER = [
    (20.73, 50.72, 118.27, 0.87),
    (27.21, 50.72, 92.72, 0.83),
    (50.45, 83.95, 79.81, 0.15),
    (69.79, 83.95, 33.79, 0.97),
]


@pytest.mark.parametrize("replayed,reference,printed,precision", FILESERVER)
def test_the_fileservers_uncertainties_come_out_of_its_means(
    replayed: float, reference: float, printed: float, precision: float
) -> None:
    bias = 100 * (replayed - reference) / reference
    assert metrology.of_replay(bias, precision) == pytest.approx(printed, abs=0.01)
    # By the bias alone, nearly: it is what there is of them.
    assert metrology.of_replay(bias, 0) == pytest.approx(printed, abs=0.07)


def test_these_are_the_papers_numbers() -> None:
    if not PAPER.exists():
        pytest.skip(
            f"compares with the paper's own text, which may not be copied: no {PAPER.name} in {PAPER.parent}"
        )
    rows = re.findall(
        r"^(Read|Write)\s+([\d.]+) ± ([\d.]+)%\s+([\d.]+) ± ([\d.]+)%\s+([\d.]+)",
        PAPER.read_text(),
        re.MULTILINE,
    )
    found = {
        tuple(map(float, pair)) for _, a, ua, b, ub, ref in rows for pair in ((a, ref, ua), (b, ref, ub))
    }
    assert found == {row[:3] for row in FILESERVER}


def test_the_gums_example_of_an_end_gauge() -> None:
    """H.1: its components in nm give 32 nm, 16 degrees of freedom, and 93 nm for 99 %."""
    budget = [Source("standard", 25, 18), Source("comparison", 9.7, 25.6), Source("expansion", 2.9, 50)]
    combined = metrology.combine([*budget, Source("temperature", 16.6, 2)], 0.99)
    assert round(combined.uncertainty) == 32 and combined.freedom == 16
    assert combined.coverage == pytest.approx(2.92, abs=0.005)
    assert combined.coverage * 32 == pytest.approx(93, abs=0.5)


@pytest.mark.parametrize(
    "freedom,level,factor",
    # As in tables of the distribution with nine decimals; the GUM, table G.2, has 2 and 3 of them.
    [(1, 0.95, 12.706204736), (2, 0.95, 4.302652730), (3, 0.95, 3.182446305), (5, 0.95, 2.570581836),
     (10, 0.95, 2.228138852), (16, 0.99, 2.920781622), (30, 0.95, 2.042272456), (120, 0.95, 1.979930405)],
)  # fmt: skip
def test_students_factors_are_those_of_the_tables(freedom: float, level: float, factor: float) -> None:
    assert student.factor(freedom, level) == pytest.approx(factor, abs=1e-6)


def test_students_factor_is_the_normal_distributions_in_the_end() -> None:
    assert student.factor(math.inf) == pytest.approx(1.959963985, abs=1e-5)
    assert student.factor(5, 0.6827) == pytest.approx(1.11, abs=0.005)


def test_an_uncorrected_bias_shifts_the_interval() -> None:
    """It is never on the wrong side of the result, and without a bias it is what it was."""
    assert metrology.around_bias(0, 5) == (5, 5)
    assert metrology.around_bias(2, 5) == (7, 3)
    assert metrology.around_bias(-2, 5) == (3, 7)
    assert metrology.around_bias(9, 5) == (14, 0)


def spread(mean: float, n: int = 100) -> dict[str, float]:
    return {"n": n, "mean": mean, "sd": 1, "min": mean, "p50": mean, "p99": mean, "max": mean}


def result(
    read: list[float], original: float = 1000, workload: str = "w", **options: Any
) -> dict[str, Any]:
    """Runs whose reads took so many ns; as many writes took always 3000."""
    runs = [
        {
            "workload": workload, "order": "root", "timing": "closed", "scale": 1, "threads": 2, "made": 200,
            "elapsed": 400000, "original-elapsed": 400000, "compared": 200, "same": 199, "stopped": False,
            "order-violations": 0, "overlap": 0.9, "original-overlap": 1.0, "issue-error": spread(50),
            "calls": {"READ": {"replay": spread(mean), "original": spread(original)},
                      "WRITE": {"replay": spread(3000), "original": spread(3000)}},
        }
        for mean in read
    ]  # fmt: skip
    environment = {"kernel": "6", "clock-ns": 0}
    return {"kind": "replay", "cold": False, "environment": environment, "options": options, "runs": runs}


@pytest.mark.parametrize("replayed,reference,printed,precision", FILESERVER)
def test_compare_prints_the_fileservers_uncertainties(
    replayed: float, reference: float, printed: float, precision: float
) -> None:
    """Of two runs around the paper's mean that are as far apart as its precision says."""
    off = precision / 100 * reference
    runs = [1000 * (replayed - off), 1000 * (replayed + off)]
    found = compare.as_json(compare.compare([result(runs, 1000 * reference)]))
    assert found["rows"]["READ"]["u-percent"] == pytest.approx(printed, abs=0.01)


def test_bias_precision_and_factor_are_those_of_the_runs() -> None:
    comparison = compare.compare([result([1010, 1020, 1030], workload="a"), result([1020], 1020, "b")])
    rows = {row.kind: row for row in comparison.rows}
    read = rows["READ"]
    assert (read.original.mean, read.replay.mean) == (1010, 1020)
    assert read.bias == 10 and read.relative == pytest.approx(10 / 1010)
    # Of 1010, 1020, 1030, 1020: s = sqrt(200 / 3); of two originals: s = sqrt(200).
    assert read.replay.error == pytest.approx(math.sqrt(200 / 3 / 4))
    assert read.original.error == pytest.approx(10)
    assert read.combined.uncertainty == pytest.approx(math.hypot(math.sqrt(50 / 3), 10))
    assert read.combined.freedom == math.floor((50 / 3 + 100) ** 2 / ((50 / 3) ** 2 / 3 + 100**2 / 1))
    assert rows[compare.ALL].replay.mean == (1020 + 3000) / 2
    assert rows["WRITE"].bias == 0 and rows["WRITE"].of_replay == 0


def test_the_clock_is_in_the_budget_and_the_captures_cost_is_taken_off() -> None:
    one = result([1000, 1000])
    one["environment"]["clock-ns"] = 256
    row = compare.compare([one], cost=512).rows[1]
    assert row.bias == 512 and row.combined.uncertainty == pytest.approx(256 * math.sqrt(2 / 12))


def test_a_cost_above_the_mean_is_refused_or_not_taken_off() -> None:
    """A mean below 0 has no share, and no uncertainty in percent."""
    one = result([1000, 1010])
    found = compare.compare([one], cost=1500)
    read, write = found.rows[1:3]
    assert (read.kind, read.original.mean, read.correction) == ("READ", 1000, 0)
    assert (write.kind, write.original.mean, write.correction) == ("WRITE", 1500, -1500)
    assert any("READ took 1.000 us in the original" in one for one in found.warnings)
    with pytest.raises(UserError, match="--capture-cost is 2.000 us, and the original's calls took 2.000 us"):
        compare.compare([one], cost=2000)


def test_captures_of_different_programs_are_refused_by_name() -> None:
    one, other = result([1000, 1010], workload="a"), result([1000], workload="b")
    assert len(compare.compare([one, other]).rows) == 3
    for run in one["runs"]:
        run["program"] = "sh -c one"
    assert len(compare.compare([one, other]).rows) == 3
    other["runs"][0]["program"] = "sh -c two"
    with pytest.raises(UserError, match="different programs: sh -c one; sh -c two. --mixed"):
        compare.compare([one, other])
    assert "captures of different programs: sh -c one; sh -c two" in compare.compare(
        [one, other], mixed=True
    ).warnings


@pytest.mark.parametrize(
    ("read", "said"),
    [([1000, 1010], "1.6"), ([1000, 1650], "100"), ([1000, 6000], "790"), ([1000, 1000.001], "0.00016")],
)
def test_an_uncertainty_is_printed_without_an_exponent(read: list[float], said: str) -> None:
    verdict = compare.verdict(compare.compare([result(read)]))
    assert f"± {said} % (k" in verdict, verdict


def test_delays_put_in_on_purpose_tell_the_sensitivity_and_nothing_else() -> None:
    delayed = result([1100], **{"add-delay": 100})
    delayed["runs"][0]["calls"]["WRITE"]["replay"] = spread(3100)
    comparison = compare.compare([result([1000, 1000]), delayed])
    assert comparison.sensitivity == pytest.approx(1)
    assert comparison.rows[1].bias == 0
    with pytest.raises(UserError, match="on purpose"):
        compare.compare([delayed])


def test_the_verdict_is_one_line_and_never_without_an_uncertainty() -> None:
    said = compare.verdict(compare.compare([result([1010, 1030])]))
    assert said.startswith(
        "fidelity: calls 99.500 %, order 100.000 %, overlap 90 %, time +0.50 % ± 3.2 % (k = 12.71)"
    )
    assert "± not known" in compare.verdict(compare.compare([result([1010])]))


def test_what_is_compared_is_held_against_the_trace() -> None:
    part, whole = result([1010]), result([1010])
    for run in part["runs"]:
        run |= {"trace-calls": 900, "not-in-workload": {"only-in-order": 600, "missing": 100}}
    said = "700 of the trace's 900 calls are not in the workload"
    assert said in compare.compare([part]).warnings
    assert not [line for line in compare.compare([whole]).warnings if "workload" in line]


def test_runs_that_are_all_the_same_are_not_given_an_uncertainty_of_zero() -> None:
    same = compare.compare([result([1010, 1010])])
    assert compare.verdict(same).endswith("time +0.25 % in each of 2 runs: nothing varies")
    assert "all 2 runs took the same: nothing varies from run to run" in same.warnings
    text = "\n".join(comparison.as_text(same))
    assert "0.010 the same in each run" in text and "± 0.000" not in text and "± 0 %" not in text
    assert "± 0.000" not in "\n".join(comparison.as_text(compare.compare([result([1010])])))


def test_ranks_go_together_or_not() -> None:
    """Spearman's own example has -29/165 (scores and hours of ten pupils); equal values share their ranks."""
    scores = (106, 100, 86, 101, 99, 103, 97, 113, 112, 110)
    hours = (7, 27, 2, 50, 28, 29, 20, 12, 6, 17)
    found = metrology.rank_correlation(list(zip(scores, hours, strict=True)))
    assert found == pytest.approx(-29 / 165)
    assert metrology.rank_correlation([(1, 5), (2, 5), (3, 7), (4, 9)]) == pytest.approx(0.9486833)
    assert metrology.rank_correlation([(1, 5), (2, 5), (3, 5)]) is None


def disk_counts(reads: int, sectors: int, ms: int) -> dict[str, int]:
    return dict.fromkeys(disks.FIELDS, 0) | {
        "reads": reads, "read_sectors": sectors, "read_ms": ms, "busy_ms": ms, "weighted_ms": 2 * ms,
    }  # fmt: skip


def test_errors_by_rate_and_what_the_disk_was_asked_for_are_told(tmp_path: Path) -> None:
    """The trace's disk is the one that was asked most, or the one that is named."""
    one = result([1000, 1000])
    for run in one["runs"]:
        run |= {"rate-interval": 10_000_000, "rates": [[10, 1000], [0, 0], [40, 80000], [20, 8000]]}
        run |= {"elapsed": 400_000_000, "disk": disk_counts(20, 160, 100)}
    trace = tmp_path / "t.db"
    connection = sqlite3.connect(trace)
    connection.execute("CREATE TABLE event (id INTEGER, start INTEGER, duration INTEGER)")
    connection.execute("INSERT INTO event VALUES (1, 0, 100000000), (2, 150000000, 50000000)")
    connection.commit()
    connection.close()
    with pytest.raises(UserError, match="nobody has counted"):
        compare.Seen.of_trace(trace, None)
    counts = {name: list(disk_counts(*said).values()) for name, said in {
        "dm-0": (10, 80, 50), "sda": (4, 8000, 1)}.items()}  # fmt: skip
    disks.store(trace, counts)
    found = compare.compare([one], traces=[compare.Seen.of_trace(trace, None)])
    original, replay = found.seen
    assert (original["reads"], original["KiB a read"], original["ms a read"]) == (10, 4, 5)
    assert (replay["reads"], replay["under way, on average"], replay["busy, %"]) == (20, 0.5, 25)
    assert (original["under way, on average"], original["busy, %"]) == (0.5, 25)
    assert compare.Seen.of_trace(trace, "sda").counts["reads"] == 4
    with pytest.raises(UserError, match="the disks are dm-0, sda"):
        compare.Seen.of_trace(trace, "sdb")
    assert found.rates == sorted([(1000, 100), (2000, 400), (4000, 2000)] * 2)
    assert compare.as_json(found)["rank-correlation-of-issue-error-and-rate"] == pytest.approx(1)
    text = "\n".join(comparison.as_text(found))
    assert "the original's disk is dm-0" in text and re.search(r"^4000 +4000 +2\.000$", text, re.MULTILINE)
    nothing = "\n".join(comparison.as_text(compare.compare([result([1000, 1000])])))
    assert "replays with --log have it" in nothing and "the original's is not known" in nothing


def test_what_was_asked_for_is_the_difference_and_what_is_under_way_is_none() -> None:
    before = {"sda": [5] * len(disks.FIELDS), "sdb": [1] * len(disks.FIELDS)}
    after = {"sda": [7] * len(disks.FIELDS), "sdb": [1] * len(disks.FIELDS), "dm-0": [3] * len(disks.FIELDS)}
    found = disks.between(before, after)
    assert sorted(found) == ["dm-0", "sda"]
    assert found["sda"][disks.STATE] == 0 and found["sda"][0] == 2 and found["dm-0"][0] == 3


def test_another_environment_is_told(tmp_path: Path) -> None:
    other = result([1000], workload="b")
    other["environment"]["kernel"] = "5"
    for number, one in enumerate((result([1000, 1001]), other)):
        (tmp_path / f"{number}.json").write_text(json.dumps(one))
    words = [
        TREE / "tools/david",
        "compare",
        tmp_path / "0.json",
        tmp_path / "1.json",
        "-o",
        tmp_path / "c.json",
        "--page",
        tmp_path / "c.html",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    for number, heading in enumerate(
        ("Measurand", "Procedure", "Sources", "Characterization", "Mitigation", "Uncertainty"), 1
    ):
        assert re.search(rf"^{number}\. {heading}", done.stdout, re.MULTILINE)
    assert "note: kernel is 6 in one, 5 in another" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("fidelity: ")
    assert json.loads((tmp_path / "c.json").read_text())["rows"]["READ"]["bias-ns"] == pytest.approx(1 / 3)
    page = (tmp_path / "c.html").read_text()
    assert done.stdout.splitlines()[-1] in html.unescape(page) and "<polyline" not in page
    body = page.partition("<script")[0]
    assert body.count("<h2>") == 10 and not re.search(r'(src|href)="(?!data:)', body)
    # Three runs in a drawing, each beside its original.
    [data] = re.findall(r'id="drawings">(.*?)</script>', page)
    [drawing] = json.loads(data)["drawings"]
    assert drawing["heading"] == "Elapsed time" and len(drawing["rows"]) == 6
    (tmp_path / "0.json").write_text("{}")
    refused = subprocess.run(words, capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and "is not what `david replay -o` writes" in refused.stderr


@pytest.mark.parametrize(("content", "said"), [
    (b"", "is empty; `david replay -o` writes"),
    (b" \n", "is empty"),
    (bytes(range(256)), "is no text"),
    (b'{"kind": "replay",\n "runs": [', "line 2: not JSON as `david replay -o` writes it, or cut short"),
    (b"[]", "is not what `david replay -o` writes"),
    (b'{"kind": "block-replay"}', "is of a block trace's replay: compare takes those of"),
    (None, "No such file or directory"),
])
def test_a_file_that_is_no_result_is_told_in_plain_words(
    content: bytes | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "result"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError) as error:
        compare.load([path])
    assert str(path) in str(error.value) and said in str(error.value)
    assert "codec" not in str(error.value) and "Errno" not in str(error.value)
