# SPDX-License-Identifier: GPL-2.0
"""A page of tables, written. `david report` draws what is to be drawn of them, where it is installed.

It is called as a program, because drawing needs an environment of Python's own. It is told by a file what
stands on the page.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..util import HAS_LABS, inner, say, write_whole
from .document import document, escape
from .tables import Table, as_html

PACKAGE = "dm-david-lab"


def told(title: str, tables: Sequence[Table]) -> str:
    """What `david report` is told."""
    return json.dumps({"page": title, "tables": [table.as_dict() for table in tables]})


def plain(title: str, tables: Sequence[Table], lack: str) -> str:
    """The page without drawings."""
    note = f"<p>{escape(lack)}</p>" if lack else ""
    return document(escape(title), note + "".join(map(as_html, tables)))


def _drawn(title: str, tables: Sequence[Table]) -> bytes:
    """Nothing if it failed, which `david report` has said why."""
    with tempfile.TemporaryDirectory(prefix="dm-david-page-") as top:
        data, page = Path(top) / "page.json", Path(top) / "page.html"
        data.write_text(told(title, tables))
        return page.read_bytes() if not inner("report", data, "--output", page, quiet=True) else b""


def write(path: Path, title: str, tables: Sequence[Table]) -> None:
    """The page, whole. What is missing of it is said there and on stderr."""
    lack = ""
    if any(table.curve or table.marks for table in tables):
        if HAS_LABS and (page := _drawn(title, tables)):
            return write_whole(path, page)
        lack = ("This page has no drawings: 'david report' failed to make them." if HAS_LABS else
                f"This page has no drawings: the package {PACKAGE} draws them.")
        say(f"{path}: {lack}")
    write_whole(path, plain(title, tables, lack))
