# SPDX-License-Identifier: GPL-2.0
"""Bugs that a module built with DAVID_PLANT=1 can be given, so that a test is seen to find them: cases for
that are marked @case(planted=True).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from helpers.guest import Failed

PLANT = Path("/sys/module/dm_david/parameters/plant")


def can_plant() -> bool:
    return PLANT.exists()


@contextmanager
def planted(bug: str) -> Iterator[None]:
    PLANT.write_text(bug)
    try:
        yield
    finally:
        PLANT.write_text("none")


def all_found(*bugs: tuple[str, Callable[[], object]]) -> None:
    """Each bug is found by its test."""
    missed = []
    for bug, test in bugs:
        print(f"planted: {bug}, for {getattr(test, '__name__', test)}", flush=True)
        try:
            with planted(bug), must_fail():
                test()
        except Failed as error:
            missed.append(f"{bug}: {error}")
    if missed:
        raise Failed("; ".join(missed))


@contextmanager
def must_fail() -> Iterator[None]:
    """What the test does with the bug there."""
    try:
        yield
    except (Failed, OSError) as found:
        print(f"found: {found}", flush=True)
    else:
        raise Failed("planted and not found")
