#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Record every write of a btrfs's or xfs's life, with content, and classify it again. Runs in a lab.

dm-log-writes stands under each device of the file system. `david-classify replay` then classifies the log,
with requests as they came and torn and mixed, and leaves behind a device of which everything squashed is
noise: the checker must find it clean, and it must mount with the same tree, contents aside.

Names of scattered_images.py are images that are looked at offline only.
"""

from __future__ import annotations

import argparse
import fcntl
import io
import json
import os
import random
import subprocess
import sys
from contextlib import ExitStack, redirect_stderr
from dataclasses import dataclass, field
from pathlib import Path

from helpers import quotas
from helpers.filesystems import TOOLS
from helpers.guest import TREE, Failed, attached, run, say
from helpers.units import MIB
from streams.recorder import MOUNT, Recorder, recorded
from streams.scatter import fill, in_pieces, make_directories, scatter
from streams.scattered_images import IMAGES
from streams.scattered_images import one as look_at_image
from streams.selfid_cases import CASES, Case
from streams.selfid_oracle import compare

SOURCES = str(TREE / "tools" / "classify")
OFFLINE = str(TREE / "build" / "david-classify")
FICLONE = 0x40049409
LATE = {"btrfs": 0.0, "xfs": 0.1}


@dataclass
class Life(Recorder):
    case: Case
    tree: list[str] = field(default_factory=list)  # when it was last unmounted

    def umount(self) -> None:
        self.tree = listing(MOUNT) + limits(self.case)
        super().umount()

    def work(self, seed: int) -> None:
        with redirect_stderr(io.StringIO()):
            super().work(seed)

    def snapshots(self) -> None:
        for i in range(4):
            run("btrfs", "subvolume", "snapshot", str(MOUNT), str(MOUNT / f"snapshot-{i}"))
            (MOUNT / f"between-{i}").write_bytes(random.Random(i).randbytes(300000))
        run("btrfs", "subvolume", "delete", str(MOUNT / "snapshot-1"))

    def balance(self) -> None:
        run("btrfs", "balance", "start", "--full-balance", str(MOUNT))

    def owners(self, seed: int) -> None:
        """Of some thousand owners of all three kinds, with limits."""
        directory = MOUNT / f"quotas-{seed}"
        directory.mkdir()
        quotas.set_project(str(directory), seed)
        for i in range(3000):
            path = directory / f"{i}"
            path.write_bytes(bytes(i % 5))
            os.chown(path, i * 7919 % 1_000_000, seed * 10_000 + i)
        for kind in quotas.KINDS:
            quotas.set_grace(str(MOUNT), kind, 1000 + seed, 2000 + seed)
            for i in range(0, 3000, 7):
                quotas.set_limits(str(MOUNT), kind, seed * 10_000 + i, 1 << 40, 1 << 30)

    def reflinks(self) -> None:
        source = MOUNT / "cloned"
        source.write_bytes(random.Random(3).randbytes(4 * MIB))
        for i in range(20):
            with open(source, "rb") as one, open(MOUNT / f"clone-{i}", "w+b") as two:
                fcntl.ioctl(two, FICLONE, one.fileno())
                for k in range(10):
                    os.pwrite(two.fileno(), random.Random(k).randbytes(5000), (k * 37 + i) * 10000)

    def fragment(self) -> None:
        """Three quarters full, then every second file deleted: free space is mostly in small pieces."""
        directory = MOUNT / "fragment"
        directory.mkdir()
        noise = random.Random(9).randbytes(MIB)
        names = [directory / f"{i}" for i in range(self.case.size * 30)]
        for i, name in enumerate(names):
            name.write_bytes(noise[i % 1000 : i % 1000 + 24000])
        os.sync()
        for name in names[::2]:
            name.unlink()
        os.sync()

    def scatter(self) -> None:
        """Directories whose blocks lie in pieces."""
        make_directories(str(MOUNT), 6)
        scatter(str(MOUNT), 12000)
        fill(str(MOUNT), 6, 0, 600)
        os.sync()
        found = sum(in_pieces(f"{MOUNT}/directory-{i}", 8192) for i in range(6))
        say(f"selfid: {found} pieces of directory blocks")
        if found < 30:
            raise Failed(f"only {found} pieces of directory blocks")
        fill(str(MOUNT), 6, 600, 300)
        self.umount()
        self.mount()
        fill(str(MOUNT), 6, 900, 300)

    def resize(self) -> None:
        if self.case.fstype == "xfs":
            run("xfs_growfs", str(MOUNT))
        else:
            run("btrfs", "filesystem", "resize", "max", str(MOUNT))

    def repair(self) -> None:
        run("xfs_repair", "-L", self.tops[0])

    def mkfs(self) -> None:
        tools = TOOLS[self.case.fstype]
        first, *others = self.tops if self.case.fstype == "btrfs" else self.tops[:1]
        where = tools.sized(first, self.case.size // 2 * MIB) if self.has("resize") else (first,)
        run(*tools.mkfs, *self.case.mkfs, *where, *others)
        self.mark("mkfs")

    def live(self) -> None:
        self.mkfs()
        self.mount()
        self.work(1)
        if self.has("snapshots"):
            self.snapshots()
        if self.has("reflink"):
            self.reflinks()
        if self.has("fsync"):
            self.fsyncs(9000)
        if self.has("quota"):
            self.owners(1)
        self.umount()
        self.mount()
        if self.has("fragment"):
            self.fragment()
        if self.has("resize"):
            self.resize()
        self.work(2)
        if self.has("balance"):
            self.balance()
            self.work(3)
        if self.has("crash"):
            if self.has("fsync"):
                self.fsyncs(9000)
            if self.has("quota"):
                self.owners(2)
            self.crash()
            if self.has("repair"):
                self.repair()
            self.mount()
            self.work(4)
        if self.has("scatter"):
            self.scatter()
        self.umount()


def listing(top: Path) -> list[str]:
    """Names, kinds, sizes, link counts, and targets of symbolic links."""
    lines = []
    for parent, directories, files in os.walk(top):
        for name in directories + files:
            path = os.path.join(parent, name)
            s = os.lstat(path)
            target = os.readlink(path) if os.path.islink(path) else ""
            attributes = {
                a: os.getxattr(path, a, follow_symlinks=False)
                for a in sorted(os.listxattr(path, follow_symlinks=False))
            }
            lines.append(f"{path} {s.st_mode:o} {s.st_size} {s.st_nlink} {s.st_uid} {target} {attributes}")
    return sorted(lines)


def limits_in(case: Case) -> bool:
    return "quota" in case.extra


def limits(case: Case) -> list[str]:
    return quotas.report(str(MOUNT), ("files",)) if limits_in(case) else []


def loop(stack: ExitStack, path: Path) -> str:
    return stack.enter_context(attached(str(path)))


def record(case: Case, images: list[Path], logs: list[Path]) -> list[str]:
    with recorded(case, images, logs) as (devices, tops):
        life = Life(case, devices, tops)
        life.live()
        look_offline(case, images, devices)
        return life.tree


def look_offline(case: Case, images: list[Path], devices: list[str]) -> None:
    """david-classify calls nothing data that the file system's own tools call metadata."""
    if case.fstype == "btrfs":
        run("btrfs", "device", "scan", *devices)
    for devid, (image, device) in enumerate(zip(images, devices, strict=True), 1):
        try:
            metadata, data = compare(OFFLINE, case.fstype, str(image), device, devid)
        except RuntimeError as error:
            raise Failed(str(error)) from None
        say(f"selfid: {metadata} pieces of metadata, {data} blocks of data")
        if case.squashed and (metadata < 50 or data < 1000):
            raise Failed(f"{metadata} pieces of metadata, {data} blocks of data: too few to tell")


