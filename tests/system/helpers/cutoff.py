# SPDX-License-Identifier: GPL-2.0
"""A fake disk that is taken away in the midst of requests and comes back, is told another way of
classification, or is read-only for a while.
"""

from __future__ import annotations

import random
import re

from helpers.guest import Complaints, Failed, load_table, run, swap_table


class Cut:
    """Takes a fake disk away and brings it back.

    The store lives as long as a target of its disk does: one of a single sector stays, on which no file
    system has anything but a boot block (xfs: its superblock, which it does not write once it is shut down).
    """

    def __init__(self, name: str, log: Complaints) -> None:
        self.name, self.log = name, log
        self.table = run("dmsetup", "table", name).strip()
        self.complaints: list[str] = []  # while the disk was there

    def cut(self) -> None:
        self.complaints += self.log.found()
        words = self.table.split()
        if words[2] == "linear":
            swap_table(self.name, f"0 {words[1]} error")
            return
        swap_table(self.name, f"0 1 {' '.join(words[2:])}\n1 {int(words[1]) - 1} error")

    def restore(self) -> None:
        swap_table(self.name, self.table)
        self.log.found()


class Modes:
    """The fake disk's table with another way of classification, in the midst of requests; or read-only."""

    def __init__(self, cut: Cut) -> None:
        self.cut = cut

    def next(self, rng: random.Random) -> None:
        mode = rng.choice(("keep", "auto", "explicit", "implicit"))
        table, changed = re.subn(r"classify=\w+", f"classify={mode}", self.cut.table)
        if not changed:
            raise Failed(f"no classification in {table}")
        self.cut.table = table
        if rng.random() < 0.5:
            swap_table(self.cut.name, table)
        else:
            load_table(self.cut.name, table)

    def read_only(self) -> None:
        run("dmsetup", "load", "--readonly", self.cut.name, "--table", self.cut.table)
        run("dmsetup", "suspend", self.cut.name)
        run("dmsetup", "resume", self.cut.name)

    def writable(self) -> None:
        load_table(self.cut.name, self.cut.table)
