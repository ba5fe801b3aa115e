# SPDX-License-Identifier: GPL-2.0
"""Who waits for whom: a program runs once for each of its threads, and that thread is held before each call.

What comes later than before has waited for it, whatever with: a lock, a pipe, memory that it watches. That
is the idea of //TRACE (Mesnier et al., FAST'07). A thread is known by who made it: 1.2 is the second of 1's.
Calls that only synchronise are not looked at: how many there are depends on who comes first.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from ..util import UserError, say
from . import program

MAKERS = ("clone", "clone3", "fork", "vfork")
NEVER = 1 << 62
NOT_RUN = (126, 127)  # the program's status, if there is none to be run; a shell's, too
Holder = Callable[[str, int], list[str]]


@dataclass(frozen=True)
class Call:
    name: str
    path: str | None
    start: int
    end: int  # NEVER: it did not return


@dataclass(frozen=True)
class Wait:
    """A thread's call, counted from 1, comes after another's; during it, or before it."""

    thread: str
    call: int
    during: bool
    after: str
    after_call: int


@dataclass
class Run:
    calls: dict[str, list[Call]]
    began: dict[str, int]  # when the call that made it had returned


def run_of(database: Path) -> Run:
    with sqlite3.connect(database) as db:
        by_tid: dict[int, list[tuple[Call, int]]] = {}
        began: dict[int, int] = dict(db.execute("SELECT tid, start FROM thread ORDER BY start DESC"))
        rows = db.execute("SELECT tid, name, path, start, duration, result FROM call ORDER BY start, id")
        for tid, name, path, start, duration, result in rows:
            end = NEVER if duration is None else start + duration
            by_tid.setdefault(tid, []).append((Call(name, path, start, end), result or 0))
    first = min(began, key=lambda tid: (began[tid], tid))
    names, left = {first: "1"}, [first]
    while left:
        tid = left.pop()
        made = [(call, child) for call, child in by_tid.get(tid, []) if call.name in MAKERS and child > 0]
        for number, (call, child) in enumerate(made, 1):
            names[child] = f"{names[tid]}.{number}"
            began[child] = call.end
            left.append(child)
    calls = {name: [call for call, _ in by_tid.get(tid, [])] for tid, name in names.items()}
    return Run(calls, {name: began.get(tid, 0) for tid, name in names.items()})


def made_by(run: Run) -> Iterable[Wait]:
    """A thread's first call comes after the call that made it."""
    for name, calls in run.calls.items():
        makers = [number for number, call in enumerate(calls, 1) if call.name in MAKERS]
        made = [child for child in run.calls if child.rpartition(".")[0] == name]
        for child in made:
            number = int(child.rpartition(".")[2])
            if number <= len(makers):
                yield Wait(child, 1, False, name, makers[number - 1])


def late(
    usual: list[Call], held: list[Call], began: tuple[int, int], delay: int
) -> Iterable[tuple[int, bool, int]]:
    """Calls of one thread that another's delay has moved: number, during it or before, when it went on."""
    before = began
    for number, (one, other) in enumerate(zip(usual, held, strict=False), 1):
        if one.name != other.name:
            return  # from here on it does something else
        if other.start - before[1] - (one.start - before[0]) > delay // 2:
            yield number, False, other.start
        if NEVER not in (one.end, other.end) and other.end - other.start - (one.end - one.start) > delay // 2:
            yield number, True, other.end
        before = (one.end, other.end)


def waits_for(thread: str, usual: Run, held: Run, delay: int) -> Iterable[Wait]:
    """What waits for @thread, which is held in @held: for how many of its calls."""
    released = [call.start + delay for call in held.calls.get(thread, [])]
    for name, calls in usual.calls.items():
        if name == thread or name not in held.calls:
            continue
        most = 0
        began = (usual.began[name], held.began[name])
        for number, during, when in late(calls, held.calls[name], began, delay):
            count = sum(time <= when for time in released)
            if count > most:
                most = count
                yield Wait(name, number, during, thread, count)


def direct(waits: list[Wait]) -> list[Wait]:
    """Without what follows from others: who waits for one that waits for a third waits for the third."""

    def implied(wait: Wait) -> bool:
        return any(
            one is not wait
            and two is not wait
            and one.thread == wait.thread
            and (one.call, one.during) <= (wait.call, wait.during)
            and two.thread == one.after
            and two.call <= one.after_call
            and two.after == wait.after
            and two.after_call >= wait.after_call
            for one in waits
            for two in waits
        )

    return [wait for wait in waits if not implied(wait)]


def _executed(database: Path) -> bool:
    with sqlite3.connect(database) as db:
        return bool(db.execute("SELECT 1 FROM call WHERE name = 'execve' AND result = 0").fetchone())


def _recorded(command: list[str], directory: Path, name: str, options: list[str]) -> Run:
    file, database = directory / f"{name}.dtr", directory / f"{name}.db"
    status = program.record(file, ["--share-disk", *options], command)
    if status == program.FAILED or not program.finish(file, database):
        raise UserError(f"trace causal: {command[0]} could not be recorded")
    file.unlink()
    if status in NOT_RUN and not _executed(database):
        raise UserError(f"trace causal: {command[0]} is no program that can be run")
    return run_of(database)


def hold(thread: str, delay: int) -> list[str]:
    """The tracer's options."""
    return ["--hold", f"{thread},{delay}"]


def find(command: list[str], delay: int, holder: Holder = hold) -> tuple[Run, list[Wait]]:
    """All waits, those that follow from others too."""
    with tempfile.TemporaryDirectory(prefix="david-causal-") as scratch:
        usual = _recorded(command, Path(scratch), "usual", [])
        waits = list(made_by(usual))
        for thread, calls in usual.calls.items():
            say(f"thread {thread}: {len(calls)} calls, held before each")
            held = _recorded(command, Path(scratch), thread, holder(thread, delay))
            waits += waits_for(thread, usual, held, delay)
    return usual, waits


def _text(run: Run, thread: str, number: int) -> str:
    calls = run.calls[thread]
    call = calls[min(number, len(calls)) - 1]
    return f"thread {thread}, call {number} {call.name}" + (f" {call.path}" if call.path else "")


def command_causal(command: list[str], delay: int, every: bool, out: str | None) -> int:
    run, waits = find(command, delay)
    shown = waits if every else direct(waits)
    for wait in sorted(shown, key=lambda one: (one.thread, one.call, one.during)):
        when = "during it" if wait.during else "before it"
        after = _text(run, wait.after, wait.after_call)
        print(f"{_text(run, wait.thread, wait.call)}: waits, {when}, for {after}")
    if out:
        calls = {name: [call.name for call in calls] for name, calls in run.calls.items()}
        found = {"delay-ns": delay, "calls": calls, "waits": [asdict(wait) for wait in shown]}
        Path(out).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0
