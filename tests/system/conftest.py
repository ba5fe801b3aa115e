# SPDX-License-Identifier: GPL-2.0
"""System tests: each lab is started once, in the background, two at a time; tests wait for their line of
its output.

A test says which lab it needs with `@pytest.mark.lab(Job(...))` and asks the fixture `lab` for its result,
a line "RESULT {json}" that the program in the lab prints. Jobs behind the first are run for it, too.
DAVID_SCALE=full runs the issue's full sizes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from labjob import Job, Labs

LABS = pytest.StashKey[Labs]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "lab(job): the lab that prints this test's result")


def jobs_of(items: list[pytest.Item]) -> list[Job]:
    """The labs that the chosen tests need, in the tests' order."""
    marks = [item.get_closest_marker("lab") for item in items]
    return list(dict.fromkeys(job for mark in marks if mark for job in mark.args))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts labs of its own comes first, beside the others: at the end it would have a CPU idle."""
    items.sort(key=lambda item: item.get_closest_marker("lab") is not None)


def pytest_collection_finish(session: pytest.Session) -> None:
    if not session.config.option.collectonly:
        session.config.stash[LABS] = Labs(jobs_of(session.items))


def pytest_unconfigure(config: pytest.Config) -> None:
    if LABS in config.stash:
        config.stash[LABS].stop()


class Output:
    """A test's view of its lab."""

    def __init__(self, labs: Labs, job: Job) -> None:
        self.labs, self.job = labs, job

    def result(self, job: Job | None = None, **wanted: object) -> dict[str, object]:
        """The first result line with these values; fails the test if the lab ends without it."""
        job = job or self.job
        found = self.labs.wait(job, wanted)
        if found is None:
            what = ", ".join(f"{key}={value}" for key, value in wanted.items())
            pytest.fail(f"no result {what} from {job.describe()}:\n{self.labs.tail(job)}", pytrace=False)
        return found

    def ended_well(self) -> None:
        """Fails the test unless the status is 0: all checks held, and the kernel was quiet."""
        status = self.labs.end(self.job)
        if status:
            pytest.fail(f"{self.job.describe()}: {self.labs.tail(self.job)}", pytrace=False)


@pytest.fixture
def lab(request: pytest.FixtureRequest) -> Iterator[Output]:
    job = request.node.get_closest_marker("lab").args[0]
    yield Output(request.config.stash[LABS], job)
