# SPDX-License-Identifier: GPL-2.0
"""david trace: record what a program does to files."""

from __future__ import annotations

import argparse
import json
import os
import pwd
import sys
from pathlib import Path

from .. import losses
from ..command import Commands
from ..pages import tables, writing
from ..sizes import size_arg, time_arg
from ..util import NOT_BELIEVABLE, UserError, say
from .account import Taken
from . import causal, disks, exporting, figures, formats, importing, program, tracefile, switch


def _uid(user: str) -> int:
    try:
        return int(user) if user.isdecimal() else pwd.getpwnam(user).pw_uid
    except KeyError:
        raise UserError(f"trace record: there is no user {user}") from None


def _ring(text: str) -> tuple[int, int]:
    """SIZE[,FILES]"""
    size, _, files = text.partition(",")
    return size_arg(size), int(files or 2)


def _switch(args: argparse.Namespace) -> int:
    switch.switch(args.trace, args.trace_command == "on")
    return 0


def _status(args: argparse.Namespace) -> int:
    pid, on = switch.recording(args.trace)
    print(f"process {pid} records: {'on' if on else 'off'}" if pid else "nothing is being recorded")
    return 0 if on else 1


def _record(args: argparse.Namespace) -> int:
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if sum(bool(scope) for scope in (command, args.pid, args.uid, args.cgroup)) != 1:
        raise UserError("trace record: one of a command, --pid, --uid, --cgroup")
    if args.fifo and not command:
        raise UserError("trace record: --fifo is for a command, not for processes that run already")
    out = Path(args.out) if args.out else program.default_output()
    words = ("sync", "cpu", "pages", "layout", "off", "fifo")
    options = [f"--{word}" for word in words if getattr(args, word)]
    options += ["--share-disk"] if args.share_disk else []
    options += ["--disk", args.disk] if args.disk else []
    options += ["--pid", args.pid] if args.pid else []
    options += ["--uid", str(_uid(args.uid))] if args.uid else []
    options += ["--cgroup", args.cgroup] if args.cgroup else []
    options += ["--rotate", "{},{}".format(*args.rotate)] if args.rotate else []
    file = out.with_suffix(program.SUFFIX)
    if file != out and out.exists():
        raise UserError(f"trace record: {out} is there already")
    if args.rotate and program.pieces(file)[1:]:
        raise UserError(f"trace record: {program.pieces(file)[1]} is there already")
    before = disks.counts()
    status = program.record(file, options, command, args.method)
    asked = disks.between(before, disks.counts())
    if file != out and file.exists() and status != program.FAILED:
        whole = program.finish(file, out)
        if whole:
            for piece in program.pieces(file):
                piece.unlink()
        disks.store(out, asked)
        say(f"the trace is {out}")
        # A command that failed has the word: what it was recorded for did not happen.
        return status or _believable(out, whole)
    return status


def _believable(trace: Path, whole: bool = True) -> int:
    """The exit status of what made a trace: is too much missing?"""
    missing = losses.status(str(trace), losses.of_trace(figures.open_trace(trace)))
    return missing if whole else NOT_BELIEVABLE


def _causal(args: argparse.Namespace) -> int:
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        raise UserError("trace causal: no command")
    return causal.command_causal(command, args.delay, args.all, args.out)


def _finish(args: argparse.Namespace) -> int:
    file = Path(args.file)
    out = Path(args.out) if args.out else file.with_suffix(".db")
    if not any(map(tracefile.is_tracefile, program.pieces(file))):
        raise UserError(f"{file}: no trace file; 'david trace record -o NAME.dtr' makes one")
    return _believable(out, program.finish(file, out))


