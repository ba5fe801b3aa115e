# SPDX-License-Identifier: GPL-2.0
"""A job of fio as a workload: what bench sets for it, what its operations are, and what they took.

An operation is a read, a write or a trim. fio logs the time of each. A sync (fsync, fdatasync,
sync_file_range) is no operation: its time is of the write before it. fio says how many syncs there were
and what they took in all, but not which sync was of which write. So of such writes the mean is known, and
nothing else. UNKNOWN tells what is known of a job before it runs.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import called, fiooptions
from .fileops import PAGE
from .record import Record
from .several import WorkFailed

JOB = "/tmp/david-bench.fio"
LOGS = "/tmp/david-bench-fio-logs"
DIRECTIONS = {"0": "read", "1": "write", "2": "trim"}  # as in fio's logs

_PLACE = "bench says where the files are"
# Others ask the disk for nothing (cpuio, null), or for what is no read, write or trim (filecreate).
ENGINES = ("sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "posixaio", "io_uring", "mmap", "splice")
# Of these a request has ended before the next one begins.
ONE_AT_A_TIME = ("sync", "psync", "pvsync", "pvsync2", "mmap", "splice")
SYNCS = ("fsync", "fdatasync", "sync_file_range")
SYNCS_AT_END = ("end_fsync", "fsync_on_close")
OFF = ("", "0", "none")
MS = 1_000_000  # fio counts whole milliseconds
REQUEST = 128 << 10  # no request of a stream is cut smaller


def sections(job: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Name and options of each section; an option without a value is on. [global] goes to those below it.
    As fio does, a line ends where a comment begins."""
    shared: dict[str, str] = {}
    name, options = "", dict[str, str]()
    for line in (re.split("[#;]", whole, maxsplit=1)[0].strip() for whole in job.splitlines()):
        if not line:
            continue
        if header := re.match(r"\[([^]]+)\]", line):
            if name and name != "global":
                yield name, options
            name = header[1]
            options = shared if name == "global" else dict(shared)
            continue
        key, _, value = line.partition("=")
        option, *words = key.split() or [""]
        option = fiooptions.ALIASES.get(option, option)
        options[option] = value.strip() if "=" in line else " ".join(words) or "1"
        if not name:
            yield "", options
    if name and name != "global":
        yield name, options


def _direct(options: dict[str, str]) -> bool:
    return options.get("direct", "0") not in OFF or options.get("buffered", "1") in OFF


def _without_depth(options: dict[str, str], engine: str) -> str:
    """Why fewer requests would be under way than iodepth says: fio says so in a note, and goes on."""
    depth = options.get("iodepth", "1")
    if depth == "1":
        return ""
    if engine in ONE_AT_A_TIME:
        return (f"iodepth={depth}: with ioengine={engine} one request is under way at a time; write "
                "ioengine=libaio and direct=1, or leave iodepth out")
    if engine == "libaio" and not _direct(options):
        return (f"iodepth={depth}: with ioengine=libaio and without direct=1 one request is under way at a "
                "time; write that, or ioengine=io_uring, or leave iodepth out")
    return ""


def _mistake(job: str, raw: bool) -> str:
    found = list(sections(job))
    for name, options in found:
        if not name:
            return f"{next(iter(options))}: stands in no section; write a line such as [job] above it"
        for key in options:
            if why := fiooptions.refusal(key):
                return why
        engine = options.get("ioengine", "psync")
        if engine not in ENGINES:
            return f"ioengine={engine}: its operations are not the disk's; write one of {', '.join(ENGINES)}"
        if why := _without_depth(options, engine):
            return why
        jobs = options.get("numjobs", "1")
        if not jobs.isdecimal():
            return f"numjobs={jobs}: write a plain number"
        kind = options.get("rw", "read")
        if "trim" in kind and not raw:
            return (f"rw={kind}: fio trims block devices, and no files; the raw disk is one: "
                    '[[filesystem]] type = "none"')
        file = options.get("filename", "")
        if file and (raw or file.startswith("/")):
            return f"filename={file}: leave it out; {_PLACE}" + (", the raw disk" if raw else "")
    if not found:
        return "there is no section but [global]; write a line such as [job] and its options"
    return _same_blocks(found, raw)


