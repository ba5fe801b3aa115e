# SPDX-License-Identifier: GPL-2.0
"""The commands `david bench` and `david report`: of a question, or of the paper's evaluation."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..bench import cli as questions
from ..bench import prepare
from ..command import Commands
from ..report import cli as pages
from ..util import NOT_BELIEVABLE, UserError, write_whole
from . import command


def bench(args: argparse.Namespace) -> int:
    return command.bench(args) if args.spec == "paper" else questions.bench(args)


def _report(args: argparse.Namespace, top: Path) -> int:
    if args.new or args.tolerance or args.metric or args.width:
        raise UserError(f"report: {top} is of 'bench paper': of it there is a page, with --output, --files "
                        "and --rest, and nothing that NEW, --tolerance, --metric or --width could change")
    quick, runs, environment = command.load(top)
    if args.rest:
        runs = command.filled(runs, Path(args.rest))
    prepare.become()
    # Not before: it needs what is not in Debian's Python.
    from . import page

    output = Path(args.output or top / "report.html")
    write_whole(output, page.html(quick, runs, environment))
    if args.files:
        page.markdown(quick, runs, environment, Path(args.files))
    print(page.answer(runs))
    good, said = page.verdict(runs)
    print(said)
    print(f"{output}: {len(runs)} labs")
    return 0 if good else NOT_BELIEVABLE


def report(args: argparse.Namespace) -> int:
    top = Path(args.result)
    return _report(args, top) if command.is_paper(top) else pages.report(args)


def add_parsers(sub: Commands) -> None:
    questions.add_parser(sub).set_defaults(func=bench)
    pages.add_parser(sub).set_defaults(func=report)
