#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""One file system's life on a fake disk and on the reference, and whether the two trees are equal. Runs in
a lab.

For each file system: mkfs, mount, workload.py, umount, the file system's own checker, mount again,
manifest, every file read to its end, umount, checker again; first on dm-linear over a sparse file of full
size, then on dm-david. Prints one line "RESULT {json}" a run; progress goes to stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from helpers.cutoff import Cut
from helpers.featurekinds import FEATURES, Feature
from helpers.filesystems import OF_DATA, TOOLS, UUID
from helpers.fsverity import enable_verity, merkle_tree
from helpers.guest import (
    SCRATCH,
    Complaints,
    Failed,
    device_stats,
    fake_disk,
    leaks,
    linear_disk,
    loop_disk,
    mounted,
    ram_disk,
    run,
    say,
    sizes,
)
from helpers.manifest import checksum, difference, manifest
from helpers.planted import planted
from helpers.sparse import data_runs
from helpers.trees import equal
from helpers.victim import drop_caches
from helpers.workload import SCALES, Workload

SEED = 20
# Bytes of ext4's on 1 TB, by default since e2fsprogs 1.47.2. Each block of it has a checksum of its own.
ORPHAN_FILE = 2_200_000
LOOKED_AT_TWICE = 1 << 40
LATE_WORD = "Error while async write back metadata"


@dataclass(frozen=True)
class FileSystem:
    mkfs: tuple[str, ...] = ()  # words besides those of TOOLS
    check: tuple[str, ...] = ()
    store_after_mkfs: int = 0  # bytes allowed on 1 TB with 4 KiB blocks
    store_after_small: int = 0  # likewise on 32 GiB
    slow_check: bool = False  # reads every table: once is enough
    reference: tuple[str, ...] = ()  # to mkfs, so that the reference's file stays small


FILE_SYSTEMS = {
    "ext2": FileSystem(slow_check=True),
    "ext3": FileSystem(store_after_mkfs=78_000_000, store_after_small=7_000_000, slow_check=True),
    "ext4": FileSystem(store_after_mkfs=16_500_000),
    "xfs": FileSystem(("-m", f"uuid={UUID}"), store_after_mkfs=300_000, reference=("-l", "size=64m")),
    "btrfs": FileSystem(check=OF_DATA, store_after_mkfs=600_000),
    "f2fs": FileSystem(slow_check=True),
}


@dataclass(frozen=True)
class Run:
    """What to do, as the command line says it: FS[+FEATURE][:SIZE[:STORE[:SCALE[:CLASSIFY]]]]"""

    fs: str
    size: int = 1 << 40
    store: int = 128 << 20
    scale: str = "check"
    classify: str = "auto"
    feature: str = ""  # of FEATURES
    arg: str = ""

    @property
    def kind(self) -> Feature:
        return FEATURES[self.fs][self.feature] if self.feature else Feature()

    @property
    def tree(self) -> tuple[object, ...]:
        """What a tree on the reference depends on."""
        return self.fs, self.feature, self.size, self.scale, self.content

    @property
    def content(self) -> bool:
        """With everything kept, contents are compared, too."""
        return self.classify == "keep" or self.classify in self.kind.exact

    @staticmethod
    def parse(text: str) -> Run:
        words, *rest = text.split(":")
        fs, plus, feature = words.partition("+")
        unknown = fs not in FILE_SYSTEMS or (plus and feature not in FEATURES.get(fs, {}))
        if unknown or len(rest) > 4 or (len(rest) > 2 and rest[2] not in SCALES):
            raise argparse.ArgumentTypeError(
                f"'{text}' is not of the form FS[+FEATURE][:SIZE[:STORE[:SCALE[:CLASSIFY]]]]"
            )
        values: list[int | str] = [sizes.parse_size(word) for word in rest[:2]]
        return Run(fs, *values, *rest[2:], feature=feature, arg=text)  # type: ignore[arg-type]

    def label(self) -> str:
        fs = f"{self.fs}-{self.feature}" if self.feature else self.fs
        return f"{fs}-{sizes.format_size(self.size).replace(' ', '')}-{self.scale}-{self.classify}"


@dataclass
class Result:
    arg: str
    run: str
    target: str
    kernel: str = field(default_factory=lambda: os.uname().release)
    lab: str = field(default_factory=lambda: os.environ.get("DAVID_LAB", "none"))
    errors: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    written: int = 0
    read: int = 0
    squashed: int = 0  # bytes, on all disks, at once or later
    declined: list[str] = field(default_factory=list)
    store_after_mkfs: int = 0
    store_after_workload: int = 0
    stats: dict[str, Any] = field(default_factory=dict)
    entries: int = 0
    manifest: str = ""
    difference: list[str] = field(default_factory=list)