def _file(name: str, options: dict[str, str]) -> str:
    """Of a section, which others may name, too; nothing: each of its jobs has a file of its own."""
    return options.get("filename") or options.get("filename_format", "").replace("$jobname", name)


def _same_blocks(sections: list[tuple[str, dict[str, str]]], raw: bool) -> str:
    """Sequential jobs that run at once and go over the same blocks: the drive's cache, or the machine's
    memory, would serve all but the first, and the figure would be the cache's."""
    begun: dict[tuple[str, str], str] = {}
    for name, options in sections:
        if options.get("stonewall", "0") not in OFF:
            begun = {}
        file = "the raw disk" if raw else _file(name, options)
        if not file or options.get("rw", "read").startswith("rand"):
            continue
        jobs, offset = options.get("numjobs", "1"), options.get("offset", "0")
        if jobs != "1" and "$jobnum" not in file and options.get("offset_increment", "") in OFF:
            part = f"{100 // int(jobs)}%" if jobs.isdigit() and int(jobs) else "a part"
            return (f"numjobs={jobs}: all of them would go over the same blocks of {file}, and caches would "
                    f"serve all but the first; offset_increment={part} and size={part} give each its own")
        if other := begun.setdefault((file, offset), name):
            if other != name:
                return (f"[{name}] goes over the same blocks of {file} as [{other}] does, and caches would "
                        "serve one of them; write another offset, or stonewall for one after the other")
    return ""


def mistake(params: dict[str, Any], raw: bool) -> tuple[str, str] | None:
    """The parameter, and why bench cannot take this job. `raw`: the job may be given the raw disk."""
    text = _mistake(params["job"], raw)
    return ("job", text) if text else None


def _writes(options: dict[str, str]) -> bool:
    kind = options.get("rw", "read").partition(":")[0]
    return "write" in kind or kind in ("rw", "randrw")


def _on(options: dict[str, str], names: tuple[str, ...]) -> str:
    """The first of these options that is set, as it stands in the job."""
    return next((f"{name}={options[name]}" for name in names if options.get(name, "") not in OFF), "")


def _is_random(options: dict[str, str]) -> bool:
    return options.get("rw", "read").startswith("rand")


def is_random(params: dict[str, Any]) -> bool:
    """Are some of its requests? reads_of() counts those of the others."""
    return any(_is_random(options) for _, options in sections(params["job"]))


def unknown(params: dict[str, Any]) -> dict[str, str]:
    """Metrics that cannot be told of a job, and why not. Empty: all are known."""
    found: dict[str, str] = {}
    for _, options in sections(params["job"]):
        kind = options.get("rw", "read")
        if "trim" in kind:
            found["megabytes"] = f"rw={kind}: what is trimmed is no byte read or written; operations count it"
        if not _writes(options):
            continue
        if sync := _on(options, SYNCS):
            found.setdefault("p99", f"{sync}: fio does not tell which sync was of which write; metric = "
                             "'mean' is of both, and kind = 'mixed' with reads = 0 and sync = 1 times each")
            depth = options.get("iodepth", "1")
            if depth != "1":
                found["mean"] = found["p99"] = (f"{sync} with iodepth={depth}: a sync is not of one write "
                                                "where several are under way; iodepth=1 has a time")
        if sync := _on(options, SYNCS_AT_END):
            found["mean"] = found["p99"] = f"{sync}: fio does not time that sync; it times fsync=1"
    return found


def fio_seed(seed: int) -> int:
    """Of a run's seed. fio multiplies it with a job's number, so small ones would be shared by runs."""
    return int.from_bytes(hashlib.sha256(f"fio {seed}".encode()).digest()[:4])