def _import(args: argparse.Namespace) -> int:
    out = Path(args.out) if args.out else program.default_output()
    if args.cwd and not os.path.isabs(args.cwd):
        raise UserError(f"trace import: --cwd takes a path from the root on, not {args.cwd}")
    trace = importing.import_lines(args.format, Path(args.file), out, args.cwd)
    if not args.format:
        say(f"{args.file}: the format is {trace.origin}")
    taken = _taken(out)
    for line in trace.account.as_text(args.file, taken):
        say(line)
    if args.json:
        found = vars(taken) | trace.account.as_json()
        Path(args.json).write_text(json.dumps(found, indent=1) + "\n")
    say(f"the trace is {out}")
    status = _believable(out)
    for unit, of in (("bytes", taken.bytes), ("ns", taken.ns)):
        missing = trace.account.missing(unit)
        lost = losses.Losses({"left out": missing}, of + missing)
        status = max(status, losses.status(str(out), lost, unit=unit))
    return status


def _taken(trace: Path) -> Taken:
    """Of an imported trace: the calls of its text, what they read and wrote, how long they took."""
    database = figures.open_trace(trace)
    calls, ns = database.execute("SELECT count(*), total(duration) FROM event").fetchone()
    (moved,) = database.execute(
        "SELECT total(result) FROM event JOIN syscall USING (nr) WHERE result > 0 "
        "AND does IN ('READ', 'PREAD', 'WRITE', 'PWRITE', 'SENDFILE', 'SPLICE', 'COPY')"
    ).fetchone()
    return Taken(calls - losses.made_up(database), int(moved), int(ns))


def _export(args: argparse.Namespace) -> int:
    database = figures.open_trace(Path(args.trace))
    if args.out:
        with open(args.out, "w", encoding="utf-8", errors="surrogateescape", newline="") as out:
            skipped = exporting.FORMATS[args.to](database, out)
    else:
        skipped = exporting.FORMATS[args.to](database, sys.stdout)
    if skipped:
        say(f"{skipped} accesses are not in it: the format has no names with white space")
    return 0


def _report(args: argparse.Namespace) -> int:
    database = figures.open_trace(Path(args.trace))
    found = [
        table for name in args.section or figures.SECTIONS for table in figures.SECTIONS[name](database)
    ]
    print("\n".join(tables.as_text(table) for table in found), end="")
    if args.csv:
        Path(args.csv).mkdir(parents=True, exist_ok=True)
        for table in found:
            tables.write_csv(table, Path(args.csv))
    if args.html:
        writing.write(Path(args.html), f"Trace {Path(args.trace).name}", found)
    return 0


