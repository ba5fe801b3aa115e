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
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from helpers.filesystems import OF_DATA, TOOLS, UUID
from helpers.guest import (
    SCRATCH,
    Complaints,
    Failed,
    device_stats,
    fake_disk,
    leaks,
    linear_disk,
    mounted,
    ram_disk,
    run,
    say,
    sizes,
)
from helpers.manifest import checksum, difference, manifest
from helpers.sparse import data_runs
from helpers.workload import SCALES, Workload

SEED = 20
# Bytes of ext4's on 1 TB, by default since e2fsprogs 1.47.2. Each block of it has a checksum of its own.
ORPHAN_FILE = 2_200_000
LOOKED_AT_TWICE = 1 << 40


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
    """What to do, as the command line says it: FS[:SIZE[:STORE[:SCALE[:CLASSIFY]]]]"""

    fs: str
    size: int = 1 << 40
    store: int = 128 << 20
    scale: str = "check"
    classify: str = "auto"
    arg: str = ""

    @staticmethod
    def parse(text: str) -> Run:
        fs, *rest = text.split(":")
        if fs not in FILE_SYSTEMS or len(rest) > 4 or (len(rest) > 2 and rest[2] not in SCALES):
            raise argparse.ArgumentTypeError(
                f"'{text}' is not of the form FS[:SIZE[:STORE[:SCALE[:CLASSIFY]]]]"
            )
        values: list[int | str] = [sizes.parse_size(word) for word in rest[:2]]
        return Run(fs, *values, *rest[2:], arg=text)  # type: ignore[arg-type]

    def label(self) -> str:
        return f"{self.fs}-{sizes.format_size(self.size).replace(' ', '')}-{self.scale}-{self.classify}"


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


def store_bytes(name: str) -> int:
    figures = device_stats(name)
    return int(figures["store_used"]) * int(figures["block_size"])


def make(result: Result, fs: str, words: tuple[str, ...], where: str) -> None:
    with Stopwatch(result).step("mkfs"):
        run(*TOOLS[fs].mkfs, *FILE_SYSTEMS[fs].mkfs, *words, where)


def check(fs: str, disk: str) -> None:
    run(*TOOLS[fs].check, *FILE_SYSTEMS[fs].check, disk)


def judge_store(result: Result, todo: Run, name: str, disk: str) -> None:
    """Constant blocks cost nothing: what mkfs leaves behind is small."""
    result.store_after_mkfs = store_bytes(name)
    fs = FILE_SYSTEMS[todo.fs]
    allowed = (todo.size <= 1 << 35 and fs.store_after_small) or fs.store_after_mkfs
    if todo.fs == "ext4" and "orphan_file" in run("dumpe2fs", "-h", disk):
        allowed += ORPHAN_FILE
    if allowed and todo.size <= 1 << 40 and result.store_after_mkfs > allowed:
        result.errors.append(f"store use after mkfs: {result.store_after_mkfs} bytes, allowed {allowed}")


def judge_stats(result: Result, todo: Run, name: str) -> None:
    """A disk that keeps everything would pass all other tests."""
    result.stats = figures = device_stats(name)
    if figures["errors"] or figures["nospc"] or figures["state"] == "full":
        result.errors.append("requests failed, see stats")
    squashed = figures["written"]["squashed"] * figures["block_size"]
    if todo.classify == "keep" and squashed:
        result.errors.append(f"{squashed} bytes squashed with classify=keep")
    # Blocks that a write only touches at its ends, zeros and btrfs's inline files are rightly not squashed.
    if todo.classify != "keep" and squashed < result.written * 0.6:
        result.errors.append(f"only {squashed} of {result.written} bytes squashed")


def life(result: Result, todo: Run, disk: str, driver: str) -> list[str]:
    """All that happens to one file system. Returns its manifest."""
    clock = Stopwatch(result)
    david = result.target == "david"
    name = os.path.basename(disk)
    fs = FILE_SYSTEMS[todo.fs]
    if david:
        make(result, todo.fs, (), disk)
        judge_store(result, todo, name, disk)
    with mounted(disk, driver) as top, clock.step("workload"):
        work = Workload(top, SEED, SCALES[todo.scale])
        work.run()
        result.written, result.declined = work.written, sorted(work.skipped)
    if david:
        result.store_after_workload = store_bytes(name)
    if david:
        with clock.step("check"):
            check(todo.fs, disk)
    with mounted(disk, driver) as top:
        with clock.step("manifest"):
            lines = manifest(top, content=todo.classify == "keep")
        result.entries, result.manifest = len(lines), checksum(lines)
        with clock.step("read"):
            result.read = read_all(top)
    # Without KVM, or over all groups of a very large disk, a second look takes longer than all the rest.
    if david and not fs.slow_check and result.lab != "vm" and todo.size <= LOOKED_AT_TWICE:
        with clock.step("second check"):
            check(todo.fs, disk)
    if david:
        judge_stats(result, todo, name)
    return lines


def one(todo: Run, target: str, reference: Path) -> tuple[Result, list[str]]:
    result = Result(todo.arg, todo.label(), target)
    complaints = Complaints()
    lines: list[str] = []
    # Kernels without a driver of its own for ext3 leave it to ext4's.
    known = Path("/proc/filesystems").read_text().split()
    driver = "ext4" if todo.fs == "ext3" and "ext3" not in known else todo.fs
    try:
        with ExitStack() as stack:
            if target == "linear":
                # On the file, not on the disk: loop writes the gigabytes of zeros that a file's mkfs punches.
                prepare = partial(make, result, todo.fs, FILE_SYSTEMS[todo.fs].reference)
                disk = stack.enter_context(linear_disk(f"ref-{todo.fs}", todo.size, reference, prepare))
            else:
                backing = stack.enter_context(ram_disk(todo.store))
                disk = stack.enter_context(
                    fake_disk(f"david-{todo.fs}", todo.size, backing, "--classify", todo.classify)
                )
            lines = life(result, todo, disk, driver)
    except (Failed, OSError) as error:
        result.errors.append(f"{type(error).__name__}: {error}")
    result.errors += [f"kernel: {text}" for text in complaints.found()]
    return result, lines


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "runs",
        nargs="+",
        type=Run.parse,
        metavar="FS[:SIZE[:STORE[:SCALE[:CLASSIFY]]]]",
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
    args = parser.parse_args(argv)
    failed = False
    for todo in args.runs:
        expected: list[str] | None = None
        for target in args.target.split(","):
            if target == "linear" and todo.fs in args.without_reference.split(","):
                continue
            say(f"fsrun: {todo.label()} on {target}")
            result, lines = one(todo, target, args.reference)
            if target == "linear":
                expected = lines
            elif expected and not result.errors:
                result.difference = difference(expected, lines)
            print("RESULT " + json.dumps(vars(result)), flush=True)
            failed = failed or bool(result.errors or result.difference)
    if lost := leaks():
        say(f"fsrun: kmemleak: {lost}")
    return int(failed or bool(lost))


if __name__ == "__main__":
    sys.exit(main())
