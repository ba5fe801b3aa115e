# SPDX-License-Identifier: GPL-2.0
"""A profile from fio's results: another drive's, with what they tell fitted."""

from __future__ import annotations

import argparse
import math
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from ..drive import files
from ..sizes import SECTOR, parse_size
from ..util import UserError, say
from . import simdisk
from .depth import NONE, WINDOWS, Fitter, least, rate
from .fiojobs import FioJob, load
from .output import new_file
from .result import Draft, Line, profile_name

# Of the fitted factors.
LEAST, MOST = 0.2, 5.0
MOST_RUNS = 1 << 14
CLOSE = 0.03  # of the rate


@dataclass
class Found:
    job: FioJob
    fitted: bool
    model: float

    @property
    def error(self) -> float:
        return 100 * (self.model / self.job.rate - 1)


def base(profile: str, size: str | None) -> Draft:
    """Every line of a profile, scaled, as assumed."""
    sectors = ["--sectors", str(parse_size(size) // SECTOR)] if size else []
    done = subprocess.run([simdisk.program(), "profile", "show", *sectors, "--", str(files.find(profile))],
                          capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"--profile {profile}: {done.stderr.strip()}")
    draft = Draft("")
    for line in done.stdout.splitlines():
        name, _, value = line.partition(" = ")
        if name in ("slip", "remap") or (name == "sparing" and value != "none"):
            raise UserError(f"--profile {profile}: its defects cannot be scaled; take one of profiles/")
        draft.lines.append(Line(name, value, "assumed", f"as of {profile}"))
    return draft


def _value(draft: Draft, name: str) -> str:
    return next(line.value for line in draft.lines if line.name == name)


def dense(draft: Draft, factor: float, how: str) -> Draft:
    """With so many times the sectors on a track: fewer cylinders, and skews that take the same time."""
    new = Draft(draft.title)
    heads, cylinder, before = int(_value(draft, "heads")), 0, int(_value(draft, "cylinders"))
    for line in draft.lines:
        if line.name == "zone":
            _, _, track, sectors, *skews = (int(word) for word in line.value.split(","))
            track = max(round(track * factor), 1)
            count = -(-sectors // (track * heads))
            # Never less than the switch takes: a revolution would be lost.
            skews = [(math.ceil(skew * factor) + 1) % track if skew else 0 for skew in skews[:3]]
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


def slower(draft: Draft, factor: float, how: str) -> Draft:
    """With so many times what a seek takes more than the shortest one: streams stay as they are."""
    new = Draft(draft.title)
    table = [line.value.partition(",")[2] for line in draft.lines if line.name == "seek"]
    shortest = table[0] if table else _value(draft, "seek_short_base")
    for line in draft.lines:
        name, value = line.name, line.value
        if name == "seek":
            distance, _, time = value.partition(",")
            new.add(name, f"{distance},{_longer(time, shortest, factor)}", "fitted", how)
        elif name == "seek_long_base" and not table:
            new.add(name, _longer(value, shortest, factor), "fitted", how)
        elif name in ("seek_short_factor", "seek_long_factor") and not table:
            new.add(name, _longer(value, "0ns", factor), "fitted", how)
        else:
            new.lines.append(line)
    return new


def _picoseconds(time: str) -> int:
    number = time.rstrip("abcdefghijklmnopqrstuvwxyz")
    units = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
    return round(float(number) * units[time[len(number):]])


def _longer(time: str, shortest: str, factor: float) -> str:
    least = _picoseconds(shortest)
    found = round(least + (_picoseconds(time) - least) * factor)
    # Only the factor of a distance is told to the picosecond.
    return f"{found}ps" if time.endswith("ps") else f"{max(found // 1000, 0)}ns"


def model_rate(draft: Draft, job: FioJob, *options: str) -> float:
    with Fitter(draft) as fitter, fitter.model(*options) as disk:
        requests = job.requests(disk.sectors)
        answers = disk.deep(requests, job.depth)
        return rate([a for a, r in zip(answers, requests, strict=True) if r.sectors])


def solve(rate_of: Callable[[float], float], wanted: float) -> float:
    """The factor for which a rate that rises with it, or falls, is the wanted one, as near as it goes."""
    low, high = LEAST, MOST
    rises = rate_of(MOST) > rate_of(LEAST)
    for _ in range(24):
        middle = (low * high) ** 0.5
        if (rate_of(middle) < wanted) == rises:
            low = middle
        else:
            high = middle
    return (low * high) ** 0.5


def _first(jobs: list[FioJob], in_random: bool, writes: float,
           choose: Callable[[list[FioJob]], FioJob]) -> FioJob | None:
    found = [job for job in jobs if job.random == in_random and job.writes == writes and not job.fsync]
    return choose(found) if found else None


def fit(draft: Draft, jobs: list[FioJob]) -> tuple[Draft, list[FioJob]]:
    """One job tells one value; which ones were used."""
    used = []
    stream = _first(jobs, False, 0, lambda found: max(found, key=lambda job: job.rate * job.sectors))
    if stream:
        how = f"{stream.kind}: {stream.rate * stream.sectors * 512 / 1e6:.4g} MB/s"
        factor = solve(lambda f: model_rate(dense(draft, f, how), stream), stream.rate)
        draft = dense(draft, factor, how)
        used.append(stream)
    single = _first(jobs, True, 0, lambda found: min(found, key=lambda job: (job.depth, job.sectors)))
    if single and single.depth == 1:
        how = f"{single.kind}: {single.rate:.4g} a second"
        factor = solve(lambda f: model_rate(slower(draft, f, how), single), single.rate)
        draft = slower(draft, factor, how)
        used.append(single)
    deep = _first(jobs, True, 0, lambda found: max(found, key=lambda job: job.depth))
    if deep and deep.depth > 2:
        _fit_choice(draft, deep)
        used.append(deep)
    write = _first(jobs, True, 1, lambda found: min(found, key=lambda job: (job.depth, job.sectors)))
    if write:
        _fit_runs(draft, write)
        used.append(write)
    return draft, used


def _fit_choice(draft: Draft, job: FioJob) -> None:
    def off(window: int, share: int) -> float:
        options = f"ncq_depth={window}", f"ncq_rotation={share / 1000}"
        return abs(model_rate(draft, job, *options) / job.rate - 1)

    # The largest window that will do: one job cannot tell window and angle apart.
    for window in sorted((window for window in WINDOWS if window <= max(job.depth, 4)), reverse=True):
        share = least(0, NONE, lambda share: off(window, share))  # noqa: B023
        if off(window, share) < CLOSE:
            break
    how = f"{job.kind}: {job.rate:.4g} a second"
    draft.set("ncq_depth", window, "fitted", how)
    draft.set("ncq_rotation", f"{share / 1000:.3f}", "fitted", how)


def _fit_runs(draft: Draft, job: FioJob) -> None:
    low, high = 0, MOST_RUNS
    while high - low > 1:
        middle = (low + high) // 2
        if model_rate(draft, job, f"write_segments={middle}") < job.rate:
            low = middle
        else:
            high = middle
    draft.set("write_segments", high, "fitted", f"{job.kind}: {job.rate:.4g} a second")


def table(found: list[Found]) -> str:
    lines = [f"{'job':<52}{'drive/s':>10}{'model/s':>10}{'error %':>9}  used to fit"]
    for row in found:
        lines.append(f"{row.job.kind:<52}{row.job.rate:>10.1f}{row.model:>10.1f}{row.error:>9.1f}"
                     f"  {'yes' if row.fitted else 'no'}")
    return "\n".join(lines)


def run(args: argparse.Namespace) -> int:
    if not args.profile:
        raise UserError("--from needs --profile P: a drive of the class; see 'david profile list'")
    if args.write:
        raise UserError("--write goes with a device, not with --from")
    jobs = [job for path in args.from_ for job in load(path)]
    draft = base(args.profile, args.size)
    with new_file(args.out, args.force) as out:
        draft, used = fit(draft, jobs)
        draft.set("name", profile_name(args.name or f"{args.profile[:24]}-fitted"), "reported")
        found = [Found(job, job in used, model_rate(draft, job)) for job in jobs]
        names = ", ".join(args.from_)
        draft.title = f"{args.profile}, fitted to {names} by david calibrate.\n" + table(found)
        out.write_text(draft.text())
    print(table(found))
    if all(row.fitted for row in found):
        say("every job was used to fit: nothing tells how far the profile is right beyond them")
    return 0