def text(top: str, job: str, seed: int, *more: str) -> str:
    """What fio is given: the job, and what bench decides."""
    place = f"filename={top}" if top.startswith("/dev/") else f"directory={top}"
    # randrepeat is on by default, and then fio does not look at randseed for its offsets.
    chosen = ("randrepeat=0", f"randseed={fio_seed(seed)}")
    ours = ("[global]", place, "clocksource=clock_gettime", *chosen, *more)
    return "\n".join((*ours, job, ""))


def _job_file(top: str, params: dict[str, Any], seed: int, *more: str) -> None:
    Path(JOB).write_text(text(top, params["job"], seed, *more))


def why(stderr: str, stdout: str) -> str:
    """What fio says of its failure, in a line. Much of it stands on its standard output, before the JSON."""
    lines = f"{stderr}\n{stdout}".splitlines()
    said = [line.removeprefix("fio: ") for line in lines if line.startswith("fio:")]
    said = said or (stderr.strip() or stdout.partition("{")[0].strip() or "it said nothing").splitlines()[-3:]
    return "; ".join(dict.fromkeys(said))[:800]


def _call_fio() -> str:
    called.note("fio")
    done = subprocess.run(["fio", "--output-format=json", JOB], cwd="/", capture_output=True, text=True,
                          errors="replace")
    if done.returncode:
        raise WorkFailed(f"fio: exit status {done.returncode}: {why(done.stderr, done.stdout)}")
    return done.stdout


def prepare(top: str, params: dict[str, Any], seed: int) -> None:
    """Make the job's files, so that this is not measured."""
    if top.startswith("/dev/"):
        return
    _job_file(top, params, seed, "create_only=1")
    _call_fio()


@dataclass(frozen=True)
class Logged:
    """A request in fio's log."""

    ended_ms: int  # by fio's own clock
    ns: int
    direction: str
    size: int  # bytes


def read_logs(directory: Path) -> dict[int, list[Logged]]:
    """By the number of a process: fio counts them in the order of sections."""
    found = {}
    for path in sorted(directory.glob("job_lat.*.log")):
        lines = (line.split(",") for line in path.read_text().splitlines())
        found[int(path.name.split(".")[1])] = [
            Logged(int(at), int(ns), DIRECTIONS[direction.strip()], int(size))
            for at, ns, direction, size, *_ in lines
        ]
    return found


def times_of(logs: dict[int, list[Logged]]) -> dict[str, list[int]]:
    """Times of all requests, by direction."""
    found: dict[str, list[int]] = {}
    for one in itertools.chain(*logs.values()):
        found.setdefault(one.direction, []).append(one.ns)
    return found


