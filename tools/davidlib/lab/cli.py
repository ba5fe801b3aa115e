# SPDX-License-Identifier: GPL-2.0
"""`david lab ...`: the command line of the labs."""

import argparse
import math
import signal
import sys

from ..command import Commands
from ..util import say
from . import kernels, kvm, module, own_kernel, stdin, terminal, uml_kernel
from .lab import DEFAULT_TIMEOUT, SEALED_RW, SEALED_TREE
from .run import run_lab
from .vm import probe

RUN_HELP = """\
Run COMMAND as root in a lab machine that has dm-david loaded. The host's root is
there, read-only, with fresh /tmp, /run and /dev; the working directory is the
caller's. What comes in by a pipe or a file is the command's standard input.
Output and exit status are the command's, except

  124  the command was not done in time
  125  the lab failed: no guest, or its kernel panicked
  126  the command succeeded, but the guest's kernel printed a warning
"""

SHELL_HELP = """\
An interactive shell, or COMMAND, as root in a uml lab that has dm-david loaded: with
job control, and the keys of this terminal. The host's root is there, read-only, as
with `lab run`; with the shell's end all is gone that was not written below --rw.
"""

ICOUNT_HELP = """\
Run COMMAND on Debian's stock kernel, one CPU, with dm-david loaded, in a machine
whose clock counts instructions: one is one nanosecond, waiting takes no time.
It shares nothing with the host. There are busybox, dmsetup, the
modules dm-mod, dm-zero, brd and null_blk (modprobe finds them), the files that
COMMAND names and those of --files, with their libraries, at their own paths.
Exit statuses as with `lab run`.
"""


