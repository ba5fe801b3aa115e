# SPDX-License-Identifier: GPL-2.0
"""A disk's values from fio's results: track density, seeks, how it chooses, its write buffer, its flush."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial

from .depth import AGE_LIMITS, ALIKE, NONE, WINDOWS, least
from .fiojobs import FioJob
from .fiomodel import CLOSE, Model, solve, value
from .knobs import NEAR, Knob, nanoseconds, one_of, picoseconds, small
from .result import Draft, Line

MOST_RUNS = 1 << 13
LONGEST_SETTLE = 100_000_000  # ns
MOST_UNSEEN = 6  # of the last commands
FEW = 8  # outstanding
SHORT, FAIR, AGED = 1.0, 99.0, 99.9  # percent: waits by which commands left out, fairness, and a limit show
SHORT_DEPTH, FAIR_DEPTH, AGED_DEPTH = 16, 16, 16  # outstanding: the least, the most, the least for that
FLATTEST = 900  # of 1000: so near do seeks come to that over a third of the cylinders
TOLD = 0.1  # of a logarithm: two waits that differ by more


def dense(draft: Draft, factor: float, how: str) -> Draft:
    """With so many times the sectors on a track: fewer cylinders, and skews that take the same time."""
    if factor == 1:
        return draft
    tracks = [int(line.value.split(",")[2]) for line in draft.lines if line.name == "zone"]
    return retracked(draft, [max(round(track * factor), 1) for track in tracks], how)


def retracked(draft: Draft, tracks: list[int], how: str) -> Draft:
    """With so many sectors on a track of each zone, in the same order: each keeps its sectors."""
    new = Draft(draft.title)
    heads, cylinder, before = int(value(draft, "heads")), 0, int(value(draft, "cylinders"))
    longer = iter(tracks)
    for line in draft.lines:
        if line.name == "zone":
            _, _, was, sectors, *skews = (int(word) for word in line.value.split(","))
            track = next(longer)
            count = -(-sectors // (track * heads))
            # Never less than the switch takes: a revolution would be lost.
            skews = [(math.ceil(skew * track / was) + 1) % track if skew else 0 for skew in skews[:3]]
            words = [cylinder, cylinder + count - 1, track, sectors, *skews]
            cylinder += count
            new.add("zone", ",".join(map(str, words)), "fitted", how)
        else:
            new.lines.append(line)
    new.set("cylinders", cylinder, "fitted", how)
    far = 0
    for n, line in enumerate(new.lines):
        if line.name == "seek":
            distance, _, time = line.value.partition(",")
            far = max(round(int(distance) * cylinder / before), far + 1)
            new.lines[n] = Line("seek", f"{far},{time}", line.source, line.how)
    return new


def from_rest(distance: int, shortest: int, time: float) -> float:
    """What a way takes at most, where the SHORTEST takes TIME: two never take more than one and one."""
    return time * (1 + math.sqrt(max(distance / shortest - 1, 0))) if time else math.inf


def slower(draft: Draft, factor: float, how: str) -> Draft:
    """With so many times what a seek takes more than the shortest one: streams stay as they are."""
    new = Draft(draft.title)
    table = [line.value.partition(",") for line in draft.lines if line.name == "seek"]
    shortest = table[0][2] if table else value(draft, "seek_short_base")
    for line in draft.lines:
        name, text = line.name, line.value
        if name == "seek":
            distance, _, time = text.partition(",")
            most = from_rest(int(distance), int(table[0][0]), picoseconds(shortest))
            new.add(name, f"{distance},{_longer(time, shortest, factor, most)}", "fitted", how)
        elif name == "seek_long_base" and not table:
            new.add(name, _longer(text, shortest, factor), "fitted", how)
        elif name in ("seek_short_factor", "seek_long_factor") and not table:
            new.add(name, _longer(text, "0ns", factor), "fitted", how)
        else:
            new.lines.append(line)
    return new


def flatter(model: Model, draft: Draft, share: float, how: str) -> Draft:
    """Seeks nearer to the one over a third of the cylinders by a SHARE of what they differ, of the same mean.

    No table of a disk tells what its short seeks take, and those of two disks with the same mean differ.
    """
    table = [line.value.partition(",") for line in draft.lines if line.name == "seek"]
    if not table or not share:
        return draft
    ways, times = [int(way) for way, _, _ in table], [picoseconds(time) for _, _, time in table]
    middle = times[min(range(len(ways)), key=lambda n: abs(ways[n] - ways[-1] / 3))]
    changed = [times[0]] + [time + (middle - time) * share for time in times[1:]]
    new, seeks = Draft(draft.title), iter(zip(ways, changed, strict=True))
    for line in draft.lines:
        if line.name == "seek":
            way, time = next(seeks)
            time = min(time, from_rest(way, ways[0], times[0]))
            new.add("seek", f"{way},{round(time) // 1000}ns", "fitted", how)
        else:
            new.lines.append(line)

    def mean(factor: float) -> float:
        return model.mean_seek(slower(new, factor, ""))

    return slower(new, solve(mean, model.mean_seek(draft), 0.5, 2.0).factor, how)


def _longer(time: str, shortest: str, factor: float, most: float = math.inf) -> str:
    least_time = picoseconds(shortest)
    found = round(min(least_time + (picoseconds(time) - least_time) * factor, most))
    # Only the factor of a distance is told to the picosecond.
    return f"{found}ps" if time.endswith("ps") else f"{max(found // 1000, 0)}ns"


def _windows(draft: Draft, depth: int) -> list[int]:
    """What can be told apart at a depth, the largest first."""
    told = [window for window in WINDOWS if window < depth]
    return sorted({*told, max(depth, int(value(draft, "ncq_depth")))}, reverse=True)


Choice = tuple[float, int, int, int]  # how far off its rates are; window, share, unseen


def _options(window: int, share: int, unseen: int) -> tuple[str, ...]:
    return f"ncq_depth={window}", f"ncq_rotation={share / 1000}", f"ncq_unseen={unseen}"


def _wait_off(model: Model, draft: Draft, job: FioJob, choice: Choice) -> float:
    """The logarithm by which the shortest waits are off."""
    return abs(math.log(model.wait(draft, job, SHORT, *_options(*choice[1:])) / job.waits[SHORT]))


def _by_short_seeks(model: Model, draft: Draft, jobs: list[FioJob], best: Choice) -> tuple[Draft, Choice]:
    """Where a small window is all that brings the rate down, and the shortest waits tell of a larger one.

    Then short seeks take longer than the base's, in proportion: a drive that chooses from many makes those.
    """
    job = jobs[0]
    window = _windows(draft, job.depth)[0]
    if best[1] == window or not _has_short_waits(job):
        return draft, best

    @cache
    def flat(share: int) -> Draft:
        return flatter(model, draft, share / 1000, job.said)

    @cache
    def off(share: int, unseen: int) -> float:
        options = _options(window, 0, unseen)
        return max(abs(math.log(model.rate(flat(share), one, *options) / one.rate)) for one in jobs)

    def nearest(unseen: int) -> tuple[float, int, int]:
        share = least(0, FLATTEST, lambda share: off(share, unseen))
        return off(share, unseen), share, unseen

    # What a small window leaves out says nothing of a large one.
    wrong, share, unseen = min(map(nearest, range(MOST_UNSEEN + 1) if len(jobs) > 1 else [best[3]]))
    new, choice = flat(share), (wrong, window, 0, unseen)
    nearer = _wait_off(model, new, job, choice) < _wait_off(model, draft, job, best) - TOLD
    return (new, choice) if nearer and wrong < max(best[0], NEAR) else (draft, best)


def _by_short_waits(model: Model, draft: Draft, job: FioJob, best: Choice,
                    with_unseen: Callable[[int], Choice]) -> Choice:
    """A command that the choice leaves out at first waits for as many others, then for its own service."""

    def off(choice: Choice) -> float:
        return _wait_off(model, draft, job, choice)

    waited = round(job.waits[SHORT] * job.rate / 1e6)  # for so many services
    near = {unseen for unseen in range(waited - 2, waited + 1) if 0 <= unseen < best[1]}
    others = [with_unseen(unseen) for unseen in sorted(near - {best[3]})]
    tried = [choice for choice in others if choice[0] < max(best[0], NEAR)]
    nearest = min(tried, key=off, default=best)
    return nearest if off(nearest) < off(best) - TOLD else best


def fit_choice(model: Model, draft: Draft, jobs: list[FioJob]) -> Draft:
    """How many commands the drive chooses from, and how much of their angle it knows.

    The deepest job's rate cannot tell the two apart: the largest window that will do, and the best one where
    none does. A job of a middle depth tells how many of the last commands the drive leaves out; without one
    the deepest job's shortest waits do.
    """
    deep, middle = jobs[0], jobs[1:]

    @cache
    def off(job: int, window: int, share: int, unseen: int) -> float:
        return abs(math.log(model.rate(draft, jobs[job], *_options(window, share, unseen)) / jobs[job].rate))

    def worst(window: int, share: int, unseen: int) -> float:
        return max(off(job, window, share, unseen) for job in range(len(jobs)))

    def best_share(window: int, unseen: int) -> Choice:
        share = least(0, NONE, lambda share: worst(window, share, unseen))
        return worst(window, share, unseen), window, share, unseen

    before = int(value(draft, "ncq_unseen"))
    left_out = sorted(range(MOST_UNSEEN + 1), key=lambda unseen: abs(unseen - before)) if middle else [before]
    best = (math.inf, 0, 0, 0)
    for window in _windows(draft, deep.depth):
        for unseen in left_out:
            if best[0] >= NEAR and unseen < max(window, 2):
                best = min(best, best_share(window, unseen))
        left_out = [best[3]]  # a smaller window leaves out no more
    told = middle[0].said if middle else ""
    draft, best = _by_short_seeks(model, draft, jobs, best)
    off.cache_clear()  # of the draft before
    if _tell_short_waits(jobs):
        best = _by_short_waits(model, draft, deep, best, partial(best_share, best[1]))
        told = f"{SHORT:g} % wait {deep.waits[SHORT] / 1000:.4g} ms at most at depth {deep.depth}"
    _, window, share, unseen = best
    new = draft.copy()
    new.set("ncq_depth", window, "fitted", deep.said)
    new.set("ncq_rotation", f"{share / 1000:.3f}", "fitted", deep.said)
    if told:
        new.set("ncq_unseen", unseen, "fitted", told)
    return new


def _tell_short_waits(jobs: list[FioJob]) -> bool:
    """Where no job of a middle depth tells more."""
    return len(jobs) == 1 and _has_short_waits(jobs[0])


def _has_short_waits(job: FioJob) -> bool:
    return job.depth >= SHORT_DEPTH and SHORT in job.waits


def _waited(jobs: list[FioJob], percent: float) -> list[FioJob]:
    """Of those that tell how the drive chooses, those whose waits fio has told."""
    return [job for job in _choosing(jobs) if percent in job.waits]


def _of_fairness(jobs: list[FioJob]) -> list[FioJob]:
    return [job for job in _waited(jobs, FAIR) if job.depth <= FAIR_DEPTH]


def _of_age(jobs: list[FioJob]) -> list[FioJob]:
    return [job for job in _waited(jobs, AGED)[:1] if job.depth >= AGED_DEPTH]


def _with(model: Model, draft: Draft, jobs: list[FioJob], name: str, word: str, how: str) -> Draft:
    """With another value, and as much of the angle as then belongs to the rates; these come first."""

    def off(of: Draft, *options: str) -> float:
        return max(abs(math.log(model.rate(of, job, *options) / job.rate)) for job in jobs)

    @cache
    def worst(share: int) -> float:
        return off(new, f"ncq_rotation={share / 1000}")

    new = draft.copy()
    new.set(name, word, "fitted", how)
    share = least(0, NONE, worst)
    new.set("ncq_rotation", f"{share / 1000:.3f}", "fitted", jobs[0].said)
    return new if worst(share) < max(off(draft), NEAR) else draft


def fit_fair(model: Model, draft: Draft, jobs: list[FioJob]) -> Draft:
    """Among how many commands none is passed over often: each depth tells whether it is among that many."""
    before = int(value(draft, "ncq_fair"))

    @cache
    def off(fair: int) -> float:
        return sum(abs(math.log(model.wait(draft, job, FAIR, f"ncq_fair={fair}") / job.waits[FAIR]))
                   for job in jobs)

    best = min((before, 0, *(job.depth for job in jobs)), key=off)
    if off(best) > off(before) - TOLD:
        return draft
    how = f"{FAIR:g} % wait {jobs[0].waits[FAIR] / 1000:.4g} ms at most at depth {jobs[0].depth}"
    return _with(model, draft, jobs, "ncq_fair", str(best), how)


def fit_age(model: Model, draft: Draft, jobs: list[FioJob]) -> Draft:
    """Where the limit cannot be seen it stays the base's."""
    job = jobs[0]

    @cache
    def off(limit: int) -> float:
        return math.log(model.wait(draft, job, AGED, f"ncq_age_limit={limit}ms") / job.waits[AGED]) ** 2

    best = min(AGE_LIMITS, key=off)
    if off(AGE_LIMITS[-1]) < 2 * off(best) + ALIKE:
        return draft
    how = f"{AGED:g} % wait {job.waits[AGED] / 1000:.4g} ms at most at depth {job.depth}"
    return _with(model, draft, jobs, "ncq_age_limit", f"{best} ms", how)


