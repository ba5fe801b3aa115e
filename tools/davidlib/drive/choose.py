# SPDX-License-Identifier: GPL-2.0
"""david choose: which drive, in which level, how many of them, for so many requests a second."""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import io
import json
import re
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .. import build
from ..command import Commands, OnceEach
from ..sizes import SECTOR, format_both, format_size, format_time, size_arg, time_arg
from ..trace import blocks
from ..util import (CACHE, DAVID, FAILED, MISSED, NOT_BELIEVABLE, UserError, jobs, say,
                    write_whole)
from . import candidates, files, served, worth
from .asking import Asking
from .candidates import DEPTHS, DOUBTED, FITS, LEVELS, NONE, REFUSED, Choice, Demand, Drive, Tried

MOST = 12
EVERY = 20  # seconds between lines of progress
KEPT = CACHE / "choose-seconds.json"  # how long jobs took here; none of it is in a result
MOST_KEPT = 5000  # the oldest are forgotten
SURE, NOT_SURE, UNKNOWN = "yes", "no", "unknown"
Pair = tuple[Drive, str]
LEGEND = (
    f"times: how many times as much it bears within the bound; beyond {candidates.LOTS} is not looked for.",
    "1 failed, 2 failed: the same with members gone; lost: so is the data; it depends: on which ones.",
    "Rebuilding is not judged. sure: does a drive do it that is as far from its profile as its class lets",
    "fear, in 19 of 20? An array's own error is not in it. rate, p99: who has measured such figures: drive,",
    "class, or nobody (assumed). *: no figure that was measured on the drive holds its profile.",
)


def _kinds(demand: Demand) -> str:
    """Of the drive's grades, the one that such requests belong to; of p99 it is `tail`."""
    reads = demand.reads
    if demand.traces:
        counts = sum((trace.counted() for trace in demand.traces), Counter())
        reads = 100 * counts[blocks.READ] // max(1, counts[blocks.READ] + counts[blocks.WRITE])
    return worth.kind_of(f"random depth={max(DEPTHS)} writes={100 - reads}")


def sure(choice: Choice, demand: Demand) -> str:
    """Is the demand met by a drive that is as far from its profile as its class lets fear?"""
    rate, tail = choice.drive.worth.of(_kinds(demand)).factor, choice.drive.worth.of("tail").factor
    if not tail or not rate:
        return UNKNOWN
    best = choice.best
    assert best
    if demand.traces:
        return SURE if all(one.p99_us * 1e3 * tail <= demand.p99 for one in best.points) else NOT_SURE
    met = any(one.per_s / rate >= (demand.iops or 0) and one.p99_us * 1e3 * tail <= demand.p99
              for one in best.within(demand))
    return SURE if met else NOT_SURE


def _tried(tried: Tried, demand: Demand) -> dict[str, Any]:
    met = tried.met_at(demand)
    return {
        "members": tried.members, "failed": tried.failed, "capacity": tried.capacity,
        "fits": tried.fits(demand), "times": tried.limit(demand),
        "depth": met.depth if met else None, "per_s": met.per_s if met else None,
        "p99_us": met.p99_us if met else None,
        "points": [{"depth": one.depth, "per_s": one.per_s, "p99_us": one.p99_us, "times": one.times,
                    "brief": one.brief, "doubts": list(one.doubts)} for one in tried.points],
    }


def _choice(choice: Choice, demand: Demand) -> dict[str, Any]:
    if choice.verdict == REFUSED:
        return {"profile": choice.drive.profile, "level": choice.level, "verdict": REFUSED, "why": choice.why,
                "sure": None, "class": "", "doubt": "", "grade": None, "factor": None, "tail_grade": None,
                "tail_factor": None, "tried": [], "degraded": [], "rebuilding": None, "untried": {}}
    value = choice.drive.worth
    rate, tail = value.of(_kinds(demand)), value.of("tail")
    return {
        "profile": choice.drive.name, "level": choice.level, "verdict": choice.verdict, "why": choice.why,
        "sure": sure(choice, demand) if choice.verdict == FITS else None,
        "class": value.drive_class, "doubt": value.doubt,
        "grade": rate.grade, "factor": rate.factor, "tail_grade": tail.grade, "tail_factor": tail.factor,
        "tried": [_tried(one, demand) for one in choice.tried],
        "degraded": [_tried(one, demand) for one in choice.degraded],
        "rebuilding": None,
        "untried": {name: count for name, count in choice.untried.items() if count},
    }