class Stopwatch:
    """Times of the steps, told as they go."""

    def __init__(self, result: Result) -> None:
        self.result = result

    def step(self, name: str) -> Stopwatch:
        self.name, self.start = name, time.monotonic()
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        seconds = time.monotonic() - self.start
        self.result.seconds[self.name] = round(seconds, 2)
        say(f"fsrun: {self.result.run} on {self.result.target}: {self.name} took {seconds:.1f} s")


def read_all(top: str) -> int:
    """Read every file's data to its end; holes are skipped, they never reach the disk."""
    buffer = bytearray(1 << 20)
    total = 0
    for directory, _, names in os.walk(top):
        for name in names:
            path = os.path.join(directory, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            fd = os.open(path, os.O_RDONLY)
            try:
                total += read_data(fd, buffer)
            finally:
                os.close(fd)
    return total


def read_data(fd: int, buffer: bytearray) -> int:
    total = 0
    for offset, end in data_runs(fd):
        while offset < end:
            done = os.preadv(fd, [buffer], offset)
            if not done:
                raise Failed(f"file ends at {offset} instead of {os.fstat(fd).st_size}")
            offset += done
            total += done
    return total


def store_bytes(disks: list[str]) -> int:
    figures = [device_stats(os.path.basename(disk)) for disk in disks]
    return sum(int(each["store_used"]) * int(each["block_size"]) for each in figures)  # type: ignore[call-overload]


def make(result: Result, todo: Run, words: tuple[str, ...], *where: str) -> None:
    more = [*todo.kind.mkfs]
    if todo.kind.beside:
        *where, beside = where  # type: ignore[assignment]
        option = "-l" if todo.kind.beside == "logdev" else "-r"
        more += [option, f"{todo.kind.beside}={beside}"]
    with Stopwatch(result).step("mkfs"):
        run(*TOOLS[todo.fs].mkfs, *FILE_SYSTEMS[todo.fs].mkfs, *words, *more, *where)


def check(todo: Run, disks: list[str]) -> None:
    if not todo.kind.checked:
        return
    more: tuple[str, ...] = ()
    if todo.kind.beside:
        more = ("-l" if todo.kind.beside == "logdev" else "-r", disks[1])
    elif len(disks) > 1:
        run("btrfs", "device", "scan", *disks)
    run(*TOOLS[todo.fs].check, *FILE_SYSTEMS[todo.fs].check, *more, disks[0])


def options(todo: Run, disks: list[str]) -> str:
    """Of mount."""
    names = [todo.kind.beside or "device"] * (len(disks) - 1)
    return ",".join(filter(None, [todo.kind.mount, *map("{}={}".format, names, disks[1:])]))


def judge_store(result: Result, todo: Run, disk: str) -> None:
    """Constant blocks cost nothing: what mkfs leaves behind is small."""
    result.store_after_mkfs = store_bytes([disk])
    fs = FILE_SYSTEMS[todo.fs]
    allowed = (todo.size <= 1 << 35 and fs.store_after_small) or fs.store_after_mkfs
    if todo.fs == "ext4" and "orphan_file" in run("dumpe2fs", "-h", disk):
        allowed += ORPHAN_FILE
    if allowed and todo.size <= 1 << 40 and result.store_after_mkfs > allowed:
        result.errors.append(f"store use after mkfs: {result.store_after_mkfs} bytes, allowed {allowed}")


def judge_stats(result: Result, todo: Run, disks: list[str]) -> None:
    """A disk that keeps everything would pass all other tests."""
    squashed = 0
    for disk in disks:
        figures: dict[str, Any] = device_stats(os.path.basename(disk))
        result.stats = result.stats or figures
        if figures["errors"] or figures["nospc"] or figures["state"] == "full":
            result.errors.append(f"requests failed, see stats of {disk}: {figures}")
        blocks = figures["written"]["squashed"] + figures["unclassified"]["data"]
        squashed += blocks * figures["block_size"]
    result.squashed = squashed
    if todo.classify == "keep" and squashed:
        result.errors.append(f"{squashed} bytes squashed with classify=keep")
    # Blocks that a write only touches at its ends, zeros and btrfs's inline files are rightly not squashed.
    if squashed < result.written * todo.kind.squashes(todo.classify):
        result.errors.append(f"only {squashed} of {result.written} bytes squashed")


def sealed(top: str, work: Workload) -> dict[str, bytes]:
    """Files with verity from now on, and their Merkle trees. By name in `top`."""
    chosen = [path for path in work.files if os.path.getsize(path)][:40]
    if len(chosen) < 20:
        raise Failed(f"only {len(chosen)} files for verity")
    for path in chosen:
        enable_verity(path)
    return {os.path.relpath(path, top): merkle_tree(path) for path in chosen}


def worked_on(result: Result, todo: Run, top: str) -> dict[str, bytes]:
    """The workload. With a feature: as memory has the tree, it comes from the disk, mounted as it is."""
    directory = top
    if todo.feature:
        directory = f"{top}/life"
        os.mkdir(directory)
    if todo.kind.made:
        todo.kind.made(directory)
    work = Workload(directory, SEED, SCALES[todo.scale], todo.kind.compressible)
    work.run()
    result.written, result.declined = work.written, sorted(work.skipped)
    trees = sealed(top, work) if todo.kind.verity else {}
    if todo.feature:
        before = manifest(top)
        drop_caches()
        equal("without what memory had", before, manifest(top))
    return trees


def decided(disk: str) -> None:
    """Wait until nothing is undecided any more, or nothing changes."""
    before = None
    for _ in range(8):
        now = device_stats(os.path.basename(disk))["unclassified"]
        if not now["now"] or now == before:  # type: ignore[index]
            return
        before = now
        time.sleep(2.5)


def cut_off(todo: Run, disk: str, driver: str, complaints: Complaints) -> list[str]:
    """The file system is cut off in use, and recovers what was synced. Returns what the kernel said."""
    where = (disk, driver, options(todo, [disk]))
    cut = Cut(os.path.basename(disk), complaints)
    rng = random.Random(SEED)
    with mounted(*where) as top:
        os.mkdir(f"{top}/late")
        for i in range(40):
            with open(f"{top}/late/{i}", "wb") as file:
                file.write(rng.randbytes(5000 * (i % 9) + 1))
                file.flush()
                if i % 3 == 0:
                    os.fsync(file.fileno())
        os.sync()
        before = manifest(top, content=todo.content)
        with open(f"{top}/late/0", "ab") as file:
            file.write(rng.randbytes(30000))
            file.flush()
            os.fsync(file.fileno())
        cut.cut()
    cut.restore()
    with mounted(*where) as top:
        os.truncate(f"{top}/late/0", 1)
        equal("after it was cut off", before, manifest(top, content=todo.content))
    # ext4 tells with the next mount of what it could not write with the last one.
    return cut.complaints + [line for line in complaints.found() if LATE_WORD not in line]


def life(result: Result, todo: Run, disks: list[str], driver: str, complaints: Complaints) -> list[str]:
    """All that happens to one file system. Returns its manifest."""
    clock = Stopwatch(result)
    david = result.target == "david"
    disk = disks[0]
    fs = FILE_SYSTEMS[todo.fs]
    # Whoever has one disk has made the reference's file system by now.
    if david or len(disks) > 1:
        make(result, todo, (), *disks)
    if david and not todo.feature:
        judge_store(result, todo, disk)
    where = (disk, driver, options(todo, disks))
    with mounted(*where) as top, clock.step("workload"):
        trees = worked_on(result, todo, top)
    if david:
        result.store_after_workload = store_bytes(disks)
        if todo.classify in todo.kind.waits:
            decided(disk)
    if david or todo.feature:
        with clock.step("check"):
            check(todo, disks)
    with mounted(*where) as top:
        with clock.step("manifest"):
            lines = manifest(top, content=todo.content)
        result.entries, result.manifest = len(lines), checksum(lines)
        for path, tree in trees.items():
            if merkle_tree(f"{top}/{path}") != tree:
                raise Failed(f"the Merkle tree of {path} is not as it was")
        # What was squashed is not what verity was asked for: it rightly says so.
        if not david or not todo.kind.verity or todo.content:
            with clock.step("read"):
                result.read = read_all(top)
    if todo.feature and len(disks) == 1:
        with clock.step("cut off"):
            result.errors += cut_off(todo, disk, driver, complaints)
    # Without KVM, or over all groups of a very large disk, a second look takes longer than all the rest.
    if david and not fs.slow_check and result.lab != "vm" and todo.size <= LOOKED_AT_TWICE:
        with clock.step("second check"):
            check(todo, disks)
    if david:
        judge_stats(result, todo, disks)
    return lines


def made_disks(stack: ExitStack, result: Result, todo: Run, reference: Path) -> list[str]:
    count = todo.kind.disks + bool(todo.kind.beside)
    disks = []
    for number in range(count):
        name = f"{todo.fs}{number or ''}"
        if result.target == "linear":
            # On the file, not on the disk: loop writes the gigabytes of zeros that a file's mkfs punches.
            prepare = partial(make, result, todo, FILE_SYSTEMS[todo.fs].reference) if count == 1 else id
            disks.append(stack.enter_context(linear_disk(f"ref-{name}", todo.size, reference, prepare)))
        else:
            # There is one ram_disk at most.
            backing = stack.enter_context(ram_disk(todo.store) if not number else loop_disk(todo.store))
            words = ("--classify", todo.classify, "-o", f"block_size={todo.kind.block}")
            disks.append(stack.enter_context(fake_disk(f"david-{name}", todo.size, backing, *words)))
    return disks


def one(todo: Run, target: str, reference: Path) -> tuple[Result, list[str]]:
    result = Result(todo.arg, todo.label(), target)
    complaints = Complaints()
    lines: list[str] = []
    # Kernels without a driver of its own for ext3 leave it to ext4's.
    known = Path("/proc/filesystems").read_text().split()
    driver = "ext4" if todo.fs == "ext3" and "ext3" not in known else todo.fs
    try:
        with ExitStack() as stack:
            if todo.kind.disks > 1:
                stack.callback(run, "btrfs", "device", "scan", "--forget", ok=(0, 1))
            disks = made_disks(stack, result, todo, reference)
            lines = life(result, todo, disks, driver, complaints)
    except (Failed, OSError) as error:
        result.errors.append(f"{type(error).__name__}: {error}")
    result.errors += [f"kernel: {text}" for text in complaints.found()]
    return result, lines


def featured() -> list[Run]:
    return [
        Run.parse(f"{fs}+{name}:8G:512M:tiny:{mode}")
        for fs, kinds in FEATURES.items()
        for mode in ("auto", "implicit")
        for name, kind in kinds.items()
        if kind.bugs(mode)
    ]


def planted_lives(runs: list[Run], reference: Path) -> int:
    """Each life with each bug that it has to find."""
    missed = []
    for todo in runs:
        first, expected = one(todo, "linear", reference)
        if first.errors:
            say(f"fsrun: {todo.label()} on linear: {first.errors}")
            missed.append(f"{todo.arg}: its control fails")
            continue
        for bug in todo.kind.bugs(todo.classify):
            say(f"fsrun: {todo.label()} with '{bug}' planted")
            with planted(bug):
                result, lines = one(todo, "david", reference)
            found = result.errors or difference(expected, lines)
            row = {"arg": todo.arg, "planted": bug, "found": found[:1], "squashed": result.squashed}
            print("RESULT " + json.dumps(row), flush=True)
            if not found:
                missed.append(f"{todo.arg}: {bug}")
    say(f"fsrun: planted and not found: {', '.join(missed) or 'none'}")
    return int(bool(missed))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "runs",
        nargs="*",
        type=Run.parse,
        metavar="FS[+FEATURE][:SIZE[:STORE[:SCALE[:CLASSIFY]]]]",
        help=f"{', '.join(FILE_SYSTEMS)}; default 1T, on 128M, scale check, auto",
    )
    parser.add_argument("--target", default="linear,david", help="comma-separated (default: %(default)s)")
    parser.add_argument(
        "--reference",
        type=Path,
        default=SCRATCH,
        help="directory for the reference's sparse file (default: RAM)",
    )
    parser.add_argument(
        "--without-reference",
        default="",
        metavar="FS,FS",
        help="file systems whose run on dm-linear is left out: whoever reads the results compares",
    )
    parser.add_argument(
        "--planted",
        action="store_true",
        help="plant the bugs that each life has to find (DAVID_PLANT=1); without runs, in all that have some",
    )
    args = parser.parse_args(argv)
    if args.planted:
        return planted_lives(args.runs or featured(), args.reference)
    if not args.runs:
        parser.error("give a run")
    failed = False
    references: dict[tuple[object, ...], list[str]] = {}
    for todo in args.runs:
        for target in args.target.split(","):
            if target == "linear" and todo.fs in args.without_reference.split(","):
                continue
            if target == "linear" and todo.feature and todo.tree in references:
                continue
            say(f"fsrun: {todo.label()} on {target}")
            result, lines = one(todo, target, args.reference)
            if target == "linear" and not result.errors:
                references[todo.tree] = lines
            elif target != "linear" and todo.tree in references and not result.errors:
                result.difference = difference(references[todo.tree], lines)
            print("RESULT " + json.dumps(vars(result)), flush=True)
            failed = failed or bool(result.errors or result.difference)
    if lost := leaks():
        say(f"fsrun: kmemleak: {lost}")
    return int(failed or bool(lost))


if __name__ == "__main__":
    sys.exit(main())
