# SPDX-License-Identifier: GPL-2.0
"""`david bench`: its options; it runs what is not in the results yet, and reports."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import build
from ..command import Commands
from ..lab import needs
from ..sizes import format_size
from ..util import DAVID, UserError, say
from ..workload.kinds import KINDS, Bytes
from . import kernelwords, localhost, loop, precheck, prepare, spec
from .results import Results
from .runs import expand, programs

EXAMPLE = """\
# Which file system for mail on a disk of 20 TB?
question = "ext4 or xfs for mail on a 20 TB disk?"
repeats = 3                     # seeds 1, 2, 3
metric = "operations"           # a second; or seconds, megabytes, mean, p99
where = "virtual"               # or uml, vm, here

[disk]
profile = "seagate-exos-x20-20tb"   # or a list
backing = "512M"

[[filesystem]]
type = "ext4"
mkfs = ["-J", "size=64"]

[[filesystem]]
type = "xfs"
mount = "noatime"

[[workload]]
kind = "varmail"
operations = 1000
"""


def list_workloads() -> int:
    for name, kind in KINDS.items():
        print(f"{name}: {kind.help}")
        for key, value in kind.params.items():
            shown = format_size(value) if isinstance(value, Bytes) else repr(value)
            print(f"    {key} = {shown}")
    return 0


def spec_of_options(args: argparse.Namespace) -> str:
    """The text of a spec, as one would have written it."""
    if not args.profile or not args.workload:
        raise UserError("bench: name a SPEC, or at least --profile and --workload; --example prints a spec")

    def words(values: list[str]) -> str:
        return "[" + ", ".join(f'"{value}"' for value in values) + "]"

    lines = [f"repeats = {args.repeats}", "[disk]", f"profile = {words(args.profile)}"]
    for fs in args.fs or ["ext4"]:
        lines += ["[[filesystem]]", f'type = "{fs}"']
    for kind in args.workload:
        lines += ["[[workload]]", f'kind = "{kind}"']
    return "\n".join(lines) + "\n"


def read_spec(args: argparse.Namespace) -> tuple[spec.Spec, str]:
    if args.spec:
        if args.profile or args.fs or args.workload:
            raise UserError("bench: a SPEC says all; leave out --profile, --fs and --workload, or the SPEC")
        return spec.read(Path(args.spec))
    text = spec_of_options(args)
    return spec.parse(text, "options", Path.cwd()), text


def output_of(args: argparse.Namespace) -> Path:
    return Path(args.output or f"{Path(args.spec).stem if args.spec else 'bench'}.result")


def bench(args: argparse.Namespace) -> int:
    if args.example:
        print(EXAMPLE, end="")
        return 0
    if args.workloads:
        return list_workloads()
    if args.quick or args.only:
        raise UserError("bench: --quick and --only are about `bench paper`")
    found, text = read_spec(args)
    results = Results(output_of(args))
    if not args.list:
        needs.check("bench", precheck.missing(found))
    precheck.check(found)
    if not args.scheduler:
        precheck.of_machine(found)
    most = 1 if found.where == "here" else loop.cpus()
    memory = precheck.memory(found, args.workers or most)
    if args.list:
        if found.where != "here":
            found.kernels = kernelwords.built(found.where, found.kernels, build=False)
        runs = expand(found)
        loop.list_runs(results, runs)
        print("\n".join([*memory, loop.summary(results, runs, args.workers or most)]))
        return 0
    if found.where == "here":
        localhost.ready(args)
    prepare.become()
    for name in programs(found):
        build.ensure(name)  # in a lab nothing is built
    if found.where != "here":
        found.kernels = kernelwords.built(found.where, found.kernels, build=True)
        for kernel in found.kernels:
            prepare.lab(kernelwords.KIND[found.where], kernel.name)
    # Not before: it has the version of the lab's kernel.
    runs = expand(found)
    results.begin(text, runs, Path(args.spec).resolve().parent if args.spec else Path.cwd())
    for line in memory:
        say(f"bench: {line}")
    return loop.do(args, results, runs, most)


def add_parser(sub: Commands) -> argparse.ArgumentParser:
    parser = sub.add_parser(
        "bench",
        help="run a question's workloads on fake disks in labs, and make a page of the answer",
        description="Run workloads on fake disks, each in a lab of its own, in virtual time by default, and "
        "make a page of what came of it. A run that is there already is not run again: the same command goes "
        "on where it was stopped.",
        epilog=f"example:\n  {DAVID} bench --example >mail.toml && {DAVID} bench mail.toml\n"
        f"  {DAVID} bench --profile seagate-exos-x20-20tb --fs ext4 --fs xfs --workload varmail",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("spec", metavar="SPEC", nargs="?",
                        help="the question, a TOML file; or `paper`: the evaluation of David's paper")
    parser.add_argument("--quick", action="store_true", help="with `paper`: its quick form, in ten minutes")
    parser.add_argument("--only", action="append", default=[], metavar="WORD",
                        help="with `paper`: labs with WORD in their name, see --list; repeatable")
    parser.add_argument("--output", "-o", metavar="DIR", help="for results (default: SPEC's name.result)")
    parser.add_argument("--workers", type=int, default=0, metavar="N",
                        help="runs at a time (default: one a CPU)")
    parser.add_argument("--scheduler", default="", metavar="URL", help="of Dask, such as tcp://host:8786")
    parser.add_argument("--list", action="store_true", help="which runs there are, and which are done")
    parser.add_argument("--example", action="store_true", help="print a spec to begin with")
    parser.add_argument("--workloads", action="store_true", help="list the workloads with their parameters")
    parser.add_argument("--profile", action="append", metavar="P", help="without a SPEC: a drive; repeatable")
    parser.add_argument("--fs", action="append", metavar="F", help="a file system; repeatable")
    parser.add_argument("--workload", action="append", metavar="W", help="a workload; repeatable")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="seeds (default %(default)s)")
    return parser
