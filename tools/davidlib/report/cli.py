# SPDX-License-Identifier: GPL-2.0
"""`david report`: its options; the page of a question's runs."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

from ..bench import prepare, spec
from ..bench.metrics import METRICS
from ..bench.results import Results
from ..command import Commands
from ..util import DAVID, MISSED, NOT_BELIEVABLE, UserError, write_whole
from . import answer, compare, origin, thresholds, trust, why


# What a file has to have that there is a page of.
CHOICE, PAGE = {"status", "asked", "choices"}, {"page", "tables"}

# Of a drawing: pt of TeX's big points, as PDF and SVG have them.
UNITS, LEAST, MOST = {"mm": 72 / 25.4, "cm": 72 / 2.54, "in": 72.0, "pt": 1.0}, 100, 2000


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


def unasked(found: spec.Spec) -> str:
    """That `david bench` would not do these runs now, and why; "" if it would."""
    if found.refused:
        return (f"'david bench' would refuse this question today: {found.refused}. The runs are as they were "
                "made, and their figures may be of what it refuses")
    return f"'david bench' could not ask this question now: {found.gone}" if found.gone else ""


def _share(text: str) -> float:
    """An argparse type: 5%, of 1."""
    number = text.removesuffix("%")
    try:
        share = float(number) / 100
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no tolerance; write 5%")
    return share


def _width(text: str) -> float:
    """An argparse type: pt."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(mm|cm|in|pt)", text.strip())
    width = float(found[1]) * UNITS[found[2]] if found else 0.0
    if not LEAST <= width <= MOST:
        raise argparse.ArgumentTypeError(f"'{text}' is no width of a drawing; write 84mm, 3.3in or 240pt, "
                                         f"from {LEAST} to {MOST} pt")
    return width


def compared(args: argparse.Namespace) -> int:
    """OLD and NEW: what has changed."""
    if args.output or args.files:
        raise UserError("report: OLD NEW has no page: leave out --output and --files")
    before, _, old, asked_before, _ = load(Path(args.result))
    found, _, new, asked, _ = load(Path(args.new))
    metric = args.metric or found.metric
    if wrong := spec.refuse_metric(found, metric):
        raise UserError(f"{args.new}: {wrong}")
    changes = compare.changes(old, new, metric, args.tolerance)
    for line in (*changes, *compare.alone(old, new)):
        print(line)
    print(f"between them: {'; '.join(compare.between(old, new))}")
    grades, latest = (trust.grades(runs, metric) for runs in (old, new))
    for which, told in (("", [one for one in latest if one in grades]),
                        ("the old result: ", [one for one in grades if one not in latest]),
                        ("the new result: ", [one for one in latest if one not in grades])):
        for line in told:
            print(f"  {which}{line}")
    believable = True
    for which, question, runs, wanted in (("old", before, old, asked_before), ("new", found, new, asked)):
        good, said = answer.verdict(runs)
        lack = answer.missing(runs, wanted)
        believable = believable and good and not lack and not question.refused
        for line in filter(None, ("" if good else said, lack, unasked(question))):
            print(f"the {which} result: {line}")
    worse = sum(one.verdict == compare.WORSE for one in changes)
    print(f"{worse} of {len(changes)} got worse" + (f" by more than {100 * args.tolerance:g} %"
                                                   if args.tolerance else ""))
    return NOT_BELIEVABLE if not believable else MISSED if worse else 0


