# SPDX-License-Identifier: GPL-2.0
"""Run a command in a lab machine that has dm-david loaded.

    status = run_lab(["dmsetup", "targets"], kind="uml", kernel="6.12").returncode

Output goes to the caller's own standard output and error as it is printed. Exit
statuses below 124 and from 128 on are the command's own.
"""

from collections.abc import Sequence
from typing import Any

from ..util import UserError
from . import icount, own_kernel, uml, vm
from .lab import Lab, Result, Streams, check_memory, rw_paths, to_fd

KINDS = {"uml": uml.run, "vm": vm.run, "icount": icount.run}


def run_lab(argv: Sequence[str], **options: Any) -> Result:
    """Run ARGV in a lab; OPTIONS are Lab's fields. UserError when it cannot be started at all."""
    lab = Lab(argv, **options)
    check(lab)
    lab.kernel = own_kernel.resolve(lab.kind, lab.kernel, lab.config)
    return KINDS[lab.kind](lab, Streams(to_fd(1), to_fd(2)))


def check(lab: Lab) -> None:
    """All options, before anything is fetched or built for one of them."""
    if lab.kind not in KINDS:
        raise UserError(f"--kind {lab.kind}: there are uml, vm and icount")
    if lab.virtual_time and lab.kind != "uml":
        raise UserError("--virtual-time: only the uml lab has it; use --kind uml, "
                        "or `david lab icount` for virtual time on a stock kernel")
    if lab.debug and lab.kind != "uml":
        raise UserError("--debug: only the uml lab has a debug kernel; use --kind uml")
    if lab.shell and lab.kind != "uml":
        raise UserError("lab shell: only the uml lab has one; use --kind uml")
    if not lab.argv:
        raise UserError("no command given: put it behind `--`")
    if not lab.timeout > 0:
        raise UserError(f"--timeout {lab.timeout:g}: want seconds, more than 0")
    check_memory(lab)
    lab.ram_disk_kilobytes()
    rw_paths(lab)
    own_kernel.check(lab.kind, lab.kernel, lab.config, lab.debug)
    if lab.kind == "uml":
        uml.check(lab)