def replay(case: Case, logs: list[Path], outs: list[Path], *options: str) -> float:
    """What the target would hold of it, in `outs`; the part of the data that was squashed."""
    data = squashed = 0
    for log, out in zip(logs, outs, strict=True):
        words = [OFFLINE, "replay", "--size", str(case.size * MIB), "--out", str(out), *options]
        result = json.loads(run(*words, "--unclassified", str(256 * MIB), str(log)))
        if result["metadata_squashed"] + result["later_metadata"]:
            raise Failed(f"{options}: metadata was squashed: {result}")
        data += result["data_sectors"]
        squashed += result["data_squashed"] + result["later_data"]
    return squashed / max(data, 1)


def check(case: Case, outs: list[Path], tree: list[str]) -> None:
    """What the store holds is a clean file system with the same names and attributes."""
    with ExitStack() as stack:
        devices = [loop(stack, out) for out in outs]
        if case.fstype == "xfs":
            run("xfs_repair", "-n", devices[0])
        else:
            run("btrfs", "device", "scan", *devices)
            run("btrfs", "check", devices[0])
        more = [case.options] if limits_in(case) else []
        options = ",".join(["ro", *more, *(f"device={d}" for d in devices[1:])])
        run("mount", "-t", case.fstype, "-o", options, devices[0], str(MOUNT))
        try:
            found = listing(MOUNT) + limits(case)
        finally:
            run("umount", str(MOUNT))
            if case.fstype == "btrfs":
                subprocess.run(["btrfs", "device", "scan", "--forget"], capture_output=True)
        if found != tree:
            differing = sorted(set(found) ^ set(tree))
            raise Failed(f"another tree: {differing[:6]}")


