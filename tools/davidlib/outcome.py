# SPDX-License-Identifier: GPL-2.0
"""How a lab ended: the rules for its exit status, the same for every kind of lab."""

from .console import Console
from .lab import KERNEL_WARNED, LAB_FAILED, TIMED_OUT, Lab, Result, Streams


def judge(lab: Lab, status: int | None, timed_out: bool, console: Console, streams: Streams) -> Result:
    """STATUS is the command's own, None when it never came to an end. Says on stderr what was wrong."""
    console.close()
    if status is None:
        if console.panicked:
            code, what = LAB_FAILED, "the guest's kernel panicked"
        elif timed_out:
            code, what = TIMED_OUT, (f"the command was not done after {lab.timeout:g} s; "
                                     "the guest was ended (--timeout gives it more)")
        else:
            code, what = LAB_FAILED, "the guest ended before the command did"
        streams.tell(f"{what}; the end of its console:")
        streams.stderr((console.tail() + "\n").encode())
        status = code
    for line in console.warnings[:20]:
        streams.tell(f"kernel warning: {line}")
    if console.warnings and status == 0:
        streams.stderr((console.tail() + "\n").encode())
        status = KERNEL_WARNED
    return Result(status, console=console.text, warnings=console.warnings)
