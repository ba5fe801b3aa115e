# SPDX-License-Identifier: GPL-2.0
"""An SSD's values from fio's results: controller, flash, link, and what writes and flushes take.

The base's shape stays: all times of a die are longer by the same factor.
"""

from __future__ import annotations

from .fiojobs import FioJob
from .fiomodel import Model, value
from .knobs import HALF, LOW, NEAR, Change, Knob, by_factor, first_that_does, nanoseconds, one_of, small
from .result import Draft

LARGE = 128  # sectors: from here on the link and the flash's channels count
FEW = 8  # commands under way; with more the controller has no pause
RATES = {"GB/s": 10**9, "MB/s": 10**6, "kB/s": 10**3, "B/s": 1}
LONGEST = 4_000_000_000  # ns
MOST_DIES = 1024


def times(*names: str, at_least: int = 0) -> Change:
    """So many times as long; of a time below AT_LEAST ns so many times that."""

    def change(draft: Draft, factor: float, how: str) -> Draft:
        new = draft.copy()
        for name in names:
            before = nanoseconds(value(draft, name) or "0")
            if factor != 1 and (before or at_least):
                found = min(round(max(before, at_least) * factor), LONGEST)
                new.set(name, f"{found}ns", "fitted", how)
            elif factor == 1 and how:
                new.set(name, value(draft, name), "fitted", how)
        return new

    return change


DIE = times("read_time", "scattered_read_time", "read_step", "retry_time")
# One read at a time does not tell the waking from the rest.
DIE_AND_WAKING = times("read_time", "scattered_read_time", "read_step", "retry_time", "wake_time")
LATENCY = times("read_latency", at_least=100)
CONTROLLER = times("command_time", at_least=100)
SPARE_TIME = 0.9  # of a controller: where dies hold the rate back


def write_command(draft: Draft, factor: float, how: str) -> Draft:
    """So many times as long as it was; where the profile has none, as a read's command."""
    new = draft.copy()
    before = nanoseconds(value(draft, "write_command_time")) or nanoseconds(value(draft, "command_time"))
    new.set("write_command_time", f"{max(round(max(before, 100) * factor), 1)}ns", "fitted", how)
    return new


def bytes_a_second(text: str) -> int:
    text = text.replace(" ", "")
    unit = next(unit for unit in RATES if text.endswith(unit))
    return round(float(text.removesuffix(unit)) * RATES[unit])


def rates(*names: str) -> Change:
    def change(draft: Draft, factor: float, how: str) -> Draft:
        new = draft.copy()
        for name in names:
            rate = bytes_a_second(value(draft, name)) * factor
            new.set(name, f"{max(round(rate), 10**6)}B/s", "fitted", how)
        return new

    return change


def all_rates(draft: Draft, factor: float, how: str) -> Draft:
    """Of the link, the channels, and the controller, which needs a time for each page of a read."""
    return times("page_time")(rates("link_rate", "channel_rate")(draft, factor, how), 1 / factor, how)


def dies(draft: Draft, factor: float, how: str) -> Draft:
    new = draft.copy()
    count = min(max(round(int(value(draft, "dies")) * factor), 1), MOST_DIES)
    new.set("dies", count, "fitted", how)
    if int(value(draft, "channels")) > count:
        new.set("channels", count, "fitted", "no more than dies")
    return new


def program(job: FioJob) -> Change:
    """A burst goes to the SLC cache, and tells nothing of native cells."""
    return times("slc_program_time") if job.burst else times("program_time", "slc_program_time")


def whole_drive(draft: Draft, factor: float, how: str) -> Draft:
    """Another one's link, channels and dies: where all of them hold the rate back at once."""
    return dies(all_rates(draft, factor, how), factor, how)


def with_time_to_spare(draft: Draft, name: str, job: FioJob) -> Draft:
    """With a controller that a job does not keep busy. One that it does would need dies without end."""
    most = round(SPARE_TIME * 1e9 / job.rate)
    if nanoseconds(value(draft, name) or "0ns") <= most:
        return draft
    new = draft.copy()
    new.set(name, f"{most}ns", "fitted", f"{job.said}, with {1 - SPARE_TIME:.0%} to spare")
    return new


def fit_deep_reads(model: Model, draft: Draft, jobs: list[FioJob]) -> Draft:
    """By the controller, or else by dies; where these were found before, by them again."""
    if not any(line.name == "dies" and line.source == "fitted" for line in draft.lines):
        found, off = by_factor(model, draft, jobs[0], CONTROLLER)
        # One that is idle half of the time is not what holds the rate back.
        if off < NEAR and nanoseconds(value(found, "command_time")) * jobs[0].rate > HALF * 1e9:
            return found
    return by_factor(model, with_time_to_spare(draft, "command_time", jobs[0]), jobs[0], dies)[0]