def one(name: str, directory: Path, seeds: list[int], keep: bool) -> dict[str, object]:
    case = CASES[name]
    images, logs = (
        [directory / f"{name}-{i}.{kind}" for i in range(case.devices)] for kind in ("img", "log")
    )
    outs = [Path(f"/tmp/{name}-{i}.out") for i in range(case.devices)]
    try:
        tree = record(case, images, logs)
        for image in images:
            image.unlink()
        shares: dict[str, float] = {}
        # As in the target: flushes order what is written, superblocks tell what is mounted, and when an xfs
        # was is only seen from its first log record on.
        torn = min(case.squashed, case.torn) if seeds[-1] else case.squashed
        ways = [(("--by-super", "--tear", str(seeds[-1])), torn - LATE[case.fstype])]
        for seed in seeds:
            ways.append((("--across", "--tear", str(seed)), 0 if seed else case.squashed))
        for options, least in ways:
            share = shares[" ".join(options)] = replay(case, logs, outs, *options)
            check(case, outs, tree)
            if share < least:
                raise Failed(f"{options}: only {share:.2%} of the data was squashed")
        return {"shares": shares}
    finally:
        for path in [*images, *outs, *([] if keep else logs)]:
            path.unlink(missing_ok=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--directory", type=Path, default=Path("/tmp"))
    parser.add_argument("--seeds", type=int, default=1, help="how many ways to tear requests, besides not to")
    parser.add_argument("--keep", action="store_true", help="leave the logs behind")
    parser.add_argument("names", nargs="+", metavar="NAME")
    args = parser.parse_args()
    MOUNT.mkdir(parents=True, exist_ok=True)
    if subprocess.run(["make", "-q", "-C", SOURCES], capture_output=True).returncode:
        parser.error(f"{OFFLINE} is older than its sources: make -C {SOURCES}")
    failed = 0
    for name in args.names:
        result: dict[str, object] = {"name": name, "ok": False}
        try:
            result |= (
                look_at_image(OFFLINE, name)
                if name in IMAGES
                else one(name, args.directory, list(range(args.seeds + 1)), args.keep)
            )
            result["ok"] = True
        except (Failed, OSError) as error:
            failed = 1
            result["why"] = str(error)
            say(f"FAILED {name}: {error}")
        print("RESULT " + json.dumps(result), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
