# SPDX-License-Identifier: GPL-2.0
"""How long runs take, of real time: what like runs took on this machine before. None of it is in a result.

Two runs are alike if they differ in no more than the seed and the versions of what does them.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable

from ..util import CACHE, write_whole
from . import parts
from .runs import Run

KEPT = CACHE / "bench-seconds.json"
# Kinds of runs that are remembered; the oldest are forgotten.
MOST = 5000


def likeness(run: Run) -> str:
    told = run.described
    work, system = told["workload"], told["file_system"]
    params = work.get("params") or told.get("params")
    about = [told.get(key) for key in (*parts.DECIDING, "profile", "experiment")]
    about += [system[key] for key in ("type", "mkfs", "mount")]
    return parts.digest([*about, work.get("kind"), params])


def load() -> dict[str, float]:
    """Seconds, by likeness."""
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(KEPT.read_text())
        if isinstance(found, dict):
            return {key: float(value) for key, value in found.items()}
    return {}


def note(took: Iterable[tuple[Run, float]]) -> None:
    """Remember. A machine where nothing can be written forgets."""
    found = load()
    for run, seconds in took:
        key = likeness(run)
        found.pop(key, None)
        found[key] = round(seconds, 2)
    with contextlib.suppress(Exception):
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        write_whole(KEPT, json.dumps(dict(list(found.items())[-MOST:])))


def said(todo: list[Run], workers: int, known: dict[str, float]) -> str:
    """About how long these runs will take."""
    if not todo:
        return "nothing is to be done"
    seconds = [known[key] for run in todo if (key := likeness(run)) in known]
    unknown = len(todo) - len(seconds)
    about = f"{len(seconds)} runs take about {sum(seconds) / workers:.0f} s, {workers} at a time"
    rest = f"of {unknown} runs it is not known how long they take: none like them was done on this machine"
    return "; ".join([about] * bool(seconds) + [rest] * bool(unknown))