def status_of(choices: list[Choice], lost: bool) -> int:
    """The exit status. LOST: more is missing of a trace than may be."""
    verdicts = {one.verdict for one in choices}
    if verdicts == {REFUSED}:
        return FAILED
    if lost or (FITS not in verdicts and DOUBTED in verdicts):
        return NOT_BELIEVABLE
    return 0 if FITS in verdicts else MISSED


def as_json(choices: list[Choice], demand: Demand, status: int) -> dict[str, Any]:
    return {
        "status": status,
        "asked": {"iops": demand.iops, "p99_us": demand.p99 / 1e3, "capacity": demand.capacity,
                  "read_share": demand.reads, "block": demand.block, "degraded": demand.survives,
                  "traces": [str(trace.path) for trace in demand.traces]},
        "choices": [_choice(one, demand) for one in choices],
    }


# --- as a table ---

HEAD = ["drive", "level", "members", "capacity", "requests/s", "p99 ms", "under way", "times", "1 failed",
        "2 failed", "sure", "rate", "p99"]
MARK = " *"  # nobody vouches for the profile


def _times(tried: Tried, demand: Demand) -> str:
    limit = tried.limit(demand)
    if limit is None:
        return "-"
    if demand.traces:
        return f"{limit:.3g}" + (" for so long" if any(one.brief for one in tried.points) else "")
    # The last of the depths that were tried is still within the bound: deeper ones may serve more.
    last = tried.points[-1]
    more = last in tried.within(demand) and last.per_s / (demand.iops or 1) == limit
    return f"{limit:.3g}" + (" or more" if more else "")


def _failed(choice: Choice, failed: int, demand: Demand) -> str:
    found = [one for one in choice.degraded if one.failed == failed]
    if not found:
        return "it depends" if choice.level == "10" else "lost"
    return ("" if found[0].fits(demand) else "misses: ") + _times(found[0], demand)


def row(choice: Choice, demand: Demand) -> list[str]:
    best, value = choice.best, choice.drive.worth
    assert best
    met = best.met_at(demand)
    assert met
    return [choice.drive.name + (MARK if value.doubt else ""), choice.level, str(best.members),
            format_size(best.capacity), f"{met.per_s:.0f}", f"{met.p99_us / 1e3:.3g}",
            str(met.depth) if met.depth else "as traced", _times(best, demand), _failed(choice, 1, demand),
            _failed(choice, 2, demand), sure(choice, demand), worth.cell(value.of(_kinds(demand))),
            worth.cell(value.of("tail"))]


def ordered(choices: list[Choice], demand: Demand) -> list[Choice]:
    """Those that fit: with fewest members, and of these what bears most."""
    found = [one for one in choices if one.verdict == FITS]
    return sorted(found, key=lambda one: (one.best.members if one.best else 0,
                                          -((one.best and one.best.limit(demand)) or 0)))


def table(choices: list[Choice], demand: Demand) -> tuple[list[str], list[list[str]]]:
    return HEAD, [row(one, demand) for one in ordered(choices, demand)]


def asked(demand: Demand) -> str:
    bound = f"p99 of at most {format_time(demand.p99)}"
    room = format_both(demand.capacity)
    survives = ", also with a member failed" if demand.survives else ""
    if demand.traces:
        names = ", ".join(str(trace.path) for trace in demand.traces)
        return f"asked: {names} at their own times, each by itself, {bound}, {room}{survives}"
    return (f"asked: {demand.iops:g} requests/s of {format_size(demand.block)}, {demand.reads} % of them "
            f"reads, at random over all of it, {bound}, {room}{survives}")


def _named(choice: Choice) -> str:
    return choice.drive.profile if choice.verdict == REFUSED else choice.drive.name


def _missed(choice: Choice, demand: Demand) -> str:
    """How near it came."""
    limits = [(limit, one) for one in choice.tried if (limit := one.limit(demand)) is not None]
    if not limits or not max(limits, key=lambda pair: pair[0])[0]:
        return "p99 is above the bound with nothing else under way"
    limit, tried = max(limits, key=lambda pair: pair[0])
    return f"{limit:.3g} times what is asked, with {tried.members}"


