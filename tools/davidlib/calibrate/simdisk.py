# SPDX-License-Identifier: GPL-2.0
"""A modelled disk of david-sim as a disk to be measured, and to hold a drive against."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Iterable
from pathlib import Path

from .. import build
from ..util import UserError
from .probe import Answer, Request


@functools.cache
def program() -> str:
    return str(build.ensure("david-sim"))


class SimDisk:
    def __init__(self, profile: Path | str, options: Iterable[str] = ()) -> None:
        words = [word for option in options for word in ("--option", option)]
        command = [program(), "live", "--profile", str(profile), *words]
        self._sim = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.sectors, self.logical, self.physical = self._numbers("size", 1)[0]

    def __enter__(self) -> SimDisk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        assert self._sim.stdin and self._sim.stdout
        self._sim.stdin.close()
        self._sim.stdout.close()
        self._sim.wait()

    def _numbers(self, text: str, lines: int) -> list[tuple[int, ...]]:
        assert self._sim.stdin and self._sim.stdout
        self._sim.stdin.write(text + "\n\n")
        self._sim.stdin.flush()
        found = [self._sim.stdout.readline() for _ in range(lines)]
        if not found[-1]:
            raise UserError("david-sim live has ended; what it said stands above")
        return [tuple(int(word) for word in line.split(",")) for line in found]

    def many(self, requests: Iterable[Request], at: int = 0) -> list[Answer]:
        lines = []
        for r in requests:
            lines.append(f"one {r.op},{r.sector},{r.sectors},{r.flags},{at}")
            at = 0
        return [Answer(*pair) for pair in self._numbers("\n".join(lines), len(lines))]

    def deep(self, requests: list[Request], depth: int) -> list[Answer]:
        lines = [f"deep {depth},{len(requests)},0"]
        lines += [f"{r.op},{r.sector},{r.sectors},{r.flags}" for r in requests]
        return [Answer(*pair) for pair in self._numbers("\n".join(lines), len(requests))]
