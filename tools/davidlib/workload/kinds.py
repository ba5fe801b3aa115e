# SPDX-License-Identifier: GPL-2.0
"""The table of workloads: what each is called, what can be set, and who does it.

A parameter's default says its type: a number, a text, or Bytes, which a spec may write as "16K".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import blocks, fiojob, image, programs, servers, trees
from .record import Record

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
NO_BYTES = "nobody counts what its program reads and writes"
SPREAD = 64  # files all over the disk, of one process


class Bytes(int):
    """A default that is a size."""


class File(str):
    """A default that is a file; a spec names it from its own place."""


Prepare = Callable[[str, dict[str, Any], int], None]
# With "steady" among the parameters, a Warming may be given, too.
Run = Callable[..., Record]
# Wait until the rate has settled, for so many operations at most: steady.py
STEADY = {"steady": False, "settle": 1_000_000}


@dataclass(frozen=True)
class Kind:
    help: str
    params: dict[str, Any]
    run: Run
    prepare: Prepare | None = None
    raw: bool = False  # can do without a file system
    required: tuple[str, ...] = field(default=())
    built: tuple[str, ...] = ()  # programs of this tree that it calls: names of build.DIRECTORIES
    # What is wrong with its parameters, and with which; the second: may it be given the raw disk?
    mistake: Callable[[dict[str, Any], bool], tuple[str, str] | None] | None = None
    # Metrics that its runs do not have, and why.
    unknown: Callable[[dict[str, Any]], dict[str, str]] | None = None
    # Are its requests at random? None: they are what programs ask for.
    random: Callable[[dict[str, Any]], bool] | None = None
    rated: bool = False  # its operations are alike, and go on as long as one lets them: they have a rate


def _server(text: str, **params: Any) -> Kind:
    shared = {"files": 500, "width": 20, "processes": 1, "operations": 1000}
    return Kind(text, shared | params | STEADY, servers.run, servers.prepare, rated=True)


def _blocks(text: str, block: int, **params: Any) -> Kind:
    shared = {"block": Bytes(block), "size": Bytes(256 * MIB), "processes": 1, "operations": 1000}
    random = "sequential" not in text
    return Kind(text, shared | {"direct": True} | params | STEADY, blocks.run, blocks.prepare, raw=True,
                mistake=blocks.mistake, random=lambda params: random, rated=True)


def _tree(name: str, text: str) -> Kind:
    def prepare(top: str, params: dict[str, Any], seed: int) -> None:
        trees.prepare(name, top, params, seed)

    unknown = {"p99": trees.ONE_PROGRAM} | ({} if name in trees.WRITTEN else {"megabytes": NO_BYTES})
    return Kind(text, {"files": 2000}, trees.run, prepare, unknown=lambda params: unknown)


KINDS: dict[str, Kind] = {
    "fileserver": _server(
        "create, append, read, delete, stat of whole files", mean=Bytes(128 * KIB), append=Bytes(16 * KIB)
    ),
    "varmail": _server("mail: create and append with fsync, read, delete", mean=Bytes(16 * KIB),
                       append=Bytes(16 * KIB)),
    "webserver": _server("ten whole reads, one append to a log", mean=Bytes(16 * KIB),
                         append=Bytes(16 * KIB)),
    "postmark": _server(
        "read or append, create or delete, of small files", mean=Bytes(5 * KIB), append=Bytes(4 * KIB),
        low=Bytes(500), high=Bytes(10000),
    ),
    "sequential-read": _blocks("sequential blocks", MIB),
    "sequential-write": _blocks("sequential blocks", MIB),
    "random-read": _blocks("blocks anywhere", 4 * KIB, files=SPREAD),
    "random-write": _blocks("blocks anywhere; sync = 1: each with fdatasync", 4 * KIB, sync=0, files=SPREAD),
    "mixed": _blocks("random reads and writes", 4 * KIB, reads=70, sync=0, files=SPREAD),
    "database": _blocks("random overwrites, each with fdatasync, and reads", 8 * KIB, reads=50, sync=1),
    "metadata": Kind("empty files: create, stat, rename, delete", {"files": 2000, "width": 100},
                     trees.run_metadata, unknown=lambda params: {"megabytes": "its files are empty"}),
    "untar": _tree("untar", "unpack an archive of small files"),
    "git-clone": _tree("git-clone", "clone a repository"),
    "grep": _tree("grep", "read a tree of small files"),
    "find": _tree("find", "walk a tree and look at each inode"),
    "du": _tree("du", "add up a tree's blocks"),
    "impressions": Kind(
        "an image with log-normal sizes, as of FAST 2009",
        {"files": 2000, "directories": 200, "mu": 9.48, "sigma": 2.46, "depth": 6.49, "largest": Bytes(GIB)},
        image.run,
    ),
    "command": Kind("a command of the shell; $TOP is the place, $SEED the seed", {"command": ""},
                    programs.run_command, raw=True, required=("command",),
                    unknown=lambda params: {"megabytes": NO_BYTES}),
    "replay": Kind("a compiled trace, see docs/REPLAY.md", {"trace": File(), "timing": "closed"},
                   programs.run_replay, programs.prepare_replay, required=("trace",),
                   built=(programs.REPLAY,)),
    "fio": Kind("a job of fio, as text", {"job": ""}, fiojob.run, fiojob.prepare, raw=True, required=("job",),
                mistake=fiojob.mistake, unknown=fiojob.unknown, random=fiojob.is_random, rated=True),
}


def files_of(run: dict[str, Any]) -> dict[str, str]:
    """The files that a run's workload names, by parameter."""
    work = run.get("workload", {})
    kind = KINDS.get(work.get("kind", ""))
    params = kind.params if kind else {}
    return {key: work["params"][key] for key, default in params.items() if isinstance(default, File)}
