# SPDX-License-Identifier: GPL-2.0
"""A lab's kernel console: what to show of it, and what in it means trouble."""

import re

TRACE_LINES = 60
KEEP = 256 << 10
# What a kernel prints when something is wrong with it, although it goes on.
TROUBLE = re.compile(r"WARNING: |BUG: |BUG at |Oops|KASAN|UBSAN|KCSAN: |INFO: task .* blocked|"
                     r"INFO: possible |INFO: trying to register|suspicious RCU|"
                     r"rcu_\w+ (self-)?detected stall|soft lockup|general protection fault|"
                     r"unreferenced object|sleeping function called")
PANIC = re.compile(r"Kernel panic - not syncing|Kernel BUG|end Kernel panic")


class Console:
    """Collects console output as it comes."""

    def __init__(self) -> None:
        self.text = ""
        # Is the guest as far as its command, and what has been printed since?
        self.up = False
        self.after = ""
        self.warnings: list[str] = []
        self.panicked = False
        self._partial = ""

    def is_up(self) -> None:
        self.up = True

    def feed(self, data: bytes) -> None:
        lines = (self._partial + data.decode(errors="replace").replace("\r", "")).split("\n")
        self._partial = lines.pop()
        for line in lines:
            self._line(line)

    def close(self) -> None:
        if self._partial:
            self._line(self._partial)
        self._partial = ""

    def _line(self, line: str) -> None:
        self.text += line + "\n"
        if len(self.text) > 2 * KEEP:
            self.text = self.text[-KEEP:]
        if self.up:
            self.after = (self.after + line + "\n")[-KEEP:]
        if PANIC.search(line):
            self.panicked = True
        elif TROUBLE.search(line):
            self.warnings.append(line.strip())

    def tail(self, lines: int = TRACE_LINES) -> str:
        """Of what came after the boot, if there is that."""
        return "\n".join((self.after if self.after.strip() else self.text).splitlines()[-lines:])