def add_parsers(sub: Commands) -> None:
    trace = sub.add_parser("trace", help="record what programs do to files")
    commands = trace.add_subparsers(dest="trace_command", required=True, metavar="COMMAND")
    record = commands.add_parser(
        "record",
        help="run a command and record its calls",
        description="Run a command and record every call that it, and all that it starts, makes to files, "
        "descriptors and processes. Needs no rights. The exit status is the command's.",
    )
    record.add_argument(
        "-o",
        "--out",
        metavar="OUT",
        help="the trace: a database, or, if it ends in "
        ".dtr, a trace file; in the directory for temporary files, if not given",
    )
    record.add_argument(
        "--pid",
        metavar="PID[,PID...]",
        help="trace processes that run already, until "
        "they end, or until SIGINT; slower, as every call of theirs stops them",
    )
    record.add_argument(
        "--uid",
        metavar="USER",
        help="trace all processes of a user, those that run and those that start; for root",
    )
    record.add_argument(
        "--cgroup",
        metavar="DIR",
        help="trace all processes in a cgroup (version 2) and below, now and later; for root",
    )
    record.add_argument(
        "--rotate",
        metavar="SIZE[,FILES]",
        type=_ring,
        help="write FILES (2) files in turn, of SIZE together: the newest calls stay",
    )
    record.add_argument("--off", action="store_true", help="record nothing until `david trace on`")
    record.add_argument(
        "--sync", action="store_true", help="record calls that tasks wait for each other with, too"
    )
    record.add_argument(
        "--pages",
        action="store_true",
        help="record which pages of mapped files were touched, at the mapping's end",
    )
    record.add_argument(
        "--layout",
        action="store_true",
        help="record where files that are opened lie on their disk; a replay puts its own like that",
    )
    record.add_argument(
        "--method",
        choices=list(program.METHODS),
        default="ptrace",
        help="bpf: the kernel records, and nothing waits; for root, in the source tree",
    )
    record.add_argument(
        "--fifo",
        action="store_true",
        help="real-time priority for the command: threads woken together go on in that order; for root",
    )
    record.add_argument("--cpu", action="store_true", help="record the process's CPU time at each call")
    record.add_argument(
        "--disk",
        metavar="FILE",
        help="any file of the disk that is traced: the trace may "
        "not be on it; the working directory's, if not given",
    )
    record.add_argument("--share-disk", action="store_true", help="the trace may be on the traced disk")
    record.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="what to run")
    record.set_defaults(func=_record)
    causes = commands.add_parser(
        "causal",
        help="find out which thread waits for which",
        description="Run a command once as it is, and once for each of its threads, with that thread held in "
        "front of each of its calls. What is late then waits for it: by a lock, a pipe, or memory.",
    )
    causes.add_argument(
        "--delay",
        metavar="TIME",
        type=time_arg,
        default=50_000_000,
        help="for how long a thread is held in front of each call; 50ms, if not given",
    )
    causes.add_argument("--all", action="store_true", help="also waits that follow from others")
    causes.add_argument("-o", "--out", metavar="FILE", help="what was found, as JSON, too")
    causes.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="what to run")
    causes.set_defaults(func=_causal)
    for word, does in (("on", "record again"), ("off", "record nothing until on")):
        turn = commands.add_parser(
            word,
            help=f"tell a running `record` to {does}",
            description=f"Tell a tracer that runs to {does}. Returns when it does.",
        )
        turn.add_argument("trace", metavar="OUT", help="as `record` was given it")
        turn.set_defaults(func=_switch)
    status = commands.add_parser(
        "status",
        help="say whether a tracer runs and records",
        description="Say whether a tracer runs and records. The status is 0 if so.",
    )
    status.add_argument("trace", metavar="OUT", help="as `record` was given it")
    status.set_defaults(func=_status)
    finish = commands.add_parser(
        "finish",
        help="make a database of a trace file",
        description="Make a SQLite database of a trace file, as record does at its end. The status is 2 if "
        "the trace is cut short; the database then has what is in front of that.",
    )
    finish.add_argument("file", metavar="FILE", help="the trace file")
    finish.add_argument("-o", "--out", metavar="OUT", help="the database; beside FILE, if not given")
    finish.set_defaults(func=_finish)
    imports = commands.add_parser(
        "import",
        help="make a trace of another tool's",
        description="Make a trace of what another tool has recorded. The status is 2 if "
        "more than 1 % of it was not understood or left out.",
    )
    imports.add_argument(
        "format", nargs="?", choices=sorted(formats.CALLS), help="what it is; recognised, if not given"
    )
    imports.add_argument("file", metavar="FILE", help="a text, as it is or compressed (.xz, .gz, .bz2)")
    imports.add_argument("-o", "--out", metavar="FILE", help="the database to make")
    imports.add_argument(
        "--cwd",
        metavar="DIR",
        help="of strace: where the program was at first; relative names begin there, and not at /",
    )
    imports.add_argument("--json", metavar="FILE", help="write what became of its lines, as JSON")
    imports.set_defaults(func=_import)
    export = commands.add_parser("export", help="write a trace in another tool's format")
    export.add_argument("trace", metavar="FILE", help="the database")
    export.add_argument("--to", required=True, choices=sorted(exporting.FORMATS), help="the format")
    export.add_argument("-o", "--out", metavar="FILE", help="where to; standard output, if not given")
    export.set_defaults(func=_export)
    report = commands.add_parser(
        "report",
        help="say what is in a trace",
        description="Print tables and figures of a finished trace: counts, sizes, durations, rates, "
        "lifetimes, sessions, sharing, sequentiality, fsync, working set.",
    )
    report.add_argument("trace", metavar="FILE", help="the database")
    report.add_argument("section", nargs="*", choices=[*figures.SECTIONS, []], help="only these")
    report.add_argument("--csv", metavar="DIR", help="write each table to a file there, too")
    report.add_argument("--html", metavar="FILE", help="write a page with drawings, too")
    report.set_defaults(func=_report)
