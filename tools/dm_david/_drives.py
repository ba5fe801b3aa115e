# SPDX-License-Identifier: GPL-2.0
"""Drives, and block traces that they serve without a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from davidlib.drive import files, profile, served
from davidlib.drive.sim import MOST_DEPTH
from davidlib.sizes import SECTOR
from davidlib.trace import blocks
from davidlib.util import UserError


@dataclass(frozen=True)
class Profile:
    """A drive: a name of profiles/, or a file. `options` replace parameters: {"rpm": "5400"}.

    Nothing is read before it is asked for. Error: there is no such profile, or david-sim finds it wrong.
    """

    name: str
    options: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def all() -> list[Profile]:
        """The drives of profiles/, by name."""
        return [Profile(name) for name in files.names()]

    @property
    def path(self) -> Path:
        """The profile's file."""
        return files.find(self.name)

    @property
    def parameters(self) -> dict[str, str | list[str]]:
        """All of them, those too that the file leaves out, with their units; zone, seek, slip and remap are
        lists."""
        return profile.parameters(self.path, self._words())

    @property
    def capacity(self) -> int:
        """Bytes."""
        return int(str(self.parameters["capacity"]).removesuffix("sectors")) * SECTOR

    @property
    def kind(self) -> str:
        """disk, ssd or memory."""
        return str(self.parameters["kind"])

    def _words(self) -> list[str]:
        return [f"{key}={value}" for key, value in self.options.items()]


@dataclass(frozen=True)
class Simulation:
    """What `david sim --json` prints: docs/REFERENCE.md, Figures of a block trace."""

    figures: dict[str, Any]
    believable: bool  # False: too much of the trace was left out; standard error says what

    @property
    def served(self) -> list[dict[str, Any]]:
        """One for each drive, and for each array of it."""
        return list(self.figures["served"])


def simulate(
    trace: str | Path,
    profiles: Sequence[str],
    *,
    arrays: Sequence[str] = (),
    options: Sequence[str] = (),
    format: str | None = None,
    device: str | None = None,
    loop: str = "both",
    depth: int | None = None,
    bound: int = 100_000_000,
    size: int | None = None,
) -> Simulation:
    """A block trace, or a recording, served by modelled drives, as `david sim` does it.

    profiles   names or files of drives; each serves it alone and in each of `arrays` ("5 members=8")
    options    NAME=VALUE, of every profile
    format     of the trace; None: by its content
    device     which of several in the trace
    loop       open: at the trace's times; closed: each as soon as fewer are under way; both
    depth      with closed: requests at a time, 1 to 65536; None: as many as the trace had
    bound      nanoseconds that p99 may take, for the load
    size       bytes of each disk, members of arrays too; None: the trace's or the profile's

    Error: the trace cannot be read, has nothing to serve, or a profile or an array is wrong.
    """
    for name, given in (("profiles", profiles), ("arrays", arrays), ("options", options)):
        if isinstance(given, str | dict) or not all(isinstance(word, str) for word in given):
            raise UserError(f"{name}={given!r}: want a list of texts")
    for name, word, choices in (("loop", loop, served.LOOPS), ("format", format, blocks.READERS)):
        if word is not None and word not in choices:
            raise UserError(f"{name}={word!r}: want {', '.join(choices)}")
    for name, number, most in (("depth", depth, MOST_DEPTH), ("bound", bound, None), ("size", size, None)):
        if number is not None and (not isinstance(number, int) or number < 1 or number > (most or number)):
            upto = f" to {most}" if most else ""
            raise UserError(f"{name}={number!r}: want a whole number from 1 on{upto}")
    if size is not None and size % SECTOR:
        raise UserError(f"size={size}: want a positive multiple of {SECTOR} bytes")
    read = served.load(str(trace), format, device)
    way = served.Way(
        list(profiles),
        list(arrays),
        list(options),
        loop,
        depth,
        bound,
        size // SECTOR if size is not None else None,
        None,
    )
    found = served.serve(read, way)
    return Simulation(found, served.doubts(read, found, depth) == 0)