def counts(choices: list[Choice], most: int) -> list[str]:
    """What was tried, and what not, each with its reason."""
    verdicts = Counter(one.verdict for one in choices)
    made = sum(len(one.tried) + len(one.degraded) for one in choices)
    drives = len({id(one.drive) for one in choices})
    lines = [f"{len(choices)} drives in levels ({drives} drives): "
             + ", ".join(f"{count} {name}" for name, count in verdicts.most_common())]
    untried: Counter[str] = Counter()
    for one in choices:
        untried.update(one.untried)
    said = ", ".join(f"{count} {name}" for name, count in untried.most_common() if count)
    lines.append(f"{made} candidates simulated; not tried, by number of members: {said or 'none'}; more than "
                 f"{most} members: none")
    return lines


def as_text(choices: list[Choice], demand: Demand, most: int, every: bool) -> str:
    head, rows = table(choices, demand)
    lines = [asked(demand), ""]
    if rows:
        cells = [head, *rows]
        widths = [max(len(line[at]) for line in cells) for at in range(len(head))]
        lines += ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
                  for line in cells]
    else:
        lines.append("nothing that was tried fits")
    if every or not rows:
        for one in choices:
            if one.verdict != FITS:
                near = f": {_missed(one, demand)}" if one.verdict == candidates.MISSES else ""
                why = f": {one.why}" if one.why else ""
                lines.append(f"  {_named(one)}, {one.level}: {one.verdict}{near}{why}")
    lines += ["", *counts(choices, most)]
    for one in choices:
        if one.verdict in (DOUBTED, REFUSED) and not every and rows:
            lines.append(f"{_named(one)}, {one.level}: {one.verdict}: {one.why}")
    return "\n".join([*lines, *LEGEND])


CSV = ["profile", "level", "verdict", "members", "failed", "capacity_bytes", "fits", "times_asked", "depth",
       "per_s", "p99_us", "doubts", "grade", "factor", "tail_grade", "tail_factor", "class", "vouched_for"]