def add_parsers(sub: Commands) -> None:
    lab = sub.add_parser("lab", help="run a command in a lab machine that has dm-david loaded")
    labs = lab.add_subparsers(dest="lab", required=True, metavar="run|shell|icount|module|setup")
    run = labs.add_parser("run", help="run a command in a lab machine", description=RUN_HELP,
                          formatter_class=argparse.RawDescriptionHelpFormatter)
    add_run(run)
    run.add_argument("--virtual-time", action="store_true",
                     help="uml only: waiting takes no real time, a run repeats to the nanosecond")
    run.add_argument("--sealed", action="store_true",
                     help="COMMAND sees nothing of the caller: one environment for all, the tree as "
                          f"{SEALED_TREE}, the first --rw directory as {SEALED_RW}/0, and it begins in /")
    run.add_argument("--timeout", type=float, default=DEFAULT_TIMEOUT, metavar="S",
                     help=f"end the guest after so many seconds (default: {DEFAULT_TIMEOUT})")
    run.add_argument("command", nargs="+", metavar="COMMAND", help="behind `--`")
    run.set_defaults(func=run_command)

    shell = labs.add_parser("shell", help="a shell in a lab machine, on this terminal",
                            description=SHELL_HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_run(shell)
    shell.add_argument("command", nargs="*", metavar="COMMAND", help="behind `--` (default: bash)")
    shell.set_defaults(func=run_shell)

    icount = labs.add_parser("icount", help="run a command where one instruction is one nanosecond",
                             description=ICOUNT_HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_kernel(icount)
    icount.add_argument("--memory", metavar="M", help="such as 512M or 4G (default: 2G)")
    icount.add_argument("--files", nargs="+", action="extend", default=[], metavar="FILE",
                        help="files and directories of the host that the guest needs")
    icount.add_argument("--timeout", type=float, default=DEFAULT_TIMEOUT, metavar="S",
                        help=f"end the guest after so many seconds (default: {DEFAULT_TIMEOUT})")
    icount.add_argument("command", nargs="+", metavar="COMMAND", help="behind `--`")
    icount.set_defaults(func=run_icount)

    build = labs.add_parser("module", help="build dm-david.ko for a lab, without running anything")
    add_machine(build)
    build.add_argument("--sparse", action="store_true", help="check the sources with sparse, too")
    build.set_defaults(func=build_module)

    setup = labs.add_parser("setup", help="fetch or build a lab's kernels and try KVM, in advance")
    setup.add_argument("kind", choices=("uml", "vm", "newest"),
                       help="newest: look again which kernel is the newest that Debian serves")
    add_kernel(setup)
    setup.set_defaults(func=set_up)


def add_run(parser: argparse.ArgumentParser) -> None:
    add_machine(parser)
    parser.add_argument("--debug", action="store_true",
                        help="uml only: a kernel with KASAN, lockdep, kmemleak and the like (built once)")
    parser.add_argument("--memory", metavar="M", help="such as 512M or 4G (default: uml 1G, vm 2G)")
    parser.add_argument("--ram-disk", metavar="SIZE",
                        help="of /dev/ram0 to /dev/ram3, such as 2G (default: uml 128M; vm has none)")
    parser.add_argument("--cpus", type=int, metavar="N",
                        help="vm, and uml with --kernel newest, up to 4 (default: vm 2, uml 1)")
    parser.add_argument("--rw", action="append", default=[], metavar="DIR",
                        help="open a directory of the host for writing; may be repeated")


def add_machine(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kind", choices=("uml", "vm"), default="uml",
                        help="uml: User Mode Linux, starts in a second. "
                             "vm: Debian's stock kernel in QEMU (default: uml)")
    add_own_kernel(parser)


def add_kernel(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kernel", default="6.12", metavar="VERSION",
                        help="6.1, 6.12, newest, or another MAJOR.MINOR that Debian serves (default: 6.12)")


def add_own_kernel(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kernel", default="6.12", metavar="K",
                        help="6.1, 6.12, newest, or another MAJOR.MINOR that Debian serves; or your kernel's "
                             "source tree, a path with a `/`, of which a copy is built (default: 6.12)")
    parser.add_argument("--config", action="append", default=[], metavar="FRAGMENT",
                        help="lines such as CONFIG_EXT4_DEBUG=y on top of your kernel's configuration; "
                             "may be repeated")


def run_command(args: argparse.Namespace) -> int:
    # Leave by way of the clean-up when told to stop.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    return run_lab(args.command, kind=args.kind, kernel=args.kernel, config=args.config,
                   virtual_time=args.virtual_time, debug=args.debug, memory=args.memory,
                   ram_disk=args.ram_disk, cpus=args.cpus, rw=args.rw, timeout=args.timeout,
                   sealed=args.sealed, stdin=stdin.is_given()).returncode


def run_shell(args: argparse.Namespace) -> int:
    terminal.check()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    return run_lab(args.command or ["bash"], kind=args.kind, kernel=args.kernel, config=args.config,
                   debug=args.debug, memory=args.memory, ram_disk=args.ram_disk, cpus=args.cpus, rw=args.rw,
                   timeout=math.inf, shell=True).returncode


def run_icount(args: argparse.Namespace) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    return run_lab(args.command, kind="icount", kernel=args.kernel, memory=args.memory, files=args.files,
                   timeout=args.timeout).returncode


def build_module(args: argparse.Namespace) -> int:
    kernel = own_kernel.resolve(args.kind, args.kernel, args.config)
    if args.sparse:
        module.sparse(args.kind, kernel)
        return 0
    for ko in module.ensure(args.kind, kernel):
        print(ko)
    return 0


def set_up(args: argparse.Namespace) -> int:
    if args.kind == "newest":
        kernels.choose_again()
    elif args.kind == "uml":
        say(f"uml kernel: {uml_kernel.ensure(kernels.version(args.kernel))}")
    else:
        for kernel in (*kernels.VERSIONS, kernels.version(kernels.NEWEST)):
            say(f"vm kernel: {kernels.vmlinuz(kernel)}, "
                f"{'with' if kvm.works(kernel, probe) else 'without'} KVM")
            kernels.build_root(kernel)
    return 0