def fit_writes(model: Model, draft: Draft, jobs: list[FioJob]) -> Draft:
    """Of a link that reads need, writes do not say that it is slower."""
    job = jobs[0]
    draft, off = by_factor(model, draft, job, program(job))
    if off < NEAR:
        return draft
    return by_factor(model, draft, job, rates("link_rate"), 1.0 if jobs[1:] else LOW)[0]


def fit_small_writes(model: Model, draft: Draft, jobs: list[FioJob]) -> Draft:
    return first_that_does(model, draft, jobs[0], (write_command, program(jobs[0])))


def fit_flush(model: Model, draft: Draft, jobs: list[FioJob]) -> Draft:
    """A flush that takes less than the base's programs is one of a drive that need not write for it."""
    job = jobs[0]
    new = draft.copy()
    none = "flush_overhead=0ns", "flush_time=0ns"
    if model.rate(draft, job, *none) < job.rate * (1 - NEAR):
        new.set("power_loss_protection", "yes", "fitted", job.said)
    for change in (times("flush_overhead", at_least=1000), times("flush_time", at_least=1000)):
        new, off = by_factor(model, new, job, change)
        if off < NEAR:
            break
    return new


def fit_reads(model: Model, draft: Draft, jobs: list[FioJob]) -> Draft:
    """A job of a middle depth finds the drive awake: what the one of depth 1 takes more is the waking."""
    single, middle = jobs[0], jobs[1:]
    draft, off = by_factor(model, draft, (middle or jobs)[0], DIE if middle else DIE_AND_WAKING)
    if middle:
        slow = model.rate(draft, single) > single.rate
        draft, off = by_factor(model, draft, single, times("wake_time", at_least=1000) if slow else LATENCY)
    if off >= NEAR:
        draft, off = by_factor(model, draft, single, LATENCY)
    return draft


def _is_read(job: FioJob) -> bool:
    return not job.writes


def _is_write(job: FioJob) -> bool:
    return job.writes == 1 and not job.fsync


def _bytes(job: FioJob) -> float:
    return -job.rate * job.sectors


def _deepest(job: FioJob) -> tuple[float, ...]:
    return -job.depth, job.sectors


def _large_reads(jobs: list[FioJob]) -> list[FioJob]:
    return one_of(jobs, lambda job: _is_read(job) and job.sectors >= LARGE, _bytes)


def _large_writes(jobs: list[FioJob]) -> list[FioJob]:
    """And the reads, if there are any."""
    found = one_of(jobs, lambda job: _is_write(job) and job.sectors >= LARGE, _bytes)
    return found + _large_reads(jobs) if found else []


def _waking(jobs: list[FioJob]) -> list[FioJob]:
    """One of depth 1; and one of a middle depth."""
    reads = [job for job in jobs if _is_read(job) and job.random and job.sectors < LARGE]
    single = one_of(reads, lambda job: job.depth == 1, small)
    return single + one_of(reads, lambda job: 1 < job.depth <= FEW, small) if single else []


KNOBS = (
    Knob("link_rate, channel_rate, page_time", "reads of 64 KiB or more", _large_reads,
         changes=(rates("link_rate"), rates("channel_rate"), all_rates, whole_drive)),
    Knob("command_time, dies", f"random reads of less than 64 KiB at depth {FEW + 1} or more",
         lambda jobs: one_of(jobs, lambda job: _is_read(job) and job.random and job.sectors < LARGE
                             and job.depth > FEW, _deepest),
         whole=fit_deep_reads),
    Knob("read_time, read_latency", "random reads of less than 64 KiB at depth 1", _waking, whole=fit_reads),
    Knob("wake_time", f"random reads of less than 64 KiB at depth 2 to {FEW}, beside depth 1",
         lambda jobs: _waking(jobs)[1:], whole=lambda model, draft, jobs: draft),
    Knob("program_time", "writes of 64 KiB or more", _large_writes, whole=fit_writes),
    Knob("write_command_time, program_time", f"random writes of less than 64 KiB at depth {FEW + 1} or more",
         lambda jobs: one_of(jobs, lambda job: _is_write(job) and job.random and job.sectors < LARGE
                             and job.depth > FEW, _deepest),
         whole=fit_small_writes),
    Knob("write_latency", "writes of less than 64 KiB at depth 1",
         lambda jobs: one_of(jobs, lambda job: _is_write(job) and job.sectors < LARGE and job.depth == 1,
                             lambda job: (not job.random, job.sectors)),
         changes=(times("write_latency", at_least=100),)),
    Knob("flush_overhead, flush_time, power_loss_protection", "writes with fsync",
         lambda jobs: one_of(jobs, lambda job: job.writes == 1 and job.fsync > 0,
                             lambda job: (job.fsync, job.depth)),
         whole=fit_flush),
)