def as_csv(choices: list[Choice], demand: Demand) -> str:
    """A line for each simulation."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV)
    for choice in choices:
        found = _choice(choice, demand)
        behind = [found["grade"], found["factor"], found["tail_grade"], found["tail_factor"], found["class"],
                  int(not found["doubt"])]
        if not found["tried"]:
            writer.writerow([found["profile"], found["level"], found["verdict"], *[None] * 9, *behind])
        for tried in (*found["tried"], *found["degraded"]):
            for point in tried["points"]:
                writer.writerow([
                    found["profile"], found["level"], found["verdict"], tried["members"], tried["failed"],
                    tried["capacity"], int(tried["fits"]), tried["times"], point["depth"], point["per_s"],
                    point["p99_us"], "; ".join(point["doubts"]), *behind])
    return out.getvalue()


# --- the work ---

class _Progress:
    """How far it is, every EVERY seconds, however long a drive takes; and how long each took."""

    def __init__(self, pairs: list[Pair], most: int, demand: Demand, asking: Asking) -> None:
        self.asking, self.whole, self.begun = asking, len(pairs), time.monotonic()
        self.jobs = {pair: candidates.most_jobs(drive, level, most, demand)
                     for pair in pairs for drive, level in (pair,)}
        self.lock = threading.Lock()  # of what follows
        self.done, self.took = 0, dict[str, float]()

    def say_first(self) -> None:
        kept = durations()
        known = {pair: jobs * kept[key] for pair, jobs in self.jobs.items() if (key := _like(pair)) in kept}
        workers = min(jobs(), self.whole)
        unknown = self.whole - len(known)
        about = f"{len(known)} of them take at most about {_span(sum(known.values()) / workers)}"
        rest = f"of {unknown} it is not known how long they take: none like them was asked on this machine"
        say("; ".join([f"choose: {self.whole} drives in levels, at most {sum(self.jobs.values())} jobs of "
                       f"david-sim, {workers} at a time", *[about] * bool(known), *[rest] * bool(unknown)]))

    def step(self, pair: Pair, seconds: float, asked: int) -> None:
        with self.lock:
            self.done += 1
            if asked:
                self.took[_like(pair)] = seconds / asked

    def watch(self, over: threading.Event) -> None:
        while not over.wait(EVERY):
            say(self.said())

    def said(self) -> str:
        with self.lock:
            done = self.done
        left = (time.monotonic() - self.begun) / done * (self.whole - done) if done else None
        rest = f"; about {_span(left)} left" if left is not None else ""
        asked = self.asking.done.total()
        return f"choose: {done} of {self.whole} drives in levels are done, {asked} jobs of david-sim{rest}"


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _like(pair: Pair) -> str:
    drive, level = pair
    return hashlib.sha256("\0".join([drive.text, *drive.options, level]).encode()).hexdigest()[:20]


def durations() -> dict[str, float]:
    """Seconds that a job took on this machine, by drive and level."""
    with contextlib.suppress(OSError, ValueError, AttributeError, TypeError):
        return {key: float(value) for key, value in json.loads(KEPT.read_text()).items()}
    return {}


def _note(took: dict[str, float]) -> None:
    """Remember. A machine where nothing can be written forgets."""
    found = {key: value for key, value in durations().items() if key not in took} | took
    with contextlib.suppress(OSError, UserError):
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        write_whole(KEPT, json.dumps(dict(list(found.items())[-MOST_KEPT:])))


def _one(pair: Pair, most: int, demand: Demand, progress: _Progress) -> Choice:
    (drive, level), begun = pair, time.monotonic()
    done, thread = drive.asking.done, threading.get_ident()
    before = done[thread]
    try:
        return candidates.choose(drive, level, most, demand)
    except UserError as error:
        return Choice(drive, level, REFUSED, why=str(error))
    finally:
        if not drive.asking.stopped:
            progress.step(pair, time.monotonic() - begun, done[thread] - before)


def choose(pairs: list[Pair], most: int, demand: Demand, asking: Asking) -> list[Choice]:
    """Of each drive in each level. After Ctrl-C nothing goes on, and KeyboardInterrupt is raised."""
    build.ensure("david-sim")
    progress, over = _Progress(pairs, most, demand, asking), threading.Event()
    progress.say_first()
    threading.Thread(target=progress.watch, args=(over,), daemon=True).start()
    try:
        with ThreadPoolExecutor(jobs()) as pool:
            found = [pool.submit(_one, pair, most, demand, progress) for pair in pairs]
            try:
                return [one.result() for one in found]
            except BaseException:
                asking.stop()
                pool.shutdown(cancel_futures=True)
                raise
    except KeyboardInterrupt as error:
        kept = "what a trace came to is not kept" if demand.traces else \
            "the answers are kept, and the same command goes on"
        error.args = (f"{progress.done} of {len(pairs)} drives in levels are done", kept)
        raise
    finally:
        over.set()
        _note(progress.took)


def _demand(args: argparse.Namespace) -> Demand:
    if bool(args.trace) == (args.iops is not None):
        raise UserError("choose: one of --iops N and --trace FILE says how much is asked")
    if args.trace and (args.read_share is not None or args.block is not None):
        raise UserError("choose: --read-share and --block are about --iops; a trace has its own")
    if not args.trace and args.capacity is None:
        raise UserError("choose: --capacity says how much room is asked, such as 20TB")
    traces = tuple(served.load(path, args.format, None) for path in args.trace)
    for trace in traces:
        if not trace.timed:
            raise UserError(f"{trace.path}: it has no times: how fast it comes is not known; give --iops")
        if len(trace.requests) < candidates.COUNT // 4:
            say(f"{trace.path}: {len(trace.requests)} requests: their p99 rests on "
                f"{len(trace.requests) // 100} of them")
    extent = max((SECTOR * max(block.sector + block.sectors for block in trace.requests)
                  for trace in traces), default=0)
    share = 70 if args.read_share is None else args.read_share
    return Demand(args.iops, args.p99, max(args.capacity or 0, extent), share, args.block or 4096,
                  args.degraded, traces)


def command(args: argparse.Namespace) -> int:
    demand = _demand(args)
    lost = [status for _, status in map(served.missing, demand.traces)]
    asking = Asking()
    drives = [Drive(name, args.option, asking) for name in (args.profile or files.names())]
    for drive in drives:
        drive.path  # noqa: B018  an unknown one is told before anything is simulated
    levels = list(dict.fromkeys(args.level or LEVELS))
    choices = choose([(drive, level) for drive in drives for level in levels], args.most, demand, asking)
    status = status_of(choices, any(lost))
    if args.json:
        print(json.dumps(as_json(choices, demand, status), indent=2))
    else:
        print(as_text(choices, demand, args.most, args.all))
    if args.csv:
        write_whole(Path(args.csv), as_csv(choices, demand))
    if status == FAILED:
        raise UserError(f"choose: no drive could be asked: {choices[0].drive.profile}: {choices[0].why}")
    return status


def _share_arg(text: str) -> int:
    number = text.removesuffix("%")
    if not number.isdecimal() or int(number) > 100:
        raise argparse.ArgumentTypeError(f"'{text}' is no share; write percent from 0 to 100, such as 70%")
    return int(number)


def _iops_arg(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kKM]?)", text)
    value = float(match[1]) * {"": 1, "k": 1e3, "K": 1e3, "M": 1e6}[match[2]] if match else 0.0
    if not 0 < value <= 1e9:
        raise argparse.ArgumentTypeError(f"'{text}' is no rate; write requests a second, such as 5000 or 5k")
    return value


def _block_arg(text: str) -> int:
    size = size_arg(text)
    if size > 64 << 20:
        raise argparse.ArgumentTypeError(f"'{text}' is too large for a request; 64M is the most")
    return size


def _most_arg(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 64:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of members; write one from 1 to 64")
    return int(text)


def add_parsers(sub: Commands) -> None:
    parser = sub.add_parser(
        "choose", help="which drive will do, in which RAID level, and how many of them",
        description="Ask modelled drives, and arrays of them, for so many random requests a second, or for "
        "block traces, within a bound of the 99th percentile. Of each drive and level the least number of "
        "members that do is printed: how far they are from the limit, what they do with members failed, and "
        "what the profile is worth. The exit status is 3 if nothing fits.",
        epilog=f"examples:\n  {DAVID} choose --iops 5k --p99 20ms --capacity 10TB\n"
        f"  {DAVID} choose --iops 800 --p99 50ms --capacity 20TB --read-share 90 --level 6 --level 10 "
        "--profile toshiba-mg08-16tb\n"
        f"  {DAVID} choose --trace sda.blktrace.0 --p99 10ms --capacity 4TB --degraded",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iops", metavar="N", type=_iops_arg, help="requests a second; 5k is 5000")
    parser.add_argument("--p99", metavar="TIME", type=time_arg, required=True,
                        help="99 of 100 requests may take so long, such as 20ms")
    parser.add_argument("--capacity", metavar="SIZE", type=size_arg, help="that must have room")
    parser.add_argument("--read-share", metavar="PERCENT", type=_share_arg, help="of the requests (70%%)")
    parser.add_argument("--block", metavar="SIZE", type=_block_arg, help="of a request (4K)")
    parser.add_argument("--trace", metavar="FILE", action="append", default=[],
                        help="a block trace, in place of --iops; repeatable: each must be borne by itself")
    parser.add_argument("--format", metavar="NAME", choices=list(blocks.READERS),
                        help="of the traces; it is recognised, if not given")
    parser.add_argument("--profile", metavar="P", action="append", default=[],
                        help="only this drive; repeatable; all of profiles/, if not given")
    parser.add_argument("--level", metavar="LEVEL", choices=LEVELS, action="append", default=[],
                        help=f"only this level of {', '.join(LEVELS)}; repeatable; {NONE} is one drive")
    parser.add_argument("--most", metavar="N", type=_most_arg, default=MOST,
                        help="members of an array (default %(default)s)")
    parser.add_argument("--degraded", action="store_true", help="it must hold with a member failed, too")
    parser.add_argument("--option", metavar="NAME=VALUE", action=OnceEach, default=[],
                        help="replace a value of the profiles; repeatable")
    parser.add_argument("--all", action="store_true", help="also print those that do not fit, and why")
    parser.add_argument("--csv", metavar="FILE", help="write a line for each simulation")
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")
    parser.set_defaults(func=command)
