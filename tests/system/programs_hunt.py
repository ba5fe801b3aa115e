#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Random programs, each recorded, compiled, replayed and compared.

helpers/random-program.c makes a program of a seed. The tree that follows from the trace must be that
on the disk, and the descriptors those of /proc (`david-trace record --look`). The replay must come to the
original's results and to the same tree, and never stand still. Programs go in batches, one trace a batch. Of
a batch that fails each program is tried again by itself; its seed is printed:

    programs_hunt.py --seed SEED --count 1
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from helpers.traced import tree_of_disk, tree_of_trace

TREE = Path(__file__).resolve().parents[2]
SOURCE = TREE / "tests/system/helpers/random-program.c"
KINDS = [
    *("file", "names", "append", "pipe", "exec", "pipeline", "socket", "passing", "taking", "signals"),
    *("waited", "messages", "uring", "fifo", "splice", "copy", "mapping", "again", "threads", "races"),
]
SAME = 0.999
LOOKED_AT = 20  # one of so many calls: the descriptors of its process are looked at


@dataclass
class Tools:
    program: Path
    keep: Path | None = None
    trace: Path = TREE / "build/david-trace"
    compile: Path = TREE / "build/david-compile"
    replay: Path = TREE / "build/david-replay"


def build(out: Path) -> Path:
    flags = ["-O1", "-Wall", "-Wextra", "-Wno-sign-compare", "-Werror", "-pthread"]
    subprocess.run(["cc", *flags, "-o", out, SOURCE], check=True)
    return out


def run(*words: str | Path | int, cwd: Path | None = None, good: tuple[int, ...] = (0,)) -> str:
    command = [str(word) for word in words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    if done.returncode not in good:
        raise RuntimeError(f"{command[0]}: status {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout


def record(tools: Tools, seed: int, count: int, kinds: list[str], top: Path) -> None:
    (top / "work").mkdir()
    command = [tools.trace, "record", "--out", top / "t.dtr", "--share-disk", "--look", LOOKED_AT, "--"]
    run(*command, tools.program, seed, count, *kinds, cwd=top / "work")
    run(tools.trace, "finish", top / "t.dtr", top / "t.db")
    (top / "t.dtr").unlink()


def look(connection: sqlite3.Connection) -> list[str]:
    """Descriptors that the kernel had otherwise. Offsets and flags are left out: others may have just changed
    these. So are processes with several threads.
    """
    alone = "SELECT process FROM thread GROUP BY process HAVING count(*) = 1"
    rows = connection.execute(
        f"SELECT event, fd, what, trace, kernel FROM look WHERE process IN ({alone}) "
        "AND what NOT IN ('offset', 'flags')"
    )
    return [
        f"descriptor {fd} after call {event}: {what}: {one}, not {other}"
        for event, fd, what, one, other in rows
    ]


def replay(tools: Tools, top: Path, timing: str) -> dict[str, Any]:
    (top / timing).mkdir()
    run(tools.replay, "prepare", "--holes", top / "t.wl", top / timing)
    words = ["run", "--share-disk", "--timing", timing, top / "t.wl", top / timing]
    result: dict[str, Any] = json.loads(run(tools.replay, *words, good=(0, 2)))
    return result


Names = dict[str, tuple[Any, ...]]


def below(tree: dict[str, Any], top: Path) -> Names:
    """By name: type, size, target; how many links a file has beyond the trace's names nobody knows."""
    return {
        str(Path(path).relative_to(top)): (kind, size, target)
        for path, (kind, size, _, target) in tree.items()
    }


def differences(what: str, one: Names, other: Names) -> list[str]:
    names = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
    return [f"{what}: {name}: {one.get(name)}, not {other.get(name)}" for name in names]


def judge(run: dict[str, Any]) -> list[str]:
    wrong = [f"replay: {one}" for one in run["differences"]] if run["same"] < SAME * run["compared"] else []
    if not run["compared"]:
        wrong.append("replay: nothing was compared")
    if run["stalls"]:
        wrong.append(f"replay: stood still {run['stalls']} times: {run['stalled'][:3]}")
    return wrong


def try_programs(tools: Tools, seed: int, count: int, kinds: list[str], scratch: Path) -> list[str]:
    """What is wrong with so many programs, from that seed on."""
    with TemporaryDirectory(dir=scratch) as temporary:
        top, work = Path(temporary), Path(temporary) / "work"
        record(tools, seed, count, kinds, top)
        disk = tree_of_disk(work)
        connection = sqlite3.connect(f"file:{top / 't.db'}?mode=ro", uri=True)
        connection.text_factory = lambda text: text.decode(errors="surrogateescape")
        wrong = differences("trace", below(tree_of_trace(connection, work), work), below(disk, work))
        wrong += look(connection)
        connection.close()
        run(tools.compile, top / "t.db", top / "t.wl")
        wrong += judge(replay(tools, top, "afap"))
        again = top / "afap" / work.relative_to("/")
        wrong += differences("tree", below(tree_of_disk(again), again), below(disk, work))
        if wrong and tools.keep:
            subprocess.run(["cp", "-aT", top, tools.keep / f"{seed}-{count}"], check=False)  # FIFOs, too
        return wrong


def hunt(
    tools: Tools, seed: int, count: int, kinds: list[str], scratch: Path
) -> tuple[dict[int, list[str]], list[str]]:
    """By seed, what is wrong; and what is, only if they come together."""
    wrong = try_programs(tools, seed, count, kinds, scratch)
    if not wrong:
        return {}, []
    if count == 1:
        return {seed: wrong}, []
    alone = {one: try_programs(tools, one, 1, kinds, scratch) for one in range(seed, seed + count)}
    found = {one: said for one, said in alone.items() if said}
    return found, [] if found else wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=int(time.time()) * 1000)
    parser.add_argument("--count", type=int, help="programs; as many as the time allows, if not given")
    parser.add_argument("--seconds", type=float, default=600, help="without --count (default 600)")
    parser.add_argument("--batch", type=int, default=50, help="programs a trace (default 50)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="what they do")
    parser.add_argument("--scratch", type=Path, default=Path(gettempdir()), help="not below /dev")
    parser.add_argument("--keep", type=Path, help="a directory for what was recorded of those that fail")
    args = parser.parse_args()
    # What is below these is the kernel's, and so not replayed.
    if args.scratch.resolve().parts[1:2] in (("dev",), ("proc",), ("sys",)):
        parser.error(f"{args.scratch}: names below /dev, /proc and /sys are not replayed")
    end, seed, bad = time.monotonic() + args.seconds, args.seed, 0
    with TemporaryDirectory(dir=args.scratch) as temporary:
        tools = Tools(build(Path(temporary) / "random-program"), args.keep)
        while seed < args.seed + args.count if args.count else time.monotonic() < end:
            left = args.seed + args.count - seed if args.count else args.batch
            size = min(args.batch, left)
            found, together = hunt(tools, seed, size, args.kinds, args.scratch)
            for one, said in found.items():
                print(f"seed {one}: " + "; ".join(said[:5]), flush=True)
            if together:
                print(f"seeds {seed} to {seed + size - 1} together: " + "; ".join(together[:5]), flush=True)
            bad += len(found) + bool(together)
            seed += size
            print(f"{seed - args.seed} programs from seed {args.seed} on, {bad} wrong", flush=True)
    return bool(bad) or seed == args.seed


if __name__ == "__main__":
    sys.exit(main())