def _of_file(path: Path) -> dict[str, Any]:
    """What david choose printed, or what another command has told of its page."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, dict) or not any(keys <= found.keys() for keys in (CHOICE, PAGE)):
            raise ValueError
    except ValueError:
        raise UserError(f"{path}: neither a directory of 'david bench' nor what 'david choose --json' "
                        "printed") from None
    return found


def _file(args: argparse.Namespace, path: Path) -> int:
    if args.new or args.files or args.tolerance or args.metric:
        raise UserError("report: of david choose's JSON there is a page, and nothing else: --output alone")
    found = _of_file(path)
    prepare.become()
    # Not before: they need what is not in Debian's Python.
    from . import planner, tablepage

    output = Path(args.output or path.with_suffix(".html"))
    if found.keys() >= PAGE:
        write_whole(output, tablepage.make(path, found))
        print(f"{output}: {len(found['tables'])} tables")
        return 0
    planner.wanted(path, found)
    write_whole(output, planner.make(path, found))
    print(f"{planner.verdict(found)}\n{output}: {len(found['choices'])} drives in levels")
    return int(found["status"])


def report(args: argparse.Namespace) -> int:
    top = Path(args.result)
    if args.width and not args.files:
        raise UserError("report: --width is of the drawings of --files DIR")
    if top.is_file():
        return _file(args, top)
    if args.rest:
        raise UserError("report: --rest is about `bench paper`")
    if args.new:
        return compared(args)
    if args.tolerance:
        raise UserError("report: --tolerance is about OLD NEW")
    found, text, runs, asked, environment = load(top)
    metric = args.metric or found.metric
    if wrong := spec.refuse_metric(found, metric):
        raise UserError(f"{top}: {wrong}")
    prepare.become()
    # Not before: they are not in Debian's Python.
    from . import export, page

    output = Path(args.output or top / "report.html")
    missing = answer.missing(runs, asked)
    lack = list(filter(None, (missing, unasked(found))))
    good, verdict = answer.verdict(runs)
    believable = good and not missing and not found.refused
    missed = thresholds.missed(runs, found.goals)
    judged = thresholds.said(missed, found.goals, believable)
    write_whole(output, page.make(found.question, runs, metric, text, environment, export.table(runs), lack,
                                  judged))
    told: list[str] = []
    if args.files:
        files = Path(args.files)
        files.mkdir(parents=True, exist_ok=True)
        write_whole(files / "runs.csv", export.table(runs))
        write_whole(files / "samples.csv", export.samples(runs))
        told = [*export.answers(runs, metric, files), *export.drawings(runs, metric, files, args.width)]
    for workload, sentence in answer.sentences(runs, metric).items():
        print(sentence)
        for doubt in answer.doubted(runs, workload):
            print(f"  in doubt: {doubt}")
    for line in answer.across(runs, metric):
        print(line)
    for line in why.sentences(runs, metric) if why.known(runs) else []:
        print(f"  why: {line}")
    for line in trust.sentences(runs, metric):
        print(f"  {line}")
    if alone := answer.lonely(runs, metric):
        print(alone)
    for line in answer.reach(runs):
        print(f"  {line}")
    for line in (verdict, *lack, *judged):
        print(line)
    print(f"of {origin.sentence(runs)}")
    for line in told:
        print(f"{args.files}: {line}")
    print(f"{output}: {len(runs)} runs")
    return (MISSED if missed else 0) if believable else NOT_BELIEVABLE


def add_parser(sub: Commands) -> argparse.ArgumentParser:
    parser = sub.add_parser(
        "report",
        help="make a page of a bench's results: answer, plots, tables; or compare two results",
        description="Make one HTML file of what 'david bench' left in a directory. It needs no network. "
        "With two directories, say what has changed from the first to the second, seed by seed; the exit "
        "status is 3 if something got worse. Of what 'david choose --json' printed, make a page, too.",
        epilog=f"example:\n  {DAVID} report mail.result --files plots\n"
        f"  {DAVID} report before.result after.result --tolerance 5%",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("result", metavar="RESULT", help="the directory of results; or david choose's JSON")
    parser.add_argument("new", metavar="NEW", nargs="?", help="compare with this one, which is newer")
    parser.add_argument("--tolerance", type=_share, default=0.0, metavar="PERCENT",
                        help="with NEW: changes of so much are none (default 0%%)")
    parser.add_argument("--output", "-o", metavar="FILE",
                        help="the page (default: RESULT/report.html, beside a file FILE.html)")
    parser.add_argument("--files", metavar="DIR",
                        help="drawings as SVG, PNG, PDF and CSV, the answer as CSV, Markdown and LaTeX, "
                             "runs as CSV; of `bench paper`: PAPER.md")
    parser.add_argument("--width", type=_width, metavar="WIDTH",
                        help="with --files: of the drawings, such as 84mm for a column of a paper, 178mm for "
                             "both; letters of 8 pt, and no heading, as a paper has captions")
    parser.add_argument("--rest", metavar="RESULT",
                        help="of `bench paper`: the quick form, for experiments that are missing")
    parser.add_argument("--metric", choices=METRICS, help="of the answer (default: the spec's)")
    return parser
