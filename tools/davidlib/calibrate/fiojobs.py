# SPDX-License-Identifier: GPL-2.0
"""fio's results (--output-format=json): what each job asked of a disk, and what came of it.

An option that is neither read here nor known to change nothing makes the job another one: it is refused.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..util import UserError, say

TOGETHER = 0.95  # of the longest time that a job of numjobs ran, the shortest is at least
MOST_WAY = 1.1  # times the depth: rate times latency (Little), for rounding and the ends of a run
FEWEST = 100  # requests of a job: a disk's take half of their mean more or less, so these tell 5 %
PART_DEPTH, PARTS = 128, 4  # of a job of david-sim bench
RANDOM = {"randread": 0.0, "randwrite": 1.0, "randrw": 0.5}
SEQUENTIAL = {"read": 0.0, "write": 1.0}
SYNONYMS = {
    "readwrite": "rw", "blocksize": "bs", "fdatasync": "fsync", "iodepth_batch": "iodepth_batch_submit",
    "blocksize_range": "bsrange", "file_size": "filesize", "blocksize_split": "bssplit",
}  # fmt: skip
READ_HERE = {"rw", "bs", "iodepth", "numjobs", "size", "fsync", "rwmixread", "rwmixwrite", "ioengine"}
# What does not change which requests there are, or how many at a time.
HARMLESS = {
    *("name", "filename", "description", "runtime", "time_based", "ramp_time", "startdelay", "io_size"),
    *("number_ios", "group_reporting", "new_group", "stonewall", "wait_for_previous", "thread", "loops"),
    *("norandommap", "softrandommap", "randrepeat", "allrandrepeat", "randseed", "random_generator"),
    *("refill_buffers", "zero_buffers", "scramble_buffers", "buffer_pattern", "buffer_compress_percentage"),
    *("buffer_compress_chunk", "dedupe_percentage", "invalidate", "iomem", "mem", "iomem_align", "exitall"),
    *("cpus_allowed", "cpus_allowed_policy", "numa_cpu_nodes", "numa_mem_policy", "prio", "nice"),
    "prioclass",
    *("hipri", "fixedbufs", "registerfiles", "nonvectored", "sqthread_poll", "userspace_reap", "gtod_reduce"),
    *("clocksource", "gtod_cpu", "unique_filename", "job_start_clock_id", "bwavgtime", "iopsavgtime"),
    *("steadystate", "steadystate_duration", "steadystate_ramp_time", "steadystate_check_interval"),
    *("ss", "ss_dur", "ss_ramp", "ss_interval", "write_iolog", "log_entries", "log_max_value", "log_prio"),
    *("log_issue_time", "log_unix_epoch", "log_alternate_epoch", "log_alternate_epoch_clock_id"),
    *("log_compression_cpus", "log_store_compressed", "log_window_value"),
    *("clat_percentiles", "lat_percentiles", "slat_percentiles", "percentile_list", "disable_lat"),
    *("disable_clat", "disable_slat", "disable_bw_measurement", "unified_rw_reporting"),
    *("unit_base", "significant_figures", "write_bw_log", "write_lat_log", "write_iops_log"),
    "write_hist_log",
    *("log_avg_msec", "log_hist_msec", "log_offset", "log_compression", "per_job_logs", "bandwidth-log"),
    *("output", "output-format", "minimal", "eta", "eta-newline", "status-interval", "create_serialize"),
    *("overwrite", "end_fsync", "fsync_on_close", "fallocate", "allow_mounted_write", "exit_on_error"),
}
# These change nothing as long as they have one of these values.
PLAIN = {
    "direct": "1",
    "kb_base": "1024",
    "buffered": "0",
    "offset": "0 0% 0k",
    "random_distribution": "random",
    "percentage_random": "100",
    "nrfiles": "1",
    "sync": "0 none",
    "thinktime": "0",
    "verify": "0 none",
    "do_verify": "0",
    "zonemode": "none",
}
ONE_AT_A_TIME = {"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "sg", "splice"}
ASYNC = {"libaio", "io_uring", "io_uring_cmd", "posixaio", "windowsaio", "solarisaio"}


@dataclass
class FioJob:
    name: str
    random: bool
    writes: float  # share of the requests
    sectors: int
    depth: int
    span: int  # bytes; 0: the whole disk
    fsync: int  # after so many writes; 0: never
    rate: float  # requests a second, flushes not included
    pace: float = 0.0  # us from an answer to the next request: the program's time and its kernel's
    waits: dict[float, float] = field(default_factory=dict)  # us, by percent; of reads alone
    burst: bool = False  # writes that an SLC cache takes, before it is full

    @property
    def kind(self) -> str:
        order = "random" if self.random else "sequential"
        what = "reads" if not self.writes else "writes" if self.writes == 1 else "reads and writes"
        size = f"{self.sectors // 2} KiB" if self.sectors > 1 else "512 B"
        flushed = f", a flush after {self.fsync}" if self.fsync else ""
        return f"{order} {what} of {size}, depth {self.depth}{flushed}"

    @property
    def said(self) -> str:
        """The job and its figure, for a profile's comment."""
        speed = f"{self.rate:.6g} a second"
        if not self.random:
            speed = f"{self.rate * self.sectors * 512 / 1e6:.4g} MB/s"
        return f"{self.kind}: {speed}"

    def words(self, disk_sectors: int) -> str:
        """As a job of david-sim bench, without how many requests are counted."""
        span = min(self.span // 512 or disk_sectors, disk_sectors)
        what = "read" if not self.writes else "write" if self.writes == 1 else f"writes={self.writes:.0%}"
        words = [what.rstrip("%"), "random" if self.random else "sequential", f"size={self.sectors * 512}"]
        words.append(f"span={span * 512}")
        words += [f"flush={self.fsync}"] if self.fsync else []
        words += [f"pace={self.pace:.3f}us"] if self.pace > 0 else []
        parts = -(-self.depth // PART_DEPTH)
        depths = (self.depth // parts + (n < self.depth % parts) for n in range(parts))
        return " + ".join(" ".join([*words, f"depth={depth}"]) for depth in depths)


def _bytes(name: str, text: str) -> int:
    """As fio has it: 4k, 4kb and 4ki are 4096, and so is 4096B, but 4KiB is 4000 (its kb_base)."""
    found = re.fullmatch(r"(0x[0-9a-f]+|\d+)(?:([kmgtp])?(b|i|ib)?)", text.strip().lower())
    if not found or (found[3] or "").startswith("i") and not found[2]:
        raise ValueError(f"{name}={text} is no size as fio has them")
    unit = 1000 if found[3] == "ib" else 1024
    return int(found[1], 0 if found[1].startswith("0x") else 10) * unit ** (" kmgtp".index(found[2] or " "))


def _size(name: str, text: str) -> int:
    """With commas: of reads, writes and trims."""
    sizes = {_bytes(name, word) for word in text.split(",") if word.strip()}
    if len(sizes) != 1:
        raise ValueError(f"{name}={text} is several sizes")
    size = sizes.pop()
    if name == "bs" and (size % 512 or not size):
        raise ValueError(f"bs={text} is {size} bytes to fio, and a disk has sectors of 512")
    return size


def _options(given: dict[str, Any]) -> dict[str, str]:
    """By fio's first name of each; ValueError: one of them makes the job another one."""
    found = {SYNONYMS.get(name, name): str(value).strip() for name, value in given.items()}
    for name, value in found.items():
        if name in READ_HERE or name in HARMLESS or value in PLAIN.get(name, "").split():
            continue
        raise ValueError(f"{name}={value}: what a job with that option asks of the disk is not known here")
    if ":" in found.get("filename", ""):
        raise ValueError(f"filename={found['filename']} is several files")
    return found


def _span(size: str) -> int:
    """Bytes; 0: the whole disk."""
    if size.endswith("%"):
        if size != "100%":
            raise ValueError(f"size={size}: of how much is not told")
        return 0
    return _size("size", size) if size.strip("0") else 0


def _depth(options: dict[str, str], job: dict[str, Any]) -> int:
    """fio's synchronous engines, one of which is its default, have one request at a time."""
    depth, engine = int(options.get("iodepth", 1)), options.get("ioengine")
    if engine is not None and engine not in ONE_AT_A_TIME | ASYNC:
        raise ValueError(f"ioengine={engine}: how many requests it has at a time is not known here")
    alone = float((job.get("iodepth_level") or {}).get("1", 0)) > 50
    if engine in ONE_AT_A_TIME or (engine is None and alone):
        return 1
    if alone and depth > 1:
        raise ValueError(f"iodepth={depth}, and most of the time it had one request")
    return depth


def _pace(job: dict[str, Any], depth: int, rate: float) -> float:
    """What of the time between two requests is not in fio's completion latencies, us."""
    waited = 0.0
    for way in ("read", "write"):
        of_way = job.get(way) or {}
        nanoseconds = (of_way.get("clat_ns") or {}).get("mean")
        mean = (of_way.get("clat") or {}).get("mean", 0) if nanoseconds is None else nanoseconds / 1000
        if of_way.get("iops") and not mean:
            return 0.0  # not told
        waited += float(of_way.get("iops") or 0) * float(mean)
    if waited > MOST_WAY * depth * 1e6:
        raise ValueError(f"by its rate and its latencies it had {waited / 1e6:.3g} requests under way, and "
                         f"by its options {depth}: its figures are not of that job")
    return max(0.0, (depth * 1e6 - waited) / rate)


def _waits(job: dict[str, Any]) -> dict[float, float]:
    """fio's percentiles of completion latencies."""
    read = job.get("read") or {}
    for name, unit in (("clat_ns", 1000), ("clat", 1)):
        if told := (read.get(name) or {}).get("percentile"):
            return {float(percent): float(wait) / unit for percent, wait in told.items() if float(wait) > 0}
    return {}


def _rates(job: dict[str, Any]) -> dict[str, float]:
    if "mixed" in job and "read" not in job:
        raise ValueError("unified_rw_reporting: it tells of reads and writes only together")
    return {way: float(job[way]["iops"]) for way in ("read", "write")}


def _job(job: dict[str, Any], common: dict[str, Any]) -> FioJob:
    if "job options" not in job and not common:
        raise ValueError("its options are not in it, as an older fio leaves them out")
    options = _options(common | job.get("job options", {}))
    order = options.get("rw", "read")
    if order not in RANDOM and order not in SEQUENTIAL:
        raise ValueError(f"rw={order} is none of {', '.join([*RANDOM, *SEQUENTIAL])}")
    if job.get("error"):
        raise ValueError(f"it ended with error {job['error']}")
    if order == "randrw" and "rwmixread" in options:
        writes = 1 - int(options["rwmixread"]) / 100
    elif order == "randrw" and "rwmixwrite" in options:
        writes = int(options["rwmixwrite"]) / 100
    else:
        writes = (RANDOM | SEQUENTIAL)[order]
    span = _span(options.get("size", "0"))
    sectors = _size("bs", options.get("bs", "4k")) // 512
    rates = _rates(job)
    rate = sum(rates.values())
    if not 0 < rate < 1e9:
        raise ValueError("it did no requests")
    done = sum(int(job[way].get("total_ios") or 0) for way in ("read", "write"))
    if 0 < done < FEWEST:
        raise ValueError(f"it did {done} requests, and a rate needs {FEWEST} at least")
    for way, share in (("read", 1 - writes), ("write", writes)):
        if rates[way] and not share:
            raise ValueError(f"rw={order}, and it did {way}s: group_reporting tells of several jobs as one")
    depth, alike = _depth(options, job), int(options.get("numjobs", 1))
    if order in SEQUENTIAL and alike > 1:
        raise ValueError("several sequential jobs at a time: their places are not told")
    if depth * alike > PART_DEPTH * (PARTS if order in RANDOM else 1):
        raise ValueError(f"depth {depth * alike}: that many requests at a time are not tried")
    fsync = int(options.get("fsync", 0)) if writes else 0
    pace = 0.0 if fsync else _pace(job, depth * alike, rate)
    return FioJob(str(job.get("jobname", order)), order in RANDOM, writes, sectors, depth * alike, span,
                  fsync, rate, pace, {} if writes else _waits(job))


def _same(job: Any, common: dict[str, Any]) -> str:
    """Alike for the jobs that fio made of one by numjobs, and tells of one by one; otherwise nothing.

    A name is not enough: sections of a job file may share one, and differ in depth or come one after another.
    """
    if not isinstance(job, dict) or not isinstance(job.get("job options", {}), dict):
        return ""
    options = common | job.get("job options", {})
    if str(options.get("numjobs", "1")) == "1":
        return ""
    return json.dumps([job.get("jobname", ""), job.get("groupid"), options], sort_keys=True)


def _need_all(job: dict[str, Any], common: dict[str, Any], times: list[float]) -> None:
    """fio tells of each of numjobs, or of all in one by group_reporting; they ran all the time together."""
    asked, name = int((common | job.get("job options", {}))["numjobs"]), job.get("jobname", "?")
    if len(times) not in (1, asked):
        raise ValueError(f"job {name}: numjobs={asked}, and there are {len(times)} of that name in its "
                         "group; give each section of the job file a name of its own")
    if min(times) < TOGETHER * max(times):
        raise ValueError(f"job {name}: its {len(times)} jobs ran for {min(times):g} to {max(times):g} "
                         "ms, so not all the time together; time_based makes them")


def _whole(jobs: list[Any], common: dict[str, Any]) -> list[Any]:
    """Without group_reporting fio tells of each of numjobs jobs alike by itself: they are one here."""
    found: list[Any] = []
    parts: dict[str, dict[str, Any]] = {}
    ran: dict[str, list[float]] = {}
    for job in jobs:
        same = _same(job, common)
        if not same or same not in parts:
            found.append(json.loads(json.dumps(job)))
            if same:
                parts[same], ran[same] = found[-1], [_ran(job)]
            continue
        parts[same]["error"] = parts[same].get("error") or job.get("error")
        ran[same].append(_ran(job))
        for way in ("read", "write"):
            before, more = parts[same][way], job[way]
            both = before["iops"] + more["iops"]
            for latency in {"clat_ns", "clat"} & before.keys() & more.keys():
                mean = before["iops"] * before[latency]["mean"] + more["iops"] * more[latency]["mean"]
                before[latency]["mean"] = mean / both if both else 0
                before[latency].pop("percentile", None)  # those of several do not add up
            before["iops"] = both
    for same, times in ran.items():
        _need_all(parts[same], common, times)
    return found


def _ran(job: dict[str, Any]) -> float:
    """For how many ms; 0, where it is not told."""
    return max(float((job.get(way) or {}).get("runtime") or 0) for way in ("read", "write"))


def _need_alone(path: str, job: dict[str, Any], groups: dict[Any, str]) -> None:
    """fio runs jobs at the same time, but for one that waits for those before: that begins a group."""
    group, options = job.get("groupid"), job.get("job options", {})
    before = next(reversed(groups.values()), "")
    at_once = groups.get(group, "") if "wait_for_previous" not in options else ""
    if "new_group" in options and "stonewall" not in options:
        at_once = at_once or before
    if group is not None:
        groups[group] = str(job.get("jobname", "?"))
    if at_once:
        raise UserError(f"--from {path}: jobs {at_once} and {job.get('jobname', '?')} ran at the same time, "
                        "so each had a part of the disk; run each by itself, or with stonewall")


def load(path: str) -> list[FioJob]:
    try:
        text = Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--from {path}: {getattr(error, 'strerror', '') or 'no text'}") from None
    try:
        # fio writes its warnings before the object.
        start = text.index("{")
        found, end = json.JSONDecoder().raw_decode(text[start:])
        jobs = found["jobs"]
    except (ValueError, KeyError, TypeError):
        raise UserError(f"--from {path}: no results of fio; call it with --output-format=json") from None
    if "{" in text[start + end:]:
        raise UserError(f"--from {path}: another result stands behind the first one, as by "
                        "--status-interval, or of a run that was appended; keep the one that is meant")
    result, buffered = [], []
    common = found.get("global options", {})
    try:
        jobs = _whole(jobs, common)
    except ValueError as error:
        raise UserError(f"--from {path}: {error}") from None
    except (KeyError, TypeError, AttributeError):
        raise UserError(f"--from {path}: the jobs of a numjobs are not alike") from None
    groups: dict[Any, str] = {}
    for job in jobs:
        try:
            _need_alone(path, job, groups)
            result.append(_job(job, common))
            if not {"direct", "buffered"} & (common | job.get("job options", {})).keys():
                buffered.append(result[-1].name)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            name = job.get("jobname", "?") if isinstance(job, dict) else "?"
            raise UserError(f"--from {path}: job {name}: {error}; leave it out of the file") from None
    if not result:
        raise UserError(f"--from {path}: there are no jobs in it")
    if buffered:
        say(f"--from {path}: {', '.join(buffered)}: no direct=1, so fio's default is the page cache; taken "
            "as if they had asked the disk")
    return result
