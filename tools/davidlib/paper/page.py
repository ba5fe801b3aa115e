# SPDX-License-Identifier: GPL-2.0
"""The page of the paper's evaluation, as one HTML file, and as Markdown with drawings beside it for docs/."""

from __future__ import annotations

import dataclasses
import textwrap
from html import escape
from pathlib import Path
from typing import Any

from ..pages.document import table_of
from ..report import forms, origin, page
from ..report.charts import Drawing
from ..util import DAVID
from . import criteria, measured, sections
from .measured import Runs
from .sections import Section, Table

TITLE = "The paper's evaluation, repeated"
SOURCE = ("The paper is David (Agrawal, Arulraj, Arpaci-Dusseau, Arpaci-Dusseau: Emulating Goliath Storage "
          "Systems with David, FAST 2011).")


def answer(runs: Runs) -> str:
    found = criteria.all_of(runs)
    known = [one for one in found if one.reached is not None]
    missed = [one.aim for one in known if not one.reached]
    said = f"{len(known) - len(missed)} of the {len(known)} aims that were measured are reached"
    return f"{said}; not reached: {'; '.join(missed)}." if missed else f"{said}."


def verdict(runs: Runs) -> tuple[bool, str]:
    wrong = measured.wrong(runs)
    if wrong:
        return False, f"{len(wrong)} doubtful results. {wrong[0]}"
    return True, f"All {len(runs)} labs are valid: requests came when modelled, none failed."


def aims(runs: Runs) -> Table:
    return (["aim", "ours", ""], [[one.aim, one.ours or "-", one.word] for one in criteria.all_of(runs)])


def command(quick: bool) -> str:
    return f"{DAVID} bench paper" + (" --quick" if quick else "")


def html(quick: bool, runs: Runs, environment: dict[str, Any]) -> str:
    good, said = verdict(runs)
    parts = [f'<p class="answer">{escape(answer(runs))}</p>',
             f'<p class="{"good" if good else "bad"}">{escape(said)}</p><p>{escape(SOURCE)}</p>',
             "<h2>Aims</h2>", table_of(*aims(runs))]
    found: list[Drawing] = []
    for number, section in enumerate(sections.all_of(runs, quick)):
        mine = list(_drawn(section).values())
        parts.append(_html_of(section) + page.drawn(mine, len(found), number))
        found += mine
    told = (f"<p>{escape(text)}</p>" for text in measured.grades(runs))
    parts += ["<h2>What the drives' times are worth</h2>", *told]
    parts.append(f"<h2>Again</h2><pre>{command(quick)}</pre>{page.origin_of(runs)}<h2>Environment</h2>")
    parts.append(page.environment_of(environment))
    return page.document(TITLE + (", quick form" if quick else ""), "".join(parts), found)


def _drawn(section: Section) -> dict[str, Drawing]:
    """By the names of their files."""
    return {name: dataclasses.replace(draw(), heading=heading)
            for name, (heading, draw) in section.plots.items()}


def _html_of(section: Section) -> str:
    parts = [f"<h2>{escape(section.heading)}</h2>", *(f"<p>{escape(text)}</p>" for text in section.said),
             *(table_of(*table) for table in section.tables)]
    return "".join(parts)


def _paragraph(text: str) -> list[str]:
    return [*textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False), ""]


def _table(table: Table) -> list[str]:
    return [*forms.as_markdown(table).splitlines(), ""]


def _made(quick: bool, runs: Runs, found: dict[str, Any]) -> str:
    rest = " What it had not reached when it was stopped is of the quick form, and says so."
    short = rest if any(one.get("quick") for one in runs) else ""
    return (f"`{command(quick)}` made this, on {found['finished'][:10]}.{short} It is of "
            f"{origin.sentence(runs)}")


def markdown(quick: bool, runs: Runs, environment: dict[str, Any], top: Path) -> None:
    """PAPER.md in that directory, and its drawings in drawings/."""
    lines = [f"# {TITLE}", "", *_paragraph(SOURCE),
             *_paragraph(_made(quick, runs, environment)),
             *_paragraph(f"**{answer(runs)}** {verdict(runs)[1]}"), "## Aims", "", *_table(aims(runs))]
    (top / "drawings").mkdir(parents=True, exist_ok=True)
    for section in sections.all_of(runs, quick):
        lines += [f"## {section.heading}", ""]
        for text in section.said:
            lines += _paragraph(text)
        for table in section.tables:
            lines += _table(table)
        for name, drawing in _drawn(section).items():
            (top / "drawings" / f"paper-{name}.svg").write_bytes(drawing.rendered("svg"))
            lines.append(f"![{drawing.heading}](drawings/paper-{name}.svg)")
        lines += [""] * bool(section.plots)
    lines += ["", "## What the drives' times are worth", ""]
    for text in measured.grades(runs):
        lines += _paragraph(text)
    (top / "PAPER.md").write_text("\n".join(lines).rstrip() + "\n")
