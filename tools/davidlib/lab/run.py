# SPDX-License-Identifier: GPL-2.0
"""Run a command in a lab machine that has dm-david loaded.

    status = run_lab(["dmsetup", "targets"], kind="uml", kernel="6.12").returncode

Output goes to the caller's own standard output and error as it is printed. Exit
statuses below 124 and from 128 on are the command's own.
"""

from collections.abc import Sequence
from typing import Any

from ..util import UserError
from . import icount, kernels, uml, vm
from .lab import Lab, Result, Streams, to_fd

KINDS = {"uml": uml.run, "vm": vm.run, "icount": icount.run}


def run_lab(argv: Sequence[str], **options: Any) -> Result:
    """Run ARGV in a lab; OPTIONS are Lab's fields. UserError when it cannot be started at all."""
    lab = Lab(argv, **options)
    lab.kernel = kernels.version(lab.kernel)
    if lab.kind not in KINDS:
        raise UserError(f"--kind {lab.kind}: there are uml, vm and icount")
    if lab.virtual_time and lab.kind != "uml":
        raise UserError("--virtual-time: only the uml lab has it; use --kind uml, "
                        "or `david lab icount` for virtual time on a stock kernel")
    if lab.debug and lab.kind != "uml":
        raise UserError("--debug: only the uml lab has a debug kernel; use --kind uml")
    if not argv:
        raise UserError("no command given: put it behind `--`")
    return KINDS[lab.kind](lab, Streams(to_fd(1), to_fd(2)))
