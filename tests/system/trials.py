#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Random lives of file systems: each is lived on the reference and on the fake disk, and the trees must be
equal and the checker content. Runs in a lab.

What a life is, helpers/lives.py says; which file systems there are, helpers/lifekinds.py.

In place of a mode, FS:linear cuts dm-linear at the same places: e2fsck -fy, for one, does not always mend a
cut ext2, whatever the disk. FS:change is told another mode again and again, in the midst of its life, and is
read-only between.

Prints one line "RESULT {json}" a life.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from helpers import layers
from helpers.cutoff import Cut
from helpers.guest import Complaints, Failed, device_stats, dm, fake_disk, leaks, linear_disk, ram_disk, say
from helpers.lifekinds import FILE_SYSTEMS, KNOWN
from helpers.lives import CHANGE, LINEAR, Life, live
from helpers.manifest import checksum, difference
from helpers.units import MIB

STORE = 128 * MIB
COUNT, EPISODES = 120, 4


@dataclass
class Result:
    fs: str
    classify: str
    seed: int
    error: str = ""
    seconds: float = 0
    squashed: int = 0
    kept: int = 0
    operations: int = 0
    lived: list[str] = field(default_factory=list)


def disk_size(name: str) -> int:
    return layers.room(KNOWN[name].layer, KNOWN[name].size)


def reference(name: str, seed: int, count: int, episodes: int) -> Life:
    with linear_disk("trial", KNOWN[name].size) as disk:
        return live(name, seed, count, episodes, disk, None)


def judge(life: Life, expected: Life) -> None:
    if life.told != expected.told:
        raise Failed(f"{'; '.join(life.told)}: the reference went another way: {'; '.join(expected.told)}")
    pairs = list(zip(life.trees, expected.trees, strict=True))
    if life.exact:
        pairs += zip(life.contents, expected.contents, strict=True)
    for number, (ours, theirs) in enumerate(pairs):
        if wrong := difference(theirs, ours):
            raise Failed(
                f"{'; '.join(life.told)}: look {number}: the tree differs from the reference:\n"
                + "\n".join(wrong)
            )


class References:
    """Digests of what references came to, so that only a life that differs needs one. Other versions of
    kernel and tools may give other trees: then the reference is lived after all, which takes its time.
    """

    def __init__(self, path: Path | None, count: int, episodes: int) -> None:
        self.shape = f"{count} operations, {episodes} episodes"
        self.digests: dict[str, str] = json.loads(path.read_text()).get(self.shape, {}) if path else {}
        self.lived: dict[str, Life] = {}  # the last one
        self.renewed = 0

    @staticmethod
    def digest(life: Life) -> str:
        return checksum([*life.told, *(checksum(tree) for tree in (*life.trees, *life.contents))])

    def judge(self, name: str, seed: int, life: Life, live_reference: Callable[[], Life]) -> None:
        key = f"{name} {seed}"
        if self.digests.get(key) == self.digest(life):
            return
        if key not in self.lived:
            self.renewed += 1
            try:
                self.lived = {key: live_reference()}
            except (Failed, OSError) as error:
                raise Failed(f"the reference itself failed: {error}") from None
        judge(life, self.lived[key])
        self.digests[key] = self.digest(life)

    def save(self, path: Path) -> None:
        path.write_text(json.dumps({self.shape: self.digests}, indent=0, sort_keys=True) + "\n")


def one_linear(name: str, seed: int, count: int, episodes: int) -> Result:
    """The same cuts on dm-linear, which loses nothing: what a file system or its checker does of its own."""
    result = Result(name, LINEAR, seed)
    start = time.monotonic()
    try:
        with linear_disk("trial", disk_size(name)) as disk:
            live(name, seed, count, episodes, disk, Cut("trial", Complaints()))
    except (Failed, OSError) as error:
        result.error = f"{type(error).__name__}: {error}"
    result.seconds = round(time.monotonic() - start, 2)
    return result


