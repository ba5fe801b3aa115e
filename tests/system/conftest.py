# SPDX-License-Identifier: GPL-2.0
"""System tests: each lab is started once, in the background, two or three at a time; tests wait for their
line of its output.

A test says which lab it needs with `@pytest.mark.lab(Job(...), run)` and asks the fixture `lab` for its
result, a line "RESULT {json}" that the program in the lab prints. The lab is started with those of its runs
that the chosen tests need, so `pytest -k` takes no longer than it must. Labs of further marks are run for
the test, too.
DAVID_SCALE=full runs full sizes, DAVID_DAILY=1 only what is not marked as seldom.
"""

from __future__ import annotations

import os
import resource
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

LINK = Path(__file__).resolve().parent / "davidlib"
if not LINK.is_dir():
    raise pytest.UsageError(
        f"this clone has no symbolic links, by which tests find their modules: {LINK} is no directory. "
        "Clone again where there are links, with `git clone -c core.symlinks=true`"
    )

from helpers import ctrlc  # noqa: E402
from helpers.units import DAILY  # noqa: E402
from labjob import DEBUG, Job, Labs, compile_python  # noqa: E402

LABS = pytest.StashKey[Labs]()
MOST = 40  # lines of what takes most
CPU = pytest.StashKey[Counter[str]]()


def pytest_configure(config: pytest.Config) -> None:
    ctrlc.for_children()
    config.addinivalue_line("markers", "lab(job, run): which lab, and what of its runs, a test waits for")
    config.addinivalue_line("markers", "seldom: for `make land` and `make system`, not for `make check`")


def jobs_of(items: list[pytest.Item]) -> dict[Job, tuple[str, ...]]:
    """The labs that the chosen tests need, in the tests' order, and what of its runs each is to do: all where
    only its end is asked for.
    """
    needed: dict[Job, set[str]] = {}
    for item in items:
        for mark in item.iter_markers("lab"):
            job, *runs = mark.args
            assert set(runs) <= set(job.runs), f"{item.name}: {job.describe()} has no {runs}"
            needed.setdefault(job, set()).update(runs)
    return {job: tuple(run for run in job.runs if run in runs) or job.runs for job, runs in needed.items()}


def has_debug_kernel(item: pytest.Item) -> bool:
    return all(mark.args[0].kind == "uml" for mark in item.iter_markers("lab"))


def keep(config: pytest.Config, items: list[pytest.Item], wanted: Callable[[pytest.Item], bool]) -> None:
    config.hook.pytest_deselected(items=[item for item in items if not wanted(item)])
    items[:] = filter(wanted, items)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What works on the host comes first, beside the others' labs: at the end it would have a CPU idle."""
    if DEBUG:
        keep(config, items, has_debug_kernel)
    if DAILY:
        keep(config, items, lambda item: not item.get_closest_marker("seldom"))
    items.sort(key=only_looks)


def only_looks(item: pytest.Item) -> int:
    """0: it waits for no lab of pytest's; 1: it works with what one has made; 2: it looks at its results."""
    marker = item.get_closest_marker("lab")
    return 0 if marker is None else 1 if marker.args[0].worked_on else 2


def progress() -> Callable[[str], None]:
    """Past pytest's capture, which is off now: whoever waits minutes wants to see that something happens."""
    stderr = os.dup(2)

    def say(text: str) -> None:
        os.write(stderr, f"\nlab: {text}\n".encode())

    return say


def pytest_collection_finish(session: pytest.Session) -> None:
    if not session.config.option.collectonly:
        compile_python()
        session.config.stash[LABS] = Labs(jobs_of(session.items), progress())


def pytest_unconfigure(config: pytest.Config) -> None:
    if LABS in config.stash:
        config.stash[LABS].stop()


def cpu_time(labs: Labs) -> float:
    """Seconds of CPU time of this process and of those that have ended, but for labs."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used) - sum(labs.cpu.values())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """How much each file takes: pytest_terminal_summary() says it."""
    labs = item.config.stash[LABS]
    start = cpu_time(labs)
    result = yield
    item.config.stash.setdefault(CPU, Counter())[item.path.name] += cpu_time(labs) - start
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """What takes most, so that who adds a minute sees it."""
    took = Counter(config.stash.get(CPU, Counter()))
    if LABS in config.stash:
        took.update({job.describe(): seconds for job, seconds in config.stash[LABS].cpu.items()})
    terminalreporter.section("CPU time: files, without labs, and labs")
    for name, seconds in took.most_common(MOST):
        terminalreporter.write_line(f"{seconds:8.1f} s  {name}")
    terminalreporter.write_line(f"{sum(took.values()):8.1f} s  in all")
    if LABS in config.stash and config.stash[LABS].took:
        terminalreporter.section("of that, what labs did, the first with their boots")
        for name, seconds in config.stash[LABS].took.most_common(MOST):
            terminalreporter.write_line(f"{seconds:8.1f} s  {name}")


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

    def case(self, name: str) -> None:
        """Fails or skips the test as caserun.py did the case."""
        result = self.result(case=name)
        if result["error"]:
            pytest.fail(str(result["error"]), pytrace=False)
        if result["skipped"]:
            pytest.skip(str(result["skipped"]))

    def ended_well(self) -> None:
        """Fails the test unless the status is 0: all checks held, and the kernel was quiet."""
        status = self.labs.end(self.job)
        if status:
            pytest.fail(f"{self.job.describe()}: {self.labs.tail(self.job)}", pytrace=False)


@pytest.fixture
def lab(request: pytest.FixtureRequest) -> Iterator[Output]:
    job = request.node.get_closest_marker("lab").args[0]
    labs = request.config.stash[LABS]
    labs.nothing_else_runs()
    yield Output(labs, job)
