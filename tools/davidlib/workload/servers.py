# SPDX-License-Identifier: GPL-2.0
"""Servers: many files of a few kilobytes, in the manner of Filebench's and Postmark's.

The flow of operations and the default sizes are those of Filebench's fileserver.f, varmail.f and
webserver.f, and of Postmark (Katcher 1997); numbers of files and processes are smaller, as a lab machine's
memory is. Each process has a directory of its own, so that the order of calls does not depend on who comes
first.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from typing import Any

from . import fileops
from .record import Record
from .several import seeded, together
from .steady import Warming, course

GAMMA = 1.5  # Filebench's shape of file sizes


def gamma_size(rng: random.Random, mean: int) -> int:
    return max(1, round(rng.gammavariate(GAMMA, mean / GAMMA)))


@dataclass
class Files:
    """The files of one process, as it knows them."""

    top: str
    rng: random.Random
    mean: int
    width: int
    names: list[str] = field(default_factory=list)
    made: int = 0

    def new(self) -> str:
        name = f"{self.top}/{self.made // self.width:04}/{self.made:06}"
        self.made += 1
        self.names.append(name)
        return name

    def any(self) -> str:
        return self.rng.choice(self.names)

    def take(self) -> str:
        """One that is to be deleted."""
        at = self.rng.randrange(len(self.names))
        self.names[at], self.names[-1] = self.names[-1], self.names[at]
        return self.names.pop()


def _make(files: Files, record: Record, size: int, sync: bool = False) -> None:
    path = files.new()
    if files.made % files.width == 1 or files.width == 1:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    fileops.create(record, path, size, sync)


def _files(top: str, params: dict[str, Any], number: int, seed: int) -> Files:
    rng = seeded(seed, "files", number)
    return Files(f"{top}/process-{number}", rng, params["mean"], params["width"])


def prepare(top: str, params: dict[str, Any], seed: int) -> None:
    for number in range(params["processes"]):
        files, scratch = _files(top, params, number, seed), Record()
        for _ in range(params["files"] // params["processes"]):
            _make(files, scratch, gamma_size(files.rng, files.mean))


def _again(top: str, params: dict[str, Any], number: int, seed: int) -> Files:
    """What prepare() made, without making it: the same numbers are drawn."""
    files = _files(top, params, number, seed)
    for _ in range(params["files"] // params["processes"]):
        files.new()
        gamma_size(files.rng, files.mean)
    return files


def _fileserver(files: Files, params: dict[str, Any], record: Record) -> None:
    _make(files, record, gamma_size(files.rng, files.mean))
    fileops.append(record, files.any(), params["append"])
    fileops.read_whole(record, files.any())
    fileops.delete(record, files.take())
    fileops.stat(record, files.any())


def _varmail(files: Files, params: dict[str, Any], record: Record) -> None:
    fileops.delete(record, files.take())
    _make(files, record, params["append"], sync=True)
    path = files.any()
    fileops.read_whole(record, path)
    fileops.append(record, path, params["append"], sync=True)
    fileops.read_whole(record, files.any())


def _webserver(files: Files, params: dict[str, Any], record: Record) -> None:
    for _ in range(10):
        fileops.read_whole(record, files.any())
    fileops.append(record, f"{files.top}/log", params["append"])


def _postmark(files: Files, params: dict[str, Any], record: Record) -> None:
    if files.rng.randrange(2):
        fileops.read_whole(record, files.any())
    else:
        fileops.append(record, files.any(), files.rng.randint(1, params["append"]))
    if files.rng.randrange(2):
        _make(files, record, files.rng.randint(params["low"], params["high"]))
    elif len(files.names) > 1:
        fileops.delete(record, files.take())


FLOWS = {"fileserver": _fileserver, "varmail": _varmail, "webserver": _webserver, "postmark": _postmark}


def run(kind: str, top: str, params: dict[str, Any], seed: int, warming: Warming | None = None) -> Record:
    """Repeat the flow in each process until it has done its share of the operations."""
    share = -(-params["operations"] // params["processes"])

    def body(number: int, rng: random.Random, record: Record) -> None:
        files = _again(top, params, number, seed)
        files.rng = rng
        course(number, lambda record: FLOWS[kind](files, params, record), share, record, warming)

    return together(body, params["processes"], seed, warming)
