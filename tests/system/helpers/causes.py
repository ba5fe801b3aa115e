# SPDX-License-Identifier: GPL-2.0
"""Programs whose threads wait in known ways (waiters.c), and what `david trace causal` finds of it."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

from davidlib.trace import causal

Edge = tuple[str, int, int]  # kind, who is waited for, who waits


def drawn(seed: int, threads: int, kinds: tuple[str, ...]) -> list[Edge]:
    """Some of all edges, with no circle."""
    rng = random.Random(seed)
    order = rng.sample(range(1, threads + 1), threads)
    pairs = [(one, other) for i, one in enumerate(order) for other in order[i + 1 :]]
    return [(rng.choice(kinds), one, other) for one, other in pairs if rng.random() < 0.5]


def reached(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """With all that follows: who waits for one that waits for a third waits for the third."""
    more = pairs | {(a, d) for a, b in pairs for c, d in pairs if b == c}
    return pairs if more == pairs else reached(more)


def needed(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Without what follows."""
    return {pair for pair in pairs if pair not in reached(pairs - {pair})}


def _last_of(run: causal.Run, wait: causal.Wait, thread: str, number: int) -> int:
    """The last of the program's own calls (A.1 to A.5) among a thread's first ones."""
    names = [call.path or "" for call in run.calls[thread][:number]]
    marks = [int(name.rpartition(".")[2]) for name in names if Path(name).name.startswith(f"{thread[2:]}.")]
    return max(marks, default=0)


def wrong(
    run: causal.Run, waits: Iterable[causal.Wait], least: set[tuple[int, int]], most: set[tuple[int, int]]
) -> list[str]:
    """What was found beside the truth: which threads, and at which of their calls."""
    between = [wait for wait in waits if "." in wait.thread and "." in wait.after]
    said = {(int(wait.after[2:]), int(wait.thread[2:])) for wait in between}
    found = [f"{pair} was not found" for pair in sorted(least - said)]
    found += [f"{pair} is no wait" for pair in sorted(said - most)]
    for wait in between:
        # It goes on with its third call, when the other has done its fourth and not yet its fifth.
        own = _last_of(run, wait, wait.thread, wait.call - (not wait.during))
        other = _last_of(run, wait, wait.after, wait.after_call)
        if own != 2 or other != 4:
            found.append(f"{wait}: after {own} calls of its own and {other} of the other")
    return found


def words(binary: str, directory: Path, threads: int, edges: list[Edge]) -> list[str]:
    return [binary, str(directory), str(threads), *(f"{kind}:{one}>{other}" for kind, one, other in edges)]


PLANTED: dict[str, causal.Holder] = {
    "none": lambda thread, delay: [],
    "another": lambda thread, delay: causal.hold({"1.1": "1.2", "1.2": "1.1"}.get(thread, thread), delay),
}


def check(
    binary: str,
    directory: Path,
    threads: int,
    edges: list[Edge],
    delay: int,
    hold: causal.Holder = causal.hold,
) -> list[str]:
    """What is wrong with what is found, with and without what follows from others."""
    run, waits = causal.find(words(binary, directory, threads, edges), delay, hold)
    pairs = {(one, other) for _, one, other in edges}
    every = reached(pairs)
    # A wait that others imply at the end may have been earlier than theirs.
    return wrong(run, waits, every, every) + wrong(run, causal.direct(waits), needed(pairs), pairs)
