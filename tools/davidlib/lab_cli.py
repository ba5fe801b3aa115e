# SPDX-License-Identifier: GPL-2.0
"""`david lab ...`: the command line of the labs."""

import argparse
import signal
import sys

from . import kernels
from .lab import DEFAULT_TIMEOUT, run_lab

RUN_HELP = """\
Run COMMAND as root in a lab machine that has dm-david loaded. The host's root is
there, read-only, with fresh /tmp, /run and /dev; the working directory is the
caller's. Output and exit status are the command's, except

  124  the command was not done in time
  125  the lab failed: no guest, or its kernel panicked
  126  the command succeeded, but the guest's kernel printed a warning
"""


def add_parsers(sub: argparse._SubParsersAction) -> None:
    lab = sub.add_parser("lab", help="run a command in a lab machine that has dm-david loaded")
    labs = lab.add_subparsers(dest="lab", required=True, metavar="run")
    run = labs.add_parser("run", help="run a command in a lab machine", description=RUN_HELP,
                          formatter_class=argparse.RawDescriptionHelpFormatter)
    run.add_argument("--kind", choices=("uml", "vm"), default="uml",
                     help="uml: User Mode Linux, one CPU, starts in 2 s. "
                          "vm: Debian's stock kernel in QEMU (default: uml)")
    run.add_argument("--kernel", choices=kernels.VERSIONS, default="6.12", help="(default: 6.12)")
    run.add_argument("--virtual-time", action="store_true",
                     help="uml only: waiting takes no real time, a run repeats to the nanosecond")
    run.add_argument("--memory", metavar="M", help="such as 512M or 4G (default: uml 1G, vm 2G)")
    run.add_argument("--cpus", type=int, default=2, metavar="N", help="vm only (default: 2)")
    run.add_argument("--rw", action="append", default=[], metavar="DIR",
                     help="open a directory of the host for writing; may be repeated")
    run.add_argument("--timeout", type=float, default=DEFAULT_TIMEOUT, metavar="S",
                     help=f"end the guest after so many seconds (default: {DEFAULT_TIMEOUT})")
    run.add_argument("command", nargs="+", metavar="COMMAND", help="behind `--`")
    run.set_defaults(func=run_command)


def run_command(args: argparse.Namespace) -> int:
    # Leave by way of the clean-up when told to stop.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    return run_lab(args.command, kind=args.kind, kernel=args.kernel, virtual_time=args.virtual_time,
                   memory=args.memory, cpus=args.cpus, rw=args.rw, timeout=args.timeout).returncode