def fit_writes(model: Model, draft: Draft, jobs: list[FioJob]) -> Draft:
    """The runs that the buffer holds; a drive that is slower than with one of them settles for longer."""
    job = jobs[0]
    new = draft.copy()

    def off(name: str, unit: str, number: int) -> float:
        return math.log(model.rate(new, job, f"{name}={number}{unit}") / job.rate)

    def nearest(name: str, unit: str, low: int, high: int, rises: bool) -> int:
        tried = {number: off(name, unit, number) for number in (low, high)}
        while high - low > max(1, abs(low) // 50) and abs(tried[low]) > CLOSE:
            middle = (low + high) // 2
            tried[middle] = off(name, unit, middle)
            low, high = (middle, high) if (tried[middle] < 0) == rises else (low, middle)
        return min(tried, key=lambda number: abs(tried[number]))

    runs = nearest("write_segments", "", 1, MOST_RUNS, rises=True)
    new.set("write_segments", runs, "fitted", job.said)
    if runs == 1:
        settle = nanoseconds(value(new, "write_settle"))
        settle = nearest("write_settle", "ns", settle, LONGEST_SETTLE, rises=False)
        new.set("write_settle", f"{settle}ns", "fitted", job.said)
    return new


def fit_flush(model: Model, draft: Draft, jobs: list[FioJob]) -> Draft:
    """What a flush takes beside the writing: the revolution in which the next write comes counts."""
    job = jobs[0]
    new = draft.copy()
    tried = {number: abs(math.log(model.rate(new, job, f"flush_overhead={number}us") / job.rate))
             for number in range(0, 60_000, 1_000)}
    new.set("flush_overhead", f"{min(tried, key=lambda number: tried[number])}us", "fitted", job.said)
    return new


def _reads(jobs: list[FioJob], fits: Callable[[FioJob], bool],
           best: Callable[[FioJob], tuple[float, ...]]) -> list[FioJob]:
    return one_of(jobs, lambda job: job.random and not job.writes and fits(job), best)


def _single(jobs: list[FioJob]) -> list[FioJob]:
    return _reads(jobs, lambda job: job.depth == 1, small)


def _choosing(jobs: list[FioJob]) -> list[FioJob]:
    """The deepest; and one of a depth at which few of the commands are left to choose from."""
    deepest = _reads(jobs, lambda job: job.depth > 2, lambda job: (-job.depth, job.sectors))
    middle = _reads(jobs, lambda job: 2 < job.depth <= FEW < deepest[0].depth,
                    lambda job: (job.sectors, -job.depth)) if deepest else []
    return deepest + middle


def _of_unseen(jobs: list[FioJob]) -> list[FioJob]:
    choosing = _choosing(jobs)
    return choosing if _tell_short_waits(choosing) else choosing[1:]


def _without_single(jobs: list[FioJob]) -> list[FioJob]:
    return [] if _single(jobs) else _choosing(jobs)[:1]


KNOBS = (
    Knob("zone, cylinders", "sequential reads",
         lambda jobs: one_of(jobs, lambda job: not job.random and not job.writes,
                             lambda job: -job.rate * job.sectors),
         changes=(dense,), low=0.2, high=5.0),
    Knob("seek", "random reads at depth 1", _single, changes=(slower,), low=0.1, high=5.0),
    Knob("ncq_depth, ncq_rotation", "random reads at a depth of more than 2", _choosing, whole=fit_choice),
    Knob("ncq_fair", f"percentiles of random reads at a depth of 3 to {FAIR_DEPTH}", _of_fairness,
         whole=fit_fair),
    Knob("ncq_age_limit", f"percentiles of the deepest random reads, of {AGED_DEPTH} or more", _of_age,
         whole=fit_age),
    Knob("seek", "random reads at depth 1", _without_single, changes=(slower,), low=0.1, high=5.0),
    Knob("ncq_unseen", f"random reads at a depth of 3 to {FEW}, beside deeper ones, or percentiles of these",
         _of_unseen, whole=lambda model, draft, jobs: draft),
    Knob("write_segments, write_settle", "random writes",
         lambda jobs: one_of(jobs, lambda job: job.random and job.writes == 1 and not job.fsync, small),
         whole=fit_writes),
    Knob("flush_overhead", "writes with fsync",
         lambda jobs: one_of(jobs, lambda job: job.writes == 1 and job.fsync > 0,
                             lambda job: (job.fsync, job.depth)),
         whole=fit_flush),
)