def reads_of(logs: dict[int, list[Logged]], params: dict[str, Any]) -> tuple[int, int, int]:
    """Requests that a disk got for the reads of sections that go through it in order, at most; and what it
    was asked for besides, as memory has whole pages, by reads at random; and the bytes of the section that
    read the fewest, of several that read."""
    numbers, in_order, rest, read = itertools.count(1), 0, 0, list[int]()
    for _, options in sections(params["job"]):
        direct = _direct(options)
        mine = [next(numbers) for _ in range(int(options.get("numjobs", "1")))]
        sizes = [one.size for number in mine for one in logs.get(number, ()) if one.direction == "read"]
        if not _is_random(options):
            in_order += sum(-(-size // REQUEST) for size in sizes)
        elif not direct:
            rest += sum(-size % PAGE for size in sizes)
        read += [sum(sizes)] if sizes else []
    return in_order, rest, min(read) if len(read) > 1 else 0


# Options by which a section may end before its number_ios.
ENDING = ("runtime", "timeout", "time_based", "exitall", "exit_what", "fill_device", "zonemode", "io_size")
SIZE = re.compile(r"(\d+)([kmgt]?)(?:i?b)?", re.IGNORECASE)


def _need_whole(logs: dict[int, list[Logged]], params: dict[str, Any]) -> None:
    """A section does its number_ios, or goes through its size. fio 3.33 may end far earlier, without a word:
    with a bssplit that differs for reads and writes and a distribution, by 6 of 1,500."""
    numbers = itertools.count(1)
    for name, options in sections(params["job"]):
        mine = [next(numbers) for _ in range(int(options.get("numjobs", "1")))]
        asked, size = options.get("number_ios", ""), SIZE.fullmatch(options.get("size", ""))
        if not asked.isdecimal() or not size or any(option in options for option in ENDING):
            continue
        whole = int(size[1]) * 1024 ** " kmgt".index(size[2].lower() or " ")
        for done in (logs.get(number, []) for number in mine):
            if len(done) < int(asked) and sum(one.size for one in done) < whole // 2:
                raise WorkFailed(f"fio ended [{name}] after {len(done)} of number_ios={asked} requests, and "
                                 "does not say why; change what says where they are, or how large")


def _group_ms(jobs: list[dict[str, Any]]) -> list[int]:
    """How long fio was at its requests, as it counts it itself for its rates: jobs of a group go together,
    groups one after another. job_runtime is another time: of jobs that are reported together the sum."""
    groups: dict[int, int] = {}
    for job in jobs:
        took = max(job[kind]["runtime"] for kind in DIRECTIONS.values())
        groups[job["groupid"]] = max(groups.get(job["groupid"], 0), took)
    return list(groups.values())


def _compare(said: list[dict[str, Any]], times: dict[str, list[int]]) -> None:
    """Does fio's log have as many requests as fio counted? Otherwise they are not of the same time."""
    for kind in DIRECTIONS.values():
        counted, logged = sum(job[kind]["total_ios"] for job in said), len(times.get(kind, []))
        if counted != logged:
            raise WorkFailed(f"fio counted {counted} requests ({kind}), and its log has {logged}: an option "
                             "of the job makes them differ")


def record_of(said: dict[str, Any], times: dict[str, list[int]], params: dict[str, Any]) -> Record:
    """Of what fio told at its end, and the times that it logged."""
    record, syncs = Record(), [job["sync"]["lat_ns"] for job in said["jobs"]]
    count, ns = sum(one["N"] for one in syncs), round(sum(one["N"] * one["mean"] for one in syncs))
    missing = unknown(params).keys() & {"mean", "p99"}
    if not times:
        raise WorkFailed("fio logged no request: its job reads and writes nothing, or the lab has no memory "
                         "for fio's map of a disk of terabytes (norandommap, or more memory)")
    _compare(said["jobs"], times)
    for kind, list_ns in times.items():
        if kind == "write" and (count or missing):
            record.tell(kind, len(list_ns), None if "mean" in missing else sum(list_ns) + ns)
        else:
            record.ns[kind] = list_ns
    for job in said["jobs"]:
        record.read += job["read"]["io_bytes"]
        record.written += job["write"]["io_bytes"]
    took = _group_ms(said["jobs"])
    record.own_ns, record.grain_ns = sum(took) * MS, len(took) * MS
    return record


def run(kind: str, top: str, params: dict[str, Any], seed: int) -> Record:
    del kind
    directory = Path(LOGS)
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    _job_file(top, params, seed, f"write_lat_log={directory}/job")
    said = _call_fio()
    found = json.loads(said[said.index("{") :])
    logs = read_logs(directory)
    record = record_of(found, times_of(logs), params)
    _need_whole(logs, params)
    record.in_order, record.rest, record.least_read = reads_of(logs, params)
    # Groups follow each other, and need not be alike.
    if len({job["groupid"] for job in found["jobs"]}) == 1:
        record.ends = [one.ended_ms * MS for one in itertools.chain(*logs.values())]
    return record


def clean_up() -> None:
    Path(JOB).unlink(missing_ok=True)
    shutil.rmtree(LOGS, ignore_errors=True)