def one(name: str, classify: str, seed: int, count: int, episodes: int, references: References) -> Result:
    result = Result(name, classify, seed)
    start = time.monotonic()
    complaints = Complaints()
    try:
        with ExitStack() as stack:
            backing = stack.enter_context(ram_disk(STORE))
            first = "auto" if classify == CHANGE else classify
            disk = stack.enter_context(fake_disk("trial", disk_size(name), backing, "--classify", first))
            cut = Cut("trial", complaints)
            life = live(name, seed, count, episodes, disk, cut, classify)
            result.lived, result.operations = life.told, life.operations
            figures = device_stats("trial")
            written: dict[str, int] = figures["written"]  # type: ignore[assignment]
            result.squashed, result.kept = written["squashed"], written["kept"]
            if figures["errors"] or figures["nospc"]:
                raise Failed(f"{figures['errors']} requests failed, {figures['nospc']} for want of space")
            if wrong := cut.complaints + complaints.found():
                raise Failed(f"{'; '.join(life.told)}: kernel: " + "\nkernel: ".join(wrong[:10]))
        references.judge(name, seed, life, lambda: reference(name, seed, count, episodes))
    except (Failed, OSError) as error:
        last = complaints.log.new_lines()[-8:]
        result.error = "\nkernel: ".join([f"{type(error).__name__}: {error}", *last])
    result.seconds = round(time.monotonic() - start, 2)
    return result


def seeds_of(text: str) -> range:
    """The seeds of "200" (1 to 200) or "17-19"."""
    first, _, last = text.rpartition("-")
    try:
        return range(int(first or 1), int(last) + 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is neither COUNT nor FIRST-LAST") from None


def run_of(text: str) -> tuple[str, tuple[str, ...]]:
    name, _, classify = text.partition(":")
    if name not in KNOWN:
        raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(KNOWN)}")
    return name, (classify,) if classify else KNOWN[name].classify


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", nargs="*", type=run_of, metavar="FS[:CLASSIFY]")
    parser.add_argument("--seeds", type=seeds_of, default=range(1, 2), metavar="COUNT|FIRST-LAST")
    parser.add_argument(
        "--count", type=int, default=COUNT, help="operations an episode (default: %(default)s)"
    )
    parser.add_argument("--episodes", type=int, default=EPISODES, help="mounts a life (default: %(default)s)")
    parser.add_argument("--references", type=Path, metavar="FILE", help="digests of what references came to")
    parser.add_argument("--remember", type=Path, metavar="FILE", help="write them and what was lived")
    parser.add_argument("--rotate", action="store_true", help="one mode a seed, in turn")
    args = parser.parse_args()
    failed = clean = 0
    operations: Counter[str] = Counter()
    references = References(args.references, args.count, args.episodes)
    for seed in args.seeds:
        for name, modes in args.runs or [(name, fs.classify) for name, fs in FILE_SYSTEMS.items()]:
            shape = (seed, args.count, args.episodes)
            if args.rotate:
                modes = (modes[seed % len(modes)],)
            if modes == (LINEAR,):
                result = one_linear(name, *shape)
                say(f"trials: {name}:{LINEAR} {seed}: {result.error or 'clean'} ({result.seconds} s)")
                clean += not result.error
                failed += bool(result.error)
                continue
            for classify in modes:
                result = one(name, classify, *shape, references)
                print("RESULT " + json.dumps(vars(result)), flush=True)
                operations[classify] += result.operations
                say(f"trials: {name}:{classify} {seed}: {result.error or 'clean'} ({result.seconds} s)")
                clean += not result.error
                failed += bool(result.error)
                if result.error:
                    say(f"trials: to repeat it: make trials FS={name}:{classify} SEEDS={seed}-{seed}")
                if dm.exists("trial"):
                    sys.exit("trials: what is left of this one cannot be removed; no more lives here")
    if args.references and references.renewed:
        say(f"trials: {references.renewed} references are not in {args.references}, and were lived")
    if args.remember:
        references.save(args.remember)
    if lost := leaks():
        say(f"trials: kmemleak: {lost}")
    done = ", ".join(f"{count} in {mode}" for mode, count in sorted(operations.items())) or "none"
    say(f"trials: {clean} lives clean, {failed} not; operations in lives that ended: {done}")
    return int(failed > 0 or not clean or bool(lost))


if __name__ == "__main__":
    sys.exit(main())
