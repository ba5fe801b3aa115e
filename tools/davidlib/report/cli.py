# SPDX-License-Identifier: GPL-2.0
"""`david report`: its options; the page of a question's runs."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ..bench import prepare, spec
from ..bench.metrics import METRICS
from ..bench.results import Results
from ..command import Commands
from ..util import DAVID, NOT_BELIEVABLE, UserError, write_whole


def load(top: Path) -> tuple[spec.Spec, str, list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]:
    """The question, its text, the runs that are there, those that were asked for, and the environment."""
    if not (top / "spec.toml").is_file():
        raise UserError(f"{top}: no result of 'david bench': there is no spec.toml in it")
    found, text = Results(top).question()
    runs = Results(top).load()
    if not runs:
        raise UserError(f"{top}: no run of its question is there yet; 'david bench' makes them")
    path = top / "environment.json"
    return found, text, runs, Results(top).asked(), json.loads(path.read_text()) if path.is_file() else {}


def report(args: argparse.Namespace) -> int:
    top = Path(args.result)
    if args.rest:
        raise UserError("report: --rest is about `bench paper`")
    found, text, runs, asked, environment = load(top)
    metric = args.metric or found.metric
    if why := spec.refuse_metric(found, metric):
        raise UserError(f"{top}: {why}")
    prepare.become()
    # Not before: they are not in Debian's Python.
    from . import answer, export, origin, page

    output, lack = Path(args.output or top / "report.html"), answer.missing(runs, asked)
    write_whole(output, page.make(found.question, runs, metric, text, environment, export.table(runs), lack))
    if args.files:
        files = Path(args.files)
        files.mkdir(parents=True, exist_ok=True)
        write_whole(files / "runs.csv", export.table(runs))
        write_whole(files / "samples.csv", export.samples(runs))
        export.drawings(runs, metric, files)
    for workload, sentence in answer.sentences(runs, metric).items():
        print(sentence)
        for doubt in answer.doubted(runs, workload):
            print(f"  in doubt: {doubt}")
    for line in answer.reach(runs):
        print(f"  {line}")
    good, said = answer.verdict(runs)
    print(said)
    if lack:
        print(lack)
    print(f"of {origin.sentence(runs)}")
    print(f"{output}: {len(runs)} runs")
    return 0 if good and not lack else NOT_BELIEVABLE


def add_parser(sub: Commands) -> argparse.ArgumentParser:
    parser = sub.add_parser(
        "report",
        help="make a page of a bench's results: answer, plots, tables",
        description="Make one HTML file of what 'david bench' left in a directory. It needs no network.",
        epilog=f"example:\n  {DAVID} report mail.result --files plots",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("result", metavar="RESULT", help="the directory of results")
    parser.add_argument("--output", "-o", metavar="FILE", help="the page (default: RESULT/report.html)")
    parser.add_argument("--files", metavar="DIR",
                        help="drawings as PNG and SVG, tables as CSV; of `bench paper`: PAPER.md")
    parser.add_argument("--rest", metavar="RESULT",
                        help="of `bench paper`: the quick form, for experiments that are missing")
    parser.add_argument("--metric", choices=METRICS, help="of the answer (default: the spec's)")
    return parser
